"""Where tests stand: a folder for each pass, helpers apart, no test file that imports another."""

from __future__ import annotations

import ast
import contextlib
import runpy
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from spvlink.chain.runner import STAGE_PASSES
from spvlink.chain.state_rows import STATE
from spvlink.chain.table import LAST, OPENING, PLACING, RAISING, REPACKING, TABLE
from tests.support.once import NOT_COMPILED, runs_once

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
FILES = sorted(TESTS.rglob("test_*.py"))
NAMES = [row.name for row in (*TABLE, *REPACKING, *LAST, *STAGE_PASSES, *STATE)]
ROWS = [name.replace(".", "_") for name in (*NAMES, *OPENING, *PLACING, *RAISING)]


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_a_folder_with_a_case_and_a_test_of_its_name(row: str) -> None:
    folder = TESTS / "passes" / row
    assert list(folder.glob("*.case")), f"no case in {folder.relative_to(ROOT)}"
    test = ast.parse((folder / f"test_{row}.py").read_text())
    names = [node.name for node in test.body if isinstance(node, ast.FunctionDef)]
    assert [name for name in names if name.startswith("test_")]


def pass_names(path: Path) -> list[str]:
    """The ``module:function`` of each ``== pass`` of a case."""
    lines = path.read_text().split("\n")
    return [name for line in lines if line.startswith("== pass ") for name in line.split()[2:]]


def exists(name: str) -> bool:
    """Whether a module of the project has a function of this name."""
    place, _, function = name.partition(":")
    file = ROOT / f"{place.replace('.', '/')}.py"
    if not file.is_file():
        return False
    body = ast.parse(file.read_text()).body
    return function in [node.name for node in body if isinstance(node, ast.FunctionDef)]


def test_cases_name_functions_that_exist() -> None:
    assert not exists("spvlink.passes.dce:dce"), "the wing is missing"
    assert not exists("spvlink.passes.cleaning.dce:dead")
    names = {(name, path) for path in TESTS.rglob("*.case") for name in pass_names(path)}
    assert names and not [item for item in sorted(names) if not exists(item[0])]


def test_no_file_imports_a_test_file() -> None:
    """Neither do helpers: what two test files need stands in tests/support."""
    for path in sorted(TESTS.rglob("*.py")):
        tests = [name for name in imported(path) if ".test_" in f".{name}" and "tests." in name]
        assert not tests, (path, tests)


def test_test_files_and_cases_stand_in_folders() -> None:
    assert not list(TESTS.glob("test_*")), "a test file belongs into a folder"
    assert not [p for p in TESTS.rglob("*.case") if p.parent.parent != TESTS / "passes"]
    assert not list((TESTS / "support").rglob("test_*"))


def test_names_of_test_files_are_unique() -> None:
    """scripts/mutants keeps what it knows of a file under its name."""
    assert not [name for name, n in Counter(path.name for path in FILES).items() if n > 1]


def test_what_runs_once_imports_nothing_compiled() -> None:
    once = {path.name for path in FILES if runs_once(path)}
    assert {"test_setup.py", "test_layer_log.py", "test_chain_miscompiles.py"} <= once
    # the command, a compiled module, a helper that imports one, the module of the layer that links
    twice = {"test_habits.py", "test_transfer.py", "test_chain_hazards.py", "test_layer_state.py"}
    assert twice <= {path.name for path in FILES} and not twice & once
    with patch("setuptools.setup"), contextlib.chdir(ROOT):
        compiled: list[str] = runpy.run_path("setup.py")["compiled"]()
    assert "spvlink/driver.py" in compiled
    assert not [path for path in compiled if path.split("/")[1] in NOT_COMPILED]


def test_each_room_has_tests_that_run_on_the_compiled_package() -> None:
    twice = {path.relative_to(TESTS).parts[0] for path in FILES if not runs_once(path)}
    assert twice >= {
        "archive", "batches", "command", "corpus", "facts", "ir", "layer", "lint", "passes",
        "pipelines", "project", "random", "sets",
    }  # fmt: skip
