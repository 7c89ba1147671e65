"""What ``consumer_graph`` asks before code moves into the stage before (scripts/mutants found that
no other test has it)."""

from __future__ import annotations

import re

import pytest

import spvlink
from spvlink.draw import draw, draw_covering
from tests.support.chain_text import frag, geom, tesc, tese, vert
from tests.support.closeness import assert_close
from tests.support.linking import Result
from tests.support.motion_pairs import (
    PAIR,
    PUSH,
    THREE,
    X,
    Y,
    actions,
    backward_only,
    compiled_fragment,
    compiled_vertex,
    components,
    consumer,
    link,
    options,
    producer,
    same_picture,
)
from tests.support.samples import assemble, compile_glsl, disassemble

ID = "float(gl_InstanceIndex)"  # equal at all vertices; 1 in the pictures

# --- products of matrices ---

PRODUCTS = {  # -> lanes of the first matrix, of the second: their first rows are equal
    "m * K.xy": ("x.x, y.x, z.x, z.y", "x.x, z.y, z.x, x.y"),
    "K.xy * m": ("x.x, z.x, y.x, z.y", "x.x, z.x, z.y, x.y"),
}


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_lane_of_a_product_that_stays_is_not_taken_for_one_that_moves(product: str) -> None:
    """The other lane of the first product mixes two ways to interpolate."""
    outputs = "flat vec2 x; vec2 y; flat vec2 z; flat vec2 w"
    stores = "x = p.xy * p.yz + 0.3; y = p.yz; z = cos(p.zw); w = p.wx * p.xy;"
    first, second = PRODUCTS[product]
    work = "pow(abs(sin(g.x)) + 0.5, cos(g.x)) * exp2(sin(g.y)) + pow(abs(g.x), 1.7)"
    body = f"mat2 m = mat2({first}); vec2 f = {product}; m = mat2({second}); vec2 g = {product};"
    body += f" o = vec4(cos(f), {work}, cos(gl_FragCoord.x * (w.x + w.y)));"
    vert, frag = producer(stores, outputs), consumer(body, outputs)
    done = link(vert, frag, backward_only(expect=(1, 1000)))
    assert components(done) == 6 and "moved-backward" in actions(done)["x"]
    same_picture(vert, frag, done)


# --- what is equal at all vertices, and interpolated: 3.3 comes as 3.2999997 ---

BESIDE_FLAT = {  # x is interpolated, f is not, both are 3.3 -> components: whether they move
    "vec4(x * f)": 1,
    "vec4(x + f)": 1,
    "vec4(x == f)": 2,
    "vec4(x < f)": 2,
    "vec4(mod(x, f))": 2,
    "vec4(1.0 / (x - f))": 2,
    "vec4((x - f) * 1e7)": 2,
    "vec4((K.x > -9.0 ? x : f) == f)": 2,
    "mix(v, w, bvec4(x == f))": 10,
    "vec4(x * f) + vec4(sign(x) * gl_FragCoord.x)": 2,
}


@pytest.mark.parametrize("expression", BESIDE_FLAT)
def test_what_is_interpolated_comes_exact_only_where_that_is_the_same(expression: str) -> None:
    """What is made of it and of what is Flat crosses Flat."""
    outputs = "float x; flat float f; vec4 v; vec4 w"
    stores = f"x = {ID} + 2.3; f = {ID} * 3.3; v = {X}; w = {Y};"
    vert, frag = producer(stores, outputs), consumer(f"o = {expression};", outputs)
    done = link(vert, frag, backward_only())
    assert components(done) == BESIDE_FLAT[expression], actions(done)
    if expression == "vec4(x < f)":
        same_picture(vert, frag, done)


def test_an_infinity_does_not_cross_flat() -> None:
    """What is interpolated is a NaN behind the border."""
    outputs = "float x; flat float f"
    vert = producer(f"x = 1.0 / ({ID} - 1.0); f = {ID};", outputs)
    for use in ("max(x, f)", "x * f"):
        done = link(vert, consumer(f"o = vec4({use});", outputs), backward_only())
        assert components(done) == 2, use


@pytest.mark.parametrize("test", ["isnan", "isinf"])
def test_what_is_a_nan_is_asked_behind_interpolation(test: str) -> None:
    outputs = "float x; vec4 v; vec4 w"
    vert = producer(f"x = 1.0 / ({ID} - 1.0); v = {X}; w = {Y};", outputs)
    frag = consumer(f"o = mix(v, w, bvec4({test}(x)));", outputs)
    done = link(vert, frag, backward_only())
    same_picture(vert, frag, done)
    assert components(done) == 9


OFF_THE_MIDDLE = {  # expression -> components: only sums of what varies move
    "x + y": 1,
    "x - y * K.x": 1,
    "x * y": 2,
    "x * y + 1000.0": 2,
    "x + 1000.0 + y": 2,
    "sin(x) + y": 2,
    "max(x, y)": 2,
}


@pytest.mark.parametrize("qualifier", ["centroid", "sample"])
@pytest.mark.parametrize("expression", OFF_THE_MIDDLE)
def test_nothing_is_equal_off_the_middle(expression: str, qualifier: str) -> None:
    """Where the weights do not sum to one, what all vertices have is not given back."""
    outputs = f"{qualifier} float x; {qualifier} float y"
    vert = producer(f"x = {ID} + 2.3; y = {ID} * 1.3;", outputs)
    frag = consumer(f"o = vec4(cos({expression} - gl_FragCoord.x * 0.01));", outputs)
    done = link(vert, frag, backward_only())
    assert components(done) == OFF_THE_MIDDLE[expression]
    if expression in ("x * y", "x + y"):
        codes = [compiled_vertex(vert), compiled_fragment(frag)]
        scene, before = draw_covering(codes, samples=4)
        scene.open_to_all()
        assert_close(before, draw(done.data, scene))


def test_nothing_is_equal_that_is_read_off_the_middle_too() -> None:
    vert = producer(f"x = {ID} + 2.3; y = {ID} * 1.3;", "float x; float y")
    at = "interpolateAtCentroid({})"
    for a, b, count in (("x", "y", 1), (at.format("x"), at.format("y"), 2)):
        frag = consumer(f"o = {a} * {b} * gl_FragCoord;", "float x; float y")
        assert components(link(vert, frag, backward_only())) == count


# --- guards of what is right already ---

WHERE = {  # -> components: what is left beside z * K, or z
    "y.xy": 10,
    "y.yx": 10,
    "vec2(0.25)": 8,
}


@pytest.mark.parametrize("place", WHERE)
def test_where_an_input_is_interpolated_needs_others(place: str) -> None:
    body = f"o = max(interpolateAtOffset(z, {place}) * K, 0.0) + max(x * L, 0.0);"
    vert = producer(f"x = {X}; y = {Y}; z = cos(p) * p.wxyz;", THREE)
    assert components(link(vert, consumer(body, THREE), backward_only())) == WHERE[place]


def test_no_integer_is_interpolated() -> None:
    """interpolateAtCentroid gives what is Flat as it is, but takes floats only."""
    outputs = "flat float x; flat float y"
    vert = producer("x = p.x * p.y; y = sin(p.z);", outputs)
    for number, count in (("x", 1), ("interpolateAtCentroid(x)", 2)):
        words = f"floatBitsToInt({number}) ^ floatBitsToInt({number.replace('x', 'y')})"
        frag = consumer(f"o = vec4({words}) * gl_FragCoord.x;", outputs)
        assert components(link(vert, frag, backward_only())) == count


MADE_OF_EQUAL = {  # g is Flat, x and y are not, x and g are equal at all vertices -> components
    "sin(x) * float(g & 3)": 1,
    "sin(x + 1.0) * abs(x) * y": 1,
    "y * float(g & 3) * x": 1,
    "y * float(g & 3) + gl_FragCoord.y": 1,
    "(float(g & 3) * y + y) * float(g & 5)": 1,
    "y * float(h & 3)": 2,
}


@pytest.mark.parametrize("expression", MADE_OF_EQUAL)
def test_what_is_made_of_equal_values_is_equal(expression: str) -> None:
    outputs = "float x; float y; flat int g; flat int h"
    stores = f"x = {ID} + 2.3; y = p.x * p.y; g = gl_InstanceIndex + 6; h = k.x;"
    vert = producer(stores, outputs)
    frag = consumer(f"o = vec4({expression}) * gl_FragCoord.x;", outputs)
    assert components(link(vert, frag, backward_only())) == MADE_OF_EQUAL[expression]


LANES = {"x.xxyy + y.xxyy": 2, "x.xxxx + y.xxxx": 1, "x.xyxy + y.xyzw": 4}


@pytest.mark.parametrize("expression", LANES)
def test_equal_lanes_cross_once(expression: str) -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    done = link(vert, consumer(f"o = cos({expression});", PAIR), backward_only())
    assert components(done) == LANES[expression]


DECIDED = {  # made of integers: no bit is in doubt
    "x + y * 3 > 7": 1,
    "(x ^ y) == 5": 1,
    "x > 7 ^^ y < 3": 1,
    "intBitsToFloat(x + y) > 3.0": 1,
    "t[(x + y) & 3] > 3.0": 1,
}


@pytest.mark.parametrize("test", DECIDED)
def test_what_decides_may_be_made_of_integers(test: str) -> None:
    outputs = "flat int x; flat int y"
    vert = producer("x = k.x * k.y; y = k.z ^ k.w;", outputs)
    frag = consumer(f"float t[4] = float[](1, 5, 2, 4); o = {test} ? gl_FragCoord : K;", outputs)
    assert components(link(vert, frag, backward_only())) == DECIDED[test]


@pytest.mark.parametrize("invariant", [False, True])
def test_nothing_moves_out_of_what_is_invariant(invariant: bool) -> None:
    """Not even what comes to the same bits: in another pipeline it may stay."""
    said = "invariant gl_Position;" if invariant else ""
    outputs = "layout(location = 0) out int x; layout(location = 1) out int y;"
    inputs = "layout(location = 0) in int x[]; layout(location = 1) in int y[];"
    loop = "for (int i = 0; i < 3; ++i) {{ {} EmitVertex(); }}"
    body = "gl_Position = gl_in[i].gl_Position + vec4(x[i] + y[i]) * 0.001;"
    stages = [
        vert(outputs, "x = k.x * k.y; y = k.z ^ k.w;"),
        geom(inputs + said, loop.format(body)),
        frag("", "color = vec4(1.0);"),
    ]
    done = spvlink.link([compile_glsl(text, stage) for stage, text in stages], backward_only())
    assert done.defect is None
    assert done.interfaces[0].components == (2, 2 if invariant else 1)


POSITIONS = {  # what the evaluation shader makes of s, interfaces kept -> components to control
    "": (frozenset[str](), 1),
    "gl_Position.z += s * 0.01;": (frozenset[str](), 2),
    "kept": (frozenset(("tese",)), 2),  # nobody knows
}


@pytest.mark.parametrize("name", POSITIONS)
def test_nothing_moves_out_of_what_a_later_stage_makes_positions_of(name: str) -> None:
    kept, count = POSITIONS[name]
    place = name if not kept else ""
    settings = backward_only(keep_interface=kept)
    for shown in (*settings.layout["setLayouts"][0]["bindings"],
                  *settings.layout["pushConstantRanges"]):  # fmt: skip
        shown["stageFlags"] += ["TESSELLATION_CONTROL", "TESSELLATION_EVALUATION"]
    at = "gl_InvocationID"
    stages = [
        vert(
            "layout(location = 0) out float x; layout(location = 1) out float y;",
            "x = a.x * b.y; y = sin(a.z);",
        ),
        tesc(
            f"{PUSH}layout(location = 0) in float x[]; layout(location = 1) in float y[];"
            "layout(location = 0) out float d[];",
            f"d[{at}] = x[{at}] * K.x + y[{at}];",
        ),
        tese(
            "layout(location = 0) in float d[]; layout(location = 0) out float c;",
            f"float s = d[0] * d[1] + d[2]; c = s; {place}",
        ),
        frag("layout(location = 0) in float c;", "color = vec4(cos(c));"),
    ]
    done = spvlink.link([compile_glsl(text, stage) for stage, text in stages], settings)
    assert done.defect is None
    assert done.interfaces[0].components == (2, count)


# --- prices, and what there is no component for ---

CHEAPEST = {  # what is made of a choice f -> what crosses
    "f > 0.5": "f32",
    "(f > 0.5) ^^ (f < 0.8)": "u32",
}


@pytest.mark.parametrize("test", CHEAPEST)
def test_a_boolean_costs_more_than_a_number(test: str) -> None:
    """It is made a number and compared with zero."""
    outputs = "flat float x; flat float y"
    vert = producer("x = p.x * p.y; y = sin(p.z);", outputs)
    body = f"float f = mix(x, y, K.x > 0.3); o = ({test}) ? gl_FragCoord : K;"
    done = link(vert, consumer(body, outputs), backward_only())
    assert [i.shape for i in done.inputs] == [CHEAPEST[test]]


def test_what_there_is_no_component_for_crosses_as_something_else() -> None:
    """An integer has no place beside x.z, but what it is made of has."""
    vert = producer("x = p.xyz * p.yzw;", "flat vec3 x")
    body = "float f = mix(x.x, x.y, K.x > 0.3); bool b = (f > 0.5) ^^ (f < 0.8) ^^ (f < 0.9);"
    frag = consumer(body + "o = (b ? gl_FragCoord : K) + x.z * gl_FragCoord.x;", "flat vec3 x")
    assert components(link(vert, frag, backward_only())) == 2


BLOCKS = """layout(binding = 0) uniform U { vec4 c; } a;
layout(binding = 1) uniform V { vec4 c; } b;
"""


@pytest.mark.parametrize("alike", [False, True])
def test_two_resources_of_one_type_are_two(alike: bool) -> None:
    """GLSL has two types for them, HLSL one."""
    settings = options(disable=frozenset(("forward",)))
    settings.layout["setLayouts"][0]["bindings"].append(
        {"binding": 1, "descriptorType": "UNIFORM_BUFFER", "stageFlags": ["VERTEX", "FRAGMENT"]}
    )
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    used = "o = cos(x * a.c + y) * sin(x * b.c + y);"
    codes = [compiled_vertex(vert), compiled_fragment(consumer(used, PAIR, BLOCKS))]
    if alike:
        text = disassemble(codes[1])
        (first,) = re.findall(r"%a = OpVariable (%\w+)", text)
        text = re.sub(r"%b = OpVariable %\w+", f"%b = OpVariable {first}", text)
        codes[1] = assemble(text)
    assert components(Result(*codes, settings)) == 8
    chain = "OpAccessChain %_ptr_Uniform_v4float "
    one = assemble(disassemble(codes[1]).replace(f"{chain}%b", f"{chain}%a"))
    assert components(Result(codes[0], one, settings)) == 4


def test_what_is_made_of_shared_values_is_asked_once() -> None:
    """Two roads to each of two values, forty times over: each value is looked at once."""
    outputs = "float x; float y; flat float f"
    vert = producer(f"x = {ID} * 0.25; y = {ID} * 0.5; f = p.x * p.y + 0.3;", outputs)
    steps = "c = a + b; b = a * b; a = c; " * 40
    frag = consumer(f"float a = x, b = y, c; {steps} o = vec4((a + b) * f);", outputs)
    assert components(link(vert, frag, backward_only())) == 1
