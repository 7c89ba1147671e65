"""Numbers that are unpacked from one word: the word crosses in their place, where nothing is
interpolated. Drawn, and linked twice."""

from __future__ import annotations

import pytest

import spvlink
from tests.support.chain_text import frag, geom, tesc, tese, vert
from tests.support.shared_values import Stages, prove

WORD = "uint word = floatBitsToUint(a.x) ^ uint(k.y);\n"
UNPACKED = {
    "unorm bytes": ("vec4", "unpackUnorm4x8(word)"),
    "snorm bytes": ("vec4", "unpackSnorm4x8(word)"),
    "unorm shorts": ("vec2", "unpackUnorm2x16(word)"),
    "snorm shorts": ("vec2", "unpackSnorm2x16(word)"),
    "halves": ("vec2", "unpackHalf2x16(packHalf2x16(a.yz))"),
    "swizzled": ("vec4", "unpackUnorm4x8(word).bgra"),
    "scaled": ("vec2", "unpackSnorm2x16(word) * 2.0"),
}


def pair(type: str, value: str, qualifier: str = "flat", read: str = "sin({})") -> Stages:
    c = "c.xyxy" if type == "vec2" else "c"
    return [
        vert(f"layout(location = 0) {qualifier} out {type} c;", f"{WORD}c = {value};"),
        frag(f"layout(location = 0) {qualifier} in {type} c;", f"color = {read.format(c)};"),
    ]


def components(linked: spvlink.Linked, consumer: str = "frag") -> tuple[int, int]:
    return next(i.components for i in linked.interfaces if i.consumer == consumer)


@pytest.mark.parametrize("name", UNPACKED)
def test_the_word_crosses(name: str) -> None:
    type, value = UNPACKED[name]
    linked = prove(pair(type, value), disable=frozenset())
    assert components(linked)[1] == 1
    assert {r.action for r in linked.remarks if r.name == "c"} <= {"moved-forward", "kept"}


def test_two_colours_and_what_is_made_of_them() -> None:
    """One word for all of them."""
    out = """layout(location = 0) flat out vec4 c; layout(location = 1) flat out vec4 d;
layout(location = 2) flat out float e;"""
    stages = [
        vert(out, f"{WORD}c = unpackUnorm4x8(word); d = unpackSnorm4x8(word * 7u); e = dot(c, d);"),
        frag(out.replace(" out ", " in "), "color = sin(c) + cos(d) + e;"),
    ]
    assert components(prove(stages, disable=frozenset())) == (9, 1)


@pytest.mark.parametrize(
    "qualifier", ["", "noperspective", "centroid"], ids=lambda q: q or "smooth"
)
def test_interpolated_numbers_stay(qualifier: str) -> None:
    linked = prove(pair("vec4", "unpackUnorm4x8(word)", qualifier), disable=frozenset())
    assert components(linked) == (4, 4)


def test_exact_keeps_them() -> None:
    linked = prove(pair("vec4", "unpackUnorm4x8(word)"), exact=True, disable=frozenset())
    assert components(linked) == (4, 4)


def test_what_decides_something_stays() -> None:
    """A comparison depends on their last bits."""
    read = "vec4(greaterThan({}, vec4(0.5)))"
    linked = prove(
        pair("vec4", "unpackUnorm4x8(word)", "flat", read), disable=frozenset({"backward"})
    )
    assert components(linked) == (4, 4)


def test_two_bytes_are_not_worth_it() -> None:
    linked = prove(pair("vec2", "unpackUnorm4x8(word).xz"), disable=frozenset())
    assert components(linked) == (2, 2)


def test_through_a_chain() -> None:
    """Nothing is interpolated before the last border."""
    stages = [
        vert("layout(location = 0) out vec4 c;", f"{WORD}c = unpackUnorm4x8(word);"),
        geom("layout(location = 0) in vec4 c[]; layout(location = 0) flat out vec4 p;",
             """for (int i = 0; i < 3; ++i) { p = c[i]; gl_Position = gl_in[i].gl_Position;
EmitVertex(); }"""),
        frag("layout(location = 0) flat in vec4 p;", "color = sin(p);"),
    ]  # fmt: skip
    linked = prove(stages, disable=frozenset())
    assert (components(linked, "geom")[1], components(linked)[1]) == (1, 1)


def test_per_patch() -> None:
    stages = [
        vert("layout(location = 0) flat out uint w;", f"{WORD}w = word;"),
        tesc("layout(location = 0) in uint w[]; layout(location = 0) patch out vec4 c;",
             "c = unpackUnorm4x8(w[0]);"),
        tese("layout(location = 0) patch in vec4 c; layout(location = 0) out vec4 f;",
             "f = sin(c) + w.xyzx;"),
        frag("layout(location = 0) in vec4 f;", "color = f;"),
    ]  # fmt: skip
    assert components(prove(stages, disable=frozenset()), "tese")[1] == 1
