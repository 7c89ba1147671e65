"""Load images and samplers in the block that uses them.

    %a = OpLoad %sampler2D %t                %a = OpLoad %sampler2D %t
    ... OpBranchConditional                  ... OpBranchConditional
    %b = OpImageFetch %a ...        ->       %c = OpLoad %sampler2D %t
                                             %b = OpImageFetch %c ...

SPIR-V demands it: "All OpSampledImage instructions, or instructions that load an image or sampler
reference, must be in the same block in which their Result <id> are consumed" (specification
2.16.1); spirv-val checks OpSampledImage alone. ``simplify`` and ``inline`` do not keep that rule,
because lookups of two blocks are equal only if their images are. So this pass runs when the blocks
of a stage are final. It copies such a value into each block that uses it, and removes values
without a use.

Why it is right. A load of memory that nothing writes gives the same value in each block.

What breaks it. Memory that may change between two loads: that load stays where it is.

Cost. None: the copies load handles, no texels.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.debug import noted
from spvlink.ir.edit import annotate, touched, value

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_TYPES: Final = (ops.OpTypeImage, ops.OpTypeSampler, ops.OpTypeSampledImage)


def images(module: Module, function: Function) -> None:
    """Of all functions, since a call that stays may have had another one inlined."""
    if not any(types.of_op(module, op) for op in _TYPES):
        return
    for each in module.functions:
        if len(each.blocks) > 1:
            _Function(module, each).run()


def again(module: Module, inst: Inst, args: list[Inst]) -> Inst:
    """The same instruction once more, for another block, with all that is said of it."""
    twin = value(module, inst.op, inst.type, args, inst.imm)
    tables = Decorations.of(module)
    if notes := tables.targets.get(inst):
        Decorations.add(module, twin, list(notes))
    if inst in tables.with_ids:
        named = tables.with_ids[inst]
        annotate(module, [Inst(n.op, None, [twin, *n.args[1:]], n.imm) for n in named])
    if (debug_info := noted(module)) is not None:
        debug_info.like(twin, inst)
    return twin


class _Function:
    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.effects = Effects.of(module)
        self.made: dict[Inst, Block] = {}  # values that are bound to their block
        for block in function.blocks:
            for inst in block.insts:
                if inst.type is not None and inst.type.op in _TYPES and self.is_bound(inst):
                    self.made[inst] = block

    def is_bound(self, inst: Inst) -> bool:
        """Whether a value may be made anywhere, so that it can be where it is used."""
        if inst.op == ops.OpLoad:
            return self.effects.reads_constant(inst)
        return bool(info.FLAGS.get(inst.op, 0) & info.BLOCK_LOCAL)

    def run(self) -> None:
        moved = False
        for block in self.function.blocks:
            twins: dict[Inst, Inst] = {}
            out: list[Inst] = []
            for inst in block.insts:
                if inst.op != ops.OpPhi:
                    self.bring(inst, block, twins, out)
                out.append(inst)
            if twins:
                block.insts = out
                moved = True
        if moved:
            self.drop_unused()
            touched(self.module)

    def bring(self, inst: Inst, block: Block, twins: dict[Inst, Inst], out: list[Inst]) -> None:
        """Make anew in this block what an instruction uses of other ones."""
        for at, arg in enumerate(inst.args):
            if self.made.get(arg, block) is block:
                continue
            twin = twins.get(arg)
            if twin is None:
                twin = twins[arg] = again(self.module, arg, list(arg.args))
                self.bring(twin, block, twins, out)
                out.append(twin)
            inst.args[at] = twin

    def drop_unused(self) -> None:
        """What is used in other blocks only."""
        uses: dict[Inst, int] = {}
        for block in self.function.blocks:
            for inst in block.insts:
                for arg in inst.args:
                    uses[arg] = uses.get(arg, 0) + 1
        gone: set[Inst] = set()
        for inst in reversed([*self.made]):  # users first
            if not uses.get(inst):
                gone.add(inst)
                for arg in inst.args:
                    uses[arg] -= 1
        if gone:
            for block in {self.made[inst]: None for inst in gone}:
                block.insts = [i for i in block.insts if i not in gone]
