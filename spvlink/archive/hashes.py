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

_START: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3
_MASK: Final = 0xFFFFFFFFFFFFFFFF


def words_hash(words: Iterable[int], start: int = _START) -> int:
    """The hash of 32-bit words, or of more of them after ``start``."""
    hash = start
    for word in words:
        hash = (hash * _PRIME & _MASK) ^ word
    return hash


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
