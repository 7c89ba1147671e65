"""Split varyings whose dynamic index became constant.

    %i = OpLoad %int %out1                    (out1 holds 2, which is known once out1 is lowered)
    %p = OpAccessChain %ptr %out0 %i     ->   out0[2], and out0 need not stay whole

Why it is right. The linker decides which variables stay whole before it lowers the interface. Only
then do values flow through it, so an index may turn out to be constant, or its access to be dead.
The pass analyses these variables again, on both sides, and both agree again. Variables that can be
split now become slots like all others.

What breaks it. The same things as at first: an index that is still dynamic.

Cost. None.
"""

from __future__ import annotations

from spvlink.ir.core import Inst
from spvlink.ir.slot import DYNAMIC, Interface, Pinned
from spvlink.link.border.link import Link
from spvlink.link.shape import agreement
from spvlink.passes.lowering.cells import MEMORY
from spvlink.passes.lowering.lower_io import Lowering


def promote_late_indices(link: Link) -> bool:
    """Take apart what can be by now; whether anything could."""
    pairs = [pair for pair in link.pinned() if all(p is None or hopeful(p) for p in pair)]
    again = {p.variable for pair in pairs for p in pair if p is not None}
    if not again:
        return False
    low_out = _analysed(Lowering(link.producer.module, False, True), link.outputs, again)
    low_in = _analysed(Lowering(link.consumer.module, True, False), link.inputs, again)
    agreement.agree(low_out, low_in)
    lows = (low_out, link.outputs), (low_in, link.inputs)
    if all(low.roots[v].kind == MEMORY for low, _ in lows for v in low.sides):
        return False
    for low, side in lows:
        low.finish()
        _merge(low, side)
    link.gather()
    return True


def hopeful(pinned: Pinned) -> bool:
    """Whether it is a dynamic index that keeps it whole."""
    return pinned.pins & DYNAMIC != 0


def _analysed(low: Lowering, side: Interface, variables: set[Inst]) -> Lowering:
    """Look at these variables of a side, under the names that they had."""
    low.only = variables
    low.analyse()
    for pinned in side.pinned:
        if pinned.variable in variables:
            for leaf in low.roots[pinned.variable].leaves():
                name = low.spots[leaf].name
                low.spots[leaf].name = name if name.startswith(pinned.name) else pinned.name + name
    return low


def _merge(low: Lowering, side: Interface) -> None:
    """Add the new slots; the variables that were looked at are pinned anew or gone."""
    new = low.outputs or low.inputs
    assert new is not None
    first = 1 + max((s.group for s in side.slots.values()), default=0)
    for slot in new.slots.values():
        slot.group += first
    side.slots.update(new.slots)
    side.captured.update(new.captured)
    side.variables += new.variables
    side.aggregates += new.aggregates
    side.pinned = [p for p in side.pinned if p.variable not in low.sides] + new.pinned
