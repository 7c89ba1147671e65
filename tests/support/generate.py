"""Random pipelines: ``make(seed) -> (vertex_glsl, fragment_glsl)``, one pair for each seed.

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

from random import Random

from tests.support.generate_body import Body
from tests.support.generate_interface import (
    LANES,
    NEVER,
    UNIFORM_VALUES,
    UNIFORMS,
    Array,
    Interface,
    Type,
    Value,
    Varying,
    base_of,
    declare,
    paths,
    size_of,
)

ATTRIBUTES = """layout(location = 0) in vec4 position;
layout(location = 1) in vec3 normal_;
layout(location = 2) in vec2 place;
layout(location = 3) in vec4 paint;
layout(location = 4) in ivec2 marks;
layout(location = 5) in uint bone;
"""
ATTRIBUTE_VALUES = (("position", "vec4"), ("normal_", "vec3"), ("place", "vec2"),
                    ("paint", "vec4"), ("marks", "ivec2"), ("bone", "uint"),
                    ("gl_InstanceIndex", "int"))  # fmt: skip
LOG = """layout(set = 0, binding = 2) buffer Log {
    uint hits; int low; uint high; uint slots[16];
} log_;
"""


def make(seed: int) -> tuple[str, str]:
    """The GLSL of a vertex and a fragment shader that belong together."""
    r = Random(seed)
    interface = Interface(r)
    return Vertex(r, interface).text(), Fragment(r, interface).text()


class Writer(Body):
    """A stage that writes varyings: the first, full write of each, in one of many ways."""

    def write(self, varying: Varying, expr: str, type: Type) -> None:
        r = self.r
        constant = r.random() < 0.15
        kind = r.randrange(8)
        if kind == 0:
            self.per_path(expr, type, constant)
        elif kind == 1:
            self.per_component(expr, type, constant)
        elif kind == 2:
            with self.braces(f"if ({self.condition()})"):
                self.put(f"{expr} = {self.construct(type, constant)};")
            with self.braces("else"):
                self.per_path(expr, type, r.random() < 0.3)
        elif kind == 3:
            with self.braces(f"switch ({self.expr('int', 1)} & 1)"):
                for label in ("case 1:", "default:"):
                    self.put(label)
                    self.put(f"    {expr} = {self.construct(type, constant)};")
                    self.put("    break;")
        elif kind == 4:
            name = self.fresh("set")
            with self.function(f"void {name}(out {declare(type, 'o')})", []):
                self.put(f"o = {self.construct(type, constant)};")
                self.scope.append(Value("o", type, True))
                self.leave = lambda: "return;"
                self.statements(r.randint(0, 2))
            self.put(f"{name}({expr});")
        elif kind == 5:
            name = self.fresh("fill")
            with self.function(f"void {name}()", []):
                self.put(f"{expr} = {self.construct(type, constant)};")
                self.scope.append(Value(expr, type, True, dynamic=varying.dynamic_out))
                self.leave = lambda: "return;"
                self.statements(r.randint(0, 2))
            self.put(f"{name}();")
        elif isinstance(type, Array) and varying.dynamic_out:
            name = self.fresh("i")
            with self.braces(f"for (int {name} = 0; {name} < {type.length}; ++{name})"):
                self.scope.append(Value(name, "int"))
                self.put(f"{expr}[{name}] = {self.construct(type.element)};")
        else:
            self.put(f"{expr} = {self.construct(type, constant)};")
        self.scope.append(Value(expr, type, r.random() < 0.7, dynamic=varying.dynamic_out))

    def per_path(self, expr: str, type: Type, constant: bool) -> None:
        for path, inner in paths(type, expr):
            self.put(f"{path} = {self.construct(inner, constant)};")

    def per_component(self, expr: str, type: Type, constant: bool) -> None:
        """Swizzles that cover a vector together, in any order, constants among them."""
        r = self.r
        for path, inner in paths(type, expr):
            if size_of(inner) == 1:
                self.put(f"{path} = {self.construct(inner, constant)};")
                continue
            lanes = r.sample(LANES[: size_of(inner)], size_of(inner))
            while lanes:
                some = [lanes.pop() for _ in range(r.randint(1, len(lanes)))]
                part = base_of(inner) if len(some) == 1 else f"{inner[:-1]}{len(some)}"
                value = self.construct(part, constant or r.random() < 0.25)
                self.put(f"{path}.{''.join(some)} = {value};")


class Vertex(Writer):
    """Writes every varying in full, then lives on with some of them."""

    def __init__(self, r: Random, interface: Interface) -> None:
        super().__init__(r, interface.structs)
        self.interface = interface
        for _ in range(r.randint(0, 3)):
            self.helper()
        self.scope = [Value(e, t, uniform=True) for e, t in UNIFORM_VALUES]
        self.scope += [Value(e, t) for e, t in ATTRIBUTE_VALUES]
        self.calls = 0

    def text(self) -> str:
        r = self.r
        qualified = r.random() < 0.6
        with self.braces("void main()"):
            self.position()
            self.statements(r.randint(0, 3))
            varyings = [v for v in self.interface.varyings if v.written]
            if r.random() < 0.7:
                r.shuffle(varyings)
            for varying in varyings:
                for expr, type in varying.roots("out"):
                    self.write(varying, expr, type)
                if r.random() < 0.3:
                    self.statement(2)
            self.leave = lambda: "return;"
            self.statements(r.randint(0, 5))
        declared = [v.declaration("out", qualified) for v in self.interface.varyings]
        structs = [str(s) for s in self.interface.structs]
        parts = [*structs, *declared, *self.function_text, *self.lines]
        return "#version 450\n" + ATTRIBUTES + UNIFORMS + "\n".join(parts) + "\n"

    def position(self) -> None:
        w = self.r.choice(("1.0", "clamp(paint.w, 0.6, 1.4)", "clamp(abs(normal_.x), 0.5, 1.0)"))
        self.put(f"gl_Position = vec4(position.xyz * {w}, {w});")
        if self.r.random() < 0.2:
            self.put("gl_Position.xy = gl_Position.yx;")


class Fragment(Body):
    """Reads some of what there is; all that it reads ends in ``acc``, and that in the outputs."""

    def __init__(self, r: Random, interface: Interface) -> None:
        super().__init__(r, interface.structs)
        self.interface = interface
        self.texture = r.random() < 0.5
        self.log = r.random() < 0.4
        for _ in range(r.randint(0, 3)):
            self.helper()
        self.calls = 0
        self.scope = [Value(e, t, uniform=True) for e, t in UNIFORM_VALUES]
        self.present = [v for v in interface.varyings if r.random() < 0.85]
        self.live: list[Value] = []
        self.unwritten: list[Value] = []
        self.smooth: list[Value] = []  # whole float inputs, for interpolateAt*
        for varying in self.present:
            if r.random() < 0.85:
                self.choose(varying)

    def choose(self, varying: Varying) -> None:
        """What of a varying the shader may read."""
        r = self.r
        mode = r.random()
        for root, type in varying.roots("in"):
            whole = Value(root, type, dynamic=varying.dynamic_in)
            if not varying.written:
                self.unwritten.append(whole)
                continue
            if not varying.block and isinstance(type, str) and type[0] in "fv":
                self.smooth.append(whole)
            if mode < 0.4:
                self.live.append(whole)
                continue
            for path, inner in paths(type, root):
                size = size_of(inner)
                lanes = "".join(r.sample(LANES[:size], r.randint(0, size)))
                if size == 1 and r.random() < 0.7:
                    self.live.append(Value(path, inner))
                elif size > 1 and lanes:
                    part = base_of(inner) if len(lanes) == 1 else f"{inner[:-1]}{len(lanes)}"
                    self.live.append(Value(f"{path}.{lanes}", part))

    # -- statements of this stage ----------------------------------------------------------

    def accumulate(self) -> None:
        """One more input in the result."""
        if self.live:
            self.absorb(self.r.choice(self.live))

    def absorb(self, value: Value) -> None:
        r = self.r
        if isinstance(value.type, str) or r.random() < 0.6:
            expr, type = self.descend(value, False)
        else:  # the whole aggregate, through a local variable
            name = self.fresh("copy")
            self.put(f"{declare(value.type, name)} = {value.expr};")
            expr, type = self.descend(Value(name, value.type), False)
        term = self.convert(expr, type, "vec4")
        self.put(f"acc = acc * 0.75 + {term} * {r.choice(('1.0', '0.5', '-0.25'))};")

    def derivative(self) -> None:
        """Only where control flow is uniform."""
        if not self.uniform_flow:
            return self.accumulate()
        r = self.r
        call = r.choice(("dFdx", "dFdy", "fwidth", "dFdxFine", "dFdyCoarse"))
        if self.texture and r.random() < 0.5:
            self.put(f"acc += texture(image, {self.expr('vec2', 1)});")
        else:
            self.put(f"acc += clamp({call}({self.expr('vec4', 2)}), -1.0, 1.0);")

    def interpolate(self) -> None:
        if not self.smooth:
            return self.accumulate()
        r = self.r
        value = r.choice(self.smooth)
        name = value.expr
        offset = f"Offset({name}, vec2(0.25, -0.125))"
        call = r.choice((f"Centroid({name})", f"Sample({name}, 0)", offset))
        assert isinstance(value.type, str)
        term = self.convert(f"interpolateAt{call}", value.type, "vec4")
        self.put(f"acc = acc * 0.75 + {term};")

    def sample(self) -> None:
        if not self.texture:
            return self.accumulate()
        self.put(f"acc += textureLod(image, {self.expr('vec2', 1)}, 1.0);")

    def atomic(self) -> None:
        if not self.log:
            return self.accumulate()
        r = self.r
        self.put(r.choice((
            f"atomicAdd(log_.hits, {self.bounded('uint', 1)});",
            f"atomicMin(log_.low, {self.bounded('int', 1)});",
            f"atomicMax(log_.high, {self.bounded('uint', 1)});",
            f"atomicXor(log_.slots[{self.expr('uint', 1)} & 15u], {self.bounded('uint', 1)});",
            f"log_.slots[{r.randrange(16)}] = {self.bounded('uint', 1)};",
        )))  # fmt: skip

    def discard(self) -> None:
        if self.depth < 2 and self.r.random() < 0.5:
            # by place, so that never the whole picture goes
            place = f"fract(gl_FragCoord.{self.r.choice('xy')} * 0.3) < 0.3"
            self.put(f"if ({place} && {self.condition()}) discard;")
        else:
            self.accumulate()

    def guarded(self) -> None:
        """An input that nobody writes, where it cannot show."""
        for value in self.unwritten:
            with self.braces(f"if ({NEVER})"):
                self.absorb(value)

    # -- the shader ------------------------------------------------------------------------

    def text(self) -> str:
        r = self.r
        kinds = ["vec4"] + [
            r.choice(("vec4", "vec2", "float", "ivec4", "uvec3", "int"))
            for _ in range(r.choice((0, 0, 1, 2)))
        ]
        with self.braces("void main()"):
            self.put("vec4 acc = vec4(0.0);")
            self.scope.append(Value("acc", "vec4"))
            self.scope += self.live
            self.uniform_flow = True
            self.extra = [self.accumulate, self.derivative, self.derivative, self.interpolate]
            self.statements(r.randint(1, 4))
            self.uniform_flow = False
            for i, kind in enumerate(kinds):
                self.put(f"target{i} = {self.construct(kind, r.random() < 0.4)};")
                self.scope.append(Value(f"target{i}", kind, True))
            self.extra = [self.accumulate, self.accumulate, self.interpolate, self.sample,
                          self.atomic, self.discard]  # fmt: skip
            if r.random() < 0.3:
                self.leave = self.leaving
            self.statements(r.randint(1, 6))
            self.guarded()
            for value in self.live:
                self.absorb(value)
            self.finish(kinds)
        return self.assemble(kinds)

    def leaving(self) -> str:
        self.put("target0 += fract(acc);")
        return "return;"

    def finish(self, kinds: list[str]) -> None:
        for i, kind in enumerate(kinds):
            value = self.convert("acc", "vec4", kind)
            if base_of(kind) == "float" and self.r.random() < 0.5:
                self.put(f"target{i} = target{i} * 0.5 + {value};")
            elif i and base_of(kind) != "float":
                self.put(f"target{i} ^= {value};")
            else:
                self.put(f"target{i} = {value};")

    def assemble(self, kinds: list[str]) -> str:
        parts = [str(s) for s in self.interface.structs]
        parts += [v.declaration("in", True) for v in self.present]
        parts += [f"layout(location = {i}) out {kind} target{i};" for i, kind in enumerate(kinds)]
        parts += self.function_text + self.lines
        head = "#version 450\n" + UNIFORMS
        if self.texture:
            head += "layout(set = 0, binding = 1) uniform sampler2D image;\n"
        return head + (LOG if self.log else "") + "\n".join(parts) + "\n"
