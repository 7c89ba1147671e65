"""Repeat the passes of all borders until none has anything to do, then place the rest.

    sweep               the borders first to last and back, until none is due
    place_to_fixpoint   where everything goes; again, where its new place lets more cross

What dies between the last two stages may have been all that kept something alive between the first
two. A border is looked at again only if one of its modules changed since; every loop is bounded.
"""

from __future__ import annotations

import time

from spvlink.chain.border import Group
from spvlink.chain.context import PassContext
from spvlink.chain.groups import hold_outputs, seams
from spvlink.chain.runner import Runner
from spvlink.chain.state import Chain, in_file
from spvlink.chain.table import LAST, REPACKING, TABLE, Pass
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.dead import dead_varyings
from spvlink.link.pack import compact
from spvlink.link.pack.placement import Placement
from spvlink.link.payload import payload

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# of the passes at one border; each round needs a change in the one before
MAX_ROUNDS: Final = 8
# over the borders, forwards or backwards; each needs a change in the one before
MAX_SWEEPS: Final = 16


def clean(chain: Chain, stage: Stage, promoted: bool = True) -> None:
    """A stage's code in its simplest form."""
    chain.runner.clean(stage)
    if stage.inputs is not None and any(s.length for s in stage.inputs.slots.values()):
        _read_vertices(chain.runner, stage)
    if promoted and stage.name == "tesc" and stage.outputs is not None:
        _read_back(chain.runner, stage)


def _read_vertices(runner: Runner, stage: Stage) -> None:
    """What is read by way of a copy of all vertices."""
    from spvlink.passes.lowering import promote_vertex_copies  # seldom: see chain/table

    entry = stage.module.entry
    assert entry is not None
    if runner.run(
        "promote.vertex_copies",
        stage,
        promote_vertex_copies.promote_vertex_copies,
        stage.module,
        entry.function,
    ):
        runner.promote_again(stage)
        runner.clean(stage)


def _read_back(runner: Runner, stage: Stage) -> None:
    """Values that an invocation reads back from its own outputs."""
    from spvlink.passes.lowering import promote_own_outputs  # seldom: see chain/table

    if runner.run(
        "promote.own_outputs", stage, promote_own_outputs.promote_own_outputs, stage.module
    ):
        runner.promote_again(stage)
        runner.clean(stage)


def sweep(chain: Chain) -> None:
    """All borders until none is due. In a longer chain code moves only when all is gone that nobody
    needs at its other end."""
    for moving in (False, True) if len(chain.borders) > 1 else (True,):
        for group in chain.groups:
            group.seen = -1
        sweep_due(chain, moving)


def sweep_due(chain: Chain, moving: bool) -> None:
    """The borders of which a stage has changed since they were looked at."""
    order = chain.groups
    for _ in range(MAX_SWEEPS):
        for group in order:
            if group.due():
                if group.borders[0].consumer is chain.fixed_function_consumer:
                    _link_last(chain.runner, group.links[0])
                else:
                    link_group(chain, group, moving)
                group.seen = group.version
        if not any(map(Group.due, chain.groups)):
            break
        order = order[::-1]


def _link_last(runner: Runner, link: Link) -> None:
    """Outputs of a pipeline that ends without a fragment shader."""
    from spvlink.link.shape import promote_late_indices  # seldom: see chain/table

    producer = link.producer
    if runner.run(
        "promote.late_indices", producer, promote_late_indices.promote_late_indices, link
    ):
        runner.clean(producer)
    if runner.enabled("dead.varyings"):
        producer.linked |= runner.run("dead.varyings", producer, dead_varyings.dead_varyings, link)
        runner.sweep_out(producer)


def link_side(chain: Chain, stage: Stage, side: str) -> None:
    """What a stage of a set does with all that it meets on one side."""
    for group in chain.groups:
        if group.shared == side and group.links and stage is group.stage:
            link_group(chain, group)


def link_group(chain: Chain, group: Group, moving: bool = False) -> None:
    """A border, or all that share a module, to a fixpoint; ``moving``: with code motion."""
    site = PassContext(chain, group)
    producer, consumer = site.link.producer, site.link.consumer
    hold_outputs(chain, group)
    rows = [row for row in TABLE if row.fits(site, moving)]
    for _ in range(MAX_SWEEPS if group.shared else MAX_ROUNDS):
        versions = producer.module.version, consumer.module.version
        row = _first_change(chain.runner, site, rows, versions[1])
        if row is None:
            return
        if producer.module.version != versions[0]:
            if row.adds_code:  # what was taken apart just now is read back too
                in_file(producer, clean, chain, producer, row.group == "promote")
            else:
                in_file(producer, chain.runner.sweep_out, producer)
        if consumer.module.version != versions[1]:
            in_file(consumer, chain.runner.clean, consumer)


def _first_change(runner: Runner, site: PassContext, rows: list[Pass], version: int) -> Pass | None:
    """Run passes until one changed something, which is cleaned up before the next look."""
    producer, consumer = site.link.producer, site.link.consumer
    for row in rows:
        if row.fixed_on or runner.enabled(row.name):
            site.real = True
            ran = runner.run(row.name, producer, row.run, site)
            changed = runner.changed(row.name, consumer, version)
            if not row.fixed_on:  # not just what a stage does for itself
                producer.linked |= ran and not row.beside
                consumer.linked |= changed and site.real
            if changed or ran:
                for link in site.links[1:] if changed else ():
                    for key, fate in site.link.remarks.fate.items():  # of an input, at each border
                        link.remarks.fate.setdefault(key, fate)
                return row
    return None


# -- places ----------------------------------------------------------------------------------------


def place_to_fixpoint(chain: Chain) -> None:
    """Where everything that is left goes. A border is looked at once more if what shares a word by
    now, or is Flat by its new place, may let more cross."""
    _place_all(chain)
    for _ in range(MAX_ROUNDS):
        if not any(map(Group.due, chain.groups)):
            break
        sweep_due(chain, True)
        _place_all(chain)
    for row in LAST if chain.options.half is not None else ():
        if _repack(chain, row):
            _find_places(chain)
    _place_shared(chain)


def _place_shared(chain: Chain) -> None:
    """The same for what several borders have together."""
    borders = [border for border in chain.borders if border.shared and not border.kept]
    for seam in seams(borders):
        from spvlink.chain import wires  # seldom: see chain/table

        crossing = wires.Crossing(chain.stages, seam)
        crossing.place(chain.runner.enabled("compact"))
        chain.crossings.append(crossing)


def _place_all(chain: Chain) -> None:
    for row in REPACKING:
        if _repack(chain, row) and row.group == "halves":
            sweep(chain)  # words may move where 64-bit numbers could not
    _find_places(chain)


def _find_places(chain: Chain) -> None:
    """Of every border that shares no module with another one."""
    begin = time.perf_counter()
    for group in chain.groups:
        if group.shared or not group.links:
            continue
        (border,), (link,) = group.borders, group.links
        border.placement = place(PassContext(chain, group))
        if not link.fixed and compact.requalify(link, border.placement):
            group.seen = -1
    seconds = chain.runner.seconds
    seconds["compact"] = seconds.get("compact", 0.0) + time.perf_counter() - begin


def place(site: PassContext) -> Placement:
    """Where everything that is left at a border goes."""
    if site.link.producer.name == "task":
        return payload.place(site.link)
    if site.link.fixed:
        return compact.in_order(site.link)
    if site.enabled("compact"):
        return compact.compact(site.link, site.convergent)
    return compact.at_old_places(site.link, [])


def _repack(chain: Chain, row: Pass) -> bool:
    """Whether a pass that saves Locations changed something at any border."""
    runner, done = chain.runner, False
    if not runner.enabled(row.name):
        return False
    for group in chain.groups:
        border = group.borders[0]
        if border.link is None or border.consumer is chain.fixed_function_consumer:
            continue
        site = PassContext(chain, group)
        if border.producer.name == "task" or not row.fits(site, True):
            continue  # what a payload holds has no Locations
        version = border.consumer.module.version
        if runner.run(row.name, border.producer, row.run, site):
            done = True
            border.producer.linked = True
            border.consumer.linked |= runner.changed(row.name, border.consumer, version)
            for stage in (border.producer, border.consumer):
                in_file(stage, runner.clean, stage)
    return done
