"""Chains of GLSL compiled, linked, and drawn before and after."""

from __future__ import annotations

import spvlink
from spvlink.draw import compare, draw, draw_covering, mismatches
from tests.support.chain_hazards import Chain
from tests.support.closeness import assert_close
from tests.support.samples import compile_glsl


def compiled(chain: Chain) -> list[bytes]:
    return [compile_glsl(text, stage, chain.environment) for stage, text in chain.stages]


def link(
    codes: list[bytes], chain: Chain, exact: bool, passed_through: str | None = None
) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.check_each = True
    options.exact = exact
    linked = spvlink.link(
        [spvlink.Source(c, stage) for c, (stage, _) in zip(codes, chain.stages)], options
    )
    assert linked.defect is None, linked.defect
    assert linked.passed_through == passed_through, linked.passed_through
    assert linked.validated == "validated"
    assert set(mismatches([s.data for s in linked.stages])) <= set(mismatches(codes))
    return linked


def prove(codes: list[bytes], chain: Chain) -> spvlink.Linked:
    """Link exactly and by default, and draw all three."""
    scene, before = draw_covering(codes)
    assert before.coverage > 0.1, "the original draws nothing"
    exact = link(codes, chain, True)
    difference = compare(before, draw([s.data for s in exact.stages], scene))
    assert not difference, str(difference)
    linked = link(codes, chain, False)
    assert_close(before, draw([s.data for s in linked.stages], scene))
    return linked
