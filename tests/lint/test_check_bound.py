"""The bound of what linking can win of a module (``lint/bound``): true, and not for nothing."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.lint.bound import Bound
from spvlink.lint.stage import load
from spvlink.pipeline import Linked
from spvlink.sets.link_set import link_set
from tests.support.chains import NAMES, build
from tests.support.linking import fragment, vertex
from tests.support.random_sets import make
from tests.support.samples import compile_glsl


@cache
def bound(code: bytes) -> Bound:
    return Bound(load(code, None, {}))


def holds(codes: list[bytes], linked: Linked) -> None:
    """No stage wins more than its bound."""
    bounds = [bound(code) for code in codes]
    for at, (stage, most) in enumerate(zip(linked.stages, bounds)):
        assert stage.body[0] == most.body
        behind = linked.stages[at + 1].stage if at + 1 < len(linked.stages) else "frag"
        won = stage.body[0] - stage.body[1]
        assert won <= most.instructions(behind == "frag"), stage.stage
    for at, border in enumerate(linked.interfaces[: len(codes) - 1]):
        if border.producer == "task":
            continue  # words of a payload
        before, after = border.components
        assert before - after <= bounds[at].outputs
        assert border.locations[0] - border.locations[1] <= bounds[at].output_locations
        assert border.read[0] - border.read[1] <= bounds[at + 1].input_locations


@pytest.mark.parametrize("name", NAMES)
def test_no_link_of_ours_wins_more(name: str) -> None:
    codes = [*build(name)]
    for exact, clean in ((False, False), (True, False), (False, True)):
        linked = spvlink.link(codes, validate=False, exact=exact, clean=clean)
        holds(codes, linked)


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_no_set_wins_more(seed: int) -> None:
    rows = make(seed, False)
    for linked, (sources, _) in zip(link_set(rows).pipelines, rows):
        assert isinstance(linked, Linked)
        holds([source.data for source in sources], linked)


def test_no_batch_wins_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The set of ``shaders/``, as a command: what each pipeline wins is at most the sum over its
    modules."""
    root = Path(__file__).resolve().parents[2]
    archive, report = str(root / "examples/batch/shaders.foz"), tmp_path / "report.json"
    words = ["batch", archive, "-o", str(tmp_path / "out.foz"), "--report", str(report)]
    assert cli.main([*words, "--no-validate", "--progress", "never"]) == 0
    told = json.loads(report.read_text())
    cli.main(["check", archive, "--potential", "--json"])
    found = json.loads(capsys.readouterr().out)["potential"]
    most = {m["module"]: m["most"] for m in found["modules"]}
    seen = 0
    for line in told["pipelines"]:
        if line["kind"] != "linked" or not set(line["stages"]) <= most.keys():
            continue
        if any(name.startswith("task") for name in line["stages"]):
            continue
        for figure, of in (("components", "outputs"), ("locations", "output_locations")):
            won = line[figure][0] - line[figure][1]
            assert won <= sum(most[name][of] for name in line["stages"])
            seen += won > 0
    assert seen > 100


def test_what_stays() -> None:
    """A position without varyings, what is captured, and a texel that no input decides about."""
    text = (
        "layout(push_constant) uniform P { mat4 m; } pc;\n"
        "layout(location = 0) out vec4 t;\n"
        "layout(location = 1, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out vec4 held;\n"
        "void main() { t = sin(p); held = cos(p); gl_Position = pc.m * (p + 1.0); }"
    )
    most = bound(vertex(text))
    assert (most.outputs, most.output_locations) == (4, 1)
    # before fragments the sum, the product and the store stay, beside a label and a return
    assert most.instructions(False) - most.instructions(True) == 3
    both = (
        "layout(location = 0) in vec4 v;\nlayout(set = 0, binding = 0) uniform sampler2D s;\n"
        "void main() {{ {} o = texture(s, gl_FragCoord.xy) * 2.0{}; }}"
    )
    made = [bound(fragment(both.format("", more))) for more in ("", " + v")]
    assert [one.body - one.instructions(True) for one in made] == [5, 3]


def test_what_an_input_decides_about() -> None:
    """Nothing behind a discard that depends on an input is sure to stay, nor in an arm."""
    text = (
        "layout(location = 0) in vec4 v;\nlayout(push_constant) uniform P {{ vec4 a; }} pc;\n"
        "void main() {{ {} o = sin(pc.a) * 2.0; }}"
    )
    left = [
        b.body - b.instructions(True)
        for b in (
            bound(fragment(text.format(code)))
            for code in ("", "if (v.x < 0.0) discard;", "if (pc.a.x < 0.0) discard;")
        )
    ]
    assert left == [5, 2, 5]


def test_what_has_no_neighbour() -> None:
    """Attributes come from no stage, and colours go to none."""
    ends = "layout(location = 5) in vec4 a; layout(location = 0) out vec4 b; "
    first = bound(vertex(ends + "void main() { b = a + p; gl_Position = p; }"))
    last = bound(fragment("layout(location = 1) in vec4 a; void main() { o = a; }"))
    for most, inputs, outputs in ((first, 0, 1), (last, 1, 0)):
        assert (most.inputs, most.input_locations) == (4 * inputs, inputs)
        assert (most.outputs, most.output_locations) == (4 * outputs, outputs)


# What a shader does -> its instructions that stay for certain, beside a label and a return.
SURE = {
    "a phi of uniforms counts as one of inputs": (
        "float x = pc.a.x; if (pc.a.y > 0.0) x = sin(x); o = vec4(x * 2.0);", 1),
    "a specialization constant may be known": ("o = pc.a * float(S);", 1),
    "one that is written over": ("o = sin(pc.a); if (pc.a.x > 0.0) o = cos(pc.a);", 1),
    "a load by itself is nothing": ("o = pc.a;", 1),
    "a store and its value": ("o = sin(pc.a);", 2),
    "a write to memory": ("m.v = pc.a; o = pc.a;", 2),
    "two writes to a buffer": ("m.v = pc.a; m.n = 7u; o = pc.a;", 3),
    "a write to an image": ("imageStore(i, ivec2(0), pc.a); o = pc.a;", 2),
    "a local array": (
        "vec4 x[2]; x[uint(pc.a.x) & 1u] = pc.a; o = x[uint(pc.a.y) & 1u];", 1),
    "an arm that a uniform decides about": ("if (pc.a.x > 0.0) o = pc.a;", 1),
    "an arm that a specialization constant decides about": ("if (S > 3) o = pc.a;", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", SURE)
def test_what_is_sure_to_stay(name: str) -> None:
    body, count = SURE[name]
    text = (
        "layout(constant_id = 0) const int S = 3;\n"
        "layout(push_constant) uniform P { vec4 a; } pc;\n"
        "layout(set = 0, binding = 0) buffer M { vec4 v; uint n; } m;\n"
        "layout(set = 0, binding = 1, rgba32f) uniform writeonly image2D i;\nvoid main() { %s }"
    )
    most = bound(fragment(text % body))
    assert most.body - most.instructions(True) == count + 2


def stays(text: str, stage: str) -> list[int]:
    """What stays without fragments behind the stage, and with them."""
    most = bound(compile_glsl("#version 460\n" + text, stage, "vulkan1.2"))
    return [most.body - most.instructions(fixed) for fixed in (False, True)]


def test_a_whole_struct_beside_a_position() -> None:
    text = (
        "layout(location = 0) in vec4 p; struct S { vec4 x; vec4 y; };\n"
        "layout(location = 0) out S s; void main() { gl_Position = vec4(1.0); s = S(p, p); }"
    )
    assert stays(text, "vert") == [2, 3]


def test_levels_stay_and_positions_of_patches_do_not() -> None:
    text = (
        "layout(vertices = 3) out; void main() { gl_TessLevelInner[0] = 2.0;\n"
        "gl_out[gl_InvocationID].gl_Position = vec4(1.0); }"
    )
    assert stays(text, "tesc") == [3, 3]


def test_nothing_of_a_mesh_is_known_to_stay() -> None:
    text = (
        "#extension GL_EXT_mesh_shader : require\n"
        "layout(local_size_x = 1) in;\n"
        "layout(triangles, max_vertices = 3, max_primitives = 1) out;"
        "void main() { SetMeshOutputsEXT(3, 1); gl_MeshVerticesEXT[0].gl_Position = vec4(1.0);\n"
        "gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2); }"
    )
    assert stays(text, "mesh")[0] == stays(text, "mesh")[1]
