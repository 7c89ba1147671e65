"""``spvlink batch --dask``: a real scheduler and two workers on the loopback interface."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink.batches import cluster as cluster_module
from tests.support import batch_acts
from tests.support.batch_sets import VARIABLES, batch, command, lines_for, tree, write_lines
from tests.support.chains import PAIRS, build

distributed: Any = pytest.importorskip("distributed")

HERE = "tcp://127.0.0.1"
MANY = tuple(PAIRS[:24])  # enough to be in the middle of


@contextlib.contextmanager
def program(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """``dask`` with these words, ended at the end."""
    command = [sys.executable, "-m", "dask", *words]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=VARIABLES, stdout=quiet, stderr=quiet)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its two workers, of one thread each."""
    note = folder / "scheduler.json"
    with contextlib.ExitStack() as stack:
        listen = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        stack.enter_context(program("scheduler", *listen, "--scheduler-file", str(note)))
        words = ("--scheduler-file", str(note), "--nthreads", "1", "--no-dashboard", "--no-nanny")
        place = ("--local-directory", str(folder))
        workers = [stack.enter_context(program("worker", *words, *place)) for _ in range(2)]
        with distributed.Client(scheduler_file=str(note), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, workers


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A manifest and what comes of it here."""
    folder = tmp_path_factory.mktemp("here")
    manifest = write_lines(folder / "m.jsonl", lines_for(folder, MANY))
    batch(manifest, "-o", folder / "out", "--jobs", "1")
    return manifest, tree(folder / "out")


def test_a_cluster_that_loses_a_worker(
    expected: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    """The same bytes, with both workers and with one that is killed in the middle; then a job that
    crashes, hangs or eats memory costs itself only."""
    manifest, bytes_here = expected
    with cluster(tmp_path) as (address, workers):
        assert address.startswith(HERE)
        batch(manifest, "-o", tmp_path / "two", "--dask", address)
        assert tree(tmp_path / "two") == bytes_here

        out = tmp_path / "out"
        run = subprocess.Popen(
            command(manifest, "-o", out, "--dask", address), env=VARIABLES, stderr=subprocess.PIPE
        )
        jobs, done = tmp_path / "out.partial" / "jobs", 0
        while done < 2 and run.poll() is None:
            done = jobs.read_bytes().count(b"\n") if jobs.exists() else 0
            time.sleep(0.005)
        workers[0].kill()
        assert run.poll() is None and 2 <= done < len(MANY), "too late"
        _, said = run.communicate(timeout=120)
        assert run.returncode == 0 and b"failed" not in said, said
        assert tree(out) == bytes_here

        one_alone(address)


def one_alone(address: str) -> None:
    marked = [batch_acts.MARK + name for name in (b"hang", b"crash", b"gorge")]
    pipelines = [build("decal"), *([mark] for mark in marked), build("decal"), build("gbuffer")]
    with cluster_module.connected(address, 1, timeout=3.0, memory=400) as there:
        assert there.workers == 1
        results = list(spvlink.batch(pipelines, executor=batch_acts.Marked(there)))
        kinds = {r.index: r.kind for r in results}
        assert [kinds[n] for n in range(6)] == ["linked", *["failed"] * 3, *["linked"] * 2]
        there.shutdown()


def test_what_costs_workers_costs_no_other_job() -> None:
    """The bundle is lost with its worker, again and again; then each job of it is tried alone."""
    dask: Any = pytest.importorskip("dask")
    lethal = [batch_acts.MARK + b"kill_parent"]
    pipelines = [build("decal"), build("gbuffer"), lethal, build("car_paint"), build("water_tess")]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster_module.connected("local", 1, timeout=30.0, memory=2048) as there,
    ):
        there._under_way = cluster_module.AHEAD  # until all of them wait
        results = list(spvlink.batch(pipelines, executor=Held(there, len(pipelines))))
        assert there.sent > len(pipelines)  # bundles first, then each job
        there.shutdown()
    kinds = {result.index: result.kind for result in results}
    assert kinds == {0: "linked", 1: "linked", 2: "failed", 3: "linked", 4: "linked"}


class Held(batch_acts.Marked):
    """Lets a cluster send nothing before so many jobs wait, so that there are bundles."""

    def __init__(self, inner: cluster_module.Cluster, count: int) -> None:
        super().__init__(inner)
        self.count = count

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.count -= 1
        if not self.count:
            self.inner._under_way = 0  # type: ignore[attr-defined]
        return super().submit(fn, *args)


def test_bundles(expected: tuple[Path, dict[str, bytes]]) -> None:
    """Few tasks for many jobs, a module once in each; no job waits for more to come."""
    decal, paint = build("decal"), build("car_paint")
    errands = [cluster_module._Errand(print, n, (decal[0], paint[1], paint[1])) for n in range(3)]
    bundle = cluster_module.Bundle(errands)
    assert bundle.modules == [decal[0], paint[1]]
    assert bundle.jobs == [(print, n, [0, 1, 1]) for n in range(3)]
    pipelines = [(decal, spvlink.Options(cost_limit=n)) for n in range(200)]
    with cluster_module.connected("local", 1, timeout=30.0, memory=2048) as there:
        results = list(spvlink.batch(pipelines, executor=there))
        assert {r.kind for r in results} == {"linked"} and len(results) == 200
        assert 200 / cluster_module.BUNDLE <= there.sent < 100
        (only,) = spvlink.batch([paint], executor=there)
        assert only.kind == "linked"
        there.shutdown()


def test_a_scheduler_that_is_lost(expected: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    """One line, soon; the same command goes on."""
    manifest, bytes_here = expected
    out, note = tmp_path / "out", tmp_path / "scheduler.json"
    listen = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    with contextlib.ExitStack() as stack:
        words = (*listen, "--scheduler-file", str(note))
        scheduler = stack.enter_context(program("scheduler", *words))
        words = ("--scheduler-file", str(note), "--nthreads", "1", "--no-dashboard", "--no-nanny")
        stack.enter_context(program("worker", *words, "--local-directory", str(tmp_path)))
        with distributed.Client(scheduler_file=str(note), timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            address = client.scheduler.address
        run = subprocess.Popen(
            command(manifest, "-o", out, "--dask", address), env=VARIABLES, stderr=subprocess.PIPE
        )
        jobs = tmp_path / "out.partial" / "jobs"
        while run.poll() is None and not (jobs.exists() and jobs.read_bytes().count(b"\n") > 1):
            time.sleep(0.005)
        scheduler.kill()
        _, said = run.communicate(timeout=120)
    assert run.returncode == 2 and said.count(b"\n") == 1, said.decode()
    assert said.startswith(b"spvlink: error: the workers were lost: ") and not out.exists()
    batch(manifest, "-o", out, "--jobs", "1")
    assert tree(out) == bytes_here


def test_local(expected: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    manifest, bytes_here = expected
    batch(manifest, "-o", tmp_path / "out", "--dask", "local", "--jobs", "1")
    assert tree(tmp_path / "out") == bytes_here


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        there = cluster_module.connected(address, 1, 60.0, 2048)
        with pytest.raises(spvlink.Usage, match=f"^--dask {address}: "), there:
            pass


def test_a_worker_with_another_spvlink(
    expected: tuple[Path, dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results would not be what the key says: nothing is made."""
    from concurrent.futures import ThreadPoolExecutor

    from spvlink.batches import work

    monkeypatch.setattr(work, "identity", lambda validating: "another")
    with ThreadPoolExecutor(1) as threads, pytest.raises(spvlink.Usage, match="another spvlink"):
        list(spvlink.batch([build("decal")], executor=threads))
