"""What invocations do together: atomics, in the order of the invocations, and subgroups, which are
quads of the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.verifier.machine.engine import GROUP, Frame, Machine
from spvlink.verifier.machine.images import Texel, kept, scaled, texels_of
from spvlink.verifier.machine.instructions import handles, noted
from spvlink.verifier.machine.memory import (
    MemoryAddress,
    MemoryPointer,
    load_slot,
    places_of,
    store_slot,
)
from spvlink.verifier.machine.values import SIGNED, UNSIGNED, Array, V, Value, either, width_of

# -- atomics ---------------------------------------------------------------------------------------

Act = Callable[[Any, Any], Any]


def _signs(act: Act) -> Act:
    def run(old: Any, value: Any) -> Any:
        kind = SIGNED[old.dtype.itemsize * 8]
        return np.array(act(old.astype(kind), value.astype(kind))).astype(old.dtype)

    return run


CHANGES: Final[dict[int, Act]] = {
    ops.OpAtomicIAdd: lambda old, v: old + v, ops.OpAtomicISub: lambda old, v: old - v,
    ops.OpAtomicUMin: min, ops.OpAtomicUMax: max,
    ops.OpAtomicSMin: _signs(min), ops.OpAtomicSMax: _signs(max),
    ops.OpAtomicAnd: lambda old, v: old & v, ops.OpAtomicOr: lambda old, v: old | v,
    ops.OpAtomicXor: lambda old, v: old ^ v, ops.OpAtomicExchange: lambda old, v: v,
    ops.OpAtomicIIncrement: lambda old, v: old + old.dtype.type(1),
    ops.OpAtomicIDecrement: lambda old, v: old - old.dtype.type(1),
    ops.OpAtomicFAddEXT: lambda old, v: old + v,
    ops.OpAtomicFMinEXT: min, ops.OpAtomicFMaxEXT: max,
}  # fmt: skip


class Cells:
    """Memory that atomics change: one scalar for each invocation."""

    def __init__(self, m: Machine, f: Frame, at: Value, i: Inst) -> None:
        self.m = m
        self.f = f
        self.at = at
        self.u: Array | None = None
        self.where: Array = np.zeros(1, dtype=np.int64)
        if isinstance(at, MemoryAddress):
            self.type = at.type
            self.where, self.u = places_of(at, width_of(at.type) // 8)
            self.place = at.region.name
        elif isinstance(at, Texel):
            self.type = at.type
            self.where, self.u = at.at.d, at.at.u
            self.place = f"image {at.handle.key}"
        elif isinstance(at, MemoryPointer):
            self.type = at.type
            self.place = ""
        else:
            raise m.refuse("an atomic here", i)

    def get(self, lane: int) -> Any:
        where = int(self.where[lane if len(self.where) > 1 else 0])
        width = width_of(self.type)
        if isinstance(self.at, MemoryAddress):
            raw = self.at.region.data.view(UNSIGNED[width])[where : where + 1]
            return self.m.kinds.of_bits(self.type, raw)[0]
        if isinstance(self.at, Texel):
            texel = texels_of(self.m.world, self.at.handle.key)[where : where + 1, 0]
            return scaled(self.m, self.type, texel)[0]
        one = np.zeros(self.m.count, dtype=bool)
        one[lane] = True
        cell = load_slot(self.at, one)
        return cell.d[lane if len(cell.d) > 1 else 0]

    def put(self, lane: int, value: Any) -> None:
        where = int(self.where[lane if len(self.where) > 1 else 0])
        data = np.array([value], dtype=self.m.kinds.dtype(self.type))
        if isinstance(self.at, MemoryAddress):
            raw = self.m.kinds.bits_of(self.type, data)
            self.at.region.data.view(raw.dtype)[where] = raw[0]
            self.at.region.written = True
        elif isinstance(self.at, Texel):
            texels_of(self.m.world, self.at.handle.key)[where, 0] = kept(self.type, data)[0]
        else:
            one = np.zeros(self.m.count, dtype=bool)
            one[lane] = True
            store_slot(self.at, V(data), one, self.m.group_count, False)


@handles(*CHANGES, ops.OpAtomicStore, ops.OpAtomicLoad, ops.OpAtomicCompareExchange)
def _atomic(m: Machine, f: Frame, i: Inst) -> Value:
    cells = Cells(m, f, f.values[i.args[0]], i)
    dtype = m.kinds.dtype(cells.type)
    mask = f.mask if i.op == ops.OpAtomicLoad else m.acting(f)
    operand: V | None = None
    if i.op == ops.OpAtomicCompareExchange:
        operand = f.values[i.args[4]]
    elif len(i.args) > 3:
        operand = f.values[i.args[3]]
    old_values = np.zeros(m.count, dtype=dtype)
    given = operand.d if operand is not None else np.zeros(1, dtype=dtype)
    given = np.broadcast_to(given, (m.count,))
    for lane in np.nonzero(mask)[0]:
        old = old_values[lane] = cells.get(int(lane))
        if i.op == ops.OpAtomicLoad:
            continue
        if i.op == ops.OpAtomicStore:
            new = given[lane]
        elif i.op == ops.OpAtomicCompareExchange:
            wanted = f.values[i.args[5]].d
            same = old == wanted[lane if len(wanted) > 1 else 0]
            new = given[lane] if same else old
        else:
            with np.errstate(all="ignore"):
                new = CHANGES[i.op](np.asarray(old), np.asarray(given[lane]))
        cells.put(int(lane), new)
    u = either(None if operand is None else operand.u, cells.u)
    if cells.place and i.op != ops.OpAtomicLoad and mask.any():
        kind = "float" if dtype.kind == "f" else "int"
        noted(m.log, f"{cells.place} {ops.NAMES[i.op]}", mask, cells.where, V(given, u), kind)
    return V(old_values, u) if i.id else None


# -- subgroups -------------------------------------------------------------------------------------


def spread(m: Machine, value: V) -> tuple[Array, Array]:
    """A value as (components, subgroups, invocations of each), and where it is undefined."""
    d = value.d if value.d.ndim == 2 else value.d[None]
    u = np.zeros((1, 1), dtype=bool) if value.u is None else value.u
    u = u if u.ndim == 2 else u[None]
    shape = (len(d), m.count)
    return (
        np.broadcast_to(d, shape).reshape(len(d), -1, GROUP),
        np.broadcast_to(u, shape).reshape(len(d), -1, GROUP),
    )


def gathered_back(value: V, d: Array, u: Array) -> V:
    d, u = d.reshape(len(d), -1), u.reshape(len(u), -1)
    if value.d.ndim == 1:
        d, u = d[0], u[0]
    return V(d, u if u.any() else None)


def members(m: Machine, f: Frame) -> Array:
    if m.count % GROUP:
        raise m.refuse("subgroups of a batch that is no number of quads", Inst(0, None, [], ()))
    return f.mask.reshape(-1, GROUP)


def taken(m: Machine, f: Frame, value: V, source: Array) -> V:
    """The value that another invocation of the subgroup has: ``source`` says which."""
    d, u = spread(m, value)
    there = members(m, f)
    inside = np.clip(source, 0, GROUP - 1)
    bad = (source < 0) | (source >= GROUP) | ~np.take_along_axis(there, inside, axis=1)
    index = np.broadcast_to(inside[None], d.shape)
    return gathered_back(
        value, np.take_along_axis(d, index, axis=2), np.take_along_axis(u, index, axis=2) | bad
    )


def own_place(m: Machine) -> Array:
    return np.broadcast_to(np.arange(GROUP), (m.count // GROUP, GROUP))


def numbers(m: Machine, value: V) -> Array:
    return np.broadcast_to(value.d.astype(np.int64), (m.count,)).reshape(-1, GROUP)


def first_of(there: Array) -> Array:
    return np.broadcast_to(np.argmax(there, axis=1)[:, None], there.shape)


@handles(ops.OpGroupNonUniformElect)
def _elect(m: Machine, f: Frame, i: Inst) -> Value:
    there = members(m, f)
    return V((first_of(there) == own_place(m)).ravel() & f.mask)


@handles(
    ops.OpGroupNonUniformBroadcast, ops.OpGroupNonUniformBroadcastFirst,
    ops.OpGroupNonUniformShuffle, ops.OpGroupNonUniformShuffleXor, ops.OpGroupNonUniformShuffleUp,
    ops.OpGroupNonUniformShuffleDown, ops.OpGroupNonUniformQuadBroadcast,
    ops.OpGroupNonUniformQuadSwap,
)  # fmt: skip
def _take(m: Machine, f: Frame, i: Inst) -> Value:
    value = f.values[i.args[1]]
    own = own_place(m)
    if i.op == ops.OpGroupNonUniformBroadcastFirst:
        return taken(m, f, value, first_of(members(m, f)))
    by = numbers(m, f.values[i.args[2]])
    if i.op == ops.OpGroupNonUniformShuffleXor:
        by = own ^ by
    elif i.op == ops.OpGroupNonUniformShuffleUp:
        by = own - by
    elif i.op == ops.OpGroupNonUniformShuffleDown:
        by = own + by
    elif i.op == ops.OpGroupNonUniformQuadSwap:
        by = own ^ (by + 1)
    return taken(m, f, value, by)


@handles(ops.OpGroupNonUniformAll, ops.OpGroupNonUniformAny, ops.OpGroupNonUniformAllEqual)
def _vote(m: Machine, f: Frame, i: Inst) -> Value:
    value = f.values[i.args[1]]
    d, u = spread(m, value)
    there = members(m, f)
    if i.op == ops.OpGroupNonUniformAll:
        agreed = (d[0] | ~there).all(axis=1)
    elif i.op == ops.OpGroupNonUniformAny:
        agreed = (d[0] & there).any(axis=1)
    else:
        one = np.take_along_axis(d, np.broadcast_to(first_of(there)[None], d.shape), axis=2)
        agreed = ((d == one) | ~there).all(axis=(0, 2))
    bad = (u.any(axis=0) & there).any(axis=1)
    return V(np.repeat(agreed, GROUP), np.repeat(bad, GROUP) if bad.any() else None)


def ballot_of(m: Machine, f: Frame, value: V) -> Array:
    """Bits of the subgroup's invocations that say yes."""
    d, _ = spread(m, value)
    bits = (d[0] & members(m, f)) << np.arange(GROUP)
    return np.repeat(bits.sum(axis=1), GROUP).astype(np.uint32)


@handles(ops.OpGroupNonUniformBallot)
def _ballot(m: Machine, f: Frame, i: Inst) -> Value:
    value = f.values[i.args[1]]
    low = ballot_of(m, f, value)
    made = np.zeros((4, m.count), dtype=np.uint32)
    made[0] = low
    return V(made, None if value.u is None else spread(m, value)[1].any() & np.ones(1, dtype=bool))


@handles(ops.OpGroupNonUniformInverseBallot, ops.OpGroupNonUniformBallotBitExtract)
def _ballot_bit(m: Machine, f: Frame, i: Inst) -> Value:
    value = f.values[i.args[1]]
    own = own_place(m).ravel()
    at = own if len(i.args) < 3 else numbers(m, f.values[i.args[2]]).ravel()
    bits = np.broadcast_to(value.d[0], (m.count,)).astype(np.int64)
    return V((bits >> np.clip(at, 0, 31) & 1).astype(bool), None if value.u is None else value.u[0])


@handles(
    ops.OpGroupNonUniformBallotBitCount, ops.OpGroupNonUniformBallotFindLSB,
    ops.OpGroupNonUniformBallotFindMSB,
)  # fmt: skip
def _ballot_count(m: Machine, f: Frame, i: Inst) -> Value:
    value = f.values[i.args[1]]
    bits = np.broadcast_to(value.d[0], (m.count,)).astype(np.int64) & ((1 << GROUP) - 1)
    own = own_place(m).ravel()
    if i.op == ops.OpGroupNonUniformBallotBitCount:
        kind = i.imm[0]
        if kind == enums.GroupOperation_InclusiveScan:
            bits = bits & ((2 << own) - 1)
        elif kind == enums.GroupOperation_ExclusiveScan:
            bits = bits & ((1 << own) - 1)
        counts = np.bitwise_count(bits)
    elif i.op == ops.OpGroupNonUniformBallotFindLSB:
        counts = np.log2(np.maximum(bits & -bits, 1))
    else:
        counts = np.floor(np.log2(np.maximum(bits, 1)))
    return V(counts.astype(np.uint32), None if value.u is None else value.u[0])


_SUMS: Final[dict[int, tuple[Act, Any]]] = {
    ops.OpGroupNonUniformIAdd: (np.add, 0), ops.OpGroupNonUniformFAdd: (np.add, 0),
    ops.OpGroupNonUniformIMul: (np.multiply, 1), ops.OpGroupNonUniformFMul: (np.multiply, 1),
    ops.OpGroupNonUniformUMin: (np.minimum, "top"), ops.OpGroupNonUniformUMax: (np.maximum, 0),
    ops.OpGroupNonUniformSMin: (np.minimum, "top"), ops.OpGroupNonUniformSMax: (np.maximum, "low"),
    ops.OpGroupNonUniformFMin: (np.fmin, "top"), ops.OpGroupNonUniformFMax: (np.fmax, "low"),
    ops.OpGroupNonUniformBitwiseAnd: (np.bitwise_and, "ones"),
    ops.OpGroupNonUniformBitwiseOr: (np.bitwise_or, 0),
    ops.OpGroupNonUniformBitwiseXor: (np.bitwise_xor, 0),
    ops.OpGroupNonUniformLogicalAnd: (np.logical_and, True),
    ops.OpGroupNonUniformLogicalOr: (np.logical_or, False),
    ops.OpGroupNonUniformLogicalXor: (np.logical_xor, False),
}  # fmt: skip


def _neutral(name: Any, dtype: Any) -> Any:
    if not isinstance(name, str):
        return dtype.type(name)
    if dtype.kind == "f":
        return dtype.type(np.inf if name == "top" else -np.inf)
    if name == "ones":
        return dtype.type(np.iinfo(dtype).max)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if name == "top" else limits.min)


@handles(*_SUMS)
def _reduce(m: Machine, f: Frame, i: Inst) -> Value:
    value = f.values[i.args[1]]
    act, start = _SUMS[i.op]
    d, u = spread(m, value)
    if i.op in (ops.OpGroupNonUniformSMin, ops.OpGroupNonUniformSMax):
        d = d.view(SIGNED[d.dtype.itemsize * 8])
    there = members(m, f)
    neutral = _neutral(start, d.dtype)
    d = np.where(there, d, neutral)
    kind = i.imm[0]
    size = GROUP
    if kind == enums.GroupOperation_ClusteredReduce:
        size = int(f.values[i.args[2]].d[0])
    made = np.empty_like(d)
    for lane in range(GROUP):
        low = lane // size * size if size < GROUP else 0
        high = min(low + size, GROUP)
        if kind == enums.GroupOperation_InclusiveScan:
            high = lane + 1
        elif kind == enums.GroupOperation_ExclusiveScan:
            high = lane
        total: Any = np.full(d.shape[:2], neutral)
        for other in range(low, high):
            total = act(total, d[..., other])
        made[..., lane] = total
    bad = np.broadcast_to((u & there).any(axis=2, keepdims=True), d.shape)
    return gathered_back(value, made.view(value.d.dtype), bad)
