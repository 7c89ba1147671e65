"""64-bit values as two words where that saves a Location."""

from __future__ import annotations

import pytest

from tests.support.chain_text import Chain, frag, vert
from tests.support.rows import with_and_without

HEAD = "layout(location = 0) flat {0} double d; layout(location = 1) flat {0} uvec{1} n;"


@pytest.mark.parametrize(("words", "locations"), [(2, (1, 2)), (3, (2, 2))])
def test_words_share_a_location_with_others(words: int, locations: tuple[int, int]) -> None:
    """Two words fit beside the double's, three do not."""
    lanes = "xyz"[:words]
    stages = (
        vert(HEAD.format("out", words), f"d = double(a.x) + b.y; n = uvec{words}(k.{lanes});"),
        frag(HEAD.format("in", words), "color = vec4(float(d), vec2(n.xy & 7u) * 0.1, 1.0);"
             + ("" if words == 2 else "color.w = float(n.z & 1u);")),
    )  # fmt: skip
    linked, without = with_and_without(
        Chain("double", stages), "halves.locations", disable=("forward", "backward", "narrow")
    )
    assert linked.interfaces[0].locations[1] == locations[0]
    assert without.interfaces[0].locations[1] == locations[1]
