"""One frozen interface for several producers and several consumers, each linked by itself: for
pipeline libraries, where any of the former may be joined with any of the latter.

What any consumer reads crosses; a constant, an equal component, or what is never written does not,
if that is so in every producer and if every consumer can make use of it. A module that cannot obey
is left out, and stays as it is.
"""

from __future__ import annotations

from spvlink.chain.chain import to_slots
from spvlink.chain.runner import Runner
from spvlink.chain.state import INPUT
from spvlink.driver import rank, read_stages
from spvlink.errors import BadSpirv, Broken, Refused, SpvlinkError
from spvlink.ir.known import forget_all
from spvlink.options import Options
from spvlink.pipeline import Linked, Source
from spvlink.sets import stub
from spvlink.sets.apart import Apart, all_of, unsupported
from spvlink.sets.contract import Contract, Wire, place_of, to_json
from spvlink.sets.freeze import Freezer
from spvlink.sets.obedient import CannotObey, obey_all

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.sets.stub import Wanted


ALONE: Final = "no partner of this module can be linked"


class Member:
    """Stages that are linked together, with their own options: the half of a pipeline before
    rasterization, or a fragment shader. Afterwards it has ``linked``, or ``reason`` why not."""

    __slots__ = ("linked", "options", "reads", "reason", "stages")

    def __init__(self, stages: Sequence[Source], options: Options) -> None:
        self.stages = list(stages)
        self.options = options
        self.linked: Linked | None = None
        self.reads: list[Wanted] | None = None
        self.reason = ""

    def leave(self, why: SpvlinkError) -> None:
        self.linked, self.reason = None, why.message


def link_joint(producers: list[Member], consumers: list[Member]) -> dict[str, object] | None:
    """Link all members against one interface, which is made of them; gives its document, None if
    there is none. The producers end with stages of one kind, the consumers are fragment shaders.
    Any of them that has ``linked`` afterwards fits any other one on the other side that has."""
    held: set[int] = set()
    while True:
        wanted = _wanted(consumers)
        left = [[m for m in side if not m.reason] for side in (producers, consumers)]
        if not all(left):
            for member in (*producers, *consumers):
                if not member.reason:
                    member.linked, member.reason = None, ALONE
            return None
        contract = _contract(left[0][0], wanted, held)
        if contract is None:
            continue  # with the next producer
        more = {key for side in left for member in side for key in _obey(member, contract, held)}
        if not more:
            return to_json([contract])
        held |= more


def _obey(member: Member, contract: Contract, held: set[int]) -> set[int]:
    """Link it; gives what has to cross so that it can obey."""
    try:
        member.linked = obey_all(member.stages, [contract], member.options)
    except CannotObey as unfit:
        more = unfit.keys - held
        if not more:
            member.leave(unfit)
        return more
    except SpvlinkError as error:
        member.leave(error)
    return set()


def _contract(first: Member, wanted: list[Wanted], held: set[int]) -> Contract | None:
    """The border behind one producer, as if one shader read all that is wanted; None if it has
    none, and is left out. Whether it fits the other producers, they say."""
    try:
        last = max(read_stages(first.stages), key=lambda stage: rank(stage.name))
        reader = stub.consumer_for(last.name, "frag", wanted)
        code = Source(reader.source.data, "all fragment shaders", "main", "frag")
        freezer = Freezer([*first.stages, code], first.options)
        freezer.held[len(first.stages) - 1] = held
        contract = freezer.contracts()[-1]
        if contract.kept:
            raise BadSpirv(f"its outputs stay as they are: {contract.kept}")
        contract.wires = _together(contract.wires)
        return contract
    except SpvlinkError as error:
        first.leave(error)
        return None


def _together(wires: list[Wire]) -> list[Wire]:
    """Neighbours that were one vector as one again."""
    found: list[Wire] = []
    for wire in wires:
        last = found[-1] if found else None
        if (
            last is not None
            and last.location == wire.location
            and last.component + len(last.keys) == wire.component
            and last.keys[-1] + 2 == wire.keys[0]
            and last.keys[0] >> 3 == wire.keys[0] >> 3
            and (last.base, last.qualifiers) == (wire.base, wire.qualifiers)
        ):
            last.keys += wire.keys
        else:
            found.append(wire)
    return found


def _wanted(consumers: list[Member]) -> list[Wanted]:
    """What any of them reads. Who reads a component in another way than one before is left out."""
    found: dict[int, Wanted] = {}
    for member in consumers:
        if member.reason:
            continue
        try:
            if member.reads is None:
                member.reads = _reads(member)
            for one in member.reads:
                other = found.get(one.key, one)
                if (one.base, one.qualifiers) != (other.base, other.qualifiers):
                    what = f"it reads Location {place_of(one.key)} in another way than others do"
                    raise BadSpirv(what)
            found.update((one.key, one) for one in member.reads)
        except SpvlinkError as error:
            member.leave(error)
    return [found[key] for key in sorted(found)]


def _reads(member: Member) -> list[Wanted]:
    """What a fragment shader reads. Raises SpvlinkError if an interface cannot say it."""
    (stage,) = read_stages(member.stages)
    try:
        before = stub.producer_for(stage.name, all_of(stage, INPUT))
        family = Apart([before, stage], member.options, Runner(member.options))
        to_slots(family)
    except (Broken, Refused) as why:
        raise stage.bad(str(why)) from None
    (border,) = family.borders
    if border.link is None:
        raise stage.bad(border.kept)
    link = border.link
    stays = unsupported(link)
    if stays:
        raise stage.bad(stays)
    link.gather()
    slots = link.inputs.slots
    reads = [stub.Wanted(k, slots[k].base, slots[k].qualifiers) for k in sorted(link.loads)]
    forget_all(link)
    return reads
