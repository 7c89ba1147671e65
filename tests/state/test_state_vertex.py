"""Facts of the pipeline's state that stages before rasterization may use: each with a picture, and
with a state beside it that says too little."""

from __future__ import annotations

import pytest
from vulkan import (
    VK_FORMAT_R8G8B8A8_UINT,
    VK_FORMAT_R32_SFLOAT,
    VK_FORMAT_R32_SINT,
    VK_FORMAT_R32G32_SFLOAT,
    VK_PRIMITIVE_TOPOLOGY_POINT_LIST,
)

from spvlink.grammar import enums, ops
from tests.render.scene import Scene
from tests.support.chain_text import geom, tesc, tese, text, vert
from tests.support.linking import builtins, count, module_of
from tests.support.samples import compile_glsl
from tests.support.state_draw import Settings, crossing, linked_with, same

Document = dict[str, object]
OUT = "layout(location = 0) in vec4 vA;\nlayout(location = 0) out vec4 o0;\n"
SIZED = vert("layout(location = 0) out vec4 vA;", "vA = a; gl_PointSize = 2.0 + abs(b.x) * 9.0;")
FRAG = text("frag", OUT, "o0 = vA * 0.5;")


def compiled(*stages: tuple[str, str]) -> list[bytes]:
    return [compile_glsl(source, stage) for stage, source in stages]


def state(**facts: object) -> Document:
    return {"version": 1, **facts}


def unchanged(codes: list[bytes], given: Document) -> bool:
    """Whether a link with this state is as without."""
    told = linked_with(codes, given, exact=True)
    plain = linked_with(codes, None, exact=True)
    return [s.data for s in told.stages] == [s.data for s in plain.stages]


# -- size of points --------------------------------------------------------------------------------

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
    told = [(r.name, r.why) for r in linked.remarks if r.interface == "vert"]
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


# -- viewport --------------------------------------------------------------------------------------

PASSING = "layout(location = 0) in vec4 vA[];\nlayout(location = 0) out vec4 gA;\n"
EACH = """for (int i = 0; i < 3; ++i) { gA = vA[i]; gl_ViewportIndex = int(vA[i].x) & %d;
gl_Position = gl_in[i].gl_Position; EmitVertex(); }
"""
PLAIN = vert("layout(location = 0) out vec4 vA;", "vA = a * 3.0;")


def test_the_only_viewport() -> None:
    codes = compiled(PLAIN, geom(PASSING, EACH % 0), FRAG)
    linked = linked_with(codes, state(viewportCount=1), exact=True)
    assert enums.BuiltIn_ViewportIndex not in builtins(module_of(linked.stages[1].data))
    assert "there is one viewport" in {remark.why for remark in linked.remarks}

    def one(scene: Scene) -> None:
        scene.viewports = 1

    same(codes, linked, Settings(), change=one)


def test_viewports_that_matter() -> None:
    codes = compiled(PLAIN, geom(PASSING, EACH % 1), FRAG)
    assert unchanged(codes, state(viewportCount=2))
    assert unchanged(codes, state())
    same(codes, linked_with(codes, state(viewportCount=2), exact=True), Settings())
    reader = text("frag", OUT, "o0 = vA * 0.5 + float(gl_ViewportIndex);")
    codes = compiled(PLAIN, geom(PASSING, EACH % 0), reader)
    assert unchanged(codes, state(viewportCount=1))


# -- vertex attributes -----------------------------------------------------------------------------

BOTH = "layout(location = 0) out vec4 vA;\nlayout(location = 1) flat out ivec4 vK;\n"
READS = (
    "layout(location = 0) in vec4 vA;\nlayout(location = 1) flat in ivec4 vK;\n"
    "layout(location = 0) out vec4 o0;\n"
)


@pytest.mark.parametrize(
    ("format", "number", "size", "left"),
    [
        ("R32_SFLOAT", VK_FORMAT_R32_SFLOAT, 4, 1),
        ("R32G32_SFLOAT", VK_FORMAT_R32G32_SFLOAT, 8, 2),
        ("R32G32B32A32_SFLOAT", None, 16, 4),
    ],
)
def test_components_that_a_format_lacks(
    format: str, number: int | None, size: int, left: int
) -> None:
    flat = "layout(location = 0) flat out vec4 vA;"
    front = text("frag", OUT.replace(") in", ") flat in"), "o0 = vA * 0.5;")
    codes = compiled(vert(flat, "vA = a;"), front)
    given = state(vertexAttributes=[{"location": 1, "format": format}])
    linked = linked_with(codes, given, exact=True)
    assert crossing(linked) == left

    def shorter(scene: Scene) -> None:
        if number is not None:
            scene.attributes[1] = number, scene.attributes[1][1][:, :size].copy()

    same(codes, linked, Settings(), change=shorter)


def test_integers_are_filled_with_integers() -> None:
    vertex = vert(BOTH, "vA = a; vK = k;")
    codes = compiled(vertex, text("frag", READS, "o0 = vec4(vK.xw, vK.z == 0 ? 1.0 : vA.x, 1.0);"))
    given = state(vertexAttributes=[{"location": 3, "format": "R32_SINT"}])
    linked = linked_with(codes, given, exact=True)
    assert crossing(linked) == 1  # vK.x

    def shorter(scene: Scene) -> None:
        scene.attributes[3] = VK_FORMAT_R32_SINT, scene.attributes[3][1][:, :4].copy()

    same(codes, linked, Settings(), change=shorter)


def test_formats_that_say_nothing() -> None:
    codes = compiled(PLAIN, FRAG)
    for attributes in (
        [{"location": 1, "format": "R8G8B8A8_UNORM"}],
        [{"location": 1, "format": VK_FORMAT_R8G8B8A8_UINT}],
        [{"location": 9, "format": "R32_SFLOAT"}],
        [{"location": 1}],
        [],
    ):
        assert unchanged(codes, state(vertexAttributes=attributes))
