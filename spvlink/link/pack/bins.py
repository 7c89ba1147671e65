"""Hold Locations while compaction fills them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

UINT: Final = "u32"  # the base type that may carry others, bit for bit


class Bin:
    """A Location that is being filled: for each component the old key that goes there, -1 for free,
    -2 for blocked."""

    __slots__ = ("base", "components", "location", "qualifiers", "relaxed")

    def __init__(self, location: int, qualifiers: tuple[int, ...], base: str) -> None:
        self.location = location
        self.qualifiers = qualifiers
        self.base = base
        self.relaxed = False  # what it was begun with has half precision
        self.components = [-1, -1, -1, -1]

    def free(self) -> int:
        return self.components.count(-1)

    def may_move(self) -> bool:
        """Whether nothing is blocked in it, second components of 64-bit numbers apart."""
        keys = self.components
        wide = self.base.endswith("64")
        return -2 not in keys or all(
            key != -2 or (wide and n & 1 and keys[n - 1] >= 0) for n, key in enumerate(keys)
        )

    def fit(self, size: int, even: bool) -> int:
        """The first component where ``size`` neighbours are free (an even one for 64 bits), or
        -1."""
        for at in range(0, 5 - size, 2 if even else 1):
            if self.components[at : at + size].count(-1) == size:
                return at
        return -1


def new_bin(bins: dict[int, Bin], qualifiers: tuple[int, ...], base: str) -> Bin:
    location = 0
    while location in bins:
        location += 1
    bins[location] = Bin(location, qualifiers, base)
    return bins[location]


def put(bin: Bin, at: int, keys: list[int], wide: bool) -> None:
    for key in keys:
        bin.components[at] = key
        if wide:
            bin.components[at + 1] = -2
        at += 2 if wide else 1


def close_gap(bins: dict[int, Bin], location: int) -> None:
    """Move the highest Location that may move into a gap."""
    highest = max(bins, default=-1)
    if highest > location and bins[highest].may_move():
        bin = bins.pop(highest)
        bin.location = location
        bins[location] = bin
