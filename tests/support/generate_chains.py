"""Random pipelines of longer chains: ``make(seed) -> [(stage, glsl), ...]`` in pipeline order.

All that generate.py promises of a pair (valid, defined, bounded) holds for these as well. What
keeps the further stages so:

* control shader: outputs of one's own invocation are written in full before they are read; others'
  only behind the barrier, and nobody writes them any more then; values of the patch and levels are
  written by one invocation;
* evaluation shader: reads vertices that the patch has;
* geometry shader: every output is written in full before every emit and never read after one;
* mesh shader: nothing that was written is read, every vertex and primitive is written;
* task shader: one invocation writes the whole payload.
"""

from __future__ import annotations

import copy
from random import Random

from tests.support.generate import Fragment, Vertex
from tests.support.generate_builtins import woven
from tests.support.generate_interface import (
    Array,
    Interface,
    Struct,
    Type,
    Value,
    Varying,
    is_matrix,
    locations,
    matrix_shape,
    size_of,
)
from tests.support.generate_stages import Control, Evaluation, Geometry, Mesh, Stage, Task

KINDS: tuple[tuple[int, tuple[str, ...], bool], ...] = (  # (weight, stages, captured)
    (6, ("vert", "tesc", "tese", "frag"), False),
    (6, ("vert", "geom", "frag"), False),
    (4, ("vert", "tesc", "tese", "geom", "frag"), False),
    (4, ("mesh", "frag"), False),
    (4, ("task", "mesh", "frag"), False),
    (1, ("vert", "frag"), True),
    (2, ("vert", "geom"), True),
    (1, ("vert", "geom", "frag"), True),
    (2, ("vert", "tesc", "tese"), True),
    (1, ("vert", "tesc", "tese"), False),
    (1, ("vert", "tesc", "tese", "geom"), True),
    (1, ("vert", "tesc", "tese", "geom", "frag"), True),
)
LAST_LOCATION = 11  # with the extra values behind, all limits hold
EXTENSIONS = {
    "16": "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
    "#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require\n",
    "mesh": "#extension GL_EXT_mesh_shader : require\n",
}
WIDE = ("double", "dvec2", "dvec3", "float16_t", "f16vec2", "f16vec4", "int16_t", "u16vec2")


class Extra:
    """A 64-bit or 16-bit value between two stages: expressions see it as 32 bits."""

    def __init__(self, number: int, type: str, location: int, suffix: dict[str, str]) -> None:
        self.number, self.type, self.location, self.suffix = number, type, location, suffix

    @property
    def size(self) -> int:
        return int(self.type[-1]) if self.type[-1].isdigit() and "vec" in self.type else 1

    def declaration(self, side: str) -> str:
        words = "" if self.type[0] == "f" else "flat "
        name = f"{side}Wide{self.number}{self.suffix[side]}"
        return f"layout(location = {self.location}) {words}{side} {self.type} {name};"

    def name(self, side: str, index: str) -> str:
        return f"{side}Wide{self.number}" + (index if self.suffix[side] else "")

    def made(self, float_: str) -> str:
        """A value of the type from a bounded float expression."""
        if self.type[0] == "d":
            return f"{self.type}({float_}) / 3.0LF"
        if self.type[0] == "f":
            return f"{self.type}({float_})"
        return f"{self.type}(int(({float_}) * 50.0))"

    def seen(self, side: str, index: str) -> Value:
        """The value as expressions may use it."""
        name = self.name(side, index)
        if self.type == "double":
            return Value(f"unpackDouble2x32({name})", "uvec2")
        if self.type[0] == "d":
            return Value(f"vec{self.size}({name})", f"vec{self.size}")
        if self.type[0] == "f":
            return Value(f"{'vec' + str(self.size) if self.size > 1 else 'float'}({name})",
                         f"vec{self.size}" if self.size > 1 else "float")  # fmt: skip
        if self.size > 1:
            return Value(f"uvec{self.size}({name})", f"uvec{self.size}")
        return Value(f"int({name})", "int")


class Border:
    """What lies between two stages. ``interface`` has the varyings, ``extras`` other widths."""

    def __init__(self, r: Random, producer: str, consumer: str, before: Border | None) -> None:
        self.producer, self.consumer = producer, consumer
        self.interface = self._interface(r, before)
        for varying in self.interface.varyings:
            varying.written = True
            varying.suffix = {
                "out": "[]" if producer in ("tesc", "mesh") else "",
                "in": "[]" if consumer in ("tesc", "tese", "geom") else "",
            }
            varying.prefix = varying.capture = ""
            varying.instance = varying.instance or "[]" in varying.suffix.values()
        self._special(r)
        self.extras: list[Extra] = []
        next = max((v.location + locations(v.type) for v in self.interface.varyings), default=0)
        if consumer and r.random() < 0.3:
            for number in range(r.randint(1, 2)):
                suffix = {
                    "out": "[]" if producer in ("tesc", "mesh") else "",
                    "in": "[]" if consumer in ("tesc", "tese", "geom") else "",
                }
                self.extras.append(Extra(number, r.choice(WIDE), next, suffix))
                next += 2 if self.extras[-1].type == "dvec3" else 1

    @staticmethod
    def _interface(r: Random, before: Border | None) -> Interface:
        """A new one, or what the border before has, perhaps with less of it."""
        if before is not None and r.random() < 0.6:
            interface = copy.copy(before.interface)
            interface.varyings = [copy.copy(v) for v in interface.varyings if r.random() < 0.9]
            return interface
        interface = Interface(r)
        end = LAST_LOCATION + 1
        interface.varyings = [
            v for v in interface.varyings if v.location + locations(v.type) <= end
        ]
        mark = r.randrange(10**6)
        for struct in interface.structs:
            struct.name += f"_{mark}"
        return interface

    def _special(self, r: Random) -> None:
        """Some values become the patch's or the primitive's."""
        special = {"tesc": "patch ", "mesh": "perprimitiveEXT "}.get(self.producer)
        if special is None:
            return
        taken: dict[int, int] = {}
        for varying in self.interface.varyings:
            for location in range(varying.location, varying.location + locations(varying.type)):
                taken[location] = taken.get(location, 0) + 1
        for varying in self.interface.varyings:
            if varying.block or taken[varying.location] > 1 or r.random() > 0.35:
                continue
            varying.prefix = special
            if special == "patch ":
                varying.suffix = {"out": "", "in": ""}
            if varying.qualifier != "flat":
                varying.qualifier = ""

    def capture(self, r: Random) -> None:
        """Transform feedback keeps some of the outputs; at least one if there is one."""
        ends = [0, 0]
        chosen: list[tuple[Varying, int, int]] = []
        for varying in self.interface.varyings:
            size = _captured_size(varying.type)
            if varying.block or size is None or (chosen and r.random() < 0.4):
                continue
            buffer = r.randrange(2)
            ends[buffer] += 4 * r.choice((0, 0, 0, 1))
            chosen.append((varying, buffer, ends[buffer]))
            ends[buffer] += size
        strides = [end + 4 * r.choice((0, 0, 2)) for end in ends]
        for varying, buffer, offset in chosen:
            varying.capture = f", xfb_buffer = {buffer}, xfb_offset = {offset}"
            varying.capture += f", xfb_stride = {strides[buffer]}"


def _captured_size(type: Type) -> int | None:
    """Bytes, or None for what is not captured here."""
    if isinstance(type, Struct):
        return None
    if isinstance(type, Array):
        inner = _captured_size(type.element)
        return None if inner is None else type.length * inner
    if is_matrix(type):
        columns, rows = matrix_shape(type)
        return 4 * columns * rows
    return 4 * size_of(type)


class ChainVertex(Vertex):
    """A vertex shader with other widths, and a point size where points are drawn."""

    def __init__(self, r: Random, border: Border, points: bool) -> None:
        super().__init__(r, border.interface)
        self.border, self.points = border, points

    def position(self) -> None:
        super().position()
        if self.points:
            self.put("gl_PointSize = 3.0;")
        for extra in self.border.extras:
            self.put(f"{extra.name('out', '')} = {extra.made(self.bounded('float', 1))};")


class ChainFragment(Fragment):
    """A fragment shader behind any stage: what belongs to a primitive is not interpolated."""

    def __init__(self, r: Random, border: Border) -> None:
        super().__init__(r, border.interface)
        own = {v.name("in") for v in border.interface.varyings if v.prefix}
        self.smooth = [value for value in self.smooth if value.expr not in own]
        self.live += [e.seen("in", "") for e in border.extras if r.random() < 0.8]


def make(seed: int) -> list[tuple[str, str]]:
    """The stages of one pipeline."""
    r = Random(seed)
    kinds = [(stages, captured) for weight, stages, captured in KINDS for _ in range(weight)]
    stages, captured = r.choice(kinds)
    borders: list[Border] = []
    for producer, consumer in zip(stages, (*stages[1:], "")):
        if producer not in ("task", "frag"):
            borders.append(Border(r, producer, consumer, borders[-1] if borders else None))
    if captured:
        borders[-1].capture(r)
    return woven(seed, _texts(r, stages, borders, captured))


def _texts(
    r: Random, stages: tuple[str, ...], borders: list[Border], captured: bool
) -> list[tuple[str, str]]:
    """The GLSL of each stage; ``borders[i]`` is behind the i-th stage that has outputs."""
    found: list[tuple[str, str]] = []
    shape = Shape(r, stages)
    payload = Task.payload(r) if "task" in stages else []
    after: dict[str, Border] = {border.producer: border for border in borders}
    before: dict[str, Border] = {border.consumer: border for border in borders if border.consumer}
    for name in stages:
        ins, outs = before.get(name), after.get(name)
        if name == "vert":
            assert outs is not None
            points = captured and stages == ("vert",)
            text = ChainVertex(r, outs, points).text()
        elif name == "frag":
            assert ins is not None
            text = ChainFragment(r, ins).text()
        else:
            text = _stage(r, name, ins, outs, shape, payload).text()
        found.append((name, _complete(text, name, ins, outs, "mesh" in stages)))
    return found


class Shape:
    """What stages must agree on: vertices of a patch, the domain, what a geometry shader gets."""

    def __init__(self, r: Random, stages: tuple[str, ...]) -> None:
        self.vertices = r.choice((2, 3, 3, 3, 4, 4))
        self.domain = r.choice(("triangles", "triangles", "quads", "isolines"))
        self.point_mode = r.random() < 0.15
        self.last = "geom" not in stages
        if "tese" in stages:
            self.input = "lines" if self.domain == "isolines" else "triangles"
            if self.point_mode:
                self.input = "points"
        else:
            self.input = r.choice(
                ("points", "lines", "triangles", "triangles", "lines_adjacency",
                 "triangles_adjacency")
            )  # fmt: skip


def _stage(
    r: Random, name: str, ins: Border | None, outs: Border | None, shape: Shape,
    payload: list[tuple[str, str]],
) -> Stage:  # fmt: skip
    if name == "tesc":
        return Control(r, ins, outs, shape)
    if name == "tese":
        return Evaluation(r, ins, outs, shape)
    if name == "geom":
        return Geometry(r, ins, outs, shape)
    if name == "mesh":
        return Mesh(r, ins, outs, payload)
    return Task(r, ins, outs, payload)


def _complete(text: str, name: str, ins: Border | None, outs: Border | None, mesh: bool) -> str:
    """Extensions and the declarations of other widths, behind the version line."""
    lines = EXTENSIONS["mesh"] if mesh and name != "vert" else ""
    extras = [e for border in (ins, outs) if border is not None for e in border.extras]
    if any("16" in extra.type for extra in extras):
        lines += EXTENSIONS["16"]
    for side, border in (("in", ins), ("out", outs)):
        if border is not None:
            lines += "".join(f"{extra.declaration(side)}\n" for extra in border.extras)
    return text.replace("#version 450\n", "#version 450\n" + lines, 1)
