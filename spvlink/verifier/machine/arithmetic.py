"""What instructions compute, component by component: opcode -> function of (type of the result,
type of the first operand, operands as arrays), which gives the numbers and where they are
undefined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.verifier.machine.values import (
    SIGNED,
    UNSIGNED,
    Array,
    Kinds,
    V,
    across,
    either,
    row,
    stacked,
    width_of,
)

Done = tuple[Array, Array | None]
Act = Callable[..., Any]


def signed(a: Array) -> Array:
    return a.view(SIGNED[a.dtype.itemsize * 8])


def unsigned(a: Array) -> Array:
    return a.view(UNSIGNED[a.dtype.itemsize * 8])


def _shift(act: Act) -> Act:
    def run(a: Array, b: Array) -> Done:
        width = a.dtype.itemsize * 8
        bad = b >= width
        by = np.where(bad, 0, b).astype(a.dtype)
        return act(a, by), bad if bad.any() else None

    return run


def _divide(act: Act) -> Act:
    def run(a: Array, b: Array) -> Done:
        bad = b == 0
        if bad.any():
            return act(a, np.where(bad, np.ones(1, dtype=b.dtype), b)), bad
        return act(a, b), None

    return run


def _sdiv(a: Array, b: Array) -> Done:
    x, y = signed(a), signed(b)
    bad = (y == 0) | ((y == -1) & (x == np.iinfo(x.dtype).min))
    y = np.where(bad, np.ones(1, dtype=y.dtype), y)
    quotient = np.abs(x) // np.abs(y)
    quotient = np.where((x < 0) != (y < 0), -quotient, quotient)
    lowest = x == np.iinfo(x.dtype).min
    if lowest.any():  # its magnitude is no number of the type
        exact = [int(int(p) / int(q)) if abs(int(p)) < 1 << 53 else _cut(int(p), int(q))
                 for p, q in np.broadcast(x, y)]  # fmt: skip
        quotient = np.array(exact, dtype=x.dtype).reshape(np.broadcast(x, y).shape)
    return unsigned(quotient.astype(x.dtype)), bad if bad.any() else None


def _cut(p: int, q: int) -> int:
    quotient = abs(p) // abs(q)
    return -quotient if (p < 0) != (q < 0) else quotient


def _srem(a: Array, b: Array) -> Done:
    quotient, bad = _sdiv(a, b)
    y = b if bad is None else np.where(bad, np.ones(1, dtype=b.dtype), b)
    return a - quotient * y, bad


def _smod(a: Array, b: Array) -> Done:
    rest, bad = _srem(a, b)
    x, y = signed(rest), signed(np.broadcast_to(b, rest.shape).copy())
    return np.where((x != 0) & ((x < 0) != (y < 0)), rest + b, rest), bad


def _fmod(a: Array, b: Array) -> Done:
    bad = b == 0
    return a - b * np.floor(a / b), bad if bad.any() else None


def _frem(a: Array, b: Array) -> Done:
    bad = b == 0
    return np.fmod(a, b), bad if bad.any() else None


def _sar(a: Array, b: Array) -> Array:
    return unsigned(signed(a) >> b.astype(signed(a).dtype))


def _ordered(act: Act) -> Act:
    return lambda a, b: act(a, b) & ~(np.isnan(a) | np.isnan(b))


def _unordered(act: Act) -> Act:
    return lambda a, b: act(a, b) | np.isnan(a) | np.isnan(b)


def _signs(act: Act) -> Act:
    return lambda a, b: act(signed(a), signed(b))


LANES: Final[dict[int, Act]] = {
    ops.OpIAdd: np.add, ops.OpISub: np.subtract, ops.OpIMul: np.multiply,
    ops.OpFAdd: np.add, ops.OpFSub: np.subtract, ops.OpFMul: np.multiply, ops.OpFDiv: np.divide,
    ops.OpFNegate: np.negative, ops.OpSNegate: lambda a: np.zeros(1, dtype=a.dtype) - a,
    ops.OpBitwiseAnd: np.bitwise_and, ops.OpBitwiseOr: np.bitwise_or,
    ops.OpBitwiseXor: np.bitwise_xor, ops.OpNot: np.invert,
    ops.OpLogicalNot: np.logical_not, ops.OpLogicalEqual: np.equal,
    ops.OpLogicalNotEqual: np.not_equal,
    ops.OpIEqual: np.equal, ops.OpINotEqual: np.not_equal,
    ops.OpULessThan: np.less, ops.OpULessThanEqual: np.less_equal,
    ops.OpUGreaterThan: np.greater, ops.OpUGreaterThanEqual: np.greater_equal,
    ops.OpSLessThan: _signs(np.less), ops.OpSLessThanEqual: _signs(np.less_equal),
    ops.OpSGreaterThan: _signs(np.greater), ops.OpSGreaterThanEqual: _signs(np.greater_equal),
    ops.OpFOrdEqual: np.equal, ops.OpFOrdNotEqual: _ordered(np.not_equal),
    ops.OpFOrdLessThan: np.less, ops.OpFOrdLessThanEqual: np.less_equal,
    ops.OpFOrdGreaterThan: np.greater, ops.OpFOrdGreaterThanEqual: np.greater_equal,
    ops.OpFUnordEqual: _unordered(np.equal), ops.OpFUnordNotEqual: np.not_equal,
    ops.OpFUnordLessThan: _unordered(np.less), ops.OpFUnordLessThanEqual: _unordered(np.less_equal),
    ops.OpFUnordGreaterThan: _unordered(np.greater),
    ops.OpFUnordGreaterThanEqual: _unordered(np.greater_equal),
    ops.OpOrdered: lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    ops.OpUnordered: lambda a, b: np.isnan(a) | np.isnan(b),
    ops.OpIsNan: np.isnan, ops.OpIsInf: np.isinf,
    ops.OpBitCount: lambda a: np.bitwise_count(a).astype(a.dtype),
}  # fmt: skip
# These say where they are undefined.
DOUBTFUL: Final[dict[int, Act]] = {
    ops.OpUDiv: _divide(np.floor_divide), ops.OpUMod: _divide(np.remainder),
    ops.OpSDiv: _sdiv, ops.OpSRem: _srem, ops.OpSMod: _smod, ops.OpFMod: _fmod,
    ops.OpFRem: _frem,
    ops.OpShiftLeftLogical: _shift(np.left_shift), ops.OpShiftRightLogical: _shift(np.right_shift),
    ops.OpShiftRightArithmetic: _shift(_sar),
}  # fmt: skip


def lanewise(op: int, operands: list[V]) -> V:
    u = either(*[v.u for v in operands])
    act = LANES.get(op)
    if act is not None:
        return V(act(*[v.d for v in operands]), u)
    d, bad = DOUBTFUL[op](*[v.d for v in operands])
    return V(d, either(u, bad))


def logical(op: int, a: V, b: V) -> V:
    """And, or: one operand may decide alone, whatever the other is."""
    both = op == ops.OpLogicalAnd
    d = a.d & b.d if both else a.d | b.d
    if a.u is None and b.u is None:
        return V(d)
    no = np.zeros(1, dtype=bool)
    left, right = no if a.u is None else a.u, no if b.u is None else b.u
    decided = (~left & (a.d != both)) | (~right & (b.d != both))
    return V(np.where(decided, not both, d), (left | right) & ~decided)


def select(chosen: V, a: V, b: V) -> V:
    d = np.where(chosen.d, a.d, b.d)
    if a.u is None and b.u is None and chosen.u is None:
        return V(d)
    left, right = False if a.u is None else a.u, False if b.u is None else b.u
    return V(d, either(np.broadcast_to(np.where(chosen.d, left, right), d.shape), chosen.u))


# -- conversions -----------------------------------------------------------------------------------


def converted(kinds: Kinds, op: int, type: Inst, source: Inst, value: V) -> V:
    a = value.d
    to = kinds.dtype(type)
    if op == ops.OpUConvert:
        return V(a.astype(to), value.u)
    if op == ops.OpSConvert:
        return V(unsigned(signed(a).astype(SIGNED[to.itemsize * 8])), value.u)
    if op in (ops.OpConvertUToF, ops.OpConvertSToF):
        number = a if op == ops.OpConvertUToF else signed(a)
        return V(rounded(kinds, type, number.astype(to)), value.u)
    if op == ops.OpFConvert and kinds.loose and {width_of(type), width_of(source)} == {32, 64}:
        # else nobody sees a double that lost its bits on the way
        return V(a.astype(np.float32).astype(np.float64), value.u)
    if op == ops.OpFConvert:
        return V(a.astype(to), value.u)
    if op == ops.OpQuantizeToF16:
        half = a.astype(np.float16).astype(a.dtype)
        return V(np.where(np.abs(half) < 2.0**-14, half * 0, half), value.u)
    if op == ops.OpConvertFToU:
        low, high = 0.0, 2.0 ** (to.itemsize * 8)
        cut = np.trunc(a.astype(np.float64))
        bad = ~((cut >= low) & (cut < high))
        d = np.where(bad, 0, cut).astype(to)
    else:
        half = 2.0 ** (to.itemsize * 8 - 1)
        cut = np.trunc(a.astype(np.float64))
        bad = ~((cut >= -half) & (cut < half))
        d = unsigned(np.where(bad, 0, cut).astype(SIGNED[to.itemsize * 8]))
    made = kinds.unknown([], V(d, bad if bad.any() else None))
    return V(made.d, either(value.u, made.u))


def rounded(kinds: Kinds, type: Inst, value: Array) -> Array:
    """As it is held; what is loose is in double, which has nothing to round here."""
    return value if kinds.loose else value.astype(kinds.dtype(type))


def bitcast(kinds: Kinds, type: Inst, source: Inst, value: V) -> V:
    raw = kinds.bits_of(source, value.d)
    old, new = width_of(source), width_of(type)
    if old == new:
        return V(kinds.of_bits(type, raw), value.u)
    parts = [raw] if raw.ndim == 1 else list(raw)
    marks: list[Array | None]
    marks = [None] * len(parts) if value.u is None else [value.u] * (raw.ndim == 1) or list(value.u)
    wide = UNSIGNED[max(old, new)]
    made: list[V] = []
    if old < new:
        times = new // old
        for n in range(0, len(parts), times):
            bits: Any = sum(
                parts[n + k].astype(wide) << wide(k * old) for k in range(times)
            )  # fmt: skip
            made.append(V(bits, either(*marks[n : n + times])))
    else:
        narrow = UNSIGNED[new]
        for part, mark in zip(parts, marks):
            made += [V((part >> wide(k * new)).astype(narrow), mark) for k in range(old // new)]
    whole = made[0] if len(made) == 1 and width_of(type) and type.op != ops.OpTypeVector else None
    operand = whole or stacked(made)
    return V(kinds.of_bits(type, operand.d), operand.u)


CONVERSIONS: Final = frozenset((
    ops.OpUConvert, ops.OpSConvert, ops.OpConvertUToF, ops.OpConvertSToF, ops.OpFConvert,
    ops.OpQuantizeToF16, ops.OpConvertFToU, ops.OpConvertFToS,
))  # fmt: skip


# -- pairs, bits and matrices ----------------------------------------------------------------------


def wide(op: int, a: V, b: V) -> list[V]:
    """The two halves of a sum, a difference or a product."""
    u = either(a.u, b.u)
    if op == ops.OpIAddCarry:
        d = a.d + b.d
        return [V(d, u), V((d < a.d).astype(d.dtype), u)]
    if op == ops.OpISubBorrow:
        d = a.d - b.d
        return [V(d, u), V((a.d < b.d).astype(d.dtype), u)]
    width = a.d.dtype.itemsize * 8
    x, y = (a.d, b.d) if op == ops.OpUMulExtended else (signed(a.d), signed(b.d))
    if width < 64:
        twice = UNSIGNED[width * 2] if op == ops.OpUMulExtended else SIGNED[width * 2]
        product = x.astype(twice) * y.astype(twice)
        high = (product >> twice(width)).astype(UNSIGNED[width])
    else:
        exact = [(int(p) * int(q) >> width) & ((1 << width) - 1) for p, q in np.broadcast(x, y)]
        high = np.array(exact, dtype=a.d.dtype).reshape(np.broadcast(x, y).shape)
    return [V(a.d * b.d, u), V(high, u)]


def field_extract(base: V, offset: V, count: V, with_sign: bool) -> V:
    width = base.d.dtype.itemsize * 8
    at, size = offset.d.astype(np.int64), count.d.astype(np.int64)
    bad = (at < 0) | (size < 0) | (at + size > width)
    at, size = np.where(bad, 0, at), np.where(bad, 0, size)
    kind = signed(base.d).dtype if with_sign else base.d.dtype
    up = np.clip(width - at - size, 0, width - 1).astype(base.d.dtype)
    down = np.clip(width - size, 0, width - 1).astype(base.d.dtype)
    moved = (base.d << up).view(kind) if with_sign else base.d << up
    field = np.where(size == 0, 0, moved >> down.astype(kind)).astype(kind)
    u = either(base.u, offset.u, count.u, bad if bad.any() else None)
    return V(unsigned(field) if with_sign else field, u)


def field_insert(base: V, insert: V, offset: V, count: V) -> V:
    width = base.d.dtype.itemsize * 8
    at, size = offset.d.astype(np.int64), count.d.astype(np.int64)
    bad = (at < 0) | (size < 0) | (at + size > width)
    at, size = np.where(bad, 0, at), np.where(bad, 0, size)
    one = base.d.dtype.type
    full = np.array((1 << width) - 1, dtype=base.d.dtype)
    down = np.clip(width - size, 0, width - 1).astype(base.d.dtype)
    ones = np.where(size == 0, one(0), full >> down).astype(base.d.dtype)
    by = np.clip(at, 0, width - 1).astype(base.d.dtype)
    mask = ones << by
    d = (base.d & ~mask) | ((insert.d << by) & mask)
    return V(d, either(base.u, insert.u, offset.u, count.u, bad if bad.any() else None))


def bit_reverse(a: V) -> V:
    width = a.d.dtype.itemsize * 8
    reversed_bits = np.zeros_like(a.d)
    for n in range(width):
        bit = (a.d >> a.d.dtype.type(n)) & a.d.dtype.type(1)
        reversed_bits |= bit << a.d.dtype.type(width - 1 - n)
    return V(reversed_bits, a.u)


def dot(a: V, b: V) -> V:
    total = a.d[0] * b.d[0]
    for n in range(1, len(a.d)):
        total = total + a.d[n] * b.d[n]
    u = either(a.u, b.u)
    return V(total, across(u))


def times_scalar(a: V, b: V) -> V:
    return V(a.d * b.d, either(a.u, b.u))


def matrix_times_vector(matrix: list[V], vector: V) -> V:
    total = times_scalar(matrix[0], row(vector, 0))
    for n in range(1, len(matrix)):
        more = times_scalar(matrix[n], row(vector, n))
        total = V(total.d + more.d, either(total.u, more.u))
    return total


def transposed(matrix: list[V]) -> list[V]:
    return [stacked([row(c, n) for c in matrix]) for n in range(len(matrix[0].d))]
