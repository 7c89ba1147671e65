"""What is said of a link: whether both pipelines do the same, by which way that was found, and
where they part."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Mapping
    from typing import Final, Literal

    Word = Literal["equal", "unequal", "unknown"]
    Way = Literal["paper", "executed", "device"]

EQUAL: Final = "equal"
UNEQUAL: Final = "unequal"
UNKNOWN: Final = "unknown"
PAPER: Final = "paper"  # graphs of values
EXECUTED: Final = "executed"  # our own interpreter
DEVICE: Final = "device"  # a Vulkan device
# the axiom that interpolation keeps a sign and a power of two, but for what overflows or underflows
SCALES: Final = "scales"
UNDEFINED: Final = "undefined"  # the axiom that each use of an undefined value may see another one


class Place:
    """Where two pipelines part, or where a verifier had to give up. ``stage``: "vert" ... "frag";
    ``output``: what can be seen outside ("Position", "Location 0.x", "the order of stores"), or
    empty; ``instruction``: as text, or empty."""

    __slots__ = ("instruction", "output", "stage")

    def __init__(self, stage: str = "", output: str = "", instruction: str = "") -> None:
        self.stage = stage
        self.output = output
        self.instruction = instruction

    def __str__(self) -> str:
        return ", ".join([part for part in (self.stage, self.output, self.instruction) if part])

    def __repr__(self) -> str:
        return f"<Place: {self}>"


class Verdict:
    """What one way of verifying found of one pipeline.

    outcome   "equal", "unequal" or "unknown"
    way       "paper", "executed" or "device"
    place     where they part, or where the verifier gave up; None if they are equal
    reason    one line for people; empty if they are equal
    witness   inputs that show the difference, by name, with the values that come out under
              "before" and "after"; None if there is none
    axioms    names of the axioms that the proof needs, and how often each was used
    seconds   how long it took
    """

    __slots__ = ("axioms", "outcome", "place", "reason", "seconds", "way", "witness")

    def __init__(
        self,
        outcome: Word,
        way: Way,
        place: Place | None = None,
        reason: str = "",
        witness: Mapping[str, object] | None = None,
        axioms: Mapping[str, int] | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.outcome = outcome
        self.way = way
        self.place = place
        self.reason = reason
        self.witness = witness
        self.axioms = dict(axioms or {})
        self.seconds = seconds

    def __repr__(self) -> str:
        where = f" at {self.place}" if self.place is not None else ""
        why = f": {self.reason}" if self.reason else ""
        return f"<Verdict: {self.outcome} ({self.way}){where}{why}>"
