"""Bound how close the operand of a function comes to its pole.

A division, a square root, a logarithm (SINGULAR) enlarges a difference of its operand without bound
near zero: a sum of large terms that cancel has no reliable digits there. If the operand stays away
from zero for all inputs, the function enlarges a difference by its slope at most:
``1 / (abs(x) + 0.5)``, ``sqrt(max(x, 0.01))``. The search goes backward from the operand; an input
may be any number. NaNs and infinities are not considered.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.effects import Effects
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import glsl, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.link.rounding.ranges import ANY, GLSL, NOBODY, OPS, Inf, Range

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# From here on the slope of 1 / x is 2^12 at most, from its square on that of a logarithm: less than
# a constant factor may have (``sensitive.STEEP``).
APART: Final = 2.0**-6
_MAX_DEPTH: Final = 10  # operations that are looked through
_NOT_NEGATIVE: Final = Range(0.0, Inf, True, NOBODY)
_ROOTS: Final = frozenset((glsl.Glsl_Sqrt, glsl.Glsl_Log, glsl.Glsl_Log2))


def beside(effects: Effects, inst: Inst) -> list[Lane]:
    """The lanes of a SINGULAR instruction's operands that may be where its slope has no bound."""
    operands = scalars.operands(inst)
    if inst.op == ops.OpFDiv:
        operands = operands[1:]
    ranges = _Ranges(effects)
    lanes: list[Lane] = []
    for operand in operands:
        for lane in range(scalars.count(operand.type) or 1):
            if not _apart(ranges, inst, operand, lane):
                lanes.append((operand, lane))
    return lanes


def _apart(ranges: _Ranges, inst: Inst, operand: Inst, lane: int) -> bool:
    number = inst.imm[0] if inst.op == ops.OpExtInst else -1
    if number == glsl.Glsl_Pow:
        base, power = scalars.operands(inst)
        exponent = ranges.of((power, lane)).low
        low = ranges.of((base, lane)).low
        if exponent >= 1.0 and low >= 0.0:
            return True
        # a slope of 1 / x at most; in the exponent that of an exponential function
        return low >= APART**2 and (operand is power or exponent > 0.0)
    if inst.op == ops.OpFDiv or number == glsl.Glsl_InverseSqrt:
        return ranges.of((operand, lane)).low >= APART
    return number in _ROOTS and ranges.of((operand, lane)).low >= APART**2


class _Ranges:
    """Ranges of scalars, found backward from where they are used."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.known: dict[Lane, Range] = {}

    def of(self, lane: Lane, depth: int = 0) -> Range:
        """In which range a scalar lies, whatever is read."""
        lane = scalars.origin(lane)
        range = self.known.get(lane)
        if range is None:
            range = self.known[lane] = self.made(*lane, depth)
        return range

    def made(self, inst: Inst, number: int, depth: int) -> Range:
        known = number_of(inst, number) if types.IS_CONSTANT[inst.op] else None
        if known is not None:
            return Range(known, known, True, NOBODY)
        if depth == _MAX_DEPTH or not scalars.count(inst.type):
            return ANY
        flags, args = self.effects.flags(inst), scalars.operands(inst)
        table, name = OPS, inst.op
        if inst.op == ops.OpExtInst:
            if inst.args[0] not in self.effects.glsl:
                return ANY
            table, name = GLSL, inst.imm[0]
        elif inst.op == ops.OpDot and args[0] is args[1]:
            return _NOT_NEGATIVE
        if name in table and scalars.lanewise(inst, flags):
            parts = [(a, number if scalars.count(a.type) > 1 else 0) for a in args]
            if inst.op == ops.OpFMul and scalars.origin(parts[0]) == scalars.origin(parts[1]):
                return _NOT_NEGATIVE
            result = table[name](*[self.of(part, depth + 1) for part in parts])
        else:
            result = ANY
        if flags & info.NOT_NEGATIVE and result.low < 0.0:
            return Range(0.0, max(result.high, 0.0), True, NOBODY)
        return result
