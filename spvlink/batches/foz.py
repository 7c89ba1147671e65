"""Fossilize archives as a source and a sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from spvlink.batches.ends import Recent
from spvlink.batches.pipelines import Layout, Pipeline, Shader, Unfit, digest_of
from spvlink.errors import BadArchive, Usage
from spvlink.pipeline import STAGE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.archive.records import Pipeline as Recorded
    from spvlink.archive.records import ShaderStage
    from spvlink.batches.ends import New
    from spvlink.batches.store import Store

_NAMES: Final = {bit: name for name, bit in STAGE_BITS.items()}


class Archives:
    """Archives as one source. Raises BadArchive if a file is none, Usage if it cannot be read.
    ``warnings``: lines about what is damaged."""

    def __init__(self, paths: list[str]) -> None:
        self.archive = Archive(paths)
        self.warnings = self.archive.warnings
        self.digests: dict[int, str] = {}  # of modules, by their keys
        self.keys: dict[str, int] = {}  # the other way round
        self.layouts: dict[str, Layout] = {}
        self.recent: Recent[int] = Recent()

    def __enter__(self) -> Archives:
        return self

    def __exit__(self, *error: object) -> None:
        self.archive.close()

    def __len__(self) -> int:
        return self.archive.count()

    # -- in --------------------------------------------------------------------------------------

    def pipelines(self) -> Iterator[Pipeline | Unfit]:
        for recorded in self.archive.pipelines():
            yield self._pipeline(recorded)

    def module(self, digest: str) -> bytes:
        data = self._read(self.keys[digest])
        if digest_of(data) != digest:
            raise Usage("an archive changed while it was linked")
        return data

    def _pipeline(self, recorded: Recorded) -> Pipeline | Unfit:
        if recorded.reason is not None:
            return Unfit(recorded.key, recorded.reason)
        shaders = []
        for stage in recorded.stages:
            try:
                shaders.append(self._shader(stage))
            except BadArchive as error:
                return Unfit(recorded.key, error.message, bad=True)
        pipeline = Pipeline(recorded.key, shaders)
        if recorded.layout is not None:
            layout = Layout(recorded.layout)
            pipeline.layout = self.layouts.setdefault(layout.digest, layout)
        # It is a whole pipeline, and says what its constants are.
        pipeline.complete = pipeline.spec_defaults = True
        # No more of the state than a link depends on: pipelines are one job as often as can be.
        if any(shader.stage == "tesc" for shader in shaders):
            pipeline.patch_points = recorded.patch_points
        pipeline.view_mask = 0 if recorded.view_mask == 0 else None
        pipeline.target_env = recorded.target_env or ""
        return pipeline

    def _shader(self, stage: ShaderStage) -> Shader:
        key, name = int(stage.module, 16), _NAMES[stage.bit]
        if key not in self.digests:
            digest = digest_of(self._read(key))
            self.digests[key] = digest
            self.keys.setdefault(digest, key)
        label = f"{name} {stage.module}"
        return Shader(
            self.digests[key], label, stage.entry, name, tuple(sorted(stage.spec.items()))
        )

    def _read(self, key: int) -> bytes:
        data = self.recent.get(key)
        if data is None:
            data = self.recent.put(key, self.archive.module(f"{key:016x}"))
        return data

    # -- out -------------------------------------------------------------------------------------

    def write(self, target: str, store: Store, new: New) -> dict[int, str]:
        """The same archive with linked modules."""
        stays: dict[int, str] = {}
        recent: Recent[str] = Recent()
        with ArchiveWriter(target, self.archive) as writer:
            for index, key in enumerate(self.archive.keys()):
                modules = {
                    at: recent.get(name) or recent.put(name, store.module(name))
                    for at, name in enumerate(new(index) or ())
                    if name is not None
                }
                why = writer.replace(key, modules) if modules else None
                if why is not None:
                    stays[index] = why
            writer.finish()
        return stays
