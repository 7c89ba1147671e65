"""Split 64-bit values if that saves a Location.

    dvec2 d; uint a, b        2 Locations (64-bit values share none)   ->   uvec4 (d.x, a, b): fewer

Why it is right. ``split64`` has the rule. 64-bit values share Locations with nothing else; their
words share them with all Flat values.

What breaks it. The same as for ``halves_words``.

Cost. A few moves in both stages. Two words never need more components than the number did, and the
pass splits nothing unless the border needs fewer Locations.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.link.border.link import Link
from spvlink.link.pack import compact
from spvlink.link.pack.split64 import STEP, plans_of, redefine, split
from spvlink.link.pack.words64 import WORD

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Collection


def halves_locations(link: Link, convergent: frozenset[int]) -> bool:
    """Split what is left as far as that saves a Location, or lowers the highest; whether it did.
    ``convergent``: as for ``compact``."""
    plans = plans_of(link)
    if not plans:
        return False
    keys = [plan.key for plan in plans]
    before, least = (_needs(link, k, convergent) for k in ((), keys))
    if least >= before:
        return False
    count = next(n for n in range(1, len(keys) + 1) if _needs(link, keys[:n], convergent) == least)
    split(link, plans[:count], {})
    return True


def _needs(
    link: Link, keys: Collection[int], convergent: frozenset[int]
) -> tuple[int, int]:  # fmt: skip
    """How many Locations the border would need if these slots were split, and the highest. What is
    looked at is changed for as long as that takes."""
    sides = link.inputs, link.outputs
    before = link.stores, link.loads, link.halves, [(s.slots, s.aggregates) for s in sides]
    link.stores = {**link.stores, **{k + STEP: link.stores[k] for k in keys}}
    link.loads = {**link.loads, **{k + STEP: link.loads[k] for k in keys}}
    link.halves = {**link.halves, **dict.fromkeys(keys, "")}
    try:
        for side in sides:
            side.slots = dict(side.slots)
        # of types that no module knows, so that nothing changes there
        redefine(link, keys, [Inst(ops.OpTypeInt, None, [], (WORD, 0)) for _ in sides])
        cost = compact.compact(link, convergent).cost()
        return cost[0], cost[3]
    finally:
        link.stores, link.loads, link.halves = before[:3]
        for side, (slots, aggregates) in zip(sides, before[3]):
            side.slots, side.aggregates = slots, aggregates
