"""What linking needs of one graphics pipeline in an archive."""

from __future__ import annotations

from spvlink.archive import numbers, states, structures
from spvlink.archive.documents import (
    Object,
    as_list,
    as_number,
    as_object,
    base64,
    handle,
    member,
    number,
)
from spvlink.archive.layouts import Layouts
from spvlink.archive.mappings import with_descriptors
from spvlink.errors import BadArchive
from spvlink.state import PipelineState

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# The stages of a library that holds both: nobody else can stand between them.
_SHADER_PARTS: Final = numbers.BEFORE_RASTERIZATION | numbers.FRAGMENT_PART
_PART: Final = "it is a pipeline library that others may complete"
_DYNAMIC: Final = numbers.DYNAMIC | {numbers.DYNAMIC_STREAM}
_STAGES: Final = (0x1, 0x2, 0x4, 0x8, 0x10, 0x40, 0x80)
_ROBUST: Final = ("images", "uniformBuffers", "storageBuffers", "vertexInputs")


class ShaderStage:
    """One stage of a recorded pipeline.

    bit      VkShaderStageFlagBits (``pipeline.STAGE_BITS`` has the names)
    module   the module's key, 16 hex digits: ``Archive.module`` has its words
    entry    name of the entry point
    spec     specialization data as pipeline creation gets it: constant id -> its raw bytes, little
             endian. What is not named there keeps its default: all constants are known
    """

    __slots__ = ("bit", "entry", "module", "spec")

    def __init__(self, bit: int, module: str, entry: str, spec: dict[int, bytes]) -> None:
        self.bit = bit
        self.module = module
        self.entry = entry
        self.spec = spec


class ArchivedPipeline:
    """One graphics pipeline of an archive.

    key            16 hex digits
    reason         None, or why it is not to be linked; then what follows may be missing
    stages         in the order of the archive; ``ArchiveWriter.replace`` counts from 0 in it. All
                   stages that the pipeline has are here: without a fragment stage there is none
                   (``Options.complete``)
    layout         as ``layout.check_layout`` and ``Options.layout`` take it; None: not known.
                   Pipelines share it: do not change it
    target_env     "vulkan1.N" of the lowest apiVersion among the applications that use the
                   pipeline, None if none is recorded. It may be lower than what the modules need (a
                   device extension can bring newer SPIR-V); take the higher one
    view_mask      of multiview, by dynamic rendering or by the render pass; 0: none, so that
                   gl_ViewIndex is 0. None: without a mask, and gl_ViewIndex is the number of the
                   device (VK_PIPELINE_CREATE_VIEW_INDEX_FROM_DEVICE_INDEX_BIT)
    discard        False, True, or None: set while drawing. With True a fragment stage never runs
    stream         the vertex stream that is rasterized. Other than 0 is a reason
    patch_points   control points of an input patch, None: no tessellation, or set while drawing
    state          what else it says of its state and does not set while drawing; of a library
                   nothing
    part           of a library that others may complete: which shader stages it holds, as
                   VkGraphicsPipelineLibraryFlagsEXT (2: before rasterization, 4: fragment), 0 for
                   any other pipeline. It has a reason, and ``stages`` and ``layout`` all the same
    libraries      keys of the libraries that it is made from; then that is its reason
    robust         whether accesses out of bounds are defined: by a feature of the device, or by the
                   pipeline's own wish
    flags          VkPipelineCreateFlags2, the low ones if only these were given
    unknown        what it has that spvlink does not know, a text each, all of it if it is readable
    modules        keys of the modules that its stages name, as far as they can be read; with a
                   reason, too

    The result of a link depends on the stages (words, entry, spec), the layout, the patch points,
    whether the view mask is 0, and on what the modules ask for of the state
    (``state_use.used``). The layout also says where the
    descriptors of each stage come from, if they say so themselves.
    """

    __slots__ = (
        "discard", "flags", "key", "layout", "libraries", "modules", "part", "patch_points",
        "reason", "robust", "stages", "state", "stream", "target_env", "unknown", "view_mask",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        self.key = key
        self.reason: str | None = None
        self.stages: list[ShaderStage] = []
        self.layout: dict[str, object] | None = None
        self.target_env: str | None = None
        self.view_mask: int | None = 0
        self.discard: bool | None = False
        self.stream = 0
        self.patch_points: int | None = None
        self.state = PipelineState()
        self.part = 0
        self.libraries: list[str] = []
        self.robust = False
        self.flags = 0
        self.unknown: list[str] = []
        self.modules: list[str] = []


def read(key: str, document: Object, layouts: Layouts) -> ArchivedPipeline:
    """The pipeline of a document; what is wrong with it is its reason."""
    pipeline = ArchivedPipeline(key)
    try:
        pipelines = as_object(member(document, "graphicsPipelines"), "graphicsPipelines")
        recorded = as_object(member(pipelines, key), "pipeline")
        pipeline.modules = modules_of(recorded)
        _fill(pipeline, recorded, layouts)
    except BadArchive as error:
        pipeline.reason = error.message
    return pipeline


def modules_of(recorded: Object) -> list[str]:
    """Keys of the modules that the stages of a pipeline of any kind name: what makes no sense is
    passed over."""
    stages = recorded.get("stages", [])
    keys: list[str] = []
    for item in [*(stages if isinstance(stages, list) else []), recorded.get("stage")]:
        if isinstance(item, dict):
            try:
                keys.append(f"{handle(item, 'module'):016x}")
            except BadArchive:
                continue
    return keys


def _fill(pipeline: ArchivedPipeline, recorded: Object, layouts: Layouts) -> None:
    _look_for_unknown(pipeline, recorded)
    part = _read_flags(pipeline, recorded)
    if part != numbers.FRAGMENT_PART:  # its rasterization state is that of the other half
        _read_state(pipeline, recorded)
    _read_chain(pipeline, recorded)
    stages = as_list(recorded.get("stages", []), "stages")
    pipeline.stages = [_stage(as_object(item, "stages")) for item in stages]
    bits = [stage.bit for stage in pipeline.stages]
    if not bits:
        raise BadArchive("it has no stages: there is nothing to link")
    if len(set(bits)) != len(bits):
        raise BadArchive("it has a stage twice")
    layout = handle(recorded, "layout")
    heap = pipeline.flags & numbers.IN_HEAP != 0  # then there is no layout
    given = layouts.layout(layout) if layout and not heap else None
    pipeline.layout = with_descriptors(given, heap, recorded)
    render_pass, subpass = handle(recorded, "renderPass"), number(recorded, "subpass")
    inside = layouts.subpass(render_pass, subpass) if render_pass else None
    if inside is not None:
        pipeline.view_mask = inside.view_mask
    if pipeline.view_mask == 0 and pipeline.flags & numbers.VIEW_FROM_DEVICE:
        pipeline.view_mask = None
    pipeline.state = states.read(
        recorded, _changing(recorded), pipeline.flags, pipeline.view_mask, inside,
        pipeline.discard is True,
    )  # fmt: skip
    if part:
        pipeline.part = part
        raise BadArchive(_PART)


def _look_for_unknown(pipeline: ArchivedPipeline, recorded: Object) -> None:
    """Note all that is not known. Raises BadArchive if a structure is among it, or if its code is
    elsewhere."""
    strangers = structures.unknown(recorded)
    flags, changing = _flags(recorded) & ~numbers.PIPELINE_FLAGS, _changing(recorded)
    pipeline.unknown = [f"{structures.named(kind)}, on {place}" for place, kind in strangers]
    pipeline.unknown += [f"creation flag {1 << n:#x}" for n in range(64) if flags & 1 << n]
    pipeline.unknown += [f"dynamic state {n}" for n in sorted(changing - _DYNAMIC)]
    if strangers:
        name = structures.named(strangers[0][1])
        raise BadArchive(f"it has a structure that spvlink does not know: {name}")
    binaries = structures.find(recorded, numbers.BINARIES)
    if binaries is not None and as_number(binaries.get("binaryCount", 0), "binaryCount"):
        raise BadArchive("its code comes from pipeline binaries")


def _flags(recorded: Object) -> int:
    """VkPipelineCreateFlags2."""
    wide = structures.find(recorded, numbers.FLAGS_2)
    return number(recorded, "flags") if wide is None else number(wide, "flags", 64)


def _changing(recorded: Object) -> set[int]:
    """What is set while drawing."""
    dynamic = as_object(recorded.get("dynamicState", {}), "dynamicState")
    names = as_list(dynamic.get("dynamicState", []), "dynamicState")
    return {as_number(name, "dynamicState") for name in names}


def _read_flags(pipeline: ArchivedPipeline, recorded: Object) -> int:
    """Creation flags, and what they forbid; gives ``Pipeline.part``."""
    pipeline.flags = flags = _flags(recorded)
    if flags & ~numbers.PIPELINE_FLAGS:
        raise BadArchive(f"it has a creation flag that spvlink does not know: {flags:#x}")
    libraries = structures.find(recorded, numbers.LIBRARIES)
    if libraries is not None and libraries.get("libraries"):
        pipeline.libraries = _keys(libraries["libraries"])
        raise BadArchive("it is made from pipeline libraries")
    parts = structures.find(recorded, numbers.LIBRARY_PARTS)
    bits = number(parts, "flags") if parts is not None else 0
    part = bits & _SHADER_PARTS
    if (parts is not None or flags & numbers.IS_LIBRARY) and part == 0:
        raise BadArchive(_PART)
    if flags & numbers.DISABLE_OPTIMIZATION:
        raise BadArchive("the application wants it not optimized")
    return 0 if part == _SHADER_PARTS else part


def _keys(libraries: object) -> list[str]:
    """Keys of pipelines."""
    named = as_list(libraries, "libraries")
    if not all(isinstance(key, str) for key in named):
        raise BadArchive("the key of a library is no text")
    return [str(key) for key in named]


def _read_state(pipeline: ArchivedPipeline, recorded: Object) -> None:
    changing = _changing(recorded)
    unknown = changing - _DYNAMIC
    if unknown:
        raise BadArchive(f"it has a dynamic state that spvlink does not know: {min(unknown)}")
    state = as_object(recorded.get("rasterizationState", {}), "rasterizationState")
    pipeline.discard = as_number(state.get("rasterizerDiscardEnable", 0), "discard") != 0
    if numbers.DYNAMIC_DISCARD in changing:
        pipeline.discard = None
    stream = structures.find(state, numbers.RASTER_STREAM)
    if stream is not None:
        pipeline.stream = number(stream, "rasterizationStream")
    if pipeline.stream or numbers.DYNAMIC_STREAM in changing:
        raise BadArchive("a vertex stream other than the first may be rasterized")
    patches = recorded.get("tessellationState")
    if patches is not None and numbers.DYNAMIC_PATCH not in changing:
        pipeline.patch_points = number(
            as_object(patches, "tessellationState"), "patchControlPoints"
        )


def _read_chain(pipeline: ArchivedPipeline, recorded: Object) -> None:
    rendering = structures.find(recorded, numbers.RENDERING)
    if rendering is not None:
        pipeline.view_mask = number(rendering, "viewMask")
    stages = as_list(recorded.get("stages", []), "stages")
    for owner in [recorded, *[as_object(item, "stages") for item in stages]]:
        robust = structures.find(owner, numbers.ROBUSTNESS)
        if robust is not None:
            pipeline.robust |= any(as_number(robust.get(name, 0), name) > 1 for name in _ROBUST)


def _stage(recorded: Object) -> ShaderStage:
    bit = number(recorded, "stage")
    if bit not in _STAGES:
        raise BadArchive("it has a stage that spvlink does not know")
    if number(recorded, "flags") & ~numbers.STAGE_FLAGS:
        raise BadArchive("a stage has a flag that spvlink does not know")
    module = handle(recorded, "module")
    if not module:
        raise BadArchive("a stage has no module in the archive")
    entry = member(recorded, "name")
    if not isinstance(entry, str):
        raise BadArchive("the entry point of a stage is no text")
    given = recorded.get("specializationInfo")
    spec = {} if given is None else _specialization(as_object(given, "specializationInfo"))
    return ShaderStage(bit, f"{module:016x}", entry, spec)


def _specialization(recorded: Object) -> dict[int, bytes]:
    data = base64(recorded.get("data", ""), "specialization data")
    if len(data) != number(recorded, "dataSize", 64):
        raise BadArchive("its specialization data is not as long as it says")
    spec: dict[int, bytes] = {}
    for item in as_list(recorded.get("mapEntries", []), "mapEntries"):
        entry = as_object(item, "mapEntries")
        constant, offset = number(entry, "constantID"), number(entry, "offset")
        end = offset + number(entry, "size", 64)
        if end > len(data):
            raise BadArchive("a specialization constant lies behind the end of the data")
        if constant in spec:
            raise BadArchive("a specialization constant is given twice")
        spec[constant] = data[offset:end]
    return spec
