"""``spvlink check --potential``: what is unread module by module, and what sharing costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import cli
from spvlink.entry import count
from spvlink.grammar import enums
from spvlink.link.check.interface import declared
from tests.support.batch_sets import batch, result_lines, write_lines
from tests.support.linking import module_of
from tests.support.samples import compile_glsl

VERT = """#version 450
layout(location = 0) out vec4 colour;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec2 uv;
layout(location = 3) out vec2 never;
void main() { gl_Position = vec4(0); float x = gl_VertexIndex;
  colour = vec4(x); normal = vec3(x * 2); uv = vec2(x * 3); never = vec2(x * 4); }
"""
READS = {
    "all": "colour + normal.xyzx + uv.xyxy",
    "colour": "colour",
    "half": "colour.xxyy + uv.xyxy",
    "half again": "colour.xyxy - uv.xyxy",
}
FRAG = """#version 450
layout(location = 0) in vec4 colour;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 target;
void main() {{ target = {}; }}
"""
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("potential")
    (made / "a.vert.spv").write_bytes(compile_glsl(VERT, "vert"))
    for name, reads in READS.items():
        (made / f"{name}.frag.spv").write_bytes(compile_glsl(FRAG.format(reads), "frag"))
    lines: list[dict[str, Any]] = [
        {"id": name, "stages": [{"file": "a.vert.spv"}, {"file": f"{name}.frag.spv"}]}
        for name in READS
    ]
    lines.append({"id": "depth", "complete": True, "stages": [{"file": "a.vert.spv"}]})
    lines.append(lines[1] | {"id": "colour, once more"})
    write_lines(made / "set.jsonl", lines)
    return made


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: object) -> Any:
        assert cli.main(["check", "--potential", "--json", *map(str, words)]) == 0
        return json.loads(capsys.readouterr().out)["potential"]

    return asked


def test_a_set_that_shares_its_vertex_shader(folder: Path, ask: Ask) -> None:
    found = ask(folder / "set.jsonl")
    module = next(m for m in found["modules"] if m["stage"] == "vert")
    # of 11 components 2 are read by nobody; the others drop 0, 5 (twice), 5 (twice), 9 more
    assert {k: v for k, v in module.items() if k != "stays"} == {
        "module": "a.vert.spv",
        "stage": "vert",
        "pipelines": 6,
        "outputs": 11,
        "unread_by_all": 2,
        "unread_by_some": 11,
        "versions": 4,
        "kept": 29,
        "inputs": 0,
        "inputs_never_read": 0,
        "most": {
            "outputs": 11, "output_locations": 4, "inputs": 0, "input_locations": 0,
            "instructions": 20,
        },
    }  # fmt: skip
    stays = {(s["name"], s["component"]): s["read_by"] for s in module["stays"]}
    assert stays["normal", 0] == 1 and stays["uv", 1] == 3 and stays["colour", 3] == 3
    assert {s["of"] for s in module["stays"]} == {6}
    assert found["pipelines"] == [
        {"pipeline": "depth", "components": 9, "locations": 3},
        {"pipeline": "colour", "components": 5, "locations": 2},
        {"pipeline": "colour, once more", "components": 5, "locations": 2},
        {"pipeline": "half", "components": 5, "locations": 1},
        {"pipeline": "half again", "components": 5, "locations": 1},
    ]


def test_versions_of_their_own_drop_what_is_said(folder: Path, ask: Ask) -> None:
    """Linking each pipeline drops what one version for all would have kept, and what none reads."""
    said = {p["pipeline"]: p["components"] for p in ask(folder / "set.jsonl")["pipelines"]}
    vert = (folder / "a.vert.spv").read_bytes()
    for name in READS:
        frag = (folder / f"{name}.frag.spv").read_bytes()
        # only what is dead: nothing moves, and nothing is said twice
        off = ("backward", "forward", "dedup", "compact", "propagate")
        linked = spvlink.link([vert, frag], disable=off, validate=False)
        gone = {c for r in linked.remarks if r.action == "removed" for c in r.cells[0]}
        assert len(gone) == 2 + said.get(name, 0)


def test_what_sharing_costs_is_what_links_say(folder: Path, ask: Ask) -> None:
    """The difference of ``batch --variants 1`` and ``all``, pipeline by pipeline."""
    found = ask(folder / "set.jsonl")
    told = {p["pipeline"]: p for p in found["sharing"]}
    left: list[dict[str, tuple[int, int]]] = []
    for variants in ("1", "all"):
        out = folder / variants
        batch(folder / "set.jsonl", "-o", out, "--variants", variants, "--no-validate")
        left.append({})
        for line in result_lines(out):
            files = [(out / stage["file"]).read_bytes() for stage in line["stages"]]
            outputs = declared(module_of(files[0]), enums.StorageClass_Output)
            covered = {place for one in outputs for place in one.covers}
            size = len(covered), sum(count(module_of(code))[1] for code in files)
            left[-1][line["id"]] = size
    for name, (components, code) in left[0].items():
        own = left[1][name]
        said = told.get(name, {"components": 0, "instructions": 0})
        assert said["components"] == components - own[0]
        assert said["instructions"] == code - own[1] or name not in told
    assert told["depth"]["components"] == 3 and len(told) >= 4
    order = [(-p["components"], -p["locations"], -p["instructions"]) for p in found["sharing"]]
    assert order == sorted(order)
    (family,) = found["families"]
    assert family["pipelines"] == 6
    for figure in ("components", "locations", "instructions"):
        more = sum(p[figure] for p in found["sharing"])
        assert family["shared"][figure] - family["own"][figure] == more


def test_inputs_that_a_module_never_reads(folder: Path, ask: Ask) -> None:
    found = ask(folder / "a.vert.spv", folder / "half.frag.spv")
    frag = next(m for m in found["modules"] if m["stage"] == "frag")
    assert (frag["inputs"], frag["inputs_never_read"]) == (9, 5)
    assert found["pipelines"] == []  # nothing is shared


def test_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "--potential", str(folder / "set.jsonl")]) == 0
    text = capsys.readouterr().out
    assert "normal stays: read by 1 of 6\n" in text
    assert "3 components, 1 Locations, 7 instructions: depth\n" in text
    assert cli.main(["check", str(folder / "set.jsonl")]) == 0
    assert "stays" not in capsys.readouterr().out
    pair = [str(folder / "a.vert.spv"), str(folder / "all.frag.spv")]
    assert cli.main(["check", "--potential", *pair]) == 0
    assert "sharing modules costs nothing" in capsys.readouterr().out
