"""Prepare a module: one function, known constants, no debug information in the code.

spec_constants  replace specialization constants by the user's values
given_builtins  replace built-in inputs that the pipeline determines
state_facing    replace gl_FrontFacing where one side is culled
state_samples   read inputs in the middle of the pixel where there is one sample
debuginfo       take debug information out of the functions
restore_debug   put it back
inline          inline all calls
pointer_copies  replace copies of pointers
"""
