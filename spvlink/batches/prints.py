"""Digests of an archive's entries as they are stored: they say that a pipeline is the one that an
earlier run saw, and costs less than to read it.

All that planning takes from an archive for one pipeline is covered: the bytes of its entry, those
of all entries whose keys stand in it, the set layouts of its layout, and the applications that use
it. Facts of applications are covered by ``of_applications``.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from spvlink.archive import documents, foz
from spvlink.digest_table import DigestTable
from spvlink.errors import BadArchive

if TYPE_CHECKING:
    from spvlink.archive.archive import Archive

PRINT: Final = 20  # bytes of a digest
_KEY: Final = 8  # bytes
_NAMED: Final = re.compile(rb'"([0-9a-fA-F]{16})"')
_NAMED_BY_PIPELINES: Final = (foz.MODULE, foz.PIPELINE_LAYOUT, foz.RENDER_PASS)


class EntryPrints:
    """``applications`` is a digest of all of these."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._union = archive.union
        # Of each key that pipelines name: a digest of what has it.
        self._keys = DigestTable(_KEY)
        self._prints = bytearray()
        self._last = "", b""  # keys that were asked for just now, and their digests
        made = blake2b(digest_size=PRINT)
        for hash in self._union.hashes(foz.APPLICATION):
            made.update(self.of_entry(foz.APPLICATION, hash))
        self.applications = made.digest()

    def of_entry(self, tag: int, hash: int) -> bytes:
        """A digest of an entry, header and all; of nothing where there is none."""
        data = self._union.raw(tag, hash)
        made = blake2b(data, digest_size=PRINT)
        if len(data) == foz.WHOLE:  # the beginning of a large one
            entry = self._union.find(tag, hash)
            assert entry is not None
            for piece in self._union.stored(entry):
                made.update(piece)
        return made.digest()

    def named_by(self, hash: int) -> str | None:
        """The keys in the entry of a pipeline but its own, joined by commas; None if it cannot be
        said."""
        keys = self._named(foz.GRAPHICS, hash)
        if keys is None:
            return None
        own = f"{hash:016x}"
        if keys.count(own) == 1:  # where it says that it is that pipeline
            keys.remove(own)
        return ",".join(dict.fromkeys(keys))

    def _named(self, tag: int, hash: int) -> list[str] | None:
        entry = self._union.find(tag, hash)
        if entry is None:
            return None
        try:
            text, _ = documents.split(self._union.payload(entry))
        except BadArchive:
            return None
        if b"\\" in text:  # a key may be written in other ways
            return None
        return [key.decode().lower() for key in _NAMED.findall(text)]

    def of_named(self, keys: str, hash: int) -> bytes:
        """A digest of what the entry of a pipeline names, then the keys of who uses the pipeline.
        Pipelines that name the same come in a row, mostly."""
        if keys != self._last[0]:
            named = b"".join(map(self._of_key, keys.split(",") if keys else ()))
            self._last = keys, blake2b(named, digest_size=PRINT).digest()
        users = self._archive.applications_of(hash)
        return b"".join([self._last[1], *(user.to_bytes(_KEY, "big") for user in users)])

    def _of_key(self, digits: str) -> bytes:
        """A digest of all entries of a key that a pipeline may mean."""
        name = bytes.fromhex(digits)
        number = self._keys.find(name)
        if number is None:
            hash = int(digits, 16)
            made = blake2b(digest_size=PRINT)
            for tag in _NAMED_BY_PIPELINES:
                made.update(self.of_entry(tag, hash))
            if self._union.has(foz.PIPELINE_LAYOUT, hash):
                for one in self._sets(hash):
                    made.update(self.of_entry(foz.SET_LAYOUT, one))
            self._prints += made.digest()
            number = self._keys.add(name)
        begin = number * PRINT
        end = begin + PRINT
        return bytes(self._prints[begin:end])

    def _sets(self, hash: int) -> list[int]:
        """Keys of the set layouts of a pipeline layout: all of them if it is written unusually."""
        named = self._named(foz.PIPELINE_LAYOUT, hash)
        if named is None:
            return list(self._union.hashes(foz.SET_LAYOUT))
        return [int(key, 16) for key in named]
