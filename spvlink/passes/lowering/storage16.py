"""Link 16-bit numbers of a module that may only load, convert and store them.

StorageInputOutput16 without Float16 (Int16) allows no more: no constant, no composite, no phi
(specification, "Universal Validation Rules"). ``lend`` gives such a module the missing capability
while it is linked, so its 16-bit varyings become slots. ``settle`` takes it back, and uses 32 bits
wherever the module may not use 16:

    %a = OpLoad %half %x                          %a = OpLoad %half %x
    %v = OpCompositeConstruct %halves %a %b       %c = OpFConvert %float %a       (%d of %b)
    %w = OpFConvert %floats %v               ->   %w = OpCompositeConstruct %floats %c %d

Why it is right. Each 16-bit number is also a 32-bit number, so widening and narrowing keeps its
bits. A sum that a pass made is rounded to 16 bits after it was computed in 32. That equals
rounding in 16 bits: 24 bits are twice 11 and two more.

What breaks it. A 16-bit number that is stored as it was loaded: it may be a denormal, which a
conversion may flush. So a module gets the capability only if every load is converted and every
store is of a conversion.
"""

from __future__ import annotations

import struct

from spvlink.errors import Refused
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, Inst, Module
from spvlink.ir.edit import become, need_capability, resolve, rewrite, sweep, touched, value
from spvlink.rules.arithmetic import signed

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_WIDTH: Final = 16
_CONVERSIONS: Final = frozenset((ops.OpFConvert, ops.OpUConvert, ops.OpSConvert))
_RELAXED: Final = ((enums.Decoration_RelaxedPrecision,),)
# What is done with 32 bits as it was with 16 ...
_MOVES: Final = frozenset(
    (
        ops.OpCompositeConstruct, ops.OpCompositeExtract, ops.OpCompositeInsert,
        ops.OpVectorShuffle, ops.OpVectorExtractDynamic, ops.OpVectorInsertDynamic, ops.OpPhi,
        ops.OpSelect, ops.OpCopyObject, ops.OpFNegate,
    )
)  # fmt: skip
# ... and what is rounded afterwards.
_ROUNDED: Final = frozenset((ops.OpFAdd, ops.OpFSub, ops.OpFMul, ops.OpFDiv))
_OUTSIDE: Final = types.CONSTANTS | {ops.OpUndef}


def lend(module: Module) -> None:
    """Declare what the module lacks to compute with the 16-bit numbers of its interface, if it does
    no more with them than it may."""
    capabilities = {c.imm[0] for c in module.sections[CAPABILITIES]}
    if enums.Capability_StorageInputOutput16 not in capabilities:
        return
    small = [t for t in module.globals if types.is_plain_number(t) and t.imm[0] == _WIDTH]
    wanted = {types.CAPABILITIES_OF[t.op, _WIDTH] for t in small} - capabilities
    if not wanted:
        return
    module.borrowed_capabilities = frozenset(wanted)
    if not _plain(module):
        module.borrowed_capabilities = frozenset()
        return
    for capability in sorted(wanted):
        need_capability(module, capability)
    _convert_by_component(module)


def _convert_by_component(module: Module) -> None:
    """Conversions of vectors as those of their components, which are slots: what is known of one
    says nothing of the others. ``settle`` puts together what stays beside each other."""
    assert module.entry is not None
    signatures = Effects.of(module).signatures
    for block in module.entry.function.blocks:
        out: list[Inst] = []
        for inst in block.insts:
            type = inst.type
            if inst.op in _CONVERSIONS and type is not None and type.op == ops.OpTypeVector:
                source = inst.args[0]
                small = types.is_borrowed(module, type) or types.is_borrowed(module, source.type)
                if small and inst not in signatures:
                    parts: list[Inst] = []
                    for lane in range(type.imm[0]):
                        part = _scalar(source.type)
                        out.append(value(module, ops.OpCompositeExtract, part, [source], (lane,)))
                        out.append(value(module, inst.op, type.args[0], [out[-1]], ()))
                        parts.append(out[-1])
                    rewrite(module, inst, ops.OpCompositeConstruct, parts, ())
            out.append(inst)
        block.insts = out


def _plain(module: Module) -> bool:
    """Whether all that is loaded of 16 bits is converted, and all that is stored is a conversion:
    none of them decorated with a rounding."""
    signatures = Effects.of(module).signatures
    if any(types.is_borrowed(module, p.type) for f in module.functions for p in f.params):
        return False
    for inst in [i for f in module.functions for b in f.blocks for i in b.insts]:
        if types.is_borrowed(module, inst.type):
            if inst.op != ops.OpLoad and inst.op not in _CONVERSIONS:
                return False
            if signatures.get(inst, _RELAXED) != _RELAXED:
                return False
        for at, arg in enumerate(inst.args):
            if not types.is_borrowed(module, arg.type):
                continue
            if inst.op == ops.OpStore and at == 1:
                if arg.op not in _CONVERSIONS:
                    return False
            elif inst.op not in _CONVERSIONS or arg.op != ops.OpLoad:
                return False
    return True


def settle(module: Module) -> None:
    """Take back what was lent. Raises Refused where something is computed with 16 bits that is not
    known how to do with 32."""
    _Settling(module).run()
    capabilities = module.sections[CAPABILITIES]
    capabilities[:] = [c for c in capabilities if c.imm[0] not in module.borrowed_capabilities]
    module.borrowed_capabilities = frozenset()
    touched(module)


class _Settling:
    """The function of one entry point. Definitions come before uses, phis aside."""

    def __init__(self, module: Module) -> None:
        assert module.entry is not None
        self.module = module
        self.function = module.entry.function
        self.wide: dict[Inst, Inst] = {}  # value of 16 bits -> the same with 32
        self.phis: dict[Inst, Inst] = {}
        self.out: list[Inst] = []

    def run(self) -> None:
        for variable in self.module.globals:
            if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Private:
                self.refuse_variable(variable)
        for block in self.function.blocks:
            self.out = []
            for inst in block.insts:
                inst.args = [resolve(a) for a in inst.args]
                self.look_at(inst)
            block.insts = self.out
        for phi, made in self.phis.items():
            for at, arg in enumerate(phi.args):
                made.args.append(arg if at & 1 else self.widened(resolve(arg)))
        touched(self.module)
        sweep(self.module, self.function)

    def small(self, value: Inst) -> bool:
        return types.is_borrowed(self.module, value.type)

    def refuse(self, inst: Inst) -> Refused:
        what = ops.NAMES.get(inst.op, "an instruction")
        return Refused(f"{what} of 16-bit values, which may only be loaded, converted and stored")

    def refuse_variable(self, variable: Inst) -> None:
        assert variable.type is not None
        if types.is_borrowed(self.module, variable.type.args[0]):
            raise self.refuse(variable)

    def look_at(self, inst: Inst) -> None:
        """One instruction; what takes its place goes to ``out``."""
        if inst.op == ops.OpVariable:
            self.refuse_variable(inst)
        if self.small(inst):
            self.define(inst)
            return
        taken = [a for a in inst.args if self.small(a)]
        if not taken:
            self.out.append(inst)
        elif inst.op in _CONVERSIONS:
            self.convert(inst)
        elif inst.op == ops.OpStore:
            self.store(inst, *inst.args)
        else:
            raise self.refuse(inst)

    def add(self, op: int, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst:
        self.out.append(value(self.module, op, type, args, imm))
        return self.out[-1]

    def define(self, inst: Inst) -> None:
        """A value of 16 bits: what may stay does, with its double; the rest becomes the double."""
        op, type = inst.op, inst.type
        assert type is not None
        if op == ops.OpLoad or op in _CONVERSIONS:
            self.out.append(inst)
            if not _parted(type):
                self.wide[inst] = self.back(inst)
        elif _parted(type):
            if op != ops.OpCompositeConstruct:
                raise self.refuse(inst)
        elif op == ops.OpPhi:
            self.phis[inst] = self.wide[inst] = self.add(op, self.twin(type), [], ())
        elif op == ops.OpCompositeExtract and _parted(inst.args[0].type):
            self.take(inst)
        elif op in _MOVES:
            args = [self.widened(a) if self.small(a) else a for a in inst.args]
            self.wide[inst] = self.add(op, self.twin(type), args, inst.imm)
        elif op in _ROUNDED:
            args = [self.widened(a) for a in inst.args]
            made = self.add(op, self.twin(type), args, ())
            self.wide[inst] = self.back(self.narrowed(made, type))
        elif op == ops.OpBitcast and _integral(type) and _integral(inst.args[0].type):
            self.wide[inst] = self.back(self.narrowed(self.widened(inst.args[0]), type))
        else:
            raise self.refuse(inst)

    def take(self, extract: Inst) -> None:
        """A part of an array or matrix, which is loaded by itself."""
        whole, path = extract.args[0], list(extract.imm)
        while whole.op == ops.OpCompositeConstruct and _parted(whole.type):
            whole, path = resolve(whole.args[path[0]]), path[1:]
        if not path:
            self.wide[extract] = self.widened(whole)
            return
        if whole.op != ops.OpLoad:
            raise self.refuse(extract)
        part = Inst(ops.OpLoad, extract.type, [self.pointer(whole.args[0], path)], ())
        part.id = self.module.new_id()
        self.out.append(part)
        self.wide[extract] = self.back(part)

    def pointer(self, base: Inst, path: list[int]) -> Inst:
        assert base.type is not None
        type = base.type.args[0]
        for index in path:
            type = types.part_type(type, index)
        number = types.integer(self.module, 32, True)
        indices = [types.constant(self.module, number, index) for index in path]
        made = types.pointer(self.module, base.type.imm[0], type)
        return self.add(ops.OpAccessChain, made, [base, *indices], ())

    # -- between the two widths --------------------------------------------------------------------

    def twin(self, type: Inst) -> Inst:
        """The type with 32 bits in place of 16."""
        scalar = _scalar(type)
        if scalar.op == ops.OpTypeFloat:
            wide = types.floating(self.module)
        else:
            wide = types.integer(self.module, 32, bool(scalar.imm[1]))
        return types.vector(self.module, wide, types.lanes_of(type))

    def back(self, inst: Inst) -> Inst:
        """16 bits as 32, by the sign of their type."""
        assert inst.type is not None
        return self.add(_conversion(inst.type), self.twin(inst.type), [inst], ())

    def narrowed(self, wide: Inst, type: Inst) -> Inst:
        return self.add(_conversion(type), type, [wide], ())

    def widened(self, inst: Inst) -> Inst:
        wide = self.wide.get(inst)
        if wide is not None:
            return wide
        if inst.op not in _OUTSIDE:
            raise self.refuse(inst)
        assert inst.type is not None
        wide = self.wide[inst] = self.constant(inst, self.twin(inst.type))
        return wide

    def constant(self, inst: Inst, type: Inst) -> Inst:
        """A constant of 16 bits with 32."""
        module = self.module
        if inst.op == ops.OpUndef:
            return types.undef(module, type)
        if type.op == ops.OpTypeVector:
            parts = types.parts_of(module, inst)
            assert parts is not None
            return types.composite(module, type, [self.constant(p, type.args[0]) for p in parts])
        bits = types.bits_of(inst)
        assert bits is not None
        if type.op == ops.OpTypeFloat:
            number = struct.unpack("<e", bits.to_bytes(2, "little"))[0]
            bits = int.from_bytes(struct.pack("<f", number), "little")
        elif type.imm[1]:
            bits = signed(_WIDTH, bits)
        return types.constant(module, type, bits)

    # -- what uses them ----------------------------------------------------------------------------

    def convert(self, inst: Inst) -> None:
        """A conversion of 16 bits to more."""
        source, type = inst.args[0], inst.type
        assert source.type is not None and type is not None
        wide = self.widened(source)
        if type is wide.type and inst.op == _conversion(source.type):
            become(self.module, inst, wide)
            return
        if inst.op == ops.OpFConvert:
            rewrite(self.module, inst, inst.op, [wide], ())
        elif source.op != ops.OpLoad:
            rewrite(self.module, inst, inst.op, [self.narrowed(wide, source.type)], ())
        self.out.append(inst)

    def store(self, store: Inst, pointer: Inst, stored: Inst) -> None:
        """A store of 16 bits."""
        type = stored.type
        assert type is not None
        if _parted(type):
            if stored.op != ops.OpCompositeConstruct:
                raise self.refuse(stored)
            for index, part in enumerate(stored.args):
                self.store(store, self.pointer(pointer, [index]), resolve(part))
            return
        if stored.op not in _CONVERSIONS:
            stored = self.narrowed(self.before_rounding(stored), type)
        self.out.append(Inst(ops.OpStore, None, [pointer, stored], store.imm))

    def before_rounding(self, stored: Inst) -> Inst:
        """What rounds to a value: of a vector of conversions the vector of what they convert."""
        if stored.op != ops.OpCompositeConstruct:
            return self.widened(stored)
        assert stored.type is not None
        parts = [resolve(a) for a in stored.args]
        for part in parts:
            assert part.type is not None
            if part.op not in _CONVERSIONS or part.args[0].type is not self.twin(part.type):
                return self.widened(stored)
        twin = self.twin(stored.type)
        return self.add(ops.OpCompositeConstruct, twin, [p.args[0] for p in parts], ())


def _scalar(type: Inst | None) -> Inst:
    assert type is not None
    return type.args[0] if type.op == ops.OpTypeVector else type


def _integral(type: Inst | None) -> bool:
    return _scalar(type).op == ops.OpTypeInt


def _parted(type: Inst | None) -> bool:
    """Whether a type is more than a number or vector."""
    return type is not None and type.op not in types.NUMBERS and type.op != ops.OpTypeVector


def _conversion(type: Inst) -> int:
    """What converts to or from numbers of such a type."""
    scalar = _scalar(type)
    if scalar.op == ops.OpTypeFloat:
        return ops.OpFConvert
    return ops.OpSConvert if scalar.imm[1] else ops.OpUConvert
