"""Writes a stage for a neighbour that came alone, from the neighbour's interface.

A stage in front writes every input of what it stands before: mostly values that vary from vertex to
vertex, now and then a constant, a value of a uniform buffer or one that it wrote before, as
people's shaders do. A stage behind reads all or some of the outputs and makes a colour of them.
The texts are GLSL; types are those of the neighbour, so that both sides match.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spvlink.draw.reflect import (
    BLOCK,
    BUILTIN,
    COMPONENT,
    GEOMETRY,
    INPUT,
    LOCATION,
    MESH,
    OUTPUT,
    TESS_CONTROL,
    TESS_EVALUATION,
    Numeric,
    ReadStage,
)

_FLAT, _NOPERSPECTIVE, _PATCH, _CENTROID, _SAMPLE, _STREAM = 14, 13, 15, 16, 17, 29
_PER_PRIMITIVE, _PER_VERTEX = 5271, 5285
_CLIP_DISTANCE, _CULL_DISTANCE = 3, 4
_INTERPOLATION = {_NOPERSPECTIVE: "noperspective", _CENTROID: "centroid", _SAMPLE: "sample"}
_OF_MEMBERS = {"flat", *_INTERPOLATION.values()}  # a block says it of each member
_DOMAINS = {22: "triangles", 24: "quads", 25: "isolines"}
_MOST_ELEMENTS = 64  # of one variable; the rest of an array is not written or read
_CONTROL_POINTS = 16  # of a generated control shader for quads and isolines

_VERSION = "#version 460\n"
# What a word of the text asks for; glslang refuses some of them for old versions of SPIR-V.
_EXTENSIONS = (
    (r"[ft]16", "GL_EXT_shader_16bit_storage"),
    (r"[fiut]16", "GL_EXT_shader_explicit_arithmetic_types"),
    (r"int8|[iu]8|int64|[iu]64", "GL_EXT_shader_explicit_arithmetic_types"),
    ("perprimitiveEXT", "GL_EXT_mesh_shader"),
)
_PREFIXES = {
    ("float", 16): ("float16_t", "f16vec"),
    ("float", 32): ("float", "vec"),
    ("float", 64): ("double", "dvec"),
    ("int", 8): ("int8_t", "i8vec"),
    ("int", 16): ("int16_t", "i16vec"),
    ("int", 32): ("int", "ivec"),
    ("int", 64): ("int64_t", "i64vec"),
    ("uint", 8): ("uint8_t", "u8vec"),
    ("uint", 16): ("uint16_t", "u16vec"),
    ("uint", 32): ("uint", "uvec"),
    ("uint", 64): ("uint64_t", "u64vec"),
}
_MATRICES = {16: "f16mat", 32: "mat", 64: "dmat"}


def _headed(text: str) -> str:
    """With the version and the extensions that its types need."""
    names = dict.fromkeys(name for word, name in _EXTENSIONS if re.search(word, text))
    return _VERSION + "".join(f"#extension {name} : enable\n" for name in names) + text


class NoPartner(Exception):
    """GLSL cannot say what this interface is; the message says why."""


@dataclass
class Variable:
    """One user variable of an interface, the array over vertices taken off."""

    name: str
    type_id: int
    location: int
    component: int
    words: set[int]  # decorations, of members as well
    block: bool


def variables(stage: ReadStage, storage: int) -> list[Variable]:
    """The user variables of one side, by Location. Raises NoPartner."""
    module = stage.module
    found = []
    for number, variable in enumerate(dict.fromkeys(stage.interface)):
        if module.variables.get(variable, (0, -1))[1] != storage:
            continue
        decorations = module.decorations[variable]
        type_id = stage.pointee(variable)
        inner = stage.strip_arrays(type_id)[0]
        struct = module.types[inner][0] == 30
        members = [
            module.member_decorations[inner, m] for m in range(len(module.types[inner][1]))
        ] if struct else []  # fmt: skip
        if BUILTIN in decorations or any(BUILTIN in m for m in members):
            continue
        words = set(decorations).union(*members)
        if _is_arrayed(stage.model, storage, words):
            type_id = module.types[type_id][1][0]
        locations = [m[LOCATION][0] for m in members if LOCATION in m]
        if LOCATION not in decorations and not locations:
            raise NoPartner("a variable without Location")
        found.append(
            Variable(
                f"x{number}",
                type_id,
                decorations.get(LOCATION, locations)[0],
                decorations.get(COMPONENT, [0])[0],
                words,
                struct and BLOCK in module.decorations[inner] and inner == type_id,
            )
        )
        if inner != type_id and struct and BLOCK in module.decorations[inner]:
            raise NoPartner("an array of blocks")
    return sorted(found, key=lambda v: (v.location, v.component))


def _is_arrayed(model: int, storage: int, words: set[int]) -> bool:
    if _PATCH in words:
        return False
    if storage == INPUT:
        return model in (TESS_CONTROL, TESS_EVALUATION, GEOMETRY) or _PER_VERTEX in words
    return model in (TESS_CONTROL, MESH)


class _Text:
    """GLSL of types and declarations, with the structs they need."""

    def __init__(self, stage: ReadStage) -> None:
        self.stage = stage
        self.structs: dict[int, str] = {}
        self.lines: list[str] = []

    def of(self, type_id: int) -> tuple[str, str]:
        """('vec3', '[2]')"""
        module = self.stage.module
        op, args = module.types[type_id]
        if op == 28:
            base, suffix = self.of(args[0])
            return base, f"[{module.constants.get(args[1], 1)}]{suffix}"
        if op == 30:
            if type_id not in self.structs:
                body = " ".join(self.member(type_id, m) for m in range(len(args)))
                self.structs[type_id] = f"S{len(self.structs)}"
                self.lines.append(f"struct {self.structs[type_id]} {{ {body} }};")
            return self.structs[type_id], ""
        if op == 24:
            columns, rows = self.stage.matrix_shape(type_id)
            number = self.stage.numeric(args[0])
            assert number is not None
            return f"{_MATRICES[number.width]}{columns}x{rows}", ""
        number = self.stage.numeric(type_id)
        if number is None or (number.kind, number.width) not in _PREFIXES:
            raise NoPartner(f"a type of opcode {op} or width")
        scalar, vector = _PREFIXES[number.kind, number.width]
        return (scalar if number.count == 1 else f"{vector}{number.count}"), ""

    def member(self, struct: int, index: int, way: str = "", layout: bool = False) -> str:
        module = self.stage.module
        base, suffix = self.of(module.types[struct][1][index])
        words = module.member_decorations[struct, index]
        front = ""
        if layout and LOCATION in words:
            front = _layout(words[LOCATION][0], words.get(COMPONENT, [0])[0])
        return f"{front}{way}{base} m{index}{suffix};"

    def declare(self, v: Variable, way: str, array: str = "") -> None:
        """``way``: 'in', 'flat in', 'patch out' ..."""
        place = _layout(v.location, v.component)
        if not v.block:
            base, suffix = self.of(v.type_id)
            self.lines.append(f"{place}{way} {base} {v.name}{array}{suffix};")
            return
        words = way.split()
        each = "".join(f"{word} " for word in words if word in _OF_MEMBERS)
        way = " ".join(word for word in words if word not in _OF_MEMBERS)
        members = range(len(self.stage.module.types[v.type_id][1]))
        own = any(LOCATION in self.stage.module.member_decorations[v.type_id, m] for m in members)
        body = " ".join(self.member(v.type_id, m, each, True) for m in members)
        front = "" if own else place
        self.lines.append(f"{front}{way} B{v.name} {{ {body} }} {v.name}{array};")

    def leaves(self, type_id: int, path: str) -> Iterator[tuple[str, Numeric]]:
        """Every scalar or vector of a variable, with its expression."""
        op, args = self.stage.module.types[type_id]
        number = self.stage.numeric(type_id)
        if number is not None:
            yield path, number
        elif op == 30:
            for index, inner in enumerate(args):
                yield from self.leaves(inner, f"{path}.m{index}")
        else:
            count = args[1] if op == 24 else self.stage.module.constants.get(args[1], 1)
            for index in range(min(count, _MOST_ELEMENTS)):
                yield from self.leaves(args[0], f"{path}[{index}]")

    def has_integers(self, type_id: int) -> bool:
        """Or doubles: what is not interpolated."""
        return any(n.kind != "float" or n.width == 64 for _, n in self.leaves(type_id, ""))


def _layout(location: int, component: int) -> str:
    where = f", component = {component}" if component else ""
    return f"layout(location = {location}{where}) "


# --- in front ---


def before(stage: ReadStage, model: int, r: random.Random) -> str:
    """GLSL of a vertex or control shader that writes what ``stage`` reads. Raises NoPartner."""
    text = _Text(stage)
    control = model == TESS_CONTROL
    body: list[str] = []
    values = _Values(r)
    for v in variables(stage, INPUT):
        if _PER_PRIMITIVE in v.words:
            raise NoPartner("a per-primitive input needs a mesh shader")
        patch = _PATCH in v.words
        flat = "flat " if not control and _FLAT in v.words else ""
        array = "[]" if control and not patch else ""
        text.declare(v, "patch out" if patch else f"{flat}out", array)
        path = v.name + ("[gl_InvocationID]" if array else "")
        for leaf, number in text.leaves(v.type_id, path):
            body.append(f"    {leaf} = {values.vector(number)};")
    for name, length in _distances(stage):
        if not control:
            text.lines.append(f"out float {name}[{length}];")
            body += [f"    {name}[{i}] = 1.5 + a.y * 0.25;" for i in range(length)]
    template = _CONTROL if control else _VERTEX
    filled = template.format(
        declarations="\n".join(text.lines),
        body="\n".join(body),
        points=3 if 22 in stage.modes else _CONTROL_POINTS,
    )
    return _headed(filled)


_UNIFORM = "layout(set = 0, binding = 97) uniform U { vec4 u[4]; };"
_VERTEX = (
    "layout(location = 0) in vec4 position;\nlayout(location = 1) in vec4 more;\n"
    + _UNIFORM.replace("{", "{{").replace("}", "}}")
    + """
{declarations}
void main() {{
    vec4 a = position, b = more;
    gl_Position = position;
{body}
}}
"""
)
_CONTROL = (
    "layout(vertices = {points}) out;\n"
    + _UNIFORM.replace("{", "{{").replace("}", "}}")
    + """
{declarations}
void main() {{
    vec4 a = gl_in[gl_InvocationID % 3].gl_Position, b = a.yxzw * 0.75 + 0.125;
    gl_out[gl_InvocationID].gl_Position = a;
    gl_TessLevelOuter = float[](3.0, 2.0, 3.0, 2.0);
    gl_TessLevelInner = float[](2.0, 3.0);
{body}
}}
"""
)


class _Values:
    """Expressions of a vec4 ``a`` (a position), a vec4 ``b`` and a vec4 array ``u``."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.written: list[str] = []

    def vector(self, number: Numeric) -> str:
        scalar, vector = _PREFIXES[number.kind, number.width]
        parts = [self.scalar(number.kind, scalar) for _ in range(number.count)]
        return parts[0] if number.count == 1 else f"{vector}{number.count}({', '.join(parts)})"

    def scalar(self, kind: str, name: str) -> str:
        r = self.r
        lane, other = r.choice("xyzw"), r.choice("xy")
        if kind != "float":  # small: an index into something, as a rule
            return r.choice((
                f"{name}(int(abs(a.{other}) * 5.0) & 3)", f"{name}(int(abs(b.{lane}) * 7.0) & 1)",
                f"{name}({r.randrange(3)})", f"{name}(gl_InstanceIndex_ & 1)",
            )).replace("gl_InstanceIndex_", "int(abs(a.x * 3.0))")  # fmt: skip
        if self.written and r.random() < 0.08:
            return f"{name}({r.choice(self.written)})"
        forms = (
            f"a.{other} * {r.choice((0.5, 0.75, 1.0, 2.0))} + {r.choice((0.0, 0.25, 0.5))}",
            f"b.{lane}",
            f"sin(a.{other} * {r.randint(1, 5)}.0 + b.{lane})",
            f"a.{other} * b.{lane} + u[{r.randrange(4)}].{lane}",
            f"fract(b.{lane} * 3.0) * a.{other}",
        )
        kind_of = r.random()
        if kind_of < 0.08:
            value = r.choice(("0.0", "1.0", "0.5", "0.25"))
        elif kind_of < 0.14:
            value = f"u[{r.randrange(4)}].{lane}"
        else:
            value = r.choice(forms)
            self.written.append(f"({value})")
        return value if name == "float" else f"{name}({value})"


def _distances(stage: ReadStage) -> Iterator[tuple[str, int]]:
    """Clip and cull distances that a stage reads, with how many there are."""
    module = stage.module
    names = {_CLIP_DISTANCE: "gl_ClipDistance", _CULL_DISTANCE: "gl_CullDistance"}
    for variable in stage.interface:
        if module.variables.get(variable, (0, -1))[1] != INPUT or variable not in stage.used:
            continue
        pointee = stage.pointee(variable)
        inner = stage.strip_arrays(pointee)[0]
        found = [(module.decorations[variable].get(BUILTIN), pointee)]
        if module.types[inner][0] == 30:
            for member, type_id in enumerate(module.types[inner][1]):
                words = module.member_decorations[inner, member].get(BUILTIN)
                found.append((words, type_id))
        for words, type_id in found:
            if words and words[0] in names and module.types[type_id][0] == 28:
                yield names[words[0]], module.constants.get(module.types[type_id][1][1], 1)


# --- behind ---


def after(stage: ReadStage, model: int, r: random.Random) -> str:
    """GLSL of a fragment or evaluation shader that reads what ``stage`` writes: all of it, or about
    two thirds. Raises NoPartner.
    """
    text = _Text(stage)
    every = r.random() < 0.5
    flat = {v.location: r.random() < 0.1 for v in variables(stage, OUTPUT)}
    body: list[str] = []
    taken = 0
    evaluation = model == TESS_EVALUATION
    for v in variables(stage, OUTPUT):
        if v.words & {_STREAM} or not (every or r.random() < 0.67):
            continue
        patch, whole = _PATCH in v.words, _PER_PRIMITIVE in v.words
        way = "patch in" if patch else "perprimitiveEXT in" if whole else "in"
        if not evaluation:
            way = f"{_interpolation(text, v, flat[v.location])}{way}"
        array = "[]" if evaluation and not patch else ""
        text.declare(v, way, array)
        for index in range(_points(stage) if array else 1):
            path = v.name + (f"[{index}]" if array else "")
            for leaf, number in text.leaves(v.type_id, path):
                body.append(f"    {_read(leaf, number, taken, r)}")
                taken += 1
    modes = [word for mode, word in _DOMAINS.items() if mode in stage.modes]
    template = _EVALUATION if evaluation else _FRAGMENT
    filled = template.format(
        declarations="\n".join(text.lines),
        body="\n".join(body),
        domain=modes[0] if modes else "triangles",
    )
    return _headed(filled)


_FRAGMENT = """{declarations}
layout(location = 0) out vec4 color;
void main() {{
    vec4 c = vec4(0.25, 0.5, gl_FragCoord.x * 0.01, 1.0);
{body}
    color = c;
}}
"""
_EVALUATION = """layout({domain}) in;
{declarations}
layout(location = 0) out vec4 color;
void main() {{
    vec4 c = vec4(0.25, 0.5, gl_TessCoord.x, 1.0);
{body}
    color = c;
    gl_Position = vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.5, 1.0);
}}
"""


def _points(stage: ReadStage) -> int:
    """Vertices of a control shader's output patch, at most three of which are looked at."""
    vertices: list[int] = stage.modes.get(26, [1])
    return min(vertices[0], 3)


def _interpolation(text: _Text, v: Variable, flat: bool) -> str:
    if _PER_PRIMITIVE in v.words:
        return "flat " if text.has_integers(v.type_id) else ""
    if flat or _FLAT in v.words or text.has_integers(v.type_id):
        return "flat "
    return "".join(f"{word} " for at, word in _INTERPOLATION.items() if at in v.words)


def _read(leaf: str, number: Numeric, taken: int, r: random.Random) -> str:
    """A statement that makes a part of the colour ``c`` of a scalar or vector."""
    lane = "xyzw"[taken % 4]
    if number.count == 1:
        value = f"float({leaf})"
    elif r.random() < 0.5:
        wide = f"vec{number.count}({leaf})"
        weights = ", ".join(f"{0.5 + 0.25 * i}" for i in range(number.count))
        value = f"dot({wide}, vec{number.count}({weights}))"
    else:
        value = f"float({leaf}.{r.choice('xyzw'[: number.count])})"
    if r.random() < 0.15:
        value = f"sin({value})"
    return f"c.{lane} = c.{lane} * 0.5 + {value};"
