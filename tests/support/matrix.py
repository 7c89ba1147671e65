"""Every border x every optimization x every kind of varying, as GLSL from a compact table.

A *row* is a border and what qualifies the varyings there (``vert->frag``, ``tesc->tese patch``); a
*form* is their type. A chain is made for each row and optimization; in it every form has two
scalars, p and q, which are what the optimization is about: two variables ``p_f32`` and ``q_f32``,
or an array of two. What the consumer makes of them goes through a sine of something that only the
consumer has, so that nothing moves but what the optimization is meant to move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from tests.support.glslang import compile_files
from tests.support.samples import compile_glsl

EXTENSIONS = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
"""
MESH_EXTENSION = "#extension GL_EXT_mesh_shader : require\n"


@dataclass(frozen=True)
class Form:
    """A type of varying: ``p`` and ``q`` are two variables, two elements of an array, or two of the
    four components of a matrix."""

    name: str
    type: str
    array: bool = False
    index: bool = False  # elements are read with an index that nobody knows
    size: int = 4  # bytes of a scalar
    matrix: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        p, q = f"p_{self.name}", f"q_{self.name}"
        return (p,) if self.array or self.matrix else (p, q)

    def written(self, at: str, p: str, q: str) -> str:
        """Stores of two float expressions, ``at`` the index of the vertex or nothing."""
        targets = [f"{n}{at}" for n in self.names]
        if self.array:
            targets = [f"{targets[0]}[0]", f"{targets[0]}[1]"]
        if self.matrix:
            return f"{targets[0]} = {self.type}(sin(x.x), {p}, {q}, x.y);\n"
        return "".join(f"{t} = {self.type}({e});\n" for t, e in zip(targets, (p, q)))

    def read(self, at: str) -> tuple[str, str]:
        """The two scalars as float expressions; ``pick`` is 0 or 1."""
        if self.matrix:
            return f"{self.names[0]}{at}[0][1]", f"{self.names[0]}{at}[1][0]"
        if not self.array:
            return f"float({self.names[0]}{at})", f"float({self.names[1]}{at})"
        indices = ("pick", "1 - pick") if self.index else ("0", "1")
        first, second = (f"float({self.names[0]}{at}[{i}])" for i in indices)
        return first, second


FORMS = (
    Form("f32", "float"),
    Form("f16", "float16_t", size=2),
    Form("f64", "double", size=8),
    Form("array", "float", array=True),
    Form("dynamic", "float", array=True, index=True),
)
MATRIX = Form("matrix", "mat2", matrix=True)  # in chains of its own
PASSES = (
    "dead", "undefined", "partly", "constant", "uniform", "duplicate", "backward", "forward",
    "compaction",
)  # fmt: skip
NEED_A_READER = ("undefined", "partly", "backward")


@dataclass(frozen=True)
class Row:
    """A border, with the stages around it, and the qualifier of the varyings that are tested."""

    producer: str
    consumer: str  # empty: nobody reads what the last stage writes
    stages: tuple[str, ...]
    kind: str = "vertex"  # or patch, primitive, payload, xfb
    matrices: bool = False  # nothing else is tested

    @property
    def name(self) -> str:
        return f"{self.producer}->{self.consumer or 'nothing'} {self.kind}"

    @property
    def passes(self) -> tuple[str, ...]:
        return tuple(p for p in PASSES if self.consumer or p not in NEED_A_READER)

    @property
    def forms(self) -> tuple[Form, ...]:
        """Those that exist: transform feedback captures 32 and 64 bits only."""
        if self.matrices:
            return (MATRIX,)
        return tuple(f for f in FORMS if self.kind != "xfb" or f.size != 2)

    @property
    def environment(self) -> str:
        return "vulkan1.2" if "mesh" in self.stages else "vulkan1.1"


PAYLOAD = "payload"
TESSELLATED = ("vert", "tesc", "tese")
ROWS = (
    Row("vert", "frag", ("vert", "frag")),
    Row("vert", "frag", ("vert", "frag"), "xfb"),
    Row("vert", "tesc", (*TESSELLATED, "frag")),
    Row("tesc", "tese", (*TESSELLATED, "frag")),
    Row("tesc", "tese", (*TESSELLATED, "frag"), "patch"),
    Row("tese", "frag", (*TESSELLATED, "frag")),
    Row("tese", "frag", (*TESSELLATED, "frag"), "xfb"),
    Row("vert", "geom", ("vert", "geom", "frag")),
    Row("tese", "geom", (*TESSELLATED, "geom", "frag")),
    Row("geom", "frag", ("vert", "geom", "frag")),
    Row("geom", "frag", ("vert", "geom", "frag"), "xfb"),
    Row("mesh", "frag", ("mesh", "frag")),
    Row("mesh", "frag", ("mesh", "frag"), "primitive"),
    Row("task", "mesh", ("task", "mesh", "frag"), PAYLOAD),
    Row("vert", "", ("vert",)),
    Row("vert", "", ("vert",), "xfb"),
    Row("tese", "", TESSELLATED),
    Row("tese", "", TESSELLATED, "xfb"),
    Row("geom", "", ("vert", "geom")),
    Row("geom", "", ("vert", "geom"), "xfb"),
)
# Transform feedback would capture the components that nobody reads.
MATRIX_ROWS = tuple(replace(row, matrices=True) for row in ROWS if row.kind != "xfb")
# What no valid pipeline has, and why.
IMPOSSIBLE = {
    "patch": "only control and evaluation shaders have a patch",
    "primitive": "only mesh shaders write, and only fragment shaders read, one value a primitive",
    PAYLOAD: "only a task shader hands on a payload, and only to mesh shaders",
    "xfb": "transform feedback captures the last stage before rasterization, no mesh shader and"
    " nothing of 16 bits",
    "vert->tese": "a vertex shader's outputs go to a control shader if there is an evaluation"
    " shader",
    "tesc->geom": "only an evaluation shader reads a control shader's outputs",
    "mesh->geom": "mesh shaders stand alone before rasterization",
    "undefined, nobody reads": "an input that nobody writes takes a consumer",
    "partly, nobody reads": "the same, and nothing is done but what is done to dead ones",
    "backward, nobody reads": "there is no consumer whose work could move",
}


# --- the parts of a chain ---


def value(form: int, second: int = 0) -> str:
    """Something of the producer's ``x`` that differs between vertices, forms and scalars, and is
    worth a component."""
    n = 1.25 + form * 0.5 + second * 0.25
    return f"(sin(x.x * {n}) * cos(x.y + {n}) + x.z * {n})"


def stored(row: Row, optimization: str, at: str) -> str:
    """What the producer stores."""
    text = ""
    for number, form in enumerate(row.forms):
        p, q = value(number), value(number, 1)
        if optimization == "undefined":
            continue
        if optimization in ("constant", "partly"):
            p, q = f"{0.25 + number}", f"{0.5 + number}"
        elif optimization == "uniform":
            p, q = f"ub.v.x * {1.5 + number}", f"ub.v.y + {1.5 + number}"
        elif optimization == "duplicate":
            q = p
        elif optimization == "forward":
            p, q = f"{p} * 2.0 + 0.25", f"{p} * 3.0 - 0.5"
        text += form.written(at, p, q)
    if optimization == "partly":  # on some paths only
        text = f"if (x.x > 0.1) {{\n{text}}}\n"
    return f"live{at} = y.wzyx * y.x;\n{text}"


def read(row: Row, optimization: str, at: str, own: str) -> str:
    """What the consumer makes of it: ``r``. ``own``: a float that only this stage knows."""
    lines = [f"vec4 r = live{at} * 0.5;", f"int pick = {own} > 0.7 ? 1 : 0;"]
    if optimization == "uniform":
        lines.append("r += ub.v.zwzw * 0.125;")
    twice = f"({own} * {own})"
    for number, form in enumerate(row.forms):
        p, q = form.read(at)
        lane = f"r[{number % 4}]"
        if optimization in ("undefined", "partly"):  # what is drawn must not depend on it
            lines.append(f"if (live{at}.x > 1.0e9) {lane} += {p} + {q};")
        elif optimization == "backward":
            lines.append(f"{lane} += 0.25 * sin(({p} * 0.5 + {q}) * {own});")
        elif optimization != "dead":
            lines.append(f"{lane} += 0.25 * sin({p} * {own}) + 0.125 * sin({q} * {twice});")
    return "\n".join(lines) + "\n"


def declared(row: Row, side: str) -> str:
    """The varyings that are tested. ``side``: in or out."""
    stage = row.producer if side == "out" else row.consumer
    arrayed = row.kind != "patch" and (
        stage in ("tesc", "mesh") or (side == "in" and stage in ("tese", "geom"))
    )
    over = "[]" if arrayed else ""
    words = {"patch": "patch ", "primitive": "perprimitiveEXT "}.get(row.kind, "")
    text = f"layout(location = 0) {words}{side} vec4 live{over};\n"
    location, offset = 1, 0
    forms = sorted(row.forms, key=lambda f: -f.size)  # so that their offsets are aligned
    stride = sum(2 * f.size for f in forms)
    for form in forms:
        flat = "flat " if form.size == 8 and row.consumer == "frag" else ""
        for name in form.names:
            shape = over + ("[2]" if form.array else "")
            layout = f"location = {location}"
            if row.kind == "xfb" and side == "out":
                layout += f", xfb_buffer = 0, xfb_offset = {offset}, xfb_stride = {stride}"
            text += f"layout({layout}) {words}{flat}{side} {form.type} {name}{shape};\n"
            location += 2 if form.array or form.matrix else 1
            offset += form.size * (2 if form.array else 1)
    return text


def payload_of(row: Row) -> str:
    """The same as members of a payload; its names stand for them."""
    text, names = "vec4 live;\n", ["live"]
    for form in sorted(row.forms, key=lambda f: -f.size):
        for name in form.names:
            text += f"{form.type} {name}{'[2]' if form.array else ''};\n"
            names.append(name)
    text = f"taskPayloadSharedEXT struct {{\n{text}}} {PAYLOAD};\n"
    return text + "".join(f"#define {name} {PAYLOAD}.{name}\n" for name in names)


UNIFORM = "layout(binding = 0) uniform U { vec4 v; } ub;\n"
ATTRIBUTES = """layout(location = 0) in vec3 position;
layout(location = 1) in vec4 a;
layout(location = 2) in vec4 b;
"""
LEVELS = """gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 3.0;
gl_TessLevelInner[0] = 2.0;
"""
FAN = """SetMeshOutputsEXT(9, 8);
uint i = gl_LocalInvocationIndex;
float angle = float(i) * 0.785398;
vec2 spot = i == 8 ? vec2(0.0) : vec2(cos(angle), sin(angle)) * 0.9;
gl_MeshVerticesEXT[i].gl_Position = vec4(spot, 0.5, 1.0);
if (i < 8) gl_PrimitiveTriangleIndicesEXT[i] = uvec3(i, (i + 1) % 8, 8);
vec4 x = vec4(spot * 0.5 + 0.5, float(i) * 0.1, 1.0), y = vec4(cos(spot * 3.0), spot);
"""
GROUP = "vec4 x = work.x, y = work.y;\n"
MODES = {
    "vert": ATTRIBUTES,
    "tesc": "layout(vertices = 3) out;\n",
    "tese": "layout(triangles) in;\n",
    "geom": "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\n",
    "task": "layout(local_size_x = 1) in;\n"
    "layout(binding = 1) uniform Work { vec4 x, y; } work;\n",  # no other stage's
    "mesh": "layout(local_size_x = 9) in;\n"
    "layout(triangles, max_vertices = 9, max_primitives = 8) out;\n",
    "frag": "layout(location = 0) out vec4 color;\n",
}


def weighted(name: str) -> str:
    return " + ".join(f"{name}[{i}] * gl_TessCoord.{c}" for i, c in enumerate("xyz"))


class Maker:
    """The stages of one chain. What is not tested hands vec4s on: ``x`` and ``y`` before the
    producer, ``r`` behind the consumer."""

    def __init__(self, row: Row, optimization: str) -> None:
        self.row = row
        self.optimization = optimization
        self.declarations = ""

    def taken(self, stage: str, at: str, own: str) -> str:
        """What a stage reads for one vertex."""
        row = self.row
        if stage == row.consumer:
            return read(row, self.optimization, at, own)
        if self.behind(stage):
            return f"vec4 r = r_in{at};\n"
        return f"vec4 x = x_in{at}, y = y_in{at};\n"

    def given(self, stage: str, at: str) -> str:
        """What it stores for one vertex."""
        row = self.row
        if stage == row.producer:
            return stored(row, self.optimization, at)
        if stage == row.consumer or self.behind(stage):
            return f"r_out{at} = r;\n"
        return f"x_out{at} = x; y_out{at} = y;\n"

    def behind(self, stage: str) -> bool:
        stages = self.row.stages
        end = self.row.consumer or self.row.producer
        return stages.index(stage) > stages.index(end)

    def interface(self, stage: str) -> str:
        row = self.row
        over = "[]" if stage in ("tesc", "tese", "geom") else ""
        text = ""
        if row.kind == PAYLOAD and stage in (row.producer, row.consumer):
            text += payload_of(row)
        elif stage == row.consumer:
            text += declared(row, "in")
        elif self.behind(stage):
            text += f"layout(location = 0) in vec4 r_in{over};\n"
        elif stage not in ("vert", "mesh"):
            for place, name in enumerate(("x_in", "y_in")):
                text += f"layout(location = {place}) in vec4 {name}{over};\n"
        over = "[]" if stage in ("tesc", "mesh") else ""
        if stage == row.producer:
            text += declared(row, "out") if row.kind != PAYLOAD else ""
        elif stage != "frag" and (stage == row.consumer or self.behind(stage)):
            text += f"layout(location = 0) out vec4 r_out{over};\n"
        elif stage != "frag":
            for place, name in enumerate(("x_out", "y_out")):
                text += f"layout(location = {place}) out vec4 {name}{over};\n"
        return text

    def stage(self, stage: str) -> str:
        """The GLSL of one stage."""
        lines = MESH_EXTENSION if "mesh" in self.row.stages else ""
        body = getattr(self, stage)()
        uniform = UNIFORM if "ub.v" in body else ""
        head = f"#version 450\n{EXTENSIONS}{lines}{MODES[stage]}{uniform}"
        return f"{head}{self.interface(stage)}void main() {{\n{body}}}\n"

    def vert(self) -> str:
        given = self.given("vert", "")
        return f"gl_Position = vec4(position, 1.0);\nvec4 x = a, y = b;\n{given}"

    def tesc(self) -> str:
        own, patch = "[gl_InvocationID]", self.row.kind == "patch"
        taken = self.taken("tesc", own, "float(gl_InvocationID)")
        if patch:
            taken = self.taken("tesc", "[0]", "1.0")
        given = self.given("tesc", "" if patch else own)
        return f"{LEVELS}{taken}{given}"

    def tese(self) -> str:
        row = self.row
        place = "gl_Position = " + " + ".join(
            f"gl_in[{i}].gl_Position * gl_TessCoord.{c}" for i, c in enumerate("xyz")
        )
        if row.consumer == "tese" and row.kind == "patch":
            taken = self.taken("tese", "", "gl_TessCoord.x")
        elif row.consumer == "tese":
            taken = "vec4 sum = vec4(0.0);\n"
            for i, c in enumerate("xyz"):
                one = self.taken("tese", f"[{i}]", f"(gl_TessCoord.{c} + 0.5)")
                taken += f"{{ {one} sum += r * gl_TessCoord.{c}; }}\n"
            taken += "vec4 r = sum;\n"
        elif self.behind("tese"):
            taken = f"vec4 r = {weighted('r_in')};\n"
        else:
            taken = f"vec4 x = {weighted('x_in')}, y = {weighted('y_in')};\n"
        return f"{place};\n{taken}{self.given('tese', '')}"

    def geom(self) -> str:
        taken = self.taken("geom", "[i]", "(float(i) + 0.25)")
        given = self.given("geom", "")
        place = "gl_Position = gl_in[i].gl_Position; EmitVertex();"
        return f"for (int i = 0; i < 3; ++i) {{\n{taken}{given}{place} }}\n"

    def task(self) -> str:
        return f"{GROUP}{self.given('task', '')}EmitMeshTasksEXT(1, 1, 1);\n"

    def mesh(self) -> str:
        if self.row.kind == PAYLOAD:
            taken = self.taken("mesh", "", "(float(i) * 0.1 + 0.25)")
            return f"{FAN}{taken}{self.given('mesh', '[i]')}"
        given = self.given("mesh", "[i]")
        if self.row.kind == "primitive":
            live, _, rest = given.partition("\n")
            given = f"{live}\nif (i < 8) {{ {rest} }}\n"
        return FAN + given

    def frag(self) -> str:
        return self.taken("frag", "", "(gl_FragCoord.x * 0.01)") + "color = r;\n"


@cache
def sources(row: Row, optimization: str) -> tuple[tuple[str, str], ...]:
    """(stage, GLSL) of a chain, in pipeline order."""
    maker = Maker(row, optimization)
    return tuple((stage, maker.stage(stage)) for stage in row.stages)


@cache
def build(row: Row, optimization: str) -> tuple[bytes, ...]:
    """The modules of a chain. One process compiles all stages, since starting it is what takes
    time; but glslang 12 mistakes arrays of a patch for arrays over vertices if it sees both sides.
    """
    if row.kind == "patch":
        return tuple(one(s, text, row.environment) for s, text in sources(row, optimization))
    texts = {f"s.{stage}": text for stage, text in sources(row, optimization)}
    return tuple(compile_files(["-V", "--target-env", row.environment], texts))


@cache
def one(stage: str, text: str, environment: str) -> bytes:
    return compile_glsl(text, stage, environment)
