"""Arrays of varyings that both stages index dynamically, where an index is bounded: what no index
reaches does not cross. Drawn, and linked twice."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import ops
from tests.support.chain_text import frag, geom, tesc, tese, text, vert
from tests.support.linking import all_insts, module_of
from tests.support.samples import compile_glsl
from tests.support.shared_values import MOTION as MOVING
from tests.support.shared_values import Stages, prove

# What is looked at here is left where loops stay loops.
MOTION = MOVING | {"unroll"}
ALL = set(range(6))
# How a fragment shader names an element of an array of six -> which it may name. Nothing is known
# of ``n`` and ``s``, which are 0 to 5.
INDICES: dict[str, tuple[str, set[int]]] = {
    "mask": ("O(n & 1u);", {0, 1}),
    "mask with a hole": ("O(s & 5);", {0, 1, 4, 5}),
    "sum": ("O((n & 1u) + 3u);", {3, 4}),
    "difference": ("O(4 - (s & 1));", {3, 4}),
    "product": ("O((s & 1) * 3 + 1);", {1, 4}),
    "remainder": ("O(n % 3u);", {0, 1, 2}),
    "signed remainder": ("O(s % 3);", {0, 1, 2}),
    "minimum": ("O(min(n, 2u));", {0, 1, 2}),
    "signed minimum": ("O(min(s, 2));", {0, 1, 2}),
    "maximum": ("O(max(s, 3));", {3, 4, 5}),
    "clamp": ("O(clamp(s, 2, 4));", {2, 3, 4}),
    "minimum of a maximum": ("O(min(max(s, 1), 2) + 1);", {2, 3}),
    "shift": ("O(n >> 31);", {0, 1}),
    "bit field": ("O(bitfieldExtract(n, 3, 1));", {0, 1}),
    "choice": ("O(n > 2u ? 5 : 0);", {0, 5}),
    "choice by branches": ("int e; if (n > 2u) e = 4; else e = 1; O(e);", {1, 4}),
    "cast": ("O(int(n & 1u));", {0, 1}),
    "guard": ("if (n < 2u) O(n);", {0, 1}),
    "guard from below": ("if (s >= 4) O(s);", {4, 5}),
    "guard turned round": ("if (!(3 > s)) O(s);", {3, 4, 5}),
    "guards": ("if (s > 1) { if (s != 3) O(s); }", {2, 4, 5}),
    "the other branch": ("if (s > 1) o += 1.0; else O(s);", {0, 1}),
    "loop": ("for (int i = 0; i < 3; ++i) O(i);", {0, 1, 2}),
    "loop with steps": ("for (uint i = 1u; i < 6u; i += 2u) O(i);", {1, 3, 5}),
    "loop down": ("for (int i = 4; i > 1; --i) O(i);", {2, 3, 4}),
    "loop to one": ("for (int i = 0; i != 3; ++i) O(i + 1);", {1, 2, 3}),
    "loop with a known begin": ("for (int i = s & 1; i < 4; i += 2) O(i);", {0, 1, 2, 3}),
    "loop that is left": ("for (int i = 0; i < 4; ++i) { if (i == s) break; O(i); }", {0, 1, 2, 3}),
    "loops": ("for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) O(i + j);", {0, 1, 2}),
    "choice in a loop": ("for (int i = 0; i < 2; i++) O(i == s ? i : 3);", {0, 1, 3}),
    "loop of unknown steps": ("for (uint i = 1u; i < 4u; i += 1u + (n >> 9)) O(i);", {0, 1, 2, 3}),
    "changed otherwise": ("for (int i = 0; i < 4; ++i) { O(i); if (s == 1) ++i; }", {0, 1, 2, 3}),
    "behind a loop": ("int i = 0; for (; i < 3; ++i) o += 0.5; O(i);", {3, 4, 5}),
    # nothing that is bounded
    "anything": ("O(n);", ALL),
    "guard of another": ("if (n < 2u) O(s);", ALL),
    "guard behind": ("if (n < 2u) o += 1.0; O(n);", ALL),
    "loop of unknown length": ("for (int i = 0; i < s; ++i) O(i);", ALL),
    "loop from anywhere": ("for (uint i = n; i < 2u; ++i) O(i); O(n);", ALL),
    "loop that nothing tests": ("for (int i = 0; ; ++i) { O(i); if (i >= s) break; }", ALL),
    "tested behind": ("int i = 0; do { O(i); ++i; } while (i < 3);", ALL),
    "minimum that may be large": ("O(min(n, 99u));", ALL),
    "sum with anything": ("O((n & 1u) + n);", ALL),
    "mask of a sign": ("O(s & -2);", ALL),
}  # fmt: skip
HEAD = """layout(location = 0) in vec4 c[6]; layout(location = 6) flat in uvec2 k;
layout(location = 0) out vec4 o;
#define O(i) o += sin(c[i])
"""


def fragment_of(main: str) -> tuple[str, str]:
    return text("frag", HEAD, f"o = vec4(0.0); uint n = k.x; int s = int(k.y);\n{main}")


ARRAY = """layout(location = 0) out vec4 c[6]; layout(location = 6) flat out uvec2 k2;
"""
STORE = "for (int i = 0; i < 6; ++i) c[i] = a * float(i + 1);\nk2 = uvec2(abs(k.xy)) % 6u;\n"


def crossing(linked: spvlink.Linked, name: str = "c") -> set[str]:
    """The parts of the array that cross."""
    return {
        r.name
        for r in linked.remarks
        if r.name.startswith(name) and r.action not in ("removed", "undefined")
    }


@pytest.mark.parametrize("name", INDICES)
def test_what_no_index_reaches_does_not_cross(name: str) -> None:
    main, reached = INDICES[name]
    linked = prove([vert(ARRAY, STORE), fragment_of(main)], disable=MOTION)
    whole = {"c"} if reached == ALL else set()
    wanted = whole or {f"c[{n}]" for n in reached}
    if 2 * len(wanted) > 6 and not whole:  # copies of so many would not pay
        assert crossing(linked) in (wanted, {"c"})
    else:
        assert crossing(linked) == wanted


def test_it_is_worth_its_copies() -> None:
    """A copy of five elements to save one is not."""
    main = "for (int i = 0; i < 5; ++i) O(i);"
    linked = prove([vert(ARRAY, STORE), fragment_of(main)], disable=MOTION)
    assert crossing(linked)


WRITERS = {
    "a loop": ("for (int i = 1; i < 3; ++i) c[i] = a * float(i);", {1, 2}),
    "a mask": ("c[k.x & 1] = a; c[1 - (k.x & 1)] = b;", {0, 1}),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_never_stored_does_not_cross(name: str) -> None:
    """(What is read of the others is undefined; it is multiplied by 0 here.)"""
    store, _ = WRITERS[name]
    store += "\nk2 = uvec2(abs(k.xy)) % 6u;"
    main = "uint e = n % 6u; if (e == 1u) O(e);"
    linked = prove([vert(ARRAY, store), fragment_of(main)], disable=MOTION)
    assert crossing(linked) == {"c[1]"}


def test_components_that_are_not_read() -> None:
    main = "o += sin(c[n].y) + c[s].y;"
    linked = prove([vert(ARRAY, STORE), fragment_of(main)], disable=MOTION)
    live = {r.slot[-1] for r in linked.remarks if r.name[:2] == "c[" and r.action != "removed"}
    assert live == {"y"}


def test_all_constant() -> None:
    """Copies become an initializer, with zeros where no index leads."""
    store = "c = vec4[](vec4(1), vec4(2), a, a, a, vec4(0.5)); k2 = uvec2(abs(k.xy)) % 6u;"
    linked = prove([vert(ARRAY, store), fragment_of("O(n & 1u);")], disable=MOTION, tolerance=1e-5)
    actions = {r.action for r in linked.remarks if r.name in ("c[0]", "c[1]")}
    assert actions <= {"propagated", "merged"}
    module = module_of(linked.stages[1].data)
    local = [i for i in all_insts(module) if i.op == ops.OpVariable]
    assert len(local) == 1 and local[0].args


def test_a_geometry_shader_on_both_sides() -> None:
    emits = """for (int v = 0; v < 3; ++v) { p[1] = sin(c[v][gl_PrimitiveIDIn & 1]);
for (int i = 2; i < 4; ++i) p[i] = c[v][i & 1] * float(i);
gl_Position = gl_in[v].gl_Position; EmitVertex(); }"""
    stages: Stages = [
        vert("layout(location = 0) out vec4 c[6];",
             "for (int i = 0; i < 6; ++i) c[i] = a * float(i);"),
        geom("layout(location = 0) in vec4 c[][6]; layout(location = 0) out vec4 p[5];", emits),
        frag("layout(location = 0) in vec4 p[5];",
             "color = p[1]; for (int i = 1; i < 3; ++i) color += cos(p[i]);"),
    ]  # fmt: skip
    linked = prove(stages, disable=MOTION)
    assert crossing(linked, "c[") == {"c[0]", "c[1]"}
    assert crossing(linked, "p[") == {"p[1]", "p[2]"}


def test_what_other_invocations_see_stays() -> None:
    stages: Stages = [
        vert("", ""),
        tesc("layout(location = 0) out vec4 c[][4];",
             "vec4 at = gl_in[0].gl_Position;\n"
             "for (int i = 0; i < 4; ++i) c[gl_InvocationID][i] = at * float(i);"),
        tese("layout(location = 0) in vec4 c[][4]; layout(location = 0) out vec4 f;",
             "f = vec4(0.0); for (int i = 0; i < 2; ++i) f += sin(c[i][i]);"),
        frag("layout(location = 0) in vec4 f;", "color = f;"),
    ]  # fmt: skip
    linked = prove(stages, disable=MOTION)
    assert any("both stages access it with a dynamic index" in r.why for r in linked.remarks)


def test_interpolated_elsewhere_stays() -> None:
    main = "o += interpolateAtSample(c[n & 1u], 0);"
    codes = [compile_glsl(t, s) for s, t in [vert(ARRAY, STORE), fragment_of(main)]]
    linked = spvlink.link(codes, clean=True)
    assert linked.defect is None
    assert crossing(linked) == {"c"}


def test_it_can_be_switched_off() -> None:
    stages = [vert(ARRAY, STORE), fragment_of("O(n & 1u);")]
    for disable in ("arrays", "dead"):
        linked = prove(stages, disable=MOTION | {disable})
        assert crossing(linked) == {"c"}


@pytest.mark.parametrize("exact", [False, True], ids=["", "exact"])
@pytest.mark.parametrize("name", ["mask", "loop with steps", "choice by branches", "guards"])
def test_all_passes_together(name: str, exact: bool) -> None:
    main, _ = INDICES[name]
    tolerance = 0.0 if exact else 1e-4
    prove(
        [vert(ARRAY, STORE), fragment_of(main)],
        disable=frozenset(),
        exact=exact,
        tolerance=tolerance,
    )


@pytest.mark.parametrize("exact", [False, True], ids=["", "exact"])
@pytest.mark.parametrize("kind", ["", "patch "], ids=["vertices", "patch"])
def test_a_vector_with_a_dynamic_index_stays_whole_alone(kind: str, exact: bool) -> None:
    """Its neighbours in the array are slots on both sides."""
    own = "c[1]" if kind else "c[gl_InvocationID][1]"
    there = "c[{0}]" if kind else "c[i][{0}]"
    rest = [own.replace("[1]", f"[{n}]") for n in (0, 2, 3)]
    arrays = "[4]" if kind else "[][4]"
    stages: Stages = [
        vert("", ""),
        tesc(f"layout(location = 0) {kind}out vec4 c{arrays};",
             "vec4 at = gl_in[gl_InvocationID].gl_Position;\n"
             f"{rest[0]} = vec4(3.0); {rest[1]} = sin(vec4(gl_PrimitiveID, 2, 3, 4));"
             f"{rest[2]} = vec4(1.0); {own} = vec4(0.125);"
             f"{own}[(gl_PrimitiveID + 1) & 3] = float(gl_PrimitiveID) * 0.25;"),
        tese(f"layout(location = 0) {kind}in vec4 c{arrays}; layout(location = 0) out vec4 f;",
             "f = vec4(0.0); for (int i = 0; i < 3; ++i) "
             f"f += {there.format(1)} * w[i] + {there.format(2)}.xyxy * 0.25 + {there.format(3)};"),
        frag("layout(location = 0) in vec4 f;", "color = f;"),
    ]  # fmt: skip
    linked = prove(stages, disable=MOTION, exact=exact)
    whole = {r.name for r in linked.remarks if "dynamic index" in r.why}
    assert whole == {"c[1]"}
    assert linked.interfaces[1].components == (16, 6)
