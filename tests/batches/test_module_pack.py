"""The modules of a batch in one file: whole, cut off, damaged, on a full disk."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from spvlink.batches.pack import ModulePack
from spvlink.batches.pipelines import digest_of
from spvlink.batches.store import JobStore
from spvlink.batches.work import JobOutcome
from spvlink.errors import Usage
from spvlink.pipeline import LINKED
from tests.archive.writing import RECORDED
from tests.support.batch_sets import batch
from tests.support.chains import build

MODULES = [*build("decal"), *build("water_tess"), b""]
NAMES = [digest_of(data) for data in MODULES]


def filled(path: Path) -> bytes:
    """A file with all modules; gives its bytes."""
    pack = ModulePack(str(path))
    for name, data in zip(NAMES, MODULES):
        pack.put(name, data)
    assert [pack.get(name) for name in NAMES] == MODULES
    pack.close()
    return path.read_bytes()


def reopened(path: Path, content: bytes) -> list[bytes | None]:
    """What a file with these bytes has of each module, before and after one more is put there."""
    path.write_bytes(content)
    pack = ModulePack(str(path))
    found = [pack.get(name) for name in NAMES]
    assert [name in pack for name in NAMES] == [data is not None for data in found]
    more = build("gbuffer")[0]
    pack.put(digest_of(more), more)
    pack.close()
    again = ModulePack(str(path))
    assert again.get(digest_of(more)) == more
    assert [again.get(name) for name in NAMES] == found
    again.close()
    return found


def test_cut_off_anywhere(tmp_path: Path) -> None:
    whole = filled(tmp_path / "pack")
    ends = [0]
    for data in MODULES:
        ends.append(ends[-1] + 24 + len(data))
    assert ends[-1] == len(whole)
    for cut in sorted({0, 1, 23, 24, *(end + n for end in ends[1:] for n in (-1, 0, 1))}):
        if cut <= len(whole):
            there = sum(end <= cut for end in ends[1:])
            found = reopened(tmp_path / "cut", whole[:cut])
            assert found == [*MODULES[:there], *[None] * (len(MODULES) - there)]


@pytest.mark.parametrize("at", [0, 5, 21, 40, 3000])
def test_a_flipped_bit(at: int, tmp_path: Path) -> None:
    """It costs modules, and never is one."""
    content = bytearray(filled(tmp_path / "pack"))
    content[at] ^= 4
    found = reopened(tmp_path / "flipped", bytes(content))
    assert found != MODULES
    assert all(one in (None, data) for one, data in zip(found, MODULES))


def test_a_full_disk(tmp_path: Path) -> None:
    """One line, and what was there stays."""
    store = JobStore(str(tmp_path / "out.partial"), packed=True)
    outcome = JobOutcome(LINKED)
    outcome.modules = [MODULES[0]]
    store.put(b"1" * 32, outcome)
    before = (tmp_path / "out.partial" / "pack").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (before + 100, limits[1]))
    try:
        outcome.modules = [MODULES[1]]
        with pytest.raises(Usage, match="cannot write it: File too large"):
            store.put(b"2" * 32, outcome)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "out.partial" / "pack").stat().st_size == before
    store.put(b"2" * 32, outcome)
    assert [store.module(name) for name in NAMES[:2]] == MODULES[:2]
    store.close(done=True)
    assert not (tmp_path / "out.partial").exists()


@pytest.mark.parametrize("damage", ["none", "cut", "flip", "gone"])
def test_a_run_that_finds_it_damaged(damage: str, tmp_path: Path) -> None:
    """What is lost is linked again: the archive has the same bytes."""
    out, pack = tmp_path / "out.foz", tmp_path / "out.foz.partial" / "pack"
    batch(RECORDED, "-o", tmp_path / "whole.foz", "--jobs", "1")
    batch(RECORDED, "-o", out, "--jobs", "1", "--strict", status=1)
    content = bytearray(pack.read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "gone":
        pack.unlink()
    elif damage != "none":
        pack.write_bytes(content if damage == "flip" else content[: len(content) // 2])
    batch(RECORDED, "-o", out, "--jobs", "1", "--report", tmp_path / "r.json")
    totals = json.loads((tmp_path / "r.json").read_text())["totals"]
    assert (totals["found"] == totals["jobs"]) == (damage == "none")
    assert out.read_bytes() == (tmp_path / "whole.foz").read_bytes()
    assert not pack.exists()
