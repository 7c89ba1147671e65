"""Split 64-bit values if one word need not cross.

    VS  d = packDouble2x32(uvec2(a, b))              w = b
    FS  x = unpackDouble2x32(d).y               ->   x = w

Why it is right. ``split64`` has the rule: only values that cross to the bit are split, and
bit-casts give back every bit. A word need not cross if no reader uses it, if all stores give it the
same constant, if it is the sign of the other word, or if another slot holds the same.

What breaks it. Values that are captured, read back, Invariant or indexed dynamically, and doubles
that must be flushed: they stay whole.

Cost. A few moves in both stages; a component less crosses.
"""

from __future__ import annotations

from spvlink.ir.core import Inst
from spvlink.link.border.link import Link
from spvlink.link.pack.split64 import (
    BOTH,
    CONSTANT,
    CROSSES,
    HALVES,
    SIGN,
    UNREAD,
    SplitPlan,
    WordUses,
    is_whole,
    may_split,
    plans_of,
    split,
)
from spvlink.link.pack.words64 import HIGH, WORD, NumberWords, Word

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable


def halves_words(link: Link, enabled: Callable[[str], bool]) -> bool:
    """Split what has a word that need not cross; whether there was any. ``enabled`` says of other
    passes whether they may run: what they are for is done here only then."""
    # old places could put words beside numbers of 64 bits; a payload has no places
    plans = plans_of(link) if enabled("compact") or link.producer.name == "task" else []
    if not plans:
        return False
    _judge(link, plans, enabled)
    alike = _compare(link, plans) if enabled("dedup") else {}
    chosen = [plan for plan in plans if plan.gains()]
    if chosen:
        split(link, chosen, alike)
    return bool(chosen)


def _judge(link: Link, plans: list[SplitPlan], enabled: Callable[[str], bool]) -> None:
    """What becomes of each word by itself."""
    uses = WordUses(link.consumer.module)
    for plan in plans:
        read = uses.read(link.loads[plan.key]) if enabled("dead") else BOTH
        for half in HALVES:
            if not read >> half & 1:
                plan.fates[half] = UNREAD
            elif plan.bits(half) is not None and enabled("propagate"):
                plan.fates[half] = CONSTANT
        if plan.fates == [CROSSES, CROSSES] and enabled("forward"):
            if all(high.is_sign_of(low) for low, high in plan.stored):
                plan.fates[HIGH] = SIGN


def _compare(link: Link, plans: list[SplitPlan]) -> dict[Inst, Word]:
    """Find words that other words, or other slots, say as well; gives the stores of such slots with
    the words of numbers that they store."""
    said: dict[tuple[object, ...], list[SplitPlan | None]] = {}
    single: dict[tuple[object, ...], dict[Inst, Word]] = {}
    words = NumberWords(link.producer.module)
    for key in sorted(link.loads):
        slot = link.inputs.slots.get(key)
        if slot is None or slot.width != WORD or slot.relaxed or key not in link.stores:
            continue
        out = link.outputs.slots[key]
        if key in link.outputs.captured or out.relaxed or not may_split(link, key):
            continue
        stored = [words.of_single((s.args[0], 0)) for s in link.stores[key]]
        name = _name(link, key, stored)
        said.setdefault(name, []).append(None)
        single.setdefault(name, {}).update(zip(link.stores[key], stored))
    for plan in plans:
        for half in HALVES:
            if plan.fates[half] == CROSSES:
                name = _name(link, plan.key, [pair[half] for pair in plan.stored])
                said.setdefault(name, []).append(plan)
    alike: dict[Inst, Word] = {}
    for name, mine in said.items():
        for same in mine if len(mine) > 1 else ():
            if same is not None and link.stored_once(same.key):
                same.worth = True
                alike.update(single.get(name, {}))
    return {store: word for store, word in alike.items() if is_whole(word)}


def _name(link: Link, key: int, stored: list[Word]) -> tuple[object, ...]:
    """Equal for what ``dedup`` merges."""
    by_site = frozenset((link.sites[s], w.key) for s, w in zip(link.stores[key], stored))
    return link.inputs.slots[key].qualifiers, by_site
