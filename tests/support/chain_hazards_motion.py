"""Chains whose code moves, and must not move too far."""

from __future__ import annotations

from tests.support.chain_text import PASS, Chain, frag, geom, mesh, tesc, tese, vert

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
