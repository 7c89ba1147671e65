"""Hold a module while it is linked, and change it.

core      instructions, blocks, functions and modules
types     types and constants
edit      all edits, which move the version of a module
known     facts that hold until a version moves
slot      the interface of a stage: a slot for each scalar
declared  the declarations of a module, and the needs of an instruction
debug     debug information, beside the code
check     our verifier
"""
