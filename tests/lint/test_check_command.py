"""The command ``spvlink check``: findings as text and JSON, exit status, sets, limits, errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spvlink import cli
from spvlink.lint.limits import REQUIRED
from tests.support.batch_sets import write_lines
from tests.support.check_sources import BROKEN, FITS, VERT
from tests.support.samples import compile_glsl, edited

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = ROOT / "examples" / "batch" / "shaders.foz"
SPEC = """#version 450
layout(constant_id = 3) const int count = 2;
layout(location = 0) in float weights[count];
void main() {}
"""
WEIGHTS = """#version 450
layout(location = 0) out float weights[4];
void main() { gl_Position = vec4(0); }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("check")
    sources = (
        ("a.vert", VERT), ("fits.frag", FITS), ("broken.frag", BROKEN), ("spec.frag", SPEC),
        ("weights.vert", WEIGHTS),
    )  # fmt: skip
    for name, text in sources:
        (made / f"{name}.spv").write_bytes(compile_glsl(text, name.rpartition(".")[2]))
    (made / "nothing.spv").write_bytes(b"no module")
    return made


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def check(*words: object) -> int:
    return cli.main(["check", *map(str, words)])


def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    """The exit status and the JSON."""
    status = check(*words, "--json")
    return status, json.loads(capsys.readouterr().out)


def test_stages_that_fit(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(here.iterdir())
    assert check("a.vert.spv", "fits.frag.spv") == 0
    assert capsys.readouterr().out == (
        "vert -> frag\n"
        "  warning: frag does not read Location 1.z of vert output normal (vec3 at Location 1)\n"
        "  warning: frag has no input for vert output unset (vec2 at Location 2)\n"
        "1 pipeline: 0 errors, 2 warnings; 44 bytes a vertex, 16 for position\n"
    )
    assert sorted(here.iterdir()) == before


def test_stages_that_do_not(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = told(capsys, "broken.frag.spv", "a.vert.spv")
    assert (status, found["pipelines"]) == (1, 1)
    assert [(e["name"], e["location"], e["component"], e["rule"]) for e in found["errors"]] == [
        ("normal", 1, 0, "VUID-RuntimeSpirv-OpEntryPoint-07754"),
        ("uv", 5, 1, "VUID-RuntimeSpirv-OpEntryPoint-08743"),
    ]
    assert found["errors"][1] == {
        "pipeline": None,
        "producer": "vert",
        "consumer": "frag",
        "name": "uv",
        "location": 5,
        "component": 1,
        "rule": "VUID-RuntimeSpirv-OpEntryPoint-08743",
        "message": "frag input uv (vec2 at Location 5.y): vert has no output at Location 5.yz",
        "file": "broken.frag.spv",
    }
    unset = [w for w in found["warnings"] if w["name"] == "unset"]
    assert [(w["location"], w["component"], w["rule"]) for w in unset] == [
        (2, 0, "WARNING-Shader-OutputNotConsumed"),
        (2, 1, None),
    ]
    assert "never writes" in unset[1]["message"]
    check("broken.frag.spv", "a.vert.spv")
    text = capsys.readouterr().out
    assert "    VUID-RuntimeSpirv-OpEntryPoint-08743" in text and "2 errors" in text


def test_source_files_and_depth_only_pipelines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.vert").write_text(VERT)
    assert told(capsys, tmp_path / "a.vert")[1]["warnings"] == []
    status, found = told(capsys, tmp_path / "a.vert", "--complete")
    assert status == 0 and {w["name"] for w in found["warnings"]} == {"colour", "normal", "unset"}
    assert {w["consumer"] for w in found["warnings"]} == {None}


def test_specialization_constants(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = "weights.vert.spv", "spec.frag.spv"
    assert [told(capsys, *pair, "--spec", f"frag:3={n}")[0] for n in (4, 5)] == [0, 1]
    status, found = told(capsys, *pair)  # the default is 2
    assert (status, len(found["errors"])) == (1, 1)
    assert "weights (float[2] at Location 0) faces" in found["errors"][0]["message"]


def test_a_manifest(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def stages(*names: str) -> list[dict[str, Any]]:
        return [{"file": str(folder / name)} for name in names]

    spec = [{"file": str(folder / "weights.vert.spv")},
            {"file": str(folder / "spec.frag.spv"), "spec": {"3": 4}}]  # fmt: skip
    lines = [
        {"id": "fine", "stages": stages("a.vert.spv", "fits.frag.spv")},
        {"id": "broken", "stages": stages("a.vert.spv", "broken.frag.spv")},
        {"id": "also", "stages": stages("a.vert.spv", "broken.frag.spv")},
        {"id": "gone", "stages": stages("a.vert.spv", "no-such.spv")},
        {"id": "nothing", "stages": stages("a.vert.spv", "nothing.spv")},
        {"id": "depth", "complete": True, "stages": stages("a.vert.spv")},
        {"id": "spec", "stages": spec},
        {"id": "two", "stages": stages("a.vert.spv", "a.vert.spv")},
    ]
    manifest = write_lines(tmp_path / "set.jsonl", lines)
    status, found = told(capsys, manifest)
    assert (status, found["pipelines"]) == (1, len(lines))
    by_pipeline: dict[str, list[str | None]] = {}
    for error in found["errors"]:
        by_pipeline.setdefault(error["pipeline"], []).append(error["rule"])
    types = ["VUID-RuntimeSpirv-OpEntryPoint-07754", "VUID-RuntimeSpirv-OpEntryPoint-08743"]
    assert by_pipeline == {
        "broken": types,
        "also": types,
        "gone": [None],
        "nothing": [None],
        "two": ["VUID-VkGraphicsPipelineCreateInfo-stage-06897"],
    }
    assert {w["pipeline"] for w in found["warnings"]} == {
        "fine", "broken", "also", "depth", "spec",
    }  # fmt: skip
    check(manifest)
    text = capsys.readouterr().out
    assert "broken, also: vert -> frag\n" in text and "no-such.spv" in text
    assert text.count("frag input uv") == 1 and "8 pipelines: 7 errors, " in text


def test_an_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = told(capsys, ARCHIVE)
    assert (status, found["pipelines"]) == (1, 131)
    # two of them have more outputs than a device must have room for
    assert {e["rule"] for e in found["errors"]} == {"VUID-RuntimeSpirv-Location-06272"}
    assert len(found["errors"]) == 2
    limits = tmp_path / "limits.json"
    limits.write_text(json.dumps({"maxVertexOutputComponents": 128}))
    assert told(capsys, ARCHIVE, "--limits", limits)[0] == 0
    inside = {"VkPhysicalDeviceProperties": {"limits": {"maxVertexOutputComponents": 20}}}
    limits.write_text(json.dumps(inside))
    assert len(told(capsys, ARCHIVE, "--limits", limits)[1]["errors"]) > 20


def test_a_damaged_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What can still be read is checked, the rest is listed."""
    data = bytearray(ARCHIVE.read_bytes())
    for at in range(20_000, len(data), 20_000):
        data[at] ^= 0x55
    damaged = tmp_path / "damaged.foz"
    damaged.write_bytes(data)
    status = check(damaged, "--json")
    said = capsys.readouterr()
    assert said.err == "" or said.err.startswith("spvlink: warning: ")
    found = json.loads(said.out)
    listed = [e for e in found["errors"] if e["rule"] is None]
    assert status == 1 and listed and all("not checked" in e["message"] for e in listed)
    assert len({e["pipeline"] for e in listed}) < found["pipelines"]
    damaged.write_bytes(ARCHIVE.read_bytes()[:-100])
    assert check(damaged, "--json") == 1
    assert capsys.readouterr().err.count("spvlink: warning: ") == 1
    damaged.write_bytes(b"no archive at all")
    assert check(damaged) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ((), 2, "no stage files"),
        (("--nonsense",), 2, "unknown option --nonsense; see spvlink check --help"),
        (("gone.spv",), 2, "cannot read it"),
        (("a.vert.spv", "a.vert.spv"), 2, "given twice"),
        (("a.vert.spv", "set.jsonl"), 2, "cannot be one input"),
        (("a.jsonl", "b.jsonl"), 2, "only one manifest"),
        (("a.jsonl", "--complete"), 2, "--complete is for stage files"),
        (("a.foz", "--spec", "frag:1=2"), 2, "--spec is for stage files"),
        (("gone.jsonl",), 2, "cannot read it"),
        (("gone.foz",), 2, "cannot read it"),
        (("nothing.spv",), 1, "nothing.spv: "),
        (("a.vert.spv", "--spec", "vert:9=1"), 2, "no specialization constant 9"),
        (("a.vert.spv", "--limits", "gone.json"), 2, "cannot read it"),
        (("a.vert.spv", "--limits", "a.vert.spv"), 2, "not JSON"),
        (("a.vert.spv", "--limits"), 2, "--limits needs a value"),
    ],
)
def test_bad_input_is_one_line(
    words: tuple[str, ...], status: int, says: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(*words) == status
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and says in said.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "expected an object"),
        ("{}", "no limit in it that counts here"),
        ('{"maxVertexOutputComponents": "many"}', "maxVertexOutputComponents: expected a number"),
        ('{"maxClipDistances": 8, "maxVertexOutputComponent": 9}', "maxVertexOutputComponents?"),
    ],
)
def test_limits_that_make_no_sense(
    text: str, says: str, here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "limits.json").write_text(text)
    assert check("a.vert.spv", "--limits", tmp_path / "limits.json") == 2
    assert says in capsys.readouterr().err


def test_names_of_limits_are_vulkans() -> None:
    vk = pytest.importorskip("vulkan")
    known = set(dir(vk.ffi.new("VkPhysicalDeviceLimits*")))
    known |= set(dir(vk.ffi.new("VkPhysicalDeviceMeshShaderPropertiesEXT*")))
    assert not REQUIRED.keys() - known


def test_all_of_vulkans_limits_may_stand_there(here: Path, tmp_path: Path) -> None:
    """Also those that nothing here looks at: none is taken for a misspelt one."""
    vk = pytest.importorskip("vulkan")
    names = dir(vk.ffi.new("VkPhysicalDeviceLimits*"))
    names += dir(vk.ffi.new("VkPhysicalDeviceMeshShaderPropertiesEXT*"))
    (tmp_path / "limits.json").write_text(json.dumps(dict.fromkeys(names, 1000)))
    assert check("a.vert.spv", "fits.frag.spv", "--limits", tmp_path / "limits.json") == 0


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--help") == 0
    assert capsys.readouterr().out.startswith("usage: spvlink check")


def test_names_may_be_anything(tmp_path: Path) -> None:
    """Line ends, colours of terminals, letters that standard output has not."""
    names = edited(
        compile_glsl(FITS, "frag"),
        (r'OpName %normal "normal"', 'OpName %normal "nörmalABCD"'),
    ).replace(b"ABCD", b"\x1b\n\x1b\n")
    (tmp_path / "a.vert.spv").write_bytes(compile_glsl("#version 450\nvoid main() {}", "vert"))
    (tmp_path / "a.frag.spv").write_bytes(names)
    stages = [{"file": "a.vert.spv"}, {"file": "a.frag.spv"}]
    manifest = write_lines(tmp_path / "set.jsonl", [{"id": "one\n\x1b[31mtwo", "stages": stages}])
    done = subprocess.run(
        [sys.executable, "-m", "spvlink", "check", manifest],
        capture_output=True, cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, b"")
    text = done.stdout.decode("ascii")
    assert "one??[31mtwo: vert -> frag\n" in text and "n?rmal?" in text and "\x1b" not in text
    assert len(text.splitlines()) == 6
