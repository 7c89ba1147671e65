"""Built-ins that nobody writes have the value that Vulkan gives them."""

from __future__ import annotations

import pytest

from tests.support.chain_text import Chain, frag, geom, vert
from tests.support.rows import fates, with_and_without


@pytest.mark.parametrize("written", [False, True])
def test_a_size_that_nobody_writes_is_one(written: bool) -> None:
    """The geometry shader then has no input for it, unless the row is switched off."""
    size = "gl_PointSize = 1.0 + a.x;" if written else ""
    stages = (
        vert("layout(location = 0) out vec4 c;", f"{size} c = b;"),
        geom(
            "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 d;",
            "for (int i = 0; i < 3; ++i) { d = gl_in[i].gl_PointSize > 0.0 ? c[i] : vec4(1.0);\n"
            "gl_Position = gl_in[i].gl_Position; EmitVertex(); }",
        ),
        frag("layout(location = 0) in vec4 d;", "color = d;"),
    )
    linked, without = with_and_without(
        Chain("size", stages), "dead.unwritten_builtins", drawn=written
    )
    assert ("undefined" in fates(linked, "gl_PointSize").values()) != written
    assert "undefined" not in fates(without, "gl_PointSize").values()
