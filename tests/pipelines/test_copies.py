"""Copies of pointers and of whole values: what is reached through them is what is reached without.

Chains are linked as they are, and once more with an OpCopyObject in front of each use of a pointer:
both have to come out alike.
"""

from __future__ import annotations

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.draw import draw, draw_covering
from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.ir.edit import value
from tests.support.chain_hazards import CHAINS, Chain
from tests.support.chain_proof import compiled
from tests.support.closeness import assert_close
from tests.support.linking import all_insts, module_of
from tests.support.samples import compile_glsl

NAMES = (
    "blocks and arrays in blocks", "components written between emits", "own values read back",
    "stores in loops and by component", "clip distances behind the middle",
    "vertices and primitives",
)  # fmt: skip
SOME = [chain for chain in CHAINS if chain.name in NAMES]
FOLLOWED = {ops.OpLoad, ops.OpStore, ops.OpAccessChain, ops.OpInBoundsAccessChain}


def with_copies(code: bytes) -> bytes:
    """Every pointer that is followed is a copy."""
    module = decode(code)
    for function in module.functions:
        for block in function.blocks:
            out: list[Inst] = []
            for inst in block.insts:
                if inst.op in FOLLOWED:
                    pointer = inst.args[0]
                    copy = value(module, ops.OpCopyObject, pointer.type, [pointer], ())
                    out.append(copy)
                    inst.args = [copy, *inst.args[1:]]
                out.append(inst)
            block.insts = out
    return encode(module)


def figures(linked: spvlink.Linked) -> list[object]:
    assert linked.defect is None and linked.passed_through is None
    found: list[object] = [(r.slot, r.action, r.why) for r in linked.remarks]
    found += [(i.components, i.locations) for i in linked.interfaces]
    return [*found, *(stage.instructions[1] for stage in linked.stages)]


@pytest.mark.parametrize("chain", SOME, ids=lambda c: c.name)
def test_copies_of_pointers(chain: Chain) -> None:
    codes = compiled(chain)
    copied = [with_copies(code) for code in codes]
    assert all(b"\x53\0\4\0" in code for code in copied)
    assert figures(spvlink.link(copied, clean=True)) == figures(spvlink.link(codes, clean=True))


STRUCT = """#version 450
struct S { vec4 a; vec2 b[2]; float c; };
"""
WHOLE = """layout(set = 0, binding = 0) uniform U { S s; } u;
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 a;
layout(location = 0) out S s;
void main() { gl_Position = vec4(position, 1.0); S t = u.s; t.b[1].x = a.x; s = t; }
"""
PARTS = """layout(location = 0) in S s;
layout(location = 0) out vec4 color;
void main() { color = s.a + vec4(s.b[1], s.b[0].x, s.c); }
"""


def test_copies_of_values() -> None:
    """glslang copies a struct at once (OpCopyLogical) for SPIR-V 1.4, and by members before."""
    made = []
    for environment in ("vulkan1.1", "vulkan1.2"):
        codes = [
            compile_glsl(STRUCT + WHOLE, "vert", environment),
            compile_glsl(STRUCT + PARTS, "frag", environment),
        ]
        linked = spvlink.link(codes, clean=True)
        made.append(figures(linked))
        new = [stage.data for stage in linked.stages]
        held = {inst.op for code in new for inst in all_insts(module_of(code))}
        assert ops.OpCopyLogical not in held
        assert spvlink.link(new).passed_through == "nothing to gain"
        scene, before = draw_covering(codes)
        assert_close(before, draw(new, scene))
    assert ops.OpCopyLogical in {inst.op for inst in all_insts(module_of(codes[0]))}
    assert made[0][:-2] == made[1][:-2]  # all but the instructions, which differ in what is listed


def test_copies_in_a_shell() -> None:
    """A stage that goes out as it came, but for its interface, is not rewritten for copies."""
    vert = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 a;
layout(location = 0) out vec4 dead;
layout(location = 1) out vec4 v;
void main() { gl_Position = vec4(position, 1.0); dead = a; v = a * 2.0; }
"""
    frag = """#version 450
layout(location = 1) in vec4 v;
layout(location = 0) out vec4 color;
void main() { color = vec4(sin(v.x), v.y, fract(v.z), 1.0); }
"""
    codes = [with_copies(compile_glsl(vert, "vert")), with_copies(compile_glsl(frag, "frag"))]
    linked = spvlink.link(codes)
    assert linked.interfaces[0].components[1] == 3
    assert ops.OpCopyObject in {inst.op for inst in all_insts(module_of(linked.stages[1].data))}
    scene, before = draw_covering(codes)
    assert_close(before, draw([stage.data for stage in linked.stages], scene))
