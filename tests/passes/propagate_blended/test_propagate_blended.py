"""What an evaluation shader interpolates by hand although it is equal at all vertices: constants
and push constants go through four stages. Drawn, and linked twice."""

from __future__ import annotations

import pytest

import spvlink
from tests.support.chain_text import frag, tesc, tese, vert
from tests.support.shared_values import Stages
from tests.support.shared_values import prove as drawn

PUSH = "layout(push_constant) uniform Push { vec4 tint; vec4 k; } pc;\n"
FOUR = "layout(location = 0) {} vec4 c{}; layout(location = 1) {} vec4 e{};\n"
SUM = "c[0] * w.x + c[1] * w.y + c[2] * w.z"
READ = "color = sin(c) + e + pc.tint * 0.1;"


def chain(
    stored: str, blend: str = SUM, read: str = READ, qualifier: str = "", kept: str = ""
) -> Stages:
    """``stored``: in c, by the vertex shader; ``blend``: what the evaluation shader makes of it."""
    over = FOUR.format("in", "[]", "in", "[]")
    return [
        vert(PUSH + FOUR.format("out", "", "out", ""), f"c = {stored}; e = a * 0.5;"),
        tesc(PUSH + over + FOUR.replace("c{}", "d{}").replace("e{}", "g{}").format(
            "out", "[]", "out", "[]"),
             "d[gl_InvocationID] = c[gl_InvocationID];\n"
             "g[gl_InvocationID] = e[gl_InvocationID] + sin(pc.k);"),
        tese(PUSH + over + f"layout(location = 0) {kept} {qualifier} out vec4 o;\n"
             "layout(location = 1) out vec4 f;\n",
             f"o = {blend}; f = (e[0] * w.x + e[1] * w.y + e[2] * w.z) * cos(pc.k);"),
        frag(PUSH + FOUR.format(f"{qualifier} in", "", "in", ""), read),
    ]  # fmt: skip


def prove(stages: Stages, disable: tuple[str, ...] = (), **settings: object) -> spvlink.Linked:
    """With code motion, too, unless ``disable`` says otherwise."""
    return drawn(stages, disable=frozenset(disable), **settings)


def actions(linked: spvlink.Linked) -> set[str]:
    """What became of the evaluation shader's output."""
    return {r.action for r in linked.remarks if r.interface == "tese->frag" and r.name == "o"}


VALUES = {
    "constants": "vec4(0.3, 2.0, 1.0, -0.75)",
    "zeros": "vec4(0.0, 0.5, 0.0, 0.5)",
    "push constants": "pc.tint",
    "made of push constants": "pc.tint * pc.k + 0.25",
}
BLENDS = {
    "sum": SUM,
    "another order": "w.z * c[2] + (c[0] * w.x + w.y * c[1])",
    "the third weight": "c[0] * w.x + c[1] * w.y + c[2] * (1.0 - w.x - w.y)",
    "factored": "c[2] + (c[0] - c[2]) * w.x + (c[1] - c[2]) * w.y",
    "fma": "fma(c[0], w.xxxx, fma(c[1], w.yyyy, c[2] * w.z))",
    "mix": "mix(mix(c[0], c[1], w.x), c[2], w.y)",
    "squares": """c[0] * (w.x * w.x + 2.0 * w.x * w.y) + c[1] * (w.y * w.y + 2.0 * w.y * w.z)
+ c[2] * (w.z * w.z + 2.0 * w.z * w.x)""",
    "by lanes": "vec4(c[0].x * w.x + c[1].x * w.y + c[2].x * w.z, c[1].y, "
    "c[0].zw * w.x + c[1].zw * w.y + c[2].zw * w.z)",
    "a matrix": "mat3x4(c[0], c[1], c[2]) * w",
    "a product from the left": "w * transpose(mat3x4(c[0], c[1], c[2]))",
    "two matrices": "(mat3x4(c[0], c[1], c[2]) * mat3(w, w.yzx, w.zxy))[0]",
    "matrix of two": "mat2x4(c[0], c[1]) * vec2(w.x + w.y, w.z)",
    "dots": "vec4(dot(vec3(c[0].x, c[1].x, c[2].x), w), c[1].y,"
    " dot(w.zx, vec2(c[0].z, c[2].z)) + w.y * c[1].z, c[0].w)",
    "negated": "-(-c[0] * w.x - c[1] * w.y - c[2] * w.z)",
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", BLENDS)
def test_it_goes_through_four_stages(name: str, value: str) -> None:
    linked = prove(chain(VALUES[value], BLENDS[name]), tolerance=1e-4)
    if (name, value) != ("negated", "zeros"):  # -0 comes of that, which is no 0
        assert actions(linked) <= {"propagated", "merged"}, actions(linked)


OTHERS = {
    "weights of another sum": "c[0] * w.x + c[1] * w.y + c[2] * w.y",
    "another column": "mat3x4(c[0], pc.k, c[2]) * w",
    "a weight twice": "mat3x4(c[0], c[1], c[2]) * w.xyy",
    "dots of other weights": "vec4(dot(vec3(c[0].x, c[1].x, c[2].x), w.xxy))",
    "something is added": f"{SUM} + vec4(0.5)",
    "one is another": "c[0] * w.x + pc.k * w.y + c[2] * w.z",
    "large numbers cancel": "c[0] * w.x + (c[1] * w.y + c[2] * w.z * 5000.0) - c[2] * w.z * 4999.0",
    "not linear": "c[0] * w.x * c[1] + c[1] * w.y + c[2] * w.z",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_sums_stay(name: str) -> None:
    linked = prove(chain("pc.tint", OTHERS[name]), tolerance=1e-3, disable=("backward",))
    assert "propagated" not in actions(linked)


def test_exact_keeps_it() -> None:
    linked = prove(chain("pc.tint"), exact=True)
    assert "propagated" not in actions(linked)


def test_a_flat_one_stays() -> None:
    linked = prove(chain("pc.tint", qualifier="flat"), tolerance=1e-5)
    assert "propagated" not in actions(linked)


@pytest.mark.parametrize("kept", ["invariant", "precise"])
def test_what_says_how_it_is_rounded_stays(kept: str) -> None:
    stages = chain("pc.tint", kept=kept)
    assert "propagated" not in actions(prove(stages, tolerance=1e-5))


def test_what_decides_something_stays() -> None:
    read = READ + "if (c.x * 3.0 > e.x) color = vec4(floor(c.y * 8.0)); color += c.zwzw;"
    linked = prove(chain("pc.tint", read=read), tolerance=1e-4)
    slots = {r.slot: r.action for r in linked.remarks if r.name == "o"}
    kept = "".join(slot[2:] for slot, action in slots.items() if action != "propagated")
    assert {"x", "y"} <= set(kept) and not {"z", "w"} & set(kept)


def test_quads() -> None:
    stages = chain("pc.tint", "mix(mix(c[0], c[1], w.x), mix(c[2], c[0], w.x), w.y)")
    stage, source = stages[2]
    source = source.replace("layout(triangles)", "layout(quads)")
    source = source.replace("gl_Position * w.z", "gl_Position * (1.0 - w.x - w.y)")
    levels = "gl_TessLevelOuter[3] = 3.0; gl_TessLevelInner[1] = 2.0;\n}"
    head, _, tail = stages[1][1].rpartition("}")
    stages[1:3] = [("tesc", head + levels + tail), (stage, source)]
    linked = prove(stages, tolerance=1e-4)
    assert actions(linked) == {"propagated"}
    # there the third coordinate is 0
    stages[2] = (stage, source.replace("mix(mix(c[0], c[1], w.x), mix(c[2], c[0], w.x), w.y)", SUM))
    linked = prove(stages, tolerance=1e-4, disable=("backward",))
    assert "propagated" not in actions(linked)


def test_it_can_be_switched_off() -> None:
    linked = prove(chain("pc.tint"), tolerance=1e-4, disable=("propagate",))
    assert "propagated" not in actions(linked)
