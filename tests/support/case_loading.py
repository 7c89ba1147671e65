"""Loads a module of our text form, with or without accesses to slots."""

from __future__ import annotations

from spvlink.ir.check import check
from spvlink.ir.core import PRIVATE, EntryPoint, Function, Module, string_of
from spvlink.text import parse


def is_lowered(module: Module) -> bool:
    """Whether there is an access to a slot, which SPIR-V does not have."""
    insts = (i for f in module.functions for b in f.blocks for i in b.insts)
    return any(i.op >= PRIVATE for i in insts)


def load(text: str) -> Module:
    module = parse(text)
    check(module, input=not is_lowered(module))
    for inst in module.sections[4]:
        function = inst.args[0]
        assert isinstance(function, Function)
        module.entry = EntryPoint(inst, string_of(inst.imm, 1)[0], function)
        break
    return module
