"""Constants in built-ins are known to the stage that reads them."""

from __future__ import annotations

import pytest

from tests.support.chain_text import Chain, frag, geom, vert
from tests.support.rows import fates, with_and_without


@pytest.mark.parametrize(("size", "known"), [("2.0", True), ("2.0 + a.x", False)])
def test_a_constant_size_does_not_cross(size: str, known: bool) -> None:
    stages = (
        vert("layout(location = 0) out vec4 c;", f"gl_PointSize = {size}; c = b;"),
        geom(
            "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 d;",
            "for (int i = 0; i < 3; ++i) { d = c[i] / gl_in[i].gl_PointSize;\n"
            "gl_Position = gl_in[i].gl_Position; EmitVertex(); }",
        ),
        frag("layout(location = 0) in vec4 d;", "color = d;"),
    )
    linked, without = with_and_without(
        Chain("size", stages), "propagate.builtins", disable=("forward", "backward")
    )
    assert ("propagated" in fates(linked, "gl_PointSize").values()) == known
    assert "propagated" not in fates(without, "gl_PointSize").values()
