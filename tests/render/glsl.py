"""Compiles GLSL for tests of the harness that draws."""

from __future__ import annotations

import functools

from tests.support.glslang import compile_files


@functools.cache
def compile_glsl(stage: str, source: str) -> bytes:
    """SPIR-V of the source (stage: vert, frag ...). AssertionError with the compiler's words."""
    options = ["-V", "--target-env", "vulkan1.2"]
    return compile_files(options, {f"shader.{stage}": source}, "shader.spv")[0]
