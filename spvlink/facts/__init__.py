"""Analyze code; nothing here changes any.

cfg           predecessors, reverse postorder and dominators
structure     the construct that a block is in
frontier      dominance frontiers
dominating    equal values, by the blocks that they dominate
effects       the effects of an instruction
calls         the effects of a call
floats        the float modes of an entry point, and fast-math decorations
decorations   decorations and names by target
divergence    how widely a value is shared: constant, uniform, per primitive, per vertex
invariant     the values that two pipelines must agree on to the bit
scalars       a vector or matrix as its scalars
live_lanes    the lanes of operands that an instruction needs
numbers       the numbers of constants
index_values  the elements that an index may name
trip_counts   the rounds of counted loops
reliance      code that goes wrong if its inputs change
pressure      an estimate of the registers in use
"""
