"""Runs tests/passes/**/*.case: text in, text out (the format is in tests/passes/README.md)."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from spvlink import arguments
from spvlink.binary.encode import encode
from spvlink.ir.check import check
from spvlink.ir.core import Module
from spvlink.layout import check_layout
from spvlink.options import Options
from spvlink.text import parse, print_module
from tests.cases.slots import site_of
from tests.support.case_loading import is_lowered, load
from tests.support.rooms import full_name

CASES = Path(__file__).parent
FILES = sorted(CASES.rglob("*.case"))


class Case:
    """A case file, cut into its sections."""

    def __init__(self, text: str) -> None:
        self.comment = ""
        self.passes: list[str] = []
        self.options: list[str] = []
        self.slots: list[str] = []
        self.inputs: list[str] = []
        self.expected: list[str] = []
        self.unchanged = False  # in place of the expectation
        self.explained: list[str] = []
        head, *sections = ("\n" + text).split("\n== ")
        self.comment = head.lstrip("\n")
        for section in sections:
            title, _, body = section.partition("\n")
            words = title.split()
            if words[:1] == ["pass"] and len(words) > 1:
                self.passes += words[1:]
            elif words == ["input"]:
                self.inputs.append(body.strip("\n") + "\n")
            elif words == ["expected"]:
                self.expected.append(body.strip("\n") + "\n")
            elif words == ["unchanged"]:
                self.unchanged = True
            elif words == ["options"]:
                self.options += body.strip("\n").split("\n")
            elif words == ["slots"]:
                self.slots += body.strip("\n").split("\n")
            elif words == ["explained"]:
                self.explained += body.strip("\n").split("\n")
            else:
                raise ValueError(f"a case has no section {title!r}")
        if not self.passes or not self.inputs:
            raise ValueError("a case needs a pass and an input")

    def text(self) -> str:
        parts = [self.comment.rstrip("\n") + "\n" if self.comment.strip() else ""]
        parts += [f"== pass {name}\n" for name in self.passes]
        parts += ["== options\n", *(f"{line}\n" for line in self.options)] * bool(self.options)
        parts += ["== slots\n", *(f"{line}\n" for line in self.slots)] * bool(self.slots)
        parts += [f"== input\n{body}" for body in self.inputs]
        parts += [f"== expected\n{body}" for body in self.expected]
        parts += ["== unchanged\n"] * self.unchanged
        parts += ["== explained\n", *(f"{line}\n" for line in self.explained)] * bool(
            self.explained
        )
        return "".join(parts)

    def run(self) -> tuple[list[str], list[str]]:
        """What the passes make of the inputs, as friendly text, verified; and what they say."""
        modules = [load(text) for text in self.inputs]
        said: list[str] = []
        for name in self.passes:
            said += apply(name, modules, options_of(self.options), self.slots)
        found = []
        for module in modules:
            check(module)
            if not is_lowered(module):
                encode(module)
            found.append(print_module(module, friendly=True))
        return found, said


def options_of(lines: list[str]) -> Options:
    """Options of the command line, one a line; the layout stands there itself. All code is to come
    in its simplest form."""
    words = [word for line in lines for word in line.split(None, 1)]
    layout = None
    if "--layout" in words:
        at = words.index("--layout")
        layout = check_layout(json.loads(words[at + 1]))
        del words[at : at + 2]
    options = arguments.parse([*words, "-o", "nowhere", "nothing"]).options
    options.layout = layout
    options.clean = True
    return options


def apply(
    name: str, modules: list[Module], options: Options, slots: Sequence[str] = ()
) -> list[str]:
    """Run one pass, named ``module:function``, on the modules as its parameters ask; gives the
    lines of explanation that it returns, if it is one that does."""
    place, _, function_name = name.partition(":")
    run: Callable[..., object] = getattr(importlib.import_module(full_name(place)), function_name)
    parameters = inspect.signature(run).parameters.values()
    needed = [p for p in parameters if p.default is inspect.Parameter.empty]
    if needed[0].name == "site":
        lines = run(site_of(modules, slots, options))
        assert isinstance(lines, list)
        return lines
    if needed[-1].name == "slots":
        for module in modules:
            run(module, slots)
        return []
    if needed[-1].name == "options":
        lines = run(*modules, options)
        assert isinstance(lines, list)
        return lines
    if needed[1:2] and needed[1].name == "function":
        for module in modules:
            for function in module.functions:
                if function.blocks:
                    run(module, function)
    elif len(needed) == 1:
        for module in modules:
            run(module)
    else:
        assert len(needed) == len(modules), f"{name} wants {len(needed)} modules"
        run(*modules)
    return []


def as_it_came(case: Case) -> list[str]:
    return [print_module(load(text), friendly=True) for text in case.inputs]


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(CASES)) for p in FILES])
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    case = Case(path.read_text())
    found, said = case.run()
    if request.config.getoption("--rewrite-cases"):
        case.unchanged = case.unchanged and found == as_it_came(case)
        case.expected, case.explained = [] if case.unchanged else found, said
        path.write_text(case.text())
        return
    assert said == case.explained
    expected = as_it_came(case) if case.unchanged else case.expected
    assert "\n".join(found) == "\n".join(expected)
    for text in case.expected:
        assert print_module(parse(text), friendly=True) == text


def test_there_are_cases() -> None:
    assert FILES


# The runner itself.

TINY = """\
; nothing is done
== pass spvlink.passes.dce:dce
== input
OpCapability Shader
OpCapability Linkage
OpMemoryModel Logical GLSL450
== expected
OpCapability Shader
OpCapability Linkage
OpMemoryModel Logical GLSL450
"""


def test_sections_are_read_and_written() -> None:
    case = Case(TINY)
    assert case.text() == TINY
    assert case.passes == ["spvlink.passes.dce:dce"]
    assert case.run() == (case.expected, [])


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
