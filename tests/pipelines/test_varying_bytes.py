"""Bytes that a stage hands on for each vertex and primitive, against numbers counted by hand."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.page.untouched import describe
from spvlink.pipeline import InterfaceResult
from spvlink.report import BYTES
from spvlink.varying_bytes import sizes_of_module
from tests.support.chains import NAMES, build, stages_of
from tests.support.samples import compile_glsl

POSITION = "gl_Position = vec4(1);"
HALVES = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
struct Mixed { f16vec3 a; vec2 b; };
"""
# What a shader declares, what its main does, and bytes a vertex, for position, a primitive.
VERTEX = {
    "position": ("", POSITION, (16, 16, 0)),
    "no position": ("layout(location = 0) out vec3 a;", "a = vec3(1);", (12, 0, 0)),
    "size and distances": (
        "out float gl_ClipDistance[3];",
        f"{POSITION} gl_PointSize = 1; gl_ClipDistance[0] = 0;",
        (16 + 4 + 12, 32, 0),
    ),
    "varyings": (
        "layout(location = 0) out vec3 a; layout(location = 1) flat out int b[2];",
        f"{POSITION} a = vec3(1); b[0] = 1; b[1] = 2;",
        (16 + 12 + 8, 16, 0),
    ),
    "unwritten": (
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;",
        f"{POSITION} a.xy = vec2(1);",
        (16 + 8, 16, 0),
    ),
    "doubles": (
        "layout(location = 0) flat out dvec3 a;",
        f"{POSITION} a = dvec3(1);",
        (16 + 24, 16, 0),
    ),
    "halves": (
        f"{HALVES} layout(location = 0) out f16vec3 a; layout(location = 1) out f16vec2 b[16];",
        f"{POSITION} a = f16vec3(1); for (int i = 0; i < 16; ++i) b[i] = f16vec2(1);",
        (16 + 6 + 64, 16, 0),
    ),
    "a struct of halves": (
        f"{HALVES} layout(location = 0) out Mixed a;",
        f"{POSITION} a = Mixed(f16vec3(1), vec2(1));",
        (16 + 6 + 8, 16, 0),
    ),
}


@pytest.mark.parametrize("name", VERTEX)
def test_vertex(name: str) -> None:
    declared, code, wanted = VERTEX[name]
    module = compile_glsl(f"#version 450\n{declared}\nvoid main() {{ {code} }}", "vert")
    assert sizes_of_module(module, "main", "vert") == wanted


def test_streams() -> None:
    """What goes to a stream that is not rasterized is nobody's varying."""
    module = compile_glsl(
        """#version 450
        layout(points) in; layout(points, max_vertices = 1) out;
        layout(stream = 0, location = 0) out vec2 a;
        layout(stream = 1, location = 1) out vec4 b;
        void main() {
            gl_Position = vec4(1); a = vec2(1); gl_PrimitiveID = 3; EmitStreamVertex(0);
            b = vec4(1); EmitStreamVertex(1);
        }""",
        "geom",
    )
    assert sizes_of_module(module, None, "geom") == (16 + 8 + 4, 16, 0)


def test_patches() -> None:
    module = compile_glsl(
        """#version 450
        layout(vertices = 3) out;
        layout(location = 0) out vec2 a[];
        layout(location = 4) patch out vec3 b;
        void main() {
            gl_out[gl_InvocationID].gl_Position = vec4(1);
            a[gl_InvocationID] = vec2(1);
            b = vec3(1);
            gl_TessLevelOuter[0] = 1; gl_TessLevelInner[0] = 1;
        }""",
        "tesc",
    )
    assert sizes_of_module(module, None, "tesc") == (16 + 8, 16, 12 + 16 + 8)


def test_meshes() -> None:
    module = compile_glsl(
        """#version 450
        #extension GL_EXT_mesh_shader : require
        layout(local_size_x = 1) in;
        layout(triangles, max_vertices = 3, max_primitives = 1) out;
        layout(location = 0) out vec2 a[];
        layout(location = 1) perprimitiveEXT out vec3 b[];
        void main() {
            SetMeshOutputsEXT(3, 1);
            gl_MeshVerticesEXT[0].gl_Position = vec4(1);
            a[0] = vec2(1);
            b[0] = vec3(1);
            gl_MeshPrimitivesEXT[0].gl_Layer = 1;
            gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
        }""",
        "mesh",
        "vulkan1.3",
    )
    assert sizes_of_module(module, None, "mesh") == (16 + 8, 16, 12 + 4)


def figures(border: InterfaceResult) -> dict[str, list[int]]:
    return {name: list(getattr(border, name)) for name in BYTES}


@pytest.mark.parametrize("part", range(4))
def test_links_hand_on_no_more(part: int) -> None:
    """Of every pipeline, together over its borders; a copy and a batch say the same."""
    names, options = NAMES[part::4], spvlink.Options(validate=False)
    batched = {b.index: b.linked for b in spvlink.batch(map(build, names), options)}
    for index, name in enumerate(names):
        linked = spvlink.link(build(name), validate=False)
        told = [figures(border) for border in linked.interfaces]
        if not spvlink.COMPILED:  # mypyc's classes are not pickled
            assert told == [figures(b) for b in pickle.loads(pickle.dumps(linked)).interfaces]
        assert told == [figures(border) for border in batched[index].interfaces]
        for border in linked.interfaces:
            if border.producer in ("vert", "tesc", "tese", "geom", "mesh"):
                assert border.vertex_bytes[0] >= border.position_bytes[0], name
        before, after = (sum(t["vertex_bytes"][side] for t in told) for side in (0, 1))
        assert after <= before, name


def test_dead_varyings_are_saved() -> None:
    """Two of the three varyings are dead; a link that stays says what is there, on both sides."""
    vertex = compile_glsl(
        """#version 450
        layout(location = 0) in vec4 p;
        layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
        layout(location = 2) out vec2 c;
        void main() { gl_Position = p; a = p.yxzw; b = p * 2.0; c = p.xy / p.z; }""",
        "vert",
    )
    fragment = compile_glsl(
        """#version 450
        layout(location = 2) in vec2 c; layout(location = 0) out vec4 colour;
        void main() { colour = vec4(c, 0, 1); }""",
        "frag",
    )
    linked = spvlink.link([vertex, fragment], validate=False)
    assert figures(linked.interfaces[0]) == {
        "vertex_bytes": [16 + 40, 16 + 8],
        "position_bytes": [16, 16],
        "primitive_bytes": [0, 0],
    }
    kept = spvlink.link([vertex, fragment], validate=False, keep_interface=["vert"])
    assert figures(kept.interfaces[0])["vertex_bytes"] == [56, 56]
    told = describe(spvlink.link([s.data for s in linked.stages]).stages, {}, "why")["interfaces"]
    assert isinstance(told, list) and told[0]["vertex_bytes"] == [24, 24]


def test_frozen() -> None:
    """Linked apart from each other, each against the interface."""
    stages = build("decal")
    linked, _ = spvlink.link_frozen(stages)
    before, after = linked.interfaces[0].vertex_bytes
    assert before == sizes_of_module(stages[0], None, "vert")[0]
    assert after == sizes_of_module(linked.stages[0].data, None, "vert")[0] < before


def test_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sums over the pipelines of a set, each stage but the fragment shader."""
    lines, wanted = [], [0, 0, 0]
    for name in ("decal", "water_tess", "meshlets"):
        files = []
        for stage, module in zip(stages_of(name), build(name)):
            path = tmp_path / f"{name}.{stage}.spv"
            path.write_bytes(module)
            files.append({"file": path.name})
        lines.append(json.dumps({"id": name, "stages": files}))
        for border in spvlink.link(build(name), validate=False).interfaces:
            wanted = [w + f[0] for w, f in zip(wanted, figures(border).values())]
    (tmp_path / "set.jsonl").write_text("\n".join(lines))
    assert cli.main(["check", str(tmp_path / "set.jsonl"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [made[name] for name in BYTES] == wanted and 0 not in wanted
    assert cli.main(["check", str(tmp_path / "set.jsonl")]) == 0
    assert f"{wanted[0]} " in capsys.readouterr().out.splitlines()[-1]
