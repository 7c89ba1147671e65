"""``spvlink layer warm``: what a Fossilize archive holds goes into the cache of linked modules, so
that a program finds it at its first start.

Requests are those that the layer itself would send (``wire``), and a linker process answers them:
the one that runs for this cache, or one of our own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import time

from spvlink import validate
from spvlink.archive.archive import Archive
from spvlink.errors import BadArchive, Usage
from spvlink.layer import libraries, places, wire
from spvlink.layer.recorded import request_of
from spvlink.layer.serve import LINK_LIMIT, serve
from spvlink.layer.store import LayerCache
from spvlink.report import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from typing import Any, Final

    from spvlink.layer.recorded import LayerSettings

START_LIMIT: Final = 20.0  # seconds until a linker process listens
_WIDTH: Final = 100  # columns
_SIZES: Final = struct.Struct("<2I")
_WORDS: Final = {
    wire.LINKED: "linked",
    wire.NOTHING_TO_GAIN: "with nothing to gain",
    wire.PASSED_THROUGH: "not to be linked",
    wire.NOT_NOW: "not done",
}


class Tally:
    """How it went: pipelines in the archive, distinct requests among them, what became of these,
    and the reasons of all that was not linked."""

    def __init__(self) -> None:
        self.pipelines = 0
        self.keys: set[bytes] = set()
        self.became = dict.fromkeys(_WORDS, 0)
        self.reasons: dict[str, int] = {}
        self.libraries = 0  # distinct ones of half the shaders that meet others
        self.frozen = 0  # of these, linked
        self.interfaces = 0
        self.trouble = ""  # of the linker process with its disk

    def reason(self, text: str) -> None:
        self.reasons[text] = self.reasons.get(text, 0) + 1

    def text(self, cache: str) -> str:
        parts = [f"{count} {_WORDS[status]}" for status, count in self.became.items() if count]
        lines = [
            f"{self.pipelines} pipelines, {len(self.keys)} distinct: {', '.join(parts) or 'none'};"
            f" they are in {cache}"
        ]
        if self.libraries:
            lines.append(
                f"{self.libraries} libraries that hold half of the shaders, {self.frozen} of them"
                f" linked against {self.interfaces} frozen interfaces"
            )
        for text, count in sorted(self.reasons.items(), key=lambda item: -item[1]):
            lines += wrap(f"  {count} times: {text}", _WIDTH, "    ")
        return "\n".join(lines) + "\n"


def warm(
    archives: Sequence[str], settings: LayerSettings, cache: str, cache_mb: int, jobs: int
) -> str:
    """Do it; gives what to say. Raises BadArchive, and Usage if no linker process can be had or the
    cache cannot be written."""
    if not validate.available():
        raise validate.missing()
    tally = Tally()
    with Archive(archives) as archive, _linker(cache, cache_mb, jobs) as path:
        _ask_all(path, _requests(archive, settings, cache, tally), 2 * jobs, tally)
        _freeze(archive, settings, LayerCache(cache, cache_mb << 20), jobs, tally)
        for line in archive.warnings:
            tally.reason(f"warning: {line}")
    if tally.trouble:
        raise Usage(f"{cache}: {tally.trouble}")
    return tally.text(cache)


# -- requests --------------------------------------------------------------------------------------


def _requests(
    archive: Archive, settings: LayerSettings, cache: str, tally: Tally
) -> Iterator[bytes]:
    """What the layer would ask for each pipeline, each request once."""
    identity = places.identity(cache)
    for recorded in archive.pipelines():
        tally.pipelines += 1
        if recorded.part or recorded.libraries:
            continue  # ``_freeze``
        if recorded.reason is not None:
            tally.reason(f"left out: {recorded.reason}")
            continue
        try:
            data = wire.write_request(request_of(archive, recorded, identity, settings))
        except BadArchive as error:
            tally.reason(f"left out: {error.message}")
            continue
        key, _ = wire.read_key(data)
        if key not in tally.keys:
            tally.keys.add(key)
            yield data


# -- libraries -------------------------------------------------------------------------------------


def _freeze(
    archive: Archive, settings: LayerSettings, store: LayerCache, jobs: int, tally: Tally
) -> None:
    """Libraries that hold half of the shaders, with interfaces that those that meet share."""
    families, reasons = libraries.families(archive, places.identity(store.folder), settings)
    for text in reasons:
        tally.reason(text)
    tally.libraries = sum(len(f.producers) + len(f.consumers) for f in families)
    for frozen in _each(families, jobs):
        tally.interfaces += bool(frozen.answers)
        for key, answer in frozen.answers:
            tally.frozen += 1
            if store.get(key) != answer:
                store.put(key, answer)
        for text in frozen.reasons:
            tally.reason(f"a library: {text}")
    tally.trouble = tally.trouble or store.trouble


def _each(families: list[libraries.LibraryFamily], jobs: int) -> Iterator[libraries.Frozen]:
    """Link all families, ``jobs`` at a time. Raises Usage if a worker dies."""
    if jobs == 1 or len(families) < 2:
        yield from map(libraries.link_family, families)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    try:
        with ProcessPoolExecutor(min(jobs, len(families))) as workers:
            yield from workers.map(libraries.link_family, families)
    except BrokenProcessPool:
        raise Usage("a process that linked libraries died: out of memory?") from None


# -- the linker process ----------------------------------------------------------------------------


@contextlib.contextmanager
def _linker(cache: str, cache_mb: int, jobs: int) -> Iterator[str]:
    """The socket of a linker process for this cache. Raises Usage."""
    path = places.socket(places.identity(cache), cache)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            serve(cache, cache_mb, START_LIMIT, jobs)  # or there is one already
            status = 0
        finally:
            os._exit(status)
    ended = False
    try:
        deadline = time.monotonic() + START_LIMIT
        while not _listens(path):
            ended = ended or os.waitpid(child, os.WNOHANG)[0] == child
            if time.monotonic() > deadline:
                raise Usage("no linker process could be started")
            time.sleep(0.02)
        yield path
    finally:
        if not ended:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        return client.connect_ex(path) == 0


def _ask_all(path: str, requests: Iterator[bytes], window: int, tally: Tally) -> None:
    """Send them, ``window`` at a time."""
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    waiting: set[Future[Any]] = set()
    with ThreadPoolExecutor(window) as threads:
        for data in requests:
            waiting.add(threads.submit(_ask, path, data))
            if len(waiting) >= window:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                _count(done, tally)
        _count(waiting, tally)


def _count(done: set[Future[Any]], tally: Tally) -> None:
    for future in done:
        status, reason, trouble = future.result()
        tally.became[status] += 1
        if status in (wire.PASSED_THROUGH, wire.NOT_NOW):
            tally.reason(reason)
        tally.trouble = tally.trouble or trouble


def _ask(path: str, data: bytes) -> tuple[int, str, str]:
    """Status and reason of the answer, and trouble with the disk."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(2 * LINK_LIMIT)  # one link, and one before it
            client.connect(path)
            client.sendall(data)
            with client.makefile("rb") as stream:
                size, more = _SIZES.unpack(stream.read(_SIZES.size))
                answer, trouble = stream.read(size), stream.read(more)
        key, _ = wire.read_key(data)
        if wire.is_answer(answer, key):
            status, reason = wire.status_of(answer), wire.reason_of(answer)
            return status, reason, trouble.decode("utf-8", "replace")
    except (OSError, struct.error):
        pass
    return wire.NOT_NOW, "the linker process went away", ""
