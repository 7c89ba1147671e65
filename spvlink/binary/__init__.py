"""Words to a module and back.

words     the bytes of a file as words        walk      the operands of one instruction, checked
plans     how instructions are cut            reader    the state of reading, and the slow ways
decode    words to a module                   encode    a module to words
"""
