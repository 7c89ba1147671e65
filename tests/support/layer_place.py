"""What the tests of the Vulkan layer share: a user's folders of a test's own, and programs run in
them."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spvlink.layer import build, places
from tests.support.samples import compile_glsl as compile_for

ROOT = Path(__file__).resolve().parents[2]
WAIT = ("--wait", "20000")  # as long as it takes on a busy machine
NAMES = ("material", "pbr_cascades", "light_rig")


class Place:
    """A user's folders of a test's own, and programs run in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = dict(os.environ)
        for name in ("CACHE", "STATE", "DATA"):
            self.variables[f"XDG_{name}_HOME"] = str(folder / name.lower())
        # a socket's path is short, and a test's folder may not be
        self.runtime = Path(f"/tmp/spvlink-test-{os.getpid()}-{abs(hash(folder)) % 10**8}")
        self.runtime.mkdir(mode=0o700)
        self.variables["XDG_RUNTIME_DIR"] = str(self.runtime)
        self.variables["VK_SPVLINK_STAGE_LINK_IDLE_S"] = "5"
        self.variables["VK_ICD_FILENAMES"] = sorted(
            glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")
        )[0]

    def close(self) -> None:
        shutil.rmtree(self.runtime)

    def program(self, *command: str, **variables: str) -> str:
        """Standard output and error of a program that must succeed."""
        done = subprocess.run(
            command, cwd=ROOT, env={**self.variables, **variables}, timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]
        return done.stdout

    def spvlink(self, *words: str, **variables: str) -> str:
        return self.program(sys.executable, "-m", "spvlink", *words, **variables)

    def layered(self, *command: str, options: tuple[str, ...] = WAIT, **variables: str) -> Any:
        """Run with the layer; what the log says of this run."""
        self.spvlink("layer", "run", *options, "--", *command, **variables)
        return self.log()

    def log(self) -> Any:
        """What the log says of the last run."""
        return json.loads(self.spvlink("layer", "log", "--json"))["last_run"]

    def cached(self) -> list[Path]:
        return [p for p in (self.folder / "cache/spvlink/linked").glob("??/*") if p.is_file()]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("pairs")
    paths = []
    for name in NAMES:
        for stage in ("vert", "frag"):
            source = (ROOT / "shaders" / name / f"{name}.{stage}").read_text()
            path = folder / f"{name}.{stage}.spv"
            path.write_bytes(compile_for(source, stage, "vulkan1.1"))
            paths.append(str(path))
    return paths


def forms(form: str, out: Path, pairs: list[str]) -> list[str]:
    return [sys.executable, "-m", "tests.render.forms", form, str(out), *pairs]


def assert_same(a: Path, b: Path) -> None:
    before, after = np.load(a), np.load(b)
    assert set(before) == set(after)
    for name in before:
        assert before[name].tobytes() == after[name].tobytes(), name


def socket_of(place: Place) -> str:
    """Where the linker process of this place listens."""
    name = places.VARIABLE + "CACHE_DIR"
    cache = place.variables.get(name, str(place.folder / "cache/spvlink/linked"))
    old = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(place.runtime)
    try:
        return places.socket(places.identity(), cache)
    finally:
        if old is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = old


def build_with_layer(source: str, folder: Path, *flags: str) -> str:
    """A program of tests/layer/SOURCE and the layer's own files, as one; gives its path."""
    (folder / "config.h").write_text(build.config())
    program = str(folder / Path(source).stem)
    subprocess.run(
        ["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-pthread", *flags, "-I", build.SOURCES,
         "-I", build.CORE, "-I", folder, "-o", program, ROOT / "tests" / "layer" / source,
         *build.sources()],
        check=True,
    )  # fmt: skip
    return program


def instructions(words: list[int]) -> Iterator[tuple[int, int]]:
    """(index of the first word, opcode) of every instruction of a module."""
    at = 5
    while at < len(words):
        yield at, words[at] & 0xFFFF
        at += words[at] >> 16


def tamper(path: Path, change: Callable[[list[int]], None]) -> None:
    """Change the words of the last module of an answer in the cache, and seal it again."""
    data = path.read_bytes()[:-16]
    at = data.rindex(struct.pack("<I", 0x07230203))
    words = list(struct.unpack(f"<{(len(data) - at) // 4}I", data[at:]))
    change(words)
    data = data[:at] + struct.pack(f"<{len(words)}I", *words)
    path.write_bytes(data + hashlib.blake2b(data, digest_size=16).digest())
