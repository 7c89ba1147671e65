"""Dead code elimination, by component and with control flow.

Everything is dead until something with an effect needs it (Cytron et al. 1991, section 7.1, as
SPIRV-Tools' aggressive dead code elimination does it for structured control flow). Two refinements:

* By component: a vector value is live in the lanes that are read. Lane-wise operations, constructs,
  shuffles, extracts, inserts, phis and selects pass the lanes on. A scalar that only feeds dead
  lanes of a construct is dead and a zero stands in for it.
* A construct (selection or loop) in which nothing is live, and whose merge block needs no value
  from inside, is replaced by a branch to its merge block. A live instruction makes the constructs
  around it live, with all their ways out.

``mark`` holds the live lanes (bit i: component i); for anything but a vector, all bits.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import FLAGS, Effects, root
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, Block, Function, Inst, Module
from spvlink.ir.edit import branch, flow_changed
from spvlink.passes.flow import drop_unreachable
from spvlink.passes.vectors import UNDEFINED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# the module fact that dead lanes became something that can be simplified
TRIMMED: Final = "trimmed"
# the module fact that a block lost all it held, so that a selection may have two empty arms now
EMPTIED: Final = "emptied"
_LINES: Final = frozenset((ops.OpLine, ops.OpNoLine))
_ROOTS: Final = frozenset(
    (
        ops.OpReturn,
        ops.OpReturnValue,
        ops.OpKill,
        ops.OpTerminateInvocation,
        ops.OpUnreachable,
        ops.OpEmitMeshTasksEXT,
    )
)
_TRIMMED: Final = frozenset((ops.OpCompositeConstruct, ops.OpCompositeInsert, ops.OpVectorShuffle))
_MERGES: Final = frozenset((ops.OpSelectionMerge, ops.OpLoopMerge))


def run(module: Module, function: Function) -> None:
    """Remove what is dead in one function."""
    drop_unreachable(module, function)
    _Marker(module, function).run()


class _Marker:
    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.cfg = Cfg.of(module, function)
        self.structure = Structure.of(module, function)
        self.effects = Effects.of(module)
        self.home: dict[Inst, Block] = {}  # of instructions that are not live yet
        self.work: list[Inst] = []
        self.live_blocks: set[Block] = set()
        # stores to a local variable that nothing reads so far
        self.waiting: dict[Inst, list[Inst]] = {}
        self.exits: dict[Block, list[Block]] = {}

    def run(self) -> None:
        structure = self.structure
        for header, merge in structure.merge_of.items():
            for target in (merge, structure.continue_of.get(header)):
                if target is not None:
                    self.exits.setdefault(header, []).extend(self.cfg.preds.get(target, ()))
        self.reset()
        self.find_roots()
        work = self.work
        while work:
            self.step(work.pop())
        self.sweep()

    def reset(self) -> None:
        for block in self.function.blocks:
            block.mark = ALL  # labels are kept or dropped with their blocks
            for inst in block.insts:
                inst.mark = 0

    def find_roots(self) -> None:
        home, flags_of, removable = self.home, FLAGS, info.REMOVABLE
        effects, roots = self.effects, _ROOTS
        volatile = bool(effects.volatile)
        single = len(self.function.blocks) == 1  # then nothing hangs on the flow of control
        for block in self.function.blocks:
            for inst in block.insts:
                if not single:
                    home[inst] = block
                op = inst.op
                if op in roots:
                    self.live(inst, ALL)
                elif op in _LINES or op in _MERGES or op == ops.OpBranch:
                    continue
                elif op == ops.OpBranchConditional or op == ops.OpSwitch:
                    if block.merge() is None and self.structure.parent.get(block) is None:
                        self.live(inst, ALL)  # leaves no construct that could go
                elif volatile and effects.reads_volatile(inst):
                    self.live(inst, ALL)
                elif flags_of.get(op, 0) & removable and not inst.imm:
                    continue
                elif op == ops.OpStore:
                    self.store(inst)
                elif op == ops.OpExtInst and inst.args[0] in effects.nonsemantic:
                    continue
                elif not effects.flags(inst) & removable:
                    self.live(inst, ALL)

    def store(self, inst: Inst) -> None:
        """A store to a local variable waits until something reads the variable."""
        variable = root(inst.args[0])
        if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Function:
            if not inst.imm or not inst.imm[0] & enums.MemoryAccess_Volatile:
                if variable.mark == 0:
                    self.waiting.setdefault(variable, []).append(inst)
                    return
        self.live(inst, ALL)

    def live(self, inst: Inst, lanes: int) -> None:
        """These lanes of a value are needed."""
        mark = inst.mark
        if mark | lanes == mark:
            return
        inst.mark = mark | lanes
        self.work.append(inst)
        if not mark:
            home = self.home.get(inst)
            if home is not None and home not in self.live_blocks:
                self.live_block(home)

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
        if end.mark == ALL:
            if header not in self.live_blocks:
                todo.append(header)
            return
        merge = header.insts[-2]
        merge.mark = ALL
        end.mark = ALL
        self.work.append(end)
        todo.append(header)
        for source in self.exits.get(header, ()):
            todo.append(source)
            if source.terminator.mark == 0:
                if source.merge() is not None:
                    self.live_construct(source, todo)
                else:
                    source.terminator.mark = ALL
                    self.work.append(source.terminator)

    def step(self, inst: Inst) -> None:
        """Pass liveness on to the operands."""
        op, args, lanes = inst.op, inst.args, inst.mark
        if op == ops.OpVariable:
            for store in self.waiting.pop(inst, ()):
                self.live(store, ALL)
        elif op == ops.OpPhi:
            for index in range(0, len(args), 2):
                self.live(args[index], lanes)
                pred = args[index + 1]
                assert isinstance(pred, Block)
                self.live_edge(pred)
            return
        type = inst.type
        if type is not None and type.op == ops.OpTypeVector:
            self.vector(inst, lanes)
            return
        if op == ops.OpCompositeExtract:
            source = args[0].type
            if source is not None and source.op == ops.OpTypeVector:
                self.live(args[0], 1 << (inst.imm[0] & 15))
                return
        live = self.live
        for arg in args:
            if arg.mark != ALL:
                live(arg, ALL)

    def live_edge(self, pred: Block) -> None:
        """A live phi tells from where it was reached, so the branch there is live."""
        if pred not in self.cfg.index:
            return
        self.live_block(pred)
        end = pred.terminator
        if end.mark == 0:
            if pred.merge() is not None:
                self.live_construct(pred, [])
                self.live_block(pred)
            if end.mark == 0:
                end.mark = ALL
                self.work.append(end)

    def vector(self, inst: Inst, lanes: int) -> None:
        op, args, live = inst.op, inst.args, self.live
        if op == ops.OpCompositeConstruct:
            at = 0
            for arg in args:
                assert arg.type is not None
                size = arg.type.imm[0] if arg.type.op == ops.OpTypeVector else 1
                part = lanes >> at & ((1 << size) - 1)
                if part:
                    live(arg, part if arg.type.op == ops.OpTypeVector else ALL)
                at += size
        elif op == ops.OpVectorShuffle:
            first = args[0].type
            assert first is not None
            size = first.imm[0]
            for lane, index in enumerate(inst.imm):
                if lanes >> lane & 1 and index != UNDEFINED:
                    live(args[index >= size], 1 << ((index if index < size else index - size) & 15))
        elif op == ops.OpCompositeInsert:
            own = 1 << (inst.imm[0] & 15)
            if lanes & own:
                live(args[0], ALL)
            live(args[1], lanes & ~own)
        elif op == ops.OpVectorTimesScalar:
            live(args[0], lanes)
            live(args[1], ALL)
        else:
            lanewise = self.effects.flags(inst) & info.LANEWISE
            for arg in args:
                type = arg.type
                if lanewise and type is not None and type.op == ops.OpTypeVector:
                    live(arg, lanes)
                else:
                    live(arg, ALL)

    # -- removal -----------------------------------------------------------------------------------

    def sweep(self) -> None:
        module = self.module
        changed = flow = False
        for block in self.function.blocks:
            header = block in self.structure.merge_of
            if header and block.terminator.mark == 0 and block in self.cfg.index:
                block.insts[-2:] = [branch(self.structure.merge_of[block])]
                block.insts[-1].mark = ALL
                flow = True
            insts = block.insts
            end = insts[-1]
            end.mark = ALL
            out: list[Inst] = []
            line: Inst | None = None
            for inst in insts:
                if not inst.mark:
                    op = inst.op
                    if op in _LINES:
                        line = inst
                        continue
                    if op not in _MERGES and not self.debug_stays(inst):
                        continue
                if line is not None:
                    out.append(line)
                    line = None
                out.append(inst)
                if inst.op in _TRIMMED and (inst.mark != ALL or inst.op == ops.OpVectorShuffle):
                    # a shuffle may take nothing from one side even if all its lanes live
                    self.trim(inst)
            if len(out) != len(insts):
                if len(out) == 1:
                    module.facts[EMPTIED] = (0, True)
                block.insts = out
                changed = True
        if changed:
            module.version += 1
        if flow:
            flow_changed(module)
            drop_unreachable(module, self.function)

    def debug_stays(self, inst: Inst) -> bool:
        """A debug instruction stays where everything that it speaks of stays."""
        return (
            inst.op == ops.OpExtInst
            and inst.args[0] in self.effects.nonsemantic
            and all(a.mark for a in inst.args)
        )

    def trim(self, inst: Inst) -> None:
        """Something else for the operands that only dead lanes took."""
        assert inst.type is not None
        if inst.type.op != ops.OpTypeVector or all(a.mark for a in inst.args):
            return
        args = inst.args
        if inst.op == ops.OpVectorShuffle:
            first = args[0].type
            assert first is not None
            size = first.imm[0]
            lanes = inst.mark
            if not args[1].mark:
                imm = [i if i < size else UNDEFINED for i in inst.imm]
                args[1] = args[0]
            else:
                other = args[1].type
                assert other is not None
                imm = [i - size if size <= i != UNDEFINED else UNDEFINED for i in inst.imm]
                args[0] = args[1]
            live = next(i for n, i in enumerate(imm) if lanes >> n & 1)
            inst.imm = [live if i == UNDEFINED else i for i in imm]
        elif inst.op == ops.OpCompositeInsert and args[0].mark:
            assert args[1].type is not None
            args[1] = types.null(self.module, args[1].type)
        else:
            for index, arg in enumerate(args):
                if not arg.mark:
                    assert arg.type is not None
                    args[index] = types.null(self.module, arg.type)
        self.module.version += 1
        if inst.op != ops.OpCompositeConstruct or all(a.op in types.CONSTANTS for a in inst.args):
            self.module.facts[TRIMMED] = (0, True)
