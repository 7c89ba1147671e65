"""``spvlink batch FOLDER`` and ``spvlink check FOLDER``: which modules make pipelines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spvlink import cli
from spvlink.batches.folder import Folder
from spvlink.batches.pairing import BY_ENTRY, BY_INTERFACE, BY_NAME, without_stage
from tests.support.chains import NAMES, build, stages_of
from tests.support.samples import assemble, compile_glsl


def vertex(outputs: str, body: str = "") -> bytes:
    text = f"#version 450\n{outputs}\nvoid main() {{ gl_Position = vec4(0); {body} }}\n"
    return compile_glsl(text, "vert")


def fragment(inputs: str, value: str) -> bytes:
    head = f"#version 450\n{inputs}\nlayout(location = 0) out vec4 o;\n"
    return compile_glsl(f"{head}void main() {{ o = {value}; }}\n", "frag")


def colour(location: int, type: str = "vec4", unread: bool = True) -> bytes:
    out = f"layout(location = {location}) out {type} c;"
    body = f"c = {type}(gl_VertexIndex);"
    if unread:
        out += "layout(location = 9) out vec4 unread;"
        body += "unread = vec4(c.x);"
    return vertex(out, body)


def reads(location: int, type: str = "vec4") -> bytes:
    return fragment(f"layout(location = {location}) in {type} c;", "vec4(c.x)")


NONE = fragment("", "vec4(1)")
COMPUTE = compile_glsl("#version 450\nvoid main() {}\n", "comp")


def put(folder: Path, **files: bytes) -> None:
    """Write modules; ``__`` in a name is a slash, ``_DOT_`` a dot."""
    for name, data in files.items():
        path = folder / (name.replace("__", "/").replace("_DOT_", ".") + ".spv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def planned(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Of each pipeline how it was found, and its stages."""
    made = Folder(str(folder))
    return {p.id: (p.how, [s.label for s in p.stages]) for p in made.pairing.pipelines}


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("water.vert", "water"), ("hud_vs", "hud"), ("PS-sky", "sky"), ("mainVS", "main"),
        ("a.frag.vert", "a.frag"), ("frag", ""), ("water", "water"), ("hull_of_a_cat", "of_a_cat"),
    ],
)  # fmt: skip
def test_names_without_their_stage(name: str, rest: str) -> None:
    assert without_stage(name) == rest


def test_by_name(tmp_path: Path) -> None:
    put(
        tmp_path,
        water_DOT_vert=colour(0),
        water_DOT_frag=reads(0),
        hud_vs=colour(1),
        hud_PS=reads(1),
    )
    put(tmp_path, sky__vert=colour(2), sky__frag=reads(2), other__water_DOT_vert=colour(3))
    assert planned(tmp_path) == {
        "water": (BY_NAME, ["water.vert.spv", "water.frag.spv"]),
        "hud": (BY_NAME, ["hud_vs.spv", "hud_PS.spv"]),
        "sky": (BY_NAME, ["sky/vert.spv", "sky/frag.spv"]),
    }


def test_all_chains_of_ours_are_found(tmp_path: Path) -> None:
    for name in NAMES:
        for stage, data in zip(stages_of(name), build(name)):
            (tmp_path / f"{name}.{stage}.spv").write_bytes(data)
    found = planned(tmp_path)
    several = [name for name in NAMES if len(stages_of(name)) > 1]  # others are captured alone
    for name in several:
        assert found[name] == (BY_NAME, [f"{name}.{stage}.spv" for stage in stages_of(name)])
    assert len(found) == len(several) > 100


def test_names_do_not_count_where_interfaces_differ(tmp_path: Path) -> None:
    put(tmp_path, a_DOT_vert=colour(0), a_DOT_frag=reads(3))
    made = Folder(str(tmp_path))
    assert not made.pairing.pipelines
    assert [file for file, _ in made.pairing.left] == ["a.frag.spv", "a.vert.spv"]
    assert "vert has no output at Location 3" in made.pairing.left[0][1]


def test_by_interface_if_one_fits(tmp_path: Path) -> None:
    put(tmp_path, full_DOT_vert=colour(0), blur_DOT_frag=reads(0), glow_DOT_frag=reads(0))
    put(tmp_path, mesh_of_a_cat_DOT_vert=colour(1), fur_DOT_frag=reads(1))
    assert planned(tmp_path) == {
        "blur.frag.spv": (BY_INTERFACE, ["full.vert.spv", "blur.frag.spv"]),
        "glow.frag.spv": (BY_INTERFACE, ["full.vert.spv", "glow.frag.spv"]),
        "fur.frag.spv": (BY_INTERFACE, ["mesh_of_a_cat.vert.spv", "fur.frag.spv"]),
    }


def test_two_that_fit_are_no_pair(tmp_path: Path) -> None:
    put(tmp_path, one_DOT_vert=colour(0), two_DOT_vert=colour(0), x_DOT_frag=reads(0))
    made = Folder(str(tmp_path))
    assert not made.pairing.pipelines
    assert ("x.frag.spv", "2 stages fit: one.vert.spv, two.vert.spv") in made.pairing.left
    put(tmp_path, y_DOT_frag=NONE)
    assert not planned(tmp_path), "what reads nothing fits everything"


def test_a_tessellated_vertex_shader_gets_no_fragment_shader_alone(tmp_path: Path) -> None:
    vert, tesc, tese, frag = build("water_tess")
    put(tmp_path, a_DOT_vert=vert, a_DOT_tesc=tesc, a_DOT_tese=tese)
    put(tmp_path, b_DOT_frag=frag, c_DOT_frag=NONE)
    assert planned(tmp_path) == {"a": (BY_NAME, ["a.vert.spv", "a.tesc.spv", "a.tese.spv"])}


def test_one_file_with_all_entry_points(tmp_path: Path) -> None:
    text = """
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Vertex %vs "{}"
               OpEntryPoint Fragment %ps "{}"
               {}
               OpExecutionMode %ps OriginUpperLeft
               {}
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
         %vs = OpFunction %void None %fn
          %1 = OpLabel
               OpReturn
               OpFunctionEnd
         %ps = OpFunction %void None %fn
          %2 = OpLabel
               OpReturn
               OpFunctionEnd
    """
    put(tmp_path, one=assemble(text.format("vertex_main", "fragment_main", "", "")))
    more = 'OpEntryPoint Fragment %ps "skyPS"', "OpExecutionMode %ps OriginUpperLeft"
    put(tmp_path, two=assemble(text.format("skyVS", "seaPS", more[0], "")))
    assert planned(tmp_path) == {
        "one": (BY_ENTRY, ["one.spv:vertex_main:vert", "one.spv:fragment_main:frag"]),
        "two:sky": (BY_ENTRY, ["two.spv:skyVS:vert", "two.spv:skyPS:frag"]),
        "two.spv:seaPS:frag": (BY_INTERFACE, ["two.spv:skyVS:vert", "two.spv:seaPS:frag"]),
    }


def run(*words: object) -> int:
    return cli.main([str(word) for word in words])


def test_outputs_keep_names_and_folders(tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    put(source, sky__full_DOT_vert=colour(0), sky__full_DOT_frag=reads(0))
    wide = "layout(location = 0) in vec4 c; layout(location = 9) in vec4 unread;"
    put(source, sky__glow_DOT_frag=fragment(wide, "c + unread"))
    put(source, b_DOT_comp=COMPUTE)
    assert run("batch", source, "-o", out, "--jobs", "1") == 0
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*.*"))
    assert files == [
        "manifest.jsonl", "sky/full.frag.spv", "sky/full.vert.spv",
        "sky/full.vert@sky_glow.frag.spv.spv", "sky/glow.frag.spv",
    ]  # fmt: skip
    lines = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    by_id = {line["id"]: [stage["file"] for stage in line["stages"]] for line in lines}
    assert by_id["sky/full"] == ["sky/full.vert.spv", "sky/full.frag.spv"]
    for id, names in by_id.items():  # what the manifest names is what a link of the two makes
        originals = [source / name.split("@")[0].removesuffix(".spv") for name in names]
        originals = [Path(f"{str(o).removesuffix('.spv')}.spv") for o in originals]
        alone = tmp_path / id.replace("/", "_")
        assert run("link", *originals, "-o", alone) == 0
        for original, name in zip(originals, names):
            assert (out / name).read_bytes() == (alone / original.name).read_bytes()
    assert (out / by_id["sky/glow.frag.spv"][0]).read_bytes() != (
        out / "sky/full.vert.spv"
    ).read_bytes()
    before = {p: p.read_bytes() for p in out.rglob("*.spv")}
    assert run("batch", source, "-o", out, "--jobs", "1") == 0, "it takes the place of the old one"
    assert {p: p.read_bytes() for p in out.rglob("*.spv")} == before


def test_bytes_are_those_of_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two folders with the same modules: each file counts, before and after."""
    source, out = tmp_path / "in", tmp_path / "out"
    put(source, a__m_DOT_vert=colour(0), a__m_DOT_frag=reads(0))
    put(source, b__m_DOT_vert=colour(0), b__m_DOT_frag=reads(0))
    assert run("batch", source, "-o", out, "--jobs", "1") == 0
    before, after = (sum(p.stat().st_size for p in f.rglob("*.spv")) for f in (source, out))
    assert f", bytes {before:,} -> {after:,}" in capsys.readouterr().err


def test_the_plan_is_a_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(
        tmp_path,
        a_DOT_vert=colour(0),
        a_DOT_frag=reads(0),
        b_DOT_comp=COMPUTE,
        c_DOT_vert=vertex(""),
    )
    (tmp_path / "x.frag").write_text("void main() {}")
    before = sorted(tmp_path.iterdir())
    assert run("batch", tmp_path, "--plan") == 0
    said = capsys.readouterr()
    assert sorted(tmp_path.iterdir()) == before
    assert said.err == (
        "spvlink: 1 pipeline: 1 by name\n"
        "spvlink: left out: 1 entry points of compute and ray tracing\n"
        "spvlink: left out: 1 source files: compile them first\n"
        "spvlink: left over: c.vert.spv: no fragment shader fits\n"
    )
    (tmp_path / "all.jsonl").write_text(said.out)
    assert run("batch", tmp_path / "all.jsonl", "-o", tmp_path / "out", "--jobs", "1") == 0


def test_states_in_the_folder(tmp_path: Path) -> None:
    """Of all pipelines, and of those that an id or a pattern names; the links are those of the
    command with --state."""
    source, out = tmp_path / "in", tmp_path / "out"
    for place in ("shadow__a", "shadow__b", "c"):
        put(source, **{f"{place}_DOT_vert": colour(0), f"{place}_DOT_frag": reads(0)})
    none = {"version": 1, "colorAttachments": [], "alphaToCoverageEnable": False}
    (source / "depth.json").write_text(json.dumps(none))
    (source / "spvlink.toml").write_text(
        "state = {version = 1, colorAttachments = [{}]}\n"
        '[[pipeline]]\nid = "shadow/*"\nstate = "depth.json"\ncomplete = true\n'
    )
    lines = {line["id"]: line for line in map(json.loads, Folder(str(source)).lines)}
    assert lines["c"]["state"] == {"version": 1, "colorAttachments": [{}]}
    assert [lines[f"shadow/{x}"]["state"] for x in "ab"] == ["depth.json"] * 2
    assert [lines[id].get("complete") for id in ("c", "shadow/a")] == [None, True]
    assert run("batch", source, "-o", out, "--jobs", "1") == 0
    for name, state in (("c", None), ("shadow/a", "depth.json"), ("shadow/b", "depth.json")):
        files = [f"{name}.vert.spv", f"{name}.frag.spv"]
        words = [] if state is None else ["--state", source / state]
        alone = tmp_path / name.replace("/", "_")
        assert run("link", *(source / file for file in files), "-o", alone, *words) == 0
        for file in files:
            assert (out / file).read_bytes() == (alone / Path(file).name).read_bytes()
    sizes = [(out / name).stat().st_size for name in ("c.vert.spv", "shadow/a.vert.spv")]
    assert sizes[1] < sizes[0], "nothing takes the colour of shadows"


def test_settings_in_the_folder(tmp_path: Path) -> None:
    source = tmp_path / "in"
    put(source, one_DOT_vert=colour(0), two_DOT_vert=colour(0), x_DOT_frag=reads(0))
    put(source, old__a_DOT_vert=colour(0), old__a_DOT_frag=reads(0), depth_DOT_vert=colour(0))
    (source / "spvlink.toml").write_text(
        'skip = ["old/*"]\ncomplete = true\n[options]\nexact = true\ndisable = ["dead"]\n'
        '[[pipeline]]\nid = "chosen"\nstages = ["two.vert.spv", "x.frag.spv:main"]\n'
        '[[pipeline]]\nid = "depth"\nstages = [{file = "depth.vert.spv"}]\n'
    )
    made = [json.loads(line) for line in Folder(str(source)).lines]
    assert made == [
        {
            "complete": True, "id": "chosen",
            "stages": [{"file": "two.vert.spv"}, {"file": "x.frag.spv", "entry": "main"}],
        },
        {"complete": True, "id": "depth", "stages": [{"file": "depth.vert.spv"}]},
    ]  # fmt: skip
    assert run("batch", source, "-o", tmp_path / "out", "--jobs", "1", "--pack", "none") == 0
    words = ["--exact", "--disable", "dead", "--pack", "none"]
    assert (
        run("link", source / "two.vert.spv", source / "x.frag.spv", "-o", tmp_path / "l", *words)
        == 0
    )
    made_by_both = [(tmp_path / d / "two.vert.spv").read_bytes() for d in ("out", "l")]
    assert made_by_both[0] == made_by_both[1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("skip = [", "spvlink.toml: not TOML"),
        ("skop = []", "spvlink.toml: unknown key 'skop' (there are: skip, "),
        ("skip = [1]", "spvlink.toml: skip: expected a list of texts"),
        ("pipeline = 3", "spvlink.toml: pipeline: expected a list"),
        ("[[pipeline]]\nstate = {}", "spvlink.toml: pipeline: expected a table with id and stages"),
        ("[[pipeline]]\nid = 'b*'", "spvlink.toml: pipeline b*: none of this name was found"),
        ("[[pipeline]]\nid = 'a'\nexact = true", "pipeline a: unknown key 'exact' (there"),
        ("state = {cullMode = 'BACK'}", "line 1 is wrong: state: the state: version is missing"),
        ("state = 'none.json'", "none.json: cannot read it: No such file"),
        (
            "[[pipeline]]\nid = 'a'\nstages = []",
            "line 1 is wrong: stages: expected a list",
        ),
        ("[options]\nfast = true", "unknown option --fast"),
        ("options = 3", "spvlink.toml: options: expected a table"),
    ],
)
def test_settings_that_make_no_sense(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, a_DOT_vert=colour(0), a_DOT_frag=reads(0))
    (tmp_path / "spvlink.toml").write_text(text)
    assert run("batch", tmp_path, "-o", tmp_path / ".." / "out") in (1, 2)
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, a_DOT_vert=colour(0), a_DOT_frag=reads(0))
    for words, says in (
        (("batch", tmp_path), "-o OUT is missing"),
        (("batch", tmp_path, "-o", tmp_path / "out"), "it is inside the folder that is read"),
        (("batch", tmp_path, "-o", "x.foz"), "a folder makes a folder"),
        (("batch", "a.foz", "--plan"), "--plan is for a folder"),
        (("batch", tmp_path, tmp_path, "-o", "x"), "expected an archive (.foz), a manifest"),
    ):
        assert run(*words) == 2
        said = capsys.readouterr().err
        assert says in said and said.count("\n") == 1


def test_check_says_what_names_promise_and_interfaces_do_not_keep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody changed one of two shaders: that is what a check is run for."""
    put(tmp_path, a_DOT_vert=colour(0), a_DOT_frag=reads(0), sky_DOT_vert=colour(0))
    put(tmp_path, sky_DOT_frag=reads(3))
    assert run("check", tmp_path, "--json") == 1
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["pipelines"] == 2
    ((pipeline, file),) = {(f["pipeline"], f["file"]) for f in found["errors"]}
    assert (pipeline, file) == ("sky", str(tmp_path / "sky.frag.spv"))
    assert "left over" not in said.err
    assert run("batch", tmp_path, "--plan") == 0
    said = capsys.readouterr()
    assert "left over: sky.frag.spv" in said.err, "a batch leaves them alone"
    assert [json.loads(line)["id"] for line in said.out.splitlines()] == ["a"]


def test_check_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, a_DOT_vert=colour(0), a_DOT_frag=reads(0), b_DOT_vert=colour(1))
    (tmp_path / "broken.spv").write_bytes(b"abc")
    assert run("check", tmp_path) == 0
    said = capsys.readouterr()
    assert "1 pipeline: 0 errors, 2 warnings" in said.out
    assert "left over: b.vert.spv: no fragment shader fits" in said.err
    assert "left over: broken.spv: the file is too short" in said.err
    assert run("check", tmp_path, "--json") == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    file = str(tmp_path / "a.vert.spv")
    assert [(w["pipeline"], w["file"]) for w in warnings] == [("a", file)] * 2


@pytest.mark.parametrize(
    ("stages", "says"),
    [
        ('["../a.vert.spv", "a.frag.spv"]', "../a.vert.spv is not in the folder"),
        ('["/tmp/a.vert.spv"]', "/tmp/a.vert.spv is not in the folder"),
        ('[{file = "sub/../../a.vert.spv"}]', "a.vert.spv is not in the folder"),
        ('[{entry = "main"}]', "stages[0].file: expected the name of a file"),
        ('[{file = "a.vert.spv", spec = {1 = 1979-05-27}}]', "1979-05-27 is no value of JSON"),
    ],
)
def test_settings_reach_nothing_outside(
    stages: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in"
    put(source, a_DOT_vert=colour(0), a_DOT_frag=reads(0))
    put(tmp_path, a_DOT_vert=colour(0))
    (source / "spvlink.toml").write_text(f'[[pipeline]]\nid = "x"\nstages = {stages}\n')
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.spv")}
    assert run("batch", source, "-o", tmp_path / "out" / "deep") in (1, 2)
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1, said
    assert {p: p.read_bytes() for p in tmp_path.rglob("*.spv")} == before


def test_names_of_versions_do_not_meet(tmp_path: Path) -> None:
    """A file that is called as a further version of another one would be."""
    source, out = tmp_path / "in", tmp_path / "out"
    wide = "layout(location = 0) in vec4 c; layout(location = 9) in vec4 unread;"
    put(source, a_DOT_vert=colour(0), a_DOT_frag=reads(0), z_DOT_frag=fragment(wide, "c + unread"))
    other = vertex("layout(location = 1) out vec4 c;", "c = vec4(gl_InstanceIndex);")
    (source / "a.vert@v_.spv").write_bytes(other)
    (source / "b.frag.spv").write_bytes(reads(1))
    (source / "spvlink.toml").write_text(
        '[[pipeline]]\nid = "other"\nstages = ["a.vert@v_.spv", "b.frag.spv"]\n'
        '[[pipeline]]\nid = "u"\nstages = ["a.vert.spv", "a.frag.spv"]\n'
        '[[pipeline]]\nid = "v\\u0000"\nstages = ["a.vert.spv", "z.frag.spv"]\n'
    )
    assert run("batch", source, "-o", out, "--jobs", "1") == 0
    lines = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    names = [line["stages"][0]["file"] for line in lines]
    assert len({(out / name).read_bytes() for name in names}) == 3
    for line in lines:
        assert run("check", *(out / stage["file"] for stage in line["stages"])) == 0
