"""Frozen interfaces (``--write-interface``, ``--interface``): modules that are linked apart fit,
and draw what the originals draw; who needs more is refused by name."""

from __future__ import annotations

import copy
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import cli, link_frozen
from spvlink.draw import compare, draw, draw_covering, mismatches
from spvlink.errors import BadSpirv, Usage
from spvlink.link.check.interface import declared
from spvlink.sets.contract import from_json, to_json
from tests.support.chain_text import frag, geom, tesc, tese, vert
from tests.support.chains import build
from tests.support.linking import OUTPUT, fragment, module_of, vertex
from tests.support.samples import compile_glsl

EXACT = spvlink.Options(exact=True)
OUTPUTS = """layout(location = 1) out vec4 lit; layout(location = 2) out vec4 one;
layout(location = 3) out vec4 twin; layout(location = 4) out vec4 gone;
layout(location = 5) flat out ivec2 id; layout(location = 6) out vec2 never;
"""
BODY = (
    "void main() { lit = %s(p); one = vec4(p.x); twin = lit; gone = cos(p); id = ivec2(7, int(%s));"
    " gl_Position = p; }"
)
A = OUTPUTS + BODY % ("sin", "p.x * 4.0")
B = OUTPUTS + BODY % ("cos", "p.y * 9.0")
INPUTS = OUTPUTS.replace(" out ", " in ")
X = INPUTS + "void main() { o = lit + twin.wzyx + vec4(id.xyyy) * 0.1 + vec4(one.y, never, 0.0); }"
Y = INPUTS + "void main() { o = sin(lit) * twin + float(id.x) * 0.1; }"


def frozen(
    codes: list[bytes], interface: object = None, options: spvlink.Options = EXACT
) -> tuple[list[bytes], dict[str, Any]]:
    linked, document = link_frozen(codes, interface, options)
    assert linked.defect is None and linked.validated == "validated"
    return [stage.data for stage in linked.stages], document


def border(document: dict[str, Any], number: int = 0) -> dict[str, Any]:
    found = document["borders"][number]
    assert isinstance(found, dict)
    return found


def assert_drawn(before: list[bytes], after: list[bytes]) -> None:
    assert set(mismatches(after)) <= set(mismatches(before))
    scene, picture = draw_covering(before)
    assert not compare(picture, draw(after, scene))


def test_what_is_linked_apart_fits() -> None:
    """Every producer with every consumer, each linked by itself; and the two that the interface was
    made of come out as they did then."""
    both, document = frozen([vertex(A), fragment(X)])
    vertices = [frozen([vertex(text)], document)[0][0] for text in (A, B)]
    fragments = [frozen([fragment(text)], document)[0][0] for text in (X, Y)]
    assert both == [vertices[0], fragments[0]]
    for text, new in zip((A, B), vertices):
        for other, behind in zip((X, Y), fragments):
            assert_drawn([vertex(text), fragment(other)], [new, behind])


def test_what_the_file_says() -> None:
    _, document = frozen([vertex(A), fragment(X)])
    said = border(document)
    crossing = {place for v in said["variables"] for place in v["components"]}
    assert crossing == {*(f"1.{c}" for c in "xyzw"), "2.y", "5.y"}
    assert [(c["component"], c["value"]) for c in said["constants"]] == [("5.x", "0x00000007")]
    assert {(e["component"], e["as"]) for e in said["equal"]} == {
        (f"3.{c}", f"1.{c}") for c in "xyzw"
    }
    assert {u["component"] for u in said["unwritten"]} == {"6.x", "6.y"}
    assert {v["location"] for v in said["variables"]} == {1, 2, 5}  # fewer are not needed
    assert to_json(from_json(document)) == document == json.loads(json.dumps(document))


REFUSED = {
    "a component that nobody writes any more": (
        X.replace("one.y", "one.x"), "input one at Location 2.x is not part of the interface"),
    "a variable that was never there": (
        "layout(location = 9) in vec4 far; void main() { o = far; }",
        "input far at Location 9.x is not part"),
    "another interpolation": (
        X.replace("in vec4", "centroid in vec4"), "in another way"),
    "a dynamic index": (
        "layout(location = 1) in vec4 c[2]; layout(push_constant) uniform P { int i; };"
        "void main() { o = c[i]; }", "c stays whole"),
    "a value that may not be computed here": (
        X.replace("layout(location = 3)", "layout(location = 3) noperspective"),
        "input twin at Location 3.x is not part of the interface, which knows what it holds"),
}  # fmt: skip
REFUSED_PRODUCERS = {
    "another constant": (A.replace("ivec2(7", "ivec2(8"), "output id at Location 5.x"),
    "something that was unwritten": (
        A.replace("gone =", "never = p.xy; gone ="), "output never at Location 6.x"),
    "what is not equal": (A.replace("twin = lit", "twin = -lit"), "says that it is as 1.x"),
    "equal on one path only": (
        A.replace("twin = lit;", "twin = lit; if (p.x > 0.0) twin = p;"), "output twin"),
    "what is rounded on the way": (
        A.replace("(location = 1) out", "(location = 1) mediump out"), "says that it is as 1.x"),
    "Invariant alone": (
        A.replace("(location = 3) out", "(location = 3) invariant out"), "says that it is as 1.x"),
    "no output": (
        A.replace("layout(location = 5) flat out ivec2 id;", "ivec2 id;"), "has id"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_consumer_that_needs_more(name: str) -> None:
    _, document = frozen([vertex(A), fragment(X)])
    text, said = REFUSED[name]
    with pytest.raises(BadSpirv, match=said):
        link_frozen([fragment(text)], document, EXACT)


@pytest.mark.parametrize("name", REFUSED_PRODUCERS)
def test_a_producer_that_is_otherwise(name: str) -> None:
    _, document = frozen([vertex(A), fragment(X)])
    text, said = REFUSED_PRODUCERS[name]
    with pytest.raises(BadSpirv, match=said):
        link_frozen([vertex(text)], document, EXACT)


def test_a_producer_may_write_less() -> None:
    """Where it stores nothing the value was undefined, and a constant is right."""
    _, document = frozen([vertex(A), fragment(X)])
    text = A.replace("id = ivec2(7, int(p.x * 4.0));", "id.y = int(p.x * 4.0);")
    assert frozen([vertex(text)], document)[0]


CHAINS = (
    "gbuffer", "decal", "material", "cloth_layers", "leaf_points", "terrain_tess", "bezier_patch",
    "patch_constants", "wireframe", "pn_triangles", "captured_patch", "meshlets",
    "clustered_lights",
)  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_pipelines(name: str) -> None:
    """All stages at once, and each alone against the file that was written: the same bytes."""
    codes = list(build(name))
    both, document = frozen(codes)
    for code, new in zip(codes, both):
        assert frozen([code], document)[0] == [new]
    assert_drawn(codes, both)


@pytest.mark.parametrize("first", [True, False], ids=["producers first", "consumer first"])
@pytest.mark.parametrize("name", ["gbuffer", "material", "leaf_points", "pn_triangles", "meshlets"])
def test_one_half_first(name: str, first: bool) -> None:
    """The half before rasterization and the fragment shader, whichever was there first."""
    codes = list(build(name))
    halves = [codes[:-1], codes[-1:]] if first else [codes[-1:], codes[:-1]]
    early, document = frozen(halves[0])
    late, _ = frozen(halves[1], document)
    new = early + late if first else late + early
    assert new != codes or name == "meshlets"
    assert_drawn(codes, new)


def test_the_first_half_gives_what_any_consumer_may_read() -> None:
    _, document = frozen([vertex(A)])
    said = border(document)
    assert said["consumer"] is None and not said["constants"] and not said["equal"]
    for text in (X, Y):
        assert_drawn(
            [vertex(A), fragment(text)],
            frozen([vertex(A)], document)[0] + frozen([fragment(text)], document)[0],
        )


def test_an_output_of_integers_need_not_be_flat() -> None:
    """The consumer, given later, is: a fragment shader's inputs of integers always are."""
    text = A.replace("flat out", "out")
    (before,), document = frozen([vertex(text)])
    assert border(document)["consumer"] is None
    (behind,), _ = frozen([fragment(X)], document)
    assert_drawn([vertex(text), fragment(X)], [before, behind])


def test_a_control_shader_that_is_not_there() -> None:
    """How many vertices its patches have is not known."""
    stages = [
        vert("layout(location = 0) out vec4 va;", "va = sin(b);"),
        tesc("layout(location = 0) in vec4 va[]; layout(location = 0) out vec4 c[];",
             "c[gl_InvocationID] = va[gl_InvocationID];"),
        tese("layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 d;",
             "d = c[0] * float(gl_PatchVerticesIn);"),
        frag("layout(location = 0) in vec4 d;", "color = d;"),
    ]  # fmt: skip
    codes = [compile_glsl(text, stage) for stage, text in stages]
    new, document = frozen(codes)
    assert_drawn(codes, new)
    assert_drawn(codes, [frozen([code], document)[0][0] for code in codes])


def test_a_geometry_shader_between() -> None:
    stages = [
        vert("layout(location = 0) out vec4 va; layout(location = 3) out vec4 vx;",
             "va = b; vx = b;"),
        geom("layout(location = 0) in vec4 va[]; layout(location = 3) in vec4 vx[];"
             "layout(location = 2) out vec4 g;",
             "for (int n = 0; n < 3; ++n) { gl_Position = gl_in[n].gl_Position;"
             " g = va[n] + vx[n].yxwz; EmitVertex(); }"),
        frag("layout(location = 2) in vec4 g;", "color = g.xyxy;"),
    ]  # fmt: skip
    codes = [compile_glsl(text, stage) for stage, text in stages]
    new, document = frozen(codes)
    assert_drawn(codes, new)
    assert len(border(document)["equal"]) == 2 and len(border(document, 1)["variables"]) == 1


BACK = "layout(location = 0) in vec4 va[]; layout(location = 0) out vec4 c[]; "
CONTROLS = {
    "plain": BACK + "void main() { c[gl_InvocationID] = va[gl_InvocationID]; }",
    "per vertex": BACK + "layout(location = 5) out vec4 x[]; void main() { x[gl_InvocationID] ="
    " va[gl_InvocationID]; barrier(); c[gl_InvocationID] = x[(gl_InvocationID + 1) % 3]; }",
    "per patch": BACK + "layout(location = 5) patch out vec4 x; void main() {"
    " if (gl_InvocationID == 0) x = va[0] * 2.0; barrier();"
    " c[gl_InvocationID] = x * va[gl_InvocationID]; }",
    "in the way": BACK.replace("0) out", "3) out") + "layout(location = 0) out vec4 x[];"
    " void main() { x[gl_InvocationID] = va[gl_InvocationID]; barrier();"
    " c[gl_InvocationID] = x[(gl_InvocationID + 1) % 3]; }",
}  # fmt: skip


@pytest.mark.parametrize("first", CONTROLS)
@pytest.mark.parametrize("then", CONTROLS)
def test_what_a_control_shader_reads_back_is_its_own(first: str, then: str) -> None:
    place = {name: 3 if name == "in the way" else 0 for name in CONTROLS}
    if place[first] != place[then]:
        return  # they never fitted

    def stages(name: str) -> list[bytes]:
        _, text = tesc(*CONTROLS[name].replace("}", "\n}").split("void main() {", 1))
        texts = [
            vert("layout(location = 0) out vec4 va;", "va = b;"),
            ("tesc", text.rstrip().removesuffix("}")),
            tese(f"layout(location = {place[name]}) in vec4 c[]; layout(location = 0) out vec4 e;",
                 "e = c[0] * w.x + c[1] * w.y + c[2] * w.z;"),
            frag("layout(location = 0) in vec4 e;", "color = e;"),
        ]  # fmt: skip
        return [compile_glsl(text, stage) for stage, text in texts]

    codes, others = stages(first), stages(then)
    new, document = frozen(codes)
    assert_drawn(codes, new)
    new[1] = frozen([others[1]], document)[0][0]
    assert_drawn(others, new)
    crossing = border(document, 1)["variables"]
    assert [v["components"][0][0] for v in crossing] == [str(place[first])]


def test_what_is_read_back_stays_beside_what_crosses() -> None:
    """In its component, in place of a Location of its own (fuzz seed 33082730)."""
    control = (
        BACK + "layout(location = 1) out vec2 d[];",
        "c[gl_InvocationID] = va[gl_InvocationID]; barrier();"
        " d[gl_InvocationID] = vec2(c[(gl_InvocationID + 1) % 3].w, sin(float(gl_InvocationID)));",
    )
    stages = [
        vert("layout(location = 0) out vec4 va;", "va = b;"),
        tesc(*control),
        tese("layout(location = 0) in vec3 c[]; layout(location = 1) in vec2 d[];"
             "layout(location = 0) out vec4 e;", "e = vec4(c[0] * d[1].x, d[2].y);"),
        frag("layout(location = 0) in vec4 e;", "color = e;"),
    ]  # fmt: skip
    codes = [compile_glsl(text, stage) for stage, text in stages]
    new, document = frozen(codes)
    assert_drawn(codes, new)
    alone = frozen([codes[1]], document)[0][0]
    assert {d.place for d in declared(module_of(alone), OUTPUT)} == {(0, 0), (0, 3), (1, 0)}


def test_a_consumer_that_reads_the_twin_only() -> None:
    _, document = frozen([vertex(A), fragment(X)])
    for text in (
        "layout(location = 3) in vec4 twin; void main() { o = twin.yxwz; }",
        INPUTS + "void main() { o = twin * 2.0 + lit.x; }",
    ):
        new = frozen([vertex(A)], document)[0] + frozen([fragment(text)], document)[0]
        assert_drawn([vertex(A), fragment(text)], new)


def test_the_twin_is_read_as_precisely() -> None:
    """However the stage declares what it does not read."""
    _, document = frozen([vertex(A), fragment(X)])
    text = """layout(location = 1) mediump in vec4 lit; layout(location = 3) in vec4 twin;
void main() { o = twin; }"""
    (new,), _ = frozen([fragment(text)], document)
    done = subprocess.run(["spirv-dis", "-"], input=new, capture_output=True, check=True)
    assert b"Location 1" in done.stdout and b"RelaxedPrecision" not in done.stdout


WHOLE = "layout(location = 2) in vec4 a[2]; void main() { o = a[int(gl_FragCoord.x) & 1]; }"


def test_where_all_stays_later_modules_are_compared() -> None:
    producer = WHOLE.partition("void")[0].replace(" in ", " out ")
    producer += "void main() { a[0] = p; a[1] = p.yxwz; gl_Position = p; }"
    other = "layout(location = 9) in vec4 z; void main() { o = z; }"
    for first in ([fragment(WHOLE)], [vertex(producer), fragment(WHOLE)]):
        new, document = frozen(first)
        assert "dynamic index" in border(document)["kept"] and new == first
        assert frozen([vertex(producer)], document)[0] and frozen([fragment(WHOLE)], document)[0]
        with pytest.raises(BadSpirv, match="input z is not part of the interface"):
            link_frozen([fragment(other)], document)
        with pytest.raises(BadSpirv, match="no output like a"):
            link_frozen([vertex(producer.replace("= 2)", "= 1)"))], document)


def test_per_patch_is_not_per_vertex() -> None:
    control = "layout(location = 0) out vec4 c[]; layout(location = 3) out vec4 x[][2];"
    stages = tesc(control, "c[gl_InvocationID] = vec4(1.0);"
                  " x[gl_InvocationID][0] = x[gl_InvocationID][1] = vec4(1.0);")  # fmt: skip
    read = control.replace(" out vec4 c[]", " patch in vec4 c").replace(" out ", " in ")
    behind = tese(read + "layout(location = 0) out vec4 e;", "e = c + x[0][int(w.x * 1.9)];")
    code, other = [compile_glsl(text, stage) for stage, text in (behind, stages)]
    _, document = frozen([code])
    with pytest.raises(BadSpirv, match="no output like c"):
        link_frozen([other], document)


def test_no_fragment_shader() -> None:
    """That these are all stages is no matter: somebody reads the interface."""
    options = spvlink.Options(exact=True, complete=True)
    for codes in ([vertex(A)], [build("pn_triangles")[0]], list(build("meshlets"))[:1]):
        new, document = frozen(codes, None, options)
        assert (new, document) == frozen(codes)


# -- the file --------------------------------------------------------------------------------------


def spoil(document: dict[str, Any]) -> dict[str, tuple[dict[str, Any], str]]:
    """Damaged documents: name -> (document, what is said of it)."""
    found: dict[str, tuple[dict[str, Any], str]] = {}

    def spoiled(name: str, said: str) -> dict[str, Any]:
        made = copy.deepcopy(document)
        found[name] = made, said
        return made

    spoiled("version", "only 1 is known")["version"] = 2
    spoiled("no borders", "expected a list").pop("borders")
    spoiled("a real number", "only 1 is known")["version"] = 1.0
    spoiled("twice", "stands there twice")["borders"] *= 2
    two = spoiled("two behind", "stands there twice")["borders"]
    two.append({**two[0], "consumer": "geom"})
    border(spoiled("backwards", "no such stages meet")).update(producer="frag", consumer="vert")
    border(spoiled("vert and mesh", "no such stages meet"))["consumer"] = "mesh"
    border(spoiled("behind the last", "no such stages meet")).update(producer="frag", consumer=None)
    border(spoiled("stage", "expected a stage"))["producer"] = "comp"
    border(spoiled("unknown key", "unknown key 'more'"))["more"] = 1
    both = border(spoiled("shared", "two variables share Location 1.x"))["variables"]
    both[1].update(location=1, component=0)
    border(spoiled("old twice", "stands there twice"))["constants"][0]["component"] = "1.x"
    border(spoiled("equal to nothing", "what does not cross"))["equal"][0]["as"] = "9.x"
    border(spoiled("equal to another type", "what is of another type"))["equal"][0]["type"] = "u32"
    border(spoiled("value", "expected 32 bits"))["constants"][0]["value"] = "1.0"
    border(spoiled("type", "there are f32"))["variables"][0]["type"] = "f16"
    border(spoiled("place", "expected a component"))["unwritten"][0]["component"] = "6.q"
    border(spoiled("huge", "expected an integer from 0"))["variables"][0]["location"] = 1 << 40
    border(spoiled("wide", "within a Location"))["variables"][0]["component"] = 3
    border(spoiled("qualifier", "there are Centroid"))["variables"][0]["qualifiers"] = ["Odd"]
    return found


def test_damaged_documents() -> None:
    _, document = frozen([vertex(A), fragment(X)])
    for name, (damaged, said) in spoil(document).items():
        with pytest.raises(Usage, match=said):
            link_frozen([fragment(X)], damaged)
            pytest.fail(name)


def test_documents_with_other_values() -> None:
    """Whatever stands in it: one line, or modules that are valid."""
    _, document = frozen([vertex(A), fragment(X)])
    dice = random.Random(7)
    junk = [None, -1, 5, "x", "1.x", "u32", [], {}, True, "0xffffffff", 1.5, ["Flat"]]
    refused = 0
    for _ in range(60):
        made = copy.deepcopy(document)
        part = border(made)
        for _ in range(dice.randint(1, 2)):
            kind = dice.choice(("variables", "constants", "equal", "unwritten"))
            entry = dice.choice(part[kind])
            entry[dice.choice(list(entry))] = dice.choice(junk)
        for code in (vertex(A), fragment(X)):
            try:
                linked, _ = link_frozen([code], made)
                assert linked.defect is None
            except (BadSpirv, Usage) as why:
                assert "\n" not in str(why)
                refused += 1
    assert 60 < refused < 120


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, code in (("a.spv", vertex(A)), ("x.spv", fragment(X)), ("z.spv", fragment(
        X.replace("one.y", "one.x")))):  # fmt: skip
        (tmp_path / name).write_bytes(code)
    a, x, z = [str(tmp_path / f"{n}.spv") for n in "axz"]
    file, out = str(tmp_path / "i.json"), tmp_path / "out"
    assert cli.main(["link", a, x, "-o", str(out), "--exact", "--write-interface", file]) == 0
    document = json.loads(Path(file).read_text())
    new = [(out / name).read_bytes() for name in ("a.spv", "x.spv")]
    assert new == frozen([vertex(A), fragment(X)])[0]
    other = tmp_path / "other"
    assert cli.main(["link", x, "-o", str(other), "--exact", "--interface", file]) == 0
    assert (other / "x.spv").read_bytes() == (out / "x.spv").read_bytes()
    assert capsys.readouterr().err == "" and border(document)["producer"] == "vert"

    assert cli.main(["link", z, "-o", str(tmp_path / "no"), "--interface", file]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"spvlink: error: {z}: input one at Location 2.x is not part of")
    assert said.count("\n") == 1 and not (tmp_path / "no").exists()
    wrong = [
        ["--interface", file, "--write-interface", str(tmp_path / "j.json")],
        ["--interface", str(tmp_path / "none.json")],
        ["--interface", x],
        ["--interface", file, "--keep-interface", "vert"],
        ["--write-interface", x],
    ]
    for words in wrong:
        assert cli.main(["link", x, "-o", str(tmp_path / "no"), *words]) == 2, words
        assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "no").exists()


def test_stages_that_are_not_there() -> None:
    _, document = frozen([vertex(A), fragment(X)])
    with pytest.raises(BadSpirv, match="the interface has no tese stage"):
        link_frozen([build("terrain_tess")[2]], document)
    with pytest.raises(BadSpirv, match="a second vert stage"):
        link_frozen([vertex(A), vertex(B)], document)
    with pytest.raises(Usage, match="no stages"):
        link_frozen([], document)


def test_a_consumer_that_reads_only_what_is_equal() -> None:
    """Nothing else is done to it; as it came, with another interface around (chain/as_it_came), it
    would read zero."""
    text = "layout(location = 1) %s vec3 v;"
    before = vertex(
        text % "out" + "void main() { float s = sin(p.x); v = vec3(s, p.y, s); gl_Position = p; }"
    )
    reader = text % "in" + "void main() { o = vec4(v.%s, 1.0); }"
    (first, _), document = frozen([before, fragment(reader % "xyz")])
    assert border(document)["equal"]
    behind = fragment(reader % "zyy")
    (alone,), _ = frozen([behind], document)
    assert_drawn([before, behind], [first, alone])


@pytest.mark.parametrize("word", ["centroid", "sample"])
def test_a_stage_that_knows_of_one_sample_takes_the_interface(word: str) -> None:
    """With one sample the fragment stage reads a centroid input as a smooth one, while the
    interface, which knows no state, says centroid."""
    varying = f"layout(location = 0) {word} %s vec4 v;\nlayout(location = 1) %s vec4 w;\n"
    codes = [
        compile_glsl(*reversed(vert(varying % ("out", "out"), "v = sin(a); w = cos(a);"))),
        compile_glsl(*reversed(frag(varying % ("in", "in"), "color = v * w.x + v.wzyx;"))),
    ]
    _, document = frozen(codes)
    state = {"version": 1, "rasterizationSamples": 1, "sampleLocationsEnable": False,
             "conservativeRasterization": False, "fragmentShadingRate": False}  # fmt: skip
    options = spvlink.Options(exact=True, state=state)
    alone = [frozen([code], document, options)[0][0] for code in codes]
    assert_drawn(codes, alone)
