"""Fragment shaders behind which nothing is rasterized, with what the stages before still do."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.archive.archive import Archive
from spvlink.draw import compare, make_scene
from spvlink.grammar import ops
from tests.archive.writing import RECORDED
from tests.support.chain_text import text, vert
from tests.support.linking import count, module_of
from tests.support.state_draw import (
    Settings,
    compiled,
    crossing,
    draw_state,
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


def test_without_a_fragment_stage() -> None:
    """What the vertex shader stores and captures stays, whatever the state says."""
    buffer = "layout(binding = 0) buffer B { int n; };\n"
    codes = compiled(
        vert(buffer + "layout(location = 0) out vec4 vA;\n", "vA = a; atomicAdd(n, 3);")
    )
    linked = linked_with(codes, state(rasterizerDiscardEnable=True), complete=True)
    assert count(module_of(linked.stages[0].data), ops.OpAtomicIAdd) == 1
    scene = make_scene(codes)
    off = Settings(raster={"rasterizerDiscardEnable": 1})
    before = draw_state(codes, scene, off)
    after = draw_state([s.data for s in linked.stages], scene, off)
    assert any(data.any() for data in before.buffers.values())
    assert not compare(before, after), str(compare(before, after))


def test_an_archive_says_so() -> None:
    """The one recorded pipeline with a fragment shader behind a discard that stays."""
    with Archive([str(RECORDED)]) as opened:
        found = [one for one in opened.pipelines() if one.reason is None]
        (pipeline,) = [one for one in found if one.state.discards]
        assert all(not one.state.discards for one in found if one.discard is None)
        codes = [opened.module(stage.module) for stage in pipeline.stages]
    linked = spvlink.link(codes, complete=True, spec_defaults=True, state=pipeline.state)
    assert linked.validated == "validated" and crossing(linked) == 0
    assert count(module_of(linked.stages[1].data), ops.OpStore) == 0
    plain = spvlink.link(codes, complete=True, spec_defaults=True)
    assert crossing(plain) > 0
