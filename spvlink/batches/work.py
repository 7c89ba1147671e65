"""One job, in whatever process: ``do`` is what every executor runs."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

from spvlink import report, validate
from spvlink.batches.jobs import identity
from spvlink.driver import link
from spvlink.entry import read_pipeline
from spvlink.errors import Broken, Refused, SpvlinkError, Usage
from spvlink.grammar import enums, ops
from spvlink.page import untouched
from spvlink.pipeline import (
    DEFECT,
    INVALID,
    LINKED,
    PASSED,
    Linked,
    Source,
    StageResult,
    stage_of,
)  # fmt: skip
from spvlink.sets.link_set import LinkedSet, link_versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spvlink.batches.families import PipelineFamily
    from spvlink.batches.jobs import Job
    from spvlink.ir.core import Module
    from spvlink.options import Options
    from spvlink.pipeline import Outcome


class JobOutcome:
    """What came of a job. ``modules``: one a stage, None where the module stays as it was.
    ``reason``: None if it was linked. ``at``: index of the stage that the reason is about, -1 for
    none. ``entry``: the part of the report that is about this job; ``text``: the same as JSON, if
    the process that did the job made it: where all results come together there is less time."""

    __slots__ = ("at", "entry", "kind", "modules", "reason", "text")

    def __init__(self, kind: Outcome, reason: str | None = None, at: int = -1) -> None:
        self.kind = kind
        self.reason = reason
        self.at = at
        self.modules: list[bytes | None] = []
        self.entry: dict[str, object] = {}
        self.text = ""


def do(job: Job, *modules: bytes) -> JobOutcome:
    """Link. Raises MemoryError, and Usage if this is not the linker that the job is for: all else
    that goes wrong is an outcome."""
    check_identity(job)
    try:
        sources = sources_of(job, modules)
        options = options_of(job, sources)
        linked = link(sources, options)
        outcome = _verified(job, linked, sources, options) or _outcome(job, linked)
    except MemoryError:
        raise
    except Exception as error:
        return _failure(error)
    outcome.text = json.dumps(outcome.entry)
    return outcome


def do_family(family: PipelineFamily, *modules: bytes) -> list[JobOutcome]:
    """Link jobs that share modules; an outcome for each. Raises as ``do``."""
    check_identity(family.parts[0])
    outcomes: dict[int, JobOutcome] = {}
    rows: dict[int, tuple[list[Source], Options]] = {}
    for at, (job, places) in enumerate(zip(family.parts, family.places)):
        sources = sources_of(job, [modules[n] for n in places])
        try:
            rows[at] = sources, options_of(job, sources)
        except SpvlinkError as error:
            outcomes[at] = _failure(error)
    numbers = list(rows)
    named = dict(zip(family.modules, modules))
    others = [*family.kept, *(name for at in outcomes for name in family.parts[at].modules)]
    try:
        made = link_versions(list(rows.values()), family.most, [named[name] for name in others])
    except MemoryError:
        raise
    except Exception as error:
        return [outcomes.get(at) or _failure(error) for at in range(len(family.parts))]
    for at, linked in zip(numbers, made.pipelines):
        if isinstance(linked, SpvlinkError):
            outcomes[at] = _failure(linked)
            continue
        wrong = _verified(family.parts[at], linked, *rows[at])
        if wrong is not None:  # and the others have its modules
            others_stay = JobOutcome(PASSED, "the link of a pipeline with its modules is wrong")
            return [wrong if n == at else others_stay for n in range(len(family.parts))]
        outcomes[at] = _outcome(family.parts[at], linked)
    if numbers:
        kept = [name for name, data in named.items() if data in made.kept]
        figures = _family_entry(family, numbers, made) | {
            "kept": [_kept(family, outcomes, n) for n in kept]
        }
        outcomes[numbers[0]].entry["set"] = figures
    return [outcomes[at] for at in range(len(family.parts))]


def _family_entry(family: PipelineFamily, numbers: list[int], made: LinkedSet) -> dict[str, object]:
    """What is said of a family: once, with its first part."""
    return {
        "jobs": [family.parts[at].key.hex() for at in numbers],
        "slots": made.least,
        "shared": [
            {"at": line.at, "name": line.name, "slot": line.slot, "readers": line.readers,
             "among": line.among}
            for line in made.shared
        ],
    }  # fmt: skip


def _kept(
    family: PipelineFamily, outcomes: Mapping[int, JobOutcome], module: str
) -> dict[str, str | None]:
    """A module that stays because somebody has it as it is, and the job of the family that does:
    None if it is none of these."""
    by = (
        job.key.hex()
        for at, job in enumerate(family.parts)
        if module in job.modules and not outcomes[at].modules
    )
    return {"module": module, "by": next(by, None)}


def _verified(
    job: Job, linked: Linked, sources: Sequence[Source], options: Options
) -> JobOutcome | None:
    """Prove a link that the job wants proved, and keep the verdict. An outcome comes back if the
    link is wrong: then it does not go out."""
    if not job.verify or linked.outcome != LINKED:
        return None
    from spvlink.verifier.api import as_json, sentence, verify_link
    from spvlink.verifier.verdict import UNEQUAL

    verdict = verify_link(sources, linked.stages, options, job.execute)
    linked.verified = sentence(verdict), as_json(verdict)
    if verdict.outcome != UNEQUAL:
        return None
    reason = f"a defect of spvlink: the result is another pipeline: {verdict.reason}"
    outcome = JobOutcome(DEFECT, reason)
    outcome.entry["verified"] = as_json(verdict)
    return outcome


def check_identity(job: Job) -> None:
    """Raise Usage unless this is the linker that the job is for."""
    if identity(job.options.validate) != job.identity:
        raise Usage("a worker has another spvlink or spirv-val than this machine")


def sources_of(job: Job, modules: Sequence[bytes]) -> list[Source]:
    return [
        Source(data, str(at), stage.entry, stage.stage)
        for at, (data, stage) in enumerate(zip(modules, job.stages))
    ]


def _failure(error: Exception) -> JobOutcome:
    """What an exception makes of a job."""
    if isinstance(error, Refused):
        return JobOutcome(PASSED, str(error))
    if isinstance(error, SpvlinkError):
        kind: Outcome = DEFECT if isinstance(error, Broken) else INVALID
        return JobOutcome(kind, str(error), int(error.file) if error.file else -1)
    return JobOutcome(DEFECT, f"a defect of spvlink: {type(error).__name__}: {error}")


def options_of(job: Job, sources: Sequence[Source]) -> Options:
    """The job's options with what its stages say of specialization constants."""
    options = copy.copy(job.options)
    options.spec = dict(options.spec)
    if job.target_env and options.target_env is None:
        versions = [int.from_bytes(source.data[4:8], "little") for source in sources]
        both = (job.target_env, validate.lowest_env(versions))
        options.target_env = max(both, key=validate.ENVIRONMENTS.index)
    if any(stage.spec for stage in job.stages):
        for stage, module in zip(job.stages, read_pipeline(sources)):
            assert module.entry is not None
            there = _constants(module)
            for number, value in stage.spec:
                if number in there:  # Vulkan: others mean nothing
                    options.spec[stage_of(module.entry.model), number] = value
    return options


def _constants(module: Module) -> set[int]:
    """The SpecIds that a module has."""
    return {
        note.imm[1]
        for note in module.annotations
        if note.op == ops.OpDecorate and note.imm[0] == enums.Decoration_SpecId
    }


def _outcome(job: Job, linked: Linked) -> JobOutcome:
    made: list[bytes | None] = [None] * len(job.stages)
    for result in linked.stages:
        if result.changed:
            made[int(result.file)] = result.data
    outcome = JobOutcome(linked.outcome, linked.passed_through)
    outcome.modules = made
    outcome.entry = {
        "stages": [_stage(s) for s in linked.stages],
        "interfaces": [report.interface(i) for i in linked.interfaces],
        "remarks": [report.remark(r) | {"cells": r.cells} for r in linked.remarks],
        "target_env": linked.target_env,
        "validated": linked.validated,
    }
    if linked.verified is not None:
        outcome.entry["verified"] = linked.verified[1]
    if linked.warnings:
        flaws = [report.flaw(w) | {"at": int(w.file)} for w in linked.warnings]
        outcome.entry["warnings"] = flaws
    if outcome.reason is not None:
        entries = {str(at): stage.entry for at, stage in enumerate(job.stages)}
        outcome.entry["untouched"] = untouched.describe(linked.stages, entries, outcome.reason)
    return outcome


def _stage(result: StageResult) -> dict[str, object]:
    """``at`` instead of a file: many pipelines with files of their own may be this job."""
    entry = report.stage(result)
    return {"at": int(str(entry.pop("file")))} | entry
