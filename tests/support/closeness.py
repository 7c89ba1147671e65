"""How close two pictures must be if rounding may differ."""

from __future__ import annotations

from spvlink.draw import Result
from spvlink.draw.rounding import TOLERANCE, far_apart

__all__ = ["TOLERANCE", "assert_close"]


def assert_close(before: Result, after: Result, tolerance: float = TOLERANCE) -> None:
    """Equal but for rounding."""
    apart = far_apart(before, after, tolerance)
    assert not apart, apart
