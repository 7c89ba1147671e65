"""RelaxedPrecision of what is moved before the border. A relaxed value need not hold more than 2^14
(SPIR-V 2.15): the consumer's sum is in that range wherever there is a fragment, but the vertex that
it is made at may be far off the screen."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import enums
from tests.support.chain_hazards import frag, text, vert
from tests.support.interpolations import LEVELS, PLACES, SHOW
from tests.support.linking import INPUT, OUTPUT, module_of
from tests.support.samples import compile_glsl

Stages = list[tuple[str, str]]
RELAXED = enums.Decoration_RelaxedPrecision


def relaxed(code: bytes, storage: int) -> list[bool]:
    """Of each user variable of an interface, whether it is RelaxedPrecision."""
    module = module_of(code)
    found = []
    for variable in module.globals:
        if variable.imm[:1] == (storage,) and variable.type is not None:
            words = [n.imm[0] for n in module.annotations if n.args[:1] == [variable]]
            if enums.Decoration_Location in words:
                found.append(RELAXED in words)
    return found


def crossed(stages: Stages, at: int, action: str) -> list[bool]:
    """What is declared at a border on both sides, once something was moved there."""
    linked = spvlink.link([compile_glsl(source, stage) for stage, source in stages], clean=True)
    assert linked.defect is None and linked.validated == "validated"
    border = linked.interfaces[at]
    title = f"{border.producer}->{border.consumer}"
    assert action in {r.action for r in linked.remarks if r.interface == title}
    ends = linked.stages[at].data, linked.stages[at + 1].data
    return relaxed(ends[0], OUTPUT) + relaxed(ends[1], INPUT)


def pair(qualifier: str, kind: str, use: str) -> Stages:
    names = "".join(
        f"layout(location = {n}) {qualifier} IN mediump {kind} {name};\n"
        for n, name in enumerate("xy")
    )
    made = kind if kind != "float" else ""
    return [
        vert(names.replace("IN", "out"), f"x = {made}(k.x + a.x); y = {made}(k.y + a.y);"),
        frag(names.replace("IN", "in"), use),
    ]


SUM = "mediump float s = x * 300.0 + y * 200.0; color = vec4(s);"


def test_a_sum_that_is_interpolated_keeps_its_range() -> None:
    assert crossed(pair("", "float", SUM), 0, "moved-backward") == [False, False]


@pytest.mark.parametrize("kind", ["float", "int"])
def test_one_that_is_flat_is_what_the_fragment_computed(kind: str) -> None:
    use = "mediump KIND s = x * x + y; color = vec4(s);".replace("KIND", kind)
    assert crossed(pair("flat", kind, use), 0, "moved-backward") == [True, True]


def test_a_full_operation_makes_a_full_value() -> None:
    use = "highp float s = x * x + y * float(gl_FrontFacing ? 1 : 1); color = vec4(s);"
    stages = pair("flat", "float", use)
    stages[1] = stages[1][0], stages[1][1].replace("mediump", "highp")
    assert crossed(stages, 0, "moved-backward") == [False, False]


def test_what_stays_an_input_stays_relaxed() -> None:
    stages = pair("", "float", "color = vec4(x * y, sin(x), cos(y), 1.0);")
    stages = [(s, t.replace("void main", "UNREAD void main", 1)) for s, t in stages]
    unread = "layout(location = 2) out vec4 unread;"
    stages = [(s, t.replace("UNREAD", unread if s == "vert" else "")) for s, t in stages]
    assert set(crossed(stages, 0, "removed")) == {True}


def test_a_sum_over_vertices_keeps_its_range() -> None:
    place = PLACES["triangles"]
    for n in range(4):
        place = place.replace(f"P[{n}]", f"gl_in[{n}].gl_Position")
    both = "layout(location = {}) {} mediump vec4 {}[];\n"
    outs = "".join(both.format(n, "out", name) for n, name in enumerate("pq"))
    ins = both.format(0, "in", "c") + both.format(1, "in", "d")
    sums = [f"({n}[0] * w.x + {n}[1] * w.y + {n}[2] * w.z)" for n in "pq"]
    stages = [
        vert(ins.replace(" in ", " out ").replace("[]", ""), "c = a; d = b;"),
        text("tesc", f"layout(vertices = 4) out;\n{ins}{outs}", LEVELS
             + "p[gl_InvocationID] = sin(c[gl_InvocationID]) * 3.0;"
             + "q[gl_InvocationID] = cos(d[gl_InvocationID]);"),
        text("tese", f"layout(triangles) in;\n{outs.replace(' out ', ' in ')}"
             "layout(location = 0) out vec4 f;",
             f"mediump vec3 w = gl_TessCoord; gl_Position = {place};\n"
             f"mediump vec4 s = {sums[0]} * 300.0 + {sums[1]} * 200.0; f = sin(s);"),
        frag(SHOW, "color = f;"),
    ]  # fmt: skip
    assert set(crossed(stages, 1, "moved-backward")) == {False}
