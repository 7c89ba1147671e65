"""Calls that stay: whatever a callee may do, every pass must know of.

Hardly any call stays when functions are inlined, so here none is inlined: each effect that a
function can have meets each pass that moves or promotes.
"""

from __future__ import annotations

from functools import cache

import pytest

import spvlink
from spvlink.chain import table
from spvlink.draw import Result, Scene, draw, draw_covering
from spvlink.facts.calls import Calls
from spvlink.grammar import info
from spvlink.ir.core import Inst, Module
from spvlink.passes.opening import inline
from spvlink.passes.raising.sample_rate import sample_rate_reasons
from tests.support.call_chains import BARRIER, CONSTANTS, EFFECTS, HAND, TAKE, Effect, stages_of
from tests.support.chain_text import frag as chain_frag
from tests.support.chain_text import geom as chain_geom
from tests.support.chain_text import tesc as chain_tesc
from tests.support.chain_text import tese as chain_tese
from tests.support.chain_text import vert as chain_vert
from tests.support.closeness import assert_close
from tests.support.interpreted import interpreted
from tests.support.linking import BASE, module_of
from tests.support.samples import assemble, compile_glsl, disassemble, edited

# What each family of chains gives to do, beside the passes of BASE and promotion.
MOVING = {
    "vert": ("arrays", "backward", "dedup", "forward", "narrow", "propagate"),
    "frag": ("arrays", "backward", "dedup", "propagate"),
    "geom": ("arrays", "dedup", "forward", "narrow", "propagate"),
    "tesc": ("dedup", "propagate", "weighted", "share"),
    "tese": ("arrays", "dedup", "forward", "propagate", "weighted"),
    "mesh": ("dedup", "propagate", "share"),
}
MATRIX = [(e, name) for e in EFFECTS for name in ("promote", *MOVING[e.family])]


@cache
def compiled(effect: Effect) -> tuple[bytes, ...]:
    environment = "vulkan1.2" if effect.family == "mesh" else "vulkan1.1"
    codes: list[bytes] = []
    for stage, source in stages_of(effect):
        code = compile_glsl(source, stage, environment)
        if stage == effect.family and effect.edits:
            code = edited(code, *effect.edits)
        codes.append(code)
    return tuple(codes)


@cache
def drawn(effect: Effect) -> tuple[Scene, Result]:
    scene, before = draw_covering(compiled(effect))
    assert before.coverage > 0.1 and before.distinct > 1, "the original draws nothing"
    return scene, before


def link(
    codes: tuple[bytes, ...], names: frozenset[str], exact: bool = False
) -> tuple[spvlink.Linked, set[str]]:
    """Linked with these passes alone; and which of all passes changed anything."""
    ran: set[str] = set()

    def observe(count: int, name: str, stage: str, module: Module) -> None:
        ran.add(name.partition(".")[0])

    options = spvlink.Options(clean=True, gpu="radv")  # packs whatever saves a Location
    options.check_each = True
    options.exact = exact
    options.observer = observe
    options.disable = frozenset(table.GROUPS) - names
    linked = spvlink.link(list(codes), options)
    assert linked.defect is None, linked.defect
    assert linked.passed_through is None and linked.validated == "validated"
    return linked, ran


@pytest.fixture
def calls_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "inline", lambda module: None)


@interpreted
@pytest.mark.usefixtures("calls_stay")
@pytest.mark.parametrize("effect, name", MATRIX, ids=lambda x: getattr(x, "name", x))
def test_effect(effect: Effect, name: str) -> None:
    codes = compiled(effect)
    linked, _ = link(codes, BASE | {name})
    scene, before = drawn(effect)
    after = draw([s.data for s in linked.stages], scene)
    assert_close(before, after)


@pytest.mark.parametrize("family", MOVING)
def test_passes_have_something_to_do(family: str) -> None:
    codes = compiled(Effect("nothing", family, "", "EmitVertex();" if family == "geom" else ""))
    for name in MOVING[family]:
        assert name in link(codes, BASE | {name})[1], name


SPARED = """layout(location = 0) in vec4 va; layout(location = 1) in vec4 vb;
layout(binding = 0) uniform Scene {{ vec4 tint; }} scene;
{function}
void main() {{
    float x = gl_FragCoord.x; vec4 more = vec4(0.0); {call}{between}
    color = va * scene.tint.x + vb * scene.tint.y + more;
}}
"""


def components(effect: Effect, between: str, names: frozenset[str]) -> int:
    """What crosses if fragments add up two inputs, weighted by a uniform, after a call."""
    head = f"#version 450\n{effect.extension}\nlayout(location = 0) out vec4 color;\n"
    frag = head + SPARED.format(function=effect.function, call=effect.call, between=between)
    body = "va = a; vb = b; if (k.x > 90) gl_Position.x = scene.tint.x;"
    stage, vert = chain_vert(
        f"{HAND}layout(binding = 0) uniform Scene {{ vec4 tint; }} scene;", body
    )
    code = compile_glsl(frag, "frag", "vulkan1.1")
    codes = (compile_glsl(vert, stage), edited(code, *effect.edits) if effect.edits else code)
    return link(codes, names)[0].interfaces[0].components[1]


@interpreted
@pytest.mark.usefixtures("calls_stay")
@pytest.mark.parametrize("between", ["", " for (int n = 0; n < 3; ++n) more.x += dFdx(x);"])
@pytest.mark.parametrize("name", ["kills", "terminates", "demotes", "calls what kills"])
def test_what_is_read_behind_an_end_is_not_read_by_all(name: str, between: str) -> None:
    """A buffer that no fragment may come to need not be bound, so vertices must not read it."""
    effect = next(e for e in EFFECTS if e.name == name)
    assert components(effect, between, BASE | {"backward"}) == 8
    harmless = Effect("nothing", "frag", "float go(float x) { return x * 0.5; }", "x = go(x);")
    assert components(harmless, between, BASE | {"backward"}) == 4


@interpreted
@pytest.mark.usefixtures("calls_stay")
@pytest.mark.parametrize(
    "function, call",
    [
        ("float go(float x) { return floor(x * 64.0); }", "x = go(x);"),
        ("float in_(float x) { return floor(x * 64.0); }\nfloat go(float x) { return in_(x); }",
         "x = go(x);"),
        ("float g;\nfloat go() { return floor(g * 64.0); }", "g = x; x = go();"),
        ("float go(float x) { return x * 2.0; }", "x = floor(go(x) * 64.0);"),
        ("void go(inout float x) { x = floor(x * 64.0); }", "go(x);"),
    ],
)  # fmt: skip
def test_what_a_callee_rounds_is_not_moved(function: str, call: str) -> None:
    """A sum made before the border rounds in another way, which a jump behind it shows."""
    vert = compile_glsl(chain_vert(HAND, "va = a; vb = b;")[1], "vert")
    inputs = "layout(location = 0) in vec4 va; layout(location = 1) in vec4 vb;\n"

    def crossing(call: str) -> int:
        main = f"float x = va.x + vb.x * 0.3; {call} color = vec4(x);"
        frag = compile_glsl(chain_frag(inputs + function, main)[1], "frag")
        return link((vert, frag), BASE | {"backward"})[0].interfaces[0].components[1]

    assert crossing(call) == 2
    assert crossing("") == 1


@interpreted
@pytest.mark.usefixtures("calls_stay")
@pytest.mark.parametrize(
    "function, call, fewer",
    [
        ("void go(vec4 v) { gl_Position = v; }", "go(own);", False),
        ("vec4 g;\nvoid go() { gl_Position += g; }", "g = own; go();", False),
        ("void go(vec4 v) { c = v; }", "go(own);", False),  # nothing is known of what it does
        ("void go() { gl_Position.z = 0.5; }", "go(); c = own;", True),
    ],
)
def test_what_a_callee_makes_a_position_of_stays(function: str, call: str, fewer: bool) -> None:
    """Sums over vertices keep their rounding where a position depends on them."""
    arrays = "layout(location = 0) {0} vec4 x[]; layout(location = 1) {0} vec4 y[];\n"
    own = """vec4 own = x[0] * w.x + x[1] * w.y + x[2] * w.z
    + (y[0] * w.x + y[1] * w.y + y[2] * w.z);\n"""
    store = "x[gl_InvocationID] = va[gl_InvocationID]; y[gl_InvocationID] = vb[gl_InvocationID];"
    stages = (
        chain_vert(HAND, "va = a; vb = b;"),
        chain_tesc(TAKE + arrays.replace("{0}", "out"), store),
        chain_tese(
            arrays.replace("{0}", "in") + "layout(location = 0) out vec4 c;\n" + function,
            own + "c = vec4(0.0);" + call,
        ),
        chain_frag("layout(location = 0) in vec4 c;", "color = c + vec4(0.25);"),
    )
    codes = tuple(compile_glsl(source, stage) for stage, source in stages)
    before, after = link(codes, BASE | {"weighted"})[0].interfaces[1].components
    assert before == 8 and (after < 8) == fewer


@interpreted
@pytest.mark.usefixtures("calls_stay")
@pytest.mark.parametrize(
    "function, call, fewer",
    [
        ("void go(vec4 v) { gl_Position = v; }", "go(c[i]);", False),
        ("vec4 g;\nvoid go() { gl_Position = g; }", "g = c[i]; go();", False),
        ("void go() { gl_Position.z = 0.5; }", "gl_Position = gl_in[i].gl_Position; go();", True),
    ],
)
def test_what_a_later_callee_makes_a_position_of_stays(
    function: str, call: str, fewer: bool
) -> None:
    """The same if a geometry shader hands to it what the evaluation shader adds up."""
    arrays = "layout(location = 0) {0} vec4 x[]; layout(location = 1) {0} vec4 y[];\n"
    store = "x[gl_InvocationID] = va[gl_InvocationID]; y[gl_InvocationID] = vb[gl_InvocationID];"
    sums = """c = x[0] * w.x + x[1] * w.y + x[2] * w.z
    + (y[0] * w.x + y[1] * w.y + y[2] * w.z);\n"""
    read = "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 d;\n"
    stages = (
        chain_vert(HAND, "va = a; vb = b;"),
        chain_tesc(TAKE + arrays.replace("{0}", "out"), store),
        chain_tese(arrays.replace("{0}", "in") + "layout(location = 0) out vec4 c;", sums),
        chain_geom(
            read + function, f"for (int i = 0; i < 3; ++i) {{ d = c[i]; {call} EmitVertex(); }}"
        ),
        chain_frag("layout(location = 0) in vec4 d;", "color = d;"),
    )
    codes = tuple(compile_glsl(source, stage) for stage, source in stages)
    before, after = link(codes, BASE | {"weighted"})[0].interfaces[1].components
    assert before == 8 and (after < 8) == fewer


@interpreted
@pytest.mark.usefixtures("calls_stay")
def test_sample_rate_of_a_function_that_is_not_called_any_more() -> None:
    """It goes with its last call, so it cannot be what makes the shader run once a sample."""
    inputs = "layout(location = 0) in vec4 va; layout(location = 1) sample in vec4 vb;\n"
    function = "vec4 go() { return vb; }"
    main = "int n = 3; color = va; if (n < 2) color = go();"
    vert = compile_glsl(chain_vert(HAND, "va = a; vb = b;")[1], "vert")
    frag = compile_glsl(chain_frag(inputs + function, main)[1], "frag")
    module = module_of(link((vert, frag), BASE)[0].stages[1].data)
    assert len(module.functions) == 1 and sample_rate_reasons(module)


def test_a_function_that_nobody_calls_keeps_no_array() -> None:
    """What it does with an array is not done."""
    named = (
        "void go() { parts[1] = b; }",
        "go();",
        (("OpFunctionCall %void %go_", "OpUndef %float"),),
    )
    found: list[int] = []
    for effect in (Effect("bare", "vert", "", ""), Effect("dead", "vert", *named)):
        linked, ran = link(compiled(effect), BASE | {"arrays"})
        assert "arrays" in ran
        found.append(linked.interfaces[0].components[1])
    assert found[0] == found[1]


@interpreted
@pytest.mark.usefixtures("calls_stay")
@pytest.mark.parametrize("function", ["void go(int i) { unread[i] = a; }",
                                      "void go(int i) { unread[1][i & 3] = k.x; }"])  # fmt: skip
def test_what_a_callee_alone_writes_goes_with_its_pointers(function: str) -> None:
    """Else the variable would keep a Location that another one has by now."""
    outputs = "layout(location = 0) out vec4 unread[3]; layout(location = 3) out vec4 read;\n"
    hand = "layout(location = 3) in vec4 read;"
    code = compile_glsl(chain_vert(outputs + function, "go(k.x); read = b;")[1], "vert")
    codes = code, compile_glsl(chain_frag(hand, "color = read;")[1], "frag")
    linked = link(codes, BASE)[0]
    assert linked.interfaces[0].locations[1] == 1
    assert "unread" not in disassemble(linked.stages[0].data)


def summary(text: str, model: str = "Geometry") -> tuple[Calls, Inst]:
    """Of a module whose entry point calls %go; and the call."""
    head = f"""OpCapability Geometry
OpCapability GeometryStreams
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main"
%void = OpTypeVoid
%fn = OpTypeFunction %void
%int = OpTypeInt 32 1
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%s0 = OpSpecConstant %int 1
%main = OpFunction %void None %fn
%a = OpLabel
%call = OpFunctionCall %void %go
OpReturn
OpFunctionEnd
%go = OpFunction %void None %fn
"""
    module = module_of(assemble(f"{head}{text}\nOpFunctionEnd\n"))
    assert module.entry is not None
    return Calls.of(module), module.entry.function.blocks[0].insts[0]


@pytest.mark.parametrize(
    "text, flags",
    [
        ("%b = OpLabel\nOpReturn", 0),
        ("%b = OpLabel\nOpUnreachable", 0),
        ("%b = OpLabel\nOpEmitVertex\nOpReturn", info.EMITS),
        ("%b = OpLabel\nOpEmitStreamVertex %i0\nOpReturn", info.EMITS),
        ("%b = OpLabel\nOpEmitStreamVertex %s0\nOpReturn", info.EMITS),
        ("%b = OpLabel\nOpEmitStreamVertex %i1\nOpReturn", 0),
        ("%b = OpLabel\nOpKill", info.ENDS),
        ("%b = OpLabel\nOpTerminateInvocation", info.ENDS),
        ("%b = OpLabel\nOpDemoteToHelperInvocation\nOpReturn", info.ENDS),
        ("%b = OpLabel\nOpEmitMeshTasksEXT %i0 %i0 %i0", info.ENDS),
        ("%b = OpLabel\nOpMemoryBarrier %i0 %i0\nOpReturn", info.BARRIER),
        ("%b = OpLabel\nOpAssumeTrueKHR %i0\nOpReturn", info.EMITS | info.ENDS | info.BARRIER),
        ("", info.EMITS | info.ENDS | info.BARRIER),
    ],
)
def test_summary(text: str, flags: int) -> None:
    """What cannot be known is everything."""
    calls, call = summary(text)
    for what in (info.EMITS, info.ENDS, info.BARRIER):
        assert calls.does(call, what) == bool(flags & what)


IN_CONTINUE = """int next(int i) {{ {first} if (i == 5) return i + 2; else return i + 1; }}"""


def unreachable(what: str) -> Effect:
    """As glslang writes them: both arms return, the merge block is OpUnreachable, and the call
    stands where a loop continues, so that it stays a call."""
    if what == "emits":
        function = IN_CONTINUE.format(first="EmitVertex();")
        call = "for (int n = 4; n < 5; n = next(n)) {}"
        return Effect("emits, continued", "geom", function, call)
    function = IN_CONTINUE.format(first="memoryBarrierBuffer();")
    call = "for (int n = 0; n < 3; n = next(n)) {} parts[at][1] += all * 0.25;"
    return Effect("waits, continued", "tesc", function, call, BARRIER + CONSTANTS)


@pytest.mark.parametrize("what", ["emits", "waits"])
def test_callee_that_cannot_be_inlined(what: str) -> None:
    effect = unreachable(what)
    linked, _ = link(compiled(effect), frozenset(table.GROUPS))
    stage = next(s for s in linked.stages if s.stage == effect.family)
    assert len(module_of(stage.data).functions) == 2
    scene, before = drawn(effect)
    assert_close(before, draw([s.data for s in linked.stages], scene))
