"""Jobs on other machines: Dask's distributed scheduler as an executor.

A module travels to the scheduler once, as a task whose value it is, named by its content: workers
take it from each other, and what died with a worker is made again from the task. On each worker a
job has a process of its own (``slot``), with the same limits as here.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from concurrent.futures import CancelledError, Executor, Future
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.pipelines import digest_of
from spvlink.batches.slot import CRASHED, Trouble, WorkerSlot
from spvlink.errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONNECT: Final = 10  # seconds
MODULES: Final = 512 << 20  # bytes of modules that the cluster keeps for jobs to come


class Cluster(Executor):
    """``submit(fn, job, *payloads)`` on the workers that a Dask client knows. ``workers``: how many
    threads they have together."""

    def __init__(self, client: Any, timeout: float, memory: int) -> None:
        self.client = client
        self.limits = timeout, memory
        self.inner = client.get_executor(pure=False)
        self.modules: OrderedDict[str, tuple[Any, int]] = (
            OrderedDict()
        )  # what is there, oldest first
        self.size = 0
        self.sent = 0  # bytes of modules

    @property
    def workers(self) -> int:
        return sum(self.client.nthreads().values())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        job, *payloads = args
        there = [self._there(data) for data in payloads]
        future: Future[Any] = Future()
        inner = self.inner.submit(isolated, *self.limits, fn, job, *there)
        inner.add_done_callback(lambda done: _settle(future, done))
        return future

    def _there(self, data: bytes) -> Any:
        """A module as a future of the cluster; jobs hold on to those that they need."""
        name = digest_of(data)
        if name in self.modules:
            self.modules.move_to_end(name)
            return self.modules[name][0]
        future = self.client.submit(_itself, data, key=f"spvlink-module-{name}", pure=True)
        self.modules[name] = future, len(data)
        self.size += len(data)
        self.sent += len(data)
        while self.size > MODULES:
            self.size -= self.modules.popitem(last=False)[1][1]
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.modules.clear()
        with contextlib.suppress(Exception):  # the scheduler may have gone
            self.inner.shutdown(wait=wait and not cancel_futures)


def _settle(future: Future[Any], inner: Future[Any]) -> None:
    """Hand on what came of a job. Dask tries one whose worker is lost on others, and gives up when
    it has cost several."""
    from distributed import KilledWorker

    if not future.set_running_or_notify_cancel():
        return
    error = CancelledError() if inner.cancelled() else inner.exception()
    if isinstance(error, KilledWorker):
        future.set_exception(Trouble(CRASHED, "several workers of the cluster died of it"))
    elif error is not None:
        future.set_exception(error)
    else:
        future.set_result(inner.result())


def _itself(data: bytes) -> bytes:
    return data


_slots = threading.local()  # of the worker's threads


def isolated(timeout: float, memory: int, act: Callable[..., Any], *arguments: Any) -> Any:
    """Run it in a process beside the worker."""
    limits = timeout, memory
    if getattr(_slots, "limits", None) != limits:
        _slots.slot, _slots.limits = WorkerSlot(timeout, memory), limits
    return _slots.slot.run(act, arguments)


@contextlib.contextmanager
def connected(address: str, processes: int, timeout: float, memory: int) -> Iterator[Cluster]:
    """A cluster at an address; "local" starts one here. Raises Usage if it cannot be had."""
    try:
        import distributed
    except ImportError:
        raise Usage("--dask needs the package distributed: pip install spvlink[dask]") from None
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # lost workers are no news
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
