"""Runs the original and the linked modules of a pipeline on the same seeded inputs."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

import numpy as np

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.machine.declared import MachineStage, stages_of
from spvlink.verifier.machine.pipeline import Run
from spvlink.verifier.machine.seen import UNDEFINED, Seen, SeenDifference, first_difference
from spvlink.verifier.machine.specialize import frozen
from spvlink.verifier.machine.values import Endless, NotInterpreted, RuleBroken, V
from spvlink.verifier.machine.world import World, prepared
from spvlink.verifier.verdict import EQUAL, EXECUTED, UNEQUAL, UNKNOWN, Place, Verdict

SEEDS: Final = 10


def execute(
    before: list[Source], after: list[Source], options: Options, seeds: int = SEEDS
) -> Verdict:
    """Whether both do the same on ``seeds`` worlds. With ``options.exact`` every bit counts, and
    numbers like NaN are among the inputs; otherwise rounding may differ, as
    docs/explanation/proof.md says."""
    start = perf_counter()
    try:
        verdict = compared(before, after, options, seeds)
    except NotInterpreted as error:
        place = Place(error.stage, "", error.instruction)
        verdict = Verdict(UNKNOWN, EXECUTED, place, error.why)
    except Exception as error:  # whatever it is, nothing was shown to be equal
        reason = f"the interpreter failed: {type(error).__name__}: {error}"
        verdict = Verdict(UNKNOWN, EXECUTED, Place(), reason)
    verdict.seconds = perf_counter() - start
    return verdict


def compared(
    before: list[Source], after: list[Source], options: Options, seeds: int
) -> Verdict:  # fmt: skip
    sides = read(before, options), read(after, options)
    names = [[stage.name for stage in side] for side in sides]
    if names[0] != names[1]:
        return Verdict(UNEQUAL, EXECUTED, Place(), "the stages are others")
    ended = 0
    doubted: Verdict | None = None
    for seed in range(seeds):
        try:
            difference, doubts = differing(sides, options, seed)
        except Endless:
            continue  # of the original: nothing can be said with these inputs
        ended += 1
        if difference is not None:
            reason = f"{difference.before} before, {difference.after} after, with seed {seed}"
            witness = {
                "seed": seed, "invocation": difference.lane,
                "before": difference.before, "after": difference.after,
            }  # fmt: skip
            if not doubts:
                return Verdict(UNEQUAL, EXECUTED, difference.place, reason, witness)
            doubted = Verdict(UNKNOWN, EXECUTED, difference.place, doubts[0], witness)
            ended -= 1  # nothing can be said with these inputs either
    if ended * 2 < seeds and doubted is not None:
        return doubted
    if ended * 2 < seeds:
        return Verdict(UNKNOWN, EXECUTED, Place(), "loops that take too long")
    return Verdict(EQUAL, EXECUTED)


def read(sources: list[Source], options: Options) -> list[MachineStage]:
    """The stages of a pipeline, specialized."""
    made = stages_of(sources)
    for n, stage in enumerate(made):
        data = frozen(stage.source.data, stage, options)
        if data is not stage.source.data:
            one = Source(data, stage.source.file, stage.source.entry, stage.name)
            made[n] = stages_of([one])[0]
    return made


def differing(
    sides: tuple[list[MachineStage], list[MachineStage]], options: Options, seed: int
) -> tuple[SeenDifference | None, list[str]]:
    """Where they differ with this seed. By default both as doubles, where sums in another order
    come to the same, and in their own widths have to differ at once: what rounding alone does is
    seen in one of them only."""
    exact = options.exact
    difference: SeenDifference | None = None
    doubts: list[str] = []
    for loose in (False,) if exact else (True, False):
        edges = exact and seed % 3 == 2
        first, second, again = both(sides, options, seed, loose, edges)
        difference = first_difference(first, second, exact, loose)
        doubts = list(first.doubts)
        if difference is not None and difference.after == UNDEFINED:
            # undefined bits of a word may be none of those that are read of it
            others = second, again()
            if not any(first_difference(first, other, exact, loose, True) for other in others):
                doubts.append("a word with undefined bits is read in part")
        if difference is None:
            break
    return difference, doubts


def both(
    sides: tuple[list[MachineStage], list[MachineStage]],
    options: Options,
    seed: int,
    loose: bool,
    edges: bool,
) -> tuple[Seen, Seen, Callable[[], Seen]]:
    """What both show, and what runs the second one once more with other undefined values."""
    world = World(seed, options, loose, edges)
    with np.errstate(all="ignore"):
        prepared(world, sides[0])
        first = Run(sides[0], world.fresh(), options.complete).run()
    return first, shown(sides[1], world, options), lambda: shown(sides[1], world, options, True)


def shown(side: list[MachineStage], world: World, options: Options, ones: bool = False) -> Seen:
    """What the linked side shows in a world. ``ones``: the bits of what is undefined."""
    fresh = world.fresh()
    fresh.ones = ones
    with np.errstate(all="ignore"):
        try:
            second = Run(side, fresh, options.complete).run()
        except Endless as error:
            second = Seen()
            second.values[error.stage, "the end of its loops"] = V(np.zeros(1))
        except RuleBroken as error:
            second = Seen()
            second.values[error.stage, error.why] = V(np.zeros(1))
    return second
