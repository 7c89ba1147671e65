"""Remove built-in outputs that the next stage does not read.

    VS: gl_PointSize = 2.0     and the control shader never reads gl_in[i].gl_PointSize:
                               the store goes, with the code that only it needed

Why it is right. Fixed functions take Position, PointSize, ClipDistance, Layer and so on from the
last stage before rasterization (Vulkan, "Built-In Variables"). In the stages before it they are
varyings without a Location, alive only if the next stage reads them. PrimitiveId is such a varying
between a geometry or mesh shader and the fragment shader: no fixed function takes it.

What breaks it. Interface matching of blocks: only stores go here. ``dead_builtin_blocks`` removes
members from both sides at the end.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import EXECUTION_MODES, IS_CHAIN, Inst, Module
from spvlink.ir.edit import drop
from spvlink.ir.slot import builtin_of
from spvlink.link.border.link import Link
from spvlink.pipeline import REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

CONSUMERS: Final = frozenset(("tesc", "tese", "geom"))
# Built-ins that rasterization takes, and that a stage before the last one just hands on.
HANDED_ON: Final[dict[int, str]] = {
    enums.BuiltIn_Position: "gl_Position",
    enums.BuiltIn_PointSize: "gl_PointSize",
    enums.BuiltIn_ClipDistance: "gl_ClipDistance",
    enums.BuiltIn_CullDistance: "gl_CullDistance",
    enums.BuiltIn_Layer: "gl_Layer",
    enums.BuiltIn_ViewportIndex: "gl_ViewportIndex",
    enums.BuiltIn_PrimitiveShadingRateKHR: "gl_PrimitiveShadingRateEXT",
}


class BuiltInUses:
    """What the functions of a module do with the built-ins of one storage class."""

    def __init__(self, module: Module, storage: int) -> None:
        self.tables = Decorations.of(module)
        self.stores: dict[int, list[Inst]] = {}
        self.read: set[int] = set()  # read, or touched in a way that is not followed
        self.variables: dict[Inst, list[int]] = {}  # the built-ins that each variable holds
        assert module.entry is not None
        for variable in module.entry.inst.args[1:]:
            if variable.op == ops.OpVariable and variable.imm[0] == storage:
                builtins = self.builtins_of(variable)
                if builtins:
                    self.variables[variable] = builtins
                    if variable.args:
                        self.read.update(builtins)  # it has an initializer
        for function in module.functions:
            for block in function.blocks:
                for inst in block.insts:
                    if not IS_CHAIN[inst.op]:
                        self.look(inst)

    def builtins_of(self, variable: Inst) -> list[int]:
        """One for a plain variable, one a member for a block (-1 for a member that is none)."""
        own = self.tables.find(variable, enums.Decoration_BuiltIn)
        if own:
            return [own[0]]
        struct = struct_of(variable)
        if struct is None:
            return []
        decorations = [
            self.tables.find_member(struct, at, enums.Decoration_BuiltIn)
            for at in range(len(struct.args))
        ]
        return [f[0] if f else -1 for f in decorations] if any(decorations) else []

    def look(self, inst: Inst) -> None:
        for at, arg in enumerate(inst.args):
            path: list[Inst] = []
            pointer = arg
            while IS_CHAIN[pointer.op]:
                path = pointer.args[1:] + path
                pointer = pointer.args[0]
            if pointer in self.variables:
                builtins = self.reached(pointer, path)
                if inst.op == ops.OpStore and at == 0 and len(builtins) == 1:
                    self.stores.setdefault(builtins[0], []).append(inst)
                else:
                    self.read.update(builtins)

    def reached(self, variable: Inst, path: list[Inst]) -> list[int]:
        """The built-ins that a pointer into a variable may touch."""
        builtins = self.variables[variable]
        if struct_of(variable) is None:
            return builtins
        assert variable.type is not None
        type = variable.type.args[0]
        while type.op == ops.OpTypeArray and path:
            type, path = type.args[0], path[1:]
        index = types.index_of(path[0]) if path and type.op == ops.OpTypeStruct else None
        return builtins if index is None or not 0 <= index < len(builtins) else [builtins[index]]


def struct_of(variable: Inst) -> Inst | None:
    """The block that a variable is, or is an array of."""
    assert variable.type is not None
    type = variable.type.args[0]
    while type.op == ops.OpTypeArray:
        type = type.args[0]
    return type if type.op == ops.OpTypeStruct else None


# What goes through rasterization without being looked at, from these stages.
_PASSED: Final[dict[int, str]] = {enums.BuiltIn_PrimitiveId: "gl_PrimitiveID"}
_PASSING: Final = frozenset(("geom", "mesh"))


def concerns(link: Link) -> bool:
    """Whether there may be built-ins at a border that only the next stage reads."""
    if link.consumer.name == "frag":
        return link.producer.name in _PASSING
    return link.consumer.name in CONSUMERS


def dead_builtins(link: Link) -> bool:
    """Remove the stores to built-ins that the next stage does not read; whether there were any."""
    if not concerns(link):
        return False
    handed = _PASSED if link.consumer.name == "frag" else HANDED_ON
    producer = link.producer.module
    assert producer.entry is not None
    written = BuiltInUses(producer, enums.StorageClass_Output)
    if not any(builtin in handed for builtin in written.stores) or captures(producer):
        return False
    wanted = BuiltInUses(link.consumer.module, enums.StorageClass_Input).read | written.read
    wanted |= link.relied_builtins
    if link.built is not None:
        link.built.gather()
        wanted |= {builtin_of(k)[0] for k in (*link.built.loads, *link.built.read_back)}
    dead = {b: s for b, s in written.stores.items() if b in handed and b not in wanted}
    gone = {store for stores in dead.values() for store in stores}
    if not gone:
        return False
    drop(producer, gone)
    why = f"the {link.consumer.name} stage does not read it"
    link.remarks.idle.update({handed[builtin]: (REMOVED, why) for builtin in dead})
    if handed is _PASSED:
        link.consumer.linked = True  # as it came it may read it where that has no use
    return True


def captures(module: Module) -> bool:
    """Whether the entry point feeds transform feedback, which may take built-ins too."""
    assert module.entry is not None
    return any(
        mode.args[0] is module.entry.function and mode.imm[0] == enums.ExecutionMode_Xfb
        for mode in module.sections[EXECUTION_MODES]
    )
