"""What sharing modules costs, from real links: the pipelines of a set with one version of each
module, and each by itself."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from spvlink.batches.families import families
from spvlink.batches.jobs import JobSettings
from spvlink.batches.work import options_of, sources_of
from spvlink.binary.decode import decode
from spvlink.driver import link
from spvlink.entry import select_entry
from spvlink.errors import SpvlinkError
from spvlink.grammar import enums
from spvlink.link.check import interface
from spvlink.options import Options
from spvlink.pipeline import Linked
from spvlink.sets.link_set import link_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.batches.ends import PipelineSource
    from spvlink.batches.families import PipelineFamily
    from spvlink.batches.jobs import Job
    from spvlink.batches.pipelines import BatchPipeline
    from spvlink.link.check.interface import Place
    from spvlink.pipeline import Source as Module

    Figures = tuple[int, int, int]  # components, Locations, instructions in functions

_REMEMBERED: Final = 256  # modules: neighbours in a family share theirs


class Cost:
    """``pipelines``: those of one link, which differ in state only. ``shared`` and ``own``: what is
    left with one version of each module, and with its own."""

    __slots__ = ("own", "pipelines", "shared")

    def __init__(self, pipelines: list[str], shared: Figures, own: Figures) -> None:
        self.pipelines = pipelines
        self.shared = shared
        self.own = own

    @property
    def more(self) -> Figures:
        """What its own version would win."""
        a, b = self.shared, self.own
        return a[0] - b[0], a[1] - b[1], a[2] - b[2]


class Sharing:
    """Gathers the pipelines of a set; then it can be asked."""

    def __init__(self, source: PipelineSource) -> None:
        self.source = source
        options = Options()
        options.validate = False
        self.settings = JobSettings(options)
        self.jobs: dict[bytes, Job] = {}
        self.names: dict[bytes, list[str]] = {}

    def add(self, pipeline: BatchPipeline) -> None:
        job = self.settings.job(pipeline)
        self.jobs.setdefault(job.key, job)
        self.names.setdefault(job.key, []).append(pipeline.id)

    def families(self) -> Iterator[list[Cost]]:
        """Of those that share modules, directly or through others. What cannot be linked is left
        out."""
        for family in families(self.jobs.values(), 1):
            if len(family.parts) > 1:
                costs = self._costs(family)
                if costs:
                    yield costs

    def _costs(self, family: PipelineFamily) -> list[Cost]:
        rows, names = [], []
        for job in family.parts:
            try:
                sources = sources_of(job, [self.source.module(m) for m in job.modules])
                rows.append((sources, options_of(job, sources)))
            except SpvlinkError:
                continue
            names.append(self.names[job.key])
        costs: list[Cost] = []
        for row, shared, of in zip(rows, link_set(rows).pipelines, names):
            try:
                own = link(*row)
            except SpvlinkError:
                continue
            if isinstance(shared, Linked):
                costs.append(Cost(of, _figures(row[0], shared), _figures(row[0], own)))
        return costs


def _figures(sources: list[Module], linked: Linked) -> Figures:
    """What the stages of a pipeline declare for each other, or for nobody, and their code."""
    covers = [
        _outputs(stage.data, source.entry, stage.stage)
        for source, stage in zip(sources, linked.stages)
        if stage.stage != "frag"
    ]
    locations = sum(len({place[0] for place in places}) for places in covers)
    return sum(map(len, covers)), locations, sum(stage.body[1] for stage in linked.stages)


@lru_cache(_REMEMBERED)
def _outputs(data: bytes, entry: str | None, stage: str) -> frozenset[Place]:
    """The components that a module declares as outputs."""
    module = decode(data)
    module.entry = select_entry(module, entry, stage)
    outputs = interface.declared(module, enums.StorageClass_Output)
    return frozenset(place for one in outputs for place in interface.apart(one, one.covers))
