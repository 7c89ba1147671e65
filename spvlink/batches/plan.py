"""Which pipelines there are and what became of them, in few bytes each."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.families import PipelineFamily, families
from spvlink.batches.journal import KEY
from spvlink.batches.known import KnownPipeline
from spvlink.batches.pipelines import IneligiblePipeline
from spvlink.batches.results import JobResults
from spvlink.digest_table import DigestTable
from spvlink.pipeline import DEFECT, FAILED, INVALID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from spvlink.batches.ends import OutputPlace
    from spvlink.batches.jobs import Job, JobSettings
    from spvlink.batches.pipelines import BatchPipeline
    from spvlink.batches.progress import Progress
    from spvlink.batches.results import JobResult
    from spvlink.batches.store import Record

# Kinds that people should hear of: something is wrong, with the input or with us.
BAD: Final = (INVALID, FAILED, DEFECT)
LISTED: Final = 10  # pipelines that are named at the end of a run


class UnfitReason:
    """Why pipelines go out as they came; see ``IneligiblePipeline``. Pipelines share it."""

    __slots__ = ("bad", "reason", "unknown")

    def __init__(self, reason: str, bad: bool, unknown: Sequence[str]) -> None:
        self.reason = reason
        self.bad = bad
        self.unknown = unknown


class BatchPlan:
    """Filled while the jobs are made and done. ``keys`` of the distinct jobs, in the order in which
    their first pipelines come; ``results`` under the same numbers."""

    def __init__(
        self,
        source: OutputPlace,
        settings: JobSettings,
        progress: Progress,
        variants: int | None = None,
        recall: Callable[[bytes], Record | None] | None = None,
    ) -> None:
        self._recall = recall  # what an earlier run remembered of a job by its key
        self.source = source
        self.settings = settings
        self.progress = progress
        self.variants = variants
        self.jobs = array("i")  # of each pipeline: the number of its job, or ~ that of a reason
        self.keys = DigestTable(KEY)
        self.results = JobResults()
        self.known = bytearray()  # of each job: whether its result is one of an earlier run
        self.reasons: list[UnfitReason] = []
        self._reason_numbers: dict[tuple[object, ...], int] = {}
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
        made = list(families(self._distinct(), self.variants, self._kept))
        keys: dict[int, bytes] = {}
        for family in made:
            for job in family.parts:
                number = self.number(job.key)
                keys[number] = job.key = family.key_of(job)
        self.keys = DigestTable(KEY)
        for number in range(len(keys)):
            self.keys.add(keys[number])
        yield from made

    def _kept(self) -> dict[str, str]:
        """Modules of what goes out as it came for a reason that is known before any link."""
        for other in self.source.others():
            self._keep_modules(other)
        return self.kept

    def _keep_modules(self, unfit: IneligiblePipeline) -> None:
        for name in unfit.modules:
            digest = self.source.digest(name)
            if digest is not None:
                self.kept.setdefault(digest, shown(unfit.id))

    def _distinct(self) -> Iterator[Job]:
        for pipeline in self.source.pipelines():
            if isinstance(pipeline, IneligiblePipeline):
                self._refuse(pipeline)
                continue
            if isinstance(pipeline, KnownPipeline):
                self._take_known(pipeline)
                continue
            job = self.settings.job(pipeline)
            known = len(self.keys)
            number = self.keys.add(job.key)
            self.jobs.append(number)
            if number == known:
                self._expect(False)
                self._waiting[number] = 1, pipeline
                yield job
            elif number in self._waiting:
                count, first = self._waiting[number]
                self._waiting[number] = count + 1, first
            else:
                self._done(1, self.results[number].kind in BAD, "")

    def _take_known(self, pipeline: KnownPipeline) -> None:
        """What became of a pipeline is known from an earlier run."""
        count = len(self.keys)
        number = self.keys.add(pipeline.key)
        self.jobs.append(number)
        if number == count:
            self._expect(True)
            job = pipeline.known_job()
            if job.flaws:
                job.outcome.warnings = tuple(_flaw_lines(job.flaws, pipeline.labels))
            self.results.keep(number, job.outcome, job.old, job.new, job.figures)
            for flaw in job.outcome.warnings:
                self._warn(f"{shown(pipeline.id)}: {flaw}")
        elif not self.known[number]:  # a job of this run
            pipeline.forget()
            if number in self._waiting:
                waiting, first = self._waiting[number]
                self._waiting[number] = waiting + 1, first
                return
            self._done(1, self.results[number].kind in BAD, "")
            return
        self._done(1, False, "")

    def _expect(self, known: bool) -> None:
        """There is one job more."""
        self.results.expect()
        self.known.append(known)

    def recalled(self, key: bytes) -> Record | None:
        """What an earlier run remembered of a job; None if this one found it out."""
        if self._recall is None or not self.known[self.number(key)]:
            return None
        return self._recall(key)

    def _refuse(self, pipeline: IneligiblePipeline) -> None:
        """A pipeline is no job."""
        key = pipeline.reason, pipeline.bad, *pipeline.unknown
        number = self._reason_numbers.setdefault(key, len(self.reasons))
        if number == len(self.reasons):
            self.reasons.append(UnfitReason(pipeline.reason, pipeline.bad, pipeline.unknown))
        self.jobs.append(~number)
        if self.variants is not None:
            self._keep_modules(pipeline)
        self._done(1, pipeline.bad, f"{shown(pipeline.id)}: {pipeline.reason}")

    def take(self, job: Job, record: Record) -> None:
        """A job is done."""
        number = self.number(job.key)
        count, first = self._waiting.pop(number)
        modules = [shader.module for shader in first.shaders]
        result = self.results.put(number, record, modules, warnings_of(record, first))
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
        numbers = {self.number(key) for key in keys}
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
        ids = (p.id for at, p in enumerate(self.source.pipelines()) if at == index)
        if result is None:
            what = self.reason(index).reason
        else:
            what = result.reason or (result.warnings[0] if result.warnings else "")
        return f"{shown(next(ids))}: {what}"

    def new(self, index: int) -> list[str | None] | None:
        """The new modules of a pipeline; None if it is no job."""
        result = self.result(index)
        return None if result is None else result.modules

    def number(self, key: bytes) -> int:
        """Of a job of the batch."""
        number = self.keys.find(key)
        assert number is not None
        return number

    def reason(self, index: int) -> UnfitReason:
        """Why a pipeline is no job."""
        return self.reasons[~self.jobs[index]]

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
    return _flaw_lines(flaws, pipeline.labels)


def _flaw_lines(flaws: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> list[str]:
    lines = []
    for one in flaws:
        rule = f" ({one['rule']})" if one["rule"] else ""
        lines.append(f"{labels[one['at']]}: {one['message']}{rule}")
    return lines
