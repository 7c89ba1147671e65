"""``half``: what keeps an input at 32 bits, what it is told of the state, what the report says."""

from __future__ import annotations

import json

import pytest

import spvlink
import spvlink.arguments
from spvlink import report
from spvlink.errors import Usage
from spvlink.link.half.values import rounding
from spvlink.state import read
from tests.support.half_pairs import (
    ATTRIBUTES,
    FEATURE,
    HEAD,
    KNOWN,
    ONE,
    OUTPUT,
    STEP,
    bound_of,
    halved,
    pair,
    why,
)
from tests.support.samples import compile_glsl, edited


def test_a_number_between_0_and_1_moves_by_two_roundings() -> None:
    linked = halved(pair())
    bound = bound_of(linked)
    assert bound is not None
    # weights that are off may make a little more than 1 of 1, where numbers lie twice as far apart
    assert 3 * rounding(1.0) <= bound <= 3.002 * rounding(1.0)
    assert linked.interfaces[0].vertex_bytes == (24, 18)


def test_a_flat_number_moves_by_one() -> None:
    bound = bound_of(halved(pair(declared="layout(location = 0) flat {} float x;\n")))
    assert bound is not None
    assert rounding(1.0) <= bound <= 1.01 * rounding(1.0)


def test_nothing_happens_unless_somebody_asks() -> None:
    modules = pair()
    linked = spvlink.link(modules, state=KNOWN)
    assert linked.interfaces[0].vertex_bytes[1] == 20
    assert bound_of(linked) is None
    assert not any("32 bits" in remark.why for remark in linked.remarks)


def test_the_switch_of_the_pass_is_stronger() -> None:
    linked = spvlink.link(pair(), state=KNOWN, half=STEP, disable=["half"])
    assert bound_of(linked) is None


# Stored, used, and a part of the reason why it stays.
KEPT = {
    "an unknown range": ("x = c.x", "o = vec4(x)", "range is not known"),
    "a range of a thousand": ("x = 1e6 * fract(c.x)", "o = vec4(1e-6 * x)", "too large"),
    "a comparison": ("x = fract(c.x)", "o = vec4(x > 0.5 ? 1.0 : 0.0)", "OpFOrdGreaterThan"),
    "a branch": ("x = fract(c.x)", "o = vec4(0.0); if (x > 0.5) discard", "OpFOrdGreaterThan"),
    "a floor": ("x = fract(c.x)", "o = vec4(floor(x * 4.0))", "Floor"),
    "an integer": ("x = fract(c.x)", "o = vec4(float(int(x * 9.0)))", "OpConvertFToS"),
    "a derivative": ("x = fract(c.x)", "o = vec4(dFdx(x))", "OpDPdx"),
    "a divisor": ("x = fract(c.x)", "o = vec4(0.01 / x)", "may be zero"),
    "a root": ("x = fract(c.x)", "o = vec4(sqrt(x))", "root"),
    "a large factor": ("x = fract(c.x)", "o = vec4(3.0 * x)", "could move by"),
    "a sine": ("x = fract(c.x)", "o = vec4(sin(x))", "moves"),
    "a depth": ("x = fract(c.x)", "o = vec4(1.0); gl_FragDepth = x", "depth"),
    "a loop": (
        "x = fract(c.x)",
        "float s = 0.0; for (int i = 0; i < int(gl_FragCoord.x); ++i) s += 0.001 * x; o = vec4(s)",
        "a loop carries it",
    ),
    "a way without a store": (
        "if (c.y > 0.0) x = fract(c.x)", "o = vec4(x)", "range is not known",
    ),
    "a range that a loop makes": (
        "float s = 0.0; for (int i = 0; i < int(c.y); ++i) s += fract(c.x); x = s", "o = vec4(x)",
        "range is not known",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_keeps_32_bits(name: str) -> None:
    stored, used, reason = KEPT[name]
    linked = halved(pair(stored, used))
    assert reason in why(linked)
    assert bound_of(linked) is None


@pytest.mark.parametrize(
    ("extra", "used", "reason"),
    [
        ("layout(binding = 0) uniform sampler2D t;\n", "o = texture(t, vec2(x))", "ImageSample"),
        ("layout(binding = 0) uniform sampler2D t;\n", "o = x * texture(t, o.xy)", "unknown range"),
        ("layout(binding = 0) uniform U { vec4 u; };\n", "o = x * u", "unknown range"),
        ("layout(binding = 0) buffer B { float b; };\n", "b = x; o = vec4(1.0)", "memory"),
        ("layout(location = 1) out uint n;\n", "n = floatBitsToUint(x); o = vec4(1.0)", "Bitcast"),
    ],
)
def test_what_it_meets_keeps_32_bits(extra: str, used: str, reason: str) -> None:
    used = used.replace("o.xy", "vec2(0.5)")
    linked = halved(pair(used=used, extra=extra), colorAttachments=None)
    assert reason in why(linked)
    assert bound_of(linked) is None


def test_an_unknown_value_may_be_added() -> None:
    """What is seen of the sum is between 0 and 1."""
    extra = "layout(binding = 0) uniform U { vec4 u; };\n"
    assert bound_of(halved(pair(used="o = vec4(x) + u", extra=extra))) is not None
    assert bound_of(halved(pair(used="o = clamp(vec4(x) + u, 0.0, 1.0)", extra=extra))) is not None
    assert bound_of(halved(pair(used="o = (vec4(x) + u) - u.wzyx", extra=extra))) is None


# Facts of the state, and whether the input stays.
FACTS: dict[str, tuple[dict[str, object], bool]] = {
    "8 bits": ({}, False),
    "10 bits": ({"colorAttachments": [{"format": "A2B10G10R10_UNORM_PACK32"}]}, False),
    "16 bits": ({"colorAttachments": [{"format": "R16G16B16A16_UNORM"}]}, True),
    "floats": ({"colorAttachments": [{"format": "R16G16B16A16_SFLOAT"}]}, True),
    "11 bits": ({"colorAttachments": [{"format": "B10G11R11_UFLOAT_PACK32"}]}, True),
    "a format that nobody knows": ({"colorAttachments": [{"format": 4711}]}, True),
    "sRGB, which is steep": ({"colorAttachments": [{"format": "R8G8B8A8_SRGB"}]}, True),
    "two samples": ({"rasterizationSamples": 2}, True),
    "custom sample locations": ({"sampleLocationsEnable": True}, True),
    "conservative rasterization": ({"conservativeRasterization": True}, True),
    "coarse shading": ({"fragmentShadingRate": True}, True),
    "lines": ({"topology": "LINE_LIST"}, True),
    "triangles as lines": ({"polygonMode": "LINE"}, True),
    "points": ({"topology": "POINT_LIST"}, False),
    "next to nothing": (dict.fromkeys(KNOWN.keys() - {"version", FEATURE}), False),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_the_state_decides(name: str) -> None:
    facts, stays = FACTS[name]
    assert (bound_of(halved(pair(), **facts)) is None) == stays


def test_a_centroid_input_is_never_extrapolated() -> None:
    modules = pair(declared="layout(location = 0) centroid {} float x;\n")
    bound = bound_of(halved(modules, 2 * STEP, rasterizationSamples=4))
    assert bound is not None
    assert bound > 3 * rounding(1.0)  # elsewhere in a pixel interpolation is less exact


def test_without_the_feature_a_smooth_input_stays() -> None:
    linked = halved(pair(), storageInputOutput16=False)
    assert "storageInputOutput16" in why(linked)


BLEND = {
    "over": ("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA", "ADD", 2.0),
    "premultiplied": ("ONE", "ONE_MINUS_SRC_ALPHA", "ADD", 2.0),
    "added": ("ONE", "ONE", "ADD", 1.0),
    "multiplied": ("ZERO", "SRC_COLOR", "ADD", 2.0),
    "both": ("SRC_ALPHA", "SRC_ALPHA", "ADD", 3.0),
    "maximum": ("ONE", "ONE", "MAX", 1.0),
}


@pytest.mark.parametrize("name", BLEND)
def test_blending_adds_what_alpha_moves(name: str) -> None:
    """A colour and its alpha from one input: ``factor`` times its own change is seen."""
    source, target, operation, factor = BLEND[name]
    attachment = {
        "format": "R8G8B8A8_UNORM", "blendEnable": True,
        "srcColorBlendFactor": source, "dstColorBlendFactor": target, "colorBlendOp": operation,
        "srcAlphaBlendFactor": "ONE", "dstAlphaBlendFactor": "ZERO", "alphaBlendOp": "ADD",
    }  # fmt: skip
    linked = halved(pair(used="o = vec4(x)"), 1.0, colorAttachments=[attachment])
    bound = bound_of(linked)
    assert bound is not None
    assert factor <= bound / (3 * rounding(1.0)) <= factor * 1.001


def test_blending_of_which_something_is_unknown_keeps_32_bits() -> None:
    attachment = {"format": "R8G8B8A8_UNORM", "blendEnable": True}
    assert bound_of(halved(pair(), 1.0, colorAttachments=[attachment])) is None


def test_alpha_that_decides_coverage_keeps_32_bits() -> None:
    modules = pair(used="o = vec4(0.0, 0.0, 0.0, x)")
    assert bound_of(halved(modules)) is not None
    assert bound_of(halved(modules, alphaToCoverageEnable=True)) is None


def test_a_second_blend_source_keeps_32_bits() -> None:
    extra = "layout(location = 0, index = 1) out vec4 second;\n"
    modules = pair(used="o = vec4(1.0); second = vec4(x)", extra=extra)
    linked = halved(modules, 1.0)
    assert bound_of(linked) is None


@pytest.mark.parametrize(
    ("format", "known"),
    [("R8G8B8A8_UNORM", True), ("R8G8B8A8_SNORM", True), ("R8G8B8A8_USCALED", False),
     ("R32G32B32A32_SFLOAT", False), ("R16G16B16A16_SFLOAT", False)],
)  # fmt: skip
def test_a_small_vertex_format_is_a_range(format: str, known: bool) -> None:
    modules = pair("x = c.y", "o = vec4(0.5 * x)")
    linked = halved(modules, vertexAttributes=[{"location": 1, "format": format}])
    assert (bound_of(linked) is not None) == known


def preserving(modules: list[bytes]) -> list[bytes]:
    """The same pair, whose fragment shader preserves infinities and NaNs."""
    head = 'OpCapability SignedZeroInfNanPreserve\nOpExtension "SPV_KHR_float_controls"\n'
    mode = "OpExecutionMode %main SignedZeroInfNanPreserve 32\n"
    edits = (r"(?<=OpCapability Shader\n)", head), ("(?=OpExecutionMode)", mode)
    return [modules[0], edited(modules[1], *edits)]


def test_the_parts_of_a_sum_share_the_bound() -> None:
    declared = ONE + "layout(location = 1) {} float y;\n"
    stored = "x = fract(c.x); y = 0.5 * fract(c.y)"
    linked = halved(pair(stored, "o = vec4(x + x * y)", declared), 4 * STEP)
    names = {remark.name: remark.error_bound for remark in linked.remarks}
    total = bound_of(linked)
    assert total is not None and names["x"] is not None and names["y"] is not None
    assert names["x"] + names["y"] <= total <= 1.01 * (names["x"] + names["y"])
    tight = halved(pair(stored, "o = vec4(x + x * y)", declared), 1.01 * names["y"])
    assert [r.name for r in tight.remarks if r.error_bound is not None] in ([], ["y"])


def test_interpolated_directions_are_no_longer_than_one() -> None:
    """So their product with another one has a range, and a bound."""
    declared = "layout(location = 0) {} vec3 n;\n"
    used = "o = vec4(0.25 * pow(max(dot(n, vec3(0.6, 0.0, 0.8)), 0.0), 2.0))"
    modules = pair("n = normalize(c.xyz)", used, declared)
    whole = bound_of(halved(modules, 1.0))
    split = bound_of(
        halved(pair("n = vec3(normalize(c.xyz).xy, normalize(p.xyz).z)", used, declared), 1.0)
    )
    assert whole is not None and split is not None
    assert whole < 0.8 * split  # of three numbers that are of no one vector less is known


def test_a_normalized_input_that_may_vanish_stays() -> None:
    declared = "layout(location = 0) {} vec3 n;\n"
    linked = halved(pair("n = normalize(c.xyz)", "o = vec4(normalize(n), 1.0)", declared), 1.0)
    assert "next to no length" in why(linked)


def test_mediump_is_permission_and_has_no_bound() -> None:
    declared = "layout(location = 0) {} mediump float x;\n"
    linked = halved(pair("x = c.x", "o = vec4(x > 0.5 ? 1.0 : 0.0)", declared))
    assert linked.interfaces[0].vertex_bytes == (24, 18)
    assert "RelaxedPrecision" in why(linked)
    assert bound_of(linked) is None


def test_the_report_names_each_bound() -> None:
    linked = halved(pair(), colorAttachments=None, topology=None)
    document = json.loads(report.to_json(linked, "0"))
    border = document["interfaces"][0]
    assert border["error_bound"] == document["remarks"][0]["error_bound"] > 0
    assert len(border["assumed"]) == 4
    said = report.explain(linked)
    assert border["assumed"][0] in said and "of white at most" in said
    plain = json.loads(report.to_json(spvlink.link(pair()), "0"))
    assert "error_bound" not in plain["interfaces"][0]
    assert "error_bound" not in plain["remarks"][0]


def test_a_second_link_takes_no_second_share() -> None:
    """What has 16 bits is nothing that a later link looks at."""
    once = halved(pair())
    again = halved([stage.data for stage in once.stages])
    assert bound_of(again) is None
    assert [s.data for s in again.stages] == [s.data for s in once.stages]


@pytest.mark.parametrize("bound", [0.0, -1.0, 2.0, float("nan")])
def test_a_bound_is_a_part_of_white(bound: float) -> None:
    with pytest.raises(Usage, match="no bound"):
        spvlink.link(pair(), half=bound)


def test_exact_and_half_exclude_each_other() -> None:
    with pytest.raises(Usage, match="exclude each other"):
        spvlink.link(pair(), half=STEP, exact=True)
    with pytest.raises(TypeError):
        spvlink.link(pair(), half="a bit")  # type: ignore[arg-type]


def test_a_batch_does_not_take_it() -> None:
    with pytest.raises(Usage, match="not a batch"):
        list(spvlink.batch([pair()], spvlink.Options(half=STEP)))


def test_a_wrong_fact_names_the_place() -> None:
    with pytest.raises(Usage, match="storageInputOutput16"):
        read({"version": 1, "storageInputOutput16": 1})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--half", "--exact"], "exclude"),
        (["--half", "--verify"], "exclude"),
        (["--half", "--interface", "x"], "exclude"),
        (["--half", "3"], "above 0 and up to 1"),
        (["--half=x"], "above 0 and up to 1"),
        (["--half="], "needs a value"),
        (["--half", "--half"], "given twice"),
    ],
)
def test_the_command_says_what_is_wrong(words: list[str], message: str) -> None:
    with pytest.raises(Usage, match=message):
        spvlink.arguments.parse(["a.vert", "-o", "out", *words])


def test_the_command_reads_a_bound_or_none() -> None:
    parse = spvlink.arguments.parse
    assert parse(["--half", "a.vert", "-o", "out"]).options.half == STEP
    assert parse(["--half", "0.01", "a.vert", "-o", "out"]).options.half == 0.01
    assert parse(["a.vert", "-o", "out", "--half=0.25"]).options.half == 0.25
    assert parse(["a.vert", "-o", "out"]).options.half is None


def test_a_nan_that_a_stage_preserves_stays() -> None:
    modules = preserving(pair("x = clamp(c.x, 0.0, 1.0)"))
    assert "NaN" in why(halved(modules))
    assert bound_of(halved(pair("x = clamp(c.x, 0.0, 1.0)"))) is not None


def test_a_captured_output_stays() -> None:
    captured = ONE.replace("= 0", "= 0, xfb_buffer = 0, xfb_offset = 0").replace("{}", "out")
    vert = f"{HEAD}{ATTRIBUTES}{captured}layout(location = 9) out float unread;\n"
    vert += "void main() { gl_Position = p; unread = p.x; x = fract(c.x); }\n"
    modules = [compile_glsl(vert, "vert", "vulkan1.0"), pair()[1]]
    assert "captures" in why(halved(modules))


@pytest.mark.parametrize("function", ["Offset(x, vec2(0.25))", "Sample(x, 1)"])
def test_what_is_interpolated_elsewhere_stays(function: str) -> None:
    linked = halved(pair(used=f"o = vec4(interpolateAt{function})"), rasterizationSamples=None)
    assert bound_of(linked) is None


def test_an_invariant_output_stays() -> None:
    modules = pair(declared="layout(location = 0) {} float x;\n")
    modules[0] = edited(modules[0], (r"(?=OpDecorate %x Location)", "OpDecorate %x Invariant\n"))
    assert bound_of(halved(modules)) is None
    assert bound_of(halved(pair())) is not None


def test_colours_that_are_read_back_keep_32_bits() -> None:
    assert bound_of(halved(pair(used="o = vec4(x); if (o.x > 0.5) o.y = 0.0"))) is None


def test_arithmetic_of_mediump_has_no_bound() -> None:
    """It rounds more than the input does; the input itself is highp."""
    used = "mediump float y = x; y = y * y; o = vec4(y * 0.5)"
    assert bound_of(halved(pair(used=used))) is None
    assert bound_of(halved(pair(used=used.replace("mediump ", "")))) is not None


def test_one_component_thrice_is_no_direction() -> None:
    """Only different components of one vector are no longer than it."""
    declared = "layout(location = 0) {} vec3 n;\n"
    used = "float t = dot(n.xxx, vec3(1.0)); o = vec4(0.1 * t * t)"
    bound = bound_of(halved(pair("n = normalize(c.xyz)", used, declared), 1.0))
    assert bound is not None
    assert bound >= 0.1 * 2 * 3 * 3 * 2 * rounding(1.0)


def test_16_and_32_bits_share_no_location() -> None:
    """So a colour beside something unknown stays, as it would take another Location."""
    declared = "layout(location = 0) {} vec3 v;\nlayout(location = 0, component = 3) {} float u;\n"
    linked = halved(pair("v = fract(c.xyz); u = c.w", "o = vec4(v, u)", declared))
    assert "one more Location" in why(linked)
    alone = declared.replace("location = 0, component = 3", "location = 1")
    linked = halved(pair("v = fract(c.xyz); u = c.w", "o = vec4(v, u)", alone))
    assert linked.interfaces[0].locations[1] == 1


def test_an_emit_without_a_store_has_any_number() -> None:
    vert = f"{HEAD}{ATTRIBUTES}void main() {{ gl_Position = p; }}\n"
    geom = f"""{HEAD}
        layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
        layout(location = 0) out float x; layout(location = 1) out float unread;
        void main() {{
            for (int i = 0; i < 3; ++i) {{
                gl_Position = gl_in[i].gl_Position; unread = 1.0;
                FIRST x = fract(gl_in[i].gl_Position.x);
                EmitVertex();
            }}
        }}"""
    frag = f"{HEAD}{OUTPUT}{ONE.replace('{}', 'in')}void main() {{ o = vec4(x); }}\n"
    for first, stays in (("", False), ("if (i > 0)", True)):
        texts = ("vert", vert), ("geom", geom.replace("FIRST", first)), ("frag", frag)
        modules = [compile_glsl(text, stage, "vulkan1.0") for stage, text in texts]
        linked = halved(modules)
        assert (linked.interfaces[1].error_bound is None) == stays


def test_lines_of_a_geometry_shader_are_extrapolated() -> None:
    vert = f"{HEAD}{ATTRIBUTES}void main() {{ gl_Position = p; }}\n"
    geom = f"""{HEAD}
        layout(triangles) in; layout(KIND, max_vertices = 3) out;
        layout(location = 0) out float x; layout(location = 1) out float unread;
        void main() {{
            for (int i = 0; i < 3; ++i) {{
                gl_Position = gl_in[i].gl_Position; unread = 1.0; x = fract(gl_Position.x);
                EmitVertex();
            }}
        }}"""
    frag = f"{HEAD}{OUTPUT}{ONE.replace('{}', 'in')}void main() {{ o = vec4(x); }}\n"
    for kind, stays in (("triangle_strip", False), ("points", False), ("line_strip", True)):
        texts = ("vert", vert), ("geom", geom.replace("KIND", kind)), ("frag", frag)
        modules = [compile_glsl(text, stage, "vulkan1.0") for stage, text in texts]
        assert (halved(modules).interfaces[1].error_bound is None) == stays


def test_a_component_thrice_is_no_direction_in_the_producer_either() -> None:
    bound = bound_of(halved(pair("x = 0.1 * dot(normalize(c.xyz).xxx, vec3(1.0))", "o = vec4(x)")))
    assert bound is not None
    assert bound >= 2 * rounding(0.3)


def test_vertices_of_a_mesh_that_are_stored_sometimes_have_any_number() -> None:
    mesh = f"""{HEAD}
        #extension GL_EXT_mesh_shader : require
        layout(local_size_x = 3) in;
        layout(triangles, max_vertices = 3, max_primitives = 1) out;
        layout(location = 0) out float x[]; layout(location = 1) out float unread[];
        void main() {{
            uint i = gl_LocalInvocationIndex;
            SetMeshOutputsEXT(3, 1);
            gl_MeshVerticesEXT[i].gl_Position = vec4(0.0, float(i), 0.0, 1.0);
            unread[i] = 1.0;
            FIRST x[i] = fract(float(i) * 0.3);
            if (i == 0) gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
        }}"""
    frag = f"{HEAD}{OUTPUT}{ONE.replace('{}', 'in')}void main() {{ o = vec4(x); }}\n"
    for first, stays in (("", False), ("if (i > 0)", True)):
        texts = ("mesh", mesh.replace("FIRST", first)), ("frag", frag)
        modules = [compile_glsl(text, stage, "vulkan1.3") for stage, text in texts]
        linked = halved(modules)
        assert (linked.interfaces[0].error_bound is None) == stays
