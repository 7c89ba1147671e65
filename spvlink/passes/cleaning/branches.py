"""Resolve constant branches and empty selections.

    OpSelectionMerge %m; OpBranchConditional true %a %b   ->  OpBranch %a
    OpSelectionMerge %m; OpBranchConditional c %m %m'     ->  OpSelect    (both arms empty)

Why it is right. A constant condition always takes the same way. Empty arms execute nothing, so a
select in place of their phi executes nothing new.

What breaks it. Structured control flow. A branch out of a construct to the merge block is legal
only while the header has its merge instruction (specification 2.11.2). So the header keeps it if a
block inside branches there from within another construct. A loop keeps its back edge.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts import invariant
from spvlink.facts.cfg import Cfg
from spvlink.facts.structure import Structure, is_switch
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import COPY, Block, Function, Inst, Module
from spvlink.ir.edit import (
    become,
    branch,
    flow_changed,
    remove_phi_edge,
    resolve,
    rewrite,
    sweep,
    value,
)
from spvlink.passes.cleaning.flow import drop_unreachable


def branches(module: Module, function: Function) -> None:
    """Resolve constant branches and empty selections of one function, to a fixpoint."""
    while len(function.blocks) > 1:
        flow = module.flow
        drop_unreachable(module, function)
        constant_branches(module, function)
        empty_selections(module, function)
        if module.flow == flow:
            return


def constant_branches(module: Module, function: Function) -> None:
    """Branches whose way is known."""
    cfg = Cfg.of(module, function)
    structure = Structure.of(module, function)
    changed = False
    for block in cfg.forks:
        target = _known_target(block.terminator)
        if target is None:
            continue
        dropped = [b for b in block.successors() if b is not target]
        if any(b in structure.loops and cfg.index[b] <= cfg.index[block] for b in dropped):
            if block not in dropped:
                # a loop keeps its back edge even if it is never taken (specification 2.11.2)
                continue
            del block.insts[-2]  # a loop of one block that runs once is none
        header = structure.merge_of.get(block)
        if header is not None and block not in structure.loops:
            if not _leaves_plainly(structure, cfg, block, header):
                continue
            del block.insts[-2]
        for other in dict.fromkeys(block.successors()):
            if other is not target:
                remove_phi_edge(module, other, block)
        block.insts[-1] = branch(target)
        changed = True
    if changed:
        flow_changed(module)


def _known_target(end: Inst) -> Block | None:
    """Where a conditional branch goes, if that is known."""
    target: Inst | None = None
    if end.op == ops.OpBranchConditional:
        bits = types.bits_of(resolve(end.args[0]))
        if bits is not None:
            target = end.args[1] if bits else end.args[2]
        elif end.args[1] is end.args[2]:
            target = end.args[1]
    elif end.op == ops.OpSwitch:
        bits = types.bits_of(resolve(end.args[0]))
        if bits is not None:
            target = end.args[1]
            cases = len(end.args) - 2
            width = len(end.imm) // cases if cases else 1
            for at in range(cases):
                words = end.imm[at * width : (at + 1) * width]
                if _literal(words, end.args[0]) == bits:
                    target = end.args[2 + at]
                    break
    return target if isinstance(target, Block) else None


def _literal(words: tuple[int, ...], selector: Inst) -> int:
    assert selector.type is not None
    bits = sum(word << 32 * at for at, word in enumerate(words))
    return bits & ((1 << selector.type.imm[0]) - 1)


def _leaves_plainly(structure: Structure, cfg: Cfg, header: Block, merge: Block) -> bool:
    """Whether a selection needs no merge instruction once its way is known: its merge block, and
    the cases of a switch that others fall through into, are reached by plain branches from
    directly inside it only."""
    cases = header.successors() if is_switch(header) else []
    for target in {merge, *cases}:
        for pred in cfg.preds.get(target, ()):
            if pred is header:
                continue
            if structure.parent.get(pred) is not header or pred in structure.merge_of:
                return False
            if pred.terminator.op != ops.OpBranch:
                return False
    return True


def empty_selections(module: Module, function: Function) -> None:
    """Selections with two empty arms: no branch is needed."""
    cfg = Cfg.of(module, function)
    structure = Structure.of(module, function)
    frozen = invariant.frozen(module)
    changed = False
    for header, merge in structure.merge_of.items():
        end = header.terminator
        if end.op != ops.OpBranchConditional or header in structure.loops:
            continue
        if merge not in cfg.index or (merge in structure.merge_of and merge in structure.loops):
            continue
        ways = [_through(cfg, structure, arm, header, merge) for arm in end.args[1:]]
        if ways[0] is None or ways[1] is None or end.args[1] is end.args[2]:
            continue
        if frozen and any(i in frozen for i in merge.insts if i.op == ops.OpPhi):
            continue  # an Invariant output keeps its control flow
        if set(cfg.preds[merge]) != set(ways) or merge in cfg.dead_preds:
            continue
        if not select_phis(module, merge, end.args[0], ways[0], ways[1]):
            continue
        header.insts[-2:] = [branch(merge)]
        changed = True
    if changed:
        flow_changed(module)
        sweep(module, function)


def _through(
    cfg: Cfg, structure: Structure, arm: Inst, header: Block, merge: Block
) -> Block | None:
    """The predecessor of ``merge`` on this way, if the way is empty: a block, or several after each
    other, as constructs leave that are gone."""
    assert isinstance(arm, Block)
    before = header
    while arm is not merge:
        if len(arm.insts) > 1 or arm.insts[0].op != ops.OpBranch or cfg.preds[arm] != [before]:
            return None
        if arm in structure.header_of_merge or arm in structure.continues:
            return None  # another construct needs it
        before, to = arm, arm.insts[0].args[0]
        assert isinstance(to, Block)
        arm = to
    return before


def may_be_selects(phis: list[Inst]) -> bool:
    """Whether OpSelect can choose what the phis of a block choose."""
    for phi in phis:
        assert phi.type is not None
        if not types.is_scalar(phi.type) and phi.type.op != ops.OpTypeVector:
            return False
        if any(resolve(i) in phis for i in phi.args[::2]):
            return False
    return True


def select_phis(module: Module, merge: Block, condition: Inst, yes: Block, no: Block) -> bool:
    """Turn the phis of ``merge`` into selects; False if one of them cannot be."""
    phis = [i for i in merge.insts if i.op == ops.OpPhi]
    wide = module.spirv_version >= 0x00010400
    if not may_be_selects(phis):
        return False
    bools: dict[int, Inst] = {}
    made: list[Inst] = []
    for phi in phis:
        assert phi.type is not None
        brings = dict(zip(phi.args[1::2], phi.args[::2]))
        a, b = resolve(brings[yes]), resolve(brings[no])
        if a is b or b.op == ops.OpUndef:
            become(module, phi, a)
            continue
        if a.op == ops.OpUndef:
            become(module, phi, b)
            continue
        test = condition
        if phi.type.op == ops.OpTypeVector and not wide:
            size = phi.type.imm[0]
            if size not in bools:
                type = types.vector(module, types.boolean(module), size)
                bools[size] = value(module, ops.OpCompositeConstruct, type, [condition] * size, ())
                made.append(bools[size])
            test = bools[size]
        rewrite(module, phi, ops.OpSelect, [test, a, b], ())
        made.append(phi)
    if made:
        rest = [i for i in merge.insts if i not in set(made) and i.op != COPY]
        merge.insts = made + rest
    return True
