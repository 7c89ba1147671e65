"""Which facts the layer reads of the fixed functions of a pipeline, and that it reads none of the
pointers that Vulkan ignores (layer_fixed.c)."""

from __future__ import annotations

import glob
from pathlib import Path

import pytest

from spvlink.layer import wire
from spvlink.state import PipelineState
from tests.render.glsl import compile_glsl
from tests.support.layer_place import Place, build_with_layer

VERT = """#version 450
#extension GL_ARB_shader_viewport_layer_array : require
layout(location = 0) in vec4 a;
layout(location = 1) in vec4 b;
layout(location = 0) out vec4 v;
void main() { gl_Position = a; gl_PointSize = 2.0; gl_ViewportIndex = int(b.x); v = a * b.wzyx; }
"""
FRAG = """#version 450
#extension GL_EXT_multiview : require
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 x;
layout(location = 1) out vec4 y;
void main() {
    x = interpolateAtSample(v, 0) * float(gl_ViewIndex);
    y = gl_FrontFacing ? x : v;
}
"""
FIRST = ((0, 0, 7),)
ALL = ((0, 0, 15),)
BOTH = ((0, 0, 7), (1, 0, 15))


def facts(**more: object) -> PipelineState:
    """Those of the case "plain" with others in their place."""
    plain: dict[str, object] = {
        "outputs": FIRST, "one_sample": True, "view_mask": 0, "culled": 2, "polygons": 0,
        "topology": "triangles", "viewports": 1, "attributes": ((0, 3, 0), (1, 7, 0)),
    }  # fmt: skip
    return PipelineState(**{**plain, **more})  # type: ignore[arg-type]


NOTHING = PipelineState()
NO_TRIANGLES = {"topology": "", "culled": None, "polygons": None}
EXPECTED = {
    "plain": facts(),
    "blending reads alpha": facts(outputs=ALL),
    "a second source": facts(),  # which the shader has none of
    "coverage": facts(outputs=ALL),
    "four samples": facts(one_sample=False),
    "sample locations": facts(one_sample=False),
    "conservative": facts(one_sample=False),
    "coarse": facts(one_sample=False),
    "depth clip control": facts(),
    "a shading rate": facts(one_sample=False),
    "one view": facts(view_mask=4),
    "two views": facts(view_mask=None),
    "the view is the device": facts(view_mask=None),
    "points": facts(**NO_TRIANGLES),
    "as lines": facts(culled=None),
    "two viewports": facts(viewports=None),
    "moved": facts(outputs=((1, 0, 1),)),
    "external format": facts(outputs=None),
    "unknown on blending": facts(outputs=None),
    "unknown on vertices": facts(attributes=()),
    "unknown on assembly": facts(**NO_TRIANGLES),
    "a Location twice": facts(attributes=()),
    "nothing is given": PipelineState(view_mask=0),
    "write mask changes": facts(outputs=ALL),
    "blending changes": facts(outputs=ALL),
    "coverage changes": facts(outputs=ALL),
    "samples change": facts(one_sample=False),
    "culling changes": facts(culled=None),
    "topology changes": facts(**NO_TRIANGLES),
    "viewports change": facts(viewports=None),
    "polygons change": facts(culled=None, polygons=None, topology=""),
    "vertices change": facts(attributes=()),
    "all blending changes": facts(outputs=ALL),
    "no colours": facts(outputs=()),
    "discard": facts(outputs=None, one_sample=False, culled=None, viewports=None),
    "discard before a fragment shader": facts(
        discards=True, outputs=None, one_sample=False, viewports=None
    ),
    "discard changes": facts(),
    "shaders alone": facts(outputs=None, one_sample=False, attributes=(), **NO_TRIANGLES),
    # of what these modules are not, a mesh shader, nobody takes anything
    "mesh": facts(attributes=(), **NO_TRIANGLES),
    "pass": facts(view_mask=None),
    "second subpass": facts(view_mask=2),
    "third subpass": facts(outputs=()),
    "no such subpass": facts(outputs=None, one_sample=False, view_mask=None),
    "pass 2": facts(outputs=((1, 0, 3),), view_mask=8),
    "a pass with something unknown": facts(outputs=None, one_sample=False, view_mask=None),
    "a pass that is gone": facts(outputs=None, one_sample=False, view_mask=None),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PipelineState]:
    """Case -> the state in what the layer would ask."""
    folder = tmp_path_factory.mktemp("fixed")
    place = Place(folder)
    paths = []
    for stage, source in (("vert", VERT), ("frag", FRAG)):
        paths.append(str(folder / f"{stage}.spv"))
        Path(paths[-1]).write_bytes(compile_glsl(stage, source))
    nobody = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python"}
    try:
        program = build_with_layer(
            "layer_fixed.c", folder, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"
        )
        names = place.program("setarch", "-R", program, *paths, **nobody).splitlines()
        found = {}
        for path in glob.glob(f"{folder}/**/pending/*", recursive=True):
            request = wire.read_request(Path(path).read_bytes())
            found[names[request.stages[0].spec[0][0]]] = request.state
        return found
    finally:
        place.close()


def test_every_case_was_asked_for(asked: dict[str, PipelineState]) -> None:
    assert asked.keys() == EXPECTED.keys()


@pytest.mark.parametrize("case", EXPECTED)
def test_facts(case: str, asked: dict[str, PipelineState]) -> None:
    found = asked[case]
    names = PipelineState.__slots__
    assert {n: getattr(found, n) for n in names} == {n: getattr(EXPECTED[case], n) for n in names}
