"""Interpolation that an evaluation shader does itself, and what moves through it: every way to
write it in every domain, what is linear and what is not, 16 bits, and what must not round
differently. Everything is drawn before and after."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from spvlink.draw import compare, draw, draw_covering
from spvlink.facts import numbers
from spvlink.grammar import enums
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.link.motion import polynomials
from tests.support.chain_hazards import geom
from tests.support.interpolations import (
    FORMS,
    HALVES,
    MOVED,
    PLACES,
    READ,
    STORE,
    STORED,
    A,
    B,
    chain,
    components,
    link,
    prove,
)
from tests.support.samples import compile_glsl

# those that are another functional than the rest of their domain
OTHERS = {"two", "as a triangle", "curve"}


PAIRS = [
    (domain, one, other)
    for domain, forms in FORMS.items()
    for one, other in itertools.product(forms, repeat=2)
    if one == next(iter(forms)) or one == other
]


@pytest.mark.parametrize(("domain", "one", "other"), PAIRS, ids=lambda name: name)
def test_every_way_to_write_it(domain: str, one: str, other: str) -> None:
    """The same functional of two inputs, however written, is that of their sum; another is not."""
    a, b = FORMS[domain][one].replace("X", "p"), FORMS[domain][other].replace("X", "q")
    linked = prove(chain(domain, READ, f"f = ({a}) * pc.k.x + ({b}) * 0.5;"))
    same = one == other or not OTHERS.intersection((one, other))
    assert components(linked) == (8, 4 if same else 8)


STAYS = {
    "product": f"f = {A} * {B};",
    "maximum": f"f = max({A}, {B});",
    "absolute": f"f = abs({A}) + {B};",
    "normal": f"f = normalize({A}) + {B};",
    "of its own": f"f = {A} * w.x + {B} * w.y;",
    "other vertices": f"f = p[0] + {B};",
    "jump": f"f = floor(({A} + {B}) * 4.0) * 0.125;",
    "jump behind": f"vec4 s = {A} + {B}; f = vec4(ivec4(s * 4.0)) * 0.125;",
    "precise": f"precise vec4 s = {A} * pc.k + {B}; f = s;",
    "used alone too": f"f = {A} + {B} + sin({A}) + cos({B});",
    # a sum of both at one vertex, and then the one of them at another
    "in turn": "f = p[0] * w.x + q[0] * w.x + p[1] * w.y + q[1] * w.y + p[2] * w.z + q[2] * w.z;",
    "dynamic vertex": "f = vec4(0.0); int n = int(pc.k.x) & 3; f = (p[n] + q[3 - n]) * w.x;",
}


@pytest.mark.parametrize("name", MOVED)
def test_what_moves(name: str) -> None:
    linked = prove(chain("triangles", READ, MOVED[name]))
    before, after = components(linked)
    assert (before, after) == (8, 2 if name == "dot" else 4) or (name, after) == ("dot", 1)
    border = [r for r in linked.remarks if r.interface == "tesc->tese"]
    actions = {r.name: r.action for r in border if r.slot != "built-in"}
    assert actions == {"p": "moved-backward", "q": "moved-backward"}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name: str) -> None:
    linked = prove(chain("triangles", READ, STAYS[name]))
    assert components(linked) == (8, 8)


@pytest.mark.parametrize("name", MOVED)
def test_nothing_moves_when_values_must_be_exact(name: str) -> None:
    linked = prove(chain("triangles", READ, MOVED[name]), exact=True)
    moved = {r.why for r in linked.remarks if r.action == "moved-backward"}
    if name == "inside":  # the sums at the vertices are done before: not even those are exact
        assert not moved
    assert components(linked)[1] == 8


def test_it_can_be_switched_off() -> None:
    stages = chain("triangles", READ, MOVED["sum"])
    assert components(prove(stages, disable=frozenset(["weighted"]))) == (8, 8)
    assert components(prove(stages)) == (8, 4)


def test_it_works_alone() -> None:
    """It asks on its own what the control shader can read."""
    others = frozenset(["backward", "forward", "propagate"])
    linked = prove(chain("triangles", READ, MOVED["scaled"]), disable=others)
    assert components(linked) == (8, 4)


NOT_ONE = {
    "as a triangle": ("quads", FORMS["quads"]["as a triangle"]),
    "two of three": ("triangles", FORMS["triangles"]["two"]),
    "third of a line": ("isolines", "(X[0] * w.x + X[1] * w.y + X[2] * w.z)"),
    "scaled": ("triangles", f"({FORMS['triangles']['sum']} * (w.x + 1.0))"),
    "a vertex too many": ("isolines", "(mix(X[0], X[1], w.x) + X[2])"),
}


@pytest.mark.parametrize("name", NOT_ONE)
def test_a_constant_needs_weights_that_sum_to_one(name: str) -> None:
    """sum(W * x) + c is not sum(W * (x + c)) if the weights sum to something else."""
    domain, form = NOT_ONE[name]
    a, b = form.replace("X", "p"), form.replace("X", "q")
    linked = prove(chain(domain, READ, f"f = ({a} + pc.k) * 0.5 + {b};"))
    assert components(linked) == (8, 8)
    linked = prove(chain(domain, READ, f"f = {a} * 0.5 + {b} + pc.k;"))
    assert components(linked) == (8, 4)


@pytest.mark.parametrize("domain", PLACES)
def test_16_bits(domain: str) -> None:
    """Values and arithmetic of 16 bits, rounded to 16 bits elsewhere than before."""
    stored = HALVES + STORED.replace("out vec4", "out f16vec4")
    store = """f16vec4 s = f16vec4(c[gl_InvocationID]), t = f16vec4(d[gl_InvocationID]);
p[gl_InvocationID] = s * t; q[gl_InvocationID] = s - t;"""
    read = HALVES + READ.replace("in vec4", "in f16vec4")
    form = FORMS[domain]["mix" if domain != "triangles" else "sum"]
    if domain == "quads":
        form = FORMS[domain]["products"]
    if domain == "isolines":
        form = FORMS[domain]["fma"]
    form = form.replace("w.", "h.").replace("1.0", "1.0hf")
    a, b = form.replace("X", "p"), form.replace("X", "q")
    main = f"f16vec3 h = f16vec3(w); f = vec4({a} * 0.5hf + {b});"
    linked = prove(chain(domain, read, main, stored, store), 1 / 128)
    assert components(linked) == (8, 4)
    alone = frozenset(["narrow"])  # which would put two into one
    exact = prove(chain(domain, read, main, stored, store), exact=True, disable=alone)
    assert components(exact) == (8, 8)


# What must come out to the bit.
HELD = {
    "position": f"vec4 s = {A} + {B}; gl_Position.xy += s.xy * 0.1 + s.zw * 0.01; f = vec4(0.5);",
    "clip distance": f"vec4 s = {A} + {B}; gl_ClipDistance[0] = dot(s, vec4(1.0)) + 9.0;"
    " f = vec4(0.5);",
    "branch": f"vec4 s = {A} + {B}; f = vec4(0.5);"
    " if (dot(s, vec4(1.0)) > 0.0) gl_Position.x += 0.1;",
    "selection": f"vec4 s = {A} + {B}; gl_Position.x += s.x * s.y < s.z * s.w ? 0.1 : 0.0;"
    " f = vec4(0.5);",
    "through a variable": f"vec4 s[2]; s[0] = {A} + {B}; s[1] = vec4(0.25); f = vec4(0.5);"
    " gl_Position.xyz += s[int(gl_PrimitiveID) & 1].xyz * 0.1 + s[1].w;",
}


@pytest.mark.parametrize("name", HELD)
def test_what_makes_a_position_is_left_alone(name: str) -> None:
    read = READ + ("out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[1]; };\n") * (
        name == "clip distance"
    )
    codes = [compile_glsl(t, s) for s, t in chain("triangles", read, HELD[name])]
    linked = link(codes)
    scene, before = draw_covering(codes)
    assert before.coverage > 0.1
    assert not compare(before, draw([s.data for s in linked.stages], scene))
    assert components(linked) == (8, 8)
    whys = {r.why for r in linked.remarks if r.interface == "tesc->tese" and r.action == "kept"}
    assert any("not moved: a position" in why for why in whys), whys


def test_an_invariant_output_is_left_alone() -> None:
    stages = chain("triangles", READ.replace("out vec4", "invariant out vec4"), MOVED["sum"])
    assert components(prove(stages)) == (8, 8)


def test_what_is_captured_is_left_alone() -> None:
    captured = "layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out vec4"
    stages = chain("triangles", READ.replace("layout(location = 0) out vec4", captured),
                   MOVED["sum"])  # fmt: skip
    codes = [compile_glsl(source, stage) for stage, source in stages]
    linked = link(codes)
    scene, before = draw_covering(codes)
    assert before.captured
    assert not compare(before, draw([s.data for s in linked.stages], scene))
    assert components(linked) == (8, 8)


def test_one_of_many_vertices_is_stored_elsewhere() -> None:
    """What is stored in another block may be missing where the other is stored."""
    store = """p[gl_InvocationID] = c[gl_InvocationID] * pc.l.x;
if (c[0].x > -9.0) q[gl_InvocationID] = d[gl_InvocationID];"""
    stages = chain("triangles", READ, MOVED["sum"], STORED, store)
    assert components(prove(stages)) == (8, 8)


def test_what_is_read_back_stays() -> None:
    store = (
        STORE + "barrier(); vec4 other = p[(gl_InvocationID + 1) % 4];"
        "gl_TessLevelInner[0] = 2.0 + clamp(dot(other, vec4(0.25)), 0.0, 1.0);"
    )
    stages = chain("triangles", READ, MOVED["sum"], STORED, store)
    assert components(prove(stages)) == (8, 8)


# Weights that are equal on paper, and not in the shader: (what is declared, one, another).
ROUNDED = {
    "a precise whole number": (
        "precise float t = w.x * 16.0 + 12582912.0; precise float m = t - 12582912.0;",
        "m", "(w.x * 16.0)",
    ),
    "a large number added and taken away": (
        "float m = (w.x * 16.0 + 12582912.0) - 12582912.0;", "m", "(w.x * 16.0)",
    ),
    "a uniform added and taken away": (
        "float t = pc.k.x * 1e7; float m = (w.x * 16.0 + t) - t;", "m", "(w.x * 16.0)",
    ),
    "a large difference": ("float m = mix(w.x, 1e8, 0.0) + 0.0 * w.y;", "m", "w.x"),
    "a conversion to 16 bits": (
        "float m = float(float16_t(w.x * 2000.0));", "m", "(w.x * 2000.0)",
    ),
    "16 bits": (
        "float16_t h = float16_t(w.x); float m = float(h * h);", "m", "(float(h) * float(h))",
    ),
    "half precision": ("mediump float n = w.x; mediump float m = n * n;", "m", "(w.x * w.x)"),
}  # fmt: skip


@pytest.mark.parametrize("name", ROUNDED)
def test_weights_that_round_differently_are_not_equal(name: str) -> None:
    declared, one, other = ROUNDED[name]
    a, b = (f"(p[0] * {w} + p[1] * (1.0 - {w}))" for w in (one, other))
    main = f"{declared}\nf = {a} + {b.replace('p[', 'q[')};"
    linked = prove(chain("triangles", HALVES + READ, main))
    assert components(linked) == (8, 8)


def test_weights_that_cancel_are_not_compared() -> None:
    """Sums of weights over several terms lose digits as well."""
    a = "(p[0] * (pc.k.x * 1e7) + p[0] * w.x - p[0] * (pc.k.x * 1e7))"
    linked = prove(chain("triangles", READ, f"f = {a} + q[0] * w.x;"))
    assert components(linked) == (8, 8)
    a = "(p[0] * 3e7 + p[0] * w.x - p[0] * 3e7)"
    linked = prove(chain("triangles", READ, f"f = {a} + q[0] * w.x;"))
    assert components(linked) == (8, 8)


def test_nearly_one_is_not_one_beside_a_uniform() -> None:
    """A uniform may be so large that a small share of it counts."""
    a, b = (f"({x}[0] * w.x + {x}[1] * (1.0 - w.x) + {x}[2] * (pc.k.x * 0.0000005))" for x in "pq")
    linked = prove(chain("triangles", READ, f"f = ({a} + 1e5 * pc.k) * 0.5 + {b};"))
    assert components(linked) == (8, 8)


GEOMETRY = {
    "position": ("gl_Position.xy += f[i].xy * 0.1;", 8),
    "branch": ("if (f[i].x > 0.3) EmitVertex();", 8),
    "dynamic vertex": ("gl_Position.xy += f[gl_PrimitiveIDIn % 3].zw * 0.1;", 8),
    "nothing but colours": ("", 4),
}


@pytest.mark.parametrize("name", GEOMETRY)
def test_what_a_geometry_shader_makes_positions_of(name: str) -> None:
    """The position may be made by the stage behind the evaluation shader."""
    more, left = GEOMETRY[name]
    stages = chain("triangles", READ, MOVED["sum"])
    main = f"""for (int i = 0; i < 3; ++i) {{
gl_Position = gl_in[i].gl_Position; g = f[i]; {more} EmitVertex(); }}"""
    declared = "layout(location = 0) in vec4 f[]; layout(location = 0) out vec4 g;"
    stages.insert(3, geom(declared, main))
    linked = prove(stages)
    assert components(linked) == (8, left)
    kept = prove(stages, keep_interface=frozenset(["geom"]))
    assert components(kept) == (8, 8)


def test_vectors_come_out_as_vectors() -> None:
    """Three loads, three products, two sums of a vec4: not four times as many."""
    from tests.support.linking import module_of

    linked = prove(chain("triangles", READ, MOVED["sum"]))
    module = module_of(linked.stages[2].data)
    names = [str(i).split(" = ")[-1].split()[0] for f in module.functions for b in f.blocks
             for i in b.insts]  # fmt: skip
    assert names.count("OpVectorTimesScalar") == 6  # with those of the position
    assert "OpFMul" not in names and "OpCompositeConstruct" not in names


# The polynomials by themselves.


def constant(module: Module, number: float) -> Inst:
    bits = int(np.float32(number).view(np.uint32))
    return types.constant(module, types.floating(module), bits)


def test_polynomials() -> None:
    u: polynomials.Polynomial = {((0, 0),): 1.0}
    v: polynomials.Polynomial = {((0, 1),): 1.0}
    one = polynomials.ONE
    rest = polynomials.added(one, u, -1.0)
    left, right = (
        polynomials.times(rest, v),
        polynomials.added(v, polynomials.times(u, v) or {}, -1.0),
    )
    assert left is not None and polynomials.name_of(left) == polynomials.name_of(right)
    corners = [
        polynomials.times(a, b) for a in (u, rest) for b in (v, polynomials.added(one, v, -1.0))
    ]
    total: polynomials.Polynomial = {}
    for corner in corners:
        assert corner is not None
        total = polynomials.added(total, corner)
    assert polynomials.is_one(total)
    assert not polynomials.is_one(polynomials.added(total, u))
    other: polynomials.Polynomial = {((7, 0),): 1e-8}
    assert polynomials.is_one(polynomials.added(total, u, 1e-8))
    assert not polynomials.is_one(polynomials.added(total, other))
    assert polynomials.mixed(u, {(): 1e8}, v) is None  # digits of u are lost
    long: polynomials.Polynomial = {((1, n),): 1.0 for n in range(polynomials.MAX_TERMS)}
    assert polynomials.times(long, long) is None


def test_numbers_of_constants() -> None:
    module = Module()
    pair = types.vector(module, types.floating(module), 2)
    both = types.composite(module, pair, [constant(module, 0.5), constant(module, -2.0)])
    assert [numbers.number_of(both, n) for n in (0, 1)] == [0.5, -2.0]
    assert numbers.number_of(types.null(module, pair), 1) == 0.0
    assert numbers.number_of(constant(module, float("inf")), 0) is None
    half = types.constant(module, types.floating(module, 16), 0x3800)
    assert numbers.number_of(half, 0) == 0.5
    assert enums.BuiltIn_TessCoord == 13
