"""Random pipelines of small branches: ``make(seed) -> Branching``.

Branches that if-conversion may take stand in every stage, on both sides of a border: ``?:`` whose
arms read uniform blocks, values behind an ``if`` with and without ``else``, nested ones, switches
that fall through, functions and loops that leave early, in the fragment shader discards. What
decides is a uniform, a specialization constant, a flat input, or an interpolated one. Some arms are
guarded: they divide, take roots or read blocks that hold only if their condition does. Values that
one way leaves undefined are read under the same condition alone. Outputs are captured, invariant
and precise now and then.

All else is defined, and made of operations that a driver folds exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from tests.support.generate_interface import LANES, base_of, size_of, vector

SHAPES = (("vert", "frag"),) * 5 + (("vert", "geom", "frag"), ("vert", "tesc", "tese", "frag"))
TYPES = ("float", "float", "float", "vec2", "vec3", "vec4", "int", "uint", "ivec2")
QUALIFIERS = ("", "", "", "flat", "flat", "noperspective", "centroid", "sample")
SCENE = """layout(set = 0, binding = 0) uniform Scene {
    vec4 tint; ivec4 kind; float gain; uint bits; vec4 rows[6];
} scene;
layout(push_constant) uniform Push { vec4 shift; float scale; int mode; uint mask; } push;
"""
OWN = "layout(set = 0, binding = 1) uniform Own { vec4 tint; ivec4 kind; vec4 rows[3]; } own;\n"
UNIFORM = (
    ("scene.tint", "vec4"), ("scene.kind", "ivec4"), ("scene.gain", "float"),
    ("scene.bits", "uint"), ("scene.rows[1]", "vec4"), ("push.shift", "vec4"),
    ("push.scale", "float"), ("push.mode", "int"), ("push.mask", "uint"),
)  # fmt: skip
GUARDED = ("scene.rows[4]", "scene.rows[5]", "own.rows[2]", "own.tint")
OWN_VALUES = (("own.tint", "vec4"), ("own.kind", "ivec4"), ("own.rows[1]", "vec4"))
ATTRIBUTES = (("a", "vec4"), ("b", "vec3"), ("c", "vec2"), ("n", "ivec4"), ("m", "uvec2"))
STRIDE = 64  # of a captured vertex


@dataclass
class Value:
    """An expression that may be read; ``even``: it is the same for the draw or the primitive."""

    text: str
    type: str
    even: bool = False


@dataclass
class Varying:
    type: str
    location: int
    qualifier: str
    words: str = ""  # what the producer says besides
    capture: int | None = None


@dataclass
class Constant:
    number: int
    type: str
    default: str
    value: str | None  # that the pipeline sets


@dataclass
class Branching:
    """``stages``: (stage, GLSL); ``other``: another fragment shader of the same interface;
    ``constants``: by stage; ``known``: the linker is told what the pipeline sets."""

    stages: list[tuple[str, str]] = field(default_factory=list)
    other: str = ""
    constants: dict[str, list[Constant]] = field(default_factory=dict)
    known: bool = False
    sized: bool = False  # gl_PointSize is written


def make(seed: int) -> Branching:
    r = Random(seed ^ 0xB4A)
    made = Branching(known=r.random() < 0.5, sized=r.random() < 0.4)
    shape = r.choice(SHAPES)
    borders = [varyings(r, len(shape) == 2 and r.random() < 0.2) for _ in shape[1:]]
    for number, stage in enumerate(shape):
        code = Stage(r, stage, made)
        before = borders[number - 1] if number else []
        made.stages.append((stage, code.text(before, borders[number : number + 1])))
        made.constants[stage] = code.constants
    made.other = Stage(r, "frag", Branching()).text(borders[-1], [])
    return made


def varyings(r: Random, captured: bool) -> list[Varying]:
    found = []
    for location in range(r.randint(2, 6)):
        type = r.choice(TYPES)
        one = Varying(type, location, "flat" if base_of(type) != "float" else r.choice(QUALIFIERS))
        one.words = r.choice(("", "", "", "", "", "invariant ", "precise "))
        if captured and r.random() < 0.5:
            one.capture = location * 16 % STRIDE if location < 4 else None
        found.append(one)
    return found


class Stage:
    """Writes one shader."""

    def __init__(self, r: Random, stage: str, made: Branching) -> None:
        self.r, self.stage, self.made = r, stage, made
        self.own = r.random() < (0.5 if stage == "frag" else 0.7)
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.depth, self.number, self.budget = 1, 0, 26
        self.flat_way = True  # no discard and no return stands before this
        self.constants = [self.constant(i) for i in range(r.choice((0, 0, 1, 2)))]
        even = [*UNIFORM, *(OWN_VALUES if self.own else ())]
        even += [(f"SPEC{c.number}", c.type) for c in self.constants if c.type != "bool"]
        self.scope = [Value(text, type, True) for text, type in even]
        self.locals: list[Value] = []  # that may be written

    def constant(self, number: int) -> Constant:
        r = self.r
        type = r.choice(("bool", "bool", "int", "float"))
        words = {"bool": ("true", "false"), "int": ("0", "1", "2"), "float": ("0.5", "-1.5")}[type]
        return Constant(number, type, r.choice(words), r.choice((None, *words)))

    # -- text ------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        self.put(f"{head} {{")
        self.depth += 1
        kept = len(self.scope), len(self.locals)
        yield
        del self.scope[kept[0] :], self.locals[kept[1] :]
        self.depth -= 1
        self.put("}")

    def fresh(self) -> str:
        self.number += 1
        return f"t{self.number}"

    # -- values ----------------------------------------------------------------------------

    def leaf(self, type: str, even: bool = False) -> str:
        """A value of this type, of others with its base or of a literal."""
        r, base, size = self.r, base_of(type), size_of(type)
        found = [v for v in self.scope if base_of(v.type) == base and (v.even or not even)]
        if not found or r.random() < 0.12:
            return self.literal(type)
        one = r.choice(found[-12:] if r.random() < 0.7 else found)
        have = size_of(one.type)
        if have == size:
            return one.text
        if have == 1:
            return f"{type}({one.text})"
        return f"{one.text}.{''.join(r.choice(LANES[:have]) for _ in range(size))}"

    def literal(self, type: str) -> str:
        r, base = self.r, base_of(type)
        if base == "float":
            word = r.choice(("0.0", "1.0", "-0.0", "0.5", f"{r.uniform(-2, 2):.3f}"))
        else:
            word = str(r.choice((0, 1, 2, r.randint(0, 99)))) + ("u" if base == "uint" else "")
        return word if size_of(type) == 1 else f"{type}({word})"

    def small(self, type: str, depth: int = 2, even: bool = False) -> str:
        """A few operations."""
        r = self.r
        if depth <= 0 or r.random() < 0.25:
            return self.leaf(type, even)
        a = self.small(type, depth - 1, even)
        if base_of(type) != "float":
            kind = r.randrange(5)
            if kind == 0:
                return f"({a} {r.choice(('<<', '>>'))} {r.randint(0, 5)})"
            if kind == 1:
                test = self.test(even)
                return f"({test} ? {a} : {self.small(type, depth - 1, even)})"
            return f"({a} {r.choice('+-*&|^')} {self.small(type, depth - 1, even)})"
        kind = r.randrange(9)
        if kind == 0:
            return f"{r.choice(('abs', 'fract', 'floor', 'sign'))}({a})"
        if kind == 1:
            return f"clamp({a}, -1.0, {r.choice(('1.0', '0.5'))})"
        if kind in (2, 3):
            return f"({self.test(even)} ? {a} : {self.small(type, depth - 1, even)})"
        if kind == 4:
            return f"({a} / (abs({self.leaf(type, even)}) + 0.5))"
        return f"({a} {r.choice('+-*')} {self.small(type, depth - 1, even)})"

    def test(self, even: bool = False) -> str:
        """A condition; most of those that no interpolated value decides."""
        r = self.r
        bools = [f"SPEC{c.number}" for c in self.constants if c.type == "bool"]
        if bools and r.random() < 0.3:
            return r.choice(bools)
        even = even or r.random() < 0.75
        kind = r.randrange(8)
        if kind == 0:
            return f"({self.test(True)} {r.choice(('&&', '||', '^^'))} {self.test(even)})"
        type = r.choice(("float", "int", "uint", "int", "float"))
        operations = ("<", ">", "<=", ">=") + (() if type == "float" else ("==", "!="))
        return f"({self.leaf(type, even)} {r.choice(operations)} {self.leaf(type, even)})"

    def guarded(self) -> tuple[str, str, str]:
        """A condition, and what holds only if it does: (condition, type, expression)."""
        r, kind = self.r, self.r.randrange(6)
        x = self.leaf("float")
        if kind == 0:
            d = self.leaf("float", r.random() < 0.5)
            return f"{d} != 0.0", "float", f"{x} / {d}"
        if kind == 1:
            d = self.leaf("float")
            return f"{d} > 0.0", "float", f"sqrt({d})"
        if kind == 2:
            d, n = self.leaf("int", r.random() < 0.7), self.leaf("int")
            return f"{d} > 0", "int", f"({n} & 0xffff) {r.choice('/%')} {d}"
        if kind == 3:
            d = r.choice(("push.mode", "scene.kind.y", f"int({self.leaf('uint')})"))
            d = f"({d} + push.mode)" if "push" not in d else d
            return f"{d} >= 0 && {d} < 6", "vec4", f"scene.rows[{d}]"
        if kind == 4:
            return f"abs({x}) < 100.0", "int", f"int({x})"
        block = r.choice(GUARDED[: 4 if self.own else 2])
        return self.test(), "vec4", f"{block} * {self.leaf('vec4')}"

    # -- statements ------------------------------------------------------------------------

    def declare(self, type: str, even: bool = False) -> str:
        """The name of a new local, which may be read and written behind its declaration."""
        name = self.fresh()
        self.scope.append(Value(name, type, even))
        self.locals.append(Value(name, type, even))
        return name

    def statement(self, nesting: int) -> None:
        self.budget -= 1
        if self.budget < 0:
            return
        kinds = [self.choose, self.both, self.one_way, self.loaded, self.shared_way]
        if nesting > 0:
            kinds += [self.nested, self.nested, self.switch, self.loop, self.function]
        if self.stage == "frag":
            kinds += [self.leave, self.derivative]
        kind = self.r.choice(kinds)
        kind(nesting)  # type: ignore[operator]

    def choose(self, nesting: int) -> None:
        type = self.r.choice(TYPES)
        even = self.r.random() < 0.3
        test = self.test(even)
        value = f"{test} ? {self.small(type, 2, even)} : {self.small(type, 1, even)}"
        precise = "precise " if self.r.random() < 0.1 else ""
        self.put(f"{precise}{type} {self.declare(type, even)} = {value};")

    def both(self, nesting: int) -> None:
        """Two values, set on both ways."""
        types = [self.r.choice(TYPES) for _ in range(self.r.choice((1, 1, 2)))]
        names = [self.fresh() for _ in types]
        for type, name in zip(types, names):
            self.put(f"{type} {name};")
        for head in (f"if ({self.test()})", "else"):
            with self.braces(head):
                if self.r.random() < 0.3:
                    self.choose(0)
                for type, name in zip(types, names):
                    self.put(f"{name} = {self.small(type)};")
        for type, name in zip(types, names):
            self.scope.append(Value(name, type))
            self.locals.append(Value(name, type))

    def one_way(self, nesting: int) -> None:
        if not self.locals:
            return self.choose(nesting)
        one = self.r.choice(self.locals)
        one = next(v for v in self.scope if v.text == one.text)
        one.even = False
        size = size_of(one.type)
        target, type = one.text, one.type
        if size > 1 and self.r.random() < 0.4:
            target, type = f"{target}.{self.r.choice(LANES[:size])}", base_of(type)
        with self.braces(f"if ({self.test()})"):
            self.put(f"{target} = {self.small(type)};")

    def loaded(self, nesting: int) -> None:
        """What holds only under its condition."""
        test, type, value = self.guarded()
        name = self.fresh()
        self.put(f"{type} {name} = {self.small(type, 1)};")
        if self.r.random() < 0.5:
            self.put(f"if ({test}) {name} = {value};")
        else:
            self.put(f"{name} = {test} ? {value} : {name};")
        self.scope.append(Value(name, type))

    def shared_way(self, nesting: int) -> None:
        """A value that one way leaves undefined, read on the other way alone."""
        r, type = self.r, self.r.choice(TYPES)
        flag, name, result = self.fresh(), self.fresh(), self.fresh()
        self.put(f"bool {flag} = {self.test()};")
        self.put(f"{type} {name};")
        with self.braces(f"if ({flag})"):
            self.put(f"{name} = {self.small(type)};")
        if r.random() < 0.6:
            self.choose(0)
        self.put(f"{type} {result} = {flag} ? {name} : {self.small(type, 1)};")
        self.scope.append(Value(result, type))

    def nested(self, nesting: int) -> None:
        if not self.locals:
            self.choose(nesting)
        with self.braces(f"if ({self.test()})"):
            self.statement(nesting - 1)
            self.one_way(0)
            if self.r.random() < 0.4:
                self.one_way(0)
        if self.r.random() < 0.5:
            with self.braces("else"):
                self.statement(nesting - 1)
                self.one_way(0)

    def switch(self, nesting: int) -> None:
        r, type = self.r, self.r.choice(TYPES)
        name = self.fresh()
        self.put(f"{type} {name} = {self.small(type, 1)};")
        labels = r.sample(("case 0:", "case 1:", "case 2:", "default:"), r.randint(2, 4))
        with self.braces(f"switch ({self.leaf('int', r.random() < 0.7)} & 3)"):
            for label in labels:
                self.put(label)
                self.put(f"    {name} = {self.small(type)};")
                if r.random() < 0.3:
                    self.put(f"    if ({self.test()}) {name} = {self.small(type, 1)};")
                if r.random() < 0.6 or label == labels[-1]:
                    self.put("    break;")
        self.scope.append(Value(name, type))
        self.locals.append(Value(name, type))

    def loop(self, nesting: int) -> None:
        r = self.r
        type, i, name = r.choice(TYPES), self.fresh(), self.fresh()
        self.put(f"{type} {name} = {self.small(type, 1)};")
        self.scope.append(Value(name, type))
        bound = r.choice(("2", "3", "(push.mode & 3)", f"({self.leaf('int')} & 1) + 1"))
        with self.braces(f"for (int {i} = 0; {i} < {bound}; ++{i})"):
            self.scope.append(Value(i, "int"))
            self.locals.append(Value(name, type))
            self.statement(0)
            if r.random() < 0.6:
                jump = r.choice(("break", "continue"))
                change = f"{name} = {self.small(type, 1)}; " if r.random() < 0.5 else ""
                self.put(f"if ({self.test()}) {{ {change}{jump}; }}")
            self.put(f"{name} = {self.test()} ? {self.small(type, 1)} : {name};")
        self.locals.append(Value(name, type))

    def function(self, nesting: int) -> None:
        """One that leaves early."""
        type = self.r.choice(TYPES)
        name, result = self.fresh(), self.fresh()
        kept, lines, self.lines = self.scope, self.lines, []
        local, self.locals = self.locals, []
        depth, self.depth = self.depth, 1
        self.scope = [v for v in kept if "." in v.text or v.text.startswith("SPEC")]
        self.scope = [v for v in self.scope if v.text[0] in "spoS"]
        self.scope += [Value("p", type), Value("q", "int")]
        test, of, value = self.guarded()
        if of == type:
            self.put(f"if ({test}) return {value};")
        else:
            self.put(f"if ({self.test()}) return {self.small(type)};")
        self.put(f"return {self.small(type)};")
        self.functions.append(f"{type} f{name}({type} p, int q) {{\n" + "\n".join(self.lines))
        self.functions.append("}")
        self.scope, self.lines, self.depth, self.locals = kept, lines, depth, local
        call = f"f{name}({self.small(type, 1)}, {self.leaf('int')})"
        self.put(f"{type} {result} = {call};")
        self.scope.append(Value(result, type))

    def leave(self, nesting: int) -> None:
        """Of the fragment shader: its outputs have values from the start."""
        if self.r.random() < 0.5:
            return self.choose(nesting)
        self.flat_way = False
        word = self.r.choice(("discard", "discard", "return"))
        self.put(f"if (fract(gl_FragCoord.x * 0.13) < 0.3 && {self.test()}) {word};")

    def derivative(self, nesting: int) -> None:
        if not self.flat_way or self.depth > 1:
            return self.choose(nesting)
        type = self.r.choice(("float", "vec2"))
        function = self.r.choice(("dFdx", "dFdy", "fwidth"))
        value = f"{function}({self.small(type, 1)})"
        self.put(f"{type} {self.declare(type)} = {value};")

    # -- the stage -------------------------------------------------------------------------

    def text(self, before: list[Varying], behind: list[list[Varying]]) -> str:
        head = "#version 450\n" + SCENE + (OWN if self.own else "")
        for c in self.constants:
            head += (
                f"layout(constant_id = {c.number}) const {c.type} SPEC{c.number} = {c.default};\n"
            )
        arrayed = self.stage in ("geom", "tesc", "tese")
        for v in before:
            words = v.qualifier if self.stage == "frag" else ""
            bracket = "[]" if arrayed else ""
            head += f"layout(location = {v.location}) {words} in {v.type} i{v.location}{bracket};\n"
        for v in behind[0] if behind else ():
            capture = ""
            if v.capture is not None:
                capture = f", xfb_buffer = 0, xfb_offset = {v.capture}, xfb_stride = {STRIDE}"
            bracket = "[]" if self.stage == "tesc" else ""
            head += f"layout(location = {v.location}{capture}) {v.words}{v.qualifier} out "
            head += f"{v.type} o{v.location}{bracket};\n"
        main = {"vert": self.vert, "geom": self.geom, "tesc": self.tesc, "tese": self.tese,
                "frag": self.frag}[self.stage]  # fmt: skip
        head += main(before, behind[0] if behind else [])
        functions = "".join(f"{line}\n" for line in self.functions)
        body = "\n".join(self.lines)
        return f"{head}{functions}void main() {{\n{body}\n}}\n"

    def statements(self) -> None:
        for _ in range(self.r.randint(1, 5)):
            self.statement(2)

    def write(self, varyings: list[Varying], index: str = "") -> None:
        r = self.r
        for v in varyings:
            name, kind = f"o{v.location}{index}", r.randrange(6)
            if kind == 0:
                for head in (f"if ({self.test()})", "else"):
                    with self.braces(head):
                        self.put(f"{name} = {self.small(v.type)};")
            elif kind == 1:
                self.put(f"{name} = {self.small(v.type, 1)};")
                with self.braces(f"if ({self.test()})"):
                    self.put(f"{name} = {self.small(v.type)};")
            elif kind == 2:
                self.put(f"{name} = {self.test()} ? {self.leaf(v.type)} : {self.leaf(v.type)};")
            else:
                self.put(f"{name} = {self.small(v.type, r.choice((0, 0, 1)))};")

    def read(self, before: list[Varying], index: str = "") -> None:
        for v in before:
            self.scope.append(Value(f"i{v.location}{index}", v.type, v.qualifier == "flat"))

    def vert(self, before: list[Varying], behind: list[Varying]) -> str:
        head = "layout(location = 0) in vec3 position;\n"
        for at, (name, type) in enumerate(ATTRIBUTES):
            head += f"layout(location = {at + 1}) in {type} {name};\n"
        self.scope += [Value(name, type) for name, type in ATTRIBUTES] * 2
        self.put("gl_Position = vec4(position, 1.0);")
        self.statements()
        if self.made.sized:
            self.put(f"gl_PointSize = 2.0 + abs({self.leaf('float')});")
        if self.r.random() < 0.15:
            self.put(f"if ({self.test(True)}) gl_Position.x *= 0.75;")
        self.write(behind)
        return head

    def geom(self, before: list[Varying], behind: list[Varying]) -> str:
        with self.braces("for (int i = 0; i < 3; ++i)"):
            self.read(before, "[i]")
            self.read([v for v in before if self.r.random() < 0.4], "[0]")
            self.statements()
            self.write(behind)
            self.put("gl_Position = gl_in[i].gl_Position;")
            self.put("EmitVertex();")
        return "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\n"

    def tesc(self, before: list[Varying], behind: list[Varying]) -> str:
        me = "[gl_InvocationID]"
        self.put(f"gl_out{me}.gl_Position = gl_in{me}.gl_Position;")
        for level in ("Outer[0]", "Outer[1]", "Outer[2]", "Inner[0]"):
            self.put(f"gl_TessLevel{level} = 2.0;")
        self.read(before, me)
        self.statements()
        self.write(behind, me)
        return "layout(vertices = 3) out;\n"

    def tese(self, before: list[Varying], behind: list[Varying]) -> str:
        terms = [f"gl_TessCoord[{i}] * gl_in[{i}].gl_Position" for i in range(3)]
        self.put(f"gl_Position = {' + '.join(terms)};")
        for v in before:
            if base_of(v.type) == "float" and self.r.random() < 0.6:
                terms = [f"gl_TessCoord[{i}] * i{v.location}[{i}]" for i in range(3)]
                name = self.fresh()
                self.put(f"{v.type} {name} = {' + '.join(terms)};")
                self.scope.append(Value(name, v.type))
            else:
                self.scope.append(Value(f"i{v.location}[0]", v.type))
        self.statements()
        self.write(behind)
        return "layout(triangles) in;\n"

    def frag(self, before: list[Varying], behind: list[Varying]) -> str:
        r = self.r
        dual = r.random() < 0.06
        types = ["vec4"] if dual else ["vec4", *r.choice(((), (), ("vec4",), ("vec4", "ivec4")))]
        head = ""
        for at, type in enumerate(types):
            index = ", index = 0" if dual else ""
            head += f"layout(location = {at}{index}) out {type} color{at};\n"
            self.put(f"color{at} = {type}({self.leaf(base_of(type))});")
        if dual:
            head += "layout(location = 0, index = 1) out vec4 color9;\n"
            self.put("color9 = vec4(0.25);")
        if r.random() < 0.25:
            self.scope.append(Value("(gl_FrontFacing ? 1.0 : 0.25)", "float"))
            self.scope.append(Value("int(gl_FrontFacing)", "int"))
        self.read(before)
        self.read([v for v in before if r.random() < 0.5])
        if r.random() < 0.2 and (found := [v for v in before if v.type == "vec2"]):
            if found[0].qualifier != "flat":
                at = r.choice(("Centroid({})", "Sample({}, 0)")).format(f"i{found[0].location}")
                self.scope.append(Value(f"interpolateAt{at}", "vec2"))
        self.statements()
        for at, type in enumerate(types):
            parts = [self.small(base_of(type)) for _ in range(size_of(type) - 1)]
            parts.insert(0, self.small(base_of(type), 1))
            if r.random() < 0.3:
                self.put(f"color{at} = {self.small(type)};")
            else:
                self.put(f"color{at} = {vector(base_of(type), size_of(type))}({', '.join(parts)});")
        if dual:
            self.put(f"color9 = {self.small('vec4')};")
        if r.random() < 0.1:
            self.lines.insert(0, "    gl_FragDepth = 0.5;")  # for who returns early
            self.put(f"gl_FragDepth = clamp({self.small('float', 1)}, 0.0, 1.0);")
        return head
