"""A look at new modules that a store has and nobody vouches for: ``check_stored`` is what every
executor runs. They come from anywhere, so a worker does it, with its limits of time and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spvlink import patches, validate
from spvlink.batches.families import PipelineFamily
from spvlink.batches.work import check_identity, options_of, sources_of
from spvlink.driver import rank, read_stages
from spvlink.errors import BadSpirv, SpvlinkError
from spvlink.grammar import enums, ops
from spvlink.link.check import interface
from spvlink.link.check.input import flaws
from spvlink.pipeline import Source
from spvlink.verdicts import Judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spvlink.batches.jobs import Job
    from spvlink.batches.shards import Work
    from spvlink.batches.work import JobOutcome
    from spvlink.link.border.stage import Stage

# What faces the vertex input and the attachments. What faces other stages is checked with them.
_OUTER = {"vert": enums.StorageClass_Input, "frag": enums.StorageClass_Output}


class StoredModules:
    """New modules of a work item. ``new``: each once; it does not travel. ``places``: for each
    part, for each stage, its index in ``new``, or None where the module stays as it was."""

    def __init__(self, item: Work, outcomes: Sequence[JobOutcome]) -> None:
        self.item = item
        index: dict[bytes, int] = {}
        self.places = [
            [None if data is None else index.setdefault(data, len(index)) for data in one.modules]
            for one in outcomes
        ]
        self.new = list(index)

    @property
    def weight(self) -> int:
        """How many links it is worth."""
        return len(self.item.parts)

    def __getstate__(self) -> dict[str, object]:
        return {"item": self.item, "places": self.places}


def check_stored(stored: StoredModules, *modules: bytes) -> str | None:
    """What is wrong with the modules: those of the work item first, then ``stored.new``. None if
    they may take the place of the old ones, as far as can be seen without linking: they are valid,
    have the same stages and entry points, fit each other, and use nothing else from outside. Raises
    MemoryError, and Usage if this is not the linker that the job is for."""
    item = stored.item
    check_identity(item.parts[0])
    before, new = modules[: len(item.modules)], modules[len(item.modules) :]
    places = item.places if isinstance(item, PipelineFamily) else [range(len(before))]
    try:
        for job, own, numbers in zip(item.parts, places, stored.places):
            after = [None if n is None else new[n] for n in numbers]
            if any(after):
                _check_part(job, [before[n] for n in own], after)
        if isinstance(item, PipelineFamily):
            _check_versions(item, stored.places)
    except MemoryError:
        raise
    except SpvlinkError as error:
        return error.message
    except Exception as error:  # whatever they do to the code that reads them
        return f"{type(error).__name__}: {error}"
    return None


def _check_part(job: Job, before: list[bytes], after: list[bytes | None]) -> None:
    """Raises SpvlinkError, or anything."""
    sources = sources_of(job, before)
    options = options_of(job, sources)
    old = read_stages(sources)
    given = []
    for stage, data in zip(old, after):
        assert stage.module.entry is not None
        if data is not None and stage.name in options.keep_interface:
            raise BadSpirv(f"the {stage.name} stage was to stay as it is")
        name = stage.module.entry.name
        given.append(Source(data or stage.source.data, stage.source.file, name, stage.name))
    new = read_stages(given)
    env = options.target_env or validate.lowest_env([s.module.spirv_version for s in old])
    order = sorted(range(len(old)), key=lambda at: rank(old[at].name))
    old, new = [old[at] for at in order], [new[at] for at in order]
    if not _outside(new) <= _outside(old):
        raise BadSpirv("it uses other attributes, attachments or resources than the original")
    if _flaws(new, env) and not _flaws(old, env):
        raise BadSpirv("its stages do not match")
    overlaps = any(patches.overlap(stage.name, stage.module) for stage in old)
    Judge(old, env, overlaps).verdict([stage.source.data for stage in new], options)


def _check_versions(family: PipelineFamily, places: list[list[int | None]]) -> None:
    """Raise BadSpirv if a module has more versions than it may."""
    versions: dict[int, set[int | None]] = {}
    for own, numbers in zip(family.places, places):
        for at, module in enumerate(own):
            versions.setdefault(module, set()).add(numbers[at] if numbers else None)
    if any(len(one) > family.most for one in versions.values()):
        raise BadSpirv("a module has more versions than it may")


def _flaws(stages: list[Stage], env: str) -> bool:
    return bool(flaws([(stage.name, stage.module, stage.source) for stage in stages], env))


def _outside(stages: list[Stage]) -> set[tuple[object, ...]]:
    """What stages use from outside: places of attributes and attachments, bindings."""
    found: set[tuple[object, ...]] = set()
    for stage in stages:
        if stage.name in _OUTER:
            for variable in interface.declared(stage.module, _OUTER[stage.name]):
                found.update((stage.name, place) for place in variable.covers)
        numbers: dict[object, dict[int, int]] = {}
        for note in stage.module.annotations:
            if note.op == ops.OpDecorate and note.imm[0] in _BINDING:
                numbers.setdefault(note.args[0], {})[note.imm[0]] = note.imm[1]
        found.update(tuple(one.get(what) for what in _BINDING) for one in numbers.values())
    return found


_BINDING = (enums.Decoration_DescriptorSet, enums.Decoration_Binding)
