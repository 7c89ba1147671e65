"""The only sample, in the middle of the pixel: with a picture, and with states beside it that say
too little."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from tests.support.chain_text import text, vert
from tests.support.linking import builtins, count, module_of
from tests.support.state_draw import (
    Document,
    Settings,
    compiled,
    crossing,
    linked_with,
    same,
    state,
    unchanged,
)

VERT = vert(
    "layout(location = 0) out vec4 vA;\nlayout(location = 1) out vec4 vB;\n",
    "vA = a * 0.5 + 0.5; vB = b;",
)
HEAD = "layout(location = 0) in vec4 vA;\nlayout(location = 1) in vec4 vB;\n"
OUT = HEAD + "layout(location = 0) out vec4 o0;\n"
ONE: Document = {
    "rasterizationSamples": 1,
    "sampleLocationsEnable": False,
    "conservativeRasterization": False,
    "fragmentShadingRate": False,
}
FINE = (
    "layout(location = 0) centroid in vec4 vA;\nlayout(location = 1) sample in vec4 vB;\n"
    "layout(location = 0) out vec4 o0;\n"
)


def finer(module: Module) -> int:
    """Decorations and instructions that ask for places within a pixel."""
    wanted = enums.Decoration_Centroid, enums.Decoration_Sample
    notes = [n for n in module.annotations if n.op == ops.OpDecorate and n.imm[0] in wanted]
    return len(notes) + count(module, ops.OpExtInst)


SAMPLED = {
    "decorations": (FINE, "o0 = vA + vB;"),
    "functions": (OUT, "o0 = interpolateAtCentroid(vA) + interpolateAtSample(vB.xyzw, 0);"),
    "numbers": (OUT, "o0 = gl_SampleID == 0 ? vA : vB;"),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_one_sample_is_in_the_middle(name: str) -> None:
    codes = compiled(VERT, text("frag", *SAMPLED[name]))
    linked = linked_with(codes, state(**ONE), exact=True)
    frag = module_of(linked.stages[1].data)
    assert finer(frag) == 0
    assert enums.BuiltIn_SampleId not in builtins(frag)
    same(codes, linked, Settings())
    if name == "numbers":
        assert crossing(linked) == 4
        assert "there is one sample" in {remark.why for remark in linked.remarks}


@pytest.mark.parametrize("name", SAMPLED)
@pytest.mark.parametrize("missing", ONE)
def test_more_samples_or_other_places(name: str, missing: str) -> None:
    codes = compiled(VERT, text("frag", *SAMPLED[name]))
    other: object = 4 if missing == "rasterizationSamples" else True
    assert unchanged(codes, state(**{**ONE, missing: other}))
    assert unchanged(codes, state(**{key: ONE[key] for key in ONE if key != missing}))
    if other == 4:
        linked = linked_with(codes, state(**{**ONE, missing: other}), exact=True)
        same(codes, linked, Settings(), samples=4)


def test_the_mask_and_the_position_stay() -> None:
    main = "o0 = vA * gl_SamplePosition.xyxy + float(gl_SampleMaskIn[0]) * vB;"
    codes = compiled(VERT, text("frag", OUT, main))
    linked = linked_with(codes, state(**ONE), exact=True)
    found = builtins(module_of(linked.stages[1].data))
    assert {enums.BuiltIn_SamplePosition, enums.BuiltIn_SampleMask} <= found
    same(codes, linked, Settings())
