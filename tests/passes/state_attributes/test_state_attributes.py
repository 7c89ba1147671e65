"""Components that a vertex format lacks: with a picture, and with states beside it that say too
little."""

from __future__ import annotations

import pytest
from vulkan import (
    VK_FORMAT_R8G8B8A8_UINT,
    VK_FORMAT_R32_SFLOAT,
    VK_FORMAT_R32_SINT,
    VK_FORMAT_R32G32_SFLOAT,
)

from spvlink.grammar import ops
from spvlink.ir import types
from tests.render.scene import Scene
from tests.support.chain_text import text, vert
from tests.support.linking import all_insts, module_of
from tests.support.state_draw import (
    Settings,
    compiled,
    crossing,
    linked_with,
    same,
    state,
    unchanged,
)

OUT = "layout(location = 0) in vec4 vA;\nlayout(location = 0) out vec4 o0;\n"
PLAIN = vert("layout(location = 0) out vec4 vA;", "vA = a * 3.0;")
FRAG = text("frag", OUT, "o0 = vA * 0.5;")
BOTH = "layout(location = 0) out vec4 vA;\nlayout(location = 1) flat out ivec4 vK;\n"
READS = (
    "layout(location = 0) in vec4 vA;\nlayout(location = 1) flat in ivec4 vK;\n"
    "layout(location = 0) out vec4 o0;\n"
)


@pytest.mark.parametrize(
    ("format", "number", "size", "left"),
    [
        ("R32_SFLOAT", VK_FORMAT_R32_SFLOAT, 4, 1),
        ("R32G32_SFLOAT", VK_FORMAT_R32G32_SFLOAT, 8, 2),
        ("R32G32B32A32_SFLOAT", None, 16, 4),
    ],
)
def test_components_that_a_format_lacks(
    format: str, number: int | None, size: int, left: int
) -> None:
    flat = "layout(location = 0) flat out vec4 vA;"
    front = text("frag", OUT.replace(") in", ") flat in"), "o0 = vA * 0.5;")
    codes = compiled(vert(flat, "vA = a;"), front)
    given = state(vertexAttributes=[{"location": 1, "format": format}])
    linked = linked_with(codes, given, exact=True)
    assert crossing(linked) == left

    def shorter(scene: Scene) -> None:
        if number is not None:
            scene.attributes[1] = number, scene.attributes[1][1][:, :size].copy()

    same(codes, linked, Settings(), change=shorter)


def test_integers_are_filled_with_integers() -> None:
    vertex = vert(BOTH, "vA = a; vK = k;")
    codes = compiled(vertex, text("frag", READS, "o0 = vec4(vK.xw, vK.z == 0 ? 1.0 : vA.x, 1.0);"))
    given = state(vertexAttributes=[{"location": 3, "format": "R32_SINT"}])
    linked = linked_with(codes, given, exact=True)
    assert crossing(linked) == 1  # vK.x

    def shorter(scene: Scene) -> None:
        scene.attributes[3] = VK_FORMAT_R32_SINT, scene.attributes[3][1][:, :4].copy()

    same(codes, linked, Settings(), change=shorter)


def test_formats_that_say_nothing() -> None:
    codes = compiled(PLAIN, FRAG)
    for attributes in (
        [{"location": 1, "format": "R8G8B8A8_UNORM"}],
        [{"location": 1, "format": VK_FORMAT_R8G8B8A8_UINT}],
        [{"location": 9, "format": "R32_SFLOAT"}],
        [{"location": 1}],
        [],
    ):
        assert unchanged(codes, state(vertexAttributes=attributes))


@pytest.mark.parametrize("own", ["vec4(a.xyz, 1.0)", "t"])
def test_the_shaders_own_alpha_is_not_loaded(own: str) -> None:
    """Out of bounds a load may give an alpha of 0, though the format has none."""
    declared = "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec4 vB;\n"
    read = "layout(location = 1) in vec4 vB;\n" + OUT
    vertex = vert(declared, f"vec4 t = a; t.w = 1.0; vA = {own}; vB = b * 2.0;")
    codes = compiled(vertex, text("frag", read, "o0 = sqrt(abs(vA)) + vB.xxxx;"))
    given = state(vertexAttributes=[{"location": 1, "format": "R32G32B32_SFLOAT"}])
    for facts in (given, None):
        linked = linked_with(codes, facts, exact=True)
        assert crossing(linked) == 5
        (stored,) = [
            i.args[1] for i in all_insts(module_of(linked.stages[0].data))
            if i.op == ops.OpStore and i.args[1].op == ops.OpVectorShuffle
        ]  # fmt: skip
        assert stored.imm[:3] == (0, 1, 2)
        assert types.bits_of(stored.args[1].args[stored.imm[3] - 4]) == 0x3F800000
