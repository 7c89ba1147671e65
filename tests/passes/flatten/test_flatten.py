"""What the link makes of levels of values (test_divergence.py): a choice is for all or for some."""

from __future__ import annotations

import numpy as np
import pytest

from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums
from tests.support.duplicates import components, flattened, link, two
from tests.support.linking import VERTEX as HEAD
from tests.support.propagation import pair
from tests.support.samples import compile_glsl

GATES = {
    "gl_InstanceIndex > 0": True,
    "q.i > 0": True,
    "k.x > 0": False,
    "p.x > 0.0": False,
}
PUSHED = "layout(push_constant) uniform P { int i; } q;\n"


def gated(condition: str) -> tuple[str, str]:
    """A flat vec2, and a smooth one that is chosen by a condition."""
    body = f"""a = p.xy; b = vec2(1.0, 2.0);
    if ({condition}) {{ b = vec2(gl_InstanceIndex, 4.0 + gl_InstanceIndex); }}"""
    vert, frag = two("flat @ vec2", "@ vec2", body, "o = vec4(a, b);")
    return PUSHED + vert, frag


@pytest.mark.parametrize("condition", GATES)
def test_a_choice_decides_whether_a_varying_is_flattened(condition: str) -> None:
    done = link(*gated(condition))
    assert flattened(done) == ({"b"} if GATES[condition] else set())
    assert components(done) == 4
    assert len(done.locations) == (1 if GATES[condition] else 2)
    flat = [enums.Decoration_Flat in d.qualifiers for d in done.inputs]
    assert all(flat) == GATES[condition]


@pytest.mark.parametrize("condition", list(GATES)[:3])
def test_the_picture_is_the_same(condition: str) -> None:
    vert, frag = gated(condition)
    left, right = pair(vert, frag)
    codes = [compile_glsl(HEAD + left, "vert"), compile_glsl("#version 450\nlayout(location = 0) "
             "out vec4 o;\n" + right, "frag")]  # fmt: skip
    scene, before = draw_covering(codes)
    assert before.is_good()
    assert not compare(before, draw(link(vert, frag, exact=True).data, scene))
    after = draw(link(vert, frag).data, scene)
    for image, old in before.images.items():
        a, b = old.astype("f8"), after.images[image].astype("f8")
        assert np.all(np.abs(a - b) <= 1e-4 * np.maximum(1.0, np.abs(a))), image
