"""Choose the slots of a set of pipelines, which all of its modules share.

A wire is a component of a producer with all of its consumers, all other producers from which these
read it, and so on. It has one slot in all of these modules. Wires that no module declares together
may share a slot. Wires of one vector that the same modules declare form a unit: one variable, which
is declared alike in all of them.

    A gives normal.xyz to X, normal.z to Y   ->   units normal.xy {A, X}, normal.z {A, X, Y}

Units are placed one after the other, each where it fits first: a colouring, in which units of one
module exclude each other. In one module a Location has one base type and one tuple of qualifiers
(VUID-StandaloneSpirv-Input-10604). The new places are taken only if no module needs more Locations
than before and the sum over all modules is smaller.

Variables that stay whole keep their Locations, and nothing else goes there. If transform feedback
captures something, all variables keep their places.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.slot import Interface, Slot, Varying
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    from spvlink.chain.border import Border

    Side = tuple[Stage, int]  # a stage and a storage class
    Sharing = tuple[tuple[object, ...], ...]

INPUT: Final = enums.StorageClass_Input
OUTPUT: Final = enums.StorageClass_Output
LANES: Final = 4  # of a Location


class Unit:
    """Wires that are one variable. ``keys``: the old ones, a lane each. ``base``: the scalar type
    on the wire. ``kinds``: for each side that declares them, the qualifiers there."""

    __slots__ = ("base", "keys", "kinds", "lane", "location")

    def __init__(self, keys: list[int], base: str, kinds: dict[Side, tuple[int, ...]]) -> None:
        self.keys = keys
        self.base = base
        self.kinds = kinds
        self.location = keys[0] >> 3
        self.lane = keys[0] >> 1 & 3

    @property
    def size(self) -> int:
        """Lanes that are covered."""
        return len(self.keys) * (2 if self.base.endswith("64") else 1)


class Crossing:
    """All that crosses at a seam."""

    def __init__(self, stages: list[Stage], seam: list[Border]) -> None:
        self.seam = seam
        self.links: list[Link] = []
        self.sides: dict[Side, Interface] = {}
        self.declared: dict[Side, set[int]] = {}
        self.sites: dict[Side, Link] = {}  # a link by which a side's stores are known
        for border in seam:
            link = border.link
            assert link is not None
            link.gather()
            self.links.append(link)
            self._look(link)
        self.order = {stage: at for at, stage in enumerate(stages)}
        self.units = self._units()

    def _look(self, link: Link) -> None:
        """What the two sides of a pair have to declare: what the consumer reads, and what the
        producer stores for whatever reason."""
        out, into = (link.producer, OUTPUT), (link.consumer, INPUT)
        self.sides[out], self.sides[into] = link.outputs, link.inputs
        self.sites[out] = link
        mine = self.declared.setdefault(out, set())
        mine |= link.loads.keys() | link.stores.keys() | link.read_back.keys()
        mine |= link.outputs.captured.keys()
        self.declared.setdefault(into, set()).update(link.loads)

    # -- wires -----------------------------------------------------------------------------------

    def _units(self) -> list[Unit]:
        units: dict[Sharing, list[int]] = {}
        kinds: dict[Sharing, dict[Side, tuple[int, ...]]] = {}
        for key, members in self._wires():
            sharing = self._sharing(key, members)
            units.setdefault(sharing, []).append(key)
            kinds[sharing] = {side: self._kind(side, key) for side in members}
        made: list[Unit] = []
        for sharing, keys in units.items():
            base = self._base(keys[0], list(kinds[sharing]))
            made += [Unit(run, base, kinds[sharing]) for run in runs(keys, base)]
        return made

    def _wires(self) -> list[tuple[int, list[Side]]]:
        """(old key, the sides that declare it) of each wire, in order of keys."""
        wires: list[tuple[int, list[Side]]] = []
        for key in sorted(set[int]().union(*self.declared.values())):
            left = {side: None for side, keys in self.declared.items() if key in keys}
            while left:
                wire = [next(iter(left))]
                del left[wire[0]]
                for side in wire:
                    for other in self._met(side):
                        if other in left:
                            del left[other]
                            wire.append(other)
                wire.sort(key=lambda side: (self.order[side[0]], side[1]))
                wires.append((key, wire))
        return wires

    def _met(self, side: Side) -> list[Side]:
        stage, storage = side
        if storage == OUTPUT:
            return [(link.consumer, INPUT) for link in self.links if link.producer is stage]
        return [(link.producer, OUTPUT) for link in self.links if link.consumer is stage]

    def _sharing(self, key: int, members: list[Side]) -> Sharing:
        """What wires have in common that are one variable."""
        parts: list[tuple[object, ...]] = [(key >> 3, self._base(key, members))]
        for side in members:
            slot = self._slot(side, key)
            of = (slot.group, slot.relaxed, slot.extras) if slot is not None else ()
            parts.append((self.order[side[0]], self._kind(side, key), *of))
            capture = self.sides[side].captured.get(key)
            if capture is not None:  # bytes that are neighbours, as the components are
                parts.append((*capture[:3], capture[3] - 4 * (key >> 1 & 3)))
            if side[0].name == "mesh":  # see ``link/pack/variables``
                link = self.sites[side]
                parts.append((frozenset(link.sites[s] for s in link.stores.get(key, ())),))
        return tuple(parts)

    def _slot(self, side: Side, key: int) -> Slot | None:
        return self.sides[side].slots.get(key)

    def _kind(self, side: Side, key: int) -> tuple[int, ...]:
        slot = self._slot(side, key)
        if slot is not None:
            return slot.qualifiers
        # an output that is not there yet: Patch and the like as its consumers have it
        return next(
            (s.qualifiers for link in self.links if link.producer is side[0]
             and (s := link.inputs.slots.get(key)) is not None), (),
        )  # fmt: skip

    def _base(self, key: int, members: list[Side]) -> str:
        """The scalar type on the wire: the consumers', if they agree; else unsigned."""
        slots = [s for side in members if (s := self._slot(side, key)) is not None]
        reading = [
            s for side in members if side[1] == INPUT and (s := self._slot(side, key)) is not None
        ]
        bases = {slot.base for slot in reading or slots}
        return bases.pop() if len(bases) == 1 else f"u{slots[0].width}"

    # -- places ----------------------------------------------------------------------------------

    def place(self, pack: bool) -> None:
        """Give every unit its place: the old one, or a better one if ``pack``."""
        captured = any(side.captured for side in self.sides.values())
        if not pack or captured or not self.units:
            return
        old = [(unit, unit.location, unit.lane) for unit in self.units]
        before = self.used()
        best: tuple[int, list[tuple[Unit, int, int]]] | None = None
        for order in _ORDERS:
            self._colour(sorted(self.units, key=order))
            after = self.used()
            total = sum(map(len, after.values()))
            if all(len(after[side]) <= len(before[side]) for side in after):
                if total < (sum(map(len, before.values())) if best is None else best[0]):
                    best = total, [(unit, unit.location, unit.lane) for unit in self.units]
        for unit, location, lane in best[1] if best is not None else old:
            unit.location, unit.lane = location, lane

    def _colour(self, units: list[Unit]) -> None:
        blocked = self.blocked()
        placed: dict[int, list[Unit]] = {}
        for unit in units:
            closed = set[int]().union(*[blocked[side] for side in unit.kinds])
            location = 0
            while location in closed or not self._fits(unit, placed.get(location, [])):
                location += 1
            unit.location = location
            placed.setdefault(location, []).append(unit)

    def _fits(self, unit: Unit, there: list[Unit]) -> bool:
        """Whether a unit has room in a Location; then its lane is set."""
        taken: set[int] = set()
        for other in there:
            shared = unit.kinds.keys() & other.kinds.keys()
            if not shared:
                continue
            if unit.base != other.base or any(unit.kinds[s] != other.kinds[s] for s in shared):
                return False
            taken.update(range(other.lane, other.lane + other.size))
        step = 2 if unit.base.endswith("64") else 1
        for lane in range(0, LANES + 1 - unit.size, step):
            if taken.isdisjoint(range(lane, lane + unit.size)):
                unit.lane = lane
                return True
        return False

    def blocked(self) -> dict[Side, set[int]]:
        """The Locations of each side that have something whole; and for those that it meets, since
        nothing may come to face that."""
        own = {
            side: {k >> 3 for p in interface.pinned for k in p.keys}
            for side, interface in self.sides.items()
        }
        return {side: keys.union(*[own[o] for o in self._met(side)]) for side, keys in own.items()}

    def used(self) -> dict[Side, set[int]]:
        """The Locations that each side declares."""
        used = {
            side: {k >> 3 for p in interface.pinned for k in p.keys}
            for side, interface in self.sides.items()
        }
        for unit in self.units:
            for side in unit.kinds:
                used[side].add(unit.location)
        return used

    def least(self) -> dict[Side, int]:
        """As many Locations each side needs at least, whatever the others do: its lanes of each
        type and qualifiers, four to a Location."""
        sizes: dict[Side, dict[tuple[object, ...], int]] = {side: {} for side in self.sides}
        for unit in self.units:
            for side, kind in unit.kinds.items():
                name = unit.base, *kind
                sizes[side][name] = sizes[side].get(name, 0) + unit.size
        return {
            side: sum((size + LANES - 1) // LANES for size in lanes_of.values())
            + len({k >> 3 for p in self.sides[side].pinned for k in p.keys})
            for side, lanes_of in sizes.items()
        }

    # -- variables -------------------------------------------------------------------------------

    def variables(self, side: Side) -> list[Varying]:
        """What a side declares."""
        made: list[Varying] = []
        slots = self.sides[side].slots
        for unit in self.units:
            if side not in unit.kinds:
                continue
            varying = Varying(unit.location, unit.lane, unit.base, list(unit.keys))
            varying.qualifiers = unit.kinds[side]
            mine = [slots[key] for key in unit.keys if key in slots]
            varying.name = "_".join(dict.fromkeys(s.name for s in mine if s.name))
            varying.extras = tuple(sorted({words for slot in mine for words in slot.extras}))
            varying.captured = self.sides[side].captured.get(unit.keys[0])
            made.append(varying)
        return sorted(made, key=lambda v: (v.location, v.component))


def runs(keys: list[int], base: str) -> list[list[int]]:
    """Keys of one Location as neighbours: what has a gap is more than one variable, since
    everything may stay in its place."""
    step = 4 if base.endswith("64") else 2
    neighbours: list[list[int]] = []
    for key in keys:
        if neighbours and neighbours[-1][-1] + step == key:
            neighbours[-1].append(key)
        else:
            neighbours.append([key])
    return neighbours


def _by_sharing(unit: Unit) -> tuple[int, ...]:
    return -len(unit.kinds), -unit.size, unit.keys[0]


def _by_size(unit: Unit) -> tuple[int, ...]:
    return -unit.size, -len(unit.kinds), unit.keys[0]


def _by_place(unit: Unit) -> tuple[int, ...]:
    return unit.keys[0], -len(unit.kinds)


_ORDERS: Final[tuple[Callable[[Unit], tuple[int, ...]], ...]] = (_by_sharing, _by_size, _by_place)
