"""glslang for tests. Starting glslangValidator is what takes time (50 ms), so scripts/setup builds
glslang_many.cpp, a process that compiles one job after the other; scripts/test names it in
$SPVLINK_GLSLANG. Without it, and with options that it does not have, glslangValidator compiles."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path


class Failure(AssertionError):
    """A tool refuses what it is given, or a promise is broken."""


class Died(Failure):
    """A compiler crashed."""


def run(command: Sequence[str], folder: str | None = None) -> None:
    """Run a compiler in a folder. Raises Failure with its words, Died."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode < 0:
        raise Died(f"{command[0]} died of signal {-done.returncode}")
    if done.returncode:
        raise Failure(f"{command[0]}: {(done.stdout + done.stderr)[:2000]}")


def compile_files(options: Sequence[str], sources: dict[str, str], made: str = "") -> list[bytes]:
    """The modules that one run makes of ``sources`` (file name -> text), ``options`` before the
    names; ``made``: the name of the only one, else a module is called as its stage, the suffix of
    its source. Raises Failure with the compiler's words, Died."""
    program = os.environ.get("SPVLINK_GLSLANG", "")
    known = _environment_and_debug(options)
    if known and os.path.isfile(program):
        return _server(program, os.getpid()).compile(*known, sources)
    return compile_alone(options, sources, made)


def compile_alone(options: Sequence[str], sources: dict[str, str], made: str = "") -> list[bytes]:
    """As ``compile_files``, by glslangValidator."""
    outs = [made] if made else [name.rpartition(".")[2] + ".spv" for name in sources]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text)
        run(["glslangValidator", *options, *(["-o", made] if made else []), *sources], folder)
        return [Path(folder, out).read_bytes() for out in outs]


def _environment_and_debug(options: Sequence[str]) -> tuple[str, str] | None:
    """What these options ask for, unless they ask for what glslang_many.cpp does not have."""
    environment, debug = "vulkan1.0", "-"
    rest = iter(options)
    for option in rest:
        if option == "--target-env":
            environment = next(rest)
        elif option in ("-g", "-gVS"):
            debug = option
        elif option not in ("-V", "--quiet"):
            return None
    if environment not in ("vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"):
        return None
    return environment, debug


class _Server:
    """A process of glslang_many.cpp."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.asks, self.answers = self.process.stdin, self.process.stdout
        self.one_at_a_time = threading.Lock()  # a pool of threads asks the same process

    def compile(self, environment: str, debug: str, sources: dict[str, str]) -> list[bytes]:
        """The modules of a program's sources. Raises Failure, Died."""
        texts = {name: text.encode() for name, text in sources.items()}
        asked = [f"{environment} {debug} {len(texts)}\n".encode()]
        for name, text in texts.items():
            asked += [f"{name} {len(text)}\n".encode(), text]
        try:
            with self.one_at_a_time:
                self.asks.write(b"".join(asked))
                self.asks.flush()
                verdict, number = self.answers.readline().split()
                if verdict == b"ok":
                    return [self._taken(int(self.answers.readline())) for _ in range(int(number))]
                raise Failure(f"glslang: {self._taken(int(number)).decode()[:2000]}")
        except (OSError, ValueError):
            _server.cache_clear()
            self.process.kill()
            raise Died(f"glslang died: status {self.process.wait()}") from None

    def _taken(self, size: int) -> bytes:
        data = self.answers.read(size)
        if len(data) < size:
            raise ValueError("the process ended")
        return data


@cache
def _server(program: str, process: int) -> _Server:
    """The one of this process: what is inherited by a fork stays the parent's."""
    return _Server(program)
