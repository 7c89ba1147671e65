"""``spvlink check`` in continuous integration: formats, baseline, and the same from Python."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import cli
from tests.support.check_sources import BROKEN, VERT
from tests.support.samples import compile_glsl


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with modules that do not fit, and a manifest of them, as the current one."""
    for name, text in (("a.vert", VERT), ("broken.frag", BROKEN)):
        (tmp_path / f"{name}.spv").write_bytes(compile_glsl(text, name.rpartition(".")[2]))
    stages = [{"file": "a.vert.spv"}, {"file": "broken.frag.spv"}]
    (tmp_path / "all.jsonl").write_text(
        "".join(json.dumps({"id": id, "stages": stages}) + "\n" for id in ("a:1,b", "50%"))
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = cli.main(["check", *words])
    return status, capsys.readouterr().out


FILES = ("a.vert.spv", "broken.frag.spv")


@pytest.mark.parametrize("given", [FILES, ("all.jsonl",)])
def test_sarif_has_every_finding(
    given: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = json.loads(printed(capsys, *given, "--json")[1])
    status, text = printed(capsys, *given, "--format", "sarif")
    document: Any = json.loads(text)
    assert status == 1 and document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert run["tool"]["driver"]["name"] == "spvlink"
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    both = [*findings["errors"], *findings["warnings"]]
    results = run["results"]
    assert sorted(r["message"]["text"] for r in results) == sorted(f["message"] for f in both)
    assert {r["level"] for r in results} == {"error", "warning"}
    assert {r["ruleId"] for r in results} == rules
    prints = [r["partialFingerprints"]["spvlink/v1"] for r in results]
    assert len(set(prints)) == len(prints)
    for result in results:
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] in FILES
        names = [place["name"] for place in location.get("logicalLocations", ())]
        assert names == [] if given == FILES else names[0] in ("a:1,b", "50%")


def test_the_file_is_the_one_to_change(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing output is looked for in the reader, an output that nobody reads in its writer."""
    findings = json.loads(printed(capsys, *FILES, "--json")[1])
    assert {f["file"] for f in findings["errors"]} == {"broken.frag.spv"}
    unread = {f["file"] for f in findings["warnings"] if "NotConsumed" in str(f["rule"])}
    assert unread == {"a.vert.spv"}


def test_github_annotations(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = printed(capsys, "all.jsonl", "--format", "github")
    lines = text.splitlines()
    findings = json.loads(printed(capsys, "all.jsonl", "--json")[1])
    assert status == 1 and len(lines) == len(findings["errors"]) + len(findings["warnings"])
    form = re.compile(r"::(error|warning) file=[^:,]+(,title=[^:,]+)?::(a:1,b|50%25): [^\n]+")
    assert all(form.fullmatch(line) for line in lines), lines
    assert lines[0] == (
        "::error file=broken.frag.spv,title=VUID-RuntimeSpirv-OpEntryPoint-07754::"
        f"a:1,b: {findings['errors'][0]['message']}"
    )


def test_only_new_findings_fail(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = printed(capsys, *FILES, "--json")[1]
    (here / "known.json").write_text(known)
    status, text = printed(capsys, *FILES, "--baseline", "known.json")
    count = len(json.loads(known)["errors"] + json.loads(known)["warnings"])
    assert (status, text) == (0, f"1 pipeline: 0 errors, 0 warnings; {count} of the baseline\n")
    worse = BROKEN.replace("5, component = 1", "6, component = 1")
    (here / "broken.frag.spv").write_bytes(compile_glsl(worse, "frag"))
    status, text = printed(capsys, *FILES, "--baseline", "known.json")
    assert status == 1 and f"1 error, 0 warnings; {count - 1} of the baseline\n" in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "known.json: cannot read it: No such file or directory"),
        ("{", "known.json: not JSON"),
        ("[]", "known.json: expected what `spvlink check --json` printed"),
        ('{"errors": [{}], "warnings": []}', "known.json: expected what"),
        ('{"errors": [], "warnings": 3}', "known.json: expected what"),
    ],
)
def test_a_baseline_that_is_none(
    text: str | None, says: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (here / "known.json").write_text(text)
    assert cli.main(["check", *FILES, "--baseline", "known.json"]) == 2
    assert capsys.readouterr().err.startswith(f"spvlink: error: {says}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--format", "xml"), "--format xml: there are text, json, sarif, github"),
        (("--json", "--format", "sarif"), "--json and --format sarif: which?"),
    ],
)
def test_formats_that_make_no_sense(
    words: tuple[str, ...], says: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["check", *FILES, *words]) == 2
    assert capsys.readouterr().err == f"spvlink: error: {says}\n"


def test_from_python(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings = spvlink.check(list(FILES))
    expected = json.loads(printed(capsys, *FILES, "--json")[1])
    for kind, warning in (("errors", False), ("warnings", True)):
        ours = [(f.message, f.rule, f.file) for f in findings if f.warning == warning]
        assert ours == [(f["message"], f["rule"], f["file"]) for f in expected[kind]]
    assert str(findings[0]) == f"{findings[0].message} ({findings[0].rule})"
    tight = spvlink.check([Path(FILES[0])], limits={"maxVertexOutputComponents": 4}, complete=True)
    assert "exceed maxVertexOutputComponents (4)" in tight[0].message
    assert [f.warning for f in tight].count(True) == 3  # outputs that nobody will ever read
    with pytest.raises(spvlink.Usage, match="maxVertexOutputComponents: expected a number"):
        spvlink.check(list(FILES), limits={"maxVertexOutputComponents": -1})
    with pytest.raises(spvlink.BadSpirv):
        spvlink.check([b"abc"])
