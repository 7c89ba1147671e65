"""``spvlink batch --store``: results that runs and machines share, and stores that lie."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import cli
from spvlink.batches import entries, shared
from spvlink.batches.jobs import JobSettings
from spvlink.batches.manifest import Manifest
from spvlink.batches.pipelines import digest_of
from spvlink.batches.places import StoreFolder
from spvlink.batches.shards import secret_of
from spvlink.batches.work import JobOutcome
from spvlink.options import Options
from spvlink.pipeline import LINKED
from tests.archive.writing import RECORDED
from tests.support.batch_sets import (
    NAMES,
    VARIABLES,
    batch,
    command,
    lines_for,
    tree,
    write_lines,
)
from tests.support.chains import build
from tests.support.samples import assemble, disassemble
from tests.support.small_disk import on_a_small_disk

JOBS = len(NAMES)
GONE = {"file": "gone.spv"}
FIRST = re.compile(r"store: (\d+) of (\d+) jobs were there, (\d+) are new")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    return write_lines(folder / "all.jsonl", lines_for(folder))


@pytest.fixture(scope="module")
def expected(given: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What comes out without a store."""
    out = tmp_path_factory.mktemp("expected") / "out"
    batch(given, "-o", out, "--jobs", "1")
    return tree(out)


@pytest.fixture(scope="module")
def filled(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that has all results, without seals. Nobody may write to it."""
    folder = tmp_path_factory.mktemp("filled")
    batch(given, "-o", folder / "out", "--jobs", "1", "--store", folder / "store")
    return folder / "store"


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(filled, tmp_path / "store"))


class Run:
    """A run in this process with a store: what it took, what it did, what it said and made."""

    def __init__(self, said: str, made: dict[str, bytes]) -> None:
        self.said = said
        self.made = made
        found = FIRST.search(said)
        assert found is not None, said
        self.taken, self.all, self.new = map(int, found.groups())
        self.warnings = [line for line in said.splitlines() if "warning: --store" in line]


@pytest.fixture
def run(given: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def run(*words: object, source: object = given) -> Run:
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        everything = ["batch", source, "-o", out, "--jobs", "1", *words]
        assert cli.main([str(word) for word in everything]) == 0
        said = capfd.readouterr().err
        assert "Traceback" not in said
        return Run(said, tree(out))

    return run


def objects(store: Path) -> list[Path]:
    """The entries of a store, in an order that does not change."""
    return sorted(path for path in store.rglob("*") if path.is_file())


def of_others(store: Path) -> None:
    """Let it look as if others could have written the entries."""
    for path in objects(store):
        path.chmod(0o664)


def opened(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """What an entry says, and its modules."""
    packed = path.read_bytes().split(b"\n", 2)[2]
    text, _, rest = zlib.decompress(packed).partition(b"\n")
    said = json.loads(text)
    modules = []
    for _, size in said["modules"]:
        modules.append(rest[:size])
        rest = rest[size:]
    return said, modules


def forge(path: Path, said: object, modules: list[bytes], secret: bytes = b"") -> None:
    """Write an entry as somebody would who lies: the digests are right."""
    if isinstance(said, dict) and isinstance(said.get("modules"), list):
        names = {old[0]: digest_of(data) for old, data in zip(said["modules"], modules)}
        said["modules"] = [[digest_of(data), len(data)] for data in modules]
        for part in said["parts"]:
            part["modules"] = [names.get(name, name) for name in part["modules"]]
    packed = zlib.compress(b"\n".join([json.dumps(said).encode(), b"".join(modules)]))
    digest = blake2b(packed, digest_size=32).hexdigest()
    facts = json.dumps(["spvlink-store", path.name, digest]).encode()
    seal = blake2b(facts, digest_size=32, key=secret).hexdigest() if secret else None
    header = json.dumps({"key": path.name, "digest": digest, "seal": seal}).encode()
    path.write_bytes(entries.MAGIC + header + b"\n" + packed)


# -- runs that share -------------------------------------------------------------------------------


def test_a_store_changes_no_byte(
    run: Callable[..., Run], expected: dict[str, bytes], tmp_path: Path
) -> None:
    words = ("--store", tmp_path / "s", "--report", tmp_path / "r.json")
    reports = []
    for taken in (0, JOBS, JOBS):
        done = run(*words)
        assert (done.taken, done.all, done.new) == (taken, JOBS, JOBS - taken)
        assert done.made == expected and not done.warnings
        reports.append(json.loads((tmp_path / "r.json").read_text()))
        assert reports[-1].pop("seconds") and reports[-1]["totals"].pop("stored") == taken
    assert reports[0] == reports[1] == reports[2]
    assert len(objects(tmp_path / "s")) == JOBS and not list((tmp_path / "s" / "tmp").iterdir())


def test_only_what_changed_is_done(
    run: Callable[..., Run], given: Path, store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(given.parent, folder)
    fragment = folder / "decal.frag.spv"
    text = disassemble(fragment.read_bytes())
    changed, count = re.subn(r"(= OpConstant %float) 0\.5\b", r"\1 0.25", text)
    assert count
    fragment.write_bytes(assemble(changed))
    plain = run("--store", tmp_path / "none", source=folder / "all.jsonl")
    done = run("--store", store, source=folder / "all.jsonl")
    assert (done.taken, done.new) == (JOBS - 1, 1) and done.made == plain.made
    assert run("--store", store, source=folder / "all.jsonl").new == 0


def test_other_options_are_other_results(run: Callable[..., Run], store: Path) -> None:
    assert run("--store", store, "--exact").taken == 0
    assert run("--store", store, "--exact").taken == JOBS
    assert run("--store", store, "--relaxed").taken == 0
    assert run("--store", store).taken == JOBS


@pytest.mark.parametrize("words", [(), ("--variants", "1"), ("--prune",)])
def test_an_archive(words: tuple[str, ...], tmp_path: Path) -> None:
    """Families of pipelines that share modules are one entry each."""
    batch(RECORDED, "-o", tmp_path / "plain.foz", "--jobs", "2", *words)
    for taken in (False, True):
        out = tmp_path / f"{taken}.foz"
        said = batch(RECORDED, "-o", out, "--jobs", "2", "--store", tmp_path / "s", *words)
        found = FIRST.search(said)
        assert found is not None and found[1 if taken else 3] == found[2]
        assert out.read_bytes() == (tmp_path / "plain.foz").read_bytes()
        assert (len(objects(tmp_path / "s")) < int(found[2])) == ("--variants" in words)


def test_a_changed_variant_takes_its_family_with_it(
    run: Callable[..., Run], given: Path, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in given.read_text().splitlines()]
    pair = next(line for line in lines if line["id"] == "decal")
    twice = [pair, pair | {"id": "again", "complete": True}, lines[0]]
    folder = tmp_path / "family"
    shutil.copytree(given.parent, folder)
    source = write_lines(folder / "m.jsonl", twice)
    words = ("--store", tmp_path / "s", "--variants", "1")
    assert run(*words, source=source).new == 3
    write_lines(source, [*twice, pair | {"id": "third", "stages": pair["stages"][:1]}])
    done = run(*words, source=source)
    assert (done.taken, done.new) == (1, 3)
    shutil.rmtree(tmp_path / "s")
    assert run(*words, source=source).made == done.made


def test_shards_share_with_one_run(
    given: Path, store: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    """What one run did, shards take; ``merge`` takes the option and needs no store."""
    shards = [tmp_path / f"shard{number}" for number in (1, 2)]
    taken = 0
    for number, out in enumerate(shards, 1):
        said = batch(given, "-o", out, "--shard", f"{number}/2", "--store", store, "--jobs", "1")
        found = FIRST.search(said)
        assert found is not None and found[1] == found[2]
        taken += int(found[1])
    assert taken == JOBS
    words = ["merge", given, *shards, "-o", tmp_path / "out", "--store", tmp_path / "none"]
    assert cli.main([*map(str, words), "--progress", "never"]) == 0
    assert tree(tmp_path / "out") == expected and not (tmp_path / "none").exists()


def test_a_run_that_goes_on_asks_for_the_rest(
    given: Path, filled: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    """Results in OUT.partial come first, and count as found."""
    lines = [json.loads(line) for line in given.read_text().splitlines()]
    part = write_lines(given.parent / "part.jsonl", [*lines[:2], {"id": "-", "stages": [GONE]}])
    out, report = tmp_path / "out", tmp_path / "r.json"
    batch(part, "-o", out, "--strict", status=1)
    batch(given, "-o", out, "--store", filled, "--report", report)
    totals = json.loads(report.read_text())["totals"]
    assert (totals["found"], totals["stored"]) == (2, JOBS - 2) and tree(out) == expected


def test_two_runs_at_once(given: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            command(given, "-o", tmp_path / f"out{n}", "--jobs", "1", "--store", tmp_path / "s"),
            env=VARIABLES,
            stderr=subprocess.PIPE,
        )
        for n in range(3)
    ]
    for n, process in enumerate(started):
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0 and b"warning" not in said, said
        assert tree(tmp_path / f"out{n}") == expected
    assert len(objects(tmp_path / "s")) == JOBS


def test_what_a_killed_run_left_half_goes(
    run: Callable[..., Run], store: Path, tmp_path: Path
) -> None:
    left = store / "tmp" / "half", store / "tmp" / "young"
    for path in left:
        path.write_bytes(b"half")
    os.utime(left[0], (1, 1))
    objects(store / objects(store)[0].parent.name)[0].unlink()
    assert run("--store", store).new == 1
    assert [path.exists() for path in left] == [False, True]


def test_from_python(tmp_path: Path) -> None:
    pipelines = [list(build(name)) for name in ("decal", "gbuffer")]
    found: list[Any] = []
    for number in range(4):
        place, secret = str(tmp_path / f"s{number // 2}"), (b"", b"a secret")[number // 2]
        results = spvlink.batch(pipelines, store=place, store_key=secret)
        ordered = sorted(results, key=lambda one: one.index)
        found.append([[stage.data for stage in one.linked.stages] for one in ordered])
    assert found[0] == found[1] == found[2] == found[3] and len(found[0][0]) == 2
    with pytest.raises(spvlink.Usage, match="there is a file"):
        next(spvlink.batch(pipelines, store=__file__))
    objects(tmp_path / "s0")[0].write_bytes(b"no entry")
    with pytest.warns(RuntimeWarning, match="1 entry was wrong"):
        list(spvlink.batch(pipelines, store=str(tmp_path / "s0")))


# -- what is kept ----------------------------------------------------------------------------------


def test_only_what_is_the_same_everywhere_is_kept(
    run: Callable[..., Run], given: Path, tmp_path: Path
) -> None:
    """An input that is at fault costs little, and may be at fault because of this machine."""
    folder = tmp_path / "bad"
    shutil.copytree(given.parent, folder)
    (folder / "decal.frag.spv").write_bytes((folder / "decal.vert.spv").read_bytes())
    for taken in (0, JOBS - 1):
        out = run("--store", tmp_path / "s", source=folder / "all.jsonl")
        assert (out.taken, out.all) == (taken, JOBS) and "decal.frag.spv" in out.said
    assert len(objects(tmp_path / "s")) == JOBS - 1


def test_a_proof_that_was_not_found_is_not_kept() -> None:
    """It has a limit of time."""
    outcome = JobOutcome(LINKED)
    assert entries.lasting([outcome])
    outcome.entry["verified"] = {"way": "paper", "outcome": "equal"}
    assert entries.lasting([outcome])
    outcome.entry["verified"] = {"way": "paper", "outcome": "unknown"}
    assert not entries.lasting([JobOutcome(LINKED), outcome])


def test_proofs(run: Callable[..., Run], tmp_path: Path) -> None:
    """A result that was proved is another one. What nobody vouches for is proved anew."""
    words = ("--store", tmp_path / "s", "--verify", "all")
    first = run(*words)
    proved = int(re.findall(r"(\d+) of \d+ links proved equal", first.said)[0])
    assert proved > 3 and first.new == len(objects(tmp_path / "s")) <= JOBS
    assert run("--store", tmp_path / "s").taken == 0
    again = run(*words)
    assert again.taken == first.new and again.made == first.made
    of_others(tmp_path / "s")
    assert run(*words).taken < first.new and not again.warnings
    assert run(*words, "--store-key", __file__).taken == 0
    assert run(*words, "--store-key", __file__).taken == first.new


# -- stores that lie -------------------------------------------------------------------------------


def _another(store: Path) -> None:
    first, second, *_ = objects(store)
    second.write_bytes(first.read_bytes())


def _cut(store: Path) -> None:
    path = objects(store)[0]
    path.write_bytes(path.read_bytes()[:-7])


def _flipped(store: Path) -> None:
    """In each part of an entry."""
    for at, path in enumerate(objects(store)):
        data = bytearray(path.read_bytes())
        place = (3, 40, 100, len(data) // 2, len(data) - 1)[at % 5]
        data[place] ^= 1 << at % 8
        path.write_bytes(data)


def _empty(store: Path) -> None:
    objects(store)[0].write_bytes(b"")


def _longer(store: Path) -> None:
    path = objects(store)[0]
    path.write_bytes(path.read_bytes() + b"x")


def _bomb(store: Path) -> None:
    path = objects(store)[0]
    said, modules = opened(path)
    forge(path, said | {"more": "0" * entries.LIMIT}, modules)


def _deep(store: Path) -> None:
    path = objects(store)[0]
    packed = zlib.compress(b"[" * 100_000)
    header = {"key": path.name, "digest": blake2b(packed, digest_size=32).hexdigest(), "seal": None}
    path.write_bytes(entries.MAGIC + json.dumps(header).encode() + b"\n" + packed)


def _exchanged(store: Path) -> None:
    """Another content under the digest of the right one."""
    path = objects(store)[0]
    head = path.read_bytes().split(b"\n", 2)[:2]
    said, modules = opened(path)
    said["parts"][0]["entry"]["target_env"] = "another"
    forge(path, said, modules)
    path.write_bytes(b"\n".join([*head, path.read_bytes().split(b"\n", 2)[2]]))


def _failed(store: Path) -> None:
    path = objects(store)[0]
    said, modules = opened(path)
    said["parts"][0] |= {"kind": "failed", "reason": "no", "modules": []}
    forge(path, said, modules)


LIES = {
    lie.__name__: lie
    for lie in (_another, _cut, _flipped, _empty, _longer, _bomb, _deep, _exchanged, _failed)
}


@pytest.mark.parametrize("lie", sorted(LIES))
def test_a_wrong_entry_counts_as_missing(
    lie: str, run: Callable[..., Run], store: Path, expected: dict[str, bytes]
) -> None:
    before = [path.read_bytes() for path in objects(store)]
    LIES[lie](store)
    wrong = sum(path.read_bytes() != old for path, old in zip(objects(store), before))
    assert wrong
    done = run("--store", store)
    assert done.made == expected and (done.taken, done.new) == (JOBS - wrong, wrong)
    (line,) = done.warnings
    assert f"{wrong} entr" in line and "wrong and did not count" in line
    assert [path.read_bytes() for path in objects(store)] == before
    assert not run("--store", store).warnings


def test_something_else_than_files(
    run: Callable[..., Run], store: Path, expected: dict[str, bytes]
) -> None:
    """Neither a pipe that nobody writes to nor a link to elsewhere is waited for or followed."""
    first, second, third, *_ = objects(store)
    (first.parent / "aside").write_bytes(third.read_bytes())
    for path in (first, second, third):
        path.unlink()
    os.mkfifo(first)
    second.symlink_to("/dev/zero")
    third.mkdir()
    begin = time.monotonic()
    done = run("--store", store)
    assert time.monotonic() - begin < shared.TIMEOUT - 1
    assert done.made == expected and "cannot read it" in done.warnings[0]


FRAGMENT = """
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %main "main"
               OpExecutionMode %main OriginUpperLeft
       %void = OpTypeVoid
          %f = OpTypeFunction %void
       %main = OpFunction %void None %f
      %label = OpLabel
               OpReturn
               OpFunctionEnd
"""


def _other_constant(data: bytes) -> bytes:
    text, count = re.subn(r"(= OpConstant %float) [1-9.-][0-9.]*\b", r"\1 7.75", disassemble(data))
    assert count
    return assemble(text)


def _other_output(data: bytes) -> bytes:
    text, count = re.subn(r"(OpDecorate %\w+ Location) \d+", r"\1 29", disassemble(data))
    assert count
    return assemble(text)


def _other_binding(data: bytes) -> bytes:
    text, count = re.subn(r"(OpDecorate %\w+ Binding) \d+", r"\1 29", disassemble(data))
    assert count
    return assemble(text)


def _other_stage(data: bytes) -> bytes:
    return next(iter(build("decal")))


def _invalid(data: bytes) -> bytes:
    """A module that decodes, and that spirv-val refuses: an instruction less."""
    text, count = re.subn(r"OpExecutionMode %\w+ OriginUpperLeft\n", "", disassemble(data), count=1)
    assert count
    return assemble(text)


def _noise(data: bytes) -> bytes:
    return data[:20] + random.Random(1).randbytes(400)


def _nothing(data: bytes) -> bytes:
    return b""


PLANTED = {
    plant.__name__: plant
    for plant in (_other_output, _other_binding, _other_stage, _invalid, _noise, _nothing)
}


def plant(store: Path, change: Callable[[bytes], bytes], secret: bytes = b"") -> None:
    """Change the fragment shader of one pipeline with bindings, with digests that are right."""
    for path in objects(store):
        said, modules = opened(path)
        last = modules[-1] if modules else b""
        text = disassemble(last) if last else ""
        if len(modules) == 2 and "OriginUpperLeft" in text and " Binding " in text:
            forge(path, said, [*modules[:-1], change(last)], secret)
            return
    raise AssertionError


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_a_module_that_does_not_fit_is_seen_without_a_secret(
    name: str, run: Callable[..., Run], store: Path, expected: dict[str, bytes]
) -> None:
    """Where others can write, a worker looks at each module."""
    of_others(store)
    good = run("--store", store)
    assert (good.taken, good.new) == (JOBS, 0) and good.made == expected
    plant(store, PLANTED[name])
    of_others(store)
    done = run("--store", store)
    assert (done.taken, done.new) == (JOBS - 1, 1) and done.made == expected
    assert "1 entry was wrong" in done.warnings[0]


def test_only_a_secret_protects_from_a_module_that_fits(
    run: Callable[..., Run], store: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    """As the documentation says: without one, whoever may write can swap constants."""
    plant(store, _other_constant)
    of_others(store)
    assert run("--store", store).made != expected
    secret = tmp_path / "secret"
    secret.write_bytes(b"only this build farm knows it")
    words = ("--store", store, "--store-key", secret)
    done = run(*words)
    assert done.made == expected and (done.taken, done.new) == (0, JOBS)
    assert f"{JOBS} entries were wrong" in done.warnings[0] and "seal" in done.warnings[0]
    of_others(store)
    assert run(*words).taken == JOBS, "a seal is enough"
    assert run("--store", store).taken == JOBS, "those without the secret take sealed entries"
    for wrong in (b"", b"another secret"):
        plant(store, _other_constant, secret_of(wrong))
        done = run(*words)
        assert done.made == expected and done.new == 1 and len(done.warnings) == 1
    plant(store, _other_constant, secret_of(secret.read_bytes()))
    assert run(*words).made != expected, "the test can tell"


def test_a_cluster_looks_at_modules(
    run: Callable[..., Run], store: Path, expected: dict[str, bytes]
) -> None:
    pytest.importorskip("distributed")
    plant(store, _other_output)
    of_others(store)
    done = run("--store", store, "--dask", "local")
    assert (done.taken, done.new) == (JOBS - 1, 1) and done.made == expected
    assert "1 entry was wrong" in done.warnings[0]


def test_more_versions_than_asked_for_are_seen(tmp_path: Path) -> None:
    """Each of two pipelines with one vertex shader gets a version of its own, from a lie."""
    folder = tmp_path / "m"
    lines = lines_for(folder, ("decal",))
    lines.append(lines[0] | {"id": "again", "complete": True})
    source = write_lines(folder / "m.jsonl", lines)
    words = ("--jobs", "1", "--variants", "1", "--store", tmp_path / "s")
    batch(source, "-o", tmp_path / "out", *words)
    (path,) = objects(tmp_path / "s")
    said, modules = opened(path)
    parts = said["parts"]
    assert parts[0]["modules"] == parts[1]["modules"] and len(modules) == 2
    vertex = modules[0] if parts[0]["modules"][0] == said["modules"][0][0] else modules[1]
    other = _other_constant(vertex)
    said["modules"].append(["x", 0])
    parts[1]["modules"][0] = "x"
    forge(path, said, [*modules, other])
    path.chmod(0o664)
    text = batch(source, "-o", tmp_path / "again", *words)
    assert "1 entry was wrong" in text and tree(tmp_path / "again") == tree(tmp_path / "out")


def _spoiled(value: Any, draw: random.Random) -> Any:
    """A piece of JSON with one thing in it changed."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        if draw.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return value | {key: _spoiled(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return [*value[:at], _spoiled(value[at], draw), *value[at + 1 :]]
    return draw.choice([None, -1, 10**9, 1.5, "x", "", [], {}, [[]], True, value, [value, value]])


def test_no_lie_is_a_traceback(
    run: Callable[..., Run], store: Path, tmp_path: Path, given: Path
) -> None:
    """Figures and remarks are believed, so they may say anything, but in the right shape: reports,
    pages and Python's results are made of them."""
    good = [(path, opened(path)) for path in objects(store)]
    words = ("--report", tmp_path / "r.json", "--html", tmp_path / "p.html")
    refused = 0
    for seed in range(12):
        draw = random.Random(seed)
        for path, (said, modules) in good:
            changed = said
            for _ in range(3):
                changed = changed | {"parts": _spoiled(said["parts"], draw)}
            packed = zlib.compress(b"\n".join([json.dumps(changed).encode(), b"".join(modules)]))
            digest = blake2b(packed, digest_size=32).hexdigest()
            header = json.dumps({"key": path.name, "digest": digest, "seal": None}).encode()
            path.write_bytes(entries.MAGIC + header + b"\n" + packed)
        done = run("--store", store, *words)
        refused += done.new
        assert done.all == JOBS
    assert 12 < refused < 12 * JOBS, "some are seen, and some are believed"


# -- stores that refuse ----------------------------------------------------------------------------


def test_a_full_disk(given: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "small"
    start = on_a_small_disk(folder, 16, "")
    out = tmp_path / "out"
    words = command(given, "-o", out, "--jobs", "1", "--store", folder)
    done = subprocess.run(
        [*start, *words], capture_output=True, text=True, env=VARIABLES, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "cannot write to it: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and tree(out) == expected


@pytest.mark.parametrize("place", ["/dev/null/store", "/proc/store"])
def test_a_place_that_lets_nobody_write(
    place: str, run: Callable[..., Run], expected: dict[str, bytes]
) -> None:
    done = run("--store", place)
    assert done.made == expected and done.new == 0
    assert f"--store {place}: cannot write to it" in done.warnings[-1]
    assert f"{JOBS} results are not kept there" in done.warnings[-1]


class Stuck(StoreFolder):
    """A folder on a server that has gone: nothing comes back."""

    def read(self, name: str, limit: int) -> tuple[bytes, bool] | None:
        time.sleep(600)
        return None

    def write(self, name: str, data: bytes) -> None:
        time.sleep(600)


def test_a_folder_that_hangs(
    given: Path,
    expected: dict[str, bytes],
    run: Callable[..., Run],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(shared, "TIMEOUT", 0.5)
    monkeypatch.setattr(shared, "_UNWRITTEN", 2)  # fewer than there are results
    monkeypatch.setattr("spvlink.batches.places.StoreFolder", Stuck)
    begin = time.monotonic()
    done = run("--store", tmp_path / "s")
    assert time.monotonic() - begin < 30
    assert done.made == expected and (done.taken, done.new) == (0, 0)
    assert [line.count("no answer in 0.5 s") for line in done.warnings] == [1, 1]
    assert done.warnings[1].endswith(f": {JOBS} results are not kept there")


@pytest.fixture
def refuse(tmp_path: Path, given: Path) -> Iterator[Callable[..., str]]:
    def refuse(*words: object) -> str:
        said = batch(given, "-o", tmp_path / "none", *words, status=2)
        assert said.count("\n") == 1 and said.startswith("spvlink: error: ")
        assert not list(tmp_path.glob("none*"))
        return said

    yield refuse


def test_addresses_that_make_no_sense(refuse: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "there is a file of this name" in refuse("--store", file)
    assert "expected a folder" in refuse("--store", "ftp://host/x")
    assert "the bucket is missing" in refuse("--store", "s3:///x")
    assert "the host is missing" in refuse("--store", "http://me:secret@")
    assert "question mark" in refuse("--store", "https://host/x?y")
    assert "is in it" in refuse("--store", tmp_path / "none" / "store")
    assert "--store-key is for --store" in refuse("--store-key", file)
    assert "expected 1 to" in refuse("--store", tmp_path / "s", "--store-key", file)
    assert "cannot read it" in refuse("--store", tmp_path / "s", "--store-key", tmp_path / "gone")


def test_keys_are_those_of_jobs(given: Path, filled: Path) -> None:
    jobs = [JobSettings(Options()).job(p) for p in Manifest(str(given)).pipelines()]  # type: ignore[arg-type]
    assert {entries.key_of(job).hex() for job in jobs} == {path.name for path in objects(filled)}
