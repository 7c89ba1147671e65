"""What a draw gave, and whether two draws gave the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CLEAR = {"float": -77.25, "int": -7700, "uint": 77007700}
CLEAR_DEPTH = 0.8125
_THIN_SHARE = 0.2


@dataclass
class Result:
    """images: name -> (height, width, 4) or, depth, (height, width); buffers: name -> bytes."""

    images: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    buffers: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    coverage: float = 0.0  # share of pixels that differ from the clear value in some image
    distinct: int = 0  # number of different drawn pixel values, all images together
    discarded: bool = False  # nothing was to be rasterized: the images say nothing
    thin: bool = False  # points or lines: a fifth of the coverage will do
    captured: int | None = None  # primitives in transform feedback buffers, if there are any
    captured_values: int = 0  # number of different 32-bit values in them

    def measure(self) -> None:
        """Sets coverage and distinct from the images."""
        covered: NDArray[np.bool_] | None = None
        for name, image in self.images.items():
            pixels = image.reshape(image.shape[0] * image.shape[1], -1)
            mask = np.any(pixels != _clear_value(name, pixels), axis=1)
            covered = mask if covered is None else covered | mask
            bits = np.unique(_bits(pixels[mask]), axis=0)
            self.distinct += len(bits)
        self.coverage = float(covered.mean()) if covered is not None else 0.0

    def is_good(self, coverage: float = 0.1, distinct: int = 2) -> bool:
        """Whether the result can prove anything: neither empty nor of one colour. What transform
        feedback captures has to hold values of its own, picture or not.
        """
        if self.captured is not None and (not self.captured or self.captured_values < distinct):
            return False
        if self.discarded:
            return self.captured is not None
        share = coverage * _THIN_SHARE if self.thin else coverage
        return self.coverage >= share and self.distinct >= distinct


def _clear_value(name: str, pixels: NDArray[np.generic]) -> float:
    if name == "depth":
        return CLEAR_DEPTH
    return CLEAR[{"f": "float", "i": "int", "u": "uint"}[pixels.dtype.kind]]


def _bits(array: NDArray[np.generic]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(array).view(np.uint32)


@dataclass
class Difference:
    """Falsy if the two results are equal bit for bit (a NaN equals a NaN of the same bits)."""

    where: list[str] = field(default_factory=list)  # names, with what differs
    values: int = 0  # differing 32-bit values or bytes
    max_ulp: int = 0  # over float images; 2**31 if signs of NaN-ness differ

    def __bool__(self) -> bool:
        return bool(self.where)

    def __str__(self) -> str:
        if not self.where:
            return "equal"
        return f"{'; '.join(self.where)} ({self.values} values, at most {self.max_ulp} ULP)"


def compare(a: Result, b: Result) -> Difference:
    """Every pixel and every buffer, exactly."""
    difference = Difference()
    for kind, left, right in (("image", a.images, b.images), ("buffer", a.buffers, b.buffers)):
        for name in sorted(left.keys() | right.keys()):
            if name not in left or name not in right:
                difference.where.append(f"{kind} {name} is only in one")
            elif left[name].shape != right[name].shape or left[name].dtype != right[name].dtype:
                difference.where.append(f"{kind} {name} has another shape")
            else:
                _compare_arrays(f"{kind} {name}", left[name], right[name], difference)
    return difference


def _compare_arrays(
    name: str, a: NDArray[np.generic], b: NDArray[np.generic], difference: Difference
) -> None:
    if a.tobytes() == b.tobytes():
        return
    same = (a.view(np.uint8) if a.itemsize == 1 else _bits(a)) == (
        b.view(np.uint8) if b.itemsize == 1 else _bits(b)
    )
    count = int((~same).sum())
    difference.values += count
    difference.where.append(f"{name}: {count} of {same.size} differ")
    if a.dtype.kind == "f":
        difference.max_ulp = max(difference.max_ulp, max_ulp(a, b))


def max_ulp(a: NDArray[np.generic], b: NDArray[np.generic]) -> int:
    """The largest distance of float32 values, in those between; NaN against a number: 2**31."""
    ordered = []
    for array in (a, b):
        bits = np.ascontiguousarray(array).view(np.int32).astype(np.int64)
        ordered.append(np.where(bits < 0, -(bits & 0x7FFFFFFF), bits))
    nan_a, nan_b = np.isnan(a.astype("f4")), np.isnan(b.astype("f4"))
    distance = np.abs(ordered[0] - ordered[1])
    distance[nan_a & nan_b] = 0
    distance[nan_a ^ nan_b] = 2**31
    return int(distance.max(initial=0))


def save_png(result: Result, folder: Path, stem: str) -> list[Path]:
    """One picture an image, for people: values clamped to [0, 1], integers to 0..255."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, image in result.images.items():
        values = np.nan_to_num(image.astype("f4"), posinf=1.0, neginf=0.0)
        scaled = values * 255 if image.dtype.kind == "f" else values * 16
        picture = np.clip(scaled, 0, 255).astype(np.uint8)
        path = folder / f"{stem}.{name}.png"
        Image.fromarray(picture if picture.ndim == 2 else picture[:, :, :3]).save(path)
        written.append(path)
    return written
