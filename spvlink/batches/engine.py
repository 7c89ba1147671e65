"""Jobs through an executor: each once, none that the store has, as many at a time as it takes."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import TYPE_CHECKING, Any

from spvlink.batches import work
from spvlink.batches.families import PipelineFamily
from spvlink.batches.slot import Trouble
from spvlink.pipeline import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spvlink.batches.jobs import Job
    from spvlink.batches.store import JobStore, Record
    from spvlink.batches.work import JobOutcome


def run(
    jobs: Iterable[Job | PipelineFamily],
    modules: Callable[[str], bytes],
    executor: Executor,
    store: JobStore,
    window: int,
) -> Iterator[tuple[Job, Record]]:
    """What came of each job, as they come. The jobs are distinct; ``modules`` reads a module by
    its digest, when the job's turn has come; ``window`` is how many are under way at a time.

    What is more than one job's own trouble is raised: a broken executor, a full disk, a module that
    has changed."""
    waiting: dict[Future[Any], Job | PipelineFamily] = {}
    queue = iter(jobs)
    more = True
    try:
        while more or waiting:
            while more and len(waiting) < window:
                job = next(queue, None)
                if job is None:
                    more = False
                    break
                known = [store.get(part.key) for part in job.parts]
                found = [record for record in known if record is not None]
                if len(found) == len(known):
                    yield from zip(job.parts, found)
                    continue
                act: Callable[..., Any] = (
                    work.do_family if isinstance(job, PipelineFamily) else work.do
                )
                waiting[executor.submit(act, job, *map(modules, job.modules))] = job
            done = wait(waiting, return_when=FIRST_COMPLETED).done if waiting else ()
            for future in done:
                job = waiting.pop(future)
                for part, outcome in zip(job.parts, _outcomes(future, len(job.parts))):
                    yield part, store.put(part.key, outcome)
    finally:
        for future in waiting:
            future.cancel()


def _outcomes(future: Future[Any], count: int) -> list[JobOutcome]:
    """What a future holds, for that many jobs. Raises what is no outcome of these alone."""
    try:
        outcome = future.result()
    except Trouble as trouble:
        return [work.JobOutcome(FAILED, trouble.reason)] * count
    except MemoryError:  # an executor without limits of its own
        return [work.JobOutcome(FAILED, "it took more memory than there is")] * count
    outcomes = outcome if isinstance(outcome, list) else [outcome]
    assert len(outcomes) == count
    return outcomes
