"""The verifiers and the state of a pipeline: a link that needs a fact is equal with it, by proof
and in the interpreter, and is another pipeline with another state."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.grammar import enums
from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.state import LINES, POINTS, TRIANGLES
from spvlink.verifier.known import KnownState
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL, UNEQUAL
from tests.support.chain_text import text
from tests.support.samples import compile_glsl

PLACE = "layout(location = 0) in vec4 place; layout(location = 1) in vec4 a;\n"
OUT = "layout(location = 0) out vec4 colour;\n"
SQUARE = (
    text("vert", PLACE + "layout(location = 0) out vec4 v;", "gl_Position = place; v = a * a;"),
    text("frag", "layout(location = 0) in vec4 v;\n" + OUT, "colour = v * v.w;"),
)
FLAT = (
    text("vert", PLACE + "layout(location = 0) flat out vec4 v;", "gl_Position = place; v = a;"),
    text("frag", "layout(location = 0) flat in vec4 v;\n" + OUT, "colour = v * v.w;"),
)
VIEWS = "#extension GL_EXT_multiview : require\n"
LAYERS = "#extension GL_ARB_shader_viewport_layer_array : require\n"
SAMPLES = {
    "rasterizationSamples": 1, "sampleLocationsEnable": False, "conservativeRasterization": False,
    "fragmentShadingRate": False,
}  # fmt: skip
CULLED = {"cullMode": "BACK", "polygonMode": "FILL", "topology": "TRIANGLE_LIST"}


@dataclass(frozen=True)
class Known:
    """``state``: what the link is told; ``other``: with which its result is wrong."""

    name: str
    state: dict[str, object]
    other: dict[str, object]
    stages: tuple[tuple[str, str], ...]


def attributes(format: str) -> dict[str, object]:
    return {"vertexAttributes": [{"location": 1, "format": format}]}


def attachment(**known: object) -> dict[str, object]:
    return {"colorAttachments": [known], "alphaToCoverageEnable": False}


CASES = [
    Known("no attachment", attachment(format="UNDEFINED"), attachment(), SQUARE),
    Known(
        "write mask", attachment(colorWriteMask="RG", blendEnable=False),
        attachment(colorWriteMask="RGB", blendEnable=False), SQUARE,
    ),
    Known(
        "rasterizer discard", {"rasterizerDiscardEnable": True},
        {"rasterizerDiscardEnable": False}, SQUARE,
    ),
    Known(
        "facing", CULLED, {**CULLED, "cullMode": "FRONT"},
        (SQUARE[0], text("frag", "layout(location = 0) in vec4 v;\n" + OUT,
                         "colour = gl_FrontFacing ? v : v * v;")),
    ),
    Known(
        "one sample", SAMPLES, {**SAMPLES, "rasterizationSamples": 4},
        (SQUARE[0], text("frag", "layout(location = 0) in centroid vec4 v;\n" + OUT,
                         "colour = v + interpolateAtCentroid(v);")),
    ),
    Known(
        "sample", SAMPLES, {**SAMPLES, "sampleLocationsEnable": True},
        (SQUARE[0], text("frag", "layout(location = 0) in sample vec4 v;\n" + OUT,
                         "colour = v + float(gl_SampleID);")),
    ),
    Known(
        "point size", {"polygonMode": "LINE", "topology": "LINE_STRIP"},
        {"polygonMode": "LINE", "topology": "POINT_LIST"},
        (text("vert", PLACE + "layout(location = 0) out vec4 v;",
              "gl_Position = place; v = a; gl_PointSize = a.x;"), SQUARE[1]),
    ),
    Known(
        "one viewport", {"viewportCount": 1}, {"viewportCount": 2},
        (text("vert", LAYERS + PLACE + "layout(location = 0) out vec4 v;",
              "gl_Position = place; v = a; gl_ViewportIndex = int(a.x > 0.5);"), SQUARE[1]),
    ),
    Known(
        "attribute of two components", attributes("R32G32_SFLOAT"),
        attributes("R32G32B32_SFLOAT"), FLAT,
    ),
    Known(
        "attribute of bytes", attributes("R8G8B8A8_UINT"), attributes("R16G16B16A16_UINT"),
        (text("vert", "layout(location = 0) in vec4 place; layout(location = 1) in uvec3 n;"
              "layout(location = 0) flat out uvec3 v; layout(location = 1) flat out vec3 w;",
              "gl_Position = place; v = n; w = place.xyz;"),
         text("frag", "layout(location = 0) flat in uvec3 v;"
              "layout(location = 1) flat in vec3 w;" + OUT,
              "colour = vec4(vec3(v) * w, 1.0);")),
    ),
    Known(
        "one view", {"viewMask": 4}, {"viewMask": 2},
        (text("vert", VIEWS + PLACE + "layout(location = 0) flat out vec4 v;",
              "gl_Position = place; v = vec4(a.xyz, gl_ViewIndex);"), FLAT[1]),
    ),
    Known(
        "control points", {"patchControlPoints": 3}, {"patchControlPoints": 4},
        (text("vert", PLACE + "layout(location = 0) out vec4 v;", "gl_Position = place; v = a;"),
         text("tesc", "layout(vertices = 3) out; layout(location = 0) in vec4 v[];"
              "layout(location = 0) out vec4 w[];",
              "gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;"
              "w[gl_InvocationID] = v[gl_InvocationID] * float(gl_PatchVerticesIn);"
              "gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2.0;"
              "gl_TessLevelInner[0] = 2.0;"),
         text("tese", "layout(triangles) in; layout(location = 0) in vec4 w[];"
              "layout(location = 0) out vec4 v;",
              "gl_Position = gl_in[0].gl_Position * gl_TessCoord.x; v = w[1];"), SQUARE[1]),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_fact_is_a_fact_for_the_verifiers(case: Known) -> None:
    codes = [compile_glsl(source, stage) for stage, source in case.stages]
    before = [Source(code) for code in codes]
    state, other = ({"version": 1, **facts} for facts in (case.state, case.other))
    linked = [stage.data for stage in spvlink.link(codes, exact=True, state=state).stages]
    assert linked != [stage.data for stage in spvlink.link(codes, exact=True).stages]
    after = [Source(data) for data in linked]
    right, wrong = Options(exact=True, state=state), Options(exact=True, state=other)
    assert prove(before, after, right).outcome == EQUAL
    assert execute(before, after, right).outcome == EQUAL
    assert prove(before, after, wrong).outcome != EQUAL
    assert execute(before, after, wrong).outcome == UNEQUAL


def test_the_commands_take_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for stage, source in SQUARE:
        files.append(str(tmp_path / f"a.{stage}"))
        Path(files[-1]).write_text(source)
    state = str(tmp_path / "state.json")
    Path(state).write_text(json.dumps({"version": 1, "rasterizerDiscardEnable": True}))
    modules = [str(tmp_path / f"a.{stage}.spv") for stage, _ in SQUARE]
    for (stage, source), module in zip(SQUARE, modules):
        Path(module).write_bytes(compile_glsl(source, stage))
    out = str(tmp_path / "out")
    assert cli.main(["link", *modules, "--state", state, "--verify", "-o", out]) == 0
    assert "proved equal" in capsys.readouterr().out
    made = [str(tmp_path / "out" / f"a.{stage}.spv") for stage, _ in SQUARE]
    assert cli.main(["verify", *modules, "--linked", *made, "--state", state]) == 0
    assert capsys.readouterr().out == "proved equal\n"
    assert cli.main(["verify", *modules, "--linked", *made]) == 1


@dataclass(frozen=True)
class Pair:
    """Two stages written by hand that are equal with ``state``, or are not (``equal``)."""

    name: str
    state: dict[str, object]
    equal: bool
    stage: str
    before: str
    after: str
    complete: bool = False


PASS = text("frag", "layout(location = 0) in vec4 v;\n" + OUT, "colour = v;")
LAYER = LAYERS + OUT
OFFSET = "layout(location = 0) in vec4 v;\n" + OUT
WIDE = "layout(location = 0) in vec4 place; layout(location = 1) in dvec2 d;"
CAPTURED = "layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 4, location = 1) out {} c;"
PAIRS = [
    Pair("no view, no layer", {"viewMask": 0}, True, "frag",
         text("frag", LAYER, "colour = vec4(gl_Layer);")[1],
         text("frag", OUT, "colour = vec4(0);")[1]),
    Pair("views may choose the layer", {}, False, "frag",
         text("frag", LAYER, "colour = vec4(gl_Layer);")[1],
         text("frag", OUT, "colour = vec4(0);")[1]),
    Pair("the only sample is at the centre", SAMPLES, True, "frag",
         text("frag", OFFSET, "colour = interpolateAtSample(v, 1);")[1], PASS[1]),
    Pair("an offset is elsewhere", SAMPLES, False, "frag",
         text("frag", OFFSET, "colour = interpolateAtOffset(v, vec2(0.25));")[1], PASS[1]),
    Pair("nothing is discarded of nothing", {"rasterizerDiscardEnable": True}, True, "frag",
         text("frag", OFFSET, "if (v.x < 0.5) discard; colour = v;")[1], PASS[1]),
    Pair("a wide attribute has no defaults", attributes("R64_SFLOAT"), False, "vert",
         text("vert", WIDE + "layout(location = 0) out vec4 v;",
              "gl_Position = place; v = vec4(float(d.y));")[1],
         text("vert", WIDE + "layout(location = 0) out vec4 v;",
              "gl_Position = place; v = vec4(0);")[1]),
    Pair("bits are captured", {}, True, "vert",
         text("vert", PLACE + CAPTURED.format("float"), "gl_Position = place; c = 0.0;")[1],
         text("vert", PLACE + CAPTURED.format("flat int"), "gl_Position = place; c = 0;")[1]),
    Pair("other bits are captured", {}, False, "vert",
         text("vert", PLACE + CAPTURED.format("float"), "gl_Position = place; c = 1.0;")[1],
         text("vert", PLACE + CAPTURED.format("flat int"), "gl_Position = place; c = 1;")[1]),
    Pair("no points behind the last stage", {"polygonMode": "FILL", "topology": "LINE_LIST"}, True,
         "vert", text("vert", PLACE, "gl_Position = place; gl_PointSize = a.x;")[1],
         text("vert", PLACE, "gl_Position = place;")[1], True),
    Pair("a stage may follow", {"polygonMode": "FILL", "topology": "LINE_LIST"}, False,
         "vert", text("vert", PLACE, "gl_Position = place; gl_PointSize = a.x;")[1],
         text("vert", PLACE, "gl_Position = place;")[1]),
]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name.replace(" ", "-"))
def test_stages_written_by_hand(pair: Pair) -> None:
    both = [compile_glsl(source, pair.stage) for source in (pair.before, pair.after)]
    first = text("vert", PLACE + "layout(location = 0) out vec4 v;", "gl_Position = place; v = a;")
    before, after = [[Source(code)] for code in both]
    if pair.stage == "frag":
        start = Source(compile_glsl(first[1], "vert"))
        before, after = [start, *before], [start, *after]
    elif "v;" in pair.before:
        end = Source(compile_glsl(PASS[1], "frag"))
        before, after = [*before, end], [*after, end]
    options = Options(exact=True, state={"version": 1, **pair.state}, complete=pair.complete)
    assert (prove(before, after, options).outcome == EQUAL) == pair.equal
    if pair.name != "views may choose the layer":  # the interpreter has none
        assert (execute(before, after, options).outcome == EQUAL) == pair.equal


def test_a_control_shader_says_how_many_vertices_a_patch_has() -> None:
    vert, tesc, tese, frag = CASES[-1].stages
    read = tese[1].replace("v = w[1]", "v = w[1] * float(gl_PatchVerticesIn)")
    known = tese[1].replace("v = w[1]", "v = w[1] * 3.0")
    codes = [[compile_glsl(source, stage) for stage, source in (vert, tesc, ("tese", one), frag)]
             for one in (read, known, known.replace("3.0", "4.0"))]  # fmt: skip
    sides = [[Source(code) for code in side] for side in codes]
    options = Options(exact=True, state={"version": 1, "patchControlPoints": 4})
    assert prove(sides[0], sides[1], options).outcome == EQUAL
    assert prove(sides[0], sides[2], options).outcome != EQUAL


def known(**state: object) -> KnownState:
    return KnownState(Options(state={"version": 1, **state}))


def test_what_is_rasterized() -> None:
    lines = known(topology="LINE_LIST")
    vert = ("vert", {enums.ExecutionMode_Triangles})
    assert lines.rasterized([vert]) == LINES
    assert lines.rasterized([]) == ""
    for mode, made in (("PointMode", POINTS), ("Isolines", LINES), ("Quads", TRIANGLES)):
        modes = {getattr(enums, f"ExecutionMode_{mode}")}
        assert lines.rasterized([vert, ("tesc", modes), ("tese", set())]) == made
    for mode, made in (("OutputPoints", POINTS), ("OutputLineStrip", LINES), ("Invocations", "")):
        assert lines.rasterized([vert, ("geom", {getattr(enums, f"ExecutionMode_{mode}")})]) == made


def test_what_state_says_and_does_not_say() -> None:
    assert known(cullMode="FRONT", polygonMode="FILL").facing(TRIANGLES) is False
    assert known(cullMode="FRONT", polygonMode="FILL").facing(LINES) is None
    assert known(cullMode="FRONT", polygonMode="LINE").facing(TRIANGLES) is None
    assert known(cullMode="NONE", polygonMode="FILL").facing(TRIANGLES) is None
    assert known(cullMode="FRONT").facing(TRIANGLES) is None
    for mode, uses in (("FILL", False), ("LINE", False), ("POINT", True), (None, True)):
        assert known(polygonMode=mode).uses(enums.BuiltIn_PointSize, TRIANGLES) is uses
    assert known(polygonMode="FILL").uses(enums.BuiltIn_PointSize, POINTS)
    assert known(polygonMode="FILL").uses(enums.BuiltIn_PointSize, "")
    assert not known().uses(enums.BuiltIn_PrimitiveId, "")
    assert known().uses(enums.BuiltIn_ViewportIndex, "") and known().uses(enums.BuiltIn_Layer, "")
    assert [known(viewMask=mask).view() for mask in (None, 0, 1, 4, 6)] == [None, 0, 0, 2, None]
    bytes = known(vertexAttributes=[{"location": 1, "format": "R8G8_UINT"}])
    assert [bytes.missing(1, at) for at in range(4)] == [None, None, 0, 1]
    assert bytes.missing(0, 3) is None
    wide = known(vertexAttributes=[{"location": 1, "format": "R8G8B8A8_UINT"}])
    assert [wide.mask_of(1, at) for at in range(4)] == [255, 255, 255, 0]
    assert wide.mask_of(0, 0) == 0
