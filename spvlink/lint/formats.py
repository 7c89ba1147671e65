"""The findings of ``spvlink check`` as machines of others read them: SARIF and GitHub."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from spvlink.lint.report import CheckReport, Reported

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_GENERAL: Final = "spvlink"  # the rule of findings that no rule of Vulkan speaks of
_ANY: Final = "A rule of the Vulkan specification about the stages of a pipeline"
# GitHub shows the description of a rule above its alerts, and refuses a rule without one.
_DESCRIPTIONS: Final = {
    _GENERAL: "A value between stages is undefined, or a pipeline could not be checked",
    "VUID-RuntimeSpirv-OpEntryPoint-08743": "An input component has no output in the stage before",
    "VUID-RuntimeSpirv-OpEntryPoint-07754": "An input and its output differ in type or width",
    "VUID-RuntimeSpirv-OpVariable-08746": "An input and its output differ in their decorations",
    "VUID-RuntimeSpirv-maintenance4-06817": "An output vector is longer than its input",
    "VUID-RuntimeSpirv-Location-06272": "A stage has more components than the device has",
    "VUID-StandaloneSpirv-Flat-04744": "An integer or a double of a fragment shader is not Flat",
    "VUID-StandaloneSpirv-Input-10604": "Inputs of one Location differ in interpolation",
    "VUID-StandaloneSpirv-OpEntryPoint-08721": "Inputs of one stage overlap",
    "VUID-StandaloneSpirv-OpEntryPoint-08722": "Outputs of one stage overlap",
    "WARNING-Shader-OutputNotConsumed": "No stage reads an output component",
}


def to_sarif(report: CheckReport, version: str) -> str:
    """SARIF 2.1.0 (OASIS): one run, a result for each finding, its pipeline as logical location."""
    rules = sorted({one.finding.rule or _GENERAL for one in report.findings})
    driver: dict[str, object] = {
        "name": "spvlink",
        "version": version,
        "rules": [_rule(name) for name in rules],
    }
    results = [_result(one) for one in report.findings]
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(name: str) -> dict[str, object]:
    text = {"text": _DESCRIPTIONS.get(name, _ANY)}
    where = f"Look for {name} in the Vulkan specification." if name.startswith("VUID-") else ""
    help = {"text": where or "spvlink check --help says what is checked."}
    return {"id": name, "shortDescription": text, "fullDescription": text, "help": help}


def _inside(file: str) -> str | None:
    """Relative to where the command runs, which is the root of the sources, with slashes; None of a
    file outside of it."""
    place = Path(os.path.abspath(file))
    try:
        return place.relative_to(os.path.abspath(os.curdir)).as_posix()
    except ValueError:
        return None


def _uri(file: str) -> str:
    inside = _inside(file)
    return Path(os.path.abspath(file)).as_uri() if inside is None else quote(inside)


def _result(one: Reported) -> dict[str, object]:
    entry = one.to_json()
    location: dict[str, object] = {}
    if one.file:
        # SPIR-V has no lines, and GitHub shows only results that have one
        place = {"artifactLocation": {"uri": _uri(one.file)}, "region": {"startLine": 1}}
        location["physicalLocation"] = place
    if one.pipeline is not None:
        location["logicalLocations"] = [{"name": one.pipeline, "kind": "pipeline"}]
    same = sha256(json.dumps(entry).encode()).hexdigest()
    result: dict[str, object] = {
        "ruleId": one.finding.rule or _GENERAL,
        "level": "warning" if one.finding.warning else "error",
        "message": {"text": one.finding.message},
        "partialFingerprints": {"spvlink/v1": same},
    }
    if location:
        result["locations"] = [location]
    return result


def to_github(report: CheckReport) -> Iterator[str]:
    """Workflow commands: GitHub shows each as an annotation of the file."""
    for one in report.findings:
        kind = "warning" if one.finding.warning else "error"
        file = one.file and (_inside(one.file) or one.file)
        named = {"file": file, "title": one.finding.rule or ""}
        properties = ",".join(f"{k}={_escaped(v, ':,')}" for k, v in named.items() if v)
        where = f"{one.pipeline}: " if one.pipeline is not None else ""
        message = _escaped(where + one.finding.message)
        yield f"::{kind} {properties}::{message}\n".replace(" ::", "::", 1)


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
