"""What stays whole on one side of a border stays whole on the other: interfaces match variable by
variable (Vulkan, "Interface Matching"), so an array on one side may not face separate variables on
the other."""

from __future__ import annotations

from spvlink.passes.lower_io import Lowering


def run(producer: Lowering, consumer: Lowering) -> None:
    """Exchange pins until both sides agree. Each round pins at least one node more, so it ends."""
    assert producer.outputs is not None and consumer.inputs is not None
    sides = (
        (producer, producer.outputs, consumer, consumer.inputs),
        (consumer, consumer.inputs, producer, producer.outputs),
    )
    changed = True
    while changed:
        changed = False
        for here, my_side, there, their_side in sides:
            for node in here.memory_nodes(my_side):
                why = (
                    node.why
                    if node.why.startswith("the other")
                    else f"the other side needs it whole: {node.why}"
                )
                changed |= there.pin_keys(their_side, set(here.keys_of(node)), node, why)
