"""Legality checks that no other test needs (scripts/mutants found them): each pair here goes wrong,
or would, without one of them."""

from __future__ import annotations

import re

import pytest

import spvlink
from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.passes.cleaning import dce, simplify
from tests.support.case_loading import load
from tests.support.duplicates import MOTION, link, merged, two
from tests.support.linking import Result, fragment, vertex
from tests.support.modes import with_mode
from tests.support.propagation import ALL_SETS, pair
from tests.support.samples import compile_glsl, disassemble, edited

# --- effects: what is Volatile is read as often as it was written down ---

READS = """\
OpCapability Shader
OpCapability VulkanMemoryModel
%GLSL = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical {model}
OpEntryPoint Fragment %main "main" %o {listed}
OpExecutionMode %main OriginUpperLeft
OpDecorate %o Location 0
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%uint_0 = OpConstant %uint 0
%float = OpTypeFloat 32
%v2uint = OpTypeVector %uint 2
%v4float = OpTypeVector %float 4
%origin = OpConstantNull %v2uint
%image = OpTypeImage %float 2D 0 0 0 2 Rgba32f
%ptr_image = OpTypePointer UniformConstant %image
%ptr_Output_v4float = OpTypePointer Output %v4float
%o = OpVariable %ptr_Output_v4float Output
{globals}

%main = OpFunction %void None %1
%3 = OpLabel
{body}
  OpReturn
OpFunctionEnd
"""
BLOCK = """%B = OpTypeStruct %v4float
%ptr_B = OpTypePointer StorageBuffer %B
%ptr_v4float = OpTypePointer StorageBuffer %v4float
%b = OpVariable %ptr_B StorageBuffer"""
IN_BLOCK = "OpDecorate %B Block\nOpMemberDecorate %B 0 Offset 0\n"
BOUND = "OpDecorate %{0} DescriptorSet 0\nOpDecorate %{0} Binding 0\n"
IMAGE = "%i = OpVariable %ptr_image UniformConstant"
TWO_READS = """  %4 = OpAccessChain %ptr_v4float %b %uint_0
  %5 = OpLoad %v4float %4{0}
  %6 = OpLoad %v4float %4{0}
  %7 = OpFAdd %v4float %5 %5
  OpStore %o %7"""
TWO_TEXELS = """  %4 = OpLoad %image %i
  %5 = OpImageRead %v4float %4 %origin{0}
  %6 = OpImageRead %v4float %4 %origin{0}
  %7 = OpFAdd %v4float %5 %5
  OpStore %o %7"""
VOLATILE = {  # globals, notes, body, which reads
    "memory operand": (BLOCK, IN_BLOCK + BOUND.format("b"), TWO_READS.format(" Volatile"), "Load"),
    "variable": (
        BLOCK, IN_BLOCK + BOUND.format("b") + "OpDecorate %b Volatile", TWO_READS.format(""),
        "Load",
    ),
    "image operand": (
        IMAGE, BOUND.format("i"), TWO_TEXELS.format(" VolatileTexel"), "ImageRead",
    ),
    "image variable": (
        IMAGE, BOUND.format("i") + "OpDecorate %i Volatile", TWO_TEXELS.format(""), "ImageRead",
    ),
}  # fmt: skip


def volatile(name: str) -> tuple[Module, str]:
    globals, notes, body, reads = VOLATILE[name]
    model = "Vulkan" if "operand" in name else "GLSL450"
    text = READS.format(model=model, listed="", notes=notes, globals=globals, body=body)
    return load(text), reads


@pytest.mark.parametrize("name", VOLATILE)
def test_volatile_reads_stay(name: str) -> None:
    module, reads = volatile(name)
    function = module.functions[0]
    simplify.simplify(module, function)
    dce.dce(module, function)
    found = [i.op for b in function.blocks for i in b.insts if i.op == getattr(ops, f"Op{reads}")]
    assert len(found) == 2


def test_what_a_demotion_changes_is_read_again() -> None:
    """HelperInvocation, without the Volatile that newer versions of Vulkan want on it."""
    globals = """%ptr_bool = OpTypePointer Input %bool
%h = OpVariable %ptr_bool Input
%float_0 = OpConstant %float 0
%float_1 = OpConstant %float 1"""
    body = """  %4 = OpLoad %bool %h
  OpDemoteToHelperInvocation
  %5 = OpLoad %bool %h
  %6 = OpSelect %float %4 %float_1 %float_0
  %7 = OpSelect %float %5 %float_1 %float_0
  %8 = OpCompositeConstruct %v4float %6 %7 %6 %7
  OpStore %o %8"""
    notes = "OpDecorate %h BuiltIn HelperInvocation"
    text = READS.format(model="GLSL450", listed="%h", notes=notes, globals=globals, body=body)
    module = load("OpCapability DemoteToHelperInvocation\n" + text)
    simplify.simplify(module, module.functions[0])
    loads = [i for b in module.functions[0].blocks for i in b.insts if i.op == ops.OpLoad]
    assert len(loads) == 2


# --- dedup ---


def test_bits_are_not_read_from_a_float_that_is_stored_more_often() -> None:
    """A float may be flushed on the way; so the integer stays, although fewer paths store it."""
    body = "a = p.x; if (k.x > 0) return; b = floatBitsToUint(p.x);"
    done = link(*two("flat @ float", "flat @ uint", body, "o = vec4(a, float(b), 0, 1);"))
    assert merged(done) == {}
    same = body.replace("floatBitsToUint", "uint").replace("p.x", "k.y")
    done = link(*two("flat @ int", "flat @ uint", same, "o = vec4(a, float(b >> 1), 0, 1);"))
    assert merged(done) == {"b 1.x": "the same bits as a 0.x"}


def test_a_bit_cast_to_more_components_mixes_none_up() -> None:
    """Component 1 of four words is no component 1 of two 64-bit numbers."""
    wide = "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
    places = "layout(location = 0) flat {0} u64vec2 a; layout(location = 1) flat {0} uint b;\n"
    body = "a = u64vec2(pack64(uvec2(k.xy)), pack64(uvec2(k.zw))); uvec4 w = uvec4(k); b = w.y;"
    vert = vertex(wide + places.format("out") + f"void main() {{ {body} gl_Position = p; }}")
    frag = fragment(
        wide + places.format("in") + "void main() { o = vec4(float(a.x + a.y), b, 0, 1); }"
    )
    numbers = re.search(r"(%\w+) = OpCompositeConstruct %v2ulong", disassemble(vert))
    assert numbers is not None
    vert = edited(vert, (r"OpBitcast %v4uint %\w+", f"OpBitcast %v4uint {numbers[1]}"))
    options = spvlink.Options(clean=True)
    options.disable = MOTION | {"halves"}
    assert merged(Result(vert, frag, options)) == {}


def test_bits_of_what_is_interpolated_are_not_looked_at() -> None:
    """Where a NaN counts, it comes over as interpolation leaves it, which no integer is."""
    body = "a = uint(gl_InstanceIndex); b = intBitsToFloat(gl_InstanceIndex);"
    sides = two("flat @ uint", "@ float", body, "o = vec4(float(a), b, a - b, 1);")
    vert, frag = pair(*sides)
    options = spvlink.Options(clean=True)
    options.disable = MOTION | {"flatten"}
    preserving = with_mode(fragment(frag), "SignedZeroInfNanPreserve 32")
    assert merged(Result(vertex(vert), preserving, options)) == {}
    flat = with_mode(
        fragment(frag.replace("in float", "flat in float").replace("flat flat", "flat")),
        "SignedZeroInfNanPreserve 32",
    )
    assert list(merged(Result(vertex(vert), flat, options))) == ["b 1.x"]


@pytest.mark.parametrize("which", ["a", "b"])
def test_what_only_the_consumer_relaxes_is_not_merged(which: str) -> None:
    vert, frag = two("@ float", "@ float", "a = p.x; b = p.x;", "o = vec4(a, b, a - b, 1);")
    assert len(merged(link(vert, frag))) == 1
    assert merged(link(vert, frag.replace(f"float {which}", f"mediump float {which}"))) == {}


def test_flat_is_not_read_from_smooth_that_is_stored_more_often() -> None:
    """It comes over to the bit, which interpolation may change."""
    body = "a = float(gl_InstanceIndex); if (k.x > 0) return; b = float(gl_InstanceIndex);"
    use, disable = "o = vec4(a, b, a - b, 1);", MOTION | {"flatten"}
    assert merged(link(*two("@ float", "flat @ float", body, use), disable=disable)) == {}
    found = merged(link(*two("flat @ float", "@ float", body, use), disable=disable))
    assert list(found) == ["b 1.x"]


MESH = """#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(location = 0) flat out float a[];
layout(location = 1) out float b[];
void main() {
    SetMeshOutputsEXT(3, 1);
    gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
    for (int i = 0; i < 3; ++i) {
        a[i] = float(i) * 0.25;
        b[i] = float(i) * 0.25;
        gl_MeshVerticesEXT[i].gl_Position = vec4(i & 1, i >> 1, 0, 1);
    }
}
"""


def test_smooth_is_not_read_from_flat_where_a_loop_stores_each_vertex() -> None:
    frag = (
        "#version 450\nlayout(location = 0) out vec4 o;\nlayout(location = 0) flat in float a;\n"
        "layout(location = 1) in float b;\nvoid main() { o = vec4(a, b, 0, 1); }"
    )
    codes = [compile_glsl(MESH, "mesh", "vulkan1.2"), compile_glsl(frag, "frag", "vulkan1.2")]
    linked = spvlink.link(codes, spvlink.Options(clean=True))
    assert linked.defect is None and linked.passed_through is None
    assert [r.action for r in linked.remarks if r.action == "merged"] == []


# --- propagate, forward: the two stages may not compute alike ---


SUMS = (  # one component and its double, which the fragment shader can make
    "layout(location = 0) out float a; layout(location = 1) out float b;\n"
    "void main() { a = p.x; b = p.x * 4.0; gl_Position = p; }",
    "layout(location = 0) in float a; layout(location = 1) in float b;\n"
    "void main() { o = vec4(a, b, a - b, 1.0); }",
)


@pytest.mark.parametrize(
    ("mine", "theirs", "moved"),
    [
        ((), (), True),
        (("RoundingModeRTZ 32",), ("RoundingModeRTZ 32",), True),
        (("RoundingModeRTZ 32",), (), False),
        ((), ("RoundingModeRTZ 32",), False),
        (("DenormFlushToZero 32",), (), False),
        (("SignedZeroInfNanPreserve 32",), (), False),
        ((), ("SignedZeroInfNanPreserve 32",), False),
    ],
)
def test_forward_asks_how_floats_are_computed(
    mine: tuple[str, ...], theirs: tuple[str, ...], moved: bool
) -> None:
    assert forwarded(*SUMS, mine, theirs) == moved


def forwarded(
    vert: str, frag: str, mine: tuple[str, ...] = (), theirs: tuple[str, ...] = ()
) -> bool:
    """Whether something is moved to the fragment shader."""
    options = spvlink.Options(clean=True)
    options.disable = frozenset(("backward", "dedup"))
    done = Result(with_mode(vertex(vert), *mine), with_mode(fragment(frag), *theirs), options)
    return "moved-forward" in done.fates().values()


@pytest.mark.parametrize(
    ("mine", "theirs", "moved"),
    [
        ((), (), True),
        (("SignedZeroInfNanPreserve 32",), ("SignedZeroInfNanPreserve 32",), True),
        (("SignedZeroInfNanPreserve 32",), (), False),
    ],
)
def test_forward_keeps_arithmetic_that_preserves_more(
    mine: tuple[str, ...], theirs: tuple[str, ...], moved: bool
) -> None:
    """Flat, so that no interpolation is in the way."""
    vert, frag = (t.replace("layout(location", "flat layout(location") for t in SUMS)
    assert forwarded(vert, frag, mine, theirs) == moved


def test_forward_leaves_relaxed_arithmetic() -> None:
    relaxed = "void main() { mediump float m = p.x; a = m; m = m * 4.0; b = m; gl_Position = p; }"
    vert = SUMS[0].partition("void")[0] + relaxed
    assert not forwarded(vert, SUMS[1])
    assert forwarded(vert.replace("mediump ", ""), SUMS[1])


def test_a_volatile_load_stays_in_its_stage() -> None:
    vert, frag = pair(
        "layout(binding = 0) uniform U { vec4 tint; };\nlayout(location = 0) out vec4 a;\n"
        "--a = tint;",
        "layout(location = 0) in vec4 a;\n--o = a;",
    )
    code, settings = vertex(vert), spvlink.Options(clean=True)
    settings.layout = {"setLayouts": ALL_SETS}
    assert Result(code, fragment(frag), settings).fates()["a 0.xyzw"] == "propagated"
    once = edited(code, (r"(OpLoad %v4float %\w+)(\n *OpStore %a)", r"\1 Volatile\2"))
    assert Result(once, fragment(frag), settings).fates()["a 0.xyzw"] != "propagated"


def test_what_is_propagated_takes_the_type_it_is_read_as() -> None:
    """Signedness may differ over a border."""
    done = link(
        "layout(location = 0) flat out int a;\n--a = -7;",
        "layout(location = 0) flat in uint a;\n"
        "--vec4 f = gl_FragCoord; uvec2 w = uvec2(a, f.x); o = vec4(w[uint(f.y) & 1u]);",
    )
    assert done.linked.validated == "validated" and done.linked.passed_through is None
    assert done.fates()["a 0.x"] == "propagated"


def test_what_is_read_per_vertex_is_not_taken_for_interpolated() -> None:
    places = SUMS[1].partition("void")[0].replace(" in ", " pervertexEXT in ")
    frag = places.replace(";", "[];") + "void main() { o = vec4(a[0], b[1], a[2], b[0]); }"
    frag = "#extension GL_EXT_fragment_shader_barycentric : require\n" + frag
    options = spvlink.Options(clean=True)
    options.disable = frozenset(("backward", "dedup"))
    done = Result(vertex(SUMS[0]), fragment(frag, "vulkan1.2"), options)
    assert done.linked.passed_through is None
    assert "moved-forward" not in done.fates().values()
