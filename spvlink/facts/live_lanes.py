"""Which lanes of its operands an instruction needs for some lanes of its result.

A lane is a scalar of a value, counted part by part: a component of a vector, column * rows + row of
a matrix, and so on through arrays and structs (``types.lanes_of``). Lanes are bits of a number. A
product of matrices needs for one component of its result a row of the left one and a column of the
right one:

    (A * v).y     row y of A, all of v            (A * B)[c].y    row y of A, column c of B
    (v * A).y     column y of A, all of v         transpose(A)[c].y   A[y][c]

The operation stays what it is; only what goes into its other lanes is dead. So nothing is rounded
in another way.
"""

from __future__ import annotations

from spvlink.facts.scalars import PAIRS
from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, Inst, by_opcode

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

Needs = list[tuple[Inst, int]]

IS_AGGREGATE: Final = by_opcode((ops.OpTypeMatrix, ops.OpTypeStruct, ops.OpTypeArray))
_SAME: Final = frozenset((ops.OpCopyObject, ops.OpCopyLogical, ops.OpSelect, ops.OpBitcast))
_GLSL_TWO_RESULTS: Final = frozenset((glsl.Glsl_ModfStruct, glsl.Glsl_FrexpStruct))
_FIELDS: Final = frozenset((ops.OpBitFieldInsert, ops.OpBitFieldSExtract, ops.OpBitFieldUExtract))
# What ``needs`` knows of, where a result is a vector that is not made lane by lane ...
VECTORS: Final = _FIELDS | {ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix, ops.OpBitcast}
_GLSL_VECTORS: Final = frozenset((glsl.Glsl_Cross, glsl.Glsl_FaceForward))


def needs(inst: Inst, lanes: int) -> Needs:
    """(operand, lanes of it) for these lanes of a result; what is not told apart is ALL."""
    op, args = inst.op, inst.args
    size = types.lanes_of(inst.type)
    if not size:
        return [(arg, ALL) for arg in args]
    lanes = _lanes(lanes, size)
    if op == ops.OpCompositeConstruct:
        return _construct(args, lanes)
    if op == ops.OpCompositeExtract:
        at = _offset(args[0].type, inst.imm)
        return [(args[0], ALL if at < 0 else lanes << at)]
    if op == ops.OpCompositeInsert:
        return _insert(inst, lanes)
    if op == ops.OpVectorTimesScalar or op == ops.OpMatrixTimesScalar:
        return [(args[0], lanes), (args[1], ALL)]
    kind = _KINDS[op]
    if kind & _IS_MATRIX:
        return _matrix(inst, lanes)
    if kind & _IS_SAME:
        return [(a, lanes if types.lanes_of(a.type) == size > 1 else ALL) for a in args]
    if kind & _IS_TWO or (op == ops.OpExtInst and inst.imm[0] in _GLSL_TWO_RESULTS):
        both = lanes | lanes >> size // 2
        return [(a, _part(a, both)) for a in args]
    if op == ops.OpExtInst and inst.imm[0] == glsl.Glsl_Cross:
        others = (lanes << 1 | lanes >> 2 | lanes >> 1 | lanes << 2) & 7
        return [(args[0], ALL), (args[1], others), (args[2], others)]
    if op == ops.OpExtInst and inst.imm[0] == glsl.Glsl_FaceForward:
        return [(args[1], _part(args[1], lanes)), *[(a, ALL) for a in (args[0], *args[2:])]]
    return [(arg, ALL) for arg in args]


def follows(inst: Inst) -> bool:
    """Whether ``needs`` may say less than everything of a vector that is not made lane by lane."""
    if inst.op == ops.OpExtInst:
        return inst.imm[0] in _GLSL_VECTORS
    return _KINDS[inst.op] & _IS_VECTOR != 0


def _lanes(lanes: int, size: int) -> int:
    return lanes & ((1 << size) - 1)


def _part(value: Inst, lanes: int) -> int:
    """Lanes of a value; ALL for a scalar, and for what is not told apart."""
    size = types.lanes_of(value.type)
    return _lanes(lanes, size) if size > 1 else ALL


def _construct(args: list[Inst], lanes: int) -> Needs:
    operands: Needs = []
    for arg in args:
        size = types.lanes_of(arg.type)
        part = _lanes(lanes, size)
        if part:
            operands.append((arg, part if size > 1 else ALL))
        lanes >>= size
    return operands


def _offset(type: Inst | None, path: tuple[int, ...]) -> int:
    """The first lane of the part of a type at ``path``; -1 where lanes are not told apart."""
    if not types.lanes_of(type):
        return -1
    at = 0
    for index in path:
        assert type is not None
        if index >= types.size_of(type):
            return -1
        if type.op == ops.OpTypeStruct:
            for member in type.args[:index]:
                at += types.lanes_of(member)
        else:
            at += index * types.lanes_of(type.args[0])
        type = types.part_type(type, index)
    return at


def _insert(inst: Inst, lanes: int) -> Needs:
    part, whole = inst.args
    at, size = _offset(inst.type, inst.imm), types.lanes_of(part.type)
    if at < 0:
        return [(part, ALL), (whole, ALL)]
    own = ((1 << size) - 1) << at
    operands: Needs = []
    if lanes & own:
        operands.append((part, _part(part, lanes >> at)))
    if lanes & ~own:
        operands.append((whole, lanes & ~own))
    return operands


def _shape(matrix: Inst) -> tuple[int, int]:
    """(columns, rows)."""
    assert matrix.type is not None
    return matrix.type.imm[0], matrix.type.args[0].imm[0]


def _by_column(lanes: int, rows: int) -> list[int]:
    """The live rows of each column, up to the last that has any."""
    columns: list[int] = []
    while lanes:
        columns.append(_lanes(lanes, rows))
        lanes >>= rows
    return columns


def _columns(rows_of_columns: list[int], rows: int) -> int:
    """The lanes of a matrix that has these rows in each column."""
    lanes = 0
    for at, column in enumerate(rows_of_columns):
        lanes |= column << at * rows
    return lanes


def _rows_of(matrix: Inst, rows: int) -> int:
    """The lanes of whole rows of a matrix."""
    count, size = _shape(matrix)
    return _columns([rows] * count, size)


def _columns_of(matrix: Inst, columns: list[int]) -> int:
    """The lanes of whole columns of a matrix: those that say anything but 0."""
    _, size = _shape(matrix)
    return _columns([(1 << size) - 1 if c else 0 for c in columns], size)


def _matrix(inst: Inst, lanes: int) -> Needs:
    op, args = inst.op, inst.args
    if op == ops.OpMatrixTimesVector:
        return [(args[0], _rows_of(args[0], lanes)), (args[1], _part(args[1], ALL))]
    if op == ops.OpVectorTimesMatrix:
        columns = _columns_of(args[1], _by_column(lanes, 1))
        return [(args[0], _part(args[0], ALL)), (args[1], columns)]
    _, rows = _shape(inst)
    rows_of_columns = _by_column(lanes, rows)
    any_row = 0
    for column in rows_of_columns:
        any_row |= column
    if op == ops.OpMatrixTimesMatrix:
        return [
            (args[0], _rows_of(args[0], any_row)),
            (args[1], _columns_of(args[1], rows_of_columns)),
        ]
    if op == ops.OpOuterProduct:
        columns = sum([1 << at for at, column in enumerate(rows_of_columns) if column])
        return [(args[0], any_row), (args[1], columns)]
    across, _ = _shape(inst)  # the rows of what OpTranspose takes
    needed = 0
    for column, live in enumerate(rows_of_columns):
        for row in range(rows):
            if live >> row & 1:
                needed |= 1 << row * across + column
    return [(args[0], needed)]


_MATRICES: Final = frozenset(
    (
        ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix, ops.OpMatrixTimesMatrix,
        ops.OpOuterProduct, ops.OpTranspose,
    )
)  # fmt: skip
_IS_MATRIX: Final = 1
_IS_SAME: Final = 2
_IS_TWO: Final = 4
_IS_VECTOR: Final = 8
_KINDS: Final = by_opcode(_MATRICES, _SAME | _FIELDS, PAIRS, VECTORS)
