"""Smaller code that does the same; ``chain/runner`` repeats these until nothing changes.

simplify    one walk over values; it uses      fold   constants      vectors   components
branches    constant conditions, empty selections, straight lines
dce         dead code, by component            flow   blocks that nothing reaches; their order
unroll_loop     the rounds of a loop, one after the other     twins   copies of blocks
attributes      one load for all components of a vertex attribute
images          images and samplers in the block that uses them
"""
