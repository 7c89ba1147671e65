"""How far two pictures are apart where rounding may differ: in ULPs, and in steps of 8 bits.

A ULP is that of the larger of the two values, and of 2^-10 at least: a value near zero is as a rule
the difference of larger ones, whose last bits it inherits, so its own ULPs say nothing, while
2^-10 is a quarter of the smallest step that 8 bits can show.

8 bits are what an R8G8B8A8_UNORM target would hold: clamped to [0, 1], times 255, rounded to the
nearest (Vulkan specification, conversion from floating-point to normalized fixed-point).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spvlink.draw.compare import Result

TOLERANCE = 1e-4  # of ``far_apart``
SMALLEST = 2.0**-10  # the ULP of what is smaller is the ULP of this
_MANTISSA = 23  # bits of a float32 behind the leading one


@dataclass
class Rounding:
    """The largest differences over all float images of two results."""

    ulps: float = 0.0  # infinite where one value is finite and the other is not, or another one
    steps: int = 0  # of the colours, at 8 bits
    values: int = 0  # how many floats there are
    differing: int = 0  # how many of them are not equal
    stepped: int = 0  # how many of them are not equal at 8 bits

    def add(self, other: Rounding) -> None:
        """The larger of both, and all values together."""
        self.ulps = max(self.ulps, other.ulps)
        self.steps = max(self.steps, other.steps)
        self.values += other.values
        self.differing += other.differing
        self.stepped += other.stepped


def rounding(before: Result, after: Result) -> Rounding:
    """Differences of all float images; depth has ULPs, but no 8-bit form."""
    modes = Rounding()
    for name, old in before.images.items():
        if old.dtype.kind != "f":
            continue
        a, b = old.astype(np.float64), after.images[name].astype(np.float64)
        one = Rounding(_ulps(a, b), 0, a.size, int((~_same(a, b)).sum()))
        if name != "depth":
            steps = np.abs(unorm8(a) - unorm8(b))
            one.steps = int(steps.max(initial=0))
            one.stepped = int((steps > 0).sum())
        modes.add(one)
    return modes


def far_apart(before: Result, after: Result, tolerance: float = TOLERANCE) -> str:
    """What is not equal but for rounding: integers and buffers by a bit, floats by more than
    ``tolerance`` (of the value, and of 1 at least); empty if nothing is."""
    for name, old in before.images.items():
        new = after.images[name]
        if old.dtype.kind != "f":
            if not np.array_equal(old, new):
                return name
            continue
        finite = np.isfinite(old) & np.isfinite(new)
        if not np.array_equal(np.isfinite(old), np.isfinite(new)):
            return name
        error = np.abs(old[finite].astype(np.float64) - new[finite])
        worst = (error / np.maximum(1.0, np.abs(old[finite]))).max(initial=0.0)
        if worst > tolerance:
            return f"{name} is off by {worst}"
    for name, buffer in before.buffers.items():
        if not np.array_equal(buffer, after.buffers[name]):
            return name
    return ""


def _same(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (a == b) | (np.isnan(a) & np.isnan(b))
    return same


def _ulps(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.all(_same(a, b) | finite):
        return float("inf")
    a, b = a[finite], b[finite]
    magnitude = np.maximum(np.maximum(np.abs(a), np.abs(b)), SMALLEST)
    ulp = 2.0 ** (np.floor(np.log2(magnitude)) - _MANTISSA)
    return float((np.abs(a - b) / ulp).max(initial=0.0))


def unorm8(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """0..255, as a blend unit stores a colour; NaN becomes 0."""
    inside = np.clip(np.nan_to_num(values, nan=0.0), 0.0, 1.0)
    return np.floor(inside * 255.0 + 0.5).astype(np.int64)
