"""Random sets of modules that pipelines share: one version, two, three; and frozen interfaces.

Promises: every pipeline draws what it drew; with one version there are never more modules than came
in; no module of a set takes more Locations; a set that was linked has nothing more to gain; and of
modules that were linked with one interface, any two that should fit do, also if it was made of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering, mismatches
from spvlink.errors import BadSpirv
from spvlink.pipeline import Linked
from spvlink.sets.joint import Member, link_joint
from spvlink.sets.link_set import LinkedSet, link_versions
from tests.support import random_harness
from tests.support.closeness import assert_close
from tests.support.random_harness import Failure, in_two_processes
from tests.support.random_sets import make

SEEDS = range(12)
SETS, REFUSED = "linked", "linked, and nobody else fits the interface"


def modules(seed: int) -> list[bytes]:
    """Those of the first pipeline."""
    return [source.data for source in make(seed, True)[0][0]]


def check_seed(seed: int) -> str:
    """Raises Failure; else says what was there to see."""
    exact = seed % 2 == 0
    rows = [[source.data for source in sources] for sources, _ in make(seed, exact)]
    for most in (1, 2, 3):
        made = link_versions(make(seed, exact), most)
        new = _new(made)
        for before, after in zip(rows, new):
            _draw(before, after, exact, f"{most} versions")
        if most == 1 and len(_all(new)) > len(_all(rows)):
            raise Failure("more modules than there were")
        if most == 1:
            _again(rows, new, made, exact)
    check_joint(rows, exact)
    return _check_frozen(rows, exact)


def _again(rows: list[list[bytes]], new: list[list[bytes]], made: LinkedSet, exact: bool) -> None:
    """A set that was linked has nothing more to gain."""
    if made.least[0] == 0:
        return  # it was not linked as a set
    options = spvlink.Options(complete=True, exact=exact)
    twice = link_versions([([spvlink.Source(c) for c in row], options) for row in new], 1)
    once, again = made.least[0], twice.least[0]
    if again and again < once:
        raise Failure(f"{again} Locations the second time, {once} before")


def _new(made: LinkedSet) -> list[list[bytes]]:
    found: list[list[bytes]] = []
    for linked in made.pipelines:
        if not isinstance(linked, Linked):
            raise Failure(f"an error: {linked}")
        if linked.defect is not None:
            raise Failure(f"a defect: {linked.defect}")
        if any(i.locations[1] > i.locations[0] for i in linked.interfaces):
            raise Failure("more Locations")
        found.append([stage.data for stage in linked.stages])
    return found


def _all(rows: list[list[bytes]]) -> set[bytes]:
    return {code for row in rows for code in row}


def _draw(before: list[bytes], after: list[bytes], exact: bool, what: str) -> None:
    if before == after:
        return
    if not set(mismatches(after)) <= set(mismatches(before)):
        raise Failure(f"{what}: the stages do not fit")
    scene, old = draw_covering(before)
    picture = draw(after, scene)
    if not exact:
        try:
            assert_close(old, picture)
        except AssertionError as why:
            raise Failure(f"{what}: {why}") from None
    elif difference := compare(old, picture):
        raise Failure(f"{what}: {difference}")


def _check_frozen(rows: list[list[bytes]], exact: bool) -> str:
    """The interface of the first pipeline, and the modules of all others."""
    options = spvlink.Options(exact=exact)
    linked, document = spvlink.link_frozen(rows[0], None, options)
    known = {old: stage.data for old, stage in zip(rows[0], linked.stages)}
    for code in sorted(_all(rows) - known.keys()):
        try:
            alone, _ = spvlink.link_frozen([code], document, options)
        except BadSpirv:
            continue
        known[code] = alone.stages[0].data
    others = 0
    for row in rows:
        if all(code in known for code in row):
            _draw(row, [known[code] for code in row], exact, "an interface")
            others += row != rows[0]
    return SETS if others else REFUSED


def check_joint(rows: list[list[bytes]], exact: bool) -> int:
    """One interface for all of them: each half fits each other one, whoever met. Gives how many
    pairs were drawn."""
    options = spvlink.Options(exact=exact)
    halves: tuple[dict[tuple[bytes, ...], Member], ...] = {}, {}
    for row in rows:
        for side, codes in zip(halves, (row[:-1], row[-1:])):
            side.setdefault(tuple(codes), Member([spvlink.Source(c) for c in codes], options))
    link_joint(*[list(side.values()) for side in halves])
    drawn = 0
    for before, ahead in halves[0].items():
        for other, behind in halves[1].items():
            if ahead.linked is None or behind.linked is None:
                continue
            new = [stage.data for part in (ahead, behind) for stage in part.linked.stages]
            _draw([*before, *other], new, exact, "one interface for all")
            drawn += 1
    return drawn


def check_many(seeds: Iterable[int]) -> Iterator[tuple[int, object]]:
    return random_harness.check_many(check_seed, modules, seeds, timeout=120.0)


@pytest.fixture(scope="module")
def verdicts() -> dict[int, object]:
    """Every seed of SEEDS checked, in two processes."""
    return in_two_processes(check_many, SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold(seed: int, verdicts: dict[int, object]) -> None:
    verdict = verdicts[seed]
    assert isinstance(verdict, str), f"{verdict} (scripts/fuzz --sets --seed {seed} --count 1)"


def test_others_fit(verdicts: dict[int, object]) -> None:
    """Else nothing was seen of interfaces."""
    assert sum(verdict == SETS for verdict in verdicts.values()) >= 3
