"""Random pipelines of longer chains: what linking promises, held for each of them. `scripts/fuzz
--chains` runs many more. See random_harness.py for how a seed is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering, mismatches
from tests.support import random_harness
from tests.support.chain_breakage import CASES, Case, broken, built
from tests.support.chain_checks import check_modules
from tests.support.generate_chains import make
from tests.support.random_chains import (
    FEW_ULP,
    MESH_ENVIRONMENTS,
    TIPPED,
    canonical,
    farthest,
    off,
)
from tests.support.random_harness import (
    ENVIRONMENTS,
    NOTHING_TO_GAIN,
    Failure,
    check_hash_seeds,
    compile_sources,
    in_two_processes,
    is_proved,
)

SEEDS = range(40)
HASH_SEEDS = (3, 7, 17)
FOLDED = "linked, and constants folded otherwise by the driver"
JUMPED = "linked, and a jump made of a value that comes exact now"
TWICE = "linked, and better still the second time"


def compile_chain(seed: int) -> list[bytes]:
    """The modules of a seed. Raises Failure with the compiler's words."""
    sources = make(seed)
    mesh = any(stage == "mesh" for stage, _ in sources)
    return compile_sources(seed, sources, MESH_ENVIRONMENTS if mesh else ENVIRONMENTS)


def link(
    stages: list[bytes],
    fragment: bool,
    exact: bool = True,
    disable: frozenset[str] = frozenset(),
) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.exact = exact  # then pictures are compared bit for bit
    options.disable = disable
    options.complete = not fragment
    return spvlink.link(list(stages), options)


def check_seed(seed: int) -> str:
    """All promises for one seed; what became of it in a word. Raises Failure."""
    stages = compile_chain(seed)
    problems = mismatches(stages)
    if problems:
        raise Failure(f"the generator is at fault: {problems}")
    fragment = make(seed)[-1][0] == "frag"
    linked = link(stages, fragment)
    new = [stage.data for stage in linked.stages]
    problems = check_modules(stages, new, linked)
    if problems:
        raise Failure("; ".join(problems))
    why = linked.passed_through
    if why is not None and why != NOTHING_TO_GAIN:
        raise Failure(f"passed through: {why}")
    try:
        check_drawing(seed, stages, new)
    except Slight:
        if not is_proved(stages, new):  # as 33059895 is
            check_without_constants(seed, stages, stages, fragment)
        return FOLDED
    jumped = check_rounding(stages, fragment)
    if why is not None:
        return NOTHING_TO_GAIN
    again = link(new, fragment)
    twice = [stage.data for stage in again.stages]
    if twice == new:
        return JUMPED if jumped else "linked"
    problems = check_modules(new, twice, again)
    if problems:
        raise Failure(f"linked a second time: {'; '.join(problems)}")
    try:
        check_drawing(seed, stages, twice)
    except Slight:
        check_without_constants(seed, stages, new, fragment)
    return TWICE


def check_drawing(seed: int, stages: list[bytes], new: list[bytes]) -> None:
    """Equal pixels, buffers and captured bytes, with one sample or several."""
    names = [stage for stage, _ in make(seed)]
    # Multisampled depth alone cannot be read back; lavapipe (Mesa 25.0) loses samples of mesh
    # pipelines, which of them depends on the number of varyings.
    several = seed % 4 == 3 and names[-1] == "frag" and "mesh" not in names
    scene, before = draw_covering(stages, samples=4 if several else 1)
    if not before.coverage and not before.captured:
        raise Failure("the picture is empty")
    if new == stages:
        return
    results = canonical(before), canonical(draw(new, scene))
    difference = compare(*results)
    if difference:
        floats = all(w.startswith(("image color", "buffer feedback")) for w in difference.where)
        slight = farthest(*results) <= FEW_ULP or off(*results) == 0.0  # many ULPs near zero
        raise (Slight if floats and slight else Failure)(f"the pictures differ: {difference}")


class Slight(Failure):
    """Only images and captured values differ, and by little."""


def check_without_constants(
    seed: int, stages: list[bytes], given: list[bytes], fragment: bool
) -> None:
    """Mesa computes sin(1.0) in another way when it compiles than when it runs, and x / 1.5 in
    another way than x / y, so a constant that was moved may show in the last bits. Without such
    moves every bit must be equal. ``given``: the modules to link, which draw as ``stages`` do.
    """
    linked = link(given, fragment, disable=frozenset({"propagate"}))
    check_drawing(seed, stages, [s.data for s in linked.stages])


def check_rounding(stages: list[bytes], fragment: bool) -> bool:
    """Without --exact: what is rounded otherwise may tip a comparison here and there, no more.

    A constant that was interpolated came with a rounding; once it is carried to its reader it comes
    exact, and floor() or a conversion of it may make something else of every pixel. Such a
    pipeline (True) must hold the promise when no value is taken from interpolation.
    """
    if tipped(stages, fragment, frozenset()) <= TIPPED:
        return False
    share = tipped(stages, fragment, frozenset({"propagate", "flatten"}))
    if share > TIPPED:
        raise Failure(f"not exact: {share:.1%} of some image or buffer is off")
    return True


def tipped(stages: list[bytes], fragment: bool, disable: frozenset[str]) -> float:
    """The share that is off when linked without --exact and these passes."""
    linked = link(stages, fragment, exact=False, disable=disable)
    new = [stage.data for stage in linked.stages]
    problems = check_modules(stages, new, linked)
    if problems:
        raise Failure(f"not exact: {'; '.join(problems)}")
    if new == stages:
        return 0.0
    scene, before = draw_covering(stages)
    return off(canonical(before), canonical(draw(new, scene)))


def check_many(seeds: Iterable[int]) -> Iterator[tuple[int, object]]:
    return random_harness.check_many(check_seed, compile_chain, seeds, timeout=90.0)


@pytest.fixture(scope="module")
def verdicts() -> dict[int, object]:
    """Every seed of SEEDS checked, in two processes."""
    return in_two_processes(check_many, SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold(seed: int, verdicts: dict[int, object]) -> None:
    verdict = verdicts[seed]
    assert isinstance(verdict, str), f"{verdict} (scripts/fuzz --chains --seed {seed} --count 1)"


def test_nearly_all_are_linked(verdicts: dict[int, object]) -> None:
    """Else the promises above would hold for nothing."""
    linked = [seed for seed, verdict in verdicts.items() if str(verdict).startswith("linked")]
    assert len(linked) >= 0.9 * len(SEEDS)
    assert TWICE not in verdicts.values()
    for word in (FOLDED, JUMPED):
        assert sum(verdict == word for verdict in verdicts.values()) <= 0.1 * len(SEEDS)


@pytest.mark.parametrize("seed", HASH_SEEDS)
def test_same_bytes_whatever_the_hash_seed(seed: int, tmp_path: Path) -> None:
    stages = compile_chain(seed)
    fragment = make(seed)[-1][0] == "frag"
    options = f"options = spvlink.Options(clean=True); options.complete = {not fragment}"
    check_hash_seeds(stages, link(stages, fragment, False), options, tmp_path)


def test_every_kind_of_chain_comes_up() -> None:
    kinds = {tuple(stage for stage, _ in make(seed)) for seed in range(100)}
    assert len(kinds) >= 9
    assert make(7) == make(7) and make(7) != make(8)


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if "level" not in c.name],
    ids=lambda case: case.name.replace(" ", "-"),
)
def test_rounding_is_no_excuse(case: Case) -> None:
    """The loose comparison sees every planted miscompile but those of the tessellation levels,
    which leave nearly all values as they were.
    """
    scene, original = draw_covering(built(case.chain), seed=1)
    assert off(canonical(original), canonical(draw(broken(case), scene))) > TIPPED
