"""Rounding that docs/explanation/proof.md does not allow, and outputs that only one side has, are
never proved. Each wrong link has a right one beside it, so that it fails for its own reason."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL
from tests.support.samples import compile_glsl

BLOCK = "layout(set = 0, binding = 0) uniform U { vec4 tint; float level; float other; };\n"
VERT = f"""#version 450
#extension GL_ARB_shader_viewport_layer_array : require
{BLOCK}layout(location = 0) in vec4 p;
layout(location = 0) out vec4 a;
DECLARED
void main() {{ a = VALUE; gl_Position = p; MORE }}
"""
FRAG = f"""#version 450
{BLOCK}layout(set = 0, binding = 1) uniform sampler2D t;
layout(location = 0) in vec4 a;
layout(location = 0) out vec4 c;
DECLARED
void main() {{ c = VALUE; MORE }}
"""


@dataclass(frozen=True)
class Text:
    """A pipeline: the varying, the colour, more statements and declarations of the stages."""

    varying: str = "p"
    colour: str = "a"
    vert: str = ""
    frag: str = ""
    vert_declared: str = ""
    frag_declared: str = ""

    def compiled(self) -> list[bytes]:
        made = []
        for text, stage, value, more, declared in (
            (VERT, "vert", self.varying, self.vert, self.vert_declared),
            (FRAG, "frag", self.colour, self.frag, self.frag_declared),
        ):
            text = text.replace("VALUE", value).replace("MORE", more)
            made.append(compile_glsl(text.replace("DECLARED", declared), stage, "vulkan1.2"))
        return made


def is_proved(before: Text, after: Text, exact: bool = False) -> bool:
    sides = [[Source(data) for data in text.compiled()] for text in (before, after)]
    return prove(sides[0], sides[1], Options(exact=exact), 20.0).outcome == EQUAL


# A use of a sum that may move through interpolation, and one that must not.
USES = {
    "a step by a factor": ("clamp(X * 100.0, 0.0, 1.0)", "clamp(X * 10000.0, 0.0, 1.0)"),
    "a step by two factors": ("clamp(X * 9.0 * 9.0, 0.0, 1.0)", "clamp(X * 1e2 * 1e2, 0.0, 1.0)"),
    "a step by a divisor": ("clamp(X / 0.01, 0.0, 1.0)", "clamp(X / 0.00001, 0.0, 1.0)"),
    "edges of smoothstep": (
        "smoothstep(vec4(0.5), vec4(0.6), X)", "smoothstep(vec4(0.5), vec4(0.500001), X)"
    ),
    "asin": ("atan(max(X, vec4(0.5)))", "asin(max(X, vec4(0.5)))"),
    "acos": ("cos(max(X, vec4(0.5)))", "acos(clamp(X, 0.5, 1.0))"),
    "tan": ("sin(max(X, vec4(0.5)))", "tan(max(X, vec4(0.5)))"),
    "sqrt near zero": ("sqrt(max(X, vec4(0.01)))", "sqrt(max(X, vec4(1e-30)))"),
    "log near zero": ("log(max(X, vec4(0.01)))", "log(max(X, vec4(1e-30)))"),
    "a divisor near zero": ("1.0 / max(X, vec4(0.01))", "1.0 / max(X, vec4(1e-30))"),
    "a steep power": (
        "pow(max(X, vec4(0.5)), vec4(4.0))", "pow(max(X, vec4(0.5)), vec4(1e5))"
    ),
    "mod": ("X * 0.5", "mod(X, 2.0)"),
    "a lookup": ("texture(t, vec2(level)) * X", "texture(t, X.xy)"),
    "a derivative": ("abs(X)", "dFdx(X)"),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_a_sum_moves_only_in_front_of_gentle_uses(name: str) -> None:
    right, wrong = USES[name]
    for use, expected in ((right, True), (wrong, False)):
        before = Text("p + tint", use.replace("X", "a"))
        after = Text("p", use.replace("X", "(a + tint)"))
        assert is_proved(before, after) == expected, use
        assert not is_proved(before, after, exact=True)


NAN = "uintBitsToFloat(0x7fc00000u)"
INF = "uintBitsToFloat(0x7f800000u)"
WRONG = {
    "a determinant": (
        Text("p + tint", "vec4(inverse(mat2(max(a.xy, vec2(0.5)), max(a.yx, vec2(0.6)))))"),
        Text("p", "vec4(inverse(mat2(max((a + tint).xy, vec2(0.5)),"
             " max((a + tint).yx, vec2(0.6)))))"),
    ),
    "a division that crosses": (Text("p / level"), Text("p", "a / level")),
    "a factor with a division that crosses": (
        Text("p * (tint / level)"), Text("p", "a * (tint / level)")
    ),
    "sums that are divided": (
        Text("p", "a / level + a.yxzw / level"), Text("p", "(a + a.yxzw) / level")
    ),
    "a NaN": (Text(), Text("p", f"a + {NAN}")),
    "an infinity by zero": (Text(), Text("p", f"a + {INF} * 0.0")),
    "infinities that cancel": (Text(), Text("p", f"a + ({INF} - {INF})")),
    "a small factor": (
        Text("p", "(a * 1e-13 + a.yxzw) * level"), Text("p", "a.yxzw * level")
    ),
    "a small constant": (Text("p", "(a + 1e-13) * level"), Text("p", "a * level")),
    "a uniform in a comparison": (
        Text("tint", "vec4(greaterThan(a, vec4(0.5)))"),
        Text("p", "vec4(greaterThan(tint, vec4(0.5)))"),
    ),
    "a uniform in floor": (Text("tint", "floor(a)"), Text("p", "floor(tint)")),
    "a uniform in a lookup": (Text("tint", "texture(t, a.xy)"), Text("p", "texture(t, tint.xy)")),
    "a uniform in discard": (
        Text("tint", frag="if (a.x > 0.5) discard;"),
        Text("tint", frag="if (tint.x > 0.5) discard;"),
    ),
    "a uniform in the depth": (
        Text("tint", frag="gl_FragDepth = a.x;"), Text("tint", frag="gl_FragDepth = tint.x;")
    ),
    "a layer more": (Text(), Text(vert="gl_Layer = 1;")),
    "a viewport more": (Text(), Text(vert="gl_ViewportIndex = 1;")),
    "a point size more": (Text(), Text(vert="gl_PointSize = 3.0;")),
    "a depth more": (Text(), Text(frag="gl_FragDepth = 0.5;")),
    "a sample mask more": (Text(), Text(frag="gl_SampleMask[0] = 0;")),
    "a colour more": (
        Text(), Text(frag="d = a;", frag_declared="layout(location = 1) out vec4 d;")
    ),
    "a colour that is no second source": (
        Text(frag="d = a;", frag_declared="layout(location = 0, index = 1) out vec4 d;"),
        Text(frag="d = a;", frag_declared="layout(location = 1) out vec4 d;"),
    ),
    "a position that is not invariant": (Text(vert_declared="invariant gl_Position;"), Text()),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_link_is_not_proved(name: str) -> None:
    before, after = WRONG[name]
    assert is_proved(before, before, exact=True)
    assert not is_proved(before, after, exact=True)
    assert not is_proved(before, after)


def test_a_value_of_all_vertices_may_be_divided() -> None:
    assert is_proved(Text("tint", "vec4(1.0) / a"), Text("p", "vec4(1.0) / tint"))
    assert is_proved(Text(), Text(vert_declared="invariant gl_Position;"), exact=True)
