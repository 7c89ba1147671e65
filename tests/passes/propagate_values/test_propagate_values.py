"""Constants and uniform expressions that cross the border: what moves, what must not, and why."""

from __future__ import annotations

import numpy as np
import pytest

from spvlink.draw import draw, draw_covering
from spvlink.grammar import enums, glsl, ops
from tests.support.linking import Result, all_insts, count, extended, fragment, vertex
from tests.support.propagation import (
    ALL_SETS,
    FLAT_IN,
    FLAT_OUT,
    IN,
    OUT,
    PUSH,
    READ,
    UBO,
    USE,
    assert_kept,
    assert_moved,
    compiled,
    link,
    pair,
    said,
)


def layout(push: int = 128) -> dict[str, object]:
    """Two sets of three bindings and ``push`` bytes, all for all stages."""
    ranges = [{"stageFlags": ["ALL"], "offset": 0, "size": push}]
    return {"setLayouts": ALL_SETS, "pushConstantRanges": ranges}


def constants(done: Result) -> set[int]:
    """The bits of the scalar constants of the fragment shader."""
    return {i.imm[0] for i in done.frag.globals if i.op == ops.OpConstant}


# --- constants ---

CONSTANTS = {
    "float": ("out float a;--a = 0.75;", "in float a;--o = vec4(a);", "constant 0.75"),
    "int": ("flat out int a;--a = -7;", "flat in int a;--o = vec4(a);", "constant -7"),
    "uint": (
        "flat out uint a;--a = 4000000000u;",
        "flat in uint a;--o = vec4(a >> 3);",
        "constant 4000000000",
    ),
    "vector": ("out vec2 a;--a = vec2(0.5);", "in vec2 a;--o = a.xyxy;", "constant 0.5"),
    "integer vector": (
        "flat out ivec3 a;--a = ivec3(3);",
        "flat in ivec3 a;--o = vec4(a, 1);",
        "constant 3",
    ),
    "through functions": (
        "out float a; float g(float x) { return x * 3.0; } float f() { return g(2.0) + 1.0; }"
        "--a = f();",
        "in float a;--o = vec4(a);",
        "constant 7",
    ),
    "unrolled by folding": (
        "out float a;--a = clamp(5.0, 0.0, 1.0) + 0.5;",
        "in float a;--o = vec4(a);",
        "constant 1.5",
    ),
    "array": (
        "out float a[2];--a[0] = 2.0; a[1] = 2.0;",
        "in float a[2];--o = vec4(a[0] - 0.5, a[1], 0, 1);",
        "constant 2",
    ),
    "on one path only": (
        "out float a;--if (k.x > 0) a = 3.0;",
        "in float a;--o = vec4(a);",
        "constant 3",
    ),
    "the same on two paths": (
        "out float a;--if (k.x > 0) { a = 3.0; gl_Position = p; return; } a = 3.0;",
        "in float a;--o = vec4(a);",
        "constant 3",
    ),
    "at an offset": (
        "out float a;--a = 3.0;",
        "in float a;--o = vec4(interpolateAtOffset(a, vec2(0.25)));",
        "constant 3",
    ),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_move(name: str) -> None:
    vert, frag, why = CONSTANTS[name]
    place = "layout(location = 0) "
    assert_moved(link(place + vert, place + frag), why)


def test_a_struct_member_moves_and_the_others_stay() -> None:
    text = "struct S { vec2 uv; float k; vec4 c; };\nlayout(location = 0) {} S s;"
    done = link(
        text.replace("{}", "out") + "--s = S(p.xy, 0.5, vec4(p.xyz, 1.0));",
        text.replace("{}", "in") + "--o = s.c * s.k + s.uv.xyxy;",
    )
    fates = done.fates()
    moved = {name for name, action in fates.items() if action == "propagated"}
    assert len(moved) == 2 and len(fates) > 3, fates
    assert sum(len(d.covers) for d in done.outputs) == 5


def test_a_vector_moves_in_part() -> None:
    done = link(OUT + "--a = vec4(p.xy, 0.25, 2.0);", IN + "--o = a;")
    remarks = said(done)
    assert remarks["a 0.z"] == ("propagated", "constant 0.25")
    assert remarks["a 0.w"] == ("propagated", "constant 2")
    assert remarks["a 0.xy"][0] == "kept"
    assert done.table() == done.table(inputs=True) == {"a": ("0.xy", "f32x2")}


def test_an_invariant_output_stays() -> None:
    frag = "layout(location = 0) in float a;--o = vec4(a);"
    vert = "layout(location = 0) invariant out float a;--a = 2.0;"
    assert_kept(link(vert, frag), "it is Invariant")


def test_different_constants_on_two_paths_stay() -> None:
    frag = "layout(location = 0) in float a;--o = vec4(a);"
    body = "if (k.x > 0) { a = 3.0; gl_Position = p; return; } a = 4.0;"
    assert_kept(link(f"layout(location = 0) out float a;--{body}", frag), "")


def test_a_constant_folds_away_what_used_it() -> None:
    done = link(
        "layout(location = 0) flat out int a;--a = 2;",
        "layout(location = 0) flat in int a;--o = a == 2 ? vec4(1.0) : sin(gl_FragCoord);",
    )
    assert_moved(done)
    assert not extended(done.frag, glsl.Glsl_Sin) and count(done.frag, ops.OpSelect) == 0


def test_switched_off() -> None:
    done = link(
        OUT + "--a = vec4(0.5);", IN + "--" + READ, disable=frozenset(("dedup", "propagate"))
    )
    assert not any(r.action == "propagated" for r in done.linked.remarks)
    assert done.outputs


# --- uniform buffers and push constants ---

NESTED = """struct S { vec4 t; vec4 w[3]; };
layout(set = 0, binding = 0) uniform U { vec4 q; S s[2]; } u;
"""
MOVES: dict[str, tuple[str, str, str, bool]] = {
    "push constant, same block": (
        PUSH + OUT + "--a = u.tint;",
        PUSH + IN + "--" + USE,
        "push",
        False,
    ),
    "uniform, same block": (
        UBO + OUT + "--a = u.tint;",
        UBO + IN + "--" + USE,
        "at byte 16",
        False,
    ),
    "expression": (
        UBO + OUT + "--a = u.tint * 2.0 + u.f;",
        UBO + IN + "--" + USE,
        "set 0, binding 0 at byte 96",
        False,
    ),
    "through functions": (
        UBO + OUT + "vec4 g(vec4 x) { return x + u.pad; } vec4 f() { return g(u.tint); }--a = f();",
        UBO + IN + "--" + USE,
        "set 0, binding 0",
        False,
    ),
    "column of a matrix": (UBO + OUT + "--a = u.m[2];", UBO + IN + "--" + USE, "at byte 64", False),
    "other names, same bytes": (
        UBO + OUT + "--a = u.tint;",
        "layout(set = 0, binding = 0) uniform Q { vec4 x; vec4 y; } v;\n" + IN + "--o = a + v.y;",
        "at byte 16",
        False,
    ),
    "another part of the same buffer is used": (
        UBO + OUT + "--a = u.tint;",
        UBO + IN + "--o = a + u.pad;",
        "at byte 16",
        False,
    ),
    "nested": (
        NESTED + OUT + "--a = u.s[1].w[2];", NESTED + IN + "--o = a + u.q;", "at byte 128", False,
    ),
    "array of buffers, constant index": (
        UBO.replace("u;", "u[3];") + OUT + "--a = u[1].tint;",
        UBO.replace("u;", "u[3];") + IN + "--o = a + u[0].tint;",
        "at byte 16",
        False,
    ),
    "push constant, granted": (PUSH + OUT + "--a = u.tint;", IN + "--" + READ, "push", True),
    "uniform, granted": (UBO + OUT + "--a = u.tint;", IN + "--" + READ, "at byte 16", True),
    "other set, granted": (
        UBO.replace("set = 0", "set = 1") + OUT + "--a = u.tint;",
        UBO + IN + "--" + USE,
        "set 1, binding 0",
        True,
    ),
    "both, granted": (
        UBO + PUSH.replace(" u;", " q;") + OUT + "--a = u.tint * q.tint;",
        IN + "--" + READ,
        "push constants at byte 16 and set 0, binding 0 at byte 16",
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_resources_move(name: str) -> None:
    vert, frag, why, granted = MOVES[name]
    assert_moved(link(vert, frag, layout=layout() if granted else None), why)


SMALL = "layout(%s) uniform Q { vec4 pad; } v;\n"
WRONG = "layout(%s) uniform Q { vec4 pad; ivec4 other; } v;\n"
SET0, SET1 = "set = 0, binding = 0", "set = 1, binding = 0"
ROW = "layout(set = 0, binding = 0, row_major) uniform U { mat4 m; vec4 tint; } u;\n"
TABLE = "layout(set = 0, binding = 0) uniform U { vec4 t[4]; int i; } u;\n"
STORAGE = "layout(set = 0, binding = 0) readonly buffer B { vec4 tint; } u;\n"
REFUSED: dict[str, tuple[str, str, str, bool]] = {
    "no block there": (PUSH + OUT + "--a = u.tint;", IN + "--" + READ, "not declare these", False),
    "push constants too short": (
        PUSH + OUT + "--a = u.tint;",
        SMALL % "push_constant" + IN + "--o = a + v.pad;",
        "does not declare these push constants",
        False,
    ),
    "push constants declared, not used": (
        PUSH + OUT + "--a = u.tint;",
        PUSH + IN + "--" + READ,
        "does not declare these push constants",
        False,
    ),
    "no buffer there": (UBO + OUT + "--a = u.tint;", IN + "--" + READ, "does not use set 0", False),
    "other set": (
        UBO.replace("set = 0", "set = 1") + OUT + "--a = u.tint;",
        UBO + IN + "--" + USE,
        "does not use set 1, binding 0",
        False,
    ),
    "other binding": (
        UBO.replace("binding = 0", "binding = 2") + OUT + "--a = u.tint;",
        UBO + IN + "--" + USE,
        "does not use set 0, binding 2",
        False,
    ),
    "conflicting member, buffer": (
        UBO + OUT + "--a = u.tint;",
        WRONG % SET0 + IN + "--o = a + v.pad + v.other;",
        "declares another type at these bytes",
        False,
    ),
    "conflicting member, granted": (
        PUSH + OUT + "--a = u.tint;",
        WRONG % "push_constant" + IN + "--o = a + v.pad + v.other;",
        "declares another type at these bytes",
        True,
    ),
    "dynamic index into an array of buffers": (
        "#extension GL_EXT_nonuniform_qualifier : enable\n"
        + UBO.replace("u;", "u[3];") + OUT + "--a = u[k.x & 1].tint;",
        UBO.replace("u;", "u[3];") + IN + "--o = a + u[0].tint;",
        "an array of resources with an index that is not known",
        False,
    ),
    "dynamic index, from the buffer": (
        TABLE + OUT + "--a = u.t[u.i];",
        TABLE + IN + "--o = a + u.t[0];",
        "an index that is not constant",
        False,
    ),
    "column of a row-major matrix": (
        ROW + OUT + "--a = u.m[1];", ROW + IN + "--" + USE, "row-major", False,
    ),
    "storage buffer": (
        STORAGE + OUT + "--a = u.tint;",
        STORAGE + IN + "--" + USE,
        "memory that may change",
        True,
    ),
    "attribute": (OUT + "--a = p * 2.0;", IN + "--" + READ, "", True),
    "attribute in it": (UBO + OUT + "--a = p * u.tint;", UBO + IN + "--" + USE, "", True),
    "precise": (
        UBO + "layout(location = 0) out precise vec4 a;--a = u.tint * u.pad + u.f;",
        UBO + IN + "--" + USE,
        "NoContraction",
        False,
    ),
    "image": (
        "layout(binding = 1) uniform sampler2D t;\n" + OUT + "--a = texelFetch(t, ivec2(0), 0);",
        IN + "--" + READ,
        "not propagated",
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_resources_stay(name: str) -> None:
    vert, frag, why, granted = REFUSED[name]
    assert_kept(link(vert, frag, layout=layout() if granted else None), why)


def test_a_layout_may_also_refuse() -> None:
    done = link(PUSH + OUT + "--a = u.tint;", IN + "--" + READ, layout=layout(push=16))
    assert_kept(done, "the layout gives that stage no such push constants")
    hidden = UBO.replace("binding = 0", "binding = 5") + OUT + "--a = u.tint;"
    assert_kept(link(hidden, IN + "--" + READ, layout=layout()), "does not show set 0, binding 5")


def members(done: Result, storage: int) -> list[int]:
    """Byte offsets of the members of the fragment shader's only block of a storage class."""
    (variable,) = [
        v for v in done.frag.globals if v.op == ops.OpVariable and v.imm[0] == storage
    ]  # fmt: skip
    assert variable.type is not None
    struct = variable.type.args[0]
    found = [
        i.imm[2] for i in done.frag.annotations
        if i.op == ops.OpMemberDecorate and i.args[0] is struct
        and i.imm[1] == enums.Decoration_Offset
    ]  # fmt: skip
    assert len(found) == len(struct.args)
    return found


@pytest.mark.parametrize(
    "there, where, storage",
    [
        (PUSH, "push_constant", enums.StorageClass_PushConstant),
        (UBO, SET0, enums.StorageClass_Uniform),
    ],
    ids=["push", "buffer"],
)
@pytest.mark.parametrize(
    "value, offset", [("u.tint", 16), ("u.m[1]", 48), ("vec4(u.f)", 96)], ids=["vec", "col", "f"]
)
def test_a_block_gets_the_member_it_lacks(
    there: str, where: str, storage: int, value: str, offset: int
) -> None:
    frag = SMALL % where + IN + "--o = a + v.pad;"
    done = link(there + OUT + f"--a = {value};", frag, layout=layout())
    assert_moved(done)
    assert members(done, storage) == [0, offset]


def test_a_new_block_has_only_what_is_read() -> None:
    done = link(UBO + OUT + "--a = u.tint;", IN + "--" + READ, layout=layout())
    assert members(done, enums.StorageClass_Uniform) == [16]


def test_the_same_member_twice_is_declared_once() -> None:
    done = link(
        UBO + OUT + "layout(location = 1) out vec4 b;--a = u.tint; b = u.tint * 2.0;",
        IN + "layout(location = 1) in vec4 b;--o = a - b;",
        layout=layout(),
    )
    assert_moved(done)
    assert members(done, enums.StorageClass_Uniform) == [16]


# --- specialization constants ---

SPEC = "layout(constant_id = 0) const float c = 1.0;\n"


def test_a_specialization_constant_stays() -> None:
    done = link(SPEC + OUT + "--a = vec4(c);", IN + "--" + READ)
    assert_kept(done, "specialization constant (give its value with --spec)")


def test_the_same_id_in_both_stages_is_two_constants() -> None:
    done = link(SPEC + OUT + "--a = vec4(c);", SPEC + IN + "--o = a + c;")
    assert_kept(done, "specialization constant")


def test_a_specialization_constant_with_a_value_moves() -> None:
    done = link(SPEC + OUT + "--a = vec4(c);", IN + "--" + READ, spec={("vert", 0): "2.0"})
    assert_moved(done, "constant 2")
    assert 0x40000000 in constants(done)


def test_a_value_for_one_stage_leaves_the_other_stage_s_constant() -> None:
    frag = SPEC + IN + "--o = a + c;"
    done = link(SPEC + OUT + "--a = vec4(c);", frag, spec={("vert", 0): "2.0"})
    assert_moved(done, "constant 2")
    assert [i.op for i in done.frag.globals].count(ops.OpSpecConstant) == 1


# --- cost ---

CHEAP = UBO + OUT + "--a = u.tint * u.pad;"
DEAR = UBO + OUT + "--a = sin(cos(tan(u.tint))) + pow(u.pad, u.tint) + exp(u.tint);"
# (vertex side, --cost-limit) -> whether it moves
COSTS = [
    (OUT + "--a = vec4(0.5);", 0, True),
    (CHEAP, 0, False),
    (CHEAP, 100, True),
    (CHEAP, 10, False),
    (DEAR, 100, False),
    (DEAR, 100_000, True),
]


@pytest.mark.parametrize("vert, limit, moves", COSTS)
def test_cost(vert: str, limit: int, moves: bool) -> None:
    done = link(vert, UBO + IN + "--" + USE, cost_limit=limit)
    if moves:
        assert_moved(done)
        return
    assert_kept(done, "not propagated: it costs ")
    (why,) = {why for _, why in said(done).values()}
    words = why[why.index("it costs ") :].replace(",", "").split()
    cost, saved = int(words[2]), int(words[-1])
    assert cost > saved == 48 * limit // 100


def test_what_two_components_share_is_paid_once() -> None:
    """Four components of one expensive scalar cost no more than one of them."""
    body = "float s = sin(u.f); a = vec4(s, s * 2.0, s * 3.0, s * 4.0);"
    one = link(UBO + OUT + "--" + body, UBO + IN + "--" + USE)
    assert_moved(one)
    assert len(extended(one.frag, glsl.Glsl_Sin)) == 1


# --- exact bits ---


@pytest.mark.parametrize("value", ["vec4(0.5)", "u.tint", "u.tint * 2.0"])
def test_exact_keeps_what_is_interpolated(value: str) -> None:
    done = link(UBO + OUT + f"--a = {value};", UBO + IN + "--" + USE, exact=True)
    assert_kept(done, "--exact")


@pytest.mark.parametrize("value", ["vec4(0.5)", "vec4(1.0 / 0.0)", "u.tint", "u.tint * 2.0"])
def test_exact_moves_what_is_flat(value: str) -> None:
    assert_moved(link(UBO + FLAT_OUT + f"--a = {value};", UBO + FLAT_IN + "--" + USE, exact=True))


@pytest.mark.parametrize("value", ["vec4(1e-40)", "vec4(-1e-44)"])
def test_a_denormal_constant_stays(value: str) -> None:
    for out, into in ((OUT, IN), (FLAT_OUT, FLAT_IN)):
        assert_kept(link(out + f"--a = {value};", into + "--" + READ), "denormal")
    assert_moved(link(FLAT_OUT + "--a = vec4(1.17549435e-38);", FLAT_IN + "--" + READ))


@pytest.mark.parametrize(
    "use, stays",
    [
        ("unpackHalf2x16(a.x).y + unpackHalf2x16(a.y).x", True),
        ("uintBitsToFloat(a.x & a.y)", True),
        ("float(packDouble2x32(a))", True),
        ("uintBitsToFloat(t[own & 1u])", True),
        ("float(a.x + a.y)", False),
        ("float(a.x + a.y) + uintBitsToFloat(own)", False),
    ],
)
def test_an_integer_that_becomes_a_denormal_stays(use: str, stays: bool) -> None:
    head = "layout(location = 0) flat {0} uvec2 a;\nlayout(location = 1) flat {0} uint own;\n"
    body = f"uint t[2]; t[0] = a.x; t[1] = a.y; o = vec4({use});"
    done = link(
        head.format("out") + "--a = uvec2(0x10001u, 7u); own = uint(p.x);",
        head.format("in") + "--" + body,
    )
    moved = [r.action for r in done.linked.remarks if r.name == "a"]
    whys = [r.why for r in done.linked.remarks if r.name == "a"]
    assert ("propagated" in moved) != stays, moved
    assert any("denormal" in why for why in whys) == stays


@pytest.mark.parametrize(
    "use, stays",
    [
        ("uintBitsToFloat(a) + unpackHalf2x16(a).x", True),  # the second cast makes one
        ("uintBitsToFloat(a >> 20)", True),
        ("uintBitsToFloat(p.x > 0 ? own : a >> 20)", True),
        ("uintBitsToFloat(a & zero) + uintBitsToFloat(zero + 1u)", True),
        ("uintBitsToFloat(floatBitsToUint(one) >> 20)", True),
        ("uintBitsToFloat(p.x > 0 ? own : a)", False),
        ("uintBitsToFloat((a ^ own) >> 20)", False),  # its compiler does not know it
        ("uintBitsToFloat(a) + float(a >> 20)", False),
        ("uintBitsToFloat(uint(uintBitsToFloat(a) * 9.0))", True),  # the first cast makes none
        ("uintBitsToFloat((uint(one * 9.0) & 0x7fffffu) | 0x3f800000u)", False),  # never
        ("uintBitsToFloat((uvec2(one * 9.0) | uvec2(0x3f800000u, 0x7fffffu)).y)", True),
        ("uintBitsToFloat(uvec2(one * 9.0) | uvec2(0x3f800000u, 0x800000u)).y", False),
        ("unpackHalf2x16(uint(one * 9.0) | 0x3f800000u).x", True),  # its lower half may be
    ],
)
def test_a_number_that_is_made_into_a_denormal_stays(use: str, stays: bool) -> None:
    head = "".join(
        f"layout(location = {at}) flat {{0}} {name};\n"
        for at, name in enumerate(("uint a", "uint zero", "float one", "uint own"))
    )
    done = link(
        head.format("out") + "--a = 0x3f800001u; zero = 0u; one = 1.0; own = uint(p.x);",
        head.format("in") + "--" + f"o = vec4({use});".replace("p.x", "gl_FragCoord.x"),
    )
    whys = [r.why for r in done.linked.remarks]
    assert any("denormal" in why for why in whys) == stays, whys


# --- pictures ---

UV_OUT, UV_IN = "layout(location = 3) out vec2 uv;\n", "layout(location = 3) in vec2 uv;\n"
PICTURES = {
    "constant": (OUT + UV_OUT + "--a = vec4(0.3, 0.7, -1.5, 1.0); uv = p.xy;",
                 IN + UV_IN + "--o = a * uv.xyxy;"),
    "push": (PUSH + OUT + UV_OUT + "--a = u.tint * u.pad; uv = p.xy;",
             IN + UV_IN + "--o = a + uv.xyxy;"),
    "buffer": (UBO + OUT + UV_OUT + "--a = u.m[1] + u.tint * u.f; uv = p.xy;",
               SMALL % SET0 + IN + UV_IN + "--o = a * v.pad + uv.xyxy;"),
    "nested": (MOVES["nested"][0].replace("--", UV_OUT + "--uv = p.xy; "),
               MOVES["nested"][1].replace("--o = ", UV_IN + "--o = uv.xyxy + ")),
}  # fmt: skip


def flat(text: str) -> str:
    return text.replace("out vec4 a;", "flat out vec4 a;").replace("in vec4 a;", "flat in vec4 a;")


@pytest.mark.parametrize("exact", [False, True], ids=["close", "exact"])
@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_same(name: str, exact: bool) -> None:
    vert, frag = (flat(side) if exact else side for side in PICTURES[name])
    done = link(vert, frag, layout=layout(), exact=exact)
    assert "propagated" in done.fates().values()
    left, right = pair(vert, frag)
    codes = [compiled(vertex, left), compiled(fragment, right)]
    scene, _ = draw_covering(codes)
    scene.open_to_all()
    before = draw(codes, scene)
    after = draw(done.data, scene)
    assert before.is_good()
    for image, old in before.images.items():
        new = after.images[image]
        if exact:
            assert old.tobytes() == new.tobytes(), image
            continue
        a, b = old.astype("f8"), new.astype("f8")
        assert np.all(np.abs(a - b) <= 1e-4 * np.maximum(1.0, np.abs(a))), image


def test_a_moved_value_stands_once_in_a_block() -> None:
    done = link(
        UBO + OUT + "--a = u.tint * u.pad;",
        UBO + IN + "--o = a + a.wzyx; o.x += interpolateAtCentroid(a).x + u.f;",
    )
    assert_moved(done)
    assert sum(1 for i in all_insts(done.frag) if i.op == ops.OpFMul) <= 4
