"""Turn the selects that linking made of branches, and did not use, back into branches, so that a
stage runs no more code than before.

    %x = OpFMul %p %two                     OpSelectionMerge %m; OpBranchConditional c %a %b
    %y = OpFMul %q %three                   %a: %x = OpFMul %p %two; OpBranch %m
    %z = OpSelect c %x %y            ->     %b: %y = OpFMul %q %three; OpBranch %m
                                            %m: %z = OpPhi %x %a %y %b

An arm takes the operations of the block that only its side of these selects uses: pure operations,
and loads of memory that nobody writes. A select without such work stays a select.

Why it is right. A pure operation may run only where its result is used.

What breaks it. Operations that depend on the neighbours that run stay above the branch. The merge
instruction of a loop must stay in the block that its back edge names, so the header of a loop is
not split.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.grammar import info, ops
from spvlink.ir.core import IS_CHAIN, Block, Function, Inst, Module
from spvlink.ir.debug import noted
from spvlink.ir.edit import branch, flow_changed, retarget_phis, rewrite
from spvlink.passes.cleaning.if_conversion import TIED, cost_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence


def reverse_if_conversion(module: Module, function: Function, made: dict[Inst, int]) -> None:
    """Make branches of the selects among ``made`` that are left."""
    work = _Reverse(module, function, made)
    blocks: list[Block] = []
    for block in function.blocks:
        blocks += work.split_all(block)
    if len(blocks) > len(function.blocks):
        function.blocks = blocks
        flow_changed(module)


class _Arms:
    """What goes into the two arms of a branch."""

    __slots__ = ("members", "no", "yes")

    def __init__(self, members: list[Inst], yes: list[Inst], no: list[Inst]) -> None:
        self.members = members  # the selects that become phis
        self.yes = yes
        self.no = no


class _Reverse:
    def __init__(self, module: Module, function: Function, made: dict[Inst, int]) -> None:
        self.module = module
        self.made = made
        self.effects = Effects.of(module)
        self.left: set[Inst] = set()
        self.uses: dict[Inst, list[Inst]] = {}
        for block in function.blocks:
            for inst in block.insts:
                if inst in made and inst.op == ops.OpSelect:
                    self.left.add(inst)
                for arg in inst.args:
                    self.uses.setdefault(arg, []).append(inst)

    def split_all(self, block: Block) -> list[Block]:
        """The blocks that a block becomes, in order."""
        done: list[Block] = []
        todo = [block]
        while todo:
            at = todo.pop()
            parts = self.split_once(at)
            if parts:
                todo += reversed(parts)
            else:
                done.append(at)
        return done

    def split_once(self, block: Block) -> list[Block]:
        """Split a block at the last branch that it was made of: the block, the arms, and the rest;
        nothing if there is none."""
        if self.left.isdisjoint(block.insts):
            return []
        merge = block.merge()
        if merge is not None and merge.op == ops.OpLoopMerge:
            return []
        for inst in reversed(block.insts):
            if inst in self.left:
                self.left.discard(inst)
                arms = self.arms(block, inst)
                if arms is not None:
                    self.left.difference_update(arms.members)
                    return self.split(block, arms)
        return []

    def arms(self, block: Block, select: Inst) -> _Arms | None:
        """The arms of the branch that a select was made of, with the others that were made of it;
        None if there is no work in them."""
        condition, group = _condition(select), self.made[select]
        if condition is None:
            return None
        members = [
            i for i in block.insts
            if (i is select or i in self.left) and self.made[i] == group
            and _condition(i) is condition
        ]  # fmt: skip
        for among in (members, [select]):
            both = self.arms_of(block, among)
            if both is not None:
                return both
        return None

    def arms_of(self, block: Block, members: list[Inst]) -> _Arms | None:
        first = block.insts.index(members[0])
        sides = [self.only_for(block, members, side) for side in (1, 2)]
        moved = {*sides[0], *sides[1], *members}
        if sum(map(cost_of, sides[0] + sides[1])) == 0:
            return None
        behind, group = set(block.insts[first:]) - moved, set(members)
        for inst in moved:
            if not behind.isdisjoint(inst.args):
                return None
            if not group.isdisjoint(inst.args):
                return None  # which are phis behind both arms then
        return _Arms(members, sides[0], sides[1])

    def only_for(self, block: Block, members: Sequence[Inst], side: int) -> list[Inst]:
        """What a block computes for one side of these selects and for nothing else, in order."""
        computed: set[Inst] = set()
        out: list[Inst] = []
        for inst in reversed(block.insts):
            uses = self.uses.get(inst)
            if not uses or not self.may_sink(inst):
                continue
            for user in uses:
                if user in computed:
                    continue
                if user not in members or user.args[0] is inst or user.args[3 - side] is inst:
                    break
            else:
                computed.add(inst)
                out.append(inst)
        out.reverse()
        return out

    def may_sink(self, inst: Inst) -> bool:
        """Whether an instruction may run on some ways only."""
        if inst.op == ops.OpLoad:
            return self.effects.reads_constant(inst)
        if IS_CHAIN[inst.op]:
            return True
        flags = self.effects.flags(inst)
        return flags & info.SPECULATABLE != 0 and not flags & TIED

    def split(self, block: Block, arms: _Arms) -> list[Block]:
        module, members = self.module, arms.members
        first = block.insts.index(members[0])
        condition = _condition(members[0])
        assert condition is not None
        gone = {*arms.yes, *arms.no, *members}
        merge = Block(module.new_id())
        blocks = [block]
        ways: list[Block] = []
        for side in (arms.yes, arms.no):
            way = block
            if side:
                way = Block(module.new_id())
                way.insts = [*side, branch(merge)]
                blocks.append(way)
            ways.append(way)
        targets = [merge if way is block else way for way in ways]
        spread = {member.args[0] for member in members} - {condition}
        for member in members:
            brings = [member.args[1], ways[0], member.args[2], ways[1]]
            rewrite(module, member, ops.OpPhi, brings, ())
        for test in spread:  # one lane for each of a vector: nobody may need that now
            if all(test not in user.args for user in self.uses[test]):
                gone.add(test)
        merge.insts = [*members, *[i for i in block.insts[first:] if i not in gone]]
        block.insts = [i for i in block.insts[:first] if i not in gone]
        block.insts += [
            Inst(ops.OpSelectionMerge, None, [merge], (0,)),
            Inst(ops.OpBranchConditional, None, [condition, *targets], ()),
        ]
        for after in dict.fromkeys(merge.successors()):
            retarget_phis(module, after, block, merge)
        debug_info = noted(module)
        if debug_info is not None:
            debug_info.shifted.difference_update(gone)
        return [*blocks, merge]


def _condition(select: Inst) -> Inst | None:
    """The boolean that decides for all lanes of a select; None if there are several."""
    condition = select.args[0]
    if condition.type is not None and condition.type.op == ops.OpTypeBool:
        return condition
    if condition.op == ops.OpCompositeConstruct and len({*condition.args}) == 1:
        first = condition.args[0]
        if first.type is not None and first.type.op == ops.OpTypeBool:
            return first
    return None
