"""Indices that turn out to be constant and out of bounds: what comes out is valid all the same."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.driver import all_insts
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from tests.support.linking import fragment, module_of, vertex

# what is indexed, as declared, and an access that shows it
INDEXED = {
    "local array": ("",
           "float x[3] = float[](1.0, at.y, 2.0); for (int n = 0; n < turns; ++n) x[n] = at.x;",
                    "x[{}]"),
    "array that is stored to": ("",
           "float x[3]; for (int n = 0; n < turns; ++n) x[n] = at.x; x[i] = at.y;",
                                "x[1]"),
    "vector": ("", "vec4 x = at; for (int n = 0; n < turns; ++n) x[n] += at.x;", "x[{}]"),
    "matrix": ("", "mat3 x = mat3(at.x); for (int n = 0; n < turns; ++n) x[n].x += at.x;",
           "x[{}].y"),
    "column": ("", "mat3 x = mat3(at.x); for (int n = 0; n < turns; ++n) x[n].x += at.x;",
           "x[1][{}]"),
    "array in a struct": ("struct S { float a; vec2 x[3]; };",
                          "S s; for (int n = 0; n < turns; ++n) s.x[n] = at.xy;", "s.x[{}].y"),
    "array of a block": ("layout(binding = 0) uniform B { vec4 x[4]; } b;", "", "b.x[{}].x"),
    "matrix of a block": ("layout(binding = 0) uniform B { mat4 x; } b;", "", "b.x[{}].x"),
    "array of a buffer": ("layout(binding = 0) buffer B { float x[]; } b;", "", "b.x[{}]"),
    "input array": ("layout(location = 2) in float x[3];", "", "x[{}]"),
    "input vector": ("", "", "at[{}]"),
}  # fmt: skip
VERTEX = """layout(location = 0) out vec4 at; layout(location = 1) flat out int turns;
layout(location = 2) out float x[3]; layout(location = 6) out vec4 unread;
void main() {
    gl_Position = p; at = p; turns = k.x; x[0] = p.x; x[1] = p.y; x[2] = p.z; unread = p;
}
"""


def pipeline(what: str, index: str) -> list[bytes]:
    """A fragment shader that accesses something at an index that is known after promotion."""
    declared, before, access = INDEXED[what]
    head = "layout(location = 0) in vec4 at; layout(location = 1) flat in int turns;\n"
    body = f"int i = {index}; if (turns > 90) {{ {before}\no = vec4({access.format('i')}); }}"
    main = f"void main() {{ o = at; {body} }}".replace("[{}]", "[i]")
    return [vertex(VERTEX), fragment(f"{head}{declared}\n{main}")]


def chains(data: bytes) -> list[Inst]:
    return [
        i for i in all_insts(module_of(data))
        if i.op in (ops.OpAccessChain, ops.OpInBoundsAccessChain)
    ]  # fmt: skip


@pytest.mark.parametrize("index", ["int(2.5) - 3", "1 - 7", "40 + 7"])
@pytest.mark.parametrize("what", INDEXED)
def test_out_of_bounds(what: str, index: str) -> None:
    options = spvlink.Options(clean=True)
    options.check_each = True
    linked = spvlink.link(pipeline(what, index), options)
    assert linked.defect is None and linked.validated == "validated", linked.defect
    assert linked.passed_through is None
    found = chains(linked.stages[1].data)
    for chain in found:
        assert all((types.index_of(a) or 0) >= 0 for a in chain.args[1:])
