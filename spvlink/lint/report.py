"""All that ``spvlink check`` found, as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spvlink.link.check.findings import Finding
    from spvlink.lint.potential import Potential

_NAMED: Final = 3  # pipelines that a line names, before it only counts them


class CheckReport:
    """All findings of a run. ``pipelines``: how many were looked at, those that could not be read
    among them."""

    def __init__(self) -> None:
        self.pipelines = 0
        self.potential: Potential | None = None  # if it is asked for
        self.found: list[tuple[str | None, Finding]] = []  # (pipeline, what)

    def add(self, pipeline: str | None, findings: Iterable[Finding]) -> None:
        self.pipelines += 1
        self.found += [(pipeline, finding) for finding in findings]

    @property
    def errors(self) -> int:
        return sum(not finding.warning for _, finding in self.found)

    def to_json(self) -> str:
        """As the contract has it: {"pipelines", "errors", "warnings"}."""
        both: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
        for pipeline, finding in self.found:
            both[finding.warning].append(_object(pipeline, finding))
        told: dict[str, object] = {"pipelines": self.pipelines}
        told |= {"errors": both[0], "warnings": both[1]}
        if self.potential is not None:
            told["potential"] = self.potential.to_json()
        return json.dumps(told, indent=1) + "\n"

    def to_text(self) -> Iterator[str]:
        """Lines for people: equal findings of several pipelines are one, with their names."""
        groups: dict[tuple[object, ...], tuple[Finding, list[str]]] = {}
        for pipeline, finding in self.found:
            names = groups.setdefault(finding.key(), (finding, []))[1]
            if pipeline is not None and (not names or names[-1] != pipeline):
                names.append(pipeline)
        where = None
        for finding, names in sorted(groups.values(), key=lambda g: (g[1][:1], g[0].border)):
            here = _of_pipelines(names, finding.border)
            if here != where:
                yield f"{here}\n" if here else ""
                where = here
            yield from _lines(finding)
        count = self.errors
        both = _count(count, "error"), _count(len(self.found) - count, "warning")
        yield f"{_count(self.pipelines, 'pipeline')}: {', '.join(both)}\n"
        if self.potential is not None:
            yield from self.potential.to_text()


def _object(pipeline: str | None, finding: Finding) -> dict[str, object]:
    place = finding.place or (None, None)
    return {
        "pipeline": pipeline,
        "producer": finding.producer,
        "consumer": finding.consumer,
        "name": finding.name,
        "location": place[0],
        "component": place[1],
        "rule": finding.rule,
        "message": finding.message,
    }


def _of_pipelines(names: list[str], border: str) -> str:
    if not names:
        return border
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more + (f": {border}" if border else "")


def _lines(finding: Finding) -> Iterator[str]:
    kind = "warning" if finding.warning else "error"
    yield f"  {kind}: {finding.message}\n"
    if finding.rule is not None and not finding.warning:
        yield f"      {finding.rule}\n"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
