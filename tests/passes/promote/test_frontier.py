"""Where phis may stand, on random graphs of any shape: what is left out could not be reached."""

from __future__ import annotations

import random

import pytest

from spvlink.facts.cfg import Cfg
from spvlink.facts.frontier import dominance_frontiers, earliest, live_in
from spvlink.grammar import ops
from spvlink.ir.core import Block, Function, Inst

SEEDS = [range(start, start + 100) for start in (0, 100, 200)]


def graph(dice: random.Random) -> Cfg:
    """Blocks with up to two successors each, irreducible ones as well."""
    function = Function(1)
    blocks = [Block(2 + n) for n in range(dice.randrange(2, 16))]
    function.blocks = blocks
    for at, block in enumerate(blocks):
        near = [b for b in blocks[max(0, at - 3) : at + 4] if b is not blocks[0]] or blocks[1:]
        targets = dice.sample(near, min(len(near), dice.randrange(3)))
        if not targets:
            block.insts = [Inst(ops.OpReturn, None, [], ())]
        elif len(targets) == 1:
            block.insts = [Inst(ops.OpBranch, None, list(targets), ())]
        else:
            condition = Inst(ops.OpUndef, None, [], ())
            block.insts = [Inst(ops.OpBranchConditional, None, [condition, *targets], ())]
    return Cfg(function)


def reached(cfg: Cfg, start: Block) -> set[Block]:
    found, todo = {start}, [start]
    while todo:
        for after in todo.pop().successors():
            if after not in found:
                found.add(after)
                todo.append(after)
    return found


@pytest.mark.parametrize("seeds", SEEDS)
def test_nothing_before_the_bound_is_reached(seeds: range) -> None:
    for seed in seeds:
        cfg = graph(random.Random(seed))
        found = earliest(cfg)
        assert all(first <= at for at, first in enumerate(found))
        for at, first in enumerate(found):
            for block in cfg.order[at:]:
                assert min(cfg.index[b] for b in reached(cfg, block)) >= first


def test_the_bound_is_no_lower_than_the_loop() -> None:
    """Else nothing would be gained."""
    held = [earliest(graph(random.Random(seed))) for seed in range(300)]
    assert any(first == at > 0 for found in held for at, first in enumerate(found))
    assert any(0 < first < at for found in held for at, first in enumerate(found))


@pytest.mark.parametrize("seeds", SEEDS)
def test_a_variable_is_wanted_at_the_same_places(seeds: range) -> None:
    """Where a phi may stand: with the bound as without."""
    for seed in seeds:
        dice = random.Random(seed)
        cfg = graph(dice)
        written = {b for b in cfg.order if dice.random() < 0.3} or {cfg.order[-1]}
        exposed = {b for b in cfg.order if dice.random() < 0.3}
        frontier = dominance_frontiers(cfg)
        places, todo = set[Block](), [*written]
        while todo:
            new = [b for b in frontier.get(todo.pop(), ()) if b not in places]
            places.update(new)
            todo += new
        first = earliest(cfg)[min(cfg.index[b] for b in written)]
        every = live_in(cfg, exposed, written, 0)
        assert places & every == places & live_in(cfg, exposed, written, first), seed
