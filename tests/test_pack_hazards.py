"""Arrays and narrow values that a careless linker gets wrong: linked, validated and drawn.

Each must be linked (not passed through), be valid, and draw and write the same as before.
"""

from __future__ import annotations

import subprocess

import pytest

import spvlink
from tests.chain_hazards import Chain
from tests.pack_hazards import CHAINS, PACKED
from tests.render import compare, draw, draw_covering
from tests.samples import compile_glsl
from tests.test_pipelines import assert_close


def link(
    codes: list[bytes], chain: Chain, exact: bool, passed_through: str | None = None
) -> spvlink.Linked:
    options = spvlink.Options()
    options.check_each = True
    options.exact = exact
    linked = spvlink.link(
        [spvlink.Source(c, stage) for c, (stage, _) in zip(codes, chain.stages)], options
    )
    assert linked.defect is None, linked.defect
    assert linked.passed_through == passed_through, linked.passed_through
    assert linked.validated == "validated"
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


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: c.name)
def test_chain(chain: Chain) -> None:
    codes = [compile_glsl(text, stage, chain.environment) for stage, text in chain.stages]
    linked = prove(codes, chain)
    for border in linked.interfaces:
        assert border.components[1] <= border.components[0]
        assert border.locations[1] <= border.locations[0]
    exact = link(codes, chain, True)
    assert sum("of a word" in r.why for r in exact.remarks) == PACKED.get(chain.name, 0)
    again = link([s.data for s in exact.stages], chain, True, "nothing to gain")
    assert [s.data for s in again.stages] == [s.data for s in exact.stages]
    actions: dict[str, set[str]] = {}
    for remark in linked.remarks:
        actions.setdefault(remark.name.rpartition(".")[2], set()).add(remark.action)
    for name in chain.gone:
        assert actions[name] <= {"removed", "merged", "propagated"}, name
    for name in chain.moved:
        assert actions[name] & {"moved-backward", "moved-forward"}, name
    for name in chain.kept:
        assert actions[name] <= {"kept", "packed"}, name


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: c.name)
def test_optimized_chain(chain: Chain) -> None:
    """Once more as an optimizer leaves them: phis, selects, no local variables."""
    codes = [
        subprocess.run(
            ["spirv-opt", f"--target-env={chain.environment}", "-O", "-", "-o", "-"],
            input=compile_glsl(text, stage, chain.environment), capture_output=True, check=True,
        ).stdout
        for stage, text in chain.stages
    ]  # fmt: skip
    prove(codes, chain)
