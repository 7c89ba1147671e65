"""Colours that a fragment shader writes over: what only a lost one was made of is not needed."""

from __future__ import annotations

import re

import pytest

import spvlink
from tests.motion_pairs import (
    X,
    Y,
    compiled_fragment,
    compiled_vertex,
    components,
    consumer,
    link,
    moved,
    options,
    producer,
)
from tests.render import draw, draw_covering
from tests.samples import disassemble, edited
from tests.test_pipelines import assert_close

PAIR = "vec4 x; vec4 y"
VERT = producer(f"x = {X}; y = {Y};", PAIR)
STAYS = "o = abs(sin(x));"  # nothing moves through it

LOST = {
    "all of it": "o = cos(y); o = abs(sin(x));",
    "three components by a shuffle": "o = vec4(cos(y.xyz), 1.0); o.rgb = abs(sin(x.xyz)) + x.w;",
    "component by component": (
        "o = cos(y); o.r = abs(sin(x.x)); o.g = x.y * x.y; o.b = cos(x.z); o.a = sin(x.w);"
    ),
    "read back": "o = vec4(cos(y.xyz), 0.5); o.rgb = abs(sin(x.xyz)) * o.a + x.w;",
}


@pytest.mark.parametrize("name", LOST)
def test_what_a_lost_colour_is_made_of_does_not_cross(name: str) -> None:
    frag = consumer(LOST[name], PAIR)
    done = moved(VERT, frag, 4)
    again = link_again(done.data)
    assert again == list(done.data)


NEEDED = {
    "one component stays": "o = cos(y); o.rgb = abs(sin(x.xyz)) + x.w;",
    "it is read in between": "o = cos(y); o = abs(sin(x)) * o.yzwx;",
    "no constant index": "o = cos(y); o[int(K.x) & 3] = abs(sin(x.x)) + x.y * x.z * x.w;",
    "in one case only": f"o = cos(y); if (x.x > x.y * x.y) {{ {STAYS} }}",
}
LEFT = {"one component stays": 5}  # y.w


@pytest.mark.parametrize("name", NEEDED)
def test_what_may_be_seen_stays(name: str) -> None:
    moved(VERT, consumer(NEEDED[name], PAIR), LEFT.get(name, 8))


CALLED = (
    "void paint(int n) { o *= 0.5; if (n > 0 && x.x > 0.5) { return; } o += sin(y); } "
    "void main() { o = cos(x); for (int i = 0; i < 2; i++) { paint(i); } }"
)


def test_a_call_may_read_it() -> None:
    vert = producer(f"x = {X}; y = {Y};", PAIR)
    frag = consumer("", PAIR).partition("void main")[0] + CALLED
    moved(vert, frag, 8)


def test_a_shader_from_which_nothing_goes_keeps_its_stores() -> None:
    """The interface is as small as it can be: the stage goes out as it came."""
    frag = consumer("o = cos(x); o = abs(sin(x)) + cos(y);", PAIR)
    done = link(VERT, frag, options(clean=False))
    assert components(done) == 8
    assert disassemble(done.data[1]).count("OpStore %o ") == 2


def link_again(data: list[bytes]) -> list[bytes]:
    return [stage.data for stage in spvlink.link(data, options()).stages]


def test_another_name_of_the_output_is_no_other_variable() -> None:
    """A copy of a pointer: not what a compiler makes, but valid."""
    vert = compiled_vertex(producer(f"x = {X}; y = {Y};", PAIR))
    text = "o = cos(y); o = abs(sin(x)); o = o * o.x;"
    before = compiled_fragment(consumer(text, PAIR))
    (first, second, _) = re.findall(r"OpStore %o %\w+", disassemble(before))
    copied = "%other = OpCopyObject %_ptr_Output_v4float %o\n"
    frag = edited(
        before, (first, copied + first), (second, second.replace("%o ", "%other "))
    )  # fmt: skip
    done = spvlink.link([vert, frag], options(validate=False))
    scene, drawn = draw_covering([vert, frag])
    scene.open_to_all()
    assert_close(drawn, draw([stage.data for stage in done.stages], scene))
