"""The command ``spvlink batch``; what it promises is written in ``arguments.HELP``."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError
from typing import IO, TYPE_CHECKING

from spvlink import validate
from spvlink.batches import arguments, engine, work
from spvlink.batches.arguments import Command
from spvlink.batches.jobs import Settings
from spvlink.batches.manifest import NAME, Manifest
from spvlink.batches.plan import LISTED, Plan
from spvlink.batches.pool import Pool
from spvlink.batches.progress import NEVER, Progress
from spvlink.batches.store import SUFFIX, Store, check_place, writing
from spvlink.batches.summary import Report
from spvlink.errors import Broken, SpvlinkError, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from spvlink.batches.ends import Place


def main(words: list[str], version: str) -> SpvlinkError | None:
    """Do it. Gives the error that the exit status is to tell of, which did not keep OUT from being
    made; raises those that did."""
    gc.enable()  # not a short life, as others of the command's are
    command = arguments.parse(words)
    if command.layout is not None:
        from spvlink.layout import read_layout

        command.options.layout = read_layout(command.layout)
    if command.options.validate and not validate.available():
        raise validate.missing()
    _check_target(command)
    begin = time.monotonic()
    with _opened(command) as place:
        limits = f"{command.timeout:g} s {command.memory} MB"
        other = "" if command.archives else command.out
        store = Store(command.out + SUFFIX, other, limits)
        done = False
        try:
            report = _linked(command, place, store, version)
            report.seconds["together"] = time.monotonic() - begin
            _tell(command, report)
            done = True
        finally:
            store.close(done)
    if report.defects:
        what = f"{report.defects} of {len(report.plan.jobs)} pipelines"
        return Broken(f"a defect of spvlink: {what} were passed through because of it")
    return None


@contextlib.contextmanager
def _opened(command: Command) -> Iterator[Place]:
    if not command.archives:
        yield Manifest(command.inputs[0])
        return
    from spvlink.batches.foz import Archives

    with Archives(command.inputs) as archives:
        yield archives


def _linked(command: Command, place: Place, store: Store, version: str) -> Report:
    """Link all there is and make OUT."""
    plan = Plan(place, Settings(command.options), Progress(len(place), command.progress))
    with contextlib.closing(plan.progress), _executor(command) as (executor, workers):
        try:
            jobs = engine.run(plan.make(), place.module, executor, store, 2 * workers)
            for job, record in jobs:
                plan.take(job, record)
        except (BrokenExecutor, CancelledError) as error:
            raise Usage(f"the workers were lost: {str(error) or type(error).__name__}") from None
    if command.options.strict:
        _refuse(plan)
    stays = place.write(command.out, store, plan.new)
    return Report(plan, stays, store, version)


@contextlib.contextmanager
def _executor(command: Command) -> Iterator[tuple[Executor, int]]:
    """What runs the jobs, and how many at a time."""
    if command.dask is not None:
        from spvlink.batches.cluster import connected

        with connected(command.dask, command.jobs, command.timeout, command.memory) as cluster:
            yield cluster, cluster.workers
            cluster.shutdown()
        return
    pool = Pool(command.jobs, command.timeout, command.memory)
    try:
        yield pool, command.jobs
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _refuse(plan: Plan) -> None:
    """With --strict: raise if a pipeline had to be passed through. One with nothing to gain did not
    have to be."""
    for index in range(len(plan.jobs)):
        result = plan.result(index)
        if result is None or result.kind not in (work.LINKED, work.UNCHANGED):
            raise SpvlinkError(f"passed through: {plan.line(index)}").while_("being --strict")


# -- what people see -------------------------------------------------------------------------------


def _tell(command: Command, report: Report) -> None:
    """The report where it was asked for, and how it went on standard error."""
    with contextlib.ExitStack() as both:
        if command.report is not None:
            report.write(both.enter_context(_writing(command.report)))
        if command.html is not None:
            from spvlink.page import page

            file = both.enter_context(_writing(command.html))
            told = report.line(), report.totals, report.jobs(), report.pipelines()
            file.writelines(page.of_batch(report.version, *told))
    if command.progress == NEVER:
        return
    plan = report.plan
    warnings = plan.source.warnings
    lines = _listed("warning", warnings, len(warnings))
    lines += _listed("passed through", plan.bad, len(plan.bad) + plan.more_bad)
    lines.append(f"spvlink: {report.line()}")
    with contextlib.suppress(OSError):
        print("\n".join(lines), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _writing(path: str) -> Iterator[IO[str]]:
    """A file, or standard output (-), to write to. Raises Usage."""
    if path != "-":
        with writing(path) as file:
            yield file
        return
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        raise Usage(f"standard output: {error.strerror}") from None


def _listed(what: str, first: list[str], count: int) -> list[str]:
    """The first lines, and how many more there are."""
    lines = [f"spvlink: {what}: {line}" for line in first[:LISTED]]
    more = count - len(lines)
    return [*lines, f"spvlink: {what}: {more} more"] if more else lines


def _check_target(command: Command) -> None:
    """Raise Usage where the output would take the place of something else."""
    out = command.out
    if os.path.basename(out) in (".", ".."):
        raise Usage(f"-o {out}: expected the name of a new folder")
    for path in (command.report, command.html):
        if path is not None and path != "-":
            check_place(path, [*command.inputs, out])
    for path in command.inputs:
        if os.path.realpath(path) in (os.path.realpath(out), os.path.realpath(f"{out}/{NAME}")):
            raise Usage(f"{out}: the output would overwrite an input")
    if command.archives:
        if os.path.isdir(out):
            raise Usage(f"{out}: there is a folder of this name")
    elif os.path.lexists(out):
        if not os.path.isdir(out) or os.path.islink(out):
            raise Usage(f"{out}: there is a file of this name")
        if os.listdir(out) and not os.path.exists(os.path.join(out, NAME)):
            raise Usage(f"{out}: there is something else in this folder")
