"""Legality checks of motion through sums over vertices that no other test needs (scripts/mutants
found them)."""

from __future__ import annotations

import pytest

import spvlink
from tests.samples import compile_glsl
from tests.test_guards import with_mode
from tests.test_weighted import MOVED, READ, STORE, STORED, A, B, chain, components, link, prove

SUM = MOVED["sum"]


def moded(tesc: tuple[str, ...], tese: tuple[str, ...]) -> spvlink.Linked:
    codes = [compile_glsl(text, stage) for stage, text in chain("triangles", READ, SUM)]
    for at, modes in ((1, tesc), (2, tese)):
        if modes:
            codes[at] = with_mode(codes[at], *modes)
    return link(codes)


TO_ZERO, PRESERVE = ("RoundingModeRTZ 32",), ("SignedZeroInfNanPreserve 32",)


@pytest.mark.parametrize(
    ("tesc", "tese", "moves"),
    [
        ((), (), True),
        (TO_ZERO, TO_ZERO, True),
        (TO_ZERO, (), False),
        ((), TO_ZERO, False),
        (PRESERVE, PRESERVE, False),
        ((), PRESERVE, False),
        (PRESERVE, (), False),
    ],
)
def test_both_stages_compute_alike(
    tesc: tuple[str, ...], tese: tuple[str, ...], moves: bool
) -> None:
    assert components(moded(tesc, tese)) == (8, 4 if moves else 8)


def test_stores_through_addresses() -> None:
    """What is stored there is no output; it is not known which variable it goes to."""
    declared = """#extension GL_EXT_buffer_reference : require
layout(buffer_reference) buffer Log { vec4 seen; };
layout(binding = 0) uniform Where { Log log; };
"""
    stages = chain("triangles", declared + READ, SUM + " log.seen = w.xyzx;")
    codes = [compile_glsl(text, stage) for stage, text in stages]
    assert components(link(codes)) == (8, 4)


def test_an_infinity_is_not_added_before() -> None:
    """1 / (l - l) is one where it is added, and would be a NaN behind weights of zero."""
    main = f"float none = 1.0 / (pc.l.x - pc.l.x); f = max(({A} + none) + {B}, vec4(0.0));"
    codes = [compile_glsl(text, stage) for stage, text in chain("triangles", READ, main)]
    assert components(link(codes)) == (8, 8)


def test_a_weight_of_the_patch_still_crosses() -> None:
    """What weighs is needed where the sum is, although nothing else reads it."""
    stored = STORED + "layout(location = 2) patch out float h;\n"
    store = STORE + "h = fract(gl_in[0].gl_Position.x * 3.0) + 0.25;"
    read = READ + "layout(location = 2) patch in float h;\n"
    one, other = (f"({x}[0] * h + {x}[1] * (1.0 - h))" for x in "pq")
    linked = prove(chain("triangles", read, f"f = {one} + {other};", stored, store))
    assert components(linked) == (9, 5)


def test_doubles_do_not_cross() -> None:
    linked = prove(chain("triangles", READ, f"f = vec4(dvec4({A}) + dvec4({B}));"))
    assert components(linked) == (8, 8)
