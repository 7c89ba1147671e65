"""Images: what a lookup gives is a smooth function of all that it is asked with (coordinates,
level, reference, descriptors); texels that are read and written by number are an array."""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.verifier.machine.engine import Frame, Machine
from spvlink.verifier.machine.instructions import derivative, handles
from spvlink.verifier.machine.memory import DESCRIPTORS, MemoryEntry
from spvlink.verifier.machine.values import Array, V, Value, either, rows, stacked
from spvlink.verifier.machine.world import Handle, World

WIDE: Final = 32  # texels in x and y; DEEP layers of them
DEEP: Final = 4
LEVELS: Final = 5
SAMPLES: Final = 4
_DIM_BUFFER: Final = enums.Dim_Buffer
_SIZES: Final = {
    enums.Dim_1D: 1, enums.Dim_2D: 2, enums.Dim_3D: 3, enums.Dim_Cube: 2,
    enums.Dim_Rect: 2, enums.Dim_Buffer: 1, enums.Dim_SubpassData: 2,
}  # fmt: skip


def image_type(handle: Handle) -> Inst:
    type = handle.type
    return type.args[0] if type.op == ops.OpTypeSampledImage else type


@handles(ops.OpSampledImage)
def _combined(m: Machine, f: Frame, i: Inst) -> Value:
    image, sampler = f.values[i.args[0]], f.values[i.args[1]]
    return Handle(image.key, image.at, image.type, (sampler.key, _plain(sampler.at)))


def _plain(at: Any) -> Any:
    return tuple(np.asarray(at).ravel().tolist())


@handles(ops.OpImage)
def _image(m: Machine, f: Frame, i: Inst) -> Value:
    handle = f.values[i.args[0]]
    return Handle(handle.key, handle.at, image_type(handle))


class Operands:
    """The image operands of an instruction, read by their mask."""

    def __init__(self, m: Machine, f: Frame, mask: int, args: list[Inst]) -> None:
        self.bias: V | None = None
        self.lod: V | None = None
        self.gradients: list[V] = []
        self.extra: list[V] = []
        self.sample: V | None = None
        rest = [f.values[a] for a in args]
        if mask & enums.ImageOperands_Bias:
            self.bias = rest.pop(0)
        if mask & enums.ImageOperands_Lod:
            self.lod = rest.pop(0)
        if mask & enums.ImageOperands_Grad:
            self.gradients = [rest.pop(0), rest.pop(0)]
        for bit in (enums.ImageOperands_ConstOffset, enums.ImageOperands_Offset):
            if mask & bit:
                self.extra.append(rest.pop(0))
        if mask & enums.ImageOperands_ConstOffsets:
            rest.pop(0)
        if mask & enums.ImageOperands_Sample:
            self.sample = rest.pop(0)
        if mask & enums.ImageOperands_MinLod:
            self.extra.append(rest.pop(0))


def floats(value: V) -> list[V]:
    """The components as doubles."""
    made = []
    for part in rows(value):
        d = part.d
        if d.dtype.kind == "u":
            d = d.view(f"i{d.dtype.itemsize}")
        made.append(V(d.astype(np.float64), part.u))
    return made


def looked_up(m: Machine, handle: Handle, terms: list[V], component: V | int | None) -> list[V]:
    """Four numbers that come from all the terms, smoothly."""
    seed = zlib.crc32(repr((m.world.seed, handle.key, handle.sampler)).encode())
    random = np.random.Generator(np.random.PCG64(seed))
    made = []
    u = either(*[t.u for t in terms])
    at = np.atleast_1d(np.asarray(handle.at, dtype=np.float64))
    for _ in range(4):
        weights = random.uniform(0.5, 2.5, len(terms) + 2)
        phase: Any = weights[-1] * 3 + at * 0.73
        if component is not None:
            number = component if isinstance(component, int) else component.d.astype(np.float64)
            phase = phase + number * weights[-2]
        for term, weight in zip(terms, weights):
            phase = phase + term.d * weight
        made.append(V(0.5 + 0.5 * np.sin(phase), u))
    return made


def as_texel(m: Machine, type: Inst, parts: list[V]) -> V:
    """Numbers from 0 to 1 as the texel type is."""
    scalar = type.args[0] if type.op == ops.OpTypeVector else type
    dtype = m.kinds.dtype(scalar)
    made = []
    for part in parts:
        d = part.d if dtype.kind == "f" else np.floor(np.nan_to_num(part.d) * 7.99)
        made.append(V(d.astype(dtype), part.u))
    return stacked(made[: type.imm[0]]) if type.op == ops.OpTypeVector else made[0]


_DREF: Final = frozenset((
    ops.OpImageSampleDrefImplicitLod, ops.OpImageSampleDrefExplicitLod,
    ops.OpImageSampleProjDrefImplicitLod, ops.OpImageSampleProjDrefExplicitLod,
    ops.OpImageDrefGather,
))  # fmt: skip
_PROJECTED: Final = frozenset((
    ops.OpImageSampleProjImplicitLod, ops.OpImageSampleProjExplicitLod,
    ops.OpImageSampleProjDrefImplicitLod, ops.OpImageSampleProjDrefExplicitLod,
))  # fmt: skip
_IMPLICIT: Final = frozenset((
    ops.OpImageSampleImplicitLod, ops.OpImageSampleDrefImplicitLod,
    ops.OpImageSampleProjImplicitLod, ops.OpImageSampleProjDrefImplicitLod,
))  # fmt: skip
_GATHERS: Final = frozenset((ops.OpImageGather, ops.OpImageDrefGather))


@handles(*_IMPLICIT, *_DREF, *_PROJECTED, *_GATHERS, ops.OpImageSampleExplicitLod)
def _sample(m: Machine, f: Frame, i: Inst) -> Value:
    handle = f.values[i.args[0]]
    coordinates = floats(f.values[i.args[1]])
    rest = list(i.args[2:])
    terms: list[V] = []
    component: V | None = None
    if i.op in _DREF:
        terms += floats(f.values[rest.pop(0)])
    if i.op == ops.OpImageGather:
        component = f.values[rest.pop(0)]
    operands = Operands(m, f, i.imm[0] if i.imm else 0, rest)
    image = image_type(handle)
    used = _SIZES[image.imm[0]] + (image.imm[0] == enums.Dim_Cube) + bool(image.imm[2])
    if i.op in _PROJECTED:
        q = coordinates[used]
        coordinates = [V(c.d / q.d, either(c.u, q.u)) for c in coordinates[:used]]
    else:
        coordinates = coordinates[:used]
    if i.op in _IMPLICIT:
        coordinates += level_terms(m, f, coordinates, operands.bias)
    if operands.lod is not None:
        terms += floats(operands.lod)
    for gradient in (*operands.gradients, *operands.extra):
        terms += floats(gradient)
    parts = looked_up(m, handle, [*coordinates, *terms], component)
    type = i.type
    assert type is not None
    if i.op in _DREF and i.op not in _GATHERS:
        parts = parts[:1]
    return as_texel(m, type, parts)


def level_terms(m: Machine, f: Frame, coordinates: list[V], bias: V | None) -> list[V]:
    """What the implicit level comes from: the differences in the quad, and the bias."""
    made: list[V] = []
    if m.quads:
        for part in coordinates:
            for downward in (False, True):
                by = derivative(m, f.mask, part, downward, False)
                made.append(V(0.2 * by.d, by.u))
    return made + (floats(bias) if bias is not None else [])


# -- texels by number ------------------------------------------------------------------------------


def texels_of(world: World, key: object) -> Array:
    """The texels of all descriptors of a variable: (texel, channel), as numbers from 0 to 1."""
    texels = world.images.get(key)
    if texels is None:
        count = DESCRIPTORS * WIDE * WIDE * DEEP
        random = world.random("texels", key)
        texels = world.images[key] = random.random((count, 4))
    return texels


def texel_at(m: Machine, f: Frame, handle: Handle, coordinates: V, operands: Operands) -> V:
    """Which texel it is, in all of the variable's."""
    parts = [rows(coordinates)[n] for n in range(len(rows(coordinates)))]
    numbers = [p.d.view(f"i{p.d.dtype.itemsize}").astype(np.int64) for p in parts]
    if image_type(handle).imm[0] == enums.Dim_SubpassData:
        place = m.world.notes.get(("pixel", m.count))
        if place is not None:
            numbers = [a + b for a, b in zip(numbers, place)]
    if image_type(handle).imm[0] == _DIM_BUFFER:
        numbers = [numbers[0] % WIDE, numbers[0] // WIDE]
    for offset in operands.extra:
        for n, part in enumerate(rows(offset)):
            numbers[n] = numbers[n] + part.d.view(f"i{part.d.dtype.itemsize}")
    at: Any = numbers[0] % WIDE
    if len(numbers) > 1:
        at = at + numbers[1] % WIDE * WIDE
    deep: Any = numbers[2] if len(numbers) > 2 else 0
    for more in (operands.lod, operands.sample):
        if more is not None:
            deep = deep + more.d.astype(np.int64)
    at = at + deep % DEEP * WIDE * WIDE
    at = at + np.asarray(handle.at) % DESCRIPTORS * WIDE * WIDE * DEEP
    return V(np.atleast_1d(at), either(*[p.u for p in parts]))


def scaled(m: Machine, type: Inst, raw: Array) -> Array:
    """A number of a texel as its type has it."""
    dtype = m.kinds.dtype(type)
    if dtype.kind == "f":
        return raw.astype(dtype)
    return np.where(raw < 1, np.floor(raw * 7.99), raw - 1).astype(np.int64).astype(dtype)


def kept(type: Inst, data: Array) -> Array:
    """The same, to be stored: integers from 1 on, so that they are not taken for fractions."""
    texels = data.astype(np.float64)
    return texels if data.dtype.kind == "f" else texels + 1


@handles(ops.OpImageFetch, ops.OpImageRead)
def _read(m: Machine, f: Frame, i: Inst) -> Value:
    handle = f.values[i.args[0]]
    operands = Operands(m, f, i.imm[0] if i.imm else 0, list(i.args[2:]))
    at = texel_at(m, f, handle, f.values[i.args[1]], operands)
    texels = texels_of(m.world, handle.key)[at.d]
    undefined = m.world.images_undefined.get(handle.key)
    u = either(at.u, None if undefined is None else undefined[at.d])
    type = i.type
    assert type is not None
    count = type.imm[0] if type.op == ops.OpTypeVector else 1
    scalar = type.args[0] if type.op == ops.OpTypeVector else type
    parts = [V(scaled(m, scalar, texels[..., n]), u) for n in range(count)]
    return stacked(parts) if type.op == ops.OpTypeVector else parts[0]


@handles(ops.OpImageWrite)
def _write(m: Machine, f: Frame, i: Inst) -> Value:
    handle, value = f.values[i.args[0]], f.values[i.args[2]]
    operands = Operands(m, f, i.imm[0] if i.imm else 0, list(i.args[3:]))
    at = texel_at(m, f, handle, f.values[i.args[1]], operands)
    mask = m.acting(f)
    if not mask.any():
        return None
    texels = texels_of(m.world, handle.key)
    where = np.broadcast_to(at.d, (m.count,))[mask]
    lanes = np.nonzero(mask)[0]
    type = i.args[2].type
    assert type is not None
    for n, part in enumerate(rows(value)):
        data = np.broadcast_to(part.d, (m.count,))[mask]
        u = either(part.u, at.u)
        known = None if u is None else np.broadcast_to(u, (m.count,))[mask]
        texels[where, n] = kept(type, data)
        kind = "float" if data.dtype.kind == "f" else "int"
        m.log.append(MemoryEntry(f"image {handle.key}", kind, lanes, where * 4 + n, data, known))
        marks = m.world.images_undefined.get(handle.key)
        if known is not None and marks is None:
            marks = m.world.images_undefined[handle.key] = np.zeros(len(texels), dtype=bool)
        if marks is not None:
            marks[where] = False if known is None else known
    return None


# -- questions -------------------------------------------------------------------------------------


def _number(m: Machine, i: Inst, numbers: list[int]) -> Value:
    assert i.type is not None
    dtype = m.kinds.dtype(i.type)
    parts = [V(np.array([n], dtype=dtype)) for n in numbers]
    return stacked(parts) if i.type.op == ops.OpTypeVector else parts[0]


@handles(ops.OpImageQuerySize, ops.OpImageQuerySizeLod)
def _size(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None
    count = i.type.imm[0] if i.type.op == ops.OpTypeVector else 1
    size = [WIDE, WIDE, DEEP][:count]
    if i.op == ops.OpImageQuerySize:
        return _number(m, i, size)
    level = f.values[i.args[1]]
    by = np.clip(level.d.view(f"i{level.d.dtype.itemsize}"), 0, LEVELS)
    dtype = m.kinds.dtype(i.type)
    parts = [V(np.maximum(n >> by, 1).astype(dtype), level.u) for n in size]
    return stacked(parts) if i.type.op == ops.OpTypeVector else parts[0]


@handles(ops.OpImageQueryLevels)
def _levels(m: Machine, f: Frame, i: Inst) -> Value:
    return _number(m, i, [LEVELS])


@handles(ops.OpImageQuerySamples)
def _samples(m: Machine, f: Frame, i: Inst) -> Value:
    return _number(m, i, [SAMPLES])


@handles(ops.OpImageQueryLod)
def _lod(m: Machine, f: Frame, i: Inst) -> Value:
    handle = f.values[i.args[0]]
    parts = level_terms(m, f, floats(f.values[i.args[1]]), None)
    assert i.type is not None
    return as_texel(m, i.type, looked_up(m, handle, parts, None))


class Texel:
    """The pointer to a texel that OpImageTexelPointer makes."""

    __slots__ = ("at", "handle", "type")

    def __init__(self, handle: Handle, at: V, type: Inst) -> None:
        self.handle = handle
        self.at = at
        self.type = type


@handles(ops.OpImageTexelPointer)
def _texel_pointer(m: Machine, f: Frame, i: Inst) -> Value:
    assert i.type is not None
    operands = Operands(m, f, 0, [])
    operands.sample = f.values[i.args[2]]
    handle = f.values[i.args[0]]
    at = texel_at(m, f, handle, f.values[i.args[1]], operands)
    return Texel(handle, at, i.type.args[0])
