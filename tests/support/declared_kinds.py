"""Kinds of numbers, and the capabilities and types that a stage declares for each."""

from __future__ import annotations

HEAD = """\
; Version: 1.3
OpCapability Shader
{declared}
{glsl}
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main" {listed}
{notes}
OpDecorate %U Block
OpMemberDecorate %U 0 Offset 0
OpDecorate %u DescriptorSet 0
OpDecorate %u Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%i0 = OpConstant %int 0
%two = OpConstant %float 2
{types}
%U = OpTypeStruct %v4
%pU = OpTypePointer Uniform %U
%pv = OpTypePointer Uniform %v4
%u = OpVariable %pU Uniform
%in4 = OpTypePointer Input %v4
%in = OpTypePointer Input %float
%out4 = OpTypePointer Output %v4
%out = OpTypePointer Output %float
"""
VERTEX = """\
%p = OpVariable %in4 Input
%position = OpVariable %out4 Output
%a = OpVariable %out Output
%b = OpVariable %out Output
%main = OpFunction %void None %fn
%l = OpLabel
%at = OpLoad %v4 %p
OpStore %position %at
%c = OpAccessChain %pv %u %i0
%w = OpLoad %v4 {from}
%x = OpCompositeExtract %float %w 0
%y = OpCompositeExtract %float %w 1
{body}
OpStore %a {first}
OpStore %b %y
OpReturn
OpFunctionEnd
"""
FRAGMENT = """\
%a = OpVariable %in Input
%b = OpVariable %in Input
%o = OpVariable %out4 Output
%main = OpFunction %void None %fn
%l = OpLabel
%x = OpLoad %float %a
%y = OpLoad %float %b
{body}
%c = OpAccessChain %pv %u %i0
%w = OpLoad %v4 %c
%z = OpVectorTimesScalar %v4 %w {last}
OpStore %o %z
OpReturn
OpFunctionEnd
"""
# name: what is declared, types, code that makes %r of the floats %x and %y
BFLOAT = (
    'OpCapability BFloat16TypeKHR\nOpExtension "SPV_KHR_bfloat16"',
    "%small = OpTypeFloat 16 BFloat16KHR",
    "%s = OpFConvert %small %x\n%r = OpFConvert %float %s",
)
KINDS = {
    "BFloat16TypeKHR": BFLOAT,
    "Float8EXT": (
        'OpCapability Float8EXT\nOpExtension "SPV_EXT_float8"',
        "%small = OpTypeFloat 8 Float8E4M3EXT",
        "%s = OpFConvert %small %x\n%r = OpFConvert %float %s",
    ),
    "FMAKHR": (
        'OpCapability FMAKHR\nOpExtension "SPV_KHR_fma"',
        "",
        "%r = OpFmaKHR %float %x %y %x",
    ),
    "ReplicatedCompositesEXT": (
        'OpCapability ReplicatedCompositesEXT\nOpExtension "SPV_EXT_replicated_composites"',
        "",
        "%s = OpCompositeConstructReplicateEXT %v2 %x\n%r = OpDot %float %s %s",
    ),
    "Float16": (
        "OpCapability Float16",
        "%small = OpTypeFloat 16",
        "%s = OpFConvert %small %x\n%r = OpFConvert %float %s",
    ),
}
