"""What ``--half`` takes from the state: how much of a colour is seen, which attributes are small,
and whether the device interpolates 16 bits."""

from __future__ import annotations

from spvlink import formats, state
from spvlink.link.half import visible
from spvlink.link.half.visible import ALPHA, ColourTarget, Visible
from spvlink.passes.lowering.state_attributes import attributes_of, numbers_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.ir.core import Inst, Module
    from spvlink.state import PipelineState

_AS_LINES: Final = 1  # of PipelineState.polygons
_FEW_BITS: Final = 10
_SHOWN: Final = frozenset(("UNORM", "SNORM", "SRGB"))
# How steep the sRGB curve is at most: it is linear near black (Vulkan, "Color Space Conversions").
_SRGB: Final = 12.92
_RANGES: Final = {"UNORM": (0.0, 1.0), "SNORM": (-1.0, 1.0)}
_SCALED: Final = {"USCALED": 0, "SSCALED": 1}
_MIN: Final = state.OPERATIONS.index("MIN")
_OF_SOURCE: Final = frozenset((2, 3))  # SRC_COLOR and what is made of it
_OF_ALPHA: Final = frozenset((6, 7, 14))  # SRC_ALPHA and what is made of it
_OVER: Final = (6, 7, 0)  # SRC_ALPHA, ONE_MINUS_SRC_ALPHA, ADD
_SECOND: Final = frozenset((15, 16, 17, 18))


def visible_of(known: PipelineState, made: str) -> Visible:
    """What is seen, and what of that is assumed because the state does not say it. ``made``: what
    is rasterized, "points", "lines" or "triangles"; empty: not known."""
    top = known.document or {}
    assumed: list[str] = []
    targets = _targets(top, assumed)
    assumed.append(visible.ASSUMED_LOGIC)
    covers = top.get("alphaToCoverageEnable")
    if covers is None:
        assumed.append(visible.ASSUMED_COVERAGE)
    samples = top.get("rasterizationSamples")
    larger = top.get("conservativeRasterization")
    others = [larger, top.get("sampleLocationsEnable"), top.get("fragmentShadingRate")]
    aside = any(other is True for other in others) or (samples is not None and samples != 1)
    if larger is not True and (None in others or (samples is None and not aside)):
        assumed.append(visible.ASSUMED_SAMPLES)
    beyond = larger is True
    if made == state.LINES or (made == state.TRIANGLES and known.polygons == _AS_LINES):
        beyond = True  # a line's pixels may lie beyond its ends
    elif made != state.POINTS and (made != state.TRIANGLES or known.polygons is None):
        assumed.append(visible.ASSUMED_FILLED)
    small = top.get("sampledImages") == state.NORMALIZED
    return Visible(targets, covers is True, aside, tuple(assumed), small, beyond)


def has_half_interfaces(known: PipelineState) -> bool:
    """Whether the state says that the device has storageInputOutput16."""
    return (known.document or {}).get("storageInputOutput16") is True


def ranges_of(module: Module, known: PipelineState) -> dict[tuple[Inst, int], tuple[float, float]]:
    """The ranges of a vertex shader's attributes, by variable and component. What a format lacks is
    zero or one, and out of bounds each may be zero."""
    given = {location: formats.find(format) for location, format in known.formats}
    ranges: dict[tuple[Inst, int], tuple[float, float]] = {}
    for variable, location, _ in attributes_of(module) if given else ():
        format = given.get(location)
        bounds = _range_of(format) if format is not None else None
        if bounds is None:
            continue
        _, size = numbers_of(variable)
        for lane in range(size):
            ranges[variable, lane] = min(bounds[0], 0.0), max(bounds[1], 1.0)
    return ranges


def _range_of(format: formats.Format) -> tuple[float, float] | None:
    if format.type in _SCALED:
        most = 2.0 ** (format.bits - _SCALED[format.type])
        return (-most if _SCALED[format.type] else 0.0), most
    return _RANGES.get(format.type)


def _targets(top: dict[str, object], assumed: list[str]) -> dict[int, ColourTarget] | None:
    """By Location, as the attachments take them."""
    attachments = top.get("colorAttachments")
    if not isinstance(attachments, list):
        assumed += (visible.ASSUMED_TARGET, visible.ASSUMED_BLENDING)
        return None
    given = top.get("colorAttachmentLocations")
    locations = given if isinstance(given, list) else list(range(len(attachments)))
    targets: dict[int, ColourTarget] = {}
    for location, one in zip(locations, attachments):
        if isinstance(location, int) and isinstance(one, dict):
            targets[location] = _target(one, assumed)
    return targets


def _target(one: dict[str, object], assumed: list[str]) -> ColourTarget:
    given = one.get("format")
    format = formats.find(given)
    steep = 1.0
    if given is None:
        _note(assumed, visible.ASSUMED_TARGET)
    elif given in (0, formats.UNDEFINED):
        return ColourTarget(own=(0.0,) * 4)
    elif format is None:
        return ColourTarget(f"its target has the format {given}, of which nothing is known here")
    elif format.type not in _SHOWN or format.bits > _FEW_BITS:
        return ColourTarget(f"its target has the format {format.name}")
    elif format.type == "SRGB":
        steep = _SRGB
    blends = one.get("blendEnable")
    if blends is None:
        _note(assumed, visible.ASSUMED_BLENDING)
    own, alpha = [1.0] * 4, [0.0] * 4
    if blends is True and format is not None and format.type == "SNORM":
        return ColourTarget("its target blends signed numbers")
    if blends is True:
        _note(assumed, visible.ASSUMED_ONCE)
        color = _slopes(one, "srcColorBlendFactor", "dstColorBlendFactor", "colorBlendOp", False)
        last = _slopes(one, "srcAlphaBlendFactor", "dstAlphaBlendFactor", "alphaBlendOp", True)
        if color is None or last is None:
            return ColourTarget("its target blends in a way that is not known here")
        own, alpha = [color[0]] * 3 + [last[0]], [color[1]] * 3 + [0.0]
    for component in range(ALPHA):
        own[component] *= steep
        alpha[component] *= steep
    return ColourTarget("", tuple(own), tuple(alpha))


def _slopes(
    one: dict[str, object], source: str, target: str, operation: str, is_alpha: bool
) -> tuple[float, float] | None:
    """How much what is blended changes with the component itself, and with alpha, at most; sources,
    targets and factors lie between 0 and 1. None of what is not known."""
    op = _number(one.get(operation), state.OPERATIONS)
    if op is None or op >= len(state.OPERATIONS):
        return None
    if op >= _MIN:
        return 1.0, 0.0
    first = _number(one.get(source), state.FACTORS)
    second = _number(one.get(target), state.FACTORS)
    if first is None or second is None or first in _SECOND or second in _SECOND:
        return None
    if (first, second, op) == _OVER and not is_alpha:
        return 1.0, 1.0  # the slope is source - target
    own, alpha = 1.0, 0.0
    for factor in (first, second):
        if factor in _OF_SOURCE or (is_alpha and factor in _OF_ALPHA):
            own += 1.0
        elif factor in _OF_ALPHA:
            alpha += 1.0
    return own, alpha


def _number(given: object, names: tuple[str, ...]) -> int | None:
    if isinstance(given, str):
        return names.index(given) if given in names else None
    return given if isinstance(given, int) else None


def _note(assumed: list[str], what: str) -> None:
    if what not in assumed:
        assumed.append(what)
