"""The verifiers and the state of a pipeline: a link that needs a fact is equal with it, by proof
and in the interpreter, and is another pipeline with another state."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.options import Options
from spvlink.pipeline import Source
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
