"""Control flow: predecessors, reverse postorder, dominators of one function, recomputed when the
module's flow moved.

Dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001); "does a
dominate b" by pre- and postorder numbers of the dominator tree.
"""

from __future__ import annotations

from spvlink.ir.core import Block, Function, Module


class Cfg:
    """Facts about the blocks that the entry block reaches; the others are in none of the tables."""

    __slots__ = ("children", "dead_preds", "enter", "idom", "index", "leave", "order", "preds")

    def __init__(self, function: Function) -> None:
        self.order: list[Block] = _reverse_postorder(function.blocks[0])
        self.index: dict[Block, int] = {b: i for i, b in enumerate(self.order)}
        self.preds: dict[Block, list[Block]] = {b: [] for b in self.order}
        for block in self.order:
            for target in dict.fromkeys(block.successors()):
                self.preds[target].append(block)
        # blocks that nothing reaches, but that exist
        self.dead_preds: dict[Block, list[Block]] = {}
        if len(self.order) < len(function.blocks):
            for block in function.blocks:
                if block not in self.index:
                    for target in dict.fromkeys(block.successors()):
                        self.dead_preds.setdefault(target, []).append(block)
        self.idom: dict[Block, Block] = {}
        self.children: dict[Block, list[Block]] = {b: [] for b in self.order}
        self._dominators()
        self.enter: dict[Block, int] = {}
        self.leave: dict[Block, int] = {}
        self._number()

    @staticmethod
    def of(module: Module, function: Function) -> Cfg:
        """The facts as the module stands."""
        key = f"cfg{function.id}"
        held = module.facts.get(key)
        if held is not None and held[0] == module.flow:
            assert isinstance(held[1], Cfg)
            return held[1]
        cfg = Cfg(function)
        module.facts[key] = (module.flow, cfg)
        return cfg

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether every path to ``b`` goes through ``a`` (a block dominates itself)."""
        return self.enter[a] <= self.enter[b] and self.leave[b] <= self.leave[a]

    def _dominators(self) -> None:
        order, index = self.order, self.index
        preds = [[index[p] for p in self.preds[b]] for b in order]
        idom = [-1] * len(order)
        idom[0] = 0
        changed = True
        while changed:
            changed = False
            for i in range(1, len(order)):
                new = -1
                for p in preds[i]:
                    if idom[p] < 0:
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
                    idom[i] = new
                    changed = True
        for i in range(1, len(order)):
            parent = order[idom[i]]
            self.idom[order[i]] = parent
            self.children[parent].append(order[i])

    def _number(self) -> None:
        clock = 0
        stack: list[tuple[Block, int]] = [(self.order[0], 0)]
        while stack:
            block, at = stack.pop()
            if at == 0:
                self.enter[block] = clock
                clock += 1
            kids = self.children[block]
            if at < len(kids):
                stack.append((block, at + 1))
                stack.append((kids[at], 0))
            else:
                self.leave[block] = clock
                clock += 1


def _reverse_postorder(entry: Block) -> list[Block]:
    """Blocks in reverse postorder; a header's merge and continue targets come after what branches
    to them."""
    seen = {entry}
    out: list[Block] = []
    stack: list[tuple[Block, list[Block], int]] = [(entry, entry.successors()[::-1], 0)]
    while stack:
        block, targets, at = stack.pop()
        while at < len(targets) and targets[at] in seen:
            at += 1
        if at == len(targets):
            out.append(block)
            continue
        stack.append((block, targets, at + 1))
        target = targets[at]
        seen.add(target)
        stack.append((target, target.successors()[::-1], 0))
    out.reverse()
    return out
