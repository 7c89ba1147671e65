"""Simplify the code of one stage; ``chain/runner`` repeats these passes until nothing changes.

simplify               fold constants, apply algebra, number values, in one walk
fold                   compute an instruction on constants
vectors                look through vectors for a component
branches               resolve constant branches
join                   join consecutive blocks
if_conversion          turn small branches into selects
reverse_if_conversion  turn such selects back into branches
dce                    remove dead code, by component
flow                   remove unreachable blocks and keep the order of blocks
unroll_loop            unroll one counted loop
twins                  copy blocks
attributes             read vertex attributes once
images                 load images in the block that uses them
snapshot               restore the code of a module after a trial
"""
