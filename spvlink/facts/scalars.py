"""A vector or matrix seen as its scalars: what each lane of a result is made of.

A lane is a scalar of a value: 0 for a scalar, the component of a vector, column * rows + row of a
matrix. An instruction moves lanes (constructs, extracts, shuffles: no work), works lane by lane, or
mixes (products of vectors and matrices, and everything else).
"""

from __future__ import annotations

from spvlink.grammar import glsl, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, by_opcode

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

Lane = tuple[Inst, int]

MOVES: Final = frozenset(
    (
        ops.OpCompositeConstruct, ops.OpCompositeExtract, ops.OpVectorShuffle, ops.OpCopyObject,
        ops.OpTranspose,
    )
)  # fmt: skip
IS_MOVE: Final = by_opcode(MOVES)
# Sums, differences and negations of what varies are linear in it ...
_ADDITIVE: Final = frozenset((ops.OpFNegate, ops.OpFAdd, ops.OpFSub))
# ... and products, if one factor at most varies.
PRODUCTS: Final = frozenset(
    (
        ops.OpFMul, ops.OpVectorTimesScalar, ops.OpMatrixTimesScalar, ops.OpVectorTimesMatrix,
        ops.OpMatrixTimesVector, ops.OpMatrixTimesMatrix, ops.OpOuterProduct, ops.OpDot,
    )
)  # fmt: skip
# What may be linear at all (``linear``).
_LINEAR: Final = _ADDITIVE | PRODUCTS | {ops.OpFDiv, ops.OpSelect, ops.OpFmaKHR}
# What gives a struct of two numbers, or of two vectors whose lanes are made of the operands' lanes.
PAIRS: Final = frozenset(
    (ops.OpIAddCarry, ops.OpISubBorrow, ops.OpUMulExtended, ops.OpSMulExtended)
)
_UNPACKS: Final = frozenset(
    (
        glsl.Glsl_UnpackUnorm4x8, glsl.Glsl_UnpackSnorm4x8, glsl.Glsl_UnpackUnorm2x16,
        glsl.Glsl_UnpackSnorm2x16, glsl.Glsl_UnpackHalf2x16,
    )
)  # fmt: skip
_GLSL_LINEAR: Final = frozenset((glsl.Glsl_Fma, glsl.Glsl_FMix, glsl.Glsl_Cross))


def count(type: Inst | None) -> int:
    """Lanes of a type; 0 for what is neither scalar, vector nor matrix."""
    if type is None:
        return 0
    op = type.op
    if op == ops.OpTypeFloat:  # most
        return 1
    if op == ops.OpTypeVector:
        return type.imm[0]
    if op == ops.OpTypeMatrix:
        return type.imm[0] * type.args[0].imm[0]
    return 1 if op == ops.OpTypeInt or op == ops.OpTypeBool else 0


def scalar(type: Inst) -> Inst:
    """The type of a lane."""
    while types.IS_VECTOR[type.op]:
        type = type.args[0]
    return type


def moved(inst: Inst) -> list[Lane] | None:
    """For each lane of what a moving instruction gives, the lane that it is; None where the parts
    are no lanes (structs, arrays)."""
    op = inst.op
    if op == ops.OpCompositeConstruct:
        sources = [(arg, n) for arg in inst.args for n in range(count(arg.type))]
        return sources if sources and len(sources) == count(inst.type) else None
    source = inst.args[0]
    size = count(source.type)
    if not size or not count(inst.type):
        return None
    if op == ops.OpCompositeExtract:
        assert source.type is not None
        rows = source.type.args[0].imm[0] if source.type.op == ops.OpTypeMatrix else 1
        at = inst.imm[0] * rows + (inst.imm[1] if len(inst.imm) > 1 else 0)
        return [(source, at + n) for n in range(count(inst.type))]
    if op == ops.OpVectorShuffle:
        both = [(arg, n) for arg in inst.args for n in range(count(arg.type))]
        return [both[n] if n < len(both) else both[0] for n in inst.imm]
    if op == ops.OpTranspose:
        assert inst.type is not None
        columns, rows = inst.type.imm[0], inst.type.args[0].imm[0]
        return [(source, r * columns + c) for c in range(columns) for r in range(rows)]
    return [(source, n) for n in range(size)]


def moved_lane(inst: Inst, lane: int) -> Lane | None:
    """``moved`` for one lane alone."""
    op, size = inst.op, count(inst.type)
    if op == ops.OpCompositeConstruct:
        part: Lane | None = None
        total = 0
        for arg in inst.args:
            end = total + count(arg.type)
            if total <= lane < end:
                part = arg, lane - total
            total = end
        return part if total == size else None
    source = inst.args[0]
    own = count(source.type)
    if not own or not size:
        return None
    if op == ops.OpCompositeExtract:
        assert source.type is not None
        rows = source.type.args[0].imm[0] if source.type.op == ops.OpTypeMatrix else 1
        return source, inst.imm[0] * rows + (inst.imm[1] if len(inst.imm) > 1 else 0) + lane
    if op == ops.OpVectorShuffle:
        index = inst.imm[lane]
        if index < own:
            return source, index
        other = inst.args[1]
        return (other, index - own) if index < own + count(other.type) else (source, 0)
    if op == ops.OpTranspose:
        assert inst.type is not None
        columns, rows = inst.type.imm[0], inst.type.args[0].imm[0]
        column, row = divmod(lane, rows)
        return source, row * columns + column
    return source, lane


def origin(lane: Lane) -> Lane:
    """The lane of a computed value that this one is a copy of."""
    while IS_MOVE[lane[0].op]:
        moved = moved_lane(*lane)
        if moved is None:
            break
        lane = moved
    return lane


def worker(inst: Inst) -> Inst:
    """The instruction that does the work on a value: that of the pair for a member, or a lane of
    one, that is taken out of it."""
    if inst.op == ops.OpCompositeExtract and inst.args[0].op in PAIRS:
        return inst.args[0]
    return inst


def lanewise(inst: Inst, flags: int) -> bool:
    """Whether each lane of the result is made of the same lane of every operand, or of a scalar."""
    if worker(inst) is not inst:
        return True
    if not flags & info.LANEWISE:
        return False
    size = count(inst.type)
    return all(count(a.type) in (1, size) for a in operands(inst))


def splits(inst: Inst, flags: int) -> bool:
    """Whether one lane can be made without the others."""
    return count(inst.type) == 1 or inst.op == ops.OpVectorTimesScalar or lanewise(inst, flags)


def unpacks(inst: Inst) -> bool:
    """Whether it makes several numbers of one word, so that one number has the word of all."""
    return inst.op == ops.OpExtInst and inst.imm[0] in _UNPACKS


def operands(inst: Inst) -> list[Inst]:
    """The operands that are values (not the import of an extended instruction set): for a member of
    a pair those of the pair."""
    return inst.args[1:] if inst.op == ops.OpExtInst else worker(inst).args


def _all(value: Inst) -> list[Lane]:
    return [(value, n) for n in range(count(value.type))]


def made_of(inst: Inst, lane: int, by_lane: bool) -> list[list[Lane]]:
    """The lanes of each operand that one lane of a result depends on; ``by_lane``: what
    ``lanewise`` says."""
    op, args = inst.op, operands(inst)
    if by_lane and len(inst.imm) == 2 and worker(inst) is not inst:
        lane = inst.imm[1]
    if by_lane:
        return [[(a, lane if count(a.type) > 1 else 0)] for a in args]
    if op == ops.OpVectorTimesScalar or op == ops.OpMatrixTimesScalar:
        return [[(args[0], lane)], [(args[1], 0)]]
    if op == ops.OpOuterProduct:
        rows = count(args[0].type)
        return [[(args[0], lane % rows)], [(args[1], lane // rows)]]
    if op == ops.OpMatrixTimesVector:
        rows = count(inst.type)
        return [[(args[0], c * rows + lane) for c in range(count(args[1].type))], _all(args[1])]
    if op == ops.OpVectorTimesMatrix:
        rows = count(args[0].type)
        return [_all(args[0]), [(args[1], lane * rows + r) for r in range(rows)]]
    if op == ops.OpMatrixTimesMatrix:
        assert args[0].type is not None and args[1].type is not None
        rows, inner = args[0].type.args[0].imm[0], args[0].type.imm[0]
        column, row = divmod(lane, rows)
        left = [(args[0], k * rows + row) for k in range(inner)]
        return [left, [(args[1], column * inner + k) for k in range(inner)]]
    return [_all(a) for a in args]


def may_be_linear(inst: Inst) -> bool:
    """Whether ``linear`` can hold of an operation, whatever its operands are."""
    if inst.op == ops.OpExtInst:
        return inst.imm[0] in _GLSL_LINEAR
    return inst.op in _LINEAR or widens(inst)


def widens(inst: Inst) -> bool:
    """Whether an instruction gives floats with more bits, and nothing is rounded: both are those of
    IEEE 754."""
    if inst.op != ops.OpFConvert:
        return False
    source = inst.args[0].type
    assert inst.type is not None and source is not None
    few, many = scalar(source).imm, scalar(inst.type).imm
    return len(few) == len(many) == 1 and few[0] < many[0]


def linear(inst: Inst, varies: list[bool], affine: bool = True) -> bool:
    """Whether a result is linear in the operands that vary over a primitive, if the others do not.
    ``affine``: something that does not vary may be added, since the weights sum to one."""
    op = inst.op
    if op in _ADDITIVE:
        return affine or all(varies)
    if op in PRODUCTS:
        return sum(varies) <= 1
    if op == ops.OpFConvert:
        return widens(inst)
    if op == ops.OpFDiv:
        return not varies[1]
    if op == ops.OpSelect:
        return not varies[0] and (affine or all(varies[1:]))
    if op == ops.OpFmaKHR:
        return _fma_linear(varies, affine)
    if op == ops.OpExtInst:
        number = inst.imm[0]
        if number == glsl.Glsl_Fma:
            return _fma_linear(varies, affine)
        if number == glsl.Glsl_FMix:
            if not affine:
                return varies == [True, True, False]
            return not varies[2] or not (varies[0] or varies[1])
        if number == glsl.Glsl_Cross:
            return sum(varies) <= 1
    return False


def _fma_linear(varies: list[bool], affine: bool) -> bool:
    """``linear`` of a * b + c: one term without the other is something added."""
    if affine:
        return not (varies[0] and varies[1])
    return varies[2] and varies[0] != varies[1]
