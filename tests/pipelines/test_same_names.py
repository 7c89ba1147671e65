"""One module with several entry points of one name, as DXC and Slang write them: their execution
models tell them apart, and the user, the archive or the manifest says which is meant; or the other
modules leave only one over."""

from __future__ import annotations

import json
import struct
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import cli
from spvlink.archive.archive import Archive
from spvlink.binary.decode import decode
from spvlink.draw import draw, draw_covering
from spvlink.ir.core import ENTRY_POINTS, string_of
from spvlink.layer import wire, work
from spvlink.pipeline import STAGE_BITS, STAGES
from tests.archive import writing
from tests.support.batch_sets import batch, result_lines, write_lines
from tests.support.chain_checks import close
from tests.support.chain_stages import PATCHES, TRIANGLES
from tests.support.samples import compile_glsl, edited

CHAINS = {"triangles": TRIANGLES, "patches": PATCHES}
MODELS = {name: model for model, name in STAGES.items()}
COMPUTE = """#version 450
layout(local_size_x = 1) in;
void main() {}"""


@cache
def codes_of(name: str) -> dict[str, bytes]:
    return {stage: compile_glsl(text, stage) for stage, text in CHAINS[name]}


def joined(codes: dict[str, bytes], folder: Path) -> bytes:
    """One module in which every entry point is called main."""
    for name, code in codes.items():
        (folder / name).write_bytes(code)
    command = ["spirv-link", "--target-env", "vulkan1.1", *codes, "-o", "all.spv"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    for name in codes:
        (folder / name).unlink()
    return (folder / "all.spv").read_bytes()


def link(sources: list[spvlink.Source], **settings: Any) -> spvlink.Linked:
    linked = spvlink.link(sources, **settings)
    assert linked.defect is None, linked.defect
    assert linked.validated == "validated"
    return linked


def entries_of(code: bytes) -> list[tuple[str, str]]:
    found = decode(code).sections[ENTRY_POINTS]
    return [(STAGES.get(e.imm[0], "other"), string_of(e.imm, 1)[0]) for e in found]


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("name", CHAINS)
def test_all_stages_are_called_main(name: str, clean: bool, tmp_path: Path) -> None:
    """Each comes out as from a module of its own, with its own entry point, and draws the same; a
    second link finds nothing."""
    whole, stages = joined(codes_of(name), tmp_path), list(codes_of(name))
    sources = [spvlink.Source(whole, stage, "main", stage) for stage in reversed(stages)]
    linked = link(sources, clean=clean)
    alone = spvlink.link(list(codes_of(name).values()), clean=clean)
    assert linked.passed_through is None and [s.stage for s in linked.stages] == stages
    # spirv-link leaves out what a stage lists and does not read
    assert [(r.name, r.action, r.why) for r in linked.remarks if r.interface != "vert"] == [
        (r.name, r.action, r.why) for r in alone.remarks if r.interface != "vert"
    ]
    for result in linked.stages:
        if result.changed:
            assert entries_of(result.data) == [(result.stage, "main")]
    scene, before = draw_covering([(whole, "main", MODELS[stage]) for stage in stages])
    assert before.is_good(), "the original draws nothing"
    new = [(s.data, "main", MODELS[s.stage]) for s in linked.stages]
    assert not close(before, draw(new, scene))
    again = link([spvlink.Source(s.data, "", "main", s.stage) for s in linked.stages], clean=clean)
    assert again.passed_through == "nothing to gain"


def test_the_command_names_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stages = list(codes_of("patches"))
    joined(codes_of("patches"), tmp_path)
    files = [f"all.spv:main:{stage}" for stage in stages]
    assert cli.main(["link", *files, "-o", "out", "--report", "-", "--html", "page.html"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(s["stage"], s["file"]) for s in report["stages"]] == list(zip(stages, files))
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        f"all.main.{stage}.spv" for stage in stages
    }
    assert cli.main(["check", *files]) == 0
    assert "not checked" not in capsys.readouterr().out
    # A file of that name comes first, as it always did.
    (tmp_path / "all.spv:main").write_bytes(codes_of("patches")["vert"])
    assert cli.main(["link", "all.spv:main:vert", "-o", "out"]) == 1
    assert "no entry point 'vert'" in capsys.readouterr().err


@pytest.mark.parametrize("entry", [":main", ":main:frag"])
def test_the_others_leave_one_over(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside a vertex and a geometry module only the fragment shader of a module is missing."""
    monkeypatch.chdir(tmp_path)
    codes = codes_of("triangles")
    joined({"vert": codes["vert"], "frag": codes["frag"]}, tmp_path)
    for stage in ("vert", "geom"):
        (tmp_path / f"{stage}.spv").write_bytes(codes[stage])
    words = ["link", f"all.spv{entry}", "geom.spv", "vert.spv", "-o", "out", "--clean"]
    assert cli.main(words) == 0, capsys.readouterr().err
    alone = spvlink.link(list(codes.values()), clean=True)
    new = [(tmp_path / "out" / f"{name}.spv").read_bytes() for name in ("vert", "geom")]
    assert new == [s.data for s in alone.stages[:2]]
    assert entries_of((tmp_path / "out" / "all.spv").read_bytes()) == [("frag", "main")]


def test_a_compute_shader_of_that_name_is_not_meant(tmp_path: Path) -> None:
    codes = codes_of("triangles")
    both = joined({"frag": codes["frag"], "comp": compile_glsl(COMPUTE, "comp")}, tmp_path)
    assert len(entries_of(both)) == 2
    linked = link([spvlink.Source(c) for c in (codes["vert"], codes["geom"])] + [
        spvlink.Source(both, "", "main")
    ])  # fmt: skip
    assert [s.stage for s in linked.stages] == ["vert", "geom", "frag"]


def twice(code: bytes) -> bytes:
    """The same entry point listed twice under one name: no valid SPIR-V."""
    return edited(code, ("( *OpEntryPoint .*\n)", r"\1\1"))


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["all.spv:main"], 1, "all.spv:main: the module has 2 entry points ('main' of vert, 'main' "
         "of frag): name one as FILE:ENTRY:STAGE"),
        (["all.spv", "geom.spv"], 1, "2 entry points ('main' of vert, 'main' of frag)"),
        (["all.spv:main", "all.spv:main"], 2, "all.spv:main is given twice: say "
         "FILE:ENTRY_NAME:STAGE each time"),
        (["all.spv:main:geom"], 1, "'main' is of the stage vert and frag, not geom"),
        (["geom.spv:main:frag"], 1, "the entry point 'main' is of the stage geom, not frag"),
        (["all.spv:other:frag"], 1, "the module has no entry point 'other'"),
        (["vert.spv", "frag.spv", "all.spv:main"], 1, "name one as FILE:ENTRY:STAGE"),
        (["vert.spv", "all.spv:main:vert"], 1, "a second vert stage beside"),
        (["twice.spv:main", "vert.spv"], 1, "two entry points 'main' of one stage"),
        (["a.frag:main:frag"], 2, "a.frag:main:frag: the stage of a source file is in its name"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_an_error(
    words: list[str], status: int, said: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    codes = codes_of("triangles")
    joined({"vert": codes["vert"], "frag": codes["frag"]}, tmp_path)
    for name, code in codes.items():
        (tmp_path / f"{name}.spv").write_bytes(code)
    (tmp_path / "twice.spv").write_bytes(twice(codes["frag"]))
    assert cli.main(["link", *words, "-o", "out"]) == status
    error = capsys.readouterr().err
    assert error.startswith("spvlink: error: ") and said in error, error
    assert not (tmp_path / "out").exists()


def test_a_stage_that_there_is_not() -> None:
    with pytest.raises(spvlink.Usage, match="no stage is called fragment"):
        spvlink.link([spvlink.Source(codes_of("triangles")["frag"], "", "main", "fragment")])


# -- many pipelines --------------------------------------------------------------------------------

SPECIAL = """#version 450
layout(constant_id = 3) const bool glossy = true;
layout(location = 0) in vec4 c; layout(location = 1) in vec4 d; layout(location = 0) out vec4 o;
void main() { o = c; if (glossy) o += sin(d); }"""
BEFORE = """#version 450
layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;
void main() { c = vec4(gl_VertexIndex); d = c * c; gl_Position = c; }"""


def special(folder: Path) -> tuple[bytes, list[bytes]]:
    """A module of two, and what comes of them where glossy is false."""
    codes = [compile_glsl(BEFORE, "vert"), compile_glsl(SPECIAL, "frag")]
    linked = spvlink.link(codes, spec={("frag", 3): "false"}, clean=True)
    assert linked.interfaces[0].locations == (2, 1)
    return joined({"vert": codes[0], "frag": codes[1]}, folder), codes


def test_a_manifest_names_the_stage_or_leaves_one_over(tmp_path: Path) -> None:
    whole, codes = special(tmp_path)
    (tmp_path / "vert.spv").write_bytes(codes[0])
    vert, frag = {"file": "all.spv", "entry": "main"}, {"file": "all.spv", "entry": "main"}
    dull: dict[str, Any] = {"spec": {"3": False}}
    lines = [
        {"id": "said", "stages": [vert | {"stage": "vert"}, frag | dull | {"stage": "frag"}]},
        {"id": "stage only", "stages": [
            {"file": "all.spv", "stage": "vert"}, {"file": "all.spv", "stage": "frag"} | dull]},
        {"id": "left over", "stages": [frag | dull, {"file": "vert.spv"}]},
        {"id": "one said", "stages": [frag | dull, vert | {"stage": "vert"}]},
        {"id": "not said", "stages": [vert, frag]},
        {"id": "wrong", "stages": [{"file": "vert.spv", "stage": "frag"}, frag]},
    ]  # fmt: skip
    path = write_lines(tmp_path / "m.jsonl", lines)
    said = batch(path, "-o", tmp_path / "out", "--report", tmp_path / "r.json", "--jobs", "1")
    report = json.loads((tmp_path / "r.json").read_text())
    kinds = {p["id"]: (p["kind"], p.get("locations")) for p in report["pipelines"]}
    for name in ("said", "stage only", "left over", "one said"):
        assert kinds[name] == ("linked", [2, 1]), name
    assert kinds["not said"][0] == kinds["wrong"][0] == "invalid"
    assert "name one as FILE:ENTRY:STAGE" in said
    assert "the entry point 'main' is of the stage vert, not frag" in said
    made = {line["id"]: line for line in result_lines(tmp_path / "out")}
    assert [s["stage"] for s in made["said"]["stages"]] == ["vert", "frag"]
    for stage in made["said"]["stages"]:
        code = (tmp_path / "out" / stage["file"]).read_bytes()
        if code != whole:
            assert entries_of(code) == [(stage["stage"], "main")]
    # what comes out goes in again
    again = batch(tmp_path / "out" / "manifest.jsonl", "-o", tmp_path / "two", "--jobs", "1")
    assert "name one as FILE:ENTRY:STAGE" in again  # of the line that is wrong, and of no other
    assert again.count("passed through: ") == said.count("passed through: ")


def test_a_manifest_with_a_stage_that_there_is_not(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "m.jsonl", [
        {"id": "a", "stages": [{"file": "a.spv", "stage": "fragment"}]}
    ])  # fmt: skip
    said = batch(path, "-o", tmp_path / "out", status=1)
    assert "stages[0].stage: expected one of vert, tesc" in said


def test_check_looks_at_a_set_as_batch_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, codes = special(tmp_path)
    (tmp_path / "vert.spv").write_bytes(codes[0])
    frag, vert = {"file": "all.spv", "entry": "main"}, {"file": "vert.spv"}
    path = write_lines(tmp_path / "m.jsonl", [
        {"id": "left over", "stages": [frag, vert]},
        {"id": "said", "stages": [frag | {"stage": "frag"}, frag | {"stage": "vert"}]},
        {"id": "not said", "stages": [frag, frag]},
    ])  # fmt: skip
    assert cli.main(["check", str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert {e["pipeline"] for e in told["errors"]} == {"not said"}
    assert all("FILE:ENTRY:STAGE" in e["message"] for e in told["errors"])


def test_an_archive_says_the_stage(tmp_path: Path) -> None:
    codes, number = codes_of("triangles"), 0xA3
    whole = joined({"vert": codes["vert"], "frag": codes["frag"]}, tmp_path)
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(
        writing.archive(
            *writing.surroundings(),
            writing.entry(4, number, writing.module(number, whole), format=1),
            writing.pipeline(stages=[writing.stage(1, number), writing.stage(16, number)]),
        )
    )
    batch(source, "-o", out, "--report", tmp_path / "r.json", "--jobs", "1")
    report = json.loads((tmp_path / "r.json").read_text())
    assert [(p["kind"], p["locations"]) for p in report["pipelines"]] == [("linked", [2, 1])]
    with Archive([str(out)]) as opened:
        stages = opened.pipeline(f"{writing.KEY:016x}").stages
        made = {stage.bit: opened.module(stage.module) for stage in stages}
    assert made[STAGE_BITS["vert"]] != whole
    for name in ("vert", "frag"):
        if made[STAGE_BITS[name]] != whole:
            assert entries_of(made[STAGE_BITS[name]]) == [(name, "main")]


def test_the_layer_says_the_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = special(tmp_path)
    request = wire.Request()
    for name in ("vert", "frag"):
        stage = wire.RequestStage()
        stage.bit, stage.entry, stage.code = STAGE_BITS[name], "main", whole
        stage.spec = [(3, struct.pack("<I", 0))] if name == "frag" else []
        request.stages.append(stage)
    request.key = bytes(32)
    monkeypatch.setattr(wire, "read_key", lambda data: (request.key, b""))
    monkeypatch.setattr(wire, "read_request", lambda data: request)
    answer = work.answer(b"")
    assert wire.status_of(answer) == wire.LINKED, answer[:200]
    assert struct.unpack_from("<4I", answer, 44)[2:] == (2, 1)  # Locations
