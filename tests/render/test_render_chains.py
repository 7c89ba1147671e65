"""The harness on whole chains: tessellation, geometry, mesh, task, transform feedback, layers."""

from __future__ import annotations

import numpy as np
import pytest

from spvlink.draw import CannotDraw, Result, compare, draw, draw_covering, make_scene, messages
from spvlink.draw.device import get_device
from tests.render.glsl import compile_glsl

Stages = list[tuple[str, str]]

VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 colour;
layout(location = 0) out vec4 v_colour;
void main() { v_colour = colour; gl_Position = vec4(position, 1.0); }
"""
FRAG = """#version 450
layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 target;
void main() { target = colour; }
"""
CONTROL = """#version 450
layout(vertices = 4) out;
layout(location = 0) in vec4 v_colour[];
layout(location = 0) out vec4 c_colour[];
void main() {
    c_colour[gl_InvocationID] = v_colour[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter = float[4](4.0, 5.0, 6.0, 5.0);
    gl_TessLevelInner = float[2](3.0, 4.0);
}
"""
EVALUATION = """#version 450
layout(DOMAIN) in;
layout(location = 0) in vec4 c_colour[];
layout(location = 0) out vec4 colour;
void main() {
    vec2 t = gl_TessCoord.xy;
    vec4 w = vec4((1.0 - t.x) * (1.0 - t.y), t.x * (1.0 - t.y), t.x * t.y, (1.0 - t.x) * t.y);
    vec4 p = vec4(0.0), c = vec4(0.0);
    for (int i = 0; i < 4; ++i) {
        p += w[i] * gl_in[i].gl_Position;
        c += w[i] * c_colour[i];
    }
    colour = c;
    gl_Position = p;
    POINT
}
"""
GEOMETRY = """#version 450
layout(INPUT) in;
layout(OUTPUT, max_vertices = 6) out;
layout(location = 0) in vec4 v_colour[];
layout(location = 0) out vec4 colour;
void main() {
    for (int i = 0; i < 3; ++i) {
        int from = min(i, gl_in.length() - 1);
        colour = v_colour[from];
        gl_Position = gl_in[from].gl_Position;
        gl_Position.xy += vec2(i & 1, i >> 1) * 0.3;
        gl_PointSize = 3.0;
        EmitVertex();
    }
    EndPrimitive();
}
"""
MESH = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 4) in;
layout(OUTPUT, max_vertices = 4, max_primitives = 4) out;
layout(location = 0) out vec4 colour[];
layout(location = 1) perprimitiveEXT out vec4 tint[];
void main() {
    uint i = gl_LocalInvocationIndex;
    SetMeshOutputsEXT(4, COUNT);
    vec2 cell = vec2(gl_WorkGroupID.x & 3u, gl_WorkGroupID.x >> 2u) * 0.5 - 1.0;
    gl_MeshVerticesEXT[i].gl_Position = vec4(cell + vec2(i & 1u, i >> 1u) * 0.45, 0.5, 1.0);
    gl_MeshVerticesEXT[i].gl_PointSize = 5.0;
    colour[i] = vec4(cell, float(i), 1.0);
    if (i < COUNT) {
        tint[i] = vec4(float(gl_WorkGroupID.x), float(i), 0.25, 0.5);
        INDICES
    }
}
"""
MESH_FRAG = """#version 450
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec4 colour;
layout(location = 1) perprimitiveEXT in vec4 tint;
layout(location = 0) out vec4 target;
void main() { target = colour + tint; }
"""


def build(stages: Stages) -> list[bytes]:
    return [compile_glsl(stage, source) for stage, source in stages]


def drawn(stages: Stages, samples: int = 1) -> Result:
    """A good picture that repeats itself and gives the validation layer nothing to say."""
    codes = build(stages)
    scene, result = draw_covering(codes, samples=samples)
    assert result.is_good(), (result.coverage, result.distinct, result.captured)
    again = compare(result, draw(codes, scene))
    assert not again, again
    said = messages(codes, scene)
    assert not said, said
    return result


@pytest.mark.parametrize("point", [False, True], ids=["", "points"])
@pytest.mark.parametrize("domain", ["triangles", "quads", "isolines"])
def test_tessellation(domain: str, point: bool) -> None:
    layout = domain + (", point_mode" if point else ", equal_spacing, cw")
    source = EVALUATION.replace("DOMAIN", layout)
    source = source.replace("POINT", "gl_PointSize = 2.0;" if point else "")
    drawn([("vert", VERT), ("tesc", CONTROL), ("tese", source), ("frag", FRAG)])


def test_patch_size_comes_from_the_modules() -> None:
    for size, reads, expected in ((1, "gl_InvocationID", 1), (7, "0", 7), (3, "11", 12)):
        control = CONTROL.replace("vertices = 4", f"vertices = {size}")
        control = control.replace("= v_colour[gl_InvocationID]", f"= v_colour[{reads}]")
        evaluation = EVALUATION.replace("DOMAIN", "quads").replace("POINT", "")
        stages = [("vert", VERT), ("tesc", control), ("tese", evaluation), ("frag", FRAG)]
        assert make_scene(build(stages)).patch_vertices == expected


@pytest.mark.parametrize("output", ["points", "line_strip", "triangle_strip"])
@pytest.mark.parametrize(
    "input", ["points", "lines", "lines_adjacency", "triangles", "triangles_adjacency"]
)
def test_geometry(input: str, output: str) -> None:
    source = GEOMETRY.replace("INPUT", input).replace("OUTPUT", output)
    drawn([("vert", VERT), ("geom", source), ("frag", FRAG)])


def test_geometry_instances_and_layers() -> None:
    source = GEOMETRY.replace("INPUT", "triangles, invocations = 6")
    source = source.replace("OUTPUT", "triangle_strip")
    source = source.replace("EmitVertex", "gl_Layer = gl_InvocationID;\n        EmitVertex")
    source = source.replace("* 0.3", "* 0.1 * float(gl_InvocationID)")
    result = drawn([("vert", VERT), ("geom", source), ("frag", FRAG)])
    layers = result.images["color0"].reshape(6, 64, 64, 4)
    assert all(np.any(layers[i] != layers[0]) for i in range(1, 6))


def test_geometry_viewports() -> None:
    source = GEOMETRY.replace("INPUT", "triangles").replace("OUTPUT", "triangle_strip")
    whole = drawn([("vert", VERT), ("geom", source), ("frag", FRAG)])
    source = source.replace("EmitVertex", "gl_ViewportIndex = 1;\n        EmitVertex")
    result = drawn([("vert", VERT), ("geom", source), ("frag", FRAG)])
    assert result.coverage < 0.6 * whole.coverage


def test_all_five_stages() -> None:
    evaluation = EVALUATION.replace("DOMAIN", "quads").replace("POINT", "")
    geometry = GEOMETRY.replace("INPUT", "triangles").replace("OUTPUT", "line_strip")
    drawn([("vert", VERT), ("tesc", CONTROL), ("tese", evaluation.replace(" colour;", " o_c;")
            .replace("colour = c", "o_c = c")), ("geom", geometry), ("frag", FRAG)])  # fmt: skip


INDICES = {
    "triangles": "gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, i + 1u, i + 2u);",
    "lines": "gl_PrimitiveLineIndicesEXT[i] = uvec2(i, i + 1u);",
    "points": "gl_PrimitivePointIndicesEXT[i] = i;",
}


def mesh(output: str) -> str:
    source = MESH.replace("OUTPUT", output).replace("INDICES", INDICES[output])
    return source.replace("COUNT", {"triangles": "2", "lines": "3", "points": "4"}[output])


@pytest.mark.parametrize("output", INDICES)
def test_mesh(output: str) -> None:
    drawn([("mesh", mesh(output)), ("frag", MESH_FRAG)])


def test_task_and_mesh() -> None:
    task = """#version 450
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
struct Payload { vec4 tint[2]; uint first; };
taskPayloadSharedEXT Payload payload;
void main() {
    payload.first = gl_WorkGroupID.x;
    payload.tint[0] = vec4(0.5, 0.25, 0.125, 1.0);
    payload.tint[1] = vec4(float(gl_WorkGroupID.x) * 0.1);
    EmitMeshTasksEXT(gl_WorkGroupID.x % 2u + 1u, 1, 1);
}
"""
    source = mesh("triangles").replace(
        "void main",
        """struct Payload { vec4 tint[2]; uint first; };
taskPayloadSharedEXT Payload payload;
void main""",
    )
    source = source.replace("0.25, 0.5);", "0.25, 0.5) + payload.tint[gl_WorkGroupID.x & 1u];")
    source = source.replace("gl_WorkGroupID.x >>", "payload.first >>")
    drawn([("task", task), ("mesh", source), ("frag", MESH_FRAG)])


FEEDBACK_VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 colour;
layout(location = 0, xfb_buffer = 0, xfb_offset = 16, xfb_stride = 32) out vec4 captured;
layout(location = 1) out vec4 other;
layout(xfb_buffer = 0, xfb_stride = 32) out gl_PerVertex {
    layout(xfb_offset = 0) vec4 gl_Position; float gl_PointSize;
};
void main() {
    captured = colour * 2.0;
    other = colour;
    gl_Position = vec4(position, 1.0);
    gl_PointSize = 1.0;
}
"""


def test_feedback_holds_what_the_shader_wrote() -> None:
    codes = build([("vert", FEEDBACK_VERT)])
    scene = make_scene(codes)
    result = draw(codes, scene)
    assert result.is_good() and not result.discarded
    count = scene.vertices * scene.instances
    records = result.buffers["feedback0"][: count * 32].view("f4").reshape(count, 8)
    colour = scene.attributes[1][1].view("f4")
    np.testing.assert_array_equal(records[: scene.vertices, 4:], colour * 2.0)
    assert result.captured == count
    assert result.buffers["feedback0 counter"].view(np.uint32)[0] == count * 32
    assert np.all(result.buffers["feedback0"][count * 32 :] == 0xA5)
    assert not messages(codes, scene)


def test_feedback_without_a_position_discards() -> None:
    lines = FEEDBACK_VERT.split("layout(xfb_buffer")
    source = lines[0].replace("xfb_offset = 16", "xfb_offset = 0") + (
        "void main() { captured = colour * position.x; other = colour; }\n"
    )
    result = drawn([("vert", source)])
    assert result.discarded and result.coverage == 0.0 and result.captured


def test_feedback_beside_a_fragment_shader() -> None:
    frag = FRAG.replace("location = 0) in", "location = 1) in")
    result = drawn([("vert", FEEDBACK_VERT), ("frag", frag)])
    assert result.captured and result.images["color0"].any()


STREAMS = """#version 450
layout(points) in;
layout(points, max_vertices = 3) out;
layout(location = 0) in vec4 v_colour[];
layout(stream = 0, location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out vec4 first;
layout(stream = 1, location = 1, xfb_buffer = 1, xfb_offset = 4, xfb_stride = 24) out vec4 second;
void main() {
    first = v_colour[0];
    gl_Position = gl_in[0].gl_Position;
    gl_PointSize = 2.0;
    EmitStreamVertex(0);
    EndStreamPrimitive(0);
    for (int i = 0; i < 2; ++i) {
        second = v_colour[0] + float(i);
        EmitStreamVertex(1);
        EndStreamPrimitive(1);
    }
}
"""


def test_feedback_of_several_streams() -> None:
    result = drawn([("vert", VERT), ("geom", STREAMS), ("frag", FRAG)])
    written = {
        stream: result.buffers[f"feedback primitives of stream {stream}"].view(np.uint64)[0]
        for stream in (0, 1)
    }
    assert written[1] == 2 * written[0] > 0
    assert result.buffers["feedback1 counter"].view(np.uint32)[0] == written[1] * 24


def test_depth_alone_is_a_picture() -> None:
    result = drawn([("vert", VERT)])
    assert set(result.images) == {"depth"} and not result.discarded


def test_nothing_captured_is_not_good() -> None:
    source = STREAMS.replace("EmitStreamVertex(1);", "").replace("EmitStreamVertex(0);", "")
    codes = build([("vert", VERT), ("geom", source), ("frag", FRAG)])
    assert not draw(codes, make_scene(codes)).is_good()


def test_four_samples_on_a_chain() -> None:
    evaluation = EVALUATION.replace("DOMAIN", "quads").replace("POINT", "")
    frag = FRAG.replace(") in", ") sample in")
    drawn([("vert", VERT), ("tesc", CONTROL), ("tese", evaluation), ("frag", frag)], samples=4)


def test_chains_that_are_none_are_refused() -> None:
    tesc = ("tesc", CONTROL)
    with pytest.raises(CannotDraw, match="one tessellation stage"):
        draw(build([("vert", VERT), tesc, ("frag", FRAG)]))
    with pytest.raises(CannotDraw, match="mesh and vertex"):
        draw(build([("vert", VERT), ("mesh", mesh("lines")), ("frag", MESH_FRAG)]))
    with pytest.raises(CannotDraw, match="two stages"):
        draw(build([("vert", VERT), ("vert", FEEDBACK_VERT)]))


def test_64_bit_values_cross() -> None:
    vert = VERT.replace("out vec4 v_colour", "flat out dvec3 v_wide")
    vert = vert.replace("v_colour = colour", "v_wide = dvec3(colour.xyz) / 3.0LF")
    frag = FRAG.replace("in vec4 colour", "flat in dvec3 wide").replace(
        "= colour", "= vec4(unpackDouble2x32(wide.z), wide.xy)"
    ).replace("vec4 target", "uvec4 target").replace("= vec4", "= uvec4")  # fmt: skip
    result = drawn([("vert", vert), ("frag", frag)])
    assert result.images["color0"].dtype == np.uint32


BARYCENTRIC = """#version 450
#extension GL_EXT_fragment_shader_barycentric : require
layout(location = 0) pervertexEXT in vec4 colour[3];
layout(location = 0) out vec4 target;
void main() { target = colour[0] * gl_BaryCoordEXT.x + colour[1] * gl_BaryCoordEXT.y; }
"""


def test_barycentric_coordinates() -> None:
    if "VK_KHR_fragment_shader_barycentric" not in get_device().offered:
        with pytest.raises(CannotDraw, match="fragment_shader_barycentric"):
            draw(build([("vert", VERT), ("frag", BARYCENTRIC)]))
        pytest.skip("the device does not offer VK_KHR_fragment_shader_barycentric")
    drawn([("vert", VERT), ("frag", BARYCENTRIC)])


def test_16_bit_values_cross_without_the_feature() -> None:
    head = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
struct Small { f16vec2 a; int16_t b[2]; float c; };
"""
    vert = VERT.replace("layout", head + "layout", 1)
    vert = vert.replace("out vec4 v_colour", "flat out Small v_small")
    vert = vert.replace(
        "v_colour = colour", "v_small = Small(f16vec2(colour), int16_t[2](int16_t(-3), "
        "int16_t(colour.x * 90.0)), colour.y)"
    )  # fmt: skip
    frag = FRAG.replace("layout", head + "layout", 1)
    frag = frag.replace("in vec4 colour", "flat in Small small")
    frag = frag.replace("= colour", "= vec4(vec2(small.a), small.b[0], small.b[1]) + small.c")
    codes = build([("vert", vert), ("frag", frag)])
    result = drawn([("vert", vert), ("frag", frag)])
    pixels = result.images["color0"][result.images["color0"][..., 0] > -77]
    rest = pixels[:, 2] + 3.0  # small.c
    halves = pixels[:, 0] - rest
    np.testing.assert_allclose(halves.astype("f2"), halves, atol=1e-6)
    planted = [codes[0], build([("frag", frag.replace("small.b[1]", "small.b[0]"))])[0]]
    assert compare(result, draw(planted, make_scene(codes)))
