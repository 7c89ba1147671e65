"""What a driver's compiler makes of a pipeline, counted by the driver itself. Nothing is drawn, so
no GPU is needed.

Which driver it is, the environment says (tests.render.drivers); a process has one, and its standard
error is gone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any

import vulkan as vk
from vulkan import ffi

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.draw import formats
from spvlink.draw.device import EXTENSIONS, Device, ObjectPool, new
from spvlink.draw.draw import Draw, refuse_unoffered
from spvlink.draw.reflect import FRAGMENT, TESS_EVALUATION, VERTEX, CannotDraw
from spvlink.draw.scene import Code, make_scene, read_stages
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, ENTRY_POINTS, Inst
from spvlink.ir.edit import annotate, value
from spvlink.options import Options
from tests.render.drivers import chosen

_LIBRARY = vk.VK_PIPELINE_CREATE_LIBRARY_BIT_KHR
_COUNT = vk.VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR
_BEFORE = vk.VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT | (
    vk.VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT
)
_AFTER = vk.VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT | (
    vk.VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT
)
_LIBRARIES = "VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT"
_MORE: dict[str, str | None] = {
    "VK_KHR_pipeline_executable_properties": (
        "VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR"
    ),
    "VK_KHR_pipeline_library": None,
    "VK_EXT_graphics_pipeline_library": _LIBRARIES,
}

Counts = dict[str, int]  # what the driver counts -> how many, all stages together


class Compiler(Device):
    """A device that only compiles."""

    extensions = EXTENSIONS | _MORE

    def _choose(self) -> Any:
        devices = vk.vkEnumeratePhysicalDevices(self.instance)
        if not devices:
            raise CannotDraw("the driver pretends no device")
        return devices[0]


class _Compile(Draw):
    """All that belongs to one pipeline; nothing has memory."""

    def attach(self, name: str, kind: str, samples: int) -> None:
        format_ = formats.D32_SFLOAT if kind == "depth" else formats.TARGETS[kind]
        self.attachments.append((name, kind, None, None, format_, samples))

    def pipeline_of(self, libraries: bool) -> Any:
        """The whole pipeline; ``libraries``: of two that the driver does not link."""
        self.scene.exact = False  # the modules as they are
        for binding in self.scene.bindings:
            if binding.kind == "input_attachment":
                for i, data in enumerate(binding.images):
                    self.inputs[binding.input_attachment + i] = (None, data.format)
        self.make_attachments()
        self.make_render_pass()
        fields = self.create_info(self.make_layouts())
        if not libraries:
            return self.made({**fields, "flags": _COUNT})
        stages = dict(zip((s.model for s in self.stages), fields["pStages"]))
        frag = stages.pop(FRAGMENT)
        parts = []
        for bits, mine in ((_BEFORE, list(stages.values())), (_AFTER, [frag])):
            part = new.VkGraphicsPipelineLibraryCreateInfoEXT(flags=bits)
            parts.append(
                self.made({**fields, "pNext": part, "pStages": mine, "flags": _LIBRARY | _COUNT})
            )
        both = new.VkPipelineLibraryCreateInfoKHR(pLibraries=parts)
        return self.made({"pNext": both, "layout": self.layout, "flags": _COUNT})


_device: list[Compiler] = []
_told: list[IO[str]] = []  # the standard error of this process
OFTEN = "often: "  # before the name of what counts fragment stages as often as they run


def _compiler() -> Compiler:
    """The device of this process."""
    if not _device:
        _told.append(os.fdopen(os.memfd_create("told"), "w+"))
        os.dup2(_told[0].fileno(), 2)  # where drivers tell of what they cannot compile, and of more
        _device.append(Compiler(False))
    return _device[0]


def count(codes: Sequence[Code], libraries: bool = False, control: bool = False) -> Counts:
    """What the driver counts of a pipeline. Raises CannotDraw, or what the driver says.

    ``control``: with what RADV does to any stage that it compiles without its fragment shader, and
    no linker can take back: it exports the primitive's number (some 22 instructions on GFX11).

    What begins with OFTEN counts a fragment stage as often as the linker expects it to run."""
    found: Counts = {}
    stages = count_stages(codes, libraries)
    if control and read_stages(codes)[-2].model in (VERTEX, TESS_EVALUATION):
        stages = [entry for entry in stages if entry[0].startswith("frag")]
        more = count_stages([*codes[:-1], _reads_number(codes[-1])], libraries)
        stages += [entry for entry in more if not entry[0].startswith("frag")]
    once, often = Options().expect
    for title, counts in stages:
        times = often if is_fragment(title) else once
        for name, number in counts.items():
            found[name] = found.get(name, 0) + number
            found[OFTEN + name] = found.get(OFTEN + name, 0) + times * number
    return found


def count_stages(
    codes: Sequence[Code], libraries: bool = False, targets: Sequence[int] | None = None
) -> list[tuple[str, Counts]]:
    """What the driver counts of each executable of a pipeline but those that only bin, by its name.
    ``targets``: the Locations that have an attachment (None: all). Raises as ``count``."""
    device = _compiler()
    printed = chosen().printed
    if not printed and "VK_KHR_pipeline_executable_properties" not in device.offered:
        raise CannotDraw("the driver counts nothing")
    if libraries and "VK_EXT_graphics_pipeline_library" not in device.offered:
        raise CannotDraw("the driver has no pipeline libraries")
    _told[0].seek(0)
    _told[0].truncate()
    with ObjectPool(device) as pool:
        scene = make_scene(codes)
        if targets is not None:
            scene.targets = [target for target in scene.targets if target.location in targets]
        stages = read_stages(codes)
        refuse_unoffered(device, stages)
        compiling = _Compile(device, pool, stages, scene)
        pipeline = compiling.pipeline_of(libraries)
        found = list(_printed() if printed else _counts(device, pipeline))
    widths = [title for title, _ in found if is_fragment(title)][1:]  # ANV: the narrowest is first
    return [(title, c) for title, c in found if "Binning" not in title and title not in widths]


def is_fragment(title: str) -> bool:
    """Whether an executable of this name is a fragment shader."""
    return chosen().fragment in title


def _printed() -> Iterator[tuple[str, Counts]]:
    """What PanVK's compiler printed: cycles in 64ths, as whole numbers."""
    _told[0].seek(0)
    for title, text in re.findall(r"^SHADER-DB: (\w+) shader: (.*)$", _told[0].read(), re.M):
        text = re.sub(r"(\d+):(\d+) spills:fills", r"\1 spills, \2 fills", text)
        counts = re.findall(r"([\d.]+) (\w+)", text)
        yield title, {name: round(float(n) * (64 if "." in n else 1)) for n, name in counts}


def _reads_number(code: Code) -> bytes:
    """A fragment shader that writes the primitive's number to one more colour."""
    module = decode(bytes(code))
    (entry,) = module.sections[ENTRY_POINTS]
    number = types.integer(module, 32, True)
    made = []
    notes = []
    taken = {n.imm[1] for n in module.annotations if n.imm[:1] == (enums.Decoration_Location,)}
    free = next(n for n in range(8) if n not in taken)
    for storage, words in (
        (
            enums.StorageClass_Input,
            ([enums.Decoration_Flat], [enums.Decoration_BuiltIn, enums.BuiltIn_PrimitiveId]),
        ),
        (enums.StorageClass_Output, ([enums.Decoration_Location, free],)),
    ):
        pointer = types.pointer(module, storage, number)
        made.append(value(module, ops.OpVariable, pointer, [], (storage,)))
        module.globals.append(made[-1])
        notes += [Inst(ops.OpDecorate, None, [made[-1]], tuple(w)) for w in words]
    annotate(module, notes)
    entry.args += made
    geometry = Inst(ops.OpCapability, None, [], (enums.Capability_Geometry,))
    module.sections[CAPABILITIES].append(geometry)
    load = value(module, ops.OpLoad, number, [made[0]], ())
    (block,) = [f.blocks[0] for f in module.functions if f is entry.args[0]]
    at = sum(inst.op == ops.OpVariable for inst in block.insts)
    block.insts[at:at] = [load, Inst(ops.OpStore, None, [made[1], load], ())]
    return encode(module)


def _counts(device: Device, pipeline: Any) -> list[tuple[str, Counts]]:
    info = ffi.new("VkPipelineInfoKHR*")
    info.sType, info.pipeline = vk.VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, pipeline
    found: list[tuple[str, Counts]] = []
    for number, executable in enumerate(_all(device, "ExecutableProperties", info)):
        title = ffi.string(executable.name).decode()
        which = ffi.new("VkPipelineExecutableInfoKHR*")
        which.sType = vk.VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR
        which.pipeline, which.executableIndex = pipeline, number
        counts: Counts = {}
        for statistic in _all(device, "ExecutableStatistics", which):
            name = ffi.string(statistic.name).decode()
            counts[name] = counts.get(name, 0) + int(statistic.value.u64)
        found.append((title, counts))
    return found


def _all(device: Device, what: str, info: Any) -> Any:
    """What vkGetPipelineExecutable...KHR gives."""
    function = device.function(f"vkGetPipeline{what}KHR")
    struct, kind = {
        "ExecutableProperties": ("VkPipelineExecutablePropertiesKHR", "PROPERTIES"),
        "ExecutableStatistics": ("VkPipelineExecutableStatisticKHR", "STATISTIC"),
    }[what]
    number = ffi.new("uint32_t*")
    function(device.device, info, number, ffi.NULL)
    rows = ffi.new(f"{struct}[]", number[0])
    for row in rows:
        row.sType = getattr(vk, f"VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_{kind}_KHR")
    function(device.device, info, number, rows)
    return rows


def driver_info() -> str:
    """The driver and its version, and the hardware that it compiles for."""
    physical = _compiler().physical
    held = ffi.new("VkPhysicalDeviceDriverProperties*")
    held.sType = vk.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES
    properties = ffi.new("VkPhysicalDeviceProperties2*")
    properties.sType = vk.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
    properties.pNext = held
    vk.lib.vkGetPhysicalDeviceProperties2(physical, properties)
    info = ffi.string(held.driverInfo).decode()
    return f"{ffi.string(properties.properties.deviceName).decode()}, {info}"
