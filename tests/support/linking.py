"""Links small pairs given as GLSL, and reads what the two sides declare afterwards."""

from __future__ import annotations

import spvlink
from spvlink.binary.decode import decode
from spvlink.chain import table
from spvlink.entry import select_entry
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.link.check import interface
from spvlink.link.check.interface import DeclaredVariable
from tests.support.samples import compile_glsl

VERTEX = """#version 450
layout(location = 0) in vec4 p;
layout(location = 1) in ivec4 k;
"""
FRAGMENT = """#version 450
layout(location = 0) out vec4 o;
"""
# What these tests are about: passes that move or merge values across the border have their own.
BASE = frozenset(("branches", "compact", "dce", "dead", "join", "simplify"))
INPUT, OUTPUT = enums.StorageClass_Input, enums.StorageClass_Output


def all_insts(module: Module) -> list[Inst]:
    """Every instruction of the functions."""
    return [i for f in module.functions for b in f.blocks for i in b.insts]


def vertex(body: str, environment: str = "vulkan1.0") -> bytes:
    """A vertex shader that has the inputs ``p`` and ``k``: declarations and main()."""
    return compile_glsl(VERTEX + body, "vert", environment)


def fragment(body: str, environment: str = "vulkan1.0") -> bytes:
    """A fragment shader that has the output ``o``."""
    return compile_glsl(FRAGMENT + body, "frag", environment)


def base_options() -> spvlink.Options:
    """Only the passes of ``BASE``, and code in its simplest form, which is what tests look at."""
    options = spvlink.Options(clean=True)
    options.disable = frozenset(table.GROUPS) - BASE
    return options


def module_of(data: bytes) -> Module:
    module = decode(data)
    module.entry = select_entry(module, None)
    return module


class Result:
    """A linked pair: modules, interfaces by name, and what the driver said."""

    def __init__(self, vert: bytes, frag: bytes, options: spvlink.Options | None = None) -> None:
        self.linked = spvlink.link([vert, frag], options or base_options())
        assert self.linked.defect is None, self.linked.defect
        self.data = [stage.data for stage in self.linked.stages]
        self.vert, self.frag = (module_of(data) for data in self.data)
        self.outputs = interface.declared(self.vert, OUTPUT)
        self.inputs = interface.declared(self.frag, INPUT)

    def table(self, inputs: bool = False) -> dict[str, tuple[str, str]]:
        """Name -> (place as ``1.zw`` or ``1-3.xyz``, shape), of the outputs or the inputs."""
        return {d.name: (place(d), d.shape) for d in (self.inputs if inputs else self.outputs)}

    def fates(self) -> dict[str, str]:
        """``name slot`` -> action, of every remark."""
        return {f"{r.name} {r.slot}": r.action for r in self.linked.remarks}

    @property
    def locations(self) -> set[int]:
        return {location for d in self.outputs for location, _ in d.covers}


def place(variable: DeclaredVariable) -> str:
    """``1.zw``, ``1-3.xyz``."""
    locations = sorted({location for location, _ in variable.covers})
    lanes = "".join("xyzw"[c] for c in sorted({c for _, c in variable.covers}))
    first, last = locations[0], locations[-1]
    return f"{first}.{lanes}" if first == last else f"{first}-{last}.{lanes}"


def link(vert: str, frag: str, options: spvlink.Options | None = None) -> Result:
    """Compile and link."""
    return Result(vertex(vert), fragment(frag), options)


def builtins(module: Module) -> set[int]:
    """The built-ins that an entry point's variables, or their members, are."""
    found: set[int] = set()
    assert module.entry is not None
    listed = set(module.entry.inst.args[1:])
    types = {v.type.args[0] for v in listed if v.type is not None}
    for inst in module.annotations:
        if inst.op == ops.OpDecorate and inst.args[0] in listed:
            words = inst.imm
        elif inst.op == ops.OpMemberDecorate and inst.args[0] in types:
            words = inst.imm[1:]
        else:
            continue
        if words[0] == enums.Decoration_BuiltIn:
            found.add(words[1])
    return found


def count(module: Module, op: int) -> int:
    """Instructions of this opcode in functions."""
    return sum(1 for i in all_insts(module) if i.op == op)


def extended(module: Module, number: int) -> list[Inst]:
    """The uses of a GLSL.std.450 instruction."""
    return [i for i in all_insts(module) if i.op == ops.OpExtInst and i.imm[0] == number]
