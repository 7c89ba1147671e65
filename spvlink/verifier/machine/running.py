"""What all stages of a run share: the world, what is seen, built-ins that all stages have."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from spvlink.grammar import enums
from spvlink.ir.core import Inst
from spvlink.verifier.machine.engine import GROUP, Machine
from spvlink.verifier.machine.interface import Outputs
from spvlink.verifier.machine.seen import Seen
from spvlink.verifier.machine.values import Array, Tree, V
from spvlink.verifier.machine.world import World

NAMES: Final = {
    getattr(enums, name): name.removeprefix("BuiltIn_")
    for name in dir(enums) if name.startswith("BuiltIn_")
}  # fmt: skip


class Running:
    """A run of a pipeline: its world, and what was seen so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen = Seen()
        self.shape = ""  # what is rasterized, as KnownState has it

    def number(self, m: Machine, known: dict[int, Any], which: int) -> Tree | None:
        """A built-in that is a number, or one of those that all stages have."""
        tree = known.get(which)
        if isinstance(tree, (V, list)):
            return tree
        if tree is None:
            tree = self.everywhere(m, which)
        if tree is None or isinstance(tree, (V, list)):
            return tree
        return V(np.atleast_1d(np.asarray(tree, dtype=np.int64)).astype(np.uint32))

    def everywhere(self, m: Machine, which: int) -> Any:
        at = np.arange(m.count) % GROUP
        if which == enums.BuiltIn_ViewIndex:
            view = self.world.known.view()
            return self.world.seed % 2 if view is None else view
        if which == enums.BuiltIn_DeviceIndex:
            return 0
        if which == enums.BuiltIn_SubgroupSize:
            return GROUP
        if which == enums.BuiltIn_SubgroupLocalInvocationId:
            return at
        masks = {
            enums.BuiltIn_SubgroupEqMask: 1 << at, enums.BuiltIn_SubgroupLtMask: (1 << at) - 1,
            enums.BuiltIn_SubgroupLeMask: (2 << at) - 1,
            enums.BuiltIn_SubgroupGtMask: 15 & ~((2 << at) - 1),
            enums.BuiltIn_SubgroupGeMask: 15 & ~((1 << at) - 1),
        }  # fmt: skip
        if which in masks:
            low = masks[which].astype(np.uint32)
            return V(np.stack([low, low * 0, low * 0, low * 0]))
        return None

    def keep(self, m: Machine) -> None:
        """The stores of a stage that ran."""
        if m.log:
            for entry in m.log:
                if m.wild.any():
                    by = m.wild[entry.lanes]
                    entry.u = by if entry.u is None else entry.u | by
            self.seen.stores.setdefault(m.stage.name, []).extend(m.log)
            if m.wild.any():
                self.seen.doubts.append("stores where control flow is undefined")


def getter(feed: Outputs, at: Array, there: bool) -> Any:
    def get(location: int, component: int, scalar: Inst) -> V | None:
        return feed.read(location, component, scalar, at) if there else None

    return get
