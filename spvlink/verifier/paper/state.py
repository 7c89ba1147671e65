"""What an invocation has at one point of its code, on edges, and where edges meet."""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Block, Inst
from spvlink.verifier.paper.graph import Graph, Node
from spvlink.verifier.paper.shapes import Value, zipped

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

Cells = dict[object, Value]

ELEMENTS: Final = frozenset((ops.OpPtrAccessChain, ops.OpInBoundsPtrAccessChain))
CHAINS: Final = ELEMENTS | frozenset((ops.OpAccessChain, ops.OpInBoundsAccessChain))


class Edge:
    """A way from a block to another one, or out of a function. ``path``: when it is taken, since
    the entry point or the current round of the innermost loop began; ``cells``: all that can be
    changed; ``values``: of the phis of the target, or what is returned."""

    __slots__ = ("cells", "path", "values")

    def __init__(self, path: Node, cells: Cells, values: list[Value]) -> None:
        self.path = path
        self.cells = cells
        self.values = values


# A block, or a word for the ways out
Target = Block | str
Exits = dict[Target, list[Edge]]
RETURN = "return"
KILL = "kill"


def met(graph: Graph, edges: list[Edge]) -> Edge:
    """Several edges as one: each value is a choice by the paths, which are said as little as is
    needed where one of the edges was taken."""
    if len(edges) == 1:
        return edges[0]
    path = graph.false
    for edge in edges:
        path = graph.either(path, edge.path)
    last = edges[-1]
    cells, values = last.cells, last.values
    for edge in reversed(edges[:-1]):
        condition = graph.restrict(edge.path, path)

        def choose(a: Node, b: Node, c: Node = condition) -> Node:
            return graph.ite(c, a, b)

        cells = _joined(edge.cells, cells, choose)
        values = [zipped(a, b, choose) for a, b in zip(edge.values, values)]
    return Edge(path, cells, values)


def _joined(a: Cells, b: Cells, choose: Callable[[Node, Node], Node]) -> Cells:
    """What only one side has is a variable of a call that is over."""
    cells: Cells = {}
    for cell, value in a.items():
        other = b.get(cell)
        if other is value:
            cells[cell] = value
        elif other is not None:
            cells[cell] = zipped(value, other, choose)
    return cells


class BlockLayout:
    """The blocks of a function in an order in which edges go forward, but for those back to the
    header of a loop; the loops, and which values are used outside of the loop that makes them:
    ``again`` are the pointers among them. One is made again where it is used. Its block dominates
    that one, and is dominated by the blocks of its operands, so they are those that it was made of.
    """

    def __init__(self, blocks: list[Block]) -> None:
        self.order = _forward(blocks[0])
        self.loops: dict[Block, set[Block]] = {}
        for block in self.order:
            merge = block.merge()
            if merge is not None and len(merge.args) == 2:  # OpLoopMerge
                self.loops[block] = _reached(block, merge.args[0])
        self.escaping: set[Inst] = set()
        self.again: set[Inst] = set()
        home = {inst: block for block in self.order for inst in block.insts}
        for block in self.order:
            for inst in block.insts:
                self._escape(inst.args, block, home)

    def _escape(self, args: list[Inst], block: Block, home: dict[Inst, Block]) -> None:
        """Notes what a block uses."""
        for arg in args:
            made = home.get(arg)
            if made is None or made is block or arg in self.escaping:
                continue
            if any(made in body and block not in body for body in self.loops.values()):
                if arg.op in CHAINS:
                    self.again.add(arg)
                    self._escape(arg.args, block, home)
                else:
                    self.escaping.add(arg)


def _reached(header: Block, merge: Inst) -> set[Block]:
    """The blocks of a loop: what is reached without passing its merge block."""
    reached: set[Block] = {header}
    todo = [header]
    while todo:
        for target in todo.pop().successors():
            if target is not merge and target not in reached:
                reached.add(target)
                todo.append(target)
    return reached


def leads_out(block: Block, header: Block, body: set[Block]) -> bool:
    """Whether no way from a block leads to another round of a loop."""
    seen, todo = {block}, [block]
    while todo:
        at = todo.pop()
        if at is header:
            return False
        if at in body:
            for target in at.successors():
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
    return True


def _forward(entry: Block) -> list[Block]:
    """Blocks in reverse postorder. The merge block of a construct is looked at first, so that it
    comes last: behind all of the construct."""
    order: list[Block] = []
    seen: set[Block] = {entry}
    todo: list[tuple[Block, list[Block]]] = [(entry, _next(entry))]
    while todo:
        block, rest = todo[-1]
        if rest:
            target = rest.pop(0)
            if target not in seen:
                seen.add(target)
                todo.append((target, _next(target)))
        else:
            order.append(block)
            todo.pop()
    order.reverse()
    return order


def _next(block: Block) -> list[Block]:
    merge = block.merge()
    targets = block.successors()
    if merge is None:
        return targets
    # Only what control really flows to, the merge block before the others
    first = merge.args[0]
    return [*[t for t in targets if t is first], *[t for t in targets if t is not first]]
