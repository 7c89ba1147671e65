"""Answer small questions about instructions that touch memory, and about parts of composites."""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.facts.cfg import Cfg
from spvlink.grammar import enums, glsl, info, ops
from spvlink.ir import types
from spvlink.ir.core import CHAINS, STORE_OUTPUT, Block, Inst, Module, by_opcode
from spvlink.ir.edit import resolve, value
from spvlink.passes.lowering.cells import MAX_PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

INTERPOLATIONS: Final = frozenset(
    (glsl.Glsl_InterpolateAtCentroid, glsl.Glsl_InterpolateAtSample, glsl.Glsl_InterpolateAtOffset)
)
# what makes a pointer to a candidate or to a part of one
IS_POINTER: Final = by_opcode(CHAINS | {ops.OpVariable})
# what has no operand that is a pointer
IS_NUMERIC: Final = by_opcode([
    op for op, flags in info.FLAGS.items()
    if flags & info.LANEWISE and op not in (ops.OpPhi, ops.OpSelect, ops.OpCopyObject)
], (
    ops.OpCompositeExtract, ops.OpCompositeConstruct, ops.OpCompositeInsert, ops.OpVectorShuffle,
    ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix, ops.OpMatrixTimesMatrix, ops.OpDot,
    ops.OpVectorTimesScalar, ops.OpSampledImage, ops.OpImageSampleImplicitLod, ops.OpReturn,
    ops.OpBranch, ops.OpBranchConditional, ops.OpSelectionMerge,
))  # fmt: skip
MAX_STEPS: Final = 32  # how far one looks through a chain of inserts


def holds_slots(type: Inst) -> bool:
    """Whether a type is made of numbers that can be slots of an interface."""
    if type.op in (ops.OpTypeStruct, ops.OpTypeArray, ops.OpTypeMatrix, ops.OpTypeVector):
        return all(holds_slots(a) for a in type.args if a.type is None)
    return types.is_plain_number(type) and type.imm[0] >= 16


def separable(constant: Inst) -> bool:
    """Whether the parts of an initializer are constants by themselves, which those of an
    OpSpecConstantOp are not."""
    if constant.op in (ops.OpConstantComposite, ops.OpSpecConstantComposite):
        return all(separable(part) for part in constant.args)
    return (
        constant.op != ops.OpSpecConstantOp
        or constant.type is None
        or types.is_scalar(constant.type)
    )


def part_of(module: Module, whole: Inst, path: tuple[int, ...]) -> Inst:
    """The part of a constant that is ``separable`` at ``path``."""
    for index in path:
        if whole.op == ops.OpSpecConstantComposite:
            whole = whole.args[index]
            continue
        parts = types.parts_of(module, whole)
        assert parts is not None  # ``separable`` said so
        whole = parts[index]
    return whole


def extract(
    module: Module, whole: Inst, path: tuple[int, ...], type: Inst, out: list[Inst]
) -> Inst:
    """The part of a value at ``path``, seen through constructs and inserts, made by
    OpCompositeExtract if need be."""
    at = 0
    steps = 0
    while at < len(path):
        if whole.op == ops.OpCompositeInsert and steps < MAX_STEPS:
            steps += 1
            common = min(len(whole.imm), len(path) - at)
            if tuple(whole.imm[:common]) != path[at : at + common]:
                whole = resolve(whole.args[1])
                continue
            if len(whole.imm) > common:
                break
            at += common
            whole = resolve(whole.args[0])
            continue
        assert whole.type is not None
        if whole.op == ops.OpCompositeConstruct and len(whole.args) == types.size_of(whole.type):
            whole = resolve(whole.args[path[at]])
        else:
            parts = types.parts_of(module, whole)
            if parts is None:
                break
            whole = parts[path[at]]
        at += 1
    if at == len(path):
        return whole
    made = value(module, ops.OpCompositeExtract, type, [whole], tuple(path[at:]))
    out.append(made)
    return made


def lower_copies(module: Module, block: Block) -> None:
    """OpCopyMemory as OpLoad and OpStore."""
    if not any(i.op == ops.OpCopyMemory for i in block.insts):
        return
    insts: list[Inst] = []
    for inst in block.insts:
        if inst.op != ops.OpCopyMemory or inst.imm:
            insts.append(inst)
            continue
        target, source = inst.args
        assert source.type is not None and target.type is not None
        # one of them may be an untyped pointer
        (copied_type,) = source.type.args or target.type.args
        load = value(module, ops.OpLoad, copied_type, [source], ())
        insts += [load, Inst(ops.OpStore, None, [target, load], ())]
    block.insts = insts


def store_slot(key: int, stored: Inst, vertex: Inst | None) -> Inst:
    """STORE_OUTPUT of one component."""
    return Inst(STORE_OUTPUT, None, [stored] if vertex is None else [stored, vertex], (key,))


def elements_at_once(variable: Inst) -> int:
    """How many elements a load of a whole array over vertices is taken apart into; 0 if that is too
    much."""
    assert variable.type is not None
    whole = variable.type.args[0]
    count, each = types.size_of(whole), types.lanes_of(whole.args[0])
    return count if 0 < count * each <= MAX_PARTS else 0


def stored_once(cfg: Cfg, uses: dict[Block, list[int]], variable: Inst) -> bool:
    """Whether a variable is stored once at most, its initializer included, before all its loads.
    ``uses``: where in each block pointers are used."""
    stored: Block | None = None
    ok = True
    for block in cfg.order:
        for at in uses[block] if ok else ():
            inst = block.insts[at]
            if inst.op == ops.OpStore and inst.args[0] is variable:
                ok = stored is None and not variable.args
                stored = block
            elif inst.op == ops.OpLoad and inst.args[0] is variable:
                ok &= stored is not None or bool(variable.args)
                ok &= stored is None or cfg.dominates(stored, block)
    return ok


def is_volatile(imm: tuple[int, ...]) -> bool:
    return bool(imm) and bool(imm[0] & enums.MemoryAccess_Volatile)


def uses(module: Module, variable: Inst) -> list[Inst]:
    """Instructions that refer to a variable, in functions that the entry point comes to: others go
    with their last call."""
    entry = module.entry
    assert entry is not None
    functions = [entry.function, *Calls.of(module).functions]
    return [i for f in functions for b in f.blocks for i in b.insts if variable in i.args]
