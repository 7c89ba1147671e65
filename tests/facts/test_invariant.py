"""What an Invariant output is made of stays as it is, whatever the other stages are; and nothing
crosses a border into or out of positions and depths without that decoration.

Each expression stands in two pipelines with other partners, and in each of them something tempts a
pass: a constant, a duplicate, a uniform, something equal for the whole patch, work that would be
cheaper before the border. The partners hand over the same values in both, so the two pictures
agree; linked, they must do so to the bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest

import spvlink
from spvlink.chain.table import GROUPS
from spvlink.draw import compare, draw, draw_covering
from spvlink.facts import invariant
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import root
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from tests.support.chain_hazards import frag, tesc, text, vert
from tests.support.interpreted import interpreted
from tests.support.linking import module_of
from tests.support.samples import compile_glsl

Stages = list[tuple[str, str]]

UNIFORM = "layout(set = 0, binding = 0) uniform U { vec4 k; vec4 m; } u;\n"
# x, y: they vary. two: 2.0, a constant in A and not to be seen in B. again: x in A, and in B x
# with something that does nothing. even: equal for a patch.
OUT = """layout(location = 0) out vec4 x; layout(location = 1) out vec4 y;
layout(location = 2) out float two; layout(location = 3) out vec4 again;
layout(location = 4) out float even; layout(location = 5) out vec4 unread;
layout(location = 6) out vec4 known;
"""
TWO = {"A": "2.0", "B": "intBitsToFloat(0x40000000 | (gl_InstanceIndex >> 31))"}
AGAIN = {"A": "a", "B": "intBitsToFloat(floatBitsToInt(a) | (gl_InstanceIndex >> 31))"}
VALUES = "x = a; y = b; two = {two}; again = {again}; even = u.m.x; unread = a + b; known = u.m;"
ARRAYS = OUT.replace(" out ", " in ").replace(";", "[];")
PATCHES = ARRAYS + (
    OUT.replace("vec4 x", "vec4 px[]").replace("vec4 y", "vec4 py[]")
    .replace("float two", "float ptwo[]").replace("vec4 again", "vec4 pagain[]")
    .replace("float even", "float peven[]").replace("vec4 unread", "vec4 punread[]")
    .replace("vec4 known", "vec4 pknown[]")
)  # fmt: skip
HAND = "".join(
    f"p{name}[gl_InvocationID] = {name}[gl_InvocationID];\n"
    for name in ("x", "y", "two", "again", "unread", "known")
)
TAKE = PATCHES.split("layout(location = 0) out")[1]
TAKE = ("layout(location = 0) out" + TAKE).replace(" out ", " in ")
# what A and B do besides with what the expression is made of
BESIDES = {"A": "vec4(0.25)", "B": "sin(x * 3.0 + y) * 0.125 + x * y + known"}


def vertex(pipeline: str) -> tuple[str, str]:
    again = AGAIN[pipeline]
    if pipeline == "B":
        again = "vec4(" + ", ".join(again.replace("(a)", f"(a.{c})") for c in "xyzw") + ")"
    values = VALUES.format(two=TWO[pipeline], again=again)
    return vert(UNIFORM + OUT, values.replace("u.m.x", "u.m.x * 0.5 + 1.0"))


def evaluated(name: str) -> str:
    if name == "even":
        return "peven[0]"
    return f"(p{name}[0] * w.x + p{name}[1] * w.y + p{name}[2] * w.z)"


_NAMES = re.compile(r"(?<![.\w])(x|y|two|again|even|known)(?!\w)")


def spelled(expression: str, how: Callable[[str], str]) -> str:
    """With the names as a stage has them."""
    return _NAMES.sub(lambda found: how(found[1]), expression)


def depth(expression: str) -> str:
    return f"gl_FragDepth = {expression};"


SPREAD = " * vec4(1.0, 1.0, 0.5, 0.25) + vec4(0.0, 0.0, 0.5, 1.0)"  # over the picture
# what is looked at, and of one component
EXPRESSION = "(x * u.k.x + y) * two * 0.1 + (again - x * 1.0) * even + known * 0.01 + 0.0"
SCALAR = (
    "0.2 + 0.1 * abs(((x.x * u.k.x + y.y) * two * 0.1 + (again.x - x.x * 1.0) * even + known.x))"
)


def geometry(pipeline: str, invariant: str) -> Stages:
    body = ""
    for n in range(3):
        mine, other = [
            spelled(text, lambda name, n=n: f"{name}[{n}]")  # type: ignore[misc]
            for text in (EXPRESSION, BESIDES[pipeline])
        ]
        body += f"gl_Position = sin({mine}){SPREAD};\n"
        body += f"o = {other}; EmitVertex();\n"
    modes = "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\n"
    declared = f"{modes}{UNIFORM}{ARRAYS}layout(location = 0) out vec4 o;\n{invariant}"
    return [
        vertex(pipeline),
        text("geom", declared, body),
        frag("layout(location = 0) in vec4 o;", "color = o;"),
    ]


def evaluation(pipeline: str, invariant: str) -> Stages:
    mine = spelled(EXPRESSION, evaluated)
    main = f"""vec3 w = gl_TessCoord;
gl_Position = sin({mine}){SPREAD};
o = {spelled(BESIDES[pipeline], evaluated)};"""
    declared = f"layout(triangles) in;\n{UNIFORM}{TAKE}layout(location = 0) out vec4 o;{invariant}"
    return [
        vertex(pipeline),
        tesc(UNIFORM + PATCHES, HAND + "peven[gl_InvocationID] = even[0];"),
        text("tese", declared, main),
        frag("layout(location = 0) in vec4 o;", "color = o;"),
    ]


def fragments(pipeline: str, invariant: str, result: str = depth(SCALAR)) -> Stages:
    ins = OUT.replace(" out ", " in ")
    other = BESIDES[pipeline]
    result = result if result != "color" else f"color = vec4({SCALAR});"
    more = "" if "color" in result else f"color = {other};"
    if not more:
        ins += "layout(location = 1) out vec4 other;\n"
        more = f"other = {other};"
    return [vertex(pipeline), frag(UNIFORM + ins + invariant, f"{result} {more}")]


def varyings(pipeline: str, invariant: str) -> Stages:
    """A user output of the evaluation stage, which a geometry shader behind hands on."""
    stages = evaluation(pipeline, "")
    stage, source = stages[2]
    more = f"layout(location = 1) {invariant}out vec4 i;"
    source = source.replace("out vec4 o;", "out vec4 o;" + more)
    place = " + ".join(f"gl_in[{n}].gl_Position * w.{'xyz'[n]}" for n in range(3))
    end = f"i = {spelled(EXPRESSION, evaluated)}; gl_Position = {place};\n}}\n"
    source = source[: source.rindex("}")] + end
    stages[2] = stage, source
    stages[3] = frag(
        "layout(location = 0) in vec4 o; layout(location = 1) in vec4 i;",
        "color = o * 0.0 + i; gl_FragDepth = 0.2 + abs(i.x) * 0.1;",
    )
    return stages


DECORATED = {
    "geom position": lambda p: geometry(p, "invariant gl_Position;"),
    "tese position": lambda p: evaluation(p, "invariant gl_Position;"),
    "tese varying": lambda p: varyings(p, "invariant "),
    "frag depth": lambda p: fragments(p, "invariant gl_FragDepth;"),
    "frag colour": lambda p: fragments(p, "invariant color;", "color"),
}
PLAIN = {
    "geom position": lambda p: geometry(p, ""),
    "tese position": lambda p: evaluation(p, ""),
    "frag depth": lambda p: fragments(p, ""),
}
STAGE = {"geom": 1, "tese": 2, "frag": 1}


@cache
def codes(name: str, pipeline: str, decorated: bool = True) -> list[bytes]:
    stages = (DECORATED if decorated else PLAIN)[name](pipeline)
    return [compile_glsl(source, stage) for stage, source in stages]


def link(given: list[bytes], only: str | None = None) -> list[bytes]:
    """All stages with all passes, or without those that bring something but one."""
    options = spvlink.Options(clean=True)
    options.check_each = True
    if only is not None:
        options.disable = BRINGING - {only}
    linked = spvlink.link(given, options)
    assert linked.defect is None, linked.defect
    assert linked.passed_through is None
    return [s.data for s in linked.stages]


BRINGING = frozenset(GROUPS) - {"branches", "compact", "dce", "dead", "join", "simplify"}


# --- what an output is made of, as text -----------------------------------------------------------

_MOVES = {
    ops.OpCompositeExtract, ops.OpCompositeConstruct, ops.OpVectorShuffle, ops.OpCompositeInsert,
    ops.OpCopyObject, ops.OpConstantComposite,
}  # fmt: skip


class Story:
    """The operations that outputs of a module are made of, in their order. What only moves
    components about is left out, and inputs are all alike: they may lie elsewhere."""

    def __init__(self, module: Module, wanted: frozenset[int], builtins: frozenset[int]) -> None:
        self.tables = Decorations.of(module)
        self.known: dict[Inst, str] = {}
        assert module.entry is not None
        self.written: dict[Inst, list[Inst]] = {}
        self.lines: list[str] = []
        for block in module.entry.function.blocks:
            for inst in block.insts:
                if inst.op == ops.OpStore:
                    self.written.setdefault(root(inst.args[0]), []).append(inst.args[1])
        for block in module.entry.function.blocks:
            for inst in block.insts:
                if inst.op != ops.OpStore:
                    continue
                words = invariant.decorations(self.tables, inst.args[0])
                numbers = {w[1] for w in words if w[0] == enums.Decoration_BuiltIn}
                if wanted.intersection(w[0] for w in words) or numbers & builtins:
                    self.lines.append(self.of(inst.args[1]))

    def of(self, inst: Inst) -> str:
        found = self.known.get(inst)
        if found is None:
            self.known[inst] = "round"
            found = self.known[inst] = self.read(inst)
        return found

    def read(self, inst: Inst) -> str:
        if inst.op in types.CONSTANTS and inst.op != ops.OpConstantComposite:
            return str(types.bits_of(inst) or 0)
        if inst.op == ops.OpLoad:
            variable = root(inst.args[0])
            if variable.imm[0] == enums.StorageClass_Function:
                return " ".join(sorted({self.of(v) for v in self.written[variable]}))
            within = variable.imm[0] == enums.StorageClass_Input
            return "in" if within else f"storage {variable.imm[0]}"
        parts = [self.of(a) for a in inst.args if a.op != ops.OpLabel]
        if inst.op in _MOVES:
            return " ".join(sorted(dict.fromkeys(parts)))
        numbers = inst.imm if inst.op == ops.OpExtInst else []
        return f"({ops.NAMES[inst.op]} {' '.join(map(str, numbers))} {', '.join(parts)})"


def story(code: bytes, decorated: bool) -> list[str]:
    wanted = frozenset((enums.Decoration_Invariant,)) if decorated else frozenset[int]()
    builtins = frozenset[int]() if decorated else FLOATS
    return Story(module_of(code), wanted, builtins).lines


FLOATS = info.FIXED_FUNCTION_OUTPUTS - {enums.BuiltIn_PointSize}


@pytest.mark.parametrize("only", [None, *sorted(BRINGING), "simplify"])
@pytest.mark.parametrize("name", DECORATED)
def test_the_operations_stay_whatever_the_partner_is(name: str, only: str | None) -> None:
    at = STAGE[name[:4]]
    for pipeline in "AB":
        given = codes(name, pipeline)
        before = story(given[at], True)
        assert any("OpFAdd" in line for line in before)
        assert before == story(link(given, only)[at], True), pipeline


@interpreted
@pytest.mark.parametrize("name", DECORATED)
def test_without_the_rule_they_would_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above shows nothing."""
    monkeypatch.setattr(invariant, "frozen", lambda module: set())
    monkeypatch.setattr(invariant, "settled", lambda module: set())
    at = STAGE[name[:4]]
    changed = set()
    for only in [None, *sorted(BRINGING)]:
        for pipeline in "AB":
            given = codes(name, pipeline)
            if story(given[at], True) != story(link(given, only)[at], True):
                changed.add(only)
    assert {None, "propagate"} <= changed
    assert changed & {"backward", "weighted"}, changed


@pytest.mark.parametrize("decorated", [True, False], ids=["invariant", "plain"])
@pytest.mark.parametrize("name", PLAIN)
def test_two_pipelines_agree_to_the_bit(name: str, decorated: bool) -> None:
    """On where things are and how deep: the picture of depths, before and after."""
    mine, other = codes(name, "A", decorated), codes(name, "B", decorated)
    scene, before = draw_covering(mine)
    assert before.is_good()
    after = [draw(link(c), scene) for c in (mine, other)]
    for result in (draw(other, scene), *after):
        assert (result.images["depth"] == before.images["depth"]).all()


def test_two_pipelines_agree_on_a_colour() -> None:
    mine, other = codes("frag colour", "A"), codes("frag colour", "B")
    scene, before = draw_covering(mine)
    assert before.is_good()
    for result in (draw(other, scene), draw(link(mine), scene), draw(link(other), scene)):
        assert (result.images["color0"] == before.images["color0"]).all()


def test_a_vertex_shader_s_own_position_is_not_rewritten() -> None:
    """Nothing comes in there; a zero that is added is an operation of the other pipeline, too."""
    main = "gl_Position = vec4((a * 1.0 + b * 0.5 + 0.0).xyz - a.xyz * -1.0, 1.0); x = a * 1.0 + b;"
    stages = [
        vert("layout(location = 0) out vec4 x; layout(location = 1) out vec4 unread;"
             "invariant gl_Position;", main),
        frag("layout(location = 0) in vec4 x;", "color = x;"),
    ]  # fmt: skip
    given = [compile_glsl(source, stage) for stage, source in stages]
    linked = link(given)
    before = story(given[0], True)
    assert "OpFAdd" in before[-1] and before == story(linked[0], True)
    scene, picture = draw_covering(given)
    assert picture.is_good() and not compare(picture, draw(linked, scene))


CONDITIONS = {
    "a selection": "float d = 0.25; if (y.x > {}) d = x.x; gl_FragDepth = d;",
    "empty arms": "gl_FragDepth = y.x > {} ? 0.25 : 0.5;",
    "a loop": "float d = 0.1; for (int i = 0; i < int(y.x * {}); ++i) d *= 0.9; gl_FragDepth = d;",
    "a discard": "if (y.x * {} > 0.5) discard; gl_FragDepth = x.x * 0.5;",
    "a variable": "float t[2] = float[2](0.25, y.x * {}); gl_FragDepth = t[int(x.x) & 1];",
    "where it is stored": "gl_FragDepth = 0.5; if (y.x * {} > 0.5) gl_FragDepth = 0.25;",
}


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("decorated", [True, False])
def test_what_chooses_stays_too(name: str, decorated: bool) -> None:
    """The conditions that an output depends on: a factor of y is as well multiplied per vertex, and
    a constant as well known here."""
    declared = "invariant gl_FragDepth;" if decorated else ""
    for stored in ("b", "vec4(0.5)"):
        stages = [
            vert("layout(location = 0) out vec4 x; layout(location = 1) out vec4 y;",
                 f"x = a; y = {stored};"),
            frag(UNIFORM + "layout(location = 0) in vec4 x; layout(location = 1) in vec4 y;"
                 + declared, CONDITIONS[name].replace("{}", "u.k.x") + "color = u.k;"),
        ]  # fmt: skip
        given = [compile_glsl(source, stage) for stage, source in stages]
        linked = spvlink.link(given, clean=True)
        assert linked.defect is None
        actions = {r.name: r.action for r in linked.remarks if r.slot.endswith(".x")}
        assert actions["y"] in ("kept", "packed"), actions


@pytest.mark.parametrize("qualifier, divided", [("invariant", 1), ("", 0)])
def test_a_slot_stays_so_beside_an_array_that_becomes_a_local_one(
    qualifier: str, divided: int
) -> None:
    """What a pass was told of the outputs is no fact to be forgotten when one of them goes: the
    division is by a power of two, and code that moves has the stage simplified once more."""
    stages = [
        vert(f"layout(location = 0) {qualifier} out vec4 x;"
             "layout(location = 1) out float local[4]; layout(location = 5) flat out vec4 y;",
             "local[int(a.x) & 3] = b.x; x = a / 4.0;"
             "y = vec4(b.x, b.x * 2.0, b.x + 1.0, -b.x); gl_Position = vec4(local[int(b.y) & 1]);"),
        frag("layout(location = 0) in vec4 x; layout(location = 5) flat in vec4 y;",
             "color = x + y;"),
    ]  # fmt: skip
    linked = spvlink.link([compile_glsl(source, stage) for stage, source in stages], clean=True)
    assert linked.defect is None
    actions = {(r.name, r.action) for r in linked.remarks}
    assert actions >= {("local", "removed"), ("y", "moved-forward")}, actions
    module = module_of(linked.stages[0].data)
    assert module.entry is not None
    code = [i.op for b in module.entry.function.blocks for i in b.insts]
    assert code.count(ops.OpFDiv) == divided
