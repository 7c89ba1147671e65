"""The harness itself: it draws, covers, repeats, and sees buffers and validation messages."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from spvlink.draw import (
    CannotDraw,
    Result,
    compare,
    draw,
    draw_covering,
    make_scene,
    messages,
    rounding,
    save_png,
)
from spvlink.draw.__main__ import main
from spvlink.draw.batch import Crashed, run_isolated
from spvlink.draw.reflect import ReadStage
from spvlink.draw.words import Words
from tests.render.glsl import compile_glsl

VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(set = 0, binding = 0) uniform Camera { mat4 view; mat4 projection; vec4 tint; };
layout(push_constant) uniform Push { mat4 model; float glow; };
layout(location = 0) out vec2 v_uv;
layout(location = 1) out vec4 v_color;
void main() {
    v_uv = uv;
    v_color = tint * glow;
    gl_Position = projection * view * model * vec4(position, 1.0);
}
"""
FRAG = """#version 450
layout(location = 0) in vec2 v_uv;
layout(location = 1) in vec4 v_color;
layout(set = 0, binding = 1) uniform sampler2D albedo;
layout(location = 0) out vec4 color;
void main() { color = v_color * texture(albedo, v_uv) + vec4(v_uv, 0.0, 0.0); }
"""
FULLSCREEN = """#version 450
layout(location = 0) out vec2 uv;
void main() {
    uv = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.5, 1.0);
}
"""
FRAG_UV = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = vec4(uv, 0.0, 1.0); }
"""


def pair(vert: str = VERT, frag: str = FRAG) -> list[bytes]:
    return [compile_glsl("vert", vert), compile_glsl("frag", frag)]


def test_draws_and_covers() -> None:
    scene, result = draw_covering(pair())
    assert result.is_good() and 0.3 < result.coverage <= 1.0
    assert result.images["color0"].shape == (scene.size, scene.size, 4)
    assert set(result.images) == {"color0", "depth"}


def test_fullscreen_triangle_has_the_values_that_it_must_have() -> None:
    codes = pair(FULLSCREEN, FRAG_UV)
    result = draw(codes, make_scene(codes))
    centres = (np.arange(64, dtype="f4") + 0.5) / 64
    assert result.coverage == 1.0
    color = result.images["color0"]
    np.testing.assert_allclose(color[:, :, 0], np.tile(centres, (64, 1)), atol=1e-5)
    np.testing.assert_allclose(color[:, 0, 1], centres, atol=1e-5)
    assert np.all(result.images["depth"] == 0.5)


def test_same_inputs_give_the_same_bits() -> None:
    codes = pair()
    first, second = (draw(codes, make_scene(codes, seed=5)) for _ in range(2))
    difference = compare(first, second)
    assert not difference and str(difference) == "equal"


def test_other_seeds_give_other_pictures() -> None:
    codes = pair()
    pictures = [draw(codes, make_scene(codes, seed)) for seed in range(3)]
    assert compare(pictures[0], pictures[1]) and compare(pictures[1], pictures[2])


def test_specialization_constants_reach_the_pipeline() -> None:
    """Each stage its own, and an id that a stage lacks is no error."""
    frag = (
        "#version 450\nlayout(constant_id = 3) const float level = 0.25;"
        "layout(location = 0) out vec4 o; void main() { o = vec4(level); }"
    )
    codes = pair(FULLSCREEN, frag)
    scene = make_scene(codes)
    assert np.all(draw(codes, scene).images["color0"] == 0.25)
    scene.spec = {(0, 3): 0x40000000, (4, 3): 0x3F800000, (4, 9): 1}
    assert np.all(draw(codes, scene).images["color0"] == 1.0)


def test_a_difference_of_one_bit_is_one_ulp() -> None:
    codes = pair()
    first, second = (draw(codes, make_scene(codes)) for _ in range(2))
    second.images["color0"].view(np.uint32)[10, 10, 0] ^= 1
    difference = compare(first, second)
    assert difference.values == 1 and difference.max_ulp == 1
    assert difference.where == ["image color0: 1 of 16384 differ"]


def result_of(*values: float) -> Result:
    return Result({"color0": np.array(values, "f4")})


@pytest.mark.parametrize(
    ("before", "after", "ulps", "steps"),
    [
        pytest.param(1.0, 1.0 + 2.0**-23, 1.0, 0, id="next-float"),
        pytest.param(-3.0, -3.0 - 2.0**-20, 4.0, 0, id="ulp-grows-with-the-value"),
        pytest.param(0.0, 2.0**-40, 2.0**-7, 0, id="near-zero-the-ulp-is-that-of-2^-10"),
        pytest.param(0.4999 / 255, 0.5001 / 255, None, 1, id="beside-the-middle-of-two-steps"),
        pytest.param(0.25, 0.75, None, 127, id="another-colour"),
        pytest.param(5.0, 9.0, None, 0, id="clamped-at-8-bits"),
        pytest.param(np.inf, np.inf, 0.0, 0, id="both-infinite"),
        pytest.param(np.nan, np.nan, 0.0, 0, id="both-no-number"),
        pytest.param(np.inf, 1.0, np.inf, 0, id="infinite-in-one"),
        pytest.param(np.inf, -np.inf, np.inf, 255, id="other-infinity"),
        pytest.param(np.nan, 0.0, np.inf, 0, id="no-number-in-one"),
    ],
)
def test_rounding_is_measured(before: float, after: float, ulps: float | None, steps: int) -> None:
    found = rounding(result_of(0.5, before), result_of(0.5, after))
    assert found.values == 2 and found.steps == steps and found.stepped == (steps > 0)
    assert ulps is None or found.ulps == ulps
    assert found.differing == (found.ulps > 0)


@pytest.mark.parametrize(
    "position, frag",
    [
        pytest.param("vec4(5.0, 5.0, 0.5, 1.0)", FRAG_UV, id="off-screen"),
        pytest.param(
            "vec4(uv * 2.0 - 1.0, 0.5, 1.0)",
            FRAG_UV.replace("{ color", "{ if (uv.x > -1.0) discard; color"),
            id="everything-discarded",
        ),
    ],
)
def test_an_empty_picture_is_reported(position: str, frag: str) -> None:
    vert = FULLSCREEN.replace("vec4(uv * 2.0 - 1.0, 0.5, 1.0)", position)
    _, result = draw_covering(pair(vert, frag))
    assert result.coverage == 0.0 and result.distinct == 0 and not result.is_good()


def test_a_constant_picture_is_not_good() -> None:
    frag = FRAG_UV.replace("vec4(uv, 0.0, 1.0)", "vec4(0.5)")
    codes = pair(FULLSCREEN, frag)
    result = draw(codes, make_scene(codes))
    result_without_depth = {n: i for n, i in result.images.items() if n != "depth"}
    assert result.coverage == 1.0
    assert len(np.unique(result_without_depth["color0"].reshape(-1, 4), axis=0)) == 1


def test_targets_take_the_types_of_the_outputs() -> None:
    frag = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 a;
layout(location = 2) out ivec2 b;
layout(location = 3) out uint c;
void main() {
    a = vec4(uv.x);
    b = ivec2(uv * 100.0) - 50;
    c = uint(uv.y * 9.0);
    gl_FragDepth = uv.y;
}
"""
    codes = pair(FULLSCREEN, frag)
    result = draw(codes, make_scene(codes))
    kinds = {name: image.dtype.kind for name, image in result.images.items()}
    assert kinds == {"color0": "f", "color2": "i", "color3": "u", "depth": "f"}
    assert result.images["color2"].min() < 0
    assert len(np.unique(result.images["depth"])) == 64


def test_buffers_and_storage_images_are_compared() -> None:
    frag = """#version 450
layout(location = 0) in vec2 uv;
layout(set = 0, binding = 0) buffer Counter { uint count; float values[]; };
layout(set = 1, binding = 3, r32ui) uniform uimage2D marks;
layout(location = 0) out vec4 color;
void main() {
    color = vec4(uv, values[int(uv.x * 8.0)], 1.0);
    atomicAdd(count, 1u);
    imageStore(marks, ivec2(gl_FragCoord.xy), uvec4(gl_FragCoord.x));
}
"""
    codes = pair(FULLSCREEN, frag)
    scene = make_scene(codes)
    first = draw(codes, scene)
    assert set(first.buffers) == {"set0.binding0[0]", "image set1.binding3[0]"}
    before = scene.bindings[0].buffers[0].data[:4].view(np.uint32)[0]
    drawn = first.buffers["set0.binding0[0]"][:4].view(np.uint32)[0] - before
    assert drawn >= 64 * 64
    other = draw(pair(FULLSCREEN, frag.replace("count, 1u", "count, 2u")), scene)
    assert compare(first, other).where[0].startswith("buffer set0.binding0[0]: ")
    other = draw(pair(FULLSCREEN, frag.replace("FragCoord.x)", "FragCoord.y)")), scene)
    assert compare(first, other).where[0].startswith("buffer image set1.binding3[0]: ")


RESOURCES = {
    "texture-array": ("uniform sampler2DArray t;", "texture(t, vec3(uv, 1.0))"),
    "texture-3d": ("uniform sampler3D t;", "texture(t, uv.xyx)"),
    "texture-1d": ("uniform sampler1D t;", "texture(t, uv.x)"),
    "cube": ("uniform samplerCube t;", "texture(t, vec3(uv, 0.3))"),
    "cube-array": ("uniform samplerCubeArray t;", "texture(t, vec4(uv, 0.3, 2.0))"),
    "shadow": ("uniform sampler2DShadow t;", "vec4(texture(t, vec3(uv, 0.5)))"),
    "integer-texture": ("uniform usampler2D t;", "vec4(texture(t, uv))"),
    "texture-of-array": ("uniform sampler2D t[4];", "texture(t[2], uv)"),
    "multisampled": ("uniform sampler2DMS t;", "texelFetch(t, ivec2(3), 1) * uv.x"),
    "texel-buffer": ("uniform samplerBuffer t;", "texelFetch(t, int(uv.x * 50.0))"),
    "storage-texel-buffer": (
        "uniform layout(rgba32f) imageBuffer t;",
        "imageLoad(t, int(uv.x * 50.0))",
    ),
    "storage-image": ("uniform layout(rgba8) image2D t;", "imageLoad(t, ivec2(uv * 50.0))"),
    "storage-buffer": ("buffer T { vec4 t[]; };", "t[int(uv.x * 50.0)]"),
    "uniform-buffer": ("uniform T { vec4 t[50]; };", "t[int(uv.x * 50.0)]"),
}


@pytest.mark.parametrize("name", RESOURCES)
def test_every_kind_of_resource_has_contents(name: str) -> None:
    declaration, value = RESOURCES[name]
    frag = f"""#version 450
layout(location = 0) in vec2 uv;
layout(set = 0, binding = 0) {declaration}
layout(location = 0) out vec4 color;
void main() {{ color = {value}; }}
"""
    codes = pair(FULLSCREEN, frag)
    scene = make_scene(codes)
    result = draw(codes, scene)
    assert len(np.unique(result.images["color0"].reshape(-1, 4), axis=0)) > 1
    assert not messages(codes, scene)


def test_separate_image_and_sampler_and_input_attachment() -> None:
    frag = """#version 450
layout(location = 0) in vec2 uv;
layout(set = 0, binding = 0) uniform texture2D image;
layout(set = 2, binding = 1) uniform sampler linear;
layout(input_attachment_index = 0, set = 1, binding = 0) uniform subpassInput before;
layout(location = 0) out vec4 color;
void main() { color = texture(sampler2D(image, linear), uv) + subpassLoad(before); }
"""
    codes = pair(FULLSCREEN, frag)
    scene = make_scene(codes)
    assert draw(codes, scene).distinct > 1000
    assert not messages(codes, scene)


def test_device_addresses_lead_to_contents() -> None:
    frag = """#version 460
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430) readonly buffer Material { vec4 colors[]; };
layout(push_constant) uniform Push { Material material; };
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = material.colors[int(uv.x * 50.0)]; }
"""
    codes = pair(FULLSCREEN, frag)
    scene = make_scene(codes)
    result = draw(codes, scene)
    assert len(np.unique(result.images["color0"].reshape(-1, 4), axis=0)) == 50
    assert not compare(result, draw(codes, scene))
    assert "pointee0" in result.buffers


def test_ray_queries_hit_something() -> None:
    frag = """#version 460
#extension GL_EXT_ray_query : require
layout(location = 0) in vec2 uv;
layout(set = 0, binding = 0) uniform accelerationStructureEXT world;
layout(location = 0) out float hit;
void main() {
    rayQueryEXT query;
    vec3 start = vec3(uv * 2.0 - 1.0, -3.0);
    rayQueryInitializeEXT(query, world, 0, 0xFF, start, 0.0, vec3(0, 0, 1), 9.0);
    while (rayQueryProceedEXT(query)) { }
    hit = rayQueryGetIntersectionTEXT(query, true);
}
"""
    codes = pair(FULLSCREEN, frag)
    scene = make_scene(codes)
    try:
        result = draw(codes, scene)
    except CannotDraw as why:  # Mesa 24.0 has none
        assert "does not offer VK_KHR_ray_query" in str(why)
        pytest.skip(str(why))
    assert len(np.unique(result.images["color0"])) > 100


GEOMETRY = """#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec2 v_uv[];
layout(location = 0) out vec2 uv;
void main() {
    for (int i = 0; i < 3; ++i) {
        uv = v_uv[i] * 0.5;
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
}
"""
CONTROL = """#version 450
layout(vertices = 3) out;
layout(location = 0) in vec2 v_uv[];
layout(location = 0) out vec2 c_uv[];
void main() {
    c_uv[gl_InvocationID] = v_uv[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 3.0;
    gl_TessLevelInner[0] = 3.0;
}
"""
EVALUATION = """#version 450
layout(triangles) in;
layout(location = 0) in vec2 c_uv[];
layout(location = 0) out vec2 uv;
void main() {
    vec3 t = gl_TessCoord;
    uv = c_uv[0] * t.x + c_uv[1] * t.y + c_uv[2] * t.z;
    gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y
        + gl_in[2].gl_Position * t.z;
}
"""


@pytest.mark.parametrize(
    "middle",
    [
        pytest.param([("geom", GEOMETRY)], id="geometry"),
        pytest.param([("tesc", CONTROL), ("tese", EVALUATION)], id="tessellation"),
    ],
)
def test_longer_chains_are_drawn(middle: list[tuple[str, str]]) -> None:
    vert, frag = pair(VERT, FRAG_UV)
    codes = [vert, *(compile_glsl(stage, source) for stage, source in middle), frag]
    scene, result = draw_covering(codes)
    assert result.is_good() and not compare(result, draw(codes, scene))


def test_multisampling_changes_edges() -> None:
    codes = pair()
    single = draw(codes, make_scene(codes, samples=1))
    multiple = draw(codes, make_scene(codes, samples=4))
    assert "depth" not in multiple.images and multiple.is_good()
    assert np.any(single.images["color0"] != multiple.images["color0"])


def test_validation_sees_a_planted_cross_stage_error() -> None:
    codes = pair()
    scene = make_scene(codes)
    assert not messages(codes, scene)
    frag = Words(codes[1])
    frag.decoration("v_color", 30)[3] = 7  # Location 7, which the vertex shader does not write
    planted = messages([codes[0], frag.encode()], scene)
    assert planted - messages(codes, scene)


def test_validation_sees_a_resource_outside_the_layout() -> None:
    codes = pair()
    scene = make_scene(codes)
    frag = FRAG.replace(
        "layout(location = 0) out",
        "layout(set = 0, binding = 0) uniform Camera {"
        " mat4 view; mat4 projection; vec4 tint; };\nlayout(location = 0) out",
    )
    moved = pair(VERT, frag.replace("v_color *", "v_color * tint *"))
    assert messages(moved, scene) - messages(codes, scene)


def test_inputs_come_from_the_original_even_if_the_linked_stages_need_less() -> None:
    codes = pair()
    smaller = pair(VERT, FRAG.replace("texture(albedo, v_uv)", "vec4(1.0)"))
    scene = make_scene(codes)
    assert compare(draw(codes, scene), draw(smaller, scene))
    assert not messages(smaller, scene)


def test_reflection_reads_layouts() -> None:
    stage = ReadStage(compile_glsl("vert", VERT))
    assert [(a.location, a.numeric.count, a.name) for a in stage.inputs] == [
        (0, 3, "position"),
        (1, 2, "uv"),
    ]
    assert [(r.set, r.binding, r.kind, stage.size(r.type_id)) for r in stage.resources] == [
        (0, 0, "uniform", 144)
    ]
    assert stage.push_constant is not None and stage.size(stage.push_constant) == 68


def test_what_is_no_shader_cannot_be_drawn() -> None:
    with pytest.raises(CannotDraw, match="not SPIR-V"):
        draw([b"nonsense"])
    with pytest.raises(CannotDraw, match="no vertex shader"):
        draw([compile_glsl("frag", FRAG_UV)])


def _job(kind: str) -> float:
    if kind == "crash":
        os.abort()
    if kind == "hang":
        while True:
            pass
    codes = pair(FULLSCREEN, FRAG_UV)
    return draw(codes, make_scene(codes)).coverage


def test_a_crash_or_a_hang_ends_one_job_only() -> None:
    jobs = [("draw",), ("crash",), ("hang",), ("draw",)]
    answers = list(run_isolated(_job, jobs, timeout=6.0))
    assert answers[0] == answers[3] == 1.0
    assert isinstance(answers[1], Crashed) and "died" in str(answers[1])
    assert isinstance(answers[2], Crashed) and "no answer" in str(answers[2])


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = []
    other = pair(VERT, FRAG.replace("0.0, 0.0)", "0.0, 1.0)"))
    for name, code in zip(["a.vert", "a.frag", "b.vert", "b.frag"], [*pair(), *other]):
        path = tmp_path / f"{name}.spv"
        path.write_bytes(code)
        names.append(str(path))
    assert main([*names[:2], "--linked", *names[:2], "--png", str(tmp_path), "--validate"]) == 0
    printed = capsys.readouterr().out
    assert "linked: equal" in printed and "new validation messages: none" in printed
    assert (tmp_path / "original.color0.png").stat().st_size > 1000
    assert main([*names[:2], "--linked", *names[2:]]) == 1
    assert "image color0: " in capsys.readouterr().out
    assert main([names[1]]) == 2


def test_save_png_writes_every_image(tmp_path: Path) -> None:
    codes = pair()
    written = save_png(draw(codes), tmp_path / "pictures", "x")
    assert [path.name for path in written] == ["x.color0.png", "x.depth.png"]
    assert all(path.exists() for path in written)
