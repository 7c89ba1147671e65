"""Read and write a frozen interface as JSON: the promises that modules linked apart rely on.

    {"version": 1, "borders": [{
        "producer": "vert", "consumer": "frag",
        "variables": [{"location": 0, "component": 0, "type": "f32", "qualifiers": [],
                       "name": "vUv", "components": ["2.x", "2.y"]}],
        "constants": [{"component": "0.w", "type": "f32", "qualifiers": [], "name": "vTint",
                       "value": "0x3f800000"}],
        "equal": [{"component": "3.x", "type": "f32", "qualifiers": [], "name": "vCopy",
                   "as": "2.x"}],
        "unwritten": [{"component": "4.x", "type": "f32", "qualifiers": [], "name": "vSpare"}]}]}

``components`` are the old places, in the modules as they came, one for each lane of the new
variable. What stands nowhere is not part of the interface: no producer writes it, and no consumer
may read it. ``qualifiers`` is null where no consumer was there to say them, ``consumer`` or
``producer`` where none was given. A border that stays as it is has ``kept``, which says why, and
the old variables of both sides. Where Patch variables have the Locations of others, 2048 is added
to all of theirs (``patches``).
"""

from __future__ import annotations

from spvlink.errors import Usage
from spvlink.grammar import enums
from spvlink.ir.slot import APART, key_of
from spvlink.layout import list_of, object_of, read_document
from spvlink.pipeline import STAGES

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

VERSION: Final = 1
LANES: Final = "xyzw"
BASES: Final = ("f32", "i32", "u32")
QUALIFIERS: Final[dict[str, int]] = {
    "Centroid": enums.Decoration_Centroid,
    "Flat": enums.Decoration_Flat,
    "NoPerspective": enums.Decoration_NoPerspective,
    "Patch": enums.Decoration_Patch,
    "Sample": enums.Decoration_Sample,
}
_NAMES: Final = {number: name for name, number in QUALIFIERS.items()}
# Stages that meet.
_PAIRS: Final = (
    ("vert", "tesc"), ("vert", "geom"), ("vert", "frag"), ("tesc", "tese"), ("tese", "geom"),
    ("tese", "frag"), ("geom", "frag"), ("task", "mesh"), ("mesh", "frag"),
)  # fmt: skip
_MOST_LOCATION: Final = 4095
_WORD: Final = 1 << 32


class Wire:
    """One variable of the interface. ``keys``: the old places, a lane each; ``qualifiers``: None
    if no consumer was there to say them."""

    __slots__ = ("base", "component", "keys", "location", "name", "qualifiers")

    def __init__(
        self, location: int, component: int, base: str, keys: list[int],
        qualifiers: tuple[int, ...] | None, name: str,
    ) -> None:  # fmt: skip
        self.location = location
        self.component = component
        self.base = base
        self.keys = keys
        self.qualifiers = qualifiers
        self.name = name


class Fact:
    """What is known of a component that does not cross: it is the constant with these ``bits``, or
    it is equal to the component ``twin``, or neither: then nobody writes it."""

    __slots__ = ("base", "bits", "key", "name", "qualifiers", "twin")

    def __init__(self, key: int, base: str, qualifiers: tuple[int, ...] | None, name: str) -> None:
        self.key = key
        self.qualifiers = qualifiers
        self.base = base
        self.name = name
        self.bits: int | None = None
        self.twin: int | None = None


class Whole:
    """A variable, or member of a block, of a border that stays as it is."""

    __slots__ = ("component", "location", "name", "shape")

    def __init__(self, location: int, component: int, shape: str, name: str) -> None:
        self.location = location
        self.component = component
        self.shape = shape
        self.name = name


class Contract:
    """One border. ``producer`` and ``consumer``: stages, "" for one that was not given; ``kept``:
    why it stays as it is, with ``outputs`` and ``inputs`` of those that were given; else ``wires``
    and what is ``known`` of the rest."""

    __slots__ = ("consumer", "inputs", "kept", "known", "outputs", "producer", "wires")

    def __init__(self, producer: str, consumer: str) -> None:
        self.producer = producer
        self.consumer = consumer
        self.kept = ""
        self.outputs: list[Whole] | None = None
        self.inputs: list[Whole] | None = None
        self.wires: list[Wire] = []
        self.known: list[Fact] = []

    def wire_keys(self) -> dict[int, Wire]:
        return {key: wire for wire in self.wires for key in wire.keys}


def has_patches_apart(contract: Contract) -> bool:
    """Whether Patch variables lay over others where this was written (``APART``)."""
    places = [*contract.wire_keys(), *(fact.key for fact in contract.known)]
    aggregates = [*(contract.outputs or ()), *(contract.inputs or ())]
    return any(key >> 3 >= APART for key in places) or any(w.location >= APART for w in aggregates)


def place_of(key: int) -> str:
    """A component as people read it: 2.x."""
    return f"{key >> 3}.{LANES[key >> 1 & 3]}"


# -- out -------------------------------------------------------------------------------------------


def to_json(contracts: list[Contract]) -> dict[str, object]:
    """The document."""
    return {"version": VERSION, "borders": [_border_out(c) for c in contracts]}


def _border_out(contract: Contract) -> dict[str, object]:
    out: dict[str, object] = {
        "producer": contract.producer or None,
        "consumer": contract.consumer or None,
    }
    if contract.kept:
        out["kept"] = contract.kept
        for name, side in (("outputs", contract.outputs), ("inputs", contract.inputs)):
            out[name] = None if side is None else [_whole_out(variable) for variable in side]
        return out
    out["variables"] = [_wire_out(wire) for wire in contract.wires]
    constants: list[object] = []
    equal: list[object] = []
    unwritten: list[object] = []
    for fact in contract.known:
        one = {
            "component": place_of(fact.key),
            "type": fact.base,
            "qualifiers": _named(fact.qualifiers),
            "name": fact.name,
        }
        if fact.bits is not None:
            constants.append({**one, "value": f"0x{fact.bits:08x}"})
        elif fact.twin is not None:
            equal.append({**one, "as": place_of(fact.twin)})
        else:
            unwritten.append(one)
    out.update(constants=constants, equal=equal, unwritten=unwritten)
    return out


def _wire_out(wire: Wire) -> dict[str, object]:
    return {
        "location": wire.location,
        "component": wire.component,
        "type": wire.base,
        "qualifiers": _named(wire.qualifiers),
        "name": wire.name,
        "components": [place_of(key) for key in wire.keys],
    }


def _named(qualifiers: tuple[int, ...] | None) -> list[str] | None:
    return None if qualifiers is None else [_NAMES[number] for number in qualifiers]


def _whole_out(whole: Whole) -> dict[str, object]:
    return {
        "location": whole.location,
        "component": whole.component,
        "type": whole.shape,
        "name": whole.name,
    }


# -- in --------------------------------------------------------------------------------------------


def read(path: str) -> dict[str, object]:
    """The document in a file. Raises Usage."""
    return to_json(read_document(path, from_json))


def from_json(document: object) -> list[Contract]:
    """The borders of a document, its shape checked. Raises Usage with the place and what was
    expected."""
    top = object_of(document, "the interface", ("version", "borders"))
    version = top.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version != VERSION:
        raise Usage(f"version {version!r}: only {VERSION} is known")
    contracts: list[Contract] = []
    for number, one in enumerate(list_of(top.get("borders"), "borders")):
        contract = _border_in(one, f"borders[{number}]")
        for other in contracts:
            if contract.producer == other.producer or contract.consumer == other.consumer:
                raise Usage(f"borders[{number}]: one of its stages stands there twice")
        contracts.append(contract)
    return contracts


def _border_in(value: object, where: str) -> Contract:
    parts = ("variables", "constants", "equal", "unwritten")
    one = object_of(value, where, ("producer", "consumer", "kept", "outputs", "inputs", *parts))
    stages: list[str] = []
    for name in ("producer", "consumer"):
        stage = one.get(name)
        if stage is not None and stage not in STAGES.values():
            raise Usage(f"{where}.{name}: expected a stage, or null")
        stages.append("" if stage is None else str(stage))
    known = [pair for pair in _PAIRS if all(not s or s == p for s, p in zip(stages, pair))]
    if not known or not any(stages):
        raise Usage(f"{where}: no such stages meet")
    contract = Contract(*stages)
    kept = one.get("kept", "")
    if not isinstance(kept, str):
        raise Usage(f"{where}.kept: expected text")
    contract.kept = kept
    if kept:
        contract.outputs = _wholes_in(one.get("outputs"), f"{where}.outputs")
        contract.inputs = _wholes_in(one.get("inputs"), f"{where}.inputs")
        return contract
    for number, entry in enumerate(list_of(one.get("variables"), f"{where}.variables")):
        contract.wires.append(_wire_in(entry, f"{where}.variables[{number}]"))
    for name in parts[1:]:
        for number, entry in enumerate(list_of(one.get(name), f"{where}.{name}")):
            contract.known.append(_fact_in(entry, name, f"{where}.{name}[{number}]"))
    _check_places(contract, where)
    return contract


def _check_places(contract: Contract, where: str) -> None:
    """No old component twice, no new one twice, and what is equal is so to one that crosses."""
    old: set[int] = set()
    new: set[tuple[int, int]] = set()
    for wire in contract.wires:
        for lane in range(len(wire.keys)):
            spot = wire.location, wire.component + lane
            if spot in new:
                raise Usage(f"{where}: two variables share Location {spot[0]}.{LANES[spot[1]]}")
            new.add(spot)
    crossing = [key for wire in contract.wires for key in wire.keys]
    for key in [*crossing, *(fact.key for fact in contract.known)]:
        if key in old:
            raise Usage(f"{where}: component {place_of(key)} stands there twice")
        old.add(key)
    wires = contract.wire_keys()
    for fact in contract.known:
        twin = wires.get(fact.twin) if fact.twin is not None else None
        if fact.twin is not None and twin is None:
            raise Usage(f"{where}: {place_of(fact.key)} is equal to what does not cross")
        if twin is not None and twin.base != fact.base:
            raise Usage(f"{where}: {place_of(fact.key)} is equal to what is of another type")


def _wire_in(value: object, where: str) -> Wire:
    keys = ("location", "component", "type", "qualifiers", "name", "components")
    one = object_of(value, where, keys)
    places = list_of(one.get("components"), f"{where}.components")
    component = _number(one.get("component"), f"{where}.component", len(LANES) - 1)
    if not places or component + len(places) > len(LANES):
        raise Usage(f"{where}.components: expected one to four, within a Location")
    return Wire(
        _number(one.get("location"), f"{where}.location", _MOST_LOCATION), component,
        _base(one.get("type"), where), [_key(place, where) for place in places],
        _qualifiers(one, where),
        _name(one, where),
    )  # fmt: skip


def _fact_in(value: object, kind: str, where: str) -> Fact:
    more = {"constants": "value", "equal": "as"}.get(kind)
    keys = ("component", "type", "qualifiers", "name")
    one = object_of(value, where, (*keys, more) if more is not None else keys)
    fact = Fact(
        _key(one.get("component"), where), _base(one.get("type"), where), _qualifiers(one, where),
        _name(one, where),
    )  # fmt: skip
    if kind == "equal":
        fact.twin = _key(one.get("as"), f"{where}.as")
    elif kind == "constants":
        bits = one.get("value")
        try:
            fact.bits = int(bits, 0) if isinstance(bits, str) else -1
        except ValueError:
            fact.bits = -1
        if not 0 <= fact.bits < _WORD:
            raise Usage(f"{where}.value: expected 32 bits as text, such as 0x3f800000")
    return fact


def _wholes_in(value: object, where: str) -> list[Whole] | None:
    if value is None:
        return None
    wholes: list[Whole] = []
    for number, entry in enumerate(list_of(value, where)):
        at = f"{where}[{number}]"
        one = object_of(entry, at, ("location", "component", "type", "name"))
        shape = one.get("type")
        if not isinstance(shape, str):
            raise Usage(f"{at}.type: expected text")
        place = _number(one.get("location"), f"{at}.location", _MOST_LOCATION)
        lane = _number(one.get("component"), f"{at}.component", len(LANES) - 1)
        wholes.append(Whole(place, lane, shape, _name(one, at)))
    return wholes


def _number(value: object, where: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise Usage(f"{where}: expected an integer from 0 to {most}")
    return value


def _name(one: dict[str, object], where: str) -> str:
    name = one.get("name", "")
    if not isinstance(name, str):
        raise Usage(f"{where}.name: expected text")
    return name


def _qualifiers(one: dict[str, object], where: str) -> tuple[int, ...] | None:
    if one.get("qualifiers") is None:
        return None
    named = list_of(one["qualifiers"], f"{where}.qualifiers")
    if not all(isinstance(name, str) and name in QUALIFIERS for name in named):
        raise Usage(f"{where}.qualifiers: there are {', '.join(QUALIFIERS)}")
    return tuple(sorted({QUALIFIERS[str(name)] for name in named}))


def _base(value: object, where: str) -> str:
    if value not in BASES:
        raise Usage(f"{where}.type: there are {', '.join(BASES)}")
    return str(value)


def _key(value: object, where: str) -> int:
    """The key of a component that stands there as 2.x."""
    location, dot, lane = value.partition(".") if isinstance(value, str) else ("", "", "")
    known = location.isascii() and location.isdigit() and len(location) < 6
    if not known or not dot or len(lane) != 1 or lane not in LANES:
        raise Usage(f"{where}: expected a component, such as 2.x")
    if int(location) > _MOST_LOCATION:
        raise Usage(f"{where}: Location {location} is too high")
    return key_of(int(location), LANES.index(lane))
