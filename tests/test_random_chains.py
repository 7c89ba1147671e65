"""Random pipelines of longer chains: what linking promises, held for each of them. `scripts/fuzz
--chains` runs many more. See random_harness.py for how a seed is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from generate_chains import make
from numpy.typing import NDArray

import spvlink
from tests import random_harness
from tests.random_harness import (
    ENVIRONMENTS,
    NOTHING_TO_GAIN,
    Failure,
    check_hash_seeds,
    compile_sources,
    in_two_processes,
)
from tests.render import Result, compare, draw, draw_covering, mismatches
from tests.render.compare import max_ulp
from tests.render.feedback import FILL
from tests.test_chain_miscompiles import CASES, Case, broken, built
from tests.test_chains import check_modules

SEEDS = range(40)
HASH_SEEDS = (3, 7, 17)
MESH_ENVIRONMENTS = ("vulkan1.2", "vulkan1.3")
TOLERANCE = 1e-3
TIPPED = 0.01  # share of pixels that may show another branch
FEW_ULP = 4096  # seed 1842: 128, of sin(inversesqrt(constant)); --flow 2002188: 2304
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
    disabled: frozenset[str] = frozenset(),
) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.exact = exact  # then pictures are compared bit for bit
    options.disabled = disabled
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
    except FewUlp:
        check_without_constants(seed, stages, fragment)
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
    check_drawing(seed, stages, twice)
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
        raise (FewUlp if floats and farthest(*results) <= FEW_ULP else Failure)(
            f"the pictures differ: {difference}"
        )


class FewUlp(Failure):
    """Only images and captured values differ, and by little."""


def farthest(before: Result, after: Result) -> int:
    """The largest distance of float32 values in images and captured buffers."""
    pairs = [
        (old, after.images[name]) for name, old in before.images.items() if old.dtype.kind == "f"
    ]
    for name, old in captured(before):
        pairs.append((old, after.buffers[name].view(np.float32)))
    return max((max_ulp(old, new) for old, new in pairs), default=0)


def check_without_constants(seed: int, stages: list[bytes], fragment: bool) -> None:
    """Mesa computes sin(1.0) in another way when it compiles than when it runs, so a constant that
    was moved may show in the last bits. Without such moves every bit must be equal.
    """
    linked = link(stages, fragment, disabled=frozenset({"propagate"}))
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


def tipped(stages: list[bytes], fragment: bool, disabled: frozenset[str]) -> float:
    """The share that is off when linked without --exact and these passes."""
    linked = link(stages, fragment, exact=False, disabled=disabled)
    new = [stage.data for stage in linked.stages]
    problems = check_modules(stages, new, linked)
    if problems:
        raise Failure(f"not exact: {'; '.join(problems)}")
    if new == stages:
        return 0.0
    scene, before = draw_covering(stages)
    return off(canonical(before), canonical(draw(new, scene)))


def captured(result: Result) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The buffers of transform feedback, by name."""
    for name, data in result.buffers.items():
        if name.startswith("feedback") and name[8:].isdigit():
            yield name, data.view(np.float32)


def off(before: Result, after: Result) -> float:
    """The largest share of an image or captured buffer that differs by more than rounding. Counts
    in storage buffers say nothing here: one tipped comparison changes them.
    """
    shares = [0.0]
    for name, old in before.images.items():
        shares.append(float(np.mean(_far(old, after.images[name]))))
    for name, old in captured(before):
        new = after.buffers[name].view(np.float32)
        written = old.view(np.uint32) != FILL * 0x01010101
        shares.append(float(np.mean(_far(old[written], new[written]))) if written.any() else 0.0)
    return max(shares)


def _far(old: NDArray[np.generic], new: NDArray[np.generic]) -> NDArray[np.bool_]:
    if old.dtype.kind != "f":
        return np.asarray(old != new)
    with np.errstate(all="ignore"):
        near = np.abs(old - new) <= TOLERANCE * np.maximum(1.0, np.abs(old))
    return ~(near | (old == new) | (np.isnan(old) & np.isnan(new)))


def canonical(result: Result) -> Result:
    """Which NaN an operation gives is not specified, nor, unless SignedZeroInfNanPreserve asks for
    it, the sign of a zero.
    """
    for image in result.images.values():
        if image.dtype.kind == "f":
            image[np.isnan(image)] = np.nan
            image[image == 0.0] = 0.0
    for name, data in result.buffers.items():
        if name.startswith("feedback"):
            words = data.view(np.uint32)
            words[words == 0x80000000] = 0
            nan = (words & 0x7FFFFFFF) > 0x7F800000
            words[nan] = 0x7FC00000
    return result


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
