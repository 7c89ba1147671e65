"""The known state of a pipeline beside its modules, without dynamic state.

All of it is optional: whatever is left out is unknown. ``docs/reference/state.md`` describes the
JSON that ``--state`` reads; ``read`` turns it into the facts that passes ask for.
"""

from __future__ import annotations

from spvlink import formats
from spvlink.errors import Usage
from spvlink.layout import list_of, object_of, read_document

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    Taken = tuple[tuple[int, int, int], ...]  # Location, Index, components (bit n: RGBA[n])
    Attribute = tuple[int, int, int]  # Location, components, bits: see PipelineState
    Given = tuple[int, int | str]  # Location, format

VERSION: Final = 1
_KEYS: Final = (
    "version", "alphaToCoverageEnable", "colorAttachmentLocations", "colorAttachments",
    "conservativeRasterization", "cullMode", "fragmentShadingRate", "patchControlPoints",
    "polygonMode", "rasterizationSamples", "rasterizerDiscardEnable", "sampleLocationsEnable",
    "sampledImages", "storageInputOutput16", "topology", "vertexAttributes", "viewMask",
    "viewportCount",
)  # fmt: skip
_FACTORS: Final = (
    "srcColorBlendFactor", "dstColorBlendFactor", "srcAlphaBlendFactor", "dstAlphaBlendFactor",
)  # fmt: skip
_ATTACHMENT: Final = (
    "format", "colorWriteMask", "blendEnable", "colorBlendOp", "alphaBlendOp", *_FACTORS,
)  # fmt: skip

# Enumerants without prefix; the place is the number.
FACTORS: Final = (
    "ZERO", "ONE", "SRC_COLOR", "ONE_MINUS_SRC_COLOR", "DST_COLOR", "ONE_MINUS_DST_COLOR",
    "SRC_ALPHA", "ONE_MINUS_SRC_ALPHA", "DST_ALPHA", "ONE_MINUS_DST_ALPHA", "CONSTANT_COLOR",
    "ONE_MINUS_CONSTANT_COLOR", "CONSTANT_ALPHA", "ONE_MINUS_CONSTANT_ALPHA",
    "SRC_ALPHA_SATURATE", "SRC1_COLOR", "ONE_MINUS_SRC1_COLOR", "SRC1_ALPHA",
    "ONE_MINUS_SRC1_ALPHA",
)  # fmt: skip
OPERATIONS: Final = ("ADD", "SUBTRACT", "REVERSE_SUBTRACT", "MIN", "MAX")
CULL_MODES: Final = ("NONE", "FRONT", "BACK", "FRONT_AND_BACK")
POLYGON_MODES: Final = ("FILL", "LINE", "POINT")
TOPOLOGIES: Final = (
    "POINT_LIST", "LINE_LIST", "LINE_STRIP", "TRIANGLE_LIST", "TRIANGLE_STRIP", "TRIANGLE_FAN",
    "LINE_LIST_WITH_ADJACENCY", "LINE_STRIP_WITH_ADJACENCY", "TRIANGLE_LIST_WITH_ADJACENCY",
    "TRIANGLE_STRIP_WITH_ADJACENCY", "PATCH_LIST",
)  # fmt: skip
NORMALIZED: Final = "NORMALIZED"  # of ``sampledImages``
CULL_FRONT: Final = 1
CULL_BACK: Final = 2
FILLED: Final = 0  # of POLYGON_MODES; LINE draws lines
AS_POINTS: Final = 2
# What a topology is made of before tessellation, geometry and mesh shaders.
POINTS: Final = "points"
LINES: Final = "lines"
TRIANGLES: Final = "triangles"
PATCHES: Final = "patches"

_SRC_ALPHA: Final = frozenset((6, 7, 14))
_SRC1_COLOR: Final = frozenset((15, 16))
_SRC1_ALPHA: Final = frozenset((17, 18))
_WITHOUT_FACTORS: Final = (3, 4)  # MIN and MAX
_RGB: Final = formats.ALL & ~formats.ALPHA


class PipelineState:
    """What is known; nobody changes one that is made.

    outputs       colour outputs that something takes, as (Location, Index, components); all others
                  are taken by nothing. None: unknown
    discards      nothing is rasterized
    one_sample    there is one sample, at the centre of the pixel, and a fragment covers one pixel
    view_mask     of multiview, 0: none
    culled        CULL_FRONT, CULL_BACK
    polygons      0: filled, 1: lines, 2: points
    topology      what the input assembly makes: "points", "lines", "triangles", "patches"
    viewports     how many
    attributes    vertex attributes, as (Location, components of its format, bits that an unsigned
                  integer of it needs at most, 0: unknown, or 32)
    patch_points  control points of an input patch
    formats       formats of vertex attributes as they are given, as (Location, name or number): for
                  people, and for ``--half``
    document      as it was read, for ``--half``. No other link depends on these two, so they are
                  not compared
    """

    __slots__ = (
        "attributes", "culled", "discards", "document", "formats", "one_sample", "outputs",
        "patch_points", "polygons", "topology", "view_mask", "viewports",
    )  # fmt: skip

    def __init__(
        self,
        outputs: Taken | None = None,
        discards: bool | None = None,
        one_sample: bool = False,
        view_mask: int | None = None,
        culled: int | None = None,
        polygons: int | None = None,
        topology: str = "",
        viewports: int | None = None,
        attributes: tuple[Attribute, ...] = (),
        patch_points: int | None = None,
        formats: tuple[Given, ...] = (),
        document: dict[str, object] | None = None,
    ) -> None:
        self.outputs = outputs
        self.discards = discards
        self.one_sample = one_sample
        self.view_mask = view_mask
        self.culled = culled
        self.polygons = polygons
        self.topology = topology
        self.viewports = viewports
        self.attributes = attributes
        self.patch_points = patch_points
        self.formats = formats
        self.document = document

    def taken(self, location: int, index: int) -> int:
        """Which components of a colour output something takes."""
        assert self.outputs is not None
        for at, of, mask in self.outputs:
            if (at, of) == (location, index):
                return mask
        return 0

    def known_fields(self) -> tuple[object, ...]:
        """All that a link may depend on, to be compared and written into keys."""
        return (
            self.outputs, self.discards, self.one_sample, self.view_mask, self.culled,
            self.polygons, self.topology, self.viewports, self.attributes, self.patch_points,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PipelineState) and self.known_fields() == other.known_fields()

    def __hash__(self) -> int:
        return hash(self.known_fields())

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return self.known_fields() != PipelineState().known_fields()


def state_of(given: object) -> PipelineState:
    """What ``Options.state`` means. Raises Usage."""
    if given is None:
        return PipelineState()
    return given if isinstance(given, PipelineState) else read(given)


def common(given: Sequence[object]) -> PipelineState | None:
    """What several pipelines say alike, as ``Options.state`` has it."""
    states = [state_of(one) for one in given]
    first = states[0]
    if not all(states):
        return None
    outputs: dict[tuple[int, int], int] = {}
    for state in states:
        for location, index, mask in state.outputs or ():
            outputs[location, index] = outputs.get((location, index), 0) | mask
    formats_of = [{location: rest for location, *rest in s.attributes} for s in states]
    attributes: list[Attribute] = []
    for location in formats_of[0]:
        formats_there = [of[location] for of in formats_of if location in of]
        if len(formats_there) == len(states):
            mask = 0
            for components, _ in formats_there:
                mask |= components
            bits = [bits for _, bits in formats_there]
            attributes.append((location, mask, max(bits) if all(bits) else 0))
    known = all(state.outputs is not None for state in states)
    return PipelineState(
        outputs=tuple([(*key, outputs[key]) for key in sorted(outputs)]) if known else None,
        discards=True if all(state.discards for state in states) else None,
        one_sample=all(state.one_sample for state in states),
        view_mask=_alike([state.view_mask for state in states]),
        culled=_alike([state.culled for state in states]),
        polygons=_alike([state.polygons for state in states]),
        topology=first.topology if all(s.topology == first.topology for s in states) else "",
        viewports=_alike([state.viewports for state in states]),
        attributes=tuple(attributes),
        patch_points=_alike([state.patch_points for state in states]),
    )


def _alike(values: Sequence[int | None]) -> int | None:
    """The one value of all, or nothing."""
    return values[0] if all(value == values[0] for value in values) else None


def read_state(path: str) -> PipelineState:
    """The state in a JSON file. Raises Usage that names the file and the place."""
    return read_document(path, read)


def read(document: object) -> PipelineState:
    """The state in a document as ``json.load`` gives it. Raises Usage with the place."""
    top = object_of(document, "the state", _KEYS)
    version = top.get("version")
    if version is None:
        raise Usage("the state: version is missing")
    if isinstance(version, bool) or version != VERSION:
        raise Usage(f"version: {version!r} is not known (there is: {VERSION})")
    state = PipelineState(
        outputs=_outputs(top),
        discards=_truth(top, "rasterizerDiscardEnable", ""),
        one_sample=_one_sample(top),
        view_mask=_number(top, "viewMask", "", 0),
        culled=_named(top, "cullMode", "", CULL_MODES),
        polygons=_named(top, "polygonMode", "", POLYGON_MODES),
        topology=topology_class(_named(top, "topology", "", TOPOLOGIES)),
        viewports=_number(top, "viewportCount", "", 1),
        attributes=_attributes(top),
        formats=_given(top),
        patch_points=_number(top, "patchControlPoints", "", 1),
        document=top,
    )
    _truth(top, "storageInputOutput16", "")
    if top.get("sampledImages") not in (None, NORMALIZED):
        raise Usage(f"sampledImages: {top['sampledImages']!r} is not {NORMALIZED}")
    return state


def topology_class(topology: int | None) -> str:
    """What a VkPrimitiveTopology is made of; empty: unknown."""
    if topology is None or not 0 <= topology < len(TOPOLOGIES):
        return ""
    name = TOPOLOGIES[topology]
    for prefix, kind in (("POINT", POINTS), ("LINE", LINES), ("TRIANGLE", TRIANGLES)):
        if name.startswith(prefix):
            return kind
    return PATCHES


def _one_sample(top: dict[str, object]) -> bool:
    """One sample, and nothing that puts it elsewhere or lets a fragment have more."""
    samples = _number(top, "rasterizationSamples", "", 1)
    names = "sampleLocationsEnable", "conservativeRasterization", "fragmentShadingRate"
    others = [_truth(top, name, "") for name in names]
    return samples == 1 and others == [False, False, False]


# -- attachments -----------------------------------------------------------------------------------


def _outputs(top: dict[str, object]) -> Taken | None:
    coverage = _truth(top, "alphaToCoverageEnable", "")
    if "colorAttachments" not in top:
        if "colorAttachmentLocations" in top:
            raise Usage("colorAttachmentLocations: there are no colorAttachments")
        return None
    masks: list[tuple[int, int]] = []
    for at, entry in enumerate(list_of(top["colorAttachments"], "colorAttachments")):
        masks.append((0, 0) if entry is None else _taken(entry, f"colorAttachments[{at}]"))
    return outputs_of(masks, _locations(top, len(masks)), coverage)


def outputs_of(
    masks: Sequence[tuple[int, int]], locations: Sequence[int | None], coverage: bool | None
) -> Taken:
    """Which outputs are taken: ``masks`` has for each attachment the components of Index 0 and 1,
    ``locations`` the Location from which it takes them. Alpha to coverage, unless it is off, reads
    the alpha of Location 0 whether there is an attachment or not (Vulkan, "Multisample
    Coverage")."""
    taken: dict[tuple[int, int], int] = {}
    if coverage is not False:
        taken[0, 0] = formats.ALPHA
    for (first, second), location in zip(masks, locations):
        if location is not None:
            taken[location, 0] = taken.get((location, 0), 0) | first
            taken[location, 1] = taken.get((location, 1), 0) | second
    return tuple([(*key, taken[key]) for key in sorted(taken) if taken[key]])


def _locations(top: dict[str, object], count: int) -> list[int | None]:
    """The Location that each attachment takes; None: no one."""
    given = top.get("colorAttachmentLocations")
    if given is None:
        return list(range(count))
    locations: list[int | None] = []
    for at, one in enumerate(list_of(given, "colorAttachmentLocations")):
        where = f"colorAttachmentLocations[{at}]"
        if one is None:
            locations.append(None)
            continue
        if isinstance(one, bool) or not isinstance(one, int) or one < 0:
            raise Usage(f"{where}: expected a Location or null")
        if one in locations:
            raise Usage(f"{where}: Location {one} stands there twice")
        locations.append(one)
    if len(locations) != count:
        raise Usage(f"colorAttachmentLocations: expected {count}, as there are colorAttachments")
    return locations


def _taken(entry: object, where: str) -> tuple[int, int]:
    """The components of Index 0 and of Index 1 that an attachment takes."""
    one = object_of(entry, where, _ATTACHMENT)
    present = _format(one, where)
    mask = _write_mask(one, where)
    blends = _truth(one, "blendEnable", where)
    factors = [_named(one, name, where, FACTORS) for name in _FACTORS]
    operations = [
        _named(one, name, where, OPERATIONS, any_number=True)
        for name in ("colorBlendOp", "alphaBlendOp")
    ]
    return taken_of(present & mask, blends, factors, operations)


def taken_of(
    mask: int, blends: bool | None, factors: Sequence[int | None], operations: Sequence[int | None]
) -> tuple[int, int]:
    """The same of numbers (None: unknown): ``mask``, the components of its format that are written;
    whether it blends; the factors of source and destination, of colour and then of alpha; the
    operations of colour and alpha (Vulkan, "Blending")."""
    if not mask or blends is False:
        return mask, 0
    for operation in operations:
        if operation is not None and operation >= len(OPERATIONS):
            return formats.ALL, formats.ALL  # an advanced one, which reads all of the source
    first, second = mask, 0
    for part, operation, pair in zip((_RGB, formats.ALPHA), operations, (factors[:2], factors[2:])):
        if not mask & part or operation in _WITHOUT_FACTORS:
            continue
        for factor in pair:
            if factor is None or factor in _SRC_ALPHA:
                first |= formats.ALPHA
            if factor is None or factor in _SRC1_COLOR:
                second |= mask & part
            if factor is None or factor in _SRC1_ALPHA:
                second |= formats.ALPHA
    return first, second


def _format(one: dict[str, object], where: str) -> int:
    """The components of an attachment's format; all, if it is not known."""
    given = one.get("format")
    if given is None:
        return formats.ALL
    if isinstance(given, bool) or not isinstance(given, (int, str)) or given == "":
        raise Usage(f"{where}.format: expected the name or number of a VkFormat")
    return components_of(given)


def components_of(format: int | str) -> int:
    """The components of a colour format; none of UNDEFINED, all of what is not known here."""
    if format in (0, formats.UNDEFINED):
        return 0
    known = formats.find(format)
    return formats.ALL if known is None else known.components


def unsigned_bits(format: object) -> int:
    """The bits that a component of an unsigned integer format needs at most; 0: it may need all 32,
    or is none."""
    known = formats.find(format)
    small = known is not None and known.type == "UINT" and known.bits < 32
    return known.bits if known is not None and small else 0


def _write_mask(one: dict[str, object], where: str) -> int:
    given = one.get("colorWriteMask")
    if given is None:
        return formats.ALL
    if isinstance(given, str) and set(given) <= set("RGBA") and len(set(given)) == len(given):
        return sum(formats.RED << "RGBA".index(letter) for letter in given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= formats.ALL:
        raise Usage(f"{where}.colorWriteMask: expected letters of RGBA, or their bit mask")
    return given


# -- vertex input ----------------------------------------------------------------------------------


def _given(top: dict[str, object]) -> tuple[Given, ...]:
    """The formats of vertex attributes that were checked, as they are given."""
    found: list[Given] = []
    for entry in list_of(top.get("vertexAttributes", []), "vertexAttributes"):
        one = object_of(entry, "vertexAttributes", ("location", "format"))
        location, format = one.get("location"), one.get("format")
        if isinstance(location, int) and isinstance(format, (int, str)):
            found.append((location, format))
    return tuple(found)


def _attributes(top: dict[str, object]) -> tuple[Attribute, ...]:
    attributes: dict[int, Attribute] = {}
    for at, entry in enumerate(list_of(top.get("vertexAttributes", []), "vertexAttributes")):
        where = f"vertexAttributes[{at}]"
        one = object_of(entry, where, ("location", "format"))
        location = _number(one, "location", where, 0)
        if location is None:
            raise Usage(f"{where}: location is missing")
        if location in attributes:
            raise Usage(f"{where}: location {location} stands there twice")
        given = one.get("format")
        components = _format(one, where)
        attributes[location] = location, components, unsigned_bits(given)
    return tuple([attributes[location] for location in sorted(attributes)])


# -- values ----------------------------------------------------------------------------------------


def _truth(one: dict[str, object], key: str, where: str) -> bool | None:
    value = one.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise Usage(f"{_at(where, key)}: expected true or false")


def _number(one: dict[str, object], key: str, where: str, least: int) -> int | None:
    value = one.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 32:
        raise Usage(f"{_at(where, key)}: expected an integer of {least} or more")
    return value


def _named(
    one: dict[str, object], key: str, where: str, names: tuple[str, ...], any_number: bool = False
) -> int | None:
    """The number of an enumerant that is given by name or number."""
    value = one.get(key)
    if value is None:
        return None
    if isinstance(value, str) and value in names:
        return names.index(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if 0 <= value < len(names) or (any_number and value >= 0):
            return value
    raise Usage(f"{_at(where, key)}: {value!r} is none of {' '.join(names)}")


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
