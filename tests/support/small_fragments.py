"""A fragment shader of a few instructions, in pieces, for tests of what cleans code."""

from __future__ import annotations

HEAD = """\
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %x %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %x Location 0
OpDecorate %o Location 0
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%vec3 = OpTypeVector %float 3
%pair = OpTypeStruct %float %float
%in = OpTypePointer Input %vec2
%out = OpTypePointer Output %float
%float_1 = OpConstant %float 1
%int = OpTypeInt 32 1
%int_1 = OpConstant %int 1
%x = OpVariable %in Input
%o = OpVariable %out Output
%main = OpFunction %void None %f
%first = OpLabel
%v = OpLoad %vec2 %x
%a = OpCompositeExtract %float %v 0
"""
END = "OpStore %o %b\nOpReturn\nOpFunctionEnd\n"
FORK = """%c = OpFOrdGreaterThan %bool %a %float_1
OpSelectionMerge %end None
OpBranchConditional %c %yes %end
%yes = OpLabel
OpStore %o %a
{}OpBranch %end
%end = OpLabel
"""
OTHER = FORK.replace("%c %yes %end", "%c %yes %no").replace(
    "{}OpBranch %end", "OpBranch %end\n%no = OpLabel\n{}OpBranch %end"
)
SINE = "%s = OpExtInst %float %glsl Sin %a\n"
