"""A product with a power of two, and a negation, crosses interpolation to the bit: it moves even
where something depends on its last bit."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.samples import compile_glsl, disassemble

VERT = """#version 450
layout(location = 0) in vec4 p; layout(location = 0) out vec4 c;
void main() { gl_Position = vec4(p.xyz, 1.0 + 0.5 * p.w); c = p * 3.0 + vec4(gl_VertexIndex); }"""
FRAG = """#version 450
layout(constant_id = 0) const float S = 4.0;
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) in vec4 c; layout(location = 0) out vec4 o;
void main() { o = vec4(VALUE); }"""


def linked(value: str, **settings: object) -> tuple[list[bytes], list[bytes]]:
    frag = FRAG.replace("VALUE", value)
    codes = [compile_glsl(VERT, "vert"), compile_glsl(frag, "frag")]
    done = spvlink.link(codes, **settings)
    assert done.defect is None, done.defect
    assert done.validated == "validated"
    return codes, [stage.data for stage in done.stages]


def products(code: bytes) -> int:
    text = disassemble(code)
    return sum(text.count(f" = {name} ") for name in ("OpFMul", "OpVectorTimesScalar"))


MOVED = {
    "fract": "fract(c * 4.0)",
    "lookup": "texture(t, c.xy * 16.0)",
    "each lane by its own": "floor(c * vec4(2.0, 0.5, -8.0, -1.0))",
    "comparison": "step(vec4(0.25), c * 0.125)",
    "pole": "1.0 / (c * 2.0)",
    "twice, with a sign": "fract(-(c * 2.0) * 4.0)",
    "below a sum that stays": "fract(c * 4.0 + 0.3)",
}


@pytest.mark.parametrize("value", MOVED.values(), ids=MOVED)
def test_an_exact_product_crosses_and_draws_the_same_bits(value: str) -> None:
    codes, after = linked(value)
    assert products(codes[1]) > 0 and products(after[1]) == 0
    scene, before = draw_covering(codes)
    assert before.is_good()
    difference = compare(before, draw(after, scene))
    assert not difference, str(difference)


STAYS = {
    "no power of two": "fract(c * 3.0)",
    "one lane is none": "fract(c * vec4(2.0, 2.0, 2.0, 3.0))",
    "too large": "fract(c * 1073741824.0)",
    "known at run time only": "fract(c * S)",
    "a product of inputs": "fract(c * c.wzyx)",
}


@pytest.mark.parametrize("value", STAYS.values(), ids=STAYS)
def test_what_rounds_stays(value: str) -> None:
    assert products(linked(value)[1][1]) > 0


def test_nothing_crosses_interpolation_with_exact() -> None:
    assert products(linked("fract(c * 4.0)", exact=True)[1][1]) > 0
