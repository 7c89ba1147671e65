"""Modules that reach buffers, images and samplers through descriptor heaps
(SPV_EXT_descriptor_heap), made of ones with descriptor sets; and back, for devices that do not know
heaps.

The descriptor of set S and binding B lies at 64 * S + B in the resource heap; a combined image
sampler has its image and its sampler at COMBINED more, in both heaps.
"""

from __future__ import annotations

from collections.abc import Iterator

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, ENTRY_POINTS, EXTENSIONS, Block, Inst, Module, words_of
from spvlink.ir.edit import annotate, value
from tests.support.untyped import SPIRV_1_4, raise_version

COMBINED, SETS = 4096, 64
BUFFERS = (enums.StorageClass_Uniform, enums.StorageClass_StorageBuffer)
OPAQUE = (ops.OpTypeImage, ops.OpTypeSampler, ops.OpTypeSampledImage)
CAPABILITIES_NEEDED = (enums.Capability_UntypedPointersKHR, enums.Capability_DescriptorHeapEXT)
EXTENSIONS_NEEDED = ("SPV_KHR_untyped_pointers", "SPV_EXT_descriptor_heap")
DECLARATIONS = (enums.Decoration_DescriptorSet, enums.Decoration_Binding)


class Heaped:
    """A module on its way into the heaps."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.tables = Decorations.of(module)
        self.heaps: dict[int, Inst] = {}
        self.arrays: dict[Inst, Inst] = {}
        self.more: list[Inst] = []  # at module scope, behind all others
        self.pointer = self.new(ops.OpTypeUntypedPointerKHR, None, [], 0)
        self.number = types.integer(module)

    def new(self, op: int, type: Inst | None, args: list[Inst], *imm: int) -> Inst:
        self.more.append(value(self.module, op, type, args, imm))
        return self.more[-1]

    def heap(self, builtin: int) -> Inst:
        if builtin not in self.heaps:
            made = self.new(ops.OpUntypedVariableKHR, self.pointer, [], 0)
            words = (enums.Decoration_BuiltIn, builtin)
            annotate(self.module, [Inst(ops.OpDecorate, None, [made], words)])
            self.heaps[builtin] = made
        return self.heaps[builtin]

    def array(self, descriptor: Inst) -> Inst:
        """A runtime array of descriptors, laid out by their size."""
        if descriptor not in self.arrays:
            size = self.new(ops.OpConstantSizeOfEXT, self.number, [descriptor])
            made = self.new(ops.OpTypeRuntimeArray, None, [descriptor])
            words = (enums.Decoration_ArrayStrideIdEXT,)
            annotate(self.module, [Inst(ops.OpDecorateId, None, [made, size], words)])
            self.arrays[descriptor] = made
        return self.arrays[descriptor]

    def at(self, variable: Inst) -> int | None:
        """Where in a heap a variable's descriptor goes; None: it stays."""
        if variable.op != ops.OpVariable or variable.type is None:
            return None
        held = variable.type.args[0]
        buffer = variable.imm[0] in BUFFERS and held.op == ops.OpTypeStruct
        binding = self.tables.find(variable, enums.Decoration_Binding)
        group = self.tables.find(variable, enums.Decoration_DescriptorSet)
        if binding is None or group is None or not (buffer or held.op in OPAQUE):
            return None
        block = (enums.Decoration_BufferBlock,)
        if buffer and block in self.tables.targets.get(held, ()):
            return None
        return group[0] * SETS + binding[0]

    def chain(self, descriptor: Inst, index: int, sampler: bool = False) -> Inst:
        builtin = enums.BuiltIn_SamplerHeapEXT if sampler else enums.BuiltIn_ResourceHeapEXT
        number = types.constant(self.module, self.number, index)
        args = [self.array(descriptor), self.heap(builtin), number]
        return value(self.module, ops.OpUntypedAccessChainKHR, self.pointer, args, ())

    def buffer(self, variable: Inst, index: int) -> list[Inst]:
        """A pointer to its data, and what that takes."""
        kinds = {t.imm[0]: t for t in self.more if t.op == ops.OpTypeBufferEXT}
        storage = variable.imm[0]
        kind = kinds.get(storage) or self.new(ops.OpTypeBufferEXT, None, [], storage)
        chain = self.chain(kind, index)
        return [chain, value(self.module, ops.OpBufferPointerEXT, variable.type, [chain], ())]

    def sampler(self) -> Inst:
        there = (i for i in [*self.module.globals, *self.more] if i.op == ops.OpTypeSampler)
        return next(there, None) or self.new(ops.OpTypeSampler, None, [])

    def load(self, inst: Inst, index: int) -> list[Inst]:
        """What stands before a load of an image, a sampler or both, which is changed."""
        type = inst.type
        assert type is not None
        if type.op != ops.OpTypeSampledImage:
            chain = self.chain(type, index, type.op == ops.OpTypeSampler)
            inst.args = [chain]
            return [chain]
        image, sampler = type.args[0], self.sampler()
        made = []
        for part, builtin in ((image, False), (sampler, True)):
            chain = self.chain(part, COMBINED + index, builtin)
            made += [chain, value(self.module, ops.OpLoad, part, [chain], ())]
        inst.op, inst.args, inst.imm = ops.OpSampledImage, [made[1], made[3]], ()
        return made


def heaped(code: bytes) -> bytes:
    """The same module, whose descriptors lie in heaps: those that texels are pointed to, and arrays
    of descriptors, stay where they are."""
    module = decode(code)
    way = Heaped(module)
    places = {v: way.at(v) for v in module.globals if v.op == ops.OpVariable}
    loads = {ops.OpLoad}
    for inst in _code(module):
        for arg in inst.args:
            opaque = arg in places and arg.type is not None and arg.type.args[0].op in OPAQUE
            if opaque and inst.op not in loads:
                places[arg] = None
    found = {v: at for v, at in places.items() if at is not None}
    if not found:
        return code
    for function in module.functions:
        _change(way, list(function.blocks), found)
    gone = [i for i in module.annotations if i.args[0] in found]
    kept = [i for i in gone if i.imm[0] not in DECLARATIONS and i.args[0].imm[0] in BUFFERS]
    module.annotations[:] = [i for i in module.annotations if i not in gone or i in kept]
    module.annotations[:] = [i for i in module.annotations if i not in kept]
    module.globals[:] = [i for i in module.globals if i not in found] + way.more
    module.names[:] = [name for name in module.names if name[0] not in found]
    for entry in module.sections[ENTRY_POINTS]:
        entry.args[:] = [a for a in entry.args if a not in found]
        if module.spirv_version >= SPIRV_1_4:
            entry.args += way.heaps.values()
    for capability in CAPABILITIES_NEEDED:
        module.sections[CAPABILITIES].append(Inst(ops.OpCapability, None, [], (capability,)))
    for name in EXTENSIONS_NEEDED:
        module.sections[EXTENSIONS].append(Inst(ops.OpExtension, None, [], words_of(name)))
    raise_version(module)
    return encode(module)


def _change(way: Heaped, blocks: list[Block], found: dict[Inst, int]) -> None:
    """Let a function take its descriptors from the heaps."""
    pointers: dict[Inst, Inst] = {}
    start: list[Inst] = []
    for block in blocks:
        made: list[Inst] = []
        for inst in block.insts:
            source = inst.args[0] if inst.op == ops.OpLoad else None
            if source in found and inst.type is not None and inst.type.op in OPAQUE:
                made += way.load(inst, found[source])
            for place, arg in enumerate(inst.args):
                if arg in found:
                    if arg not in pointers:
                        start += way.buffer(arg, found[arg])
                        pointers[arg] = start[-1]
                    inst.args[place] = pointers[arg]
            made.append(inst)
        block.insts[:] = made
    first = blocks[0].insts if blocks else []
    at = sum(i.op == ops.OpVariable for i in first)
    first[at:at] = start


def in_sets(code: bytes) -> bytes:
    """The way back."""
    module = decode(code)
    variables: dict[tuple[int, Inst], Inst] = {}

    def variable(index: int, storage: int, held: Inst) -> Inst:
        found = variables.get((index, held))
        if found is None:
            pointer = types.pointer(module, storage, held)
            found = variables[index, held] = value(module, ops.OpVariable, pointer, [], (storage,))
            for decoration, number in zip(DECLARATIONS, divmod(index % COMBINED, SETS)):
                words = (decoration, number)
                annotate(module, [Inst(ops.OpDecorate, None, [found], words)])
        return found

    def combined(index: int, image: Inst) -> Inst:
        kinds = (i for i in module.globals if i.op == ops.OpTypeSampledImage)
        type = next(i for i in kinds if i.args[0] is image)
        held = variable(index, enums.StorageClass_UniformConstant, type)
        return value(module, ops.OpLoad, type, [held], ())

    swapped: dict[Inst, Inst] = {}
    for block, at, inst in _each(module):
        index = _index(inst.args[0]) if inst.op in (ops.OpBufferPointerEXT, ops.OpLoad) else None
        if inst.op == ops.OpSampledImage and (_index(inst.args[0].args[0]) or 0) >= COMBINED:
            image = inst.args[0]
            index = _index(image.args[0])
            assert index is not None and image.type is not None
            assert index == _index(inst.args[1].args[0])
            made = combined(index, image.type)
            inst.op, inst.args, inst.type = ops.OpLoad, made.args, made.type
        elif index is None or inst.type is None:
            continue
        elif inst.op == ops.OpBufferPointerEXT:
            swapped[inst] = variable(index, inst.type.imm[0], inst.type.args[0])
        elif index < COMBINED:
            inst.args = [variable(index, enums.StorageClass_UniformConstant, inst.type)]
        elif inst.type.op == ops.OpTypeImage:
            made = combined(index, inst.type)
            block.insts.insert(at, made)
            swapped[inst] = value(module, ops.OpImage, inst.type, [made], ())
            block.insts[block.insts.index(inst)] = swapped[inst]
    _clear(module, swapped)
    module.globals += variables.values()
    if module.spirv_version >= SPIRV_1_4:
        module.sections[ENTRY_POINTS][0].args += variables.values()
    return encode(module)


def _each(module: Module) -> Iterator[tuple[Block, int, Inst]]:
    for function in module.functions:
        for block in function.blocks:
            for inst in list(block.insts):
                yield block, block.insts.index(inst), inst


def _clear(module: Module, swapped: dict[Inst, Inst]) -> None:
    """Take out what is about heaps, and what nothing uses any more."""
    for inst in _code(module):
        inst.args = [swapped.get(arg, arg) for arg in inst.args]
    gone = {i for i in _code(module) if i.op == ops.OpBufferPointerEXT}
    used = {a for i in _code(module) if i not in gone for a in i.args}
    while True:
        more = {
            i
            for i in _code(module)
            if i not in gone and i not in used
            and i.op in (ops.OpLoad, ops.OpUntypedAccessChainKHR)
        }  # fmt: skip
        if not more:
            break
        gone |= more
        used = {a for i in _code(module) if i not in gone for a in i.args}
    for function in module.functions:
        for block in function.blocks:
            block.insts[:] = [i for i in block.insts if i not in gone]
    heaps = {i for i in module.globals if i.op == ops.OpUntypedVariableKHR}
    kinds = (ops.OpTypeBufferEXT, ops.OpTypeUntypedPointerKHR, ops.OpConstantSizeOfEXT)
    out = heaps | {i for i in module.globals if i.op in kinds}
    out |= {i for i in module.globals if i.op == ops.OpTypeRuntimeArray and i.args[0] in out}
    strides = [i for i in module.annotations if i.op == ops.OpDecorateId]
    out |= {i.args[0] for i in strides}
    module.annotations[:] = [i for i in module.annotations if out.isdisjoint(i.args)]
    module.annotations[:] = [i for i in module.annotations if gone.isdisjoint(i.args)]
    module.globals[:] = [i for i in module.globals if i not in out]
    module.names[:] = [name for name in module.names if name[0] not in out | gone]
    for entry in module.sections[ENTRY_POINTS]:
        entry.args[:] = [a for a in entry.args if a not in heaps]
    capabilities = module.sections[CAPABILITIES]
    capabilities[:] = [c for c in capabilities if c.imm[0] not in CAPABILITIES_NEEDED]
    names = [words_of(name) for name in EXTENSIONS_NEEDED]
    module.sections[EXTENSIONS][:] = [i for i in module.sections[EXTENSIONS] if i.imm not in names]


def _index(chain: Inst) -> int | None:
    """Where in a heap a pointer leads; None: nowhere."""
    if chain.op != ops.OpUntypedAccessChainKHR:
        return None
    heap, index = chain.args[1], chain.args[2]
    if heap.op != ops.OpUntypedVariableKHR or heap.args:
        return None
    return types.index_of(index)


def _code(module: Module) -> list[Inst]:
    return [i for f in module.functions for b in f.blocks for i in b.insts]
