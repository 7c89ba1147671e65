"""What a pipeline finds when it runs: buffers, images, constants, all from a seed.

The same seed gives the same world to both pipelines. What is in a buffer follows the types with
which the original declares it.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np

from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.options import Options
from spvlink.verifier.known import KnownState
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.memory import DESCRIPTORS, MemoryAddress, Region, size_in_buffer
from spvlink.verifier.machine.values import FLOATS, UNSIGNED, Array, NotInterpreted, Value

HEAP: Final = 1 << 32  # where addresses of buffers begin
HEAP_SIZE: Final = 1 << 16
FLOAT_SEEDS: Final = 5
SEEDS_OF_INTEGERS: Final = 6
EDGES: Final = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-42, -1e-42, 3e38, 1e-30, 1.0, -1.0)


class Dice:
    """Random numbers of a name: of the seed, and such as all seeds have."""

    def __init__(self, seed: int, key: int) -> None:
        self.seeded = np.random.Generator(np.random.PCG64((seed + 1) * 7919 + key))
        self.fixed = np.random.Generator(np.random.PCG64(key))


class World:
    """``seed``: 0 has ordinary numbers, others wider ones; ``edges``: with NaN and the like;
    ``loose``: floats are doubles."""

    def __init__(self, seed: int, options: Options, loose: bool, edges: bool) -> None:
        self.seed = seed
        self.options = options
        self.known = KnownState(options)
        self.loose = loose
        self.edges = edges
        self.ones = False  # what is undefined
        self.regions: dict[object, Region] = {}
        self.images: dict[object, Array] = {}
        self.images_undefined: dict[object, Array] = {}
        self.heap_end = 256
        self.heap_of: dict[str, int] = {}
        self.notes: dict[object, Any] = {}  # what the first run decides for both

    def fresh(self) -> World:
        """The same world, untouched, for the other pipeline."""
        made = World(self.seed, self.options, self.loose, self.edges)
        made.regions = {key: region.copied() for key, region in self.regions.items()}
        made.images = {key: image.copy() for key, image in self.images.items()}
        made.heap_end, made.heap_of = self.heap_end, dict(self.heap_of)
        made.notes = self.notes
        return made

    def random(self, *name: object) -> np.random.Generator:
        return self.dice(*name).seeded

    def dice(self, *name: object) -> Dice:
        return Dice(self.seed, zlib.crc32(repr(name).encode()))

    # -- numbers -----------------------------------------------------------------------------------

    def floats(self, random: np.random.Generator, count: int) -> Array:
        kind = self.seed % FLOAT_SEEDS
        if kind == 0:
            numbers = random.uniform(0.1, 1.5, count)
        elif kind == 1:
            numbers = random.uniform(-2, 2, count)
        elif kind == 2:
            numbers = random.choice([0.0, 1.0, -1.0, 0.5, 2.0, 0.25], count)
        elif kind == 3:
            numbers = random.uniform(-1, 1, count) * 10.0 ** random.integers(-3, 4, count)
        else:
            numbers = np.full(count, random.uniform(0.2, 0.9))
        if self.edges:
            numbers = np.where(random.random(count) < 0.12, random.choice(EDGES, count), numbers)
        return numbers

    def near_identity(self, raw: Array, scalar: Inst, line: int) -> Array:
        """A line of a matrix that changes little, as those of real scenes do."""
        small = raw.view(FLOATS[scalar.imm[0]]) * FLOATS[scalar.imm[0]](0.125)
        if line < len(small):
            small[line] += 1
        return np.asarray(small.view(raw.dtype))

    def integers(self, dice: Dice, count: int, width: int) -> Array:
        """Small ones, each of 0 to 3 with one of four seeds, since much code asks for these; with
        later seeds others, too."""
        numbers = ((dice.fixed.integers(0, 4, count) + self.seed) % 4).astype(UNSIGNED[width])
        if self.seed % SEEDS_OF_INTEGERS > 3:
            top = (1 << width) - 1
            odd = dice.seeded.choice([top, top >> 1, (top >> 1) + 1, top - 4], count)
            wide = dice.seeded.integers(0, 256 if width > 8 else 128, count)
            which = dice.seeded.random(count)
            other = np.where(which < 0.2, odd.astype(numbers.dtype), wide.astype(numbers.dtype))
            numbers = np.where(which < 0.6, other, numbers)
        return numbers

    def bits(self, dice: Dice, type: Inst, count: int) -> Array:
        """Bit patterns of a numeric scalar."""
        width = type.imm[0]
        if type.op == ops.OpTypeFloat and types.is_ieee(type):
            with np.errstate(all="ignore"):
                made = self.floats(dice.seeded, count).astype(FLOATS[width])
            return made.view(UNSIGNED[width])
        return self.integers(dice, count, width)

    # -- buffers -----------------------------------------------------------------------------------

    def region(self, key: object, stage: MachineStage, type: Inst, count: int) -> Region:
        region = self.regions.get(key)
        if region is None:
            size = max(size_in_buffer(stage, type), 16)
            size = (size + 63) // 64 * 64
            data = np.zeros(size * count, dtype=np.uint8)
            region = self.regions[key] = Region(str(key), data, size)
            self.fill_region(region, key, stage, type)
        return region

    def fill_region(self, region: Region, key: object, stage: MachineStage, type: Inst) -> None:
        """Put seeded numbers where this declaration has scalars and none before it has."""
        random = self.dice("buffer", key)
        if not size_in_buffer(stage, type):
            region.data[:] = random.seeded.integers(0, 4, len(region.data))
        for at in range(0, len(region.data), region.size):
            self.fill(random, stage, region, at, type)

    def fill(
        self, random: Any, stage: MachineStage, region: Region, at: int, type: Inst,
        stride: int = 0, by_row: bool = False,
    ) -> None:  # fmt: skip
        """Put seeded numbers where a type has its scalars."""
        if type.op in info.NUMBER_TYPES:
            region.fill(at, self.bits(random, type, 1))
        elif type.op in types.POINTERS:
            address = self.allocated(stage, type)
            region.fill(at, np.array([address], dtype=np.uint64))
        elif type.op == ops.OpTypeVector:
            region.fill(at, self.bits(random, type.args[0], type.imm[0]))
        elif type.op == ops.OpTypeMatrix:
            rows, columns = type.args[0].imm[0], type.imm[0]
            lines, width = (rows, columns) if by_row else (columns, rows)
            scalar = type.args[0].args[0]
            for n in range(lines):
                raw = self.bits(random, scalar, width)
                if self.seed % 2 and scalar.op == ops.OpTypeFloat:
                    raw = self.near_identity(raw, scalar, n)
                region.fill(at + n * stride, raw)
        elif type.op == ops.OpTypeStruct:
            for n, part in enumerate(type.args):
                offset = stage.member(type, n, enums.Decoration_Offset) or 0
                own = stage.member(type, n, enums.Decoration_MatrixStride) or 0
                rows_first = stage.member(type, n, enums.Decoration_RowMajor) is not None
                self.fill(random, stage, region, at + offset, part, own, rows_first)
        else:
            by = stage.find(type, enums.Decoration_ArrayStride) or 0
            for n in range(types.size_of(type) or 64):
                self.fill(random, stage, region, at + n * by, type.args[0], stride, by_row)

    def heap(self) -> Region:
        region = self.regions.get("heap")
        if region is None:
            data = np.zeros(HEAP_SIZE, dtype=np.uint8)
            region = self.regions["heap"] = Region("heap", data, HEAP_SIZE)
        return region

    def allocated(self, stage: MachineStage, pointer: Inst) -> int:
        """The address of a buffer of what a pointer points to."""
        key = _shape(pointer, 3)
        if key in self.heap_of:
            return HEAP + self.heap_of[key]
        at = self.heap_of[key] = self.heap_end
        if pointer.op != ops.OpTypePointer:
            return HEAP + at
        size = size_in_buffer(stage, pointer.args[0])
        count = max(1, min(16, 2048 // max(size, 1)))
        self.heap_end += (size * count + 255) // 256 * 256
        if self.heap_end > HEAP_SIZE:
            raise NotInterpreted("too many buffers behind addresses", stage.name)
        random = self.dice("heap", key)
        for n in range(count):
            self.fill(random, stage, self.heap(), at + n * size, pointer.args[0])
        return HEAP + at


def _shape(type: Inst, depth: int) -> str:
    """A type as text, so that both pipelines have one buffer for it."""
    if not depth:
        return "..."
    parts = ", ".join(_shape(a, depth - 1) for a in type.args if a.type is None)
    return f"{type.op}{type.imm}({parts})"


class Handle:
    """An image, a sampler, or both. ``key`` names the descriptor, ``at`` is the index in an array
    of them, ``type`` the OpTypeImage (None: a sampler alone)."""

    __slots__ = ("at", "key", "sampler", "type")

    def __init__(self, key: object, at: Any, type: Inst, sampler: object = None) -> None:
        self.key = key
        self.at = at
        self.type = type
        self.sampler = sampler

    def merged(self, mask: Array, old: Value) -> Handle:
        if old is None or (old.key == self.key and old.sampler == self.sampler):
            made = Handle(self.key, self.at, self.type, self.sampler)
            if old is not None:
                made.at = np.where(mask, np.asarray(self.at), np.asarray(old.at))
            return made
        raise NotInterpreted("a choice between images")


def resource_of(stage: MachineStage, world: World, variable: Inst) -> Value:
    """The pointer that a variable of a resource is."""
    assert variable.type is not None
    type = variable.type.args[0]
    key, block, count = declared(stage, variable)
    if variable.imm[0] == enums.StorageClass_UniformConstant:
        return Handle(key, 0, type)
    return MemoryAddress(world.region(key, stage, block, count), _ZERO, type, _ZERO)


def declared(stage: MachineStage, variable: Inst) -> tuple[object, Inst, int]:
    """What names the resource of a variable; the type of one of them; how many there are."""
    assert variable.type is not None
    block, count = variable.type.args[0], 1
    if variable.imm[0] == enums.StorageClass_PushConstant:
        return "push", block, count
    while block.op in (ops.OpTypeArray, ops.OpTypeRuntimeArray):
        block, count = block.args[0], DESCRIPTORS
    place = (
        stage.find(variable, enums.Decoration_DescriptorSet) or 0,
        stage.find(variable, enums.Decoration_Binding) or 0,
    )
    return place, block, count


_ZERO: Final = np.zeros(1, dtype=np.int64)


def prepared(world: World, stages: list[MachineStage]) -> None:
    """Make all buffers of a pipeline. The largest declaration of one says how large it is; bytes
    that only another one names are filled as that one says."""
    buffers: list[tuple[int, int, MachineStage, Inst]] = []
    for stage in stages:
        for storage in _BUFFERS:
            for variable in stage.variables(storage):
                assert variable.type is not None
                type = variable.type.args[0]
                while type.op == ops.OpTypeArray or (
                    type.op == ops.OpTypeRuntimeArray
                    and stage.find(type, enums.Decoration_ArrayStride) is None
                ):
                    type = type.args[0]
                buffers.append((-size_in_buffer(stage, type), len(buffers), stage, variable))
    for _, _, stage, variable in sorted(buffers, key=lambda one: one[:2]):
        key, type, _ = declared(stage, variable)
        known = world.regions.get(key)
        resource_of(stage, world, variable)
        if known is not None:
            world.fill_region(known, key, stage, type)


_BUFFERS: Final = (
    enums.StorageClass_PushConstant, enums.StorageClass_Uniform, enums.StorageClass_StorageBuffer,
)  # fmt: skip
