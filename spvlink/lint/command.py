"""The command ``spvlink check``; what it promises is written in ``arguments.HELP``."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from spvlink import sources
from spvlink.batches.foz import Archives
from spvlink.batches.manifest import Manifest
from spvlink.batches.pipelines import Pipeline, Unfit
from spvlink.errors import Broken, SpvlinkError
from spvlink.lint import arguments, pipeline
from spvlink.lint.findings import Finding, Report
from spvlink.lint.stage import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spvlink.batches.ends import Source
    from spvlink.lint.arguments import Command
    from spvlink.lint.pipeline import Rules
    from spvlink.lint.stage import Stage

    Key = tuple[object, ...]

FINE, WRONG = 0, 1
_REMEMBERED: Final = 256  # stages: neighbours in a set share theirs


def main(words: list[str], say: Callable[[Iterable[str]], object]) -> int:
    """Do it; ``say`` writes to standard output. Gives the exit status. Raises SpvlinkError if an
    input cannot be read."""
    command = arguments.parse(words)
    report = Report()
    warnings: list[str] = []
    if command.sets:
        with _opened(command.sets) as source:
            for one in _Set(source, command.rules).all():
                report.add(*one)
            warnings = source.warnings
    else:
        report.add(None, _files(command))
    if command.json:
        say((report.to_json(),))
    else:
        say([*(f"warning: {line}\n" for line in warnings), *report.to_text()])
    return WRONG if report.errors else FINE


@contextlib.contextmanager
def _opened(paths: list[str]) -> Iterator[Source]:
    if paths[0].endswith(".jsonl"):
        yield Manifest(paths[0])
        return
    with Archives(paths) as archives:
        yield archives


def _files(command: Command) -> list[Finding]:
    """The findings of the one pipeline that stage files make."""
    stages = []
    for source in sources.read_all(command.files, command.options.target_env):
        try:
            stages.append(_loaded(source.data, source.entry, command))
        except SpvlinkError as error:
            error.file = error.file or source.file
            raise
    return pipeline.findings(stages, command.complete, command.rules)


def _loaded(data: bytes, entry: str | None, command: Command) -> Stage:
    """A stage, with what --spec says of it: for that the stage must be known first."""
    stage = load(data, entry, {})
    spec = {id: v for (name, id), v in command.options.spec.items() if name == stage.name}
    return load(data, entry, spec) if spec else stage


class _Set:
    """The pipelines of a set. Those of the same stages have the same findings: looked at once."""

    def __init__(self, source: Source, rules: Rules) -> None:
        self.source = source
        self.rules = rules
        self.known: dict[Key, list[Finding]] = {}
        self.stages: OrderedDict[Key, Stage | SpvlinkError] = OrderedDict()

    def all(self) -> Iterator[tuple[str, list[Finding]]]:
        """(pipeline, its findings)."""
        for one in self.source.pipelines():
            if isinstance(one, Unfit):
                # what is recorded in a way that is no pipeline of shaders is no error of anybody
                yield one.id, [Finding(None, f"not checked: {one.reason}", warning=not one.bad)]
                continue
            key: Key = (
                one.complete,
                *((shader.module, shader.entry, shader.spec) for shader in one.shaders),
            )
            if key not in self.known:
                self.known[key] = self._findings(one)
            yield one.id, self.known[key]

    def _findings(self, one: Pipeline) -> list[Finding]:
        stages, wrong = [], []
        for shader in one.shaders:
            key = shader.module, shader.entry, shader.spec
            stage = self.stages.pop(key, None)
            if stage is None:
                try:
                    spec = dict(shader.spec)
                    stage = load(self.source.module(shader.module), shader.entry, spec)
                except SpvlinkError as error:
                    stage = error
                except Exception as error:  # costs its pipelines only
                    stage = Broken(f"a defect of spvlink: {type(error).__name__}: {error}")
            self.stages[key] = stage
            if len(self.stages) > _REMEMBERED:
                self.stages.popitem(last=False)
            if isinstance(stage, SpvlinkError):
                wrong.append(Finding(None, f"not checked: {shader.label}: {stage}"))
            elif shader.stage and stage.name != shader.stage:
                what = f"its entry point is of the stage {stage.name}, not {shader.stage}"
                wrong.append(Finding(None, f"not checked: {shader.label}: {what}"))
            else:
                stages.append(stage)
        if wrong:
            return wrong
        try:
            return pipeline.findings(stages, one.complete, self.rules)
        except Exception as error:  # costs this pipeline only
            what = f"a defect of spvlink: {type(error).__name__}: {error}"
            return [Finding(None, f"not checked: {what}")]
