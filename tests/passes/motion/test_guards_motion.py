"""Legality checks of code motion that no other test needs (scripts/mutants found them)."""

from __future__ import annotations

import pytest

from tests.support.linking import Result
from tests.support.modes import with_mode
from tests.support.motion_pairs import (
    PAIR,
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
    stay,
)

# --- where the weights do not sum to one, nothing that does not vary is added ---

ADDED = {  # expression -> whether it is homogeneous
    "fma(K, x, y)": True,
    "fma(x, K, y)": True,
    "fma(K, L, x) + y": False,
    "fma(x, K, L) + y": False,
    "x - K + y": False,
    "mix(x, y, K)": True,
    "mix(x, K, L) + y": False,
    "mix(x, y, bvec4(K.x > 0.3))": True,
    "mix(x, K, bvec4(K.x > 0.3)) + y": False,
}


@pytest.mark.parametrize("qualifier", ["centroid", "sample"])
@pytest.mark.parametrize("expression", ADDED)
def test_only_sums_of_what_varies_move_off_the_middle(expression: str, qualifier: str) -> None:
    outputs = f"{qualifier} vec4 x; {qualifier} vec4 y"
    vert = producer(f"x = {X}; y = {Y};", outputs)
    done = link(vert, consumer(f"o = cos({expression});", outputs), backward_only())
    assert components(done) == (4 if ADDED[expression] else 8)
    plain = producer(f"x = {X}; y = {Y};", PAIR)
    done = link(plain, consumer(f"o = cos({expression});", PAIR), backward_only())
    assert components(done) == 4


def test_what_only_comes_round_a_loop_is_needed() -> None:
    body = "vec4 s = vec4(0); o = s;"
    body += " for (int i = 0; i < int(gl_FragCoord.x); ++i) { o += cos(s); s = x + y; }"
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    assert components(link(vert, consumer(body, PAIR), backward_only())) == 4


# --- the two stages may not compute alike ---

PRESERVE, TO_ZERO = ("SignedZeroInfNanPreserve 32",), ("RoundingModeRTZ 32",)
MODES: list[tuple[str, tuple[str, ...], tuple[str, ...], bool]] = [
    ("", (), (), True),
    ("flat", (), (), True),
    ("", PRESERVE, PRESERVE, False),  # interpolation makes NaNs of infinities
    ("", PRESERVE, (), False),
    ("", (), PRESERVE, False),
    ("flat", PRESERVE, PRESERVE, True),
    ("flat", PRESERVE, (), True),
    ("flat", (), PRESERVE, False),
    ("flat", TO_ZERO, TO_ZERO, True),
    ("flat", TO_ZERO, (), False),
    ("flat", (), TO_ZERO, False),
]


@pytest.mark.parametrize(("qualifier", "mine", "theirs", "moves"), MODES)
def test_backward_asks_how_floats_are_computed(
    qualifier: str, mine: tuple[str, ...], theirs: tuple[str, ...], moves: bool
) -> None:
    outputs = f"{qualifier} vec4 x; {qualifier} vec4 y"
    vert = compiled_vertex(producer(f"x = {X}; y = {Y};", outputs))
    frag = compiled_fragment(consumer("o = x + y;", outputs))
    done = Result(with_mode(vert, *mine), with_mode(frag, *theirs), backward_only())
    assert components(done) == (4 if moves else 8)


def test_numbers_of_64_bits_do_not_cross_as_one_component() -> None:
    """Two words that make one double are two components, however cheap that would be."""
    outputs = "flat uint x; flat uint y"
    doubles = "double d = packDouble2x32(uvec2({0}, {1}));"
    vert = producer(
        f"x = floatBitsToUint(p.x); y = floatBitsToUint(p.y); {doubles.format('x', 'y')}"
        " gl_Position.z = float(d);",
        outputs,
    )
    body = doubles.format("x", "y") + " o = vec4(float(d) + float(d * gl_FragCoord.x));"
    assert components(stay(vert, consumer(body, outputs), backward_only())) == 2


# --- resources of both ---

PADDED = "layout(binding = 0) uniform U { vec4 pad; } u;\n"
ALIASED = """layout(binding = 0) uniform U { vec4 pad; vec4 tint; } u;
layout(binding = 0) uniform V { vec4 pad_; uvec4 words; } v;
"""
ALONE_TOO = ALIASED.replace("uniform V { vec4 pad_; uvec4 words; }", "uniform V { vec4 pad_; }")


@pytest.mark.parametrize("both", [True, False])
def test_two_members_that_lie_in_each_other_s_way(both: bool) -> None:
    """The fragment shader sees the same bytes as floats and as integers; a block cannot."""
    vert = producer(f"x = {X}; y = {Y} * u.pad;", PAIR, PADDED)
    used = "x * u.tint + y * " + ("vec4(v.words)" if both else "v.pad_")
    frag = consumer(f"o = cos({used});", PAIR, ALIASED if both else ALONE_TOO)
    done = link(vert, frag, options(disable=frozenset(("forward",))))
    assert components(done) == (8 if both else 4), actions(done)


# --- what is equal at all vertices, and interpolated ---

EQUAL = {  # what is made of two such values -> whether it crosses in their place
    "x * y": True,
    "mix(x, y, bvec4(K.x > 0.3))": True,
    "mix(x, y, isnan(x))": False,
    "mix(x * y, y, isinf(y))": False,
    "floor(x) * y": False,
}


@pytest.mark.parametrize("expression", EQUAL)
def test_what_a_choice_by_an_interpolated_value_gives_is_not_interpolated(expression: str) -> None:
    """An infinity is a NaN behind the border."""
    stores = "float f = intBitsToFloat(gl_InstanceIndex); x = sin(vec4(f, f + 1, f + 2, f + 3));"
    stores += " y = cos(vec4(f, f * 2, f * 3, f * 4));"
    vert = producer(stores, PAIR)
    done = link(vert, consumer(f"o = {expression} * gl_FragCoord.x;", PAIR), backward_only())
    assert components(done) == (4 if EQUAL[expression] else 8), actions(done)
