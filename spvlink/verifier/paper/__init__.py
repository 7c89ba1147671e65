"""Proof on paper: graphs of values of both pipelines, normalized and compared.

graph      nodes, and decision diagrams of conditions
folding    arithmetic on constants
choices    what a choice may give, and an operation on each of its ends
constants  numbers that are equal up to rounding
normal     normal forms of operations, to the bit
loads      loads from buffers, made anew of other operands
masks      bits of integers that may be set, and what masks leave of them
integers   normal forms of integers
terms      loops as closed terms, indices, values at other vertices
shapes     types and decorations of a module
places     where interfaces lie
pointers   variables and buffers
state      edges between blocks, and where they meet
walk       the walk over blocks, calls and loops
acts       instructions without effects
queries    ray queries
stage      instructions with effects, and all that is seen outside
vertices   stages that write for many vertices
payloads   the payload of task shaders
pipeline   stage after stage
compare    whether a node refines another one
align      the linked value said with nodes of the original one
splits     sums by the factors that all vertices agree on
reals      values that are equal up to rounding
prove      the proof of one pipeline
"""
