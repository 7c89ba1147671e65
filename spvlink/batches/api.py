"""``spvlink.batch``: many pipelines from Python, on any executor, results as they come."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Final

from spvlink import validate
from spvlink.batches import engine
from spvlink.batches.jobs import JobSettings
from spvlink.batches.pipelines import BatchPipeline, Shader
from spvlink.batches.pool import Pool
from spvlink.batches.shards import secret_of
from spvlink.batches.store import JobStore
from spvlink.options import Options
from spvlink.pipeline import Flaw, InterfaceResult, Linked, Remark, Source, StageResult
from spvlink.report import BYTES
from spvlink.sources import sources_of
from spvlink.system import cores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Executor

    from spvlink.batches.jobs import Job
    from spvlink.batches.shared import SharedResults
    from spvlink.batches.store import Record
    from spvlink.sources import Given

    Stages = Iterable[Given]
    Item = Stages | tuple[Stages, Options]

WINDOW: Final = 64  # jobs that are under way on somebody else's executor


class Batched:
    """What came of one pipeline.

    index    its place among those that were given
    kind     "linked", "unchanged" (there was nothing to gain), "passed through" (legal, but not to
             be improved safely), "invalid" (the input is at fault), "failed" (it took too much time
             or memory, or its process died) or "defect" (of spvlink)
    linked   what ``spvlink.link`` gives, its stages in the order that was given; but for "linked"
             they are as they came, and ``passed_through`` says why
    """

    __slots__ = ("index", "kind", "linked")

    def __init__(self, index: int, kind: str, linked: Linked) -> None:
        self.index = index
        self.kind = kind
        self.linked = linked


def batch(
    pipelines: Iterable[Item],
    options: Options | None,
    executor: Executor | None,
    store: str | None,
    store_key: bytes,
) -> Iterator[Batched]:
    """See ``spvlink.batch``."""
    options = options or Options()
    if options.validate and not validate.available():
        raise validate.missing()
    if store is None:
        return _results(pipelines, options, executor, None)
    from spvlink.batches.shared import SharedResults

    shared = SharedResults(store, secret_of(store_key))
    return _results(pipelines, options, executor, shared)


def _results(
    pipelines: Iterable[Item],
    options: Options,
    executor: Executor | None,
    shared: SharedResults | None,
) -> Iterator[Batched]:
    with contextlib.ExitStack() as stack:
        store = JobStore(stack.enter_context(tempfile.TemporaryDirectory(prefix="spvlink-")))
        stack.callback(store.close, False)
        window = WINDOW
        if executor is None:
            executor = pool = Pool(cores())
            window = pool.window
            stack.callback(executor.shutdown, cancel_futures=True)
        given = _Given(pipelines, options, store)
        for job, _ in engine.run(given.jobs(), store.module, executor, store, window, shared):
            given.done(job.key)
            yield from given.results()
        yield from given.results()
        if shared is not None:
            shared.close()
            for line in shared.warnings():
                warnings.warn(line, RuntimeWarning, stacklevel=2)


class _Given:
    """The pipelines that have no result yet. Their modules are on the disk, as the results are."""

    def __init__(self, pipelines: Iterable[Item], options: Options, store: JobStore) -> None:
        self.pipelines = pipelines
        self.options = options
        self.store = store
        self.waiting: dict[bytes, list[tuple[int, list[Shader]]]] = {}
        self.finished: set[bytes] = set()
        self.ready: list[tuple[bytes, int, list[Shader]]] = []

    def jobs(self) -> Iterator[Job]:
        """The distinct jobs."""
        for index, item in enumerate(self.pipelines):
            stages, options = _split(item, self.options)
            given = list(stages)
            sources = sources_of(given, options.target_env) if given else []
            shaders = [self._shader(source) for source in sources]
            job = JobSettings(options).job(BatchPipeline(str(index), shaders))
            if job.key in self.finished:
                self.ready.append((job.key, index, shaders))
            elif job.key in self.waiting:
                self.waiting[job.key].append((index, shaders))
            else:
                self.waiting[job.key] = [(index, shaders)]
                yield job

    def _shader(self, source: Source) -> Shader:
        return Shader(self.store.add(source.data), source.file, source.entry, source.stage)

    def done(self, key: bytes) -> None:
        """The job of this key is done."""
        self.finished.add(key)
        self.ready += [(key, index, shaders) for index, shaders in self.waiting.pop(key)]

    def results(self) -> Iterator[Batched]:
        """Those whose job is done."""
        while self.ready:
            key, index, shaders = self.ready.pop()
            record = self.store.read(key)
            yield Batched(index, record.kind, self._linked(record, shaders))

    def _linked(self, record: Record, shaders: list[Shader]) -> Linked:
        job: dict[str, Any] = record.entry
        linked = Linked()
        linked.outcome, linked.passed_through = record.kind, record.reason
        linked.target_env = job.get("target_env", "")
        linked.validated = job.get("validated")
        figures = {entry["at"]: entry for entry in job.get("stages", ())}
        for at, shader in enumerate(shaders):
            new = record.modules[at] if at < len(record.modules) else None
            data = self.store.module(new or shader.module)
            entry = figures.get(at, {"stage": "unknown", "instructions": (0, 0)})
            result = StageResult(entry["stage"], shader.label, data, new is not None)
            result.instructions = tuple(entry["instructions"])
            result.bytes = tuple(entry.get("bytes", (len(data), len(data))))
            linked.stages.append(result)
        for entry in job.get("interfaces", ()):
            border = InterfaceResult(entry["producer"], entry["consumer"])
            border.components = tuple(entry["components"])
            border.locations = tuple(entry["locations"])
            before, after = zip(*(entry[name] for name in BYTES))
            border.measured = before, after
            linked.interfaces.append(border)
        for entry in job.get("warnings", ()):
            file, rule = shaders[entry["at"]].label, entry["rule"] or ""
            linked.warnings.append(Flaw(entry["interface"], file, entry["message"], rule))
        linked.remarks = [_remark(entry) for entry in job.get("remarks", ())]
        return linked


def _remark(entry: dict[str, Any]) -> Remark:
    before, after = entry["cells"]
    return Remark(**entry | {"cells": (tuple(before), tuple(after))})


def _split(item: Any, options: Options) -> tuple[Stages, Options]:
    """The stages of a pipeline and its options, its own if it has some."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], Options):
        return item
    return item, options
