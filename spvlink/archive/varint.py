"""SPIR-V words as an archive stores them: 7 bits a byte, lowest first, the top bit set when more
follow; 1 to 5 bytes a word (Fossilize, varint.cpp).

Words of modules repeat, so both ways look words up in a table that fills itself: 8 million words a
second and more on modules of shaders/, where a loop over the bits does one.
"""

from __future__ import annotations

import re
import sys
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_FULL: Final = 1 << 16  # known words after which a table starts anew
_WORD: Final = re.compile(rb"[\x80-\xff]{0,4}[\x00-\x7f]")


class _Decoded(dict[bytes, int]):
    def __missing__(self, chunk: bytes) -> int:
        if len(self) >= _FULL:
            self.clear()
        word = 0
        for shift, byte in enumerate(chunk):
            word |= (byte & 0x7F) << 7 * shift
        word &= 0xFFFFFFFF  # what a fifth byte has more is lost, as in Fossilize
        self[chunk] = word
        return word


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


_decoded: Final = _Decoded()
_encoded: Final = _Encoded()


def decode(data: bytes, count: int) -> bytes:
    """``count`` words, little endian, from exactly these bytes. Raises ValueError."""
    chunks = _WORD.findall(data)
    if len(chunks) != count or sum(map(len, chunks)) != len(data):
        raise ValueError("its data does not have the stated length")
    return _little(array("I", map(_decoded.__getitem__, chunks))).tobytes()


def encode(code: bytes) -> bytes:
    """The words of a module (little endian, a multiple of four bytes) in this form."""
    words = _little(array("I", code))
    return b"".join(map(_encoded.__getitem__, words))


def _little(words: array[int]) -> array[int]:
    """From the machine's order of bytes to little endian, or back."""
    if sys.byteorder == "big":
        words.byteswap()
    return words
