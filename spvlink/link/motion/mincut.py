"""Find the minimum cut of a network by Dinic's algorithm (1970): O(V^2 E) at worst, near linear on
the shallow networks of ``motion``.

Nodes are numbers, 0 the source and 1 the sink; capacities are integers, and ``INFINITE`` is more
than any cut can have.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

SOURCE: Final = 0
SINK: Final = 1
INFINITE: Final = 1 << 60


class Network:
    """Built edge by edge; ``edges[e] ^ 1`` is the reverse of edge ``e``."""

    __slots__ = ("capacity", "edges", "target")

    def __init__(self) -> None:
        self.edges: list[list[int]] = [[], []]  # node -> numbers of its edges
        self.target: list[int] = []
        self.capacity: list[int] = []  # what is left of each edge

    def node(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, a: int, b: int, capacity: int) -> None:
        self.edges[a].append(len(self.target))
        self.target.append(b)
        self.capacity.append(capacity)
        self.edges[b].append(len(self.target))
        self.target.append(a)
        self.capacity.append(0)

    def cut(self) -> list[bool]:
        """For each node whether it is on the source's side of a minimum cut, of several the one
        with the smallest such side."""
        while True:
            levels = self.levels()
            if levels[SINK] < 0:
                return [level >= 0 for level in levels]
            self.saturate(levels)

    def levels(self) -> list[int]:
        """Distance of each node from the source over edges that are not full; -1: out of reach."""
        target, capacity, edges = self.target, self.capacity, self.edges
        levels = [-1] * len(edges)
        levels[SOURCE] = 0
        todo = [SOURCE]
        for node in todo:
            above = levels[node] + 1
            for e in edges[node]:
                if capacity[e] and levels[target[e]] < 0:
                    levels[target[e]] = above
                    todo.append(target[e])
        return levels

    def saturate(self, levels: list[int]) -> None:
        """A blocking flow: no path that climbs level by level is left."""
        target, capacity, edges = self.target, self.capacity, self.edges
        next_edge = [0] * len(edges)
        path: list[int] = []  # edges from the source to ``node``
        node = SOURCE
        while True:
            if node == SINK:
                amount = min([capacity[e] for e in path])
                first_full = len(path)
                for at in range(len(path) - 1, -1, -1):
                    e = path[at]
                    capacity[e] -= amount
                    capacity[e ^ 1] += amount
                    if not capacity[e]:
                        first_full = at
                node = target[path[first_full] ^ 1]
                del path[first_full:]
                continue
            mine = edges[node]
            while next_edge[node] < len(mine):
                e = mine[next_edge[node]]
                if capacity[e] and levels[target[e]] == levels[node] + 1:
                    break
                next_edge[node] += 1
            else:
                if not path:
                    return
                e = path.pop()
                node = target[e ^ 1]
                next_edge[node] += 1
                continue
            path.append(e)
            node = target[e]
