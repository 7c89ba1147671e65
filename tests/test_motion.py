"""Code that crosses from the fragment to the vertex stage and back: moved or refused exactly as the
algebra at the head of ``spvlink/link/motion.py`` says. Whatever moved is drawn, before and after.

The two inputs of a case are ``x`` and ``y``; an expression E over them is used by something that
stays (``cos``, where they are interpolated), so they cross as one value if E moves, and as they are
if not.
"""

from __future__ import annotations

from functools import cache

import pytest

import spvlink
from tests.linking import Result, fragment, vertex
from tests.render import draw, draw_covering
from tests.test_pipelines import assert_close

PUSH = "layout(push_constant) uniform P { vec4 K; vec4 L; mat4 M; };\n"
BLOCK = "layout(binding = 0) uniform U { vec4 u; } block;\n"
POSITION = "gl_Position = vec4(p.xyz, 1.0 + abs(p.x) * 2.3 + abs(p.y) * 0.7);"
X, Y = "p * p.yzwx + 0.3", "sin(p.zwxy) - p * p"  # no cheap function of less


def options(layout: bool = True, **settings: object) -> spvlink.Options:
    """The default, with a layout that shows everything to both stages."""
    made = spvlink.Options()
    if layout:
        both = ["VERTEX", "FRAGMENT"]
        made.layout = {
            "setLayouts": [{"set": 0, "bindings": [
                {"binding": 0, "descriptorType": "UNIFORM_BUFFER", "stageFlags": both}]}],
            "pushConstantRanges": [{"stageFlags": both, "offset": 0, "size": 128}],
        }  # fmt: skip
    for name, setting in settings.items():
        setattr(made, name, setting)
    return made


ALONE = frozenset(("forward",))  # backward motion by itself


@cache
def compiled_vertex(text: str) -> bytes:
    return vertex(text)


@cache
def compiled_fragment(text: str) -> bytes:
    return fragment(text)


def producer(stores: str, outputs: str, declared: str = PUSH) -> str:
    """A vertex shader with these outputs, given as ``[QUALIFIER] TYPE NAME; ...``."""
    return f"{declared}{places(outputs, 'out')}void main() {{ {POSITION} {stores} }}"


def consumer(body: str, inputs: str, declared: str = PUSH) -> str:
    return f"{declared}{places(inputs, 'in')}void main() {{ {body} }}"


def places(variables: str, storage: str) -> str:
    """Declarations with Locations in order; a matrix takes one for each column."""
    text, location = "", 0
    for variable in filter(None, (v.strip() for v in variables.split(";"))):
        *qualifiers, kind, name = variable.split()
        text += f"layout(location = {location}) {' '.join(qualifiers)} {storage} {kind} {name};\n"
        location += int(kind[3]) if kind.startswith("mat") else 1
    return text


def link(vert: str, frag: str, settings: spvlink.Options | None = None) -> Result:
    done = Result(compiled_vertex(vert), compiled_fragment(frag), settings or options())
    if done.linked.passed_through is None:
        named = {r.name.partition("[")[0] for r in done.linked.remarks}
        assert named >= _names(vert), "a varying without a remark"
    return done


def _names(text: str) -> set[str]:
    return {
        line.rstrip(";").split()[-1]
        for line in text.splitlines()
        if line.startswith("layout(location") and " out " in line
    }


def actions(result: Result) -> dict[str, set[str]]:
    """Variable -> what became of its components."""
    found: dict[str, set[str]] = {}
    for remark in result.linked.remarks:
        found.setdefault(remark.name, set()).add(remark.action)
    return found


def components(result: Result) -> int:
    return result.linked.interfaces[0].components[1]


def same_picture(vert: str, frag: str, result: Result) -> None:
    """Draw both; equal but for rounding."""
    before = [compiled_vertex(vert), compiled_fragment(frag)]
    scene, first = draw_covering(before)
    assert first.is_good(0.1), "the picture proves nothing"
    scene.open_to_all()
    assert_close(draw(before, scene), draw(result.data, scene))


def moved(vert: str, frag: str, count: int, settings: spvlink.Options | None = None) -> Result:
    """Link; so many components must be left, and the picture the same."""
    done = link(vert, frag, settings)
    said = [(r.name, r.slot, r.action, r.why) for r in done.linked.remarks]
    assert components(done) == count, said
    same_picture(vert, frag, done)
    return done


# --- what once came out wrong -------------------------------------------------------------------

THREE = "vec4 x; vec4 y; vec4 z"
STORES = f"x = {X}; y = {Y}; z = cos(p) * p.wxyz;"


def test_a_value_that_only_the_next_round_uses_stays() -> None:
    """The phi at the head of the loop stands before what it uses."""
    body = """vec4 before = K; vec4 sum = vec4(0.0); int n = int(L.x) + 3;
    for (int i = 0; i < n; i++) { sum += before * before; before = {}; }
    o = sum + max(x + y * L, 0.0);"""
    for last, count in (("z", 8), ("z * K", 8)):
        moved(producer(STORES, THREE), consumer(body.replace("{}", last), THREE), count)


def test_where_an_input_is_interpolated_is_a_use() -> None:
    body = "o = max(interpolateAtOffset(z, y.xy * 0.3) * K, 0.0) + max(x * L, 0.0);"
    done = moved(producer(STORES, THREE), consumer(body, THREE), 10)
    assert "moved-backward" in actions(done)["x"] & actions(done)["z"]
    body = body.replace("y.xy * 0.3", "y.xy")
    moved(producer(STORES, THREE), consumer(body, THREE), 10)


def test_one_lane_of_a_matrix_product_is_not_made_alone() -> None:
    """The other lane mixes two interpolations."""
    outputs = "vec2 x; centroid vec2 y; vec2 z"
    stores = "x = p.xy * p.yz + 0.3; y = p.yz; z = cos(p.zw);"
    for product in ("m * K.xy", "K.xy * m", "m * mat2(K)"):
        body = f"mat2 m = mat2(x.x, y.x, z.x, z.y); o = vec4(cos(({product})), x.y, y.y);"
        body = body if "mat2(K)" not in body else body.replace("vec4(cos((m * mat2(K))),",
            "vec4(cos((m * mat2(K))[0]),")  # fmt: skip
        vert, frag = producer(stores, outputs), consumer(body, outputs)
        moved(vert, frag, 6)


def test_a_uniform_lane_beside_memory_that_changes() -> None:
    """v.y is made of push constants alone; the rest of v needs a buffer that may be written."""
    declared = PUSH + "layout(binding = 1) buffer B { float s; };\n"
    body = """vec3 v = vec3(abs(x.x) * s, K.y, y.x) * vec3(2.0, 3.0, 4.0);
    o = vec4(cos(v.y * y.xy + z.xy), v.xz);"""
    moved(producer(STORES, THREE), consumer(body, THREE, declared), 4)


def test_what_floor_makes_of_a_convergent_value_is_not_interpolated() -> None:
    """A rounded 3.0 is still 3 after floor(id + 0.5); a rounded floor is not."""
    outputs = "float x; vec4 y"
    vert = producer(f"x = float(gl_InstanceIndex + 3); y = {Y};", outputs)
    table = "float t[8] = float[8](0.1, 0.9, 0.3, 0.7, 0.2, 0.5, 0.4, 0.6);"
    for use in ("int(floor(x + 0.5))", "int(round(x))", "(step(2.9, x) >= 1.0 ? 2 : 5)"):
        body = f"{table} o = y * t[{use} & 7];"
        done = link(vert, consumer(body, outputs), options(disabled=frozenset(("flatten",))))
        assert actions(done)["x"] <= {"kept", "packed"}, use
        same_picture(vert, consumer(body, outputs), done)


def test_an_input_may_cross_beside_what_is_made_of_it() -> None:
    """x + y + z and x need two values, not three."""
    done = moved(
        producer(STORES, THREE), consumer("o = cos(x + y + z) * x;", THREE), 8,
        options(disabled=ALONE),
    )  # fmt: skip
    assert actions(done)["x"] == {"kept"}


@pytest.mark.parametrize(
    "expression",
    ["outerProduct(x.xy, K.xy)", "mat2(x.xy * K.xy, y.zw * K.zw)", "mat2(x * K) * K.x"],
)
def test_a_matrix_as_a_vector_keeps_its_type(expression: str) -> None:
    """A mat2 and the vec4 of its columns have the same lanes."""
    body = f"mat2 m = {expression}; vec4 v = vec4(m[0], m[1]) + y; o = cos(mat2(v)[0].xyxy + v);"
    moved(producer(STORES, THREE), consumer(body, THREE), 4)


@pytest.mark.parametrize(
    ("expression", "count"), [("x.xxyy * K.xxyy + y", 4), ("(x.xyxy + y.xyxy).zwxy * K", 2)]
)
def test_a_vector_with_equal_lanes(expression: str, count: int) -> None:
    moved(producer(STORES, THREE), consumer(f"o = cos({expression});", THREE), count)


def test_lanes_that_are_stored_on_other_paths() -> None:
    """x is stored at both returns, y at one; a vector has lanes of both. Where y is undefined, it
    is not read."""
    outputs = "flat vec2 x; flat vec2 y; flat int z"
    stores = """if (p.x > 0.2) { x = p.xy * p.zw; z = 1; return; }
    x = p.zw; y = cos(p.yx); z = 0;"""
    for product in ("vec4(x, y).xzyw * K", "mat2(x.x, y.x, x.y, y.y) * K.xy",
                    "K.xy * mat2(x, y)"):  # fmt: skip
        width = 4 if "vec4" in product else 2
        lanes = "xzxz" if width == 4 else "xxxx"
        made = f"vec{width} v = {product};"
        body = (
            f"{made} o = z == 0 ? cos(v.{'xyzw' if width == 4 else 'xyxy'} + 0.5) : cos(v.{lanes});"
        )
        vert, frag = producer(stores, outputs), consumer(body, outputs)
        same_picture(vert, frag, link(vert, frag))


def test_a_flat_input_read_by_interpolation_stays() -> None:
    """interpolateAtCentroid of what is Flat is not moved; the input must not go with what is."""
    outputs = "flat vec4 x; flat vec4 y; vec4 z"
    body = "o = cos(interpolateAtCentroid(x) + z) * (x * K + y * L);"
    moved(producer(STORES, outputs), consumer(body, outputs), 12)


# --- operation x operands, one interpolation ------------------------------------------------------

PAIR = "vec4 x; vec4 y"
LINEAR = [
    "x + y", "x - y", "-(x + y)", "x * K + y", "K * x - y", "x / K + y / L", "fma(x, K, y)",
    "fma(K, y, x)", "mix(x, y, K)", "mix(x, y, 0.25)", "mix(K, L, 0.5) + x + y", "x * K.x + y",
    "M * x + y", "x * M - y", "mix(x, y, bvec4(K.x > 0.3))", "mix(K, L, x) + y", 
    "mix(x, y, bvec4(1, 0, 1, 1))",
    "x * sin(K) + y / (1.5 + L * L)", "(x + 1000.0) * 0.001 + y",
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


def stay(vert: str, frag: str, settings: spvlink.Options | None = None) -> Result:
    """Link; nothing may move."""
    done = link(vert, frag, settings)
    found = set().union(*actions(done).values())
    assert not {"moved-backward", "moved-forward"} & found, actions(done)
    return done


def backward_only(**settings: object) -> spvlink.Options:
    return options(disabled=ALONE, **settings)


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
    stay(unused, frag, options(layout=False, disabled=ALONE))
    moved(unused, frag, 4, backward_only())
    used = producer(f"x = {X} * block.u.x; y = {Y};", PAIR, BLOCKS)
    moved(used, frag, 4, options(layout=False, disabled=ALONE))


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
    "int": "o = vec4(ivec4(x * 8.0 + y) & 3);",
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


def test_derivatives_and_lookups_stay_and_their_operands_move() -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    image = PUSH + "layout(binding = 2) uniform sampler2D t;\n"
    moved(vert, consumer("o = dFdx(x * K + y) * 0.1;", PAIR), 4, backward_only())
    frag = consumer("o = texture(t, (x * K + y).xy);", PAIR, image)
    assert components(link(vert, frag, backward_only())) == 2


@pytest.mark.parametrize("operation", ["x / y", "x % y", "x / 3"])
def test_no_integer_division_is_speculated(operation: str) -> None:
    outputs = "flat ivec4 x; flat ivec4 y"
    vert = producer("x = k * k + 5; y = (k ^ 7) * k + 3;", outputs)
    frag = consumer(f"o = vec4({operation});", outputs)
    stay(vert, frag, backward_only())


@pytest.mark.parametrize(
    ("test", "count"), [("x.x > y.x", 1), ("x.x > y.x && x.y > 3", 2), ("all(lessThan(x, y))", 1)]
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
    "x / K": (True, True),
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


def forward_only(**settings: object) -> spvlink.Options:
    return options(disabled=frozenset(("backward",)), **settings)


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


# --- other promises -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "gone", ["dce", "simplify", "compact", "dead", "dedup", "propagate", "join"]
)
def test_motion_with_another_pass_off(gone: str) -> None:
    stores = f"vec4 v = {X}; x = v + 1.0; y = v * 2.0 * K; z = {Y};"
    frag = consumer("o = cos(x * K + z) * sin(y + x) + abs(x * 0.5); o.x += z.y * 0.0;", THREE)
    vert = producer(stores, THREE)
    same_picture(vert, frag, link(vert, frag, options(disabled=frozenset((gone,)))))


def test_a_kept_interface_keeps_its_values() -> None:
    vert = producer(f"x = {X}; y = x * 2.0;", PAIR)
    frag = consumer("o = cos(x * K + y);", PAIR)
    for stage in ("vert", "frag"):
        done = Result(vertex(vert), fragment(frag), options(keep_interface=frozenset((stage,))))
        assert done.linked.passed_through or components(done) == 8


def test_an_invariant_output_stays() -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR).replace("1) out", "1) invariant out")
    vert = vert.replace("1)  out", "1) invariant out")
    assert "invariant" in vert
    stay(vert, consumer("o = cos(x + y);", PAIR), backward_only())


def test_a_second_link_finds_nothing() -> None:
    stores = f"vec4 v = {X}; x = v + 1.0; y = v * 2.0; z = {Y};"
    body = "o = cos(x * K + z) * sin(z) + y;"
    done = link(producer(stores, THREE), consumer(body, THREE))
    again = spvlink.link(list(done.data), options())
    assert [s.data for s in again.stages] == done.data


def test_flat_arithmetic_whose_last_bit_decides_stays() -> None:
    """One stage may contract x * y + x where the other does not; floor shows the difference."""
    outputs = "flat vec4 x; flat vec4 y"
    vert = producer(f"x = {X}; y = {Y};", outputs)
    stay(vert, consumer("o = floor((x * y + x) * 64.0);", outputs), backward_only())
    moved(vert, consumer("o = cos((x * y + x) * 64.0);", outputs), 4, backward_only())
