"""Loops whose rounds are known, one by one.

    for (int i = 0; i < 4; ++i) ...          i is 0, 1, 2, 3, and 4 where the test fails

Such a loop is left at one place, by a test of numbers that each round makes of those of the round
before, beginning with constants. Nothing in it ends the invocation or goes on with the next round
early: each invocation that comes in runs all of it the same number of times. So its rounds may as
well stand one after the other (``passes/cleaning/unroll_loop``): barriers, derivatives and
operations of a subgroup are executed by the same invocations, in the same order, as often as
before.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.index_values import PASSED, SUMS, TESTS, WORD, as_word, read_as, width_of
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Function, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Values = dict[Inst, int]  # of counters, as their types read them

MOST_ROUNDS: Final = 32
_MOST_DEPTH: Final = 24  # of an expression


class CountedLoop:
    """A loop. ``blocks``: all of it in their order, the header first, unreachable merge blocks
    inside included. ``test`` branches to ``merge`` or on, and nothing else leaves. ``latch`` goes
    back. ``rounds``: the counters each time that the test is run; the last time it fails."""

    __slots__ = ("blocks", "header", "latch", "merge", "rounds", "test")

    def __init__(
        self, header: Block, blocks: list[Block], latch: Block, test: Block, merge: Block
    ) -> None:
        self.header = header
        self.blocks = blocks
        self.latch = latch
        self.test = test
        self.merge = merge
        self.rounds: list[Values] = []

    def phis(self) -> list[Inst]:
        return [inst for inst in self.header.insts if inst.op == ops.OpPhi]

    def from_latch(self, phi: Inst) -> Inst:
        """What the next round has for a phi of the header."""
        return phi.args[0 if phi.args[1] is self.latch else 2]

    def from_outside(self, phi: Inst) -> Inst:
        """What the first round has."""
        return phi.args[2 if phi.args[1] is self.latch else 0]

    def size(self) -> int:
        """Instructions of one round."""
        return sum([len(block.insts) for block in self.blocks])


def counted_loops(module: Module, function: Function) -> dict[Block, CountedLoop]:
    """The counted loops of a function by their headers."""
    if len(function.blocks) == 1:
        return {}
    cfg, structure = Cfg.of(module, function), Structure.of(module, function)
    places = {block: at for at, block in enumerate(function.blocks)}
    found: dict[Block, CountedLoop] = {}
    for header in structure.continue_of:  # in order, as loops are not
        loop = _loop(cfg, structure, header, places)
        if loop is not None and _count(loop):
            found[header] = loop
    return found


def counters_of(loops: dict[Block, CountedLoop]) -> dict[Inst, Block]:
    """The counters of loops, and the header of each."""
    return {phi: h for h, loop in loops.items() for phi in loop.rounds[0]}


def made_of(value: Inst, counters: dict[Inst, Block]) -> set[Block] | None:
    """The headers of the loops whose counters a number is made of; None if of anything else."""
    zeros: Values = {}
    used: set[Block] = set()
    todo = [value]
    for inst in todo:  # grows
        if inst in counters:
            used.add(counters[inst])
            zeros[inst] = 0
        elif inst.op in SUMS or inst.op in PASSED:
            todo += inst.args
        if len(todo) > _MOST_DEPTH:
            return None
    return used if number_of(value, zeros) is not None else None


def number_of(inst: Inst, values: Values, depth: int = 0) -> int | None:
    """A whole number of 32 bits that is made of known ones, as its type reads it."""
    if inst in values:
        return values[inst]
    known = types.index_of(inst)
    if known is not None or width_of(inst) != WORD or depth > _MOST_DEPTH:
        return known if width_of(inst) == WORD else None
    if inst.op in PASSED:
        number = number_of(inst.args[0], values, depth + 1)
        return None if number is None else read_as(inst, number)
    if inst.op in SUMS:
        a, b = [number_of(arg, values, depth + 1) for arg in inst.args]
        return None if a is None or b is None else read_as(inst, SUMS[inst.op](a, b))
    return None


# -- its shape -------------------------------------------------------------------------------------


def _loop(
    cfg: Cfg, structure: Structure, header: Block, places: dict[Block, int]
) -> CountedLoop | None:
    """The loop of a header, if it is one that could be counted."""
    merge, again = structure.merge_of[header], structure.continue_of[header]
    if merge not in cfg.index or again not in cfg.index:
        return None
    if header.insts[-2].imm[0] & enums.LoopControl_DontUnroll:
        return None
    blocks = _blocks(cfg, header, merge, places)
    inside = set(blocks)
    back = [b for b in cfg.preds[header] if b in inside]
    if len(cfg.preds[header]) != 2 or len(back) != 1 or len(cfg.preds[merge]) != 1:
        return None
    loop = CountedLoop(header, blocks, back[0], cfg.preds[merge][0], merge)
    if loop.test not in inside or any(b in cfg.index and not b.successors() for b in blocks):
        return None
    first = header.insts[-1]
    if first.op != ops.OpBranch and loop.test is not header:
        return None
    if loop.latch.terminator.op != ops.OpBranch and loop.test is not loop.latch:
        return None
    straight = loop.test is loop.latch or _straight(cfg, header, loop.test)
    if not straight or not _goes_back(cfg, structure, loop, again) or not _tests(loop):
        return None
    return loop


def _blocks(cfg: Cfg, header: Block, merge: Block, places: dict[Block, int]) -> list[Block]:
    """What a header dominates and its merge block does not, and unreachable merge blocks of
    selections and loops inside. That is what one comes to from the header, but by the merge block,
    and without leaving what the header dominates. ``places``: where blocks stand."""
    found = [header]
    inside = {header, merge}
    for block in found:  # grows
        named = block.successors()
        step = block.merge() if block in cfg.index else None
        if step is not None:
            named += [b for b in step.args[:2] if isinstance(b, Block) and b not in cfg.index]
        elif block not in cfg.index:
            named = []
        for after in named:
            if after not in inside and (after not in cfg.index or cfg.dominates(header, after)):
                inside.add(after)
                found.append(after)
    return [header, *sorted(found[1:], key=places.__getitem__)]


def _straight(cfg: Cfg, block: Block, end: Block) -> bool:
    """Whether only plain branches lead from one block to another."""
    while block is not end:
        step = block.terminator
        if step.op != ops.OpBranch or (block.merge() is not None and not _is_loop(block)):
            return False
        (after,) = block.successors()
        if cfg.preds[after] != [block] or _is_loop(after):
            return False
        block = after
    return True


def _is_loop(block: Block) -> bool:
    merge = block.merge()
    return merge is not None and merge.op == ops.OpLoopMerge


def _goes_back(cfg: Cfg, structure: Structure, loop: CountedLoop, again: Block) -> bool:
    """Whether one way leads to the continue target, from outside of all that is nested in the
    loop, and straight back from there."""
    if again is loop.header:
        return loop.latch is loop.header
    before = cfg.preds[again]
    if len(before) != 1:
        return False
    outside = before[0] is loop.header or structure.parent[before[0]] is loop.header
    if not outside or (before[0].merge() is not None and before[0] is not loop.header):
        return False
    return _straight(cfg, again, loop.latch) and not _is_loop(again)


def _tests(loop: CountedLoop) -> bool:
    """Whether the test is a branch between the merge block and the rest."""
    end = loop.test.terminator
    nested = loop.test.merge() is not None and loop.test is not loop.header
    return end.op == ops.OpBranchConditional and end.args[1] is not end.args[2] and not nested


# -- its rounds ------------------------------------------------------------------------------------


def _count(loop: CountedLoop) -> bool:
    """Run the counters; whether the test fails before long."""
    values = _first(loop)
    condition, yes, _ = loop.test.terminator.args
    leaves = yes is loop.merge  # whether it does where the condition holds
    while condition.op == ops.OpLogicalNot:
        condition, leaves = condition.args[0], not leaves
    while len(loop.rounds) < MOST_ROUNDS:
        loop.rounds.append(values)
        held = _holds(condition, values)
        if held is None:
            return False
        if held == leaves:
            return True
        after: Values = {}
        for phi in values:
            number = number_of(loop.from_latch(phi), values)
            assert number is not None
            after[phi] = number
        values = after
    return False


def _first(loop: CountedLoop) -> Values:
    """The counters and what they begin with: those that the next round makes of others."""
    values: Values = {}
    for phi in loop.phis():
        number = types.index_of(loop.from_outside(phi))
        if number is not None and width_of(phi) == WORD:
            values[phi] = read_as(phi, number)
    while True:
        left = {p: n for p, n in values.items() if _known(loop.from_latch(p), values)}
        if len(left) == len(values):
            return values
        values = left


def _known(inst: Inst, values: Values) -> bool:
    return number_of(inst, values) is not None


def _holds(condition: Inst, values: Values) -> bool | None:
    """Whether a comparison holds."""
    known = TESTS.get(condition.op)
    if known is None:
        return None
    signed, act = known
    a, b = [number_of(arg, values) for arg in condition.args]
    return None if a is None or b is None else act(as_word(signed, a), as_word(signed, b))
