"""scripts/make-archive: large archives that share as those of a game do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from spvlink import cli
from spvlink.archive.archive import Archive
from tests.archive.writing import split
from tests.support.batch_sets import ROOT, lines_for
from tests.support.judges import refusal

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


def test_a_part_of_the_modules_changes(tmp_path: Path) -> None:
    """The pipelines stay, with their keys; about so many of the modules are others."""
    before, after = (
        make(tmp_path / f"{part}.foz", "--pipelines", 900, "--changed", part) for part in (0, 20)
    )
    assert before.read_bytes() == make(tmp_path / "same.foz", "--pipelines", 900).read_bytes()
    keys = [{key for key, _ in split(path.read_bytes())} for path in (before, after)]
    tags = [Counter(tag for tag, _ in one - other) for one, other in (keys, keys[::-1])]
    assert tags[0] == tags[1] and set(tags[0]) == {4}
    assert 0.1 < tags[0][4] / sum(tag == 4 for tag, _ in keys[0]) < 0.3


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


def test_pipelines_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    lines_for(folder, ("decal", "water_tess", "gbuffer"))
    path = make(tmp_path / "in.foz", "--pipelines", 12, "--hard", "--folder", folder)
    found = pairs(path)
    assert len(set(found)) == 12 and {len(modules) for modules in found} == {2, 4}
    assert cli.main(["batch", str(path), "-o", str(tmp_path / "out.foz"), "--jobs", "1"]) == 0
    assert "12 pipelines, 12 jobs" in capsys.readouterr().err


def test_a_folder_without_pipelines(tmp_path: Path) -> None:
    words = [sys.executable, SCRIPT, tmp_path / "x.foz", "--pipelines", "3", "--folder", tmp_path]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    said = f"make-archive: error: {tmp_path}: no pipeline with constants is there\n"
    assert done.returncode == 1 and done.stderr == said
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(
    shutil.which("g++") is None or not Path("/usr/include/zlib.h").exists(),
    reason="g++ and zlib's header build the optimizer of archives",
)
def test_race(tmp_path: Path) -> None:
    """The optimizer's archive has every module optimized, and spvlink's table has its lines."""
    words = [ROOT / "scripts" / "race-batch", "--pure", "--pipelines", 12, "--folder", tmp_path]
    words += ["--mode", "easy", "--only", "batch"]
    done = subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, check=True
    )
    names = [line.split("  ")[1] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert names[1:] == ["spirv-opt -O", "plan, 4 jobs", "batch"]
    optimizer = ROOT / "build" / "race" / "archive-optimizer"
    before, after = tmp_path / "easy12.foz", tmp_path / "optimized.foz"
    said = subprocess.check_output([optimizer, before, after, "2"], text=True)
    found = set(pairs(before))
    assert set(pairs(after)) == found and said.endswith(" modules, 0 failed\n")
    with Archive([str(before)]) as old, Archive([str(after)]) as new:
        for module in {module for modules in found for module in modules}:
            code = new.module(module)
            assert code != old.module(module) and refusal(code, newer=False) is None
