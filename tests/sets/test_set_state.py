"""The state of pipelines that share modules: a fact counts if it holds for all of them."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.pipeline import NOTHING_TO_GAIN, Linked, Source
from spvlink.sets.link_set import link_set
from tests.support.chain_text import text, vert
from tests.support.samples import compile_glsl
from tests.support.set_results import results
from tests.support.state_draw import Settings, crossing, same

Document = dict[str, object]
INPUTS = "layout(location = 0) in vec4 vA;\nlayout(location = 1) in vec4 vB;\n"
OUTPUTS = "layout(location = 0) out vec4 o0;\nlayout(location = 1) out vec4 o1;\n"
PRODUCER = "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec4 vB;\n"
ONE: Document = {"blendEnable": False}
FIRST: Document = {
    "version": 1, "alphaToCoverageEnable": False, "colorAttachments": [ONE],
}  # fmt: skip
BOTH: Document = FIRST | {"colorAttachments": [ONE, ONE]}
CULLED: Document = {
    "version": 1, "cullMode": "BACK", "polygonMode": "FILL", "topology": "TRIANGLE_LIST",
}  # fmt: skip
WHY = "no attachment takes it"


def compiled(pair: tuple[str, str]) -> bytes:
    return compile_glsl(pair[1], pair[0])


def pipelines(frag: bytes, *states: Document | None) -> list[tuple[list[Source], spvlink.Options]]:
    """Two vertex shaders, one fragment shader that both share."""
    found = []
    for number, state in enumerate(states):
        main = f"vA = a * 0.{number + 3} + 0.5; vB = b * a.{'wz'[number]};"
        options = spvlink.Options(complete=True, state=state)
        code = compiled(vert(PRODUCER, main))
        found.append(([Source(code, f"v{number}"), Source(frag, "f")], options))
    return found


def linked(frag: bytes, *states: Document | None) -> list[Linked]:
    found = results(link_set(pipelines(frag, *states)))
    for one in found:
        assert one.validated == "validated" or one.passed_through == NOTHING_TO_GAIN, one
    assert found[0].stages[1].data == found[1].stages[1].data  # one version
    return found


def told(one: Linked, why: str = WHY) -> set[str]:
    return {remark.name for remark in one.remarks if remark.why == why}


TWO = compiled(text("frag", INPUTS + OUTPUTS, "o0 = vA.wzyx; o1 = normalize(vB) + 0.25;"))


def test_a_fact_of_both_counts_and_each_pipeline_says_so() -> None:
    found = linked(TWO, FIRST, FIRST)
    assert [crossing(one) for one in found] == [4, 4]
    assert [told(one) for one in found] == [{"o1"}, {"o1"}]
    for one, (sources, _) in zip(found, pipelines(TWO, FIRST, FIRST)):
        same([s.data for s in sources], one, Settings(targets=[0]))


@pytest.mark.parametrize("other", [BOTH, None, CULLED])
def test_a_fact_of_one_does_not_count(other: Document | None) -> None:
    for states in ((FIRST, other), (other, FIRST)):
        found = linked(TWO, *states)
        assert [crossing(one) for one in found] == [8, 8]
        assert [told(one) for one in found] == [set(), set()]
        for one, (sources, _), state in zip(found, pipelines(TWO, *states), states):
            targets = [0] if state is FIRST else None
            same([s.data for s in sources], one, Settings(targets=targets))


FACING = compiled(text("frag", INPUTS + OUTPUTS, "o0 = gl_FrontFacing ? vA : vB; o1 = vA;"))


def test_other_facts_need_all_of_them_too() -> None:
    drawn = Settings(raster={"cullMode": 2})
    for states, components in (
        ((CULLED, CULLED), 4),
        ((CULLED, CULLED | {"cullMode": "FRONT"}), 8),
    ):
        found = linked(FACING, *states)
        assert [crossing(one) for one in found] == [components] * 2
        same([s.data for s in pipelines(FACING, *states)[0][0]], found[0], drawn)


def test_what_one_needs_of_an_attachment_the_other_keeps() -> None:
    """Red for the one, green for the other: both stay, blue and alpha go."""
    red, green = ({**FIRST, "colorAttachments": [{**ONE, "colorWriteMask": c}]} for c in "RG")
    code = compiled(text("frag", INPUTS + OUTPUTS, "o0 = vA; o1 = vB;"))
    found = linked(code, red, green)
    assert [crossing(one) for one in found] == [2, 2]
    for one, (sources, _), mask in zip(found, pipelines(code, red, green), (1, 2)):
        settings = Settings(blend=[{"colorWriteMask": mask}], targets=[0])
        same([s.data for s in sources], one, settings)


def test_sizes_of_points_go_where_nobody_draws_points() -> None:
    code = compiled(vert(PRODUCER, "vA = a; vB = b.wzyx; gl_PointSize = a.x;"))
    frags = [compiled(text("frag", INPUTS + OUTPUTS, f"o0 = vA + vB.{c}; o1 = vA;")) for c in "xy"]

    def size_goes(*states: Document) -> list[bool]:
        rows = [
            ([Source(code, "v"), Source(frag, f"f{n}")], spvlink.Options(complete=True, state=s))
            for n, (frag, s) in enumerate(zip(frags, states))
        ]
        found = results(link_set(rows))
        return ["gl_PointSize" in told(one, "no points are drawn") for one in found]

    assert size_goes(CULLED, CULLED) == [True, True]
    assert size_goes(CULLED, CULLED | {"topology": "POINT_LIST"}) == [False, False]
