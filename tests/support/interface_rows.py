"""Pipelines whose stages do not fit, and pipelines whose stages do, for ``spvlink check``.

A row says what is broken and by which rules. Where the validation layer says something else, the
row has that and the reason; the test holds it to both.
"""

from __future__ import annotations

from dataclasses import dataclass

MISSING = "VUID-RuntimeSpirv-OpEntryPoint-08743"
TYPE = "VUID-RuntimeSpirv-OpEntryPoint-07754"
DECORATION = "VUID-RuntimeSpirv-OpVariable-08746"
LONGER = "VUID-RuntimeSpirv-maintenance4-06817"
FLAT = "VUID-StandaloneSpirv-Flat-04744"
MIXED = "VUID-StandaloneSpirv-Input-10604"
LIMIT = "VUID-RuntimeSpirv-Location-06272"
CREATE = "VUID-VkGraphicsPipelineCreateInfo-"
LINKING, LINKING_FRAGMENTS = f"{CREATE}pStages-00742", f"{CREATE}None-04889"
STAGE = "VUID-VkPipelineShaderStageCreateInfo-"
POINTS, LINES, TRIANGLES, PATCHES = 0, 1, 3, 10  # VkPrimitiveTopology

Edit = tuple[str, str]  # a pattern in the module's text, what replaces it


@dataclass(frozen=True)
class Code:
    """GLSL of one stage, and what is changed in its module; or SPIR-V, if it begins with ";"."""

    stage: str
    text: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Row:
    """``rules``: the errors of ``spvlink check``. ``layer``: those of the validation layer, None if
    they are the same; then ``why`` is empty."""

    name: str
    codes: tuple[Code, ...]
    rules: frozenset[str] = frozenset()
    layer: frozenset[str] | None = None
    why: str = ""
    maintenance4: bool = False
    topology: int = TRIANGLES


# -- sources ---------------------------------------------------------------------------------------


def vert(declared: str = "", does: str = "", *edits: Edit) -> Code:
    text = f"#version 450\n{declared}\nvoid main() {{ gl_Position = vec4(0); {does} }}\n"
    return Code("vert", text, edits)


def frag(declared: str = "", does: str = "", *edits: Edit) -> Code:
    text = f"#version 450\n{declared}\nvoid main() {{ {does} }}\n"
    return Code("frag", text, edits)


def tesc(declared: str = "", does: str = "", *edits: Edit, vertices: int = 3) -> Code:
    text = (
        f"#version 450\nlayout(vertices = {vertices}) out;\n{declared}\nvoid main() {{\n"
        "gl_TessLevelOuter[0] = 1; gl_TessLevelOuter[1] = 1; gl_TessLevelOuter[2] = 1;\n"
        "gl_TessLevelInner[0] = 1;\n"
        f"gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; {does} }}\n"
    )
    return Code("tesc", text, edits)


def tese(declared: str = "", does: str = "", *edits: Edit, domain: str = "triangles") -> Code:
    text = (
        f"#version 450\nlayout({domain}) in;\n{declared}\n"
        f"void main() {{ gl_Position = gl_in[0].gl_Position; {does} }}\n"
    )
    return Code("tese", text, edits)


def geom(
    declared: str = "", does: str = "", *edits: Edit, takes: str = "triangles", vertices: int = 3
) -> Code:
    text = (
        f"#version 450\nlayout({takes}) in;\n"
        f"layout(triangle_strip, max_vertices = {vertices}) out;\n{declared}\n"
        f"void main() {{ gl_Position = gl_in[0].gl_Position; {does} EmitVertex(); }}\n"
    )
    return Code("geom", text, edits)


# Its Position is in no block, as HLSL has it.
LOOSE_VERT = Code("vert", """; SPIR-V
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %position
OpName %position "position"
OpDecorate %position BuiltIn Position
%void = OpTypeVoid
%fn = OpTypeFunction %void
%f = OpTypeFloat 32
%v4 = OpTypeVector %f 4
%pointer = OpTypePointer Output %v4
%zero = OpConstantNull %v4
%position = OpVariable %pointer Output
%main = OpFunction %void None %fn
%begin = OpLabel
OpStore %position %zero
OpReturn
OpFunctionEnd
""")  # fmt: skip

MESH = "#version 460\n#extension GL_EXT_mesh_shader : require\n"


def mesh(
    declared: str = "", does: str = "", *edits: Edit, vertices: int = 3, primitives: int = 1
) -> Code:
    text = (
        f"{MESH}layout(local_size_x = 1) in;\n"
        f"layout(triangles, max_vertices = {vertices}, max_primitives = {primitives}) out;\n"
        f"{declared}\nvoid main() {{ SetMeshOutputsEXT(3, 1);\n"
        "gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);\n"
        "for (int i = 0; i < 3; ++i) gl_MeshVerticesEXT[i].gl_Position = vec4(0);\n"
        f"{does} }}\n"
    )
    return Code("mesh", text, edits)


def task(declared: str = "", does: str = "") -> Code:
    text = (
        f"{MESH}layout(local_size_x = 1) in;\n{declared}\n"
        f"void main() {{ {does} EmitMeshTasksEXT(1, 1, 1); }}\n"
    )
    return Code("task", text)


def mesh_frag(declared: str = "", does: str = "") -> Code:
    return Code("frag", f"{MESH}{declared}\nvoid main() {{ {does} }}\n")


def at(location: int, declared: str, component: int = 0) -> str:
    lane = f", component = {component}" if component else ""
    return f"layout(location = {location}{lane}) {declared};\n"


def many(way: str, count: int, after: str = "") -> str:
    """This many vec4, one a Location."""
    return "".join(at(n, f"{way} vec4 v{n}{after}") for n in range(count))


def rules(*names: str) -> frozenset[str]:
    return frozenset(names)


SILENT: frozenset[str] = frozenset()
