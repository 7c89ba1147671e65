"""``--relaxed``: sums move in front of lookups and comparisons, too (``motion/lenient``). Nothing
else moves that stays by default.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import spvlink
from spvlink.cli import main
from spvlink.draw import draw, make_scene
from spvlink.draw.scene import Scene
from spvlink.errors import Usage
from tests.support.linking import Result
from tests.support.modes import with_mode
from tests.support.motion_pairs import (
    PAIR,
    PUSH,
    X,
    Y,
    actions,
    backward_only,
    compiled_fragment,
    compiled_vertex,
    components,
    consumer,
    forward_only,
    link,
    options,
    producer,
)
from tests.support.samples import compile_glsl

STORES = f"x = {X}; y = {Y};"
SUM = "(x * K + y)"
RESOURCES = (
    PUSH
    + """layout(binding = 1) uniform sampler2D T;
layout(binding = 2) uniform sampler2DArray A;
layout(binding = 3) uniform sampler2DShadow S;
layout(binding = 4) uniform samplerCube C;
layout(binding = 5) buffer B { float b[8]; uint n; };
layout(binding = 6, rgba8) uniform image2D I;
layout(binding = 7) uniform sampler2D many[4];
"""
)
LOOKUP, COMPARISON = "a lookup", "a comparison"


def pair(body: str, relaxed: bool, outputs: str = PAIR, declared: str = RESOURCES) -> Result:
    frag = consumer(body, outputs, declared)
    return link(producer(STORES, outputs), frag, backward_only(relaxed=relaxed))


def reasons(done: Result) -> list[str]:
    return [r.why or "" for r in done.linked.remarks if r.action == "moved-backward"]


# --- what it lifts ------------------------------------------------------------------------------

# what the fragment shader does -> (components by default and with --relaxed, in front of what)
LIFTED = {
    f"o = texture(T, {SUM}.xy);": (4, 2, LOOKUP),
    f"o = textureLod(T, {SUM}.xy, {SUM}.z);": (6, 3, LOOKUP),
    f"o = textureGrad(T, {SUM}.xy, {SUM}.zw, K.xy);": (8, 4, LOOKUP),
    f"o = textureOffset(T, {SUM}.xy, ivec2(1, 2), {SUM}.z);": (6, 3, LOOKUP),
    f"o = textureGather(T, {SUM}.xy);": (4, 2, LOOKUP),
    f"o = vec4(texture(S, {SUM}.xyz));": (6, 3, LOOKUP),
    f"o = texture(C, {SUM}.xyz);": (6, 3, LOOKUP),
    f"o = texture(A, {SUM}.xyz);": (6, 4, LOOKUP),  # but for the layer
    f"o = texture(T, sin({SUM}.xy) * 3.0);": (4, 2, LOOKUP),
    f"o = texture(T, texture(T, {SUM}.xy).xy);": (4, 2, LOOKUP),
    f"o = vec4({SUM}.x > 0.3 ? K : L);": (2, 1, COMPARISON),
    f"o = vec4({SUM}.x <= {SUM}.y ? K : L);": (4, 2, COMPARISON),
    f"o = vec4(!({SUM}.x < 0.3) ? K : L);": (2, 1, COMPARISON),
    f"o = step({SUM}, L);": (8, 4, COMPARISON),
    f"if ({SUM}.x >= 0.3) o = K; else o = L * b[2];": (2, 1, COMPARISON),
    f"if ({SUM}.x > 0.3) discard; o = K;": (2, 1, COMPARISON),
    f"o = K; for (int i = 0; i < 9; i++) if ({SUM}.x > float(i)) o += L;": (2, 1, COMPARISON),
    f"o = texture(T, {SUM}.xy); if (o.x > 0.5) discard;": (4, 2, LOOKUP),
}  # fmt: skip


@pytest.mark.parametrize("body", LIFTED)
def test_a_sum_moves_in_front_of_a_lookup_or_comparison(body: str) -> None:
    before, after, place = LIFTED[body]
    assert components(pair(body, False)) == before
    done = pair(body, True)
    assert components(done) == after
    said = reasons(done)
    assert said and all(f"rounds in another order before {place}" in why for why in said), said


def test_a_sum_that_moves_by_default_is_not_named() -> None:
    body = f"o = cos({SUM});"
    by_default, done = pair(body, False), pair(body, True)
    assert done.data == by_default.data
    assert reasons(done) == reasons(by_default)
    assert reasons(done) and not any("another order" in why for why in reasons(done))


# what the vertex shader stores, what the fragment shader does -> moves with --relaxed
FORWARD = {
    ("y = x * K;", "o = texture(T, x.xy) + texture(T, y.xy);"): True,
    ("y = x + 0.25;", "o = x.x > 0.3 ? K : L; if (y.x > 0.4) discard;"): True,
    ("y = x * K;", "o = texture(T, x.xy) + floor(y);"): False,
    ("y = x + K;", "o = texture(T, x.xy) + texture(T, y.xy);"): False,  # no small constant
    ("y = x * K;", "o = texture(T, x.xy); if (y.x > 0.3) b[1] = 2.0;"): False,
    ("y = sin(x);", "o = texture(T, x.xy) + texture(T, y.xy);"): False,
}


@pytest.mark.parametrize("stores,body", FORWARD)
def test_a_coordinate_is_computed_from_another_one(stores: str, body: str) -> None:
    vert, frag = producer(f"x = {X}; {stores}", PAIR), consumer(body, PAIR, RESOURCES)
    by_default = link(vert, frag, forward_only())
    assert "moved-forward" not in set().union(*actions(by_default).values())
    done = link(vert, frag, forward_only(relaxed=True))
    found = [r.why or "" for r in done.linked.remarks if r.action == "moved-forward"]
    assert bool(found) == FORWARD[stores, body]
    assert all("it rounds in another order before" in why for why in found), found
    flat = PAIR.replace("vec4", "flat vec4")
    vert, frag = producer(f"x = {X}; {stores}", flat), consumer(body, flat, RESOURCES)
    done = link(vert, frag, forward_only(relaxed=True))
    assert done.data == link(vert, frag, forward_only()).data


def test_no_option_says_no() -> None:
    """Neither the keyword's default nor False changes anything."""
    body = f"o = texture(T, {SUM}.xy);"
    codes = [compiled_vertex(producer(STORES, PAIR)),
             compiled_fragment(consumer(body, PAIR, RESOURCES))]  # fmt: skip
    found = [spvlink.link(codes, validate=False, **words).stages for words in
             ({}, {"relaxed": False}, {"relaxed": True})]  # fmt: skip
    data = [[stage.data for stage in stages] for stages in found]
    assert data[0] == data[1]


# --- what it never lifts ------------------------------------------------------------------------

KEPT = {
    "equality": f"o = {SUM}.x == 0.3 ? K : L;",
    "inequality": f"o = {SUM}.x != 0.3 ? K : L;",
    "floor": f"o = floor({SUM});",
    "fract": f"o = texture(T, fract({SUM}.xy));",
    "sign": f"o = sign({SUM});",
    "an integer": f"o = vec4(int({SUM}.x));",
    "texel numbers": f"o = texelFetch(T, ivec2({SUM}.xy), 0);",
    "a steep factor": f"o = clamp({SUM} * 1e5, 0.0, 1.0);",
    "a pole": f"o = 1.0 / {SUM};",
    "a direction": f"o = texture(C, normalize({SUM}.xyz));",
    "a lookup that divides": f"o = textureProj(T, {SUM}.xyz);",
    "a layer": f"o = texture(A, vec3(K.xy, {SUM}.x));",
    "a depth": f"o = K; gl_FragDepth = {SUM}.x;",
    "a depth that is looked up": f"o = K; gl_FragDepth = texture(T, {SUM}.xy).x;",
    "a depth that is chosen": f"o = K; gl_FragDepth = {SUM}.x > 0.3 ? 0.4 : 0.6;",
    "a sample mask": f"o = K; gl_SampleMask[0] = {SUM}.x > 0.3 ? 1 : 3;",
    "a store": f"o = K; if ({SUM}.x > 0.3) b[1] = 2.0;",
    "what is stored": f"o = K; b[1] = {SUM}.x > 0.3 ? 1.0 : 2.0;",
    "a texel that is stored": f"o = K; b[1] = texture(T, {SUM}.xy).x;",
    "an image": f"o = K; if ({SUM}.x > 0.3) imageStore(I, ivec2(1), K);",
    "an atomic": f"o = K; if ({SUM}.x > 0.3) atomicAdd(n, 1u);",
    "a texel that decides a store": f"o = texture(T, {SUM}.xy); if (o.x > 0.5) b[1] = 2.0;",
    "a discard before a store": f"if ({SUM}.x > 0.3) discard; b[1] = 2.0; o = K;",
    "a return before a store": f"o = K; if ({SUM}.x > 0.3) return; b[1] = 2.0;",
    "a return before a depth":
        f"o = K; gl_FragDepth = 0.1; if ({SUM}.x > 0.3) return; gl_FragDepth = 0.2;",
    "rounds with a store":
        f"o = K; for (int i = 0; i < 9; i++) {{ if ({SUM}.x > float(i)) break; b[i & 7] = 1.0; }}",
    "an index": f"o = vec4(b[{SUM}.x > 0.3 ? 1 : 2]);",
    "an index by branches": f"int i = 1; if ({SUM}.x > 0.3) i = 2; o = vec4(b[i]);",
    "an index of a texture": f"o = texture(many[{SUM}.x > 0.3 ? 1 : 2], K.xy);",
    "a component": f"o = vec4(K[{SUM}.x > 0.3 ? int(b[0]) : 2]);",
    "a texel by its number": f"o = texelFetch(T, ivec2({SUM}.x > 0.3 ? 1 : 2), 0);",
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_must_not_be_lifted(name: str) -> None:
    done = pair(KEPT[name], True)
    assert "moved-backward" not in set().union(*actions(done).values()), actions(done)
    assert done.data == pair(KEPT[name], False).data


def test_a_demotion_before_a_store() -> None:
    head = "#extension GL_EXT_demote_to_helper_invocation : require\n" + RESOURCES
    for store, count in (("", 1), ("b[1] = 2.0;", 2)):
        body = f"if ({SUM}.x > 0.3) demote; {store} o = K;"
        done = pair(body, True, declared=head)
        assert components(done) == count, store


def test_a_subgroup() -> None:
    head = "#extension GL_KHR_shader_subgroup_ballot : require\n" + RESOURCES
    body = f"o = K; if ({SUM}.x > 0.3) o += vec4(subgroupBroadcastFirst(L.x + gl_FragCoord.x));"
    frag = "#version 450\nlayout(location = 0) out vec4 o;\n" + consumer(body, PAIR, head)
    codes = [compiled_vertex(producer(STORES, PAIR)), compile_glsl(frag, "frag", "vulkan1.1")]
    done = spvlink.link(codes, backward_only(relaxed=True))
    assert "moved-backward" not in {r.action for r in done.remarks}


def test_an_output_of_integers() -> None:
    declared = RESOURCES + "layout(location = 1) out ivec2 whole;\n"
    for use in (f"whole = ivec2({SUM}.x > 0.3 ? 4 : 5);",
                f"if ({SUM}.x > 0.3) whole = ivec2(4); else whole = ivec2(5);",
                f"whole = ivec2(texture(T, {SUM}.xy).xy * 255.0);"):  # fmt: skip
        done = pair(f"o = K; {use}", True, declared=declared)
        assert "moved-backward" not in set().union(*actions(done).values()), use


def test_no_contraction() -> None:
    body = "precise vec4 s = x * K + y; o = texture(T, s.xy) + (s.x > 0.3 ? K : L);"
    done = pair(body, True)
    assert "moved-backward" not in set().union(*actions(done).values())


def test_a_product_of_what_is_equal_for_a_primitive_has_no_bound() -> None:
    """By default it moves where nothing depends on its last bit."""
    vert = producer("x = L * float(gl_InstanceIndex + 1); y = K * float(gl_InstanceIndex);", PAIR)
    for wave in ("exp2(x) * y", "x * y"):
        frag = consumer(f"o = texture(T, ({wave}).xy);", PAIR, RESOURCES)
        settings = backward_only(relaxed=True)
        settings.disable |= {"propagate", "flatten"}
        done = link(vert, frag, settings)
        assert "moved-backward" not in set().union(*actions(done).values()), wave


@pytest.mark.parametrize("qualifier", ["centroid ", "sample "])
def test_weights_that_do_not_sum_to_one(qualifier: str) -> None:
    outputs = f"{qualifier}vec4 x; {qualifier}vec4 y"
    for sum, moves in (("x * K + y", True), ("x + K", False)):
        body = f"o = texture(T, ({sum}).xy);"
        done = pair(body, True, outputs)
        assert ("moved-backward" in set().union(*actions(done).values())) == moves, sum


def test_flat_values_keep_their_bits() -> None:
    outputs = "flat vec4 x; flat vec4 y"
    body = f"o = texture(T, {SUM}.xy);"
    assert pair(body, True, outputs).data == pair(body, False, outputs).data


def test_float_controls() -> None:
    """Nothing crosses interpolation where infinities, NaNs and signed zeros are preserved."""
    vert = compiled_vertex(producer(STORES, PAIR))
    frag = compiled_fragment(consumer(f"o = texture(T, {SUM}.xy);", PAIR, RESOURCES))
    for code, moves in ((frag, True), (with_mode(frag, "SignedZeroInfNanPreserve 32"), False)):
        done = Result(vert, code, backward_only(relaxed=True))
        assert ("moved-backward" in set().union(*actions(done).values())) == moves


# --- how much it changes ------------------------------------------------------------------------

TRIANGLES = 60
TERMS = 2.0  # K is at most 1, and both attributes are
BOUND = 1e-4 * TERMS  # on triangles of ordinary shape, as in test_cancelling.py
EDGE = 0.2
# The value stands beside what is made of it.
DRAWN = {
    "lookup": "vec4 s = u * K + v; o = vec4(s.xy, texture(T, s.xy).xy);",
    "comparison": f"vec4 s = u * K + v; o = vec4(s.x, s.x > {EDGE} ? 1.0 : 0.0, s.yz);",
    "forward": "o = vec4(v.xy, texture(T, u.xy).x, texture(T, v.xy).y);",
}
HEAD = "#version 450\nlayout(push_constant) uniform P { vec4 K; };\n"


def stages(name: str) -> list[bytes]:
    body, second = DRAWN[name], "q * K" if name == "forward" else "r"
    vert = (
        HEAD
        + """layout(location = 0) in vec4 p; layout(location = 1) in vec4 q;
    layout(location = 2) in vec4 r;
    layout(location = 0) out vec4 u; layout(location = 1) out vec4 v;
    void main() { gl_Position = p; u = q; v = SECOND; }""".replace("SECOND", second)
    )
    frag = (
        HEAD
        + f"""layout(binding = 1) uniform sampler2D T; layout(location = 0) out vec4 o;
    layout(location = 0) in vec4 u; layout(location = 1) in vec4 v; void main() {{ {body} }}"""
    )
    return [compile_glsl(vert, "vert", "vulkan1.1"), compile_glsl(frag, "frag", "vulkan1.1")]


def scene_of(codes: list[bytes]) -> Scene:
    """Triangles of ordinary shape, and attributes of up to 1."""
    random = np.random.default_rng(7)
    angle = random.uniform(0.0, 2.0 * np.pi, (TRIANGLES, 1)) + np.array([[0.0, 2.1, 4.2]])
    xy = np.stack([np.cos(angle), np.sin(angle)], -1) * random.uniform(0.3, 0.9, (TRIANGLES, 1, 1))
    xy += random.uniform(-0.6, 0.6, (TRIANGLES, 1, 2))
    w = random.uniform(0.7, 1.4, (TRIANGLES, 3, 1))
    place = np.concatenate([xy * w, 0.5 * w, w], -1).reshape(-1, 4)
    made = [place, *random.uniform(-1.0, 1.0, (2, len(place), 4))]
    scene = make_scene(codes)
    scene.vertices, scene.instances = len(place), 1
    for location, values in enumerate(made):
        format = scene.attributes[location][0]
        data = np.ascontiguousarray(values.astype("f4")).view(np.uint8)
        scene.attributes[location] = format, data
    scene.push.data[:] = np.linspace(0.5, 1.0, 4).astype("f4").view(np.uint8)
    return scene.open_to_all()


@pytest.mark.parametrize("name", DRAWN)
def test_the_value_differs_by_less_than_the_bound(name: str) -> None:
    before = stages(name)
    done = spvlink.link(before, options(relaxed=True))
    assert [w for r in done.remarks if "another order" in (w := r.why or "")], done.remarks
    scene = scene_of(before)
    pictures: list[NDArray[np.float64]] = []
    for codes in (before, [stage.data for stage in done.stages]):
        drawn = draw(codes, scene)
        assert drawn.is_good(0.02), drawn.coverage
        pictures.append(drawn.images["color0"].astype(np.float64))
    old, new = pictures
    values = [0, 2, 3] if name == "comparison" else [0, 1]
    apart = np.abs(old[..., values] - new[..., values])
    assert 0.0 < apart.max() <= BOUND
    if name == "comparison":  # only what is beside the edge comes out otherwise
        other = old[..., 1] != new[..., 1]
        assert (np.abs(old[other, 0] - EDGE) <= BOUND).all()


# --- the option ---------------------------------------------------------------------------------


def test_what_it_excludes(capsys: pytest.CaptureFixture[str]) -> None:
    code = compiled_fragment(consumer(f"o = {SUM};", PAIR))
    with pytest.raises(Usage, match="relaxed and exact exclude each other"):
        spvlink.link([code], exact=True, relaxed=True)
    for words in (["link", "a.vert", "-o", "out", "--relaxed", "--exact"],
                  ["link", "a.vert", "-o", "out", "--relaxed", "--verify"],
                  ["batch", "a.foz", "-o", "b.foz", "--relaxed", "--exact"],
                  ["batch", "a.foz", "-o", "b.foz", "--relaxed", "--verify", "all"]):  # fmt: skip
        assert main(words) == 2
        said = capsys.readouterr().err
        assert said.startswith("spvlink: error: --relaxed and --"), said
        assert said.endswith(" exclude each other\n"), said
