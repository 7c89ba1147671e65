"""Empty a fragment shader behind which nothing is rasterized.

    void main() { ... }        ->    void main() {}

Why it is right. With rasterizerDiscardEnable primitives are discarded immediately before
rasterization (Vulkan, "Rasterization"). There are no fragments, so the shader never runs: it
stores nothing, and no query counts it.

What breaks it. Stages before it run: their stores, atomics and captures stay.

Cost. None.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.edit import flow_changed


def state_rasterizer_discard(module: Module) -> None:
    """Leave nothing but a return."""
    assert module.entry is not None
    function = module.entry.function
    first = function.blocks[0]
    if len(first.insts) == 1 and first.terminator.op == ops.OpReturn:
        return
    block = Block(first.id)
    block.insts = [Inst(ops.OpReturn, None, [], ())]
    function.blocks = [block]
    flow_changed(module)
