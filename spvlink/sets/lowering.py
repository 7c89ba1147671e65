"""The stages of a family to slots. What stays whole for one stage, or as it is for one border, does
so for all of the seam."""

from __future__ import annotations

from spvlink.chain.lowering import analysed, find_resources, give_builtins, prepare
from spvlink.chain.state import in_file
from spvlink.errors import Refused
from spvlink.link.border.stage import Stage
from spvlink.link.shape import agreement
from spvlink.passes.lowering.lower_io import Lowering
from spvlink.passes.opening import spec_constants
from spvlink.sets.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Mapping
    from typing import Final

    Spec = tuple[Mapping[int, str | bytes], bool]  # values by SpecId; whether others are defaults

PAYLOAD: Final = "a payload is not linked in a set"
BEHIND: Final = "what comes behind the {} stage in another pipeline is not known"
TWO_ENTRIES: Final = "two entry points of one module are used"
KEPT: Final = "a pipeline that stays as it is uses the module, too"
MISFIT: Final = "the interfaces of a pipeline of the set do not fit"


def lower(family: Family, specs: list[Spec], staying: Mapping[int, str]) -> None:
    """All stages to slots; those that are ``staying`` go out as they came, for the reason that is
    given. Raises Refused if no border is left."""
    runner = family.runner
    for stage, (values, defaults) in zip(family.stages, specs):
        if values or defaults:
            act = spec_constants.specialize
            in_file(stage, runner.run, "specialize", stage, act, stage.module, values, defaults)
    if not family.literal:  # a stub says nothing of patches
        give_builtins(family)
    find_resources(family)
    prepare(family)
    for at, why in staying.items():
        family.untouched.add(family.stages[at])
        for border in family.around(family.stages[at]):
            border.refuse(why)
    _keep(family)
    lows = _analyse(family)
    borders = [b for b in family.borders if not b.kept]
    held, now = -1, _whole(lows)
    while held != now:
        for border in borders:
            agreement.agree(lows[border.producer], lows[border.consumer])
        held, now = now, _whole(lows)
    for stage, low in lows.items():
        in_file(stage, runner.run, "promote", stage, low.finish, runner.plain)
        stage.inputs, stage.outputs = low.inputs, low.outputs


def _keep(family: Family) -> None:
    """Borders that stay for a reason that is known from the start."""
    for border in family.borders:
        producer = border.producer
        if producer.name == "task":
            border.kept = border.kept or PAYLOAD
        elif producer in family.open:
            border.kept = border.kept or BEHIND.format(producer.name)
        elif (producer, border.consumer) in family.unlinkable_pairs:
            border.refuse(MISFIT)


def _spread(family: Family) -> None:
    """A border that stays keeps all of its seam."""
    for seam in family.seams():
        why = next((b for b in seam if b.kept), None)
        for border in seam if why is not None else ():
            assert why is not None
            if not border.kept:
                border.kept, border.refused = f"in another pipeline of the set: {why.kept}", True


def _analyse(family: Family) -> dict[Stage, Lowering]:
    while True:
        _spread(family)
        if all(border.kept for border in family.borders):
            raise Refused(family.borders[0].kept if family.borders else "there is nothing to link")
        lows: dict[Stage, Lowering] = {}
        for stage in family.touched():
            low = analysed(family, stage)
            if low is None:
                break  # a border is kept now: all have to be looked at again
            lows[stage] = low
        else:
            return lows


def _whole(lows: dict[Stage, Lowering]) -> int:
    """How many components stay whole, on all sides; they only get more."""
    count = 0
    for low in lows.values():
        for side in (low.inputs, low.outputs):
            if side is not None:
                count += sum(len(low.keys_of(node)) for node in low.memory_nodes(side))
    return count
