"""The stages between the first and the last one of random pipelines; see generate_chains.py."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.support.generate import Writer
from tests.support.generate_interface import (
    UNIFORM_VALUES,
    UNIFORMS,
    Struct,
    Type,
    Value,
    Varying,
    base_of,
    is_matrix,
    paths,
    vector,
)

if TYPE_CHECKING:
    from tests.support.generate_chains import Border, Shape

MANY = {"points": 1, "lines": 2, "triangles": 3, "lines_adjacency": 4, "triangles_adjacency": 6}


class Stage(Writer):
    """A stage with varyings on both sides. ``inputs``: (before the index, behind it, type)."""

    def __init__(self, r: Random, ins: Border | None, outs: Border | None) -> None:
        structs: list[Struct] = []
        for border in (ins, outs):
            structs += [s for s in border.interface.structs if s not in structs] if border else []
        super().__init__(r, structs)
        self.ins, self.outs = ins, outs
        for _ in range(r.choice((0, 0, 1))):
            self.helper()
        self.scope = [Value(e, t, uniform=True) for e, t in UNIFORM_VALUES]
        self.calls = 0
        self.taken = [v for v in ins.interface.varyings if r.random() < 0.9] if ins else []
        self.layout: list[str] = []
        self.globals: list[str] = []

    def text(self) -> str:
        with self.braces("void main()"):
            self.main()
        declared = [v.declaration("in", False) for v in self.taken]
        if self.outs is not None:
            declared += [v.declaration("out", False) for v in self.outs.interface.varyings]
        structs = [str(s) for s in self.structs]
        parts = [*self.layout, *structs, *self.globals, *declared]
        parts += [*self.function_text, *self.lines]
        return "#version 450\n" + UNIFORMS + "\n".join(parts) + "\n"

    def main(self) -> None:
        raise NotImplementedError

    # -- reading ---------------------------------------------------------------------------

    def read(self, indices: list[str]) -> None:
        """Brings inputs into scope, each at one of the indices of a vertex."""
        for varying in self.taken:
            if self.r.random() < 0.85:
                index = self.r.choice(indices)
                for root, type in varying.roots("in", f"[{index}]"):
                    self.scope.append(Value(root, type, dynamic=varying.dynamic_in))
        for extra in self.ins.extras if self.ins else ():
            if self.r.random() < 0.7:
                self.scope.append(extra.seen("in", f"[{self.r.choice(indices)}]"))

    def same(self, type: Type) -> list[Varying]:
        """Inputs with a value of this type inside."""
        return [v for v in self.taken if any(t == type for _, t in self.inside(v))]

    @staticmethod
    def inside(varying: Varying) -> list[tuple[str, Type]]:
        """Paths of all values of an input, ``@`` standing for the vertex; wholes first."""
        found: list[tuple[str, Type]] = []
        for root, type in varying.roots("in", "[@]"):
            found.append((root, type))
            if not isinstance(type, str) or is_matrix(type):
                found += list(paths(type, root))
        return found

    def handed(self, type: Type, index: str) -> str | None:
        """An input value of the type, of the vertex."""
        found = self.same(type)
        if not found:
            return None
        values = [p for p, t in self.inside(self.r.choice(found)) if t == type]
        return self.r.choice(values).replace("@", index)

    # -- writing ---------------------------------------------------------------------------

    def output(self, varying: Varying, index: str, from_: str) -> None:
        """One output in full: handed on, a constant, a uniform, or any expression."""
        r = self.r
        for expr, type in varying.roots("out", index):
            kind = r.random()
            whole = self.handed(type, from_)
            if kind < 0.35 and whole is not None:
                self.put(f"{expr} = {whole};")
                self.scope.append(Value(expr, type, dynamic=varying.dynamic_out))
            elif kind < 0.65:
                for path, inner in paths(type, expr):
                    self.put(f"{path} = {self.crossing(inner, from_)};")
                self.scope.append(Value(expr, type, r.random() < 0.5, dynamic=varying.dynamic_out))
            else:
                self.write(varying, expr, type)

    def crossing(self, type: str, from_: str) -> str:
        """A scalar or vector that a linker would like."""
        r = self.r
        kind = r.random()
        if kind < 0.12:
            return self.literal(type)
        if kind < 0.25:
            return self.bounded(type, 1, uniform=True)
        value = self.handed(type, from_)
        if value is None or kind > 0.9:
            return self.bounded(type, 2)
        if kind < 0.6:
            return value
        if base_of(type) == "float":
            return r.choice((f"({value} * 0.5)", f"({value} + {value})", f"-{value}",
                             f"({value} * {self.leaf('float', True)})"))  # fmt: skip
        return r.choice((f"({value} & {vector(base_of(type), 1)}(63))", f"(~{value})"))

    def hand_extras(self, index: str, from_: str) -> None:
        """The values of other widths: as they came if the input has the type, else new."""
        if self.outs is None:
            return
        for extra in self.outs.extras:
            same = [e for e in self.ins.extras if e.type == extra.type] if self.ins else []
            if same and self.r.random() < 0.7:
                value = self.r.choice(same).name("in", f"[{from_}]")
            else:
                value = extra.made(self.bounded("float", 1))
            self.put(f"{extra.name('out', index)} = {value};")

    def varyings(self) -> list[Varying]:
        """The outputs in some order."""
        found = list(self.outs.interface.varyings) if self.outs else []
        if self.r.random() < 0.5:
            self.r.shuffle(found)
        return found


class Control(Stage):
    """Per-vertex outputs, values of the patch, levels; perhaps a second half behind a barrier."""

    def __init__(self, r: Random, ins: Border | None, outs: Border | None, shape: Shape) -> None:
        super().__init__(r, ins, outs)
        self.count = shape.vertices
        self.layout = [f"layout(vertices = {self.count}) out;"]

    def main(self) -> None:
        r, own = self.r, "gl_InvocationID"
        indices = [own, own, *map(str, range(self.count))]
        self.read(indices)
        self.scope.append(Value(own, "int"))
        self.put(f"gl_out[{own}].gl_Position = gl_in[{own}].gl_Position;")
        outputs = [v for v in self.varyings() if not v.prefix]
        patch = [v for v in self.varyings() if v.prefix]
        half = len(outputs) if r.random() < 0.6 else r.randint(0, len(outputs))
        for varying in outputs[:half]:
            self.output(varying, f"[{own}]", own)
        self.statements(r.choice((0, 0, 1, 2)))
        early = [v for v in patch if r.random() < 0.5]
        self.by_one(early)
        if half < len(outputs):
            self.behind_barrier(outputs[:half], early)
            for varying in outputs[half:]:
                self.output(varying, f"[{own}]", own)
        self.hand_extras(f"[{own}]", own)
        self.by_one([v for v in patch if v not in early])
        self.levels()

    def by_one(self, patch: list[Varying]) -> None:
        """One invocation writes the values of the patch."""
        if not patch:
            return
        with self.braces(f"if (gl_InvocationID == {self.r.randrange(self.count)})"):
            for varying in patch:
                self.output(varying, "", str(self.r.randrange(self.count)))

    def behind_barrier(self, done: list[Varying], patch: list[Varying]) -> None:
        """What was written is now everybody's to read and nobody's to write."""
        self.put("barrier();")
        for value in self.scope:
            if value.expr.startswith("out"):
                value.writable = False
        next_ = f"(gl_InvocationID + 1) % {self.count}"
        for varying in done:
            index = self.r.choice((next_, str(self.r.randrange(self.count))))
            for root, type in varying.roots("out", f"[{index}]"):
                self.scope.append(Value(root, type, dynamic=varying.dynamic_out))
        for varying in patch:
            for root, type in varying.roots("out"):
                self.scope.append(Value(root, type, dynamic=varying.dynamic_out))

    def levels(self) -> None:
        r = self.r
        with self.braces("if (gl_InvocationID == 0)"):
            for name, count in (("Outer", 4), ("Inner", 2)):
                for i in range(count):
                    level = str(float(r.randint(1, 4)))
                    if r.random() < 0.4:
                        level = f"clamp({self.expr('float', 1)} * 2.0 + 2.0, 1.0, 4.0)"
                    self.put(f"gl_TessLevel{name}[{i}] = {level};")


class Evaluation(Stage):
    """Blends the vertices of the patch in one of the spellings that people use."""

    def __init__(self, r: Random, ins: Border | None, outs: Border | None, shape: Shape) -> None:
        super().__init__(r, ins, outs)
        self.count, self.domain = shape.vertices, shape.domain
        self.points = shape.point_mode and shape.last
        words = [self.domain, r.choice(("equal_spacing", "fractional_even_spacing"))]
        words += [r.choice(("cw", "ccw"))] + (["point_mode"] if shape.point_mode else [])
        self.layout = [f"layout({', '.join(words)}) in;"]

    def main(self) -> None:
        r = self.r
        indices = [str(i) for i in range(self.count)]
        self.read([*indices, f"push.mode & {1 if self.count < 4 else 3}"])
        self.scope += [Value("gl_TessCoord", "vec3"), Value("gl_TessLevelInner[0]", "float")]
        self.put(f"gl_Position = {self.blend('gl_in[@].gl_Position')};")
        self.put("gl_Position.xy += (gl_TessCoord.xy - 0.5) * 0.4;")
        if self.points:
            self.put("gl_PointSize = 3.0;")
        for varying in self.varyings():
            self.output(varying, "", r.choice(indices))
        self.hand_extras("", r.choice(indices))
        self.leave = lambda: "return;"
        self.statements(r.choice((0, 1, 2)))

    def handed(self, type: Type, index: str) -> str | None:
        """Floats are blended more often than taken from one vertex."""
        value = super().handed(type, "@")
        if value is None:
            return None
        if isinstance(type, str) and type[0] in "fv" and "@" in value and self.r.random() < 0.75:
            return self.blend(value)
        return value.replace("@", index)

    def blend(self, value: str) -> str:
        r = self.r
        at = [value.replace("@", str(min(i, self.count - 1))) for i in range(4)]
        x, y = "gl_TessCoord.x", "gl_TessCoord.y"
        if self.domain == "triangles":
            order = r.sample(range(3), 3)
            terms = []
            for i in order:
                weight = r.choice((f"gl_TessCoord.{'xyz'[i]}", f"gl_TessCoord[{i}]"))
                terms.append(r.choice((f"{at[i]} * {weight}", f"{weight} * {at[i]}")))
            return f"({' + '.join(terms)})"
        if self.domain == "isolines":
            return r.choice((f"mix({at[0]}, {at[3]}, {x})",
                             f"({at[0]} * (1.0 - {x}) + {at[1]} * {x})"))  # fmt: skip
        if r.random() < 0.5:
            return f"mix(mix({at[0]}, {at[1]}, {x}), mix({at[3]}, {at[2]}, {x}), {y})"
        return (f"({at[0]} * (1.0 - {x}) * (1.0 - {y}) + {at[1]} * {x} * (1.0 - {y})"
                f" + {at[2]} * {x} * {y} + {at[3]} * (1.0 - {x}) * {y})")  # fmt: skip


class Geometry(Stage):
    """Emits vertices in a loop, one after the other, or both; some under a condition."""

    def __init__(self, r: Random, ins: Border | None, outs: Border | None, shape: Shape) -> None:
        super().__init__(r, ins, outs)
        self.count = MANY[shape.input]
        self.output_kind = r.choice(("points", "line_strip", "triangle_strip", "triangle_strip"))
        self.layers = r.random() < 0.15
        words = [shape.input] + ([f"invocations = {r.randint(2, 3)}"] if r.random() < 0.2 else [])
        self.layout = [
            f"layout({', '.join(words)}) in;",
            f"layout({self.output_kind}, max_vertices = 8) out;",
        ]

    def main(self) -> None:
        r = self.r
        self.read([str(i) for i in range(self.count)])
        self.scope.append(Value("gl_PrimitiveIDIn", "int"))
        self.statements(r.choice((0, 0, 1)))
        shape = r.randrange(3)
        if shape == 0:
            for i in range(4):
                self.vertex(str(i % self.count), str(i))
        else:
            rounds = r.randint(3, 4)
            with self.braces(f"for (int v = 0; v < {rounds}; ++v)"):
                self.loops += 1
                index = "v" if self.count >= rounds else f"v % {self.count}"
                self.vertex(index, "v")
                self.loops -= 1
            if shape == 2:
                self.put("EndPrimitive();")
                for i in range(3):
                    self.vertex(str((i + 1) % self.count), str(3 - i))
        if r.random() < 0.7:
            self.put("EndPrimitive();")

    def vertex(self, index: str, number: str) -> None:
        """All outputs, then an emit."""
        r = self.r
        head = ""
        if self.output_kind == "points" and r.random() < 0.3:
            head = f"if (({number} & 1) == 0 || {self.condition()})"  # not all of them go
        with self.braces(head):
            offset = f"vec4(float({number} & 1) * 0.25, float({number} >> 1) * 0.25, 0.0, 0.0)"
            self.put(f"gl_Position = gl_in[{index}].gl_Position + {offset};")
            if self.output_kind == "points":
                self.put("gl_PointSize = 3.0;")
            if self.layers:
                self.put("gl_Layer = gl_PrimitiveIDIn % 3;")
            if number == "v":
                self.scope.append(Value("v", "int"))
            for varying in self.varyings():
                self.output(varying, "", index)
            self.hand_extras("", index)
            self.statements(r.choice((0, 0, 1)), 1)
            self.put("EmitVertex();")


class Mesh(Stage):
    """Quads, a few to a workgroup; each invocation writes a vertex and perhaps a primitive."""

    def __init__(
        self, r: Random, ins: Border | None, outs: Border | None, payload: list[tuple[str, str]]
    ) -> None:
        super().__init__(r, ins, outs)
        self.quads = r.randint(1, 3)
        self.payload_members = payload
        vertices, primitives = self.quads * 4, self.quads * 2
        self.layout = [
            f"layout(local_size_x = {vertices}) in;",
            f"layout(triangles, max_vertices = {vertices}, max_primitives = {primitives}) out;",
        ]
        if payload:
            self.globals = [Task.declaration(payload)]

    def main(self) -> None:
        r = self.r
        vertices, primitives = self.quads * 4, self.quads * 2
        self.put("uint lane = gl_LocalInvocationIndex;")
        group = "gl_WorkGroupID.x + gl_WorkGroupID.y * 4u"
        self.put(f"uint group = {'payload.group' if self.payload_members else group};")
        self.put(f"SetMeshOutputsEXT({vertices}, {primitives});")
        self.scope += [Value("lane", "uint"), Value("group", "uint")]
        self.scope += [Value(f"payload.{name}", type) for type, name in self.payload_members]
        self.statements(r.choice((0, 1, 2)))
        shift = r.choice((0, 0, 0, 1))
        self.put("vec2 cell = vec2(group & 3u, (group >> 2u) & 3u) * 0.5 - 1.0;")
        self.put("vec2 at = vec2(lane & 1u, (lane >> 1u) & 1u) * 0.45;")
        # Upright rectangles take a path of their own in lavapipe, with another coverage of samples.
        self.put("vec2 place = cell + at + at.yx * 0.15 + float(lane >> 2u) * 0.07;")
        self.put("gl_MeshVerticesEXT[lane].gl_Position = vec4(place, 0.5, 1.0);")
        for varying in self.varyings():
            if not varying.prefix:
                self.element(varying, f"[(lane + {shift}u) % {vertices}u]" if shift else "[lane]")
        self.hand_extras("[lane]", "lane")
        with self.braces(f"if (lane < {primitives}u)"):
            first = "((lane >> 1u) * 4u + (lane & 1u))"
            indices = f"uvec3({first}, {first} + 1u, {first} + 2u)"
            self.put(f"gl_PrimitiveTriangleIndicesEXT[lane] = {indices};")
            for varying in self.varyings():
                if varying.prefix:
                    self.element(varying, "[lane]")

    def element(self, varying: Varying, index: str) -> None:
        """Outputs of a mesh shader are written and never read. Vectors are written whole: lavapipe
        (Mesa 25.0) loses what is stored to single components of them.
        """
        r = self.r
        for expr, type in varying.roots("out", index):
            kind = r.randrange(4)
            constant = r.random() < 0.2
            if kind == 0:
                self.per_path(expr, type, constant)
            elif kind == 1:
                with self.braces(f"if ({self.condition()})"):
                    self.put(f"{expr} = {self.construct(type, constant)};")
                with self.braces("else"):
                    self.per_path(expr, type, False)
            elif kind == 2:
                for path, inner in paths(type, expr):
                    self.put(f"{path} = {self.crossing(inner, '0')};")
            else:
                self.put(f"{expr} = {self.construct(type, constant)};")


class Task(Stage):
    """One invocation fills the payload."""

    def __init__(
        self, r: Random, ins: Border | None, outs: Border | None, payload: list[tuple[str, str]]
    ) -> None:
        super().__init__(r, ins, outs)
        self.members = payload
        self.layout = ["layout(local_size_x = 1) in;"]
        self.globals = [self.declaration(payload)]

    @staticmethod
    def payload(r: Random) -> list[tuple[str, str]]:
        """(type, name) of the members besides the group's number."""
        return [
            (vector(r.choice(("float", "float", "int", "uint")), r.randint(1, 4)), f"p{i}")
            for i in range(r.randint(1, 5))
        ]

    @staticmethod
    def declaration(payload: list[tuple[str, str]]) -> str:
        members = " ".join(f"{type} {name};" for type, name in payload)
        return f"taskPayloadSharedEXT struct {{ {members} uint group; }} payload;"

    def main(self) -> None:
        r = self.r
        self.put("uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * 4u;")
        self.scope.append(Value("group", "uint"))
        self.statements(r.choice((0, 1, 2)))
        self.put("payload.group = group;")
        for type, name in self.members:
            self.put(f"payload.{name} = {self.crossing(type, '0')};")
            self.scope.append(Value(f"payload.{name}", type, r.random() < 0.5))
        self.statements(r.choice((0, 1)))
        self.put(f"EmitMeshTasksEXT({r.choice(('1', '2', '1u + (group & 1u)'))}, 1, 1);")
