"""``half``: what lies outside of what was proved. Each of these had a bound that did not hold."""

from __future__ import annotations

import math

import pytest

from spvlink.grammar import glsl
from spvlink.link.half import values
from spvlink.link.half.values import ENDLESS, NAN, Value
from tests.support.half_pairs import STEP, bound_of, halved, pair, why

CENTROID = "layout(location = 0) centroid {} float x;\n"
UNIFORM = "layout(binding = 0) uniform U { vec4 u; };\n"
RELAXED = "layout(binding = 0) uniform U { mediump vec4 u; };\n"
# (facts, whether a centroid input is safe there)
BESIDE: dict[str, tuple[dict[str, object], bool]] = {
    "samples": ({"rasterizationSamples": 4}, True),
    "shading rate": ({"fragmentShadingRate": True}, True),
    "conservative": ({"conservativeRasterization": True}, False),
    "lines": ({"topology": "LINE_LIST", "rasterizationSamples": 4}, False),
    "edges": ({"polygonMode": "LINE"}, False),
}


@pytest.mark.parametrize("name", BESIDE)
def test_centroids_lie_in_the_primitive_only_if_it_has_its_own_pixels(name: str) -> None:
    facts, safe = BESIDE[name]
    linked = halved(pair(declared=CENTROID), 2 * STEP, **facts)
    assert (bound_of(linked) is not None) == safe, why(linked)


def test_an_extrapolated_vector_has_no_length() -> None:
    """Beside the primitive a normal is longer than 1."""
    declared = CENTROID + "layout(location = 1) {} vec3 n;\n"
    modules = pair(
        "x = fract(c.x); n = normalize(c.xyz)", "o = vec4(dot(n, n) * (x - 0.5))", declared
    )
    assert bound_of(halved(modules, 1.0, rasterizationSamples=4)) is None
    assert bound_of(halved(modules, 1.0)) is not None


@pytest.mark.parametrize(
    ("used", "extra"),
    [
        # A vector without a length gives an infinity, and that the quotient 0.
        ("float q = 1.0 / (normalize(u.xyz).x + 3.0); o = vec4((x - 0.5) / q)", UNIFORM),
        # It may be flushed to zero.
        (
            "mediump float y = abs(clamp(u.x, 1e-4, 1.0) * 0.5); o = vec4(x * 1e-5 / (y + 1e-7))",
            RELAXED,
        ),
        # Few digits make a pole of it.
        ("mediump float y = clamp(u.x, 0.1, 1.0); o = vec4(x * 1e-5 / (y - 0.09998))", RELAXED),
        ("o = vec4(x * subpassLoad(s).x)", "layout(input_attachment_index = 0, binding = 0) "
         "uniform subpassInput s;\n"),
    ],
)  # fmt: skip
def test_what_a_factor_may_be(used: str, extra: str) -> None:
    assert bound_of(halved(pair(used=used, extra=extra), 1.0)) is None


def test_an_edge_that_is_a_nan_gives_a_nan() -> None:
    edge = Value(-1.0, 1.0, NAN | ENDLESS)
    step = values.smooth_step(edge, values.exactly(3.0), values.exactly(0.5))
    assert step.odd & NAN


def test_an_infinity_divides_to_zero() -> None:
    odd = Value(2.0, 4.0, ENDLESS)
    assert values.divide(values.exactly(1.0), odd).low <= 0.0
    assert values.inverse_root(odd).low <= 0.0


def test_a_sine_of_anything_may_be_anything() -> None:
    sine = values.GLSL[glsl.Glsl_Sin]
    assert sine(Value(-3.0, 3.0)).bounded() and not sine(Value(-300.0, 3.0)).bounded()


@pytest.mark.parametrize("most", [1.0001, 1.0 + 2**-20, 4.0 + 2**-18])
def test_a_number_just_above_a_power_of_two_may_be_rounded_up(most: float) -> None:
    whole = 2.0 ** (math.frexp(most)[1] - 1)
    assert values.rounding(most) >= whole * 2.0**-10 - (most - whole)


def test_logic_operations_and_overlap_are_taken_for_granted() -> None:
    """No key of the state says anything of them."""
    assert halved(pair()).interfaces[0].assumed == ("no logic operation",)
    target = {
        "format": "R8G8B8A8_UNORM", "blendEnable": True,
        "srcColorBlendFactor": "ONE", "dstColorBlendFactor": "ONE", "colorBlendOp": "ADD",
        "srcAlphaBlendFactor": "ONE", "dstAlphaBlendFactor": "ONE", "alphaBlendOp": "ADD",
    }  # fmt: skip
    blended = halved(pair(), colorAttachments=[target]).interfaces[0]
    assert "fragments that blend do not overlap" in blended.assumed
