"""Plants in longer chains the mistakes a linker can make, and sees the render proof catch each.

As test_miscompiles.py does for vertex + fragment: the untouched chain must draw a good picture (or
capture good bytes) and equal itself; the broken one must differ, and in the place named.
"""

from __future__ import annotations

import pytest

from spvlink.draw import compare, draw, draw_covering, messages, mismatches
from tests.support.chain_breakage import CASES, ONE_SIDED, Case, broken, built
from tests.support.chain_sources import CHAINS

# glslang declares the shading rate with every block of per-primitive built-ins, used or not.
SHADING_RATE = {
    "VUID-VkShaderModuleCreateInfo-pCode-01091",
    "VUID-VkShaderModuleCreateInfo-pCode-04147",
}


@pytest.mark.parametrize("chain", CHAINS)
def test_the_untouched_chain_is_good(chain: str) -> None:
    codes = built(chain)
    scene, original = draw_covering(codes, seed=1)
    assert original.is_good(coverage=0.15, distinct=20)
    assert not compare(original, draw(codes, scene))
    assert not messages(codes, scene).keys() - SHADING_RATE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_is_caught(case: Case) -> None:
    scene, original = draw_covering(built(case.chain), seed=1)
    planted = broken(case)
    assert planted != built(case.chain)
    difference = compare(original, draw(planted, scene))
    assert difference, f"{case.name}: not caught"
    assert case.seen_in in str(difference), str(difference)


@pytest.mark.parametrize("case", ONE_SIDED, ids=lambda case: case.name.replace(" ", "-"))
def test_one_sided_edits_are_caught(case: Case) -> None:
    """A driver may do anything with such a pipeline, so nothing is drawn: the oracle says it."""
    assert not mismatches(built(case.chain))
    assert mismatches(broken(case))
