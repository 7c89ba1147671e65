"""What keeps a link fast, as far as it shows without a clock."""

from __future__ import annotations

import gc

import pytest

import spvlink
from spvlink.binary import plans
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.ir.core import Inst
from spvlink.passes import simplify
from tests.linking import fragment, vertex
from tests.samples import pair

VERT = vertex(
    "layout(location = 0) out vec4 a; layout(location = 1) out vec3 b;"
    "layout(set = 0, binding = 0) uniform Block { vec4 tint; };"
    "void main() { gl_Position = p; a = p * tint; b = normalize(p.xyz) + tint.xyz; }"
)
FRAG = fragment(
    "layout(location = 0) in vec4 a; layout(location = 1) in vec3 b;"
    "void main() { o = a; if (b.x > 0.5) o.xyz += b; }"
)


def test_nothing_is_left_to_the_collector() -> None:
    """Values that may not cross were the reason why whole modules hung in reference cycles."""
    spvlink.link([VERT, FRAG])
    gc.collect()
    gc.disable()
    try:
        linked = spvlink.link([VERT, FRAG])
        assert any("not propagated" in r.why for r in linked.remarks)
        del linked
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("environment", ("vulkan1.0", "vulkan1.3"))
@pytest.mark.parametrize("which", (0, 1))
def test_plans_read_as_the_grammar_does(environment: str, which: int) -> None:
    """A module that is read for the first time and one whose every form was met before."""
    data = pair(environment)[which]
    for table in (plans.PLANS, plans.NOTE_SHAPES, plans._KNOWN):
        table.clear()
    first = decode(data)
    again = decode(data)
    assert encode(first) == encode(again) == data
    assert plans.PLANS and plans.NOTE_SHAPES
    for old, new in zip(first.sections, again.sections):
        assert [repr(i) for i in old] == [repr(i) for i in new]


def test_rules_are_tried_only_where_one_could_apply() -> None:
    value = Inst(1, None, [], [], 1)
    assert simplify._any_of([value], None)
    assert not simplify._any_of([value], frozenset((2,)))
    assert simplify._any_of([value], frozenset((1, 2)))
