"""How widely a value of a shader is shared: a lattice from constant to different at every vertex.

    CONSTANT < DRAW < PRIMITIVE < VERTEX

CONSTANT: known now. DRAW: equal for all invocations of a draw call (uniform buffers, push
constants, and what is computed from them). PRIMITIVE: equal at all vertices of one primitive
(InstanceIndex, DrawIndex, the view); in tessellation shaders for a patch, in a mesh shader for a
workgroup. VERTEX: anything else. The level of an operation is the highest of its operands'; what is
not known to be pure is VERTEX.

Not uniform although they look it: subgroup operations, since the vertices of a primitive may sit in
different subgroups; memory that others may write (storage buffers, images); an undefined value,
which may be another one at each vertex.

A phi is as wide as its values and as the conditions that chose between them: those of the construct
whose merge block it stands in, every branch inside it included. A loop's phi takes the level of all
branches in the loop. Found from below, so a loop starts uniform until something in it is not.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import Effects, root
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Block, Function, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

CONSTANT: Final = 0
DRAW: Final = 1
PRIMITIVE: Final = 2
VERTEX: Final = 3

_DRAW: Final = frozenset(  # the same for all of a draw
    (
        ops.OpVariable, ops.OpUntypedVariableKHR,
        ops.OpSpecConstant, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse,
        ops.OpSpecConstantComposite, ops.OpSpecConstantOp,
    )
)  # fmt: skip
_PATCHES: Final = frozenset(
    (enums.ExecutionModel_TessellationControl, enums.ExecutionModel_TessellationEvaluation)
)
_PAYLOAD: Final = (enums.StorageClass_TaskPayloadWorkgroupEXT,)
_CHOOSING: Final = info.DIVISIONS
_NEVER: Final = info.COCONVERGENT | info.CONVERGENT | info.DERIVATIVE


class Divergence:
    """Levels of the values of one function, and of the conditions under which its blocks run."""

    __slots__ = ("blocks", "cfg", "effects", "equal", "inside", "levels", "model", "structure")

    def __init__(
        self, module: Module, function: Function, equal: frozenset[int] = frozenset()
    ) -> None:
        """``equal``: keys of inputs that the stage before stores equally at all vertices."""
        self.equal = equal
        self.model = module.entry.model if module.entry is not None else -1
        self.effects = Effects.of(module)
        self.cfg = Cfg.of(module, function)
        self.structure = Structure.of(module, function)
        self.levels: dict[Inst, int] = {i: 0 for b in self.cfg.order for i in b.insts if i.id}
        self.blocks: dict[Block, int] = dict.fromkeys(self.cfg.order, CONSTANT)
        # the conditional branches of each construct, its header's included
        self.inside: dict[Block, list[Inst]] = {}
        for block in self.cfg.order:
            if block.terminator.op in _CHOOSING:
                for header in [block, *self.structure.around(block)]:
                    self.inside.setdefault(header, []).append(block.terminator)
        # without a loop everything comes after what it depends on
        while self.raise_levels() and self.structure.loops:
            pass

    def raise_levels(self) -> bool:
        """One sweep; whether a level rose."""
        rose = False
        for block in self.cfg.order:
            level = self.block_level(block)
            if level > self.blocks[block]:
                self.blocks[block] = level
                rose = True
            for inst in block.insts:
                if inst.id:
                    level = self.level_of(inst, block)
                    if level > self.levels[inst]:
                        self.levels[inst] = level
                        rose = True
        return rose

    def of(self, value: Inst) -> int:
        """The level of a value."""
        if types.IS_CONSTANT[value.op]:
            return CONSTANT
        if value.op in _DRAW:
            return DRAW
        return self.levels.get(value, VERTEX)

    def choice(self, header: Block) -> int:
        """What decides the way through a construct."""
        return max((self.of(end.args[0]) for end in self.inside.get(header, ())), default=CONSTANT)

    def block_level(self, block: Block) -> int:
        """The join of the conditions around a block. A return on another path is no condition of
        it: who asks for an output looks at the stores of all returns."""
        if not self.inside:
            return CONSTANT
        around = self.structure.around(block)
        if block in self.structure.loops:
            around.append(block)
        return max((self.choice(header) for header in around), default=CONSTANT)

    def level_of(self, inst: Inst, block: Block) -> int:
        op = inst.op
        if op == ops.OpPhi:
            return self.phi_level(inst, block)
        if op == ops.OpLoad:
            return self.load_level(inst)
        if op in (LOAD_INPUT, INTERPOLATE):  # of a stage in the middle of a chain
            return self.input_level(inst)
        flags = self.effects.flags(inst)
        if op == ops.OpUndef or not flags & info.PURE or flags & _NEVER:
            return VERTEX
        level = CONSTANT
        levels = self.levels
        for arg in inst.args:
            own = levels.get(arg)
            if own is None:
                own = CONSTANT if arg.type is None else self.of(arg)  # an import, a type
            if own > level:
                level = own
                if level == VERTEX:
                    break
        return level

    def input_level(self, load: Inst) -> int:
        """All invocations for a patch read the same inputs: at one vertex, or of the patch. Those
        of a mesh shader are the payload."""
        if load.imm[0] in self.equal or self.model == enums.ExecutionModel_MeshEXT:
            return PRIMITIVE
        if self.model not in _PATCHES or load.op == INTERPOLATE:
            return VERTEX
        return max([PRIMITIVE, *(self.of(vertex) for vertex in load.args)])

    def phi_level(self, phi: Inst, block: Block) -> int:
        header = self.structure.header_of_merge.get(block)
        if header is not None:
            chosen = self.choice(header)
        elif block in self.structure.loops:
            chosen = self.choice(block)
        else:
            return VERTEX  # not where structured control flow meets
        return max(chosen, self.block_level(block), *(self.of(a) for a in phi.args[::2]))

    def load_level(self, load: Inst) -> int:
        variable = root(load.args[0])
        if self.model == enums.ExecutionModel_MeshEXT and variable.imm[:1] == _PAYLOAD:
            return max(PRIMITIVE, self.of(load.args[0]))  # which a mesh shader only reads
        if not self.effects.reads_constant(load):
            return VERTEX
        if variable.imm[0] != enums.StorageClass_Input:
            return max(DRAW, self.of(load.args[0]))
        builtin = self.effects.tables.find(variable, enums.Decoration_BuiltIn)
        if builtin is None and self.model in _PATCHES:
            return max(PRIMITIVE, self.of(load.args[0]))  # what comes from the stage before
        return PRIMITIVE if builtin and builtin[0] in info.PRIMITIVE_BUILTINS else VERTEX
