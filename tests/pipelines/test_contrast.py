"""In front of a texture of the highest contrast the last bit of a coordinate is a whole texel,
black or white. What feeds a lookup (where it looks, at which level, along which gradient) is made
where it was made before.

The texture is a board of texels of 0 and 1, without filtering, so that a bit is seen where it
counts: ``test_a_last_bit_is_seen`` moves one.
"""

from __future__ import annotations

import numpy as np
import pytest

from spvlink.draw import Result as Picture
from spvlink.draw import compare, draw, draw_covering, formats, rounding
from spvlink.draw.scene import Scene
from tests.support.linking import Result
from tests.support.motion_pairs import (
    PAIR,
    PUSH,
    X,
    Y,
    actions,
    compiled_fragment,
    compiled_vertex,
    components,
    consumer,
    link,
    options,
    producer,
    stay,
)

IMAGES = (
    PUSH
    + """layout(set = 0, binding = 1) uniform sampler2D t;
layout(set = 0, binding = 2) uniform sampler2DShadow shadow;
layout(set = 0, binding = 3) uniform sampler2DArray layers;
layout(set = 0, binding = 4) uniform samplerCube cube;
layout(set = 0, binding = 5) uniform sampler3D solid;
"""
)
STORES = f"x = {X}; y = {Y};"
E = "(x * K + y * L)"  # each component is made of two; of one if it moved
D = "vec2(0.001, 0.002)"
LOOKUPS = {
    "a coordinate": "texture(t, e.xy)",
    "scaled": "texture(t, e.xy * 3000.0 + 0.25)",
    "at a level": "textureLod(t, e.xy, 0.0)",
    "the level": "textureLod(t, gl_FragCoord.xy * 0.01, e.x)",
    "the bias": "texture(t, gl_FragCoord.xy * 0.01, e.x)",
    "a gradient": f"textureGrad(t, gl_FragCoord.xy * 0.01, e.xy, {D})",
    "a gradient's other half": f"textureGrad(t, gl_FragCoord.xy * 0.01, {D}, e.zw)",
    "a coordinate with a gradient": f"textureGrad(t, e.xy, {D}, {D})",
    "projected": "textureProj(t, e.xyz)",
    "the divisor": "textureProj(t, vec3(gl_FragCoord.xy * 0.01, e.z + 3.0))",
    "gathered": "textureGather(t, e.xy)",
    "a shadow": "vec4(textureLod(shadow, e.xyz, 0.0))",
    "the reference": "vec4(textureLod(shadow, vec3(gl_FragCoord.xy * 0.01, e.z), 0.0))",
    "a layer": "texture(layers, vec3(gl_FragCoord.xy * 0.01, e.z * 4.0))",
    "a direction": "texture(cube, e.xyz)",
    "normalized": "texture(cube, normalize(e.xyz))",
    "in space": "texture(solid, e.xyz)",
    "a texel": "texelFetch(t, ivec2(e.xy * 16.0) & 15, 0)",
    "the level that was asked for": "vec4(textureQueryLod(t, e.xy), 0.0, 1.0)",
    "through a lookup": "texture(t, texture(t, e.xy).xy + 0.1)",
    "through a choice": "texture(t, gl_FrontFacing ? e.xy : e.zw)",
    "through a loop": "texture(t, at(e.xy))",
}
LOOP = """vec2 at(vec2 p) {
    for (int i = 0; i < int(K.x * 3.0) + 2; ++i) p = p * 0.5 + 0.3;
    return p;
}
"""


def checkered(scene: Scene) -> Scene:
    """The same scene with textures of 0 and 1 in turns, and without filters."""
    scene.open_to_all()
    textures = [binding for binding in scene.bindings if binding.images]
    assert textures
    for binding in textures:
        for sampler in binding.samplers:
            sampler.linear = False
        for image in binding.images:
            for number, level in enumerate(image.levels):
                texels = level.view("f4").reshape(-1, formats.texel_bytes(image.format) // 4)
                side, at = max(image.extent[0] >> number, 1), np.arange(len(texels))
                texels[:] = ((at + at // side + number) % 2)[:, None]
    return scene


def drawn(vert: str, frag: str) -> tuple[Scene, Picture]:
    modules = [compiled_vertex(vert), compiled_fragment(frag)]
    scene, _ = draw_covering(modules)
    picture = draw(modules, checkered(scene))
    assert picture.is_good()
    return scene, picture


def pair(lookup: str, declared: str = IMAGES) -> tuple[str, str]:
    body = f"vec4 e = {E}; o = {lookup}; o.w = 1.0;"
    return producer(STORES, PAIR), consumer(body, PAIR, declared + LOOP)


def motion(done: Result) -> set[str]:
    return set().union(*actions(done).values()) & {"moved-backward", "moved-forward"}


@pytest.mark.parametrize("name", LOOKUPS)
def test_what_feeds_a_lookup_stays(name: str) -> None:
    vert, frag = pair(LOOKUPS[name])
    done = stay(vert, frag)
    scene, before = drawn(vert, frag)
    difference = compare(before, draw(done.data, scene))
    assert not difference, difference


def test_what_is_looked_up_may_be_scaled() -> None:
    """The same sums move where only a colour comes of them, also beside a lookup."""
    body = f"vec4 e = {E}; o = texture(t, gl_FragCoord.xy * 0.01) * max(e, 0.0);"
    done = link(producer(STORES, PAIR), consumer(body, PAIR, IMAGES))
    assert motion(done) == {"moved-backward"} and components(done) == 4


def test_a_sum_for_a_colour_and_a_coordinate_stays_for_the_coordinate() -> None:
    """e.xy does, while e.zw moves."""
    vert, frag = pair("texture(t, e.xy * 3000.0) * max(e, 0.0)")
    done = link(vert, frag)
    moved = {r.slot for r in done.linked.remarks if r.action == "moved-backward"}
    assert moved and not any(set(slot.partition(".")[2]) & set("xy") for slot in moved), moved
    scene, before = drawn(vert, frag)
    apart = rounding(before, draw(done.data, scene))  # e.zw
    assert apart.steps <= 1 and apart.ulps < 4096, apart


def test_nor_does_it_move_to_the_fragment_shader() -> None:
    """Three outputs are sums of one input: as a colour the fragment shader makes them."""
    outputs = "vec4 x; vec4 y; vec4 z"
    stores = f"vec4 b = {X}; x = b; y = b * K; z = b * L;"
    for use, moves in (("max({}, 0.0)", True), ("texture(t, {0}.xy * 3000.0 + {0}.zw)", False)):
        body = "o = max(x, 0.0);" + "".join(f"o += {use.format(name)};" for name in "yz")
        vert, frag = producer(stores, outputs), consumer(body, outputs, IMAGES)
        done = link(vert, frag, options())
        assert (motion(done) == {"moved-forward"}) == moves
        assert (components(done) == 4) == moves
        if not moves:
            scene, before = drawn(vert, frag)
            assert not compare(before, draw(done.data, scene))


def test_a_last_bit_is_seen() -> None:
    """What the tests above would see: the sum made in the vertex shader, by hand."""
    vert, frag = pair(LOOKUPS["scaled"])
    scene, before = drawn(vert, frag)
    moved = producer(f"{STORES} s = {E};", "vec4 x; vec4 y; vec4 s")
    there = consumer(
        "o = texture(t, s.xy * 3000.0 + 0.25); o.w = 1.0;", "vec4 x; vec4 y; vec4 s", IMAGES
    )
    after = draw([compiled_vertex(moved), compiled_fragment(there)], scene)
    assert compare(before, after)
