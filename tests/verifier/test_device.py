"""``spvlink.verifier.device``: both pipelines drawn on a device, in a process of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import spvlink
from spvlink import Options, Source
from spvlink.verifier import device
from spvlink.verifier.verdict import DEVICE
from tests.support.linking import fragment, vertex

VERT = vertex(
    """layout(location = 0) out vec4 colour; layout(location = 1) out vec4 unread;
    void main() { colour = p * 0.5 + 0.25; unread = sin(p); gl_Position = p; }"""
)
FRAG = fragment("layout(location = 0) in vec4 colour; void main() { o = colour * colour.x; }")
WRONG = fragment("layout(location = 0) in vec4 colour; void main() { o = colour * colour.y; }")
ORIGINAL = [Source(VERT, "a.vert"), Source(FRAG, "a.frag")]


def linked(exact: bool) -> list[Source]:
    return [Source(stage.data) for stage in spvlink.link(ORIGINAL, exact=exact).stages]


@pytest.mark.parametrize("exact", [False, True])
def test_a_link_draws_the_same(exact: bool) -> None:
    after = linked(exact)
    assert [s.data for s in after] != [VERT, FRAG]
    verdict = device.on_device(ORIGINAL, after, Options(exact=exact), seeds=2)
    assert (verdict.outcome, verdict.way) == ("equal", DEVICE), verdict


def test_another_shader_is_seen_and_its_pictures_are_written(tmp_path: Path) -> None:
    after = [Source(VERT), Source(WRONG)]
    verdict = device.on_device(ORIGINAL, after, Options(), pictures=str(tmp_path))
    assert verdict.outcome == "unequal" and verdict.witness == {"seed": 0, "variant": 0}
    assert verdict.place is not None and "color0" in verdict.place.output
    names = {path.name for path in tmp_path.iterdir()}
    assert {"before.0.color0.png", "after.0.color0.png"} <= names


def test_rounding_is_no_difference_unless_every_bit_counts() -> None:
    near = fragment(
        "layout(location = 0) in vec4 colour; void main() { o = colour * colour.x * 1.0000002; }"
    )
    after = [Source(VERT), Source(near)]
    verdict = device.on_device(ORIGINAL, after, Options(), seeds=1)
    assert verdict.outcome == "equal" and verdict.axioms[device.ROUNDING] > 0
    assert device.on_device(ORIGINAL, after, Options(exact=True), seeds=1).outcome == "unequal"


@pytest.mark.parametrize(
    ("fragment_shader", "options", "number", "reason"),
    [
        (FRAG, Options(spec={("frag", 0): "1"}), None, "specialization constants"),
        (FRAG, Options(state={"version": 1, "viewportCount": 1}), None, "the state"),
        (FRAG, Options(), 99, "there is no device 99"),
        (fragment("void main() { discard; }"), Options(), None, "too little is drawn"),
    ],
)
def test_what_cannot_be_drawn_is_unknown(
    fragment_shader: bytes, options: Options, number: int | None, reason: str
) -> None:
    pair = [Source(VERT), Source(fragment_shader)]
    verdict = device.on_device(pair, pair, options, number, seeds=1)
    assert verdict.outcome == "unknown" and reason in verdict.reason, verdict


def test_a_module_that_cannot_be_read_is_unknown() -> None:
    broken = [Source(VERT), Source(FRAG[: len(FRAG) // 8 * 4])]
    verdict = device.on_device(ORIGINAL, broken, Options(), seeds=1)
    assert verdict.outcome == "unknown" and verdict.reason, verdict
