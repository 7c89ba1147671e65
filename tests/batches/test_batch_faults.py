"""``spvlink batch`` when things go wrong: links that hang, crash or eat memory; kills; disks."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink.batches import slot
from spvlink.batches.pool import Pool
from spvlink.batches.slot import CRASHED, MEMORY, TIMEOUT, Trouble
from spvlink.errors import Broken
from tests.archive.writing import RECORDED
from tests.support import batch_acts
from tests.support.batch_sets import (
    NAMES,
    VARIABLES,
    batch,
    command,
    heavy,
    lines_for,
    result_lines,
    tree,
    write_lines,
)
from tests.support.chains import build
from tests.support.small_disk import on_a_small_disk


@contextlib.contextmanager
def pool(processes: int = 1, timeout: float = 60.0, memory: int = 2048) -> Iterator[Pool]:
    made = Pool(processes, timeout, memory)
    try:
        yield made
    finally:
        made.shutdown(cancel_futures=True)


def alive(pid: int) -> bool:
    """Whether a process runs: what nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def gone(pid: int, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


# -- workers ---------------------------------------------------------------------------------------


def test_a_pool_is_an_executor() -> None:
    with pool(2) as workers:
        sums = [workers.submit(batch_acts.add, n, 1) for n in range(20)]
        assert [s.result() for s in sums] == list(range(1, 21))
        pids = {workers.submit(batch_acts.process).result() for _ in range(10)}
        assert len(pids) <= 2 and os.getpid() not in pids
        with pytest.raises(LookupError, match="not here"):
            workers.submit(batch_acts.fail).result()
        with pytest.raises(Broken, match="Stubborn: stubborn"):
            workers.submit(batch_acts.fail_stubbornly).result()
        assert workers.submit(batch_acts.talk).result() == "done"
        assert {workers.submit(batch_acts.process).result() for _ in range(10)} <= pids
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize(
    ("act", "kind", "reason"),
    [
        (batch_acts.hang, TIMEOUT, "it took more than 1 s"),
        (batch_acts.crash, CRASHED, "the linker process died of SIGSEGV at it"),
        (batch_acts.abort, CRASHED, "the linker process died of SIGABRT at it"),
        (batch_acts.gorge, MEMORY, "it took more than 200 MB of memory"),
        (batch_acts.abort_without_memory, MEMORY, "it took more than 200 MB of memory"),
    ],
)
def test_trouble_costs_its_own_work_only(act: object, kind: str, reason: str) -> None:
    with pool(2, timeout=1.0, memory=200) as workers:
        good = [workers.submit(batch_acts.add, n, 1) for n in range(5)]
        bad = workers.submit(act)  # type: ignore[arg-type]
        good += [workers.submit(batch_acts.add, n, 1) for n in range(5, 10)]
        with pytest.raises(Trouble) as trouble:
            bad.result()
        assert (trouble.value.kind, trouble.value.reason) == (kind, reason)
        assert [g.result() for g in good] == list(range(1, 11))
        assert workers.submit(batch_acts.add, 1, 1).result() == 2


def test_what_travels_together(tmp_path: Path) -> None:
    """Each answer is its own, whatever the others do to the process."""
    errands: list[slot.Errand] = [
        (batch_acts.add, (1, 1)),
        (batch_acts.crash, ()),
        (batch_acts.process, ()),
        (batch_acts.crash_once, (str(tmp_path / "note"),)),
        (batch_acts.process, ()),
        (batch_acts.hang, ()),
        (batch_acts.fail, ()),
        (batch_acts.gorge, ()),
        (batch_acts.add, (2, 1)),
    ]
    one = slot.WorkerSlot(timeout=1.0, memory=200)
    try:
        answers = list(one.run_all(errands))
    finally:
        one.end()
    bad = [at for at, (good, _) in enumerate(answers) if not good]
    assert len(answers) == len(errands) and bad == [1, 5, 6, 7]
    results = [result for _, result in answers]
    assert (results[0], results[3], results[8]) == (2, "done", 3)
    assert [results[at].kind for at in (1, 5, 7)] == [CRASHED, TIMEOUT, MEMORY]
    assert isinstance(results[6], LookupError)
    assert results[2] != results[4]


def test_small_work_travels_in_bundles() -> None:
    """And each process gets its part."""
    with pool(2) as workers:
        list(workers.map(batch_acts.add, range(40), range(40)))  # the processes are there
        sent: list[int] = []
        for one in workers.slots:
            one.run_all = counted(sent, one.run_all)  # type: ignore[method-assign]
        done = list(workers.map(batch_acts.add, range(200), range(200)))
    assert done == [2 * n for n in range(200)]
    assert sum(sent) == 200 and max(sent) <= 16 and len(sent) < 100


def counted(sent: list[int], run_all: Callable[..., Any]) -> Callable[..., Any]:
    """Note how many errands each message has."""

    def run(errands: list[slot.Errand]) -> Any:
        sent.append(len(errands))
        return run_all(errands)

    return run


def test_what_cannot_be_read_is_an_answer() -> None:
    one = slot.WorkerSlot(timeout=10.0, memory=200)
    try:
        answers = list(one.run_all([(batch_acts.add, (batch_acts.Riddle(), 1))] * 2))
        assert [str(error) for _, error in answers] == ["riddle", "riddle"]
        assert one.run(batch_acts.add, (1, 1)) == 2
    finally:
        one.end()


def test_a_pool_that_is_shut_down_takes_nothing() -> None:
    with pool() as workers:
        workers.submit(batch_acts.add, 1, 1).result()
        workers.shutdown()
        with pytest.raises(RuntimeError):
            workers.submit(batch_acts.add, 1, 1)


def test_a_worker_that_somebody_killed_is_no_fault_of_its_work(tmp_path: Path) -> None:
    with pool() as workers:
        assert workers.submit(batch_acts.crash_once, str(tmp_path / "note")).result() == "done"


def test_workers_are_recycled() -> None:
    with pool() as workers:
        workers.slots[0].uses = 3
        pids = [workers.submit(batch_acts.process).result() for _ in range(7)]
        assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 1]
        assert gone(pids[0])


def test_a_hung_worker_takes_its_children_with_it(tmp_path: Path) -> None:
    note = tmp_path / "child"
    with pool(timeout=1.0) as workers, pytest.raises(Trouble):
        workers.submit(batch_acts.hang_with_child, str(note)).result()
    assert gone(int(note.read_text()))


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """However that dies, and whatever they do."""
    note = tmp_path / "child"
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from spvlink.batches.pool import Pool; from tests.support import batch_acts\n"
        "pool = Pool(2); print(pool.submit(batch_acts.process).result(), flush=True)\n"
        f"pool.submit(batch_acts.hang_with_child, {str(note)!r}).result()"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    while not note.exists() or not note.read_text():
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(worker) and gone(int(note.read_text()))


def test_a_worker_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pool() as workers:
        monkeypatch.setattr(sys, "path", [])
        with pytest.raises(Broken, match="a worker process does not start: ModuleNotFoundError"):
            workers.submit(batch_acts.add, 1, 1).result()


def test_a_worker_that_never_says_hello(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its start has a limit of time, too."""
    (tmp_path / "spvlink.py").write_text("import time\ntime.sleep(1000)\n")
    monkeypatch.setattr(slot, "_START", 0.5)
    with pool(timeout=0.1) as workers:
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        with pytest.raises(Broken, match="a worker process does not start: it died of SIGKILL"):
            workers.submit(batch_acts.add, 1, 1).result()


# -- links that go wrong ---------------------------------------------------------------------------


def test_links_that_hang_crash_or_gorge() -> None:
    """Planted in an executor: all other pipelines come back linked, those as they were."""
    marked = [batch_acts.MARK + name for name in (b"hang", b"crash", b"gorge")]
    pipelines = [build("decal"), *([mark] for mark in marked), build("gbuffer")]
    with pool(2, timeout=3.0, memory=400) as workers:
        results = list(spvlink.batch(pipelines, executor=batch_acts.Planted(workers)))
    found = {r.index: r for r in results}
    assert [found[n].kind for n in range(5)] == ["linked", "failed", "failed", "failed", "linked"]
    reasons = [found[n].linked.passed_through for n in (1, 2, 3)]
    assert reasons == [
        "it took more than 3 s",
        "the linker process died of SIGSEGV at it",
        "it took more than 400 MB of memory",
    ]
    assert [found[n].linked.stages[0].data for n in (1, 2, 3)] == marked


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest of two small pipelines and a heavy one between them."""
    folder = tmp_path_factory.mktemp("mixed")
    lines = lines_for(folder, ("decal", "gbuffer"))
    for stage, code in heavy().items():
        (folder / f"heavy.{stage}.spv").write_bytes(code)
    files = [{"file": f"heavy.{stage}.spv"} for stage in heavy()]
    return write_lines(folder / "m.jsonl", [lines[0], {"id": "heavy", "stages": files}, lines[1]])


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (["--timeout", "0.2"], "it took more than 0.2 s"),
        (["--memory", "50"], "it took more than 50 MB of memory"),
    ],
)
def test_a_real_link_that_takes_too_much(
    limit: list[str], reason: str, mixed: Path, tmp_path: Path
) -> None:
    out, report = tmp_path / "out", tmp_path / "r.json"
    said = batch(mixed, "-o", out, "--jobs", "1", "--no-validate", "--report", report, *limit)
    assert f"spvlink: passed through: heavy: {reason}\n" in said and "1 failed" in said
    kinds = {p["id"]: p["kind"] for p in json.loads(report.read_text())["pipelines"]}
    assert kinds == {"decal": "linked", "heavy": "failed", "gbuffer": "linked"}
    files = [out / stage["file"] for stage in result_lines(out)[1]["stages"]]
    assert [file.read_bytes() for file in files] == list(heavy().values())


def test_a_failure_is_kept_for_the_same_limits(mixed: Path, tmp_path: Path) -> None:
    """--strict makes nothing, but what was done is not done again; another limit is a new try."""
    words = [mixed, "-o", tmp_path / "out", "--jobs", "1", "--no-validate"]
    said = batch(*words, "--memory", "50", "--strict", status=1)
    assert "spvlink: error: passed through: heavy: it took more than 50 MB" in said
    assert "1 failed" in batch(*words, "--memory", "50", "--report", tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())["totals"]["found"]
    assert found == 3
    batch(*words, "--memory", "50", "--strict", status=1)
    assert "failed" not in batch(*words, "--memory", "2000", "--report", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["totals"]["found"] == 2


def test_a_broken_executor_is_heard_of() -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as workers:
        planted = batch_acts.Planted(workers)
        with pytest.raises(BrokenExecutor):
            list(spvlink.batch([[batch_acts.MARK + b"crash"]], executor=planted))


def test_threads_are_executors_too() -> None:
    with ThreadPoolExecutor(1) as threads:
        results = list(spvlink.batch([build("decal"), build("decal")], executor=threads))
    assert [r.kind for r in results] == ["linked"] * 2
    expected = [s.data for s in spvlink.link(build("decal")).stages]
    for result in results:
        assert [s.data for s in result.linked.stages] == expected


# -- kills -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manifest")
    return write_lines(folder / "m.jsonl", lines_for(folder))


@pytest.fixture(scope="module")
def whole(manifest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of an undisturbed run."""
    out = tmp_path_factory.mktemp("whole") / "out"
    batch(manifest, "-o", out, "--jobs", "2")
    return out


def records(journal: Path) -> list[bytes]:
    """Finished jobs: the whole lines of the journal."""
    try:
        return [line for line in journal.read_bytes().splitlines(keepends=True) if b"\n" in line]
    except FileNotFoundError:
        return []


def test_kills_at_ten_moments(manifest: Path, whole: Path, tmp_path: Path) -> None:
    """Each time: OUT is not there or complete, nothing that was done is done again, and in the end
    it is the same bytes."""
    expected = tree(whole)
    chance = random.Random(19)
    goings_on = 0
    for moment in range(10):
        out, report = tmp_path / f"out{moment}", tmp_path / f"r{moment}.json"
        words = command(manifest, "-o", out, "--jobs", "2", "--report", report)
        process = subprocess.Popen(words, env=VARIABLES, stderr=subprocess.PIPE)
        finished = tmp_path / f"out{moment}.partial" / "jobs"
        while process.poll() is None and len(records(finished)) < moment * len(NAMES) // 10:
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.1))
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
        if out.exists():
            assert tree(out) == expected
            continue
        before = len(records(finished))
        batch(manifest, "-o", out, "--jobs", "2", "--report", report)
        found = json.loads(report.read_text())["totals"]["found"]
        assert found == before
        goings_on += found
        assert tree(out) == expected
        assert not (tmp_path / f"out{moment}.partial").exists()
    assert goings_on  # else the moments were not well chosen


@pytest.mark.parametrize("done", [1, 4, 99])
def test_kills_over_an_archive(done: int, tmp_path: Path) -> None:
    """99: while the archive is written, which is not there until it is complete."""
    out, partial = tmp_path / "out.foz", tmp_path / "out.foz.partial"
    words = command(RECORDED, "-o", out, "--jobs", "2")
    process = subprocess.Popen(words, env=VARIABLES, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(records(partial / "jobs")) < min(done, 11):
        time.sleep(0.001)
    process.kill()
    process.wait()
    before = len(records(partial / "jobs"))
    batch(RECORDED, "-o", tmp_path / "whole.foz", "--jobs", "1")
    whole = (tmp_path / "whole.foz").read_bytes()
    assert not out.exists() or out.read_bytes() == whole
    batch(RECORDED, "-o", out, "--jobs", "1", "--report", tmp_path / "r.json")
    assert out.read_bytes() == whole
    assert json.loads((tmp_path / "r.json").read_text())["totals"]["found"] == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.foz", "r.json", "whole.foz"]


@pytest.mark.parametrize("step", range(6))
def test_kills_while_the_result_is_delivered(
    step: int, manifest: Path, whole: Path, tmp_path: Path
) -> None:
    """At each of the last renames and removals: an older result is there, or none, or the new
    one."""
    out = tmp_path / "out"
    older = write_lines(manifest.parent / "older.jsonl", lines_for(manifest.parent, NAMES[:1]))
    batch(older, "-o", out, "--jobs", "1")
    before = tree(out)
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "import os, shutil; from spvlink import cli; from spvlink.batches import store\n"
        "steps = 0\n"
        "def dying(act):\n"
        "    def step(*a, **k):\n"
        "        global steps\n"
        f"        if delivering and steps == {step}: os.kill(os.getpid(), 9)\n"
        "        steps += delivering\n"
        "        return act(*a, **k)\n"
        "    return step\n"
        "delivering = False\n"
        "deliver = store.JobStore.deliver\n"
        "def noted(*words):\n"
        "    global delivering\n"
        "    delivering = True\n"
        "    return deliver(*words)\n"
        "store.JobStore.deliver = noted\n"
        "for name in ('rename', 'replace', 'unlink'): setattr(os, name, dying(getattr(os, name)))\n"
        "shutil.rmtree = dying(shutil.rmtree)\n"
        f"sys.exit(cli.main(['batch', {str(manifest)!r}, '-o', {str(out)!r}, '--jobs', '1']))"
    )
    done = subprocess.run([sys.executable, "-c", program], env=VARIABLES, capture_output=True)
    assert done.returncode in (-signal.SIGKILL, 0), done.stderr
    expected = tree(whole)
    assert not out.exists() or tree(out) in (before, expected)
    report = tmp_path / "r.json"
    delivered = out.exists() and tree(out) == expected
    batch(manifest, "-o", out, "--jobs", "1", "--report", report)
    assert tree(out) == expected
    if not delivered:
        assert json.loads(report.read_text())["totals"]["found"] == len(NAMES)


def test_a_damaged_store_is_done_again(manifest: Path, whole: Path, tmp_path: Path) -> None:
    """A machine that lost its power leaves files half-written or with other bytes in them."""
    lines = lines_for(tmp_path)
    lines.append({"id": "bad", "stages": [{"file": "none"}]})
    path = write_lines(tmp_path / "m.jsonl", lines)
    out, partial = tmp_path / "out", tmp_path / "out.partial"
    batch(path, "-o", out, "--jobs", "2", "--strict", status=1)
    jobs = records(partial / "jobs")
    modules = sorted((partial / "out" / "modules").iterdir())
    assert len(jobs) == len(NAMES)
    assert b"linked" in jobs[1]
    jobs[1] = jobs[1].replace(b"linked", b"linker")
    (partial / "jobs").write_bytes(b"".join(jobs)[:-1])
    modules[0].write_bytes(modules[0].read_bytes()[:-4])
    modules[1].unlink()
    path = write_lines(path, lines[:-1])
    batch(path, "-o", out, "--jobs", "2", "--report", tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())["totals"]["found"]
    assert 3 <= found <= 5 and tree(out) == tree(whole)


def test_two_at_once(manifest: Path, tmp_path: Path) -> None:
    """The first one is stopped while it holds the folder, however fast it is."""
    out = tmp_path / "out"
    words = command(manifest, "-o", out, "--jobs", "1")
    process = subprocess.Popen(words, env=VARIABLES, stderr=subprocess.PIPE)
    while not (tmp_path / "out.partial" / "jobs").exists():  # made behind the lock
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    try:
        assert "another spvlink batch is at work there" in batch(manifest, "-o", out, status=2)
    finally:
        process.send_signal(signal.SIGCONT)
    assert process.stderr is not None and process.stderr.read() and process.wait() == 0


# -- the disk --------------------------------------------------------------------------------------


def test_a_full_disk(manifest: Path, whole: Path, tmp_path: Path) -> None:
    """One line, and no OUT; when there is room, it goes on."""
    disk = tmp_path / "disk"
    size = sum(map(len, tree(whole).values())) // 1024
    kept = tmp_path / "kept"
    start = on_a_small_disk(disk, size // 2, "")
    at = start.index("-c") + 1
    words = command(manifest, "-o", disk / "out", "--jobs", "2")
    start[at] = start[at].replace('exec "$@"', f'"$@"; status=$?; cp -r "$0" {kept}; exit $status')
    done = subprocess.run([*start, *words], capture_output=True, text=True, env=VARIABLES)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1 and "No space left on device" in done.stderr
    assert sorted(p.name for p in kept.iterdir()) == ["out.partial"]
    batch(manifest, "-o", kept / "out", "--jobs", "2", "--report", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["totals"]["found"] > 0
    assert tree(kept / "out") == tree(whole)


def test_folders_that_cannot_be_written(manifest: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = batch(manifest, "-o", tmp_path / "file" / "out", status=2)
    assert "cannot write it: Not a directory" in said and said.count("\n") == 1
    said = batch(manifest, "-o", tmp_path / "o", "--report", tmp_path / "file" / "r", status=2)
    assert "file/r: cannot write it: No such folder" in said
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
