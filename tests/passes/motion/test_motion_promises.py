"""Code that crosses a border: what once came out wrong, and what holds besides the algebra that
test_motion.py is about.
"""

from __future__ import annotations

import pytest

import spvlink
from tests.support.linking import Result, fragment, vertex
from tests.support.motion_pairs import (
    ALONE,
    PAIR,
    PUSH,
    STORES,
    THREE,
    X,
    Y,
    actions,
    backward_only,
    components,
    consumer,
    link,
    moved,
    options,
    producer,
    same_picture,
    stay,
)

# --- what once came out wrong -------------------------------------------------------------------


def test_a_value_that_only_the_next_round_uses_stays() -> None:
    """The phi at the head of the loop stands before what it uses."""
    body = """vec4 before = K; vec4 sum = vec4(0.0); int n = int(L.x) + 3;
    for (int i = 0; i < n; i++) { sum += before * before; before = {}; }
    o = sum + max(x + y * L, 0.0);"""
    for last, count in (("z", 8), ("z * K", 8)):
        moved(producer(STORES, THREE), consumer(body.replace("{}", last), THREE), count)


def test_where_an_input_is_interpolated_is_a_use() -> None:
    body = "o = max(interpolateAtOffset(z, y.xy * 0.3) * K, 0.0) + max(x * L, 0.0);"
    done = moved(producer(STORES, THREE), consumer(body, THREE), 10)
    assert "moved-backward" in actions(done)["x"] & actions(done)["z"]
    body = body.replace("y.xy * 0.3", "y.xy")
    moved(producer(STORES, THREE), consumer(body, THREE), 10)


def test_one_lane_of_a_matrix_product_is_not_made_alone() -> None:
    """The other lane mixes two interpolations."""
    outputs = "vec2 x; centroid vec2 y; vec2 z"
    stores = "x = p.xy * p.yz + 0.3; y = p.yz; z = cos(p.zw);"
    for product in ("m * K.xy", "K.xy * m", "m * mat2(K)"):
        body = f"mat2 m = mat2(x.x, y.x, z.x, z.y); o = vec4(cos(({product})), x.y, y.y);"
        body = body if "mat2(K)" not in body else body.replace("vec4(cos((m * mat2(K))),",
            "vec4(cos((m * mat2(K))[0]),")  # fmt: skip
        vert, frag = producer(stores, outputs), consumer(body, outputs)
        moved(vert, frag, 6)


def test_a_uniform_lane_beside_memory_that_changes() -> None:
    """v.y is made of push constants alone; the rest of v needs a buffer that may be written."""
    declared = PUSH + "layout(binding = 1) buffer B { float s; };\n"
    body = """vec3 v = vec3(abs(x.x) * s, K.y, y.x) * vec3(2.0, 3.0, 4.0);
    o = vec4(cos(v.y * y.xy + z.xy), v.xz);"""
    moved(producer(STORES, THREE), consumer(body, THREE, declared), 4)


def test_what_floor_makes_of_a_convergent_value_is_not_interpolated() -> None:
    """A rounded 3.0 is still 3 after floor(id + 0.5); a rounded floor is not."""
    outputs = "float x; vec4 y"
    vert = producer(f"x = float(gl_InstanceIndex + 3); y = {Y};", outputs)
    table = "float t[8] = float[8](0.1, 0.9, 0.3, 0.7, 0.2, 0.5, 0.4, 0.6);"
    for use in ("int(floor(x + 0.5))", "int(round(x))", "(step(2.9, x) >= 1.0 ? 2 : 5)"):
        body = f"{table} o = y * t[{use} & 7];"
        done = link(vert, consumer(body, outputs), options(disable=frozenset(("flatten",))))
        assert actions(done)["x"] <= {"kept", "packed"}, use
        same_picture(vert, consumer(body, outputs), done)


def test_an_input_may_cross_beside_what_is_made_of_it() -> None:
    """x + y + z and x need two values, not three."""
    done = moved(
        producer(STORES, THREE), consumer("o = cos(x + y + z) * x;", THREE), 8,
        options(disable=ALONE),
    )  # fmt: skip
    assert actions(done)["x"] == {"kept"}


@pytest.mark.parametrize(
    "expression",
    ["outerProduct(x.xy, K.xy)", "mat2(x.xy * K.xy, y.zw * K.zw)", "mat2(x * K) * K.x"],
)
def test_a_matrix_as_a_vector_keeps_its_type(expression: str) -> None:
    """A mat2 and the vec4 of its columns have the same lanes."""
    body = f"mat2 m = {expression}; vec4 v = vec4(m[0], m[1]) + y; o = cos(mat2(v)[0].xyxy + v);"
    moved(producer(STORES, THREE), consumer(body, THREE), 4)


@pytest.mark.parametrize(
    ("expression", "count"), [("x.xxyy * K.xxyy + y", 4), ("(x.xyxy + y.xyxy).zwxy * K", 2)]
)
def test_a_vector_with_equal_lanes(expression: str, count: int) -> None:
    moved(producer(STORES, THREE), consumer(f"o = cos({expression});", THREE), count)


def test_lanes_that_are_stored_on_other_paths() -> None:
    """x is stored at both returns, y at one; a vector has lanes of both. Where y is undefined, it
    is not read."""
    outputs = "flat vec2 x; flat vec2 y; flat int z"
    stores = """if (p.x > 0.2) { x = p.xy * p.zw; z = 1; return; }
    x = p.zw; y = cos(p.yx); z = 0;"""
    for product in ("vec4(x, y).xzyw * K", "mat2(x.x, y.x, x.y, y.y) * K.xy",
                    "K.xy * mat2(x, y)"):  # fmt: skip
        width = 4 if "vec4" in product else 2
        lanes = "xzxz" if width == 4 else "xxxx"
        made = f"vec{width} v = {product};"
        body = (
            f"{made} o = z == 0 ? cos(v.{'xyzw' if width == 4 else 'xyxy'} + 0.5) : cos(v.{lanes});"
        )
        vert, frag = producer(stores, outputs), consumer(body, outputs)
        same_picture(vert, frag, link(vert, frag))


def test_a_flat_input_read_by_interpolation_stays() -> None:
    """interpolateAtCentroid of what is Flat is not moved; the input must not go with what is."""
    outputs = "flat vec4 x; flat vec4 y; vec4 z"
    body = "o = cos(interpolateAtCentroid(x) + z) * (x * K + y * L);"
    moved(producer(STORES, outputs), consumer(body, outputs), 12)


# --- other promises -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "gone", ["dce", "simplify", "compact", "dead", "dedup", "propagate", "join"]
)
def test_motion_with_another_pass_off(gone: str) -> None:
    stores = f"vec4 v = {X}; x = v + 1.0; y = v * 2.0 * K; z = {Y};"
    frag = consumer("o = cos(x * K + z) * sin(y + x) + abs(x * 0.5); o.x += z.y * 0.0;", THREE)
    vert = producer(stores, THREE)
    same_picture(vert, frag, link(vert, frag, options(disable=frozenset((gone,)))))


def test_a_kept_interface_keeps_its_values() -> None:
    vert = producer(f"x = {X}; y = x * 2.0;", PAIR)
    frag = consumer("o = cos(x * K + y);", PAIR)
    for stage in ("vert", "frag"):
        done = Result(vertex(vert), fragment(frag), options(keep_interface=frozenset((stage,))))
        assert done.linked.passed_through or components(done) == 8


def test_an_invariant_output_stays() -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR).replace("1) out", "1) invariant out")
    vert = vert.replace("1)  out", "1) invariant out")
    assert "invariant" in vert
    stay(vert, consumer("o = cos(x + y);", PAIR), backward_only())


def test_a_second_link_finds_nothing() -> None:
    stores = f"vec4 v = {X}; x = v + 1.0; y = v * 2.0; z = {Y};"
    body = "o = cos(x * K + z) * sin(z) + y;"
    done = link(producer(stores, THREE), consumer(body, THREE))
    again = spvlink.link(list(done.data), options())
    assert [s.data for s in again.stages] == done.data


def test_flat_arithmetic_whose_last_bit_decides_stays() -> None:
    """One stage may contract x * y + x where the other does not; floor shows the difference."""
    outputs = "flat vec4 x; flat vec4 y"
    vert = producer(f"x = {X}; y = {Y};", outputs)
    stay(vert, consumer("o = floor((x * y + x) * 64.0);", outputs), backward_only())
    moved(vert, consumer("o = cos((x * y + x) * 64.0);", outputs), 4, backward_only())
