"""The bytes of a file as words, and the names in it, which stay bytes."""

from __future__ import annotations

import struct
import sys

from spvlink.binary.plans import SECTION
from spvlink.errors import BadSpirv
from spvlink.grammar import ops
from spvlink.ir import core

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_HEAD: Final = [op for op, section in SECTION.items() if section < core.NAMES]
# by opcode: whether it stands before names
_BEFORE: Final = bytes([op in _HEAD for op in range(max(_HEAD) + 1)])
MAGIC: Final = 0x07230203
# "Universal Limits" (2.17): the largest bound that every consumer takes, 4,194,303
MAX_BOUND: Final = 0x3FFFFF
IS_LITTLE: Final = sys.byteorder == "little"  # this machine


def little_endian(data: bytes) -> tuple[bytes, bool]:
    """A SPIR-V binary with its words little-end first, and whether they were in the byte order
    opposite to this machine's. Raises BadSpirv."""
    if len(data) < 4:
        raise BadSpirv("the file is too short to be SPIR-V", 0)
    little = data[:4] == MAGIC.to_bytes(4, "little")
    if not little and data[:4] != MAGIC.to_bytes(4, "big"):
        raise BadSpirv(f"not SPIR-V: the magic number is missing (found {data[:4].hex()})", 0)
    if len(data) % 4:
        raise BadSpirv(f"the size of {len(data)} bytes is no multiple of 4", len(data) // 4)
    size = len(data) // 4
    if size < 5:
        raise BadSpirv("the header ends early: it has five words", size)
    return data if little else in_other_order(data), little != IS_LITTLE


def in_other_order(data: bytes) -> bytes:
    """The same words with their bytes in the other order."""
    size = len(data) // 4
    return struct.pack(f">{size}I", *struct.unpack(f"<{size}I", data))


def words_in(data: bytes) -> tuple[int, ...]:
    """The words of bytes, and a 0 behind them, which begins no instruction."""
    words: tuple[int, ...] = struct.unpack(f"<{len(data) // 4 + 1}I", data + bytes(4))
    return words


def without_names(data: bytes) -> tuple[bytes, list[bytes]]:
    """A binary without its names, and these: OpName and OpMemberName, one after another. If
    anything about them or around them is out of the ordinary, all of it and an empty list."""
    names: list[bytes] = []
    at, end = 20, len(data)
    begin = 0
    while at < end:
        op = data[at] + data[at + 1] * 256
        size = data[at + 2] + data[at + 3] * 256
        if op == ops.OpName or op == ops.OpMemberName:
            if size < (3 if op == ops.OpName else 4):
                break
            begin = begin or at
            names.append(data[at : at + size * 4])
        elif begin or op >= len(_BEFORE) or not _BEFORE[op] or not size:
            break
        at += size * 4
    if not begin or at >= end or (op < len(_BEFORE) and _BEFORE[op]):
        return data, []
    return data[:begin] + data[at:], names
