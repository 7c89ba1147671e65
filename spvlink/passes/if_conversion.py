"""If-conversion: small branches without side effects become selects while linking.

    OpSelectionMerge %m; OpBranchConditional c %a %b          %x = OpFMul %p %two
    %a: %x = OpFMul %p %two; OpBranch %m                      %y = OpFMul %q %three
    %b: %y = OpFMul %q %three; OpBranch %m             ->     OpBranch %m
    %m: %z = OpPhi %x %a %y %b                                %m: %z = OpSelect c %x %y

Passes over borders look at expressions. A phi is none, so they do not see through a branch, and
compilers of GLSL write one for nearly every ``?:``. Linking therefore looks at selects; those that
are left in the end become branches again (``reverse_if_conversion``).

What may be in an arm runs where it did not run before, so it must be SPECULATABLE: no side effect,
no trap, defined to go on for all operands. That leaves out integer division, conversions of floats
to integers, and dynamic indices. Of memory only push constants are read, through constant indices
in bounds: these are there for each draw, where the rest of memory need not be bound. What hangs on
the neighbours that run (derivatives, lookups, subgroup operations) has none of these facts and
stays; behind the branch it sees at least the invocations that it saw. A value that a way leaves
undefined may be any, so it is that of the other way.

What positions and Invariant outputs hang on keeps its control flow (``facts.invariant``), and so
does what the author marked [[branch]] (DontFlatten). Loops and switches are not looked at. An
operation keeps its decorations, NoContraction and fast-math modes among them.
"""

from __future__ import annotations

from spvlink.facts import invariant, scalars
from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import Effects, root
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, LOAD_INPUT, Block, Function, Inst, Module
from spvlink.ir.debug import noted
from spvlink.ir.edit import branch, flow_changed, sweep
from spvlink.passes.branches import select_phis
from spvlink.passes.flow import drop_unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# What both arms and the selects may cost together, in operations of one lane (semantics.toml).
MAX_COST: Final = 40
TIED: Final = (
    info.CONVERGENT | info.COCONVERGENT | info.UNIFORM | info.DERIVATIVE | info.BLOCK_LOCAL
    | info.READS_MEMORY | info.WRITES_MEMORY
)  # fmt: skip


def if_conversion(module: Module, function: Function, made: dict[Inst, int]) -> None:
    """Convert what may be, inner branches first. ``made``: the selects that are made, each with the
    number of its merge block."""
    while len(function.blocks) > 1:
        flow = module.flow
        _Round(module, function, made).run()
        if module.flow == flow:
            return
        drop_unreachable(module, function)


class _Round:
    """All branches whose arms hold no other branch."""

    def __init__(self, module: Module, function: Function, made: dict[Inst, int]) -> None:
        self.module = module
        self.function = function
        self.made = made
        self.cfg = Cfg.of(module, function)
        self.structure = Structure.of(module, function)
        self.effects = Effects.of(module)
        self.settled: set[Inst] = set()

    def run(self) -> None:
        found: list[tuple[Block, Block]] = []
        for header, merge in self.structure.merge_of.items():
            if self.is_selection(header, merge):
                found.append((header, merge))
        if not found:
            return
        self.settled = invariant.settled(self.module)
        changed = False
        for header, merge in found:
            if self.convert(header, merge):
                changed = True
        if changed:
            flow_changed(self.module)
            sweep(self.module, self.function)

    def is_selection(self, header: Block, merge: Block) -> bool:
        """Whether a construct is a selection of two ways that meet in ``merge`` alone."""
        structure, cfg = self.structure, self.cfg
        end = header.terminator
        if end.op != ops.OpBranchConditional or header in structure.loops:
            return False
        if header.insts[-2].imm[0] & enums.SelectionControl_DontFlatten:
            return False
        if merge not in cfg.index or merge in structure.loops or merge in cfg.dead_preds:
            return False
        return len(cfg.preds[merge]) == 2 and end.args[1] is not end.args[2]

    def convert(self, header: Block, merge: Block) -> bool:
        """Convert a selection; whether it was."""
        end = header.terminator
        yes, no = [self.blocks_of(arm, header, merge) for arm in end.args[1:]]
        if yes is None or no is None:
            return False
        phis = [i for i in merge.insts if i.op == ops.OpPhi]
        moved = [i for block in yes + no for i in block.insts[:-1]]
        if not self.may_move(moved) or not self.settled.isdisjoint(phis):
            return False
        if sum(map(cost_of, moved)) + sum(_lanes(phi) for phi in phis) > MAX_COST:
            return False
        ways = [(blocks or [header])[-1] for blocks in (yes, no)]
        if set(self.cfg.preds[merge]) != set(ways):
            return False
        if not select_phis(self.module, merge, end.args[0], ways[0], ways[1]):
            return False
        for phi in phis:
            if phi.op == ops.OpSelect:
                self.made[phi] = merge.id
        header.insts[-2:] = [*moved, branch(merge)]
        told = noted(self.module)
        if told is not None:
            told.shifted.update(moved)
        return True

    def blocks_of(self, arm: Inst, header: Block, merge: Block) -> list[Block] | None:
        """The blocks of an arm, which follow each other; None if it is more than that."""
        out: list[Block] = []
        before = header
        while arm is not merge:
            assert isinstance(arm, Block)
            if arm.terminator.op != ops.OpBranch or self.cfg.preds[arm] != [before]:
                return None
            if arm.merge() is not None or arm.lead:
                return None
            if arm in self.structure.header_of_merge or arm in self.structure.continues:
                return None  # another construct needs it
            out.append(arm)
            before, arm = arm, arm.terminator.args[0]
        return out

    def may_move(self, moved: list[Inst]) -> bool:
        """Whether instructions may run where they did not run before."""
        return self.settled.isdisjoint(moved) and all(map(self.is_movable, moved))

    def is_movable(self, inst: Inst) -> bool:
        if inst.op == ops.OpUndef:
            return True
        if inst.op == ops.OpLoad:
            return not inst.imm and is_push_constant(self.module, inst.args[0])
        if IS_CHAIN[inst.op]:
            return is_push_constant(self.module, inst)
        flags = self.effects.flags(inst)
        return flags & info.SPECULATABLE != 0 and not flags & TIED


def is_push_constant(module: Module, pointer: Inst) -> bool:
    """Whether a pointer leads to a push constant, through constant indices in bounds."""
    variable = root(pointer)
    if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_PushConstant:
        return False
    if pointer is variable:
        return True
    path: list[Inst] = []
    at = pointer
    while at is not variable:
        if not IS_CHAIN[at.op]:
            return False
        path[:0] = at.args[1:]
        at = at.args[0]
    assert variable.type is not None
    type = variable.type.args[0]
    for index in path:
        number = types.index_of(index)
        if number is None or not 0 <= number < types.size_of(type):
            return False
        type = type.args[number if type.op == ops.OpTypeStruct else 0]
    return True


def _lanes(inst: Inst) -> int:
    """How many 32-bit lanes a value has."""
    assert inst.type is not None
    count = scalars.count(inst.type)
    wide = count and scalars.scalar(inst.type).imm[:1] == (64,)
    return count * 2 if wide else max(count, 1)


def cost_of(inst: Inst) -> int:
    """About how many operations an instruction is."""
    if inst.op == LOAD_INPUT or inst.op == ops.OpUndef:
        return 0
    if inst.op == ops.OpExtInst:
        return info.GLSL_COST.get(inst.imm[0], info.GLSL_DEFAULT_COST) * _lanes(inst)
    return info.COST.get(inst.op, info.DEFAULT_COST) * _lanes(inst)
