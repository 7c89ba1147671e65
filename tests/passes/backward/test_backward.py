"""What ``backward`` says of the values that cross, in code that no front end writes like this
(scripts/mutants found that no other test has it)."""

from __future__ import annotations

import pytest

from spvlink.grammar import glsl, ops
from spvlink.ir.core import LOAD_INPUT
from spvlink.options import Options
from tests.cases import passes
from tests.cases.slots import site_of
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main"
{notes}
%void = OpTypeVoid
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%1 = OpTypeFunction %void
%main = OpFunction %void None %1
%2 = OpLabel
%a = LOAD_INPUT %int 0
%b = LOAD_INPUT %int 2
{body}
OpReturn
OpFunctionEnd
"""
STORES = "STORE_OUTPUT %a 0\nSTORE_OUTPUT %b 2"
SUMS = "%s = OpIAdd %int %a %b\nSTORE_OUTPUT %s 0\n%t = OpIAdd %int %a %b\nSTORE_OUTPUT %t 2"
RELAXED = "OpDecorate %{} RelaxedPrecision"


@pytest.mark.parametrize(("names", "relaxed"), [("st", True), ("s", False), ("t", False)])
def test_a_value_that_is_wanted_whole_somewhere_is_not_relaxed(names: str, relaxed: bool) -> None:
    notes = "\n".join(RELAXED.format(name) for name in names)
    vert = HEAD.format(model="Vertex", notes="", body=STORES)
    mode = "OpExecutionMode %main OriginUpperLeft\n"
    frag = HEAD.format(model="Fragment", notes=mode + notes, body=SUMS)
    site = site_of(
        [load(vert), load(frag)], ["0.x i32 a Flat", "0.y i32 b Flat"], Options(clean=True)
    )
    assert any("moved-backward" in line for line in passes.backward(site))
    insts = site.link.consumer.module.functions[0].blocks[0].insts
    (key,) = {i.imm[0] for i in insts if i.op == LOAD_INPUT}
    assert site.link.inputs.slots[key].relaxed == relaxed
    assert site.link.outputs.slots[key].relaxed == relaxed


NAMES = {ops.OpIAdd: "add", ops.OpIMul: "mul", ops.OpConvertSToF: "float"}
MADE = {  # what the consumer does -> what the producer makes
    "what nothing uses": (
        """%s = OpIAdd %int %a %b
STORE_OUTPUT %s 0
%n = OpIMul %int %s %s
%m = OpIMul %int %s %s""",
        ["add"],
    ),
    "what there is no component for": (  # no float stands beside the integer b
        """%c = LOAD_INPUT %int 4
%f = OpConvertSToF %float %a
STORE_OUTPUT %f 0
STORE_OUTPUT %b 2
%m = OpIMul %int %c %c
STORE_OUTPUT %m 4""",
        ["mul"],
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_what_the_producer_makes(name: str) -> None:
    body, made = MADE[name]
    vert = HEAD.format(model="Vertex", notes="", body=f"{STORES}\nSTORE_OUTPUT %a 4")
    frag = HEAD.format(model="Fragment", notes="OpExecutionMode %main OriginUpperLeft\n", body=body)
    lines = ["0.x i32 a Flat", "0.y i32 b Flat", "0.z i32 c Flat"]
    site = site_of([load(vert), load(frag)], lines, Options(clean=True))
    passes.backward(site)
    insts = site.link.producer.module.functions[0].blocks[0].insts
    assert [NAMES[i.op] for i in insts if i.op in NAMES] == made


def test_what_is_read_in_a_way_that_stays_crosses() -> None:
    """It is clear that no input can go before all uses of them are seen."""
    head = HEAD.replace("%a = LOAD_INPUT %int 0\n%b = LOAD_INPUT %int 2\n", "")
    load_a = "%a = LOAD_INPUT %float 0\n"
    vert = head.format(model="Vertex", notes="", body=f"{load_a}STORE_OUTPUT %a 0")
    body = f"""{load_a}%s = OpFMul %float %a %a
STORE_OUTPUT %s 0
%c = INTERPOLATE %float 0 {glsl.Glsl_InterpolateAtCentroid}
STORE_OUTPUT %c 2
%d = OpFMul %float %s %s
STORE_OUTPUT %d 4"""
    frag = head.format(model="Fragment", notes="OpExecutionMode %main OriginUpperLeft", body=body)
    site = site_of([load(vert), load(frag)], ["0.x f32 a Flat"], Options(clean=True))
    assert passes.backward(site) == []


def test_what_nothing_stores_does_not_move() -> None:
    vert = HEAD.format(model="Vertex", notes="", body="STORE_OUTPUT %b 2")
    frag = HEAD.format(model="Fragment", notes="OpExecutionMode %main OriginUpperLeft", body=SUMS)
    site = site_of(
        [load(vert), load(frag)], ["0.x i32 a Flat", "0.y i32 b Flat"], Options(clean=True)
    )
    assert passes.backward(site) == []
