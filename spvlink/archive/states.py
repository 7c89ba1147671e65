"""What a recorded pipeline says of its state and does not set while drawing, as facts.

Nothing here is a reason to leave a pipeline as it is: what cannot be read is not known. A pipeline
library says what the parts that it holds decide; the rest is that of other libraries.
"""

from __future__ import annotations

from spvlink import formats
from spvlink.archive import numbers, structures
from spvlink.archive.documents import Object, as_list, as_number, as_object, number
from spvlink.archive.layouts import Subpass
from spvlink.errors import BadArchive
from spvlink.state import (
    OPERATIONS,
    PipelineState,
    components_of,
    outputs_of,
    taken_of,
    topology_class,
    unsigned_bits,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.state import Attribute, Given

# VkDynamicState
_CULL_MODE: Final = 1000267000
_TOPOLOGY: Final = 1000267002
_VIEWPORTS: Final = 1000267003
_VERTEX_INPUT: Final = 1000352000
_POLYGON_MODE: Final = 1000455004
_SAMPLES: Final = 1000455005
_COVERAGE: Final = 1000455007
_BLEND_ENABLE: Final = 1000455010
_EQUATION: Final = 1000455011
_WRITE_MASK: Final = 1000455012
_ADVANCED: Final = 1000455018
# Of these none moves the only sample or makes fragments larger.
_APART_FROM_SAMPLES: Final = frozenset(
    (
        *range(9), *range(1000267000, 1000267012), *range(1000377000, 1000377005), _VERTEX_INPUT,
        1000259000, 1000381000, 1000455003, _POLYGON_MODE, *range(1000455007, 1000455013),
        _ADVANCED,
    )
)  # fmt: skip
# sTypes that say so, or that put other samples in place of those of the pipeline.
_COARSE: Final = {
    "rasterizationState": frozenset((1000101001,)),
    "viewportState": frozenset((1000164000, 1000164005)),
    "pipeline": frozenset((1000044008, 1000226001, 1000326002, 1000611002)),
}
_COARSE_FLAGS: Final = 0x600000  # attachments of shading rates, density maps
# Attachments that the formats say nothing of.
_ELSEWHERE: Final = (1000129005, 1000452005, 1000628002)
# VkGraphicsPipelineLibraryFlagBitsEXT, and the state that a library without that part ignores.
_OUTPUT_PART: Final = 8
_PARTS: Final = {
    1: ("vertexInputState", "inputAssemblyState"),
    2: ("rasterizationState", "viewportState", "tessellationState"),
    _OUTPUT_PART: ("colorBlendState", "multisampleState"),
}
_LOCATIONS: Final = 1000232001
_UNUSED: Final = 0xFFFFFFFF
_FACTORS: Final = (
    "srcColorBlendFactor", "dstColorBlendFactor", "srcAlphaBlendFactor", "dstAlphaBlendFactor",
)  # fmt: skip


def read(
    recorded: Object, changing: set[int], flags: int, view_mask: int | None,
    subpass: Subpass | None, discards: bool,
) -> PipelineState:  # fmt: skip
    """The facts of a pipeline that has been checked. ``changing``: what is set while drawing;
    ``subpass``: of its render pass, if it has one; ``discards``: nothing is rasterized, so what
    is behind that is ignored (Vulkan, VkGraphicsPipelineCreateInfo)."""
    try:
        own = _own_state(recorded, flags)
        return _read(own, changing, flags, view_mask, subpass, discards)
    except BadArchive:
        return PipelineState()


def _own_state(recorded: Object, flags: int) -> Object:
    """The pipeline with what counts: of a library the state of its parts."""
    parts = structures.find(recorded, numbers.LIBRARY_PARTS)
    if parts is None and not flags & numbers.IS_LIBRARY:
        return recorded
    given = 0 if parts is None else number(parts, "flags")
    lost = [name for bit, names in _PARTS.items() if not given & bit for name in names]
    return {name: value for name, value in recorded.items() if name not in lost}


def _read(
    recorded: Object, changing: set[int], flags: int, view_mask: int | None,
    subpass: Subpass | None, discards: bool,
) -> PipelineState:  # fmt: skip
    raster = _part(recorded, "rasterizationState")
    topology = _known(_part(recorded, "inputAssemblyState"), "topology", _TOPOLOGY in changing)
    polygons = _known(raster, "polygonMode", _POLYGON_MODE in changing)
    viewports = _known(_part(recorded, "viewportState"), "viewportCount", _VIEWPORTS in changing)
    behind = not discards and _holds_outputs(recorded, flags)
    return PipelineState(
        outputs=_outputs(recorded, changing, subpass) if behind else None,
        discards=discards or None,
        one_sample=behind and _one_sample(recorded, changing, flags, subpass),
        view_mask=view_mask,
        culled=_known(raster, "cullMode", _CULL_MODE in changing),
        polygons=polygons if polygons in (0, 1, 2) else None,
        topology=topology_class(topology),
        viewports=None if discards else viewports or None,
        attributes=() if _VERTEX_INPUT in changing else _attributes(recorded),
        formats=() if _VERTEX_INPUT in changing else _formats(recorded),
    )


def _holds_outputs(recorded: Object, flags: int) -> bool:
    """Whether its attachments are its own matter."""
    parts = structures.find(recorded, numbers.LIBRARY_PARTS)
    if parts is None:
        return not flags & numbers.IS_LIBRARY
    return number(parts, "flags") & _OUTPUT_PART != 0


def _part(owner: Object, name: str) -> Object | None:
    given = owner.get(name)
    return None if given is None else as_object(given, name)


def _known(owner: Object | None, name: str, changes: bool = False) -> int | None:
    """A number that is there and stays."""
    return None if owner is None or changes or name not in owner else number(owner, name)


def _one_sample(recorded: Object, changing: set[int], flags: int, subpass: Subpass | None) -> bool:
    """One sample, in the middle, and fragments of one pixel."""
    samples = _part(recorded, "multisampleState")
    if samples is None or samples.get("pNext") or flags & _COARSE_FLAGS:
        return False
    if number(samples, "rasterizationSamples") != 1 or not changing <= _APART_FROM_SAMPLES:
        return False
    if subpass is not None and not subpass.plain:
        return False
    for name, coarse in _COARSE.items():
        owner = recorded if name == "pipeline" else _part(recorded, name)
        if owner is not None and not coarse.isdisjoint(structures.kinds(owner.get("pNext", []))):
            return False
    return True


def _outputs(
    recorded: Object, changing: set[int], subpass: Subpass | None
) -> tuple[tuple[int, int, int], ...] | None:
    """Colour outputs that something takes; None: it is not known."""
    present = _present(recorded, subpass)
    if present is None:
        return None
    blending = _part(recorded, "colorBlendState")
    given = [] if blending is None else as_list(blending.get("attachments", []), "attachments")
    masks: list[tuple[int, int]] = []
    for at, components in enumerate(present):
        one = as_object(given[at], "attachments") if at < len(given) else None
        masks.append(_taken(one, components, changing))
    locations: list[int | None] = list(range(len(present)))
    moved = structures.find(recorded, _LOCATIONS)
    if moved is not None:
        named = as_list(moved.get("colorAttachmentLocations", []), "colorAttachmentLocations")
        numbers_named = [as_number(one, "colorAttachmentLocations") for one in named]
        if len(numbers_named) != len(present):
            return None
        locations = [None if one == _UNUSED else one for one in numbers_named]
    samples = _part(recorded, "multisampleState")
    coverage = _known(samples, "alphaToCoverageEnable", _COVERAGE in changing)
    return outputs_of(masks, locations, None if coverage is None else coverage != 0)


def _present(recorded: Object, subpass: Subpass | None) -> list[int] | None:
    """The components of each colour attachment, none where there is no attachment."""
    if subpass is not None:
        return subpass.colors
    rendering = structures.find(recorded, numbers.RENDERING)
    if rendering is None or "colorAttachmentFormats" not in rendering:
        count = None if rendering is None else rendering.get("colorAttachmentCount")
        return [] if count == 0 else None
    if any(structures.find(recorded, kind) is not None for kind in _ELSEWHERE):
        return None
    named = as_list(rendering["colorAttachmentFormats"], "colorAttachmentFormats")
    return [components_of(as_number(one, "colorAttachmentFormats")) for one in named]


def _taken(one: Object | None, components: int, changing: set[int]) -> tuple[int, int]:
    """The components that an attachment takes of Index 0 and of Index 1."""
    mask = _known(one, "colorWriteMask", _WRITE_MASK in changing)
    blends = _known(one, "blendEnable", _BLEND_ENABLE in changing)
    changes = not changing.isdisjoint((_EQUATION, _ADVANCED))
    factors = [_known(one, name, changes) for name in _FACTORS]
    operations = [_known(one, name, changes) for name in ("colorBlendOp", "alphaBlendOp")]
    if changes:
        operations = [len(OPERATIONS)] * 2  # as an advanced one, which reads all
    taken = components & (formats.ALL if mask is None else mask)
    return taken_of(taken, None if blends is None else blends != 0, factors, operations)


def _formats(recorded: Object) -> tuple[Given, ...]:
    """The formats of the vertex attributes, as they are recorded."""
    fetched = _part(recorded, "vertexInputState")
    entries = as_list(fetched.get("attributes", []), "attributes") if fetched else []
    given = [as_object(item, "attributes") for item in entries]
    return tuple([(number(one, "location"), number(one, "format")) for one in given])


def _attributes(recorded: Object) -> tuple[Attribute, ...]:
    """The vertex attributes in the order of Locations."""
    fetched = _part(recorded, "vertexInputState")
    attributes: dict[int, Attribute] = {}
    for item in as_list(fetched.get("attributes", []), "attributes") if fetched else ():
        one = as_object(item, "attributes")
        location = number(one, "location")
        if location in attributes:
            return ()
        format = number(one, "format")
        attributes[location] = location, components_of(format), unsigned_bits(format)
    return tuple([attributes[location] for location in sorted(attributes)])
