"""Legality checks of the small passes that no other test needs (scripts/mutants found them)."""

from __future__ import annotations

import pytest

from spvlink.binary.encode import encode
from spvlink.grammar import ops
from spvlink.passes import attributes
from spvlink.validate import validate_all
from tests.test_cases import load

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
        WHOLE + COMPONENT.format("%int_1", "")
        + COMPONENT.format("%int_1", "").replace("%a", "%b").replace("%x", "%y").replace("%p", "%q"),
        2,
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
    body, wholes = READS[name]
    note = "OpDecorate %half RelaxedPrecision" if "%half" in body else ""
    module = load(VERTEX.format(body=body, note=note))
    attributes.run(module)
    assert module.entry is not None
    a, *others = module.entry.inst.args[1:]
    insts = [i for b in module.functions[0].blocks for i in b.insts]
    loaded = [i.args[0] for i in insts if i.op == ops.OpLoad]
    assert loaded.count(a) == wholes
    local = next(i for i in insts if i.op == ops.OpVariable)
    assert not {local, *others}.intersection(loaded)
    assert validate_all([encode(module)], "vulkan1.0") == [None]
