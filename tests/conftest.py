"""Options of the test run."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-cases",
        action="store_true",
        help="write what the passes give now into tests/cases/**/*.case as the expectation",
    )
