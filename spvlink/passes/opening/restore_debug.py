"""Put debug information back into the functions after the last pass (see ``debuginfo``)."""

from __future__ import annotations

from bisect import bisect_left

from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import Effects
from spvlink.grammar import debug, info, ops
from spvlink.ir import types
from spvlink.ir.core import GLOBALS, STRINGS, Block, Function, Inst, Module, string_of
from spvlink.ir.debug import NOWHERE, Debug, Note, Place, noted
from spvlink.ir.edit import resolve, touched

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_LINES: Final = info.LINES
_ENDS: Final = (0, debug.DebugNoLine, debug.DebugNoScope)
_FIRST: Final = frozenset((ops.OpPhi, ops.OpVariable))  # nothing but OpLine may stand before these


def restore_debug(module: Module) -> None:
    """Put everything back into the functions that is left of it."""
    debug_info = noted(module)
    if debug_info is None or debug_info.woven:
        return
    debug_info.woven = True
    used = {a for f in module.functions for b in f.blocks for i in b.insts for a in i.args}
    outside = set(module.globals)
    outside = {
        i for i in outside if i.op != ops.OpVariable or i in used
    } | Effects.of(module).nonsemantic | set(module.sections[STRINGS])  # fmt: skip
    ways: list[_Weaver] = []
    written: set[Inst] = set()  # by any function: inlined code has the lines of its callee
    for function in module.functions:
        ways.append(_Weaver(module, debug_info, function, outside, written))
    for way in ways:
        way.run()
    touched(module)


class _Weaver:
    """One function."""

    def __init__(
        self, module: Module, debug_info: Debug, function: Function, outside: set[Inst],
        written: set[Inst],
    ) -> None:  # fmt: skip
        self.module = module
        self.debug_info = debug_info
        self.function = function
        self.outside = outside
        self.cfg = Cfg.of(module, function)
        self.homes: dict[Inst, tuple[Block, int]] = {
            inst: (block, at) for block in function.blocks for at, inst in enumerate(block.insts)
        }
        self.blocks = set(function.blocks)
        # what comes before an instruction, and after one
        self.before: dict[Inst, list[Note]] = {}
        self.behind: dict[Inst, list[Note]] = {}
        self.starts: dict[Block, list[Note]] = {}
        self.left: dict[
            int, list[int]
        ] = {}  # by list of instructions: numbers of those still there
        self.written = written  # lines and scopes that stand somewhere already
        self.now: Place = NOWHERE
        self.out: list[Inst] = []

    def run(self) -> None:
        self.place_notes()
        function = self.function
        places, blocks = self.debug_info.places, function.blocks
        self.now = NOWHERE
        for at, block in enumerate(blocks):
            for inst, lead in ((function, function.lead), (block, block.lead)):
                if inst is block or not at:
                    line = places.get(inst, NOWHERE)[0]
                    if line is not None and not _same(line, self.now[0]):
                        lead.append(self.fresh(line))
                        self.now = line, *self.now[1:]
            self.block(block)
            self.now = NOWHERE

    # -- notes -------------------------------------------------------------------------------------

    def place_notes(self) -> None:
        """Find where each note goes. If one of a variable has no place, all of them go: what the
        others say would hold too long."""
        placed: list[tuple[Note, Inst]] = []
        lost: set[tuple[object, ...]] = set()
        known: set[tuple[object, ...]] = set()  # of which something is known
        spots: dict[Note, tuple[dict[Inst, list[Note]], Inst, int]] = {}
        for note in self.debug_info.notes:
            spot = self.spot(note)
            if spot is None:
                lost.add(_variable_of(note))
                continue
            inst = self.still(note, spot)
            if inst is None:
                continue
            if not _is_value(note.inst) or inst.args[2].op != ops.OpUndef:
                known.add(_variable_of(note))
            spots[note] = spot
            placed.append((note, inst))
        for note, inst in placed:
            key = _variable_of(note)
            if _is_value(note.inst) and (key in lost or key not in known):
                continue
            note.inst = inst
            table, anchor, _ = spots[note]
            table.setdefault(anchor, []).append(note)

    def spot(self, note: Note) -> tuple[dict[Inst, list[Note]], Inst, int] | None:
        """The instruction before or after which a note goes, and the index there in its block."""
        homes, around = self.homes, note.around
        indices = self.left.get(id(around))
        if indices is None:
            shifted = self.debug_info.shifted
            indices = [at for at, i in enumerate(around) if i in homes and i not in shifted]
            self.left[id(around)] = indices  # ``around`` lives as long as its note
        first = bisect_left(indices, note.at)
        if first < len(indices):
            inst = around[indices[first]]
            return self.before, inst, homes[inst][1]
        if indices:
            inst = around[indices[-1]]
            return self.behind, inst, homes[inst][1] + 1
        if note.block in self.blocks:
            return self.starts, note.block, 0  # type: ignore[return-value]
        return None

    def still(self, note: Note, spot: tuple[dict[Inst, list[Note]], Inst, int]) -> Inst | None:
        """A note's instruction as it is now; None if what it speaks of is gone."""
        _, anchor, at = spot
        home = anchor if isinstance(anchor, Block) else self.homes[anchor][0]
        source = note.inst
        args: list[Inst] = []
        for number, arg in enumerate(source.args):
            arg = resolve(arg)
            if not self.known(arg, home, at) or (note.partial and number == 2):
                if number != 2 or not _is_value(source) or arg.type is None:
                    return None
                if arg.type.op == ops.OpTypeVoid:
                    return None
                if not types.may_be_constant(self.module, arg.type):
                    return None
                arg = types.undef(self.module, arg.type)
            args.append(arg)
        if note.path:
            number_type = types.integer(self.module)
            args += [types.constant(self.module, number_type, n) for n in note.path]
        return Inst(source.op, source.type, args, source.imm, source.id)

    def known(self, arg: Inst, home: Block, at: int) -> bool:
        """Whether a value is there at this place."""
        if arg in self.outside or arg in self.function.params or arg is self.function:
            return True
        home_of = self.homes.get(arg)
        if home_of is None:
            return False
        if home_of[0] is home:
            return home_of[1] < at or arg.op in _FIRST
        index = self.cfg.index
        return home in index and home_of[0] in index and self.cfg.dominates(home_of[0], home)

    # -- blocks ------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Write one block with all that belongs into it."""
        insts = block.insts
        self.out = []
        places = self.debug_info.places
        last = len(insts) - 1
        end = last - 1 if block.merge() is not None else last
        late: list[Note] = list(self.starts.get(block, ()))
        head = True
        for at, inst in enumerate(insts):
            if head and inst.op in _FIRST:
                line = places.get(inst, NOWHERE)[0]
                self.turn((line, *self.now[1:]))
                self.out.append(inst)
                late += self.behind.get(inst, ())
                continue
            if head:
                head = False
                if block is self.function.blocks[0]:
                    self.declare()
                for note in late:
                    self.note(note)
            if at > end:
                self.out.append(inst)
                continue
            for note in self.before.get(inst, ()):
                self.note(note)
            if at == end < last:
                for note in self.before.get(insts[last], ()):
                    self.note(note)
            self.turn(places.get(insts[last] if at == end else inst, NOWHERE))
            self.out.append(inst)
            if at < end:
                for note in self.behind.get(inst, ()):
                    self.note(note)
        block.insts = self.out

    def declare(self) -> None:
        """The function's DebugFunctionDefinition, and its variables that still are some."""
        debug_info, homes = self.debug_info, self.homes
        definition = debug_info.definitions.get(self.function)
        if definition is not None:
            self.out.append(definition)
        for variable, notes in debug_info.declares.items():
            if variable in homes or variable in self.function.params:
                for note in notes:
                    self.note(note)

    def note(self, note: Note) -> None:
        self.turn((*self.now[:2], note.place[2]))
        inst = note.inst
        if not inst.id and inst.type is not None:
            inst.id = self.module.new_id()
        self.out.append(inst)

    # -- lines -------------------------------------------------------------------------------------

    def turn(self, to: Place) -> None:
        """Write what is needed so that this holds from here on."""
        if to is self.now:
            return
        for part in (0, 2, 1):  # a scope before the line in it
            old, new = self.now[part], to[part]
            if old is new or (old is not None and new is not None and _same(old, new)):
                continue
            if new is not None:
                self.out.append(self.fresh(new))
            elif part == 0:
                self.out.append(Inst(ops.OpNoLine, None, [], ()))
            else:
                assert old is not None
                id = self.module.new_id()
                self.out.append(Inst(old.op, old.type, old.args[:1], (_ENDS[part],), id))
        self.now = to

    def fresh(self, line: Inst) -> Inst:
        """A line or scope to be written: itself the first time, later a copy."""
        for arg in line.args:
            if arg in self.debug_info.made:
                self.define(arg)
        if line not in self.written:
            self.written.add(line)
            if line.type is not None and not line.id:
                line.id = self.module.new_id()
            return line
        id = self.module.new_id() if line.type is not None else 0
        return Inst(line.op, line.type, line.args, line.imm, id)

    def define(self, inlined_at: Inst) -> None:
        """Put a DebugInlinedAt among the module's debug information, those it names first."""
        chain = [inlined_at]
        while chain[-1].args[-1] in self.debug_info.made:
            chain.append(chain[-1].args[-1])
        for inst in reversed(chain):
            self.debug_info.made.remove(inst)
            inst.id = self.module.new_id()
            self.module.sections[GLOBALS].append(inst)


def _is_value(inst: Inst) -> bool:
    return (
        inst.imm[0] == debug.DebugValue
        and len(inst.args) > 3
        and string_of(inst.args[0].imm)[0] in debug.SETS
    )


def _variable_of(note: Note) -> tuple[object, ...]:
    """What a note speaks of: a variable, in one inlined call."""
    if not _is_value(note.inst):
        return (note,)
    scope = note.place[2]
    at = scope.args[2] if scope is not None and len(scope.args) > 2 else None
    return (note.inst.args[1], at)


def _same(a: Inst | None, b: Inst | None) -> bool:
    """Whether two lines or scopes say the same."""
    return a is b or (
        a is not None and b is not None and a.op == b.op and a.imm == b.imm and a.args == b.args
    )


def restore_debug_globals(module: Module) -> None:
    """Lines of types, constants and variables; again after what they stood before is gone."""
    debug_info = noted(module)
    if debug_info is None:
        return
    out: list[Inst] = []
    now: Inst | None = None
    for inst in module.globals:
        if inst.op in _LINES:
            continue
        line = debug_info.places.get(inst, NOWHERE)[0]
        if not _same(line, now):
            if line is None:
                out.append(Inst(ops.OpNoLine, None, [], ()))
            else:
                out.append(Inst(line.op, None, line.args, line.imm))
            now = line
        out.append(inst)
    if now is not None:
        out.append(Inst(ops.OpNoLine, None, [], ()))
    module.globals[:] = out
