"""Outputs that a module declares and never writes."""

from __future__ import annotations

from tests.support.listing import Text


def initialised(code: bytes) -> bytes:
    """The module with zero in each output that it never writes: any value is right there. Where a
    fragment shader reads such an output, lavapipe (Mesa 25.0, no longer 26.2) gives it other inputs
    wrong."""
    text = Text(code)
    used = {
        id for function in text.functions for block in function.blocks for line in block.lines
        for id in line.ids()
    }  # fmt: skip
    for at, line in enumerate(text.preamble):
        variable, _, definition = line.partition(" = OpVariable ")
        if definition.endswith(" Output") and variable not in used:
            type = text.definition(definition.split()[0]).split()[-1]
            zero = text.fresh()
            text.preamble[at] = f"{zero} = OpConstantNull {type}\n{line} {zero}"
    return text.assembled()
