"""Fossilize archives as a source and a sink."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from spvlink.batches.ends import Recent
from spvlink.batches.pipelines import (
    BatchPipeline,
    DeclaredUses,
    IneligiblePipeline,
    Layout,
    Shader,
    digest_of,
)
from spvlink.errors import BadArchive, Usage
from spvlink.pipeline import STAGE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.archive.records import ArchivedPipeline as Recorded
    from spvlink.archive.records import ShaderStage
    from spvlink.batches.ends import New
    from spvlink.batches.store import JobStore

_SHARING: Final = "another pipeline with one of its modules could not be stored"
_NAMES: Final = {bit: name for name, bit in STAGE_BITS.items()}


class Archives:
    """Archives as one source. Raises BadArchive if a file is none, Usage if it cannot be read.
    ``warnings``: lines about what is damaged. ``prune``: leave out modules that only linked
    pipelines used."""

    def __init__(self, paths: list[str], prune: bool = False) -> None:
        self.archive = Archive(paths)
        self.paths = paths
        self.prune = prune
        self.pruned: int | None = None
        self.bytes = 0, 0
        self.warnings = self.archive.warnings
        self.digests: dict[int, str] = {}  # of modules, by their keys
        self.keys: dict[str, int] = {}  # the other way round
        self.layouts: dict[str, Layout] = {}
        self.recent: Recent[int] = Recent()
        self.uses = DeclaredUses()

    def __enter__(self) -> Archives:
        return self

    def __exit__(self, *error: object) -> None:
        self.archive.close()

    def __len__(self) -> int:
        return self.archive.count()

    # -- in --------------------------------------------------------------------------------------

    def pipelines(self) -> Iterator[BatchPipeline | IneligiblePipeline]:
        for recorded in self.archive.pipelines():
            yield self._pipeline(recorded)

    def module(self, digest: str) -> bytes:
        key = self.keys[digest]
        known = self.recent.get(key)
        data = known or self._read(key)
        if known is None and digest_of(data) != digest:
            raise Usage("an archive changed while it was linked")
        return data

    def _pipeline(self, recorded: Recorded) -> BatchPipeline | IneligiblePipeline:
        if recorded.reason is not None:
            return IneligiblePipeline(
                recorded.key, recorded.reason, modules=recorded.modules, unknown=recorded.unknown
            )
        shaders = []
        for stage in recorded.stages:
            try:
                shaders.append(self._shader(stage))
            except BadArchive as error:
                return IneligiblePipeline(recorded.key, error.message, True, recorded.modules)
        pipeline = BatchPipeline(recorded.key, shaders)
        if recorded.layout is not None:
            layout = Layout(recorded.layout)
            pipeline.layout = self.layouts.setdefault(layout.digest, layout)
        # It is a whole pipeline, and says what its constants are.
        pipeline.complete = pipeline.spec_defaults = True
        # No more of the state than a link depends on: pipelines are one job as often as can be.
        if any(shader.stage == "tesc" for shader in shaders):
            pipeline.patch_points = recorded.patch_points
        self.uses.take(pipeline, recorded.state, self.module)
        pipeline.target_env = recorded.target_env or ""
        return pipeline

    def _shader(self, stage: ShaderStage) -> Shader:
        name = _NAMES[stage.bit]
        digest, label = self._digest(int(stage.module, 16)), f"{name} {stage.module}"
        return Shader(digest, label, stage.entry, name, tuple(sorted(stage.spec.items())))

    def _digest(self, key: int) -> str:
        """Of a module by its key. Raises BadArchive."""
        if key not in self.digests:
            digest = digest_of(self._read(key))
            self.digests[key] = digest
            self.keys.setdefault(digest, key)
        return self.digests[key]

    def digest(self, name: str) -> str | None:
        try:
            return self._digest(int(name, 16))
        except BadArchive:
            return None

    def others(self) -> Iterator[IneligiblePipeline]:
        for key, modules in self.archive.others():
            yield IneligiblePipeline(key, "it is no graphics pipeline", modules=modules)

    def _read(self, key: int) -> bytes:
        data = self.recent.get(key)
        if data is None:
            data = self.recent.put(key, self.archive.module(f"{key:016x}"))
        return data

    # -- out -------------------------------------------------------------------------------------

    def write(self, target: str, store: JobStore, new: New, together: bool) -> dict[int, str]:
        """The same archive with linked modules."""
        stays: dict[int, str] = {}
        before = sum(os.path.getsize(path) for path in self.paths)  # the target may be one of them
        while True:
            with ArchiveWriter(target, self.archive, self.prune) as writer:
                more = self._replace(writer, store, new, stays)
                if not more or not together:
                    writer.finish()
                    self.pruned = writer.pruned if self.prune else None
                    self.bytes = before, os.path.getsize(target)
                    return stays | more
            stays |= more
            stays |= self._sharing(stays, new)

    def _replace(
        self, writer: ArchiveWriter, store: JobStore, new: New, stays: dict[int, str]
    ) -> dict[int, str]:
        """All pipelines but those that stay get their modules; gives those that cannot, and why."""
        more: dict[int, str] = {}
        recent: Recent[str] = Recent()
        for index, key in enumerate(self.archive.keys()):
            modules = {
                at: recent.get(name) or recent.put(name, store.module(name))
                for at, name in enumerate(new(index) or ())
                if name is not None and index not in stays
            }
            why = writer.replace(key, modules) if modules else None
            if why is not None:
                more[index] = why
        return more

    def _sharing(self, stays: dict[int, str], new: New) -> dict[int, str]:
        """Pipelines that share a module with those that stay, directly or through others, and
        would get another one."""
        reasons: dict[int, str] = {}
        kept: set[str] = set()
        before = -1
        while before != len(kept):
            before = len(kept)
            for index, key in enumerate(self.archive.keys()):
                modules = self.archive.pipeline(key).modules
                changed = {m for m, name in zip(modules, new(index) or ()) if name is not None}
                if index in stays or index in reasons:
                    kept.update(modules)
                elif changed & kept:
                    kept.update(modules)
                    reasons[index] = _SHARING
        return reasons
