"""Choices and columns of sums, taken apart by the factors that all vertices agree on.

A column, or a choice that differs between vertices, of sums of products is the sum of one for each
product: u * a + v * b where it is written first and u * c where it is written last is
u * (a, 0) + v * (b, 0) + u * (0, c). What is written in one invocation of a geometry shader is the
same for all vertices of the primitive if it is no variable of a loop. A column of constants that
every vertex has is what it holds last and a column that ends with 0: (2, 5) is 5 - 3 * (1, 0).
"""

from __future__ import annotations

from spvlink.verifier.paper.choices import choose, leaves_of
from spvlink.verifier.paper.graph import ITE, MEMORY, Node

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    from spvlink.verifier.paper.terms import Terms

    # A sum of products in real numbers: factors -> the number before them
    Poly = dict[tuple[Node, ...], float]
    Factors = tuple[Node, ...]
    Split = list[tuple[Factors, Node, float]]
    # By the factors that may be moved and, product by product, the others
    Groups = dict[tuple[Factors, Factors], Poly]

_MOST_LINKS: Final = 512
_MOST_GROUPS: Final = 64
_LINKS: Final = frozenset(("emit", "vstore"))


class Splits:
    """Takes apart; ``poly`` gives the sum that a node is, ``made`` the node of a sum, ``stays``
    whether a factor must not be moved."""

    def __init__(
        self, terms: Terms, poly: Callable[[Node], Poly], made: Callable[[str, Poly], Node],
        stays: Callable[[Node], bool],
    ) -> None:  # fmt: skip
        self.terms = terms
        self.poly = poly
        self.made = made
        self.stays = stays

    def split(self, node: Node, is_complete: bool = False) -> Split:
        """What varies, behind factors that do not, and a number before it: one for each product,
        or if these are too many, one for each group of factors. Empty if it is too much.
        ``is_complete``: a column has a value for each reader."""
        values = self._values(node) if node.kind == MEMORY else leaves_of(node)
        whole: Split = [] if node.kind == MEMORY else [((), node, 1.0)]
        if not values or len(values) > _MOST_LINKS:
            return whole
        inside = node.kind == MEMORY and emits(node)
        polys = {value: self.poly(value) for value in values if not value.undef}
        for by_product in (True, False):
            grouped = {v: self._grouped(poly, inside, by_product) for v, poly in polys.items()}
            has_numbers = by_product and is_complete and len(polys) == len(values)
            split = self._groups(node, values, grouped, has_numbers)
            if split is not None:
                return split
        return whole

    def _groups(
        self, node: Node, values: list[Node], grouped: dict[Node, Groups], has_numbers: bool
    ) -> Split | None:
        scales: dict[tuple[Factors, Factors], float] = {}
        for value in values:
            for group, rest in grouped.get(value, {}).items():
                if group not in scales:
                    scales[group] = rest[min(rest, key=_ids)]
        if len(scales) > _MOST_GROUPS:
            return None
        split: Split = []
        for group, scale in scales.items():
            if has_numbers and not group[1]:
                numbers = {value: grouped[value].get(group, {}).get((), 0.0) for value in values}
                split += [(group[0], *part) for part in self._numbers(node, numbers)]
                continue
            ends: dict[Node, Node] = {}
            for value in values:
                if value.undef:
                    ends[value] = value
                    continue
                rest = grouped[value].get(group, {})
                scaled = {m: c / scale for m, c in rest.items()}
                ends[value] = self.made(value.kind, scaled)
            made = self._column(node, ends) if node.kind == MEMORY else self._choice(node, ends)
            split.append((group[0], made, scale))
        return split

    def _numbers(self, column: Node, numbers: dict[Node, float]) -> list[tuple[Node, float]]:
        """A column of numbers that each vertex has, as 1 and a column in which the value that is
        written last is 0 and the next one that differs is 1; each with the number before it."""
        kind = next(iter(numbers)).kind
        last = next(iter(numbers.values()))
        one = self.made(kind, {(): 1.0})
        parts = [(one, last)] if last else []
        step = next((c - last for c in numbers.values() if c != last), 0.0)
        if step:
            ends = {v: self.made(kind, {(): (c - last) / step}) for v, c in numbers.items()}
            parts.append((self._column(column, ends), step))
        return parts

    def _grouped(self, poly: Poly, inside: bool, by_product: bool) -> Groups:
        groups: Groups = {}
        for monomial, factor in poly.items():
            same = tuple([n for n in monomial if self._agreed(n, inside)])
            other = tuple([n for n in monomial if not self._agreed(n, inside)])
            group = groups.setdefault((same, other if by_product else ()), {})
            group[other] = group.get(other, 0.0) + factor
        return {f: p for f, p in groups.items() if any(p.values())}

    def _agreed(self, node: Node, inside: bool) -> bool:
        """Whether all vertices of a primitive agree on a factor that may be moved. ``inside``: one
        invocation wrote them all, so it is so unless it names a variable of a loop."""
        if node.varying and (not inside or names_variable(node)):
            return False
        return not self.stays(node)

    def _choice(self, node: Node, ends: dict[Node, Node]) -> Node:
        return choose(self.terms.graph, node, dict(ends))

    def _values(self, column: Node) -> list[Node]:
        """All that is written to a column, in an order that depends on the column alone."""
        choices: list[Node] = []
        for node in _links(column):
            if node.op in _LINKS and node.args[-1] not in choices:
                choices.append(node.args[-1])
        return choices

    def _column(self, column: Node, ends: dict[Node, Node]) -> Node:
        """The same column of other values."""
        graph, terms = self.terms.graph, self.terms
        known: dict[Node, Node] = {}
        for node in reversed(_links(column)):
            args = [known.get(a, a) if a.kind == MEMORY else a for a in node.args]
            if node.op in _LINKS:
                args[-1] = ends[node.args[-1]]
            if args == list(node.args):
                known[node] = node
            elif node.op == ITE:
                known[node] = graph.ite(args[0], args[1], args[2])
            elif node.op == "loop":
                known[node] = terms.rebuilt(node, args)
            else:
                known[node] = graph.node(node.op, node.kind, tuple(args), node.imm)
        return known[column]


def _links(column: Node) -> list[Node]:
    """The links of a column, each before those below it."""
    order: list[Node] = []
    seen: set[Node] = set()
    todo: list[tuple[Node, bool]] = [(column, False)]
    while todo:
        node, done = todo.pop()
        if done:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        todo.append((node, True))
        todo += [(a, False) for a in node.args if a.kind == MEMORY]
    order.reverse()
    return order


def emits(column: Node) -> bool:
    return any(node.op in ("emit", "cut") for node in _links(column))


def names_variable(value: Node) -> bool:
    """Whether a value may be another in each round of a loop, or has loops in it."""
    seen: set[Node] = set()
    todo = [value]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op in ("var", "mu", "loop"):
            return True
        todo += node.args
    return False


def names_outer_variable(value: Node) -> bool:
    """Whether a value may be another in each round of a loop that it is not all of: it names a
    variable that no loop inside of it has. Loops inside each other have variables of their own
    height, but for what they start with."""
    names: dict[Node, frozenset[int]] = {}
    todo = [value]
    while todo:
        node = todo[-1]
        missing = [arg for arg in node.args if arg not in names]
        if missing and node not in names:
            todo += missing
            continue
        todo.pop()
        if node.op == "mu":
            return True
        if node.op == "var":
            names[node] = frozenset([int(str(node.imm[0]))])
        elif node.op == "loop":
            height, kinds = node.imm
            count = len(kinds) if isinstance(kinds, tuple) else 0
            starts = node.args[2 : 2 + count]
            inside = (*node.args[:2], *node.args[2 + count :])
            names[node] = _union(names, inside) - {height} | _union(names, starts)
        else:
            names[node] = _union(names, node.args)
    return bool(names[value])


def _union(names: dict[Node, frozenset[int]], nodes: tuple[Node, ...]) -> frozenset[int]:
    return frozenset[int]().union(*[names[node] for node in nodes])


def _ids(monomial: Factors) -> list[int]:
    return [n.id for n in monomial]
