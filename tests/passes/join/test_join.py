"""Blocks that always follow each other become one."""

from __future__ import annotations

import pytest

import spvlink
from tests.support.chain_text import Chain, frag, vert
from tests.support.linking import module_of
from tests.support.rows import with_and_without

HEAD = "layout(location = 0) {0} vec4 c; layout(location = 1) flat {0} int n;"


def blocks(linked: spvlink.Linked) -> int:
    return len(module_of(linked.stages[1].data).functions[0].blocks)


@pytest.mark.parametrize(("value", "known"), [("3", True), ("k.x", False)])
def test_a_resolved_selection_leaves_one_block(value: str, known: bool) -> None:
    """The blocks of one that is not resolved stay apart."""
    stages = (
        vert(HEAD.format("out"), f"c = a; n = {value};"),
        frag(HEAD.format("in"), "color = c; if (n > 2) color = sin(c) / c;"),
    )
    linked, without = with_and_without(Chain("selection", stages), "join")
    assert (blocks(linked) == 1) == known
    assert blocks(without) > 1
