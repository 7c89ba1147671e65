"""What may come to the bit through interpolation: legality checks that no other test needs
(scripts/mutants found them)."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.duplicates import INSTANCES, MOTION, flattened, link, two
from tests.support.linking import Result, fragment, vertex
from tests.support.propagation import pair
from tests.support.samples import edited

VALUE = "u.tint[gl_InstanceIndex & 3].xy"
USE = "o = u.tint[0] + vec4(a, b);"


def linked(value: str = VALUE, use: str = USE) -> Result:
    """A value per instance that is read smooth, beside a flat one with two holes."""
    vert, frag = two("flat @ vec2", "@ vec2", f"a = p.xy; b = {value};", use)
    return link(INSTANCES + vert, INSTANCES + frag)


def test_a_value_per_instance_is_flattened() -> None:
    """All that the others here differ from."""
    assert flattened(linked()) == {"b"}


@pytest.mark.parametrize(
    ("value", "use"),
    [
        (f"1.0 / {VALUE}", USE),
        (f"inversesqrt({VALUE})", USE),
        (VALUE, f"gl_FragDepth = b.x + b.y; {USE}"),
        (VALUE, USE.replace("b)", "floor(b * 8.0))")),
        (VALUE, USE.replace("b)", "interpolateAtOffset(b, vec2(0.25)))")),
    ],
    ids=["pole", "other pole", "depth", "steps", "interpolated elsewhere"],
)
def test_not_flattened(value: str, use: str) -> None:
    assert not flattened(linked(value, use))


def test_an_invariant_output_reads_what_was_interpolated() -> None:
    vert, frag = pair(*two("flat @ vec2", "@ vec2", f"a = p.xy; b = {VALUE};", USE))
    vert, frag = INSTANCES + vert, INSTANCES + frag
    for invariant in (False, True):
        code = fragment(frag)
        if invariant:
            code = edited(code, (r"( *OpDecorate %o Location 0\n)", r"\1OpDecorate %o Invariant\n"))
        options = spvlink.Options(clean=True)
        options.disable = MOTION
        assert flattened(Result(vertex(vert), code, options)) == (set() if invariant else {"b"})


def test_what_is_read_of_each_vertex_is_not_flattened() -> None:
    vert, frag = pair(*two("flat @ vec2", "@ vec2", f"a = p.xy; b = {VALUE};", USE))
    frag = "#extension GL_EXT_fragment_shader_barycentric : require\n" + INSTANCES + frag
    frag = frag.replace("in vec2 b;", "pervertexEXT in vec2 b[];").replace("b);", "b[1]);")
    options = spvlink.Options(clean=True)
    options.disable = MOTION
    done = Result(vertex(INSTANCES + vert, "vulkan1.2"), fragment(frag, "vulkan1.2"), options)
    assert done.linked.passed_through is None and not flattened(done)


def test_what_nothing_stores_is_not_flattened() -> None:
    vert, frag = two("flat @ vec2", "@ vec2", "a = p.xy;", USE)
    assert not flattened(link(INSTANCES + vert, INSTANCES + frag, disable=MOTION | {"propagate"}))


CHOICES = {  # what b.x is by default, and by choice -> whether it may come exact before 1.0 / b
    ("1.0", "2.0"): True,
    ("0.0", "2.0"): True,
    ("-1.0", "2.0"): True,
    ("-0.0", "2.0"): False,
    ("2.0", "-0.0"): False,
    ("-1.0", "-0.0"): False,
}


@pytest.mark.parametrize("disable", [MOTION, MOTION | {"propagate"}], ids=["moved", "flat"])
@pytest.mark.parametrize("one, other", CHOICES)
def test_a_choice_of_a_negative_zero(one: str, other: str, disable: frozenset[str]) -> None:
    """Interpolation makes +0 of it, as of one that is no choice."""
    body = f"a = p.xy; b = vec2({one}, 2.0); if (u.tint[0].x > 0.5) b = vec2({other}, 3.0);"
    use = "o = u.tint[0] * 0.01 + vec4(a * 0.1, clamp(1.0 / b, -1.0, 1.0));"
    vert, frag = pair(*two("flat @ vec2", "@ vec2", body, use))
    codes = [vertex(INSTANCES + vert), fragment(INSTANCES + frag)]
    options = spvlink.Options(clean=True)
    options.disable = disable
    done = Result(*codes, options)
    found = {r.action for r in done.linked.remarks if r.name == "b" and "x" in r.slot}
    assert ("propagated" in found or "flattened" in found) == CHOICES[one, other]
    scene, before = draw_covering(codes)
    assert before.is_good() and not compare(before, draw(done.data, scene))
