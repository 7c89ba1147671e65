"""Where operating systems differ: locks on files, and processes with children.

Linux, macOS and Windows have what is used here in different modules; ``spvlink layer`` alone needs
Linux.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lock(file: int) -> None:
    """Lock an open file until it is closed. Raises BlockingIOError if another process has it
    locked, another OSError if this file system cannot lock. A system without locks does nothing."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None
        return
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def start(command: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process that is fed and read through pipes and that ``stop`` ends together with its
    children. Ctrl-C in the terminal does not reach it. Raises OSError."""
    flags, group = 0, None
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP
    else:
        group = 0
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        creationflags=flags,
        process_group=group,
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process of ``start_group`` at once, its children too."""
    if process.returncode is not None:
        return
    if sys.platform == "win32":
        command = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        with contextlib.suppress(OSError):
            subprocess.run(command, capture_output=True, check=False)
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def leave_with_children() -> None:
    """End this process at once, and its children where it leads a group."""
    if sys.platform != "win32" and hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def serve_others_first() -> None:
    """Let processes that wait for this one run first, where the system can."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def limit_memory(megabytes: int) -> None:
    """Limit the private memory of this process that is written to, where the system can (Windows
    cannot). Addresses are not limited: allocators and threads reserve those by the gigabyte."""
    if sys.platform == "win32":
        return
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = megabytes << 20
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
