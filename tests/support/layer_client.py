"""The C program that asks the Vulkan layer for pipelines, and the log of its driver."""

from __future__ import annotations

from pathlib import Path

from tests.render.glsl import compile_glsl
from tests.support.layer_place import Place, build_with_layer

VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 unread;
layout(location = 2) out float same;
void main() { gl_Position = position; color = position * 2.0; unread = position; same = 0.5; }
"""
GEOM = """#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 color_in[];
layout(location = 1) in vec4 unread_in[];
layout(location = 2) in float same_in[];
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 unread;
layout(location = 2) out float same;
void main() {
    for (int i = 0; i < 3; i++) {
        gl_Position = gl_in[i].gl_Position;
        color = color_in[i];
        unread = unread_in[i] + 1.0;
        same = same_in[i];
        EmitVertex();
    }
}
"""
FRAG = """#version 450
layout(location = 0) in vec4 color;
layout(location = 2) in float same;
layout(location = 0) out vec4 result;
void main() { result = color * same; }
"""


class Calls:
    """The program's own folders and modules; its lines as case -> what it says of it."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(folder)
        self.folder = folder
        self.place.variables["VK_SPVLINK_STAGE_LINK_WAIT_MS"] = "20000"
        self.modules = []
        for stage, source in (("vert", VERT), ("geom", GEOM), ("frag", FRAG)):
            path = folder / f"{stage}.spv"
            path.write_bytes(compile_glsl(stage, source))
            self.modules.append(str(path))

    def said(self, *flags: str, **variables: str) -> dict[str, str]:
        program = build_with_layer("layer_calls.c", self.folder, *flags)
        lines = self.place.program("setarch", "-R", program, *self.modules, **variables)
        return dict(line.split(": ", 1) for line in lines.splitlines())
