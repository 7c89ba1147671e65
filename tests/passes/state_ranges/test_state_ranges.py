"""Integers that a vertex format keeps small: packed, drawn, left alone where they may be large."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from vulkan import VK_FORMAT_A2B10G10R10_UINT_PACK32, VK_FORMAT_R8G8B8A8_UINT, VK_FORMAT_R16G16_UINT

from spvlink.draw.scene import Scene
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.edit import value
from spvlink.link.pack.small_numbers import bits_of_number
from tests.support.chain_text import text
from tests.support.linking import module_of
from tests.support.state_draw import Settings, compiled, linked_with, same, state

BYTES = "R8G8B8A8_UINT"
INPUTS = "layout(location = 0) in vec3 position;\nlayout(location = 1) in {};\n"
CROSSING = "layout(location = 0) flat {0} {1} vK;\nlayout(location = 1) flat {0} vec3 vA;\n"
# Nothing of it can be computed per vertex.
SHOWN = """uint n = uint(gl_FragCoord.x) & 3u;
vec3 s = sin(vA * gl_FragCoord.x) * 0.25;
o0 = vec4(fract(float({}) / 67.0 + s.x), fract(s.y), s.z + 0.5, 1.0);"""


def pipeline(attribute: str, stored: str, lanes: int = 2) -> list[bytes]:
    """``stored``, a vector of so many numbers, crosses with three floats. ``attribute``: its
    declaration."""
    type = f"uvec{lanes}"
    read = " + ".join([f"(vK.{'xyz'[n]} >> (n ^ {n}u)) * {n + 1}u" for n in range(lanes)])
    main = f"gl_Position = vec4(position, 1.0); vK = {stored}; vA = position;"
    reads = CROSSING.format("in", type) + "layout(location = 0) out vec4 o0;\n"
    return compiled(
        text("vert", INPUTS.format(attribute) + CROSSING.format("out", type), main),
        text("frag", reads, SHOWN.format(read)),
    )


def locations(codes: list[bytes], format: str | None, location: int = 1) -> int:
    """Left with an attribute of this format."""
    attributes = [{"location": location, "format": format}]
    facts = state(vertexAttributes=attributes if format else [])
    return linked_with(codes, facts, exact=True).interfaces[0].locations[1]


@pytest.mark.parametrize(
    ("attribute", "stored", "lanes", "format", "number"),
    [
        ("uvec4 k", "k.xyz", 3, BYTES, VK_FORMAT_R8G8B8A8_UINT),
        ("uvec4 k", "k.zy ^ k.xx", 2, BYTES, VK_FORMAT_R8G8B8A8_UINT),
        ("uvec4 k", "uvec2(k.x, k.z)", 2, BYTES, VK_FORMAT_R8G8B8A8_UINT),
        ("uvec4 k", "uvec2(k.z, gl_VertexIndex & 255)", 2, BYTES, VK_FORMAT_R8G8B8A8_UINT),
        ("uvec2 k", "k", 2, "R16G16_UINT", VK_FORMAT_R16G16_UINT),
        ("uvec3 k", "k", 3, "A2B10G10R10_UINT_PACK32", VK_FORMAT_A2B10G10R10_UINT_PACK32),
    ],
)
def test_small_numbers_share_a_word(
    attribute: str, stored: str, lanes: int, format: str, number: int
) -> None:
    codes = pipeline(attribute, stored, lanes)
    assert locations(codes, None) == 2
    assert locations(codes, format) == 1

    def small(scene: Scene) -> None:
        data = np.random.default_rng(35).integers(0, 256, (scene.vertices, 4), dtype=np.uint8)
        data[: scene.vertices // 3] = 255
        scene.attributes[1] = number, data

    facts = state(vertexAttributes=[{"location": 1, "format": format}])
    same(codes, linked_with(codes, facts, exact=True), Settings(), change=small)


# VkFormat, its components, the bits of each.
FORMATS = {
    "R8_UINT": (13, 1, 8), "R8G8_UINT": (20, 2, 8), "R8G8B8A8_UINT": (41, 4, 8),
    "R16_UINT": (74, 1, 16), "R16G16_UINT": (81, 2, 16), "R16G16B16A16_UINT": (95, 4, 16),
}  # fmt: skip


def random_lane(r: Random, deep: int = 2) -> str:
    """A number made of lanes of ``k``."""
    kind = r.randrange(9) if deep else 0
    one = random_lane(r, deep - 1) if kind else ""
    other = random_lane(r, deep - 1) if kind > 3 else ""
    mask, by = r.choice((1, 7, 15, 85, 255)), r.randint(1, 9)
    return (
        f"k.{r.choice('xyzw')}", f"({one} & {mask}u)", f"({one} >> {by}u)", f"({one} << {by}u)",
        f"({one} ^ {other})", f"({one} | {other})", f"({one} & {other})", f"min({one}, {other})",
        f"(gl_VertexIndex > 2 ? {one} : {other})",
    )[kind]  # fmt: skip


def packed_at_random(seed: int) -> bool:
    """Draw a random pipeline; whether the format saved a Location."""
    r = Random(seed)
    format = r.choice(sorted(FORMATS))
    number, components, bits = FORMATS[format]
    lanes = r.randint(2, 3)
    stored = f"uvec{lanes}({', '.join([random_lane(r) for _ in range(lanes)])})"
    codes = pipeline("uvec4 k", stored, lanes)

    def small(scene: Scene) -> None:
        data = np.random.default_rng(seed).integers(
            0, 1 << bits, (scene.vertices, components), dtype=f"u{bits // 8}"
        )
        data[: scene.vertices // 3] = (1 << bits) - 1
        scene.attributes[1] = number, data

    facts = state(vertexAttributes=[{"location": 1, "format": format}])
    same(codes, linked_with(codes, facts, exact=True), Settings(), change=small)
    return locations(codes, format) < locations(codes, None)


def test_random_numbers_of_a_format() -> None:
    assert sum(packed_at_random(seed) for seed in range(12)) > 3


@pytest.mark.parametrize(
    ("attribute", "stored", "format"),
    [
        ("uvec4 k", "k.zw", BYTES),  # robust reads may give the greatest integer as alpha
        ("uvec4 k", "k.xw", BYTES),
        ("uvec4 k", "k.zw ^ k.xx", BYTES),
        ("uvec4 k", "uvec2(k.w, gl_VertexIndex & 255)", BYTES),
        ("uvec2 k", "k", "R32G32_UINT"),
        ("uvec2 k", "k + 1u", "R16G16_UINT"),
        ("ivec2 k", "uvec2(k)", "R16G16_SINT"),
        ("uvec2 k", "k", "R16G16_SINT"),  # such a pipeline is not valid
        ("ivec2 k", "uvec2(k)", "R16G16_UINT"),  # such a pipeline is not valid
        ("vec2 k", "floatBitsToUint(k)", "R8G8_UNORM"),
    ],
)
def test_what_may_be_large_stays(attribute: str, stored: str, format: str) -> None:
    assert locations(pipeline(attribute, stored), format) == 2


@pytest.mark.parametrize(("component", "left"), [(2, 1), (3, 2)])
def test_alpha_by_itself(component: int, left: int) -> None:
    second = f"layout(location = 2, component = {component}) in uint m"
    codes = pipeline(f"vec4 unread;\nlayout(location = 2) in uint n;\n{second}", "uvec2(n, m)")
    assert locations(codes, BYTES, 2) == left


def test_lanes_of_a_shuffle_are_those_of_its_operands() -> None:
    module = module_of(pipeline("uvec2 k", "k")[0])
    number = types.integer(module)
    pairs = [
        value(module, ops.OpCompositeConstruct, types.vector(module, number, 2),
              [types.constant(module, number, n) for n in numbers], ())
        for numbers in ((1, 3), (7, 255))
    ]  # fmt: skip
    four = types.vector(module, number, 4)
    shuffle = value(module, ops.OpVectorShuffle, four, pairs, (3, 0, 2, 0xFFFFFFFF))
    assert [bits_of_number(module, (shuffle, lane)) for lane in range(3)] == [8, 1, 3]
    assert bits_of_number(module, (shuffle, 3)) >= 32  # undefined
