"""What recorded pipelines say of their state, and how much of it makes a job another one."""

from __future__ import annotations

from spvlink.archive import states
from spvlink.archive.layouts import Subpass
from spvlink.state import PipelineState, common
from spvlink.state_use import DeclaredUse, unread_attributes, used
from tests.support.chain_text import text, vert
from tests.support.samples import compile_glsl

Fields = dict[str, object]
BLEND: Fields = {"blendEnable": 0, "colorWriteMask": 7}
RECORDED: Fields = {
    "rasterizationState": {"cullMode": 2, "polygonMode": 0},
    "inputAssemblyState": {"topology": 3},
    "viewportState": {"viewportCount": 1},
    "multisampleState": {"rasterizationSamples": 1, "alphaToCoverageEnable": 0},
    "colorBlendState": {"attachments": [BLEND]},
    "vertexInputState": {"attributes": [{"location": 1, "format": 103}]},
}


def read(changing: set[int] | None = None, discards: bool = False, **more: object) -> PipelineState:
    inside = Subpass(0, [15, 0], True)
    return states.read({**RECORDED, **more}, changing or set(), 0, 0, inside, discards)


def test_facts_of_a_recorded_pipeline() -> None:
    state = read()
    assert state.outputs == ((0, 0, 7),)
    assert (state.culled, state.polygons, state.topology, state.viewports) == (2, 0, "triangles", 1)
    assert state.one_sample and state.attributes == ((1, 3, 0),)


def test_behind_a_discard_nothing_counts() -> None:
    state = read(discards=True, multisampleState={"rasterizationSamples": "x"})
    assert state.discards and state.outputs is None and state.viewports is None
    assert not state.one_sample and state.attributes == ((1, 3, 0),)
    assert read().discards is None


def test_what_is_set_while_drawing_is_no_fact() -> None:
    assert read({1000455012}).outputs == ((0, 0, 15),)
    assert read({1000455007}).outputs == ((0, 0, 15),)  # alpha to coverage reads alpha
    assert read({1000267000}).culled is None and read({1000267002}).topology == ""
    assert read({1000267003}).viewports is None and read({1000352000}).attributes == ()
    assert not read({1000455005}).one_sample and not read({1000226000}).one_sample
    assert not read(multisampleState={"rasterizationSamples": 4}).one_sample
    assert not read(rasterizationState={"cullMode": "x"})


def test_only_what_modules_ask_for_counts() -> None:
    vertex = vert("layout(location = 0) out vec4 v;", "v = a.xyxy;")
    plain = text(
        "frag", "layout(location = 0) in vec4 v;\nlayout(location = 0) out vec3 o;", "o = v.xyz;"
    )
    found = [DeclaredUse(compile_glsl(source, stage)) for stage, source in (vertex, plain)]
    state = used(read(), found)
    assert state == PipelineState(attributes=((1, 3, 0),))
    two = text("frag", "layout(location = 0) in vec4 v;\nlayout(location = 0) out vec4 o;",
               "o = gl_FrontFacing ? v : v.wzyx;")  # fmt: skip
    found[1] = DeclaredUse(compile_glsl(two[1], two[0]))
    state = used(read(), found)
    assert state.outputs == ((0, 0, 7),) and state.culled == 2 and state.topology == "triangles"
    assert state.viewports is None and not state.one_sample


def test_a_set_has_what_all_have() -> None:
    one, two = PipelineState(((0, 0, 7),), culled=2), PipelineState(((0, 0, 8),), culled=1)
    both = common([one, two])
    assert both is not None and both.outputs == ((0, 0, 15),) and both.culled is None
    assert common([one, None]) is None
    formats = ((1, 3, 8), (2, 3, 0), (3, 1, 8)), ((1, 7, 16), (2, 3, 8))
    several = common([PipelineState(attributes=one) for one in formats])
    assert several is not None and several.attributes == ((1, 7, 16), (2, 3, 0))


def test_an_integer_format_is_asked_for_where_it_is_read() -> None:
    source = "layout(location = 1) in uvec2 k;\nlayout(location = 0) flat out uvec2 v;"
    vertex = DeclaredUse(compile_glsl(text("vert", source, "v = k;")[1], "vert"))
    attributes = ((0, 15, 8), (1, 15, 8), (2, 15, 16))
    state = used(PipelineState(attributes=attributes), [vertex])
    assert state.attributes == ((1, 3, 8),)
    assert not used(PipelineState(attributes=((1, 15, 0),)), [vertex])
    assert unread_attributes(PipelineState(attributes=attributes), [vertex]) == (0, 2)
    assert unread_attributes(PipelineState(attributes=attributes), [DeclaredUse(b"")]) == ()
    assert unread_attributes(PipelineState(attributes=attributes), []) == ()
