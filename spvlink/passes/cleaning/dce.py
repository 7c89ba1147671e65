"""Remove dead code, by component and with control flow.

    %v = OpCompositeConstruct %vec3 %a %b %c       %v = OpCompositeConstruct %vec3 %a %zero %zero
    %x = OpCompositeExtract %float %v 0       ->   %x = OpCompositeExtract %float %v 0

Everything is dead until an instruction with an effect needs it (Cytron et al. 1991, section 7.1).
There are two refinements:

* Components. A vector, matrix, array or struct is live in the lanes that are read. Lane-wise
  operations, constructs, shuffles, extracts, inserts, phis, selects and products of matrices pass
  the lanes on (``facts.live_lanes``). A zero replaces an operand that feeds dead lanes only.
* Constructs. A selection or loop with nothing live inside becomes a branch to its merge block, if
  that block needs no value from inside. A live instruction makes the constructs around it live,
  with all their exits.

Why it is right. No live instruction reads a dead value, and dead code has no effect.

What breaks it. Effects: stores, atomics, barriers, discards, calls. They are the roots of the walk.

Cost. None. One walk from the end of the function to its start finds nearly everything, since
definitions precede uses; a work list takes the rest (phis and exits of constructs). ``mark`` has a
bit for each live lane of a value; all bits for scalars, and for values with too many lanes.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import FLAGS, FLAGS_OF, IMAGE_MASK_AT, Effects, root
from spvlink.facts.live_lanes import IS_AGGREGATE, VECTORS, follows, needs
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, IS_LINE, STORE_OUTPUT, Block, Function, Inst, Module, by_opcode
from spvlink.ir.debug import noted
from spvlink.ir.edit import become, branch, flow_changed, touched
from spvlink.passes.cleaning.flow import drop_unreachable
from spvlink.passes.cleaning.vectors import UNDEFINED, as_whole

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_ROOTS: Final = frozenset(
    (
        ops.OpReturn,
        ops.OpReturnValue,
        ops.OpKill,
        ops.OpTerminateInvocation,
        ops.OpUnreachable,
        ops.OpEmitMeshTasksEXT,
        STORE_OUTPUT,
    )
)
_TRIMMED: Final = frozenset((ops.OpCompositeConstruct, ops.OpCompositeInsert, ops.OpVectorShuffle))
_MERGES: Final = frozenset((ops.OpSelectionMerge, ops.OpLoopMerge))
_FLOW: Final = _MERGES | {ops.OpBranch, ops.OpBranchConditional, ops.OpSwitch}
# vectors some of whose lanes come from operands with other lanes
_BY_LANE: Final = frozenset((*_TRIMMED, ops.OpVectorTimesScalar))
_IS_BY_LANE: Final = by_opcode(_BY_LANE)
_LANEWISE: Final = frozenset(op for op, flags in FLAGS.items() if flags & info.LANEWISE)
# Of what is made lane by lane, the operands that may not be anything, not even in a dead lane.
_PARTIAL: Final = {
    op: ~info.ANY_VALUE.get(op, 0) for op in _LANEWISE if not FLAGS[op] & info.SPECULATABLE
}
_PASSED: Final = ALL + 1  # in mark: the walk was here
NEVER_ROOTS: Final = frozenset(op for op, flags in FLAGS.items() if flags & info.REMOVABLE)
BY_IMM: Final = IMAGE_MASK_AT | {ops.OpLoad}  # of these, operands may say otherwise
# what does not simply need all of its operands
_ODD: Final = (
    _BY_LANE | _LANEWISE | VECTORS
    | {ops.OpVariable, ops.OpPhi, ops.OpExtInst, ops.OpCompositeExtract}
)  # fmt: skip


# All of this of an opcode in one number, for the walk.
_IS_ROOT: Final = 1
_NEVER: Final = 2
_BY_OPERANDS: Final = 4
_IS_FLOW: Final = 8
_IS_TRIMMED: Final = 16
_IS_ODD: Final = 32
_KINDS: Final = by_opcode(_ROOTS, NEVER_ROOTS, BY_IMM, _FLOW, _TRIMMED, _ODD)


class DceOutcome:
    """What removing dead code leaves to do for others."""

    __slots__ = ("emptied", "live_lanes", "trimmed")

    def __init__(self) -> None:
        self.trimmed = False  # dead lanes became something that can be simplified
        self.emptied = False  # a block lost all it held: a selection may have two empty arms now
        # which lanes live of constructs that have dead ones: these may be left with values that
        # something else needs, so far
        self.live_lanes: dict[Inst, int] = {}


def dce(module: Module, function: Function) -> DceOutcome:
    """Remove what is dead in one function."""
    drop_unreachable(module, function)
    return _Marker(module, function).run()


class _Marker:
    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.cfg = Cfg.of(module, function)
        self.structure = Structure.of(module, function)
        self.effects = Effects.of(module)
        self.homes: dict[Inst, Block] = {}  # where instructions are, made when asked for
        self.work: list[Inst] = []  # live instructions that the walk had passed
        self.live_blocks: set[Block] = set()
        # stores to a local variable that nothing reads so far
        self.waiting: dict[Inst, list[Inst]] = {}
        self.exits: dict[Block, list[Block]] = {}
        self.outcome = DceOutcome()
        self.gaps: dict[Block, list[Inst]] = {}  # what was dead when the walk passed it
        self.moves: list[Inst] = []  # what may have to be trimmed, from the end of the function
        self.lined = False  # whether there is line information

    def run(self) -> DceOutcome:
        structure, blocks = self.structure, self.function.blocks
        for header, merge in structure.merge_of.items():
            for target in (merge, structure.continue_of.get(header)):
                if target is not None:
                    self.exits.setdefault(header, []).extend(self.cfg.preds.get(target, ()))
        for block in blocks:
            block.mark = ALL  # labels are kept or dropped with their blocks
        if self.function.marked:
            for block in blocks:
                for inst in block.insts:
                    inst.mark = 0
        self.function.marked = True
        for block in reversed(blocks):
            self.walk(block)
        while self.work:
            inst = self.work.pop()
            self.spread(inst, inst.mark & ALL)
        self.sweep()
        return self.outcome

    def walk(self, block: Block) -> None:
        """Pass liveness on through one block, from its end."""
        volatile, moves, kinds = self.effects.any_volatile, self.moves, _KINDS
        alive = block in self.live_blocks
        gone: list[Inst] = []
        for inst in reversed(block.insts):
            lanes, op = inst.mark, inst.op
            kind = kinds[op]
            if not lanes:
                if not kind & _IS_ROOT and (
                    (kind & _NEVER and not volatile and (not inst.imm or not kind & _BY_OPERANDS))
                    or not self.is_root(inst, block)
                ):
                    inst.mark = _PASSED
                    if not kind & _IS_FLOW:
                        gone.append(inst)
                    if kind & _IS_TRIMMED:
                        moves.append(inst)
                    continue
                lanes = inst.mark = ALL
            elif lanes != ALL:  # more may come to live
                inst.mark = lanes | _PASSED
            if not alive:
                self.live_block(block)
                alive = True
            if kind & _IS_ODD or lanes != ALL:
                if kind & _IS_TRIMMED:
                    moves.append(inst)
                self.spread(inst, lanes)
                continue
            for arg in inst.args:  # of which the walk has passed none
                arg.mark = ALL
        if gone:
            self.gaps[block] = gone

    def is_root(self, inst: Inst, block: Block) -> bool:
        """Whether an instruction, none of _ROOTS, is live by itself."""
        op = inst.op
        if op == ops.OpBranch or op in (ops.OpSelectionMerge, ops.OpLoopMerge):
            return False
        if IS_LINE[op]:
            self.lined = True
            return False
        if op == ops.OpBranchConditional or op == ops.OpSwitch:
            # whether it leaves no construct that could go
            return block.merge() is None and self.structure.parent.get(block) is None
        if op == ops.OpStore and self.waits(inst):
            return False
        return not self.effects.removable(inst)

    def waits(self, store: Inst) -> bool:
        """A store to a local variable waits until something reads the variable."""
        variable = root(store.args[0])
        if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_Function:
            return False
        if variable.mark or (store.imm and store.imm[0] & enums.MemoryAccess_Volatile):
            return False
        self.waiting.setdefault(variable, []).append(store)
        return True

    def live(self, inst: Inst, lanes: int) -> None:
        """These lanes of a value are needed."""
        mark = inst.mark
        if mark | lanes == mark:
            return
        inst.mark = mark | lanes
        if mark & _PASSED:
            self.work.append(inst)
            if mark == _PASSED:
                self.live_block(self.home(inst))

    def home(self, inst: Inst) -> Block:
        """The block that an instruction is in."""
        if not self.homes:
            for block in self.function.blocks:
                self.homes.update(dict.fromkeys(block.insts, block))
        return self.homes[inst]

    def live_block(self, block: Block) -> None:
        """Something in this block is live: so are the constructs around it, with their branches
        out."""
        todo = [block]
        while todo:
            at = todo.pop()
            if at in self.live_blocks:
                continue
            self.live_blocks.add(at)
            header = self.structure.parent.get(at)
            if at in self.structure.loops:
                self.live_construct(at, todo)
            if header is not None:
                self.live_construct(header, todo)

    def live_construct(self, header: Block, todo: list[Block]) -> None:
        end = header.terminator
        if end.mark & ALL:
            return
        merge = header.insts[-2]
        merge.mark |= ALL
        self.live_end(end)
        todo.append(header)
        for source in self.exits.get(header, ()):
            todo.append(source)
            if not source.terminator.mark & ALL:
                if source.merge() is not None:
                    self.live_construct(source, todo)
                else:
                    self.live_end(source.terminator)

    def live_end(self, end: Inst) -> None:
        """A terminator is live; its block is being seen to."""
        if end.mark & _PASSED:
            self.work.append(end)
        end.mark |= ALL

    def spread(self, inst: Inst, lanes: int) -> None:
        """Pass liveness on to the operands."""
        op, args = inst.op, inst.args
        type = inst.type
        if op == ops.OpVariable:
            for store in self.waiting.pop(inst, ()):
                self.live(store, ALL)
        elif op == ops.OpPhi:
            for index in range(0, len(args), 2):
                self.live(args[index], lanes)
                pred = args[index + 1]
                assert isinstance(pred, Block)
                self.live_block(pred)  # with the ways out of the constructs around it: its branch
            return
        elif type is None:
            pass
        elif type.op == ops.OpTypeVector:
            if _IS_BY_LANE[op]:
                self.vector(inst, lanes)
                return
            if FLAGS_OF[op] & info.LANEWISE or (
                op == ops.OpExtInst and self.effects.flags(inst) & info.LANEWISE
            ):
                partial = _PARTIAL.get(op, 0)
                for at, arg in enumerate(args):
                    own = arg.type
                    part = lanes if own is not None and own.op == ops.OpTypeVector else ALL
                    if partial >> at & 1:
                        part = ALL  # a zero in a dead lane may be no divisor
                    if arg.mark | part != arg.mark:
                        self.live(arg, part)
                return
            if op == ops.OpCompositeExtract or follows(inst):
                self.apart(inst, lanes)
                return
        elif op == ops.OpCompositeExtract or (lanes != ALL and IS_AGGREGATE[type.op]):
            self.apart(inst, lanes)
            return
        for arg in args:
            mark = arg.mark
            if mark != ALL:
                if mark & _PASSED:
                    self.live(arg, ALL)
                else:
                    arg.mark = ALL  # all that ``live`` would do

    def apart(self, inst: Inst, lanes: int) -> None:
        """The same for what has other lanes than its operands."""
        for arg, part in needs(inst, lanes):
            self.live(arg, part)

    def vector(self, inst: Inst, lanes: int) -> None:
        op, args = inst.op, inst.args
        if op == ops.OpCompositeConstruct:
            for arg in args:
                type = arg.type
                assert type is not None
                if type.op == ops.OpTypeVector:
                    size = type.imm[0]
                    part = lanes & ((1 << size) - 1)
                    if part:
                        self.live(arg, part)
                    lanes >>= size
                    continue
                if lanes & 1:
                    self.live(arg, ALL)
                lanes >>= 1
        elif op == ops.OpVectorShuffle:
            first = args[0].type
            assert first is not None
            size = first.imm[0]
            left = right = 0  # lanes that are taken from either side
            for index in inst.imm:
                if lanes & 1 and index != UNDEFINED:
                    if index < size:
                        left |= 1 << (index & 15)
                    else:
                        right |= 1 << (index - size & 15)
                lanes >>= 1
            self.live(args[0], left or not right)  # one stays, even if all that lives is undefined
            if right:
                self.live(args[1], right)
        elif op == ops.OpCompositeInsert:
            own = 1 << (inst.imm[0] & 15)
            if lanes & own:
                self.live(args[0], ALL)
            assert inst.type is not None
            rest = lanes & ~own & ((1 << inst.type.imm[0]) - 1)
            if rest:
                self.live(args[1], rest)
        else:  # OpVectorTimesScalar
            self.live(args[0], lanes)
            self.live(args[1], ALL)

    # -- removal -----------------------------------------------------------------------------------

    def sweep(self) -> None:
        module, structure = self.module, self.structure
        changed = flow = False
        if (debug_info := noted(module)) is not None:
            debug_info.look_at_lanes()
        for inst in reversed(self.moves):
            mark = inst.mark & ALL
            if mark and (mark != ALL or inst.op == ops.OpVectorShuffle):
                # a shuffle may take nothing from one side even if all its lanes live
                self.trim(inst, mark)
        for block in self.function.blocks:
            insts = block.insts
            if block in structure.merge_of:
                if not insts[-1].mark & ALL:
                    insts[-2:] = [branch(structure.merge_of[block])]
                    flow = True
            insts[-1].mark |= ALL
            if block in self.gaps:
                out = self.without_dead(insts, self.gaps[block])
                if len(out) != len(insts):
                    if len(out) == 1:
                        self.outcome.emptied = True
                    block.insts = out
                    changed = True
        if changed:
            touched(module)
        if flow:
            flow_changed(module)
            drop_unreachable(module, self.function)

    def without_dead(self, insts: list[Inst], gone: list[Inst]) -> list[Inst]:
        """What is left of a block; ``gone``: what may have to go."""
        if not self.lined:
            dead = {i for i in gone if not i.mark & ALL}
            return [i for i in insts if i.mark & ALL or i not in dead] if dead else insts
        out: list[Inst] = []
        line: Inst | None = None
        for inst in insts:
            if not inst.mark & ALL:
                op = inst.op
                if IS_LINE[op]:
                    line = inst
                    continue
                if op not in _MERGES:
                    continue
            if line is not None:
                out.append(line)
                line = None
            out.append(inst)
        return out

    def found_whole(self, construct: Inst, lanes: int) -> bool:
        """Whether a construct with dead lanes became the value that its live ones are taken from:
        code that crossed a border part by part."""
        if self.effects.signatures.get(construct):
            return False
        version = self.module.version
        other = as_whole(self.module, construct, lanes)
        if other is not None:
            become(self.module, construct, other)
        if self.module.version == version:
            return False
        construct.mark = lanes  # the walk has been here
        self.outcome.trimmed = True
        return True

    def trim(self, inst: Inst, lanes: int) -> None:
        """Something else for the operands that only dead lanes took."""
        assert inst.type is not None
        if inst.op == ops.OpCompositeConstruct:
            every = (1 << types.lanes_of(inst.type)) - 1
            if lanes & every != every:
                if self.found_whole(inst, lanes):
                    return
                self.outcome.live_lanes[inst] = lanes
        args = inst.args
        for arg in args:
            if not arg.mark & ALL:
                break
        else:
            return
        if inst.op == ops.OpVectorShuffle:
            first = args[0].type
            assert first is not None
            size = first.imm[0]
            if not args[1].mark & ALL:
                imm = [i if i < size else UNDEFINED for i in inst.imm]
                args[1] = args[0]
            else:
                other = args[1].type
                assert other is not None
                imm = [i - size if size <= i != UNDEFINED else UNDEFINED for i in inst.imm]
                args[0] = args[1]
            live = next(i for n, i in enumerate(imm) if lanes >> n & 1)
            inst.imm = tuple([live if i == UNDEFINED else i for i in imm])
        else:
            for index, arg in enumerate(args):
                if not arg.mark & ALL:
                    assert arg.type is not None
                    args[index] = types.null(self.module, arg.type)
        touched(self.module)
        if inst.op != ops.OpCompositeConstruct or all(a.op in types.CONSTANTS for a in inst.args):
            self.outcome.trimmed = True
