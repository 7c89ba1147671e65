"""Find the resources that another stage may read, and copy expressions there.

blocks    the resources of a module and the offsets of their members
visible   the resources that a stage uses before linking
mapped    find descriptors that are the same in two stages
same      compare expressions of two modules
transfer  copy an expression from one module into another
"""
