"""Where the dominance of a block ends, and values of a variable meet."""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.ir.core import Block


def dominance_frontiers(cfg: Cfg) -> dict[Block, list[Block]]:
    """Blocks where the dominance of a block ends (Cooper, Harvey, Kennedy 2001, figure 5)."""
    frontier: dict[Block, list[Block]] = {}
    for block in cfg.order:
        preds = cfg.preds[block]
        if len(preds) < 2 and block is not cfg.order[0]:
            continue
        stop = cfg.idom.get(block)
        for pred in preds:
            runner: Block | None = pred
            while runner is not None and runner is not stop:
                here = frontier.setdefault(runner, [])
                if block not in here:
                    here.append(block)
                runner = cfg.idom.get(runner)
    return frontier


def live_in(cfg: Cfg, exposed: set[Block], written: set[Block], first: int) -> set[Block]:
    """The blocks at whose start a variable's value is wanted. ``exposed`` read it before they write
    it, ``written`` write it. Blocks before ``first`` in the order are left out (``earliest``)."""
    live = set(exposed)
    todo = [*live]
    index = cfg.index
    while todo:
        for pred in cfg.preds[todo.pop()]:
            if pred not in live and pred not in written and index[pred] >= first:
                live.add(pred)
                todo.append(pred)
    return live


def earliest(cfg: Cfg) -> list[int]:
    """For each block of the order, by its number: no block before this number in the order can be
    reached from it, or from one behind it. Only a branch back leads to a lower number, so this is
    the start of the outermost loop around a block, of whatever shape loops are."""
    loops = sorted(
        (index, cfg.index[pred])
        for index, block in enumerate(cfg.order)
        for pred in cfg.preds[block]
        if cfg.index[pred] >= index
    )
    firsts = list(range(len(cfg.order)))
    begin = end = -1
    for header, latch in loops:
        if header > end:
            begin, end = header, header
        if latch > end:
            firsts[end + 1 : latch + 1] = [begin] * (latch - end)
            end = latch
    return firsts


class Joins:
    """Blocks of a function where several values of a variable meet."""

    def __init__(self, cfg: Cfg) -> None:
        self.cfg = cfg
        self.frontier = dominance_frontiers(cfg)
        self.begins = earliest(cfg)

    def of(self, exposed: set[Block], written: set[Block]) -> tuple[int, list[Block]]:
        """No block before this number in the order has what is ``written``; and the blocks in which
        a variable needs a phi, which are those where it is wanted (``live_in``)."""
        todo = sorted(written, key=lambda b: self.cfg.index[b])
        first = self.begins[self.cfg.index[todo[0]]]
        live = live_in(self.cfg, exposed, written, first)
        seen = set(todo)
        joins: list[Block] = []
        placed: set[Block] = set()
        while todo:
            for target in self.frontier.get(todo.pop(), ()):
                if target in live and target not in placed:
                    placed.add(target)
                    joins.append(target)
                    if target not in seen:
                        seen.add(target)
                        todo.append(target)
        return first, joins
