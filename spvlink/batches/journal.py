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
        mode = "r+b" if os.path.exists(path) else "w+b"
        self._file = open(path, mode, buffering=0)  # noqa: SIM115
        self._places: dict[bytes, tuple[int, int]] = {}  # of each text: where it is, and its size
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
        if digest_of(rest).encode() == seal:
            place = start + len(line) - 1 - len(text), len(text)
            self._places[bytes.fromhex(key.decode())] = place

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: bytes) -> bytes | None:
        """The text of a key."""
        start, size = self._places.get(key, (0, 0))
        if not size:
            return None
        self._file.seek(start)
        text: bytes = self._file.read(size)
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
        self._places[key] = self._end - 1 - len(text), len(text)

    def close(self) -> None:
        self._file.close()
