"""The resources of a module, and where things lie in them.

A resource is the same in two modules if its descriptor set and binding are (or if both are push
constants), and a member is the same if it lies at the same byte offset with the same type: names
and member numbers say nothing.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import UNTYPED_CHAINS, Effects
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module, by_opcode
from spvlink.ir.slot import base_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

IS_VARIABLE: Final = by_opcode((ops.OpVariable, ops.OpUntypedVariableKHR))
_MATRIX_WORDS: Final = frozenset(
    (enums.Decoration_RowMajor, enums.Decoration_ColMajor, enums.Decoration_MatrixStride)
)
Key = tuple[int, int, int]  # (storage class, descriptor set, binding)


class Cannot(Exception):
    """Why an expression cannot be copied."""


class ResourceAccess:
    """A load of a resource: which, array element, byte offset, and the member it begins in."""

    __slots__ = ("element", "key", "offset", "struct_member", "type", "words")

    def __init__(
        self, key: Key, element: list[int], offset: int, type: Inst, words: list[tuple[int, ...]]
    ) -> None:
        self.key = key
        self.element = element  # constant indices into an array of blocks
        self.offset = offset  # of what is loaded, within the block
        self.type = type  # of what is loaded
        self.words = words  # RowMajor, ColMajor, MatrixStride of the member, if it holds a matrix


def resource_key(tables: Decorations, variable: Inst) -> Key | None:
    """What identifies a resource in a pipeline; None if this is none that may be copied."""
    storage = variable.imm[0]
    if storage == enums.StorageClass_PushConstant:
        # another bank holds other numbers
        banked = tables.find(variable, enums.Decoration_BankNV) is not None
        return None if banked else (storage, 0, 0)
    if storage != enums.StorageClass_Uniform or _is_storage(tables, variable):
        return None
    group = tables.find(variable, enums.Decoration_DescriptorSet)
    binding = tables.find(variable, enums.Decoration_Binding)
    if not binding:
        return None
    return storage, group[0] if group else 0, binding[0]


def _is_storage(tables: Decorations, variable: Inst) -> bool:
    """Whether it is a storage buffer, as they were declared before SPIR-V 1.3. One binding may be
    another resource for these (VkDescriptorSetAndBindingMappingEXT::resourceMask)."""
    type: Inst | None = variable.type if variable.op == ops.OpVariable else variable
    while type is not None and type.args and type.op != ops.OpTypeStruct:
        type = type.args[0]
    return type is not None and tables.find(type, enums.Decoration_BufferBlock) is not None


def held_by(variable: Inst) -> Inst:
    """The type of what a variable holds. Raises Cannot where that is not said."""
    of = variable.type if variable.op == ops.OpVariable else variable
    if of is None or not of.args:
        raise Cannot("a variable without a type")
    return of.args[0]


def _chain(pointer: Inst) -> tuple[Inst, list[Inst]]:
    """(what a pointer starts from, the indices on the way). Of untyped access chains one is
    followed, which takes the variable for what it is declared as."""
    if pointer.op in UNTYPED_CHAINS:
        type, variable, *indices = pointer.args
        return (variable, indices) if type in variable.args else (pointer, [])
    indices = []
    while IS_CHAIN[pointer.op]:
        indices = pointer.args[1:] + indices
        pointer = pointer.args[0]
    return pointer, indices


def shape(type: Inst) -> str:
    """A numeric type as text, equal for equal types of two modules."""
    if type.op == ops.OpTypeBool:
        return "b"
    if type.op in types.NUMBERS:
        return base_of(type)
    if type.op in info.VECTOR_TYPES:
        return f"{shape(type.args[0])}x{type.imm[0]}"
    raise Cannot(f"a value of {ops.NAMES.get(type.op, 'some type')}")


def size_of(type: Inst, words: list[tuple[int, ...]]) -> int:
    """Bytes that a numeric member covers in memory."""
    if type.op == ops.OpTypeVector:
        return type.imm[0] * (type.args[0].imm[0] // 8)
    if type.op == ops.OpTypeMatrix:
        stride = next((w[1] for w in words if w[0] == enums.Decoration_MatrixStride), 16)
        row_major = any(w[0] == enums.Decoration_RowMajor for w in words)
        return stride * (type.args[0].imm[0] if row_major else type.imm[0])
    return type.imm[0] // 8


class Blocks:
    """The resources of one module, and where things lie in them."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.effects = Effects.of(module)
        self.tables = self.effects.tables
        # filled when somebody asks for the first time
        self.variables_by_key: dict[Key, list[Inst]] | None = None

    def access(self, load: Inst) -> ResourceAccess:
        """What a load reads. Raises Cannot."""
        pointer, indices = _chain(load.args[0])
        if not IS_VARIABLE[pointer.op] or load.type is None:
            raise Cannot("a load through a pointer that does not lead to a variable")
        if pointer.imm[0] == enums.StorageClass_Input:
            raise Cannot("it depends on values that differ per vertex")
        key = resource_key(self.tables, pointer)
        if key is None or not self.effects.reads_constant(load):
            raise Cannot("it reads memory that may change or that only this stage has")
        path = [types.index_of(i) for i in indices]
        type = held_by(pointer)
        element: list[int] = []
        at = 0
        while type.op == ops.OpTypeArray:
            index = path[at] if at < len(path) else None
            if index is None or not 0 <= index < types.size_of(type):
                raise Cannot("an array of resources with an index that is not known")
            element.append(index)
            type = type.args[0]
            at += 1
        if type.op != ops.OpTypeStruct:
            raise Cannot("it is no block")
        offset, words = self.walk(type, path[at:])
        shape(load.type)
        return ResourceAccess(key, element, offset, load.type, words)

    def walk(self, type: Inst, path: list[int | None]) -> tuple[int, list[tuple[int, ...]]]:
        """(byte offset, matrix words) of the part of a block at constant indices. Raises Cannot."""
        offset = 0
        words: list[tuple[int, ...]] = []
        for index in path:
            if index is None:
                raise Cannot("an index that is not constant")
            step = self.step(type, index, words)
            if type.op == ops.OpTypeStruct:
                own = self.tables.members.get((type, index), [])
                words = [w for w in own if w[0] in _MATRIX_WORDS]
            type = types.part_type(type, index)
            if type.op in (ops.OpTypeVector, ops.OpTypeInt, ops.OpTypeFloat):
                words = []
            offset += step
        return offset, words

    def step(self, type: Inst, index: int, words: list[tuple[int, ...]]) -> int:
        """Bytes from the start of a composite to one of its parts."""
        if not 0 <= index < types.size_of(type):
            raise Cannot("an index out of bounds")
        if type.op == ops.OpTypeStruct:
            offset = self.tables.find_member(type, index, enums.Decoration_Offset)
            if not offset:
                raise Cannot("a member without an Offset")
            return offset[0]
        if type.op == ops.OpTypeArray:
            stride = self.tables.find(type, enums.Decoration_ArrayStride)
            if not stride:
                raise Cannot("an array without an ArrayStride")
            return index * stride[0]
        if type.op == ops.OpTypeMatrix:
            if any(w[0] == enums.Decoration_RowMajor for w in words):
                raise Cannot("a column of a row-major matrix")
            stride = next((w[1:] for w in words if w[0] == enums.Decoration_MatrixStride), ())
            if not stride:
                raise Cannot("a matrix without a MatrixStride")
            return index * stride[0]
        return index * (type.args[0].imm[0] // 8)

    def variable(self, key: Key) -> Inst | None:
        """The only variable of a resource, or None. Raises Cannot if several alias it."""
        if self.variables_by_key is None:
            self.variables_by_key = {}
            for variable in self.module.globals:
                if IS_VARIABLE[variable.op]:
                    own = resource_key(self.tables, variable)
                    if own is not None:
                        self.variables_by_key.setdefault(own, []).append(variable)
        variables = self.variables_by_key.get(key, ())
        if len(variables) > 1:
            raise Cannot("several variables alias the resource there")
        return variables[0] if variables else None

    def find(self, struct: Inst, wanted: ResourceAccess) -> list[int] | None:
        """The constant indices of the member at an offset with a type; None if the block has
        nothing at these bytes. Raises Cannot if something else lies there."""
        want = shape(wanted.type)
        start, end = wanted.offset, wanted.offset + size_of(wanted.type, wanted.words)
        return self._find(struct, 0, start, end, want, wanted.words, [])

    def _find(
        self, type: Inst, base: int, start: int, end: int, want: str, words: list[tuple[int, ...]],
        inherited: list[tuple[int, ...]],
    ) -> list[int] | None:  # fmt: skip
        size = types.size_of(type)
        if not size and type.op != ops.OpTypeStruct:  # that one may be empty as yet
            raise Cannot("the other stage has an array of unknown length at these bytes")
        for index in range(size):
            part = types.part_type(type, index)
            own = inherited
            if type.op == ops.OpTypeStruct:
                given = self.tables.members.get((type, index), ())
                own = [w for w in given if w[0] in _MATRIX_WORDS]
            try:
                at = base + self.step(type, index, inherited)
            except Cannot:
                raise Cannot("the blocks lay out that member differently") from None
            last = at + self.extent(part, own)
            if last <= start or end <= at:
                continue
            if at == start and part.op not in (ops.OpTypeStruct, ops.OpTypeArray):
                same_words = sorted(own) == sorted(words) or part.op != ops.OpTypeMatrix
                if shape(part) == want and same_words:
                    return [index]
            if part.op in info.NUMBER_TYPES:
                raise Cannot("the other stage declares another type at these bytes")
            inner = self._find(part, at, start, end, want, words, own)
            if inner is not None:
                return [index, *inner]
            if part.op in (ops.OpTypeStruct, ops.OpTypeArray):
                raise Cannot("the other stage has padding at these bytes")
            raise Cannot("the other stage declares another type at these bytes")
        return None

    def extent(self, type: Inst, words: list[tuple[int, ...]]) -> int:
        """Bytes from the start of a type to the end of its last part."""
        if type.op == ops.OpTypeStruct:
            ends = [0]
            for index, member in enumerate(type.args):
                own = self.tables.members.get((type, index), [])
                ends.append(self.step(type, index, []) + self.extent(member, own))
            return max(ends)
        if type.op in (ops.OpTypeArray, ops.OpTypeRuntimeArray):
            count = types.size_of(type)
            if not count:  # the pipeline says how many, or the buffer
                return 1 << 40
            return self.step(type, count - 1, []) + self.extent(type.args[0], words)
        return size_of(type, words)
