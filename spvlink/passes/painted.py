"""Colours that a fragment shader writes, reads back and writes over.

    OpStore %color %a                        (gone)
    %old = OpLoad %vec4 %color         ->    (%old is %a)
    %new = OpVectorShuffle %old %b 4 5 6 3   %new = OpVectorShuffle %a %b 4 5 6 3
    OpStore %color %new                      OpStore %color %new

So GLSL's ``color = a; color.rgb = b;`` comes out of a compiler. What only a lost colour was made of
would otherwise count as needed, and the inputs behind it would cross for nothing. An output of a
fragment shader is seen by nobody else before the invocation ends (Vulkan, "Fragment Output
Interface"): within a block a load gives what the store before left, and a store is lost if another
one follows before anybody loads. A store to one component of a known vector stores the vector.

What stays: what a call, a copy or anything else that is neither load nor store could touch, and
accesses with memory operands (Volatile). Components of 16 and 64 bits may not be taken apart
everywhere: of these only whole loads and stores are looked at.
"""

from __future__ import annotations

from spvlink.facts.effects import root
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.edit import become, resolve, rewrite, sweep, touched, value

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_CHAINS: Final = frozenset((ops.OpAccessChain, ops.OpInBoundsAccessChain))


def run(module: Module) -> bool:
    """Forward what is read back and delete what is written over, in the entry point's function;
    whether there was any."""
    assert module.entry is not None
    version = module.version
    for block in module.entry.function.blocks:
        accesses = [i for i in block.insts if i.op == ops.OpLoad or i.op == ops.OpStore]
        if sum([_output(i) is not None for i in accesses]) > 1:
            _forward(module, block)
            _drop_lost(module, block)
    if module.version == version:
        return False
    sweep(module, module.entry.function)
    return True


def _output(access: Inst) -> Inst | None:
    """The output that a load or store touches; None if it touches no output."""
    variable = root(access.args[0])
    if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Output:
        return variable
    return None


def _forward(module: Module, block: Block) -> None:
    known: dict[Inst, Inst] = {}  # output -> what it holds
    out: list[Inst] = []
    for inst in block.insts:
        if inst.op == ops.OpLoad or inst.op == ops.OpStore:
            variable = _output(inst)
            if variable is not None:
                _access(module, inst, variable, known, out)
        elif inst.op not in _CHAINS and _touches(inst):
            known.clear()
        out.append(inst)
    block.insts = out


def _access(
    module: Module, inst: Inst, variable: Inst, known: dict[Inst, Inst], out: list[Inst]
) -> None:
    """What a load or store of an output says and takes."""
    held = known.get(variable)
    whole = inst.args[0] is variable
    if inst.op == ops.OpStore and whole and not inst.imm:
        known[variable] = resolve(inst.args[1])
        return
    lane = _lane(inst, variable)
    if inst.op == ops.OpStore:
        if held is None or lane is None or inst.imm:
            known.pop(variable, None)
            return
        args = [resolve(inst.args[1]), held]
        made = value(module, ops.OpCompositeInsert, held.type, args, (lane,))
        out.append(made)
        inst.args = [variable, made]
        known[variable] = made
        touched(module)
    elif held is not None and not inst.imm:
        if whole and held.type is inst.type:
            become(module, inst, held)
        elif lane is not None:
            rewrite(module, inst, ops.OpCompositeExtract, [held], (lane,))


def _lane(access: Inst, variable: Inst) -> int | None:
    """The component of 32 bits of a vector that is accessed; None for anything else."""
    chain, pointer = access.args[0], variable.type
    if chain.op not in _CHAINS or chain.args[0] is not variable or len(chain.args) != 2:
        return None
    assert pointer is not None
    type, lane = pointer.args[0], types.index_of(chain.args[1])
    if type.op != ops.OpTypeVector or type.args[0].imm[:1] != (32,) or lane is None:
        return None
    return lane if 0 <= lane < type.imm[0] else None


def _touches(inst: Inst) -> bool:
    """Whether something that is no load and no store may access outputs."""
    if inst.op == ops.OpFunctionCall:
        return True
    return any(
        arg.op in _CHAINS or (arg.op == ops.OpVariable and arg.imm[0] == enums.StorageClass_Output)
        for arg in inst.args
    )


def _drop_lost(module: Module, block: Block) -> None:
    later: set[Inst] = set()  # outputs that are stored to before anybody reads them
    out: list[Inst] = []
    for inst in reversed(block.insts):
        if inst.op == ops.OpLoad or inst.op == ops.OpStore:
            variable = _output(inst)
            if variable is None:
                pass
            elif inst.op == ops.OpLoad:
                later.discard(variable)
            elif variable in later and not inst.imm:
                continue
            elif inst.args[0] is variable and not inst.imm:
                later.add(variable)
        elif inst.op not in _CHAINS and _touches(inst):
            later.clear()
        out.append(inst)
    if len(out) != len(block.insts):
        block.insts = out[::-1]
        touched(module)
