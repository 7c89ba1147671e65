"""Task shaders, their payloads and mesh shaders that a careless linker gets wrong, as GLSL;
test_payload.py links and draws them.

A case is the payload's members, the body of the task shader (four invocations; ``i`` is the
invocation, ``group`` the work group), and what the mesh shader makes of the payload: ``tint``, its
vec4 for all three vertices of a triangle, whose place comes from ``payload.group``.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """#version 450
#extension GL_EXT_mesh_shader : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(set = 0, binding = 0) uniform Scene { vec4 colour; vec4 other; float scale; } scene;
"""
TASK = """layout(local_size_x = 4) in;
{types}
taskPayloadSharedEXT struct {{ uint group; {members} }} payload;
shared uint counted;
{functions}
void main() {{
    uint i = gl_LocalInvocationIndex;
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * 4u;
    if (i == 0u) payload.group = group;
    {body}
    EmitMeshTasksEXT({count}, 1, 1);
}}
"""
MESH = """layout(local_size_x = 3) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
{types}
taskPayloadSharedEXT struct {{ uint group; {members} }} payload;
layout(location = 0) out vec4 colour[];
layout(location = 1) out vec4 more[];
void main() {{
    uint i = gl_LocalInvocationIndex;
    SetMeshOutputsEXT(3, 1);
    vec2 cell = vec2(payload.group & 3u, payload.group >> 2u) * 0.5 - 1.0;
    cell += float(gl_WorkGroupID.x) * 0.02;
    vec2 corner = vec2(i & 1u, i >> 1u) * 0.45;
    gl_MeshVerticesEXT[i].gl_Position = vec4(cell + corner, 0.5, 1.0);
    vec4 tint = vec4(0.0), spare = vec4(0.0);
    {reads}
    colour[i] = tint + vec4(corner, 0.0, 1.0);
    more[i] = spare;
    if (i == 0u) gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
}}
"""
FRAG = """#version 450
layout(location = 0) in vec4 colour;
layout(location = 1) in vec4 more;
layout(location = 0) out vec4 target;
layout(location = 1) out uvec4 bits;
void main() { target = colour; bits = floatBitsToUint(colour); }
"""
BARRIER = "memoryBarrierShared(); barrier();"


@dataclass(frozen=True)
class Case:
    """``gone``: members that the payload must not have any more; ``kept``: members that must be in
    it still."""

    name: str
    members: str
    body: str
    reads: str
    gone: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    types: str = ""
    functions: str = ""
    count: str = "2"

    def stages(self) -> list[tuple[str, str]]:
        words = dict(vars(self))
        task, mesh = TASK.format(**words), MESH.format(**words)
        return [("task", HEAD + task), ("mesh", HEAD + mesh), ("frag", FRAG)]


CASES = (
    Case(
        "what nobody reads goes with its code",
        "vec4 unread; vec4 tint;",
        "payload.unread = sin(scene.colour * float(i)); payload.tint = vec4(group) * 0.05;",
        "tint = payload.tint;",
        gone=("unread",),
        kept=("tint",),
    ),
    Case(
        "a death behind the mesh shader",
        "vec4 tint; vec4 spare;",
        "payload.tint = vec4(group) * 0.05; payload.spare = cos(vec4(group));",
        "tint = payload.tint; spare = payload.spare * 2.0;",
        gone=("spare",),
        kept=("tint",),
    ),
    Case(
        "a constant that one invocation stores",
        "vec4 tint; float fade;",
        "payload.tint = vec4(group) * 0.05; if (i == 3u) payload.fade = 0.375;",
        "tint = payload.tint * payload.fade;",
        gone=("fade",),
        kept=("tint",),
    ),
    Case(
        "one of two constants",
        "float fade; vec4 tint;",
        """if (i == 0u) { if ((group & 1u) == 0u) payload.fade = 0.375; else payload.fade = 0.75;
payload.tint = vec4(group) * 0.05; }""",
        "tint = payload.tint + payload.fade;",
        kept=("tint",),
    ),
    Case(
        "a constant before, another value later",
        "float fade; float b;",
        f"""payload.fade = 0.375; payload.b = 0.375; {BARRIER}
if (i == 2u && (group & 1u) != 0u) payload.fade = float(group) * 0.125;""",
        "tint = vec4(payload.fade, payload.b, 0.0, 0.0);",
        gone=("b",),
        kept=("fade",),
    ),
    Case(
        "read back by the neighbour",
        "float mine[4]; float sum;",
        f"""payload.mine[i] = float(i * group) * 0.125; {BARRIER}
if (i == 1u) payload.sum = payload.mine[3] + payload.mine[2];""",
        "tint = vec4(payload.sum);",
        kept=("sum",),
    ),
    Case(
        "read back by the neighbour, scalars",
        "float first; float sum;",
        f"""if (i == 2u) payload.first = float(i * group) * 0.125; {BARRIER}
if (i == 1u) payload.sum = payload.first + 0.5;""",
        "tint = vec4(payload.sum);",
        kept=("sum", "first"),
    ),
    Case(
        "written again after it was read back",
        "float first; float sum;",
        f"""if (i == 2u) payload.first = float(group) * 0.125; {BARRIER}
float held = payload.first; {BARRIER}
if (i == 1u) {{ payload.first = held * 0.5; }} {BARRIER}
if (i == 3u) payload.sum = payload.first + held;""",
        "tint = vec4(payload.sum, payload.first, 0.0, 0.0);",
        kept=("sum", "first"),
    ),
    Case(
        "a constant read back",
        "uint many; uint unread; float fade;",
        f"""if (i == 0u) payload.many = 2u; {BARRIER}
if (i == 1u) payload.fade = float(payload.many + group) * 0.0625;""",
        "tint = vec4(payload.fade, float(payload.many), 0.0, 0.0);",
        gone=("many", "unread"),
        kept=("fade",),
        count="payload.many",
    ),
    Case(
        "the same value, by one invocation each",
        "float a; float b;",
        """float x = float(i + group) * 0.125;
if (i == 1u) payload.a = x;
if (i == 2u) payload.b = x;""",
        "tint = vec4(payload.a, payload.b, 0.0, 0.0);",
        kept=("a", "b"),
    ),
    Case(
        "the same value twice in one place",
        "float a; float b;",
        "if (i == 1u) { float x = float(i + group) * 0.125; payload.a = x; payload.b = x; }",
        "tint = vec4(payload.a, payload.b, payload.b - payload.a, 0.0);",
        kept=("a",),
        gone=("b",),
    ),
    Case(
        "a sum of what two invocations store",
        "float a; float b;",
        """float x = float(i + group) * 0.125;
if (i == 1u) payload.a = x;
if (i == 2u) payload.b = sqrt(x);""",
        "tint = vec4(sqrt(payload.a * 3.0 + payload.b));",
        kept=("a", "b"),
    ),
    Case(
        "stores in a loop over the invocations",
        "float a; float b; float c;",
        f"""for (uint k = 0u; k < 4u; ++k) {{
if (i == k) {{ payload.a = float(k + group); payload.b = payload.a + float(i); }}
if (i == 3u - k) payload.c = float(i) * 0.25;
{BARRIER} }}""",
        "tint = vec4(payload.a, payload.b, payload.c, 0.0) * 0.125;",
        kept=("a", "b", "c"),
    ),
    Case(
        "an array that the mesh shader indexes",
        "vec4 tints[4]; vec4 dead[4];",
        "payload.tints[i] = vec4(i) * 0.25; payload.dead[3u - i] = vec4(group);",
        "tint = payload.tints[(gl_WorkGroupID.x + payload.group) & 3u];",
        gone=("dead",),
        kept=("tints",),
    ),
    Case(
        "an array that only the task shader indexes",
        "float steps[4]; uint kinds[2];",
        "payload.steps[i] = float(i + group) * 0.125; payload.kinds = uint[](7u, group);",
        "tint = vec4(payload.steps[0], payload.steps[3], payload.kinds[0], payload.kinds[1]);",
        kept=("steps",),
    ),
    Case(
        "whole structs",
        "Lamp lamp; Lamp twin;",
        """Lamp made = Lamp(vec3(group) * 0.0625, 0.5, mat2(scene.scale, 1.0, 2.0, float(group)));
payload.lamp = made; made.power = float(group); payload.twin = made;""",
        """Lamp lamp = payload.lamp; Lamp twin = payload.twin;
tint = vec4(lamp.at.xz, twin.power, 0.0) + vec4(twin.turn[1], lamp.turn[0]) * lamp.power;""",
        types="struct Lamp { vec3 at; float power; mat2 turn; };",
    ),
    Case(
        "half of a vector",
        "vec4 half_read; dvec3 wide; mat3 turn;",
        """payload.half_read = vec4(group, sin(float(group)), 0.5, exp2(float(group)));
payload.wide = dvec3(group, 2.0, 1.0LF / double(group + 1u));
payload.turn = mat3(group, 0, 0, 0, 1, 0, 0, 0, group);""",
        """tint = vec4(payload.half_read.xz, float(payload.wide.z), 0.0) * 0.125;
tint.w = (payload.turn * vec3(1.0)).z + float(payload.wide.y);""",
        kept=("half_read",),
    ),
    Case(
        "booleans, bytes and halves",
        "bool lit; bool marks[4]; int8_t small; int16_t middle; uint16_t unread; f16vec3 soft;",
        """payload.marks[i] = (i & 1u) != 0u;
if (i == 0u) { payload.lit = (group & 1u) != 0u; payload.small = int8_t(-3);
payload.middle = int16_t(group) - int16_t(2); payload.unread = uint16_t(9);
payload.soft = f16vec3(group, 0.5, 1.0); }""",
        """tint = payload.lit ? vec4(1.0, 0.5, 0.25, 1.0) : vec4(0.125);
if (payload.marks[payload.group & 3u]) tint.x += 0.5;
tint.y += float(payload.small) + float(payload.middle);
tint.z += float(payload.soft.x + payload.soft.z);""",
        gone=("unread",),
        kept=("lit", "marks", "small"),
    ),
    Case(
        "uniform values",
        "vec4 tint; float scale;",
        "payload.tint = scene.colour * 0.5; payload.scale = scene.scale;",
        "tint = payload.tint * payload.scale + scene.other * 0.0625;",
        gone=("tint", "scale"),
    ),
    Case(
        "one of two ways to emit",
        "float fade; float unread;",
        """if ((group & 1u) == 0u) {
payload.fade = 0.375; payload.unread = 1.0; EmitMeshTasksEXT(1, 1, 1); }
payload.fade = float(group) * 0.125;""",
        "tint = vec4(payload.fade);",
        kept=("fade",),
    ),
    Case(
        "through functions",
        "float fade; vec4 tint;",
        "put(float(group) * 0.125); if (i == 0u) payload.tint = twice(payload.fade * 0.0 + 1.0);",
        "tint = payload.tint * payload.fade;",
        functions="""void put(float x) { payload.fade = x; if (x > 100.0) return; counted = 1u; }
vec4 twice(float x) { return vec4(x) * 2.0; }""",
    ),
    Case(
        "what the mesh shader could have had made",
        "float a; float b; float c;",
        """if (i == 2u) { payload.a = float(group) * 0.125; payload.b = float(group & 3u);
payload.c = 1.0 / (1.0 + float(group)); }""",
        "tint = vec4(pow(payload.a + 1.0, payload.b) * exp(payload.c) + sin(payload.a));",
    ),
    Case(
        "structs in an array, half of them read",
        "Rock rocks[4]; Rock held[4];",
        """Rock rock = Rock(vec3(i, group, 1.0), sin(vec4(group)), float(i), 7u);
payload.rocks[i] = rock; payload.held[3u - i].at = rock.at; payload.held[3u - i].size = 0.5;
payload.held[3u - i].debug = rock.debug; payload.held[3u - i].kind = group + i;""",
        """Rock rock = payload.rocks[(gl_WorkGroupID.x + payload.group) & 3u];
uint n = payload.group & 3u;
tint = vec4(rock.at * rock.size, float(payload.held[n].kind) + payload.held[n ^ 1u].at.y) * 0.1;""",
        kept=("rocks", "held"),
        types="struct Rock { vec3 at; vec4 debug; float size; uint kind; };",
    ),
    Case(
        "a struct in an array that is read whole in a loop",
        "Rock rocks[4];",
        """payload.rocks[i] = Rock(vec3(i, group, 1.0), cos(vec4(group)), float(i), group);
memoryBarrierShared(); barrier();
if (i == 2u) payload.rocks[0].kind = payload.rocks[3].kind + uint(payload.rocks[1].at.x);""",
        """Rock rock = payload.rocks[0];
for (uint n = 0u; n < 1u + (payload.group & 3u); ++n) {
tint += vec4(rock.at, float(rock.kind)) * 0.0625; rock = payload.rocks[n]; }""",
        kept=("rocks",),
        types="struct Rock { vec3 at; vec4 debug; float size; uint kind; };",
    ),
    Case(
        "never written",
        "vec4 tint; float fade;",
        "payload.tint = vec4(group) * 0.05; if (group > 1000u) payload.fade = 0.0;",
        "tint = payload.tint + payload.fade * 0.0;",
        gone=("fade",),
        kept=("tint",),
    ),
    Case(
        "written one component at a time",
        "vec4 tint;",
        """if (i == 0u) payload.tint.x = float(group); if (i == 1u) payload.tint.y = 0.5;
if (i == 2u) payload.tint.z = float(group) * 0.25; payload.tint.w = 1.0;""",
        "tint = payload.tint * 0.125;",
        kept=("tint",),
    ),
    Case(
        "a component with a dynamic index",
        "vec4 tint; vec4 other;",
        "payload.tint[i] = float(group + i) * 0.125; payload.other[i & 3u] = 1.0;",
        "tint = payload.tint + vec4(payload.tint[payload.group & 3u]);",
        kept=("tint",),
        gone=("other",),
    ),
    Case(
        "a switch with a return in each arm, and a fall through",
        "float size; float spare;",
        "float s = scene.scale; f(s, group); payload.size = s;",
        "tint = vec4(payload.size);",
        gone=("spare",),
        functions="""void f(inout float s, uint n) { switch (n & 3u) {
default: s *= 0.5; case 0: return; case 1: s = s * s; return; } }""",
    ),
)
