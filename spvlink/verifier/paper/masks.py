"""Which bits of an integer may be set, and what masks, shifts and narrower kinds leave of it.

A value that is packed with others and taken out again is itself: a row of ors is masked part by
part, parts without a bit under the mask go. An undefined value has bits, too, only unknown ones, so
a mask leaves no more of it.
"""

from __future__ import annotations

from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper.graph import CONST, ITE, Graph, Node

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Apply = Callable[..., Node]
    Sum = Callable[..., Node]

_DEEPEST: Final = 24  # operations that are looked through
_SUM: Final = "isum"


def possible(node: Node, deep: int = 0) -> int:
    """The bits that may be set."""
    ones = (1 << fold.width(node.kind)) - 1
    op, args = node.op, node.args
    if op == CONST:
        return node.bits
    if deep > _DEEPEST:
        return ones
    if op == "BitwiseAnd":
        for arg in args:
            ones &= possible(arg, deep + 1)
        return ones
    if op in ("BitwiseOr", "BitwiseXor"):
        return _union(args, deep)
    if op == ITE:
        return _union(args[1:], deep)
    if op == _SUM:
        return _of_sum(node, ones, deep)
    if op == "ShiftRightLogical" and args[1].op == CONST:
        return possible(args[0], deep + 1) >> args[1].bits
    if op == "UConvert":
        return possible(args[0], deep + 1) & ones
    return ones


def _union(nodes: tuple[Node, ...], deep: int) -> int:
    bits = 0
    for node in nodes:
        bits |= possible(node, deep + 1)
    return bits


def _of_sum(node: Node, ones: int, deep: int) -> int:
    """Of parts without a common bit all of theirs; else up to the highest that the sum can have."""
    constant, *factors = [i for i in node.imm if isinstance(i, int)]
    bits, most, apart = constant, constant, True
    for arg, factor in zip(node.args, factors):
        mine = possible(arg, deep + 1)
        most += mine * factor
        if factor & (factor - 1):
            apart = False
        apart = apart and not bits & mine * factor
        bits |= mine * factor
    if apart:
        return bits & ones
    return ones if most > ones else (1 << most.bit_length()) - 1


class Masks:
    """Makes masked and shifted values; ``apply`` makes operations, ``summed`` sums."""

    def __init__(self, apply: Apply, summed: Sum) -> None:
        self.apply = apply
        self.summed = summed

    def parts(self, node: Node) -> list[tuple[Node, int]]:
        """Nodes with factors that share no bits and whose or a node is; empty if it is no row."""
        if node.op == "BitwiseOr":
            return [(arg, 1) for arg in node.args]
        if node.op != _SUM:
            return []
        constant, *factors = [i for i in node.imm if isinstance(i, int)]
        if any(f & (f - 1) for f in factors):
            return []
        seen = constant
        for arg, factor in zip(node.args, factors):
            mine = possible(arg) * factor
            if seen & mine:
                return []
            seen |= mine
        return list(zip(node.args, factors))

    def constant_of(self, node: Node) -> int:
        return int(str(node.imm[0])) if node.op == _SUM else 0

    def joined(self, graph: Graph, kind: str, nodes: list[Node]) -> Node:
        word = graph.const(kind, 0)
        for node in nodes:
            word = self.apply(graph, "BitwiseOr", kind, [word, node])
        return word

    def masked(self, graph: Graph, node: Node, mask: int) -> Node | None:
        """A value under a mask of constant bits; None if there is nothing to do."""
        kind, bits = node.kind, possible(node)
        if not bits & mask:
            return graph.const(kind, 0)
        if not bits & ~mask:
            return node
        if node.op == "BitwiseOr":
            for arg in node.args:
                if arg.op == CONST and not mask & ~arg.bits:
                    return graph.const(kind, mask)
        rows = self.parts(node)
        if not rows:
            return None
        made = [self._shifted(graph, arg, factor, mask) for arg, factor in rows]
        made.append(graph.const(kind, self.constant_of(node) & mask))
        return self.joined(graph, kind, made)

    def _shifted(self, graph: Graph, node: Node, factor: int, mask: int) -> Node:
        """The part of a row under a mask."""
        by = factor.bit_length() - 1
        under = graph.const(node.kind, mask >> by)
        inner = self.apply(graph, "BitwiseAnd", node.kind, [node, under])
        return self.summed(graph, node.kind, [(inner, factor)])

    def right(self, graph: Graph, node: Node, by: int) -> Node | None:
        """A value shifted to the right."""
        kind = node.kind
        size = fold.width(kind)
        if not possible(node) >> by:
            return graph.const(kind, 0)
        if node.op == "BitwiseAnd":
            made = [self._right(graph, arg, by) for arg in node.args]
            word = made[0]
            for arg in made[1:]:
                word = self.apply(graph, "BitwiseAnd", kind, [word, arg])
            return word
        rows = self.parts(node)
        if not rows:
            return None
        made = [graph.const(kind, self.constant_of(node) >> by)]
        for arg, factor in rows:
            up = factor.bit_length() - 1
            kept = graph.const(kind, (1 << (size - up)) - 1)
            inner = self.apply(graph, "BitwiseAnd", kind, [arg, kept]) if up else arg
            if up >= by:
                made.append(self.summed(graph, kind, [(inner, 1 << (up - by))]))
            else:
                made.append(self._right(graph, inner, by - up))
        return self.joined(graph, kind, made)

    def _right(self, graph: Graph, node: Node, by: int) -> Node:
        return self.apply(graph, "ShiftRightLogical", node.kind, [node, graph.const("i32", by)])

    def narrowed(self, graph: Graph, kind: str, node: Node) -> Node | None:
        """The low bits of a wider value."""
        if not possible(node) & ((1 << fold.width(kind)) - 1):
            return graph.const(kind, 0)
        if node.op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            made = [self.apply(graph, "UConvert", kind, [arg]) for arg in node.args]
            word = made[0]
            for arg in made[1:]:
                word = self.apply(graph, node.op, kind, [word, arg])
            return word
        if node.op != _SUM:
            return None
        constant, *factors = [i for i in node.imm if isinstance(i, int)]
        low = [self.apply(graph, "UConvert", kind, [arg]) for arg in node.args]
        return self.summed(graph, kind, list(zip(low, factors)), constant)
