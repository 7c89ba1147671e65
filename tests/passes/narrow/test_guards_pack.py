"""Legality checks of what packs narrow values that no other test needs (scripts/mutants found
them)."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.chain_hazards import frag, geom, vert
from tests.support.samples import compile_glsl

Stages = list[tuple[str, str]]

NAMES = ("float x", "int y", "vec3 z")
READ = "color = vec4(z, x) * float(y) * 0.1;"
X, Y, Z = "x = k.x > 1 ? 1.0 : -1.0;", "y = (k.y & 1) != 0 ? 5 : 9;", "z = position.xyz;"
HALF = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
"""


def places(storage: str, qualifier: str = "flat", names: tuple[str, ...] = NAMES) -> str:
    return "".join(
        f"layout(location = {n}) {qualifier} {storage} {name};\n" for n, name in enumerate(names)
    )


def link(stages: Stages, *off: str) -> spvlink.Linked:
    """Linked exactly, without motion, and without these passes."""
    options = spvlink.Options(clean=True)
    options.check_each = options.exact = True
    options.disable = frozenset(("backward", "forward", *off))
    linked = spvlink.link([compile_glsl(text, stage) for stage, text in stages], options)
    assert linked.defect is None and linked.validated in ("validated", ""), linked.defect
    return linked


def packed(linked: spvlink.Linked) -> set[str]:
    return {r.name for r in linked.remarks if "of a word" in r.why}


def drawn(stages: Stages, *off: str) -> set[str]:
    """What is packed; the picture is the same, and so is what transform feedback captured."""
    linked = link(stages, *off)
    codes = [compile_glsl(text, stage) for stage, text in stages]
    scene, before = draw_covering(codes)
    assert before.is_good()
    difference = compare(before, draw([s.data for s in linked.stages], scene))
    assert not difference, str(difference)
    return packed(linked)


def test_flags_are_packed() -> None:
    """All that the others here differ from."""
    stages = [vert(places("out"), X + Y + Z), frag(places("in"), READ)]
    assert drawn(stages) == {"x", "y"}


def test_what_is_interpolated_is_no_flag() -> None:
    """Five make two Locations, which a word would not."""
    names = (*(f"float s{n}" for n in range(5)), "float w")
    store = "w = float(k.z);" + "".join(
        f"s{n} = (k.x & {1 << n}) != 0 ? 1.0 : -1.0;" for n in range(5)
    )
    outputs, inputs = (
        places(side, "", names).replace(f" {side} float w", f" flat {side} float w")
        for side in ("out", "in")
    )
    read = "color = vec4(s0, s1, s2, s3) * 0.5 + 0.5 + s4 * 0.3 + w * 0.01;"
    assert not drawn([vert(outputs, store), frag(inputs, read)])


@pytest.mark.parametrize("captured", [0, 1])
def test_a_flag_that_is_captured_makes_no_word_with_others(captured: int) -> None:
    names = (*NAMES[:2], "float v", "vec2 z")
    outputs = places("out", names=names).replace(
        f"location = {captured})",
        f"location = {captured}, xfb_buffer = 0, xfb_stride = 16, xfb_offset = 4)",
    )
    store = X + Y + "z = position.xy; v = k.z > 1 ? 0.25 : 0.75;"
    read = "color = vec4(z, x, v) * float(y) * 0.1;"
    rest = {"x", "y", "v"} - {names[captured].split()[1]}
    assert drawn([vert(outputs, store), frag(places("in", names=names), read)]) == rest


def test_what_an_invariant_output_is_made_of_is_no_flag() -> None:
    emit = "gl_Position = gl_in[i].gl_Position + vec4(x[i], y[i], z[i].xy) * 0.01; f = z[i];"
    inputs = places("in", "").replace(";", "[];")
    for invariant in ("", "invariant gl_Position;\n"):
        stages = [
            vert(places("out", ""), X + Y + "z = b.xyz;"),  # no part of the position
            geom(
                f"out gl_PerVertex {{ vec4 gl_Position; }};\n{invariant}{inputs}"
                "layout(location = 0) out vec3 f;",
                f"for (int i = 0; i < 3; ++i) {{ {emit} EmitVertex(); }}",
            ),
            frag("layout(location = 0) in vec3 f;", "color = vec4(f, 1.0);"),
        ]
        stages[0] = ("vert", stages[0][1].replace(" flat ", " "))
        assert drawn(stages) == (set() if invariant else {"x", "y"})


def test_three_values_at_two_places_are_no_flag() -> None:
    store = X + Y + Z + "if (k.z > 1) { x = k.x > 2 ? 3.0 : 1.0; return; } y = 9;"
    assert drawn([vert(places("out"), store), frag(places("in"), READ)]) == set()


def test_a_constant_beside_a_choice() -> None:
    """One place stores a flag that is known there, and another that is not."""
    store = X + Y + Z + "if (k.z > 1) { x = {}; return; } y = 9;"
    for end in ("1.0", "-1.0"):
        stages = [vert(places("out"), store.replace("{}", end)), frag(places("in"), READ)]
        assert drawn(stages) == {"x", "y"}


def test_one_value_is_no_flag() -> None:
    store = "x = 1.0; z = position.xy;" + Y + "v = k.z > 1 ? 0.25 : 0.75;"
    names = (*NAMES[:2], "float v", "vec2 z")
    read = "color = vec4(z, x, v) * float(y) * 0.1;"
    stages = [vert(places("out", names=names), store), frag(places("in", names=names), read)]
    assert drawn(stages, "propagate") == {"y", "v"}


def test_numbers_of_64_bits_are_no_flags() -> None:
    names = ("double x", "double y", "vec3 z")
    store = """double s = k.z > 0 ? 1.0LF : -1.0LF, t = k.z > 1 ? 5.0LF : 9.0LF;
for (int n = 0; n < k.w; ++n) { if (n == k.x) s = -1.0LF; if (n == k.y) t = 9.0LF; }
x = s; y = t;"""
    stages = [vert(places("out", names=names), store + Z), frag(places("in", names=names),
              "color = vec4(z, float(x)) * float(y) * 0.1;")]  # fmt: skip
    assert not packed(link(stages, "halves", "simplify", "branches"))


HALVES = ("float16_t x", "float16_t y", "vec3 z")
HALF_READ = "color = vec4(z, float(x)) * float(y);"


@pytest.mark.parametrize("computes", [(True, True), (True, False), (False, True)])
def test_halves_take_arithmetic_of_16_bits(computes: tuple[bool, bool]) -> None:
    """A vector of two is made of them, and a constant. (Lavapipe has no such interfaces.)"""
    store = Z + "x = float16_t(a.x){0}; y = float16_t(a.y);"
    texts = [
        (vert, places("out", names=HALVES), store.format(""), store.format(" * 3.0hf")),
        (frag, places("in", names=HALVES), HALF_READ, HALF_READ.replace("x)", "x * y)")),
    ]
    stages: Stages = []
    for able, (make, declared, plain, computed) in zip(computes, texts):
        stages.append(make(HALF + declared, computed if able else plain))
    assert packed(link(stages)) == ({"x", "y"} if all(computes) else set())


def test_a_word_that_needs_a_location_more_is_not_made() -> None:
    """Numbers of 16 bits share Locations with their like only."""
    names = ("float16_t x", "float16_t y", "float16_t v", "float16_t w")
    store = """x = k.x > 1 ? 1.0hf : -1.0hf; y = (k.y & 1) != 0 ? 5.0hf : 9.0hf;
v = float16_t(a.x) * 3.0hf; w = float16_t(a.y) * v;"""
    read = "color = vec4(x * 2.0hf, y, v, w);"
    stages = [vert(HALF + places("out", names=names), store),
              frag(HALF + places("in", names=names), read)]  # fmt: skip
    assert not packed(link(stages))


def test_halves_of_which_one_is_stored() -> None:
    store = Z + "x = float16_t(a.x) * 3.0hf; if (k.z > 1) return; y = float16_t(a.y);"
    stages = [
        vert(HALF + places("out", names=HALVES), store),
        frag(HALF + places("in", names=HALVES), HALF_READ.replace("x)", "x * y)")),
    ]
    assert packed(link(stages)) == {"x", "y"}
