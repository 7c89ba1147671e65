"""The proof on our own longer chains: every pipeline of `shaders/` that is more than a vertex and a
fragment shader is linked whole, valid, no larger on any border, and draws (captures) the same.

With `--exact` pictures, buffers and captured bytes are equal bit for bit; without it floats may
differ by one part in 10,000, integers and counters not at all. What the linker passes through
because it does not know such chains is drawn nevertheless, and skipped with the linker's reason.

Each pipeline is checked in a child process, two at a time: a driver may crash on a bad module.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest

import spvlink
from spvlink.draw import (
    compare,
    draw,
    draw_covering,
    make_scene,
    messages,
)
from spvlink.draw.batch import run_isolated
from spvlink.draw.reflect import FRAGMENT, MESH, ReadStage
from tests.support.chain_checks import check_modules, close
from tests.support.chains import CHAINS, build, stages_of
from tests.support.pipelines import EVERYTHING

NOTHING_TO_GAIN = "nothing to gain"
SEEDS = ((1, 1), (2, 4))  # (seed, samples) of further pictures; mesh pipelines: one sample, see
# test_random_chains.py
FLAVOURS = {"exact": (True, False), "default": (False, False), "open": (False, True)}


@dataclass
class Verdict:
    """What became of one pipeline: why it was passed through (by flavour), and what is wrong."""

    passed: dict[str, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def link(codes: list[bytes], exact: bool, layout: bool) -> spvlink.Linked:
    options = spvlink.Options()
    options.exact = exact
    options.complete = not any(ReadStage(code).model == FRAGMENT for code in codes)
    if layout:
        options.layout = EVERYTHING
    return spvlink.link(list(codes), options)


# --- comparing what may be rounded differently ---


# --- one pipeline ---


def check(name: str) -> Verdict:
    codes = list(build(name))
    verdict = Verdict()
    say = verdict.problems.append
    scene, before = draw_covering(codes)
    if not before.is_good():
        say(f"the result proves nothing: coverage {before.coverage}, captured {before.captured}")
    for flavour, (exact, layout) in FLAVOURS.items():
        linked = link(codes, exact, layout)
        new = [stage.data for stage in linked.stages]
        verdict.passed[flavour] = linked.passed_through
        problems = check_modules(codes, new, linked)
        if not problems and new != codes:
            scene = make_scene(codes, scene.seed, scene.variant)
            if layout:
                scene.open_to_all()
            after = draw(new, scene)
            problems = [str(compare(before, after))] if exact else close(before, after)
            problems = [problem for problem in problems if problem != "equal"]
            problems += more_checks(codes, new, exact, layout)
        verdict.problems += [f"{flavour}: {problem}" for problem in problems]
    return verdict


def more_checks(codes: list[bytes], new: list[bytes], exact: bool, layout: bool) -> list[str]:
    """Other inputs, four samples, the validation layer, a second link."""
    found = []
    if exact:
        mesh = any(stage.model == MESH for stage in map(ReadStage, codes))
        for seed, samples in SEEDS:
            samples = 1 if mesh else samples
            scene, before = draw_covering(codes, seed, samples)
            difference = compare(before, draw(new, scene))
            if difference:
                found.append(f"seed {seed}, {samples} samples: {difference}")
    else:
        scene = make_scene(codes)
        if layout:
            scene.open_to_all()
        said = messages(new, scene) - messages(codes, scene)
        if said:
            found.append(f"the validation layer says {dict(said)}")
    again = link(new, exact, False)
    if again.passed_through != NOTHING_TO_GAIN and exact:
        found.append("a second link finds more to do")
    return found


# --- the tests ---


@pytest.fixture(scope="module")
def verdicts() -> dict[str, object]:
    """Every pipeline checked: Verdict, or what happened to the process."""
    halves = [CHAINS[::2], CHAINS[1::2]]

    def run(names: list[str]) -> dict[str, object]:
        return dict(zip(names, run_isolated(check, [(name,) for name in names], 120.0)))

    with ThreadPoolExecutor(2) as pool:
        return {name: verdict for part in pool.map(run, halves) for name, verdict in part.items()}


@pytest.mark.parametrize("name", CHAINS)
def test_linked_equal_and_no_larger(name: str, verdicts: dict[str, object]) -> None:
    verdict = verdicts[name]
    assert isinstance(verdict, Verdict), verdict
    assert not verdict.problems, "\n".join(verdict.problems)
    for reason in verdict.passed.values():
        if reason not in (None, NOTHING_TO_GAIN):
            pytest.skip(f"{' '.join(stages_of(name))}: {reason}")


def test_tolerance_is_no_excuse() -> None:
    """The loose comparison still sees integers, counters, and floats that are simply wrong."""
    codes = list(build("captured_triangles"))
    scene = make_scene(codes)
    before, after = draw(codes, scene), draw(codes, scene)
    assert not close(before, after)
    words = after.buffers["feedback0"].view(np.uint32)
    number = int(np.flatnonzero(words == 3)[0])  # of a primitive
    for place, value in ((number, 4), (4, 0x3F000000), (number, 0x7FC00000)):
        kept = words[place]
        words[place] = value
        assert close(before, after), (place, value)
        words[place] = kept
    assert not close(before, after)
    ordinary = 4 + int(np.flatnonzero(np.abs(words[4:8].view(np.float32)) > 0.01)[0])
    words[ordinary] ^= 1
    assert not close(before, after) and compare(before, after)
    after.buffers["feedback0 counter"][0] ^= 1
    assert close(before, after)
