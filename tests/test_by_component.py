"""By component through everything (component_chains.py): of matrices, structs, arrays and vectors
only those components cross, at every border, that the consumer needs; what is used whole stays so.
Valid, drawn, drawn with other inputs, exact to the bit, and a second link finds nothing.
"""

from __future__ import annotations

import pytest

from tests.component_chains import BORDERS, CASES, Case, chain
from tests.render import compare, draw, draw_covering
from tests.test_halves import build, link
from tests.test_pipelines import assert_close

MOTION = frozenset(("backward", "forward", "weighted"))
EVERYWHERE = 5  # so many cases are tried at every border, each of the others at three

CELLS = [
    (case, border)
    for number, case in enumerate(CASES)
    for at, border in enumerate(BORDERS)
    if number < EVERYWHERE or (at - number) % len(BORDERS) < 3
]


@pytest.mark.parametrize(
    ("case", "border"), CELLS, ids=lambda v: v.replace(" ", "-") if isinstance(v, str) else v.name
)
def test_case(case: Case, border: str) -> None:
    made = chain(border, case)
    codes = build(made.stages, made.environment)
    still = link(codes, disabled=MOTION)
    ends = border.split()[0]
    found = next(i for i in still.interfaces if f"{i.producer}->{i.consumer}" == ends)
    assert found.components[1] == case.components
    exact = link(codes, exact=True)
    default = link(codes)
    for seed in (0, 5):
        scene, before = draw_covering(codes, seed)
        assert before.is_good(), "the original proves nothing"
        for linked in (still, exact):
            difference = compare(before, draw([s.data for s in linked.stages], scene))
            assert not difference, str(difference)
        assert_close(before, draw([s.data for s in default.stages], scene))
    for linked in (exact, default):
        again = link([s.data for s in linked.stages], exact=linked is exact)
        assert again.passed_through == "nothing to gain"
