"""``spvlink check`` in continuous integration: formats, baseline, and the same from Python."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import spvlink
from spvlink import cli
from tests.archive.writing import archive, entry
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


# -- SARIF as GitHub's code scanning takes it ------------------------------------------------------

PLACE = "runs", 0, "results", 0, "locations", 0, "physicalLocation"
RULE = "runs", 0, "tool", "driver", "rules", 0


def troubles(document: Any, root: Path) -> list[str]:
    """What SARIF 2.1.0 or GitHub's code scanning would refuse, or not show."""
    found = []

    def expect(holds: bool, what: str) -> None:
        if not holds:
            found.append(what)

    expect(document.get("version") == "2.1.0", "version")
    expect("sarif-2.1.0" in document.get("$schema", ""), "schema")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    expect(bool(driver.get("name")), "name of the tool")
    ids = [rule.get("id", "") for rule in driver["rules"]]
    expect(len(set(ids)) == len(ids) and all(ids), "ids of rules")
    for rule in driver["rules"]:
        for key in ("shortDescription", "fullDescription", "help"):
            text = rule.get(key, {}).get("text", "")
            expect(0 < len(text) <= 1024, f"{key} of a rule")
    for result in run["results"]:
        expect(result.get("ruleId") in ids, "a rule that is not there")
        expect(result.get("level") in ("none", "note", "warning", "error"), "level")
        expect(bool(result.get("message", {}).get("text")), "message")
        expect(all(result.get("partialFingerprints", {"": ""}).values()), "fingerprints")
        expect(len(result.get("locations", ())) == 1, "one location")
        for location in result.get("locations", ()):
            place = location.get("physicalLocation", {})
            uri = place.get("artifactLocation", {}).get("uri", "")
            expect(bool(re.fullmatch(r"[\w.~/%@!$&'()*+,;=-]+", uri)), "a URI")
            expect(not uri.startswith("/") and ".." not in uri.split("/"), "a relative URI")
            expect((root / unquote(uri)).is_file(), "a file that is there")
            expect(place.get("region", {}).get("startLine", 0) >= 1, "a line")
    return found


@pytest.mark.parametrize(
    "given",
    [
        ("a.vert.spv", "broken.frag.spv"),
        ("a.vert.spv:main", "broken.frag.spv:main:frag"),
        ("all.jsonl",),
        ("build/all.jsonl",),
        ("build",),
        ("HERE/build",),
        ("HERE/a.vert.spv", "HERE/build/shaders/odd #1%.frag.spv"),
        ("build/a.vert", "build/broken.frag"),
        ("damaged.foz",),
    ],
    ids=lambda given: given[-1],
)
def test_github_takes_the_sarif(
    given: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the root of a repository: stages, manifests and folders in it, sources, an archive."""
    shaders = here / "build" / "shaders"
    shaders.mkdir(parents=True)
    (here / "build" / "a.vert").write_text(VERT)
    (here / "build" / "broken.frag").write_text(BROKEN)
    shutil.copy("a.vert.spv", shaders / "odd #1%.vert.spv")
    shutil.copy("broken.frag.spv", shaders / "odd #1%.frag.spv")
    (here / "build" / "spvlink.toml").write_text(
        '[[pipeline]]\nid = "odd"\n'
        'stages = ["shaders/odd #1%.vert.spv", "shaders/odd #1%.frag.spv"]'
    )
    stages = [{"file": f"shaders/odd #1%.{stage}.spv"} for stage in ("vert", "frag")]
    (here / "build" / "all.jsonl").write_text(json.dumps({"id": "odd", "stages": stages}))
    raw = entry(6, 1, {"version": 6, "graphicsPipelines": {f"{1:016x}": {}}})
    (here / "damaged.foz").write_bytes(archive(raw))
    words = [word.replace("HERE", str(here)) for word in given]
    text = printed(capsys, *words, "--format", "sarif")[1]
    document = json.loads(text)
    assert document["runs"][0]["results"]
    assert troubles(document, here) == []


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("version",), "2.0.0", "version"),
        ((*RULE, "id"), "another", "a rule that is not there"),
        ((*RULE, "help"), {}, "help of a rule"),
        ((*PLACE, "region", "startLine"), 0, "a line"),
        ((*PLACE, "artifactLocation", "uri"), "../a.spv", "a relative URI"),
        ((*PLACE, "artifactLocation", "uri"), "/a.spv", "a relative URI"),
        ((*PLACE, "artifactLocation", "uri"), "no.spv", "a file that is there"),
        ((*PLACE, "artifactLocation", "uri"), "a b", "a URI"),
        (("runs", 0, "results", 0, "level"), "bad", "level"),
    ],
)
def test_the_rules_of_github_can_fail(
    place: tuple[str | int, ...],
    value: object,
    says: str,
    here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document: Any = json.loads(printed(capsys, *FILES, "--format", "sarif")[1])
    assert troubles(document, here) == []
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    assert says in troubles(document, here)


def test_annotations_name_files_of_the_repository(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A workflow runs in its root: an annotation of a file that is not there would be lost."""
    folder = here / "build"
    folder.mkdir()
    for name in (*FILES, "all.jsonl"):
        shutil.copy(name, folder)
    for words in (("build/all.jsonl",), (str(folder / "all.jsonl"),)):
        lines = printed(capsys, *words, "--format", "github")[1].splitlines()
        files = {re.match(r"::\w+ file=([^,:]+)", line)[1] for line in lines}  # type: ignore[index]
        assert files == {"build/a.vert.spv", "build/broken.frag.spv"}


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
    line = f"1 pipeline: 0 errors, 0 warnings; {count} of the baseline; 44 bytes a vertex"
    assert (status, text) == (0, f"{line}, 16 for position\n")
    worse = BROKEN.replace("5, component = 1", "6, component = 1")
    (here / "broken.frag.spv").write_bytes(compile_glsl(worse, "frag"))
    status, text = printed(capsys, *FILES, "--baseline", "known.json")
    assert status == 1 and f"1 error, 0 warnings; {count - 1} of the baseline;" in text


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
    kinds = ["warning" if f.warning else "error" for f in findings]
    assert repr(findings) == f"[{', '.join(f'<{k}: {f}>' for k, f in zip(kinds, findings))}]"
    tight = spvlink.check([Path(FILES[0])], limits={"maxVertexOutputComponents": 4}, complete=True)
    assert "exceed maxVertexOutputComponents (4)" in tight[0].message
    assert [f.warning for f in tight].count(True) == 3  # outputs that nobody will ever read
    with pytest.raises(spvlink.Usage, match="maxVertexOutputComponents: expected a number"):
        spvlink.check(list(FILES), limits={"maxVertexOutputComponents": -1})
    with pytest.raises(spvlink.BadSpirv):
        spvlink.check([b"abc"])
