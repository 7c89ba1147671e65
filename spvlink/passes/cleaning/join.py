"""Append to a block its only successor.

    %a: ... OpBranch %b;  %b: (no other predecessor)      ->  one block

Why it is right. The same instructions run in the same order. The merge instruction of a loop
header moves to the new end.

What breaks it. A second predecessor, or a header that names the successor as its merge block or
continue target: the blocks stay apart.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.structure import Structure
from spvlink.grammar import ops
from spvlink.ir.core import COPY, Block, Function, Module
from spvlink.ir.edit import become, flow_changed, retarget_phis, sweep

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# specification, OpLoopMerge
_AFTER_LOOP_MERGE: Final = frozenset((ops.OpBranch, ops.OpBranchConditional))


def join(module: Module, function: Function) -> None:
    """Join the blocks of a function."""
    if len(function.blocks) == 1:
        return
    cfg = Cfg.of(module, function)
    structure = Structure.of(module, function)
    named = structure.header_of_merge.keys() | structure.continues
    gone: set[Block] = set()
    copies = False
    for block in cfg.order:
        if block in gone:
            continue
        while True:
            end = block.terminator
            merge = block.merge()
            if end.op != ops.OpBranch or (merge is not None and merge.op != ops.OpLoopMerge):
                break
            target = end.args[0]
            assert isinstance(target, Block)
            if target in named or target is block or target in cfg.dead_preds:
                break
            if len(cfg.preds[target]) != 1 or target.lead or target in structure.loops:
                break
            if merge is not None:
                if target.merge() is not None or target.terminator.op not in _AFTER_LOOP_MERGE:
                    break
                block.insts.pop()
            block.insts.pop()
            for inst in target.insts:
                if inst.op == ops.OpPhi:
                    become(module, inst, inst.args[0])
                    copies = True
            block.insts += [i for i in target.insts if i.op != COPY]
            if merge is not None:
                block.insts.insert(-1, merge)
            for after in dict.fromkeys(block.successors()):
                retarget_phis(module, after, target, block)
            gone.add(target)
    if gone:
        function.blocks = [b for b in function.blocks if b not in gone]
        flow_changed(module)
        if copies:
            sweep(module, function)
