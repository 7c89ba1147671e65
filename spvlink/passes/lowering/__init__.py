"""Variables become values, and the interface of a stage becomes slots.

lower_io        the interface: its slots, and what stays whole
promote         all variables, in one renaming         cells   the parts of a variable
memory_access   questions about instructions that touch memory
output_stores   the stores where a vertex or an invocation is done
captures        what transform feedback captures       storage16   16 bits as 32 for a while
promote_own_outputs, promote_repeated_reads     outputs that are read back
promote_vertex_copies       local copies of inputs, read with a dynamic index
"""
