"""One file that only grows: what was written under a key, and survives a kill at any moment.

A line each: a digest of the rest of the line, the key, and text without line feeds. What is not
whole (a kill, a machine without power) is seen by its digest and counts as never written; the last
line of a key counts.
"""

from __future__ import annotations

import os

from spvlink.batches.pipelines import digest_of


class Journal:
    """Raises OSError where the file cannot be read or written. Keys are bytes; in memory each takes
    some 200 bytes, whatever its text is."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._places: dict[bytes, tuple[int, int]] = {}  # of each text: where it is, and its size
        self._end = 0
        with open(self._file, "rb", closefd=False) as file:
            for line in file:
                self._note(line)
        os.ftruncate(self._file, self._end)

    def _note(self, line: bytes) -> None:
        """Take a line that was found, if it is whole."""
        start = self._end
        if not line.endswith(b"\n"):
            return  # the last one: the next one takes its place
        self._end += len(line)
        seal, _, rest = line[:-1].partition(b" ")
        key, _, text = rest.partition(b" ")
        if digest_of(rest).encode() == seal:
            place = start + len(line) - 1 - len(text), len(text)
            self._places[bytes.fromhex(key.decode())] = place

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: bytes) -> bytes | None:
        """The text of a key."""
        start, size = self._places.get(key, (0, 0))
        return os.pread(self._file, size, start) if size else None

    def put(self, key: bytes, text: bytes) -> None:
        """Keep a text, which is not empty and has no line feed."""
        rest = key.hex().encode() + b" " + text
        line = digest_of(rest).encode() + b" " + rest + b"\n"
        written = 0
        try:
            while written < len(line):
                written += os.pwrite(self._file, line[written:], self._end + written)
        except OSError:
            os.ftruncate(self._file, self._end)
            raise
        self._end += len(line)
        self._places[key] = self._end - 1 - len(text), len(text)

    def close(self) -> None:
        os.close(self._file)
