"""Where the dominance of a block ends."""

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


def live_in(cfg: Cfg, exposed: set[Block], written: set[Block]) -> set[Block]:
    """The blocks at whose start a variable's value is wanted. ``exposed`` read it before they write
    it, ``written`` write it."""
    found = set(exposed)
    todo = [*found]
    while todo:
        for pred in cfg.preds[todo.pop()]:
            if pred not in found and pred not in written:
                found.add(pred)
                todo.append(pred)
    return found
