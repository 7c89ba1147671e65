"""link, check and batch on a system without what only Unix has: the modules are hidden, and so are
the functions of ``os``. There is no Windows machine to try; mypy looks at its branches
(scripts/check)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archive.writing import RECORDED
from tests.support.samples import compile_glsl

ROOT = Path(__file__).resolve().parents[2]
# What CPython's documentation gives as "Availability: Unix", as far as spvlink uses it.
HIDE = """
import os, sys
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
for name in ("posix_spawn", "killpg", "getpgid", "pread", "pwrite", "fork", "sched_setscheduler"):
    delattr(os, name)
"""
PROGRAM = "import sys; from spvlink.cli import main; sys.exit(main(sys.argv[1:]))"
VERTEX = """#version 450
layout(location = 0) in vec4 a; layout(location = 0) out vec4 used;
layout(location = 1) out vec4 no;
void main() { gl_Position = a; used = a.wzyx; no = a + 1.0; }
"""
FRAGMENT = """#version 450
layout(location = 0) in vec4 used; layout(location = 1) in vec4 no;
layout(location = 0) out vec4 colour;
void main() { colour = used; }
"""


@pytest.fixture(scope="module")
def unlike_unix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that hides it from each Python that has it in its path, workers too."""
    folder = tmp_path_factory.mktemp("unlike_unix")
    (folder / "sitecustomize.py").write_text(HIDE)
    return folder


def run(*words: object, path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{ROOT}"},
        check=False,
    )


def test_all_of_it_is_hidden(unlike_unix: Path) -> None:
    program = "import os; hasattr(os, 'fork') and exit(3); import fcntl"
    path = os.environ | {"PYTHONPATH": f"{unlike_unix}"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=path, check=False
    )
    assert done.returncode == 1 and b"fcntl" in done.stderr


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    files = [tmp_path / "a.vert.spv", tmp_path / "a.frag.spv"]
    for file, text in zip(files, (VERTEX, FRAGMENT)):
        file.write_bytes(compile_glsl(text, file.name.split(".")[1]))
    return files


def test_link_gives_the_same_bytes(sources: list[Path], tmp_path: Path, unlike_unix: Path) -> None:
    for path in (ROOT, unlike_unix):
        done = run("link", *sources, "-o", tmp_path / path.name, path=path)
        assert done.returncode == 0, done.stderr
    for source in sources:
        made = [(tmp_path / p.name / source.name).read_bytes() for p in (ROOT, unlike_unix)]
        assert made[0] == made[1] != source.read_bytes()


def test_link_compiles_sources(tmp_path: Path, unlike_unix: Path) -> None:
    files = [tmp_path / "a.vert", tmp_path / "a.frag"]
    for file, text in zip(files, (VERTEX, FRAGMENT)):
        file.write_text(text)
    done = run("link", *files, "-o", tmp_path / "out", path=unlike_unix)
    assert done.returncode == 0, done.stderr
    files[1].write_text(FRAGMENT.replace("colour = used", "colour = nobody"))
    done = run("link", *files, "-o", tmp_path / "out", path=unlike_unix)
    assert done.returncode == 1 and "a.frag:4:" in done.stderr, done.stderr


def test_check_gives_the_same_lines(sources: list[Path], unlike_unix: Path) -> None:
    said = [run("check", *sources, path=path) for path in (ROOT, unlike_unix)]
    assert said[0].returncode == said[1].returncode and said[0].stdout == said[1].stdout


def test_verify_gives_the_same_verdict(
    sources: list[Path], tmp_path: Path, unlike_unix: Path
) -> None:
    assert run("link", *sources, "-o", tmp_path / "out").returncode == 0
    linked = [tmp_path / "out" / source.name for source in sources]
    for words in ((*sources, "--linked", *linked), (*sources, "--linked", linked[0], sources[1])):
        said = [run("verify", *words, path=path) for path in (ROOT, unlike_unix)]
        assert said[0].stdout == said[1].stdout and said[0].stdout, said[1].stderr
        assert said[0].returncode == said[1].returncode


def test_batch_gives_the_same_archive(tmp_path: Path, unlike_unix: Path) -> None:
    outs = []
    for path in (ROOT, unlike_unix):
        outs.append(tmp_path / f"{path.name}.foz")
        done = run("batch", RECORDED, "-o", outs[-1], "--jobs", "2", path=path)
        assert done.returncode == 0 and "35 pipelines" in done.stderr, done.stderr
    assert outs[0].read_bytes() == outs[1].read_bytes()
