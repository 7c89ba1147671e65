"""Choices, which are diagrams with values at their ends, and operations on each of these."""

from __future__ import annotations

from spvlink.verifier.paper.graph import ITE, Graph, Node, tops

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

_MOST: Final = 32  # nodes of a choice that is folded
MANY: Final = 512  # of one whose ends change by themselves, such as bits of another kind


def leaves_of(choice: Node, most: int = _MOST) -> list[Node] | None:
    """What a choice may give; None if it has more than `most` nodes."""
    leaves: list[Node] = []
    todo, seen = [choice], {choice}
    while todo:
        node = todo.pop()
        if node.op != ITE:
            leaves.append(node)
            continue
        for branch in node.args[1:]:
            if branch not in seen:
                seen.add(branch)
                todo.append(branch)
        if len(seen) > most:
            return None
    return leaves


def tests_of(choice: Node) -> frozenset[Node]:
    """The conditions that a choice asks for. A condition asks for itself."""
    tests: set[Node] = set(tops(choice))
    todo, seen = [choice], {choice}
    while todo:
        node = todo.pop()
        if node.op == ITE:
            tests.add(node.args[0])
            for branch in node.args[1:]:
                if branch not in seen:
                    seen.add(branch)
                    todo.append(branch)
    return frozenset(tests)


def choose(graph: Graph, choice: Node, ends: dict[Node, Node]) -> Node:
    """The same choice of other leaves."""
    if choice.op != ITE:
        return ends[choice]
    known = ends.get(choice)
    if known is None:
        atom, high, low = choice.args
        known = graph.ite(atom, choose(graph, high, ends), choose(graph, low, ends))
        ends[choice] = known
    return known


def each(
    graph: Graph, choice: Node, change: Callable[[Node], Node], most: int = _MOST
) -> Node | None:
    """A choice with each of its ends changed; None if it is no choice, or has over `most` nodes."""
    leaves = leaves_of(choice, most) if choice.op == ITE else None
    return None if leaves is None else choose(graph, choice, {n: change(n) for n in leaves})
