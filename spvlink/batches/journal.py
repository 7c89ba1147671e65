"""One file that only grows: what was written under a key, and survives a kill at any moment.

A line each: a digest of the rest of the line, the key, and text without line feeds. What is not
whole (a kill, a machine without power) is seen by its digest and counts as never written; the last
line of a key counts.
"""

from __future__ import annotations

import os
from array import array
from typing import Final

from spvlink.batches.pipelines import digest_of
from spvlink.digest_table import DigestTable

KEY: Final = 32  # bytes


class Journal:
    """Raises OSError where the file cannot be read or written. Keys are of ``KEY`` bytes; in memory
    each takes some 60 bytes, whatever its text is."""

    def __init__(self, path: str) -> None:
        mode = "r+b" if os.path.exists(path) else "w+b"
        self._file = open(path, mode, buffering=0)  # noqa: SIM115
        self._keys = DigestTable(KEY)
        self._places, self._sizes = array("Q"), array("I")  # of each text
        self._end = 0
        with open(path, "rb") as file:
            for line in file:
                self._note(line)
        self._file.truncate(self._end)

    def _note(self, line: bytes) -> None:
        """Take a line that was found, if it is whole."""
        start = self._end
        if not line.endswith(b"\n"):
            return  # the last one: the next one takes its place
        self._end += len(line)
        seal, _, rest = line[:-1].partition(b" ")
        key, _, text = rest.partition(b" ")
        if digest_of(rest).encode() == seal and len(key) == 2 * KEY:
            self._keep(bytes.fromhex(key.decode()), start + len(line) - 1 - len(text), len(text))

    def _keep(self, key: bytes, place: int, size: int) -> None:
        number = self._keys.add(key)
        if number == len(self._places):
            self._places.append(place)
            self._sizes.append(size)
        else:
            self._places[number], self._sizes[number] = place, size

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, key: bytes) -> bytes | None:
        """The text of a key."""
        number = self._keys.find(key)
        if number is None:
            return None
        self._file.seek(self._places[number])
        text: bytes = self._file.read(self._sizes[number])
        return text

    def put(self, key: bytes, text: bytes) -> None:
        """Keep a text, which is not empty and has no line feed."""
        rest = key.hex().encode() + b" " + text
        line = digest_of(rest).encode() + b" " + rest + b"\n"
        written = 0
        try:
            self._file.seek(self._end)
            while written < len(line):
                written += self._file.write(line[written:]) or 0
        except OSError:
            self._file.truncate(self._end)
            raise
        self._end += len(line)
        self._keep(key, self._end - 1 - len(text), len(text))

    def close(self) -> None:
        self._file.close()
