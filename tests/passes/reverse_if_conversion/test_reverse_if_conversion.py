"""Selects that linking made of branches and did not need are branches again."""

from __future__ import annotations

import pytest

from spvlink.grammar import ops
from tests.support.branching import built, link, shown
from tests.support.linking import all_insts, module_of

# One branch crosses, the other one stays: its arms need a texture.
MIXED = """vec4 t = texture(image, p.xy);
float x = p.z; if (pc.n > 0) x = q.x;
vec4 y = t; if (pc.s > 0.5) y = t * t + sin(q.wwww); else y = t * 3.0 - vec4(0.5) * t.w;
o = y + vec4(x) + 0.01 * q.yzwy;"""


def counts(data: bytes, *wanted: int) -> int:
    return sum(i.op in wanted for i in all_insts(module_of(data)))


def test_branches_that_brought_nothing_are_branches_again() -> None:
    codes = built(MIXED)
    linked = link(codes)
    without = link(codes, disable=frozenset(["if_conversion"]))
    assert linked.interfaces[0].components[1] < without.interfaces[0].components[1]
    new = linked.stages[1].data
    assert counts(new, ops.OpBranchConditional) == 1
    assert counts(new, ops.OpSelect) == 0
    assert not any(i.type and i.type.op == ops.OpTypeVector and i.type.args[0].op == ops.OpTypeBool
                   for i in all_insts(module_of(new)))  # fmt: skip
    assert counts(linked.stages[0].data, ops.OpSelect) == 1
    shown(codes, linked, 1e-5)
    shown(codes, link(codes, exact=True))


# What chooses y of what a texture gives; beside it the branch of MIXED crosses.
CHOICES = {
    "one arm": "if (pc.s > 0.5) y = t * t;",
    "two variables": "if (pc.s > 0.5) { y = t * t; z = sin(t); }",
    "two after each other": "if (pc.s > 0.5) y = sin(t); y += t; if (pc.s > 0.5) y = sin(y);",
    "within an arm": "if (pc.s > 0.5) { y = t * t; if (pc.n > 3) y = sin(y) * 0.5; }",
    "in both arms": "if (pc.s > 0.5) { if (pc.n > 3) y = t * t; } else if (pc.n > 2) y = sin(y);",
    "in a loop": "for (int k = 0; k < pc.n; ++k) { if (pc.s > 0.5) y = y * t; z += y; }",
    "the author's select": "if (pc.s > 0.5) y = mix(t * t, sin(t), bvec4(pc.n > 2)) * 0.5;",
}


@pytest.mark.parametrize("name", CHOICES)
def test_as_many_branches_as_there_were(name: str) -> None:
    codes = built(f"""vec4 t = texture(image, p.xy);
        float x = p.z; if (pc.n > 0) x = q.x;
        vec4 y = t, z = t.wzyx; {CHOICES[name]}
        o = y + z + vec4(x) + 0.01 * q.yzwy;""")
    linked = link(codes)
    without = link(codes, disable=frozenset(["if_conversion"]))
    assert linked.interfaces[0].components[1] < without.interfaces[0].components[1]
    before, after = without.stages[1].data, linked.stages[1].data
    assert counts(after, ops.OpBranchConditional) == counts(before, ops.OpBranchConditional) - 1
    assert counts(after, ops.OpSelect) == counts(before, ops.OpSelect)
    shown(codes, linked, 1e-5)
    shown(codes, link(codes, exact=True))
