"""What may come to the bit through interpolation: legality checks that no other test needs
(scripts/mutants found them)."""

from __future__ import annotations

import pytest

import spvlink
from tests.linking import Result, fragment, vertex
from tests.samples import edited
from tests.test_dedup import INSTANCES, MOTION, flattened, link, two
from tests.test_propagate import pair

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
        options = spvlink.Options()
        options.disabled = MOTION
        assert flattened(Result(vertex(vert), code, options)) == (set() if invariant else {"b"})


def test_what_is_read_of_each_vertex_is_not_flattened() -> None:
    vert, frag = pair(*two("flat @ vec2", "@ vec2", f"a = p.xy; b = {VALUE};", USE))
    frag = "#extension GL_EXT_fragment_shader_barycentric : require\n" + INSTANCES + frag
    frag = frag.replace("in vec2 b;", "pervertexEXT in vec2 b[];").replace("b);", "b[1]);")
    options = spvlink.Options()
    options.disabled = MOTION
    done = Result(vertex(INSTANCES + vert, "vulkan1.2"), fragment(frag, "vulkan1.2"), options)
    assert done.linked.passed_through is None and not flattened(done)


def test_what_nothing_stores_is_not_flattened() -> None:
    vert, frag = two("flat @ vec2", "@ vec2", "a = p.xy;", USE)
    assert not flattened(link(INSTANCES + vert, INSTANCES + frag, disabled=MOTION | {"propagate"}))
