"""Vertex attributes that nobody reads after linking: the remarks name them, and a picture without
their data is the same."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw.scene import Scene
from spvlink.pipeline import KEPT, REMOVED
from spvlink.sets.link_set import link_set
from tests.support.chain_text import text
from tests.support.state_draw import Settings, compiled, linked_with, same, state

IN = (
    "layout(location = 0) in vec4 place;\nlayout(location = 2) in vec3 normal;\n"
    "layout(location = 3) in mat3 basis;\n"
)
OUT = "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec3 vN;\n"
VERT = text("vert", IN + OUT, "gl_Position = place; vA = place * 0.5 + 0.5; vN = normal;")
HEAD = "layout(location = 0) out vec4 o0;\nlayout(location = 0) in vec4 vA;\n"
FRAG = text("frag", HEAD, "o0 = vA;")
NORMAL = "layout(location = 1) in vec3 vN;\n"


def named(linked: spvlink.Linked) -> list[tuple[str, str, str]]:
    """(name, slot, action) of what is said of the vertex shader alone."""
    told = [remark for remark in linked.remarks if remark.interface == "vert"]
    return [(remark.name, remark.slot, remark.action) for remark in told]


def test_gone_with_the_varying_that_needed_it() -> None:
    codes = compiled(VERT, FRAG)
    linked = linked_with(codes, None)
    assert named(linked) == [("normal", "2.xyz", REMOVED), ("basis", "3-5.xyz", REMOVED)]

    def without(scene: Scene) -> None:
        for location in (2, 3, 4, 5):
            scene.attributes.pop(location, None)

    same(codes, linked, Settings())
    drawn = [stage.data for stage in linked.stages]
    same(drawn, linked, Settings(), change=without)


@pytest.mark.parametrize("lane", ["vN.x", "vN.z"])
def test_one_lane_is_read(lane: str) -> None:
    codes = compiled(VERT, text("frag", HEAD + NORMAL, f"o0 = vA * {lane};"))
    assert named(linked_with(codes, None)) == [("basis", "3-5.xyz", REMOVED)]


def test_all_are_read() -> None:
    all_of_them = "gl_Position = place; vA = place + basis[2].xyzz; vN = normal;"
    codes = compiled(
        text("vert", IN + OUT, all_of_them),
        text("frag", HEAD + NORMAL, "o0 = vA * vN.xyzx;"),
    )
    assert named(linked_with(codes, None)) == []


def test_a_module_that_goes_out_as_it_came_lists_it() -> None:
    vertex = text("vert", IN + OUT, "gl_Position = place; vA = place; vN = normal;")
    linked = linked_with(
        compiled(vertex, text("frag", HEAD + NORMAL, "o0 = vA * vN.xyzx;")),
        None,
        keep_interface=["vert"],
    )
    assert named(linked) == [("basis", "3-5.xyz", KEPT)]


def test_the_vertex_input_gives_what_no_shader_has() -> None:
    given = state(vertexAttributes=[{"location": at} for at in (0, 2, 4, 9)])
    linked = linked_with(compiled(VERT, FRAG), given)
    assert named(linked) == [
        ("normal", "2.xyz", REMOVED),
        ("basis", "3-5.xyz", REMOVED),
        ("", "9", REMOVED),
    ]


def test_pipelines_that_share_the_vertex_shader() -> None:
    """It is named if none of them reads it."""
    vertex, plain, lit = compiled(VERT, FRAG, text("frag", HEAD + NORMAL, "o0 = vA * vN.x;"))
    rows = [
        ([spvlink.Source(vertex), spvlink.Source(one)], spvlink.Options()) for one in (plain, lit)
    ]
    assert [named(linked) for linked in link_set(rows).pipelines] == [
        [("basis", "3-5.xyz", REMOVED)]
    ] * 2
