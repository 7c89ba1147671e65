"""The index of the only viewport: with a picture, and with states beside it that say too little."""

from __future__ import annotations

from spvlink.grammar import enums
from tests.render.scene import Scene
from tests.support.chain_text import geom, text, vert
from tests.support.linking import builtins, module_of
from tests.support.state_draw import Settings, compiled, linked_with, same, state, unchanged

OUT = "layout(location = 0) in vec4 vA;\nlayout(location = 0) out vec4 o0;\n"
FRAG = text("frag", OUT, "o0 = vA * 0.5;")
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
