"""Every link of shaders/ is proved on paper, or executed where there is no proof."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL, UNEQUAL
from tests.support import chains

# Shares that were measured (scripts/prove-shaders): 127 of 131 by default, all with --exact. A
# slower machine may run out of time, so that some proofs are given more of it here.
FLOORS = {False: 0.95, True: 0.99}
SECONDS = 20.0


@pytest.mark.parametrize("exact", [False, True], ids=["default", "exact"])
def test_all_links_of_shaders_are_proved_or_executed(exact: bool) -> None:
    options = Options(exact=exact)
    executed, left = 0, []
    for name in chains.NAMES:
        codes = chains.build(name)
        after = [s.data for s in spvlink.link(list(codes), exact=exact, validate=False).stages]
        sides = [[Source(data) for data in side] for side in (codes, after)]
        verdict = prove(sides[0], sides[1], options, SECONDS)
        assert verdict.outcome != UNEQUAL, f"{name}: {verdict}"
        if verdict.outcome == EQUAL:
            continue
        ran = execute(sides[0], sides[1], options)
        assert ran.outcome != UNEQUAL, f"{name}: {ran}"
        if ran.outcome == EQUAL:
            executed += 1
        else:
            left.append(name)
    count = len(chains.NAMES)
    proved = count - executed - len(left)
    print(f"proved equal: {proved} of {count}, executed {executed}")
    assert proved >= FLOORS[exact] * count
    assert not left
