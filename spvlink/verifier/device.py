"""Draws both pipelines on a Vulkan device and compares all that comes out.

    the same seeded inputs   ->   the original draws, twice     ->   pictures, buffers, captures
                             ->   the linked pipeline draws     ->   the same?

A driver may crash, so a process of its own draws. What the original draws otherwise the second time
proves nothing, and neither does a picture in which next to nothing is drawn. Without a number the
device is Mesa's lavapipe.

Needs the extra ``draw``. The harness takes no specialization constants and no state of a pipeline:
with these the verdict is "unknown".
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from spvlink.draw import CannotDraw, Result, Rounding, compare, draw, rounding, save_png
from spvlink.draw.batch import Crashed, run_isolated
from spvlink.draw.rounding import far_apart
from spvlink.draw.scene import VARIANTS, Code, make_scene
from spvlink.options import Options
from spvlink.pipeline import STAGES, Source
from spvlink.verifier.verdict import DEVICE, EQUAL, UNEQUAL, UNKNOWN, Place, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

SEEDS: Final = 3
ROUNDING: Final = "rounding"
_MODELS: Final = {name: model for model, name in STAGES.items()}


class Drawn:
    """What one seed showed. ``apart``: what differs, empty if nothing does; ``noisy``: what the
    original itself draws otherwise each time; ``good``: enough was drawn to prove anything."""

    __slots__ = ("apart", "good", "noisy", "rounding", "variant")

    def __init__(self) -> None:
        self.apart = ""
        self.noisy = ""
        self.good = False
        self.rounding = Rounding()
        self.variant = 0


def on_device(
    before: Sequence[Source], after: Sequence[Source], options: Options,
    number: int | None = None, seeds: int = SEEDS, pictures: str | None = None,
) -> Verdict:  # fmt: skip
    """Whether both draw the same. ``number``: the device, as ``vulkaninfo --summary`` counts them;
    ``pictures``: a folder for those that differ. With ``options.exact`` every bit counts."""
    start = perf_counter()
    verdict = _compared(before, after, options, number, seeds, pictures)
    verdict.seconds = perf_counter() - start
    return verdict


def _compared(
    before: Sequence[Source], after: Sequence[Source], options: Options,
    number: int | None, seeds: int, pictures: str | None,
) -> Verdict:  # fmt: skip
    for given, name in (
        (options.spec, "specialization constants"), (options.state, "the state of a pipeline"),
        (options.view_mask, "views"),
    ):  # fmt: skip
        if given:
            return Verdict(UNKNOWN, DEVICE, reason=f"{name}: the harness draws without")
    codes = [list(map(_code, sources)) for sources in (before, after)]
    jobs = [(*codes, seed, options.exact, number, pictures) for seed in range(seeds)]
    good, worst = 0, Rounding()
    for seed, answer in enumerate(run_isolated(draw_both, jobs)):
        if isinstance(answer, (Crashed, RuntimeError)):
            return Verdict(UNKNOWN, DEVICE, reason=str(answer))
        assert isinstance(answer, Drawn)
        if answer.noisy:
            why = f"the original draws {answer.noisy} otherwise each time"
            return Verdict(UNKNOWN, DEVICE, Place(output=answer.noisy), why)
        if answer.apart:
            witness = {"seed": seed, "variant": answer.variant}
            place = Place(output=answer.apart)
            return Verdict(UNEQUAL, DEVICE, place, "it is drawn otherwise", witness)
        good += answer.good
        worst.add(answer.rounding)
    if not good:
        return Verdict(UNKNOWN, DEVICE, reason="too little is drawn to prove anything")
    return Verdict(EQUAL, DEVICE, axioms={ROUNDING: worst.differing} if worst.differing else None)


def _code(source: Source) -> Code:
    if source.entry is None and not source.stage:
        return source.data
    name = source.entry or "main"
    return (source.data, name, _MODELS[source.stage]) if source.stage else (source.data, name)


def draw_both(
    before: list[Code], after: list[Code], seed: int, exact: bool, number: int | None,
    pictures: str | None,
) -> Drawn:  # fmt: skip
    """One seed, in the process that may crash."""
    drawn, old = _covering(before, seed, number)
    scene = make_scene(before, seed, drawn.variant)
    again, new = draw(before, scene, number), draw(after, scene, number)
    drawn.noisy = _apart(old, again, True)
    if drawn.noisy:
        return drawn
    drawn.apart = _apart(old, new, exact)
    if not drawn.apart:
        drawn.rounding = rounding(old, new)
    elif pictures is not None:
        for result, name in ((old, "before"), (new, "after")):
            save_png(result, Path(pictures), f"{name}.{seed}")
    return drawn


def _covering(codes: list[Code], seed: int, number: int | None) -> tuple[Drawn, Result]:
    """The first scene in which enough is drawn, else the first that can be drawn at all."""
    drawn, best = Drawn(), None
    for variant in range(VARIANTS):
        result = draw(codes, make_scene(codes, seed, variant), number)
        if best is None or result.is_good():
            best, drawn.variant, drawn.good = result, variant, result.is_good()
        if drawn.good:
            break
    if best is None:
        raise CannotDraw("there is no scene")
    return drawn, best


def _apart(a: Result, b: Result, exact: bool) -> str:
    if exact:
        return "; ".join(compare(a, b).where)
    return far_apart(a, b)
