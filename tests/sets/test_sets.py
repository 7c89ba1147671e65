"""Modules that pipelines share: one version, or K, for all of them (``batch --variants``)."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.binary.encode import encode
from spvlink.errors import SpvlinkError
from spvlink.grammar import enums
from spvlink.ir.core import EXECUTION_MODES
from spvlink.pipeline import Linked, Source
from spvlink.sets.link_set import link_set, link_versions
from spvlink.sets.versions import choose
from tests.render import compare, draw, draw_covering, mismatches
from tests.support.chains import NAMES, build, environment, stages_of
from tests.support.linking import fragment, module_of, vertex
from tests.support.random_sets import make
from tests.support.samples import compile_glsl
from tests.support.set_results import drawn, results, rows_of

OUTPUTS = """layout(location = 1) out vec4 lit; layout(location = 2) out vec4 one;
layout(location = 3) out vec4 twin; layout(location = 4) out vec4 gone;
layout(location = 5) out vec3 n; layout(location = 6) out mat3 m;
layout(location = 9) out vec2 never;
"""
BODY = (
    "void main() { lit = %s(p); one = vec4(1.0, %s, p.x, 3.0); twin = %s; gone = cos(p);"
    " n = p.xyz * %s; m = mat3(sin(p.xyz), sin(p.xyz + 2.0), cos(p.xyz)); gl_Position = p; }"
)
A = OUTPUTS + BODY % ("sin", "2.0", "sin(p)", "p.w")
B = OUTPUTS + BODY % ("cos", "2.5", "cos(p)", "p.x")
INPUTS = OUTPUTS.replace(" out ", " in ")
X = INPUTS + "void main() { o = lit + one * twin + vec4(n, never.x); }"
Y = INPUTS + "void main() { o = vec4(n.z) + vec4(m[1], 1.0) + one.x; }"


@pytest.mark.parametrize("exact", [False, True])
def test_one_version_serves_all(exact: bool) -> None:
    """Dead, undefined, constant and equal components go where all agree; the rest is packed alike.
    A second link finds nothing."""
    rows = rows_of(
        [vertex(A), vertex(B)], [fragment(X), fragment(Y)],
        spvlink.Options(complete=True, exact=exact),
    )  # fmt: skip
    made = link_set(rows)
    found = results(made)
    drawn(made.pipelines, rows, exact)
    assert len({s.data for linked in found for s in linked.stages}) == 4
    assert all(linked.validated == "validated" for linked in found)
    fate = {f"{r.name} {r.slot}": r.action for r in found[0].remarks}
    assert fate["gone 4.xyzw"] == fate["m[0] 6.xyz"] == "removed"
    assert [fate[f"twin 3.{lane}"] for lane in "xyzw"] == ["merged"] * 4
    assert fate["never 9.x"] == "undefined"
    if not exact:  # 3 is stored by both, 2 and 2.5 are not the same
        assert fate["one 2.w"] == "propagated" and fate["one 2.y"] == "packed"
        assert made.least == (10, 10)
    again = link_set(
        [([Source(s.data, s.file) for s in linked.stages], rows[0][1]) for linked in found]
    )
    assert all(linked.passed_through == "nothing to gain" for linked in results(again))


@pytest.mark.parametrize("shader", [X, "void main() { o = vec4(1.0); }"])
def test_a_module_that_is_not_valid_is_an_error_of_its_pipelines_alone(shader: str) -> None:
    """Whether linking would change it or not: spirv-val judges sets as it does single pipelines."""
    module = module_of(fragment(shader))
    modes = module.sections[EXECUTION_MODES]
    modes[:] = [i for i in modes if i.imm[0] != enums.ExecutionMode_OriginUpperLeft]
    rows = rows_of([vertex(A), vertex(B)], [encode(module), fragment(Y)])
    made = link_set(rows)
    for (sources, _), linked in zip(rows, made.pipelines, strict=True):
        if sources[1].file == "f0":
            assert isinstance(linked, spvlink.BadSpirv) and linked.file == "f0"
            assert "spirv-val refuses it" in linked.message
        else:
            assert isinstance(linked, Linked) and linked.validated == "validated"


def test_what_could_not_go_is_told() -> None:
    made = link_set(rows_of([vertex(A)], [fragment(X), fragment(Y)]))
    told = {(line.name, line.slot): (line.readers, line.among) for line in made.shared}
    assert told["m[1]", "7.xyz"] == ([1], [0, 1])
    assert told["n", "5.xy"] == ([0], [0, 1])
    assert ("n", "5.z") not in told  # all read it


@pytest.mark.parametrize("complete", [False, True])
def test_a_stage_without_its_producer_keeps_its_inputs(complete: bool) -> None:
    """A pipeline may come without the stages before its first one, as a library does: whatever
    another pipeline has there, this one may have something else."""
    options = spvlink.Options(complete=complete)
    vert, frag = Source(vertex(A)), Source(fragment(X))
    for both in ([([vert, frag], options), ([frag], options)], [([frag], options)] * 2):
        for linked in results(link_set(both)):
            assert not any(stage.changed for stage in linked.stages)
            assert linked.passed_through


def test_a_planted_partner_changes_the_answer() -> None:
    """A third consumer that reads what was dead keeps it, a producer with another constant takes
    the constant back, and what is drawn is right all the same."""
    z = INPUTS + "void main() { o = gone + twin; }"
    c = A.replace("one = vec4(1.0,", "one = vec4(1.5,")
    few = rows_of([vertex(A), vertex(B)], [fragment(X), fragment(Y)])
    more = rows_of([vertex(A), vertex(B), vertex(c)], [fragment(X), fragment(Y), fragment(z)])
    before, after = results(link_set(few))[0], results(made := link_set(more))[0]
    kinds = [{r.name: r.action for r in linked.remarks} for linked in (before, after)]
    assert kinds[0]["gone"] == "removed" and kinds[1]["gone"] != "removed"
    lanes = [{r.slot: r.action for r in linked.remarks} for linked in (before, after)]
    assert lanes[0]["2.x"] == "propagated" and lanes[1]["2.x"] != "propagated"
    drawn(made.pipelines, more, False)


def moved(code: bytes, name: str, other: str) -> bytes:
    """A module in which one variable has the Location of another one."""
    text = subprocess.run(["spirv-dis", "-"], input=code, capture_output=True, check=True)
    lines = text.stdout.decode().splitlines()
    (place,) = [line.split()[-1] for line in lines if f"OpDecorate %{other} Location" in line]
    at = next(n for n, line in enumerate(lines) if f"OpDecorate %{name} Location" in line)
    lines[at] = f"OpDecorate %{name} Location {place}"
    made = subprocess.run(
        ["spirv-as", "-", "-o", "-"],
        input="\n".join(lines).encode(),
        capture_output=True,
        check=True,
    )
    return made.stdout


def test_planted_faults_are_seen() -> None:
    """What would be wrong in a set is not overlooked: a partner that reads what is gone, a producer
    with another constant, two wires in one slot."""
    found = results(link_set(rows_of([vertex(A), vertex(B)], [fragment(X), fragment(Y)])))
    a, x = [stage.data for stage in found[0].stages]
    assert not mismatches([a, x])
    reads = INPUTS + "void main() { o = gone + twin; }"
    assert any("is not written" in m for m in mismatches([a, fragment(reads)]))

    c = A.replace("one = vec4(1.0,", "one = vec4(1.5,")
    apart = results(link_set(rows_of([vertex(c), vertex(B.replace("vec4(1.0,", "vec4(1.5,"))],
                                     [fragment(X), fragment(Y)])))  # fmt: skip
    other = apart[0].stages[0].data
    assert not mismatches([other, x])  # it looks as if it fitted
    scene, before = draw_covering([vertex(c), fragment(X)])
    assert compare(before, draw([other, x], scene))

    assert any("overlap" in m for m in mismatches([moved(a, "n", "lit"), x]))


def test_uniforms_are_read_where_all_producers_read_them() -> None:
    block = "layout(push_constant) uniform P { vec4 tint; vec4 other; } pc;\n"
    out = block + "layout(location = 0) out vec4 t; layout(location = 1) out vec4 q;\n"
    a = out + "void main() { t = pc.tint; q = p; gl_Position = p; }"
    b = out + "void main() { t = pc.tint; q = p.yxzw; gl_Position = p; }"
    other = out + "void main() { t = pc.other; q = p; gl_Position = p; }"
    inputs = out.replace(" out ", " in ")
    x = inputs + "void main() { o = t * q + pc.other; }"
    y = inputs + "void main() { o = t - q.wzyx + pc.other; }"
    for producers, gains in (([a, b], True), ([a, other], False)):
        rows = rows_of([*map(vertex, producers)], [fragment(x), fragment(y)])
        made = link_set(rows)
        drawn(made.pipelines, rows, False)
        for linked in results(made):
            assert (linked.passed_through is None) == gains
            if gains:
                assert {r.name: r.action for r in linked.remarks}["t"] == "propagated"


def test_versions() -> None:
    """What is read alike shares a version; then the cheapest are merged."""
    reads = {n: frozenset(keys) for n, keys in enumerate(([1, 2], [1, 2], [3], [1, 2, 4]))}
    assert choose(reads, 3) == {0: 0, 1: 0, 2: 1, 3: 2}
    assert choose(reads, 2) == {0: 0, 1: 0, 2: 1, 3: 0}
    assert set(choose(reads, 1).values()) == {0}
    rows = rows_of([vertex(A)], [fragment(X), fragment(Y)])
    made = link_versions(rows, 2)
    drawn(made.pipelines, rows, False)
    sizes = [sum(i.components[1] for i in linked.interfaces) for linked in results(made)]
    one = [sum(i.components[1] for i in linked.interfaces) for linked in results(link_set(rows))]
    assert sizes[0] < one[0] and sizes[1] < one[1]


def test_a_bad_pipeline_costs_itself_only() -> None:
    """A producer that writes another type than is read, and a module that is none."""
    odd = fragment(INPUTS.replace("in vec4 lit", "flat in ivec4 lit") + "void main() { o = lit; }")
    rows = rows_of([vertex(A), vertex(B)], [fragment(X), fragment(Y)])
    rows.append(([rows[0][0][0], Source(odd, "odd")], rows[0][1]))
    rows.append(([rows[0][0][0], Source(b"nothing", "none")], rows[0][1]))
    made = link_set(rows)
    assert all(isinstance(bad, SpvlinkError) for bad in made.pipelines[4:])
    assert all(isinstance(p, Linked) and p.passed_through is None for p in made.pipelines[:4])


def test_what_comes_behind_is_not_known() -> None:
    """A vertex shader that another pipeline has alone keeps its interface."""
    rows = rows_of([vertex(A)], [fragment(X), fragment(Y)], spvlink.Options())
    rows.append(([rows[0][0][0]], spvlink.Options()))
    for linked in results(link_set(rows)):
        assert all(not s.changed for s in linked.stages if s.stage == "vert")


def test_command(tmp_path: Path) -> None:
    """Never more modules than came in with 1; the report names who reads what stays."""
    lines = []
    for name, code in (("a", vertex(A)), ("b", vertex(B))):
        (tmp_path / f"{name}.vert.spv").write_bytes(code)
    for name, code in (("x", fragment(X)), ("y", fragment(Y))):
        (tmp_path / f"{name}.frag.spv").write_bytes(code)
    for a, x in itertools.product("ab", "xy"):
        stages = [{"file": f"{a}.vert.spv"}, {"file": f"{x}.frag.spv"}]
        lines.append(json.dumps({"id": f"{a}{x}", "stages": stages}))
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    modules: dict[str, list[int]] = {}
    for variants in ("1", "2", "all"):
        out, report = tmp_path / f"out{variants}", tmp_path / f"{variants}.json"
        words = ["batch", str(tmp_path / "all.jsonl"), "-o", str(out), "--report", str(report)]
        words += ["--variants", variants, "--progress", "never", "--disable", "backward"]
        assert cli.main(words) == 0
        told = json.loads(report.read_text())
        modules[variants] = told["totals"]["modules"]
        assert len(list((out / "modules").iterdir())) == modules[variants][1]
        if variants == "1":
            wanted = "m[1] 7.xyz stays: read by 1 of 2 pipelines: ay"
            assert any(line["line"].endswith(wanted) for line in told["shared"])
    assert modules["1"] == [4, 4]
    assert modules["1"][1] < modules["2"][1] == 6 and modules["all"][1] == 7


@pytest.mark.parametrize("seed", range(12))
def test_random(seed: int) -> None:
    """Each pipeline draws what it drew, with one version and with two; none has more modules or
    Locations than before."""
    exact = seed % 2 == 0
    rows = make(seed, exact)
    for most in (1, 2):
        made = link_versions(rows, most)
        drawn(made.pipelines, rows, exact)
        new: dict[bytes, set[bytes]] = {}
        for linked, (sources, _) in zip(results(made), rows):
            for source, stage in zip(sources, linked.stages):
                new.setdefault(source.data, set()).add(stage.data)
            assert all(i.locations[1] <= i.locations[0] for i in linked.interfaces)
        assert all(len(versions) <= most for versions in new.values())


def test_who_has_one_producer_leaves_it_to_others() -> None:
    """X meets A only, so it knows what A stores; Y reads the same of A and B, which differ."""
    x = fragment(X)
    y = fragment(INPUTS + "void main() { o = lit + one * twin; }")
    a, b = vertex(A), vertex(B)
    options = spvlink.Options(complete=True)
    rows = [([Source(v), Source(f)], options) for v, f in ((a, x), (a, y), (b, y))]
    made = link_set(rows)
    drawn(made.pipelines, rows, False)


CHAINS = [name for name in NAMES if len(stages_of(name)) > 2 and stages_of(name)[-1] == "frag"]


@pytest.mark.parametrize("name", CHAINS)
def test_longer_chains(name: str) -> None:
    """A pipeline of three stages and more that shares all but the last with another one, which
    reads nothing."""
    codes = [*build(name)]
    blank = fragment("void main() { o = vec4(1.0); }")
    for exact in (True, False):
        options = spvlink.Options(complete=True, exact=exact)
        rows = [([Source(c) for c in (*codes[:-1], last)], options) for last in (codes[-1], blank)]
        made = link_set(rows)
        assert len(results(made)) == 2
        drawn(made.pipelines[:1], rows[:1], exact)


def optimized(code: bytes, name: str) -> bytes:
    """A module as an optimizer leaves it: other bytes, the same interface."""
    words = ["spirv-opt", f"--target-env={environment(name)}", "-O", "-", "-o", "-"]
    return subprocess.run(words, input=code, capture_output=True, check=True).stdout


@pytest.mark.parametrize("name", CHAINS[::3])
def test_longer_chains_share_their_middle(name: str) -> None:
    """Pipelines of three stages and more that differ in the first stage, or in the last."""
    codes = [*build(name)]
    first, last = optimized(codes[0], name), optimized(codes[-1], name)
    options = spvlink.Options(complete=True)
    rows = [
        ([Source(c) for c in row], options)
        for row in (codes, [first, *codes[1:]], [*codes[:-1], last])
    ]
    made = link_set(rows)
    assert len(results(made)) == 3
    drawn(made.pipelines, rows, False)


HALVES = [
    vertex(
        "layout(location = 0) out vec3 a; layout(location = 1) out vec3 b;"
        " layout(location = 2) flat out double d;"
        " void main() { a = sin(p.xyz); b = cos(p.xyz); gl_Position = p;"
        " d = packDouble2x32(uvec2(k.x, 1072693248u)); }"
    ),
    compile_glsl(
        """#version 450
        layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
        layout(location = 0) in vec3 a[]; layout(location = 1) in vec3 b[];
        layout(location = 2) flat in double d[]; layout(location = 0) out vec4 c;
        void main() {
            for (int i = 0; i < 3; i++) {
                c = vec4(a[i] * b[i], float(d[i] * 3.0LF));
                gl_Position = gl_in[i].gl_Position;
                EmitVertex();
            }
        }""",
        "geom", "vulkan1.1",
    ),
    fragment("layout(location = 0) in vec4 c; void main() { o = c; }"),
]  # fmt: skip
SINGLE = {
    "bone_trails": ["gl_Position", "built-in", "removed", ""],
    "half_words": ["d", "2.y", "propagated", "high half"],
    "meshlet_cull": ["payload.total", "payload.x", "propagated", ""],
    "terrain_wire": ["vSplat", "3.x", "merged", ""],
}


@pytest.mark.parametrize("name", SINGLE)
def test_a_border_that_shares_nothing_is_linked_as_in_a_pipeline(name: str) -> None:
    """Built-ins, payloads and 64-bit numbers too: only the last stage differs here."""
    codes = HALVES if name == "half_words" else [*build(name)]
    options = spvlink.Options(complete=True, exact=name == "half_words")
    blank = fragment("void main() { o = vec4(1.0); }")
    rows = [([Source(c) for c in (*codes[:-1], last)], options) for last in (codes[-1], blank)]
    of_set, alone = results(link_set(rows))[0], spvlink.link(codes, options)
    assert of_set.interfaces[0].locations == alone.interfaces[0].locations
    assert of_set.interfaces[0].components == alone.interfaces[0].components
    border = f"{alone.interfaces[0].producer}->{alone.interfaces[0].consumer}"
    told = [
        {(r.name, r.slot, r.action, r.why) for r in one.remarks if r.interface == border}
        for one in (of_set, alone)
    ]
    assert told[0] == told[1]
    assert any(words == SINGLE[name][:3] and SINGLE[name][3] in why for *words, why in told[0])


def test_rasterization_reads_the_built_ins_of_a_stage_that_ends_a_pipeline() -> None:
    """The geometry shader of one pipeline reads no PointSize; another pipeline draws points."""
    vert = vertex("void main() { gl_Position = p; gl_PointSize = p.x; }")
    geom = compile_glsl(
        """#version 450
        layout(points) in; layout(points, max_vertices = 1) out;
        layout(location = 0) out vec4 c;
        void main() {
            c = vec4(1.0); gl_Position = gl_in[0].gl_Position; gl_PointSize = 1.0; EmitVertex();
        }""",
        "geom",
        "vulkan1.1",
    )
    frag = fragment("layout(location = 0) in vec4 c; void main() { o = c; }")
    options = spvlink.Options(complete=True)
    rows = [([Source(c) for c in row], options) for row in ([vert, geom, frag], [vert])]
    alone = spvlink.link([vert, geom, frag], options)
    assert ("gl_PointSize", "removed") in {(r.name, r.action) for r in alone.remarks}
    made = results(link_set(rows))
    assert ("gl_PointSize", "removed") not in {(r.name, r.action) for r in made[0].remarks}


def test_another_pipeline_changes_its_family_only() -> None:
    """The modules of a family that it shares nothing with come out as they did."""
    first = rows_of([vertex(A)], [fragment(X), fragment(Y)])
    others = [X.replace("o = lit", "o = lit.yxwz"), Y.replace("m[1]", "m[2]")]
    second = rows_of([vertex(B)], [fragment(text) for text in others])
    new = rows_of([vertex(A)], [fragment(X.replace("one * twin", "gone"))])
    before, after = results(link_set(first + second)), results(link_set(first + second + new))
    assert [[s.data for s in one.stages] for one in before[2:]] == [
        [s.data for s in one.stages] for one in after[2:4]
    ]
    assert before[0].stages[0].data != after[0].stages[0].data  # "gone" is read now
