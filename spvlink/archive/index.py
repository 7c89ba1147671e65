"""Where the entries of an archive are, in 16 bytes each: archives of millions of entries exist."""

from __future__ import annotations

from array import array
from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator

    Shelf = tuple[array[int], array[int]]  # hashes, places


class Index:
    """Hash (64 bit) -> place (64 bit, whatever the user means by it). First ``add`` all, then
    ``settle``, then look up. Entries stand on 256 shelves by the first byte of their hash: sorting
    one of them at a time needs little memory."""

    __slots__ = ("_shelves",)

    def __init__(self) -> None:
        self._shelves: list[Shelf | None] = [None] * 256

    def add(self, hash: int, place: int) -> None:
        shelf = self._shelves[hash >> 56]
        if shelf is None:
            shelf = self._shelves[hash >> 56] = (array("Q"), array("Q"))
        shelf[0].append(hash)
        shelf[1].append(place)

    def settle(self) -> None:
        """Sort. Of places with one hash the one that was added first stays."""
        for number, shelf in enumerate(self._shelves):
            if shelf is not None:
                self._shelves[number] = _settled(shelf)

    def find(self, hash: int) -> int | None:
        shelf = self._shelves[hash >> 56]
        if shelf is None:
            return None
        at = bisect_left(shelf[0], hash)
        if at == len(shelf[0]) or shelf[0][at] != hash:
            return None
        return shelf[1][at]

    def __len__(self) -> int:
        return sum(len(shelf[0]) for shelf in self._shelves if shelf is not None)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """(hash, place), by ascending hash."""
        for shelf in self._shelves:
            if shelf is not None:
                yield from zip(*shelf)


def _settled(shelf: Shelf) -> Shelf:
    hashes, places = shelf
    order = sorted(range(len(hashes)), key=hashes.__getitem__)  # stable: the first one stays first
    kept_hashes, kept_places = array("Q"), array("Q")
    last = -1
    for at in order:
        if hashes[at] != last:
            last = hashes[at]
            kept_hashes.append(last)
            kept_places.append(places[at])
    return kept_hashes, kept_places
