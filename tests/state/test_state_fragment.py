"""Facts of the pipeline's state that a fragment shader may use: each with a picture, and with a
state beside it that says too little."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from tests.render import compare, make_scene
from tests.support.chain_text import geom, text, vert
from tests.support.linking import builtins, count, module_of
from tests.support.samples import compile_glsl
from tests.support.state_draw import Settings, crossing, draw_state, linked_with, same

Document = dict[str, object]
VERT = vert(
    "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec4 vB;\n",
    "vA = a * 0.5 + 0.5; vB = b;",
)
HEAD = "layout(location = 0) in vec4 vA;\nlayout(location = 1) in vec4 vB;\n"
OUT = HEAD + "layout(location = 0) out vec4 o0;\n"


def compiled(*stages: tuple[str, str]) -> list[bytes]:
    return [compile_glsl(source, stage) for stage, source in stages]


def state(**facts: object) -> Document:
    return {"version": 1, **facts}


def unchanged(codes: list[bytes], given: Document) -> bool:
    """Whether a link with this state is as without."""
    told = linked_with(codes, given)
    return [s.data for s in told.stages] == [s.data for s in linked_with(codes, None).stages]


# -- facing ----------------------------------------------------------------------------------------

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


# -- samples ---------------------------------------------------------------------------------------

ONE: Document = {
    "rasterizationSamples": 1,
    "sampleLocationsEnable": False,
    "conservativeRasterization": False,
    "fragmentShadingRate": False,
}
FINE = (
    "layout(location = 0) centroid in vec4 vA;\nlayout(location = 1) sample in vec4 vB;\n"
    "layout(location = 0) out vec4 o0;\n"
)


def finer(module: Module) -> int:
    """Decorations and instructions that ask for places within a pixel."""
    wanted = enums.Decoration_Centroid, enums.Decoration_Sample
    notes = [n for n in module.annotations if n.op == ops.OpDecorate and n.imm[0] in wanted]
    return len(notes) + count(module, ops.OpExtInst)


SAMPLED = {
    "decorations": (FINE, "o0 = vA + vB;"),
    "functions": (OUT, "o0 = interpolateAtCentroid(vA) + interpolateAtSample(vB.xyzw, 0);"),
    "numbers": (OUT, "o0 = gl_SampleID == 0 ? vA : vB;"),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_one_sample_is_in_the_middle(name: str) -> None:
    codes = compiled(VERT, text("frag", *SAMPLED[name]))
    linked = linked_with(codes, state(**ONE), exact=True)
    frag = module_of(linked.stages[1].data)
    assert finer(frag) == 0
    assert enums.BuiltIn_SampleId not in builtins(frag)
    same(codes, linked, Settings())
    if name == "numbers":
        assert crossing(linked) == 4
        assert "there is one sample" in {remark.why for remark in linked.remarks}


@pytest.mark.parametrize("name", SAMPLED)
@pytest.mark.parametrize("missing", ONE)
def test_more_samples_or_other_places(name: str, missing: str) -> None:
    codes = compiled(VERT, text("frag", *SAMPLED[name]))
    other: object = 4 if missing == "rasterizationSamples" else True
    assert unchanged(codes, state(**{**ONE, missing: other}))
    assert unchanged(codes, state(**{key: ONE[key] for key in ONE if key != missing}))
    if other == 4:
        linked = linked_with(codes, state(**{**ONE, missing: other}), exact=True)
        same(codes, linked, Settings(), samples=4)


def test_the_mask_and_the_position_stay() -> None:
    main = "o0 = vA * gl_SamplePosition.xyxy + float(gl_SampleMaskIn[0]) * vB;"
    codes = compiled(VERT, text("frag", OUT, main))
    linked = linked_with(codes, state(**ONE), exact=True)
    found = builtins(module_of(linked.stages[1].data))
    assert {enums.BuiltIn_SamplePosition, enums.BuiltIn_SampleMask} <= found
    same(codes, linked, Settings())


# -- rasterizer discard ----------------------------------------------------------------------------


def test_nothing_is_rasterized() -> None:
    buffer = "layout(binding = 0) buffer B { int n; int m; };\n"
    vertex = vert(
        buffer + "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec4 vB;\n",
        "vA = a; vB = b; atomicAdd(n, 3);",
    )
    codes = compiled(vertex, text("frag", buffer + OUT, "o0 = vA + vB; atomicAdd(m, 5);"))
    linked = linked_with(codes, state(rasterizerDiscardEnable=True))
    assert crossing(linked) == 0
    vert_module, frag_module = [module_of(stage.data) for stage in linked.stages]
    assert count(vert_module, ops.OpAtomicIAdd) == 1
    assert count(frag_module, ops.OpAtomicIAdd) == count(frag_module, ops.OpStore) == 0
    assert "nothing is rasterized" in {remark.why for remark in linked.remarks}
    scene = make_scene(codes)
    off = Settings(raster={"rasterizerDiscardEnable": 1})
    before = draw_state(codes, scene, off)
    after = draw_state([s.data for s in linked.stages], scene, off)
    assert any(data.any() for data in before.buffers.values())
    assert not compare(before, after), str(compare(before, after))


@pytest.mark.parametrize("fact", [False, None])
def test_something_may_be_rasterized(fact: bool | None) -> None:
    codes = compiled(VERT, text("frag", OUT, "o0 = vA + vB;"))
    assert unchanged(codes, state(rasterizerDiscardEnable=fact))
    linked = linked_with(codes, state(rasterizerDiscardEnable=fact), exact=True)
    same(codes, linked, Settings())
