"""The side of primitives where one is culled: with a picture, and with states beside it that say
too little."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums
from tests.support.chain_text import geom, text, vert
from tests.support.linking import builtins, module_of
from tests.support.state_draw import (
    Document,
    Settings,
    compiled,
    crossing,
    linked_with,
    same,
    state,
    unchanged,
)

VERT = vert(
    "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec4 vB;\n",
    "vA = a * 0.5 + 0.5; vB = b;",
)
HEAD = "layout(location = 0) in vec4 vA;\nlayout(location = 1) in vec4 vB;\n"
OUT = HEAD + "layout(location = 0) out vec4 o0;\n"
FACING = OUT, "o0 = gl_FrontFacing ? vA : vB.xyxy;"
CULLING: Document = {"topology": "TRIANGLE_LIST", "polygonMode": "FILL"}


@pytest.mark.parametrize(("culled", "mode", "expected"), [("BACK", 2, 4), ("FRONT", 1, 2)])
def test_the_side_that_is_drawn(culled: str, mode: int, expected: int) -> None:
    codes = compiled(VERT, text("frag", *FACING))
    linked = linked_with(codes, state(cullMode=culled, **CULLING))
    assert crossing(linked) == expected < crossing(linked_with(codes, None))
    frag = module_of(linked.stages[1].data)
    assert enums.BuiltIn_FrontFacing not in builtins(frag)
    same(codes, linked, Settings(raster={"cullMode": mode}))
    whys = {remark.why for remark in linked.remarks}
    assert "only one side is drawn" in whys


@pytest.mark.parametrize(
    "facts",
    [
        {"cullMode": "NONE", **CULLING},
        {"cullMode": "FRONT_AND_BACK", **CULLING},
        CULLING,
        {"cullMode": "BACK", "topology": "TRIANGLE_LIST"},
        {"cullMode": "BACK", "topology": "TRIANGLE_LIST", "polygonMode": "LINE"},
        {"cullMode": "BACK", "polygonMode": "FILL"},
        {"cullMode": "FRONT", "polygonMode": "FILL", "topology": "LINE_LIST"},
        {"cullMode": "FRONT", "polygonMode": "FILL", "topology": "POINT_LIST"},
    ],
)
def test_sides_that_are_not_known(facts: Document) -> None:
    codes = compiled(VERT, text("frag", *FACING))
    assert unchanged(codes, state(**facts))
    if facts.get("cullMode") == "NONE":
        linked = linked_with(codes, state(**facts))
        same(codes, linked, Settings(raster={"cullMode": 0}))


PASSING = """layout(location = 0) in vec4 vA[];
layout(location = 1) in vec4 vB[];
layout(location = 0) out vec4 gA;
layout(location = 1) out vec4 gB;
"""
EACH = """for (int i = 0; i < 3; ++i) {
gA = vA[i]; gB = vB[i]; gl_Position = gl_in[i].gl_Position; EmitVertex(); }
"""


def test_a_geometry_shader_makes_the_primitives() -> None:
    front = text("frag", *FACING)
    codes = compiled(VERT, geom(PASSING, EACH), front)
    facts: Document = {"cullMode": "BACK", "polygonMode": "FILL"}
    linked = linked_with(codes, state(**facts))
    assert linked.interfaces[1].components[1] == 4
    same(codes, linked, Settings(raster={"cullMode": 2}))
    points = "layout(triangles) in;\nlayout(points, max_vertices = 3) out;\n" + PASSING
    codes = compiled(VERT, text("geom", points, "gl_PointSize = 9.0;\n" + EACH), front)
    assert unchanged(codes, state(topology="TRIANGLE_LIST", **facts))
