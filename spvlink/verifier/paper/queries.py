"""Ray queries: what a query knows is one value, and each step makes another of it.

SPV_KHR_ray_query. A step depends on nothing but the query, the operands, and the acceleration
structure, which no stage of a pipeline writes.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.verifier.paper.graph import BOOL, Node, NotProvable
from spvlink.verifier.paper.pointers import TermPointer
from spvlink.verifier.paper.shapes import OPAQUE, Value, parts

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.verifier.paper.acts import Acts

# What changes a query, and whether what it knew before matters
_STEPS: Final = {
    ops.OpRayQueryInitializeKHR: False, ops.OpRayQueryTerminateKHR: True,
    ops.OpRayQueryGenerateIntersectionKHR: True, ops.OpRayQueryConfirmIntersectionKHR: True,
    ops.OpRayQueryProceedKHR: True,
}  # fmt: skip


def is_query(inst: Inst) -> bool:
    """Whether an instruction uses a ray query."""
    return ops.NAMES.get(inst.op, "").startswith("OpRayQuery")


def asked(acts: Acts, inst: Inst) -> Value:
    """What an instruction gives of its query. Raises NotProvable."""
    pointer = acts.value(inst.args[0])
    if not isinstance(pointer, TermPointer):
        raise NotProvable("a ray query that is not followed")
    query = acts.load(pointer)
    if not isinstance(query, Node):
        raise NotProvable("several ray queries at once")
    name = ops.NAMES[inst.op][2:]
    others = [acts.value(a) for a in inst.args[1:]]
    if inst.op not in _STEPS:
        return acts.whole(name, inst, [query, *others], inst.imm)
    before = [query] if _STEPS[inst.op] else []
    flat = (*before, *[node for value in others for node in parts(value)])
    acts.store(pointer, acts.graph.node(name, OPAQUE, flat, inst.imm))
    if inst.op == ops.OpRayQueryProceedKHR:
        return acts.graph.node("proceeds", BOOL, flat)
    return None
