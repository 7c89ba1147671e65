"""Runs tests/passes/**/*.case: text in, text out (the format is in tests/passes/README.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.canonical import canonical
from tests.support.case import Case, options_of, shortened
from tests.support.short import read
from tests.support.shorten import shorten

CASES = Path(__file__).parent
FILES = sorted(CASES.rglob("*.case"))


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(CASES)) for p in FILES])
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    case = Case(path.read_text())
    modules = case.load()
    came = shortened(modules)
    said = case.run(modules)
    found = shortened(modules)
    if request.config.getoption("--rewrite-cases"):
        case.expect(came, found)
        case.explained = said
        path.write_text(case.text())
        return
    assert said == case.explained
    assert "\n".join(found) == "\n".join(case.outcome(came))
    for text, shortest in zip(case.inputs, came, strict=True):
        lines = [line for line in text.splitlines() if not line.startswith("; Version")]
        assert len(lines) <= shortest.count("\n"), "scripts/cases --tidy makes it shorter"
    for text in filter(None, case.expected):
        assert text in found, "scripts/cases --tidy brings it into the short form"
    for module, text in zip(modules, found, strict=True):
        again = read(text)
        assert shorten(again) == text
        again.spirv_version = module.spirv_version  # an expectation has no header
        assert canonical(again) == canonical(module), "the short form lost something"


def test_there_are_cases() -> None:
    assert FILES


# The runner itself.

TINY = """\
; nothing is done
== pass spvlink.passes.cleaning.dce:dce
== input
%x = OpVariable %ptr_Private_float Private
== expected
%x = OpVariable %ptr_Private_float Private
"""


def test_sections_are_read_and_written() -> None:
    case = Case(TINY)
    assert case.text() == TINY
    assert case.passes == ["spvlink.passes.cleaning.dce:dce"]
    modules = case.load()
    assert case.run(modules) == []
    assert shortened(modules) == case.expected == case.outcome([""])


def test_options_are_those_of_the_command_line() -> None:
    text = TINY.replace(
        "== input",
        """== options
--exact
--spec vert:3=1.5
--layout {"setLayouts": [{"bindings": []}]}
== input""",
    )
    case = Case(text)
    assert case.text() == text
    options = options_of(case.options)
    assert options.exact and options.spec == {("vert", 3): "1.5"}
    assert options.layout == {"setLayouts": [{"bindings": []}]}


@pytest.mark.parametrize(
    "text", ["", "== input\n", "== pass x:y\n", "== pass\n== input\n", "== output\n"]
)
def test_bad_case_files(text: str) -> None:
    with pytest.raises(ValueError, match="a case"):
        Case(text)
