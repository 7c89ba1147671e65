"""One pipeline: all that is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spvlink.driver import CREATION, odd_stage
from spvlink.link.check import builtin_rules
from spvlink.link.check.border import InterfaceRules, described, unread_of
from spvlink.link.check.findings import UNREAD, Finding
from spvlink.link.check.interface import shown_places
from spvlink.link.check.stage import own_findings
from spvlink.lint import limits
from spvlink.pipeline import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.link.check.stage import CheckedStage

ORDER: Final = list(STAGES.values())


class CheckRules:
    """What holds for all pipelines of a run. ``limits``: of the device, by Vulkan's names.
    ``maintenance4``: whether that feature is on."""

    def __init__(self) -> None:
        self.limits = dict(limits.REQUIRED)
        self.maintenance4 = False


def findings(stages: list[CheckedStage], complete: bool, rules: CheckRules) -> list[Finding]:
    """``stages`` in any order. ``complete``: these are all stages of the pipeline."""
    stages = sorted(stages, key=lambda s: ORDER.index(s.name))
    if unlike := odd(stages):
        return unlike
    problems = [f for at in range(len(stages)) for f in own_findings(stages, at)]
    for stage in stages:
        problems += limits.findings(stage, rules.limits)
    for producer, consumer in zip(stages, stages[1:]):
        problems += InterfaceRules(producer, consumer, rules.maintenance4).findings()
        problems += builtin_rules.findings(producer, consumer)
    problems += builtin_rules.modes({stage.name: stage for stage in stages})
    if complete and stages and stages[-1].name not in ("frag", "task"):
        problems += _last(stages[-1])
    return problems


def odd(stages: list[CheckedStage]) -> list[Finding]:
    """The error of stages, in any order, that make no pipeline; nothing if they do."""
    names = sorted((stage.name for stage in stages), key=ORDER.index)
    wrong = odd_stage([(name, "") for name in names])
    if wrong is None:
        return []
    at, rule, what = wrong
    return [Finding(CREATION + rule, what, "", None, (names[at], None))]


def _last(stage: CheckedStage) -> Iterator[Finding]:
    """Outputs of the last stage of a pipeline without fragment shader."""
    for output in stage.outputs:
        dead = unread_of(stage, output, set())
        if dead:
            message = f"there is no fragment shader to read {stage.name} output {described(output)}"
            between = stage.name, None
            first = min(shown_places(dead))
            yield Finding(UNREAD, message, str(output.label), first, between, warning=True)
