"""A stage that stays byte for byte as it is (--keep-interface), and what its neighbours gain."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering, mismatches
from spvlink.grammar import glsl
from tests.support.chain_text import PASS, frag, geom, vert
from tests.support.chains import NAMES, build, stages_of
from tests.support.closeness import assert_close
from tests.support.linking import Result, extended, fragment, vertex
from tests.support.samples import compile_glsl

ALL = [(name, kept) for name in NAMES for kept in stages_of(name)]

OUTPUTS = """layout(location = 1) out vec4 lit; layout(location = 2) out vec4 one;
layout(location = 3) out vec4 twin; layout(location = 4) out vec4 gone;
layout(location = 5) out vec4 never; layout(location = 6) out mat3 m;
"""
PRODUCER = OUTPUTS + (
    "void main() { lit = sin(p); one = vec4(1.0, 2.0, p.x, 3.0); twin = sin(p); gone = cos(p);"
    " m = mat3(sin(p.xyz + 1.0), sin(p.xyz + 2.0), sin(p.xyz + 3.0)); gl_Position = p; }"
)
INPUTS = OUTPUTS.replace(" out ", " in ")
CONSUMER = INPUTS + "void main() { o = lit + one * twin + never + vec4(m[1], 0.0); }"


def actions_of(linked: spvlink.Linked) -> dict[str, str]:
    """What became of each component: name.lane -> action."""
    return {
        f"{r.name}.{lane}": r.action
        for r in linked.remarks
        if r.interface != "vert"
        for lane in r.slot.rpartition(".")[2]
    }


@pytest.mark.parametrize(("name", "kept"), ALL[::3], ids=lambda v: v)
def test_shaders(name: str, kept: str) -> None:
    """Each draws what it drew, the stage that stays does so to the byte, and a second link finds
    nothing."""
    codes = list(build(name))
    scene, before = draw_covering(codes)
    for exact in (True, False):
        linked = spvlink.link(codes, keep_interface={kept}, complete=True, exact=exact)
        assert linked.defect is None and linked.validated == "validated"
        new = [stage.data for stage in linked.stages]
        at = stages_of(name).index(kept)
        assert new[at] == codes[at]
        if linked.passed_through:
            continue
        assert set(mismatches(new)) <= set(mismatches(codes))
        after = draw(new, scene)
        if exact:
            assert not compare(before, after)
        else:
            assert_close(before, after)
        again = spvlink.link(new, keep_interface={kept}, complete=True, exact=exact)
        assert again.passed_through == "nothing to gain"


def test_behind_a_stage_that_stays() -> None:
    """What it is known to write is known; what is read less of stays declared as it is."""
    codes = vertex(PRODUCER), fragment(CONSUMER)
    done = Result(*codes, spvlink.Options(keep_interface={"vert"}))
    assert done.data[0] == codes[0]
    became: dict[str, str] = {}
    for name, action in actions_of(done.linked).items():
        became.setdefault(action, "")
        became[action] += f"{name} "
    assert became == {
        "kept": "lit.x lit.y lit.z lit.w one.z gone.x gone.y gone.z gone.w "
        + "".join(f"m[{n}].{lane} " for n in range(3) for lane in "xyz"),
        "propagated": "one.x one.y one.w ",
        "merged": "twin.x twin.y twin.z twin.w ",
        "undefined": "never.x never.y never.z never.w ",
    }
    assert done.table(inputs=True) == {
        "lit": ("1.xyzw", "f32x4"), "one": ("2.xyzw", "f32x4"), "m": ("6-8.xyz", "f32x3x3"),
    }  # fmt: skip
    (border,) = done.linked.interfaces
    assert border.components[0] == border.components[1] and border.read == (8, 5)


def test_before_a_stage_that_stays() -> None:
    """What it does not read is not stored. It is still declared: the inputs of a stage need
    outputs (VUID 08743)."""
    code = INPUTS.replace("layout(location = 4) in vec4 gone;", "") + (
        "void main() { o = lit + one.xyzz + vec4(m[1], 0.0); }"
    )
    codes = vertex(PRODUCER), fragment(code)
    done = Result(*codes, spvlink.Options(keep_interface={"frag"}))
    assert done.data[1] == codes[1]
    actions = actions_of(done.linked)
    assert {actions[n] for n in ("twin.x", "gone.w", "one.w", "m[0].x", "m[2].z")} == {"removed"}
    assert {actions[n] for n in ("one.x", "one.z", "lit.x", "m[1].y")} == {"kept"}
    table = done.table()
    assert "gone" not in table and table["twin"] == ("3.xyzw", "f32x4")
    assert table["m"] == ("6-8.xyz", "f32x3x3")
    scene, before = draw_covering(list(codes))
    assert not compare(before, draw(done.data, scene))


def test_nothing_moves_into_a_stage_that_stays() -> None:
    """Constants and sums stay where they are, and so does every Location."""
    code = "layout(location = 3) in vec2 a; layout(location = 7) in vec2 b;"
    codes = (
        vertex(code.replace(" in ", " out ") + "void main() { a = p.xy; b = vec2(1.0); }"),
        fragment(code + "void main() { o = vec4(a + b, 0.0, 0.0); }"),
    )
    for kept in ("vert", "frag"):
        done = Result(*codes, spvlink.Options(keep_interface={kept}))
        table = done.table(inputs=True)
        assert table["a"] == ("3.xy", "f32x2") and ("b" in table) == (kept == "frag")
        assert done.table()["b"] == ("7.xy", "f32x2")


def test_blocks_are_not_taken_apart_for_one_side() -> None:
    """A block faces a block (Vulkan, "Interface Matching")."""
    block = "layout(location = 0) %s B { vec4 read; vec4 unread; };"
    codes = (
        vertex(block % "out" + "void main() { read = p; unread = p.wzyx; gl_Position = p; }"),
        fragment(block % "in" + "void main() { o = read; }"),
    )
    for kept in ("vert", "frag"):
        linked = spvlink.link(codes, keep_interface={kept})
        assert linked.passed_through == "nothing to gain"
        told = {r.why for r in linked.remarks if r.interface != "vert"}
        assert told == {"by --keep-interface, of a block"}


MIDDLE = [
    vert(
        "layout(location = 0) out vec4 c; layout(location = 1) out vec4 unread;"
        "layout(location = 2) out vec4 place;",
        "c = a; unread = sin(b); place = vec4(position, 1.0) + a * 0.01 - a * 0.005;",
    ),
    geom(
        "layout(location = 0) in vec4 c[]; layout(location = 2) in vec4 place[];"
        "layout(location = 0) out vec4 g; layout(location = 1) out vec4 two;",
        f"for (int i = 0; i < 3; ++i) {{ g = c[i] + place[i]; two = vec4(2.0); {PASS} }}",
    ),
    frag("layout(location = 0) in vec4 g; layout(location = 1) in vec4 two;", "color = g * two;"),
]


def test_in_the_middle() -> None:
    """Both neighbours gain, each by itself."""
    codes = [compile_glsl(text, stage) for stage, text in MIDDLE]
    linked = spvlink.link(codes, keep_interface={"geom"})
    assert linked.defect is None and linked.stages[1].data == codes[1]
    actions = actions_of(linked)
    assert actions["unread.x"] == "removed" and actions["two.x"] == "propagated"
    assert [(i.producer, i.consumer) for i in linked.interfaces] == [
        ("vert", "geom"), ("geom", "frag"),
    ]  # fmt: skip
    assert linked.interfaces[0].locations == (3, 2)
    scene, before = draw_covering(codes)
    assert not compare(before, draw([s.data for s in linked.stages], scene))


def test_what_an_undefined_value_decides_in_a_stage_that_stays() -> None:
    """Its own code is not simplified, so what one way through it reads is stored for that way."""
    codes = (
        vertex(
            "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;"
            "layout(location = 2) flat out int never;"
            "void main() { a = p; b = p.wzyx; gl_Position = p; }"
        ),
        fragment(
            "layout(location = 0) in vec4 a; layout(location = 1) in vec4 b;"
            "layout(location = 2) flat in int never;"
            "void main() { o = never == 0 ? a : b; }"
        ),
    )
    linked = spvlink.link(codes, keep_interface={"frag"})
    assert linked.passed_through == "nothing to gain"
    assert all(stage.data == code for stage, code in zip(linked.stages, codes))


def test_what_a_value_that_is_undefined_on_one_way_hangs_on() -> None:
    """``c ? a : undefined`` is no ``a`` for who goes out as he came: he has to be told ``c``."""
    declared = "layout(location = 0) %s vec4 a; layout(location = 1) %s vec4 c;"
    codes = (
        vertex(declared.replace("%s", "out") + "void main() { a = p; c = p * 2.0 + 3.0; }"),
        fragment(
            declared.replace("%s", "in")
            + "void main() { vec4 v; if (c.x > 0.0) v = a * c.y; o = v; }"
        ),
    )
    done = Result(*codes, spvlink.Options(keep_interface={"frag"}))
    actions = actions_of(done.linked)
    assert [actions[f"c.{lane}"] for lane in "xyzw"] == ["kept", "kept", "removed", "removed"]


def test_a_capture_stays_whoever_reads_it() -> None:
    codes = (
        vertex(
            "layout(xfb_buffer = 0, xfb_offset = 0, location = 0) out vec4 a;"
            "layout(location = 1) out vec4 b;"
            "void main() { a = p; b = sin(p.wzyx); gl_Position = p; }"
        ),
        fragment("void main() { o = vec4(1.0); }"),
    )
    done = Result(*codes, spvlink.Options(keep_interface={"frag"}))
    assert list(done.table()) == ["a"] and len(extended(done.vert, glsl.Glsl_Sin)) == 0
