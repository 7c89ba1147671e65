"""Linking a pair: what dies, what becomes zero, what must stay, and what the remarks say."""

from __future__ import annotations

import gc
import pickle

import pytest

import spvlink
from spvlink.grammar import enums, glsl, ops
from spvlink.ir.core import Block, Function, Inst, op_of_name
from spvlink.pipeline import ACTIONS
from tests.support.interpreted import interpreted
from tests.support.linking import (
    Result,
    all_insts,
    base_options,
    builtins,
    count,
    extended,
    fragment,
    link,
    vertex,
)

READ_X = "layout(location = 0) in vec4 a; void main() { o = vec4(a.x); }"


# --- dead outputs ---


@pytest.mark.parametrize("lanes", ["x", "y", "w", "xz", "yw", "xyz", "zyx"])
def test_only_the_components_that_are_read_stay(lanes: str) -> None:
    done = link(
        "layout(location = 0) out vec4 a; void main() { a = p * 2.0; gl_Position = p; }",
        f"layout(location = 0) in vec4 a; void main() {{ o = a.{(lanes + lanes * 3)[:4]}; }}",
    )
    kept = len(set(lanes))
    shape = f"f32x{kept}" if kept > 1 else "f32"
    ((name, (at, found)),) = done.table().items()
    assert (name, found) == ("a", shape)
    assert at.startswith("0.") and len(at) == 2 + kept
    assert done.table(inputs=True) == done.table()
    fates = done.fates()
    dead = "".join(c for c in "xyzw" if c not in lanes)
    assert not dead or fates[f"a 0.{dead}"] == "removed"


def test_the_code_behind_a_dead_output_goes() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) out float b;
        void main() {
            float s = 0.0;
            for (int i = 0; i < k.x; ++i) s += tan(p.y);
            a = vec4(p.x, sin(p.y), cos(p.z), s); b = exp(p.x); gl_Position = p;
        }""",
        READ_X,
    )
    assert done.table() == {"a": ("0.x", "f32")}
    for number in (glsl.Glsl_Sin, glsl.Glsl_Cos, glsl.Glsl_Tan, glsl.Glsl_Exp):
        assert not extended(done.vert, number)
    assert count(done.vert, ops.OpLoopMerge) == 0


def test_an_output_the_other_side_does_not_declare_goes() -> None:
    done = link(
        "layout(location = 0) out vec4 a; layout(location = 5) out vec4 b; "
        "void main() { a = b = p; gl_Position = p; }",
        READ_X,
    )
    assert done.table() == {"a": ("0.x", "f32")}
    assert done.fates()["b 5.xyzw"] == "removed"


def test_stores_on_several_paths_go_together() -> None:
    done = link(
        """layout(location = 0) out vec4 a;
        void main() {
            a = p; gl_Position = p;
            if (k.x > 0) { a.y = sin(p.x); return; }
            a.x = p.w; a.z = sin(p.y);
        }""",
        READ_X,
    )
    assert done.table() == {"a": ("0.x", "f32")}
    assert not extended(done.vert, glsl.Glsl_Sin)


def test_an_output_that_is_read_back_lives_as_a_value() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) out float b;
        void main() { b = sin(p.x); a = vec4(b * 2.0); gl_Position = p; }""",
        READ_X,
    )
    assert done.table() == {"a": ("0.x", "f32")}
    assert len(extended(done.vert, glsl.Glsl_Sin)) == 1


def test_a_dead_dynamic_array_goes() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) out float w[3];
        void main() { a = p; w[k.x & 1] = sin(p.x); gl_Position = p; }""",
        """layout(location = 0) in vec4 a; layout(location = 1) in float w[3];
        void main() { o = vec4(a.x); }""",
    )
    assert done.table() == {"a": ("0.x", "f32")}
    assert not extended(done.vert, glsl.Glsl_Sin)


def test_a_dead_dynamic_array_that_is_read_back_becomes_local() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) out float w[3];
        void main() { w[0] = p.x; w[1] = p.y; w[2] = p.z; a = vec4(w[k.x & 1]); gl_Position = p;
        }""",
        READ_X,
    )
    assert done.table() == {"a": ("0.x", "f32")}


# --- inputs that nobody writes ---


def stored_last(done: Result) -> list[int | None]:
    """The bits of what the fragment shader stores last, component by component (None: computed)."""
    store = [i for i in all_insts(done.frag) if i.op == ops.OpStore][-1]
    whole: Inst = store.args[1]
    parts = (
        whole.args if whole.op in (ops.OpConstantComposite, ops.OpCompositeConstruct) else [whole]
    )
    return [
        p.imm[0] if p.op == ops.OpConstant else 0 if p.op == ops.OpConstantNull else None
        for p in parts
    ]


def test_an_input_nobody_writes_is_zero() -> None:
    done = link(
        "layout(location = 0) out vec4 a; void main() { gl_Position = p; }",
        "layout(location = 0) in vec4 a; void main() { o = vec4(a.x + 1.0, a.y, a.z * 3.0, 1.0); }",
    )
    assert done.outputs == done.inputs == []
    one = 0x3F800000
    assert stored_last(done) == [one, 0, 0, one]
    assert "undefined" in done.fates().values()


def test_a_component_nobody_writes_is_zero() -> None:
    done = link(
        "layout(location = 0) out vec4 a; void main() { a.x = p.x; a.w = p.y; gl_Position = p; }",
        "layout(location = 0) in vec4 a; "
        "void main() { o = vec4(a.x * 2.0, a.y + 1.0, a.z, a.w * 3.0); }",
    )
    assert sum(len(d.covers) for d in done.outputs) == 2
    assert done.fates()["a 0.yz"] == "undefined"
    assert stored_last(done) == [None, 0x3F800000, 0, None]


def test_an_integer_nobody_writes_is_zero() -> None:
    done = link(
        "layout(location = 0) flat out int a; layout(location = 1) out float b; "
        "void main() { b = p.x; gl_Position = p; }",
        """layout(location = 0) flat in int a; layout(location = 1) in float b;
        void main() { o = a == 0 ? vec4(b) : vec4(sin(b)); }""",
    )
    assert done.table() == {"b": ("0.x", "f32")}
    assert not extended(done.frag, glsl.Glsl_Sin)


def test_a_dynamic_array_nobody_writes_is_zero() -> None:
    done = link(
        "layout(location = 0) out vec4 a; layout(location = 1) out float w[3]; "
        "void main() { a = p; gl_Position = p; }",
        """layout(location = 0) in vec4 a; layout(location = 1) in float w[3];
        layout(binding = 0) uniform U { int n; };
        void main() { o = vec4(a.x, w[n], w[n + 1] + 1.0, 1.0); }""",
    )
    assert stored_last(done)[1:3] == [0, 0x3F800000]


def test_a_cascade() -> None:
    """Each death brings the next: no mask is written, so no colour is read, so its code goes."""
    done = link(
        """layout(location = 0) out float mask; layout(location = 1) out vec3 colour;
        layout(location = 2) out float kept;
        void main() { colour = vec3(sin(p.x), cos(p.y), tan(p.z)); kept = p.w; gl_Position = p;
        }""",
        """layout(location = 0) in float mask; layout(location = 1) in vec3 colour;
        layout(location = 2) in float kept;
        void main() { o = vec4(kept); if (mask > 0.5) o.rgb *= colour; }""",
    )
    assert done.table() == {"kept": ("0.x", "f32")}
    assert count(done.vert, ops.OpExtInst) == 0
    assert count(done.frag, ops.OpSelectionMerge) == 0
    fates = done.fates()
    assert fates["mask 0.x"] == "undefined"
    assert fates["colour 1.xyz"] == "removed"


# --- what must stay ---


def test_builtins_of_the_last_stage_before_the_rasterizer_stay() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
        out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[2]; };
        void main() {
            a = p; b = sin(p); gl_Position = p; gl_PointSize = cos(p.x);
            gl_ClipDistance[0] = exp(p.y);
            gl_ClipDistance[1] = 1.0;
        }""",
        READ_X,
    )
    assert {
        enums.BuiltIn_Position,
        enums.BuiltIn_PointSize,
        enums.BuiltIn_ClipDistance,
    } <= builtins(done.vert)
    assert len(extended(done.vert, glsl.Glsl_Cos)) == len(extended(done.vert, glsl.Glsl_Exp)) == 1
    assert not extended(done.vert, glsl.Glsl_Sin)


LAYER = "#extension GL_ARB_shader_viewport_layer_array : require\n"


def test_layer_and_viewport_are_not_touched() -> None:
    done = link(
        LAYER
        + """layout(location = 0) out vec4 a; layout(location = 1) out vec4 dead;
        void main() { a = p; dead = p; gl_Position = p; gl_Layer = k.x; gl_ViewportIndex = k.y;
        }""",
        """layout(location = 0) in vec4 a; layout(location = 1) in vec4 dead;
        void main() { o = vec4(a.x, float(gl_Layer), float(gl_ViewportIndex), 1.0); }""",
    )
    both = {enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex}
    assert both <= builtins(done.vert)
    assert both <= builtins(done.frag)
    assert done.table() == {"a": ("0.x", "f32")}


def test_layer_that_nobody_reads_stays_written() -> None:
    done = link(
        LAYER
        + """layout(location = 0) out vec4 a;
        void main() { a = p; gl_Position = p; gl_Layer = k.x; }""",
        READ_X,
    )
    assert enums.BuiltIn_Layer in builtins(done.vert)


def test_transform_feedback_keeps_what_it_captures() -> None:
    done = link(
        """layout(xfb_buffer = 0, xfb_stride = 16) out;
        layout(location = 0) out vec4 a; layout(location = 1, xfb_offset = 0) out vec3 captured;
        layout(location = 2) out float dead;
        void main() { a = p; captured = sin(p.xyz); dead = cos(p.x); gl_Position = p; }""",
        READ_X,
    )
    assert "captured" in done.table()
    assert len(extended(done.vert, glsl.Glsl_Sin)) == 1
    assert not extended(done.vert, glsl.Glsl_Cos)


def test_effects_behind_a_dead_output_stay() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) out float b;
        layout(binding = 3) buffer B { uint hits; };
        void main() { a = p; b = float(atomicAdd(hits, 1u)); gl_Position = p; }""",
        READ_X,
    )
    assert done.table() == {"a": ("0.x", "f32")}
    assert count(done.vert, ops.OpAtomicIAdd) == 1


def test_the_outer_interface_stays() -> None:
    """Outputs of the fragment shader stay declared, also those that it does not write."""
    done = link(
        "layout(location = 0) out vec4 a; void main() { a = p; gl_Position = p; }",
        "layout(location = 0) in vec4 a; layout(location = 3) out vec4 second; "
        "void main() { o = vec4(a.x); }",
    )
    names = {of for of, name in done.frag.names if op_of_name(name) == ops.OpName}
    assert done.frag.entry is not None
    listed = [v for v in done.frag.entry.inst.args[1:] if v.imm[0] == enums.StorageClass_Output]
    assert len(listed) == 2 and all(v in names for v in listed)


# --- samples ---

SAMPLE = "layout(location = 0) sample in vec2 fine; layout(location = 1) in vec2 uv;"


@pytest.mark.parametrize(
    ("body", "anchored"),
    [
        ("vec2 dead = fine; o = vec4(uv, uv);", True),  # used statically, but nobody needs it
        ("o = vec4(uv, fine);", False),  # still there
        ("o = vec4(uv, uv);", True),  # never used, but listed: Mesa looks no further
        (
            "vec2 dead = fine; o = vec4(uv, float(gl_SampleID), 1.0);",
            False,
        ),  # SampleId says it already
    ],
)
def test_the_last_sample_input(body: str, anchored: bool) -> None:
    done = link(
        "layout(location = 0) out vec2 fine; layout(location = 1) out vec2 uv;"
        "void main() { fine = sin(p.xy); uv = p.zw; gl_Position = p; }",
        f"{SAMPLE} void main() {{ {body} }}",
    )
    per_sample = enums.BuiltIn_SampleId in builtins(done.frag)
    kept = any(enums.Decoration_Sample in d.qualifiers for d in done.inputs)
    assert per_sample == (anchored or "gl_SampleID" in body)
    assert kept == ("fine);" in body), "the input itself goes"
    if per_sample:
        assert done.frag.entry is not None
        (variable,) = [
            v for v in done.frag.entry.inst.args[1:]
            if any(n.args[0] is v and n.imm == (enums.Decoration_BuiltIn, enums.BuiltIn_SampleId)
                   for n in done.frag.annotations if n.op == ops.OpDecorate)
        ]  # fmt: skip
        assert any(i.op == ops.OpLoad and i.args[0] is variable for i in all_insts(done.frag))
        capabilities = {c.imm[0] for c in done.frag.sections[0]}
        assert enums.Capability_SampleRateShading in capabilities


# --- interpolateAt*, blocks, structs ---


def test_interpolation_functions_keep_their_input() -> None:
    done = link(
        """layout(location = 3) out vec2 a; layout(location = 4) out vec2 b;
        layout(location = 7) out vec4 dead;
        void main() { a = p.xy; b = p.zw; dead = p; gl_Position = p; }""",
        """layout(location = 3) in vec2 a; layout(location = 4) in vec2 b;
        layout(location = 7) in vec4 dead;
        void main() {
            o = vec4(interpolateAtOffset(a, vec2(0.25)), interpolateAtCentroid(b).x, b.y);
        }""",
    )
    assert done.locations == {0}
    found = extended(done.frag, glsl.Glsl_InterpolateAtOffset) + extended(
        done.frag, glsl.Glsl_InterpolateAtCentroid
    )
    assert len(found) == 2
    assert all(i.args[1].op in (ops.OpVariable, ops.OpAccessChain) for i in found)


def test_a_block_becomes_variables() -> None:
    done = link(
        """layout(location = 1) out Surface { vec3 normal; vec2 uv; flat int kind; } s;
        void main() { s.normal = p.xyz; s.uv = p.zw; s.kind = k.x; gl_Position = p; }""",
        """layout(location = 1) in Surface { vec3 normal; vec2 uv; flat int kind; } s;
        void main() { o = vec4(s.uv, s.normal.z, float(s.kind)); }""",
    )
    assert done.table() == done.table(inputs=True)
    assert sum(len(d.covers) for d in done.outputs) == 4
    assert len(done.locations) == 2


def test_a_struct_becomes_variables() -> None:
    struct = "struct S { vec3 a; float b[2]; mat2 m; };"
    done = link(
        struct
        + "layout(location = 0) out S s; void main() { s.a = p.xyz; s.b[0] = p.x; s.b[1] = p.y;"
        " s.m = mat2(p.xy, p.zw); gl_Position = p; }",
        struct + "layout(location = 0) in S s; void main() { o = vec4(s.a.y, s.b[1], s.m[1]); }",
    )
    assert sum(len(d.covers) for d in done.outputs) == 4
    assert len(done.locations) == 1


# --- the report ---


def test_every_varying_has_a_remark() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) out vec2 unread;
        layout(location = 2) out float lonely;
        layout(location = 4) out float w[2]; layout(location = 6) out float never;
        void main() { a = p; unread = p.xy; lonely = p.x; w[k.x & 1] = p.y; gl_Position = p; }""",
        """layout(location = 0) in vec4 a; layout(location = 1) in vec2 unread;
        layout(location = 4) in float w[2];
        layout(location = 6) in float never; layout(binding = 0) uniform U { int n; };
        void main() { o = vec4(a.xy, w[n], never); }""",
    )
    remarks = [r for r in done.linked.remarks if r.interface != "vert"]
    assert {r.name for r in remarks} == {"a", "unread", "lonely", "w", "never"}
    assert all(r.action in ACTIONS and r.why and r.interface == "vert->frag" for r in remarks)
    actions = {(r.name, r.slot): r.action for r in remarks}
    assert (
        actions["unread", "1.xy"] == actions["lonely", "2.x"] == actions["a", "0.zw"] == "removed"
    )
    assert actions["never", "6.x"] == "undefined"
    (border,) = done.linked.interfaces
    assert border.components == (4 + 2 + 1 + 2 + 1, 2 + 2)
    assert border.locations == (6, len(done.locations))


def test_linking_again_changes_nothing() -> None:
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 1) flat out ivec3 b;
        layout(location = 2) out float w[2];
        layout(location = 5) out mat2 m;
        void main() { a = p; b = k.xyz; w[k.x & 1] = p.y; m = mat2(p.xy, p.wz); gl_Position = p;
        }""",
        """layout(location = 0) in vec4 a; layout(location = 1) flat in ivec3 b;
        layout(location = 2) in float w[2];
        layout(location = 5) in mat2 m; layout(binding = 0) uniform U { int n; };
        void main() { o = vec4(m * a.zw, w[n], float(b.y + b.x)); }""",
    )
    again = spvlink.link(done.data, base_options())
    assert again.passed_through == "nothing to gain" and not again.remarks
    assert [s.data for s in again.stages] == done.data


def test_halves_that_stay_whole_may_be_read_by_a_shorter_vector() -> None:
    """With StorageInputOutput16 alone, what is handed on as it is stays as declared."""
    wide = "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
    vert = vertex(
        wide
        + """layout(location = 3) out f16vec4 a; layout(location = 4) out vec4 b;
        layout(location = 7) in f16vec4 h;
        void main() { a = h; b = p; gl_Position = p; }""",
        "vulkan1.1",
    )
    frag = fragment(
        wide
        + """layout(location = 3) in f16vec2 a; layout(location = 4) in vec2 b;
        void main() { o = vec4(a, b); }""",
        "vulkan1.1",
    )
    done = Result(vert, frag)
    assert done.linked.passed_through is None and done.linked.validated == "validated"
    assert done.table()["a"] == ("3.xyzw", "f16x4")


# --- remarks that are made when somebody asks ---


@interpreted
def test_a_result_holds_no_code_and_can_be_copied_before_its_remarks_are_made() -> None:
    """What the remarks will be made of are slots and types; a copy has them made."""
    linked = spvlink.link(
        [
            vertex(
                """layout(location = 0) out vec4 a; layout(location = 1) out float rows[3];
                void main() { a = p; rows[k.x] = p.y; gl_Position = p; }"""
            ),
            fragment(
                """layout(location = 0) in vec4 a; layout(location = 1) in float rows[3];
                void main() { o = vec4(a.x, rows[1], rows[2], 0.0); }"""
            ),
        ],
        base_options(),
    )
    seen: dict[int, object] = {}
    todo: list[object] = [cell for tell in linked.later for cell in tell.__closure__ or ()]
    while todo:
        one = todo.pop()
        if id(one) not in seen and not isinstance(one, type):
            seen[id(one)] = one
            todo += gc.get_referents(one)
    held = [one for one in seen.values() if isinstance(one, Inst)]
    assert held and not any(isinstance(one, Block | Function) for one in held)
    copied = pickle.loads(pickle.dumps(linked))
    said = [[(r.name, r.slot, r.action, r.why) for r in x.remarks] for x in (copied, linked)]
    assert said[0] == said[1] and {action for _, _, action, _ in said[0]} == {"packed", "removed"}
    assert linked.remarks is linked.remarks and not linked.later
