"""What is not folded, and edges of what is (scripts/mutants found that no other test has these)."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import EXECUTION_MODES, Inst
from tests.support.fold_bench import Bench, f32

HALF, ONE, TWO, INFINITY, NAN, DENORMAL = map(f32, (0.5, 1, 2, float("inf"), float("nan"), 1e-40))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def index(bench: Bench, value: int) -> Inst:
    return bench.constant("i32", [value & 0xFFFFFFFF])


@pytest.mark.parametrize("at", [2, 7, -1])
def test_what_is_outside_of_a_vector(bench: Bench, at: int) -> None:
    vector, part = bench.constant("u32", [5, 6]), bench.constant("u32", [7])
    extract = bench.fold(ops.OpVectorExtractDynamic, bench.type("u32"), [vector, index(bench, at)])
    insert = bench.fold(
        ops.OpVectorInsertDynamic, bench.type("u32", 2), [vector, part, index(bench, at)]
    )
    assert extract is insert is None


@pytest.mark.parametrize("op", [ops.OpUndef, ops.OpSpecConstant, ops.OpLoad])
def test_what_is_no_constant_is_not_made_a_part_of_one(bench: Bench, op: int) -> None:
    type = bench.type("u32", 2)
    part = Inst(op, bench.type("u32"), [], (), bench.module.new_id())
    args = [part, bench.constant("u32", [5, 6])]
    assert bench.fold(ops.OpCompositeInsert, type, args, [1]) is None


@pytest.mark.parametrize(("size", "folded"), [(64, True), (65, False)])
def test_large_arrays_are_not_spelled_out(bench: Bench, size: int, folded: bool) -> None:
    type = Inst(
        ops.OpTypeArray, None, [bench.type("u32"), bench.constant("u32", [size])], (),
        bench.module.new_id(),
    )  # fmt: skip
    args = [bench.constant("u32", [7]), types.null(bench.module, type)]
    found = bench.fold(ops.OpCompositeInsert, type, args, [1])
    assert (found is not None) == folded


def test_an_insert_without_a_path_is_the_object(bench: Bench) -> None:
    whole, other = bench.constant("u32", [7, 8]), bench.constant("u32", [5, 6])
    assert bench.fold(ops.OpCompositeInsert, bench.type("u32", 2), [whole, other], []) is whole


def test_what_is_no_composite_is_not_constructed(bench: Bench) -> None:
    matrix = Inst(ops.OpTypeCooperativeMatrixKHR, None, [], (), bench.module.new_id())
    assert bench.fold(ops.OpCompositeConstruct, matrix, [bench.constant("u32", [7])]) is None


@pytest.mark.parametrize("condition", [0, 1])
def test_a_choice(bench: Bench, condition: int) -> None:
    ways = [bench.constant("u32", [5, 6]), bench.constant("u32", [7, 8])]
    args = [bench.constant("b", [condition]), *ways]
    assert bench.fold(ops.OpSelect, bench.type("u32", 2), args) is ways[1 - condition]


@pytest.mark.parametrize(("bits", "folded"), [(ONE, True), (NAN, False), (DENORMAL, False)])
def test_bits_that_a_float_may_lose(bench: Bench, bits: int, folded: bool) -> None:
    found = bench.fold(ops.OpBitcast, bench.type("f32"), [bench.constant("u32", [bits])])
    assert (found is not None) == folded


def test_an_address_is_no_constant(bench: Bench) -> None:
    pointer = Inst(
        ops.OpTypePointer, None, [bench.type("u32")],
        (enums.StorageClass_PhysicalStorageBuffer,), bench.module.new_id(),
    )  # fmt: skip
    assert bench.fold(ops.OpBitcast, pointer, [bench.constant("u32", [0, 1])]) is None


@pytest.mark.parametrize(
    ("number", "count"), [(glsl.Glsl_PackHalf2x16, 2), (glsl.Glsl_PackUnorm4x8, 4)]
)
def test_only_numbers_are_packed(bench: Bench, number: int, count: int) -> None:
    folded = [
        bench.fold(-number, bench.type("u32"), [bench.constant("f32", [bits] * count)]) is not None
        for bits in (ONE, INFINITY, NAN)
    ]
    assert folded == [True, False, False]


def dot(bench: Bench, left: list[int], right: list[int], width: str = "f32") -> Inst | None:
    args = [bench.constant(width, left), bench.constant(width, right)]
    return bench.fold(ops.OpDot, bench.type(width), args)


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ([ONE, TWO], [TWO, TWO], f32(6)),
        ([HALF, TWO], [TWO, TWO], None),
        ([TWO, TWO], [HALF, TWO], None),
    ],
)
def test_dot_of_whole_numbers(
    bench: Bench, left: list[int], right: list[int], wanted: int | None
) -> None:
    found = dot(bench, left, right)
    assert (None if found is None else bench.lanes(found)) == (None if wanted is None else [wanted])


def test_dot_is_exact_however_it_is_rounded(bench: Bench) -> None:
    mode = Inst(
        ops.OpExecutionMode, None, [bench.set], (enums.ExecutionMode_RoundingModeRTZ, 32)
    )  # fmt: skip
    bench.module.sections[EXECUTION_MODES].append(mode)
    assert dot(bench, [ONE, TWO], [TWO, TWO]) is not None


def test_dot_of_other_floats(bench: Bench) -> None:
    """A bfloat16 has 16 bits, and other ones."""
    module = bench.module
    scalar = Inst(ops.OpTypeFloat, None, [], (16, 0), module.new_id())
    one = Inst(ops.OpConstant, scalar, [], (0x4000,), module.new_id())
    vector = types.vector(module, scalar, 2)
    both = Inst(ops.OpConstantComposite, vector, [one, one], (), module.new_id())
    assert bench.fold(ops.OpDot, scalar, [both, both]) is None


@pytest.mark.parametrize(("kind", "folded"), [("i32", True), ("i16", False), ("i64", False)])
def test_an_exponent_has_32_bits(bench: Bench, kind: str, folded: bool) -> None:
    args = [bench.constant("f32", [ONE]), bench.constant(kind, [1])]
    assert (bench.fold(-glsl.Glsl_Ldexp, bench.type("f32"), args) is not None) == folded
