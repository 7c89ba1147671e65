"""Legality checks of the small passes that no other test needs (scripts/mutants found them)."""

from __future__ import annotations

import pytest

from spvlink.binary.encode import encode
from spvlink.grammar import ops
from spvlink.link.border.link import may_be_one
from spvlink.passes.cleaning import attributes
from spvlink.validate import validate_all
from tests.support.case_loading import load

# --- attributes: one load of the whole where components are read ---

VERTEX = """\
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %a %b %array %o
OpDecorate %a Location 0
OpDecorate %b Location 10
OpDecorate %array Location 1
OpDecorate %o Location 0
{note}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%int = OpTypeInt 32 1
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%int_9 = OpConstant %int 9
%minus = OpConstant %int -1
%float = OpTypeFloat 32
%float_1 = OpConstant %float 1
%v4float = OpTypeVector %float 4
%floats = OpTypeArray %v4float %int_9
%in_float = OpTypePointer Input %float
%in_vector = OpTypePointer Input %v4float
%in_array = OpTypePointer Input %floats
%out_float = OpTypePointer Output %float
%out_vector = OpTypePointer Output %v4float
%local_float = OpTypePointer Function %float
%local_vector = OpTypePointer Function %v4float
%a = OpVariable %in_vector Input
%b = OpVariable %in_vector Input
%array = OpVariable %in_array Input
%o = OpVariable %out_vector Output
%main = OpFunction %void None %1
%first = OpLabel
%local = OpVariable %local_vector Function
{body}
OpReturn
OpFunctionEnd
"""
WHOLE = "%w = OpLoad %v4float %a\nOpStore %o %w\n"
COMPONENT = "%p = OpAccessChain %in_float %a {}\n%x = OpLoad %float %p{}\n"
READS = {  # body -> loads of the attribute as a whole
    "one component": (COMPONENT.format("%int_1", ""), 0),
    "component and whole": (WHOLE + COMPONENT.format("%int_1", ""), 2),
    "last index": (WHOLE + COMPONENT.format("%int_0", ""), 2),
    "index out of bounds": (WHOLE + COMPONENT.format("%int_9", ""), 1),
    "index below zero": (WHOLE + COMPONENT.format("%minus", ""), 1),
    "volatile": (WHOLE + COMPONENT.format("%int_1", " Volatile"), 1),
    "half precision": (WHOLE + COMPONENT.format("%int_1", "").replace("%x", "%half"), 1),
    "another attribute": (
        WHOLE + COMPONENT.format("%int_1", "") + "%q = OpAccessChain %in_float %b %int_1\n"
        "%y = OpLoad %float %q\n", 2,
    ),
    "no index": (
        WHOLE + COMPONENT.format("%int_1", "") + "%q = OpAccessChain %in_vector %a\n"
        "%y = OpLoad %v4float %q\n", 2,
    ),
    "two elements of an array": (
        WHOLE + COMPONENT.format("%int_1", "") + "%e = OpAccessChain %in_vector %array %int_1\n"
        "%y = OpLoad %v4float %e\n%z = OpLoad %v4float %e\n", 2,
    ),
    "element of an array": (
        WHOLE + "%p = OpAccessChain %in_float %array %int_1 %int_1\n%x = OpLoad %float %p\n"
        "%y = OpLoad %float %p\n", 1,
    ),
    "component of an element": (
        WHOLE + "%e = OpAccessChain %in_vector %array %int_1\n"
        "%p = OpAccessChain %in_float %e %int_1\n%x = OpLoad %float %p\n"
        "%y = OpLoad %float %p\n", 1,
    ),
    "a variable that changes": (
        WHOLE + "%c = OpAccessChain %in_float %a %int_0\n"
        "%q = OpAccessChain %local_float %local %int_1\nOpStore %q %float_1\n"
        "%x = OpLoad %float %q\nOpStore %q %x\n%y = OpLoad %float %q\n%z = OpLoad %float %c\n", 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_components_of_attributes(name: str) -> None:
    body, aggregates = READS[name]
    note = "OpDecorate %half RelaxedPrecision" if "%half" in body else ""
    module = load(VERTEX.format(body=body, note=note))
    attributes.read_attributes_once(module)
    assert module.entry is not None
    a, *others = module.entry.inst.args[1:]
    insts = [i for b in module.functions[0].blocks for i in b.insts]
    loaded = [i.args[0] for i in insts if i.op == ops.OpLoad]
    assert loaded.count(a) == aggregates
    local = next(i for i in insts if i.op == ops.OpVariable)
    assert not {local, *others}.intersection(loaded)
    assert validate_all([encode(module)], "vulkan1.0") == [None]


# --- the border: which indices may be of one vertex ---

INDICES = """\
OpCapability Shader
OpCapability Int16
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %spec SpecId 0
%void = OpTypeVoid
%1 = OpTypeFunction %void
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%short = OpTypeInt 16 0
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%uint_1 = OpConstant %uint 1
%most = OpConstant %uint 0xffffffff
%half = OpConstant %short 0x8000
%spec = OpSpecConstant %uint 1
%ptr = OpTypePointer Private %uint
%ptr_short = OpTypePointer Private %short
%ptr_int = OpTypePointer Private %int
%n = OpVariable %ptr Private
%m = OpVariable %ptr_int Private
%h = OpVariable %ptr_short Private
%main = OpFunction %void None %1
%first = OpLabel
%i = OpLoad %uint %n
%j = OpLoad %uint %n
%s = OpLoad %short %h
{body}
OpReturn
OpFunctionEnd
"""
SUM = "%a{0} = OpIAdd %uint %{1} %{2}\n"
PAIRS = {  # body, two indices -> whether they may be equal
    ("", "i", "j"): True,
    ("", "int_0", "int_1"): False,
    ("", "int_1", "uint_1"): True,
    ("", "i", "uint_1"): True,
    ("", "spec", "uint_1"): True,
    (SUM.format(0, "i", "uint_1"), "i", "a0"): False,
    (SUM.format(0, "j", "uint_1"), "i", "a0"): True,
    (SUM.format(0, "i", "j"), "i", "a0"): True,
    (SUM.format(0, "i", "uint_1") + SUM.format(1, "int_1", "i"), "a0", "a1"): True,
    (SUM.format(0, "i", "uint_1") + SUM.format(1, "most", "a0"), "i", "a1"): True,
    ("%a0 = OpISub %uint %i %uint_1\n", "i", "a0"): True,
    ("%t0 = OpIAdd %short %s %half\n%t1 = OpIAdd %short %t0 %half\n", "s", "t1"): True,
}


@pytest.mark.parametrize(("body", "one", "other"), PAIRS)
def test_indices_of_one_vertex(body: str, one: str, other: str) -> None:
    stores = "".join(f"OpStore %{kind(name)} %{name}\n" for name in (one, other))
    module = load(INDICES.format(body=body + stores))
    first, second = (i.args[1] for i in module.functions[0].blocks[0].insts[-3:-1])
    for pair in ((first, second), (second, first)):
        assert may_be_one(pair[:1], pair[1:]) == PAIRS[body, one, other]


def kind(name: str) -> str:
    """A variable of the type of an index."""
    return {"s": "h", "t1": "h", "int_0": "m", "int_1": "m"}.get(name, "n")
