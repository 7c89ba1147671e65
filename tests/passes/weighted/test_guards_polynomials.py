"""Weights of open-coded interpolation that are one polynomial, and such that are not
(scripts/mutants found that no other test has these)."""

from __future__ import annotations

import pytest

from tests.support.interpolations import HALVES, READ, STORE, STORED, chain, components, prove

PATCH = "layout(location = 2) patch {} float h;\n"
PATCH_STORE = STORE + "h = fract(gl_in[0].gl_Position.x * 3.0) + 0.25;"

# domain, declarations, weights of p, weights of q -> whether they are the same
WEIGHTS: dict[str, tuple[str, str, list[str], list[str], bool]] = {
    "a product in which something cancels": (
        "triangles", "", ["(w.x - w.y) * (w.x + w.y)"], ["(w.x * w.x - w.y * w.y)"], True,
    ),
    "a sum in which something cancels": (
        "triangles", "", ["w.x + p[0] * w.z"], ["(1.0 - w.y)"], True,
    ),
    "a sum of what a patch says": (
        "triangles", "", ["(h * w.x + h * w.x)", "w.y"], ["h * w.x * 2.0", "w.y"], True,
    ),
    "numbers of uniforms are no places": (
        "triangles", "", ["pc.k.x", "pc.k.y"], ["pc.k.y", "pc.k.x"], False,
    ),
    "levels are no places": (
        "triangles", "", ["w.x", "w.y"],
        ["gl_TessLevelOuter[0] * 0.1", "gl_TessLevelOuter[1] * 0.1"], False,
    ),
    "a component of the place by itself": (
        "triangles", "", ["gl_TessCoord.x", "w.y"], ["w.x", "gl_TessCoord.y"], True,
    ),
    "the third of a quad": (
        "quads", "", ["w.x", "w.y", "w.z"], ["w.x", "w.y"], True,
    ),
    "lanes of a product": (
        "triangles", "vec2 s = w.xy * w.xy;", ["s.x", "s.y"], ["w.x * w.x", "w.y * w.y"], True,
    ),
    "one lane of a product for two": (
        "triangles", "vec2 s = w.xy * w.xy;", ["s.x", "s.y"], ["s.x", "s.x"], False,
    ),
    "lanes of a vector times a number": (
        "triangles", "vec2 s = w.xy * w.z;", ["s.x", "s.y"], ["w.x * w.z", "w.y * w.z"], True,
    ),
    "a mixture": (
        "triangles", "", ["mix(w.x, w.y, w.z)"], ["(w.x * (1.0 - w.z) + w.y * w.z)"], True,
    ),
    "fma": ("triangles", "", ["fma(w.x, w.y, w.z)"], ["(w.x * w.y + w.z)"], True),
    "fma is no mixture": (
        "triangles", "", ["fma(w.x, w.y, w.z)"], ["mix(w.x, w.y, w.z)"], False,
    ),
    "divided by two numbers": (
        "triangles", "", ["(w.x * 0.5) / 3.0 + p[0] * w.y"], ["w.x / 6.0 + q[0] * w.y"], True,
    ),
}  # fmt: skip


def summed(name: str, weights: list[str]) -> str:
    return "(" + " + ".join(f"{name}[{n}] * {w}" for n, w in enumerate(weights)) + ")"


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_are_equal_as_polynomials(name: str) -> None:
    domain, declared, one, other, equal = WEIGHTS[name]
    main = f"{declared} f = {summed('p', one)} + {summed('q', other)};"
    more = "h *" in main or "(h " in main
    stored = STORED + PATCH.format("out") * more
    read = READ + PATCH.format("in") * more
    linked = prove(chain(domain, read, main, stored, PATCH_STORE if more else STORE))
    assert components(linked) == (8 + more, (4 if equal else 8) + more)


def test_a_number_that_all_but_cancels() -> None:
    """h - h * 0.9999999 has a digit or two of h * 1e-7 left: another weight, where h is large."""
    store = STORE + "h = 4.0e6 * (fract(gl_in[0].gl_Position.x * 3.0) + 0.25);"
    one, other = "(h - h * 0.9999999)", "(h * 1.1920929e-7)"
    main = f"f = (p[0] * {one} + p[1] * w.x) + (q[0] * {other} + q[1] * w.x);"
    stored, read = STORED + PATCH.format("out"), READ + PATCH.format("in")
    linked = prove(chain("triangles", read, main, stored, store))
    assert components(linked) == (9, 9)


LARGE = {  # what is declared, weights of p[0] and of q[0] -> whether they are compared
    "two of a patch": ("", "(g * w.x - h * w.x)", "((g - h) * w.x)", False),
    "two of a patch, multiplied": (
        "float m = (g - h) * 2e-7;", "(h * w.x - h * (1.0 - m) * w.x)", "(h * m * w.x)", False,
    ),
    "one of a patch, and its square": (
        "float m = h * 1e-7;", "(m * w.x - m * m * w.x)", "(m * (1.0 - m) * w.x)", True,
    ),
    "sine and cosine": (
        "float m = sin(h * 1e-7), n = cos(g);", "(m * w.x - n * w.x)", "((m - n) * w.x)", True,
    ),
    "clamped": (
        "float m = clamp(h * 1e-7, 0.0, 1.0), n = clamp(g, 0.0, 1.0);",
        "(m * w.x - n * w.x)", "((m - n) * w.x)", True,
    ),
    "one that is more than one": (
        "float m = sin(h * 1e-7), n = clamp(g, 0.0, 1e7);", "(m * h * w.x - n * w.x)",
        "((m * h - n) * w.x)", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_differences_of_what_may_be_large(name: str) -> None:
    """Digits that a difference of two large numbers loses are not compared."""
    declared, one, other, equal = LARGE[name]
    wide = "layout(location = 3) patch {} float g;\n"
    store = STORE + "h = 4.0e6 * (fract(gl_in[0].gl_Position.x * 3.0) + 0.25); g = h + d[0].x;"
    main = f"{declared} f = (p[0] * {one} + p[1] * w.y) + (q[0] * {other} + q[1] * w.y);"
    stored, read = (t + PATCH.format(d) + wide.format(d)
                    for t, d in ((STORED, "out"), (READ, "in")))  # fmt: skip
    before, after = components(prove(chain("triangles", read, main, stored, store)))
    assert before == 10 and (after <= 6) == equal


@pytest.mark.parametrize("count", [20, 3000])
def test_weights_of_any_depth(count: int) -> None:
    """What is made by thousands of operations stands for itself."""
    deep = "float t = w.x;" + " t = t * 0.9 + w.y; t = t * 0.8 + w.z;" * count
    main = f"{deep} f = {summed('p', ['t', 'w.x'])} + {summed('q', ['t', 'w.x'])};"
    assert components(prove(chain("triangles", HALVES + READ, main))) == (8, 4)


@pytest.mark.parametrize(
    ("factor", "moves"), [("20.0", True), ("1e6", False), ("1e3 * 1e3", False)]
)
def test_weights_that_are_large(factor: str, moves: bool) -> None:
    """They show the last bit of p + q."""
    form = f"((X[0] - X[1]) * (w.x * {factor}) + X[2])"
    main = f"f = {form.replace('X', 'p')} + {form.replace('X', 'q')} * 0.5;"
    store = "p[gl_InvocationID] = vec4(0.3) + c[gl_InvocationID] * 1e-5;"
    store += " q[gl_InvocationID] = vec4(0.2) + d[gl_InvocationID] * 1e-5;"
    linked = prove(chain("triangles", READ, main, STORED, store))
    assert components(linked) == (8, 4 if moves else 8)
