"""What we write, read by Fossilize's own tools. They are not in any package: FOSSILIZE_TOOLS names
the folder of a build (docs/reference/archives.md says how to make it); without it these tests are
skipped."""

from __future__ import annotations

import glob
import os
import re
import subprocess
from pathlib import Path

import pytest

from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from tests.archive import writing
from tests.archive.writing import RECORDED

TOOLS = os.environ.get("FOSSILIZE_TOOLS", "")
DRIVERS = sorted(glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json"))
pytestmark = pytest.mark.skipif(not TOOLS, reason="FOSSILIZE_TOOLS is not set")
Keys = set[tuple[int, int]]


def tool(name: str, *words: object) -> str:
    """Both outputs of one of the tools, which must have nothing to complain of."""
    environment = os.environ | {"VK_ICD_FILENAMES": DRIVERS[0], "LP_NUM_THREADS": "1"}
    command = [f"{TOOLS}/fossilize-{name}", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "ERROR" not in said and "WARN" not in said, said
    return said


def signed(code: bytes) -> bytes:
    """The same module by another generator: other words, and nothing else."""
    return code[:8] + b"\x99\0\0\0" + code[12:]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fossilize") / "out.foz"
    with Archive([str(RECORDED)]) as opened, ArchiveWriter(str(out), opened) as writer:
        for found in opened.pipelines():
            if found.reason is None:
                codes = [signed(opened.module(stage.module)) for stage in found.stages]
                assert writer.replace(found.key, dict(enumerate(codes))) is None
        writer.finish()
    return out


def keys_of(path: Path, tags: tuple[int, ...] = tuple(range(10))) -> Keys:
    """As fossilize-list has them."""
    return {
        (tag, int(line.split()[0], 16))
        for tag in tags
        for line in tool("list", "--tag", tag, path).splitlines()
        if line and "INFO" not in line
    }


def test_list(written: Path) -> None:
    assert keys_of(written) == {key for key, _ in writing.split(written.read_bytes())}


def test_replay(written: Path) -> None:
    """Every pipeline is made on lavapipe, with the modules of ours that it names."""
    said = tool("replay", written)
    assert "graphics pipelines:         35" in said
    texts = [
        writing.payload_of(raw) for (tag, _), raw in writing.split(written.read_bytes()) if tag == 6
    ]
    used = {digits for text in texts for digits in re.findall(rb'"module":"(\w{16})"', text)}
    assert len(used) > 20 and f"Playing back {len(used)} shader modules" in said


def test_merge_and_convert(written: Path, tmp_path: Path) -> None:
    merged = tmp_path / "merged.foz"
    merged.write_bytes(b"")
    tool("merge-db", merged, written)
    ours = writing.split(written.read_bytes())
    assert dict(writing.split(merged.read_bytes())) == dict(ours)
    folder = tmp_path / "folder"
    folder.mkdir()
    tool("convert-db", written, folder)
    for (tag, hash), raw in ours:
        assert (folder / f"{tag:02x}.{hash:016x}.json").read_bytes() == writing.payload_of(raw)


def test_prune_by_application(written: Path, tmp_path: Path) -> None:
    """Our links count: every new module stays, and old ones that nobody uses any more go."""
    pruned = tmp_path / "pruned.foz"
    ((_, application),) = keys_of(written, (0,))
    tool(
        "prune", "--input-db", written, "--output-db", pruned,
        "--filter-application", f"{application:x}",
    )  # fmt: skip
    with Archive([str(written)]) as opened:
        used = {
            (4, int(stage.module, 16)) for found in opened.pipelines() for stage in found.stages
        }
    left = keys_of(pruned, (4,))
    assert used <= left < keys_of(written, (4,))
    assert keys_of(pruned, (6,)) == keys_of(written, (6,))


def test_rehash(written: Path, tmp_path: Path) -> None:
    """Fossilize computes for our modules the keys that we gave them."""
    again = tmp_path / "again.foz"
    tool("rehash", "--input-db", written, "--output-db", again)
    assert keys_of(again, (4,)) == keys_of(written, (4,))
    assert len(keys_of(again, (6,))) <= len(keys_of(written, (6,)))


def test_a_torn_file_is_the_same_to_both(written: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.foz"
    torn.write_bytes(written.read_bytes()[:-5])
    said = subprocess.run(
        [f"{TOOLS}/fossilize-list", "--tag", "8", str(torn)], capture_output=True, text=True
    )
    theirs = {int(line, 16) for line in said.stdout.split() if len(line) == 16}
    with Archive([str(torn)]) as opened:
        assert set(opened.union.hashes(8)) == theirs and len(opened.warnings) == 1
