"""Code that moves in a set (``sets/motion``): where all fragment shaders and producers agree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import spvlink
from spvlink.grammar import enums, ops
from spvlink.pipeline import Source
from spvlink.sets.link_set import LinkedSet, link_set, link_versions
from tests.render import draw, draw_covering
from tests.support.batch_sets import batch, write_lines
from tests.support.closeness import assert_close
from tests.support.linking import fragment, module_of, vertex
from tests.support.set_results import drawn, results, rows_of

BLOCK = "layout(push_constant) uniform P { vec4 tint; vec4 other; } pc;\n"
OUT = BLOCK + "\n".join(
    f"layout(location = {n}) out {type};"
    for n, type in enumerate(("vec4 t", "vec4 q", "vec2 r", "float gone"))
)
IN = OUT.replace(" out ", " in ")
A = OUT + "\nvoid main() { t = p * pc.tint.x; q = sin(p); r = p.xy; gone = p.z; gl_Position = p; }"
B = (
    OUT
    + "\nvoid main() { t = cos(p) - pc.tint; q = p.yxwz; r = p.wy; gone = p.z; gl_Position = p; }"
)
X = IN + "\nvoid main() { o = t * pc.other + q; o.x += abs(r.x); }"
Y = IN + "\nvoid main() { o = sin(t * pc.other + q); o.y += abs(r.y); }"
RAW = IN + "\nvoid main() { o = abs(t) + abs(q); }"

Rows = list[tuple[list[Source], spvlink.Options]]


def linked(
    producers: Sequence[str], consumers: Sequence[str], exact: bool = False
) -> tuple[Rows, LinkedSet]:
    options = spvlink.Options(complete=True, exact=exact)
    rows = rows_of([*map(vertex, producers)], [*map(fragment, consumers)], options)
    made = link_set(rows)
    drawn(made.pipelines, rows, exact)
    return rows, made


def moved(made: LinkedSet) -> set[str]:
    """The variables of which something moved, in any pipeline."""
    told = [r for one in results(made) for r in one.remarks]
    return {r.name for r in told if r.action == "moved-backward"}


def against(made: LinkedSet, rows: Rows) -> set[str]:
    """Who stands in the way, and how."""
    return {f"{rows[one.by[0]][0][one.by[1]].file} {one.what}" for one in made.held}


def whys(made: LinkedSet) -> list[str]:
    return [r.why for one in results(made) for r in one.remarks]


@pytest.mark.parametrize("producers", [[A], [A, B]])
@pytest.mark.parametrize("consumers", [[X], [X, Y]])
def test_all_agree(producers: list[str], consumers: list[str]) -> None:
    """Every producer makes the sum, every consumer reads it: four components of eight. A second
    link finds nothing."""
    more = [
        OUT
        + "\nvoid main() { t = p + pc.tint; q = p.zwxy; r = p.xx; gone = p.z; gl_Position = p; }"
    ]
    rows, made = linked([*producers, *more], consumers)
    assert moved(made) == {"t", "q"}
    assert {one.interfaces[0].components for one in results(made)} == {
        (11, 4 + len(consumers))  # and those of r
    }
    assert len({s.data for one in results(made) for s in one.stages}) == (
        len(producers) + 1 + len(consumers)
    )
    again = [([Source(s.data, s.file) for s in one.stages], rows[0][1]) for one in results(made)]
    assert all(one.passed_through == "nothing to gain" for one in results(link_set(again)))


def test_versions_too() -> None:
    """The same with two versions, and nothing else with ``all`` than a pair by itself."""
    rows = rows_of([vertex(A), vertex(B)], [fragment(X), fragment(Y)])
    made = link_versions(rows, 2)
    drawn(made.pipelines, rows, False)
    assert moved(made) == {"t", "q"}


def test_a_consumer_that_reads_nothing_of_it() -> None:
    """It reads neither operand, so it has no say."""
    blank = IN + "\nvoid main() { o = vec4(abs(r), 0.0, 1.0); }"
    _, made = linked([A, B], [X, blank])
    assert moved(made) == {"t", "q"}


def test_who_shares_no_producer() -> None:
    """A-X, A-Y, B-Y: X and B never meet, and all three agree."""
    a, b, x, y = vertex(A), vertex(B), fragment(X), fragment(Y)
    options = spvlink.Options(complete=True)
    for first, second in ((x, y), (y, x)):
        pairs = ((a, first), (a, second), (b, second))
        rows = [([Source(v), Source(f)], options) for v, f in pairs]
        made = link_set(rows)
        drawn(made.pipelines, rows, False)
        assert moved(made) == {"t", "q"}


def test_one_consumer_reads_raw() -> None:
    rows, made = linked([A, B], [X, RAW])
    assert not moved(made)
    assert against(made, rows) == {"f1 uses it otherwise"}
    assert any(
        "not moved: the frag stage of another pipeline uses it otherwise" in why
        for why in whys(made)
    )


def test_other_factors() -> None:
    """Two consumers that make different sums of the same: each reads its own, and there are no more
    components than before. With three there would be."""
    others = [X.replace("t * pc.other", f"t * pc.other.{lanes}") for lanes in ("wzyx", "zwxy")]
    _, made = linked([A, B], [X, others[0]])
    assert moved(made) == {"t", "q"}
    assert {one.interfaces[0].components for one in results(made)} == {(11, 9)}
    _, made = linked([A, B], [X, *others])
    assert not moved(made)
    assert any("other pipelines of the set compute another result" in why for why in whys(made))


@pytest.mark.parametrize(
    "other",
    [
        # a uniform that it may not see: push constants beyond what it declares
        B.replace(BLOCK, BLOCK.replace("vec4 other; ", "")),
        # Invariant
        B.replace("out vec4 q", "invariant out vec4 q"),
    ],
)
def test_one_producer_cannot(other: str) -> None:
    _, alone = linked([A, A.replace("sin(p)", "cos(p)")], [X, Y])
    assert moved(alone) == {"t", "q"}
    rows, made = linked([A, other], [X, Y])
    assert "q" not in moved(made)
    assert against(made, rows) == {"v1 cannot compute the same result"}
    assert any("not moved: the vert stage of another pipeline cannot" in why for why in whys(made))


@pytest.mark.parametrize(
    ("other", "alone", "may"),
    [
        ("o = vec4(abs(r), 0.0, 1.0) * u.b;", False, True),
        ("o = vec4(abs(r), 0.0, 1.0) * u.a;", False, False),
        ("o = u.a; if (r.x > 0.5) o += u.b;", False, False),
        ("o = vec4(abs(r), 0.0, 1.0) * u.b;", True, False),  # and no fragment shader at all
    ],
)
def test_bound_in_all_pipelines(other: str, alone: bool, may: bool) -> None:
    """A producer reads no more of a buffer than it or the consumer does in each of its pipelines:
    where that is less, less may be bound (VUID-vkCmdDraw-uniformBuffers-06935)."""
    block = "layout(set = 0, binding = 0) uniform U { vec4 a;%s } u;\n"
    a = vertex(A.replace(BLOCK, block % "").replace("pc.tint.x", "u.a"))
    both = IN.replace(BLOCK, block % " vec4 b;")
    x = fragment(both + "void main() { o = t * u.b + q * u.a; o.x += r.x; }")
    y = fragment(both + f"void main() {{ {other} }}")
    options = spvlink.Options(complete=True)
    rows = [([Source(a), Source(code)], options) for code in (x, y)]
    made = link_set([*rows, ([Source(a)], options)] if alone else rows)
    drawn(made.pipelines[:2], rows, False)
    assert moved(made) == ({"t", "q"} if may else {"q"})


def test_what_is_not_stored() -> None:
    """A producer that never writes one of the operands."""
    _, made = linked([A, B.replace("q = p.yxwz;", "")], [X, Y])
    assert "q" not in moved(made)


@pytest.mark.parametrize("exact", [False, True])
def test_flat(exact: bool) -> None:
    """Integers move with --exact, too; interpolated floats do not."""
    of = "layout(location = 4) flat out ivec2 n;\n"
    a, b = (
        of + A.replace("r = p.xy;", f"r = p.xy; n = ivec2(p.{lanes} * 9.0);")
        for lanes in ("xy", "zw")
    )
    into = of.replace(" out ", " in ")
    x, y = (
        into + code.replace("o.", f"o.z += float(n.x * 3 + n.y) * {scale}; o.", 1)
        for code, scale in ((X, "0.25"), (Y, "0.5"))
    )
    _, made = linked([a, b], [x, y], exact)
    assert moved(made) == ({"n"} if exact else {"n", "t", "q"})


def test_other_interpolation() -> None:
    """A consumer that reads Flat what another one interpolates."""
    y = Y.replace("layout(location = 0) in", "layout(location = 0) flat in")
    _, made = linked([A], [X, y])
    assert not moved(made)


@pytest.mark.parametrize("first", [False, True])
def test_stays_in_one(first: bool) -> None:
    """One consumer asks for a Flat input at another place of the pixel, so it stays; whichever is
    looked at first."""
    of = "layout(location = 4) flat out vec2 n;\n"
    into = of.replace(" out ", " in ")
    a, b = (of + code.replace("r =", "n = p.zw; r =") for code in (A, B))
    x = into + X.replace("o.x", "o.z += interpolateAtCentroid(n).x * 2.0; o.x")
    y = into + Y.replace("o.y +=", "o.z += n.x * 2.0 + n.y; o.y +=")
    _, made = linked([a, b], [x, y] if first else [y, x])
    assert moved(made) == {"t", "q", "n"}  # y of n


@pytest.mark.parametrize("blank", [False, True])
def test_stored_for_nobody(blank: bool) -> None:
    """What moves in one producer is captured in another one, of which nobody reads it."""
    place, none = "layout(location = 5, {}) out vec4 c;\n", "component = 0"
    a, b = (
        place.format(how) + code.replace("r =", "c = p * 3.0; r =")
        for how, code in (("xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16", A), (none, B))
    )
    x = "void main() { o = vec4(1.0); }" if blank else X
    y = place.format(none).replace(" out ", " in ") + Y.replace(
        "o.y +=", "o.z += c.x + c.y * pc.tint.x; o.y +="
    )
    codes = [vertex(a), vertex(b), fragment(x), fragment(y)]
    rows = [
        ([Source(codes[v]), Source(codes[f])], spvlink.Options(complete=True))
        for v, f in ((0, 2), (1, 2), (1, 3))
    ]
    made = link_set(rows)
    drawn(made.pipelines, rows, False)
    assert moved(made) == {"t", "q", "c"}


def test_matrix_product_that_stays_in_one() -> None:
    """One lane of it is equal in another consumer, where all of it moves."""
    matrix = "layout(push_constant) uniform P { vec4 tint; mat4 m; } pc;\n"
    a, b, into = (code.replace(BLOCK, matrix) for code in (A, B, IN))
    x = into + "void main() { o = pc.m * t + q; o.x += abs(r.x); }"
    y = into + "void main() { o = vec4(floor((pc.m * t).y * 8.0)); o.x += (pc.m * t).x; }"
    codes = [vertex(a), vertex(b), fragment(x), fragment(y)]
    rows = [
        ([Source(codes[v]), Source(codes[f])], spvlink.Options(complete=True))
        for v, f in ((0, 2), (1, 3), (1, 2))
    ]
    made = link_set(rows)
    drawn(made.pipelines, rows, False)
    assert moved(made) == {"q"}


def test_invariant_consumer() -> None:
    """What a depth depends on stays."""
    y = Y.replace("o.y += abs(r.y);", "gl_FragDepth = 0.5 + 0.25 * (t * pc.other + q).x;")
    _, made = linked([A, B], [X, y])
    assert not moved(made)
    assert any(
        "not moved: the frag stage of another pipeline uses it otherwise" in why
        for why in whys(made)
    )


def test_switched_off() -> None:
    options = spvlink.Options(complete=True)
    options.disabled = frozenset(("backward",))
    rows = rows_of([vertex(A), vertex(B)], [fragment(X), fragment(Y)], options)
    assert not moved(link_set(rows))


@pytest.mark.parametrize("uniform", [False, True])
def test_a_layout_shows_what_a_producer_lacks(uniform: bool) -> None:
    """Two consumers, whose own code it is, ask one producer for the same bytes: they are declared
    once."""
    block = (
        "layout(set = 0, binding = 0) uniform P" if uniform else "layout(push_constant) uniform P"
    )
    here = BLOCK.replace("layout(push_constant) uniform P", block)
    bindings = [{"binding": 0, "descriptorType": 6, "descriptorCount": 1, "stageFlags": 17}]
    layout = {
        "pushConstantRanges": [{"stageFlags": 17, "offset": 0, "size": 32}],
        "setLayouts": [{"set": 0, "bindings": bindings}],
    }
    options = spvlink.Options(complete=True, layout=layout)
    a, b = (code.replace(BLOCK, "").replace("pc.tint", "vec4(2.0)") for code in (A, B))
    a = a.replace("vec4(2.0).x", "2.0")
    x, y = (code.replace(BLOCK, here) for code in (X, Y))
    other = x.replace("+ q;", "+ q.wzyx;").replace("pc.other", "pc.other.zwxy")
    for consumers in ([x, y], [x, other]):
        rows = rows_of([vertex(a), vertex(b)], [*map(fragment, consumers)], options)
        made = link_set(rows)
        assert moved(made) == {"t", "q"}
        for one, (sources, _) in zip(results(made), rows):
            codes = [source.data for source in sources]
            scene, _ = draw_covering(codes)
            scene.open_to_all()
            assert_close(draw(codes, scene), draw([s.data for s in one.stages], scene))
            assert one.validated == "validated"
            blocks = module_of(one.stages[0].data).globals
            classes = (enums.StorageClass_Uniform, enums.StorageClass_PushConstant)
            found = [v for v in blocks if v.op == ops.OpVariable and v.imm[0] in classes]
            assert len(found) == 1

    blank = y.replace(here, "").replace("o = sin(t * pc.other + q);", "o = vec4(1.0);")
    assert blank.count("pc") == 0
    rows = rows_of([vertex(a), vertex(b)], [fragment(x), fragment(blank)], options)
    assert not moved(link_set(rows))  # with that one nothing need be bound


def test_the_report_names_who_is_in_the_way(tmp_path: Path) -> None:
    lines = []
    codes = {
        "a.vert": vertex(A),
        "b.vert": vertex(B),
        "x.frag": fragment(X),
        "r.frag": fragment(RAW),
    }
    for name, code in codes.items():
        (tmp_path / f"{name}.spv").write_bytes(code)
    for a in ("a.vert", "b.vert"):
        for x in ("x.frag", "r.frag"):
            stages = [{"file": f"{name}.spv"} for name in (a, x)]
            lines.append({"id": f"{a} {x}", "complete": True, "stages": stages})
    write_lines(tmp_path / "all.jsonl", lines)
    out, report = tmp_path / "out", tmp_path / "report.json"
    batch(tmp_path / "all.jsonl", "-o", out, "--variants", "1", "--report", report)
    held = {(line["name"], line["line"]) for line in json.loads(report.read_text())["held"]}
    words = "x.frag.spv: {} does not move: r.frag.spv uses it otherwise"
    assert held == {("t", words.format("t 0.xyzw")), ("q", words.format("q 1.xyzw"))}
