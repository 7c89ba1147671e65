"""Remove stores that a later store of the same block replaces.

    store 0.x, a
    store 0.x, b    ->    store 0.x, b

This is for control, task and mesh shaders, whose stores stand where the code stores, and for the
outputs of fragment shaders, which keep the inputs alive that they are made of. No other invocation
can look between two stores of one block unless an instruction with an effect is there.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects, root
from spvlink.grammar import enums, info, ops
from spvlink.ir.core import LOAD_OUTPUT, STORE_OUTPUT, Inst
from spvlink.ir.edit import touched
from spvlink.link.border.stage import Stage


def drop_overwritten(stage: Stage) -> bool:
    """Delete stores in place that the same block stores over before anybody can have looked;
    whether there were any. What they wait for is read back, or anything with an effect."""
    module = stage.module
    assert module.entry is not None
    effects = Effects.of(module)
    changed = False
    for block in module.entry.function.blocks:
        if not any(i.op == STORE_OUTPUT for i in block.insts):
            continue
        later: dict[int, list[list[Inst]]] = {}  # key -> vertices that are stored to from here on
        out: list[Inst] = []
        for inst in reversed(block.insts):
            if inst.op == STORE_OUTPUT:
                stored = later.setdefault(inst.imm[0], [])
                if inst.args[1:] in stored:
                    continue
                stored.append(inst.args[1:])
            elif inst.op == LOAD_OUTPUT:
                later.pop(inst.imm[0], None)
            elif inst.op == ops.OpStore and _is_output(inst.args[0]):
                pass  # nobody sees it before a barrier, either
            elif inst.op != ops.OpPhi and not effects.flags(inst) & info.REMOVABLE:
                later = {}
            out.append(inst)
        if len(out) != len(block.insts):
            block.insts = out[::-1]
            changed = True
    if changed:
        touched(module)
    return changed


def drop_overwritten_colors(stage: Stage) -> bool:
    """Delete stores to an output of a fragment shader, or a part of it, if the same block stores to
    all of it afterwards; whether there were any. A load of it keeps them, and so does anything with
    an effect in between, which may end the invocation."""
    module = stage.module
    assert module.entry is not None
    effects = Effects.of(module)
    changed = False
    for block in module.entry.function.blocks:
        later: set[Inst] = set()  # outputs that are stored to from here on
        out: list[Inst] = []
        for inst in reversed(block.insts):
            if inst.op == ops.OpStore and _is_output(inst.args[0]):
                if root(inst.args[0]) in later and not inst.imm:  # not Volatile
                    continue
                if inst.args[0].op == ops.OpVariable:
                    later.add(inst.args[0])
            elif inst.op == ops.OpLoad:
                later.discard(root(inst.args[0]))
            elif inst.op != ops.OpPhi and not effects.flags(inst) & info.REMOVABLE:
                later = set()
            out.append(inst)
        if len(out) != len(block.insts):
            block.insts = out[::-1]
            changed = True
    if changed:
        touched(module)
    return changed


def _is_output(pointer: Inst) -> bool:
    variable = root(pointer)
    return variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Output
