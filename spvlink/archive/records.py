"""What linking needs of one graphics pipeline in an archive."""

from __future__ import annotations


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


class Pipeline:
    """One graphics pipeline of an archive. It can be pickled.

    key            16 hex digits
    reason         None, or why it is not to be linked; then what follows may be missing
    stages         in the order of the archive; ``ArchiveWriter.replace`` counts from 0 in it. All
                   stages that the pipeline has are here: without a fragment stage there is none
                   (``Options.complete``)
    layout         as ``layout.check_layout`` and ``Options.layout`` take it; None: not known
    target_env     "vulkan1.N" of the lowest apiVersion among the applications that use the
                   pipeline, None if none is recorded. It may be lower than what the modules need (a
                   device extension can bring newer SPIR-V); take the higher one
    view_mask      of multiview, by dynamic rendering or by the render pass; 0: none
    discard        False, True, or None: set while drawing. True is a reason
    stream         the vertex stream that is rasterized. Other than 0 is a reason
    patch_points   control points of an input patch, None: no tessellation, or set while drawing
    robust         whether accesses out of bounds are defined: by a feature of the device, or by the
                   pipeline's own wish
    flags          VkPipelineCreateFlags2, the low ones if only these were given

    The result of a link depends on the stages (words, entry, spec) and the layout; today on nothing
    else of it.
    """

    __slots__ = (
        "discard", "flags", "key", "layout", "patch_points", "reason", "robust", "stages",
        "stream", "target_env", "view_mask",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        self.key = key
        self.reason: str | None = None
        self.stages: list[ShaderStage] = []
        self.layout: dict[str, object] | None = None
        self.target_env: str | None = None
        self.view_mask = 0
        self.discard: bool | None = False
        self.stream = 0
        self.patch_points: int | None = None
        self.robust = False
        self.flags = 0
