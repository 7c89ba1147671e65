"""Sums up to rounding: what is read of columns, of loops and of constants.

Each rule has a pair that it proves, and pairs beside it that differ by what the rule must ask for:
none of these may be proved."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.paper.graph import MEMORY, Graph
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.paper.terms import Terms
from spvlink.verifier.verdict import EQUAL, UNEQUAL, UNKNOWN
from tests.support.samples import compile_glsl, edited

UNIFORMS = "layout(set = 0, binding = 0) uniform U { vec4 tint; float level; int rounds; };\n"
MESH = f"""#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 4) in;
layout(triangles, max_vertices = 8, max_primitives = 8) out;
{UNIFORMS}layout(location = 0) out float v[];
layout(location = 1) perprimitiveEXT out float m[];
void main() {{
    uint i = gl_LocalInvocationIndex;
    SetMeshOutputsEXT(8, 8);
    BODY
}}
"""
MESH_FRAGMENT = f"""#version 450
#extension GL_EXT_mesh_shader : require
{UNIFORMS}layout(location = 0) in float v;
layout(location = 1) perprimitiveEXT in float m;
layout(location = 0) out vec4 c;
void main() {{ c = vec4(BODY); }}
"""
VERTEX = f"""#version 450
{UNIFORMS}layout(set = 0, binding = 1) buffer B {{ uint counter; }};
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 v;
float halved(float x) {{
    float s = x;
    for (int i = 0; i < rounds; i++)
        s = s * 0.5 + 0.1;
    return s;
}}
float nested(float x) {{
    float s = 0.0, y = x;
    for (int i = 0; i < rounds; i++) {{
        for (int j = 0; j < i; j++)
            s = s * 0.5 + y;
        y = y * 0.75;
    }}
    return s;
}}
float counted() {{
    float s = 1.0;
    for (int i = 0; i < rounds; i++)
        s = s * 0.5 + float(atomicAdd(counter, 1u));
    return s;
}}
void main() {{ gl_Position = p; v = BODY; }}
"""
FRAGMENT = f"""#version 450
{UNIFORMS}layout(location = 0) in vec4 v;
layout(location = 0) out vec4 c;
bool is_odd(int round) {{
    bool odd = false;
    for (int j = 0; j < round * rounds; j++)
        odd = !odd;
    return odd;
}}
vec4 either(float x, float y) {{
    vec2 s = vec2(0.0);
    for (int i = 0; i < rounds; i++)
        s += is_odd(i) ? vec2(x, y) : vec2(y, x);
    return vec4(s.x * s.y);
}}
vec4 both(float x, float y) {{
    vec2 s = vec2(0.0);
    for (int i = 0; i < rounds; i++)
        s += vec2(x, y);
    return vec4(s.x * s.y);
}}
void main() {{ c = vec4(BODY); }}
"""
GEOMETRY_VERTEX = """#version 450
layout(location = 0) in vec4 p;
void main() { gl_Position = p; }
"""
GEOMETRY = f"""#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
{UNIFORMS}layout(location = 0) out vec4 v;
void main() {{
    float nothing;
    for (int i = 0; i < 3; i++) {{
        gl_Position = gl_in[i].gl_Position;
        v = vec4(BODY);
        EmitVertex();
    }}
}}
"""
CONTROL = f"""#version 450
layout(vertices = 3) out;
{UNIFORMS}void main() {{
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = level;
    gl_TessLevelInner[0] = level;
}}
"""
EVALUATION = f"""#version 450
layout(DOMAIN) in;
{UNIFORMS}layout(location = 0) out vec4 v;
void main() {{
    vec3 t = gl_TessCoord;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
                + gl_in[2].gl_Position * (1.0 - t.x - t.y);
    v = vec4(BODY);
}}
"""
BASES = {
    "mesh": {"mesh": MESH, "frag": MESH_FRAGMENT},
    "vertex": {"vert": VERTEX, "frag": FRAGMENT},
    "geometry": {"vert": GEOMETRY_VERTEX, "geom": GEOMETRY, "frag": FRAGMENT},
    "triangles": {"vert": GEOMETRY_VERTEX, "tesc": CONTROL, "tese": EVALUATION, "frag": FRAGMENT},
    "quads": {"vert": GEOMETRY_VERTEX, "tesc": CONTROL, "tese": EVALUATION, "frag": FRAGMENT},
}
TARGET = "vulkan1.2"
# What a mesh shader writes everywhere, and the values that change
DRAWN = """gl_MeshVerticesEXT[2u * i].gl_Position = vec4(float(i), 0.0, 0.5, 1.0);
    gl_MeshVerticesEXT[2u * i + 1u].gl_Position = vec4(float(i), 1.0, 0.5, 1.0);
    gl_PrimitiveTriangleIndicesEXT[2u * i] = uvec3(i, i + 1u, i + 2u);
    gl_PrimitiveTriangleIndicesEXT[2u * i + 1u] = uvec3(i, i + 2u, i + 3u);
    """
PAIR = "v[2u * i] = {}; v[2u * i + 1u] = {};"
HALF_DRAWN = DRAWN.replace(
    "    gl_MeshVerticesEXT[2u * i + 1u]", "    if (i < 2u) gl_MeshVerticesEXT[2u * i + 1u]"
)
FEW_PRIMITIVES = DRAWN + "if (i < 2u) m[i] = {};"
INF = "uintBitsToFloat(0x7f800000u)"


@dataclass(frozen=True)
class Sides:
    """A rule: what the stage in front of the fragment shader writes, and the colour, of the
    original and of what is linked; and linked ones that are wrong."""

    base: str
    original: tuple[str, str]
    linked: tuple[str, str]
    wrong: tuple[tuple[str, str], ...]


def pair(a: str, b: str, drawn: str = DRAWN) -> str:
    return drawn + PAIR.format(a, b)


def numbers(a: str, b: str, drawn: str = DRAWN, if_drawn: str = "") -> str:
    return f"{drawn} m[2u * i] = {a}; {if_drawn} m[2u * i + 1u] = {b};"


RULES = {
    "a column of numbers": Sides(
        "mesh", (pair("0.0", "1.0"), "level * (1.0 - v)"), (pair("1.0", "0.0"), "level * v"),
        ((pair("1.0", "0.5"), "level * v"), (pair("0.0", "1.0"), "level * v"),
         (pair("1.0", "0.0", HALF_DRAWN), "level * v")),
    ),
    "a column of one number": Sides(
        "mesh", (pair("1.0", "1.0"), "level"), (pair("1.0", "1.0"), "level * v"),
        ((pair("1.0", "0.5"), "level * v"), (DRAWN + "v[i] = 1.0;", "level * v"),
         (DRAWN + "v[2u * i] = 1.0; if (i < 2u) v[2u * i + 1u] = 1.0;", "level * v")),
    ),
    "numbers of primitives": Sides(
        "mesh", (numbers("0.0", "1.0"), "level * (1.0 - m)"),
        (numbers("1.0", "0.0"), "level * m"),
        ((numbers("1.0", "0.5"), "level * m"),
         (numbers("1.0", "0.0").replace("m[2u", "if (i < 2u) m[2u"), "level * m")),
    ),
    "a column of products": Sides(
        "mesh", (pair("float(i)", "0.0"), "v * level * 0.5"),
        (pair("0.5 * float(i)", "0.0"), "v * level"),
        ((pair("0.25 * float(i)", "0.0"), "v * level"),),
    ),
    "a factor of primitives": Sides(
        "mesh", (DRAWN + "m[i ^ 1u] = tint.x * float(i);", "level * m * 0.75"),
        (DRAWN + "m[i ^ 1u] = float(i) * (0.75 * tint.x);", "m * level"),
        ((DRAWN + "m[i ^ 1u] = float(i) * (0.751 * tint.x);", "m * level"),
         (DRAWN + "m[i ^ 2u] = float(i) * (0.75 * tint.x);", "m * level"),
         (FEW_PRIMITIVES.format("float(i) * (0.75 * tint.x)"), "m * level")),
    ),
    "numbers of a geometry shader": Sides(
        "geometry", ("i == 0 ? 2.0 : 5.0", "v * level"),
        ("i == 0 ? 0.0 : 1.0", "(2.0 + 3.0 * v) * level"),
        (("i == 0 ? 1.0 : 0.0", "(2.0 + 3.0 * v) * level"),
         ("i == 2 ? 0.0 : 1.0", "(2.0 + 3.0 * v) * level")),
    ),
    "coordinates of a triangle": Sides(
        "triangles", ("tint * t.x + tint * t.y + tint * t.z", "v"), ("tint", "v"),
        (("tint * t.x + tint * t.y", "v"), ("tint * t.x + tint * t.y + tint * t.y", "v")),
    ),
    "a choice of numbers": Sides(
        "vertex", ("p.x > 0.0 ? vec4(0.25) : vec4(0.75)", "v * level"),
        ("p.x > 0.0 ? vec4(1.0) : vec4(0.0)", "(0.75 - 0.5 * v) * level"),
        (("p.x > 0.0 ? vec4(0.0) : vec4(1.0)", "(0.75 - 0.5 * v) * level"),
         ("p.x > 0.0 ? vec4(1.0) : vec4(0.0)", "(0.75 - 0.25 * v) * level")),
    ),
    "a loop of uniforms": Sides(
        "vertex", ("vec4(p.xyz, halved(level))", "v.xyz * v.w, 1.0"),
        ("vec4(p.xyz * halved(level), 1.0)", "v.xyz, 1.0"),
        (("vec4(p.xyz * halved(level + 1.0), 1.0)", "v.xyz, 1.0"),),
    ),
    "loops of uniforms inside each other": Sides(
        "vertex", ("vec4(p.xyz, nested(level))", "v.xyz * v.w, 1.0"),
        ("vec4(p.xyz * nested(level), 1.0)", "v.xyz, 1.0"),
        (("vec4(p.xyz * nested(level * 2.0), 1.0)", "v.xyz, 1.0"),),
    ),
    "a quotient of constants": Sides(
        "vertex", ("vec4(0.3)", "pow(clamp(tint, 0.0, 1.0), 2.0 / v)"),
        ("p", "pow(clamp(tint, 0.0, 1.0), vec4(6.6666667))"),
        (("p", "pow(clamp(tint, 0.0, 1.0), vec4(6.667))"),),
    ),
    "a divisor of all vertices": Sides(
        "vertex", ("max(abs(tint), 0.2)", "(tint + level) / v"),
        ("p", "tint / max(abs(tint), 0.2) + level / max(abs(tint), 0.2)"),
        (("p", "tint / max(abs(tint), 0.2) - level / max(abs(tint), 0.2)"),),
    ),
    "constants that differ by rounding": Sides(
        "vertex", ("p", "v - 1.25"), ("p", "v - 1.2499999"), (("p", "v - 1.24999"),),
    ),
}  # fmt: skip
# Pairs beside the rules: no rule holds for them, whichever side is the original.
NEVER = {
    "a loop of what vertices differ in": (
        "vertex", ("vec4(p.xyz, halved(p.w))", "v.xyz * v.w, 1.0"),
        ("vec4(p.xyz * halved(p.w), 1.0)", "v.xyz, 1.0"),
    ),
    "an inner loop of what vertices differ in": (
        "vertex", ("vec4(p.xyz, nested(p.w))", "v.xyz * v.w, 1.0"),
        ("vec4(p.xyz * nested(p.w), 1.0)", "v.xyz, 1.0"),
    ),
    "a loop that others write in": (
        "vertex", ("vec4(p.xyz, counted())", "v.xyz * v.w, 1.0"),
        ("vec4(p.xyz * counted(), 1.0)", "v.xyz, 1.0"),
    ),
    "a divisor that vertices differ in": (
        "vertex", ("max(abs(p), 0.2)", "(tint + level) / v"),
        ("max(abs(p), 0.2)", "tint / v + level / v"),
    ),
    "large constants": ("vertex", ("p", "sin(v + 9000.0)"), ("p", "sin(v + 9000.001)")),
    "a large constant alone": ("vertex", ("p", "v * sin(9000.0 + v.x * 0.0)"),
                               ("p", "v * sin(9000.001 + v.x * 0.0)")),
    "coordinates of a square": (
        "quads", ("tint * t.x + tint * t.y + tint * t.z", "v"), ("tint", "v"),
    ),
    "an infinity of one vertex": (
        "geometry", (f"i == 0 ? {INF} : 1.0", "v"),
        ("i == 0 ? 1.0 : 0.0", f"v * {INF} + (1.0 - v)"),
    ),
    "an infinity of all vertices": ("geometry", (INF, "v"), ("1.0", INF)),
    "a divisor that is infinite": ("vertex", (f"vec4({INF})", "1.0 / v"), ("p", f"1.0 / {INF}")),
    "numbers that a primitive lacks": (
        "mesh", (numbers("0.0", "1.0", HALF_DRAWN), "level * (1.0 - m)"),
        (numbers("1.0", "0.0", HALF_DRAWN, "if (i < 2u)"), "level * m"),
    ),
    "cases that differ by round": (
        "vertex", ("p", "either(v.x, v.y)"), ("p", "both(v.x, v.y)"),
    ),
}  # fmt: skip


def compiled(base: str, texts: tuple[str, str]) -> list[bytes]:
    stages = BASES[base]
    bodies = dict(zip(list(stages)[-2:], texts))
    codes = []
    for stage, text in stages.items():
        text = text.replace("DOMAIN", base).replace("BODY", bodies.get(stage, ""))
        codes.append(compile_glsl(text, stage, TARGET))
    return codes


def is_proved(before: list[bytes], after: list[bytes], exact: bool = False) -> bool:
    sides = [[Source(data) for data in side] for side in (before, after)]
    return prove(sides[0], sides[1], Options(exact=exact), 20.0).outcome == EQUAL


@pytest.mark.parametrize("name", RULES)
def test_a_rule_proves_its_pair_and_no_wrong_one(name: str) -> None:
    rule = RULES[name]
    original = compiled(rule.base, rule.original)
    linked = compiled(rule.base, rule.linked)
    assert is_proved(original, linked)
    assert not is_proved(original, linked, exact=True)
    for texts in rule.wrong:
        wrong = compiled(rule.base, texts)
        assert is_proved(wrong, wrong, exact=True)
        assert not is_proved(original, wrong), texts


@pytest.mark.parametrize("name", NEVER)
def test_no_rule_proves_a_pair(name: str) -> None:
    base, *texts = NEVER[name]
    sides = [compiled(base, pair) for pair in texts]
    for one in sides:
        assert is_proved(one, one, exact=True)
    assert not is_proved(sides[0], sides[1])
    assert not is_proved(sides[1], sides[0])


def test_numbers_that_a_vertex_lacks_are_not_proved() -> None:
    sides = [compiled("geometry", (f"i == 1 ? {text} : 1.0", "v")) for text in ("0.0", "nothing")]
    assert not is_proved(sides[0], sides[1])


def test_levels_that_are_not_patch_are_not_proved() -> None:
    codes = compiled("triangles", ("gl_TessLevelOuter[0]", "v"))
    assert is_proved(codes, codes[:2] + [codes[2]] + codes[3:], exact=True)
    planted = list(codes)
    planted[2] = edited(codes[2], (r"OpDecorate %gl_TessLevelOuter Patch", ""), environment=TARGET)
    assert not is_proved(codes, planted)


def test_a_loop_over_interpolations_differs_between_fragments() -> None:
    """Though all that is named in it besides the variable is the same for all of them."""
    graph = Graph(1000, 60.0)
    terms = Terms(graph)
    at = terms.variable("i32", 0, 0)
    after = terms.op("IAdd", "i32", [at, graph.const("i32", 1)])
    more = terms.op("SLessThan", "b", [after, graph.node("load", "i32")])
    column = graph.node("emit", MEMORY, (graph.node("unwritten", MEMORY), graph.const("f32", 0)))
    value = graph.node("interp", "f32", (column, at))
    value.varying = True
    table = {at: (graph.const("i32", 0), after)}
    assert not terms.closed(more, at, table, 0, {}).varying
    assert terms.closed(more, value, table, 0, {}).varying


MIXED = """#version 450
layout(location = 0, component = 0) in vec2 first;
layout(location = 0, component = 2) flat in vec2 second;
layout(location = 0) out vec4 c;
void main() { c = vec4(first, second); }
"""


def test_inputs_of_one_location_with_different_interpolation_convict_a_link() -> None:
    """glslang refuses them, so one qualifier is taken away from a module that has two."""
    vertex = compile_glsl(VERTEX.replace("BODY", "tint"), "vert", TARGET)
    alike = compile_glsl(MIXED.replace("in vec2 first", "flat in vec2 first"), "frag", TARGET)
    mixed = edited(alike, ("OpDecorate %first Flat", ""), environment=TARGET)
    assert is_proved([vertex, alike], [vertex, alike])
    assert not is_proved([vertex, alike], [vertex, mixed])
    sides = [[Source(vertex), Source(fragment)] for fragment in (alike, mixed)]
    assert execute(sides[0], sides[0], Options()).outcome == EQUAL
    assert execute(sides[0], sides[1], Options()).outcome == UNEQUAL
    assert execute(sides[1], sides[1], Options()).outcome == UNKNOWN


def test_what_is_made_anew_of_a_column_stays_what_it_is() -> None:
    """Its kind is not that of the column, and fragments differ in it, though no vertex does."""
    graph = Graph(1000, 60.0)
    terms = Terms(graph)
    zero, one = graph.const("f32", 0), graph.const("f32", 0x3F800000)
    columns = [
        graph.node("emit", MEMORY, (graph.node("unwritten", MEMORY), number))
        for number in (zero, one)
    ]
    for op, args in (("interp", ()), ("at", (graph.node("provoking", "o"),))):
        made = graph.node(op, "f32", (*args, columns[0]))
        made.varying = True
        other = terms.substituted(made, {zero: one}, lambda node: False)
        assert (other.op, other.kind, other.args[-1]) == (op, "f32", columns[1])
        assert other.varying
