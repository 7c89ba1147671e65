"""Pairs for the tests of what crosses a border: shaders of a line or two, what became of them, and
whether they still draw the same.

The outputs of a case are mostly ``x`` and ``y`` (``PAIR``); an expression E over them is used by
something that stays (``cos``, where they are interpolated), so they cross as one value if E moves,
and as they are if not.
"""

from __future__ import annotations

from functools import cache

import spvlink
from spvlink.draw import draw, draw_covering
from tests.support.closeness import assert_close
from tests.support.linking import Result, fragment, vertex

PUSH = "layout(push_constant) uniform P { vec4 K; vec4 L; mat4 M; };\n"
POSITION = "gl_Position = vec4(p.xyz, 1.0 + abs(p.x) * 2.3 + abs(p.y) * 0.7);"
X, Y = "p * p.yzwx + 0.3", "sin(p.zwxy) - p * p"  # no cheap function of less
PAIR = "vec4 x; vec4 y"
THREE = "vec4 x; vec4 y; vec4 z"
STORES = f"x = {X}; y = {Y}; z = cos(p) * p.wxyz;"


def options(layout: bool = True, **settings: object) -> spvlink.Options:
    """The default, with a layout that shows everything to both stages."""
    made = spvlink.Options(clean=True)
    if layout:
        both = ["VERTEX", "FRAGMENT"]
        made.layout = {
            "setLayouts": [{"set": 0, "bindings": [
                {"binding": 0, "descriptorType": "UNIFORM_BUFFER", "stageFlags": both}]}],
            "pushConstantRanges": [{"stageFlags": both, "offset": 0, "size": 128}],
        }  # fmt: skip
    for name, setting in settings.items():
        setattr(made, name, setting)
    return made


ALONE = frozenset(("forward",))  # backward motion by itself


@cache
def compiled_vertex(text: str) -> bytes:
    return vertex(text)


@cache
def compiled_fragment(text: str) -> bytes:
    return fragment(text)


def producer(stores: str, outputs: str, declared: str = PUSH) -> str:
    """A vertex shader with these outputs, given as ``[QUALIFIER] TYPE NAME; ...``."""
    return f"{declared}{places(outputs, 'out')}void main() {{ {POSITION} {stores} }}"


def consumer(body: str, inputs: str, declared: str = PUSH) -> str:
    return f"{declared}{places(inputs, 'in')}void main() {{ {body} }}"


def places(variables: str, storage: str) -> str:
    """Declarations with Locations in order; a matrix takes one for each column."""
    text, location = "", 0
    for variable in filter(None, (v.strip() for v in variables.split(";"))):
        *qualifiers, kind, name = variable.split()
        text += f"layout(location = {location}) {' '.join(qualifiers)} {storage} {kind} {name};\n"
        location += int(kind[3]) if kind.startswith("mat") else 1
    return text


def link(vert: str, frag: str, settings: spvlink.Options | None = None) -> Result:
    done = Result(compiled_vertex(vert), compiled_fragment(frag), settings or options())
    if done.linked.passed_through is None:
        named = {r.name.partition("[")[0] for r in done.linked.remarks}
        assert named >= _names(vert), "a varying without a remark"
    return done


def _names(text: str) -> set[str]:
    return {
        line.rstrip(";").split()[-1]
        for line in text.splitlines()
        if line.startswith("layout(location") and " out " in line
    }


def actions(result: Result) -> dict[str, set[str]]:
    """Variable -> what became of its components."""
    found: dict[str, set[str]] = {}
    for remark in result.linked.remarks:
        found.setdefault(remark.name, set()).add(remark.action)
    return found


def components(result: Result) -> int:
    return result.linked.interfaces[0].components[1]


def same_picture(vert: str, frag: str, result: Result) -> None:
    """Draw both; equal but for rounding."""
    before = [compiled_vertex(vert), compiled_fragment(frag)]
    scene, first = draw_covering(before)
    assert first.is_good(0.1), "the picture proves nothing"
    scene.open_to_all()
    assert_close(draw(before, scene), draw(result.data, scene))


def moved(vert: str, frag: str, count: int, settings: spvlink.Options | None = None) -> Result:
    """Link; so many components must be left, and the picture the same."""
    done = link(vert, frag, settings)
    said = [(r.name, r.slot, r.action, r.why) for r in done.linked.remarks]
    assert components(done) == count, said
    same_picture(vert, frag, done)
    return done


def stay(vert: str, frag: str, settings: spvlink.Options | None = None) -> Result:
    """Link; nothing may move."""
    done = link(vert, frag, settings)
    found = set().union(*actions(done).values())
    assert not {"moved-backward", "moved-forward"} & found, actions(done)
    return done


def backward_only(**settings: object) -> spvlink.Options:
    return options(disable=ALONE, **settings)


def forward_only(**settings: object) -> spvlink.Options:
    return options(disable=frozenset(("backward",)), **settings)
