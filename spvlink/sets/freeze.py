"""Modules that are linked apart from each other, against a frozen interface (``contract``).

    freeze    what the given stages need of each other, and know, becomes the interface
    obey      each stage is linked alone, with a stub before it and one behind (``stub``)

Both go through ``obey``, so what is linked with the file later is what came out when it was
written. No code moves over a border: what moved would be in neither of two modules, or in both.
"""

from __future__ import annotations

from spvlink import validate
from spvlink.chain import remarks
from spvlink.chain.border import Border
from spvlink.chain.chain import open_borders
from spvlink.chain.runner import Runner
from spvlink.chain.state import INPUT, OUTPUT, in_file
from spvlink.chain.sweep import clean
from spvlink.driver import check_pipeline, rank, read_stages
from spvlink.entry import count
from spvlink.errors import Broken, Refused, Usage
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.ir.known import forget_all
from spvlink.ir.slot import base_of, key_of
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.border.values import single_value
from spvlink.link.check import interface
from spvlink.link.values import dedup
from spvlink.options import Options
from spvlink.pipeline import KEPT, NOTHING_TO_GAIN, REMOVED, VALIDATED, Linked, Source, StageResult
from spvlink.sets import stub
from spvlink.sets.contract import (
    BASES,
    QUALIFIERS,
    Contract,
    Fact,
    Whole,
    Wire,
    from_json,
    place_of,
    to_json,
)
from spvlink.sets.family import Family
from spvlink.sets.lowering import lower
from spvlink.sets.raising import write
from spvlink.sets.stub import Wanted
from spvlink.sets.sweep import consume, hold, produce, sweep
from spvlink.sets.wires import Crossing, Unit, runs

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.sets.lowering import Spec

    Same = dict[int, list[int]]  # key -> others that hold the same

_MESH: Final = "an interface says nothing of task and mesh stages"
_READ: Final = frozenset(QUALIFIERS.values())


def link_frozen(
    stages: Sequence[Source | bytes],
    interface: object = None,
    options: Options | None = None,
) -> tuple[Linked, dict[str, object]]:
    """Link stages against a frozen interface, each as if the others were not there.

    ``stages``: modules as ``link`` takes them, one or more of a pipeline. ``interface``: the
    document, as ``json.load`` gives it; None to make it of the stages: what they do not need of
    each other is no part of it, and a stage that is missing before the first or behind the last
    (if that is no fragment shader, without ``complete``) is expected to read, or to write, all.

    Gives the result, as ``link`` does, and the document. Raises ``BadSpirv`` for what is not valid
    and for a stage that needs more than the interface has, with the name of it; ``Usage`` for
    settings that make no sense and a document that is none.
    """
    options = options or Options()
    if not stages:
        raise Usage("there are no stages to link")
    if options.keep_interface:
        raise Usage("an interface is frozen, or kept by --keep-interface, not both")
    if options.validate and not validate.available():
        raise validate.missing()
    sources = [s if isinstance(s, Source) else Source(s) for s in stages]
    found = sorted(read_stages(sources), key=lambda stage: rank(stage.name))
    named = [Source(s.source.data, s.source.file, s.source.entry, s.name) for s in found]
    if interface is None:
        check_pipeline(found)
        contracts = _Freezer(named, [s.name for s in found], options).contracts()
    else:
        contracts = from_json(interface)
        _check_stages(found, contracts)
    return _obey_all(named, contracts, options), to_json(contracts)


def _check_stages(stages: list[Stage], contracts: list[Contract]) -> None:
    known = {name for c in contracts for name in (c.producer, c.consumer)}
    seen: set[str] = set()
    for stage in stages:
        if stage.name in seen:
            raise stage.bad(f"a second {stage.name} stage")
        seen.add(stage.name)
        if stage.name not in known and not _open_ends(stage.name, contracts):
            raise stage.bad(f"the interface has no {stage.name} stage")


def _open_ends(name: str, contracts: list[Contract]) -> bool:
    """Whether a stage may be the one that was missing when the interface was made."""
    return _before(name, contracts) is not None or _behind(name, contracts) is not None


def _before(name: str, contracts: list[Contract]) -> Contract | None:
    """The border before a stage."""
    for contract in contracts:
        if contract.consumer == name:
            return contract
    for contract in contracts:
        if not contract.consumer and rank(contract.producer) < rank(name):
            return contract
    return None


def _behind(name: str, contracts: list[Contract]) -> Contract | None:
    """The border behind a stage."""
    for contract in contracts:
        if contract.producer == name:
            return contract
    for contract in contracts:
        if not contract.producer and rank(name) < rank(contract.consumer):
            return contract
    return None


class _Frozen(Family):
    """Stages in a row, of which some are stubs."""

    __slots__ = ()

    def __init__(self, stages: list[Stage], options: Options, runner: Runner) -> None:
        rows = [list(range(len(stages)))]
        Family.__init__(self, stages, rows, options, runner, frozenset(), frozenset())
        self.stubs = frozenset(s for s in stages if s.linked)
        self.literal = True

    def to_slots(self) -> None:
        """All stages in slots. Raises Refused if nothing is left to link."""
        spec, defaults = self.options.spec, self.options.spec_defaults
        given: list[Spec] = [
            ({id: v for (name, id), v in spec.items() if name == stage.name}, defaults)
            if stage not in self.stubs
            else ({}, False)
            for stage in self.stages
        ]
        lower(self, given, frozenset())
        for stage in self.touched():
            in_file(stage, clean, self, stage)
        open_borders(self)


# -- freeze ----------------------------------------------------------------------------------------


class _Freezer:
    """What becomes the interface of some stages."""

    def __init__(self, sources: list[Source], names: list[str], options: Options) -> None:
        self.sources = sources
        self.names = names
        self.options = options
        self.kept: dict[int, str] = {}  # border, by the number of its producer -> why it stays

    def contracts(self) -> list[Contract]:
        while True:
            family = self.family()
            made = [Contract(b.producer.name, b.consumer.name) for b in family.borders]
            for border, contract in zip(family.borders, made):
                if border.producer in family.stubs:
                    contract.producer = ""
                if border.consumer in family.stubs:
                    contract.consumer = ""
            if self.attempt(family, made):
                return made

    def family(self) -> _Frozen:
        """The stages, and stubs at the ends."""
        stages = read_stages(self.sources)
        first, last = stages[0], stages[-1]
        if first.name in ("tesc", "tese", "geom", "frag"):
            stages.insert(0, stub.producer_for(first.name, _all_of(first, INPUT)))
        if last.name in ("vert", "tesc", "tese", "geom") and not self.options.complete:
            stages.append(stub.consumer_for(last.name, "", _all_of(last, OUTPUT)))
        return _Frozen(stages, self.options, Runner(self.options))

    def attempt(self, family: _Frozen, contracts: list[Contract]) -> bool:
        """Fill the contracts; False if another border has to stay."""
        for number, border in enumerate(family.borders):
            if border.producer.name in ("task", "mesh"):
                self.kept[number] = _MESH
            border.kept = self.kept.get(number, "")
        try:
            family.to_slots()
        except Refused as refused:
            for border in family.borders:
                border.kept = border.kept or str(refused)
        more = False
        for number, (border, contract) in enumerate(zip(family.borders, contracts)):
            if border.kept:
                _keep(contract, border)
                continue
            assert border.link is not None
            why = _unsupported(border.link)
            if why:
                self.kept[number], more = why, True
        if more:
            return False
        before = self.sweep(family)
        for seam, contract, known in zip(family.seams(), contracts, before):
            if known is not None:
                _fill(contract, Crossing(family, seam), known, self.options)
        for border in family.borders:
            if border.link is not None:
                forget_all(border.link)
        return True

    def sweep(self, family: _Frozen) -> list[_Known | None]:
        """All passes once, as each stage by itself can do them too; gives what is known of each
        border before its consumer made use of it."""
        known: list[_Known | None] = []
        stages = [stage for stage in family.stages if stage not in family.stubs]
        for stage in stages:
            hold(family, stage)
        for border in family.borders:
            if border.producer not in family.stubs:
                consume(family, border.producer)
            known.append(None if border.link is None else _Known(border.link))
        for border in reversed(family.borders):
            if border.consumer not in family.stubs:
                consume(family, border.consumer)
                break
        for stage in reversed(stages):
            produce(family, stage)
        return known


def _all_of(stage: Stage, storage: int) -> list[Wanted]:
    """All that a side declares; nothing if that is not in order."""
    try:
        declared = interface.declared(stage.module, storage)
    except Broken:
        return []
    wanted: list[Wanted] = []
    for variable in declared:
        kind = tuple(sorted(_READ & (variable.qualifiers | variable.kind)))
        bases: dict[int, str] = {}
        _bases(variable.type, *variable.place, bases)
        wanted += [Wanted(key, base, kind) for key, base in bases.items() if base in BASES]
    return wanted


def _bases(type: Inst, location: int, lane: int, found: dict[int, str]) -> int:
    """Key -> type of each component of a variable; gives the Locations that it takes."""
    if type.op in (ops.OpTypeInt, ops.OpTypeFloat):
        found[key_of(location, lane)] = base_of(type)
    elif type.op == ops.OpTypeVector:
        for at in range(type.imm[0]):
            _bases(type.args[0], location, lane + at, found)
    else:
        taken = 0
        for at in range(types.size_of(type)):
            taken += _bases(types.part_type(type, at), location + taken, lane, found)
        return taken
    return 1


def _keep(contract: Contract, border: Border) -> None:
    contract.kept = border.kept
    if contract.producer:
        contract.outputs = _wholes(border.producer, OUTPUT)
    if contract.consumer:
        contract.inputs = _wholes(border.consumer, INPUT)


def _wholes(stage: Stage, storage: int) -> list[Whole]:
    from spvlink.chain.state import original

    declared = interface.declared(original(stage), storage)
    return [Whole(*v.place, v.shape, v.name) for v in declared]


def _unsupported(link: Link) -> str:
    """Why a border stays as it is, or nothing."""
    for pinned in (*link.outputs.pinned, *link.inputs.pinned):
        return f"{pinned.name or 'a variable'} stays whole: {pinned.why}"
    for side in (link.outputs, link.inputs):
        for slot in side.slots.values():
            if slot.base not in BASES:
                return f"{slot.name} has numbers of {slot.width} bits"
            if not _READ.issuperset(slot.qualifiers):
                return f"{slot.name} is read in a way that an interface cannot say"
    if link.outputs.captured:
        return "transform feedback captures some of it"
    return ""


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
            self.same[key] = [o for o in keys if o != key and dedup.same(link, key, o)]


def constant(link: Link, key: int) -> int | None:
    """The bits of the constant that every store of a slot writes, or None."""
    stored = single_value(link, key)
    return None if stored is None else types.bits_of(stored)


def _fill(contract: Contract, crossing: Crossing, known: _Known, options: Options) -> None:
    """The contract of one border, after the passes."""
    (link,) = crossing.links
    link.gather()
    names, bases = _names(link)
    crossed: dict[int, Unit] = {key: u for u in crossing.units for key in u.keys}
    if contract.consumer:
        crossing.place("compact" not in options.disabled)
    else:  # a stub reads all of it: what is known needs no reading
        merged: set[int] = set()
        for key in sorted(crossed):
            first = [other for other in known.same.get(key, ()) if other < key]
            if (
                key not in known.stored
                or key in known.constants
                or any(other not in merged and _alike(link, key, other) for other in first)
            ):
                merged.add(key)
        crossed = {key: unit for key, unit in crossed.items() if key not in merged}
    for unit in crossing.units:
        left = [key for key in unit.keys if key in crossed]
        for run in runs(left, unit.base):
            lane = unit.lane + unit.keys.index(run[0])
            name = "_".join(dict.fromkeys(names[key] for key in run if names[key]))
            kind = unit.kinds.get((link.consumer, INPUT)) if contract.consumer else None
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
        contract.facts.append(fact)


def _twin(link: Link, key: int, known: _Known, crossed: dict[int, Unit]) -> int | None:
    """What crosses and is equal, if it is read in the same way."""
    for other in sorted(known.same.get(key, ())):
        if other in crossed and _alike(link, key, other):
            return other
    return None


def _alike(link: Link, key: int, other: int) -> bool:
    """Whether two slots are declared alike, on both sides."""
    return all(
        side.slots[key].qualifiers == side.slots[other].qualifiers
        and side.slots[key].relaxed == side.slots[other].relaxed
        and side.slots[key].base == side.slots[other].base
        for side in (link.outputs, link.inputs)
    )


def _names(link: Link) -> tuple[dict[int, str], dict[int, str]]:
    """By key: what people call it, and its type, as the consumer has it."""
    names: dict[int, str] = {}
    bases: dict[int, str] = {}
    for side in (link.outputs, link.inputs):
        for key, slot in side.slots.items():
            names[key] = names.get(key) or slot.name
            bases[key] = slot.base
    return names, bases


# -- obey ------------------------------------------------------------------------------------------


def _obey_all(sources: list[Source], contracts: list[Contract], options: Options) -> Linked:
    """Each stage by itself."""
    linked = Linked()
    stages = read_stages(sources)
    env = options.target_env or validate.lowest_env([s.module.spirv_version for s in stages])
    linked.target_env = env
    told: dict[int, Border] = {}  # of each contract, the border to tell of
    for stage in stages:
        _Obedient(stage, contracts, options, linked, told).run()
    for _, border in sorted(told.items()):
        remarks.report(linked, border)
        if border.link is not None:
            forget_all(border.link)
    for contract in contracts:
        if contract.kept and contract.producer and contract.consumer:
            _tell_kept(linked, contract)
    _validate(linked, sources, options, env)
    if not any(result.changed for result in linked.stages):
        linked.passed_through = NOTHING_TO_GAIN
    return linked


def _tell_kept(linked: Linked, contract: Contract) -> None:
    from spvlink.pipeline import Remark

    title = f"{contract.producer}->{contract.consumer}"
    linked.told.append(Remark(title, "the interface", "", KEPT, contract.kept))


def _validate(linked: Linked, sources: list[Source], options: Options, env: str) -> None:
    """spirv-val over what is about to go out. Raises Broken."""
    if not options.validate:
        linked.validated = "not validated: switched off"
        return
    linked.validated = VALIDATED
    verdicts = validate.validate_all([result.data for result in linked.stages], env)
    for result, source, verdict in zip(linked.stages, sources, verdicts):
        if verdict is None:
            continue
        own = validate.validate(source.data, env)
        if own is None:
            raise Broken(f"spirv-val refuses the new {result.stage} module: {verdict}")
        linked.validated = f"not validated: spirv-val refuses the input too ({own})"


class _Obedient:
    """One stage, and what stands for its neighbours."""

    def __init__(
        self, stage: Stage, contracts: list[Contract], options: Options, linked: Linked,
        told: dict[int, Border],
    ) -> None:  # fmt: skip
        self.stage = stage
        self.contracts = contracts
        self.options = options
        self.linked = linked
        self.told = told
        self.before = _before(stage.name, contracts)
        self.behind = _behind(stage.name, contracts)

    def run(self) -> None:
        """Link it. Raises BadSpirv where it needs more than there is."""
        stage, size = self.stage, count(self.stage.module)
        row = [stage]
        for contract, storage in ((self.before, INPUT), (self.behind, OUTPUT)):
            if contract is not None and contract.kept:
                self.check_kept(contract, storage)
            elif contract is not None and storage == INPUT:
                wanted = stub.of_contract(contract, facts=True)
                known = {*contract.wire_keys(), *(fact.key for fact in contract.facts)}
                # so that what is not part of the interface is not taken for unwritten
                wanted += [one for one in _all_of(stage, INPUT) if one.key not in known]
                row.insert(0, stub.producer_for(stage.name, wanted))
            elif contract is not None:
                wanted = stub.of_contract(contract, facts=False)
                row.append(stub.consumer_for(stage.name, contract.consumer, wanted))
        data = stage.source.data
        if len(row) > 1:
            data = self.link(row)
        result = StageResult(stage.name, stage.source.file, data, data != stage.source.data)
        after = count(stage.module) if result.changed else size
        result.instructions, result.body = (size[0], after[0]), (size[1], after[1])
        result.bytes = len(stage.source.data), len(data)
        self.linked.stages.append(result)

    def link(self, row: list[Stage]) -> bytes:
        """Raises BadSpirv."""
        family = _Frozen(row, self.options, Runner(self.options))
        try:
            family.to_slots()
        except Refused as why:
            raise self.stage.bad(f"it cannot obey an interface: {why}") from None
        for border in family.borders:
            self.check(border)
        hold(family, self.stage)
        consume(family, self.stage)
        for border in family.borders:
            if border.link is not None and border.producer is self.stage:
                assert self.behind is not None
                self.check_outputs(border.link, self.behind)
        sweep(family)
        crossings = [Crossing(family, seam) for seam in family.seams()]
        for crossing in crossings:
            (link,) = crossing.links
            consumes = link.consumer is self.stage
            contract = self.before if consumes else self.behind
            assert contract is not None
            self.place(crossing, link, contract, consumes)
            if consumes:  # what the stub stored beside was to be found out
                remove_stores(link.producer, link.stores.keys() - contract.wire_keys().keys())
        outputs = write(family, crossings)
        for border in family.borders:
            self.tell(border)
        self.linked.seconds = family.runner.seconds
        return outputs[row.index(self.stage)]

    def tell(self, border: Border) -> None:
        """Of both sides of a border the producer's is told, with what the consumer found out."""
        consumes = border.consumer is self.stage
        contract = self.before if consumes else self.behind
        assert contract is not None and border.link is not None
        number = self.contracts.index(contract)
        first = self.told.setdefault(number, border)
        if first is not border and first.link is not None:
            first.link.fate.update(border.link.fate)

    def check(self, border: Border) -> None:
        """Whether what the contract says of the old interface is so. Raises BadSpirv."""
        link = border.link
        if link is None:
            raise self.stage.bad(f"it cannot obey an interface: {border.kept}")
        why = _unsupported(link)
        if why:
            raise self.stage.bad(f"{why}; the interface has components only")

    def check_outputs(self, link: Link, contract: Contract) -> None:
        link.gather()
        slots = link.outputs.slots
        for wire in contract.wires:
            for key in wire.keys:
                slot = slots.get(key)
                if slot is None:
                    what = f"no output at Location {place_of(key)}"
                    raise self.stage.bad(f"{what}, where the interface has {wire.name or 'one'}")
                if wire.qualifiers is not None and _patch(slot.qualifiers) != _patch(
                    wire.qualifiers
                ):
                    raise self.stage.bad(
                        f"only one of output {slot.name} and the interface has Patch"
                    )
        for fact in contract.facts:
            if fact.key not in link.stores:
                continue
            if fact.bits is not None:
                fits, said = constant(link, fact.key) == fact.bits, f"0x{fact.bits:08x}"
            elif fact.twin is not None:
                fits, said = dedup.same(link, fact.key, fact.twin), f"as {place_of(fact.twin)}"
            else:
                fits, said = False, "never written"
            if not fits:
                raise self.stage.bad(
                    f"output {slots[fact.key].name} at Location {place_of(fact.key)}: the interface"
                    f" says that it is {said}, and this stage writes something else"
                )

    def place(self, crossing: Crossing, link: Link, contract: Contract, consumes: bool) -> None:
        """Give what crosses the places of the contract. Raises BadSpirv for what has none."""
        stage = self.stage
        storage = INPUT if consumes else OUTPUT
        side, other = (stage, storage), _other(link, stage)
        slots, wires = crossing.sides[side].slots, contract.wire_keys()
        facts = {fact.key for fact in contract.facts}
        for key in sorted(crossing.declared[side]):
            if key not in wires:
                self.refuse(link, key, key in facts)
        crossing.units = []
        for wire in contract.wires:
            mine = [slots[key] for key in wire.keys if key in crossing.declared[side]]
            kind = wire.qualifiers if wire.qualifiers is not None else ()
            if wire.qualifiers is None and mine:
                kind = mine[0].qualifiers
            for slot in mine if consumes else ():
                if slot.qualifiers != kind:
                    raise stage.bad(
                        f"input {slot.name} at Location {place_of(slot.key)} is interpolated in"
                        " another way than the interface says"
                    )
            sides = {other: kind}
            if mine or not consumes:
                sides[side] = kind
            unit = Unit(wire.keys, wire.base, sides)
            unit.location, unit.lane = wire.location, wire.component
            crossing.units.append(unit)
        for key in link.outputs.slots.keys() - wires.keys() if not consumes else ():
            if key not in link.fate:
                link.fate[key] = REMOVED, "it is not part of the interface"

    def refuse(self, link: Link, key: int, known: bool) -> None:
        slot = link.slot(key)
        name = slot.name if slot is not None else ""
        side = "input" if link.consumer is self.stage else "output"
        what = f"{side} {name} at Location {place_of(key)} is not part of the interface"
        if known:
            why = link.notes.get(key, "it has to be read as it is")
            what += f", which knows what it holds: {why}"
        raise self.stage.bad(what)

    def check_kept(self, contract: Contract, storage: int) -> None:
        """A border that stays as it is: everything that one side needs has to be there."""
        mine = {(v.location, v.component): v for v in _wholes(self.stage, storage)}
        needed = contract.inputs if storage == OUTPUT else None
        for whole in (contract.outputs if storage == OUTPUT else needed) or needed or ():
            own = mine.get((whole.location, whole.component))
            if own is None or own.shape != whole.shape:
                raise self.stage.bad(f"no output like {whole.name} of the interface")
        if storage == INPUT and contract.outputs is not None:
            there = {(w.location, w.component): w.shape for w in contract.outputs}
            for place, own in sorted(mine.items()):
                if there.get(place) != own.shape:
                    raise self.stage.bad(f"input {own.name} is not part of the interface")


def _patch(qualifiers: tuple[int, ...]) -> bool:
    return enums.Decoration_Patch in qualifiers


def _other(link: Link, stage: Stage) -> tuple[Stage, int]:
    """The side that faces a stage's."""
    if link.producer is stage:
        return link.consumer, INPUT
    return link.producer, OUTPUT
