"""Inputs that are read whole, over all vertices: by component like others, in a copy, too."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import ops
from spvlink.ir.core import LOAD_INPUT, EntryPoint, Function, Module, string_of
from spvlink.passes.lowering import promote_vertex_copies
from spvlink.text import parse
from tests.support.chain_hazards import PASS, Chain, frag, geom, tesc, tese, vert
from tests.support.chain_proof import compiled, prove
from tests.support.linking import count, module_of

VERT = vert(
    "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;",
    "c = vec4(a.xy, 1.0, 0.0); d = vec4(b.xyz, 0.5);",
)
INPUTS = "layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];\n"
LAST = frag("layout(location = 0) in vec4 p;", "color = p;")


def middle(functions: str, made: str, inputs: str = INPUTS) -> tuple[str, str]:
    """A geometry shader that makes p of its inputs, once a vertex."""
    main = f"for (int i = 0; i < 3; ++i) {{ p = {made}; {PASS} }}"
    return geom(inputs + "layout(location = 0) out vec4 p;\n" + functions, main)


MEAN = "vec4 mean(vec4 v[3]) { return vec4((v[0].xz + v[1].xz + v[2].xz) * 0.25, 0.0, 1.0); }\n"
NTH = "vec4 nth(vec4 v[3], int at) { return vec4(v[at].xw + v[(at + 1) % 3].xw, 0.0, 1.0); }\n"
STRUCT = "struct S { vec4 x; vec2 y[2]; float z; };\n"
STRUCTS = vert(
    STRUCT + "layout(location = 0) out S s;", "s.x = a; s.y[0] = b.xy; s.y[1] = b.zw; s.z = 0.25;"
)
OF_STRUCTS = """vec4 of(S s[3], int at) { return vec4(s[at].x.y, s[0].y[1].x, s[1].z, s[at].z); }
"""
IN_STRUCTS = STRUCT + "layout(location = 0) in S s[];\n"
PATCH = """vec4 nth(vec4 v[gl_MaxPatchVertices], int at) {
    return vec4(v[at].xw + v[(at + 1) % 3].xw, v[2].z, 1.0); }
"""
CONTROL = tesc(
    INPUTS + "layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];\n" + PATCH,
    "p[gl_InvocationID] = nth(c, gl_InvocationID); q[gl_InvocationID] = d[gl_InvocationID];",
)
EVALUATION = tese(
    INPUTS.replace(" c[", " p[").replace(" d[", " q[")
    + """layout(location = 0) out vec4 f;
vec4 blend(vec4 v[gl_MaxPatchVertices], vec3 w) { return v[0] * w.x + v[1] * w.y + v[2] * w.z; }
"""
    + PATCH,
    "f = blend(p, w) + nth(q, int(w.x * 2.0));",
)
TESSELLATED = (VERT, CONTROL, EVALUATION, frag("layout(location = 0) in vec4 f;", "color = f;"))

# chain -> components before and after of each border
CHAINS: dict[str, tuple[Chain, list[tuple[int, int]]]] = {
    "all vertices": (Chain("", (VERT, middle(MEAN, "mean(c)"), LAST)), [(8, 1), (4, 2)]),
    "one of all": (Chain("", (VERT, middle(NTH, "nth(d, i)"), LAST)), [(8, 1), (4, 2)]),
    "both": (Chain("", (VERT, middle(MEAN + NTH, "mean(c) + nth(d, i)"), LAST)), [(8, 2), (4, 4)]),
    "structs": (
        Chain("", (STRUCTS, middle(OF_STRUCTS, "of(s, i)", IN_STRUCTS), LAST)),
        [(9, 2), (4, 2)],
    ),
    "patches": (Chain("", TESSELLATED), [(8, 3), (8, 3), (4, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_by_component(name: str) -> None:
    chain, components = CHAINS[name]
    linked = prove(compiled(chain), chain)
    assert [b.components for b in linked.interfaces] == components
    assert not [r.why for r in linked.remarks if "all vertices at once" in r.why]
    again = spvlink.link([s.data for s in linked.stages], clean=True)
    assert again.passed_through == "nothing to gain"


USED_WHOLE = {
    "changed": "vec4 f(vec4 v[3], int at) { v[at] *= 0.5; return v[0] + v[at] + v[2].wzyx; }\n",
    "chosen": "vec4 f(vec4 v[3], int at) { vec4 u[3] = c;\n"
    "if (at > 1) u = v; return u[0] * u[at]; }\n",
}


@pytest.mark.parametrize("name", USED_WHOLE)
def test_what_is_used_whole_is_read_whole(name: str) -> None:
    """All of it is needed, so one load of it stays one."""
    first = vert(
        "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;", "c = a; d = b;"
    )
    chain = Chain("", (first, middle(USED_WHOLE[name], "f(d, i)"), LAST))
    codes = compiled(chain)
    linked = prove(codes, chain)
    module = module_of(linked.stages[1].data)
    loads = [i for f in module.functions for b in f.blocks for i in b.insts if i.op == ops.OpLoad]
    arrays = [i for i in loads if i.type is not None and i.type.op == ops.OpTypeArray]
    assert len(arrays) == (1 if name == "changed" else 2)
    assert not count(module, ops.OpCompositeConstruct)


# --- copies in slots ---

HEAD = """\
OpCapability Geometry
OpMemoryModel Logical GLSL450
OpEntryPoint Geometry %main "main" %in
OpExecutionMode %main Triangles
OpExecutionMode %main OutputVertices 3
OpExecutionMode %main OutputTriangleStrip
OpExecutionMode %main Invocations 1
OpDecorate %in Location 8
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%true = OpConstantTrue %bool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%v2 = OpTypeVector %float 2
%n0 = OpConstant %int 0
%n1 = OpConstant %int 1
%n2 = OpConstant %int 2
%half = OpConstant %float 0.5
%array = OpTypeArray %v2 %n2
%ptr = OpTypePointer Function %array
%part = OpTypePointer Function %v2
%lane = OpTypePointer Function %float
%ptr_int = OpTypePointer Input %int
%in = OpVariable %ptr_int Input
%main = OpFunction %void None %1
%first = OpLabel
%copy = OpVariable %ptr Function
%i = OpLoad %int %in
%a0 = LOAD_INPUT %float %n0 8
%b0 = LOAD_INPUT %float %n0 10
%a1 = LOAD_INPUT %float %n1 8
%b1 = LOAD_INPUT %float %n1 10
%x0 = OpCompositeConstruct %v2 %a0 %b0
%x1 = OpCompositeConstruct %v2 %a1 %b1
%all = OpCompositeConstruct %array %x0 %x1
"""
STORE = "OpStore %copy %all\n"
CHAIN = "%p = OpAccessChain %part %copy %i\n"
LOAD = "%y = OpLoad %v2 %p\n"
USE = "%z = OpCompositeExtract %float %y 0\nSTORE_OUTPUT %z 32\n"
END = "OpReturn\nOpFunctionEnd\n"
PARTS = """%p0 = OpAccessChain %part %copy %n0
%p1 = OpAccessChain %part %copy %n1
OpStore %p0 %x0
OpStore %p1 %x1
"""
LANES = """%p0 = OpAccessChain %lane %copy %n0 %n0
%q0 = OpAccessChain %lane %copy %n0 %n1
%p1 = OpAccessChain %part %copy %n1
OpStore %p0 %a0
OpStore %q0 %half
OpStore %p1 %x1
"""
SHOWN = "%z = OpLoad %float %p\nSTORE_OUTPUT %z 32\n"
BRANCH = "OpSelectionMerge %end None\nOpBranchConditional %true %then %end\n%then = OpLabel\n"
JOIN = "OpBranch %end\n%end = OpLabel\n"
SAME = {  # body -> whether the copy is done without
    STORE + CHAIN + LOAD + USE: True,
    CHAIN + STORE + LOAD + USE: True,
    PARTS + CHAIN + LOAD + USE: True,
    STORE + "%p = OpAccessChain %lane %copy %i %n1\n" + SHOWN: True,
    STORE + CHAIN + "%r = OpAccessChain %lane %p %n1\n" + SHOWN.replace("%p", "%r"): True,
    STORE + BRANCH + CHAIN + LOAD + USE + JOIN: True,
    # the second lane of the two is a constant in one element only
    LANES + CHAIN + LOAD + USE: False,
    # a load before the store, or on a path without it
    CHAIN + LOAD + STORE + USE: False,
    BRANCH + STORE + JOIN + CHAIN + LOAD + USE: False,
    # two stores to one element; one that is not known; one element only
    STORE + PARTS + CHAIN + LOAD + USE: False,
    PARTS + "OpStore %p0 %x0\n" + CHAIN + LOAD + USE: False,
    STORE + CHAIN + "OpStore %p %x0\n" + LOAD + USE: False,
    PARTS.replace("OpStore %p1 %x1\n", "") + CHAIN + LOAD + USE: False,
    # an element of another vertex, or another component
    "%mix = OpCompositeConstruct %array %x1 %x0\nOpStore %copy %mix\n" + CHAIN + LOAD + USE: False,
    "%mix = OpCompositeConstruct %array %x0 %x0\nOpStore %copy %mix\n" + CHAIN + LOAD + USE: False,
    "%s = OpCompositeConstruct %v2 %b1 %a1\n%mix = OpCompositeConstruct %array %x0 %s\n"
    "OpStore %copy %mix\n" + CHAIN + LOAD + USE: False,
    # something else than inputs; a dynamic component; all of it at once; volatile
    "%s = OpFNegate %v2 %x1\n%mix = OpCompositeConstruct %array %x0 %s\n"
    "OpStore %copy %mix\n" + CHAIN + LOAD + USE: False,
    STORE + "%p = OpAccessChain %lane %copy %i %i\n" + SHOWN: False,
    STORE + CHAIN + LOAD + "%w = OpLoad %array %copy\n" + USE: False,
    STORE + CHAIN + LOAD.replace("%p", "%p Volatile") + USE: False,
    STORE + CHAIN + LOAD + "%c = OpCopyObject %ptr %copy\n" + USE: False,
}  # fmt: skip


def built(body: str) -> Module:
    module = parse(HEAD + body + END)
    inst = module.sections[4][0]
    function = inst.args[0]
    assert isinstance(function, Function)
    module.entry = EntryPoint(inst, string_of(inst.imm, 1)[0], function)
    return module


@pytest.mark.parametrize("body", SAME)
def test_a_copy_of_all_vertices(body: str) -> None:
    module = built(body)
    version = module.version
    assert module.entry is not None
    assert promote_vertex_copies.promote_vertex_copies(module, module.entry.function) == SAME[body]
    assert SAME[body] == (module.version != version)
    loads = [i for b in module.entry.function.blocks for i in b.insts if i.op == LOAD_INPUT]
    assert any(i.args[0].op == ops.OpLoad for i in loads) == SAME[body]
