"""Turn small branches without side effects into selects while linking.

    OpSelectionMerge %m; OpBranchConditional c %a %b          %x = OpFMul %p %two
    %a: %x = OpFMul %p %two; OpBranch %m                      %y = OpFMul %q %three
    %b: %y = OpFMul %q %three; OpBranch %m             ->     OpBranch %m
    %m: %z = OpPhi %x %a %y %b                                %m: %z = OpSelect c %x %y

Passes over borders look at expressions, and a phi is no expression. But compilers of GLSL write a
branch with a phi for nearly every ``?:``. So linking works on selects; at the end, those without a
use for linking become branches again (``reverse_if_conversion``).

Why it is right. Code in an arm runs where it did not run before, so it must be SPECULATABLE: no
side effect, no trap, a result for all operands. That leaves out integer division, conversions of
floats to integers, and dynamic indices. Of memory it reads only push constants and uniform blocks,
through constant indices in bounds, and only bytes that are there for certain (``may_load``). A
value that one way leaves undefined may be any value, so it is that of the other way. An operation
keeps its decorations, NoContraction and fast-math modes among them.

What breaks it. Derivatives, lookups and subgroup operations depend on the neighbours that run: they
stay in their arm, and the branch with them. Code that positions and Invariant outputs depend on
keeps its control flow (``facts.invariant``), and so does a branch with DontFlatten. Loops and
switches stay. A select crosses only with its condition: where a texture or an interpolated value
decides, the branch stays (``may_cross``).

Cost. The consumer of such a value computes both arms, so the value may cost only half as much as
others.
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
from spvlink.passes.cleaning.branches import may_be_selects, select_phis
from spvlink.passes.cleaning.flow import drop_unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# What both arms and the selects may cost together, in operations of one lane (semantics.toml).
MAX_COST: Final = 40
_BLOCKS: Final = frozenset((enums.StorageClass_PushConstant, enums.StorageClass_Uniform))
TIED: Final = (
    info.CONVERGENT | info.COCONVERGENT | info.UNIFORM | info.DERIVATIVE | info.BLOCK_LOCAL
    | info.READS_MEMORY | info.WRITES_MEMORY
)  # fmt: skip


class Limits:
    """What the caller knows of a stage: which loads may run where they did not, and which
    conditions are of any use."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def may_load(self, load: Inst) -> bool:
        """Whether what an OpLoad reads is there for each invocation: push constants are."""
        return root(load.args[0]).imm[:1] == (enums.StorageClass_PushConstant,)

    def may_cross(self, condition: Inst) -> bool:
        """Whether a condition may be computed in another stage."""
        return True

    def is_useful(self, values: list[Inst]) -> bool:
        """Whether anything of these values, a condition and what it chooses, may cross."""
        return True


def if_conversion(
    module: Module, function: Function, made: dict[Inst, int], limits: Limits
) -> None:
    """Convert what may be, inner branches first. ``made``: the phis that were replaced, most by a
    select, each with the number of its merge block."""
    while len(function.blocks) > 1:
        candidates = _Round(module, function, limits)
        if not candidates.branches:
            return
        for one in candidates.branches:
            candidates.convert(one, made)
        flow_changed(module)
        sweep(module, function)
        drop_unreachable(module, function)


def finds_any(module: Module, function: Function, limits: Limits) -> bool:
    """Whether there is a branch to convert."""
    return bool(_Round(module, function, limits).branches)


class _Branch:
    """A selection that may go."""

    __slots__ = ("condition", "header", "merge", "moved", "phis", "ways")

    def __init__(self, header: Block, merge: Block, ways: list[Block], moved: list[Inst]) -> None:
        self.header = header
        self.merge = merge
        self.condition = header.terminator.args[0]
        self.ways = ways  # the predecessors of the merge block, first if the condition is true
        self.moved = moved  # what is in the arms
        self.phis = [i for i in merge.insts if i.op == ops.OpPhi]


class _Round:
    """All branches whose arms hold no other branch."""

    def __init__(self, module: Module, function: Function, limits: Limits) -> None:
        self.module = module
        self.limits = limits
        self.cfg = Cfg.of(module, function)
        self.structure = Structure.of(module, function)
        self.effects = Effects.of(module)
        self.branches: list[_Branch] = []
        for header, merge in self.structure.merge_of.items():
            if self.is_selection(header, merge):
                selection = self.look_at(header, merge)
                if selection is not None:
                    self.branches.append(selection)

    def is_selection(self, header: Block, merge: Block) -> bool:
        """Whether a construct is a selection of two ways that meet in ``merge`` alone."""
        structure, cfg = self.structure, self.cfg
        end = header.terminator
        if end.op != ops.OpBranchConditional or header in structure.loops:
            return False
        if header.insts[-2].imm[0] & enums.SelectionControl_DontFlatten:
            return False
        if merge not in cfg.index or merge in cfg.dead_preds:
            return False
        return end.args[1] is not end.args[2]

    def look_at(self, header: Block, merge: Block) -> _Branch | None:
        """A selection that may go."""
        end = header.terminator
        yes = self.blocks_of(end.args[1], header, merge)
        no = self.blocks_of(end.args[2], header, merge)
        if yes is None or no is None:
            return None
        ways = [(blocks or [header])[-1] for blocks in (yes, no)]
        moved = [i for block in yes + no for i in block.insts[:-1]]
        selection = _Branch(header, merge, ways, moved)
        if set(self.cfg.preds[merge]) != set(ways) or not may_be_selects(selection.phis):
            return None
        if not all(map(self.is_movable, moved)):
            return None
        if sum(map(cost_of, moved)) + sum(map(_lanes, selection.phis)) > MAX_COST:
            return None
        # What an arm computes is used in the arm and by these phis, so they say it for the arms.
        if not invariant.settled(self.module).isdisjoint(selection.phis):
            return None
        limits = self.limits
        if not limits.may_cross(selection.condition):
            return None
        return selection if limits.is_useful([selection.condition, *selection.phis]) else None

    def convert(self, selection: _Branch, made: dict[Inst, int]) -> None:
        select_phis(self.module, selection.merge, selection.condition, *selection.ways)
        made.update((phi, selection.merge.id) for phi in selection.phis)
        selection.header.insts[-2:] = [*selection.moved, branch(selection.merge)]
        debug_info = noted(self.module)
        if debug_info is not None:
            debug_info.shifted.update(selection.moved)

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

    def is_movable(self, inst: Inst) -> bool:
        if inst.op == ops.OpUndef:
            return True
        if inst.op == ops.OpLoad:
            return is_in_block(inst.args[0]) and self.limits.may_load(inst)
        if IS_CHAIN[inst.op]:
            return is_in_block(inst)
        flags = self.effects.flags(inst)
        return flags & info.SPECULATABLE != 0 and not flags & TIED


def is_in_block(pointer: Inst) -> bool:
    """Whether a pointer leads into a uniform block or push constants, through constant indices in
    bounds."""
    variable = root(pointer)
    if variable.op != ops.OpVariable or variable.imm[0] not in _BLOCKS:
        return False
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
    wide = scalars.scalar(inst.type).imm[:1] == (64,)
    return max(scalars.count(inst.type) * (2 if wide else 1), 1)


def cost_of(inst: Inst) -> int:
    """About how many operations an instruction is."""
    if inst.op == LOAD_INPUT:
        return 0
    if inst.op == ops.OpExtInst:
        return info.GLSL_COST.get(inst.imm[0], info.GLSL_DEFAULT_COST) * _lanes(inst)
    return info.COST.get(inst.op, info.DEFAULT_COST) * _lanes(inst)
