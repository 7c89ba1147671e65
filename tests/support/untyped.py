"""Modules that reach their buffers through untyped pointers (SPV_KHR_untyped_pointers), made of
ones with typed pointers; and back, for devices that do not know them."""

from __future__ import annotations

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, ENTRY_POINTS, EXTENSIONS, Inst, Module, words_of
from spvlink.ir.edit import value

BUFFERS = (
    enums.StorageClass_Uniform,
    enums.StorageClass_StorageBuffer,
    enums.StorageClass_PushConstant,
)
PAIRS = {
    ops.OpAccessChain: ops.OpUntypedAccessChainKHR,
    ops.OpInBoundsAccessChain: ops.OpUntypedInBoundsAccessChainKHR,
}
BACK = {after: before for before, after in PAIRS.items()}
SPIRV_1_4 = 0x00010400


def untyped(code: bytes) -> bytes:
    """The same module, every buffer of which is a variable of untyped pointers."""
    module = decode(code)
    buffers = [v for v in module.globals if v.op == ops.OpVariable and v.imm[0] in BUFFERS]
    if not buffers:
        return code
    pointers = {c: value(module, ops.OpTypeUntypedPointerKHR, None, [], (c,)) for c in BUFFERS}
    pointees: dict[Inst, Inst] = {}
    for variable in buffers:
        assert variable.type is not None
        pointees[variable] = variable.type.args[0]
        variable.op, variable.args = ops.OpUntypedVariableKHR, [pointees[variable]]
        variable.type = pointers[variable.imm[0]]
    for inst in _code(module):
        if inst.op in PAIRS and inst.args[0] in pointees:
            assert inst.type is not None
            pointees[inst] = inst.type.args[0]
            inst.args.insert(0, pointees[inst.args[0]])
            inst.op, inst.type = PAIRS[inst.op], pointers[inst.type.imm[0]]
        elif inst.op == ops.OpArrayLength and inst.args[0] in pointees:
            inst.op = ops.OpUntypedArrayLengthKHR
            inst.args.insert(0, pointees[inst.args[0]])
        else:
            by_type = (ops.OpFunctionCall, ops.OpCopyObject, ops.OpPhi, ops.OpSelect)
            assert inst.op not in by_type or pointees.keys().isdisjoint(inst.args)
    used = {v.imm[0] for v in buffers}
    module.globals[:0] = [p for c, p in pointers.items() if c in used]
    capability = Inst(ops.OpCapability, None, [], (enums.Capability_UntypedPointersKHR,))
    module.sections[CAPABILITIES].append(capability)
    name = words_of("SPV_KHR_untyped_pointers")
    module.sections[EXTENSIONS].append(Inst(ops.OpExtension, None, [], name))
    raise_version(module)
    return encode(module)


def typed(code: bytes) -> bytes:
    """The way back."""
    module = decode(code)
    variables = [v for v in module.globals if v.op == ops.OpUntypedVariableKHR]
    pointees: dict[Inst, Inst] = {}
    for variable in variables:
        pointees[variable] = variable.args[0]
        variable.op, variable.args = ops.OpVariable, []
        variable.type = types.pointer(module, variable.imm[0], pointees[variable])
    for inst in _code(module):
        if inst.op in BACK:
            assert inst.type is not None
            base, pointer, *indices = inst.args
            for index in indices:
                number = types.index_of(index)
                base = types.part_type(base, number if number is not None else 0)
            pointees[inst] = base
            inst.op, inst.args = BACK[inst.op], [pointer, *indices]
            inst.type = types.pointer(module, inst.type.imm[0], base)
        elif inst.op == ops.OpUntypedArrayLengthKHR:
            inst.op = ops.OpArrayLength
            del inst.args[0]
    gone = (ops.OpTypeUntypedPointerKHR, ops.OpUntypedVariableKHR)
    kept = [i for i in module.globals if i.op not in gone and i not in pointees]
    module.globals[:] = [*kept, *variables]
    untyped_pointers = (enums.Capability_UntypedPointersKHR,)
    capabilities = module.sections[CAPABILITIES]
    capabilities[:] = [c for c in capabilities if c.imm != untyped_pointers]
    name = words_of("SPV_KHR_untyped_pointers")
    module.sections[EXTENSIONS][:] = [i for i in module.sections[EXTENSIONS] if i.imm != name]
    return encode(module)


def _code(module: Module) -> list[Inst]:
    return [i for f in module.functions for b in f.blocks for i in b.insts]


def raise_version(module: Module) -> None:
    """To SPIR-V 1.4, which the extension needs: there every variable that is used is listed."""
    if module.spirv_version >= SPIRV_1_4:
        return
    module.spirv_version = SPIRV_1_4
    (entry,) = module.sections[ENTRY_POINTS]
    variables = (ops.OpVariable, ops.OpUntypedVariableKHR)
    listed = set(entry.args)
    used = {a for i in _code(module) for a in i.args}
    entry.args += [v for v in module.globals if v.op in variables and v in used - listed]
