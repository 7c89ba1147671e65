"""Code that crosses from the fragment to the vertex stage and back: moved or refused exactly as the
algebra at the head of ``spvlink/link/motion.py`` says. Whatever moved is drawn, before and after.
"""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import draw, draw_covering
from tests.support.chain_hazards import frag, vert
from tests.support.closeness import assert_close
from tests.support.motion_pairs import (
    ALONE,
    PAIR,
    PUSH,
    STORES,
    THREE,
    X,
    Y,
    actions,
    backward_only,
    components,
    consumer,
    forward_only,
    link,
    moved,
    options,
    producer,
    same_picture,
    stay,
)
from tests.support.samples import compile_glsl

# --- operation x operands, one interpolation ------------------------------------------------------

LINEAR = [
    "x + y", "x - y", "-(x + y)", "x * K + y", "K * x - y", "fma(x, K, y)",
    "x / 3.0 + y / vec4(2.0, 4.0, 5.0, 7.0)",
    "fma(K, y, x)", "mix(x, y, K)", "mix(x, y, 0.25)", "mix(K, L, 0.5) + x + y", "x * K.x + y",
    "M * x + y", "x * M - y", "mix(x, y, bvec4(K.x > 0.3))", "mix(K, L, x) + y",
    "mix(x, y, bvec4(1, 0, 1, 1))",
    "x * sin(K) + y * (1.5 + L * L)", "(x + 1000.0) * 0.001 + y",
    "vec4(cross(x.xyz, K.xyz), x.w) + y", "vec4(cross(L.xyz, x.xyz), y.w) + y",
    "vec4(mat3(M) * x.xyz, x.w) + y", "mat4(x, y, x, y) * K", "K * mat4(x, y, x, y)",
    "(outerProduct(x, K) * L) + y", "vec4(x.xy + y.zw, x.zw - y.xy)", "x.wzyx + y.yxwz",
]  # fmt: skip
FEWER = [  # E has one component
    "vec4(dot(x, K) + dot(y, L))", "vec4(dot(x - y, vec4(1.0, 2.0, 3.0, 4.0)))",
    "vec4(dot(x.xyz, K.xyz) + y.w)", "vec4(x.x + x.y + x.z + x.w - y.x * 2.0)",
]  # fmt: skip
NOT_LINEAR = [
    "x * y", "x / y", "K / x + y", "abs(x) + y", "abs(x) * abs(y)", "max(x, y)", "min(x, y)",
    "clamp(x, y, K)", "clamp(x, 0.0, 1.0) + y", "pow(abs(x), y)", "normalize(x) + y",
    "vec4(length(x)) + y", "vec4(distance(x, y))", "vec4(dot(x, y))", "fma(x, y, K)",
    "mix(x, K, y)", "mix(K, y, x)", "vec4(lessThan(x, y))", "x * x + y", "exp2(x) + y",
    "sqrt(abs(x)) + y", "inversesqrt(abs(x) + 1.0) + y", "sin(x) + y", "smoothstep(x, y, K)",
    "reflect(x, y)", "vec4(cross(x.xyz, y.xyz), 1.0)", "vec4(determinant(mat2(x.xy, y.xy)))",
    "mat4(x, x, y, y) * x", "outerProduct(x, y) * K", "floor(x) + y", "fract(x) + y",
    "x.x > 0.2 ? x : y", "mix(x, y, bvec4(x.x > 0.2))",
]  # fmt: skip


@pytest.mark.parametrize("expression", LINEAR)
def test_linear_expressions_move(expression: str) -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    frag = consumer(f"o = cos({expression});", PAIR)
    done = moved(vert, frag, 4, backward_only())
    assert "moved-backward" in actions(done)["x"] & actions(done)["y"]
    stay(vert, frag, backward_only(exact=True))


@pytest.mark.parametrize("expression", FEWER)
def test_linear_expressions_of_one_component_move(expression: str) -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    moved(
        vert,
        consumer(f"o = cos({expression}) * gl_FragCoord.xyxy * 0.02;", PAIR),
        1,
        backward_only(),
    )


@pytest.mark.parametrize("expression", NOT_LINEAR)
def test_other_expressions_stay(expression: str) -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    stay(vert, consumer(f"o = cos({expression});", PAIR), backward_only())


@pytest.mark.parametrize("expression", [e for e in NOT_LINEAR if "normalize" not in e])
def test_all_of_them_move_if_flat(expression: str) -> None:
    """Where a jump depends on the last bit too: Flat values come over to the bit."""
    outputs = "flat vec4 x; flat vec4 y"
    vert = producer(f"x = {X}; y = {Y};", outputs)
    frag = consumer(f"o = vec4({expression}) + vec4({expression}).wzyx * gl_FragCoord.x;", outputs)
    done = link(vert, frag, backward_only())
    assert "moved-backward" in actions(done)["x"] and components(done) <= 4
    same_picture(vert, frag, done)


QUALIFIERS = ("", "flat", "noperspective", "centroid", "sample", "noperspective centroid")


@pytest.mark.parametrize("first", QUALIFIERS)
@pytest.mark.parametrize("second", QUALIFIERS)
def test_one_interpolation_for_all_operands(first: str, second: str) -> None:
    outputs = f"{first} vec4 x; {second} vec4 y"
    vert = producer(f"x = {X}; y = {Y};", outputs)
    frag = consumer("o = cos(x + y);", outputs)
    if first == second:
        done = link(vert, frag, backward_only())
        assert actions(done)["x"] == actions(done)["y"] == {"moved-backward"}
        assert components(done) == 4
        same_picture(vert, frag, done)
    else:
        assert components(stay(vert, frag, backward_only())) == 8


BLOCK = "layout(binding = 0) uniform U { vec4 u; } block;\n"
BLOCKS = PUSH + BLOCK
OPERANDS = {  # what x is multiplied with: (expression, moved, declared in the fragment shader)
    "constant": ("vec4(1.5, -2.0, 0.25, 3.0)", True, PUSH),
    "push constant": ("K", True, PUSH),
    "uniform of both": ("block.u", True, BLOCKS),
    "uniform expression": ("exp2(block.u * K)", True, BLOCKS),
    "specialization constant": (
        "S", False, PUSH + "layout(constant_id = 3) const float S = 0.75;\n"),
    "storage buffer": ("b.s", False, PUSH + "layout(binding = 1) buffer B { vec4 s; } b;\n"),
    "texture": ("texelFetch(t, ivec2(0), 0)", False,
                PUSH + "layout(binding = 2) uniform sampler2D t;\n"),
    "position": ("gl_FragCoord", False, PUSH),
    "side": ("(gl_FrontFacing ? 1.0 : 0.5)", False, PUSH),
    "index of memory": ("M[int(K.x) & 3]", False, PUSH),
    "flat that differs": ("f", False, PUSH),
    "flat that is equal": ("float(g & 3)", True, PUSH),
    "flat and uniform": ("(float(g & 3) + K)", True, PUSH),
}  # fmt: skip


@pytest.mark.parametrize("kind", OPERANDS)
def test_what_the_other_operand_may_be(kind: str) -> None:
    expression, moves, declared = OPERANDS[kind]
    outputs = "vec4 x; vec4 y; flat float f; flat int g"
    stores = f"x = {X}; y = {Y}; f = p.x; g = gl_InstanceIndex + 1;"
    vert = producer(stores, outputs, BLOCKS)
    frag = consumer(f"o = cos(x * {expression} + y);", outputs, declared)
    if moves:
        moved(vert, frag, 4, backward_only())
    else:
        stay(vert, frag, backward_only())


def test_a_uniform_travels_only_where_it_may_be_read() -> None:
    """Without a layout the vertex stage must use the block already; with one it need not."""
    frag = consumer("o = cos(x * block.u + y);", PAIR, BLOCKS)
    unused = producer(f"x = {X}; y = {Y};", PAIR, PUSH)
    stay(unused, frag, options(layout=False, disable=ALONE))
    moved(unused, frag, 4, backward_only())
    used = producer(f"x = {X} * block.u.x; y = {Y};", PAIR, BLOCKS)
    moved(used, frag, 4, options(layout=False, disable=ALONE))


AT = "interpolateAtOffset({}, {})"
OFFSETS = {
    "same constant": (AT.format("x", "vec2(0.25)"), AT.format("y", "vec2(0.25)"), 4),
    "same value": (AT.format("x", "K.xy"), AT.format("y", "K.xy"), 4),
    "other constant": (AT.format("x", "vec2(0.25)"), AT.format("y", "vec2(0.5)"), 8),
    "other value": (AT.format("x", "K.xy"), AT.format("y", "K.yx"), 8),
    "plain beside offset": ("x", AT.format("y", "vec2(0.25)"), 8),
    "centroid": ("interpolateAtCentroid(x)", "interpolateAtCentroid(y)", 4),
    "centroid beside plain": ("interpolateAtCentroid(x)", "y", 8),
    "same sample": ("interpolateAtSample(x, 1)", "interpolateAtSample(y, 1)", 4),
    "other sample": ("interpolateAtSample(x, 1)", "interpolateAtSample(y, 0)", 8),
}


@pytest.mark.parametrize("kind", OFFSETS)
def test_where_it_is_interpolated(kind: str) -> None:
    a, b, count = OFFSETS[kind]
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    frag = consumer(f"o = cos({a} + {b});", PAIR)
    if count == 4:
        moved(vert, frag, 4, backward_only())
    else:
        assert components(stay(vert, frag, backward_only())) == 8


# --- what is bound to its place -------------------------------------------------------------------

PINNED = {
    "precise": "precise vec4 e = x * K + y; o = cos(e);",
    "floor": "o = floor(x * K + y);",
    "fract of what was scaled": "o = fract((x + y) * 43758.5453);",
    "int": "o = vec4(ivec4(x * 7.0 + y) & 3);",
    "mod": "o = mod(x + y, 0.5);",
    "step": "o = step(K, x + y);",
    "equal": "o = vec4(equal(x + y, K));",
    "bits": "o = vec4(floatBitsToInt(x + y) & 255);",
    "through a phi": "vec4 e = x; if (K.x > 0.4) e = x + y; o = fract(e * 3.0);",
    "through an output": "o = x; o += y; o = floor(o * 8.0);",
    "through an array": "vec4 t[2]; t[0] = x + y; t[1] = x - y;"
    " o = fract(t[int(gl_FragCoord.x) & 1] * 7.0);",
    "through an index": "vec4 e = x + y; o = fract(vec4(e[int(gl_FragCoord.x) & 3]) * 7.0);",
    "through a derivative": "o = floor(dFdx(x + y) * 8.0);",
    "packed": "o = unpackUnorm4x8(packUnorm4x8(x + y));",
}


@pytest.mark.parametrize("kind", PINNED)
def test_what_shows_the_last_bit_stays(kind: str) -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    stay(vert, consumer(PINNED[kind], PAIR), backward_only())


def test_derivatives_stay_and_their_operands_move() -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    image = PUSH + "layout(binding = 2) uniform sampler2D t;\n"
    moved(vert, consumer("o = dFdx(x * K + y) * 0.1;", PAIR), 4, backward_only())
    frag = consumer("o = textureGrad(t, vec2(0.3), (x * K + y).xy, vec2(0.1));", PAIR, image)
    stay(vert, frag, backward_only())  # its filter, and with it what a last bit does, is not known


@pytest.mark.parametrize("operation", ["x / y", "x % y", "x / 3"])
def test_no_integer_division_is_speculated(operation: str) -> None:
    outputs = "flat ivec4 x; flat ivec4 y"
    vert = producer("x = k * k + 5; y = (k ^ 7) * k + 3;", outputs)
    frag = consumer(f"o = vec4({operation});", outputs)
    stay(vert, frag, backward_only())


@pytest.mark.parametrize(
    ("test", "count"), [("x.x > y.x", 1), ("x.x > y.x && x.y > 3", 1), ("all(lessThan(x, y))", 1)]
)
def test_a_boolean_crosses_as_an_integer(test: str, count: int) -> None:
    outputs = "flat ivec4 x; flat ivec4 y"
    vert = producer("x = k * k + 5; y = (k ^ 7) * k;", outputs)
    frag = consumer(f"if ({test}) o = gl_FragCoord; else o = K;", outputs)
    done = moved(vert, frag, count, backward_only())
    moved(vert, frag, count, backward_only(exact=True))
    assert "u32" in {d.shape for d in done.inputs}


def test_several_returns_store_the_expression_each() -> None:
    stores = f"x = {X}; if (p.x > 0.1) {{ y = {Y}; return; }} y = p * 0.5 + p.x * p.y;"
    moved(producer(stores, PAIR), consumer("o = cos(x * K + y);", PAIR), 4, backward_only())


def test_a_path_that_stores_nothing_joins_nothing() -> None:
    """y is undefined at one return, so x + y must not be all that is left of x."""
    outputs = "flat vec4 x; flat vec4 y; flat int z"
    stores = f"x = {X}; z = 1; if (p.x > 0.1) return; y = {Y}; z = 0;"
    frag = consumer("o = z == 0 ? cos(x + y) : cos(x);", outputs)
    vert = producer(stores, outputs)
    same_picture(vert, frag, link(vert, frag))


def test_loads_in_two_branches_are_one() -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    body = "if (gl_FragCoord.x > 30.0) o = cos(x * K + y); else o = exp2(-abs(x * K + y));"
    moved(vert, consumer(body, PAIR), 4, backward_only())
    body = "o = K; for (int i = 0; i < int(L.x) + 2; i++) o = cos(o + x * K + y);"
    assert components(link(vert, consumer(body, PAIR), backward_only())) == 8
    body = body.replace("x * K + y", "(x * K + y)")
    moved(vert, consumer(body, PAIR), 4, backward_only())


def test_two_sums_of_three_values() -> None:
    """The document that the linker began with asks for this."""
    body = "vec4 t0 = x + y + z; vec4 t1 = x + y * K + z * L; o = cos(t0) * sin(t1);"
    moved(producer(STORES, THREE), consumer(body, THREE), 8, backward_only())


def test_only_some_lanes_move() -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    body = "vec4 e = x * K + y; o = vec4(cos(e.xy), abs(x.z) + abs(y.z), abs(x.w) * abs(y.w));"
    moved(vert, consumer(body, PAIR), 6, backward_only())


# --- prices ---------------------------------------------------------------------------------------


def test_work_moves_to_where_it_is_rarer() -> None:
    """A pow of Flat values saves no component."""
    outputs = "flat vec4 x; vec4 y"
    vert = producer(f"x = {X}; y = {Y};", outputs)
    frag = consumer("o = pow(abs(x), K) + cos(y);", outputs)
    for expected, where in (((1, 1000), {"moved-backward"}), ((1000, 1), {"kept"})):
        done = link(vert, frag, backward_only(expect=expected))
        assert actions(done)["x"] == where
        assert components(done) == 8
        same_picture(vert, frag, done)


def test_a_saved_component_is_worth_some_work() -> None:
    """Sixteen products and sums a vertex for four components a fragment."""
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    frag = consumer("o = cos(M * x + y);", PAIR)
    for expected, count in (((1, 8), 4), ((1, 1), 4), ((100, 1), 8)):
        assert components(link(vert, frag, backward_only(expect=expected))) == count


# --- forward --------------------------------------------------------------------------------------

AFFINE = {  # what y is of x: (interpolated, flat): whether one of them is enough
    "x + 1.0": (True, True),
    "x * 2.0 - 3.0": (True, True),
    "(x + vec4(1.0, 2.0, 3.0, 4.0)) * 0.5": (True, True),
    "x * K": (True, True),
    "x / 3.0": (True, True),
    "x / K": (False, True),
    "x * (1.0 / K)": (False, True),
    "x * K.x + 1.0": (True, True),
    "x + K": (False, True),
    "fma(K, vec4(2.0), x)": (False, True),
    "x + 1000.0": (False, True),
    "x * p": (False, True),
    "M * x": (False, False),
    "x * x": (False, True),
    "abs(x)": (False, True),
    "max(x, 0.25)": (False, True),
}


@pytest.mark.parametrize("expression", AFFINE)
@pytest.mark.parametrize("flat", [False, True], ids=["smooth", "flat"])
def test_what_is_made_of_another_output_is_made_behind_the_border(
    expression: str, flat: bool
) -> None:
    outputs = "flat vec4 x; flat vec4 y" if flat else PAIR
    vert = producer(f"x = {X}; y = {expression};", outputs)
    frag = consumer("o = cos(x) * sin(y);", outputs)
    if AFFINE[expression][flat]:
        done = moved(vert, frag, 4, forward_only())
        assert "moved-forward" in actions(done)["x"] | actions(done)["y"]
        stay(vert, frag, forward_only(exact=True))
    else:
        assert components(stay(vert, frag, forward_only())) == 8


def test_two_functions_of_what_is_no_output() -> None:
    for outputs in (PAIR, "flat vec4 x; flat vec4 y"):
        vert = producer(f"vec4 v = {X}; x = v + 1.0; y = v * 2.0;", outputs)
        done = moved(vert, consumer("o = cos(x) * sin(y);", outputs), 4, forward_only())
        assert "moved-forward" in actions(done)["x"] & actions(done)["y"]


def test_a_matrix_of_a_scalar() -> None:
    outputs = "flat mat4 m; flat vec4 y"
    made = "float a = p.x * p.y; m = mat4(a, a * a, 0.0, 1.0, -a, a * 2.0, a + 1.0, 0.5,"
    vert = producer(made + f" abs(a), 1.0, 0.0, a, 1.0, a, -a, a * a + 1.0); y = {Y};", outputs)
    done = moved(vert, consumer("o = cos(m * y);", outputs), 5, forward_only())
    assert all("moved-forward" in actions(done)[f"m[{n}]"] for n in (0, 2))


def test_forward_work_has_a_price() -> None:
    """Nothing is computed behind the border that costs more than half of what a component does,
    times --cost-limit."""
    outputs = "flat float x; flat float y"
    frag = consumer("o = cos(vec4(x) * gl_FragCoord) * sin(y);", outputs)
    vert = producer("x = p.x * p.y; y = pow(abs(sin(x)) + 0.5, cos(x) + exp2(x));", outputs)
    for limit, count in ((100, 2), (100000, 1), (0, 2)):
        done = link(vert, frag, forward_only(cost_limit=limit))
        assert components(done) == count, limit
        same_picture(vert, frag, done)


def test_a_value_that_must_keep_its_bits_is_not_made_anew() -> None:
    vert = producer(f"x = {X}; y = x * 3.0 + 1.0;", PAIR)
    assert components(stay(vert, consumer("o = cos(x) * fract(y);", PAIR), forward_only())) == 8


# --- resources that need not be bound -------------------------------------------------------------

BLOCK = "layout(set = 0, binding = 2) uniform Block { vec4 c; vec4 d; } block;\n"
READS = {  # name -> what the vertex stage does, what the fragment stage does, whether it moves
    "both on one path": ("if (k.x > 90) s += block.c;", "if (P.x > 2.0) s = x * block.d + y;", 0),
    "fragments on one path": ("s += block.d;", "if (P.x > 2.0) s = x * block.c + y;", 1),
    "other bytes": ("s += block.c;", "if (P.x > 2.0) s = x * block.d + y;", 0),
    "vertices on one path": ("if (k.x > 90) s += block.c;", "s = x * block.d + y;", 1),
    "all": ("s += block.c;", "s = x * block.d + y;", 1),
    "behind a discard": (
        "if (k.x > 90) s += block.c;",
        "if (P.x < 2.0) discard; s = x * block.d + y;",
        0,
    ),
    "before a discard": (
        "if (k.x > 90) s += block.c;",
        "s = x * block.d + y; if (P.x < 2.0) discard;",
        1,
    ),
}


@pytest.mark.parametrize("name", READS)
def test_a_resource_that_some_invocations_read_may_not_be_bound(name: str) -> None:
    """Descriptors that no invocation reads may be missing (PARTIALLY_BOUND), so a read under a
    condition does not move to where there is none."""
    before, behind, moves = READS[name]
    stages = [
        vert(
            f"{BLOCK}layout(location = 0) out vec4 x; layout(location = 1) out vec4 y;",
            f"vec4 s = vec4(0.0); {before} x = a; y = b; gl_Position.x += s.x * 1e-9;",
        ),
        frag(
            f"{BLOCK}layout(location = 0) in vec4 x; layout(location = 1) in vec4 y;",
            f"vec4 P = gl_FragCoord; vec4 s = vec4(0.5); {behind} color = s;",
        ),
    ]
    codes = [compile_glsl(text, stage) for stage, text in stages]
    found = spvlink.link(codes, clean=True)
    assert found.defect is None and found.validated == "validated"
    scene, original = draw_covering(codes)
    assert original.is_good()
    assert_close(original, draw([s.data for s in found.stages], scene))
    assert found.interfaces[0].components == (8, 4 if moves else 8)
