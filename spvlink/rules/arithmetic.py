"""Exact arithmetic on constant lanes: what an instruction computes, as functions of bit patterns.

Values are bit patterns (ints below 2**width; bool: width 1). Keys are opcodes; a GLSL.std.450
number is its negative, so that one dict serves both. Every function gives None where it is not
certain what every device computes; the callers then leave the instruction alone:

* the specification leaves the result undefined (x / 0, INT_MIN / -1, shift >= width, FToS out of
  range, clamp with min > max);
* a float operand or result is denormal: Vulkan lets a device flush denormals to zero in any
  operation, and with or without DenormPreserve the same constant must come out as the device would
  have computed it;
* the result is a NaN (payload and sign are the device's), or an infinity out of finite operands
  (overflow, x / 0);
* a zero result whose sign IEEE 754 or GLSL.std.450 leaves open (min(+0, -0), ceil(-0.5));
* an operation that is not correctly rounded on every device (sqrt, pow, sin, fmod ...) has no entry
  at all.

Correct rounding: + - * / of 16- and 32-bit floats are computed in binary64 and rounded once more.
That double rounding is innocuous: with p' >= 2p + 2 (53 >= 2*24 + 2) the twice rounded result is
the once rounded one (S. A. Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30(3),
1995). It does NOT hold for conversions of 64-bit integers, which are rounded in integer arithmetic,
nor for fma, which is given only where the product is exact.

Rounding is to nearest even. Vulkan leaves the mode open unless RoundingModeRTE or RoundingModeRTZ
is declared; devices round to nearest even by default, and in a module with RoundingModeRTZ nothing
that rounds is folded.
"""

from __future__ import annotations

import math
import struct

from spvlink.grammar import glsl, ops

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

_HALF: Final = struct.Struct("<e")
_SINGLE: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_FORMAT: Final = {16: _HALF, 32: _SINGLE, 64: _DOUBLE}
PRECISION: Final = {16: 11, 32: 24, 64: 53}  # significand bits, the hidden one included
_FRACTION_BITS: Final = {16: 10, 32: 23, 64: 52}
_LEAST: Final = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}  # smallest normal number
_GREATEST_EXPONENT: Final = {16: 15, 32: 127, 64: 1023}


# Bit patterns and numbers


def signed(width: int, bits: int) -> int:
    """A bit pattern read as two's complement."""
    return bits - (1 << width) if bits >> (width - 1) else bits


def from_bits(width: int, bits: int) -> float | None:
    """The float of a bit pattern (NaN and infinities included), or None if it is denormal."""
    fraction = _FRACTION_BITS[width]
    if bits & ((1 << fraction) - 1) and not bits >> fraction & ((1 << (width - 1 - fraction)) - 1):
        return None
    value: float = _FORMAT[width].unpack(bits.to_bytes(width >> 3, "little"))[0]
    return value


def to_bits(width: int, value: float) -> int | None:
    """The bit pattern of a value rounded to nearest even; None for NaN, denormal and overflow.

    The smallest normal number is refused too: it may have been rounded up from a denormal, which a
    device may flush.
    """
    if value != value or (value != 0.0 and abs(value) <= _LEAST[width]):
        return None
    try:
        return int.from_bytes(_FORMAT[width].pack(value), "little")
    except OverflowError:
        return None


def exact_bits(width: int, top: int, bottom: int) -> int | None:
    """The bit pattern of top / bottom (bottom > 0) if the format holds it exactly, else None."""
    try:
        bits = to_bits(width, top / bottom)  # correctly rounded by Python
    except OverflowError:
        return None
    back = None if bits is None else from_bits(width, bits)
    if back is None or not math.isfinite(back):
        return None
    over, under = back.as_integer_ratio()
    return bits if over * bottom == top * under else None


# Integers, booleans, and floats as bit patterns: f(width of the first operand, *bits) -> bits


def _udiv(w: int, a: int, b: int) -> int | None:
    return a // b if b else None


def _umod(w: int, a: int, b: int) -> int | None:
    return a % b if b else None


def _quotient(w: int, a: int, b: int) -> tuple[int, int, int] | None:
    """Both operands read as signed and the quotient rounded to zero; None where it is undefined."""
    x, y = signed(w, a), signed(w, b)
    if y == 0 or (y == -1 and x == -1 << (w - 1)):
        return None
    quotient = abs(x) // abs(y)
    return x, y, -quotient if (x < 0) != (y < 0) else quotient


def _sdiv(w: int, a: int, b: int) -> int | None:
    parts = _quotient(w, a, b)
    return None if parts is None else parts[2]


def _srem(w: int, a: int, b: int) -> int | None:
    parts = _quotient(w, a, b)
    return None if parts is None else parts[0] - parts[1] * parts[2]


def _smod(w: int, a: int, b: int) -> int | None:
    parts = _quotient(w, a, b)
    return None if parts is None else parts[0] % parts[1]  # Python's sign is the divisor's


def _shift_left(w: int, a: int, b: int) -> int | None:
    return a << b if b < w else None


def _shift_right(w: int, a: int, b: int) -> int | None:
    return a >> b if b < w else None


def _shift_arithmetic(w: int, a: int, b: int) -> int | None:
    return signed(w, a) >> b if b < w else None


def _bit_reverse(w: int, a: int) -> int:
    return int(f"{a:0{w}b}"[::-1], 2)


def _field_insert(w: int, base: int, insert: int, offset: int, count: int) -> int | None:
    if offset + count > w:
        return None
    mask = ((1 << count) - 1) << offset
    return (base & ~mask) | (insert << offset & mask)


def _field_unsigned(w: int, base: int, offset: int, count: int) -> int | None:
    return base >> offset & ((1 << count) - 1) if offset + count <= w else None


def _field_signed(w: int, base: int, offset: int, count: int) -> int | None:
    if offset + count > w:
        return None
    return signed(count, base >> offset & ((1 << count) - 1)) if count else 0


def _sclamp(w: int, a: int, low: int, high: int) -> int | None:
    x, y, z = signed(w, a), signed(w, low), signed(w, high)
    return min(max(x, y), z) if y <= z else None


def _uclamp(w: int, a: int, low: int, high: int) -> int | None:
    return min(max(a, low), high) if low <= high else None


def _sabs(w: int, a: int) -> int | None:
    return abs(signed(w, a)) if a != 1 << (w - 1) else None


def _ssign(w: int, a: int) -> int:
    value = signed(w, a)
    return (value > 0) - (value < 0)


def _smsb(w: int, a: int) -> int:
    return (a ^ ((1 << w) - 1) if a >> (w - 1) else a).bit_length() - 1


def _sign_flip(w: int, a: int) -> int | None:
    value = from_bits(w, a)
    return None if value is None or value != value else a ^ 1 << (w - 1)


def _sign_clear(w: int, a: int) -> int | None:
    value = from_bits(w, a)
    return None if value is None or value != value else a & ~(1 << (w - 1))


def _is_nan(w: int, a: int) -> int | None:
    value = from_bits(w, a)
    return None if value is None else int(value != value)


def _is_inf(w: int, a: int) -> int | None:
    value = from_bits(w, a)
    return None if value is None else int(math.isinf(value))


def _fract(w: int, a: int) -> int | None:
    """x - floor(x) where that is exact; the sign of fract(-0) is the device's."""
    x = from_bits(w, a)
    if x is None or not math.isfinite(x) or a == 1 << (w - 1):
        return None
    top, bottom = x.as_integer_ratio()
    return exact_bits(w, top % bottom, bottom)


def _ldexp(w: int, a: int, exponent: int) -> int | None:
    """x * 2**exponent (a 32-bit exponent) where neither the factor nor the result leaves the normal
    range."""
    x, power = from_bits(w, a), signed(32, exponent)
    if x is None or not math.isfinite(x) or abs(power) >= _GREATEST_EXPONENT[w]:
        return None
    if x == 0.0:
        return a
    try:
        return to_bits_of_finite(w, math.ldexp(x, power))  # exact where it is normal
    except OverflowError:
        return None


def _fma(w: int, a: int, b: int, c: int) -> int | None:
    """a * b + c where the product is exact, so that fused and unfused are the same."""
    x, y, z = from_bits(w, a), from_bits(w, b), from_bits(w, c)
    if x is None or y is None or z is None:
        return None
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return None
    product = x * y if x == 0.0 or y == 0.0 else _product(w, x, y)
    return None if product is None else to_bits_of_finite(w, product + z)


def _product(w: int, x: float, y: float) -> float | None:
    (a, b), (c, d) = x.as_integer_ratio(), y.as_integer_ratio()
    bits = exact_bits(w, a * c, b * d)
    return None if bits is None else from_bits(w, bits)


def to_bits_of_finite(width: int, value: float) -> int | None:
    """``to_bits`` of a result of finite operands: an infinity is an overflow."""
    return None if math.isinf(value) else to_bits(width, value)


BITS: Final[dict[int, Callable[..., int | None]]] = {
    ops.OpIAdd: lambda w, a, b: a + b,
    ops.OpISub: lambda w, a, b: a - b,
    ops.OpIMul: lambda w, a, b: a * b,
    ops.OpUDiv: _udiv,
    ops.OpUMod: _umod,
    ops.OpSDiv: _sdiv,
    ops.OpSRem: _srem,
    ops.OpSMod: _smod,
    ops.OpSNegate: lambda w, a: -a,
    ops.OpNot: lambda w, a: ~a,
    ops.OpBitwiseOr: lambda w, a, b: a | b,
    ops.OpBitwiseXor: lambda w, a, b: a ^ b,
    ops.OpBitwiseAnd: lambda w, a, b: a & b,
    ops.OpShiftLeftLogical: _shift_left,
    ops.OpShiftRightLogical: _shift_right,
    ops.OpShiftRightArithmetic: _shift_arithmetic,
    ops.OpBitReverse: _bit_reverse,
    ops.OpBitCount: lambda w, a: a.bit_count(),
    ops.OpBitFieldInsert: _field_insert,
    ops.OpBitFieldUExtract: _field_unsigned,
    ops.OpBitFieldSExtract: _field_signed,
    ops.OpUConvert: lambda w, a: a,
    ops.OpSConvert: signed,
    ops.OpIEqual: lambda w, a, b: a == b,
    ops.OpINotEqual: lambda w, a, b: a != b,
    ops.OpULessThan: lambda w, a, b: a < b,
    ops.OpULessThanEqual: lambda w, a, b: a <= b,
    ops.OpUGreaterThan: lambda w, a, b: a > b,
    ops.OpUGreaterThanEqual: lambda w, a, b: a >= b,
    ops.OpSLessThan: lambda w, a, b: signed(w, a) < signed(w, b),
    ops.OpSLessThanEqual: lambda w, a, b: signed(w, a) <= signed(w, b),
    ops.OpSGreaterThan: lambda w, a, b: signed(w, a) > signed(w, b),
    ops.OpSGreaterThanEqual: lambda w, a, b: signed(w, a) >= signed(w, b),
    ops.OpLogicalNot: lambda w, a: a ^ 1,
    ops.OpLogicalOr: lambda w, a, b: a | b,
    ops.OpLogicalAnd: lambda w, a, b: a & b,
    ops.OpLogicalEqual: lambda w, a, b: a == b,
    ops.OpLogicalNotEqual: lambda w, a, b: a != b,
    ops.OpFNegate: _sign_flip,
    ops.OpIsNan: _is_nan,
    ops.OpIsInf: _is_inf,
    -glsl.Glsl_FAbs: _sign_clear,
    -glsl.Glsl_SAbs: _sabs,
    -glsl.Glsl_SSign: _ssign,
    -glsl.Glsl_UMin: lambda w, a, b: min(a, b),
    -glsl.Glsl_UMax: lambda w, a, b: max(a, b),
    -glsl.Glsl_UClamp: _uclamp,
    -glsl.Glsl_SMin: lambda w, a, b: min(signed(w, a), signed(w, b)),
    -glsl.Glsl_SMax: lambda w, a, b: max(signed(w, a), signed(w, b)),
    -glsl.Glsl_SClamp: _sclamp,
    -glsl.Glsl_FindILsb: lambda w, a: (a & -a).bit_length() - 1,
    -glsl.Glsl_FindUMsb: lambda w, a: a.bit_length() - 1,
    -glsl.Glsl_FindSMsb: _smsb,
    -glsl.Glsl_Fract: _fract,
    -glsl.Glsl_Ldexp: _ldexp,
    -glsl.Glsl_Fma: _fma,
}


# Floats: f(*values) -> value, correctly rounded afterwards; NaN results are refused by to_bits


def _divide(a: float, b: float) -> float | None:
    return a / b if b != 0.0 else None


def _fmin(a: float, b: float) -> float | None:
    if a != a or b != b or (a == b == 0.0 and math.copysign(1, a) != math.copysign(1, b)):
        return None
    return a if a < b else b


def _fmax(a: float, b: float) -> float | None:
    least = _fmin(a, b)
    if least is None:
        return None
    return b if least == a else a


def _nmin(a: float, b: float) -> float | None:
    return b if a != a else a if b != b else _fmin(a, b)


def _nmax(a: float, b: float) -> float | None:
    return b if a != a else a if b != b else _fmax(a, b)


def _fclamp(x: float, low: float, high: float) -> float | None:
    if not low <= high:
        return None
    raised = _fmax(x, low)
    return None if raised is None else _fmin(raised, high)


def _nclamp(x: float, low: float, high: float) -> float | None:
    if not low <= high:
        return None
    raised = _nmax(x, low)
    return None if raised is None else _nmin(raised, high)


def _whole(x: float, rounded: Callable[[float], int]) -> float | None:
    """A rounding to whole numbers; None where the result would be -0, whose sign is the
    device's."""
    if not math.isfinite(x):
        return x
    result = float(rounded(x))
    return None if result == 0.0 and math.copysign(1, x) < 0 else result


def _round(x: float) -> float | None:
    """To nearest; which way a half goes is the device's."""
    return None if math.isfinite(x) and abs(x - math.trunc(x)) == 0.5 else _whole(x, round)


def _fsign(x: float) -> float | None:
    if x != x or (x == 0.0 and math.copysign(1, x) < 0):
        return None
    return 0.0 if x == 0.0 else math.copysign(1.0, x)


def _step(edge: float, x: float) -> float | None:
    return None if edge != edge or x != x else 0.0 if x < edge else 1.0


FLOATS: Final[dict[int, Callable[..., float | None]]] = {
    ops.OpFAdd: lambda a, b: a + b,
    ops.OpFSub: lambda a, b: a - b,
    ops.OpFMul: lambda a, b: a * b,
    ops.OpVectorTimesScalar: lambda a, b: a * b,
    ops.OpFDiv: _divide,
    -glsl.Glsl_FSign: _fsign,
    -glsl.Glsl_Floor: lambda x: _whole(x, math.floor),
    -glsl.Glsl_Ceil: lambda x: _whole(x, math.ceil),
    -glsl.Glsl_Trunc: lambda x: _whole(x, math.trunc),
    -glsl.Glsl_RoundEven: lambda x: _whole(x, round),
    -glsl.Glsl_Round: _round,
    -glsl.Glsl_FMin: _fmin,
    -glsl.Glsl_FMax: _fmax,
    -glsl.Glsl_NMin: _nmin,
    -glsl.Glsl_NMax: _nmax,
    -glsl.Glsl_FClamp: _fclamp,
    -glsl.Glsl_NClamp: _nclamp,
    -glsl.Glsl_Step: _step,
}

# The ordered compares; an unordered one is the negation of the opposite ordered one.
COMPARES: Final[dict[int, Callable[[float, float], bool]]] = {
    ops.OpFOrdEqual: lambda a, b: a == b,
    ops.OpFOrdNotEqual: lambda a, b: a < b or a > b,
    ops.OpFOrdLessThan: lambda a, b: a < b,
    ops.OpFOrdLessThanEqual: lambda a, b: a <= b,
    ops.OpFOrdGreaterThan: lambda a, b: a > b,
    ops.OpFOrdGreaterThanEqual: lambda a, b: a >= b,
    ops.OpFUnordEqual: lambda a, b: not (a < b or a > b),
    ops.OpFUnordNotEqual: lambda a, b: a != b,
    ops.OpFUnordLessThan: lambda a, b: not a >= b,
    ops.OpFUnordLessThanEqual: lambda a, b: not a > b,
    ops.OpFUnordGreaterThan: lambda a, b: not a <= b,
    ops.OpFUnordGreaterThanEqual: lambda a, b: not a < b,
    ops.OpOrdered: lambda a, b: a == a and b == b,
    ops.OpUnordered: lambda a, b: a != a or b != b,
}


# Conversions: f(width from, width to, bits) -> bits


def _float_of_int(to: int, value: int) -> int | None:
    """An integer rounded once, to nearest even, to a float of ``to`` bits."""
    spare = abs(value).bit_length() - PRECISION[to]
    if spare > 0:
        unit, half = 1 << spare, 1 << (spare - 1)
        kept, rest = divmod(abs(value), unit)
        if rest > half or (rest == half and kept & 1):
            kept += 1
        value = kept * unit if value > 0 else -kept * unit
    return to_bits(to, float(value))  # exact: at most 53 significant bits are left


def _to_signed(w: int, to: int, a: int) -> int | None:
    x = from_bits(w, a)
    if x is None or not math.isfinite(x):
        return None
    value = math.trunc(x)
    return value if -1 << (to - 1) <= value < 1 << (to - 1) else None


def _to_unsigned(w: int, to: int, a: int) -> int | None:
    """Negative values are refused, (-1, 0) too: devices that saturate and those that wrap agree on
    0 only for 0."""
    x = from_bits(w, a)
    if x is None or not math.isfinite(x) or x < 0.0:
        return None
    value = math.trunc(x)
    return value if value < 1 << to else None


def _float_to_float(w: int, to: int, a: int) -> int | None:
    x = from_bits(w, a)
    return None if x is None else to_bits(to, x)


def _quantize(w: int, to: int, a: int) -> int | None:
    """Rounded to binary16 and back; below its normal range the sign of the zero is the device's,
    above it is refused."""
    x = from_bits(w, a)
    if x is None or (math.isfinite(x) and abs(x) > 65504.0):
        return None
    half = to_bits(16, x)
    back = None if half is None else from_bits(16, half)
    return None if back is None else to_bits(w, back)


CONVERTS: Final[dict[int, Callable[[int, int, int], int | None]]] = {
    ops.OpConvertSToF: lambda w, to, a: _float_of_int(to, signed(w, a)),
    ops.OpConvertUToF: lambda w, to, a: _float_of_int(to, a),
    ops.OpConvertFToS: _to_signed,
    ops.OpConvertFToU: _to_unsigned,
    ops.OpFConvert: _float_to_float,
    ops.OpQuantizeToF16: _quantize,
}
