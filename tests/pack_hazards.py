"""Arrays, narrow and wide values and built-in blocks that a careless linker gets wrong, as GLSL;
test_pack_hazards.py links and draws them. Written like chain_hazards.py."""

from __future__ import annotations

from tests.chain_hazards import PASS, Chain, frag, geom, mesh, tesc, tese, vert

EIGHT = tuple(f"c[{n}]" for n in range(8))

ARRAYS = (
    Chain(
        "dynamic reads of what constants and copies were stored to",
        (
            vert(
                "layout(location = 0) out vec4 c[8];",
                """c[0] = a; c[1] = vec4(1, 0, 0.5, 1); c[2] = b; c[3] = a; c[4] = vec4(0.25);
c[5] = vec4(0); c[6] = a.wzyx; c[7] = vec4(b.xyz, 1);""",
            ),
            frag(
                "layout(location = 0) in vec4 c[8];",
                """int i = int(gl_FragCoord.x * 0.7);
color = c[i & 7] * 0.5 + c[(i * 3) & 7] * 0.25;""",
            ),
        ),
        gone=("c[1]", "c[3]", "c[4]", "c[5]", "c[6]", "c[7]"),
    ),
    Chain(
        "all of an array is constant",
        (
            vert(
                "layout(location = 0) out vec4 c[4]; layout(location = 4) out vec4 other;",
                """c[0] = vec4(0.1); c[1] = vec4(1, 0, 0.5, 1); c[2] = vec4(0.3); c[3] = vec4(0.7);
other = a;""",
            ),
            frag(
                "layout(location = 0) in vec4 c[4]; layout(location = 4) in vec4 other;",
                "color = c[int(gl_FragCoord.y) & 3] * 0.5 + other * 0.5;",
            ),
        ),
        gone=("c[0]", "c[1]", "c[2]", "c[3]"),
    ),
    Chain(
        "constants are stored on some paths, elements overwritten on others",
        (
            vert(
                "layout(location = 0) flat out int c[4]; layout(location = 4) flat out int d[4];",
                """c[0] = 3; c[1] = k.x; c[2] = k.x; c[3] = 7;
if (k.y > 1) { c[0] = 5; c[2] = 1; }
d[0] = 1; d[1] = 2; d[2] = 4; d[3] = 8; if (k.x > 2) { d[1] = 2; d[2] = 4; return; } d[3] = 8;""",
            ),
            frag(
                """layout(location = 0) flat in int c[4]; layout(location = 4) flat in int d[4];""",
                """int i = int(gl_FragCoord.x) & 3;
color = vec4(c[i], d[i], c[3 - i], d[3 - i]) * 0.1;""",
            ),
        ),
        gone=("c[3]", "d[0]", "d[1]", "d[2]", "d[3]"),
    ),
    Chain(
        "dynamic writes, read back, over a loop and after a return",
        (
            vert(
                "layout(location = 0) out vec4 c[8]; layout(location = 8) out float w[6];",
                """for (int i = 0; i < 6; ++i) w[i] = b.x * float(i) + 0.1;
for (int i = 0; i < 8; ++i) c[(i + k.x) & 7] = a * (float(i) * 0.125);
if (k.y > 1) { c[2] = c[5] + c[k.y & 7]; return; }
w[k.x % 6] += 0.25; c[5].y = 0.125; c[k.x & 7].z = 0.5;""",
            ),
            frag(
                "layout(location = 0) in vec4 c[8]; layout(location = 8) in float w[6];",
                "color = c[2] * w[1] + c[5].wzyx * w[4] + c[3].x;",
            ),
        ),
        gone=("c[0]", "c[1]", "c[4]", "c[6]", "c[7]", "w[0]", "w[2]", "w[3]", "w[5]"),
    ),
    Chain(
        "both sides index dynamically",
        (
            vert(
                "layout(location = 0) out vec4 c[4]; layout(location = 4) out vec4 dead;",
                """for (int i = 0; i < 4; ++i) c[i] = vec4(0.1);
c[k.x & 3] = a; dead = b;""",
            ),
            frag(
                "layout(location = 0) in vec4 c[4];",
                "color = c[int(gl_FragCoord.x) & 3];",
            ),
        ),
        gone=("dead",),
        kept=("c",),
    ),
    Chain(
        "an element is interpolated elsewhere by a dynamic index",
        (
            vert(
                "layout(location = 0) out vec4 c[4]; layout(location = 4) out vec4 dead;",
                "c[0] = a; c[1] = vec4(0.5); c[2] = vec4(0.25); c[3] = a; dead = b;",
            ),
            frag(
                "layout(location = 0) in vec4 c[4];",
                """int i = int(gl_FragCoord.x) & 3;
color = interpolateAtOffset(c[i], vec2(0.25, -0.25)) * 0.5 + c[i] * 0.5;""",
            ),
        ),
        kept=("c",),
    ),
    Chain(
        "elements keep how they are interpolated",
        (
            vert(
                """layout(location = 0) out vec2 c[4];
layout(location = 4) flat out vec2 d[4]; layout(location = 8) centroid out vec2 e[4];""",
                """gl_Position.w = 1.0 + float(gl_VertexIndex & 1) * 0.5;
gl_Position.xyz *= gl_Position.w;
c[0] = a.xy; c[1] = vec2(0.5); c[2] = vec2(0.25); c[3] = b.xy;
d[0] = a.xy; d[1] = vec2(0.5); d[2] = vec2(0.25); d[3] = b.xy;
e[0] = a.xy; e[1] = vec2(0.5); e[2] = vec2(0.25); e[3] = b.xy;""",
            ),
            frag(
                """layout(location = 0) in vec2 c[4];
layout(location = 4) flat in vec2 d[4]; layout(location = 8) centroid in vec2 e[4];""",
                """int i = int(gl_FragCoord.x) & 3;
color = vec4(c[i], d[i]) * 0.5 + e[3 - i].xyxy * 0.25;""",
            ),
        ),
        gone=("c[1]", "d[1]", "e[1]", "c[2]", "d[2]", "e[2]"),
    ),
    Chain(
        "a matrix read by column, an array of arrays read by both indices",
        (
            vert(
                "layout(location = 0) out mat3 m; layout(location = 3) out vec2 c[2][3];",
                """m = mat3(1.0); m[1] = a.xyz;
c[0][0] = a.xy; c[0][1] = vec2(1); c[0][2] = vec2(0.5); c[1] = c[0]; c[1][0] = b.xy;""",
            ),
            frag(
                "layout(location = 0) in mat3 m; layout(location = 3) in vec2 c[2][3];",
                """int i = int(gl_FragCoord.x) % 3, j = int(gl_FragCoord.y) & 1;
color = vec4(m[i], 1.0) * 0.5 + c[j][i].xyxy * 0.25;""",
            ),
        ),
        gone=("m[0]", "m[2]", "c[0][1]", "c[1][2]"),
    ),
    Chain(
        "every emit takes the array as it is",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p[4];",
                f"""for (int i = 0; i < 3; ++i) {{ p[0] = c[i]; p[1] = c[0]; p[2] = vec4(0.1);
p[3] = c[1]; p[i] = c[2] * 0.5; p[(i + 1) & 3].x = 0.25; {PASS} }}""",
            ),
            frag(
                "layout(location = 0) in vec4 p[4];",
                "color = p[0] * 0.5 + p[2].wzyx * 0.5;",
            ),
        ),
        gone=("p[1]", "p[3]"),
    ),
    Chain(
        "arrays over vertices of arrays",
        (
            vert(
                "layout(location = 0) out vec2 c[4];",
                "c[0] = a.xy; c[1] = vec2(0.5); c[2] = vec2(0.25); c[3] = a.xy;",
            ),
            geom(
                "layout(location = 0) in vec2 c[][4]; layout(location = 0) out vec4 p;",
                f"""for (int i = 0; i < 3; ++i) {{
p = vec4(c[i][(i + gl_PrimitiveIDIn) & 3], c[2 - i][(gl_PrimitiveIDIn + 1) & 3]); {PASS} }}""",
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
        gone=("c[1]", "c[2]", "c[3]"),
    ),
    Chain(
        "a patch's array, read with a dynamic index",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p[];
layout(location = 1) patch out vec4 q[4];""",
                """p[gl_InvocationID] = c[gl_InvocationID];
q[0] = vec4(1, 0, 0, 1); q[1] = vec4(0, 1, 0, 1); q[2] = vec4(0, 0, 1, 1); q[3] = c[0];""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) patch in vec4 q[4];
layout(location = 0) out vec4 f;""",
                "f = p[0] * w.x + p[1] * w.y + q[int(w.x * 7.9) & 3] * 0.5;",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
        gone=("q[0]", "q[1]", "q[2]"),
    ),
    Chain(
        "control and mesh shaders' arrays stay whole",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p[];
layout(location = 1) patch out vec4 q[4]; layout(location = 5) patch out vec4 dead;""",
                """p[gl_InvocationID] = c[gl_InvocationID];
q[gl_InvocationID] = c[gl_InvocationID].wzyx; dead = c[0];""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) patch in vec4 q[4];
layout(location = 0) out vec4 f;""",
                "f = p[0] * w.x + p[1] * w.y + q[0] * 0.25 + q[2] * 0.5;",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
        gone=("dead",),
        kept=("q",),
    ),
    Chain(
        "a mesh shader's constants and a dynamic index",
        (
            mesh(
                """layout(location = 0) out vec4 c[][4];
layout(location = 4) perprimitiveEXT out vec4 d[][3];""",
                """c[i][0] = vec4(at, 0, 1); c[i][1] = vec4(0.5); c[i][2] = vec4(0.25, 0, 1, 1);
c[i][3] = vec4(at.yx, 1, 1);
if (i < 8) { d[i][0] = vec4(float(i) * 0.1); d[i][1] = vec4(1, 0, 0, 1); d[i][2] = vec4(0.5); }""",
            ),
            frag(
                """#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 c[4]; layout(location = 4) perprimitiveEXT in vec4 d[3];""",
                """int i = int(gl_FragCoord.x);
color = c[i & 3] * 0.5 + d[i % 3] * 0.5;""",
            ),
        ),
        gone=("c[1]", "d[1]"),
        environment="vulkan1.2",
    ),
)

STORES = (
    Chain(
        "elements of an array are stored one by one, in several places",
        (
            mesh(
                """layout(location = 0) out vec4 c[][2];
layout(location = 2) perprimitiveEXT out mat3 m[];""",
                """if (i < 4) c[i] = vec4[2](vec4(at, 0, 1), vec4(0.5));
else { c[i][0] = vec4(at.yx, 1, 1); if (at.x > 0.1) c[i][1] = vec4(at, at); else
c[i][1] = vec4(0.25, at, 1); }
if (i < 8) { if (i == 3) m[i] = mat3(0.5); else { m[i][0] = vec3(at, 1); if (i > 4)
m[i][1] = at.xyx; else m[i][1] = at.yyx; m[i][2] = vec3(1, at); } }""",
            ),
            frag(
                """#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 c[2]; layout(location = 2) perprimitiveEXT in mat3 m;""",
                "color = c[0] * 0.5 + c[1].wzyx * 0.5 + vec4(m * vec3(0.1, 0.2, 0.3), 0.0);",
            ),
        ),
        environment="vulkan1.2",
    ),
)

CHAINS = ARRAYS + STORES
