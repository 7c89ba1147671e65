"""Which values a number may have, as far as flags are looked for: casts between vectors of other
sizes, and composites of a size that nobody knows."""

from __future__ import annotations

import struct

import pytest

import spvlink
from spvlink.ir.core import Inst
from spvlink.link.pack.narrow import values_of
from spvlink.pipeline import Source
from tests.support.chain_text import frag, vert
from tests.support.linking import fragment, module_of
from tests.support.samples import assemble, compile_glsl
from tests.support.shared_values import prove

TEXT = """
OpCapability Shader
OpCapability Int16
OpCapability Float64
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %n
OpExecutionMode %main OriginUpperLeft
OpDecorate %n Flat
OpDecorate %n Location 0
OpDecorate %length SpecId 0
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%u16 = OpTypeInt 16 0
%u32 = OpTypeInt 32 0
%v2u16 = OpTypeVector %u16 2
%v4u16 = OpTypeVector %u16 4
%v2u32 = OpTypeVector %u32 2
%i32 = OpTypeInt 32 1
%v2i32 = OpTypeVector %i32 2
%length = OpSpecConstant %u32 2
%array = OpTypeArray %u32 %length
%ptr = OpTypePointer Input %u32
%n = OpVariable %ptr Input
%0 = OpConstant %u32 0
%5 = OpConstant %u32 5
%7 = OpConstant %u32 7
%null = OpConstantNull %u32
%null2 = OpConstantNull %v2u32
%null4 = OpConstantNull %v4u16
%nulls = OpConstantNull %array
%undef = OpUndef %u32
%undef4 = OpUndef %v4u16
%undefs = OpUndef %array
%pair = OpConstantComposite %v2u32 %5 %7
%v4u32 = OpTypeVector %u32 4
%f32 = OpTypeFloat 32
%f64 = OpTypeFloat 64
%i3 = OpConstant %i32 3
%minus = OpConstant %i32 -1
%odd = OpConstant %i32 16777217
%top = OpConstant %u32 0x80000000
%fraction = OpConstant %f64 0.1
%half = OpConstant %f64 0.5
%main = OpFunction %void None %f
%entry = OpLabel
%i = OpLoad %u32 %n
%c = OpULessThan %bool %i %5
%chosen = OpSelect %u32 %c %5 %7
%either = OpSelect %i32 %c %i3 %minus
%odder = OpSelect %i32 %c %i3 %odd
%tops = OpSelect %u32 %c %5 %top
%doubles = OpSelect %f64 %c %fraction %half
%exact = OpSelect %f64 %c %half %half
%both = OpCompositeConstruct %v2u32 %chosen %i
%made = {made}
OpReturn
OpFunctionEnd
"""


def bits(number: float) -> int:
    return int.from_bytes(struct.pack("<f", number), "little")


@pytest.mark.parametrize(
    ("made", "lane", "values"),
    [
        ("OpBitcast %v2u16 %null", 1, None),
        ("OpBitcast %v2u16 %undef", 1, None),
        ("OpBitcast %v2u16 %chosen", 1, None),
        ("OpBitcast %v2u32 %null4", 1, None),
        ("OpBitcast %v4u16 %null2", 3, None),
        ("OpBitcast %v4u16 %pair", 3, None),
        ("OpBitcast %v4u16 %both", 0, None),
        ("OpBitcast %u32 %bits", -1, None),
        ("OpCompositeExtract %u32 %nulls 1", -1, None),
        ("OpCompositeExtract %u32 %undefs 1", -1, None),
        ("OpCompositeExtract %u32 %pair 1", -1, {7}),
        ("OpCompositeExtract %u32 %both 0", -1, {5, 7}),
        ("OpCompositeExtract %u32 %both 1", -1, None),
        ("OpBitcast %v2i32 %both", 0, {5, 7}),
        ("OpBitcast %v2i32 %both", 1, None),
        ("OpCompositeConstruct %v4u32 %both %both", 2, {5, 7}),
        ("OpConvertSToF %f32 %either", -1, {bits(3.0), bits(-1.0)}),
        ("OpConvertSToF %f32 %odder", -1, None),
        ("OpConvertUToF %f32 %tops", -1, {bits(5.0), bits(2.0**31)}),
        ("OpConvertUToF %f32 %odder", -1, None),
        ("OpFConvert %f32 %doubles", -1, None),
        ("OpFConvert %f32 %exact", -1, {bits(0.5)}),
    ],
)
def test_values(made: str, lane: int, values: set[int] | None) -> None:
    text = TEXT.replace("%made = {made}", f"%bits = OpBitcast %v2u16 %i\n%made = {made}")
    module = module_of(assemble(text))
    assert module.entry is not None
    inst: Inst = module.entry.function.blocks[0].insts[-2]
    assert values_of(module, (inst, lane)) == values


def test_flags_beside_a_cast() -> None:
    """An undefined number cast to a vector is no flag; what is, is packed."""
    outs = "layout(location = 0) flat out uvec4 a; layout(location = 1) flat out uvec4 b;\n"
    vert = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(location = 0) in ivec4 k;
OUTS
void main() {
    uint none;
    u16vec2 halves = unpack16(none);
    a = uvec4(k.x > 0 ? 1 : 0, k.y > 0 ? 1 : 0, k.z > 0 ? 1 : 0, uint(halves.y));
    b = uvec4(k.w > 0 ? 3 : 4, k.xyz);
    gl_Position = vec4(k);
}
""".replace("OUTS", outs)
    frag = fragment(outs.replace(" out ", " in ") + "void main() { o = vec4(a) + vec4(b); }")
    for exact in (False, True):
        options = spvlink.Options(clean=True)
        options.exact = exact
        options.disable = frozenset(("simplify",)) if exact else frozenset()
        done = spvlink.link([Source(compile_glsl(vert, "vert")), Source(frag)], options)
        assert done.defect is None, done.defect


@pytest.mark.parametrize(("number", "packed"), [("1e-40", False), ("0.25", True)])
def test_flags_that_are_denormal_numbers(number: str, packed: bool) -> None:
    """The fragment stage's compiler would know them, and need not make zeros of them."""
    head = "#version 450\nlayout(location = 0) "
    outputs = "layout(location = 0) flat {0} vec4 s; layout(location = 1) flat {0} float t;"
    chosen = ", ".join(f"k.{lane} > 1 ? {number} : 0.5" for lane in "xyzw")
    code = f"""in ivec4 k; {outputs.format("out")}
void main() {{ gl_Position = vec4(1.0); s = vec4({chosen}); t = k.x > 2 ? {number} : 2.0; }}"""
    read = f"""out vec4 o; {outputs.format("in")} void main() {{ o = (s + t) * 1e38; }}"""
    options = spvlink.Options(clean=True)
    options.exact = True
    sources = [
        Source(compile_glsl(head + code, "vert")),
        Source(compile_glsl(head + read, "frag")),
    ]
    linked = spvlink.link(sources, options)
    assert any("one bit" in r.why for r in linked.remarks) == packed


@pytest.mark.parametrize(
    ("use", "packed"),
    [("o = uintBitsToFloat(s) + uintBitsToFloat(t);", False), ("bits = s ^ t;", True)],
)
def test_flags_that_become_denormal_numbers(use: str, packed: bool) -> None:
    """As above, where the fragment stage casts them."""
    head = "#version 450\nlayout(location = 0) "
    outputs = "layout(location = 0) flat {0} uvec4 s; layout(location = 1) flat {0} uint t;"
    chosen = ", ".join(f"k.{lane} > 1 ? 0x10000u : 9u" for lane in "xyzw")
    code = f"""in ivec4 k; {outputs.format("out")}
void main() {{ gl_Position = vec4(1.0); s = uvec4({chosen}); t = k.x > 2 ? 0x10000u : 9u; }}"""
    read = f"""out vec4 o; {outputs.format("in")}
layout(location = 1) out uvec4 bits; void main() {{ {use} }}"""
    options = spvlink.Options(clean=True)
    options.exact = True
    options.disable = frozenset(("backward", "forward"))
    sources = [
        Source(compile_glsl(head + code, "vert")),
        Source(compile_glsl(head + read, "frag")),
    ]
    linked = spvlink.link(sources, options)
    assert any("one bit" in r.why for r in linked.remarks) == packed


# -- small numbers ---------------------------------------------------------------------------------

OUTS = """layout(location = 0) out vec3 c; layout(location = 1) flat out uint d;
layout(location = 2) flat out int e; layout(location = 3) flat out uvec3 f;
"""
SHOW = """color = sin(c.xyzx) + vec4(d % 97u, e % 89, (f.x ^ f.y) % 83u, f.z % 7u);"""
# What is stored in d and in e, u and v being numbers of which nothing is known, and whether both
# are known to fit into a word.
STORED = {
    "masks": ("u & 0xffffu", "int(v & 0xfff0u)", True),
    "shifts": ("u >> 12", "int(v >> 20)", True),
    "a shift of a mask": ("(u & 0xf0f0u) >> 4", "int((v & 0x7fffu) << 2)", True),
    "remainders": ("u % 1000u", "int(v % 77u)", True),
    "bit fields": ("bitfieldExtract(u, 3, 16)", "int(bitfieldExtract(v, 7, 16))", True),
    "minima": ("min(u, 65535u)", "int(min(min(v, 99u), u))", True),
    "choices": ("u > v ? 40000u : u & 255u", "u > 9u ? 7 : int(v & 0xffu)", True),
    "by branches": ("n", "int(v & 31u)", True),
    "on one path": ("u & 3u", "w", True),
    "put together": ("(u & 15u) | (v & 15u) << 8", "int((u & 7u) ^ (v & 0x70u))", True),
    "a vector": ("q.y", "int(q.x)", True),
    "beside a flag": ("u & 0x7fffffffu", "v > 8u ? 11 : 3", True),
    "one bit too many": ("u & 0x1ffffu", "int(v & 0xffffu)", False),
    "a signed shift": ("u & 255u", "int(v) >> 20", False),
    "a signed bit field": ("u & 255u", "bitfieldExtract(int(v), 0, 8)", False),
    "a signed minimum": ("u & 255u", "min(int(v), 9)", False),
    "a sum": ("u & 255u", "int(v + (u & 15u))", False),
    "a sum round a loop": ("u & 255u", "t", False),
    "anything": ("u", "int(v & 1u)", False),
}


@pytest.mark.parametrize("exact", [False, True], ids=["", "exact"])
@pytest.mark.parametrize("name", STORED)
def test_small_numbers_share_a_word(name: str, exact: bool) -> None:
    d, e, packed = STORED[name]
    body = f"""uint u = floatBitsToUint(a.x), v = floatBitsToUint(b.y) ^ uint(k.x);
uint n; if (u > v) n = u & 0xffu; else n = 0xfffu; int w = 0; if (k.y > 0) w = int(v & 3u);
int t = 1; for (int i = 0; i < k.z; ++i) t += 3; uvec2 q = uvec2(u, v) & uvec2(0xffu, 0xffffu);
c = a.xyz; d = {d}; e = {e}; f = floatBitsToUint(b.zwx);"""
    stages = [vert(OUTS, body), frag(OUTS.replace(" out ", " in "), SHOW)]
    linked = prove(stages, exact=exact)
    assert linked.interfaces[0].locations == (4, 2 if packed else 3)
    said = {r.why.partition(" of a word")[0] for r in linked.remarks if r.name in ("d", "e")}
    assert bool(said & {"some bits", "one bit"}) == packed


def test_flags_of_different_widths_alone() -> None:
    """Two Locations, since no Location has components of two widths."""
    types = "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
    outs = """layout(location = 0) flat out float c; layout(location = 3) flat out int16_t d;
"""
    store = "c = a.x > 0.0 ? 2.0 : 3.5; d = b.y > 0.0 ? int16_t(-3) : int16_t(9);"
    stages = [vert(outs, store), frag(outs.replace(" out ", " in "), "color = vec4(c, d, d, 1);")]
    stages = [(s, t.replace("450\n", "450\n" + types)) for s, t in stages]
    linked = prove(stages)
    assert linked.interfaces[0].locations == (2, 1)


def test_a_producer_need_not_say_flat() -> None:
    """What counts is how the fragment shader reads it."""
    body = """uint u = floatBitsToUint(a.x), v = floatBitsToUint(b.y);
c = a.xyz; d = u & 0xffffu; e = int(v >> 20); f = floatBitsToUint(b.zwx);"""
    outs = OUTS.replace("flat out uint d", "out uint d")
    linked = prove([vert(outs, body), frag(OUTS.replace(" out ", " in "), SHOW)])
    assert linked.interfaces[0].locations == (4, 2)
