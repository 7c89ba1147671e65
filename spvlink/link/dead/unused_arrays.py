"""Remove variables that stay whole (arrays with a dynamic index) and that one side does not use.

    the producer writes it and reads it back, no consumer reads it  ->  a local variable
    the consumer reads it, no instruction of the producer stores it ->  zero, at every load

This needs a view of every access: access chains, loads and stores in the entry point's function.
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.facts.decorations import is_laid_out, unstrided
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module
from spvlink.ir.edit import become, replace_annotations, sweep, touched, value
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.passes.lowering.memory_access import INTERPOLATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_OF_INTERFACES: Final = info.INTERPOLATION_DECORATIONS | info.KIND_DECORATIONS | {
    enums.Decoration_Location, enums.Decoration_Component, enums.Decoration_Index,
    enums.Decoration_Invariant, enums.Decoration_Stream, enums.Decoration_XfbBuffer,
    enums.Decoration_XfbStride,
}  # fmt: skip
_MOVES: Final = frozenset((ops.OpLoad, ops.OpStore))
_PLAIN: Final = info.ELEMENT_TYPES
_MADE_OF_PARTS: Final = frozenset((ops.OpCompositeConstruct, ops.OpConstantComposite))


def accesses(
    stage: Stage, variable: Inst, called: bool = False
) -> tuple[list[Inst], list[Inst], list[Inst]] | None:
    """(access chains, loads, stores) of a variable, or None if anything else is done with it.
    ``called``: in functions that the entry point calls; otherwise in any that are left."""
    entry = stage.module.entry
    assert entry is not None
    chains: list[Inst] = []
    loads: list[Inst] = []
    stores: list[Inst] = []
    pointers = {variable}
    glsl = Effects.of(stage.module).glsl
    functions = stage.module.functions
    if called:
        functions = [entry.function, *Calls.of(stage.module).functions]
    for function in functions:
        for block in function.blocks:
            for inst in block.insts:
                if not any(a in pointers for a in inst.args):
                    continue
                if function is not entry.function:
                    return None
                if IS_CHAIN[inst.op]:
                    chains.append(inst)
                    pointers.add(inst)
                elif inst.op in _MOVES and inst.imm and inst.imm[0] & enums.MemoryAccess_Volatile:
                    return None
                elif inst.op == ops.OpLoad:
                    loads.append(inst)
                elif inst.op == ops.OpStore and inst.args[1] not in pointers:
                    stores.append(inst)
                elif _interpolates(glsl, inst):
                    loads.append(inst)
                else:
                    return None
    return chains, loads, stores


def _interpolates(glsl: set[Inst], inst: Inst) -> bool:
    return inst.op == ops.OpExtInst and inst.args[0] in glsl and inst.imm[0] in INTERPOLATIONS


def make_local(stage: Stage, variable: Inst) -> bool:
    """Turn an output that nobody else reads into a local variable; whether that was possible."""
    module = stage.module
    assert variable.type is not None and module.entry is not None
    if types.is_borrowed(module, variable.type.args[0]):
        return False
    if variable.type.args[0].op not in _PLAIN:
        return False  # a block's struct is laid out for the interface
    uses = accesses(stage, variable)
    if uses is None or not may_be_local(module, variable):
        return False
    move_parts(module, uses[1], uses[2])
    for inst in (variable, *uses[0]):
        inst.type = local_pointer(module, inst)
    storage = enums.StorageClass_Function
    variable.imm = (storage, *variable.imm[1:])
    module.globals.remove(variable)
    module.entry.function.blocks[0].insts.insert(0, variable)
    entry = module.entry.inst
    entry.args = [entry.args[0]] + [a for a in entry.args[1:] if a is not variable]
    replace_annotations(module, [
        i for i in module.annotations
        if not (i.op == ops.OpDecorate and i.args[0] is variable and i.imm[0] in _OF_INTERFACES)
    ])  # fmt: skip
    return True


def may_be_local(module: Module, variable: Inst) -> bool:
    """Whether a variable of ``local_pointer`` may stand for it: an initializer has its type."""
    assert variable.type is not None
    return not variable.args or not is_laid_out(module, variable.type.args[0])


def move_parts(module: Module, loads: list[Inst], stores: list[Inst]) -> None:
    """Let these loads and stores of the entry point move no array with an ArrayStride: they move
    one without, which is made of the parts of the other."""
    strided = [i for i in loads if i.type is not None and is_laid_out(module, i.type)]
    written = [i for i in stores if (t := i.args[1].type) is not None and is_laid_out(module, t)]
    if not strided and not written:
        return
    assert module.entry is not None
    blocks = module.entry.function.blocks
    for block in blocks:
        insts: list[Inst] = []
        for inst in block.insts:
            if inst in written:
                inst.args = [inst.args[0], _unstrided_value(module, inst.args[1], insts)]
            insts.append(inst)
        block.insts = insts
    now: dict[Inst, Inst] = {}  # load -> the value that it gave
    made: set[Inst] = set()
    for block in blocks:
        insts = []
        for inst in block.insts:
            insts.append(inst)
            if inst in strided:
                assert inst.type is not None
                whole, inst.type = inst.type, unstrided(module, inst.type)
                first = len(insts)
                now[inst] = _recast(module, inst, whole, insts)
                made.update(insts[first:])
        block.insts = insts
    for inst in [i for block in blocks for i in block.insts if i not in made]:
        inst.args = [now.get(arg, arg) for arg in inst.args]
    touched(module)


def _unstrided_value(module: Module, whole: Inst, out: list[Inst]) -> Inst:
    assert whole.type is not None
    return _recast(module, whole, unstrided(module, whole.type), out)


def _recast(module: Module, whole: Inst, type: Inst, out: list[Inst]) -> Inst:
    """A value of another type of as many equal parts; instructions are appended."""
    if whole.type is type:
        return whole
    assert whole.type is not None
    inner, wanted = whole.type.args[0], type.args[0]
    parts: list[Inst] = []
    for number in range(types.size_of(type)):
        if whole.op in _MADE_OF_PARTS:
            part = whole.args[number]
        else:
            part = value(module, ops.OpCompositeExtract, inner, [whole], (number,))
            out.append(part)
        parts.append(_recast(module, part, wanted, out))
    out.append(value(module, ops.OpCompositeConstruct, type, parts, ()))
    return out[-1]


def local_pointer(module: Module, place: Inst) -> Inst:
    """The type of a pointer to a local variable, or a part of it, in place of one of another
    storage class: its arrays have no ArrayStride."""
    assert place.type is not None
    type = unstrided(module, place.type.args[0])
    return types.pointer(module, enums.StorageClass_Function, type)


def read_as_zero(link: Link) -> bool:
    """Inputs that stay whole and face an output to which nothing is stored: zero at every load."""
    changed = False
    for out, twin in link.pinned():
        if twin is None or out not in link.outputs.pinned or out.variable.args:
            continue  # one side's only, or it has an initializer
        written = accesses(link.producer, out.variable)
        read = accesses(link.consumer, twin.variable)
        module = link.consumer.module
        if written is None or read is None or written[2] or not read[1]:
            continue
        if not all(types.may_be_constant(module, i.type) for i in read[1] if i.type is not None):
            continue
        for load in read[1]:
            assert load.type is not None
            become(module, load, types.null(module, load.type))
        assert module.entry is not None
        sweep(module, module.entry.function)
        changed = True
    return changed
