"""The programs of examples/ do what they show."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chains import NAMES, build

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def run(*command: object, cwd: Path | None = None) -> str:
    """What a command prints; with this environment's spvlink in the PATH."""
    words = [str(word) for word in command]
    place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=cwd, env=os.environ | {"PATH": place}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_from_python(tmp_path: Path) -> None:
    files = []
    for stage, code in zip(("vert", "frag"), build("debug_uv")):
        files.append(tmp_path / f"a.{stage}.spv")
        files[-1].write_bytes(code)
    words = run(sys.executable, EXAMPLES / "python" / "link.py", tmp_path / "out", *files)
    assert words.startswith("vert->frag: 10 -> ")
    for file in files:
        made = tmp_path / "out" / file.name
        run("spirv-val", made)
        assert made.stat().st_size < file.stat().st_size


@pytest.mark.parametrize("kind", ["cmake", "meson"])
def test_builds(kind: str, tmp_path: Path) -> None:
    """Linked modules come out; nothing is done twice; a changed include is linked again."""
    source, place = tmp_path / "source", tmp_path / "build"
    shutil.copytree(EXAMPLES / kind, source)
    if kind == "cmake":
        run("cmake", "-S", source, "-B", place, "-G", "Ninja")
    else:
        run("meson", "setup", place, source)
    run("ninja", "-C", place)
    modules = [place / "linked" / f"flag.{stage}.spv" for stage in ("vert", "frag")]
    for module in modules:
        run("spirv-val", module)
    plain = next(p for p in place.rglob("flag.vert.spv") if p != modules[0])
    assert modules[0].stat().st_size < plain.stat().st_size, "vUnused is gone"
    assert "no work to do" in run("ninja", "-C", place)
    before = [module.read_bytes() for module in modules]
    wind = source / "wind.glsl"
    wind.write_text(wind.read_text().replace("9.0", "7.0"))
    run("ninja", "-C", place)
    after = [module.read_bytes() for module in modules]
    assert after[0] != before[0] and after[1] == before[1]
    assert "no work to do" in run("ninja", "-C", place)


def test_a_whole_archive(tmp_path: Path) -> None:
    out, report = tmp_path / "linked.foz", tmp_path / "report.json"
    archive = EXAMPLES / "batch" / "shaders.foz"
    run("spvlink", "batch", archive, "-o", out, "--report", report)
    totals = json.loads(report.read_text())["totals"]
    assert totals["pipelines"] == len(NAMES) and totals["failed"] == 0
    before, after = totals["locations"]
    assert totals["linked"] >= len(NAMES) - 2 and after < 0.6 * before
    assert out.stat().st_size > archive.stat().st_size  # the old modules stay
