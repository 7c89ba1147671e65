"""Outputs that say what another says, and values that are equal for a whole primitive."""

from __future__ import annotations

import numpy as np
import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering, make_scene
from spvlink.grammar import glsl, ops
from tests.support.duplicates import INSTANCES, MOTION, components, flattened, link, merged, two
from tests.support.linking import Result, count, extended, fragment, vertex
from tests.support.propagation import pair
from tests.support.samples import compile_glsl

V4, F4, V1 = "@ vec4", "flat @ vec4", "@ float"
FIRST = "a = p * 2.0; "
MINUS = "o = a - b;"
# name -> (pair, which slots go, why, components left)
MERGED: dict[str, tuple[tuple[str, str], str, str, int]] = {
    "twice": (two(V4, V4, FIRST + "b = a;", "o = a * b;"), "b 1.xyzw", "the same as a 0.", 4),
    "computed twice": (
        two(V1, V1, "a = dot(p, p) + p.x; b = dot(p, p) + p.x;", "o = vec4(a, b, a * b, 1);"),
        "b 1.x",
        "the same as a 0.x",
        1,
    ),
    "negated": (two(V4, V4, FIRST + "b = -a;", "o = a * b;"), "b 1.xyzw", "the negation of a", 4),
    "negated first": (
        two(V4, V4, "a = -p; b = p;", "o = a * b;"), "a 0.xyzw", "the negation of b 1.", 4,
    ),
    "negated flat": (
        two(F4, F4, FIRST + "b = -a;", "o = a * b;"), "b 1.xyzw", "the negation of a", 4,
    ),
    "bits, flat": (
        two("flat @ float", "flat @ uint", "a = p.x * 2.0; b = floatBitsToUint(a);",
            "o = vec4(a, float(b), 0, 1);"),
        "a 0.x",  # an integer carries a float, never the other way round
        "the same bits as b",
        1,
    ),
    "signed and unsigned, flat": (
        two("flat @ int", "flat @ uint", "a = k.x; b = uint(k.x);", "o = vec4(a, b >> 1, 0, 1);"),
        "b 1.x",
        "the same bits as a",
        1,
    ),
    "the same, read as another type": (
        two("flat @ int", "flat @ ~", "a = k.x; b = k.x;",
            "o = vec4(a, gl_FrontFacing ? b : 7u, 0, 1);"),
        "b 1.x",
        "the same as a",
        1,
    ),
    "component of a vector": (
        two(V4, V1, FIRST + "b = a.z;", "o = a * b;"), "b 1.x", "the same as a 0.z", 4,
    ),
    "swizzle": (
        two(V4, "@ vec3", FIRST + "b = a.wyx;", "o = a + b.xyzx;"), "b 1.xyz", "the same as a", 4,
    ),
    "within one vector": (
        two("@ vec3", V1, "a = p.xxy; b = p.z;", "o = vec4(a, b) + a.xxyz;"),
        "a 0.y",
        "the same as a 0.x",
        3,
    ),
    "through functions": (
        (
            "vec4 f(vec4 v) { return v * 2.0; }\n"
            + two(V4, V4, "a = f(p); b = f(p);", "")[0],
            two(V4, V4, "", "o = a * b;")[1],
        ),
        "b 1.xyzw",
        "the same as a",
        4,
    ),
    "same at both returns": (
        two(
            V4, V4,
            "if (k.x > 0) { a = p; b = p; gl_Position = p; return; } a = p + 1.0; b = p + 1.0;",
            "o = a * b;",
        ),
        "b 1.xyzw",
        "the same as a",
        4,
    ),
    "centroid twice": (
        two("centroid @ vec4", "centroid @ vec4", FIRST + "b = a;", "o = a * b;"),
        "b 1.xyzw",
        "the same as a",
        4,
    ),
    "noperspective twice": (
        two("noperspective @ vec4", "noperspective @ vec4", FIRST + "b = a;", "o = a * b;"),
        "b 1.xyzw",
        "the same as a",
        4,
    ),
}  # fmt: skip


def lanes(name: str) -> set[str]:
    """``b 1.xy`` -> {``b 1.x``, ``b 1.y``}."""
    head, _, rest = name.partition(".")
    return {f"{head}.{lane}" for lane in rest}


@pytest.mark.parametrize("name", MERGED)
def test_duplicates_merge(name: str) -> None:
    (vert, frag), slots, why, left = MERGED[name]
    done = link(vert, frag)
    found = merged(done)
    assert {one for key in found for one in lanes(key)} == lanes(slots), found
    assert all(text.startswith(why) for text in found.values()), found
    assert components(done) == left


def test_bits_of_a_vector() -> None:
    sides = two("flat @ vec4", "flat @ uvec4", "a = p; b = floatBitsToUint(p);", "o = a + vec4(b);")
    assert components(link(*sides)) == 4


REFUSED: dict[str, tuple[str, str]] = {
    "other value": two(V4, V4, "a = p; b = p + 1.0;", "o = a * b;"),
    "bits, smooth": two(V4, "flat @ uvec4", "a = p; b = floatBitsToUint(p);", "o = a + vec4(b);"),
    "smooth and flat": two(V4, F4, "a = p; b = p;", "o = a * b;"),
    "smooth and centroid": two(V4, "centroid @ vec4", "a = p; b = p;", "o = a * b;"),
    "smooth and noperspective": two(V4, "noperspective @ vec4", "a = p; b = p;", "o = a * b;"),
    "smooth and sample": two(V4, "sample @ vec4", "a = p; b = p;", "o = a * b;"),
    "half precision": two(V4, "mediump @ vec4", "a = p; b = p;", "o = a * b;"),
    "different at one return": two(
        V4, V4,
        "if (k.x > 0) { a = p; b = p; gl_Position = p; return; } a = p; b = p + 1.0;",
        "o = a * b;",
    ),
    "negated at one return": two(
        V4, V4,
        "if (k.x > 0) { a = p; b = p; gl_Position = p; return; } a = p; b = -p;",
        "o = a * b;",
    ),
    "on disjoint paths": two(
        V4, V4,
        "if (k.x > 0) { a = p; gl_Position = p; return; } b = p;",
        "o = a * b;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("exact", [False, True], ids=["close", "exact"])
@pytest.mark.parametrize("name", REFUSED)
def test_not_merged(name: str, exact: bool) -> None:
    done = link(*REFUSED[name], exact=exact)
    assert not merged(done)
    assert components(done) == 8


def test_switched_off() -> None:
    vert, frag = MERGED["twice"][0]
    done = link(vert, frag, disable=MOTION | {"dedup"})
    assert not merged(done) and components(done) == 8


# --- paths (hazard 1) ---


@pytest.mark.parametrize("always, some", [("a", "b"), ("b", "a")])
def test_stored_on_one_path_reads_what_is_stored_on_both(always: str, some: str) -> None:
    body = f"{always} = p; if (k.x > 0) {{ gl_Position = p; return; }} {some} = p;"
    done = link(*two(V4, V4, body, "o = a * b;"))
    found = merged(done)
    assert {key[0] for key in found} == {some}, found
    assert components(done) == 4
    assert count(done.vert, ops.OpStore) >= 1


def test_never_the_other_way_round() -> None:
    """``a`` is p at one return and p + 1 at the other; ``b`` only p, where it is stored."""
    body = "if (k.x > 0) { a = p + 1.0; gl_Position = p; return; } a = p; b = p;"
    found = merged(link(*two(V4, V4, body, "o = a * b;")))
    assert {key[0] for key in found} == {"b"}, found


# --- interpolation functions ---


def test_interpolate_at_reads_the_twin() -> None:
    use = "o = a + interpolateAtOffset(b, vec2(0.25)) + interpolateAtCentroid(b);"
    done = link(*two(V4, V4, "a = p * 2.0; b = a;", use))
    found = merged(done)
    assert {key[0] for key in found} in ({"a"}, {"b"}), found
    assert components(done) == 4
    assert len(extended(done.frag, glsl.Glsl_InterpolateAtOffset)) >= 1
    assert len(extended(done.frag, glsl.Glsl_InterpolateAtCentroid)) >= 1


# --- equal for the primitive ---

PER_INSTANCE = "float(gl_InstanceIndex) * 0.5"
CONVERGENT = {
    "flat and smooth": ("flat @ float", "@ float"),
    "centroid and smooth": ("centroid @ float", "@ float"),
    "noperspective and smooth": ("noperspective @ float", "@ float"),
}
NO_FLATTEN = frozenset(("flatten",))


@pytest.mark.parametrize("exact", [False, True], ids=["close", "exact"])
@pytest.mark.parametrize("name", CONVERGENT)
def test_across_qualifiers_if_convergent(name: str, exact: bool) -> None:
    body = f"a = {PER_INSTANCE}; b = {PER_INSTANCE};"
    done = link(*two(*CONVERGENT[name], body, "o = vec4(a, b, 0, 1);"), exact=exact)
    assert len(merged(done)) == (0 if exact else 1)
    assert components(done) == (2 if exact else 1)


def test_convergent_but_read_with_a_function_stays() -> None:
    body = f"a = {PER_INSTANCE}; b = {PER_INSTANCE};"
    use = "o = vec4(interpolateAtOffset(a, vec2(0.25)), b, 0, 1);"
    done = link(*two("@ float", "flat @ float", body, use))
    assert not [key for key in merged(done) if key.startswith("a")]


def per_instance(exact: bool = False, value: str = "u.tint[gl_InstanceIndex & 3]") -> Result:
    """A per-instance vec2 read smooth, beside a flat one with two holes."""
    vert, frag = two("flat @ vec2", "@ vec2", f"a = p.xy; b = {value}.xy;", "o = vec4(a, b);")
    return link(INSTANCES + vert, INSTANCES + frag.replace("o = ", "o = u.tint[0] + "), exact)


def test_a_per_instance_value_is_flattened_into_a_hole() -> None:
    done = per_instance()
    assert flattened(done) == {"b"}
    assert len(done.locations) == 1 and components(done) == 4
    assert not any(r.action == "propagated" for r in done.linked.remarks)


@pytest.mark.parametrize(
    "done_with",
    [{"exact": True}, {"value": "(u.tint[gl_InstanceIndex & 3] + p)"},
     {"value": "u.tint[gl_VertexIndex & 3]"}, {"value": "u.tint[k.x & 3]"}],
    ids=["exact", "attribute", "vertex index", "indexed by an attribute"],
)  # fmt: skip
def test_not_flattened(done_with: dict[str, object]) -> None:
    done = per_instance(**done_with)  # type: ignore[arg-type]
    assert not flattened(done) and len(done.locations) == 2


def test_flatten_switched_off() -> None:
    vert, frag = two(
        "flat @ vec2",
        "@ vec2",
        f"a = p.xy; b = vec2({PER_INSTANCE}, 1 + \
{PER_INSTANCE});",
        "o = vec4(a, b);",
    )
    assert len(link(vert, frag).locations) == 1
    assert len(link(vert, frag, disable=NO_FLATTEN).locations) == 2


def test_flattening_never_needs_more_locations() -> None:
    vert, frag = two(
        "@ vec2", "@ vec2", f"a = p.xy; b = p.zw * ({PER_INSTANCE});", "o = vec4(a, b);"
    )
    assert len(link(vert, frag).locations) == 1
    body = f"a = p.xy; b = vec2({PER_INSTANCE}, -1.0 * {PER_INSTANCE});"
    assert len(link(*two("@ vec2", "@ vec2", body, "o = vec4(a, b);")).locations) == 1


# --- pictures ---

UV = "layout(location = 5) {} vec2 uv;\n"
PICTURES = {
    "twice": MERGED["twice"][0],
    "negated": MERGED["negated"][0],
    "bits": MERGED["bits, flat"][0],
    "paths": two(V4, V4, "a = p; b = -p; if (k.x > 0) { b = a; a = p.wzyx; }", "o = a + b * 2.0;"),
    "instances": (
        INSTANCES + two("flat @ vec2", "@ vec2", "a = p.xy; b = u.tint[gl_InstanceIndex & 3].xy;",
                        "")[0],
        two("flat @ vec2", "@ vec2", "", "o = vec4(a, b);")[1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_same(name: str) -> None:
    vert, frag = PICTURES[name]
    left, right = pair(vert, frag)
    codes = [vertex(left), fragment(right)]
    scene, before = draw_covering(codes)
    assert before.is_good()
    assert not compare(before, draw(link(vert, frag, exact=True).data, scene))
    after = draw(link(vert, frag).data, scene)
    for image, old in before.images.items():
        a, b = old.astype("f8"), after.images[image].astype("f8")
        assert np.all(np.abs(a - b) <= 1e-4 * np.maximum(1.0, np.abs(a))), image


CANCELS = (
    """#version 450
layout(location = 0) @out float a; layout(location = 1) @out float b;
void main() {
    vec2 uv = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    a = uv.x * 2.0 - 1.0 - 1.0 / 64.0; b = -a;
    gl_Position = vec4(uv * 2.0 - 1.0, 0.5, 1.0);
}
""",
    """#version 450
layout(location = 0) @in float a; layout(location = 1) @in float b;
layout(location = 0) out vec4 o;
void main() { o = vec4(a, b, 1.0 / a, 1.0 / b); }
""",
)


@pytest.mark.parametrize(
    "qualifier", [pytest.param("flat ", id="flat"), pytest.param("", id="smooth")]
)
def test_zero_keeps_its_sign_if_exact(qualifier: str) -> None:
    """In the middle of the picture ``a`` and ``b`` both cancel to +0 where they are interpolated:
    neither is the negation of the other there."""
    codes = [
        compile_glsl(source.replace("@", qualifier), stage)
        for source, stage in zip(CANCELS, ("vert", "frag"))
    ]
    options = spvlink.Options(clean=True)
    options.exact = True
    done = spvlink.link(codes, options)
    assert done.defect is None
    scene = make_scene(codes)
    difference = compare(draw(codes, scene), draw([s.data for s in done.stages], scene))
    assert not difference, difference


@pytest.mark.parametrize("condition, flattened", [("p.x > 0.5", False), ("k.x > 1000", False)])
def test_what_some_vertices_do_not_store_is_not_flattened(condition: str, flattened: bool) -> None:
    """Hazard 7: the provoking vertex may be one that returned before the store. Here the condition
    differs from vertex to vertex (``k`` is an attribute)."""
    vert = f"""layout(location = 0) out vec4 full; layout(location = 1) flat out float own;
    layout(location = 2) out float tint;--full = p; own = p.x * 3.0; gl_Position = p;
    if ({condition}) return; tint = float(gl_InstanceIndex);"""
    frag = """layout(location = 0) in vec4 full; layout(location = 1) flat in float own;
    layout(location = 2) in float tint;--o = full * own + tint;"""
    actions = {r.name: r.action for r in link(vert, frag).linked.remarks}
    assert (actions["tint"] == "flattened") == flattened


def test_the_same_stored_by_all_vertices_is_flattened() -> None:
    vert = """layout(location = 0) out vec4 full; layout(location = 1) flat out float own;
    layout(location = 2) out float tint;--full = p; own = p.x * 3.0; gl_Position = p;
    tint = float(gl_InstanceIndex); if (p.x > 0.5) return; full = p.wzyx;"""
    frag = """layout(location = 0) in vec4 full; layout(location = 1) flat in float own;
    layout(location = 2) in float tint;--o = full * own + tint;"""
    actions = {r.name: r.action for r in link(vert, frag).linked.remarks}
    assert actions["tint"] == "flattened"


# --- centroid copies ---

COPY = two("@ vec4", "centroid @ vec4", "a = p * 3.0; b = a;", "")
# what the fragment shader does with the smooth one and the copy -> components left
CENTROID: dict[str, tuple[str, int]] = {
    "asked for": ("o = a - b * interpolateAtOffset(a, vec2(0.25));", 4),
    "read by a function": ("o = a - interpolateAtCentroid(b).wzyx;", 4),
    "per sample": ("o = a.wzyx * b + float(gl_SampleID);", 4),
    "in a loop": (
        "o = a; for (int i = 0; i < 3; ++i) o += dFdx(b) + b; o *= interpolateAtSample(a, 0);", 4,
    ),
    "negated": ("o = a - b * interpolateAtOffset(a, vec2(0.25));", 4),
    "not asked for": ("o = a - b;", 8),
    "another place": ("o = a - interpolateAtOffset(b, vec2(0.25));", 8),
}  # fmt: skip


@pytest.mark.parametrize("name", CENTROID)
def test_a_centroid_copy_is_read_at_the_centroid(name: str) -> None:
    """With four samples a pixel at the edge of a triangle the two differ; nothing may change, not
    even a bit."""
    use, left = CENTROID[name]
    vert, frag = COPY[0], COPY[1] + use
    if name == "negated":
        vert = vert.replace("b = a;", "b = -a;")
    exact = name != "negated"
    done = link(vert, frag, exact=exact)
    assert components(done) == left, done.linked.remarks
    codes = [stage(text) for stage, text in zip((vertex, fragment), pair(vert, frag))]
    scene, before = draw_covering(codes, samples=4)
    after = draw(done.data, scene)
    if exact:
        difference = compare(before, after)
        assert not difference, str(difference)
    if left == 4 and name != "read by a function":
        smooth = fragment(pair(vert, frag.replace("centroid ", ""))[1])
        assert compare(before, draw([codes[0], smooth], scene)), "the premise: centroid matters"


def test_the_smooth_one_is_never_read_from_the_centroid_copy() -> None:
    """Although the copy is stored on every path and the smooth one is not."""
    body = "b = p * 3.0; if (k.x > 0) { gl_Position = p; return; } a = b;"
    vert = COPY[0].replace("a = p * 3.0; b = a;", body)
    done = link(vert, COPY[1] + "o = a - b * interpolateAtOffset(a, vec2(0.25));")
    assert not merged(done) and components(done) == 8


def test_a_sum_that_a_driver_may_cancel() -> None:
    """What merging lets a driver know (docs/explanation/proof.md): operations stay, and so do the
    bits where it does not order sums otherwise. The control: it would be seen."""
    vert = vertex(
        "layout(location = 0) out vec2 a; layout(location = 1) out float b;"
        "void main() { gl_Position = p; a = vec2(p.w * 37.3 + p.x, p.x * 1000.0 + 3.0); b = a.y; }"
    )
    inputs = "layout(location = 0) in vec2 a; layout(location = 1) in float b;"
    sums = fragment(inputs + "void main() { o = vec4((b + a.x) - a.y, 0.0, 0.0, 1.0); }")
    linked = spvlink.link([vert, sums], exact=True)
    assert [r.name for r in linked.remarks if r.action == "merged"] == ["b"]
    scene, before = draw_covering([vert, sums])
    assert not compare(before, draw([stage.data for stage in linked.stages], scene))
    cancelled = fragment(inputs + "void main() { o = vec4(a.x, 0.0, 0.0, 1.0); }")
    assert compare(before, draw([vert, cancelled], scene))
