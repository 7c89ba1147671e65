"""What compaction (spvlink/link/compact.py) promises, on random interfaces and on GLSL pairs."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, STORE_OUTPUT, Inst, Module
from spvlink.ir.edit import value
from spvlink.ir.slot import Interface, Pinned, Slot, base_of, key_of
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.pack import compact
from spvlink.passes.raising.raise_io import scalar_type
from spvlink.pipeline import PACK_COORDINATES, Source
from tests.support.case_loading import load
from tests.support.linking import INPUT, OUTPUT, Result, base_options, count, fragment, link, vertex

FLAT, NOPERSPECTIVE, CENTROID = (
    enums.Decoration_Flat, enums.Decoration_NoPerspective, enums.Decoration_Centroid,
)  # fmt: skip
MINIMAL = """OpCapability Shader
OpCapability Linkage
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main"
{mode}
%void = OpTypeVoid
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%l = OpLabel
OpReturn
OpFunctionEnd
"""

# A vector: (Location, Component, size, base, qualifiers, live lanes as a mask).
Vector = tuple[int, int, int, str, tuple[int, ...], int]


@st.composite
def interfaces(draw: st.DrawFn) -> list[Vector]:
    """Vectors that share no component; one qualifier tuple and one base type a Location."""
    found: list[Vector] = []
    for location in sorted(draw(st.sets(st.integers(0, 15), min_size=1, max_size=10))):
        qualifiers = draw(
            st.sampled_from([(), (), (FLAT,), (FLAT,), (NOPERSPECTIVE,), (CENTROID,)])
        )
        bases = ["f32", "f32", "f16"]
        if qualifiers == (FLAT,):
            bases = ["f32", "i32", "u32", "i32", "f64", "f16"]
        base = draw(st.sampled_from(bases))
        words = 2 if base == "f64" else 1
        at = 0
        while at + words <= 4:
            if draw(st.integers(0, 3)) == 0:
                at += words  # a hole
                continue
            size = draw(st.integers(1, (4 - at) // words))
            live = draw(st.integers(0, (1 << size) - 1))
            found.append((location, at, size, base, qualifiers, live))
            at += size * words
    return found


def side(model: str) -> Stage:
    mode = "OpExecutionMode %main OriginUpperLeft" if model == "Fragment" else ""
    module = load(MINIMAL.format(model=model, mode=mode))
    return Stage(Source(b""), "frag" if mode else "vert", module)


def border(vectors: list[Vector]) -> Link:
    """Both sides declare all vectors; the live lanes are stored and loaded."""
    producer, consumer = side("Vertex"), side("Fragment")
    producer.outputs, consumer.inputs = Interface(), Interface()
    for stage, interface in ((producer, producer.outputs), (consumer, consumer.inputs)):
        module: Module = stage.module
        assert module.entry is not None
        block = module.entry.function.blocks[0]
        for group, (location, component, size, base, qualifiers, live) in enumerate(vectors):
            scalar = scalar_type(module, base)
            for lane in range(size):
                key = key_of(location, component + lane * (2 if base == "f64" else 1))
                slot = Slot(key, scalar, block, f"v{group}", lane, group)
                slot.qualifiers = qualifiers
                interface.slots[key] = slot
                if not live >> lane & 1:
                    continue
                if stage is producer:
                    made = Inst(STORE_OUTPUT, None, [types.null(module, scalar)], (key,))
                else:
                    made = value(module, LOAD_INPUT, scalar, [], (key,))
                block.insts.insert(-1, made)
    return Link(producer, consumer)


def lower_bound(vectors: list[Vector]) -> tuple[int, int]:
    """Locations that the live components need at least, (without, with) bit-casts."""
    words: dict[tuple[tuple[int, ...], str], int] = defaultdict(int)
    for _, _, _, base, qualifiers, live in vectors:
        words[qualifiers, base] += live.bit_count() * (2 if base == "f64" else 1)
    plain = sum(-(-n // 4) for n in words.values())
    shared: dict[tuple[tuple[int, ...], str], int] = defaultdict(int)
    for (qualifiers, base), n in words.items():
        cast = qualifiers == (FLAT,) and base in ("f32", "i32", "u32")
        shared[qualifiers, "any32" if cast else base] += n
    return plain, sum(-(-n // 4) for n in shared.values())


@settings(max_examples=200, deadline=None)
@given(interfaces())
def test_random_interfaces(vectors: list[Vector]) -> None:
    """Fewest Locations, and every rule of the docstring."""
    at_border = border(vectors)
    placement = compact.compact(at_border)
    plain, best = lower_bound(vectors)
    assert len(placement.locations) == best
    taken: dict[tuple[int, int], int] = {}
    kinds: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    bases: dict[int, set[str]] = defaultdict(set)
    casts = 0
    for varying in placement.varyings:
        wide = varying.width == 64
        assert varying.component + len(varying.keys) * (2 if wide else 1) <= 4
        assert not (wide and varying.component % 2)
        for lane, key in enumerate(varying.keys):
            slot = at_border.inputs.slots[key]
            base = base_of(slot.type)
            location, component = varying.place_of(lane)
            for word in range(2 if wide else 1):
                assert taken.setdefault((location, component + word), key) == key
            kinds[location].add(slot.qualifiers)
            assert slot.qualifiers == varying.qualifiers
            bases[location].add(varying.base)
            if varying.base != base:
                casts += 1
                assert varying.base == "u32" and slot.width == 32 and FLAT in slot.qualifiers
    assert sorted(at_border.used()) == sorted({k for v in placement.varyings for k in v.keys})
    assert sum(len(v.keys) for v in placement.varyings) == len(at_border.used())
    assert all(len(q) == 1 for q in kinds.values()), "one qualifier tuple a Location"
    assert all(len(b) == 1 for b in bases.values()), "one base type a Location"
    assert not casts or best < plain, "a bit-cast that saves nothing"
    used = [k >> 3 for k in at_border.used()]
    assert max(placement.locations, default=-1) <= max(used, default=-1), "a Location above the old"


@settings(max_examples=60, deadline=None)
@given(interfaces())
def test_a_second_run_changes_nothing(vectors: list[Vector]) -> None:
    first = compact.compact(border(vectors))
    again: list[Vector] = [
        (v.location, v.component, len(v.keys), v.base, v.qualifiers, (1 << len(v.keys)) - 1)
        for v in first.varyings
    ]
    second = compact.compact(border(again))
    assert second.cost() == first.cost()
    places = sorted((v.location, v.component, len(v.keys), v.base) for v in second.varyings)
    assert places == sorted(v[:4] for v in again)


# An array that stays whole: (Location, Component, length, size of an element, qualifiers, movable).
Array = tuple[int, int, int, int, tuple[int, ...], bool]


@st.composite
def with_arrays(draw: st.DrawFn) -> tuple[list[Array], list[Vector]]:
    """Arrays of floats in Locations of their own or beside vectors of their kind, and vectors."""
    arrays: list[Array] = []
    vectors: list[Vector] = []
    at = draw(st.integers(0, 2))
    for _ in range(draw(st.integers(1, 7))):
        qualifiers = draw(st.sampled_from([(), (), (), (FLAT,)]))
        length = draw(st.integers(1, 4))
        component, size = draw(st.sampled_from([(0, 1), (0, 2), (2, 2), (0, 4), (1, 1)]))
        if draw(st.booleans()):
            movable = draw(st.integers(0, 3)) > 0
            arrays.append((at, component, length, size, qualifiers, movable))
            if component == 2 and draw(st.booleans()):
                vectors.append((at, 0, 2, "f32", qualifiers, draw(st.integers(0, 3))))
        else:
            for n in range(length):
                live = draw(st.integers(0, (1 << size) - 1))
                vectors.append((at + n, component, size, "f32", qualifiers, live))
        at += length + draw(st.sampled_from([0, 0, 1]))
    return arrays, vectors


def add_arrays(at_border: Link, arrays: list[Array]) -> None:
    """Declare arrays that stay whole on both sides."""
    for stage, interface in (
        (at_border.producer, at_border.outputs),
        (at_border.consumer, at_border.inputs),
    ):
        module = stage.module
        for location, component, length, size, qualifiers, movable in arrays:
            element = types.vector(module, types.floating(module, 32), size)
            count = types.constant(module, types.integer(module), length)
            array = types.make(module, ops.OpTypeArray, None, [element, count], ())
            storage = OUTPUT if stage is at_border.producer else INPUT
            pointer = types.pointer(module, storage, array)
            variable = value(module, ops.OpVariable, pointer, [], (storage,))
            keys = [
                key_of(location + n, component + lane)
                for n in range(length)
                for lane in range(size)
            ]
            interface.pinned.append(
                Pinned(variable, location, component, keys, qualifiers, "w", "dynamic", movable)
            )


# Beside one component of an array that cannot move, where the second half of a 64-bit number could
# be: what was there went into a gap, and took the array's Location along.
BESIDE: tuple[list[Array], list[Vector]] = (
    [(1, 1, 4, 1, (), False)],
    [
        (5, 0, 2, "f32", (), 1),
        (6, 0, 2, "f32", (), 3),
        (7, 0, 2, "f32", (), 3),
        (8, 0, 1, "f32", (FLAT,), 1),
        (9, 0, 4, "f32", (), 7),
        (10, 0, 4, "f32", (), 15),
    ],
)


@settings(max_examples=300, deadline=None)
@given(with_arrays())
@example(BESIDE)
def test_random_arrays(case: tuple[list[Array], list[Vector]]) -> None:
    """Whole variables move together on both sides; nothing overlaps, mixes or rises."""
    arrays, vectors = case
    at_border = border(vectors)
    add_arrays(at_border, arrays)
    old = {k >> 3 for k in at_border.used()}
    old |= {k >> 3 for pinned in at_border.outputs.pinned for k in pinned.keys}
    placement = compact.compact(at_border)
    taken: set[tuple[int, int]] = set()
    kinds: dict[int, set[tuple[int, ...]]] = defaultdict(set)

    def take(place: tuple[int, int], qualifiers: tuple[int, ...]) -> None:
        assert place not in taken
        taken.add(place)
        kinds[place[0]].add(qualifiers)

    for out, twin in at_border.pinned():
        assert twin is not None and placement.moved[out] == placement.moved[twin]
        assert out.movable or placement.moved[out] == out.location
        for key in out.keys:
            take(((key >> 3) + placement.moved[out] - out.location, key >> 1 & 3), out.qualifiers)
    for varying in placement.varyings:
        for lane in range(len(varying.keys)):
            take(varying.place_of(lane), varying.qualifiers)
    assert all(len(q) == 1 for q in kinds.values()), "one qualifier tuple a Location"
    assert len(kinds) <= len(old), "more Locations than before"
    assert max(kinds, default=-1) <= max(old, default=-1), "a Location above the old"


def test_fewer_locations_are_not_bought_with_a_higher_one() -> None:
    """Longest first, arrays of three would go into gaps of four and leave no room for two of two:
    the last array's Locations would be saved, but others would end up above what was used.
    """
    arrays: list[Array] = []
    at = 0
    for lengths in [(2, 2)] * 3 + [(3,)] * 3:
        for length in lengths:
            arrays.append((at, 0, length, 2, (), True))
            at += length
        arrays.append((at, 0, 1, 4, (), False))
        at += 1
    arrays.append((at, 2, 3, 2, (), True))
    at_border = border([])
    add_arrays(at_border, arrays)
    placement = compact.compact(at_border)
    assert max(placement.locations) <= at + 2


# Pairs from GLSL: what a stub cannot show.


def test_both_sides_declare_the_same() -> None:
    """Location, Component, type, qualifiers and names, also where the sources' names differ."""
    done = link(
        """layout(location = 0) out vec4 a; layout(location = 3) flat out ivec2 b;
        layout(location = 4) noperspective centroid out vec2 c; layout(location = 5) out float d;
        void main() { a = p; b = k.xy; c = p.xy; d = p.z; gl_Position = p; }""",
        """layout(location = 0) in vec4 first; layout(location = 3) flat in ivec2 second;
        layout(location = 4) noperspective centroid in vec2 third;
        layout(location = 5) in float fourth;
        void main() { o = vec4(first.zx, third) * fourth + vec4(second, 0, 0); }""",
    )
    assert done.table() == done.table(inputs=True)
    assert [d.qualifiers for d in done.outputs] == [d.qualifiers for d in done.inputs]
    names = {name: shape for name, (_, shape) in done.table().items()}
    assert names == {"first_fourth": "f32x3", "second": "i32x2", "third": "f32x2"}
    assert len(done.locations) == 3


def test_neighbours_become_one_vector() -> None:
    """Where a fragment shader reads them. A specialization constant stays apart, since drivers
    carry whole variables over, and so does what has half precision."""
    done = link(
        """layout(constant_id = 3) const float SIZE = 2.0;
        layout(location = 0) out vec2 a; layout(location = 1) out float b;
        layout(location = 2) out float size; layout(location = 3) out mediump vec3 c;
        void main() { a = p.xy; b = p.z; size = SIZE; c = p.xyz * p.w; gl_Position = p; }""",
        """layout(constant_id = 3) const float OTHER = 3.0;
        layout(location = 0) in vec2 a; layout(location = 1) in float b;
        layout(location = 2) in float size; layout(location = 3) in mediump vec3 c;
        void main() { o = vec4(a.yx, b, OTHER) * size + fract(c.xyzx); }""",
    )
    assert done.table() == done.table(inputs=True)
    names = {name: shape for name, (_, shape) in done.table().items()}
    assert names == {"a_b": "f32x3", "size": "f32", "c": "f32x3"}
    assert len(done.locations) == 2


def test_what_an_arm_reads_is_not_read_before_it() -> None:
    done = link(
        """layout(location = 0) out vec2 a; layout(location = 2) out float b;
        void main() { a = p.xy; b = p.z; gl_Position = p; }""",
        """layout(location = 0) in vec2 a; layout(location = 2) in float b;
        void main() { o = a.yxyx; if (gl_FragCoord.x > 1.0) o += sin(b); }""",
    )
    assert done.table() == {"a": ("0.xy", "f32x2"), "b": ("0.z", "f32")}


def test_what_is_packed_already_keeps_its_variables() -> None:
    done = link(
        """layout(location = 0) out vec2 a; layout(location = 0, component = 2) out float b;
        void main() { a = p.xy; b = p.z + 0.0; gl_Position = p; }""",
        """layout(location = 0) in vec2 a; layout(location = 0, component = 2) in float b;
        void main() { o = vec4(a.yx, b, b); }""",
    )
    names = {name: shape for name, (_, shape) in done.table().items()}
    assert names == {"a": "f32x2", "b": "f32"}


def test_qualifiers_do_not_mix() -> None:
    names = ("", "flat", "noperspective", "centroid", "sample", "noperspective centroid")
    outs = "".join(f"layout(location = {n}) {q} out float v{n};" for n, q in enumerate(names))
    ins = outs.replace(" out ", " in ")
    stores = "".join(f"v{n} = p.x;" for n in range(len(names)))
    total = " + ".join(f"v{n}" for n in range(len(names)))
    done = link(
        f"{outs} void main() {{ {stores} gl_Position = p; }}",
        f"{ins} void main() {{ o = vec4({total}); }}",
    )
    assert len(done.locations) == len(names)


FLAT_OUT = """layout(location = 0) flat out int i; layout(location = 1) flat out float f;
layout(location = 2) flat out {more};
void main() {{ i = k.x; f = p.x; {store} gl_Position = p; }}"""
FLAT_IN = """layout(location = 0) flat in int i; layout(location = 1) flat in float f;
layout(location = 2) flat in {more};
void main() {{ o = vec4(float(i), f, {use}, 1.0); }}"""


def test_casts_only_where_a_location_is_saved() -> None:
    def bits(more: str, store: str, use: str) -> Result:
        return link(FLAT_OUT.format(more=more, store=store), FLAT_IN.format(more=more, use=use))

    one = bits("uint u", "u = uint(k.y);", "float(u)")
    assert one.locations == {0}
    assert {shape for _, shape in one.table().values()} == {"u32x3"}
    assert count(one.frag, ops.OpBitcast) == 2
    # Four ints fill a Location of their own: only one int has to travel beside the float.
    full = bits("ivec4 u", "u = k;", "float(u.x + u.y + u.z + u.w)")
    assert full.locations == {0, 1}
    assert sorted(shape for _, shape in full.table().values()) in (
        ["i32x4", "u32x2"], ["f32", "i32", "i32x4"],
    )  # fmt: skip


def test_floats_stay_floats_if_nothing_is_saved() -> None:
    done = link(
        """layout(location = 0) flat out ivec4 i; layout(location = 2) flat out vec3 f;
        void main() { i = k; f = p.xyz; gl_Position = p; }""",
        """layout(location = 0) flat in ivec4 i; layout(location = 2) flat in vec3 f;
        void main() { o = vec4(f, float(i.x + i.y + i.z + i.w)); }""",
    )
    assert done.locations == {0, 1}
    assert {shape for _, shape in done.table().values()} == {"i32x4", "f32x3"}
    assert count(done.vert, ops.OpBitcast) == count(done.frag, ops.OpBitcast) == 0


def test_smooth_ints_do_not_exist_so_floats_share_with_floats_only() -> None:
    done = link(
        """layout(location = 0) flat out int i; layout(location = 1) out vec2 f;
        layout(location = 2) out float g;
        void main() { i = k.x; f = p.xy; g = p.z; gl_Position = p; }""",
        """layout(location = 0) flat in int i; layout(location = 1) in vec2 f;
        layout(location = 2) in float g;
        void main() { o = vec4(f, g, float(i)); }""",
    )
    assert len(done.locations) == 2
    assert count(done.frag, ops.OpBitcast) == 0


def test_64_bits() -> None:
    """Doubles lie at components 0 and 2, dvec3 falls apart, and they share with doubles only."""
    done = link(
        """layout(location = 0) flat out dvec3 a; layout(location = 2) flat out double b;
        layout(location = 3) flat out double c; layout(location = 4) flat out float f;
        void main() { a = dvec3(p.xyz); b = double(p.w); c = b * 2.0lf; f = p.x; gl_Position = p;
        }""",
        """layout(location = 0) flat in dvec3 a; layout(location = 2) flat in double b;
        layout(location = 3) flat in double c; layout(location = 4) flat in float f;
        void main() { o = vec4(float(a.x), float(a.z), float(b + c), f); }""",
    )
    assert len(done.locations) == 3  # four doubles and a float
    for variable in done.outputs:
        if variable.shape.startswith("f64"):
            assert variable.place[1] in (0, 2)
        else:
            assert variable.shape == "f32"


HALF = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
"""
HALF_OUT = """layout(location = 0) out f16vec2 a; layout(location = 1) out f16vec3 b;
layout(location = 2) out vec2 f;
void main() { a = f16vec2(p.xy)SCALE; b = f16vec3(p.xyz); f = p.zw; gl_Position = p; }"""
HALF_IN = """layout(location = 0) in f16vec2 a; layout(location = 1) in f16vec3 b;
layout(location = 2) in vec2 f;
void main() { o = vec4(a.y, b.x, b.zSCALE, 0.0) + vec4(f, f); }"""


def halves(scale: str) -> Result:
    return Result(
        vertex(HALF + HALF_OUT.replace("SCALE", scale)),
        fragment(HALF + HALF_IN.replace("SCALE", scale)),
    )


def test_16_bits() -> None:
    """Halves take a component each and do not share with floats."""
    done = halves(" * 2.0hf")
    assert done.table() == done.table(inputs=True)
    assert len(done.locations) == 2
    shapes = sorted(shape for _, shape in done.table().values())
    assert shapes in (["f16", "f16x2", "f32x2"], ["f16x3", "f32x2"])


def test_16_bits_without_float16() -> None:
    """StorageInputOutput16 alone does not allow to take 16-bit vectors apart, but to load, convert
    and store their components."""
    done = halves("")
    assert done.table() == done.table(inputs=True)
    assert len(done.locations) == 2
    shapes = sorted(shape for _, shape in done.table().values())
    assert shapes in (["f16", "f16x2", "f32x2"], ["f16x3", "f32x2"])


MATRIX_OUT = """layout(location = 1) out mat3 m; layout(location = 5) out float a;
layout(location = 6) out vec4 b;
void main() { m = mat3(p.xyz, p.zyx, p.yzx); a = p.w; b = p; gl_Position = p; }"""


def test_a_matrix_stays_whole_where_that_costs_no_location() -> None:
    done = link(
        MATRIX_OUT.replace("layout(location = 5) out float a;", "float a;"),
        """layout(location = 1) in mat3 m; layout(location = 6) in vec4 b;
        void main() { o = vec4(m * b.xyz, b.w); }""",
    )
    assert done.table() == done.table(inputs=True)
    assert done.table()["m"] == ("0-2.xyz", "f32x3x3")
    assert done.locations == {0, 1, 2, 3}


def test_a_matrix_is_split_where_that_saves_a_location() -> None:
    done = link(
        MATRIX_OUT,
        """layout(location = 1) in mat3 m; layout(location = 5) in float a;
        layout(location = 6) in vec4 b;
        void main() { o = vec4(m * b.xyz, a + b.w); }""",
    )
    assert done.table() == done.table(inputs=True)
    assert len(done.locations) == 4  # 9 + 1 + 4 components
    assert not any(shape == "f32x3x3" for _, shape in done.table().values())


def test_an_array_of_constant_indices_stays_whole_or_falls_apart() -> None:
    outs = """layout(location = 2) out vec2 w[2]; layout(location = 5) out float a;
    void main() { w[0] = p.xy; w[1] = p.zw; a = p.x * 2.0; gl_Position = p; }"""
    whole = link(
        outs,
        """layout(location = 2) in vec2 w[2]; layout(location = 5) in float a;
        void main() { o = vec4(w[0], w[1]) * a; }""",
    )
    assert whole.table() == whole.table(inputs=True)
    assert len(whole.locations) == 2
    part = link(
        outs,
        """layout(location = 2) in vec2 w[2]; layout(location = 5) in float a;
        void main() { o = vec4(w[0].x, w[1].y, a, 1.0); }""",
    )
    assert part.locations == {0}


def test_a_dynamic_array_moves_whole_and_its_neighbours_are_used() -> None:
    options = base_options()
    options.pack = PACK_COORDINATES
    done = link(
        """layout(location = 2, component = 1) out float w[3]; layout(location = 6) out vec2 uv;
        layout(location = 8) out vec4 c; layout(location = 9) out float s;
        layout(location = 10) out vec3 t;
        void main() { for (int i = 0; i < 3; ++i) w[i] = p[i]; uv = p.xy; c = p; s = p.z;
        t = p.xyz; gl_Position = p; }""",
        """layout(location = 2, component = 1) in float w[3]; layout(location = 6) in vec2 uv;
        layout(location = 8) in vec4 c; layout(location = 9) in float s;
        layout(location = 10) in vec3 t;
        layout(binding = 0) uniform U { int n; };
        void main() { o = c * w[n] + vec4(uv, s, 0.0) + vec4(t, 0.0); }""",
        options,
    )
    assert done.table() == done.table(inputs=True)
    assert done.table()["w"] == ("0-2.y", "f32x3")
    assert len(done.locations) == 4  # 3 + 2 + 4 + 1 + 3 components: 13


def test_dynamic_arrays_of_one_kind_share_locations() -> None:
    done = link(
        """layout(location = 0) out vec2 a[2]; layout(location = 2, component = 2) out vec2 b[2];
        void main() { a[k.x & 1] = p.xy; b[k.y & 1] = p.zw; gl_Position = p; }""",
        """layout(location = 0) in vec2 a[2]; layout(location = 2, component = 2) in vec2 b[2];
        layout(binding = 0) uniform U { int n; };
        void main() { o = vec4(a[n], b[n]); }""",
    )
    assert done.table() == {"a": ("0-1.xy", "f32x2x2"), "b": ("0-1.zw", "f32x2x2")}


def test_flat_does_not_move_into_a_smooth_array() -> None:
    done = link(
        """layout(location = 0) out float w[2]; layout(location = 4) flat out float s;
        void main() { w[k.x & 1] = p.x; s = p.y; gl_Position = p; }""",
        """layout(location = 0) in float w[2]; layout(location = 4) flat in float s;
        layout(binding = 0) uniform U { int n; };
        void main() { o = vec4(w[n], s, 0.0, 1.0); }""",
    )
    assert done.table() == {"w": ("0-1.x", "f32x2"), "s": ("2.x", "f32")}


@pytest.mark.parametrize("location", [0, 3, 14])
def test_never_above_the_highest_location(location: int) -> None:
    done = link(
        f"""layout(location = {location}) out vec2 a; layout(location = {location + 1}) out vec3 b;
        void main() {{ a = p.xy; b = p.xyz; gl_Position = p; }}""",
        f"""layout(location = {location}) in vec2 a; layout(location = {location + 1}) in vec3 b;
        void main() {{ o = vec4(a, b.xy) + vec4(b, b.z); }}""",
    )
    assert len(done.locations) == 2
    assert max(done.locations) <= location + 1
