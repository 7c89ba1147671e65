"""More chains that a careless linker gets wrong (``chain_hazards`` says how they are written):
sums over vertices in an evaluation shader, and values that look equal for a patch or a mesh
workgroup. test_chain_hazards.py links and draws them."""

from __future__ import annotations

from tests.support.chain_hazards import Chain, frag, mesh, tesc, tese, text, vert

VERT = vert("layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;", "c = a; d = b;")
IN = """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
"""
STORE = "p[gl_InvocationID] = c[gl_InvocationID]; q[gl_InvocationID] = d[gl_InvocationID];"
OUT = """layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];
layout(location = 0) out vec4 f;
"""
SHOW = frag("layout(location = 0) in vec4 f;", "color = f;")
P = "(p[0] * w.x + p[1] * w.y + p[2] * w.z)"
Q = "(q[0] * w.x + q[1] * w.y + q[2] * w.z)"


def quads(main: str) -> tuple[str, str]:
    """An evaluation shader in the quad domain that uses the weights of the triangle domain."""
    stage, source = tese(OUT, main)
    return stage, source.replace("layout(triangles)", "layout(quads)").replace(
        "gl_in[2].gl_Position * w.z", "gl_in[2].gl_Position * (w.x * w.y)"
    )


# the levels that a quad has besides those of a triangle
LEVELS = "gl_TessLevelOuter[3] = 3.0; gl_TessLevelInner[1] = 2.0;"
WEIGHTS = (
    Chain(
        "weights in another order",
        (VERT, tesc(IN, STORE),
         tese(OUT, f"f = {P} + (q[0] * w.y + q[1] * w.x + q[2] * w.z);"), SHOW),
        kept=("p", "q"),
    ),
    Chain(
        "vertices in another order",
        (VERT, tesc(IN, STORE),
         tese(OUT, f"f = {P} - (q[1] * w.x + q[0] * w.y + q[2] * w.z);"), SHOW),
        kept=("p", "q"),
    ),
    Chain(
        "weights that do not sum to one",  # hazard 5
        (VERT, tesc(IN, LEVELS + STORE), quads(f"f = ({P} + 0.5) * 0.5 + {Q};"), SHOW),
        kept=("p", "q"),
    ),
    Chain(
        "weights that do not sum to one, nothing between",
        (VERT, tesc(IN, LEVELS + STORE), quads(f"f = {P} * 0.5 + {Q} + 0.5;"), SHOW),
        moved=("p", "q"),
    ),
    Chain(
        "a product of sums",  # hazard 4
        (VERT, tesc(IN, STORE), tese(OUT, f"f = {P} * {Q};"), SHOW),
        kept=("p", "q"),
    ),
    Chain(
        "a sum of squares",  # hazard 4
        (VERT, tesc(IN + "layout(location = 3) out vec4 lost[];",
                    STORE + "lost[gl_InvocationID] = c[1];"),
         tese(OUT, """vec4 s = p[0] * p[0] * w.x + p[1] * p[1] * w.y + p[2] * p[2] * w.z;
f = s + (q[0] * w.x + q[1] * w.y + q[2] * w.z) * p[0].x;"""), SHOW),
    ),
    Chain(
        "a weight of the patch",
        (VERT,
         tesc(IN + "layout(location = 2) patch out vec2 r;",
              STORE + "if (gl_InvocationID == 0) r = c[1].xy * d[2].zw;"),
         tese(OUT + "layout(location = 2) patch in vec2 r;",
              f"f = {P} * r.x + {Q} * r.x + {Q} * r.y;"), SHOW),
        kept=("r",),
    ),
    Chain(
        "one sum makes the position",  # hazard 9
        (VERT, tesc(IN, STORE),
         tese(OUT, f"vec4 s = {P} + {Q}; gl_Position.xy += s.xy * 0.125; f = sqrt(abs(s));"),
         SHOW),
    ),
    Chain(
        "stored at other places",
        (VERT,
         tesc(IN, """p[gl_InvocationID] = c[gl_InvocationID];
if (c[gl_InvocationID].x > 0.5) { q[gl_InvocationID] = d[gl_InvocationID]; }
else { q[gl_InvocationID] = d[gl_InvocationID].wzyx; p[gl_InvocationID] = vec4(0.25); }"""),
         tese(OUT, f"f = {P} + {Q};"), SHOW),
        kept=("p", "q"),
    ),
    Chain(
        "read by a loop, too",
        (VERT, tesc(IN, STORE),
         tese(OUT, f"""f = {P} + {Q};
for (int i = 0; i < int(w.x * 2.9); ++i) f += p[i] * 0.125 - q[2 - i] * 0.25;"""), SHOW),
        kept=("p", "q"),
    ),
    Chain(
        "a vertex twice and one not at all",
        (VERT, tesc(IN, STORE),
         tese(OUT, """f = (p[0] * w.x + p[0] * w.y + p[1] * w.z)
+ (q[0] * (w.x + w.y) + q[1] * w.z);"""), SHOW),
        moved=("p", "q"),
    ),
)  # fmt: skip

PATCHES = (
    Chain(
        "one invocation stores something else",
        (VERT,
         tesc(IN, STORE + "q[gl_InvocationID] = c[0];"
              "if (gl_InvocationID == 1) q[gl_InvocationID] = c[2];"),
         tese(OUT, f"f = {P} + {Q};"), SHOW),
    ),
    Chain(
        "one value after another for all",
        (VERT,
         tesc(IN, """p[gl_InvocationID] = c[gl_InvocationID];
for (int i = 0; i < 3; ++i) q[gl_InvocationID] = d[i] * float(i + 1);"""),
         tese(OUT, f"f = {P} * q[0] + q[2].wzyx;"), SHOW),
        kept=("q",),
    ),
    Chain(
        "equal, and read back behind a barrier",  # hazard 17
        (VERT,
         tesc(IN, """q[gl_InvocationID] = d[0]; barrier();
vec4 other = q[(gl_InvocationID + 1) % 3];
p[gl_InvocationID] = c[gl_InvocationID] * other;"""),
         tese(OUT, f"f = {P} + q[1];"), SHOW),
        kept=("q",),
    ),
    Chain(
        "equal for the primitive on one return of the vertex stage alone",  # hazard 7
        (vert("layout(location = 0) out vec4 c; layout(location = 1) out float n;",
              """c = a; n = float(gl_InstanceIndex);
if (b.x > 0.5) { n = b.x; return; } c.x += 0.1;"""),
         tesc("""layout(location = 0) in vec4 c[]; layout(location = 1) in float n[];
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];""",
              """p[gl_InvocationID] = c[gl_InvocationID];
q[gl_InvocationID] = vec4(n[gl_InvocationID]);"""),
         tese(OUT, f"f = {P} + {Q};"), SHOW),
    ),
    Chain(
        "equal for the patch beside what is not",
        (VERT,
         tesc("""layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];
layout(location = 0) out vec3 p[]; layout(location = 0, component = 3) out float o[];
layout(location = 1) out vec3 q[]; layout(location = 1, component = 3) out float r[];
layout(location = 2) out vec2 s[]; layout(location = 3) patch out vec3 t;""",
              """p[gl_InvocationID] = c[gl_InvocationID].xyz; o[gl_InvocationID] = d[0].x;
q[gl_InvocationID] = d[1].xyz; r[gl_InvocationID] = c[gl_InvocationID].w;
s[gl_InvocationID] = c[2].xy * d[2].xy; t = c[1].xyz;"""),
         tese("""layout(location = 0) in vec3 p[]; layout(location = 0, component = 3) in float o[];
layout(location = 1) in vec3 q[]; layout(location = 1, component = 3) in float r[];
layout(location = 2) in vec2 s[]; layout(location = 3) patch in vec3 t;
layout(location = 0) out vec4 f;""",
              """f = vec4(p[0] * w.x + p[1] * w.y + p[2] * w.z, o[1]) * vec4(q[2], 1.0)
+ vec4(r[0] * w.x + r[1] * w.y + r[2] * w.z, s[0], o[2]) + vec4(t, 0.5);"""), SHOW),
    ),
)  # fmt: skip

PAYLOAD = "struct Payload { vec4 tint; uint count; }; taskPayloadSharedEXT Payload payload;\n"
TASK = text(
    "task", "layout(local_size_x = 1) in;\n" + PAYLOAD,
    """payload.tint = vec4(0.5, 0.25, float(gl_WorkGroupID.x + 1) * 0.125, 1.0);
payload.count = 8 - gl_WorkGroupID.x % 2; EmitMeshTasksEXT(2, 1, 1);""",
)  # fmt: skip
MADE = """layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
layout(location = 2) flat out uint r[];
"""
SEEN = frag(
    """layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;
layout(location = 2) flat in uint r;""",
    "color = p * 0.5 + sqrt(abs(q)) + float(r % 3u) * 0.125;",
)


def meshed(main: str, declarations: str = MADE, change: tuple[str, str] = ("", "")) -> Chain:
    """A chain with this mesh shader."""
    stage, source = mesh(PAYLOAD + declarations, "p[i] = vec4(at, angle * 0.1, 1.0);\n" + main)
    if change[0]:
        assert change[0] in source
        source = source.replace(*change)
    return Chain("", (TASK, (stage, source), SEEN), environment="vulkan1.2")


def named(name: str, chain: Chain) -> Chain:
    return Chain(name, chain.stages, environment=chain.environment)


FAN = "if (i < 8) gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, (i + 1) % 8, 8);"
MESHES = (
    named("two values in a workgroup", meshed(
        "q[i] = payload.tint; if (i > 4) q[i] = payload.tint.yzwx; r[i] = gl_WorkGroupID.x;")),
    named("a value of the vertex's number", meshed(
        "q[i] = payload.tint * float(i & 3); r[i] = payload.count + (i >> 2);")),
    named("shared memory changes", meshed(
        """if (i == 0) kept = payload.tint; barrier(); vec4 first = kept; barrier();
if (i == 0) kept = payload.tint.wzyx; barrier(); q[i] = first - kept; r[i] = payload.count;""",
        "shared vec4 kept;\n" + MADE)),
    named("other invocations store the indices", meshed(
        "q[i] = payload.tint * 2.0; r[i] = payload.count;", MADE,
        (FAN, """if (i < 3) for (uint j = i; j < 8; j += 3)
gl_PrimitiveTriangleIndicesEXT[j] = uvec3(j, (j + 1) % 8, 8);"""))),
    named("fewer primitives than there might be", meshed(
        "q[i] = payload.tint * float(payload.count); r[i] = payload.count;", MADE,
        ("SetMeshOutputsEXT(9, 8)", "SetMeshOutputsEXT(9, payload.count)"))),
    named("indices stored twice", meshed(
        "q[i] = payload.tint.zyxw; r[i] = gl_WorkGroupID.x + 2;", MADE,
        (FAN, FAN + "if (i == 3) gl_PrimitiveTriangleIndicesEXT[i] = uvec3(4, 8, 3);"))),
    named("an invocation leaves early", meshed(
        "q[i] = payload.tint; r[i] = payload.count; if (i == 8) return; p[i] = at.xyxy;")),
)  # fmt: skip
CHAINS = WEIGHTS + PATCHES + MESHES
