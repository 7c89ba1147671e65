"""The command ``spvlink check``; what it promises is written in ``arguments.HELP``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from spvlink import sources
from spvlink.batches.command import print_lines
from spvlink.batches.folder import Folder
from spvlink.batches.foz import Archives
from spvlink.batches.manifest import Manifest
from spvlink.batches.pipelines import BatchPipeline, IneligiblePipeline, Shader
from spvlink.batches.plan import LISTED
from spvlink.entry import read_pipeline
from spvlink.errors import Broken, SpvlinkError
from spvlink.link.check.findings import Finding
from spvlink.lint import arguments, formats, pipeline
from spvlink.lint.api import load_all
from spvlink.lint.potential import Potential
from spvlink.lint.report import Baseline, CheckReport
from spvlink.lint.sharing import Sharing
from spvlink.lint.stage import load
from spvlink.pipeline import Source as Module
from spvlink.pipeline import stage_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spvlink.batches.ends import PipelineSource
    from spvlink.link.check.stage import CheckedStage
    from spvlink.lint.arguments import CheckCommand
    from spvlink.lint.pipeline import CheckRules
    from spvlink.lint.potential import Unread

    Key = tuple[object, ...]

FINE, WRONG = 0, 1
_REMEMBERED: Final = 256  # stages: neighbours in a set share theirs


def main(words: list[str], version: str, say: Callable[[Iterable[str]], object]) -> int:
    """Do it; ``say`` writes to standard output. Gives the exit status. Raises SpvlinkError if an
    input cannot be read."""
    command = arguments.parse(words)
    report = CheckReport(Baseline(command.baseline) if command.baseline is not None else None)
    if command.potential:
        report.potential = Potential()
    if command.sets:
        with _opened(command) as source:
            if isinstance(source, Folder):
                print_lines(source.short_summary())
            # a manifest names the files of its stages
            folder = None if isinstance(source, Archives) else source.folder
            given = _Set(source, command.sets[0], folder, command.rules, report.potential)
            for one in given.all():
                report.add(*one)
            given.link()
            _tell_damage(source.warnings)
    else:
        report.add(None, *_files(command, report.potential))
    _tell(command.format, report, version, say)
    return WRONG if report.errors else FINE


def _tell(
    format: str, report: CheckReport, version: str, say: Callable[[Iterable[str]], object]
) -> None:
    if format == "json":
        say((report.to_json(),))
    elif format == "sarif":
        say((formats.to_sarif(report, version),))
    else:
        lines = formats.to_github(report) if format == "github" else report.to_text()
        say([_plain(line) for line in lines])


def _tell_damage(warnings: list[str]) -> None:
    """What is damaged in archives beyond pipelines, on standard error: it is in no pipeline."""
    lines = [f"spvlink: warning: {line}" for line in warnings[:LISTED]]
    if len(warnings) > LISTED:
        lines.append(f"spvlink: warning: {len(warnings) - LISTED} more")
    if lines:
        with contextlib.suppress(OSError):
            print("\n".join(lines), file=sys.stderr, flush=True)


def _plain(line: str) -> str:
    """A line that is one on every terminal: names in modules and manifests may be anything."""
    end = "\n" * line.endswith("\n")
    text = "".join(c if c.isprintable() else "?" for c in line.removesuffix("\n")) + end
    encoding = sys.stdout.encoding or "ascii"
    return text.encode(encoding, "replace").decode(encoding)


@contextlib.contextmanager
def _opened(command: CheckCommand) -> Iterator[Manifest | Archives]:
    path = command.sets[0]
    if command.folder or path.endswith(".jsonl"):
        yield Folder(path, misfits=True) if command.folder else Manifest(path)
        return
    with Archives(command.sets) as archives:
        yield archives


def _files(
    command: CheckCommand, potential: Potential | None
) -> tuple[list[Finding], dict[str, str]]:
    """The findings of the one pipeline that stage files make, and the file of each stage."""
    given = sources.read_all(command.files, command.options.target_env)
    stages = load_all(given, command.options.spec)
    labelled: list[tuple[Key, str, CheckedStage]] = [
        ((at,), source.file, stage) for at, (source, stage) in enumerate(zip(given, stages))
    ]
    findings, unread = _findings(labelled, command.complete, command.rules, potential)
    if potential is not None:
        potential.note(None, unread)
    paths = ["" if one.path == "-" else one.path for one in command.files]
    return findings, {stage.name: path for path, stage in zip(paths, stages)}


def _findings(
    labelled: list[tuple[Key, str, CheckedStage]],
    complete: bool,
    rules: CheckRules,
    potential: Potential | None,
) -> tuple[list[Finding], list[Unread]]:
    """What is wrong with one pipeline, and what is unread in it if that is asked for."""
    findings = pipeline.findings([stage for _, _, stage in labelled], complete, rules)
    if potential is None or pipeline.odd([stage for _, _, stage in labelled]):
        return findings, []
    labelled.sort(key=lambda one: pipeline.ORDER.index(one[2].name))
    return findings, potential.unread(labelled, complete)


def _key(shader: Shader) -> Key:
    """By what a stage is known."""
    return shader.module, shader.entry, shader.stage, shader.spec


class _Set:
    """The pipelines of a set. Those of the same stages have the same findings: looked at once."""

    def __init__(
        self,
        source: PipelineSource,
        file: str,
        folder: str | None,  # in which labels are names of files
        rules: CheckRules,
        potential: Potential | None,
    ) -> None:
        self.source = source
        self.file = file
        self.folder = folder
        self.rules = rules
        self.potential = potential
        self.sharing = Sharing(source) if potential is not None else None
        self.known: dict[Key, tuple[list[Finding], list[Unread], list[str]]] = {}
        self.stages: OrderedDict[Key, CheckedStage | SpvlinkError] = OrderedDict()

    def all(self) -> Iterator[tuple[str, list[Finding], dict[str, str]]]:
        """(pipeline, its findings, the file of each stage)."""
        for one in self.source.pipelines():
            if isinstance(one, IneligiblePipeline):
                # what is recorded in a way that is no pipeline of shaders is no error of anybody
                unchecked = Finding(None, f"not checked: {one.reason}", warning=not one.bad)
                yield one.id, [unchecked], {"": self.file}
                continue
            key: Key = (
                one.complete,
                *(_key(shader) for shader in one.shaders),
            )
            if key not in self.known:
                self.known[key] = self._looked_at(one)
            findings, unread, names = self.known[key]
            if self.potential is not None and self.sharing is not None:
                self.potential.note(one.id, unread)
                self.sharing.add(one)
            files = []
            if self.folder is not None:
                files = [os.path.join(self.folder, shader.label) for shader in one.shaders]
            yield one.id, findings, {"": self.file, **dict(zip(names, files))}

    def link(self) -> None:
        """Find out what sharing costs, if that is asked for."""
        if self.potential is not None and self.sharing is not None:
            self.potential.families = list(self.sharing.families())

    def _looked_at(self, one: BatchPipeline) -> tuple[list[Finding], list[Unread], list[str]]:
        """The findings, what is unread if that is asked for, and the stages in the order given."""
        labelled, wrong = self._labelled(one.shaders)
        if wrong:
            with contextlib.suppress(Exception):  # then what was said stands
                labelled, wrong = self._labelled(self._told_apart(one.shaders))
        if wrong:
            return wrong, [], []
        names = [stage.name for _, _, stage in labelled]
        try:
            return *_findings(labelled, one.complete, self.rules, self.potential), names
        except Exception as error:  # costs this pipeline only
            what = f"a defect of spvlink: {type(error).__name__}: {error}"
            return [Finding(None, f"not checked: {what}")], [], []

    def _labelled(
        self, shaders: list[Shader]
    ) -> tuple[list[tuple[Key, str, CheckedStage]], list[Finding]]:
        """The stages, and what is wrong with those that cannot be looked at."""
        labelled: list[tuple[Key, str, CheckedStage]] = []
        wrong = []
        for shader in shaders:
            stage = self._stage(shader)
            if isinstance(stage, SpvlinkError):
                wrong.append(Finding(None, f"not checked: {shader.label}: {stage}"))
            else:
                labelled.append((_key(shader), shader.label, stage))
        return labelled, wrong

    def _told_apart(self, shaders: list[Shader]) -> list[Shader]:
        """The same with their stages: where several entry points have one name, the other modules
        say which is meant. Raises SpvlinkError."""
        given = [Module(self.source.module(s.module), s.label, s.entry, s.stage) for s in shaders]
        apart = []
        for shader, module in zip(shaders, read_pipeline(given)):
            assert module.entry is not None
            name = stage_of(module.entry.model)
            apart.append(Shader(shader.module, shader.label, shader.entry, name, shader.spec))
        return apart

    def _stage(self, shader: Shader) -> CheckedStage | SpvlinkError:
        """A stage of the set, or why it cannot be looked at."""
        key = _key(shader)
        stage = self.stages.pop(key, None)
        if stage is None:
            try:
                data = self.source.module(shader.module)
                stage = load(data, shader.entry, dict(shader.spec), shader.stage)
            except SpvlinkError as error:
                stage = error
            except Exception as error:  # costs its pipelines only
                stage = Broken(f"a defect of spvlink: {type(error).__name__}: {error}")
        self.stages[key] = stage
        if len(self.stages) > _REMEMBERED:
            self.stages.popitem(last=False)
        return stage
