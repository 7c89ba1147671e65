"""The fragment stage: a few quads of each primitive, interpolated and shaded."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from spvlink.grammar import enums, glsl, ops
from spvlink.ir.core import Inst
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.engine import Machine
from spvlink.verifier.machine.interface import (
    Outputs,
    assembled,
    decorated,
    give_inputs,
    outputs_of,
    variables,
)
from spvlink.verifier.machine.memory import MemoryPointer, MemorySlot, load_tree
from spvlink.verifier.machine.running import Running
from spvlink.verifier.machine.values import (
    Array,
    RuleBroken,
    Tree,
    V,
    Value,
    either,
    gathered,
    mapped,
)

QUADS: Final = 2  # of each primitive
MOST: Final = 16  # primitives that are shaded
CENTER, CENTROID, SAMPLE = "center", "centroid", "sample"


class Primitives:
    """Vertices, which of them each primitive has (corner, primitive), and what the primitives have
    for themselves (None: nothing)."""

    def __init__(self, vertices: Outputs, at: Array, own: Outputs | None) -> None:
        self.vertices = vertices
        self.at = at
        self.own = own


class Plan:
    """Where the fragments lie: chosen by the first run, for both. All arrays are (corner, fragment)
    or (fragment)."""

    def __init__(self, run: Running, made: Primitives) -> None:
        random = run.world.random("fragments")
        total = made.at.shape[1]
        picked = np.unique(np.linspace(0, total - 1, min(total, MOST)).astype(int))
        corners = len(made.at)
        quads = len(picked) * QUADS
        self.primitive = np.repeat(picked, QUADS * 4)
        self.count = quads * 4
        base = random.dirichlet(np.ones(corners) * 2, quads).T
        slope = [random.uniform(-0.05, 0.05, (corners, quads)) for _ in range(2)]
        self.slope = [np.repeat(s - s.mean(axis=0), 4, axis=1) for s in slope]
        inside = np.tile(np.arange(4), quads)
        self.across, self.down = inside & 1, inside >> 1
        self.base = np.repeat(base, 4, axis=1)
        self.base = self.base + self.across * self.slope[0] + self.down * self.slope[1]
        self.pixel = [
            np.repeat(random.integers(0, 12, quads) * 2, 4) + self.across,
            np.repeat(random.integers(0, 12, quads) * 2, 4) + self.down,
        ]
        self.helper = (np.repeat(np.arange(quads), 4) % 3 == 1) & (inside == 3)
        self.front = np.repeat(random.random(total) < 0.7, 1)
        self.shift = random.uniform(-0.4, 0.4, (2, 8))
        self.known = run.world.known
        facing = self.known.facing(run.shape)
        if facing is not None:
            self.front[:] = facing
        self.inverse_w, self.depth = self.of_positions(made, corners)

    def of_positions(self, made: Primitives, corners: int) -> tuple[Array, Array]:
        """1 / w of the corners, and their z / w; ordinary numbers where a position has none."""
        position = made.vertices.builtins.get(enums.BuiltIn_Position)
        ones = np.ones((corners, self.count))
        if not isinstance(position, V):
            return ones, ones * 0.5
        d = np.broadcast_to(position.d, (4, made.vertices.count))[:, made.at][..., self.primitive]
        d = d.astype(np.float64)
        with np.errstate(all="ignore"):
            good = (np.isfinite(d[3]) & (d[3] > 1e-3) & (d[3] < 1e4)).all(axis=0)
            inverse = np.where(good, 1 / d[3], 1.0)
            depth = d[2] * inverse
        return inverse, np.where(np.isfinite(depth).all(axis=0), np.clip(depth, -9, 9), 0.5)

    def weights(self, where: Any, perspective: bool) -> Array:
        """Of the corners, at the center, the centroid, a sample, or an offset (x, y)."""
        x: Any = 0.0
        y: Any = 0.0
        if self.known.one_sample and not isinstance(where, tuple):
            where = CENTER
        if isinstance(where, tuple):
            x, y = where
        elif not isinstance(where, str):
            x, y = self.shift[0][where.astype(int) % 4], self.shift[1][where.astype(int) % 4]
        elif where == CENTROID:
            x, y = self.shift[0, 7] * (self.primitive % 2), self.shift[1, 7]
        elif where == SAMPLE:
            number = np.arange(self.count) % 4
            x, y = self.shift[0][number], self.shift[1][number]
        linear = self.base + x * self.slope[0] + y * self.slope[1]
        if not perspective or len(linear) == 1:
            return np.asarray(linear)
        scaled = linear * self.inverse_w
        return np.asarray(scaled / scaled.sum(axis=0))


def combined(m: Machine, parts: list[V], weights: Array) -> V:
    """The weighted sum of what the corners have."""
    total: Any = 0.0
    for part, weight in zip(parts, weights):
        total = total + part.d.astype(np.float64) * weight
    dtype = parts[0].d.dtype
    return V(np.asarray(total).astype(dtype), either(*[p.u for p in parts]))


def together(m: Machine, trees: list[Tree], weights: Array) -> Tree:
    if isinstance(trees[0], list):
        parts = range(len(trees[0]))
        return [together(m, [t[n] for t in trees], weights) for n in parts]
    if trees[0].d.dtype.kind != "f":
        return trees[0]
    return combined(m, trees, weights)


class Feed:
    """What the fragments read, corner by corner."""

    def __init__(self, run: Running, m: Machine, made: Primitives, plan: Plan) -> None:
        self.run = run
        self.m = m
        self.made = made
        self.plan = plan
        self.corners: dict[MemorySlot, list[Tree]] = {}
        self.interpolation: dict[int, tuple[Any, bool, bool]] = {}  # by Location
        at = made.at[:, plan.primitive]
        self.at = [at[c] for c in range(len(at))]

    def qualifiers(self, variable: Inst, type: Inst, member: int) -> tuple[Any, bool, bool]:
        """Where, whether with perspective, whether flat: of a variable, or a member of a block."""
        stage = self.m.stage

        def has(decoration: int) -> bool:
            if stage.find(variable, decoration) is not None:
                return True
            block = type.op == ops.OpTypeStruct
            return block and stage.member(type, member, decoration) is not None

        where = CENTER
        if has(enums.Decoration_Centroid):
            where = CENTROID
        if has(enums.Decoration_Sample):
            where = SAMPLE
        return where, not has(enums.Decoration_NoPerspective), has(enums.Decoration_Flat)

    def cells(self, variable: Inst, type: Inst, vertex: int | None) -> Any:
        stage = self.m.stage
        if decorated(stage, variable, type, enums.Decoration_PerPrimitiveEXT):
            return self.getter(self.made.own, self.plan.primitive)
        if vertex is not None:
            return self.getter(self.made.vertices, self.at[min(vertex, len(self.at) - 1)])
        return self.getter(self.made.vertices, self.at[0])

    def getter(self, outputs: Outputs | None, at: Array) -> Any:
        def get(location: int, component: int, scalar: Inst) -> V | None:
            return None if outputs is None else outputs.read(location, component, scalar, at)

        return get

    def fill(self) -> None:
        """All inputs: first as the first corner has them, then interpolated."""
        m, stage = self.m, self.m.stage
        give_inputs(m, self.cells, self.builtin)
        for variable, type in variables(stage, enums.StorageClass_Input):
            if stage.find(variable, enums.Decoration_BuiltIn) is not None:
                continue
            if decorated(stage, variable, type, enums.Decoration_PerPrimitiveEXT):
                continue
            if decorated(stage, variable, type, enums.Decoration_PerVertexKHR):
                self.per_vertex(variable, type)
                continue
            if type.op != ops.OpTypeStruct:
                self.note_interpolation(variable, type)
            trees = [self.corner(variable, type, c) for c in range(len(self.at))]
            slot = m.slots[variable]
            self.corners[slot] = trees
            if type.op == ops.OpTypeStruct:
                slot.tree = [
                    self.mixed(variable, type, n, [t[n] for t in trees])
                    for n in range(len(type.args))
                ]
            else:
                slot.tree = self.mixed(variable, type, 0, trees)

    def note_interpolation(self, variable: Inst, type: Inst) -> None:
        """Vulkan: what a fragment shader reads of one Location is interpolated alike."""
        stage = self.m.stage
        own = self.qualifiers(variable, type, 0)

        def note(location: int, component: int, scalar: Inst) -> V | None:
            if self.interpolation.setdefault(location, own) != own:
                reason = "inputs of one Location with different interpolation"
                raise RuleBroken(reason, stage.name, repr(variable))
            return None

        location = stage.find(variable, enums.Decoration_Location) or 0
        lane = stage.find(variable, enums.Decoration_Component) or 0
        assembled(stage, self.m.kinds, type, location, lane, note)

    def mixed(self, variable: Inst, type: Inst, member: int, trees: list[Tree]) -> Tree:
        where, perspective, flat = self.qualifiers(variable, type, member)
        if flat:
            return trees[0]
        return together(self.m, trees, self.plan.weights(where, perspective))

    def corner(self, variable: Inst, type: Inst, corner: int) -> Tree:
        stage = self.m.stage
        location = stage.find(variable, enums.Decoration_Location) or 0
        lane = stage.find(variable, enums.Decoration_Component) or 0
        get = self.getter(self.made.vertices, self.at[corner])
        return assembled(stage, self.m.kinds, type, location, lane, get)

    def per_vertex(self, variable: Inst, type: Inst) -> None:
        inner = type.args[0]
        last = len(self.at) - 1
        self.m.slots[variable].tree = [
            self.corner(variable, inner, min(c, last)) for c in range(3)
        ]  # fmt: skip

    def interpolate(self, at: MemoryPointer, number: int, operand: Value, mask: Array) -> Value:
        """InterpolateAt..."""
        trees = self.corners.get(at.slot)
        if trees is None:
            return load_tree(at.slot.tree, at.path, mask)
        variable = next(v for v, slot in self.m.slots.items() if slot is at.slot)
        assert variable.type is not None
        member = at.path[0] if at.path and isinstance(at.path[0], int) else 0
        _, perspective, flat = self.qualifiers(variable, variable.type.args[0], member)
        if flat:
            return load_tree(at.slot.tree, at.path, mask)
        where: Any = CENTROID
        u = None
        if number == glsl.Glsl_InterpolateAtSample:
            where, u = np.broadcast_to(operand.d, (self.m.count,)), operand.u
        elif number == glsl.Glsl_InterpolateAtOffset:
            where = (operand.d[0].astype(np.float64), operand.d[1].astype(np.float64))
            u = None if operand.u is None else operand.u.any(axis=0)
        weights = self.plan.weights(where, perspective)
        parts = [load_tree(tree, at.path, mask) for tree in trees]
        value = together(self.m, parts, weights)
        return mapped(value, lambda v: V(v.d, either(v.u, u)))

    # -- built-ins ---------------------------------------------------------------------------------

    def builtin(self, which: int, type: Inst, vertex: int | None) -> Tree | None:
        plan, made = self.plan, self.made
        own = made.own
        if which in _OF_PRODUCER:
            if own is not None and which in own.builtins:
                return gathered(own.builtins[which], plan.primitive)
            if which in made.vertices.builtins:
                return gathered(made.vertices.builtins[which], self.at[0])
            number = plan.primitive if which == enums.BuiltIn_PrimitiveId else 0
            return V(np.atleast_1d(np.asarray(number)).astype(np.uint32))
        if which in (enums.BuiltIn_ClipDistance, enums.BuiltIn_CullDistance):
            tree = made.vertices.builtins.get(which)
            if tree is None:
                return None
            parts = [gathered(tree, at) for at in self.at]
            return together(self.m, parts, plan.weights(CENTER, True))
        if which == enums.BuiltIn_FragCoord:
            linear = plan.weights(CENTER, False)
            rest = [(linear * plan.depth).sum(axis=0), (linear * plan.inverse_w).sum(axis=0)]
            d = np.stack([plan.pixel[0] + 0.5, plan.pixel[1] + 0.5, *rest])
            return V(d.astype(self.m.kinds.dtype(type)))
        if which in (enums.BuiltIn_BaryCoordKHR, enums.BuiltIn_BaryCoordNoPerspKHR):
            weights = plan.weights(CENTER, which == enums.BuiltIn_BaryCoordKHR)
            full = np.zeros((3, plan.count))
            full[: len(weights)] = weights[:3]
            return V(full.astype(self.m.kinds.dtype(type)))
        return self.other(which, type)

    def other(self, which: int, type: Inst) -> Tree | None:
        plan = self.plan
        lanes = np.arange(plan.count)
        if which == enums.BuiltIn_FrontFacing:
            return V(plan.front[plan.primitive])
        if which == enums.BuiltIn_HelperInvocation:
            return V(plan.helper)
        if which == enums.BuiltIn_SampleId:
            return V((lanes // 4 % 4 * (not plan.known.one_sample)).astype(np.uint32))
        if which in (enums.BuiltIn_SamplePosition, enums.BuiltIn_PointCoord):
            at = np.stack([plan.across * 0.25 + 0.3, plan.down * 0.25 + 0.2])
            return V(at.astype(self.m.kinds.dtype(type)))
        if which == enums.BuiltIn_SampleMask:
            return [V((lanes % 15 + 1).astype(np.uint32))]
        return self.run.number(self.m, _FEW, which)


_OF_PRODUCER: Final = frozenset((
    enums.BuiltIn_PrimitiveId, enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex,
))  # fmt: skip
_FEW: Final[dict[int, Any]] = {
    enums.BuiltIn_ShadingRateKHR: 0, enums.BuiltIn_FragInvocationCountEXT: 1,
}  # fmt: skip


def run_fragments(run: Running, stage: MachineStage, made: Primitives) -> None:
    if not made.at.shape[1]:
        run.seen.doubts.append("no primitive reaches the fragment shader")
        return
    plan = run.world.notes.get("plan")
    if plan is None:
        plan = run.world.notes["plan"] = Plan(run, made)
    if int(plan.primitive.max()) >= made.at.shape[1] or len(plan.base) != len(made.at):
        return  # the primitives differ, which is seen
    m = Machine(stage, run.world, plan.count)
    m.quads = True
    m.helper = plan.helper.copy()
    run.world.notes["pixel", plan.count] = plan.pixel
    feed = Feed(run, m, made, plan)
    with np.errstate(all="ignore"):
        feed.fill()
    m.on_interpolate = feed.interpolate
    m.run()
    run.keep(m)
    name = stage.name
    silent = plan.helper | m.wild
    run.seen.add(name, "discard", V(m.discarded.copy(), silent), plan.count)
    trees = {v: m.slots[v].tree for v, _ in variables(stage, enums.StorageClass_Output)}
    outputs = outputs_of(m, trees, plan.count)
    outputs.excused(silent | m.discarded | m.dead)
    for which, tree in outputs.builtins.items():
        run.seen.add(name, _NAMES.get(which, f"built-in {which}"), tree, plan.count)
    for (location, lane), value in outputs.cells.items():
        dual, location = divmod(location, 1000)
        if not run.world.known.takes(location, lane, dual):
            continue
        index = f", Index {dual}" if dual else ""
        text = f"Location {location}.{'xyzw'[lane]}{index}"
        run.seen.add(name, text, value, plan.count)


_NAMES: Final = {
    enums.BuiltIn_FragDepth: "FragDepth", enums.BuiltIn_SampleMask: "SampleMask",
    enums.BuiltIn_FragStencilRefEXT: "FragStencilRef",
}  # fmt: skip
