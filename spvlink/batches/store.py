"""Finished jobs on the disk: what makes it possible to go on after a kill, and what keeps results
out of memory.

    FOLDER/lock             held by the process that works here
    FOLDER/jobs             what came of the jobs: a journal, as JSON
    FOLDER/out/modules/     every module that a job made, named by its content
    FOLDER/pack             the same in one file, where the output is one, too

A module of a folder is written beside its place and renamed, so it is there as a whole or not at
all; what a crash of the machine left half is seen by its digest, and that job is done again.
``out`` is what the result of a manifest will be: delivering it is one rename.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from hashlib import blake2b
from typing import IO, TYPE_CHECKING, Final

from spvlink import system
from spvlink.batches.journal import Journal
from spvlink.batches.pack import ModulePack
from spvlink.batches.pipelines import DIGEST, digest_of
from spvlink.digest_table import DigestTable
from spvlink.errors import Usage
from spvlink.pipeline import FAILED
from spvlink.report import BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.batches.work import JobOutcome
    from spvlink.pipeline import Outcome

SUFFIX: Final = ".partial"  # of OUT: the folder for what is not complete yet
MODULE: Final = ".spv"


class Record:
    """What came of a job, as the store has it: ``JobOutcome`` with names of modules for modules."""

    __slots__ = ("at", "entry", "kind", "modules", "reason")

    def __init__(
        self,
        kind: Outcome,
        reason: str | None,
        at: int,
        modules: list[str | None],
        entry: dict[str, object],
    ) -> None:
        self.kind = kind
        self.reason = reason
        self.at = at
        self.modules = modules
        self.entry = entry

    def figures(self, name: str) -> tuple[int, int]:
        """The sum of "components", "locations" or one of BYTES over the borders, or of
        "instructions" or "bytes" over the stages: before and after."""
        part = "interfaces" if name in ("components", "locations", *BYTES) else "stages"
        entries = self.entry.get(part, [])
        assert isinstance(entries, list)
        return sum(e[name][0] for e in entries), sum(e[name][1] for e in entries)


class JobStore:
    """A folder of finished jobs. ``other``: a folder that may have modules, too, if a process was
    killed when it had delivered them. ``limits``: what jobs may take; a failure counts only where
    it is the same. ``packed``: modules lie in one file. Raises Usage if the folder cannot be
    had."""

    def __init__(
        self, folder: str, other: str = "", limits: str = "", packed: bool = False
    ) -> None:
        self.folder = folder
        self.limits = limits.encode()
        self.done_before = 0  # jobs that were done before
        self.sure = DigestTable(DIGEST)  # modules that were written or looked at
        self.out = os.path.join(folder, "out")
        self.other = other
        try:
            os.makedirs(folder if packed else os.path.join(self.out, "modules"), exist_ok=True)
            self.lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o666)
            system.lock(self.lock)
            self.jobs = Journal(os.path.join(folder, "jobs"))
            self.pack = ModulePack(os.path.join(folder, "pack")) if packed else None
        except BlockingIOError:
            raise Usage(f"{folder}: another spvlink batch is at work there") from None
        except OSError as error:
            raise unwritable(folder, error) from None
        # What is there from before: to ask the disk for each module takes longer than all the rest.
        self.before = {*_names(self.out, "modules"), *_names(other, "modules")}

    def path(self, digest: str) -> str:
        """Where a module is, or will be."""
        return os.path.join(self.out, "modules", digest + MODULE)

    def module(self, digest: str) -> bytes:
        """The module of this name. Raises Usage if it is not there."""
        data = self._find(digest)
        if data is None:
            raise Usage(f"{self.path(digest)}: it is gone, or has changed")
        return data

    def add(self, data: bytes) -> str:
        """Keep a module; gives its name."""
        digest = digest_of(data)
        if not self.has(digest):
            self._write(digest, data)
            self.sure.add(bytes.fromhex(digest))
        return digest

    def has(self, digest: str) -> bool:
        """Whether a module is in its place; one that was delivered already comes back."""
        name = bytes.fromhex(digest)
        if name not in self.sure:
            data = self._find(digest) if self.pack or digest + MODULE in self.before else None
            if data is None:
                return False
            if self.pack is None and not os.path.exists(self.path(digest)):
                write(self.path(digest), data)
            self.sure.add(name)
        return True

    def get(self, key: bytes) -> Record | None:
        """What came of a job; None if it is not done, or not all of it is there."""
        record = self._record(key)
        for digest in record.modules if record is not None else ():
            if digest is not None and not self.has(digest):
                return None
        self.done_before += record is not None
        return record

    def _record(self, key: bytes) -> Record | None:
        text = self.text(key)
        return None if text is None else Record(**json.loads(text))

    def text(self, key: bytes) -> bytes | None:
        """What came of a job as JSON: the fields of a Record."""
        return self.jobs.get(key) or self.jobs.get(self._failure(key))

    def read(self, key: bytes) -> Record:
        """What came of a job that ``get`` or ``put`` had."""
        record = self._record(key)
        assert record is not None
        return record

    def put(self, key: bytes, outcome: JobOutcome) -> Record:
        """Keep what came of a job. Raises Usage if it cannot be written."""
        modules = [None if data is None else self.add(data) for data in outcome.modules]
        record = Record(outcome.kind, outcome.reason, outcome.at, modules, outcome.entry)
        facts = {name: getattr(record, name) for name in Record.__slots__ if name != "entry"}
        entry = outcome.text or json.dumps(record.entry)
        text = f'{json.dumps(facts)[:-1]}, "entry": {entry}}}'.encode()
        failed = outcome.kind == FAILED
        try:
            self.jobs.put(self._failure(key) if failed else key, text)
        except OSError as error:
            raise unwritable(self.folder, error) from None
        return record

    def _failure(self, key: bytes) -> bytes:
        """Under which a job's failure is kept."""
        return blake2b(key + self.limits, digest_size=32).digest()

    def _write(self, digest: str, data: bytes) -> None:
        if self.pack is None:
            write(self.path(digest), data)
            return
        try:
            self.pack.put(digest, data)
        except OSError as error:
            raise unwritable(self.folder, error) from None

    def _find(self, digest: str) -> bytes | None:
        """The bytes of a module, if they are what its name says."""
        if self.pack is not None:
            return self.pack.get(digest)
        own = self.path(digest)
        for path in (own, os.path.join(self.other, "modules", digest + MODULE)):
            with contextlib.suppress(OSError):
                with open(path, "rb") as file:
                    data = file.read()
                if digest_of(data) == digest:
                    return data
                if path == own:
                    os.unlink(path)
        return None

    # -- the end ---------------------------------------------------------------------------------

    def deliver(self, target: str, wanted: set[str]) -> None:
        """Make ``out`` the folder ``target``, with these files only (paths in it). Raises
        Usage."""
        try:
            for folder, _, names in os.walk(self.out):
                for name in names:
                    path = os.path.join(folder, name)
                    if os.path.relpath(path, self.out).replace(os.sep, "/") not in wanted:
                        os.unlink(path)
            old = os.path.join(self.folder, "old")
            shutil.rmtree(old, ignore_errors=True)
            if os.path.isdir(target):
                os.rename(target, old)
            os.rename(self.out, target)
        except OSError as error:
            raise unwritable(target, error) from None

    def close(self, done: bool) -> None:
        """Let go of the folder; remove it if all is done."""
        self.jobs.close()
        if self.pack is not None:
            self.pack.close()
        if done:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self.lock)


def _names(*folder: str) -> list[str]:
    """What is in a folder, nothing if there is none."""
    try:
        return os.listdir(os.path.join(*folder))
    except OSError:
        return []


def write(path: str, data: bytes) -> None:
    """Write a file that is there as a whole or not at all. Raises Usage."""
    with _replacing(path) as temp, open(temp, "wb") as file:
        file.write(data)


@contextlib.contextmanager
def writing(path: str) -> Iterator[IO[str]]:
    """A text file to write that is there as a whole or not at all; a device is written to as it
    is. Raises Usage."""
    with contextlib.ExitStack() as stack:
        device = os.path.exists(path) and not os.path.isfile(path)
        temp = path if device else stack.enter_context(_replacing(path))
        try:
            file = stack.enter_context(open(temp, "w", encoding="utf-8"))
        except OSError as error:
            raise unwritable(path, error) from None
        yield file


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[str]:
    """A name to write to; then the file gets the other name. Raises Usage."""
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}.{os.getpid()}.new")
    try:
        yield temp
        os.replace(temp, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        if isinstance(error, OSError):
            raise unwritable(path, error) from None
        raise


def unwritable(path: str, error: OSError) -> Usage:
    """The error for a file that the system does not let us write."""
    return Usage(f"{path}: cannot write it: {error.strerror}")
