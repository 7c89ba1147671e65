"""Many pipelines in processes of their own, and the table of what became of them."""

from __future__ import annotations

import hashlib
import queue
import random
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spvlink.draw.batch import Crashed, run_isolated

from .build import Code, Pipeline, Skipped, pipelines
from .check import (
    DEFECT,
    DIFFERENT,
    EQUAL,
    FOLDED,
    KINDS,
    LINKED,
    MODES,
    NOTHING,
    PASSED,
    REFUSED,
    Verdict,
    check,
    draws,
    plain,
)
from .shader import Group

Check = Callable[[Sequence[Code], str, bool, str | None], Verdict]


@dataclass
class Settings:
    modes: tuple[str, ...] = MODES
    draw: int = 0  # pipelines of an origin that are drawn, at most
    jobs: int = 1
    validator: str | None = None
    seed: int = 0  # of the order, and of the stages that are written
    limit: int | None = None  # pipelines of an origin
    timeout: float = 60.0  # seconds for one pipeline in one mode
    debug: bool = False  # GLSL is compiled with debug information


@dataclass
class Tally:
    """What became of the pipelines of one origin in one mode."""

    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    drawn: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: Verdict) -> None:
        self.outcomes[verdict.outcome] += 1
        if verdict.reason:
            self.reasons[verdict.outcome, plain(verdict.reason)] += 1
        for kind in {kind for kind, _ in verdict.findings}:
            self.kinds[kind] += 1
        if verdict.drawn:
            self.drawn[plain(verdict.drawn)] += 1


class Hunt:
    """One run. skipped: (origin, reason) -> how many shaders; tallies by (origin, mode)."""

    def __init__(self, settings: Settings, checker: Check = check) -> None:
        self.settings = settings
        self.checker = checker  # importable: it runs in another process
        self.skipped: Counter[tuple[str, str]] = Counter()
        self.tallies: dict[tuple[str, str], Tally] = {}
        self.seen: set[bytes] = set()
        self.taken: Counter[str] = Counter()  # origin -> pipelines
        self.doubles: Counter[str] = Counter()
        self.partnered: Counter[str] = Counter()
        self.left: dict[tuple[str, str], int] = {}  # (origin, mode) -> draws still to do
        self.undrawable: set[tuple[Code, ...]] = set()
        self.lock = threading.Lock()

    def run(self, groups: Iterable[Group]) -> Iterator[tuple[Pipeline, Verdict]]:
        """Checks all groups of one origin, in an order that the seed says."""
        every = list(groups)
        random.Random(self.settings.seed).shuffle(every)
        todo = iter(every)
        results: queue.Queue[tuple[Pipeline, Verdict] | BaseException | None] = queue.Queue()
        workers = [
            threading.Thread(target=self._work, args=(todo, results), daemon=True)
            for _ in range(self.settings.jobs)
        ]
        for worker in workers:
            worker.start()
        running = len(workers)
        while running:
            result = results.get()
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                raise result
            else:
                pipeline, verdict = result
                key = pipeline.origin, verdict.mode
                self.tallies.setdefault(key, Tally()).add(verdict)
                yield result

    def _work(
        self,
        todo: Iterator[Group],
        results: queue.Queue[tuple[Pipeline, Verdict] | BaseException | None],
    ) -> None:
        try:
            with tempfile.TemporaryDirectory() as folder:
                jobs: list[tuple[Pipeline, str, bool]] = []
                each = self._jobs(todo, Path(folder), jobs)
                answers = run_isolated(self.checker, each, self.settings.timeout)
                for answer in answers:
                    pipeline, mode, drawing = jobs.pop(0)
                    if isinstance(answer, Exception):
                        answer = self._failed(pipeline, mode, drawing, answer)
                    if answer.drawn in (EQUAL, FOLDED, DIFFERENT):
                        with self.lock:
                            self.left[pipeline.origin, mode] -= 1
                    results.put((pipeline, answer))
        except BaseException as error:
            results.put(error)
        results.put(None)

    def _jobs(
        self, todo: Iterator[Group], folder: Path, jobs: list[tuple[Pipeline, str, bool]]
    ) -> Iterator[tuple[Sequence[Code], str, bool, str | None]]:
        while True:
            with self.lock:
                group = next(todo, None)
            if group is None or self._is_enough(group.origin):
                return
            for pipeline in pipelines(group, folder, self.settings.seed, self.settings.debug):
                if isinstance(pipeline, Skipped):
                    with self.lock:
                        self.skipped[group.origin, plain(str(pipeline))] += 1
                    continue
                if not self._is_new(pipeline):
                    continue
                for mode in self.settings.modes:
                    key = pipeline.origin, mode
                    drawing = self.left.setdefault(key, self.settings.draw) > 0
                    drawing = drawing and pipeline.codes not in self.undrawable
                    jobs.append((pipeline, mode, drawing))
                    yield pipeline.codes, mode, drawing, self.settings.validator

    def _is_enough(self, origin: str) -> bool:
        limit = self.settings.limit
        return limit is not None and self.taken[origin] >= limit

    def _is_new(self, pipeline: Pipeline) -> bool:
        """The same shaders lie in many places; a partner is not what makes a pipeline new."""
        digest = hashlib.sha256()
        for stage, (data, entry) in zip(pipeline.stages, pipeline.codes):
            if stage not in pipeline.made:
                digest.update(entry.encode() + b"\0" + data)
        with self.lock:
            key = digest.digest()
            if key in self.seen:
                self.doubles[pipeline.origin] += 1
                return False
            self.seen.add(key)
            self.taken[pipeline.origin] += 1
            self.partnered[pipeline.origin] += bool(pipeline.made)
        return True

    def _failed(self, pipeline: Pipeline, mode: str, drawing: bool, error: Exception) -> Verdict:
        """A process that crashed, hung or raised: who is to blame? Drawing is tried alone."""
        settings = self.settings
        verdict = Verdict(mode)
        if isinstance(error, Crashed) and drawing:
            jobs = [(pipeline.codes, mode, False, settings.validator)]
            (again,) = run_isolated(self.checker, jobs, settings.timeout)
            if isinstance(again, Verdict):
                (alone,) = run_isolated(draws, [(pipeline.codes,)], settings.timeout / 2)
                if isinstance(alone, str) and not alone:
                    again.drawn = DIFFERENT
                    again.findings.append((DIFFERENT, f"only the linked one: {error}"))
                else:
                    again.drawn = f"original not drawn: {alone}"
                    self.undrawable.add(pipeline.codes)
                return again
            error = again
        verdict.outcome, verdict.reason = DEFECT, str(error)
        verdict.findings.append((DEFECT, str(error)))
        return verdict

    # -- the table -------------------------------------------------------------------------

    def table(self) -> Iterator[str]:
        """Lines: a row an origin and mode, then reasons."""
        heads = ("linked", "nothing", "passed", "refused", *KINDS, "drawn", "folded", "not drawn")
        yield f"{'origin':34} {'mode':8} {'pipes':>6} " + " ".join(f"{h[:9]:>9}" for h in heads)
        sums: dict[str, list[int]] = {}
        for (origin, mode), tally in sorted(self.tallies.items()):
            row = self._row(tally)
            sums[mode] = [a + b for a, b in zip(sums.get(mode, [0] * len(row)), row)]
            yield _line(origin, mode, row)
        for mode, row in sums.items():
            yield _line("all", mode, row)
        for (origin, mode), tally in sorted(self.tallies.items()):
            for (outcome, reason), count in tally.reasons.most_common():
                yield f"{origin} {mode}: {count} {outcome}: {reason}"
            for reason, count in tally.drawn.most_common():
                if reason not in (EQUAL, DIFFERENT):
                    yield f"{origin} {mode}: {count} {reason}"
        for (origin, reason), count in sorted(self.skipped.items()):
            yield f"{origin}: {count} skipped: {reason}"
        for origin in sorted(self.doubles | self.partnered):
            yield (
                f"{origin}: {self.partnered[origin]} pipelines with a stage written by us,"
                f" {self.doubles[origin]} seen before"
            )

    @staticmethod
    def _row(tally: Tally) -> list[int]:
        good = tally.drawn[EQUAL] + tally.drawn[FOLDED] + tally.drawn[DIFFERENT]
        outcomes = tally.outcomes
        return [
            sum(outcomes.values()),
            outcomes[LINKED],
            outcomes[NOTHING],
            outcomes[PASSED],
            outcomes[REFUSED],
            *(tally.kinds[kind] for kind in KINDS),
            good,
            tally.drawn[FOLDED],
            sum(tally.drawn.values()) - good,
        ]


def _line(origin: str, mode: str, row: list[int]) -> str:
    return f"{origin[:34]:34} {mode:8} {row[0]:6} " + " ".join(f"{n:9}" for n in row[1:])


def keep(folder: Path, pipeline: Pipeline, verdict: Verdict) -> Path:
    """Writes the modules of a finding, before and after, with a line that says what it is."""
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in pipeline.name)[-120:]
    into = folder / pipeline.origin / f"{name}-{verdict.mode.strip('-')}"
    into.mkdir(parents=True, exist_ok=True)
    for number, (stage, (data, _)) in enumerate(zip(pipeline.stages, pipeline.codes)):
        (into / f"{stage}.spv").write_bytes(data)
        if verdict.modules:
            (into / f"linked.{stage}.spv").write_bytes(verdict.modules[number])
    lines = [f"{kind}: {line}" for kind, line in verdict.findings]
    entries = " ".join(entry for _, entry in pipeline.codes)
    (into / "finding.txt").write_text("\n".join([*lines, f"entries: {entries}", ""]))
    return into
