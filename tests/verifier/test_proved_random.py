"""``scripts/fuzz --verify`` proves or executes links, and sees a wrong one."""

from __future__ import annotations

import pytest

from spvlink.options import Options
from tests.support import miscompiles, proved_random
from tests.support.random_harness import Failure
from tests.support.samples import compile_glsl


@pytest.mark.parametrize("kind", proved_random.KINDS)
def test_a_random_link_is_proved_or_executed(kind: str) -> None:
    words = [proved_random.checked(kind, seed) for seed in range(3)]
    assert proved_random.PROVED in words or proved_random.RAN in words, words
    assert all(isinstance(word, str) for word in words), words


def test_a_wrong_link_is_a_failure() -> None:
    case = miscompiles.CASES[0]
    codes = [compile_glsl(text, stage) for text, stage in zip(case.sources, ("vert", "frag"))]
    planted = miscompiles.broken(case, codes)
    assert proved_random.judged(codes, codes, Options()) == proved_random.PROVED
    assert isinstance(proved_random.judged(codes, planted, Options()), Failure)
