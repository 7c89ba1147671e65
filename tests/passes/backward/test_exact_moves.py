"""What crosses since it is exact to the bit: uniform expressions of built-ins that are integers,
integers of 16 bits where the interface has none."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.samples import compile_glsl

UNIFORMS = """layout(push_constant) uniform P { int x; } pc;
layout(set = 0, binding = 0) uniform U { ivec4 u; };
"""


def link(codes: list[bytes], **settings: object) -> spvlink.Linked:
    linked = spvlink.link(codes, **settings)
    assert linked.defect is None, linked.defect
    assert linked.validated == "validated"
    return linked


def drawn(codes: list[bytes], linked: spvlink.Linked) -> None:
    scene, before = draw_covering(codes)
    assert before.is_good()
    difference = compare(before, draw([s.data for s in linked.stages], scene))
    assert not difference, str(difference)


LAYER = "#extension GL_ARB_shader_viewport_layer_array : require\n"
BUILTINS = {
    "vert": """#version 460
{layer}{uniforms}
layout(location = 0) in vec4 p; layout(location = 0) out vec4 c;
void main() {{ gl_Position = vec4(p.xyz, 1.0); c = p; {builtin} = {value}; }}""",
    "geom": """#version 460
{uniforms}
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 d;
void main() {{
    for (int i = 0; i < 3; ++i) {{
        gl_Position = gl_in[i].gl_Position; d = c[i]; {builtin} = {value}; EmitVertex();
    }}
}}""",
    "frag": """#version 460
{uniforms}
layout(location = 0) in vec4 c; layout(location = 0) out vec4 o;
void main() {{ o = sin(c) * float({builtin} + 2) + float(pc.x) + vec4(u); }}""",
}


def built(builtin: str, value: str, geometry: bool) -> list[bytes]:
    words = {"layer": LAYER, "uniforms": UNIFORMS, "builtin": builtin, "value": value}
    if not geometry:
        return [compile_glsl(BUILTINS[s].format(**words), s, "vulkan1.2") for s in ("vert", "frag")]
    plain = BUILTINS["vert"].replace("{builtin} = {value};", "").format(**words)
    others = [compile_glsl(BUILTINS[s].format(**words), s, "vulkan1.2") for s in ("geom", "frag")]
    return [compile_glsl(plain, "vert", "vulkan1.2"), *others]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("builtin", "geometry"),
    [
        ("gl_Layer", False),
        ("gl_ViewportIndex", False),
        ("gl_Layer", True),
        ("gl_PrimitiveID", True),
    ],
)
def test_a_uniform_expression_of_a_built_in_crosses(
    builtin: str, geometry: bool, exact: bool
) -> None:
    """It crosses also where there is nothing else to gain. There is one layer, and one viewport."""
    value = "pc.x * 3 + u.y"
    if builtin != "gl_PrimitiveID":
        value = f"min(abs({value}), 0)"
    codes = built(builtin, value, geometry)
    linked = link(codes, exact=exact)
    assert linked.interfaces[-1].builtins == (1, 0)
    assert ("propagated", builtin) in {(r.action, r.name) for r in linked.remarks}
    assert linked.passed_through is None
    drawn(codes, linked)
    again = link([s.data for s in linked.stages], exact=exact)
    assert again.passed_through == "nothing to gain"


SHORT = """#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
"""
# a position that needs no number of 16 bits, but the capability
SUMS = {
    "vert": """layout(location = 0) in vec3 p; layout(location = 1) in ivec4 k;
layout(location = 0) flat out int a; layout(location = 1) flat out int b;
void main() {{
    gl_Position = vec4(p, 1.0 + 0.001 * float({type}(k.z) * {type}(k.w) & {type}(3)));
    a = k.x * 9001; b = k.y * k.x;
}}""",
    "frag": """layout(location = 0) flat in int a; layout(location = 1) flat in int b;
layout(location = 0) out vec4 o;
void main() {{
    {type} s = {type}(a) {operation} {type}(b);
    o = vec4(float(s * {type}(gl_FragCoord.x)), float(s), float(s / {type}(7)), 1.0);
}}""",
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("operation", ["+", "-", "*", "^"])
@pytest.mark.parametrize("type", ["int16_t", "uint16_t"])
def test_a_short_integer_crosses_in_a_word(type: str, operation: str, exact: bool) -> None:
    words = {"type": type, "operation": operation}
    codes = [compile_glsl(SHORT + SUMS[s].format(**words), s) for s in ("vert", "frag")]
    linked = link(codes, exact=exact)
    assert linked.interfaces[0].components == (2, 1)
    drawn(codes, linked)
    again = link([s.data for s in linked.stages], exact=exact)
    assert again.passed_through == "nothing to gain"


def test_a_stage_without_short_integers_makes_none() -> None:
    vertex = SUMS["vert"].replace("{type}(k.z) * {type}(k.w) & {type}(3)", "k.z & 3")
    sources = {"vert": vertex, "frag": SUMS["frag"]}
    words = {"type": "int16_t", "operation": "+"}
    codes = [compile_glsl(SHORT + sources[s].format(**words), s) for s in ("vert", "frag")]
    linked = link(codes)
    assert linked.interfaces[0].components == (2, 2)
    assert any("Int16" in r.why for r in linked.remarks)
    drawn(codes, linked)
