"""Mistakes that a linker can make in longer chains, and how each is planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spvlink.draw.words import OP_DECORATE, Words
from tests.render.glsl import compile_glsl
from tests.support.chain_sources import CHAINS

LOCATION, COMPONENT, OFFSET, PATCH, PER_PRIMITIVE = 30, 31, 35, 15, 5271
ACCESS_CHAIN, CONSTANT = 65, 43
Edit = Callable[[Words], None]


@dataclass(frozen=True)
class Case:
    """In one stage of a chain: words edited, or text replaced (once)."""

    name: str
    chain: str
    stage: str
    edit: Edit | None = None
    text: tuple[str, str] = ("", "")
    seen_in: str = ""


def swap(name: str, other: str, decoration: int) -> Edit:
    def edit(words: Words) -> None:
        first, second = words.decoration(name, decoration), words.decoration(other, decoration)
        first[3], second[3] = second[3], first[3]

    return edit


def assign(name: str, decoration: int, value: int) -> Edit:
    def edit(words: Words) -> None:
        inst = words.decoration(name, decoration)
        assert inst[3] != value
        inst[3] = value

    return edit


def lose(name: str, decoration: int) -> Edit:
    return lambda words: words.remove(words.decoration(name, decoration))


def drop_store(name: str, which: int) -> Edit:
    return lambda words: words.remove(words.stores_to(name)[which])


def constant(words: Words, value: int) -> int:
    """The id of the 32-bit integer constant."""
    found = [inst[2] for inst in words.find(CONSTANT) if inst[3:] == [value]]
    return found[0]


def other_vertex(name: str, was: int, now: int) -> Edit:
    """Every constant vertex index `was` into the named input becomes `now`."""

    def edit(words: Words) -> None:
        target, new = words.named(name), constant(words, now)
        old = {inst[2] for inst in words.find(CONSTANT) if inst[3:] == [was]}
        found = [i for i in words.find(ACCESS_CHAIN) if i[3] == target and i[4] in old]
        assert found
        for inst in found:
            inst[4] = new

    return edit


def lose_barrier_read(words: Words) -> None:
    """The value of the neighbour is replaced by one's own, as if no barrier stood there."""
    mod = list(words.find(139))  # OpSMod
    assert len(mod) == 1
    words.insert_before(mod[0], [83, mod[0][1], mod[0][2], mod[0][3]])  # OpCopyObject of i + 1
    words.remove(mod[0])
    add = next(inst for inst in words.find(128) if inst[2] == mod[0][3])
    add[4] = constant(words, 0)


CASES = [
    Case("swapped Locations in evaluation inputs", "tessellation", "tese",
         swap("c_normal", "c_shade", LOCATION)),
    Case("swapped Locations in evaluation outputs", "tessellation", "tese",
         swap("e_normal", "e_colour", LOCATION)),
    Case("wrong vertex index", "tessellation", "tese", other_vertex("c_uv", 1, 0),
         seen_in="image color1"),
    Case("wrong vertex of the position", "tessellation", "tese", other_vertex("gl_in", 2, 1),
         seen_in="image depth"),
    Case("lost store of a patch value", "tessellation", "tesc", drop_store("p_tint", 0),
         seen_in="image color1"),
    Case("swapped elements of a patch array", "tessellation", "tesc",
         text=("p_weights[0] = v_uv[0].x;\n        p_weights[1] = v_uv[1].y * 3.0;",
               "p_weights[1] = v_uv[0].x;\n        p_weights[0] = v_uv[1].y * 3.0;")),
    Case("stale read of another invocation's output", "tessellation", "tesc", lose_barrier_read,
         seen_in="image color1"),
    Case("value of another path", "tessellation", "tesc", text=("i == 0", "i == 1 && false")),
    Case("wrong tessellation level", "tessellation", "tesc",
         text=("[2] = 4.0", "[2] = 5.0"), seen_in="image"),
    Case("lost tessellation level", "tessellation", "tesc", drop_store("gl_TessLevelInner", 0)),
    Case("swapped weights", "tessellation", "tese",
         text=("c_uv[0] * t.x + c_uv[1] * t.y", "c_uv[0] * t.y + c_uv[1] * t.x")),
    Case("weights that do not sum to one", "tessellation", "tese",
         text=("+ c_shade[2] * t.z", ""), seen_in="image color1"),
    Case("expression over vertices moved though it is not linear", "tessellation", "tese",
         text=("shade * p_weights[0]", "abs(shade) * p_weights[0]"), seen_in="image color1"),
    Case("missing store before the first emit", "geometry", "geom", drop_store("g_colour", 0),
         seen_in="image color1"),
    Case("missing store before the last emit", "geometry", "geom", drop_store("g_normal", 1),
         seen_in="image color0"),
    Case("value of an earlier interval", "geometry", "geom",
         text=("    g_colour = v_shade[0].wzyx;\n", ""), seen_in="image color1"),
    Case("loop value hoisted out", "geometry", "geom",
         text=("v_kind[0] + i", "v_kind[0]"), seen_in="image color2"),
    Case("wrong vertex", "geometry", "geom", text=("v_uv[2 - i]", "v_uv[i]"),
         seen_in="image color1"),
    Case("lost primitive number", "geometry", "geom",
         text=("gl_PrimitiveID = gl_PrimitiveIDIn * 2;", ""),
         seen_in="image color2"),
    Case("lost emit", "geometry", "geom",
         text=("    gl_PrimitiveID = 7;\n    EmitVertex();", "    gl_PrimitiveID = 7;")),
    Case("wrong layer", "all", "geom", text=("% 3;", "% 2;")),
    Case("neighbour's value through five stages", "all", "geom",
         text=("(i + 1) % 3", "i"), seen_in="image color1"),
    Case("lost vertex output two stages up", "all", "vert", drop_store("v_shade", 0),
         seen_in="image color1"),
    Case("per-primitive values of the other primitive", "mesh", "mesh",
         text=("m_tint[1u - i]", "m_tint[i]"), seen_in="image color1"),
    Case("per-vertex values of another vertex", "mesh", "mesh",
         text=("m_uv[(i + 1u) & 3u]", "m_uv[i]"), seen_in="image color1"),
    Case("swapped per-primitive Locations", "mesh", "mesh", swap("m_material", "m_tint", LOCATION)),
    Case("dead payload member that was not", "mesh", "task",
         text=("payload.material[1] = 40u;", "payload.material[1] = 0u;"),
         seen_in="image color2"),
    Case("wrong payload member", "mesh", "mesh",
         text=("payload.material[i] + i", "payload.material[0] + i"), seen_in="image color2"),
    Case("lost built-in of the primitive", "mesh", "mesh",
         text=("= int(payload.group * 2u + i)", "= 0"), seen_in="image color2"),
    Case("swapped offsets", "feedback", "vert", swap("x_pair", "x_kind", OFFSET),
         seen_in="buffer feedback1"),
    Case("moved offset", "feedback", "vert", assign("x_normal", OFFSET, 20),
         seen_in="buffer feedback0"),
    Case("lost capture", "feedback", "vert", lose("x_weights", OFFSET),
         seen_in="buffer feedback0"),
    Case("lost store of what is only captured", "feedback", "vert", drop_store("x_pair", 0),
         seen_in="buffer feedback1"),
    Case("other value captured", "feedback", "vert", text=("normal * 2.0", "normal"),
         seen_in="buffer feedback0"),
    Case("64 bits through 32", "feedback", "vert",
         text=("double(normal.x) / 3.0LF", "double(normal.x / 3.0)"),
         seen_in="buffer feedback1"),
    Case("wrong stream", "streams", "geom",
         text=("EmitStreamVertex(1);\n        EndStreamPrimitive(1);",
               "EmitStreamVertex(0);\n        EndStreamPrimitive(0);"),
         seen_in="feedback primitives of stream"),
    Case("store moved behind the emit", "streams", "geom",
         text=("        second = v_uv[i];\n        EmitStreamVertex(1);",
               "        EmitStreamVertex(1);\n        second = v_uv[i];"),
         seen_in="buffer feedback1"),
]  # fmt: skip


def built(chain: str) -> list[bytes]:
    return [compile_glsl(stage, source) for stage, source in CHAINS[chain]]


def broken(case: Case) -> list[bytes]:
    codes = []
    for stage, source in CHAINS[case.chain]:
        if stage == case.stage and case.edit is None:
            assert source.count(case.text[0]) == 1
            source = source.replace(*case.text)
        code = compile_glsl(stage, source)
        if stage == case.stage and case.edit is not None:
            words = Words(code)
            assert words.encode() == code  # the editor itself changes nothing
            case.edit(words)
            code = words.encode()
        codes.append(code)
    return codes


def gain(name: str, decoration: int) -> Edit:
    def edit(words: Words) -> None:
        place = words.decoration(name, LOCATION)
        words.insert_before(place, [OP_DECORATE, place[1], decoration])

    return edit


def mixed_location(words: Words) -> None:
    """The flat scalar goes behind the smooth vec3."""
    place = words.decoration("e_flat", LOCATION)
    place[3] = 0
    words.insert_before(place, [OP_DECORATE, place[1], COMPONENT, 3])


# Edits of one side only: what a driver makes of these pipelines is undefined.
ONE_SIDED = [
    Case("lost Patch", "tessellation", "tese", lose("p_tint", PATCH)),
    Case("lost PerPrimitive", "mesh", "frag", lose("m_tint", PER_PRIMITIVE)),
    Case("gained PerPrimitive", "mesh", "mesh", gain("m_uv", PER_PRIMITIVE)),
    Case("Location nobody writes", "tessellation", "tese", assign("c_uv", LOCATION, 11)),
    Case("Location nobody writes behind a geometry shader", "geometry", "frag",
         assign("g_normal", LOCATION, 9)),
    Case("other type", "geometry", "vert", edit=None,
         text=("out ivec2 v_kind", "out uvec2 v_kind")),
    Case("two values in one place", "tessellation", "tesc", assign("c_next", LOCATION, 0)),
    Case("two qualifiers in one Location", "tessellation", "frag", edit=mixed_location),
]  # fmt: skip
