"""Values of a batch of invocations: numpy arrays whose last axis counts them, with a mask of what
is undefined.

A scalar is a ``V`` with arrays of shape (n,), a vector one of shape (components, n), where n is the
number of invocations, or 1 for what all agree on. Composites are lists. Integers are held without
sign. Floats are held in their own width, or, where rounding may differ (``loose``), all as doubles:
then sums in another order come to the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Inst

Array = np.ndarray[Any, np.dtype[Any]]
UNSIGNED: Final[dict[int, Any]] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SIGNED: Final[dict[int, Any]] = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
FLOATS: Final[dict[int, Any]] = {16: np.float16, 32: np.float32, 64: np.float64}
YES: Final = np.ones(1, dtype=bool)


class NotInterpreted(Exception):
    """The interpreter does not know something: the answer is "unknown"."""

    def __init__(self, why: str, stage: str = "", instruction: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.stage = stage
        self.instruction = instruction


class Endless(NotInterpreted):
    """A loop that takes too long."""


class RuleBroken(NotInterpreted):
    """A rule of Vulkan is broken, so nothing is known of what a device makes of it."""


class V:
    """A scalar or a vector: ``d`` the numbers, ``u`` where they are undefined (None: nowhere)."""

    __slots__ = ("d", "u")

    def __init__(self, d: Array, u: Array | None = None) -> None:
        if u is not None and u.ndim < d.ndim:
            u = np.broadcast_to(u, (d.shape[0], *u.shape))
        self.d = d
        self.u = u

    def __repr__(self) -> str:
        return f"V({self.d!r}, {self.u!r})"


Value = Any  # a V, a list of values, a pointer, a handle
Tree = Any  # a V or a list of trees


def either(*parts: Array | None) -> Array | None:
    """Undefined where one of these is."""
    undefined: Array | None = None
    for part in parts:
        if part is not None:
            if undefined is None:
                undefined = part
            elif undefined.ndim == part.ndim:
                undefined = undefined | part
            else:
                low, high = (undefined, part) if undefined.ndim < part.ndim else (part, undefined)
                undefined = low[None, :] | high
    return undefined


def across(u: Array | None) -> Array | None:
    """Of a vector's components, whether one is undefined."""
    return None if u is None else np.asarray(u.any(axis=0)) if u.ndim == 2 else u


def row(value: V, at: int) -> V:
    """One component of a vector."""
    u = value.u
    return V(value.d[at], None if u is None else u[min(at, len(u) - 1)])


def rows(value: V) -> list[V]:
    """The components of a vector; a scalar has one."""
    return [value] if value.d.ndim == 1 else [row(value, n) for n in range(len(value.d))]


def stacked(parts: list[V]) -> V:
    """A vector of scalars."""
    width = max(len(p.d) for p in parts)
    if any(p.u is not None for p in parts):
        width = max(width, *(len(p.u) for p in parts if p.u is not None))
    d = np.empty((len(parts), width), dtype=parts[0].d.dtype)
    for n, part in enumerate(parts):
        d[n] = part.d
    if all(p.u is None for p in parts):
        return V(d)
    u = np.zeros((len(parts), width), dtype=bool)
    for n, part in enumerate(parts):
        if part.u is not None:
            u[n] = part.u
    return V(d, u)


def merged(mask: Array, new: Value, old: Value) -> Value:
    """``new`` where the mask says so, ``old`` elsewhere."""
    if new is old:
        return new
    if isinstance(new, V):
        d = np.where(mask, new.d, old.d)
        if new.u is None and old.u is None:
            return V(d)
        left = False if new.u is None else new.u
        right = False if old.u is None else old.u
        u = np.where(mask, left, right)
        return V(d, u if u.any() else None)
    if isinstance(new, list):
        return [merged(mask, a, b) for a, b in zip(new, old, strict=True)]
    return new.merged(mask, old)


def mapped(tree: Tree, act: Callable[[V], V]) -> Tree:
    """The tree with each leaf as ``act`` makes it."""
    if isinstance(tree, V):
        return act(tree)
    if isinstance(tree, list):
        return [mapped(part, act) for part in tree]
    return tree


def tainted(tree: Tree, where: Array) -> Tree:
    """The tree, undefined where the mask says so."""
    return mapped(tree, lambda v: V(v.d, either(v.u, where)))


def gathered(tree: Tree, at: Array) -> Tree:
    """The tree with what the indices pick on the last axis."""

    def pick(value: V) -> V:
        d = value.d if value.d.shape[-1] == 1 else value.d[..., at]
        u = value.u
        if u is not None and u.shape[-1] != 1:
            u = u[..., at]
        return V(d, u)

    return mapped(tree, pick)


def widened(value: V, size: int) -> V:
    """With the last axis at its full length; arrays of its own, which may be written."""
    shape = (*value.d.shape[:-1], size)
    d = np.array(np.broadcast_to(value.d, shape))
    u = None if value.u is None else np.array(np.broadcast_to(value.u, shape))
    return V(d, u)


class Kinds:
    """What types look like as arrays. ``ones``: nothing but bits that are 1, or NaN, where nobody
    knows a value."""

    def __init__(self, loose: bool, ones: bool) -> None:
        self.loose = loose
        self.ones = ones
        self.known: dict[Inst, Any] = {}

    def dtype(self, type: Inst) -> Any:
        """Of a scalar, or of the scalars of a vector."""
        dtype = self.known.get(type)
        if dtype is None:
            scalar = type.args[0] if type.op == ops.OpTypeVector else type
            if scalar.op == ops.OpTypeBool:
                dtype = np.dtype(bool)
            elif scalar.op == ops.OpTypeInt:
                dtype = np.dtype(UNSIGNED[scalar.imm[0]])
            elif types.is_ieee(scalar):
                dtype = np.dtype(np.float64 if self.loose else FLOATS[scalar.imm[0]])
            else:
                raise NotInterpreted("a type that is not interpreted", "", repr(scalar))
            self.known[type] = dtype
        return dtype

    def filled(self, type: Inst, undefined: bool) -> Value:
        """Zeros of a type; with ``undefined`` nobody knows them."""
        if type.op in types.POINTERS:
            return None
        if types.is_scalar(type) or type.op == ops.OpTypeVector:
            shape = (type.imm[0], 1) if type.op == ops.OpTypeVector else (1,)
            u = np.ones(shape, dtype=bool) if undefined else None
            return self.unknown([], V(np.zeros(shape, dtype=self.dtype(type)), u))
        if not types.is_composite(type):
            raise NotInterpreted("a type that is not interpreted", "", repr(type))
        parts = range(types.size_of(type))
        if type.op == ops.OpTypeStruct:
            return [self.filled(type.args[n], undefined) for n in parts]
        return [self.filled(type.args[0], undefined)] * len(parts)

    def unknown(self, given: list[V], made: V) -> V:
        """What was made, with ones where it is undefined though nothing given is."""
        if not self.ones or made.u is None:
            return made
        known = either(*[value.u for value in given])
        where = made.u if known is None else made.u & ~known
        dtype = made.d.dtype
        other = {"f": np.nan, "b": True, "u": np.iinfo(np.uint64).max}[dtype.kind]
        return V(np.where(where, np.array(other).astype(dtype), made.d), made.u)

    def scalar(self, type: Inst, bits: int) -> V:
        """A constant."""
        if type.op == ops.OpTypeBool:
            return V(np.array([bool(bits)]))
        if type.op == ops.OpTypeInt:
            return V(np.array([bits], dtype=UNSIGNED[type.imm[0]]))
        raw = np.array([bits], dtype=UNSIGNED[type.imm[0]])
        return V(self.float_of(raw, type.imm[0]))

    def float_of(self, raw: Array, width: int) -> Array:
        """The floats of these bits, as they are held."""
        numbers: Array = raw.view(FLOATS[width])
        return numbers.astype(np.float64) if self.loose else numbers

    def bits_of(self, type: Inst, value: Array) -> Array:
        """The bits of numbers of a type, without sign."""
        scalar = type.args[0] if type.op == ops.OpTypeVector else type
        if scalar.op == ops.OpTypeFloat:
            plain = value.astype(FLOATS[scalar.imm[0]])
            return np.ascontiguousarray(plain).view(UNSIGNED[scalar.imm[0]])
        return value

    def of_bits(self, type: Inst, raw: Array) -> Array:
        """The numbers of a type that have these bits."""
        scalar = type.args[0] if type.op == ops.OpTypeVector else type
        if scalar.op == ops.OpTypeFloat:
            return self.float_of(np.ascontiguousarray(raw), scalar.imm[0])
        return raw


def width_of(type: Inst) -> int:
    """Bits of a scalar, or of the scalars of a vector."""
    scalar = type.args[0] if type.op == ops.OpTypeVector else type
    return 1 if scalar.op == ops.OpTypeBool else scalar.imm[0]
