"""``spvlink layer install`` and ``uninstall``: the layer for all programs of this user."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal

from spvlink import output
from spvlink.layer import build, log, places

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator


def install(implicit: bool) -> str:
    """Build the layer and tell the Vulkan loader of it; gives what to say. Raises Usage."""
    library = build.build(os.path.join(places.data(), "layer"))
    kind, other = ("implicit", "explicit") if implicit else ("explicit", "implicit")
    path = os.path.join(places.manifests(kind), build.MANIFEST)
    output.write_all([(path, build.manifest(library, implicit).encode())])
    replaced = _remove(os.path.join(places.manifests(other), build.MANIFEST))  # one name, one layer
    _forget_log()
    switches = [f"{build.ENABLE}=1", f"VK_INSTANCE_LAYERS={places.LAYER}"]
    switch, dead = switches if implicit else switches[::-1]
    said = f"installed {places.LAYER} ({path}); it is off until {switch} is set\n"
    if replaced:
        said += f"the {other} one is gone: {dead} does not switch it on any more\n"
    return said


def uninstall() -> str:
    """Remove the layer, its cache and its log, and end the linker processes; gives what to say.
    Raises Usage."""
    ended = sum(map(_end, _locks()))
    gone = [path for path in _ours() if _remove(path)]
    for path in (places.data(), os.path.dirname(places.builds()), places.state()):
        with contextlib.suppress(OSError):
            os.rmdir(path)  # if nothing else of ours is in it
    said = [f"removed {path}\n" for path in gone] + ["ended a linker process\n"] * ended
    return "".join(said) or "nothing was installed\n"


def _ours() -> Iterator[str]:
    for kind in ("explicit", "implicit"):
        yield os.path.join(places.manifests(kind), build.MANIFEST)
    yield os.path.join(places.data(), "layer")
    yield places.builds()
    yield places.cache()
    for name in log.FILES:
        yield os.path.join(places.state(), name)


def _locks() -> Iterator[str]:
    """Lock files of linker processes, which have their numbers in them."""
    for folder in places.runtimes()[:1]:
        with contextlib.suppress(OSError):
            status = os.lstat(folder)
            if status.st_uid != os.geteuid() or status.st_mode & 0o077:
                continue  # others may write there
            for name in os.listdir(folder):
                if name.endswith(".lock"):
                    yield os.path.join(folder, name)


def _end(path: str) -> bool:
    """End the process that holds a lock; whether there was one."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            number = os.read(lock, 20)
            if number.isdigit():  # the lock is held, so this is still its process
                with contextlib.suppress(OSError):
                    os.kill(int(number), signal.SIGTERM)
                    return True
        return False
    finally:
        os.close(lock)


def _forget_log() -> None:
    for name in (log.TOTAL, log.RUNS):
        _remove(os.path.join(places.state(), name))


def _remove(path: str) -> bool:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return True
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
