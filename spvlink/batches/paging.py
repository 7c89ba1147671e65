"""Between pages and tables: what a page has that counts, and pages of what is new."""

from __future__ import annotations

import json
import zlib
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from spvlink.archive import foz
from spvlink.batches.entries import lasts
from spvlink.batches.known import UNFIT
from spvlink.batches.pages import JOB, MODULE, MOST, PIPELINE, PageBuilder
from spvlink.batches.shape import check_job_line, check_pipeline_line, check_record
from spvlink.batches.store import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spvlink.batches.known import KnownTables
    from spvlink.batches.pages import Line, MemoryPage
    from spvlink.batches.plan import BatchPlan
    from spvlink.batches.store import JobStore

Part = tuple["Line", bytes, int]  # a line, its text, where its piece is
_LEVEL = 1  # of zlib: the fastest


class PageReader:
    """The lines of a page, their shape checked. ``all``: what reports need, too. Raises what
    ``MemoryPage.read`` does, or zlib.error."""

    def __init__(self, page: MemoryPage, all: bool) -> None:
        self._pieces = page.pieces
        self._parts: tuple[list[Part], list[Part], list[Part]] = [], [], []
        for kind, line, text, at in page.read():
            self._parts[kind].append((line, text, at))
        for line, _, at in self._parts[MODULE]:
            if len(bytes.fromhex(line[0])) != 20 or len(line) != 2:
                raise ValueError
            self._check_entry(foz.MODULE, None, at, line[-1])
        for line, _, at in self._parts[JOB]:
            check_job_line(line, len(self._parts[MODULE]))
            if all:
                self._check_text(line, at)
        jobs = [len(line[4]) for line, _, _ in self._parts[JOB]]
        for line, _, at in self._parts[PIPELINE]:
            check_pipeline_line(line, jobs)
            if line[-1]:
                self._check_entry(foz.GRAPHICS, line[0], at, line[-1])

    @property
    def pipelines(self) -> list[Line]:
        return [line for line, _, _ in self._parts[PIPELINE]]

    def _check_entry(self, tag: int, key: str | None, at: int, size: int) -> None:
        """Raise ValueError unless a piece is an entry of an archive."""
        end = at + foz.HEADER.size
        head = self._pieces[at:end]
        named, stored = head[:40], int.from_bytes(head[40:44], "little")
        own = named[24:].decode() if key is None else key
        if named != b"%024x%016x" % (tag, int(own, 16)) or stored != size - foz.HEADER.size:
            raise ValueError

    def _check_text(self, line: Line, at: int) -> None:
        """Raise one of NO_RESULT unless the text of a job is that of a record."""
        end = at + line[-1]
        record = Record(**json.loads(zlib.decompress(self._pieces[at:end])))
        check_record(record, len(line[4]), {})

    def put_into(self, tables: KnownTables, counts: Sequence[tuple[int, int]]) -> None:
        """Note pipelines that count, by (number in the page, index in the archive), with their jobs
        and new modules."""
        base = tables.file.put(self._pieces)
        modules = [
            tables.add_module(bytes.fromhex(line[0]), base + at, line[-1])
            for line, _, at in self._parts[MODULE]
        ]
        parts = [self._parts[PIPELINE][number] for number, _ in counts]
        wanted = dict.fromkeys(line[4] for line, _, _ in parts if line[4] is not None)
        jobs = {number: self._parts[JOB][number] for number in wanted}
        places = _put(tables, [text for _, text, _ in jobs.values()])
        known: dict[int | None, int] = {None: UNFIT}
        for (number, (line, text, at)), place in zip(jobs.items(), places):
            new = [0 if one is None else modules[one] + 1 for one in line[5]]
            lines, texts = (place, len(text)), (base + at, line[-1])
            known[number] = tables.add_job(bytes.fromhex(line[0]), lines, texts, new) + 1
        places = _put(tables, [text for _, text, _ in parts])
        for (_, index), (line, text, at), place in zip(counts, parts, places):
            tables.jobs[index] = known[line[4]]
            tables.lines.set(index, place, len(text))
            tables.entries.set(index, base + at, line[-1])


def _put(tables: KnownTables, texts: list[bytes]) -> Iterable[int]:
    """Write texts; gives where each is."""
    return accumulate(map(len, texts), initial=tables.file.put(b"".join(texts)))


class PageWriter:
    """Makes pages of pipelines whose jobs are done."""

    def __init__(self, tables: KnownTables, plan: BatchPlan, store: JobStore) -> None:
        self._tables = tables
        self._plan = plan
        self._store = store
        self._kept: dict[int, bool] = {}  # jobs

    def may_keep(self, index: int) -> bool:
        """Whether all is there that is to be said of a pipeline, and would be the same on any
        machine."""
        if not self._tables.lines.has(index):
            return False
        number = self._plan.jobs[index]
        if number < 0:
            return not self._plan.reason(index).bad
        if number not in self._kept:
            result = self._plan.results[number]
            names = [bytes.fromhex(name) for name in result.modules if name is not None]
            there = all(name in self._tables.names for name in names)
            self._kept[number] = there and lasts(result.kind, result.verified)
        return self._kept[number]

    def pages(self, indexes: Iterable[int], salt: bytes) -> Iterator[bytes]:
        """Those with the same module in their first stage come together: they share new ones."""
        builder, number, job, modules = PageBuilder(), -1, None, dict[str, int]()
        for index in sorted(indexes, key=self._place):
            if self._plan.jobs[index] != number:
                if builder.size > MOST:
                    yield builder.content(salt)
                    builder, modules = PageBuilder(), {}
                number = self._plan.jobs[index]
                job = self._add_job(builder, number, modules) if number >= 0 else None
            line = self._tables.line(index)[:-1]
            line[4] = job
            builder.add(PIPELINE, line, self._tables.entries.get(index))
        if builder.size or builder.lines[PIPELINE]:
            yield builder.content(salt)

    def _place(self, index: int) -> tuple[int, int, int]:
        number = self._plan.jobs[index]
        first = self._plan.results.old(number)[0] if number >= 0 else -1
        return first, number, index

    def _add_job(self, builder: PageBuilder, number: int, modules: dict[str, int]) -> int:
        key, result, results = (
            self._plan.keys[number],
            self._plan.results[number],
            self._plan.results,
        )
        new: list[int | None] = []
        for name in result.modules:
            if name is not None and name not in modules:
                at = self._tables.names.add(bytes.fromhex(name))
                modules[name] = builder.add(MODULE, [name], self._tables.module(at))
            new.append(None if name is None else modules[name])
        known = self._tables.keys.find(key)
        flaws: Any = []
        if known is not None:
            text, flaws = self._tables.packed_text(known), self._tables.job(known).flaws
        else:
            given = self._store.text(key)
            assert given is not None
            text = zlib.compress(given, _LEVEL)
            if result.warnings:
                flaws = json.loads(given)["entry"]["warnings"]
        old = [results.named(at) for at in result.before]
        figures = results.figures(number)
        line = [key.hex(), result.kind, result.reason, result.verified, old, new, figures, flaws]
        return builder.add(JOB, line, text)
