"""``spvlink verify``, ``spvlink link --verify`` and ``spvlink.verify``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from tests.support.linking import fragment, vertex

VERT = vertex(
    """layout(location = 0) out vec4 colour; layout(location = 1) out vec4 unread;
    void main() { colour = p * 0.5 + 0.25; unread = sin(p); gl_Position = p; }"""
)
FRAG = fragment("layout(location = 0) in vec4 colour; void main() { o = colour * colour.x; }")
WRONG = fragment("layout(location = 0) in vec4 colour; void main() { o = colour * colour.y; }")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, code in (("a.vert.spv", VERT), ("a.frag.spv", FRAG), ("b.frag.spv", WRONG)):
        (tmp_path / name).write_bytes(code)
    return tmp_path


def words(folder: Path, *names: str) -> list[str]:
    return [str(folder / name) for name in names]


@pytest.mark.parametrize("more", [[], ["--execute"], ["--draw"]])
def test_a_link_is_proved(
    folder: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    pair = words(folder, "a.vert.spv", "a.frag.spv")
    assert cli.main(["link", *pair, "--exact", "--verify", "-o", str(folder / "out")]) == 0
    assert "proved equal" in capsys.readouterr().out
    made = words(folder / "out", "a.vert.spv", "a.frag.spv")
    assert cli.main(["verify", *pair, "--linked", *made, "--exact", *more]) == 0
    assert capsys.readouterr().out == "proved equal\n"


@pytest.mark.parametrize(
    ("more", "outcome", "way"),
    [([], "unknown", "paper"), (["--execute"], "unequal", "executed"),
     (["--draw"], "unequal", "device")],
)  # fmt: skip
def test_another_pipeline_is_not_equal(
    folder: Path, more: list[str], outcome: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pair, other = (words(folder, "a.vert.spv", f"{name}.frag.spv") for name in "ab")
    assert cli.main(["verify", *pair, "--linked", *other, "--json", *more]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["outcome"], verdict["way"]) == (outcome, way)


def test_from_python() -> None:
    linked = [stage.data for stage in spvlink.link([VERT, FRAG]).stages]
    assert spvlink.verify([VERT, FRAG], linked).outcome == "equal"
    assert spvlink.verify([VERT, FRAG], [VERT, WRONG], execute=True).outcome == "unequal"


@pytest.mark.parametrize("more", [[], ["--device", "x"], ["--seconds", "0"], ["--odd"]])
def test_usage(folder: Path, more: list[str]) -> None:
    pair = words(folder, "a.vert.spv", "a.frag.spv")
    linked = ["--linked", *pair] if more else []
    assert cli.main(["verify", *pair, *linked, *more]) == 2
