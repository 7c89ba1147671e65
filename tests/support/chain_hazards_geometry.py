"""Chains with a geometry shader that a careless linker gets wrong."""

from __future__ import annotations

from tests.support.chain_text import PASS, Chain, frag, geom, vert

GEOMETRY = (
    Chain(
        "intervals have their own values",
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
        "one instruction, many emits",
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
        "the same value at other vertices",
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
        "components written between emits",
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
        "layers, ids and user outputs side by side",
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
