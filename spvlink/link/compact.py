"""What is left goes into the fewest Locations.

The unit is a group: the live components of one vector, which stay together where that costs
nothing. A Location takes groups of one interpolation qualifier tuple only
(VUID-StandaloneSpirv-Input-10604) and of one base type (SPIR-V has no rule against mixed types, but
drivers and GLSL do). Groups are placed largest first where they fit (best-fit decreasing); then, as
long as all components of one qualifier tuple would fit into a Location less, the emptiest Location
is dissolved into the holes of the others, component by component. That always succeeds, since four
holes or more then stand against at most three components to move. Flat components of different base
types may share that way, as uint through OpBitcast, which keeps every bit; floats never carry
integers, since a float may lose its payload or be flushed to zero on the way.

64-bit scalars take two components, at 0 or 2, and share with 64-bit ones only; a vector of three or
four runs on in the next Location and stays one variable, as matrices and arrays do, where that
costs no Location. 16-bit numbers take a whole component each. What stays whole (dynamically indexed
arrays) is placed first, as a whole; its free components are open to the rest.

What the consumer does not read, because only transform feedback takes it or the producer reads it
back, comes last: into holes, then into Locations behind those that are read. A captured component
takes its place in the buffer along (``captures``), and only neighbours there are one variable.

The new placement is taken only if it needs fewer Locations than what is alive at its old places, or
the same number and a lower highest one, or fewer variables, and never one whose highest Location is
higher (gaps between whole variables could cause that). So a second run finds nothing to do.
"""

from __future__ import annotations

from spvlink.grammar import enums, info, ops
from spvlink.ir.core import INTERPOLATE
from spvlink.ir.slot import Pinned, Slot, Varying, Whole, base_of
from spvlink.link.aside import alone, aside_keys, place_captured
from spvlink.link.bins import UINT, Bin, close_gap, new_bin, put
from spvlink.link.border import Link

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable

    Group = tuple[tuple[int, ...], str, list[int]]  # qualifiers, base type, keys


class Placement:
    """A complete answer: where each live key goes, and each whole variable's shift."""

    __slots__ = ("aside", "locations", "moved", "varyings")

    def __init__(
        self, varyings: list[Varying], moved: dict[Pinned, int], locations: set[int],
        aside: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        self.varyings = varyings
        self.moved = moved  # the new Location of each whole variable
        self.locations = locations
        self.aside = aside  # keys that the consumer does not read

    def cost(self) -> tuple[int, int, int, int, int]:
        """(Locations, those that the consumer reads, the highest of these, the highest of all,
        variables)."""
        read = self.locations
        if self.aside:
            places = [
                v.place_of(n)[0]
                for v in self.varyings if not self.aside.issuperset(v.keys)
                for n in range(len(v.keys))
            ]  # fmt: skip
            whole = [
                (k >> 3) + at - p.location
                for p, at in self.moved.items() for k in p.keys if k not in self.aside
            ]  # fmt: skip
            read = {*places, *whole}
        highest = max(self.locations, default=-1), max(read, default=-1)
        return len(self.locations), len(read), highest[1], highest[0], len(self.varyings)


def run(link: Link, convergent: frozenset[int] = frozenset()) -> Placement:
    """The new interface of a border. Nothing is edited here: ``raise_io`` does that."""
    link.gather()
    wholes = _wholes(link)
    best = _old_places(link, wholes)
    highest = best.cost()[3]
    mixed = _is_mixed(best)  # then anything else is better
    if link.halves and not mixed:
        mixed = _mixes_widths(best)
    if mixed or wholes or best.moved or best.aside or not _is_least(link, best, convergent):
        choices: list[list[Whole]] = [wholes, [w for w in wholes if _fills(link, w)], []]
        for keep in choices if wholes else [[]]:
            new = packed(link, keep, convergent)
            if (new.cost()[3] <= highest or (mixed and (link.shared or link.halves))) and (
                mixed or new.cost() < best.cost()
            ):
                best, mixed = new, False
    for varying in best.varyings:
        _describe(link, varying)
    return best


def requalify(link: Link, placement: Placement) -> bool:
    """Give the slots that are read in another way now (``_fill``) those qualifiers; whether there
    were any."""
    found = False
    for varying in placement.varyings:
        for key in varying.keys:
            slot = link.inputs.slots.get(key)
            if slot is not None and key in link.loads and slot.qualifiers != varying.qualifiers:
                slot.qualifiers = varying.qualifiers
                link.fate[key] = ("flattened", "equal for the whole primitive")
                found = True
    return found


def _is_mixed(placement: Placement) -> bool:
    """Whether something of a patch or primitive shares a Location with something of a vertex."""
    held = {v.qualifiers for v in placement.varyings}
    shared = info.KIND_DECORATIONS
    if not placement.moved and all([shared.isdisjoint(qualifiers) for qualifiers in held]):
        return False
    kinds: dict[int, set[bool]] = {}
    for varying in placement.varyings:
        kinds.setdefault(varying.location, set()).add(not shared.isdisjoint(varying.qualifiers))
    for pinned in placement.moved:
        kind = not shared.isdisjoint(pinned.qualifiers)
        for key in pinned.keys:
            kinds.setdefault(key >> 3, set()).add(kind)
    return any(len(found) > 1 for found in kinds.values())


def _mixes_widths(placement: Placement) -> bool:
    """Whether a word of what had 64 bits shares a Location with what has them still."""
    wide: dict[int, set[bool]] = {}
    for varying in placement.varyings:
        for lane in range(len(varying.keys)):
            at = varying.place_of(lane)[0]
            wide.setdefault(at, set()).add(varying.width == 64)
    return any(len(found) > 1 for found in wide.values())


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


def _wholes(link: Link) -> list[Whole]:
    """The matrices and arrays that both sides declare alike and all of which is alive."""
    if not link.inputs.wholes or not link.outputs.wholes:
        return []
    theirs = {(w.op, str(w.columns)) for w in link.outputs.wholes}
    used = set(link.used())
    return [
        w
        for w in link.inputs.wholes
        if (w.op, str(w.columns)) in theirs
        and all(k in used for c in w.columns for k in c)
        and any(k in link.loads for c in w.columns for k in c)
        and not any(
            i.op == INTERPOLATE for c in w.columns for k in c for i in link.loads.get(k, ())
        )
    ]


def _fills(link: Link, whole: Whole) -> bool:
    """Whether all components of the Locations of a matrix, array or vector are taken."""
    slot = link.slot(whole.columns[0][0])
    return slot is not None and len(whole.columns[0]) * slot.components % 4 == 0


def _whole_varying(link: Link, whole: Whole, location: int) -> Varying:
    keys = [k for column in whole.columns for k in column]
    slot = link.slot(keys[0])
    assert slot is not None
    varying = Varying(location, keys[0] >> 1 & 3, slot.base, keys)
    if whole.op != ops.OpTypeVector:
        varying.whole = whole.op
        varying.columns = len(whole.columns)
    varying.qualifiers = slot.qualifiers
    varying.captured = link.outputs.captured.get(keys[0])
    return varying


def in_order(link: Link) -> Placement:
    """What is alive, where it was; matrices and arrays whole again where all of them is alive."""
    return at_old_places(link, _wholes(link))


def at_old_places(link: Link, wholes: list[Whole]) -> Placement:
    """What is alive, where it was."""
    placement = _old_places(link, wholes)
    for varying in placement.varyings:
        _describe(link, varying)
    return placement


def _old_places(link: Link, wholes: list[Whole]) -> Placement:
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
    for whole in wholes:
        varying = _whole_varying(link, whole, whole.columns[0][0] >> 3)
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
    for location, cells in bins.items():
        varyings += _varyings(link, location, cells, None)
    return Placement(varyings, moved, locations, aside_keys(link))


def packed(link: Link, wholes: list[Whole], convergent: frozenset[int] = frozenset()) -> Placement:
    """Everything in the fewest Locations, if these matrices and arrays stay whole."""
    bins: dict[int, Bin] = {}
    moved: dict[Pinned, int] = {}
    _place_whole(link, bins, moved)
    varyings = [_place_matrix(link, bins, w) for w in wholes]
    taken = {k for v in varyings for k in v.keys}
    aside = aside_keys(link)
    _place_groups(link, bins, _groups(link, taken | convergent | aside), frozenset())
    if convergent:
        _fill(link, bins, _groups(link, taken | aside | (set(link.used()) - convergent)))
        # what became Flat may be cast now
        _dissolve(bins, (enums.Decoration_Flat,), "32", True, frozenset())
    if aside:
        read = frozenset(id(bin) for bin in bins.values())
        captured = link.outputs.captured.keys()
        others = taken | (set(link.used()) - aside)
        _place_groups(link, bins, _groups(link, others | captured), read)
        place_captured(bins, _groups(link, others | (aside - captured)), read)
    _place_alone(link, bins, moved)
    for location in sorted(bins):
        varyings += _varyings(link, location, bins[location].cells, bins[location])
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
                _place(bins, qualifiers, base, keys, _relaxed(link, keys[0])[0])
        for width in ("16", "32", "64"):
            # a component of an integer type must be Flat in a fragment shader
            flat = link.exact or enums.Decoration_Flat in qualifiers
            _dissolve(bins, qualifiers, width, flat, fixed)


def _place_matrix(link: Link, bins: dict[int, Bin], whole: Whole) -> Varying:
    """A matrix or array in the first run of Locations that takes it."""
    varying = _whole_varying(link, whole, 0)
    words = len(whole.columns[0]) * (2 if varying.width == 64 else 1)
    # components taken in each Location
    sizes = ([words] if words <= 4 else [4, words - 4]) * len(whole.columns)
    if whole.op == ops.OpTypeMatrix:
        # spirv-val lets nothing else into the Locations of a matrix, whose Component one cannot
        # give either
        sizes = [4] * len(sizes)

    def fits(location: int) -> bool:
        for bin, size in ((bins.get(location + n), size) for n, size in enumerate(sizes)):
            if bin is not None and (
                bin.qualifiers != varying.qualifiers
                or bin.base != varying.base
                or bin.cells[:size] != [-1] * size
            ):
                return False
        return True

    while not fits(varying.location):
        varying.location += 1
    varying.component = 0
    for n, size in enumerate(sizes):
        at = varying.location + n
        bins.setdefault(at, Bin(at, varying.qualifiers, varying.base)).cells[:size] = [-2] * size
    return varying


def _groups(link: Link, taken: Iterable[int]) -> list[Group]:
    """(qualifiers, base type, keys) of the live components, by vector of the consumer, largest
    first."""
    found: dict[tuple[int, tuple[int, ...], str], list[int]] = {}
    for key in link.used():
        if key in taken:
            continue
        slot = link.slot(key)
        assert slot is not None
        found.setdefault((link.group(key), slot.qualifiers, slot.base), []).append(key)
    groups: list[Group] = []
    for (_, qualifiers, base), keys in found.items():
        most = 2 if base.endswith("64") else 4
        groups += [(qualifiers, base, keys[i : i + most]) for i in range(0, len(keys), most)]
    return sorted(groups, key=lambda g: (-len(g[2]), g[2][0]))


def _place_whole(link: Link, bins: dict[int, Bin], moved: dict[Pinned, int]) -> None:
    """Whole variables first: those that cannot move where they are, the others where they fit,
    longest first."""
    pairs = link.pinned()
    movable = [(a, b) for a, b in pairs if b is not None and a.movable and b.movable]
    for pair in pairs:
        if pair not in movable and not alone(link, *pair):
            for pinned in pair:
                if pinned is not None:
                    _block(link, bins, pinned, pinned.location, moved)
    for a, b in sorted(movable, key=lambda p: (-len(p[0].keys), p[0].keys[0])):
        assert b is not None
        at = 0
        while not _free_for(link, bins, b, at):
            at += 1
        for pinned in (a, b):
            _block(link, bins, pinned, at, moved)


def _place_alone(link: Link, bins: dict[int, Bin], moved: dict[Pinned, int]) -> None:
    """Whole outputs that the consumer does not read come last."""
    for out, twin in link.pinned():
        if alone(link, out, twin):
            at = 0
            while not _free_for(link, bins, out, at):
                at += 1
            _block(link, bins, out, at, moved)


def _shifted(pinned: Pinned, location: int) -> list[int]:
    return [k + 8 * (location - pinned.location) for k in pinned.keys]


def _covered(pinned: Pinned, location: int) -> list[int]:
    """The keys that nothing else may have then: spirv-val lets nothing into the Locations of a
    matrix or struct."""
    keys = _shifted(pinned, location)
    type = pinned.variable.type
    assert type is not None
    inner = type.args[0]
    while inner.op == ops.OpTypeArray:
        inner = inner.args[0]
    if inner.op in (ops.OpTypeMatrix, ops.OpTypeStruct):
        return [k + 2 * c for k in sorted({k & ~7 for k in keys}) for c in range(4)]
    return keys


def _base_of_whole(pinned: Pinned) -> str:
    type = pinned.variable.type
    assert type is not None
    scalar = type.args[0]
    while scalar.op in (ops.OpTypeArray, ops.OpTypeMatrix, ops.OpTypeVector):
        scalar = scalar.args[0]
    return base_of(scalar) if scalar.op in (ops.OpTypeInt, ops.OpTypeFloat) else "mixed"


def _qualifiers(link: Link, pinned: Pinned) -> tuple[int, ...]:
    """As the consumer declares them."""
    if pinned in link.inputs.pinned:
        return pinned.qualifiers
    twin = next((b for a, b in link.pinned() if a is pinned and b is not None), None)
    return twin.qualifiers if twin is not None else pinned.qualifiers


def _free_for(link: Link, bins: dict[int, Bin], pinned: Pinned, location: int) -> bool:
    qualifiers, base = _qualifiers(link, pinned), _base_of_whole(pinned)
    for key in _covered(pinned, location):
        bin = bins.get(key >> 3)
        if bin is None:
            continue
        if bin.cells[key >> 1 & 3] != -1 or bin.qualifiers != qualifiers or bin.base != base:
            return False
    return True


def _block(
    link: Link, bins: dict[int, Bin], pinned: Pinned, location: int, moved: dict[Pinned, int]
) -> None:
    """Take the components of a whole variable."""
    moved[pinned] = location
    qualifiers, base = _qualifiers(link, pinned), _base_of_whole(pinned)
    for key in _covered(pinned, location):
        bin = bins.setdefault(key >> 3, Bin(key >> 3, qualifiers, base))
        if bin.base != base or bin.qualifiers != qualifiers:
            bin.base = "mixed"
        bin.cells[key >> 1 & 3] = -2


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


def _dissolve(
    bins: dict[int, Bin], qualifiers: tuple[int, ...], width: str, flat: bool, fixed: frozenset[int]
) -> None:
    """Empty Locations into the holes of others as long as that saves one."""
    if width == "64":
        return  # scalars of 64 bits leave no holes that another could not have used
    while True:
        mine = [
            b
            for b in bins.values()
            if b.qualifiers == qualifiers and b.base != "mixed" and b.base.endswith(width)
        ]
        # what fills one of them and its holes are four components together
        if sum([b.free() for b in mine]) < 4:
            return
        if not _dissolve_one(bins, mine, flat and width == "32", fixed):
            return


def _dissolve_one(bins: dict[int, Bin], mine: list[Bin], cast: bool, fixed: frozenset[int]) -> bool:
    """Dissolve one Location if it can be; same base type first, then by bit-casting."""
    for by_cast in (False, True) if cast else (False,):
        for bin in sorted(mine, key=lambda b: (4 - b.free(), -b.location)):
            if -2 in bin.cells or id(bin) in fixed:
                continue  # it holds a part of something whole, or comes before these
            moving = [c for c in bin.cells if c >= 0]
            others = [b for b in mine if b is not bin and (by_cast or b.base == bin.base)]
            if by_cast:
                others = [b for b in others if -2 not in b.cells or b.base == bin.base]
            if sum([b.free() for b in others]) < len(moving):
                continue
            others.sort(key=lambda b: (b.base != bin.base, b.free(), b.location))
            for key in moving:
                target = next(b for b in others if b.free())
                target.cells[target.cells.index(-1)] = key
                if target.base != bin.base:
                    target.base = UINT
            del bins[bin.location]
            close_gap(bins, bin.location)
            return True
    return False


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
        if sum(b.free() for b in holes) >= len(keys):
            holes.sort(key=lambda b: (b.qualifiers != flat, b.free(), b.location))
            for key in keys:
                host = next(b for b in holes if b.free())
                host.cells[host.cells.index(-1)] = key
        else:
            put(host := new_bin(bins, flat, base), host.fit(len(keys), False), keys, False)


def _hosts(bin: Bin, qualifiers: tuple[int, ...]) -> bool:
    """Whether values that are equal for the primitive may be put beside these. What was Flat stays
    so: interpolation rounds, and the shader may rely on the exact bits (an index in a float)."""
    if enums.Decoration_Flat in qualifiers and enums.Decoration_Flat not in bin.qualifiers:
        return False
    return bin.base != "mixed" and info.APART_DECORATIONS.isdisjoint(bin.qualifiers)


def _varyings(link: Link, location: int, cells: list[int], bin: Bin | None) -> list[Varying]:
    """The variables of one Location: neighbours of one vector and one type are one variable. What a
    mesh shader stores at different places is not: it would be stored by components, which lavapipe
    (Mesa 25) loses in a vector."""
    out: list[Varying] = []
    last: tuple[object, ...] | None = None
    captured, inputs, outputs = link.outputs.captured, link.inputs.slots, link.outputs.slots
    is_mesh = link.producer.name == "mesh"
    expected = -1
    for at, key in enumerate(cells):
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


def _relaxed(link: Link, key: int) -> tuple[bool, bool]:
    """Whether the consumer, and the producer, say that half precision is enough for a slot."""
    found = link.inputs.slots.get(key), link.outputs.slots.get(key)
    return found[0] is not None and found[0].relaxed, found[1] is not None and found[1].relaxed


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
        if _relaxed(link, key) != (True, True) or _extras(link, key):
            return varyings
    if not link.outputs.captured.keys().isdisjoint(keys):
        return varyings  # whose bytes must be neighbours
    for varying, at in ((first, 0), (second, 2)):
        varying.component, varying.keys = at, keys[at : at + 2]
    return varyings


def _extras(link: Link, key: int) -> tuple[tuple[int, ...], ...]:
    out = link.outputs.slots.get(key)
    return out.extras if out is not None else ()


def _describe(link: Link, varying: Varying) -> None:
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
