"""Fold constants: compute the constant that an instruction on constants equals.

Only what every device computes alike is folded; ``rules/arithmetic.py`` says what that means for
numbers (rounding, NaN, denormals, zeros) and holds the per-component operations. Here stand the
operations that move, gather or reinterpret constants, and those whose result is not one lane per
lane.

Left alone on purpose, besides what arithmetic.py leaves out: matrix products and interpolating or
trigonometric functions (order, fusing and last bits are the device's), FRem and FMod (devices
compute x - y * trunc(x / y), and x / y only to 2.5 ULP), Unpack{U,S}norm (a division), anything
with an undefined part, and specialization constants, which are no constants yet.
"""

from __future__ import annotations

import math

from spvlink.grammar import glsl, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.rules.arithmetic import (
    BITS,
    COMPARES,
    CONVERTS,
    FLOATS,
    PRECISION,
    from_bits,
    signed,
    to_bits,
)
from spvlink.rules.lanes import (
    build,
    component,
    fold_lanes,
    is_float,
    lanes,
    width_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    _Handler = Callable[[Module, Inst, list[Inst], tuple[int, ...]], Inst | None]

_CONSTANTS: Final = types.CONSTANTS
_LARGEST: Final = 64  # parts of a composite that are worth spelling out as constants


def fold(module: Module, inst: Inst, glsl: bool) -> Inst | None:
    """The constant that ``inst`` equals, or None if that is not certain or an operand is no
    constant.

    ``glsl``: for an OpExtInst, whether its set (args[0]) is GLSL.std.450. The operands are resolved
    (no COPY). A decoration on ``inst`` that changes its value (FPRoundingMode) is the caller's to
    look at.
    """
    type, args, key = inst.type, inst.args, inst.op
    if type is None:
        return None
    if key == ops.OpExtInst:
        if not glsl:
            return None
        args, key = args[1:], -inst.imm[0]
    handler = _HANDLERS.get(key)
    if handler is None and key not in _LANEWISE:
        return None
    for arg in args:
        if arg.op not in _CONSTANTS:
            return None
    if key in _NARROWING and not types.may_be_constant(module, type):
        return None
    if handler is not None:
        return handler(module, type, args, inst.imm)
    return fold_lanes(module, key, type, args)


# What may give a number of 8 or 16 bits where no operand is one.
_NARROWING: Final = frozenset(
    (
        ops.OpFConvert, ops.OpUConvert, ops.OpSConvert, ops.OpConvertFToU, ops.OpConvertFToS,
        ops.OpConvertUToF, ops.OpConvertSToF, ops.OpBitcast,
    )
)  # fmt: skip


# Moves


def _part(module: Module, value: Inst, index: int) -> Inst | None:
    """Part ``index`` of a constant composite; None if it is out of range or undefined."""
    type = value.type
    if type is None or index >= types.size_of(type):
        return None
    if value.op == ops.OpConstantNull:
        return types.null(module, types.part_type(type, index))
    if value.op != ops.OpConstantComposite:
        return None
    part = value.args[index]
    return part if part.op in _CONSTANTS else None


def _parts(module: Module, value: Inst) -> list[Inst] | None:
    """All parts of a constant composite of reasonable size, in a new list."""
    type = value.type
    if type is None or not types.is_composite(type) or types.size_of(type) > _LARGEST:
        return None
    parts = types.parts_of(module, value)
    return None if parts is None else list(parts)


def _copy(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    return args[0] if args[0].type is type else None


def _extract(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    value: Inst | None = args[0]
    for index in imm:
        if value is None:
            return None
        value = _part(module, value, index)
    return value if value is not None and value.type is type else None


def _inserted(module: Module, whole: Inst, path: tuple[int, ...], part: Inst) -> Inst | None:
    parts = _parts(module, whole)
    if parts is None or path[0] >= len(parts) or whole.type is None:
        return None
    if len(path) > 1:
        inner = _inserted(module, parts[path[0]], path[1:], part)
        if inner is None:
            return None
        part = inner
    parts[path[0]] = part
    return types.composite(module, whole.type, parts)


def _insert(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    return _inserted(module, args[1], imm, args[0]) if imm else _copy(module, type, args, imm)


def _construct(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    if type.op != ops.OpTypeVector:
        return types.composite(module, type, list(args)) if types.is_composite(type) else None
    values: list[int] = []
    for arg in args:
        column = lanes(arg)
        if column is None:
            return None
        values += column
    return build(module, type, values) if len(values) == type.imm[0] else None


def _shuffle(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    left, right = lanes(args[0]), lanes(args[1])
    if left is None or right is None:
        return None
    values = left + right
    if any(index >= len(values) for index in imm):  # 0xFFFFFFFF: undefined
        return None
    return build(module, type, [values[index] for index in imm])


def _index(value: Inst) -> int | None:
    index = types.index_of(value)
    return None if index is None or index < 0 else index


def _extract_dynamic(
    module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]
) -> Inst | None:
    index = _index(args[1])
    return None if index is None else _part(module, args[0], index)


def _insert_dynamic(
    module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]
) -> Inst | None:
    index = _index(args[2])
    return None if index is None else _inserted(module, args[0], (index,), args[1])


def _select(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    condition = lanes(args[0])
    if condition is None:
        return None
    if len(condition) == 1:
        chosen = args[1] if condition[0] else args[2]
        return chosen if chosen.type is type else None
    left, right = lanes(args[1]), lanes(args[2])
    if left is None or right is None:
        return None
    return build(module, type, [a if c else b for c, a, b in zip(condition, left, right)])


def _transpose(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    columns = _parts(module, args[0])
    if columns is None:
        return None
    values = [lanes(column) for column in columns]
    rows = []
    for row in range(type.imm[0]):
        picked = []
        for column in values:
            if column is None:
                return None
            picked.append(column[row])
        rows.append(build(module, type.args[0], picked))
    return types.composite(module, type, rows)


# Reinterpretation


def _plain(scalar: Inst, bits: int) -> bool:
    """Whether a bit pattern passes through a value of this type on every device: no denormal, no
    NaN."""
    if scalar.op == ops.OpTypeInt:
        return True
    if not is_float(scalar):
        return False
    value = from_bits(scalar.imm[0], bits)
    return value is not None and value == value


def _bitcast(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    """The lower-numbered components are the lower-order bits (specification, OpBitcast)."""
    source = args[0].type
    values = lanes(args[0])
    if values is None or source is None:
        return None
    scalar, target = component(source), component(type)
    if target.op not in info.NUMBER_TYPES or scalar.op == ops.OpTypeBool:
        return None
    width, to = width_of(scalar), width_of(target)
    count = type.imm[0] if type.op == ops.OpTypeVector else 1
    if width * len(values) != to * count:
        return None
    joined = 0
    for index, bits in enumerate(values):
        if not _plain(scalar, bits):
            return None
        joined |= bits << (index * width)
    lane_bits = [joined >> (index * to) & ((1 << to) - 1) for index in range(count)]
    return build(module, type, lane_bits) if all(_plain(target, b) for b in lane_bits) else None


def _unpack_half(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    word = types.bits_of(args[0])
    if word is None:
        return None
    values = []
    for half in (word & 0xFFFF, word >> 16):
        value = from_bits(16, half)
        bits = None if value is None else to_bits(32, value)
        if bits is None:
            return None
        values.append(bits)
    return build(module, type, values)


def _floats32(value: Inst) -> list[float] | None:
    """The lanes of a vector of finite, not denormal 32-bit floats (a zero loses its sign), else
    None."""
    values = lanes(value)
    if values is None or value.type is None or component(value.type).imm != (32,):
        return None
    numbers = []
    for bits in values:
        number = from_bits(32, bits)
        if number is None or number - number != 0.0:
            return None
        numbers.append(number)
    return numbers


def _pack_half(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    """Where the halves hold the values exactly: how it rounds is the device's."""
    numbers = _floats32(args[0])
    if numbers is None:
        return None
    word = 0
    for index, number in enumerate(numbers):
        half = to_bits(16, number)
        if half is None or from_bits(16, half) != number:
            return None
        word |= half << (16 * index)
    return types.constant(module, type, word)


def _pack_norm(module: Module, type: Inst, args: list[Inst], width: int, least: int) -> Inst | None:
    """round(clamp(c, least, 1) * scale), away from halves by more than any rounding of the product
    could matter."""
    numbers = _floats32(args[0])
    if numbers is None:
        return None
    scale = (1 << width) - 1 if least == 0 else (1 << (width - 1)) - 1
    word = 0
    for index, number in enumerate(numbers):
        scaled = min(max(number, float(least)), 1.0) * scale  # exact: at most 24 + 16 bits
        if abs(scaled - math.floor(scaled) - 0.5) < 1 / 64:
            return None
        word |= (round(scaled) & ((1 << width) - 1)) << (width * index)
    return types.constant(module, type, word)


def _pack_unorm8(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    return _pack_norm(module, type, args, 8, 0)


def _pack_unorm16(
    module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]
) -> Inst | None:
    return _pack_norm(module, type, args, 16, 0)


def _pack_snorm8(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    return _pack_norm(module, type, args, 8, -1)


def _pack_snorm16(
    module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]
) -> Inst | None:
    return _pack_norm(module, type, args, 16, -1)


# Several lanes in, one out; two results out


def _any(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    values = lanes(args[0])
    return None if values is None else types.constant(module, type, any(values))


def _all(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    values = lanes(args[0])
    return None if values is None else types.constant(module, type, all(values))


def _dot(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    """Where it is exact in every order, fused or not: whole numbers whose products sum below the
    significand's range."""
    left, right = lanes(args[0]), lanes(args[1])
    if left is None or right is None or not is_float(type):
        return None
    width = type.imm[0]
    total, bound = 0, 0
    for a, b in zip(left, right):
        x, y = from_bits(width, a), from_bits(width, b)
        if x is None or y is None or not x.is_integer() or not y.is_integer():
            return None
        product = int(x) * int(y)
        if product == 0 and (a ^ b) >> (width - 1):
            return None  # -0: the sign of a zero sum would depend on the order
        total += product
        bound += abs(product)
    if bound >> PRECISION[width]:
        return None
    bits = to_bits(width, float(total))
    return None if bits is None else types.constant(module, type, bits)


def _wide(
    module: Module,
    type: Inst,
    args: list[Inst],
    compute: Callable[[int, int, int], tuple[int, int]],
) -> Inst | None:
    """A structure of two results per lane."""
    left, right = lanes(args[0]), lanes(args[1])
    if left is None or right is None or type.op != ops.OpTypeStruct or args[0].type is None:
        return None
    width = width_of(component(args[0].type))
    pairs = [compute(width, a, b) for a, b in zip(left, right)]
    low = build(module, type.args[0], [p[0] for p in pairs])
    high = build(module, type.args[1], [p[1] for p in pairs])
    return types.composite(module, type, [low, high])


def _carry_of(width: int, a: int, b: int) -> tuple[int, int]:
    return a + b, (a + b) >> width


def _borrow_of(width: int, a: int, b: int) -> tuple[int, int]:
    return a - b, int(a < b)


def _product_of(width: int, a: int, b: int) -> tuple[int, int]:
    return a * b, (a * b) >> width


def _signed_product_of(width: int, a: int, b: int) -> tuple[int, int]:
    product = signed(width, a) * signed(width, b)
    return product, product >> width


def _add_carry(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    return _wide(module, type, args, _carry_of)


def _sub_borrow(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    return _wide(module, type, args, _borrow_of)


def _mul_unsigned(
    module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]
) -> Inst | None:
    return _wide(module, type, args, _product_of)


def _mul_signed(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    return _wide(module, type, args, _signed_product_of)


def _ldexp(module: Module, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst | None:
    exponent = args[1].type
    if exponent is None or component(exponent).imm[0] != 32:
        return None
    return fold_lanes(module, -glsl.Glsl_Ldexp, type, args)


_HANDLERS: Final[dict[int, _Handler]] = {
    ops.OpCopyObject: _copy,
    ops.OpCompositeExtract: _extract,
    ops.OpCompositeInsert: _insert,
    ops.OpCompositeConstruct: _construct,
    ops.OpVectorShuffle: _shuffle,
    ops.OpVectorExtractDynamic: _extract_dynamic,
    ops.OpVectorInsertDynamic: _insert_dynamic,
    ops.OpSelect: _select,
    ops.OpTranspose: _transpose,
    ops.OpBitcast: _bitcast,
    ops.OpAny: _any,
    ops.OpAll: _all,
    ops.OpDot: _dot,
    ops.OpIAddCarry: _add_carry,
    ops.OpISubBorrow: _sub_borrow,
    ops.OpUMulExtended: _mul_unsigned,
    ops.OpSMulExtended: _mul_signed,
    -glsl.Glsl_Ldexp: _ldexp,
    -glsl.Glsl_PackHalf2x16: _pack_half,
    -glsl.Glsl_UnpackHalf2x16: _unpack_half,
    -glsl.Glsl_PackUnorm4x8: _pack_unorm8,
    -glsl.Glsl_PackUnorm2x16: _pack_unorm16,
    -glsl.Glsl_PackSnorm4x8: _pack_snorm8,
    -glsl.Glsl_PackSnorm2x16: _pack_snorm16,
    -glsl.Glsl_PackDouble2x32: _bitcast,
    -glsl.Glsl_UnpackDouble2x32: _bitcast,
}

_LANEWISE: Final = frozenset((*BITS, *FLOATS, *COMPARES, *CONVERTS))
