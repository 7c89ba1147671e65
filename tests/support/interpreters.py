"""Other Pythons of this machine that can run spvlink."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ASK = """
import hashlib, json, platform, sys, zlib
hashlib.blake2b(b"")
if sys.version_info >= (3, 11): print(platform.python_implementation(), platform.python_version())
"""


@cache
def others() -> dict[str, str]:
    """Programs by what they are ("CPython 3.13.0"): in PATH, those of pyenv, those of a machine
    that runs GitHub's jobs. Each version once, but not the one that runs this."""
    found: dict[str, str] = {}
    for program in _candidates():
        command = [program, "-I", "-c", _ASK]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip():
            found.setdefault(done.stdout.strip(), program)
    found.pop(_own(), None)
    return found


def _own() -> str:
    command = [sys.executable, "-I", "-c", _ASK]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _candidates() -> Iterator[str]:
    for name in [f"python3.{minor}" for minor in range(11, 20)] + ["pypy3", "graalpy"]:
        program = shutil.which(name)
        if program is not None:
            yield program
    pyenv = shutil.which("pyenv")
    if pyenv is not None:
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=True).stdout
        yield from map(str, sorted(Path(root.strip()).glob("versions/3.*/bin/python")))
    hosted = os.environ.get("RUNNER_TOOL_CACHE")
    if hosted:
        yield from map(str, sorted(Path(hosted).glob("Python/3.*/*/bin/python")))
