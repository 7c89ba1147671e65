"""scripts/make-archive: large archives that share as those of a game do."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from spvlink import cli
from spvlink.archive.archive import Archive
from tests.archive.writing import split
from tests.support.batch_sets import ROOT

SCRIPT = ROOT / "scripts" / "make-archive"


def make(out: Path, *words: object) -> Path:
    subprocess.run([sys.executable, SCRIPT, out, *map(str, words)], check=True)
    return out


def pairs(path: Path) -> list[tuple[str, ...]]:
    """The modules of each pipeline."""
    with Archive([str(path)]) as archive:
        assert archive.warnings == []
        found = list(archive.pipelines())
    assert [one.reason for one in found] == [None] * len(found)
    assert len({one.key for one in found}) == len(found)
    return [tuple(stage.module for stage in one.stages) for one in found]


def test_the_seed_decides(tmp_path: Path) -> None:
    one = make(tmp_path / "one.foz", "--pipelines", 50).read_bytes()
    assert one == make(tmp_path / "same.foz", "--pipelines", 50, "--seed", 1).read_bytes()
    other = make(tmp_path / "other.foz", "--pipelines", 50, "--seed", 2).read_bytes()
    assert {key for key, _ in split(one)} != {key for key, _ in split(other)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.foz", "other.foz", "same.foz"]


def test_pairs_stand_in_three_pipelines_and_share_vertex_modules(tmp_path: Path) -> None:
    found = pairs(make(tmp_path / "in.foz", "--pipelines", 1201))
    assert len(found) == 1201
    counts = Counter(found)
    assert Counter(counts.values()) == {3: 400, 1: 1}
    assert len({modules[-1] for modules in counts}) == 401
    assert len({modules[0] for modules in counts}) < 401 / 2


def test_hard_pairs_are_distinct(tmp_path: Path) -> None:
    found = pairs(make(tmp_path / "in.foz", "--pipelines", 300, "--hard"))
    assert len(set(found)) == 300 == len({modules[-1] for modules in found})
    assert len({modules[0] for modules in found}) > 250


@pytest.mark.parametrize(("words", "jobs"), [((), 20), (("--hard",), 60)])
def test_they_can_be_linked(
    words: tuple[str, ...], jobs: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pipelines that differ in state are one job."""
    path = make(tmp_path / "in.foz", "--pipelines", 60, *words)
    out = tmp_path / "out.foz"
    assert cli.main(["batch", str(path), "-o", str(out), "--jobs", "2", "--strict"]) == 0
    assert f"60 pipelines, {jobs} jobs" in capsys.readouterr().err


def test_wrong_numbers(tmp_path: Path) -> None:
    words = [sys.executable, str(SCRIPT), str(tmp_path / "x.foz"), "--pipelines", "0"]
    assert subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 2
    assert not list(tmp_path.iterdir())
