"""``spvlink batch`` over manifests and archives: results, reports, errors of the input."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import cli
from spvlink.report import BYTES
from tests.archive.writing import RECORDED
from tests.support.batch_sets import (
    NAMES,
    VARIABLES,
    batch,
    command,
    lines_for,
    result_lines,
    tree,
    write_lines,
)
from tests.support.chains import build, stages_of
from tests.support.samples import compile_glsl, disassemble

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with modules and a manifest in which each pipeline stands twice."""
    folder = tmp_path_factory.mktemp("source")
    lines = lines_for(folder)
    lines += [line | {"id": f"{line['id']} again"} for line in lines]
    write_lines(folder / "all.jsonl", lines)
    return folder


@pytest.fixture(scope="module")
def linked(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OUT and report.json of that manifest, with two workers."""
    folder = tmp_path_factory.mktemp("linked")
    said = batch(
        source / "all.jsonl", "-o", folder / "out", "--jobs", "2", "--report", folder / "r.json"
    )
    assert said.count("\n") == 1 and said.startswith("spvlink: 14 pipelines, 7 jobs, 17 modules in")
    assert sorted(p.name for p in folder.iterdir()) == ["out", "r.json"]
    return folder


def test_modules_are_those_of_single_links(linked: Path) -> None:
    out = linked / "out"
    lines = result_lines(out)
    assert [line["id"] for line in lines] == [*NAMES, *(f"{n} again" for n in NAMES)]
    named = set()
    for line in lines:
        name = line["id"].removesuffix(" again")
        expected = {s.stage: s.data for s in spvlink.link(build(name)).stages}
        for stage, entry in zip(stages_of(name), line["stages"]):
            assert (out / entry["file"]).read_bytes() == expected[stage], (name, stage)
            named.add(entry["file"])
    assert named == {name for name in tree(out) if name != "manifest.jsonl"}
    contents = [data for name, data in tree(out).items() if name in named]
    assert len(set(contents)) == len(contents)  # equal modules are there once


def test_report(linked: Path) -> None:
    report = json.loads((linked / "r.json").read_text())
    totals = report["totals"]
    assert totals["pipelines"] == totals["linked"] == 14 and totals["jobs"] == 7
    assert totals["failed"] == totals["passed_through"] == totals["unchanged"] == 0
    assert [p["job"] for p in report["pipelines"]] == [*range(7), *range(7)]
    for entry, name in zip(report["pipelines"], NAMES):
        alone = spvlink.link(build(name))
        job = report["jobs"][entry["job"]]
        for figure in ("components", "locations", *BYTES):
            pairs = [getattr(i, figure) for i in alone.interfaces]
            assert entry[figure] == [sum(p[0] for p in pairs), sum(p[1] for p in pairs)]
        assert [s["at"] for s in job["stages"]] == list(range(len(entry["stages"])))
        assert [s["stage"] for s in job["stages"]] == [s.stage for s in alone.stages]
        remarks = [[r.name, r.slot, r.action, r.why] for r in alone.remarks]
        told = [[r["name"], r["slot"], r["action"], r["why"]] for r in job["remarks"]]
        assert told == remarks and job["validated"] == "validated"
    before, after = totals["locations"]
    assert before == sum(p["locations"][0] for p in report["pipelines"]) > after
    files = sorted((linked / "out" / "modules").iterdir())
    names, new_size = len(files), sum(file.stat().st_size for file in files)
    size = totals["bytes"][0]
    assert totals["bytes"][1] == new_size < size
    vertex, primitive = totals["vertex_bytes"], totals["primitive_bytes"]
    assert vertex[1] < vertex[0] and totals["position_bytes"][0] >= 14 * 16
    assert report["summary"] == (
        f"14 pipelines, 7 jobs, 17 modules in, {names} out, Locations {before} -> {after},"
        f" bytes {size:,} -> {new_size:,}, bytes a vertex {vertex[0]:,} -> {vertex[1]:,},"
        f" bytes a primitive {primitive[0]:,} -> {primitive[1]:,}"
    )
    assert (linked / "r.json").read_text().rstrip().splitlines()[-2].startswith('  "summary"')


def test_bytes_depend_on_neither_workers_nor_order(
    source: Path, linked: Path, tmp_path: Path
) -> None:
    batch(source / "all.jsonl", "-o", tmp_path / "one", "--jobs", "1", "--progress", "never")
    assert tree(tmp_path / "one") == tree(linked / "out")
    lines = [json.loads(line) for line in (source / "all.jsonl").read_text().splitlines()]
    random.Random(19).shuffle(lines)
    shuffled = write_lines(source / "shuffled.jsonl", lines)
    batch(shuffled, "-o", tmp_path / "two", "--jobs", "3", "--progress", "never")
    modules, others = tree(tmp_path / "two"), tree(linked / "out")
    by_id = {line["id"]: line for line in result_lines(tmp_path / "two")}
    assert [by_id[line["id"]] for line in result_lines(linked / "out")] == result_lines(
        linked / "out"
    )
    assert modules.pop("manifest.jsonl") != others.pop("manifest.jsonl") and modules == others


def test_a_result_is_a_manifest(linked: Path, tmp_path: Path) -> None:
    """It can be moved and linked once more, to another place."""
    moved = tmp_path / "moved"
    shutil.copytree(linked / "out", moved)
    said = batch(moved / "manifest.jsonl", "-o", tmp_path / "again", "--jobs", "1")
    assert said.startswith("spvlink: 14 pipelines, 7 jobs")
    assert tree(moved) == tree(linked / "out")


def test_what_is_there_is_replaced_only_if_it_is_a_result(source: Path, tmp_path: Path) -> None:
    one = write_lines(tmp_path / "one.jsonl", lines_for(tmp_path / "m", NAMES[:1]))
    (tmp_path / "one.jsonl").replace(tmp_path / "m" / "one.jsonl")
    one = tmp_path / "m" / "one.jsonl"
    out = tmp_path / "out"
    batch(one, "-o", out, "--jobs", "1")
    first = tree(out)
    (out / "modules" / "old.spv").write_bytes(b"old")
    batch(one, "-o", out, "--jobs", "1")
    assert tree(out) == first
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary").write_text("dear")
    assert "something else in this folder" in batch(one, "-o", tmp_path / "mine", status=2)
    assert "a file of this name" in batch(one, "-o", tmp_path / "mine" / "diary", status=2)
    assert tree(tmp_path / "mine") == {"diary": b"dear"}
    assert "would overwrite an input" in batch(out / "manifest.jsonl", "-o", out, status=2)
    assert tree(out) == first


# -- what a line may say ---------------------------------------------------------------------------


SPECIAL = """#version 450
layout(constant_id = 3) const bool glossy = false;
layout(constant_id = 4) const float power = 2.0;
layout(location = 0) in vec3 colour; layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 o;
void main() { o = vec4(uv, 0.0, power); if (glossy) o.xyz += sin(colour); }"""
BEFORE = """#version 450
layout(location = 0) out vec3 colour; layout(location = 1) out vec2 uv;
layout(location = 0) in vec4 p;
void main() { colour = p.xyz; uv = p.xy * p.w; gl_Position = p; }"""


def special(folder: Path) -> Lines:
    from tests.support.samples import compile_glsl

    for stage, text in (("vert", BEFORE), ("frag", SPECIAL)):
        (folder / f"s.{stage}.spv").write_bytes(compile_glsl(text, stage))
    return [{"file": "s.vert.spv"}, {"file": "s.frag.spv"}]


def test_specialization_layout_and_entry(tmp_path: Path) -> None:
    vert, frag = special(tmp_path)
    layout = {"setLayouts": [], "pushConstantRanges": []}
    (tmp_path / "layout.json").write_text(json.dumps(layout))
    glossy = frag | {"spec": {"3": True, "4": 0.5, "77": 1}}  # what is not there means nothing
    dull = frag | {"spec": {"3": False, "4": 0.5}}
    lines = [
        {"id": "unknown", "stages": [vert, frag]},
        {"id": "glossy", "stages": [glossy, vert], "layout": "layout.json"},
        {"id": "dull", "stages": [vert, dull | {"entry": "main"}], "layout": layout},
        {"id": "no entry", "stages": [vert, frag | {"entry": "other"}]},
        {"id": "no bool", "stages": [vert, frag | {"spec": {"3": 2}}]},
        {"id": "whole", "stages": [vert, frag | {"spec": {"4": 2}}]},
    ]
    path = write_lines(tmp_path / "m.jsonl", lines)
    said = batch(path, "-o", tmp_path / "out", "--report", tmp_path / "r.json", "--jobs", "1")
    made = {line["id"]: line for line in result_lines(tmp_path / "out")}
    report = json.loads((tmp_path / "r.json").read_text())
    kinds = {p["id"]: (p["kind"], p["locations"]) for p in report["pipelines"]}
    assert kinds["unknown"] == kinds["glossy"] == kinds["whole"] == ("unchanged", [2, 2])
    assert kinds["dull"] == ("linked", [2, 1])
    codes = [(tmp_path / "s.vert.spv").read_bytes(), (tmp_path / "s.frag.spv").read_bytes()]
    alone = spvlink.link(codes, spec={("frag", 3): "false", ("frag", 4): "0.5"}, layout=layout)
    assert [(tmp_path / "out" / s["file"]).read_bytes() for s in made["dull"]["stages"]] == [
        s.data for s in alone.stages
    ]
    assert made["dull"]["layout"] == layout and made["glossy"]["layout"].startswith("layouts/")
    moved = tmp_path / "out" / made["glossy"]["layout"]
    assert json.loads(moved.read_text()) == layout
    assert made["glossy"]["stages"][0]["spec"] == {"3": True, "4": 0.5, "77": 1}
    for name, what in (("no entry", "no entry point 'other'"), ("no bool", "no value")):
        assert kinds[name][0] == "invalid"
        assert f"passed through: {name}: s.frag.spv: " in said and what in said
        names = [Path(tmp_path / "out" / s["file"]).read_bytes() for s in made[name]["stages"]]
        assert names == codes
    assert report["totals"]["failed"] == 2 and said.count("\n") == 3, said


def test_options_are_those_of_link(source: Path, tmp_path: Path) -> None:
    lines = lines_for(tmp_path, ("car_paint",))
    path = write_lines(tmp_path / "m.jsonl", lines)
    for words, settings in (
        (["--exact"], {"exact": True}),
        (["--relaxed"], {"relaxed": True}),
        (["--disable", "compact", "--pack", "none"], {"disable": ["compact"], "pack": "none"}),
        (["--keep-interface", "frag"], {"keep_interface": ["frag"]}),
        (["--spec-defaults", "--complete"], {"spec_defaults": True, "complete": True}),
    ):
        out = tmp_path / "-".join(words)
        batch(path, "-o", out, "--jobs", "1", *words)
        expected = [s.data for s in spvlink.link(build("car_paint"), **settings).stages]  # type: ignore[arg-type]
        made = [(out / s["file"]).read_bytes() for s in result_lines(out)[0]["stages"]]
        assert made == expected, words


WRONG = [
    ("nonsense", "line 2 is wrong: not JSON: Expecting value"),
    ('{"id": "b", "stages": []}', "stages: expected a list"),
    ('{"stages": [{"file": "x"}]}', "id: expected a text"),
    ('{"id": "a", "stages": [{"file": "x"}]}', "the id 'a' stands in line 1 already"),
    ('{"id": "b", "stages": [{"file": "x"}], "layot": {}}', "unknown key 'layot'"),
    ('{"id": "b", "stages": [{"file": "x", "spec": {"x": 1}}]}', "'x' is no SpecId"),
    ('{"id": "b", "stages": [{"file": "x", "spec": {"1": "y"}}]}', "expected a number, true"),
    (
        '{"id": "b", "stages": [{"file": "x"}], "layout": {"sets": 1}}',
        "layout: the layout: unknown",
    ),
    ('{"id": "b", "stages": [{"file": "x"}], "layout": "gone"}', "gone: cannot read it: No such"),
    ('{"id": "b", "stages": [{"file": "x"}], "complete": 1}', "complete: expected true or false"),
    ('{"id": "b", "stages": [{"file": "x", "spec": {"1": NaN}}]}', "NaN is no number of JSON"),
    ('{"id": "b", "stages": [{"file": "x", "spec": {"1": 1e999}}]}', "expected a number, true"),
    ('{"id": "b", "stages": [{"file": "x", "spec": {"1": 1%s}}]}' % ("0" * 5000), "not JSON"),
    ("[" * 100_000, "not JSON: "),
    ('{"id": "\xff"}', "not JSON: "),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_lines(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is linked, one line says where and what."""
    path = tmp_path / "m.jsonl"
    good = '{"id": "a", "stages": [{"file": "x.spv"}]}'
    path.write_bytes(f"{good}\n{line}\n\n{line}\n".encode("latin-1"))
    assert cli.main(["batch", str(path), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1, said
    assert said.startswith(f"spvlink: error: {path}: line 2 is wrong: ")
    assert "(as are 1 more lines: 4)" in said
    assert [p.name for p in tmp_path.iterdir()] == ["m.jsonl"]


def test_pipelines_that_cannot_be_linked_go_through(tmp_path: Path) -> None:
    lines = lines_for(tmp_path, ("decal",))
    (tmp_path / "bad.spv").write_bytes(b"no SPIR-V")
    lines += [
        {"id": "gone", "stages": [{"file": "gone.spv"}, {"file": "decal.vert.spv"}]},
        {"id": "bad", "stages": [{"file": "decal.vert.spv"}, {"file": "bad.spv"}]},
        {"id": "twice", "stages": [{"file": "decal.vert.spv"}, {"file": "decal.vert.spv"}]},
    ]
    path = write_lines(tmp_path / "m.jsonl", lines)
    out = tmp_path / "out"
    said = batch(path, "-o", out, "--jobs", "1", "--report", tmp_path / "r.json")
    assert "passed through: gone: " in said and "gone.spv: cannot read it: No such file" in said
    assert "passed through: bad: bad.spv: " in said and "passed through: twice: " in said
    made = {line["id"]: [s["file"] for s in line["stages"]] for line in result_lines(out)}
    assert made["gone"][0] == str(tmp_path / "gone.spv")  # where it was meant to be
    assert (out / made["bad"][1]).read_bytes() == b"no SPIR-V"
    assert made["twice"] == [made["bad"][0]] * 2 and made["gone"][1] == made["bad"][0]
    report = json.loads((tmp_path / "r.json").read_text())
    assert [p["kind"] for p in report["pipelines"]] == ["linked", *["invalid"] * 3]
    assert sum(r["pipelines"] for r in report["reasons"]) == 3
    shutil.rmtree(out)
    said = batch(path, "-o", out, "--jobs", "1", "--strict", status=1)
    assert (
        said.splitlines()[-2:]
        == [
            said.splitlines()[-2],
            "  while being --strict",
        ]
        and "error: passed through: gone: " in said
    )
    assert not out.exists()
    said = batch(path, "-o", out, "--jobs", "1")  # all was done already
    assert not (tmp_path / "out.partial").exists() and out.exists()


def test_odd_names(tmp_path: Path) -> None:
    """A name may be any text that JSON has; so may that of a file that cannot be."""
    (stage,) = lines_for(tmp_path, ("decal",))[0]["stages"][:1]
    names = ["\ud800", "a\nb", "\u00e4\u6c34", "\0", " "]
    lines: Lines = [{"id": name, "stages": [stage]} for name in names]
    lines += [{"id": f"file {n}", "stages": [{"file": name}]} for n, name in enumerate(names[:4])]
    path = write_lines(tmp_path / "m.jsonl", lines)
    said = batch(path, "-o", tmp_path / "out", "--jobs", "1", "--report", tmp_path / "r.json")
    assert said.count("\n") == 5 and "4 failed" in said
    assert "file 0: cannot read" in said and "this is no name of a file" in said
    assert [line["id"] for line in result_lines(tmp_path / "out")] == [x["id"] for x in lines]
    text = (tmp_path / "out" / "manifest.jsonl").read_text()
    assert "\u00e4\u6c34" in text and "\\ud800" in text
    report = json.loads((tmp_path / "r.json").read_text())
    assert [p["id"] for p in report["pipelines"]] == [x["id"] for x in lines]


# -- the command line ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no archive and no manifest"),
        (["a.jsonl"], "-o OUT is missing"),
        (["a.spv", "-o", "x"], "a.spv: expected an archive (.foz), a manifest (.jsonl) or"),
        (["a.jsonl", "b.foz", "-o", "x"], "cannot be one input"),
        (["a.jsonl", "b.jsonl", "-o", "x"], "only one manifest"),
        (["a.foz", "-o", "x"], "archives make an archive"),
        (["a.jsonl", "-o", "x.foz"], "a manifest makes a folder"),
        (["a.jsonl", "-o", "x", "--jobs", "0"], "expected 1 to"),
        (["a.jsonl", "-o", "x", "--timeout", "nan"], "--timeout nan: expected a number"),
        (["a.jsonl", "-o", "x", "--memory", "1.5"], "--memory 1.5: expected a number"),
        (["a.jsonl", "-o", "x", "--memory", "5"], "--memory 5: expected 40 or more"),
        (["a.jsonl", "-o", "x", "--variants", "0"], "--variants 0: expected all, or 1 to"),
        (["a.jsonl", "-o", "x", "--variants", "few"], "--variants few: expected all, or a"),
        (["a.jsonl", "-o", "x", "--progress", "maybe"], "there are always, never"),
        (
            ["a.jsonl", "-o", "x", "--spec", "frag:1=1"],
            "unknown option --spec; see spvlink batch",
        ),
        (["a.jsonl", "-o", "x", "--report", "a.jsonl"], "this is a file of the batch"),
        (["a.jsonl", "-o", "x", "--report", "none/r"], "none/r: cannot write it: No such folder"),
        (["a.jsonl", "-o", "x", "--report", "."], ".: cannot write it: Is a directory"),
        (["a.jsonl", "-o", "."], "expected the name of a new folder"),
        (["none.jsonl", "-o", "x"], "none.jsonl: cannot read it: No such file"),
        (["none.foz", "-o", "x.foz"], "none.foz: cannot read it: No such file"),
        (["a.jsonl", "-o", "x", "--layout", "none"], "none: cannot read it"),
    ],
)
def test_usage(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert cli.main(["batch", *words]) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1, said
    assert not list(tmp_path.iterdir())


def test_standard_output(tmp_path: Path) -> None:
    """It has the report if that is asked for; a reader that goes away is no trouble."""
    path = write_lines(tmp_path / "m.jsonl", lines_for(tmp_path, ("decal",)))
    words = command(path, "-o", tmp_path / "out", "--jobs", "1", "--report", "-")
    done = subprocess.run(words, capture_output=True, text=True, env=VARIABLES)
    assert json.loads(done.stdout)["summary"] == done.stderr.removeprefix("spvlink: ").strip()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=VARIABLES)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert b"1 pipelines" in process.stderr.read() and process.wait() == 0
    process.stderr.close()
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, env=VARIABLES)
    assert done.returncode == 2
    assert done.stderr == "spvlink: error: standard output: No space left on device\n"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["batch", "--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: spvlink batch") and max(map(len, said.splitlines())) <= 100


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = lines_for(tmp_path, ("decal",))
    path = write_lines(tmp_path / "m.jsonl", lines)
    assert batch(path, "-o", tmp_path / "never", "--jobs", "1", "--progress", "never") == ""
    said = batch(path, "-o", tmp_path / "bar", "--jobs", "1", "--progress", "always")
    assert "1/1" in said and "pipelines/s" in said  # tqdm's
    report = tmp_path / "r.json"
    said = batch(path, "-o", tmp_path / "quiet", "--jobs", "1", "--report", report)
    assert said.startswith("spvlink: 1 pipelines") and report.exists()


@pytest.mark.parametrize("rows", [0, 30])
def test_a_terminal_has_a_bar(rows: int, tmp_path: Path) -> None:
    """Also one that does not know its size, as in a container."""
    path = write_lines(tmp_path / "m.jsonl", lines_for(tmp_path, ("decal",)))
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (rows, 2 * rows))
    with os.fdopen(master, "rb", 0) as screen:
        words = command(path, "-o", tmp_path / "out", "--jobs", "1")
        process = subprocess.Popen(words, stderr=slave, env=VARIABLES)
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # how Linux says that the other end has gone
            while piece := screen.read(4096):
                said += piece
        assert process.wait() == 0
    assert b"1/1" in said and b"spvlink: 1 pipelines" in said


def test_progress_without_tqdm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    from spvlink.batches import progress

    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    shown = progress.Progress(4, progress.ALWAYS)
    shown.add(1, 0)
    shown.add(2, 1)
    shown.close()
    said = capsys.readouterr().err.splitlines()
    assert [line[: line.index("pipelines")] for line in said] == [
        "spvlink: 1 of 4 ", "spvlink: 3 of 4 ",
    ]  # fmt: skip
    assert said[1].endswith("1 failed")
    quiet = progress.Progress(4, progress.AUTO)  # this is no terminal
    quiet.add(1, 0)
    assert not capsys.readouterr().err


# -- archives --------------------------------------------------------------------------------------


def test_an_archive(tmp_path: Path) -> None:
    """What was recorded of shaders/: jobs are the distinct pipelines, with and without multiview
    where no built-in depends on it, and the archive that comes out has what single links give."""
    from spvlink.archive.archive import Archive

    out, again = tmp_path / "out.foz", tmp_path / "again.foz"
    said = batch(RECORDED, "-o", out, "--jobs", "2", "--report", tmp_path / "r.json")
    assert said.startswith("spvlink: 35 pipelines, 12 jobs") and said.count("\n") == 1
    batch(RECORDED, "-o", again, "--jobs", "1")
    assert out.read_bytes() == again.read_bytes()
    report = json.loads((tmp_path / "r.json").read_text())
    kinds = {p["id"]: p for p in report["pipelines"]}
    linked = 0
    with Archive([str(RECORDED)]) as before, Archive([str(out)]) as after:
        assert not after.warnings
        for old, new in zip(before.pipelines(), after.pipelines(), strict=True):
            assert old.key == new.key and old.reason == new.reason
            assert kinds[old.key]["reason"] == old.reason
            codes = [before.module(s.module) for s in old.stages if old.reason is None]
            if not codes:
                assert [s.module for s in old.stages] == [s.module for s in new.stages]
                continue
            options = spvlink.Options(complete=True, spec_defaults=True, layout=old.layout)
            options.view_mask, options.state = old.view_mask, old.state
            for stage in old.stages:
                name = _stage_name(stage.bit)
                options.spec |= {(name, id): raw for id, raw in stage.spec.items()}
            alone = {s.stage: s.data for s in spvlink.link(codes, options).stages}
            for stage in new.stages:
                assert after.module(stage.module) == alone[_stage_name(stage.bit)]
            linked += 1
    assert linked == report["totals"]["linked"] > 20


def test_prune_leaves_out_modules_that_only_linked_pipelines_used(tmp_path: Path) -> None:
    from tests.archive import writing

    full, pruned = tmp_path / "full.foz", tmp_path / "pruned.foz"
    batch(RECORDED, "-o", full)
    said = batch(RECORDED, "-o", pruned, "--prune", "--report", tmp_path / "r.json")
    whole, less = (dict(writing.split(path.read_bytes())) for path in (full, pruned))
    dropped = whole.keys() - less.keys()
    assert all(less[key] == whole[key] for key in less)
    texts = [writing.payload_of(raw) for (tag, _), raw in whole.items() if tag in (6, 7, 9)]
    used = {int(digits, 16) for text in texts for digits in re.findall(rb'"module":"(\w+)"', text)}
    modules = {hash for tag, hash in whole if tag == 4}
    assert {hash for tag, hash in dropped if tag == 4} == modules - used and modules - used
    assert {tag for tag, _ in dropped} == {4, 8}, "modules, and the links of applications to them"
    links = [writing.payload_of(raw) for (tag, _), raw in less.items() if tag == 8]
    named = [json.loads(link)["link"] for link in links]
    assert {int(n["hash"], 16) for n in named if n["tag"] == 4} <= used
    totals = json.loads((tmp_path / "r.json").read_text())["totals"]
    assert totals["pruned"] == len(modules - used)
    assert totals["bytes"] == [RECORDED.stat().st_size, pruned.stat().st_size]
    assert f"{totals['pruned']} modules pruned" in said


def test_prune_keeps_every_module_beside_a_pipeline_that_cannot_be_read(tmp_path: Path) -> None:
    from tests.archive import writing

    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    entries = writing.split(RECORDED.read_bytes())
    odd = writing.entry(7, 5, b"no JSON")
    source.write_bytes(writing.archive(*[raw for _, raw in entries], odd))
    said = batch(source, "-o", out, "--prune")
    assert "no module is pruned: pipeline 0000000000000005 cannot be read" in said
    before, after = (dict(writing.split(path.read_bytes())) for path in (source, out))
    assert before.keys() <= after.keys()


def test_prune_is_for_archives(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert "--prune is for archives" in batch(
        tmp_path / "in", "-o", tmp_path / "out", "--prune", status=2
    )


@pytest.mark.parametrize(("flags", "reads"), [(0, False), (8, True), (0x10, False)])
def test_the_view_index_of_a_device(flags: int, reads: bool, tmp_path: Path) -> None:
    """VK_PIPELINE_CREATE_VIEW_INDEX_FROM_DEVICE_INDEX_BIT: without a view mask, gl_ViewIndex is the
    number of the device (Vulkan, "Built-In Variables"). DISPATCH_BASE is about compute shaders."""
    from spvlink.archive.archive import Archive
    from tests.archive import writing

    vertex = compile_glsl(
        "#version 450\n#extension GL_EXT_multiview : require\n"
        "layout(location = 0) in vec4 p; layout(location = 0) out vec4 unread;"
        "layout(push_constant) uniform P { vec4 eyes[2]; };"
        "void main() { gl_Position = p + eyes[gl_ViewIndex]; unread = p; }",
        "vert",
    )
    fragment = compile_glsl(
        "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1.0); }", "frag"
    )
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(
        writing.archive(
            *writing.surroundings(**{"pass": {"flags": 0, "subpasses": [{}]}}),
            writing.entry(4, 0xE1, writing.module(0xE1, vertex)),
            writing.entry(4, 0xE2, writing.module(0xE2, fragment)),
            writing.pipeline(flags=flags, stages=[writing.stage(1, 0xE1), writing.stage(16, 0xE2)]),
        )
    )
    batch(source, "-o", out, "--jobs", "1")
    with Archive([str(out)]) as archive:
        (one,) = archive.pipelines()
        assert one.stages[0].module != f"{0xE1:016x}"  # linked: the output that nobody reads went
        text = disassemble(archive.module(one.stages[0].module))
    assert ("BuiltIn ViewIndex" in text) == reads


def _stage_name(bit: int) -> str:
    from spvlink.pipeline import STAGE_BITS

    return next(name for name, one in STAGE_BITS.items() if one == bit)


def test_a_damaged_archive(tmp_path: Path) -> None:
    data = bytearray(RECORDED.read_bytes())
    broken = tmp_path / "broken.foz"
    broken.write_bytes(data[:-100])
    said = batch(broken, "-o", tmp_path / "out.foz", "--jobs", "1")
    assert "spvlink: warning: " in said and "35 pipelines" not in said.splitlines()[0]
    broken.write_bytes(b"x" + data)
    said = batch(broken, "-o", tmp_path / "none.foz", status=1)
    assert said.startswith(f"spvlink: error: {broken}") and said.count("\n") == 1
    assert not (tmp_path / "none.foz").exists()
