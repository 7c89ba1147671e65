"""Links with a state that says nothing, with its rows switched off, and with a stage that stays."""

from __future__ import annotations

import spvlink
from tests.support.chain_text import text, vert
from tests.support.state_draw import compiled

Document = dict[str, object]
CODES = compiled(
    vert("layout(location = 0) out vec4 vA;", "vA = a * 0.5 + 0.5;"),
    text(
        "frag",
        "layout(location = 0) in vec4 vA;\nlayout(location = 0) out vec4 o0;\n",
        "if (vA.x < 0.1) discard; o0 = vA * vA;",
    ),
)
NO_COLOURS: Document = {"version": 1, "alphaToCoverageEnable": False, "colorAttachments": []}


def test_no_state_is_no_fact() -> None:
    without = spvlink.link(CODES)
    linked = spvlink.link(CODES, state=NO_COLOURS)
    assert linked.stages[1].data != without.stages[1].data
    empty = spvlink.link(CODES, state={"version": 1})
    assert [s.data for s in empty.stages] == [s.data for s in without.stages]
    for name in ("state.attachments", "state"):
        disable = spvlink.link(CODES, state=NO_COLOURS, disable=[name])
        assert [s.data for s in disable.stages] == [s.data for s in without.stages]


def test_a_stage_that_stays_is_not_told() -> None:
    kept = spvlink.link(CODES, state=NO_COLOURS, keep_interface=["frag"])
    assert kept.defect is None and kept.stages[1].data == CODES[1]
