"""What is done to every module, original and linked alike, before the driver gets it.

NoContraction keeps the driver from reassociating or fusing arithmetic: Mesa's inexact rewritings
may fire in one of two equivalent modules and not in the other, and then the last bits differ
although no linker is at fault. Stand-ins replace what lavapipe cannot do by something of the same
type and with a value just as good for a comparison, so that such pipelines can be drawn at all.
"""

from __future__ import annotations

import numpy as np

from spvlink.draw.reflect import BUILTIN, LOCATION, MAGIC, ReadModule

_NO_CONTRACTION = 42
# Float arithmetic (FNegate ... Dot), extended instructions, and conversions between widths: Mesa
# would drop a pair of these that goes to 16 bits and back.
_ARITHMETIC_OPS = {12, 115, 127, 129, 131, 133, 136, 140, 141, *range(142, 149)}

_SPARSE_RESIDENCY, _FRAGMENT_SHADING_RATE = 41, 4422  # capabilities
_TEXELS_RESIDENT, _EQUAL = 316, 170
_PRIMITIVE_SHADING_RATE, _SHADING_RATE, _PRIMITIVE_ID = 4432, 4444, 7
_FREE_LOCATION = 27  # below every device's limit, above what shaders use


def drawable(code: bytes, module: ReadModule) -> bytes:
    """The rewritten module; the same number of instructions, plus decorations."""
    order = "<" if code[:4] == MAGIC.to_bytes(4, "little") else ">"
    words = np.frombuffer(code, order + "u4").tolist()
    head, tail = words[: module.annotations_end], words[module.annotations_end :]
    if module.capabilities & {_SPARSE_RESIDENCY, _FRAGMENT_SHADING_RATE}:
        head = head[:5] + _stand_in(head[5:])
        tail = _stand_in(tail)
    extra: list[int] = []
    for body in module.functions.values():
        for inst in body:
            if inst[0] in _ARITHMETIC_OPS:
                result = inst[2]
                if _NO_CONTRACTION not in module.decorations.get(result, ()):
                    extra += [3 << 16 | 71, result, _NO_CONTRACTION]
    return np.array(head + extra + tail, order + "u4").tobytes()


def _stand_in(words: list[int]) -> list[int]:
    """Shading rates become the primitive's number and a Location; every texel is resident."""
    result: list[int] = []
    at = 0
    while at < len(words):
        length = words[at] >> 16
        inst = words[at : at + length]
        op = inst[0] & 0xFFFF
        if op == 71 and inst[2:] == [BUILTIN, _SHADING_RATE]:
            inst[3] = _PRIMITIVE_ID
        elif op == 71 and inst[2:] == [BUILTIN, _PRIMITIVE_SHADING_RATE]:
            inst[2:] = [LOCATION, _FREE_LOCATION]
        elif op == _TEXELS_RESIDENT:  # x == x
            inst = [5 << 16 | _EQUAL, *inst[1:], inst[3]]
        result += inst
        at += length
    return result
