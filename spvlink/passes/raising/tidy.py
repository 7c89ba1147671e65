"""Put vectors together again after raising, and remove the parts that are no longer used.

    %x = OpCompositeExtract %float %v 0
    %y = OpCompositeExtract %float %v 1
    %w = OpCompositeConstruct %vec2 %x %y     ->     (%w is %v, if %v has two components)

Why it is right. The rules of ``vectors`` move whole components and compute nothing new. Raising
adds only loads, extracts and constructs to code that is clean already, so no other pass is needed.

What breaks it. The same as for ``dce``: instructions with an effect stay.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.dominating import Values
from spvlink.facts.effects import Effects
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import CHAINS, COPY, IS_LINE, Block, Function, Inst, Module, by_opcode
from spvlink.ir.edit import become, resolve, rewrite, touched
from spvlink.passes.cleaning.dce import BY_IMM, NEVER_ROOTS, DceOutcome
from spvlink.passes.cleaning.fold import fold
from spvlink.passes.cleaning.vectors import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

_MOVES: Final = frozenset(
    (
        ops.OpCompositeExtract,
        ops.OpCompositeConstruct,
        ops.OpVectorShuffle,
        ops.OpCompositeInsert,
        ops.OpBitcast,
        ops.OpLoad,
    )
)
_RELAXED: Final = ((enums.Decoration_RelaxedPrecision,),)
_FLOW: Final = frozenset(
    (
        ops.OpBranch, ops.OpBranchConditional, ops.OpSwitch, ops.OpSelectionMerge, ops.OpLoopMerge,
        ops.OpLine, ops.OpNoLine,
    )
)  # fmt: skip


def tidy(
    module: Module, function: Function, held_lanes: dict[Inst, int] | None = None
) -> DceOutcome:
    """Rebuild vectors in one function and drop the parts that are no longer used. ``held_lanes``:
    as the last dead code elimination left them, which may find more afterwards."""
    outcome, version = DceOutcome(), module.version
    held_lanes = held_lanes or {}
    for construct in held_lanes:  # its dead lanes may have got other values
        construct.mark = 0
    effects = Effects.of(module)
    loose = _TidyWalk(module, function, held_lanes, effects).run()
    outcome.trimmed = drop_unused(module, function, held_lanes, loose, effects) or (
        len(function.blocks) > 1 and module.version != version and hollow(module, function)
    )
    return outcome


class _TidyWalk:
    """Looks at what raising brought and at what is made of it. Such instructions, and copies, have
    no ``mark``, since dead code elimination, which was here last, leaves one on all that lives."""

    def __init__(
        self, module: Module, function: Function, held_lanes: dict[Inst, int], effects: Effects
    ) -> None:
        self.module = module
        self.function = function
        self.held_lanes = held_lanes
        self.cfg = Cfg.of(module, function)
        self.signatures = effects.signatures
        self.seen = Values(self.cfg)
        self.at = (0, 0)  # block and instruction up to which old values are in ``seen``

    def run(self) -> set[Inst]:
        """The instructions that may be used no longer."""
        loose: set[Inst] = set()
        rules = _RULES
        for block in self.cfg.order:
            for inst in block.insts:
                if inst.mark:
                    if not loose:
                        continue  # nothing new came yet, so none of its operands is new
                    for arg in inst.args:
                        if not arg.mark:
                            break
                    else:
                        continue
                else:
                    loose.add(inst)
                args = inst.args
                for arg in args:
                    if arg.op == COPY:
                        args = inst.args = [resolve(a) for a in args]
                        break
                rule = rules.get(inst.op)
                if rule is not None:
                    inst.mark = 0
                    if self.rebuild(inst, block, rule):
                        loose.add(inst)
                    if inst.args is not args:
                        for arg in args:
                            if not _IS_OUTSIDE[arg.op]:
                                loose.add(arg)
        for phi in phis_of(self.function):  # all else comes after what it uses
            phi.args = [resolve(a) for a in phi.args]
        return loose

    def rebuild(
        self, inst: Inst, block: Block, rule: Callable[[Module, Inst], Inst | None]
    ) -> bool:
        """Whether an instruction is another one by now."""
        signature = self.signatures.get(inst) if self.signatures else None
        if signature is not None and signature != _RELAXED:
            return False
        other = rule(self.module, inst)
        if other is None:
            for arg in inst.args:
                if not arg.mark:
                    break
            else:  # then it may be an old value
                self.catch_up(inst)
            key = (inst.op, inst.type, signature, tuple(inst.args), inst.imm)
            other = self.seen.find(key, block)
            if other is None:
                self.seen.add(key, inst, block)
                return False
        other = resolve(other)
        become(self.module, inst, other)
        self.held_lanes.pop(other, None)  # from here on its lanes may live
        return True

    def catch_up(self, to: Inst) -> None:
        """Number the old values before ``to``, where the walk is."""
        order, signatures, seen = self.cfg.order, self.signatures, self.seen
        at, first = self.at
        while True:
            block = order[at]
            for inst in block.insts[first:]:
                if inst is to:
                    self.at = at, first
                    return
                first += 1
                if inst.op in _NUMBERED and inst.mark:
                    key = (inst.op, inst.type, signatures.get(inst), tuple(inst.args), inst.imm)
                    if seen.find(key, block) is None:
                        seen.add(key, inst, block)
            at, first = at + 1, 0


_IS_OUTSIDE: Final = by_opcode(types.CONSTANTS | {ops.OpUndef})  # hardly ever in functions


def bitcast(module: Module, inst: Inst) -> Inst | None:
    """A constant, or the value that a cast of a cast gives back (an integer that travelled as
    another type); else it skips the one between."""
    inner = resolve(inst.args[0])
    if inner.op in types.CONSTANTS:
        return fold(module, inst, False)
    if inner.op != ops.OpBitcast:
        return None
    source = resolve(inner.args[0])
    inst.args = [source]
    touched(module)
    return source if source.type is inst.type else None


def construct(module: Module, inst: Inst) -> Inst | None:
    """What is put together of the inputs of all vertices is a load of all of them."""
    pointer = _pointer(inst.args[0]) if inst.args else None
    if pointer is not None:
        variable = pointer.args[0]
        assert variable.type is not None
        if variable.type.args[0] is inst.type and types.size_of(inst.type) == len(inst.args):
            for at, arg in enumerate(inst.args):
                pointer = _pointer(resolve(arg))
                if pointer is None or pointer.args[0] is not variable:
                    break
                if types.index_of(pointer.args[1]) != at:
                    break
            else:
                rewrite(module, inst, ops.OpLoad, [variable], ())
                return None
    return RULES[ops.OpCompositeConstruct](module, inst)


def select(module: Module, inst: Inst) -> Inst | None:
    """What is equal by now, as lanes that differed are dead, needs no choice."""
    return inst.args[1] if inst.args[1] is inst.args[2] else None


def _pointer(load: Inst) -> Inst | None:
    """The pointer to an element of an input variable that is loaded, if that is what it is."""
    if load.op != ops.OpLoad or load.imm or load.args[0].op != ops.OpAccessChain:
        return None
    pointer = load.args[0]
    variable = pointer.args[0]
    inner = len(pointer.args) == 2 and variable.op == ops.OpVariable
    return pointer if inner and variable.imm[0] == enums.StorageClass_Input else None


_FREE: Final = by_opcode(NEVER_ROOTS, BY_IMM)
_RULES: Final = {
    **RULES, ops.OpBitcast: bitcast, ops.OpCompositeConstruct: construct, ops.OpSelect: select,
}  # fmt: skip
_NUMBERED: Final = frozenset(_RULES) - CHAINS  # raised chains start from raised variables


def drop_unused(
    module: Module, function: Function, lanes: dict[Inst, int], loose: set[Inst], effects: Effects
) -> bool:
    """Remove what nothing reads, from the end to the beginning, as far as there is something
    ``loose``, which may be used no longer. ``lanes``: which live of constructs that have dead ones;
    what only dead ones take is read by nothing. Whether that was more than moves of components, so
    that dead code elimination may find more."""
    trimmed = False
    if not loose and not lanes:
        return trimmed
    copy, free, volatile = COPY, _FREE, effects.any_volatile
    used = _used_before(function)
    spare: dict[Inst, list[Inst]] = {}  # what dead lanes take -> the constructs
    for block in reversed(function.blocks):
        kept: list[Inst] = []
        gone = 0
        for inst in reversed(block.insts):
            if not loose and not lanes:
                break
            if inst in loose:
                loose.remove(inst)
            if inst not in used and inst.id:
                if inst.op == copy:
                    gone += 1
                    continue
                op = inst.op
                kind = free[op]
                if (kind & 1 and not volatile and (not inst.imm or kind == 1)) or (
                    effects.removable(inst)
                ):
                    trimmed |= op not in _MOVES
                    for construct in spare.pop(inst, ()):
                        trimmed |= _clear(module, construct, inst)
                    for arg in inst.args:
                        if arg not in used and not _IS_OUTSIDE[arg.op]:
                            loose.add(arg)
                    gone += 1
                    continue
            if lanes and inst.op == ops.OpCompositeConstruct and inst in lanes:
                used.update(_taken(inst, lanes[inst], spare))
            else:
                used.update(inst.args)
            kept.append(inst)
        if gone:
            kept.reverse()
            block.insts[-len(kept) - gone :] = kept
            touched(module)
    return trimmed


def _taken(construct: Inst, lanes: int, spare: dict[Inst, list[Inst]]) -> list[Inst]:
    """The operands that live lanes take; the others go to ``spare``."""
    taken: list[Inst] = []
    at = 0
    for arg in construct.args:
        size = types.lanes_of(arg.type)
        if lanes >> at & ((1 << size) - 1):
            taken.append(arg)
        else:
            spare.setdefault(arg, []).append(construct)
        at += size
    return taken


def _clear(module: Module, construct: Inst, gone: Inst) -> bool:
    """Something else for the dead lanes of a construct; whether that is a constant now."""
    assert gone.type is not None
    null = types.null(module, gone.type)
    construct.args = [null if a is gone else a for a in construct.args]
    touched(module)
    return all(a.op in types.CONSTANTS for a in construct.args)


def phis_of(function: Function) -> list[Inst]:
    """All phis of a function."""
    phis: list[Inst] = []
    for block in function.blocks if len(function.blocks) > 1 else ():
        for inst in block.insts:
            if inst.op == ops.OpPhi:
                phis.append(inst)
            elif not IS_LINE[inst.op]:
                break
    return phis


def _used_before(function: Function) -> set[Inst]:
    """What phis use before it is defined."""
    used: set[Inst] = set()
    if not phis_of(function):
        return used
    defined: set[Inst] = set()
    for block in function.blocks:
        for inst in block.insts:
            if inst.op == ops.OpPhi:
                used.update([v for v in inst.args[::2] if v not in defined])
                defined.add(inst)
            elif not IS_LINE[inst.op]:
                break
        defined.update(block.insts)
    return used


def hollow(module: Module, function: Function) -> bool:
    """Whether there is a construct that does nothing and gives nothing by now: an extract that was
    merged with one in a dead loop kept that alive until the vector was put together again."""
    structure, effects = Structure.of(module, function), Effects.of(module)
    inside: dict[Block, list[Block]] = {}
    busy: set[Block] = set()
    for header, merge in structure.merge_of.items():
        if merge.insts[0].op == ops.OpPhi:
            busy.add(header)
    for block in function.blocks:
        around = structure.around(block)
        if block in structure.loops:
            around.append(block)
        if busy.issuperset(around):
            continue
        for inst in block.insts:
            if inst.op not in _FLOW and not effects.removable(inst):
                busy.update(around)
                break
        else:
            for header in around:
                inside.setdefault(header, []).append(block)
    idle = [header for header in inside if header not in busy]
    users = _users(function) if idle else {}
    return any(not _gives(users, structure.merge_of[h], set(inside[h])) for h in idle)


def _users(function: Function) -> dict[Inst, set[Block]]:
    """The blocks that use each value."""
    users: dict[Inst, set[Block]] = {}
    for block in function.blocks:
        for inst in block.insts:
            for arg in inst.args:
                users.setdefault(arg, set()).add(block)
    return users


def _gives(users: dict[Inst, set[Block]], merge: Block, blocks: set[Block]) -> bool:
    """Whether a value that is made in these blocks is used outside of them, or a branch leads
    elsewhere than to the merge block."""
    if any(to is not merge and to not in blocks for b in blocks for to in b.successors()):
        return True
    return not all(blocks.issuperset(users.get(i, ())) for b in blocks for i in b.insts)
