"""This machine's processes as a ``concurrent.futures.Executor``."""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.slot import WorkerSlot

if TYPE_CHECKING:
    from collections.abc import Callable

BUNDLE: Final = 16  # pieces of work
_SECONDS: Final = 0.1  # that a bundle may take, as far as the pieces before it tell


class PieceOfWork:
    """What is to be called, with what."""

    __slots__ = ("act", "arguments", "future")

    def __init__(self, act: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.act = act
        self.arguments = arguments
        self.future: Future[Any] = Future()


class Pool(Executor):
    """``processes`` processes that each do one piece of work at a time; small ones travel in
    bundles. What hangs (``timeout`` seconds), crashes or takes more than ``memory`` MB raises
    ``slot.Trouble`` from its own future and harms no other. Each process has a thread here that
    waits for it. ``window``: how many pieces should be under way, so that nobody waits."""

    def __init__(self, processes: int, timeout: float = 60.0, memory: int = 2048) -> None:
        self.slots = [WorkerSlot(timeout, memory) for _ in range(processes)]
        self.window = 2 * BUNDLE * processes
        self._waiting: deque[PieceOfWork] = deque()
        self._changed = threading.Condition()
        self._idle = 0  # threads
        self._threads: list[threading.Thread] = []
        self._over = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if kwargs:
            raise TypeError("a pool takes no keywords")
        piece = PieceOfWork(fn, args)
        with self._changed:
            if self._over:
                raise RuntimeError("this pool is shut down")
            self._waiting.append(piece)
            if self._idle:
                self._changed.notify()
            elif len(self._threads) < len(self.slots):
                slot = self.slots[len(self._threads)]
                thread = threading.Thread(target=self._serve, args=(slot,), daemon=True)
                self._threads.append(thread)
                thread.start()
        return piece.future

    def _serve(self, slot: WorkerSlot) -> None:
        """The life of a thread."""
        most = 1  # pieces in a bundle
        while bundle := self._take(most):
            begin = time.monotonic()
            _do(slot, bundle)
            each = (time.monotonic() - begin) / len(bundle)
            most = max(1, min(BUNDLE, int(_SECONDS / max(each, 1e-6))))

    def _take(self, most: int) -> list[PieceOfWork]:
        """The next bundle, when there is one; nothing at the end. Others get their part of what is
        waiting."""
        with self._changed:
            while True:
                part = 1 + len(self._waiting) // (2 * len(self.slots))
                bundle: list[PieceOfWork] = []
                while self._waiting and len(bundle) < min(most, part):
                    piece = self._waiting.popleft()
                    if piece.future.set_running_or_notify_cancel():
                        bundle.append(piece)
                if bundle or self._over:
                    return bundle
                self._idle += 1
                self._changed.wait()
                self._idle -= 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with ``cancel_futures`` also those that are at work."""
        with self._changed:
            self._over = True
            cancelled = list(self._waiting) if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
            self._changed.notify_all()
        for piece in cancelled:
            piece.future.cancel()
        if cancel_futures:
            for slot in self.slots:
                slot.kill()
        if wait:
            for thread in self._threads:
                thread.join()
            for slot in self.slots:
                slot.end()


def _do(slot: WorkerSlot, bundle: list[PieceOfWork]) -> None:
    """Let the process do a bundle, and tell what comes of it."""
    left = iter(bundle)
    try:
        for good, result in slot.run_all([(one.act, one.arguments) for one in bundle]):
            piece = next(left)
            if good:
                piece.future.set_result(result)
            else:
                piece.future.set_exception(result)
    except BaseException as error:
        for piece in left:
            piece.future.set_exception(error)
