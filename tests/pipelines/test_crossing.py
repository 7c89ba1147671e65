"""Values that cross from the vertex to the fragment stage: what must not come along wrongly.

Each case is a pipeline that once came out wrong, or was given up for a defect of ours.
"""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.linking import FRAGMENT, VERTEX, Result, fragment, link, vertex
from tests.support.samples import compile_glsl, edited

PUSH = "layout(push_constant) uniform P { vec4 tint; mat4 m; };\n"
TABLE = "float t[8] = float[8](0.1, 0.9, 0.3, 0.7, 0.2, 0.5, 0.4, 0.6);\n"
WIDE = "gl_Position = vec4(p.xyz, 1.0 + abs(p.x) * 2.3 + abs(p.y) * 0.7);"
EXPLICIT = "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
HALVES = "#extension GL_EXT_shader_16bit_storage : require\n" + EXPLICIT


def options(layout: bool = True) -> spvlink.Options:
    """All passes but motion, which rounds; moving costs nothing; with a layout that grants
    everything to both stages."""
    made = spvlink.Options(clean=True)
    made.cost_limit = 1000
    made.disable = frozenset(("backward", "forward"))
    if layout:
        both = ["VERTEX", "FRAGMENT"]
        slots = [
            {"binding": b, "descriptorType": "UNIFORM_BUFFER", "stageFlags": both} for b in range(2)
        ]
        made.layout = {
            "setLayouts": [{"set": 0, "bindings": slots}],
            "pushConstantRanges": [{"stageFlags": both, "offset": 0, "size": 128}],
        }
    return made


def actions(result: Result) -> dict[str, set[str]]:
    """Variable -> what became of its components."""
    found: dict[str, set[str]] = {}
    for remark in result.linked.remarks:
        found.setdefault(remark.name, set()).add(remark.action)
    return found


def same_picture(before: list[bytes], after: list[bytes]) -> None:
    """Draw both with one layout that is open to both stages; every pixel must be equal."""
    scene, _ = draw_covering(before)
    scene.open_to_all()
    old = draw(before, scene)
    difference = compare(old, draw(after, scene))
    assert not difference, str(difference)


@pytest.mark.parametrize(
    "stores",
    ["a = vec4(tint.y); b = tint * 2.0;", "a = m[1]; b = m * vec4(1.0, 2.0, 3.0, 4.0);"],
    ids=["component", "column"],
)
def test_overlapping_members_are_declared_once(stores: str) -> None:
    """A vector and its component, a matrix and its column, in a block the other stage lacks."""
    places = [f"layout(location = {n}) {{}} vec4 {name};" for n, name in enumerate("abc")]
    vert = PUSH + "".join(p.format("out") for p in places)
    vert += "void main() { " + stores + " c = p; gl_Position = p; }"
    frag = "".join(p.format("in") for p in places) + "void main() { o = c * a + b; }"
    done = link(vert, frag, options())
    fates = actions(done)
    assert "propagated" in fates["a"] & fates["b"] and "c" in fates
    assert fates["a"] | fates["b"] <= {"propagated", "merged"}
    same_picture([vertex(vert), fragment(frag)], done.data)


def test_one_place_read_as_two_types_moves_once() -> None:
    """Two blocks alias one binding, as floats and as uints; one declaration cannot be both."""
    vert = """layout(binding = 0) uniform U { vec4 x; }; layout(binding = 0) uniform V { uvec4 y; };
    layout(location = 0) out vec4 a; layout(location = 1) flat out uvec4 b;
    layout(location = 2) out vec4 c;
    void main() { a = x; b = y; c = p; gl_Position = p; }"""
    frag = """layout(location = 0) in vec4 a; layout(location = 1) flat in uvec4 b;
    layout(location = 2) in vec4 c; void main() { o = c * a + vec4(b & 3u); }"""
    moved = [name for name, what in actions(link(vert, frag, options())).items()
             if what == {"propagated"}]  # fmt: skip
    assert moved in (["a"], ["b"])


@pytest.mark.parametrize(
    ("extension", "block", "stored"),
    [
        ("", "float x; double d;", "float(d * 2.0)"),
        ("", "float x;", "float(double(x) * 2.0)"),
        (EXPLICIT, "uint x;", "float(uint64_t(x) * 5ul)"),
        (HALVES, "float x; float16_t h;", "float(h) * 2.0"),
    ],
    ids=["double member", "double inside", "long inside", "half member"],
)
def test_no_capability_is_carried_over(extension: str, block: str, stored: str) -> None:
    """Sizes of numbers that the fragment stage does not declare stay in the vertex stage."""
    vert = VERTEX.replace("450\n", "450\n" + extension) + (
        f"layout(binding = 0) uniform U {{ {block} }};"
        "layout(location = 0) out float a; layout(location = 1) out vec4 c;"
        f"void main() {{ a = {stored}; c = p; gl_Position = p; }}"
    )
    frag = fragment(
        "layout(location = 0) in float a; layout(location = 1) in vec4 c;void main() { o = c * a; }"
    )
    done = Result(compile_glsl(vert, "vert", "vulkan1.1"), frag, options())
    assert "propagated" not in actions(done)["a"]


def test_flat_is_not_packed_beside_what_is_interpolated() -> None:
    """An index in a Flat float: one rounding more, and it is the index before."""
    vert = (
        "layout(location = 0) flat out float id; layout(location = 1) out vec3 c;"
        "void main() { id = float(gl_InstanceIndex + 3); c = p.xyz; " + WIDE + " }"
    )
    frag = (
        "layout(location = 0) flat in float id; layout(location = 1) in vec3 c;"
        "void main() { " + TABLE + "o = vec4(c, t[int(id) & 7]); }"
    )
    done = Result(vertex(vert), fragment(frag), options(layout=False))
    assert len(done.locations) == 2
    same_picture([vertex(vert), fragment(frag)], done.data)


def test_flat_is_not_read_from_an_interpolated_twin() -> None:
    vert = (
        "layout(location = 0) out float id1; layout(location = 1) out vec4 c;"
        "layout(location = 2) flat out float id2;"
        "void main() { id1 = id2 = float(gl_InstanceIndex + 3); c = p; " + WIDE + " }"
    )
    frag = (
        "layout(location = 0) in float id1; layout(location = 1) in vec4 c;"
        "layout(location = 2) flat in float id2;"
        "void main() { " + TABLE + "o = vec4(id1 < 0.0 ? 1.0 : 0.0, c.xy, t[int(id2) & 7]); }"
    )
    done = Result(vertex(vert), fragment(frag), options(layout=False))
    assert actions(done)["id1"] == {"merged"}
    assert "merged" not in actions(done)["id2"]
    same_picture([vertex(vert), fragment(frag)], done.data)


def test_an_invariant_output_keeps_its_slot() -> None:
    done = link(
        """layout(location = 0) out float a; layout(location = 1) invariant out float b;
        void main() { a = b = p.x * p.y; gl_Position = p; }""",
        """layout(location = 0) in float a; layout(location = 1) in float b;
        void main() { o = vec4(a, b, 0.0, 1.0); }""",
        options(layout=False),
    )
    assert "merged" not in actions(done).get("b", set())


def test_a_block_that_was_not_listed_is_listed() -> None:
    """SPIR-V 1.4: the fragment module has the block but its entry point does not name it."""
    block = "layout(binding = 0) uniform U { vec4 x; } u;\n"
    frag = compile_glsl(
        FRAGMENT + block + "layout(location = 0) in vec4 a; layout(location = 1) in vec4 c;"
        "void main() { o = c * a; }", "frag", "vulkan1.2",
    )  # fmt: skip
    unlisted = edited(frag, (r"(OpEntryPoint .*) %u\b", r"\1"), environment="vulkan1.2")
    vert = VERTEX + block + (
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 c;"
        "void main() { a = u.x; c = p; gl_Position = p; }"
    )  # fmt: skip
    done = Result(compile_glsl(vert, "vert", "vulkan1.2"), unlisted, options())
    assert actions(done)["a"] == {"propagated"}


def test_stages_that_round_differently_keep_their_arithmetic() -> None:
    frag = fragment(
        "layout(location = 0) in vec4 a; layout(location = 1) in vec4 c; void main() { o = c * a; }"
    )
    vert = vertex(
        "layout(binding = 0) uniform U { vec4 x; vec4 y; };"
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 c;"
        "void main() { a = x * y; c = p; gl_Position = p; }",
        "vulkan1.2",
    )
    assert actions(Result(vert, frag, options()))["a"] == {"propagated"}
    flushing = edited(
        vert,
        ("OpCapability Shader\n", "OpCapability Shader\nOpCapability DenormFlushToZero\n"),
        (r"(OpEntryPoint .*\n)", r"\1OpExecutionMode %main DenormFlushToZero 32\n"),
        environment="vulkan1.2",
    )
    assert "propagated" not in actions(Result(flushing, frag, options()))["a"]


@pytest.mark.parametrize("newest", ["vulkan1.0", "vulkan1.2"])
def test_a_choice_of_whole_vectors_only_where_the_version_has_it(newest: str) -> None:
    """OpSelect of vectors by one bool is SPIR-V 1.4."""
    vert = VERTEX + (
        "layout(binding = 0) uniform U { vec4 x; vec4 y; int q; };"
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 c;"
        "void main() { a = q > 0 ? x : y; c = p; gl_Position = p; }"
    )
    frag = fragment(
        "layout(location = 0) in vec4 a; layout(location = 1) in vec4 c; void main() { o = c * a; }"
    )
    source = compile_glsl(vert, "vert", newest)
    same_picture([source, frag], Result(source, frag, options()).data)


def test_a_sum_takes_the_place_of_one_of_its_terms() -> None:
    """In a Location that a value of another base type stays in, which GLSL has no words for."""
    declared = "layout(location = {}) flat {} {} {};"
    names = (("float", "f"), ("int", "m"), ("int", "n"))
    codes = []
    for way, make, body in (
        ("out", vertex, "f = sin(p.x); m = int(p.y * 5.0); n = int(p.z * 7.0); gl_Position = p;"),
        ("in", fragment, "o = vec4(cos(f), sin(float(m * 3 - n)), f, 1.0);"),
    ):
        text = "".join(declared.format(k, way, *names[k]) for k in range(3))
        places = [
            (
                rf"( *OpDecorate %{name} Location )\d\n",
                rf"\g<1>0\nOpDecorate %{name} Component {k}\n",
            )
            for k, (_, name) in enumerate(names)
        ]
        codes.append(edited(make(f"{text} void main() {{ {body} }}"), *places))
    made = options()
    made.disable, made.exact = frozenset(), True
    done = Result(*codes, made)
    assert actions(done)["m"] == actions(done)["n"] == {"moved-backward"}
    assert done.linked.interfaces[0].components == (3, 2)
    same_picture(codes, done.data)
