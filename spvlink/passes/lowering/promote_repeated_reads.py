"""Reuse the first read-back of an output.

    %y = LOAD_OUTPUT 8                      %y = LOAD_OUTPUT 8
    %z = LOAD_OUTPUT 8               ->     (%z is %y)
    STORE_OUTPUT 10 %x; LOAD_OUTPUT 10      STORE_OUTPUT 10 %x      (it is %x)

Why it is right. Within a block the value of an output is known until a barrier, or another
instruction with an effect, lets other invocations write. The same holds for the payload of a task
shader, which the whole workgroup shares.

What breaks it. A barrier, a call, or another store between the two reads: the pass forgets all
values there.

Cost. None: it only removes reads.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.grammar import info, ops
from spvlink.ir.core import LOAD_OUTPUT, STORE_OUTPUT, Inst, Module
from spvlink.ir.edit import become, resolve, sweep


def promote_repeated_reads(module: Module) -> bool:
    """Take what is read back from the store or load of it before, in the same block with nothing
    in between that lets others write; whether there was any."""
    assert module.entry is not None
    effects = Effects.of(module)
    version = module.version
    for block in module.entry.function.blocks:
        if not any(i.op == LOAD_OUTPUT for i in block.insts):
            continue
        known: dict[int, list[tuple[list[Inst], Inst]]] = {}  # key -> (vertex, its value)
        for inst in block.insts:
            if inst.op == STORE_OUTPUT:
                known[inst.imm[0]] = [(inst.args[1:], inst.args[0])]  # it may be any vertex's
            elif inst.op == LOAD_OUTPUT:
                held = known.setdefault(inst.imm[0], [])
                found = next((resolve(v) for vertex, v in held if vertex == inst.args), None)
                if found is None:
                    held.append((inst.args, inst))
                elif found.type is inst.type:
                    become(module, inst, found)
            elif inst.op != ops.OpPhi and not effects.flags(inst) & info.REMOVABLE:
                known = {}
    if module.version == version:
        return False
    sweep(module, module.entry.function)
    return True
