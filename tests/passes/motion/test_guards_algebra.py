"""Legality and room of what crosses a border in the place of others (scripts/mutants found that no
other test asks)."""

from __future__ import annotations

import pytest

import spvlink
from tests.support import chain_text
from tests.support.motion_pairs import (
    PAIR,
    X,
    Y,
    actions,
    backward_only,
    components,
    consumer,
    forward_only,
    link,
    moved,
    producer,
)
from tests.support.samples import compile_glsl

NUMBERS = "layout(push_constant) uniform P { int K; int J; };\n"
FUNCTIONS = {  # two functions of one integer -> whether the consumer makes them
    ("n + K", "n ^ J"): True,
    ("n / K", "n + J"): False,
    ("n + K", "n % J"): False,
}


@pytest.mark.parametrize("pair", FUNCTIONS)
def test_what_is_undefined_for_zero_is_not_made_by_the_consumer(pair: tuple[str, str]) -> None:
    outputs = "flat int x; flat int y"
    stores = f"int n = floatBitsToInt(p.x); x = {pair[0]}; y = {pair[1]};"
    body = "o = vec4(float(x) * 0.1 + float(y * 3) * gl_FragCoord.x + float(K + J));"
    vert, frag = producer(stores, outputs, NUMBERS), consumer(body, outputs, NUMBERS)
    done = link(vert, frag, forward_only(cost_limit=1000))
    assert components(done) == (1 if FUNCTIONS[pair] else 2), actions(done)


EQUAL = "float c = intBitsToFloat(gl_InstanceIndex);"


def test_an_integer_is_not_interpolated() -> None:
    """Not even where it is made of values that are equal at all vertices."""
    stores = (
        f"{EQUAL} x = sin(vec4(c, c + 1, c + 2, c + 3)); y = cos(vec4(c, c + 1, c * 2, c * 3));"
    )
    body = "o = vec4(floatBitsToInt(x) ^ floatBitsToInt(y)) * gl_FragCoord.x;"
    done = link(producer(stores, PAIR), consumer(body, PAIR), backward_only())
    assert components(done) == 8, actions(done)


@pytest.mark.parametrize(("width", "moves"), [("vec4", False), ("vec3", True)])
def test_what_is_read_otherwise_takes_no_location_more(width: str, moves: bool) -> None:
    """A Flat sum in place of an interpolated value: a second Location, if one is full."""
    outputs = f"flat {width} f; float s; float t"
    # s may come to the bit, as it does in a Flat sum
    stores = f"f = {width}({X}); s = float(gl_InstanceIndex); t = sin(p.x) * p.y;"
    vert = producer(stores, outputs)
    lanes = "xyzw" if width == "vec4" else "xyzx"
    body = f"o = vec4(cos(t) + cos(f.x * K.x + s * L.y)) + cos(f).{lanes};"
    done = link(vert, consumer(body, outputs), backward_only())
    assert ("moved-backward" in actions(done)["s"]) == moves
    assert done.linked.interfaces[0].locations == (3, 2)


def hashed(value: str) -> str:
    """So much work that two of it are worth a component."""
    for n in range(12):
        value = f"(({value} ^ {n * 7919 + 77}u) * {n * 2 + 40503}u + {n}u)"
    return value


def test_what_is_read_otherwise_is_no_column_of_a_matrix() -> None:
    """The other column is interpolated."""
    outputs = "flat vec4 f; mat2x4 m"
    stores = "f = p * p.wzyx; float c = float(gl_InstanceIndex);"
    stores += "m = mat2x4(sin(p), c, c + 1, c + 2, c * 3);"
    body = "o = cos(m[0]) + cos(f * K + m[1] * L) + cos(f);"
    vert, frag = producer(stores, outputs), consumer(body, outputs)
    done = moved(vert, frag, 12, backward_only())
    assert actions(done)["m[1]"] == {"moved-backward"}, actions(done)


@pytest.mark.parametrize("alone", ["vertices", "primitives"])
def test_what_is_per_vertex_takes_no_place_of_what_is_per_primitive(alone: str) -> None:
    """a makes two values, b and c one."""
    a = "perprimitiveEXT " * (alone == "primitives")
    b = "perprimitiveEXT " * (alone == "vertices")
    names = (("a", a), ("b", b), ("c", b))
    values = ("i * 77u + floatBitsToUint(at.x)", "floatBitsToUint(at.y) + i", "i * 5u + 3u")
    declared, stores, read = "", "", "#extension GL_EXT_mesh_shader : require\n"
    for at, ((name, way), value) in enumerate(zip(names, values)):
        flat = way or "flat "
        declared += f"layout(location = {at}) {flat} out uint {name}[];\n"
        read += f"layout(location = {at}) flat {way} in uint {name};\n"
        stores += f"{name}[i{' & 7u' * bool(way)}] = {value};\n"
    lanes = [f"float({v} >> 9)" for v in (hashed("a"), hashed("a + 5u"), "(b * 3u + c)")]
    pair = (
        chain_text.mesh(declared, stores),
        chain_text.frag(read, f"color = vec4({', '.join(lanes)}, 1.0);"),
    )
    options = spvlink.Options(disable=frozenset(("forward",)))
    linked = spvlink.link([compile_glsl(t, s, "vulkan1.2") for s, t in pair], options)
    assert linked.defect is None and linked.validated == "validated"
    assert linked.interfaces[0].components == (3, 3)
    assert "moved-backward" not in {r.action for r in linked.remarks}


def test_equal_vectors_of_two_blocks() -> None:
    """One value is made for both, of which each is used as a whole."""
    body = "if (gl_FragCoord.x > 20.0) o = cos(vec4(dot(K, x + y)));"
    body += " else o = sin(vec4(dot(L, x + y)));"
    moved(producer(f"x = {X}; y = {Y};", PAIR), consumer(body, PAIR), 2, backward_only())


SHORTS = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
"""
SHORTS_OUT = (
    "layout(location = 0) flat out i16vec3 a; layout(location = 1) noperspective out vec4 b;"
)


def test_a_word_needs_another_location_than_16_bits() -> None:
    """Fuzz seed 33075230 (types): a word of two sums came to a Location of another interpolation,
    since the one with its own holds 16 bits."""
    vert = (
        f"{SHORTS}layout(location = 0) in vec4 p; layout(location = 1) in i16vec4 k; {SHORTS_OUT}"
        "void main() { gl_Position = p; a = k.xyz; b = p; }"
    )
    frag = (
        f"{SHORTS}{SHORTS_OUT.replace(' out ', ' in ')} layout(location = 0) out vec4 o;"
        "layout(location = 1) out uvec4 n; void main() {"
        " n = uvec4(0u, uint(a.x), uint(a.y) * 31u + uint(a.z), 0u);"
        " o = vec4(b.w * 0.5, b.z * -0.25, b.x * 0.5 + b.y * 0.125, 0.0); }"
    )
    codes = [compile_glsl(t, s, "vulkan1.2") for t, s in ((vert, "vert"), (frag, "frag"))]
    linked = spvlink.link(codes)
    assert linked.defect is None and linked.validated
    assert linked.interfaces[0].locations == (2, 2)
