"""Colour outputs that no attachment takes: they go, and the picture stays."""

from __future__ import annotations

import pytest
from vulkan import (
    VK_BLEND_FACTOR_ONE,
    VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
    VK_BLEND_FACTOR_SRC1_ALPHA,
    VK_BLEND_FACTOR_SRC_ALPHA,
    VK_BLEND_FACTOR_ZERO,
)

import spvlink
from spvlink.grammar import ops
from tests.support.chain_text import text, vert
from tests.support.linking import count, module_of
from tests.support.samples import compile_glsl
from tests.support.state_draw import Settings, crossing, linked_with, same

Document = dict[str, object]
VERT = vert(
    "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec4 vB;\n"
    "layout(location = 2) out vec2 vUv;",
    "vA = a * 0.5 + 0.5; vB = b; vUv = a.xy + b.zw;",
)
INPUTS = (
    "layout(location = 0) in vec4 vA;\nlayout(location = 1) in vec4 vB;\n"
    "layout(location = 2) in vec2 vUv;\n"
)
OUT = "layout(location = 0) out vec4 o0;\n"
TWO = OUT + "layout(location = 1) out vec4 o1;\n"


def pair(declarations: str, main: str) -> list[bytes]:
    stages = (VERT, text("frag", INPUTS + declarations, main))
    return [compile_glsl(source, stage) for stage, source in stages]


def state(*attachments: Document | None, **others: object) -> Document:
    base: Document = {"version": 1, "alphaToCoverageEnable": False}
    return base | {"colorAttachments": list(attachments)} | others


PLAIN: Document = {"blendEnable": False}
RGB: Document = {"blendEnable": False, "colorWriteMask": "RGB"}


DISCARDING = (TWO, "if (vUv.x < 0.1) discard; o0 = vA * vB; o1 = vec4(normalize(vB.xyz), 1.0);")


def test_a_depth_pass_keeps_what_discard_needs() -> None:
    codes = pair(*DISCARDING)
    linked = linked_with(codes, state())
    assert crossing(linked) == 1 < crossing(linked_with(codes, None))
    frag = module_of(linked.stages[1].data)
    assert count(frag, ops.OpKill) == 1 and count(frag, ops.OpStore) == 0
    same(codes, linked, Settings(targets=[]))


def test_depth_and_memory_are_no_colours() -> None:
    main = "gl_FragDepth = vUv.y; o0 = vA; if (vB.x > 0.0) atomicAdd(n, int(vB.y * 9.0));"
    codes = pair(OUT + "layout(binding = 0) buffer B { int n; };\n", main)
    linked = linked_with(codes, state())
    assert crossing(linked) == 3
    frag = module_of(linked.stages[1].data)
    assert count(frag, ops.OpAtomicIAdd) == 1 and count(frag, ops.OpStore) == 1
    same(codes, linked, Settings(targets=[]))


@pytest.mark.parametrize(
    ("attachments", "extra", "targets", "expected"),
    [
        ((PLAIN, PLAIN), {}, [0, 1], 8),
        ((PLAIN, None), {}, [0], 4),
        ((None, PLAIN), {}, [1], 6),
        (({"format": "UNDEFINED"}, PLAIN), {}, [1], 6),
        ((PLAIN,), {"colorAttachmentLocations": [1]}, [1], 6),
        ((PLAIN, PLAIN), {"colorAttachmentLocations": [0, None]}, [0], 4),
        ((PLAIN, {"colorWriteMask": 0}), {}, [0], 4),
    ],
    ids=["both", "first", "second", "undefined", "second by location", "unused", "mask"],
)
def test_outputs_without_attachment(
    attachments: tuple[Document | None, ...], extra: Document, targets: list[int], expected: int
) -> None:
    codes = pair(TWO, "o0 = vA * 2.0; o1 = sqrt(abs(vB)) + vec4(0.0, 0.0, vA.xy);")
    linked = linked_with(codes, state(*attachments, **extra), exact=True)
    assert crossing(linked) == expected
    whys = {r.why for r in linked.remarks if r.interface == "frag"}
    assert whys == (set() if targets == [0, 1] else {"no attachment takes it"})
    same(codes, linked, Settings(targets=targets))


READ_BACK = "o0 = vA; o0.rgb = o0.rgb * o0.rgb * vB.xyz; o0.a *= vUv.x;"
IN_PARTS = "o0.xyz = vA.xyz; o0.w = vUv.y; if (vA.x > 0.7) return; o0.y = 0.5;"


@pytest.mark.parametrize(
    "main",
    ["o0 = vec4(vA.xyz, vUv.x);", READ_BACK, IN_PARTS],
    ids=["once", "read back", "in parts"],
)  # fmt: skip
def test_a_component_that_is_not_written(main: str) -> None:
    codes = pair(OUT, main)
    linked = linked_with(codes, state(RGB), exact=True)
    assert crossing(linked) == crossing(linked_with(codes, None, exact=True)) - (
        2 if main == READ_BACK else 1
    )
    same(codes, linked, Settings(blend=[{"colorWriteMask": 7}]))
    whole = linked_with(codes, state(PLAIN), exact=True)
    assert crossing(whole) == crossing(linked_with(codes, None, exact=True))


BLENDING: Document = {
    "blendEnable": True,
    "colorWriteMask": "RGB",
    "srcColorBlendFactor": "SRC_ALPHA",
    "dstColorBlendFactor": "ONE_MINUS_SRC_ALPHA",
    "srcAlphaBlendFactor": "ONE",
    "dstAlphaBlendFactor": "ZERO",
    "colorBlendOp": "ADD",
    "alphaBlendOp": "ADD",
}
BLEND = {
    "blendEnable": 1,
    "colorWriteMask": 7,
    "srcColorBlendFactor": VK_BLEND_FACTOR_SRC_ALPHA,
    "dstColorBlendFactor": VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
    "srcAlphaBlendFactor": VK_BLEND_FACTOR_ONE,
    "dstAlphaBlendFactor": VK_BLEND_FACTOR_ZERO,
}


def test_blending_reads_alpha() -> None:
    codes = pair(OUT, "o0 = vec4(vA.xyz, vUv.x);")
    linked = linked_with(codes, state(BLENDING))
    assert crossing(linked) == 4
    same(codes, linked, Settings(blend=[BLEND]))
    # and not, if its factors do not
    other = BLENDING | {"srcColorBlendFactor": "ONE", "dstColorBlendFactor": "ONE"}
    linked = linked_with(codes, state(other))
    assert crossing(linked) == 3
    ones = {"srcColorBlendFactor": VK_BLEND_FACTOR_ONE, "dstColorBlendFactor": VK_BLEND_FACTOR_ONE}
    same(codes, linked, Settings(blend=[BLEND | ones]))


def test_alpha_to_coverage_reads_alpha() -> None:
    codes = pair(OUT, "o0 = vec4(vA.xyz, fract(vUv.x));")
    covering = Settings(blend=[{"colorWriteMask": 7}], multisample={"alphaToCoverageEnable": 1})
    for given in (
        state(RGB, alphaToCoverageEnable=True),
        {"version": 1, "colorAttachments": [RGB]},
        {"version": 1, "colorAttachments": [None]},
    ):
        linked = linked_with(codes, given)
        assert crossing(linked) == (4 if given["colorAttachments"] == [RGB] else 1)
        if given["colorAttachments"] == [RGB]:
            same(codes, linked, covering, samples=4)
    assert crossing(linked_with(codes, state(RGB))) == 3


DUAL = (
    "layout(location = 0, index = 0) out vec4 o0;\nlayout(location = 0, index = 1) out vec4 o1;\n"
)


def test_dual_source() -> None:
    codes = pair(DUAL, "o0 = vA; o1 = vec4(vB.xyz, vUv.y);")
    factors = {"srcColorBlendFactor": "SRC1_ALPHA", "dstColorBlendFactor": "ZERO"}
    given = state(BLENDING | factors)
    linked = linked_with(codes, given)
    assert crossing(linked) == 4  # vA.xyz, vUv.y
    numbers = {
        "srcColorBlendFactor": VK_BLEND_FACTOR_SRC1_ALPHA,
        "dstColorBlendFactor": VK_BLEND_FACTOR_ZERO,
    }
    same(codes, linked, Settings(blend=[BLEND | numbers]))
    assert crossing(linked_with(codes, state(PLAIN))) == 4  # vA
    assert crossing(linked_with(codes, state({"colorWriteMask": "RGB"}))) == 8


@pytest.mark.parametrize("index", ["1", "k"], ids=["constant", "dynamic"])
def test_an_array_of_outputs(index: str) -> None:
    declared = "layout(location = 0) out vec4 o[3];\nlayout(push_constant) uniform P { int k; };\n"
    codes = pair(declared, f"o[0] = vA; o[2] = vec4(vUv, 0.0, 1.0); o[{index}] = vB;")
    linked = linked_with(codes, state(PLAIN, None, RGB))
    assert crossing(linked) == (6 if index == "1" else 10)
    if index == "1":
        same(codes, linked, Settings(targets=[0, 2], blend=[{}, {}, {"colorWriteMask": 7}]))


def test_remarks_say_it() -> None:
    linked = spvlink.link(pair(*DISCARDING), state=state())
    why = "no attachment takes what the frag stage makes of it"
    assert {r.name for r in linked.remarks if r.why == why} == {"vA", "vB", "vUv"}
    outer = [(r.name, r.slot, r.action) for r in linked.remarks if r.interface == "frag"]
    assert outer == [("o0", "0.xyzw", "removed"), ("o1", "1.xyzw", "removed")]
