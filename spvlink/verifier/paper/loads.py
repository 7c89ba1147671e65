"""Loads from buffers, of which the operands are other ones now."""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.verifier.paper.graph import CONST, Graph, Node

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

LOAD: Final = "load"
_ALONE: Final = frozenset(
    (enums.StorageClass_PushConstant, enums.StorageClass_PhysicalStorageBuffer)
)


def load_of(graph: Graph, node: Node, args: list[Node]) -> Node:
    """A load with other operands, as an address has them: an index that is a constant belongs to
    the offset, equal ones are one, and they have an order."""
    first = 1 if node.imm[0] in _ALONE else 3  # or a set and a binding
    count, offset, *strides = [i for i in node.imm[first:] if isinstance(i, int)]
    end = count + len(strides)
    joined: dict[Node, int] = {}
    for index, stride in zip(args[count:end], strides):
        if index.op == CONST:
            offset += stride * index.bits
        else:
            joined[index] = joined.get(index, 0) + stride
    order = sorted(joined, key=lambda n: n.id)
    imm = (*node.imm[:first], count, offset, *[joined[n] for n in order])
    made = graph.node(LOAD, node.kind, (*args[:count], *order, *args[end:]), imm)
    made.varying = made.varying or node.varying
    return made
