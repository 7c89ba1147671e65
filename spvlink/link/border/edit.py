"""Make edits that several passes of a border share."""

from __future__ import annotations

from spvlink.ir import types
from spvlink.ir.core import STORE_OUTPUT, Inst
from spvlink.ir.edit import become, touched
from spvlink.link.border.stage import Stage


def remove_stores(stage: Stage, keys: set[int]) -> None:
    """Delete every STORE_OUTPUT of these keys."""
    entry = stage.module.entry
    assert entry is not None
    for block in entry.function.blocks:
        block.insts = [i for i in block.insts if i.op != STORE_OUTPUT or i.imm[0] not in keys]
    touched(stage.module)


def zero(stage: Stage, load: Inst) -> None:
    """A load becomes the zero of its type."""
    assert load.type is not None
    become(stage.module, load, types.null(stage.module, load.type))
