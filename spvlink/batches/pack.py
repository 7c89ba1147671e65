"""Modules in one file, named by their content: to make a file for each costs more time than to plan
its link.

Each module stands behind its digest and its size. What a kill left half is cut off when the file is
opened; what is damaged otherwise is seen when it is read, and counts as never written.
"""

from __future__ import annotations

import os
import struct
from array import array
from typing import Final

from spvlink.batches.pipelines import DIGEST, digest_of
from spvlink.digest_table import DigestTable

_HEAD: Final = struct.Struct(f"<{DIGEST}sI")


class ModulePack:
    """Raises OSError where the file cannot be read or written. In memory a module takes some 50
    bytes, whatever its size is."""

    def __init__(self, path: str) -> None:
        mode = "r+b" if os.path.exists(path) else "w+b"
        self._file = open(path, mode, buffering=0)  # noqa: SIM115
        self._names = DigestTable(DIGEST)
        self._places, self._sizes = array("Q"), array("I")  # of each module; 0: it is none any more
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
            self._keep(digest, start, length)
            self._end = start + length

    def _keep(self, digest: bytes, place: int, size: int) -> None:
        number = self._names.add(digest)
        if number == len(self._places):
            self._places.append(place)
            self._sizes.append(size)
        else:
            self._places[number], self._sizes[number] = place, size

    def __contains__(self, name: str) -> bool:
        return self._number(name) is not None

    def _number(self, name: str) -> int | None:
        number = self._names.find(bytes.fromhex(name))
        return number if number is not None and self._places[number] else None

    def get(self, name: str) -> bytes | None:
        """The module of this digest; None if there is none, or it is damaged: then it is none any
        more."""
        number = self._number(name)
        if number is None:
            return None
        self._file.seek(self._places[number])
        data: bytes = self._file.read(self._sizes[number])
        if digest_of(data) != name:
            self._places[number] = 0
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
        self._keep(digest, self._end + _HEAD.size, len(data))
        self._end += len(record)

    def close(self) -> None:
        self._file.close()
