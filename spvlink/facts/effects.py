"""What an instruction may do, from the grammar's facts and, where operands decide, from the
operands."""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, info, ops
from spvlink.ir.core import (
    CHAINS,
    GLSL,
    IMPORTS,
    INTERPOLATE,
    LOAD_INPUT,
    LOAD_OUTPUT,
    OPCODES,
    Inst,
    Module,
    by_opcode,
    name_of_set,
    says_nothing,
)
from spvlink.ir.known import fact

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_IS_COPY: Final = by_opcode(CHAINS | {ops.OpCopyObject})  # what points where args[0] does
UNTYPED_CHAINS: Final = frozenset(
    (ops.OpUntypedAccessChainKHR, ops.OpUntypedInBoundsAccessChainKHR)
)
_VOLATILE: Final = enums.Decoration_Volatile
_PRIVATE_FLAGS: Final[dict[int, int]] = {
    LOAD_INPUT: info.PURE | info.REMOVABLE | info.SPECULATABLE,
    INTERPOLATE: info.PURE | info.REMOVABLE,
    LOAD_OUTPUT: info.REMOVABLE | info.READS_MEMORY,
}
FLAGS: Final[dict[int, int]] = {**info.FLAGS, **_PRIVATE_FLAGS}
# The same by opcode: 0 for what has none.
FLAGS_OF: Final[list[int]] = [0] * OPCODES
for _op, _flags in FLAGS.items():
    FLAGS_OF[_op] = _flags


class Effects:
    """Per module: which imports are which, which variables never change during the draw."""

    __slots__ = (
        "any_volatile",
        "constant_memory",
        "glsl",
        "nonsemantic",
        "signatures",
        "tables",
        "volatile",
    )

    def __init__(self, module: Module) -> None:
        self.glsl: set[Inst] = set()
        self.nonsemantic: set[Inst] = set()
        for inst in module.sections[IMPORTS]:
            name = name_of_set(inst)
            if name == GLSL:
                self.glsl.add(inst)
            elif says_nothing(name):
                self.nonsemantic.add(inst)
        tables = self.tables = Decorations.of(module)
        self.constant_memory: dict[Inst, bool] = {}
        # Decorations that a value must not lose or gain by being merged with another.
        self.signatures: dict[Inst, tuple[tuple[int, ...], ...]] = {}
        volatile = False
        # all words of that decoration: nothing is as fast as ``in``
        alone: tuple[int, ...] = (_VOLATILE,)
        for target, notes in tables.targets.items():
            if alone in notes:
                volatile = True
            if target.type is not None and target.op != ops.OpVariable:
                self.signatures[target] = tuple(sorted(notes))
        # Variables that are Volatile or have Volatile members: their loads may not be dropped.
        structs: set[Inst] = set()
        for part, notes in tables.members.items():
            if alone in notes:
                structs.add(part[0])
        self.any_volatile = bool(structs) or volatile
        self.volatile: set[Inst] = (
            {
                v
                for v in module.globals
                if v.op == ops.OpVariable
                and (_pointee(v) in structs or tables.find(v, _VOLATILE) is not None)
            }
            if self.any_volatile
            else set()
        )

    @staticmethod
    def of(module: Module) -> Effects:
        return fact(module, Effects, module.annotated)

    def flags(self, inst: Inst) -> int:
        """The facts of an instruction; 0 for what must not be touched."""
        op = inst.op
        flags = FLAGS_OF[op]
        if not _HANGS[op]:
            return flags
        if op == ops.OpExtInst:
            if inst.args[0] in self.glsl:
                return info.GLSL_FLAGS.get(inst.imm[0], 0)
            return 0
        if op == LOAD_INPUT and inst.args:
            return flags & ~info.SPECULATABLE  # the vertex may be out of bounds
        if inst.imm and flags & (info.PURE | info.REMOVABLE):
            if op == ops.OpLoad:
                if inst.imm[0] & enums.MemoryAccess_Volatile:
                    return flags & ~(info.PURE | info.REMOVABLE | info.SPECULATABLE)
            elif op in IMAGE_MASK_AT and inst.imm[0] & _STRONG:
                return flags & ~(info.PURE | info.REMOVABLE | info.SPECULATABLE)
        return flags

    def removable(self, inst: Inst) -> bool:
        """Whether an instruction may go if nothing reads its value."""
        if self.any_volatile and self.reads_volatile(inst):
            return False
        return self.flags(inst) & info.REMOVABLE != 0

    def reads_volatile(self, inst: Inst) -> bool:
        """Whether an OpLoad, or an image instruction, reads what is decorated Volatile, or may: one
        through an address or an untyped pointer. To be asked where anything is (any_volatile)."""
        source = inst.args[0] if inst.args else inst
        if source.op == ops.OpLoad and inst.op in IMAGE_MASK_AT:
            source = source.args[0]
        elif inst.op != ops.OpLoad:
            return False
        variable = root(source)
        return variable in self.volatile or variable.op != ops.OpVariable

    def reads_constant(self, load: Inst) -> bool:
        """Whether an OpLoad gives the same value whenever it runs in this invocation."""
        if load.imm and load.imm[0] & enums.MemoryAccess_Volatile:
            return False
        variable = root(load.args[0])
        known = self.constant_memory.get(variable)
        if known is None:
            if variable.op == ops.OpUntypedVariableKHR:
                known = self._never_changes_untyped(variable)
            else:
                known = variable.op == ops.OpVariable and _never_changes(self.tables, variable)
            self.constant_memory[variable] = known
        return known

    def _never_changes_untyped(self, variable: Inst) -> bool:
        """Whether what an untyped variable leads to stays the same. Any type may lie over it, so
        none of the module may be a buffer that shaders write (BufferBlock) or Volatile."""
        if self.any_volatile:
            return False
        if variable.imm[0] == enums.StorageClass_PushConstant:
            return True
        written = (enums.Decoration_BufferBlock,)
        uniform = variable.imm[0] == enums.StorageClass_Uniform
        return uniform and not any(written in notes for notes in self.tables.targets.values())


def describing(module: Module) -> set[Inst]:
    """The imports of sets whose instructions only describe."""
    return {i for i in module.sections[IMPORTS] if says_nothing(name_of_set(i))}


IMAGE_MASK_AT: Final = frozenset(
    op for op, name in ops.NAMES.items() if name.startswith("OpImage") and FLAGS.get(op, 0)
)
# Whose facts depend on their operands.
_HANGS: Final = by_opcode(IMAGE_MASK_AT | {ops.OpExtInst, ops.OpLoad, LOAD_INPUT})
_STRONG: Final = enums.ImageOperands_VolatileTexel | enums.ImageOperands_NonPrivateTexel


def root(pointer: Inst) -> Inst:
    """The variable (or whatever else) that a chain of access chains starts from."""
    while pointer.op != ops.OpVariable:  # most are, or lead there at once
        if _IS_COPY[pointer.op]:
            pointer = pointer.args[0]
        elif pointer.op in UNTYPED_CHAINS:
            pointer = pointer.args[1]  # behind the type
        else:
            break
    return pointer


def _pointee(variable: Inst) -> Inst | None:
    """The type of a variable without its arrays."""
    type = variable.type.args[0] if variable.type is not None and variable.type.args else None
    while type is not None and type.op in (ops.OpTypeArray, ops.OpTypeRuntimeArray):
        type = type.args[0]
    return type


def _never_changes(tables: Decorations, variable: Inst) -> bool:
    storage = variable.imm[0]
    if storage in (enums.StorageClass_UniformConstant, enums.StorageClass_PushConstant):
        return True
    if variable.type is None or len(variable.type.args) != 1:
        return False
    if storage == enums.StorageClass_Input:
        builtin = tables.find(variable, enums.Decoration_BuiltIn)
        if builtin and builtin[0] in info.VOLATILE_BUILTINS:
            return False
        return tables.find(variable, enums.Decoration_Volatile) is None
    if storage == enums.StorageClass_Uniform:
        struct = variable.type.args[0]
        while struct.op in (ops.OpTypeArray, ops.OpTypeRuntimeArray):
            struct = struct.args[0]
        return (
            tables.find(struct, enums.Decoration_BufferBlock) is None
            and tables.find(variable, enums.Decoration_Volatile) is None
        )
    return False
