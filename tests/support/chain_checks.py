"""What is asked of a linked chain: valid, fitting, no larger, and a picture that is close."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

import spvlink
from spvlink.draw import (
    Result,
    mismatches,
)
from spvlink.draw.border import slots
from spvlink.draw.reflect import INPUT, OUTPUT, ReadStage
from tests.support.closeness import TOLERANCE


def close(before: Result, after: Result) -> list[str]:
    """Images: floats to TOLERANCE. Captured words likewise where both are ordinary floats."""
    found = []
    if before.images.keys() != after.images.keys() or before.buffers.keys() != after.buffers.keys():
        return ["other images or buffers"]
    for name, old in before.images.items():
        if not _near(old, after.images[name]):
            found.append(f"{name} is off")
    for name, buffer in before.buffers.items():
        other = after.buffers[name]
        if name.startswith("feedback") and name[8:].isdigit():
            if not _captured_near(buffer, other):
                found.append(f"{name} is off")
        elif not np.array_equal(buffer, other):
            found.append(f"{name} differs")
    return found


def _near(old: NDArray[np.generic], new: NDArray[np.generic]) -> bool:
    if old.dtype.kind != "f":
        return bool(np.array_equal(old, new))
    finite = np.isfinite(old)
    if not np.array_equal(finite, np.isfinite(new)):
        return False
    a, b = old[finite].astype(np.float64), new[finite].astype(np.float64)
    return bool((np.abs(a - b) <= TOLERANCE * np.maximum(1.0, np.abs(a))).all())


def _captured_near(old: NDArray[np.uint8], new: NDArray[np.uint8]) -> bool:
    """Words that are no ordinary float on either side (small integers are not) must be equal."""
    words, others = old.view(np.uint32), new.view(np.uint32)
    differ = words != others
    words, others = words[differ], others[differ]
    for some in (words, others):
        exponent = (some >> 23) & 0xFF
        if not ((exponent > 64) & (exponent < 190)).all():
            return False
    return _near(words.view(np.float32), others.view(np.float32))


def sizes(codes: Iterable[bytes]) -> dict[str, tuple[int, int]]:
    """Border side -> (components, Locations), by the harness's own reflection. A Location of the
    patch is another one than that of the vertices with its number."""
    found = {}
    for stage in map(ReadStage, codes):
        for storage in (INPUT, OUTPUT):
            places = slots(stage, storage)
            locations = {(at[0], slot.patch) for at, slot in places.items()}
            found[f"{stage.model}.{storage}"] = len(places), len(locations)
    return found


def check_modules(codes: list[bytes], new: list[bytes], linked: spvlink.Linked) -> list[str]:
    """What can be said without drawing."""
    if linked.defect is not None:
        return [f"defect: {linked.defect}"]
    if linked.passed_through is not None:
        return [] if new == codes else ["passed through with other bytes"]
    found = [] if linked.validated == "validated" else [f"{linked.validated}"]
    found += mismatches(new)
    for border in linked.interfaces:
        for what, (old, now) in (
            ("components", border.components),
            ("Locations", border.locations),
        ):
            if now > old:
                found.append(f"{border.producer}->{border.consumer}: {what} {old} -> {now}")
    old_sizes = sizes(codes)
    for side, (components, locations) in sizes(new).items():
        if components > old_sizes[side][0] or locations > old_sizes[side][1]:
            found.append(f"{side} grew: {old_sizes[side]} -> {(components, locations)}")
    return found
