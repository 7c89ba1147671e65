"""The built-ins of one storage class of a stage, and every access to them.

    gl_in[i].gl_Position.x    ->   Position, of vertex i, from component 0, one number
    gl_ClipDistance[2]        ->   ClipDistance, of this vertex, from element 2, one number

An access is known if constants say which elements it touches (of which vertex does not matter). A
built-in with any other access (a dynamic index, a pointer handed to a function, a copy of memory, a
whole block) is left alone, and ``obstacles`` says why.
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module
from spvlink.ir.slot import MAX_NUMBER
from spvlink.passes.lowering.memory_access import is_volatile

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

NAMES: Final[dict[int, str]] = {
    enums.BuiltIn_Position: "gl_Position",
    enums.BuiltIn_PointSize: "gl_PointSize",
    enums.BuiltIn_ClipDistance: "gl_ClipDistance",
    enums.BuiltIn_CullDistance: "gl_CullDistance",
    enums.BuiltIn_PrimitiveId: "gl_PrimitiveID",
    enums.BuiltIn_Layer: "gl_Layer",
    enums.BuiltIn_ViewportIndex: "gl_ViewportIndex",
    enums.BuiltIn_TessLevelOuter: "gl_TessLevelOuter",
    enums.BuiltIn_TessLevelInner: "gl_TessLevelInner",
}
LEVELS: Final = frozenset((enums.BuiltIn_TessLevelOuter, enums.BuiltIn_TessLevelInner))
# Of a geometry or mesh shader; in front of others it is made by fixed functions.
PRIMITIVE_NUMBER: Final = enums.BuiltIn_PrimitiveId
_INPUT: Final = enums.StorageClass_Input
_ARRAYED: Final = frozenset(
    (
        (enums.ExecutionModel_TessellationControl, enums.StorageClass_Input),
        (enums.ExecutionModel_TessellationEvaluation, enums.StorageClass_Input),
        (enums.ExecutionModel_Geometry, enums.StorageClass_Input),
        (enums.ExecutionModel_TessellationControl, enums.StorageClass_Output),
        (enums.ExecutionModel_MeshEXT, enums.StorageClass_Output),
    )
)
_STAYS: Final = info.VARYING_DECORATIONS | {enums.Decoration_BuiltIn, enums.Decoration_Block}
_WORD: Final = 32


class Holder:
    """A built-in as a stage declares it. ``type``: of one vertex; ``member``: its number in a
    block, or -1; ``length``: of the array over vertices that its variable is, if it is one."""

    __slots__ = ("builtin", "length", "member", "type", "variable", "words")

    def __init__(
        self, builtin: int, variable: Inst, member: int, type: Inst, length: Inst | None,
        words: list[tuple[int, ...]],
    ) -> None:  # fmt: skip
        self.builtin = builtin
        self.variable = variable
        self.member = member
        self.type = type
        self.length = length
        self.words = words  # its decorations, and those of its variable

    @property
    def scalar(self) -> Inst:
        """The type of its components."""
        return self.type if types.is_scalar(self.type) else self.type.args[0]

    @property
    def size(self) -> int:
        """How many components or elements it has."""
        return 1 if types.is_scalar(self.type) else types.size_of(self.type)

    def has(self, decoration: int) -> bool:
        return any(words[0] == decoration for words in self.words)


class BuiltinAccess:
    """A load or store. ``vertex``: its index, None where there is none or all are meant;
    ``first``: number of the first component."""

    __slots__ = ("first", "holder", "inst", "vertex")

    def __init__(self, inst: Inst, holder: Holder, vertex: Inst | None, first: int) -> None:
        self.inst = inst
        self.holder = holder
        self.vertex = vertex
        self.first = first


class Side:
    """What a stage declares and does of these built-ins, in one storage class."""

    def __init__(self, module: Module, storage: int, wanted: frozenset[int]) -> None:
        assert module.entry is not None
        self.module = module
        self.storage = storage
        self.tables = Decorations.of(module)
        self.holders: dict[int, Holder] = {}
        self.obstacles: dict[int, str] = {}  # built-ins that are left alone -> why
        self.loads: list[BuiltinAccess] = []
        self.stores: list[BuiltinAccess] = []
        self.variables: dict[Inst, dict[int, Holder]] = {}  # variable -> member, or -1 -> it
        for variable in module.entry.inst.args[1:]:
            if variable.op == ops.OpVariable and variable.imm[0] == storage:
                self.declare(variable, wanted)
        if self.variables:
            self.scan()

    def declare(self, variable: Inst, wanted: frozenset[int]) -> None:
        """The built-ins that a variable is, or holds."""
        own = self.tables.find(variable, enums.Decoration_BuiltIn)
        assert variable.type is not None
        type = variable.type.args[0]
        if own is not None:
            if own[0] in wanted:
                length = self.length_of(type, own[0])
                self.hold(own[0], variable, -1, type if length is None else type.args[0], length)
            return
        length = self.length_of(type, -1)
        struct = type if length is None else type.args[0]
        if struct.op != ops.OpTypeStruct:
            return
        for member, inner in enumerate(struct.args):
            decoration = self.tables.find_member(struct, member, enums.Decoration_BuiltIn)
            if decoration is not None and decoration[0] in wanted:
                self.hold(decoration[0], variable, member, inner, length)

    def length_of(self, type: Inst, builtin: int) -> Inst | None:
        """The length of the array over vertices or primitives that a type is."""
        assert self.module.entry is not None
        arrayed = (self.module.entry.model, self.storage) in _ARRAYED and builtin not in LEVELS
        return type.args[1] if arrayed and type.op == ops.OpTypeArray else None

    def hold(
        self, builtin: int, variable: Inst, member: int, type: Inst, length: Inst | None
    ) -> None:
        words = list(self.tables.targets.get(variable, ()))
        if member >= 0:
            assert variable.type is not None
            struct = variable.type.args[0] if length is None else variable.type.args[0].args[0]
            words += self.tables.members.get((struct, member), ())
        holder = Holder(builtin, variable, member, type, length, words)
        self.variables.setdefault(variable, {})[member] = holder
        if builtin in self.holders:
            self.obstacles[builtin] = "two variables are decorated with it"
        self.holders[builtin] = holder
        inner = holder.scalar
        if inner.op not in types.NUMBERS or inner.imm[0] != _WORD:
            self.obstacles[builtin] = "it is of an unusual type"
        elif not 0 < holder.size <= MAX_NUMBER:
            self.obstacles[builtin] = "the size of its array is no constant"
        elif variable.args:
            self.obstacles[builtin] = "it has an initializer"
        elif variable in Calls.of(self.module).variables:
            self.obstacles[builtin] = "a function that could not be inlined uses it"
        elif variable in self.tables.with_ids or any(w[0] not in _STAYS for w in words):
            self.obstacles[builtin] = "one of its decorations may restrict how it is accessed"
        elif self.storage == _INPUT and holder.has(enums.Decoration_PerVertexKHR):
            self.obstacles[builtin] = "it is read per vertex"

    def scan(self) -> None:
        """Find every access. What a chain of pointers leads to, its last user says."""
        assert self.module.entry is not None
        variables = self.variables
        for block in self.module.entry.function.blocks:
            for inst in block.insts:
                if IS_CHAIN[inst.op]:
                    continue
                for at, arg in enumerate(inst.args):
                    if IS_CHAIN[arg.op] or arg in variables:
                        self.look(inst, at, arg)

    def look(self, inst: Inst, at: int, pointer: Inst) -> None:
        path: list[Inst] = []
        while IS_CHAIN[pointer.op]:
            path[:0] = pointer.args[1:]
            pointer = pointer.args[0]
        holders = self.variables.get(pointer)
        if holders is None:
            return
        first = next(iter(holders.values()))
        vertex = path[0] if first.length is not None and path else None
        rest = path if first.length is None else path[1:]
        if -1 not in holders:  # a block
            member = types.index_of(rest[0]) if rest else None
            if member is None:
                for builtin in [h.builtin for h in holders.values()]:
                    self.obstacles.setdefault(builtin, "its block is accessed as a whole")
                return
            if member not in holders:
                return
            first, rest = holders[member], rest[1:]
        why = self.note(inst, at, first, vertex, rest)
        if why:
            self.obstacles.setdefault(first.builtin, why)

    def note(
        self, inst: Inst, at: int, holder: Holder, vertex: Inst | None, rest: list[Inst]
    ) -> str:
        """Note an access; why it cannot be followed, or an empty string."""
        number = types.index_of(rest[0]) if rest else 0
        if number is None or len(rest) > 1 or not 0 <= number < holder.size:
            return "it is accessed with a dynamic index"
        if inst.op == ops.OpLoad and not is_volatile(inst.imm):
            if rest and vertex is None and holder.length is not None:
                return "it is accessed in an unusual way"
            self.loads.append(BuiltinAccess(inst, holder, vertex, number))
            return ""
        if inst.op == ops.OpStore and at == 0 and not is_volatile(inst.imm):
            if vertex is None and holder.length is not None:
                return "it is stored for all vertices at once"
            self.stores.append(BuiltinAccess(inst, holder, vertex, number))
            return ""
        return "it is accessed in a way that spvlink does not follow"
