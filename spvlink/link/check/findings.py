"""Describe a mismatch of two stages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.link.check.interface import Place


UNREAD: Final = "WARNING-Shader-OutputNotConsumed"  # as the validation layer calls it


class Finding:
    """One error or warning of one pipeline.

    ``producer``, ``consumer``: "vert" ... "frag", or None where there is no such stage. ``name``:
    of the variable, "" if the finding is about none. ``place``: (Location, Component) or None.
    ``rule``: a VUID, another name that people look for, or None. ``warning``: legal all the same.
    ``file``: of the module that it is about, "" if that has none.
    """

    __slots__ = ("consumer", "file", "message", "name", "place", "producer", "rule", "warning")

    def __init__(
        self,
        rule: str | None,
        message: str,
        name: str = "",
        place: Place | None = None,
        between: tuple[str | None, str | None] = (None, None),
        warning: bool = False,
    ) -> None:
        self.rule = rule
        self.message = message
        self.name = name
        self.place = place
        self.producer, self.consumer = between
        self.warning = warning
        self.file = ""

    @property
    def border(self) -> str:
        """The stages as people read them: "vert -> frag", or one of them, or nothing."""
        return " -> ".join(s for s in (self.producer, self.consumer) if s)

    def __str__(self) -> str:
        return f"{self.message} ({self.rule})" if self.rule else self.message

    def __repr__(self) -> str:
        return f"<{'warning' if self.warning else 'error'}: {self}>"

    @property
    def about(self) -> str:
        """The stage that it is about: that of an output that nobody reads, else the one that reads;
        "" for all of the pipeline."""
        first, second = self.producer or "", self.consumer or ""
        return first or second if self.rule == UNREAD else second or first

    def key(self) -> tuple[object, ...]:
        """What makes two findings of different pipelines the same."""
        return (
            self.border, self.producer, self.warning, self.rule, self.name, self.place, self.message
        )  # fmt: skip
