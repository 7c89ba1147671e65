"""How far the operands of a function with a pole are from it.

A division, a square root, a logarithm (SINGULAR) enlarges a difference of its operand without
bound beside zero: a sum of large terms of which nothing is left has no digits there that could be
relied on. Where the operand cannot come near zero, whatever is read, the function enlarges it by
its slope alone: ``1 / (abs(x) + 0.5)``, ``sqrt(max(x, 0.01))``. That is looked for backward from
the operand, in real numbers; NaNs and infinities are not considered.
"""

from __future__ import annotations

import math

from spvlink.facts import scalars
from spvlink.facts.effects import Effects
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# From here on the slope of 1 / x is 2^12 at most, from its square on that of a logarithm: less than
# a constant factor may have (``sensitive.STEEP``).
APART: Final = 2.0**-6
_MAX_DEPTH: Final = 10  # operations that are looked through
_FROM_ZERO: Final = frozenset(
    (
        glsl.Glsl_FAbs, glsl.Glsl_Length, glsl.Glsl_Distance, glsl.Glsl_Exp, glsl.Glsl_Exp2,
        glsl.Glsl_SmoothStep, glsl.Glsl_InverseSqrt, glsl.Glsl_Cosh,
    )
)  # fmt: skip
_ROOTS: Final = frozenset((glsl.Glsl_Sqrt, glsl.Glsl_Log, glsl.Glsl_Log2))
_MOST: Final = frozenset((glsl.Glsl_FMax, glsl.Glsl_NMax))
_LEAST: Final = frozenset((glsl.Glsl_FMin, glsl.Glsl_NMin))
_CLAMPS: Final = frozenset((glsl.Glsl_FClamp, glsl.Glsl_NClamp))


def beside(effects: Effects, inst: Inst) -> list[Lane]:
    """The lanes of a SINGULAR instruction's operands that may be where its slope has no bound."""
    operands = scalars.operands(inst)
    number = inst.imm[0] if inst.op == ops.OpExtInst else -1
    if inst.op == ops.OpFDiv:
        operands = operands[1:]
    found: list[Lane] = []
    for operand in operands:
        for lane in range(scalars.count(operand.type) or 1):
            if not _apart(effects, inst, number, operand, lane):
                found.append((operand, lane))
    return found


def _apart(effects: Effects, inst: Inst, number: int, operand: Inst, lane: int) -> bool:
    if number == glsl.Glsl_Pow:
        base, power = scalars.operands(inst)
        exponent = least(effects, (power, lane))
        low = least(effects, (base, lane))
        if exponent >= 1.0 and low >= 0.0:
            return True
        # a slope of 1 / x at most; in the exponent that of an exponential function
        return low >= APART**2 and (operand is power or exponent > 0.0)
    if inst.op == ops.OpFDiv or number == glsl.Glsl_InverseSqrt:
        return least(effects, (operand, lane)) >= APART
    return number in _ROOTS and least(effects, (operand, lane)) >= APART**2


def least(effects: Effects, lane: Lane, depth: int = 0) -> float:
    """What a scalar is at least, whatever is read; minus infinity if that is not known."""
    inst, number = scalars.origin(lane)
    known = number_of(inst, number) if types.IS_CONSTANT[inst.op] else None
    if known is not None:
        return known
    if depth == _MAX_DEPTH or not scalars.count(inst.type):
        return -math.inf
    args = scalars.operands(inst)
    if inst.op == ops.OpDot:
        return 0.0 if args[0] is args[1] else -math.inf
    if inst.op == ops.OpExtInst:
        if inst.args[0] not in effects.glsl:
            return -math.inf
        if inst.imm[0] in _FROM_ZERO:
            return 0.0
    if not scalars.lanewise(inst, effects.flags(inst)):
        return -math.inf
    parts = [(a, number if scalars.count(a.type) > 1 else 0) for a in args]
    if inst.op == ops.OpFMul and scalars.origin(parts[0]) == scalars.origin(parts[1]):
        return 0.0
    return _of(effects, inst, parts, depth + 1)


def _of(effects: Effects, inst: Inst, parts: list[Lane], depth: int) -> float:
    """``least`` of an operation on lanes."""
    if inst.op == ops.OpSelect:
        return min(least(effects, part, depth) for part in parts[1:])
    if inst.op == ops.OpFAdd:
        return least(effects, parts[0], depth) + least(effects, parts[1], depth)
    if inst.op == ops.OpFMul or inst.op == ops.OpFDiv:
        low = [least(effects, part, depth) for part in parts]
        if min(low) < 0.0:
            return -math.inf
        return low[0] * low[1] if inst.op == ops.OpFMul else 0.0
    if inst.op != ops.OpExtInst:
        return -math.inf
    number = inst.imm[0]
    if number in _MOST:
        return max(least(effects, part, depth) for part in parts)
    if number in _LEAST:
        return min(least(effects, part, depth) for part in parts)
    if number in _CLAMPS:
        return min(least(effects, part, depth) for part in parts[1:])
    if number == glsl.Glsl_Sqrt:
        return math.sqrt(max(0.0, least(effects, parts[0], depth)))
    return -math.inf
