"""A case (tests/passes/README.md): its sections, and the passes run on its modules."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Sequence

from spvlink import arguments, state
from spvlink.binary.encode import encode
from spvlink.ir.check import check
from spvlink.ir.core import Module
from spvlink.layout import check_layout
from spvlink.options import Options
from tests.cases.slots import site_of
from tests.support.case_loading import is_lowered, load
from tests.support.short import read
from tests.support.shorten import shorten, tidy


class Case:
    """A case file, cut into its sections."""

    def __init__(self, text: str) -> None:
        self.comment = ""
        self.passes: list[str] = []
        self.options: list[str] = []
        self.slots: list[str] = []
        self.inputs: list[str] = []
        self.expected: list[str | None] = []  # None: unchanged; a single one: all are
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
                self.expected.append(None)
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
        parts += [
            "== unchanged\n" if body is None else f"== expected\n{body}" for body in self.expected
        ]
        parts += ["== explained\n", *(f"{line}\n" for line in self.explained)] * bool(
            self.explained
        )
        return "".join(parts)

    def load(self) -> list[Module]:
        return [load(text) for text in self.inputs]

    def run(self, modules: list[Module]) -> list[str]:
        """Run the passes on the modules, which are verified then; gives what the passes say."""
        said: list[str] = []
        for name in self.passes:
            said += apply(name, modules, options_of(self.options), self.slots)
        for module in modules:
            check(module)
            if not is_lowered(module):
                encode(module)
        return said

    def outcome(self, came: list[str]) -> list[str]:
        """What is expected of each module, if this is how they came."""
        expected = [None] * len(came) if self.expected == [None] else self.expected
        assert len(expected) == len(came), "one expectation for each input"
        return [a if b is None else shorten(read(b)) for a, b in zip(came, expected, strict=True)]

    def expect(self, came: list[str], outcome: list[str]) -> None:
        """Take the outcome as the expectation, if the modules came like this."""
        self.expected = [b if a != b else None for a, b in zip(came, outcome, strict=True)]
        if not any(self.expected):
            self.expected = [None]

    def tidy(self) -> None:
        """Bring every module into the short form."""
        if self.expected:
            came = shortened(self.load())
            self.expect(came, self.outcome(came))
        self.inputs = [tidy(text) for text in self.inputs]


def shortened(modules: list[Module]) -> list[str]:
    return [shorten(module) for module in modules]


def options_of(lines: list[str]) -> Options:
    """Options of the command line, one a line; layout and state stand there themselves. All code is
    to come in its simplest form."""
    words = [word for line in lines for word in line.split(None, 1)]
    documents: dict[str, object] = {}
    for name in ("--layout", "--state"):
        if name in words:
            at = words.index(name)
            documents[name] = json.loads(words[at + 1])
            del words[at : at + 2]
    options = arguments.parse([*words, "-o", "nowhere", "nothing"]).options
    if "--layout" in documents:
        options.layout = check_layout(documents["--layout"])
    if "--state" in documents:
        options.state = state.read(documents["--state"])
    options.clean = True
    return options


def apply(
    name: str, modules: list[Module], options: Options, slots: Sequence[str] = ()
) -> list[str]:
    """Run one pass, named ``module:function``, on the modules as its parameters ask; gives the
    lines of explanation that it returns, if it is one that does."""
    place, _, function_name = name.partition(":")
    run: Callable[..., object] = getattr(importlib.import_module(place), function_name)
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
        lines = run(*modules, options=options)
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
