"""``spvlink.link`` from Python: options do what they say, and in doubt the originals come back."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

import spvlink
from spvlink import Options
from spvlink.chain import table
from spvlink.chain.runner import STAGE_PASSES, StagePass
from spvlink.grammar import glsl, ops
from spvlink.ir.core import Function, Module
from spvlink.link.check import interface
from spvlink.text import print_module
from tests.support.interpreted import interpreted
from tests.support.linking import (
    INPUT,
    OUTPUT,
    Result,
    count,
    extended,
    fragment,
    module_of,
    place,
    vertex,
)
from tests.support.samples import compile_glsl

VERT = vertex(
    """layout(location = 1) out vec3 colour; layout(location = 4) out vec2 uv;
    layout(location = 5) out vec4 unread;
    layout(location = 7) flat out int kind;
    float curve(float x) { if (x < 0.0) return 0.0; return x * 1.0; }
    void main() {
        bool quick = true; float waste = 0.0;
        for (int i = 0; i < k.x; ++i) waste += 1.0;
        if (quick) colour = p.xyz; else colour = sin(p.xyz);
        colour.x = curve(colour.x); uv = p.xy; unread = cos(p); kind = k.y; gl_Position = p;
    }"""
)
FRAG = fragment(
    """layout(location = 1) in vec3 colour; layout(location = 4) in vec2 uv;
    layout(location = 5) in vec4 unread;
    layout(location = 7) flat in int kind;
    void main() { o = vec4(colour.xy * 1.0, uv.x, float(kind)); { o *= 2.0; } }"""
)


def options(**settings: object) -> Options:
    made = Options(clean=True)
    for name, setting in settings.items():
        setattr(made, name, setting)
    return made


def run(**settings: object) -> Result:
    return Result(VERT, FRAG, options(**settings))


def originals(linked: spvlink.Linked) -> bool:
    """Whether exactly what was handed in came back."""
    return [s.data for s in linked.stages] == [VERT, FRAG] and not any(
        s.changed for s in linked.stages
    )


def declared(data: bytes, storage: int) -> dict[str, tuple[str, str, frozenset[int]]]:
    found = interface.declared(module_of(data), storage)
    return {d.name: (place(d), d.shape, d.qualifiers) for d in found}


def fits(done: Result) -> bool:
    """Every input has its output. Where dead varyings stay, so do outputs that nobody reads."""
    return done.table(inputs=True).items() <= done.table().items()


# --- switching off ---


def test_all_on() -> None:
    done = run()
    assert done.linked.passed_through is None and done.linked.validated == "validated"
    assert done.table() == done.table(inputs=True)
    assert sum(len(d.covers) for d in done.outputs) == 4 and done.locations == {0, 1}
    assert count(done.vert, ops.OpLoopMerge) == 0


OFF: dict[str, Callable[[Result], bool]] = {
    # what shows that the pass ran
    "branches": lambda done: not extended(done.vert, glsl.Glsl_Sin),
    "compact": lambda done: done.locations == {0, 1},
    "dce": lambda done: count(done.vert, ops.OpLoopMerge) == 0,
    "dead": lambda done: "unread" not in done.table(),
    "join": lambda done: not any(
        b.terminator.op == ops.OpBranch and b.merge() is None
        for b in done.vert.functions[0].blocks[:1]
    ),
    "simplify": lambda done: (
        count(done.frag, ops.OpFMul) + count(done.frag, ops.OpVectorTimesScalar) == 1
    ),
}  # fmt: skip


# What carries values across has a pair of its own: a twin, a constant, and a per-instance value
# that only a flat Location has room for.
CROSSING_VERT = vertex(
    """layout(location = 0) out vec4 full; layout(location = 1) flat out float own;
    layout(location = 2) out float tint; layout(location = 3) out vec2 twin;
    layout(location = 4) out float one; layout(location = 5) out vec4 sum;
    layout(location = 6) out vec2 lines;
    void main() {
        full = p; own = p.x * 3.0; tint = float(gl_InstanceIndex); twin = p.yz; one = 1.5;
        sum = sin(p); lines = vec2(sqrt(p.w), 3.0 * sqrt(p.w));
        gl_Position = p;
    }"""
)
CROSSING_FRAG = fragment(
    """layout(location = 0) in vec4 full; layout(location = 1) flat in float own;
    layout(location = 2) in float tint; layout(location = 3) in vec2 twin;
    layout(location = 4) in float one; layout(location = 5) in vec4 sum;
    layout(location = 6) in vec2 lines;
    void main() {
        o = sin(full) * own + vec4(sin(twin), abs(full.x) * tint, one);
        o += sin(sum.x + sum.y) * sin(sum.z) * sin(sum.w) + sin(lines.x) * cos(lines.y);
    }"""
)
CROSSING = {
    "backward": "moved-backward",
    "dedup": "merged",
    "flatten": "flattened",
    "forward": "moved-forward",
    "propagate": "propagated",
}


@pytest.mark.parametrize("name", CROSSING)
def test_a_disabled_crossing_stays_off(name: str) -> None:
    def actions(**settings: object) -> set[str]:
        done = Result(CROSSING_VERT, CROSSING_FRAG, options(**settings))
        assert done.linked.validated == "validated" and fits(done)
        return {remark.action for remark in done.linked.remarks}

    assert actions() >= set(CROSSING.values())
    assert CROSSING[name] not in actions(disable=frozenset([name]))


def test_there_is_a_fact_for_every_pass() -> None:
    # test_builtins.py, test_half.py, test_halves_words.py, test_if_conversion.py, test_pack.py,
    # test_payload.py, test_share_per_patch.py, test_unroll_loops.py and test_weighted.py have
    # theirs
    others = {"arrays", "builtins", "half", "halves", "if_conversion", "narrow", "payload", "share"}
    others |= {"state", "unroll", "weighted"}
    assert OFF.keys() | CROSSING.keys() | others == table.GROUPS.keys()


@pytest.mark.parametrize("name", OFF)
def test_a_disabled_pass_stays_off(name: str) -> None:
    assert OFF[name](run())
    done = run(disable=frozenset([name, "backward", "forward"]))
    assert not OFF[name](done)
    assert name not in names_of(disable=frozenset([name]))
    assert fits(done)


def test_all_off() -> None:
    """Nothing but inlining, promotion and the way back: the interface's places and types stay."""
    done = run(disable=frozenset(table.GROUPS))
    assert fits(done)
    for name, entry in done.table().items():
        assert entry == declared(VERT, OUTPUT)[name][:2]


UNWRITTEN = (
    vertex(
        """layout(location = 0) out vec4 a; layout(location = 1) out vec2 b;
        layout(location = 2) out float w[2];
        void main() { a.xy = p.xy; gl_Position = p; }"""
    ),
    fragment(
        """layout(location = 0) in vec4 a; layout(location = 1) in vec2 b;
        layout(location = 2) in float w[2]; layout(binding = 0) uniform U { int n; };
        void main() { o = a + vec4(b, w[n], 0.0); }"""
    ),
)


@pytest.mark.parametrize(
    "off", ["dead", "compact", "dead compact", "dead dce simplify", "dead dce"]
)
def test_inputs_nobody_writes_stay_declared_on_both_sides(off: str) -> None:
    """Without the removal of dead varyings every input must still find its output."""
    done = Result(*UNWRITTEN, options(disable=frozenset(off.split())))
    assert fits(done)
    if "dead" in off:
        assert {"a", "b", "w"} <= {name.partition("_")[0] for name in done.table(inputs=True)}


def test_dead_code_elimination_leaves_no_copies_without_simplify() -> None:
    """A construct of which only whole parts live becomes the value that they come from."""
    vert = vertex(
        """layout(location = 0) out vec4 v;
        void main() { vec4 s = p * p; v = sin(vec4(s.x, s.y, s.z, p.x)); }"""
    )
    frag = fragment("layout(location = 0) in vec4 v; void main() { o = vec4(v.xyz, 1.0); }")
    linked = spvlink.link([vert, frag], options(clean=True, disable=frozenset(("simplify",))))
    assert linked.outcome == "linked", linked.passed_through


# --- bisecting ---


def names_of(**settings: object) -> list[str]:
    found: list[str] = []
    run(observer=lambda number, name, *_: found.append(name.partition(".")[0]), **settings)
    return found


def test_the_observer_sees_each_change() -> None:
    numbers: list[int] = []
    texts: dict[str, str] = {
        s: print_module(module_of(d)) for s, d in (("vert", VERT), ("frag", FRAG))
    }

    def observe(number: int, name: str, stage: str, module: object) -> None:
        assert isinstance(module, Module)
        numbers.append(number)
        text = print_module(module)
        assert text != texts[stage], f"{name} says that it changed something"
        texts[stage] = text

    run(observer=observe)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 10


def test_observing_and_checking_change_nothing() -> None:
    assert run(observer=lambda *_: None, check_each=True).data == run().data


def test_stop_after_bisects() -> None:
    """Each prefix of the schedule gives a valid pair; all of it the smallest interface."""
    total = len(names_of())
    sizes: list[int] = []
    for number in range(total + 1):
        done = run(stop_after=number, check_each=True, validate=number % 4 == 0)
        assert fits(done)
        sizes.append(sum(len(d.covers) for d in done.outputs))
    assert sizes[-1] == min(sizes) == 4
    assert max(sizes) > 4
    assert run(stop_after=total).data == run().data
    optional = [n for n in names_of(stop_after=0) if n in table.GROUPS]
    assert not optional, "after 0 passes nothing optional runs"


# --- defects ---


def stage_pass(name: str) -> StagePass:
    return next(row for row in STAGE_PASSES if row.name == name)


def raises(*arguments: object) -> None:
    raise ZeroDivisionError("planted")


def loses_a_value(module: Module, function: Function) -> None:
    """Drop the definition of a value that is used."""
    for block in function.blocks:
        for inst in block.insts:
            if inst.op == ops.OpStore and inst.args[1].op == ops.OpCompositeConstruct:
                block.insts = [i for i in block.insts if i is not inst.args[1]]
                module.version += 1
                return


@pytest.mark.defect
@pytest.mark.parametrize("name", ["simplify", "dce", "tidy", "join"])
def test_a_crash_in_a_pass_hands_the_originals_back(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_pass(name), "run", raises)
    linked = spvlink.link([VERT, FRAG])
    assert (linked.outcome, linked.defect) == ("defect", "ZeroDivisionError: planted")
    assert linked.passed_through is not None and "planted" in linked.passed_through
    assert originals(linked) and linked.remarks == []


@pytest.mark.defect
@pytest.mark.parametrize("each", [True, False])
def test_a_broken_pass_is_caught(each: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By our own verifier after the pass, else by spirv-val at the end."""
    monkeypatch.setattr(stage_pass("join"), "run", loses_a_value)
    ran: list[str] = []
    chosen = options(check_each=each, observer=lambda number, name, stage, module: ran.append(name))
    linked = spvlink.link([VERT, FRAG], chosen)
    assert linked.outcome == "defect" and linked.defect is not None and originals(linked)
    assert ("trim" in ran) != each, "the verifier stops right behind the pass"


@pytest.mark.defect
@interpreted
def test_a_broken_interface_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs at other Locations: spirv-val does not see that, the cross-stage checker does."""
    from spvlink.passes.raising import raise_io

    declare = raise_io.Raise.declare

    def elsewhere(self: raise_io.Raise, varying: object) -> object:
        made = declare(self, varying)  # type: ignore[arg-type]
        if self.storage == OUTPUT:
            for note in self.module.annotations:
                if note.args[0] is made and note.imm[0] == 30:  # Location
                    note.imm = (30, note.imm[1] + 1)
        return made

    monkeypatch.setattr(raise_io.Raise, "declare", elsewhere)
    linked = spvlink.link([VERT, FRAG])
    assert linked.defect is not None and "Location" in linked.defect
    assert originals(linked)


# --- what is not linked ---


GEOM = compile_glsl(
    """#version 450
    layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
    layout(location = 1) in vec3 colour[]; layout(location = 1) out vec3 tint;
    void main() { for (int i = 0; i < 3; ++i) { tint = colour[i];
    gl_Position = gl_in[i].gl_Position; EmitVertex(); } }""",
    "geom",
)


@pytest.mark.parametrize(
    ("stages", "why"),
    [
        ([VERT], "one stage"),
        ([FRAG], "one stage"),
        ([GEOM], "one stage"),
    ],
)
def test_other_pipelines_pass_through_with_a_reason(stages: list[bytes], why: str) -> None:
    linked = spvlink.link(stages)
    assert linked.passed_through is not None and why in linked.passed_through
    assert linked.outcome == "passed through" and linked.defect is None
    assert sorted(s.data for s in linked.stages) == sorted(stages)
    assert not any(s.changed for s in linked.stages)
    assert [s.stage for s in linked.stages] == sorted(
        (s.stage for s in linked.stages), key=["vert", "geom", "frag"].index
    )


def test_two_of_one_stage_are_refused() -> None:
    with pytest.raises(spvlink.BadSpirv, match=r"a second vert stage beside a\.spv") as caught:
        spvlink.link([spvlink.Source(VERT, "a.spv"), spvlink.Source(VERT, "b.spv")])
    assert caught.value.file == "b.spv"


def test_nothing_to_gain() -> None:
    """What is optimal already comes back word for word, with remarks left out and no defect."""
    before = run()
    first = before.data
    assert before.linked.outcome == "linked" and before.linked.passed_through is None
    linked = spvlink.link(first)
    assert (linked.outcome, linked.passed_through) == ("unchanged", "nothing to gain")
    assert [s.data for s in linked.stages] == first and linked.defect is None
    for stage in linked.stages:
        assert stage.instructions[0] == stage.instructions[1] and stage.bytes[0] == stage.bytes[1]
    for border in linked.interfaces:
        assert border.locations[0] == border.locations[1]


# --- what does not matter ---


def test_the_order_of_the_inputs_does_not_matter() -> None:
    linked = spvlink.link([FRAG, VERT])
    assert [s.stage for s in linked.stages] == ["vert", "frag"]
    assert [s.data for s in linked.stages] == run().data


def test_the_bytes_are_deterministic() -> None:
    assert all(run().data == run().data for _ in range(3))


def test_the_bytes_do_not_hang_on_where_things_lie_in_memory() -> None:
    """A set of instructions has another order each time."""
    loop = "for (int i = 0; i < 3; ++i) c[3 * {} + i] = p.xyz * float(i + 1) + sin(p.yzw);"
    store = "".join(loop.format(k) for k in range(4))
    vert = vertex(
        f"layout(location = 0) out vec3 c[12]; void main() {{ gl_Position = p; {store} }}"
    )
    frag = fragment(
        "layout(location = 0) in vec3 c[12];"
        "void main() { o = vec4(c[0] + c[4] * c[7] + c[11], 1.0); }"
    )
    made: set[bytes] = set()
    kept: list[object] = []
    for number in range(12):
        linked = spvlink.link([vert, frag])
        assert linked.passed_through is None
        made.add(b"".join(stage.data for stage in linked.stages))
        kept.append([object() for _ in range(997 * number % 1009)])
        kept.append([spvlink.Options() for _ in range(37 * number % 101)])
    assert len(made) == 1


def test_inputs_and_options_are_not_changed() -> None:
    data = [bytearray(VERT), bytearray(FRAG)]
    sources = [spvlink.Source(bytes(d), name) for d, name in zip(data, "ab", strict=True)]
    chosen = options(disable=frozenset(["join"]))
    before = {name: getattr(chosen, name) for name in Options.__slots__}
    spvlink.link(sources, chosen)
    assert [s.data for s in sources] == [VERT, FRAG] == data
    assert {name: getattr(chosen, name) for name in Options.__slots__} == before


@pytest.mark.parametrize("on", [True, False])
def test_the_garbage_collector_is_left_as_it_was(on: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        run()
        assert gc.isenabled() == on
    finally:
        (gc.enable if was else gc.disable)()


def test_validation_can_be_switched_off() -> None:
    done = run(validate=False)
    assert done.linked.validated == "not validated: switched off"
    assert done.data == run().data


# --- keeping the interface, specialization constants ---


@pytest.mark.parametrize("kept", [["vert"], ["frag"], ["vert", "frag"]])
def test_keep_interface_leaves_a_stage_as_it_is(kept: list[str]) -> None:
    done = run(keep_interface=frozenset(kept))
    assert (done.linked.passed_through is None) == (len(kept) == 1)
    for stage, before, after in zip(("vert", "frag"), (VERT, FRAG), done.data):
        assert (before == after) == (stage in kept), "its neighbour gains all the same"
    assert declared(done.data[0], OUTPUT) == declared(VERT, OUTPUT), "the fragment stage's inputs"
    left = declared(FRAG, INPUT)
    if kept == ["vert"]:
        del left["unread"]
    assert {n: d[:2] for n, d in declared(done.data[1], INPUT).items()} == {
        n: d[:2] for n, d in left.items()
    }
    cosines = 0 if kept == ["frag"] else 1
    assert len(extended(done.vert, glsl.Glsl_Cos)) == cosines, "what another pipeline may read"
    actions = {r.action for r in done.linked.remarks if r.name != "unread"}
    assert actions <= {"kept", "removed"}
    assert {r.name for r in done.linked.remarks} == set(declared(VERT, OUTPUT))
    (border,) = done.linked.interfaces
    assert (
        border.components[0] == border.components[1] and border.locations[0] == border.locations[1]
    )


def test_keep_interface_of_a_stage_that_is_not_here() -> None:
    assert run(keep_interface=frozenset(["geom"])).data == run().data


SPEC_FRAG = fragment(
    """layout(constant_id = 3) const bool glossy = false;
    layout(constant_id = 4) const float power = 2.0;
    layout(location = 1) in vec3 colour; layout(location = 4) in vec2 uv;
    void main() { o = vec4(uv, 0.0, power); if (glossy) o.xyz += sin(colour); }"""
)


@pytest.mark.parametrize("glossy", ["true", "false"])
def test_given_specialization_constants_are_known(glossy: str) -> None:
    done = Result(VERT, SPEC_FRAG, options(spec={("frag", 3): glossy}))
    assert ("colour_uv" in done.table()) == (glossy == "true")
    assert ("uv" in done.table()) == (glossy == "false")
    assert len(extended(done.frag, glsl.Glsl_Sin)) == (glossy == "true")
    text = print_module(done.frag)
    assert "OpSpecConstantFalse" not in text and "OpSpecConstant " in text, (
        "only what was given is known"
    )


def test_defaults_of_specialization_constants_are_known_if_that_is_said() -> None:
    done = Result(VERT, SPEC_FRAG, options(spec_defaults=True))
    assert "uv" in done.table() and "OpSpecConstant" not in print_module(done.frag)
    done = Result(VERT, SPEC_FRAG, options(spec={("frag", 3): "true"}, spec_defaults=True))
    assert "colour_uv" in done.table() and "OpSpecConstant" not in print_module(done.frag)


@pytest.mark.parametrize("later", [5, 970])
def test_constants_made_of_given_ones_stand_before_their_use(later: int) -> None:
    """A vector that folds is made of a number that stood nowhere before, or behind it."""
    code = fragment(
        f"""layout(constant_id = 3) const int step = 1; layout(location = 4) in vec2 uv;
        const ivec2 both = ivec2(step) + ivec2(70, 80);
        void main() {{ o = vec4(uv, vec2(both * ivec2(uv * 9.0) % {later})); }}"""
    )
    done = Result(VERT, code, options(spec={("frag", 3): "900"}))
    assert done.linked.validated == "validated"
    assert "OpSpecConstant" not in print_module(done.frag)


NARROW = """#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(constant_id = 3) const TYPE step = TYPE(1); layout(location = 4) in vec2 uv;
void main() { o = vec4(uv, float(TYPE(uv.x * 9.0) + step), 1.0); }"""


@pytest.mark.parametrize(
    ("type", "given", "word"),
    [
        ("int16_t", "65530", 0xFFFFFFFA),  # the bits of -6
        ("uint16_t", "-6", 0xFFFA),
        ("int8_t", "0xfa", 0xFFFFFFFA),
        ("uint8_t", "-6", 0xFA),
        ("int8_t", "5", 5),
    ],
)
def test_narrow_constants_are_extended_by_their_sign(type: str, given: str, word: int) -> None:
    """However the value is written (specification 2.2.1)."""
    code = fragment(NARROW.replace("TYPE", type))
    done = Result(VERT, code, options(spec={("frag", 3): given}))
    assert done.linked.validated == "validated"
    found = [i for i in done.frag.globals if i.op == ops.OpConstant and i.imm == (word,)]
    assert [i.type.imm[0] for i in found if i.type is not None] == [16 if "16" in type else 8]


def test_without_them_they_are_not() -> None:
    done = Result(VERT, SPEC_FRAG)
    assert "colour" in done.table()
    assert "OpSpecConstantFalse" in print_module(done.frag)


def test_a_constant_that_is_a_number() -> None:
    """Text or bytes: 1 could be meant as either."""
    with pytest.raises(spvlink.Usage, match="constant 3 of the frag stage: 1 is neither"):
        Result(VERT, SPEC_FRAG, options(spec={("frag", 3): 1}))


def test_a_constant_for_a_stage_that_is_not_here() -> None:
    with pytest.raises(spvlink.Usage, match="geom"):
        Result(VERT, SPEC_FRAG, options(spec={("geom", 3): "true"}))
