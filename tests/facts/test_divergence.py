"""Levels of values: constant, uniform for the draw, for the primitive, or different per vertex."""

from __future__ import annotations

import pytest

from spvlink.facts.divergence import CONSTANT, DRAW, PRIMITIVE, VERTEX, Divergence
from spvlink.grammar import ops
from spvlink.ir.core import STORE_OUTPUT, Inst, Module
from spvlink.passes.cleaning import branches, simplify
from spvlink.passes.lowering.lower_io import Lowering
from spvlink.passes.opening import inline
from tests.support.linking import VERTEX as HEAD
from tests.support.linking import module_of
from tests.support.samples import compile_glsl

RESOURCES = """#version 450
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_shader_subgroup_ballot : enable
#extension GL_ARB_shader_draw_parameters : enable
#extension GL_EXT_multiview : enable
layout(set = 0, binding = 0) uniform U { vec4 v[4]; int i; float f; } u;
layout(push_constant) uniform P { float f; int i; } q;
layout(set = 0, binding = 1) readonly buffer B { float f[4]; } b;
layout(set = 0, binding = 2) uniform sampler2D t;
layout(set = 0, binding = 3, r32f) readonly uniform image2D s;
layout(constant_id = 0) const int spec = 3;
layout(location = 0) out float r;
layout(location = 1) out float other;
"""


def promoted(body: str, head: str = "") -> Module:
    """A vertex shader in SSA form, its outputs as stores at the returns."""
    source = RESOURCES + HEAD.partition("\n")[2] + head
    source += f"void main() {{ {body} gl_Position = p; }}\n"
    module = module_of(compile_glsl(source, "vert"))
    assert module.entry is not None
    inline.inline(module)
    low = Lowering(module, False, True)
    low.analyse()
    low.finish()
    branches.branches(module, module.entry.function)
    simplify.simplify(module, module.entry.function)
    return module


def stored(module: Module) -> Inst:
    """The value of ``r``."""
    assert module.entry is not None
    (store,) = [
        i for b in module.entry.function.blocks for i in b.insts
        if i.op == STORE_OUTPUT and i.imm[0] == 0
    ]  # fmt: skip
    return store.args[0]


def level(body: str, head: str = "") -> int:
    """The level of what is stored in ``r``."""
    module = promoted(body, head)
    assert module.entry is not None
    return Divergence(module, module.entry.function).of(stored(module))


PLAIN = {
    "constant": ("2.0", CONSTANT),
    "folded": ("2.0 * 3.0", CONSTANT),
    "specialization constant": ("float(spec)", DRAW),
    "uniform": ("u.f", DRAW),
    "push constant": ("q.f * 2.0 + u.f", DRAW),
    "function of a uniform": ("sin(u.f)", DRAW),
    "uniform index": ("u.v[q.i].x", DRAW),
    "instance index": ("float(gl_InstanceIndex)", PRIMITIVE),
    "indexed by the instance": ("u.v[gl_InstanceIndex & 3].y * q.f", PRIMITIVE),
    "draw index": ("float(gl_DrawIDARB)", PRIMITIVE),
    "base vertex": ("float(gl_BaseVertexARB)", PRIMITIVE),
    "base instance": ("float(gl_BaseInstanceARB)", PRIMITIVE),
    "view index": ("float(gl_ViewIndex)", PRIMITIVE),
    "attribute": ("p.x", VERTEX),
    "attribute and uniform": ("p.x * u.f", VERTEX),
    "vertex index": ("float(gl_VertexIndex)", VERTEX),
    "indexed by an attribute": ("u.v[k.x & 3].x", VERTEX),
    "storage buffer": ("b.f[0]", VERTEX),
    "sampled image": ("textureLod(t, vec2(0.5), 0.0).x", DRAW),
    "sampled image at an attribute": ("textureLod(t, p.xy, 0.0).x", VERTEX),
    "storage image": ("imageLoad(s, ivec2(0)).x", VERTEX),
    "subgroup sum": ("subgroupAdd(u.f)", VERTEX),
    "subgroup broadcast": ("subgroupBroadcastFirst(p.x)", VERTEX),
    "subgroup election": ("subgroupElect() ? 1.0 : 2.0", VERTEX),
    "subgroup invocation": ("float(gl_SubgroupInvocationID)", VERTEX),
    "subgroup size": ("float(gl_SubgroupSize)", VERTEX),
    "select by a uniform": ("q.i > 0 ? u.f : 1.0", DRAW),
    "select by the instance": ("gl_InstanceIndex > 0 ? u.f : 1.0", PRIMITIVE),
    "select by an attribute": ("k.x > 0 ? u.f : 1.0", VERTEX),
}


@pytest.mark.parametrize("name", PLAIN)
def test_values(name: str) -> None:
    value, expected = PLAIN[name]
    assert level(f"r = {value};") == expected


CONDITIONS = {"q.i > 0": DRAW, "gl_InstanceIndex > 2": PRIMITIVE, "k.x > 0": VERTEX}
VALUES = {"u.f": DRAW, "float(gl_InstanceIndex)": PRIMITIVE, "p.x": VERTEX}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_phi_of_a_selection(condition: str, value: str) -> None:
    """As wide as the wider of the values and the condition."""
    body = f"float x = 1.0; if ({condition}) {{ other = p.y; x = {value}; }} r = x;"
    assert level(body) == max(CONDITIONS[condition], VALUES[value])


@pytest.mark.parametrize("condition", CONDITIONS)
def test_phi_of_nested_selections(condition: str) -> None:
    """A selection inside a uniform one decides as well."""
    body = f"""float x = 1.0;
    if (u.i > 0) {{ if ({condition}) x = sin(u.f); else x = cos(u.f); other = x; }}
    r = x;"""
    assert level(body) == CONDITIONS[condition]


@pytest.mark.parametrize("value, expected", [("q.i", DRAW), ("k.x", VERTEX)])
def test_phi_of_a_switch(value: str, expected: int) -> None:
    body = f"""float x = 1.0;
    switch ({value}) {{ case 0: x = u.f; break; case 5: x = sin(u.f); }}
    r = x;"""
    assert level(body) == expected


@pytest.mark.parametrize("value, expected", [("q.i", DRAW), ("k.x", VERTEX)])
def test_phi_of_a_switch_that_falls_through(value: str, expected: int) -> None:
    """Where a case falls into the next one no construct ends: wider may be said, never narrower."""
    body = f"""float x = 1.0;
    switch ({value}) {{ case 0: x = u.f; case 1: x += 2.0; break; case 5: x = sin(u.f); }}
    r = x;"""
    assert level(body) >= expected


TRIPS = {"3": DRAW, "u.i": DRAW, "gl_InstanceIndex": PRIMITIVE, "k.x": VERTEX}


@pytest.mark.parametrize("trips", TRIPS)
def test_loop(trips: str) -> None:
    """What a loop leaves is as wide as its trip count."""
    body = f"float x = u.f; for (int i = 0; i < {trips}; ++i) x = sin(x); r = x;"
    assert level(body) == TRIPS[trips]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_loop_with_a_break(condition: str) -> None:
    body = f"""float x = u.f;
    for (int i = 0; i < u.i; ++i) {{ x = sin(x); if ({condition} && i > 1) break; x += 1.0; }}
    r = x;"""
    assert level(body) == CONDITIONS[condition]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_loop_with_a_continue(condition: str) -> None:
    """The continue target ends no construct: wider may be said, never narrower."""
    body = f"""float x = u.f;
    for (int i = 0; i < u.i; ++i) {{ if ({condition}) continue; x = sin(x); }}
    r = x;"""
    assert level(body) >= CONDITIONS[condition]


def test_loop_that_carries_an_attribute() -> None:
    body = "float x = u.f; for (int i = 0; i < u.i; ++i) x = x * p.x; r = x;"
    assert level(body) == VERTEX


def test_inner_loop_with_a_vertex_trip_count() -> None:
    body = """float x = u.f;
    for (int i = 0; i < u.i; ++i) { for (int j = 0; j < k.x; ++j) x = sin(x); x += 1.0; }
    r = x;"""
    assert level(body) == VERTEX


def test_undefined() -> None:
    """It may be another value at each vertex."""
    module = promoted("float x; if (q.i > 0) { other = p.y; x = u.f; } r = x + 1.0;")
    assert module.entry is not None
    divergence = Divergence(module, module.entry.function)
    undefined = [i for i in module.globals if i.op == ops.OpUndef]
    undefined += [i for b in divergence.cfg.order for i in b.insts if i.op == ops.OpUndef]
    assert all(divergence.of(i) == VERTEX for i in undefined)
    phis = [i for b in divergence.cfg.order for i in b.insts if i.op == ops.OpPhi]
    assert all(
        divergence.of(phi) == VERTEX
        for phi in phis if any(a in undefined for a in phi.args[::2])
    )  # fmt: skip
    assert undefined or divergence.of(stored(module)) == DRAW


def test_through_functions() -> None:
    head = "float f(float x) { return x > 0.5 ? sin(x) : cos(x); }\n"
    assert level("r = f(u.f);", head) == DRAW
    assert level("r = f(p.x);", head) == VERTEX


@pytest.mark.parametrize("condition", CONDITIONS)
def test_blocks(condition: str) -> None:
    """A block is as wide as the conditions around it, and what follows is for all again."""
    module = promoted(f"if ({condition}) {{ other = sin(p.y); }} else {{ other = 1.0; }} r = u.f;")
    assert module.entry is not None
    function = module.entry.function
    divergence = Divergence(module, function)
    inside = [
        b for b in function.blocks
        if any(i.op == ops.OpExtInst for i in b.insts) and b is not function.blocks[0]
    ]  # fmt: skip
    assert inside and all(divergence.blocks[b] == CONDITIONS[condition] for b in inside)
    assert divergence.blocks[function.blocks[0]] == CONSTANT
