"""Constant folding against the oracle: what is folded is exact, and what is not folded has a stated
reason."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import EXECUTION_MODES, Inst
from spvlink.rules import arithmetic
from tests.support.fold_bench import Bench, f32
from tests.support.fold_oracle import (
    CONVERT,
    FLOAT,
    FLOAT_COMPARE,
    FLOATING,
    INTEGER,
    INTEGER_COMPARE,
    LOGICAL,
    Undefined,
    bits_of,
    compute,
    is_denormal,
    is_nan,
    real,
    round_to,
)

FAST = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
TRIALS = 80  # random operand tuples per operation and type


BENCH = Bench()


def edges(kind: str) -> list[int]:
    width = 1 if kind == "b" else int(kind[1:])
    if kind == "b":
        return [0, 1]
    top = 1 << (width - 1)
    found = [0, 1, 2, 3, 7, top, top - 1, top + 1, 2 * top - 1, 2 * top - 2]
    if kind[0] == "f":
        numbers = (0.5, -0.5, 1.0, -1.0, 1.5, 2.5, 2.0, 3.0, -3.0, 0.1, 255.0, 65504.0, np.inf)
        with np.errstate(all="ignore"):
            found += [bits_of(FLOAT[width](n)) for n in (*numbers, -np.inf, np.nan)]
        tiny = bits_of(np.finfo(FLOAT[width]).tiny)
        found += [tiny, tiny - 1, tiny + 1, bits_of(np.finfo(FLOAT[width]).max)]
    return found


@functools.cache
def pattern(kind: str) -> st.SearchStrategy[int]:
    """Bit patterns for hypothesis: the edges and any."""
    return st.one_of(st.sampled_from(edges(kind)), st.integers(0, (1 << int(kind[1:])) - 1))


@functools.cache
def pool(kind: str) -> list[int]:
    return edges(kind)


def draw(random: Random, kind: str) -> int:
    """A bit pattern: an edge, any pattern, a small integer or a float of moderate size."""
    width = 1 if kind == "b" else int(kind[1:])
    choice = random.random()
    if choice < 0.4 or kind == "b":
        return random.choice(pool(kind))
    if choice < 0.6:
        return random.getrandbits(width)
    if kind[0] == "f":
        return bits_of(FLOAT[width](random.uniform(-100, 100)))
    return random.randrange(min(width, 40))


G = {name: -number for number, name in glsl.NAMES.items()}
BINARY_INT = [k for k in INTEGER if k in (
    ops.OpIAdd, ops.OpISub, ops.OpIMul, ops.OpUDiv, ops.OpUMod, ops.OpSDiv, ops.OpSRem, ops.OpSMod,
    ops.OpBitwiseAnd, ops.OpBitwiseOr, ops.OpBitwiseXor, ops.OpShiftLeftLogical,
    ops.OpShiftRightLogical, ops.OpShiftRightArithmetic, G["UMin"], G["UMax"], G["SMin"], G["SMax"],
)]  # fmt: skip
UNARY = {
    ops.OpSNegate, ops.OpNot, ops.OpBitReverse, ops.OpBitCount, G["SAbs"], G["SSign"],
    ops.OpLogicalNot, ops.OpFNegate, ops.OpIsNan, ops.OpIsInf, G["FAbs"], G["FSign"], G["Floor"],
    G["Ceil"], G["Trunc"], G["Round"], G["RoundEven"], G["Fract"],
    G["FindILsb"], G["FindUMsb"], G["FindSMsb"],
}  # fmt: skip
TERNARY = {G["UClamp"], G["SClamp"], G["FClamp"], G["NClamp"], G["Fma"]}


def operands(key: int, kind: str) -> list[str]:
    """The kinds of the operands of an operation on ``kind``."""
    if key in (ops.OpBitFieldUExtract, ops.OpBitFieldSExtract):
        return [kind, "u32", "u32"]
    if key == ops.OpBitFieldInsert:
        return [kind, kind, "u32", "u32"]
    if key == G["Ldexp"]:
        return [kind, "i32"]
    return [kind] * (1 if key in UNARY else 3 if key in TERNARY else 2)


def same_kind_cases() -> list[tuple[int, str]]:
    cases = []
    for key in INTEGER:
        only32 = key in (G["FindILsb"], G["FindUMsb"], G["FindSMsb"])
        cases += [(key, k) for k in (["u32"] if only32 else ["u8", "i16", "u32", "i64"])]
    cases += [(key, k) for key in INTEGER_COMPARE for k in ("i8", "u16", "i32", "u64")]
    cases += [(key, "b") for key in LOGICAL]
    floats = [k for k in FLOATING if k != ops.OpMatrixTimesScalar] + list(FLOAT_COMPARE)
    return cases + [(key, k) for key in floats for k in ("f16", "f32", "f64")]


def scalar_operands(key: int) -> int:
    """From which operand on the operands are scalars even beside vectors."""
    if key in (ops.OpBitFieldUExtract, ops.OpBitFieldSExtract, ops.OpVectorTimesScalar):
        return 1
    return 2 if key == ops.OpBitFieldInsert else 9


def may_refuse(key: int, width: int, bits: list[int], result: int | None) -> bool:
    """Whether one lane gives a reason not to fold."""
    if result is None:
        return True
    if key not in FLOATING and key not in FLOAT_COMPARE:
        return False
    count = 1 if key == G["Ldexp"] else len(bits)
    numbers = [real(width, b) for b in bits[:count]]
    if any(is_denormal(width, b) for b in bits[:count]):
        return True
    if key in FLOAT_COMPARE:
        return False
    found = real(width, result)
    if np.isnan(found) or any(map(np.isnan, numbers)) or is_denormal(width, result):
        return True
    if abs(found) == np.finfo(FLOAT[width]).tiny:
        return True
    if np.isinf(found) and not any(map(np.isinf, numbers)):
        return True
    if found == 0 and key in (ops.OpFMul, ops.OpVectorTimesScalar, ops.OpFDiv):
        return not any(n == 0 for n in numbers[: 1 if key == ops.OpFDiv else 2])  # underflow
    if found == 0 and key < 0 and any(n <= 0 for n in numbers):
        return True  # the sign of a zero
    if key in (G["FClamp"], G["NClamp"]) and not numbers[1] <= numbers[2]:
        return True
    if key == G["Round"] and np.isfinite(numbers[0]):
        return float(numbers[0]) - math.floor(numbers[0]) == 0.5
    if key == G["Ldexp"]:
        return (
            abs(int(np.int32(np.uint32(bits[1]))))
            >= -arithmetic._LEAST[width].as_integer_ratio()[0]
        )
    return may_refuse_inexact(key, width, numbers)


def may_refuse_inexact(key: int, width: int, numbers: list) -> bool:
    """The operations that are folded only where nothing is rounded: fract, and the product in
    fma."""
    if not all(map(np.isfinite, numbers)):
        return key in (G["Fract"], G["Fma"])
    x = Fraction(float(numbers[0]))
    if key == G["Fract"]:
        exact = x - math.floor(x)
    elif key == G["Fma"]:
        exact = x * Fraction(float(numbers[1]))
    else:
        return False
    bits = round_to(width, exact)
    value = float(real(width, bits))
    return (
        is_denormal(width, bits)
        or not math.isfinite(value)
        or Fraction(value) != exact
        or (value != 0 and abs(value) == np.finfo(FLOAT[width]).tiny)
    )


def expected(key: int, width: int, to: int, bits: list[int]) -> int | None:
    try:
        return compute(key, width, to, bits)
    except Undefined:
        return None


@pytest.mark.parametrize("key,kind", same_kind_cases())
def test_per_component_operations(key: int, kind: str) -> None:
    width = 1 if kind == "b" else int(kind[1:])
    kinds = operands(key, kind)
    compare = key in INTEGER_COMPARE or key in LOGICAL or key in FLOAT_COMPARE
    target = "b" if compare else "i32" if key in (G["FindSMsb"], G["FindILsb"]) else kind
    folded, random = 0, Random(f"{key} {kind}")
    to = 1 if compare else width
    for _ in range(TRIALS):
        size = random.choice((2, 3, 4) if key == ops.OpVectorTimesScalar else (1, 1, 2, 3, 4))
        columns = []
        for index, k in enumerate(kinds):
            count = 1 if index >= scalar_operands(key) else size
            columns.append([draw(random, k) for _ in range(count)])
        rows = [[c[i] if len(c) > 1 else c[0] for c in columns] for i in range(size)]
        results = [expected(key, width, to, row) for row in rows]
        args = [BENCH.constant(k, c) for k, c in zip(kinds, columns)]
        type = BENCH.type(target, size)
        found = BENCH.fold(key, type, args)
        if found is None:
            assert any(may_refuse(key, width, r, x) for r, x in zip(rows, results)), rows
            continue
        folded += 1
        assert found.type is type and BENCH.lanes(found) == results, rows
        for row, result in zip(rows, results):
            check_certain(key, width, row, result)
    assert folded >= 3


def check_certain(key: int, width: int, bits: list[int], result: int | None) -> None:
    """What must never be folded was not."""
    assert result is not None
    if key not in FLOATING:
        return
    count = 1 if key == G["Ldexp"] else len(bits)
    assert not any(is_denormal(width, b) for b in bits[:count])
    assert not is_denormal(width, result) and not is_nan(width, result)
    zeros = [b for b in bits if b << 1 & ((1 << width) - 1) == 0]
    if key in (G["FMin"], G["FMax"]):
        assert len(set(zeros)) < 2 and not any(is_nan(width, b) for b in bits)


def convert_cases() -> list[tuple[int, str, str]]:
    ints, floats = ("u8", "i16", "u32", "i64"), ("f16", "f32", "f64")
    cases = [
        (key, a, b)
        for key in (ops.OpUConvert, ops.OpSConvert)
        for a in ints
        for b in ints
        if a[1:] != b[1:]
    ]
    cases += [
        (k, a, b) for k in (ops.OpConvertSToF, ops.OpConvertUToF) for a in ints for b in floats
    ]
    cases += [
        (k, b, a) for k in (ops.OpConvertFToS, ops.OpConvertFToU) for a in ints for b in floats
    ]
    cases += [(ops.OpFConvert, a, b) for a in floats for b in floats if a != b]
    return cases + [(ops.OpQuantizeToF16, "f32", "f32")]


def may_refuse_conversion(key: int, width: int, to: int, bits: int, result: int | None) -> bool:
    if result is None:
        return True
    from_float = key in (ops.OpConvertFToS, ops.OpConvertFToU, ops.OpFConvert, ops.OpQuantizeToF16)
    if from_float:
        value = real(width, bits)
        if is_denormal(width, bits) or np.isnan(value):
            return True
        if key == ops.OpConvertFToU:
            return bool(value < 0)
        if key == ops.OpQuantizeToF16 and (abs(value) <= 2.0**-14 or abs(value) > 65504):
            return True
    if key in (ops.OpConvertSToF, ops.OpConvertUToF, ops.OpFConvert):
        found = real(to, result)
        overflow = np.isinf(found) and not (from_float and np.isinf(real(width, bits)))
        tiny = found != 0 and abs(found) <= np.finfo(FLOAT[to]).tiny
        vanished = from_float and found == 0 and real(width, bits) != 0
        return bool(overflow or tiny or vanished)
    return False


@pytest.mark.parametrize("key,source,target", convert_cases())
def test_conversions(key: int, source: str, target: str) -> None:
    width, to = int(source[1:]), int(target[1:])
    folded, random = 0, Random(f"{key} {source} {target}")
    for _ in range(TRIALS):
        values = [draw(random, source) for _ in range(random.choice((1, 1, 1, 2, 3, 4)))]
        results = [expected(key, width, to, [v]) for v in values]
        type = BENCH.type(target, len(values))
        found = BENCH.fold(key, type, [BENCH.constant(source, values)])
        if found is None:
            reasons = zip(values, results)
            assert any(may_refuse_conversion(key, width, to, v, r) for v, r in reasons), values
            continue
        folded += 1
        assert found.type is type and BENCH.lanes(found) == results, values
    assert folded >= 3


def test_every_operation_has_an_oracle() -> None:
    known = {*INTEGER, *INTEGER_COMPARE, *LOGICAL, *FLOATING, *FLOAT_COMPARE, *CONVERT}
    folded = {*arithmetic.BITS, *arithmetic.FLOATS, *arithmetic.COMPARES, *arithmetic.CONVERTS}
    assert folded == known - {ops.OpMatrixTimesScalar}


def test_conversion_of_64_bit_integers_rounds_once() -> None:
    # Just above a tie of binary32; binary64 would drop the 1, and the tie would go down, to even.
    value = (1 << 54) + (1 << 30) + 1
    for key, kind in ((ops.OpConvertUToF, "u64"), (ops.OpConvertSToF, "i64")):
        found = BENCH.fold(key, BENCH.type("f32"), [BENCH.constant(kind, [value])])
        assert found is not None and BENCH.lanes(found) == [f32((1 << 54) + (1 << 31))]


@pytest.mark.parametrize(
    "key,kind,values",
    [
        (ops.OpUDiv, "u32", [1, 0]),
        (ops.OpSDiv, "i32", [1 << 31, (1 << 32) - 1]),
        (ops.OpSRem, "i8", [0x80, 0xFF]),
        (ops.OpShiftLeftLogical, "u16", [1, 16]),
        (ops.OpFDiv, "f32", [f32(1), f32(0)]),
        (ops.OpFSub, "f32", [f32(np.inf), f32(np.inf)]),
        (ops.OpFMul, "f32", [f32(3e38), f32(2)]),
        (ops.OpFMul, "f32", [f32(1e-30), f32(1e-10)]),
        (ops.OpFAdd, "f32", [1, f32(1)]),
        (ops.OpFRem, "f32", [f32(5), f32(3)]),
        (ops.OpFMod, "f32", [f32(5), f32(3)]),
        (ops.OpFNegate, "f32", [f32(np.nan)]),
        (G["FMin"], "f32", [f32(0.0), f32(-0.0)]),
        (G["FMax"], "f32", [f32(np.nan), f32(1)]),
        (G["FClamp"], "f32", [f32(0), f32(2), f32(1)]),
        (G["SClamp"], "i32", [0, 2, 1]),
        (G["Round"], "f32", [f32(2.5)]),
        (G["Ceil"], "f32", [f32(-0.5)]),
        (G["Fract"], "f32", [f32(-1e-20)]),
        (G["Fma"], "f32", [f32(0.1), f32(0.1), f32(1)]),
        (G["Sqrt"], "f32", [f32(4)]),
        (G["Pow"], "f32", [f32(2), f32(2)]),
        (G["Sin"], "f32", [f32(0)]),
    ],
)
def test_refusals(key: int, kind: str, values: list[int]) -> None:
    args = [BENCH.constant(kind, [v]) for v in values]
    assert BENCH.fold(key, BENCH.type(kind), args) is None


def test_operands_that_are_no_constants() -> None:
    u32 = BENCH.type("u32")
    one = BENCH.constant("u32", [1])
    spec = Inst(ops.OpSpecConstant, u32, [], (1,), BENCH.module.new_id())
    undef = types.undef(BENCH.module, u32)
    for other in (spec, undef):
        assert BENCH.fold(ops.OpIAdd, u32, [one, other]) is None
    pair = types.composite(BENCH.module, BENCH.type("u32", 2), [one, undef])
    assert BENCH.fold(ops.OpIAdd, BENCH.type("u32", 2), [pair, pair]) is None
    assert BENCH.fold(ops.OpCompositeExtract, u32, [pair], [1]) is None
    assert BENCH.fold(ops.OpCompositeExtract, u32, [pair], [0]) is one


def test_rounding_mode_rtz_stops_what_rounds() -> None:
    bench = Bench()
    mode = (enums.ExecutionMode_RoundingModeRTZ, 32)
    bench.module.sections[EXECUTION_MODES].append(Inst(ops.OpExecutionMode, None, [], mode))
    one, two = bench.constant("f32", [f32(1)]), bench.constant("i32", [2])
    assert bench.fold(ops.OpFAdd, bench.type("f32"), [one, one]) is None
    assert bench.fold(ops.OpConvertSToF, bench.type("f32"), [two]) is None
    assert bench.fold(ops.OpIAdd, bench.type("i32"), [two, two]) is not None
    assert bench.fold(ops.OpFOrdLessThan, bench.type("b"), [one, one]) is not None


def test_bfloat16_is_not_taken_for_binary16() -> None:
    m = BENCH.module
    brain = types.make(m, ops.OpTypeFloat, None, [], (16, 0))
    value = types.make(m, ops.OpConstant, brain, [], (0x3F80,))
    assert BENCH.fold(ops.OpFAdd, brain, [value, value]) is None
    assert BENCH.fold(ops.OpBitcast, BENCH.type("u16"), [value]) is None


@FAST
@given(st.lists(pattern("f32"), min_size=2, max_size=2), pattern("f64"))
def test_bitcast_between_component_counts(pair: list[int], double: int) -> None:
    plain = not any(is_denormal(32, v) or is_nan(32, v) for v in pair)
    joined = pair[0] | pair[1] << 32
    found = BENCH.fold(ops.OpBitcast, BENCH.type("u64"), [BENCH.constant("f32", pair)])
    assert (found is not None) == plain
    assert found is None or BENCH.lanes(found) == [joined]
    plain = not is_denormal(64, double) and not is_nan(64, double)
    found = BENCH.fold(ops.OpBitcast, BENCH.type("u16", 4), [BENCH.constant("f64", [double])])
    assert (found is not None) == plain
    expect = list(np.array([double], np.uint64).view(np.uint16))
    assert found is None or BENCH.lanes(found) == expect
    same = BENCH.fold(
        G["UnpackDouble2x32"], BENCH.type("u32", 2), [BENCH.constant("f64", [double])]
    )
    assert (same is not None) == plain


def test_moves() -> None:
    b, m = BENCH, BENCH.module
    vec = b.constant("f32", [f32(1), f32(2), f32(3)])
    f, two = b.type("f32"), b.type("f32", 2)
    null = types.null(m, b.type("f32", 3))
    nine = b.constant("f32", [f32(9)])
    lanes = b.lanes
    assert lanes(b.fold(ops.OpCompositeExtract, f, [vec], [1])) == [f32(2)]
    assert lanes(b.fold(ops.OpCompositeExtract, f, [null], [2])) == [0]
    assert lanes(b.fold(ops.OpCompositeInsert, vec.type, [nine, null], [1])) == [0, f32(9), 0]
    assert lanes(b.fold(ops.OpVectorShuffle, two, [vec, null], [4, 2])) == [0, f32(3)]
    assert b.fold(ops.OpVectorShuffle, two, [vec, null], [0xFFFFFFFF, 2]) is None
    pair = b.constant("f32", [f32(4), f32(5)])
    assert lanes(b.fold(ops.OpCompositeConstruct, vec.type, [pair, nine])) == [
        f32(4),
        f32(5),
        f32(9),
    ]
    index, far = b.constant("u32", [2]), b.constant("u32", [3])
    assert lanes(b.fold(ops.OpVectorExtractDynamic, f, [vec, index])) == [f32(3)]
    assert b.fold(ops.OpVectorExtractDynamic, f, [vec, far]) is None
    got = b.fold(ops.OpVectorInsertDynamic, vec.type, [vec, nine, index])
    assert lanes(got) == [f32(1), f32(2), f32(9)]
    yes, mask = b.constant("b", [1]), b.constant("b", [1, 0, 1])
    assert b.fold(ops.OpSelect, vec.type, [yes, vec, null]) is vec
    assert lanes(b.fold(ops.OpSelect, vec.type, [mask, vec, null])) == [f32(1), 0, f32(3)]
    assert b.fold(ops.OpCopyObject, vec.type, [vec]) is vec
    assert lanes(b.fold(ops.OpAny, b.type("b"), [mask])) == [1]
    assert lanes(b.fold(ops.OpAll, b.type("b"), [mask])) == [0]


def test_matrices_move_but_do_not_multiply() -> None:
    b, m = BENCH, BENCH.module
    column, row = b.type("f32", 2), b.type("f32", 3)
    tall = types.make(m, ops.OpTypeMatrix, None, [column], (3,))
    wide = types.make(m, ops.OpTypeMatrix, None, [row], (2,))
    values = [[f32(1), f32(2)], [f32(3), f32(4)], [f32(5), f32(6)]]
    columns = [b.constant("f32", v) for v in values]
    matrix = b.fold(ops.OpCompositeConstruct, tall, columns)
    assert matrix is not None and matrix.args == columns
    turned = b.fold(ops.OpTranspose, wide, [matrix])
    assert turned is not None and turned.type is wide
    assert [b.lanes(c) for c in turned.args] == [list(c) for c in zip(*values)]
    element = b.fold(ops.OpCompositeExtract, b.type("f32"), [matrix], [2, 1])
    assert b.lanes(element) == [f32(6)]
    assert b.fold(ops.OpMatrixTimesScalar, tall, [matrix, element]) is None
    changed = b.fold(ops.OpCompositeInsert, tall, [element, matrix], [0, 0])
    assert b.lanes(changed.args[0]) == [f32(6), f32(2)]


@FAST
@given(pattern("u32"), pattern("u32"))
def test_extended_integer_arithmetic(a: int, c: int) -> None:
    b, m = BENCH, BENCH.module
    u32 = b.type("u32")
    both = types.make(m, ops.OpTypeStruct, None, [u32, u32], ())
    args = [b.constant("u32", [a]), b.constant("u32", [c])]
    x, y = np.uint64(a), np.uint64(c)
    sx, sy = np.int64(np.int32(np.uint32(a))), np.int64(np.int32(np.uint32(c)))
    wide = {
        ops.OpIAddCarry: int(x + y),
        ops.OpISubBorrow: ((a - c) & 0xFFFFFFFF) | (int(a < c) << 32),
        ops.OpUMulExtended: int(x * y),
        ops.OpSMulExtended: int(sx * sy) & (1 << 64) - 1,
    }
    for key, value in wide.items():
        found = b.fold(key, both, args)
        assert [b.lanes(p)[0] for p in found.args] == [value & 0xFFFFFFFF, value >> 32]


def test_dot_only_where_every_order_agrees() -> None:
    b = BENCH
    left = b.constant("f32", [f32(v) for v in (1, 2, 3)])
    right = b.constant("f32", [f32(v) for v in (4, -5, 6)])
    assert b.lanes(b.fold(ops.OpDot, b.type("f32"), [left, right])) == [f32(12)]
    for values in ((0.1, 1, 1), (2.0**23, 2.0**23, 1), (-0.0, 0, 0), (np.inf, 1, 1)):
        other = b.constant("f32", [f32(v) for v in values])
        assert b.fold(ops.OpDot, b.type("f32"), [left, other]) is None, values


@FAST
@given(pattern("u16"), pattern("u16"))
def test_half_packing(low: int, high: int) -> None:
    b = BENCH
    plain = not any(is_denormal(16, h) or is_nan(16, h) for h in (low, high))
    word = b.constant("u32", [low | high << 16])
    pair = b.fold(G["UnpackHalf2x16"], b.type("f32", 2), [word])
    if not plain:
        assert pair is None
        return
    least = any(h & 0x7FFF == 0x0400 for h in (low, high))
    expect = [bits_of(np.float32(real(16, h))) for h in (low, high)]
    assert pair is not None and b.lanes(pair) == expect
    back = b.fold(G["PackHalf2x16"], b.type("u32"), [pair])
    if least or any(h & 0x7FFF == 0x7C00 for h in (low, high)):
        assert back is None
    else:
        assert back is word


def test_normalized_packing() -> None:
    b = BENCH
    quad = b.constant("f32", [f32(v) for v in (0.0, 1.0, 0.25, 7.0)])
    assert b.lanes(b.fold(G["PackUnorm4x8"], b.type("u32"), [quad])) == [0xFF40FF00]
    snorm = b.constant("f32", [f32(v) for v in (-1.0, 1.0, -3.0, 0.0)])
    assert b.lanes(b.fold(G["PackSnorm4x8"], b.type("u32"), [snorm])) == [0x00817F81]
    pair = b.constant("f32", [f32(1.0), f32(0.0)])
    assert b.lanes(b.fold(G["PackUnorm2x16"], b.type("u32"), [pair])) == [0x0000FFFF]
    half = b.constant("f32", [f32(v) for v in (0.5, 0.0, 0.0, 0.0)])  # 127.5
    assert b.fold(G["PackUnorm4x8"], b.type("u32"), [half]) is None
    exact = b.constant("f32", [f32(0.1), f32(0.0)])  # no half holds 0.1
    assert b.fold(G["PackHalf2x16"], b.type("u32"), [exact]) is None
