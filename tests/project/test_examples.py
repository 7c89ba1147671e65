"""The programs of examples/ do what they show."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.chains import NAMES, build

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def call(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a command, with this environment's spvlink in the PATH."""
    words = [str(word) for word in command]
    place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PATH": place})


def run(*command: object) -> str:
    """What a command prints; it succeeds."""
    done = call(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_from_python(tmp_path: Path) -> None:
    files = []
    for stage, code in zip(("vert", "frag"), build("debug_uv")):
        files.append(tmp_path / f"a.{stage}.spv")
        files[-1].write_bytes(code)
    words = run(sys.executable, EXAMPLES / "python" / "link.py", tmp_path / "out", *files)
    assert words.startswith("vert->frag: 10 -> ")
    for file in files:
        made = tmp_path / "out" / file.name
        run("spirv-val", made)
        assert made.stat().st_size < file.stat().st_size


def package() -> str:
    """Tell CMake where the package of this environment is."""
    return f"-Dspvlink_DIR={run('spvlink', 'cmake-dir').strip()}"


def configure(kind: str, source: Path, place: Path) -> list[Path]:
    """Set up a build folder; gives where the linked modules of the flag will be."""
    if kind == "meson":
        run("meson", "setup", place, source)
        return [place / "linked" / f"flag.flag.{stage}.spv" for stage in ("vert", "frag")]
    run("cmake", "-S", source, "-B", place, "-G", GENERATORS[kind], package())
    return [place / "linked" / "flag" / f"flag.{stage}.spv" for stage in ("vert", "frag")]


GENERATORS = {"ninja": "Ninja", "make": "Unix Makefiles"}


@pytest.mark.parametrize("kind", ["ninja", "make", "meson"])
def test_builds(kind: str, tmp_path: Path) -> None:
    """Linked modules come out; nothing is done twice; a changed include is linked again."""
    source, place = tmp_path / "source", tmp_path / "build"
    shutil.copytree(EXAMPLES / ("meson" if kind == "meson" else "cmake"), source)
    modules = configure(kind, source, place)
    build = ["make" if kind == "make" else "ninja", "-C", place]
    assert not done_before(run(*build))
    for module in modules:
        run("spirv-val", module)
    plain = next(p for p in place.rglob("*flag.vert.spv") if p != modules[0])
    assert modules[0].stat().st_size < plain.stat().st_size, "vUnused is gone"
    assert done_before(run(*build))
    before = [module.read_bytes() for module in modules]
    wind = source / "wind.glsl"
    wind.write_text(wind.read_text().replace("9.0", "7.0"))
    run(*build)
    after = [module.read_bytes() for module in modules]
    assert after[0] != before[0] and after[1] == before[1]
    assert done_before(run(*build))


def done_before(output: str) -> bool:
    """Whether a build had nothing to do: Ninja says so, and CMake's Makefiles name no file."""
    return "no work to do" in output or ("[100%] Built" in output and "Generating" not in output)


VERTEX = """#version 450
layout(location = 0) in vec3 position;
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
void main() {
    gl_Position = vec4(position, 1);
    first = position.xyzx * TWO;
    second = position.yzxy * 3;
}
"""
FRAGMENT = """#version 450
layout(location = %d) in vec4 color;
layout(location = 0) out vec4 pixel;
void main() { pixel = color * color; }
"""


def project(place: Path, lines: str, language: str = "NONE") -> Path:
    """A CMake project of a vertex shader that two pipelines share, with ``lines``."""
    place.mkdir()
    (place / "shared.vert").write_text(VERTEX)
    for number, name in enumerate(("one", "two")):
        (place / f"{name}.frag").write_text(FRAGMENT % number)
    (place / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\n"
        f"project(p {language})\nfind_package(spvlink 0.1 REQUIRED)\n{lines}"
    )
    return place


@pytest.mark.parametrize("kind", sorted(GENERATORS))
def test_pipelines_that_share_a_stage_get_a_folder_each(kind: str, tmp_path: Path) -> None:
    lines = "".join(
        f"spvlink_pipeline({name} STAGES shared.vert {name}.frag DEFINES TWO=2)\n"
        for name in ("one", "two")
    )
    source, place = project(tmp_path / "source", lines), tmp_path / "build"
    run("cmake", "-S", source, "-B", place, "-G", GENERATORS[kind], package())
    run("cmake", "--build", place)
    shared = []
    for name in ("one", "two"):
        folder = place / "linked" / name
        linked = [folder / "shared.vert.spv", folder / f"{name}.frag.spv"]
        shared.append(linked[0].read_bytes())
        run("spvlink", "check", *linked)
        out = tmp_path / name  # the build made the modules of this pipeline, not of the other
        run("spvlink", "link", *(place / f"{name}.dir" / p.name for p in linked), "-o", out)
        assert [(out / p.name).read_bytes() for p in linked] == [p.read_bytes() for p in linked]
    assert shared[0] != shared[1]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            "spvlink_pipeline(one STAGES shared.vert one.frag DESTINATION x)\n"
            "spvlink_pipeline(two STAGES shared.vert two.frag DESTINATION x)\n",
            "spvlink_pipeline(one) writes",
        ),
        ("spvlink_pipeline(one STAGES shared.vert shared.vert)", "two of STAGES"),
        ("spvlink_pipeline(one STAGES)", "no STAGES"),
        ("spvlink_pipeline(one STAGES shared.vert EMBED rust)", "there are c and c-array"),
        ("spvlink_pipeline(one shared.vert)", "unknown argument shared.vert"),
    ],
)
def test_cmake_stops_at_mistakes(lines: str, says: str, tmp_path: Path) -> None:
    source = project(tmp_path / "source", lines)
    done = call("cmake", "-S", source, "-B", tmp_path / "build", package())
    assert done.returncode != 0 and says in " ".join(done.stderr.split())


def test_a_program_compiles_its_modules_in(tmp_path: Path) -> None:
    """EMBED, LAYOUT, INCLUDES: a C program prints the words of the module that spvlink wrote."""
    lines = """
include_directories("${CMAKE_CURRENT_BINARY_DIR}/linked/one")
spvlink_pipeline(one STAGES shared.vert one.frag DEFINES TWO=two INCLUDES more EMBED c
                 LAYOUT layout.json OPTIONS --exact)
add_executable(show show.c)
add_dependencies(show one)
"""
    source, place = project(tmp_path / "source", lines, "C"), tmp_path / "build"
    (source / "more").mkdir()
    (source / "more" / "two.glsl").write_text("const float two = 2.0;\n")
    vertex = VERTEX.replace(
        "450\n", '450\n#extension GL_GOOGLE_include_directive : require\n#include "two.glsl"\n', 1
    )
    (source / "shared.vert").write_text(vertex)
    (source / "layout.json").write_text('{"setLayouts": [], "pushConstantRanges": []}')
    (source / "show.c").write_text(
        '#include "shared.vert.spv.h"\n#include <stdio.h>\n'
        "int main(void) { fwrite(shared_vert_spv, sizeof shared_vert_spv, 1, stdout); return 0; }\n"
    )
    run("cmake", "-S", source, "-B", place, package())
    run("cmake", "--build", place)
    made = subprocess.run([place / "show"], capture_output=True, check=True).stdout
    assert made == (place / "linked" / "one" / "shared.vert.spv").read_bytes()


NO_COLOUR = {"version": 1, "colorAttachments": [], "alphaToCoverageEnable": False}
ONE_COLOUR = {**NO_COLOUR, "colorAttachments": [{"format": "R8G8B8A8_UNORM"}]}
SPIRV_1_3, SPIRV_1_6 = b"\0\3\1\0", b"\0\6\1\0"  # of Vulkan 1.1 and 1.3
MESON = """
  'one': {'stages': ['shared.vert', 'one/shade.frag'], 'defines': ['TWO=two'],
          'includes': ['more'], 'state': 'state.json', 'layout': 'layout.json'},
  'two': {'stages': ['shared.vert', 'two/shade.frag'], 'defines': ['TWO=3'],
          'includes': ['more'], 'args': ['--exact'], 'target_env': 'vulkan1.3', 'embed': 'c'},
"""
CMAKE = """
spvlink_pipeline(one STAGES shared.vert one/shade.frag DEFINES TWO=two INCLUDES more
                 STATE state.json LAYOUT layout.json)
spvlink_pipeline(two STAGES shared.vert two/shade.frag DEFINES TWO=3 INCLUDES more
                 TARGET_ENV vulkan1.3 EMBED c OPTIONS --exact)
"""


def engine(place: Path, kind: str) -> Path:
    """A project whose pipelines share a vertex shader and have fragment shaders of one name."""
    project(place, CMAKE)
    head = '450\n#extension GL_GOOGLE_include_directive : require\n#include "two.glsl"\n'
    (place / "shared.vert").write_text(VERTEX.replace("450\n", head, 1))
    for name in ("one", "two"):
        (place / name).mkdir()
        (place / f"{name}.frag").rename(place / name / "shade.frag")
    (place / "more").mkdir()
    (place / "more" / "two.glsl").write_text("const float two = 2.0;\n")
    (place / "layout.json").write_text('{"setLayouts": [], "pushConstantRanges": []}')
    (place / "state.json").write_text(json.dumps(ONE_COLOUR))
    if kind == "meson":
        (place / "linked").mkdir()
        shutil.copy(EXAMPLES / "meson" / "linked" / "meson.build", place / "linked")
        text = (EXAMPLES / "meson" / "meson.build").read_text()
        flag = next(line for line in text.splitlines() if line.startswith("  'flag'"))
        (place / "meson.build").write_text(text.replace(flag, MESON))
    return place


@pytest.mark.parametrize("kind", ["make", "ninja", "meson"])
def test_an_engine_with_state_and_a_shared_shader(kind: str, tmp_path: Path) -> None:
    """Each pipeline has its own modules, as the command writes them; another state links again."""
    source, place = engine(tmp_path / "source", kind), tmp_path / "build"
    configure(kind, source, place)
    build = ["make" if kind == "make" else "ninja", "-C", place]

    def compare(name: str, *options: object) -> list[bytes]:
        files = ("shared.vert.spv", "shade.frag.spv")
        if kind == "meson":
            plain = [place / f"{name}.{file}" for file in files]
            made = [place / "linked" / f"{name}.{file}" for file in files]
        else:
            plain = [place / f"{name}.dir" / file for file in files]
            made = [place / "linked" / name / file for file in files]
        out = tmp_path / name
        run("spvlink", "link", *plain, "-o", out, *options)
        for file in out.iterdir():  # modules, and what --embed writes beside them
            assert file.read_bytes() == (made[0].parent / file.name).read_bytes()
        return [p.read_bytes() for p in made]

    run(*build)
    facts = "--state", source / "state.json", "--layout", source / "layout.json"
    more = "--exact", "--embed", "c"
    first, other = compare("one", *facts), compare("two", *more)
    assert first[0] != other[0]
    assert [code[4:8] for code in first + other] == [SPIRV_1_3] * 2 + [SPIRV_1_6] * 2
    (source / "state.json").write_text(json.dumps(NO_COLOUR))
    run(*build)
    assert sum(map(len, compare("one", *facts))) < sum(map(len, first))
    assert compare("two", *more) == other
    assert len(list((tmp_path / "two").glob("*.spv.h"))) == 2
    assert done_before(run(*build))


def test_a_whole_archive(tmp_path: Path) -> None:
    out, report = tmp_path / "linked.foz", tmp_path / "report.json"
    archive = EXAMPLES / "batch" / "shaders.foz"
    run("spvlink", "batch", archive, "-o", out, "--report", report)
    totals = json.loads(report.read_text())["totals"]
    assert totals["pipelines"] == len(NAMES) and totals["failed"] == 0
    before, after = totals["locations"]
    assert totals["linked"] >= len(NAMES) - 5 and after < 0.6 * before
    assert out.stat().st_size > archive.stat().st_size  # the old modules stay


def test_an_engine_links_what_it_creates_and_draws_the_same(tmp_path: Path) -> None:
    """The example in C++, on a real device: linked, and linked by nobody, one picture."""
    place = tmp_path / "build"
    run("cmake", "-S", EXAMPLES / "library", "-B", place, package())
    run("cmake", "--build", place)
    runtime = Path(f"/tmp/spvlink-example-{os.getpid()}")
    runtime.mkdir(mode=0o700)
    variables = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CACHE", "STATE")}
    variables |= {"XDG_RUNTIME_DIR": str(runtime), "SPVLINK_IDLE_S": "3"}
    driver = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))[0]
    variables |= {"VK_ICD_FILENAMES": str(driver)}
    said = {}
    for words in (("linked.ppm",), ("--as-they-are", "plain.ppm")):
        done = subprocess.run(
            ["./draw", *words], cwd=place, capture_output=True, text=True,
            env=os.environ | variables, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said[words[-1]] = done.stdout
    assert said == {"linked.ppm": "linked: 3 -> 1 Locations \n", "plain.ppm": ""}
    pictures = [(place / name).read_bytes() for name in said]
    assert pictures[0] == pictures[1] and len(set(pictures[0])) > 50, "a picture with many colours"
    shutil.rmtree(runtime)
