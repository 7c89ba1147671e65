"""Remove outputs that stay whole (a dynamic index, or a type beyond slots) and have no reader."""

from __future__ import annotations

from spvlink.facts.effects import root
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst
from spvlink.ir.edit import drop
from spvlink.ir.slot import CAPTURED, Pinned
from spvlink.link.border.link import Link
from spvlink.link.border.stage import IN_PLACE, Stage
from spvlink.link.dead import unused_arrays
from spvlink.passes.lowering.memory_access import uses

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# Atomics with two orders: where the values are equal, and where not.
_COMPARING: Final = frozenset((ops.OpAtomicCompareExchange, ops.OpAtomicCompareExchangeWeak))


def drop_or_localize(producer: Stage, variable: Inst) -> bool:
    """Do without an output that stays whole; where it is read back, it becomes a local variable, if
    nobody else could have read it."""
    if drop_whole(producer, variable):
        return True
    return producer.name not in IN_PLACE and unused_arrays.make_local(producer, variable)


def is_idle(link: Link, out: Pinned, twin: Pinned | None) -> bool:
    """Whether a variable that stays whole on the producer's side is read by nothing on the
    other."""
    if out not in link.outputs.pinned or out.pins & CAPTURED:
        return False
    if not link.relied.isdisjoint(out.keys):
        return False
    if twin is None:
        return not any(k in link.kept_in for k in out.keys)
    return not uses(link.consumer.module, twin.variable)


def drop_whole(stage: Stage, variable: Inst) -> bool:
    """Delete all stores to a variable, and atomics whose results are not used and that order
    nothing, unless something else is done with it. Its pointers go too: nobody else cleans
    functions that were not inlined."""
    entry = stage.module.entry
    assert entry is not None
    gone: set[Inst] = set()
    for function in stage.module.functions:
        for block in function.blocks:
            for inst in block.insts:
                for at, arg in enumerate(inst.args):
                    if root(arg) is not variable:
                        continue
                    if not IS_CHAIN[inst.op] and (at or not _only_stores(inst)):
                        return False
                    gone.add(inst)
    atomics = {i for i in gone if i.type is not None and info.FLAGS.get(i.op, 0) & info.ATOMIC}
    if atomics and _used(stage, atomics):
        return False
    drop(stage.module, gone)
    return True


def _only_stores(inst: Inst) -> bool:
    """Whether all that an instruction does, its result apart, is to change what its first operand
    points to: a store, or an atomic of Relaxed order."""
    if inst.op == ops.OpStore:
        return True
    if not info.FLAGS.get(inst.op, 0) & info.ATOMIC:
        return False
    orders = inst.args[2:4] if inst.op in _COMPARING else inst.args[2:3]
    return all(types.index_of(order) == 0 for order in orders)


def _used(stage: Stage, values: set[Inst]) -> bool:
    return any(
        not values.isdisjoint(inst.args)
        for function in stage.module.functions
        for block in function.blocks
        for inst in block.insts
    )
