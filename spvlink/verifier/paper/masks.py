"""Which bits of an integer may be set, and what masks, shifts and narrower kinds leave of it.

A value that is packed with others and taken out again is itself: a row of ors is masked part by
part, parts without a bit under the mask go. An undefined value has bits, too, only unknown ones, so
a mask leaves no more of it.
"""

from __future__ import annotations

from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper.choices import leaves_of
from spvlink.verifier.paper.graph import CONST, ITE, Graph, Node

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Apply = Callable[..., Node]
    Sum = Callable[..., Node]

_SUM: Final = "isum"


def possible(node: Node) -> int:
    """The bits that may be set."""
    todo = [node]
    while todo:
        top = todo[-1]
        below = [arg for arg in _looked_through(top) if arg.possible is None]
        if below and top.possible is None:
            todo += below
        else:
            top.possible = _possible(top)
            todo.pop()
    assert node.possible is not None
    return node.possible


def _looked_through(node: Node) -> tuple[Node, ...]:
    """The operands that say which bits may be set."""
    if node.op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", _SUM):
        return node.args
    if node.op == ITE:
        return node.args[1:]
    if node.op == "loop":
        return _results(node)
    if node.op == "UConvert" or (node.op == "ShiftRightLogical" and node.args[1].op == CONST):
        return node.args[:1]
    return ()


def _results(loop: Node) -> tuple[Node, ...]:
    """What the value behind a loop is one of: of a variable what it starts with, and becomes."""
    value, (height, kinds) = loop.args[1], loop.imm
    if value.op != "var" or value.imm[0] != height:
        return (value,)
    at, count = value.imm[1], len(kinds) if isinstance(kinds, tuple) else 0
    assert isinstance(at, int)
    return loop.args[2 + at], loop.args[2 + count + at]


def _possible(node: Node) -> int:
    ones = (1 << fold.width(node.kind)) - 1
    args = [arg.possible or 0 for arg in _looked_through(node)]
    if node.op == CONST:
        return node.bits
    if node.op == "UMod" and node.args[1].op == CONST and node.args[1].bits:
        return (1 << (node.args[1].bits - 1).bit_length()) - 1
    if node.op == "BitCount":
        return (2 << fold.width(node.args[0].kind).bit_length() - 1) - 1
    if not args:
        return ones
    if node.op == "BitwiseAnd":
        for bits in args:
            ones &= bits
        return ones
    if node.op == _SUM:
        return _of_sum(node, ones, args)
    if node.op == "ShiftRightLogical":
        return args[0] >> node.args[1].bits
    union = 0  # of a choice, or a row of ors
    for bits in args:
        union |= bits
    return union & ones


def _of_sum(node: Node, ones: int, args: list[int]) -> int:
    """Of parts without a common bit all of theirs; else up to the highest that the sum can have."""
    constant, *factors = [i for i in node.imm if isinstance(i, int)]
    bits, most, apart = constant, constant, True
    for mine, factor in zip(args, factors):
        most += mine * factor
        if factor & (factor - 1):
            apart = False
        apart = apart and not bits & mine * factor
        bits |= mine * factor
    if apart:
        return bits & ones
    return ones if most > ones else (1 << most.bit_length()) - 1


def bounds(node: Node) -> tuple[int, int]:
    """The least and the largest number, without a sign."""
    if node.op == CONST:
        return node.bits, node.bits
    if node.op == _SUM:
        constant, *factors = [i for i in node.imm if isinstance(i, int)]
        most = constant + sum(possible(arg) * by for arg, by in zip(node.args, factors))
        if not most >> fold.width(node.kind):
            return constant, most
    if node.op == ITE:
        ends = [bounds(leaf) for leaf in leaves_of(node) or []]
        if ends:
            return min(least for least, _ in ends), max(most for _, most in ends)
    if node.op == "UMod" and node.args[1].op == CONST and node.args[1].bits:
        return 0, node.args[1].bits - 1
    if node.op in ("glsl.SClamp", "glsl.UClamp") and node.args[1].op == node.args[2].op == CONST:
        least, most = node.args[1].bits, node.args[2].bits
        if least <= most and not most >> fold.width(node.kind) - 1:
            return least, most
    return 0, possible(node)


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
