"""One row of the table of passes, by what is otherwise without it."""

from __future__ import annotations

import spvlink
from spvlink.draw import draw, draw_covering
from tests.support.chain_proof import compiled
from tests.support.chain_text import Chain
from tests.support.closeness import assert_close


def with_and_without(
    chain: Chain, *rows: str, disable: tuple[str, ...] = (), drawn: bool = True
) -> tuple[spvlink.Linked, spvlink.Linked]:
    """A chain linked with all passes but ``disable``, and without these rows as well. Both are
    valid and draw what the original draws, unless that is undefined (not ``drawn``)."""
    codes = compiled(chain)
    if drawn:
        scene, before = draw_covering(codes)
        assert before.coverage > 0.1, "the original draws nothing"
    made = []
    for off in (disable, (*disable, *rows)):
        options = spvlink.Options(clean=True, complete=True)
        options.check_each = True
        options.disable = frozenset(off)
        linked = spvlink.link(codes, options)
        assert linked.defect is None and linked.validated == "validated", linked.defect
        if drawn:
            assert_close(before, draw([s.data for s in linked.stages], scene))
        made.append(linked)
    return made[0], made[1]


def fates(linked: spvlink.Linked, name: str) -> dict[str, str]:
    """Slot -> action, of what is called ``name``."""
    return {remark.slot: remark.action for remark in linked.remarks if remark.name == name}
