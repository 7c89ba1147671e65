"""``spvlink batch --shard`` and ``spvlink merge``: the parts of a batch are the whole of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from spvlink import cli
from spvlink.batches import shards
from spvlink.batches.jobs import Job, JobSettings
from spvlink.batches.manifest import Manifest
from spvlink.batches.pipelines import BatchPipeline
from spvlink.batches.shards import ShardHeader
from spvlink.options import Options
from tests.archive.writing import RECORDED
from tests.support.batch_sets import (
    VARIABLES,
    batch,
    command,
    heavy,
    lines_for,
    tree,
    write_lines,
)

QUIET = ("--jobs", "1", "--progress", "never")


def run(*words: object) -> int:
    return cli.main([str(word) for word in words])


def shard(given: object, folder: Path, count: int, *words: object) -> list[Path]:
    """All shards of a batch."""
    folders = [folder / f"shard{number}" for number in range(1, count + 1)]
    for number, out in enumerate(folders, 1):
        assert run("batch", given, "-o", out, "--shard", f"{number}/{count}", *QUIET, *words) == 0
    return folders


def report(path: Path) -> dict[str, Any]:
    """A report without the only thing that may differ."""
    read: dict[str, Any] = json.loads(path.read_text())
    assert list(read.pop("seconds")) == ["plan", "jobs", "write", "together"]
    return read


def all_bytes(path: Path) -> object:
    return tree(path) if path.is_dir() else path.read_bytes()


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest with each pipeline twice, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("given")
    lines = lines_for(folder)
    lines += [line | {"id": f"{line['id']} again"} for line in lines]
    lines.append({"id": "gone", "stages": [{"file": "gone.spv"}]})
    (folder / "bad.spv").write_bytes(b"no SPIR-V")
    lines.append({"id": "bad", "stages": [{"file": "bad.spv"}, {"file": "decal.vert.spv"}]})
    return write_lines(folder / "all.jsonl", lines)


@pytest.fixture(scope="module")
def parts(given: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Its three shards. Nobody may write to them."""
    return shard(given, tmp_path_factory.mktemp("parts"), 3)


@pytest.fixture
def copies(parts: list[Path], tmp_path: Path) -> list[Path]:
    """The shards, to be changed."""
    made = [tmp_path / path.name for path in parts]
    for path, copy in zip(parts, made):
        shutil.copytree(path, copy)
    return made


def whole_and_merged(given: object, place: Path, folders: list[Path], *words: object) -> list[Any]:
    """(OUT, report, page) of one run, and of all shards."""
    found = []
    suffix = ".foz" if str(given).endswith(".foz") else ""
    for name, rest in (("whole", ["batch", given]), ("merged", ["merge", *folders[::-1], given])):
        out, text, page = place / f"{name}{suffix}", place / f"{name}.json", place / f"{name}.html"
        files = ("--report", text, "--html", page)
        assert run(*rest, "-o", out, *files, *QUIET, *words) == 0
        found.append((all_bytes(out), report(text), page.read_bytes()))
    assert not list(place.glob("*.partial"))
    return found


# -- shards are the whole --------------------------------------------------------------------------


def test_shards_of_a_manifest(given: Path, parts: list[Path], tmp_path: Path) -> None:
    before = [tree(path) for path in parts]
    whole, merged = whole_and_merged(given, tmp_path, parts)
    assert merged == whole
    assert whole[1]["totals"]["linked"] == 14 and whole[1]["totals"]["failed"] == 2
    assert [tree(path) for path in parts] == before
    assert not list(parts[0].parent.glob("*.partial"))


@pytest.mark.parametrize(
    "words", [(), ("--prune",), ("--variants", "1"), ("--exact", "--verify", "50%")]
)
def test_shards_of_an_archive(words: tuple[str, ...], tmp_path: Path) -> None:
    folders = shard(RECORDED, tmp_path, 4, *words)
    whole, merged = whole_and_merged(RECORDED, tmp_path, folders, *words)
    if "--verify" in words:  # a proof has its seconds, too
        texts = [re.sub(r'"seconds": [\d.]+', "", json.dumps(one[1])) for one in (whole, merged)]
        assert texts[0] == texts[1] and "verified" in texts[0]
        assert whole[0] == merged[0]
    else:
        assert merged == whole


def test_shards_of_a_folder(tmp_path: Path) -> None:
    source = tmp_path / "source"
    lines_for(source)
    (source / "spvlink.toml").write_text("[options]\nexact = true\n")
    folders = shard(source, tmp_path, 2)
    whole, merged = whole_and_merged(source, tmp_path, folders)
    assert merged == whole and whole[1]["totals"]["linked"] > 5


def test_more_shards_than_jobs(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "m.jsonl", lines_for(tmp_path, ("decal", "gbuffer")))
    folders = shard(path, tmp_path, 5)
    assert sorted((f / "results").read_bytes().count(b"\n") for f in folders) == [0, 0, 0, 1, 1]
    whole, merged = whole_and_merged(path, tmp_path, folders)
    assert merged == whole


def test_a_failure_is_a_result(tmp_path: Path) -> None:
    for stage, code in heavy().items():
        (tmp_path / f"heavy.{stage}.spv").write_bytes(code)
    stages = [{"file": f"heavy.{stage}.spv"} for stage in heavy()]
    path = write_lines(tmp_path / "m.jsonl", [{"id": "heavy", "stages": stages}])
    words = ("--timeout", "0.5")
    whole, merged = whole_and_merged(path, tmp_path, shard(path, tmp_path, 2, *words), *words)
    assert merged == whole and whole[1]["totals"]["failed"] == 1
    assert run("merge", path, *tmp_path.glob("shard?"), "-o", tmp_path / "other", *QUIET) == 2


def test_a_shard_that_was_killed_goes_on(given: Path, parts: list[Path], tmp_path: Path) -> None:
    """It gives the same bytes."""
    out = tmp_path / "shard2"
    words = command(given, "-o", out, "--shard", "2/3", *QUIET)
    process = subprocess.Popen(words, env=VARIABLES)
    journal = tmp_path / "shard2.partial" / "jobs"
    end = time.monotonic() + 60
    while not (journal.exists() and journal.stat().st_size) and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert journal.stat().st_size and not out.exists()
    assert subprocess.run(words, env=VARIABLES).returncode == 0
    assert tree(out) == tree(parts[1]) and not journal.exists()


def test_a_merge_that_was_killed(given: Path, parts: list[Path], tmp_path: Path) -> None:
    """The same command makes OUT; so does ``spvlink batch``, from what is there."""
    whole = tmp_path / "whole"
    assert run("merge", given, *parts, "-o", whole, *QUIET) == 0
    for again in (["merge", given, *parts], ["batch", given]):
        out = tmp_path / again[0]
        program = (
            "import os, sys\n"
            "from spvlink import cli\n"
            "replace, places = os.replace, []\n"
            "def dying(*words):\n"
            "    replace(*words)\n"
            "    places.append(words[-1])\n"
            "    if len(places) == 9: os.kill(os.getpid(), 9)\n"
            "os.replace = dying\n"
            "cli.main(sys.argv[1:])\n"
        )
        words = [str(word) for word in ("merge", given, *parts, "-o", out, *QUIET)]
        died = subprocess.run([sys.executable, "-c", program, *words], env=VARIABLES)
        assert died.returncode == -signal.SIGKILL and not out.exists()
        assert out.with_suffix(".partial").is_dir()
        assert run(*again, "-o", out, "--report", tmp_path / "r.json", *QUIET) == 0
        found = json.loads((tmp_path / "r.json").read_text())["totals"]["found"]
        assert (0 < found < 8) == (again[0] == "batch")
        assert tree(out) == tree(whole) and not out.with_suffix(".partial").exists()


def test_strict_is_judged_where_all_results_are(
    given: Path, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard(given, tmp_path, 1, "--strict")
    assert tree(tmp_path / "shard1")
    assert run("merge", given, *parts, "-o", tmp_path / "out", "--strict", *QUIET) == 1
    assert "passed through: gone" in capsys.readouterr().err
    assert not list(tmp_path.glob("out*"))


# -- how jobs are dealt out ------------------------------------------------------------------------


def made_jobs(path: Path, linker: str) -> tuple[list[Job], Callable[[str], bytes]]:
    source = Manifest(str(path))
    settings = JobSettings(Options())
    settings.identity = linker
    found = [settings.job(one) for one in source.pipelines() if isinstance(one, BatchPipeline)]
    return list({job.key: job for job in found}.values()), source.module


def test_all_linkers_deal_alike(given: Path) -> None:
    """Compiled or not, and in whatever order the pipelines come."""
    found, module = made_jobs(given, "compiled")
    dealt = dict(zip((job.place for job in found), shards.owners(found, 3, module)))
    others, module = made_jobs(given, "pure")
    assert not {job.key for job in found} & {job.key for job in others}
    others.reverse()
    assert dealt == dict(zip((job.place for job in others), shards.owners(others, 3, module)))


def test_python_deals_alike_whatever_its_hashes_are(
    given: Path, parts: list[Path], tmp_path: Path
) -> None:
    words = command(given, "-o", tmp_path / "out", "--shard", "1/3", *QUIET)
    variables = VARIABLES | {"PYTHONHASHSEED": "4711"}
    assert subprocess.run(words, env=variables).returncode == 0
    assert tree(tmp_path / "out") == tree(parts[0])


@pytest.mark.parametrize("count", [1, 2, 7, 16])
def test_shards_are_balanced(count: int) -> None:
    """No shard has more than the fewest bytes and the modules of one job."""
    sizes = {str(n): (n * 7919) % 4000 + 100 for n in range(300)}
    found = []
    for name in sizes:
        job = Job(BatchPipeline(name, []), Options(), "linker")
        job.modules, job.place = [name], blake2b(name.encode()).digest()
        found.append(job)
    owner = shards.owners(found, count, lambda name: bytes(sizes[name]))
    loads = [0] * count
    for job, at in zip(found, owner):
        loads[at] += sizes[job.modules[0]]
    assert sum(loads) == sum(sizes.values())
    assert max(loads) - min(loads) <= max(sizes.values())
    assert max(loads) <= 1.02 * sum(loads) / count


def test_jobs_without_bytes_are_balanced() -> None:
    found = []
    for n in range(9):
        job = Job(BatchPipeline(str(n), []), Options(), "linker")
        job.place = bytes([n])
        found.append(job)
    owner = shards.owners(found, 3, lambda name: b"")
    assert sorted(map(owner.count, range(3))) == [3, 3, 3]
    assert shards.owners(found[::-1], 3, lambda name: b"") == owner[::-1]


# -- wrong words -----------------------------------------------------------------------------------


WRONG = (
    "5/4", "0/4", "0/0", "two", "1", "1/", "/4", "-1/4", "1/2/3", "1/4097", "1.0/4",
    "\u0661/\u0664", "1/99999999999999999999",
)  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_wrong_shards(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("batch", RECORDED, "-o", tmp_path / "out", f"--shard={text}") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"spvlink: error: --shard {text}: expected K") and said.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["batch", RECORDED, "-o", "out", "--shard", "1/2", "--report", "r.json"],
        ["batch", RECORDED, "-o", "out", "--shard", "1/2", "--html", "r.html"],
        ["batch", RECORDED, "-o", "out", "--shard", "1/2", "--compare", "r.json"],
        ["batch", RECORDED, "-o", "out.foz", "--shard", "1/2"],
        ["batch", RECORDED, "-o", "mine", "--shard", "1/2"],
        ["batch", RECORDED, "-o", "out", "--shard", "1/2", "--shard-key", "none"],
        ["batch", RECORDED, "-o", "out", "--shard", "1/2", "--shard-key", "empty"],
        ["batch", RECORDED, "-o", "out.foz", "--shard-key", "empty"],
        ["batch", "mine", "--plan", "--shard", "1/2"],
        ["merge"],
        ["merge", RECORDED, "-o", "out.foz"],
        ["merge", RECORDED, "mine", "-o", "out.foz"],
        ["merge", "mine", "-o", "out"],
        ["merge", RECORDED, "-o", "out.foz", "--shard", "1/2"],
        ["merge", RECORDED, "-o", "out.foz", "--plan"],
    ],
    ids=range(15),
)
def test_usage(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary").write_text("dear")
    (tmp_path / "empty").touch()
    before = tree(tmp_path)
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert said.startswith("spvlink: error: ") and said.count("\n") == 1
    assert tree(tmp_path) == before and len(list(tmp_path.iterdir())) == 2


# -- shards that do not belong together ------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], place: Path, *words: object) -> str:
    """The one error line of a merge that makes nothing and changes nothing."""
    before = {path: all_bytes(path) for path in place.iterdir()}
    capsys.readouterr()
    assert run("merge", *words, "-o", place / "out", *QUIET) == 2
    said = capsys.readouterr().err
    assert said.startswith("spvlink: error: ") and said.count("\n") == 1, said
    assert {path: all_bytes(path) for path in place.iterdir()} == before
    return said


def test_missing_shards_are_named(
    given: Path, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, tmp_path, given, parts[1])
    assert re.findall(r"\d/3", said) == ["1/3", "3/3"]
    assert re.findall(r"\d/3", refused(capsys, tmp_path, given, *parts[:2])) == ["3/3"]


def test_a_shard_given_twice(
    given: Path, parts: list[Path], copies: list[Path], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    said = refused(capsys, tmp_path, given, *parts, copies[0])
    assert "1/3" in said and str(parts[0]) in said and str(copies[0]) in said


def test_shards_of_another_count(
    given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (other,) = shard(given, tmp_path / "other", 1)
    said = refused(capsys, tmp_path, given, other, *copies[1:])
    assert "1/1" in said and "2/3" in said


OTHER = (
    ["--exact"], ["--timeout", "7"], ["--memory", "512"], ["--variants", "1"], ["--no-validate"],
    ["--verify", "all"], ["--relaxed"],
)  # fmt: skip


@pytest.mark.parametrize("words", OTHER)
def test_other_options(
    words: list[str], given: Path, copies: list[Path], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    said = refused(capsys, tmp_path, given, *copies, *words)
    assert str(copies[0]) in said and re.search("r options$|--timeout|another spvlink", said)


def test_another_input(
    given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = given.read_text().splitlines(True)
    less = given.parent / "less.jsonl"
    less.write_text("".join(line for line in lines if "decal" not in line))
    assert str(copies[0]) in refused(capsys, tmp_path, less, *copies)
    more = given.parent / "copied.jsonl"  # the same jobs under other names
    more.write_text("".join(lines).replace(" again", " once more"))
    assert run("merge", more, *copies, "-o", tmp_path / "out", *QUIET) == 0


def test_another_linker(
    given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for copy in copies:
        sealed(copy, identity="0" * 32)
    assert str(copies[0]) in refused(capsys, tmp_path, given, *copies)


def test_a_folder_of_the_user_is_no_place_for_the_output(
    given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """OUT.partial is removed at the end: it must not be a shard."""
    partial = copies[0].rename(tmp_path / "out.partial")
    refused(capsys, tmp_path, given, partial, *copies[1:])
    refused(capsys, tmp_path, given, *copies[1:], partial, "--report", copies[1] / "results")


# -- shards that are damaged, or lie ---------------------------------------------------------------


def sealed(folder: Path, results: bytes | None = None, **other: object) -> None:
    """Other results, or another header, with a seal that fits."""
    if results is not None:
        (folder / "results").write_bytes(results)
    path = folder / "shard.json"
    facts = json.loads(path.read_text())
    facts["results"] = blake2b((folder / "results").read_bytes(), digest_size=32).hexdigest()
    facts |= other
    facts["seal"] = ShardHeader(**{n: facts[n] for n in ShardHeader.__slots__}).seal(b"")
    path.write_text(json.dumps(facts))


def a_module(folder: Path) -> Path:
    return next((folder / "modules").iterdir())


def swapped(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "module": lambda folder: swapped(a_module(folder)),
    "module cut": lambda folder: os.truncate(a_module(folder), 20),
    "no module": lambda folder: a_module(folder).unlink(),
    "other module": lambda folder: shutil.copyfile(
        sorted((folder / "modules").iterdir())[0], sorted((folder / "modules").iterdir())[-1]
    ),
    "results": lambda folder: swapped(folder / "results"),
    "results cut": lambda folder: os.truncate(folder / "results", 1000),
    "results longer": lambda folder: (folder / "results").write_bytes(
        (folder / "results").read_bytes() + b"x\n"
    ),
    "no results": lambda folder: (folder / "results").unlink(),
    "results is a folder": lambda folder: [
        (folder / "results").unlink(), (folder / "results").mkdir(),
    ],
    "no header": lambda folder: (folder / "shard.json").unlink(),
    "empty header": lambda folder: (folder / "shard.json").write_bytes(b""),
    "list": lambda folder: (folder / "shard.json").write_bytes(b"[1]"),
    "no text": lambda folder: (folder / "shard.json").write_bytes(b"\xff\xfe"),
    "deep": lambda folder: (folder / "shard.json").write_bytes(b"[" * 50_000),
    "large": lambda folder: (folder / "shard.json").write_bytes(b" " * 70_000),
    "number": lambda folder: edited(folder, '"number": 1', '"number": 2'),
    "count": lambda folder: edited(folder, '"count": 3', '"count": 4'),
    "count is true": lambda folder: edited(folder, '"count": 3', '"count": true'),
    "format": lambda folder: edited(folder, '"format": 1', '"format": 2'),
    "no seal": lambda folder: edited(folder, '"seal"', '"other"'),
    "odd seal": lambda folder: edited(folder, '"seal": "', '"seal": "\\ud800'),
}  # fmt: skip


def edited(folder: Path, old: str, new: str) -> None:
    path = folder / "shard.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("name", DAMAGE)
def test_damage(
    name: str, given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGE[name](copies[0])
    assert "shard1" in refused(capsys, tmp_path, given, *copies)
    # Made once more it is all right.
    words = ("--shard", "1/3", *QUIET)
    shutil.rmtree(copies[0])
    assert run("batch", given, "-o", copies[0], *words) == 0
    assert run("merge", given, *copies, "-o", tmp_path / "out", *QUIET) == 0


def lies(folder: Path, key: str) -> Iterator[tuple[str, Callable[[dict[str, Any]], object]]]:
    """Changes of the result of that key that its shape gives away."""
    name = a_module(folder).stem
    yield "kind", lambda one: one.update(kind="fine")
    yield "kinds", lambda one: one.update(kind=["linked"])
    yield "reason", lambda one: one.update(reason="so")
    yield "at", lambda one: one.update(at=99)
    yield "at text", lambda one: one.update(at="0")
    yield "no modules", lambda one: one.update(modules=None)
    yield "fewer modules", lambda one: one.update(modules=[name])
    yield "module elsewhere", lambda one: one.update(modules=["../../secret", None])
    yield "module unknown", lambda one: one.update(modules=["0" * 40, None])
    yield "module is a number", lambda one: one.update(modules=[1, None])
    yield "entry", lambda one: one.update(entry=[])
    yield "more", lambda one: one.update(more=1)
    yield "fewer", lambda one: one.pop("at")
    yield "stages", lambda one: one["entry"].update(stages=7)
    yield "stage", lambda one: one["entry"].update(stages=[{"at": 0, "stage": "vert"}])
    yield "bytes", lambda one: one["entry"]["stages"][0].update(bytes=[1, "2"])
    yield "no size", lambda one: one["entry"]["stages"][0].update(bytes=[1, -2])
    yield "much", lambda one: one["entry"]["interfaces"][0].update(locations=[1 << 64, 1])
    yield "interface", lambda one: one["entry"]["interfaces"][0].update(locations=[1])
    yield "remark", lambda one: one["entry"].update(remarks=[{}])
    yield "action", lambda one: one["entry"]["remarks"][0].update(action="eaten")
    yield "cells", lambda one: one["entry"]["remarks"][0].update(cells=[[1], ["x"]])
    yield "warning", lambda one: one["entry"].update(warnings=[{"at": 9}])
    flaw = {"at": 0.0, "message": "m", "rule": None}
    yield "place of a warning", lambda one: one["entry"].update(warnings=[flaw])
    yield "verdict", lambda one: one["entry"].update(verified={"way": "x", "outcome": "y"})
    yield "untouched", lambda one: one["entry"].update(untouched=3)
    yield "set", lambda one: one["entry"].update(set={"jobs": ["00"]})
    line = {"at": [0, 9], "name": "n", "slot": "s", "readers": [], "among": []}
    family = {"jobs": [key], "slots": [1, 1], "shared": [line], "kept": []}
    yield "stage of a set", lambda one: one["entry"].update(set=family)


def test_lies_with_a_seal_that_fits(
    given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copies[0]
    original = (folder / "results").read_bytes()
    lines = original.splitlines(True)
    at = next(n for n, line in enumerate(lines) if b'"kind": "linked"' in line)
    key, _, text = lines[at].partition(b" ")
    for name, change in lies(folder, key.decode()):
        one = json.loads(text)
        change(one)
        lines[at] = key + b" " + json.dumps(one).encode() + b"\n"
        sealed(folder, b"".join(lines))
        said = refused(capsys, tmp_path, given, *copies)
        assert "shard1/results" in said or "shard1/modules" in said, (name, said)
    for wrong in (b"[]", b"no JSON", b"[" * 50_000, b""):
        lines[at] = key + b" " + wrong + b"\n"
        sealed(folder, b"".join(lines))
        assert "shard1/results" in refused(capsys, tmp_path, given, *copies), wrong[:9]
    sealed(folder, original.replace(key, b"0" * 64))  # another job
    assert "shard1" in refused(capsys, tmp_path, given, *copies)
    del lines[at]
    sealed(folder, b"".join(lines))
    assert "shard1" in refused(capsys, tmp_path, given, *copies)
    sealed(folder, original)
    assert run("merge", given, *copies, "-o", tmp_path / "out", *QUIET) == 0


def test_results_of_another_shard(
    given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed(copies[0], number=2)
    sealed(copies[1], number=1)
    assert "shard" in refused(capsys, tmp_path, given, *copies)
    sealed(copies[0], number=4)
    assert "shard1" in refused(capsys, tmp_path, given, *copies)


def test_with_a_key_nobody_else_makes_a_seal(
    given: Path, copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, other = tmp_path / "key", tmp_path / "other"
    key.write_bytes(b"secret")
    other.write_bytes(b"Secret")
    folders = shard(given, tmp_path / "made", 3, "--shard-key", key)
    assert "shard1" in refused(capsys, tmp_path, given, *folders)
    assert "shard1" in refused(capsys, tmp_path, given, *folders, "--shard-key", other)
    assert "shard1" in refused(capsys, tmp_path, given, *copies, "--shard-key", key)
    whole, merged = (
        run("merge", given, *folders, "-o", tmp_path / "out", *QUIET, "--shard-key", key),
        run("merge", given, *copies, "-o", tmp_path / "plain", *QUIET),
    )
    assert whole == merged == 0 and tree(tmp_path / "out") == tree(tmp_path / "plain")
    sealed(folders[0])  # by one who does not know it
    shutil.rmtree(tmp_path / "out")
    assert "shard1" in refused(capsys, tmp_path, given, *folders, "--shard-key", key)


def test_a_shard_takes_the_place_of_itself_only(
    given: Path, copies: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(copies[0])
    for other in ("2/3", "1/2"):
        assert run("batch", given, "-o", copies[0], "--shard", other, *QUIET) == 2
        assert "1/3" in capsys.readouterr().err and tree(copies[0]) == before
    a_module(copies[0]).unlink()
    assert run("batch", given, "-o", copies[0], "--shard", "1/3", *QUIET) == 0
    assert tree(copies[0]) == before
    (copies[0] / "shard.json").write_bytes(b"[")
    assert run("batch", given, "-o", copies[0], "--shard", "1/3", *QUIET) == 0
    assert tree(copies[0]) == before


def test_what_a_shard_says(given: Path, tmp_path: Path) -> None:
    said = batch(given, "-o", tmp_path / "out", "--shard", "1/1", "--jobs", "2")
    assert "passed through: bad: bad.spv: " in said and "gone" not in said  # that is no job
    assert said.endswith("spvlink: shard 1/1: 8 of 8 jobs\n")
    assert sorted(tree(tmp_path / "out"))[-2:] == ["results", "shard.json"]
