"""From a pipeline of a Fossilize archive to what the layer asks for it (``wire``)."""

from __future__ import annotations

from spvlink.gpus import ANY
from spvlink.layer import wire
from spvlink.state import PipelineState
from spvlink.state_use import DeclaredUse, used

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.archive.archive import Archive
    from spvlink.archive.records import ArchivedPipeline


class LayerSettings:
    """What a layer links for: ``exact``, and ``gpu``, a row of ``spvlink.gpus``."""

    __slots__ = ("exact", "gpu")

    def __init__(self, exact: bool = False, gpu: str = ANY) -> None:
        self.exact = exact
        self.gpu = gpu


def request_of(
    archive: Archive, recorded: ArchivedPipeline, identity: bytes, settings: LayerSettings
) -> wire.Request:
    """A whole pipeline, or one half of pipelines. Raises BadArchive."""
    request = wire.Request()
    request.identity = identity
    request.exact, request.gpu = settings.exact, settings.gpu
    request.half = recorded.part != 0
    request.complete = not request.half
    request.layout = recorded.layout
    for shader in recorded.stages:
        stage = wire.RequestStage()
        stage.bit, stage.entry = shader.bit, shader.entry
        stage.spec = list(shader.spec.items())
        stage.code = archive.module(shader.module)
        request.stages.append(stage)
    modules = [DeclaredUse(stage.code) for stage in request.stages]
    request.state = used(_state(recorded, request.half), modules)
    return request


def _state(recorded: ArchivedPipeline, half: bool) -> PipelineState:
    """What the layer hands on of it (``c/fixed.c``)."""
    known = recorded.state
    if half:
        return PipelineState(outputs=known.outputs, attributes=known.attributes)
    return PipelineState(
        outputs=known.outputs,
        discards=known.discards,
        one_sample=known.one_sample,
        view_mask=recorded.view_mask,
        culled=known.culled,
        polygons=known.polygons,
        topology=known.topology,
        viewports=known.viewports,
        attributes=known.attributes,
        patch_points=recorded.patch_points,
    )
