"""The report of a batch: totals, a line for each pipeline and each job, one line that says it all.

    {"spvlink": "0.1.0",
     "totals": {"pipelines": 3, "jobs": 2, "found": 0, "modules": [4, 5], ...},
     "reasons": [{"kind": "invalid", "reason": "...", "pipelines": 1}],
     "unknown": [{"what": "VkSomethingNew, sType 1000999000, on stages", "pipelines": 12}],
     "warnings": [{"warning": "a.frag.spv: frag input ...", "pipelines": 1}],
     "pipelines": [{"id": "water", "job": 0, "kind": "linked", "reason": null, "stages": ["a.spv"],
                    "components": [14, 9], "locations": [5, 3], "vertex_bytes": [72, 52],
                    "position_bytes": [16, 16], "primitive_bytes": [0, 0],
                    "unread_attributes": [7]}],
     "shared": [{"module": "a.vert.spv", "name": "vNormal", "slot": "5.xyz", "readers": 3,
                "pipelines": 214, "line": "a.vert.spv: vNormal 5.xyz stays: read by ..."}],
     "kept": [{"module": "a.vert.spv", "by": "hud",
              "line": "a.vert.spv stays as it is, since hud has it so"}],
     "jobs": [{"stages": [...], "interfaces": [...], "remarks": [...], ...}],
     "seconds": {...}, "summary": "3 pipelines, 2 jobs, ..."}

Pairs are [before, after]; totals of Locations, components and bytes of vertices and primitives are
sums over all pipelines. "found" are jobs that were done before, by a run that was killed, and
"stored", with ``--store``, those whose results came from there. "unknown" are structures, creation
flags and dynamic states that spvlink does not know: what has one stays as it is. "warnings" are the
errors that ``spvlink check`` finds between stages, of pipelines that were linked all the same;
"warned" in the totals are these pipelines. "shared" are outputs that a module with fewer versions
than pipelines (``--variants``) could not drop, "kept" modules that stay because a pipeline that
stays has them; "slots" in the totals, then: the Locations that all modules together declare, and
how many they would need at least, each alone. "bytes" are the sizes of archives, or of the modules
of a manifest or folder; "pruned" is how many modules ``--prune`` left out. "verified", with
``--verify``, counts links: how many were proved equal, executed equal, not proved, or not equal.
"unread_attributes" of a pipeline are the Locations that its vertex input gives and no shader has.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches import plan as plans
from spvlink.batches.pipelines import BatchPipeline, IneligiblePipeline
from spvlink.batches.results import FIGURES
from spvlink.batches.shape import VERDICTS
from spvlink.pipeline import DEFECT, FAILED, INVALID, LINKED, PASSED, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spvlink.batches.known import KnownPipeline
    from spvlink.batches.plan import BatchPlan
    from spvlink.batches.shared import SharedResults
    from spvlink.batches.store import JobStore, Record

    Entry = dict[str, object]

NAMED: Final = 3  # pipelines in a line
# The lists of a report, and what an entry of each is called in JSON Lines.
LISTS: Final = {
    "reasons": "reason", "unknown": "unknown", "warnings": "warning", "pipelines": "pipeline",
    "shared": "shared", "kept": "kept", "jobs": "job",
}  # fmt: skip
LINES: Final = ".jsonl"  # how the name of a report ends that is JSON Lines


class BatchReport:
    """Everything about a batch that is done. Entries are made when they are asked for, since there
    may be very many; ``store`` must still have the jobs."""

    def __init__(
        self,
        plan: BatchPlan,
        stays: dict[int, str],
        store: JobStore,
        version: str,
        results: SharedResults | None = None,
    ) -> None:
        self.plan = plan
        self.stays = stays  # pipelines that could not get their new modules after all, and why
        self.store = store
        self.results = results
        self.version = version
        self.seconds: dict[str, float] = {}
        self.defects = 0  # pipelines
        self.totals = self._totals()

    def _totals(self) -> Entry:
        plan = self.plan
        counts = dict.fromkeys((LINKED, UNCHANGED, "passed_through", "failed"), 0)
        count = plan.results.modules
        modules = bytearray(count), bytearray(count)  # 1: it is there
        sums = {name: [0, 0] for name in FIGURES}
        warned = 0
        for index, times in self._alike():
            kind, _ = self.outcome(index)
            self.defects += times * (kind == DEFECT)
            counts[_GROUPS.get(kind, "passed_through")] += times
            result = plan.result(index)
            if result is not None:
                warned += times * bool(result.warnings)
                stays = index in self.stays
                for at in result.before:
                    modules[0][at] = 1
                for at in result.before if stays else result.after:
                    modules[1][at] = 1
                for name, pair in result.sums.items():
                    sums[name][0] += times * pair[0]
                    sums[name][1] += times * pair[0 if stays else 1]
        slots = [one["slots"] for one in self._sets()]
        together = {"slots": [sum(s[0] for s in slots), sum(s[1] for s in slots)]} if slots else {}
        return {
            "pipelines": len(plan.jobs),
            "jobs": len(plan.keys),
            "found": self.store.done_before,
            "modules": [sum(modules[0]), sum(modules[1])],
            "bytes": list(plan.source.bytes),
            **sums,
            **counts,
            "warned": warned,
            **together,
            **({} if plan.source.pruned is None else {"pruned": plan.source.pruned}),
            **self._verified(),
            **({} if self.results is None else {"stored": self.results.taken}),
        }

    def _alike(self) -> Iterator[tuple[int, int]]:
        """Pipelines by their indexes, one of those to which the same happened, and how many these
        are."""
        firsts, counts = array("I"), array("I")  # of jobs
        firsts.extend([0] * len(self.plan.keys))
        counts.extend([0] * len(self.plan.keys))
        for index, number in enumerate(self.plan.jobs):
            if number < 0 or index in self.stays:
                yield index, 1
            else:
                firsts[number] = index
                counts[number] += 1
        for index, times in zip(firsts, counts):
            if times:
                yield index, times

    def _verified(self) -> Entry:
        results = self.plan.results
        found = (results[number].verified for number in range(len(results)))
        verdicts = [verdict for verdict in found if verdict is not None]
        if not verdicts:
            return {}
        counts = dict.fromkeys(VERDICTS.values(), 0)
        for way, outcome in verdicts:
            counts[VERDICTS.get((way, outcome)) or VERDICTS["", outcome]] += 1
        return {"verified": counts}

    def outcome(self, index: int) -> tuple[str, str | None]:
        """(kind, reason) of a pipeline."""
        if index in self.stays:
            return PASSED, self.stays[index]
        result = self.plan.result(index)
        if result is None:
            unfit = self.plan.reason(index)
            return INVALID if unfit.bad else PASSED, unfit.reason
        return result.kind, result.reason

    def reasons(self) -> list[Entry]:
        """Why pipelines were not linked, the most frequent reasons first."""
        counts: dict[tuple[str, str], int] = {}
        for index in range(len(self.plan.jobs)):
            kind, reason = self.outcome(index)
            if reason is not None:
                counts[kind, reason] = counts.get((kind, reason), 0) + 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [{"kind": k, "reason": r, "pipelines": n} for (k, r), n in ordered]

    def unknown(self) -> list[Entry]:
        """What pipelines have that spvlink does not know, the most frequent first."""
        counts: dict[str, int] = {}
        for number in self.plan.jobs:
            for what in dict.fromkeys(self.plan.reasons[~number].unknown) if number < 0 else ():
                counts[what] = counts.get(what, 0) + 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [{"what": what, "pipelines": n} for what, n in ordered]

    def warnings(self) -> list[Entry]:
        """What is wrong between the stages of pipelines as they came, the most frequent first."""
        counts: dict[str, int] = {}
        for index in range(len(self.plan.jobs)):
            result = self.plan.result(index)
            for line in result.warnings if result is not None else ():
                counts[line] = counts.get(line, 0) + 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [{"warning": line, "pipelines": n} for line, n in ordered]

    def pipelines(self) -> Iterator[Entry]:
        """An entry for each pipeline, in the order of the input."""
        for index, pipeline in enumerate(self.plan.source.pipelines()):
            yield self._pipeline(index, pipeline)

    def _pipeline(
        self, index: int, pipeline: BatchPipeline | IneligiblePipeline | KnownPipeline
    ) -> Entry:
        kind, reason = self.outcome(index)
        entry: Entry = {"id": pipeline.id, "job": None, "kind": kind, "reason": reason}
        if isinstance(pipeline, IneligiblePipeline):
            return entry
        number, result = self.plan.jobs[index], self.plan.result(index)
        assert result is not None
        stays = index in self.stays
        if not stays and result.kind in plans.BAD:
            assert isinstance(pipeline, BatchPipeline)  # what is bad is not remembered
            record = self._record(self.plan.keys[number])
            entry["reason"] = plans.reason_of(record, pipeline)
        return entry | {
            "job": number,
            "stages": pipeline.labels,
            **{name: _pair(pair, stays) for name, pair in result.sums.items()},
            "unread_attributes": list(pipeline.unread_attributes),
        }

    def shared(self) -> Iterator[Entry]:
        """What modules that pipelines share could not drop, and because of which."""
        plan = self.plan
        names, labels = self._named()
        for one in self._sets():
            numbers = [plan.number(bytes.fromhex(key)) for key in one["jobs"]]
            for line in one["shared"]:
                readers = [name for at in line["readers"] for name in names[numbers[at]]]
                among = sum(len(names[numbers[at]]) for at in line["among"])
                part, at = line["at"]
                module = labels[numbers[part]][at]
                some = ", ".join(readers[:NAMED]) + (", ..." if len(readers) > NAMED else "")
                what = f"{line['name']} {line['slot']}"
                yield {
                    "module": module,
                    "name": line["name"],
                    "slot": line["slot"],
                    "readers": len(readers),
                    "pipelines": among,
                    "line": f"{module}: {what} stays: read by {len(readers)} of {among} pipelines:"
                    f" {some}",
                }

    def kept(self) -> Iterator[Entry]:
        """Modules that stay as they are, all or one version of them, since somebody has them so."""
        plan = self.plan
        names, labels = self._named()
        for family in self._sets():
            called: dict[str, str] = {}
            for key in family["jobs"]:
                number = plan.number(bytes.fromhex(key))
                before = map(plan.results.named, plan.results[number].before)
                called.update(zip(before, labels[number]))
            for one in family["kept"]:
                by = one["by"] and names[plan.number(bytes.fromhex(one["by"]))][0]
                by = by or plan.kept.get(one["module"])
                module = called.get(one["module"])
                if module is not None:
                    why = f"{by} has it so" if by else "two entry points of it are used"
                    line = f"{module} stays as it is, since {why}"
                    yield {"module": module, "by": by, "line": line}

    def _named(self) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """The pipelines of each job, and the labels of its modules."""
        names: dict[int, list[str]] = {}
        labels: dict[int, list[str]] = {}
        for number, pipeline in zip(self.plan.jobs, self.plan.source.pipelines()):
            if not isinstance(pipeline, IneligiblePipeline):
                names.setdefault(number, []).append(plans.shown(pipeline.id))
                labels.setdefault(number, pipeline.labels)
        return names, labels

    def _sets(self) -> Iterator[dict[str, Any]]:
        """What the report says of families, each with the job that came first."""
        if self.plan.variants is not None:
            for key in self.plan.keys:
                figures: Any = self._record(key).entry.get("set")
                if figures is not None:
                    yield figures

    def jobs(self) -> Iterator[Entry]:
        """An entry for each distinct job: its stages, interfaces and remarks as in the report of
        one link, with ``at``, the index in the pipeline's stages, instead of a file, and the
        ``cells`` of each remark; ``untouched`` are the interfaces of one that is not linked."""
        for key in self.plan.keys:
            record = self._record(key)
            yield {"kind": record.kind, "reason": record.reason, **record.entry}

    def _record(self, key: bytes) -> Record:
        record = self.plan.recalled(key)
        return self.store.read(key) if record is None else record

    def line(self) -> str:
        """All of it in one line."""
        totals = self.totals
        before, after = _both(totals["locations"])
        modules_before, modules_after = _both(totals["modules"])
        size, new_size = _both(totals["bytes"])
        parts = [
            f"{totals['pipelines']} pipelines, {totals['jobs']} jobs, {modules_before} modules in,"
            f" {modules_after} out, Locations {before:,} -> {after:,},"
            f" bytes {size:,} -> {new_size:,}"
        ]
        parts += self._crossing()
        if "pruned" in totals:
            parts.append(f"{totals['pruned']} modules pruned")
        if "verified" in totals:
            counts = totals["verified"]
            assert isinstance(counts, dict)
            first, *more = counts.items()
            parts.append(f"{first[1]} of {sum(counts.values())} links {first[0]}")
            parts += [f"{count} {words}" for words, count in more if count]
        parts += [
            f"{totals[name]} {words}"
            for name, words in (
                ("passed_through", "passed through"),
                ("failed", "failed"),
                ("warned", "whose stages do not match"),
            )
            if totals[name]
        ]
        return ", ".join(parts)

    def _crossing(self) -> Iterator[str]:
        """The bytes that all vertices and primitives write, for the line."""
        for name, what in (("vertex_bytes", "vertex"), ("primitive_bytes", "primitive")):
            before, after = _both(self.totals[name])
            if before or after:
                yield f"bytes a {what} {before:,} -> {after:,}"

    def text(self) -> Iterator[str]:
        """The JSON in pieces, a line an entry."""
        yield f'{{\n  "spvlink": {json.dumps(self.version)},\n'
        yield f'  "totals": {json.dumps(self.totals)},\n'
        for name, entries in self._lists():
            yield from _array(name, entries)
        yield f'  "seconds": {json.dumps(self._seconds())},\n'
        yield f'  "summary": {json.dumps(self.line())}\n}}\n'

    def lines(self) -> Iterator[str]:
        """The same as JSON Lines, so that no reader needs all of it at once: objects with one
        member, lists an entry a line."""
        yield _line("spvlink", self.version)
        yield _line("totals", self.totals)
        for name, entries in self._lists():
            for entry in entries:
                yield _line(LISTS[name], entry)
        yield _line("seconds", self._seconds())
        yield _line("summary", self.line())

    def _lists(self) -> Iterator[tuple[str, Iterable[Entry]]]:
        yield "reasons", self.reasons()
        yield "unknown", self.unknown()
        yield "warnings", self.warnings()
        yield "pipelines", self.pipelines()
        if self.plan.variants is not None:
            yield "shared", self.shared()
            yield "kept", self.kept()
        yield "jobs", self.jobs()

    def _seconds(self) -> dict[str, float]:
        return {name: round(value, 3) for name, value in self.seconds.items()}


def _line(name: str, value: object) -> str:
    return json.dumps({name: value}) + "\n"


def _array(name: str, entries: Iterable[Entry]) -> Iterator[str]:
    yield f'  "{name}": ['
    between = "\n    "
    for entry in entries:
        yield between + json.dumps(entry)
        between = ",\n    "
    yield "],\n" if between == "\n    " else "\n  ],\n"


_GROUPS = {
    LINKED: LINKED,
    UNCHANGED: UNCHANGED,
    INVALID: "failed",
    FAILED: "failed",
    DEFECT: "failed",
}


def _pair(pair: tuple[int, int], stays: bool) -> list[int]:
    return [pair[0], pair[0 if stays else 1]]


def _both(value: object) -> tuple[int, int]:
    assert isinstance(value, list)
    return value[0], value[1]
