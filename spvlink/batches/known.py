"""What is known of an archive's pipelines from an earlier run, in few bytes each: the rest is in a
file without a name."""

from __future__ import annotations

import json
import tempfile
import zlib
from array import array
from typing import TYPE_CHECKING, BinaryIO, Final

from spvlink.batches.journal import KEY
from spvlink.batches.pipelines import DIGEST
from spvlink.batches.results import SharedFacts
from spvlink.batches.store import Record, unwritable
from spvlink.digest_table import DigestTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spvlink.batches.pages import Line

UNFIT: Final = -1  # in place of a job


class PieceFile:
    """Bytes that are written once and read by their places. Raises Usage if there is no room."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.file: BinaryIO = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._end = 0

    def put(self, data: bytes) -> int:
        """Gives the place."""
        at = self._end
        written = memoryview(data)
        try:
            self.file.seek(at)
            while written:
                count = self.file.write(written)
                written = written[count:]
        except OSError as error:
            raise unwritable(self._folder, error) from None
        self._end += len(data)
        return at

    def get(self, place: int, size: int) -> bytes:
        self.file.seek(place)
        return self.file.read(size)

    def close(self) -> None:
        self.file.close()


class PieceTable:
    """Places and sizes by number."""

    def __init__(self, file: PieceFile, count: int = 0) -> None:
        self._file = file
        self._places, self._sizes = array("Q", bytes(8 * count)), array("I", bytes(4 * count))

    def append(self, place: int, size: int) -> None:
        self._places.append(place)
        self._sizes.append(size)

    def set(self, number: int, place: int, size: int) -> None:
        self._places[number], self._sizes[number] = place, size

    def has(self, number: int) -> bool:
        """Whether there is more than nothing."""
        return self._sizes[number] != 0

    def place(self, number: int) -> int:
        return self._places[number]

    def get(self, number: int) -> bytes:
        return self._file.get(self._places[number], self._sizes[number])


class KnownJob:
    """What is known of a job. ``flaws``: as "warnings" of its entry in the report. ``figures`` as
    ``JobResults`` has them."""

    def __init__(self, line: Line, new: list[str | None]) -> None:
        _, kind, reason, verified, old, _, figures, flaws, _ = line
        self.outcome = SharedFacts(kind, reason, verified and (verified[0], verified[1]), ())
        self.old: list[str] = old
        self.new = new
        self.figures: list[int] = figures
        self.flaws: list[dict[str, object]] = flaws


class KnownTables:
    """Pipelines by their indexes in the archive, jobs and new modules by numbers. ``jobs``: for
    each pipeline, the number of its job + 1, UNFIT, or 0: it is not known. Of one that is not known
    there may be a line and an entry all the same: those of this run. ``folder``: where a file may
    be."""

    def __init__(self, count: int, folder: str) -> None:
        self.file = file = PieceFile(folder)
        self.jobs = array("i", bytes(4 * count))
        self.lines, self.entries = PieceTable(file, count), PieceTable(file, count)
        self.keys = DigestTable(KEY)  # of jobs
        self._job_lines, self._texts = PieceTable(file), PieceTable(file)
        # Of each job: where its new modules begin in the list: how many, and the number of each
        # + 1, 0 for a stage that keeps its own.
        self._begins, self.new = array("I"), array("I")
        self.names = DigestTable(DIGEST)  # of modules
        self._modules = PieceTable(file)

    def add_module(self, name: bytes, place: int, size: int) -> int:
        """Gives its number."""
        known = len(self.names)
        number = self.names.add(name)
        if number == known:
            self._modules.append(place, size)
        return number

    def module(self, number: int) -> bytes:
        """Its entry in the output."""
        return self._modules.get(number)

    def module_place(self, number: int) -> int:
        """Where that is in the file."""
        return self._modules.place(number)

    def add_job(
        self, key: bytes, line: tuple[int, int], text: tuple[int, int], new: Iterable[int]
    ) -> int:
        """``line`` and ``text``: where they are, and their sizes. ``new``: numbers of modules + 1,
        as they are kept. Gives its number."""
        known = len(self.keys)
        number = self.keys.add(key)
        if number == known:
            self._job_lines.append(*line)
            self._texts.append(*text)
            self._begins.append(len(self.new))
            numbers = list(new)
            self.new.append(len(numbers))
            self.new.extend(numbers)
        return number

    def span(self, job: int) -> tuple[int, int]:
        """Where the new modules of a job begin and end in ``new``."""
        begin = self._begins[job] + 1
        return begin, begin + self.new[begin - 1]

    def new_modules(self, job: int) -> list[int]:
        """Numbers of the new modules of a job + 1, 0 for a stage that keeps its own; or nothing."""
        begin, end = self.span(job)
        return list(self.new[begin:end])

    def job(self, number: int) -> KnownJob:
        names = [self.names[at - 1].hex() if at else None for at in self.new_modules(number)]
        return KnownJob(json.loads(self._job_lines.get(number)), names)

    def job_line(self, number: int) -> Line:
        line: Line = json.loads(self._job_lines.get(number))
        return line

    def packed_text(self, number: int) -> bytes:
        """What ``JobStore`` has of a job, compressed."""
        return self._texts.get(number)

    def record(self, number: int) -> Record:
        return Record(**json.loads(zlib.decompress(self.packed_text(number))))

    def line(self, index: int) -> Line:
        """What is said of a pipeline, as in a page."""
        line: Line = json.loads(self.lines.get(index))
        return line


class KnownPipeline:
    """A pipeline that is as it was in an earlier run. ``job``: the number of its job among those
    that are known; ``key``: the job's own."""

    def __init__(self, tables: KnownTables, index: int, job: int, id: str) -> None:
        self._tables = tables
        self._index = index
        self.job = job
        self.id = id

    @property
    def key(self) -> bytes:
        return self._tables.keys[self.job]

    @property
    def labels(self) -> list[str]:
        """What to call its shaders."""
        labels: list[str] = self._tables.line(self._index)[5]
        return labels

    @property
    def unread_attributes(self) -> list[int]:
        numbers: list[int] = self._tables.line(self._index)[6]
        return numbers

    def known_job(self) -> KnownJob:
        return self._tables.job(self.job)

    def forget(self) -> None:
        """It counts as not known from now on."""
        self._tables.jobs[self._index] = 0
