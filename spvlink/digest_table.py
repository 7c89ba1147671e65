"""Very many digests in little memory: what is known of each stands in arrays, at its number.

An entry takes some 30 bytes, where a dict with its keys and values takes 150 and more.
"""

from __future__ import annotations

from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

_SMALLEST: Final = 1 << 6  # slots


class DigestTable:
    """Digests of ``size`` bytes, numbered from 0 as they come. None is ever taken out."""

    __slots__ = ("_digests", "_mask", "_size", "_slots")

    def __init__(self, size: int) -> None:
        self._size = size
        self._digests = bytearray()
        self._slots = array("I", bytes(4 * _SMALLEST))  # number + 1; 0: a free slot
        self._mask = _SMALLEST - 1

    def __len__(self) -> int:
        return len(self._digests) // self._size

    def __contains__(self, digest: bytes) -> bool:
        return self.find(digest) is not None

    def __getitem__(self, number: int) -> bytes:
        """The digest of a number."""
        begin = number * self._size
        end = begin + self._size
        return bytes(self._digests[begin:end])

    def __iter__(self) -> Iterator[bytes]:
        for number in range(len(self)):
            yield self[number]

    def find(self, digest: bytes) -> int | None:
        """Its number, None if it is not there."""
        number = self._slots[self._slot(digest)]
        return number - 1 if number else None

    def add(self, digest: bytes) -> int:
        """Its number; it is there from now on."""
        slot = self._slot(digest)
        number = self._slots[slot]
        if number:
            return number - 1
        self._digests += digest
        count = len(self)
        self._slots[slot] = count
        if 3 * count > 2 * self._mask:
            self._grow()
        return count - 1

    def _slot(self, digest: bytes) -> int:
        """Where it is, or would be. Python's own hash has a secret in it: nobody can choose digests
        that all fall on one slot."""
        size, digests, slots, mask = self._size, self._digests, self._slots, self._mask
        slot = hash(digest) & mask
        while slots[slot]:
            end = slots[slot] * size
            begin = end - size
            if digests[begin:end] == digest:
                return slot
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        self._mask = mask = 2 * self._mask + 1
        self._slots = slots = array("I", bytes(4 * (mask + 1)))
        for number in range(len(self)):
            slot = hash(self[number]) & mask
            while slots[slot]:
                slot = (slot + 1) & mask
            slots[slot] = number + 1
