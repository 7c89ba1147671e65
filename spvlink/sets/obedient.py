"""Link each stage by itself against a frozen interface, between stubs for its neighbours."""

from __future__ import annotations

from spvlink import validate
from spvlink.chain import remarks
from spvlink.chain.border import Border
from spvlink.chain.chain import to_slots, write
from spvlink.chain.raising import declare_shared
from spvlink.chain.runner import Runner
from spvlink.chain.state import INPUT, OUTPUT, InterfaceMismatch
from spvlink.chain.sweep import link_side, sweep
from spvlink.chain.wires import Crossing, Unit
from spvlink.driver import measure_later, rank, read_stages, stage_result
from spvlink.entry import count
from spvlink.errors import BadSpirv, Broken, Refused
from spvlink.grammar import enums
from spvlink.ir.edit import touched
from spvlink.ir.known import forget_all
from spvlink.ir.slot import Slot
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import CONSUMER, Link
from spvlink.link.border.stage import Stage
from spvlink.link.values import dedup_outputs
from spvlink.options import Options
from spvlink.passes.opening import state_samples
from spvlink.pipeline import (
    KEPT,
    MERGED,
    NOTHING_TO_GAIN,
    REMOVED,
    UNCHANGED,
    Linked,
    Remark,
    Source,
)
from spvlink.sets import stub
from spvlink.sets.apart import Apart, aggregates, all_of, constant, unsupported
from spvlink.sets.contract import Contract, Wire, place_of
from spvlink.state import state_of
from spvlink.verdicts import Judge


def obey_all(sources: list[Source], contracts: list[Contract], options: Options) -> Linked:
    """Each stage by itself."""
    linked = Linked()
    stages = read_stages(sources)
    env = options.target_env or validate.lowest_env([s.module.spirv_version for s in stages])
    linked.target_env = env
    borders: dict[tuple[int, int], Border] = {}
    for row, before, behind in _rows(stages, contracts):
        _Obedient(row, before, behind, options, linked, borders).run()
    for _, border in sorted(borders.items()):
        remarks.report(linked, border)
        if border.link is not None:
            forget_all(border.link)
    measure_later(linked, [stage.source for stage in stages])
    for contract in contracts:
        if contract.kept and contract.producer and contract.consumer:
            _tell_kept(linked, contract)
    linked.validated = Judge(stages, env).verdict([r.data for r in linked.stages], options)
    if not any(result.changed for result in linked.stages):
        linked.stay(UNCHANGED, NOTHING_TO_GAIN)
    return linked


def _tell_kept(linked: Linked, contract: Contract) -> None:
    title = f"{contract.producer}->{contract.consumer}"
    linked.written.append(Remark(title, "the interface", "", KEPT, contract.kept))


class CannotObey(BadSpirv):
    """A stage that could obey an interface in which these components cross."""

    def __init__(self, stage: Stage, what: str, contract: Contract, keys: set[int]) -> None:
        super().__init__(what)
        self.file = stage.source.file
        self.contract = contract
        self.keys = keys


class Needed(CannotObey):
    """Components that a stage needs and an interface does not have, or only knows."""

    def __init__(self, stage: Stage, link: Link, contract: Contract, keys: set[int]) -> None:
        first = min(keys)
        slot = link.slot(first)
        side = "input" if link.consumer is stage else "output"
        what = f"{side} {slot.name if slot is not None else ''} at Location {place_of(first)}"
        what += " is not part of the interface"
        if any(fact.key == first for fact in contract.known):
            why = link.remarks.notes.get(first, "it has to be read as it is")
            what += f", which knows what it holds: {why}"
        super().__init__(stage, what, contract, keys)


def _rows(
    stages: list[Stage], contracts: list[Contract]
) -> list[tuple[list[Stage], Contract | None, Contract | None]]:
    """Stages that are linked together, since the interface says nothing of what is between them,
    with the borders before and behind them. Raises BadSpirv for a stage that it does not have."""
    given = [stage.name for stage in stages]
    borders = {_ends(contract, given): contract for contract in contracts}
    fronts = {consumer: contract for (_, consumer), contract in borders.items()}
    backs = {producer: contract for (producer, _), contract in borders.items()}
    rows: list[list[Stage]] = []
    for stage in stages:
        if rows and rows[-1][-1].name not in backs and stage.name not in fronts:
            rows[-1].append(stage)
        else:
            rows.append([stage])
    framed = [(row, fronts.get(row[0].name), backs.get(row[-1].name)) for row in rows]
    for row, before, behind in framed:
        if before is None and behind is None:
            raise row[0].bad(f"the interface has no {row[0].name} stage")
    return framed


def _ends(contract: Contract, given: list[str]) -> tuple[str, str]:
    """Producer and consumer of a border; at an end that was open the next one that is given."""
    producer, consumer = contract.producer, contract.consumer
    if not consumer:
        consumer = next((n for n in given if rank(n) > rank(producer)), "")
    elif not producer:
        producer = next((n for n in reversed(given) if rank(n) < rank(consumer)), "")
    return producer, consumer


class _Obedient:
    """Stages, mostly one, and what stands for their neighbours."""

    def __init__(
        self, row: list[Stage], before: Contract | None, behind: Contract | None,
        options: Options, linked: Linked, borders: dict[tuple[int, int], Border],
    ) -> None:  # fmt: skip
        self.row = row
        self.before = before
        self.behind = behind
        self.options = options
        self.linked = linked
        self.borders = borders

    def run(self) -> None:
        """Link them. Raises BadSpirv where one needs more than there is."""
        sizes = [count(stage.module) for stage in self.row]
        first, last, row = self.row[0], self.row[-1], [*self.row]
        if self.before is not None and self.before.kept:
            self.check_inputs(first, self.before)
        elif self.before is not None:
            row.insert(0, self.producer(first, self.before))
        if self.behind is not None and self.behind.kept:
            self.check_whole(last, self.behind)
        elif self.behind is not None:
            wanted = stub.of_contract(self.behind, facts=False)
            row.append(stub.consumer_for(last.name, self.behind.consumer, wanted))
        outputs = [stage.source.data for stage in row]
        if len(row) > 1:
            outputs = self.link(row)
        for stage, size in zip(self.row, sizes):
            data = outputs[row.index(stage)]
            self.linked.stages.append(stage_result(stage, stage.source, data, size))

    def producer(self, stage: Stage, contract: Contract) -> Stage:
        """What stands before a stage. It writes, too, what the stage reads and the interface does
        not have, so that this is not taken for what nobody writes."""
        wanted = stub.of_contract(contract, facts=True)
        known = {*contract.wire_keys(), *(fact.key for fact in contract.known)}
        try:
            wanted += [one for one in all_of(stage, INPUT) if one.key not in known]
        except Broken as why:
            raise stage.bad(why.message) from None
        return stub.producer_for(stage.name, wanted)

    def link(self, row: list[Stage]) -> list[bytes]:
        """Raises BadSpirv."""
        family = Apart(row, self.options, Runner(self.options), uses_state=True)
        try:
            to_slots(family)
        except Refused as why:
            raise self.row[0].bad(f"it cannot obey an interface: {why}") from None
        for border in family.borders:
            if contract := self.contract(family, border):
                self.check(border, contract)
        if self.before is not None and family.borders[0].link is not None:
            _read_twins(family.borders[0].link, self.before)
        for stage in self.row:
            link_side(family, stage, CONSUMER)
        if self.behind is not None and not self.behind.kept:
            link = family.borders[-1].link
            assert link is not None
            self.check_outputs(link, self.behind)
        sweep(family)
        borders = [border for border in family.borders if not border.kept]
        family.crossings = [Crossing(family.stages, [border]) for border in borders]
        for crossing in family.crossings:
            (link,) = crossing.links
            contract = self.contract(family, crossing.seam[0])
            if contract is None:
                crossing.place(family.runner.enabled("compact"))
                continue
            consumes = link.producer in family.stubs
            self.place(crossing, link, contract, consumes)
            if consumes:  # what the stub stored beside was to be found out
                remove_stores(link.producer, link.stores.keys() - contract.wire_keys().keys())
        try:
            declare_shared(family)
            outputs = write(family)
        except InterfaceMismatch:
            raise self.row[0].bad("it does not fit its neighbour, or the interface") from None
        for border in family.borders:
            self.tell(family, border)
        for name, seconds in family.runner.seconds.items():
            self.linked.seconds[name] = self.linked.seconds.get(name, 0.0) + seconds
        return outputs

    def contract(self, family: Apart, border: Border) -> Contract | None:
        """What is said of a border; None of one between stages that are given."""
        if border.producer in family.stubs:
            return self.before
        return self.behind if border.consumer in family.stubs else None

    def tell(self, family: Apart, border: Border) -> None:
        """Of both sides of a border the producer's is told, with what the consumer found out."""
        contract = self.contract(family, border)
        if contract is not None:
            border.producer.name = contract.producer or border.producer.name
            border.consumer.name = contract.consumer or border.consumer.name
        name = rank(border.producer.name), rank(border.consumer.name)
        first = self.borders.setdefault(name, border)
        if first is not border and first.link is not None and border.link is not None:
            first.link.remarks.fate.update(border.link.remarks.fate)

    def check(self, border: Border, contract: Contract) -> None:
        """Whether a side can be what an interface says at all. Raises BadSpirv."""
        stage = self.row[0] if contract is self.before else self.row[-1]
        if border.link is None:
            raise stage.bad(f"it cannot obey an interface: {border.kept}")
        why = unsupported(border.link)
        if why:
            raise stage.bad(f"{why}; the interface has components only")

    def check_outputs(self, link: Link, contract: Contract) -> None:
        """Whether a producer writes what the contract says. Raises BadSpirv."""
        link.gather()
        stage, slots = link.producer, link.outputs.slots
        for wire in contract.wires:
            for key in wire.keys:
                slot = slots.get(key)
                if slot is None:
                    what = f"no output at Location {place_of(key)}"
                    raise stage.bad(f"{what}, where the interface has {wire.name or 'one'}")
                kind = wire.qualifiers
                if kind is not None and _patch(slot.qualifiers) != _patch(kind):
                    raise stage.bad(f"only one of output {slot.name} and the interface has Patch")
        for fact in contract.known:
            if fact.key not in link.stores:
                continue
            if fact.bits is not None:
                fits, said = constant(link, fact.key) == fact.bits, f"0x{fact.bits:08x}"
            elif fact.twin is not None:
                fits, said = (
                    dedup_outputs.same(link, fact.key, fact.twin),
                    f"as {place_of(fact.twin)}",
                )
            else:
                fits, said = False, "never written"
            if not fits:
                what = f"output {slots[fact.key].name} at Location {place_of(fact.key)}: the"
                what += f" interface says that it is {said}, and this stage writes another value"
                raise CannotObey(stage, what, contract, {fact.key})

    def place(self, crossing: Crossing, link: Link, contract: Contract, consumes: bool) -> None:
        """Give what crosses the places of the contract. Raises BadSpirv for what has none."""
        out, into = (link.producer, OUTPUT), (link.consumer, INPUT)
        side, other = (into, out) if consumes else (out, into)
        slots, wires = crossing.sides[side].slots, contract.wire_keys()
        missing = crossing.declared[side] - wires.keys()
        if not consumes:
            missing -= link.read_back.keys()
        if missing:
            raise Needed(side[0], link, contract, missing)
        # what a control shader alone reads back
        own = [unit for unit in crossing.units if unit.kinds.keys() == {side} and not consumes]
        crossing.units = _beside(own, contract.wires)
        for wire in contract.wires:
            mine = [slots[key] for key in wire.keys if key in crossing.declared[side]]
            kind = wire.qualifiers
            kinds = {}
            if kind is None:  # as each stage has it: integer inputs are Flat, outputs need not be
                kind = mine[0].qualifiers if mine else ()
                theirs = crossing.sides[other].slots.get(wire.keys[0])
                kinds[other] = theirs.qualifiers if theirs else kind
            for slot in mine if consumes else ():
                if slot.qualifiers not in (kind, self.qualifiers_as_read(kind)):
                    what = f"input {slot.name} at Location {place_of(slot.key)}"
                    why = "is interpolated in another way than the interface says"
                    raise side[0].bad(f"{what} {why}")
            kinds.setdefault(other, kind)
            if mine or not consumes:
                kinds[side] = kind
            unit = Unit(wire.keys, wire.base, kinds)
            unit.location, unit.lane = wire.location, wire.component
            crossing.units.append(unit)
        if not consumes:
            for key in link.outputs.slots.keys() - wires.keys() - link.remarks.fate.keys():
                link.remarks.fate[key] = REMOVED, "it is not part of the interface"

    def qualifiers_as_read(self, kind: tuple[int, ...]) -> tuple[int, ...]:
        """What is left of the qualifiers of a wire in a stage that knows the state of its pipeline:
        with one sample Centroid and Sample say nothing."""
        if not state_of(self.options.state).one_sample:
            return kind
        return tuple([q for q in kind if q not in state_samples.FINER])

    def check_inputs(self, stage: Stage, contract: Contract) -> None:
        """Before a stage everything stays as it is: all that it reads has to be there. Raises
        BadSpirv."""
        known = contract.outputs if contract.outputs is not None else contract.inputs
        if known is None:
            return
        there = {(w.location, w.component): w.shape for w in known}
        for own in aggregates(stage, INPUT) or ():  # what is not in order is not ours to judge
            if there.get((own.location, own.component)) != own.shape:
                raise stage.bad(f"input {own.name} is not part of the interface")

    def check_whole(self, stage: Stage, contract: Contract) -> None:
        """Behind a stage everything stays as it is: it has to write all. Raises BadSpirv."""
        written = aggregates(stage, OUTPUT)
        if written is None:
            return
        mine = {(v.location, v.component): v.shape for v in written}
        needed = contract.outputs if contract.outputs is not None else contract.inputs
        for whole in needed or ():
            if mine.get((whole.location, whole.component)) != whole.shape:
                raise stage.bad(f"no output like {whole.name} of the interface")


def _beside(units: list[Unit], wires: list[Wire]) -> list[Unit]:
    """Variables of one stage only: in the hole where they were, or in Locations that nothing else
    has."""
    taken = {wire.location for wire in wires}
    moved: dict[int, int] = {}
    for unit in units:
        if _in_hole(unit, [wire for wire in wires if wire.location == unit.location]):
            continue
        if unit.location not in moved:
            place = unit.location
            while place in taken:
                place += 1
            moved[unit.location] = place
            taken.add(place)
        unit.location = moved[unit.location]
    return units


def _in_hole(unit: Unit, wires: list[Wire]) -> bool:
    """Whether a variable may stay beside these wires of its Location, which are of its type."""
    (kind,) = unit.kinds.values()
    for wire in wires:
        size = len(wire.keys) * (2 if wire.base.endswith("64") else 1)
        apart = wire.component + size <= unit.lane or unit.lane + unit.size <= wire.component
        if wire.qualifiers is None or _patch(wire.qualifiers) != _patch(kind):
            return False  # a Location of a patch is another one
        if not apart or wire.base != unit.base:
            return False
    return bool(wires)


def _read_twins(link: Link, contract: Contract) -> None:
    """Read what crosses in place of what is equal to it, where the stage reads the latter only."""
    link.gather()
    wires, slots = contract.wire_keys(), link.inputs.slots
    for fact in contract.known:
        twin, loads = fact.twin, link.loads.get(fact.key)
        if twin is None or loads is None or twin in link.loads or link.frozen(fact.key):
            continue
        mine = slots[fact.key]
        if mine.qualifiers == wires[twin].qualifiers and mine.base == wires[twin].base:
            for load in loads:
                load.imm = (twin, *load.imm[1:])
            slots[twin] = _moved(mine, twin)  # whatever was declared there is not read
            link.remarks.fate[fact.key] = MERGED, f"the same as Location {place_of(twin)}"
            touched(link.consumer.module)
            link.consumer.linked = True
            link.gather()


def _moved(slot: Slot, key: int) -> Slot:
    """A slot like another one, elsewhere."""
    return Slot(
        key, slot.type, slot.variable, slot.name, slot.lane, slot.group, slot.base,
        slot.qualifiers, slot.relaxed, slot.extras, slot.length,
    )  # fmt: skip


def _patch(qualifiers: tuple[int, ...]) -> bool:
    return enums.Decoration_Patch in qualifiers
