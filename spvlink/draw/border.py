"""Do neighbouring stages fit together? An oracle for what drivers and old layers let pass.

Written for the tests alone, on `reflect`: Vulkan's "Interface Matching" and the rules on Locations
(VUID-RuntimeSpirv-OpEntryPoint-08743, -07754, -08746, VUID-StandaloneSpirv-Input-10604).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spvlink.draw.chain import in_order
from spvlink.draw.reflect import (
    BUILTIN,
    COMPONENT,
    FRAGMENT,
    GEOMETRY,
    INPUT,
    LOCATION,
    MESH,
    OUTPUT,
    TESS_CONTROL,
    TESS_EVALUATION,
    ReadStage,
)

_FLAT, _NOPERSPECTIVE, _PATCH, _CENTROID, _SAMPLE = 14, 13, 15, 16, 17
_PER_PRIMITIVE, _PER_VERTEX = 5271, 5285
_QUALIFIERS = (_FLAT, _NOPERSPECTIVE, _CENTROID, _SAMPLE, _PER_VERTEX)
_ARRAYED_INPUTS, _ARRAYED_OUTPUTS = {TESS_CONTROL, TESS_EVALUATION, GEOMETRY}, {TESS_CONTROL, MESH}

Place = tuple[int, int]  # (Location, Component)
_PATCHES = 1 << 16  # added to the Locations of Patch variables, which are a space of their own


@dataclass(frozen=True)
class BorderSlot:
    """One 32-bit component of a user variable. qualifiers: the interpolation decorations."""

    kind: str  # float, int, uint; the part of a 64-bit value has its own
    width: int
    patch: bool
    per_primitive: bool
    qualifiers: tuple[int, ...]
    name: str


def mismatches(codes: Sequence[bytes | tuple[bytes, str]]) -> list[str]:
    """What is wrong between neighbours, or within one interface; nothing is the good answer."""
    stages = in_order([ReadStage(c) if isinstance(c, bytes) else ReadStage(*c) for c in codes])
    reasons: list[str] = []
    tables = {}
    for stage in stages:
        for storage in (INPUT, OUTPUT):
            if (stage.model, storage) != (FRAGMENT, OUTPUT):
                tables[stage.model, storage] = _table(stage, storage, reasons)
    for producer, consumer in zip(stages, stages[1:]):
        outputs, inputs = tables[producer.model, OUTPUT], tables[consumer.model, INPUT]
        where = f"{producer.entry} of {producer.model} -> {consumer.model}"
        for place, wanted in sorted(inputs.items()):
            given = outputs.get(place) or outputs.get((place[0] ^ _PATCHES, place[1]))
            if given is None:
                reasons.append(f"{where}: {wanted.name} {place} is not written")
            elif (given.kind, given.width) != (wanted.kind, wanted.width):
                reasons.append(f"{where}: {wanted.name} {place} has another type")
            elif (given.patch, given.per_primitive) != (wanted.patch, wanted.per_primitive):
                reasons.append(f"{where}: {wanted.name} {place}: Patch or PerPrimitive on one side")
    return reasons


def slots(stage: ReadStage, storage: int) -> dict[Place, BorderSlot]:
    """The user interface of one side, component by component."""
    slots_at = dict[Place, BorderSlot]()
    table = _table(stage, storage, [])
    for location, component in sorted(table):  # those of vertices first
        slot = table[location, component]
        place = location % _PATCHES, component
        slots_at[(location, component) if place in slots_at else place] = slot
    return slots_at


def _table(stage: ReadStage, storage: int, reasons: list[str]) -> dict[Place, BorderSlot]:
    table: dict[Place, BorderSlot] = {}
    for (location, component), slot in _slots(stage, storage):
        place = location + _PATCHES * slot.patch, component
        if place in table:
            reasons.append(f"{stage.model}: {slot.name} and {table[place].name} overlap at {place}")
        table[place] = slot
    by_location: dict[int, BorderSlot] = {}
    for (location, _), slot in table.items():
        first = by_location.setdefault(location, slot)
        if first.per_primitive != slot.per_primitive:
            reasons.append(f"{stage.model}: Location {location} mixes {first.name} and {slot.name}")
        elif stage.model == FRAGMENT and first.qualifiers != slot.qualifiers:
            reasons.append(f"{stage.model}: Location {location} is read in two ways")
    return table


def _slots(stage: ReadStage, storage: int) -> Iterator[tuple[Place, BorderSlot]]:
    module = stage.module
    for variable in stage.interface:
        if module.variables.get(variable, (0, -1))[1] != storage:
            continue
        decorations = module.decorations[variable]
        type_id = stage.pointee(variable)
        arrayed = stage.model in (_ARRAYED_INPUTS if storage == INPUT else _ARRAYED_OUTPUTS)
        inner = stage.strip_arrays(type_id)[0]
        members = range(len(module.types[inner][1])) if module.types[inner][0] == 30 else ()
        patch = _PATCH in decorations or any(
            _PATCH in module.member_decorations[inner, m] for m in members
        )
        if (arrayed and not patch) or _PER_VERTEX in decorations:
            type_id = module.types[type_id][1][0]
        if BUILTIN in decorations or any(
            BUILTIN in module.member_decorations[inner, m] for m in members
        ):
            continue
        name = module.names.get(variable, "") or module.names.get(inner, "")
        place = (decorations.get(LOCATION, [0])[0], decorations.get(COMPONENT, [0])[0])
        yield from _place(stage, type_id, place, set(decorations), name, [0])


def _place(
    stage: ReadStage, type_id: int, place: Place, words: set[int], name: str, end: list[int]
) -> Iterator[tuple[Place, BorderSlot]]:
    """Slots of a type at a place; end[0] becomes the next free Location."""
    op, args = stage.module.types[type_id]
    location, component = place
    number = stage.numeric(type_id)
    if number is not None:
        parts = 2 if number.width == 64 else 1
        for i in range(number.count * parts):
            at = component + i
            yield (
                (location + at // 4, at % 4),
                BorderSlot(
                    number.kind,
                    number.width,
                    _PATCH in words,
                    _PER_PRIMITIVE in words,
                    tuple(q for q in _QUALIFIERS if q in words),
                    name,
                ),
            )
        end[0] = location + (component + number.count * parts + 3) // 4
    elif op == 30:
        for index, member in enumerate(args):
            own = stage.module.member_decorations[type_id, index]
            location = own.get(LOCATION, [location])[0]
            inner = (location, own.get(COMPONENT, [0])[0])
            label = stage.module.member_names.get((type_id, index), name)
            yield from _place(stage, member, inner, words | set(own), label, end)
            location = end[0]
    else:
        count = args[1] if op == 24 else stage.module.constants.get(args[1], 1)
        for _ in range(count):
            yield from _place(stage, args[0], (location, component), words, name, end)
            location = end[0]
