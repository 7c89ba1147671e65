"""Compare the built-ins of two stages, and their modes for patches and primitives."""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.link.check.border import DECORATIONS, LINKING
from spvlink.link.check.findings import Finding
from spvlink.link.check.interface import shape_of
from spvlink.link.check.stage import INPUT, OUTPUT

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.ir.core import Inst
    from spvlink.link.check.stage import BuiltIn, CheckedStage

    Between = tuple[str | None, str | None]

# What a stage before rasterization gets from the one before it; others are made by the device.
_HANDED: Final = {
    "tesc": frozenset((
        enums.BuiltIn_Position, enums.BuiltIn_PointSize, enums.BuiltIn_ClipDistance,
        enums.BuiltIn_CullDistance,
    )),
}  # fmt: skip
_HANDED["geom"] = _HANDED["tesc"]
_HANDED["tese"] = _HANDED["tesc"] | {enums.BuiltIn_TessLevelOuter, enums.BuiltIn_TessLevelInner}
_DISTANCES: Final = (enums.BuiltIn_ClipDistance, enums.BuiltIn_CullDistance)
# Who must write PrimitiveId if fragments read it.
_PRIMITIVE_ID: Final = {
    "geom": "VUID-VkGraphicsPipelineCreateInfo-pStages-00740",
    "mesh": "VUID-VkGraphicsPipelineCreateInfo-PrimitiveId-06264",
}
_CREATE: Final = "VUID-VkGraphicsPipelineCreateInfo-pStages-"
_DOMAINS: Final = {
    enums.ExecutionMode_Triangles: "triangles",
    enums.ExecutionMode_Quads: "quads",
    enums.ExecutionMode_Isolines: "isolines",
}
_PRIMITIVES: Final = {
    enums.ExecutionMode_InputPoints: "points",
    enums.ExecutionMode_InputLines: "lines",
    enums.ExecutionMode_InputLinesAdjacency: "lines with adjacency",
    enums.ExecutionMode_Triangles: "triangles",
    enums.ExecutionMode_InputTrianglesAdjacency: "triangles with adjacency",
}


def names_of(kinds: list[int]) -> str:
    """Built-ins by their SPIR-V names."""
    return ", ".join(_NAMES.get(kind, str(kind)) for kind in kinds) or "nothing"


_NAMES: Final = {
    value: name.removeprefix("BuiltIn_")
    for name, value in reversed(vars(enums).items())
    if name.startswith("BuiltIn_")
}


def findings(producer: CheckedStage, consumer: CheckedStage) -> list[Finding]:
    """What two neighbours declare of built-ins that does not match."""
    between = producer.name, consumer.name
    if consumer.name == "frag":
        return _to_fragments(producer, consumer, between)
    if consumer.name not in _HANDED:
        return _payloads(producer, consumer)
    wanted = [b for b in consumer.builtins[INPUT] if b.in_block or b.kind in _HANDED[consumer.name]]
    given = producer.builtins[OUTPUT]
    ours, theirs = ([b.kind for b in side if b.in_block] for side in (wanted, given))
    if ours and theirs and ours != theirs:
        first = next(b for b in wanted if b.in_block)
        message = (
            f"the blocks of built-ins differ: {producer.name} declares {names_of(theirs)},"
            f" {consumer.name} {names_of(ours)}"
        )
        return [Finding(DECORATIONS, message, str(first.label), None, between)]
    by_kind = {b.kind: b for b in given}
    mismatches = []
    for one in wanted:
        why = _unmatched(one, by_kind.get(one.kind), producer, consumer)
        if why:
            mismatches.append(Finding(LINKING, why, str(one.label), None, between))
    return mismatches


def _unmatched(
    one: BuiltIn, twin: BuiltIn | None, producer: CheckedStage, consumer: CheckedStage
) -> str:
    """What is wrong with a built-in that the consumer declares, or nothing."""
    name = names_of([one.kind])
    if twin is None:
        return f"{consumer.name} declares the input {name}, and {producer.name} does not output it"
    if one.kind in _DISTANCES:
        ours, theirs = types.size_of(_elements(one.type)), types.size_of(_elements(twin.type))
        if one.read and ours > theirs:
            return f"{consumer.name} declares {ours} of {name}, and {producer.name} {theirs}"
    return ""


def _elements(type: Inst) -> Inst:
    """The array of distances, without one over vertices."""
    inner = type.args[0] if type.op == ops.OpTypeArray else type
    return inner if inner.op == ops.OpTypeArray else type


def _to_fragments(
    producer: CheckedStage, consumer: CheckedStage, between: Between
) -> list[Finding]:
    """Fragment shaders may declare built-ins that nobody writes. Few are undefined then."""
    written = {b.kind for b in producer.builtins[OUTPUT] if b.written}
    unwritten = []
    for one in consumer.builtins[INPUT]:
        if not one.read or one.kind in written:
            continue
        name = names_of([one.kind])
        message = f"frag reads {name}, and {producer.name} does not write it"
        if one.kind == enums.BuiltIn_PrimitiveId and producer.name in _PRIMITIVE_ID:
            rule = _PRIMITIVE_ID[producer.name]
            unwritten.append(Finding(rule, message, str(one.label), None, between))
        elif one.kind in _DISTANCES:
            message += ": the value is undefined"
            unwritten.append(Finding(None, message, str(one.label), None, between, warning=True))
    return unwritten


def _payloads(producer: CheckedStage, consumer: CheckedStage) -> list[Finding]:
    """What a task shader hands to its mesh shaders."""
    storage = enums.StorageClass_TaskPayloadWorkgroupEXT
    wanted, given = consumer.listed(storage), producer.listed(storage)
    if not wanted:
        return []
    mine, between = wanted[0], (producer.name, consumer.name)
    assert mine.type is not None
    name = consumer.name_of(mine)
    if not given:
        message = f"{consumer.name} has the payload {name}, and {producer.name} has none"
        return [Finding(LINKING, message, name, None, between)]
    other = given[0].type
    assert other is not None
    if shape_of(mine.type.args[0]) != shape_of(other.args[0]):
        message = f"the payload {name} has another type in {producer.name}"
        return [Finding(LINKING, message, name, None, between)]
    return []


# -- patches and primitives --------------------------------------------------------------------


def modes(stages: dict[str, CheckedStage]) -> list[Finding]:
    """Execution modes that stages must have, or agree on."""
    mismatches = []
    control, evaluation = stages.get("tesc"), stages.get("tese")
    if control is not None and evaluation is not None:
        mismatches += _tessellation(control, evaluation)
    geometry = stages.get("geom")
    if geometry is not None and evaluation is not None:
        made, wanted = _made_by(control, evaluation), _wanted_by(geometry)
        if made and wanted and made != wanted:
            message = f"tese makes {made}, and geom takes {wanted}"
            mismatches.append(Finding(f"{_CREATE}00739", message, "", None, ("tese", "geom")))
    return mismatches


def _tessellation(control: CheckedStage, evaluation: CheckedStage) -> list[Finding]:
    mismatches = []
    between = control.name, evaluation.name
    ours, theirs = (
        [name for m, name in _DOMAINS.items() if m in s.modes] for s in (control, evaluation)
    )
    if not ours and not theirs:
        message = "neither stage says if it is triangles, quads or isolines"
        mismatches.append(Finding(f"{_CREATE}00732", message, "", None, between))
    elif ours and theirs and ours != theirs:
        message = f"tesc says {ours[0]}, and tese {theirs[0]}"
        mismatches.append(Finding(f"{_CREATE}00733", message, "", None, between))
    sizes = [s.modes.get(enums.ExecutionMode_OutputVertices) for s in (control, evaluation)]
    if sizes == [None, None]:
        message = "neither stage says how many vertices a patch has"
        mismatches.append(Finding(f"{_CREATE}00734", message, "", None, between))
    elif None not in sizes and sizes[0] != sizes[1]:
        message = "tesc and tese say different sizes of a patch"
        mismatches.append(Finding(f"{_CREATE}00735", message, "", None, between))
    return mismatches


def _made_by(control: CheckedStage | None, evaluation: CheckedStage) -> str:
    """The primitives that tessellation makes."""
    declared = set(evaluation.modes) | (set(control.modes) if control is not None else set())
    if enums.ExecutionMode_PointMode in declared:
        return "points"
    if enums.ExecutionMode_Isolines in declared:
        return "lines"
    return "triangles" if declared & _DOMAINS.keys() else ""


def _wanted_by(geometry: CheckedStage) -> str:
    return next((name for mode, name in _PRIMITIVES.items() if mode in geometry.modes), "")
