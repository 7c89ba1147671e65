"""The geometry stage: what it emits, vertex by vertex, and the primitives of that."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from spvlink.grammar import enums
from spvlink.ir.core import Inst
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.engine import Machine
from spvlink.verifier.machine.fragments import Primitives
from spvlink.verifier.machine.interface import Outputs, give_inputs, outputs_of, variables
from spvlink.verifier.machine.running import Running, getter
from spvlink.verifier.machine.values import Array, NotInterpreted, Tree, V, gathered, tainted

MOST: Final = 2000  # emissions, counted as the batch runs


class Event:
    """EmitVertex or EndPrimitive: by whom, and what the outputs were then."""

    __slots__ = ("mask", "outputs", "stream", "vertex")

    def __init__(self, stream: int, mask: Array, vertex: bool, outputs: Outputs | None) -> None:
        self.stream = stream
        self.mask = mask
        self.vertex = vertex
        self.outputs = outputs


def run_geometry(run: Running, stage: MachineStage, feed: Outputs, at: Array) -> Primitives:
    words = stage.modes.get(enums.ExecutionMode_Invocations)
    times = words[0] if words else 1
    count = at.shape[1] * times
    primitive = np.repeat(np.arange(at.shape[1]), times)
    m = Machine(stage, run.world, count)
    numbers: dict[int, Any] = {
        enums.BuiltIn_PrimitiveId: primitive,
        enums.BuiltIn_InvocationId: np.arange(count) % times,
    }

    def cells(variable: Inst, type: Inst, vertex: int | None) -> Any:
        v = vertex or 0
        return getter(feed, at[min(v, len(at) - 1)][primitive], v < len(at))

    def builtin(which: int, type: Inst, vertex: int | None) -> Tree | None:
        if vertex is None:
            return run.number(m, numbers, which)
        if vertex >= len(at) or which not in feed.builtins:
            return None
        return gathered(feed.builtins[which], at[vertex][primitive])

    give_inputs(m, cells, builtin)
    events: list[Event] = []
    slots = [v for v, _ in variables(stage, enums.StorageClass_Output)]

    def emit(stream: int, mask: Array, vertex: bool) -> None:
        if len(events) >= MOST:
            raise NotInterpreted("too many vertices", stage.name)
        outputs = None
        if vertex:
            outputs = outputs_of(m, {v: m.slots[v].tree for v in slots}, count)
            for v in slots:
                m.slots[v].tree = tainted(m.slots[v].tree, mask)
        events.append(Event(stream, mask & ~m.wild, vertex, outputs))

    m.on_emit = emit
    m.run()
    run.keep(m)
    if m.wild.any():
        run.seen.doubts.append("vertices where control flow is undefined")
    return assembled(run, stage, events, count)


def assembled(run: Running, stage: MachineStage, events: list[Event], count: int) -> Primitives:
    """The vertices in the order of the invocations, and the strips of stream 0."""
    pairs = [np.nonzero(e.mask)[0] for e in events]
    which = np.concatenate([np.full(len(p), n) for n, p in enumerate(pairs)] or [np.zeros(0, int)])
    lanes = np.concatenate(pairs or [np.zeros(0, int)]).astype(int)
    order = np.lexsort((which, lanes))
    which, lanes = which[order].astype(int), lanes[order]
    code = np.array([2 * e.stream + e.vertex for e in events] or [0])[which] if events else lanes
    text = np.asarray(lanes * 16 + code, dtype=np.uint32)
    run.seen.add(stage.name, "emitted vertices and strips", V(text), len(text))
    real = np.array([e.vertex for e in events] or [False])[which] if len(which) else which > 0
    vertices = joined(events, which[real], lanes[real])
    streams = np.array([e.stream for e in events] or [0])
    own = streams[which[real]] if real.any() else np.zeros(0, int)
    for key, value in vertices.captured.items():
        vertices.captured[key] = tainted(value, own != key[2])
    for key2, tree in vertices.builtins.items():
        vertices.builtins[key2] = tainted(tree, own != 0)
    corners = strip_size(stage)
    at: list[tuple[int, ...]] = []
    strip: list[int] = []
    number = 0
    before = -1
    for n in range(len(which)):
        if lanes[n] != before:
            strip, before = [], lanes[n]
        event = events[which[n]]
        if event.stream == 0 and not event.vertex:
            strip = []
        elif event.vertex:
            if event.stream == 0:
                strip.append(number)
                if len(strip) >= corners:
                    at.append(tuple(strip[-corners:]))
            number += 1
    table = np.array(at, dtype=int).reshape(-1, corners).T
    return Primitives(vertices, table, None)


def strip_size(stage: MachineStage) -> int:
    if enums.ExecutionMode_OutputPoints in stage.modes:
        return 1
    return 2 if enums.ExecutionMode_OutputLineStrip in stage.modes else 3


def joined(events: list[Event], which: Array, lanes: Array) -> Outputs:
    """The outputs of chosen emissions side by side."""
    made = Outputs(len(which))
    full = [e.outputs for e in events]
    first = next((o for o in full if o is not None), None)
    if first is None:
        return made
    made.types, made.fine = first.types, first.fine
    for name in ("cells", "builtins", "captured"):
        for key in getattr(first, name):
            trees = [None if o is None else getattr(o, name)[key] for o in full]
            getattr(made, name)[key] = picked(trees, which, lanes, first.count)
    return made


def picked(trees: list[Tree | None], which: Array, lanes: Array, count: int) -> Tree:
    some = next(t for t in trees if t is not None)
    if isinstance(some, list):
        return [
            picked([None if t is None else t[n] for t in trees], which, lanes, count)
            for n in range(len(some))
        ]
    shape = (*some.d.shape[:-1], count)
    d = np.zeros((len(trees), *shape), dtype=some.d.dtype)
    u = np.zeros((len(trees), *shape), dtype=bool)
    for n, tree in enumerate(trees):
        if isinstance(tree, V):
            d[n] = tree.d
            if tree.u is not None:
                u[n] = tree.u
    d, u = np.moveaxis(d, 0, -1), np.moveaxis(u, 0, -1)
    return V(d[..., lanes, which], u[..., lanes, which])
