"""Link modules apart from each other, against a frozen interface (``contract``).

    freeze    what the given stages need of each other, and know, becomes the interface
    obey      each stage is linked alone, with a stub before it and one behind (``stub``)

Both go through ``obey``, so what is linked with the file later is what came out when it was
written. No code moves over a border: what moved would be in neither of two modules, or in both.
"""

from __future__ import annotations

from spvlink import patches, validate
from spvlink.chain.border import Border
from spvlink.chain.chain import to_slots
from spvlink.chain.runner import Runner
from spvlink.chain.state import INPUT, OUTPUT
from spvlink.chain.sweep import link_side
from spvlink.chain.wires import Crossing, Unit, runs
from spvlink.driver import rank, read_stages
from spvlink.errors import Broken, Refused, Usage
from spvlink.grammar import enums
from spvlink.ir.known import forget_all
from spvlink.link.border.link import CONSUMER, PRODUCER, Link
from spvlink.link.border.stage import Stage
from spvlink.link.check.input import flaws
from spvlink.link.values import dedup_outputs
from spvlink.options import Options
from spvlink.pipeline import NOTHING_TO_GAIN, UNCHANGED, Flaw, Linked, Source
from spvlink.sets import stub
from spvlink.sets.apart import Apart, aggregates, all_of, constant, unsupported
from spvlink.sets.contract import Contract, Fact, Wire, from_json, has_patches_apart, to_json
from spvlink.sets.obedient import Needed, obey_all

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.sets.stub import Wanted

    Same = dict[int, list[int]]  # key -> others that hold the same

_MESH: Final = "task and mesh stages cannot be linked against a frozen interface"


def link_frozen(
    stages: Sequence[Source | bytes],
    interface: object = None,
    options: Options | None = None,
) -> tuple[Linked, dict[str, object]]:
    """``spvlink.link_frozen``."""
    options = options or Options()
    if not stages:
        raise Usage("there are no stages to link")
    if options.keep_interface:
        raise Usage("an interface is frozen, or kept by --keep-interface, not both")
    if options.validate and not validate.available():
        raise validate.missing()
    sources = [s if isinstance(s, Source) else Source(s) for s in stages]
    ordered = sorted(read_stages(sources), key=lambda stage: rank(stage.name))
    for stage, other in zip(ordered, ordered[1:]):
        if stage.name == other.name:
            raise other.bad(f"a second {other.name} stage")
    originals = [Source(s.source.data, s.source.file, s.source.entry, s.name) for s in ordered]
    contracts = from_json(interface) if interface is not None else []
    wrong: list[Flaw] = []
    if interface is None:
        wrong = flaws([(s.name, s.module, s.source) for s in ordered], options.target_env or "")
    named, apart = originals, any(map(has_patches_apart, contracts))
    if apart or any(patches.overlap(s.name, s.module) for s in ordered):
        named = [
            patches.separate(s.name, s.module, source) for s, source in zip(ordered, originals)
        ]
    linked, contracts = _made(named, contracts, options, interface is not None)
    linked.warnings = wrong
    if named is not originals:
        _take_back(linked, named, originals)
    return linked, to_json(contracts)


def _take_back(linked: Linked, apart: list[Source], originals: list[Source]) -> None:
    """Patch variables that were apart go back."""
    made = [(r.stage, r.data, a, b) for r, a, b in zip(linked.stages, apart, originals)]
    for result, data, source in zip(linked.stages, patches.back(made), originals):
        result.data, result.changed = data, data != source.data
    if not any(result.changed for result in linked.stages):
        linked.stay(UNCHANGED, NOTHING_TO_GAIN)


def _made(
    named: list[Source], contracts: list[Contract], options: Options, given: bool
) -> tuple[Linked, list[Contract]]:
    """The modules, linked against contracts that are ``given`` or are made of them."""
    if given:
        return obey_all(named, contracts, options), contracts
    freezer = Freezer(named, options)
    while True:
        contracts = freezer.contracts()
        try:
            return obey_all(named, contracts, options), contracts
        except Needed as needed:  # what a stage cannot do without by itself crosses
            must_cross = freezer.must_cross.setdefault(contracts.index(needed.contract), set())
            if must_cross.issuperset(needed.keys):
                raise
            must_cross |= needed.keys


class Freezer:
    """What becomes the interface of some stages."""

    def __init__(self, sources: list[Source], options: Options) -> None:
        self.sources = sources
        self.options = options
        self.kept: dict[int, str] = {}  # border, by the number of its producer -> why it stays
        # the same -> keys that cross whatever is known of them
        self.must_cross: dict[int, set[int]] = {}

    def contracts(self) -> list[Contract]:
        while True:
            family = self.family()
            made: list[Contract] = []
            for border in family.borders:
                sides = border.producer, border.consumer
                made.append(Contract(*["" if s in family.stubs else s.name for s in sides]))
            if self.attempt(family, made):
                return made + self.open_mesh(family.stages[-1])

    def family(self) -> Apart:
        """The stages, and stubs at the ends."""
        stages = read_stages(self.sources)
        first, last = stages[0], stages[-1]
        if first.name in ("tesc", "tese", "geom", "frag"):
            stages.insert(0, stub.producer_for(first.name, self.all_of(first, INPUT, 0)))
        if last.name in ("vert", "tesc", "tese", "geom"):
            wanted = self.all_of(last, OUTPUT, len(stages) - 1)
            stages.append(stub.consumer_for(last.name, "", wanted))
        return Apart(stages, self.options, Runner(self.options))

    def open_mesh(self, last: Stage) -> list[Contract]:
        """What is behind a mesh shader alone: it stays as it is."""
        if last.name != "mesh":
            return []
        contract = Contract("mesh", "")
        contract.kept, contract.outputs = _MESH, aggregates(last, OUTPUT)
        return [contract]

    def all_of(self, stage: Stage, storage: int, border: int) -> list[Wanted]:
        try:
            return all_of(stage, storage)
        except Broken as why:
            self.kept[border] = str(why)
            return []

    def attempt(self, family: Apart, contracts: list[Contract]) -> bool:
        """Fill the contracts; False if another border has to stay."""
        for number, border in enumerate(family.borders):
            if border.producer.name in ("task", "mesh"):
                self.kept[number] = _MESH
            border.kept = self.kept.get(number, "")
        try:
            to_slots(family)
        except Refused as refused:
            for border in family.borders:
                border.kept = border.kept or str(refused)
        more = False
        for number, (border, contract) in enumerate(zip(family.borders, contracts)):
            if border.kept:
                _keep(contract, border)
                continue
            assert border.link is not None
            border.link.read_as_is |= self.must_cross.get(number, set())
            why = unsupported(border.link)
            if why:
                self.kept[number], more = why, True
        if more:
            return False
        before = self.sweep(family)
        for border, contract, known in zip(family.borders, contracts, before):
            if known is not None:
                _fill(contract, Crossing(family.stages, [border]), known, self.options)
        for border in family.borders:
            if border.link is not None:
                forget_all(border.link)
        return True

    def sweep(self, family: Apart) -> list[_Known | None]:
        """All passes once, as each stage by itself can do them too; gives what is known of each
        border before its consumer made use of it."""
        known: list[_Known | None] = []
        for border in family.borders:
            link_side(family, border.producer, CONSUMER)
            known.append(None if border.link is None else _Known(border.link))
        for border in reversed(family.borders):
            if border.consumer not in family.stubs:
                link_side(family, border.consumer, CONSUMER)
                break
        for stage in reversed(family.stages):
            link_side(family, stage, PRODUCER)
        return known


def _keep(contract: Contract, border: Border) -> None:
    contract.kept = border.kept
    if contract.producer:
        contract.outputs = aggregates(border.producer, OUTPUT)
    if contract.consumer:
        contract.inputs = aggregates(border.consumer, INPUT)


class _Known:
    """What is known of a producer's outputs before anything is done. ``same``: for each key those
    that hold the same wherever it is stored."""

    def __init__(self, link: Link) -> None:
        link.gather()
        self.read = set(link.loads)
        self.stored = set(link.stores)
        self.constants = {
            key: bits for key in link.stores if (bits := constant(link, key)) is not None
        }
        self.same: Same = {}
        keys = [key for key in link.loads if key in link.stores]
        for key in keys:
            self.same[key] = [o for o in keys if o != key and dedup_outputs.same(link, key, o)]


def _fill(contract: Contract, crossing: Crossing, known: _Known, options: Options) -> None:
    """The contract of one border, after the passes."""
    (link,) = crossing.links
    link.gather()
    names, bases = _names(link)
    crossed: dict[int, Unit] = {key: u for u in crossing.units for key in u.keys}
    if contract.consumer:
        crossing.place("compact" not in options.disable)
    else:  # a stub reads all: what any consumer can do without is what nobody writes
        crossed = {key: unit for key, unit in crossed.items() if key in known.stored}
    for unit in crossing.units:
        if (link.consumer, INPUT) not in unit.kinds:
            continue  # the producer alone reads it back
        left = [key for key in unit.keys if key in crossed]
        for run in runs(left, unit.base):
            lane = unit.lane + unit.keys.index(run[0])
            name = "_".join(dict.fromkeys(names[key] for key in run if names[key]))
            kind = _kind(link, unit, contract)
            contract.wires.append(Wire(unit.location, lane, unit.base, run, kind, name))
    contract.wires.sort(key=lambda wire: (wire.location, wire.component))
    for key in sorted(known.read - crossed.keys()):
        kind = link.inputs.slots[key].qualifiers
        fact = Fact(key, bases[key], kind if contract.consumer else None, names[key])
        if key in known.stored:
            fact.twin = _twin(link, key, known, crossed)
            fact.bits = known.constants.get(key) if fact.twin is None else None
            if fact.twin is None and fact.bits is None:
                continue  # nobody reads it any more
        contract.known.append(fact)


def _kind(link: Link, unit: Unit, contract: Contract) -> tuple[int, ...] | None:
    """The qualifiers of a variable, None if a consumer that is not there says them; but Patch is on
    both sides."""
    read = unit.kinds.get((link.consumer, INPUT))
    if contract.consumer and read is not None:
        return read
    if contract.producer == "tesc":
        return tuple(q for q in unit.kinds[link.producer, OUTPUT] if q == enums.Decoration_Patch)
    return None


def _twin(link: Link, key: int, known: _Known, crossed: dict[int, Unit]) -> int | None:
    """What crosses and is equal, if it is read in the same way."""
    for other in sorted(known.same.get(key, ())):
        if other in crossed and _alike(link, key, other):
            return other
    return None


def _alike(link: Link, key: int, other: int) -> bool:
    """Whether the consumer can read one slot as it reads the other."""
    mine, theirs = link.inputs.slots[key], link.inputs.slots[other]
    same = mine.qualifiers == theirs.qualifiers and mine.relaxed == theirs.relaxed
    return same and mine.base == theirs.base


def _names(link: Link) -> tuple[dict[int, str], dict[int, str]]:
    """By key: what people call it, and its type, as the consumer has it."""
    names: dict[int, str] = {}
    bases: dict[int, str] = {}
    for side in (link.outputs, link.inputs):
        for key, slot in side.slots.items():
            names[key] = names.get(key) or slot.name
            bases[key] = slot.base
    return names, bases
