"""Decode words into a module and encode a module into words.

words     read the bytes of a file as words
plans     say how the words of an instruction are cut into operands
walk      check the operands of one instruction against the grammar
reader    hold the state of reading, and read rare instructions with all checks
decode    turn words into a module
encode    turn a module into words
"""
