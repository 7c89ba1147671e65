"""What was found out about something, and holds until that changes.

    fact(module, Calls, module.version)    Calls(module), made again once the version has moved

The function that finds it is its name: one maker, one type, no word to mistype. The stamps of a
module, each moved by ``ir/edit.py`` alone:

    version     any edit
    flow        blocks or edges
    annotated   annotations, or imports of instruction sets
    ALWAYS      no edit makes it untrue

What somebody told a module is no fact: that is a field of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Any, Final, TypeVar

    T = TypeVar("T")
    K = TypeVar("K", bound="Known")

ALWAYS: Final = 0


class StampedFact:
    """What was found, and the stamp for which it holds."""

    __slots__ = ("stamp", "value")

    def __init__(self, stamp: int, value: Any) -> None:
        self.stamp = stamp
        self.value = value


class Known:
    """Something that facts are known of."""

    __slots__ = ("facts",)

    def __init__(self) -> None:
        self.facts: dict[object, StampedFact] = {}  # by who finds it


def fact(of: K, make: Callable[[K], T], stamp: int) -> T:
    """What ``make`` finds: found once for each value of the stamp."""
    known = of.facts.get(make)
    if known is not None and known.stamp == stamp:
        value: T = known.value
        return value
    made = make(of)
    of.facts[make] = StampedFact(stamp, made)
    return made


def forget(of: Known, make: Callable[..., object]) -> None:
    """A fact depends on something that its stamp does not tell of, and that has changed."""
    of.facts.pop(make, None)


def forget_all(of: Known) -> None:
    """Nobody will ask again."""
    of.facts = {}
