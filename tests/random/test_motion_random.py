"""Random expressions on both sides of the border: what code motion promises, held for each of them.
scripts/fuzz --motion runs many more.

The picture after linking is that before but for rounding: every value on the way is at most LIMIT
(generate_motion.py), a rounding is at most 2^-24 of it, and an interpolation rounds its plane
equation, whose terms are up to some ten times as large as what it gives. A few dozen of these add
up to less than TOLERANCE = LIMIT * 1e-5; what is wrong is off by far more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

import spvlink
from spvlink.chain import table
from spvlink.draw import Result, compare, draw, draw_covering
from tests.support import random_harness
from tests.support.generate_motion import LIMIT, make
from tests.support.random_harness import Failure, check_hash_seeds, check_linked, in_two_processes
from tests.support.samples import compile_glsl

SEEDS = range(48)
HASH_SEEDS = (2, 11)
TOLERANCE = LIMIT * 1e-5
BOTH = ["VERTEX", "FRAGMENT"]
LAYOUT: dict[str, object] = {
    "setLayouts": [
        {"set": 0, "bindings": [
            {"binding": 0, "descriptorType": "UNIFORM_BUFFER", "stageFlags": BOTH}]}
    ],
    "pushConstantRanges": [{"stageFlags": BOTH, "offset": 0, "size": 128}],
}  # fmt: skip


def settings(seed: int) -> spvlink.Options:
    """How a seed is linked: all kinds of prices, with and without a layout and some passes."""
    r = Random(seed ^ 0x0971)
    made = spvlink.Options(clean=True)
    made.check_each = True
    made.layout = LAYOUT if r.random() < 0.5 else None
    made.expect = r.choice(((1, 8), (1, 8), (1, 1), (20, 1), (1, 100)))
    made.cost_limit = r.choice((100, 100, 1000, 0))
    if r.random() < 0.25:
        made.disable = frozenset(r.sample(sorted(table.GROUPS), r.randint(1, 3)))
    return made


def compile_pair(seed: int) -> list[bytes]:
    return [compile_glsl(text, stage) for text, stage in zip(make(seed), ("vert", "frag"))]


def check_seed(seed: int) -> str:
    """All promises for one seed; the actions that it brought. Raises Failure."""
    stages = compile_pair(seed)
    options = settings(seed)
    scene, before = draw_covering(stages, samples=4 if seed % 4 == 3 else 1)
    scene.open_to_all()
    before = draw(stages, scene)
    if not before.is_good(0.05):
        raise Failure("the picture proves nothing")
    done = link(stages, options)
    worst = error(before, draw([s.data for s in done.stages], scene))
    if not worst <= TOLERANCE:
        raise Failure(f"off by {worst}")
    options.exact = True
    exact = link(stages, options)
    difference = compare(before, draw([s.data for s in exact.stages], scene))
    if difference:
        raise Failure(f"--exact is not: {difference}")
    found = {r.action for r in done.remarks} & {"moved-backward", "moved-forward"}
    return " ".join(sorted(found)) or "nothing moved"


def link(stages: list[bytes], options: spvlink.Options) -> spvlink.Linked:
    """Linked; twice, which must be the same."""
    linked = spvlink.link(list(stages), options)
    check_linked(linked)
    if not options.disable:
        new = [s.data for s in linked.stages]
        again = spvlink.link(list(new), options)
        if [s.data for s in again.stages] != new:
            what = [(r.name, r.slot, r.action, r.why) for r in again.remarks
                    if r.action not in ("kept", "packed")]  # fmt: skip
            raise Failure(f"linking again (exact: {options.exact}) changes it: {what}")
    return linked


def error(before: Result, after: Result) -> float:
    """The largest difference of a component."""
    old = before.images["color0"].astype(np.float64)
    new = after.images["color0"].astype(np.float64)
    return float(np.abs(old - new).max())


def check_many(seeds: Iterable[int]) -> Iterator[tuple[int, object]]:
    return random_harness.check_many(check_seed, compile_pair, seeds)


@pytest.fixture(scope="module")
def verdicts() -> dict[int, object]:
    """Every seed of SEEDS checked, in two processes."""
    return in_two_processes(check_many, SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold(seed: int, verdicts: dict[int, object]) -> None:
    verdict = verdicts[seed]
    assert isinstance(verdict, str), f"{verdict} (scripts/fuzz --motion --seed {seed} --count 1)"


def test_much_moves(verdicts: dict[int, object]) -> None:
    """Else the promises above would hold for nothing."""
    words = [v for v in verdicts.values() if isinstance(v, str)]
    assert sum("moved-backward" in w for w in words) >= 0.3 * len(SEEDS)
    assert any("moved-forward" in w for w in words)  # few; test_motion has the cases


@pytest.mark.parametrize("seed", HASH_SEEDS)
def test_same_bytes_whatever_the_hash_seed(seed: int, tmp_path: Path) -> None:
    stages = compile_pair(seed)
    linked = spvlink.link(list(stages), settings(seed))
    options = f"from tests.random.test_motion_random import settings; options = settings({seed})"
    check_hash_seeds(stages, linked, options, tmp_path)
