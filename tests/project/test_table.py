"""The table of passes: names are unique, the order has reasons, and the reasons hold."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from spvlink.chain.runner import STAGE_PASSES, StagePass
from spvlink.chain.state_rows import STATE, StatePass
from spvlink.chain.table import (
    GROUPS,
    LAST,
    OPENING,
    ORDER,
    PASSES,
    PLACING,
    RAISING,
    REPACKING,
    TABLE,
    Pass,
)
from spvlink.link.border.link import CONSUMER, PRODUCER

ROWS = (*TABLE, *REPACKING, *LAST)
NAMES = [
    *(row.name for row in (*ROWS, *STATE, *STAGE_PASSES)), *OPENING, *PLACING, *RAISING,
]  # fmt: skip
PACKAGE = Path(__file__).resolve().parents[2] / "spvlink"
LINE = 60  # characters of a line in ``spvlink passes``


def misplaced(names: list[str]) -> list[tuple[str, str]]:
    """Pairs of ORDER that a list of names breaks."""
    return [(a, b) for a, b, _ in ORDER if names.index(a) > names.index(b)]


def test_the_order_holds() -> None:
    names = [row.name for row in TABLE]
    assert not misplaced(names)
    for first, then, why in ORDER:
        assert why
        swapped = list(names)
        at, to = names.index(first), names.index(then)
        swapped[at], swapped[to] = then, first
        assert misplaced(swapped), (first, then)


def test_names_are_unique_and_every_switch_has_its_line() -> None:
    names = [row.name for row in (*ROWS, *STATE)]
    assert len(names) == len(set(names))
    for row in ROWS:
        assert row.why and row.what, row.name
        assert set(row.needs) <= GROUPS.keys()
        assert (row.name in PASSES) != row.fixed_on
    for fact in STATE:
        assert fact.why and fact.what and fact.stages and fact.name in PASSES, fact.name
    switched = {row.group for row in ROWS if not row.fixed_on} | {row.group for row in STATE}
    stages = {row.name for row in STAGE_PASSES if row.what}
    assert switched | stages | PLACING.keys() | OPENING.keys() == GROUPS.keys()
    assert {name.partition(".")[0] for name in PASSES} == GROUPS.keys()
    assert RAISING.keys() <= PASSES.keys()
    assert list(PASSES) == sorted(PASSES) and list(GROUPS) == sorted(GROUPS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_takes_shared_modules_or_says_why_not(row: Pass) -> None:
    assert bool(row.many) != bool(row.single)
    assert set(row.many) <= {CONSUMER, PRODUCER}


def test_lines_are_short_and_imperative() -> None:
    for name, line in PASSES.items():
        verb = line.partition(" ")[0]
        assert len(line) < LINE and verb.istitle() and not line.endswith("."), name
        assert not verb.endswith(("s", "ing", "ed")), f"{name}: {line}"


@pytest.mark.parametrize("row", (*ROWS, *STATE, *STAGE_PASSES), ids=lambda row: row.name)
def test_the_function_of_a_row_has_its_name(row: Pass | StatePass | StagePass) -> None:
    assert row.run.__name__ == row.name.replace(".", "_")


@pytest.mark.parametrize("row", NAMES)
def test_a_row_is_called_as_its_module_and_its_function(row: str) -> None:
    name = row.replace(".", "_")
    (path,) = (p for p in PACKAGE.rglob(f"{name}.py") if "verifier" not in p.parts)
    functions = [n.name for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)]
    assert name in functions, path


def test_no_pass_is_called_run() -> None:
    for room in ("link", "passes"):
        for path in (PACKAGE / room).rglob("*.py"):
            body = ast.parse(path.read_text()).body
            assert "run" not in [n.name for n in body if isinstance(n, ast.FunctionDef)], path


def test_class_names_are_unique() -> None:
    """Of the whole package: who reads a name knows what it is."""
    seen: dict[str, Path] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                assert node.name not in seen, (path, seen[node.name])
                seen[node.name] = path
