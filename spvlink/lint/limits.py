"""The limits of a device, and what of a pipeline exceeds them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from spvlink.errors import Usage
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.link.check.findings import Finding
from spvlink.link.check.stage import INPUT, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.ir.core import Inst
    from spvlink.link.check.interface import DeclaredVariable
    from spvlink.link.check.stage import CheckedStage

    Limits = dict[str, int]

# What every device has at least (Vulkan, "Required Limits"); of the features geometryShader,
# tessellationShader, shaderClipDistance and meshShader, what a device has that offers them.
REQUIRED: Final[dict[str, int]] = {
    "maxVertexOutputComponents": 64,
    "maxTessellationPatchSize": 32,
    "maxTessellationControlPerVertexInputComponents": 64,
    "maxTessellationControlPerVertexOutputComponents": 64,
    "maxTessellationControlPerPatchOutputComponents": 120,
    "maxTessellationControlTotalOutputComponents": 2048,
    "maxTessellationEvaluationInputComponents": 64,
    "maxTessellationEvaluationOutputComponents": 64,
    "maxGeometryShaderInvocations": 32,
    "maxGeometryInputComponents": 64,
    "maxGeometryOutputComponents": 64,
    "maxGeometryOutputVertices": 256,
    "maxGeometryTotalOutputComponents": 1024,
    "maxFragmentInputComponents": 64,
    "maxFragmentOutputAttachments": 4,
    "maxClipDistances": 8,
    "maxCullDistances": 8,
    "maxCombinedClipAndCullDistances": 8,
    # VkPhysicalDeviceMeshShaderPropertiesEXT
    "maxMeshOutputComponents": 128,
    "maxMeshOutputVertices": 256,
    "maxMeshOutputPrimitives": 256,
    "maxTaskPayloadSize": 16384,
}
_PLACE: Final = "VUID-RuntimeSpirv-Location-06272"
_STAGE: Final = "VUID-VkPipelineShaderStageCreateInfo-"
# (stage, storage class): its limit in components, and whether built-ins count, too
_COMPONENTS: Final = {
    ("vert", OUTPUT): ("maxVertexOutputComponents", True),
    ("tesc", INPUT): ("maxTessellationControlPerVertexInputComponents", False),
    ("tesc", OUTPUT): ("maxTessellationControlPerVertexOutputComponents", False),
    ("tese", INPUT): ("maxTessellationEvaluationInputComponents", False),
    ("tese", OUTPUT): ("maxTessellationEvaluationOutputComponents", False),
    ("geom", INPUT): ("maxGeometryInputComponents", True),
    ("geom", OUTPUT): ("maxGeometryOutputComponents", True),
    ("mesh", OUTPUT): ("maxMeshOutputComponents", False),
    ("frag", INPUT): ("maxFragmentInputComponents", True),
}
# (stage, execution mode): the limit of its number, and the rule
_PATCH: Final = ("maxTessellationPatchSize", f"{_STAGE}stage-00713")
_NUMBERS: Final = {
    ("tesc", enums.ExecutionMode_OutputVertices): _PATCH,
    ("tese", enums.ExecutionMode_OutputVertices): _PATCH,
    ("geom", enums.ExecutionMode_OutputVertices): (
        "maxGeometryOutputVertices", f"{_STAGE}stage-00714"
    ),
    ("geom", enums.ExecutionMode_Invocations): (
        "maxGeometryShaderInvocations", f"{_STAGE}stage-00715"
    ),
    ("mesh", enums.ExecutionMode_OutputVertices): (
        "maxMeshOutputVertices", "VUID-RuntimeSpirv-MeshEXT-07115"
    ),
    ("mesh", enums.ExecutionMode_OutputPrimitivesEXT): (
        "maxMeshOutputPrimitives", "VUID-RuntimeSpirv-MeshEXT-07116"
    ),
}  # fmt: skip
_CLIP: Final = enums.BuiltIn_ClipDistance
_CULL: Final = enums.BuiltIn_CullDistance
_DISTANCES: Final = (
    ((_CLIP,), "maxClipDistances", f"{_STAGE}maxClipDistances-00708"),
    ((_CULL,), "maxCullDistances", f"{_STAGE}maxCullDistances-00709"),
    (
        (_CLIP, _CULL), "maxCombinedClipAndCullDistances",
        f"{_STAGE}maxCombinedClipAndCullDistances-00710",
    ),
)  # fmt: skip


def findings(stage: CheckedStage, limits: Limits) -> Iterator[Finding]:
    """The limits that one stage exceeds."""
    for storage in (INPUT, OUTPUT):
        between = (None, stage.name) if storage == INPUT else (stage.name, None)
        if (stage.name, storage) in _COMPONENTS:
            yield from _components(stage, storage, limits, between)
        if stage.name != "vert" or storage == OUTPUT:
            yield from _distances(stage, storage, limits, between)
    yield from _attachments(stage, limits)
    for (name, mode), (limit, rule) in _NUMBERS.items():
        number = stage.modes.get(mode, [0])[0] if name == stage.name else 0
        if number > limits[limit]:
            yield Finding(
                rule, f"{stage.name} says {number}, and {limit} is {limits[limit]}",
                "", None, (stage.name, None),
            )  # fmt: skip
    yield from _totals(stage, limits)


def _end(one: DeclaredVariable) -> int:
    """Components up to the last one of a variable, as if all Locations were full."""
    location, component = max(one.covers, default=(0, -1))
    return 4 * location + component + 1


def _components(
    stage: CheckedStage, storage: int, limits: Limits, between: tuple[str | None, str | None]
) -> Iterator[Finding]:
    limit, counts = _COMPONENTS[stage.name, storage]
    builtins = sum(_size(b.type) for b in stage.builtins[storage] if b.in_block) if counts else 0
    variables = stage.inputs if storage == INPUT else stage.outputs
    patch = {v for v in variables if enums.Decoration_Patch in v.kind}
    groups = [(variables, limit, builtins)]
    if (stage.name, storage) == ("tesc", OUTPUT):
        per_patch = "maxTessellationControlPerPatchOutputComponents"
        groups = [([v for v in variables if v not in patch], limit, 0), ([*patch], per_patch, 0)]
    for group, name, extra in groups:
        last = max(group, key=_end, default=None)
        if last is None or _end(last) + extra <= limits[name]:
            continue
        with_them = f" and {extra} components of built-ins" if extra else ""
        what = "input" if storage == INPUT else "output"
        message = (
            f"{stage.name} {what} {last.label}: {_end(last)} components up to"
            f" Location {max(last.covers)[0]}{with_them} exceed {name} ({limits[name]})"
        )
        yield Finding(_PLACE, message, str(last.label), last.place, between)


def _size(type: Inst) -> int:
    """32-bit components of a built-in."""
    if type.op in (ops.OpTypeArray, ops.OpTypeVector, ops.OpTypeMatrix):
        return types.size_of(type) * _size(type.args[0])
    return 1


def _distances(
    stage: CheckedStage, storage: int, limits: Limits, between: tuple[str | None, str | None]
) -> Iterator[Finding]:
    sizes = {b.kind: _last_size(b.type) for b in stage.builtins[storage]}
    for kinds, limit, rule in _DISTANCES:
        total = sum(sizes.get(kind, 0) for kind in kinds)
        if total > limits[limit] and len(kinds & sizes.keys()) == len(kinds):
            message = f"{stage.name} declares {total} distances, and {limit} is {limits[limit]}"
            names = "gl_" + (" and gl_".join(_DISTANCE_NAMES[kind] for kind in kinds))
            yield Finding(rule, message, names, None, between)


_DISTANCE_NAMES: Final = {_CLIP: "ClipDistance", _CULL: "CullDistance"}


def _last_size(type: Inst) -> int:
    """Of the array of distances itself, not of one over vertices."""
    while type.op == ops.OpTypeArray and type.args[0].op == ops.OpTypeArray:
        type = type.args[0]
    return types.size_of(type)


def _attachments(stage: CheckedStage, limits: Limits) -> Iterator[Finding]:
    limit = "maxFragmentOutputAttachments"
    last = max(stage.outputs, key=_end, default=None) if stage.name == "frag" else None
    if last is not None and max(last.covers)[0] >= limits[limit]:
        message = (
            f"frag output {last.label} is at Location {max(last.covers)[0]}, and {limit} is"
            f" {limits[limit]}"
        )
        yield Finding(_PLACE, message, str(last.label), last.place, ("frag", None))


def _totals(stage: CheckedStage, limits: Limits) -> Iterator[Finding]:
    """The two limits of all vertices together, which no VUID is about."""
    vertices = stage.modes.get(enums.ExecutionMode_OutputVertices, [0])[0]
    builtins = sum(_size(b.type) for b in stage.builtins[OUTPUT] if b.in_block)
    apart = [v for v in stage.outputs if enums.Decoration_Patch in v.kind]
    own = sum(len(v.covers) for v in stage.outputs if v not in apart) + builtins
    if stage.name == "geom":
        total, limit = own * vertices, "maxGeometryTotalOutputComponents"
    elif stage.name == "tesc":
        total = own * vertices + sum(len(v.covers) for v in apart)
        limit = "maxTessellationControlTotalOutputComponents"
    else:
        return
    if total > limits[limit]:
        message = (
            f"{stage.name} outputs {total} components for {vertices} vertices, and {limit} is"
            f" {limits[limit]}"
        )
        yield Finding(f"VkPhysicalDeviceLimits::{limit}", message, "", None, (stage.name, None))


# -- reading them ----------------------------------------------------------------------------------


def read_limits(path: str) -> Limits:
    """Limits from a JSON file: an object with Vulkan's names, or one that has such objects inside,
    as ``vulkaninfo --json`` writes it. What is missing is as required. Raises Usage."""
    try:
        with open(path, "rb") as file:
            top = json.load(file)
    except OSError as error:
        raise Usage(f"{path}: cannot read it: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Usage(f"{path}: not JSON: {error}") from None
    if not isinstance(top, dict):
        raise Usage(f"{path}: expected an object with names of VkPhysicalDeviceLimits")
    return checked_limits(top, path)


def checked_limits(top: dict[str, object], path: str) -> Limits:
    """``top`` as ``read_limits`` reads it; ``path`` names it in errors. Raises Usage."""
    limits = dict(REQUIRED)
    found = 0
    todo = [top]
    for one in todo:  # grows
        for name, value in one.items():
            if isinstance(value, dict):
                todo.append(value)
            if name not in REQUIRED:
                _refuse_misspelt(path, name)
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise Usage(f"{path}: {name}: expected a number")
            limits[name] = value
            found += 1
    if not found:
        known = ", ".join(list(REQUIRED)[:3])
        raise Usage(f"{path}: there is no limit in it that counts here, as {known} ...")
    return limits


def _refuse_misspelt(path: str, name: str) -> None:
    """Raise Usage for a name that is nearly one of a limit; others are none of our business."""
    import difflib

    close = difflib.get_close_matches(name, REQUIRED, 1, 0.95)
    if close:
        raise Usage(f"{path}: there is no limit {name}: is it {close[0]}?")
