"""Which linker it is: the layer and the linker process say the same, and something else as soon as
the content of any file of theirs is another one, or spirv-val is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from spvlink.layer import places
from tests.support.layer_place import build_with_layer

Identity = Callable[[], bytes]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_with_layer("layer_identity.c", tmp_path_factory.mktemp("identity"), "-O0")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two files, and a spirv-val with the library that it is built on."""
    for name, text in (
        ("package/a.py", "a = 1\n"),
        ("package/b/compiled.so", "\0ELF"),
        ("package/b/notes.txt", "no code"),
        ("tools/bin/spirv-val", "#!/bin/sh\n"),
        ("tools/lib/libSPIRV-Tools-shared.so", "library"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "tools/bin/spirv-val").chmod(0o755)
    (tmp_path / "cache").mkdir()
    return tmp_path


@pytest.fixture
def identity(program: str, package: Path, monkeypatch: pytest.MonkeyPatch) -> Identity:
    """What both say."""
    monkeypatch.setenv("PATH", f"{package / 'no'}:{package / 'tools/bin'}")

    def both() -> bytes:
        words = [program, str(package / "package"), str(package / "cache")]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        ours = places.identity(words[2], words[1])
        assert said == f"{ours.hex()}\n"
        return ours

    return both


def write_alike(path: Path, text: str) -> None:
    """Another content of the same size and time."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package/a.py", "a = 2\n"),
        ("package/b/compiled.so", "\1ELF"),
        ("tools/bin/spirv-val", "#!/bin/ls\n"),
        ("tools/lib/libSPIRV-Tools-shared.so", "Library"),
    ],
)
def test_another_content_is_another_linker(
    name: str, text: str, package: Path, identity: Identity
) -> None:
    before = identity()
    write_alike(package / name, text)
    assert identity() != before


def test_what_does_not_count(package: Path, identity: Identity) -> None:
    """Times, other files, and the place where things lie."""
    before = identity()
    os.utime(package / "package/a.py", (1, 1))
    write_alike(package / "package/b/notes.txt", "NO CODE")
    assert identity() == before
    (package / "no").symlink_to(package / "tools/bin")
    assert identity() == before


def test_names_count(package: Path, identity: Identity) -> None:
    before = identity()
    os.rename(package / "package/a.py", package / "package/c.py")
    assert identity() != before


def test_where_there_is_no_spirv_val(package: Path, identity: Identity) -> None:
    """In a container: the one that filled the cache; with nothing noted it is another linker."""
    before, noted = identity(), places.validator()
    shutil.rmtree(package / "tools")
    assert places.validator() == bytes(16)
    assert identity() != before
    (package / "cache" / places.NOTE).write_bytes(noted)
    assert identity() == before
    (package / "cache" / places.NOTE).write_bytes(noted + b"more")
    assert identity() != before


def test_this_one(program: str) -> None:
    words = [program, places.PACKAGE, ""]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said == f"{places.identity().hex()}\n"
