"""The flow with Fossilize that docs/howto/archives.md shows, run as it stands there: record, link,
replay; and the layer's cache, which gets the same modules.

FOSSILIZE_TOOLS names the tools of a build (docs/reference/archives.md): then Fossilize's layer
records what spvlink/draw draws on lavapipe, and fossilize-replay makes all pipelines. Without
it the archive is the one that was recorded so, and a program of ours reads the result instead of
the replay.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from spvlink.archive.archive import Archive
from spvlink.layer import places, wire
from spvlink.layer.recorded import LayerSettings, request_of
from spvlink.layer.store import LayerCache
from tests.archive import record
from tests.archive.writing import RECORDED
from tests.support import chains
from tests.support.layer_place import ROOT, Place

TOOLS = os.environ.get("FOSSILIZE_TOOLS", "")
PAGE = ROOT / "docs" / "howto" / "archives.md"
RECORDER = f"{sys.executable} -m tests.archive.record --draw"
REPLAY = f"""#!{sys.executable}
import sys
from spvlink import validate
from spvlink.archive.archive import Archive
with Archive(sys.argv[1:]) as archive:
    stages = [stage for one in archive.pipelines() for stage in one.stages]
    codes = [archive.module(name) for name in sorted({{stage.module for stage in stages}})]
wrong = [said for said in validate.validate_all(codes, "vulkan1.3") if said is not None]
if wrong:
    sys.exit("\\n".join(wrong))
print(len(stages), "stages of", len(codes), "modules")
"""


def blocks() -> tuple[str, str]:
    """The two commands of the page."""
    text = PAGE.read_text()
    text = text[text.index("## Record, link and replay") :]
    flow, warm = re.findall(r"```bash\n(.*?)```", text, re.S)
    return flow, warm


@pytest.fixture
def steps(tmp_path: Path) -> dict[str, str]:
    """The variables of the page: where Fossilize is, and the program that is recorded."""
    if TOOLS:
        return {"FOSSILIZE": str(Path(TOOLS).parent), "PROGRAM": RECORDER, "PYTHONPATH": str(ROOT)}
    replay = tmp_path / "fossilize" / "cli" / "fossilize-replay"
    replay.parent.mkdir(parents=True)
    replay.write_text(REPLAY)
    replay.chmod(0o755)
    variables = {"FOSSILIZE": str(tmp_path / "fossilize"), "PROGRAM": f"cp {RECORDED} game.foz"}
    return variables | {"PYTHONPATH": str(ROOT)}


def bash(place: Place, script: str, variables: dict[str, str]) -> str:
    """Both outputs of a script that succeeds, in an empty folder."""
    folder = place.folder / "work"
    folder.mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=place.variables | variables | {"PATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def modules_of(answer: bytes) -> dict[int, bytes]:
    """Of each stage of an answer the linked module (``wire.write_answer``)."""
    count, size = struct.unpack_from("<2I", answer, 60)
    pairs = list(struct.iter_unpack("<2I", answer[68 : 68 + 8 * count]))
    at, found = 68 + 8 * count + size + 4 - size % 4, {}
    for bit, length in pairs:
        found[bit] = answer[at : at + length]
        at += length
    return found


def test_record_link_replay_and_warm(place: Place, steps: dict[str, str]) -> None:
    flow, warm = blocks()
    said = bash(place, flow, steps)
    pipelines = re.search(r"spvlink: (\d+) pipelines, .*, bytes ([\d,]+) -> ([\d,]+), ", said)
    assert pipelines is not None and int(pipelines[1]) == 35, said
    work = place.folder / "work"
    (recorded,) = work.glob("game*.foz")
    sizes = [int(text.replace(",", "")) for text in pipelines.groups()[1:]]
    assert sizes == [recorded.stat().st_size, (work / "linked.foz").stat().st_size]
    assert "modules pruned" in said
    assert ("graphics pipelines:         35" if TOOLS else " modules\n") in said
    said = bash(place, warm.split("&&")[0], steps)
    assert "35 pipelines" in said and "12 linked" in said
    assert compared(place, recorded, work / "linked.foz") >= 20


def compared(place: Place, recorded: Path, linked: Path) -> int:
    """How many linked modules the layer's cache has, all of them the bytes of the archive."""
    folder = str(place.folder / "cache" / "spvlink" / "linked")
    cache, identity = LayerCache(folder, 1 << 30), places.identity(folder)
    seen = 0
    with Archive([str(recorded)]) as old, Archive([str(linked)]) as new:
        after = {one.key: one for one in new.pipelines()}
        for one in old.pipelines():
            if one.part or one.libraries or one.reason is not None:
                continue
            data = wire.write_request(request_of(old, one, identity, LayerSettings()))
            key, _ = wire.read_key(data)
            answer = cache.get(key)
            assert answer is not None and wire.status_of(answer) == wire.LINKED
            made = modules_of(answer)
            theirs = {stage.bit: new.module(stage.module) for stage in after[one.key].stages}
            assert made == theirs, one.key
            seen += len(made)
    return seen


def test_the_program_starts_warm(place: Place, steps: dict[str, str]) -> None:
    """The second command of the page: the layer finds all that was recorded."""
    with Archive([str(RECORDED)]) as archive:
        modules = {archive.module(stage.module) for p in archive.pipelines() for stage in p.stages}
    if not TOOLS and not set(chains.build(record.NAMES[0])) <= modules:
        pytest.skip("tests/archive/recorded.foz was recorded with another glslang")
    flow, warm = blocks()
    bash(place, flow.partition("&&")[0], steps)
    nobody = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python", "PROGRAM": RECORDER}
    bash(place, warm, steps | nobody)
    log = place.log()
    assert log["misses"] == 0 and log["linked"] == log["hits"] > 20, log
