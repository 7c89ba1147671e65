"""How close two pictures must be if rounding may differ."""

from __future__ import annotations

import numpy as np

from tests.render import Result

TOLERANCE = 1e-4


def assert_close(before: Result, after: Result, tolerance: float = TOLERANCE) -> None:
    """Equal but for rounding: integers and buffers bit for bit, floats to ``tolerance``."""
    for name, old in before.images.items():
        new = after.images[name]
        if old.dtype.kind != "f":
            assert np.array_equal(old, new), name
            continue
        finite = np.isfinite(old) & np.isfinite(new)
        assert np.array_equal(np.isfinite(old), np.isfinite(new)), name
        error = np.abs(old[finite].astype(np.float64) - new[finite])
        worst = (error / np.maximum(1.0, np.abs(old[finite]))).max(initial=0.0)
        assert worst <= tolerance, f"{name} is off by {worst}"
    for name, buffer in before.buffers.items():
        assert np.array_equal(buffer, after.buffers[name]), name
