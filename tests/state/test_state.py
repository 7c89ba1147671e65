"""The JSON of ``--state``: what it means, and one clear line for what is wrong with it."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import spvlink
from spvlink import formats
from spvlink.cli import main
from spvlink.errors import Usage
from spvlink.state import PipelineState, read, state_of
from tests.support.chain_text import frag, vert
from tests.support.samples import compile_glsl

Document = dict[str, object]
RED, GREEN, BLUE, ALPHA = 1, 2, 4, 8


def outputs(**top: object) -> dict[tuple[int, int], int]:
    found = read({"version": 1, **top}).outputs
    assert found is not None
    return {(location, index): mask for location, index, mask in found}


def test_nothing_is_known_of_an_empty_one() -> None:
    assert not read({"version": 1}) and not state_of(None)
    assert read({"version": 1}) == PipelineState()
    assert read({"version": 1, "viewMask": None, "cullMode": None}) == PipelineState()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the state: expected an object"),
        ({}, "the state: version is missing"),
        ({"version": 2}, "version: 2 is not known (there is: 1)"),
        ({"version": True}, "version: True is not known (there is: 1)"),
        ({"version": 1, "samples": 1}, "the state: unknown key 'samples' (there are: version,"),
        ({"version": 1, "viewMask": -1}, "viewMask: expected an integer of 0 or more"),
        ({"version": 1, "viewMask": True}, "viewMask: expected an integer of 0 or more"),
        ({"version": 1, "viewportCount": 0}, "viewportCount: expected an integer of 1 or more"),
        ({"version": 1, "cullMode": "LEFT"}, "cullMode: 'LEFT' is none of NONE FRONT BACK"),
        ({"version": 1, "cullMode": 4}, "cullMode: 4 is none of NONE FRONT BACK"),
        ({"version": 1, "rasterizerDiscardEnable": 1},
         "rasterizerDiscardEnable: expected true or false"),
        ({"version": 1, "colorAttachments": {}}, "colorAttachments: expected a list"),
        ({"version": 1, "colorAttachments": [{}, 5]}, "colorAttachments[1]: expected an object"),
        ({"version": 1, "colorAttachments": [{"mask": 1}]}, "colorAttachments[0]: unknown key"),
        ({"version": 1, "colorAttachments": [{"colorWriteMask": "RR"}]},
         "colorAttachments[0].colorWriteMask: expected letters of RGBA, or their bit mask"),
        ({"version": 1, "colorAttachments": [{"colorWriteMask": 16}]},
         "colorAttachments[0].colorWriteMask: expected letters"),
        ({"version": 1, "colorAttachments": [{"format": []}]},
         "colorAttachments[0].format: expected the name or number of a VkFormat"),
        ({"version": 1, "colorAttachments": [{"blendEnable": "no"}]},
         "colorAttachments[0].blendEnable: expected true or false"),
        ({"version": 1, "colorAttachments": [{"srcColorBlendFactor": "HALF"}]},
         "colorAttachments[0].srcColorBlendFactor: 'HALF' is none of ZERO ONE"),
        ({"version": 1, "colorAttachmentLocations": [0]},
         "colorAttachmentLocations: there are no colorAttachments"),
        ({"version": 1, "colorAttachments": [{}], "colorAttachmentLocations": []},
         "colorAttachmentLocations: expected 1, as there are colorAttachments"),
        ({"version": 1, "colorAttachments": [{}, {}], "colorAttachmentLocations": [1, 1]},
         "colorAttachmentLocations[1]: Location 1 stands there twice"),
        ({"version": 1, "colorAttachments": [{}], "colorAttachmentLocations": ["a"]},
         "colorAttachmentLocations[0]: expected a Location or null"),
        ({"version": 1, "vertexAttributes": [{"format": 9}]},
         "vertexAttributes[0]: location is missing"),
        ({"version": 1, "vertexAttributes": [{"location": 1}, {"location": 1}]},
         "vertexAttributes[1]: location 1 stands there twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(document: object, message: str) -> None:
    with pytest.raises(Usage) as raised:
        read(document)
    assert raised.value.message.startswith(message)
    with pytest.raises(Usage) as raised:
        spvlink.link([b""], state=document)
    assert raised.value.message.startswith(message)


COVERED: Document = {"alphaToCoverageEnable": False}


def test_attachments() -> None:
    assert outputs(colorAttachments=[]) == {(0, 0): ALPHA}
    assert outputs(colorAttachments=[], **COVERED) == {}
    assert outputs(colorAttachments=[None, {"blendEnable": False}], **COVERED) == {(1, 0): 15}
    assert outputs(colorAttachments=[{}], **COVERED) == {(0, 0): 15, (0, 1): 15}
    two = [{"format": "R16G16_SFLOAT", "blendEnable": False}, {"format": 0}]
    assert outputs(colorAttachments=two, **COVERED) == {(0, 0): RED | GREEN}
    moved = outputs(colorAttachments=two, colorAttachmentLocations=[3, None], **COVERED)
    assert moved == {(3, 0): RED | GREEN}
    unknown = [{"format": 7 << 20, "colorWriteMask": "GA", "blendEnable": False}]
    assert outputs(colorAttachments=unknown, **COVERED) == {(0, 0): GREEN | ALPHA}


def blended(mask: str, *factors: str | None, ops: tuple[str | int, str] = ("ADD", "ADD")) -> object:
    names = ("srcColorBlendFactor", "dstColorBlendFactor",
             "srcAlphaBlendFactor", "dstAlphaBlendFactor")  # fmt: skip
    one: Document = dict(zip(names, factors, strict=True))
    one |= {"blendEnable": True, "colorWriteMask": mask}
    one |= {"colorBlendOp": ops[0], "alphaBlendOp": ops[1]}
    return outputs(colorAttachments=[one], **COVERED)


def test_blending() -> None:
    rgb = RED | GREEN | BLUE
    plain = ("ONE", "ZERO", "ONE", "ZERO")
    assert blended("RGB", *plain) == {(0, 0): rgb}
    for factor in ("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA", "SRC_ALPHA_SATURATE"):
        assert blended("RGB", "ONE", factor, "ONE", "ZERO") == {(0, 0): 15}
        assert blended("RGB", factor, "ONE", "ONE", "ZERO") == {(0, 0): 15}
        # what it would do to an alpha that is not written does not matter
        assert blended("RGB", "ONE", "ONE", factor, "ZERO") == {(0, 0): rgb}
        # MIN and MAX have no factors
        assert blended("RGB", "ONE", factor, "ONE", "ZERO", ops=("MAX", "ADD")) == {(0, 0): rgb}
    assert blended("RG", "SRC1_COLOR", "ZERO", "ONE", "ZERO") == {(0, 0): 3, (0, 1): 3}
    assert blended("RG", "ONE", "ONE_MINUS_SRC1_ALPHA", "ONE", "ZERO") == {(0, 0): 3, (0, 1): ALPHA}
    assert blended("A", "SRC1_COLOR", "ZERO", "ONE", "ZERO") == {(0, 0): ALPHA}
    assert blended("A", "ONE", "ZERO", "ONE", "SRC1_ALPHA") == {(0, 0): ALPHA, (0, 1): ALPHA}
    assert blended("R", None, "ONE", "ONE", "ONE") == {(0, 0): RED | ALPHA, (0, 1): RED | ALPHA}
    assert blended("R", *plain, ops=(1000148004, "ADD")) == {(0, 0): 15, (0, 1): 15}


def test_one_sample_needs_all_of_it() -> None:
    names = "sampleLocationsEnable", "conservativeRasterization", "fragmentShadingRate"
    good: Document = {"version": 1, "rasterizationSamples": 1} | dict.fromkeys(names, False)
    assert read(good).one_sample
    assert not read(good | {"rasterizationSamples": 2}).one_sample
    for name in names:
        assert not read(good | {name: True}).one_sample
        assert not read({key: value for key, value in good.items() if key != name}).one_sample


def test_the_rest() -> None:
    state = read(
        {
            "version": 1, "cullMode": "BACK", "polygonMode": 1, "topology": "LINE_STRIP",
            "viewportCount": 1, "viewMask": 0, "patchControlPoints": 3,
            "vertexAttributes": [{"location": 2, "format": "R8G8_UINT"}, {"location": 0}],
        }
    )  # fmt: skip
    assert (state.culled, state.polygons, state.topology) == (2, 1, "lines")
    assert (state.viewports, state.view_mask, state.patch_points) == (1, 0, 3)
    assert state.attributes == ((0, 15, 0), (2, RED | GREEN, 8))
    assert read({"version": 1, "topology": 10}).topology == "patches"
    assert state_of(state) is state and pickle.loads(pickle.dumps(state)) == state
    assert len({state, read({"version": 1})}) == 2


def test_formats_are_vulkans() -> None:
    """Names and numbers are those of the bindings that the tests draw with."""
    import vulkan

    names = {
        name: value
        for name, value in vars(vulkan).items()
        if name.startswith("VK_FORMAT_") and not name.startswith("VK_FORMAT_FEATURE_")
    }
    ours = {f"VK_FORMAT_{one.name}": number for number, one in formats.BY_NUMBER.items()}
    shared = ours.keys() & names.keys()
    assert len(shared) > 120 and all(ours[name] == names[name] for name in shared)
    lacking = {n for n, v in names.items() if isinstance(v, int) and 0 <= v < 124} - ours.keys()
    assert {n for n in lacking if "BEGIN" not in n} == {"VK_FORMAT_UNDEFINED"}


def test_the_command_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stages = (
        vert("layout(location = 0) out vec4 v;", "v = a;"),
        frag("layout(location = 0) in vec4 v;", "color = v;"),
    )
    words = ["link", "-o", str(tmp_path / "out"), "--explain"]
    for stage, text in stages:
        (tmp_path / f"x.{stage}.spv").write_bytes(compile_glsl(text, stage))
        words.append(str(tmp_path / f"x.{stage}.spv"))
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"version": 1, "colorAttachments": [], **COVERED}))
    assert main([*words, "--state", str(path)]) == 0
    told = capsys.readouterr().out
    assert "color  0.xyzw  removed  no attachment takes it" in told
    path.write_text(json.dumps({"version": 1, "cullMode": "UP"}))
    assert main([*words, "--state", str(path)]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"spvlink: error: {path}: cullMode: 'UP' is none of")
    assert line.count("\n") == 1
