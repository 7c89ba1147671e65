"""Equal values, and which of them dominates a block.

    b1: x = a * b          asked in b3: none of the two
    b2: y = a * b          asked in a block below b2: y
    b3: z = a * b

The dominator tree's preorder numbers put the blocks of a subtree in a row, so the candidate is
found by bisection, among any number of siblings, and from there up (each knows the one above it).
"""

from __future__ import annotations

from bisect import bisect_right

from spvlink.facts.cfg import Cfg
from spvlink.ir.core import Block, Inst


class DominatingValue:
    """A value in a block; ``above``: the nearest of the others that dominates it."""

    __slots__ = ("above", "block", "value")

    def __init__(self, value: Inst, block: Block, above: DominatingValue | None) -> None:
        self.value = value
        self.block = block
        self.above = above


class Dominating:
    """Values in blocks of one function. They are added in an order in which dominators come first
    (as reverse postorder is)."""

    __slots__ = ("enters", "values")

    def __init__(self, value: Inst, block: Block) -> None:
        self.values = [DominatingValue(value, block, None)]  # in preorder
        self.enters: list[int] = []  # their blocks' numbers, once there are two

    def find(self, cfg: Cfg, block: Block) -> DominatingValue | None:
        """The nearest that dominates ``block``: through ``above`` it leads to the others."""
        if len(self.values) == 1:
            return self.values[0] if cfg.dominates(self.values[0].block, block) else None
        at = bisect_right(self.enters, cfg.enter[block]) - 1
        nearest = self.values[at] if at >= 0 else None
        while nearest is not None and not cfg.dominates(nearest.block, block):
            nearest = nearest.above
        return nearest

    def add(self, cfg: Cfg, value: Inst, block: Block, above: DominatingValue | None) -> None:
        """One more; ``above``: what ``find`` says of this block, which is none of the others."""
        if not self.enters:
            self.enters.append(cfg.enter[self.values[0].block])
        at = bisect_right(self.enters, cfg.enter[block])
        self.enters.insert(at, cfg.enter[block])
        self.values.insert(at, DominatingValue(value, block, above))


class Values:
    """Such values by key, none of which dominates another one of its key."""

    __slots__ = ("by_key", "cfg")

    def __init__(self, cfg: Cfg) -> None:
        self.cfg = cfg
        self.by_key: dict[object, Dominating] = {}

    def find(self, key: object, block: Block) -> Inst | None:
        """The one that dominates ``block``."""
        among = self.by_key.get(key)
        nearest = among.find(self.cfg, block) if among is not None else None
        return nearest.value if nearest is not None else None

    def add(self, key: object, value: Inst, block: Block) -> None:
        """One more; ``find`` found none for its block."""
        among = self.by_key.get(key)
        if among is None:
            self.by_key[key] = Dominating(value, block)
        else:
            among.add(self.cfg, value, block, None)
