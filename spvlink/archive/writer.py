"""An archive again, with linked modules."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from hashlib import blake2b

from spvlink.archive import documents, foz, varint
from spvlink.archive.archive import Archive, modules_in
from spvlink.archive.hashes import link_hash, module_hash
from spvlink.errors import BadArchive, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO, Final

_SAME_HASH: Final = "other words have the same hash as a linked module"
_Pieces = tuple[bytes, "Iterator[bytes]"]  # a header, and what follows it


class ArchiveWriter:
    """Writes ``archive`` to ``target`` with some pipelines changed.

    Until ``finish`` the new things are in a file without a name in the folder of the target;
    ``finish`` writes ``.NAME.PID.new``, syncs it and renames it, so that the target appears
    complete or not at all. What a killed process left of that goes with the next writer. ``close``
    (or leaving the ``with`` block) without ``finish`` leaves nothing. Raises ``Usage`` if something
    cannot be written; then the target is as it was. The target may be one of the inputs.
    The bytes of the target depend on what was replaced and not on the order of the calls (but for
    a collision of hashes: the first call wins, so call in the order of ``pipelines()``).

    ``prune``: leave out the modules that only replaced stages used. ``pruned`` is their number
    after ``finish``.
    """

    def __init__(self, target: str, archive: Archive, prune: bool = False) -> None:
        self._target = target
        self._archive = archive
        self._union = archive.union
        # new entries: key -> where they are in the spool
        self._modules: dict[int, int] = {}
        self._pipelines: dict[int, int] = {}
        self._digests: dict[int, bytes] = {}  # of the new modules' words
        self._hashes: dict[bytes, int] = {}  # the other way round
        self._links: dict[int, tuple[int, int]] = {}  # key -> (application, module)
        self._prune = prune
        self._now: dict[str, list[str]] = {}  # the modules of the new pipelines
        self._left_out: set[tuple[int, int]] = set()  # (tag, key)
        self.pruned = 0
        self._end = 0
        try:
            self._path = os.path.realpath(target)
            folder, name = os.path.split(self._path)
            self._new_path = os.path.join(folder, f".{name}.{os.getpid()}.new")
            if os.path.isdir(self._path):
                raise IsADirectoryError(21, "Is a directory")
            device = os.path.exists(self._path) and not stat.S_ISREG(os.stat(self._path).st_mode)
            self._spool = tempfile.TemporaryFile(dir=None if device else folder)  # noqa: SIM115
            self._device = device
            if not device and os.name == "posix":
                _remove_leftovers(folder, name)
        except (OSError, ValueError) as error:
            raise self._trouble(error) from None

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Throw away what was not finished."""
        with suppress(OSError):  # it could not be written, and nobody wants it any more
            self._spool.close()
        with suppress(FileNotFoundError):
            os.unlink(self._new_path)

    def replace(self, key: str, modules: Mapping[int, bytes]) -> str | None:
        """Give the pipeline ``key`` other modules: index of the stage -> SPIR-V. Stages that are
        not named keep theirs. Once a pipeline. The answer is None, or why the pipeline stays as it
        was (a hash that other words have already)."""
        hash = int(key, 16)
        entry = self._union.find(foz.GRAPHICS, hash)
        if entry is None or hash in self._pipelines:
            raise KeyError(key)
        hashes = {index: self._hash(code) for index, code in modules.items()}
        try:
            payload = self._union.payload(entry)
            names = {index: f"{hashes[index]:016x}" for index in hashes}
            changed = documents.with_modules(payload, f"{hash:016x}", names)
            if len(set(hashes.values())) != len(set(modules.values())):
                raise BadArchive(_SAME_HASH)
            for index, code in modules.items():
                self._check(hashes[index], code)
        except BadArchive as error:
            return error.message
        if changed == payload:
            return None
        try:
            for index, code in modules.items():
                self._add_module(hashes[index], code)
            format = foz.RAW if entry.format == foz.RAW else foz.DEFLATE
            self._pipelines[hash] = self._keep(foz.packed(foz.GRAPHICS, hash, changed, format))
            self._now[key] = modules_in(changed, f"{hash:016x}") if self._prune else []
        except OSError as full:
            raise self._trouble(full) from None
        for application in self._archive.applications_of(hash):
            for module in hashes.values():
                link = link_hash(application, foz.MODULE, module)
                if not self._union.has(foz.LINK, link):
                    self._links[link] = application, module
        return None

    def finish(self) -> None:
        """Write the target: every entry of the archive but the pruned ones, and the new ones."""
        if self._prune:
            self._leave_out()
        try:
            self._spool.flush()
            if self._device:
                with open(self._path, "wb") as device:
                    self._write(device)
                return
            with open(self._new_path, "wb") as file:
                self._write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._new_path, self._path)
            _sync_folder(os.path.dirname(self._path))
        except OSError as error:
            raise self._trouble(error) from None
        finally:
            self.close()

    def _leave_out(self) -> None:
        """Find the modules that no pipeline has any more, and what links applications to them."""
        dropped: set[str] = set()
        used: set[str] = set()
        for key, before in self._archive.module_users():
            if before is None:  # a newer reader may understand it
                why = f"pipeline {key} cannot be read, so its modules are not known"
                self._archive.warnings.append(f"no module is pruned: {why}")
                return
            after = self._now.get(key, before)
            dropped.update(before)
            used.update(after)
        unused = [int(module, 16) for module in dropped - used]
        unused = [module for module in unused if self._union.has(foz.MODULE, module)]
        self.pruned = len(unused)
        for module in unused:
            self._left_out.add((foz.MODULE, module))
            for application in self._archive.applications():
                self._left_out.add((foz.LINK, link_hash(application, foz.MODULE, module)))

    # -- new entries ----------------------------------------------------------------------------

    def _hash(self, code: bytes) -> int:
        digest = _digest(code)
        if digest not in self._hashes:
            self._hashes[digest] = module_hash(code)
        return self._hashes[digest]

    def _check(self, hash: int, code: bytes) -> None:
        """Raises BadArchive if that hash is taken by other words."""
        if hash in self._modules:
            if self._digests[hash] != _digest(code):
                raise BadArchive(_SAME_HASH)
        elif self._union.has(foz.MODULE, hash):
            try:
                same = self._archive.module(f"{hash:016x}") == code
            except BadArchive:
                same = False
            if not same:
                raise BadArchive(_SAME_HASH)

    def _add_module(self, hash: int, code: bytes) -> None:
        if hash in self._modules or self._union.has(foz.MODULE, hash):
            return
        words = varint.encode(code)
        text = (
            f'{{"version":{self._union.version},"shaderModules":{{"{hash:016x}":{{"varintOffset":0,'
            f'"varintSize":{len(words)},"codeSize":{len(code)},"flags":0}}}}}}'
        )
        self._modules[hash] = self._keep(
            foz.packed(foz.MODULE, hash, text.encode() + b"\0" + words)
        )
        self._digests[hash] = _digest(code)

    def _keep(self, entry: tuple[bytes, bytes]) -> int:
        """Put an entry into the spool."""
        at = self._end
        for piece in entry:
            self._end += self._spool.write(piece)
        return at

    # -- the target -----------------------------------------------------------------------------

    def _write(self, out: BinaryIO) -> None:
        out.write(foz.MAGIC + bytes([self._union.version]))
        for tag in foz.ORDER:
            for head, pieces in self._in_order(tag):
                out.write(head)
                out.writelines(pieces)
        for entry in self._union.others():
            out.write(entry.head)
            out.writelines(self._union.stored(entry))

    def _in_order(self, tag: int) -> Iterator[_Pieces]:
        """All entries of a tag by ascending hash, the new ones among them."""
        new: dict[int, Iterable[int]] = {
            foz.MODULE: self._modules,
            foz.GRAPHICS: self._pipelines,
            foz.LINK: self._links,
        }
        waiting = sorted(new.get(tag, ()), reverse=True)
        for hash, entry in self._union.entries(tag):
            while waiting and waiting[-1] < hash:
                yield self._new_entry(tag, waiting.pop())
            if waiting and waiting[-1] == hash:
                yield self._new_entry(tag, waiting.pop())
            elif (tag, hash) not in self._left_out:
                yield entry.head, self._union.stored(entry)
        while waiting:
            yield self._new_entry(tag, waiting.pop())

    def _new_entry(self, tag: int, hash: int) -> _Pieces:
        if tag == foz.LINK:
            application, module = self._links[hash]
            text = (
                f'{{"version":{self._union.version},"link":{{"application":"{application:016x}",'
                f'"tag":{foz.MODULE},"hash":"{module:016x}"}}}}'
            )
            head, stored = foz.packed(tag, hash, text.encode(), foz.RAW)
            return head, iter((stored,))
        self._spool.seek((self._modules if tag == foz.MODULE else self._pipelines)[hash])
        head = self._spool.read(foz.HEADER.size)
        return head, iter((self._spool.read(foz.Entry(0, 0, head).stored),))

    def _trouble(self, error: OSError | ValueError) -> Usage:
        why = error.strerror if isinstance(error, OSError) else error
        return Usage(f"{self._target}: cannot write it: {why}")


def _digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=16).digest()


def _sync_folder(path: str) -> None:
    """So that the new name outlives a loss of power. Not every system can."""
    try:
        folder = os.open(path, os.O_RDONLY)
    except OSError:
        return
    with suppress(OSError):
        os.fsync(folder)
    os.close(folder)


def _remove_leftovers(folder: str, name: str) -> None:
    """Unfinished targets of processes that are no more."""
    for entry in os.listdir(folder):
        number = entry.removeprefix(f".{name}.").removesuffix(".new")
        if entry == f".{name}.{number}.new" and number.isdecimal():
            try:
                os.kill(int(number), 0)
            except ProcessLookupError:
                with suppress(OSError):
                    os.unlink(os.path.join(folder, entry))
            except (OSError, OverflowError):
                continue
