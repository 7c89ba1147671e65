"""Files that hold several shaders: Amber scripts and libretro's .slang."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .shader import STAGE_WORDS, Shader

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
_STAGE = re.compile(r"^\s*#\s*pragma\s+stage\s+(\w+)")
_DROPPED = re.compile(r"^\s*#\s*pragma\s+(parameter|name|format)\b")
_DEEPEST = 32  # includes within includes

_AMBER_PASS = """#version 430
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }
"""


def libretro(path: Path) -> tuple[Shader, ...]:
    """The vertex and fragment shader of one libretro .slang file: the lines before the first stage
    belong to both. No stages: nothing.
    """
    common: list[str] = []
    parts: dict[str, list[str]] = {}
    current = common
    for line in _expanded(path, 0):
        found = _STAGE.match(line)
        if found:
            current = parts.setdefault(STAGE_WORDS.get(found[1], ""), list(common))
        elif not _DROPPED.match(line):
            if current is common:
                for other in parts.values():
                    other.append(line)
            current.append(line)
    return tuple(
        Shader("glsl", stage, "\n".join(lines).encode(), path)
        for stage, lines in parts.items()
        if stage
    )


def _expanded(path: Path, depth: int) -> Iterator[str]:
    try:
        text = path.read_text("utf-8-sig", "replace")
    except OSError:
        yield f"#error no file {path.name}"
        return
    for line in text.splitlines():
        found = _INCLUDE.match(line)
        if found and depth < _DEEPEST:
            yield from _expanded(path.parent / found[1], depth + 1)
        else:
            yield line


def amber(path: Path) -> Iterator[tuple[str, tuple[Shader, ...]]]:
    """(name, shaders) of each graphics pipeline of an Amber script."""
    shaders: dict[str, Shader] = {}
    attached: list[str] | None = None
    name = ""
    lines = iter(path.read_text("utf-8", "replace").splitlines())
    for line in lines:
        words = line.split()
        if not words:
            continue
        if words[0] == "SHADER" and len(words) >= 4:
            shader = _amber_shader(words, lines, path)
            if shader is not None:
                shaders[words[2]] = shader
        elif words[0] == "PIPELINE" and len(words) >= 3:
            attached = [] if words[1] == "graphics" else None
            name = words[2]
        elif words[0] == "ATTACH" and attached is not None and len(words) >= 2:
            attached.append(words[1])
        elif words[0] == "END" and attached is not None:
            chosen = tuple(shaders[a] for a in attached if a in shaders)
            if chosen:
                yield name, chosen
            attached = None


def _amber_shader(words: list[str], lines: Iterator[str], path: Path) -> Shader | None:
    stage = STAGE_WORDS.get(words[1], "")
    form = words[3]
    if form == "PASSTHROUGH":
        return Shader("glsl", stage, _AMBER_PASS.encode(), path)
    body: list[str] = []
    for line in lines:
        if line.strip() == "END":
            break
        body.append(line)
    environment = words[5] if len(words) > 5 and words[4] == "TARGET_ENV" else ""
    kind = {"GLSL": "glsl", "SPIRV-ASM": "asm"}.get(form)
    if kind is None or not stage:
        return None
    return Shader(kind, stage, "\n".join(body).encode(), path, environment)
