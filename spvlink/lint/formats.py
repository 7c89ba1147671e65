"""The findings of ``spvlink check`` as machines of others read them: SARIF and GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from spvlink.lint.report import CheckReport, Reported

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_GENERAL: Final = "spvlink"  # the rule of findings that no rule of Vulkan speaks of


def to_sarif(report: CheckReport, version: str) -> str:
    """SARIF 2.1.0 (OASIS): one run, a result for each finding, its pipeline as logical location."""
    rules = sorted({one.finding.rule or _GENERAL for one in report.found})
    driver: dict[str, object] = {
        "name": "spvlink",
        "version": version,
        "rules": [{"id": rule} for rule in rules],
    }
    results = [_result(one) for one in report.found]
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _result(one: Reported) -> dict[str, object]:
    entry = one.to_json()
    location: dict[str, object] = {}
    if one.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": quote(one.file)}}
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
    for one in report.found:
        kind = "warning" if one.finding.warning else "error"
        named = {"file": one.file, "title": one.finding.rule or ""}
        properties = ",".join(f"{k}={_escaped(v, ':,')}" for k, v in named.items() if v)
        where = f"{one.pipeline}: " if one.pipeline is not None else ""
        message = _escaped(where + one.finding.message)
        yield f"::{kind} {properties}::{message}\n".replace(" ::", "::", 1)


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
