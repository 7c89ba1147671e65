"""Make variables of the slots of a Location, with names and decorations."""

from __future__ import annotations

from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.slot import Slot, Varying
from spvlink.link.border.link import Link
from spvlink.link.border.values import is_made_of_constants, single_value
from spvlink.link.pack.bins import Bin


def variables_of(link: Link, location: int, keys: list[int], bin: Bin | None) -> list[Varying]:
    """The variables of one Location: neighbours of one vector and one type are one variable. What a
    mesh shader stores at different places is not: it would be stored by components, which lavapipe
    (Mesa 25) loses in a vector."""
    out: list[Varying] = []
    last: tuple[object, ...] | None = None
    captured, inputs, outputs = link.outputs.captured, link.inputs.slots, link.outputs.slots
    is_mesh = link.producer.name == "mesh"
    expected = -1
    for at, key in enumerate(keys):
        if key < 0:
            continue
        read, written = inputs.get(key), outputs.get(key)
        slot = read or written
        assert slot is not None
        wire, qualifiers = slot.base, slot.qualifiers
        if bin is not None and bin.base != "mixed":
            wire, qualifiers = bin.base, bin.qualifiers
        kind: tuple[object, ...] = (
            slot.group if read is None else ~slot.group,
            wire,
            qualifiers,
            read is not None and read.relaxed,
            written is not None and written.relaxed,
        )
        if is_mesh:
            kind += (frozenset(link.sites[s] for s in link.stores.get(key, ())),)
        if key in captured:  # bytes that are neighbours, as the components are
            kind = (*kind, *captured[key][:3], captured[key][3] - 4 * at)
        if kind == last and at == expected:
            out[-1].keys.append(key)
        else:
            made = Varying(location, at, wire, [key])
            made.qualifiers = qualifiers
            made.captured = captured.get(key)
            out.append(made)
        last, expected = kind, at + (2 if wire.endswith("64") else 1)
    return _paired(link, out) if len(out) == 2 else out


def relaxed_by(link: Link, key: int) -> tuple[bool, bool]:
    """Whether the consumer, and the producer, say that half precision is enough for a slot."""
    sides = link.inputs.slots.get(key), link.outputs.slots.get(key)
    return sides[0] is not None and sides[0].relaxed, sides[1] is not None and sides[1].relaxed


def _paired(link: Link, varyings: list[Varying]) -> list[Varying]:
    """Two variables of a Location. Three components of half precision and one become two pairs,
    each a word where a device keeps such values in 16 bits, which does not hold for the others
    (Arm, "High varying load")."""
    first, second = varyings
    keys = first.keys + second.keys
    if len(keys) != 4 or len(first.keys) == 2 or link.in_place:
        return varyings
    if first.base != "f32" or second.base != "f32" or first.qualifiers != second.qualifiers:
        return varyings
    for key in keys:
        if relaxed_by(link, key) != (True, True) or _extras(link, key):
            return varyings
    if not link.outputs.captured.keys().isdisjoint(keys):
        return varyings  # whose bytes must be neighbours
    for varying, at in ((first, 0), (second, 2)):
        varying.component, varying.keys = at, keys[at : at + 2]
    return varyings


def joined(link: Link, varyings: list[Varying]) -> list[Varying]:
    """The same places in fewer variables of a fragment shader: neighbours in a Location become one
    vector, whatever they were. A Mali GPU fetches a variable from component 0 of its Location on,
    so it fetches such a Location once. Constants stay apart: drivers carry whole variables over.
    So does what other blocks read: what an arm needs is not to be read before it."""
    if link.consumer.name != "frag" or link.producer.name == "mesh":
        return varyings
    blocks: dict[Inst, Block] = {}
    out: list[Varying] = []
    for varying in sorted(varyings, key=lambda v: (v.location, v.component)):
        if out and _are_one(link, out[-1], varying):
            blocks = blocks or _blocks_of(link.consumer.module)
            readers = [
                {blocks.get(load) for load in link.loads.get(one.keys[0], ())}
                for one in (out[-1], varying)
            ]
            if readers[0] == readers[1]:
                out[-1].keys += varying.keys
                continue
        out.append(varying)
    return out


def _blocks_of(module: Module) -> dict[Inst, Block]:
    assert module.entry is not None
    return {inst: block for block in module.entry.function.blocks for inst in block.insts}


def _are_one(link: Link, first: Varying, second: Varying) -> bool:
    if first.location != second.location or first.component + len(first.keys) != second.component:
        return False
    if (first.base, first.qualifiers) != (second.base, second.qualifiers) or first.width != 32:
        return False
    for varying in (first, second):
        if varying.whole or varying.captured is not None or _is_fixed(link, varying.keys[0]):
            return False
    kinds = [
        (key in link.inputs.slots, relaxed_by(link, key), _extras(link, key))
        for key in (first.keys[-1], second.keys[0])
    ]
    return kinds[0] == kinds[1] and True not in kinds[0][1]


def _is_fixed(link: Link, key: int) -> bool:
    """Whether what is written is known when the pipeline is made."""
    value = single_value(link, key)
    return value is not None and is_made_of_constants(value)


def _extras(link: Link, key: int) -> tuple[tuple[int, ...], ...]:
    out = link.outputs.slots.get(key)
    return out.extras if out is not None else ()


def describe(link: Link, varying: Varying) -> None:
    """Name and decorations, from all that the variable is made of."""
    outputs, inputs = link.outputs.slots, link.inputs.slots
    slots: list[Slot] = []
    sources: list[Slot] = []
    extras: tuple[tuple[int, ...], ...] = ()
    for key in varying.keys:
        slot = outputs.get(key)
        if slot is not None:
            sources.append(slot)
            extras += slot.extras
        slots.append(inputs.get(key) or outputs[key])
    names: dict[str, None] = {}
    for slot, source in zip(slots, sources or slots):
        names[slot.name or source.name] = None
    names.pop("", None)
    varying.name = "_".join(names)
    if varying.whole:
        varying.name = varying.name.partition("[")[0]
    varying.extras = tuple(sorted(set(extras))) if extras else ()
