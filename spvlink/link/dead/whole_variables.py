"""Outputs that stay whole (dynamically indexed, or beyond slots) and that nobody reads."""

from __future__ import annotations

from spvlink.facts.effects import root
from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.ir.edit import drop
from spvlink.ir.slot import CAPTURED, Pinned
from spvlink.link.border.link import Link
from spvlink.link.border.stage import IN_PLACE, Stage
from spvlink.link.dead import unused_arrays
from spvlink.passes.parts import uses

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_POINTERS: Final = frozenset((ops.OpAccessChain, ops.OpInBoundsAccessChain))


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
    if twin is None:
        return not any(k in link.kept_in for k in out.keys)
    return not uses(link.consumer.module, twin.variable)


def drop_whole(stage: Stage, variable: Inst) -> bool:
    """Delete all stores to a variable, unless something else is done with it. Its pointers go too:
    nobody else cleans functions that were not inlined."""
    entry = stage.module.entry
    assert entry is not None
    gone: set[Inst] = set()
    for function in stage.module.functions:
        for block in function.blocks:
            for inst in block.insts:
                for at, arg in enumerate(inst.args):
                    if root(arg) is not variable:
                        continue
                    if inst.op not in _POINTERS and (inst.op != ops.OpStore or at):
                        return False
                    gone.add(inst)
    drop(stage.module, gone)
    return True
