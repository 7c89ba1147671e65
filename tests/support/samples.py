"""SPIR-V for tests: GLSL compiled on the spot, and the pipelines of shaders/."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

from tests.support.chains import STAGES, environment
from tests.support.glslang import compile_files

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = tuple(f".{stage}" for stage in STAGES)

VERTEX = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in ivec2 kind;
layout(location = 0) out vec3 colour;
layout(location = 1) flat out int chosen;
layout(binding = 0) uniform Scene { mat4 view; vec4 tint[4]; float weights[3]; } scene;
float falloff(float x) { if (x < 0.5) return x * 2.0; return 1.0 / x; }
void main() {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < kind.x; ++i) {
        if (i == kind.y) continue;
        if (sum.x > 4.0) break;
        sum += scene.tint[i & 3].rgb * falloff(float(i) * 0.25);
    }
    switch (kind.y) {
    case 1: sum.x += 1.0;
    case 2: sum.y *= -0.5; break;
    default: sum = sum.zyx;
    }
    colour = sum;
    chosen = kind.x ^ 0x55;
    gl_Position = scene.view * position;
}
"""

FRAGMENT = """#version 450
layout(location = 0) in vec3 colour;
layout(location = 1) flat in int chosen;
layout(location = 0) out vec4 result;
layout(binding = 1) uniform sampler2D image;
void main() {
    vec4 texel = textureLod(image, colour.xy, 0.0);
    if (chosen > 3 && texel.a < 0.1) discard;
    result = mix(texel, vec4(colour, 1.0), dFdx(colour.x)) * (chosen == 2 ? 2.0 : 0.5);
}
"""


def compile_glsl(
    source: str, stage: str, environment: str = "vulkan1.1", debug: bool | str = False
) -> bytes:
    """The SPIR-V of one GLSL shader; ``stage`` as glslangValidator's -S wants it. ``debug``: with
    lines, or with what another option of glslangValidator asks for."""
    options = ["--quiet", "-V", "--target-env", environment]
    options += [debug if isinstance(debug, str) else "-g"] if debug else []
    return compile_files(options, {f"shader.{stage}": source}, "shader.spv")[0]


def assemble(text: str, environment: str = "vulkan1.1") -> bytes:
    """The module that spirv-as makes of its text."""
    command = ["spirv-as", "--target-env", environment, "-", "-o", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def disassemble(code: bytes, *options: str) -> str:
    """The text of a module, ids by their names unless ``--raw-id`` is among the options."""
    done = subprocess.run(["spirv-dis", *options, "-"], input=code, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def edited(code: bytes, *edits: tuple[str, str], environment: str = "vulkan1.1") -> bytes:
    """A module with its text changed: patterns, each found once or more, and what replaces them."""
    text = disassemble(code)
    for pattern, new in edits:
        text, times = re.subn(pattern, new, text)
        assert times, pattern
    return assemble(text, environment)


@cache
def pair(environment: str = "vulkan1.1") -> tuple[bytes, bytes]:
    """The vertex and fragment shader above."""
    return compile_glsl(VERTEX, "vert", environment), compile_glsl(FRAGMENT, "frag", environment)


@cache
def pipelines() -> dict[str, bytes]:
    """Every third GLSL stage under shaders/, compiled, by its path there (compiling is the slow
    part).
    """
    paths = [p for p in sorted((ROOT / "shaders").rglob("*")) if p.suffix in SUFFIXES][::3]
    return {
        str(p.relative_to(ROOT)): compile_glsl(p.read_text(), p.suffix[1:], environment(p.stem))
        for p in paths
    }
