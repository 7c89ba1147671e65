"""Which values depend on the last bit of an operand: ``sensitive`` asked directly about single
instructions (scripts/mutants found that no other test has these)."""

from __future__ import annotations

import pytest

from spvlink.facts.numbers import number_of
from spvlink.grammar import ops
from spvlink.ir.core import LOAD_INPUT, Inst
from spvlink.link.rounding import sensitive
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %in_x %in_v %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %in_x Location 0
OpDecorate %in_v Location 1
OpDecorate %o Location 0
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%vec = OpTypeVector %float 2
%mat = OpTypeMatrix %vec 2
%ptr = OpTypePointer Input %float
%ptr_vec = OpTypePointer Input %vec
%out = OpTypePointer Output %float
%one = OpConstant %float 1
%near = OpConstant %float 1.00001
%much = OpConstant %float 100000
%less = OpConstant %float -100000
%little = OpConstant %float 0.00001
%both = OpConstantComposite %vec %one %much
%edges = OpConstantComposite %vec %one %one
%beside = OpConstantComposite %vec %much %near
%nought = OpConstantNull %vec
%corner = OpConstantComposite %mat %nought %both
%even = OpConstantComposite %mat %edges %edges
%in_x = OpVariable %ptr Input
%in_v = OpVariable %ptr_vec Input
%o = OpVariable %out Output
%main = OpFunction %void None %1
%first = OpLabel
%x = OpLoad %float %in_x
%v = OpLoad %vec %in_v
{body}
OpReturn
OpFunctionEnd
"""
GLSL = "%r = OpExtInst %{} %glsl {} {}"
STEEP = {  # instruction -> the lanes of x and v that it makes a step of
    "%r = OpFMul %float %x %much": {"x0"},
    "%r = OpFMul %float %less %x": {"x0"},
    "%r = OpFMul %float %x %one": set(),
    "%r = OpFMul %float %x %x": set(),
    "%r = OpFMul %vec %v %both": {"v1"},
    "%r = OpFMul %vec %both %v": {"v1"},
    "%r = OpVectorTimesScalar %vec %v %much": {"v0", "v1"},
    "%r = OpVectorTimesScalar %vec %both %x": {"x0"},
    "%r = OpDot %float %v %both": {"v1"},
    "%r = OpMatrixTimesVector %vec %corner %v": {"v0", "v1"},
    "%r = OpVectorTimesMatrix %vec %v %corner": {"v0", "v1"},
    "%r = OpMatrixTimesScalar %mat %corner %x": {"x0"},
    "%r = OpOuterProduct %mat %v %both": {"v0", "v1"},
    "%r = OpMatrixTimesVector %vec %even %v": set(),
    "%r = OpMatrixTimesScalar %mat %even %x": set(),
    "%r = OpFDiv %float %x %little": {"x0"},
    "%r = OpFDiv %float %x %much": set(),
    "%r = OpFDiv %float %much %x": set(),
    "%r = OpFAdd %float %x %much": set(),
    GLSL.format("float", "Fma", "%x %much %one"): {"x0"},
    GLSL.format("float", "Fma", "%one %one %x"): set(),
    GLSL.format("float", "FMax", "%x %much"): set(),
    GLSL.format("float", "SmoothStep", "%one %near %x"): {"x0"},
    GLSL.format("float", "SmoothStep", "%one %much %x"): set(),
    GLSL.format("float", "SmoothStep", "%much %x %one"): set(),
    GLSL.format("vec", "SmoothStep", "%edges %beside %v"): {"v1"},
}
JUMPS = {
    "%r = OpFOrdLessThan %bool %x %one": (True, True),
    "%r = OpFAdd %float %x %one": (False, False),
    "%r = OpFMul %float %x %one": (False, True),
    "%r = OpDPdx %float %x": (False, False),
    GLSL.format("float", "Floor", "%x"): (True, True),
    GLSL.format("float", "Sin", "%x"): (False, True),
    "OpStore %o %x": (False, True),
    "OpCopyMemory %o %in_x": (False, True),
}  # whether its result jumps; whether something may depend on an operand


def inst_of(text: str) -> tuple[Inst, list[Inst]]:
    insts = load(HEAD.replace("{body}", text)).functions[0].blocks[0].insts
    return insts[-2], insts[:2]


@pytest.mark.parametrize("text", STEEP)
def test_steps_that_a_factor_makes(text: str) -> None:
    inst, (x, v) = inst_of(text)
    names = {x: "x", v: "v"}
    assert {f"{names[of]}{lane}" for of, lane in sensitive.steep(inst)} == STEEP[text]


@pytest.mark.parametrize("text", JUMPS)
def test_what_jumps(text: str) -> None:
    inst, _ = inst_of(text)
    assert (sensitive.jumps(inst), sensitive.ends(inst)) == JUMPS[text]


CHOSEN = """%i = OpCompositeInsert %vec %one %v 0
%j = OpCompositeInsert %vec %near %i 1
%p = OpCompositeExtract %float %j 0
%q = OpCompositeExtract %float %j 1
OpBranch %loop
%loop = OpLabel
%r = OpPhi %float {} %first %r %next
OpLoopMerge %end %next None
OpBranch %next
%next = OpLabel
OpBranchConditional %no %loop %end
%end = OpLabel
"""


@pytest.mark.parametrize(("first", "wanted"), [("%p", 1.0), ("%q", 1.00001)])
def test_what_a_value_may_be(first: str, wanted: float) -> None:
    """Seen through the phi of a loop and inserts."""
    body = CHOSEN.format(first)
    head = HEAD.replace("%one = ", "%no = OpConstantFalse %bool\n%one = ")
    module = load(head.replace("{body}", body))
    (phi,) = (i for b in module.functions[0].blocks for i in b.insts if i.op == ops.OpPhi)
    assert [number_of(*lane) for lane in sensitive.choices({phi})] == [pytest.approx(wanted)]


def test_a_load_is_no_end() -> None:
    load_input = Inst(LOAD_INPUT, None, [], (0,))
    assert not sensitive.jumps(load_input) and not sensitive.ends(load_input)


def test_of_what_is_not_known_all_may_hang() -> None:
    unknown = Inst(4999, None, [], ())
    assert sensitive.jumps(unknown) and sensitive.ends(unknown)


@pytest.mark.parametrize("op", [ops.OpAtomicFAddEXT, ops.OpAtomicExchange])
def test_atomics_end(op: int) -> None:
    assert sensitive.ends(Inst(op, None, [], ()))
