"""What the proof on paper knows of conditions that say something of each other: values that exclude
each other, loops that are over, what never happens; and of rows, masks and elements of arrays. A
change that keeps the values is proved; a mistake beside it is not."""

from __future__ import annotations

import struct

import pytest

from spvlink.grammar import ops
from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL
from tests.support.samples import compile_glsl

VERTEX = """#version 450
layout(location = 0) in vec4 p;
layout(location = 1) in vec4 q;
layout(set = 0, binding = 0) uniform U { vec4 data[4]; vec4 tint; float level; int n; int m; };
layout(location = 0) out vec4 v;
void main() { gl_Position = p; v = q; BEFORE }
"""
FRAGMENT = """#version 450
layout(constant_id = 3) const bool EVER = false;
layout(set = 0, binding = 0) uniform U { vec4 data[4]; vec4 tint; float level; int n; int m; };
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 c;
bool goes_on(int i) { return i < 3; }
void main() { READ }
"""
BREAK = "float x = v.x; int i; for (i = 0; i < n; ++i) {" \
        "if (x > tint.y) break; x = sin(x + tint.x); }"  # fmt: skip
ENDS = "if (n == 1) k = 0.3; else if (n == 2) k = 0.4; else if (n == 3) k = 0.6;"
# What main does, of the original and of what is linked
RIGHT = {
    "two values of one number": (
        "c = n == 1 ? (n == 2 ? v : tint) : v;", "c = n == 1 ? tint : v;"),
    "a value on the path of another one": (
        "c = v; if (n == 2) c = sin(n == 1 ? v : tint);", "c = v; if (n == 2) c = sin(tint);"),
    "a test that makes no difference": (
        "c = n != 1 && n == 2 ? tint : v;", "c = n == 2 ? tint : v;"),
    "the last one of few values": (
        "int k = n & 3; c = k == 0 ? v : k == 1 ? v.yxzw : k == 2 ? v.zxyw : tint;",
        "int k = n & 3; c = k == 3 ? tint : k == 1 ? v.yxzw : k == 0 ? v : v.zxyw;"),
    "a rest that is too large": ("c = uint(n) % 3u == 3u ? v : tint;", "c = tint;"),
    "no bit of a complement": ("c = vec4(n & ~n, n | ~n, n ^ ~n, 1);", "c = vec4(0, -1, -1, 1);"),
    "complements of an undefined number": (
        "int o; c = vec4((~o ^ ~n) & 3);", "int o; c = vec4((o ^ n) & 3);"),
    "an undefined number on the other side": (
        "int o; c = o == 1 - n ? v : tint;", "int o; c = o + n == 1 ? v : tint;"),
    "the first end of a choice for an undefined one": (
        f"float k; {ENDS} c = vec4(k * 3.5);",
        "float k = 0.3; if (n == 2) k = 0.4; if (n == 3) k = 0.6; c = vec4(k * 3.5);"),
    "the last end of a choice for an undefined one": (
        f"float k; {ENDS} c = vec4(k * 3.5);",
        "float k = 0.6; if (n == 1) k = 0.3; if (n == 2) k = 0.4; c = vec4(k * 3.5);"),
    "the least one of a row": ("c = vec4(min(min(n, m), 3));", "c = vec4(min(m, min(3, n)));"),
    "the largest one of a row": (
        "c = vec4(max(uint(n), max(uint(m), uint(n))));", "c = vec4(max(uint(m), uint(n)));"),
    "an index that is computed": (
        "float three = 3.0; c = data[int(0.0 / three)];", "c = data[0];"),
    "a mask that is a choice": (
        "c = vec4(n & (level > 0.5 ? 1 : 6));", "c = vec4(level > 0.5 ? n & 1 : n & 6);"),
    "a function that counts rounds": (
        "float x = v.x; for (int i = 0; goes_on(i); ++i) x = sin(x) + float(i); c = vec4(x);",
        "float x = sin(v.x) + 0.0; x = sin(x) + 1.0; x = sin(x) + 2.0; c = vec4(x);"),
    "a way out that is longer": (
        "float x = v.x; for (int i = 0; ; ++i) {"
        "if (i >= 2) { if (level > 0.5) x = cos(x); break; } x = sin(x) + float(i); } c = vec4(x);",
        "float x = sin(v.x) + 0.0; x = sin(x) + 1.0; if (level > 0.5) x = cos(x); c = vec4(x);"),
    "a zero that stays zero": (
        "float x = 0.0; for (int i = 0; i < n; ++i) x *= 0.75; c = v + x;",
        "float x = 0.0; c = v + x;"),
    "a loop that would never end": (
        "float x; do { x = v.x; } while (EVER); c = EVER ? tint : vec4(x);", "c = vec4(v.x);"),
    "a loop that would never end on a path": (
        "if (level > 0.5) do { } while (EVER); c = sin(level > 0.5 && EVER ? tint : v);",
        "c = sin(v);"),
    "behind a discard": (
        "if (level > 0.5) discard; c = sin(v + vec4(level > 0.5 ? 1.0 : v.x));",
        "if (level > 0.5) discard; c = sin(v + vec4(v.x));"),
    "a loop that is over": (
        f"{BREAK} c = vec4(sin(i < n ? (x > tint.y ? 1.0 : 2.0) : 3.0));",
        f"{BREAK} c = vec4(sin(i < n ? 1.0 : 3.0));"),
    "bits that no round sets": (
        "int k = n & 7; for (int i = 0; i < m; ++i) k = (k + i) & 7; c = vec4(k & 8);",
        "c = vec4(0.0);"),
    "numbers without a difference": ("c = (n ^ m) == 0 ? v : tint;", "c = n == m ? v : tint;"),
    "bits that are in others": ("c = vec4(n & m & 6 | n & 7);", "c = vec4(n & 7);"),
    "a sign of a sign": ("c = sign(sign(v));", "c = sign(v);"),
    "a difference turned round": (
        "int o; c = (n & 6) == (level > 0.5 ? m : o) ? v : tint;",
        "c = m - (n & 6) == 0 ? v : tint;"),
    "the sum of choices": (
        "bool b = level > 0.5; int a = b ? 2 * n : 2 * m, d = b ? n : m; c = vec4(a - d);",
        "c = vec4(level > 0.5 ? n : m);"),
    "a shift of nothing": ("c = vec4(0 << (n & 7)) + float(0 >> (m & 7));",
                           "c = vec4(0.0) + float(0);"),
    "an element that was written": (
        "float a[3] = float[](v.x, v.y, v.z); a[n] = v.w; c = vec4(a[n]);", "c = vec4(v.w);"),
    "one of two elements": (
        "float a[2] = float[](v.x, v.y); c = vec4(a[n & 1]);",
        "c = vec4((n & 1) == 0 ? v.x : v.y);"),
    "a number that is above zero": (
        "int k = level > 0.5 ? (n & 3) + 1 : clamp(m, 2, 5); c = k > 0 ? v : tint;", "c = v;"),
}  # fmt: skip
WRONG = {
    "two values of two numbers": (
        "c = n == 1 ? (m == 2 ? v : tint) : v;", "c = n == 1 ? tint : v;"),
    "two values of two sums": (
        "c = n == 1 ? (n + m == 2 ? v : tint) : v;", "c = n == 1 ? tint : v;"),
    "another one of two values": (
        "c = n == 1 ? v : n == 2 ? tint : v.yxzw;",
        "c = n == 1 ? v.zxyw : n == 2 ? tint : v.yxzw;"),
    "two values of an undefined number": (
        "int o; c = o == 1 ? tint : v;",
        "int o; c = o == 1 ? (o == 2 ? v * 3.0 : tint) : v;"),
    "two values for one of an undefined number": (
        "int o; c.x = o == n ? v.x : o == n + 1 ? v.y : v.z;",
        "c.x = m == n ? (int(level) == n + 1 ? v.w : v.x) : int(level) == n + 1 ? v.y : v.z;"),
    "one of too many values": (
        "int k = n & 7; c = k == 0 ? v : k == 1 ? v.yxzw : k == 2 ? v.zxyw : tint;",
        "int k = n & 7; c = k == 3 ? tint : k == 1 ? v.yxzw : k == 0 ? v : v.zxyw;"),
    "a rest that is not too large": ("c = uint(n) % 4u == 3u ? v : tint;", "c = tint;"),
    "bits of another complement": ("c = vec4(n & ~m);", "c = vec4(0);"),
    "another end of a choice than the one of this number": (
        f"float k; {ENDS} c = vec4(k * 3.5);",
        "float k = 0.3; if (n == 1) k = 0.6; if (n == 2) k = 0.4; c = vec4(k * 3.5);"),
    "an end that is undefined in the linked pipeline": (
        f"float k = 0.3; {ENDS} c = vec4(k * 3.5);", f"float k; {ENDS} c = vec4(k * 3.5);"),
    "a complement of an undefined number": ("c = vec4(0);", "int o; c = vec4(o & ~o);"),
    "an undefined number on both sides": (
        "c = n == 0 ? v : tint;", "int o; c = o + n == o ? v : tint;"),
    "the least one of another row": (
        "c = vec4(min(min(n, m), 3));", "c = vec4(min(m, min(4, n)));"),
    "the least and the largest one": (
        "c = vec4(min(max(n, m), 3));", "c = vec4(max(m, min(3, n)));"),
    "another index that is computed": (
        "float three = 3.0; c = data[int(0.0 / three)];", "c = data[1];"),
    "a mask that is another choice": (
        "c = vec4(n & (level > 0.5 ? 1 : 6));", "c = vec4(level > 0.5 ? n & 6 : n & 1);"),
    "a function that counts fewer rounds": (
        "float x = v.x; for (int i = 0; goes_on(i); ++i) x = sin(x) + float(i); c = vec4(x);",
        "float x = sin(v.x) + 0.0; x = sin(x) + 1.0; c = vec4(x);"),
    "a one that stays one": (
        "float x = 1.0; for (int i = 0; i < n; ++i) x *= 0.75; c = v + x;",
        "float x = 1.0; c = v + x;"),
    "a loop that ends at last": (
        "int i = 0; do { ++i; } while (EVER && i < n); c = EVER ? tint : v;", "c = v;"),
    "a loop that may not begin": (
        "if (level > 0.5) do { } while (EVER); c = EVER ? tint : v;", "c = v;"),
    "an endless loop in rounds that may not be": (
        "for (int i = 0; i < n; ++i) do { } while (EVER); c = EVER ? tint : v;", "c = v;"),
    "an endless loop in a round that may not be": (
        "if (level > 0.5) { int i = 0; do { do { } while (EVER); } while (++i < n); }"
        "c = EVER ? tint : v;", "c = v;"),
    "an endless loop by an undefined value": (
        "float o; if (o > 0.5) do { } while (EVER); c = EVER ? tint : v;", "c = v;"),
    "behind another discard": (
        "if (level > 0.6) discard; c = sin(v + vec4(level > 0.5 ? 1.0 : v.x));",
        "if (level > 0.6) discard; c = sin(v + vec4(v.x));"),
    "a loop that may be over for another reason": (
        f"{BREAK} c = vec4(sin(x > tint.y ? (i < n ? 1.0 : 2.0) : 3.0));",
        f"{BREAK} c = vec4(sin(x > tint.y ? 1.0 : 3.0));"),
    "bits that a round sets": (
        "int k = n & 3; for (int i = 0; i < m; ++i) k = (k + i) & 7; c = vec4(k & 4);",
        "c = vec4(0.0);"),
    "bits that are there before the first round": (
        "int k = n & 15; for (int i = 0; i < m; ++i) k = (k + i) & 7; c = vec4(k & 8);",
        "c = vec4(0.0);"),
    "numbers with a difference": ("c = (n ^ m) == 1 ? v : tint;", "c = n == m ? v : tint;"),
    "bits that are not in others": ("c = vec4(n & m & 14 | n & 7);", "c = vec4(n & 7);"),
    "a sign of another sign": ("c = sign(-sign(v));", "c = sign(v);"),
    "a sum for a difference": (
        "int o; c = (n & 6) == (level > 0.5 ? m : o) ? v : tint;",
        "c = m + (n & 6) == 0 ? v : tint;"),
    "the sum of other choices": (
        "int a = level > 0.5 ? 2 * n : 2 * m, d = level > 0.6 ? n : m; c = vec4(a - d);",
        "c = vec4(level > 0.5 ? n : m);"),
    "a shift of something": ("c = vec4(1 << (n & 7));", "c = vec4(0.0);"),
    "a shift by too much": ("c = vec4(0.0);", "c = vec4(0 << n);"),
    "another element than was written": (
        "float a[3] = float[](v.x, v.y, v.z); a[n] = v.w; c = vec4(a[m]);", "c = vec4(v.w);"),
    "the other one of two elements": (
        "float a[2] = float[](v.x, v.y); c = vec4(a[n & 1]);",
        "c = vec4((n & 1) == 0 ? v.y : v.x);"),
    "a number that may be zero": (
        "int k = level > 0.5 ? (n & 3) + 1 : clamp(m, 0, 5); c = k > 0 ? v : tint;", "c = v;"),
}  # fmt: skip


def compiled(read: str, before: str = "") -> list[Source]:
    vertex, fragment = VERTEX.replace("BEFORE", before), FRAGMENT.replace("READ", read)
    return [Source(compile_glsl(vertex, "vert")), Source(compile_glsl(fragment, "frag"))]


def is_proved(before: list[Source], after: list[Source], exact: bool) -> bool:
    return prove(before, after, Options(exact=exact), 20.0).outcome == EQUAL


@pytest.mark.parametrize("name", RIGHT)
def test_what_keeps_the_values_is_proved(name: str) -> None:
    before, after = [compiled(text) for text in RIGHT[name]]
    assert [s.data for s in before] != [s.data for s in after]
    assert is_proved(before, after, True)
    assert is_proved(before, after, False)


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_not_proved(name: str) -> None:
    before, after = [compiled(text) for text in WRONG[name]]
    assert is_proved(before, before, True)
    assert not is_proved(before, after, True)
    assert not is_proved(before, after, False)


@pytest.mark.parametrize(("condition", "proved"), [("true", True), ("q.x > 0.5", False)])
def test_an_endless_loop_of_an_earlier_stage(condition: str, proved: bool) -> None:
    before = f"if ({condition}) do {{ }} while (level > 0.5);"
    reads = "c = level > 0.5 ? tint : v;", "c = v;"
    original, linked = [compiled(read, before) for read in reads]
    assert is_proved(original, linked, True) == is_proved(original, linked, False) == proved


@pytest.mark.parametrize(("value", "proved"), [("0.0", True), ("1.0", False)])
def test_an_undefined_end_that_is_interpolated(value: str, proved: bool) -> None:
    """To the bit, zero alone is interpolated to itself."""
    before = f"float k; if (n == 1) k = {value}; v.w = k;"
    original = compiled("c = v;", before)
    linked = compiled(f"c = vec4(v.xyz, {value});", before)
    assert is_proved(original, linked, True) == proved
    assert not is_proved(original, compiled("c = vec4(v.xyz, 2.0);", before), False)


KILL, UNREACHABLE = (struct.pack("<I", 1 << 16 | op) for op in (ops.OpKill, ops.OpUnreachable))
# Where nothing may arrive, and whether that says something of all that comes behind
DEAD_ENDS = {
    "if (n == 7) discard;": True,
    "for (int i = 0; i < n; ++i) if (i == m) discard;": False,
    "if (level > 0.5) do { } while (EVER);": True,
    "for (int i = 0; i < n; ++i) do { } while (EVER);": False,
    "int o; if (o == 7) discard;": False,
}


@pytest.mark.parametrize("text", DEAD_ENDS)
def test_a_dead_end_of_one_side(text: str) -> None:
    """The linked pipeline may not arrive where the original does not: that is undefined, or never
    ends. The original may, and then anything may happen."""
    plain, dead = compiled("c = v;"), compiled(f"{text} c = v;")
    dead[1].data = dead[1].data.replace(KILL, UNREACHABLE)
    assert ("discard" in text) == (UNREACHABLE in dead[1].data)
    for exact in (True, False):
        assert is_proved(dead, plain, exact)
        assert not is_proved(plain, dead, exact)
        assert is_proved(dead, dead, exact) or not DEAD_ENDS[text]
