"""The minimum cut against all cuts, and lanes against arithmetic on numbers."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from spvlink.facts import scalars
from spvlink.facts.effects import Effects
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.link.motion.mincut import INFINITE, SINK, SOURCE, Network
from tests.support.linking import module_of
from tests.support.samples import compile_glsl

Edges = list[tuple[int, int, int]]


def network(nodes: int, edges: Edges) -> Network:
    made = Network()
    for _ in range(nodes - 2):
        made.node()
    for a, b, capacity in edges:
        made.edge(a, b, capacity)
    return made


def weight(side: tuple[bool, ...], edges: Edges) -> int:
    return sum(c for a, b, c in edges if side[a] and not side[b])


def every_cut(nodes: int) -> list[tuple[bool, ...]]:
    return [(True, False, *rest) for rest in product((False, True), repeat=nodes - 2)]


@pytest.mark.parametrize("seed", range(60))
def test_no_cut_is_cheaper_and_no_cheapest_one_smaller(seed: int) -> None:
    r = Random(seed)
    nodes = r.randint(2, 9)
    edges: Edges = []
    for _ in range(r.randint(1, 24)):
        a, b = r.randrange(nodes), r.randrange(nodes)
        if a != b and b != SOURCE and a != SINK:
            capacity = INFINITE if r.random() < 0.15 else r.randint(0, 9)
            if (a, b) != (SOURCE, SINK) or capacity != INFINITE:
                edges.append((a, b, capacity))
    found = tuple(network(nodes, edges).cut())
    all_cuts = every_cut(nodes)
    best = min(weight(side, edges) for side in all_cuts)
    if best >= INFINITE:
        return  # no choice at all: callers never build such a network
    assert found[SOURCE] and not found[SINK]
    assert weight(found, edges) == best
    for side in all_cuts:
        if weight(side, edges) == best:
            assert all(theirs or not mine for mine, theirs in zip(found, side))


def test_a_long_chain_is_no_matter_of_recursion() -> None:
    count = 20000
    edges = [(SOURCE, 2, 7)]
    edges += [(n, n + 1, 5 if n == count // 2 else 9) for n in range(2, count)]
    side = network(count + 1, [*edges, (count, SINK, 9)]).cut()
    assert side[count // 2] and not side[count // 2 + 1]


# --- lanes ----------------------------------------------------------------------------------------

MIXING = """#version 450
layout(location = 0) in vec4 a; layout(location = 1) in vec4 b; layout(location = 0) out vec4 o;
void main() {
    mat2 m = mat2(a.xy, a.zw); mat2x3 n = mat2x3(a.xyz, b.yzw); mat3x2 k = mat3x2(a.xy, b.xy, b.zw);
    o.xy = m * b.xy + b.xy * m; o.z = dot(a, b); o.w = (m * k)[2].y + (n * m)[1].z;
    o.xyz += outerProduct(a.xyz, b.xy)[1] + n * b.xy + (m * b.z)[0].xyx;
    o.xy += transpose(k)[0].xy + transpose(n)[2] + a.xyz * n;
    o *= a * b.x + a.zxyw - b.wwxy;
}
"""


def mixing() -> tuple[Module, list[Inst]]:
    module = module_of(compile_glsl(MIXING, "frag"))
    assert module.entry is not None
    found = [i for block in module.entry.function.blocks for i in block.insts]
    return module, [i for i in found if scalars.count(i.type) and i.args and i.op != ops.OpLoad]


def numbers(value: Inst, r: np.random.Generator) -> np.ndarray:
    """A value's lanes, of small whole numbers so that sums are exact in any order."""
    return r.integers(-4, 5, scalars.count(value.type)).astype(np.float64)


def matrix(value: Inst, held: np.ndarray) -> np.ndarray:
    """As rows and columns."""
    assert value.type is not None
    if value.type.op != ops.OpTypeMatrix:
        return held
    return held.reshape(value.type.imm[0], -1).T


def computed(inst: Inst, values: dict[Inst, np.ndarray]) -> np.ndarray:
    a, b = (matrix(v, values[v]) for v in (*inst.args, inst.args[0])[:2])
    if inst.op in (ops.OpMatrixTimesMatrix, ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix):
        made = a @ b
    elif inst.op == ops.OpOuterProduct:
        made = np.outer(a, b)
    elif inst.op == ops.OpDot:
        made = np.array([a @ b])
    elif inst.op == ops.OpFAdd:
        made = a + b
    elif inst.op == ops.OpFSub:
        made = a - b
    else:
        made = a * b  # products lane by lane and with a scalar
    return made.T.ravel()


ARITHMETIC = frozenset(
    (
        ops.OpMatrixTimesMatrix, ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix,
        ops.OpOuterProduct, ops.OpDot, ops.OpFAdd, ops.OpFSub, ops.OpFMul, ops.OpVectorTimesScalar,
        ops.OpMatrixTimesScalar,
    )
)  # fmt: skip


def test_a_lane_depends_on_what_it_is_made_of_and_on_nothing_else() -> None:
    module, found = mixing()
    effects = Effects.of(module)
    seen: set[int] = set()
    for at, inst in enumerate(i for i in found if i.op in ARITHMETIC):
        seen.add(inst.op)
        r = np.random.default_rng(at)
        values = {a: numbers(a, r) for a in inst.args}
        before = computed(inst, values)
        assert len(before) == scalars.count(inst.type)
        made = [
            scalars.made_of(inst, n, scalars.lanewise(inst, effects.flags(inst)))
            for n in range(len(before))
        ]
        for operand, held in values.items():
            for lane in range(len(held)):
                held[lane] += 1000.0  # more than any product of the others can hide
                changed = computed(inst, values) != before
                held[lane] -= 1000.0
                said = [any((operand, lane) in group for group in groups) for groups in made]
                zero_factor = inst.op not in (ops.OpFAdd, ops.OpFSub)
                for is_changed, is_said in zip(changed, said):
                    assert is_said or not is_changed, inst
                    assert is_changed or not is_said or zero_factor, inst
    assert seen == ARITHMETIC


def test_moving_instructions_say_which_lane_goes_where() -> None:
    _, found = mixing()
    seen: set[int] = set()
    for at, inst in enumerate(i for i in found if i.op in scalars.MOVES):
        moved = scalars.moved(inst)
        assert moved is not None and len(moved) == scalars.count(inst.type)
        values = {a: np.arange(scalars.count(a.type)) + 100.0 * n for n, a in enumerate(inst.args)}
        made = [values[source][lane] for source, lane in moved]
        seen.add(inst.op)
        if inst.op == ops.OpTranspose:
            wanted = matrix(inst.args[0], values[inst.args[0]]).ravel()
        elif inst.op == ops.OpCompositeConstruct:
            wanted = np.concatenate([values[a] for a in inst.args])
        elif inst.op == ops.OpVectorShuffle:
            wanted = np.concatenate([values[a] for a in inst.args])[list(inst.imm)]
        elif inst.op == ops.OpCompositeExtract:
            source = matrix(inst.args[0], values[inst.args[0]])
            column = source.T[inst.imm[0]] if source.ndim == 2 else source
            rest = inst.imm[1:] if source.ndim == 2 else inst.imm
            wanted = column[rest[0]] if rest else column
        else:
            continue
        assert list(np.atleast_1d(wanted)) == made, (at, inst)
    assert {ops.OpTranspose, ops.OpCompositeConstruct, ops.OpVectorShuffle} <= seen


def test_what_is_no_number_has_no_lanes() -> None:
    module, _ = mixing()
    assert scalars.count(None) == 0
    assert scalars.count(types.boolean(module)) == 1
    struct = types.make(module, ops.OpTypeStruct, None, [types.floating(module, 32)], ())
    assert scalars.count(struct) == 0
