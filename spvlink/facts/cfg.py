"""Control flow: predecessors, reverse postorder, dominators of one function, recomputed when the
module's flow moved.

Dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001); "does a
dominate b" by pre- and postorder numbers of the dominator tree.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.known import fact

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_MERGES: Final = (ops.OpSelectionMerge, ops.OpLoopMerge)


class Cfg:
    """Facts about the blocks that the entry block reaches; the others are in none of the tables."""

    __slots__ = (
        "dead_preds", "enter", "forks", "function", "headers", "idom", "index", "leave", "order",
        "preds",
    )  # fmt: skip

    def __init__(self, function: Function) -> None:
        self.function = function
        self.idom: dict[Block, Block] = {}
        self.enter: dict[Block, int] = {}
        self.leave: dict[Block, int] = {}
        # blocks that nothing reaches, but that exist
        self.dead_preds: dict[Block, list[Block]] = {}
        self.forks: list[Block] = []  # blocks that end in a conditional branch or a switch
        self.headers: list[tuple[Block, Inst]] = []  # with their merge instructions
        if len(function.blocks) == 1:
            self._single(function.blocks[0])
            return
        targets: dict[Block, list[Block]] = {}
        self.order: list[Block] = _reverse_postorder(function.blocks[0], targets)
        self.index: dict[Block, int] = dict(zip(self.order, range(len(self.order))))
        preds: dict[Block, list[Block]] = {b: [] for b in self.order}
        self.preds = preds
        for block in self.order:
            insts = block.insts
            if len(insts) > 1 and insts[-2].op in _MERGES:
                self.headers.append((block, insts[-2]))
            after = targets[block]
            if not after:
                continue
            if insts[-1].op == ops.OpBranch:
                preds[after[0]].append(block)
                continue
            self.forks.append(block)
            for target in dict.fromkeys(after):
                preds[target].append(block)
        if len(self.order) < len(function.blocks):
            for block in function.blocks:
                if block not in self.index:
                    for target in dict.fromkeys(block.successors()):
                        self.dead_preds.setdefault(target, []).append(block)
        self._dominators()

    def _single(self, block: Block) -> None:
        """All there is to say of a function of one block."""
        self.order = [block]
        self.index = {block: 0}
        self.preds = {block: []}

    @staticmethod
    def of(module: Module, function: Function) -> Cfg:
        """The facts as the module stands."""
        known = fact(module, _graphs, module.flow)
        cfg = known.get(function)
        if cfg is None:
            cfg = known[function] = Cfg(function)
        return cfg

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether every path to ``b`` goes through ``a`` (a block dominates itself)."""
        if a is b:
            return True
        if not self.enter:
            self._number()
        return self.enter[a] <= self.enter[b] and self.leave[b] <= self.leave[a]

    def _dominators(self) -> None:
        order, index = self.order, self.index
        preds = list(self.preds.values())  # in that order too
        idom = [-1] * len(order)
        idom[0] = 0
        again = True
        while again:
            again = False
            for i in range(1, len(order)):
                mine = preds[i]
                if len(mine) == 1:
                    idom[i] = index[mine[0]]
                    continue
                new = -1
                for pred in mine:
                    p = index[pred]
                    if idom[p] < 0:
                        again = True  # a back edge: nothing is known of it yet
                        continue
                    if new < 0:
                        new = p
                        continue
                    a, b = p, new
                    while a != b:
                        while a > b:
                            a = idom[a]
                        while b > a:
                            b = idom[b]
                    new = a
                if idom[i] != new:
                    again = again or idom[i] >= 0
                    idom[i] = new
        for i in range(1, len(order)):
            self.idom[order[i]] = order[idom[i]]

    def _number(self) -> None:
        children: dict[Block, list[Block]] = {b: [] for b in self.order}
        for child, parent in self.idom.items():
            children[parent].append(child)
        clock = 0
        stack: list[tuple[Block, int]] = [(self.order[0], 0)]
        while stack:
            block, at = stack.pop()
            if at == 0:
                self.enter[block] = clock
                clock += 1
            kids = children[block]
            if at < len(kids):
                stack.append((block, at + 1))
                stack.append((kids[at], 0))
            else:
                self.leave[block] = clock
                clock += 1


def _graphs(module: Module) -> dict[Function, Cfg]:
    return {}  # filled as they are asked for


def _reverse_postorder(entry: Block, targets: dict[Block, list[Block]]) -> list[Block]:
    """Blocks in reverse postorder; a header's merge and continue targets come after what branches
    to them. The successors of each are noted on the way."""
    targets[entry] = entry.successors()
    out: list[Block] = []
    stack = [entry]
    left = [targets[entry][:]]  # of each of these, the targets not looked at so far
    while stack:
        rest = left[-1]
        while rest:
            target = rest.pop()
            if target not in targets:
                after = targets[target] = target.successors()
                stack.append(target)
                left.append(after[:])
                break
        else:
            out.append(stack.pop())
            left.pop()
    out.reverse()
    return out
