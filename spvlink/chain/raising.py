"""Turn placements into variables, declared alike on both sides; then clean up."""

from __future__ import annotations

from spvlink.chain.border import Border
from spvlink.chain.state import INPUT, OUTPUT, Chain
from spvlink.ir.core import Inst
from spvlink.ir.slot import Pinned, Varying
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.builtins import closing
from spvlink.link.dead import dead_builtins
from spvlink.link.pack.placement import Placement
from spvlink.link.payload import payload
from spvlink.passes.lowering import storage16
from spvlink.passes.raising import raise_io, sample_rate, trim


def finish(chain: Chain, stage: Stage) -> None:
    """Variables again on both sides of a stage; cleaned and trimmed. Of the borders of a side that
    share its module, one speaks for all."""
    dropped: list[Inst] = []
    linked: set[int] = set()
    before, after = chain.before(stage), chain.after(stage)
    for border in (before, after):
        if border is not None:
            _raise_border(chain, border, stage, dropped, linked)
    chain.runner.finish(stage)
    if stage.masked:
        from spvlink.passes.lowering import state_attachments  # seldom: see chain/table

        act = state_attachments.store_plainly
        chain.runner.run("state.attachments", stage, act, stage.module)
    if stage.module.borrowed_capabilities:
        chain.runner.run("settle", stage, storage16.settle, stage.module)
        chain.runner.on_entry(stage, "simplify")
        chain.runner.drop_dead(stage)
    if stage.per_sample:
        sample_rate.keep_sample_rate(stage.module)
    kept: frozenset[Inst] = frozenset()
    if (before is not None and before.kept) or (after is not None and after.kept):
        kept = frozenset(v for v in chain.listed[stage] if v.imm[0] not in linked)
    chain.staying[stage] = kept
    chain.runner.run("trim", stage, trim.trim, stage.module, frozenset(dropped), kept)


def _raise_border(
    chain: Chain, border: Border, stage: Stage, dropped: list[Inst], linked: set[int]
) -> None:
    """A stage's side of a border. The variables that were there are appended to ``dropped``, the
    storage classes of what is there now to ``linked``."""
    link, runner = border.link, chain.runner
    if link is None:
        if border.payload is not None:
            border.payload.restore(stage.module)
        return
    note_declared(chain, border, stage)
    assert border.placement is not None
    is_output = border.producer is stage
    built = closing.of(link)
    if built is not None:
        act = closing.raise_outputs if is_output else closing.raise_inputs
        runner.run("builtins", stage, act, built)
    if border.payload is not None:
        side = border.payload.raise_side
        runner.run("raise", stage, side, link, border.placement, is_output)
        linked.add(payload.STORAGE)
    else:
        _raise_side(chain, border, stage, is_output)
        linked.add(OUTPUT if is_output else INPUT)
    dropped += (link.outputs if is_output else link.inputs).variables
    if not is_output and link.locals and runner.enabled("arrays"):
        from spvlink.link.shape import arrays_dynamic  # seldom: see chain/table

        runner.run("arrays", stage, arrays_dynamic.promote_locals, link)


def declare_shared(chain: Chain) -> None:
    """Which variables both sides of the borders get that share modules."""
    for crossing in chain.crossings:
        for stage, storage in crossing.sides:
            chain.declared[stage, storage] = crossing.variables((stage, storage))
        for border in crossing.seam:
            border.placement = _placement(chain, border)


def _placement(chain: Chain, border: Border) -> Placement:
    """What the producer of a pair declares, as this consumer reads it."""
    link = border.link
    assert link is not None
    varyings: list[Varying] = []
    unread: set[int] = set()
    locations: set[int] = set()
    inputs = link.inputs.slots
    for varying in chain.declared[link.producer, OUTPUT]:
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


def note_declared(chain: Chain, border: Border, stage: Stage) -> None:
    """Which variables a side of a border gets; once, while both have their slots."""
    assert border.link is not None and border.placement is not None
    is_output = border.producer is stage
    if (stage, OUTPUT if is_output else INPUT) in chain.declared:
        return
    # an input needs its output even if nothing is stored there (with dead varyings left alone)
    keys = {*border.link.used()} if is_output else {*border.link.loads}
    storage = OUTPUT if is_output else INPUT
    mine = [v for v in border.placement.varyings if not keys.isdisjoint(v.keys)]
    chain.declared[stage, storage] = mine


def _raise_side(chain: Chain, border: Border, stage: Stage, is_output: bool) -> None:
    runner, link, placement = chain.runner, border.link, border.placement
    assert link is not None and placement is not None
    side = link.outputs if is_output else link.inputs
    storage = OUTPUT if is_output else INPUT
    mine = chain.declared[stage, storage]
    raised = raise_io.Raise(stage.module, mine, storage, side.slots)
    # ``tidy`` comes next
    runner.run("raise", stage, raised.run, runner.plain and not link.locals)
    for pinned in side.pinned if not border.shared else ():
        qualifiers = reader_qualifiers(link, pinned) if is_output else ()
        raise_io.move_whole(stage.module, pinned.variable, placement.moved[pinned], qualifiers)


def reader_qualifiers(link: Link, pinned: Pinned) -> tuple[int, ...]:
    """Those with which the consumer reads an output that stays whole."""
    twin = next((p for p in link.inputs.pinned if p.keys == pinned.keys), None)
    return twin.qualifiers if twin is not None else ()


def trim_blocks(chain: Chain) -> None:
    """Built-in blocks between stages, now that it is known what both use of them."""
    runner = chain.runner
    stages: dict[Stage, None] = {}
    for border in chain.borders:
        link = border.link
        if link is None or border.shared or border.fixed:
            continue
        if border.consumer.name not in dead_builtins.CONSUMERS:
            continue
        version = border.consumer.module.version
        if runner.enabled("dead.builtin_blocks"):
            from spvlink.link.dead import dead_builtin_blocks  # seldom: see chain/table

            if runner.run(
                "dead.builtin_blocks",
                border.producer,
                dead_builtin_blocks.dead_builtin_blocks,
                link,
            ):
                stages[border.producer] = None
                border.producer.linked = True
                # as it came it has the whole block, even if nothing is left here to shrink
                border.consumer.linked |= _had_block(chain, link)
            if runner.changed("dead.builtin_blocks", border.consumer, version):
                stages[border.consumer] = None
                border.consumer.linked = True
    for stage in stages:
        kept = chain.staying[stage]
        runner.run("trim", stage, trim.trim, stage.module, frozenset(), kept)


def _had_block(chain: Chain, link: Link) -> bool:
    """Whether a consumer came with a block of built-ins."""
    others = {v.id for v in link.inputs.variables}
    return any(
        v.imm[0] == INPUT and v.id not in others and dead_builtins.struct_of(v) is not None
        for v in chain.listed[link.consumer]
    )
