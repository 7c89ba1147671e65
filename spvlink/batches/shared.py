"""A store of results that outlives a run and that machines share (``--store``).

Threads ask it and write to it while the run goes on; none of them is waited for longer than a
limit. What it gives is looked at (``entries``), and without a seal or a file of our own a worker
looks at the modules, too (``stored.check_stored``). A store that fails some times in a row, or
makes the run wait longer than it saves, is left alone for the rest of the run: it costs time only.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches import entries, places
from spvlink.batches.entries import WrongEntry
from spvlink.batches.places import PlaceFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spvlink.batches.places import StorePlace
    from spvlink.batches.shards import Work
    from spvlink.batches.work import JobOutcome

TIMEOUT: Final = 10.0  # seconds for one object
_AHEAD: Final = 32
_UNWRITTEN: Final = 32  # results that wait to be written
_WRITERS: Final = 8  # threads
_IN_A_ROW: Final = 3  # failures
_IN_ALL: Final = 10
_RECALLED: Final = 4  # objects that are asked for at a time
_WORTH: Final = 0.1  # seconds that a run may wait for a result, on average


class FoundResults:
    """What a store has of a work item: an outcome for each part. ``trusted``: nobody made it who
    may not."""

    def __init__(self, outcomes: list[JobOutcome], trusted: bool) -> None:
        self.outcomes = outcomes
        self.trusted = trusted


class Patience:
    """Failures of a store, until it is given up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_a_row = 0
        self.count = 0
        self.why = ""  # the last one
        self.over = False

    def worked(self) -> None:
        with self._lock:
            self._in_a_row = 0

    def failed(self, why: str, last: bool = False) -> None:
        """``last``: give up at once."""
        with self._lock:
            if not self.over:
                self._in_a_row += 1
                self.count += 1
                self.why = why
            self.over |= last or self._in_a_row >= _IN_A_ROW or self.count >= _IN_ALL

    def __str__(self) -> str:
        return f"{self.why} ({self.count} times)" if self.count > 1 else self.why


class SharedResults:
    """A store, as one run sees it. ``secret``: under which entries are sealed, empty for none.
    Raises Usage for an address that makes no sense, or if what it needs is not installed."""

    def __init__(self, address: str, secret: bytes) -> None:
        places.check(address)
        self.timeout = timeout = TIMEOUT
        self.name = f"--store {places.shown(address)}"
        self.place: StorePlace = places.place_of(address, timeout)
        self.secret = secret
        self.ahead = _AHEAD  # work items that it may be asked for at a time
        self.taken = 0  # jobs whose results came from here
        self._linked = 0  # jobs that had to be done
        self._wanted = 0  # those of them whose results are worth keeping
        self._kept = 0  # those of them whose results are here now
        self.reading, self.writing = Patience(), Patience()
        self._wrong: list[str] = []  # why entries were wrong
        self._lock = threading.Lock()
        self._room = threading.Semaphore(_UNWRITTEN)
        self._waited = 0.0
        self._answers = 0
        self._readers = _Threads(self.place.readers)
        self._writers = _Threads(_WRITERS)

    # -- reading -----------------------------------------------------------------------------------

    def ask(self, work: Work) -> Future[FoundResults | None]:
        """What there is of a work item, soon; None if there is nothing, or nothing of use. The
        future never raises, but may never be done."""
        return self._readers.submit(lambda: self._read(work))

    def _read(self, work: Work) -> FoundResults | None:
        if self.reading.over:
            return None
        key = entries.key_of(work)
        try:
            found = self.place.read(key.hex(), entries.LIMIT)
        except PlaceFailure as failure:
            self.reading.failed(str(failure))
            return None
        self.reading.worked()
        if found is None:
            return None
        data, own = found
        try:
            outcomes = entries.decode(data, key, work, self.secret)
        except WrongEntry as error:
            self.refuse(error.message)
            return None
        return FoundResults(outcomes, own or bool(self.secret))

    def refuse(self, why: str) -> None:
        """An entry is wrong."""
        self._wrong.append(why)

    def late(self) -> None:
        """An answer did not come in time."""
        self.reading.failed(f"no answer in {self.timeout:g} s")

    def waited(self, seconds: float, answers: int) -> None:
        """The run had nothing to do for so long but to wait for these answers."""
        self._waited += seconds
        self._answers += answers
        if answers and self._waited > max(2 * self.timeout, _WORTH * self._answers):
            self.reading.failed("it takes longer than it saves", last=True)

    # -- writing -----------------------------------------------------------------------------------

    def keep(self, work: Work, outcomes: Sequence[JobOutcome]) -> None:
        """Write what came of a work item, some time, if it is the same everywhere."""
        self._linked += len(outcomes)
        if not entries.lasting(outcomes):
            return
        self._wanted += len(outcomes)
        if self.writing.over:
            return
        if self._room.acquire(timeout=self.timeout):
            self._writers.submit(lambda: self._write(work, outcomes))
        else:
            self.writing.failed(f"no answer in {self.timeout:g} s", last=True)

    def _write(self, work: Work, outcomes: Sequence[JobOutcome]) -> None:
        try:
            key = entries.key_of(work)
            data = None if self.writing.over else entries.encode(key, outcomes, self.secret)
            if data is not None:
                self.place.write(key.hex(), data)
                self.writing.worked()
                with self._lock:
                    self._kept += len(outcomes)
        except PlaceFailure as failure:
            self.writing.failed(str(failure))
        finally:
            self._room.release()

    # -- what runs remember ------------------------------------------------------------------------

    @property
    def recalls(self) -> bool:
        """Whether something could be recalled: of no remote store without a secret."""
        return bool(self.secret) or self.place.knows_owner

    def recall(self, names: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """(name, content) of all of these that are there and that nobody made who may not. A worker
        looks at none of it, so what others could write does not count."""
        waiting = [(name, self._ask_for(name)) for name in names[:_RECALLED]]
        for at in range(_RECALLED, _RECALLED + len(names)):
            if not waiting:
                return
            asked, future = waiting.pop(0)
            try:
                content = future.result(1.5 * self.timeout)
            except TimeoutError:
                self.late()
                return
            if at < len(names):
                waiting.append((names[at], self._ask_for(names[at])))
            if content is not None:
                yield asked, content

    def _ask_for(self, name: bytes) -> Future[bytes | None]:
        return self._readers.submit(lambda: self._recalled(name))

    def _recalled(self, name: bytes) -> bytes | None:
        if self.reading.over:
            return None
        try:
            found = self.place.read(name.hex(), entries.LIMIT)
        except PlaceFailure as failure:
            self.reading.failed(str(failure))
            return None
        self.reading.worked()
        if found is None or not (found[1] or self.secret):
            return None
        try:
            return entries.opened(found[0], name, self.secret)
        except WrongEntry as error:
            self.refuse(error.message)
            return None

    def remember(self, name: bytes, content: bytes) -> bool:
        """Write something to recall; gives whether it is there now."""
        if self.writing.over or len(content) >= entries.LIMIT:
            return False
        future = self._writers.submit(lambda: self._remembered(name, content))
        try:
            return bool(future.result(self.timeout))
        except TimeoutError:
            self.writing.failed(f"no answer in {self.timeout:g} s", last=True)
            return False

    def _remembered(self, name: bytes, content: bytes) -> bool:
        try:
            self.place.write(name.hex(), entries.sealed(name, content, self.secret))
        except PlaceFailure as failure:
            self.writing.failed(str(failure))
            return False
        self.writing.worked()
        return True

    # -- the end -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Wait until all is written, but not for ever. Threads that hang stay behind."""
        end = time.monotonic() + 3 * self.timeout
        for _ in range(_UNWRITTEN):
            if self.writing.over:
                break
            if not self._room.acquire(timeout=max(0.0, end - time.monotonic())):
                self.writing.failed(f"no answer in {self.timeout:g} s", last=True)
                break
        self._readers.end()
        self._writers.end()

    def line(self) -> str:
        """What it was good for."""
        return f"{self.taken} of {self.taken + self._linked} jobs were there, {self._kept} are new"

    def warnings(self) -> list[str]:
        """What people should hear of, a line each."""
        lines = []
        if self._wrong:
            what = "1 entry was" if len(self._wrong) == 1 else f"{len(self._wrong)} entries were"
            lines.append(f"{self.name}: {what} wrong and did not count: {self._wrong[0]}")
        if self.reading.count:
            then = ": it was not asked any more" if self.reading.over else ""
            lines.append(f"{self.name}: cannot read it: {self.reading}{then}")
        if self.writing.count:
            what = f"{self._wanted - self._kept} results are not kept there"
            lines.append(f"{self.name}: cannot write to it: {self.writing}: {what}")
        return lines


class _Threads:
    """Some threads, started when they are needed, that keep nobody from leaving: those of
    ``ThreadPoolExecutor`` would be waited for, even if they hang."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._started = 0
        self._waiting: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()

    def submit(self, act: Callable[[], Any]) -> Future[Any]:
        """``act`` must not raise."""
        future: Future[Any] = Future()
        self._waiting.put(lambda: _fulfil(future, act))
        if self._started < self._most:
            self._started += 1
            threading.Thread(target=self._work, daemon=True).start()
        return future

    def _work(self) -> None:
        while (act := self._waiting.get()) is not None:
            act()

    def end(self) -> None:
        """Let threads go that have nothing more to do."""
        for _ in range(self._started):
            self._waiting.put(None)


def _fulfil(future: Future[Any], act: Callable[[], Any]) -> None:
    """Any exception is handed on: it must not end the thread, since others wait for it."""
    try:
        result = act()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
