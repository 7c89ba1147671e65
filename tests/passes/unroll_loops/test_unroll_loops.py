"""Loops over arrays of varyings, unrolled where that takes the arrays apart: which loops, which
not, at every border. Drawn, and linked twice."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import ops
from spvlink.pipeline import PACK_COORDINATES, PACK_VECTORS
from tests.support.chain_text import frag, geom, mesh, tesc, tese, vert
from tests.support.linking import all_insts, module_of
from tests.support.samples import compile_glsl
from tests.support.shared_values import MOTION, Stages, prove

OUT = "layout(location = 0) out vec3 c[6];"
IN = "layout(location = 0) in vec3 c[6];"
STORE = "for (int i = 0; i < 6; ++i) c[i] = a.xyz * float(i + 1) + sin(b.yzw);"
SUM = "vec3 s = vec3(0.0); LOOP color = vec4(s, 1.0);"


def pair(loop: str, store: str = STORE) -> Stages:
    return [vert(OUT, store), frag(IN, SUM.replace("LOOP", loop))]


def loops_of(linked: spvlink.Linked) -> list[int]:
    """How many loops each stage has."""
    return [
        sum(i.op == ops.OpLoopMerge for i in all_insts(module_of(s.data))) for s in linked.stages
    ]


def whole(linked: spvlink.Linked) -> bool:
    return any(r.name == "c" and r.action == "kept" for r in linked.remarks)


UNROLLED = {
    "up": "for (int i = 0; i < 6; ++i) s += sin(c[i]);",
    "down": "for (int i = 5; i >= 0; --i) s += sin(c[i]);",
    "steps": "for (uint i = 0u; i != 6u; i += 2u) s += sin(c[i]) * cos(c[i + 1u]);",
    "tested behind": "int i = 0; do { s += sin(c[i]); ++i; } while (i < 6);",
    "a condition inside": "for (int i = 0; i < 6; ++i) { if (s.x < 1.0) s += sin(c[i]);"
                          " else s.y++; }",
    "a switch inside": "for (int i = 0; i < 6; ++i) switch (i & 1) { case 0: s += sin(c[i]); break;"
                       " default: s += cos(c[i]); }",
    "loops in loops": "for (int i = 0; i < 2; ++i) for (int j = 0; j < 3; ++j)"
                      " s += sin(c[3 * i + j]);",
    "a loop that stays inside": "for (int i = 0; i < 6; ++i)"
                                " for (float f = s.x; f < 3.0; f += 0.7) s += sin(c[i]) * 0.2;",
    "in a loop that stays": "for (float f = c[0].x; f < 1.0; f += 0.7)"
                            " for (int i = 0; i < 6; ++i) s += sin(c[i]) * 0.2;",
    "two counters": "for (int i = 0, j = 5; i < 6; ++i, --j) s += sin(c[i]) * c[j];",
    "used behind": "int i = 0; for (; i < 5; ++i) s += sin(c[i]); s *= sin(c[i]);",
    "derivatives": "for (int i = 0; i < 6; ++i) s += dFdx(c[i]) * 0.01 + sin(c[i]);",
    "twice": "for (int i = 0; i < 6; ++i) s += sin(c[i]);"
             " for (int i = 0; i < 6; ++i) s *= cos(c[i]);",
    "what a round hands on": "vec3 t = vec3(1.0); for (int i = 0; i < 6; ++i)"
                             " { vec3 u = t; t = s; s = u * 0.5 + sin(c[i]); } s += t;",
}  # fmt: skip


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", UNROLLED)
def test_elements_share_locations(name: str, exact: bool) -> None:
    """Six vec3 take five Locations."""
    linked = prove(pair(UNROLLED[name]), exact=exact, pack=PACK_COORDINATES)
    assert not whole(linked)
    before, after = linked.interfaces[0].locations
    assert before == 6 and after <= 5, [(r.name, r.action, r.why) for r in linked.remarks]
    stay = {"a loop that stays inside": 6, "in a loop that stays": 1}  # once in each round
    assert loops_of(linked) == [0, stay.get(name, 0)], name


@pytest.mark.parametrize(("size", "locations"), [(1, 2), (2, 3), (3, 6), (4, 6)])
def test_where_no_vector_is_split_an_array_is_taken_apart_for_a_location(
    size: int, locations: int
) -> None:
    kind = f"vec{size}" if size > 1 else "float"
    lanes = "xyzw"[:size]
    declared = f"layout(location = 0) {{}} {kind} c[6];"
    store = f"for (int i = 0; i < 6; ++i) c[i] = a.{lanes} * float(i + 1) + sin(b.{lanes});"
    total = " + ".join(f"s.{lane}" for lane in lanes) if size > 1 else "s"
    read = f"{kind} s = {kind}(0.0); for (int i = 0; i < 6; ++i) s += sin(c[i]);"
    read += f" color = vec4({total});"
    stages = [vert(declared.format("out"), store), frag(declared.format("in"), read)]
    linked = prove(stages, pack=PACK_VECTORS)
    assert linked.interfaces[0].locations == (6, locations)
    assert whole(linked) is (locations == 6)


LEFT = {
    "a break": "for (int i = 0; i < 6; ++i) { if (s.x > 2.0) break; s += sin(c[i]); }",
    "a continue": "for (int i = 0; i < 6; ++i) { if (s.x > 2.0) continue; s += sin(c[i]); }",
    "a return": "for (int i = 0; i < 6; ++i) { if (s.x > 9.0) { color = vec4(1); return; }"
                " s += sin(c[i]); }",
    "a discard": "for (int i = 0; i < 6; ++i) { if (s.x > 9.0) discard; s += sin(c[i]); }",
    "an unknown end": "for (int i = 0; i < int(c[0].x * 0.1) + 2; ++i) s += sin(c[i]);",
    "an unknown step": "for (int i = 0; i < 6; i += s.x > 1.0 ? 1 : 2) s += sin(c[i]);",
    "another index too": "for (int i = 0; i < 6; ++i) s += sin(c[i]);"
                         " s *= c[int(abs(s.x) * 3.0) % 6];",
    "an index of two": "for (int i = 0; i < 6; ++i) s += sin(c[s.x > 1.0 ? i : 0]);",
    "not to be unrolled": "[[dont_unroll]] for (int i = 0; i < 6; ++i) s += sin(c[i]);",
    "too long": "for (int i = 0; i < 6; ++i) {"
                + "s = sin(s) * cos(c[i]) + s.zxy;" * 40 + "}",
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_other_loops_stay(name: str) -> None:
    """The array too, and then no loop goes out in another form than it came."""
    stages = pair(LEFT[name])
    if "dont_unroll" in LEFT[name]:
        text = stages[1][1].replace(
            "450\n", "450\n#extension GL_EXT_control_flow_attributes : enable\n"
        )
        stages[1] = "frag", text
    codes = [compile_glsl(text, stage) for stage, text in stages]
    linked = spvlink.link(codes, clean=True)
    assert linked.defect is None, linked.defect
    assert whole(linked) or linked.passed_through
    assert loops_of(linked) == [1, 1]


FULL = (
    "layout(location = 0) out vec4 c[4];",
    "for (int i = 0; i < 4; ++i) c[i] = a * float(i + 1);",
    "layout(location = 0) in vec4 c[4];",
    "color = vec4(0.0); for (int i = 0; i < 4; ++i) color += sin(c[i]);",
)


def test_nothing_to_gain() -> None:
    """Whole vectors, all of them read and each another one: both stages go out as they came."""
    stages = [vert(*FULL[:2]), frag(*FULL[2:])]
    codes = [compile_glsl(text, stage) for stage, text in stages]
    linked = spvlink.link(codes)
    assert linked.passed_through == "nothing to gain"
    assert [s.data for s in linked.stages] == codes


GAINS = {
    "not read": (FULL[1], "color += sin(c[i].xz).xxyy;", 8),
    "constant": ("for (int i = 0; i < 4; ++i) c[i] = vec4(a.xyz * float(i + 1), 0.5);", None, 12),
    "of the counter": (
        "for (int i = 0; i < 4; ++i) c[i] = vec4(a.xyz * float(i + 1), float(i * i));", None, 12),
    "the same each time": (
        "for (int i = 0; i < 4; ++i) c[i] = vec4(a.xyz * float(i + 1), sin(b.x));", None, 13),
    "not stored": ("for (int i = 0; i < 4; ++i) c[i].xyz = a.xyz * float(i + 1);",
                   "color.xyz += sin(c[i].xyz); if (a3 > 9.0) color += c[i];", 12),
}  # fmt: skip


@pytest.mark.parametrize("name", GAINS)
def test_components_that_need_not_cross(name: str) -> None:
    store, read, left = GAINS[name]
    body = FULL[3] if read is None else FULL[3].replace("color += sin(c[i]);", f"{{ {read} }}")
    if "a3" in body:
        body = f"float a3 = gl_FragCoord.x * 0.0;\n{body}"
    stages = [vert(FULL[0], store), frag(FULL[2], body)]
    linked = prove(stages, tolerance=1e-5)
    assert not whole(linked) and linked.interfaces[0].components == (16, left)
    exact = prove(stages, exact=True)
    assert exact.interfaces[0].components[1] >= left  # no constant of what is interpolated


@pytest.mark.parametrize("name", ["unroll", "simplify"])
def test_it_can_be_switched_off(name: str) -> None:
    codes = [compile_glsl(text, stage) for stage, text in pair(UNROLLED["up"])]
    linked = spvlink.link(codes, disable=frozenset([name]), clean=True)
    assert linked.defect is None and loops_of(linked) == [1, 1]


def test_what_a_position_hangs_on_stays() -> None:
    """A depth pre-pass with the same vertex shader has the loop."""
    store = (
        "for (int i = 0; i < 6; ++i) { c[i] = a.xyz * float(i); gl_Position.xy += a.xy * 0.01; }"
    )
    codes = [compile_glsl(text, stage) for stage, text in pair(UNROLLED["up"], store)]
    linked = spvlink.link(codes, clean=True)
    assert linked.defect is None and loops_of(linked) == [1, 1] and whole(linked)


def test_to_a_control_shader_and_on() -> None:
    """What other invocations see is stored in place, element by element."""
    loop = "for (int i = 0; i < 4; ++i) "
    stages = [
        vert("layout(location = 0) out vec2 v[4];", loop + "v[i] = a.xy * float(i + 1);"),
        tesc("layout(location = 0) in vec2 v[][4]; layout(location = 0) out vec3 c[][4];",
             loop + "c[gl_InvocationID][i] = vec3(v[gl_InvocationID][i], 1.0);"),
        tese("layout(location = 0) in vec3 c[][4]; layout(location = 0) out vec4 f;",
             f"f = vec4(0.0); {loop} f += sin(vec4(c[0][i] + c[1][i] * w.y, w.x));"),
        frag("layout(location = 0) in vec4 f;", "color = f;"),
    ]  # fmt: skip
    linked = prove(stages)
    found = [(i.components, i.locations) for i in linked.interfaces]
    assert found == [((8, 8), (4, 2)), ((12, 8), (4, 2)), ((4, 4), (1, 1))]


def test_a_geometry_shader_emits_in_a_loop() -> None:
    stages = [
        vert("layout(location = 0) out vec2 v[4];",
             "for (int i = 0; i < 4; ++i) v[i] = a.xy * float(i + 1);"),
        geom("layout(location = 0) in vec2 v[][4]; layout(location = 0) out vec2 c[4];",
             "for (int n = 0; n < 3; ++n) { for (int i = 0; i < 4; ++i) c[i] = sin(v[n][i]);"
             " gl_Position = gl_in[n].gl_Position; EmitVertex(); }"),
        frag("layout(location = 0) in vec2 c[4];",
             "color = vec4(0.0); for (int i = 0; i < 4; ++i) color += cos(c[i]).xyxy;"),
    ]  # fmt: skip
    linked = prove(stages)
    assert [i.locations for i in linked.interfaces] == [(4, 2), (4, 2)]
    assert loops_of(linked) == [0, 1, 0]  # the one over the vertices stays


def test_a_mesh_shader() -> None:
    stages = [
        mesh("layout(location = 0) out vec2 c[][4];",
             "for (int n = 0; n < 4; ++n) c[i][n] = at * float(n + 1);"),
        frag("layout(location = 0) in vec2 c[4];",
             "color = vec4(0.0); for (int i = 0; i < 4; ++i) color += cos(c[i]).xyxy;"),
    ]  # fmt: skip
    linked = prove(stages, env="vulkan1.3")
    assert linked.interfaces[0].locations == (4, 2)


def test_barriers_in_the_loop() -> None:
    stages = [
        mesh("shared float s[9]; layout(location = 0) out vec2 c[][4];",
             "for (int n = 0; n < 4; ++n) { s[i] = at.x * float(n); barrier();\n"
             "c[i][n] = vec2(s[(i + 1) % 9], at.y); barrier(); }"),
        frag("layout(location = 0) in vec2 c[4];",
             "color = vec4(0.0); for (int i = 0; i < 4; ++i) color += cos(c[i]).xyxy;"),
    ]  # fmt: skip
    linked = prove(stages, env="vulkan1.3")
    assert linked.interfaces[0].locations[1] < 4
    module = module_of(linked.stages[0].data)
    assert sum(i.op == ops.OpControlBarrier for i in all_insts(module)) == 8


def test_debug_information_decides_nothing() -> None:
    """The code is the same, and what is said of variables in the loop is said of each round."""
    codes = [
        [compile_glsl(text, stage, "vulkan1.2", debug) for stage, text in pair(UNROLLED["up"])]
        for debug in (False, "-gVS")
    ]
    bare, told = [spvlink.link(c, clean=True, disable=MOTION, pack=PACK_COORDINATES) for c in codes]
    assert told.defect is None and told.validated == "validated"
    for one, other in zip(bare.stages, told.stages):
        assert one.body[1] == other.body[1]
    assert not whole(told)


def test_the_order_is_the_same_each_time() -> None:
    """Wherever blocks happen to lie in memory."""
    loops = "".join(f"for (int i = 0; i < 6; ++i) s += sin(c[i] * {n}.0);" for n in range(1, 6))
    codes = [compile_glsl(text, stage) for stage, text in pair(loops)]
    first, held = spvlink.link(codes, validate=False), []
    for size in range(8):
        again = spvlink.link(codes, validate=False)
        assert [s.data for s in again.stages] == [s.data for s in first.stages]
        held.append([bytearray(64 * size + n) for n in range(997 * size)])
