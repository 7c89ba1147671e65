"""glslang for tests. Starting it is what takes time (50 ms), so scripts/test has what it made kept
in the folder that $SPVLINK_GLSLANG names, for the suite's second run on the compiled package."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
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


@cache
def _compiler() -> tuple[object, ...]:
    """What tells one compiler from another."""
    found = os.stat(shutil.which("glslangValidator") or "")
    return found.st_size, found.st_mtime_ns


def compile_files(options: Sequence[str], sources: dict[str, str], made: str = "") -> list[bytes]:
    """The modules that one run makes of ``sources`` (file name -> text), ``options`` before the
    names; ``made``: the name of the only one, else a module is called as its stage, the suffix of
    its source. Raises Failure with the compiler's words, Died."""
    outs = [made] if made else [name.rpartition(".")[2] + ".spv" for name in sources]
    keep = os.environ.get("SPVLINK_GLSLANG")
    key = repr((_compiler(), list(options), sources, made))
    kept = Path(keep, hashlib.sha256(key.encode()).hexdigest()) if keep else None
    if kept is not None and kept.exists():
        return [(kept / out).read_bytes() for out in outs]
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=keep, ignore_cleanup_errors=True) as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text)
        run(["glslangValidator", *options, *(["-o", made] if made else []), *sources], folder)
        modules = [Path(folder, out).read_bytes() for out in outs]
        if kept is not None:
            with suppress(OSError):  # the other process was faster
                os.rename(folder, kept)  # whole, or not at all
        return modules
