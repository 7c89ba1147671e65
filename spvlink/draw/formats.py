"""VkFormat numbers for what shaders declare, and random texels for them.

Numbers are Vulkan's VkFormat and SPIR-V's "Image Format" (section 3.11).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spvlink.draw.reflect import CannotDraw, Numeric

D32_SFLOAT = 126
TARGETS = {"float": 109, "int": 108, "uint": 107}  # R32G32B32A32_{SFLOAT,SINT,UINT}

# SPIR-V image format: (VkFormat, numpy type of a component or 'unorm'/'packed', components)
_IMAGES: dict[int, tuple[int, str, int]] = {
    1: (109, "f4", 4),
    2: (97, "f2", 4),
    3: (100, "f4", 1),
    4: (37, "u1", 4),
    5: (38, "i1", 4),
    6: (103, "f4", 2),
    7: (83, "f2", 2),
    8: (122, "rg11b10", 1),
    9: (76, "f2", 1),
    10: (91, "u2", 4),
    11: (64, "u4", 1),
    12: (77, "u2", 2),
    13: (16, "u1", 2),
    14: (70, "u2", 1),
    15: (9, "u1", 1),
    16: (92, "i2", 4),
    17: (78, "i2", 2),
    18: (17, "i1", 2),
    19: (71, "i2", 1),
    20: (10, "i1", 1),
    21: (108, "small", 16),
    22: (96, "small2", 8),
    23: (42, "small1", 4),
    24: (99, "small", 4),
    25: (102, "small", 8),
    26: (82, "small2", 4),
    27: (21, "small1", 2),
    28: (75, "small2", 2),
    29: (14, "small1", 1),
    30: (107, "small", 16),
    31: (95, "small2", 8),
    32: (41, "small1", 4),
    33: (98, "small", 4),
    34: (68, "u4", 1),
    35: (101, "small", 8),
    36: (81, "small2", 4),
    37: (20, "small1", 2),
    38: (74, "small2", 2),
    39: (13, "small1", 1),
}
_UNKNOWN = {"float": 1, "int": 21, "uint": 30}
_BY_VK = {vk: (kind, components) for vk, kind, components in _IMAGES.values()}

_ATTRIBUTES = {  # (kind, width): the VkFormat of 1, 2, 3, 4 components
    ("float", 32): (100, 103, 106, 109),
    ("int", 32): (99, 102, 105, 108),
    ("uint", 32): (98, 101, 104, 107),
    ("float", 64): (112, 115, 118, 121),
    ("int", 64): (111, 114, 117, 120),
    ("uint", 64): (110, 113, 116, 119),
    ("float", 16): (76, 83, 97, 97),
    ("int", 16): (75, 82, 96, 96),
    ("uint", 16): (74, 81, 95, 95),
    ("int", 8): (14, 21, 42, 42),
    ("uint", 8): (13, 20, 41, 41),
}


def attribute(number: Numeric) -> tuple[int, str, int]:
    """(VkFormat, numpy type, components in memory) of a vertex attribute."""
    key = (number.kind, number.width)
    if key not in _ATTRIBUTES:
        raise CannotDraw(f"a vertex attribute of {number.width}-bit {number.kind}")
    components = number.count
    if number.width < 32 and components == 3:
        components = 4
    kind = {"float": "f", "int": "i", "uint": "u"}[number.kind] + str(number.width // 8)
    return _ATTRIBUTES[key][number.count - 1], kind, components


def image(operands: dict[str, int | str], depth: bool) -> int:
    """The VkFormat for an OpTypeImage."""
    if depth:
        return D32_SFLOAT
    declared = int(operands["format"])
    if declared == 0 or operands["sampled"] != 2:
        declared = _UNKNOWN[str(operands["kind"])]
    if declared not in _IMAGES:
        raise CannotDraw(f"image format {declared}")
    return _IMAGES[declared][0]


def texel_bytes(vk_format: int) -> int:
    if vk_format == D32_SFLOAT:
        return 4
    kind, components = _BY_VK[vk_format]
    if kind == "rg11b10":
        return 4
    if kind.startswith("small"):
        return components
    return int(kind[1]) * components


def texels(random: np.random.Generator, vk_format: int, count: int) -> NDArray[np.uint8]:
    """count texels as bytes: floats in [0, 1] with an opaque-ish alpha, small integers."""
    if vk_format == D32_SFLOAT:
        return random.uniform(0, 1, count).astype("f4").view(np.uint8)
    kind, components = _BY_VK[vk_format]
    size = texel_bytes(vk_format)
    if kind.startswith("small"):
        width = int(kind[5:] or 4)
        values = random.integers(0, 4, count * size // width)
        return values.astype(f"u{width}").view(np.uint8)
    if kind in ("f4", "f2"):
        floats = random.uniform(0, 1, (count, components)).astype("f4")
        if components == 4:
            floats[:, 3] = 0.6 + 0.4 * floats[:, 3]
        return np.ascontiguousarray(floats.astype(kind)).view(np.uint8).ravel()
    if kind == "rg11b10":  # exponents below one: finite values
        return (random.integers(0, 0x1DF, count) * 0x00400801).astype("u4").view(np.uint8)
    return random.integers(0, 256, count * size, dtype=np.uint8)
