"""What takes arrays apart and packs narrow values: that it does, that it can be switched off, and
that a second link finds nothing to do."""

from __future__ import annotations

import pytest

import spvlink
from spvlink import schedule
from tests.linking import Result, fragment, vertex

# name -> (producer, consumer, the Locations with and without the pass)
PAIRS: dict[str, tuple[bytes, bytes, int, int]] = {
    "arrays": (
        vertex(
            """layout(location = 0) out vec2 c[4]; layout(location = 4) out float w[4];
            void main() {
                c[0] = p.xy; c[1] = vec2(1.0); c[2] = vec2(0.5); c[3] = p.xy;
                for (int i = 0; i < 4; ++i) w[i] = p.z * float(i * k.x);
                gl_Position = p;
            }"""
        ),
        fragment(
            """layout(location = 0) in vec2 c[4]; layout(location = 4) in float w[4];
            layout(push_constant) uniform P { int i; };
            void main() { o = sin(vec4(c[i & 3], w[0], w[3])); }"""
        ),
        1,
        8,
    ),
    "narrow": (
        vertex(
            """layout(location = 0) flat out uvec4 n; layout(location = 1) flat out int f;
            layout(location = 2) flat out float g;
            layout(binding = 0) readonly buffer B { uvec4 rows[]; };
            void main() {
                n = rows[k.x]; f = rows[k.z].x > 3 ? 4 : -7; g = rows[k.y].x > 9u ? 0.5 : 2.0;
                n.w = rows[k.y].w & 8u; gl_Position = p;
            }"""
        ),
        fragment(
            """layout(location = 0) flat in uvec4 n; layout(location = 1) flat in int f;
            layout(location = 2) flat in float g;
            void main() {
                o = vec4(n ^ uvec4(gl_FragCoord)); if (f > 0) o.x = gl_FragCoord.y;
                o.y /= g + gl_FragCoord.x;
            }"""
        ),
        1,
        2,
    ),
}


def link(name: str, **settings: object) -> Result:
    options = spvlink.Options()
    options.check_each = True
    for setting, value in settings.items():
        setattr(options, setting, value)
    return Result(*PAIRS[name][:2], options)


def test_there_is_a_pair_for_every_pass_of_this_kind() -> None:
    assert PAIRS.keys() <= schedule.PASSES.keys()


@pytest.mark.parametrize("name", PAIRS)
def test_it_saves_locations_and_can_be_switched_off(name: str) -> None:
    with_it, without = PAIRS[name][2:]
    done = link(name)
    assert done.linked.validated == "validated" and len(done.locations) == with_it
    assert done.table() == done.table(inputs=True)
    off = link(name, disabled=frozenset([name]))
    assert off.linked.validated == "validated" and len(off.locations) == without


@pytest.mark.parametrize("name", PAIRS)
def test_a_second_link_finds_nothing(name: str) -> None:
    done = link(name)
    again = spvlink.link(done.data)
    assert again.passed_through == "nothing to gain"


@pytest.mark.parametrize("limit", [0, 100])
def test_the_cost_limit_holds_for_copies_of_arrays(limit: int) -> None:
    """Nothing is copied in the consumer at no price; what costs it nothing is."""
    done = link("arrays", cost_limit=limit)
    assert ("c" in done.table()) == (limit == 0)
    assert "w" not in done.table()


@pytest.mark.parametrize("rounds", [False, True], ids=["exact", "rounds"])
def test_what_rounds_is_no_flag(rounds: bool) -> None:
    """The bits of a conversion that rounds are the device's: they are compared with no others."""
    whole, fraction = ("16777217", "0.1lf") if rounds else ("16777216", "0.125lf")
    producer = vertex(
        f"""layout(location = 0) flat out float a; layout(location = 1) flat out float b;
        layout(location = 2) flat out vec3 c;
        void main() {{
            int v = 3; double w = 0.5lf;
            for (int i = 0; i < (k.x & 3); ++i) {{ v = {whole}; w = {fraction}; }}
            a = float(v); b = float(w); c = p.xyz; gl_Position = p;
        }}"""
    )
    consumer = fragment(
        """layout(location = 0) flat in float a; layout(location = 1) flat in float b;
        layout(location = 2) flat in vec3 c;
        void main() { o = vec4(a, b, c.xy) * gl_FragCoord + vec4(c, 1.0); }"""
    )
    options = spvlink.Options()
    options.disabled = frozenset(["backward", "forward"])
    done = Result(producer, consumer, options)
    assert done.linked.validated == "validated"
    packed = {r.name for r in done.linked.remarks if "one bit" in r.why}
    assert packed == (set() if rounds else {"a", "b"})
