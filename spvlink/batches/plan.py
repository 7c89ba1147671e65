"""Which pipelines there are and what became of them, in few bytes each."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.families import PipelineFamily, families
from spvlink.batches.pipelines import IneligiblePipeline
from spvlink.pipeline import DEFECT, FAILED, INVALID
from spvlink.report import BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spvlink.batches.ends import OutputPlace
    from spvlink.batches.jobs import Job, JobSettings
    from spvlink.batches.pipelines import BatchPipeline
    from spvlink.batches.progress import Progress
    from spvlink.batches.store import Record

# Kinds that people should hear of: something is wrong, with the input or with us.
BAD: Final = (INVALID, FAILED, DEFECT)
FIGURES: Final = ("components", "locations", *BYTES)
LISTED: Final = 10  # pipelines that are named at the end of a run
Pair = tuple[int, int]


class JobResult:
    """What the totals and the output need of a job that is done. ``modules``: names of the new
    ones, as in ``Record``. ``before``, ``after``: names of all its modules. ``verified``: the way
    and the outcome of ``--verify``, None if it was not asked for."""

    __slots__ = (
        "after", "before", "kind", "modules", "reason", "sums", "verified", "warnings",
    )  # fmt: skip

    def __init__(self, record: Record, pipeline: BatchPipeline) -> None:
        self.kind = record.kind
        self.reason = record.reason
        self.modules = record.modules
        self.before = [shader.module for shader in pipeline.shaders]
        self.after = [new or old for new, old in zip(record.modules, self.before)] or self.before
        # of the borders: before and after
        self.sums = {name: record.figures(name) for name in FIGURES}
        self.warnings = warnings_of(record, pipeline)
        verdict: Any = record.entry.get("verified")
        self.verified = None if verdict is None else (verdict["way"], verdict["outcome"])


class BatchPlan:
    """Filled while the jobs are made and done. ``keys`` of the distinct jobs, in the order in which
    their first pipelines come; ``results`` at the same index."""

    def __init__(
        self,
        source: OutputPlace,
        settings: JobSettings,
        progress: Progress,
        variants: int | None = None,
    ) -> None:
        self.source = source
        self.settings = settings
        self.progress = progress
        self.variants = variants
        self.jobs = array("q")  # of each pipeline, -1: none
        self.keys: list[bytes] = []
        self.results: list[JobResult | None] = []
        self.numbers: dict[bytes, int] = {}
        self.unfit: dict[int, IneligiblePipeline] = {}
        self.kept: dict[str, str] = {}  # digests of modules that these have -> the first of them
        self.bad: list[str] = []  # a line each for the first pipelines that people should hear of
        self.flawed: list[str] = []  # the same for those that were linked all the same
        self.more_flawed = 0
        self.bad_count = 0
        self.more_bad = 0  # lines that were too many
        self._waiting: dict[int, tuple[int, BatchPipeline]] = {}  # pipelines of a job under way

    def make(self) -> Iterator[Job | PipelineFamily]:
        """All distinct jobs; those that share modules together, if these may not have as many
        versions as they like."""
        if self.variants is None:
            yield from self._distinct()
            return
        for family in families(self._distinct(), self.variants, self._kept):
            for job in family.parts:
                number = self.numbers.pop(job.key)
                job.key = family.key_of(job)
                self.keys[number], self.numbers[job.key] = job.key, number
            yield family

    def _kept(self) -> dict[str, str]:
        """Modules of what goes out as it came for a reason that is known before any link."""
        for unfit in [*self.unfit.values(), *self.source.others()]:
            for name in unfit.modules:
                digest = self.source.digest(name)
                if digest is not None:
                    self.kept.setdefault(digest, shown(unfit.id))
        return self.kept

    def _distinct(self) -> Iterator[Job]:
        for index, pipeline in enumerate(self.source.pipelines()):
            if isinstance(pipeline, IneligiblePipeline):
                self.unfit[index] = pipeline
                self.jobs.append(-1)
                self._done(1, pipeline.bad, f"{shown(pipeline.id)}: {pipeline.reason}")
                continue
            job = self.settings.job(pipeline)
            number = self.numbers.setdefault(job.key, len(self.keys))
            self.jobs.append(number)
            if number == len(self.keys):
                self.keys.append(job.key)
                self.results.append(None)
                self._waiting[number] = 1, pipeline
                yield job
            elif number in self._waiting:
                count, first = self._waiting[number]
                self._waiting[number] = count + 1, first
            else:
                result = self.results[number]
                assert result is not None
                self._done(1, result.kind in BAD, "")

    def take(self, job: Job, record: Record) -> None:
        """A job is done."""
        number = self.numbers[job.key]
        count, first = self._waiting.pop(number)
        self.results[number] = result = JobResult(record, first)
        line = f"{shown(first.id)}: {reason_of(record, first)}"
        more = f" (and {count - 1} pipelines like it)" if count > 1 else ""
        self._done(count, result.kind in BAD, line + more)
        for flaw in result.warnings:
            self._warn(f"{shown(first.id)}: {flaw}{more}")

    def _done(self, count: int, bad: bool, line: str) -> None:
        if bad:
            self.bad_count += count
            if line and len(self.bad) < LISTED:
                self.bad.append(line)
            else:
                self.more_bad += count
        self.progress.add(count, self.bad_count)

    def _warn(self, line: str) -> None:
        if len(self.flawed) < LISTED:
            self.flawed.append(line)
        else:
            self.more_flawed += 1

    def pipelines_of(self, keys: Iterable[bytes]) -> int:
        """How many pipelines jobs have."""
        numbers = {self.numbers[key] for key in keys}
        return sum(number in numbers for number in self.jobs)

    def start(self, progress: Progress) -> None:
        """Count from here on: all jobs are made, and some of them will be done here. What is wrong
        beyond them is told where all results are."""
        self.progress = progress
        self.bad.clear()
        self.bad_count = self.more_bad = 0

    def line(self, index: int) -> str:
        """The name of a pipeline and why it is not linked."""
        result = self.result(index)
        if result is None:
            return f"{shown(self.unfit[index].id)}: {self.unfit[index].reason}"
        ids = (p.id for at, p in enumerate(self.source.pipelines()) if at == index)
        what = result.reason or (result.warnings[0] if result.warnings else "")
        return f"{shown(next(ids))}: {what}"

    def new(self, index: int) -> list[str | None] | None:
        """The new modules of a pipeline; None if it is no job."""
        result = self.result(index)
        return None if result is None else result.modules

    def key(self, index: int) -> bytes | None:
        """Of the job of a pipeline; None if it is no job."""
        number = self.jobs[index]
        return None if number < 0 else self.keys[number]

    def result(self, index: int) -> JobResult | None:
        """What became of the job of a pipeline; None if it is no job."""
        number = self.jobs[index]
        return None if number < 0 else self.results[number]


def shown(id: str) -> str:
    """The name of a pipeline on one line."""
    return id if id.isprintable() else ascii(id)


def reason_of(record: Record, pipeline: BatchPipeline) -> str:
    """Why a pipeline is not linked, with the name of the stage that it is about."""
    where = f"{pipeline.shaders[record.at].label}: " if record.at >= 0 else ""
    return f"{where}{record.reason}"


def warnings_of(record: Record, pipeline: BatchPipeline) -> list[str]:
    """What is wrong between the stages of a pipeline as they came, a line each."""
    flaws: Any = record.entry.get("warnings", ())
    lines = []
    for one in flaws:
        rule = f" ({one['rule']})" if one["rule"] else ""
        lines.append(f"{pipeline.shaders[one['at']].label}: {one['message']}{rule}")
    return lines
