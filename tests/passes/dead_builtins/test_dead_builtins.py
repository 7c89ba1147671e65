"""Built-ins that rasterization takes from the last stage only: before that they may be dead."""

from __future__ import annotations

import pytest

from tests.support.chain_text import Chain, frag, geom, vert
from tests.support.linking import extended, module_of
from tests.support.rows import fates, with_and_without

SIN = 13  # of GLSL.std.450


def chain(read: str) -> Chain:
    return Chain(
        "size",
        (
            vert("layout(location = 0) out vec4 c;", "gl_PointSize = sin(a.x) + 2.0; c = b;"),
            geom(
                "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 d;",
                f"for (int i = 0; i < 3; ++i) {{ d = c[i] * {read};\n"
                "gl_Position = gl_in[i].gl_Position; EmitVertex(); }",
            ),
            frag("layout(location = 0) in vec4 d;", "color = d;"),
        ),
    )


@pytest.mark.parametrize(("read", "dies"), [("0.5", True), ("gl_in[i].gl_PointSize", False)])
def test_a_size_goes_unless_the_geometry_shader_reads_it(read: str, dies: bool) -> None:
    """With the sine that only it needs; without the row the store stays."""
    linked, without = with_and_without(
        chain(read), "dead.builtins", "dead.unwritten_builtins", disable=("forward", "backward")
    )
    assert ("removed" in fates(linked, "gl_PointSize").values()) == dies
    assert bool(extended(module_of(linked.stages[0].data), SIN)) != dies
    assert extended(module_of(without.stages[0].data), SIN)
