"""Proof on paper up to rounding: a change that a rule is for is proved by default and not with
--exact, and a mistake beside it is not proved at all."""

from __future__ import annotations

import pytest

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL
from tests.support.samples import compile_glsl

BLOCK = "layout(set = 0, binding = 0) uniform U { float u; float w; int count; };\n"
VERT = f"""#version 450
{BLOCK}layout(location = 0) in vec4 position;
layout(location = 1) in vec2 given;
layout(location = 0) out vec2 v;
void main() {{
    float a = given.x, b = given.y;
    v = WRITTEN;
    gl_Position = position;
}}
"""
GEOM = f"""#version 450
{BLOCK}layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec2 v[];
layout(location = 0) out vec2 g;
void main() {{
    float a = v[0].x, b = v[1].y;
    g = FIRST;
    gl_Position = gl_in[0].gl_Position;
    EmitVertex();
    g = SECOND;
    gl_Position = gl_in[1].gl_Position;
    EmitVertex();
    g = THIRD;
    gl_Position = gl_in[2].gl_Position;
    EmitVertex();
}}
"""
FRAG = f"""#version 450
{BLOCK}layout(location = 0) in vec2 v;
layout(location = 0) out vec4 colour;
void main() {{ READ }}
"""
SUM = "float s = 0.0; for (int i = 0; i < count; i++) s += v.x * {}; colour = vec4(s);"
DECIDES = (
    "float s = 0.0; for (int i = 0; i < count && s < 4.0; i++) s += v.x * {}; colour = vec4(s);"
)
# stages before, after: (written, read) of a pair, (first, second, third, read) of a geometry shader
RIGHT = {
    "a factor behind interpolation": (("vec2(a * u, b)", "colour = vec4(v.x);"),
                                      ("vec2(a, b)", "colour = vec4(v.x * u);")),
    "a choice with a factor": (("vec2(a > 0.0 ? b * u : a * u, b)", "colour = vec4(v.x);"),
                               ("vec2(a > 0.0 ? b : a, b)", "colour = vec4(v.x * u);")),
    "in a loop": (("vec2(a, b)", SUM.format("u")), ("vec2(a * u, b)", SUM.format("1.0"))),
    "through a geometry shader": (
        ("vec2(a * u)", "vec2(b * u)", "vec2(u)", "colour = vec4(v.x);"),
        ("vec2(a)", "vec2(b)", "vec2(1.0)", "colour = vec4(v.x * u);")),
    "one value of all vertices": (("vec2(u)", "vec2(u)", "vec2(u)", "colour = vec4(v.x);"),
                                  ("vec2(a)", "vec2(a)", "vec2(a)", "colour = vec4(u);")),
    "the size of a negative factor": (("vec2(-a * 2.0, b)", "colour = vec4(sin(abs(v.x)));"),
                                      ("vec2(a, b)", "colour = vec4(sin(abs(v.x * 2.0)));")),
}  # fmt: skip
WRONG = {
    "the size of another factor": (("vec2(-a * 2.0, b)", "colour = vec4(sin(abs(v.x)));"),
                                   ("vec2(a, b)", "colour = vec4(sin(abs(v.x * 3.0)));")),
    "the size of another sum": (("vec2(a - b, b)", "colour = vec4(sin(abs(v.x)));"),
                                ("vec2(a, b)", "colour = vec4(sin(abs(v.x + v.y)));")),
    "another factor": (("vec2(a * u, b)", "colour = vec4(v.x);"),
                       ("vec2(a, b)", "colour = vec4(v.x * w);")),
    "a factor that varies": (("vec2(a * b, b)", "colour = vec4(v.x);"),
                             ("vec2(a, b)", "colour = vec4(v.x * v.y);")),
    "a factor of one side of a choice": (
        ("vec2(a > 0.0 ? b * u : a * u, b)", "colour = vec4(v.x);"),
        ("vec2(a > 0.0 ? b : a * u, b)", "colour = vec4(v.x * u);")),
    "sides of a choice swapped": (("vec2(a > 0.0 ? b * u : a * u, b)", "colour = vec4(v.x);"),
                                  ("vec2(a > 0.0 ? a : b, b)", "colour = vec4(v.x * u);")),
    "a choice behind interpolation": (("vec2(a > 0.0 ? 1.0 : 0.0, b)", "colour = vec4(v.x);"),
                                      ("vec2(a, b)", "colour = vec4(v.x > 0.0 ? 1.0 : 0.0);")),
    "in a loop that the sum ends": (("vec2(a, b)", DECIDES.format("u")),
                                    ("vec2(a * u, b)", DECIDES.format("1.0"))),
    "in a loop, of other rounds": (("vec2(a, b)", SUM.format("u")),
                                   ("vec2(a, b)", SUM.replace("i = 0", "i = 1").format("u"))),
    "a sum in front of a step": (("vec2(a * u, b)", "colour = vec4(step(0.5, v.x));"),
                                 ("vec2(a, b)", "colour = vec4(step(0.5, v.x * u));")),
    "a sum in front of a pole": (("vec2(a * u + b, b)", "colour = vec4(1.0 / v.x);"),
                                 ("vec2(a, b)", "colour = vec4(1.0 / (v.x * u + v.y));")),
    "a pole that extrapolation reaches": (
        ("vec2((abs(a) + 0.5) * u, b)", "colour = vec4(1.0 / v.x);"),
        ("vec2(abs(a) + 0.5, b)", "colour = vec4(1.0 / (v.x * u));")),
    "a factor of one vertex": (
        ("vec2(a * u)", "vec2(b * u)", "vec2(u)", "colour = vec4(v.x);"),
        ("vec2(a)", "vec2(b)", "vec2(u)", "colour = vec4(v.x * u);")),
    "vertices swapped": (("vec2(a * u)", "vec2(b * u)", "vec2(u)", "colour = vec4(v.x);"),
                         ("vec2(b)", "vec2(a)", "vec2(1.0)", "colour = vec4(v.x * u);")),
    "one value of two vertices": (("vec2(u)", "vec2(u)", "vec2(w)", "colour = vec4(v.x);"),
                                  ("vec2(a)", "vec2(a)", "vec2(a)", "colour = vec4(u);")),
    "a value of the first vertex": (("vec2(a)", "vec2(b)", "vec2(b)", "colour = vec4(v.x);"),
                                    ("vec2(a)", "vec2(a)", "vec2(a)", "colour = vec4(v.x);")),
}  # fmt: skip


def sources(form: tuple[str, ...]) -> list[Source]:
    frag = compile_glsl(FRAG.replace("READ", form[-1]), "frag")
    if len(form) == 2:
        return [Source(compile_glsl(VERT.replace("WRITTEN", form[0]), "vert")), Source(frag)]
    geom = GEOM
    for word, text in zip(("FIRST", "SECOND", "THIRD"), form):
        geom = geom.replace(word, text)
    vert = compile_glsl(VERT.replace("WRITTEN", "given"), "vert")
    return [Source(vert), Source(compile_glsl(geom, "geom")), Source(frag)]


def outcome(before: tuple[str, ...], after: tuple[str, ...], exact: bool) -> str:
    return prove(sources(before), sources(after), Options(exact=exact), 20.0).outcome


@pytest.mark.parametrize("name", RIGHT)
def test_a_change_of_rounding_is_proved_by_default_alone(name: str) -> None:
    before, after = RIGHT[name]
    assert outcome(before, after, False) == EQUAL
    assert outcome(after, before, False) == EQUAL
    assert outcome(before, after, True) != EQUAL


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_beside_a_rule_is_not_proved(name: str) -> None:
    before, after = WRONG[name]
    for one, two in ((before, after), (after, before)):
        assert outcome(one, two, False) != EQUAL
        assert outcome(one, two, True) != EQUAL
