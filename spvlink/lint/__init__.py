"""Check whether the stages of a pipeline fit each other and a device: ``spvlink check``.

stage      read one stage
pipeline   find all errors of one pipeline
limits     compare a pipeline with the limits of a device
bound      bound the gain of linking for one module
potential  add these bounds up, and choose sets to measure
sharing    measure the cost of sharing modules by real links
diet       list what no pipeline reads of vertex attributes, uniforms and push constants
attribute_use  find the components of attributes that are read, and formats that would do
buffer_bytes   find the bytes of uniform buffers and push constants that are read
report     print findings as text and JSON
formats    print findings as SARIF and for GitHub
arguments  read the command line
command    run the command
api        the Python function ``spvlink.check``
"""
