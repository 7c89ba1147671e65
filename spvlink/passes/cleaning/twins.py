"""Copy blocks: those of a callee for one call, those of a loop for one round."""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import ops
from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.debug import noted
from spvlink.ir.edit import annotate


def twins_of(module: Module, blocks: list[Block], table: dict[Inst, Inst]) -> list[Block]:
    """Copies of some blocks, decorated alike, in none of the functions yet. ``table`` has what to
    put in place of what; the copies are added, so that they refer to each other. What it has
    already is not copied."""
    out: list[Block] = []
    tables = Decorations.of(module)
    decorated, with_ids = tables.targets, tables.with_ids
    notes: list[Inst] = []
    debug_info = noted(module)
    for block in blocks:
        twin = Block(module.new_id())
        table[block] = twin
        out.append(twin)
        for inst in block.insts:
            if inst in table:
                continue
            made = Inst(inst.op, inst.type, inst.args, inst.imm, module.new_id() if inst.id else 0)
            twin.insts.append(made)
            if debug_info is not None:
                debug_info.like(made, inst)
            table[inst] = made
            if inst.id:
                for words in decorated.get(inst, ()):
                    notes.append(Inst(ops.OpDecorate, None, [made], words))
                for note in with_ids.get(inst, ()) if with_ids else ():
                    notes.append(Inst(note.op, None, [made, *note.args[1:]], note.imm))
    for twin in out:
        for inst in twin.insts:
            inst.args = [table.get(a, a) for a in inst.args]
    if notes:
        annotate(module, notes)
    return out
