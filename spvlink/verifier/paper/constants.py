"""Numbers that differ by the rounding of a few operations are one number."""

from __future__ import annotations

from bisect import bisect_left, insort

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

STEEP: Final = 8192.0  # a factor that makes a step of the last bits
# Four steps of the last bit of a 32-bit float, relative. Two numbers that are taken for one differ
# by twice as much at most.
_NEAR: Final = 5e-7


class Constants:
    """The first number that was met stands for those that are near to it, unless it is large."""

    def __init__(self) -> None:
        self.met: list[float] = []

    def one(self, value: float) -> float:
        """The number that stands for ``value``, which is finite."""
        if abs(value) >= STEEP:
            return value
        above = bisect_left(self.met, value)
        first = max(above - 1, 0)
        for other in self.met[first : above + 1]:
            if abs(other - value) <= _NEAR * abs(value):
                return other
        insort(self.met, value)
        return value
