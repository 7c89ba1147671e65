"""Hold the places of everything at a border."""

from __future__ import annotations

from spvlink.ir.slot import Pinned, Varying

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    Group = tuple[tuple[int, ...], str, list[int]]  # qualifiers, base type, keys


class Placement:
    """A complete answer: where each live key goes, and each whole variable's shift."""

    __slots__ = ("aside", "locations", "moved", "varyings")

    def __init__(
        self, varyings: list[Varying], moved: dict[Pinned, int], locations: set[int],
        aside: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        self.varyings = varyings
        self.moved = moved  # the new Location of each whole variable
        self.locations = locations
        self.aside = aside  # keys that the consumer does not read

    def cost(self) -> tuple[int, int, int, int, int]:
        """(Locations, those that the consumer reads, the highest of these, the highest of all,
        variables)."""
        highest = max(self.locations) if self.locations else -1
        last, read = highest, self.locations
        if self.aside:
            places = [
                v.place_of(n)[0]
                for v in self.varyings if not self.aside.issuperset(v.keys)
                for n in range(len(v.keys))
            ]  # fmt: skip
            whole = [
                (k >> 3) + at - p.location
                for p, at in self.moved.items() for k in p.keys if k not in self.aside
            ]  # fmt: skip
            read = {*places, *whole}
            last = max(read) if read else -1
        return len(self.locations), len(read), last, highest, len(self.varyings)
