"""Which bytes of its uniform buffers and push constants a module declares and reads.

A set of bytes is an integer: bit n is byte n. ``ALL_BYTES`` stands for a variable whose extent is
not known. An index that is not constant reads all that it may reach, and so does a pointer that is
handed on, a load of a whole struct, and a variable without a type (SPV_KHR_untyped_pointers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spvlink.facts.decorations import Decorations, Names
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.link.check.uses import Uses

if TYPE_CHECKING:
    from spvlink.ir.core import Inst, Module

    Path = tuple[int | None, ...]
    # (set, binding); None: push constants
    Buffer = tuple[int, int] | None
    Matrix = tuple[int, bool]  # MatrixStride, RowMajor

ALL_BYTES: Final = -1
_MOST: Final = 1 << 20  # bytes of a block: beyond the limits of devices
_MOST_ELEMENTS: Final = 4096  # of an array that are looked at one by one
_STORAGES: Final = (enums.StorageClass_Uniform, enums.StorageClass_PushConstant)


class BufferUse:
    """``declared``: bytes of members, without padding; ``read``: bytes that code reads; ``names``:
    of the variables or their blocks; ``members``: name -> bytes of it."""

    __slots__ = ("declared", "members", "names", "read")

    def __init__(self) -> None:
        self.declared = 0
        self.read = 0
        self.names: dict[str, None] = {}
        self.members: dict[str, int] = {}

    def add(self, other: BufferUse) -> None:
        """The same of another module: together."""
        self.declared |= other.declared
        self.read |= other.read
        self.names |= other.names
        for name, mask in other.members.items():
            self.members[name] = self.members.get(name, 0) | mask


def buffers_of(module: Module) -> dict[Buffer, BufferUse]:
    """All of a module by set and binding."""
    reader = _Reader(module)
    followed = [v for v in module.globals if v.op == ops.OpVariable and v.imm[0] in _STORAGES]
    reads = Uses(module, followed).read
    for variable in followed:
        reader.note(variable, reads[variable])
    for variable in module.globals:
        if variable.op == ops.OpUntypedVariableKHR and variable.imm[0] in _STORAGES:
            reader.use_of(variable).read = ALL_BYTES
    return reader.found


class _Reader:
    def __init__(self, module: Module) -> None:
        self.tables = Decorations.of(module)
        self.names = Names(module)
        self.found: dict[Buffer, BufferUse] = {}

    def use_of(self, variable: Inst) -> BufferUse:
        key: Buffer = None
        if variable.imm[0] != enums.StorageClass_PushConstant:
            group = self.tables.find(variable, enums.Decoration_DescriptorSet) or (0,)
            binding = self.tables.find(variable, enums.Decoration_Binding) or (0,)
            key = group[0], binding[0]
        return self.found.setdefault(key, BufferUse())

    def note(self, variable: Inst, paths: set[Path]) -> None:
        """What a variable declares, and what the ways into it read."""
        assert variable.type is not None
        type, depth = variable.type.args[0], 0
        while type.op in (ops.OpTypeArray, ops.OpTypeRuntimeArray):  # of descriptors
            type, depth = type.args[0], depth + 1
        if type.op != ops.OpTypeStruct or self.tables.find(type, enums.Decoration_Block) is None:
            return  # BufferBlock: a storage buffer
        use = self.use_of(variable)
        name = self.names.of(variable) or self.names.of(type)
        if name:
            use.names[name] = None
        for index, member in enumerate(type.args):
            mask = self.member(type, index, member, 0, ())
            label = self.names.of_member(type, index)
            if mask > 0:
                use.declared |= mask
                use.members[label] = use.members.get(label, 0) | mask
        for path in paths:
            use.read |= self.reached(type, 0, path[depth:], None)

    def member(self, struct: Inst, index: int, type: Inst, offset: int, path: Path) -> int:
        """Bytes of a member of a struct that begins at ``offset``."""
        find = self.tables.find_member
        place = find(struct, index, enums.Decoration_Offset)
        if not place:
            return ALL_BYTES
        stride = find(struct, index, enums.Decoration_MatrixStride)
        matrix = None
        if stride:
            matrix = stride[0], find(struct, index, enums.Decoration_RowMajor) is not None
        return self.reached(type, offset + place[0], path, matrix)

    def reached(self, type: Inst, offset: int, path: Path, matrix: Matrix | None) -> int:
        """Bytes that a way into a value at ``offset`` reaches."""
        if offset > _MOST:
            return ALL_BYTES
        if type.op == ops.OpTypeStruct:
            mask = 0
            for index, member in enumerate(type.args):
                if not path or path[0] in (index, None):
                    mask |= self.member(type, index, member, offset, path[1:])
            return mask
        if type.op == ops.OpTypeArray:
            return self.array(type, offset, path, matrix)
        if type.op == ops.OpTypeMatrix:
            return self.matrix(type, offset, path, matrix)
        if type.op == ops.OpTypeVector:
            size = _size(type.args[0])
            lanes = _chosen(types.size_of(type), path)
            return _joined([_bytes(offset + lane * size, size) for lane in lanes])
        return _bytes(offset, _size(type))

    def array(self, type: Inst, offset: int, path: Path, matrix: Matrix | None) -> int:
        stride = self.tables.find(type, enums.Decoration_ArrayStride)
        length = types.size_of(type)
        if not stride or not length:
            return ALL_BYTES
        chosen = _chosen(length, path)
        if length * stride[0] > _MOST:
            return ALL_BYTES
        if len(chosen) > _MOST_ELEMENTS:
            return _bytes(offset, length * stride[0])
        first = self.reached(type.args[0], offset, path[1:], matrix)
        if first < 0:
            return ALL_BYTES
        relative = first >> offset
        return _joined([relative << offset + at * stride[0] for at in chosen])

    def matrix(self, type: Inst, offset: int, path: Path, matrix: Matrix | None) -> int:
        if matrix is None:
            return ALL_BYTES
        stride, row_major = matrix
        column = type.args[0]
        size = _size(column.args[0])
        columns = _chosen(types.size_of(type), path)
        rows = _chosen(types.size_of(column), path[1:])
        steps = (size, stride) if row_major else (stride, size)  # from column to column, row to row
        return _joined(
            [_bytes(offset + c * steps[0] + r * steps[1], size) for c in columns for r in rows]
        )


def _chosen(length: int, path: Path) -> range:
    """The parts that the first index of a way reaches; all, if it is out of range."""
    if not path or path[0] is None or not 0 <= path[0] < length:
        return range(length)
    return range(path[0], path[0] + 1)


def _size(type: Inst) -> int:
    """Bytes of a scalar; 0 for what is none."""
    if type.op in types.NUMBERS:
        return type.imm[0] // 8
    return 8 if type.op == ops.OpTypePointer else 0


def _bytes(offset: int, size: int) -> int:
    return ((1 << size) - 1) << offset if size and offset + size <= _MOST else ALL_BYTES


def _joined(masks: list[int]) -> int:
    mask = 0
    for one in masks:
        mask |= one
    return mask


def runs(mask: int, gaps: int = 0) -> list[tuple[int, int]]:
    """The runs of bytes in a set, as (first, last). Runs that only bytes of ``gaps`` lie between
    are one."""
    found: list[tuple[int, int]] = []
    at = 0
    while mask >> at:
        rest = mask >> at
        first = at + (rest & -rest).bit_length() - 1
        inverse = ~(mask >> first)
        at = first + (inverse & -inverse).bit_length() - 1
        if found:
            between = ((1 << first) - 1) & ~((1 << found[-1][1] + 1) - 1)
            if between & ~gaps == 0:
                found[-1] = found[-1][0], at - 1
                continue
        found.append((first, at - 1))
    return found
