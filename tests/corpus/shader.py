"""What a stage is made of, before anything was compiled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STAGES = ("vert", "tesc", "tese", "geom", "task", "mesh", "frag")  # as a pipeline runs them
STAGE_WORDS = {
    **{stage: stage for stage in STAGES},
    "vertex": "vert",
    "tessellation_control": "tesc",
    "tessellation_evaluation": "tese",
    "geometry": "geom",
    "fragment": "frag",
    "vs": "vert",
    "ps": "frag",
    "gs": "geom",
    "hs": "tesc",
    "ds": "tese",
    "as": "task",
    "ms": "mesh",
}


@dataclass(frozen=True)
class Shader:
    """kind: spv, asm, glsl or hlsl; stage: '' where only the module's entry points say it;
    environment: '' or what the file asks for.
    """

    kind: str
    stage: str
    data: bytes
    path: Path
    environment: str = ""


@dataclass(frozen=True)
class Group:
    """Shaders that seem to make one pipeline. origin: the folder or snapshot they come from."""

    origin: str
    name: str
    shaders: tuple[Shader, ...]
