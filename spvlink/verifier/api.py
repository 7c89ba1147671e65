"""``spvlink.verify`` and ``spvlink link --verify``: whether modules are the same pipeline."""

from __future__ import annotations

from spvlink.errors import Usage
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import SECONDS, prove
from spvlink.verifier.verdict import DEVICE, EXECUTED, PAPER, UNDEFINED, UNEQUAL, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.options import Options
    from spvlink.pipeline import StageResult
    from spvlink.verifier.verdict import Verdict


# What "equal" means, by each way.
_EQUAL: Final = {PAPER: "proved equal", EXECUTED: "executed: equal", DEVICE: "drawn: equal"}


def verify(
    before: Sequence[Source], after: Sequence[Source], options: Options,
    seconds: float = SECONDS, execute: bool = False, device: int | None = None,
    draw: bool = False,
) -> Verdict:  # fmt: skip
    """Whether the linked pipeline does what the original one does, as the options promise: proved;
    where there is no proof and ``execute`` is set, run by our interpreter; with ``draw`` drawn in
    any case, on lavapipe or on ``device``. Raises Usage where an extra is not installed."""
    if not before or not after:
        raise Usage("both pipelines need a stage")
    verdict = prove(before, after, options, seconds)
    if execute and verdict.outcome == UNKNOWN:
        ran = _executed(before, after, options)
        verdict = ran if ran.outcome != UNKNOWN else verdict
    if draw and verdict.outcome != UNEQUAL:
        drawn = _drawn(before, after, options, device)
        verdict = drawn if UNKNOWN in (verdict.outcome, drawn.outcome) else verdict
        verdict = drawn if drawn.outcome == UNEQUAL else verdict
    return verdict


def verify_link(
    before: Sequence[Source], after: Sequence[StageResult], options: Options,
    execute: bool = False,
) -> Verdict:  # fmt: skip
    """Whether a link did what it promises: ``after`` has the stages that it made of ``before``."""
    entries = {source.file: source for source in before}
    made = []
    for stage in after:
        source = entries[stage.file]
        made.append(Source(stage.data, stage.file, source.entry, source.stage))
    return verify(before, made, options, execute=execute)


def _executed(before: Sequence[Source], after: Sequence[Source], options: Options) -> Verdict:
    try:
        from spvlink.verifier.machine.execute import execute
    except ModuleNotFoundError as error:
        raise Usage(f"--execute needs {error.name}: pip install 'spvlink[verify]'") from None
    return execute(list(before), list(after), options)


def _drawn(
    before: Sequence[Source], after: Sequence[Source], options: Options, device: int | None
) -> Verdict:
    try:
        from spvlink.verifier.device import on_device
    except ModuleNotFoundError as error:
        raise Usage(f"--device needs {error.name}: pip install 'spvlink[draw]'") from None
    return on_device(before, after, options, device)


def sentence(verdict: Verdict) -> str:
    """A verdict in one line."""
    words = {"equal": _EQUAL[verdict.way], "unequal": "not equal", "unknown": "not proved"}
    line = words[verdict.outcome]
    rounding = sorted(verdict.axioms.keys() - {UNDEFINED})
    if rounding:
        line += f" up to rounding ({', '.join(rounding)})"
    if UNDEFINED in verdict.axioms:
        line += ", undefined values at each use"
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
