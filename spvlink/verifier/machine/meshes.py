"""Task and mesh stages: workgroups, the payload, and the arrays of vertices and primitives."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.engine import GROUP, Frame, Machine
from spvlink.verifier.machine.fragments import Primitives
from spvlink.verifier.machine.interface import (
    Outputs,
    give_inputs,
    is_arrayed,
    is_per_primitive,
    outputs_of,
    split_vertices,
    variables,
)
from spvlink.verifier.machine.running import Running
from spvlink.verifier.machine.values import Array, Tree, V, gathered

TASKS: Final = 2
MESHES: Final = 3  # without a task stage
MOST: Final = 3  # mesh groups of one task
_INDICES: Final = {
    enums.BuiltIn_PrimitiveTriangleIndicesEXT: 3, enums.BuiltIn_PrimitiveLineIndicesEXT: 2,
    enums.BuiltIn_PrimitivePointIndicesEXT: 1,
}  # fmt: skip


class TaskPayload:
    """What task groups hand on: for each mesh group the task it comes from, and its number."""

    def __init__(self, tree: Tree | None, task: Array, number: Array, counts: Array) -> None:
        self.tree = tree
        self.type: Inst | None = None
        self.task = task
        self.number = number
        self.counts = counts  # (3, groups)


def local_size(m: Machine) -> list[int]:
    stage = m.stage
    for inst, notes in stage.notes.items():
        if notes.get(enums.Decoration_BuiltIn) == (enums.BuiltIn_WorkgroupSize,):
            return [int(part.d[0]) for part in rows_of(m.base[inst])]
    if enums.ExecutionMode_LocalSizeId in stage.modes:
        return [int(m.base[a].d[0]) for a in stage.mode_ids[enums.ExecutionMode_LocalSizeId]]
    return list(stage.modes[enums.ExecutionMode_LocalSize])


def rows_of(value: V) -> list[V]:
    return [V(value.d[n]) for n in range(len(value.d))]


def workgroups(
    run: Running, stage: MachineStage, numbers: Array, counts: Array
) -> tuple[Machine, Any]:
    """A machine for these groups, with their built-ins."""
    probe = Machine(stage, run.world, 1, np.zeros(1, dtype=int))
    size = local_size(probe)
    local = int(np.prod(size))
    groups = np.repeat(np.arange(len(numbers)), local)
    m = Machine(stage, run.world, len(groups), groups)
    at = np.tile(np.arange(local), len(numbers))
    within = [at % size[0], at // size[0] % size[1], at // (size[0] * size[1])]
    which = numbers[groups]
    wide = counts[:, groups] if counts.shape[1] > 1 else np.repeat(counts, len(groups), axis=1)
    outer = [which % wide[0], which // wide[0] % wide[1], which // (wide[0] * wide[1])]
    full = [outer[n] * size[n] + within[n] for n in range(3)]
    known: dict[int, Any] = {
        enums.BuiltIn_LocalInvocationIndex: at,
        enums.BuiltIn_LocalInvocationId: _vector(within),
        enums.BuiltIn_WorkgroupId: _vector(outer),
        enums.BuiltIn_NumWorkgroups: _vector(list(wide)),
        enums.BuiltIn_GlobalInvocationId: _vector(full),
        enums.BuiltIn_WorkgroupSize: _vector([np.full(1, n) for n in size]),
        enums.BuiltIn_DrawIndex: 1,
        enums.BuiltIn_NumSubgroups: max(1, local // GROUP),
        enums.BuiltIn_SubgroupId: at // GROUP,
    }
    give_inputs(
        m, lambda variable, type, vertex: lambda *place: None,
        lambda builtin, type, vertex: run.number(m, known, builtin),
    )  # fmt: skip
    return m, known


def _vector(parts: list[Array]) -> V:
    return V(np.stack(np.broadcast_arrays(*parts)).astype(np.uint32))


def per_group(m: Machine, value: V, mask: Array) -> Array:
    """What the first of each group that is there has; 0 for a group that is not."""
    wide = np.broadcast_to(value.d, (m.count,))
    made = np.zeros(m.group_count, dtype=np.int64)
    lanes = np.nonzero(mask)[0][::-1]
    assert m.groups is not None
    made[m.groups[lanes]] = wide[lanes]
    return made


def run_task(run: Running, stage: MachineStage) -> TaskPayload:
    m, _ = workgroups(run, stage, np.arange(TASKS), np.array([[TASKS], [1], [1]]))
    counts = np.zeros((3, TASKS), dtype=np.int64)
    trees: list[Tree] = []
    payloads: list[Inst] = []

    def tasks(frame: Frame, end: Inst) -> None:
        for n in range(3):
            value = frame.values[end.args[n]]
            counts[n] = np.where(_there(m, frame), per_group(m, value, frame.mask), counts[n])
        if len(end.args) > 3:
            trees.append(m.slots[end.args[3]].tree)
            payloads.append(end.args[3])

    m.on_tasks = tasks
    m.run()
    run.keep(m)
    run.seen.add(stage.name, "mesh groups", V(counts.astype(np.uint32), _wild(m)), TASKS)
    task: list[int] = []
    number: list[int] = []
    for n in range(TASKS):
        total = min(int(np.prod(np.minimum(counts[:, n], 1000))), MOST)
        task += [n] * total
        number += list(range(total))
    made = TaskPayload(
        trees[-1] if trees else None, np.array(task, int), np.array(number, int), counts
    )
    if payloads and payloads[-1].type is not None:
        made.type = payloads[-1].type.args[0]
    return made


def same_shape(a: Inst, b: Inst | None) -> bool:
    """Whether two types, of two modules, are made of the same parts."""
    if b is None or a.op != b.op or a.imm != b.imm:
        return False
    if not types.is_composite(a):
        return True
    size = types.size_of(a)
    parts = range(size if a.op == ops.OpTypeStruct else 1)
    return size == types.size_of(b) and all(
        same_shape(types.part_type(a, n), types.part_type(b, n)) for n in parts
    )


def _there(m: Machine, frame: Frame) -> Array:
    there = np.zeros(m.group_count, dtype=bool)
    assert m.groups is not None
    there[m.groups[frame.mask]] = True
    return there


def _wild(m: Machine) -> Array | None:
    if not m.wild.any():
        return None
    wild = np.zeros(m.group_count, dtype=bool)
    assert m.groups is not None
    wild[m.groups[m.wild]] = True
    return wild


def run_mesh(run: Running, stage: MachineStage, payload: TaskPayload | None) -> Primitives:
    number, counts = np.arange(MESHES), np.array([[MESHES], [1], [1]])
    if payload is not None:
        number, counts = payload.number, np.maximum(payload.counts[:, payload.task], 1)
    nothing = Primitives(Outputs(0), np.zeros((3, 0), dtype=int), None)
    if not len(number):
        return nothing
    m, _ = workgroups(run, stage, number, counts)
    if payload is not None and payload.tree is not None:
        for variable in stage.variables(enums.StorageClass_TaskPayloadWorkgroupEXT):
            assert variable.type is not None
            if same_shape(variable.type.args[0], payload.type):
                m.slots[variable].tree = gathered(payload.tree, payload.task)
    sizes = np.zeros((2, len(number)), dtype=np.int64)

    def outputs(frame: Frame, inst: Inst) -> None:
        for n in range(2):
            size = per_group(m, frame.values[inst.args[n]], frame.mask)
            sizes[n] = np.where(_there(m, frame), size, sizes[n])

    m.on_outputs = outputs
    m.run()
    run.keep(m)
    run.seen.add(stage.name, "mesh sizes", V(sizes.astype(np.uint32), _wild(m)), len(number))
    return made_primitives(m, stage, sizes)


def made_primitives(m: Machine, stage: MachineStage, sizes: Array) -> Primitives:
    """The arrays of vertices and primitives, one group after the other."""
    groups = sizes.shape[1]
    most = [
        stage.modes[enums.ExecutionMode_OutputVertices][0],
        stage.modes[enums.ExecutionMode_OutputPrimitivesEXT][0],
    ]
    tables: list[Outputs] = []
    for n, own in enumerate((False, True)):
        trees: dict[Inst, Tree] = {}
        for variable, type in variables(stage, enums.StorageClass_Output):
            if is_arrayed(stage, variable, type, True):
                if is_per_primitive(stage, variable, type.args[0]) == own:
                    tree = m.slots[variable].tree
                    have = tree + [tree[-1]] * (most[n] - len(tree))
                    trees[variable] = split_vertices(m, have, most[n], groups)
        table = outputs_of(m, trees, groups * most[n], own)
        beyond = (np.arange(most[n])[None] >= sizes[n][:, None]).ravel()
        wild = _wild(m)
        if wild is not None:
            beyond = beyond | np.repeat(wild, most[n])
        table.excused(beyond)
        tables.append(table)
    vertices, primitives = tables
    corners, indices = 3, None
    for which, size in _INDICES.items():
        if which in primitives.builtins:
            corners, indices = size, primitives.builtins[which]
    at = np.zeros((corners, 0), dtype=int)
    if indices is not None:
        at = indices_of(indices, corners, sizes, most, groups)
    return Primitives(vertices, at, picked_primitives(primitives, sizes, most[1]))


def indices_of(indices: V, corners: int, sizes: Array, most: list[int], groups: int) -> Array:
    total = groups * most[1]
    d = indices.d if indices.d.ndim == 2 else indices.d[None]
    d = np.broadcast_to(d, (corners, total)).astype(np.int64)
    d = np.minimum(d, most[0] - 1)
    at = d + np.repeat(np.arange(groups), most[1]) * most[0]
    return np.asarray(at[:, real_primitives(sizes, most[1])])


def real_primitives(sizes: Array, most: int) -> Array:
    return np.nonzero((np.arange(most)[None] < sizes[1][:, None]).ravel())[0]


def picked_primitives(table: Outputs, sizes: Array, most: int) -> Outputs:
    return table.picked(real_primitives(sizes, most))
