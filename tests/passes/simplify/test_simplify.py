"""Values that look alike and are not: what ``simplify`` must not take for one (scripts/mutants
found that no other test has these)."""

from __future__ import annotations

import pytest

from spvlink.binary.encode import encode
from spvlink.grammar import ops
from spvlink.ir.check import check
from spvlink.ir.core import Inst
from spvlink.passes.cleaning import simplify
from spvlink.validate import validate_all
from tests.support.case_loading import load

LOOP = """\
OpCapability Shader
OpCapability Int16
OpCapability ShaderNonUniform
OpExtension "SPV_EXT_descriptor_indexing"
OpExtension "SPV_AMD_shader_trinary_minmax"
OpExtension "SPV_KHR_storage_buffer_storage_class"
%amd = OpExtInstImport "SPV_AMD_shader_trinary_minmax"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %x %n %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %x Location 0
OpDecorate %n Location 1
OpDecorate %n Flat
OpDecorate %o Location 0
OpDecorate %s DescriptorSet 0
OpDecorate %s Binding 0
OpDecorate %S Block
OpMemberDecorate %S 0 Offset 0
{notes}
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%short = OpTypeInt 16 1
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%in = OpTypePointer Input %float
%in_int = OpTypePointer Input %int
%out = OpTypePointer Output %vec2
%S = OpTypeStruct %int
%buffer = OpTypePointer StorageBuffer %S
%member = OpTypePointer StorageBuffer %int
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%float_0 = OpConstant %float 0
%float_1 = OpConstant %float 1
%float_2 = OpConstant %float 2
%x = OpVariable %in Input
%n = OpVariable %in_int Input
%o = OpVariable %out Output
%s = OpVariable %buffer StorageBuffer
%main = OpFunction %void None %f
%first = OpLabel
%v = OpLoad %float %x
%last = OpLoad %int %n
%p = OpAccessChain %member %s %int_0
OpBranch %loop
%loop = OpLabel
%i = OpPhi %int %int_0 %first %i2 %next
%a = OpPhi %float {a}
%b = OpPhi %float {b}
OpLoopMerge %end %next None
OpBranch %body
%body = OpLabel
{body}
%c = OpSLessThan %bool %i %last
OpBranchConditional %c %next %end
%next = OpLabel
{next}
%i2 = OpIAdd %int %i %int_1
OpBranch %loop
%end = OpLabel
%r = OpCompositeConstruct %vec2 %a %b
OpStore %o %r
OpReturn
OpFunctionEnd
"""
BOTH = {"a": "%v %first %a2 %next", "b": "%v %first %b2 %next", "body": "", "next": "", "notes": ""}
ADD = "%a2 = OpFAdd %float %a %float_1\n"
CONVERTED = """%a1 = OpConvertFToS {} %a
%b1 = OpConvertFToS %int %b
%a2 = OpConvertSToF %float %a1
%b2 = OpConvertSToF %float %b1"""
COUNTED = """%ta = OpAtomicIAdd %int %p %int_1 %int_0 %int_1
%tb = OpAtomicIAdd %int %p %int_1 %int_0 %int_1
%a1 = OpConvertSToF %float %ta
%b1 = OpConvertSToF %float %tb
%a2 = OpFAdd %float %a %a1
%b2 = OpFAdd %float %b %b1
"""
TURNED = {"a": "%float_1 %first %float_2 %next", "b": "%float_1 %next %float_2 %first"}
ALIKE: dict[str, tuple[dict[str, str], bool]] = {  # what is in the loop; whether a and b are one
    "equal": ({"body": ADD + "%b2 = OpFAdd %float %b %float_1"}, True),
    "another operation": ({"body": ADD + "%b2 = OpFSub %float %b %float_1"}, False),
    "by equal types": ({"body": CONVERTED.format("%int")}, True),
    "by other types": ({"body": CONVERTED.format("%short")}, False),
    "to be rounded at once": (
        {"body": ADD + "%b2 = OpFAdd %float %b %float_1", "notes": "OpDecorate %b2 NoContraction"},
        False,
    ),
    "counted by others too": ({"body": COUNTED}, False),
    "differences of other neighbours": (
        {
            "body": "%a1 = OpDPdx %float %a\n%a2 = OpFNegate %float %a1",
            "next": "%b1 = OpDPdx %float %b\n%b2 = OpFNegate %float %b1",
        },
        False,
    ),
    "from other blocks": (TURNED, False),
}  # fmt: skip


def simplified(parts: dict[str, str]) -> tuple[Inst, list[Inst]]:
    """What is stored in the end, and all that is left."""
    module = load(LOOP.format(**(BOTH | parts)))
    assert validate_all([encode(module)], "vulkan1.2") == [None]
    simplify.simplify(module, module.functions[0])
    check(module)
    insts = [i for b in module.functions[0].blocks for i in b.insts]
    (store,) = (i for i in insts if i.op == ops.OpStore)
    return store.args[1], insts


@pytest.mark.parametrize("name", ALIKE)
def test_what_comes_round_a_loop(name: str) -> None:
    parts, one = ALIKE[name]
    stored, _ = simplified(parts)
    a, b = stored.args
    assert (a is b) == one


COPIES = (
    "%w = OpCompositeConstruct %vec2 %v %float_1\n%a2 = OpCompositeExtract %float %w 0",
    "%a2 = OpCopyObject %float %v",
)


@pytest.mark.parametrize("code", COPIES)
@pytest.mark.parametrize("note", ["OpDecorate %a2 NonUniform", ""])
def test_what_is_said_of_a_copy(code: str, note: str) -> None:
    """A lookup by it may be another one for each invocation: that is not said of its source."""
    body = code + "\n%b2 = OpFAdd %float %b %a2"
    _, insts = simplified({"body": body, "notes": note})
    copies = (ops.OpCompositeExtract, ops.OpCopyObject)
    assert any(i.op in copies for i in insts) == bool(note)


@pytest.mark.parametrize("name", ["FMax3AMD", "FMid3AMD"])
def test_other_sets_have_other_numbers(name: str) -> None:
    """These are operations of one operand in GLSL.std.450."""
    body = f"%a2 = OpExtInst %float %amd {name} %float_1 %float_1 %float_2\n"
    _, insts = simplified({"body": body + "%b2 = OpFAdd %float %b %a2"})
    assert any(i.op == ops.OpExtInst for i in insts)
