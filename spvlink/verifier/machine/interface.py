"""What goes from stage to stage: outputs taken apart into scalars by Location and Component, and
inputs put together from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.verifier.machine.declared import MachineStage, builtins_in, leaves, locations_in
from spvlink.verifier.machine.engine import Machine
from spvlink.verifier.machine.values import (
    Array,
    Kinds,
    NotInterpreted,
    Tree,
    V,
    gathered,
    row,
    rows,
    stacked,
    tainted,
)

Cell = tuple[int, int]  # Location, Component
Get = Callable[[int, int, Inst], V | None]
Capture = tuple[int, int, int]  # buffer, offset, stream

_ARRAYED: Final = {
    enums.ExecutionModel_TessellationControl: (True, True),
    enums.ExecutionModel_TessellationEvaluation: (True, False),
    enums.ExecutionModel_Geometry: (True, False),
    enums.ExecutionModel_MeshEXT: (False, True),
}  # of each stage: its inputs, its outputs


class Outputs:
    """What a stage gives for each of ``count`` vertices (or primitives)."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.cells: dict[Cell, V] = {}
        self.builtins: dict[int, Tree] = {}
        self.captured: dict[Capture, V] = {}
        self.fine: set[Capture] = set()  # doubles
        self.types: dict[Cell, tuple[int, tuple[int, ...]]] = {}  # opcode and words of a type

    def read(self, location: int, component: int, scalar: Inst, at: Array) -> V | None:
        """What is in a place; nothing if the reader declares another type."""
        cell = self.cells.get((location, component))
        if cell is None or self.types[location, component] != (scalar.op, scalar.imm):
            return None
        made = gathered(cell, at)
        assert isinstance(made, V)
        return made

    def picked(self, at: Array) -> Outputs:
        made = Outputs(len(at))
        made.types = self.types
        made.cells = {key: gathered(v, at) for key, v in self.cells.items()}
        made.builtins = {key: gathered(v, at) for key, v in self.builtins.items()}
        made.captured = {key: gathered(v, at) for key, v in self.captured.items()}
        return made

    def excused(self, where: Array) -> None:
        """Nobody knows what is there."""
        for table in (self.cells, self.builtins, self.captured):
            for key, value in table.items():
                table[key] = tainted(value, where)  # type: ignore[index]


def assembled(
    stage: MachineStage, kinds: Kinds, type: Inst, location: int, component: int, get: Get
) -> Tree:  # fmt: skip
    """A value of a type from the scalars in its Locations."""
    if types.is_scalar(type):
        cell = get(location, component, type)
        return kinds.filled(type, True) if cell is None else cell
    if type.op == ops.OpTypeVector:
        made = []
        for leaf in leaves(stage, type, location, component):
            cell = get(leaf.location, leaf.component, leaf.type)
            missing = kinds.filled(leaf.type, True)
            made.append(missing if cell is None else cell)
        return stacked(made)
    parts: list[Tree] = []
    for n in range(types.size_of(type)):
        part = types.part_type(type, n)
        lane = component
        if type.op == ops.OpTypeStruct:
            own = stage.member(type, n, enums.Decoration_Location)
            location = location if own is None else own
            lane = stage.member(type, n, enums.Decoration_Component) or 0
        parts.append(assembled(stage, kinds, part, location, lane, get))
        location += locations_in(part)
    return parts


def variables(stage: MachineStage, storage: int) -> Iterator[tuple[Inst, Inst]]:
    """Each variable of the interface with the type that it holds."""
    for variable in stage.variables(storage):
        if variable in stage.interface:
            assert variable.type is not None
            yield variable, variable.type.args[0]


def decorated(stage: MachineStage, variable: Inst, type: Inst, decoration: int) -> bool:
    """Whether a variable, or the first member of its block, is decorated so."""
    if stage.find(variable, decoration) is not None:
        return True
    return type.op == ops.OpTypeStruct and stage.member(type, 0, decoration) is not None


def is_arrayed(stage: MachineStage, variable: Inst, type: Inst, output: bool) -> bool:
    """Whether the outermost array has an element for each vertex."""
    which = _ARRAYED.get(stage.model, (False, False))[int(output)]
    builtin = stage.find(variable, enums.Decoration_BuiltIn)
    if builtin is not None and builtin not in _PER_VERTEX:
        return False
    inner = type.args[0] if type.op == ops.OpTypeArray else type
    return (
        which
        and type.op == ops.OpTypeArray
        and not decorated(stage, variable, type, enums.Decoration_Patch)
        and not decorated(stage, variable, inner, enums.Decoration_Patch)
    )


_PER_VERTEX: Final = frozenset((
    enums.BuiltIn_Position, enums.BuiltIn_PointSize, enums.BuiltIn_ClipDistance,
    enums.BuiltIn_CullDistance, enums.BuiltIn_PrimitiveTriangleIndicesEXT,
    enums.BuiltIn_PrimitiveLineIndicesEXT, enums.BuiltIn_PrimitivePointIndicesEXT,
    enums.BuiltIn_CullPrimitiveEXT, enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex,
    enums.BuiltIn_PrimitiveId, enums.BuiltIn_PrimitiveShadingRateKHR,
))  # fmt: skip


# -- inputs ----------------------------------------------------------------------------------------


def give_inputs(
    m: Machine,
    cells: Callable[[Inst, Inst, int | None], Get],
    builtin: Callable[[int, Inst, int | None], Tree | None],
) -> None:
    """Fill the input variables. ``cells`` gives for (variable, type, vertex) what is in a
    Location, ``builtin`` what a built-in is. The vertex is None outside of arrays of them."""
    for variable, type in variables(m.stage, enums.StorageClass_Input):
        if is_arrayed(m.stage, variable, type, False):
            tree: Tree = [
                _input(m, variable, type.args[0], v, cells, builtin)
                for v in range(types.size_of(type))
            ]
        else:
            tree = _input(m, variable, type, None, cells, builtin)
        m.slots[variable].tree = tree


def _input(
    m: Machine, variable: Inst, type: Inst, vertex: int | None, cells: Any, builtin: Any
) -> Tree:  # fmt: skip
    stage = m.stage
    which = stage.find(variable, enums.Decoration_BuiltIn)
    if which is not None:
        return _builtin(m, builtin, which, type, vertex)
    members = builtins_in(stage, type)
    if members:
        return [
            _builtin(m, builtin, members[n], part, vertex) if n in members
            else m.kinds.filled(part, True)
            for n, part in enumerate(type.args)
        ]  # fmt: skip
    location = stage.find(variable, enums.Decoration_Location)
    lane = stage.find(variable, enums.Decoration_Component) or 0
    get = cells(variable, type, vertex)
    return assembled(stage, m.kinds, type, location or 0, lane, get)


def _builtin(m: Machine, builtin: Any, which: int, type: Inst, vertex: int | None) -> Tree:
    value = builtin(which, type, vertex)
    if value is None:
        return m.kinds.filled(type, True)
    return shaped(m.kinds, value, type)


def shaped(kinds: Kinds, value: Tree, type: Inst) -> Tree:
    """A built-in as this module declares it: another dtype, an array of another size."""
    if isinstance(value, list):
        have = len(value)
        return [
            shaped(kinds, value[n], type.args[0]) if n < have else kinds.filled(type.args[0], True)
            for n in range(types.size_of(type))
        ]
    dtype = kinds.dtype(type)
    if value.d.dtype == dtype:
        return value
    d = value.d
    if d.dtype.kind in "iu" and dtype.kind == "u":
        return V(d.astype(np.int64).astype(dtype), value.u)
    return V(d.astype(dtype), value.u)


# -- outputs ---------------------------------------------------------------------------------------


def outputs_of(
    m: Machine, trees: dict[Inst, Tree], count: int, per_primitive: bool = False
) -> Outputs:
    """The outputs that stand one for each vertex (or primitive), from the trees of the variables.
    Arrays of vertices are to be taken apart before."""
    made = Outputs(count)
    stage = m.stage
    for variable, type in variables(stage, enums.StorageClass_Output):
        if variable not in trees:
            continue
        tree = trees[variable]
        if is_arrayed(stage, variable, type, True):
            type = type.args[0]
        if is_per_primitive(stage, variable, type) != per_primitive:
            continue
        which = stage.find(variable, enums.Decoration_BuiltIn)
        members = builtins_in(stage, type)
        if which is not None:
            made.builtins[which] = tree
        elif members:
            for n, inner in members.items():
                made.builtins[inner] = tree[n]
        else:
            location = stage.find(variable, enums.Decoration_Location) or 0
            lane = stage.find(variable, enums.Decoration_Component) or 0
            index = stage.find(variable, enums.Decoration_Index) or 0
            for leaf in leaves(stage, type, location, lane):
                value = at_path(tree, leaf.path)
                key = leaf.location + 1000 * index, leaf.component
                made.cells[key] = value
                made.types[key] = leaf.type.op, leaf.type.imm
        capture(stage, made, variable, type, tree)
    return made


def is_per_primitive(stage: MachineStage, variable: Inst, type: Inst) -> bool:
    which = stage.find(variable, enums.Decoration_BuiltIn)
    if which in _INDICES:
        return True
    return decorated(stage, variable, type, enums.Decoration_PerPrimitiveEXT)


_INDICES: Final = frozenset((
    enums.BuiltIn_PrimitiveTriangleIndicesEXT, enums.BuiltIn_PrimitiveLineIndicesEXT,
    enums.BuiltIn_PrimitivePointIndicesEXT,
))  # fmt: skip


def at_path(tree: Tree, path: tuple[int, ...]) -> V:
    for at in path:
        tree = row(tree, at) if isinstance(tree, V) else tree[at]
    assert isinstance(tree, V)
    return tree


def capture(stage: MachineStage, made: Outputs, variable: Inst, type: Inst, tree: Tree) -> None:
    """What transform feedback takes of a variable."""
    if enums.ExecutionMode_Xfb not in stage.modes:
        return
    buffer = stage.find(variable, enums.Decoration_XfbBuffer)
    stream = stage.find(variable, enums.Decoration_Stream) or 0
    offset = stage.find(variable, enums.Decoration_Offset)
    if offset is not None and buffer is not None:
        flat(stage, made, (buffer, offset, stream), type, tree)
    if type.op == ops.OpTypeStruct:
        for n, part in enumerate(type.args):
            offset = stage.member(type, n, enums.Decoration_Offset)
            own = stage.member(type, n, enums.Decoration_XfbBuffer)
            own = buffer if own is None else own
            lane = stage.member(type, n, enums.Decoration_Stream)
            if offset is not None and own is not None:
                at = own, offset, stream if lane is None else lane
                flat(stage, made, at, part, tree[n])


def flat(stage: MachineStage, made: Outputs, at: Capture, type: Inst, tree: Tree) -> int:
    """Scalars side by side; gives how many bytes they take."""
    buffer, offset, stream = at
    captured = made.captured
    if isinstance(tree, V):
        scalar = type.args[0] if type.op == ops.OpTypeVector else type
        size = scalar.imm[0] // 8
        for n, value in enumerate(rows(tree)):
            captured[buffer, offset + n * size, stream] = value
            if scalar.op == ops.OpTypeFloat and size == 8:
                made.fine.add((buffer, offset + n * size, stream))
        return size * (1 if tree.d.ndim == 1 else len(tree.d))
    start = offset
    for n, part in enumerate(tree):
        inner = types.part_type(type, n)
        offset += flat(stage, made, (buffer, offset, stream), inner, part)
    return offset - start


def split_vertices(m: Machine, tree: list[Tree], count: int, groups: int) -> Tree:
    """An array with an element for each vertex of a group as one tree: group by group."""
    parts = tree[:count]
    return _joined(parts, groups)


def _joined(parts: list[Tree], groups: int) -> Tree:
    first = parts[0]
    if isinstance(first, list):
        return [_joined([p[n] for p in parts], groups) for n in range(len(first))]
    if not isinstance(first, V):
        raise NotInterpreted("an output of this type")
    shape = (*first.d.shape[:-1], groups)
    d = np.stack([np.broadcast_to(p.d, shape) for p in parts], axis=-1)
    d = d.reshape(*shape[:-1], -1)
    if all(p.u is None for p in parts):
        return V(d)
    no = np.zeros(1, dtype=bool)
    u = np.stack([np.broadcast_to(no if p.u is None else p.u, shape) for p in parts], axis=-1)
    return V(d, u.reshape(*shape[:-1], -1))
