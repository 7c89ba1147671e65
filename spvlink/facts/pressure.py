"""How many registers a stage holds at once: an estimate, by the live ranges of a linear scan
(Poletto and Sarkar, "Linear Scan Register Allocation", 1999).

A lane lives from where it is made to its last use in the order of the blocks; what comes into a
loop and is used there, to the loop's end. Drivers' compilers read an input where it is first used,
not where the code does, so it lives from there on, and all reads of one slot are one value. What
costs no register of a thread is not counted: constants, what is made of uniforms alone (scalar
registers, or computed once a draw), booleans (masks), copies of lanes, addresses. On ``shaders/``
and Vulkan-Samples the peak is near the count of RADV before it schedules
(docs/measurements/motion.md).
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.cfg import Cfg
from spvlink.grammar import enums, ops
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Block, Inst, Module
from spvlink.ir.known import fact

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Range = tuple[int, int]  # the first and the last place where a lane lives
    How = tuple[int, ...]  # whether and where it is interpolated, at which vertex

_INPUTS: Final = frozenset((LOAD_INPUT, INTERPOLATE))
_OWN: Final = frozenset(
    (
        enums.StorageClass_Function, enums.StorageClass_Private, enums.StorageClass_Input,
        enums.StorageClass_Output,
    )
)  # fmt: skip


class Pressure:
    """Live ranges of a module's entry point."""

    __slots__ = ("first", "height", "last", "loops", "of", "operations", "slots", "varying")

    def __init__(self, module: Module) -> None:
        assert module.entry is not None
        self.first: list[int] = []  # of each lane; -1: an input that nothing has used yet
        self.last: list[int] = []
        self.of: dict[Inst, list[int]] = {}  # value -> its lanes; -1: takes no register
        self.slots: dict[int, dict[How, int]] = {}  # key -> how it is read -> its lane
        self.varying: set[Inst] = set()
        self.operations = 0  # in registers: what hides no wait when few threads fit
        self.loops: list[Range] = []  # around what is looked at, outermost first
        places = self.walk(Cfg.of(module, module.entry.function))
        steps = [0] * (places + 1)
        for at, first in enumerate(self.first):
            if first >= 0:
                steps[first] += 1
                steps[self.last[at]] -= 1
        self.height = steps  # how many lanes live at each place
        for at in range(places):
            steps[at + 1] += steps[at]

    @staticmethod
    def of_module(module: Module) -> Pressure:
        """The ranges as the module stands."""
        return fact(module, Pressure, module.version)

    def peak(self) -> int:
        """How many lanes live at once at most."""
        return max(self.height)

    def ranges(self, key: int) -> dict[How, Range]:
        """Where what is read from a slot lives, if it is used; by how it is read."""
        return {
            how: (self.first[lane], self.last[lane])
            for how, lane in self.slots.get(key, {}).items() if self.first[lane] >= 0
        }  # fmt: skip

    def peak_with(self, gone: list[Range], new: list[Range]) -> int:
        """The peak without some ranges and with others."""
        steps = [0] * len(self.height)
        for ranges, by in ((gone, -1), (new, 1)):
            for first, last in ranges:
                steps[first] += by
                steps[last] -= by
        highest = change = 0
        for at, height in enumerate(self.height):
            change += steps[at]
            if height + change > highest:
                highest = height + change
        return highest

    # -- ranges ------------------------------------------------------------------------------------

    def walk(self, cfg: Cfg) -> int:
        """Find the ranges; gives the number of places."""
        ends: dict[Block, int] = {}  # the place of each terminator
        at = 0
        for block in cfg.order:
            at += len(block.insts)
            ends[block] = at - 1
        phis: list[Inst] = []
        at = 0
        for number, block in enumerate(cfg.order):
            self.loops = [span for span in self.loops if span[1] > at]
            back = [p for p in cfg.preds[block] if cfg.index[p] >= number]
            if back:
                self.loops.append((at, max([ends[p] for p in back])))
            for inst in block.insts:
                if inst.op == ops.OpPhi:
                    phis.append(inst)
                    self.make(inst, at)
                elif not self.moves(inst):
                    self.use(inst.args, at)
                    self.make(inst, at)
                at += 1
        for phi in phis:
            for value, before in zip(phi.args[::2], phi.args[1::2]):
                if isinstance(before, Block) and before in ends:
                    self.extend(value, ends[before])
        return at

    def use(self, args: list[Inst], at: int) -> None:
        for arg in args:
            for lane in self.of.get(arg, ()):
                if lane < 0:
                    continue
                if self.first[lane] < 0:
                    self.first[lane] = self.last[lane] = self.loops[0][0] if self.loops else at - 1
                end = at
                for span in self.loops:
                    if self.first[lane] <= span[0]:
                        end = span[1]
                        break
                if end > self.last[lane]:
                    self.last[lane] = end

    def extend(self, value: Inst, at: int) -> None:
        """What a phi takes lives to the end of the block that it comes from."""
        for lane in self.of.get(value, ()):
            if lane >= 0:
                self.first[lane] = at - 1 if self.first[lane] < 0 else self.first[lane]
                self.last[lane] = max(self.last[lane], at)

    def moves(self, inst: Inst) -> bool:
        """Note what only copies lanes: no use of them, and no value."""
        moved = scalars.moved(inst) if inst.op in scalars.MOVES else None
        if moved is None:
            return False
        if self.varies(inst):
            self.varying.add(inst)
            self.of[inst] = [self.of[v][n] if v in self.of else -1 for v, n in moved]
        return True

    def make(self, inst: Inst, at: int) -> None:
        """Note the lanes of a value."""
        if inst.type is None:
            return
        if inst.op in _INPUTS:
            self.varying.add(inst)
            how = (inst.op, *inst.imm[1:], *[arg.id for arg in inst.args])
            lanes = self.slots.setdefault(inst.imm[0], {})
            if how not in lanes:
                lanes[how] = self.lane(-1)
            self.of[inst] = [lanes[how]]
            return
        if not self.varies(inst):
            return
        self.varying.add(inst)
        size = scalars.count(inst.type)
        if size and scalars.scalar(inst.type).op != ops.OpTypeBool:
            self.operations += size
            self.of[inst] = [self.lane(at) for _ in range(size)]

    def lane(self, at: int) -> int:
        self.first.append(at)
        self.last.append(at)
        return len(self.first) - 1

    def varies(self, inst: Inst) -> bool:
        """Whether a value is not the same for all invocations."""
        if inst.op in (ops.OpPhi, ops.OpFunctionCall, ops.OpVariable, ops.OpUndef):
            return inst.op != ops.OpUndef
        for arg in inst.args:
            if arg in self.varying:
                return True
            if arg.op == ops.OpVariable and arg.imm[0] in _OWN:
                return True
        return False
