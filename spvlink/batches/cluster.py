"""Jobs on other machines: Dask's distributed scheduler as an executor.

A task of Dask costs about as much as a link, so jobs travel in bundles, each module of a bundle
once. On each worker a job has a process of its own (``slot``), with the same limits as here.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.slot import CRASHED, Trouble, WorkerSlot
from spvlink.errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONNECT: Final = 10  # seconds
BUNDLE: Final = 16  # jobs
BUNDLE_SIZE: Final = 4 << 20  # bytes of modules after which a bundle is full
AHEAD: Final = 2  # bundles for each worker: the one that it has, and the next one


class _Errand:
    """A job on its way. ``alone``: it was lost in a bundle, and gets a task of its own."""

    def __init__(self, act: Callable[..., Any], job: Any, modules: tuple[bytes, ...]) -> None:
        self.act = act
        self.job = job
        self.modules = modules
        self.future: Future[Any] = Future()
        self.alone = False


class Bundle:
    """Jobs as they travel: ``modules`` once each, and for each job (what to call, the job, indices
    of its modules)."""

    def __init__(self, errands: list[_Errand]) -> None:
        places: dict[bytes, int] = {}
        self.jobs = [
            (one.act, one.job, [places.setdefault(data, len(places)) for data in one.modules])
            for one in errands
        ]
        self.modules = list(places)


class Cluster(Executor):
    """``submit(fn, job, *modules)`` on the workers that a Dask client knows. ``workers``: how many
    threads they have together. ``window``: how many jobs should be under way, so that bundles are
    full."""

    def __init__(self, client: Any, timeout: float, memory: int) -> None:
        self.limits = timeout, memory
        self.inner = client.get_executor(pure=False)
        self.workers = sum(client.nthreads().values())
        self.window = 2 * AHEAD * BUNDLE * self.workers
        self.sent = 0  # bundles
        self._waiting: deque[_Errand] = deque()
        self._under_way = 0  # bundles
        self._solo = False  # whether what is under way is to be alone
        self._lock = threading.RLock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        job, *modules = args
        errand = _Errand(fn, job, tuple(modules))
        with self._lock:
            self._waiting.append(errand)
            self._send()
        return errand.future

    def _send(self) -> None:
        """Send what may go. Little is sent a job at a time, so that all workers have something; and
        what is to be alone goes when nothing else is under way: Dask blames all that a lost worker
        had."""
        while self._waiting and not self._solo and self._under_way < AHEAD * self.workers:
            if self._waiting[0].alone:
                if self._under_way:
                    return
                self._solo = True
            most = min(BUNDLE, 1 + len(self._waiting) // (AHEAD * self.workers))
            errands: list[_Errand] = []
            size = 0
            while self._waiting and len(errands) < most and size < BUNDLE_SIZE:
                if errands and self._waiting[0].alone:
                    break
                errand = self._waiting.popleft()
                if errand.alone or errand.future.set_running_or_notify_cancel():
                    errands.append(errand)
                    size += sum(map(len, errand.modules))
                if errand.alone:
                    break
            if errands:
                self._submit(errands)

    def _submit(self, errands: list[_Errand]) -> None:
        """Send a bundle. If that fails, no job is waiting any more: nobody else would tell."""
        try:
            inner = self.inner.submit(run_bundle, *self.limits, Bundle(errands))
        except Exception as error:
            lost = [*errands, *self._waiting]
            self._waiting.clear()
            self._solo = False
            for errand in lost:
                with contextlib.suppress(InvalidStateError):  # it was cancelled
                    errand.future.set_exception(error)
            return
        self._under_way += 1
        self.sent += 1
        inner.add_done_callback(partial(self._settle, errands))

    def _settle(self, errands: list[_Errand], inner: Future[Any]) -> None:
        """Hand on what came of a bundle. Dask tries one whose worker is lost on others, and gives
        up when it has cost several; then each job of it is tried alone."""
        from distributed import KilledWorker

        error = CancelledError() if inner.cancelled() else inner.exception()
        with self._lock:
            self._under_way -= 1
            self._solo = False
            if isinstance(error, KilledWorker) and len(errands) > 1:
                for errand in errands:
                    errand.alone = True
                self._waiting.extendleft(reversed(errands))
                errands = []
            self._send()
        if isinstance(error, KilledWorker):
            error = Trouble(CRASHED, "several workers of the cluster died of it")
        for number, errand in enumerate(errands):
            good, result = (False, error) if error is not None else inner.result()[number]
            if good:
                errand.future.set_result(result)
            else:
                errand.future.set_exception(result)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with contextlib.suppress(Exception):  # the scheduler may have gone
            self.inner.shutdown(wait=wait and not cancel_futures)


_slots = threading.local()  # of the worker's threads


def run_bundle(timeout: float, memory: int, bundle: Bundle) -> list[tuple[bool, Any]]:
    """Run each job of a bundle in a process beside the worker: (True, what came of it) or (False,
    the exception)."""
    limits = timeout, memory
    if getattr(_slots, "limits", None) != limits:
        _slots.slot, _slots.limits = WorkerSlot(timeout, memory), limits
    errands = [
        (act, (job, *(bundle.modules[n] for n in places))) for act, job, places in bundle.jobs
    ]
    done: list[tuple[bool, Any]] = []
    try:
        done.extend(_slots.slot.run_all(errands))
    except Exception as error:
        done += [(False, error)] * (len(errands) - len(done))
    return done


@contextlib.contextmanager
def connected(address: str, processes: int, timeout: float, memory: int) -> Iterator[Cluster]:
    """A cluster at an address; "local" starts one here. Raises Usage if it cannot be had."""
    try:
        import distributed
    except ImportError:
        raise Usage("--dask needs the package distributed: pip install spvlink[dask]") from None
    import logging

    for name in logging.root.manager.loggerDict:
        if name.startswith("distributed"):  # lost workers are no news
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        try:
            if address == "local":
                place: Any = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=processes,
                        threads_per_worker=1,
                        dashboard_address=None,
                        silence_logs=logging.CRITICAL,
                    )
                )
            else:
                place = address
            client = stack.enter_context(distributed.Client(place, timeout=CONNECT))
        except (OSError, ValueError, TimeoutError) as error:
            why = str(error).strip() or "nobody answers"
            raise Usage(f"--dask {address}: {why.splitlines()[0]}") from None
        cluster = Cluster(client, timeout, memory)
        if not cluster.workers:
            raise Usage(f"--dask {address}: this cluster has no workers")
        yield cluster
