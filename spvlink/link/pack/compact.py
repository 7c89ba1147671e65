"""Pack the remaining components into the fewest Locations.

    Location 0: a.xyz    1: b.xy    2: c.x      ->      0: a.xyz, c.x    1: b.xy

The unit is a group: the live components of one vector.

1. Variables that stay whole (arrays with a dynamic index, matrices) get their Locations first.
2. The groups follow, the largest first, each where it fits best (best-fit decreasing).
3. If all components of one kind would fit into one Location less, one Location is emptied into the
   holes of the others (``dissolve`` chooses which).
4. Captured components, and those that only the producer reads back, come last (``unread``).
5. What a fragment shader reads of one Location becomes one vector (``variables.joined``).

64-bit scalars take two components, at 0 or 2, and share a Location with 64-bit ones only. A 64-bit
vector of three or four continues in the next Location. 16-bit numbers take a whole component.

Why it is right. Both stages declare the same new places, and no value changes. A Location holds one
tuple of interpolation qualifiers only (VUID-StandaloneSpirv-Input-10604) and one base type: SPIR-V
has no rule against mixed types, but GLSL and drivers have. Flat components of different base types
may share it as uint through OpBitcast, which keeps every bit.

What breaks it.
* Floats that carry integers: a NaN may lose its payload, a denormal may be flushed. Never done.
* Transform feedback: a captured component keeps its place in the buffer (``captures``), and only
  neighbours in the buffer become one variable.

Cost. None at run time, unless a vector is torn (``dissolve``). A Mali GPU fetches a variable from
component 0 of its Location on: 3 and 4 components for an xyz and a w, 4 for one vector of both. So
25 pipelines of Vulkan-Samples took over 2 % more cycles on PanVK, before they were joined, and 6 do
since. The new placement is taken only if it needs fewer Locations than before; or as many, with a
lower highest Location or fewer variables. The highest Location never rises. So a second run finds
nothing to do.
"""

from __future__ import annotations

from spvlink.grammar import enums, info
from spvlink.ir.slot import Aggregate, Pinned, Varying
from spvlink.link.border.link import Link
from spvlink.link.pack.bins import Bin, new_bin, put
from spvlink.link.pack.dissolve import dissolve
from spvlink.link.pack.placement import Placement
from spvlink.link.pack.unread import aside_keys, place_captured
from spvlink.link.pack.variables import describe, joined, relaxed_by, variables_of
from spvlink.link.pack.whole_variables import (
    fills,
    place_matrix,
    place_unread_whole,
    place_whole,
    whole_values,
    whole_varying,
)
from spvlink.pipeline import FLATTENED, PACK_VECTORS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable

    from spvlink.link.pack.placement import Group


def compact(link: Link, convergent: frozenset[int] = frozenset()) -> Placement:
    """The new interface of a border. Nothing is edited here: ``raise_io`` does that."""
    link.gather()
    aggregates = whole_values(link)
    best = old = _old_places(link, aggregates)
    highest = best.cost()[3]
    mixed = _is_mixed(best)  # then anything else is better
    if link.halves and not mixed:
        mixed = _mixes_widths(best)
    if link.narrowed and not mixed:
        mixed = _mixes_bases(best)
    if mixed or aggregates or best.moved or best.aside or not _is_least(link, best, convergent):
        choices: list[list[Aggregate]] = [aggregates, [w for w in aggregates if fills(link, w)], []]
        for keep in choices if aggregates else [[]]:
            new = packed(link, keep, convergent)
            if (
                new.cost()[3] <= highest
                or (mixed and (link.shared or link.halves or link.narrowed))
            ) and (mixed or new.cost() < best.cost()):
                best, mixed = new, False
    if best is not old:
        best.varyings = joined(link, best.varyings)
    for varying in best.varyings:
        describe(link, varying)
    return best


def requalify(link: Link, placement: Placement) -> bool:
    """Give the slots that are read in another way now (``_fill``) those qualifiers; whether there
    were any."""
    changed = False
    for varying in placement.varyings:
        for key in varying.keys:
            slot = link.inputs.slots.get(key)
            if slot is not None and key in link.loads and slot.qualifiers != varying.qualifiers:
                slot.qualifiers = varying.qualifiers
                link.remarks.fate[key] = (FLATTENED, "equal for the whole primitive")
                changed = True
    return changed


def _is_mixed(placement: Placement) -> bool:
    """Whether a Location holds what is read in different ways: something of a patch or primitive
    beside something of a vertex, or a slot that a pass has made Flat beside a smooth one."""
    kinds: dict[int, set[bool]] = {}
    reads: dict[int, set[tuple[int, ...]]] = {}
    shared = info.KIND_DECORATIONS
    for varying in placement.varyings:
        kinds.setdefault(varying.location, set()).add(not shared.isdisjoint(varying.qualifiers))
        reads.setdefault(varying.location, set()).add(varying.qualifiers)
    for pinned in placement.moved:
        for key in pinned.keys:
            kinds.setdefault(key >> 3, set()).add(not shared.isdisjoint(pinned.qualifiers))
    return any(len(there) > 1 for there in kinds.values()) or any(
        len(there) > 1 for there in reads.values()
    )


def _mixes_widths(placement: Placement) -> bool:
    """Whether a word of what had 64 bits shares a Location with what has them still."""
    wide: dict[int, set[bool]] = {}
    for varying in placement.varyings:
        for lane in range(len(varying.keys)):
            at = varying.place_of(lane)[0]
            wide.setdefault(at, set()).add(varying.width == 64)
    return any(len(widths) > 1 for widths in wide.values())


def _mixes_bases(placement: Placement) -> bool:
    """Whether a Location holds numbers of several types."""
    bases: dict[int, set[str]] = {}
    for varying in placement.varyings:
        for lane in range(len(varying.keys)):
            bases.setdefault(varying.place_of(lane)[0], set()).add(varying.base)
    return any(len(there) > 1 for there in bases.values())


def _is_least(link: Link, placement: Placement, convergent: frozenset[int]) -> bool:
    """Whether no placement of these slots can be better: no Location is missing or could be saved,
    and each variable holds all of its vector that is alive."""
    sizes: dict[tuple[int, ...], int] = {}
    groups: set[int] = set()
    for varying in placement.varyings:
        slot = link.slot(varying.keys[0])
        assert slot is not None
        groups.add(link.group(varying.keys[0]))
        kind = () if convergent else varying.qualifiers
        sizes[kind] = sizes.get(kind, 0) + varying.components
    locations, _, _, highest, variables = placement.cost()
    least = sum([(size + 3) // 4 for size in sizes.values()])
    return locations == least and highest == least - 1 and variables == len(groups)


def in_order(link: Link) -> Placement:
    """What is alive, where it was; matrices and arrays whole again where all of them is alive."""
    return at_old_places(link, whole_values(link))


def at_old_places(link: Link, aggregates: list[Aggregate]) -> Placement:
    """What is alive, where it was."""
    placement = _old_places(link, aggregates)
    for varying in placement.varyings:
        describe(link, varying)
    return placement


def _old_places(link: Link, aggregates: list[Aggregate]) -> Placement:
    """The same, but for names and decorations."""
    moved: dict[Pinned, int] = {}
    locations: set[int] = set()
    for pair in link.pinned():
        for pinned in pair:
            if pinned is not None:
                moved[pinned] = pinned.location
                locations.update([k >> 3 for k in pinned.keys])
    bins: dict[int, list[int]] = {}
    varyings: list[Varying] = []
    taken: set[int] = set()
    for whole in aggregates:
        varying = whole_varying(link, whole, whole.columns[0][0] >> 3)
        varyings.append(varying)
        taken.update(varying.keys)
        locations.update([k >> 3 for k in varying.keys])
    for key in link.used():  # in order
        if key in taken:
            continue
        location = key >> 3
        if location not in bins:
            bins[location] = [-1, -1, -1, -1]
        bins[location][key >> 1 & 3] = key
    locations.update(bins)
    for location, keys in bins.items():
        varyings += variables_of(link, location, keys, None)
    return Placement(varyings, moved, locations, aside_keys(link))


def packed(
    link: Link, aggregates: list[Aggregate], convergent: frozenset[int] = frozenset()
) -> Placement:
    """Everything in the fewest Locations, if these matrices and arrays stay whole."""
    bins: dict[int, Bin] = {}
    moved: dict[Pinned, int] = {}
    place_whole(link, bins, moved)
    varyings = [place_matrix(link, bins, w) for w in aggregates]
    taken = {k for v in varyings for k in v.keys}
    aside = aside_keys(link)
    _place_groups(link, bins, _groups(link, taken | convergent | aside), frozenset())
    if convergent:
        _fill(link, bins, _groups(link, taken | aside | (set(link.used()) - convergent)))
        # what became Flat may be cast now
        dissolve(link, bins, (enums.Decoration_Flat,), "32", True, frozenset())
    if aside:
        read = frozenset(id(bin) for bin in bins.values())
        captured = link.outputs.captured.keys()
        others = taken | (set(link.used()) - aside)
        _place_groups(link, bins, _groups(link, others | captured), read)
        place_captured(link, bins, _groups(link, others | aside.difference(captured)), read)
    place_unread_whole(link, bins, moved)
    for location in sorted(bins):
        varyings += variables_of(link, location, bins[location].components, bins[location])
    return Placement(varyings, moved, set(bins), aside)


def _place_groups(
    link: Link, bins: dict[int, Bin], groups: list[Group], fixed: frozenset[int]
) -> None:
    """Put groups where they fit best and close the holes; ``fixed``: the Locations (by the ids of
    their bins) that stay."""
    for qualifiers in sorted({g[0] for g in groups}):
        mine = [g for g in groups if g[0] == qualifiers]
        for base in sorted({g[1] for g in mine}):
            for _, _, keys in (g for g in mine if g[1] == base):
                _place(bins, qualifiers, base, keys, relaxed_by(link, keys[0])[0])
        for width in ("16", "32", "64"):
            # a component of an integer type must be Flat in a fragment shader
            flat = link.exact or enums.Decoration_Flat in qualifiers
            dissolve(link, bins, qualifiers, width, flat, fixed)


def _groups(link: Link, taken: Iterable[int]) -> list[Group]:
    """(qualifiers, base type, keys) of the live components, by vector of the consumer, largest
    first."""
    by_vector: dict[tuple[int, tuple[int, ...], str], list[int]] = {}
    for key in link.used():
        if key in taken:
            continue
        slot = link.slot(key)
        assert slot is not None
        by_vector.setdefault((link.group(key), slot.qualifiers, slot.base), []).append(key)
    groups: list[Group] = []
    for (_, qualifiers, base), keys in by_vector.items():
        most = 2 if base.endswith("64") else 4
        groups += [(qualifiers, base, keys[i : i + most]) for i in range(0, len(keys), most)]
    return sorted(groups, key=lambda g: (-len(g[2]), g[2][0]))


def _place(
    bins: dict[int, Bin], qualifiers: tuple[int, ...], base: str, keys: list[int], relaxed: bool
) -> None:
    """Put one group into the Location of its kind that it fills best, if there is one among others
    of its precision, or into a new one."""
    wide = base.endswith("64")
    size = len(keys) * (2 if wide else 1)
    best: Bin | None = None
    for bin in bins.values():
        if bin.qualifiers == qualifiers and bin.base == base and bin.fit(size, wide) >= 0:
            rank = bin.relaxed != relaxed, bin.free(), bin.location
            if best is None or rank < (best.relaxed != relaxed, best.free(), best.location):
                best = bin
    if best is None:
        best = new_bin(bins, qualifiers, base)
        best.relaxed = relaxed
    put(best, best.fit(size, wide), keys, wide)


def _fill(link: Link, bins: dict[int, Bin], groups: list[Group]) -> None:
    """Slots that may be read with any qualifier: whole groups into holes of their own kind, then
    single components into any hole as far as that saves a Location, the rest into new flat
    Locations."""
    flat = (enums.Decoration_Flat,)
    rest: list[Group] = []
    for qualifiers, base, keys in groups:
        hosts = [
            b
            for b in bins.values()
            if b.base == base and b.fit(len(keys), False) >= 0 and _hosts(b, qualifiers)
        ]
        if hosts:
            host = min(
                hosts, key=lambda b: (b.qualifiers != qualifiers, b.qualifiers != flat, b.free())
            )
            put(host, host.fit(len(keys), False), keys, False)
        else:
            rest.append((qualifiers, base, keys))
    for qualifiers, base, keys in rest:
        holes = [b for b in bins.values() if b.base == base and b.free() and _hosts(b, qualifiers)]
        tears = len(keys) > 1 and link.pack == PACK_VECTORS
        if sum(b.free() for b in holes) >= len(keys) and not tears:
            holes.sort(key=lambda b: (b.qualifiers != flat, b.free(), b.location))
            for key in keys:
                host = next(b for b in holes if b.free())
                host.components[host.components.index(-1)] = key
        else:
            put(host := new_bin(bins, flat, base), host.fit(len(keys), False), keys, False)


def _hosts(bin: Bin, qualifiers: tuple[int, ...]) -> bool:
    """Whether values that are equal for the primitive may be put beside these. What was Flat stays
    so: interpolation rounds, and the shader may rely on the exact bits (an index in a float)."""
    if enums.Decoration_Flat in qualifiers and enums.Decoration_Flat not in bin.qualifiers:
        return False
    return info.APART_DECORATIONS.isdisjoint(bin.qualifiers)
