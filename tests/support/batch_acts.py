"""What a worker of a batch may be told to do, by name: real work that goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

MARK = b"spvlink-test:"  # a module that starts so says what is to go wrong


def add(a: int, b: int) -> int:
    return a + b


def fail() -> None:
    raise LookupError("not here")


class Stubborn(Exception):
    """It cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("stubborn")
        self.held = open(os.devnull)  # noqa: SIM115


def fail_stubbornly() -> None:
    raise Stubborn


def process() -> int:
    return os.getpid()


def talk() -> str:
    print("a worker may print what it likes", flush=True)
    os.write(1, b"even so\n")
    return "done"


def hang(seconds: float = 1000.0) -> str:
    time.sleep(seconds)
    return "done"


def hang_with_child(note: str) -> None:
    """Wait for a child that would outlive it; its number goes into the file."""
    child = subprocess.Popen(["sleep", "1000"])
    Path(note).write_text(str(child.pid))
    child.wait()


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def kill_parent() -> None:
    """Take the process along that asked for this."""
    os.kill(os.getppid(), signal.SIGKILL)


def crash_once(note: str) -> str:
    """Killed from outside the first time, as by a system that is out of memory."""
    if not os.path.exists(note):
        Path(note).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def gorge() -> int:
    """Take memory until there is none."""
    taken = []
    while True:
        taken.append(bytearray(16 << 20))


class Riddle:
    """It travels, but nobody can read it."""

    def __reduce__(self) -> Any:
        return _read_riddle, ()


def _read_riddle() -> None:
    raise ValueError("riddle")


def abort() -> None:
    os.abort()


def abort_without_memory() -> None:
    """What compiled code does where an integer finds no memory."""
    os.write(2, b"fatal: out of memory\n")
    os.abort()


class Planted(Executor):
    """An executor that lets marked modules do what they say."""

    def __init__(self, inner: Executor) -> None:
        self.inner = inner

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        for data in args[1:]:
            if data.startswith(MARK):
                return self.inner.submit(globals()[data[len(MARK) :].decode()])
        return self.inner.submit(fn, *args)


def marked(job: Any, *modules: bytes) -> Any:
    """What marked modules say; any other job is done."""
    from spvlink.batches import work

    for data in modules:
        if data.startswith(MARK):
            return globals()[data[len(MARK) :].decode()]()
    return work.do(job, *modules)


class Marked(Planted):
    """The same for an executor that wants a job: the worker looks for marks."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self.inner.submit(marked, *args)
