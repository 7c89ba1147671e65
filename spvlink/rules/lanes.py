"""Constants as lanes of bit patterns, and the per-component operations of arithmetic.py on them."""

from __future__ import annotations

import math

from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import EXECUTION_MODES, Inst, Module
from spvlink.rules.arithmetic import (
    BITS,
    COMPARES,
    CONVERTS,
    FLOATS,
    PRECISION,
    from_bits,
    to_bits,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

_TO_FLOAT: Final = frozenset(
    (ops.OpConvertSToF, ops.OpConvertUToF, ops.OpFConvert, ops.OpQuantizeToF16)
)


def is_float(type: Inst) -> bool:
    """An IEEE float type: binary16, binary32 or binary64 (not bfloat16 or the 8-bit encodings)."""
    return type.op == ops.OpTypeFloat and len(type.imm) == 1 and type.imm[0] in PRECISION


def component(type: Inst) -> Inst:
    """The scalar type of a scalar or vector type."""
    return type.args[0] if type.op == ops.OpTypeVector else type


def width_of(scalar: Inst) -> int:
    """Bits of a scalar type; 1 for bool."""
    return 1 if scalar.op == ops.OpTypeBool else scalar.imm[0]


def lanes(value: Inst) -> list[int] | None:
    """The bit patterns of a scalar or vector constant, or None (undefined parts count as
    unknown)."""
    if value.op == ops.OpConstantComposite or value.op == ops.OpConstantNull:
        type = value.type
        if type is not None and type.op == ops.OpTypeVector:
            if value.op == ops.OpConstantNull:
                return [0] * type.imm[0]
            patterns = []
            for part in value.args:
                bits = types.bits_of(part)
                if bits is None:
                    return None
                patterns.append(bits)
            return patterns
    bits = types.bits_of(value)
    return None if bits is None else [bits]


def build(module: Module, type: Inst, values: list[int]) -> Inst:
    """The scalar or vector constant with these bit patterns."""
    if type.op != ops.OpTypeVector:
        return types.constant(module, type, values[0])
    scalar = type.args[0]
    return types.composite(module, type, [types.constant(module, scalar, v) for v in values])


def rounds_to_zero(module: Module) -> bool:
    """Whether an entry point declares RoundingModeRTZ for some width."""
    for inst in module.sections[EXECUTION_MODES]:
        if inst.imm and inst.imm[0] == enums.ExecutionMode_RoundingModeRTZ:
            return True
    return False


def flushes(module: Module) -> bool:
    """Whether an entry point declares DenormFlushToZero for some width."""
    for inst in module.sections[EXECUTION_MODES]:
        if inst.imm and inst.imm[0] == enums.ExecutionMode_DenormFlushToZero:
            return True
    return False


# Lane by lane


def _float_lanes(
    fn: Callable[..., float | None], compare: bool, width: int, columns: list[list[int]], size: int
) -> list[int] | None:
    """Apply a function of floats to each lane; ``compare``: its result is a bool."""
    patterns = []
    for lane in range(size):
        values = [from_bits(width, c[lane] if len(c) > 1 else c[0]) for c in columns]
        if None in values:
            return None
        value = fn(*values)
        if value is None:
            return None
        if compare:
            patterns.append(int(value))
            continue
        bits = None
        for index, operand in enumerate(values):
            if operand is value and value == value:  # handed on, even if it is the least normal
                column = columns[index]
                bits = column[lane] if len(column) > 1 else column[0]
        if bits is None and (not math.isinf(value) or math.inf in map(_absolute, values)):
            bits = to_bits(width, value)
        if bits is None:
            return None
        patterns.append(bits)
    return patterns


def _absolute(value: float | None) -> float:
    return 0.0 if value is None else abs(value)


def _bit_lanes(
    fn: Callable[..., int | None], width: int, columns: list[list[int]], size: int
) -> list[int] | None:
    patterns = []
    for lane in range(size):
        value = fn(width, *[c[lane] if len(c) > 1 else c[0] for c in columns])
        if value is None:
            return None
        patterns.append(value)
    return patterns


def fold_lanes(module: Module, key: int, type: Inst, args: list[Inst]) -> Inst | None:
    """The constant of scalar or vector ``type`` that a per-component operation on constants gives,
    or None.

    ``key``: the opcode, or minus the number of a GLSL.std.450 instruction. Scalar operands are used
    for every lane.
    """
    columns = []
    for arg in args:
        column = lanes(arg)
        if column is None:
            return None
        columns.append(column)
    first = args[0].type
    if first is None:
        return None
    scalar, target = component(first), component(type)
    size = type.imm[0] if type.op == ops.OpTypeVector else 1
    for kind in (scalar, target):
        if kind.op == ops.OpTypeFloat and not is_float(kind):
            return None
    width = width_of(scalar)
    patterns: list[int] | None = None
    if key in BITS:
        if key == -glsl.Glsl_Fma and rounds_to_zero(module):
            return None
        patterns = _bit_lanes(BITS[key], width, columns, size)
    elif key in FLOATS:
        if not rounds_to_zero(module):
            patterns = _float_lanes(FLOATS[key], False, width, columns, size)
    elif key in COMPARES:
        patterns = _float_lanes(COMPARES[key], True, width, columns, size)
    elif key in CONVERTS and not (key in _TO_FLOAT and rounds_to_zero(module)):
        convert, to = CONVERTS[key], width_of(target)
        patterns = []
        for bits in columns[0]:
            value = convert(width, to, bits)
            if value is None:
                return None
            patterns.append(value)
    return None if patterns is None else build(module, type, patterns)
