"""Every built-in x every border that it crosses x every way to write it, as GLSL from a table.

The stages hand on ``at``, the place of a vertex, and ``v``, numbers of its own; positions are made
of these alone, so that gl_Position itself may be tested between two stages. The consumer adds what
it reads of the built-in to ``r``, which becomes the colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tests.support.samples import compile_glsl

CHAINS = {
    "vert->frag": ("vert", "frag"),
    "vert->geom": ("vert", "geom", "frag"),
    "geom->frag": ("vert", "geom", "frag"),
    "vert->tesc": ("vert", "tesc", "tese", "frag"),
    "tesc->tesc": ("vert", "tesc", "tese", "frag"),  # it reads back what it wrote
    "tesc->tese": ("vert", "tesc", "tese", "frag"),
    "tese->frag": ("vert", "tesc", "tese", "frag"),
    "tese->geom": ("vert", "tesc", "tese", "geom", "frag"),
    "mesh->frag": ("mesh", "frag"),
}
LAST = tuple(b for b in CHAINS if b.endswith("frag"))
MIDDLE = tuple(b for b in CHAINS if b not in LAST)


@dataclass(frozen=True)
class BuiltIn:
    """``number``: of the specification; ``parts``: how its components are named, with ``size`` of
    its array."""

    name: str
    number: int
    type: str
    borders: tuple[str, ...]
    parts: tuple[str, ...] = ("",)
    size: int = 0

    @property
    def integer(self) -> bool:
        return self.type == "int"

    @property
    def level(self) -> bool:
        return "Tess" in self.name


TWO = ("[0]", "[1]")
BUILTINS = (
    BuiltIn("gl_Position", 0, "vec4", MIDDLE, (".x", ".y", ".z", ".w")),
    BuiltIn("gl_PointSize", 1, "float", MIDDLE),
    BuiltIn("gl_ClipDistance", 3, "float", tuple(CHAINS), TWO, 2),
    BuiltIn("gl_CullDistance", 4, "float", tuple(CHAINS), TWO, 2),
    BuiltIn("gl_PrimitiveID", 7, "int", ("geom->frag", "mesh->frag")),
    BuiltIn("gl_Layer", 9, "int", LAST),
    BuiltIn("gl_ViewportIndex", 10, "int", LAST),
    BuiltIn("gl_TessLevelOuter", 11, "float", ("tesc->tesc", "tesc->tese"), TWO),
    BuiltIn("gl_TessLevelInner", 12, "float", ("tesc->tesc", "tesc->tese"), ("[0]",)),
)
WAYS = ("constant", "uniform", "never", "partly", "duplicate", "vertex")
UNIFORM = "layout(binding = 0) uniform U { vec4 v; ivec4 k; } ub;\n"
EXTENSIONS = {
    "mesh": "#extension GL_EXT_mesh_shader : require\n",
    "vert": "#extension GL_ARB_shader_viewport_layer_array : require\n",
    "tese": "#extension GL_ARB_shader_viewport_layer_array : require\n",
}
MODES = {
    "vert": "layout(location = 0) in vec3 position;\nlayout(location = 1) in vec4 a;\n",
    "tesc": "layout(vertices = 3) out;\n",
    "tese": "layout(triangles) in;\n",
    "geom": "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\n",
    "mesh": "layout(local_size_x = 9) in;\n"
    "layout(triangles, max_vertices = 9, max_primitives = 8) out;\n",
    "frag": "layout(location = 0) out vec4 color;\n",
}
OWN = "[gl_InvocationID]"
LEVELS = """gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 3.0;
gl_TessLevelInner[0] = 2.0;
"""
FAN = """SetMeshOutputsEXT(9, 8);
uint i = gl_LocalInvocationIndex;
float angle = float(i) * 0.785398;
vec2 spot = i == 8 ? vec2(0.0) : vec2(cos(angle), sin(angle)) * 0.9;
if (i < 8) gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, (i + 1) % 8, 8);
vec4 p = vec4(spot, 0.5, 1.0), v = vec4(spot * 0.5 + 0.5, float(i) * 0.1, 1.0);
"""


@dataclass(frozen=True)
class Cell:
    """One case."""

    builtin: BuiltIn
    border: str
    way: str

    @property
    def name(self) -> str:
        return f"{self.builtin.name}-{self.border}-{self.way}"

    @property
    def producer(self) -> str:
        return self.border.partition("->")[0]

    @property
    def consumer(self) -> str:
        return self.border.partition("->")[2]

    @property
    def per_primitive(self) -> bool:
        return self.producer == "mesh" and self.builtin.integer


def exists(builtin: BuiltIn, border: str, way: str) -> bool:
    """A primitive's number must be written, and levels, without which nothing is drawn."""
    if way == "never":
        return builtin.number != 7 and not builtin.level
    if way == "duplicate":
        return border != "tesc->tesc"
    return way != "partly" or len(builtin.parts) > 1 or not builtin.level


CELLS = tuple(
    Cell(b, border, way)
    for b in BUILTINS for border in b.borders for way in WAYS if exists(b, border, way)
)  # fmt: skip


def values(cell: Cell) -> list[str]:
    """What is stored in each component; empty: nothing."""
    builtin, way = cell.builtin, cell.way
    count = range(len(builtin.parts))
    if builtin.integer:
        one = {
            "constant": "0",
            "partly": "0",
            "never": "",
            "uniform": "(ub.k.x > 100000 ? 1 : 0)",
        }.get(way, "(v.x > 1.0e9 ? 1 : 0)")
        return [one]
    if builtin.level:
        per = {
            "constant": "{n}.0",
            "uniform": "(clamp(ub.v.x, 0.5, 1.0) + {n}.0)",
            "partly": "{n}.0",
        }.get(way, "(min(v.x, 1.0) + {n}.0)")
        found = [per.format(n=2 + n) for n in count]
        return found[:1] * len(found) if way == "duplicate" else found
    if way in ("constant", "partly"):
        found = [f"{1.25 + n}" for n in count]
        return found[:1] + [""] * (len(found) - 1) if way == "partly" else found
    if way == "uniform":
        return [f"(ub.v.x * ub.v.x + {1.5 + n})" for n in count]
    if way == "never":
        return ["" for _ in count]
    found = [f"(v.x * v.x * {1 + n}.0 + {1.5 + n})" for n in count]
    return found[:1] * len(found) if way == "duplicate" else found


def stores(cell: Cell) -> str:
    """The producer's stores; one component is stored on some paths only."""
    builtin = cell.builtin
    before = {"tesc": f"gl_out{OWN}.", "mesh": "gl_MeshVerticesEXT[i]."}.get(cell.producer, "")
    if cell.per_primitive:
        before = "gl_MeshPrimitivesEXT[i]."
    if builtin.level:
        before = ""
    text = ""
    for part, value in zip(builtin.parts, values(cell)):
        if value:
            text += f"{before}{builtin.name}{part} = {value};\n"
    if cell.way == "partly" and len(builtin.parts) == 1:
        # a layer or viewport that is not written is undefined: nobody knows that this one is
        test = "v.y > -1.0e9" if builtin.integer else "v.y > 0.5"
        text = f"if ({test}) {{ {text} }}\n"
    if cell.per_primitive:
        text = f"if (i < 8) {{ {text} }}\n"
    return text


def reads(cell: Cell, at: str) -> str:
    """What the consumer makes of it. What may be undefined must not be seen."""
    builtin = cell.builtin
    before = f"gl_in{at}." if cell.consumer in ("tesc", "tese", "geom") else ""
    if cell.border == "tesc->tesc":
        before = f"gl_out{OWN}."
    if builtin.level:
        before = ""
    lines = []
    if cell.way == "uniform":
        lines.append("r += ub.v * 0.125 + vec4(ub.k) * 1.0e-9;")
    single = len(builtin.parts) == 1
    for n, (part, value) in enumerate(zip(builtin.parts, values(cell))):
        hidden = not value or (cell.way == "partly" and single and not builtin.level)
        test = "if (r.w > 1.0e9) " if hidden else ""
        lines.append(f"{test}r[{n}] += 0.125 * sin(float({before}{builtin.name}{part}) + r.w);")
    return "\n".join(lines) + "\n"


def block(cell: Cell, stage: str, side: str) -> str:
    """gl_PerVertex, with what is tested if that crosses here."""
    builtin = cell.builtin
    end = cell.producer if side == "out" else cell.consumer
    crosses = stage == end and not builtin.integer and not builtin.level
    if cell.border == "tesc->tesc":
        # what one side of a border declares the other one does
        near = {("tesc", "out"), ("tese", "in")}
        crosses = (stage, side) in near and not builtin.level
    if crosses and side == "out" and cell.way == "never" and cell.consumer == "frag":
        crosses = False
    members = "vec4 gl_Position; "
    if crosses and builtin.number:
        over = f"[{builtin.size}]" if builtin.size else ""
        members += f"{builtin.type} {builtin.name}{over}; "
    name = {"tesc": "gl_out[]"}.get(stage, "") if side == "out" else "gl_in[]"
    if stage == "mesh":
        return f"out gl_MeshPerVertexEXT {{ {members}}} gl_MeshVerticesEXT[];\n"
    return f"{side} gl_PerVertex {{ {members}}} {name};\n"


def interface(cell: Cell, stage: str) -> str:
    """What a stage declares."""
    text = ""
    stages = CHAINS[cell.border]
    behind = stages.index(stage) > stages.index(cell.consumer)
    if stage == "frag":
        if stage == cell.consumer and cell.builtin.size:
            text += f"in float {cell.builtin.name}[{cell.builtin.size}];\n"
    elif stage not in ("vert", "mesh"):
        text += block(cell, stage, "in")
    over = "[]" if stage in ("tesc", "tese", "geom") else ""
    names = ("at", "v", "r") if behind else ("at", "v")
    if stage not in ("vert", "mesh"):
        for place, name in enumerate(names):
            text += f"layout(location = {place}) in vec4 {name}_in{over};\n"
        if cell.way == "duplicate" and stage == cell.consumer:
            text += twin(cell, "in", over)
    if stage == "frag":
        return text
    text += block(cell, stage, "out")
    over = "[]" if stage in ("tesc", "mesh") else ""
    names = ("at", "v", "r") if behind or stage == cell.consumer else ("at", "v")
    for place, name in enumerate(names):
        text += f"layout(location = {place}) out vec4 {name}_out{over};\n"
    if cell.way == "duplicate" and stage == cell.producer:
        text += twin(cell, "out", over)
    return text


def twin(cell: Cell, side: str, over: str) -> str:
    """A varying that says the same."""
    words = "flat " if cell.builtin.integer else ""
    if cell.builtin.level:
        words, over = "patch ", ""
    if cell.per_primitive:
        words = f"perprimitiveEXT {'flat ' if side == 'in' else ''}"
    return f"layout(location = 4) {words}{side} {cell.builtin.type} twin_{side}{over};\n"


def body(cell: Cell, stage: str) -> str:
    """What main() does."""
    stages = CHAINS[cell.border]
    behind = stages.index(stage) > stages.index(cell.consumer)
    consumes, produces = stage == cell.consumer, stage == cell.producer
    out = OWN if stage == "tesc" else "[i]" if stage == "mesh" else ""

    def taken(at: str) -> str:
        if consumes:
            more = ""
            if cell.way == "duplicate":
                lane = ".y" if cell.builtin.type == "vec4" else ""
                name = "twin_in" if cell.builtin.level else f"twin_in{at}{lane}"
                more = f"r.z += 0.25 * cos(float({name}) + r.w);\n"
            return f"vec4 r = v * 0.5;\n{reads(cell, at)}{more}"
        return f"vec4 r = r_in{at};\n" if behind else ""

    given = f"at_out{out} = p; v_out{out} = v;\n"
    tested = cell.builtin.number == 0 and produces
    if behind or consumes:
        given += f"r_out{out} = r;\n"
    if produces and cell.border != "tesc->tesc":
        given += stores(cell)
        if cell.way == "duplicate":
            twin = values(cell)[0]
            if cell.builtin.type == "vec4":
                twin = f"vec4({twin})"
            store = f"twin_out{'' if cell.builtin.level else out} = {twin};\n"
            if cell.per_primitive:
                given = given.removesuffix("}\n") + f"{store} }}\n"
            else:
                given += store
    if stage == "vert":
        place = "" if tested else "gl_Position = p;\n"
        return f"vec4 p = vec4(position, 1.0), v = a;\n{place}{given}"
    if stage == "mesh":
        return f"{FAN}gl_MeshVerticesEXT[i].gl_Position = p;\n{given}"
    if stage == "tesc":
        early = stores(cell) if cell.border == "tesc->tesc" else ""
        levels = "" if cell.builtin.level and produces else LEVELS
        if cell.builtin.level and produces:
            levels = (
                LEVELS.replace("gl_TessLevelOuter[0] = ", "") if cell.way == "partly" else LEVELS
            )
        place = "" if tested else f"gl_out{OWN}.gl_Position = p;\n"
        head = f"vec4 p = at_in{OWN}, v = v_in{OWN};\n"
        if cell.builtin.level:
            head = head.replace(f"v_in{OWN}", "v_in[0]")
        return f"{head}{levels}{place}{early}{taken(OWN)}{given}"
    if stage == "tese":
        sums = {n: " + ".join(f"{n}_in[{i}] * gl_TessCoord.{c}" for i, c in enumerate("xyz"))
                for n in ("at", "v", "r")}  # fmt: skip
        head = f"vec4 p = {sums['at']}, v = {sums['v']};\n"
        if not tested:
            head += "gl_Position = p;\n"
        if behind:
            return f"{head}vec4 r = {sums['r']};\n{given}"
        return f"{head}{taken('[1]')}{given}"
    if stage == "geom":
        head = "vec4 p = at_in[i], v = v_in[i];\ngl_Position = p;\n"
        return f"for (int i = 0; i < 3; ++i) {{\n{head}{taken('[i]')}{given}EmitVertex();\n}}\n"
    return f"vec4 v = v_in;\n{taken('')}color = r;\n"


@cache
def sources(cell: Cell) -> tuple[tuple[str, str], ...]:
    """(stage, GLSL) of a chain, in pipeline order."""
    found = []
    for stage in CHAINS[cell.border]:
        main = body(cell, stage)
        uniform = UNIFORM if "ub." in main else ""
        head = f"#version 450\n{EXTENSIONS.get(stage, '')}{MODES[stage]}{uniform}"
        if "mesh" in CHAINS[cell.border] and stage == "frag":
            head = head.replace("450\n", f"450\n{EXTENSIONS['mesh']}")
        found.append((stage, f"{head}{interface(cell, stage)}void main() {{\n{main}}}\n"))
    return tuple(found)


@cache
def build(cell: Cell) -> tuple[bytes, ...]:
    """The modules of a chain."""
    environment = "vulkan1.2" if cell.producer == "mesh" else "vulkan1.1"
    return tuple(compile_glsl(text, stage, environment) for stage, text in sources(cell))
