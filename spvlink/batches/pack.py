"""Modules in one file, named by their content: to make a file for each costs more time than to plan
its link.

Each module stands behind its digest and its size. What a kill left half is cut off when the file is
opened; what is damaged otherwise is seen when it is read, and counts as never written.
"""

from __future__ import annotations

import os
import struct
from typing import Final

from spvlink.batches.pipelines import DIGEST, digest_of

_HEAD: Final = struct.Struct(f"<{DIGEST}sI")


class ModulePack:
    """Raises OSError where the file cannot be read or written. In memory a module takes some 150
    bytes, whatever its size is."""

    def __init__(self, path: str) -> None:
        mode = "r+b" if os.path.exists(path) else "w+b"
        self._file = open(path, mode, buffering=0)  # noqa: SIM115
        self._places: dict[bytes, tuple[int, int]] = {}  # of each module: where it is, its size
        self._end = 0
        self._scan(os.path.getsize(path))
        self._file.truncate(self._end)

    def _scan(self, size: int) -> None:
        while self._end + _HEAD.size <= size:
            self._file.seek(self._end)
            digest, length = _HEAD.unpack(self._file.read(_HEAD.size))
            start = self._end + _HEAD.size
            if start + length > size:
                return
            self._places[digest] = start, length
            self._end = start + length

    def __contains__(self, name: str) -> bool:
        return bytes.fromhex(name) in self._places

    def get(self, name: str) -> bytes | None:
        """The module of this digest; None if there is none, or it is damaged: then it is none any
        more."""
        digest = bytes.fromhex(name)
        if digest not in self._places:
            return None
        start, length = self._places[digest]
        self._file.seek(start)
        data: bytes = self._file.read(length)
        if digest_of(data) != name:
            del self._places[digest]
            return None
        return data

    def put(self, name: str, data: bytes) -> None:
        """Keep a module under its digest."""
        digest = bytes.fromhex(name)
        record = memoryview(_HEAD.pack(digest, len(data)) + data)
        written = 0
        try:
            self._file.seek(self._end)
            while written < len(record):
                rest = record[written:]
                written += self._file.write(rest) or 0
        except OSError:
            self._file.truncate(self._end)
            raise
        self._places[digest] = self._end + _HEAD.size, len(data)
        self._end += len(record)

    def close(self) -> None:
        self._file.close()
