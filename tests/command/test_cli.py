"""The command's promises, as its contract states them: exit status, error lines, files, report."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import spvlink
from spvlink import arguments, cli, driver, layout, report, validate
from spvlink.batches import arguments as of_batch
from spvlink.errors import Broken, Refused
from spvlink.lint import arguments as of_check
from spvlink.pipeline import Linked, Source, StageResult
from tests.support.samples import assemble

ROOT = Path(__file__).resolve().parents[2]

VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
layout(location = 1) out vec3 unread;
layout(location = 4) out vec2 outUv;
void main() { gl_Position = position; color = vec4(1.0, 0.5, 0.25, 1.0); unread = position.zyx;
  outUv = uv; }
"""
FRAG = """#version 450
layout(location = 0) in vec4 color;
layout(location = 4) in vec2 uv;
layout(location = 0) out vec4 target;
void main() { target = color * uv.x; }
"""


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a.vert, a.frag and their modules."""
    folder = tmp_path_factory.mktemp("modules")
    for name, text in (("a.vert", VERT), ("a.frag", FRAG)):
        (folder / name).write_text(text)
        subprocess.run(
            ["glslangValidator", "-V", "-o", f"{name}.spv", name],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
    return folder


@pytest.fixture
def work(modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh copy of these, as the current folder."""
    for file in modules.iterdir():
        shutil.copy(file, tmp_path / file.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


PAIR = ["link", "a.vert.spv", "a.frag.spv", "-o", "out"]


def fail(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, str]:
    """Run; gives exit status and the one error line, with everything else checked."""
    status = cli.main(words)
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines, "no message"
    assert lines[0].startswith("spvlink: error: ")
    assert all(line.startswith("  while ") for line in lines[1:]), said.err
    assert "Traceback" not in said.err
    return status, lines[0].removeprefix("spvlink: error: ")


# -- success ---------------------------------------------------------------------------------------


def test_links_quietly_and_the_outputs_are_valid(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(PAIR) == 0
    assert capsys.readouterr() == ("", "")
    assert sorted(os.listdir("out")) == ["a.frag.spv", "a.vert.spv"]
    for name in os.listdir("out"):
        assert validate.validate((work / "out" / name).read_bytes(), "vulkan1.0") is None


def test_an_unchanged_file_is_not_touched(work: Path) -> None:
    assert cli.main(PAIR) == 0
    files = [work / "out" / name for name in os.listdir("out")]
    for file in files:
        os.utime(file, (1, 1))
    assert cli.main(PAIR) == 0
    assert [file.stat().st_mtime for file in files] == [1, 1]
    files[0].write_bytes(b"something else")
    os.utime(files[0], (1, 1))
    assert cli.main(PAIR) == 0
    assert files[0].stat().st_mtime > 1 and files[1].stat().st_mtime == 1


def test_order_of_the_files_does_not_matter(work: Path) -> None:
    assert cli.main(PAIR) == 0
    assert cli.main(["link", "a.frag.spv", "a.vert.spv", "-o", "other"]) == 0
    for name in os.listdir("out"):
        assert (work / "out" / name).read_bytes() == (work / "other" / name).read_bytes()


def test_sources_are_compiled_and_gain_spv(work: Path) -> None:
    assert cli.main(PAIR) == 0
    assert cli.main(["link", "a.vert", "a.frag", "-o", "other"]) == 0
    assert sorted(os.listdir("other")) == ["a.frag.spv", "a.vert.spv"]
    for name in os.listdir("other"):
        assert (work / "out" / name).read_bytes() == (work / "other" / name).read_bytes()


def test_hlsl(work: Path) -> None:
    (work / "b.frag.hlsl").write_text(
        "float4 shade(float4 c : COLOR0) : SV_Target { return c * 2.0; }\n"
    )
    (work / "b.vert.hlsl").write_text(
        "void main(float4 p : POSITION, out float4 c : COLOR0, out float4 o : SV_Position)"
        " { c = p; o = p; }\n"
    )
    assert cli.main(["link", "b.vert.hlsl", "b.frag.hlsl:shade", "-o", "out"]) == 0
    assert sorted(os.listdir("out")) == ["b.frag.hlsl.spv", "b.vert.hlsl.spv"]


BOTH = """struct V { float4 at : SV_Position; float3 colour : COLOR0; };
V vertices(float3 p : POSITION) { V v; v.at = float4(p, 1); v.colour = p; return v; }
float4 pixels(V v) : SV_Target { return float4(v.colour, 1); }
"""


def test_hlsl_of_several_stages(work: Path) -> None:
    for name in ("all.hlsl", "all.vert.hlsl", "all.frag.hlsl"):
        (work / name).write_text(BOTH)
    assert cli.main(["link", "all.hlsl:vertices:vert", "all.hlsl:pixels:frag", "-o", "one"]) == 0
    assert cli.main(["link", "all.vert.hlsl:vertices", "all.frag.hlsl:pixels", "-o", "two"]) == 0
    assert cli.main(["check", "all.hlsl:vertices:vert", "all.vert.hlsl:pixels:frag"]) == 0
    one = ["all.hlsl.vertices.vert.spv", "all.hlsl.pixels.frag.spv"]
    two = ["all.vert.hlsl.spv", "all.frag.hlsl.spv"]
    assert sorted(os.listdir("one")) == sorted(one)
    for a, b in zip(one, two):
        assert (work / "one" / a).read_bytes() == (work / "two" / b).read_bytes()


@pytest.mark.parametrize("entry", [None, "main", "vertexes"])
def test_hlsl_without_the_entry_point(
    work: Path, capsys: pytest.CaptureFixture[str], entry: str | None
) -> None:
    """glslang only warns, and makes a shader that does nothing."""
    (work / "all.vert.hlsl").write_text(BOTH)
    argument = f"all.vert.hlsl:{entry}" if entry else "all.vert.hlsl"
    status, line = fail(capsys, ["link", argument, "a.frag", "-o", "out"])
    assert status == 1 and not os.path.exists("out")
    why = f"there is no entry point {entry or 'main'}: name one as all.vert.hlsl:ENTRY_NAME"
    assert line == f"all.vert.hlsl: {why}"


def test_standard_input(work: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spvlink", "link", "-", "a.frag.spv", "-o", "out"],
        input=(work / "a.vert.spv").read_bytes(), capture_output=True, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"", b"")
    assert sorted(os.listdir("out")) == ["a.frag.spv", "stdin.spv"]


def test_report(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*PAIR, "--report", "-"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert cli.main([*PAIR, "--report", "made/report.json"]) == 0
    assert capsys.readouterr() == ("", "")
    written = json.loads((work / "made/report.json").read_text())
    assert list(written)[:6] == [
        "spvlink", "passed_through", "stages", "interfaces", "remarks", "seconds",
    ]  # fmt: skip
    for one in (printed, written):
        del one["seconds"]
    assert printed == written
    assert written["spvlink"] == spvlink.__version__
    assert [list(stage) for stage in written["stages"]] == [
        ["stage", "file", "instructions", "bytes"]
    ] * 2
    assert [stage["stage"] for stage in written["stages"]] == ["vert", "frag"]
    for stage in written["stages"]:
        size = os.path.getsize(stage["file"]), os.path.getsize(work / "out" / stage["file"])
        assert tuple(stage["bytes"]) == size
    border = written["interfaces"][0]
    names = ["producer", "consumer", "components", "locations", *report.BYTES]
    assert list(border) == names
    assert border["components"][0] == 4 + 3 + 2
    assert border["locations"][0] == 3
    assert {remark["name"] for remark in written["remarks"]} >= {"color", "unread", "outUv"}
    for remark in written["remarks"]:
        assert list(remark) == ["interface", "name", "slot", "action", "why"]
        assert remark["interface"] == "vert->frag" and remark["why"]


def test_linking_improves_this_pair(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*PAIR, "--strict", "--report", "-"]) == 0
    border = json.loads(capsys.readouterr().out)["interfaces"][0]
    assert border["components"][1] <= 4 + 1  # the fragment shader reads color and outUv.x
    assert border["locations"][1] <= 2


@pytest.mark.parametrize("stage", ["vert", "frag"])
def test_keep_interface(work: Path, capsys: pytest.CaptureFixture[str], stage: str) -> None:
    assert cli.main([*PAIR, "--keep-interface", stage, "--report", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    border = told["interfaces"][0]
    if stage == "vert":
        assert border["components"] == [9, 9] and border["locations"] == [3, 3]
    else:  # what it does not declare
        assert border["components"] == [9, 6] and border["locations"] == [3, 2]
    assert {s["stage"] for s in told["stages"] if s["instructions"][0] == s["instructions"][1]} == {
        stage
    }


def test_explain_and_time(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*PAIR, "--explain", "--time"]) == 0
    said = capsys.readouterr()
    assert "unread" in said.out and "vert->frag" in said.out
    assert max(map(len, said.out.splitlines())) <= report.WIDTH
    assert "together" in said.err and " ms" in said.err


def test_passes_version_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines and all(len(line.split(maxsplit=1)) == 2 for line in lines)
    assert cli.main(["--version"]) == 0
    kind = " (compiled)" if spvlink.COMPILED else ""
    assert capsys.readouterr().out == f"spvlink {spvlink.__version__}{kind}\n"
    for words in (["link", "--help"], ["link", "-h"]):
        assert cli.main(words) == 0
        said = capsys.readouterr().out
        assert "stage linking" in said and "symbols" in said


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_the_commands_come_first(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([word]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 100
    named = re.findall(r"^  ([a-z-]+)  ", said, re.M)
    assert named == [name for name in cli.COMMANDS if name != "serve"]  # the layer starts it
    for name in named[: named.index("passes")]:
        assert cli.main([name, "--help"]) == 0
        said = capsys.readouterr().out
        assert name in said.splitlines()[0].split()
        assert max(map(len, said.splitlines())) <= 100


def options_in(text: str) -> set[str]:
    """The options that a help describes."""
    lines = [line.strip().split("   ")[0] for line in text.splitlines() if line.startswith("  --")]
    return {word.strip(",") for line in lines for word in line.split() if word.startswith("--")}


@pytest.mark.parametrize("command", ["link", "batch", "check"])
def test_help_all_describes_every_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--help-all"]) == 0
    whole = capsys.readouterr().out
    known = {"link": arguments.WORDS, "batch": of_batch.WORDS, "check": of_check.WORDS}[command]
    words = {*known.flags, *known.values, *known.lists, *known.numbers} - {"-o"}
    assert words <= set(re.findall(r"--[\w-]+", whole))
    assert options_in(whole) <= words
    assert max(map(len, whole.splitlines())) <= 100
    assert "exit status: 0" in whole


@pytest.mark.parametrize("command", ["link", "batch"])
def test_the_short_help_has_ten_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--help"]) == 0
    short = capsys.readouterr().out
    assert len(short.splitlines()) <= 40
    assert max(map(len, short.splitlines())) <= 100
    assert f"\n  spvlink {command} " in short  # an example
    assert cli.main([command, "--help-all"]) == 0
    whole = capsys.readouterr().out
    named = options_in(short) - {"--help", "--help-all"}
    assert len(named) == 10 and "--help-all" in options_in(short)
    assert named <= set(re.findall(r"--[\w-]+", whole))


def test_the_example_of_the_short_help_can_be_parsed() -> None:
    (link_line,) = (x for x in arguments.HELP.splitlines() if x.startswith("  spvlink link "))
    assert arguments.parse(link_line.split()[2:]).options.validate
    (line,) = (x for x in of_batch.HELP.splitlines() if x.startswith("  spvlink batch game"))
    assert of_batch.parse(line.split()[2:]).archives


def test_every_pass_can_be_switched(work: Path) -> None:
    for name in arguments.passes():
        assert cli.main([*PAIR, "--disable", name]) == 0
        assert cli.main([*PAIR, "--disable", name, f"--enable={name}"]) == 0
    everything = [word for name in arguments.passes() for word in ("--disable", name)]
    assert cli.main([*PAIR, *everything]) == 0


def test_dump_print_after_stop_after(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*PAIR, "--dump", "dump", "--check", "each"]) == 0
    names = sorted(os.listdir("dump"))
    assert names[:2] == ["000-input0.spvasm", "000-input1.spvasm"]
    assert len(names) > 2, "no pass changed anything"
    for name in names[2:]:
        number, _, rest = name.partition("-")
        assert number.isdigit() and rest.endswith(".spvasm")
        name = rest.removesuffix(".spvasm").rpartition("-")[2]
        assert name in arguments.passes() or name in arguments.ALWAYS
    capsys.readouterr()
    name = next(n for n in arguments.passes() if any(f"-{n}.spvasm" in file for file in names))
    assert cli.main([*PAIR, "--print-after", name]) == 0
    said = capsys.readouterr()
    assert said.out == "" and f"; after {name}" in said.err
    assert cli.main([*PAIR, "--stop-after", "0"]) == 0


def test_a_file_with_a_colon_in_its_name(work: Path) -> None:
    shutil.copy("a.vert.spv", "a:b.spv")
    assert cli.main(["link", "a:b.spv", "a.frag.spv", "-o", "out"]) == 0
    assert sorted(os.listdir("out")) == ["a.frag.spv", "a:b.spv"]
    assert cli.main(["link", "a.vert.spv:main", "a.frag.spv", "-o", "out2"]) == 0


TWO = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %vs "vs" %position
OpEntryPoint Fragment %fs "fs" %target
OpExecutionMode %fs OriginUpperLeft
OpDecorate %position BuiltIn Position
OpDecorate %target Location 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%ptr = OpTypePointer Output %v4
%zero = OpConstantNull %v4
%position = OpVariable %ptr Output
%target = OpVariable %ptr Output
%vs = OpFunction %void None %fn
%a = OpLabel
OpStore %position %zero
OpReturn
OpFunctionEnd
%fs = OpFunction %void None %fn
%b = OpLabel
OpStore %target %zero
OpReturn
OpFunctionEnd
"""


def test_two_entry_points_of_one_file(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.spv").write_bytes(assemble(TWO))
    assert cli.main(["link", "two.spv:vs", "two.spv:fs", "-o", "out"]) == 0
    assert sorted(os.listdir("out")) == ["two.fs.spv", "two.vs.spv"]
    status, line = fail(capsys, ["link", "two.spv", "two.spv:fs", "-o", "out"])
    assert status == 2 and "FILE:ENTRY_NAME" in line
    status, line = fail(capsys, ["link", "two.spv", "-o", "out"])
    assert status in (1, 2) and "two.spv" in line and "vs" in line


# -- usage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "spvlink --help"),
        (["frobnicate"], "unknown command frobnicate"),
        (["--frobnicate"], "unknown option --frobnicate"),
        (["passes", "all"], "no arguments"),
        (["link"], "no stage files"),
        (["link", "a.vert.spv", "a.frag.spv"], "-o OUT_DIR is missing"),
        (["link", "-o", "out"], "no stage files"),
        ([*PAIR, "--frobnicate"], "unknown option --frobnicate"),
        ([*PAIR, "-x"], "unknown option -x"),
        ([*PAIR, "--report"], "--report needs a value"),
        ([*PAIR, "--report="], "--report needs a value"),
        ([*PAIR, "--report", "--explain"], "--report needs a value"),
        ([*PAIR, "--explain=yes"], "takes no value"),
        ([*PAIR, "-o", "other"], "-o is given twice"),
        ([*PAIR, "--exact", "--exact"], "--exact is given twice"),
        ([*PAIR, "--exact", "--relaxed"], "--relaxed and --exact exclude each other"),
        ([*PAIR, "--relaxed", "--verify"], "--relaxed and --verify exclude each other"),
        ([*PAIR, "--disable", "frobnicate"], "--disable frobnicate: there are "),
        ([*PAIR, "--enable", "frobnicate"], "--enable frobnicate: there are "),
        ([*PAIR, "--print-after", "frobnicate"], "--print-after frobnicate: there are "),
        ([*PAIR, "--keep-interface", "pixel"], "there are vert, tesc, "),
        ([*PAIR, "--target-env", "vulkan9.9"], "there are vulkan1.0"),
        ([*PAIR, "--check", "some"], "there are each"),
        ([*PAIR, "--stop-after", "-1"], "--stop-after needs a value"),
        ([*PAIR, "--stop-after=-1"], "expected a number"),
        ([*PAIR, "--stop-after", "x"], "expected a number"),
        ([*PAIR, "--spec", "frag"], "expected STAGE:ID=VALUE"),
        ([*PAIR, "--spec", "frag:x=1"], "expected STAGE:ID=VALUE"),
        ([*PAIR, "--spec", "pixel:1=1"], "there are vert"),
        ([*PAIR, "--spec", "frag:1=one"], "neither a number"),
        ([*PAIR, "--spec", "frag:1=1", "--spec", "frag:1=2"], "twice"),
        ([*PAIR, "--layout", "missing.json"], "missing.json: cannot read it: No such file"),
        ([*PAIR, "--report", "-", "--explain"], "standard output"),
        (["link", "a.vert.spv", "a.vert.spv", "-o", "out"], "a.vert.spv is given twice"),
        (["link", "-", "-", "-o", "out"], "given twice"),
        (["link", "a.vert.spv", "missing.spv", "-o", "out"], "missing.spv: cannot read it: No"),
        (["link", "a.vert.spv", "missing.frag", "-o", "out"], "missing.frag: cannot read it: No"),
        (["link", "a.vert.spv", ".", "-o", "out"], ".: cannot read it: Is a directory"),
        (["link", "a.vert.spv:", "-o", "out"], "expected FILE:ENTRY_NAME"),
        (["link", "a.vert:other", "a.frag", "-o", "out"], "entry point of a GLSL file is main"),
        (["link", "x.hlsl", "-o", "out"], "x.hlsl: which stage?"),
        (["link", "a.vert.spv", "a.frag.spv", "-o", "."], "./a.vert.spv: the output would over"),
        ([*PAIR, "--report", "a.vert.spv"], "this is a file of the pipeline"),
        ([*PAIR, "--report", "out/a.vert.spv"], "this is a file of the pipeline"),
        (["link", "nul\0.spv", "-o", "out"], "cannot read"),
    ],
)
def test_usage(work: Path, capsys: pytest.CaptureFixture[str], words: list[str], part: str) -> None:
    before = sorted(os.listdir())
    status, line = fail(capsys, words)
    assert status == 2
    assert part in line
    assert sorted(os.listdir()) == before


def test_same_name_from_two_folders(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, name in (("v", "a.vert.spv"), ("f", "a.frag.spv")):
        os.mkdir(folder)
        shutil.copy(name, f"{folder}/main.spv")
    status, line = fail(capsys, ["link", "v/main.spv", "f/main.spv", "-o", "out"])
    assert status == 2 and "v/main.spv and f/main.spv" in line
    assert not os.path.exists("out")


def test_an_input_behind_a_link_is_not_overwritten(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.symlink(".", "alias")
    status, line = fail(capsys, ["link", "a.vert.spv", "a.frag.spv", "-o", "alias"])
    assert status == 2 and "overwrite" in line


def test_a_shader_that_does_not_compile(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "a.frag").write_text("#version 450\nvoid main() { x = 1; }\n")
    status, line = fail(capsys, ["link", "a.vert", "a.frag", "-o", "out"])
    assert status == 1
    assert line.startswith("a.frag:2: 'x'")
    assert not os.path.exists("out")


def test_without_tools(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(work))
    assert not validate.available()
    status, line = fail(capsys, PAIR)
    assert status == 2 and "package spirv-tools" in line and "--no-validate" in line
    assert not os.path.exists("out")
    status, line = fail(capsys, ["link", "a.vert", "a.frag", "-o", "out", "--no-validate"])
    assert status == 2 and "package glslang-tools" in line
    assert cli.main([*PAIR, "--no-validate"]) == 0


# -- the layout ------------------------------------------------------------------------------------

BINDING = {"binding": 0, "stageFlags": ["VERTEX", "FRAGMENT"], "descriptorType": "UNIFORM_BUFFER"}


def test_good_layouts(work: Path) -> None:
    full = {
        "setLayouts": [{"set": 1, "bindings": [{**BINDING, "descriptorCount": 4}]},
                       {"bindings": []}, {"bindings": [{**BINDING, "stageFlags": 17}]}],
        "pushConstantRanges": [{"stageFlags": ["ALL"], "offset": 0, "size": 64}],
    }  # fmt: skip
    full["setLayouts"][1]["set"] = 0
    (work / "layout.json").write_text(json.dumps(full))
    assert cli.main([*PAIR, "--layout", "layout.json"]) == 0
    assert layout.check_layout(full) == full
    assert layout.check_layout({}) == {}
    assert layout.stage_mask(["VERTEX", "FRAGMENT"]) == 17 == layout.stage_mask(17)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "not JSON"),
        ("[" * 100000, "not JSON"),
        ("[]", "the layout: expected an object"),
        ('{"setLayout": []}', "unknown key 'setLayout'"),
        ('{"setLayouts": {}}', "setLayouts: expected a list"),
        ('{"setLayouts": [1]}', "setLayouts[0]: expected an object"),
        ('{"setLayouts": [{}]}', "setLayouts[0]: bindings is missing"),
        ('{"setLayouts": [{"set": -1, "bindings": []}]}', "setLayouts[0].set: expected an integer"),
        ('{"setLayouts": [{"set": 1, "bindings": []}, {"bindings": []}]}', "set 1 stands there"),
        ('{"setLayouts": [{"bindings": [{"binding": 0}]}]}', "stageFlags is missing"),
        ('{"setLayouts": [{"bindings": [{"binding": 0, "stageFlags": ["PIXEL"]}]}]}', "'PIXEL'"),
        ('{"setLayouts": [{"bindings": [{"binding": 0, "stageFlags": "ALL"}]}]}', "a list of"),
        ('{"setLayouts": [{"bindings": [{"binding": true, "stageFlags": 1}]}]}', "integer"),
        ('{"setLayouts": [{"bindings": [{"binding": 0, "stageFlags": 1},'
         '{"binding": 0, "stageFlags": 1}]}]}', "binding 0 stands there twice"),
        ('{"pushConstantRanges": [{"offset": 0, "size": 4}]}', "stageFlags is missing"),
        ('{"pushConstantRanges": [{"stageFlags": 1, "offset": "0", "size": 4}]}', ".offset: exp"),
    ],
)  # fmt: skip
def test_bad_layouts(work: Path, capsys: pytest.CaptureFixture[str], text: str, part: str) -> None:
    (work / "layout.json").write_text(text)
    status, line = fail(capsys, [*PAIR, "--layout", "layout.json"])
    assert status == 2
    assert line.startswith("layout.json: ") and part in line


# -- what the linker may answer, without the linker ------------------------------------------------


def answer(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Let the linker hand back its inputs, with these fields set."""

    def link(stages: list[Source], options: object) -> Linked:
        linked = Linked()
        for source, stage in zip(stages, ("vert", "frag")):
            result = StageResult(stage, source.file, source.data, False)
            result.bytes = (len(source.data), len(source.data))
            linked.stages.append(result)
        for name, value in fields.items():
            setattr(linked, name, value)
        return linked

    monkeypatch.setattr(cli, "link", link)


def test_passed_through(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, passed_through="too strange")
    assert cli.main([*PAIR, "--explain"]) == 0
    assert "passed through unchanged: too strange" in capsys.readouterr().out
    assert (work / "out/a.vert.spv").read_bytes() == (work / "a.vert.spv").read_bytes()
    shutil.rmtree("out")
    status, line = fail(capsys, [*PAIR, "--strict", "--report", "why.json"])
    assert status == 1 and "too strange" in line
    assert not os.path.exists("out")
    assert json.loads((work / "why.json").read_text())["passed_through"] == "too strange"


def test_defect(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, passed_through="a defect", defect="no way")
    status, line = fail(capsys, PAIR)
    assert status == 3 and "a defect of spvlink: no way" in line
    assert (work / "out/a.vert.spv").read_bytes() == (work / "a.vert.spv").read_bytes()


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError("deep"), Broken("not so")])
def test_an_unforeseen_exception_is_a_defect(
    work: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    def link(stages: object, options: object) -> Linked:
        raise error

    monkeypatch.setattr(cli, "link", link)
    status, line = fail(capsys, [*PAIR, "--dump", "dump"])
    assert status == 3 and type(error).__name__ in line
    assert (work / "out/a.vert.spv").read_bytes() == (work / "a.vert.spv").read_bytes()
    assert "Traceback" in (work / "dump/defect.txt").read_text()


def test_refused_is_passed_through(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(stages: object, options: object) -> Linked:
        raise Refused("beyond us", 7)

    monkeypatch.setattr(cli, "link", link)
    assert cli.main([*PAIR, "--report", "-"]) == 0
    passed = json.loads(capsys.readouterr().out)["passed_through"]
    assert passed == "beyond us (at word 7)"


def test_interrupt(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(stages: object, options: object) -> Linked:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "link", link)
    assert cli.main(PAIR) == 130
    assert not os.path.exists("out")


def test_interrupt_as_a_process(work: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "spvlink", "link", "-", "-o", "out"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # a shell starts what runs in its background with interrupts ignored, and that is inherited
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(bytes(1 << 18))  # more than a pipe holds: it reads by then
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=10)
    assert (child.returncode, out, err) == (130, b"", b"")


def test_broken_pipe(work: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$0" -m spvlink --help | true; echo "${PIPESTATUS[0]}"', sys.executable],
        capture_output=True, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"0\n", b"")


# -- start-up --------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_output_that_cannot_be_written() -> None:
    """One line, and a status that says what happened; if not even that line, then the status."""
    run = partial(subprocess.run, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    with open("/dev/full", "w") as full:
        done = run([sys.executable, "-m", "spvlink", "passes"], stdout=full)
        assert done.returncode == 2
        assert done.stderr == "spvlink: error: standard output: No space left on device\n"
        done = run([sys.executable, "-m", "spvlink", "what"], stdout=full, stderr=full)
        assert done.returncode == 2


def test_start_up_imports_little() -> None:
    code = (
        "import sys; from spvlink import cli; cli.main(['--version']);"
        "print(*sorted(set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True)
    loaded = set(done.stdout.decode().split())
    assert "spvlink.cli" in loaded
    heavy = {
        "argparse", "json", "subprocess", "tempfile", "dataclasses", "inspect", "pathlib",
        "traceback", "logging", "numpy",
    }  # fmt: skip
    assert loaded & heavy == set()


@pytest.mark.parametrize("before", ["enable", "disable"])
def test_importing_leaves_the_collector_as_it_was(before: str) -> None:
    code = f"import gc; gc.{before}(); import spvlink; print(gc.isenabled())"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert answer.decode().strip() == str(before == "enable")


def test_the_python_face_is_the_same_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver.link is cli.link
    asked = []
    monkeypatch.setattr(driver, "link", lambda stages, *_, **__: asked.append(stages) or Linked())
    spvlink.link([b"x", b"y"])
    assert [[source.data for source in sources] for sources in asked] == [[b"x", b"y"]]
