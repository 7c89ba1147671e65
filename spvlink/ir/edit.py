"""The mutators. Each moves ``Module.version``, or ``Module.flow`` too where blocks or edges change.

Replacing a value is O(1): it becomes a COPY of another, which ``sweep`` resolves once at the end of
the pass (the way of Go's SSA back end). Between ``become`` and ``sweep`` a reader looks through
copies with ``resolve``.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import COPY, Block, Function, Inst, Module


def resolve(value: Inst) -> Inst:
    """What a value stands for after the replacements made so far."""
    while value.op == COPY:
        value = value.args[0]
    return value


def become(module: Module, value: Inst, other: Inst) -> None:
    """Replace every use of ``value`` by ``other``."""
    value.op = COPY
    value.args = [other]
    value.imm = []
    value.mark = 0
    module.version += 1


def rewrite(module: Module, inst: Inst, op: int, args: list[Inst], imm: list[int]) -> None:
    """Turn an instruction into another one that defines the same value (same type, same id)."""
    inst.op = op
    inst.args = args
    inst.imm = imm
    inst.mark = 0
    module.version += 1


def flow_changed(module: Module) -> None:
    """Blocks or edges changed."""
    module.version += 1
    module.flow += 1


def sweep(module: Module, function: Function) -> None:
    """Resolve every COPY in a function's operands and take the copies out of the blocks."""
    copy = COPY
    for block in function.blocks:
        dead = False
        for inst in block.insts:
            if inst.op == copy:
                dead = True
                continue
            for arg in inst.args:
                if arg.op == copy:
                    inst.args = [resolve(a) for a in inst.args]
                    break
        if dead:
            block.insts = [i for i in block.insts if i.op != copy]


def branch(target: Block) -> Inst:
    return Inst(ops.OpBranch, None, [target], [])


def value(module: Module, op: int, type: Inst | None, args: list[Inst], imm: list[int]) -> Inst:
    """A new value with a fresh id, not yet in any block."""
    inst = Inst(op, type, args, imm, module.bound)
    module.bound += 1
    return inst


def remove_phi_edge(block: Block, gone: Inst) -> None:
    """Drop from the phis of ``block`` what came from the predecessor ``gone``."""
    for inst in block.insts:
        if inst.op != ops.OpPhi:
            if inst.op in (ops.OpLine, ops.OpNoLine):
                continue
            break
        args = inst.args
        kept: list[Inst] = []
        for index in range(0, len(args), 2):
            if args[index + 1] is not gone:
                kept += args[index : index + 2]
        inst.args = kept


def retarget_phis(block: Block, old: Inst, new: Inst) -> None:
    """Edges into ``block`` that came from ``old`` now come from ``new``."""
    for inst in block.insts:
        if inst.op == ops.OpPhi:
            inst.args = [new if a is old else a for a in inst.args]
