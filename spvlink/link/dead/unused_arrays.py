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
from spvlink.ir.edit import become, replace_annotations, sweep
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
    if uses is None or not may_be_local(module, variable, uses[1], uses[2]):
        return False
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


def may_be_local(module: Module, variable: Inst, loads: list[Inst], stores: list[Inst]) -> bool:
    """Whether all that is done with a variable can be done with one of ``local_pointer``: arrays
    with an ArrayStride are never read or written whole."""
    wholes = [load.type for load in loads] + [store.args[1].type for store in stores]
    wholes += [initializer.type for initializer in variable.args]
    return not any(type is not None and is_laid_out(module, type) for type in wholes)


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
