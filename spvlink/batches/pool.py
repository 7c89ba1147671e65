"""This machine's processes as a ``concurrent.futures.Executor``."""

from __future__ import annotations

import queue
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from spvlink.batches.slot import WorkerSlot

if TYPE_CHECKING:
    from collections.abc import Callable


class Pool(Executor):
    """``processes`` processes that each do one piece of work at a time. What hangs (``timeout``
    seconds), crashes or takes more than ``memory`` MB raises ``slot.Trouble`` from its own future
    and harms no other. Each process has a thread here that waits for it."""

    def __init__(self, processes: int, timeout: float = 60.0, memory: int = 2048) -> None:
        self.slots = [WorkerSlot(timeout, memory) for _ in range(processes)]
        self._free: queue.SimpleQueue[WorkerSlot] = queue.SimpleQueue()
        for slot in self.slots:
            self._free.put(slot)
        self._threads = ThreadPoolExecutor(processes, "spvlink-slot")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if kwargs:
            raise TypeError("a pool takes no keywords")
        return self._threads.submit(self._run, fn, args)

    def _run(self, act: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        slot = self._free.get()
        try:
            return slot.run(act, arguments)
        finally:
            self._free.put(slot)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with ``cancel_futures`` also those that are at work."""
        if cancel_futures:
            self._threads.shutdown(wait=False, cancel_futures=True)
            for slot in self.slots:
                slot.kill()
        self._threads.shutdown(wait=wait)
        if wait:
            for slot in self.slots:
                slot.end()
