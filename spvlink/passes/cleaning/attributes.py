"""Read all components of a vertex attribute from one load.

    %p = OpAccessChain %ptr %inUv 0     ->     %v = OpLoad %v2float %inUv
    %x = OpLoad %float %p                      %x = OpCompositeExtract %float %v 0

glslang reads ``inUv.x`` through a pointer, and ``inUv`` as a whole. Only if both look alike can
``dedup`` see that two outputs are equal.

Why it is right. An Input never changes, so each load gives the same value.

What breaks it. A dynamic index: that access stays.

Cost. None. An attribute that is read once stays as it is.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module
from spvlink.ir.edit import rewrite, value


def read_attributes_once(module: Module) -> None:
    """Rewrite the loads of components in the entry point's function."""
    entry = module.entry
    assert entry is not None
    if not _points_to_components(module):
        return
    pointers: dict[Inst, Inst] = {}  # to a component -> the attribute
    blocks, chains = entry.function.blocks, IS_CHAIN
    for inst in [i for b in blocks for i in b.insts if chains[i.op]]:
        if len(inst.args) == 2 and _is_vector_input(inst.args[0]):
            index, pointer = types.index_of(inst.args[1]), inst.args[0].type
            if index is not None and pointer is not None:
                if 0 <= index < types.size_of(pointer.args[0]):
                    pointers[inst] = inst.args[0]
    if not pointers:
        return
    reads: dict[Inst, int] = {}
    for inst in [i for b in blocks for i in b.insts if i.op == ops.OpLoad]:
        source = inst.args[0]
        attribute = pointers.get(source, source)
        reads[attribute] = reads.get(attribute, 0) + 1
    if not any(reads.get(attribute, 0) > 1 for attribute in pointers.values()):
        return
    signatures = Effects.of(module).signatures
    aggregates: dict[Inst, Inst] = {}
    for block in entry.function.blocks:
        for inst in block.insts:
            vector = pointers.get(inst.args[0]) if inst.op == ops.OpLoad else None
            if vector is None or inst.imm or inst in signatures or reads[vector] < 2:
                continue
            assert vector.type is not None
            whole = aggregates.get(vector)
            if whole is None:
                whole = value(module, ops.OpLoad, vector.type.args[0], [vector], ())
                aggregates[vector] = whole
            index = types.index_of(inst.args[0].args[1]) or 0
            rewrite(module, inst, ops.OpCompositeExtract, [whole], (index,))
    # in front of everything, so that no construct is kept for the load in it
    insts = entry.function.blocks[0].insts
    at = max([n for n, i in enumerate(insts) if i.op == ops.OpVariable], default=-1) + 1
    insts[at:at] = aggregates.values()


def _points_to_components(module: Module) -> bool:
    """Whether there is a type for what the chains to components give."""
    for type in types.of_op(module, ops.OpTypePointer):
        if type.imm[0] == enums.StorageClass_Input and types.is_scalar(type.args[0]):
            return True
    return False


def _is_vector_input(variable: Inst) -> bool:
    """Whether a pointer is an Input variable that is a vector."""
    if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_Input:
        return False
    return variable.type is not None and variable.type.args[0].op == ops.OpTypeVector
