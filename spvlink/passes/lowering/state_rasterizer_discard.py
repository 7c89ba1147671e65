"""A fragment shader behind which nothing is rasterized never runs.

    void main() { ... }        ->    void main() {}

With rasterizerDiscardEnable primitives are discarded immediately before rasterization (Vulkan,
"Rasterization"), so there are no fragments, and nothing of what the shader would do happens: no
stores, no atomics, no queries of it. What the stages before do stays, transform feedback included.
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
