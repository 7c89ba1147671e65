"""Runs draws in a child process, because a driver may crash or depend on a bad module."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any


class Crashed(Exception):
    """The child process died or took too long; the message says which."""


def _serve(connection: Connection, function: Callable[..., Any]) -> None:
    while True:
        job = connection.recv()
        try:
            answer: tuple[bool, Any] = (True, function(*job))
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        connection.send(answer)


def run_isolated(
    function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], timeout: float = 60.0
) -> Iterator[Any]:
    """Yields function(*job) of each job, or the exception that says why there is none.

    function must be importable and its arguments and result picklable. One child serves all jobs;
    after a crash, or when a job takes more than `timeout` seconds, the next job gets a new one.
    What the function raises comes as RuntimeError with the type's name and the message.
    """
    context = multiprocessing.get_context("spawn")
    child: Any = None
    ours: Any = None
    try:
        for job in jobs:
            if child is None:
                ours, theirs = context.Pipe()
                child = context.Process(target=_serve, args=(theirs, function), daemon=True)
                child.start()
                theirs.close()
            answer = _ask(ours, job, timeout)
            if isinstance(answer, Crashed):
                child.kill()
                child.join()
                answer = Crashed(f"{answer} (exit code {child.exitcode})")
                child = None
            yield answer
    finally:
        if child is not None:
            child.kill()
            child.join()


def _ask(connection: Any, job: tuple[Any, ...], timeout: float) -> Any:
    try:
        connection.send(job)
        if not connection.poll(timeout):
            return Crashed(f"no answer in {timeout:g} s")
        good, value = connection.recv()
    except (EOFError, OSError):
        return Crashed("the process died")
    return value if good else RuntimeError(value)
