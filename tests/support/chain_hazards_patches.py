"""Chains with tessellation or mesh shaders that a careless linker gets wrong."""

from __future__ import annotations

from tests.support.chain_text import Chain, frag, mesh, tesc, tese, vert

TESSELLATION = (
    Chain(
        "one is stored on some paths only",
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
        "read back from a neighbour",
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
        "read back only, of the patch and of a vertex",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec3 hidden[];
layout(location = 2) patch out float seen;""",
                """hidden[gl_InvocationID] = c[gl_InvocationID].yzw;
seen = c[0].x + c[1].y; barrier();
vec3 other = hidden[(gl_InvocationID + 1) % 3];
p[gl_InvocationID] = vec4(other, seen);""",
            ),
            tese(
                "layout(location = 0) in vec4 p[]; layout(location = 0) out vec4 f;",
                "f = p[0] * w.x + p[1] * w.y + p[2] * w.z;",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
        kept=("hidden", "seen"),
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
        "doubles and patches in one space of Locations",
        (
            vert(
                """layout(location = 0) out dvec3 c; layout(location = 2) out vec2 d;
layout(location = 2, component = 2) out float unread;""",
                "c = dvec3(a.xyz); d = b.xy; unread = b.z;",
            ),
            tesc(
                """layout(location = 0) in dvec3 c[]; layout(location = 2) in vec2 d[];
layout(location = 0) out dvec3 p[]; layout(location = 2) patch out dvec2 q;
layout(location = 3) out float r[]; layout(location = 4) patch out float s;""",
                """p[gl_InvocationID] = c[gl_InvocationID] * 0.5LF;
q = c[1].xy; r[gl_InvocationID] = d[gl_InvocationID].y; s = d[0].x;""",
            ),
            tese(
                """layout(location = 0) in dvec3 p[]; layout(location = 2) patch in dvec2 q;
layout(location = 3) in float r[]; layout(location = 4) patch in float s;
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

# ``i`` and ``j`` are one number, which nobody can see.
ALIASED = """layout(location = 0) out vec4 x[]; layout(location = 1) out vec4 y[];
#define j (i ^ (gl_WorkGroupID.x >> 20))
"""
READ_ALIASED = "layout(location = 0) in vec4 x; layout(location = 1) in vec4 y;"

MESH = (
    Chain(
        "equal values at other indices",
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
        "conditional stores of equal values",
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
        "vertices and primitives",
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
    Chain(
        "one vertex by two indices",
        (
            mesh(
                ALIASED,
                """vec4 f = vec4(at, 0.3, 0.7), g = sin(vec4(at * 9.0, at.yx * 5.0));
x[i] = f; y[j] = f.yxwz; x[j] = g; y[i] = g.wzyx;""",
            ),
            frag(READ_ALIASED, "color = (x + y) * 0.5;"),
        ),
        environment="vulkan1.2",
    ),
    Chain(
        "equal values of one vertex by two indices",
        (
            mesh(
                ALIASED,
                """vec4 f = vec4(at, 0.3, 0.7), g = sin(vec4(at * 9.0, at.yx * 5.0));
x[i] = f; y[j] = g; x[j] = g; y[i] = f;""",
            ),
            frag(READ_ALIASED, "color = x * 0.75 + y * y.x;"),
        ),
        environment="vulkan1.2",
    ),
    Chain(
        "another output of another vertex between",
        (
            mesh(
                ALIASED + "layout(location = 2) out float z[];",
                """vec4 f = vec4(at, 0.3, 0.7), g = sin(vec4(at * 9.0, at.yx * 5.0));
x[i] = f; z[(i + 1) % 9] = at.x * at.y; y[i] = g;""",
            ),
            frag(
                READ_ALIASED + "layout(location = 2) in float z;",
                "color = (x + y) * 0.5 + fract(z * 8.0) * 0.1;",
            ),
        ),
        moved=("x", "y"),
        environment="vulkan1.2",
    ),
    Chain(
        "two vertices stored in turn",
        (
            mesh(
                ALIASED,
                """vec4 f = vec4(at, 0.3, 0.7), g = sin(vec4(at * 9.0, at.yx * 5.0));
if (i == 8) { x[8] = f; y[8] = g; }
else if ((i & 1) == 0) { x[i] = f; x[i + 1] = g; y[i] = f.yxwz; y[i + 1] = g.wzyx; }""",
            ),
            frag(READ_ALIASED, "color = (x + y) * 0.5;"),
        ),
        moved=("x", "y"),
        environment="vulkan1.2",
    ),
    Chain(
        "one vertex by two invocations, one behind a barrier",
        (
            mesh(
                ALIASED.partition("#")[0],
                """uint k = i % 8; vec4 f = vec4(k, k & 3, 7, 8) * 0.1, g = sin(vec4(k) + f);
x[k] = f; barrier(); x[k + 1] = g; y[k + 1] = g; barrier(); y[k] = f;""",
            ),
            frag(READ_ALIASED, "color = x * 0.75 + y * y.x;"),
        ),
        environment="vulkan1.2",
    ),
    Chain(
        "values of one vertex by two invocations, one behind a barrier",
        (
            mesh(
                ALIASED.partition("#")[0],
                """uint k = i % 8; vec4 f = vec4(k, k & 3, 7, 8) * 0.1, g = sin(vec4(k) + f);
x[k] = f; barrier(); x[k + 1] = g; y[k + 1] = g.wzyx; barrier(); y[k] = f.yxwz;""",
            ),
            frag(READ_ALIASED, "color = (x + y) * 0.5;"),
        ),
        environment="vulkan1.2",
    ),
)
