"""Arrays, narrow and wide values and built-in blocks that a careless linker gets wrong, as GLSL;
test_chain_hazards.py links and draws them. Written like chain_hazards.py."""

from __future__ import annotations

from tests.support.chain_hazards import PASS, Chain, frag, geom, mesh, tesc, tese, vert

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

# Values that the fragment shader could not compute from others: code motion leaves them alone.
HASH = """layout(binding = 0, std430) readonly buffer Rows { uint rows[]; };
uint row(uint n) { return rows[(n + uint(k.x & 3)) & 7u]; }
"""
SMOOTH = "layout(location = 0) out vec4 c; layout(location = 1) flat out vec3 e;\n"
SMOOTH_IN = "layout(location = 0) in vec4 c; layout(location = 1) flat in vec3 e;\n"
WIDE16 = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
"""

FLAGS = (
    Chain(
        "flags of all types, of which one bit is all that counts",
        (
            vert(
                HASH
                + SMOOTH
                + """layout(location = 2) flat out uint f0;
layout(location = 3) flat out int f1; layout(location = 4) flat out float f2;
layout(location = 5) flat out uvec2 f3; layout(location = 6) flat out int f4;
layout(location = 7) flat out float f5;""",
                """c = a; e = vec3(row(0u) & 255u, row(1u) & 255u, row(2u) & 255u) / 255.0;
f0 = row(3u) > 77u ? 1u : 0u; f1 = (row(4u) & 2u) != 0u ? -3 : 5;
f2 = row(5u) > row(6u) ? -0.0 : 0.5; f3 = uvec2(row(1u) & 4u, row(2u) & 0x80000000u);
f4 = 7; if ((row(3u) & 8u) != 0u) { f4 = -7; if ((row(4u) & 1u) != 0u) f4 = 7; }
f5 = float((row(6u) & 16u) != 0u ? 3 : 9) * 0.25;""",
            ),
            frag(
                SMOOTH_IN
                + """layout(location = 2) flat in uint f0;
layout(location = 3) flat in int f1; layout(location = 4) flat in float f2;
layout(location = 5) flat in uvec2 f3; layout(location = 6) flat in int f4;
layout(location = 7) flat in float f5;""",
                """color = c * 0.5 + vec4(e, 1.0); if (f0 != 0u) color.x += 0.25;
color.y += float(f1) * 0.1; color.z += f2; if (floatBitsToUint(f2) >> 31 == 1u) color.w += 2.0;
if (f3.x == 4u) color.xy = color.yx; color.z += float(f3.y >> 29); color.w += float(f4) + f5;""",
            ),
        ),
    ),
    Chain(
        "more flags than a word has bits",
        (
            vert(
                HASH + SMOOTH + "layout(location = 2) flat out uvec4 f[10];",
                """c = a; e = vec3(row(0u) & 255u, row(1u) & 255u, row(2u) & 255u) / 255.0;
"""
                + "\n".join(
                    f"f[{n}] = uvec4(greaterThan(sin(vec4(row({n % 7}u) & 255u) * {n + 1}.3"
                    f" + vec4(0, 1.1, 2.3, 3.4)), vec4(0.1)));"
                    for n in range(10)
                ),
            ),
            frag(
                SMOOTH_IN + "layout(location = 2) flat in uvec4 f[10];",
                "color = c * 0.5 + vec4(e, 1.0); uvec4 s = uvec4(0);\n"
                + "\n".join(f"s = (s * 3u + f[{n}]) ^ uvec4(gl_FragCoord.x);" for n in range(10))
                + "color += vec4(s & 255u) / 255.0;",
            ),
        ),
    ),
    Chain(
        "flags stored on some paths only",
        (
            vert(
                HASH
                + SMOOTH
                + """layout(location = 2) flat out uint f0;
layout(location = 3) flat out uint f1; layout(location = 4) flat out uint f2;""",
                """c = a; e = vec3(row(0u) & 255u, row(1u) & 255u, row(2u) & 255u) / 255.0;
f0 = row(3u) & 1u; if (k.y > 1) { f1 = row(4u) & 2u; f2 = 1u; return; }
f2 = (row(5u) & 4u) != 0u ? 1u : 3u; f1 = 0u;""",
            ),
            frag(
                SMOOTH_IN
                + """layout(location = 2) flat in uint f0;
layout(location = 3) flat in uint f1; layout(location = 4) flat in uint f2;""",
                "color = c * 0.5 + vec4(e, 1.0) + float(f0 + f1 * 2u + f2 * 5u) * 0.1;",
            ),
        ),
    ),
    Chain(
        "nearly flags: a third value, a loop that negates, what is interpolated",
        (
            vert(
                HASH
                + SMOOTH
                + """layout(location = 2) flat out int f0;
layout(location = 3) flat out int f1; layout(location = 4) out float f2;
layout(location = 5) flat out uint f3; layout(location = 6) flat out int f4;""",
                """c = a; e = vec3(row(0u) & 255u, row(1u) & 255u, row(2u) & 255u) / 255.0;
f0 = row(3u) > 77u ? 1 : row(4u) > 99u ? 2 : 3;
int s = 1, t = row(5u) > 9u ? 1 : 2; for (int i = 0; i < k.y; ++i) s = -s; f1 = s;
f2 = row(5u) > 60u ? 1.0 : 0.0; f3 = row(6u) & 3u; f4 = row(2u) > 40u ? t : -t;""",
            ),
            frag(
                SMOOTH_IN
                + """layout(location = 2) flat in int f0;
layout(location = 3) flat in int f1; layout(location = 4) in float f2;
layout(location = 5) flat in uint f3; layout(location = 6) flat in int f4;""",
                """color = c * 0.5 + vec4(e, 1.0) + float(f0) * 0.1 + float(f1) * 0.25;
color.x += f2 * 0.5; color.y += float(f3) * 0.25; color.z += float(f4);""",
            ),
        ),
    ),
    Chain(
        "two values of 16 bits in a word",
        (
            vert(
                WIDE16
                + HASH
                + SMOOTH
                + """layout(location = 2) flat out float16_t h0;
layout(location = 3) flat out float16_t h1; layout(location = 4) flat out int16_t i0;
layout(location = 5) flat out uint16_t i1; layout(location = 6) flat out f16vec3 h2;""",
                """c = a; e = vec3(row(0u) & 255u, row(1u) & 255u, row(2u) & 255u) / 255.0;
h0 = float16_t(float(row(3u) & 1023u)) * float16_t(0.01);
i0 = int16_t(row(4u) & 255u) * int16_t(-3);
h1 = float16_t(b.x); i1 = uint16_t(row(5u) & 65535u) * uint16_t(3); h2 = f16vec3(a.yzx);""",
            ),
            frag(
                WIDE16
                + SMOOTH_IN
                + """layout(location = 2) flat in float16_t h0;
layout(location = 3) flat in float16_t h1; layout(location = 4) flat in int16_t i0;
layout(location = 5) flat in uint16_t i1; layout(location = 6) flat in f16vec3 h2;""",
                """color = c * 0.5 + vec4(e, 1.0); color.x += float(h0 * h1); color.y += float(h1);
color.z += float(i0 / int16_t(3)) * 0.01; color.w += float(i1 >> uint16_t(2)) * 0.001;
color.xyz += vec3(h2) * 0.5;""",
            ),
        ),
    ),
    Chain(
        "flags of patches and of vertices",
        (
            vert(
                "layout(location = 0) out vec4 c;\nlayout(location = 1) out uvec3 f;",
                "c = a; f = uvec3(lessThan(a.xyz, b.xyz));",
            ),
            tesc(
                """layout(location = 0) in vec4 c[]; layout(location = 1) in uvec3 f[];
layout(location = 0) out vec4 p[]; layout(location = 1) out uvec2 g[];
layout(location = 2) patch out uvec3 q; layout(location = 3) patch out vec2 r;""",
                """p[gl_InvocationID] = c[gl_InvocationID] + vec4(f[gl_InvocationID], 0);
g[gl_InvocationID] = uvec2(f[gl_InvocationID].x + f[1].y > 1u, f[gl_InvocationID].z);
if (gl_InvocationID == 1) { q.x = f[0].x & 1u; q.y = f[1].y & 1u; }
if (gl_InvocationID == 2) q.z = f[1].x * f[2].y; r = c[0].xy;""",
            ),
            tese(
                """layout(location = 0) in vec4 p[]; layout(location = 1) in uvec2 g[];
layout(location = 2) patch in uvec3 q; layout(location = 3) patch in vec2 r;
layout(location = 0) out vec4 f;""",
                """f = p[0] * w.x + p[1] * w.y + vec4(r, r) * 0.1 + vec4(g[0], g[2]) * 0.2;
f += vec4(q, 1) * 0.3;""",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
    ),
    Chain(
        "flags of mesh primitives, stored at several places",
        (
            mesh(
                """layout(location = 0) out vec4 c[];
layout(location = 1) perprimitiveEXT flat out uint f0[];
layout(location = 2) perprimitiveEXT flat out uint f1[];
layout(location = 3) perprimitiveEXT flat out vec4 e[];
layout(location = 4) flat out uint g0[]; layout(location = 5) flat out int g1[];
layout(location = 6) flat out vec3 d[];""",
                """c[i] = vec4(at, 0, 1); g0[i] = fract(sin(at.x * 43.1) * 71.0) > 0.5 ? 9u : 1u;
g1[i] = cos(at.y * 17.3 + sin(at.x)) > 0.1 ? 3 : -2; d[i] = vec3(sin(float(i)), at);
if (i < 8) { f0[i] = i & 2u; if (i > 3) f1[i] = 5u;
if (i > 2) f1[i] = 6u; else f1[i] = 5u; e[i] = vec4(i, 1, at); }""",
            ),
            frag(
                """#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 c; layout(location = 1) perprimitiveEXT flat in uint f0;
layout(location = 2) perprimitiveEXT flat in uint f1;
layout(location = 3) perprimitiveEXT flat in vec4 e;
layout(location = 4) flat in uint g0; layout(location = 5) flat in int g1;
layout(location = 6) flat in vec3 d;""",
                """color = c * 0.5 + e * 0.1 + vec4(f0, f1, g0, g1) * 0.1;
color.xyz += d * 0.05;""",
            ),
        ),
        environment="vulkan1.2",
    ),
    Chain(
        "flags of emitted vertices",
        (
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            geom(
                """layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p;
layout(location = 1) flat out uint f0; layout(location = 2) flat out uint f1;
layout(location = 3) flat out vec3 e;""",
                f"""for (int i = 0; i < 3; ++i) {{ p = c[i]; e = c[i].yzx;
f0 = c[i].x > c[1].y ? 1u : 0u; f1 = c[0].z > 0.1 * float(i) ? 3u : 1u; {PASS}
f0 = 1u - f0; }}""",
            ),
            frag(
                """layout(location = 0) in vec4 p; layout(location = 1) flat in uint f0;
layout(location = 2) flat in uint f1; layout(location = 3) flat in vec3 e;""",
                "color = p * 0.5 + vec4(e, 1) * 0.25 + float(f0) * 0.2 + float(f1) * 0.1;",
            ),
        ),
    ),
)

WIDE = (
    Chain(
        "doubles of all shapes, whole, in part and as columns",
        (
            vert(
                """layout(location = 0) flat out dvec4 d4; layout(location = 2) flat out dvec3 d3;
layout(location = 4) flat out double d1; layout(location = 5) flat out dvec3 e3;
layout(location = 7) flat out dmat3 m; layout(location = 13) flat out dmat2x4 n;
layout(location = 17) flat out dvec3 u[2]; layout(location = 21) flat out dvec2 unread;""",
                """d4 = dvec4(a) * 2.0lf; d3 = dvec3(a.xyz) * 3.0lf; d1 = double(a.x);
e3 = dvec3(b.xyz) * double(a.y); m = dmat3(dvec3(a.xyz) * double(k.x), e3 * 3.0lf, d3);
n = dmat2x4(d4.wzyx, d4 + 1.0lf); u[0] = e3.zyx; u[1] = dvec3(b.wzy); unread = d4.xy;""",
            ),
            frag(
                """layout(location = 0) flat in dvec4 d4; layout(location = 2) flat in dvec3 d3;
layout(location = 4) flat in double d1; layout(location = 5) flat in dvec3 e3;
layout(location = 7) flat in dmat3 m; layout(location = 13) flat in dmat2x4 n;
layout(location = 17) flat in dvec3 u[2];""",
                """dvec4 s = d4 * d4.wzyx; s.xyz += d3 * d3.zyx; s.x *= d1; s.yz += e3.xz * e3.zx;
s.xyz += m * s.yzw; s += n * s.xy; s.xyz += u[0] * u[1].yzx + u[1];
color = vec4(s * double(gl_FragCoord.x)) * 0.01;""",
            ),
        ),
        gone=("unread",),
    ),
    Chain(
        "integers of 64 bits beside others, some constant, some twice",
        (
            vert(
                """#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(location = 0) flat out u64vec4 d4; layout(location = 2) flat out i64vec3 d3;
layout(location = 4) flat out uvec2 f; layout(location = 5) flat out int64_t g;
layout(location = 6) flat out uint64_t one;""",
                """d4 = u64vec4(k) << u64vec4(33, 2, 1, 40); d3 = i64vec3(k.xyz) * 5000000000L;
d4.z = d4.x; f = uvec2(k.zw); g = -int64_t(k.x) * 7L; one = 0x123456789abcdeful;""",
            ),
            frag(
                """#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(location = 0) flat in u64vec4 d4; layout(location = 2) flat in i64vec3 d3;
layout(location = 4) flat in uvec2 f; layout(location = 5) flat in int64_t g;
layout(location = 6) flat in uint64_t one;""",
                """u64vec4 s = d4 ^ u64vec4(u64vec3(d3), one); s.x += uint64_t(g) * uint64_t(f.x);
s.y ^= uint64_t(f.y) << 35; color = vec4((s >> 31) & u64vec4(255)) / 255.0;
color.x += float(uint(d4.z));""",
            ),
        ),
        gone=("one",),
    ),
    Chain(
        "doubles through control and evaluation shaders",
        (
            vert(
                "layout(location = 0) out dvec3 c; layout(location = 2) out dvec4 d;",
                "c = dvec3(a.xyz) * 3.0lf; d = dvec4(b);",
            ),
            tesc(
                """layout(location = 0) in dvec3 c[]; layout(location = 2) in dvec4 d[];
layout(location = 0) out dvec4 p[]; layout(location = 2) patch out dvec3 q;
layout(location = 4) out dvec2 gone[];""",
                """p[gl_InvocationID] = d[gl_InvocationID] + dvec4(c[gl_InvocationID], 0.0lf);
q.x = c[0].x; if (gl_InvocationID == 0) q.yz = c[1].zy; gone[gl_InvocationID] = c[0].xy;""",
            ),
            tese(
                """layout(location = 0) in dvec4 p[]; layout(location = 2) patch in dvec3 q;
layout(location = 4) in dvec2 gone[]; layout(location = 0) out vec4 f;""",
                """f = vec4(p[0]) * w.x + vec4(p[1]) * w.y + vec4(p[2]) * w.z;
f.xyz += vec3(q) * 0.1;""",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
        gone=("gone",),
    ),
)

CHAINS = ARRAYS + STORES + FLAGS + WIDE
# How many remarks say that a vector, or some of it, is part of a word under --exact.
PACKED = {
    "flags of all types, of which one bit is all that counts": 3,
    "more flags than a word has bits": 10,
    "two values of 16 bits in a word": 5,
    "flags of patches and of vertices": 1,
    "flags of mesh primitives, stored at several places": 2,
    "flags of emitted vertices": 2,
}
