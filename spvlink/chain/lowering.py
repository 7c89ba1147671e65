"""From modules as they came to slots and SSA values.

    specialize        constants that the user gave
    give_builtins     what the pipeline says of built-ins
    find_resources    what each stage reads, where a pass will ask for it
    prepare           everything that an entry point calls becomes one function
    apply_kept        interfaces that stay as they are for a reason known from the start
    lower             how each stage touches its interfaces; neighbours agree on what stays whole;
                      variables and interfaces become values

A stage that resists goes out as it came. A border that is refused keeps its interface; the stages
around it and the other borders are linked all the same.
"""

from __future__ import annotations

import time

from spvlink.chain.border import Border
from spvlink.chain.groups import seams
from spvlink.chain.state import INPUT, OUTPUT, Chain, in_file, original
from spvlink.errors import Broken, Refused
from spvlink.grammar import enums
from spvlink.ir.core import EXECUTION_MODES
from spvlink.ir.slot import DYNAMIC
from spvlink.link.border.link import CONSUMER, PRODUCER
from spvlink.link.border.stage import Stage
from spvlink.link.check import interface
from spvlink.link.payload import payload
from spvlink.link.resources.visible import find_visible, unsupported_reason
from spvlink.link.shape import agreement
from spvlink.passes.lowering import storage16
from spvlink.passes.lowering.cells import WHOLE
from spvlink.passes.lowering.lower_io import Lowering
from spvlink.passes.raising import sample_rate

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

BY_OPTION: Final = "by --keep-interface"
# of a set
PAYLOAD: Final = "a payload of shared stages is not linked"
BEHIND: Final = "what comes behind the {} stage in another pipeline is not known"
BEFORE: Final = "what comes before the {} stage in another pipeline is not known"
MISFIT: Final = "the interfaces of a pipeline of the set do not fit"
_ACROSS: Final = ("backward", "forward", "propagate")  # ask what the other stage can read


def specialize(chain: Chain) -> None:
    """Specialization constants that the user gave, and all others with ``spec_defaults``."""
    for stage in chain.stages:
        values, defaults = chain.specs[stage]
        if values or defaults:
            from spvlink.passes.opening import spec_constants  # seldom: see chain/table

            act, module = spec_constants.specialize, stage.module
            in_file(stage, chain.runner.run, "specialize", stage, act, module, values, defaults)


def give_builtins(chain: Chain) -> None:
    """What is the same for every vertex, by the state of the pipeline or the neighbour's modes:
    PatchVertices in both tessellation stages, and ViewIndex, which is zero where no view mask is,
    and the number of the view where there is one (Vulkan, "Built-In Variables";
    ``Options.view_mask`` has the exception)."""
    points, views = chain.patch_points, chain.view_mask
    for stage in () if chain.literal else chain.stages:  # a stub says nothing of patches
        given: dict[int, int] = {}
        if stage.name == "tesc" and points is not None:
            given[enums.BuiltIn_PatchVertices] = points
        elif stage.name == "tese":
            given.update(_patch_of(chain.befores.get(stage, [])))
        if views == 0:
            given[enums.BuiltIn_ViewIndex] = 0
        elif views is not None and views & (views - 1) == 0:  # the only view
            given[enums.BuiltIn_ViewIndex] = views.bit_length() - 1
        if given:
            from spvlink.passes.opening import given_builtins  # seldom: see chain/table

            chain.runner.run(
                "specialize", stage, given_builtins.set_given_builtins, stage.module, given
            )


def _patch_of(borders: list[Border]) -> dict[int, int]:
    """PatchVertices behind a control shader: as many as it writes; each, if there are several."""
    sizes: set[int] = set()
    for border in borders:
        assert border.producer.module.entry is not None
        entry = border.producer.module.entry.function
        sizes.update(
            mode.imm[1]
            for mode in border.producer.module.sections[EXECUTION_MODES]
            if mode.args[0] is entry and mode.imm[0] == enums.ExecutionMode_OutputVertices
        )
    return {enums.BuiltIn_PatchVertices: sizes.pop()} if len(sizes) == 1 else {}


def find_resources(chain: Chain) -> None:
    """The resources that stages share, where a pass will ask for them."""
    enabled = chain.runner.enabled
    asking = any(s.name == "tese" for s in chain.stages) and enabled("weighted")
    if asking or any(enabled(name) for name in _ACROSS):
        find_visible(chain.stages)


def prepare(chain: Chain) -> None:
    """Everything in one function, stage by stage."""
    for stage in chain.stages:
        entry = stage.module.entry
        assert entry is not None
        chain.listed[stage] = list(entry.inst.args[1:])
        try:
            in_file(stage, _open_up, chain, stage)
        except Refused as error:
            stage.module = original(stage)
            chain.untouched.add(stage)
            for border in chain.around(stage):
                border.refuse(str(error))


def _open_up(chain: Chain, stage: Stage) -> None:
    """All code in one function. Raises Refused for what is beyond us."""
    if why := unsupported_reason(stage.module):
        raise Refused(why)
    if stage.name == "frag":
        stage.per_sample = bool(sample_rate.sample_rate_reasons(stage.module, listed=True))
    chain.runner.prepare(stage)
    storage16.lend(stage.module)


def apply_kept(chain: Chain) -> None:
    """Which interfaces stay as they are for a reason that is known from the start."""
    for stage, why in chain.left.items():
        chain.untouched.add(stage)
        for border in chain.around(stage):
            border.refuse(why)
    for border in chain.borders:
        producer, consumer = border.producer, border.consumer
        if chain.fixed & {producer, consumer}:
            _fix(chain, border)
        elif border.kept:
            pass
        elif chain.is_set and producer in chain.open:
            border.kept = BEHIND.format(producer.name)
        elif consumer in chain.starts:
            border.kept = BEFORE.format(consumer.name)
        elif producer.name == "task" and border.shared:
            border.kept = PAYLOAD
        elif producer.name == "task":
            _open_payload(chain, border)
        elif _is_unlinkable(chain, border):
            border.refuse(MISFIT)


def _is_unlinkable(chain: Chain, border: Border) -> bool:
    """Whether the two did not fit before."""
    pairs = chain.unlinkable_borders
    return bool(pairs) and (
        chain.stages.index(border.producer), chain.stages.index(border.consumer)
    ) in pairs  # fmt: skip


def _fix(chain: Chain, border: Border) -> None:
    """One side stays as it is: the other still gains, if it may be declared with a part of what it
    declares. Blocks match blocks only, so where there is one nothing of it is taken apart."""
    producer = border.producer in chain.fixed
    both = producer and border.consumer in chain.fixed
    if both or border.producer.name == "task" or _is_unlinkable(chain, border):
        border.kept, border.refused = border.kept or BY_OPTION, False
        return
    sides = (border.producer, OUTPUT), (border.consumer, INPUT)
    try:
        declared = [d for stage, side in sides for d in interface.declared(stage.module, side)]
    except Broken as error:
        border.refuse(error.message)
        return
    patches = {p for d in declared if enums.Decoration_Patch in d.kind for p in d.covers}
    if any(enums.Decoration_Patch not in d.kind and patches & d.covers for d in declared):
        why = f"{BY_OPTION}, whose Patch variables overlap others"  # slots cannot tell these apart
        border.kept, border.refused = border.kept or why, False
        return
    if any(d.label.index >= 0 for d in declared):
        border.kept, border.refused = border.kept or f"{BY_OPTION}, of a block", False
    border.fixed = PRODUCER if producer else CONSUMER
    border.consumer.literal = not producer


def _open_payload(chain: Chain, border: Border) -> None:
    """What a task shader hands over is an interface too, if it can be linked."""
    if not chain.runner.enabled("payload"):
        border.kept = "the payload stays as it is without the pass payload"
        return
    try:
        border.payload = payload.Payload(border.producer.module, border.consumer.module)
    except payload.Unlinkable as why:
        border.kept = str(why)
        return
    border.payload.open_payload()


def lower(chain: Chain) -> None:
    """All stages to slots. Raises Refused if no border is left to link for a reason of ours."""
    runner = chain.runner
    begin = time.perf_counter()
    lows = _analyse(chain)
    borders = [border for border in chain.borders if not border.kept]
    held, now = -1, _whole(chain, lows)
    while held != now:  # what stays whole for one stage of a set does so for all of the seam
        for border in borders:
            agreement.agree(lows[border.producer], lows[border.consumer])
        held, now = now, _whole(chain, lows)
    runner.seconds["analyse"] = time.perf_counter() - begin
    for stage, low in lows.items():
        # cleaning comes next
        in_file(stage, runner.run, "promote", stage, low.finish, runner.plain)
        stage.inputs, stage.outputs = low.inputs, low.outputs


def _whole(chain: Chain, lows: dict[Stage, Lowering]) -> int:
    """How many components stay whole, on all sides of a set; they only get more."""
    count = 0
    for low in lows.values() if chain.is_set else ():
        for side in (low.inputs, low.outputs):
            if side is not None:
                count += sum(len(low.keys_of(node)) for node in low.memory_nodes(side))
    return count


def _spread(chain: Chain) -> None:
    """A border that stays keeps all of its seam."""
    for seam in seams(chain.borders) if chain.is_set else ():
        why = next((b.kept for b in seam if b.kept), "")
        for border in seam if why else ():
            if not border.kept:
                border.kept, border.refused = f"in another pipeline of the set: {why}", True


def _analyse(chain: Chain) -> dict[Stage, Lowering]:
    """How each stage touches its interfaces."""
    behind = chain.fixed_function_consumer
    while True:
        _spread(chain)
        refused = [b for b in chain.borders if b.refused or chain.is_set]
        if refused and not any(not b.kept for b in chain.borders):
            raise Refused(refused[0].kept)
        lows: dict[Stage, Lowering] = {}
        for stage in chain.touched() + ([behind] if behind is not None else []):
            low = analysed(chain, stage)
            if low is None:
                break  # a border is kept now: the neighbour has to be looked at again
            lows[stage] = low
        else:
            return lows


def analysed(chain: Chain, stage: Stage) -> Lowering | None:
    """The sides of a stage that are linked; None if one of them had to be refused."""
    before, after = chain.before(stage), chain.after(stage)
    inputs = before is not None and not before.kept
    outputs = after is not None and not after.kept
    try:
        return in_file(stage, analyse_interface, chain, stage, inputs, outputs)
    except Refused as why:
        reasons = {True: str(why), False: str(why)}
        if inputs and outputs:
            for side in (True, False):
                try:
                    in_file(stage, analyse_interface, chain, stage, side, not side)
                    reasons[side] = ""
                except Refused as own:
                    reasons[side] = str(own)
        both = not reasons[True] and not reasons[False]
        for side, border in ((True, before), (False, after)):
            reasons[side] = str(why) if both else reasons[side]
            if border is not None and reasons[side]:
                border.refuse(reasons[side])
        if not (inputs or outputs):
            raise
        return None


def analyse_interface(chain: Chain, stage: Stage, inputs: bool, outputs: bool) -> Lowering:
    """How a stage touches its interface. Where an index looks dynamic, local variables are
    promoted and constants folded first: it may only have come through a variable."""
    low = Lowering(stage.module, inputs, outputs)
    low.analyse()
    for variable in low.sides:
        root = low.roots[variable]
        if root.kind != WHOLE and any(leaf.pins & DYNAMIC for leaf in root.leaves()):
            break
    else:
        return low
    locals_only = Lowering(stage.module, False, False)
    locals_only.analyse()
    chain.runner.run("promote", stage, locals_only.finish)
    chain.runner.clean(stage)
    low = Lowering(stage.module, inputs, outputs)
    low.analyse()
    return low
