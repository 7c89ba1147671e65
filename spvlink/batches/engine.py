"""Jobs through an executor: each once, none that a store has, as many at a time as it takes."""

from __future__ import annotations

import queue
import time
from collections import deque
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

from spvlink.batches import stored, work
from spvlink.batches.families import PipelineFamily
from spvlink.batches.slot import Trouble
from spvlink.pipeline import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spvlink.batches.jobs import Job
    from spvlink.batches.shards import Work
    from spvlink.batches.shared import FoundResults, SharedResults
    from spvlink.batches.store import JobStore, Record
    from spvlink.batches.work import JobOutcome

    Results = Iterator[tuple[Job, Record]]


def run(
    jobs: Iterable[Work],
    modules: Callable[[str], bytes],
    executor: Executor,
    store: JobStore,
    window: int,
    results: SharedResults | None = None,
) -> Results:
    """What came of each job, as they come. The jobs are distinct; ``modules`` reads a module by
    its digest, when the job's turn has come; ``window`` is how many are under way at a time;
    ``results`` is a store that is asked before a job is done, and gets what came of it.

    What is more than one job's own trouble is raised: a broken executor, a full disk, a module that
    has changed."""
    flow = _Flow(jobs, modules, executor, store, window, results)
    try:
        yield from flow.results()
    finally:
        for future in flow.busy:
            future.cancel()


class _Flow:
    """Work items on their way: the shared store is asked for one, a worker looks at what it gave,
    or links."""

    def __init__(
        self,
        jobs: Iterable[Work],
        modules: Callable[[str], bytes],
        executor: Executor,
        store: JobStore,
        window: int,
        shared: SharedResults | None,
    ) -> None:
        self.queue = iter(jobs)
        self.modules = modules
        self.executor = executor
        self.store = store
        self.window = window
        self.shared = shared
        self.more = True
        self.asked: dict[Future[Any], tuple[Work, float]] = {}  # until when to wait; oldest first
        self.ready: deque[tuple[Work, FoundResults | None]] = deque()  # for the next free worker
        self.busy: dict[Future[Any], tuple[Work, FoundResults | None]] = {}
        self.done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def results(self) -> Results:
        while True:
            yield from self._take_in()
            if not self.busy and not self.asked:
                return
            for future in self._finished():
                yield from self._settle(future)

    def _take_in(self) -> Results:
        """Go on with work items, and take new ones, as far as there is room."""
        while True:
            while self.ready and len(self.busy) < self.window:
                self._start(*self.ready.popleft())
            if not self.more or not self._has_room():
                return
            item = next(self.queue, None)
            if item is None:
                self.more = False
                continue
            known = [self.store.get(part.key) for part in item.parts]
            records = [record for record in known if record is not None]
            if len(records) == len(known):
                yield from zip(item.parts, records)
            elif self.shared is not None and not self.shared.reading.over:
                future = self.shared.ask(item)
                self.asked[future] = item, time.monotonic() + 1.5 * self.shared.timeout
                future.add_done_callback(self.done.put)
            else:
                self.ready.append((item, None))

    def _has_room(self) -> bool:
        if self.shared is not None and not self.shared.reading.over:
            return len(self.asked) + len(self.ready) < self.shared.ahead
        return not self.ready and len(self.busy) < self.window

    def _start(self, item: Work, found: FoundResults | None) -> None:
        """Give a worker a work item, or what the shared store has of it, to look at."""
        given = map(self.modules, item.modules)
        future: Future[Any]
        if found is not None:
            what = stored.StoredModules(item, found.outcomes)
            future = self.executor.submit(stored.check_stored, what, *given, *what.new)
        elif isinstance(item, PipelineFamily):
            future = self.executor.submit(work.do_family, item, *given)
        else:
            future = self.executor.submit(work.do, item, *given)
        self.busy[future] = item, found
        future.add_done_callback(self.done.put)

    def _finished(self) -> list[Future[Any]]:
        """Wait for one, or until the shared store is late with one; all that are done by then."""
        begin = time.monotonic()
        until = next(iter(self.asked.values()))[1] if self.asked else None
        done = []
        try:
            done.append(self.done.get(timeout=until and max(0.0, until - begin)))
            while True:
                done.append(self.done.get_nowait())
        except queue.Empty:
            pass
        if self.shared is not None and self.asked:
            if not self.busy:
                self.shared.waited(time.monotonic() - begin, len(done))
            self._give_up(done)
        return done

    def _give_up(self, done: list[Future[Any]]) -> None:
        """Wait no longer for answers of the shared store that are late, or for any if it is not to
        be asked any more."""
        assert self.shared is not None
        now = time.monotonic()
        for future, (item, until) in list(self.asked.items()):
            late = until <= now and future not in done
            if late:
                self.shared.late()
            if late or (self.shared.reading.over and future not in done):
                del self.asked[future]
                self.ready.append((item, None))

    def _settle(self, future: Future[Any]) -> Results:
        """Take what came of a future."""
        if future in self.asked:
            item, _ = self.asked.pop(future)
            found: FoundResults | None = future.result()
            if found is None or not (found.trusted or _may_be_checked(item)):
                self.ready.append((item, None))
            elif found.trusted or not any(any(one.modules) for one in found.outcomes):
                yield from self._take_stored(item, found)
            else:
                self.ready.append((item, found))
        elif future in self.busy:
            item, found = self.busy.pop(future)
            if found is None:
                outcomes = _outcomes(future, len(item.parts))
                if self.shared is not None:
                    self.shared.keep(item, outcomes)
                yield from self._take(item, outcomes)
            elif (wrong := _complaint(future)) is None:
                yield from self._take_stored(item, found)
            else:
                assert self.shared is not None
                self.shared.refuse(wrong)
                self.ready.append((item, None))

    def _take_stored(self, item: Work, found: FoundResults) -> Results:
        assert self.shared is not None
        self.shared.taken += len(item.parts)
        yield from self._take(item, found.outcomes)

    def _take(self, item: Work, outcomes: list[JobOutcome]) -> Results:
        for part, outcome in zip(item.parts, outcomes):
            yield part, self.store.put(part.key, outcome)


def _may_be_checked(item: Work) -> bool:
    """Whether a look at the modules is enough: it is no proof."""
    return not any(part.verify for part in item.parts)


def _complaint(future: Future[Any]) -> str | None:
    """What a worker has against the modules of an entry; None: nothing. Raises what has nothing to
    do with them."""
    try:
        complaint: str | None = future.result()
    except Trouble as trouble:
        return trouble.reason
    except MemoryError:
        return "it takes more memory than there is"
    return complaint


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
