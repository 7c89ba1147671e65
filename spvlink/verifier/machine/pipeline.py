"""Runs a whole pipeline: the stages one after the other, with what stands between them.

Nothing is rasterized. The primitives of the last stage before the fragment shader are taken as they
come, and a few quads of each are interpolated and shaded.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from spvlink.grammar import enums
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.verifier.machine import groups as _groups  # noqa: F401  (it fills a table)
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.engine import Machine
from spvlink.verifier.machine.fragments import Primitives, run_fragments
from spvlink.verifier.machine.geometry import run_geometry
from spvlink.verifier.machine.interface import (
    Outputs,
    decorated,
    give_inputs,
    is_arrayed,
    outputs_of,
    split_vertices,
    variables,
)
from spvlink.verifier.machine.meshes import run_mesh, run_task
from spvlink.verifier.machine.running import NAMES, Running, getter
from spvlink.verifier.machine.seen import Seen
from spvlink.verifier.machine.values import Array, NotInterpreted, Tree, V, gathered
from spvlink.verifier.machine.world import World

PRIMITIVES: Final = 12
PATCHES: Final = 8
_PATCH: Final = enums.Decoration_Patch
POINTS: Final = 6  # of a tessellated patch
_CORNERS: Final = {
    enums.ExecutionMode_InputPoints: 1, enums.ExecutionMode_InputLines: 2,
    enums.ExecutionMode_InputLinesAdjacency: 4, enums.ExecutionMode_Triangles: 3,
    enums.ExecutionMode_InputTrianglesAdjacency: 6,
}  # fmt: skip


class Run(Running):
    """One run of one pipeline in a world."""

    def __init__(self, stages: list[MachineStage], world: World, complete: bool) -> None:
        self.stages = {stage.name: stage for stage in stages}
        Running.__init__(self, world)
        self.complete = complete
        before = [(s.name, s.modes) for s in stages if s.name != "frag"]
        self.shape = world.known.rasterized(before)
        self.outputs = Outputs(0)
        self.primitives: Primitives | None = None

    def run(self) -> Seen:
        names = self.stages
        if "mesh" in names:
            payload = run_task(self, names["task"]) if "task" in names else None
            self.primitives = run_mesh(self, names["mesh"], payload)
            last = names["mesh"]
        else:
            if "vert" not in names:
                raise NotInterpreted("a pipeline without its first stage")
            last = self.before_rasterization()
        self.show(last)
        if "frag" in names and not self.world.known.discards:
            run_fragments(self, names["frag"], self.made())
        return self.seen

    def made(self) -> Primitives:
        if self.primitives is None:
            raise NotInterpreted("no primitives")
        return self.primitives

    # -- vertices to primitives --------------------------------------------------------------------

    def before_rasterization(self) -> MachineStage:
        names = self.stages
        patch = self.patch_size() if "tesc" in names else 0
        corners = 3
        if "geom" in names and not patch:
            corners = self.corners(names["geom"])
        count = PATCHES * patch if patch else PRIMITIVES * corners
        self.outputs = self.run_vertices(names["vert"], count, patch or corners)
        last = names["vert"]
        modes: dict[int, Any] = {}
        if patch:
            if "tese" not in names:
                self.run_control(names["tesc"], patch)
                raise NotInterpreted("patches that nobody evaluates")
            last = names["tese"]
            modes = last.modes
            self.run_evaluation(last, *self.run_control(names["tesc"], patch))
            points = enums.ExecutionMode_PointMode in modes
            lines = enums.ExecutionMode_Isolines in modes
            corners = 1 if points else 2 if lines else 3
            if "geom" in names:
                corners = self.corners(names["geom"])
        whole = self.outputs.count // corners
        at = np.arange(whole * corners).reshape(whole, corners).T
        self.primitives = Primitives(self.outputs, at, None)
        if "geom" in names:
            last = names["geom"]
            self.primitives = run_geometry(self, last, self.outputs, at)
        return last

    def corners(self, stage: MachineStage) -> int:
        return next(n for mode, n in _CORNERS.items() if mode in stage.modes)

    def patch_size(self) -> int:
        given = self.world.known.patch_points
        if given:
            return given
        known = self.world.notes.get("patch")
        if known is None:
            words = self.stages["tesc"].modes.get(enums.ExecutionMode_OutputVertices)
            known = self.world.notes["patch"] = words[0] if words else 3
        return int(known)

    def run_vertices(self, stage: MachineStage, count: int, corners: int) -> Outputs:
        m = Machine(stage, self.world, count)
        at = np.arange(count)
        numbers = {
            enums.BuiltIn_VertexIndex: at, enums.BuiltIn_InstanceIndex: at // corners,
            enums.BuiltIn_VertexId: at, enums.BuiltIn_InstanceId: at // corners,
            enums.BuiltIn_BaseVertex: 0, enums.BuiltIn_BaseInstance: 0, enums.BuiltIn_DrawIndex: 1,
        }  # fmt: skip

        def cells(variable: Inst, type: Inst, vertex: int | None) -> Any:
            def get(location: int, component: int, scalar: Inst) -> V:
                known = self.world.known
                missing = known.missing(location, component)
                if missing is not None and scalar.imm[0] <= 32:
                    return V(np.full(count, missing).astype(m.kinds.dtype(scalar)))
                dice = self.world.dice("attribute", location, component)
                raw = self.world.bits(dice, scalar, count)
                values = m.kinds.of_bits(scalar, same_in_some(raw, corners))
                mask = known.mask_of(location, component)
                if mask and values.dtype.kind != "f":
                    values = (values & mask).astype(values.dtype)
                if values.dtype.kind == "f":  # each primitive has its own order of magnitude
                    scale = np.array([1, 0.5, 0.125, 1, 0.03125])[at // corners % 5]
                    values = (values * scale).astype(values.dtype)
                return V(values)

            return get

        give_inputs(m, cells, lambda which, type, vertex: self.number(m, numbers, which))
        m.run()
        self.keep(m)
        made = outputs_of(m, trees_of(m), count)
        made.excused(m.wild)
        return made

    # -- tessellation ------------------------------------------------------------------------------

    def run_control(self, stage: MachineStage, patch: int) -> tuple[Outputs, Outputs]:
        """Gives what each patch has for its vertices, and for itself."""
        words = stage.modes.get(enums.ExecutionMode_OutputVertices)
        size = words[0] if words else patch
        groups = np.repeat(np.arange(PATCHES), size)
        m = Machine(stage, self.world, PATCHES * size, groups)
        numbers = {
            enums.BuiltIn_InvocationId: np.arange(PATCHES * size) % size,
            enums.BuiltIn_PrimitiveId: groups, enums.BuiltIn_PatchVertices: patch,
        }  # fmt: skip
        feed = self.outputs

        def cells(variable: Inst, type: Inst, vertex: int | None) -> Any:
            return getter(feed, groups * patch + (vertex or 0), (vertex or 0) < patch)

        def builtin(which: int, type: Inst, vertex: int | None) -> Tree | None:
            if vertex is None:
                return self.number(m, numbers, which)
            if vertex >= patch or which not in feed.builtins:
                return None
            return gathered(feed.builtins[which], groups * patch + vertex)

        give_inputs(m, cells, builtin)
        m.run()
        self.keep(m)
        per_vertex: dict[Inst, Tree] = {}
        per_patch: dict[Inst, Tree] = {}
        for variable, type in variables(stage, enums.StorageClass_Output):
            tree = m.slots[variable].tree
            if is_arrayed(stage, variable, type, True):
                have = types.size_of(type) or size
                per_vertex[variable] = split_vertices(m, tree, min(size, have), PATCHES)
            elif decorated(stage, variable, type, _PATCH):
                per_patch[variable] = tree
            else:
                raise NotInterpreted("an output of a patch that is not Patch", stage.name)
        wild = np.zeros(PATCHES, dtype=bool)
        wild[groups[m.wild]] = True
        both = outputs_of(m, per_vertex, PATCHES * size), outputs_of(m, per_patch, PATCHES)
        both[0].excused(np.repeat(wild, size))
        both[1].excused(wild)
        for which in (enums.BuiltIn_TessLevelOuter, enums.BuiltIn_TessLevelInner):
            if which in both[1].builtins:
                self.seen.add(stage.name, NAMES[which], both[1].builtins[which], PATCHES)
        return both

    def run_evaluation(self, stage: MachineStage, vertices: Outputs, patches: Outputs) -> None:
        count = PATCHES * POINTS
        patch = np.repeat(np.arange(PATCHES), POINTS)
        size = vertices.count // PATCHES
        m = Machine(stage, self.world, count)
        numbers: dict[int, Any] = {
            enums.BuiltIn_PrimitiveId: patch, enums.BuiltIn_PatchVertices: size,
            enums.BuiltIn_TessCoord: self.tess_coordinates(m, stage, count),
        }  # fmt: skip
        for which in (enums.BuiltIn_TessLevelOuter, enums.BuiltIn_TessLevelInner):
            if which in patches.builtins:
                numbers[which] = gathered(patches.builtins[which], patch)

        def cells(variable: Inst, type: Inst, vertex: int | None) -> Any:
            if vertex is None:
                return getter(patches, patch, decorated(stage, variable, type, _PATCH))
            return getter(vertices, patch * size + vertex, vertex < size)

        def builtin(which: int, type: Inst, vertex: int | None) -> Tree | None:
            if vertex is None:
                return self.number(m, numbers, which)
            if vertex >= size or which not in vertices.builtins:
                return None
            return gathered(vertices.builtins[which], patch * size + vertex)

        give_inputs(m, cells, builtin)
        m.run()
        self.keep(m)
        self.outputs = outputs_of(m, trees_of(m), count)
        self.outputs.excused(m.wild)

    def tess_coordinates(self, m: Machine, stage: MachineStage, count: int) -> V:
        random = self.world.random("tessellation")
        at = random.random((3, count))
        corners = random.random(count) < 0.3
        at[:2] = np.where(corners, np.round(at[:2]), at[:2])
        if enums.ExecutionMode_Triangles in stage.modes:
            a, b = np.minimum(at[0], at[1]), np.maximum(at[0], at[1])
            at = np.stack([a, b - a, 1 - b])
        else:
            at[2] = 0
        return V(at.astype(np.float64 if m.kinds.loose else np.float32))

    # -- what is seen ------------------------------------------------------------------------------

    def show(self, last: MachineStage) -> None:
        made = self.made()
        known = self.world.known
        ends = "frag" in self.stages or self.complete  # nothing else comes behind the last stage
        for tables in (made.vertices, made.own):
            if tables is None:
                continue
            for which, tree in tables.builtins.items():
                if not ends or known.uses(which, self.shape):
                    self.seen.add(last.name, NAMES[which], tree, tables.count)
            for (buffer, offset, stream), value in tables.captured.items():
                name = f"capture of buffer {buffer}, offset {offset}, stream {stream}"
                self.seen.add(last.name, name, value, tables.count)
                if (buffer, offset, stream) in tables.fine:
                    self.seen.fine.add((last.name, name))
            if "frag" not in self.stages and not self.complete:
                for (location, lane), value in tables.cells.items():
                    name = f"Location {location}.{'xyzw'[lane]}"
                    self.seen.add(last.name, name, value, tables.count)


def trees_of(m: Machine) -> dict[Inst, Tree]:
    return {
        variable: m.slots[variable].tree
        for variable, _ in variables(m.stage, enums.StorageClass_Output)
    }


def same_in_some(raw: Array, corners: int) -> Array:
    """Attributes that the vertices of every fourth primitive agree on."""
    if corners < 2 or len(raw) < corners:
        return raw
    whole = len(raw) // corners * corners
    table = raw[:whole].reshape(-1, corners).copy()
    table[3::4] = table[3::4, :1]
    made = raw.copy()
    made[:whole] = table.ravel()
    return made
