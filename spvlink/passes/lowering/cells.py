"""Split a variable into the parts that code uses, and say which parts may become SSA values.

The type of a variable is a tree of structs, arrays and matrices over vectors and scalars. An access
with constant indices names a node of it. A node that only whole loads and stores touch stays one
value of any type, so vector and matrix code stays as it is. A node with accesses to its parts
splits into its children. A node with a dynamic index, or whose address goes out of sight (a
function, an atomic), stays in memory by itself; its neighbours may still become values.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.ir.slot import DYNAMIC

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

WHOLE: Final = 0  # one value
SPLIT: Final = 1
MEMORY: Final = 2

MAX_PARTS: Final = 512  # a node with more parts than this stays in memory


class PartNode:
    """A part of a variable; ``cell`` numbers the WHOLE nodes, ``variable`` is what a MEMORY node
    becomes."""

    __slots__ = (
        "cell",
        "children",
        "in_place",
        "is_input",
        "keys",
        "kind",
        "path",
        "pins",
        "type",
        "variable",
        "why",
    )  # fmt: skip

    def __init__(self, type: Inst, path: tuple[int, ...]) -> None:
        self.type = type
        self.kind = WHOLE
        self.children: list[PartNode] = []
        self.cell = -1
        self.variable: Inst | None = None
        self.why = ""
        self.pins = 0  # what of that decides something (``ir.slot``: DYNAMIC and the like)
        self.path = path
        self.keys: list[int] = []  # of the slots of an interface node, one a component
        self.is_input = False
        self.in_place = False  # an output that others see before the invocation ends

    def split(self) -> bool:
        """Make the children; False if the type cannot be split."""
        if self.kind == SPLIT:
            return True
        if self.kind == MEMORY or self.type.op == ops.OpTypeVector:
            return False
        count = types.size_of(self.type)
        if not 0 < count <= MAX_PARTS:
            return False
        self.kind = SPLIT
        self.children = [
            PartNode(types.part_type(self.type, i), self.path + (i,)) for i in range(count)
        ]
        return True

    def pin(self, why: str, pins: int = 0) -> None:
        """Keep this node in memory."""
        self.kind = MEMORY
        self.children = []
        self.why = self.why or why
        self.pins |= pins

    def leaves(self) -> list[PartNode]:
        """The WHOLE and MEMORY nodes below, in order."""
        if self.kind != SPLIT:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]


class PointerTarget:
    """Where a pointer points: a node and, inside a vector, an index (constant or dynamic)."""

    __slots__ = ("lane", "node", "rest", "vertex")

    def __init__(self, node: PartNode, lane: Inst | None, rest: list[Inst]) -> None:
        self.node = node
        self.lane = lane  # index into the vector of a WHOLE node
        self.rest = rest  # indices that go on into a MEMORY node
        self.vertex: Inst | None = None  # of a variable that is an array over vertices


def find(root: PartNode, indices: list[Inst], touch: bool) -> PointerTarget:
    """Follow ``indices`` from a variable's root; with ``touch`` split on the way and pin what must
    stay in memory."""
    node = root
    for at, index in enumerate(indices):
        if node.kind == MEMORY:
            return PointerTarget(node, None, indices[at:])
        if node.type.op == ops.OpTypeVector:
            constant = types.index_of(index)
            if touch and constant is not None and not 0 <= constant < node.type.imm[0]:
                node.pin("an index is out of bounds")
                return PointerTarget(node, None, indices[at:])
            return PointerTarget(node, index, [])
        constant = types.index_of(index)
        if touch and not node.split():
            node.pin("it is too large to split")
            return PointerTarget(node, None, indices[at:])
        if constant is None or not 0 <= constant < len(node.children):
            if touch:
                if constant is None:
                    node.pin("it is accessed with a dynamic index", DYNAMIC)
                else:
                    node.pin("it is accessed with an index out of bounds")
            return PointerTarget(node, None, indices[at:])
        node = node.children[constant]
    return PointerTarget(node, None, [])
