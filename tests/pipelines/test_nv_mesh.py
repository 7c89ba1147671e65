"""Stages of SPV_NV_mesh_shader go out as they came, with a word why. Lavapipe does not run them, so
this looks at modules and reports alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from tests.support.chain_text import frag
from tests.support.samples import compile_glsl

HEAD = "#version 450\n#extension GL_NV_mesh_shader : require\nlayout(local_size_x = 1) in;\n"
TASK = (
    HEAD
    + """taskNV out Hand { float a; float unread; } hand;
void main() { hand.a = 1.0; hand.unread = 2.0; gl_TaskCountNV = 1; }"""
)
MESH = (
    HEAD
    + """taskNV in Hand { float a; float unread; } hand;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(location = 0) out vec4 c[]; layout(location = 1) out vec4 unread[];
void main() {
  for (int i = 0; i < 3; ++i) {
    gl_MeshVerticesNV[i].gl_Position = vec4(i, i * i, 0, 1); c[i] = vec4(HAND); unread[i] = vec4(1);
    gl_PrimitiveIndicesNV[i] = i;
  }
  gl_PrimitiveCountNV = 1;
}"""
)
FRAG = frag("layout(location = 0) in vec4 c; layout(location = 2) in vec4 lost;", "color = c;")[1]
SETS = {
    "mesh": {"mesh": MESH.replace("HAND", "1").replace("taskNV", "//")},
    "mesh and frag": {"mesh": MESH.replace("HAND", "1").replace("taskNV", "//"), "frag": FRAG},
    "all": {"task": TASK, "mesh": MESH.replace("HAND", "hand.a"), "frag": FRAG},
}  # fmt: skip


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("name", SETS)
def test_they_go_out_as_they_came(name: str, clean: bool) -> None:
    codes = {stage: compile_glsl(text, stage) for stage, text in SETS[name].items()}
    linked = spvlink.link(list(codes.values()), clean=clean)
    assert linked.defect is None and linked.validated == "validated"
    assert [s.stage for s in linked.stages] == list(codes)
    for result in linked.stages:
        if result.stage != "frag":
            assert result.data == codes[result.stage]
    if "frag" in codes:
        why = "it is a stage of SPV_NV_mesh_shader, which spvlink does not follow"
        assert linked.passed_through == why


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for stage, text in SETS["mesh and frag"].items():
        (tmp_path / f"{stage}.spv").write_bytes(compile_glsl(text, stage))
    assert cli.main(["link", "mesh.spv", "frag.spv", "-o", "out"]) == 0
    assert (tmp_path / "out" / "mesh.spv").read_bytes() == (tmp_path / "mesh.spv").read_bytes()
    capsys.readouterr()
    assert cli.main(["check", "mesh.spv", "frag.spv"]) != 0
    assert "SPV_NV_mesh_shader, which is not checked" in capsys.readouterr().err
