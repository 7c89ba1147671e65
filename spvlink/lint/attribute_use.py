"""Which components of its vertex attributes a vertex shader declares and reads, and which vertex
format would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spvlink import formats
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.slot import base_of

if TYPE_CHECKING:
    from spvlink.ir.core import Inst
    from spvlink.link.check.interface import DeclaredVariable
    from spvlink.link.check.stage import CheckedStage

LETTERS: Final = "xyzw"
_KINDS: Final = {"f": "SFLOAT", "i": "SINT", "u": "UINT"}
_CHANNELS: Final = "RGBA"
_BYTES: Final = ("B8G8R8", "A8B8G8R8")  # formats of bytes in another order
_MOST: Final = 256  # Locations of an attribute: beyond the limits of devices


class AttributeUse:
    """One Location. ``declared`` and ``read``: components, bit n for component n (of 64 bits, where
    the type has these). ``bases``: scalar types, as f32; ``names``: of the variables."""

    __slots__ = ("bases", "declared", "names", "read")

    def __init__(self) -> None:
        self.declared = 0
        self.read = 0
        self.bases: dict[str, None] = {}
        self.names: dict[str, None] = {}

    def add(self, other: AttributeUse) -> None:
        """The same of another module: together."""
        self.declared |= other.declared
        self.read |= other.read
        self.bases |= other.bases
        self.names |= other.names


def attributes_of(stage: CheckedStage) -> dict[int, AttributeUse]:
    """The attributes of a vertex shader by Location; a matrix or an array has one for each column
    or element."""
    found: dict[int, AttributeUse] = {}
    for one in stage.inputs:
        read = stage.uses.reads(one)
        for (location, component), scalar, size in _columns(one):
            use = found.setdefault(location, AttributeUse())
            use.names[str(one.label)] = None
            use.bases[base_of(scalar)] = None
            words = 2 if scalar.imm[0] == 64 else 1
            for lane in range(size):
                at = component + lane * words
                bit = 1 << at // words
                use.declared |= bit
                if (location + at // 4, at % 4) in read:
                    use.read |= bit
    return found


def _columns(one: DeclaredVariable) -> list[tuple[tuple[int, int], Inst, int]]:
    """(place, scalar type, size) of each vector that a variable is made of."""
    found: list[tuple[tuple[int, int], Inst, int]] = []
    _add(one.type, *one.place, found)
    return found


def _add(
    type: Inst, location: int, component: int, found: list[tuple[tuple[int, int], Inst, int]]
) -> int:
    """Add the vectors of a type; gives the Locations that it takes."""
    if type.op == ops.OpTypeStruct or type.op in info.NESTED_TYPES:
        total = 0
        for index in range(types.size_of(type)):
            first = 0 if type.op == ops.OpTypeStruct else component
            length = _add(types.part_type(type, index), location + total, first, found)
            total += length
            if total > _MOST or not length:
                break
        return total
    scalar = type.args[0] if type.op == ops.OpTypeVector else type
    if scalar.op not in types.NUMBERS:
        return 0
    size = types.size_of(type) if type.op == ops.OpTypeVector else 1
    found.append(((location, component), scalar, size))
    return 2 if scalar.imm[0] == 64 and size > 2 else 1


def letters(mask: int) -> str:
    """Components as people write them."""
    return "".join(LETTERS[n] for n in range(4) if mask >> n & 1)


def count_of(mask: int) -> int:
    """Components up to the last one of a set: a format has no holes."""
    return mask.bit_length()


def format_of(base: str, count: int) -> str:
    """The format of a scalar type, as f32, with so many components."""
    kind, bits = _KINDS.get(base[:1], ""), base[1:].partition("e")[0]
    return _vertex_format(kind, int(bits), count) if kind else ""


def narrower(given: int | str, read: int) -> str | None:
    """The format that would do instead of this one where only these components are read; empty: no
    data at all. None: none is known that is shorter."""
    if not read:
        return ""
    known = formats.find(given)
    if known is None:
        return None
    has, wanted = count_of(known.components), count_of(read)
    plain = known.name == _format(known.type, known.bits, has)
    if not plain and not known.name.startswith(_BYTES):
        return None  # packed into a word
    name = _vertex_format(known.type, known.bits, wanted)
    there = formats.BY_NAME.get(name)
    return name if there is not None and count_of(there.components) < has else None


def name_of(given: int | str) -> str:
    """The name of a format, or its number."""
    known = formats.find(given)
    return known.name if known is not None else str(given)


def _vertex_format(kind: str, bits: int, count: int) -> str:
    """A format that every device has for vertex buffers, of as many components or more: there is
    none of three small ones."""
    return _format(kind, bits, 4 if count == 3 and bits < 32 else count)


def _format(kind: str, bits: int, count: int) -> str:
    return "".join(f"{_CHANNELS[n]}{bits}" for n in range(count)) + f"_{kind}"
