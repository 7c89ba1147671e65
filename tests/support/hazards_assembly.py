"""Pairs that a linker easily miscompiles, in assembly: what compilers of GLSL rarely write."""

from __future__ import annotations

FRAGMENT_HEAD = """\
OpCapability Shader
%ext = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %o %q %color LISTED
OpExecutionMode %main OriginUpperLeft
OpDecorate %o Location 0
OpDecorate %q Location 1
OpDecorate %q Flat
OpDecorate %color Location 0
NOTES
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%f = OpTypeFloat 32
%i = OpTypeInt 32 1
%u = OpTypeInt 32 0
%v2 = OpTypeVector %f 2
%v4 = OpTypeVector %f 4
%iv4 = OpTypeVector %i 4
%pi_v4 = OpTypePointer Input %v4
%pi_f = OpTypePointer Input %f
%pi_iv4 = OpTypePointer Input %iv4
%po_v4 = OpTypePointer Output %v4
%pf_f = OpTypePointer Function %f
%pp_f = OpTypePointer Private %f
%ff = OpTypeFunction %f %f
%f0 = OpConstant %f 0
%f1 = OpConstant %f 1
%fh = OpConstant %f 0.5
%f3 = OpConstant %f 3
%i0 = OpConstant %i 0
%i1 = OpConstant %i 1
%i2 = OpConstant %i 2
%i3 = OpConstant %i 3
%u0 = OpConstant %u 0
%u2 = OpConstant %u 2
%u4 = OpConstant %u 4
%true = OpConstantTrue %bool
%a4 = OpTypeArray %f %u4
%o = OpVariable %pi_v4 Input
%q = OpVariable %pi_iv4 Input
%color = OpVariable %po_v4 Output
"""
FRAGMENT_BEGIN = """\
%main = OpFunction %void None %fn
%l0 = OpLabel
%ov = OpLoad %v4 %o
%qv = OpLoad %iv4 %q
%x = OpCompositeExtract %f %ov 0
%y = OpCompositeExtract %f %ov 1
%z = OpCompositeExtract %f %ov 2
%n = OpCompositeExtract %i %qv 0
"""
VERTEX_HEAD = """\
OpCapability Shader
CAPABILITY
%ext = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %pos %glp %a %k LISTED
MODE
OpDecorate %pos Location 0
OpDecorate %a Location 1
OpDecorate %k Location 3
OpDecorate %glp BuiltIn Position
NOTES
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%f = OpTypeFloat 32
%i = OpTypeInt 32 1
%u = OpTypeInt 32 0
%v2 = OpTypeVector %f 2
%v4 = OpTypeVector %f 4
%iv4 = OpTypeVector %i 4
%pi_v4 = OpTypePointer Input %v4
%pi_iv4 = OpTypePointer Input %iv4
%po_v4 = OpTypePointer Output %v4
%po_v2 = OpTypePointer Output %v2
%po_iv4 = OpTypePointer Output %iv4
%po_f = OpTypePointer Output %f
%f0 = OpConstant %f 0
%f1 = OpConstant %f 1
%fh = OpConstant %f 0.5
%f3 = OpConstant %f 3
%i0 = OpConstant %i 0
%i1 = OpConstant %i 1
%i2 = OpConstant %i 2
%i3 = OpConstant %i 3
%c4 = OpConstantComposite %v4 %f1 %f3 %fh %f0
%ci4 = OpConstantComposite %iv4 %i1 %i2 %i3 %i0
%pos = OpVariable %pi_v4 Input
%a = OpVariable %pi_v4 Input
%k = OpVariable %pi_iv4 Input
%glp = OpVariable %po_v4 Output
EXTRA
%main = OpFunction %void None %fn
%l0 = OpLabel
%p = OpLoad %v4 %pos
%av = OpLoad %v4 %a
%kv = OpLoad %iv4 %k
%n = OpCompositeExtract %i %kv 0
%x = OpCompositeExtract %f %av 0
OpStore %glp %p
"""
END = "OpReturn\nOpFunctionEnd\n"
PLAIN_VERTEX = """\
#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 a;
layout(location = 2) in vec4 b;
layout(location = 3) in ivec4 k;
layout(location = 0) out vec4 o;
layout(location = 1) flat out ivec4 q;
layout(location = 9) out vec4 dead;
void main() { gl_Position = vec4(position, 1.0); o = a; q = k; dead = b; }
"""
PLAIN_FRAGMENT = """\
#version 450
layout(location = 0) in vec4 o;
layout(location = 1) flat in ivec4 q;
layout(location = 0) out vec4 color;
void main() { color = o.wzyx + vec4(q); }
"""


def fragment(body: str, extra: str = "", listed: str = "", notes: str = "") -> str:
    """A fragment shader: what main() does after FRAGMENT_BEGIN, and other functions."""
    head = FRAGMENT_HEAD.replace("LISTED", listed).replace("NOTES", notes)
    return head + extra + FRAGMENT_BEGIN + body


def vertex(
    body: str, extra: str, notes: str, listed: str = "", capability: str = "", mode: str = ""
) -> str:
    """A vertex shader: what main() does after the end of VERTEX_HEAD, and other functions."""
    head = VERTEX_HEAD.replace("LISTED", "%o %q %dead " + listed).replace("NOTES", notes)
    return (
        head.replace("CAPABILITY", capability).replace("MODE", mode).replace("EXTRA", extra) + body
    )


EARLY_RETURN = """\
%g = OpFunction %f None %ff
%gp = OpFunctionParameter %f
%gl = OpLabel
%gc = OpFOrdGreaterThan %bool %gp %fh
OpSelectionMerge %gm None
OpBranchConditional %gc %gt %gm
%gt = OpLabel
%gr = OpFMul %f %gp %fh
OpReturnValue %gr
%gm = OpLabel
%gs = OpFAdd %f %gp %f1
OpReturnValue %gs
OpFunctionEnd
"""
ONE_RETURN = """\
%g = OpFunction %f None %ff
%gp = OpFunctionParameter %f
%gl = OpLabel
%gc = OpFOrdGreaterThan %bool %gp %fh
OpSelectionMerge %gm None
OpBranchConditional %gc %gt %gm
%gt = OpLabel
%gr = OpFMul %f %gp %fh
OpBranch %gm
%gm = OpLabel
%gs = OpPhi %f %gp %gl %gr %gt
OpReturnValue %gs
OpFunctionEnd
"""
# What the loop makes is used behind it, where the return comes to, too, once it is inlined.
RETURN_FROM_LOOP = """\
%g = OpFunction %f None %ff
%gp = OpFunctionParameter %f
%gl = OpLabel
VARIABLE
OpBranch %gh
%gh = OpLabel
%gi = OpPhi %i %i0 %gl %gj %gc
%gx = OpPhi %f %gp %gl %gy %gc
OpLoopMerge %gm %gc None
OpBranch %gb
%gb = OpLabel
%g1 = OpSGreaterThan %bool %gi %i2
OpSelectionMerge %gs None
OpBranchConditional %g1 %gr %gs
%gr = OpLabel
%gv = OpFNegate %f %gx
OpReturnValue %gv
%gs = OpLabel
%gy = OpFAdd %f %gx %fh
%gz = OpFMul %f %gy %f3
INSIDE
%g2 = OpFOrdGreaterThan %bool %gz %f3
OpBranchConditional %g2 %gm %gc
%gc = OpLabel
%gj = OpIAdd %i %gi %i1
OpBranch %gh
%gm = OpLabel
BEHIND
OpFunctionEnd
"""
BEHIND = """\
%gk = OpFSub %f %gz %gy
OpSelectionMerge %gq None
OpBranchConditional %g2 %gt %gu
%gt = OpLabel
OpBranch %gq
%gu = OpLabel
OpBranch %gq
%gq = OpLabel
%gw = OpPhi %f %gz %gt %gk %gu
%go = OpFAdd %f %gw %gk
OpReturnValue %go
"""
INSIDE_POINTERS = """\
%ge = OpAccessChain %pf_f %gd %gi
%ga = OpAccessChain %pimage %images %gi
%gn = OpLoad %sampled %ga
OpStore %ge %gy
"""
BEHIND_POINTERS = """\
%gk = OpLoad %f %ge
OpStore %ge %fh
%gt = OpLoad %f %ge
%gu = OpImageSampleExplicitLod %v4 %gn %half Lod %f0
%gq = OpCompositeExtract %f %gu 1
%gw = OpFAdd %f %gk %gt
%go = OpFAdd %f %gw %gq
OpReturnValue %go
"""
TWO_CALLS = """\
%ra = OpFunctionCall %f %g %x
%rb = OpFunctionCall %f %g %y
%res = OpCompositeConstruct %v4 %ra %rb %z %f1
OpStore %color %res
"""
IMAGES = """\
%image = OpTypeImage %f 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
%array = OpTypeArray %sampled %u4
%parray = OpTypePointer UniformConstant %array
%pimage = OpTypePointer UniformConstant %sampled
%pf_a4 = OpTypePointer Function %a4
%half = OpConstantComposite %v2 %fh %fh
%images = OpVariable %parray UniformConstant
"""


def return_from_loop(variable: str, inside: str, behind: str) -> str:
    """The function above."""
    text = RETURN_FROM_LOOP.replace("VARIABLE\n", variable).replace("INSIDE\n", inside)
    return text.replace("BEHIND\n", behind)


ONE_BLOCK_LOOP = """\
OpBranch %h
%h = OpLabel
%ci = OpPhi %i %i0 %l0 %ni %h
%cs = OpPhi %f %x %l0 %ns %h
%ns = OpFunctionCall %f %g %cs
%ni = OpIAdd %i %ci %i1
%cc = OpSLessThan %bool %ni %i3
OpLoopMerge %m %h None
OpBranchConditional %cc %h %m
%m = OpLabel
%ns2 = OpFAdd %f %ns %cs
%res = OpCompositeConstruct %v4 %ns2 %y %z %f1
OpStore %color %res
"""
HEADER_CALL_LOOP = """\
OpBranch %h
%h = OpLabel
%ci = OpPhi %i %i0 %l0 %ni %c
%cs = OpPhi %f %x %l0 %ns %c
%ns = OpFunctionCall %f %g %cs
%cc = OpSLessThan %bool %ci %i3
OpLoopMerge %m %c None
OpBranchConditional %cc %b %m
%b = OpLabel
%b2 = OpFunctionCall %f %g %ns
OpBranch %c
%c = OpLabel
%ni = OpIAdd %i %ci %i1
OpBranch %h
%m = OpLabel
%ms = OpPhi %f %ns %h
%res = OpCompositeConstruct %v4 %ms %y %z %f1
OpStore %color %res
"""
LOCALS = """\
%lv = OpVariable %pf_a4 Function
%lv4 = OpVariable %pf_v4 Function
%lf = OpVariable %pf_f Function %f3
"""
FRAGMENTS: dict[str, str] = {
    "single block loop, early return": fragment(ONE_BLOCK_LOOP + END + EARLY_RETURN),
    "single block loop, one return": fragment(ONE_BLOCK_LOOP + END + ONE_RETURN),
    "call in a loop header, early return": fragment(HEADER_CALL_LOOP + END + EARLY_RETURN),
    "call in a loop header, one return": fragment(HEADER_CALL_LOOP + END + ONE_RETURN),
    "values leave a loop that returns": fragment(
        TWO_CALLS + END + return_from_loop("", "", BEHIND)
    ),
    "values leave a loop that returns, called once": fragment(
        TWO_CALLS.replace("OpFunctionCall %f %g %y", "OpFAdd %f %ra %y")
        + END
        + return_from_loop("", "", BEHIND)
    ),
    "pointers and images leave a loop that returns": fragment(
        TWO_CALLS
        + END
        + return_from_loop("%gd = OpVariable %pf_a4 Function\n", INSIDE_POINTERS, BEHIND_POINTERS),
        extra=IMAGES,
        listed="PRIVATE%images",
        notes="OpDecorate %images DescriptorSet 0\nOpDecorate %images Binding 1",
    ).replace("Shader\n", "Shader\nOpCapability SampledImageArrayDynamicIndexing\n", 1),
    "spec composite initializer": fragment(
        """\
%pa = OpAccessChain %pp_f %pv %i0 %n
%pb = OpAccessChain %pp_f %pv %i1
%la = OpLoad %f %pa
%lb = OpLoad %f %pb
%r1 = OpFMul %f %la %x
%res = OpCompositeConstruct %v4 %r1 %lb %z %f1
OpStore %color %res
"""
        + END,
        """\
%s1 = OpSpecConstant %f 0.25
%sa = OpSpecConstantComposite %a4 %s1 %f1 %fh %s1
%st = OpTypeStruct %a4 %f
%sc = OpSpecConstantComposite %st %sa %s1
%pst = OpTypePointer Private %st
%pv = OpVariable %pst Private %sc
""",
        listed="PRIVATE%pv",
        notes="OpDecorate %s1 SpecId 5",
    ),
    "null initializer": fragment(
        """\
%pa = OpAccessChain %pp_f %pv %i0 %n
OpStore %pa %x
%pc = OpAccessChain %pp_f %pv %i0 %i2
%pb = OpAccessChain %pp_f %pv %i1
%la = OpLoad %f %pc
%lb = OpLoad %f %pb
%res = OpCompositeConstruct %v4 %la %lb %z %f1
OpStore %color %res
"""
        + END,
        """\
%st = OpTypeStruct %a4 %f
%sc = OpConstantNull %st
%pst = OpTypePointer Private %st
%pv = OpVariable %pst Private %sc
""",
        listed="PRIVATE%pv",
    ),
    "undefined shuffle lanes": fragment(
        """\
%w = OpFAdd %v4 %ov %ov
%w2 = OpFMul %v4 %ov %w
%s = OpVectorShuffle %v4 %w %w2 0 0xFFFFFFFF 5 0xFFFFFFFF
%t = OpFMul %v4 %s %w
%s2 = OpVectorShuffle %v4 %w %w2 0xFFFFFFFF 1 0xFFFFFFFF 0xFFFFFFFF
%t2 = OpFMul %v4 %s2 %w
%e0 = OpCompositeExtract %f %t 0
%e2 = OpCompositeExtract %f %t 2
%e3 = OpCompositeExtract %f %t2 0
%big = OpFOrdGreaterThan %bool %e3 %f3
OpSelectionMerge %m None
OpBranchConditional %big %m %n1
%n1 = OpLabel
OpBranch %m
%m = OpLabel
%res = OpCompositeConstruct %v4 %e0 %e2 %z %f1
OpStore %color %res
"""
        + END
    ),
    "commutative extended instructions": fragment(
        """\
%w = OpFAdd %f %x %y
%d = OpExtInst %f %ext FMin %w %y
%e = OpExtInst %f %ext FMin %w %z
%g = OpExtInst %f %ext FMax %z %w
%hh = OpExtInst %f %ext FMax %w %z
%k = OpFSub %f %g %hh
%res = OpCompositeConstruct %v4 %d %e %g %k
OpStore %color %res
"""
        + END
    ),
    "copies of memory": fragment(
        """\
%pfa = OpAccessChain %pf_f %lv %i2
OpCopyMemory %lv4 %o
OpCopyMemory %pfa %lf
%lo = OpCopyObject %pf_f %pfa
OpStore %lo %y
%ld = OpLoad %f %pfa
%l4 = OpLoad %v4 %lv4
%ss = OpVectorTimesScalar %v4 %l4 %ld
OpStore %color %ss
%ce = OpAccessChain %po_f %color %i1
OpStore %ce %z
%rb = OpLoad %v4 %color
%rc = OpFAdd %v4 %rb %rb
OpStore %color %rc
"""
        + END,
        """\
%pf_a4 = OpTypePointer Function %a4
%pf_v4 = OpTypePointer Function %v4
%po_f = OpTypePointer Output %f
""",
    ).replace("%l0 = OpLabel\n", "%l0 = OpLabel\n" + LOCALS),
}

PLACES = """\
OpDecorate %o Location 0
OpDecorate %q Location 1
OpDecorate %q Flat
OpDecorate %dead Location 9
"""
OUTPUTS = """\
%o = OpVariable %po_v4 Output
%q = OpVariable %po_iv4 Output
%dead = OpVariable %po_v4 Output
"""
INITIALIZED = """\
%o = OpVariable %po_v4 Output %c4
%q = OpVariable %po_iv4 Output %ci4
%dead = OpVariable %po_v4 Output
"""
CAPTURED = (
    PLACES
    + """\
OpDecorate %dead Offset 0
OpDecorate %dead XfbBuffer 0
OpDecorate %dead XfbStride 16
"""
)
CAPTURING_LOOP = """\
OpStore %q %kv
OpBranch %h
%h = OpLabel
%ci = OpPhi %i %i0 %l0 %ni %c
OpLoopMerge %m %c None
OpBranch %b
%b = OpLabel
%cc = OpSLessThan %bool %ci %i2
OpBranchConditional %cc %c %m
%c = OpLabel
%ni = OpFunctionCall %i %help %ci
OpBranch %h
%m = OpLabel
OpStore %o %av
OpReturn
OpFunctionEnd
%help = OpFunction %i None %ii
%hp = OpFunctionParameter %i
%hl = OpLabel
%hv = OpConvertSToF %f %hp
%h4 = OpCompositeConstruct %v4 %hv %hv %hv %f1
OpStore %dead %h4
%ha = OpIAdd %i %hp %i1
"""
EARLY = """\
%hc = OpSGreaterThan %bool %hp %i1
OpSelectionMerge %hm None
OpBranchConditional %hc %ht %hm
%ht = OpLabel
OpReturnValue %i3
%hm = OpLabel
"""
STEP = "%ii = OpTypeFunction %i %i\n" + OUTPUTS
TAIL = "OpReturnValue %ha\nOpFunctionEnd\n"
VERTICES: dict[str, str] = {
    "output initializers": vertex(
        """\
%e = OpAccessChain %po_f %o %i1
OpStore %e %x
OpStore %dead %av
%c = OpSGreaterThan %bool %n %i1
OpSelectionMerge %m None
OpBranchConditional %c %t %m
%t = OpLabel
OpStore %q %kv
OpReturn
%m = OpLabel
%e2 = OpAccessChain %po_f %o %i3
OpStore %e2 %f3
OpReturn
OpFunctionEnd
""",
        INITIALIZED,
        PLACES,
    ),
    "copies of outputs": vertex(
        """\
OpCopyMemory %o %a
OpCopyMemory %q %k
OpCopyMemory %dead %o
%nn = OpBitwiseAnd %i %n %i1
%e1 = OpAccessChain %po_f %o %nn
%e2 = OpAccessChain %po_f %dead %i2
OpCopyMemory %e1 %e2
%cp = OpCopyObject %po_v4 %o
%rb = OpLoad %v4 %cp
%s = OpFAdd %v4 %rb %rb
OpStore %cp %s
OpReturn
OpFunctionEnd
""",
        OUTPUTS,
        PLACES,
    ),
    "two entry points": vertex(
        """\
OpStore %priv %x
%r = OpFunctionCall %f %help %x
%s = OpVectorTimesScalar %v4 %av %r
OpStore %o %s
OpStore %q %kv
OpStore %dead %av
OpReturn
OpFunctionEnd
%main2 = OpFunction %void None %fn
%l2 = OpLabel
%r2 = OpFunctionCall %f %help %f1
OpStore %o %c4
OpStore %priv %r2
OpReturn
OpFunctionEnd
%help = OpFunction %f None %ff
%hp = OpFunctionParameter %f
%hl = OpLabel
%hv = OpLoad %f %priv
%ha = OpFAdd %f %hv %hp
OpStore %priv %ha
OpReturnValue %ha
OpFunctionEnd
""",
        """\
%ff = OpTypeFunction %f %f
%pp_f = OpTypePointer Private %f
%priv = OpVariable %pp_f Private
"""
        + OUTPUTS,
        PLACES,
        listed="PRIVATE%priv" + chr(10) + 'OpEntryPoint Vertex %main2 "other" %o PRIVATE%priv',
    ),
    "captured output": vertex(
        CAPTURING_LOOP + "" + TAIL,
        STEP,
        CAPTURED,
        capability="OpCapability TransformFeedback",
        mode="OpExecutionMode %main Xfb",
    ),
    "captured output stored by a call that stays": vertex(
        CAPTURING_LOOP + EARLY + TAIL,
        STEP,
        CAPTURED,
        capability="OpCapability TransformFeedback",
        mode="OpExecutionMode %main Xfb",
    ),
}
