"""The same bytes wherever spvlink runs: other Pythons, hash seeds, locales, folders."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import spvlink
from tests.archive import writing
from tests.archive.writing import RECORDED
from tests.support.batch_sets import VARIABLES, lines_for, tree, write_lines
from tests.support.chains import CHAINS, PAIRS
from tests.support.interpreters import others

NAMES = (*PAIRS[::9], *CHAINS[::3])
LOCALES = {"LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Kathmandu"}


class Place:
    """How spvlink is run."""

    def __init__(
        self,
        python: Iterable[str] = (sys.executable,),
        variables: dict[str, str] | None = None,
        elsewhere: bool = False,
        jobs: int = 2,
    ) -> None:
        self.python = list(python)
        self.variables = VARIABLES | (variables or {})
        self.elsewhere = elsewhere  # names of files are relative, and the current folder another
        self.jobs = jobs

    def run(self, *words: object) -> str:
        """Gives standard output."""
        folder = next(word for word in words if isinstance(word, Path)).parent
        if self.elsewhere:
            words = tuple(os.path.relpath(w, folder) if isinstance(w, Path) else w for w in words)
        command = [*self.python, "-m", "spvlink", *map(str, words)]
        cwd = folder if self.elsewhere else None
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, env=self.variables, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


HERE = Place()
PLACES = {
    "seed 1": Place(variables={"PYTHONHASHSEED": "1", **LOCALES}),
    "seed 2": Place(variables={"PYTHONHASHSEED": "2", "LC_ALL": "C", "PYTHONUTF8": "0"}, jobs=1),
    "-OO, elsewhere": Place([sys.executable, "-OO"], {"PYTHONHASHSEED": "3"}, elsewhere=True),
}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    return write_lines(folder / "all.jsonl", lines_for(folder, NAMES))


def report(path: Path) -> dict[str, Any]:
    """A report without the time that it took."""
    read: dict[str, Any] = json.loads(
        re.sub(r'"seconds": [0-9.]+', '"seconds": 0', path.read_text())
    )
    read.pop("seconds")
    return read


def entries(path: Path) -> list[tuple[object, bytes]]:
    """What an archive has. Bytes differ between versions of zlib."""
    return [(key, writing.payload_of(raw)) for key, raw in writing.split(path.read_bytes())]


def everything(place: Place, given: Path, out: Path) -> dict[str, object]:
    """All that comes out of batches, in files, reports and pages; and of a check."""
    words = ("--jobs", place.jobs, "--progress", "never")
    found: dict[str, object] = {}
    for name, source, more in [
        ("manifest", given, ("--verify", "all")),
        ("exact", given, ("--exact", "--variants", "1")),
        ("archive.foz", RECORDED, ("--variants", "1", "--prune")),
    ]:
        target, text, page = out / name, out / f"{name}.json", out / f"{name}.html"
        files = ("--report", text, "--html", page)
        place.run("batch", source, "-o", target, *files, *words, *more)
        found[name] = tree(target) if target.is_dir() else entries(target)
        found[f"report of {name}"] = report(text)
        if "--verify" not in more:  # a proof has its seconds
            found[f"page of {name}"] = page.read_bytes()
    said = place.run("check", given, "--format", "json")
    found["check"] = said.replace(f"{given.parent}{os.sep}", "")
    return found


@pytest.fixture(scope="module")
def expected(given: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    made = everything(HERE, given, tmp_path_factory.mktemp("expected"))
    totals: Any = made["report of manifest"]
    assert totals["totals"]["linked"] > 10 and len(made) == 9
    return made


def compare(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """What differs."""
    return [name for name in one if one[name] != other[name]]


@pytest.mark.parametrize("name", PLACES)
def test_another_process(
    name: str, given: Path, expected: dict[str, object], tmp_path: Path
) -> None:
    """Orders of sets, the locale, the current folder, assertions and docstrings decide nothing."""
    assert not compare(expected, everything(PLACES[name], given, tmp_path))


@pytest.mark.skipif(spvlink.COMPILED, reason="it is compiled for one Python")
@pytest.mark.skipif(not others(), reason="this machine has one Python")
@pytest.mark.parametrize("version", others())
def test_another_python(
    version: str, given: Path, expected: dict[str, object], tmp_path: Path
) -> None:
    place = Place([others()[version]], {"PYTHONHASHSEED": "5", "PYTHONDONTWRITEBYTECODE": "1"})
    assert not compare(expected, everything(place, given, tmp_path))


@pytest.mark.skipif(spvlink.COMPILED, reason="it is compiled for one Python")
@pytest.mark.skipif(not others(), reason="this machine has one Python")
def test_pythons_share_a_store(given: Path, tmp_path: Path) -> None:
    """The keys of jobs are the same, too."""
    store = tmp_path / "store"
    programs = [sys.executable, *others().values()]
    for number, program in enumerate(programs):
        place = Place([program], {"PYTHONDONTWRITEBYTECODE": "1"})
        text = tmp_path / f"{number}.json"
        words = ("--store", store, "--report", text, "--progress", "never")
        place.run("batch", given, "-o", tmp_path / f"out{number}", *words)
        totals = json.loads(text.read_text())["totals"]
        assert totals["stored"] == (totals["jobs"] if number else 0)


def test_the_test_can_tell(expected: dict[str, object]) -> None:
    """One byte of a module, or one word of a report, is seen."""
    changed: Any = json.loads(json.dumps(expected["report of manifest"]))
    changed["jobs"][0]["remarks"].reverse()
    assert compare(expected, expected | {"report of manifest": changed}) == ["report of manifest"]
    files: Any = expected["manifest"]
    name = next(path for path in files if path.endswith(".spv"))
    other = files | {name: files[name][:-1] + b"\x01"}
    assert compare(expected, expected | {"manifest": other}) == ["manifest"]
