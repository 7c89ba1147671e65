"""Damaged archives, huge ones, and disks that are full: a line for the entry, never a lost
pipeline, never half a file."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink.archive import foz
from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from spvlink.errors import BadArchive, Usage
from spvlink.layout import check_layout
from tests.archive import writing
from tests.archive.writing import KEY, RECORDED, archive, code, entry, pipeline, surroundings

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261123


def read_all(path: Path) -> tuple[dict[tuple[int, int], bytes], Archive]:
    """All entries that are found, raw; every pipeline and module is asked for. Only BadArchive may
    come of that."""
    opened = Archive([str(path)])
    union = opened.union
    found = {}
    for tag in foz.ORDER:
        for hash, one in union.entries(tag):
            found[tag, hash] = one.head + b"".join(union.stored(one))
    for one in union.others():
        found[-1, one.at] = one.head + b"".join(union.stored(one))
    for pipe in opened.pipelines():
        for stage in pipe.stages if pipe.reason is None else ():
            try:
                opened.module(stage.module)
            except BadArchive as error:
                assert "\n" not in error.message
    opened.close()
    return found, opened


# -- ends that are missing -------------------------------------------------------------------------


def test_every_length_of_the_first_4_kb(tmp_path: Path) -> None:
    """As a killed process leaves it: all whole entries are there, the torn one is told of."""
    data = RECORDED.read_bytes()
    entries = writing.split(data)
    ends = [16]
    for _, raw in entries:
        ends.append(ends[-1] + len(raw))
    path = tmp_path / "in.foz"
    path.write_bytes(data[:4096])
    for length in reversed(range(4097)):
        os.truncate(path, length)
        if 0 < length < 16:
            with pytest.raises(BadArchive, match="no Fossilize archive"):
                Archive([str(path)])
            continue
        with Archive([str(path)]) as opened:
            union = opened.union
            whole = sum(end <= length for end in ends[1:])
            assert sum(union.count(tag) for tag in range(11)) == whole
            assert all(union.has(*key) for key, _ in entries[:whole])
            assert len(opened.warnings) == (length not in (0, *ends))


def test_a_torn_tail_goes_out_whole(tmp_path: Path) -> None:
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(archive(*surroundings(), pipeline()) + pipeline(KEY + 1)[:-3])
    with Archive([str(source)]) as opened, ArchiveWriter(str(out), opened) as writer:
        (warning,) = opened.warnings
        assert str(source) in warning and f"6:{KEY + 1:016x}" in warning
        writer.finish()
    written = dict(writing.split(out.read_bytes()))
    assert (6, KEY) in written and (6, KEY + 1) not in written


def test_a_damaged_entry_before_a_torn_tail(tmp_path: Path) -> None:
    """What is torn looks like an entry: so the one before ends where it says, and goes out."""
    path = tmp_path / "in.foz"
    wrong = entry(7, 1, b"some", 1, crc=3)
    for left in (3, 30, 50, 60):
        path.write_bytes(archive(*surroundings(), wrong) + pipeline()[:left])
        found, opened = read_all(path)
        assert found[7, 1] == wrong and len(opened.warnings) == 1


# -- damage in the middle --------------------------------------------------------------------------


def damaged(rng: random.Random, data: bytes) -> tuple[bytes, int, int]:
    """(with damage, first byte of it, first byte behind it in the original)"""
    at = rng.randrange(16, len(data))
    size = rng.choice((1, 1, 1, 2, 4, 16, 100))
    end = min(at + size, len(data))
    kind = rng.randrange(4)
    if kind == 0:  # one bit
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :], at, at + 1
    if kind == 1:  # other bytes
        return data[:at] + rng.randbytes(end - at) + data[end:], at, end
    if kind == 2:  # less
        return data[:at] + data[end:], at, end
    return data[:at] + rng.randbytes(size) + data[at:], at, at  # more


def test_ten_thousand_damages(tmp_path: Path) -> None:
    """Every entry that the damage did not touch is there, to the byte."""
    rng = random.Random(SEED)
    data = archive(*surroundings(), pipeline(), pipeline(KEY + 1), entry(10, 1, b"bucket", 1))
    entries = writing.split(data)
    places, at = [], 16
    for key, raw in entries:
        places.append((key, raw, at, at + len(raw)))
        at += len(raw)
    path = tmp_path / "in.foz"
    path.write_bytes(b"")
    started = time.monotonic()
    repaired = 0
    for number in range(10_000):
        wrong, begin, end = damaged(rng, data)
        with open(path, "r+b") as file:  # a new file each time would wait for the disk
            file.write(wrong)
            file.truncate()
        found, opened = read_all(path)
        for key, raw, first, behind in places:
            if behind <= begin or (first >= end and (first, behind) != (begin, end)):
                assert found.get(key) == raw, (number, key, opened.warnings)
                repaired += first >= end and bool(opened.warnings)
        assert all("\n" not in line for line in opened.warnings)
    assert repaired > 1000  # entries behind a place where the reader had to search
    assert time.monotonic() - started < 60


def test_damaged_archives_are_rewritten(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    data = RECORDED.read_bytes()
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    for _ in range(30):
        source.write_bytes(damaged(rng, data)[0])
        found, _ = read_all(source)
        with Archive([str(source)]) as opened, ArchiveWriter(str(out), opened) as writer:
            writer.finish()
        again, _ = read_all(out)
        assert sorted(again.values()) == sorted(found.values())


def test_a_size_that_reaches_over_others(tmp_path: Path) -> None:
    """It ends on garbage inside of a later entry: the reader goes back."""
    raw = pipeline()
    parts = surroundings()
    for size in (7, len(raw) + 30, 0xFFFFFFFF):
        lying = raw[:40] + size.to_bytes(4, "little") + raw[44:]
        path = tmp_path / "in.foz"
        path.write_bytes(archive(parts[0], lying, *parts[1:], pipeline(KEY + 1)))
        found, opened = read_all(path)
        assert all(key in found for key, _ in writing.split(archive(*parts, pipeline(KEY + 1))))
        assert (6, KEY) not in found
        assert any(f"6:{KEY:016x}" in line for line in opened.warnings)


def test_sizes_that_lie_in_each_other(tmp_path: Path) -> None:
    """Twenty thousand headers, each of which says that nearly all of the rest is its own."""
    path = tmp_path / "in.foz"
    head, count = 56, 20_000
    names = [
        b"%024x%016x" % (7, number)
        + struct.pack("<4I", head * (count - number) - 7 - number % 40, 1, 1 + number, 1)
        for number in range(count)
    ]
    path.write_bytes(archive(*names, b"z" * 64, *surroundings(), pipeline()))
    started = time.monotonic()
    with Archive([str(path)]) as opened:
        assert opened.count() == 1
    assert time.monotonic() - started < 5


def test_a_name_that_is_none_goes_out(tmp_path: Path) -> None:
    nameless = b"Z" + pipeline(KEY + 1)[1:]
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(archive(nameless, *surroundings(), pipeline()))
    with Archive([str(source)]) as opened, ArchiveWriter(str(out), opened) as writer:
        assert len(opened.warnings) == 1 and "copied as it is" in opened.warnings[0]
        assert opened.count() == 1
        writer.finish()
    assert out.read_bytes().endswith(nameless)


def test_warnings_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "in.foz"
    path.write_bytes(archive(*(b"Z" + entry(7, n, b"x")[1:] for n in range(1000))))
    with Archive([str(path)]) as opened:
        assert len(opened.warnings) == 101 and opened.warnings[-1] == "and 900 more"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (entry(6, KEY, b"x", 3), "its storage format 3 is not known"),
        (entry(6, KEY, b"x", 1, crc=5), "its checksum is wrong"),
        (entry(6, KEY, b"x", 2, crc=5), "its checksum is wrong"),
        (entry(6, KEY, b"x", 1, size=2), "its size is not what it says"),
        (entry(6, KEY, b"x" * 99, 2, size=98), "its size is not what it says"),
        (entry(6, KEY, b"x" * 99, 2, size=100), "its size is not what it says"),
        (entry(6, KEY, b"x", 2, size=0xFFFFFFFF), "4294967295 bytes: more than spvlink reads"),
        (entry(6, KEY, zlib.compress(b"y") + b"more", 1), "its JSON is not UTF-8"),
        (entry(6, KEY, b"", 1), "its JSON is not right"),
        (entry(6, KEY, b"not deflated", 1).replace(b"\1\0\0\0", b"\2\0\0\0", 1), "be inflated"),
    ],
)
def test_unreadable_entries(tmp_path: Path, raw: bytes, why: str) -> None:
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(archive(raw, *surroundings()))
    with Archive([str(source)]) as opened, ArchiveWriter(str(out), opened) as writer:
        (found,) = opened.pipelines()
        assert found.reason is not None and why in found.reason
        assert writer.replace(found.key, {0: code()}) is not None
        writer.finish()
    assert dict(writing.split(out.read_bytes()))[6, KEY] == raw


def twisted(rng: random.Random, value: Any) -> Any:
    """A JSON document with one value, somewhere in it, that is another one."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != name}
        return value | {name: twisted(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        return [*value[:at], twisted(rng, value[at]), *value[at + 1 :]]
    return rng.choice(
        [None, True, -1, 0, 1, 7, 1 << 32, 1 << 70, 0.5, "", "x", "0" * 16, "f" * 16, "é", [], {}]
        + [[value], {"a": value}, {"pNext": value}, {"sType": value}]
    )


def test_documents_that_are_something_else(tmp_path: Path) -> None:
    """With right checksums: every document of the archive with another value somewhere, or with
    other bytes in its text."""
    rng = random.Random(SEED)
    rich = pipeline(
        KEY + 1,
        pNext=[{"sType": 1000044002, "viewMask": 3}, {"sType": 1000470005, "flags": 2}],
        dynamicState={"flags": 0, "dynamicState": [1000377001]},
        tessellationState={"flags": 0, "patchControlPoints": 3},
        stages=[
            writing.stage(
                1,
                writing.VERTEX,
                specializationInfo={
                    "dataSize": 4,
                    "data": "AAAAAA==",
                    "mapEntries": [{"offset": 0, "size": 4, "constantID": 0}],
                },
            )
        ],
    )
    entries = writing.split(archive(*surroundings(), pipeline(), rich))
    path, out = tmp_path / "in.foz", tmp_path / "out.foz"
    path.write_bytes(b"")
    reasons = set()
    for _ in range(2000):
        at = rng.randrange(len(entries))
        (tag, hash), raw = entries[at]
        text, zero, binary = writing.payload_of(raw).partition(b"\0")
        if rng.random() < 0.7:
            text = json.dumps(twisted(rng, json.loads(text))).encode()
        else:
            text = damaged(rng, b"x" * 16 + text)[0][16:]
        parts = [raw for _, raw in entries]
        parts[at] = entry(tag, hash, text + zero + binary)
        with open(path, "r+b") as file:
            file.write(archive(*parts))
            file.truncate()
        with Archive([str(path)]) as opened, ArchiveWriter(str(out), opened) as writer:
            for found in opened.pipelines():
                reasons.add(found.reason)
                if found.reason is None:
                    if found.layout is not None:
                        check_layout(found.layout)
                    codes = {}
                    for index, stage in enumerate(found.stages):
                        with suppress(BadArchive):
                            codes[index] = opened.module(stage.module) + b"more"
                    assert writer.replace(found.key, codes) is None
    assert len(reasons) > 60


# -- how much memory -------------------------------------------------------------------------------

MEASURE = """
import sys
sys.path.insert(0, {root!r})
from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from spvlink.errors import BadArchive
def peak():  # ru_maxrss would begin with what the parent has
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) // 1024
before = peak()
with Archive([{path!r}]) as opened:
    found = 0
    for one in opened.pipelines():
        found += 1
        for stage in one.stages:
            try: opened.module(stage.module)
            except BadArchive: pass
    with ArchiveWriter("/dev/null", opened) as writer:
        writer.finish()
    print(found, peak() - before, len(opened.warnings))
"""


def measured(path: Path) -> tuple[int, int, int]:
    """(pipelines, MB that reading and writing all of it took at most, warnings)"""
    program = MEASURE.format(root=str(ROOT), path=str(path))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pipelines, megabytes, warnings = map(int, done.stdout.split())
    return pipelines, megabytes, warnings


def test_two_gigabytes(tmp_path: Path) -> None:
    """A file of 2.2 GB, most of it holes: payloads of 64 MB, of which few are read."""
    path = tmp_path / "big.foz"
    hole = 64 << 20
    with open(path, "wb") as file:
        file.write(archive(*surroundings()))
        for number in range(35):
            tag = 6 if number < 2 else 4 if number < 4 else 10
            file.write(entry(tag, number, b"", 1, stored_size=hole, size=hole))
            file.seek(hole, os.SEEK_CUR)
            file.write(pipeline(KEY + number))
    assert path.stat().st_size > 2.2e9
    pipelines, megabytes, warnings = measured(path)
    assert pipelines == 35 + 2 and warnings == 0
    assert megabytes < 300  # the limit of one payload, a few times


def test_many_entries(tmp_path: Path) -> None:
    """The index takes 16 bytes an entry, some more while it is made."""
    path = tmp_path / "many.foz"
    count = 200_000
    rng = random.Random(SEED)
    with open(path, "wb") as file:
        file.write(archive(pipeline()))
        for number in range(count):
            tag = 7 if number % 2 else rng.getrandbits(32)
            file.write(entry(tag, rng.getrandbits(64), b"x", 1))
    pipelines, megabytes, warnings = measured(path)
    code = 8 * spvlink.COMPILED  # of the library: read as it runs
    assert (pipelines, warnings) == (1, 0) and megabytes < 25 + code


def test_sizes_of_4_gb(tmp_path: Path) -> None:
    """Headers that promise 4 GB, and a few hundred kilobytes that inflate to 256 MB."""
    path = tmp_path / "in.foz"
    bomb = zlib.compress(bytes(256 << 20), 9)
    huge = 0xFFFFFFFF
    entries = [
        entry(6, 1, bomb, 1, size=huge).replace(b"\1\0\0\0", b"\2\0\0\0", 1),
        entry(6, 2, bomb, 1, size=1000).replace(b"\1\0\0\0", b"\2\0\0\0", 1),
        entry(6, 3, b"x", 1, stored_size=huge, size=huge),
        entry(6, 4, b"x", 1, size=huge),
    ]
    path.write_bytes(archive(*entries, *surroundings(), pipeline()))
    pipelines, megabytes, warnings = measured(path)
    assert pipelines == 4 and warnings == 1  # the third ends behind the file
    assert megabytes < 60


# -- files that cannot be written ------------------------------------------------------------------


def test_full_device() -> None:
    why = pytest.raises(Usage, match="/dev/full: cannot write it: No space left on device")
    with Archive([str(RECORDED)]) as opened, ArchiveWriter("/dev/full", opened) as writer, why:
        writer.finish()


FULL = """
import resource, sys
sys.path.insert(0, {root!r})
from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from spvlink.errors import Usage
try:
    with Archive([{source!r}]) as opened, ArchiveWriter({target!r}, opened) as writer:
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        for one in opened.pipelines():
            if one.reason is None:
                words = [opened.module(s.module) + b"\\1\\2\\3\\4" for s in one.stages]
                assert writer.replace(one.key, dict(enumerate(words))) is None
        writer.finish()
except Usage as error:
    print(error.message)
"""


@pytest.mark.parametrize("limit", [0, 1000, 20_000, 60_000, 90_000])
@pytest.mark.parametrize("exists", [False, True])
def test_full_disk(tmp_path: Path, limit: int, exists: bool) -> None:
    """Wherever it happens: one line, no target, or the one that was there; nothing beside it."""
    target = tmp_path / "out.foz"
    if exists:
        target.write_bytes(b"was there")
    program = FULL.format(root=str(ROOT), source=str(RECORDED), target=str(target), limit=limit)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{target}: cannot write it: File too large\n"
    assert [p.name for p in tmp_path.iterdir()] == (["out.foz"] if exists else [])
    assert not exists or target.read_bytes() == b"was there"


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "no" / "out.foz", "a\0b"):
        with Archive([str(RECORDED)]) as opened, pytest.raises(Usage, match="cannot write it"):
            ArchiveWriter(str(target), opened)


def test_what_was_left_behind_goes(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    dead = tmp_path / f".out.foz.{int(done.stdout)}.new"
    others = [tmp_path / name for name in (f".out.foz.{os.getppid()}.new", ".out.foz.x.new")]
    for path in (dead, *others):
        path.write_bytes(b"half")
    target = tmp_path / "link.foz"
    target.symlink_to(tmp_path / "out.foz")
    with Archive([str(RECORDED)]) as opened, ArchiveWriter(str(target), opened) as writer:
        writer.finish()
    assert target.is_symlink() and (tmp_path / "out.foz").stat().st_size > 16
    assert not dead.exists() and all(path.exists() for path in others)


def test_killed_while_writing(tmp_path: Path) -> None:
    """At moments all over: no target, or all of it."""
    target = tmp_path / "out.foz"
    program = FULL.format(root=str(ROOT), source=str(RECORDED), target=str(target), limit=1 << 30)
    waits = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    for wait in waits:
        process = subprocess.Popen([sys.executable, "-c", program])
        time.sleep(wait)
        process.kill()
        process.wait()
        if target.exists():
            writing.split(target.read_bytes())
    subprocess.run([sys.executable, "-c", program], check=True)
    whole = target.read_bytes()
    assert len(writing.split(whole)) > 200
    assert [p.name for p in tmp_path.iterdir()] == ["out.foz"]


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "in.foz"
    path.write_bytes(RECORDED.read_bytes())
    out = tmp_path / "out.foz"
    with Archive([str(path)]) as opened, ArchiveWriter(str(out), opened) as writer:
        os.truncate(path, 5000)
        with pytest.raises(BadArchive, match="it became shorter"):
            writer.finish()
    assert not out.exists() and len(list(tmp_path.iterdir())) == 1


def test_the_limit_of_a_payload() -> None:
    assert foz.LIMIT == 64 << 20  # what test_two_gigabytes counts on
