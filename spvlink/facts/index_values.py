"""Which elements an index may name, as far as the code says.

    a[i & 3]    a[min(i, 3u)]    a[i % 4u]    a[clamp(i, 1, 2)]    a[b ? 1 : 5]    a[1 + (i & 1)]
    for (i = 0; i < 4; ++i) a[i]
    if (i < 4u) a[i]

An index outside of its array is undefined, so what bounds it from one side is enough. A loop's
counter is run through: it begins with known numbers, takes constant steps, and both the use and the
next round are behind one test of it against a constant.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import Effects
from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Numbers = frozenset[int]

MOST: Final = 64  # values that are looked at, and rounds of a loop
_MOST_DEPTH: Final = 24  # of an expression
_MOST_LOOKS: Final = 256  # at instructions, for one index
WORD: Final = 32
_NONE: Final[frozenset[int]] = frozenset()
PASSED: Final = frozenset((ops.OpCopyObject, ops.OpBitcast))
SUMS: Final[dict[int, Callable[[int, int], int]]] = {
    ops.OpIAdd: lambda a, b: a + b,
    ops.OpISub: lambda a, b: a - b,
    ops.OpIMul: lambda a, b: a * b,
    ops.OpBitwiseOr: lambda a, b: a | b,
    ops.OpBitwiseXor: lambda a, b: a ^ b,
}
_EXTREMES: Final[dict[int, Callable[[int, int], int]]] = {
    glsl.Glsl_UMin: min,
    glsl.Glsl_SMin: min,
    glsl.Glsl_UMax: max,
    glsl.Glsl_SMax: max,
}
_SIGNED: Final = frozenset((glsl.Glsl_SMin, glsl.Glsl_SMax, glsl.Glsl_SClamp))
_MINIMA: Final = frozenset((glsl.Glsl_UMin, glsl.Glsl_SMin))
_CLAMPS: Final = frozenset((glsl.Glsl_UClamp, glsl.Glsl_SClamp))
# Whether a comparison reads its operands as signed, and what it asks.
TESTS: Final[dict[int, tuple[bool, Callable[[int, int], bool]]]] = {
    ops.OpULessThan: (False, lambda a, b: a < b),
    ops.OpSLessThan: (True, lambda a, b: a < b),
    ops.OpULessThanEqual: (False, lambda a, b: a <= b),
    ops.OpSLessThanEqual: (True, lambda a, b: a <= b),
    ops.OpUGreaterThan: (False, lambda a, b: a > b),
    ops.OpSGreaterThan: (True, lambda a, b: a > b),
    ops.OpUGreaterThanEqual: (False, lambda a, b: a >= b),
    ops.OpSGreaterThanEqual: (True, lambda a, b: a >= b),
    ops.OpIEqual: (False, lambda a, b: a == b),
    ops.OpINotEqual: (False, lambda a, b: a != b),
}


class IndexValues:
    """Looks at the indices of one module's entry point."""

    def __init__(self, module: Module) -> None:
        assert module.entry is not None
        self.cfg = Cfg.of(module, module.entry.function)
        self.glsl = Effects.of(module).glsl
        self.left = 0
        self.home = {i: b for b in self.cfg.order for i in b.insts if i.op == ops.OpPhi}

    def elements(self, index: Inst, block: Block, size: int) -> Numbers:
        """The elements of an array of ``size`` that an index, used in a block, may name: all if
        nothing is known."""
        every = frozenset(range(size))
        if block not in self.cfg.index:
            return every
        numbers = every
        self.left = _MOST_LOOKS
        while True:
            known = self.values(index, block, 0)
            numbers &= every if known is None else known
            numbers &= self.guarded(index, block, every)
            if index.op not in PASSED or width_of(index.args[0]) != WORD:
                break
            index = index.args[0]
        return (numbers & self.half_open(index, block, every)) or every

    def half_open(self, index: Inst, block: Block, every: Numbers) -> Numbers:
        """What a minimum or maximum with something unknown leaves."""
        if not self.is_glsl(index) or index.imm[0] not in _EXTREMES:
            return every
        for bound in index.args[1:]:
            known = self.values(bound, block, 0)
            if known and min(known) >= 0 and not max(known) >> width_of(index) - 1:
                if index.imm[0] in _MINIMA:
                    every = frozenset([n for n in every if n <= max(known)])
                else:
                    every = frozenset([n for n in every if n >= min(known)])
        return every

    # -- what a number may be ----------------------------------------------------------------------

    def values(self, inst: Inst, block: Block, depth: int) -> Numbers | None:
        """The values of a whole number of 32 bits, as its type reads them, where it is used in a
        block; None: not known. ``block`` counts for loops alone: a test in one is behind their
        head."""
        known = types.index_of(inst)
        if known is not None:
            return frozenset([known])
        self.left -= 1
        if self.left < 0 or depth > _MOST_DEPTH or width_of(inst) != WORD:
            return None
        depth += 1
        op = inst.op
        if op == ops.OpSelect:
            return self.union(inst.args[1:], block, depth)
        if op == ops.OpPhi:
            return self.phi(inst, block, depth)
        if self.is_glsl(inst):
            return self.clamped(inst, block, depth)
        if op in PASSED:
            return self.made(inst, [inst.args[0]], lambda a, _: a, block, depth)
        if op in SUMS:
            return self.made(inst, inst.args, SUMS[op], block, depth)
        return _masked(inst)

    def union(self, ways: list[Inst], block: Block, depth: int) -> Numbers | None:
        numbers = _NONE
        for way in ways:
            more = self.values(way, block, depth)
            if more is None:
                return None
            numbers |= more
        return numbers if len(numbers) <= MOST else None

    def made(
        self, inst: Inst, args: list[Inst], act: Callable[[int, int], int], block: Block, depth: int
    ) -> Numbers | None:  # fmt: skip
        """Each of the values of the first operand with each of the second."""
        known = [self.values(arg, block, depth) for arg in args]
        first, second = known[0], known[-1]
        if first is None or second is None or len(first) * len(second) > MOST * MOST:
            return None
        numbers = frozenset([read_as(inst, act(a, b)) for a in first for b in second])
        return numbers if len(numbers) <= MOST else None

    def clamped(self, inst: Inst, block: Block, depth: int) -> Numbers | None:
        if inst.imm[0] in _CLAMPS and _read_alike(inst):
            value, low, high = [self.values(arg, block, depth) for arg in inst.args[1:]]
            if low is None or high is None or not low or not high:
                return None
            first, last = min(low), max(high)
            if value is not None:
                return frozenset([min(max(n, first), last) for n in value]) | low | high
            if last - first >= MOST or first > min(high) or max(low) > last:
                return None
            return frozenset(range(first, last + 1))
        if inst.imm[0] not in _EXTREMES or not _read_alike(inst):
            return None
        act = _EXTREMES[inst.imm[0]]
        known = self.made(inst, inst.args[1:], act, block, depth)
        if known is not None or inst.imm[0] == glsl.Glsl_SMax:
            return known
        return self.between(inst, block, depth)

    def between(self, inst: Inst, block: Block, depth: int) -> Numbers | None:
        """A minimum with something unknown: of unsigned numbers, or of a maximum."""
        for bound, other in (inst.args[1:], inst.args[:0:-1]):
            high = self.values(bound, block, depth)
            low = self.least(inst, other, block, depth)
            if inst.imm[0] in _MINIMA and high and low is not None:
                low = min(low, *high)
                if max(high) - low < MOST:
                    return frozenset(range(low, max(high) + 1))
        return None

    def least(self, inst: Inst, other: Inst, block: Block, depth: int) -> int | None:
        """What an operand of a minimum is not less than."""
        if inst.imm[0] == glsl.Glsl_UMin:
            return 0
        if self.is_glsl(other) and other.imm[0] == glsl.Glsl_SMax and _read_alike(other):
            for bound in other.args[1:]:
                known = self.values(bound, block, depth)
                if known:
                    return min(known)
        return None

    def is_glsl(self, inst: Inst) -> bool:
        return inst.op == ops.OpExtInst and inst.args[0] in self.glsl

    # -- loops and tests ---------------------------------------------------------------------------

    def phi(self, phi: Inst, block: Block, depth: int) -> Numbers | None:
        """A choice between values, or the counter of a loop."""
        home = self.home.get(phi)
        if home is None or any(before not in self.cfg.index for before in phi.args[1::2]):
            return None
        back = [b for b in phi.args[1::2] if isinstance(b, Block) and self.cfg.dominates(home, b)]
        if not back:
            return self.union(phi.args[::2], block, depth)
        if len(phi.args) != 4 or len(back) != 1:
            return None
        at = phi.args.index(back[0])
        begin, after = phi.args[2 - (at - 1)], phi.args[at - 1]
        step = _step(phi, after)
        first = self.values(begin, home, depth)
        if step is None or first is None:
            return None
        for test, holds in self.tests(block):
            if self.cfg.dominates(test, back[0]):
                asked = _asked(holds, phi)
                if asked is not None:
                    return _rounds(phi, first, step, asked)
        return None

    def tests(self, block: Block) -> list[tuple[Block, tuple[Inst, bool]]]:
        """The blocks above this one that are only entered by one edge of a branch, with the
        condition and what it was."""
        tests: list[tuple[Block, tuple[Inst, bool]]] = []
        while block in self.cfg.idom and self.cfg.idom[block] is not block:
            above = self.cfg.preds[block]
            if len(above) == 1 and above[0].terminator.op == ops.OpBranchConditional:
                condition, yes, no = above[0].terminator.args
                if yes is not no:
                    tests.append((block, (condition, yes is block)))
            block = self.cfg.idom[block]
        return tests

    def guarded(self, index: Inst, block: Block, every: Numbers) -> Numbers:
        """The elements that the conditions around a block leave."""
        for _, holds in self.tests(block):
            asked = _asked(holds, index)
            if asked is not None:
                every = frozenset([n for n in every if asked(n)])
        return every


def width_of(inst: Inst) -> int:
    """Bits of a whole number, 0 for anything else."""
    type = inst.type
    return type.imm[0] if type is not None and type.op == ops.OpTypeInt else 0


def read_as(inst: Inst, number: int) -> int:
    """A number as 32 bits of the type of an instruction."""
    assert inst.type is not None
    number &= (1 << WORD) - 1
    return number - (1 << WORD) if inst.type.imm[1] and number >> (WORD - 1) else number


def _read_alike(inst: Inst) -> bool:
    """Whether an extended instruction reads its operands as their types do."""
    signed = inst.imm[0] in _SIGNED
    wanted = [*inst.args[1:], inst]
    return all(
        width_of(a) == WORD and a.type is not None and a.type.imm[1] == signed for a in wanted
    )


def _masked(inst: Inst) -> Numbers | None:
    """What a mask, a remainder, a shift or a bit field leaves of something unknown."""
    op, args = inst.op, inst.args
    numbers = [types.index_of(arg) for arg in args]
    if op == ops.OpBitwiseAnd:
        masks = [n for n in numbers if n is not None and n >= 0]
        if masks and min(masks) < MOST:
            return frozenset([n for n in range(min(masks) + 1) if not n & ~min(masks)])
    elif op in (ops.OpUMod, ops.OpSMod) and _positive(numbers[1]) and _same_sign(inst):
        return frozenset(range(numbers[1] or 0))
    elif op == ops.OpSRem and _positive(numbers[1]) and _same_sign(inst):
        most = numbers[1] or 0
        return frozenset([read_as(inst, n) for n in range(1 - most, most)])
    elif op == ops.OpShiftRightLogical and numbers[1] is not None:
        left = WORD - numbers[1]
        if left > 0 and 1 << left <= MOST:
            return frozenset(range(1 << left))
    elif op == ops.OpBitFieldUExtract and numbers[2] is not None:
        if numbers[2] >= 0 and 1 << min(numbers[2], WORD) <= MOST:
            return frozenset(range(1 << numbers[2]))
    return None


def _positive(number: int | None) -> bool:
    return number is not None and 0 < number <= MOST


def _same_sign(inst: Inst) -> bool:
    """Whether a remainder's operands are of its own type, so that no sign is read otherwise."""
    assert inst.type is not None
    return all(a.type is not None and a.type.imm == inst.type.imm for a in inst.args)


def _step(phi: Inst, after: Inst) -> int | None:
    """What a round adds to a counter."""
    if after.op not in (ops.OpIAdd, ops.OpISub) or phi not in after.args or after.type is None:
        return None
    other = after.args[1] if after.args[0] is phi else after.args[0]
    if after.op == ops.OpISub and after.args[0] is not phi:
        return None
    number = types.index_of(other)
    if number is None or width_of(after) != WORD:
        return None
    return -number if after.op == ops.OpISub else number


def _asked(holds: tuple[Inst, bool], number: Inst) -> Callable[[int], bool] | None:
    """What a condition that held, or did not, says of a number: a test of its values."""
    condition, yes = holds
    while condition.op == ops.OpLogicalNot:
        condition, yes = condition.args[0], not yes
    known = TESTS.get(condition.op)
    if known is None or number not in condition.args or width_of(number) != WORD:
        return None
    signed, act = known
    left = condition.args[0] is number
    bound = types.bits_of(condition.args[1 if left else 0])
    if bound is None:
        return None
    other = as_word(signed, bound)

    def holds_for(n: int) -> bool:
        mine = as_word(signed, n)
        return (act(mine, other) if left else act(other, mine)) == yes

    return holds_for


def as_word(signed: bool, number: int) -> int:
    """A number as 32 bits, with or without a sign."""
    number &= (1 << WORD) - 1
    return number - (1 << WORD) if signed and number >> (WORD - 1) else number


def _rounds(
    phi: Inst, first: Numbers, step: int, asked: Callable[[int], bool]
) -> Numbers | None:  # fmt: skip
    """The values for which the test held, round by round."""
    numbers: set[int] = set()
    for number in first:
        while asked(number) and number not in numbers:
            numbers.add(number)
            number = read_as(phi, number + step)
            if len(numbers) > MOST:
                return None
    return frozenset(numbers)
