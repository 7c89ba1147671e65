"""Memory: variables as trees of values, buffers as bytes, and pointers into both."""

from __future__ import annotations

from typing import Any

import numpy as np

from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.values import (
    UNSIGNED,
    Array,
    Kinds,
    NotInterpreted,
    Tree,
    V,
    Value,
    either,
    gathered,
    merged,
    row,
    stacked,
    tainted,
    widened,
    width_of,
)

DESCRIPTORS = 4  # that an array of descriptors has


class MemorySlot:
    """The memory of a variable. ``groups``: the group of each invocation, if a group shares it."""

    __slots__ = ("groups", "name", "tree")

    def __init__(self, tree: Tree, name: str = "", groups: Array | None = None) -> None:
        self.tree = tree
        self.name = name
        self.groups = groups


class MemoryPointer:
    """Into a variable: a path of numbers and of arrays of them."""

    __slots__ = ("path", "slot", "type")

    def __init__(self, slot: MemorySlot, path: tuple[Any, ...], type: Inst) -> None:
        self.slot = slot
        self.path = path
        self.type = type

    def merged(self, mask: Array, old: Value) -> MemoryPointer:
        if old is None:
            return self
        if old.slot is not self.slot or len(old.path) != len(self.path):
            raise NotInterpreted("a choice between variables")
        path = tuple(_one(mask, a, b) for a, b in zip(self.path, old.path, strict=True))
        return MemoryPointer(self.slot, path, self.type)


def _one(mask: Array, a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and a == b:
        return a
    both = [np.array([x]) if isinstance(x, int) else x for x in (a, b)]
    return np.where(mask, both[0], both[1])


class Region:
    """The bytes of a buffer, or of as many as an array of descriptors has."""

    def __init__(self, name: str, data: Array, size: int) -> None:
        self.name = name
        self.data = data
        self.size = size  # of one of them
        self.undefined: Array | None = None  # for each byte
        self.written = False
        self.filled = np.zeros(len(data), dtype=bool)  # by a declaration

    def fill(self, at: int, numbers: Array) -> None:
        """Put numbers where no declaration has put any."""
        raw = numbers.view(np.uint8)
        free = ~self.filled[at : at + len(raw)]
        self.data[at : at + len(raw)][free] = raw[free]
        self.filled[at : at + len(raw)] = True

    def copied(self) -> Region:
        return Region(self.name, self.data.copy(), self.size)


class MemoryEntry:
    """One store, of one scalar: who, where, and what."""

    __slots__ = ("at", "kind", "lanes", "place", "u", "value")

    def __init__(
        self, place: str, kind: str, lanes: Array, at: Array, value: Array, u: Array | None
    ) -> None:
        self.place = place
        self.kind = kind
        self.lanes = lanes
        self.at = at
        self.value = value
        self.u = u


class MemoryAddress:
    """Into a buffer. ``low``: where the buffer begins; ``stride`` and ``by_row`` of the matrices
    below; ``step``: between the components of a vector, 0: they are side by side."""

    __slots__ = ("at", "by_row", "low", "region", "step", "stride", "type", "u")

    def __init__(self, region: Region, at: Array, type: Inst, low: Array) -> None:
        self.region = region
        self.at = at
        self.type = type
        self.low = low
        self.u: Array | None = None
        self.stride = 0
        self.by_row = False
        self.step = 0

    def moved(self, by: Any, type: Inst) -> MemoryAddress:
        made = MemoryAddress(self.region, self.at + by, type, self.low)
        made.u, made.stride, made.by_row = self.u, self.stride, self.by_row
        made.step = self.step
        return made

    def merged(self, mask: Array, old: Value) -> MemoryAddress:
        if old is None:
            return self
        if old.region is not self.region:
            raise NotInterpreted("a choice between buffers")
        made = self.moved(0, self.type)
        made.at = np.where(mask, self.at, old.at)
        made.low = np.where(mask, self.low, old.low)
        if self.u is not None or old.u is not None:
            left = False if self.u is None else self.u
            made.u = np.where(mask, left, False if old.u is None else old.u)
        return made


def index_of(value: V) -> tuple[Any, Array | None]:
    """An index as a number, or as an array where invocations differ; and where it is unknown."""
    width = value.d.dtype.itemsize * 8
    signed = value.d.view(f"i{width // 8}").astype(np.int64)
    if len(signed) == 1:
        return int(signed[0]), value.u
    return signed, value.u


# -- variables -------------------------------------------------------------------------------------


def load_tree(tree: Tree, path: tuple[Any, ...], mask: Array) -> Value:
    if not path:
        return tree
    at, rest = path[0], path[1:]
    size = len(tree.d) if isinstance(tree, V) else len(tree)
    if isinstance(at, int):
        inside = min(max(at, 0), size - 1)
        part = row(tree, inside) if isinstance(tree, V) else tree[inside]
        loaded = load_tree(part, rest, mask)
        return loaded if at == inside else tainted(loaded, np.ones(1, dtype=bool))
    outside = (at < 0) | (at >= size)
    at = np.clip(at, 0, size - 1)
    loaded = None
    for number in np.unique(at[mask]) if mask.any() else (0,):
        part = row(tree, int(number)) if isinstance(tree, V) else tree[int(number)]
        part = load_tree(part, rest, mask)
        loaded = part if loaded is None else merged(at == number, part, loaded)
    return tainted(loaded, outside) if outside.any() else loaded


def store_tree(tree: Tree, path: tuple[Any, ...], value: Value, mask: Array | None) -> Tree:
    """The tree with a value stored; the mask None: by all."""
    if not path:
        return value if mask is None else merged(mask, value, tree)
    at, rest = path[0], path[1:]
    if isinstance(tree, V):
        parts = [row(tree, n) for n in range(len(tree.d))]
        return stacked(_put(parts, at, rest, value, mask))
    return _put(list(tree), at, rest, value, mask)


def _put(
    parts: list[Tree], at: Any, rest: tuple[Any, ...], value: Value, mask: Array | None
) -> list[Tree]:
    if isinstance(at, int):
        if 0 <= at < len(parts):
            parts[at] = store_tree(parts[at], rest, value, mask)
        return parts
    for number in np.unique(at if mask is None else at[mask]):
        if 0 <= number < len(parts):
            here = at == number if mask is None else (at == number) & mask
            parts[int(number)] = store_tree(parts[int(number)], rest, value, here)
    return parts


def store_shared(
    tree: Tree, path: tuple[Any, ...], value: Value, mask: Array, groups: Array, count: int
) -> Tree:
    """The same in memory that groups share: the last of a group who stores wins."""
    if path:
        at, rest = path[0], path[1:]
        parts = [row(tree, n) for n in range(len(tree.d))] if isinstance(tree, V) else list(tree)
        numbers = [at] if isinstance(at, int) else np.unique(at[mask])
        for number in numbers:
            if 0 <= number < len(parts):
                here = mask if isinstance(at, int) else mask & (at == number)
                n = int(number)
                parts[n] = store_shared(parts[n], rest, value, here, groups, count)
        return stacked(parts) if isinstance(tree, V) else parts
    if isinstance(value, list):
        return [
            store_shared(a, (), b, mask, groups, count) for a, b in zip(tree, value, strict=True)
        ]
    made = widened(tree, count)
    new = widened(value, len(mask))
    to = groups[mask]
    made.d[..., to] = new.d[..., mask]
    if made.u is not None or new.u is not None:
        if made.u is None:
            made.u = np.zeros(made.d.shape, dtype=bool)
        made.u[..., to] = False if new.u is None else new.u[..., mask]
    return made


def load_slot(pointer: MemoryPointer, mask: Array) -> Value:
    slot = pointer.slot
    if slot.groups is None:
        return load_tree(slot.tree, pointer.path, mask)
    return load_tree(gathered_along(slot.tree, pointer.path, slot.groups), pointer.path, mask)


def gathered_along(tree: Tree, path: tuple[Any, ...], groups: Array) -> Tree:
    """What each invocation sees of its group; only on the path, as far as that is fixed."""
    if path and isinstance(tree, list) and isinstance(path[0], int):
        at = min(max(path[0], 0), len(tree) - 1)
        parts = list(tree)
        parts[at] = gathered_along(tree[at], path[1:], groups)
        return parts
    return gathered(tree, groups)


def store_slot(pointer: MemoryPointer, value: Value, mask: Array, count: int, full: bool) -> None:
    slot = pointer.slot
    if slot.groups is None:
        slot.tree = store_tree(slot.tree, pointer.path, value, None if full else mask)
    else:
        slot.tree = store_shared(slot.tree, pointer.path, value, mask, slot.groups, count)


# -- buffers ---------------------------------------------------------------------------------------


def step_into(stage: MachineStage, address: MemoryAddress, index: V) -> MemoryAddress:
    """One index of an access chain further."""
    type = address.type
    at, u = index_of(index)
    if type.op == ops.OpTypeStruct:
        member = type.args[at]
        offset = stage.member(type, at, enums.Decoration_Offset)
        if offset is None:
            raise NotInterpreted("a block without offsets", stage.name)
        made = address.moved(offset, member)
        made.stride = stage.member(type, at, enums.Decoration_MatrixStride) or made.stride
        made.by_row = stage.member(type, at, enums.Decoration_RowMajor) is not None
        return made
    part = types.part_type(type, 0)
    size = 0
    if type.op == ops.OpTypeMatrix:
        by = width_of(part) // 8 if address.by_row else address.stride
        size = type.imm[0]
    elif type.op == ops.OpTypeVector:
        by = address.step or width_of(type) // 8
        size = type.imm[0]
    else:
        by = stage.find(type, enums.Decoration_ArrayStride) or 0
        size = types.size_of(type)
        if not by:
            raise NotInterpreted("an array without a stride", stage.name, repr(type))
    made = address.moved(np.asarray(at) * by, part)
    if type.op == ops.OpTypeMatrix and address.by_row:
        made.step = address.stride
    outside = np.atleast_1d((np.asarray(at) < 0) | (np.asarray(at) >= size)) if size else None
    made.u = either(address.u, u, outside if outside is not None and outside.any() else None)
    return made


def parts_at(stage: MachineStage, address: MemoryAddress) -> list[MemoryAddress]:
    """The parts of a composite in a buffer."""
    type = address.type
    indices = range(types.size_of(type))
    if not len(indices):
        raise NotInterpreted("an array of unknown size as a value", stage.name, repr(type))
    made = [step_into(stage, address, V(np.array([n], dtype=np.uint32))) for n in indices]
    return made


def load_buffer(stage: MachineStage, kinds: Kinds, address: MemoryAddress) -> Value:
    type = address.type
    if type.op == ops.OpTypeVector:
        parts = [load_buffer(stage, kinds, part) for part in parts_at(stage, address)]
        return stacked(parts)
    if types.is_composite(type):
        return [load_buffer(stage, kinds, part) for part in parts_at(stage, address)]
    width = 64 if type.op in types.POINTERS else width_of(type)
    index, u = places_of(address, width // 8)
    raw = address.region.data.view(UNSIGNED[width])[index]
    if address.region.undefined is not None:
        u = either(u, address.region.undefined[index * (width // 8)])
    return V(raw if type.op in types.POINTERS else kinds.of_bits(type, raw), u)


def places_of(address: MemoryAddress, size: int) -> tuple[Array, Array | None]:
    """Which scalar of the region, and where that is beyond the buffer."""
    within = address.at - address.low
    outside = (within < 0) | (within + size > address.region.size)
    if (within % size).any():
        raise NotInterpreted("an address that is not aligned")
    u = address.u
    at = address.at
    if outside.any():
        u = either(u, outside)
        at = address.low + np.clip(within, 0, address.region.size - size) // size * size
    return at // size, u


def store_buffer(
    stage: MachineStage,
    kinds: Kinds,
    address: MemoryAddress,
    value: Value,
    mask: Array,
    log: list[MemoryEntry],
) -> None:
    type = address.type
    if type.op == ops.OpTypeVector or types.is_composite(type):
        parts = parts_at(stage, address)
        given = [row(value, n) for n in range(len(parts))] if isinstance(value, V) else value
        for part, one in zip(parts, given, strict=True):
            store_buffer(stage, kinds, part, one, mask, log)
        return
    pointer = type.op in types.POINTERS
    width = 64 if pointer else width_of(type)
    index, bad = places_of(address, width // 8)
    count = len(mask)
    lanes = np.nonzero(mask)[0]
    where = np.broadcast_to(index, (count,))[mask]
    data = np.broadcast_to(value.d, (count,))[mask]
    raw = data if pointer else kinds.bits_of(type, data)
    u = either(value.u, bad)
    known = None if u is None else np.broadcast_to(u, (count,))[mask]
    region = address.region
    region.data.view(UNSIGNED[width])[where] = raw
    region.written = True
    if known is not None and region.undefined is None:
        region.undefined = np.zeros(len(region.data), dtype=bool)
    if region.undefined is not None:
        for n in range(width // 8):
            region.undefined[where * (width // 8) + n] = False if known is None else known
    kind = "int"
    if type.op == ops.OpTypeFloat:
        kind = "double" if width == 64 else "float"
    log.append(MemoryEntry(region.name, kind, lanes, where * (width // 8), data, known))


def size_in_buffer(stage: MachineStage, type: Inst, stride: int = 0, by_row: bool = False) -> int:
    """Bytes that a type takes; of an array of unknown size 64 elements."""
    if type.op in info.NUMBER_TYPES:
        return type.imm[0] // 8
    if type.op in types.POINTERS:
        return 8
    if type.op == ops.OpTypeVector:
        return type.imm[0] * (type.args[0].imm[0] // 8)
    if type.op == ops.OpTypeMatrix:
        lines = type.args[0].imm[0] if by_row else type.imm[0]
        return stride * lines
    if type.op == ops.OpTypeStruct:
        end = 0
        for n, part in enumerate(type.args):
            offset = stage.member(type, n, enums.Decoration_Offset) or 0
            own = stage.member(type, n, enums.Decoration_MatrixStride) or 0
            rows_first = stage.member(type, n, enums.Decoration_RowMajor) is not None
            end = max(end, offset + size_in_buffer(stage, part, own, rows_first))
        return end
    if types.is_composite(type) or type.op == ops.OpTypeRuntimeArray:
        by = stage.find(type, enums.Decoration_ArrayStride) or 0
        return by * (types.size_of(type) or 64)
    raise NotInterpreted("a buffer of this type", stage.name, repr(type))
