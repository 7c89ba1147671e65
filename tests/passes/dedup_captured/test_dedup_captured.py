"""Outputs that hold what a captured one holds: the next stage reads that one."""

from __future__ import annotations

import pytest

from tests.support.captured import check_layout
from tests.support.chain_proof import compiled, prove
from tests.support.chain_text import Chain, frag, vert


@pytest.mark.parametrize(
    ("captures", "reads", "merged"),
    [("", "", True), ("", "invariant ", False), ("invariant ", "", False), ("", "mediump ", False),
     ("mediump ", "", False), ("mediump ", "mediump ", True)],
)  # fmt: skip
def test_a_captured_twin_is_read_only_if_it_is_as_good(
    captures: str, reads: str, merged: bool
) -> None:
    """Not one of another precision, and nothing else in place of what is Invariant."""
    xfb = "xfb_buffer = 0, xfb_stride = 16, xfb_offset = 0"
    precision = reads if "mediump" in reads else ""
    outputs = f"""layout(location = 0, {xfb}) out {captures.replace("invariant ", "")}vec4 x;
layout(location = 1) out {precision}vec4 y;
"""
    outputs += "invariant x;" if "invariant" in captures else ""
    outputs += "invariant y;" if "invariant" in reads else ""
    inputs = f"layout(location = 1) in {precision}vec4 y;"
    chain = Chain(
        "twins",
        (vert(outputs, "x = a; y = a;"), frag(inputs, "color = y;")),
        environment="vulkan1.1",
    )
    codes = compiled(chain)
    linked = prove(codes, chain)
    actions = {r.action for r in linked.remarks if r.name == "y"}
    assert (actions == {"merged"}) == merged, actions
    check_layout(codes, [s.data for s in linked.stages])
