"""Types of random pipelines and what lies between the two stages; see generate.py."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random


class Struct:
    """A GLSL struct: ``members`` are (type, name)."""

    def __init__(self, name: str, members: list[tuple[Type, str]]) -> None:
        self.name = name
        self.members = members

    def __str__(self) -> str:
        body = " ".join(f"{declare(t, n)};" for t, n in self.members)
        return f"struct {self.name} {{ {body} }};"


class Array:
    """A GLSL array of ``length`` elements."""

    def __init__(self, element: Type, length: int) -> None:
        self.element = element
        self.length = length


Type = str | Struct | Array  # a str is a scalar, vector or matrix type by its GLSL name
UNIFORMS = """layout(set = 0, binding = 0) uniform Scene {
    mat4 view; vec4 tint[4]; mat3 turn; vec3 axis; float gain; ivec4 kind; uvec2 bits;
} scene;
layout(push_constant) uniform Push {
    vec4 shift; vec2 span; float scale; int mode; uint mask;
} push;
"""
UNIFORM_VALUES: list[tuple[str, Type]] = [
    ("scene.view", "mat4"), ("scene.tint", Array("vec4", 4)), ("scene.turn", "mat3"),
    ("scene.axis", "vec3"), ("scene.gain", "float"), ("scene.kind", "ivec4"),
    ("scene.bits", "uvec2"), ("push.shift", "vec4"), ("push.scale", "float"),
    ("push.mode", "int"), ("push.mask", "uint"),
]  # fmt: skip
NEVER = "scene.kind.y > 100"  # false: the harness fills integers with 0 to 3
LANES = "xyzw"
QUALIFIERS = (
    "", "", "", "", "flat", "noperspective", "centroid", "noperspective centroid", "sample",
)  # fmt: skip


def declare(type: Type, name: str) -> str:
    """``float x[3]``, ``Thing t``, ``vec4 v``."""
    if isinstance(type, Array):
        return declare(type.element, f"{name}[{type.length}]")
    return f"{type.name if isinstance(type, Struct) else type} {name}"


def spelled(type: Type) -> str:
    """The type as a constructor or parameter has it."""
    if isinstance(type, Array):
        inner, bracket, rest = spelled(type.element).partition("[")
        return f"{inner}[{type.length}]{bracket}{rest}"
    return type.name if isinstance(type, Struct) else type


def is_matrix(type: Type) -> bool:
    return isinstance(type, str) and type.startswith("mat")


def matrix_shape(type: str) -> tuple[int, int]:
    """(columns, rows)"""
    return int(type[3]), int(type[-1])


def base_of(type: str) -> str:
    return {"v": "float", "i": "int", "u": "uint", "f": "float", "b": "bool", "m": "float"}[type[0]]


def size_of(type: str) -> int:
    return int(type[-1]) if type[-1].isdigit() else 1


def vector(base: str, size: int) -> str:
    return base if size == 1 else {"float": "", "int": "i", "uint": "u"}[base] + f"vec{size}"


def locations(type: Type) -> int:
    if isinstance(type, Array):
        return type.length * locations(type.element)
    if isinstance(type, Struct):
        return sum(locations(t) for t, _ in type.members)
    return matrix_shape(type)[0] if is_matrix(type) else 1


def has_integers(type: Type) -> bool:
    if isinstance(type, Array):
        return has_integers(type.element)
    if isinstance(type, Struct):
        return any(has_integers(t) for t, _ in type.members)
    return base_of(type) != "float"


def paths(type: Type, at: str) -> Iterator[tuple[str, str]]:
    """Every scalar or vector inside, as (expression, type); constant indices."""
    if isinstance(type, Array):
        for i in range(type.length):
            yield from paths(type.element, f"{at}[{i}]")
    elif isinstance(type, Struct):
        for inner, name in type.members:
            yield from paths(inner, f"{at}.{name}")
    elif is_matrix(type):
        columns, rows = matrix_shape(type)
        for i in range(columns):
            yield f"{at}[{i}]", f"vec{rows}"
    else:
        yield at, type


class Value:
    """Something that code may read, and write if ``writable``.

    ``uniform``: the same in all invocations. ``dynamic``: may be indexed by an expression.
    """

    def __init__(
        self, expr: str, type: Type, writable: bool = False, uniform: bool = False,
        dynamic: bool = True,
    ) -> None:  # fmt: skip
        self.expr = expr
        self.type = type
        self.writable = writable
        self.uniform = uniform
        self.dynamic = dynamic


class Varying:
    """One variable or block between the stages."""

    def __init__(self, number: int, location: int, type: Type, qualifier: str) -> None:
        self.number = number
        self.location = location
        self.type = type
        self.qualifier = qualifier
        self.component = 0
        self.block = False
        self.located_members = False
        self.instance = True
        self.written = True
        self.member_qualifiers: list[str] = []
        self.suffix = {"out": "", "in": ""}  # "[]" where a stage sees one for each vertex
        self.prefix = ""  # "patch " or "perprimitiveEXT "
        self.capture = ""  # of an output, for transform feedback
        self.dynamic_out = self.dynamic_in = False

    def name(self, side: str) -> str:
        return f"{side}{self.number}"

    def declaration(self, side: str, qualifiers: bool) -> str:
        """side: "out" or "in"."""
        name = self.name(side) + self.suffix[side]
        place = f"location = {self.location}"
        if self.block:
            return self._block(side, qualifiers, place)
        if side == "out":
            place += self.capture
        if self.component:
            place += f", component = {self.component}"
        words = f"{self.qualifier} " if qualifiers and self.qualifier else ""
        return f"layout({place}) {self.prefix}{words}{side} {declare(self.type, name)};"

    def _block(self, side: str, qualifiers: bool, place: str) -> str:
        assert isinstance(self.type, Struct)
        lines, at = [], self.location
        for (type, name), qualifier in zip(self.type.members, self.member_qualifiers):
            where = f"layout(location = {at}) " if self.located_members else ""
            words = f"{qualifier} " if qualifiers and qualifier else ""
            label = name if self.instance else f"{side}{name}"
            lines.append(f"    {where}{words}{declare(type, label)};")
            at += locations(type)
        head = "" if self.located_members else f"layout({place}) "
        tail = f" {self.name(side)}{self.suffix[side]}" if self.instance else ""
        body = "\n".join(lines)
        return f"{head}{self.prefix}{side} Block{side}{self.number} {{\n{body}\n}}{tail};"

    def roots(self, side: str, index: str = "") -> list[tuple[str, Type]]:
        """The expressions that stand for the whole on that side; index: of a vertex, with []."""
        if not self.suffix[side]:
            index = ""
        if not self.block:
            return [(self.name(side) + index, self.type)]
        assert isinstance(self.type, Struct)
        if self.instance:
            return [(f"{self.name(side)}{index}.{n}", t) for t, n in self.type.members]
        return [(f"{side}{n}", t) for t, n in self.type.members]


class Interface:
    """The random varyings of a pipeline, and the structs that both stages declare."""

    def __init__(self, r: Random) -> None:
        self.r = r
        self.structs: list[Struct] = []
        self.varyings: list[Varying] = []
        self.next = 0
        limit = r.choice((4, 8, 14))
        makers = (self.plain, self.plain, self.plain, self.packed, self.packed, self.matrix,
                  self.array, self.array, self.struct, self.block, self.block)  # fmt: skip
        while self.next < limit and len(self.varyings) < 9:
            self.next += r.choice((0, 0, 0, 0, 1))
            r.choice(makers)()
        while self.varyings and self.next > 15:
            last = self.varyings.pop()
            self.next = last.location
        written = [v for v in self.varyings if not v.component]
        count = len(written) and r.choice((0, 0, 1, 2))
        for varying in self.varyings[len(self.varyings) - count :] if count else ():
            same = [v for v in self.varyings if v.location == varying.location]
            if len(same) == 1:
                varying.written = False
        tail = True  # unwritten Locations stay last
        for varying in reversed(self.varyings):
            tail = tail and not varying.written
            varying.written = not tail

    def numeric(self, floats: bool = False) -> str:
        r = self.r
        base = "float" if floats else r.choice(("float", "float", "float", "int", "uint"))
        return vector(base, r.randint(1, 4))

    def add(self, type: Type, qualifier: str | None = None) -> Varying:
        r = self.r
        if has_integers(type):
            qualifier = "flat"
        elif qualifier is None:
            qualifier = r.choice(QUALIFIERS)
        varying = Varying(len(self.varyings), self.next, type, qualifier)
        varying.dynamic_out, varying.dynamic_in = r.random() < 0.15, r.random() < 0.15
        self.varyings.append(varying)
        self.next += locations(type)
        return varying

    def plain(self) -> None:
        self.add(self.numeric())

    def packed(self) -> None:
        r = self.r
        base, qualifier = r.choice(("float", "float", "int", "uint")), r.choice(QUALIFIERS)
        location, component = self.next, r.choice((0, 0, 1))
        while component < 4:
            size = r.randint(1, min(3, 4 - component))
            varying = self.add(vector(base, size), qualifier)
            varying.location, varying.component = location, component
            component += size + r.choice((0, 0, 1))
        self.next = location + 1

    def matrix(self) -> None:
        self.add(self.r.choice(("mat2", "mat3", "mat4", "mat2x3", "mat3x2", "mat4x2")))

    def array(self) -> None:
        r = self.r
        element: Type = r.choice((self.numeric(), self.numeric(), "mat2"))
        if r.random() < 0.15:
            element = Array(self.numeric(), 2)
        self.add(Array(element, r.randint(2, 4)))

    def new_struct(self, name: str, nested: bool) -> Struct:
        r = self.r
        members: list[tuple[Type, str]] = []
        for i in range(r.randint(1, 3)):
            type: Type = self.numeric(floats=r.random() < 0.5)
            kind = r.random()
            if kind < 0.2:
                type = Array(type, 2)
            elif kind < 0.3:
                type = r.choice(("mat2", "mat3"))
            elif kind < 0.4 and nested and self.structs:
                type = r.choice(self.structs)
            members.append((type, f"m{name}{i}"))
        return Struct(name, members)

    def struct(self) -> None:
        made = self.new_struct(f"S{len(self.structs)}", nested=True)
        self.structs.append(made)
        self.add(Array(made, 2) if self.r.random() < 0.2 else made)

    def block(self) -> None:
        r = self.r
        made = self.new_struct(f"B{len(self.varyings)}", nested=True)
        varying = self.add(made)
        varying.block = True
        varying.located_members = r.random() < 0.4
        varying.instance = r.random() < 0.7
        varying.member_qualifiers = [
            "flat" if has_integers(t) else r.choice(QUALIFIERS) for t, _ in made.members
        ]
