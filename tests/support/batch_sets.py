"""Sets of pipelines for the tests of ``spvlink batch``, and the command itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.chains import build, stages_of
from tests.support.samples import compile_glsl

ROOT = Path(__file__).resolve().parents[2]
# Of every kind of chain one or two, so that a run takes a second or two.
NAMES = (
    "car_paint",
    "bloom_upsample",
    "water_tess",
    "half_geometry",
    "meshlets",
    "gbuffer",
    "decal",
)
VARIABLES = os.environ | {"PYTHONPATH": str(ROOT)}


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def lines_for(folder: Path, names: tuple[str, ...] = NAMES) -> list[dict[str, Any]]:
    """The modules of these pipelines of shaders/ in a folder, and a line for each."""
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = []
    for name in names:
        files = []
        for stage, code in zip(stages_of(name), build(name)):
            (folder / f"{name}.{stage}.spv").write_bytes(code)
            files.append({"file": f"{name}.{stage}.spv"})
        lines.append({"id": name, "stages": files})
    return lines


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "spvlink", "batch", *map(str, words)]


def batch(*words: object, status: int = 0) -> str:
    """Run it; gives standard error."""
    done = subprocess.run(command(*words), capture_output=True, text=True, env=VARIABLES)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert not done.stdout, done.stdout
    return done.stderr


def tree(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def result_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]


@cache
def heavy() -> dict[str, bytes]:
    """Stages of a pipeline that takes seconds to link: three times 16,000 statements."""
    code = "".join(f"x = sin(x * y + {n}.5);\n" for n in range(16000))
    vertex = f"""#version 450
        layout(location = 0) out float a; layout(location = 1) out float b;
        layout(location = 0) in vec2 p;
        void main() {{ float x = p.x, y = p.y; {code} a = x; b = y; gl_Position = vec4(x); }}"""
    geometry = f"""#version 450
        layout(points) in; layout(points, max_vertices = 1) out;
        layout(location = 0) in float a[]; layout(location = 1) in float b[];
        layout(location = 0) out float c; layout(location = 1) out float d;
        void main() {{
            float x = a[0], y = b[0]; {code} c = x; d = y;
            gl_Position = gl_in[0].gl_Position; EmitVertex();
        }}"""
    fragment = f"""#version 450
        layout(location = 0) in float c; layout(location = 1) in float d;
        layout(location = 0) out vec4 o;
        void main() {{ float x = c, y = d; {code} o = vec4(x); }}"""
    texts = {"vert": vertex, "geom": geometry, "frag": fragment}
    return {stage: compile_glsl(text, stage) for stage, text in texts.items()}
