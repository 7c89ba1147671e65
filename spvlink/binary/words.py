"""The bytes of a file as words of this machine."""

from __future__ import annotations

import struct
import sys

from spvlink.errors import BadSpirv

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

MAGIC: Final = 0x07230203
# "Universal Limits" (2.17): the largest bound that every consumer takes, 4,194,303
MAX_BOUND: Final = 0x3FFFFF
# byte orders as ``struct`` writes them
NATIVE: Final = "<" if sys.byteorder == "little" else ">"
SWAPPED: Final = ">" if sys.byteorder == "little" else "<"


def words_in(data: bytes) -> tuple[tuple[int, ...], bool]:
    """The words of a SPIR-V binary with a 0 behind them, which begins no instruction, and whether
    their bytes had to be swapped. Raises BadSpirv."""
    if len(data) < 4:
        raise BadSpirv("the file is too short to be SPIR-V", 0)
    if data[:4] == MAGIC.to_bytes(4, "little"):
        order = "<"
    elif data[:4] == MAGIC.to_bytes(4, "big"):
        order = ">"
    else:
        raise BadSpirv(f"not SPIR-V: the magic number is missing (found {data[:4].hex()})", 0)
    if len(data) % 4:
        raise BadSpirv(f"the size of {len(data)} bytes is no multiple of 4", len(data) // 4)
    size = len(data) // 4
    if size < 5:
        raise BadSpirv("the header ends early: it has five words", size)
    words: tuple[int, ...] = struct.unpack(f"{order}{size + 1}I", data + bytes(4))
    return words, order != NATIVE
