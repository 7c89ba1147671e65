"""Images and samplers are used in the block that loads them (specification 2.16.1), and equal
lookups are one all the same."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import ops
from tests.support.judges import IMAGES, assert_valid, astray
from tests.support.samples import compile_glsl

VERTEX = """#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 v;
layout(location = 1) out vec4 spare;
void main() { gl_Position = p; v = p.wzyx * 0.5 + 0.25; spare = p; }
"""
FRAGMENT = """#version 450
#extension GL_EXT_nonuniform_qualifier : enable
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 o;
layout(binding = 0) uniform sampler2D c;
layout(binding = 1) uniform texture2D t;
layout(binding = 2) uniform sampler s;
layout(binding = 3) uniform U { vec4 k; int n; };
layout(binding = 4) uniform sampler2D many[2];
vec2 f(vec2 x) { if (x.x > k.y) return x.yx; x += 0.125; return x; }
vec4 g(sampler2D h, vec2 x) { return textureLod(h, f(x), 0.0); }
"""
BODIES = {
    "combined": (
        "o = textureLod(c, v.xy, 0.0); if (v.x > k.x) o += textureLod(c, v.xy, 0.0).yxzw;"
        "else o -= textureLod(c, v.zw, 0.0);",
        2,
    ),
    "separate": (
        "o = textureLod(sampler2D(t, s), v.xy, 0.0);"
        "if (v.x > k.x) o += textureLod(sampler2D(t, s), v.xy, 0.0).yxzw;"
        "else o -= textureLod(sampler2D(t, s), v.zw, 0.0);",
        2,
    ),
    "the sampler of another texture": (
        "o = textureLod(sampler2D(t, s), v.xy, 0.0) + texelFetch(c, ivec2(0), 0);"
        "if (v.x > k.x) o += texelFetch(sampler2D(t, s), ivec2(0), 0) + texelFetch(c, ivec2(0), 0);"
        "else o -= textureLod(c, v.xy, 0.0) + textureSize(c, 0).xyxy;",
        2,
    ),
    "a call cuts the block": (
        "o = textureLod(c, f(v.xy), 0.0) + texture(sampler2D(t, s), f(v.zw)) + g(c, v.yz);",
        3,
    ),
    "in a loop": (
        "o = vec4(0.0); for (int i = 0; i < n; ++i) o += textureLod(c, f(v.xy * i), 0.0);"
        "o += textureLod(c, v.xy, 0.0);",
        2,
    ),
    "its own block needs it no more": (
        "vec4 w = textureLod(c, v.xy, 0.0); if (v.x > k.x) { w = textureLod(c, v.zw, 0.0); }"
        "else { w = k; } o = w;",
        1,
    ),
    "of an array": (
        "int i = nonuniformEXT(v.x > k.x ? 1 : 0); vec4 w = textureLod(many[i], v.xy, 0.0);"
        "if (v.y > k.y) w = textureLod(many[i], v.zw, 0.0); else w = k; o = w;",
        1,
    ),
}


def linked(codes: list[bytes], exact: bool) -> list[bytes]:
    found = spvlink.link(codes, exact=exact, clean=True)
    assert found.defect is None and found.passed_through is None, found.passed_through
    return [stage.data for stage in found.stages]


def count(code: bytes, *opcodes: int) -> int:
    (function,) = decode(code).functions
    return sum(inst.op in opcodes for block in function.blocks for inst in block.insts)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("exact", [False, True], ids=["default", "exact"])
def test_they_stay_in_their_block(name: str, exact: bool) -> None:
    body, lookups = BODIES[name]
    source = FRAGMENT + "void main() { " + body + " }"
    codes = [compile_glsl(VERTEX, "vert"), compile_glsl(source, "frag")]
    new = linked(codes, exact)
    assert_valid(codes, new)
    assert not any(map(astray, new))
    sampled = (ops.OpImageSampleExplicitLod, ops.OpImageSampleImplicitLod)
    assert count(new[1], *sampled) == lookups
    (function,) = decode(new[1]).functions
    insts = [inst for block in function.blocks for inst in block.insts]
    used = {arg for inst in insts for arg in inst.args}
    loads = [i for i in insts if i.type is not None and i.type.op in IMAGES]
    assert loads and used.issuperset(loads)
    again = spvlink.link(new, exact=exact, clean=True)
    assert [stage.data for stage in again.stages] == new
    scene, before = draw_covering(codes)
    assert before.is_good()
    assert not compare(before, draw(new, scene))


@pytest.mark.parametrize("what", ["textureSize(c, 0)", "textureSize(sampler2D(t, s), 0)"])
def test_a_size_is_asked_for_once(what: str) -> None:
    """A second link finds nothing in blocks that only the first one joined."""
    source = f"""{FRAGMENT}
vec2 size(bool part) {{ if (part) return vec2({what}) * 0.5; return vec2({what}); }}
void main() {{ o = vec4(size(true), size(false)) + vec4({what}, v.xy); }}"""
    codes = [compile_glsl(VERTEX, "vert"), compile_glsl(source, "frag")]
    new = linked(codes, True)
    assert_valid(codes, new)
    assert count(new[1], ops.OpImageQuerySizeLod) == 1
    assert [stage.data for stage in spvlink.link(new, exact=True, clean=True).stages] == new
