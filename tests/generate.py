"""Random pipelines: ``make(seed) -> (vertex_glsl, fragment_glsl)``, always the same pair for a seed.

The pair is valid GLSL 450 for Vulkan and has defined results, so that two drawings of it may be
compared bit for bit. What keeps it so:

* numbers stay bounded: whatever is stored was clamped, folded into [0, 1) or masked before;
  nothing divides by zero, roots and powers get positive bases, so there is no NaN;
* all locals, parameters and outputs are written in full before they are read or changed in part;
* indices are masked or clamped, loops have a counter;
* derivatives and implicit-LOD sampling stand in uniform control flow, before any discard;
* varyings that are never written have the last Locations (a driver that mixes them up with others
  then has nothing to mix up), and are read only under a condition that is false at run time,
  which no linker knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
layout(push_constant) uniform Push { vec4 shift; vec2 span; float scale; int mode; uint mask; } push;
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
        return f"{spelled(type.element)}[{type.length}]"
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
        self.dynamic_out = self.dynamic_in = False

    def name(self, side: str) -> str:
        return f"{side}{self.number}"

    def declaration(self, side: str, qualifiers: bool) -> str:
        """side: "out" or "in"."""
        name = self.name(side)
        place = f"location = {self.location}"
        if self.block:
            return self._block(side, qualifiers, place)
        if self.component:
            place += f", component = {self.component}"
        words = f"{self.qualifier} " if qualifiers and self.qualifier else ""
        return f"layout({place}) {words}{side} {declare(self.type, name)};"

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
        tail = f" {self.name(side)}" if self.instance else ""
        return f"{head}{side} Block{side}{self.number} {{\n" + "\n".join(lines) + f"\n}}{tail};"

    def roots(self, side: str) -> list[tuple[str, Type]]:
        """The expressions that stand for the whole on that side."""
        if not self.block:
            return [(self.name(side), self.type)]
        assert isinstance(self.type, Struct)
        if self.instance:
            return [(f"{self.name(side)}.{n}", t) for t, n in self.type.members]
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


class Function:
    """A helper: ``parameters`` are (direction, type)."""

    def __init__(self, name: str, result: str, parameters: list[tuple[str, Type]]) -> None:
        self.name = name
        self.result = result
        self.parameters = parameters


class Body:
    """Writes statements and expressions of one shader."""

    def __init__(self, r: Random, structs: list[Struct]) -> None:
        self.r = r
        self.structs = structs
        self.lines: list[str] = []
        self.depth = 0
        self.scope: list[Value] = []
        self.functions: list[Function] = []
        self.counter = 0
        self.loops = 0
        self.calls = 0
        self.leave: Callable[[], str] | None = None  # a return statement that may stand here
        self.breakable = False
        self.extra: list[Callable[[], None]] = []  # kinds of statement of this stage alone

    # -- text ------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self, stem: str = "t") -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    @contextmanager
    def braces(self, head: str, tail: str = "}") -> Iterator[None]:
        self.put(f"{head} {{")
        self.depth += 1
        kept = len(self.scope)
        yield
        del self.scope[kept:]
        self.depth -= 1
        self.put(tail)

    # -- values ----------------------------------------------------------------------------

    def literal(self, type: str) -> str:
        r = self.r
        if is_matrix(type):
            return f"{type}({r.choice((1.0, 0.5, -0.75))})"
        base, size = base_of(type), size_of(type)
        words = []
        for _ in range(size if r.random() < 0.6 else 1):
            if base == "float":
                words.append(r.choice(("0.0", "1.0", "0.5", f"{r.uniform(-2, 2):.3f}")))
            elif base == "int":
                words.append(str(r.choice((0, 1, -1, r.randint(-99, 99)))))
            else:
                words.append(f"{r.choice((0, 1, r.randint(0, 999)))}u")
        return words[0] if size == 1 else f"{type}({', '.join(words)})"

    def descend(self, value: Value, uniform: bool) -> tuple[str, str]:
        """Some scalar, vector or matrix inside of a value, as (expression, type)."""
        expr, type = value.expr, value.type
        while not isinstance(type, str) or (is_matrix(type) and self.r.random() < 0.7):
            if isinstance(type, Struct):
                type, name = self.r.choice(type.members)
                expr += f".{name}"
                continue
            length = type.length if isinstance(type, Array) else matrix_shape(type)[0]
            expr += f"[{self.index(length, value.dynamic, uniform)}]"
            type = type.element if isinstance(type, Array) else f"vec{matrix_shape(type)[1]}"
        return expr, type

    def index(self, length: int, dynamic: bool, uniform: bool) -> str:
        r = self.r
        if not dynamic or r.random() < 0.6:
            return str(r.randrange(length))
        inner = self.leaf("int", uniform)
        if length in (2, 4):
            return f"{inner} & {length - 1}"
        return r.choice((f"clamp({inner}, 0, {length - 1})", f"uint({inner}) % {length}u"))

    def leaf(self, type: str, uniform: bool = False) -> str:
        r = self.r
        found = [v for v in self.scope if v.uniform or not uniform]
        if not found or r.random() < 0.1:
            return self.literal(type)
        local = [v for v in found if not v.uniform]
        expr, have = self.descend(r.choice(local if local and r.random() < 0.75 else found), uniform)
        return self.convert(expr, have, type)

    def convert(self, expr: str, have: str, want: str) -> str:
        """The bounded value of another type."""
        if have == want:
            return expr
        r = self.r
        if is_matrix(want):
            columns, rows = matrix_shape(want)
            one = self.convert(expr, have, f"vec{rows}")
            rest = [self.literal(f"vec{rows}") for _ in range(columns - 1)]
            return f"{want}({', '.join([one, *rest])})"
        if is_matrix(have):
            expr, have = f"{expr}[{r.randrange(matrix_shape(have)[0])}]", f"vec{have[-1]}"
        a, b, n = base_of(have), base_of(want), size_of(want)
        m = size_of(have)
        if m > 1 and (m != n or r.random() < 0.3):
            expr += "." + "".join(r.choice(LANES[:m]) for _ in range(n))
        elif m == 1 and n > 1:
            expr = f"{vector(a, n)}({expr})"
        if a == b:
            return expr
        target = vector(b, n)
        if a == "float":
            low, high = ("-64.0", "64.0") if b == "int" else ("0.0", "64.0")
            return f"{target}(clamp({expr}, {low}, {high}))"
        if b == "float":
            mask = "255" if a == "int" else "255u"
            return f"({target}({expr} & {mask}) * 0.0078125)"
        return f"{target}({expr})"

    # -- expressions -----------------------------------------------------------------------

    def expr(self, type: str, depth: int = 3, uniform: bool = False) -> str:
        if is_matrix(type):
            return self.matrix(type, depth, uniform)
        if depth <= 0 or self.r.random() < 0.15:
            return self.leaf(type, uniform)
        if not uniform and self.calls < 5 and self.loops == 0 and self.r.random() < 0.08:
            call = self.call(type)
            if call is not None:
                return call
        if base_of(type) == "float":
            return self.floating(type, depth - 1, uniform)
        return self.integral(type, depth - 1, uniform)

    def matrix(self, type: str, depth: int, uniform: bool) -> str:
        columns, rows = matrix_shape(type)
        same = [v.expr for v in self.scope if v.type == type and (v.uniform or not uniform)]
        if same and self.r.random() < 0.5:
            return f"({self.r.choice(same)} * {self.expr('float', 0, uniform)})"
        words = [self.bounded(f"vec{rows}", min(depth, 1), uniform) for _ in range(columns)]
        return f"{type}({', '.join(words)})"

    def floating(self, t: str, d: int, u: bool) -> str:
        r, n = self.r, size_of(t)
        a = self.expr(t, d, u)
        kind = r.randrange(22)
        if kind < 6:
            return f"({a} {r.choice('+-*')} {self.expr(t, d, u)})"
        if kind < 8:
            return f"{r.choice(('abs', 'fract', 'floor', 'sin', 'cos', 'trunc', 'sign'))}({a})"
        if kind == 8:
            return f"{r.choice(('min', 'max', 'step'))}({a}, {self.expr(t, d, u)})"
        if kind == 9:
            return f"mix({a}, {self.expr(t, d, u)}, clamp({self.expr(t, 0, u)}, 0.0, 1.0))"
        if kind == 10:
            return f"clamp({a}, -1.0, {r.choice(('1.0', '0.25'))})"
        if kind == 11:
            return f"({a} / (abs({self.expr(t, d, u)}) + 0.5))"
        if kind == 12:
            return r.choice(
                (f"sqrt(abs({a}))", f"pow(abs({a}) + 0.125, {t}(1.5))", f"inversesqrt(abs({a}) + 0.5)")
            )
        if kind == 13:
            return f"({self.condition(d, u)} ? {a} : {self.expr(t, d, u)})"
        if kind == 14:
            return f"-({a})"
        if kind == 15 and n == 3:
            return f"cross({a}, {self.expr(t, d, u)})"
        if kind in (15, 16):
            m = r.randint(2, 4)
            one, two = self.bounded(f"vec{m}", d, u), self.bounded(f"vec{m}", d, u)
            scalar = r.choice((f"dot({one}, {two})", f"length({one})", f"distance({one}, {two})"))
            return scalar if n == 1 else f"({a} * {scalar})"
        if kind == 17 and n > 1:
            return f"normalize(abs({a}) + 0.125)"
        if kind == 18 and n > 1:
            m = r.randint(2, 4)
            return f"({self.matrix(f'mat{m}x{n}', d, u)} * {self.bounded(f'vec{m}', d, u)})"
        if kind == 19 and n > 1:
            parts = [self.expr("float", d - 1, u) for _ in range(n)]
            return f"{t}({', '.join(parts)})"
        if kind == 20:
            bits = self.expr(vector("uint", n), d, u)
            return f"uintBitsToFloat(({bits} & 0x007fffffu) | 0x3f800000u)"
        if kind == 21 and n > 1:
            test = self.expr(t, 0, u)
            return f"mix({a}, {self.expr(t, d, u)}, lessThan({test}, {self.expr(t, 0, u)}))"
        return f"smoothstep({t}(-0.5), {t}(1.5), {a})"

    def bounded(self, type: str, depth: int, uniform: bool = False) -> str:
        """An expression whose value may be stored."""
        if is_matrix(type):
            return self.matrix(type, depth, uniform)
        inner = self.expr(type, depth, uniform)
        if base_of(type) == "float":
            return self.r.choice((f"fract({inner})", f"clamp({inner}, -2.0, 2.0)", f"sin({inner})"))
        mask = "1023" if base_of(type) == "int" else "1023u"
        return self.r.choice((f"({inner} & {mask})", inner))

    def integral(self, t: str, d: int, u: bool) -> str:
        r, n = self.r, size_of(t)
        one = "1u" if base_of(t) == "uint" else "1"
        s = one[1:]
        a = self.expr(t, d, u)
        kind = r.randrange(14)
        if kind < 6:
            return f"({a} {r.choice('+-*&|^')} {self.expr(t, d, u)})"
        if kind == 6:
            return f"({a} {r.choice(('<<', '>>'))} ({self.expr(t, 0, u)} & 7{s}))"
        if kind == 7:
            return f"{r.choice(('min', 'max'))}({a}, {self.expr(t, d, u)})"
        if kind == 8:
            divisor = f"(({self.expr(t, 0, u)} & 7{s}) + 1{s})"
            return f"(({a} & 0xffff{s}) {r.choice('/%')} {divisor})"
        if kind == 9:
            return f"({self.condition(d, u)} ? {a} : {self.expr(t, d, u)})"
        if kind == 10:
            call = r.choice((f"bitCount({a})", f"findMSB({a})", f"findLSB({a})"))
            return f"{t}({call})"
        if kind == 11:
            return r.choice((f"bitfieldExtract({a}, 3, 5)", f"bitfieldReverse({a})",
                             f"bitfieldInsert({a}, {self.expr(t, 0, u)}, 2, 7)"))  # fmt: skip
        if kind == 12:
            return f"(~{a})"
        x = self.expr(vector("float", n), d, u)
        cast = "floatBitsToUint" if s else "floatBitsToInt"
        return f"{cast}(abs({x}) + 1.0)"

    def condition(self, depth: int = 1, uniform: bool = False) -> str:
        r = self.r
        kind = r.randrange(8)
        if kind == 0 and depth > 0:
            one, two = self.condition(depth - 1, uniform), self.condition(depth - 1, uniform)
            return f"({one} {r.choice(('&&', '||', '^^'))} {two})"
        if kind == 1:
            return f"!({self.condition(0, uniform)})"
        if kind == 2:
            t = r.choice(("vec2", "vec3", "ivec2"))
            test = r.choice(("lessThan", "greaterThanEqual"))
            one, two = self.expr(t, 0, uniform), self.expr(t, 0, uniform)
            return f"{r.choice(('any', 'all'))}({test}({one}, {two}))"
        t = r.choice(("float", "float", "int", "uint"))
        op = r.choice(("<", ">", "<=", ">=") + (() if t == "float" else ("==", "!=")))
        return f"({self.expr(t, depth, uniform)} {op} {self.expr(t, 0, uniform)})"

    def construct(self, type: Type, constant: bool = False, depth: int = 2) -> str:
        """A constructor of any type."""
        if isinstance(type, str):
            return self.literal(type) if constant else self.bounded(type, depth)
        if isinstance(type, Array):
            parts = [self.construct(type.element, constant, 1) for _ in range(type.length)]
        else:
            parts = [self.construct(t, constant, 1) for t, _ in type.members]
        return f"{spelled(type)}({', '.join(parts)})"

    # -- calls -----------------------------------------------------------------------------

    def call(self, type: str | None) -> str | None:
        """A call of a function with this result (None: any), its arguments declared where needed."""
        found = [f for f in self.functions if type is None or f.result == type]
        if not found:
            return None
        function = self.r.choice(found)
        self.calls += 1
        words = []
        for direction, want in function.parameters:
            if direction in ("out ", "inout "):
                words.append(self.reference(want))
            else:
                words.append(self.construct(want, depth=1))
        return f"{function.name}({', '.join(words)})"

    def reference(self, type: Type) -> str:
        """Something writable of exactly this type; no two arguments of a call may be the same."""
        name = self.fresh("arg")
        value = self.construct(type, constant=True)
        self.pending.append(f"{declare(type, name)} = {value};")
        self.later.append(Value(name, type, True))
        return name

    pending: list[str]
    later: list[Value]

    def random_type(self) -> Type:
        r = self.r
        kind = r.random()
        base = r.choice(("float", "float", "float", "int", "uint"))
        if kind < 0.7:
            return vector(base, r.randint(1, 4))
        if kind < 0.85:
            return Array(vector(base, r.randint(1, 4)), r.randint(2, 5))
        if kind < 0.93 or not self.structs:
            return r.choice(("mat2", "mat3", "mat4", "mat3x2"))
        return r.choice(self.structs)
