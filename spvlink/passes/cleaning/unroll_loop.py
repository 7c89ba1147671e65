"""Unroll the rounds of a counted loop (``facts/trip_counts``).

    header:  i = phi 0, i + 1              header':  ... store c[0] ...
             loop merge                    header'': ... store c[1] ...
             if (i < 2) body, merge   ->   header:   -> merge
    body:    ... store c[i] ...
    latch:   -> header

What was the loop itself becomes the last time that its test is run, so what comes behind the loop
may use the values that it used. All other rounds are copies before it.
"""

from __future__ import annotations

from spvlink.facts.trip_counts import CountedLoop
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.debug import Note, noted
from spvlink.ir.edit import become, branch, flow_changed, resolve, sweep
from spvlink.passes.cleaning.flow import drop_unreachable
from spvlink.passes.cleaning.twins import twins_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_VALUE: Final = 2  # where a DebugValue names the value


def unroll_loop(module: Module, function: Function, loop: CountedLoop) -> None:
    """Unroll one loop of a function. What is known of other loops holds no more."""
    header, phis = loop.header, loop.phis()
    values = _counters(module, loop, 0)
    for phi in phis:
        values.setdefault(phi, loop.from_outside(phi))
    made: list[Block] = []
    before: Block | None = None  # the latch of the round before
    for number in range(1, len(loop.rounds)):
        table: dict[Inst, Inst] = dict(values)
        twins = twins_of(module, loop.blocks, table)
        _copy_notes(module, loop, table)
        _straighten(twins[0])
        if before is None:
            _enter(function, loop, twins[0])
        else:
            before.insts[-1] = branch(twins[0])
        before = _twin(table, loop.latch)
        if loop.test is not loop.latch:
            _twin(table, loop.test).insts[-1] = branch(_twin(table, _onward(loop)))
        made += twins
        after = _counters(module, loop, number)
        for phi in phis:
            last = resolve(loop.from_latch(phi))
            after.setdefault(phi, table.get(last, last))
        values = after
    if before is not None:
        before.insts[-1] = branch(header)
    for phi in phis:
        become(module, phi, values[phi])
    _straighten(header)
    loop.test.insts[-1] = branch(loop.merge)
    at = function.blocks.index(header)
    function.blocks[at:at] = made
    flow_changed(module)
    sweep(module, function)
    drop_unreachable(module, function)


def _counters(module: Module, loop: CountedLoop, number: int) -> dict[Inst, Inst]:
    """The counters of one round as constants."""
    counters: dict[Inst, Inst] = {}
    for phi, value in loop.rounds[number].items():
        assert phi.type is not None
        counters[phi] = types.constant(module, phi.type, value & 0xFFFFFFFF)
    return counters


def _twin(table: dict[Inst, Inst], block: Block) -> Block:
    twin = table[block]
    assert isinstance(twin, Block)
    return twin


def _onward(loop: CountedLoop) -> Block:
    """Where the test leads that does not leave the loop."""
    (block,) = [b for b in loop.test.successors() if b is not loop.merge]
    return block


def _straighten(header: Block) -> None:
    """It is no header any more."""
    header.insts = [inst for inst in header.insts if inst.op != ops.OpLoopMerge]


def _enter(function: Function, loop: CountedLoop, first: Block) -> None:
    """What led to the header from outside, or named it as a merge block, means the first round."""
    inside = set(loop.blocks)
    for block in function.blocks:
        if block not in inside:
            for inst in block.insts[-2:]:
                if inst.op != ops.OpPhi and loop.header in inst.args:
                    inst.args = [first if arg is loop.header else arg for arg in inst.args]


def _copy_notes(module: Module, loop: CountedLoop, table: dict[Inst, Inst]) -> None:
    """What debug information says of variables in the loop it says of each round."""
    debug_info = noted(module)
    if debug_info is None:
        return
    inside = set(loop.blocks)
    arounds: dict[int, list[Inst]] = {}
    for note in debug_info.notes.copy():
        if note.block not in inside or len(note.inst.args) <= _VALUE:
            continue
        around = arounds.get(id(note.around))
        if around is None:
            around = [table.get(resolve(inst), inst) for inst in note.around]
            arounds[id(note.around)] = around
        args = [table.get(resolve(arg), arg) for arg in note.inst.args]
        inst = Inst(note.inst.op, note.inst.type, args, note.inst.imm, module.new_id())
        block = _twin(table, note.block)
        debug_info.notes.append(Note(inst, note.place, block, around, note.at, note.path))
