"""What runs remember of an archive in a store (``--store``): so pipelines that are as they were
need not be read, planned and written anew.

A *root* lists pages (``pages``), which say what became of pipelines and hold their entries of the
output. Names are digests. That of a root is one of all that every result depends on, and of the
entry of one pipeline. It is kept under several names, for those pipelines whose entries have the
smallest digests: the next run finds it if one of them is still the same. A page counts for a
pipeline whose entry, and all that the entry names, have the digests that the page says
(``prints``).

A run adds pages for what is new. When much of them is out of date, all are written anew.
"""

from __future__ import annotations

import gc
import heapq
import json
import zlib
from array import array
from bisect import bisect_left
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from spvlink.archive import foz
from spvlink.batches.entries import WrongEntry
from spvlink.batches.known import UNFIT, KnownPipeline, KnownTables
from spvlink.batches.pages import MemoryPage
from spvlink.batches.paging import PageReader, PageWriter
from spvlink.batches.pipelines import BatchPipeline, IneligiblePipeline
from spvlink.batches.prints import PRINT, EntryPrints
from spvlink.batches.shape import NO_RESULT
from spvlink.errors import BadArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.archive.archive import Archive
    from spvlink.batches.pages import Line
    from spvlink.batches.plan import BatchPlan
    from spvlink.batches.shared import SharedResults
    from spvlink.batches.store import JobStore, Record

FORMAT: Final = 1  # of roots and pages
LEAST: Final = 64  # pipelines: fewer are planned as fast as remembered
_NAMES: Final = 4  # of a root
_MORE: Final = 32  # pages that are added until all are written anew
_OF_A_PAGE: Final = 64  # pipelines, at least


class PipelineMemory:
    """What is remembered of the pipelines of an archive. ``basis``: all that the results depend on
    beside the archive. ``folder``: where a file may be. ``all``: check what reports need, too."""

    def __init__(
        self, archive: Archive, basis: str, shared: SharedResults, folder: str, all: bool
    ) -> None:
        self._shared = shared
        self._all = all
        self._hashes = array("Q", archive.union.hashes(foz.GRAPHICS))
        self.tables = KnownTables(len(self._hashes), folder)
        self._prints = EntryPrints(archive)
        given = [FORMAT, basis, zlib.ZLIB_RUNTIME_VERSION, archive.union.version]
        text = json.dumps([*given, self._prints.applications.hex()])
        self._salt = blake2b(text.encode(), digest_size=32).digest()
        self._own = bytearray()  # digests of the entries of pipelines
        for hash in self._hashes:
            self._own += self._prints.of_entry(foz.GRAPHICS, hash)
        self._roots = self._root_names()
        self._pages: list[str] = []  # names of those that are of use
        self._found = 0  # which name of the root was there
        self._lines = self._valid = 0  # pipelines of pages, and those that count
        collecting = gc.isenabled()
        gc.disable()  # there are no circles in pages
        try:
            self._load()
        finally:
            if collecting:
                gc.enable()

    def close(self) -> None:
        self.tables.file.close()

    def _print(self, index: int) -> bytes:
        begin = index * PRINT
        end = begin + PRINT
        return bytes(self._own[begin:end])

    def _root_names(self) -> list[bytes]:
        smallest = heapq.nsmallest(_NAMES, map(self._print, range(len(self._hashes))))
        return [blake2b(self._salt + one, digest_size=32).digest() for one in smallest]

    # -- reading -----------------------------------------------------------------------------------

    def _load(self) -> None:
        names: list[bytes] = []
        self._found = len(self._roots)
        for number, root in enumerate(self._roots):
            for _, content in self._shared.recall([root]):
                names = self._listed(content)
            if names:
                self._found = number
                break
        for name, content in self._shared.recall(names):
            try:
                if not content.startswith(self._salt):
                    raise WrongEntry("it is another page")
                if self._take(MemoryPage(content, len(self._salt))):
                    self._pages.append(name.hex())
            except WrongEntry as error:
                self._shared.refuse(error.message)

    def _listed(self, content: bytes) -> list[bytes]:
        try:
            names = [bytes.fromhex(name) for name in json.loads(content)]
            if any(len(name) != 32 for name in names):
                raise ValueError
        except NO_RESULT:
            self._shared.refuse("it makes no sense")
            return []
        return names

    def _take(self, page: MemoryPage) -> bool:
        """Note what a page has that counts; gives whether there is any. Raises WrongEntry."""
        try:
            reader = PageReader(page, self._all)
            counts = list(self._current(reader))
        except (zlib.error, *NO_RESULT):
            raise WrongEntry("it makes no sense") from None
        self._lines += len(reader.pipelines)
        self._valid += len(counts)
        if counts:
            reader.put_into(self.tables, counts)
        return bool(counts)

    def _current(self, reader: PageReader) -> Iterator[tuple[int, int]]:
        """(number in the page, index) of the pipelines that are as they were."""
        for at, line in enumerate(reader.pipelines):
            hash = int(line[0], 16)
            index = bisect_left(self._hashes, hash)
            if index == len(self._hashes) or self._hashes[index] != hash:
                continue
            if self.tables.jobs[index] or self._print(index) != bytes.fromhex(line[1]):
                continue
            if self._prints.of_named(line[2], hash) == bytes.fromhex(line[3]):
                yield at, index

    # -- what is known -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._hashes)

    def pipeline(self, index: int) -> KnownPipeline | IneligiblePipeline | None:
        """None if it is not known."""
        job = self.tables.jobs[index]
        if job == 0:
            return None
        id = self.key(index)
        if job == UNFIT:
            reason, unknown = self.tables.line(index)[7]
            return IneligiblePipeline(id, reason, unknown=unknown)
        return KnownPipeline(self.tables, index, job - 1, id)

    def key(self, index: int) -> str:
        """Of a pipeline, in 16 digits."""
        return f"{self._hashes[index]:016x}"

    def knows(self, index: int) -> bool:
        return self.tables.jobs[index] != 0

    def record(self, key: bytes) -> Record | None:
        """What became of a job; None if that is not known."""
        number = self.tables.keys.find(key)
        return None if number is None else self.tables.record(number)

    # -- what is new -------------------------------------------------------------------------------

    def note(self, index: int, pipeline: BatchPipeline | IneligiblePipeline) -> None:
        """A pipeline was read that is not known."""
        if self.tables.lines.has(index):
            return
        hash = self._hashes[index]
        try:
            keys = self._prints.named_by(hash)
            if keys is None or self._prints.of_entry(foz.GRAPHICS, hash) != self._print(index):
                return
            named = self._prints.of_named(keys, hash).hex()
        except BadArchive:
            return
        line: Line = [pipeline.id, self._print(index).hex(), keys, named, None, [], [], None, 0]
        if isinstance(pipeline, BatchPipeline):
            line[5:7] = [one.label for one in pipeline.shaders], list(pipeline.unread_attributes)
        else:
            line[7] = [pipeline.reason, list(pipeline.unknown)]
        text = json.dumps(line).encode()
        self.tables.lines.set(index, self.tables.file.put(text), len(text))

    def give(self, index: int, entry: bytes) -> None:
        """What is in the output for a pipeline that was not known."""
        if entry and self.tables.lines.has(index):
            self.tables.entries.set(index, self.tables.file.put(entry), len(entry))

    def give_module(self, name: bytes, entry: bytes) -> None:
        """What is in the output for a new module."""
        if entry and name not in self.tables.names:
            self.tables.add_module(name, self.tables.file.put(entry), len(entry))

    def keep(self, plan: BatchPlan, store: JobStore, stays: dict[int, str]) -> None:
        """Write what became of the pipelines that were not known, all is done."""
        writer = PageWriter(self.tables, plan, store)
        fresh = array("I")
        for index in range(len(self)):
            if not self.tables.jobs[index] and index not in stays and writer.may_keep(index):
                fresh.append(index)
        old = self._lines > self._valid + len(self) // 4
        if old or len(self._pages) > _MORE + len(self) // _OF_A_PAGE:
            self._pages.clear()
            fresh.extend(index for index in range(len(self)) if self.tables.jobs[index])
        elif not fresh and not self._found:
            return
        for content in writer.pages(fresh, self._salt):
            name = blake2b(content, digest_size=32).digest()
            if not self._shared.remember(name, content):
                return
            self._pages.append(name.hex())
        names = self._roots if fresh else self._roots[: self._found]
        for name in names:
            self._shared.remember(name, json.dumps(self._pages).encode())
