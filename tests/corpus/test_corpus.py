"""scripts/corpus: finds shaders, gives lonely stages a partner, and sees what a wrong link does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import spvlink
from spvlink.draw import mismatches
from tests.corpus import build, check, hunt
from tests.corpus.build import Code, Pipeline
from tests.corpus.check import DEFAULT, EQUAL, EXACT, LINKED, Verdict
from tests.corpus.find import groups, unpack
from tests.support import chains
from tests.support.samples import compile_glsl, disassemble, edited

ROOT = Path(__file__).resolve().parents[2]

VERTEX = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec3 tone;
layout(location = 0) out vec3 colour;
layout(location = 1) out vec4 lost;
void main() { gl_Position = position; colour = tone; lost = position * 2.0; }
"""
FRAGMENT = """#version 450
layout(location = 0) in vec3 colour;
layout(location = 1) in vec4 lost;
layout(location = 0) out vec4 result;
void main() { result = vec4(sin(colour) + colour.zyx, 1.0); }
"""
AMBER = f"""#!amber
SHADER vertex pass PASSTHROUGH
SHADER vertex v GLSL
{VERTEX}END
SHADER fragment f GLSL TARGET_ENV spv1.3
{FRAGMENT}END
SHADER compute c GLSL
#version 450
void main() {{}}
END
PIPELINE compute no
  ATTACH c
END
PIPELINE graphics yes
  ATTACH v
  ATTACH f
END
"""
SLANG = """#version 450
#pragma parameter WIDTH "Width" 1.0 0.0 2.0 0.1
#include "common.inc"
#pragma stage vertex
layout(location = 0) in vec4 Position;
layout(location = 0) out vec2 at;
void main() { gl_Position = Position; at = Position.xy * SCALE; }
#pragma stage fragment
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 color;
void main() { color = vec4(at, SCALE, 1.0); }
"""


@pytest.fixture(scope="module")
def pair() -> tuple[Code, ...]:
    return (
        (compile_glsl(VERTEX, "vert"), "main"),
        (compile_glsl(FRAGMENT, "frag"), "main"),
    )


def made(folder: Path, scratch: Path) -> dict[str, Pipeline]:
    """The pipelines of a folder, by name; none may be skipped."""
    found = {}
    for group in groups(folder, "test"):
        for pipeline in build.pipelines(group, scratch):
            assert isinstance(pipeline, Pipeline), pipeline
            found[pipeline.name] = pipeline
    return found


# --- finding ---


def test_files_of_several_shaders(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.amber").write_text(AMBER)
    (folder / "b.slang").write_text(SLANG)
    (folder / "common.inc").write_text("#define SCALE 0.5\n")
    found = made(folder, tmp_path)
    assert {name: p.stages for name, p in found.items()} == {
        "a.amber:yes": ("vert", "frag"),
        "b.slang": ("vert", "frag"),
    }
    assert not any(p.made for p in found.values())


def test_neighbours_by_name(tmp_path: Path) -> None:
    """A text and a module of one stem belong together; the source of a module is not used."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "x.vert").write_text(VERTEX)
    (folder / "x.frag").write_text("no GLSL: its module counts")
    (folder / "x.frag.spv").write_bytes(compile_glsl(FRAGMENT, "frag"))
    (folder / "y.comp.spv").write_bytes(
        compile_glsl("#version 450\nlayout(local_size_x = 1) in; void main() {}", "comp")
    )
    (folder / "z.frag").write_text("#version 450\nvoid main() { broken }")
    by_name = {group.name: group for group in groups(folder, "test")}
    assert sorted(by_name) == ["./x", "./y.comp", "./z"]
    (chain,) = build.pipelines(by_name["./x"], tmp_path)
    assert isinstance(chain, Pipeline) and chain.stages == ("vert", "frag") and not chain.made
    others = (by_name["./y.comp"], by_name["./z"])
    reasons = [str(reason) for g in others for reason in build.pipelines(g, tmp_path)]
    assert reasons == ["compute only", "glslangValidator does not compile it"]


def test_text_of_several_modules(tmp_path: Path, pair: tuple[Code, ...]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    text = ";\n; one\n;\n".join(disassemble(data) for data, _ in pair)
    (folder / "both.spvasm").write_text(text)
    (chain,) = made(folder, tmp_path).values()
    assert chain.stages == ("vert", "frag") and not chain.made


def test_snapshot(tmp_path: Path) -> None:
    """Of a git directory the newest commit counts, and only shaders are taken out."""
    work = tmp_path / "work"
    shutil.copytree(chains.SHADERS / "meshlets", work / "meshlets")
    (work / "readme.txt").write_text("no shader")
    git = ["git", "-C", str(work), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    folder = unpack(work / ".git", tmp_path / "out")
    assert {p.suffix for p in folder.rglob("*") if p.is_file()} == {".mesh", ".frag"}
    with pytest.raises(OSError, match="not a git repository"):
        unpack(tmp_path / "nothing", tmp_path / "out")


# --- partners ---

ALONE = [
    ("water", "vert"), ("water", "frag"), ("pn_triangles", "tesc"), ("pn_triangles", "tese"),
    ("fur_shells", "geom"), ("meshlets", "mesh"), ("mobile_card", "vert"), ("star_atlas", "frag"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "stage"), ALONE, ids=lambda word: str(word))
def test_lonely_stage_gets_partners(name: str, stage: str, tmp_path: Path) -> None:
    """They fit, spirv-val takes them, and the whole is linked, equal to what it was."""
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(chains.SHADERS / name / f"{name}.{stage}", folder)
    (pipeline,) = made(folder, tmp_path).values()
    assert pipeline.made and stage not in pipeline.made
    assert not mismatches(pipeline.codes)
    verdict = check.check(pipeline.codes, EXACT, True, None)
    assert verdict.outcome == LINKED and not verdict.findings
    assert verdict.drawn in (EQUAL, check.FOLDED)


BLOCKS = {
    "vert": """#version 450
struct Pair { vec2 m; float n[2]; };
layout(location = 0) out Data { vec3 a; mat2 b; flat ivec2 c; } data;
layout(location = 5) flat out uint d[2];
layout(location = 8) out Pair e;
layout(location = 11, component = 1) out vec2 f;
layout(location = 11, component = 3) out float g;
layout(location = 0) in vec4 p;
void main() {
    gl_Position = p; data.a = p.xyz; data.b = mat2(p.xyzw); data.c = ivec2(p.xy * 9.0);
    d[0] = 3; d[1] = uint(p.x * 5.0); e.m = p.zw; e.n[0] = p.x; e.n[1] = 1.0; f = p.yx; g = p.z;
}
""",
    "frag": """#version 450
struct Pair { vec2 m; float n[2]; };
layout(location = 0) in Data { vec3 a; mat2 b; flat ivec2 c; } data;
layout(location = 5) flat in uint d[2];
layout(location = 8) in Pair e;
layout(location = 11, component = 1) noperspective in vec2 f;
layout(location = 11, component = 3) noperspective in float g;
layout(location = 0) out vec4 color;
in float gl_ClipDistance[2];
void main() {
    color = vec4(data.a * g, e.n[1]) + vec4(data.b[0], f) * gl_ClipDistance[1];
    color.x += float(data.c.y) + float(d[0]) + e.m.y;
}
""",
}


@pytest.mark.parametrize("stage", BLOCKS)
@pytest.mark.parametrize("seed", range(3))
def test_partner_of_any_types(stage: str, seed: int, tmp_path: Path) -> None:
    """Blocks, structs, arrays, matrices and shared Locations on one side as on the other."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / f"x.{stage}").write_text(BLOCKS[stage])
    (group,) = groups(folder, "test")
    (pipeline,) = build.pipelines(group, tmp_path, seed)
    assert isinstance(pipeline, Pipeline), pipeline
    verdict = check.check(pipeline.codes, EXACT, True, None)
    assert (verdict.outcome, verdict.findings, verdict.drawn) == (LINKED, [], EQUAL)


# --- a check that can fail ---


def replaced(stage: int, new: Callable[[bytes], bytes]) -> check.Link:
    """A linker whose first answer has one module changed; the second link is honest."""
    done: list[bool] = []

    def linker(codes: Sequence[Code], exact: bool, disable: frozenset[str]) -> spvlink.Linked:
        linked = check.link(codes, exact, disable)
        if not done:
            linked.stages[stage].data = new(linked.stages[stage].data)
            done.append(True)
        return linked

    return linker


def wrong_sum(data: bytes) -> bytes:
    return edited(data, (r"OpFAdd", "OpFSub"))


def other_place(data: bytes) -> bytes:
    return edited(data, (r"Location 0\n", "Location 1\n"))


def not_valid(data: bytes) -> bytes:
    return edited(data, (r"OpCapability Shader\n", ""))


PLANTED = [
    (0, other_place, "border"),
    (1, wrong_sum, "different"),
    (1, not_valid, "invalid"),
]


@pytest.mark.parametrize("mode", [DEFAULT, EXACT])
@pytest.mark.parametrize(("stage", "change", "kind"), PLANTED, ids=[kind for *_, kind in PLANTED])
def test_wrong_link_is_found(
    stage: int, change: Callable[[bytes], bytes], kind: str, mode: str, pair: tuple[Code, ...]
) -> None:
    good = check.check(pair, mode, True, None)
    assert (good.outcome, good.findings, good.drawn) == (LINKED, [], EQUAL)
    bad = check.check(pair, mode, True, None, replaced(stage, change))
    assert kind in [kind for kind, _ in bad.findings]


def test_second_validator_counts(pair: tuple[Code, ...], tmp_path: Path) -> None:
    """One that refuses what became smaller, and takes the original."""
    program = tmp_path / "val"
    limit = min(len(data) for data, _ in pair) - 1
    program.write_text(f'#!/bin/sh\n[ $(wc -c) -gt {limit} ] || {{ echo "error: small"; exit 1; }}')
    program.chmod(0o755)
    verdict = check.check(pair, EXACT, False, str(program))
    assert ("invalid", "frag: newer: error: small") in verdict.findings


def test_second_link_counts(pair: tuple[Code, ...]) -> None:
    """A linker that leaves something over the first time."""
    verdict = check.check(pair, EXACT, False, None, replaced(0, lambda data: pair[0][0]))
    assert [kind for kind, _ in verdict.findings if kind == check.TWICE]


def test_debug_information_changes_no_code(pair: tuple[Code, ...], tmp_path: Path) -> None:
    """A linker that leaves alone what describes itself."""
    (tmp_path / "x.vert").write_text(VERTEX)
    (tmp_path / "x.frag").write_text(FRAGMENT)
    (group,) = groups(tmp_path, "test")
    (described,) = build.pipelines(group, tmp_path, debug=True)
    assert isinstance(described, Pipeline) and described.codes != pair

    def looks(codes: Sequence[Code], exact: bool, disable: frozenset[str]) -> spvlink.Linked:
        linked = check.link(codes, exact, disable)
        if b"NonSemantic" in codes[0][0]:
            linked.stages[0].data = codes[0][0]
        return linked

    assert not check.check(described.codes, EXACT, False, None).findings
    assert (check.DEBUG, "vert") in check.check(described.codes, EXACT, False, None, looks).findings


def test_refusal_and_defect_count(pair: tuple[Code, ...]) -> None:
    def refuses(codes: Sequence[Code], exact: bool, disable: frozenset[str]) -> spvlink.Linked:
        raise spvlink.BadSpirv("no")

    def breaks(codes: Sequence[Code], exact: bool, disable: frozenset[str]) -> spvlink.Linked:
        linked = check.link(codes, exact, disable)
        linked.defect = linked.passed_through = "broken"
        return linked

    assert check.check(pair, EXACT, False, None, refuses).findings == [(check.REFUSED_VALID, "no")]
    broken = check.check(pair, EXACT, False, None, breaks)
    assert (broken.outcome, broken.findings) == (check.DEFECT, [(check.DEFECT, "broken")])
    bad = ((pair[0][0], "main"), (not_valid(pair[1][0]), "main"))
    assert not check.check(bad, EXACT, False, None, refuses).findings


# --- many ---


def dies(codes: Sequence[Code], mode: str, drawing: bool, validator: str | None) -> Verdict:
    """What a driver does that chokes on the linked modules."""
    if drawing:
        os._exit(3)
    return Verdict(mode, LINKED)


def raises(codes: Sequence[Code], mode: str, drawing: bool, validator: str | None) -> Verdict:
    raise KeyError("oops")


@pytest.mark.parametrize(
    ("checker", "kind", "line"),
    [(dies, "different", "only the linked one"), (raises, "defect", "KeyError")],
    ids=["dies", "raises"],
)
def test_crash_is_found(checker: hunt.Check, kind: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "x.vert").write_text(VERTEX)
    (tmp_path / "x.frag").write_text(FRAGMENT)
    run = hunt.Hunt(hunt.Settings((EXACT,), draw=1), checker)
    ((_, verdict),) = run.run(groups(tmp_path, "test"))
    assert [found for found, _ in verdict.findings] == [kind]
    assert line in verdict.findings[0][1]
    row = next(text for text in run.table() if text.startswith("all"))
    assert row.split()[2:4] == ["1", str(int(kind == "different"))]


def test_command(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "x.vert").write_text(VERTEX)
    (folder / "x.frag").write_text(FRAGMENT)
    (folder / "copy.frag").write_text(FRAGMENT)
    (folder / "same.frag").write_text(FRAGMENT)
    command = [sys.executable, str(ROOT / "scripts" / "corpus")]
    done = subprocess.run(
        [*command, str(folder), "--draw", "1", "--json", str(tmp_path / "rows")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("in ")]
    assert {tuple(row[1:4]) for row in rows} == {("--exact", "2", "2"), ("default", "2", "2")}
    assert "1 pipelines with a stage written by us, 1 seen before" in done.stdout
    written = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert len(written) == 4 and all(0 <= row["seconds"] < 60 for row in written)
    nothing = subprocess.run(command, capture_output=True, text=True, check=False)
    assert nothing.returncode == 2 and "FOLDER" in nothing.stderr
