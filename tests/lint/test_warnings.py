"""A link tells what ``spvlink check`` would: what breaks a rule is not linked in silence.

What is told of many pipelines: tests/lint/test_check_layer.py.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from tests.support.interface_rows import MISSING
from tests.support.linking import fragment, vertex

VERT = vertex("layout(location = 0) out vec3 c; void main() { gl_Position = p; c = p.xyz; }")
FRAG = fragment("layout(location = 3) in vec3 c; void main() { o = vec4(c, 1.0); }")
FITS = fragment("layout(location = 0) in vec3 c; void main() { o = vec4(c, 1.0); }")
TOLD = f"frag input c (vec3 at Location 3): vert has no output at Location 3.xyz ({MISSING})"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, data in (("a.vert.spv", VERT), ("a.frag.spv", FRAG), ("b.frag.spv", FITS)):
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_on_standard_error(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["link", "a.vert.spv", "a.frag.spv", "-o", "out", "--report", "r.json"]
    assert cli.main(words) == 0
    assert capsys.readouterr() == ("", f"spvlink: warning: a.frag.spv: {TOLD}\n")
    assert sorted(os.listdir("out")) == ["a.frag.spv", "a.vert.spv"]
    (told,) = json.loads(Path("r.json").read_text())["warnings"]
    assert told["file"] == "a.frag.spv" and told["interface"] == "vert->frag"
    assert told["rule"] == MISSING and f"{told['message']} ({MISSING})" == TOLD
    assert cli.main(["link", "a.vert.spv", "b.frag.spv", "-o", "fine"]) == 0
    assert capsys.readouterr() == ("", "")


def test_strict(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["link", "a.vert.spv", "a.frag.spv", "-o", "out", "--strict"]) == 1
    line = f"spvlink: error: a.frag.spv: {TOLD}\n  while being --strict\n"
    assert capsys.readouterr() == ("", line) and not os.path.exists("out")


def test_an_interface_that_is_written(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["link", "a.vert.spv", "a.frag.spv", "-o", "out", "--write-interface", "i.json"]
    assert cli.main(words) == 0
    assert capsys.readouterr() == ("", f"spvlink: warning: a.frag.spv: {TOLD}\n")


@pytest.mark.parametrize("variants", ["all", "1"])
def test_batch(work: Path, capsys: pytest.CaptureFixture[str], variants: str) -> None:
    lines = [
        {"id": name, "stages": [{"file": "a.vert.spv"}, {"file": f"{name}.frag.spv"}]}
        for name in ("a", "b")
    ]
    Path("in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ["batch", "in.jsonl", "-o", "out", "--jobs", "1", "--variants", variants]
    assert cli.main([*words, "--report", "r.json"]) == 0
    said = capsys.readouterr().err
    assert f"spvlink: warning: a: a.frag.spv: {TOLD}\n" in said
    assert said.count("warning:") == 1 and ", 1 whose stages do not match\n" in said
    report = json.loads(Path("r.json").read_text())
    assert report["totals"]["warned"] == 1
    assert report["warnings"] == [{"warning": f"a.frag.spv: {TOLD}", "pipelines": 1}]
    assert cli.main([*words[:3], "strict", *words[4:], "--strict"]) == 1
    assert f"spvlink: error: a: a.frag.spv: {TOLD}\n  while being" in capsys.readouterr().err


def test_python() -> None:
    (one,) = spvlink.link([spvlink.Source(VERT, "v"), spvlink.Source(FRAG, "f")]).warnings
    assert (one.file, one.interface, one.rule, str(one)) == ("f", "vert->frag", MISSING, TOLD)
    made = next(iter(spvlink.batch([[VERT, FRAG]])))
    assert [str(flaw) for flaw in made.linked.warnings] == [TOLD]
