"""Where the variables of an interface lie: a key for each scalar.

    ("loc", Location, Component)     a varying, a vertex attribute, a colour
    ("patch", Location, Component)   of a whole patch
    ("prim", Location, Component)    of a whole primitive of a mesh shader
    ("builtin", number, at)          ``at`` counts the scalars of a vector or an array

Components are of 32 bits; a 64-bit number takes two and has the key of the first.
"""

from __future__ import annotations

from typing import Any

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.verifier.paper.graph import NotProvable
from spvlink.verifier.paper.shapes import Shapes

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

Key = tuple[Any, ...]

LOCATION: Final = enums.Decoration_Location
COMPONENT: Final = enums.Decoration_Component
BUILTIN: Final = enums.Decoration_BuiltIn
PATCH: Final = enums.Decoration_Patch
PRIMITIVE: Final = enums.Decoration_PerPrimitiveEXT
INDEX: Final = enums.Decoration_Index
OFFSET: Final = enums.Decoration_Offset
XFB_BUFFER: Final = enums.Decoration_XfbBuffer
INVARIANT: Final = enums.Decoration_Invariant
STREAM: Final = enums.Decoration_Stream
QUALIFIERS: Final = {
    enums.Decoration_Flat: "flat",
    enums.Decoration_NoPerspective: "noperspective",
    enums.Decoration_Centroid: "centroid",
    enums.Decoration_Sample: "sample",
    enums.Decoration_PerVertexKHR: "pervertex",
}


class PlaceLeaf:
    """A scalar of an interface variable."""

    __slots__ = ("captured", "invariant", "key", "kind", "qualifiers", "stream")

    def __init__(
        self, key: Key, kind: str, qualifiers: tuple[str, ...], captured: Key | None, stream: int
    ) -> None:
        self.key = key
        self.kind = kind
        self.qualifiers = qualifiers
        self.captured = captured  # buffer and byte offset, if transform feedback takes it
        self.stream = stream
        self.invariant = False


class _Walk:
    """Puts keys on one variable."""

    def __init__(self, shapes: Shapes, word: str, dual: int) -> None:
        self.shapes = shapes
        self.word = word
        self.dual = dual
        self.location = -1
        self.component = 0
        self.builtin = -1
        self.count = 0
        self.notes: dict[int, tuple[int, ...]] = {}
        self.capture: list[int] = []  # buffer, next byte

    def leaf(self, type: Inst) -> PlaceLeaf:
        kind = self.shapes.kind(type)
        captured: Key | None = None
        if self.capture:
            captured = ("xfb", self.capture[0], self.capture[1])
            self.capture[1] += int(kind[1:]) // 8 if kind != "b" else 4
        qualifiers = tuple([name for mark, name in QUALIFIERS.items() if mark in self.notes])
        stream = self.notes.get(STREAM, (0,))[0]
        if self.builtin >= 0:
            key: Key = ("builtin", self.builtin, self.count)
            self.count += 1
            return self.noted(PlaceLeaf(key, kind, qualifiers, captured, stream))
        at = self.component
        key = (self.word, self.location + at // 4, at % 4)
        if self.dual:
            key = (*key, self.dual)
        self.component += 2 if kind[1:] == "64" else 1
        return self.noted(PlaceLeaf(key, kind, qualifiers, captured, stream))

    def noted(self, leaf: PlaceLeaf) -> PlaceLeaf:
        leaf.invariant = INVARIANT in self.notes
        return leaf

    def tree(self, type: Inst) -> Any:
        """A value of leaves; moves on by the Locations that the type takes."""
        op = type.op
        if op in (ops.OpTypeArray, ops.OpTypeMatrix):
            first = self.component
            parts = []
            for _ in range(self.shapes.count(type)):
                parts.append(self.tree(type.args[0]))
                self.component = first
            return tuple(parts)
        if op == ops.OpTypeStruct:
            return tuple([self.member(type, at) for at in range(len(type.args))])
        if op == ops.OpTypeVector:
            made: Any = tuple([self.leaf(type.args[0]) for _ in range(type.imm[0])])
        else:
            made = self.leaf(type)
        self.location += 1 + (self.component - 1) // 4
        self.component = 0
        return made

    def member(self, struct: Inst, at: int) -> Any:
        notes = self.shapes.of_member(struct, at)
        kept, self.notes = self.notes, {**self.notes, **notes}
        capture = self.capture
        self.note(notes)
        made = self.tree(struct.args[at])
        self.capture = capture
        self.notes, self.builtin = kept, -1 if BUILTIN in notes else self.builtin
        return made

    def note(self, notes: dict[int, tuple[int, ...]]) -> None:
        if LOCATION in notes:
            self.location = notes[LOCATION][0]
        self.component = notes.get(COMPONENT, (0,))[0]
        if BUILTIN in notes:
            self.builtin, self.count = notes[BUILTIN][0], 0
        if PATCH in notes:
            self.word = "patch"
        elif PRIMITIVE in notes:
            self.word = "prim"
        if OFFSET in notes and XFB_BUFFER in {**self.notes, **notes}:
            self.capture = [{**self.notes, **notes}[XFB_BUFFER][0], notes[OFFSET][0]]


def leaves_of(shapes: Shapes, variable: Inst, type: Inst) -> Any:
    """The tree of leaves of an interface variable; ``type`` is its type, without the dimension of
    vertices or primitives."""
    notes = shapes.of(variable)
    walk = _Walk(shapes, "loc", notes.get(INDEX, (0,))[0])
    walk.notes = notes
    walk.note(notes)
    made = walk.tree(type)
    if walk.location < 0 and walk.builtin < 0 and BUILTIN not in _all_notes(shapes, type):
        raise NotProvable("a variable of the interface without a place")
    return made


def _all_notes(shapes: Shapes, type: Inst) -> set[int]:
    if type.op != ops.OpTypeStruct:
        return set()
    return {mark for at in range(len(type.args)) for mark in shapes.of_member(type, at)}


def is_patch(shapes: Shapes, variable: Inst, type: Inst) -> bool:
    """Whether a variable, or a member of its block, is of a whole patch."""
    return PATCH in shapes.of(variable) or PATCH in _all_notes(shapes, type)


def is_per_primitive(shapes: Shapes, variable: Inst, type: Inst) -> bool:
    return PRIMITIVE in shapes.of(variable) or PRIMITIVE in _all_notes(shapes, type)


PATCH_BUILTINS: Final = frozenset((enums.BuiltIn_TessLevelOuter, enums.BuiltIn_TessLevelInner))
