"""Strings, numbers and enumerants as tokens of the text form, and back.

Every form that a reader likes (a quoted string, a decimal float) is used only where it gives the
same words back; otherwise the words stand there raw, each as ``!0x...``.
"""

from __future__ import annotations

import struct

from spvlink.grammar import enums, info, names, ops, shapes
from spvlink.ir.core import Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_FLOAT_CODES: Final = {
    16: ("<e", 2, range(3, 6)),
    32: ("<f", 4, range(6, 10)),
    64: ("<d", 8, range(15, 18)),
}
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES: Final = {"\\": b"\\", '"': b'"', "n": b"\n", "r": b"\r", "t": b"\t"}


def raw(words: tuple[int, ...]) -> list[str]:
    return [f"!{w:#x}" for w in words]


def from_raw(token: str) -> int:
    """The word of a raw token; ValueError if it is none."""
    value = int(token[1:], 0)
    if not token.startswith("!") or not 0 <= value <= 0xFFFFFFFF:
        raise ValueError(f"{token} is not a raw word")
    return value


def quoted(data: bytes) -> str:
    """A quoted token for these octets: UTF-8 as itself, other octets and control characters as
    \\xNN.
    """
    out = []
    for char in data.decode("utf-8", "surrogateescape"):
        code = ord(char)
        if char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif code < 0x20:
            out.append(f"\\x{code:02x}")
        elif 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code - 0xDC00:02x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def unquoted(token: str) -> bytes:
    """The octets of a quoted token; ValueError for a bad escape."""
    out = bytearray()
    at, end = 1, len(token) - 1
    while at < end:
        char = token[at]
        at += 1
        if char != "\\":
            out += char.encode("utf-8", "surrogatepass")
            continue
        char = token[at]
        at += 1
        if char == "x":
            out.append(int(token[at : at + 2], 16))
            at += 2
        elif char in _UNESCAPES:
            out += _UNESCAPES[char]
        else:
            raise ValueError(f"unknown escape \\{char}")
    return bytes(out)


def string_words(data: bytes) -> tuple[int, ...]:
    """The words of a literal string (nul-terminated, padded with nul)."""
    data += b"\0" * (4 - len(data) % 4)
    return tuple([int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)])


def string_tokens(words: tuple[int, ...]) -> list[str]:
    """The token of the literal string that these words are, or the raw words."""
    data = b"".join(w.to_bytes(4, "little") for w in words).split(b"\0", 1)[0]
    return [quoted(data)] if string_words(data) == words else raw(words)


def number_size(type: Inst | None) -> int:
    """Words of a number of this type; 0 if the type is no number."""
    if type is None or type.op not in info.NUMBER_TYPES:
        return 0
    return 2 if type.imm[0] > 32 else 1


def number_tokens(words: tuple[int, ...], type: Inst | None) -> list[str]:
    """A number as a decimal token, or raw words where that would not come back the same."""
    text = _number(words, type)
    if text and type is not None:
        try:
            if number_words(text, type) == words:
                return [text]
        except (ValueError, OverflowError):
            pass
    return raw(words)


def _number(words: tuple[int, ...], type: Inst | None) -> str:
    size = number_size(type)
    if type is None or size != len(words):
        return ""
    bits = words[0] | (words[1] << 32 if size == 2 else 0)
    if type.op == ops.OpTypeInt:
        whole = 64 if size == 2 else 32
        signed = type.imm[1:] == (1,) and bits >> (whole - 1)
        return str(bits - (1 << whole) if signed else bits)
    if len(type.imm) > 1 or type.imm[0] not in _FLOAT_CODES:
        return ""  # another encoding than IEEE's
    code, octets, digits = _FLOAT_CODES[type.imm[0]]
    if bits >> octets * 8:
        return ""
    value = struct.unpack(code, bits.to_bytes(octets, "little"))[0]
    if value != value or value in (float("inf"), float("-inf")):
        return ""
    for precision in digits:
        text = f"{value:.{precision}g}"
        if struct.pack(code, float(text)) == struct.pack(code, value):
            return text
    return ""


def number_words(token: str, type: Inst) -> tuple[int, ...]:
    """The words of a decimal or hexadecimal number; ValueError or OverflowError if the type cannot
    hold it.
    """
    size = number_size(type)
    if not size:
        raise ValueError("a number of a type that is none")
    width = type.imm[0]
    if type.op == ops.OpTypeFloat:
        if width not in _FLOAT_CODES or len(type.imm) > 1:
            raise ValueError(f"a float of {width} bits needs raw words")
        code = _FLOAT_CODES[width][0]
        bits = int.from_bytes(struct.pack(code, float(token)), "little")
    else:
        value = int(token, 0)
        if not -(1 << (width - 1)) <= value < 1 << width:
            raise ValueError(f"{token} does not fit into {width} bits")
        # a signed literal narrower than its word is sign-extended (specification 2.2.1)
        if type.imm[1] and value >> (width - 1):
            value |= -1 << width
        bits = value & (0xFFFFFFFFFFFFFFFF if size == 2 else 0xFFFFFFFF)
    return (bits & 0xFFFFFFFF, bits >> 32) if size == 2 else (bits,)


def enum_token(kind: int, value: int) -> str:
    """An enumerant or a mask by name; a number where the grammar has no name."""
    name, is_mask, _ = shapes.enumeration(kind)
    known = names.ENUM_NAMES.get(name, {})
    if not is_mask or value == 0:
        return known.get(value, str(value))
    bits = [1 << i for i in range(32) if value >> i & 1]
    if any(b not in known for b in bits):
        return f"{value:#x}"
    return "|".join(known[b] for b in bits)


def enum_value(kind: int, token: str) -> int:
    """The value of an enumerant or a mask; ValueError for an unknown name."""
    name = shapes.enumeration(kind)[0]
    value = 0
    for part in token.split("|"):
        bits = getattr(enums, f"{name}_{part}", None)
        if bits is None:
            try:
                bits = int(part, 0)
            except ValueError:
                raise ValueError(f"{part} is no {name}") from None
        value |= bits
    if not 0 <= value <= 0xFFFFFFFF:
        raise ValueError(f"{token} is no word")
    return value


def enum_operands(kind: int, value: int) -> list[tuple[int, ...]]:
    """The shapes of the operands that follow an enumerant, bit by bit for a mask."""
    _, is_mask, values = shapes.enumeration(kind)
    if not is_mask:
        return [values.get(value, ())]
    return [values.get(1 << i, ()) for i in range(32) if value >> i & 1]
