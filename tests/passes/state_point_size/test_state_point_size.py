"""Sizes of points where none are drawn: with a picture, and with states beside it that say too
little."""

from __future__ import annotations

import pytest
from vulkan import VK_PRIMITIVE_TOPOLOGY_POINT_LIST

from spvlink.draw.scene import Scene
from spvlink.grammar import enums, ops
from tests.support.chain_text import geom, tesc, tese, text, vert
from tests.support.linking import builtins, count, module_of
from tests.support.state_draw import (
    Document,
    Settings,
    compiled,
    linked_with,
    same,
    state,
    unchanged,
)

OUT = "layout(location = 0) in vec4 vA;\nlayout(location = 0) out vec4 o0;\n"
SIZED = vert("layout(location = 0) out vec4 vA;", "vA = a; gl_PointSize = 2.0 + abs(b.x) * 9.0;")
FRAG = text("frag", OUT, "o0 = vA * 0.5;")
TRIANGLES: Document = {"topology": "TRIANGLE_STRIP", "polygonMode": "FILL"}


@pytest.mark.parametrize(
    "facts", [TRIANGLES, {"topology": "LINE_LIST", "polygonMode": "LINE"}], ids=["filled", "lines"]
)
def test_sizes_where_no_points_are(facts: Document) -> None:
    codes = compiled(SIZED, FRAG)
    linked = linked_with(codes, state(**facts), exact=True)
    plain = linked_with(codes, None, exact=True)
    before, after = [count(module_of(one.stages[0].data), ops.OpStore) for one in (plain, linked)]
    assert after == before - 1
    told = [(r.name, r.why) for r in linked.remarks if r.interface == "vert" and not r.slot]
    assert told == [("gl_PointSize", "no points are drawn")]
    if facts is TRIANGLES:
        same(codes, linked, Settings())


@pytest.mark.parametrize(
    "facts",
    [
        {"topology": "POINT_LIST", "polygonMode": "FILL"},
        {"topology": "TRIANGLE_LIST", "polygonMode": "POINT"},
        {"topology": "TRIANGLE_LIST"},
        {"topology": "PATCH_LIST", "polygonMode": "FILL"},
        {"polygonMode": "FILL"},
    ],
)
def test_sizes_where_points_may_be(facts: Document) -> None:
    codes = compiled(SIZED, FRAG)
    assert unchanged(codes, state(**facts))
    if facts.get("topology") == "POINT_LIST":

        def as_points(scene: Scene) -> None:
            scene.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST

        linked = linked_with(codes, state(**facts), exact=True)
        same(codes, linked, Settings(), change=as_points)


def test_sizes_that_the_next_stage_reads() -> None:
    passing = "layout(location = 0) in vec4 vA[];\nlayout(location = 0) out vec4 gA;\n"
    each = """for (int i = 0; i < 3; ++i) { gA = vA[i] * gl_in[i].gl_PointSize;
gl_Position = gl_in[i].gl_Position; gl_PointSize = 3.0; EmitVertex(); }
"""
    codes = compiled(SIZED, geom(passing, each), FRAG)
    linked = linked_with(codes, state(**TRIANGLES), exact=True)
    first, second = [module_of(stage.data) for stage in linked.stages[:2]]
    assert enums.BuiltIn_PointSize in builtins(first)
    told = [(r.interface, r.name) for r in linked.remarks if r.why == "no points are drawn"]
    assert told == [("geom", "gl_PointSize")]
    assert count(second, ops.OpEmitVertex) >= 1
    same(codes, linked, Settings())


def test_points_of_a_tessellator() -> None:
    control = tesc("", "")
    middle = "layout(location = 0) out vec4 vA;\n"
    work = "vA = gl_TessCoord.xyzx; gl_PointSize = 2.0 + gl_TessCoord.x;"
    filled = compiled(vert("", ""), control, tese(middle, work), FRAG)
    linked = linked_with(filled, state(topology="PATCH_LIST", polygonMode="FILL"), exact=True)
    assert "no points are drawn" in {remark.why for remark in linked.remarks}
    same(filled, linked, Settings())
    points = ("tese", tese(middle, work)[1].replace("triangles) in", "triangles, point_mode) in"))
    codes = compiled(vert("", ""), control, points, FRAG)
    assert unchanged(codes, state(topology="PATCH_LIST", polygonMode="FILL"))


CAPTURED = vert(
    "layout(location = 0) out vec4 vA;\n"
    "layout(xfb_buffer = 0, xfb_stride = 16) out gl_PerVertex {\n"
    "vec4 gl_Position; layout(xfb_offset = 0) float gl_PointSize; };\n",
    "vA = a; gl_PointSize = 2.0 + abs(b.x);",
)


def test_sizes_that_feedback_captures() -> None:
    codes = compiled(CAPTURED, FRAG)
    assert unchanged(codes, state(**TRIANGLES))
