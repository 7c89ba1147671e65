"""The pipelines of shaders/ as chains of stages: which stages each has, compiled."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.support.glslang import compile_files

SHADERS = Path(__file__).resolve().parents[2] / "shaders"
STAGES = ("vert", "tesc", "tese", "geom", "task", "mesh", "frag")  # as a pipeline runs them
NAMES = sorted(p.name for p in SHADERS.iterdir() if p.is_dir())


@cache
def stages_of(name: str) -> tuple[str, ...]:
    """The suffixes of a pipeline's GLSL files in the order of the pipeline."""
    return tuple(s for s in STAGES if (SHADERS / name / f"{name}.{s}").exists())


PAIRS = [name for name in NAMES if stages_of(name) == ("vert", "frag")]
CHAINS = [name for name in NAMES if name not in PAIRS]


def environment(name: str, lowest: str = "vulkan1.1") -> str:
    """The lowest --target-env for a pipeline: mesh shaders need SPIR-V 1.4."""
    return "vulkan1.2" if "mesh" in stages_of(name) else lowest


@cache
def build(name: str, debug: bool | str = False) -> tuple[bytes, ...]:
    """The modules of a pipeline as glslang makes them. ``debug``: with lines, or with what another
    option of glslangValidator asks for. AssertionError with its words."""
    options = ["-V", "--target-env", environment(name)]
    options += [debug if isinstance(debug, str) else "-g"] if debug else []
    files = [f"{name}.{stage}" for stage in stages_of(name)]
    texts = [(SHADERS / name / file).read_text() for file in files]
    return tuple(compile_files(options, {f: t}, "s.spv")[0] for f, t in zip(files, texts))
