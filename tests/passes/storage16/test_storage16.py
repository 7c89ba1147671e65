"""16-bit varyings of stages that may only load, convert and store them
(``passes/lowering/storage16``): at every border (tests/pipelines/test_matrix.py has the passes),
each kind of number, vectors, arrays and what crosses blocks; and what stays whole. Drawn, drawn
with another seed, linked twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums
from spvlink.ir.core import CAPABILITIES
from tests.support.chain_text import PASS, frag, geom, vert
from tests.support.closeness import assert_close
from tests.support.component_chains import BORDERS
from tests.support.component_chains import Case as Component
from tests.support.component_chains import chain as chain_of
from tests.support.halves import build, link
from tests.support.linking import module_of

TYPES = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
"""
ARITHMETIC = {enums.Capability_Float16, enums.Capability_Int16}


@dataclass(frozen=True)
class Case(Component):
    """``left``: components that cross; in ``made``, AT is where it is stored."""

    def stored(self, at: str = "") -> str:
        if "AT" in self.made:
            return self.made.replace("AT", f"d{at}") + ";"
        return super().stored(at)

    def declared(self, words: str, over: str = "", place: int = 1) -> str:
        if self.type.startswith("f"):
            words = words.replace("flat ", "")
        return f"layout(location = {place}) {words} {self.type} d{over};\n"

    def read(self, own: str, at: str = "") -> str:
        number = f"float own = sin(float({own}) * 0.7 + 0.3) * 0.5;"
        return f"float r; {number} {self.used.replace('D', 'd' + at)}"


CASES = (
    Case("a half", "float16_t", "float16_t(x.x)", "r = cos(float(D) * own);", left=1),
    Case("two of four", "f16vec4", "f16vec4(x)", "vec4 v = vec4(D); r = cos(v.y * own + v.w);",
         left=2),
    Case("a column and a constant", "f16vec4", "f16vec4(vec4(x.xy, 0.3, 1.0))",
         "r = dot(sin(vec4(D) * own), vec4(1, 2, 3, 4));", left=2),
    Case("twins", "f16vec3", "f16vec3(x.yxy)", "vec3 v = vec3(D); r = v.x * own + cos(v.y + v.z);",
         left=2),
    Case("one of two, by a condition", "f16vec2", "f16vec2(x.x > 0.2 ? x.yz : y.xx)",
         "vec2 v = vec2(D); r = v.x * own + cos(v.y * own);", left=2),
    Case("an element of an array", "f16vec2[3]",
         "AT[0] = f16vec2(x.xy); AT[1] = f16vec2(y.xy); AT[2] = f16vec2(x.zw)",
         "r = cos(vec2(D[1]).y * own);", left=1),
    Case("all of an array", "f16vec4[2]", "AT[0] = f16vec4(x); AT[1] = f16vec4(y)",
         "r = dot(vec4(D[0]), sin(vec4(D[1]) * own));", left=8),
    Case("stored on two ways", "f16vec3", "AT = f16vec3(x.zzz); if (x.x > 0.2) {"
         " AT.x = float16_t(y.z); AT.y = float16_t(y.w); }",
         "vec3 v = vec3(D); r = v.x * own + cos(v.y + v.z);", left=3),
    Case("numbers with a sign", "i16vec2", "i16vec2(ivec2(x.xy * 999.0))",
         "ivec2 v = ivec2(D); r = float(v.y) * own * 0.001;", left=1),
    Case("numbers without", "u16vec3", "u16vec3(uvec3(abs(x.xyz) * 99999.0))",
         "uvec3 v = uvec3(D); r = float(v.x / 3u + v.z) * own * 0.0001;", left=2),
)  # fmt: skip
CELLS = [
    (case, border)
    for number, case in enumerate(CASES)
    for at, border in enumerate(BORDERS)
    if "payload" not in border
    and (number < 2 or (at + number) % 3 == 0)
    and not (border.startswith("mesh") and ".x =" in case.made)  # lavapipe (Mesa 25) crashes
]


def with_types(stages: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    return [(s, text.replace("#version 450\n", f"#version 450\n{TYPES}")) for s, text in stages]


def lacks_arithmetic(codes: list[bytes]) -> bool:
    return all(
        c.imm[0] not in ARITHMETIC for code in codes for c in module_of(code).sections[CAPABILITIES]
    )


@pytest.mark.parametrize(
    ("case", "border"), CELLS, ids=lambda v: (v if isinstance(v, str) else v.name).replace(" ", "-")
)
def test_case(case: Case, border: str) -> None:
    made = chain_of(border, case)
    codes = build(with_types(made.stages), made.environment)
    assert lacks_arithmetic(codes)
    linked = [link(codes), link(codes, exact=True)]
    ends = border.split()[0]
    found = next(i for i in linked[0].interfaces if f"{i.producer}->{i.consumer}" == ends)
    assert found.components[1] == case.left
    new = [[s.data for s in done.stages] for done in linked]
    assert lacks_arithmetic(new[0] + new[1])
    for seed in (0, 5):
        scene, before = draw_covering(codes, seed)
        assert before.is_good(), "the original proves nothing"
        assert_close(before, draw(new[0], scene))
        difference = compare(before, draw(new[1], scene))
        assert not difference, str(difference)
    for done, exact in zip(new, (False, True)):
        assert link(done, exact=exact).passed_through == "nothing to gain"


def test_what_is_handed_on_as_it_is_stays_whole() -> None:
    """A denormal number that is only copied is not flushed."""
    made = [
        vert("layout(location = 1) out f16vec2 d;", "d = f16vec2(a.xy);"),
        geom(
            "layout(location = 1) in f16vec2 d[]; layout(location = 1) out f16vec2 e;",
            "for (int i = 0; i < 3; ++i) { e = d[i]; " + PASS + " }",
        ),
        frag("layout(location = 1) in f16vec2 e;", "color = vec4(vec2(e).x);"),
    ]
    linked = link(build(with_types(tuple(made)), "vulkan1.1"))
    said = {r.name: (r.action, r.why) for r in linked.remarks}
    for name in ("d", "e"):
        assert said[name][0] in ("kept", "packed")
        assert "16-bit values may only be loaded, converted and stored" in said[name][1]


def test_arithmetic_stays_in_the_stage_that_may_do_it() -> None:
    uniform = "layout(binding = 0) uniform U { vec4 v; } ub;\n"
    made = [
        vert(
            uniform + "layout(location = 1) flat out float16_t d; layout(location = 2) out vec2 l;",
            "float16_t h = float16_t(ub.v.x); d = h * h; l = a.xy;",
        ),
        frag(
            uniform + "layout(location = 1) flat in float16_t d; layout(location = 2) in vec2 l;",
            "color = vec4(cos(float(d) * gl_FragCoord.x), l, ub.v.y);",
        ),
    ]
    codes = build(with_types(tuple(made)), "vulkan1.1")
    assert not lacks_arithmetic(codes[:1]) and lacks_arithmetic(codes[1:])
    linked = link(codes)
    said = next(r for r in linked.remarks if r.name == "d")
    assert said.action in ("kept", "packed")
    assert "the other stage may only load, convert and store 16-bit values" in said.why
    assert lacks_arithmetic([linked.stages[1].data])
    scene, before = draw_covering(codes)
    assert before.is_good()
    assert_close(before, draw([s.data for s in linked.stages], scene))


STEP = 1 / 255  # of 8 bits
MOVED = {  # what the consumer computes with 16 bits -> whether that moves under --exact too
    "half sum": ("f16vec2", "f16vec2(a.xy)", "float(d.x + d.y * float16_t(0.5))", False),
    "flat half product": ("flat f16vec2", "f16vec2(a.xy)", "float(d.x * d.y)", False),
    "flat sum": ("flat u16vec2", "u16vec2(uvec2(a.xy * 99.0))", "float(d.x + d.y) * 0.01", True),
    "sum of conversions": ("f16vec2", "f16vec2(a.xy)", "float(d.x) + float(d.y) * 0.5", False),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_sums_and_products_move(name: str) -> None:
    declared, made, read, exactly = MOVED[name]
    flat, _, type = declared.rpartition(" ")
    stages = [
        vert(f"layout(location = 1) {flat} out {type} d;", f"d = {type}(0); d = {made};"),
        frag(
            f"layout(location = 1) {flat} in {type} d;",
            f"float s = {read}; color = vec4(cos(s * gl_FragCoord.x * 0.01), s, 1, 1);",
        ),
    ]
    codes = build(with_types(tuple(stages)), "vulkan1.1")
    scene, before = draw_covering(codes)
    assert before.is_good(), "the original proves nothing"
    linked, exact = link(codes), link(codes, exact=True)
    assert linked.interfaces[0].components == (2, 1)
    assert exact.interfaces[0].components == (2, 1 if exactly else 2)
    after = draw([s.data for s in linked.stages], scene)
    for image, old in before.images.items():  # 16 bits are rounded, or not, in another order
        assert np.abs(old - after.images[image]).max() < STEP
    difference = compare(before, draw([s.data for s in exact.stages], scene))
    assert not difference, str(difference)
    again = link([s.data for s in linked.stages])
    assert again.passed_through == "nothing to gain"


def test_a_conversion_alone_does_not_move() -> None:
    stages = [
        vert("layout(location = 1) out f16vec2 d;", "d = f16vec2(a.xy);"),
        frag(
            "layout(location = 1) in f16vec2 d;",
            "vec2 s = vec2(d); color = vec4(cos(s * gl_FragCoord.x), s.x * s.y, 1);",
        ),
    ]
    linked = link(build(with_types(tuple(stages)), "vulkan1.1"))
    assert all(r.action in ("kept", "packed") for r in linked.remarks if r.interface != "vert")
