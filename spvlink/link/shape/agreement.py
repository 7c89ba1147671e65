"""Keep a variable whole on both sides of a border if one side needs it whole.

Interfaces match variable by variable (Vulkan, "Interface Matching"), so an array on one side may
not face separate variables on the other.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.slot import OTHER_SIDE
from spvlink.passes.lowering.lower_io import Lowering

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


# Consumers, and producers, whose interface has Patch or PerPrimitiveEXT variables.
_WITH_KINDS: Final = frozenset(
    (enums.ExecutionModel_TessellationEvaluation, enums.ExecutionModel_MeshEXT)
)


def agree(producer: Lowering, consumer: Lowering) -> None:
    """Exchange pins until both sides agree. Each round pins at least one node more, so it ends."""
    assert producer.outputs is not None and consumer.inputs is not None
    if _WITH_KINDS & {producer.model, consumer.model}:
        theirs, mine = producer.kinds(producer.outputs), consumer.kinds(consumer.inputs)
        wrong = {k for k in mine if mine[k] != theirs.get(k, mine[k])}
        if wrong:
            why = "only one of the stages says that it is per patch or per primitive"
            producer.pin_keys(producer.outputs, wrong, None, why)
            consumer.pin_keys(consumer.inputs, wrong, None, why)
    sides = (
        (producer, producer.outputs, consumer, consumer.inputs),
        (consumer, consumer.inputs, producer, producer.outputs),
    )
    changed = True
    while changed:
        changed = False
        for here, my_side, there, their_side in sides:
            for node in here.memory_nodes(my_side):
                why, pins = node.why, node.pins | OTHER_SIDE
                if not node.pins & OTHER_SIDE:
                    why = f"the other side needs it whole: {why}"
                changed |= there.pin_keys(their_side, set(here.keys_of(node)), node, why, pins)
