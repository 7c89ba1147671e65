"""Chains that a careless linker gets wrong, as GLSL; test_chain_hazards.py links and draws them.

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

GEOMETRY = (
    Chain(
        "intervals have their own values",  # hazard 3
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p; layout(location = 1) out vec4 q;""",
                """vec4 x = c[0], y = c[1];
p = x; q = y; gl_Position = gl_in[0].gl_Position; EmitVertex();
p = y; q = y; gl_Position = gl_in[1].gl_Position; EmitVertex();
p = x; q = x; gl_Position = gl_in[2].gl_Position; EmitVertex();""",
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "color = p * 0.5 + q.wzyx * 0.25;",
            ),
        ),
    ),
    Chain(
        "one instruction, many emits",  # hazard 3
        (
            vert("layout(location = 0) out vec4 c;", "c = b;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out float p; layout(location = 1) flat out float q;
layout(location = 2) out float r; layout(location = 3) flat out int s;""",
                f"""for (int i = 0; i < 3; ++i) {{
p = float(i) * 0.3; q = p; r = c[i].x; s = i; {PASS} }}""",
            ),
            frag(
                """layout(location = 0) in float p; layout(location = 1) flat in float q;
layout(location = 2) in float r; layout(location = 3) flat in int s;""",
                "color = vec4(p, q, r, float(s) * 0.2);",
            ),
        ),
    ),
    Chain(
        "an input is no constant",  # every emit stores one value, but it is the stage's own input
        (
            vert(
                "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;", "c = a; d = b;"
            ),
            geom(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) flat out vec4 p; layout(location = 2) out vec4 q;""",
                f"for (int i = 0; i < 3; ++i) {{ p = c[0]; q = d[i]; {PASS} }}",
            ),
            frag(
                "layout(location = 0) flat in vec4 p; layout(location = 2) in vec4 q;",
                "color = p * 0.5 + q * 0.5;",
            ),
        ),
    ),
    Chain(
        "written on some paths before an emit",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p; layout(location = 1) out vec4 q;""",
                f"""p = vec4(0.1); q = vec4(0.7);
for (int i = 0; i < 3; ++i) {{
if (c[i].x > 0.5) {{ p = c[i]; q = p.yxwz; }} else {{ q = c[i] * 0.5; p.z = 0.9; }}
{PASS} p = vec4(0.3); q = vec4(0.2); }}""",
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "color = p * 0.5 + q * 0.5;",
            ),
        ),
    ),
    Chain(
        "the same value at other vertices",  # hazard 2, on the reading side
        (
            vert(
                "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;",
                "c = a; d = a;",
            ),
            geom(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec4 p;""",
                f"for (int i = 0; i < 3; ++i) {{ p = c[i] * 0.6 + d[(i + 1) % 3] * 0.4; {PASS} }}",
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
        gone=("d",),
    ),
    Chain(
        "emits in branches, early return",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p; layout(location = 1) out float q;""",
                """if (c[0].x + c[1].x + c[2].x > 2.9) return;
q = c[0].w;
for (int i = 0; i < 3; ++i) {
gl_Position = gl_in[i].gl_Position;
if (c[i].y > 0.5) { p = c[i].xxyy; EmitVertex(); }
else { p = c[i].wzyx; q += 0.1; EmitVertex(); } }
EndPrimitive();""",
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in float q;",
                "color = p * q;",
            ),
        ),
    ),
    Chain(
        "death cascades through the middle",
        (
            vert(
                """layout(location = 0) out vec4 c; layout(location = 1) out vec4 lost;
layout(location = 2) out float s;""",
                "c = a; lost = sin(b * 3.0); s = b.x;",
            ),
            geom(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 lost[];
layout(location = 2) in float s[];
layout(location = 0) out vec4 p; layout(location = 1) out vec4 unread;""",
                f"""for (int i = 0; i < 3; ++i) {{
p = c[i]; unread = lost[i] * 2.0 + s[i]; {PASS} }}""",
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
        gone=("lost", "unread", "s"),
    ),
    Chain(
        "blocks and arrays in blocks",
        (
            vert(
                """layout(location = 0) out Block { vec4 c; vec3 m[3]; mat2 t; float s; } o;""",
                """o.c = a; o.m[0] = a.xyz; o.m[1] = b.xyz; o.m[2] = b.zyx;
o.t = mat2(a.xy, b.zw); o.s = a.w;""",
            ),
            geom(
                """layout(location = 0) in Block { vec4 c; vec3 m[3]; mat2 t; float s; } v[];
layout(location = 0) out Out { vec3 m; vec2 t; float z; } o;""",
                f"""for (int i = 0; i < 3; ++i) {{
o.m = v[i].m[int(v[i].c.x * 2.9)]; o.t = v[i].t[1] + v[2 - i].t[0]; o.z = v[i].c.w;
{PASS} }}""",
            ),
            frag(
                "layout(location = 0) in Out { vec3 m; vec2 t; float z; } i;",
                "color = vec4(i.m * 0.5, 1.0) * i.t.xyxy;",
            ),
        ),
    ),
    Chain(
        "whole arrays over the vertices",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p;
vec4 sum(vec4 v[3], int at) { return v[at] * 0.5 + v[(at + 1) % 3] * 0.25; }""",
                f"vec4 all[3] = c; for (int i = 0; i < 3; ++i) {{ p = sum(all, i); {PASS} }}",
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
    ),
    Chain(
        "components written between emits",  # hazard 18
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p; layout(location = 1) out vec2 t[2];""",
                f"""p = vec4(0.2); t[0] = vec2(0.1); t[1] = vec2(0.4);
for (int i = 0; i < 3; ++i) {{
p[i] = c[i].x; p.xyz = p.xyz; t[i & 1] = c[i].zw; t[1 - (i & 1)] = c[i].xy; p.w = 0.5;
vec4 back = p; p = back.wzyx; {PASS} p = back; }}""",
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec2 t[2];",
                "color = p + vec4(t[0], t[1]) * 0.25;",
            ),
        ),
    ),
    Chain(
        "layers, ids and user outputs side by side",  # hazard 20
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p; layout(location = 1) out vec4 unread;""",
                f"""for (int i = 0; i < 3; ++i) {{
gl_Layer = 0; gl_PrimitiveID = gl_PrimitiveIDIn + 3; p = c[i]; unread = c[i]; {PASS} }}""",
            ),
            frag(
                "layout(location = 0) in vec4 p;",
                "color = p * (0.5 + 0.1 * float(gl_PrimitiveID & 3)) + float(gl_Layer);",
            ),
        ),
        gone=("unread",),
    ),
)

TESSELLATION = (
    Chain(
        "one is stored on some paths only",  # hazard 1
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
layout(location = 2) patch out float m; layout(location = 3) patch out float n;""",
                """vec4 x = c[gl_InvocationID]; float y = c[0].x + 0.5;
p[gl_InvocationID] = vec4(0.25);
if (x.x > 0.5) p[gl_InvocationID] = x;
q[gl_InvocationID] = x;
m = 0.125; if (c[1].y > 0.5) m = y; n = y;""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];
layout(location = 2) patch in float m; layout(location = 3) patch in float n;
layout(location = 0) out vec4 f; layout(location = 1) out vec2 g;""",
                "f = p[0] * w.x + p[1] * w.y + q[2] * w.z + q[0] * 0.1; g = vec2(m, n);",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) in vec2 g;",
                "color = f * 0.5 + g.xyxy * 0.25;",
            ),
        ),
    ),
    Chain(
        "read back from a neighbour",  # hazard 17
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
layout(location = 2) out float hidden[];""",
                """p[gl_InvocationID] = c[gl_InvocationID];
hidden[gl_InvocationID] = c[gl_InvocationID].y;
barrier();
vec4 other = p[(gl_InvocationID + 1) % 3];
float far = hidden[(gl_InvocationID + 2) % 3];
barrier();
p[gl_InvocationID] = other * 0.5;
q[gl_InvocationID] = p[gl_InvocationID] + far;""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];
layout(location = 0) out vec4 f;""",
                "f = p[0] * w.x + q[1] * w.y + q[2] * w.z;",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
        kept=("hidden",),
    ),
    Chain(
        "own values read back",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p[]; layout(location = 1) out float mine[];""",
                """mine[gl_InvocationID] = c[gl_InvocationID].x * 2.0;
p[gl_InvocationID].xy = c[gl_InvocationID].yx * mine[gl_InvocationID];
p[gl_InvocationID].z = p[gl_InvocationID].x;
mine[gl_InvocationID] += 1.0;
p[gl_InvocationID].w = mine[gl_InvocationID];""",
            ),
            tese(
                "layout(location = 0) in vec4 p[]; layout(location = 0) out vec4 f;",
                "f = p[0] * w.x + p[1] * w.y + p[2] * w.z;",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f * 0.5;"),
        ),
        gone=("mine",),
    ),
    Chain(
        "patch constants are no constants of the next stage",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[];
layout(location = 0) patch out vec4 m; layout(location = 1) patch out vec4 fixed_;
layout(location = 2) patch out ivec2 n;""",
                """m = c[0] + c[1] * 0.5; fixed_ = vec4(0.25, 0.5, 0.75, 1.0);
n = ivec2(gl_PrimitiveID, gl_PatchVerticesIn);""",
            ),
            tese(
                """layout(location = 0) patch in vec4 m; layout(location = 1) patch in vec4 fixed_;
layout(location = 2) patch in ivec2 n;
layout(location = 0) flat out vec4 f; layout(location = 1) out vec4 g;
layout(location = 2) flat out ivec2 h;""",
                "f = m; g = fixed_ * w.x; h = n;",
            ),
            frag(
                """layout(location = 0) flat in vec4 f; layout(location = 1) in vec4 g;
layout(location = 2) flat in ivec2 h;""",
                "color = f * 0.5 + g * 0.5 + vec4(h.xyxy & 3) * 0.05;",
            ),
        ),
        gone=("fixed_",),
    ),
    Chain(
        "stores in loops and by component",
        (
            vert(
                "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;",
                "c = a; d = b;",
            ),
            tesc(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec3 q[][2];
layout(location = 4) patch out float sums[3];""",
                """for (int i = 0; i < 4; ++i) p[gl_InvocationID][i] = c[gl_InvocationID][3 - i];
for (int i = 0; i < 2; ++i) q[gl_InvocationID][i] = d[gl_InvocationID].xyz * float(i + 1);
sums[gl_InvocationID] = c[gl_InvocationID].x;
if (gl_InvocationID == 1) q[gl_InvocationID][1].y = 0.125;""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) in vec3 q[][2];
layout(location = 4) patch in float sums[3];
layout(location = 0) out vec4 f; layout(location = 1) out vec3 g;""",
                """f = p[0] * w.x + p[1] * w.y + p[2] * w.z;
g = q[0][0] * w.x + q[1][1] * w.y + q[2][int(w.z * 1.9)] * w.z
+ vec3(sums[0], sums[1], sums[2]) * 0.1;""",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) in vec3 g;",
                "color = f * 0.5 + g.xyzx * 0.25;",
            ),
        ),
    ),
    Chain(
        "doubles and patches in one space of Locations",  # hazard 19
        (
            vert(
                """layout(location = 0) out dvec3 c; layout(location = 2) out vec2 d;
layout(location = 2, component = 2) out float unread;""",
                "c = dvec3(a.xyz); d = b.xy; unread = b.z;",
            ),
            tesc(
                """layout(location = 0) in dvec3 c[]; layout(location = 2) in vec2 d[];
layout(location = 0) out dvec3 p[]; layout(location = 2) patch out dvec2 q;
layout(location = 3) out float r[]; layout(location = 3, component = 1) patch out float s;""",
                """p[gl_InvocationID] = c[gl_InvocationID] * 0.5LF;
q = c[1].xy; r[gl_InvocationID] = d[gl_InvocationID].y; s = d[0].x;""",
            ),
            tese(
                """layout(location = 0) in dvec3 p[]; layout(location = 2) patch in dvec2 q;
layout(location = 3) in float r[]; layout(location = 3, component = 1) patch in float s;
layout(location = 0) out vec4 f;""",
                """f = vec4(vec3(p[0] * w.x + p[1] * w.y + p[2] * w.z), r[0] * w.x + r[2])
+ vec4(vec2(q), s, 0.0) * 0.25;""",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
    ),
    Chain(
        "duplicates in all stages",
        (
            vert(
                """layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;
layout(location = 2) out vec4 e;""",
                "c = a; d = a; e = -a;",
            ),
            tesc(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 2) in vec4 e[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
layout(location = 2) out uvec4 bits[];""",
                """vec4 x = c[gl_InvocationID]; p[gl_InvocationID] = x;
q[gl_InvocationID] = d[gl_InvocationID]; bits[gl_InvocationID] = floatBitsToUint(x);
if (e[gl_InvocationID].x < -0.5) p[gl_InvocationID].x = d[1].y;""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];
layout(location = 2) in uvec4 bits[];
layout(location = 0) out vec4 f; layout(location = 1) out vec4 g;""",
                """f = p[0] * w.x + p[1] * w.y + p[2] * w.z;
g = q[0] * w.x + uintBitsToFloat(bits[1]) * w.y + q[2] * w.z;""",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;",
                "color = f * 0.5 + g.wzyx * 0.5;",
            ),
        ),
        gone=("d", "e"),
    ),
)

MESH = (
    Chain(
        "equal values at other indices",  # hazard 2
        (
            mesh(
                "layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];",
                """vec4 x = vec4(at * 0.5 + 0.5, float(i) * 0.1, 1.0);
p[i] = x; q[(i + 1) % 9] = x;""",
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "color = p * 0.5 + q.zyxw * 0.5;",
            ),
        ),
        environment="vulkan1.2",
    ),
    Chain(
        "conditional stores of equal values",  # hazard 1
        (
            mesh(
                "layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];",
                """vec4 x = vec4(at * 0.5 + 0.5, float(i) * 0.1, 1.0);
p[i] = vec4(0.25); if (at.x > 0.0) p[i] = x; q[i] = x;""",
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "color = p * 0.5 + q.zyxw * 0.5;",
            ),
        ),
        environment="vulkan1.2",
    ),
    Chain(
        "vertices and primitives",  # hazards 15 and 19
        (
            mesh(
                """layout(location = 0) out float p[]; layout(location = 1) flat out int q[];
layout(location = 2) perprimitiveEXT out float r[];
layout(location = 3) perprimitiveEXT flat out int s[];
layout(location = 4) perprimitiveEXT out vec4 unread[]; layout(location = 5) out vec2 same[];""",
                """p[i] = at.x * 0.5 + 0.5; q[i] = int(i) * 3; same[i] = vec2(p_of(i), 0.5);
if (i < 8) { r[i] = float(i) * 0.1; s[i] = int(i) & 3; unread[i] = vec4(at, at); }""".replace(
                    "p_of(i)", "at.x * 0.5 + 0.5"
                ),
            ),
            frag(
                """#extension GL_EXT_mesh_shader : require
layout(location = 0) in float p; layout(location = 1) flat in int q;
layout(location = 2) perprimitiveEXT in float r;
layout(location = 3) perprimitiveEXT flat in int s; layout(location = 5) in vec2 same;""",
                """vec4 both = vec4(p, float(q) * 0.02 + r, float(s) * 0.3, 1.0);
color = both * 0.5 + same.xyxy * 0.25;""",
            ),
        ),
        gone=("unread", "same"),
        environment="vulkan1.2",
    ),
    Chain(
        "one invocation writes many vertices",
        (
            mesh(
                """layout(location = 0) out Block { vec4 c; vec2 t[2]; float lost; } v[];
shared vec4 table[9];""",
                """table[i] = vec4(at * 0.5 + 0.5, 0.5, 1.0);
barrier();
if (i == 0) for (uint j = 0; j < 9; ++j) {
v[j].c = table[(j + 1) % 9]; v[j].t[0] = table[j].xy; v[j].t[1] = vec2(0.25, table[j].x);
v[j].lost = table[j].y; }""",
            ),
            frag(
                "layout(location = 0) in Block { vec4 c; vec2 t[2]; float lost; } v;",
                "color = v.c * 0.5 + vec4(v.t[0], v.t[1]) * 0.5;",
            ),
        ),
        environment="vulkan1.2",
    ),
)
MOTION = (
    Chain(
        "the geometry shader's work on each vertex",
        (
            vert(
                "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;", "c = a; d = b;"
            ),
            geom(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec4 p;""",
                f"""for (int i = 0; i < 3; ++i) {{
float s = c[i].x * d[i].y + c[i].z * d[i].w + c[i].y * 0.5; p = vec4(s, s * s, 0.5, 1.0);
{PASS} }}""",
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
        moved=("c", "d"),
    ),
    Chain(
        "another expression for one of the vertices",
        (
            vert(
                "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;", "c = a; d = b;"
            ),
            geom(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec4 p;""",
                f"""for (int i = 0; i < 3; ++i) {{
float s = c[i].x * d[i].y; float t = c[i].x + d[(i + 1) % 3].y; float u = c[0].x - d[0].y;
p = vec4(s, t, u, c[1].x * d[2].y); {PASS} }}""",
            ),
            frag("layout(location = 0) in vec4 p;", "color = p * 0.5;"),
        ),
    ),
    Chain(
        "work on the own vertex and on a neighbour's",
        (
            vert(
                "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;", "c = a; d = b;"
            ),
            tesc(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec2 p[];""",
                """int i = gl_InvocationID, j = (i + 1) % 3;
vec2 both = vec2(c[i].x * d[i].x + c[i].y * d[i].y, c[j].x * d[j].x + c[j].y * d[j].y);
if (i == 2) both.y = sqrt(both.x * both.x);
p[gl_InvocationID] = both;""",
            ),
            tese(
                "layout(location = 0) in vec2 p[]; layout(location = 0) out vec4 f;",
                "f = vec4(p[0] * w.x + p[1] * w.y + p[2] * w.z, 0.5, 1.0);",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
        moved=("c", "d"),
    ),
    Chain(
        "the evaluation shader's work, before and after the weights",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p[]; layout(location = 1) patch out vec4 q;""",
                """p[gl_InvocationID] = c[gl_InvocationID]; q = c[0] * 0.25;
if (c[gl_InvocationID].x > 0.5) p[gl_InvocationID].y = 0.25;""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) patch in vec4 q;
layout(location = 0) out vec4 f;""",
                """float x = p[0].x * p[0].z * w.x + p[1].x * p[1].z * w.y + p[2].x * p[2].z * w.z;
f = vec4(x, p[0].y * w.x + p[1].y * w.y, q.x * q.y + q.z * q.w, 1.0);""",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
    ),
    Chain(
        "each interval makes what the fragment needs",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p; layout(location = 1) out vec4 q;
layout(location = 2) flat out vec4 r;""",
                f"""p = c[0]; q = c[1]; r = c[2];
for (int i = 0; i < 3; ++i) {{ {PASS} p = c[i] * 0.5;
if (c[i].x > 0.4) q = p.wzyx; r.x += 0.1; }}""",
            ),
            frag(
                """layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;
layout(location = 2) flat in vec4 r;""",
                "color = p * 0.25 + q * 0.5; color.w = r.x * r.y + sqrt(r.z) * r.w;",
            ),
        ),
        moved=("p", "q", "r"),
    ),
    Chain(
        "what each mesh vertex stores is combined",
        (
            mesh(
                """layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
layout(location = 2) out vec4 r[]; layout(location = 3) flat out vec4 s[];""",
                """vec4 x = vec4(at * 0.5 + 0.5, float(i) * 0.1, 1.0);
p[i] = x; q[i] = x.wzyx * 0.5; r[i] = vec4(0.5); if (at.y > 0.0) r[i] = x.zwxy;
s[(i + 1) % 9] = x.yyzz;""",
            ),
            frag(
                """layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;
layout(location = 2) in vec4 r; layout(location = 3) flat in vec4 s;""",
                "color = p * 0.25 + q * 0.5 + r * 0.125; color.w = s.x * s.z + sqrt(s.y * s.w);",
            ),
        ),
        moved=("p", "q", "s"),
        environment="vulkan1.2",
    ),
)
CHAINS = GEOMETRY + TESSELLATION + MESH + MOTION
