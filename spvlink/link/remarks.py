"""What became of every varying, in words: one remark for each group of components that met the same
fate."""

from __future__ import annotations

from spvlink.errors import Broken
from spvlink.grammar import enums
from spvlink.ir.slot import Interface, Pinned, Varying
from spvlink.link import interface, payload
from spvlink.link.border import Border, Link
from spvlink.link.compact import Placement
from spvlink.link.interface import Declared
from spvlink.pipeline import InterfaceResult, Linked, Remark

LANES = "xyzw"


def report(linked: Linked, border: Border) -> None:
    """Figures and remarks of one border."""
    result = InterfaceResult(border.producer.name, border.consumer.name)
    linked.interfaces.append(result)
    if border.producer.name == "task":
        _report_payload(linked, border, result)
        return
    if border.link is not None:
        assert border.placement is not None
        fill(linked, border.link, border.placement)
        result.components, result.locations = totals(border.link, border.placement)
        result.read = len(border.link.inputs.locations), border.placement.cost()[1]
        return
    try:
        outputs = interface.declared(border.producer.module, enums.StorageClass_Output)
    except Broken:
        return  # of an interface that is not ours to judge there are no figures
    fill_kept(linked, border.title, outputs, border.kept)
    places = {p for d in outputs for p in d.covers}
    result.components = (len(places),) * 2
    result.locations = (len({p[0] for p in places}),) * 2


def _report_payload(linked: Linked, border: Border, result: InterfaceResult) -> None:
    """The words of a payload are its components; it has no Locations."""
    if border.link is not None:
        assert border.placement is not None
        fill(linked, border.link, border.placement, in_memory=True)
        result.components = payload.totals(border.link, border.placement)
        return
    for name, words in payload.kept(border.producer):
        linked.remarks.append(Remark(border.title, name, "payload", "kept", border.kept))
        result.components = (words, words)


def fill(linked: Linked, link: Link, placement: Placement, in_memory: bool = False) -> None:
    """Append the remarks of one border; ``in_memory``: of a payload, which has no Locations."""
    new_place = {
        key: (v, lane) for v in placement.varyings for lane, key in enumerate(v.keys)
    }  # fmt: skip
    groups: dict[tuple[str, int, str, str], list[int]] = {}
    names: dict[int, str] = {}
    outputs, inputs = link.outputs.slots, link.inputs.slots
    for key in sorted(outputs.keys() | inputs.keys()):
        new = key in link.made  # another value has its place
        names[key] = link.made[key] if new else _name(link, key)
        action, why = link.fate.get(key, ("", ""))
        if key in new_place and not new:
            varying, lane = new_place[key]
            if action == "flattened":
                why += f"; {_target(varying, lane)}"
            elif in_memory or varying.place_of(lane) == (key >> 3, key >> 1 & 3):
                action, why = "kept", _kept(link, key)
            else:
                action, why = "packed", f"to {_target(varying, lane)}"
                if key in link.notes:
                    why += f"; {link.notes[key]}"
            slot = inputs.get(key) or outputs[key]
            changed = slot.qualifiers != varying.qualifiers
            if changed and key in link.loads and action != "flattened":
                action = "flattened"
                why = f"equal for the whole primitive; {_target(varying, lane)}"
        elif not action and not new:
            action, why = _nobody(link, key)
        if key in link.halves:
            why = f"{link.halves[key]}: {why}"
        groups.setdefault((names[key], key >> 3, action, why), []).append(key)
    for (name, location, action, why), keys in groups.items():
        lanes = "".join(LANES[k >> 1 & 3] for k in keys)
        place = "payload" if in_memory else str(location)
        linked.remarks.append(Remark(link.title, name, f"{place}.{lanes}", action, why))
    _whole(linked, link, placement, in_memory)


def fill_kept(linked: Linked, title: str, variables: list[Declared], why: str) -> None:
    """Remarks for an interface that stays as it is."""
    for variable in variables:
        location, _ = variable.place
        # an array whose size is a specialization constant covers nothing that is known
        last = max((spot[0] for spot in variable.covers), default=location)
        lanes = "".join(LANES[n] for n in sorted({n for _, n in variable.covers}))
        slot = f"{location}.{lanes}" if last == location else f"{location}-{last}.{lanes}"
        linked.remarks.append(Remark(title, variable.name, slot, "kept", why))


def _kept(link: Link, key: int) -> str:
    slot = link.inputs.slots.get(key)
    if key in link.notes:
        return link.notes[key]
    if slot is not None and key in link.loads:
        if key in link.outputs.captured:
            return f"the {link.consumer.name} stage reads it, transform feedback captures it"
        return f"the {link.consumer.name} stage reads it"
    return f"the {link.producer.name} stage writes it"


def _nobody(link: Link, key: int) -> tuple[str, str]:
    if key not in link.outputs.slots:
        return "removed", f"declared by the {link.consumer.name} stage only, and not read"
    if key not in link.inputs.slots:
        return "removed", f"the {link.consumer.name} stage does not declare it"
    return "removed", "neither written nor read"


def _name(link: Link, key: int) -> str:
    slot = link.outputs.slots.get(key)
    if slot is None or not slot.name:
        slot = link.inputs.slots.get(key, slot)
    return slot.name if slot is not None and slot.name else f"location {key >> 3}"


def _target(varying: Varying, lane: int) -> str:
    location, _ = varying.place_of(lane)
    count = varying.components // varying.columns
    return f"Location {location}.{LANES[varying.component : varying.component + count]}"


def _whole(linked: Linked, link: Link, placement: Placement, in_memory: bool) -> None:
    for name, (action, why) in sorted(link.idle.items()):
        linked.remarks.append(Remark(link.title, name, "built-in", action, why))
    for out in link.gone:
        action, why = link.fate[out.keys[0]]
        name = out.name or f"location {out.location}"
        place = "payload" if in_memory else _place_of(out)
        linked.remarks.append(Remark(link.title, name, place, action, why))
    for out, twin in link.pinned():
        slot = "payload" if in_memory else _place_of(out)
        name = out.name or (twin.name if twin is not None else "") or f"location {out.location}"
        moved = placement.moved.get(out, out.location)
        if moved != out.location:
            why = f"as a whole to Location {moved}; {out.why}"
            linked.remarks.append(Remark(link.title, name, slot, "packed", why))
        else:
            linked.remarks.append(Remark(link.title, name, slot, "kept", f"whole: {out.why}"))


def _place_of(whole: Pinned) -> str:
    last = max(k >> 3 for k in whole.keys)
    lanes = sorted({k >> 1 & 3 for k in whole.keys})
    place = f"{whole.location}-{last}" if last > whole.location else f"{whole.location}"
    return place if len(lanes) == 4 else f"{place}.{''.join(LANES[n] for n in lanes)}"


def totals(link: Link, placement: Placement) -> tuple[tuple[int, int], tuple[int, int]]:
    """(components before, after), (Locations before, after) of what the producer declares."""
    out: Interface = link.outputs
    components = sum(v.components for v in placement.varyings) + sum(
        len(p.keys) for p in out.pinned
    )
    locations = {v.place_of(n)[0] for v in placement.varyings for n in range(len(v.keys))} | {
        (k >> 3) + placement.moved[p] - p.location for p in out.pinned for k in p.keys
    }
    return (out.components, components), (len(out.locations), len(locations))
