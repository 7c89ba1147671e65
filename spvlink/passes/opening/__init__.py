"""Before all else: the module as it came becomes one function without debug information.

spec_constants      specialization constants get the values that the user gave
given_builtins      so do built-in inputs that the pipeline determines
debuginfo           debug information leaves the functions     restore_debug   and comes back
inline              calls become code           pointer_copies   copies of pointers go
"""
