"""Proof on paper: graphs of values of both pipelines, normalized and compared.

graph     nodes, and decision diagrams of conditions
folding   arithmetic on constants
normal    normal forms of operations, to the bit
integers  normal forms of integers
masks     bits of integers that may be set
terms     loops as closed terms, indices, values at other vertices
shapes    types and decorations of a module
places    where interfaces lie
pointers  variables and buffers
state     edges between blocks, and where they meet
walk      the walk over blocks, calls and loops
acts      instructions without effects
stage     instructions with effects, and all that is seen outside
vertices  stages that write for many vertices
payloads  what a task shader hands to its mesh shaders
pipeline  stage after stage
compare   whether a node refines another one
splits    choices and columns of sums, taken apart
reals     values that are equal up to rounding
prove     the proof of one pipeline
"""
