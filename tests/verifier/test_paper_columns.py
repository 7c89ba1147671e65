"""Proof on paper of stages that write for many vertices: each base is equal to itself, changes that
keep the picture are proved or unknown, and no planted mistake is ever called equal.

The interpreter judges the same plants where it can see them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL, UNEQUAL
from tests.support import chain_breakage as chains
from tests.support.samples import compile_glsl, edited

VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec2 v_uv;
void main() {
    v_uv = uv;
    gl_Position = vec4(position, 1.0);
}
"""
CONTROL = """#version 450
layout(vertices = 3) out;
layout(set = 0, binding = 0) uniform U { vec4 tint; float level; };
layout(location = 0) in vec2 v_uv[];
layout(location = 0) out vec2 c_uv[];
layout(location = 1) out float c_next[];
layout(location = 2) patch out vec4 p_tint;
layout(location = 3) patch out float p_last;
void main() {
    c_uv[gl_InvocationID] = v_uv[gl_InvocationID];
    if (gl_InvocationID == 0) {
        p_tint = tint;
        gl_TessLevelOuter[0] = 2.0;
        gl_TessLevelOuter[1] = level;
        gl_TessLevelOuter[2] = 4.0;
        gl_TessLevelInner[0] = 3.0;
    }
    barrier();
    c_next[gl_InvocationID] = c_uv[(gl_InvocationID + 1) % 3].x;
    if (gl_InvocationID == 0)
        p_last = c_uv[2].y;
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
}
"""
EVALUATION = """#version 450
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec2 c_uv[];
layout(location = 1) in float c_next[];
layout(location = 2) patch in vec4 p_tint;
layout(location = 3) patch in float p_last;
layout(location = 0) out vec4 e_colour;
void main() {
    vec3 t = gl_TessCoord;
    e_colour = vec4(c_uv[0] * t.x + c_uv[1] * t.y, c_next[2] * p_last, 1.0) + p_tint;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
                + gl_in[2].gl_Position * t.z;
}
"""
GEOMETRY = """#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 6) out;
layout(location = 0) in vec2 v_uv[];
layout(location = 0) out vec4 e_colour;
void main() {
    for (int i = 0; i < 3; i++) {
        e_colour = vec4(v_uv[i], 0.0, 1.0);
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
    EndPrimitive();
    if (v_uv[0].x > 0.25) {
        for (int i = 0; i < 3; i++) {
            e_colour = vec4(v_uv[i], 1.0, 1.0);
            gl_Position = gl_in[i].gl_Position + vec4(0.1, 0.1, 0.0, 0.0);
            EmitVertex();
        }
        EndPrimitive();
    }
}
"""
STREAMS = """#version 450
layout(points) in;
layout(points, max_vertices = 4) out;
layout(location = 0) in vec2 v_uv[];
layout(location = 0, stream = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 8) out vec2 first;
layout(location = 1, stream = 1, xfb_buffer = 1, xfb_offset = 0, xfb_stride = 8) out vec2 second;
void main() {
    first = v_uv[0];
    EmitStreamVertex(0);
    second = v_uv[0] * 2.0;
    EmitStreamVertex(1);
}
"""
MESH = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 4) in;
layout(triangles, max_vertices = 4, max_primitives = 2) out;
layout(set = 0, binding = 0) uniform U { vec4 tint; float level; };
layout(location = 0) out vec4 e_colour[];
layout(location = 1) perprimitiveEXT out vec4 m_tint[];
void main() {
    uint i = gl_LocalInvocationIndex;
    SetMeshOutputsEXT(4, 2);
    gl_MeshVerticesEXT[i].gl_Position = vec4(float(i & 1u), float(i >> 1), 0.5, 1.0);
    e_colour[i] = vec4(float(i) * 0.25, level, 0.0, 1.0);
    if (i < 2u) {
        m_tint[i] = tint * float(i + 1u);
        gl_PrimitiveTriangleIndicesEXT[i] = uvec3(0, 1, 2) + i;
    }
}
"""
TASK = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 2) in;
layout(set = 0, binding = 0) uniform U { vec4 tint; float level; };
struct Payload { vec2 each[2]; float constant; vec4 tint; uint group; };
taskPayloadSharedEXT Payload payload;
void main() {
    uint i = gl_LocalInvocationIndex;
    payload.each[i] = vec2(float(i), level);
    if (i == 0u) {
        payload.constant = 0.25;
        payload.tint = tint;
    }
    payload.group = gl_WorkGroupID.x;
    barrier();
    EmitMeshTasksEXT(2, 1, 1);
}
"""
TASK_MESH = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 3) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
struct Payload { vec2 each[2]; float constant; vec4 tint; uint group; };
taskPayloadSharedEXT Payload payload;
layout(location = 0) out vec4 e_colour[];
void main() {
    uint i = gl_LocalInvocationIndex;
    SetMeshOutputsEXT(3, 1);
    gl_MeshVerticesEXT[i].gl_Position = vec4(float(i & 1u), float(i >> 1), 0.5, 1.0);
    e_colour[i] = payload.tint * payload.constant + vec4(payload.each[i & 1u], 0.0, 1.0);
    e_colour[i].z += float(payload.group + gl_WorkGroupID.x);
    gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
}
"""
FRAGMENT = """#version 450
layout(location = 0) in vec4 e_colour;
layout(location = 0) out vec4 colour;
void main() { colour = e_colour; }
"""
MESH_FRAGMENT = """#version 450
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 e_colour;
layout(location = 1) perprimitiveEXT in vec4 m_tint;
layout(location = 0) out vec4 colour;
void main() { colour = e_colour + m_tint; }
"""
# Only the first invocation sees what the others wrote.
ONE_LOOKS = CONTROL.replace(
    "    c_next[gl_InvocationID] = c_uv[(gl_InvocationID + 1) % 3].x;\n",
    "    c_next[gl_InvocationID] = level;\n",
).replace("p_tint = tint;", "if (level > 1.0) p_tint = tint;")
LOOKED = EVALUATION.replace(
    "vec4(c_uv[0] * t.x + c_uv[1] * t.y, c_next[2] * p_last, 1.0) + p_tint",
    "(p_last > 0.5 ? p_tint : tint) + p_last",
).replace("in;\n", "in;\nlayout(set = 0, binding = 0) uniform U { vec4 tint; float level; };\n", 1)
# What an invocation has for itself besides its index.
LANES = CONTROL.replace(
    "#version 450\n", "#version 450\n#extension GL_KHR_shader_subgroup_basic : require\n"
).replace("c_uv[(gl_InvocationID + 1) % 3].x", "float(gl_SubgroupInvocationID)")
# Invocations that nobody knows write a value of the patch, all of them the same one.
SOME = CONTROL.replace("        p_tint = tint;\n", "").replace(
    "    gl_out[gl_InvocationID].gl",
    "    if (gl_InvocationID < int(tint.x)) p_tint = level > 1.0 ? tint : tint.wzyx;\n"
    "    c_next[gl_InvocationID] += level > 1.0 ? 0.5 : 1.0;\n"
    "    gl_out[gl_InvocationID].gl",
)
TINTED = EVALUATION.replace(
    "in;\n", "in;\nlayout(set = 0, binding = 0) uniform U { vec4 tint; float level; };\n", 1
)
CAPTURED = STREAMS.replace("first = v_uv[0];", "first = v_uv[0].x > 0.5 ? v_uv[0] : vec2(0.25);")
PICKED = CONTROL.replace("c_uv[2].y", "c_uv[2][int(level) & 1]")
EARLY = CONTROL.replace(
    "= v_uv[gl_InvocationID];", "= level > 9.0 ? c_uv[gl_InvocationID] : v_uv[gl_InvocationID];", 1
)
BASES = {
    "early": {"vert": VERT, "tesc": EARLY, "tese": EVALUATION, "frag": FRAGMENT},
    "picked": {"vert": VERT, "tesc": PICKED, "tese": EVALUATION, "frag": FRAGMENT},
    "some": {"vert": VERT, "tesc": SOME, "tese": TINTED, "frag": FRAGMENT},
    "captured": {"vert": VERT, "geom": CAPTURED},
    "lanes": {"vert": VERT, "tesc": LANES, "tese": EVALUATION, "frag": FRAGMENT},
    "one looks": {"vert": VERT, "tesc": ONE_LOOKS, "tese": LOOKED, "frag": FRAGMENT},
    "tessellation": {"vert": VERT, "tesc": CONTROL, "tese": EVALUATION, "frag": FRAGMENT},
    "geometry": {"vert": VERT, "geom": GEOMETRY, "frag": FRAGMENT},
    "streams": {"vert": VERT, "geom": STREAMS},
    "mesh": {"mesh": MESH, "frag": MESH_FRAGMENT},
    "payload": {"task": TASK, "mesh": TASK_MESH, "frag": FRAGMENT},
    "open": {"vert": VERT},
}


@dataclass(frozen=True)
class Plant:
    """Texts that are replaced, each once, in one stage. ``executed``: what the interpreter says, if
    it can see it; ``back``: whether it is a mistake the other way round, too."""

    name: str
    base: str
    stage: str
    edits: tuple[tuple[str, str], ...]
    executed: str = UNEQUAL
    back: bool = True


def plant(
    name: str, base: str, stage: str, *edits: tuple[str, str], executed: str = UNEQUAL,
    back: bool = True,
) -> Plant:  # fmt: skip
    return Plant(name, base, stage, edits, executed, back)


WRONG = [
    plant("another value than one of nothing", "early", "tesc",
          ("c_uv[gl_InvocationID] : v_uv[gl_InvocationID]", "v_uv[0] : v_uv[1]"), executed="",
          back=False),
    plant("another component is picked", "picked", "tesc",
          ("[int(level) & 1]", "[~int(level) & 1]"), executed=""),
    plant("another value than some invocations write", "some", "tese",
          ("+ p_tint", "+ (level > 2.0 ? tint : tint.wzyx)"), executed=""),
    plant("another value than is read back", "some", "tesc",
          ("+= level > 1.0 ? 0.5 : 1.0;", "+= level > 1.0 ? 1.0 : 0.5;")),
    plant("other bits are captured", "captured", "geom", ("out vec2 first", "out ivec2 first"),
          ("first = v_uv[0].x > 0.5 ? v_uv[0] : vec2(0.25);",
           "first = floatBitsToInt(v_uv[0].x > 0.5 ? v_uv[0] : vec2(0.5));"), executed=""),
    plant("another vertex is read", "tessellation", "tese", ("c_next[2]", "c_next[1]")),
    plant("another vertex is copied", "tessellation", "tesc",
          ("= v_uv[gl_InvocationID]", "= v_uv[0]")),
    plant("a patch value of another invocation", "tessellation", "tesc",
          ("if (gl_InvocationID == 0) {", "if (gl_InvocationID == 1) {\n        p_tint = tint;\n"
           "    } else if (gl_InvocationID == 0) {"),
          ("{\n        p_tint = tint;\n        gl", "{\n        p_tint = tint.wzyx;\n        gl"),
          executed=""),
    plant("a patch value that differs by invocation", "tessellation", "tesc",
          ("p_last = c_uv[2].y", "p_last = c_uv[gl_InvocationID].y")),
    plant("a lost patch value", "tessellation", "tesc", ("        p_last = c_uv[2].y;", "{}"),
          back=False),
    plant("a patch value that only one invocation writes to another Location", "tessellation",
          "tesc", ("        p_tint = tint;", "        if (level > 1.0) p_tint = tint;"),
          back=False),
    plant("read before the barrier", "tessellation", "tesc",
          ("    barrier();\n", ""),
          ("p_last = c_uv[2].y;", "p_last = c_uv[2].y;\n    barrier();"), executed=""),
    plant("written behind the barrier", "tessellation", "tesc",
          ("    barrier();\n", "    barrier();\n    c_uv[gl_InvocationID] += vec2(1.0);\n")),
    plant("another value behind the barrier for one invocation", "tessellation", "tesc",
          ("= v_uv[gl_InvocationID];", "= gl_InvocationID == 0 ? v_uv[0] : v_uv[1];")),
    plant("a tessellation level", "tessellation", "tesc", ("[1] = level", "[1] = level + 1.0")),
    plant("another lane", "lanes", "tese", ("c_next[2]", "c_next[1]"), executed=""),
    plant("another value by all but the one that looks", "one looks", "tesc",
          ("= v_uv[gl_InvocationID];",
           "= gl_InvocationID == 0 ? v_uv[gl_InvocationID] : vec2(0.0);"), executed=""),
    plant("a value that is not written everywhere", "one looks", "tese",
          ("p_last > 0.5 ? p_tint : tint", "p_tint"), executed="", back=False),
    plant("a missing emit", "geometry", "geom", ("0.1, 0.0, 0.0);\n            EmitVertex();",
          "0.1, 0.0, 0.0);")),
    plant("an emit too many", "geometry", "geom",
          ("        EmitVertex();\n    }\n    EndPrimitive();\n    if",
           "        EmitVertex();\n    }\n    EmitVertex();\n    EndPrimitive();\n    if"),
          executed=""),
    plant("a missing end of a primitive", "geometry", "geom",
          ("    EndPrimitive();\n    if", "    if")),
    plant("an end of a primitive inside", "geometry", "geom",
          ("        EmitVertex();\n    }\n    EndPrimitive();\n    if",
           "        EmitVertex();\n        EndPrimitive();\n    }\n    if")),
    plant("an output written behind the emit", "geometry", "geom",
          ("        e_colour = vec4(v_uv[i], 0.0, 1.0);\n", ""),
          ("        EmitVertex();\n    }\n    EndPrimitive();\n    if",
           "        EmitVertex();\n        e_colour = vec4(v_uv[i], 0.0, 1.0);\n    }\n"
           "    EndPrimitive();\n    if"), executed=""),
    plant("emitted under another condition", "geometry", "geom", ("x > 0.25", "x > 0.75")),
    plant("the vertices in another order", "geometry", "geom",
          ("vec4(v_uv[i], 1.0, 1.0)", "vec4(v_uv[2 - i], 1.0, 1.0)")),
    plant("another stream", "streams", "geom",
          ("    second = v_uv[0] * 2.0;\n    EmitStreamVertex(1);",
           "    second = v_uv[0] * 2.0;\n    EmitStreamVertex(0);"), executed=""),
    plant("written behind the emit of its stream", "streams", "geom",
          ("    second = v_uv[0] * 2.0;\n    EmitStreamVertex(1);",
           "    EmitStreamVertex(1);\n    second = v_uv[0] * 2.0;"), executed="", back=False),
    plant("a stream with a vertex more", "streams", "geom",
          ("    EmitStreamVertex(0);", "    EmitStreamVertex(0);\n    first = v_uv[0];\n"
           "    EmitStreamVertex(0);")),
    plant("the vertices of a mesh", "mesh", "mesh", ("e_colour[i]", "e_colour[3u - i]")),
    plant("the primitives of a mesh", "mesh", "mesh", ("m_tint[i]", "m_tint[1u - i]")),
    plant("a value of the primitive", "mesh", "mesh", ("float(i + 1u)", "float(i)")),
    plant("the indices of a mesh", "mesh", "mesh", ("uvec3(0, 1, 2)", "uvec3(0, 2, 1)"),
          executed=""),
    plant("the count of primitives", "mesh", "mesh", ("SetMeshOutputsEXT(4, 2)",
          "SetMeshOutputsEXT(4, 1)")),
    plant("a value that one primitive lacks", "mesh", "mesh",
          ("        m_tint[i] =", "        if (i < 1u) m_tint[i] ="), executed="", back=False),
    plant("another element of the payload", "payload", "mesh", ("each[i & 1u]", "each[i >> 1]")),
    plant("another member of the payload", "payload", "task", ("each[i] =", "each[1u - i] =")),
    plant("a payload that differs by invocation", "payload", "task",
          ("payload.constant = 0.25;", "payload.constant = float(i) + 0.5;")),
    plant("a race for the payload", "payload", "task",
          ("    if (i == 0u) {\n        payload.constant = 0.25;",
           "    payload.constant = 0.25 * float(i);\n    if (i == 0u) {"), executed=""),
    plant("a lost member of the payload", "payload", "task", ("payload.tint = tint;", "{}"),
          executed="", back=False),
    plant("a member of one invocation", "payload", "task",
          ("    payload.group =", "    if (level > 1.0) payload.group ="), executed="",
          back=False),
    plant("the group of another stage", "payload", "task",
          ("payload.group = gl_WorkGroupID.x", "payload.group = gl_WorkGroupID.y"), executed=""),
    plant("the group of the mesh shader", "payload", "mesh",
          ("payload.group + gl_WorkGroupID.x", "gl_WorkGroupID.x + gl_WorkGroupID.x"),
          executed=""),
    plant("the number of mesh shaders", "payload", "task", ("EmitMeshTasksEXT(2,",
          "EmitMeshTasksEXT(3,"), executed=""),
    plant("an output for a stage that may follow", "open", "vert",
          ("location = 0) out", "location = 1) out")),
    plant("a value for a stage that may follow", "open", "vert", ("v_uv = uv;", "v_uv = uv.yx;")),
    plant("a primitive that is not written", "mesh", "mesh", ("i < 2u", "i < 1u"), executed=""),
]  # fmt: skip
RIGHT = [
    plant("a value that is read before it is written", "early", "tesc",
          ("level > 9.0 ? c_uv[gl_InvocationID] : ", "")),
    plant("a component that is picked", "picked", "tesc",
          ("[int(level) & 1]", "[1 & int(level)]")),
    plant("the value that some invocations write", "some", "tese",
          ("+ p_tint", "+ (level > 1.0 ? tint : tint.wzyx)")),
    plant("a value that is read back", "some", "tesc",
          ("    c_next[gl_InvocationID] += level > 1.0 ? 0.5 : 1.0;",
           "    if (level > 1.0) c_next[gl_InvocationID] += 0.5;"
           " else c_next[gl_InvocationID] += 1.0;")),
    plant("bits that are captured", "captured", "geom", ("out vec2 first", "out ivec2 first"),
          ("first = v_uv[0].x > 0.5 ? v_uv[0] : vec2(0.25);",
           "first = floatBitsToInt(v_uv[0].x > 0.5 ? v_uv[0] : vec2(0.25));")),
    plant("a value that is overwritten", "tessellation", "tesc",
          ("    c_uv[gl_InvocationID] =", "    c_uv[gl_InvocationID] = vec2(3.0);\n"
           "    c_uv[gl_InvocationID] =")),
    plant("an index by its sum", "tessellation", "tesc",
          ("c_uv[gl_InvocationID] = v_uv[gl_InvocationID]",
           "c_uv[gl_InvocationID] = v_uv[gl_InvocationID + 3 - 3]")),
    plant("a loop by rounds", "geometry", "geom",
          ("    if (v_uv[0].x > 0.25) {\n        for (int i = 0; i < 3; i++) {",
           "    if (v_uv[0].x > 0.25) {\n        for (int i = 2; i < 5; i++) {"),
          ("vec4(v_uv[i], 1.0, 1.0)", "vec4(v_uv[i - 2], 1.0, 1.0)"),
          ("gl_in[i].gl_Position + vec4", "gl_in[i - 2].gl_Position + vec4")),
    plant("the only value of a payload", "payload", "mesh",
          ("payload.constant", "0.25")),
    plant("a factor of one", "mesh", "mesh", ("tint * float(i + 1u)", "tint * float(1u + i)")),
]  # fmt: skip
# Declarations that GLSL cannot spell: the base, the stage, and the change of its text.
DECLARED = {
    "an array of fewer vertices":
        ("geometry", "geom", (r"(%uint_3 = OpConstant %uint) 3", r"\1 2")),
    "an array of fewer vertices that are written":
        ("tessellation", "tesc", (r"(%uint_3 = OpConstant %uint) 3", r"\1 2")),
    "a level without Patch":
        ("tessellation", "tesc", (r"OpDecorate %gl_TessLevelOuter Patch", "")),
}  # fmt: skip


def compiled(base: str, stage: str = "", edits: tuple[tuple[str, str], ...] = ()) -> list[bytes]:
    codes = []
    for name, text in BASES[base].items():
        if name == stage:
            for old, new in edits:
                assert text.count(old) == 1, (old, text.count(old))
                text = text.replace(old, new)
        target = "vulkan1.2" if base in ("mesh", "payload") else "vulkan1.1"
        codes.append(compile_glsl(text, name, target))
    return codes


def outcome(before: list[bytes], after: list[bytes], exact: bool = False) -> str:
    sides = [[Source(data) for data in side] for side in (before, after)]
    return prove(sides[0], sides[1], Options(exact=exact), 20.0).outcome


@pytest.mark.parametrize("base", BASES)
def test_a_base_is_proved(base: str) -> None:
    assert outcome(compiled(base), compiled(base), True) == EQUAL


@pytest.mark.parametrize("chain", ["tessellation", "geometry", "all", "feedback", "streams"])
def test_a_chain_is_proved(chain: str) -> None:
    """So a mistake planted in it (``test_paper.py``) is not unknown for want of an instruction."""
    codes = chains.built(chain)
    assert outcome(codes, codes, True) == EQUAL


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name.replace(" ", "-"))
def test_what_keeps_the_values_is_proved(case: Plant) -> None:
    codes, other = compiled(case.base), compiled(case.base, case.stage, case.edits)
    assert codes != other
    assert outcome(codes, other, True) == EQUAL


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name.replace(" ", "-"))
def test_a_mistake_is_not_proved(case: Plant) -> None:
    codes, planted = compiled(case.base), compiled(case.base, case.stage, case.edits)
    assert codes != planted
    for exact in (True, False):
        assert outcome(codes, planted, exact) != EQUAL
        if case.back:
            assert outcome(planted, codes, exact) != EQUAL


# What each invocation of a mesh shader writes to a flat output, and what is made of what is read
NUMBER = ("i + 256u * n", "m_flat & 15u")
MADE = {
    "a mask before and behind": (("(i + 256u * n) & 255u", "m_flat & 15u"), True),
    "a mask before alone": (("(i + 256u * n) & 15u", "m_flat & 255u"), True),
    "a narrower mask": (("(i + 256u * n) & 7u", "m_flat & 15u"), False),
    "another number under a mask": (("(i + 1u + 256u * n) & 255u", "m_flat & 15u"), False),
    "a wider mask": (("(i + 256u * n) & 255u", "m_flat & 31u"), False),
    "a part of a word": (("(i + 256u * n & 15u) << 8u | n & 255u", "m_flat >> 8u & 15u"), True),
    "another part of a word": (
        ("(i + 256u * n & 15u) << 8u | n & 255u", "m_flat >> 7u & 15u"),
        False,
    ),
    "a difference": (("5u - (i + 256u * n)", "(5u - m_flat) & 15u"), True),
    "another difference": (("5u - (i + 256u * n)", "(6u - m_flat) & 15u"), False),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_columns(name: str) -> None:
    other, proved = MADE[name]
    sides = []
    for value, made in (NUMBER, other):
        mesh = MESH.replace(
            "    e_colour[i] =", f"    m_flat[i] = {value};\n    e_colour[i] ="
        ).replace("float level;", "float level; uint n;")
        mesh = mesh.replace(
            "layout(location = 1)",
            "layout(location = 2) flat out uint m_flat[];\nlayout(location = 1)",
        )
        fragment = MESH_FRAGMENT.replace("+ m_tint;", f"* float({made});").replace(
            "layout(location = 1)",
            "layout(location = 2) flat in uint m_flat;\nlayout(location = 1)",
        )
        texts = (mesh, "mesh"), (fragment, "frag")
        sides.append([compile_glsl(text, stage, "vulkan1.2") for text, stage in texts])
    assert (outcome(sides[0], sides[1], True) == EQUAL) is proved


# The type of a flat output, what the geometry shader emits the first and the second time, and what
# the fragment shader reads.
FLOATS = ("float", "v_uv[i].x", "v_uv[i].y", "e_flat")
DOUBLES = ("double", "v_uv[i].x / 3.0lf", "v_uv[i].y / 3.0lf", "float(e_flat)")
WORDS_OF_X = "unpackDouble2x32(v_uv[i].x / 3.0lf)"
WORDS_OF_Y = "unpackDouble2x32(v_uv[i].y / 3.0lf)"
BITS_OF_DOUBLES = {
    "words of doubles": (("uvec2", WORDS_OF_X, WORDS_OF_Y, "float(packDouble2x32(e_flat))"), True),
    "words of other doubles": (("uvec2", WORDS_OF_X, WORDS_OF_X, "float(packDouble2x32(e_flat))"),
                               False),
    "words turned round": (("uvec2", WORDS_OF_X, WORDS_OF_Y, "float(packDouble2x32(e_flat.yx))"),
                           False),
    "one word for both": (("uvec2", WORDS_OF_X, WORDS_OF_Y, "float(packDouble2x32(e_flat.xx))"),
                          False),
}  # fmt: skip
MIXED = "v_uv[i].x > 0.5 ? floatBitsToInt(v_uv[i].x) : 0"
BITS_OF_CHOICES = {
    "bits of a choice": (("int", MIXED, "floatBitsToInt(v_uv[i].y)", "intBitsToFloat(e_flat)"),
                         True),
    "bits of another choice": (("int", MIXED.replace(": 0", ": 1"), "floatBitsToInt(v_uv[i].y)",
                                "intBitsToFloat(e_flat)"), False),
}  # fmt: skip
CHOICES = ("float", "v_uv[i].x > 0.5 ? v_uv[i].x : 0.0", "v_uv[i].y", "e_flat")
BITS = {
    "its bits": (("int", "floatBitsToInt(v_uv[i].x)", "floatBitsToInt(v_uv[i].y)",
                  "intBitsToFloat(e_flat)"), True),
    "bits of another value": (("int", "floatBitsToInt(v_uv[i].x)", "floatBitsToInt(v_uv[i].x)",
                               "intBitsToFloat(e_flat)"), False),
    "bits and a number": (("int", "floatBitsToInt(v_uv[i].x)", "int(v_uv[i].y)",
                           "intBitsToFloat(e_flat)"), False),
    "the number of the bits": (("int", "floatBitsToInt(v_uv[i].x)", "floatBitsToInt(v_uv[i].y)",
                                "float(e_flat)"), False),
}  # fmt: skip


@pytest.mark.parametrize(
    ("mine", "other", "proved"),
    [
        pytest.param(mine, *case, id=name.replace(" ", "-"))
        for mine, cases in ((FLOATS, BITS), (DOUBLES, BITS_OF_DOUBLES), (CHOICES, BITS_OF_CHOICES))
        for name, case in cases.items()
    ],
)
def test_floats_that_cross_as_bits(
    mine: tuple[str, ...], other: tuple[str, ...], proved: bool
) -> None:
    sides = []
    for kind, first, second, read in (mine, other):
        geometry = GEOMETRY.replace(
            "e_colour;\n", f"e_colour;\nlayout(location = 1) flat out {kind} e_flat;\n", 1
        )
        for plane, value in (("0.0", first), ("1.0", second)):
            made = f"e_colour = vec4(v_uv[i], {plane}, 1.0);"
            geometry = geometry.replace(made, f"{made} e_flat = {value};")
        fragment = FRAGMENT.replace("= e_colour;", f"= e_colour * {read};").replace(
            "layout(location = 0) out", f"layout(location = 1) flat in {kind} e_flat;\n"
            "layout(location = 0) out")  # fmt: skip
        texts = (VERT, "vert"), (geometry, "geom"), (fragment, "frag")
        sides.append([compile_glsl(text, stage) for text, stage in texts])
    assert (outcome(sides[0], sides[1], True) == EQUAL) is proved


# What a geometry shader emits for a vertex, ``at``, and the fragment shader makes of it
ONE_VALUE = ("9u", "e_word")
WORDS = {
    "a part that is the same": (("uint(v_uv[at].x > 0.5) << 4u | 9u", "e_word & 15u"), True),
    "a part that differs": (("uint(v_uv[at].x > 0.5) << 2u | 9u", "e_word & 31u"), False),
    "more than the part": (("uint(v_uv[at].x > 0.5) << 4u | 9u", "e_word & 31u"), False),
    "another part": (("uint(v_uv[at].x > 0.5) << 4u | 8u", "e_word & 15u"), False),
}


@pytest.mark.parametrize("name", WORDS)
def test_a_part_of_each_word_that_is_one_value(name: str) -> None:
    other, proved = WORDS[name]
    sides = []
    for value, read in (ONE_VALUE, other):
        emitted = "".join(
            f"    e_word = {value.replace('at', str(at))};\n"
            f"    gl_Position = gl_in[{at}].gl_Position;\n    EmitVertex();\n"
            for at in range(3)
        )
        geometry = f"""#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec2 v_uv[];
layout(location = 0) flat out uint e_word;
void main() {{
{emitted}}}
"""
        fragment = f"""#version 450
layout(location = 0) flat in uint e_word;
layout(location = 0) out vec4 colour;
void main() {{ colour = vec4(float({read})); }}
"""
        texts = (VERT, "vert"), (geometry, "geom"), (fragment, "frag")
        sides.append([compile_glsl(text, stage) for text, stage in texts])
    assert (outcome(sides[0], sides[1], True) == EQUAL) is proved


@pytest.mark.parametrize("name", DECLARED)
def test_a_wrong_declaration_is_not_proved(name: str) -> None:
    base, stage, edit = DECLARED[name]
    codes = compiled(base)
    planted = list(codes)
    index = list(BASES[base]).index(stage)
    planted[index] = edited(codes[index], edit)
    for exact in (True, False):
        assert outcome(codes, planted, exact) != EQUAL


@pytest.mark.parametrize(
    "case", [c for c in WRONG if c.executed], ids=lambda case: case.name.replace(" ", "-")
)
def test_the_interpreter_convicts_a_mistake(case: Plant) -> None:
    codes, planted = compiled(case.base), compiled(case.base, case.stage, case.edits)
    sides = [[Source(data) for data in side] for side in (codes, planted)]
    assert execute(sides[0], sides[1], Options()).outcome == case.executed
