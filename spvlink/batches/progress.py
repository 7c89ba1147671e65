"""How far it is: a bar with rate, time left and failures on standard error.

The bar is tqdm's. A copy of the package that was installed without it prints a line every ten
seconds.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Final

AUTO: Final = "auto"
ALWAYS: Final = "always"
NEVER: Final = "never"
_EVERY: Final = 10.0  # seconds


def _has_size() -> bool:
    """Whether this is a terminal that knows how large it is: tqdm hides a bar in one without
    rows, as containers have them."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).lines > 0
    except (OSError, ValueError):
        return False


class Progress:
    """``mode``: AUTO shows something on a terminal only. ``total``: how many pipelines."""

    def __init__(self, total: int, mode: str) -> None:
        self.total = total
        self.done = 0
        self.bad = 0
        self.began = self.said = time.monotonic()
        self.shown = mode == ALWAYS or (mode == AUTO and sys.stderr.isatty())
        self.bar: Any = None
        if self.shown:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            shape = {"dynamic_ncols": True} if _has_size() else {"ncols": 80, "nrows": 24}
            self.bar = tqdm(total=total, unit=" pipelines", file=sys.stderr, **shape)

    def add(self, count: int, bad: int) -> None:
        """``count`` more are done; ``bad`` failed until now."""
        self.done += count
        if self.bar is not None and bad != self.bad:
            self.bar.set_postfix(failed=bad)
        self.bad = bad
        if self.bar is not None:
            self.bar.update(count)
        elif self.shown and time.monotonic() - self.said >= _EVERY:
            self.said = time.monotonic()
            sys.stderr.write(self.line() + "\n")

    def line(self) -> str:
        """Where it stands, in words."""
        rate = self.done / max(time.monotonic() - self.began, 1e-9)
        left = (self.total - self.done) / rate if rate else 0.0
        return (
            f"spvlink: {self.done} of {self.total} pipelines, {rate:.1f} a second,"
            f" {left:.0f} s left, {self.bad} failed"
        )

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
