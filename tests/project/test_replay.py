"""scripts/replay: nothing is said of the same code, and every kind of change is seen."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.interpreted import interpreted

ROOT = Path(__file__).resolve().parents[2]
CHAIN = "debug_uv"

# What is planted: file, old text, new text; what replay names.
CHANGES = {
    "remark": ("spvlink/link/dead/dead_varyings.py", "does not read it", "reads it not", "remarks"),
    "bytes": (
        "spvlink/binary/encode.py",
        "module.generator,",
        "module.generator + 1,",
        "bytes of vert",
    ),
}


def replay(tree: Path) -> tuple[int, str]:
    command = [sys.executable, ROOT / "scripts" / "replay", tree, "--only", CHAIN]
    done = subprocess.run(
        [*command, "--set", "default", "exact"], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, done.stdout


def test_the_same_code_has_no_difference(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spvlink", tmp_path / "spvlink")
    status, words = replay(tmp_path)
    assert status == 0 and words.startswith("replay: 2 links, 0 different")


@interpreted
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name: str, tmp_path: Path) -> None:
    file, old, new, what = CHANGES[name]
    shutil.copytree(ROOT / "spvlink", tmp_path / "spvlink")
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    status, words = replay(tmp_path)
    assert status == 1 and f"{CHAIN} default: " in words and what in words
