"""Fossilize archives as a source and a sink."""

from __future__ import annotations

import os
from array import array
from typing import TYPE_CHECKING, Final

from spvlink.archive.archive import Archive
from spvlink.archive.foz import GRAPHICS
from spvlink.archive.writer import ArchiveWriter
from spvlink.batches.ends import Recent
from spvlink.batches.pipelines import (
    DIGEST,
    BatchPipeline,
    DeclaredUses,
    IneligiblePipeline,
    Layout,
    Shader,
    digest_of,
)
from spvlink.digest_table import DigestTable
from spvlink.errors import BadArchive, Usage
from spvlink.pipeline import STAGE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spvlink.archive.records import ArchivedPipeline as Recorded
    from spvlink.archive.records import ShaderStage
    from spvlink.batches.ends import New
    from spvlink.batches.known import KnownPipeline, KnownTables
    from spvlink.batches.memory import PipelineMemory
    from spvlink.batches.store import JobStore

_SHARING: Final = "another pipeline with one of its modules could not be stored"
_KEY: Final = 8  # bytes
_LAYOUTS: Final = 1 << 12  # that are remembered as the archive gives them
_NAMES: Final = {bit: name for name, bit in STAGE_BITS.items()}


class Archives:
    """Archives as one source. Raises BadArchive if a file is none, Usage if it cannot be read.
    ``warnings``: lines about what is damaged. ``prune``: leave out modules that only linked
    pipelines used. ``memory``: what earlier runs remembered."""

    def __init__(self, paths: list[str], prune: bool = False) -> None:
        self.archive = Archive(paths)
        self.paths = paths
        self.prune = prune
        self.pruned: int | None = None
        self.bytes = 0, 0
        self.memory: PipelineMemory | None = None
        self.warnings = self.archive.warnings
        # Modules: keys; the number of the digest of each; digests; the first key of each.
        self.keys, self.digest_of_key = DigestTable(_KEY), array("I")
        self.digests, self.key_of_digest = DigestTable(DIGEST), array("Q")
        self.layouts: dict[str, Layout] = {}
        # The same by the identity of the data that the archive gives, which is held with it.
        self.known_layouts: dict[int, tuple[dict[str, object], Layout]] = {}
        self.recent: Recent[int] = Recent()
        self.uses = DeclaredUses()

    def __enter__(self) -> Archives:
        return self

    def __exit__(self, *error: object) -> None:
        self.archive.close()
        if self.memory is not None:
            self.memory.close()

    def __len__(self) -> int:
        return self.archive.count()

    # -- in --------------------------------------------------------------------------------------

    def pipelines(self) -> Iterator[BatchPipeline | IneligiblePipeline | KnownPipeline]:
        if self.memory is None:
            for recorded in self.archive.pipelines():
                yield self._pipeline(recorded)
            return
        for index in range(len(self.memory)):
            known = self.memory.pipeline(index)
            if known is not None:
                yield known
                continue
            pipeline = self._pipeline(self.archive.pipeline(self.memory.key(index)))
            self.memory.note(index, pipeline)
            yield pipeline

    def module(self, digest: str) -> bytes:
        number = self.digests.find(bytes.fromhex(digest))
        assert number is not None
        key = self.key_of_digest[number]
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
            pipeline.layout = self._layout(recorded.layout)
        # It is a whole pipeline, and says what its constants are.
        pipeline.complete = pipeline.spec_defaults = True
        # No more of the state than a link depends on: pipelines are one job as often as can be.
        if any(shader.stage == "tesc" for shader in shaders):
            pipeline.patch_points = recorded.patch_points
        self.uses.take(pipeline, recorded.state, self.module)
        pipeline.target_env = recorded.target_env or ""
        return pipeline

    def _layout(self, data: dict[str, object]) -> Layout:
        """A layout, one for all that are equal. Pipelines share the data of most."""
        known = self.known_layouts.get(id(data))
        if known is not None:
            return known[1]
        layout = Layout(data)
        if len(self.known_layouts) >= _LAYOUTS:
            self.known_layouts.clear()
        shared = self.layouts.setdefault(layout.digest, layout)
        self.known_layouts[id(data)] = data, shared
        return shared

    def _shader(self, stage: ShaderStage) -> Shader:
        name = _NAMES[stage.bit]
        digest, label = self._digest(int(stage.module, 16)), f"{name} {stage.module}"
        return Shader(digest, label, stage.entry, name, tuple(sorted(stage.spec.items())))

    def _digest(self, key: int) -> str:
        """Of a module by its key. Raises BadArchive."""
        name = key.to_bytes(_KEY, "big")
        number = self.keys.find(name)
        if number is None:
            digest = bytes.fromhex(digest_of(self._read(key)))
            number = self.keys.add(name)
            self.digest_of_key.append(self.digests.add(digest))
            if len(self.key_of_digest) < len(self.digests):
                self.key_of_digest.append(key)
        return self.digests[self.digest_of_key[number]].hex()

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
            made = None if self.memory is None else self.memory.tables.file.file
            with ArchiveWriter(target, self.archive, self.prune, made) as writer:
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
        modules = _NewModules(writer, store, self.memory)
        known = self.memory.tables if self.memory is not None else None
        for index, hash in enumerate(self.archive.union.hashes(GRAPHICS)):
            if known is not None and known.jobs[index]:
                why = modules.replace_known(known, index, hash)
            elif index in stays:
                continue
            else:
                why = modules.replace(index, f"{hash:016x}", new(index) or ())
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


class _NewModules:
    """Modules on their way into an archive, each once."""

    def __init__(
        self, writer: ArchiveWriter, store: JobStore, memory: PipelineMemory | None
    ) -> None:
        self._writer = writer
        self._store = store
        self._memory = memory
        self._names, self._numbers = DigestTable(DIGEST), array("I")  # as the writer has them
        # Of new modules of jobs that are known, as they stand in the tables: the number + 1. Before
        # those of a job: whether they are there.
        self._done = array("I", bytes(4 * len(memory.tables.new) if memory is not None else 0))

    def replace(self, index: int, key: str, names: Sequence[str | None]) -> str | None:
        """Give a pipeline its modules; gives why it cannot have them."""
        modules = {
            at: self._number(bytes.fromhex(name))
            for at, name in enumerate(names)
            if name is not None
        }
        why = self._writer.replace_by_number(key, modules) if modules else None
        if modules and why is None and self._memory is not None:
            self._memory.give(index, self._writer.packed_pipeline(key))
        return why

    def replace_known(self, tables: KnownTables, index: int, hash: int) -> str | None:
        """The same with the entry that an earlier run made."""
        job = tables.jobs[index]
        begin, end = tables.span(job - 1) if job > 0 else (0, 0)
        if begin == end:
            return None
        if not self._done[begin - 1]:
            self._done[begin - 1] = 1
            for at in range(begin, end):
                if tables.new[at]:
                    name = tables.names[tables.new[at] - 1]
                    self._done[at] = self._number(name) + 1
        numbers = {number - 1 for number in self._done[begin:end] if number}
        if not numbers:
            return None
        place = tables.entries.place(index) if tables.entries.has(index) else None
        return self._writer.replace_by_made(hash, place, numbers)

    def _number(self, name: bytes) -> int:
        number = self._names.add(name)
        if number < len(self._numbers):
            return self._numbers[number]
        tables = self._memory.tables if self._memory is not None else None
        known = tables.names.find(name) if tables is not None else None
        if tables is not None and known is not None:
            made = self._writer.add_made(name, tables.module_place(known))
        else:
            made = self._writer.add(self._store.module(name.hex()))
            if self._memory is not None:
                self._memory.give_module(name, self._writer.packed_module(made))
        self._numbers.append(made)
        return made
