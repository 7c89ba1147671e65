"""The command ``spvlink batch``; what it promises is written in ``arguments.HELP_ALL``."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError
from typing import TYPE_CHECKING

from spvlink import validate
from spvlink.batches import arguments, engine, shards
from spvlink.batches.arguments import BatchCommand
from spvlink.batches.compare import OldReport
from spvlink.batches.folder import Folder
from spvlink.batches.jobs import JobSettings, identity
from spvlink.batches.manifest import NAME, Manifest
from spvlink.batches.plan import LISTED, BatchPlan
from spvlink.batches.pool import Pool
from spvlink.batches.progress import NEVER, Progress
from spvlink.batches.shards import HEADER, ShardHeader
from spvlink.batches.store import SUFFIX, JobStore, writing
from spvlink.batches.summary import LINES, BatchReport
from spvlink.errors import Broken, SpvlinkError, Usage, Worse
from spvlink.pipeline import DEFECT, LINKED, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor

    from spvlink.batches.ends import OutputPlace
    from spvlink.batches.memory import PipelineMemory
    from spvlink.batches.merge import Shard
    from spvlink.batches.shared import SharedResults


def main(
    words: list[str],
    version: str,
    say: Callable[[Iterable[str]], object],
    merging: bool = False,
) -> SpvlinkError | None:
    """Do it; ``say`` writes to standard output. Gives the error that the exit status is to tell of,
    which did not keep OUT from being made; raises those that did. ``merging``: the results are
    those of shards."""
    gc.enable()  # not a short life, as others of the command's are
    command = arguments.parse(words, merging)
    if command.layout is not None:
        from spvlink.layout import read_layout

        command.options.layout = read_layout(command.layout)
    if command.options.validate and not validate.available():
        raise validate.missing()
    if command.plan:
        planned = Folder(command.inputs[0], command.folder)
        say(f"{line}\n" for line in planned.lines)
        print_lines(planned.summary())
        return None
    _check_target(command)
    old = OldReport(command.compare) if command.compare is not None else None
    key = shards.read_key(command.shard_key)
    shared = None if merging else _shared(command)
    try:
        if command.shard is not None:
            return _run_shard(command, key, shared)
        return _run(command, key, shared, old, version, say)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on from here") from None


def _run(
    command: BatchCommand,
    key: bytes,
    shared: SharedResults | None,
    old: OldReport | None,
    version: str,
    say: Callable[[Iterable[str]], object],
) -> SpvlinkError | None:
    """Link all there is, make OUT and tell of it."""
    begin = time.monotonic()
    merged = _shards(command, key)
    with _opened(command) as place, _store(command) as store:
        report = _linked(command, place, store, version, merged, shared)
        report.seconds["together"] = time.monotonic() - begin
        _tell(command, report, say)
        worse = ""
        if old is not None:
            found = old.compare(report.totals, report.jobs(), report.pipelines())
            say(found.text())
            worse = found.worse_line()
    if report.defects:
        return _defects(report.defects, len(report.plan.jobs))
    return Worse(worse) if worse else None


def _defects(count: int, all: int) -> Broken:
    what = f"{count} of {all} pipelines"
    return Broken(f"a defect of spvlink: {what} were passed through because of it")


def _run_shard(
    command: BatchCommand, key: bytes, shared: SharedResults | None
) -> SpvlinkError | None:
    """Do the jobs of one shard and make its folder."""
    assert command.shard is not None
    number, count = command.shard
    with _opened(command) as place, _store(command) as store:
        plan = BatchPlan(place, _settings(command), Progress(0, NEVER), command.variants)
        jobs = list(plan.make())
        parts = [part for job in jobs for part in job.parts]
        owner = shards.owners(jobs, count, place.module)
        own = [job for job, at in zip(jobs, owner) if at == number - 1]
        keys = [part.key for job in own for part in job.parts]
        plan.start(Progress(plan.pipelines_of(keys), command.progress))
        _do(command, plan, store, own, shared)
        if shared is not None:
            shared.close()
        batch = shards.digest_of_batch(part.key for part in parts)
        head = ShardHeader(number, count, plan.settings.identity, _limits(command), batch, "")
        shards.deliver(command.out, store, keys, head, key)
        if command.progress != NEVER:
            lines = _of_store(shared)
            lines += _listed("passed through", plan.bad, len(plan.bad) + plan.more_bad)
            lines.append(f"spvlink: shard {head.name}: {len(keys)} of {len(parts)} jobs")
            _print(lines)
        defects = [key for key in keys if store.read(key).kind == DEFECT]
        return _defects(plan.pipelines_of(defects), len(plan.jobs)) if defects else None


@contextlib.contextmanager
def _store(command: BatchCommand) -> Iterator[JobStore]:
    """The folder beside OUT; it stays there if OUT was not made. A merge leaves none that it made,
    since its results are those of the shards."""
    folder = command.out + SUFFIX
    fresh = command.shards is not None and not os.path.lexists(folder)
    packed = command.writes_file  # nothing is delivered as a folder
    store = JobStore(folder, "" if packed else command.out, _limits(command), packed)
    done = fresh
    try:
        yield store
        done = True
    finally:
        store.close(done)


def _limits(command: BatchCommand) -> str:
    return f"{command.timeout:g} s {command.memory} MB"


@contextlib.contextmanager
def _opened(command: BatchCommand) -> Iterator[OutputPlace]:
    if command.folder is not None:
        folder = Folder(command.inputs[0], command.folder)
        if command.progress != NEVER:
            print_lines(folder.short_summary())
        yield folder
        return
    if not command.archives:
        yield Manifest(command.inputs[0])
        return
    from spvlink.batches.foz import Archives

    with Archives(command.inputs, command.prune) as archives:
        yield archives


def _settings(command: BatchCommand) -> JobSettings:
    return JobSettings(command.options, command.verify, command.execute)


def _shards(command: BatchCommand, key: bytes) -> list[Shard] | None:
    """All shards of a merge; None if this is none."""
    if command.shards is None:
        return None
    from spvlink.batches import merge

    which = identity(command.options.validate)
    return merge.opened(command.shards, key, which, _limits(command))


def _shared(command: BatchCommand) -> SharedResults | None:
    """The store of ``--store``. Raises Usage."""
    if command.store is None:
        return None
    from spvlink.batches.shared import SharedResults

    return SharedResults(command.store, shards.read_key(command.store_key, "--store-key"))


def _linked(
    command: BatchCommand,
    place: OutputPlace,
    store: JobStore,
    version: str,
    merged: list[Shard] | None,
    shared: SharedResults | None,
) -> BatchReport:
    """Link all there is, or take the results of shards, and make OUT."""
    progress = Progress(len(place), command.progress)
    settings = _settings(command)
    memory = None if shared is None else _memory(command, place, settings, store, shared)
    recall = None if memory is None else memory.record
    plan = BatchPlan(place, settings, progress, command.variants, recall)
    seconds = {"plan": 0.0, "jobs": time.monotonic()}
    if merged is None:
        _do(command, plan, store, _timed(plan.make(), seconds), shared)
    else:
        from spvlink.batches import merge

        with contextlib.closing(progress):
            for job, record in merge.results(merged, list(plan.make()), place.module, store):
                plan.take(job, record)
    if command.options.strict:
        _refuse(plan)
    begin = time.monotonic()
    seconds["jobs"] = begin - seconds["jobs"]
    stays = place.write(command.out, store, plan.new, plan.variants is not None)
    if memory is not None:
        memory.keep(plan, store, stays)
    if shared is not None:
        shared.taken += sum(plan.known)
        shared.close()
    report = BatchReport(plan, stays, store, version, shared)
    report.seconds = seconds | {"write": time.monotonic() - begin}
    return report


def _memory(
    command: BatchCommand,
    place: OutputPlace,
    settings: JobSettings,
    store: JobStore,
    shared: SharedResults,
) -> PipelineMemory | None:
    """What earlier runs remembered of an archive; None where nothing is remembered."""
    if not command.archives or command.prune or command.variants is not None:
        return None
    from spvlink.batches import foz, memory

    assert isinstance(place, foz.Archives)
    if len(place) < memory.LEAST or not shared.recalls:
        return None
    whole = any(file is not None for file in (command.report, command.html, command.compare))
    made = memory.PipelineMemory(place.archive, settings.basis(), shared, store.folder, whole)
    place.memory = made
    return made


def _timed(jobs: Iterable[shards.Work], seconds: dict[str, float]) -> Iterator[shards.Work]:
    """The same jobs; adds up how long it takes to make them."""
    making = iter(jobs)
    while True:
        begin = time.monotonic()
        job = next(making, None)
        seconds["plan"] += time.monotonic() - begin
        if job is None:
            return
        yield job


def _do(
    command: BatchCommand,
    plan: BatchPlan,
    store: JobStore,
    jobs: Iterable[shards.Work],
    shared: SharedResults | None,
) -> None:
    """Do jobs of the plan."""
    with contextlib.closing(plan.progress), _executor(command) as (executor, window):
        try:
            module = plan.source.module
            for job, record in engine.run(jobs, module, executor, store, window, shared):
                plan.take(job, record)
        except (BrokenExecutor, CancelledError) as error:
            raise Usage(f"the workers were lost: {str(error) or type(error).__name__}") from None


@contextlib.contextmanager
def _executor(command: BatchCommand) -> Iterator[tuple[Executor, int]]:
    """What runs the jobs, and how many at a time."""
    if command.dask is not None:
        from spvlink.batches.cluster import connected

        with connected(command.dask, command.jobs, command.timeout, command.memory) as cluster:
            yield cluster, cluster.window
            cluster.shutdown()
        return
    pool = Pool(command.jobs, command.timeout, command.memory)
    try:
        yield pool, pool.window
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _refuse(plan: BatchPlan) -> None:
    """With --strict: raise if a pipeline had to be passed through, or its stages do not match. One
    with nothing to gain did not have to be."""
    for index in range(len(plan.jobs)):
        result = plan.result(index)
        if result is None or result.kind not in (LINKED, UNCHANGED):
            raise SpvlinkError(f"passed through: {plan.line(index)}").while_("being --strict")
        if result.warnings:
            raise SpvlinkError(plan.line(index)).while_("being --strict")


# -- what people see -------------------------------------------------------------------------------


def _tell(
    command: BatchCommand, report: BatchReport, say: Callable[[Iterable[str]], object]
) -> None:
    """The report where it was asked for, and how it went on standard error."""
    with contextlib.ExitStack() as files:  # all of them or none
        for path, pieces in _reports(command, report):
            if path == "-":
                say(pieces)
            else:
                files.enter_context(writing(path)).writelines(pieces)
    if command.progress == NEVER:
        return
    plan = report.plan
    warnings = plan.source.warnings
    lines = _of_store(report.results)
    lines += _listed("warning", warnings, len(warnings))
    lines += _listed("warning", plan.flawed, len(plan.flawed) + plan.more_flawed)
    lines += _listed("passed through", plan.bad, len(plan.bad) + plan.more_bad)
    lines.append(f"spvlink: {report.line()}")
    _print(lines)


def print_lines(lines: Iterable[str]) -> None:
    """Lines for people on standard error."""
    _print([f"spvlink: {line}" for line in lines])


def _print(lines: list[str]) -> None:
    with contextlib.suppress(OSError):
        print("\n".join(lines), file=sys.stderr, flush=True)


def _reports(command: BatchCommand, report: BatchReport) -> Iterator[tuple[str, Iterable[str]]]:
    """(file, what it is to hold)."""
    if command.report is not None:
        lines = command.report.endswith(LINES)
        yield command.report, report.lines() if lines else report.text()
    if command.html is not None:
        from spvlink.page import page

        parts = report.line(), report.totals, report.jobs(), report.pipelines()
        yield command.html, page.of_batch(report.version, *parts, report.unknown())


def _of_store(shared: SharedResults | None) -> list[str]:
    """What is to be said of the store of ``--store``."""
    if shared is None:
        return []
    lines = [f"spvlink: warning: {line}" for line in shared.warnings()]
    return [*lines, f"spvlink: store: {shared.line()}"]


def _listed(what: str, first: list[str], count: int) -> list[str]:
    """The first lines, and how many more there are."""
    lines = [f"spvlink: {what}: {line}" for line in first[:LISTED]]
    more = count - len(lines)
    return [*lines, f"spvlink: {what}: {more} more"] if more else lines


def _check_target(command: BatchCommand) -> None:
    """Raise Usage where the output would take the place of something else."""
    out = command.out
    if os.path.basename(out) in (".", ".."):
        raise Usage(f"-o {out}: expected the name of a new folder")
    for path in command.inputs:
        if os.path.realpath(path) in (os.path.realpath(out), os.path.realpath(f"{out}/{NAME}")):
            raise Usage(f"{out}: the output would overwrite an input")
    for option, file in (("--report", command.report), ("--html", command.html)):
        if file is not None and file != "-":
            _check_report(command, option, file)
    if command.folder is not None and _inside(out, command.inputs[0]):
        raise Usage(f"-o {out}: it is inside the folder that is read")
    store = command.store
    if store is not None and "://" not in store and (_inside(out, store) or _inside(store, out)):
        raise Usage(f"--store {store}: -o {out} is in it, or the other way round")
    for shard in command.shards or ():
        for path in (out, out + SUFFIX, command.report or "", command.html or ""):
            if path and (_inside(path, shard) or _inside(shard, path)):
                raise Usage(f"{path}: this is in the folder of a shard, or the other way round")
    if command.writes_file:
        if os.path.isdir(out):
            raise Usage(f"{out}: there is a folder of this name")
    elif os.path.lexists(out):
        if not os.path.isdir(out) or os.path.islink(out):
            raise Usage(f"{out}: there is a file of this name")
        mark = NAME if command.shard is None else HEADER
        if os.listdir(out) and not os.path.exists(os.path.join(out, mark)):
            raise Usage(f"{out}: there is something else in this folder")
        there = shards.number_in(out) if command.shard is not None else None
        if there not in (None, command.shard):
            raise Usage(f"{out}: there is shard {there[0]}/{there[1]} in this folder")


def _inside(path: str, folder: str) -> bool:
    """Whether a path is a folder, or in it."""
    return (os.path.realpath(path) + os.sep).startswith(os.path.realpath(folder) + os.sep)


def _check_report(command: BatchCommand, option: str, path: str) -> None:
    """Raise Usage for a report that cannot be written: better now than after hours."""
    real = os.path.realpath(path)
    if real in map(os.path.realpath, [*command.inputs, command.out]):
        raise Usage(f"{option} {path}: this is a file of the batch")
    folder = os.path.dirname(real)
    if not os.path.isdir(folder) or os.path.isdir(real):
        what = "Is a directory" if os.path.isdir(real) else "No such folder"
        raise Usage(f"{path}: cannot write it: {what}")
    if not os.access(folder, os.W_OK) and not os.access(real, os.W_OK):
        raise Usage(f"{path}: cannot write it: Permission denied")
