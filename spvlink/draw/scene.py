"""The inputs of a draw: everything a pipeline reads, made from its original modules.

A Scene is plain data (numpy arrays), seeded, and independent of Vulkan objects, so that the very
same inputs go to the original and to the linked stages and can be sent to another process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spvlink.draw import chain, formats
from spvlink.draw.reflect import (
    ARRAY_STRIDE,
    FRAGMENT,
    GEOMETRY,
    MESH,
    TASK,
    TESS_CONTROL,
    TESS_EVALUATION,
    VERTEX,
    CannotDraw,
    Numeric,
    ReadStage,
    Resource,
)

Code = bytes | tuple[bytes, str] | tuple[bytes, str, int]

RUNTIME_DESCRIPTORS = 64  # elements of a runtime-sized descriptor array
RUNTIME_BYTES = 65536  # of a runtime-sized array in a buffer, at most 1024 elements
VARIANTS = 6

_SIGNED = re.compile(r"pos|norm|dir|tangent|binormal|vert|coord3|velocity|axis", re.I)
_LIMIT = re.compile(r"max_?count|capacity", re.I)  # an integer that a counter is held against
_MESHLET = re.compile(r"(index|vertex|triangle|primitive)_?count", re.I)  # enough to see it
_LINKED_LIST = re.compile(r"linked_?list", re.I)
_LIST_END = 0xFFFFFFFF
_VERTEX_INDEX, _INSTANCE_INDEX = 42, 43
_LAYERS = 6  # of every attachment when a shader chooses the layer: a cube's faces
_VIEWPORTS = 4
_WORKGROUPS = ((16, 1, 1), (4, 4, 1), (64, 1, 1), (8, 8, 1), (4, 4, 1), (16, 1, 1))  # by variant
_PATCHES = 48  # each becomes many primitives


@dataclass
class ImageData:
    """One image: format is a VkFormat, levels[i] is uint8 data of mip level i, all layers."""

    format: int
    dim: int
    arrayed: bool
    extent: tuple[int, int, int]
    layers: int
    samples: int
    levels: list[NDArray[np.uint8]]
    clear: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)


@dataclass
class SamplerData:
    compare: bool
    linear: bool


@dataclass
class Pointer:
    """A place in a buffer that holds a device address: of pointee number `target`."""

    offsets: NDArray[np.int64]
    target: int


@dataclass
class BufferData:
    data: NDArray[np.uint8]
    pointers: list[Pointer] = field(default_factory=list)
    format: int = 0  # of texel buffers


@dataclass
class Binding:
    """One binding of the pipeline layout with its descriptors' contents."""

    set: int
    binding: int
    kind: str
    stages: int  # VkShaderStageFlags
    structures: int = 0  # acceleration structures, all of the same few triangles
    buffers: list[BufferData] = field(default_factory=list)
    images: list[ImageData] = field(default_factory=list)
    samplers: list[SamplerData] = field(default_factory=list)
    input_attachment: int = 0

    @property
    def count(self) -> int:
        return max(self.structures, len(self.buffers), len(self.images), len(self.samplers))


@dataclass
class Target:
    location: int
    kind: str  # float, int, uint


@dataclass
class Scene:
    """Everything that a draw needs besides the shader code. Sizes are in pixels."""

    seed: int
    variant: int
    size: int = 64
    samples: int = 1
    topology: int = 3
    patch_vertices: int = 3
    group: int = 3  # vertices of an input primitive
    layers: int = 1
    viewports: int = 1
    groups: tuple[int, int, int] = (0, 0, 0)  # of task or mesh shaders; (0, 0, 0): vertices
    captures: list[chain.Capture] = field(default_factory=list)
    discard: bool = False  # nothing is rasterized: no stage gives a position
    thin: bool = False  # points or lines are drawn
    vertices: int = 0
    instances: int = 2
    attributes: dict[int, tuple[int, NDArray[np.uint8]]] = field(default_factory=dict)
    bindings: list[Binding] = field(default_factory=list)
    pointees: list[BufferData] = field(default_factory=list)
    push: BufferData = field(default_factory=lambda: BufferData(np.zeros(0, np.uint8)))
    push_ranges: list[tuple[int, int]] = field(default_factory=list)  # (stage flag, size)
    targets: list[Target] = field(default_factory=list)
    dual_source: bool = False
    stages: int = 0  # VkShaderStageFlags of all stages
    exact: bool = True  # forbid the driver to reassociate: rewrite.py
    # VkSpecializationInfo: (execution model, SpecId) -> 32-bit word; ids that a stage lacks are no
    # error
    spec: dict[tuple[int, int], int] = field(default_factory=dict)

    def open_to_all(self) -> Scene:
        """A pipeline layout that shows every resource and all push constants to all stages."""
        both = self.stages or 0x1 | 0x10  # VERTEX, FRAGMENT
        for binding in self.bindings:
            binding.stages |= both
        total = max((size for _, size in self.push_ranges), default=0)
        self.push_ranges = [(both, total)] if total else []
        return self


STAGE_FLAGS = {
    VERTEX: 1,
    TESS_CONTROL: 2,
    TESS_EVALUATION: 4,
    GEOMETRY: 8,
    FRAGMENT: 16,
    TASK: 64,
    MESH: 128,
}


_read = lru_cache(maxsize=32)(ReadStage)  # of each picture, and of each scene that is tried


def read_stages(codes: Sequence[Code]) -> list[ReadStage]:
    """Each code is SPIR-V bytes, (bytes, entry point name) or (bytes, name, execution model)."""
    stages = [_read(c) if isinstance(c, bytes) else _read(*c) for c in codes]
    for stage in stages:
        if stage.model not in STAGE_FLAGS:
            raise CannotDraw(f"execution model {stage.model}")
    return chain.in_order(stages)


def make_scene(
    codes: Sequence[Code], seed: int = 0, variant: int = 0, samples: int = 1, size: int = 64
) -> Scene:
    """Inputs for the original stages. Raises CannotDraw with the reason."""
    stages = read_stages(codes)
    return _Maker(stages, Scene(seed, variant, size, samples)).make()


class _Filler:
    """Fills explicitly laid out memory with values that suit each member's type and name."""

    def __init__(self, maker: _Maker, stage: ReadStage, buffer: BufferData) -> None:
        self.maker, self.stage, self.buffer = maker, stage, buffer

    def fill(self, offsets: NDArray[np.int64], type_id: int, name: str) -> None:
        """Writes a value of the type at every offset (bytes)."""
        stage = self.stage
        op, args = stage.module.types[type_id]
        number = stage.numeric(type_id)
        if number is not None:
            values = self.maker.values(number, len(offsets), name)
            self._write(offsets, values.view(np.uint8).reshape(len(offsets), -1))
        elif op in (28, 29):
            stride = stage.array_stride(type_id)
            if op == 28:
                count = stage.module.constants.get(args[1], 1)
            else:
                count = (len(self.buffer.data) - int(offsets[0])) // max(stride, 1)
            self.fill(_spread(offsets, stride, count), args[0], name)
        elif op == 30 and stage.module.names.get(type_id, "").startswith("_MatrixStorage"):
            self._slang_matrix(offsets + stage.offset(type_id, 0), args[0])
        elif op == 30:
            for i, member in enumerate(args):
                label = stage.module.member_names.get((type_id, i), name)
                self._member(offsets + stage.offset(type_id, i), type_id, i, member, label)
        elif op == 32:
            target = self.maker.pointee(stage, type_id, name)
            self.buffer.pointers.append(Pointer(offsets, target))

    def _member(
        self, offsets: NDArray[np.int64], struct: int, index: int, type_id: int, name: str
    ) -> None:
        stage = self.stage
        inner = stage.strip_arrays(type_id)[0]
        if stage.module.types[inner][0] != 24:
            self.fill(offsets, type_id, name)
            return
        while type_id != inner:
            op, args = stage.module.types[type_id]
            stride = stage.array_stride(type_id)
            length = (len(self.buffer.data) - int(offsets[0])) // max(stride, 1)
            count = stage.module.constants.get(args[1], 1) if op == 28 else length
            offsets = _spread(offsets, stride, count)
            type_id = args[0]
        columns, rows = stage.matrix_shape(inner)
        number = stage.numeric(stage.module.types[inner][1][0])
        assert number is not None
        stride, row_major = stage.matrix_stride(struct, index), stage.row_major(struct, index)
        self._matrix(offsets, number, (columns, rows), stride, row_major)

    def _slang_matrix(self, offsets: NDArray[np.int64], array: int) -> None:
        """Slang keeps matrices as struct { vector data[n]; } with a name of its own."""
        column = self.stage.numeric(self.stage.module.types[array][1][0])
        assert column is not None
        columns = self.stage.strip_arrays(array)[1]
        stride = self.stage.array_stride(array)
        self._matrix(offsets, column, (columns, column.count), stride, False)

    def _matrix(
        self,
        offsets: NDArray[np.int64],
        number: Numeric,
        shape: tuple[int, int],
        stride: int,
        row_major: bool,
    ) -> None:
        step = number.width // 8
        matrix = self.maker.matrix(number, len(offsets), *shape)
        for column in range(shape[0]):
            for row in range(shape[1]):
                if row_major:
                    at = offsets + row * stride + column * step
                else:
                    at = offsets + column * stride + row * step
                values = np.ascontiguousarray(matrix[:, column, row])
                self._write(at, values.view(np.uint8).reshape(len(offsets), -1))

    def _write(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        inside = offsets + data.shape[1] <= len(self.buffer.data)
        places = offsets[inside, None] + np.arange(data.shape[1])
        self.buffer.data[places] = data[inside]


def _spread(offsets: NDArray[np.int64], stride: int, count: int) -> NDArray[np.int64]:
    return (offsets[:, None] + stride * np.arange(count)).ravel()


class _Maker:
    """Builds one Scene; the random stream is a function of (seed, variant) alone."""

    def __init__(self, stages: list[ReadStage], scene: Scene) -> None:
        self.stages, self.scene = stages, scene
        self.random = np.random.default_rng([scene.seed, scene.variant, 0x5CE7E])
        self._pointees: dict[tuple[int, int], int] = {}
        resources = [r for stage in stages for r in stage.resources]
        self._linked_lists = any(_LINKED_LIST.search(r.name) for r in resources)
        # An integer may choose the descriptor: it must stay inside the smallest array.
        self._integers = min([4, *(r.count for r in resources if r.count > 1)])

    def make(self) -> Scene:
        self._chain()
        self._targets()
        if self.scene.groups == (0, 0, 0):
            self._vertices()
        self._push()
        self._resources()
        return self.scene

    def _chain(self) -> None:
        """What all stages together ask for."""
        scene, stages = self.scene, self.stages
        for stage in stages:
            scene.stages |= STAGE_FLAGS[stage.model]
        if chain.find(stages, MESH):
            scene.groups = _WORKGROUPS[scene.variant]
        else:
            scene.topology = chain.topology(stages)
            scene.patch_vertices = chain.patch_vertices(stages)
            scene.group = chain.group(stages)
        scene.thin = chain.is_thin(stages)
        scene.captures = chain.captures(stages)
        written = chain.written_builtins(chain.last_before_rasterizer(stages))
        scene.layers = _LAYERS if chain.LAYER in written else 1
        scene.viewports = _VIEWPORTS if chain.VIEWPORT_INDEX in written else 1
        scene.discard = chain.POSITION not in written

    # -- values ----------------------------------------------------------------------------

    def values(self, number: Numeric, count: int, name: str) -> NDArray[np.generic]:
        """count x number.count values. Integers stay small: they index and bound loops."""
        shape = (count, number.count)
        if number.kind == "float":
            signed = bool(_SIGNED.search(name)) or self.scene.variant in (1, 4)
            low = -1.0 if signed else 0.05
            floats = self.random.uniform(low, 1.0, shape)
            if number.count == 4:
                floats[:, 3] = self.random.uniform(0.6, 1.4, count)
            return floats.astype(f"f{number.width // 8}")
        high = 2 if number.kind == "bool" else self._integers
        integers = self.random.integers(0, high, shape)
        if self.scene.variant == 5:
            integers = np.minimum(integers, 1)
        if _LIMIT.search(name):
            integers[:] = 1000
        if _MESHLET.search(name):
            integers[:] = 12
        if self._linked_lists and number.kind == "uint" and count >= 64:
            integers = self.random.integers(0, 2**32, shape)
            integers[:, 0] = np.where(np.arange(count) < 4, np.arange(count) + 1, _LIST_END)
        return integers.astype(f"{'i' if number.kind == 'int' else 'u'}{number.width // 8}")

    def matrix(self, number: Numeric, count: int, columns: int, rows: int) -> NDArray[np.generic]:
        """Near the identity with a varying w: products of several still land on the screen."""
        spread = {2: 0.0, 3: 0.002, 5: 0.0}.get(self.scene.variant, 0.12)
        matrix = self.random.uniform(-spread, spread, (count, columns, rows))
        for i in range(min(columns, rows)):
            matrix[:, i, i] += 1.0
        if self.scene.variant == 3 and min(columns, rows) > 1:
            matrix[:, 1, 1] *= 0.1  # heights that are scaled up by a constant in the shader
        return matrix.astype(f"f{number.width // 8}")

    # -- geometry --------------------------------------------------------------------------

    def _vertices(self) -> None:
        vertex = next(s for s in self.stages if s.model == VERTEX)
        scene = self.scene
        scene.vertices, scene.instances = self._counts(vertex)
        position = self._position_location(vertex)
        for attribute in vertex.inputs:
            number = attribute.numeric
            format_, kind, components = formats.attribute(number)
            full = Numeric(number.kind, number.width, components)
            is_position = attribute.location == position
            if number.kind == "float":
                values = self._float_attribute(full, attribute.name, is_position)
            else:
                values = self.values(full, scene.vertices, attribute.name)
            data = np.ascontiguousarray(values.astype(kind)).view(np.uint8)
            scene.attributes[attribute.location] = (format_, data.reshape(scene.vertices, -1))

    def _counts(self, vertex: ReadStage) -> tuple[int, int]:
        """(vertices, instances): enough to cover the picture, inside arrays by gl_VertexIndex."""
        group = self.scene.group
        vertices, instances = group * 160, 2
        if group == 1:
            vertices = 3 * 160
        elif self.scene.topology == chain.PATCH_LIST:
            vertices = group * _PATCHES
        lengths = [n for n in vertex.local_array_lengths() if n >= group]
        if _VERTEX_INDEX in vertex.builtins and lengths:
            vertices = min(min(lengths) // group * group, vertices)
        elif not vertex.inputs and all(r.kind != "storage" for r in vertex.resources):
            vertices = 2 * group  # gl_VertexIndex alone: primitives that fill the screen
        if self.scene.topology == chain.PATCH_LIST and _INSTANCE_INDEX not in vertex.builtins:
            instances = 1
        if vertices <= 36 and _INSTANCE_INDEX in vertex.builtins:
            resources = [r for stage in self.stages for r in stage.resources]
            arrays = [r.count or RUNTIME_DESCRIPTORS for r in resources if r.count != 1]
            instances = min([64, *arrays])  # the instance may choose the descriptor
        return vertices, instances

    @staticmethod
    def _position_location(vertex: ReadStage) -> int:
        """The attribute that most likely places the vertex."""
        floats = [a for a in vertex.inputs if a.numeric.kind == "float" and a.numeric.count >= 2]
        named = [a for a in floats if re.search(r"pos|vert(?!.*norm)", a.name, re.I)]
        return min((a.location for a in named or floats), default=-1)

    def _float_attribute(self, number: Numeric, name: str, position: bool) -> NDArray[np.generic]:
        """Each primitive has its own centre; its corners differ by a smaller amount."""
        count, width = self.scene.vertices, number.count
        low, reach = -1.0, 0.45
        if not position and not _SIGNED.search(name) and width == 2:
            low = 0.0
        if self.scene.variant in (3, 4):
            reach = 1.2
        group = self.scene.group
        centres = self.random.uniform(low, 1.0, (-(-count // group), width))
        centres = np.repeat(centres, group, axis=0)
        values = centres[:count] + self.random.uniform(-reach, reach, (count, width))
        if position and width >= 3:
            values[:, 2] = self.random.uniform(0.05, 0.6, count)
        if width == 4:
            values[:, 3] = 1.0 if position else self.random.uniform(0.6, 1.4, count)
        return values.astype(f"f{number.width // 8}")

    # -- outputs, push constants -----------------------------------------------------------

    def _targets(self) -> None:
        fragment = next((s for s in self.stages if s.model == FRAGMENT), None)
        for output in fragment.outputs if fragment else ():
            if output.index:
                self.scene.dual_source = True
            else:
                self.scene.targets.append(Target(output.location, output.numeric.kind))

    def _push(self) -> None:
        ranges = []
        for stage in self.stages:
            if stage.push_constant is not None:
                size = -(-stage.size(stage.push_constant) // 4) * 4
                ranges.append((STAGE_FLAGS[stage.model], size, stage))
        self.scene.push_ranges = [(flag, size) for flag, size, _ in ranges if size]
        total = max((size for _, size in self.scene.push_ranges), default=0)
        buffer = BufferData(np.zeros(total, np.uint8))
        for _, _, stage in sorted(ranges, key=lambda item: item[1]):
            assert stage.push_constant is not None
            buffer.pointers.clear()
            _Filler(self, stage, buffer).fill(np.zeros(1, np.int64), stage.push_constant, "")
        self.scene.push = buffer

    # -- resources -------------------------------------------------------------------------

    def _resources(self) -> None:
        grouped: dict[tuple[int, int], list[tuple[ReadStage, Resource]]] = {}
        for stage in self.stages:
            for resource in stage.resources:
                grouped.setdefault((resource.set, resource.binding), []).append((stage, resource))
        for key in sorted(grouped):
            self.scene.bindings.append(self._binding(grouped[key]))

    def _binding(self, group: list[tuple[ReadStage, Resource]]) -> Binding:
        kinds = {resource.kind for _, resource in group}
        stage, first = group[0]
        if kinds >= {"sampled", "sampler"} and len(kinds) == 2:
            # HLSL's [[vk::combinedImageSampler]]: the image's type says what is in the descriptor
            stage, first = next(pair for pair in group if pair[1].kind == "sampled")
            first.kind = "combined"
        elif len(kinds) > 1:
            raise CannotDraw(f"set {first.set} binding {first.binding}: {', '.join(sorted(kinds))}")
        count = max(resource.count for _, resource in group)
        count = count or RUNTIME_DESCRIPTORS
        flags = 0
        for owner, _ in group:
            flags |= STAGE_FLAGS[owner.model]
        binding = Binding(first.set, first.binding, first.kind, flags)
        binding.input_attachment = first.input_attachment
        compare = any(resource.compare for _, resource in group)
        integer = any(resource.integer for _, resource in group)
        for _ in range(count):
            self._descriptor(binding, group, stage, first, compare, integer)
        return binding

    def _descriptor(
        self,
        binding: Binding,
        group: list[tuple[ReadStage, Resource]],
        stage: ReadStage,
        resource: Resource,
        compare: bool,
        integer: bool,
    ) -> None:
        kind = binding.kind
        if kind in ("uniform", "storage"):
            binding.buffers.append(self._block(group))
            return
        if kind == "acceleration":
            binding.structures += 1
            return
        if kind == "sampler":
            binding.samplers.append(SamplerData(compare, not integer))
            return
        image = stage.image(resource.type_id)
        if kind in ("uniform_texel", "storage_texel"):
            format_ = formats.image(image, depth=False)
            data = formats.texels(self.random, format_, 1024)
            binding.buffers.append(BufferData(data, format=format_))
            return
        if kind == "combined":
            binding.samplers.append(SamplerData(compare, image["kind"] == "float"))
        depth = (compare or image["depth"] == 1) and kind != "storage_image"
        binding.images.append(self._image(image, depth, small=len(binding.images) > 8))

    def _image(self, image: dict[str, int | str], depth: bool, small: bool) -> ImageData:
        format_ = formats.image(image, depth)
        dim, arrayed = int(image["dim"]), bool(image["arrayed"])
        side = self.scene.size if dim in (1, 6) and not arrayed and not small else 16
        extents = {0: (side, 1, 1), 1: (side, side, 1), 2: (side, side, side), 3: (side, side, 1)}
        extent = extents.get(dim, (self.scene.size, self.scene.size, 1))
        layers = (4 if arrayed else 1) * (6 if dim == 3 else 1)
        samples = 4 if image["ms"] else 1
        levels = []
        for level in range(1 if image["sampled"] == 2 or samples > 1 else 4):
            texels = layers
            for side in extent:
                texels *= max(side >> level, 1)
            levels.append(formats.texels(self.random, format_, texels))
        clear = tuple(self.random.uniform(0.1, 0.9, 4).tolist())
        return ImageData(format_, dim, arrayed, extent, layers, samples, levels, clear)

    def _block(self, group: list[tuple[ReadStage, Resource]]) -> BufferData:
        """Filled by every stage's own declaration, smallest first, so that all members exist."""
        sizes = []
        for stage, resource in group:
            op, members = stage.module.types[resource.type_id]
            size = stage.size(resource.type_id)
            last = stage.module.types[members[-1]] if op == 30 and members else (0, [])
            if last[0] == 29:
                stride = stage.array_stride(members[-1])
                size += min(1024, RUNTIME_BYTES // max(stride, 1)) * stride
            sizes.append((size, stage, resource))
        sizes.sort(key=lambda item: item[0])
        buffer = BufferData(np.zeros(max(-(-sizes[-1][0] // 16) * 16, 16), np.uint8))
        for _, stage, resource in sizes:
            buffer.pointers.clear()
            start = np.zeros(1, np.int64)
            _Filler(self, stage, buffer).fill(start, resource.type_id, resource.name)
        return buffer

    def pointee(self, stage: ReadStage, type_id: int, name: str) -> int:
        """The number of the buffer that pointers of this type point at; made on first use."""
        stride = stage.module.decorations[type_id].get(ARRAY_STRIDE, [0])[0]
        type_id = stage.module.types[type_id][1][1]
        key = (id(stage), type_id)
        if key not in self._pointees:
            self._pointees[key] = len(self.scene.pointees)
            buffer = BufferData(np.zeros(RUNTIME_BYTES, np.uint8))
            self.scene.pointees.append(buffer)
            size = stride or max(-(-stage.size(type_id) // 16) * 16, 16)
            if stage.module.types[type_id][0] == 30:
                last = stage.module.types[type_id][1][-1]
                size = RUNTIME_BYTES if stage.module.types[last][0] == 29 else size
            starts = np.arange(0, RUNTIME_BYTES - size + 1, size, dtype=np.int64)
            _Filler(self, stage, buffer).fill(starts, type_id, name)
        return self._pointees[key]
