"""What invocation 0 stores whatever the others do, so that buffers read for it are bound; and what
a mesh workgroup has for all its vertices beside other kinds of interpolation. Drawn."""

from __future__ import annotations

import pytest

import spvlink
from tests.support.chain_text import EXTENSIONS, frag, mesh, tesc, tese, text, vert
from tests.support.shared_values import MOTION, Stages, prove, said

BLOCK = "layout(set = 0, binding = 0) uniform Scene { vec4 tint; vec4 other; uint many; } u;\n"
MESH = (
    BLOCK
    + """layout(location = 0) out vec4 c[];
layout(location = 1) perprimitiveEXT out vec4 q[];
"""
)
SHOW = (
    EXTENSIONS["mesh"]
    + BLOCK
    + """layout(location = 0) in vec4 c;
layout(location = 1) perprimitiveEXT in vec4 q;
layout(location = 0) out vec4 color;
"""
)
FAN = "c[i] = vec4(at, float(i) * 0.1, angle);\n"


def meshes(store: str, before: str = "") -> Stages:
    stage, source = mesh(MESH, FAN + store)
    source = source.replace("SetMeshOutputsEXT(9, 8);", before or "SetMeshOutputsEXT(9, 8);")
    return [(stage, source), text("frag", SHOW, "color = sin(c) + q + u.other;")]


def patches(store: str) -> Stages:
    stored = (
        BLOCK
        + """layout(location = 0) out vec4 p[]; layout(location = 1) patch out vec4 q;
"""
    )
    own = "p[gl_InvocationID] = gl_in[gl_InvocationID].gl_Position;\n"
    read = (
        BLOCK
        + """layout(location = 0) in vec4 p[]; layout(location = 1) patch in vec4 q;
layout(location = 0) out vec4 f;
"""
    )
    return [
        vert("", ""),
        tesc(stored, own + store),
        tese(read, "f = sin(p[0] * w.x + p[1] * w.y + p[2] * w.z) + q + u.other;"),
        frag("layout(location = 0) in vec4 f;", "color = f;"),
    ]


COUNTED = "uint np = 4u + (u.many & 3u); SetMeshOutputsEXT(9, np);"
SURE = {
    "some of the invocations": "if (i < 8) q[i] = u.tint;",
    "the component": "if (gl_LocalInvocationID.x <= 7u) q[i] = u.tint;",
    "the first alone": "if (i == 0) for (int j = 0; j < 8; ++j) q[j] = u.tint;",
    "what is made of it": "if ((i * 2u + 1u) % 3u == 1u || i > 0u) if (i < 8) q[i] = u.tint;",
    "a loop": "for (uint j = i; j < 8u; j += 9u) q[j] = u.tint;",
}
UNSURE = {
    "others alone": "if (i > 0u && i < 9u) q[i - 1u] = u.tint;",
    "what nobody knows": "if (u.many < 1000u && i < 8) q[i] = u.tint;",
    "of several": "if (i > 2u) if (i < 7u) { q[i] = u.tint; q[(i + 4u) % 8u] = u.tint; }",
    "a loop that may not run": "for (uint j = i; j < min(u.many | 8u, 8u); j += 9u) q[j] = u.tint;",
    "a later round": "for (uint j = i; j < 9u; j += 1u) if (j > 0u) q[j - 1u] = u.tint;",
}
COUNTS = {
    "the count of primitives": "if (i < np) q[i] = u.tint;",
    "the other way round": "if (np > i) q[i] = u.tint;",
    "as a signed number": "if (int(i) < int(np)) q[i] = u.tint;",
    "a loop to it": "for (uint j = i; j < np; j += 9u) q[j] = u.tint;",
}
LAST = "if (i == 1u) q[np - 1u] = u.tint;"
OTHER_COUNTS = {
    "one more": f"if (i + 1u < np) {{ q[i] = u.tint; {LAST} }}",
    "another": f"if (i < np - 1u) {{ q[i] = u.tint; {LAST} }}",
}


def is_propagated(linked: spvlink.Linked) -> bool:
    found = said(linked, "q")
    assert len({action for action, _ in found}) == 1, found
    (action, why), *_ = found
    assert action == "propagated" or "not every invocation" in why, found
    return action == "propagated"


@pytest.mark.parametrize("name", SURE)
def test_what_the_first_invocation_stores_was_read(name: str) -> None:
    assert is_propagated(prove(meshes(SURE[name]), tolerance=1e-5))


@pytest.mark.parametrize("name", UNSURE)
def test_what_it_may_not_store_need_not_be_bound(name: str) -> None:
    assert not is_propagated(prove(meshes(UNSURE[name]), tolerance=1e-5))


@pytest.mark.parametrize("name", COUNTS)
def test_a_fragment_has_a_primitive(name: str) -> None:
    assert is_propagated(prove(meshes(COUNTS[name], COUNTED), tolerance=1e-5))


@pytest.mark.parametrize("name", OTHER_COUNTS)
def test_another_number_may_be_none(name: str) -> None:
    assert not is_propagated(prove(meshes(OTHER_COUNTS[name], COUNTED), tolerance=1e-5))


def test_two_counts_are_none() -> None:
    """Which of them counts is not known."""
    counted = """uint np = 4u + (u.many & 3u);
if (u.many > 100000u) SetMeshOutputsEXT(9, 8); else SetMeshOutputsEXT(9, np);"""
    stages = meshes(COUNTS["the count of primitives"], counted)
    assert not is_propagated(prove(stages, tolerance=1e-5))


@pytest.mark.parametrize(
    ("condition", "sure"), [("== 0", True), ("!= 1", True), ("== 1", False), ("> 0", False)]
)
def test_a_patch_has_an_invocation_0(condition: str, sure: bool) -> None:
    linked = prove(patches(f"if (gl_InvocationID {condition}) q = u.tint;"), tolerance=1e-5)
    assert is_propagated(linked) == sure


def test_push_constants_are_always_there() -> None:
    stages = meshes("if (i > 0u && i < 9u) q[i - 1u] = u.tint;")
    push = "layout(push_constant) uniform"
    stages = [(s, t.replace("layout(set = 0, binding = 0) uniform", push)) for s, t in stages]
    stages = [(s, t.replace("+ u.other", "+ u.other * u.tint.x")) for s, t in stages]
    linked = prove(stages, tolerance=1e-5)
    assert {action for action, _ in said(linked, "q")} == {"propagated"}


# -- equal for the workgroup, beside other kinds --------------------------------------------------

BESIDE = """layout(location = 0) out vec4 c[]; layout(location = 1) flat out uint n[];
layout(location = 2) noperspective out vec2 q[]; layout(location = 3) flat out float s[];
layout(push_constant) uniform Push { vec4 k; } pc;
"""


def beside(store: str) -> Stages:
    """As many primitives as vertices, so that nothing is stored per primitive."""
    stage, source = mesh(BESIDE, FAN + "n[i] = i; s[i] = float(i) * 0.25;\n" + store)
    read = BESIDE.replace("[]", "").replace(" out ", " in ").rpartition("layout(push")[0]
    shown = text("frag", read + "layout(location = 0) out vec4 color;",
                 "color = sin(c) + vec4(sin(q), s, float(n % 3u));")  # fmt: skip
    return [(stage, source.replace("max_primitives = 8", "max_primitives = 10")), shown]


FLAT = {
    "workgroup": "q[i] = vec2(gl_WorkGroupID.xy) + 0.5;",
    "uniform of its own": "q[i] = pc.k.xy * pc.k.zw;",
    "on one path": "if (i < 9) q[i] = pc.k.xy * 0.5;",
}
NOT_FLAT = {
    "one after another": "for (int j = 0; j < 3; ++j) q[j + i / 3u * 3u] = pc.k.xy * float(j);",
    "two values": "q[i] = pc.k.xy; if (i > 3) q[i] = pc.k.zw;",
    "the vertex": "q[i] = pc.k.xy * float(i);",
}


@pytest.mark.parametrize("name", FLAT)
def test_it_is_put_beside_flat_values(name: str) -> None:
    linked = prove(beside(FLAT[name]), tolerance=1e-5, disable=MOTION)
    assert {action for action, _ in said(linked, "q")} == {"flattened"}
    assert linked.interfaces[0].locations[1] == linked.interfaces[0].locations[0] - 2


@pytest.mark.parametrize("name", NOT_FLAT)
def test_what_is_not_equal_keeps_its_interpolation(name: str) -> None:
    linked = prove(beside(NOT_FLAT[name]), tolerance=1e-5, disable=MOTION)
    assert "flattened" not in {action for action, _ in said(linked, "q")}


def test_exact_keeps_its_interpolation() -> None:
    linked = prove(beside(FLAT["workgroup"]), exact=True)
    assert "flattened" not in {action for action, _ in said(linked, "q")}
