"""Find broken rules between the stages of a pipeline that is linked all the same.

An input that no stage writes is undefined, so a link may read it as zero; and variables that do not
match may still match component by component. The author should know. These are the errors of
``spvlink check``, except those about limits of devices.
"""

from __future__ import annotations

from spvlink.errors import Broken
from spvlink.ir.core import Module
from spvlink.link.check import interface
from spvlink.pipeline import NV_STAGES, Flaw, Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.link.check.findings import Finding

    Given = tuple[str, Module, Source]  # a stage: its name, its module as it came

_PAIR: Final = frozenset(("vert", "frag"))  # which hand over no built-ins
_WITH_MAINTENANCE4: Final = ("vulkan1.3", "vulkan1.4")


def flaws(stages: Sequence[Given], target_env: str) -> list[Flaw]:
    """Of the stages of a pipeline, in order. An output vector may be longer than its input where
    the target environment has maintenance4."""
    if any(module.entry is None or module.entry.model in NV_STAGES for _, module, _ in stages):
        return []
    pairs = list(zip(stages, stages[1:]))
    if _PAIR.issuperset(name for name, _, _ in stages) and all(_fits(*pair) for pair in pairs):
        return []
    files = {name: source.file for name, _, source in stages}
    given: list[Flaw] = []
    for stage, one in _found(stages, target_env in _WITH_MAINTENANCE4):
        if not one.warning:
            between = "->".join(s for s in (one.producer, one.consumer) if s)
            given.append(Flaw(between, files.get(stage, ""), one.message, one.rule or ""))
    return given


def _fits(producer: Given, consumer: Given) -> bool:
    try:
        interface.check(producer[1], consumer[1], consumer[0] == "frag")
    except Broken:
        return False
    return True


def _found(stages: Sequence[Given], maintenance4: bool) -> list[tuple[str, Finding]]:
    """What is wrong, each with the stage that it is about. What is needed for it is imported here:
    most fit."""
    from spvlink.link.check import builtin_rules
    from spvlink.link.check.border import InterfaceRules
    from spvlink.link.check.stage import CheckedStage, own_findings

    read = [CheckedStage(*one) for one in stages]
    findings = [
        (stage.name, one) for at, stage in enumerate(read) for one in own_findings(read, at)
    ]
    for producer, consumer in zip(read, read[1:]):
        wrong = InterfaceRules(producer, consumer, maintenance4).errors()
        wrong += builtin_rules.findings(producer, consumer)
        findings += [(consumer.name, one) for one in wrong]
    modes = builtin_rules.modes({stage.name: stage for stage in read})
    return findings + [(one.consumer or "", one) for one in modes]
