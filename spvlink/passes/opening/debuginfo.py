"""Take debug information out of the functions before the first pass; it comes back after the last.

    DebugScope %set %a                    (taken out: places of the instructions behind it)
    DebugDeclare %set %x %variable %e     (taken out: a note)
    OpStore %variable %1             ->   OpStore gone: DebugValue %set %x %1 %e, a note
    DebugLine %set %file 7 7 1 2
    %2 = OpFAdd %float %1 %1              its place is line 7, wherever it goes

Lines and scopes (OpLine, DebugLine, DebugScope) hold for all that follows in a block. They become a
fact of each instruction, and ``restore_debug`` writes them anew where they change; for what a pass
made there is none, so no instruction ever gets the line of another. What else speaks of code, a
DebugDeclare, a DebugValue, anything of a set that only describes, is a ``Note``: it comes back if
what it speaks of is still there, between the same neighbours. A DebugValue whose value is gone says
OpUndef, which ends what was said before.

Inlined code gets scopes with DebugInlinedAt. Variables that became values get a DebugValue at each
store and phi.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.grammar import debug, info, ops, shapes
from spvlink.ir import types
from spvlink.ir.core import STRINGS, Block, Function, Inst, Module, string_of
from spvlink.ir.debug import NOWHERE, Debug, Note, Place, noted
from spvlink.ir.edit import resolve, touched

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_LINES: Final = info.LINES
_EXTENDED: Final = info.EXTENDED
# which part of a Place an instruction of a debug information set changes, and whether to nothing
_CHANGES: Final = {
    debug.DebugLine: (1, False),
    debug.DebugNoLine: (1, True),
    debug.DebugScope: (2, False),
    debug.DebugNoScope: (2, True),
}


def is_debug(module: Module, inst: Inst) -> bool:
    """Whether an instruction only describes: a line, or one of a set of such."""
    op = inst.op
    return op in _LINES or (op in _EXTENDED and inst.args[0] in Effects.of(module).nonsemantic)


def code_of(module: Module, block: Block) -> list[Inst]:
    """The instructions of a block without debug information."""
    return [i for i in block.insts if not is_debug(module, i)]


def debug_sets(module: Module) -> set[Inst]:
    """The imports of sets of debug information."""
    return {i for i in Effects.of(module).nonsemantic if string_of(i.imm)[0] in debug.SETS}


# -- taking out ------------------------------------------------------------------------------------


def take_lines(module: Module) -> None:
    """Take lines and scopes out of a module, before its first pass."""
    if not Effects.of(module).nonsemantic and not any(i.id for i in module.sections[STRINGS]):
        return  # without a string there is no file
    _Lines(module).run()
    touched(module)


class _Lines:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.debug = module.debug = Debug()
        self.sets = debug_sets(module)
        self.nonsemantic = Effects.of(module).nonsemantic
        self.now: Place = NOWHERE

    def run(self) -> None:
        module = self.module
        module.globals[:] = self.without(module.globals, True)
        for function in module.functions:
            function.lead = self.without(function.lead)
            self.put(function)
            early: list[Inst] = []  # DXC's DebugDeclares of parameters stand before the first block
            for param in function.params:
                early += self.without(function.leads.get(param, []))
                self.put(param)
            function.leads = {}
            for block in function.blocks:
                lead = early + self.without(block.lead)
                early = []
                block.lead = []
                self.put(block)
                block.insts = lead + self.without(block.insts)
                self.now = NOWHERE  # it ends with the block
            function.tail = self.without(function.tail)
            self.now = NOWHERE

    def put(self, inst: Inst) -> None:
        if self.now is not NOWHERE:
            self.debug.places[inst] = self.now

    def without(self, insts: list[Inst], is_global: bool = False) -> list[Inst]:
        """Without lines and scopes, which are noted."""
        kept: list[Inst] = []
        for inst in insts:
            if inst.op in _LINES or (not is_global and inst.op == ops.OpExtInst):
                if self.is_line(inst):
                    continue
            kept.append(inst)
            if self.now is not NOWHERE:
                self.debug.places[inst] = self.now
        return kept

    def is_line(self, inst: Inst) -> bool:
        """Take note of a line or scope."""
        what: tuple[int, bool] | None = None
        if inst.op in _LINES:
            what = 0, inst.op == ops.OpNoLine
        elif inst.op == ops.OpExtInst and inst.args[0] in self.sets:
            what = _CHANGES.get(inst.imm[0])
        if what is None:
            return False
        part, ends = what
        now = list(self.now)
        now[part] = None if ends else inst
        self.now = (now[0], now[1], now[2]) if any(now) else NOWHERE
        return True


def take_notes(module: Module) -> None:
    """Take what else speaks of code out of the functions, after calls were inlined."""
    debug_info = noted(module)
    nonsemantic = Effects.of(module).nonsemantic
    if debug_info is None or not nonsemantic:
        return
    sets = debug_sets(module)
    for function in module.functions:
        for block in function.blocks:
            if any(i.op in _EXTENDED and i.args[0] in nonsemantic for i in block.insts):
                _take(debug_info, nonsemantic, sets, function, block)
                touched(module)


def _take(
    debug_info: Debug, nonsemantic: set[Inst], sets: set[Inst], function: Function, block: Block
) -> None:
    kept: list[Inst] = []
    taken: list[tuple[Inst, int]] = []
    for inst in block.insts:
        if inst.op in _EXTENDED and inst.args[0] in nonsemantic:
            taken.append((inst, len(kept)))
        else:
            kept.append(inst)
    block.insts = kept
    around = kept.copy()
    for inst, at in taken:
        inst.args = [resolve(a) for a in inst.args]
        note = Note(inst, debug_info.places.get(inst, NOWHERE), block, around, at)
        number = inst.imm[0] if inst.args[0] in sets else -1
        if number == debug.DebugFunctionDefinition:
            debug_info.definitions[function] = inst
        elif number != debug.DebugDeclare or len(inst.args) < 4:
            debug_info.notes.append(note)
        elif inst.args[2].op in (ops.OpVariable, ops.OpFunctionParameter):
            debug_info.declares.setdefault(inst.args[2], []).append(note)
        else:  # an argument that is a value: no variable
            type = inst.args[2].type
            if type is not None and type.op != ops.OpTypePointer:
                inst.imm = (debug.DebugValue,)
                debug_info.notes.append(note)


# -- inlining --------------------------------------------------------------------------------------


def drops_definition(module: Module, inst: Inst) -> bool:
    """DebugFunctionDefinition belongs to a function, not to its code."""
    return (
        inst.op == ops.OpExtInst
        and inst.imm[0] == debug.DebugFunctionDefinition
        and module.debug is not None
        and inst.args[0] in debug_sets(module)
    )


def inlined(module: Module, body: list[Block], call: Inst) -> None:
    """The scopes of a callee's code, now that it stands in place of a call."""
    debug_info = noted(module)
    if debug_info is None:
        return
    frame = _Frame(module, debug_info, debug_info.places.get(call, NOWHERE))
    places = debug_info.places
    for block in body:
        for inst in block.insts:
            place = places.get(inst)
            if place is not None and place[2] is not None:
                scope = frame.scope(place[2])
                places[inst] = (place[0], place[1], scope)


class _Frame:
    """One inlined call."""

    def __init__(self, module: Module, debug_info: Debug, call: Place) -> None:
        self.module = module
        self.debug_info = debug_info
        self.call = call
        self.known: dict[Inst | None, Inst] = {}

    def scope(self, inst: Inst) -> Inst:
        """A DebugScope of the callee as one of the caller."""
        outer = self.call[2]
        if outer is None or outer.args[0] is not inst.args[0]:
            return inst
        scope = self.known.get(inst)
        if scope is None:
            at = self.at(inst.args[2] if len(inst.args) > 2 else None)
            args = [*inst.args[:2], at]
            scope = self.known[inst] = Inst(ops.OpExtInst, inst.type, args, inst.imm)
        return scope

    def at(self, inner: Inst | None) -> Inst:
        """The DebugInlinedAt of what had this one in the callee, or none."""
        location = self.known.get(inner)
        if location is not None:
            return location
        outer = self.call[2]
        assert outer is not None
        if inner is None:
            args, imm = self.line()
            args += outer.args[1:3]
        else:
            imm = inner.imm
            first = len(_inlined_ids(inner)) - 1  # the one that it is inlined at comes last
            rest = inner.args[first] if first < len(inner.args) else None
            args = [*inner.args[:first], self.at(rest)]
        location = self.known[inner] = Inst(ops.OpExtInst, outer.type, args, imm)
        self.debug_info.made.add(location)
        return location

    def line(self) -> tuple[list[Inst], tuple[int, ...]]:
        """The set and the line of the call; 0 if that is not known."""
        line, debug_line, scope = self.call
        assert scope is not None
        args, imm = [scope.args[0]], (debug.DebugInlinedAt,)
        number = line.imm[0] if line is not None else 0
        if len(_inlined_ids(scope)) == 3:  # its line is a literal
            return args, (*imm, number)
        if debug_line is not None and debug_line.args[0] is scope.args[0]:
            return [*args, debug_line.args[2]], imm
        return [*args, types.constant(self.module, types.integer(self.module), number)], imm


def _inlined_ids(inst: Inst) -> tuple[int, ...]:
    """The set and the ids that a full DebugInlinedAt of the set of this instruction has."""
    known = shapes.extended_set(string_of(inst.args[0].imm)[0])
    assert known is not None
    shape = known[debug.DebugInlinedAt]
    return (0, *[code for code in shape if code >> 2 == shapes.K_ID])


# -- the module's own ------------------------------------------------------------------------------


def forget_functions(module: Module) -> None:
    """Of a function that is gone, a DebugFunction says that there is none any more; what else
    speaks of it at module scope goes."""
    functions: set[Inst] = set(module.functions)
    sets, nothing = debug_sets(module), _Nothing(module)
    gone: set[Inst] = set()
    for inst in _globals(module):
        lost = [a for a in inst.args if a.op == ops.OpFunction and a not in functions]
        if lost and inst.imm[0] == debug.DebugFunction and inst.args[0] in sets:
            nothing.replace(inst, lost)
        else:
            gone.update(lost)
    if gone:
        _spread(_globals(module), gone)
        module.globals[:] = [i for i in module.globals if i not in gone]


def trim(module: Module, live: set[Inst]) -> set[Inst]:
    """The debug instructions at module scope that stay: all but those that speak of what is gone.
    Of a global variable it may be said that there is none any more."""
    debug_info = noted(module)
    if debug_info is not None:
        _follow(module, debug_info, live)
    sets, nothing = debug_sets(module), _Nothing(module)
    there: set[Inst] = {v for v in module.globals if v.op == ops.OpVariable and v in live}
    gone: set[Inst] = set()  # also what is a local variable now
    for inst in _globals(module):
        gone.update([a for a in inst.args if a.op == ops.OpVariable and a not in there])
        if inst.imm[0] == debug.DebugGlobalVariable and inst.args[0] in sets:
            lost = [a for a in inst.args if a in gone]
            if lost:
                nothing.replace(inst, lost)
    asides = _globals(module)
    _spread(asides, gone)
    return {i for i in asides if i not in gone}


def _spread(asides: list[Inst], gone: set[Inst]) -> None:
    """What speaks of what is gone is gone, chain by chain."""
    changed = True
    while changed:
        changed = False
        for inst in asides:
            if inst not in gone and not gone.isdisjoint(inst.args):
                gone.add(inst)
                changed = True


def _globals(module: Module) -> list[Inst]:
    """The instructions at module scope that only describe."""
    nonsemantic = Effects.of(module).nonsemantic
    return [i for i in module.globals if i.op in _EXTENDED and i.args[0] in nonsemantic]


def _follow(module: Module, debug_info: Debug, live: set[Inst]) -> None:
    """A DebugGlobalVariable of what is the same variable in another place goes behind that one,
    unless something names it."""
    named = {a for i in module.globals for a in i.args}
    for inst in _globals(module):
        for at, arg in enumerate(inst.args):
            other = debug_info.moved.get(arg)
            if other is None or other not in live or inst in named:
                continue
            if arg not in live and inst.imm[0] == debug.DebugGlobalVariable:
                inst.args[at] = other
                module.globals.remove(inst)
                module.globals.append(inst)


def rename_globals(module: Module, renamed: dict[Inst, Inst | None]) -> None:
    """Variables are other ones from now on, further below, or gone (None)."""
    nothing = _Nothing(module)
    users = [i for i in _globals(module) if not renamed.keys().isdisjoint(i.args)]
    named = {a for i in module.globals for a in i.args}
    for inst in users:
        for at, arg in enumerate(inst.args):
            other = renamed.get(arg)
            if other is not None and inst not in named:
                inst.args[at] = other
                module.globals.remove(inst)
                module.globals.append(inst)
            elif arg in renamed:
                nothing.replace(inst, [arg])


class _Nothing:
    """The DebugInfoNone of a set, before what asks for it."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.known: dict[Inst, Inst] = {}

    def replace(self, user: Inst, lost: list[Inst]) -> None:
        none = self.of(user)
        user.args = [none if a in lost else a for a in user.args]

    def of(self, user: Inst) -> Inst:
        set_ = user.args[0]
        nothing = self.known.get(set_)
        if nothing is None:
            at = self.module.globals.index(user)
            for inst in self.module.globals[:at]:
                if inst.op == user.op and inst.imm == (0,) and inst.args == [set_]:
                    nothing = inst
                    break
            else:
                id = self.module.new_id()
                nothing = Inst(ops.OpExtInst, user.type, [set_], (debug.DebugInfoNone,), id)
                self.module.globals.insert(at, nothing)
            self.known[set_] = nothing
        return nothing
