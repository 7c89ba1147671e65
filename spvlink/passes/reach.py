"""Values that new edges have cut off from their uses.

    loop { if (a) return x; y = f(); if (b) break; } use(y)

Once the return is a branch to the block after the loop, the definition of ``y`` no longer dominates
that use, though none that matters comes there by the return. What is used so goes through a local
variable, which promotion turns into phis; what no variable may hold (pointers, images, samplers) is
made anew where it is used.
"""

from __future__ import annotations

from spvlink.errors import Refused
from spvlink.facts.cfg import Cfg
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.edit import value
from spvlink.passes.parts import CHAINS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_HELD: Final = frozenset(
    (
        ops.OpTypeBool, ops.OpTypeInt, ops.OpTypeFloat, ops.OpTypeVector, ops.OpTypeMatrix,
        ops.OpTypeArray, ops.OpTypeStruct,
    )
)  # fmt: skip
# What gives the same again from the same operands, as a load of an image does.
_AGAIN: Final = CHAINS | {ops.OpLoad, ops.OpImage, ops.OpSampledImage, ops.OpCopyObject}
_MERGES: Final = frozenset((ops.OpSelectionMerge, ops.OpLoopMerge))


def repair(module: Module, function: Function) -> list[Inst]:
    """Mend all such uses in a function; gives the variables that it wants. Raises Refused where
    that is not possible."""
    return _Repair(module, function).run()


class _Repair:
    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.cfg = Cfg(function)
        self.homes: dict[Inst, Block] = {}
        for block in self.cfg.order:
            self.homes.update(dict.fromkeys(block.insts, block))
        self.variables: dict[Inst, Inst] = {}  # value -> the variable that it is stored to

    def run(self) -> list[Inst]:
        ends: dict[Block, list[Inst]] = {}  # what has to come before the end of a block
        for block in self.cfg.order:
            out: list[Inst] = []
            twins: dict[Inst, Inst] = {}
            for inst in block.insts:
                wanted: list[Inst] = []
                if inst.op == ops.OpPhi:
                    for at in range(0, len(inst.args), 2):
                        pred = inst.args[at + 1]
                        assert isinstance(pred, Block)
                        if self.cut_off(inst.args[at], pred):
                            made = ends.setdefault(pred, [])
                            inst.args[at] = self.reach(inst.args[at], pred, made, {}, inst)
                else:
                    for at, arg in enumerate(inst.args):
                        if self.cut_off(arg, block):
                            inst.args[at] = self.reach(arg, block, wanted, twins, inst)
                at = len(out)
                if wanted and out and out[-1].op in _MERGES:
                    at -= 1  # which stays just before the terminator
                out[at:at] = wanted
                out.append(inst)
            block.insts = out
        for block, made in ends.items():
            at = -1 if block.merge() is None else -2
            block.insts[at:at] = made
        self.store()
        return list(self.variables.values())

    def cut_off(self, arg: Inst, block: Block) -> bool:
        """Whether a value does not reach the end of a block, or a use in it."""
        home = self.homes.get(arg)
        return home is not None and block in self.cfg.index and not self.cfg.dominates(home, block)

    def reach(
        self, arg: Inst, block: Block, out: list[Inst], twins: dict[Inst, Inst], user: Inst
    ) -> Inst:
        """The value of ``arg``, got in this block; ``twins``: what was got there already."""
        if arg in twins:
            return twins[arg]
        assert arg.type is not None
        if arg.type.op in _HELD and not types.holds_pointers(arg.type):
            variable = self.variables.get(arg)
            if variable is None:
                storage = enums.StorageClass_Function
                pointer = types.pointer(self.module, storage, arg.type)
                variable = value(self.module, ops.OpVariable, pointer, [], [storage])
                self.variables[arg] = variable
            made = value(self.module, ops.OpLoad, arg.type, [variable], [])
        elif arg.op in _AGAIN and (arg.op != ops.OpLoad or arg.type.op != ops.OpTypePointer):
            args = [
                self.reach(a, block, out, twins, user) if self.cut_off(a, block) else a
                for a in arg.args
            ]
            made = value(self.module, arg.op, arg.type, args, list(arg.imm))
            notes = Decorations.of(self.module).targets.get(arg)
            if notes:
                Decorations.add(self.module, made, list(notes))
        else:
            raise Refused("a pointer from inside a loop is used after it, and the loop returns")
        if self.module.debug is not None:
            self.module.debug.like(made, user)
        out.append(made)
        twins[arg] = made
        return made

    def store(self) -> None:
        """Each value goes to its variable where it is made."""
        for block in {self.homes[arg]: None for arg in self.variables}:
            out: list[Inst] = []
            late: list[Inst] = []  # phis stand first
            for inst in block.insts:
                if inst.op != ops.OpPhi and late:
                    out += late
                    late = []
                out.append(inst)
                variable = self.variables.get(inst)
                if variable is not None:
                    store = Inst(ops.OpStore, None, [variable, inst], [])
                    (late if inst.op == ops.OpPhi else out).append(store)
            block.insts = out
