"""One frozen interface for several producers and consumers (``spvlink.sets.joint``): whoever was
linked with it fits whoever else was, and draws the same; who cannot obey is left out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from spvlink.draw import compare, draw, draw_covering, mismatches
from spvlink.grammar import ops
from spvlink.link.check import interface
from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.sets import joint as joint_sets
from spvlink.sets.contract import Wire
from spvlink.sets.joint import ALONE, Member, link_joint
from spvlink.state import PipelineState
from tests.support.chain_text import PASS, frag, geom, vert
from tests.support.joint_inputs import INPUTS, OUTPUTS
from tests.support.linking import OUTPUT, count, fragment, module_of, vertex
from tests.support.samples import compile_glsl

BODY = (
    "void main() { lit = %s(p); one = vec4(p.x); twin = lit; gone = cos(p); id = ivec2(7, int(%s));"
    " gl_Position = p; }"
)
A = OUTPUTS + BODY % ("sin", "p.x * 4.0")
B = OUTPUTS + BODY % ("cos", "p.y * 9.0")
X = INPUTS + "void main() { o = lit + twin.wzyx + vec4(id.xyyy) * 0.1 + vec4(one.y, never, 0.0); }"
Y = INPUTS + "void main() { o = sin(lit) * one.x + float(id.x) * 0.1; }"


def joint(
    producers: list[list[bytes]], consumers: list[bytes], exact: bool = True
) -> tuple[list[Member], list[Member], Any]:
    def member(codes: list[bytes]) -> Member:
        options = Options(exact=exact)
        options.spec_defaults = True
        return Member([Source(code) for code in codes], options)

    sides = [member(codes) for codes in producers], [member([code]) for code in consumers]
    return *sides, link_joint(*sides)


def codes_of(member: Member) -> list[bytes]:
    assert member.linked is not None, member.reason
    return [stage.data for stage in member.linked.stages]


def chain_of(*texts: tuple[str, str]) -> list[bytes]:
    return [compile_glsl(text, stage, "vulkan1.0") for stage, text in texts]


def assert_all_fit(
    producers: list[list[bytes]], consumers: list[bytes], made: tuple[list[Member], list[Member]],
    undefined: Collection[tuple[bytes, bytes]] = (),
) -> None:  # fmt: skip
    """Every pair of members, but for those whose picture is not defined."""
    for before, ahead in zip(producers, made[0]):
        for other, behind in zip(consumers, made[1]):
            if ahead.linked is None or behind.linked is None or (before[-1], other) in undefined:
                continue
            old, new = [*before, other], [*codes_of(ahead), *codes_of(behind)]
            assert set(mismatches(new)) <= set(mismatches(old))
            scene, picture = draw_covering(old)
            assert not compare(picture, draw(new, scene))


def test_all_of_them_fit() -> None:
    producers, consumers = [[vertex(A)], [vertex(B)]], [fragment(X), fragment(Y)]
    ahead, behind, document = joint(producers, consumers)
    (border,) = document["borders"]
    crossing = {place for v in border["variables"] for place in v["components"]}
    assert crossing == {*(f"1.{c}" for c in "xyzw"), "2.x", "5.y"}, crossing
    assert [c["component"] for c in border["constants"]] == ["5.x"]
    assert {u["component"] for u in border["unwritten"]} == {"6.x", "6.y"}
    assert all(member.linked for member in (*ahead, *behind))
    assert_all_fit(producers, consumers, (ahead, behind))


MORE_PRODUCERS = {
    "another constant": A.replace("ivec2(7", "ivec2(8"),
    "something that was unwritten": A.replace("gone =", "never = p.xy; gone ="),
    "what is not equal": A.replace("twin = lit", "twin = -lit"),
}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", MORE_PRODUCERS)
def test_what_one_producer_does_not_hold_to_crosses(name: str, exact: bool) -> None:
    """Nobody is left out because of it, whoever comes first."""
    texts = [A, B, MORE_PRODUCERS[name]]
    for order in (texts, texts[::-1]):
        producers, consumers = [[vertex(text)] for text in order], [fragment(X), fragment(Y)]
        ahead, behind, _ = joint(producers, consumers, exact)
        assert all(member.linked for member in (*ahead, *behind))
        unwritten = name.endswith("unwritten")  # and X reads it
        undefined = [(vertex(text), fragment(X)) for text in (A, B) if unwritten]
        assert_all_fit(producers, consumers, (ahead, behind), undefined)


LEFT_OUT = {
    "another interpolation": (
        [A], [X, X.replace("location = 1) in vec4", "location = 1) centroid in vec4")],
        "it reads Location 1.x in another way than others do"),
    "a dynamic index": (
        [A], [X, "layout(location = 1) in vec4 c[2]; layout(push_constant) uniform P { int i; };"
              "void main() { o = c[i]; }"], "c stays whole"),
    "an output that one does not have": (
        [A, A.replace("layout(location = 2) out vec4 one;", "vec4 one;")], [X], "no output at"),
    "another type": (
        [A, A.replace("out vec4 one", "flat out ivec4 one").replace("one = vec4", "one = ivec4")],
        [X], "is read as float32 and written"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT_OUT)
def test_who_cannot_obey_is_left_out(name: str) -> None:
    texts, others, said = LEFT_OUT[name]
    producers, consumers = [[vertex(t)] for t in texts], [fragment(t) for t in others]
    ahead, behind, document = joint(producers, consumers)
    assert document is not None
    last = (ahead if len(ahead) > 1 else behind)[-1]
    assert last.linked is None and said in last.reason, last.reason
    assert all(m.linked for m in (*ahead, *behind) if m is not last)
    assert_all_fit(producers, consumers, (ahead, behind))


def test_several_stages_before_rasterization() -> None:
    """Between these nothing is frozen: they are linked as a pair is."""
    first, second, reader = chain_of(
        vert("layout(location = 0) out vec4 v; layout(location = 1) out vec4 w;",
             "v = vec4(0.25); w = a;"),
        geom("layout(location = 0) in vec4 v[]; layout(location = 1) in vec4 w[];"
             "layout(location = 3) out vec4 a; layout(location = 1) out vec4 b;",
             f"for (int i = 0; i < 3; i++) {{ a = v[i] + w[i]; b = w[i].wzyx; {PASS} }}"),
        frag("layout(location = 3) in vec4 a; layout(location = 1) in vec4 b;", "color = a;"),
    )  # fmt: skip
    ahead, behind, document = joint([[first, second]], [reader])
    (border,) = document["borders"]
    assert (border["producer"], border["consumer"]) == ("geom", "frag")
    assert [v["components"] for v in border["variables"]] == [["3.x", "3.y", "3.z", "3.w"]]
    assert_all_fit([[first, second]], [reader], (ahead, behind))


def test_nothing_is_left() -> None:
    broken = bytes(20)
    ahead, behind, document = joint([[broken]], [fragment(X)])
    assert document is None and behind[0].reason == ALONE
    assert ahead[0].reason and ahead[0].reason != ALONE
    ahead, behind, document = joint([[vertex(A)]], [broken])
    assert document is None and ahead[0].reason == ALONE
    assert behind[0].reason and behind[0].reason != ALONE


NEIGHBOURS = {
    "what follows": (Wire(2, 2, "float32", [36], (0,), ""), True),
    "another Location": (Wire(3, 2, "float32", [36], (0,), ""), False),
    "behind a hole": (Wire(2, 3, "float32", [36], (0,), ""), False),
    "what followed elsewhere": (Wire(2, 2, "float32", [38], (0,), ""), False),
    "from the next Location": (Wire(2, 2, "float32", [40], (0,), ""), False),
    "another type": (Wire(2, 2, "uint32", [36], (0,), ""), False),
    "other qualifiers": (Wire(2, 2, "float32", [36], (1,), ""), False),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_that_were_one_vector(name: str) -> None:
    """A component at Location 4.x and 4.y as it was, 2.x and 2.y as it is, and one beside it."""
    after, is_joined = NEIGHBOURS[name]
    before = Wire(2, 0, "float32", [32, 34], (0,), "")
    joined = joint_sets._together([before, after])
    if is_joined:
        assert [(w.location, w.component, w.keys) for w in joined] == [(2, 0, [32, 34, 36])]
    else:
        assert joined == [before, after] and before.keys == [32, 34]


def test_a_whole_location_ends_a_vector() -> None:
    """The next key belongs to the next Location: a vector has four components."""
    first, second = Wire(2, 0, "float32", [38], (0,), ""), Wire(2, 1, "float32", [40], (0,), "")
    assert joint_sets._together([first, second]) == [first, second]


def test_nothing_crosses() -> None:
    """The vertex shader computes nothing for a fragment shader that reads nothing."""
    blind = fragment("void main() { o = vec4(gl_FragCoord.xy * 0.01, 0.0, 1.0); }")
    plain = vertex("void main() { gl_Position = p; }")
    producers = [[vertex(A)], [plain]]
    ahead, behind, document = joint(producers, [blind])
    (border,) = document["borders"]
    assert border["variables"] == [] and all(m.linked for m in (*ahead, *behind))
    assert_all_fit(producers, [blind], (ahead, behind))
    assert not varyings_of(codes_of(ahead[0])[0])


def varyings_of(code: bytes) -> list[Any]:
    return interface.declared(module_of(code), OUTPUT)


def test_a_fragment_library_loses_what_no_attachment_takes() -> None:
    """Of the family's interface, too: nobody reads it any more. The other half keeps its own state,
    which the fragment shader knows nothing of."""
    two = "layout(location = 1) out vec4 o1; "
    body = two + "void main() { o = lit; o1 = twin.wzyx + one.y; }"
    frags = [fragment(INPUTS + body), fragment(INPUTS + body.replace("twin.wzyx", "twin"))]

    def crossing(*outputs: Any) -> int:
        members = [Member([Source(code)], Options(exact=True)) for code in frags]
        for member, known in zip(members, outputs):
            member.options.state = PipelineState(outputs=known)
        producer = Member([Source(vertex(A))], Options(exact=True))
        producer.options.state = PipelineState(attributes=((0, 15, 0),))
        assert link_joint([producer], members) is not None
        for member, known in zip(members, outputs):
            stores = count(module_of(codes_of(member)[0]), ops.OpStore)
            assert stores == (2 if known is None else 1)
        return sum(len(one.covers) for one in varyings_of(codes_of(producer)[0]))

    first = ((0, 0, 15),)
    assert crossing(first, first) < crossing(first, None) == crossing(None, None)
