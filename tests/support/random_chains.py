"""How far pictures of random chains may lie apart, and feedback in one order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spvlink.draw import Result
from spvlink.draw.compare import max_ulp
from spvlink.draw.feedback import FILL

MESH_ENVIRONMENTS = ("vulkan1.2", "vulkan1.3")
TOLERANCE = 1e-3
TIPPED = 0.01  # share of pixels that may show another branch
FEW_ULP = 4096  # seed 1842: 128, of sin(inversesqrt(constant)); --flow 2002188: 2304


def farthest(before: Result, after: Result) -> int:
    """The largest distance of float32 values in images and captured buffers."""
    pairs = [
        (old, after.images[name]) for name, old in before.images.items() if old.dtype.kind == "f"
    ]
    for name, old in captured(before):
        pairs.append((old, after.buffers[name].view(np.float32)))
    return max((max_ulp(old, new) for old, new in pairs), default=0)


def captured(result: Result) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The buffers of transform feedback, by name."""
    for name, data in result.buffers.items():
        if name.startswith("feedback") and name[8:].isdigit():
            yield name, data.view(np.float32)


def off(before: Result, after: Result) -> float:
    """The largest share of an image or captured buffer that differs by more than rounding. Counts
    in storage buffers say nothing here: one tipped comparison changes them.
    """
    shares = [0.0]
    for name, old in before.images.items():
        shares.append(float(np.mean(_far(old, after.images[name]))))
    for name, old in captured(before):
        new = after.buffers[name].view(np.float32)
        written = old.view(np.uint32) != FILL * 0x01010101
        shares.append(float(np.mean(_far(old[written], new[written]))) if written.any() else 0.0)
    return max(shares)


def _far(old: NDArray[np.generic], new: NDArray[np.generic]) -> NDArray[np.bool_]:
    if old.dtype.kind != "f":
        return np.asarray(old != new)
    with np.errstate(all="ignore"):
        near = np.abs(old - new) <= TOLERANCE * np.maximum(1.0, np.abs(old))
    return ~(near | (old == new) | (np.isnan(old) & np.isnan(new)))


def canonical(result: Result) -> Result:
    """Which NaN an operation gives is not specified, nor, unless SignedZeroInfNanPreserve asks for
    it, the sign of a zero.
    """
    for image in result.images.values():
        if image.dtype.kind == "f":
            image[np.isnan(image)] = np.nan
            image[image == 0.0] = 0.0
    for name, data in result.buffers.items():
        if name.startswith("feedback"):
            words = data.view(np.uint32)
            words[words == 0x80000000] = 0
            nan = (words & 0x7FFFFFFF) > 0x7F800000
            words[nan] = 0x7FC00000
    return result
