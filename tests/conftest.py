"""Options of the test run."""

from __future__ import annotations

import pytest

from tests.layer_place import pairs, place

__all__ = ["pairs", "place"]  # fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-cases",
        action="store_true",
        help="write what the passes give now into tests/cases/**/*.case as the expectation",
    )
