"""Limit the registers that the consumer needs for a smaller interface: the brake of ``forward``.

    vertex:   o0 = v; o1 = v * u.k           ->   o = v
    fragment: f(in0) ... 500 instructions ... g(in1)
                                             ->   f(in) ... 500 instructions ... g(in * u.k)

An input costs no register before its first use, since drivers read it there. If one input replaces
two, it occupies a register from the first use of either to the last. So ``forward`` pays for
components with registers. That costs nothing while registers are free. If the peak of live values
(``facts/pressure.py``) is above that limit and rises, fewer threads run at once, by the share of
the new values in the peak, and less work hides their waiting. The estimate takes half of that share
of the whole stage:

    one value more at the peak    operations / (2 * values at the peak), once per fragment

Outputs that depend on each other form one family, which is kept or moved as a whole; the families
with the shortest reach come first. ``backward`` needs no brake on this side: it never sends more
values, and each is read where it was computed before. In the producer ``relocate`` computes values
of equal inputs next to each other.
"""

from __future__ import annotations

from spvlink.facts.pressure import Pressure
from spvlink.ir.core import Module
from spvlink.link.border.cost import COMPONENT_PRICE, FREE_REGISTERS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.facts.pressure import How, Range


class ReplacedInputs:
    """Inputs that are replaced together. ``made``: for each value that crosses then, the inputs
    that are made of it."""

    __slots__ = ("keys", "made", "work")

    def __init__(self, keys: list[int], made: list[list[int]], work: int) -> None:
        self.keys = keys
        self.made = made
        self.work = work  # operations of the consumer

    def gain(self, limit: int) -> int:
        """Operations per fragment that it is worth, in percent."""
        return (len(self.keys) - len(self.made)) * COMPONENT_PRICE * limit // 2 - 100 * self.work


def find_costly(
    consumer: Module, families: list[ReplacedInputs], limit: int
) -> list[tuple[ReplacedInputs, int]]:
    """The families that cost more registers than they are worth, each with the number of values
    more that the consumer would hold. ``limit``: as ``Options.cost_limit``."""
    crossing = sum([len(family.made) for family in families])
    pressure = Pressure.of_module(consumer)
    peak = highest = pressure.peak()
    if peak + crossing <= FREE_REGISTERS:
        return []
    costly: list[tuple[ReplacedInputs, int]] = []
    gone: list[Range] = []
    new: list[Range] = []
    ranges = {k: pressure.ranges(k) for family in families for k in family.keys}
    for family in sorted(families, key=lambda f: _reach(f, ranges)):
        left = [r for key in family.keys for r in ranges[key].values()]
        come = [r for keys in family.made for r in _hull(keys, ranges).values()]
        after = pressure.peak_with(gone + left, new + come)
        more = after - max(highest, FREE_REGISTERS)
        if more > 0 and 50 * more * pressure.operations > family.gain(limit) * peak:
            costly.append((family, more))
            continue
        gone += left
        new += come
        highest = after
    return costly


def _reach(family: ReplacedInputs, ranges: dict[int, dict[How, Range]]) -> int:
    """How many places longer its values live than what they replace."""
    hulls = [r for keys in family.made for r in _hull(keys, ranges).values()]
    own = [r for key in family.keys for r in ranges[key].values()]
    return sum([b - a for a, b in hulls]) - sum([b - a for a, b in own])


def _hull(keys: list[int], ranges: dict[int, dict[How, Range]]) -> dict[How, Range]:
    """Where a value lives that some inputs are made of."""
    hulls: dict[How, Range] = {}
    for key in keys:
        for how, (first, last) in ranges[key].items():
            a, b = hulls.get(how, (first, last))
            hulls[how] = min(a, first), max(b, last)
    return hulls
