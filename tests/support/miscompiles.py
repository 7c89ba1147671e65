"""Pairs of shaders, each with one mistake that a linker can make; scripts and tests plant them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spvlink.draw.words import OP_CONSTANT, Words
from tests.render.glsl import compile_glsl

LOCATION, COMPONENT, FLAT, NOPERSPECTIVE, CENTROID, SAMPLE = 30, 31, 14, 13, 16, 17

SURFACE_VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in uvec4 joints;
layout(set = 0, binding = 0) uniform Frame { mat4 view; mat4 projection; vec4 tint; };
layout(set = 0, binding = 1) readonly buffer Bones { mat4 bones[]; };
layout(location = 0) out vec3 v_position;
layout(location = 1) out vec3 v_normal;
layout(location = 2, component = 0) out vec2 v_uv;
layout(location = 2, component = 2) out vec2 v_detail;
layout(location = 3) flat out float v_layer;
layout(location = 4) noperspective out vec2 v_screen;
layout(location = 5) out vec4 v_color;
layout(location = 6) flat out int v_bits;
layout(location = 7) out float v_fog[3];
layout(location = 10) out mat3 v_frame;
void main() {
    vec4 world = bones[joints.x] * vec4(position, 1.0);
    v_position = world.xyz;
    v_normal = mat3(view) * normal;
    v_uv = uv;
    v_detail = uv.yx * 4.0 + 0.25;
    v_layer = float(gl_VertexIndex % 5) * 0.2;
    v_screen = position.xy * 0.5 + 0.5;
    v_color = vec4(0.2, 0.4, 0.6, 1.0);
    if (normal.x > 0.0) v_color = tint;
    v_bits = floatBitsToInt(normal.y);
    for (int i = 0; i < 3; ++i) v_fog[i] = position.x * float(i + 1);
    v_fog[2] = normal.z;
    v_frame = mat3(normal, position.zxy, vec3(uv, 1.0));
    gl_Position = projection * view * world;
}
"""
SURFACE_FRAG = """#version 450
layout(location = 0) in vec3 v_position;
layout(location = 1) in vec3 v_normal;
layout(location = 2, component = 0) in vec2 v_uv;
layout(location = 2, component = 2) in vec2 v_detail;
layout(location = 3) flat in float v_layer;
layout(location = 4) noperspective in vec2 v_screen;
layout(location = 5) in vec4 v_color;
layout(location = 6) flat in int v_bits;
layout(location = 7) in float v_fog[3];
layout(location = 10) in mat3 v_frame;
layout(set = 0, binding = 2) uniform sampler2DArray albedo;
layout(set = 1, binding = 0) buffer Statistics { uint shaded; };
layout(location = 0) out vec4 o_albedo;
layout(location = 1) out vec4 o_normal;
layout(location = 2) out vec4 o_extra;
void main() {
    atomicAdd(shaded, 1u);
    if (v_uv.x < -0.5) discard;
    vec4 texel = texture(albedo, vec3(v_uv + v_detail * 0.5, v_layer));
    float light = 0.0;
    float last = 0.125;
    for (int i = 0; i < 4; ++i) {
        light += last * v_normal.z;
        last = last * 0.5 + v_fog[i % 3];
    }
    o_albedo = texel * v_color * (light + 1.5) + vec4(v_layer);
    o_normal = vec4(v_frame * v_normal, v_frame[1].x);
    float fog = v_fog[0] + v_fog[1] + v_fog[2];
    o_extra = vec4(v_position.xy + v_screen, intBitsToFloat(v_bits), fog);
}
"""
CENTROID_VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 0) centroid out vec4 v_centroid;
layout(location = 1) sample out vec4 v_sample;
void main() { v_centroid = color * 9.0; v_sample = color; gl_Position = vec4(position, 1.0); }
"""
CENTROID_FRAG = """#version 450
layout(location = 0) in vec4 v_centroid;
layout(location = 1) in vec4 v_sample;
layout(location = 0) out vec4 color;
void main() { color = v_centroid + v_sample; }
"""
CLIP_VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[1]; };
void main() {
    v_color = color;
    gl_ClipDistance[0] = position.x + 0.25;
    gl_Position = vec4(position, 1.0 + color.x * 0.3);
}
"""
CLIP_FRAG = """#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 color;
void main() { color = v_color; gl_FragDepth = v_color.y * 0.5; }
"""

Edit = Callable[[Words, Words], None]


@dataclass(frozen=True)
class Case:
    """edit changes the words of vertex and fragment module; or vert, frag replace source text."""

    name: str
    edit: Edit | None = None
    vert: tuple[str, str] | None = None
    frag: tuple[str, str] | None = None
    sources: tuple[str, str] = (SURFACE_VERT, SURFACE_FRAG)
    samples: int = 1
    seen_in: str = ""  # what must be among the differences


def swap(name: str, other: str, decoration: int) -> Edit:
    def edit(vert: Words, frag: Words) -> None:
        first, second = vert.decoration(name, decoration), vert.decoration(other, decoration)
        first[3], second[3] = second[3], first[3]

    return edit


def lose(name: str, decoration: int) -> Edit:
    """An interpolation decoration of a fragment input."""

    def edit(vert: Words, frag: Words) -> None:
        frag.remove(frag.decoration(name, decoration))

    return edit


def drop_store(name: str, which: int) -> Edit:
    def edit(vert: Words, frag: Words) -> None:
        vert.remove(vert.stores_to(name)[which])

    return edit


def wrong_constant(vert: Words, frag: Words) -> None:
    changed = 0
    for inst in vert.find(OP_CONSTANT):
        if inst[3] == 0x3ECCCCCD:  # 0.4
            inst[3] = 0x3ECCCCCE
            changed += 1
    assert changed == 1


def negate(vert: Words, frag: Words) -> None:
    store = vert.stores_to("v_normal")[0]
    negated = vert.new_id()
    vert.insert_before(store, [127, vert.type_of(store[2]), negated, store[2]])
    store[2] = negated


def swizzle(vert: Words, frag: Words) -> None:
    """v_detail = uv.yx becomes uv.xy"""
    shuffle = next(inst for inst in vert.find(79) if inst[5:] == [1, 0])
    shuffle[5:] = [0, 1]


def lose_bitcast(vert: Words, frag: Words) -> None:
    bitcasts = list(frag.find(124))
    assert len(bitcasts) == 1
    bitcasts[0][0] = 111  # OpConvertSToF


def read_what_nobody_writes(vert: Words, frag: Words) -> None:
    frag.decoration("v_position", LOCATION)[3] = 14


def lose_atomic(vert: Words, frag: Words) -> None:
    atomics = list(frag.find(234))
    assert len(atomics) == 1
    frag.remove(atomics[0])


def turn_discard(vert: Words, frag: Words) -> None:
    compare_less = list(frag.find(184))
    assert len(compare_less) == 1
    compare_less[0][0] = 186  # OpFOrdGreaterThan


def shift_matrix(vert: Words, frag: Words) -> None:
    """Columns 1 and 2 of the matrix are read as 0 and 1."""
    frag.decoration("v_frame", LOCATION)[3] += 1


def swap_sum(vert: Words, frag: Words) -> None:
    """(a + b) + c becomes a + (b + c): wrong in the last bit only."""
    adds = list(frag.find(129))
    outer = next(a for a in adds for b in adds if a[3] == b[2] and frag.type_of(a[2]) == b[1])
    inner = next(b for b in adds if b[2] == outer[3])
    a, b, c = inner[3], inner[4], outer[4]
    frag.instructions = [inst for inst in frag.instructions if inst is not inner]
    frag.insert_before(outer, inner)
    inner[3:], outer[3:] = [b, c], [a, inner[2]]


CASES = [
    Case("swapped locations", swap("v_position", "v_normal", LOCATION), seen_in="image color1"),
    Case("swapped components", swap("v_uv", "v_detail", COMPONENT), seen_in="image color0"),
    Case("lost flat", lose("v_layer", FLAT), seen_in="image color0"),
    Case("lost noperspective", lose("v_screen", NOPERSPECTIVE), seen_in="image color2"),
    Case(
        "lost centroid",
        lose("v_centroid", CENTROID),
        sources=(CENTROID_VERT, CENTROID_FRAG.replace("in vec4 v_cent", "centroid in vec4 v_cent")),
        samples=4,
    ),
    Case(
        "lost sample",
        lose("v_sample", SAMPLE),
        sources=(CENTROID_VERT, CENTROID_FRAG.replace("in vec4 v_sam", "sample in vec4 v_sam")),
        samples=4,
    ),
    Case("wrong constant, one ULP", wrong_constant, seen_in="image color0"),
    Case("dropped store", drop_store("v_normal", 0), seen_in="image color1"),
    Case("dropped store on one path", drop_store("v_color", 1), seen_in="image color0"),
    Case("stale value before a branch", drop_store("v_color", 0), seen_in="image color0"),
    Case("lost array element", drop_store("v_fog", -1), seen_in="image color2"),
    Case("negated value", negate, seen_in="image color1"),
    Case("swizzled components", swizzle, seen_in="image color0"),
    Case("lost bitcast", lose_bitcast, seen_in="image color2"),
    Case("uninitialised varying", read_what_nobody_writes, seen_in="image color2"),
    Case("wrong matrix column", shift_matrix, seen_in="image color1"),
    Case("missing side effect", lose_atomic, seen_in="buffer set1.binding0[0]"),
    Case("changed discard", turn_discard, seen_in="image color0"),
    Case("reassociated sum", swap_sum, seen_in="image color2"),
    Case(
        "value of the previous iteration",
        frag=(
            "light += last * v_normal.z;\n        last = last * 0.5 + v_fog[i % 3];",
            "last = last * 0.5 + v_fog[i % 3];\n        light += last * v_normal.z;",
        ),
        seen_in="image color0",
    ),
    Case("one iteration less", frag=("i < 4", "i < 3"), seen_in="image color0"),
    Case(
        "division moved across interpolation",
        vert=("v_normal = mat3(view) * normal;", "v_normal = normalize(mat3(view) * normal);"),
        seen_in="image color1",
    ),
    Case("wrong bone", vert=("bones[joints.x]", "bones[joints.y]"), seen_in="image depth"),
    Case(
        "lost clip distance",
        vert=("position.x + 0.25;", "1.0;"),
        sources=(CLIP_VERT, CLIP_FRAG),
        seen_in="image depth",
    ),
    Case(
        "lost depth",
        frag=(" gl_FragDepth = v_color.y * 0.5;", ""),
        sources=(CLIP_VERT, CLIP_FRAG),
        seen_in="image depth",
    ),
]


def broken(case: Case, codes: list[bytes]) -> list[bytes]:
    if case.edit is not None:
        words = [Words(code) for code in codes]
        assert [w.encode() for w in words] == codes  # the editor itself changes nothing
        case.edit(words[0], words[1])
        return [w.encode() for w in words]
    sources = list(case.sources)
    for stage, change in enumerate((case.vert, case.frag)):
        if change is not None:
            assert sources[stage].count(change[0]) == 1
            sources[stage] = sources[stage].replace(*change)
    return [compile_glsl("vert", sources[0]), compile_glsl("frag", sources[1])]
