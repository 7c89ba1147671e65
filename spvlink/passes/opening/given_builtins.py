"""Replace loads of built-in inputs whose value the pipeline gives by constants.

%n = OpLoad %gl_PatchVerticesIn        ->    %n is 3
"""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Module
from spvlink.ir.edit import become, sweep

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Mapping


def set_given_builtins(module: Module, given: Mapping[int, int]) -> None:
    """``given``: built-in -> the value of the 32-bit integer that it is in this stage."""
    variables = {
        note.args[0]: given[note.imm[1]]
        for note in module.annotations
        if note.op == ops.OpDecorate
        and note.imm[0] == enums.Decoration_BuiltIn
        and note.imm[1] in given
    }
    if not variables:
        return
    for function in module.functions:
        version = module.version
        for block in function.blocks:
            for inst in block.insts:
                if inst.op == ops.OpLoad and inst.args[0] in variables:
                    assert inst.type is not None
                    constant = types.constant(module, inst.type, variables[inst.args[0]])
                    become(module, inst, constant)
        if module.version != version:
            sweep(module, function)
