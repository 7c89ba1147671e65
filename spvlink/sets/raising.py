"""The stages of a family get variables again, alike wherever they meet."""

from __future__ import annotations

from spvlink.chain import as_it_came
from spvlink.chain.chain import encode_all
from spvlink.chain.raising import tidy_up
from spvlink.chain.state import INPUT, OUTPUT, in_file, original
from spvlink.errors import Broken
from spvlink.ir.core import Inst
from spvlink.ir.slot import Varying
from spvlink.link.border.stage import Stage
from spvlink.link.check import interface
from spvlink.link.pack.placement import Placement
from spvlink.passes.raising import raise_io
from spvlink.sets.family import Family
from spvlink.sets.wires import Crossing

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.chain.border import Border
    from spvlink.sets.family import Side


class SeamMismatch(Exception):
    """Two stages, by their indices, do not fit, and did not when they came."""

    def __init__(self, producer: int, consumer: int) -> None:
        super().__init__(producer, consumer)
        self.pair = producer, consumer


def write(family: Family, crossings: list[Crossing]) -> list[bytes]:
    """The new modules, in the order of the stages."""
    sides: dict[Side, Crossing] = {side: c for c in crossings for side in c.sides}
    for (stage, storage), crossing in sides.items():
        family.declared[stage, storage] = crossing.variables((stage, storage))
    for crossing in crossings:
        for border in crossing.seam:
            border.placement = _placement(family, border)
    for stage in family.touched():
        in_file(stage, _finish, family, stage, sides)
    as_it_came.restore(family)
    outputs = encode_all(family)
    for border in family.borders:
        if border.link is not None:
            _check(family, border)
    return outputs


def _check(family: Family, border: Border) -> None:
    """Raise SeamMismatch for two stages that never fitted, Broken if they no longer do."""
    producer, consumer = border.producer, border.consumer
    try:
        interface.check(producer.module, consumer.module, consumer.name == "frag")
    except Broken:
        try:
            interface.check(original(producer), original(consumer), consumer.name == "frag")
        except Broken:
            raise SeamMismatch(
                family.stages.index(producer), family.stages.index(consumer)
            ) from None
        raise


def _finish(family: Family, stage: Stage, sides: dict[Side, Crossing]) -> None:
    dropped: list[Inst] = []
    linked: set[int] = set()
    for storage in (INPUT, OUTPUT):
        crossing = sides.get((stage, storage))
        if crossing is None:
            continue
        side = crossing.sides[stage, storage]
        mine = family.declared[stage, storage]
        raised = raise_io.Raise(stage.module, mine, storage, side.slots)
        family.runner.run("raise", stage, raised.run, family.runner.plain)
        linked.add(storage)
        dropped += side.variables
    tidy_up(family, stage, dropped, linked)


def _placement(family: Family, border: Border) -> Placement:
    """What the producer of a pair declares, as this consumer reads it."""
    link = border.link
    assert link is not None
    varyings: list[Varying] = []
    unread: set[int] = set()
    locations: set[int] = set()
    inputs = link.inputs.slots
    for varying in family.declared[link.producer, OUTPUT]:
        locations.add(varying.location)
        if varying.keys[0] not in link.loads:
            unread.update(varying.keys)
            varyings.append(varying)
            continue
        read = Varying(varying.location, varying.component, varying.base, varying.keys)
        read.qualifiers, read.name = inputs[varying.keys[0]].qualifiers, varying.name
        varyings.append(read)
    whole = [p for pair in link.pinned() for p in pair if p is not None]
    locations.update([key >> 3 for p in whole for key in p.keys])
    return Placement(varyings, {p: p.location for p in whole}, locations, frozenset(unread))
