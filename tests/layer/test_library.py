"""libspvlink in a C program (library_calls.c): real linker processes, and the sanitizers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import spvlink
from spvlink.library.build import build_library
from tests.support.layer_place import ROOT, Place
from tests.support.samples import compile_glsl

VERTEX = """#version 450
layout(constant_id = 0) const int K = 0;
layout(set = 1, binding = 0) uniform U { vec4 tint; };
layout(push_constant) uniform P { vec4 a, b, c, d; };
layout(location = 0) in vec4 place;
layout(location = 0) out vec4 used;
layout(location = 1) out vec4 unused;
layout(location = 2) out vec4 same;
layout(location = 3) out vec4 sometimes;
void main() {
    gl_Position = place; used = place.wzyx * a; unused = place + 1.0;
    same = tint; sometimes = place * 3.0;
}
"""
FRAGMENT = """#version 450
layout(constant_id = 0) const int K = 0;
layout(location = 0) in vec4 used;
layout(location = 1) in vec4 unused;
layout(location = 2) in vec4 same;
layout(location = 3) in vec4 sometimes;
layout(location = 0) out vec4 colour;
void main() { colour = used * NUMBER + same; if (K == 1) colour += sometimes; }
"""
STATE_VERTEX = """#version 450
layout(location = 0) in vec4 place;
layout(location = 0) out vec4 red;
layout(location = 1) out vec4 second;
layout(location = 2) out vec4 behind;
layout(location = 3) centroid out vec4 middle;
void main() {
    gl_Position = place; gl_PointSize = place.y;
    red = place.wzyx * place; second = sqrt(place); behind = place / 3.0; middle = place.yyxx * 5.0;
}
"""
STATE_FRAGMENT = """#version 450
layout(location = 0) in vec4 red;
layout(location = 1) in vec4 second;
layout(location = 2) in vec4 behind;
layout(location = 3) centroid in vec4 middle;
layout(location = 0) out vec4 colour;
layout(location = 1) out vec4 more;
void main() {
    colour = vec4(red.x, red.y, middle.x, red.w);
    if (!gl_FrontFacing) colour.x += behind.x;
    more = second;
}
"""
# The states of library_calls.c, as the command reads them; None: no state.
BOTH: dict[str, object] = {"colorAttachments": [{"format": 37, "blendEnable": False}, None]}
PLAIN: dict[str, object] = {"alphaToCoverageEnable": False, "version": 1}
INPUT: dict[str, object] = {
    "vertexAttributes": [{"location": 0, "format": 103}], "rasterizationSamples": 1,
    "rasterizerDiscardEnable": False, "patchControlPoints": 1,
}  # fmt: skip
FIXED: dict[str, object] = {
    "sampleLocationsEnable": False, "conservativeRasterization": False,
    "fragmentShadingRate": False, "viewMask": 0, "cullMode": 2, "polygonMode": 0, "topology": 3,
    "viewportCount": 1,
}  # fmt: skip
MAY_BLEND = {
    "format": 37, "colorWriteMask": "R", "dstColorBlendFactor": 0, "colorBlendOp": 0,
    "dstAlphaBlendFactor": 0, "alphaBlendOp": 0,
}  # fmt: skip
STATES: list[dict[str, object] | None] = [
    None,
    None,
    None,
    BOTH | PLAIN,
    BOTH | PLAIN | {"colorAttachmentLocations": [1, 0]},
    BOTH | PLAIN | INPUT | FIXED,
    BOTH | PLAIN | INPUT,
    {"version": 1, "colorAttachments": [MAY_BLEND, {"format": 37, "blendEnable": False}]},
    PLAIN
    | {"colorAttachments": [{"colorWriteMask": "A", "blendEnable": False}, {"colorWriteMask": 0}]},
    {"version": 1, "rasterizerDiscardEnable": True},
]
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
C99 = ("-std=c99", "-D_POSIX_C_SOURCE=200809L", "-pedantic", "-Wall", "-Wextra", "-Werror", "-g")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    build_library(str(folder), spvlink.__version__, (*SANITIZERS, "-Wall", "-Wextra", "-Werror"))
    return folder


def compiled(built: Path, program: Path, *flags: str) -> Path:
    subprocess.run(
        ["cc", *C99, *flags, "-I", built / "include", "-o", program,
         ROOT / "tests" / "layer" / "library_calls.c", built / "lib" / "libspvlink.a", "-pthread"],
        check=True,
    )  # fmt: skip
    return program


@pytest.fixture(scope="session")
def calls(built: Path) -> Path:
    return compiled(built, built / "library_calls", *SANITIZERS)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / "a.vert.spv", *(folder / f"{i}.frag.spv" for i in range(6))]
    paths[0].write_bytes(compile_glsl(VERTEX, "vert"))
    for i, path in enumerate(paths[1:]):
        path.write_bytes(compile_glsl(FRAGMENT.replace("NUMBER", f"{i + 2}.0"), "frag"))
    return paths


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    made.variables["SPVLINK_IDLE_S"] = "5"
    yield made
    made.close()


def modules(out: Path) -> list[bytes]:
    paths = sorted(out.parent.glob(f"{out.name}.*"), key=lambda path: int(path.suffix[1:]))
    return [path.read_bytes() for path in paths]


def alone(vertex: Path, fragment: Path, **options: object) -> list[bytes]:
    linked = spvlink.link([vertex, fragment], spec_defaults=True, complete=True, **options)  # type: ignore[arg-type]
    return [stage.data for stage in linked.stages]


def test_a_program_gets_the_modules_that_the_command_writes(
    calls: Path, files: list[Path], home: Place, tmp_path: Path
) -> None:
    said = home.program(str(calls), "link", *map(str, files[:2]), OUT=str(tmp_path / "out"))
    assert said.startswith("1 4 -> "), said
    assert modules(tmp_path / "out") == alone(*files[:2])
    log = home.log()
    assert log["program"] == "library_calls" and log["linked"] == 1 and log["misses"] == 1


def test_a_hit_needs_no_linker_process(
    calls: Path, files: list[Path], home: Place, tmp_path: Path
) -> None:
    home.program(str(calls), "link", *map(str, files[:2]))
    nobody = {"SPVLINK_PYTHON": "/nowhere", "XDG_RUNTIME_DIR": str(tmp_path / "empty")}
    said = home.program(
        str(calls), "now", *map(str, files[:2]), OUT=str(tmp_path / "out"), **nobody
    )
    assert said.startswith("1 4 -> ") and modules(tmp_path / "out") == alone(*files[:2])


def test_without_a_linker_process_the_originals_come_back(
    calls: Path, files: list[Path], home: Place, tmp_path: Path
) -> None:
    out = {"OUT": str(tmp_path / "out"), "SPVLINK_PYTHON": "/nowhere"}
    said = home.program(str(calls), "link", *map(str, files[:2]), **out)
    assert said.startswith("4 0 -> 0") and "no Python where" in said
    assert modules(tmp_path / "out") == [path.read_bytes() for path in files[:2]]


def test_what_is_not_waited_for_is_there_the_next_time(
    calls: Path, files: list[Path], home: Place
) -> None:
    said = home.program(str(calls), "now", *map(str, files[:2]))
    assert said.startswith("4 0 -> 0") and "not linked yet" in said
    end = time.monotonic() + 60
    while not home.cached() and time.monotonic() < end:
        time.sleep(0.05)
    assert home.program(str(calls), "now", *map(str, files[:2])).startswith("1 4 -> ")


def test_results_outlive_modules_and_are_kept_in_memory(
    calls: Path, files: list[Path], home: Place, tmp_path: Path
) -> None:
    said = home.program(str(calls), "handles", *map(str, files[:2]), OUT=str(tmp_path / "out"))
    assert said.startswith("the same\n1 4 -> ")
    assert modules(tmp_path / "out") == alone(*files[:2])
    again = home.program(str(calls), "handles", *map(str, files[:2]), SPVLINK_MEMORY_MB="0")
    assert again.startswith("another\n1 4 -> ")


def test_a_request_can_be_polled(calls: Path, files: list[Path], home: Place) -> None:
    first = home.program(str(calls), "steps", *map(str, files[:2]))
    assert first.startswith("nothing to wait for\n4 ")  # the linker process is being started
    home.program(str(calls), "link", *map(str, files[:2]))
    second = home.program(str(calls), "steps", str(files[0]), str(files[2]))
    assert second.startswith("ready\n1 4 -> "), second
    third = home.program(str(calls), "steps", str(files[0]), str(files[2]))
    assert third.startswith("nothing to wait for\n1 4 -> "), third  # it is in the cache


def test_eight_threads_at_once(calls: Path, files: list[Path], home: Place) -> None:
    assert home.program(str(calls), "threads", *map(str, files)) == "all linked\n"


def test_threads_race_for_nothing(
    built: Path, files: list[Path], home: Place, tmp_path: Path
) -> None:
    build_library(str(tmp_path / "tsan"), spvlink.__version__, ("-fsanitize=thread",))
    program = compiled(tmp_path / "tsan", tmp_path / "calls", "-fsanitize=thread")
    run = ["setarch", os.uname().machine, "-R", str(program)]  # TSan wants addresses as they were
    assert home.program(*run, "threads", *map(str, files)) == "all linked\n"


def test_bad_arguments_are_said(calls: Path, files: list[Path], home: Place) -> None:
    lines = home.program(str(calls), "bad", *map(str, files[:2])).splitlines()
    assert lines[0] == "nothing"
    whys = (
        "a pipeline without stages",
        "more stages than a pipeline has",
        "a stage without SPIR-V",
        "a constant without a value of 1, 2, 4 or 8 bytes",
        "a stage without SPIR-V",
    )
    assert all(line.endswith(why) for line, why in zip(lines[1:6], whys)), lines
    assert all(line.startswith("5 ") for line in lines[1:6])
    assert lines[6:] == ["1 -1 1", "0 0"]  # settings come too late: they have been read


def test_what_the_engine_knows_is_used(
    calls: Path, files: list[Path], home: Place, tmp_path: Path
) -> None:
    """Constants, the layout, exact and open, each as the command has it."""
    home.program(str(calls), "known", *map(str, files[:2]), OUT=str(tmp_path / "out"))
    made = modules(tmp_path / "out")
    both = 0x11
    layout: dict[str, object] = {
        "setLayouts": [
            {"set": s, "bindings": [
                {"binding": b, "descriptorType": 6, "descriptorCount": 1, "stageFlags": both}
            ]}
            for s, b in ((0, 3), (1, 0))
        ],
        "pushConstantRanges": [{"stageFlags": both, "offset": 0, "size": 64}],
    }  # fmt: skip
    expected = [
        alone(*files[:2], spec={("frag", 0): "0"}),
        alone(*files[:2], spec={("frag", 0): "1"}),
        alone(*files[:2], spec={("frag", 0): "0"}, layout=layout),
        alone(*files[:2], spec={("frag", 0): "0"}, exact=True),
    ]
    assert [made[2 * i : 2 * i + 2] for i in range(4)] == expected
    assert len({tuple(pair) for pair in expected}) >= 3, "what is known makes a difference"
    assert len(made) == 10


def test_the_driver_chooses_as_the_command_does(calls: Path, home: Place, tmp_path: Path) -> None:
    """A VkDriverId is --for; one that nobody knows is as none."""
    paths = [
        ROOT / "shaders" / "season_palette" / f"season_palette.{stage}"
        for stage in ("vert", "frag")
    ]
    codes = [tmp_path / f"{path.name}.spv" for path in paths]
    for path, code in zip(paths, codes):
        code.write_bytes(compile_glsl(path.read_text(), path.suffix[1:]))
    home.program(str(calls), "drivers", *map(str, codes), OUT=str(tmp_path / "out"))
    made = modules(tmp_path / "out")
    expected = [alone(codes[0], codes[1], gpu=gpu) for gpu in ("v3d", "radv", "any", "any")]
    assert [made[2 * i : 2 * i + 2] for i in range(4)] == expected
    assert expected[0] != expected[2], "the driver makes a difference"


def test_a_state_gives_what_the_command_gives(calls: Path, home: Place, tmp_path: Path) -> None:
    """The fixed functions that the engine knows, each as `spvlink link --state` has them."""
    paths = [tmp_path / "a.vert.spv", tmp_path / "a.frag.spv"]
    paths[0].write_bytes(compile_glsl(STATE_VERTEX, "vert"))
    paths[1].write_bytes(compile_glsl(STATE_FRAGMENT, "frag"))
    said = home.program(str(calls), "states", *map(str, paths), OUT=str(tmp_path / "out"))
    lines = said.splitlines()
    assert [line[0] for line in lines] == ["1"] * len(STATES) + ["5", "5"], said
    assert lines[-2].endswith("a state without its attachments")
    assert lines[-1].endswith("a state without its attributes")
    made = modules(tmp_path / "out")
    expected = []
    for at, state in enumerate(STATES):
        out = tmp_path / f"command{at}"
        words = ["--spec-defaults", "--complete", "-o", str(out)]
        if state is not None:
            (tmp_path / "state.json").write_text(json.dumps(state))
            words += ["--state", str(tmp_path / "state.json")]
        home.spvlink("link", *map(str, paths), *words)
        expected.append([(out / path.name).read_bytes() for path in paths])
    for at, pair in enumerate(expected):
        assert made[2 * at : 2 * at + 2] == pair, STATES[at]
    different = {tuple(expected[at]) for at in (0, 3, 4, 5, 6, 7, 8, 9)}
    assert len(different) == 8, "each state makes a difference"


def test_a_linker_process_that_is_killed_costs_one_call(
    calls: Path, files: list[Path], home: Place, tmp_path: Path
) -> None:
    """It is stopped, so that the request waits, and then killed in the middle of it."""
    home.program(str(calls), "link", *map(str, files[:2]))
    server = _server(home)
    os.kill(server, signal.SIGSTOP)
    variables = {**home.variables, "OUT": str(tmp_path / "out")}
    command = [str(calls), "link", str(files[0]), str(files[3])]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as program:
        time.sleep(0.5)
        os.kill(server, signal.SIGKILL)
        said, _ = program.communicate(timeout=60)
    assert program.returncode == 0 and said.startswith("4 0 -> 0"), said
    assert modules(tmp_path / "out") == [files[0].read_bytes(), files[3].read_bytes()]
    assert home.program(*command).startswith("1 4 -> "), "the next call starts another"


def _server(home: Place) -> int:
    """The process that listens for this cache."""
    cache = str(home.folder / "cache/spvlink/linked")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"serve" in words and cache.encode() in words:
                return int(entry.name)
    raise AssertionError("no linker process")


def test_the_command_builds_what_pkg_config_and_cmake_find(
    tmp_path: Path, files: list[Path]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spvlink", "library", str(tmp_path / "x")],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    flags = subprocess.run(
        ["pkg-config", "--static", "--cflags", "--libs", "spvlink"],
        capture_output=True, text=True, check=True,
        env=os.environ | {"PKG_CONFIG_PATH": str(tmp_path / "x" / "lib" / "pkgconfig")},
    ).stdout.split()  # fmt: skip
    program = tmp_path / "program"
    subprocess.run(
        ["cc", *C99, "-o", program, ROOT / "tests/layer/library_calls.c", *flags], check=True
    )
    variables = os.environ | {"LD_LIBRARY_PATH": str(tmp_path / "x" / "lib")}
    done = subprocess.run(
        [program, "bad", *files[:2]], env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith("nothing\n5 ")


def test_the_static_library_has_only_its_own_names(built: Path) -> None:
    said = subprocess.run(
        ["nm", "--defined-only", "-g", built / "lib" / "libspvlink.a"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = {line.split()[-1] for line in said.splitlines() if " T " in line}
    header = (ROOT / "spvlink" / "library" / "c" / "spvlink.h").read_text()
    assert names and all(name.startswith("spvlink_") and f"{name}(" in header for name in names)
