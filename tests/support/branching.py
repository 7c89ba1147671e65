"""A pair whose fragment shader branches on uniforms: for if-conversion and its reverse."""

from __future__ import annotations

import numpy as np

import spvlink
from tests.render import compare, draw, draw_covering
from tests.support.chain_text import vert
from tests.support.samples import compile_glsl

UNIFORMS = """layout(push_constant) uniform Push { int n; float s; } pc;
layout(set = 0, binding = 0, std140) uniform Block { vec4 u; vec4 w[4]; } block;
layout(set = 0, binding = 1) uniform sampler2D image;
layout(set = 0, binding = 2, std430) buffer Memory { vec4 m; } memory;
"""
READ = (
    UNIFORMS
    + """layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;
layout(location = 2) flat in int i; layout(location = 0) out vec4 o;
"""
)
BOTH = """layout(location = 0) out vec4 p; layout(location = 1) out vec4 q;
layout(location = 2) flat out int i;
"""


def vertex(declared: str, body: str) -> str:
    return vert(declared, "gl_Position = vec4(position, 1.0); " + body)[1]


VERT = vertex(UNIFORMS + BOTH, "p = a; q = b; i = int(a.x * 4.0 + block.u.w) + pc.n;")


def frag(body: str, declared: str = "", version: str = "#version 450\n") -> str:
    return f"{version}{READ}{declared}void main() {{ {body} }}\n"


def link(codes: list[bytes], **settings: object) -> spvlink.Linked:
    linked = spvlink.link(codes, **settings)
    assert linked.defect is None, linked.defect
    assert linked.validated == "validated"
    return linked


def built(body: str, source: str = VERT, declared: str = "") -> list[bytes]:
    return [compile_glsl(source, "vert"), compile_glsl(frag(body, declared), "frag")]


def shown(codes: list[bytes], linked: spvlink.Linked, tolerance: float = 0.0) -> None:
    """The linked pipeline draws the same."""
    scene, before = draw_covering(codes)
    assert before.is_good()
    after = draw([s.data for s in linked.stages], scene)
    if not tolerance:
        assert not compare(before, after), str(compare(before, after))
        return
    for name, image in before.images.items():
        np.testing.assert_allclose(after.images[name], image, rtol=tolerance, atol=tolerance)
