"""All that ``spvlink check`` found, as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from spvlink.errors import Usage
from spvlink.report import BYTES, bytes_line
from spvlink.varying_bytes import sum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spvlink.link.check.findings import Finding
    from spvlink.lint.diet import Diet
    from spvlink.lint.potential import Potential
    from spvlink.pipeline import Sizes

_NAMED: Final = 3  # pipelines that a line names, before it only counts them
_KNOWN_BY: Final = (
    "pipeline", "producer", "consumer", "name", "location", "component", "rule", "message",
)  # fmt: skip


class Reported:
    """A finding, its pipeline (None: that of stage files) and the file to look at."""

    __slots__ = ("file", "finding", "pipeline")

    def __init__(self, pipeline: str | None, finding: Finding, file: str) -> None:
        self.pipeline = pipeline
        self.finding = finding
        self.file = file

    def to_json(self) -> dict[str, object]:
        place = self.finding.place or (None, None)
        return {
            "pipeline": self.pipeline,
            "producer": self.finding.producer,
            "consumer": self.finding.consumer,
            "name": self.finding.name,
            "location": place[0],
            "component": place[1],
            "rule": self.finding.rule,
            "message": self.finding.message,
            "file": self.file,
        }


class Baseline:
    """Findings that were known before: those of an earlier run's JSON."""

    def __init__(self, path: str) -> None:
        """Read the file. Raises Usage."""
        try:
            with open(path, "rb") as file:
                document = json.load(file)
            lists = document["errors"] + document["warnings"]
            self.known = {tuple(one[name] for name in _KNOWN_BY) for one in lists}
        except OSError as error:
            raise Usage(f"{path}: cannot read it: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise Usage(f"{path}: not JSON: {error}") from None
        except (KeyError, TypeError):
            raise Usage(f"{path}: expected what `spvlink check --json` printed") from None

    def has(self, one: Reported) -> bool:
        entry = one.to_json()
        return tuple(entry[name] for name in _KNOWN_BY) in self.known


class CheckReport:
    """All findings of a run. ``pipelines``: how many were looked at, those that could not be read
    among them. ``old``: how many findings the baseline has, which are in no list."""

    def __init__(self, baseline: Baseline | None = None) -> None:
        self.pipelines = 0
        self.potential: Potential | None = None  # if it is asked for
        self.diet: Diet | None = None  # the same
        self.baseline = baseline
        self.old = 0
        self.findings: list[Reported] = []
        self.sizes: Sizes = (0, 0, 0)  # bytes that the stages of all pipelines hand on

    def add(
        self,
        pipeline: str | None,
        findings: Iterable[Finding],
        files: dict[str, str],
        sizes: Sizes = (0, 0, 0),
    ) -> None:
        """``files``: by stage, "" for findings about no stage."""
        self.pipelines += 1
        self.sizes = sum_of((self.sizes, sizes))
        for finding in findings:
            file = files.get(finding.about) or files.get("", "")
            one = Reported(pipeline, finding, file)
            if self.baseline is not None and self.baseline.has(one):
                self.old += 1
            else:
                self.findings.append(one)

    @property
    def errors(self) -> int:
        return sum(not one.finding.warning for one in self.findings)

    def to_json(self) -> str:
        """As the contract has it: {"pipelines", "errors", "warnings"}, and sums of bytes."""
        both: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
        for one in self.findings:
            both[one.finding.warning].append(one.to_json())
        document: dict[str, object] = {"pipelines": self.pipelines}
        document |= {"errors": both[0], "warnings": both[1]}
        document |= dict(zip(BYTES, self.sizes))
        if self.potential is not None:
            document["potential"] = self.potential.to_json()
        if self.diet is not None:
            document["diet"] = self.diet.to_json()
        return json.dumps(document, indent=1) + "\n"

    def _bytes(self) -> str:
        vertex, position, primitive = [(size, size) for size in self.sizes]
        line = bytes_line(vertex, position, primitive)
        return f"; {line}" if line else ""

    def to_text(self) -> Iterator[str]:
        """Lines for people: equal findings of several pipelines are one, with their names."""
        groups: dict[tuple[object, ...], tuple[Finding, list[str]]] = {}
        for one in self.findings:
            names = groups.setdefault(one.finding.key(), (one.finding, []))[1]
            if one.pipeline is not None and (not names or names[-1] != one.pipeline):
                names.append(one.pipeline)
        where = None
        for finding, names in sorted(groups.values(), key=lambda g: (g[1][:1], g[0].border)):
            here = _of_pipelines(names, finding.border)
            if here != where:
                yield f"{here}\n" if here else ""
                where = here
            yield from _lines(finding)
        count = self.errors
        both = _count(count, "error"), _count(len(self.findings) - count, "warning")
        old = f"; {self.old} of the baseline" if self.baseline is not None else ""
        yield f"{_count(self.pipelines, 'pipeline')}: {', '.join(both)}{old}{self._bytes()}\n"
        if self.potential is not None:
            yield from self.potential.to_text()
        if self.diet is not None:
            yield from self.diet.to_text()


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
