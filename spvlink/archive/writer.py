"""An archive again, with linked modules."""

from __future__ import annotations

import os
import stat
import tempfile
from array import array
from contextlib import suppress
from hashlib import blake2b

from spvlink.archive import foz, varint
from spvlink.archive.archive import Archive, code_of, modules_in
from spvlink.archive.hashes import link_hash, module_hash
from spvlink.digest_table import DigestTable
from spvlink.errors import BadArchive, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO, Final

_SAME_HASH: Final = "other words have the same hash as a linked module"
_NAME: Final = 8  # bytes of a hash
_DIGEST: Final = 20  # bytes of the digest of words
# In place of a place in the spool, which begins behind them: the archive has the module, or other
# words under its hash.
_THERE, _CLASH = 1, 2
_Pieces = tuple[bytes, "Iterable[bytes]"]  # how an entry begins, and what follows
_ELSEWHERE: Final = 1 << 63  # in a place: it is one of the file of those that an earlier run made


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
    after ``finish``. ``made``: a file that has entries of an earlier run.
    """

    def __init__(
        self, target: str, archive: Archive, prune: bool = False, made: BinaryIO | None = None
    ) -> None:
        self._made = made
        self._target = target
        self._archive = archive
        self._union = archive.union
        # Modules that were added: their words, hashes, where they are in the spool, and the number
        # of the applications that use them, 0: no pipeline has it.
        self._codes = DigestTable(_DIGEST)
        self._hashes, self._places, self._users = array("Q"), array("Q"), array("I")
        self._user_numbers: dict[tuple[int, ...], int] = {}
        # New entries by their names, with what belongs to each: the number of the module; where the
        # pipeline is in the spool; application and module.
        self._modules, self._owners = DigestTable(_NAME), array("I")
        self._pipelines, self._spooled = DigestTable(_NAME), array("Q")
        self._links, self._linked = DigestTable(_NAME), array("Q")
        self._prune = prune
        self._used = DigestTable(_NAME)  # modules that pipelines of the target have
        self._left_out = {foz.MODULE: DigestTable(_NAME), foz.LINK: DigestTable(_NAME)}
        self.pruned = 0
        self._end = _CLASH + 1
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
        return self.replace_by_number(key, {at: self.add(code) for at, code in modules.items()})

    def add(self, code: bytes) -> int:
        """The number of a new module for ``replace_by_number``. It stands in the target if a
        pipeline gets it."""
        digest = blake2b(code, digest_size=_DIGEST).digest()
        number = self._codes.find(digest)
        if number is not None:
            return number
        return self._add(digest, code)

    def _add(self, digest: bytes, code: bytes) -> int:
        hash = module_hash(code)
        where = 0
        if self._union.has(foz.MODULE, hash):
            where = _THERE if self._is_there(hash, code) else _CLASH
        else:
            try:
                where = self._spooled_module(hash, code)
            except OSError as full:
                raise self._trouble(full) from None
        return self._noted(digest, hash, where)

    def _noted(self, digest: bytes, hash: int, where: int) -> int:
        self._hashes.append(hash)
        self._places.append(where)
        self._users.append(0)
        return self._codes.add(digest)

    def add_made(self, digest: bytes, place: int) -> int:
        """As ``add``, of a module whose entry is in ``made``, with the digest (blake2b, 20 bytes)
        of its words."""
        number = self._codes.find(digest)
        if number is not None:
            return number
        entry = self._made_entry(place)
        hash = int(entry[24:40], 16)
        if self._union.has(foz.MODULE, hash):
            return self._add(digest, code_of(entry))
        return self._noted(digest, hash, place | _ELSEWHERE)

    def packed_module(self, number: int) -> bytes:
        """The new entry of a module that was added; nothing if it has none."""
        where = self._places[number]
        return self._packed(where) if where > _CLASH else b""

    def packed_pipeline(self, key: str) -> bytes:
        """The new entry of a pipeline; nothing if it has none."""
        at = self._pipelines.find(_name(int(key, 16)))
        return b"" if at is None else self._packed(self._spooled[at])

    def _packed(self, where: int) -> bytes:
        """A new entry. What follows is written behind all of them."""
        entry = self._entry_at(where)
        self._spool.seek(0, os.SEEK_END)
        return entry

    def replace_by_number(self, key: str, modules: Mapping[int, int]) -> str | None:
        """As ``replace``, with modules that were added."""
        hash = int(key, 16)
        entry = self._union.find(foz.GRAPHICS, hash)
        if entry is None or self._pipelines.find(_name(hash)) is not None:
            raise KeyError(key)
        numbers = set(modules.values())
        names = {index: f"{self._hashes[number]:016x}" for index, number in modules.items()}
        try:
            payload = self._union.payload(entry)
            changed = self._archive.forms.with_modules(payload, f"{hash:016x}", names)
            if len(set(names.values())) != len(numbers):
                raise BadArchive(_SAME_HASH)
            for number in numbers:
                self._check(number)
        except BadArchive as error:
            return error.message
        if changed == payload:
            return None
        try:
            format = foz.RAW if entry.format == foz.RAW else foz.DEFLATE
            self._spooled.append(self._keep(foz.packed(foz.GRAPHICS, hash, changed, format)))
            self._pipelines.add(_name(hash))
        except OSError as full:
            raise self._trouble(full) from None
        if self._prune:
            for module in modules_in(changed, f"{hash:016x}"):
                self._used.add(_name(int(module, 16)))
        self._use(numbers, tuple(self._archive.applications_of(hash)))
        return None

    def replace_by_made(self, hash: int, place: int | None, numbers: set[int]) -> str | None:
        """As ``replace_by_number``, with the new entry of the pipeline in ``made``: that of the
        same old entry and the same modules. None: it is as the old one. Not for a writer that
        prunes."""
        users = tuple(self._archive.applications_of(hash))
        known = self._user_numbers.get(users, -1)
        if any(self._users[number] != known for number in numbers):  # else all is as it was then
            if len({self._hashes[number] for number in numbers}) != len(numbers):
                return _SAME_HASH
            try:
                for number in numbers:
                    self._check(number)
            except BadArchive as error:
                return error.message
            if place is not None:
                self._use(numbers, users)
        if place is not None:
            self._spooled.append(place | _ELSEWHERE)
            self._pipelines.add(_name(hash))
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
        dropped = DigestTable(_NAME)
        for key, before in self._archive.module_users():
            if before is None:  # a newer reader may understand it
                why = f"pipeline {key} cannot be read, so its modules are not known"
                self._archive.warnings.append(f"no module is pruned: {why}")
                return
            stays = self._pipelines.find(_name(int(key, 16))) is None
            for module in before:
                (self._used if stays else dropped).add(_name(int(module, 16)))
        for name in dropped:
            hash = int.from_bytes(name, "big")
            if name in self._used or not self._union.has(foz.MODULE, hash):
                continue
            self.pruned += 1
            self._left_out[foz.MODULE].add(name)
            for application in self._archive.applications():
                link = link_hash(application, foz.MODULE, hash)
                self._left_out[foz.LINK].add(_name(link))

    # -- new entries ----------------------------------------------------------------------------

    def _is_there(self, hash: int, code: bytes) -> bool:
        """Whether the archive has these words under that hash."""
        try:
            return self._archive.module(f"{hash:016x}") == code
        except BadArchive:
            return False

    def _check(self, number: int) -> None:
        """Raises BadArchive if the hash of a module is taken by other words."""
        owner = self._modules.find(_name(self._hashes[number]))
        taken = owner is not None and self._owners[owner] != number
        if taken or self._places[number] == _CLASH:
            raise BadArchive(_SAME_HASH)

    def _use(self, numbers: set[int], users: tuple[int, ...]) -> None:
        """A pipeline of these applications has new modules."""
        known = self._user_numbers.setdefault(users, len(self._user_numbers) + 1)
        for number in numbers:
            if self._users[number] == known:
                continue
            self._users[number] = known
            hash = self._hashes[number]
            if self._places[number] != _THERE and self._modules.find(_name(hash)) is None:
                self._modules.add(_name(hash))
                self._owners.append(number)
            for application in users:
                link = link_hash(application, foz.MODULE, hash)
                if not self._union.has(foz.LINK, link) and _name(link) not in self._links:
                    self._links.add(_name(link))
                    self._linked.append(application)
                    self._linked.append(hash)

    def _spooled_module(self, hash: int, code: bytes) -> int:
        words = varint.encode(code)
        text = (
            f'{{"version":{self._union.version},"shaderModules":{{"{hash:016x}":{{"varintOffset":0,'
            f'"varintSize":{len(words)},"codeSize":{len(code)},"flags":0}}}}}}'
        )
        return self._keep(foz.packed(foz.MODULE, hash, text.encode() + b"\0" + words))

    def _keep(self, entry: tuple[bytes, ...]) -> int:
        """Put an entry into the spool."""
        at = self._end
        for piece in entry:
            self._end += self._spool.write(piece)
        return at

    # -- the target -----------------------------------------------------------------------------

    def _write(self, out: BinaryIO) -> None:
        out.write(foz.MAGIC + bytes([self._union.version]))
        for tag in foz.ORDER:
            for begin, pieces in self._in_order(tag):
                out.write(begin)
                out.writelines(pieces)
        for entry in self._union.others():
            out.write(entry.head)
            out.writelines(self._union.stored(entry))

    def _in_order(self, tag: int) -> Iterator[_Pieces]:
        """All entries of a tag by ascending hash, the new ones among them."""
        new = {foz.MODULE: self._modules, foz.GRAPHICS: self._pipelines, foz.LINK: self._links}
        waiting = array("Q", sorted([int.from_bytes(name, "big") for name in new.get(tag, ())]))
        waiting.reverse()
        left_out = self._left_out.get(tag)
        for hash, begin, rest in self._union.raw_entries(tag):
            while waiting and waiting[-1] < hash:
                yield self._new_entry(tag, waiting.pop())
            if waiting and waiting[-1] == hash:
                yield self._new_entry(tag, waiting.pop())
            elif not left_out or _name(hash) not in left_out:
                yield begin, rest
        while waiting:
            yield self._new_entry(tag, waiting.pop())

    def _new_entry(self, tag: int, hash: int) -> _Pieces:
        if tag == foz.LINK:
            at = self._links.add(_name(hash))
            application, module = self._linked[2 * at], self._linked[2 * at + 1]
            text = (
                f'{{"version":{self._union.version},"link":{{"application":"{application:016x}",'
                f'"tag":{foz.MODULE},"hash":"{module:016x}"}}}}'
            )
            head, stored = foz.packed(tag, hash, text.encode(), foz.RAW)
            return head + stored, ()
        if tag == foz.MODULE:
            where = self._places[self._owners[self._modules.add(_name(hash))]]
        else:
            where = self._spooled[self._pipelines.add(_name(hash))]
        return self._entry_at(where), ()

    def _entry_at(self, where: int) -> bytes:
        """A new entry, header and all."""
        if where & _ELSEWHERE:
            assert self._made is not None
            return self._made_entry(where ^ _ELSEWHERE)
        self._spool.seek(where - _CLASH - 1)
        head = self._spool.read(foz.HEADER.size)
        return head + self._spool.read(int.from_bytes(head[40:44], "little"))

    def _made_entry(self, at: int) -> bytes:
        assert self._made is not None
        entry = foz.read_at(self._made, at, foz.FIRST)
        size = foz.HEADER.size + int.from_bytes(entry[40:44], "little")
        while len(entry) < size:
            more = foz.read_at(self._made, at + len(entry), size - len(entry))
            if not more:
                raise OSError(0, "a temporary file became shorter")
            entry += more
        return entry[:size]

    def _trouble(self, error: OSError | ValueError) -> Usage:
        why = error.strerror if isinstance(error, OSError) else error
        return Usage(f"{self._target}: cannot write it: {why}")


def _name(hash: int) -> bytes:
    return hash.to_bytes(_NAME, "big")


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
