"""Pipelines with transform feedback that a careless linker gets wrong, as GLSL;
test_feedback_link.py links and draws them. As in chain_hazards.py, the vertex shader has the
attributes ``a``, ``b`` and ``k``, the fragment shader the output ``color``.
"""

from __future__ import annotations

from tests.support.chain_hazards import Chain, frag, geom, text, vert

UNIFORMS = "layout(set = 0, binding = 0) uniform Block { vec4 tint; vec4 other; } u;\n"


def out(at: int, offset: int, rest: str, buffer: int = 0, stride: int = 64, more: str = "") -> str:
    """An output that is captured: its Location, its byte, type and name."""
    return (
        f"layout(location = {at}, xfb_buffer = {buffer}, xfb_offset = {offset},"
        f" xfb_stride = {stride}{more}) out {rest};\n"
    )


def ins(*rest: str) -> str:
    """Inputs at these Locations: ``0 vec4 c``, ``1 flat int n``."""
    found = ""
    for one in rest:
        at, _, what = one.partition(" ")
        words = what.split()
        qualifiers = " ".join(words[:-2])
        found += f"layout(location = {at}) {qualifiers} in {' '.join(words[-2:])};\n"
    return found


def pair(
    name: str, outputs: str, stores: str, inputs: str, color: str, **rest: tuple[str, ...]
) -> Chain:
    stages = (vert(UNIFORMS + outputs, stores), frag(UNIFORMS + inputs, f"color = {color};"))
    return Chain(name, stages, **rest)  # type: ignore[arg-type]


STRUCTS = """struct Inner { ivec2 x[2]; mat2 y; };
struct S { vec3 c; Inner d; };
"""

PASS_ALL = """for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position;
BODY EmitVertex(); } EndPrimitive();"""

CHAINS = (
    pair(
        "captured and unread, its code too",
        out(0, 0, "vec4 c") + "layout(location = 1) out vec4 d;",
        "c = sin(a) * b; d = a;",
        ins("1 vec4 d"),
        "d",
        kept=("c",),
    ),
    pair(
        "a captured constant",
        out(0, 16, "vec4 c"),
        "c = vec4(0.25, 0.5, a.x, 1.0);",
        ins("0 vec4 c"),
        "c * 0.5",
        kept=("c",),
    ),
    pair(
        "a captured uniform value",
        out(0, 16, "vec4 c"),
        "c = u.tint * 2.0;",
        ins("0 flat vec4 c"),
        "c + u.other * 0.0",
        kept=("c",),
    ),
    pair(
        "twins of what is captured",
        "layout(location = 0) out vec4 c;\nlayout(location = 1) out vec4 minus;\n"
        + out(2, 32, "vec4 kept"),
        "c = a * b; kept = a * b; minus = -(a * b);",
        ins("0 vec4 c", "1 vec4 minus", "2 vec4 kept"),
        "c + minus.wzyx * 0.5 + kept * 0.25",
        kept=("kept",),
        gone=("c", "minus"),
    ),
    pair(
        "twins that are both captured",
        out(0, 0, "vec4 c") + out(1, 32, "vec4 d"),
        "c = a * b; d = a * b;",
        ins("0 vec4 c", "1 vec4 d"),
        "c + d.wzyx",
        kept=("c", "d"),
    ),
    pair(
        "a captured twin that nobody read",
        out(0, 0, "vec4 c")
        + "layout(location = 1) out vec4 d;\nlayout(location = 2) flat out vec2 e;\n"
        + out(3, 32, "vec2 f"),
        "c = a * b; d = a * b; e = a.zx; f = a.zx; if (k.x > 3) { c = b; f = a.xy; d = b; }",
        ins("1 centroid vec4 d", "2 flat vec2 e"),
        "d + e.xyxy",
        gone=("d",),
        kept=("c", "e", "f"),
    ),
    pair(
        "what the fragment shader makes of it",
        out(0, 0, "vec4 c") + out(1, 16, "vec4 d"),
        "c = a; d = b;",
        ins("0 vec4 c", "1 vec4 d"),
        "c * 0.5 + d * 0.25 + vec4(dot(c, vec4(0.1)))",
        kept=("c", "d"),
    ),
    pair(
        "cheap functions of fewer values, captured",
        out(0, 0, "vec4 c")
        + "layout(location = 1) flat out vec4 d;\nlayout(location = 2) flat out vec4 e;",
        "c = a; d = a * 2.0; e = a + b.x;",
        ins("0 vec4 c", "1 flat vec4 d", "2 flat vec4 e"),
        "c + d + e",
        kept=("c",),
    ),
    pair(
        "some components read, all captured",
        out(0, 4, "vec4 c") + out(1, 20, "vec3 d") + "layout(location = 2) out vec2 e;",
        "c = a.wzyx; d = b.xyz * 3.0; e = b.zw;",
        ins("0 vec4 c", "1 vec3 d", "2 vec2 e"),
        "vec4(c.y, d.z, e)",
    ),
    pair(
        "scattered scalars",
        out(0, 0, "float c")
        + out(2, 4, "flat int n", more="")
        + out(4, 8, "vec2 d")
        + out(7, 16, "flat uint m")
        + out(9, 20, "noperspective float e")
        + "layout(location = 10) out vec3 g;",
        "c = a.x; n = k.x; d = b.yz; m = uint(k.y); e = a.w; g = a.xyz * b.xyz;",
        ins("4 vec2 d", "10 vec3 g", "9 noperspective float e"),
        "vec4(d * e, g.xz + g.y)",
    ),
    pair(
        "two buffers, with room between",
        out(0, 8, "vec3 c", 0, 40)
        + out(1, 12, "vec2 d", 1, 32)
        + out(2, 28, "vec2 e", 0, 40)
        + out(3, 0, "ivec3 n", 1, 32).replace("out ivec3", "flat out ivec3"),
        "c = a.xyz; d = b.xy; e = b.zw; n = k.xyz;",
        ins("1 vec2 d", "3 flat ivec3 n"),
        "vec4(d, vec2(n.xz & 3))",
    ),
    pair(
        "matrices and arrays",
        out(0, 0, "mat3 m", stride=128)
        + out(3, 36, "float w[3]", stride=128)
        + out(6, 48, "vec2 p[2]", stride=128)
        + out(8, 64, "mat2x4 q", stride=128),
        """m = mat3(a.xyz, b.xyz, a.zwx); w = float[](a.x, b.x, a.y);
p = vec2[](a.xy, b.zw); q = mat2x4(b, a.wzyx);""",
        ins("0 mat3 m", "3 float w[3]", "6 vec2 p[2]", "8 mat2x4 q"),
        "vec4(m[1].xz + p[1], w[2], q[1].y)",
    ),
    pair(
        "an array with a dynamic index",
        out(0, 0, "vec4 c[3]", stride=80) + out(4, 48, "vec4 d[2]", stride=80),
        "c[0] = c[1] = c[2] = a; c[int(k.x & 1)] = b; d[0] = d[1] = b; d[k.y & 1] = a * 0.5;",
        ins("0 vec4 c[3]"),
        "c[1] + c[0] * 0.5",
    ),
    pair(
        "an array that the fragment shader indexes",
        out(0, 0, "vec4 c[3]", stride=80) + out(4, 48, "vec2 d", stride=80),
        "c = vec4[](a, b, a * b); d = a.zw;",
        "layout(location = 0) in vec4 c[3];\n",
        "c[int(gl_FragCoord.x) % 3]",
    ),
    pair(
        "a block, one member of which is captured",
        """layout(location = 0) out Block2 {
vec4 free; layout(xfb_buffer = 0, xfb_stride = 48, xfb_offset = 16) vec4 taken; vec2 dead; } o;
""",
        "o.free = a; o.taken = b * 2.0; o.dead = sin(a.xy);",
        "layout(location = 0) in Block2 { vec4 free; vec4 taken; vec2 dead; } o;\n",
        "o.free + o.taken.yxwz",
    ),
    pair(
        "a block with its members' places inherited",
        """layout(location = 0, xfb_buffer = 1, xfb_stride = 64, xfb_offset = 8) out Block2 {
vec3 c; float d; vec2 e; vec4 f; } o;
layout(xfb_buffer = 0, xfb_stride = 32, xfb_offset = 0) out gl_PerVertex {
vec4 gl_Position; float gl_PointSize; };
""",
        "o.c = a.xyz; o.d = b.x; o.e = b.zw; o.f = a * b; gl_PointSize = 1.0;",
        "layout(location = 0) in Block2 { vec3 c; float d; vec2 e; vec4 f; } o;\n",
        "vec4(o.e, o.d, o.c.y)",
    ),
    pair(
        "64 bits",
        out(0, 8, "flat dvec3 w") + out(2, 32, "flat double s") + out(3, 40, "vec2 c"),
        "w = dvec3(a.xyz) / 3.0LF; s = double(b.x) * 0.1LF; c = b.yz;",
        ins("0 flat dvec3 w", "3 vec2 c"),
        "vec4(vec2(w.xz), c)",
    ),
    pair(
        "a struct",
        "struct S { vec3 c; float d[2]; };\n"
        + out(3, 0, "S s")
        + "layout(location = 0) out vec2 e; layout(location = 1) out vec2 f;",
        "s.c = a.xyz; s.d = float[](b.x, b.y); e = a.xy; f = b.xy;",
        ins("0 vec2 e", "1 vec2 f"),
        "vec4(e, f)",
    ),
    pair(
        "structs in an array, of a block",
        STRUCTS
        + """layout(location = 0, xfb_buffer = 0, xfb_stride = 104) out Block2 {
layout(xfb_offset = 8) S s[2]; layout(xfb_offset = 96) vec2 last; };
layout(location = 12) out vec4 free;
""",
        """s[0].c = a.xyz; s[0].d.x = ivec2[](k.xy, k.zw); s[0].d.y = mat2(a.xy, b.xy);
s[1].c = b.xyz; s[1].d.x = ivec2[](k.wz, k.yx); s[1].d.y = mat2(b.zw, a.zw);
last = a.xw; free = b;""",
        STRUCTS
        + "layout(location = 0) in Block2 { flat S s[2]; vec2 last; };\n"
        + ins("12 vec4 free"),
        "vec4(s[1].d.y[1], s[0].c.z, last.y) + free * float(s[1].d.x[0].y & 3)",
    ),
    pair(
        "a struct of 64 bits stays as it is",
        "struct S { float c; double d; };\n"
        + out(3, 0, "flat S s")
        + "layout(location = 0) out vec2 e; layout(location = 1) out vec2 f;",
        "s.c = a.x; s.d = double(b.x); e = a.xy; f = b.xy;",
        ins("0 vec2 e", "1 vec2 f"),
        "vec4(e, f)",
        kept=("s",),
    ),
    pair(
        "one member of a block stays as it is",
        "struct S { float c; double d; };\n"
        + """layout(location = 0, xfb_buffer = 0, xfb_stride = 48) out Block2 {
vec4 free; layout(xfb_offset = 16) flat S s; vec3 half_dead; layout(xfb_offset = 32) vec3 taken;
vec2 dead; } o;
""",
        """o.free = a; o.s.c = b.x; o.s.d = double(b.y); o.half_dead = b.xyz; o.taken = a.yzw;
o.dead = sin(a.xy);""",
        "struct S { float c; double d; };\n"
        """layout(location = 0) in Block2 {
vec4 free; flat S s; vec3 half_dead; vec3 taken; vec2 dead; } o;
""",
        "vec4(o.free.x, o.half_dead.y, o.s.c, float(o.s.d) + o.taken.z)",
        kept=("s",),
        gone=("dead",),
    ),
    pair(
        "other qualifiers around it",
        out(0, 0, "centroid vec2 c")
        + out(1, 8, "noperspective vec3 d")
        + out(2, 20, "float e")
        + out(3, 24, "float g")
        + "layout(location = 4) out float h;",
        "c = a.xy; d = b.xyz; e = a.z; g = b.w; h = a.w;",
        ins("0 centroid vec2 c", "1 noperspective vec3 d", "4 float h"),
        "vec4(c.x, d.yz, h)",
    ),
    pair(
        "components by hand",
        out(0, 0, "vec2 c")
        + out(0, 16, "float d", more=", component = 2")
        + out(0, 8, "float e", more=", component = 3")
        + "layout(location = 1) out vec2 free;",
        "c = a.xy; d = b.x; e = b.y; free = a.zw;",
        "layout(location = 0, component = 2) in float d; layout(location = 1) in vec2 free;",
        "vec4(d, free, 1.0)",
    ),
    pair(
        "interpolated at an offset",
        out(0, 0, "vec4 c") + out(1, 16, "vec4 d"),
        "c = a; d = b;",
        ins("0 vec4 c"),
        "interpolateAtOffset(c.yz, vec2(0.25)).xyxy + c.x",
    ),
    pair(
        "the same slot captured and partly constant",
        out(0, 0, "vec4 c") + out(1, 16, "flat ivec4 n"),
        "c = vec4(a.x, 0.0, 1.0, b.x); n = ivec4(3, k.x, 3, 0);",
        ins("0 vec4 c", "1 flat ivec4 n"),
        "c + vec4(n & 7) * 0.125",
    ),
    Chain(
        "each vertex that is emitted",
        (
            vert("layout(location = 0) out vec4 v; layout(location = 1) out vec4 w;", "v=a; w=b;"),
            geom(
                "layout(location = 0) in vec4 v[]; layout(location = 1) in vec4 w[];\n"
                + out(0, 16, "vec4 c", stride=48)
                + out(1, 32, "vec3 d", stride=48)
                + out(2, 0, "vec3 e", stride=48)
                + "layout(location = 3) out vec2 free;",
                PASS_ALL.replace(
                    "BODY",
                    "c = v[i] * float(i + 1); d = w[i].xyz; free = w[2 - i].xy; e = v[0].xyz;",
                ),
            ),
            frag(ins("1 vec3 d", "3 vec2 free"), "color = vec4(d.xy, free);"),
        ),
    ),
    Chain(
        "two streams, of one vertex each",
        (
            vert("layout(location = 0) out vec4 v;", "v = a;"),
            text(
                "geom",
                """layout(triangles) in; layout(points, max_vertices = 6) out;
layout(location = 0) in vec4 v[];
layout(stream = 1, location = 0, xfb_buffer = 1, xfb_offset = 0, xfb_stride = 32) out vec4 far;
layout(stream = 0, location = 1, xfb_buffer = 0, xfb_offset = 4, xfb_stride = 32) out vec3 near;
layout(stream = 1, location = 2) out vec4 nobody;
layout(stream = 0, location = 3) out vec2 free;
layout(stream = 1, location = 4, xfb_buffer = 1, xfb_offset = 16, xfb_stride = 32) out float way;
""",
                """for (int i = 0; i < 3; ++i) {
near = v[i].xyz; free = v[i].zw; gl_Position = gl_in[i].gl_Position; gl_PointSize = 9.0;
EmitStreamVertex(0); EndStreamPrimitive(0);
far = v[i] * 2.0; nobody = v[0]; way = v[i].x * 0.5; EmitStreamVertex(1); EndStreamPrimitive(1);
}""",
            ),
            frag(ins("3 vec2 free"), "color = vec4(free, 0.5, 1.0);"),
        ),
        gone=("nobody",),
    ),
    Chain(
        "a block of another stream",
        (
            vert("layout(location = 0) out vec4 v;", "v = a;"),
            text(
                "geom",
                """layout(triangles) in; layout(points, max_vertices = 6) out;
layout(location = 0) in vec4 v[];
layout(stream = 1, xfb_buffer = 1, xfb_stride = 32) out Far {
layout(location = 0, xfb_offset = 16) vec4 far; layout(location = 1, xfb_offset = 0) vec2 wide; };
layout(stream = 0, location = 3) out vec2 free;
layout(stream = 0, location = 4) out vec2 nobody;
""",
                """for (int i = 0; i < 3; ++i) {
free = v[i].zw; nobody = v[i].xy; gl_Position = gl_in[i].gl_Position; gl_PointSize = 9.0;
EmitStreamVertex(0); EndStreamPrimitive(0);
far = v[i] * 2.0; wide = v[i].xy; EmitStreamVertex(1); EndStreamPrimitive(1);
}""",
            ),
            frag(ins("3 vec2 free"), "color = vec4(free, 0.5, 1.0);"),
        ),
        gone=("nobody",),
    ),
    Chain(
        "parts of a block of another stream",
        (
            vert("layout(location = 0) out vec4 v;", "v = a;"),
            text(
                "geom",
                """layout(triangles) in; layout(points, max_vertices = 6) out;
layout(location = 0) in vec4 v[];
struct S { vec2 x; float y[2]; };
layout(stream = 1, xfb_buffer = 1, xfb_stride = 32) out Far {
layout(location = 0, xfb_offset = 16) vec4 far; layout(location = 1) vec4 nobody;
layout(location = 2, xfb_offset = 0) S wide; layout(location = 5) S neither[2]; };
layout(stream = 0, location = 15) out vec2 free;
""",
                """for (int i = 0; i < 3; ++i) {
free = v[i].zw; gl_Position = gl_in[i].gl_Position; gl_PointSize = 9.0;
EmitStreamVertex(0); EndStreamPrimitive(0);
far = v[i] * 2.0; wide.x = v[i].xy; wide.y[0] = v[i].x; wide.y[1] = v[i].w; nobody = sin(v[i]);
neither[0] = wide; neither[1] = wide; neither[1].x.y = v[i].z;
EmitStreamVertex(1); EndStreamPrimitive(1);
}""",
            ),
            frag(ins("15 vec2 free"), "color = vec4(free, 0.5, 1.0);"),
        ),
        kept=("far", "wide"),
        gone=("nobody",),
    ),
)
