"""Merge outputs with captured ones that hold the same value.

    captured: x = e; read: y = e        ->    the next stage reads x

Why it is right. Transform feedback needs the captured output anyway, so an equal output need not
cross beside it. Both must be stored at the same places (docs/explanation/proof.md has the theorem).

What breaks it. Another type, stores at other places, or an Invariant output: these outputs stay.

Cost. None.
"""

from __future__ import annotations

from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst
from spvlink.ir.edit import touched
from spvlink.ir.slot import Slot
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.values import component
from spvlink.pipeline import MERGED


def dedup_captured(link: Link) -> bool:
    """Let the consumer read captured slots that it does not read yet in place of slots that say the
    same; whether there were any. Both must be stored at the same places."""
    captured = link.outputs.captured
    if not captured:
        return False
    link.gather()
    free: dict[object, int] = {}
    for key in sorted(captured):
        if key in link.stores and key not in link.loads:
            free.setdefault(_said(link, key), key)
    twins: dict[int, int] = {}
    for key in sorted(link.loads) if free else ():
        if key in captured or key not in link.stores:
            continue
        if link.frozen(key):
            continue
        other = free.get(_said(link, key)) if key in link.outputs.slots else None
        if other is not None and other not in twins.values():
            twins[key] = other
    for key, other in twins.items():
        _read_instead(link, key, other)
    if twins:
        remove_stores(link.producer, set(twins))
    return bool(twins)


def _said(link: Link, key: int) -> object:
    """What is stored in a slot, and where; equal for equal slots."""
    slot = link.outputs.slots[key]
    values = frozenset((link.sites[s], component(s.args[0])) for s in link.stores[key])
    return slot.type, slot.relaxed, slot.extras, values


def _read_instead(link: Link, key: int, other: int) -> None:
    mine, theirs = link.inputs.slots[key], link.outputs.slots[other]
    slot = Slot(other, mine.type, mine.variable, theirs.name, mine.lane, mine.group)
    slot.qualifiers, slot.relaxed, slot.extras = mine.qualifiers, mine.relaxed, mine.extras
    slot.length = mine.length
    link.inputs.slots[other] = slot
    module = link.consumer.module
    loads: list[Inst] = [i for i in link.loads[key] if i.op in (LOAD_INPUT, INTERPOLATE)]
    for load in loads:
        load.imm = (other, *load.imm[1:])
    touched(module)
    lane = f"{other >> 3}.{'xyzw'[other >> 1 & 3]}"
    link.remarks.fate[key] = (MERGED, f"the same as {theirs.name or 'Location'} {lane}")
