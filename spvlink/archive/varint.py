"""SPIR-V words as an archive stores them: 7 bits a byte, lowest first, the top bit set when more
follow; 1 to 5 bytes a word (Fossilize, varint.cpp).

Compiled, the way in takes 30 ns a word. The way out looks words up in a table that fills itself,
since they repeat.
"""

from __future__ import annotations

import sys
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from mypy_extensions import i64

_LENGTH: Final = "its data does not have the stated length"
_FULL: Final = 1 << 16  # known words after which a table starts anew


class _Encoded(dict[int, bytes]):
    def __missing__(self, word: int) -> bytes:
        if len(self) >= _FULL:
            self.clear()
        rest = word
        chunk = bytearray()
        while rest > 0x7F:
            chunk.append(0x80 | rest & 0x7F)
            rest >>= 7
        chunk.append(rest)
        self[word] = bytes(chunk)
        return self[word]


_encoded: Final = _Encoded()


def decode(data: bytes, count: int) -> bytes:
    """``count`` words, little endian, from exactly these bytes. Raises ValueError."""
    words: list[int] = []
    word: i64 = 0
    shift: i64 = 0
    if not count <= len(data) <= 5 * count:
        raise ValueError(_LENGTH)
    for item in data:
        byte: i64 = item
        word |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # what a fifth byte has more is lost, as in Fossilize
            words.append(int(word & 0xFFFFFFFF))
            word = 0
            shift = 0
        elif shift > 28:
            break  # no word has six
    if shift or len(words) != count:
        raise ValueError(_LENGTH)
    return _little(array("I", words)).tobytes()


def encode(code: bytes) -> bytes:
    """The words of a module (little endian, a multiple of four bytes) in this form."""
    words = _little(array("I", code))
    return b"".join(map(_encoded.__getitem__, words))


def _little(words: array[int]) -> array[int]:
    """From the machine's order of bytes to little endian, or back."""
    if sys.byteorder == "big":
        words.byteswap()
    return words
