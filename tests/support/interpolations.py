"""Evaluation shaders that interpolate by hand, in every way to write it."""

from __future__ import annotations

import numpy as np

import spvlink
from spvlink.draw import Result, compare, draw, draw_covering
from tests.support.chain_hazards import frag, text, vert
from tests.support.samples import compile_glsl

Stages = list[tuple[str, str]]
VERT = vert("layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;", "c = a; d = b;")
LEVELS = """gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
gl_TessLevelOuter = float[4](3.0, 4.0, 3.0, 4.0); gl_TessLevelInner = float[2](2.0, 3.0);
"""
PLACES = {
    "triangles": "P[0] * w.x + P[1] * w.y + P[2] * w.z",
    "quads": "mix(mix(P[0], P[1], w.x), mix(P[2], P[3], w.x), w.y)",
    "isolines": "mix(mix(P[0], P[1], w.x), P[2], w.y)",
}
PUSH = "layout(push_constant) uniform Push { vec4 k; vec4 l; } pc;\n"
STORED = """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
"""
STORE = "p[gl_InvocationID] = c[gl_InvocationID] * pc.l.x; q[gl_InvocationID] = d[gl_InvocationID];"
READ = """layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];
layout(location = 0) out vec4 f;
"""
SHOW = "layout(location = 0) in vec4 f;"
# ways to write one functional, of an array X
FORMS: dict[str, dict[str, str]] = {
    "triangles": {
        "sum": "(X[0] * w.x + X[1] * w.y + X[2] * w.z)",
        "order": "(X[2] * w.z + (w.x * X[0] + w.y * X[1]))",
        "fma": "fma(X[2], w.zzzz, fma(w.yyyy, X[1], X[0] * w.x))",
        "matrix": "(mat3x4(X[1], X[0], X[2]) * w.yxz)",
        "transposed": "(w * transpose(mat3x4(X[0], X[1], X[2])))",
        "dots": "vec4(dot(vec3(X[0].x, X[1].x, X[2].x), w), dot(w, vec3(X[0].y, X[1].y, X[2].y)),"
        " X[0].zw * w.x + X[1].zw * w.y + X[2].zw * w.z)",
        "the third": "(X[0] * w.x + X[1] * w.y + X[2] * (1.0 - w.x - w.y))",
        "mix": "mix(X[2], X[0], w.x) + w.y * (X[1] - X[2])",
        "two": "(X[1] * w.x + X[0] * w.y)",
        "negative": "(X[0] * w.x - (-X[1]) * w.y - (X[2] * 2.0) * (w.z * -0.5))",
    },
    "quads": {
        "mix": "mix(mix(X[0], X[1], w.x), mix(X[3], X[2], w.x), w.y)",
        "other way": "mix(mix(X[0], X[3], w.y), mix(X[1], X[2], w.y), w.x)",
        "products": "(X[0] * (1.0 - w.x) * (1.0 - w.y) + X[1] * w.x * (1.0 - w.y)"
        " + X[2] * (w.x * w.y) + X[3] * ((1.0 - w.x) * w.y))",
        "weights": "(mat4(X[0], X[1], X[2], X[3]) * vec4((1.0 - w.x) * (1.0 - w.y),"
        " w.x * (1.0 - w.y), w.x * w.y, (1.0 - w.x) * w.y))",
        "differences": "(X[0] + (X[1] - X[0]) * w.x + ((X[3] - X[0]) + (X[0] - X[1] + X[2] - X[3])"
        " * w.x) * w.y)",
        "as a triangle": "(X[0] * w.x + X[1] * w.y + X[2] * w.z)",
    },
    "isolines": {
        "mix": "mix(X[0], X[1], w.x)",
        "products": "(X[0] * (1.0 - w.x) + X[1] * w.x)",
        "fma": "fma(X[1] - X[0], w.xxxx, X[0])",
        "curve": "(X[0] * (1.0 - w.x) * (1.0 - w.x) + X[1] * 2.0 * w.x * (1.0 - w.x)"
        " + X[2] * w.x * w.x)",
    },
}  # fmt: skip


def chain(domain: str, read: str, main: str, stored: str = STORED, store: str = STORE) -> Stages:
    place = PLACES[domain]
    for n in range(4):
        place = place.replace(f"P[{n}]", f"gl_in[{n}].gl_Position")
    return [
        VERT,
        text("tesc", f"layout(vertices = 4) out;\n{PUSH}{stored}", LEVELS + store),
        text("tese", f"layout({domain}) in;\n{PUSH}{read}",
             f"vec3 w = gl_TessCoord; gl_Position = {place};\n{main}"),
        frag(SHOW, "color = f;"),
    ]  # fmt: skip


def link(codes: list[bytes], **settings: object) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, setting in settings.items():
        setattr(options, name, setting)
    linked = spvlink.link(codes, options)
    assert linked.defect is None, linked.defect
    assert linked.validated in ("validated", "")
    return linked


def near(before: Result, after: Result, tolerance: float) -> None:
    for name, old in before.images.items():
        new = after.images[name]
        worst = np.abs(old.astype(float) - new.astype(float)).max()
        assert worst <= tolerance, f"{name} is off by {worst}"


def components(linked: spvlink.Linked) -> tuple[int, int]:
    """What crosses between control and evaluation shader, before and after."""
    found = next(i for i in linked.interfaces if i.consumer == "tese")
    return found.components


def prove(stages: Stages, tolerance: float = 1e-4, **settings: object) -> spvlink.Linked:
    codes = [compile_glsl(source, stage) for stage, source in stages]
    linked = link(codes, **settings)
    scene, before = draw_covering(codes)
    assert before.is_good()
    new = [s.data for s in linked.stages]
    after = draw(new, scene)
    if settings.get("exact"):
        assert not compare(before, after)
    else:
        near(before, after, tolerance)
        again = link(new, **settings)
        assert again.passed_through == "nothing to gain"
    return linked


SUM = {name: FORMS["triangles"]["sum"].replace("X", name) for name in "pq"}
A, B = SUM["p"], SUM["q"]
MOVED = {
    "sum": f"f = {A} + {B};",
    "difference": f"f = {A} - {B};",
    "constant between": f"f = ({A} + 0.25) + {B};",
    "uniform between": f"f = ({A} + pc.k) - {B};",
    "scaled": f"f = {A} * pc.k + {B} / 1.75;",
    "mixed": f"f = mix({A}, {B}, pc.k);",
    "fma": f"f = fma({A}, pc.k, {B});",
    "matrix": f"f = mat4(pc.k, pc.l, pc.k, pc.l) * ({A} + {B});",
    "dot": f"f = vec4(dot({A}, pc.k) + dot({B}, pc.l));",
    "inside": "f = (p[0] + q[0]) * w.x + (p[1] + q[1]) * w.y + (p[2] + q[2]) * w.z;",
    "into what is not linear": f"f = sqrt(abs({A} + {B}) + 1.0);",
    "twice": f"vec4 s = {A} * 0.5 + {B}; f = s * s;",
    "on two paths": f"if (w.x < 0.5) f = sin({A} + {B}); else f = cos({A} + {B});",
}
HALVES = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
"""
