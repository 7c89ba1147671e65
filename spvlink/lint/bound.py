"""What linking can win of a module at most, whatever it is linked with.

* Of its outputs all but what transform feedback captures, of its inputs all.
* Of its code all but what no knowledge of inputs and of readers takes away: what is stored for
  fixed functions and to memory, in blocks that are reached whichever way branches on inputs go,
  and what that is computed of without an input. It is counted in the module's simplest form.

So the bound is true by construction where the linker does nothing to the rest, and a test holds it
against all links of ``shaders/``. It is no promise that anybody could win as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spvlink.binary.decode import decode
from spvlink.chain.runner import Runner
from spvlink.driver import read_stage
from spvlink.entry import count
from spvlink.facts import scalars
from spvlink.facts.cfg import Cfg
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import root
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Inst, Module
from spvlink.link.check.interface import apart
from spvlink.options import Options

if TYPE_CHECKING:
    from spvlink.link.check.interface import DeclaredVariable
    from spvlink.link.check.stage import CheckedStage
    from spvlink.pipeline import Source

_LEFT: Final = 2  # a label and a return
_WRITES: Final = frozenset((ops.OpImageWrite, ops.OpEmitVertex, ops.OpEndPrimitive))
_MEMORY: Final = frozenset((enums.StorageClass_StorageBuffer, enums.StorageClass_Uniform))
_CONSTANT: Final = frozenset((  # of which no neighbour knows anything
    enums.StorageClass_Uniform, enums.StorageClass_UniformConstant,
    enums.StorageClass_PushConstant, enums.StorageClass_StorageBuffer,
))  # fmt: skip
# Built-ins of which no neighbour knows anything.
_OWN: Final = frozenset((
    enums.BuiltIn_VertexIndex, enums.BuiltIn_InstanceIndex, enums.BuiltIn_TessCoord,
    enums.BuiltIn_FragCoord, enums.BuiltIn_FrontFacing, enums.BuiltIn_PointCoord,
    enums.BuiltIn_SampleId, enums.BuiltIn_SamplePosition,
))  # fmt: skip
_LEVELS: Final = frozenset((enums.BuiltIn_TessLevelOuter, enums.BuiltIn_TessLevelInner))
_SPECIAL: Final = frozenset((
    ops.OpSpecConstant, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse,
    ops.OpSpecConstantComposite, ops.OpSpecConstantOp,
))  # fmt: skip
_UNCOUNTED: Final = scalars.MOVES | {
    ops.OpLoad, ops.OpAccessChain, ops.OpInBoundsAccessChain, ops.OpPhi, ops.OpBitcast,
    ops.OpUndef, ops.OpVariable,
}  # fmt: skip


class Bound:
    """``outputs`` and ``inputs``: components of user variables that can go, with the Locations;
    ``body``: instructions in functions as they came."""

    def __init__(self, stage: CheckedStage) -> None:
        outputs = stage.outputs if stage.name != "frag" else []
        captured = [one for one in outputs if stage.captured(one)]
        self.outputs = len(_covered(outputs)) - len(_covered(captured))
        self.output_locations = _locations(outputs) - (len(_covered(captured)) + 3) // 4
        inputs = stage.inputs if stage.name != "vert" else []
        self.inputs = len(_covered(inputs))
        self.input_locations = _locations(inputs)
        self.body = count(decode(stage.source.data))[1]
        self.stays = dict.fromkeys((False, True), _LEFT)
        try:
            module = _simplest(stage.source)
            for fixed in (False, True):
                self.stays[fixed] += _Staying(module, stage.name, fixed).count()
        except Exception:  # must cost nobody his findings
            pass  # nothing more is known to stay

    def instructions(self, rasterized: bool) -> int:
        """Those that can go; ``rasterized``: in each pipeline fixed functions or fragments follow,
        so what is stored for them stays."""
        return max(0, self.body - self.stays[rasterized])


def _covered(variables: list[DeclaredVariable]) -> set[tuple[int, int]]:
    return {place for one in variables for place in apart(one, one.covers)}


def _locations(variables: list[DeclaredVariable]) -> int:
    return len({place[0] for place in _covered(variables)})


def _simplest(source: Source) -> Module:
    """A module by itself: one function, no local variables, cleaned."""
    stage = read_stage(source)
    runner = Runner(Options())
    runner.prepare(stage)
    runner.promote_again(stage)
    runner.clean(stage)
    return stage.module


class _Staying:
    """``fixed``: fixed functions or fragments take what the stage stores in built-ins."""

    def __init__(self, module: Module, name: str, fixed: bool) -> None:
        self.name = name
        self.fixed = fixed
        self.tables = Decorations.of(module)
        assert module.entry is not None
        self.cfg = Cfg.of(module, module.entry.function)
        self.varying: set[Inst] = set()  # made of an input, or of what may be known like one
        for block in self.cfg.order:
            self.varying.update(inst for inst in block.insts if self.varies(inst))

    def varies(self, inst: Inst) -> bool:
        """Whether a value may be known, or another one, for what its neighbours are. Values stand
        before their uses but in phis, which count as such."""
        if inst.op in (ops.OpPhi, ops.OpFunctionCall):
            return True
        if inst.op == ops.OpLoad and self.read(root(inst.args[0])):
            return True
        return any(arg in self.varying or arg.op in _SPECIAL for arg in inst.args)

    def read(self, variable: Inst) -> bool:
        """The same of what is loaded from a variable."""
        if variable.op != ops.OpVariable:
            return True
        if variable.imm[0] == enums.StorageClass_Input:
            kind = self.tables.find(variable, enums.Decoration_BuiltIn)
            return kind[0] not in _OWN if kind else self.name != "vert"
        return variable.imm[0] not in _CONSTANT

    def count(self) -> int:
        """Instructions that stay."""
        stores: dict[tuple[Inst, int], list[tuple[Block, Inst]]] = {}
        for block in self.cfg.order:
            for inst in block.insts:
                place = self.place(inst)
                if place is not None:
                    stores.setdefault(place, []).append((block, inst))
        total, todo = 0, list[Inst]()
        for stored in stores.values():
            if any(self.sure(block) for block, _ in stored):
                total += 1
                if len(stored) == 1:  # else one may be written over by another
                    todo += stored[0][1].args[1:]
        seen: set[Inst] = set()
        while todo:
            value = todo.pop()
            if value in seen or value in self.varying or value not in self.within:
                continue
            seen.add(value)
            if value.op != ops.OpLoad:
                total += value.op not in _UNCOUNTED
                todo += value.args
        return total

    @property
    def within(self) -> set[Inst]:
        """All instructions of the function."""
        return {inst for block in self.cfg.order for inst in block.insts}

    def place(self, inst: Inst) -> tuple[Inst, int] | None:
        """What a store is to that stays: its variable and member, or itself."""
        if inst.op in _WRITES:
            return inst, -1
        if inst.op != ops.OpStore:
            return None
        variable, member = root(inst.args[0]), -1
        if variable.op != ops.OpVariable:
            return None
        if variable.imm[0] != enums.StorageClass_Output:
            return (inst, -1) if variable.imm[0] in _MEMORY else None
        if self.name == "frag":
            return variable, -1
        kind = self.tables.find(variable, enums.Decoration_BuiltIn)
        assert variable.type is not None
        block = variable.type.args[0]
        if kind is None and block.op == ops.OpTypeStruct and len(inst.args[0].args) > 1:
            number = types.bits_of(inst.args[0].args[1])
            if number is not None:
                member = number
                kind = self.tables.find_member(block, member, enums.Decoration_BuiltIn)
        if not kind or not self.taken(kind[0]):
            return None
        return variable, member

    def taken(self, kind: int) -> bool:
        """Whether fixed functions take a built-in, whatever the next stage reads."""
        if self.name == "tesc":
            return kind in _LEVELS
        return self.fixed and self.name != "mesh" and kind != enums.BuiltIn_PrimitiveId

    def sure(self, target: Block) -> bool:
        """Whether a block is reached whichever way each branch goes that depends on an input."""
        reached = {target}
        changed = True
        while changed:
            changed = False
            for block in reversed(self.cfg.order):
                if block in reached:
                    continue
                after = [b in reached for b in block.successors()]
                end = block.terminator
                known = not any(a in self.varying or a.op in _SPECIAL for a in end.args)
                if after and (any(after) if known else all(after)):
                    reached.add(block)
                    changed = True
        return self.cfg.order[0] in reached
