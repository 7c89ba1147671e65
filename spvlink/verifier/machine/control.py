"""In which order blocks run, so that invocations which parted meet again.

Each invocation has a block that it goes to next; always that block runs which comes first in an
order where the blocks of a construct stand before its merge block. So a merge block runs when all
that come there have come.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Block, Function, Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator


class BlockOrder:
    """The order of a function's blocks, and which values are used outside of their block in a
    loop: what an invocation had there when it left must stay."""

    def __init__(self, function: Function) -> None:
        self.order: dict[Block, int] = {}
        done: list[Block] = []
        seen: set[Block] = {function.blocks[0]}
        stack: list[tuple[Block, Iterator[Block]]] = [
            (function.blocks[0], iter(_ways(function.blocks[0])))
        ]
        while stack:
            block, ways = stack[-1]
            for way in ways:
                if way not in seen:
                    seen.add(way)
                    stack.append((way, iter(_ways(way))))
                    break
            else:
                done.append(block)
                stack.pop()
        for n, block in enumerate(reversed(done)):
            self.order[block] = n
        self.phis: dict[Block, list[Inst]] = {}
        self.code: dict[Block, list[Inst]] = {}
        for block in done:
            self.phis[block] = [i for i in block.insts if i.op == ops.OpPhi]
            self.code[block] = [i for i in block.insts if i.op not in _SILENT]
        self.lasting = self.used_elsewhere() if self.has_loops() else frozenset()

    def has_loops(self) -> bool:
        return any(
            self.order[way] <= n for block, n in self.order.items() for way in block.successors()
        )

    def used_elsewhere(self) -> frozenset[Inst]:
        home: dict[Inst, Block] = {}
        for block in self.order:
            for inst in block.insts:
                home[inst] = block
        used: set[Inst] = set()
        for block in self.order:
            for inst in block.insts:
                for arg in inst.args:
                    at = home.get(arg)
                    if at is not None and (at is not block or inst.op == ops.OpPhi):
                        used.add(arg)
        return frozenset(used)


_SILENT = frozenset((
    ops.OpPhi, ops.OpLine, ops.OpNoLine, ops.OpSelectionMerge, ops.OpLoopMerge, ops.OpNop,
    ops.OpLabel,
))  # fmt: skip


def _ways(block: Block) -> list[Block]:
    """Where to go from a block, what is to stand last in the order first."""
    merge = block.merge()
    ways: list[Block] = []
    if merge is not None:
        ways += [arg for arg in merge.args if isinstance(arg, Block)]
    ways += reversed(block.successors())
    return ways
