"""The cache of linked modules: one file an answer, named by its key.

The oldest go first, by days, since the layer touches a file once a day. Those of one day go in the
order of their names, which is no order of use: a program whose pipelines do not all fit finds most
of them again, while the oldest of an order of use would always be the next that it asks for.

Only linker processes write here; the layer reads, and touches what it uses once a day. A file is
there as a whole or not at all, so no lock is needed.
"""

from __future__ import annotations

import contextlib
import os

from spvlink.layer import wire

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator

PENDING = "pending"  # requests that reached no linker process
BLOCK = 4096  # bytes: what a file takes on the disk is a multiple
DAY = 86400.0  # seconds


class LayerCache:
    """A cache folder with at most ``limit`` bytes of the disk. Trouble with the disk is no error:
    ``trouble`` holds the last one."""

    def __init__(self, folder: str, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self.trouble = ""
        self.size = sum(size for _, size, _ in self._files())

    def path(self, key: bytes) -> str:
        name = key.hex()
        return f"{self.folder}/{name[:2]}/{name[2:]}"

    def get(self, key: bytes) -> bytes | None:
        """The answer for this key, None if there is none or it is damaged."""
        try:
            with open(self.path(key), "rb") as file:
                data = file.read(wire.LIMIT)
        except OSError:
            return None
        return data if wire.is_answer(data, key) else None

    def put(self, key: bytes, answer: bytes) -> None:
        if self._write(self.path(key), answer):
            self.size += _blocks(len(answer))
            if self.size > self.limit:
                self.prune()

    def note(self, name: str, data: bytes) -> None:
        """A file beside the answers."""
        with contextlib.suppress(OSError), open(f"{self.folder}/{name}", "rb") as file:
            if file.read(len(data) + 1) == data:
                return
        self._write(f"{self.folder}/{name}", data)

    def _write(self, path: str, data: bytes) -> bool:
        """Whether it could be written."""
        temp = f"{path}.{os.getpid()}.new"
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            try:
                with open(temp, "xb") as file:
                    file.write(data)
                os.rename(temp, path)
            except OSError:
                _remove(temp)
                raise
        except OSError as error:
            self.trouble = f"the cache cannot be written: {error.strerror}"
            return False
        self.trouble = ""
        return True

    def prune(self) -> None:
        """Remove the oldest files until a tenth of the room is free."""
        files = sorted((time // DAY, path, size) for time, size, path in self._files())
        self.size = sum(size for _, _, size in files)
        for _, path, size in files:
            if self.size <= self.limit - self.limit // 10:
                break
            _remove(path)
            self.size -= size

    def _files(self) -> Iterator[tuple[float, int, str]]:
        """(time, bytes on the disk, path) of every answer, and of what a killed process left
        half-written."""
        for below in _listed(self.folder):
            if len(below.name) != 2:
                continue
            for entry in _listed(below.path):
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue  # another process was quicker
                yield status.st_mtime, _blocks(status.st_size), entry.path

    def pending(self) -> Iterator[bytes]:
        """Requests that reached no linker process; each is gone from the disk when it comes."""
        for entry in _listed(f"{self.folder}/{PENDING}"):
            try:
                with open(entry.path, "rb") as file:
                    data = file.read(wire.LIMIT + 8)
            except OSError:
                continue
            _remove(entry.path)
            yield data


def _blocks(size: int) -> int:
    """What a file of this size takes on the disk."""
    return -(-size // BLOCK) * BLOCK


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
