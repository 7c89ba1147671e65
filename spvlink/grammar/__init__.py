"""Hold the tables of the SPIR-V grammar, which scripts/generate-grammar writes.

    ops      numbers of opcodes
    enums    numbers of enumerants
    glsl     numbers of GLSL.std.450 instructions
    debug    numbers of debug instructions
    names    names of opcodes and enumerants
    shapes   the operands of each opcode
    info     facts about opcodes: pure, convergent, speculatable ...
    needs    capabilities, extensions and versions that each needs
"""
