"""Arithmetic on constants, to the bit.

Floats follow IEEE 754 with round to nearest even. Nothing is folded that a device may answer in
another way: NaNs, and denormal numbers, which may be flushed (Vulkan, "Precision and Operation of
SPIR-V Instructions": only addition, subtraction, multiplication, conversions and comparisons are
correctly rounded; division is left alone).
"""

from __future__ import annotations

import math
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

_FLOATS: Final = {"f16": "e", "f32": "f", "f64": "d"}
_INTS: Final = {"f16": "H", "f32": "I", "f64": "Q"}
_SMALLEST: Final = {"f16": 2.0**-14, "f32": 2.0**-126, "f64": 2.0**-1022}


def width(kind: str) -> int:
    """Bits of a number."""
    return 1 if kind == "b" else int(kind[1:])


def is_float(kind: str) -> bool:
    return kind in _FLOATS


def number(kind: str, bits: int) -> float:
    """The value of a float."""
    value: float = struct.unpack("<" + _FLOATS[kind], struct.pack("<" + _INTS[kind], bits))[0]
    return value


def bits_of(kind: str, value: float) -> int | None:
    """The float that a number is rounded to; None if it is too large."""
    try:
        packed = struct.pack("<" + _FLOATS[kind], value)
    except OverflowError:
        return None
    bits: int = struct.unpack("<" + _INTS[kind], packed)[0]
    return bits


def ordinary(kind: str, value: float) -> bool:
    """Whether every device has the same bits for a float: it is a zero or a normal number."""
    return value == 0.0 or (math.isfinite(value) and abs(value) >= _SMALLEST[kind])


def signed(kind: str, bits: int) -> int:
    size = width(kind)
    return bits - (1 << size) if bits >> (size - 1) & 1 else bits


def fold(op: str, kind: str, kinds: list[str], bits: list[int]) -> int | None:
    """The bits of a result of constants, or None if it is not folded."""
    if op in _INT_OPS:
        return _ints(op, kind, kinds, bits)
    if all(is_float(k) for k in kinds):
        values = [number(k, b) for k, b in zip(kinds, bits)]
        if all(ordinary(k, v) for k, v in zip(kinds, values)):
            return _floats(op, kind, kinds, values, bits)
        return None
    if op in ("ConvertSToF", "ConvertUToF") and is_float(kind):
        given = signed(kinds[0], bits[0]) if op == "ConvertSToF" else bits[0]
        if abs(given) >> 53:  # a double does not hold it
            return None
        return bits_of(kind, float(given))
    return None


def _floats(op: str, kind: str, kinds: list[str], v: list[float], bits: list[int]) -> int | None:
    if op in _COMPARES:
        return int(_COMPARES[op](v[0], v[1]))
    result: float
    if op == "FNegate":
        return bits[0] ^ 1 << (width(kind) - 1)
    if op == "glsl.FAbs":
        return bits[0] & ~(1 << (width(kind) - 1))
    if op == "FAdd":
        result = v[0] + v[1]
    elif op == "FMul":
        result = v[0] * v[1]
    elif op == "glsl.Fma":  # it may round once or twice, which are one if the product is exact
        product = v[0] * v[1]
        whole = bits_of(kind, product)
        if kind == "f64" or whole is None or number(kind, whole) != product:
            return None
        result = product + v[2]
    elif op == "FConvert":
        result = v[0]
    elif op in _ROUNDED:
        result = math.copysign(_ROUNDED[op](v[0]), v[0])  # floor(-0.0) is an int in Python
    elif op in _PICKED and v[0] != v[1]:
        result = _PICKED[op](v[0], v[1])
    elif op in ("glsl.FClamp", "glsl.NClamp") and bits[0] in bits[1:] and v[1] < v[2]:
        return bits[0]
    elif op in ("glsl.FClamp", "glsl.NClamp") and v[1] < v[2] and v[0] not in (v[1], v[2]):
        result = min(max(v[0], v[1]), v[2])
    elif op == "glsl.FSign":
        result = math.copysign(1.0 if v[0] else 0.0, v[0])
    elif op == "glsl.Step":
        result = 0.0 if v[1] < v[0] else 1.0
    elif op == "glsl.Fract":
        result = (v[0] - math.floor(v[0])) or 0.0  # -0.0 - -0.0 is 0.0
        rounded = bits_of(kind, result)
        if rounded is None or number(kind, rounded) != result:
            return None
    elif op in ("ConvertFToS", "ConvertFToU"):
        return _whole(op, kind, v[0])
    else:
        return None
    pattern = bits_of(kind, result)
    if pattern is None or not ordinary(kind, number(kind, pattern)) or not math.isfinite(result):
        return None
    if result != 0.0 and abs(result) < _SMALLEST[kind]:
        return None
    return pattern


def _whole(op: str, kind: str, value: float) -> int | None:
    """The integer that a float is truncated to; None if it does not fit, which is undefined."""
    size = width(kind)
    whole = math.trunc(value)
    low, high = (-(1 << (size - 1)), 1 << (size - 1)) if op == "ConvertFToS" else (0, 1 << size)
    return whole & ((1 << size) - 1) if low <= whole < high else None


_COMPARES: Final[dict[str, Callable[[float, float], bool]]] = {
    "FOrdEqual": lambda a, b: a == b,
    "FOrdNotEqual": lambda a, b: a != b,
    "FOrdLessThan": lambda a, b: a < b,
    "FOrdLessThanEqual": lambda a, b: a <= b,
}
_ROUNDED: Final[dict[str, Callable[[float], int]]] = {
    "glsl.Floor": math.floor,
    "glsl.Ceil": math.ceil,
    "glsl.Trunc": math.trunc,
}
_PICKED: Final[dict[str, Callable[[float, float], float]]] = {
    "glsl.FMin": min,
    "glsl.FMax": max,
    "glsl.NMin": min,
    "glsl.NMax": max,
}
_INT_OPS: Final = frozenset((
    "IAdd", "IMul", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Not", "ShiftLeftLogical",
    "ShiftRightLogical", "ShiftRightArithmetic", "IEqual", "ULessThan", "SLessThan", "UDiv",
    "UMod", "SDiv", "SRem", "SMod", "UConvert", "SConvert", "glsl.UMin", "glsl.UMax", "glsl.SMin",
    "glsl.SMax", "glsl.SAbs", "bits", "BitFieldUExtract", "BitFieldSExtract", "BitCount",
    "glsl.FindUMsb", "glsl.FindILsb", "BitReverse", "glsl.SClamp", "glsl.UClamp",
))  # fmt: skip


def _ints(op: str, kind: str, kinds: list[str], b: list[int]) -> int | None:
    size = width(kind)
    mask = (1 << size) - 1
    if op == "bits":  # the same bits as another kind
        return b[0]
    if op in ("UConvert", "SConvert"):
        return (b[0] if op == "UConvert" else signed(kinds[0], b[0])) & mask
    if op == "Not":
        return ~b[0] & mask
    if op == "BitReverse":
        return int(f"{b[0]:0{size}b}"[::-1], 2)
    if op == "BitCount":
        return b[0].bit_count()
    if op == "glsl.FindUMsb":  # -1 if there is none
        return b[0].bit_length() - 1 & mask
    if op == "glsl.FindILsb":
        return (b[0] & -b[0]).bit_length() - 1 & mask
    if op == "glsl.SAbs":
        return abs(signed(kind, b[0])) & mask
    if op in _BITWISE:
        result: int = _BITWISE[op](b[0], b[1])
        return result & mask
    s = [signed(k, x) for k, x in zip(kinds, b)]
    if op in ("SLessThan", "ULessThan", "IEqual"):
        return int(s[0] < s[1] if op == "SLessThan" else b[0] < b[1] if op == "ULessThan"
                   else b[0] == b[1])  # fmt: skip
    if op in ("glsl.SClamp", "glsl.UClamp"):
        value, least, most = s if op == "glsl.SClamp" else b
        return min(max(value, least), most) & mask if least <= most else None
    if op in ("glsl.SMin", "glsl.SMax"):
        return (min(s) if op == "glsl.SMin" else max(s)) & mask
    if op.startswith("Shift"):
        if b[1] >= size:
            return None  # undefined
        if op == "ShiftRightArithmetic":
            return (s[0] >> b[1]) & mask
        return (b[0] << b[1] if op == "ShiftLeftLogical" else b[0] >> b[1]) & mask
    if op == "BitFieldSExtract":
        if b[1] + b[2] > size:
            return None  # undefined
        return signed(f"i{b[2]}", b[0] >> b[1] & (1 << b[2]) - 1) & mask if b[2] else 0
    if op == "BitFieldUExtract":
        return None  # integers.py says it with shifts
    return _divided(op, kind, b, s)


def _divided(op: str, kind: str, b: list[int], s: list[int]) -> int | None:
    mask = (1 << width(kind)) - 1
    if not b[1] or (s[0] == -(1 << (width(kind) - 1)) and s[1] == -1):
        return None  # undefined
    if op == "UDiv":
        return b[0] // b[1]
    if op == "UMod":
        return b[0] % b[1]
    if op == "SMod":
        return s[0] % s[1] & mask
    quotient = abs(s[0]) // abs(s[1]) * (-1 if (s[0] < 0) != (s[1] < 0) else 1)
    return quotient & mask if op == "SDiv" else (s[0] - quotient * s[1]) & mask


_BITWISE: Final[dict[str, Callable[[int, int], int]]] = {
    "IAdd": lambda a, b: a + b,
    "IMul": lambda a, b: a * b,
    "BitwiseAnd": lambda a, b: a & b,
    "BitwiseOr": lambda a, b: a | b,
    "BitwiseXor": lambda a, b: a ^ b,
    "glsl.UMin": min,
    "glsl.UMax": max,
}
