"""What takes arrays apart and packs narrow values: that it does, that it can be switched off, and
that a second link finds nothing to do."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.chain import table
from spvlink.draw import compare, draw, draw_covering
from tests.support.chain_hazards import frag, tesc, tese, vert
from tests.support.linking import Result, base_options, fragment, vertex
from tests.support.samples import compile_glsl

# name -> (producer, consumer, the Locations with and without the pass)
PAIRS: dict[str, tuple[bytes, bytes, int, int]] = {
    "arrays": (
        vertex(
            """layout(location = 0) out vec2 c[4]; layout(location = 4) out float w[4];
            layout(constant_id = 0) const int most = 4;
            void main() {
                c[0] = p.xy; c[1] = vec2(1.0); c[2] = vec2(0.5); c[3] = p.xy;
                for (int i = 0; i < most; ++i) w[i] = p.z * float(i * k.x);
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
    options = spvlink.Options(clean=True)
    options.check_each = True
    for setting, value in settings.items():
        setattr(options, setting, value)
    return Result(*PAIRS[name][:2], options)


def test_there_is_a_pair_for_every_pass_of_this_kind() -> None:
    assert PAIRS.keys() <= table.GROUPS.keys()


@pytest.mark.parametrize("name", PAIRS)
def test_it_saves_locations_and_can_be_switched_off(name: str) -> None:
    with_it, without = PAIRS[name][2:]
    done = link(name)
    assert done.linked.validated == "validated" and len(done.locations) == with_it
    assert done.table() == done.table(inputs=True)
    off = link(name, disable=frozenset([name]))
    assert off.linked.validated == "validated" and len(off.locations) == without


@pytest.mark.parametrize("name", PAIRS)
def test_a_second_link_finds_nothing(name: str) -> None:
    done = link(name)
    again = spvlink.link(done.data, clean=True)
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
    options = spvlink.Options(clean=True)
    options.disable = frozenset(["backward", "forward"])
    done = Result(producer, consumer, options)
    assert done.linked.validated == "validated"
    packed = {r.name for r in done.linked.remarks if "one bit" in r.why}
    assert packed == (set() if rounds else {"a", "b"})


FLAGS = "x = k.x > 1 ? 1.0 : -1.0; y = (k.y & 1) != 0 ? 5 : 9; z = position.xyz;"
READ_FLAGS = """layout(location = 0) flat in float x; layout(location = 1) flat in int y;
layout(location = 2) flat in vec3 z;
"""


def drawn(stages: list[tuple[str, str]], **settings: object) -> spvlink.Linked:
    """Linked exactly and drawn before and after; what transform feedback captured too."""
    codes = [compile_glsl(text, stage) for stage, text in stages]
    options = spvlink.Options(clean=True)
    options.check_each = options.exact = True
    options.disable = frozenset(["backward", "forward"])
    linked = spvlink.link(codes, options)
    assert linked.defect is None and linked.validated == "validated"
    scene, before = draw_covering(codes)
    assert before.is_good()
    assert not compare(before, draw([s.data for s in linked.stages], scene))
    return linked


@pytest.mark.parametrize(
    ("what", "packed"),
    [
        ("", {"x", "y"}),
        ("invariant ", set()),
        ("captured", set()),
    ],
)
def test_what_others_rely_on_is_no_flag(what: str, packed: set[str]) -> None:
    """An Invariant output stays what it is, and so does what transform feedback captures."""
    outputs = ""
    for n, name in enumerate(("float x", "int y", "vec3 z")):
        captured = f", xfb_buffer = 0, xfb_stride = 32, xfb_offset = {8 * n}"
        where = f"location = {n}{captured if what == 'captured' and n < 2 else ''}"
        kind = what if what != "captured" and n < 2 else ""
        outputs += f"layout({where}) {kind}flat out {name};\n"
    linked = drawn([vert(outputs, FLAGS), frag(READ_FLAGS, "color = vec4(z, x) * float(y) * 0.1;")])
    assert {r.name for r in linked.remarks if "one bit" in r.why} == packed


def test_a_mask_of_two_bits_is_no_flag() -> None:
    outputs = """layout(location = 0) flat out float x; layout(location = 1) flat out int y;
layout(location = 2) flat out vec3 z;
"""
    stages = [
        vert(outputs, FLAGS.replace("(k.y & 1) != 0 ? 5 : 9", "k.y & 6")),
        frag(READ_FLAGS, "color = vec4(z, x) + float(y) * 0.1;"),
    ]
    assert not any("one bit" in r.why for r in drawn(stages).remarks)


def test_flags_of_16_bits_take_a_choice() -> None:
    """To compare bits takes 16-bit integers. (Not drawn: lavapipe has no such interfaces.)"""
    halves = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
"""
    outputs = """layout(location = 0) flat out float16_t x;
layout(location = 1) flat out float16_t y; layout(location = 2) flat out vec3 z;
"""
    store = "x = float16_t(k.x & 1); y = float16_t(k.y & 1); z = position.xyz;"
    read = "color = vec4(z, float(x + x * y)) + float(y - x);"
    stages = [vert(halves + outputs, store), frag(halves + outputs.replace(" out ", " in "), read)]
    options = spvlink.Options(clean=True)
    options.disable = frozenset(["backward", "forward"])
    linked = spvlink.link([compile_glsl(text, stage) for stage, text in stages], options)
    assert linked.defect is None and linked.validated == "validated"
    assert not any("one bit" in r.why for r in linked.remarks)


@pytest.mark.parametrize("seen", [False, True], ids=["", "read back"])
def test_flags_that_are_stored_twice(seen: bool) -> None:
    """Between the two others may look; the second is what crosses."""
    i = "gl_InvocationID"
    look = f"float s = a[({i} + 1) % 3];" if seen else "float s = 1.0;"
    store = f"""c[{i}] = q[{i}].xyz; int n = int(q[{i}].w * 64.0);
a[{i}] = (n & 1) != 0 ? 1.0 : -1.0; b[{i}] = (n & 2) != 0 ? 5 : 9; barrier(); {look}
barrier(); a[{i}] = (n & 4) != 0 ? -1.0 : 1.0; b[{i}] = s > 0.0 ? 9 : 5;"""
    outputs = """layout(location = 0) in vec4 q[]; layout(location = 0) out float a[];
layout(location = 1) out int b[]; layout(location = 2) out vec3 c[];
"""
    inputs = """layout(location = 0) in float a[]; layout(location = 1) in int b[];
layout(location = 2) in vec3 c[];
"""
    mean = "f = vec4(c[0] * w.x + c[1] * w.y + c[2] * w.z, a[0] + a[2]) + float(b[1]) * 0.1;"
    stages = [
        vert("layout(location = 0) out vec4 q;", "q = a;"),
        tesc(outputs, store),
        tese(inputs + "layout(location = 0) out vec4 f;", mean),
        frag("layout(location = 0) in vec4 f;", "color = f;"),
    ]
    drawn(stages)


# -- what is torn ---------------------------------------------------------------------------------


TORN = vertex(
    """layout(location = 0) out vec3 a; layout(location = 2) out vec3 b;
    layout(location = 4) out vec3 c; layout(location = 6) out vec2 d;
    void main() { a = p.xyz; b = p.zxy + 0.5; c = p.yzx * p.x; d = p.xy * p.z; gl_Position = p; }"""
)
READS_TORN = """layout(location = 0) in vec3 a; layout(location = 2) in vec3 b;
layout(location = 4) in vec3 c; layout(location = 6) in vec2 d;
layout(binding = 1) uniform sampler2D flat_one; layout(binding = 2) uniform samplerCube cube;
"""
ONE_LOOKUP = fragment(
    READS_TORN
    + "void main() { o = texture(flat_one, d) + sin(vec4(a, b.x) + vec4(b.yz, c.xy) * c.z); }"
)
ONLY_LOOKUPS = fragment(
    READS_TORN
    + """void main() {
        o = texture(flat_one, d) + texture(cube, a) + texture(cube, b) + texture(cube, c);
    }"""
)
NO_LOOKUP = fragment(
    READS_TORN + "void main() { o = sin(vec4(a, b.x) + vec4(b.yz, c.xy) * c.z + d.xyxy); }"
)
MADE_LOOKUP = fragment(
    READS_TORN
    + """void main() {
        o = texture(flat_one, sin(d)) + sin(vec4(a, b.x) + vec4(b.yz, c.xy) * c.z);
    }"""
)
# consumer, packing -> Locations, what stays one vector
TEARS: dict[str, tuple[bytes, str, set[int], str]] = {
    "a coordinate stays, another vector does not": (ONE_LOOKUP, "", {0, 1, 2}, "acd"),
    "nothing but coordinates": (ONLY_LOOKUPS, "", {0, 1, 2, 3}, "abcd"),
    "coordinates too": (ONLY_LOOKUPS, "locations", {0, 1, 2}, "abc"),
    "a coordinate costs more": (ONE_LOOKUP, "locations", {0, 1, 2}, "acd"),
    "what is made of it is the coordinate": (MADE_LOOKUP, "", {0, 1, 2}, "abc"),
    "no coordinate": (NO_LOOKUP, "", {0, 1, 2}, "abc"),
    "no vector": (NO_LOOKUP, "vectors", {0, 1, 2, 3}, "abcd"),
    "nothing moves": (NO_LOOKUP, "none", {0, 2, 4, 6}, "abcd"),
}


@pytest.mark.parametrize("name", TEARS)
def test_what_may_be_torn_to_save_a_location(name: str) -> None:
    consumer, pack, locations, together = TEARS[name]
    options = base_options()
    options.pack = pack
    done = Result(TORN, consumer, options)
    assert done.linked.validated == "validated" and done.locations == locations
    for declared in (done.outputs, done.inputs):
        names = [part for d in declared for part in d.name.split("_")]
        assert "".join(n for n in "abcd" if names.count(n) == 1) == together
    scene, before = draw_covering([TORN, consumer])
    assert before.is_good() and not compare(before, draw(done.data, scene))


CAPTURED = vertex(
    """layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 48) out vec3 a;
    layout(location = 2, xfb_buffer = 0, xfb_offset = 12) out vec3 b;
    layout(location = 4, xfb_buffer = 0, xfb_offset = 24) out vec3 c;
    layout(location = 6, xfb_buffer = 0, xfb_offset = 36) out vec3 d;
    void main() { a = p.xyz; b = p.zxy; c = p.yzx * p.x; d = p.xyx * p.z; gl_Position = p; }"""
)


@pytest.mark.parametrize(("pack", "locations"), [("", 3), ("vectors", 4)])
def test_what_is_captured_may_be_torn(pack: str, locations: int) -> None:
    options = base_options()
    options.pack = pack
    done = Result(CAPTURED, fragment("void main() { o = gl_FragCoord; }"), options)
    assert done.linked.validated == "validated" and len(done.locations) == locations
    assert len(done.outputs) == (4 if pack else 6)


def test_an_unknown_packing_is_refused() -> None:
    with pytest.raises(spvlink.Usage, match="no packing tight"):
        spvlink.link([TORN, NO_LOOKUP], pack="tight", clean=True)
