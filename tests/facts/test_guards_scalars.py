"""What each lane is made of, and what is linear (scripts/mutants found that no other test has
these)."""

from __future__ import annotations

import pytest

from spvlink.facts import scalars
from spvlink.grammar import glsl, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module

MODULE = Module()
FLOAT = types.floating(MODULE, 32)
BOOL = types.boolean(MODULE)
VEC = {n: types.vector(MODULE, FLOAT, n) for n in (1, 2, 3, 4)}
NAMES = "abc"


def matrix(columns: int, rows: int) -> Inst:
    return Inst(ops.OpTypeMatrix, None, [VEC[rows]], (columns,), MODULE.new_id())


def made(op: int, type: Inst, *operands: Inst, imm: tuple[int, ...] = ()) -> Inst:
    """An operation on values of these types."""
    args = [Inst(ops.OpLoad, t, [], (), MODULE.new_id()) for t in operands]
    if op == ops.OpExtInst:
        args.insert(0, Inst(ops.OpExtInstImport, None, [], (), MODULE.new_id()))
    return Inst(op, type, args, imm, MODULE.new_id())


def lanes_of(inst: Inst, lane: int, by_lane: bool = False) -> str:
    """``a0 a1, b2``: lanes of the first operand, and one of the second."""
    named = dict(zip(scalars.operands(inst), NAMES))
    groups = scalars.made_of(inst, lane, by_lane)
    return ", ".join(" ".join(f"{named[of]}{n}" for of, n in group) for group in groups)


M23 = matrix(2, 3)  # two columns of three rows
MADE_OF: list[tuple[Inst, int, str]] = [
    (made(ops.OpVectorTimesScalar, VEC[3], VEC[3], FLOAT), 2, "a2, b0"),
    (made(ops.OpMatrixTimesScalar, M23, M23, FLOAT), 4, "a4, b0"),
    (made(ops.OpOuterProduct, M23, VEC[3], VEC[2]), 4, "a1, b1"),
    (made(ops.OpMatrixTimesVector, VEC[3], M23, VEC[2]), 1, "a1 a4, b0 b1"),
    (made(ops.OpVectorTimesMatrix, VEC[2], VEC[3], M23), 1, "a0 a1 a2, b3 b4 b5"),
    (made(ops.OpMatrixTimesMatrix, matrix(4, 3), M23, matrix(4, 2)), 4, "a1 a4, b2 b3"),
    (made(ops.OpDot, FLOAT, VEC[2], VEC[2]), 0, "a0 a1, b0 b1"),
]


@pytest.mark.parametrize(("inst", "lane", "wanted"), MADE_OF)
def test_what_a_lane_is_made_of(inst: Inst, lane: int, wanted: str) -> None:
    assert lanes_of(inst, lane) == wanted


STRUCT = Inst(ops.OpTypeStruct, None, [FLOAT, FLOAT], (), MODULE.new_id())
MOVES = [
    made(ops.OpCompositeConstruct, VEC[4], FLOAT, VEC[2], FLOAT),
    made(ops.OpCompositeConstruct, M23, VEC[3], VEC[3]),
    made(ops.OpCompositeConstruct, STRUCT, FLOAT, FLOAT),  # no lanes
    made(ops.OpCompositeConstruct, VEC[2], STRUCT),
    made(ops.OpCompositeExtract, FLOAT, VEC[3], imm=(2,)),
    made(ops.OpCompositeExtract, VEC[3], M23, imm=(1,)),
    made(ops.OpCompositeExtract, FLOAT, M23, imm=(1, 2)),
    made(ops.OpCompositeExtract, FLOAT, STRUCT, imm=(1,)),
    made(ops.OpVectorShuffle, VEC[4], VEC[3], VEC[2], imm=(4, 0, 0xFFFFFFFF, 2)),
    made(ops.OpTranspose, matrix(3, 2), M23),
    made(ops.OpCopyObject, VEC[2], VEC[2]),
    made(ops.OpCopyObject, STRUCT, STRUCT),
]


@pytest.mark.parametrize("inst", MOVES, ids=lambda i: ops.NAMES[i.op])
def test_one_lane_comes_from_where_all_of_them_say(inst: Inst) -> None:
    wanted: list[scalars.Lane | None] = list(scalars.moved(inst) or [None])
    assert [scalars.moved_lane(inst, lane) for lane in range(len(wanted))] == wanted


def test_a_vector_of_more_lanes_than_a_mark_has_bits_has_none() -> None:
    sizes = types.MOST_LANES, types.MOST_LANES + 1
    found = [Inst(ops.OpTypeVector, None, [FLOAT], (n,), MODULE.new_id()) for n in sizes]
    assert [types.lanes_of(t) for t in found] == [types.MOST_LANES, 0]


def test_a_scalar_beside_vectors_is_the_same_for_all_lanes() -> None:
    choice = made(ops.OpSelect, VEC[3], BOOL, VEC[3], VEC[3])
    assert lanes_of(choice, 2, True) == "a0, b2, c2"


CROSS = made(ops.OpExtInst, VEC[3], VEC[3], VEC[3], imm=(glsl.Glsl_Cross,))
SPLITS: list[tuple[Inst, int, bool, bool]] = [  # facts, whether lanewise, whether it splits
    (made(ops.OpFAdd, VEC[3], VEC[3], VEC[3]), info.FLAGS[ops.OpFAdd], True, True),
    (made(ops.OpSelect, VEC[3], BOOL, VEC[3], VEC[3]), info.FLAGS[ops.OpSelect], True, True),
    (CROSS, info.GLSL_FLAGS[glsl.Glsl_Cross], False, False),
    (made(ops.OpVectorTimesScalar, VEC[3], VEC[3], FLOAT), 0, False, True),
    (made(ops.OpDot, FLOAT, VEC[2], VEC[2]), 0, False, True),
    (made(ops.OpMatrixTimesVector, VEC[3], M23, VEC[2]), 0, False, False),
]


@pytest.mark.parametrize(("inst", "flags", "lanewise", "splits"), SPLITS)
def test_what_goes_lane_by_lane(inst: Inst, flags: int, lanewise: bool, splits: bool) -> None:
    assert (scalars.lanewise(inst, flags), scalars.splits(inst, flags)) == (lanewise, splits)


def test_a_lane_that_may_be_anything() -> None:
    shuffle = made(ops.OpVectorShuffle, VEC[2], VEC[2], VEC[2], imm=(3, 0xFFFFFFFF))
    a, b = shuffle.args
    moved = scalars.moved(shuffle)
    assert moved is not None and moved[0] == (b, 1) and moved[1][0] in (a, b)


def ext(number: int) -> Inst:
    return made(ops.OpExtInst, FLOAT, FLOAT, FLOAT, FLOAT, imm=(number,))


def plain(op: int) -> Inst:
    return made(op, FLOAT, FLOAT, FLOAT, FLOAT)


NO, YES = False, True
LINEAR: list[tuple[Inst, list[bool], bool, bool]] = [  # what varies; if affine; if not
    (plain(ops.OpFAdd), [YES, YES], True, True),
    (plain(ops.OpFAdd), [YES, NO], True, False),
    (plain(ops.OpFMul), [YES, NO], True, True),
    (plain(ops.OpFMul), [YES, YES], False, False),
    (plain(ops.OpFDiv), [YES, NO], True, True),
    (plain(ops.OpFDiv), [NO, YES], False, False),
    (plain(ops.OpSelect), [NO, YES, YES], True, True),
    (plain(ops.OpSelect), [NO, YES, NO], True, False),
    (plain(ops.OpSelect), [YES, NO, NO], False, False),
    (plain(ops.OpSelect), [YES, YES, YES], False, False),
    (plain(ops.OpFmaKHR), [YES, NO, YES], True, True),
    (plain(ops.OpFmaKHR), [YES, NO, NO], True, False),
    (plain(ops.OpFmaKHR), [YES, YES, NO], False, False),
    (plain(ops.OpFmaKHR), [NO, NO, YES], True, False),
    (ext(glsl.Glsl_Fma), [NO, YES, YES], True, True),
    (ext(glsl.Glsl_Fma), [YES, YES, YES], False, False),
    (ext(glsl.Glsl_FMix), [YES, YES, NO], True, True),
    (ext(glsl.Glsl_FMix), [YES, NO, NO], True, False),
    (ext(glsl.Glsl_FMix), [NO, NO, YES], True, False),
    (ext(glsl.Glsl_FMix), [YES, NO, YES], False, False),
    (ext(glsl.Glsl_Cross), [YES, NO], True, True),
    (ext(glsl.Glsl_Cross), [YES, YES], False, False),
]


@pytest.mark.parametrize(("inst", "varies", "affine", "plainly"), LINEAR)
def test_what_is_linear(inst: Inst, varies: list[bool], affine: bool, plainly: bool) -> None:
    assert scalars.may_be_linear(inst)
    assert scalars.linear(inst, varies) == affine
    assert scalars.linear(inst, varies, False) == plainly


@pytest.mark.parametrize("inst", [ext(glsl.Glsl_FMin), plain(ops.OpFMod)])
def test_what_is_never_linear(inst: Inst) -> None:
    assert not scalars.may_be_linear(inst)
    assert not scalars.linear(inst, [True, False, False])
