"""The container: files of entries, several of them as one.

A file is a header of 16 bytes, then entries to its end: 24 hex digits of tag, 16 of hash, four
little-endian words (stored size, format, CRC of what is stored or 0, size), the stored bytes. There
is no table of contents: the headers are read once, and of each entry the place is kept.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from array import array

from spvlink.archive.index import Index
from spvlink.errors import BadArchive, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Iterator, Sequence
    from io import FileIO
    from typing import BinaryIO, Final

MAGIC: Final = b"\x81FOSSILIZEDB\0\0\0"
VERSIONS: Final = (5, 6)
(
    APPLICATION, SAMPLER, SET_LAYOUT, PIPELINE_LAYOUT, MODULE, RENDER_PASS, GRAPHICS, COMPUTE, LINK,
    RAYTRACING, BUCKET,
) = range(11)  # fmt: skip
# In which order entries are written, so that what is referred to comes first.
ORDER: Final = (
    APPLICATION, MODULE, SAMPLER, SET_LAYOUT, PIPELINE_LAYOUT, RENDER_PASS, GRAPHICS, COMPUTE,
    RAYTRACING, LINK, BUCKET,
)  # fmt: skip
RAW, DEFLATE = 1, 2
_FORMATS: Final = (b"\1\0\0\0", b"\2\0\0\0")  # as they stand in a header
HEADER: Final = struct.Struct("<24s16s4I")
LIMIT: Final = 64 << 20  # bytes of a payload; as the layer takes of a request
_PIECE: Final = 1 << 20
WHOLE: Final = 1 << 20  # bytes that are read at once, of an entry with its header
FIRST: Final = 1 << 11  # bytes that most entries have at most
_WARNINGS: Final = 100
_OFFSET: Final = 48  # bits of a place that are the offset; above them the number of the file
_NAME: Final = re.compile(rb"[0-9a-fA-F]{40}")
# Zeros one by one: re looks for such a beginning several times as fast.
_START: Final = re.compile(b"0" * 22 + rb"[0-9a-f]{18}.{4}[\x01\x02]\0\0\0.{8}", re.DOTALL)


class Entry:
    """The header of an entry, and where it is. Sizes in bytes; ``crc`` 0: not checked."""

    __slots__ = ("at", "crc", "file", "format", "head", "size", "stored")

    def __init__(self, file: int, at: int, head: bytes) -> None:
        self.file = file
        self.at = at
        self.head = head
        figures: tuple[int, int, int, int] = HEADER.unpack(head)[2:]
        self.stored, self.format, self.crc, self.size = figures


class Union:
    """Files as one: of entries with the same tag and hash the first wins."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.warnings: list[str] = []
        self.version = 0
        self._unsaid = 0
        self._paths = list(paths)
        self._files: list[FileIO] = []
        self._tables: dict[int, Index] = {}
        self._foreign = array("I"), array("Q"), array("Q")  # tags above BUCKET; hashes; places
        self._nameless = array("Q")  # places of whole entries whose names are damaged
        try:
            for path in paths:
                self._open(path)
        except BaseException:
            self.close()
            raise
        for table in self._tables.values():
            table.settle()
        # The version says how keys were made; what we write adds nothing that 5 does not have.
        self.version = self.version or VERSIONS[-1]
        if self._unsaid:
            self.warnings.append(f"and {self._unsaid} more")

    def close(self) -> None:
        for file in self._files:
            file.close()

    # -- what there is --------------------------------------------------------------------------

    def count(self, tag: int) -> int:
        return len(self._tables[tag]) if tag in self._tables else 0

    def hashes(self, tag: int) -> Iterator[int]:
        """By ascending hash."""
        for hash, _ in self._tables.get(tag, ()):
            yield hash

    def entries(self, tag: int) -> Iterator[tuple[int, Entry]]:
        """(hash, entry) by ascending hash."""
        for hash, place in self._tables.get(tag, ()):
            yield hash, self._entry(place)

    def others(self) -> Iterator[Entry]:
        """Entries of tags that Fossilize does not know (yet), by tag and hash, then those whose
        names are damaged, in the order of the files."""
        tags, hashes, places = self._foreign
        last = None
        for at in sorted(range(len(tags)), key=lambda at: (tags[at], hashes[at])):
            if (tags[at], hashes[at]) != last:
                yield self._entry(places[at])
            last = tags[at], hashes[at]
        for place in self._nameless:
            yield self._entry(place)

    def has(self, tag: int, hash: int) -> bool:
        return tag in self._tables and self._tables[tag].find(hash) is not None

    def find(self, tag: int, hash: int) -> Entry | None:
        place = self._tables[tag].find(hash) if tag in self._tables else None
        return None if place is None else self._entry(place)

    # -- bytes ----------------------------------------------------------------------------------

    def payload(self, entry: Entry, limit: int = LIMIT) -> bytes:
        """What is stored, inflated. Raises BadArchive: damaged, or more than ``limit`` bytes."""
        if entry.format not in (RAW, DEFLATE):
            raise BadArchive(f"its storage format {entry.format} is not known")
        if entry.size > limit or entry.stored > limit + limit // 8:  # deflating may make it longer
            size = max(entry.size, entry.stored)
            raise BadArchive(f"it says that it has {size} bytes: more than spvlink reads")
        return unpacked(entry, self.read(entry.file, entry.at + HEADER.size, entry.stored))

    def stored(self, entry: Entry) -> Iterator[bytes]:
        """What follows the header in the file, in pieces."""
        yield from self._pieces(entry.file, entry.at + HEADER.size, entry.stored)

    def _pieces(self, number: int, at: int, left: int) -> Iterator[bytes]:
        while left:
            piece = self.read(number, at, min(left, _PIECE))
            yield piece
            at += len(piece)
            left -= len(piece)

    def raw(self, tag: int, hash: int) -> bytes:
        """An entry as it stands in the file, header and all, at most ``WHOLE`` bytes of it; nothing
        if there is none."""
        place = self._tables[tag].find(hash) if tag in self._tables else None
        return b"" if place is None else self._raw(place)

    def raw_entries(self, tag: int) -> Iterator[tuple[int, bytes, Iterable[bytes]]]:
        """(hash, what ``raw`` gives, all that follows, in pieces) by ascending hash."""
        for hash, place in self._tables.get(tag, ()):
            data = self._raw(place)
            rest: Iterable[bytes] = ()
            if len(data) == WHOLE:
                number, at = place >> _OFFSET, place & (1 << _OFFSET) - 1
                entry = Entry(number, at, data[: HEADER.size])
                rest = self._pieces(number, at + WHOLE, HEADER.size + entry.stored - WHOLE)
            yield hash, data, rest

    def _raw(self, place: int) -> bytes:
        number, at = place >> _OFFSET, place & (1 << _OFFSET) - 1
        try:
            data = read_at(self._files[number], at, FIRST)
        except OSError:
            data = b""  # the same again, and what is wrong
        size = HEADER.size + int.from_bytes(data[40:44], "little")
        if len(data) >= HEADER.size and size <= len(data):
            return data[:size]
        head = self.read(number, at, HEADER.size)
        size = HEADER.size + int.from_bytes(head[40:44], "little")
        return self.read(number, at, min(size, WHOLE))

    def _entry(self, place: int) -> Entry:
        number, at = place >> _OFFSET, place & (1 << _OFFSET) - 1
        return Entry(number, at, self.read(number, at, HEADER.size))

    def read(self, number: int, at: int, size: int) -> bytes:
        """Bytes of a file. Raises Usage, and BadArchive if they are not all there."""
        file = self._files[number]
        try:
            file.seek(at)
            data = file.read(size)
            while len(data) < size:
                more = file.read(size - len(data))
                if not more:
                    raise BadArchive(f"{self._paths[number]}: it became shorter while it was read")
                data += more
        except OSError as error:
            why = error.strerror
            raise Usage(f"{self._paths[number]}: cannot read it: {why}") from None
        return data

    # -- finding the entries ----------------------------------------------------------------------

    def _open(self, path: str) -> None:
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                raise ValueError("it is no regular file")  # entries are read when asked for
            file = open(path, "rb", buffering=0)  # noqa: SIM115 (closed by close)
            self._files.append(file)
            start = file.read(16)
            size = os.fstat(file.fileno()).st_size
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise Usage(f"{path}: cannot read it: {why}") from None
        if not start:
            return
        if len(start) < 16 or start[:15] != MAGIC:
            raise BadArchive(f"{path}: this is no Fossilize archive")
        if start[15] not in VERSIONS:
            raise BadArchive(f"{path}: format version {start[15]} of Fossilize is not known")
        self.version = max(self.version, start[15])
        Scan(self, path, len(self._files) - 1, size).run()

    def warn(self, line: str) -> None:
        if len(self.warnings) < _WARNINGS:
            self.warnings.append(line)
        else:
            self._unsaid += 1

    def note(self, number: int, at: int, head: bytes) -> None:
        """An entry was found, in file ``number`` from ``at``."""
        tag = int(head[8:24], 16) & 0xFFFFFFFF  # Fossilize looks at no more
        hash, place = int(head[24:40], 16), number << _OFFSET | at
        if tag not in ORDER:
            for numbers, value in zip(self._foreign, (tag, hash, place)):
                numbers.append(value)
            return
        table = self._tables.get(tag)
        if table is None:
            table = self._tables[tag] = Index()
        table.add(hash, place)

    def note_nameless(self, number: int, at: int) -> None:
        self._nameless.append(number << _OFFSET | at)


class Scan:
    """One way through a file, from header to header. Where there is none, the next one is searched,
    so that a damaged size costs its own entry and no other."""

    def __init__(self, union: Union, path: str, number: int, size: int) -> None:
        self.union = union
        self.path = path
        self.number = number
        self.size = size
        self.at = 16
        self.last: bytes = b""  # an entry that counts as soon as another one follows
        self.last_at = 0
        self.summed = 0  # bytes of which checksums were asked for

    def run(self) -> None:
        with open(self.path, "rb", buffering=1 << 16) as file:
            while self.at < self.size:
                file.seek(self.at)
                head = file.read(HEADER.size)
                end = self.at + HEADER.size + int.from_bytes(head[40:44], "little")
                if end <= self.size and len(head) == HEADER.size and _NAME.match(head):
                    self._keep()
                    self.last, self.last_at, self.at = head, self.at, end
                else:
                    self._recover(head, end)
        self._keep()

    def _keep(self) -> None:
        if self.last:
            self.union.note(self.number, self.last_at, self.last)
        self.last = b""

    def _recover(self, head: bytes, end: int) -> None:
        """There is no whole entry here. The entry before may be to blame: then it goes, and the
        search begins behind its first byte."""
        named = len(head) == HEADER.size and bool(_NAME.match(head))
        if not named and self._nameless(head, end):
            self._keep()
            self._warn(self.at, "an entry whose name is not of hex digits: copied as it is")
            self.union.note_nameless(self.number, self.at)
            self.at = end
            return
        begin, what = self.at, "no entry begins here"
        if self.last and not _begins(head) and not self._sound(self.last_at, self.last):
            begin, what = self.last_at, f"{_key(self.last)} is not as long as it says: left out"
            self.last = b""
        elif named:
            what = f"{_key(head)} ends behind the end of the file: left out"
        elif len(head) < HEADER.size:
            what = "the file ends inside of an entry"
        next_entry = self._search(begin + 1)
        where = "nothing follows" if next_entry is None else f"goes on at byte {next_entry}"
        self._warn(begin, f"{what}; {where}")
        self.at = self.size if next_entry is None else next_entry

    def _nameless(self, head: bytes, end: int) -> bool:
        """Whether this is a whole entry but for its name: its checksum is right, or, without one,
        another entry or the end follows."""
        if end > self.size or len(head) < HEADER.size or head[44:48] not in _FORMATS:
            return False
        if head[48:52] != bytes(4):
            return self._sound(self.at, head)
        return end == self.size or bool(_NAME.match(self._read(end, HEADER.size)))

    def _sound(self, at: int, head: bytes) -> bool:
        """Whether the checksum of an entry is right, or it has none. Sizes that lie could make that
        take for ever: then it counts as right."""
        entry = Entry(self.number, at, head)
        self.summed += entry.stored
        if not entry.crc or self.summed > 4 * self.size + LIMIT:
            return True
        crc = 0
        for piece in self.union.stored(entry):
            crc = zlib.crc32(piece, crc)
        return entry.crc == crc

    def _search(self, at: int) -> int | None:
        """Where the next entry begins that fits into the file."""
        while at + HEADER.size <= self.size:
            piece = self._read(at, min(_PIECE, self.size - at))
            for match in _START.finditer(piece):
                stored = int.from_bytes(match[0][40:44], "little")
                if at + match.end() + stored <= self.size:
                    return at + match.start()
            at += max(len(piece) - HEADER.size + 1, 1)
        return None

    def _read(self, at: int, size: int) -> bytes:
        return self.union.read(self.number, at, min(size, self.size - at))

    def _warn(self, at: int, what: str) -> None:
        self.union.warn(f"{self.path}: at byte {at}: {what}")


def read_at(file: BinaryIO | FileIO, at: int, size: int) -> bytes:
    """At most that many bytes of a file without a buffer. Raises OSError."""
    file.seek(at)
    return file.read(size)


def _begins(head: bytes) -> bool:
    """Whether this is how Fossilize begins an entry, as far as there is anything."""
    if len(head) == HEADER.size:
        return _START.match(head) is not None
    return head.startswith(b"0" * min(len(head), 22))


def _key(head: bytes) -> str:
    return f"entry {int(head[8:24], 16)}:{head[24:40].decode()}"


def unpacked(entry: Entry, data: bytes) -> bytes:
    """What is stored in an entry, inflated. Raises BadArchive."""
    if entry.crc and zlib.crc32(data) != entry.crc:
        raise BadArchive("its checksum is wrong")
    if entry.format == DEFLATE:
        data = _inflate(data, entry.size)
    if len(data) != entry.size:
        raise BadArchive("its size is not what it says")
    return data


def _inflate(data: bytes, size: int) -> bytes:
    """At most ``size`` bytes and one. Raises BadArchive."""
    stream = zlib.decompressobj()
    try:
        inflated = stream.decompress(data, size + 1)
    except zlib.error:
        raise BadArchive("what is stored cannot be inflated") from None
    if not stream.eof or stream.unused_data:
        raise BadArchive("its size is not what it says")
    return inflated


def packed(tag: int, hash: int, payload: bytes, format: int = DEFLATE) -> tuple[bytes, bytes]:
    """A new entry: its header, and what is stored."""
    stored = zlib.compress(payload) if format == DEFLATE else payload
    name, key = b"%024x" % tag, b"%016x" % hash
    crc = zlib.crc32(stored)
    return HEADER.pack(name, key, len(stored), format, crc, len(payload)), stored
