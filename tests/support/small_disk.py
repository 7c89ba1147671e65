"""A disk that gets full."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


def on_a_small_disk(folder: Path, kilobytes: int, then: str) -> list[str]:
    """The start of a command that runs with a file system of its own, of so many kilobytes, over
    the folder; ``then`` are words of the shell about it, in which $0 is the folder."""
    folder.mkdir(exist_ok=True)
    mount = f'mount -t tmpfs -o size={kilobytes}k tmpfs "$0" && {then} exec "$@"'
    for how in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        command = ["unshare", *how, "sh", "-c", mount, str(folder)]
        if (
            subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode
            == 0
        ):
            return command
    pytest.skip("this machine lets nobody mount a file system, not even in a namespace of its own")
