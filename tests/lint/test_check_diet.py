"""``spvlink check --diet``: what no pipeline reads of attributes, uniform buffers and push
constants, against shaders of which it is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spvlink import cli
from spvlink.binary.decode import decode
from spvlink.entry import select_entry
from spvlink.lint.attribute_use import narrower
from spvlink.lint.buffer_bytes import buffers_of, runs
from tests.archive.writing import RECORDED
from tests.support.batch_sets import write_lines
from tests.support.samples import compile_glsl, edited

VERTEX = """#version 450
layout(location = 0) in vec4 place;
layout(location = 1) in vec4 tint;
layout(location = 2) in ivec3 never;
layout(location = 3) in vec2 dead;
layout(location = 4) in mat2 turn;
layout(location = 6) in dvec3 wide;
layout(location = 0) out vec4 colour; layout(location = 1) out vec2 unread;
void main() {
    gl_Position = vec4(turn[1], float(wide.z), place.x);
    colour = vec4(tint.xy, 0, 1);
    unread = dead;
}
"""
FRAGMENT = """#version 450
layout(location = 0) in vec4 colour; layout(location = 0) out vec4 result;
void main() { result = colour; }
"""
BOTH = FRAGMENT.replace("in vec4 colour;", "in vec4 colour; layout(location = 1) in vec2 unread;")
BOTH = BOTH.replace("= colour", "= colour + unread.xyxy")


def buffer_shader(block: str, code: str, more: str = "") -> bytes:
    return compile_glsl(
        f"#version 450\n{more}\nlayout(set = 1, binding = 2, std140) uniform Block {{ {block} }} u;"
        "layout(location = 0) flat in int at; layout(location = 0) out vec4 result;"
        f"void main() {{ result = vec4({code}); }}",
        "frag",
    )


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.vert.spv").write_bytes(compile_glsl(VERTEX, "vert"))
    (tmp_path / "a.frag.spv").write_bytes(compile_glsl(FRAGMENT, "frag"))
    (tmp_path / "b.frag.spv").write_bytes(compile_glsl(BOTH, "frag"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def diet(capsys: pytest.CaptureFixture[str], *words: object, status: int = 0) -> dict[str, Any]:
    assert cli.main(["check", *map(str, words), "--diet", "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["diet"]
    return found


def attributes(found: dict[str, Any]) -> dict[int, tuple[str, str, str, list[str]]]:
    """Location -> components declared, read, read before, and the formats that would do."""
    return {
        one["location"]: (
            one["declared"], one["read"], one["read_before"],
            [format["enough"] for format in one["formats"]],
        )
        for one in found["attributes"]
    }  # fmt: skip


UNREAD = {
    0: ("xyzw", "x", "x", ["R32_SFLOAT"]),
    1: ("xyzw", "xy", "xy", ["R32G32_SFLOAT"]),
    2: ("xyz", "", "", [""]),
    3: ("xy", "", "xy", [""]),
    4: ("xy", "", "", [""]),
    6: ("xyz", "z", "z", ["R64G64B64_SFLOAT"]),
}


def test_attributes_of_stage_files(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Attribute 3 feeds a varying that nobody reads: the modules as they came read it."""
    found = diet(capsys, "a.vert.spv", "a.frag.spv")
    assert attributes(found) == UNREAD
    assert (found["pipelines"], found["skipped"]) == (1, 0)
    assert [one["names"] for one in found["attributes"]][:2] == [["place"], ["tint"]]


def test_of_a_set_all_pipelines_count(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"id": name, "stages": [{"file": "a.vert.spv"}, {"file": f"{name}.frag.spv"}]}
        for name in ("a", "b")
    ]
    found = diet(capsys, write_lines(work / "set.jsonl", lines))
    assert attributes(found) == {n: one for n, one in UNREAD.items() if n != 3}
    assert {tuple(one["pipelines"]) for one in found["attributes"]} == {("a", "b")}
    lines.append({"id": "gone", "stages": [{"file": "missing.spv"}]})
    found = diet(capsys, write_lines(work / "set.jsonl", lines), status=1)
    assert (found["pipelines"], found["skipped"]) == (2, 1)


def test_formats_of_the_state(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Formats that give more than the shaders declare, in bytes, in words; what no shader has."""
    given = {
        0: "R32G32B32A32_SFLOAT", 1: "R8G8B8A8_UNORM", 2: 109, 3: "R16G16_SFLOAT",
        5: "R32G32B32A32_SFLOAT", 9: "R32_SFLOAT",
    }  # fmt: skip
    state = {
        "version": 1,
        "vertexAttributes": [{"location": at, "format": one} for at, one in given.items()],
    }
    line = {"id": "a", "state": state}
    line["stages"] = [{"file": "a.vert.spv"}, {"file": "a.frag.spv"}]
    found = diet(capsys, write_lines(work / "set.jsonl", [line]))
    formats = {one["location"]: one["formats"] for one in found["attributes"]}
    told = {at: [(f["given"], f["enough"]) for f in formats[at]] for at in given}
    assert told == {
        0: [("R32G32B32A32_SFLOAT", "R32_SFLOAT")],
        1: [("R8G8B8A8_UNORM", "R8G8_UNORM")],
        2: [("R32G32B32A32_SFLOAT", "")],
        3: [("R16G16_SFLOAT", "")],
        5: [("R32G32B32A32_SFLOAT", "R32G32_SFLOAT")],
        9: [("R32_SFLOAT", "")],
    }


def test_the_formats_of_an_archive(capsys: pytest.CaptureFixture[str]) -> None:
    found = diet(capsys, RECORDED)
    given = [f["given"] for one in found["attributes"] for f in one["formats"]]
    assert found["pipelines"] > 3 and given, found
    assert all(name is not None for name in given)


@pytest.mark.parametrize(
    "format, read, enough",
    [
        ("R32G32B32A32_SFLOAT", 0b0111, "R32G32B32_SFLOAT"),
        ("R32G32B32A32_SFLOAT", 0b1000, None),
        ("R16G16B16A16_SNORM", 0b0111, None),  # few devices have three of 16 bits
        ("R8G8B8_UNORM", 0b0011, "R8G8_UNORM"),
        ("R8G8B8_UNORM", 0b1111, None),
        ("B8G8R8A8_UNORM", 0b0001, "R8_UNORM"),
        ("A2B10G10R10_UNORM_PACK32", 0b0001, None),
        ("B10G11R11_UFLOAT_PACK32", 0, ""),
        (7777, 0b0001, None),
        (109, 0b0001, "R32_SFLOAT"),
    ],
)
def test_narrower(format: int | str, read: int, enough: str | None) -> None:
    assert narrower(format, read) == enough


# -- buffers ---------------------------------------------------------------------------------------


BLOCKS: dict[str, tuple[str, str, str, list[tuple[int, int]], list[tuple[int, int]]]] = {
    # name: members, what is read, more declarations, bytes declared, bytes read
    "scalars": ("float a; vec2 b; vec4 c;", "u.b.y", "", [(0, 3), (8, 31)], [(12, 15)]),
    "an element": ("float a[4];", "u.a[2]", "",
                   [(0, 3), (16, 19), (32, 35), (48, 51)], [(32, 35)]),
    "a dynamic index": ("vec2 a[3]; vec4 b;", "u.a[at].y", "",
                        [(0, 7), (16, 23), (32, 39), (48, 63)],
                        [(4, 7), (20, 23), (36, 39)]),
    "a column": ("mat3 a;", "u.a[1].z", "", [(0, 11), (16, 27), (32, 43)], [(24, 27)]),
    "a row": ("layout(row_major) mat3x2 a;", "u.a[1].y", "", [(0, 11), (16, 27)], [(20, 23)]),
    "a dynamic column": ("mat2 a; mat2 b;", "u.b[at].x", "",
                         [(0, 7), (16, 23), (32, 39), (48, 55)], [(32, 35), (48, 51)]),
    "a whole matrix": ("vec4 z; mat2 a;", "(u.a * vec2(1)).x", "",
                       [(0, 23), (32, 39)], [(16, 23), (32, 39)]),
    "structs": ("S s[2]; float b;", "u.s[1].y.z", "struct S { float x; vec3 y; };",
                [(0, 3), (16, 27), (32, 35), (48, 59), (64, 67)], [(56, 59)]),
    "a struct in a function": ("S s; float b;", "f(u.s)",
                               "struct S { float x; float y; }; float f(S s) { return s.x; }",
                               [(0, 7), (16, 19)], [(0, 7)]),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_bytes(name: str) -> None:
    block, code, more, declared, read = BLOCKS[name]
    module = decode(buffer_shader(block, code, more))
    module.entry = select_entry(module, None, "frag")
    ((key, use),) = buffers_of(module).items()
    assert (key, runs(use.declared), runs(use.read)) == ((1, 2), declared, read)


def test_what_is_unknown_is_read() -> None:
    """An array without stride, and a block of the storage kind."""
    module = decode(edited(buffer_shader("float a[4];", "u.a[2]"), (r".*ArrayStride.*\n", "")))
    module.entry = select_entry(module, None, "frag")
    (use,) = buffers_of(module).values()
    assert use.declared == 0 and use.read == -1
    stored = compile_glsl(
        "#version 450\nlayout(binding = 0) buffer B { vec4 a; vec4 b; } u;"
        "layout(location = 0) out vec4 result; void main() { result = u.a; }",
        "frag",
    )
    module = decode(stored)
    module.entry = select_entry(module, None, "frag")
    assert buffers_of(module) == {}


def test_runs() -> None:
    assert runs(0) == [] and runs(0b1) == [(0, 0)]
    assert runs(0b0110_0011) == [(0, 1), (5, 6)]
    assert runs(0b0110_0011, gaps=0b0001_1100) == [(0, 6)]
    assert runs(0b0110_0011, gaps=0b0001_0100) == [(0, 1), (5, 6)]


def test_buffers_of_a_pipeline(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One buffer of two stages; bytes that only a dead varying needs; push constants."""
    scene = "layout(set = 1, binding = 2) uniform Scene { vec4 a; vec4 b; vec4 c; vec4 d; } u;"
    vertex = f"""#version 450
    {scene} layout(push_constant) uniform Push {{ vec4 p; vec4 q; }} push;
    layout(location = 0) in vec4 place;
    layout(location = 0) out vec4 colour; layout(location = 1) out vec4 unread;
    void main() {{ gl_Position = place * u.a; colour = place * push.q; unread = place * u.b; }}"""
    fragment = FRAGMENT.replace("void", f"{scene} void").replace("= colour", "= colour + u.d.x")
    (work / "a.vert.spv").write_bytes(compile_glsl(vertex, "vert"))
    (work / "a.frag.spv").write_bytes(compile_glsl(fragment, "frag"))
    push, buffer = diet(capsys, "a.vert.spv", "a.frag.spv")["buffers"]
    assert (push["set"], push["binding"], push["unread"]) == (None, None, [[0, 15]])
    assert (buffer["set"], buffer["binding"], buffer["bytes"]) == (1, 2, 64)
    assert buffer["unread"] == [[16, 47], [52, 63]]
    assert buffer["unread_before"] == [[32, 47], [52, 63]]
    assert {one["name"]: one["unread"] for one in buffer["members"]} == {"b": 16, "c": 16, "d": 12}


def test_text(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is information: the exit status stays. Without the option nothing is said of it."""
    assert cli.main(["check", "a.vert.spv", "a.frag.spv", "--diet"]) == 0
    text = capsys.readouterr().out
    assert {"R32_SFLOAT", "R32G32_SFLOAT", "1.zw", "0.yzw", ".xy"} <= set(text.split())
    assert cli.main(["check", "a.vert.spv", "a.frag.spv"]) == 0
    assert "R32_SFLOAT" not in capsys.readouterr().out
    assert cli.main(["check", "a.vert.spv", "a.frag.spv", "--json"]) == 0
    assert "diet" not in json.loads(capsys.readouterr().out)
