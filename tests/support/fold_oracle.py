"""An independent oracle for per-component operations: numpy's fixed-width types, and exact
fractions where numpy would round twice. Bit patterns in, bit patterns out; ``Undefined`` where the
specification defines nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from spvlink.grammar import glsl, ops

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}
PRECISION = {16: 11, 32: 24, 64: 53}
LEAST_EXPONENT = {16: -14, 32: -126, 64: -1022}


class Undefined(Exception):
    """The specification defines no result."""


def unsigned(width: int, bits: int):
    return UNSIGNED[width](bits)


def signed(width: int, bits: int):
    return UNSIGNED[width](bits).view(SIGNED[width])


def real(width: int, bits: int):
    return UNSIGNED[width](bits).view(FLOAT[width])


def bits_of(value) -> int:
    """The bit pattern of a numpy scalar or bool."""
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    width = value.dtype.itemsize * 8
    return int(value.view(UNSIGNED[width]))


def is_nan(width: int, bits: int) -> bool:
    return bool(np.isnan(real(width, bits)))


def is_denormal(width: int, bits: int) -> bool:
    value = real(width, bits)
    return value != 0 and abs(value) < np.finfo(FLOAT[width]).tiny


def round_to(width: int, value: Fraction) -> int:
    """The bit pattern of an exact value rounded once, to nearest even (overflow: infinity)."""
    sign = 1 << (width - 1) if value < 0 else 0
    value = abs(value)
    if value == 0:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > value:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, LEAST_EXPONENT[width]) - PRECISION[width] + 1)
    rounded = round(value / unit) * unit  # Fraction.__round__ goes to even
    beyond = Fraction(2) ** (2 - LEAST_EXPONENT[width])
    if rounded >= beyond:
        return sign | bits_of(FLOAT[width](np.inf))
    return sign | bits_of(FLOAT[width](float(rounded)))  # exact: it is representable


def _division(w: int, a: int, b: int) -> tuple[int, int]:
    x, y = int(signed(w, a)), int(signed(w, b))
    if y == 0 or (y == -1 and x == -(1 << (w - 1))):
        raise Undefined
    return x, y


def _nonzero(b: int) -> None:
    if b == 0:
        raise Undefined


def _udiv(w, a, b):
    _nonzero(b)
    return bits_of(np.floor_divide(unsigned(w, a), unsigned(w, b)))


def _umod(w, a, b):
    _nonzero(b)
    return bits_of(np.remainder(unsigned(w, a), unsigned(w, b)))


def _sdiv(w, a, b):
    x, y = _division(w, a, b)
    return int(Fraction(x, y)) % (1 << w)


def _srem(w, a, b):
    _division(w, a, b)
    return bits_of(np.fmod(signed(w, a), signed(w, b)))


def _smod(w, a, b):
    _division(w, a, b)
    return bits_of(np.remainder(signed(w, a), signed(w, b)))


def _shift(fn: Callable, view: Callable) -> Callable:
    def run(w, a, b):
        if b >= w:
            raise Undefined
        return bits_of(fn(view(w, a), view(w, b)))

    return run


def _bits(w: int, a: int) -> list[int]:
    return [a >> i & 1 for i in range(w)]


def _join(bits: list[int]) -> int:
    return sum(bit << i for i, bit in enumerate(bits))


def _field(w: int, offset: int, count: int) -> None:
    if offset + count > w:
        raise Undefined


def _field_insert(w, base, insert, offset, count):
    _field(w, offset, count)
    bits = _bits(w, base)
    bits[offset : offset + count] = _bits(w, insert)[:count]
    return _join(bits)


def _field_extract(sign: bool) -> Callable:
    def run(w, base, offset, count):
        _field(w, offset, count)
        bits = _bits(w, base)[offset : offset + count]
        top = bits[-1] if bits and sign else 0
        return _join(bits + [top] * (w - count))

    return run


def _clamp(view: Callable) -> Callable:
    def run(w, a, low, high):
        if view(w, low) > view(w, high):
            raise Undefined
        return bits_of(np.clip(view(w, a), view(w, low), view(w, high)))

    return run


def _sabs(w, a):
    if a == 1 << (w - 1):
        raise Undefined
    return bits_of(np.abs(signed(w, a)))


def _msb(w, a):
    found = [i for i, bit in enumerate(_bits(w, a)) if bit]
    return (found[-1] if found else -1) % (1 << w)


def _smsb(w, a):
    return _msb(w, bits_of(~unsigned(w, a)) if signed(w, a) < 0 else a)


def _lsb(w, a):
    found = [i for i, bit in enumerate(_bits(w, a)) if bit]
    return (found[0] if found else -1) % (1 << w)


def _with(view: Callable, fn: Callable) -> Callable:
    """A numpy function of operands viewed as numbers."""

    def run(w, *bits):
        return bits_of(fn(*[view(w, b) for b in bits]))

    return run


INTEGER: dict[int, Callable] = {
    ops.OpIAdd: _with(unsigned, np.add),
    ops.OpISub: _with(unsigned, np.subtract),
    ops.OpIMul: _with(unsigned, np.multiply),
    ops.OpUDiv: _udiv,
    ops.OpUMod: _umod,
    ops.OpSDiv: _sdiv,
    ops.OpSRem: _srem,
    ops.OpSMod: _smod,
    ops.OpSNegate: _with(signed, np.negative),
    ops.OpNot: _with(unsigned, np.invert),
    ops.OpBitwiseAnd: _with(unsigned, np.bitwise_and),
    ops.OpBitwiseOr: _with(unsigned, np.bitwise_or),
    ops.OpBitwiseXor: _with(unsigned, np.bitwise_xor),
    ops.OpShiftLeftLogical: _shift(np.left_shift, unsigned),
    ops.OpShiftRightLogical: _shift(np.right_shift, unsigned),
    ops.OpShiftRightArithmetic: _shift(np.right_shift, signed),
    ops.OpBitReverse: lambda w, a: _join(_bits(w, a)[::-1]),
    ops.OpBitCount: lambda w, a: sum(_bits(w, a)),
    ops.OpBitFieldInsert: _field_insert,
    ops.OpBitFieldUExtract: _field_extract(False),
    ops.OpBitFieldSExtract: _field_extract(True),
    -glsl.Glsl_SAbs: _sabs,
    -glsl.Glsl_SSign: _with(signed, np.sign),
    -glsl.Glsl_UMin: _with(unsigned, np.minimum),
    -glsl.Glsl_UMax: _with(unsigned, np.maximum),
    -glsl.Glsl_SMin: _with(signed, np.minimum),
    -glsl.Glsl_SMax: _with(signed, np.maximum),
    -glsl.Glsl_UClamp: _clamp(unsigned),
    -glsl.Glsl_SClamp: _clamp(signed),
    -glsl.Glsl_FindILsb: _lsb,
    -glsl.Glsl_FindUMsb: _msb,
    -glsl.Glsl_FindSMsb: _smsb,
}

INTEGER_COMPARE: dict[int, Callable] = {
    ops.OpIEqual: _with(unsigned, np.equal),
    ops.OpINotEqual: _with(unsigned, np.not_equal),
    ops.OpULessThan: _with(unsigned, np.less),
    ops.OpULessThanEqual: _with(unsigned, np.less_equal),
    ops.OpUGreaterThan: _with(unsigned, np.greater),
    ops.OpUGreaterThanEqual: _with(unsigned, np.greater_equal),
    ops.OpSLessThan: _with(signed, np.less),
    ops.OpSLessThanEqual: _with(signed, np.less_equal),
    ops.OpSGreaterThan: _with(signed, np.greater),
    ops.OpSGreaterThanEqual: _with(signed, np.greater_equal),
}

LOGICAL: dict[int, Callable] = {
    ops.OpLogicalNot: lambda w, a: int(not a),
    ops.OpLogicalOr: lambda w, a, b: int(bool(a) or bool(b)),
    ops.OpLogicalAnd: lambda w, a, b: int(bool(a) and bool(b)),
    ops.OpLogicalEqual: lambda w, a, b: int(bool(a) is bool(b)),
    ops.OpLogicalNotEqual: lambda w, a, b: int(bool(a) is not bool(b)),
}


def _fract(w, a):
    value = real(w, a)
    if not np.isfinite(value):
        return bits_of(FLOAT[w](np.nan))
    return round_to(w, Fraction(float(value)) - math.floor(float(value)))


def _ldexp(w, a, exponent):
    value, power = real(w, a), int(signed(32, exponent))
    if not np.isfinite(value) or value == 0:
        return a
    if abs(power) > 2000:
        raise Undefined
    return round_to(w, Fraction(float(value)) * Fraction(2) ** power)


def fused(w, a, b, c):
    """fma with one rounding."""
    x, y, z = (float(real(w, v)) for v in (a, b, c))
    if not all(map(math.isfinite, (x, y, z))) or x == 0 or y == 0:
        return unfused(w, a, b, c)
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        both_negative = math.copysign(1, x) * math.copysign(1, y) < 0 and math.copysign(1, z) < 0
        return 1 << (w - 1) if both_negative else 0
    return round_to(w, exact)


def unfused(w, a, b, c):
    with np.errstate(all="ignore"):
        return bits_of(real(w, a) * real(w, b) + real(w, c))


def _fclamp(x, low, high):
    return np.minimum(np.maximum(x, low), high)


FLOATING: dict[int, Callable] = {
    ops.OpFNegate: _with(real, np.negative),
    ops.OpFAdd: _with(real, np.add),
    ops.OpFSub: _with(real, np.subtract),
    ops.OpFMul: _with(real, np.multiply),
    ops.OpFDiv: _with(real, np.divide),
    ops.OpVectorTimesScalar: _with(real, np.multiply),
    ops.OpMatrixTimesScalar: _with(real, np.multiply),
    -glsl.Glsl_FAbs: _with(real, np.abs),
    -glsl.Glsl_FSign: _with(real, np.sign),
    -glsl.Glsl_Floor: _with(real, np.floor),
    -glsl.Glsl_Ceil: _with(real, np.ceil),
    -glsl.Glsl_Trunc: _with(real, np.trunc),
    -glsl.Glsl_RoundEven: _with(real, np.rint),
    -glsl.Glsl_Round: _with(real, np.rint),
    -glsl.Glsl_FMin: _with(real, np.minimum),
    -glsl.Glsl_FMax: _with(real, np.maximum),
    -glsl.Glsl_NMin: _with(real, np.fmin),
    -glsl.Glsl_NMax: _with(real, np.fmax),
    -glsl.Glsl_FClamp: _with(real, _fclamp),
    -glsl.Glsl_NClamp: _with(real, lambda x, low, high: np.fmin(np.fmax(x, low), high)),
    -glsl.Glsl_Step: lambda w, e, x: bits_of(FLOAT[w](0.0 if real(w, x) < real(w, e) else 1.0)),
    -glsl.Glsl_Fract: _fract,
    -glsl.Glsl_Ldexp: _ldexp,
    -glsl.Glsl_Fma: fused,
}


def _unordered(fn: Callable) -> Callable:
    return lambda x, y: bool(np.isnan(x) or np.isnan(y) or fn(x, y))


def _ordered(fn: Callable) -> Callable:
    return lambda x, y: bool(not np.isnan(x) and not np.isnan(y) and fn(x, y))


FLOAT_COMPARE: dict[int, Callable] = {
    ops.OpFOrdEqual: _with(real, _ordered(np.equal)),
    ops.OpFOrdNotEqual: _with(real, _ordered(np.not_equal)),
    ops.OpFOrdLessThan: _with(real, _ordered(np.less)),
    ops.OpFOrdLessThanEqual: _with(real, _ordered(np.less_equal)),
    ops.OpFOrdGreaterThan: _with(real, _ordered(np.greater)),
    ops.OpFOrdGreaterThanEqual: _with(real, _ordered(np.greater_equal)),
    ops.OpFUnordEqual: _with(real, _unordered(np.equal)),
    ops.OpFUnordNotEqual: _with(real, _unordered(np.not_equal)),
    ops.OpFUnordLessThan: _with(real, _unordered(np.less)),
    ops.OpFUnordLessThanEqual: _with(real, _unordered(np.less_equal)),
    ops.OpFUnordGreaterThan: _with(real, _unordered(np.greater)),
    ops.OpFUnordGreaterThanEqual: _with(real, _unordered(np.greater_equal)),
    ops.OpOrdered: _with(real, lambda x, y: bool(not np.isnan(x) and not np.isnan(y))),
    ops.OpUnordered: _with(real, lambda x, y: bool(np.isnan(x) or np.isnan(y))),
    ops.OpIsNan: _with(real, np.isnan),
    ops.OpIsInf: _with(real, np.isinf),
}


def _float_to_int(low: Callable, high: Callable) -> Callable:
    def run(w, to, a):
        value = float(real(w, a))
        if not math.isfinite(value) or not low(to) <= int(value) <= high(to):
            raise Undefined
        return int(value) % (1 << to)

    return run


def _float_to_float(w, to, a):
    value = float(real(w, a))
    if not math.isfinite(value) or value == 0:
        return bits_of(FLOAT[to](value))
    return round_to(to, Fraction(value))


def _quantize(w, to, a):
    half = _float_to_float(w, 16, a)
    if is_denormal(16, half):
        half &= 0x8000
    return _float_to_float(16, to, half)


CONVERT: dict[int, Callable] = {
    ops.OpUConvert: lambda w, to, a: int(unsigned(w, a).astype(UNSIGNED[to])),
    ops.OpSConvert: lambda w, to, a: bits_of(signed(w, a).astype(SIGNED[to])),
    ops.OpConvertSToF: lambda w, to, a: round_to(to, Fraction(int(signed(w, a)))),
    ops.OpConvertUToF: lambda w, to, a: round_to(to, Fraction(a)),
    ops.OpConvertFToS: _float_to_int(lambda t: -(1 << (t - 1)), lambda t: (1 << (t - 1)) - 1),
    ops.OpConvertFToU: _float_to_int(lambda t: 0, lambda t: (1 << t) - 1),
    ops.OpFConvert: _float_to_float,
    ops.OpQuantizeToF16: _quantize,
}


def compute(key: int, width: int, to: int, bits: list[int]) -> int:
    """The result of one lane; ``width`` of the operands' components, ``to`` of the result's."""
    with np.errstate(all="ignore"):
        for table in (INTEGER, INTEGER_COMPARE, LOGICAL, FLOATING, FLOAT_COMPARE):
            if key in table:
                return table[key](width, *bits) & ((1 << to) - 1)
        return CONVERT[key](width, to, *bits) & ((1 << to) - 1)
