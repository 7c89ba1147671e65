"""The 64-bit keys of an archive's entries: FNV-1 over 32-bit words (fossilize_hasher.hpp).

They name, they do not protect: two modules of one hash can be made on purpose.
"""

from __future__ import annotations

import sys
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable
    from typing import Final

    from mypy_extensions import i64

_START: Final = 0xCBF29CE484222325
_FACTOR: Final = 0x1B3
_HALF: Final = 0xFFFFFFFF


def words_hash(words: Iterable[int], start: int = _START) -> int:
    """The hash of 32-bit words, or of more of them after ``start``: each time times 2**40 + 0x1B3.
    In two halves, each in an integer of the machine: that is nine times as fast when compiled."""
    high: i64 = start >> 32
    low: i64 = start & _HALF
    for item in words:
        word: i64 = item
        product = low * _FACTOR
        high = high * _FACTOR + (product >> 32) + (low << 8) & _HALF
        low = product & _HALF ^ word
    return int(high) << 32 | int(low)


def module_hash(code: bytes) -> int:
    """The key of a shader module (tag 4) without flags. ``code``: its words, little endian."""
    words = array("I", code)
    if sys.byteorder == "big":
        words.byteswap()
    return words_hash((0,), words_hash(words))


def link_hash(application: int, tag: int, blob: int) -> int:
    """The key of a link (tag 8): this application uses that entry."""
    low = 0xFFFFFFFF
    return words_hash((application & low, application >> 32, tag, blob & low, blob >> 32))
