"""A decoded module as the prover reads it: decorations, kinds of scalars, shapes of types.

A value of a composite type is a tuple of its parts, down to scalars, which are nodes.
"""

from __future__ import annotations

from typing import Any

from spvlink.grammar import enums, ops
from spvlink.ir import core
from spvlink.ir.core import Inst, Module
from spvlink.ir.types import index_of
from spvlink.verifier.paper.graph import BOOL, Graph, Node, NotProvable

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

Value = Any  # a Node, a tuple of Values or a TermPointer

MOST_PARTS: Final = 4096  # of a value
OPAQUE: Final = "o"
ARRAY: Final = "array of "  # in front of a kind: that of the scalars of all elements
FILLED: Final = "filled"
_OPAQUE_TYPES: Final = frozenset((
    ops.OpTypeImage, ops.OpTypeSampler, ops.OpTypeSampledImage, ops.OpTypeAccelerationStructureKHR,
    ops.OpTypeRayQueryKHR,
))  # fmt: skip


class Shapes:
    """What is asked of the types and decorations of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.decorations: dict[Inst, dict[int, tuple[int, ...]]] = {}
        self.members: dict[tuple[Inst, int], dict[int, tuple[int, ...]]] = {}
        self.kinds: dict[Inst, str] = {}
        self.length: Callable[[Inst], int | None] = index_of  # of an array, of its constant
        for inst in module.annotations:
            if inst.op in (ops.OpDecorate, ops.OpDecorateId, ops.OpDecorateString):
                self.decorations.setdefault(inst.args[0], {})[inst.imm[0]] = inst.imm[1:]
            elif inst.op in (ops.OpMemberDecorate, ops.OpMemberDecorateString):
                key = inst.args[0], inst.imm[0]
                self.members.setdefault(key, {})[inst.imm[1]] = inst.imm[2:]
            else:
                raise NotProvable("groups of decorations")

    def of(self, inst: Inst) -> dict[int, tuple[int, ...]]:
        return self.decorations.get(inst, {})

    def of_member(self, struct: Inst, member: int) -> dict[int, tuple[int, ...]]:
        return self.members.get((struct, member), {})

    def kind(self, type: Inst) -> str:
        """Of a scalar."""
        known = self.kinds.get(type)
        if known is None:
            known = self.kinds[type] = _kind(type)
        return known

    def count(self, type: Inst) -> int:
        """Parts of a composite type; 0 for anything else."""
        if type.op in (ops.OpTypeVector, ops.OpTypeMatrix):
            return type.imm[0]
        if type.op == ops.OpTypeStruct:
            return len(type.args)
        if type.op == ops.OpTypeArray:
            length = self.length(type.args[1])
            if length is None:
                raise NotProvable("an array whose length is specialized")
            return length
        if type.op == ops.OpTypeRuntimeArray:
            raise NotProvable("a value that is a runtime array")
        return 0

    def part(self, type: Inst, at: int) -> Inst:
        return type.args[at] if type.op == ops.OpTypeStruct else type.args[0]

    def build(self, type: Inst, make: Callable[[Inst], Value]) -> Value:
        """A value of a type, each scalar made anew."""
        return self._build(type, make, [MOST_PARTS])

    def _build(self, type: Inst, make: Callable[[Inst], Value], left: list[int]) -> Value:
        if not is_composite(type):
            left[0] -= 1
            if left[0] < 0:
                raise NotProvable("a value of very many parts")
            return make(type)
        return tuple([self._build(self.part(type, i), make, left) for i in range(self.count(type))])

    def is_unsized(self, type: Inst) -> bool:
        """Whether a type is an array whose length nobody gave: a specialization constant."""
        return type.op == ops.OpTypeArray and self.length(type.args[1]) is None

    def undefined(self, graph: Graph, type: Inst) -> Value:
        if self.is_unsized(type):
            return unsized(graph, self.undefined(graph, type.args[0]))
        return self.build(type, lambda scalar: graph.undefined(self.kind(scalar)))

    def zero(self, graph: Graph, type: Inst) -> Value:
        if self.is_unsized(type):
            return unsized(graph, self.zero(graph, type.args[0]))
        return self.build(type, lambda scalar: graph.const(self.kind(scalar), 0))

    def capabilities(self) -> set[int]:
        return {c.imm[0] for c in self.module.sections[core.CAPABILITIES]}


def is_composite(type: Inst) -> bool:
    return type.op in (
        ops.OpTypeVector,
        ops.OpTypeMatrix,
        ops.OpTypeArray,
        ops.OpTypeStruct,
        ops.OpTypeRuntimeArray,
    )


def _kind(type: Inst) -> str:
    if type.op == ops.OpTypeFloat:
        if len(type.imm) == 1:
            return f"f{type.imm[0]}"
        return f"x{type.imm[0]}"  # another encoding: nothing is known of it
    if type.op == ops.OpTypeInt:
        return f"i{type.imm[0]}"
    if type.op == ops.OpTypeBool:
        return BOOL
    if type.op in _OPAQUE_TYPES:
        return OPAQUE
    if type.op == ops.OpTypePointer and type.imm[0] == enums.StorageClass_PhysicalStorageBuffer:
        return "i64"
    raise NotProvable(f"a type {ops.NAMES.get(type.op, type.op)}")


def unsized(graph: Graph, element: Value) -> Value:
    """An array of any length, each element of which is one value: its one part is an element whose
    scalars are those of all elements."""
    return (mapped(element, lambda n: graph.node(FILLED, ARRAY + n.kind, (n,))),)


def is_unsized_value(value: Value) -> bool:
    """Whether a value is an array of any length. Such an array is no part of another value."""
    if not isinstance(value, tuple) or len(value) != 1:
        return False
    while isinstance(value, tuple):
        value = value[0]
    return isinstance(value, Node) and value.kind.startswith(ARRAY)


def parts(value: Value) -> list[Node]:
    """The scalars of a value, in order."""
    if isinstance(value, tuple):
        return [node for part in value for node in parts(part)]
    if not isinstance(value, Node):
        raise NotProvable("a pointer as a value")
    return [value]


def mapped(value: Value, change: Callable[[Node], Node]) -> Value:
    """A value with each scalar changed."""
    if isinstance(value, tuple):
        return tuple([mapped(part, change) for part in value])
    if not isinstance(value, Node):
        raise NotProvable("a pointer as a value")
    return change(value)


def zipped(a: Value, b: Value, change: Callable[[Node, Node], Node]) -> Value:
    """A value of each scalar of two values of one type."""
    if a is b and not isinstance(a, Node):
        return a
    if isinstance(a, tuple):
        return tuple([zipped(x, y, change) for x, y in zip(a, b)])
    if not isinstance(a, Node) or not isinstance(b, Node):
        if a == b:
            return a
        raise NotProvable("a choice of pointers")
    return change(a, b)
