"""The table of passes: its order has reasons, and the reasons hold."""

from __future__ import annotations

from spvlink.chain.runner import STAGE_PASSES
from spvlink.chain.table import OPENING, ORDER, PASSES, PLACING, REPACKING, TABLE

ROWS = (*TABLE, *REPACKING)


def misplaced(names: list[str]) -> list[tuple[str, str]]:
    """Pairs of ORDER that a list of names breaks. The second one's first row that does what its
    line in ``spvlink passes`` says counts, and the first one's."""
    return [(a, b) for a, b, _ in ORDER if names.index(a) > names.index(b)]


def test_the_order_holds() -> None:
    names = [row.name for row in TABLE if row.what]
    assert not misplaced(names)
    for first, then, why in ORDER:
        assert why
        swapped = list(names)
        at, to = names.index(first), names.index(then)
        swapped[at], swapped[to] = then, first
        assert misplaced(swapped), (first, then)


def test_every_row_has_its_reason_and_every_switch_its_line() -> None:
    for row in ROWS:
        assert row.why, row.name
        assert set(row.needs) <= PASSES.keys()
    switched = {row.name for row in ROWS} - {"promote"}  # which every link needs
    stages = {row.name for row in STAGE_PASSES if row.what}
    assert switched | stages | PLACING.keys() | OPENING.keys() == PASSES.keys()
    lines = [row for row in ROWS if row.what]
    assert len({row.name for row in lines}) == len(lines), "one line for each name"
    assert list(PASSES) == sorted(PASSES)
