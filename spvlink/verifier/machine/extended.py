"""The instructions of GLSL.std.450. What is transcendental is computed in doubles and rounded, so
that the same operand gives the same bits wherever it stands in an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from spvlink.grammar import glsl
from spvlink.verifier.machine.arithmetic import dot, signed, unsigned
from spvlink.verifier.machine.values import Array, V, across, either, row, stacked


def _smooth(act: Callable[[Array], Any]) -> Callable[[Array], Array]:
    return lambda a: np.asarray(act(a.astype(np.float64))).astype(a.dtype)


def _wide(act: Callable[..., Any]) -> Callable[..., Array]:
    def run(*given: Array) -> Array:
        return np.asarray(act(*[a.astype(np.float64) for a in given])).astype(given[0].dtype)

    return run


def _sign(a: Array) -> Array:
    return np.sign(a)


def _find_lsb(a: Array) -> Array:
    low = a & (np.zeros(1, dtype=a.dtype) - a)
    lowest = np.bitwise_count(low - a.dtype.type(1)).astype(a.dtype)
    return np.where(a == 0, ~np.zeros(1, dtype=a.dtype), lowest)


def _find_msb(a: Array) -> Array:
    x = a
    width = a.dtype.itemsize * 8
    for n in (1, 2, 4, 8, 16, 32):
        if n < width:
            x = x | x >> a.dtype.type(n)
    return np.asarray(np.bitwise_count(x).astype(a.dtype) - a.dtype.type(1))


def _find_smsb(a: Array) -> Array:
    return _find_msb(np.where(signed(a) < 0, ~a, a))


def _step(edge: Array, x: Array) -> Array:
    return np.asarray(np.where(x < edge, x.dtype.type(0), x.dtype.type(1)))


def _fma(a: Array, b: Array, c: Array) -> Array:
    return (a.astype(np.longdouble) * b + c).astype(a.dtype)


def _fract(a: Array) -> Array:
    return a - np.floor(a)


def _sabs(a: Array) -> Array:
    return np.where(signed(a) < 0, np.zeros(1, dtype=a.dtype) - a, a)


def _of_signs(act: Callable[..., Any]) -> Callable[..., Array]:
    return lambda *given: unsigned(np.asarray(act(*[signed(a) for a in given])))


def _ldexp(a: Array, by: Array) -> Array:
    return np.ldexp(a, np.clip(by.view(np.int32), -4000, 4000)).astype(a.dtype)


LANES: Final[dict[int, Callable[..., Array]]] = {
    glsl.Glsl_Round: np.rint, glsl.Glsl_RoundEven: np.rint, glsl.Glsl_Trunc: np.trunc,
    glsl.Glsl_FAbs: np.abs, glsl.Glsl_SAbs: _sabs, glsl.Glsl_FSign: _sign,
    glsl.Glsl_SSign: _of_signs(np.sign), glsl.Glsl_Floor: np.floor, glsl.Glsl_Ceil: np.ceil,
    glsl.Glsl_Fract: _fract, glsl.Glsl_Radians: lambda a: a * a.dtype.type(np.pi / 180),
    glsl.Glsl_Degrees: lambda a: a * a.dtype.type(180 / np.pi),
    glsl.Glsl_Sin: _smooth(np.sin), glsl.Glsl_Cos: _smooth(np.cos), glsl.Glsl_Tan: _smooth(np.tan),
    glsl.Glsl_Asin: _smooth(np.arcsin), glsl.Glsl_Acos: _smooth(np.arccos),
    glsl.Glsl_Atan: _smooth(np.arctan), glsl.Glsl_Sinh: _smooth(np.sinh),
    glsl.Glsl_Cosh: _smooth(np.cosh), glsl.Glsl_Tanh: _smooth(np.tanh),
    glsl.Glsl_Asinh: _smooth(np.arcsinh), glsl.Glsl_Acosh: _smooth(np.arccosh),
    glsl.Glsl_Atanh: _smooth(np.arctanh), glsl.Glsl_Atan2: _wide(np.arctan2),
    glsl.Glsl_Pow: _wide(np.power), glsl.Glsl_Exp: _smooth(np.exp), glsl.Glsl_Log: _smooth(np.log),
    glsl.Glsl_Exp2: _smooth(np.exp2), glsl.Glsl_Log2: _smooth(np.log2), glsl.Glsl_Sqrt: np.sqrt,
    glsl.Glsl_InverseSqrt: _smooth(lambda a: 1 / np.sqrt(a)),
    glsl.Glsl_UMin: np.minimum, glsl.Glsl_UMax: np.maximum,
    glsl.Glsl_SMin: _of_signs(np.minimum), glsl.Glsl_SMax: _of_signs(np.maximum),
    glsl.Glsl_NMin: np.fmin, glsl.Glsl_NMax: np.fmax,
    glsl.Glsl_NClamp: lambda x, low, high: np.fmin(np.fmax(x, low), high),
    glsl.Glsl_FMix: lambda x, y, a: x * (a.dtype.type(1) - a) + y * a,
    glsl.Glsl_Step: _step, glsl.Glsl_Fma: _fma, glsl.Glsl_Ldexp: _ldexp,
    glsl.Glsl_FindILsb: _find_lsb, glsl.Glsl_FindUMsb: _find_msb, glsl.Glsl_FindSMsb: _find_smsb,
}  # fmt: skip


def lanewise(number: int, given: list[V]) -> V | None:
    """What is computed component by component; None if the instruction is none of these."""
    act = LANES.get(number)
    u = either(*[v.u for v in given])
    data = [v.d for v in given]
    if act is not None:
        return V(act(*data), u)
    if number in (glsl.Glsl_FMin, glsl.Glsl_FMax):
        bad = np.isnan(data[0]) | np.isnan(data[1])
        d = (np.fmin if number == glsl.Glsl_FMin else np.fmax)(*data)
        return V(d, either(u, bad if bad.any() else None))
    if number in (glsl.Glsl_FClamp, glsl.Glsl_UClamp, glsl.Glsl_SClamp):
        return _clamp(number, data, u)
    if number == glsl.Glsl_SmoothStep:
        low, high, x = data
        bad = ~(low != high)  # the other way round: drivers compute the same formula
        t = np.fmin(np.fmax((x - low) / (high - low), 0), 1)
        d = t * t * (t.dtype.type(3) - t.dtype.type(2) * t)
        return V(d.astype(x.dtype), either(u, bad if bad.any() else None))
    return None


def _clamp(number: int, data: list[Array], u: Array | None) -> V:
    x, low, high = data
    if number == glsl.Glsl_FClamp:
        bad = ~(low <= high) | np.isnan(x)
        d = np.fmin(np.fmax(x, low), high)
    elif number == glsl.Glsl_UClamp:
        bad = low > high
        d = np.minimum(np.maximum(x, low), high)
    else:
        bad = signed(low) > signed(high)
        d = unsigned(np.minimum(np.maximum(signed(x), signed(low)), signed(high)))
    return V(d, either(u, bad if bad.any() else None))


def of_vectors(number: int, given: list[V]) -> V | None:
    """Lengths, normals and the like; a scalar is a vector of one."""
    a = given[0]
    if number == glsl.Glsl_Length:
        return _length(a)
    if number == glsl.Glsl_Distance:
        return _length(V(a.d - given[1].d, either(a.u, given[1].u)))
    if number == glsl.Glsl_Normalize:
        long = _length(a)
        if a.d.ndim == 1:
            return V(np.sign(a.d), a.u)
        return V(a.d / long.d, either(a.u, long.u))
    if number == glsl.Glsl_Cross:
        b = given[1]
        x, y = [a.d[n] for n in range(3)], [b.d[n] for n in range(3)]
        parts = [V(x[n - 2] * y[n - 1] - y[n - 2] * x[n - 1]) for n in range(3)]
        u = either(a.u, b.u)
        return V(stacked(parts).d, across(u))
    if number == glsl.Glsl_FaceForward:
        turned = _dot(given[1], given[2])
        d = np.where(turned.d < 0, a.d, -a.d)
        return V(d, either(a.u, turned.u))
    if number == glsl.Glsl_Reflect:
        size = _dot(given[1], a)
        two = a.d.dtype.type(2)
        return V(a.d - two * size.d * given[1].d, either(a.u, given[1].u, size.u))
    if number == glsl.Glsl_Refract:
        eta = given[2]
        size = _dot(given[1], a)
        one = a.d.dtype.type(1)
        k = one - eta.d * eta.d * (one - size.d * size.d)
        root = np.sqrt(np.where(k < 0, one * 0, k))
        d = np.where(k < 0, one * 0, eta.d * a.d - (eta.d * size.d + root) * given[1].d)
        return V(d.astype(a.d.dtype), either(a.u, given[1].u, eta.u, size.u))
    return None


def _dot(a: V, b: V) -> V:
    return V(a.d * b.d, either(a.u, b.u)) if a.d.ndim == 1 else dot(a, b)


def _length(a: V) -> V:
    if a.d.ndim == 1:
        return V(np.abs(a.d), a.u)
    square = dot(a, a)
    return V(np.sqrt(square.d), square.u)


# number: (components, bits of each, with sign, normalized)
PACKS: Final = {
    glsl.Glsl_PackSnorm4x8: (4, 8, True), glsl.Glsl_PackUnorm4x8: (4, 8, False),
    glsl.Glsl_PackSnorm2x16: (2, 16, True), glsl.Glsl_PackUnorm2x16: (2, 16, False),
}  # fmt: skip
UNPACKS: Final = {
    glsl.Glsl_UnpackSnorm4x8: (4, 8, True), glsl.Glsl_UnpackUnorm4x8: (4, 8, False),
    glsl.Glsl_UnpackSnorm2x16: (2, 16, True), glsl.Glsl_UnpackUnorm2x16: (2, 16, False),
}  # fmt: skip


def packed(number: int, a: V, float_type: Any) -> V | None:
    """Packing and unpacking but for doubles. ``float_type``: the dtype of 32-bit floats."""
    any_u = across(a.u)
    if number in PACKS:
        count, bits, with_sign = PACKS[number]
        top = float((1 << (bits - with_sign)) - 1)
        x = a.d.astype(np.float64)
        x = np.where(np.isnan(x), 0, np.clip(x, -1.0 if with_sign else 0.0, 1.0))
        whole = np.rint(x * top).astype(np.int64) & ((1 << bits) - 1)
        word: Any = sum(whole[n] << (n * bits) for n in range(count))
        return V(word.astype(np.uint32), any_u)
    if number in UNPACKS:
        count, bits, with_sign = UNPACKS[number]
        top = float((1 << (bits - with_sign)) - 1)
        made = []
        for n in range(count):
            part = a.d.astype(np.int64) >> (n * bits) & ((1 << bits) - 1)
            if with_sign:
                part = np.where(part >> (bits - 1), part - (1 << bits), part)
            made.append(V(np.clip(part / top, -1, 1).astype(float_type), a.u))
        return stacked(made)
    if number == glsl.Glsl_PackHalf2x16:
        raw = np.ascontiguousarray(a.d.astype(np.float32).astype(np.float16)).view(np.uint16)
        return V(raw[0].astype(np.uint32) | raw[1].astype(np.uint32) << np.uint32(16), any_u)
    if number == glsl.Glsl_UnpackHalf2x16:
        halves = [a.d.astype(np.uint16), (a.d >> np.uint32(16)).astype(np.uint16)]
        return stacked([V(h.view(np.float16).astype(float_type), a.u) for h in halves])
    return None


def determinant(matrix: list[V]) -> V:
    data = np.stack(np.broadcast_arrays(*[c.d for c in matrix]))  # columns, rows, n
    u = either(*[across(c.u) for c in matrix])
    value = np.linalg.det(np.moveaxis(data, -1, 0).astype(np.float64))
    return V(value.astype(matrix[0].d.dtype), u)


def inverse(matrix: list[V]) -> list[V]:
    """By cofactors, each matrix by itself."""
    data = np.stack(np.broadcast_arrays(*[c.d for c in matrix])).astype(np.float64)
    size = len(matrix)
    u = either(*[across(c.u) for c in matrix])
    full = np.moveaxis(data, -1, 0)
    bad: Array = np.asarray(~(np.abs(np.linalg.det(full)) > 0))
    odd = bad | ~np.isfinite(full).all(axis=(1, 2))
    full = np.where(odd.reshape(-1, 1, 1), np.eye(size), full)
    done = np.moveaxis(np.linalg.inv(full), 0, -1)
    u = either(u, bad if bad.any() else None)
    return [V(done[n].astype(matrix[0].d.dtype), u) for n in range(size)]


def split(number: int, a: V) -> tuple[V, V]:
    """Of Modf: fraction and whole; of Frexp: mantissa and exponent (its bits as unsigned)."""
    if number in (glsl.Glsl_Modf, glsl.Glsl_ModfStruct):
        whole = np.trunc(a.d)
        part = np.where(np.isinf(a.d), np.copysign(0, a.d), a.d - whole)
        return V(part.astype(a.d.dtype), a.u), V(whole, a.u)
    mantissa, exponent = np.frexp(a.d)
    return V(mantissa, a.u), V(exponent.astype(np.int32).view(np.uint32), a.u)


__all__ = ["determinant", "inverse", "lanewise", "of_vectors", "packed", "row", "split"]
