"""Options of the test run."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import cli, driver
from tests.support import judges, once
from tests.support.layer_place import pairs, place

__all__ = ["pairs", "place"]  # fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-cases",
        action="store_true",
        help="write what the passes give now into tests/passes/**/*.case as the expectation",
    )
    parser.addoption(
        "--second-judge",
        action="store_true",
        help="what is linked must also pass a newer spirv-val, if scripts/setup could install it",
    )
    parser.addoption(
        "--compiled-only",
        action="store_true",
        help="leave out test files that import nothing that links (tests/support/once.py)",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.getoption("--compiled-only") and collection_path.match("test_*.py"):
        return once.runs_once(collection_path) or None
    return None


@pytest.fixture(scope="session", autouse=True)
def second_judge(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --second-judge: every link that spirv-val is asked about is looked at once more."""
    if not request.config.getoption("--second-judge") or not judges.NEWER.exists():
        yield
        return
    with judges.watching():
        yield


DEFECTS: list[str] = []  # that links came back with, during one test


@pytest.fixture(scope="session", autouse=True)
def defects_are_noted() -> Iterator[None]:
    link = driver.link

    @functools.wraps(link)
    def noting(*stages: Any, **settings: Any) -> spvlink.Linked:
        linked = link(*stages, **settings)
        if linked.defect is not None:
            DEFECTS.append(linked.defect)
        return linked

    driver.link = cli.link = noting  # spvlink.link asks the driver
    yield
    driver.link = cli.link = link


@pytest.fixture(autouse=True)
def no_defect(request: pytest.FixtureRequest, defects_are_noted: None) -> Iterator[None]:
    """A pipeline that comes back as it was, because something went wrong inside, fails every test
    that does not say that it plants such a defect (``pytest.mark.defect``)."""
    DEFECTS.clear()
    yield
    assert request.node.get_closest_marker("defect") or not DEFECTS, DEFECTS
