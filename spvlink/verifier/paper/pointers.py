"""Pointers, and what is behind them: variables as trees of scalars, buffers by bytes."""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.verifier.paper.graph import CONST, Node, NotProvable
from spvlink.verifier.paper.shapes import (
    Shapes,
    Value,
    is_composite,
    is_unsized_value,
    mapped,
    zipped,
)
from spvlink.verifier.paper.terms import Terms

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Any, Final

ARRAYS: Final = frozenset((ops.OpTypeArray, ops.OpTypeRuntimeArray))


class TermPointer:
    """To a part of a variable. ``path``: indices, as nodes; ``type``: of what it points to."""

    __slots__ = ("path", "root", "type")

    def __init__(self, root: object, path: tuple[Node, ...], type: Inst) -> None:
        self.root = root
        self.path = path
        self.type = type

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TermPointer) and self.root == other.root and self.path == other.path
        )

    def __hash__(self) -> int:
        return hash((self.root, self.path))


class TermAddress:
    """Into a buffer or to a resource. ``where``: storage class, set, binding; ``within``: nodes
    that pick the descriptor or are a base; ``offset`` and ``terms`` (bytes, index): where in it."""

    __slots__ = ("notes", "offset", "row_major", "stride", "terms", "type", "where", "within")

    def __init__(self, where: tuple[Any, ...], type: Inst, notes: frozenset[int]) -> None:
        self.where = where
        self.type = type
        self.notes = notes  # decorations of the variable and of members on the way
        self.within: tuple[Node, ...] = ()
        self.offset = 0
        self.terms: tuple[tuple[int, Node], ...] = ()
        self.stride = 0  # of a matrix
        self.row_major = False

    def copy(self) -> TermAddress:
        made = TermAddress(self.where, self.type, self.notes)
        made.within, made.offset, made.terms = self.within, self.offset, self.terms
        made.stride, made.row_major = self.stride, self.row_major
        return made

    def key(self) -> tuple[tuple[Node, ...], tuple[object, ...]]:
        """Operands and immediates of a node that names this place."""
        joined: dict[Node, int] = {}
        for stride, index in self.terms:
            joined[index] = joined.get(index, 0) + stride
        order = sorted(joined, key=lambda n: n.id)
        strides = tuple([joined[n] for n in order])
        imm = (*self.where, len(self.within), self.offset, *strides)
        return (*self.within, *order), imm

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermAddress) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def moved(self, stride: int, index: Node) -> None:
        if index.op == CONST:
            self.offset += stride * index.bits
        else:
            self.terms = (*self.terms, (stride, index))


def chain(shapes: Shapes, base: TermAddress, indices: list[Node]) -> TermAddress:
    """An address with indices followed."""
    at = base.copy()
    for index in indices:
        type = at.type
        if type.op == ops.OpTypeStruct:
            if index.op != CONST:
                raise NotProvable("a dynamic member")
            notes = shapes.of_member(type, index.bits)
            if enums.Decoration_Offset not in notes:
                raise NotProvable("a buffer without a layout")
            at.offset += notes[enums.Decoration_Offset][0]
            at.notes = at.notes | frozenset(notes)
            if enums.Decoration_MatrixStride in notes:
                at.stride = notes[enums.Decoration_MatrixStride][0]
                at.row_major = enums.Decoration_RowMajor in notes
            at.type = type.args[index.bits]
            continue
        if type.op in ARRAYS:
            stride = shapes.of(type).get(enums.Decoration_ArrayStride)
            if stride is None:  # an array of descriptors, or of shared memory
                at.within = (*at.within, index)
                at.type = type.args[0]
                continue
            at.moved(stride[0], index)
        elif type.op == ops.OpTypeMatrix:
            scalar = int(shapes.kind(type.args[0].args[0])[1:]) // 8
            at.moved(scalar if at.row_major else at.stride, index)
        elif type.op == ops.OpTypeVector:
            scalar = int(shapes.kind(type.args[0])[1:]) // 8
            in_rows = at.row_major and at.stride
            at.moved(at.stride if in_rows else scalar, index)
        else:
            raise NotProvable("an index into a scalar")
        if type.op != ops.OpTypeMatrix and type.op != ops.OpTypeVector:
            at.type = type.args[0]
        else:
            at.type = type.args[0]
            if type.op == ops.OpTypeVector:
                at.stride = 0
    return at


def scalars(shapes: Shapes, base: TermAddress, terms: Terms, visit: Any) -> Value:
    """A value of what ``visit`` makes of the address of each scalar."""
    if not is_composite(base.type):
        return visit(base)
    parts = []
    for at in range(shapes.count(base.type)):
        parts.append(scalars(shapes, chain(shapes, base, [_index(terms, at)]), terms, visit))
    return tuple(parts)


def _index(terms: Terms, at: int) -> Node:
    return terms.graph.const("i32", at)


# -- parts of values -------------------------------------------------------------------------------


def part_of(terms: Terms, value: Value, path: tuple[Node, ...]) -> Value:
    """The part of a value at a path of indices."""
    for at, index in enumerate(path):
        if is_unsized_value(value):
            value = mapped(value[0], lambda all, i=index: terms.element(all, i))  # type: ignore[misc]
            continue
        if index.op == CONST:
            if index.bits >= len(value):
                raise NotProvable("an index beyond the end")
            value = value[index.bits]
            continue
        rest = [part_of(terms, part, path[at + 1 :]) for part in value]
        return _picked(terms, index, rest)
    return value


def _picked(terms: Terms, index: Node, values: list[Value]) -> Value:
    if isinstance(values[0], tuple):
        return tuple([_picked(terms, index, list(column)) for column in zip(*values)])
    if not isinstance(values[0], Node):
        raise NotProvable("a choice of pointers")
    return terms.pick(index, values)


def with_part(terms: Terms, value: Value, path: tuple[Node, ...], new: Value) -> Value:
    """A value with another part at a path."""
    if not path:
        return new
    index, rest = path[0], path[1:]
    if is_unsized_value(value):
        old = part_of(terms, value, (index,))
        element = with_part(terms, old, rest, new)
        return (zipped(value[0], element, lambda all, one: terms.put(all, index, one)),)
    if index.op == CONST:
        at = index.bits
        if at >= len(value):
            raise NotProvable("an index beyond the end")
        return (*value[:at], with_part(terms, value[at], rest, new), *value[at + 1 :])
    made = []
    for at, old in enumerate(value):
        mine = terms.equals(index, at)
        changed = with_part(terms, old, rest, new)
        made.append(zipped(changed, old, lambda a, b, c=mine: terms.graph.ite(c, a, b)))  # type: ignore[misc]
    return tuple(made)
