"""Debug information of functions while they are being changed: beside the code, not in it.

No pass sees a line, a scope or a debug instruction, so none can decide by one: a module with debug
information becomes the same code as without. Instructions keep their place in the source by being
themselves; what a pass makes anew has none. ``passes/opening/debuginfo`` takes the information out
and puts back what is left of it.
"""

from __future__ import annotations

from spvlink.grammar import debug, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, Block, Inst, Module
from spvlink.ir.edit import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# What holds at an instruction: the OpLine, the DebugLine, the DebugScope (each None for none).
Place = tuple[Inst | None, Inst | None, Inst | None]
MAX_PARTS: Final = 64  # of a variable, whose values are told
NOWHERE: Final[Place] = (None, None, None)


class Note:
    """A debug instruction that has to stand where it stood, between instructions of its block."""

    __slots__ = ("around", "at", "block", "inst", "partial", "path", "place")

    def __init__(
        self, inst: Inst, place: Place, block: Block, around: list[Inst], at: int,
        path: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.inst = inst
        self.place = place
        self.block = block
        self.around = around  # the instructions of the block: it stands before number ``at``
        self.at = at
        self.path = path  # to the part of the variable that it speaks of
        self.partial = False  # some lanes of the value that it speaks of are dead


class Debug:
    """What was taken out of the functions of one module."""

    __slots__ = ("declares", "definitions", "made", "moved", "notes", "places", "shifted", "woven")

    def __init__(self) -> None:
        self.places: dict[Inst, Place] = {}  # of every instruction that has one
        self.notes: list[Note] = []
        # a local variable or parameter -> the DebugDeclares of it
        self.declares: dict[Inst, list[Note]] = {}
        self.definitions: dict[Inst, Inst] = {}  # function -> its DebugFunctionDefinition
        self.made: set[Inst] = set()  # DebugInlinedAts that have no id yet
        self.moved: dict[Inst, Inst] = {}  # interface variable -> what is the same variable now
        # instructions that changed their place in the code, so nothing can be told from it
        self.shifted: set[Inst] = set()
        self.woven = False  # everything is back in the functions

    def like(self, made: Inst, source: Inst) -> None:
        """What was made in place of an instruction belongs to the same place of the source."""
        place = self.places.get(source)
        if place is not None:
            self.places[made] = place

    def all_like(self, made: list[Inst], source: Inst) -> None:
        """As ``like``, of those that have no place."""
        place = self.places.get(source)
        if place is not None:
            for inst in made:
                self.places.setdefault(inst, place)

    def inside(self, made: list[Inst], source: Inst) -> None:
        """What was made to happen just before an instruction: in its scope, but of no line."""
        scope = self.places.get(source, NOWHERE)[2]
        if scope is not None:
            for inst in made:
                self.places.setdefault(inst, (None, None, scope))

    def wrote(
        self, declare: Note, path: tuple[int, ...], stored: Inst, block: Block,
        around: list[Inst], at: int,
    ) -> None:  # fmt: skip
        """From here on a variable that is none any more, or the part of it at ``path``, has this
        value."""
        set_, local, _, expression, *rest = declare.inst.args
        args = [set_, local, stored, expression, *rest]
        inst = Inst(ops.OpExtInst, declare.inst.type, args, (debug.DebugValue,))
        self.notes.append(Note(inst, declare.place, block, around, at, path))

    def look_at_lanes(self) -> None:
        """After dead code elimination: a value with dead lanes does not say any more what the
        source's variable holds."""
        for note in self.notes:
            for arg in note.inst.args[2:]:
                found = resolve(arg)
                lanes, full = found.mark & ALL, (1 << types.lanes_of(found.type)) - 1
                if lanes and lanes & full != full:
                    note.partial = True


def noted(module: Module) -> Debug | None:
    """What was taken out of the functions of a module; None where nothing was."""
    held = module.debug
    assert held is None or isinstance(held, Debug)
    return held


class Told:
    """What debug information says of variables while they become values: of each cell of them, by
    its number."""

    __slots__ = ("at", "cells", "debug", "mark")

    def __init__(self, debug: Debug | None) -> None:
        self.debug = debug
        # cell -> the DebugDeclares of its variable, and where in that it is
        self.cells: dict[int, tuple[list[Note], tuple[int, ...]]] = {}
        self.at: tuple[list[Inst], int] = ([], 0)  # the instruction that is being renamed
        self.mark = 0  # what comes after this one was made in its place

    def begin(self, variable: Inst, cell: int, path: tuple[int, ...], parts: int) -> None:
        """A cell is this part of a variable that has so many."""
        notes = self.debug.declares.get(variable) if self.debug is not None else None
        if notes and parts <= MAX_PARTS:
            self.cells[cell] = notes, path

    def now(self, cell: int, value: Inst, block: Block) -> None:
        """From here on a cell has this value."""
        known = self.cells.get(cell)
        if known is not None and self.debug is not None:
            for note in known[0]:
                self.debug.wrote(note, known[1], value, block, *self.at)

    def all_of(self, values: dict[int, Inst], block: Block) -> None:
        """At the beginning of a block these cells have these values."""
        if self.cells:
            self.at = block.insts.copy(), 0
            for cell, value in values.items():
                self.now(cell, value, block)

    def begin_block(self, block: Block, values: dict[int, Inst]) -> None:
        """A block is about to be renamed; cells have these values when it begins."""
        self.all_of(values, block)
        self.at = block.insts, 0
        self.mark = 0

    def step(self, out: list[Inst], done: int, at: int) -> None:
        """So many of a block's instructions are done; all before number ``at`` stay as they are."""
        if self.debug is not None and done:
            self.debug.all_like(out[self.mark :], self.at[0][done - 1])
        self.mark = len(out) + at - done
        self.at = self.at[0], at

    def emitted(self, out: list[Inst]) -> None:
        """What was just made goes out with what is being renamed."""
        if self.debug is not None:
            self.debug.inside(out[self.mark :], self.at[0][self.at[1]])

    def inside(self, made: list[Inst], source: Inst) -> None:
        """As ``Debug.inside``."""
        if self.debug is not None:
            self.debug.inside(made, source)
