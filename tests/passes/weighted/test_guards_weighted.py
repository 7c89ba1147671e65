"""Legality checks of motion through sums over vertices that no other test needs (scripts/mutants
found them)."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.chain_hazards import geom
from tests.support.interpolations import (
    FORMS,
    MOVED,
    READ,
    STORE,
    STORED,
    A,
    B,
    Stages,
    chain,
    components,
    link,
    prove,
)
from tests.support.modes import with_mode
from tests.support.samples import compile_glsl

SUM = MOVED["sum"]


def moded(tesc: tuple[str, ...], tese: tuple[str, ...], main: str = SUM) -> spvlink.Linked:
    codes = [compile_glsl(text, stage) for stage, text in chain("triangles", READ, main)]
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


def form(array: str, order: tuple[int, int, int]) -> str:
    x, y, z = (f"{array}[{n}]" for n in order)
    return f"({x}.C * w.x + {y}.C * w.y + {z}.C * w.z)"


@pytest.mark.parametrize("turned", [(0, 1, 2), (1, 0, 2)])
def test_lanes_that_are_written_alike_read_other_vertices(turned: tuple[int, int, int]) -> None:
    """They are not read as one vector; the picture says so."""
    lanes = [[form(a, o).replace("C", c) for c, o in zip("xyzw", [(0, 1, 2), turned] * 2)]
             for a in "pq"]  # fmt: skip
    one, other = (f"vec4({', '.join(each)})" for each in lanes)
    linked = prove(chain("triangles", READ, f"f = {one} + {other};"))
    assert components(linked) == (8, 4)


TIMES = FORMS["triangles"]["matrix"]
ALIKE = {  # whether p and q are read alike
    "a vertex and a sum of it": ("p[0] + (q[0] * w.x + q[0] * (1.0 - w.x))", False),
    "a sum of it and a vertex": ("(q[0] * w.x + q[0] * (1.0 - w.x)) + p[0]", True),
    "by a number": (f"({A} / 1.75 + p[0] * w.y) + ({B} / 1.75 + q[0] * w.y)", True),
    "by a number, and with it": (f"({A} / 1.75 + p[0] * w.y) + ({B} * 1.75 + q[0] * w.y)", False),
    "divided": (f"{A} / (w.x + 1.0) + {B} / (w.x + 1.0)", False),
    "divided and multiplied": (f"{A} / (w.x + 1.0) + {B} * (w.x + 1.0)", False),
}


@pytest.mark.parametrize("name", ALIKE)
def test_weights_that_are_made_at_the_place(name: str) -> None:
    sum, moves = ALIKE[name]
    linked = prove(chain("triangles", READ, f"f = {sum};"))
    assert components(linked) == (8, 4 if moves else 8)


def test_a_precise_product_of_a_matrix_stays() -> None:
    main = f"{{}} vec4 s = {TIMES.replace('X', 'p')}; f = s + {B};"
    assert components(prove(chain("triangles", READ, main.format("")))) == (8, 4)
    assert components(prove(chain("triangles", READ, main.format("precise")))) == (8, 8)


def test_a_product_of_a_matrix_preserves_infinities() -> None:
    main = f"f = {TIMES.replace('X', 'p')} + {TIMES.replace('X', 'q')};"
    assert components(moded((), (), main)) == (8, 4)
    assert components(moded(PRESERVE, PRESERVE, main)) == (8, 8)


CAPTURED = "layout(location = {}, xfb_buffer = 0, xfb_offset = 0, xfb_stride = {}) out vec4 g"


def captured(stages: Stages) -> tuple[int, int]:
    """What crosses; what transform feedback captured is the same to the bit."""
    codes = [compile_glsl(source, stage) for stage, source in stages]
    linked = link(codes)
    scene, before = draw_covering(codes)
    assert before.captured
    assert not compare(before, draw([s.data for s in linked.stages], scene))
    return components(linked)


@pytest.mark.parametrize("name", ["by the geometry shader", "as a whole array"])
def test_what_is_captured_further_on(name: str) -> None:
    if name == "as a whole array":
        read = READ + CAPTURED.format(1, 32) + "[2];"
        main = f"{SUM} g[0] = g[1] = vec4(0.5); g[int(pc.k.x) & 1] = f;"
        stages = chain("triangles", read, main)
    else:
        stages = chain("triangles", READ, SUM)
        main = """for (int i = 0; i < 3; ++i) {
gl_Position = gl_in[i].gl_Position; g = f[i]; EmitVertex(); }"""
        stages.insert(
            3, geom("layout(location = 0) in vec4 f[]; " + CAPTURED.format(0, 16) + ";", main)
        )
    assert captured(stages) == (8, 8)
