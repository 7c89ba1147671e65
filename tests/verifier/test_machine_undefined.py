"""What nobody knows excuses a difference where the original has it, and convicts where only the
linked module has it; what is not interpreted is unknown."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.verdict import EQUAL, UNEQUAL, UNKNOWN, Verdict
from tests.support.linking import fragment, vertex

PLAIN = vertex("void main() { gl_Position = p; }")


def judged(before: str, after: str, exact: bool = True) -> Verdict:
    """The verdict on two bodies of a fragment shader."""
    head = "layout(set = 0, binding = 0) uniform B { int n; float f; vec4 v; };\n"
    head += "layout(set = 0, binding = 1) buffer S { int s[4]; };\n"
    sides = [[Source(PLAIN), Source(fragment(head + text))] for text in (before, after)]
    return execute(sides[0], sides[1], spvlink.Options(exact=exact))


UNDEFINED = [
    ("vec4 x; o = x;", "o = vec4(0.0);"),
    ("o = vec4(n / 0);", "o = vec4(1.0);"),
    ("int b = 33; o = vec4(1 << (b + n * 0));", "o = vec4(1.0);"),
    ("float a[2]; o = vec4(a[0]); ", "o = v;"),
]


@pytest.mark.parametrize(("undefined", "other"), UNDEFINED)
def test_undefined_excuses_the_original_and_convicts_the_linked(undefined: str, other: str) -> None:
    undefined, other = f"void main() {{ {undefined} }}", f"void main() {{ {other} }}"
    assert judged(undefined, other).outcome == EQUAL
    assert judged(other, undefined).outcome == UNEQUAL


# (of a word with undefined bits, whether a bit of them can be seen)
WORDS = [
    ("uint w = uint(f * 0.0 + nothing) << 8 | uint(n & 255); o = vec4(w & 255u);", False),
    ("uint w = uint(nothing) << 8 | uint(n & 255); o = vec4(w & 511u);", True),
    ("uint w = uint(nothing) | 7u; o = vec4((w & 3u) + uint(n & 255) - 3u);", False),
    ("uint w = uint(1e30 + f * 0.0) << 8 | uint(n & 255); o = vec4(w & 255u);", False),
    ("uint w = uint(1e30 + f * 0.0) << 8 | uint(n & 255); o = vec4(w & 511u);", True),
    ("uint w = uint(min(NAN, f)) << 8 | uint(n & 255); o = vec4(w & 255u);", False),
    ("int w = n / (n - n) << 8 | n & 255; o = vec4(w & 511);", True),
]


@pytest.mark.parametrize(("text", "seen"), WORDS)
def test_undefined_bits_convict_where_they_are_seen(text: str, seen: bool) -> None:
    nan = "uintBitsToFloat(uint(n & 0) + 0x7fc00000u)"
    text = f"void main() {{ float nothing; {text.replace('NAN', nan)} }}"
    verdict = judged("void main() { o = vec4(n & 255); }", text)
    assert verdict.outcome == (UNEQUAL if seen else UNKNOWN), verdict


SAME = [
    ("if (n > 1) o = v; else o = v * 2.0;", "o = n > 1 ? v : v * 2.0;"),
    ("o = vec4(0.0); for (int i = 0; i < 3; ++i) o += v;", "o = vec4(0.0) + v + v + v;"),
    ("o = v; if (n == 1) discard; s[n & 3] = 1;", "o = v; if (n != 1) s[n & 3] = 1; else discard;"),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_other_code_that_does_the_same_is_equal(before: str, after: str) -> None:
    assert judged(f"void main() {{ {before} }}", f"void main() {{ {after} }}").outcome == EQUAL


OTHER = [
    ("o = v; s[n & 3] = 1;", "o = v; s[n & 3] = 2;", "store"),
    ("o = v; s[0] = 1; s[1] = 2;", "o = v; s[1] = 2; s[0] = 1;", "store"),
    ("o = v; if (n == 1) discard;", "o = v; if (n == 2) discard;", "discard"),
    ("o = v; if (n == 3) o.x = f;", "o = v;", "Location 0.x"),
    ("o = v + f * 0.001;", "o = v + f * 0.0013;", "Location 0"),
    ("o = v; for (int i = 0; i < 9; ++i) o += f;", "o = v; while (n < 99) o += f;", ""),
]


@pytest.mark.parametrize(("before", "after", "place"), OTHER)
@pytest.mark.parametrize("exact", [True, False])
def test_what_does_something_else_is_convicted(
    before: str, after: str, place: str, exact: bool
) -> None:
    verdict = judged(f"void main() {{ {before} }}", f"void main() {{ {after} }}", exact)
    assert verdict.outcome == UNEQUAL and verdict.witness
    assert place in str(verdict.place)


def test_rounding_is_excused_by_default_only() -> None:
    sides = "void main() { o = (v + f) + 0.1; }", "void main() { o = v + (f + 0.1); }"
    assert judged(*sides, exact=False).outcome == EQUAL
    assert judged(*sides).outcome == UNEQUAL


def test_what_is_not_interpreted_is_unknown() -> None:
    clock = fragment(
        "#extension GL_ARB_shader_clock : require\nvoid main() { o = vec4(clock2x32ARB(), 0, 1); }"
    )
    sides = [Source(PLAIN), Source(clock)]
    verdict = execute(sides, sides, spvlink.Options())
    assert verdict.outcome == UNKNOWN and "OpReadClockKHR" in verdict.reason
    assert verdict.place is not None and verdict.place.stage == "frag"
