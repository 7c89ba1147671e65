"""Chains that a careless linker gets wrong: each linked, validated and drawn, exactly and not.

Each must be linked (not passed through), be valid, and draw and write the same as before.
"""

from __future__ import annotations

import subprocess

import pytest

from tests.support import chain_hazards, pack_hazards, tess_hazards
from tests.support.chain_hazards import HAZARDS, Chain
from tests.support.chain_proof import compiled, prove

CHAINS = chain_hazards.CHAINS + tess_hazards.CHAINS + pack_hazards.CHAINS
OPTIMIZED = tuple(c for c in CHAINS if c.name != "whole arrays over the vertices")


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: c.name)
def test_chain(chain: Chain) -> None:
    linked = prove(compiled(chain), chain)
    for border in linked.interfaces:
        assert border.components[1] <= border.components[0]
        assert border.locations[1] <= border.locations[0]
    actions: dict[str, set[str]] = {}
    for remark in linked.remarks:
        actions.setdefault(remark.name.rpartition(".")[2], set()).add(remark.action)
    for name in chain.gone:
        assert actions[name] <= {"removed", "merged", "propagated"}, name
    for name in chain.moved:
        assert actions[name] & {"moved-backward", "moved-forward"}, name
    for name in chain.kept:
        assert actions[name] <= {"kept", "packed"}, name


@pytest.mark.parametrize("chain", OPTIMIZED, ids=lambda c: c.name)
def test_optimized_chain(chain: Chain) -> None:
    """Once more as an optimizer leaves them: phis, selects, no local variables."""
    codes = [
        subprocess.run(
            ["spirv-opt", f"--target-env={chain.environment}", "-O", "-", "-o", "-"],
            input=code, capture_output=True, check=True,
        ).stdout
        for code in compiled(chain)
    ]  # fmt: skip
    prove(codes, chain)


def test_each_hazard_has_two_chains() -> None:
    names = {chain.name for chain in CHAINS}
    assert len(names) == len(CHAINS) and len(HAZARDS) == 20
    for what, chains in HAZARDS.items():
        assert len(set(chains)) >= 2 and names.issuperset(chains), what
