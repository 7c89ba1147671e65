"""``spvlink batch --compare``: what got better and worse since an earlier report."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spvlink import cli
from spvlink.batches.summary import LISTS
from tests.archive.writing import RECORDED
from tests.support.batch_sets import VARIABLES, command, lines_for, tree, write_lines

QUIET = ("--jobs", "1", "--progress", "never")
WORSE = 4
Report = dict[str, Any]


def run(*words: object) -> int:
    return cli.main([str(word) for word in words])


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    return write_lines(folder / "all.jsonl", lines_for(folder))


@pytest.fixture(scope="module")
def linked(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of it."""
    folder = tmp_path_factory.mktemp("linked")
    assert run("batch", given, "-o", folder / "out", "--report", folder / "r.json", *QUIET) == 0
    report: Report = json.loads((folder / "r.json").read_text())
    return report


def compared(
    path: Path, old: Report, place: Path, capsys: pytest.CaptureFixture[str], *words: object
) -> tuple[int, dict[str, list[str]], str]:
    """(exit status, the pipelines of each word that a line begins with, the whole of it)."""
    old["totals"]["pipelines"] = len(old["pipelines"])
    (place / "old.json").write_text(json.dumps(old))
    status = run(
        "batch", path, "-o", place / "out", "--compare", place / "old.json", *QUIET, *words
    )
    said = capsys.readouterr()
    assert said.err.count("\n") == (status == WORSE), said.err
    assert (place / "out").exists()
    found: dict[str, list[str]] = {}
    for line in said.out.splitlines():
        word, name, *_ = line.split(": ")
        found.setdefault(word, []).append(name)
    return status, found, said.out


def copy(report: Report) -> Report:
    made: Report = json.loads(json.dumps(report))
    return made


def test_the_same(
    given: Path, linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found, said = compared(given, linked, tmp_path, capsys)
    assert status == 0 and list(found) == ["pipelines", "then -> now"]
    totals = linked["totals"]
    for name in ("modules", "bytes", "locations", "components"):
        assert f" {totals[name][1]:,} -> {totals[name][1]:,}" in said


def test_worse_and_better(
    given: Path, linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the options do to real pipelines is told as it is."""
    status, found, said = compared(given, linked, tmp_path, capsys, "--disable", "dead")
    assert status == WORSE and "decal" in found["worse"]
    (tmp_path / "new.json").touch()
    words = ("--disable", "dead", "--report", tmp_path / "new.json", *QUIET)
    assert run("batch", given, "-o", tmp_path / "out", *words) == 0
    new = json.loads((tmp_path / "new.json").read_text())
    told = {line.split(": ")[1]: line for line in said.splitlines() if line.startswith("worse")}
    for old_one, new_one in zip(linked["pipelines"], new["pipelines"]):
        for name, words_of in (("locations", "Locations"), ("components", "components")):
            pair = old_one[name][1], new_one[name][1]
            line = told.get(old_one["id"], "")
            assert (f"{words_of} {pair[0]} -> {pair[1]}" in line) == (pair[0] != pair[1])
        for name in ("instructions", "bytes"):
            sums = [
                sum(stage[name][1] for stage in report["jobs"][one["job"]]["stages"])
                for report, one in ((linked, old_one), (new, new_one))
            ]
            line = told.get(old_one["id"], "")
            assert sums[1] <= sums[0] or f"{name} {sums[0]:,} -> {sums[1]:,}" in line
    status, found, _ = compared(given, new, tmp_path, capsys)
    assert "decal" in found["better"]


@pytest.mark.parametrize("name", ["locations", "components"])
@pytest.mark.parametrize("step", [-1, 1])
def test_one_figure_of_one_pipeline(
    name: str, step: int, given: Path, linked: Report, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    old = copy(linked)
    old["pipelines"][2][name][1] += step
    status, found, _ = compared(given, old, tmp_path, capsys)
    changed = "worse" if step < 0 else "better"
    assert status == (WORSE if step < 0 else 0)
    assert found == {changed: [old["pipelines"][2]["id"]]} | {
        word: found[word] for word in ("pipelines", "then -> now")
    }


@pytest.mark.parametrize("name", ["instructions", "bytes"])
def test_a_figure_of_a_stage(
    name: str, given: Path, linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that grew makes the pipeline worse, whatever else shrank."""
    old = copy(linked)
    old["jobs"][1]["stages"][0][name][1] -= 1
    old["pipelines"][1]["locations"][1] += 5
    status, found, _ = compared(given, old, tmp_path, capsys)
    assert status == WORSE and found["worse"] == [old["pipelines"][1]["id"]]
    assert "better" not in found


def test_totals(
    given: Path, linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They count if the pipelines are the same ones."""
    old = copy(linked)
    old["totals"]["modules"][1] -= 1
    assert compared(given, old, tmp_path, capsys)[0] == WORSE
    old["pipelines"].pop()
    assert compared(given, old, tmp_path, capsys)[0] == 0


def test_new_gone_refused_and_linked_again(
    linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_for(tmp_path / "m")
    first, second, third = (line["id"] for line in lines[:3])
    (tmp_path / "m" / lines[0]["stages"][0]["file"]).write_bytes(b"no SPIR-V")
    lines[1]["id"] = "odd\nname"
    path = write_lines(tmp_path / "m" / "all.jsonl", lines)
    old = copy(linked)
    old["pipelines"][2] |= {"kind": "failed", "reason": "so"}
    (tmp_path / "old.json").write_text(json.dumps(old))
    words = ("--compare", tmp_path / "old.json", *QUIET)
    assert run("batch", path, "-o", tmp_path / "out", *words) == WORSE
    lines_said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[:2] for line in lines_said[:4]] == [
        ["worse", f" {first}"], ["better", f" {third}"], ["new", " 'odd\\nname'"],
        ["gone", f" {second}"],
    ]  # fmt: skip
    assert len(lines_said) == 6


def test_an_archive_and_a_merge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.json"
    assert run("batch", RECORDED, "-o", tmp_path / "a.foz", "--report", old, *QUIET) == 0
    words = ("--compare", old, *QUIET)
    assert run("batch", RECORDED, "-o", tmp_path / "b.foz", *words) == 0
    said = capsys.readouterr().out
    assert run("batch", RECORDED, "-o", tmp_path / "shard", "--shard", "1/1", *QUIET) == 0
    assert run("merge", RECORDED, tmp_path / "shard", "-o", tmp_path / "c.foz", *words) == 0
    assert capsys.readouterr().out == said != ""
    assert run("batch", RECORDED, "-o", tmp_path / "d.foz", "--pack", "none", *words) == WORSE
    assert (tmp_path / "d.foz").exists()


def test_strict_comes_first(given: Path, linked: Report, tmp_path: Path) -> None:
    """With an error of another kind nothing is compared."""
    lines = [json.loads(line) for line in given.read_text().splitlines()]
    lines.append({"id": "gone", "stages": [{"file": "gone.spv"}]})
    path = write_lines(given.parent / "more.jsonl", lines)
    (tmp_path / "old.json").write_text(json.dumps(linked))
    words = command(path, "-o", tmp_path / "out", "--compare", tmp_path / "old.json", "--strict")
    done = subprocess.run(words, capture_output=True, text=True, env=VARIABLES)
    assert done.returncode == 1 and done.stdout == "" and not (tmp_path / "out").exists()


def without(name: str) -> Callable[[Report], object]:
    return lambda report: report.pop(name)


ODD: dict[str, Callable[[Report], object]] = {
    "totals": without("totals"),
    "jobs": without("jobs"),
    "pipelines": without("pipelines"),
    "jobs are text": lambda report: report.update(jobs="jobs"),
    "no number": lambda report: report["pipelines"][0].update(locations=[1, "2"]),
    "no pair": lambda report: report["pipelines"][0].update(components=3),
    "no id": lambda report: report["pipelines"][0].pop("id"),
    "id": lambda report: report["pipelines"][0].update(id=["x"]),
    "kind": lambda report: report["pipelines"][0].update(kind="fine"),
    "job": lambda report: report["pipelines"][0].update(job=99),
    "negative job": lambda report: report["pipelines"][0].update(job=-1),
    "no job": lambda report: report["pipelines"][0].update(job=None),
    "twice": lambda report: report["pipelines"].append(report["pipelines"][0]),
    "stages": lambda report: report["jobs"][0].update(stages=[{}]),
    "total": lambda report: report["totals"].update(bytes=7),
    "cut off": lambda report: report["pipelines"].pop(),
}


@pytest.mark.parametrize("name", ODD)
def test_a_report_of_another_kind(
    name: str, given: Path, linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = copy(linked)
    ODD[name](old)
    refused(json.dumps(old).encode(), given, tmp_path, capsys)


def as_lines(report: Report) -> bytes:
    """A report as JSON Lines."""
    parts: list[Report] = []
    for name, value in report.items():
        entries = value if name in LISTS else [value]
        parts += [{LISTS.get(name, name): entry} for entry in entries]
    return "".join(json.dumps(part) + "\n" for part in parts).encode()


@pytest.mark.parametrize("variants", [[], ["--variants", "1"]])
def test_json_lines(
    variants: list[str], given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They say what the document says, and are as good an old report."""
    for name in ("r.json", "r.jsonl"):
        words = ("-o", tmp_path / "out", "--report", tmp_path / name, *variants, *QUIET)
        assert run("batch", given, *words) == 0
    report = json.loads((tmp_path / "r.json").read_text())
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    expected = [json.loads(line) for line in as_lines(report).splitlines()]
    assert [line for line in lines if "seconds" not in line] == [
        line for line in expected if "seconds" not in line
    ]
    assert len(lines) == len(expected) and ("shared" in report) == bool(variants)
    report["pipelines"][2]["locations"][1] -= 1
    status, found, said = compared(given, report, tmp_path, capsys, *variants)
    (tmp_path / "old.jsonl").write_bytes(as_lines(report))
    words = ("--compare", tmp_path / "old.jsonl", *variants, *QUIET)
    assert run("batch", given, "-o", tmp_path / "out", *words) == status == WORSE
    assert capsys.readouterr().out == said and found["worse"] == [report["pipelines"][2]["id"]]


@pytest.mark.parametrize("name", sorted(ODD))
def test_lines_of_another_kind(
    name: str, given: Path, linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = copy(linked)
    ODD[name](old)
    refused(as_lines(old), given, tmp_path, capsys, "old.jsonl")


@pytest.mark.parametrize("text", [b"", b"no JSON", b"\xff\xfe\x00", b"[" * 50_000, b"7", b"null"])
def test_no_lines_of_a_report(
    text: bytes, given: Path, linked: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(as_lines(linked) + text if text else text, given, tmp_path, capsys, "old.jsonl")


@pytest.mark.parametrize(
    "text", [b"", b"no JSON", b"\xff\xfe\x00", b"[" * 50_000, b"7", b"[]", b"null", b"{}", b'"x"']
)
def test_no_report(
    text: bytes, given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(text, given, tmp_path, capsys)


def refused(
    text: bytes,
    given: Path,
    place: Path,
    capsys: pytest.CaptureFixture[str],
    name: str = "old.json",
) -> None:
    """One line, before any work is done; nothing is written."""
    old = place / name
    old.write_bytes(text)
    assert run("batch", given, "-o", place / "out", "--compare", old, *QUIET) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"spvlink: error: --compare {old}: ") and not said.out
    assert said.err.count("\n") == 1 and tree(place) == {name: text}


def test_the_report_of_one_link_is_another(
    given: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = sorted(given.parent.glob("decal.*.spv"))
    assert run("link", *stages, "-o", tmp_path / "x", "--report", tmp_path / "r.json") == 0
    text = (tmp_path / "r.json").read_bytes()
    (tmp_path / "place").mkdir()
    refused(text, given, tmp_path / "place", capsys)


@pytest.mark.parametrize(
    "words",
    [
        ["--compare", "none.json"],
        ["--compare", "."],
        ["--compare", "old.json", "--report", "old.json"],
        ["--compare", "old.json", "--html", "./old.json"],
        ["--compare", "old.json", "--report", "-"],
        ["--compare", "old.json", "--html", "-"],
    ],
    ids=range(6),
)
def test_usage(
    words: list[str], given: Path, linked: Report, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    text = json.dumps(linked)
    (tmp_path / "old.json").write_text(text)
    assert run("batch", given, "-o", "out", *words) == 2
    said = capsys.readouterr().err
    assert said.startswith("spvlink: error: ") and said.count("\n") == 1
    assert tree(tmp_path) == {"old.json": text.encode()}
