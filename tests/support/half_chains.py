"""64-bit varyings of which a word need not cross, and some of which both must, at every kind of
border; test_halves_words.py links and draws them.

A case says how a producer makes the varying ``d`` from ``u`` (uvec4), ``x`` (vec4) and ``i``
(int), and what a consumer reads of it as a float, with ``own``, an unsigned number below 8 that
only the consumer knows, so that nothing else moves.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.chain_text import EXTENSIONS, Chain, frag, geom, mesh, tesc, tese, vert

INT64 = "#extension GL_ARB_gpu_shader_int64 : require\n"
STAYS = ("kept", "packed", "moved-backward")  # as it is, or what the consumer makes of it


@dataclass(frozen=True)
class Case:
    """``halves``: what becomes of the low and of the high word; empty: the number stays whole."""

    name: str
    type: str
    made: str
    used: str
    halves: tuple[str, str] | tuple[()] = ()
    beside: str = ""  # what a uint ``e`` beside it says
    twin: bool = False  # which a word of ``d`` says as well

    @property
    def components(self) -> int:
        """How many of the varyings of the border are left."""
        crossing = sum(h in STAYS for h in self.halves) if self.halves else 2
        return crossing + (1 if self.beside and not self.twin else 0)

    def source(self, text: str) -> str:
        """What the producer makes the varying of."""
        return f"uvec4 u = floatBitsToUint({text}) >> 3; vec4 x = {text};"

    def stored(self, at: str = "") -> str:
        beside = f" e{at} = {self.beside};" if self.beside else ""
        return f"d{at} = {self.made};{beside}"

    def declared(self, words: str, over: str = "", place: int = 1) -> str:
        text = f"layout(location = {place}) {words} {self.type} d{over};\n"
        if self.beside:
            text += f"layout(location = {place + 1}) {words} uint e{over};\n"
        return text

    def read(self, own: str, at: str = "") -> str:
        copy = f"uint e = e_in{at}; " if self.beside else ""
        return f"float r; uint own = {own}; {self.type} D = d{at}; {copy}{self.used}"

    def input(self, words: str, over: str = "") -> str:
        return self.declared(words, over).replace(" uint e", " uint e_in")


WORDS = "uvec2 h = unpackDouble2x32(D) ^ own; r = float(h.x & 255u) + float(h.y & 255u);"
TWO = "packUint2x32(u.xy)"
CASES = (
    Case(
        "the low word is not read", "double", "double(x.x) * 1.1LF",
        "r = float((unpackDouble2x32(D).y ^ own) & 255u);", ("removed", "kept"),
    ),
    Case(
        "the high word is not read", "uint64_t", TWO,
        "r = float((uint(D) ^ own) & 255u);", ("kept", "removed"),
    ),
    Case(
        "a shift drops the low word", "uint64_t", TWO,
        "r = float((uint(D >> 40) ^ own) & 255u);", ("removed", "kept"),
    ),
    Case(
        "an arithmetic shift drops the low word", "int64_t", "int64_t(packUint2x32(u.xy))",
        "r = float((int(D >> 35) ^ int(own)) & 255);", ("removed", "kept"),
    ),
    Case(
        "a mask drops the low word", "uint64_t", TWO,
        "r = float(uint((D & 0xFF0000000000ul) >> (36u + own)) & 0xFFFu);", ("removed", "kept"),
    ),
    Case(
        "a choice drops the high word", "uint64_t", TWO,
        "uint64_t s = own > 3u ? D : ~D; r = float((uint(s) ^ own) & 255u);", ("kept", "removed"),
    ),
    Case(
        "extended by zeros", "uint64_t", "uint64_t(u.x)",
        "r = float(uint((D * 77777777777ul) >> (20u + own)) & 255u);", ("kept", "propagated"),
    ),
    Case(
        "extended by the sign", "int64_t", "int64_t(i * 99 - int(u.x))",
        "r = float(uint((D * 77777777777l) >> (20u + own)) & 255u);", ("kept", "moved-forward"),
    ),
    Case(
        "shifted up", "uint64_t", "uint64_t(u.x) << 36",
        "r = float(uint(D >> (30u + own)) & 255u);", ("propagated", "kept"),
    ),
    Case("packed with a constant", "double", "packDouble2x32(uvec2(7u, u.x))", WORDS,
         ("propagated", "kept")),
    Case("one of two constants", "uint64_t", "u.x % 2u > 0u ? 0x300000005ul : 0x300000011ul",
         "r = float(uint((D * 77777777777ul) >> (20u + own)) & 255u);", ("kept", "propagated")),
    Case("both words alike", "double", "packDouble2x32(u.yy)", WORDS, ("kept", "merged")),
    Case("a word that something else says", "double", "packDouble2x32(u.xy)",
         WORDS + " r += float((e ^ own) & 255u);", ("kept", "kept"), "u.y", True),
    Case("a word of it beside it", "double", "double(x.x) * 1.1LF",
         WORDS + " r += float((e ^ own) & 255u);", ("kept", "kept"),
         "unpackDouble2x32(double(x.x) * 1.1LF).y", True),
    Case("what a shift leaves of it beside it", "uint64_t", TWO + " * 77777777777ul",
         "r = float(uint((D * 7777777777ul) >> (20u + own)) & 255u) + float((e ^ own) & 255u);",
         ("kept", "kept"), f"uint(({TWO} * 77777777777ul) >> 32)", True),
    # What needs both.
    Case("all bits are used", "double", "double(x.x) * 1.1LF",
         "r = float(fract(abs(D) * double(own + 1u)));"),
    Case("a carry crosses the middle", "uint64_t", TWO,
         "r = float(uint((D + uint64_t(own)) >> 32) & 255u) * 0.5;"),
    Case("a shift by less than a word", "uint64_t", TWO,
         "r = float((uint(D >> 31) ^ own) & 255u);"),
    Case("a word now and the other then", "uint64_t", TWO,
         "r = float((own > 3u ? uint(D) : uint(D >> 32)) & 255u);"),
    Case("constants that differ", "uint64_t", "u.x % 2u > 0u ? 0x300000005ul : 0x100000011ul",
         "r = float(uint((D * 77777777777ul) >> (20u + own)) & 255u);"),
    # Both cross, but share a Location with something of 32 bits only as words.
    Case("a neighbour that says something else", "double", "double(x.x) * 1.1LF",
         "r = float(fract(abs(D) * double(own + 1u))) + float((e ^ own) & 255u);",
         ("packed", "packed"), "u.z"),
)  # fmt: skip


def _to_fragments(case: Case) -> list[tuple[str, str]]:
    return [
        vert(case.declared("flat out"), f"{case.source('a')} int i = k.x; {case.stored()}"),
        frag(
            case.input("flat in"),
            f"{case.read('uint(gl_FragCoord.x) & 7u')} color = vec4(r, r * 0.5, 1, 1);",
        ),
    ]


def _to_geometry(case: Case) -> list[tuple[str, str]]:
    return [
        vert(case.declared("out"), f"{case.source('a')} int i = k.x; {case.stored()}"),
        geom(
            case.input("in", "[]") + "layout(location = 0) flat out float f;",
            f"""for (int n = 0; n < 3; ++n) {{
{case.read("uint(n * 2)", "[n]")} f = r; gl_Position = gl_in[n].gl_Position; EmitVertex(); }}""",
        ),
        frag("layout(location = 0) flat in float f;", "color = vec4(f, 0, 0, 1);"),
    ]


def _to_control(case: Case) -> list[tuple[str, str]]:
    here = "[gl_InvocationID]"
    return [
        vert(case.declared("out"), f"{case.source('a')} int i = k.x; {case.stored()}"),
        tesc(
            case.input("in", "[]") + "layout(location = 0) out float f[];",
            f"{case.read('uint(gl_InvocationID) * 2u', here)} f{here} = r;",
        ),
        *_behind_control("in float f[]", "f[0] * w.x + f[1] * w.y + f[2] * w.z"),
    ]


def _behind_control(declared: str, made: str) -> list[tuple[str, str]]:
    return [
        tese(f"layout(location = 0) {declared}; layout(location = 0) out float g;", f"g = {made};"),
        frag("layout(location = 0) in float g;", "color = vec4(g, 0, 0, 1);"),
    ]


def _of_a_patch(case: Case) -> list[tuple[str, str]]:
    return [
        vert("layout(location = 0) out vec4 c;", "c = a;"),
        tesc(
            "layout(location = 0) in vec4 c[];" + case.declared("patch out"),
            f"{case.source('c[0]')} int i = int(x.x * 9.0); {case.stored()}",
        ),
        tese(
            case.input("patch in") + "layout(location = 0) flat out float g;",
            f"{case.read('uint(w.x * 7.0)')} g = r;",
        ),
        frag("layout(location = 0) flat in float g;", "color = vec4(g, 0, 0, 1);"),
    ]


def _of_a_primitive(case: Case) -> list[tuple[str, str]]:
    made = "vec4(sin(float(j)), cos(float(j) * 3.0), float(j) * 0.3, 1.5)"
    return [
        mesh(
            case.declared("perprimitiveEXT out", "[]"),
            f"""if (gl_LocalInvocationIndex < 8u) {{
uint j = gl_LocalInvocationIndex; {case.source(made)} int i = int(j); {case.stored("[j]")} }}""",
        ),
        frag(
            case.input("perprimitiveEXT flat in"),
            f"{case.read('uint(gl_FragCoord.x) & 7u')} color = vec4(r, r * 0.5, 1, 1);",
        ),
    ]


BORDERS = {
    "vert->frag": _to_fragments,
    "vert->geom": _to_geometry,
    "vert->tesc": _to_control,
    "tesc->tese": _of_a_patch,
    "mesh->frag": _of_a_primitive,
}


def with_int64(stages: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    head = f"#version 450\n{INT64}"
    if stages[0][0] == "mesh":  # then fragment shaders may read what is of a primitive
        head += EXTENSIONS["mesh"]
    return tuple((stage, text.replace("#version 450\n", head)) for stage, text in stages)


def chain(border: str, case: Case) -> Chain:
    environment = "vulkan1.2" if border.startswith("mesh") else "vulkan1.1"
    return Chain(case.name, with_int64(BORDERS[border](case)), environment=environment)
