"""Choose the inputs that may be Flat, although interpolation would round them.

    VS  outTint = per-primitive value          Location 0: Flat id, Flat tint
    FS  in vec4 tint (smooth)             ->   one Location in place of two

Why it is right. A value that is equal at all vertices of a primitive is equal at every pixel of it,
in real numbers. Flat gives the value itself; interpolation gives it with rounding.

What breaks it. Code that depends on the last bit (``rounded``), a value that may be an infinity
(its interpolation is NaN), a consumer that preserves such values, and ``--exact``: such inputs stay
interpolated.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.floats import Floats
from spvlink.grammar import info, ops
from spvlink.ir.core import LOAD_INPUT
from spvlink.ir.slot import Slot
from spvlink.link.border.link import Link
from spvlink.link.border.uniformity import divergence_of, equal_on_primitive, varies_at_a_glance
from spvlink.link.rounding import rounded, sensitive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    Twin = tuple[int, int, int]


def unbounded(link: Link, key: int) -> bool:
    """Whether what is stored may be an infinity or NaN, of which interpolation makes a NaN."""
    module = link.producer.module
    return any(sensitive.unbounded(module, store.args[0]) for store in link.stores[key])


def comes_exact(link: Link, key: int, what: str) -> bool:
    """Whether an input that is equal at all vertices may come to the bit; notes why not. ``what``:
    is not done then."""
    if link.carries_bits(link.inputs.slots[key]):
        return True
    if unbounded(link, key):
        link.remarks.notes.setdefault(
            key, f"{what}it may be an infinity, and interpolation turns an infinity into a NaN"
        )
        return False
    if not rounded.of(link).free(key):
        link.remarks.notes.setdefault(key, what + rounded.of(link).why(key))
        return False
    return True


def flatten(link: Link) -> frozenset[int]:
    """The float slots of 32 bits that every vertex of a primitive stores equally, so that any
    interpolation gives them back."""
    link.gather()
    if link.exact or len({link.inputs.slots[k].qualifiers for k in link.loads}) < 2:
        return frozenset()  # with one interpolation there is nothing to choose
    preserved = Floats.of(link.consumer.module).preserved
    wanted = [
        k for k in link.loads
        if k in link.stores
        and all(i.op == LOAD_INPUT for i in link.loads[k])
        and may_flatten(link.inputs.slots[k])
        and link.inputs.slots[k].width not in preserved and not link.settled(k)
    ]  # fmt: skip
    if link.producer.name == "vert":  # most are told at a glance
        wanted = [k for k in wanted if not varies_at_a_glance(link, k)]
    if not wanted:
        return frozenset()
    divergence = divergence_of(link)
    equal = [k for k in wanted if equal_on_primitive(link, k, divergence)]
    return frozenset([k for k in equal if comes_exact(link, k, "not flattened: ")])


def may_flatten(slot: Slot) -> bool:
    own = info.APART_DECORATIONS.intersection(slot.qualifiers)
    return slot.type.op == ops.OpTypeFloat and slot.width == 32 and not own
