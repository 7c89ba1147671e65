"""Turn variables into values, and the interface of a stage into slots.

lower_io                  find and rewrite every access to the interface
captures                  find the components that transform feedback captures
storage16                 use 32 bits for 16-bit numbers that may only be stored
promote                   turn variables into values
cells                     split a variable into the parts that code uses
memory_access             answer questions about loads, stores and composites
output_stores             store the outputs at each return or emitted vertex
promote_own_outputs       reuse outputs that an invocation reads back
promote_repeated_reads    reuse the first read-back of an output
promote_vertex_copies     read local copies of inputs from the inputs
state_attachments         drop colours that no attachment takes
state_attributes          fill vertex attributes that the format lacks
state_ranges              note how many bits integer attributes need
state_rasterizer_discard  empty a fragment shader that never runs
"""
