"""How chains of stages are written for tests.

A chain is written as what is special in each stage: declarations and the body of main(). The vertex
shader has the attributes ``a``, ``b`` and ``k``, the fragment shader the output ``color``.
"""

from __future__ import annotations

from dataclasses import dataclass

EXTENSIONS = {
    "task": "#extension GL_EXT_mesh_shader : require\n",
    "mesh": "#extension GL_EXT_mesh_shader : require\n",
}


@dataclass(frozen=True)
class Chain:
    """``stages``: (stage, whole GLSL text), in the order of the pipeline. ``gone``: names that the
    linked modules must not have any more; ``kept``: names that they must have still; ``moved``:
    what code motion must have replaced."""

    name: str
    stages: tuple[tuple[str, str], ...]
    gone: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    environment: str = "vulkan1.1"


def text(stage: str, declarations: str, main: str) -> tuple[str, str]:
    extension = EXTENSIONS.get(stage, "")
    return stage, f"#version 450\n{extension}{declarations}\nvoid main() {{\n{main}\n}}\n"


def vert(declarations: str, main: str) -> tuple[str, str]:
    attributes = """layout(location = 0) in vec3 position;
layout(location = 1) in vec4 a;
layout(location = 2) in vec4 b;
layout(location = 3) in ivec4 k;
"""
    return text("vert", attributes + declarations, "gl_Position = vec4(position, 1.0);\n" + main)


def geom(declarations: str, main: str, most: int = 6) -> tuple[str, str]:
    modes = f"layout(triangles) in;\nlayout(triangle_strip, max_vertices = {most}) out;\n"
    return text("geom", modes + declarations, main)


def tesc(declarations: str, main: str) -> tuple[str, str]:
    levels = """
gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 3.0;
gl_TessLevelInner[0] = 2.0;
"""
    return text("tesc", "layout(vertices = 3) out;\n" + declarations, levels + main)


def tese(declarations: str, main: str) -> tuple[str, str]:
    place = """
vec3 w = gl_TessCoord;
gl_Position = gl_in[0].gl_Position * w.x + gl_in[1].gl_Position * w.y + gl_in[2].gl_Position * w.z;
"""
    return text("tese", "layout(triangles) in;\n" + declarations, place + main)


def mesh(declarations: str, main: str) -> tuple[str, str]:
    """A fan of 8 triangles around the middle, one invocation a corner."""
    head = """layout(local_size_x = 9) in;
layout(triangles, max_vertices = 9, max_primitives = 8) out;
"""
    fan = """SetMeshOutputsEXT(9, 8);
uint i = gl_LocalInvocationIndex;
float angle = float(i) * 0.785398;
vec2 at = i == 8 ? vec2(0.0) : vec2(cos(angle), sin(angle)) * 0.9;
gl_MeshVerticesEXT[i].gl_Position = vec4(at, 0.5, 1.0);
if (i < 8) gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, (i + 1) % 8, 8);
"""
    return text("mesh", head + declarations, fan + main)


def frag(declarations: str, main: str) -> tuple[str, str]:
    return text("frag", "layout(location = 0) out vec4 color;\n" + declarations, main)


PASS = "gl_Position = gl_in[i].gl_Position; EmitVertex();"
