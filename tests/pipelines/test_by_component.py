"""By component through everything (component_chains.py): of matrices, structs, arrays and vectors
only those components cross, at every border, that the consumer needs; what is used whole stays so.
Valid, drawn, drawn with other inputs, exact to the bit, and a second link finds nothing.
"""

from __future__ import annotations

import pytest

from spvlink.draw import compare, draw, draw_covering
from tests.support.chain_text import frag, vert
from tests.support.closeness import assert_close
from tests.support.component_chains import BORDERS, CASES, Case, chain
from tests.support.halves import build, link

MOTION = frozenset(("backward", "forward", "weighted"))
EVERYWHERE = 5  # so many cases are tried at every border, each of the others at three

CELLS = [
    (case, border)
    for number, case in enumerate(CASES)
    for at, border in enumerate(BORDERS)
    if number < EVERYWHERE or (at - number) % len(BORDERS) < 3
]


@pytest.mark.parametrize(
    ("case", "border"), CELLS, ids=lambda v: v.replace(" ", "-") if isinstance(v, str) else v.name
)
def test_case(case: Case, border: str) -> None:
    made = chain(border, case)
    codes = build(made.stages, made.environment)
    still = link(codes, disable=MOTION)
    ends = border.split()[0]
    found = next(i for i in still.interfaces if f"{i.producer}->{i.consumer}" == ends)
    assert found.components[1] == case.components
    exact = link(codes, exact=True)
    default = link(codes)
    for seed in (0, 5):
        scene, before = draw_covering(codes, seed)
        assert before.is_good(), "the original proves nothing"
        for linked in (still, exact):
            difference = compare(before, draw([s.data for s in linked.stages], scene))
            assert not difference, str(difference)
        assert_close(before, draw([s.data for s in default.stages], scene))
    for linked in (exact, default):
        again = link([s.data for s in linked.stages], exact=linked is exact)
        assert again.passed_through == "nothing to gain"


WORDS = {  # what a fragment shader computes of two flat words, of which one result is used
    "low word of umulExtended": "uint h, l; umulExtended(d.x, d.y, h, l);",
    "low word of imulExtended": "int h, m; imulExtended(int(d.x), int(d.y), h, m); uint l = m;",
    "sum of uaddCarry": "uint c, l = uaddCarry(d.x, d.y, c);",
    "difference of usubBorrow": "uint c, l = usubBorrow(d.x, d.y, c);",
    "high word of umulExtended": "uint h, l; umulExtended(d.x, d.y, l, h);",
    "high word of imulExtended": "int h, m; imulExtended(int(d.x), int(d.y), m, h); uint l = m;",
    "carry": "uint c, l; c = uaddCarry(d.x, d.y, l); l *= 77u;",
    "borrow": "uint c, l; c = usubBorrow(d.x, d.y, l); l *= 77u;",
    "both words": "uint h, l; umulExtended(d.x, d.y, h, l); l ^= h;",
    "lane of vectors": "uvec2 h, m; umulExtended(d, d.yx + 3u, h, m); uint l = h.y;",
    "with a uniform": "uint h, l; umulExtended(d.x ^ d.y, pc.n, l, h);",
}
PUSH = "layout(push_constant) uniform Push { uint n; } pc;"


@pytest.mark.parametrize("name", WORDS)
def test_results_of_two_words_move(name: str) -> None:
    """Each is an integer operation like another, whether it is one of a pair or not."""
    stages = (
        vert(
            f"layout(location = 1) flat out uvec2 d; {PUSH}",
            "d = floatBitsToUint(a.xy) * 77777777u + uvec2(k.xy) + (pc.n & 1u);",
        ),
        frag(
            f"layout(location = 1) flat in uvec2 d; {PUSH}",
            f"{WORDS[name]} color = vec4(cos(float(l & 1023u) * gl_FragCoord.x), 0, 1, 1);",
        ),
    )
    codes = build(stages, "vulkan1.1")
    scene, before = draw_covering(codes)
    assert before.is_good(), "the original proves nothing"
    for exact in (False, True):
        linked = link(codes, exact=exact)
        assert linked.interfaces[0].components == (2, 1)
        new = [s.data for s in linked.stages]
        difference = compare(before, draw(new, scene))
        assert not difference, str(difference)
        assert link(new, exact=exact).passed_through == "nothing to gain"
