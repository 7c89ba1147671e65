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
    """Delete stores that the same block stores over before anybody can have looked: in place, or to
    an output or a part of it, if all of it is stored afterwards; whether there were any. What they
    wait for is read back, or anything with an effect, which may end the invocation."""
    module = stage.module
    assert module.entry is not None
    effects = Effects.of(module)
    changed = False
    for block in module.entry.function.blocks:
        later: dict[int, list[list[Inst]]] = {}  # key -> vertices that are stored to from here on
        whole: set[Inst] = set()  # outputs, the same
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
                if root(inst.args[0]) in whole and not inst.imm:  # not Volatile
                    continue
                if inst.args[0].op == ops.OpVariable:
                    whole.add(inst.args[0])
            elif inst.op == ops.OpLoad:
                whole.discard(root(inst.args[0]))
            elif inst.op != ops.OpPhi and not effects.flags(inst) & info.REMOVABLE:
                later, whole = {}, set()
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
