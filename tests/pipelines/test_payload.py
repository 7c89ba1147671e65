"""The task payload as an interface: linked, validated, drawn; and what stays as it is, and why."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import pytest

import spvlink
from spvlink.draw import Result, Scene, compare, draw, draw_covering
from spvlink.errors import Broken
from spvlink.grammar import ops
from spvlink.ir.core import Inst, Module
from spvlink.link.payload import payload
from tests.support.closeness import assert_close
from tests.support.linking import module_of
from tests.support.payload_chains import BARRIER, CASES, Case
from tests.support.payload_links import ENVIRONMENT, build, link, members, modules
from tests.support.samples import assemble, disassemble


def prove(codes: list[bytes]) -> spvlink.Linked:
    """Linked exactly and by default, drawn all three, and linked again."""
    scene: Scene
    before: Result
    scene, before = draw_covering(codes)
    assert before.coverage > 0.1, "the original draws nothing"
    exact = link(codes, exact=True)
    difference = compare(before, draw([s.data for s in exact.stages], scene))
    assert not difference, str(difference)
    linked = link(codes)
    assert linked.passed_through is None, linked.passed_through
    assert_close(before, draw([s.data for s in linked.stages], scene))
    again = link([s.data for s in linked.stages])
    assert again.passed_through == "nothing to gain"
    return linked


def check_members(linked: spvlink.Linked, case: Case) -> None:
    after = {n.partition("[")[0].partition("_")[0] for n in members(modules(linked)["task"])}
    assert not after & {n.partition("_")[0] for n in case.gone}
    assert {n.partition("_")[0] for n in case.kept} <= after
    border = linked.interfaces[0]
    assert (border.producer, border.consumer, border.locations) == ("task", "mesh", (0, 0))
    assert border.components[1] <= border.components[0]
    slots = {r.slot.partition(".")[0] for r in linked.remarks if r.interface == "task->mesh"}
    assert slots == {"payload"}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_case(case: Case) -> None:
    linked = prove(build(case.stages()))
    check_members(linked, case)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_optimized_case(case: Case) -> None:
    """Once more as an optimizer leaves them: phis, selects, no local variables."""
    codes = [
        subprocess.run(
            ["spirv-opt", f"--target-env={ENVIRONMENT}", "-O", "-", "-o", "-"],
            input=code, capture_output=True, check=True,
        ).stdout
        for code in build(case.stages())
    ]  # fmt: skip
    check_members(prove(codes), case)


@pytest.mark.parametrize("number", [0, 1])
def test_structs_in_arrays_lose_what_nobody_reads(number: int) -> None:
    case = [c for c in CASES if c.types.startswith("struct Rock")][number]
    linked = link(build(case.stages()))
    gone = {r.name for r in linked.remarks if r.action == "removed" and "[]" in r.name}
    whole = [{"rocks[].debug", "rocks[].kind", "held[].debug", "held[].size"}]
    whole.append({"rocks[].debug", "rocks[].size"})
    assert gone == {f"payload.{name}" for name in whole[number]}
    before, after = linked.interfaces[0].components
    assert after <= before - [32, 20][number]


COPIED = Case(
    "elements that are copied whole",
    "Rock rocks[4]; Rock copies[4];",
    f"""payload.rocks[i].place = vec4(group) * 0.05 + float(i) * 0.1;
payload.rocks[i].debug = 3.0; payload.rocks[i].kind = uvec2(i, 7u); {BARRIER}
payload.copies[(i + 1u) & 3u] = payload.rocks[i];""",
    "tint = payload.copies[i].place + float(payload.copies[(i + 2u) & 3u].kind.x) * 0.05;",
    types="struct Rock { vec4 place; float debug; uvec2 kind; };",
)


def test_elements_that_are_copied_whole() -> None:
    """A copy is that of every member, so what nobody reads of it is not needed here either."""
    linked = prove(build(COPIED.stages()))
    gone = {r.name for r in linked.remarks if r.action == "removed" and "[]" in r.name}
    assert gone == {"payload.rocks[].debug", "payload.copies[].debug"}


# --- what stays as it is, and why ---

PLAIN = Case(
    "plain",
    "vec4 tint; vec4 unread;",
    "float x = float(group); payload.tint = vec4(sin(x), cos(x), sqrt(x), exp2(-x));"
    "payload.unread = vec4(1.0);",
    "tint = payload.tint;",
)


def remarks(linked: spvlink.Linked) -> set[tuple[str, str]]:
    """(action, why) of the payload's remarks."""
    return {(r.action, r.why) for r in linked.remarks if r.interface == "task->mesh"}


@pytest.mark.parametrize("stage", ["task", "mesh"])
def test_keep_interface(stage: str) -> None:
    codes = build(PLAIN.stages())
    linked = link(codes, keep_interface=frozenset([stage]))
    assert remarks(linked) == {("kept", "by --keep-interface")}
    assert linked.interfaces[0].components == (9, 9)
    for name in ("task", "mesh"):
        assert members(modules(linked)[name]) == ["group", "tint", "unread"]


def test_switched_off() -> None:
    codes = build(PLAIN.stages())
    scene, before = draw_covering(codes)
    linked = link(codes, disable=frozenset(["payload"]))
    assert {action for action, _ in remarks(linked)} == {"kept"}
    assert members(modules(linked)["mesh"]) == ["group", "tint", "unread"]
    assert not compare(before, draw([s.data for s in linked.stages], scene))


def test_a_pair_alone() -> None:
    """Without a fragment stage the mesh shader's outputs stay, and with them what they read."""
    linked = link(build(PLAIN.stages()[:2]))
    before, after = linked.interfaces[0].components
    assert before == 9 and after <= 5
    assert "unread" not in members(modules(linked)["task"])


def test_a_mesh_shader_without_a_task_shader_keeps_its_payload() -> None:
    linked = link(build(PLAIN.stages()[1:]))
    assert [(i.producer, i.consumer) for i in linked.interfaces] == [("mesh", "frag")]
    assert members(modules(linked)["mesh"]) == ["group", "tint", "unread"]


def test_a_mesh_shader_that_declares_no_payload() -> None:
    stages = replace(PLAIN, count="12").stages()
    text = stages[1][1].replace("payload.group", "gl_WorkGroupID.x")
    lines = [line for line in text.split("\n") if "payload" not in line]
    linked = prove(build([stages[0], ("mesh", "\n".join(lines)), stages[2]]))
    assert linked.interfaces[0].components == (9, 0)
    after = modules(linked)
    assert payload.variables(after["task"]) == payload.variables(after["mesh"]) == []
    ends = [b.terminator for f in after["task"].functions for b in f.blocks]
    assert [len(e.args) for e in ends if e.op == ops.OpEmitMeshTasksEXT] == [3]


def test_other_types_on_either_side_stay() -> None:
    stages = PLAIN.stages()
    other = ("mesh", stages[1][1].replace("vec4 tint; vec4 unread", "vec3 tint; vec4 unread"))
    other = ("mesh", other[1].replace("tint = payload.tint", "tint = payload.tint.xyzz"))
    linked = link(build([stages[0], other, stages[2]]))
    assert remarks(linked) == {("kept", "the stages declare the payload differently")}


def test_a_size_that_is_a_specialization_constant_stays() -> None:
    case = Case(
        "sizes",
        "float steps[N]; vec4 unread;",
        "payload.steps[i & 1u] = float(group);",
        "tint = vec4(payload.steps[1]);",
        types="layout(constant_id = 0) const int N = 2;",
    )
    linked = link(build(case.stages()))
    why = "the size of an array in the payload is a specialization constant"
    assert remarks(linked) == {("kept", why)}


def test_accesses_of_the_vulkan_memory_model_stay() -> None:
    stages = [
        (s, t.replace(
            "#extension GL_EXT_mesh_shader : require",
            """#pragma use_vulkan_memory_model
#extension GL_EXT_mesh_shader : require
#extension GL_KHR_memory_scope_semantics : require""",
        ))
        for s, t in PLAIN.stages()
    ]  # fmt: skip
    codes = build(stages)
    store = r"(%_ptr_TaskPayloadWorkgroupEXT_uint %payload %int_0\n +OpStore %\w+ %\w+)"
    codes[0] = _assembled(codes[0], (store, r"\1 NonPrivatePointer"))
    # Debian's spirv-val knows these operands for fewer storage classes than there are
    assert remarks(link(codes, validate=False)) == {
        ("kept", "spvlink does not follow the memory semantics of its accesses")
    }


def test_several_payload_variables_stay() -> None:
    codes = build(PLAIN.stages())
    codes[0] = _assembled(
        codes[0],
        (r"(OpEntryPoint .* %payload)", r"\1 %second"),
        (r"%payload( = OpVariable .*)", r"%payload\1\n%second\1"),
    )
    linked = link(codes, validate=False)
    assert remarks(linked) == {("kept", "a stage with several payload variables")}


def _insts(module: Module) -> list[Inst]:
    return [i for f in module.functions for b in f.blocks for i in b.insts]


def _assembled(code: bytes, *changes: tuple[str, str]) -> bytes:
    """A module with pieces of its text replaced, each a pattern's first match."""
    changed = disassemble(code)
    for pattern, new in changes:
        changed, count = re.subn(pattern, new, changed, count=1)
        assert count == 1, pattern
    return assemble(changed, "vulkan1.2")


LAMP = "struct Lamp { vec3 at; uint many; vec4 spare; };"
FIRST = "if (i == 0u) "
ATOMICS = {
    # what it is -> members, its place, what else is stored, what is read, and which members stay
    "a member": ("uint many;", "many", "", "payload.many", {"many"}),
    "of a struct": (
        "Lamp lamp;", "lamp.many", FIRST + "payload.lamp.at = vec3(group, 7, 8);",
        "payload.lamp.many + uint(payload.lamp.at.x)", {"lamp.at", "lamp.many"},
    ),
    "an element": (
        "uint many[4];", "many[2]", FIRST + "payload.many[1] = group;",
        "payload.many[2] + payload.many[1]", {"many[1]", "many[2]"},
    ),
    "of a struct in an array": (
        "Lamp lamps[3];", "lamps[1].many", FIRST + "payload.lamps[2].at = vec3(group, 7, 8);",
        "payload.lamps[1].many + uint(payload.lamps[2].at.x)", {"lamps[1].many", "lamps[2].at"},
    ),
    "an element of any": (
        "uint many[4];", "many[i & 1u]", FIRST + "payload.many[2] = group;",
        "payload.many[1] + payload.many[0]", {"many"},
    ),
    "a component": (
        "uvec4 many;", "many.y", FIRST + "payload.many.x = group;",
        "payload.many.y + payload.many.x", {"many"},
    ),
    "nobody reads it": ("uint many;", "many", "", "0u", set()),
}  # fmt: skip


def atomic(kind: str, order: int = 0, used: bool = False) -> list[bytes]:
    """A payload one word of which all invocations count up, in two places. ``order``: of the
    atomics, as Memory Semantics. ``used``: whether what they find there is handed on."""
    declared, place, more, read, _ = ATOMICS[kind]
    body = f"""{FIRST} payload.{place.replace("i & 1u", "0")} = 3u;
{FIRST} payload.{place.replace("i & 1u", "1")} = 3u; {more} {BARRIER}
uint mine = payload.{place}; if (group == 3u) {{ uint once = payload.{place}; }}
payload.tint = vec4(group) * 0.05 + {"min(float(mine), 3.0)" if used else "0.0"};
payload.unread = vec4(float(mine));"""
    reads = f"tint = payload.tint + float({read}) * 0.0625;"
    types = LAMP if "Lamp" in declared else ""
    case = Case(kind, f"{declared} vec4 tint; vec4 unread;", body, reads, types=types)
    codes = build(case.stages())
    text = disassemble(codes[0])
    text, count = re.subn(
        r"(%\w+ = )OpLoad (%uint %\w+)(\n +OpStore %(?:mine|once) )",
        r"\1OpAtomicIAdd \2 %uint_1 %order %uint_1\3",
        text,
    )
    assert count == 2
    text = text.replace("%uint_0 = ", f"%order = OpConstant %uint {order}\n%uint_0 = ", 1)
    codes[0] = assemble(text, "vulkan1.2")
    return codes


@pytest.mark.parametrize("kind", ATOMICS)
def test_atomics_keep_what_they_use(kind: str) -> None:
    """The loads become atomic additions, so that every invocation counts."""
    linked = prove(atomic(kind))
    after = modules(linked)
    left = ATOMICS[kind][-1]
    assert set(members(after["task"])) == {"group", "tint"} | left
    counts = [i for i in _insts(after["task"]) if i.op == ops.OpAtomicIAdd]
    assert len(counts) == (2 if left else 0)


@pytest.mark.parametrize("order, used", [(264, False), (0, True)])
def test_atomics_that_matter_stay_although_nobody_reads_what_they_count(
    order: int, used: bool
) -> None:
    """264 is AcquireRelease of WorkgroupMemory: other invocations may rely on it."""
    linked = prove(atomic("nobody reads it", order, used))
    assert "many" in members(modules(linked)["task"])


def test_uniform_values_need_a_layout_or_a_use() -> None:
    """What another invocation than the first alone reads need not be bound, so it stays."""
    always = Case("", "vec4 tint;", "payload.tint = scene.colour;", "tint = payload.tint;")
    once = Case(
        "", "vec4 tint;", "if (i == 1u) payload.tint = scene.colour;",
        "tint = payload.tint + scene.other * 0.0;",
    )  # fmt: skip
    whys = {why for _, why in remarks(link(build(always.stages())))}
    assert any("a --layout could grant it" in why for why in whys)
    whys = {why for _, why in remarks(link(build(once.stages())))}
    assert any("not every invocation reads" in why for why in whys)
    binding = {
        "binding": 0,
        "descriptorType": "UNIFORM_BUFFER",
        "stageFlags": ["TASK_EXT", "MESH_EXT"],
    }
    layout = {"setLayouts": [{"set": 0, "bindings": [binding]}]}
    linked = link(build(always.stages()), layout=layout)
    assert linked.interfaces[0].components == (5, 1)


# --- the checker of finished modules ---


def test_the_checker_sees_what_does_not_fit() -> None:
    codes = build(PLAIN.stages())
    task, mesh = module_of(codes[0]), module_of(codes[1])
    payload.check(task, mesh)
    narrow = [(s, t.replace("vec4 unread", "vec3 unread")) for s, t in PLAIN.stages()]
    narrow[0] = ("task", narrow[0][1].replace("= vec4(1.0)", "= vec3(1.0)"))
    with pytest.raises(Broken, match="differently"):
        payload.check(module_of(build(narrow)[0]), mesh)
    for emit in [i for i in _insts(task) if i.op == ops.OpEmitMeshTasksEXT]:
        del emit.args[3:]
    with pytest.raises(Broken, match="does not pass on"):
        payload.check(task, mesh)


def test_members_stand_in_the_same_order_on_both_sides() -> None:
    for case in CASES:
        after = modules(link(build(case.stages())))
        if payload.variables(after["mesh"]):
            assert members(after["task"]) == members(after["mesh"]), case.name
        for module in after.values():
            for note in module.annotations:
                found = payload.variables(module)
                assert not (note.op == ops.OpDecorate and note.args[0] in found), case.name
