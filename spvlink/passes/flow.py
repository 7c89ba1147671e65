"""Keeps the blocks of a function in order: what nothing reaches goes, except what structured
control flow must name."""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.edit import branch, flow_changed

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Collection


def drop_unreachable(module: Module, function: Function) -> None:
    """Remove blocks that the entry does not reach. A merge or continue target of a reachable header
    stays as a stub: OpUnreachable, or the bare back edge."""
    if len(function.blocks) == 1:
        return
    cfg = Cfg.of(module, function)
    if len(cfg.order) == len(function.blocks):
        return
    stubs: dict[Block, list[Inst]] = {}
    for block, merge in cfg.headers:
        for at, target in enumerate(merge.args[:2]):
            assert isinstance(target, Block)
            if target not in cfg.index:
                end = branch(block) if at else Inst(ops.OpUnreachable, None, [], [])
                stubs[target] = [end]
    changed = False
    blocks: list[Block] = []
    for block in function.blocks:
        if block in cfg.index:
            blocks.append(block)
        elif block in stubs:
            if [(i.op, i.args) for i in block.insts] != [(i.op, i.args) for i in stubs[block]]:
                block.insts = stubs[block]
                changed = True
            blocks.append(block)
        else:
            changed = True
    if not changed:
        return
    function.blocks = blocks
    flow_changed(module)
    mend_phis(module, function, stubs.keys())


def mend_phis(module: Module, function: Function, stubs: Collection[Block] = ()) -> None:
    """Give every phi exactly the predecessors that its block has; an edge that it did not know
    brings an undefined value, and so does one from a stub: what the block computed went with its
    code."""
    preds: dict[Block, list[Block]] = {b: [] for b in function.blocks}
    for block in function.blocks:
        for target in dict.fromkeys(block.successors()):
            preds[target].append(block)
    for block in function.blocks:
        for inst in block.insts:
            if inst.op != ops.OpPhi:
                if inst.op in (ops.OpLine, ops.OpNoLine):
                    continue
                break
            known = {p: v for v, p in zip(inst.args[::2], inst.args[1::2]) if p not in stubs}
            if len(inst.args) == 2 * len(preds[block]) and all(p in known for p in preds[block]):
                continue
            assert inst.type is not None
            args: list[Inst] = []
            for pred in preds[block]:
                args += [known.get(pred) or types.undef(module, inst.type), pred]
            inst.args = args
            module.version += 1
