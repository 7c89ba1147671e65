"""What the page shows, as compact JSON: every text, remark and job once.

    {"spvlink", "title", "line", "totals",
     "chart": [[Locations, pipelines before, pipelines after]], "most": [GAIN], "least": [GAIN],
     "reasons": [[kind, text, pipelines]], "unknown": [["what", pipelines]],
     "kinds": [text], "actions": [text], "texts": [text],
     "remarks": [[border, name, slot, action, why, cells before, cells after]],
     "jobs": [[kind, reason, [STAGE], [BORDER], [remark] or null]],
     "pipelines": [[id, job or -1, [stage file], kind, reason, own]], "more": N}

``GAIN`` is [job, first pipeline, pipelines]. ``STAGE``: [stage, index in the pipeline's files,
instructions before, after, bytes before, after]. ``BORDER``: [producer, consumer, components
before, after, Locations before, after, bytes a vertex before, after, of these for position before,
after, bytes a primitive before, after]. Names, reasons and the like are indices of ``texts``, -1
for none; cells are runs, [first, count, first, count ...]. Of a pipeline, what follows the files is
there only if it is not as its job says: ``own`` is 1 if it kept its modules.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from spvlink.pipeline import ACTIONS
from spvlink.report import BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Entry = dict[str, Any]
    Row = list[Any]

LINKED: Final = "linked"  # kind of a pipeline that has new modules
# What bounds the size of a page, however large the batch is.
MOST_PIPELINES: Final = 200_000  # that are listed
MOST_REMARKS: Final = 1_000_000  # of all jobs; later jobs have no picture
MOST_CHARACTERS: Final = 400  # of a name or a reason
TOP: Final = 10  # pipelines that gained most, and least


class JobTotals:
    """What became of a job, as far as totals go."""

    __slots__ = ("components", "count", "first", "kind", "locations", "reason", "seen", "size")

    def __init__(self, entry: Entry) -> None:
        self.kind: str = entry["kind"]
        self.reason: str | None = entry["reason"]
        self.seen = bool(entry.get("interfaces"))  # its figures mean something
        self.locations = _sum(entry.get("interfaces", ()), "locations")
        self.components = _sum(entry.get("interfaces", ()), "components")
        self.size = _sum(entry.get("stages", ()), "bytes")
        self.first = -1  # pipeline
        self.count = 0  # pipelines that have its modules

    def gain(self) -> tuple[int, int, int]:
        """Locations, components and bytes saved."""
        pairs = (self.locations, self.components, self.size)
        return pairs[0][0] - pairs[0][1], pairs[1][0] - pairs[1][1], pairs[2][0] - pairs[2][1]


class Page:
    """Everything for one page. ``jobs`` and ``pipelines`` are entries as the report of a batch has
    them, each remark with its ``cells``; of a job that is not linked, ``untouched`` has the
    interfaces as they are."""

    def __init__(self, head: Entry, jobs: Iterable[Entry], pipelines: Iterable[Entry]) -> None:
        self.head = head
        self.texts: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        self.remarks: dict[tuple[object, ...], int] = {}
        self.remark_count = 0  # remarks of all jobs
        self.chart: dict[int, list[int]] = {}
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.results: list[JobTotals] = []
        self.jobs = [_dumps(self._job(entry)) for entry in jobs]
        self.rows: list[str] = []
        self.more = 0
        for index, entry in enumerate(pipelines):
            row = self._pipeline(index, entry)
            if index < MOST_PIPELINES:
                self.rows.append(_dumps(row))
            else:
                self.more += 1

    def json(self) -> Iterator[str]:
        """The object, in pieces."""
        yield "{"
        for name, value in {**self.head, **self._totals()}.items():
            yield f"{_dumps(name)}:{_dumps(value)},\n"
        for name, table in (("kinds", self.kinds), ("texts", self.texts)):
            yield f'"{name}":{_dumps(list(table))},\n'
        yield f'"remarks":{_dumps(list(self.remarks))},\n'
        yield f'"actions":{_dumps(ACTIONS)},\n'
        yield f'"jobs":[{",".join(self.jobs)}],\n'
        yield f'"pipelines":[{",".join(self.rows)}],\n"more":{self.more}}}'

    def _totals(self) -> Entry:
        linked = [n for n, r in enumerate(self.results) if r.kind == LINKED and r.count]
        gains = [(*self.results[n].gain(), -n) for n in linked]
        most = heapq.nlargest(TOP, gains)
        least = heapq.nsmallest(TOP, set(gains).difference(most))
        reasons = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        return {
            "chart": [[n, *pair] for n, pair in sorted(self.chart.items())],
            "most": [self._gain(-gain[-1]) for gain in most],
            "least": [self._gain(-gain[-1]) for gain in least],
            "reasons": [[self._kind(k), self._text(r), n] for (k, r), n in reasons],
        }

    def _gain(self, number: int) -> Row:
        result = self.results[number]
        return [number, result.first, result.count]

    def _text(self, text: str | None) -> int:
        return -1 if text is None else self.texts.setdefault(_short(text), len(self.texts))

    def _kind(self, kind: str) -> int:
        return self.kinds.setdefault(kind, len(self.kinds))

    def _job(self, entry: Entry) -> Row:
        entry = {**entry, **entry.get("untouched", {})}
        result = JobTotals(entry)
        self.results.append(result)
        stages = [
            [self._text(s["stage"]), s["at"], *s["instructions"], *s["bytes"]]
            for s in entry.get("stages", ())
        ]
        borders = [
            [self._text(i["producer"]), self._text(i["consumer"]), *i["components"]]
            + [*i["locations"], *(figure for name in BYTES for figure in i[name])]
            for i in entry.get("interfaces", ())
        ]
        remarks = entry.get("remarks", ())
        self.remark_count += len(remarks)
        row: Row = [self._kind(result.kind), self._text(result.reason), stages, borders]
        row.append(
            [self._remark(r) for r in remarks] if self.remark_count <= MOST_REMARKS else None
        )
        return row

    def _remark(self, entry: Entry) -> int:
        before, after = entry["cells"]
        row = (
            self._text(entry["interface"]),
            self._text(entry["name"]),
            self._text(entry["slot"]),
            ACTIONS.index(entry["action"]),
            self._text(entry["why"]),
            runs(before),
            runs(after),
        )
        return self.remarks.setdefault(row, len(self.remarks))

    def _pipeline(self, index: int, entry: Entry) -> Row:
        number = -1 if entry["job"] is None else int(entry["job"])
        kind, reason = entry["kind"], entry["reason"]
        row: Row = [
            _short(entry["id"]),
            number,
            [self._text(file) for file in entry.get("stages", ())],
        ]
        locations = (0, 0)
        group = reason
        if number >= 0:
            result = self.results[number]
            own = kind != result.kind  # the job was done, but its modules could not be used
            locations = result.locations
            if own:
                locations = (locations[0], locations[0])
            else:
                group = result.reason
                result.count += 1
                result.first = index if result.first < 0 else result.first
            text = self._text(reason)
            if own or text != self._text(result.reason):
                row += [self._kind(kind), text, int(own)]
            for side in (0, 1) if result.seen else ():
                self.chart.setdefault(locations[side], [0, 0])[side] += 1
        else:
            row += [self._kind(kind), self._text(reason), 1]
        if group is not None:
            self.reasons[kind, group] += 1
        return row


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def runs(cells: Iterable[int]) -> tuple[int, ...]:
    """[4, 5, 6, 9] as (4, 3, 9, 1)."""
    flat: list[int] = []
    for cell in sorted(set(cells)):
        if flat and cell == flat[-2] + flat[-1]:
            flat[-1] += 1
        else:
            flat += (cell, 1)
    return tuple(flat)


def _sum(entries: Iterable[Entry], name: str) -> tuple[int, int]:
    pairs = [entry[name] for entry in entries]
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
