"""Random pipelines whose links are proved on paper, or executed where there is no proof: no device
is needed. ``scripts/fuzz --verify`` runs them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator

import spvlink
from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL, UNEQUAL, Verdict
from tests.support import generate_chains
from tests.support.random_harness import Failure

# kind: the file of tests that has it
KINDS = {"pairs": "test_random", "motion": "test_motion_random", "chains": "test_random_chains",
         "flow": "test_random_flow"}  # fmt: skip
PROVED, RAN, OPEN, NONE = "proved equal", "executed", "neither", "not linked"


def checker(kind: str) -> Callable[[Iterable[int]], Iterator[tuple[int, object]]]:
    """What ``check_many`` is for a kind: a verdict in words for each seed, or a Failure."""

    def check_many(seeds: Iterable[int]) -> Iterator[tuple[int, object]]:
        for seed in seeds:
            yield seed, checked(kind, seed)

    return check_many


def checked(kind: str, seed: int) -> object:
    """Of one seed; every other one is linked with ``exact``."""
    try:
        codes, options = built(kind, seed)
    except (Failure, ValueError):
        return NONE
    options.validate = False
    options.exact = options.exact or seed % 2 == 1
    try:
        linked = spvlink.link(list(codes), options)
    except spvlink.Refused:
        return NONE
    after = [stage.data for stage in linked.stages]
    return judged(codes, after, options)


def judged(codes: list[bytes], after: list[bytes], options: Options) -> object:
    before, linked = [[Source(data) for data in side] for side in (codes, after)]
    verdict: Verdict = prove(before, linked, options)
    if verdict.outcome == EQUAL:
        return PROVED
    ran = verdict if verdict.outcome == UNEQUAL else execute(before, linked, options)
    if ran.outcome == UNEQUAL:
        return Failure(f"the link is another pipeline: {ran}")
    return RAN if ran.outcome == EQUAL else OPEN


def built(kind: str, seed: int) -> tuple[list[bytes], Options]:
    """The modules of a seed and the options that its tests link it with."""
    tests = importlib.import_module(f"tests.random.{KINDS[kind]}")
    options = Options()
    if kind == "chains":
        options.complete = generate_chains.make(seed)[-1][0] != "frag"
        return list(tests.compile_chain(seed)), options
    if kind == "flow":
        codes = list(tests.modules(seed))
        with contextlib.suppress(Failure, ValueError):
            options = tests.settings(seed, codes)
        return codes, options
    if kind == "motion":
        return list(tests.compile_pair(seed)), tests.settings(seed)
    return list(tests.compile_pair(seed)), options
