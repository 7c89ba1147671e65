"""Describe the fate of every varying: one remark for each group of components with one fate."""

from __future__ import annotations

from spvlink.chain.border import Border
from spvlink.errors import Broken
from spvlink.grammar import enums
from spvlink.ir.slot import APART, Interface, Pinned, Varying, shown
from spvlink.link.border.link import PRODUCER, Link
from spvlink.link.builtins import closing
from spvlink.link.check import interface
from spvlink.link.check.interface import DeclaredVariable
from spvlink.link.pack.placement import Placement
from spvlink.link.payload import payload
from spvlink.pipeline import (
    FLATTENED,
    KEPT,
    MERGED,
    MOVED_BACKWARD,
    MOVED_FORWARD,
    PACKED,
    PROPAGATED,
    REMOVED,
    InterfaceResult,
    Linked,
    Remark,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.pipeline import Cells

LANES: Final = "xyzw"
_UNBOUNDED: Final = (None, "")
_CHANGED: Final = (PROPAGATED, MERGED, FLATTENED, MOVED_BACKWARD, MOVED_FORWARD)


class Story:
    """What there is to tell of a linked border, as long as nobody asks for it: what was decided,
    and the slots and variables that it is about, but nothing of the code."""

    __slots__ = (
        "built", "captured", "consumer", "fixed", "gone", "halves", "in_memory", "inputs",
        "outputs", "pinned", "placement", "producer", "read", "remarks",
    )  # fmt: skip

    def __init__(self, link: Link, placement: Placement, in_memory: bool) -> None:
        self.producer = link.producer.name
        self.consumer = link.consumer.name
        self.outputs = link.outputs.slots
        self.inputs = link.inputs.slots
        self.captured = link.outputs.captured
        self.read = frozenset(link.loads)  # the keys that the consumer reads
        self.remarks = link.remarks
        self.fixed = link.fixed
        self.halves = link.halves
        built = closing.of(link)
        self.built: list[tuple[str, tuple[str, str]]] = []
        if built is not None:
            from spvlink.link.builtins import known  # seldom: see chain/table

            self.built = known.tell(built)
        self.gone = link.gone
        self.pinned = link.pinned()
        self.placement = placement
        self.in_memory = in_memory  # of a payload, which has no Locations

    @property
    def title(self) -> str:
        return f"{self.producer}->{self.consumer}"


def report(linked: Linked, border: Border) -> None:
    """Figures and remarks of one border."""
    result = InterfaceResult(border.producer.name, border.consumer.name)
    linked.interfaces.append(result)
    if border.producer.name == "task":
        _report_payload(linked, border, result)
        return
    if border.link is not None:
        assert border.placement is not None
        story = Story(border.link, border.placement, False)
        linked.later.append(lambda: tell(story))
        result.components, result.locations = totals(border.link, border.placement)
        if border.fixed == PRODUCER:
            result.components = (result.components[0],) * 2
            result.locations = (result.locations[0],) * 2
        halved = border.link.remarks.halved
        result.wide = len(halved), 0
        if border.link.remarks.moved is not None:
            result.error_bound, result.assumed = border.link.remarks.moved
        result.read = len(border.link.inputs.locations), border.placement.cost()[1]
        built = closing.of(border.link)
        if built is not None and border.consumer.name == "frag":
            result.builtins = closing.counted(built)
        return
    try:
        outputs = interface.declared(border.producer.module, enums.StorageClass_Output)
    except Broken:
        return  # of an interface that is not ours to judge there are no figures
    remarks = kept_remarks(border.title, outputs, border.kept)
    linked.later.append(lambda: remarks)
    places = {p for d in outputs for p in d.covers}
    result.components = (len(places),) * 2
    result.locations = (len({p[0] for p in places}),) * 2


def _report_payload(linked: Linked, border: Border, result: InterfaceResult) -> None:
    """The words of a payload are its components; it has no Locations."""
    if border.link is not None:
        assert border.placement is not None
        story = Story(border.link, border.placement, True)
        linked.later.append(lambda: tell(story))
        result.components = payload.totals(border.link, border.placement)
        return
    remarks: list[Remark] = []
    for name, words in payload.kept(border.producer):
        remarks.append(Remark(border.title, name, "payload", KEPT, border.kept))
        result.components = (words, words)
    linked.later.append(lambda: remarks)


def tell(link: Story) -> list[Remark]:
    """The remarks of one border."""
    new_place = {
        key: (v, lane) for v in link.placement.varyings for lane, key in enumerate(v.keys)
    }  # fmt: skip
    groups: dict[tuple[str, int, str, str], list[int]] = {}
    names: dict[int, str] = {}
    outputs, inputs = link.outputs, link.inputs
    for key in sorted(outputs.keys() | inputs.keys()):
        new = key in link.remarks.made  # another value has its place
        names[key] = link.remarks.made[key] if new else _name(link, key)
        action, why = link.remarks.fate.get(key, ("", ""))
        dropped = link.fixed and action and key not in link.read  # still declared
        if key in new_place and not new and not dropped:
            varying, lane = new_place[key]
            if action == FLATTENED:
                why += f"; {_target(link, varying, lane)}"
            elif link.in_memory or varying.place_of(lane) == (key >> 3, key >> 1 & 3):
                action, why = KEPT, _kept(link, key)
            else:
                action, why = PACKED, f"to {_target(link, varying, lane)}"
                if key in link.remarks.notes:
                    why += f"; {link.remarks.notes[key]}"
            slot = inputs.get(key) or outputs[key]
            changed = slot.qualifiers != varying.qualifiers
            if changed and key in link.read and action != FLATTENED:
                action = FLATTENED
                why = f"equal for the whole primitive; {_target(link, varying, lane)}"
            if key in link.remarks.halved:
                there = _target(link, varying, lane)
                action, why = PACKED, f"{there}: {link.remarks.halved[key][1]}"
        elif key in link.remarks.halved:
            why += f"; {link.remarks.halved[key][1]}"
        elif not action and not new:
            action, why = _nobody(link, key)
        if key in link.remarks.cautions and action in _CHANGED:
            why += f"; {link.remarks.cautions[key]}"
        if key in link.halves:
            why = f"{link.halves[key]}: {why}"
        groups.setdefault((names[key], shown(key >> 3), action, why), []).append(key)
    remarks: list[Remark] = []
    for (name, location, action, why), keys in groups.items():
        lanes = "".join(LANES[k >> 1 & 3] for k in keys)
        place = "payload" if link.in_memory else str(location)
        cells = _cells(link, keys, new_place)
        told = Remark(link.title, name, f"{place}.{lanes}", action, why, cells)
        bounds = [link.remarks.halved.get(key, _UNBOUNDED)[0] for key in keys]
        told.error_bound = max([bound for bound in bounds if bound is not None], default=None)
        remarks.append(told)
    return remarks + _whole(link)


def _cells(link: Story, keys: list[int], places: dict[int, tuple[Varying, int]]) -> Cells:
    """Where these slots were and are; the words of a payload stay in their order."""
    before: list[int] = []
    after: list[int] = []
    for key in keys:
        slot = link.outputs.get(key) or link.inputs[key]
        was = [_cell(link, k >> 1) for k in slot.covered()]
        before += was
        if key not in places:
            after += was if link.fixed == PRODUCER and key in link.outputs else ()
            continue
        if link.in_memory:
            after += was
            continue
        varying, lane = places[key]
        location, component = varying.place_of(lane)
        cell = 4 * shown(location) + component
        after += (cell, cell + 1) if varying.width == 64 else (cell,)
    return tuple(before), tuple(after)


def kept_remarks(title: str, variables: list[DeclaredVariable], why: str) -> list[Remark]:
    """Remarks for an interface that stays as it is."""
    remarks: list[Remark] = []
    for variable in variables:
        location, _ = variable.place
        # an array whose size is a specialization constant covers nothing that is known
        last = max((spot[0] for spot in variable.covers), default=location)
        lanes = "".join(LANES[n] for n in sorted({n for _, n in variable.covers}))
        slot = f"{location}.{lanes}" if last == location else f"{location}-{last}.{lanes}"
        cells = tuple(sorted(4 * at + lane for at, lane in variable.covers))
        remarks.append(Remark(title, variable.name, slot, KEPT, why, (cells, cells)))
    return remarks


def _kept(link: Story, key: int) -> str:
    slot = link.inputs.get(key)
    if key in link.remarks.notes:
        return link.remarks.notes[key]
    if slot is not None and key in link.read:
        if key in link.captured:
            return f"the {link.consumer} stage reads it, transform feedback captures it"
        return f"the {link.consumer} stage reads it"
    if link.fixed == PRODUCER:
        return f"the {link.consumer} stage reads other parts of it"
    return f"the {link.producer} stage writes it"


def _nobody(link: Story, key: int) -> tuple[str, str]:
    if link.fixed == PRODUCER and key in link.outputs:
        return KEPT, f"the {link.producer} stage stays as it is"
    if key not in link.outputs:
        return REMOVED, f"declared by the {link.consumer} stage only, and not read"
    if key not in link.inputs:
        return REMOVED, f"the {link.consumer} stage does not declare it"
    return REMOVED, "neither written nor read"


def _name(link: Story, key: int) -> str:
    slot = link.outputs.get(key)
    if slot is None or not slot.name:
        slot = link.inputs.get(key, slot)
    return slot.name if slot is not None and slot.name else f"location {shown(key >> 3)}"


def _target(link: Story, varying: Varying, lane: int) -> str:
    """Where the vector that this is a lane of is now; its variable may hold others, too."""
    location, _ = varying.place_of(lane)
    lanes = LANES[varying.component : varying.component + varying.components // varying.columns]
    if not varying.whole and varying.width == 32:
        key = varying.keys[lane]
        vector = key >> 3, _name(link, key)
        lanes = "".join(
            [LANES[varying.component + n] for n, other in enumerate(varying.keys)
             if (other >> 3, _name(link, other)) == vector]
        )  # fmt: skip
    return f"Location {shown(location)}.{lanes}"


def _whole(link: Story) -> list[Remark]:
    """The remarks on built-ins and on what stayed whole."""
    remarks: list[Remark] = []
    for name, (action, why) in sorted(link.remarks.idle.items()):
        remarks.append(Remark(link.title, name, "built-in", action, why))
    remarks += [Remark(link.title, name, "built-in", *fate) for name, fate in link.built]
    for out in link.gone:
        action, why = link.remarks.fate[out.keys[0]]
        name = out.name or f"location {shown(out.location)}"
        place = "payload" if link.in_memory else _place_of(out)
        remarks.append(Remark(link.title, name, place, action, why, (_cells_of(link, out, 0), ())))
    for out, twin in link.pinned:
        slot = "payload" if link.in_memory else _place_of(out)
        name = (
            out.name or (twin.name if twin is not None else "") or f"location {shown(out.location)}"
        )
        moved = link.placement.moved.get(out, out.location)
        cells = _cells_of(link, out, 0), _cells_of(link, out, moved - out.location)
        if moved != out.location:
            why = f"as a whole to Location {shown(moved)}; {out.why}"
            remarks.append(Remark(link.title, name, slot, PACKED, why, cells))
        else:
            remarks.append(Remark(link.title, name, slot, KEPT, f"whole: {out.why}", cells))
    return remarks


def _cells_of(link: Story, whole: Pinned, by: int) -> tuple[int, ...]:
    """The cells of a whole variable, that many Locations further."""
    return tuple([_cell(link, (key >> 1) + 4 * by) for key in whole.keys])


def _cell(link: Story, cell: int) -> int:
    """A component of a Location as the module numbers it; the words of a payload are no such."""
    return cell if link.in_memory else cell % (4 * APART)


def _place_of(whole: Pinned) -> str:
    first, last = shown(whole.location), shown(max(k >> 3 for k in whole.keys))
    lanes = sorted({k >> 1 & 3 for k in whole.keys})
    place = f"{first}-{last}" if last > first else f"{first}"
    return place if len(lanes) == 4 else f"{place}.{''.join(LANES[n] for n in lanes)}"


def totals(link: Link, placement: Placement) -> tuple[tuple[int, int], tuple[int, int]]:
    """(components before, after), (Locations before, after) of what the producer declares."""
    out: Interface = link.outputs
    components = 0
    locations: set[int] = set()
    for varying in placement.varyings:
        components += varying.components
        if varying.columns == 1 and varying.component + varying.components <= 4:  # nearly all
            locations.add(varying.location)
        else:
            locations.update([varying.place_of(n)[0] for n in range(len(varying.keys))])
    for pinned in out.pinned:
        components += len(pinned.keys)
        by = placement.moved[pinned] - pinned.location
        locations.update([(k >> 3) + by for k in pinned.keys])
    return (out.components, components), (len(out.locations), len(locations))
