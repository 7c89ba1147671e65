"""Move a value that replaces an input down to its first use.

    in vec4 a, b; ... 500 instructions ... use(b)    b = u.k * u.c:   not above the 500, but here

A driver reads an input at its first use, wherever the code reads it (HLSL: at the top), but it
leaves arithmetic in place. A value that replaces an input at the top would occupy a register until
its use. So it moves to the innermost block that dominates all of its uses, but into no loop. That
is safe, since the value is pure and nobody writes the memory that it reads.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.cfg import Cfg
from spvlink.facts.structure import Structure
from spvlink.grammar import ops
from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.edit import touched

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Place = tuple[Block, int]  # and the instruction's number in it

_MERGES: Final = frozenset((ops.OpSelectionMerge, ops.OpLoopMerge))


def sink(module: Module, made: list[Inst]) -> None:
    """Move pure values of the entry point, operands first, down to their first uses, and vectors
    that are made of them alone. Copies must be swept."""
    if not made or module.entry is None:
        return
    function = module.entry.function
    cfg = Cfg.of(module, function)
    structure = Structure.of(module, function)
    order, moving = list(made), set(made)
    home: dict[Inst, Block] = {}
    uses: dict[Inst, list[Place]] = {}
    for block in cfg.order:
        end = _end(block)
        for number, inst in enumerate(block.insts):
            if inst.op in scalars.MOVES and inst not in moving and moving.issuperset(inst.args):
                moving.add(inst)
                order.append(inst)
            if inst in moving:
                home[inst] = block
                continue
            for at, arg in enumerate(inst.args):
                if arg not in moving:
                    continue
                place: Place = block, min(number, end)
                if inst.op == ops.OpPhi:
                    before = inst.args[at + 1]
                    assert isinstance(before, Block)
                    if before not in cfg.index:
                        continue  # nothing comes from there
                    place = before, _end(before)
                uses.setdefault(arg, []).append(place)
    places: dict[Place, list[Inst]] = {}
    for inst in reversed(order):
        if inst not in home:
            continue  # nothing reaches it
        at_home = [(home[inst], _end(home[inst]))]  # what no reachable block needs
        place = _first(cfg, structure, home[inst], uses.get(inst, at_home))
        places.setdefault(place, []).append(inst)
        for arg in inst.args:
            if arg in moving:
                uses.setdefault(arg, []).append(place)
    _rebuild(cfg, {inst: number for number, inst in enumerate(order)}, places)
    touched(module)


def _end(block: Block) -> int:
    """The number of a block's first instruction that must stay at its end."""
    end = len(block.insts) - 1
    return end - 1 if end and block.insts[-2].op in _MERGES else end


def _first(cfg: Cfg, structure: Structure, home: Block, uses: list[Place]) -> Place:
    """Where a value goes: in front of its first use in the block that dominates all of them."""
    block = uses[0][0]
    for other, _ in uses:
        while not cfg.dominates(block, other):
            block = cfg.idom[block]
    loops = _loops(structure, home)
    while block is not home and not loops.issuperset(_loops(structure, block)):
        block = cfg.idom[block]
    return block, min([at for b, at in uses if b is block], default=_end(block))


def _loops(structure: Structure, block: Block) -> set[Block]:
    """The loops that a block is in, by their headers."""
    return {h for h in [block, *structure.around(block)] if h in structure.loops}


def _rebuild(cfg: Cfg, rank: dict[Inst, int], places: dict[Place, list[Inst]]) -> None:
    """``rank``: all that moves, in the order that it came in."""
    blocks = {block for block, _ in places}
    for block in cfg.order:
        if block not in blocks and rank.keys().isdisjoint(block.insts):
            continue
        out: list[Inst] = []
        for number, inst in enumerate(block.insts):
            out += sorted(places.get((block, number), ()), key=rank.__getitem__)
            if inst not in rank:
                out.append(inst)
        block.insts = out
