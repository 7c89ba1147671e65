"""The interpreter convicts the mistakes that the render proof is shown, without any device."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.verdict import EQUAL, UNEQUAL, Verdict
from tests.render.glsl import compile_glsl
from tests.support import chain_breakage, miscompiles

# Only rounding differs: the default may do so.
ROUNDING = {"wrong constant, one ULP", "reassociated sum"}
CHAINS = [*chain_breakage.CASES, *chain_breakage.ONE_SIDED]


def judged(before: list[bytes], after: list[bytes], exact: bool) -> Verdict:
    options = spvlink.Options(exact=exact)
    return execute([Source(c) for c in before], [Source(c) for c in after], options)


@pytest.mark.parametrize("case", miscompiles.CASES, ids=lambda c: c.name.replace(" ", "-"))
def test_a_planted_mistake_of_a_pair_is_convicted(case: miscompiles.Case) -> None:
    codes = [compile_glsl("vert", case.sources[0]), compile_glsl("frag", case.sources[1])]
    planted = miscompiles.broken(case, codes)
    for exact in (True, False):
        assert judged(codes, codes, exact).outcome == EQUAL
        expected = EQUAL if not exact and case.name in ROUNDING else UNEQUAL
        assert judged(codes, planted, exact).outcome == expected


@pytest.mark.parametrize("case", CHAINS, ids=lambda c: c.name.replace(" ", "-"))
def test_a_planted_mistake_of_a_chain_is_convicted(case: chain_breakage.Case) -> None:
    codes, planted = chain_breakage.built(case.chain), chain_breakage.broken(case)
    for exact in (True, False):
        assert judged(codes, codes, exact).outcome == EQUAL
        assert judged(codes, planted, exact).outcome == UNEQUAL
