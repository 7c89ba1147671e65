"""Built-ins whose value the pipeline gives: patch sizes and the view without views."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.chain_proof import compiled
from tests.support.chain_text import Chain, frag, tesc, tese, vert

PATCHES = Chain(
    "patch sizes",
    (
        vert(
            "layout(location = 0) out vec4 vThree;\nlayout(location = 1) out vec4 vFour;",
            "vThree = a; vFour = b;",
        ),
        tesc(
            "layout(location = 0) in vec4 vThree[];\nlayout(location = 1) in vec4 vFour[];\n"
            "layout(location = 0) out vec4 cThree[];\nlayout(location = 1) out vec4 cFour[];",
            "cThree[gl_InvocationID] = gl_PatchVerticesIn == 3"
            " ? vThree[gl_InvocationID] : vFour[gl_InvocationID];\n"
            "cFour[gl_InvocationID] = vFour[gl_InvocationID];",
        ),
        tese(
            "layout(location = 0) in vec4 cThree[];\nlayout(location = 1) in vec4 cFour[];\n"
            "layout(location = 0) out vec4 e;",
            "e = gl_PatchVerticesIn == 3 ? cThree[0] : cFour[0];",
        ),
        frag("layout(location = 0) in vec4 e;", "color = e;"),
    ),
)
VIEWS = Chain(
    "views",
    (
        vert(
            "layout(location = 0) out vec4 vLeft;\nlayout(location = 1) out vec4 vRight;",
            "vLeft = a; vRight = b;",
        ),
        frag(
            "#extension GL_EXT_multiview : require\n"
            "layout(location = 0) in vec4 vLeft;\nlayout(location = 1) in vec4 vRight;",
            "color = gl_ViewIndex == 0 ? vLeft : vRight;",
        ),
    ),
)


def gone(linked: spvlink.Linked) -> set[str]:
    borders = [r for r in linked.remarks if "->" in r.interface]
    names = {r.name for r in borders if r.action == "removed"}
    return {name for name in names if not name.startswith("gl_")}


@pytest.mark.parametrize(
    ("points", "expected"),
    [(None, {"cFour"}), (3, {"cFour", "vFour"}), (4, {"cFour", "vThree"})],
    ids=["unknown", "three", "four"],
)
def test_patch_sizes(points: int | None, expected: set[str]) -> None:
    """What an evaluation shader sees is what its control shader writes, always; what a control
    shader sees says the pipeline."""
    codes = compiled(PATCHES)
    linked = spvlink.link(codes, patch_points=points)
    assert linked.defect is None and linked.validated == "validated"
    assert gone(linked) == expected
    if points != 4:  # the picture is of patches of three
        scene, before = draw_covering(codes)
        difference = compare(before, draw([s.data for s in linked.stages], scene))
        assert before.coverage > 0.1 and not difference, str(difference)


@pytest.mark.parametrize(("mask", "expected"), [(None, set()), (0, {"vRight"}), (3, set())])
def test_views(mask: int | None, expected: set[str]) -> None:
    linked = spvlink.link(compiled(VIEWS), view_mask=mask)
    assert linked.defect is None and gone(linked) == expected
