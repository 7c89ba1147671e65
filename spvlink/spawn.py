"""Child processes without the ``subprocess`` module, whose import costs more than a small link.

Only what spvlink needs: several programs at once, each fed with bytes, each giving back its output.
"""

from __future__ import annotations

import os
import sys

side_by_side = True  # whether ``run_all`` may use more cores than this process itself

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence


def find(program: str) -> str | None:
    """The path of a program in PATH, or None."""
    name = f"{program}.exe" if os.name == "nt" else program
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


class _Child:
    __slots__ = ("pid", "stdin", "stdout")
    pid: int
    stdin: int
    stdout: int

    def __init__(self, command: Sequence[str], path: str) -> None:
        if sys.platform == "win32":
            raise OSError("Windows has no posix_spawn")
        child_in, ours_in = os.pipe()
        ours_out, child_out = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, child_in, 0),
            (os.POSIX_SPAWN_DUP2, child_out, 1),
            (os.POSIX_SPAWN_DUP2, child_out, 2),
        ]
        try:
            self.pid = os.posix_spawn(path, list(command), os.environ, file_actions=actions)
        except OSError:
            os.close(ours_in)
            os.close(ours_out)
            raise
        finally:
            os.close(child_in)
            os.close(child_out)
        self.stdin, self.stdout = ours_in, ours_out

    def feed(self, data: bytes) -> None:
        """Write everything to the child's standard input and close it."""
        view = memoryview(data)
        try:
            while view:
                written = os.write(self.stdin, view)  # in the slice mypyc would call it twice
                view = view[written:]
        except BrokenPipeError:
            pass  # it has seen enough; its output says why
        finally:
            os.close(self.stdin)

    def finish(self) -> tuple[int, bytes]:
        """Exit status (negative: the signal that ended it) and output, both streams together."""
        chunks = []
        while chunk := os.read(self.stdout, 1 << 16):
            chunks.append(chunk)
        os.close(self.stdout)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status), b"".join(chunks)


def run_all(jobs: Sequence[tuple[Sequence[str], bytes]]) -> list[tuple[int, bytes]]:
    """Run all (command, standard input) jobs side by side, or one after the other; a result as in
    ``_Child.finish`` each.

    Raises FileNotFoundError if the first word of a command is no program in PATH. The programs
    must read all of their input before they write much, as compilers and validators do.
    """
    if len(jobs) > 1 and not side_by_side:
        return [result for job in jobs for result in run_all([job])]
    paths = []
    for command, _ in jobs:
        path = find(command[0])
        if path is None:
            raise FileNotFoundError(command[0])
        paths.append(path)
    if sys.platform == "win32" or not hasattr(os, "posix_spawn"):
        return [_run(command, path, data) for (command, data), path in zip(jobs, paths)]
    children = [_Child(command, path) for (command, _), path in zip(jobs, paths)]
    for child, (_, data) in zip(children, jobs):
        child.feed(data)
    return [child.finish() for child in children]


def _run(command: Sequence[str], path: str, data: bytes) -> tuple[int, bytes]:
    """One job on a system without ``posix_spawn``."""
    import subprocess

    words = [path, *command[1:]]
    both = subprocess.STDOUT
    done = subprocess.run(words, input=data, stdout=subprocess.PIPE, stderr=both, check=False)
    return done.returncode, done.stdout
