"""Finds shaders in a folder or in the newest commit of a git directory, and groups them by name."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .formats import amber, libretro
from .shader import STAGE_WORDS, STAGES, Group, Shader

_TEXT = (".glsl", ".hlsl", ".spvasm", ".spvasm32")
_FORMS = ("spv", "spvasm", "glsl", "hlsl")  # say nothing of what belongs together
_MODULE = re.compile(rb"^(?=; *SPIR-V *$)", re.MULTILINE)
_ASM_MARK = b"OpEntryPoint"
_MAGICS = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")
# Suffixes of what may be included from a shader.
_INCLUDED = (".h", ".inc", ".glslh", ".hlsli", ".glsli", ".fxh")
_SUFFIXES = (
    *(f".{stage}" for stage in STAGES), *_TEXT, ".spv", ".slang", ".amber", *_INCLUDED,
)  # fmt: skip
_LARGEST = 4 << 20  # bytes of a file


def unpack(git: Path, into: Path) -> Path:
    """The shaders of a git directory's HEAD as files below ``into``. Raises OSError."""
    command = ["git", f"--git-dir={git}"]
    listed = subprocess.run(
        [*command, "ls-tree", "-r", "--name-only", "-z", "HEAD"], capture_output=True, check=False
    )
    if listed.returncode:
        raise OSError(f"{git}: {listed.stderr.decode(errors='replace').strip()}")
    paths = [p for p in listed.stdout.split(b"\0") if p.endswith(tuple(map(str.encode, _SUFFIXES)))]
    into.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(paths), 2000):
        some = [b":(literal)" + p for p in paths[first : first + 2000]]
        archive = subprocess.run(
            [*command, "archive", "--format=tar", "HEAD", "--", *some],
            capture_output=True,
            check=False,
        )
        if archive.returncode:
            raise OSError(f"{git}: {archive.stderr.decode(errors='replace').strip()}")
        subprocess.run(["tar", "x", "-C", str(into)], input=archive.stdout, check=True)
    return into


def groups(folder: Path, origin: str) -> Iterator[Group]:
    """All groups below a folder, in the order of their names."""
    found: dict[tuple[str, str], list[Shader]] = {}
    for path in sorted(p for p in folder.rglob("*") if p.suffix in _SUFFIXES and p.is_file()):
        if path.suffix in _INCLUDED or path.stat().st_size > _LARGEST:
            continue
        where = str(path.relative_to(folder))
        if path.suffix == ".amber":
            for name, shaders in amber(path):
                yield Group(origin, f"{where}:{name}", shaders)
        elif path.suffix == ".slang":
            shaders = libretro(path)
            if shaders:
                yield Group(origin, where, shaders)
        else:
            shaders, stem = _single(path)
            if shaders:
                found.setdefault((str(Path(where).parent), stem), []).extend(shaders)
    for (parent, stem), several in sorted(found.items(), key=lambda item: item[0]):
        yield Group(origin, f"{parent}/{stem}", tuple(several))


def _single(path: Path) -> tuple[list[Shader], str]:
    """A file of one shader or module, or of several disassembled modules as Tint writes them, and
    what its name shares with its neighbours' names."""
    if path.suffix != ".spv" and Path(f"{path}.spv").exists():
        return [], ""  # its module is there too
    data = path.read_bytes()
    words = path.name.split(".")
    stages = [STAGE_WORDS[word.lower()] for word in words if word.lower() in STAGE_WORDS]
    stage = stages[-1] if stages else ""
    kind = _kind(path, data, stage)
    if not kind:
        return [], ""
    rest = [w for w in words if w.lower() not in STAGE_WORDS and w not in _FORMS]
    parts = [data]
    if kind == "asm":
        parts = [part for part in _MODULE.split(data) if _ASM_MARK in part]
    return [Shader(kind, stage, part, path) for part in parts], ".".join(rest) or "unnamed"


def _kind(path: Path, data: bytes, stage: str) -> str:
    if path.suffix == ".spv" or data[:4] in _MAGICS:
        return "spv" if data[:4] in _MAGICS else ""
    if _ASM_MARK in data and b"OpTypeVoid" in data:
        return "asm"
    if path.suffix in (".spvasm", ".spvasm32") or not stage:
        return ""
    return "hlsl" if path.suffix == ".hlsl" else "glsl"
