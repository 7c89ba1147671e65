"""Chains for the hazards that are not about one kind of stage: interpolation, memory, resources,
specialization, transform feedback."""

from __future__ import annotations

from tests.support.chain_text import PASS, Chain, frag, geom, tesc, tese, text, vert

SMOOTH = "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;"
SMOOTH_IN = "layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];"
VERTEX = vert(SMOOTH, "c = a; d = b;")
QUADS = "gl_TessLevelOuter[3] = 3.0; gl_TessLevelInner[1] = 2.0;"
CONTROL = tesc(
    f"""{SMOOTH_IN}
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];""",
    "p[gl_InvocationID] = c[gl_InvocationID]; q[gl_InvocationID] = d[gl_InvocationID];",
)
PATCH = "layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];"
X = "vec4 x = p[0] * w.x + p[1] * w.y + p[2] * w.z;"
Y = "vec4 y = q[0] * w.x + q[1] * w.y + q[2] * w.z;"


def each(body: str) -> str:
    """A geometry shader's main() that hands a triangle on."""
    return f"for (int i = 0; i < 3; ++i) {{\n{body}\n{PASS} }}"


def quads(domain: str, declarations: str, main: str) -> tuple[str, str]:
    """An evaluation shader of another domain."""
    place = """vec3 w = gl_TessCoord;
gl_Position = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, w.x) + vec4(0.0, w.y, 0.0, 0.0);
"""
    return text("tese", f"layout({domain}) in;\n{declarations}", place + main)


ACROSS = (
    Chain(
        "products and magnitudes of interpolated values",
        (
            VERTEX,
            geom(f"{SMOOTH_IN}\n{SMOOTH.replace(' c;', ' p;').replace(' d;', ' q;')}",
                 each("p = c[i] - 0.5; q = d[i];")),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "color = vec4(p.x * q.x, abs(p.y), max(p.z, 0.0), length(p.xw));",
            ),
        ),
    ),
    Chain(
        "a choice by an interpolated value",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + "layout(location = 0) out vec4 f; layout(location = 1) out vec4 g;",
                f"{X} {Y} f = x; g = y;",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;",
                "color = f.x < 0.5 ? g.xyzw : g.wzyx; color.xy += normalize(f.xyz).xy;",
            ),
        ),
    ),
    Chain(
        "quads have no third weight",
        (
            VERTEX,
            (CONTROL[0], CONTROL[1].replace("p[gl", f"{QUADS}\np[gl", 1)),
            quads(
                "quads",
                PATCH + "layout(location = 0) out vec4 f; layout(location = 1) out vec4 g;",
                "f = p[0] * w.x + p[1] * w.y + p[2] * w.z + vec4(0.25) * q[0].x; g = q[1];",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;",
                "color = f * 0.5 + g * 0.1;",
            ),
        ),
    ),
    Chain(
        "a weight that is taken twice",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + "layout(location = 0) out vec4 f;",
                """vec4 x = (p[0] + 0.5) * w.x + (p[1] + 0.5) * w.x + (p[2] + 0.5) * w.z;
f = x + (q[0] * w.z + q[1] * w.y + q[2] * w.y) * 0.5;""",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f * 0.5;"),
        ),
    ),
    Chain(
        "a constant on one side of a branch",
        (
            VERTEX,
            geom(
                f"""{SMOOTH_IN}
layout(location = 0) out vec4 p; layout(location = 1) flat out vec4 q;
layout(location = 2) out float r;""",
                each("p = c[i]; q = d[i]; r = 0.0; if (c[i].x > 0.3) r = 0.75;"),
            ),
            frag(
                """layout(location = 0) in vec4 p; layout(location = 1) flat in vec4 q;
layout(location = 2) in float r;""",
                "color = p * r + q * 0.25;",
            ),
        ),
        kept=("r",),
    ),
    Chain(
        "a flat value that one emit lacks",
        (
            VERTEX,
            geom(
                f"""{SMOOTH_IN}
layout(location = 0) out vec4 p; layout(location = 1) flat out float q;
layout(location = 2) out float r;""",
                """for (int i = 0; i < 3; ++i) {
p = c[i]; r = 1.0; q = d[0].x; if (i == 1) { q = 0.5; r = 0.25; }
gl_Position = gl_in[i].gl_Position; EmitVertex(); }""",
            ),
            frag(
                """layout(location = 0) in vec4 p; layout(location = 1) flat in float q;
layout(location = 2) in float r;""",
                "color = vec4(p.xy, q, r);",
            ),
        ),
        kept=("q", "r"),
    ),
    Chain(
        "an infinity that would be interpolated",
        (
            VERTEX,
            geom(
                f"""{SMOOTH_IN}
layout(location = 0) out vec4 p; layout(location = 1) out vec2 q;""",
                each("p = c[i]; q = vec2(uintBitsToFloat(0x7f800000u), 0.5);"),
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec2 q;",
                "color = vec4(p.xy, isnan(q.x) ? 0.25 : 0.75, q.y);",
            ),
        ),
        kept=(),
    ),
    Chain(
        "a negative zero that would be interpolated",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + "layout(location = 0) out vec4 f; layout(location = 1) out vec2 g;",
                f"{X} f = x; g = vec2(uintBitsToFloat(0x80000000u), 0.25);",
            ),
            text(
                "frag",
                """#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
layout(location = 0) out vec4 color;
layout(location = 0) in vec4 f; layout(location = 1) in vec2 g;""",
                "color = vec4(f.xy, 1.0 / g.x > 0.0 ? 0.25 : 0.75, g.y);",
            ),
        ),
    ),
    Chain(
        "a precise sum behind the border",
        (
            VERTEX,
            geom(f"{SMOOTH_IN}\n{SMOOTH.replace(' c;', ' p;').replace(' d;', ' q;')}",
                 each("p = c[i]; q = d[i];")),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "precise float s = p.x * 0.5 + q.x; precise float t = p.y + q.y + q.z;"
                " color = vec4(s, t, p.z, q.w);",
            ),
        ),
        kept=("q",),
    ),
    Chain(
        "an invariant output stays",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + "layout(location = 0) invariant out vec4 f;"
                " layout(location = 1) invariant out vec4 g; layout(location = 2) out vec4 h;",
                f"{X} f = x; g = vec4(0.25, 0.5, 0.75, 1.0); h = x;",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;"
                " layout(location = 2) in vec4 h;",
                "color = f * 0.5 + g * h.wzyx;",
            ),
        ),
        kept=("f", "g"),
    ),
    Chain(
        "five ways to interpolate",
        (
            VERTEX,
            geom(
                f"""{SMOOTH_IN}
layout(location = 0) out float p; layout(location = 1) flat out float q;
layout(location = 2) noperspective out float r; layout(location = 3) centroid out float s;
layout(location = 4) sample out float t;""",
                each("p = c[i].x; q = c[0].y; r = d[i].x; s = d[i].y; t = d[i].z;"),
            ),
            frag(
                """layout(location = 0) in float p; layout(location = 1) flat in float q;
layout(location = 2) noperspective in float r; layout(location = 3) centroid in float s;
layout(location = 4) sample in float t;""",
                "color = vec4(p + q, r, s, t);",
            ),
        ),
    ),
    Chain(
        "interpolated elsewhere",
        (
            VERTEX,
            geom(f"{SMOOTH_IN}\n{SMOOTH.replace(' c;', ' p;').replace(' d;', ' q;')}",
                 each("p = c[i]; q = vec4(0.5, c[i].x, d[i].xy);")),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                """color = vec4(p.x, interpolateAtOffset(q, vec2(0.25)).y,
interpolateAtCentroid(p).z, interpolateAtOffset(q, vec2(-0.25, 0.125)).w);""",
            ),
        ),
    ),
    Chain(
        "the last sample input",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + "layout(location = 0) out vec4 f; layout(location = 1) sample out float g;",
                f"{X} f = x; g = 0.5;",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) sample in float g;",
                "color = f * g; color.w = float(gl_SampleMaskIn[0] & 15) * 0.0625;",
            ),
        ),
        gone=("g",),
    ),
)  # fmt: skip

BLOCK = "layout(set = {}, binding = 0) {} B {{ vec4 v; vec4 u; }} block;\n"
MEMORY = (
    Chain(
        "memory that fragments write",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + BLOCK.format(0, "buffer")
                + "layout(location = 0) out vec4 f; layout(location = 1) out vec4 g;",
                f"{X} f = x; g = block.v;",
            ),
            frag(
                BLOCK.format(0, "buffer")
                + "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;",
                "color = f * g; block.u = vec4(0.5);",
            ),
        ),
        kept=("g",),
    ),
    Chain(
        "memory that the stage itself writes",
        (
            VERTEX,
            geom(
                SMOOTH_IN + BLOCK.format(0, "buffer")
                + "layout(location = 0) out vec4 p; layout(location = 1) out vec4 q;",
                each("p = c[i]; q = block.v; block.u = vec4(0.25);"),
            ),
            frag(
                BLOCK.format(0, "readonly buffer")
                + "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "color = p * q + block.v * 0.125;",
            ),
        ),
        kept=("q",),
    ),
    Chain(
        "a guarded division of integers",
        (
            vert(
                """layout(location = 0) flat out ivec2 n; layout(location = 1) out vec4 c;""",
                "n = ivec2(k.x, k.y & 3); c = a;",
            ),
            geom(
                """layout(location = 0) flat in ivec2 n[]; layout(location = 1) in vec4 c[];
layout(location = 0) out vec4 p;""",
                each("p = c[i]; if (n[i].y != 0) p.x = float((n[i].x / n[i].y) & 7) * 0.125;"),
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
    ),
    Chain(
        "a guarded index",
        (
            vert(
                "layout(location = 0) flat out int n; layout(location = 1) out vec4 c;",
                "n = k.x & 15; c = a;",
            ),
            geom(
                """layout(location = 0) flat in int n[]; layout(location = 1) in vec4 c[];
layout(location = 0) out vec4 p; layout(location = 1) flat out int m;""",
                each("p = c[i]; m = n[0];"),
            ),
            frag(
                """layout(location = 0) in vec4 p; layout(location = 1) flat in int m;
layout(binding = 0) uniform U { vec4 v[4]; } u;""",
                "color = p; if (m < 4) color += u.v[m] * 0.25; else color.x = float(12 / m);",
            ),
        ),
        kept=("m",),
    ),
    Chain(
        "a resource of the stage before",
        (
            VERTEX,
            geom(
                SMOOTH_IN + BLOCK.format(0, "uniform")
                + "layout(location = 0) out vec4 p; layout(location = 1) out vec4 q;",
                each("p = c[i]; q = block.v;"),
            ),
            frag(
                "layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;",
                "color = p * q;",
            ),
        ),
        kept=("q",),
    ),
    Chain(
        "two sets with one binding",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + BLOCK.format(1, "uniform")
                + "layout(location = 0) out vec4 f; layout(location = 1) out vec4 g;",
                f"{X} f = x; g = block.v;",
            ),
            frag(
                BLOCK.format(0, "uniform")
                + "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;",
                "color = f * sin(g + gl_FragCoord.x) + block.v * 0.125;",
            ),
        ),
        kept=("g",),
    ),
    Chain(
        "one number, two specialization constants",
        (
            VERTEX,
            geom(
                f"""layout(constant_id = 3) const float scale = 0.75;
{SMOOTH_IN}
layout(location = 0) out vec4 p; layout(location = 1) out float q;""",
                each("p = c[i]; q = scale * 2.0;"),
            ),
            frag(
                """layout(constant_id = 3) const float other = 0.125;
layout(location = 0) in vec4 p; layout(location = 1) in float q;""",
                "color = p * q + other;",
            ),
        ),
        kept=("q",),
    ),
    Chain(
        "a specialization constant of the patch",
        (
            VERTEX,
            tesc(
                f"""layout(constant_id = 0) const int n = 3;
{SMOOTH_IN}
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
layout(location = 2) patch out float s;""",
                """p[gl_InvocationID] = c[gl_InvocationID]; q[gl_InvocationID] = d[gl_InvocationID];
s = float(n);""",
            ),
            tese(
                f"""layout(constant_id = 0) const int n = 7;
{PATCH}
layout(location = 2) patch in float s; layout(location = 0) out vec4 f;""",
                f"{X} f = x * s * 0.25 + float(n) * 0.0625;",
            ),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ),
        kept=("s",),
    ),
    Chain(
        "captured and read by nobody",
        (
            VERTEX,
            geom(
                f"""{SMOOTH_IN}
layout(location = 0) out vec4 p;
layout(location = 1, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out vec4 q;""",
                each("p = c[i]; q = d[i] * 2.0;"),
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
        kept=("q",),
    ),
    Chain(
        "captured and worth moving",
        (
            VERTEX,
            CONTROL,
            tese(
                PATCH + """layout(location = 0) out vec4 f;
layout(location = 1, xfb_buffer = 0, xfb_offset = 4, xfb_stride = 24) out vec4 g;""",
                f"{X} {Y} f = x; g = y;",
            ),
            frag(
                "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;",
                "color = vec4(f.x + g.x * 0.5 + g.y, g.z + g.w + f.y, f.z, 1.0);",
            ),
        ),
        kept=("g",),
    ),
    Chain(
        "clip distances behind the middle",
        (
            VERTEX,
            geom(
                f"""out gl_PerVertex {{ vec4 gl_Position; float gl_ClipDistance[2]; }};
{SMOOTH_IN}
layout(location = 0) out vec4 p; layout(location = 1) out vec4 unread;""",
                each("""p = c[i]; unread = d[i]; gl_ClipDistance[0] = 1.0;
gl_ClipDistance[1] = gl_in[i].gl_Position.x + 0.4;"""),
            ),
            frag("layout(location = 0) in vec4 p;", "color = p;"),
        ),
        gone=("unread",),
    ),
    Chain(
        "arrays of one element",
        (
            vert(
                """layout(location = 0) out float c[1]; layout(location = 1) flat out ivec2 n[1];
layout(location = 2) out vec4 unread;""",
                "c[0] = sin(a.x); n[0] = k.xy; unread = b;",
            ),
            tesc(
                """layout(location = 0) in float c[][1]; layout(location = 1) in ivec2 n[][1];
layout(location = 0) out float p[][1]; layout(location = 1) patch out float s[1];""",
                """p[gl_InvocationID][0] = cos(c[gl_InvocationID][0] * 3.0);
s[0] = sin(float(n[0][0].x * n[1][0].y));""",
            ),
            tese(
                """layout(location = 0) in float p[][1]; layout(location = 1) patch in float s[1];
layout(location = 0) out float f[1]; layout(location = 1) out vec2 g[1];""",
                "f[0] = p[0][0] * w.x + sin(p[1][0]) * w.y + s[0]; g[0] = sin(w.xy * p[2][0]);",
            ),
            frag(
                "layout(location = 0) in float f[1]; layout(location = 1) in vec2 g[1];",
                "color = vec4(cos(f[0]), cos(g[0]), sin(f[0]));",
            ),
        ),
        gone=("unread",),
    ),
)  # fmt: skip
ANY_STAGE = ACROSS + MEMORY
