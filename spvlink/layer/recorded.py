"""From a pipeline of a Fossilize archive to what the layer asks for it (``wire``)."""

from __future__ import annotations

from spvlink.layer import wire

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.archive.archive import Archive
    from spvlink.archive.records import ArchivedPipeline


def request_of(
    archive: Archive, recorded: ArchivedPipeline, identity: bytes, exact: bool
) -> wire.Request:
    """A whole pipeline, or one half of pipelines. Raises BadArchive."""
    request = wire.Request()
    request.identity, request.exact = identity, exact
    request.half = recorded.part != 0
    request.complete = not request.half
    request.layout = recorded.layout
    for shader in recorded.stages:
        stage = wire.RequestStage()
        stage.bit, stage.entry = shader.bit, shader.entry
        stage.spec = list(shader.spec.items())
        stage.code = archive.module(shader.module)
        request.stages.append(stage)
    return request
