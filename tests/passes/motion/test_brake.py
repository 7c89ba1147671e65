"""Motion is paid in registers: the estimate of what lives at once, what comes over computed where
it is first used, and the brake of forward motion; held against RADV's compiler where that is."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import CannotDraw
from spvlink.draw.batch import run_isolated
from spvlink.facts.pressure import Pressure
from spvlink.grammar import ops
from spvlink.ir.core import Inst, Module
from spvlink.passes.cleaning import branches, dce, simplify
from spvlink.passes.lowering.lower_io import Lowering
from spvlink.passes.opening import inline
from tests.render.drivers import environment
from tests.render.machine_code import count_stages
from tests.support.linking import Result, module_of
from tests.support.samples import compile_glsl

HEAD = """#version 450
layout(set = 0, binding = 0) uniform S { vec4 c; vec4 k[16]; } s;
"""
PAIRS = 4


def wide(values: int, rounds: int = 6) -> str:
    """A long computation that holds so many values at once, between x and y."""
    made = [f"float m{i} = x[{i % 4}] * s.k[{i % 16}].y + uv.x;" for i in range(values)]
    for r in range(rounds):
        made += [
            f"m{i} = m{i} * m{(i * 7 + r + 1) % values} + s.k[{i % 16}].x;" for i in range(values)
        ]
    return "\n".join(made) + "vec4 y = x * (" + " + ".join(f"m{i}" for i in range(values)) + ");"


def rest(values: int) -> str:
    return "y.x += " + " + ".join(f"m{i} * {i + 1}.0" for i in range(values)) + ";"


def modules(late: str, values: int, top: bool) -> tuple[bytes, bytes]:
    """Vectors a and b for each pair; a is read before the wide part and b behind it. ``late``: what
    b is, given a's attribute as {q}; ``top``: all inputs are read at the top, as HLSL does."""
    vert = [f"layout(location = {n}) in vec4 q{n};" for n in range(PAIRS)]
    frag = ["layout(location = 0) out vec4 colour; layout(location = 20) in vec2 uv;"]
    vert += ["layout(location = 20) out vec2 uv;"]
    body = ["uv = q0.xy * (s.c.xy + s.c.zw) + s.k[1].xy + s.k[1].zw; gl_Position = q0 + s.c;"]
    first, early, behind = [], ["vec4 x = s.c + s.k[1];"], []
    for n in range(PAIRS):
        for name, location, value in ((f"a{n}", 2 * n, f"q{n}"), (f"b{n}", 2 * n + 1, late)):
            vert.append(f"layout(location = {location}) out vec4 {name};")
            frag.append(f"layout(location = {location}) in vec4 {name};")
            body.append(f"{name} = {value.format(q=f'q{n}', n=n)};")
            first.append(f"vec4 t{name} = {name if top else 'vec4(0)'};")
        a, b = (f"{'t' * top}{side}{n}" for side in "ab")
        early.append(f"x = x * {a} + {a}.wzyx;")
        behind.append(f"y = y * {b} + {b}.wzyx;")
    main = [*first, *early, wide(values), *behind, rest(values), "colour = y;"]
    sources = [vert, body], [frag, main]
    texts = [HEAD + "\n".join(d) + "\nvoid main() {" + "\n".join(b) + "}" for d, b in sources]
    return compile_glsl(texts[0], "vert"), compile_glsl(texts[1], "frag")


def linked(pair: tuple[bytes, bytes], *off: str) -> Result:
    options = spvlink.Options()
    options.disable = frozenset(off)
    return Result(*pair, options)


PRODUCT = "{q} * s.c.x"
UNIFORM = "s.c * s.k[{n}].x + s.k[1]"


# --- the brake ------------------------------------------------------------------------------------


@pytest.mark.parametrize("top", [False, True])
def test_forward_does_not_fill_the_registers_of_a_wide_shader(top: bool) -> None:
    found = linked(modules(PRODUCT, 40, top))
    why = {r.why.partition("; ")[0] for r in found.linked.remarks if "live value" in r.why}
    assert any(w.startswith("not moved: the frag stage would keep ") for w in why), why
    narrow = linked(modules(PRODUCT, 4, top))
    assert not [r for r in narrow.linked.remarks if "live value" in r.why]
    assert len(narrow.locations) < len(found.locations)


def test_a_part_moves_as_far_as_there_are_registers() -> None:
    """Families are decided one by one."""
    counts = [len(linked(modules(PRODUCT, n, False)).locations) for n in (4, 24, 40)]
    assert counts == sorted(counts) and counts[0] < counts[2], counts


def test_a_component_is_worth_more_where_the_user_says_so() -> None:
    pair = modules(PRODUCT, 40, False)
    options = spvlink.Options()
    options.cost_limit = 2000
    assert len(Result(*pair, options).locations) < len(linked(pair).locations)


# --- where it is computed -------------------------------------------------------------------------


def uses(found: Result) -> tuple[int, int, int]:
    """(the number of the instruction in the fragment shader that computes the moved product first,
    that of its first use, of all instructions)."""
    assert found.frag.entry is not None
    insts = [i for b in found.frag.entry.function.blocks for i in b.insts]
    made = next(n for n, i in enumerate(insts) if is_product(i))
    return made, next(n for n, i in enumerate(insts) if insts[made] in i.args), len(insts)


def is_product(inst: Inst) -> bool:
    """u.tint * 3."""
    return inst.op in (ops.OpFMul, ops.OpVectorTimesScalar) and any(
        a.op == ops.OpConstant and a.imm == (0x40400000,) for a in inst.args
    )


VERT = (
    HEAD
    + """
layout(location = 0) in vec4 q; layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
void main() { a = q * s.k[1]; b = s.c * 3.0; gl_Position = q + s.c + s.k[1]; }
"""
)
FRAG = (
    HEAD
    + """
layout(location = 0) in vec4 a; layout(location = 1) in vec4 b;
layout(location = 0) out vec4 colour;
void main() { vec4 late = b; vec4 x = a + s.c + s.k[1]; %s colour = x; }
"""
)


def sunk(body: str) -> Result:
    found = Result(compile_glsl(VERT, "vert"), compile_glsl(FRAG % body, "frag"), spvlink.Options())
    assert found.fates()["b 1.xyzw"] == "propagated", found.fates()
    return found


def test_a_uniform_expression_is_computed_where_it_is_first_used() -> None:
    made, used, _ = uses(sunk("for (int i = 0; i < 9; ++i) x = sin(x) * a; x *= late;"))
    assert used == made + 1


def test_a_product_is_computed_where_it_is_first_used() -> None:
    """What forward moves, as what comes of uniforms."""
    vert = VERT.replace("a = q * s.k[1]; b = s.c * 3.0;", "a = q * 5.0; b = q * 3.0;")
    middle = "for (int i = 0; i < 9; ++i) x = sin(x) * a; x *= late;"
    found = Result(
        compile_glsl(vert, "vert"), compile_glsl(FRAG % middle, "frag"), spvlink.Options()
    )
    assert "moved-forward" in found.fates().values(), found.fates()
    made, used, _ = uses(found)
    assert used - made < 8


def test_what_a_branch_alone_uses_is_computed_there() -> None:
    found = sunk("if (x.x > 0.5) { x = sin(x); x *= late; }")
    assert found.frag.entry is not None
    blocks = found.frag.entry.function.blocks
    assert not any(is_product(i) for i in blocks[0].insts)


def test_nothing_is_computed_in_a_loop_that_was_not() -> None:
    found = sunk("for (int i = 0; i < 9; ++i) x = x * late + a;")
    assert found.frag.entry is not None
    first = found.frag.entry.function.blocks[0]
    assert any(is_product(i) for i in first.insts)


def test_two_ways_and_a_phi_share_one_place() -> None:
    """The value is what a variable holds behind a selection, and used on one way before."""
    found = sunk("vec4 z = a; if (x.x > 0.5) { x = sin(x); z = late; } x *= z;")
    assert found.linked.defect is None
    found = sunk("if (x.x > 0.5) x *= late; else x -= late; ")
    assert sum(is_product(i) for b in found.frag.functions[0].blocks for i in b.insts) == 1


# --- the estimate ---------------------------------------------------------------------------------


def lowered(body: str) -> Module:
    """A fragment shader in SSA form, its input a as four loads."""
    text = HEAD + "layout(location = 0) in vec4 a; layout(location = 0) out vec4 colour;"
    return lowered_of(compile_glsl(text + "void main() {" + body + "}", "frag"))


def lowered_of(data: bytes) -> Module:
    module = module_of(data)
    assert module.entry is not None
    inline.inline(module)
    low = Lowering(module, True, False)
    low.analyse()
    low.finish()
    branches.branches(module, module.entry.function)
    simplify.simplify(module, module.entry.function)
    dce.dce(module, module.entry.function)
    return module


@pytest.mark.parametrize(
    ("body", "peak"),
    [
        ("colour = a;", 4),
        ("vec4 t = a; float x = sin(s.c.x); colour = t * x;", 4),  # uniforms take none of these
        ("colour = vec4(a.x + 1.0);", 1),  # what is not read takes nothing, a copy nothing more
        ("vec2 t = a.xy; float x = sin(a.z); x = cos(x) + sin(x) * x; colour = vec4(t, x, x);", 3),
        ("float x = sin(a.z); x = cos(x) + sin(x) * x; colour = vec4(a.xy, x, x);", 3),
        # in one order of the blocks, what is used behind a loop lives all through it
        ("float x = a.x; for (int i = 0; i < 9; ++i) x = sin(x); colour = vec4(x);", 3),
        ("float x = a.x; for (int i = 0; i < 9; ++i) x = sin(x) + a.y; colour = vec4(x);", 4),
    ],
)  # fmt: skip
def test_what_lives_at_once(body: str, peak: int) -> None:
    assert Pressure(lowered(body)).peak() == peak


def test_an_input_that_a_loop_reads_lives_as_long_as_the_loop() -> None:
    """Read at its top only, it is needed in the next round."""
    module = lowered(
        "float x = s.c.x; for (int i = 0; i < 9; ++i) { x = sin(x + a.x); x = cos(x) * x;"
        "x = x / s.c.y; x = exp(x); } colour = vec4(x);"
    )
    found = Pressure(module)
    ((first, last),) = found.ranges(0).values()
    assert last - first > 8


def test_a_peak_without_and_with_other_values() -> None:
    module = lowered("float x = sin(a.x); x = sin(x) * x; colour = vec4(x, a.y, 0.0, 1.0);")
    found = Pressure(module)
    (early,), (late,) = found.ranges(0).values(), found.ranges(2).values()
    assert early[1] < late[0]
    assert found.ranges(4) == {}
    before = found.peak()
    assert found.peak_with([late], [(early[0], late[1])]) == before + 1
    assert found.peak_with([], []) == before


# --- the producer ---------------------------------------------------------------------------------


def test_what_ends_with_the_same_input_is_made_together() -> None:
    """The sums are read first, the differences behind all else; made in that order before the
    border, every input would be held between."""
    count = 6
    names = [(f"a{n}", f"b{n}") for n in range(count)]
    vert = HEAD + "".join(
        f"layout(location = {n}) in vec4 q{n};"
        f"layout(location = {2 * n}) out vec4 a{n}; layout(location = {2 * n + 1}) out vec4 b{n};"
        for n in range(count)
    )
    vert += "void main() { gl_Position = q0 + s.c; " + "".join(
        f"a{n} = sin(q{n}); b{n} = cos(q{n});" for n in range(count)
    ) + "}"  # fmt: skip
    frag = HEAD + "layout(location = 0) out vec4 colour;" + "".join(
        f"layout(location = {2 * n}) in vec4 a{n}; layout(location = {2 * n + 1}) in vec4 b{n};"
        for n in range(count)
    )  # fmt: skip
    sums = [f"x = x * ({a} * s.c.x + {b} * s.c.y) + 1.0;" for a, b in names]
    others = [f"x = x * ({a} * s.c.z - {b} * s.c.w) + 1.0;" for a, b in names]
    frag += "void main() { vec4 x = s.c; " + "".join(sums + others) + " colour = x; }"
    found = linked((compile_glsl(vert, "vert"), compile_glsl(frag, "frag")), "compact")
    assert "moved-backward" in found.fates().values(), found.fates()
    assert found.vert.entry is not None
    insts = [i for b in found.vert.entry.function.blocks for i in b.insts]
    made = [n for n, i in enumerate(insts) if i.op == ops.OpExtInst]
    last = {n: max(m for m, i in enumerate(insts) if insts[n] in i.args) for n in made}
    # a sine is needed for a sum and for a difference, which stand together
    apart = [last[n] - min(m for m, i in enumerate(insts) if insts[n] in i.args) for n in made]
    assert max(apart) < len(insts) // count, (apart, len(insts))


# --- RADV -----------------------------------------------------------------------------------------


@pytest.fixture
def radv(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        for name, value in environment("radv").items():
            monkeypatch.setenv(name, value)
    except CannotDraw as why:
        pytest.skip(str(why))


@pytest.mark.usefixtures("radv")
@pytest.mark.parametrize("top", [False, True])
@pytest.mark.parametrize("late", [PRODUCT, UNIFORM])
def test_a_wide_shader_takes_no_more_registers_than_before(late: str, top: bool) -> None:
    pair = modules(late, 40, top)
    jobs = [(codes, True) for codes in (pair, linked(pair, "dedup").data)]
    before, after = (dict(found)["fragment"] for found in run_isolated(count_stages, jobs))
    assert after["VGPRs"] <= before["VGPRs"]
    assert after["Subgroups per SIMD"] >= before["Subgroups per SIMD"]
    assert after["Spilled VGPRs"] == 0
    assert abs(Pressure(lowered_of(pair[1])).peak() - before["Pre-Sched VGPRs"]) <= 8
