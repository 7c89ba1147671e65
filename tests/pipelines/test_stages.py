"""Which stages make a pipeline (Vulkan, VkGraphicsPipelineCreateInfo): others are an error that
names the rule, and a part of a pipeline is none."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.layer import wire, work
from spvlink.pipeline import STAGE_BITS, STAGES, Source
from tests.support.samples import compile_glsl

SOURCES = {
    "vert": "void main() { gl_Position = vec4(0.0); }",
    "tesc": "layout(vertices = 3) out; void main() { gl_TessLevelOuter[0] = 1.0; }",
    "tese": "layout(triangles) in; void main() { gl_Position = vec4(0.0); }",
    "geom": "layout(points) in; layout(points, max_vertices = 1) out; void main() {}",
    "task": "#extension GL_EXT_mesh_shader : require\nlayout(local_size_x = 1) in;"
    " void main() { EmitMeshTasksEXT(1, 1, 1); }",
    "mesh": "#extension GL_EXT_mesh_shader : require\nlayout(local_size_x = 1) in;"
    " layout(points, max_vertices = 1, max_primitives = 1) out;"
    " void main() { SetMeshOutputsEXT(0, 0); }",
    "frag": "layout(location = 0) out vec4 o; void main() { o = vec4(1.0); }",
}
ORDER = list(STAGES.values())


@cache
def code(stage: str) -> bytes:
    return compile_glsl(f"#version 460\n{SOURCES[stage]}", stage, "vulkan1.2")


def rule(stages: frozenset[str]) -> str:
    """The rule that a set of stages breaks; empty if it breaks none."""
    if stages & {"task", "mesh"} and stages & {"vert", "tesc", "tese", "geom"}:
        return "pStages-02095"
    if "tesc" in stages and "tese" not in stages:
        return "pStages-00729"
    if "tese" in stages and "tesc" not in stages:
        return "pStages-00730"
    if "task" in stages and "mesh" not in stages:
        return "stage-02096"
    return ""


SETS = [frozenset(s) for n in range(1, 8) for s in itertools.combinations(ORDER, n)]
VALID = [s for s in SETS if not rule(s)]


def test_how_many_there_are() -> None:
    assert len(SETS) == 127
    assert {frozenset(s.split()) for s in (
        "vert", "vert frag", "vert tesc tese", "vert tesc tese frag", "vert geom",
        "vert geom frag", "vert tesc tese geom", "vert tesc tese geom frag", "mesh",
        "mesh frag", "task mesh", "task mesh frag", "frag",
    )} < set(VALID)  # fmt: skip
    # the rest are parts of a pipeline whose vertex shader is not here
    assert len(VALID) == 19


PER_PRIMITIVE = """#extension GL_EXT_mesh_shader : require
layout(location = 0) perprimitiveEXT {}; layout(location = 0) out vec4 o;
void main() {{ o = vec4({}); }}"""


@pytest.mark.parametrize("place", ("flat in uvec4 v", "in Block { flat uvec4 v; } b"))
def test_only_a_mesh_stage_writes_per_primitive(place: str) -> None:
    use = "b.v" if "Block" in place else "v"
    frag = compile_glsl("#version 460\n" + PER_PRIMITIVE.format(place, use), "frag", "vulkan1.2")
    out = "layout(location = 0) flat out uvec4 v; void main() { v = uvec4(1); }"
    vert = compile_glsl(f"#version 460\n{out}", "vert", "vulkan1.2")
    with pytest.raises(spvlink.BadSpirv, match=r"v is per primitive, and the vert stage is no"):
        spvlink.link([vert, Source(frag, "p.frag")])
    assert spvlink.link([frag]).defect is None


@pytest.mark.parametrize("stages", SETS, ids=lambda s: " ".join(sorted(s, key=ORDER.index)))
def test_every_set_of_stages(stages: frozenset[str]) -> None:
    sources = [Source(code(s), f"{s}.spv") for s in sorted(stages, reverse=True)]
    broken = rule(stages)
    if not broken:
        linked = spvlink.link(sources)
        assert linked.defect is None
        assert [s.stage for s in linked.stages] == sorted(stages, key=ORDER.index)
        return
    with pytest.raises(spvlink.BadSpirv) as caught:
        spvlink.link(sources)
    assert f"VUID-VkGraphicsPipelineCreateInfo-{broken}" in str(caught.value)
    assert caught.value.file in {f"{s}.spv" for s in stages}


@pytest.mark.parametrize("stage", ORDER)
def test_one_stage_twice(stage: str) -> None:
    with pytest.raises(spvlink.BadSpirv, match="VUID-VkGraphicsPipelineCreateInfo-stage-06897"):
        spvlink.link([code(stage)] * 2)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["vert", "mesh", "frag"]
    for name in names:
        (tmp_path / f"a.{name}.spv").write_bytes(code(name))
    files = [str(tmp_path / f"a.{name}.spv") for name in names]
    assert cli.main(["link", *files, "-o", str(tmp_path / "out")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line == (
        f"spvlink: error: {files[1]}: a mesh stage beside a vert stage"
        " (VUID-VkGraphicsPipelineCreateInfo-pStages-02095)"
    )
    assert not (tmp_path / "out").exists()


def test_the_registry_has_these_rules() -> None:
    """As installed with the validation layers."""
    path = Path("/usr/share/vulkan/registry/validusage.json")
    if not path.exists():
        pytest.skip("no registry of Vulkan's rules")
    text = json.dumps(json.loads(path.read_text())["validation"]["VkGraphicsPipelineCreateInfo"])
    for name in {rule(s) for s in SETS} - {""} | {"stage-06897"}:
        assert f"VUID-VkGraphicsPipelineCreateInfo-{name}" in text


def test_the_layer_lets_it_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pipeline may be is no matter between us and the application."""
    request = wire.Request()
    request.key = bytes(32)
    for name in ("vert", "mesh", "frag"):
        stage = wire.RequestStage()
        stage.bit, stage.entry, stage.code = STAGE_BITS[name], "main", code(name)
        request.stages.append(stage)
    monkeypatch.setattr(wire, "read_key", lambda data: (request.key, b""))
    monkeypatch.setattr(wire, "read_request", lambda data: request)
    answer = work.answer(b"")
    assert wire.status_of(answer) == wire.PASSED_THROUGH
    assert b"pStages-02095" in answer
