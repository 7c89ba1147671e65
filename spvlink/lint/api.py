"""``spvlink.check``: the findings of one pipeline, for Python and for the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spvlink.entry import read_pipeline
from spvlink.errors import SpvlinkError
from spvlink.lint import pipeline
from spvlink.lint.limits import checked_limits
from spvlink.lint.stage import load
from spvlink.pipeline import stage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spvlink.link.check.findings import Finding
    from spvlink.link.check.stage import CheckedStage
    from spvlink.pipeline import Source

    Spec = Mapping[tuple[str, int], str | bytes]


def load_all(sources: Sequence[Source], spec: Spec) -> list[CheckedStage]:
    """The stages of one pipeline, in the order given. Raises SpvlinkError with the file."""
    stages = []
    for source, module in zip(sources, read_pipeline(sources)):
        assert module.entry is not None
        name = stage_of(module.entry.model)
        values = {id: value for (stage, id), value in spec.items() if stage == name}
        try:
            stages.append(load(source.data, source.entry, values, name))
        except SpvlinkError as error:
            error.file = error.file or source.file
            raise
    return stages


def check(
    sources: Sequence[Source],
    complete: bool,
    spec: Spec,
    limits: Mapping[str, int] | None,
    maintenance4: bool,
) -> list[Finding]:
    """``spvlink.check``."""
    rules = pipeline.CheckRules()
    rules.maintenance4 = maintenance4
    if limits is not None:
        rules.limits = checked_limits(dict(limits), "limits")
    stages = load_all(sources, spec)
    files = {stage.name: source.file for source, stage in zip(sources, stages)}
    findings = pipeline.findings(stages, complete, rules)
    for finding in findings:
        finding.file = files.get(finding.about, "")
    return findings
