"""The interface of a stage in scalars: one ``Slot`` per component, and what had to stay whole as
``Pinned`` variables.

A slot's key is ``location * 8 + component * 2`` (the odd keys are room for 16-bit halves). A 64-bit
scalar has the key of its first component and covers two. Built-ins that cross (``link/builtins``)
have keys beyond those of all Locations, and a Link of their own: nothing moves them.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


# Keys of built-ins begin here, so many for each.
BUILTIN_KEYS: Final = 1 << 24
_EACH: Final = 512
MAX_NUMBER: Final = _EACH // 2  # of the components of a built-in
# Patch variables have a space of Locations of their own. Where they lie over those of vertices,
# this is added to their Locations while they are linked (``patches``): no device has so many.
APART: Final = 2048


def key_of(location: int, component: int) -> int:
    return location * 8 + component * 2


def shown(location: int) -> int:
    """A Location as it came."""
    return location % APART


def builtin_key(builtin: int, number: int) -> int:
    """The key of a component, or an element, of a built-in."""
    return BUILTIN_KEYS + builtin * _EACH + number * 2


def builtin_of(key: int) -> tuple[int, int]:
    """(built-in, component or element) of such a key."""
    builtin, rest = divmod(key - BUILTIN_KEYS, _EACH)
    return builtin, rest >> 1


def base_of(type: Inst) -> str:
    """f32, i32, u32, f16, u64 ...; f16e0 is bfloat16: the FP Encoding is a part of the type."""
    if type.op == ops.OpTypeFloat:
        return "f" + "e".join(map(str, type.imm))
    return f"{'i' if type.imm[1] else 'u'}{type.imm[0]}"


class Slot:
    """One scalar of an interface, on one side."""

    __slots__ = (
        "base",
        "extras",
        "group",
        "key",
        "lane",
        "length",
        "name",
        "qualifiers",
        "relaxed",
        "type",
        "variable",
        "width",
    )  # fmt: skip

    def __init__(
        self, key: int, type: Inst, variable: Inst, name: str, lane: int, group: int,
        base: str = "", qualifiers: tuple[int, ...] = (), relaxed: bool = False,
        extras: tuple[tuple[int, ...], ...] = (), length: Inst | None = None,
    ) -> None:  # fmt: skip
        self.key = key
        self.type = type  # OpTypeFloat or OpTypeInt
        self.base = base or base_of(type)
        self.width: int = type.imm[0]
        # sorted: interpolation decorations as far as they mean something, Patch, PerPrimitiveEXT
        self.qualifiers = qualifiers
        self.relaxed = relaxed
        self.extras = extras  # other decorations that must stay, as words
        self.length = length  # of the array over vertices or primitives, if it is one
        self.variable = variable
        self.name = name  # of the variable or member, for people
        self.lane = lane  # component within its vector
        self.group = group  # slots of one vector share a number

    @property
    def location(self) -> int:
        return self.key >> 3

    @property
    def component(self) -> int:
        return self.key >> 1 & 3

    @property
    def components(self) -> int:
        """32-bit components covered: 1, or 2 for 64 bits."""
        return 2 if self.width == 64 else 1

    def covered(self) -> tuple[int, ...]:
        """The keys of all components covered."""
        return (self.key,) if self.width != 64 else (self.key, self.key + 2)


# Why a variable stays whole, as far as that decides what else may be done with it. The words for
# people stand beside it.
DYNAMIC: Final = 1  # it is accessed with a dynamic index
CAPTURED: Final = 2  # transform feedback captures it
OTHER_SIDE: Final = 4  # the other stage needs it whole


class Pinned:
    """A variable that keeps its shape (a dynamically indexed array, a captured output): it may move
    as a whole only."""

    __slots__ = (
        "component",
        "keys",
        "location",
        "movable",
        "name",
        "patterns",
        "pins",
        "qualifiers",
        "variable",
        "why",
    )  # fmt: skip

    def __init__(
        self, variable: Inst, location: int, component: int, keys: list[int],
        qualifiers: tuple[int, ...], name: str, why: str, movable: bool, pins: int = 0,
    ) -> None:  # fmt: skip
        self.variable = variable
        self.location = location
        self.component = component
        self.keys = keys
        self.qualifiers = qualifiers
        self.name = name
        self.why = why
        self.movable = movable
        self.pins = pins  # DYNAMIC and the like


class Aggregate:
    """A matrix, an array of vectors or scalars, or a vector of two Locations, that was split into
    slots: it may come out whole again."""

    __slots__ = ("columns", "op")

    def __init__(self, op: int, columns: list[list[int]]) -> None:
        self.op = op  # OpTypeMatrix, OpTypeArray, or OpTypeVector of 64-bit numbers
        self.columns = columns  # the keys of each column or element


class Varying:
    """One variable of the new interface: a scalar or vector, declared alike on both sides."""

    __slots__ = (
        "base",
        "captured",
        "columns",
        "component",
        "extras",
        "keys",
        "location",
        "name",
        "qualifiers",
        "whole",
    )  # fmt: skip

    def __init__(self, location: int, component: int, base: str, keys: list[int]) -> None:
        self.location = location
        self.component = component
        self.base = base
        self.keys = keys  # the old keys, one a lane, column by column
        self.captured: tuple[int, int, int, int] | None = None  # as of its first component
        self.whole = 0  # OpTypeMatrix or OpTypeArray if it is one of these
        self.columns = 1
        self.qualifiers: tuple[int, ...] = ()
        self.extras: tuple[tuple[int, ...], ...] = ()
        self.name = ""

    @property
    def width(self) -> int:
        return int(self.base[1:])

    @property
    def components(self) -> int:
        return len(self.keys) * (2 if self.base.endswith("64") else 1)

    def place_of(self, lane: int) -> tuple[int, int]:
        """(Location, Component) of a lane."""
        if self.columns == 1 and not self.base.endswith("64"):
            at = self.component + lane
            return self.location + at // 4, at % 4
        size = len(self.keys) // self.columns
        column, row = divmod(lane, size)
        step = 2 if self.width == 64 else 1
        word = self.component + row * step
        each = 2 if size * step > 4 else 1  # Locations of a column: vectors may take eight words
        return self.location + column * each + word // 4, word % 4


class Interface:
    """One side of the border between two stages."""

    __slots__ = (
        "aggregates",
        "captured",
        "components",
        "locations",
        "pinned",
        "slots",
        "variables",
    )

    def __init__(self) -> None:
        self.slots: dict[int, Slot] = {}
        # slots that transform feedback captures: buffer, stride, stream, offset (``captures``)
        self.captured: dict[int, tuple[int, int, int, int]] = {}
        self.pinned: list[Pinned] = []
        self.aggregates: list[Aggregate] = []
        self.variables: list[Inst] = []  # the original variables that the slots stand for
        self.components = 0  # 32-bit components declared by the original module
        self.locations: set[int] = set()  # Locations declared by the original module
