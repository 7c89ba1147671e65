"""A process that does one piece of work after the other: both ends.

It is started as a program of its own, not by ``multiprocessing``: so its parent knows by what it
died, may stop it at any moment, and may itself be any process, a script without a main guard or a
daemon (Dask's workers are) included. Both sides send a length and a pickle: pieces of work come
together, since a message costs a twentieth of a small link, and each is answered when it is done.
The child ends when its parent does: it sees the end of its input, even while it works.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final

from spvlink import spawn, system, validate
from spvlink.errors import Broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# What to call, and with what.
Errand = tuple["Callable[..., Any]", tuple[Any, ...]]
_SIZE: Final = struct.Struct("<Q")
_COUNT: Final = struct.Struct("<I")
TIMEOUT: Final = "timeout"
MEMORY: Final = "memory"
CRASHED: Final = "crashed"
_EVERY: Final = 0.05  # seconds between two looks at the clock
_IDLE: Final = 5.0
_START: Final = 60.0  # seconds until a process that does not say hello is given up
_NO_MEMORY: Final = 86  # the status with which a process ends that has no memory left
# Compiled code raises no MemoryError where an integer finds no memory. It prints this and aborts
# (CPyError_OutOfMemory in mypyc's exc_ops.c).
_ABORTED: Final = "fatal: out of memory"


class Trouble(Exception):
    """Work that cost its process. ``kind``: TIMEOUT, MEMORY or CRASHED."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(kind, reason)  # both: so it can be pickled
        self.kind = kind
        self.reason = reason


# -- the process that asks -------------------------------------------------------------------------


class WorkerSlot:
    """Place for one process, which is started when it is needed and replaced when it is lost, or
    has done ``uses`` pieces of work. ``timeout``: seconds for each, or for each part of one that
    has a ``weight``. ``memory``: MB that the process may have, 0 for no limit."""

    def __init__(self, timeout: float, memory: int, uses: int = 2000) -> None:
        self.timeout = timeout
        self.memory = memory
        self.uses = uses
        self.used = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.errors: IO[bytes] | None = None  # what the process writes to its standard error
        self.last_error = ""  # the last line of it when the process ended
        self.late: subprocess.Popen[bytes] | None = None  # stopped because of the time
        self.closed = False

    def run(self, act: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """``act(*arguments)`` in the process; what it raises is raised here. A process that died is
        tried once more in another one: something else may have killed it. Raises Trouble, and
        Broken if no process can be started."""
        ((good, result),) = self.run_all([(act, arguments)])
        if not good:
            raise result
        return result

    def run_all(self, errands: Sequence[Errand]) -> Iterator[tuple[bool, Any]]:
        """``run`` of several that travel together: as they come, (True, what came of it) or (False,
        what was raised) of each. What costs a process costs no other errand. Raises Broken."""
        done = 0
        again = False
        while done < len(errands):
            rest = errands[done : done + 1] if again else errands[done:]
            try:
                for answer in self._answers(rest):
                    done += 1
                    again = False
                    yield answer
            except Trouble as trouble:
                again = not again and trouble.kind == CRASHED and not self.closed
                if not again:
                    done += 1
                    yield False, trouble

    def _answers(self, errands: Sequence[Errand]) -> Iterator[tuple[bool, Any]]:
        """Raises Trouble of the first errand that has no answer yet."""
        process = self.process or self._start()
        assert process.stdin is not None and process.stdout is not None
        data = _COUNT.pack(len(errands)) + pickle.dumps(errands)
        for at, (_, arguments) in enumerate(errands):
            weight = getattr(arguments[0], "weight", 1) if arguments else 1
            seconds = self.timeout * weight
            answer = None
            with self._clock(process, seconds), contextlib.suppress(OSError):
                if at == 0:
                    _send(process.stdin, data)
                answer = _receive(process.stdout)
            if answer is None:
                raise self._trouble(process, seconds)
            self.used += 1
            if at == len(errands) - 1 and self.used >= self.uses:
                self.end()  # nothing may add up
            yield pickle.loads(answer)

    def _trouble(self, process: subprocess.Popen[bytes], seconds: float) -> Trouble:
        """Why there is no answer of a process."""
        status = self.end()
        if self.late is process:
            return Trouble(TIMEOUT, f"it took more than {seconds:g} s")
        if status == _NO_MEMORY or self.last_error == _ABORTED:
            return Trouble(MEMORY, f"it took more than {self.memory} MB of memory")
        return Trouble(CRASHED, f"the linker process {_death(status)} at it")

    def _start(self) -> subprocess.Popen[bytes]:
        """Start the process and wait until it is ready. Raises Broken."""
        if self.closed:
            raise Broken("a worker process does not start: its pool is shut down")
        program = (
            f"import sys; sys.path[:] = {sys.path!r};"
            f" from spvlink.batches.slot import serve; serve({self.memory})"
        )
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        process = system.start([sys.executable, "-c", program], self.errors)
        self.process, self.used = process, 0
        assert process.stdout is not None
        if self.closed:
            self._stop(process)
        with self._clock(process, max(self.timeout, _START)):
            hello = _receive(process.stdout)
        if hello is None:
            status = self.end()
            why = self.last_error or f"it {_death(status)}"
            raise Broken(f"a worker process does not start: {why}")
        return process

    @contextlib.contextmanager
    def _clock(self, process: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
        """Stop the process if this takes longer."""
        act = partial(self._stop, process)
        _watch.begin(act, seconds)
        try:
            yield
        finally:
            _watch.end(act)

    def _stop(self, process: subprocess.Popen[bytes]) -> None:
        self.late = process
        system.stop(process)

    def end(self) -> int:
        """End the process; gives how it ended, as ``subprocess`` says it."""
        process, self.process = self.process, None
        if process is None:
            return 0
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()  # it leaves by itself if it can
        if process.poll() is None:
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                system.stop(process)
        status = process.wait()
        assert process.stdout is not None
        process.stdout.close()
        assert self.errors is not None
        with self.errors as errors:
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
        self.last_error = lines[-1] if lines else ""
        return status

    def kill(self) -> None:
        """Stop whatever it does, from another thread, for good."""
        self.closed = True
        process = self.process
        if process is not None:
            self._stop(process)


class _Watch:
    """Does things when their time has come, if they are not ended before: one thread for all, since
    one for each piece of work costs a tenth of what the process does. It may be late by ``_EVERY``,
    and leaves when it had nothing to do for ``_IDLE`` seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._acts: dict[Callable[[], None], float] = {}
        self._running = False

    def begin(self, act: Callable[[], None], seconds: float) -> None:
        with self._lock:
            self._acts[act] = time.monotonic() + seconds
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, daemon=True).start()

    def end(self, act: Callable[[], None]) -> None:
        with self._lock:
            self._acts.pop(act, None)

    def _run(self) -> None:
        busy = time.monotonic()
        while True:
            time.sleep(_EVERY)
            now = time.monotonic()
            with self._lock:
                late = [act for act, until in self._acts.items() if until <= now]
                for act in late:
                    del self._acts[act]
                busy = now if self._acts or late else busy
                if now - busy > _IDLE:
                    self._running = False
                    return
            for act in late:
                with contextlib.suppress(OSError):
                    act()


_watch: Final = _Watch()


def _death(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"died of {signal.Signals(-status).name}"
    except ValueError:
        return f"died of signal {-status}"


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes | None:
    """The next message, None at the end."""
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        return None
    size = _SIZE.unpack(head)[0]
    data = stream.read(size)
    return data if len(data) == size else None


# -- the process that works ------------------------------------------------------------------------


def serve(memory: int) -> None:
    """The life of the process; does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Serve the process that hands out work first: else workers wait for each other's time slices.
    system.serve_others_first()
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.dup2(empty, 1)  # what anybody prints must not get between the answers
    import queue

    # All of it is imported before the clock of the first job starts.
    import spvlink.batches.work
    import spvlink.chain.remarks  # noqa: F401
    from spvlink.valid_modules import ValidModules

    if memory:
        system.limit_memory(memory)  # spirv-val limits its own alike
    spawn.side_by_side = False  # a worker is one core
    validate.known = ValidModules()
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, waiting), daemon=True).start()
    _send(outgoing, b"")
    try:
        while True:
            for answer in _work(waiting.get()):
                _send(outgoing, answer)
    except MemoryError:
        os._exit(_NO_MEMORY)


def _listen(incoming: IO[bytes], waiting: Any) -> None:
    """Hand on what comes. At the end the parent has gone, or wants us to: in the middle of work,
    and with the children that it has."""
    try:
        while (data := _receive(incoming)) is not None:
            waiting.put(data)
    except MemoryError:
        os._exit(_NO_MEMORY)
    system.leave_with_children()


def _work(data: bytes) -> Iterator[bytes]:
    """The answers to the errands of a message."""
    (count,) = _COUNT.unpack_from(data)
    try:
        errands: list[Errand] = pickle.loads(memoryview(data)[_COUNT.size :])
    except MemoryError:
        raise
    except Exception as error:
        yield from [_exception(error)] * count
        return
    for act, arguments in errands:
        yield _answer(act, arguments)


def _answer(act: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """(True, what came of it) or (False, the exception), pickled. MemoryError is raised: there may
    be no room to say it."""
    try:
        return pickle.dumps((True, act(*arguments)))
    except MemoryError:
        raise
    except Exception as error:
        return _exception(error)


def _exception(error: Exception) -> bytes:
    try:
        return pickle.dumps((False, error))
    except Exception:  # one that does not travel
        return pickle.dumps((False, Broken(f"{type(error).__name__}: {error}")))
