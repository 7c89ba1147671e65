"""A page of what runs remember of an archive in a store (``--store``), as bytes.

    a digest                        of all that its results depend on beside pipelines
    three numbers                   modules, jobs, pipelines
    two sizes, compressed lines     a line of JSON for each of them, in that order
    pieces of bytes                 one for each of them, in that order

A module's piece is its entry in the output, a job's the text that ``JobStore`` has of it,
compressed, a pipeline's its entry in the output, or nothing where that stays as it was. Lines:

    module     [name, size of its piece]
    job        [key, kind, reason, verified, modules, new modules of the page, figures, flaws, size]
    pipeline   [key, print, keys that it names, their print, job of the page, labels, unread
                attributes, why it is no job, size]
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.entries import LIMIT, WrongEntry
from spvlink.batches.shape import NO_RESULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Line = list[Any]
MODULE, JOB, PIPELINE = range(3)  # kinds of lines
MOST: Final = 1 << 18  # bytes of the pieces of a page, roughly: several copies are in memory
_HEAD: Final = struct.Struct("<5I")
_LEVEL: Final = 1  # of zlib: the fastest


class PageBuilder:
    """Lines and pieces on their way into a page."""

    def __init__(self) -> None:
        self.lines: tuple[list[Line], list[Line], list[Line]] = [], [], []
        self.pieces: tuple[list[bytes], list[bytes], list[bytes]] = [], [], []
        self.size = 0

    def add(self, kind: int, line: Sequence[Any], piece: bytes) -> int:
        """Gives its number in the page."""
        self.lines[kind].append([*line, len(piece)])
        self.pieces[kind].append(piece)
        self.size += len(piece)
        return len(self.lines[kind]) - 1

    def content(self, salt: bytes) -> bytes:
        text = "\n".join(json.dumps(line) for part in self.lines for line in part).encode()
        packed = zlib.compress(text, _LEVEL)
        head = _HEAD.pack(*map(len, self.lines), len(text), len(packed))
        return b"".join([salt, head, packed, *(piece for part in self.pieces for piece in part)])


class MemoryPage:
    """A page that was read; ``at``: the size of the first digest. ``pieces``: all of them, one
    behind the other. Raises WrongEntry."""

    def __init__(self, content: bytes, at: int) -> None:
        try:
            *self.counts, size, packed = _HEAD.unpack_from(content, at)
            if size > LIMIT:
                raise ValueError
            begin = at + _HEAD.size
            end = begin + packed
            unpacking = zlib.decompressobj()
            text = unpacking.decompress(content[begin:end], size + 1)
            self._lines = text.split(b"\n")
            if len(text) != size or len(self._lines) != sum(self.counts):
                raise ValueError
        except (zlib.error, struct.error, *NO_RESULT):
            raise WrongEntry("it makes no sense") from None
        self.pieces = content[end:]

    def read(self) -> Iterator[tuple[int, Line, bytes, int]]:
        """Each line: its kind, what it says, its text and where its piece is. The size of that
        stands at the end. Raises one of NO_RESULT."""
        number = at = 0
        lines: list[Line] = json.loads(b"[%s]" % b",".join(self._lines))
        if len(lines) != len(self._lines):
            raise ValueError
        for kind, count in enumerate(self.counts):
            end = number + count
            for line, text in zip(lines[number:end], self._lines[number:end]):
                size = line[-1]
                if type(size) is not int or not 0 <= size <= len(self.pieces) - at:
                    raise ValueError
                yield kind, line, text, at
                at += size
            number = end
        if at != len(self.pieces):
            raise ValueError
