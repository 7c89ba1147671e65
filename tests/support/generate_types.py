"""Random pipelines of numbers of every width: ``make(seed) -> Made``.

Integers of 8, 16, 32 and 64 bits, halves, floats and doubles, addresses of buffers; on both sides
of a border qualifiers that need not match (those of interpolation, RelaxedPrecision, Invariant),
Components that share a Location, holes beside what is interpolated, values that are constant or
the same for a draw or a primitive. What GLSL cannot say is put into the modules by mutate_types.py.

All is defined: no division by zero, no conversion out of range, shifts are masked, floats stay
small; every variable is written before it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

# scalar type: (name of its vectors, class, bits)
KINDS = {
    "int8_t": ("i8vec", "int", 8), "uint8_t": ("u8vec", "uint", 8),
    "int16_t": ("i16vec", "int", 16), "uint16_t": ("u16vec", "uint", 16),
    "int": ("ivec", "int", 32), "uint": ("uvec", "uint", 32),
    "int64_t": ("i64vec", "int", 64), "uint64_t": ("u64vec", "uint", 64),
    "float16_t": ("f16vec", "float", 16), "float": ("vec", "float", 32),
    "double": ("dvec", "float", 64),
}  # fmt: skip
INTEGERS = tuple(k for k, (_, c, _) in KINDS.items() if c != "float")
FLOATS = ("float16_t", "float", "double")
STAGES = (
    ("vert", "frag"), ("vert", "frag"), ("vert", "frag"), ("vert", "geom", "frag"),
    ("vert", "tesc", "tese", "frag"),
)  # fmt: skip
PATCHES = 16  # the first Location of values of the patch; mutate_types moves some over others
PATCH_KINDS = ("float", "float", "uint", "uint64_t", "float16_t")
HEAD = """#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node {
    vec4 tint; uvec4 bits;
};
layout(set = 0, binding = 0, std430) readonly buffer Scene {
    vec4 tint; ivec4 kind; uvec2 bits; double fine; uint64_t big; f16vec4 half_; u8vec4 bytes;
    i16vec2 words; Node node;
} scene;
layout(push_constant) uniform Push { vec4 shift; float scale; int mode; uint mask; } push;
"""
UNIFORM = (
    ("scene.tint", "float", 4), ("scene.kind", "int", 4), ("scene.bits", "uint", 2),
    ("scene.fine", "double", 1), ("scene.big", "uint64_t", 1), ("scene.half_", "float16_t", 4),
    ("scene.bytes", "uint8_t", 4), ("scene.words", "int16_t", 2), ("push.shift", "float", 4),
    ("push.scale", "float", 1), ("push.mask", "uint", 1), ("scene.node.tint", "float", 4),
)  # fmt: skip
OWN = """layout(set = 0, binding = 1) uniform Own { vec4 tint; ivec4 kind; float gain; } own;
"""  # fragment shaders do not declare it
OWN_VALUES = (("own.tint", "float", 4), ("own.kind", "int", 4), ("own.gain", "float", 1))
QUALIFIERS = ("", "", "noperspective", "centroid", "sample", "noperspective centroid")


@dataclass
class Value:
    """An expression that may be read."""

    text: str
    kind: str
    size: int = 1


@dataclass
class Varying:
    """A variable of the interface. ``address``: of a Node; ``patch``: of a patch."""

    kind: str
    size: int
    location: int
    component: int
    qualifier: str
    address: bool = False
    patch: bool = False

    @property
    def name(self) -> str:
        return f"{'p' if self.patch else 'v'}{self.location}_{self.component}"

    def declared(self, side: str, words: str, mark: str, over: str = "") -> str:
        place = f"location = {self.location}"
        if self.component:
            place += f", component = {self.component}"
        patch = "patch " if self.patch else ""
        type = spelled(self.kind, self.size)
        return f"layout({place}) {patch}{words} {side} {type} {mark}{self.name}{over};\n"


@dataclass
class Made:
    """``stages``: (stage, GLSL); ``other``: another fragment shader of the same interface."""

    stages: list[tuple[str, str]] = field(default_factory=list)
    other: str = ""


def spelled(kind: str, size: int) -> str:
    return kind if size == 1 else f"{KINDS[kind][0]}{size}"


class Code:
    """Expressions and statements of one stage."""

    def __init__(self, r: Random, own: bool = True) -> None:
        self.r = r
        self.lines: list[str] = []
        self.scope = [Value(*u) for u in (*UNIFORM, *(OWN_VALUES * 2 if own else ()))]
        self.uniform = list(self.scope)
        self.number = 0

    def fresh(self) -> str:
        self.number += 1
        return f"t{self.number}"

    # -- expressions -----------------------------------------------------------------------

    def literal(self, kind: str, size: int) -> str:
        r = self.r
        if KINDS[kind][1] == "float":
            value = r.choice(("0.0", "1.0", "0.5", "-2.0", "0.25", "3.0"))
        elif KINDS[kind][1] == "uint":
            value = r.choice(("0u", "1u", "3u", "100u", "255u"))
        else:
            value = r.choice(("0", "1", "-1", "5", "127"))
        return f"{spelled(kind, size)}({value})"

    def leaf(self, kind: str, size: int, scope: list[Value]) -> str:
        r = self.r
        same = [v for v in scope if v.kind == kind]
        if not same or r.random() < 0.25:
            if r.random() < 0.15:
                return self.literal(kind, size)
            value = r.choice(scope)
            return self.converted(self.sized(value, size), value.kind, kind, size)
        return self.sized(r.choice(same), size)

    def sized(self, value: Value, size: int) -> str:
        r = self.r
        if value.size == size and (size == 1 or r.random() < 0.6):
            return value.text
        if value.size == 1:
            return f"{spelled(value.kind, size)}({value.text})"
        return f"{value.text}.{''.join(r.choice('xyzw'[: value.size]) for _ in range(size))}"

    def converted(self, text: str, old: str, new: str, size: int) -> str:
        """``text`` of kind ``old`` as ``new``; nothing leaves its range."""
        if old == new:
            return text
        before, after = KINDS[old][1], KINDS[new][1]
        if before != "float" and after == "float":
            text = text if KINDS[old][2] == 8 else f"({text} & {old}(255))"
            return f"({spelled(new, size)}({text}) * {new}(0.03125))"
        if before == "float" and after != "float":
            low = "0.0" if after == "uint" else "-8.0"
            return f"{spelled(new, size)}(clamp({text}, {old}({low}), {old}(8.0)) * {old}(13.0))"
        return f"{spelled(new, size)}({text})"

    def expr(self, kind: str, size: int, depth: int, scope: list[Value] | None = None) -> str:
        scope = self.scope if scope is None else scope
        if depth <= 0:
            return self.leaf(kind, size, scope)
        r = self.r
        if r.random() < 0.2:
            bits = self.pieces(kind, size, scope)
            if bits:
                return bits
        if r.random() < 0.25:
            old = r.choice(tuple(KINDS))
            return self.converted(self.expr(old, size, depth - 1, scope), old, kind, size)
        make = self.floating if KINDS[kind][1] == "float" else self.integral
        return make(kind, size, depth - 1, scope)

    def floating(self, kind: str, size: int, depth: int, scope: list[Value]) -> str:
        r = self.r
        a, b = (self.expr(kind, size, depth, scope) for _ in range(2))
        way = r.randrange(10)
        if way < 5:
            return f"({a} {r.choice('+-**')} {b})"
        if way == 5:
            return f"{r.choice(('min', 'max'))}({a}, {b})"
        if way == 6:
            return f"clamp({a}, {kind}(-2.0), {kind}(2.0))"
        if way == 7:
            return f"({self.condition(scope)} ? {a} : {b})"
        return r.choice((f"(-{a})", f"abs({a})", f"({a} * {kind}(0.125))"))

    def integral(self, kind: str, size: int, depth: int, scope: list[Value]) -> str:
        r = self.r
        _, base, bits = KINDS[kind]
        a, b = (self.expr(kind, size, depth, scope) for _ in range(2))
        way = r.randrange(11)
        if way < 5:
            return f"({a} {r.choice('+-*&|^')} {b})"
        if way < 8:
            place = r.choice((r.randrange(bits), r.randrange(bits // 2, bits), bits // 2))
            amount = f"{kind}({place})" if r.random() < 0.7 else f"({b} & {kind}({bits - 1}))"
            return f"({a} {r.choice(('<<', '>>', '>>'))} {amount})"
        if way == 8:
            return f"({self.condition(scope)} ? {a} : {b})"
        if way == 9:
            op = r.choice("/%") if base == "uint" else "/"
            return f"({a} {op} (({b} & {kind}(7)) + {kind}(1)))"
        return r.choice((f"(~{a})", f"min({a}, {b})", f"max({a}, {b})", f"({a} & {kind}(15))"))

    def pieces(self, kind: str, size: int, scope: list[Value]) -> str:
        """The bits of another type."""
        r = self.r

        def of(kind: str, size: int) -> str:
            return self.expr(kind, size, 0, scope)

        found = {
            ("uint", 2): [lambda: f"unpackUint2x32({of('uint64_t', 1)})",
                          lambda: f"unpackDouble2x32({of('double', 1)})"],
            ("uint64_t", 1): [lambda: f"packUint2x32({of('uint', 2)})",
                              lambda: f"pack64({of('uint16_t', 4)})"],
            ("int64_t", 1): [lambda: f"packInt2x32({of('int', 2)})"],
            ("int", 2): [lambda: f"unpackInt2x32({of('int64_t', 1)})"],
            ("uint", 1): [lambda: f"pack32({of('uint16_t', 2)})",
                          lambda: f"pack32({of('uint8_t', 4)})",
                          lambda: f"packHalf2x16({of('float', 2)})",
                          lambda: f"floatBitsToUint({of('float', 1)})"],
            ("uint16_t", 2): [lambda: f"unpack16({of('uint', 1)})"],
            ("uint16_t", 1): [lambda: f"float16BitsToUint16({of('float16_t', 1)})",
                              lambda: f"pack16({of('uint8_t', 2)})"],
            ("uint8_t", 4): [lambda: f"unpack8({of('uint', 1)})"],
            ("int8_t", 2): [lambda: f"unpack8({of('int16_t', 1)})"],
            ("float", 2): [lambda: f"unpackHalf2x16({of('uint', 1)} & 0x3BFF3BFFu)"],
            ("float16_t", 1): [lambda: f"uint16BitsToFloat16({of('uint16_t', 1)} & "
                                       "uint16_t(0x3FFF) | uint16_t(0x2000))"],
            ("float", 1): [lambda: f"uintBitsToFloat({of('uint', 1)} & 0x7fffffu | 0x3f800000u)"],
        }.get((kind, size))  # fmt: skip
        return r.choice(found)() if found else ""

    def condition(self, scope: list[Value]) -> str:
        r = self.r
        kind = r.choice(INTEGERS)
        one, two = self.leaf(kind, 1, scope), self.leaf(kind, 1, scope)
        return f"({one} {r.choice(('<', '>=', '==', '!='))} {two})"

    # -- statements ------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.lines.append(f"    {line}\n")

    def local(self) -> None:
        r = self.r
        kind, size = r.choice(tuple(KINDS)), r.choice((1, 1, 2, 4))
        name = self.fresh()
        self.put(f"{spelled(kind, size)} {name} = {self.stored(kind, size, 2)};")
        self.scope.append(Value(name, kind, size))

    def stored(self, kind: str, size: int, depth: int, scope: list[Value] | None = None) -> str:
        """A value that stays small."""
        text = self.expr(kind, size, depth, scope)
        if KINDS[kind][1] == "float" and (depth > 1 or self.r.random() < 0.5):
            return f"clamp({text}, {kind}(-4.0), {kind}(4.0))"
        return text

    def hashes(self, source: str) -> None:
        """Numbers whose bits all differ."""
        self.put(f"uint hash = uint({source}) * 2654435761u + 77u;")
        self.put("uint64_t wide = packUint2x32(uvec2(hash, hash * 747796405u)) * 1234567ul;")
        self.scope += [Value("hash", "uint"), Value("wide", "uint64_t"), Value("wide", "uint64_t")]


def interface(r: Random) -> list[Varying]:
    """What crosses, Location by Location: each has one kind and, for fragments, one qualifier."""
    found: list[Varying] = []
    if r.random() < 0.15:  # little in each Location, read in ways of its own
        for location in range(r.randint(2, 4)):
            qualifier = r.choice((*QUALIFIERS, "flat"))
            found.append(Varying("float", r.choice((1, 1, 2)), location, 0, qualifier))
        if r.random() < 0.5:
            found.append(Varying("uint", 2, location + 1, 0, "flat", address=True))
        return found
    location = 0
    for _ in range(r.randint(2, 7)):
        kind = r.choice((*FLOATS, *["float"] * 6, "int", "uint", "uint", "int16_t",
                         "uint16_t", "int64_t", "uint64_t"))  # fmt: skip
        wide = KINDS[kind][2] == 64
        flat = kind == "double" or KINDS[kind][1] != "float" or r.random() < 0.3
        qualifier = "flat" if flat else r.choice(QUALIFIERS)
        component = r.choice((0, 0, 0, 1)) if not wide else 0
        while component < 4:
            most = (4 - component) // (2 if wide else 1)
            size = r.randint(1, most)
            if kind == "uint" and size >= 2 and r.random() < 0.3:
                found.append(Varying(kind, 2, location, component, qualifier, address=True))
            else:
                found.append(Varying(kind, size, location, component, qualifier))
            component += size * (2 if wide else 1)
            if r.random() < 0.4:
                break
            component += r.choice((0, 0, 1)) if not wide else 0
        location += r.choice((1, 1, 1, 2))
    return found


def words(r: Random, varying: Varying, consumer: bool) -> str:
    """Qualifiers: those of a fragment shader's input, or any before it."""
    found = varying.qualifier if consumer else r.choice((varying.qualifier, *QUALIFIERS, "flat"))
    if varying.patch:
        found = ""
    if not consumer and not varying.patch and r.random() < 0.1:
        found = f"invariant {found}"
    if varying.kind in ("float", "int", "uint") and r.random() < 0.2:
        found += " mediump"
    return found


def address(code: Code) -> str:
    """A Node: that of the scene or one of those behind it."""
    step = code.expr("uint", 1, 1)
    if code.r.random() < 0.3:
        return "uvec2(scene.node)"
    return f"unpackUint2x32(uint64_t(scene.node) + uint64_t({step} & 7u) * 32ul)"


def written(code: Code, varying: Varying) -> str:
    """What a stage stores: of the vertex, of the draw, a constant, a few bits."""
    r = code.r
    if varying.address:
        return address(code)
    kind, size = varying.kind, varying.size
    way = r.randrange(10)
    if way == 0:
        return code.literal(kind, size)
    if way == 1:
        return code.stored(kind, size, 1, code.uniform)
    if way >= 8:  # what a linker knows to be the same for a draw, and the fragments do not have
        return code.stored(kind, size, r.choice((0, 0, 1)), [Value(*v) for v in OWN_VALUES])
    if way == 2 and KINDS[kind][1] != "float":
        return f"({code.expr(kind, size, 1)} & {kind}({r.choice((1, 3, 15, 127))}))"
    if way == 3 and kind in ("uint", "int"):
        place = r.choice((8, 31, 32, 33, 40, 56, 63))
        return f"{spelled(kind, size)}({code.expr('uint64_t', size, 1)} >> {place})"
    return code.stored(kind, size, r.choice((0, 1, 1, 2)))


def vertex(r: Random, varyings: list[Varying]) -> str:
    code = Code(r)
    code.scope += [Value("paint", "float", 4), Value("marks", "int", 4), Value("place", "float", 2)]
    code.put("gl_Position = vec4(position.xyz, 1.0);")
    code.hashes(r.choice(("gl_VertexIndex", "gl_VertexIndex / 3", "gl_InstanceIndex")))
    for _ in range(r.randint(0, 4)):
        code.local()
    for varying in varyings:
        code.put(f"o_{varying.name} = {written(code, varying)};")
    declared = "".join(v.declared("out", words(r, v, False), "o_") for v in varyings)
    attributes = (
        "layout(location = 0) in vec4 position;\nlayout(location = 1) in vec4 paint;\n"
        "layout(location = 2) in ivec4 marks;\nlayout(location = 3) in vec2 place;\n"
    )
    return f"{HEAD}{OWN}{attributes}{declared}void main() {{\n{''.join(code.lines)}}}\n"


def geometry(r: Random, varyings: list[Varying]) -> str:
    code = Code(r)
    code.hashes("gl_PrimitiveIDIn")
    for _ in range(r.randint(0, 2)):
        code.local()
    code.put("for (int n = 0; n < 3; ++n) {")
    code.put("gl_Position = gl_in[n].gl_Position;")
    for v in varyings:
        code.put(f"o_{v.name} = {handed(code, v, f'i_{v.name}[n]')};")
    code.put("EmitVertex(); }")
    declared = "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\n"
    for v in varyings:
        declared += v.declared("in", "", "i_", "[]") + v.declared("out", words(r, v, False), "o_")
    return f"{HEAD}{OWN}{declared}void main() {{\n{''.join(code.lines)}}}\n"


def handed(code: Code, varying: Varying, text: str) -> str:
    """Mostly what came."""
    if varying.address or code.r.random() < 0.6:
        return text
    return written(code, varying)


def tessellation(r: Random, varyings: list[Varying]) -> list[tuple[str, str]]:
    """Control and evaluation shader; some values are the patch's."""
    count = r.randint(0, 3)
    patches = []
    for n in range(count):
        kind, size = r.choice(PATCH_KINDS), r.choice((1, 2))
        component = r.choice((0, 0, 2)) if KINDS[kind][2] * size < 128 else 0
        patches.append(Varying(kind, size, PATCHES + n, component, "", patch=True))
    code = Code(r)
    code.hashes("gl_PrimitiveID")
    code.put("gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;")
    code.put("gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2.0;")
    code.put("gl_TessLevelInner[0] = 2.0;")
    for v in varyings:
        code.put(f"o_{v.name}[gl_InvocationID] = i_{v.name}[gl_InvocationID];")
    for v in patches:
        code.put(f"if (gl_InvocationID == 0) o_{v.name} = {written(code, v)};")
    declared = "layout(vertices = 3) out;\n"
    for v in varyings:
        declared += v.declared("in", "", "i_", "[]") + v.declared("out", "", "o_", "[]")
    declared += "".join(v.declared("out", "", "o_") for v in patches)
    control = f"{HEAD}{OWN}{declared}void main() {{\n{''.join(code.lines)}}}\n"

    code = Code(r)
    code.put("vec3 w = gl_TessCoord;")
    code.put("gl_Position = gl_in[0].gl_Position * w.x + gl_in[1].gl_Position * w.y"
             " + gl_in[2].gl_Position * w.z;")  # fmt: skip
    code.hashes("gl_PrimitiveID")
    code.scope += [Value(f"i_{v.name}", v.kind, v.size) for v in patches] * 3
    for v in varyings:
        text = f"i_{v.name}[{r.randrange(3)}]"
        if v.kind == "float":
            name = f"i_{v.name}"
            text = f"({name}[0] * w.x + {name}[1] * w.y + {name}[2] * w.z)"
        code.put(f"o_{v.name} = {handed(code, v, text)};")
    declared = "layout(triangles) in;\n"
    for v in varyings:
        declared += v.declared("in", "", "i_", "[]") + v.declared("out", words(r, v, False), "o_")
    declared += "".join(v.declared("in", "", "i_") for v in patches)
    evaluation = f"{HEAD}{OWN}{declared}void main() {{\n{''.join(code.lines)}}}\n"
    return [("tesc", control), ("tese", evaluation)]


def fragment(r: Random, varyings: list[Varying]) -> str:
    code = Code(r, own=False)
    read = [v for v in varyings if r.random() < 0.9]
    code.put("vec4 acc = vec4(0.0); uvec4 bits = uvec4(0u);")
    for v in read:
        name = f"i_{v.name}"
        if v.address:
            if r.random() < 0.3:
                code.put(f"vec4 dead{v.name} = Node({name}).tint;")
                continue
            code.scope.append(Value(f"Node({name}).tint", "float", 4))
            code.put(f"bits.x ^= Node({name}).bits.y; acc += Node({name}).tint * 0.25;")
            continue
        code.scope += [Value(name, v.kind, v.size)] * 2
    more = r.random() < 0.6
    for _ in range(r.randint(0, 3) * more):
        code.local()
    for v in read:
        if not v.address and r.random() < 0.8:
            fold(code, Value(f"i_{v.name}", v.kind, v.size))
    for _ in range(r.randint(1, 4) * more):
        kind, size = r.choice(tuple(KINDS)), r.choice((1, 2, 4))
        name = code.fresh()
        code.put(f"{spelled(kind, size)} {name} = {code.stored(kind, size, 2)};")
        fold(code, Value(name, kind, size))
    code.put("target0 = acc; target1 = bits;")
    declared = "".join(v.declared("in", words(r, v, True), "i_") for v in read)
    declared += "layout(location = 0) out vec4 target0;\nlayout(location = 1) out uvec4 target1;\n"
    return f"{HEAD}{declared}void main() {{\n{''.join(code.lines)}}}\n"


def fold(code: Code, value: Value) -> None:
    """A value in the result."""
    r = code.r
    for lane in "xyzw"[: value.size]:
        part = value.text if value.size == 1 else f"{value.text}.{lane}"
        at = r.choice("xyzw")
        if KINDS[value.kind][1] == "float":
            code.put(f"acc.{at} += float({part}) * {r.choice(('0.5', '0.125', '-0.25'))};")
        elif KINDS[value.kind][2] == 64:
            code.put(f"bits.{at} = bits.{at} * 31u + uint({part}) + uint({part} >> 32) * 7u;")
        else:
            code.put(f"bits.{at} = bits.{at} * 31u + uint({part});")


def make(seed: int) -> Made:
    """The stages of one pipeline."""
    r = Random(seed)
    names = r.choice(STAGES)
    varyings = interface(r)
    made = Made()
    made.stages.append(("vert", vertex(r, varyings)))
    if "geom" in names:
        made.stages.append(("geom", geometry(r, varyings)))
    if "tesc" in names:
        made.stages += tessellation(r, varyings)
    made.stages.append(("frag", fragment(r, varyings)))
    made.other = fragment(r, varyings)
    return made
