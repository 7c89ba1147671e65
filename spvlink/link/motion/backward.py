"""Move work on inputs to the stage before, where it is cheaper.

    vertex:   outA = a; outB = b             ->   outA = a * pc.k + b
    fragment: f(inA * pc.k + inB)                 f(inA)

Every value of the consumer that the producer could compute is a node. An edge leads from each
operand to the values made of it, and to the sink from the operands of code that cannot move. A cut
through the nodes is a set of values that may cross in place of the inputs; the cheapest cut wins.
So ``t0 = a + b + c; t1 = a + b * 2 + c * 3`` sends t0 and t1 and not a, b, c. Loads of one input in
different blocks are one value, and so are equal expressions of it.

A node is an expression over the producer's stored values, whichever way the consumer reads them: at
one vertex or another, at the pixel, at an offset.

Why it is right. ``motion/algebra.py`` has the theorems: expressions of Flat inputs commute with the
border, sums and products with constants commute with interpolation.

What breaks it. ``algebra`` lists it: rounding, poles, jumps, weights that do not sum to 1,
infinities, NoContraction, undefined values, speculation, neighbours, visibility. An expression over
several vertices stays.

Cost.

    crossing         COMPONENT_PRICE operations per fragment
    work above it    its operations, once per vertex
    work below it    its operations, once per fragment (half as often for each construct around it)

The number of components never grows: if the cheapest cut has more, the search is repeated with
fewer components before all else. Work that moves without saving a component must save more per
fragment than it costs per vertex.
"""

from __future__ import annotations

from spvlink.facts.floats import Floats
from spvlink.ir.core import LOAD_INPUT
from spvlink.link.border.link import Link
from spvlink.link.border.uniformity import divergence_of, equal_on_primitive, varies_at_a_glance
from spvlink.link.border.values import centred
from spvlink.link.motion import algebra
from spvlink.link.motion.consumer_graph import ConsumerGraph
from spvlink.link.motion.nodes import replaceable
from spvlink.link.motion.relocate import Move
from spvlink.link.resources.transfer import Transfer

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

MAX_TRIES: Final = 4  # to find components for what shall cross
MAX_NODES: Final = 20000  # of one search; a shader with more keeps its inputs


def backward(
    link: Link, transfer: Transfer, exact: bool, expect: tuple[int, int], relaxed: bool = False
) -> bool:
    """Move what pays; whether anything did. ``transfer`` leads from the consumer to the
    producer, ``expect``: how often a vertex and how often a fragment is expected to run;
    ``relaxed``: see ``lenient``."""
    link.gather()
    if Floats.of(link.producer.module).rounding != Floats.of(link.consumer.module).rounding:
        return False
    equal: set[int] = set()
    keys = [k for k in link.loads if replaceable(link, k)]
    if not keys:
        return False  # nothing can be made in the place of an input
    if not (exact or link.exact or all(varies_at_a_glance(link, k) for k in keys)):
        divergence = divergence_of(link)
        equal = {
            k for k in keys if comes_back(link, k) and equal_on_primitive(link, k, divergence)
        }  # fmt: skip
    graph = ConsumerGraph(link, transfer, exact, equal, relaxed)
    return choose_and_move(link, transfer, graph, expect)


def comes_back(link: Link, key: int) -> bool:
    """Whether interpolation gives a value back that all vertices have: where the weights sum to
    one."""
    qualifiers = link.inputs.slots[key].qualifiers
    return centred(qualifiers) and all(i.op == LOAD_INPUT for i in link.loads[key])


def choose_and_move(
    link: Link, transfer: Transfer, graph: ConsumerGraph, expect: tuple[int, int]
) -> bool:
    """Choose and move; whether anything did."""
    if graph.hopeless or len(graph.nodes) > MAX_NODES:
        return False
    if all(n.sink for n in graph.inputs.values()):
        return False  # what crosses must take the place of one
    if all(n.key is not None for n in graph.nodes):
        return False
    for _ in range(MAX_TRIES):
        made, crossing, freed = graph.choose(*expect)
        keys = algebra.assign(link, [(n.qualifiers, n.inst) for n in crossing], freed)
        places = {n: k for n, k in zip(crossing, keys) if k is not None}
        if len(places) == len(crossing):
            break
        graph.homeless.update(n for n in crossing if n not in places)
    else:
        return False
    if not places or not algebra.declared(transfer, [u for n in made for u in n.uniforms]):
        return False
    Move(link, graph, made, places, freed).run()
    return True
