"""``spvlink.verify`` and ``spvlink link --verify``: whether modules are the same pipeline."""

from __future__ import annotations

from spvlink.errors import Usage
from spvlink.verify.paper.prove import SECONDS, prove

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence

    from spvlink.options import Options
    from spvlink.pipeline import Source
    from spvlink.verify.verdict import Verdict


def verify(
    before: Sequence[Source],
    after: Sequence[Source],
    options: Options,
    seconds: float = SECONDS,
) -> Verdict:
    """Whether the linked pipeline does what the original one does, as the options promise."""
    if not before or not after:
        raise Usage("both pipelines need a stage")
    return prove(before, after, options, seconds)


def sentence(verdict: Verdict) -> str:
    """A verdict in one line."""
    words = {"equal": "proved equal", "unequal": "not equal", "unknown": "not proved"}
    line = words[verdict.outcome]
    if verdict.axioms:
        line += f" up to rounding ({', '.join(sorted(verdict.axioms))})"
    if verdict.place is not None and str(verdict.place):
        line += f" ({verdict.place})"
    return f"{line}: {verdict.reason}" if verdict.reason else line


def as_json(verdict: Verdict) -> dict[str, object]:
    """A verdict as the report has it."""
    place = verdict.place
    return {
        "outcome": verdict.outcome,
        "way": verdict.way,
        "stage": None if place is None else place.stage,
        "output": None if place is None else place.output,
        "instruction": None if place is None else place.instruction,
        "reason": verdict.reason or None,
        "axioms": verdict.axioms,
        "seconds": round(verdict.seconds, 6),
    }
