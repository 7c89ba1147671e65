"""Chains whose stages call functions that do what a pass must not overlook; for ``test_calls``.

Each family is one pipeline with a hole for a function and one for its call. Whatever stands there,
the rest gives every pass something to do.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.chain_text import frag, geom, mesh, tesc, tese, text, vert

Stages = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Effect:
    """A function of the stage that the family is named after, and a call of it. ``edits``: what
    GLSL has no words for, in the disassembly of that stage."""

    name: str
    family: str
    function: str
    call: str
    edits: tuple[tuple[str, str], ...] = ()
    extension: str = ""


SCENE = "layout(binding = 0) uniform Scene { vec4 tint; ivec4 pick; } scene;\n"
LOOKS = """layout(location = 0) in vec4 wide; layout(location = 1) in vec4 twin;
layout(location = 2) in vec4 steady; layout(location = 3) in vec4 parts[2];
layout(location = 5) flat in ivec4 bits; layout(location = 6) flat in int more;
"""
SUM = """color = wide * 0.25 + twin.wzyx * 0.5 + steady + vec4(parts[0].xy, parts[1].x, 1.0) * 0.2
    + vec4(bits + more) * 0.05 + scene.tint * 0.125;
"""
OUTPUTS = """layout(location = 0) out vec4 wide; layout(location = 1) out vec4 twin;
layout(location = 2) out vec4 steady; layout(location = 3) out vec4 parts[2];
layout(location = 5) flat out ivec4 bits; layout(location = 6) flat out int more;
layout(location = 7) out vec4 unread;
"""
STORES = """wide = {a}; twin = {a}; unread = {a}; steady = vec4(0.25) * {tint};
parts[{at} & 1] = {b}; parts[1 - ({at} & 1)] = {b} * {b};
bits = {k} & 1; more = {k}.x >> 1 & 1;
"""
AT = "#define at gl_InvocationID\n"
HAND = "layout(location = 0) out vec4 va; layout(location = 1) out vec4 vb;\n"
HAND_FLAT = HAND + "layout(location = 2) flat out ivec4 vk;\n"
TAKE = "layout(location = 0) in vec4 va[]; layout(location = 1) in vec4 vb[];\n"
TAKE_FLAT = TAKE + "layout(location = 2) flat in ivec4 vk[];\n"


def vertex(effect: Effect) -> Stages:
    body = STORES.format(a="a", b="b", k="k", tint="scene.tint", at="scene.pick.x")
    return (
        vert(OUTPUTS + SCENE + effect.function, body + effect.call),
        frag(LOOKS + SCENE, SUM),
    )


def fragment(effect: Effect) -> Stages:
    """The vertex shader does not use the block: what it reads must be bound for fragments alone."""
    body = STORES.format(a="a", b="b", k="k", tint="0.5", at="k.x")
    main = f"float x = wide.x * 2.0 + wide.y;\n{effect.call}\n{SUM}"
    main += "color += vec4(x) * 0.125 + steady * scene.tint * 0.5;"
    declared = f"{effect.extension}\nlayout(location = 0) out vec4 color;\n{LOOKS}{SCENE}"
    return vert(OUTPUTS, body), text("frag", declared + effect.function, main)


def geometry(effect: Effect) -> Stages:
    body = STORES.format(a="va[i]", b="vb[i]", k="vk[i]", tint="scene.tint", at="scene.pick.x")
    loop = f"gl_Position = gl_in[i].gl_Position;\n{body}{effect.call}"
    return (
        vert(HAND_FLAT, "va = a; vb = b * 0.5; vk = k;"),
        geom(
            TAKE_FLAT + OUTPUTS + SCENE + effect.function,
            f"for (int i = 0; i < 3; ++i) {{\n{loop}\n}}\nEndPrimitive();",
        ),
        frag(LOOKS + SCENE, SUM),
    )


def control(effect: Effect) -> Stages:
    across = """layout(location = 0) {0} vec4 own[]; layout(location = 1) {0} vec4 twin[];
layout(location = 2) patch {0} vec4 all; layout(location = 3) {0} vec4 steady[];
layout(location = 4) {0} vec4 parts[][2]; layout(location = 6) patch {0} vec4 one;
layout(location = 7) {0} vec4 x[]; layout(location = 8) {0} vec4 y[];
"""
    stores = """own[at] = va[at]; twin[at] = va[at]; steady[at] = vec4(0.25);
x[at] = va[at].yxzw; y[at] = vb[at].yxzw; parts[at][0] = vb[at]; parts[at][1] = own[at] * vb[at];
if (at == 0) { all = va[1]; one = vb[0]; }
"""
    mix = """vec4 sum = own[0] * w.x + own[1] * w.y + own[2] * w.z;
c = sum * 0.5 + twin[1].wzyx * 0.25 + all * 0.25 + steady[0] + one * 0.125 + parts[0][0] * 0.1
    + parts[0][1] * 0.2 + parts[1][1] * 0.2 + parts[2][1] * 0.2;
d = x[0] * w.x + x[1] * w.y + x[2] * w.z + (y[0] * w.x + y[1] * w.y + y[2] * w.z);
"""
    return (
        vert(HAND, "va = a; vb = b * 0.5;"),
        tesc(AT + TAKE + across.replace("{0}", "out") + effect.function, stores + effect.call),
        tese(
            across.replace("{0}", "in")
            + "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;",
            mix,
        ),
        frag("layout(location = 0) in vec4 c; layout(location = 1) in vec4 d;", "color = c + d;"),
    )


def evaluation(effect: Effect) -> Stages:
    body = STORES.format(a="sum", b="other", k="ek[0]", tint="scene.tint", at="scene.pick.x")
    arrays = """layout(location = 0) {0} vec4 {1}a[]; layout(location = 1) {0} vec4 {1}b[];
layout(location = 2) {0} ivec4 {1}k[]; layout(location = 3) {0} vec4 {1}x[];
"""
    into, out = arrays.replace("{0}", "in"), arrays.replace("{0}", "out").replace("{1}", "e")
    mix = """vec4 sum = ea[0] * w.x + ea[1] * w.y + ea[2] * w.z;
vec4 other = eb[0] * w.x + eb[1] * w.y + eb[2] * w.z
    + (ex[0] * w.x + ex[1] * w.y + ex[2] * w.z);
"""
    copy = "ea[at] = va[at]; eb[at] = vb[at]; ek[at] = vk[at]; ex[at] = vb[at].yxwz * va[at];"
    return (
        vert(HAND_FLAT, "va = a; vb = b * 0.5; vk = k;"),
        tesc(AT + TAKE_FLAT + out, copy),
        tese(
            into.replace("{1}", "e") + OUTPUTS + SCENE + effect.function, mix + body + effect.call
        ),
        frag(LOOKS + SCENE, SUM),
    )


def meshes(effect: Effect) -> Stages:
    across = """layout(location = 0) {0} vec4 wide{1}; layout(location = 1) {0} vec4 twin{1};
layout(location = 2) {0} vec4 steady{1}; layout(location = 3) flat {0} ivec4 bits{1};
layout(location = 4) {0} vec4 same{1};
"""
    stores = """wide[i] = vec4(at, 0.25, float(i)); twin[i] = wide_of(i); bits[i] = ivec4(i & 1u);
steady[i] = vec4(0.25); same[i] = vec4(float(gl_WorkGroupID.x) + scene.tint.x);
"""
    stores = stores.replace("wide_of(i)", "vec4(at, 0.25, float(i))")
    return (
        mesh(
            across.replace("{0}", "out").replace("{1}", "[]") + SCENE + effect.function,
            stores + effect.call,
        ),
        frag(
            across.replace("{0}", "in").replace("{1}", "") + SCENE,
            "color = wide * 0.25 + twin.wzyx * 0.25 + steady + vec4(bits) * 0.1 + same * 0.1;",
        ),
    )


FAMILIES = {
    "vert": vertex, "frag": fragment, "geom": geometry, "tesc": control, "tese": evaluation,
    "mesh": meshes,
}  # fmt: skip
BARRIER = (("OpMemoryBarrier %\\w+ %\\w+", "OpControlBarrier %wait_2 %wait_4 %wait_0"),)
CONSTANTS = (("(%uint = OpTypeInt 32 0)", r"\1" + "".join(
    f"\n%wait_{n} = OpConstant %uint {n}" for n in (0, 2, 4))),)  # fmt: skip

WAITED = "go(); parts[at][1] += all * 0.25;"

EFFECTS = (
    Effect("stores an output", "vert", "void go() { twin = b; }", "go();"),
    Effect("reads an output", "vert", "void go() { twin = wide.yxwz; }", "go();"),
    Effect("stores the position", "vert",
           "void go(vec3 p) { gl_Position = vec4(p.yx, 0.5, 1.0); }",
           "go(position + wide.xyz * 0.1);"),
    Effect("stores a global", "vert", "float g;\nvoid go() { g = b.x; }",
           "g = 1.0; go(); twin = vec4(g);"),
    Effect("reads a global", "vert", "float g = 1.0;\nvoid go() { twin = vec4(g); }",
           "g = b.x; go(); g = 3.0;"),
    Effect("stores by pointer", "vert", "void go(inout vec4 x) { x = x * 2.0 + b; }",
           "vec4 x = a; go(x); twin = x;"),
    Effect("calls what stores", "vert",
           "void in_(int n) { parts[n & 1] = b.yxwz; }\nvoid go() { in_(1); }",
           "go();"),
    Effect("returns early", "vert", "vec4 go() { if (a.x > 0.3) return b;"
           " for (int i = 0; i < k.x; ++i) if (b.x > 0.5) return a; return a * b; }",
           "twin = go();"),
    Effect("nothing", "frag", "float go(float x) { return x * 0.5; }", "x = go(x);"),
    Effect("kills", "frag", "void go(float x) { if (x < 0.5) discard; }", "go(x);"),
    Effect("terminates", "frag", "void go(float x) { if (x < 0.5) discard; }", "go(x);",
           (("OpKill", "OpTerminateInvocation"), ("OpCapability Shader", "OpCapability Shader\n"
            'OpExtension "SPV_KHR_terminate_invocation"'))),
    Effect("demotes", "frag", "void go(float x) { if (x < 0.5) demote; }", "go(x); x += dFdx(x);",
           (), "#extension GL_EXT_demote_to_helper_invocation : require"),
    Effect("calls what kills", "frag",
           "void in_(float x) { if (x < 0.5) discard; }\nvoid go(float x) { in_(x); }", "go(x);"),
    Effect("asks the subgroup", "frag",
           "float go(float x) { return subgroupAny(x > 0.5) ? x : 0.25; }",
           "x = go(x);", (), "#extension GL_KHR_shader_subgroup_vote : require"),
    Effect("takes derivatives", "frag", "float go(float x) { return dFdx(x) * 8.0 + x; }",
           "x = go(x);"),
    Effect("writes memory", "frag",
           "layout(binding = 1) buffer Log { uint n; } log_;\nvoid go() { atomicAdd(log_.n, 1u); }",
           "go();"),
    Effect("reads an input", "frag", "vec4 go() { return twin * 0.5; }", "x += go().x;"),
    Effect("jumps", "frag", "float go(float x) { return floor(x * 3.0); }", "x = go(x);"),
    Effect("emits", "geom", "void go() { EmitVertex(); }", "go();"),
    Effect("emits what meets", "geom", "void go() { EmitVertex(); }",
           "if (i == 1) { wide = vb[i]; } else { wide = va[i].yxwz; } go();"),
    Effect("calls what emits", "geom", "void in_() { EmitVertex(); }\nvoid go() { in_(); }",
           "go();"),
    Effect("may emit", "geom", "void go(bool b) { if (b) EmitVertex(); }", "go(i != 4);"),
    Effect("stores and emits", "geom", "void go() { twin *= 0.5; EmitVertex(); }", "go();"),
    Effect("ends the primitive", "geom", "void go() { EndPrimitive(); }",
           "EmitVertex(); if (i == 2) go();"),
    Effect("waits", "tesc", "void go() { memoryBarrierBuffer(); }", WAITED, BARRIER + CONSTANTS),
    Effect("calls what waits", "tesc",
           "void in_() { memoryBarrierBuffer(); }\nvoid go() { in_(); "
           "}", WAITED, BARRIER + CONSTANTS),
    Effect("stores what others see", "tesc", "void go(int n) { all = va[n] * 0.5; }",
           "if (at == 0) go(2);"),
    Effect("reads what others stored", "tesc", "vec4 go() { return own[gl_InvocationID]; }",
           "twin[at] = go() * 0.5;"),
    Effect("stores the position", "tese", "void go(vec4 p) { gl_Position = p; }",
           "go(vec4(sum.xy * 0.5, gl_Position.zw) + gl_Position * 0.5);"),
    Effect("stores an output", "tese", "void go(vec4 p) { twin = p; }", "go(sum * other);"),
    Effect("stores an output", "mesh", "void go(uint i) { twin[i] = vec4(float(i) * 0.1); }",
           "go(i);"),
    Effect("stores indices", "mesh",
           "void go(uint i) { if (i < 8)"
           " gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, 8, (i + 1) % 8); }",
           "go(i);"),
)  # fmt: skip


def stages_of(effect: Effect) -> Stages:
    return FAMILIES[effect.family](effect)
