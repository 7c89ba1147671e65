"""A second link of what the first one made finds nothing: chains for which it once did, each for
one cause. Random ones: tests/random/test_random_chains.py.
"""

from __future__ import annotations

import re

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums, ops
from spvlink.ir import types
from tests.support.chain_hazards import PASS, frag, geom, mesh, tesc, tese, vert
from tests.support.linking import all_insts, builtins, module_of
from tests.support.payload_chains import Case
from tests.support.samples import assemble, compile_glsl, disassemble

Stages = list[tuple[str, str]]

OVERWRITTEN: Stages = [
    vert(
        "layout(location = 0) out vec4 c; layout(location = 1) out vec4 lost;",
        "c = a; lost = b;",
    ),
    tesc(
        """layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 lost[];
layout(location = 0) out vec4 p[];""",
        """p[gl_InvocationID] = lost[gl_InvocationID]; p[gl_InvocationID].yw = vec2(0.5);
p[gl_InvocationID] = c[gl_InvocationID];""",
    ),
    tese(
        "layout(location = 0) in vec4 p[]; layout(location = 0) out vec4 f;",
        "f = p[0] * w.x + p[1] * w.y + p[2] * w.z;",
    ),
    frag("layout(location = 0) in vec4 f;", "color = f;"),
]  # fmt: skip
CAST_TWICE: Stages = [  # floats that cross as integers, beside integers
    vert(
        "layout(location = 0) out vec3 c; layout(location = 1) flat out int n;",
        "c = a.xyz; n = k.x;",
    ),
    tesc(
        """layout(location = 0) in vec3 c[]; layout(location = 1) flat in int n[];
layout(location = 0) out float p[]; layout(location = 1) out ivec3 m[];""",
        """int i = gl_InvocationID; p[gl_InvocationID] = c[i].x;
vec3 three = sin(c[i].xzy * 1.5);
m[gl_InvocationID] = ivec3(int(three.y * 9.0), int(three.z * 5.0), n[i]);""",
    ),
    tese(
        """layout(location = 0) in float p[]; layout(location = 1) in ivec3 m[];
layout(location = 0) out vec4 f;""",
        "f = p[0] * w.x + p[1] * w.y + p[2] * w.z + vec4(m[0] & m[1], 1.0) * w.y;",
    ),
    frag("layout(location = 0) in vec4 f;", "color = f * 0.25;"),
]
DEAD_LANE: Stages = [
    vert(
        "layout(location = 0) out vec3 c; layout(location = 1) out float s;",
        "c = a.xyz; s = b.x;",
    ),
    tesc(
        """layout(location = 0) in vec3 c[]; layout(location = 1) in float s[];
layout(location = 0) out vec4 p[];""",
        """int i = gl_InvocationID, j = (i + 1) % 3;
vec3 three = sin(max(vec3(c[i].y, s[j], 1.0) * c[j].z, 0.0));
p[gl_InvocationID] = vec4(c[i].zxy * three.y, three.z);""",
    ),
    tese(
        "layout(location = 0) in vec4 p[]; layout(location = 0) out vec4 f;",
        "f = p[0] * w.x + p[1] * w.y + p[2] * w.z;",
    ),
    frag("layout(location = 0) in vec4 f;", "color = f;"),
]
TAKEN_APART_LATE: Stages = [
    vert(
        "layout(location = 0) out vec4 c; layout(location = 1) flat out int which;",
        "c = a; which = 1;",
    ),
    tesc(
        """layout(location = 0) in vec4 c[]; layout(location = 1) flat in int which[];
layout(location = 0) patch out float p[2]; layout(location = 2) patch out float q;""",
        "p[0] = c[0].x; p[which[0]] = c[0].y; q = p[0] + c[0].z;",
    ),
    tese(
        """layout(location = 0) patch in float p[2]; layout(location = 2) patch in float q;
layout(location = 0) out vec4 f;""",
        "f = vec4(p[0] * w.x, p[1] * w.y, q * w.z, 1.0);",
    ),
    frag("layout(location = 0) in vec4 f;", "color = f;"),
]
JOINED: Stages = [
    mesh(
        """layout(push_constant) uniform P { vec4 v; } pc;
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
layout(location = 2) out float lost[];""",
        """p[i] = vec4(at, float(i), 1.0);
if (i > 3) { lost[i] = float(i) * 0.5; } else { lost[i] = 1.0; }
q[i] = pc.v;""",
    ),
    frag(
        """layout(push_constant) uniform P { vec4 v; } pc;
layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;""",
        "color = p * q + pc.v;",
    ),
]
READ_BACK_WHOLE: Stages = [
    vert("layout(location = 0) out vec4 c;", "c = a;"),
    tesc(
        """layout(location = 0) in vec4 c[];
layout(push_constant) uniform P { int which; } pc;
layout(location = 2) out Two { mat2 m; } two[]; layout(location = 1, component = 2) out int p[];""",
        """two[gl_InvocationID].m = mat2(c[gl_InvocationID].xyz, 0.25);
barrier();
p[gl_InvocationID] = int(c[0].w * 64.0 * two[(gl_InvocationID + 1) % 3].m[pc.which & 1].y);""",
    ),
    tese(
        """layout(location = 2) in Two { mat2 m; } two[];
layout(location = 1, component = 2) in int p[];
layout(push_constant) uniform P { int which; } pc;
layout(location = 0) out vec4 f; layout(location = 1) out float lost;""",
        "f = vec4(p[0] + p[1] * p[2]) * w.x; lost = two[0].m[pc.which & 1].x;",
    ),
    frag("layout(location = 0) in vec4 f;", "color = f;"),
]
READ_TWICE = Case(
    "a payload that is read twice",
    "vec4 tint; vec4 fade;",
    """if (i == 0u) { payload.tint = scene.colour * float(group);
payload.fade = sin(payload.tint * 0.5) + cos(payload.tint * 0.5); }""",
    "tint = payload.tint * payload.fade;",
).stages()
READ_BACK_CONSTANT = Case(
    "a constant that is read back",
    "uint mask; vec4 tint;",
    """payload.mask = 255u;
memoryBarrierShared(); barrier();
if (i == 0u) payload.tint = vec4(group * 77u & payload.mask & 1023u) * 0.003;""",
    "tint = payload.tint * float(payload.mask) * 0.003;",
).stages()
EMPTY_ARMS: Stages = [
    vert("layout(location = 0) out vec4 c;", "c = a;"),
    tesc(
        """layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p[];
vec4 tinted(float level) {
vec4 tint;
if (level == 1.0) tint = vec4(1.0, 0.0, 0.0, 1.0);
else if (level == c[1].y * 0.4) tint = vec4(0.0, 0.0, 1.0, 1.0);
else if (level == c[1].y) tint = vec4(0.0, 1.0, 0.0, 1.0);
return tint;
}""",
        "p[gl_InvocationID] = tinted(gl_TessLevelOuter[0]);",
    ),
    tese(
        "layout(location = 0) in vec4 p[]; layout(location = 0) out vec4 f;",
        "f = p[0] * w.x + p[1] * w.y + p[2] * w.z;",
    ),
    frag("layout(location = 0) in vec4 f;", "color = f;"),
]
EMPTY_ARMS_BEFORE: Stages = [
    vert(
        """layout(location = 0) out vec4 c; layout(location = 1) flat out float tint;
layout(push_constant) uniform P { float level; } pc;
float tinted(float level) {
float tint;
if (level < 1.0) tint = 0.25; else if (level < 2.0) tint = 0.75;
return tint;
}""",
        "c = a; tint = tinted(pc.level);",
    ),
    frag(
        """layout(location = 0) in vec4 c; layout(location = 1) flat in float tint;
layout(push_constant) uniform P { float level; } pc;""",
        "color = c * tint * pc.level;",
    ),
]
FLOATS_AS_INTEGERS: Stages = [
    vert(
        "layout(location = 0) flat out uint n; layout(location = 1) flat out float x;",
        "n = uint(k.x) * 77u | 0x3f800000u; x = uintBitsToFloat(n) * 0.75 + 0.125;",
    ),
    frag(
        "layout(location = 0) flat in uint n; layout(location = 1) flat in float x;",
        "color = x > 1.0 ? vec4(x) : vec4(float(n & 7u), floor(x), x * 0.5, 1.0);",
    ),
]
FLATTENED: Stages = [
    vert(
        """layout(push_constant) uniform P { vec4 v; } pc; layout(location = 0) out vec4 c;
layout(location = 1) out vec2 u; layout(location = 2) flat out vec2 s;""",
        "c = a; u = pc.v.xy; s = sin(pc.v.xy);",
    ),
    frag(
        """layout(location = 0) in vec4 c;
layout(location = 1) in vec2 u; layout(location = 2) flat in vec2 s;""",
        "color = sin(c.xyzw * c.yzwx) * sin(u).xyxy + sin(s).yyxx;",
    ),
]
CAPTURED_LATE: Stages = [
    vert("layout(location = 0) out vec4 c; layout(location = 1) flat out int n;", "c = a; n = 1;"),
    tesc(
        """layout(location = 0) in vec4 c[]; layout(location = 1) flat in int n[];
layout(location = 0) out vec4 p[]; layout(location = 1) patch out int m;""",
        "p[gl_InvocationID] = c[gl_InvocationID]; m = n[0];",
    ),
    tese(
        """layout(location = 0) in vec4 p[]; layout(location = 1) patch in int m;
layout(location = 0, xfb_buffer = 0, xfb_stride = 12, xfb_offset = 0) out float f[3];""",
        "f[0] = p[0].x; f[m] = p[1].y * w.x; f[2] = f[1] + w.y;",
    ),
]
WORD: Stages = [
    vert(
        """layout(location = 0) out vec2 c; layout(location = 1) flat out uint x;
layout(location = 2) flat out uint y; layout(location = 3) flat out uint z;""",
        "c = a.xy; x = a.w > 0.3 ? 4u : 1u; y = b.x > 0.4 ? 2u : 7u; z = b.w > 0.2 ? 8u : 3u;",
    ),
    geom(
        """layout(location = 0) in vec2 c[]; layout(location = 1) flat in uint x[];
layout(location = 2) flat in uint y[]; layout(location = 3) flat in uint z[];
layout(location = 0) out vec2 p; layout(location = 1) flat out uint u;
layout(location = 2) flat out uint v; layout(location = 3) flat out uint w;""",
        f"""for (int i = 0; i < 3; ++i) {{
p = c[i]; u = x[0]; v = y[0]; w = z[0]; {PASS} }}""",
    ),
    frag(
        """layout(location = 0) in vec2 p; layout(location = 1) flat in uint u;
layout(location = 2) flat in uint v; layout(location = 3) flat in uint w;""",
        "color = vec4(p * float(u), vec2(float(v), float(w)) * p * p.yx);",
    ),
]
GLOBAL: Stages = [
    vert("layout(location = 0) out vec4 c; layout(location = 1) flat out int n;", "c = a; n = 2;"),
    frag(
        """layout(location = 0) in vec4 c; layout(location = 1) flat in int n;
float t[3];""",
        """t[0] = c.x; t[1] = c.y; t[2] = c.z; t[n] = c.w;
if (c.x > 0.5) t[1] = 0.25;
color = vec4(t[0], t[1], t[2], 1.0);""",
    ),
]
UNDEFINED: Stages = [
    vert(
        "layout(location = 0) out vec3 c; layout(location = 1) out float d;",
        "c = a.xyz; vec3 never; d = never.zyx.y;",
    ),
    frag(
        "layout(location = 0) in vec3 c; layout(location = 1) in float d;",
        "color = vec4(c, c.x > 7.0 ? d : 1.0);",
    ),
]
TRIMMED_ARM: Stages = [  # one lane is read, so one constant is left of the arm
    vert(
        "layout(location = 1) out vec4 d;",
        """vec4 t = vec4(0.0, 0.0, 1.0, 0.5);
if (a.x > 0.25) t = vec4(sin(a.y), cos(a.x), exp(a.w), 0.75);
d = t;""",
    ),
    frag("layout(location = 1) in vec4 d;", "color = vec4(d.w, gl_FragCoord.xy * 0.01, 1.0);"),
]
CHEAPEST_BITS: Stages = [  # d, first in the interface, is read often; e is not
    vert(
        "layout(location = 1) flat out uvec2 d; layout(location = 2) flat out uvec3 e;",
        """d = floatBitsToUint(a.xy) & 1023u;
e.z = uint(k.z) * 77u; e.xy = floatBitsToUint(a.zw) & 1023u;""",
    ),
    frag(
        "layout(location = 1) flat in uvec2 d; layout(location = 2) flat in uvec3 e;",
        """uvec2 f = uvec2(gl_FragCoord);
uint s = (e.x ^ f.x) * (e.y ^ f.y) + (e.z | f.x);
switch (s & 7u) {
case 1u: s += d.x * d.y; break;
case 2u: s ^= d.x - d.y; break;
case 3u: s -= d.x | d.y; break;
case 4u: s *= d.x ^ d.y; break;
}
color = vec4(s & 255u) / 255.0;""",
    ),
]
CAUSES = {
    "stores that are overwritten are dead before the end": OVERWRITTEN,
    "a cast of a cast leaves the first one to dead lanes": CAST_TWICE,
    "a vector that is put together leaves its parts to dead lanes": DEAD_LANE,
    "what is taken apart late is read back too": TAKEN_APART_LATE,
    "blocks that became one have one place for stores": JOINED,
    "what stays whole to be read back is not the consumer's": READ_BACK_WHOLE,
    "a value that is read back twice is one": READ_TWICE,
    "a constant that is read back is seen by simplify": READ_BACK_CONSTANT,
    "an arm of several empty blocks is empty": EMPTY_ARMS,
    "and that before anything crosses": EMPTY_ARMS_BEFORE,
    "what is captured is taken apart late too": CAPTURED_LATE,
    "what is placed as flat crosses as flat": FLATTENED,
    "a word of flags crosses the next border too": WORD,
    "a float that travels as an integer may decide a jump": FLOATS_AS_INTEGERS,
    "what is undefined is not written": UNDEFINED,
    "a variable of the module is promoted late too, with no other there": GLOBAL,
    "an arm that only made other lanes goes with these": TRIMMED_ARM,
    "what costs least to unpack is packed first": CHEAPEST_BITS,
}


def twice(codes: list[bytes], complete: bool = False) -> spvlink.Linked:
    """The first link; the second must find nothing, exactly or not, and draw the same."""
    for exact in (False, True):
        options = spvlink.Options(clean=True)
        options.check_each = True
        options.exact = exact
        options.complete = complete
        first = spvlink.link(list(codes), options)
        assert first.defect is None and first.passed_through is None
        new = [stage.data for stage in first.stages]
        again = spvlink.link(list(new), options)
        assert again.passed_through == "nothing to gain", [
            (r.interface, r.name, r.action) for r in again.remarks if r.action != "kept"
        ]
    scene, before = draw_covering(codes)
    assert before.is_good()
    difference = compare(before, draw(new, scene))
    assert not difference, str(difference)
    return first


@pytest.mark.parametrize("stages", CAUSES.values(), ids=[c.replace(" ", "-") for c in CAUSES])
def test_nothing_is_left(stages: Stages) -> None:
    environment = "vulkan1.2" if any(stage == "mesh" for stage, _ in stages) else "vulkan1.1"
    codes = [compile_glsl(text, stage, environment) for stage, text in stages]
    twice(codes, complete=stages[-1][0] != "frag")


def with_line(data: bytes) -> bytes:
    """A module whose first block begins with an OpLine, as spirv-opt's inlining leaves some."""
    text = disassemble(data)
    text = re.sub(r"( *OpSource )", r'%file = OpString "x"\n\1', text, count=1)
    text = re.sub(r"(= OpLabel\n)", r"\1OpLine %file 1 1\n", text, count=1)
    return assemble(text)


def test_a_line_before_the_variables() -> None:
    """An array whose index is known late is promoted all the same."""
    vertex = vert(
        "layout(location = 0) out vec4 c; layout(location = 1) flat out int n;", "c = a; n = 2;"
    )
    fragment = frag(
        "layout(location = 0) in vec4 c; layout(location = 1) flat in int n;",
        """float t[3] = float[3](c.x, c.y, c.z); t[n] = c.w;
if (c.x > 0.5) t[1] = 0.25;
color = vec4(t[0], t[1], t[2], 1.0);""",
    )
    codes = [compile_glsl(text, stage) for stage, text in (vertex, fragment)]
    linked = twice([codes[0], with_line(codes[1])])
    stores = [i for i in all_insts(module_of(linked.stages[1].data)) if i.op == ops.OpStore]
    assert len(stores) == 1


def test_a_load_goes_behind_the_variables() -> None:
    """What keeps a shader at one invocation a sample is a load; a line may stand before all."""
    vertex = vert(
        "layout(location = 0) out vec4 c; layout(location = 1) sample out float s;",
        "c = a; s = 0.5;",
    )
    fragment = frag(
        "layout(location = 0) in vec4 c; layout(location = 1) sample in float s;",
        "float t[4] = float[4](c.x, c.y, c.z, s); color = c * t[int(c.x * 3.0)];",
    )
    codes = [compile_glsl(text, stage) for stage, text in (vertex, fragment)]
    linked = spvlink.link([codes[0], with_line(codes[1])], spvlink.Options(clean=True))
    assert linked.passed_through is None and linked.validated == "validated"
    assert enums.BuiltIn_SampleId in builtins(module_of(linked.stages[1].data))


def test_a_dead_lane_does_not_keep_a_part_of_a_vector() -> None:
    """Its other use became one of the whole vector when that was put together."""
    linked = twice([compile_glsl(text, stage) for stage, text in DEAD_LANE])
    tesc_insts = list(all_insts(module_of(linked.stages[1].data)))
    constructs = [i for i in tesc_insts if i.op == ops.OpCompositeConstruct]
    assert constructs and all(i.args[0].op in types.CONSTANTS for i in constructs)
