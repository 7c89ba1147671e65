"""What is equal for a whole patch, or for a mesh workgroup, is stored once: which values are, which
only look like it, and when it pays. Everything is drawn before and after."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import enums, glsl, ops
from spvlink.ir.core import text_of_name
from spvlink.link.pack import share_per_patch
from tests.support.chain_hazards import frag, mesh, tesc, tese, text, vert
from tests.support.interpolations import link
from tests.support.linking import all_insts, module_of
from tests.support.samples import compile_glsl, edited
from tests.support.shared_values import MOTION, Stages, prove, said

VERT = vert(
    """layout(location = 0) out vec4 c; layout(location = 1) flat out ivec4 m;
layout(location = 2) flat out int n;""",
    "c = a; m = k; n = gl_InstanceIndex;",
)
IN = """layout(location = 0) in vec4 c[]; layout(location = 1) in ivec4 m[];
layout(location = 2) in int n[]; layout(push_constant) uniform Push { vec4 k; } pc;
layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];
"""
OUT = """layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];
layout(location = 0) out vec4 f;
"""
READ = "f = p[0] * w.x + p[1] * w.y + p[2] * w.z + sin(q[0] * w.x + q[1] * w.y + q[2] * w.z);"
SHOW = frag("layout(location = 0) in vec4 f;", "color = f;")


def patch(store: str, stored: str = IN, read: str = OUT, main: str = READ) -> Stages:
    own = "p[gl_InvocationID] = c[gl_InvocationID];\n"
    return [VERT, tesc(stored, own + store), tese(read, main), SHOW]


def is_shared(linked: spvlink.Linked, name: str = "q") -> bool:
    found = {action == "flattened" for action, _ in said(linked, name) if action != "propagated"}
    assert len(found) == 1, said(linked, name)
    return found.pop()


STORE = "q[gl_InvocationID] = "
EQUAL = {
    "primitive": STORE + "vec4(gl_PrimitiveID, 7.0, -gl_PrimitiveID, gl_PatchVerticesIn);",
    "one vertex": STORE + "c[0] * 2.0;",
    "several vertices": STORE + "c[0] + c[1] * c[2];",
    "a uniform of its own": STORE + "pc.k * 3.0;",
    "instance": STORE + "vec4(n[gl_InvocationID]) * 0.25;",
    "integers": STORE + "vec4(m[1] % 7);",
    "dynamic vertex": STORE + "c[gl_PrimitiveID % 3];",
    "built-in of a vertex": STORE + "gl_in[2].gl_Position * 2.0;",
    "chosen alike": STORE + "gl_PrimitiveID % 2 == 0 ? c[0] : c[1] * 0.5;",
    "on one path": "if (gl_InvocationID >= 0) " + STORE + "c[1];",
    "loop before": "vec4 s = vec4(0.0); for (int j = 0; j < gl_PatchVerticesIn; ++j) s += c[j];\n"
    + STORE + "s;",
    "some vertices alone": "if (c[0].x > -9.0) " + STORE + "c[2];",
}  # fmt: skip
UNEQUAL = {
    "its own vertex": STORE + "c[gl_InvocationID];",
    "invocation": STORE + "vec4(gl_InvocationID);",
    "another vertex": STORE + "c[(gl_InvocationID + 1) % 3];",
    "chosen by the invocation": STORE + "gl_InvocationID == 0 ? c[0] : c[1];",
    "one after another": "for (int j = 0; j < 3; ++j) " + STORE + "c[0] * float(j);",
    "two values": STORE + "c[0]; if (gl_InvocationID == 1) " + STORE + "c[1];",
    "attribute at its vertex": STORE + "vec4(m[gl_InvocationID] % 7);",
}


@pytest.mark.parametrize("exact", [False, True], ids=["", "exact"])
@pytest.mark.parametrize("name", EQUAL)
def test_equal_for_the_patch(name: str, exact: bool) -> None:
    linked = prove(patch(EQUAL[name]), exact=exact)
    assert is_shared(linked), said(linked, "q")
    found = next(i for i in linked.interfaces if i.consumer == "tese")
    assert found.locations[1] <= found.locations[0]
    for stage in (1, 2):
        assert enums.Decoration_Patch in decorations(linked, stage, "q")


def decorations(linked: spvlink.Linked, stage: int, name: str) -> set[int]:
    module = module_of(linked.stages[stage].data)
    wanted = {of for of, own in module.names if text_of_name(own) == name}
    return {i.imm[0] for i in module.annotations
            if i.op == ops.OpDecorate and i.args[0] in wanted}  # fmt: skip


@pytest.mark.parametrize("name", UNEQUAL)
def test_not_equal_for_the_patch(name: str) -> None:
    linked = prove(patch(UNEQUAL[name]), exact=True)
    assert not is_shared(linked)


def test_what_others_read_back_stays() -> None:
    store = STORE + "c[0]; barrier(); p[gl_InvocationID] += q[(gl_InvocationID + 1) % 3];"
    linked = prove(patch(store), exact=True)
    assert not is_shared(linked)


def test_what_is_indexed_dynamically_stays() -> None:
    stored = IN.replace("out vec4 q[];", "out vec4 q[][2];")
    store = "for (int j = 0; j < 2; ++j) q[gl_InvocationID][j] = c[j];"
    read = OUT.replace("in vec4 q[];", "in vec4 q[][2];")
    main = READ.replace("q[0]", "q[0][int(gl_PrimitiveID) & 1]").replace("q[1]", "q[1][0]")
    linked = prove(patch(store, stored, read, main.replace("q[2]", "q[2][1]")), exact=True)
    assert not any(r.action == "flattened" for r in linked.remarks)


def test_an_invariant_one_stays() -> None:
    stored = IN.replace("out vec4 q", "invariant out vec4 q")
    assert not is_shared(prove(patch(EQUAL["one vertex"], stored), exact=True))


def test_a_vertex_of_the_patch_that_differs() -> None:
    """What the vertex stage stores on some of its paths is not known to be equal."""
    stages = patch(EQUAL["instance"])
    stages[0] = (stages[0][0], stages[0][1].replace("n = gl_InstanceIndex;",
                 "n = a.x > 0.0 ? gl_InstanceIndex : 3;"))  # fmt: skip
    assert not is_shared(prove(stages, exact=True))


@pytest.mark.parametrize(
    ("type", "value", "read"),
    [
        ("float", "c[0].x", "vec4(q[1])"),
        ("int", "m[1].y", "vec4(q[0] % 5)"),
        ("uvec3", "uvec3(m[0].xyz)", "vec4(q[2] % 5u, 1.0)"),
        ("dvec2", "dvec2(c[0].xy) / 3.0LF", "vec4(q[1], q[0])"),
        ("mat3", "mat3(c[0].xyz, c[1].xyz, c[2].xyz)", "vec4(q[1] * w, 1.0)"),
        ("vec2", "c[0].xy * c[1].zw", "q[0].xyxy + q[1].yxyx"),
    ],
)
def test_types(type: str, value: str, read: str) -> None:
    stored = IN.replace("vec4 q[]", f"{type} q[]")
    main = f"f = p[0] * w.x + p[1] * w.y + p[2] * w.z + {read};"
    source = OUT.replace("vec4 q[]", f"{type} q[]")
    linked = prove(patch(f"{STORE}{value};", stored, source, main), exact=True)
    assert is_shared(linked)


def test_no_location_is_saved() -> None:
    """One component more or less in a Location that is needed anyway."""
    stored = IN.replace("vec4 p[]; layout(location = 1) out vec4 q", "vec3 p[];\n"
                        "layout(location = 0, component = 3) out float q")  # fmt: skip
    read = OUT.replace("vec4 p[]; layout(location = 1) in vec4 q", "vec3 p[];\n"
                       "layout(location = 0, component = 3) in float q")  # fmt: skip
    stages = patch(STORE + "c[0].x;", stored, read, READ.replace("f =", "vec3 s =")
                   .replace("sin(", "sin(1.0 + ") + " f = s.xyzx;")  # fmt: skip
    source = stages[1][1].replace("= c[gl_InvocationID];", "= c[gl_InvocationID].xyz;")
    linked = prove([stages[0], ("tesc", source), *stages[2:]], exact=True)
    assert said(linked, "q") == {("kept", "equal for all vertices, but no Location would be saved")}


def test_it_can_be_switched_off() -> None:
    for disable in ("share", "compact"):
        linked = prove(patch(EQUAL["one vertex"]), exact=True, disable=frozenset([disable]))
        assert not any(r.action == "flattened" for r in linked.remarks)


def test_next_to_others_per_patch() -> None:
    stored = IN + "layout(location = 5) patch out vec2 r; layout(location = 6) out vec2 s[];\n"
    store = EQUAL["one vertex"] + "r = c[1].xy; s[gl_InvocationID] = c[2].zw;"
    read = OUT + "layout(location = 5) patch in vec2 r; layout(location = 6) in vec2 s[];\n"
    linked = prove(patch(store, stored, read, READ + "f.xy += r * s[1];"), exact=True)
    assert is_shared(linked) and is_shared(linked, "s")
    found = next(i for i in linked.interfaces if i.consumer == "tese")
    assert found.locations == (4, 3)


# -- mesh ------------------------------------------------------------------------------------------

PAYLOAD = """struct Payload { vec4 tint; float k; uint number; };
taskPayloadSharedEXT Payload payload;
"""
TASK = text(
    "task",
    "layout(local_size_x = 1) in;\n" + PAYLOAD,
    """payload.tint = vec4(0.5, 0.25, float(gl_WorkGroupID.x) * 0.125, 0.75);
payload.k = 2.0; payload.number = gl_WorkGroupID.x + 3u; EmitMeshTasksEXT(2, 1, 1);""",
)
HEAD = PAYLOAD + """layout(push_constant) uniform Push { vec4 k; } pc;
layout(location = 0) out vec4 c[]; layout(location = 1) QUALIFIER out vec4 q[];
"""  # fmt: skip
MESH_READ = """layout(location = 0) in vec4 c; layout(location = 1) QUALIFIER in vec4 q;
layout(location = 0) out vec4 color;
"""


def meshes(store: str, qualifier: str = "flat", change: tuple[str, str] = ("", "")) -> Stages:
    stage, source = mesh(HEAD.replace("QUALIFIER", qualifier),
                         "c[i] = vec4(at, float(i) * 0.1, angle);\n" + store)  # fmt: skip
    if change[0]:
        assert change[0] in source
        source = source.replace(*change)
    return [
        TASK, (stage, source),
        text("frag", MESH_READ.replace("QUALIFIER", qualifier), "color = c + sin(q);"),
    ]  # fmt: skip


MESH_EQUAL = {
    "payload": "q[i] = payload.tint * payload.k;",
    "workgroup": "q[i] = vec4(gl_WorkGroupID, gl_NumWorkGroups.x);",
    "number in the payload": "q[i] = vec4(payload.number, payload.tint.xyz);",
    "uniform of its own": "q[i] = sqrt(abs(pc.k)) * payload.tint;",
    "on one path": "if (i < 9) q[i] = payload.tint;",
    "chosen alike": "q[i] = payload.tint * mix(1.0, 0.5, gl_WorkGroupID.x == 0u);",
    "chosen alike by a branch": "q[i] = gl_WorkGroupID.x == 0u ? payload.tint : payload.tint.wzyx;",
    "several at once": "vec4 s = payload.tint; q[i] = s; q[(i + 1) % 9] = s;",
}
MESH_UNEQUAL = {
    "invocation": "q[i] = payload.tint * float(i);",
    "vertex": "q[i] = vec4(at, payload.tint.xy);",
    "two values": "q[i] = payload.tint; if (i == 3) q[i] = vec4(payload.k);",
    # equal, but made where the indices are not stored
    "chosen alike": "q[i] = gl_WorkGroupID.x == 0u ? payload.tint"
    " : payload.tint.wzyx * float(5 / (int(gl_WorkGroupID.x) + 1));",
    "chosen": "q[i] = i < 4 ? payload.tint : payload.tint.wzyx;",
}


@pytest.mark.parametrize("qualifier", ["flat", "", "noperspective"], ids=lambda q: q or "smooth")
@pytest.mark.parametrize("name", MESH_EQUAL)
def test_equal_for_the_workgroup(name: str, qualifier: str) -> None:
    linked = prove(meshes(MESH_EQUAL[name], qualifier), tolerance=1e-5)
    assert is_shared(linked), said(linked, "q")
    for stage in (1, 2):
        assert enums.Decoration_PerPrimitiveEXT in decorations(linked, stage, "q")


@pytest.mark.parametrize("qualifier", ["flat", ""], ids=lambda q: q or "smooth")
def test_exact_is_for_flat_values(qualifier: str) -> None:
    linked = prove(meshes(MESH_EQUAL["payload"], qualifier), exact=True)
    assert is_shared(linked) == (qualifier == "flat")
    if not qualifier:
        assert {why for _, why in said(linked, "q")} == {
            "equal for all vertices, but interpolation may round"
        }


@pytest.mark.parametrize("name", MESH_UNEQUAL)
def test_not_equal_for_the_workgroup(name: str) -> None:
    linked = prove(meshes(MESH_UNEQUAL[name]), tolerance=1e-5)
    assert not is_shared(linked)


CHANGES = {
    "more primitives than vertices": (
        "max_primitives = 8", "max_primitives = 10", "no Location would be saved"
    ),
    "its value is not there": (
        "c[i] =", "float s = 0.0; for (uint j = 0u; j < payload.number; ++j) s += payload.tint.x;\n"
        "vec4 chosen = payload.tint * s; c[i] =", "its value is not known",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_stands_in_the_way(name: str) -> None:
    old, new, why = CHANGES[name]
    store = "q[i] = chosen;" if "chosen" in new else MESH_EQUAL["payload"]
    linked = prove(meshes(store, "flat", (old, new)), exact=True)
    assert not is_shared(linked)
    assert all(why in said_why for _, said_why in said(linked, "q")), said(linked, "q")


def test_an_older_fragment_stage() -> None:
    stages = meshes(MESH_EQUAL["payload"])
    codes = [compile_glsl(source, stage, "vulkan1.2") for stage, source in stages[:2]]
    source = stages[2][1].replace("#extension GL_EXT_mesh_shader : require", "")
    codes.append(compile_glsl(source, "frag", "vulkan1.1"))
    linked = link(codes, disable=MOTION)
    assert {why for _, why in said(linked, "q")} == {
        "equal for all vertices, but the fragment stage is older than SPIR-V 1.4"
    }


def test_indices_written_as_a_whole_array() -> None:
    """Nothing says which primitive is stored where (GLSL cannot say it; SPIR-V can)."""
    stage, source = meshes(MESH_EQUAL["payload"])[1]
    module = module_of(compile_glsl(source, stage, "vulkan1.2"))
    places = share_per_patch.index_stores(module)
    assert len(places) == 1
    _, store, primitive = places[0]
    chain = store.args[0]
    assert chain.args[1] is primitive
    store.args = [chain.args[0], store.args[1]]
    assert not share_per_patch.index_stores(module)


def test_indices_by_component() -> None:
    """(Not drawn: lavapipe loses such stores.)"""
    stages = meshes(MESH_EQUAL["payload"], "flat", (
        "gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, (i + 1) % 8, 8);",
        "{ gl_PrimitiveTriangleIndicesEXT[i].xy = uvec2(i, (i + 1) % 8);"
        " gl_PrimitiveTriangleIndicesEXT[i].z = 8; }"))  # fmt: skip
    codes = [compile_glsl(source, stage, "vulkan1.2") for stage, source in stages]
    assert is_shared(link(codes, disable=MOTION))


@pytest.mark.parametrize("qualifier", ["flat", ""], ids=lambda q: q or "smooth")
@pytest.mark.parametrize("name", [*MESH_EQUAL, *MESH_UNEQUAL])
def test_all_passes_together(name: str, qualifier: str) -> None:
    """What is per primitive and per vertex may share a Location until the end, but not longer
    (``prove`` fails if the interface checker finds one)."""
    store = {**MESH_EQUAL, **MESH_UNEQUAL}[name]
    prove(meshes(store, qualifier), tolerance=1e-4, disable=frozenset())


def test_what_is_made_of_it_moves_along() -> None:
    """What was nonlinear may be computed per primitive, too."""
    stages = meshes(MESH_EQUAL["uniform of its own"], "")
    stages[2] = (stages[2][0], stages[2][1].replace("= c +", "= cos(c) +"))
    linked = prove(stages, tolerance=1e-4, disable=frozenset())
    first, second = (module_of(linked.stages[stage].data) for stage in (1, 2))
    assert any(enums.Decoration_PerPrimitiveEXT in i.imm for i in first.annotations)
    sines = [any(i.op == ops.OpExtInst and i.imm[0] == glsl.Glsl_Sin for i in all_insts(module))
             for module in (first, second)]  # fmt: skip
    assert sines == [True, False]


# -- guards ----------------------------------------------------------------------------------------


def test_what_is_interpolated_elsewhere_stays() -> None:
    """interpolateAt* needs a smooth input."""
    stages = meshes(MESH_EQUAL["payload"], "")
    source = stages[2][1].replace("sin(q)", "sin(interpolateAtOffset(q, vec2(0.25)))")
    linked = prove([*stages[:2], ("frag", source)], tolerance=1e-3)
    assert not is_shared(linked)


def test_what_is_read_at_each_vertex_stays() -> None:
    """(Not drawn: lavapipe has no barycentrics.)"""
    stages = meshes(MESH_EQUAL["payload"], "")
    source = stages[2][1].replace(
        "layout(location = 1)  in vec4 q", "layout(location = 1) pervertexEXT in vec4 q[]"
    )
    source = source.replace("sin(q)", "sin(q[0] - q[2])")
    source = source.replace("450", "450\n#extension GL_EXT_fragment_shader_barycentric : require")
    codes = [compile_glsl(s, t, "vulkan1.2") for t, s in [*stages[:2], ("frag", source)]]
    assert not is_shared(link(codes, disable=MOTION))


@pytest.mark.parametrize("qualifier", ["flat", ""], ids=lambda q: q or "smooth")
def test_special_values_that_must_be_preserved(qualifier: str) -> None:
    """An infinity at each vertex is interpolated to a NaN, and stays an infinity without."""
    stages = meshes("q[i] = payload.tint / 0.0;", qualifier)
    codes = [compile_glsl(source, stage, "vulkan1.2") for stage, source in stages]
    mode = "OpExecutionMode %main OriginUpperLeft"
    codes[2] = edited(
        codes[2],
        ("OpCapability Shader", "OpCapability Shader\nOpCapability SignedZeroInfNanPreserve"),
        (mode, f"{mode}\nOpExecutionMode %main SignedZeroInfNanPreserve 32"),
        environment="vulkan1.2",
    )
    assert is_shared(link(codes, disable=MOTION)) == (qualifier == "flat")


LATE = {
    "what others write": ("float(late.many)", "buffer Late { uint many; } late;"),
    "an index that is guarded": (
        "late.steps[min(payload.number, 3u)].x", "uniform Late { vec4 steps[4]; } late;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LATE)
def test_what_is_not_made_again_where_the_indices_are_stored(name: str) -> None:
    """The value is only known behind the indices."""
    made, block = LATE[name]
    stages = meshes(f"if (i < 9) q[i] = payload.tint * {made};")
    stage, source = stages[1]
    source = source.replace("layout(push", f"layout(set = 0, binding = 3) {block}\nlayout(push")
    linked = prove([stages[0], (stage, source), stages[2]], tolerance=1e-5)
    assert not is_shared(linked)


def test_one_value_after_another() -> None:
    store = "for (uint j = 0u; j < 3u + payload.number; ++j) q[i] = payload.tint * float(j);"
    assert not is_shared(prove(meshes(store), tolerance=1e-5))


def test_no_more_patch_components_than_every_device_has() -> None:
    """30 Locations for a patch are what devices must have, and are not exceeded."""
    names = [f"s{n}" for n in range(31)]
    stored = IN.replace("layout(location = 1) out vec4 q[];", "") + "".join(
        f"layout(location = {n + 1}) out vec4 {name}[];\n" for n, name in enumerate(names)
    )
    store = "".join(
        f"{name}[gl_InvocationID] = c[0] * float({n + 2}) + c[1];\n" for n, name in enumerate(names)
    )
    read = OUT.replace("layout(location = 1) in vec4 q[];", "") + "".join(
        f"layout(location = {n + 1}) in vec4 {name}[];\n" for n, name in enumerate(names)
    )
    total = " + ".join(f"sin({name}[0])" for name in names)
    linked = link(
        [compile_glsl(s, t, "vulkan1.2") for t, s in patch(store, stored, read, f"f = {total};")],
        disable=MOTION | {"dedup", "propagate"},
    )
    shared_ones = [n for n in names if is_shared(linked, n)]
    assert len(shared_ones) == 30
