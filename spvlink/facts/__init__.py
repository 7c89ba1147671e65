"""What is known of code; nothing here changes any.

cfg, structure, frontier, dominating    control flow, constructs, dominance
effects, calls, floats, decorations     what an instruction, a call, a module may do or asks for
divergence      how widely a value is shared        invariant   what must agree to the bit
scalars, live_lanes                     values by component: made of what, needed for what
numbers, index_values, trip_counts      numbers of constants, of indices, of loops
reliance        code that goes wrong with other inputs
pressure        an estimate of registers
"""
