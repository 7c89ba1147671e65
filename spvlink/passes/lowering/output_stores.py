"""Store the outputs of a vertex or an invocation where it ends."""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Block, Inst
from spvlink.passes.lowering.memory_access import extract, store_slot
from spvlink.passes.lowering.promote import Promotion


def output_stores(promotion: Promotion, block: Block) -> list[Inst]:
    """STORE_OUTPUT of every component of every output that has a value here: at the return that
    ends a block that was renamed, or at an emit that the renaming has come to."""
    out: list[Inst] = []
    for cell, node in enumerate(promotion.cells):
        if not node.keys or node.is_input or node.in_place:
            continue
        stored = promotion.now(cell, block) if promotion.at_emits else promotion.lookup(cell, block)
        if stored.op == ops.OpUndef:
            continue
        if node.type.op != ops.OpTypeVector:
            out.append(store_slot(node.keys[0], stored, None))
            continue
        for lane, key in enumerate(node.keys):
            part = extract(promotion.module, stored, (lane,), node.type.args[0], out)
            if part.op != ops.OpUndef:
                out.append(store_slot(key, part, None))
    return out
