"""Modules that need no process of spirv-val: what is known of them is what spirv-val says."""

from __future__ import annotations

import os
import random
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from spvlink import valid_modules, validate
from spvlink.valid_modules import ValidModules
from tests.support.batch_sets import batch, lines_for, tree, write_lines
from tests.support.chains import NAMES, build
from tests.support.judges import NEWER
from tests.support.samples import FRAGMENT, VERTEX, compile_glsl

ENVIRONMENTS = validate.ENVIRONMENTS[:-1]  # the last one is newer than some validators
NEVER = b"\3\2\x23\7" + bytes(16)
# Valid with --scalar-block-layout alone.
SCALAR = """#version 450
#extension GL_EXT_scalar_block_layout : require
layout(scalar, binding = 0) uniform Block { float a; vec3 b; };
void main() { gl_Position = vec4(a, b); }
"""

needs_library = pytest.mark.skipif(not NEWER.exists(), reason="there is no library of SPIRV-Tools")


def program(folder: Path, script: str) -> None:
    """A spirv-val of our own in a folder."""
    (folder / "spirv-val").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "spirv-val").chmod(0o755)


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spirv-val that comes with a library is the first one."""
    monkeypatch.setenv("PATH", f"{NEWER.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A spirv-val that writes a line each time it runs, and no library; ``validate`` remembers."""
    log = tmp_path / "log"
    real = shutil.which("spirv-val")
    assert real is not None
    program(tmp_path, f'echo >> {shlex.quote(str(log))}\nexec {shlex.quote(real)} "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    validate.known = ValidModules()
    log.write_text("")
    yield log
    validate.known = None


def mutants(seed: int) -> Iterator[bytes]:
    """Modules with a wrong word each, most of them not valid."""
    draw = random.Random(seed)
    for name in draw.sample(list(NAMES), 8):
        for code in build(name):
            made = bytearray(code)
            at = 4 * draw.randrange(5, len(code) // 4)
            made[at : at + 4] = draw.choice(
                (bytes(4), b"\xff\xff\xff\xff", bytes((draw.randrange(64), 0, 0, 0)))
            )
            yield bytes(made)


@needs_library
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_library_has_the_opinion_of_its_program(newer: None, environment: str) -> None:
    accepts = valid_modules.library()
    assert accepts is not None
    modules = [compile_glsl(VERTEX, "vert", each) for each in ("vulkan1.0", "vulkan1.3")]
    modules += [compile_glsl(SCALAR, "vert", "vulkan1.0"), *mutants(36), NEVER, b""]
    said = [message is None for message in validate.validate_all(modules, environment)]
    assert said == [accepts(code, environment) for code in modules]
    assert said[0] and said[2] and not said[-1]


@needs_library
def test_library_knows_no_unknown_environment(newer: None) -> None:
    accepts = valid_modules.library()
    assert accepts is not None and not accepts(compile_glsl(VERTEX, "vert"), "vulkan9.9")


@needs_library
@pytest.mark.parametrize("version", ["SPIRV-Tools v2000.1 of another day", "", "same"])
def test_library_of_another_version_is_not_used(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    name = "libSPIRV-Tools-shared.so"
    (tmp_path / "lib" / name).symlink_to(NEWER.parent.parent / "lib" / name)
    same = f'exec {shlex.quote(str(NEWER))} "$@"'
    program(tmp_path / "bin", same if version == "same" else f"echo {shlex.quote(version)}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert (valid_modules.library() is not None) == (version == "same")


def test_what_is_no_library_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "echo SPIRV-Tools")
    (tmp_path / "libSPIRV-Tools-shared.so").write_bytes(b"\x7fELF and nothing more")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert valid_modules.library() is None


def test_a_valid_module_is_asked_for_once(counted: Path) -> None:
    code, other = compile_glsl(VERTEX, "vert"), compile_glsl(FRAGMENT, "frag")
    assert validate.validate_all([code, other], "vulkan1.1") == [None, None]
    assert counted.read_text().count("\n") == 2
    assert validate.validate_all([other, code], "vulkan1.1") == [None, None]
    assert counted.read_text().count("\n") == 2
    assert validate.validate(code, "vulkan1.2") is None  # another question
    assert counted.read_text().count("\n") == 3


def test_a_module_that_is_not_valid_is_asked_for_each_time(counted: Path) -> None:
    code = compile_glsl(VERTEX, "vert")
    for runs in (2, 3):
        good, refusal = validate.validate_all([code, code[:-8]], "vulkan1.1")
        assert good is None and refusal is not None and "OpReturnValue" in refusal
        assert counted.read_text().count("\n") == runs


def test_memory_is_bounded(counted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valid_modules, "_MOST", 2)
    known = ValidModules()
    for code in (b"a", b"b", b"c"):
        known.add(code, "vulkan1.1")
    assert [known.has(code, "vulkan1.1") for code in (b"a", b"b", b"c")] == [False, False, True]


@needs_library
def test_batch_with_the_library_makes_the_same(newer: None, tmp_path: Path) -> None:
    lines = lines_for(tmp_path)
    write_lines(tmp_path / "all.jsonl", lines)
    batch(tmp_path / "all.jsonl", "-o", tmp_path / "with", "--jobs", "1")
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", f'exec {shlex.quote(str(NEWER))} "$@"')  # no library beside it
    os.environ["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert valid_modules.library() is None
    batch(tmp_path / "all.jsonl", "-o", tmp_path / "without", "--jobs", "1")
    assert tree(tmp_path / "with") == tree(tmp_path / "without")
