"""What a whole chain of stages asks of the draw: primitives, patches, layers, captured outputs.

Everything is read from the modules; numbers are those of the SPIR-V specification (sections 3.6
"Execution Mode", 3.20 "Decoration", 3.21 "BuiltIn").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spvlink.draw.reflect import (
    BUILTIN,
    FRAGMENT,
    GEOMETRY,
    INPUT,
    MESH,
    OFFSET,
    OUTPUT,
    TASK,
    TESS_CONTROL,
    TESS_EVALUATION,
    VERTEX,
    CannotDraw,
    ReadStage,
)

# VkPrimitiveTopology
POINT_LIST, LINE_LIST, TRIANGLE_LIST, LINE_ADJACENCY, TRIANGLE_ADJACENCY, PATCH_LIST = (
    0, 1, 3, 6, 8, 10,
)  # fmt: skip
_GEOMETRY_INPUTS = {
    19: POINT_LIST, 20: LINE_LIST, 21: LINE_ADJACENCY, 22: TRIANGLE_LIST, 23: TRIANGLE_ADJACENCY,
}  # fmt: skip
_GROUPS = {POINT_LIST: 1, LINE_LIST: 2, LINE_ADJACENCY: 4, TRIANGLE_LIST: 3, TRIANGLE_ADJACENCY: 6}

# Execution modes
POINT_MODE, XFB, TRIANGLES, QUADS, ISOLINES, OUTPUT_VERTICES = 10, 11, 22, 24, 25, 26
_THIN_MODES = {27, 28, 5269}  # OutputPoints, OutputLineStrip, OutputLinesEXT

POSITION, POINT_SIZE, LAYER, VIEWPORT_INDEX = 0, 1, 9, 10
_STREAM, _XFB_BUFFER, _XFB_STRIDE = 29, 36, 37

_ACCESS_CHAINS = (65, 66)
_MAX_PATCH = 32
_ORDER = (VERTEX, TESS_CONTROL, TESS_EVALUATION, GEOMETRY, TASK, MESH, FRAGMENT)


@dataclass(frozen=True)
class Capture:
    """One transform feedback buffer: stride in bytes, and the vertex stream that fills it."""

    buffer: int
    stride: int
    stream: int


def in_order(stages: Sequence[ReadStage]) -> list[ReadStage]:
    """The stages as the pipeline runs them. CannotDraw if they are not one pipeline."""
    ordered = sorted(stages, key=lambda stage: _ORDER.index(stage.model))
    models = [stage.model for stage in ordered]
    if len(set(models)) < len(models):
        raise CannotDraw("two stages of one kind")
    if (TESS_CONTROL in models) != (TESS_EVALUATION in models):
        raise CannotDraw("one tessellation stage without the other")
    if MESH in models:
        if set(models) & {VERTEX, TESS_CONTROL, TESS_EVALUATION, GEOMETRY}:
            raise CannotDraw("mesh and vertex stages in one pipeline")
    elif VERTEX not in models:
        raise CannotDraw("no vertex shader and no mesh shader")
    return ordered


def find(stages: Sequence[ReadStage], model: int) -> ReadStage | None:
    return next((stage for stage in stages if stage.model == model), None)


def last_before_rasterizer(stages: Sequence[ReadStage]) -> ReadStage:
    """The stage that feeds clipping and transform feedback."""
    return [stage for stage in stages if stage.model != FRAGMENT][-1]


def tessellation_mode(stages: Sequence[ReadStage], modes: set[int]) -> bool:
    """Whether either tessellation stage declares one of the modes (HLSL says it in the first)."""
    tessellation = [s for s in stages if s.model in (TESS_CONTROL, TESS_EVALUATION)]
    return any(stage.modes.keys() & modes for stage in tessellation)


def topology(stages: Sequence[ReadStage]) -> int:
    """The VkPrimitiveTopology that the first stage needs."""
    if find(stages, TESS_EVALUATION):
        return PATCH_LIST
    geometry = find(stages, GEOMETRY)
    if geometry is not None:
        return next((t for m, t in _GEOMETRY_INPUTS.items() if m in geometry.modes), TRIANGLE_LIST)
    vertex = find(stages, VERTEX)
    if vertex is not None and XFB in vertex.modes and not find(stages, FRAGMENT):
        if POINT_SIZE in written_builtins(vertex):
            return POINT_LIST
    return TRIANGLE_LIST


def group(stages: Sequence[ReadStage]) -> int:
    """Vertices of one input primitive."""
    kind = topology(stages)
    return patch_vertices(stages) if kind == PATCH_LIST else _GROUPS[kind]


def patch_vertices(stages: Sequence[ReadStage]) -> int:
    """patchControlPoints: at least the output patch, and what the control shader indexes."""
    control = find(stages, TESS_CONTROL)
    if control is None:
        return 3
    sizes = [s.modes[OUTPUT_VERTICES][0] for s in stages if OUTPUT_VERTICES in s.modes
             and s.model in (TESS_CONTROL, TESS_EVALUATION)]  # fmt: skip
    highest = max(sizes, default=3)
    for variable, indices in _accesses(control):
        if control.module.variables[variable][1] == INPUT and indices:
            index = control.module.constants.get(indices[0])
            if index is not None and index < _MAX_PATCH:
                highest = max(highest, index + 1)
    return min(highest, _MAX_PATCH)


def is_thin(stages: Sequence[ReadStage]) -> bool:
    """Whether points or lines are drawn: these cover few pixels."""
    last = last_before_rasterizer(stages)
    if last.model == TESS_EVALUATION:
        return tessellation_mode(stages, {POINT_MODE, ISOLINES})
    if last.model == VERTEX:
        return topology(stages) in (POINT_LIST, LINE_LIST)
    return bool(last.modes.keys() & _THIN_MODES)


def written_builtins(stage: ReadStage) -> set[int]:
    """Built-in outputs that the code names; a block's members only where it reaches for them."""
    builtins: set[int] = set()
    module = stage.module
    reached: dict[int, list[list[int]]] = {}
    for variable, indices in _accesses(stage):
        reached.setdefault(variable, []).append(indices)
    for variable in stage.used:
        if module.variables[variable][1] != OUTPUT:
            continue
        builtin = module.decorations[variable].get(BUILTIN)
        if builtin:
            builtins.add(builtin[0])
            continue
        block = stage.strip_arrays(stage.pointee(variable))[0]
        arrayed = block != stage.pointee(variable)
        for member in range(len(module.types[block][1])):
            builtin = module.member_decorations[block, member].get(BUILTIN)
            if builtin and any(
                len(indices) <= arrayed or module.constants.get(indices[arrayed]) == member
                for indices in reached.get(variable, [[]])
            ):
                builtins.add(builtin[0])
    return builtins


def captures(stages: Sequence[ReadStage]) -> list[Capture]:
    """The transform feedback buffers of the pipeline, by number."""
    stage = last_before_rasterizer(stages)
    if XFB not in stage.modes:
        return []
    module = stage.module
    by_number: dict[int, Capture] = {}
    for variable in stage.interface:
        if module.variables.get(variable, (0, -1))[1] != OUTPUT:
            continue
        whole = module.decorations[variable]
        block = stage.strip_arrays(stage.pointee(variable))[0]
        parts = [whole]
        if module.types[block][0] == 30:
            members = range(len(module.types[block][1]))
            parts = [{**whole, **module.member_decorations[block, m]} for m in members]
        for part in parts:
            if OFFSET in part and _XFB_BUFFER in part and _XFB_STRIDE in part:
                number = part[_XFB_BUFFER][0]
                stream = part.get(_STREAM, [0])[0]
                by_number[number] = Capture(number, part[_XFB_STRIDE][0], stream)
    return [by_number[number] for number in sorted(by_number)]


def _accesses(stage: ReadStage) -> Iterator[tuple[int, list[int]]]:
    """(global variable, index ids) of every access chain in the entry point's call tree."""
    for inst in stage.instructions():
        if inst[0] in _ACCESS_CHAINS and inst[3] in stage.module.variables:
            yield inst[3], inst[4:]
        elif inst[0] in (61, 62):  # a load or store of the whole
            pointer = inst[3] if inst[0] == 61 else inst[1]
            if pointer in stage.module.variables:
                yield pointer, []
