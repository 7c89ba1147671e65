"""The bytes of a file as words of this machine."""

from __future__ import annotations

import sys
from array import array

from spvlink.errors import BadSpirv

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

MAGIC: Final = 0x07230203
# "Universal Limits" (2.17): the largest bound that every consumer takes, 4,194,303
MAX_BOUND: Final = 0x3FFFFF


def words_in(data: bytes) -> tuple[tuple[int, ...], bool]:
    """The words of a SPIR-V binary, and whether their bytes had to be swapped. Raises BadSpirv."""
    if len(data) < 4:
        raise BadSpirv("the file is too short to be SPIR-V", 0)
    if data[:4] == MAGIC.to_bytes(4, "little"):
        swapped = sys.byteorder == "big"
    elif data[:4] == MAGIC.to_bytes(4, "big"):
        swapped = sys.byteorder == "little"
    else:
        raise BadSpirv(f"not SPIR-V: the magic number is missing (found {data[:4].hex()})", 0)
    if len(data) % 4:
        raise BadSpirv(f"the size of {len(data)} bytes is no multiple of 4", len(data) // 4)
    words = array("I", data)
    if swapped:
        words.byteswap()
    if len(words) < 5:
        raise BadSpirv("the header ends early: it has five words", len(words))
    return tuple(words), swapped
