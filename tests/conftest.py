"""Options of the test run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import judges
from tests.layer_place import pairs, place

__all__ = ["pairs", "place"]  # fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-cases",
        action="store_true",
        help="write what the passes give now into tests/cases/**/*.case as the expectation",
    )
    parser.addoption(
        "--second-judge",
        action="store_true",
        help="what is linked must also pass a newer spirv-val, if scripts/setup could install it",
    )


@pytest.fixture(scope="session", autouse=True)
def second_judge(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --second-judge: every link that spirv-val is asked about is looked at once more."""
    if not request.config.getoption("--second-judge") or not judges.NEWER.exists():
        yield
        return
    with judges.watching():
        yield
