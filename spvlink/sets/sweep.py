"""What is dead, constant or said twice in a set: the passes over one stage and all those that it
meets. Something is done to a stage only where all of these agree, so each pair draws what it drew.

    an output goes              if no consumer reads it
    an input is zero            if no producer writes it
    an input is a constant      if each producer stores that one, or an expression over uniforms
    an input is another input   if each producer stores the same in both

A pass changes one module only: what a consumer does without, its producers lose when no other
consumer is left that reads it.
"""

from __future__ import annotations

from spvlink.chain.border import hold_all
from spvlink.chain.state import in_file
from spvlink.chain.sweep import MAX_SWEEPS, clean
from spvlink.chain.table import PassContext
from spvlink.facts import invariant
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.ir.slot import Pinned
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.stage import IN_PLACE, Stage
from spvlink.link.dead import dead_varyings
from spvlink.link.dead.overwritten import drop_overwritten
from spvlink.link.dead.whole_variables import drop_or_localize, is_idle
from spvlink.link.resources.blocks import Cannot
from spvlink.link.resources.transfer import Grant, Transfer
from spvlink.link.values import dedup_outputs, propagate_values
from spvlink.passes.lowering.promote_repeated_reads import promote_repeated_reads as repeated_reads
from spvlink.pipeline import REMOVED, UNDEFINED
from spvlink.sets.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable

    from spvlink.chain.border import Border


def sweep(family: Family) -> None:
    """All stages until nothing changes; bounded, as each round needs a change in the one before."""
    for _ in range(MAX_SWEEPS):
        versions = [stage.module.version for stage in family.stages]
        stages = [stage for stage in family.stages if stage not in family.stubs]
        for stage in stages:
            hold(family, stage)
        for stage in stages:
            consume(family, stage)
        for stage in reversed(stages):
            produce(family, stage)
        if versions == [stage.module.version for stage in family.stages]:
            return


def links_of(borders: dict[Stage, list[Border]], stage: Stage) -> list[Link]:
    """The links of a stage on one side."""
    return [b.link for b in borders.get(stage, []) if b.link is not None]


def hold(family: Family, stage: Stage) -> None:
    """What the stages behind one make positions and the like of."""
    keys: set[int] = set()
    variables: set[Inst] = set()
    for border in family.afters.get(stage, []):
        if border.link is None:
            hold_all(stage)
            return
        border.link.gather()
        found = border.link.settled_outputs()
        keys |= found[0]
        variables |= found[1]
    if stage in family.open or (family.literal and stage.name != "frag"):
        hold_all(stage)
    else:
        invariant.hold(stage.module, frozenset(keys), frozenset(variables))


def consume(family: Family, stage: Stage) -> None:
    """What a stage knows of its producers."""
    links = links_of(family.befores, stage)
    if links:
        in_file(stage, _consumer, family, stage, links)


def produce(family: Family, stage: Stage) -> None:
    """What a stage does for none of its consumers."""
    links = links_of(family.afters, stage)
    if links:
        in_file(stage, _producer, family, stage, links)


# -- a stage and its consumers ---------------------------------------------------------------------


def _producer(family: Family, stage: Stage, links: list[Link]) -> None:
    runner = family.runner
    for _ in range(MAX_SWEEPS):
        version = stage.module.version
        if stage.name in IN_PLACE:
            if runner.run("promote.repeated_reads", stage, repeated_reads, stage.module):
                in_file(stage, clean, family, stage)
        if runner.enabled("dead.varyings"):
            stage.linked |= runner.run("dead.varyings", stage, _drop_unread, stage, links)
        if stage.module.version == version:
            return
        runner.sweep_out(stage)


def _drop_unread(stage: Stage, links: list[Link]) -> None:
    """Outputs that nobody reads."""
    if stage.name in IN_PLACE and drop_overwritten(stage):
        return
    for link in links:
        link.gather()
    if dead_varyings.drop_undefined(links[0]):
        return
    unread = [dead_varyings.unread(link) for link in links]
    dead = unread[0].intersection(*unread[1:])
    if dead:
        remove_stores(stage, dead)
        for link in links:
            why = f"no {link.consumer.name} stage reads it"
            for key in dead:
                link.remarks.fate.setdefault(key, (REMOVED, why))
    dead_varyings.read_back_as_zero(links[0])
    for pinned in list(links[0].outputs.pinned):
        _drop_whole(stage, links, pinned)


def _drop_whole(stage: Stage, links: list[Link], pinned: Pinned) -> None:
    """A variable that stays whole, if nobody reads it."""
    for link in links:
        twin = next((p for p in link.inputs.pinned if p.keys == pinned.keys), None)
        if not is_idle(link, pinned, twin):
            return
    if not drop_or_localize(stage, pinned.variable):
        return
    outputs = links[0].outputs
    outputs.pinned.remove(pinned)
    outputs.variables.append(pinned.variable)
    for link in links:
        link.gone.append(pinned)
        for key in pinned.keys:
            link.remarks.fate[key] = (REMOVED, f"no {link.consumer.name} stage reads it")


# -- a stage and its producers ---------------------------------------------------------------------


def _consumer(family: Family, stage: Stage, links: list[Link]) -> None:
    runner, options = family.runner, family.options
    ways = [_way(family, link) for link in links]
    acts: list[tuple[str, Callable[[], object]]] = [
        ("dead.varyings", lambda: _read_as_zero(links)),
        (
            "dedup.outputs",
            lambda: dedup_outputs.dedup_outputs(
                links[0], options.exact, links[1:], family.literal
            ),
        ),
        (
            "propagate.values",
            lambda: propagate_values.propagate_values(
                links[0], ways[0](), options.exact, options.cost_limit,
                [(link, way()) for link, way in zip(links[1:], ways[1:])],
            ),
        ),
    ]  # fmt: skip
    for _ in range(MAX_SWEEPS):
        for name, act in acts:
            if runner.enabled(name) and runner.run(name, stage, act):
                stage.linked = True
                _tell_all(links)
                runner.clean(stage)
                break
        else:
            return


def _way(family: Family, link: Link) -> Callable[[], Transfer]:
    """The way of a producer's expressions into its consumer, as it is when it is needed."""
    if family.literal:
        return lambda: Literal(link.producer.module, link.consumer.module, Grant(frozenset()))
    site = PassContext(family, link)
    return lambda: site.to_consumer


class Literal(Transfer):
    """Constants alone."""

    def check(self, root_value: Inst) -> int:
        if root_value.type is not None and types.bits_of(root_value) is None:
            raise Cannot("only a constant can be part of an interface")
        return Transfer.check(self, root_value)


def _tell_all(links: list[Link]) -> None:
    """What became of an input is the same at each border."""
    for link in links[1:]:
        for key, fate in links[0].remarks.fate.items():
            link.remarks.fate.setdefault(key, fate)


def _read_as_zero(links: list[Link]) -> None:
    """Inputs that nobody writes."""
    unwritten: list[set[int]] = []
    for link in links:
        link.gather()
        unwritten.append(link.loads.keys() - link.stores.keys() - link.held)
    lost = unwritten[0].intersection(*unwritten[1:])
    dead_varyings.zero_loads(links[0], lost)
    why = f"no {links[0].producer.name} stage writes it; read as zero"
    for key in lost:
        links[0].remarks.fate[key] = (UNDEFINED, why)
