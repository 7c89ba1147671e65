"""Vulkan's uncompressed colour formats: by name or number, which components they have and how a
shader sees them. The numbers of core formats run in rows; a row names its numeric types."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

UNDEFINED: Final = "UNDEFINED"
RED: Final = 1
ALPHA: Final = 8
ALL: Final = 15

_SMALL: Final = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT")
_BYTES: Final = (*_SMALL, "SRGB")
_WORDS: Final = (*_SMALL, "SFLOAT")
_WIDE: Final = ("UINT", "SINT", "SFLOAT")
_UNORM: Final = ("UNORM",)
# The first number of a row, its components with their bits, what follows the numeric type.
_ROWS: Final = (
    (1, "R4G4", _UNORM, "_PACK8"),
    (2, "R4G4B4A4", _UNORM, "_PACK16"),
    (3, "B4G4R4A4", _UNORM, "_PACK16"),
    (4, "R5G6B5", _UNORM, "_PACK16"),
    (5, "B5G6R5", _UNORM, "_PACK16"),
    (6, "R5G5B5A1", _UNORM, "_PACK16"),
    (7, "B5G5R5A1", _UNORM, "_PACK16"),
    (8, "A1R5G5B5", _UNORM, "_PACK16"),
    (9, "R8", _BYTES, ""),
    (16, "R8G8", _BYTES, ""),
    (23, "R8G8B8", _BYTES, ""),
    (30, "B8G8R8", _BYTES, ""),
    (37, "R8G8B8A8", _BYTES, ""),
    (44, "B8G8R8A8", _BYTES, ""),
    (51, "A8B8G8R8", _BYTES, "_PACK32"),
    (58, "A2R10G10B10", _SMALL, "_PACK32"),
    (64, "A2B10G10R10", _SMALL, "_PACK32"),
    (70, "R16", _WORDS, ""),
    (77, "R16G16", _WORDS, ""),
    (84, "R16G16B16", _WORDS, ""),
    (91, "R16G16B16A16", _WORDS, ""),
    (98, "R32", _WIDE, ""),
    (101, "R32G32", _WIDE, ""),
    (104, "R32G32B32", _WIDE, ""),
    (107, "R32G32B32A32", _WIDE, ""),
    (110, "R64", _WIDE, ""),
    (113, "R64G64", _WIDE, ""),
    (116, "R64G64B64", _WIDE, ""),
    (119, "R64G64B64A64", _WIDE, ""),
    (122, "B10G11R11", ("UFLOAT",), "_PACK32"),
    (123, "E5B9G9R9", ("UFLOAT",), "_PACK32"),
    (1000340000, "A4R4G4B4", _UNORM, "_PACK16"),
    (1000340001, "A4B4G4R4", _UNORM, "_PACK16"),
    (1000470000, "A1B5G5R5", _UNORM, "_PACK16"),
    (1000470001, "A8", _UNORM, ""),
)
_LETTERS: Final = "RGBA"


class Format:
    """``components``: bit n is set if it has component n of RGBA. ``type``: UNORM, UINT, SFLOAT ...
    ``bits``: of its widest component."""

    __slots__ = ("bits", "components", "name", "type")

    def __init__(self, name: str, parts: str, type: str) -> None:
        self.name = name
        self.type = type
        self.components = 0
        self.bits = 0
        digits = ""
        for letter in parts[::-1]:
            if letter.isdigit():
                digits = letter + digits
                continue
            if letter in _LETTERS:  # E is the exponent that all of them share
                self.components |= RED << _LETTERS.index(letter)
                self.bits = max(self.bits, int(digits))
            digits = ""


def _formats() -> dict[int, Format]:
    formats: dict[int, Format] = {}
    for first, parts, kinds, suffix in _ROWS:
        for at, kind in enumerate(kinds):
            formats[first + at] = Format(f"{parts}_{kind}{suffix}", parts, kind)
    return formats


BY_NUMBER: Final[dict[int, Format]] = _formats()
BY_NAME: Final[dict[str, Format]] = {one.name: one for one in BY_NUMBER.values()}


def find(format: object) -> Format | None:
    """The format of a name without VK_FORMAT_, or of a number; None: it is not known here."""
    if isinstance(format, int):
        return BY_NUMBER.get(format)
    return BY_NAME.get(format) if isinstance(format, str) else None
