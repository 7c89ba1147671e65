"""Programs run with the Vulkan layer and without, to be compared: what scripts/bench-layer and
scripts/programs share."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import sys
from pathlib import Path

from spvlink.layer import build, places, run

ROOT = Path(__file__).resolve().parents[2]
NOBODY = "/no/such/python"  # in place of the linker process's


class Folders:
    """Folders of a user of its own, for this process and those that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        os.environ["XDG_RUNTIME_DIR"] = str(folder / "run")
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        os.environ["XDG_CACHE_HOME"] = str(folder / "builds")
        os.environ["PYTHONPATH"] = str(ROOT)
        os.environ["MESA_SHADER_CACHE_DISABLE"] = "true"  # no process helps the next one
        (folder / "run").mkdir(mode=0o700)
        self.built = build.built()

    def layered(self, cache: str, **settings: str) -> dict[str, str]:
        """The variables of a program that runs with the layer. The linker process ends a second
        after its last work."""
        variables = run.environment(self.built, os.environ)
        for key, value in {**settings, "CACHE_DIR": cache, "IDLE_S": "1"}.items():
            variables[places.VARIABLE + key] = value
        return variables


def wait_for_linker(cache: str) -> None:
    """Until the linker process of this cache has ended: it would disturb what comes next."""
    path = places.socket(places.identity(), cache).removesuffix(".socket") + ".lock"
    if not os.path.exists(path):
        return
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def adopt_orphans() -> None:
    """The linker process and its workers become ours when the program ends, so that what they used
    can be counted (prctl(2))."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def used_by_children() -> float:
    """Seconds of processor time of all processes below this one, which are waited for."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return used_so_far()


def used_so_far() -> float:
    """The same of those that were waited for before."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def machine() -> str:
    """The processor and Python, for below a table."""
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores of {model}, Python {sys.version.split()[0]}"


def write_docs(script: str, text: str) -> None:
    """Put a table into docs/reference/layer.md, between the marks of the script that made it."""
    page = ROOT / "docs" / "reference" / "layer.md"
    head, begin, rest = page.read_text().partition(f"<!-- written by {script} -->\n")
    _, end, tail = rest.partition("<!-- end -->\n")
    assert begin and end, f"docs/reference/layer.md has no place for the table of {script}"
    page.write_text(f"{head}{begin}{text}{end}{tail}")
