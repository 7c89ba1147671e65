"""What instructions do: memory, composites, calls, arithmetic, derivatives, emission."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import Function, Inst, name_of_set, says_nothing
from spvlink.verifier.machine import arithmetic, extended
from spvlink.verifier.machine.engine import HANDLERS, Frame, Handler, Machine
from spvlink.verifier.machine.memory import (
    DESCRIPTORS,
    MemoryAddress,
    MemoryEntry,
    MemoryPointer,
    MemorySlot,
    index_of,
    load_buffer,
    load_slot,
    load_tree,
    size_in_buffer,
    step_into,
    store_buffer,
    store_slot,
    store_tree,
)
from spvlink.verifier.machine.values import (
    YES,
    Array,
    V,
    Value,
    across,
    either,
    merged,
    row,
    rows,
    stacked,
)
from spvlink.verifier.machine.world import HEAP, Handle


def handles(*opcodes: int) -> Callable[[Handler], Handler]:
    def keep(handler: Handler) -> Handler:
        for op in opcodes:
            HANDLERS[op] = handler
        return handler

    return keep


# -- memory ----------------------------------------------------------------------------------------


@handles(ops.OpVariable)
def _variable(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None
    type = i.type.args[0]
    tree = f.values[i.args[0]] if i.args else m.kinds.filled(type, True)
    return MemoryPointer(MemorySlot(tree), (), type)


def address_of(m: Machine, value: V, pointer: Inst) -> MemoryAddress:
    """A pointer from the number that it is."""
    at = value.d.astype(np.int64) - HEAP
    address = MemoryAddress(m.world.heap(), at, pointer.args[0], np.zeros(1, dtype=np.int64))
    address.u = value.u
    return address


def number_of(address: Value) -> V:
    """The number that a pointer is."""
    if isinstance(address, V):
        return address
    return V((address.at + HEAP).astype(np.uint64), address.u)


@handles(ops.OpLoad)
def _load(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None
    return loaded(m, f, f.values[i.args[0]], i.type, i)


def loaded(m: Machine, f: Frame, at: Value, type: Inst, i: Inst) -> Value:
    if isinstance(at, Handle):
        return at
    if isinstance(at, MemoryAddress):
        value = load_buffer(m.stage, m.kinds, at)
        return address_of(m, value, type) if type.op in types.POINTERS else value
    if isinstance(at, MemoryPointer):
        return load_slot(at, f.mask)
    raise m.refuse("a load from here", i)


@handles(ops.OpStore)
def _store(m: Machine, f: Frame, i: Inst) -> Value:
    stored(m, f, f.values[i.args[0]], f.values[i.args[1]], i)
    return None


def stored(m: Machine, f: Frame, at: Value, value: Value, i: Inst) -> None:
    if isinstance(at, MemoryAddress):
        mask = m.acting(f)
        if isinstance(value, MemoryAddress):
            value = number_of(value)
        if mask.any():
            store_buffer(m.stage, m.kinds, at, value, mask, m.log)
    elif isinstance(at, MemoryPointer):
        store_slot(at, value, f.mask, m.group_count, f.full)
    else:
        raise m.refuse("a store to here", i)


@handles(ops.OpCopyMemory)
def _copy_memory(m: Machine, f: Frame, i: Inst) -> Value:
    source = i.args[1].type
    assert source is not None
    value = loaded(m, f, f.values[i.args[1]], source.args[0], i)
    stored(m, f, f.values[i.args[0]], value, i)
    return None


def chain(m: Machine, f: Frame, i: Inst, base: Value, indices: list[Inst]) -> Value:
    for at in indices:
        index = f.values[at]
        if isinstance(base, MemoryPointer):
            number, u = index_of(index)
            if u is not None:
                m.wild |= f.mask & u
            type = base.type
            part = types.part_type(type, number if type.op == ops.OpTypeStruct else 0)
            base = MemoryPointer(base.slot, (*base.path, number), part)
        elif isinstance(base, Handle):
            number, _ = index_of(index)
            base = Handle(base.key, base.at + np.asarray(number), base.type.args[0], base.sampler)
        elif isinstance(base, MemoryAddress):
            base = into_buffer(m, base, index)
        else:
            raise m.refuse("a chain from here", i)
    return base


def into_buffer(m: Machine, base: MemoryAddress, index: V) -> MemoryAddress:
    type = base.type
    if type.op in (ops.OpTypeArray, ops.OpTypeRuntimeArray):
        if m.stage.find(type, enums.Decoration_ArrayStride) is None and (
            base.region.size != len(base.region.data)
        ):
            number, _ = index_of(index)
            made = base.moved(0, type.args[0])
            made.at = made.low = np.atleast_1d(np.asarray(number) % DESCRIPTORS * base.region.size)
            return made
    return step_into(m.stage, base, index)


@handles(ops.OpAccessChain, ops.OpInBoundsAccessChain)
def _chain(m: Machine, f: Frame, i: Inst) -> Value:
    return chain(m, f, i, f.values[i.args[0]], i.args[1:])


@handles(ops.OpPtrAccessChain, ops.OpInBoundsPtrAccessChain)
def _pointer_chain(m: Machine, f: Frame, i: Inst) -> Value:
    base = f.values[i.args[0]]
    source = i.args[0].type
    if not isinstance(base, MemoryAddress) or source is None:
        raise m.refuse("an element of a pointer that is no buffer's", i)
    by = m.stage.find(source, enums.Decoration_ArrayStride)
    by = by or size_in_buffer(m.stage, base.type)
    number, _ = index_of(f.values[i.args[1]])
    return chain(m, f, i, base.moved(np.asarray(number) * by, base.type), i.args[2:])


@handles(ops.OpArrayLength)
def _length(m: Machine, f: Frame, i: Inst) -> Value:
    base = f.values[i.args[0]]
    type = base.type
    offset = m.stage.member(type, i.imm[0], enums.Decoration_Offset) or 0
    by = m.stage.find(type.args[i.imm[0]], enums.Decoration_ArrayStride) or 1
    return V(np.array([(base.region.size - offset) // by], dtype=np.uint32))


@handles(ops.OpConvertUToPtr)
def _to_pointer(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None
    return address_of(m, f.values[i.args[0]], i.type)


@handles(ops.OpConvertPtrToU)
def _from_pointer(m: Machine, f: Frame, i: Inst) -> Value:
    return number_of(f.values[i.args[0]])


# -- composites ------------------------------------------------------------------------------------


@handles(ops.OpCompositeConstruct)
def _construct(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None
    parts = [f.values[a] for a in i.args]
    if i.type.op == ops.OpTypeVector:
        return stacked([scalar for part in parts for scalar in rows(part)])
    return parts


@handles(ops.OpCompositeExtract)
def _extract(m: Machine, f: Frame, i: Inst) -> Value:
    value = f.values[i.args[0]]
    for at in i.imm:
        value = row(value, at) if isinstance(value, V) else value[at]
    return value


@handles(ops.OpCompositeInsert)
def _insert(m: Machine, f: Frame, i: Inst) -> Value:
    return store_tree(f.values[i.args[1]], i.imm, f.values[i.args[0]], None)


@handles(ops.OpVectorShuffle)
def _shuffle(m: Machine, f: Frame, i: Inst) -> Value:
    both = [*rows(f.values[i.args[0]]), *rows(f.values[i.args[1]])]
    nothing = V(np.zeros(1, dtype=both[0].d.dtype), YES)
    return stacked([both[n] if n < len(both) else nothing for n in i.imm])


@handles(ops.OpVectorExtractDynamic)
def _extract_dynamic(m: Machine, f: Frame, i: Inst) -> Value:
    at, u = index_of(f.values[i.args[1]])
    component = load_tree(f.values[i.args[0]], (at,), f.mask)
    return V(component.d, either(component.u, u))


@handles(ops.OpVectorInsertDynamic)
def _insert_dynamic(m: Machine, f: Frame, i: Inst) -> Value:
    at, _ = index_of(f.values[i.args[2]])
    return store_tree(f.values[i.args[0]], (at,), f.values[i.args[1]], None)


@handles(ops.OpCopyObject, ops.OpCopyLogical, ops.OpExpectKHR)
def _copy(m: Machine, f: Frame, i: Inst) -> Value:
    return f.values[i.args[0]]


@handles(ops.OpUndef)
def _undef(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None
    return m.kinds.filled(i.type, True)


@handles(ops.OpSelect)
def _select(m: Machine, f: Frame, i: Inst) -> Value:
    chosen, a, b = [f.values[x] for x in i.args]
    return selected(chosen, a, b)


def selected(chosen: V, a: Value, b: Value) -> Value:
    if isinstance(a, V):
        return arithmetic.select(chosen, a, b)
    if isinstance(a, list):
        return [selected(chosen, x, y) for x, y in zip(a, b, strict=True)]
    return merged(chosen.d, a, b)


# -- calls and arithmetic --------------------------------------------------------------------------


@handles(ops.OpFunctionCall)
def _call(m: Machine, f: Frame, i: Inst) -> Value:
    function = i.args[0]
    assert isinstance(function, Function)
    value = m.call(function, [f.values[a] for a in i.args[1:]], f.mask)
    if m.dead.any():
        f.mask = f.mask & ~m.dead
        f.full = bool(f.mask.all())
    if value is None and i.type is not None and i.type.op != ops.OpTypeVoid:
        return m.kinds.filled(i.type, True)
    return value


def _lanewise(m: Machine, f: Frame, i: Inst) -> Value:
    values = f.values
    given = [values[a] for a in i.args]
    return m.kinds.unknown(given, arithmetic.lanewise(i.op, given))


for _op in (*arithmetic.LANES, *arithmetic.DOUBTFUL):
    HANDLERS[_op] = _lanewise


@handles(ops.OpLogicalAnd, ops.OpLogicalOr)
def _logical(m: Machine, f: Frame, i: Inst) -> Value:
    return arithmetic.logical(i.op, f.values[i.args[0]], f.values[i.args[1]])


@handles(ops.OpAny, ops.OpAll)
def _any(m: Machine, f: Frame, i: Inst) -> Value:
    a = f.values[i.args[0]]
    d = a.d.any(axis=0) if i.op == ops.OpAny else a.d.all(axis=0)
    return V(d, across(a.u))


@handles(*arithmetic.CONVERSIONS)
def _convert(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None and i.args[0].type is not None
    return arithmetic.converted(m.kinds, i.op, i.type, i.args[0].type, f.values[i.args[0]])


@handles(ops.OpBitcast)
def _bitcast(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None and i.args[0].type is not None
    value, source = f.values[i.args[0]], i.args[0].type
    if isinstance(value, MemoryAddress):
        if i.type.op in types.POINTERS:
            return address_of(m, number_of(value), i.type)
        value = number_of(value)
        return value if i.type.op == ops.OpTypeInt else _pair(value)
    if i.type.op in types.POINTERS:
        return address_of(m, value if value.d.ndim == 1 else _whole(value), i.type)
    return arithmetic.bitcast(m.kinds, i.type, source, value)


def _pair(value: V) -> V:
    low, high = value.d.astype(np.uint32), (value.d >> np.uint64(32)).astype(np.uint32)
    return V(np.stack([low, high]), value.u)


def _whole(value: V) -> V:
    d = value.d[0].astype(np.uint64) | value.d[1].astype(np.uint64) << np.uint64(32)
    return V(d, across(value.u))


@handles(ops.OpIAddCarry, ops.OpISubBorrow, ops.OpUMulExtended, ops.OpSMulExtended)
def _wide(m: Machine, f: Frame, i: Inst) -> Value:
    return arithmetic.wide(i.op, f.values[i.args[0]], f.values[i.args[1]])


@handles(ops.OpBitFieldSExtract, ops.OpBitFieldUExtract)
def _field(m: Machine, f: Frame, i: Inst) -> Value:
    base, offset, count = [f.values[a] for a in i.args]
    return arithmetic.field_extract(base, offset, count, i.op == ops.OpBitFieldSExtract)


@handles(ops.OpBitFieldInsert)
def _field_insert(m: Machine, f: Frame, i: Inst) -> Value:
    base, insert, offset, count = [f.values[a] for a in i.args]
    return arithmetic.field_insert(base, insert, offset, count)


@handles(ops.OpBitReverse)
def _reverse(m: Machine, f: Frame, i: Inst) -> Value:
    return arithmetic.bit_reverse(f.values[i.args[0]])


@handles(ops.OpDot)
def _dot(m: Machine, f: Frame, i: Inst) -> Value:
    return arithmetic.dot(f.values[i.args[0]], f.values[i.args[1]])


@handles(ops.OpVectorTimesScalar)
def _times(m: Machine, f: Frame, i: Inst) -> Value:
    return arithmetic.times_scalar(f.values[i.args[0]], f.values[i.args[1]])


@handles(ops.OpMatrixTimesScalar)
def _matrix_times_scalar(m: Machine, f: Frame, i: Inst) -> Value:
    by = f.values[i.args[1]]
    return [arithmetic.times_scalar(column, by) for column in f.values[i.args[0]]]


@handles(ops.OpMatrixTimesVector)
def _matrix_times(m: Machine, f: Frame, i: Inst) -> Value:
    return arithmetic.matrix_times_vector(f.values[i.args[0]], f.values[i.args[1]])


@handles(ops.OpVectorTimesMatrix)
def _vector_times(m: Machine, f: Frame, i: Inst) -> Value:
    vector = f.values[i.args[0]]
    return stacked([arithmetic.dot(vector, column) for column in f.values[i.args[1]]])


@handles(ops.OpMatrixTimesMatrix)
def _matrices(m: Machine, f: Frame, i: Inst) -> Value:
    left, right = f.values[i.args[0]], f.values[i.args[1]]
    return [arithmetic.matrix_times_vector(left, column) for column in right]


@handles(ops.OpTranspose)
def _transpose(m: Machine, f: Frame, i: Inst) -> Value:
    return arithmetic.transposed(f.values[i.args[0]])


@handles(ops.OpOuterProduct)
def _outer(m: Machine, f: Frame, i: Inst) -> Value:
    left, right = f.values[i.args[0]], f.values[i.args[1]]
    return [arithmetic.times_scalar(left, part) for part in rows(right)]


# -- extended instructions -------------------------------------------------------------------------


@handles(ops.OpExtInst)
def _extended(m: Machine, f: Frame, i: Inst) -> Value:
    name = name_of_set(i.args[0])
    if says_nothing(name):
        return V(np.zeros(1, dtype=np.uint32))
    number = i.imm[0]
    if name != "GLSL.std.450":
        raise m.refuse(f"the instructions of {name}", i)
    if number in _INTERPOLATES:
        return interpolated(m, f, i)
    given = [f.values[a] for a in i.args[1:]]
    if number in (glsl.Glsl_Modf, glsl.Glsl_Frexp):
        first, second = extended.split(number, given[0])
        stored(m, f, given[1], second, i)
        return first
    if number in (glsl.Glsl_ModfStruct, glsl.Glsl_FrexpStruct):
        return list(extended.split(number, given[0]))
    if number == glsl.Glsl_Determinant:
        return extended.determinant(given[0])
    if number == glsl.Glsl_MatrixInverse:
        return extended.inverse(given[0])
    assert i.type is not None and i.args[1].type is not None
    if number in (glsl.Glsl_PackDouble2x32, glsl.Glsl_UnpackDouble2x32):
        return arithmetic.bitcast(m.kinds, i.type, i.args[1].type, given[0])
    made = extended.lanewise(number, given)
    if made is not None:
        made = m.kinds.unknown(given, made)
    if made is None:
        made = extended.of_vectors(number, given)
    if made is None:
        float_type = np.float64 if m.kinds.loose else np.float32
        made = extended.packed(number, given[0], float_type)
    if made is None:
        raise m.refuse(f"instruction {number} of GLSL.std.450 is not interpreted", i)
    return made


_INTERPOLATES = frozenset((
    glsl.Glsl_InterpolateAtCentroid, glsl.Glsl_InterpolateAtSample, glsl.Glsl_InterpolateAtOffset,
))  # fmt: skip


def interpolated(m: Machine, f: Frame, i: Inst) -> Value:
    operand = f.values[i.args[2]] if len(i.args) > 2 else None
    at = f.values[i.args[1]]
    if m.on_interpolate is None or not isinstance(at, MemoryPointer):
        raise m.refuse("an interpolation here", i)
    return m.on_interpolate(at, i.imm[0], operand, f.mask)


# -- derivatives -----------------------------------------------------------------------------------


def derivative(m: Machine, mask: Array, value: V, downward: bool, coarse: bool) -> V:
    """The difference in a quad of (left, right; below: left, right). Where one of the four is not
    there nobody knows it."""
    if not m.quads:
        return V(np.zeros(value.d.shape, dtype=value.d.dtype))
    wide = np.broadcast_to(value.d, (*value.d.shape[:-1], m.count))
    quad = wide.reshape(*wide.shape[:-1], -1, 4)
    high, low = ([2, 3, 2, 3], [0, 1, 0, 1]) if downward else ([1, 1, 3, 3], [0, 0, 2, 2])
    if coarse:
        high, low = ([2] * 4, [0] * 4) if downward else ([1] * 4, [0] * 4)
    d = (quad[..., high] - quad[..., low]).reshape(wide.shape)
    u = None
    if value.u is not None:
        spread = np.broadcast_to(value.u, wide.shape).reshape(quad.shape)
        u = (spread[..., high] | spread[..., low]).reshape(wide.shape)
    away = ~mask.reshape(-1, 4).all(axis=1)
    if away.any():
        u = either(u, np.repeat(away, 4))
    return V(d, u)


_COARSE = frozenset((ops.OpDPdxCoarse, ops.OpDPdyCoarse, ops.OpFwidthCoarse))


@handles(
    ops.OpDPdx, ops.OpDPdy, ops.OpDPdxFine, ops.OpDPdyFine, ops.OpDPdxCoarse, ops.OpDPdyCoarse
)  # fmt: skip
def _derivative(m: Machine, f: Frame, i: Inst) -> Value:
    downward = i.op in (ops.OpDPdy, ops.OpDPdyFine, ops.OpDPdyCoarse)
    return derivative(m, f.mask, f.values[i.args[0]], downward, i.op in _COARSE)


@handles(ops.OpFwidth, ops.OpFwidthFine, ops.OpFwidthCoarse)
def _width(m: Machine, f: Frame, i: Inst) -> Value:
    both = [
        derivative(m, f.mask, f.values[i.args[0]], way, i.op in _COARSE) for way in (False, True)
    ]
    return V(np.abs(both[0].d) + np.abs(both[1].d), either(both[0].u, both[1].u))


# -- the rest --------------------------------------------------------------------------------------


@handles(ops.OpControlBarrier, ops.OpMemoryBarrier, ops.OpNop)
def _nothing(m: Machine, f: Frame, i: Inst) -> Value:
    return None


@handles(ops.OpEmitVertex, ops.OpEndPrimitive, ops.OpEmitStreamVertex, ops.OpEndStreamPrimitive)
def _emit(m: Machine, f: Frame, i: Inst) -> Value:
    stream = 0
    if i.args:
        stream = int(f.values[i.args[0]].d[0])
    if m.on_emit is None:
        raise m.refuse("an emission here", i)
    m.on_emit(stream, f.mask, i.op in (ops.OpEmitVertex, ops.OpEmitStreamVertex))
    return None


@handles(ops.OpSetMeshOutputsEXT)
def _outputs(m: Machine, f: Frame, i: Inst) -> Value:
    if m.on_outputs is None:
        raise m.refuse("mesh outputs here", i)
    m.on_outputs(f, i)
    return None


@handles(ops.OpDemoteToHelperInvocation)
def _demote(m: Machine, f: Frame, i: Inst) -> Value:
    m.helper = m.helper | f.mask
    m.discarded = m.discarded | f.mask
    return None


@handles(ops.OpIsHelperInvocationEXT)
def _is_helper(m: Machine, f: Frame, i: Inst) -> Value:
    return V(m.helper.copy())


def noted(log: list[MemoryEntry], place: str, mask: Array, at: Any, value: V, kind: str) -> None:
    """One store of a scalar, for comparison."""
    count = len(mask)
    u = None if value.u is None else np.broadcast_to(value.u, (count,))[mask]
    where = np.broadcast_to(np.asarray(at, dtype=np.int64), (count,))[mask]
    data = np.broadcast_to(value.d, (count,))[mask]
    log.append(MemoryEntry(place, kind, np.nonzero(mask)[0], where, data, u))
