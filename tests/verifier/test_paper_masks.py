"""Proof on paper of values that are packed into words: a right packing is proved, a wrong one is
not, and neither are two fields of which one is wider than its place."""

from __future__ import annotations

import pytest

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL, UNEQUAL
from tests.support.samples import compile_glsl

VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in uvec2 given;
layout(location = 0) flat out uvec2 v;
void main() {
    uint a = given.x & 7u;
    uint b = given.y & 31u;
    v = WRITTEN;
    gl_Position = position;
}
"""
FRAG = """#version 450
layout(location = 0) flat in uvec2 v;
layout(location = 0) out uvec4 colour;
void main() { colour = READ; }
"""
PLAIN = "uvec2(a, b)", "uvec4(v.x, v.y, 0u, 1u)"
RIGHT = [
    ("uvec2(a | b << 3, 0u)", "uvec4(v.x & 7u, v.x >> 3, 0u, 1u)"),
    ("uvec2(a + b * 8u, 0u)", "uvec4(v.x & 7u, v.x >> 3 & 31u, 0u, 1u)"),
    ("uvec2(b | a << 5, 0u)", "uvec4(bitfieldExtract(v.x, 5, 3), v.x & 31u, 0u, 1u)"),
    ("uvec2(bitfieldInsert(a, b, 3, 5), 0u)", "uvec4(v.x & 7u, v.x >> 3, 0u, 1u)"),
]
WRONG = [
    ("uvec2(a | b << 2, 0u)", "uvec4(v.x & 7u, v.x >> 2, 0u, 1u)"),
    ("uvec2(a | b << 3, 0u)", "uvec4(v.x & 3u, v.x >> 3, 0u, 1u)"),
    ("uvec2(a | b << 3, 0u)", "uvec4(v.x & 7u, v.x >> 4, 0u, 1u)"),
    ("uvec2(a | b << 3, 0u)", "uvec4(v.x & 7u, v.x >> 3 & 15u, 0u, 1u)"),
    ("uvec2(a | b << 3, 0u)", "uvec4(v.x >> 3, v.x & 7u, 0u, 1u)"),
    ("uvec2(a + b * 4u, 0u)", "uvec4(v.x & 7u, v.x >> 2, 0u, 1u)"),
    ("uvec2(a | b << 30, 0u)", "uvec4(v.x & 7u, v.x >> 30, 0u, 1u)"),
    ("uvec2(b | a << 5, 0u)", "uvec4(bitfieldExtract(v.x, 5, 2), v.x & 31u, 0u, 1u)"),
    ("uvec2(b | a << 5, 0u)",
     "uvec4(uint(bitfieldExtract(int(v.x), 5, 3)), v.x & 31u, 0u, 1u)"),
    ("uvec2(bitfieldInsert(a, b, 3, 4), 0u)", "uvec4(v.x & 7u, v.x >> 3, 0u, 1u)"),
    ("uvec2(bitfieldInsert(a, b, 2, 5), 0u)", "uvec4(v.x & 7u, v.x >> 2, 0u, 1u)"),
]  # fmt: skip


def sources(form: tuple[str, str]) -> list[Source]:
    written, read = form
    vert, frag = VERT.replace("WRITTEN", written), FRAG.replace("READ", read)
    return [Source(compile_glsl(vert, "vert")), Source(compile_glsl(frag, "frag"))]


@pytest.mark.parametrize("form", RIGHT)
def test_a_right_packing_is_proved(form: tuple[str, str]) -> None:
    assert prove(sources(PLAIN), sources(form), Options(exact=True), 20.0).outcome == EQUAL
    assert prove(sources(form), sources(PLAIN), Options(exact=True), 20.0).outcome == EQUAL


@pytest.mark.parametrize("form", WRONG)
def test_a_wrong_packing_is_not_proved(form: tuple[str, str]) -> None:
    for exact in (True, False):
        options = Options(exact=exact)
        assert prove(sources(PLAIN), sources(form), options, 20.0).outcome != EQUAL
        assert prove(sources(form), sources(PLAIN), options, 20.0).outcome != EQUAL
    assert execute(sources(PLAIN), sources(form), Options()).outcome == UNEQUAL
