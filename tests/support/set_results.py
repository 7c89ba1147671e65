"""Sets of pipelines linked as one batch, and their pictures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import spvlink
from spvlink.draw import compare, draw, draw_covering, mismatches
from spvlink.errors import SpvlinkError
from spvlink.pipeline import Linked, Source
from spvlink.sets.link_set import LinkedSet
from tests.support.closeness import assert_close


def rows_of(
    producers: list[bytes], consumers: list[bytes], options: spvlink.Options | None = None
) -> list[tuple[list[Source], spvlink.Options]]:
    """A pipeline of each producer and each consumer."""
    options = options or spvlink.Options(complete=True)
    return [
        ([Source(v, f"v{a}"), Source(f, f"f{b}")], options)
        for (a, v), (b, f) in itertools.product(enumerate(producers), enumerate(consumers))
    ]


def drawn(
    made: Sequence[Linked | SpvlinkError],
    rows: list[tuple[list[Source], spvlink.Options]],
    exact: bool,
) -> None:
    """Each pipeline draws what it drew, and fits."""
    for linked, (sources, _) in zip(made, rows):
        assert isinstance(linked, Linked) and linked.defect is None
        codes, new = [s.data for s in sources], [s.data for s in linked.stages]
        assert set(mismatches(new)) <= set(mismatches(codes))
        scene, before = draw_covering(codes)
        after = draw(new, scene)
        if exact:
            assert not compare(before, after)
        else:
            assert_close(before, after)


def results(made: LinkedSet) -> list[Linked]:
    found = [linked for linked in made.pipelines if isinstance(linked, Linked)]
    assert len(found) == len(made.pipelines)
    return found
