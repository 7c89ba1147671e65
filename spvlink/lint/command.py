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
from spvlink.lint.diet import Diet
from spvlink.lint.potential import Potential
from spvlink.lint.report import Baseline, CheckReport
from spvlink.lint.sharing import Sharing
from spvlink.lint.stage import load
from spvlink.pipeline import Source as Module
from spvlink.pipeline import stage_of
from spvlink.varying_bytes import sizes_of, sum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spvlink.batches.ends import PipelineSource
    from spvlink.link.check.stage import CheckedStage
    from spvlink.lint.arguments import CheckCommand
    from spvlink.lint.pipeline import CheckRules
    from spvlink.lint.potential import Unread
    from spvlink.pipeline import Sizes

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
    if command.diet:
        report.diet = Diet()
    if command.sets:
        with _opened(command) as source:
            if isinstance(source, Folder):
                print_lines(source.short_summary())
            # a manifest names the files of its stages
            folder = None if isinstance(source, Archives) else source.folder
            given = _Set(source, command.sets[0], folder, command.rules, report)
            for one in given.all():
                report.add(*one)
            given.link()
            _tell_damage(source.warnings)
    else:
        report.add(None, *_files(command, report))
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
    command: CheckCommand, report: CheckReport
) -> tuple[list[Finding], dict[str, str], Sizes]:
    """The findings of the one pipeline that stage files make, the file of each stage, and the bytes
    that its stages hand on."""
    given = sources.read_all(command.files, command.options.target_env)
    stages = load_all(given, command.options.spec)
    labelled: list[tuple[Key, str, CheckedStage]] = [
        ((at,), source.file, stage) for at, (source, stage) in enumerate(zip(given, stages))
    ]
    seen = _looked_at(labelled, command.complete, command.rules, report.potential)
    if report.potential is not None:
        report.potential.note(None, seen.unread)
    if report.diet is not None:
        report.diet.add_files(given, command.options, command.complete)
    paths = ["" if one.path == "-" else one.path for one in command.files]
    return seen.findings, {s.name: path for path, s in zip(paths, stages)}, seen.sizes


class Looked:
    """What is known of a pipeline. ``names``: its stages in the order given; ``unread``: if it is
    asked for; ``sizes``: bytes that its stages hand on."""

    __slots__ = ("findings", "names", "sizes", "unread")

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        self.unread: list[Unread] = []
        self.names: list[str] = []
        self.sizes: Sizes = (0, 0, 0)


def _looked_at(
    labelled: list[tuple[Key, str, CheckedStage]],
    complete: bool,
    rules: CheckRules,
    potential: Potential | None,
) -> Looked:
    """What is wrong with one pipeline, and what is unread in it if that is asked for."""
    stages = [stage for _, _, stage in labelled]
    seen = Looked(pipeline.findings(stages, complete, rules))
    seen.names = [stage.name for stage in stages]
    if pipeline.odd(stages):
        return seen
    seen.sizes = sum_of(sizes_of(stage) for stage in stages)
    if potential is not None:
        labelled.sort(key=lambda one: pipeline.ORDER.index(one[2].name))
        seen.unread = potential.unread(labelled, complete)
    return seen


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
        report: CheckReport,
    ) -> None:
        self.source = source
        self.file = file
        self.folder = folder
        self.rules = rules
        self.potential = report.potential
        self.diet = report.diet
        self.sharing = Sharing(source) if self.potential is not None else None
        self.known: dict[Key, Looked] = {}
        self.stages: OrderedDict[Key, CheckedStage | SpvlinkError] = OrderedDict()

    def all(self) -> Iterator[tuple[str, list[Finding], dict[str, str], Sizes]]:
        """(pipeline, its findings, the file of each stage, bytes that its stages hand on)."""
        for one in self.source.pipelines():
            if isinstance(one, IneligiblePipeline):
                # what is recorded in a way that is no pipeline of shaders is no error of anybody
                unchecked = Finding(None, f"not checked: {one.reason}", warning=not one.bad)
                if self.diet is not None:
                    self.diet.skip()
                yield one.id, [unchecked], {"": self.file}, (0, 0, 0)
                continue
            assert isinstance(one, BatchPipeline)  # nothing is remembered of a check
            key: Key = (
                one.complete,
                *(_key(shader) for shader in one.shaders),
            )
            if key not in self.known:
                self.known[key] = self._looked_at(one)
            seen = self.known[key]
            if self.potential is not None and self.sharing is not None:
                self.potential.note(one.id, seen.unread)
                self.sharing.add(one)
            if self.diet is not None:
                self.diet.add(one, self.source)
            files = []
            if self.folder is not None:
                files = [os.path.join(self.folder, shader.label) for shader in one.shaders]
            named = {"": self.file, **dict(zip(seen.names, files))}
            yield one.id, seen.findings, named, seen.sizes

    def link(self) -> None:
        """Find out what sharing costs, if that is asked for."""
        if self.potential is not None and self.sharing is not None:
            self.potential.families = list(self.sharing.families())

    def _looked_at(self, one: BatchPipeline) -> Looked:
        labelled, wrong = self._labelled(one.shaders)
        if wrong:
            with contextlib.suppress(Exception):  # then what was said stands
                labelled, wrong = self._labelled(self._told_apart(one.shaders))
        if wrong:
            return Looked(wrong)
        try:
            return _looked_at(labelled, one.complete, self.rules, self.potential)
        except Exception as error:  # costs this pipeline only
            what = f"a defect of spvlink: {type(error).__name__}: {error}"
            return Looked([Finding(None, f"not checked: {what}")])

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
