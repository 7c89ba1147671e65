"""What is wrong between two stages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.link.check.interface import Place


class Finding:
    """One error or warning of one pipeline.

    ``producer``, ``consumer``: "vert" ... "frag", or None where there is no such stage. ``name``:
    of the variable, "" if the finding is about none. ``place``: (Location, Component) or None.
    ``rule``: a VUID, another name that people look for, or None. ``warning``: legal all the same.
    """

    __slots__ = ("consumer", "message", "name", "place", "producer", "rule", "warning")

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

    @property
    def border(self) -> str:
        """The stages as people read them: "vert -> frag", or one of them, or nothing."""
        return " -> ".join(s for s in (self.producer, self.consumer) if s)

    def key(self) -> tuple[object, ...]:
        """What makes two findings of different pipelines the same."""
        return (
            self.border, self.producer, self.warning, self.rule, self.name, self.place, self.message
        )  # fmt: skip
