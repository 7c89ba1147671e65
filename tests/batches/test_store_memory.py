"""What ``spvlink batch --store`` remembers of archives: it saves time and changes no byte."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from spvlink import cli, validate
from spvlink.archive import foz
from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from spvlink.batches import entries, memory, pages
from spvlink.batches.foz import Archives
from spvlink.batches.jobs import JobSettings, identity
from spvlink.batches.prints import EntryPrints
from spvlink.options import Options
from tests.archive import writing
from tests.support.batch_sets import ROOT
from tests.support.store_servers import store_server

COUNT = 30  # pipelines, three a job
JOBS = COUNT // 3
FIRST = re.compile(r"store: (\d+) of (\d+) jobs were there, (\d+) are new")
STORED = re.compile(rb', ?"stored": ?\d+')
LINK, PIPELINE, MODULE = 8, 6, 4  # tags


def make(out: Path, *words: object) -> Path:
    script = ROOT / "scripts" / "make-archive"
    given = ["--pipelines", COUNT, *words]
    subprocess.run([sys.executable, script, out, *map(str, given)], check=True)
    return out


def quietly(*words: object) -> None:
    given = ["batch", *words, "--jobs", "1", "--progress", "never"]
    assert cli.main([str(word) for word in given]) == 0


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """So few pipelines are remembered, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "LEAST", COUNT)
        yield


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("given") / "a.foz")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("changed") / "b.foz", "--changed", 12)


@pytest.fixture(scope="module")
def filled(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that has all of the archive. Nobody may write to it."""
    folder = tmp_path_factory.mktemp("filled")
    quietly(given, "-o", folder / "out.foz", "--store", folder / "store")
    return folder / "store"


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "store"))


class Seen:
    """What a run made, said and did: the archive, the report and the page; lines; pipelines that
    were read; jobs that were taken from the store and that were done."""

    def __init__(self, made: tuple[object, ...], said: str, read: int) -> None:
        self.made = made
        self.read = read
        found = FIRST.search(said)
        self.taken, self.new = (int(found[1]), int(found[3])) if found is not None else (0, 0)
        self.warnings = [line for line in said.splitlines() if "warning: --store" in line]


@pytest.fixture
def run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Seen]:
    count = [0]
    read = Archives._pipeline

    def counted(self: Archives, recorded: Any) -> Any:
        count[0] += 1
        return read(self, recorded)

    monkeypatch.setattr(Archives, "_pipeline", counted)

    def run(source: Path, *words: object, told: bool = True) -> Seen:
        count[0] = 0
        out, report, page = (tmp_path / name for name in ("o.foz", "r.json", "p.html"))
        more = ["--report", report, "--html", page] if told else []
        everything = ["batch", source, "-o", out, "--jobs", "1", *more, *words]
        assert cli.main([str(word) for word in everything]) == 0
        said = capfd.readouterr().err
        assert "Traceback" not in said
        made: tuple[object, ...] = (out.read_bytes(),)
        if told:
            facts = json.loads(report.read_text())
            del facts["seconds"]
            facts["totals"].pop("stored", None)
            made = *made, facts, STORED.sub(b"", page.read_bytes())
        return Seen(made, said, count[0])

    return run


def remembered(store: Path) -> list[Path]:
    """Roots and pages."""
    found = []
    for path in sorted(path for path in store.rglob("*") if path.is_file()):
        try:
            zlib.decompress(path.read_bytes().split(b"\n", 2)[2])
        except (zlib.error, IndexError):
            found.append(path)
    return found


def is_root(path: Path) -> bool:
    return path.read_bytes().split(b"\n", 2)[2].startswith(b"[")


def forge(path: Path, content: bytes) -> None:
    """Write an object as somebody would who lies: the digest is right."""
    path.write_bytes(entries.sealed(bytes.fromhex(path.name), content, b""))


# -- it changes no byte ----------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--exact", "--no-validate")])
def test_the_same_bytes_and_nothing_is_read(
    words: tuple[str, ...], run: Callable[..., Seen], given: Path, changed: Path, tmp_path: Path
) -> None:
    plain, other = run(given, *words), run(changed, *words)
    assert plain.made != other.made
    kept = ("--store", tmp_path / "s", *words)
    first = run(given, *kept)
    assert (first.taken, first.new) == (0, JOBS) and first.made == plain.made
    again = run(given, *kept)
    assert (again.taken, again.new, again.read) == (JOBS, 0, 0) and again.made == plain.made
    now = run(changed, *kept)
    assert now.made == other.made and 0 < now.new < JOBS
    assert 3 * now.new <= now.read <= 4 * 3 * now.new  # once for the jobs, then for reports
    for source, expected in ((changed, other), (given, plain), (changed, other)):
        seen = run(source, *kept)
        assert seen.made == expected.made and seen.new == 0 and not seen.warnings
    assert run(changed, *kept, told=False).read == 0


def test_what_is_new_is_remembered_and_what_is_old_goes(
    run: Callable[..., Seen], store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages are added; when much is out of date all are written anew."""
    monkeypatch.setattr(memory, "_MORE", 1)
    counts = []
    for percent in (8, 12, 50, 100):
        source = make(tmp_path / "c.foz", "--changed", percent)
        plain = run(source)
        assert run(source, "--store", store).made == plain.made
        again = run(source, "--store", store)
        assert again.made == plain.made and again.read == 0
        roots = [path for path in remembered(store) if is_root(path)]
        newest = max(roots, key=lambda path: path.stat().st_mtime_ns)
        counts.append(len(json.loads(newest.read_bytes().split(b"\n", 2)[2])))
    assert max(counts) <= 3 and counts[-1] == 1


def test_a_run_that_tells_less_is_enough(
    run: Callable[..., Seen], given: Path, tmp_path: Path
) -> None:
    run(given, "--store", tmp_path / "s", told=False)
    seen = run(given, "--store", tmp_path / "s")
    assert seen.read == 0 and seen.made == run(given).made


def test_proofs(run: Callable[..., Seen], given: Path, tmp_path: Path) -> None:
    words = ("--verify", "20%", "--store", tmp_path / "s")
    first, again = run(given, *words), run(given, *words)
    assert again.made == first.made
    assert again.made[0] == run(given, "--verify", "20%").made[0]  # a proof tells of its seconds
    assert again.read < COUNT


def test_pipelines_that_are_no_jobs(run: Callable[..., Seen], given: Path, tmp_path: Path) -> None:
    """Reasons are remembered, and errors are found again."""
    parts = writing.split(given.read_bytes())
    application = next(hash for (tag, hash), _ in parts if tag == 0)
    odd = writing.graphics(stages=[], flags=1)
    bad = writing.graphics(stages=[writing.stage(1, 0x77), writing.stage(16, 0x78)])
    more = []
    for hash, fields in ((0x1234, odd), (0x5678, bad)):
        document = {"version": 6, "graphicsPipelines": {f"{hash:016x}": fields}}
        more += [writing.entry(PIPELINE, hash, document), writing.link(application, PIPELINE, hash)]
    source = tmp_path / "odd.foz"
    source.write_bytes(writing.archive(*(raw for _, raw in parts), *more))
    plain = run(source)
    run(source, "--store", tmp_path / "s")
    again = run(source, "--store", tmp_path / "s")
    assert again.made == plain.made and again.new == 0 and again.read == 0


# -- what it depends on ----------------------------------------------------------------------------


def _without(parts: list[Any], tag: int, number: int) -> list[bytes]:
    gone = [key for key, _ in parts if key[0] == tag][number]
    return [raw for key, raw in parts if key != gone]


def _other_application(parts: list[Any]) -> list[bytes]:
    made = []
    for (tag, hash), raw in parts:
        if tag == 0:
            document = json.loads(writing.payload_of(raw).rstrip(b"\0"))
            document["applicationInfo"]["apiVersion"] = 1 << 22 | 1 << 12
            raw = writing.entry(tag, hash, document)
        made.append(raw)
    return made


def _other_text(tag: int, before: bytes, after: bytes) -> Callable[[list[Any]], list[bytes]]:
    def change(parts: list[Any]) -> list[bytes]:
        made, count = [], 0
        for (kind, hash), raw in parts:
            payload = writing.payload_of(raw) if kind == tag else b""
            if before in payload:
                raw = writing.entry(tag, hash, payload.replace(before, after))
                count += 1
            made.append(raw)
        assert count
        return made

    return change


CHANGES: dict[str, Callable[[list[Any]], list[bytes]]] = {
    "an application": _other_application,
    "a link": lambda parts: _without(parts, LINK, 5),
    "a module is gone": lambda parts: _without(parts, MODULE, 2),
    "a layout is gone": lambda parts: _without(parts, 3, 0),
    "a set is gone": lambda parts: _without(parts, 2, 0),
    "a render pass is gone": lambda parts: _without(parts, 5, 0),
    "a set": _other_text(2, b'"descriptorCount":1', b'"descriptorCount":2'),
    "a pipeline": lambda parts: _without(parts, PIPELINE, 3),
}


@pytest.mark.parametrize("name", CHANGES)
def test_all_that_a_result_depends_on_counts(
    name: str, run: Callable[..., Seen], given: Path, store: Path, tmp_path: Path
) -> None:
    source = tmp_path / "other.foz"
    source.write_bytes(writing.archive(*CHANGES[name](writing.split(given.read_bytes()))))
    plain = run(source)
    seen = run(source, "--store", store)
    assert seen.made == plain.made and not seen.warnings
    assert run(source, "--store", store).made == plain.made


def test_a_module_whose_hash_is_taken(
    run: Callable[..., Seen], given: Path, store: Path, tmp_path: Path
) -> None:
    """The archive has other words now under the hash of a linked module, or the same ones."""
    out = tmp_path / "out.foz"
    out.write_bytes(run(given).made[0])  # type: ignore[arg-type]
    parts = writing.split(given.read_bytes())
    old = {hash for (tag, hash), _ in parts if tag == MODULE}
    made = writing.split(out.read_bytes())
    hash, new = next((key[1], raw) for key, raw in made if key[0] == MODULE and key[1] not in old)
    with Archive([str(given)]) as archive:
        other = archive.module(f"{next(iter(old)):016x}")
    for added in (new, writing.entry(MODULE, hash, writing.module(hash, other))):
        source = tmp_path / "taken.foz"
        source.write_bytes(writing.archive(*(raw for _, raw in parts), added))
        plain = run(source)
        seen = run(source, "--store", store)
        assert seen.made == plain.made and seen.read < COUNT
        assert run(source, "--store", store).made == plain.made


def test_other_options_are_other_memories(
    run: Callable[..., Seen], given: Path, store: Path
) -> None:
    assert run(given, "--store", store, told=False).read == 0
    for words in (
        ("--exact",),
        ("--disable", "dead"),
        ("--no-validate",),
        ("--disable", "compact"),
    ):
        assert run(given, "--store", store, *words, told=False).read == COUNT
        assert run(given, "--store", store, *words, told=False).read == 0


def test_another_zlib_makes_other_bytes(
    run: Callable[..., Seen], given: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zlib, "ZLIB_RUNTIME_VERSION", "9.9")
    seen = run(given, "--store", store, told=False)
    assert (seen.read, seen.taken) == (COUNT, JOBS)


def test_another_spvlink_or_validator(
    run: Callable[..., Seen],
    given: Path,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = JobSettings(Options())
    before = settings.basis()
    settings.identity = "another"
    assert settings.basis() != before
    real = shutil.which(validate.PROGRAM)
    assert real is not None
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / validate.PROGRAM
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "another version"\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    identity.cache_clear()
    try:
        seen = run(given, "--store", store, told=False)
    finally:
        identity.cache_clear()
    assert (seen.taken, seen.new, seen.read) == (0, JOBS, COUNT)


# -- stores that lie -------------------------------------------------------------------------------


def _flipped(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def _cut(path: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: -draw.randrange(1, 90)])


def _longer(path: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes() + draw.randbytes(9))


def _renamed(path: Path, draw: random.Random) -> None:
    """Another page under the name of this one, with its key in it."""
    others = [one for one in path.parents[1].rglob("*") if one.is_file() and one != path]
    other = draw.choice(sorted(others))
    forge(path, other.read_bytes().split(b"\n", 2)[2])


@pytest.mark.parametrize("lie", [_flipped, _cut, _longer, _renamed])
def test_what_is_damaged_does_not_count(
    lie: Callable[[Path, random.Random], None],
    run: Callable[..., Seen],
    given: Path,
    changed: Path,
    store: Path,
) -> None:
    plain = run(given)
    run(changed, "--store", store)
    draw = random.Random(1)
    for _ in range(3):
        for path in remembered(store):
            lie(path, draw)
        seen = run(given, "--store", store)
        assert seen.made == plain.made and seen.new == 0
        assert "wrong and did not count" in seen.warnings[0]
        again = run(given, "--store", store)
        assert again.read == 0 and again.made == plain.made


def test_a_page_of_other_options_does_not_count(
    run: Callable[..., Seen], given: Path, store: Path
) -> None:
    """A root that names it is a lie; its name covers the options."""
    plain = run(given)
    before = {path.name for path in remembered(store)}
    run(given, "--store", store, "--exact")
    own = [path for path in remembered(store) if path.name in before]
    other = next(p for p in remembered(store) if p.name not in before and is_root(p))
    for path in filter(is_root, own):
        forge(path, other.read_bytes().split(b"\n", 2)[2])
    seen = run(given, "--store", store)
    assert seen.made == plain.made and "another page" in seen.warnings[0]


def test_what_others_could_write_does_not_count(
    run: Callable[..., Seen], given: Path, store: Path
) -> None:
    plain = run(given)
    for path in remembered(store):
        path.chmod(0o664)
    seen = run(given, "--store", store)
    assert seen.read >= COUNT and seen.made == plain.made and not seen.warnings
    assert run(given, "--store", store).read == 0, "it was written anew"
    words = ("--store", store, "--store-key", __file__)
    assert run(given, *words).taken == 0
    for path in remembered(store):
        path.chmod(0o664)
    seen = run(given, *words)
    assert seen.read == 0 and seen.made == plain.made, "a seal is enough"


def _spoiled(value: Any, draw: random.Random) -> Any:
    """A piece of JSON with one thing in it changed."""
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return [*value[:at], _spoiled(value[at], draw), *value[at + 1 :]]
    return draw.choice([None, -1, 10**9, 1.5, "x", "", [], {}, [[]], True, "f" * 16, value])


def test_no_lie_is_a_traceback(run: Callable[..., Seen], given: Path, store: Path) -> None:
    """A page is believed if its name is right; a shape that makes no sense is seen."""
    (root, *_), refused = [path for path in remembered(store) if is_root(path)], 0
    names = json.loads(root.read_bytes().split(b"\n", 2)[2])
    page = store / names[0][:2] / names[0]
    content = page.read_bytes().split(b"\n", 2)[2]
    good = pages.MemoryPage(content, 32)
    parts = list(good.read())
    for seed in range(25):
        draw = random.Random(seed)
        builder, spoiled = pages.PageBuilder(), draw.randrange(len(parts))
        for at, (kind, line, _, place) in enumerate(parts):
            end = place + line[-1]
            given_line = _spoiled(line[:-1], draw) if at == spoiled else line[:-1]
            if not isinstance(given_line, list):
                given_line = [given_line]
            builder.add(kind, given_line, good.pieces[place:end])
        forge(page, builder.content(content[:32]))
        refused += bool(run(given, "--store", store).warnings)
        for path in filter(is_root, remembered(store)):
            forge(path, json.dumps(names).encode())
    assert refused > 10


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"[", b'{"a":1}', b'["zz"]', b"[1]", b"[[]]"])
def test_nonsense(content: bytes, run: Callable[..., Seen], given: Path, store: Path) -> None:
    plain = run(given)
    for path in remembered(store):
        forge(path, content)
    assert run(given, "--store", store).made == plain.made


# -- where nothing is remembered -------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--prune",), ("--variants", "1"), ("--shard", "1/2")])
def test_options_without_a_memory(words: tuple[str, ...], given: Path, tmp_path: Path) -> None:
    out = tmp_path / ("o" if "--shard" in words else "o.foz")
    quietly(given, "-o", out, "--store", tmp_path / "s", *words)
    assert not remembered(tmp_path / "s")


def test_few_pipelines_are_not_remembered(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "LEAST", COUNT + 1)
    quietly(given, "-o", tmp_path / "o.foz", "--store", tmp_path / "s")
    assert not remembered(tmp_path / "s")


# -- on a server -----------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    path = tmp_path / "secret"
    path.write_bytes(b"only we know it")
    yield "--store-key", path


def test_a_server(
    secret: tuple[str, Path],
    run: Callable[..., Seen],
    given: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a secret only: nobody else vouches for what a server has."""
    pytest.importorskip("obstore")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    plain = run(given)
    with store_server() as server:
        assert run(given, "--store", server.address).made == plain.made
        assert len(server.objects) == JOBS
        server.objects.clear()
        words = ("--store", server.address, *secret)
        assert run(given, *words).made == plain.made
        assert JOBS < len(server.objects) < JOBS + 8
        seen = run(given, *words)
        assert seen.read == 0 and seen.made == plain.made
        good = dict(server.objects)
        for path, data in good.items():
            digest = blake2b(data, digest_size=4).digest()
            server.objects[path] = data[:-1] + digest[:1]
        seen = run(given, *words)
        assert seen.made == plain.made and "wrong and did not count" in seen.warnings[0]
        server.objects.update(good)
        server.trouble["PUT"] = 403
        assert run(given, *words).read == 0
        server.trouble["GET"] = 500
        seen = run(given, *words)
        assert seen.made == plain.made and "cannot read it" in seen.warnings[0]


# -- large entries ---------------------------------------------------------------------------------


def test_large_entries_are_copied_and_digested_whole(tmp_path: Path) -> None:
    sizes = (foz.FIRST - 56, foz.FIRST - 55, foz.WHOLE - 56, foz.WHOLE - 55, 3 * foz.WHOLE)
    payloads = [random.Random(size).randbytes(size) for size in sizes]
    whole = [writing.entry(MODULE, at + 1, data, format=1) for at, data in enumerate(payloads)]
    other = [
        writing.entry(MODULE, at + 1, data[:-1] + bytes([data[-1] ^ 1]), format=1, crc=0)
        for at, data in enumerate(payloads)
    ]
    found = []
    for name, parts in (("a", whole), ("b", other)):
        path = tmp_path / f"{name}.foz"
        path.write_bytes(writing.archive(*parts))
        with Archive([str(path)]) as archive:
            with ArchiveWriter(str(tmp_path / "out.foz"), archive) as writer:
                writer.finish()
            prints = EntryPrints(archive)
            found.append([prints.of_entry(MODULE, at + 1) for at in range(len(sizes))])
        assert (tmp_path / "out.foz").read_bytes() == path.read_bytes()
    assert len({*found[0], *found[1]}) == 2 * len(sizes)
