"""Keeps the blocks of a function in order: what nothing reaches goes, except what structured
control flow must name, and blocks stand after those that dominate them.

An edge that goes may change what dominates a block: a switch on a constant that falls through into
a ``default`` that stands first leaves that block before the case that alone leads to it. A pass
that takes edges away calls ``drop_unreachable`` afterwards.
"""

from __future__ import annotations

from spvlink.errors import Broken
from spvlink.facts.cfg import Cfg
from spvlink.facts.structure import Structure
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.edit import branch, flow_changed, touched

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Collection


def drop_unreachable(module: Module, function: Function) -> None:
    """Remove blocks that the entry does not reach; the others stand in order then. A merge or
    continue target of a reachable header stays as a stub: OpUnreachable, or the bare back edge."""
    if len(function.blocks) == 1:
        return
    cfg = Cfg.of(module, function)
    if len(cfg.order) < len(function.blocks):
        _drop(module, function, cfg)
    put_in_order(module, function)


def _drop(module: Module, function: Function, cfg: Cfg) -> None:
    stubs: dict[Block, list[Inst]] = {}
    for block, merge in cfg.headers:
        for at, target in enumerate(merge.args[:2]):
            assert isinstance(target, Block)
            if target not in cfg.index:
                end = branch(block) if at else Inst(ops.OpUnreachable, None, [], ())
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


def leave_loops(module: Module, function: Function) -> None:
    """A merge block that nothing reaches leaves the loop around it, if its construct does too.

    With OpUnreachable there, a task shader of Mesa 25.0 draws nothing if all arms of the switch
    break the loop and one of them falls through into another. That is what inlining makes of a
    switch that returns in each arm."""
    cfg = Cfg.of(module, function)
    if len(cfg.order) == len(function.blocks):
        return
    structure = Structure.of(module, function)
    stubs: list[Block] = []
    for header, merge in cfg.headers:
        stub = merge.args[0]
        if stub in cfg.index or merge.op == ops.OpLoopMerge or not isinstance(stub, Block):
            continue
        if stub in structure.continues:  # it has to go back
            continue
        loop = next((h for h in structure.around(header) if h in structure.loops), None)
        if loop is None:
            continue
        again, left = structure.continue_of[loop], structure.merge_of[loop]
        if again in cfg.index and cfg.dominates(again, header):
            continue  # only the back edge leaves a continue construct
        if any(cfg.dominates(header, b) for b in cfg.preds.get(left, ())):
            stub.insts = [branch(left)]
            stubs.append(stub)
    if stubs:
        flow_changed(module)
        mend_phis(module, function, stubs)


def misplaced(module: Module, function: Function) -> Block | None:
    """The first block that stands before its dominator (specification 2.16.1), if there is one."""
    if len(function.blocks) == 1:
        return None
    above = Cfg.of(module, function).idom
    seen: set[Block] = set()
    for block in function.blocks:
        if block in above and above[block] not in seen:
            return block
        seen.add(block)
    return None


def check_order(module: Module) -> None:
    """Raise Broken if a block of the entry point stands before its dominator: nobody else looks
    before it is written."""
    assert module.entry is not None
    block = misplaced(module, module.entry.function)
    if block is not None:
        raise Broken(f"the block %{block.id} stands before the one that dominates it")


def put_in_order(module: Module, function: Function) -> None:
    """Blocks that stand before their dominators wait for them; all else keeps its order."""
    if misplaced(module, function) is None:
        return
    from heapq import heapify, heappop, heappush  # few stages come here

    cfg = Cfg.of(module, function)
    after = dict(cfg.idom)  # block -> what comes before it
    for header, merge in cfg.headers:
        for target in merge.args[:2]:
            assert isinstance(target, Block)
            if target not in cfg.index:
                after[target] = header
    blocks = function.blocks
    waiting: dict[Block, list[int]] = {}
    ready: list[int] = []
    for at, block in enumerate(blocks):
        if block in after:
            waiting.setdefault(after[block], []).append(at)
        else:
            ready.append(at)
    heapify(ready)
    function.blocks = []
    while ready:
        block = blocks[heappop(ready)]
        function.blocks.append(block)
        for at in waiting.get(block, ()):
            heappush(ready, at)
    touched(module)


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
                if inst.op in info.LINES:
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
            touched(module)
