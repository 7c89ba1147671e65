"""Arrays with dynamic indices that turn out constant once other varyings are linked."""

from __future__ import annotations

import pytest

from tests.support.chain_text import Chain, frag, vert
from tests.support.rows import fates, with_and_without

HEAD = "layout(location = 0) {0} vec4 c[3]; layout(location = 4) flat {0} int which;"


@pytest.mark.parametrize(("index", "known"), [("1", True), ("k.x & 1", False)])
def test_an_index_that_crosses_as_a_constant_takes_the_array_apart(index: str, known: bool) -> None:
    """The row cannot be switched off; without propagate nobody knows the index. arrays, which makes
    copies of what is indexed dynamically, is off in both."""
    stages = (
        vert(HEAD.format("out"), f"which = {index}; c[0] = a; c[1] = a * b; c[2] = b;"),
        frag(HEAD.format("in"), "color = c[which];"),
    )
    linked, without = with_and_without(
        Chain("index", stages), "propagate", disable=("arrays", "unroll")
    )
    assert ("removed" in fates(linked, "c[2]").values()) == known
    assert not fates(without, "c[2]")
