"""Remove dead varyings of a module that several pipelines share: an output goes if no consumer
reads it, an input is zero if no producer writes it."""

from __future__ import annotations

from spvlink.ir.slot import Pinned
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.dead import dead_varyings
from spvlink.link.dead.overwritten import drop_overwritten
from spvlink.link.dead.whole_variables import drop_or_localize, is_idle
from spvlink.pipeline import REMOVED, UNDEFINED


def drop_unread(links: list[Link]) -> None:
    """Outputs of one producer that no consumer reads."""
    first = links[0]
    if first.in_place and drop_overwritten(first.producer):
        return
    for link in links:
        link.gather()
    if dead_varyings.drop_undefined(first):
        return
    unread = [dead_varyings.unread(link) for link in links]
    dead = unread[0].intersection(*unread[1:])
    if dead:
        remove_stores(first.producer, dead)
        for link in links:
            why = f"no {link.consumer.name} stage reads it"
            for key in dead:
                link.remarks.fate.setdefault(key, (REMOVED, why))
    dead_varyings.read_back_as_zero(first)
    for pinned in list(first.outputs.pinned):
        _drop_whole(links, pinned)


def _drop_whole(links: list[Link], pinned: Pinned) -> None:
    """A variable that stays whole, if nobody reads it."""
    for link in links:
        twin = next((p for p in link.inputs.pinned if p.keys == pinned.keys), None)
        if not is_idle(link, pinned, twin):
            return
    outputs = links[0].outputs
    if not drop_or_localize(links[0].producer, pinned.variable):
        return
    outputs.pinned.remove(pinned)
    outputs.variables.append(pinned.variable)
    for link in links:
        link.gone.append(pinned)
        for key in pinned.keys:
            link.remarks.fate[key] = (REMOVED, f"no {link.consumer.name} stage reads it")


def read_as_zero(links: list[Link]) -> None:
    """Inputs of one consumer that no producer writes."""
    unwritten: list[set[int]] = []
    for link in links:
        link.gather()
        unwritten.append(link.loads.keys() - link.stores.keys() - link.read_as_is)
    lost = unwritten[0].intersection(*unwritten[1:])
    dead_varyings.zero_loads(links[0], lost)
    why = f"no {links[0].producer.name} stage writes it; read as zero"
    for key in lost:
        links[0].remarks.fate[key] = (UNDEFINED, why)
