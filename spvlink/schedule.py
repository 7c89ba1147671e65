"""The order of the passes, each with its reason, and the hook between them that dumps, times, checks and stops."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from spvlink.ir.core import Function, Module
from spvlink.link.border import Stage
from spvlink.options import Options
from spvlink.passes import branches, dce, inline, simplify

# What may be switched off, for `spvlink passes` and --disable.
PASSES: Final[dict[str, str]] = {
    "branches": "constant branches, empty selections and straight-line blocks are resolved",
    "compact": "what is left of an interface goes into the fewest Locations",
    "dce": "dead code is removed, by component and with its control flow",
    "dead": "outputs nobody reads and inputs nobody writes are removed on both sides",
    "simplify": "constants are folded, equal values merged, algebra applied, vectors looked through",
}

# One stage's cleaning. Each line says why it stands where it stands.
CLEAN: Final[tuple[tuple[str, Callable[[Module, Function], None], str], ...]] = (
    ("simplify", simplify.run, "first, since constant conditions and dead operands come to light here"),
    ("branches", branches.run, "before dce, which need not look at blocks that nothing reaches"),
    ("dce", dce.run, "last, so that what is left is what is used"),
)


class Stop(Exception):
    """--stop-after was reached: the rest of the optional passes is skipped."""


class Runner:
    """Runs passes on stages, and does between them what the user asked for."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.seconds: dict[str, float] = {}
        self.count = 0

    def enabled(self, name: str) -> bool:
        stop = self.options.stop_after
        return name not in self.options.disabled and (stop is None or self.count < stop)

    def run(self, name: str, stage: Stage, act: Callable[[], None]) -> bool:
        """Run one pass; whether it changed the module."""
        version = stage.module.version
        begin = time.perf_counter()
        try:
            act()
        finally:
            spent = time.perf_counter() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
        if stage.module.version == version:
            return False
        self.count += 1
        if self.options.check_each:
            from spvlink.ir.check import check

            check(stage.module)
        if self.options.observer is not None:
            self.options.observer(self.count, name, stage.name, stage.module)
        return True

    def clean(self, stage: Stage, rounds: int = 3) -> None:
        """The cleaning passes, again if branches or dead code opened new ways."""
        module = stage.module
        assert module.entry is not None
        function = module.entry.function
        for _ in range(rounds):
            flow = module.flow
            for name, act, _why in CLEAN:
                if self.enabled(name):
                    self.run(name, stage, lambda act=act: act(module, function))  # type: ignore[misc]
            if module.flow == flow:
                return

    def prepare(self, stage: Stage) -> None:
        """Everything that the entry point calls, in one function."""
        self.run("inline", stage, lambda: inline.run(stage.module))
