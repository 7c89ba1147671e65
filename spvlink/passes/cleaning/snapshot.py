"""Save the code of a module, so that a trial of a pass can be undone."""

from __future__ import annotations

from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.debug import Note, noted
from spvlink.ir.edit import flow_changed, replace_annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    Fields = tuple[Inst, int, list[Inst], tuple[int, ...], int]  # of an instruction


class Snapshot:
    """The function of the entry point, and what stands outside of functions."""

    __slots__ = ("blocks", "bound", "fields", "globals", "notes", "shifted", "words")

    def __init__(self, module: Module) -> None:
        assert module.entry is not None
        self.blocks: list[tuple[Block, list[Inst]]] = []
        self.fields: list[Fields] = []
        for block in module.entry.function.blocks:
            self.blocks.append((block, block.insts[:]))
            for inst in block.insts:
                self.fields.append((inst, inst.op, inst.args[:], inst.imm, inst.mark))
        self.words = module.annotations[:]
        self.globals = module.globals[:]
        self.bound = module.bound
        debug_info = noted(module)
        self.notes: list[Note] = debug_info.notes[:] if debug_info is not None else []
        self.shifted: set[Inst] = set(debug_info.shifted) if debug_info is not None else set()

    def fits(self, module: Module) -> bool:
        """Whether all that the code names is still there."""
        return {*self.globals} <= {*module.globals}

    def restore(self, module: Module) -> None:
        """The module as it was, to the ids. Only its own passes may have changed it since."""
        assert module.entry is not None
        for inst, op, args, imm, mark in self.fields:
            inst.op, inst.args, inst.imm, inst.mark = op, args, imm, mark
        for block, insts in self.blocks:
            block.insts = insts
        module.entry.function.blocks = [block for block, _ in self.blocks]
        if module.annotations != self.words:
            replace_annotations(module, self.words)
        if len(module.globals) > len(self.globals):
            module.globals[:] = self.globals
            module.pool, module.by_op = {}, []
        module.bound = self.bound
        debug_info = noted(module)
        if debug_info is not None:
            debug_info.notes, debug_info.shifted = self.notes, self.shifted
        flow_changed(module)
