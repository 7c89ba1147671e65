"""The entry point of a module that is meant, and how large a module is."""

from __future__ import annotations

from spvlink.errors import BadSpirv
from spvlink.grammar import ops
from spvlink.ir import core
from spvlink.ir.core import EntryPoint, Function, Module, string_of
from spvlink.pipeline import STAGES

# What an entry point may list, and of which type that is.
_VARIABLES = {
    ops.OpVariable: ops.OpTypePointer,
    ops.OpUntypedVariableKHR: ops.OpTypeUntypedPointerKHR,
}


def select_entry(module: Module, name: str | None) -> EntryPoint:
    """The entry point of this name, or the only one. Raises BadSpirv if there is none or too many,
    or it is no graphics stage."""
    found: list[EntryPoint] = []
    for inst in module.sections[core.ENTRY_POINTS]:
        text, end = string_of(inst.imm, 1)
        function = inst.args[0] if inst.args else None
        if not isinstance(function, Function) or not function.blocks:
            raise BadSpirv(f"the entry point {text!r} is no function with a body")
        if end < len(inst.imm):
            raise BadSpirv(f"the name of the entry point {text!r} ends early")
        if name is None or text == name:
            found.append(EntryPoint(inst, text, function))
    if not found:
        raise BadSpirv("the module has no entry point" + (f" {name!r}" if name is not None else ""))
    if len(found) > 1:
        listed = ", ".join(repr(e.name) for e in found)
        raise BadSpirv(
            f"the module has {len(found)} entry points ({listed}): name one as FILE:ENTRY"
        )
    entry = found[0]
    if entry.model not in STAGES:
        raise BadSpirv(f"the entry point {entry.name!r} is no stage of a graphics pipeline")
    for variable in entry.inst.args[1:]:
        type = variable.type
        if type is None or type.op != _VARIABLES.get(variable.op):
            raise BadSpirv(
                f"the entry point {entry.name!r} lists %{variable.id}, which is no variable"
            )
    return entry


def count(module: Module) -> tuple[int, int]:
    """(instructions of the module, instructions in function bodies: everything between OpFunction
    and OpFunctionEnd)."""
    body = 0
    outside = sum(map(len, module.sections)) + len(module.names) + len(module.tail)
    for function in module.functions:
        blocks = function.blocks
        body += len(function.params) + len(blocks)
        for block in blocks:
            body += len(block.insts) + len(block.lead)
        outside += 2 + len(function.lead) + len(function.tail)
    return outside + body, body
