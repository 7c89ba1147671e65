"""What got better and worse since an earlier build: ``--compare OLD-REPORT``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.plan import shown
from spvlink.batches.summary import LINES
from spvlink.errors import Usage
from spvlink.pipeline import DEFECT, FAILED, INVALID, LINKED, PASSED, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Entry = dict[str, Any]

# Figures of a pipeline, and what they are called. All of them are better if they are smaller.
FIGURES: Final = {
    "locations": "Locations",
    "components": "components",
    "instructions": "instructions",
    "bytes": "bytes",
}
TOTALS: Final = {"modules": "modules", **FIGURES}
_KINDS: Final = (LINKED, UNCHANGED, PASSED, INVALID, FAILED, DEFECT)
_DONE: Final = (LINKED, UNCHANGED)  # kinds that have figures
_LIMIT: Final = 4 << 30  # bytes of a report that is one document
_LINE_LIMIT: Final = 64 << 20  # bytes of an entry


class PipelineFigures:
    """Of one pipeline: its kind, the reason if it is not linked, and the figures after linking, in
    the order of FIGURES."""

    __slots__ = ("figures", "kind", "reason")

    def __init__(self, kind: str, reason: str, figures: tuple[int, ...]) -> None:
        self.kind = kind
        self.reason = reason
        self.figures = figures


def _read(jobs: Iterable[Entry], pipelines: Iterable[Entry]) -> dict[str, PipelineFigures]:
    """The figures of each pipeline of a report. Raises LookupError, TypeError or ValueError if it
    is none."""
    sums = [tuple(_sum(job, name) for name in ("instructions", "bytes")) for job in jobs]
    found: dict[str, PipelineFigures] = {}
    for one in pipelines:
        kind, reason = one["kind"], one["reason"]
        figures: tuple[int, ...] = (0,) * len(FIGURES)
        if kind not in _KINDS or not isinstance(one["id"], str):
            raise ValueError
        if kind in _DONE:
            if type(one["job"]) is not int or one["job"] < 0:
                raise ValueError
            own = (_after(one["locations"]), _after(one["components"]))
            figures = (*own, *sums[one["job"]])
        if one["id"] in found:
            raise ValueError
        found[one["id"]] = PipelineFigures(kind, str(reason or ""), figures)
    return found


def _after(pair: Any) -> int:
    _, after = pair
    if type(after) is not int:
        raise TypeError
    return after


def _sum(job: Entry, name: str) -> int:
    return sum(_after(stage[name]) for stage in job.get("stages", ()))


def _document(path: str) -> Any:
    with open(path, "rb") as file:
        data = file.read(_LIMIT + 1)
    return json.loads(data) if len(data) <= _LIMIT else None


def _entries(path: str, name: str) -> Iterator[Any]:
    """What the lines of a report in JSON Lines hold that have this member."""
    with open(path, "rb") as file:
        while line := file.readline(_LINE_LIMIT):
            entry = json.loads(line)
            if name in entry:
                yield entry[name]


class OldReport:
    """The report of an earlier build. Raises Usage if the file is none."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            if path.endswith(LINES):
                totals = next(_entries(path, "totals"))
                jobs, pipelines = _entries(path, "job"), _entries(path, "pipeline")
            else:
                report = _document(path)
                totals, jobs, pipelines = (report[n] for n in ("totals", "jobs", "pipelines"))
            self.totals: Entry = totals
            self.pipelines = _read(jobs, pipelines)
            if len(self.pipelines) != totals["pipelines"]:
                raise ValueError  # cut off
            for name in ("locations", "components", "modules", "bytes"):
                _after(self.totals[name])
        except OSError as error:
            raise Usage(f"{path}: cannot read it: {error.strerror}") from None
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Usage(f"--compare {path}: not JSON: {error}") from None
        except (AttributeError, LookupError, StopIteration, TypeError, ValueError):
            why = "this is no report of spvlink batch --report"
            raise Usage(f"--compare {path}: {why}") from None

    def compare(
        self, totals: Entry, jobs: Iterable[Entry], pipelines: Iterable[Entry]
    ) -> BatchComparison:
        """The same set now."""
        return BatchComparison(self, totals, _read(jobs, pipelines))


class BatchComparison:
    """What changed since an old report. Lists of (pipeline, what changed)."""

    def __init__(self, old: OldReport, totals: Entry, now: dict[str, PipelineFigures]) -> None:
        self.worse: list[tuple[str, str]] = []
        self.better: list[tuple[str, str]] = []
        self.new = [name for name in now if name not in old.pipelines]
        self.gone = [name for name in old.pipelines if name not in now]
        self.same = 0
        for name, before in old.pipelines.items():
            if name in now:
                self._compare(name, before, now[name])
        self.totals = {
            name: (_total(name, old.totals, old.pipelines), _total(name, totals, now))
            for name in TOTALS
        }

    def _compare(self, name: str, before: PipelineFigures, after: PipelineFigures) -> None:
        if before.kind in _DONE and after.kind not in _DONE:
            self.worse.append((name, f"{before.kind} before, now {after.kind}: {after.reason}"))
        elif before.kind not in _DONE and after.kind in _DONE:
            self.better.append((name, f"{before.kind} before, now {after.kind}"))
        elif before.figures != after.figures:
            pairs = list(zip(FIGURES.values(), before.figures, after.figures))
            parts = [f"{words} {old:,} -> {new:,}" for words, old, new in pairs if old != new]
            grown = any(old < new for _, old, new in pairs)
            (self.worse if grown else self.better).append((name, ", ".join(parts)))
        else:
            self.same += 1

    def worse_totals(self) -> list[str]:
        """The totals that grew, if the pipelines are the same ones: what a set shares is in no
        pipeline's figures."""
        if self.new or self.gone:
            return []
        return [TOTALS[name] for name, (old, new) in self.totals.items() if new > old]

    def worse_line(self) -> str:
        """What got worse, in one line; empty if nothing did."""
        parts = []
        if self.worse:
            parts.append(f"{len(self.worse)} pipeline{'s' * (len(self.worse) > 1)}")
        if grown := self.worse_totals():
            parts.append(f"the totals of {', '.join(grown)}")
        return f"worse than in the old report: {', and '.join(parts)}" if parts else ""

    def text(self) -> Iterator[str]:
        """A line for each pipeline that changed, and the totals of the set then and now."""
        for title, entries in (("worse", self.worse), ("better", self.better)):
            for name, what in entries:
                yield f"{title}: {shown(name)}: {what}\n"
        for title, names in (("new", self.new), ("gone", self.gone)):
            for name in names:
                yield f"{title}: {shown(name)}\n"
        counts = (
            (len(self.worse), "worse"), (len(self.better), "better"), (self.same, "the same"),
            (len(self.new), "new"), (len(self.gone), "gone"),
        )  # fmt: skip
        yield f"pipelines: {', '.join(f'{number} {word}' for number, word in counts)}\n"
        sums = [f"{TOTALS[name]} {old:,} -> {new:,}" for name, (old, new) in self.totals.items()]
        yield f"then -> now: {', '.join(sums)}\n"


def _total(name: str, totals: Entry, pipelines: dict[str, PipelineFigures]) -> int:
    if name in totals:
        return _after(totals[name])
    at = list(FIGURES).index(name)
    return sum(one.figures[at] for one in pipelines.values())
