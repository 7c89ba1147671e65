"""What is known of the uses of an array of structs in a payload: what no other test has
(scripts/mutants found it)."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Module, op_of_name, text_of_name
from spvlink.link.dead import payload_members
from spvlink.link.dead.payload_members import PayloadUses
from spvlink.link.payload import payload
from tests.support.case_loading import load
from tests.support.payload_chains import Case
from tests.support.payload_links import build, link, members, modules

TEXT = """\
OpCapability MeshShadingEXT
OpExtension "SPV_EXT_mesh_shader"
OpMemoryModel Logical GLSL450
OpEntryPoint TaskEXT %main "main" %v
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%1 = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint_0 = OpConstant %uint 0
%uint_1 = OpConstant %uint 1
%uint_2 = OpConstant %uint 2
%uint_4 = OpConstant %uint 4
%float = OpTypeFloat 32
%float_1 = OpConstant %float 1
%vec2 = OpTypeVector %float 2
%rock = OpTypeStruct %float %vec2 %uint
%rock_null = OpConstantNull %rock
%rocks = OpTypeArray %rock %uint_4
%vec2_null = OpConstantNull %vec2
%rocks_null = OpConstantNull %rocks
%to_rocks = OpTypePointer TaskPayloadWorkgroupEXT %rocks
%to_rock = OpTypePointer TaskPayloadWorkgroupEXT %rock
%to_vec2 = OpTypePointer TaskPayloadWorkgroupEXT %vec2
%to_float = OpTypePointer TaskPayloadWorkgroupEXT %float
%to_uint = OpTypePointer TaskPayloadWorkgroupEXT %uint
%local = OpTypePointer Function %rock
%to_local = OpTypePointer Function %uint
%v = OpVariable %to_rocks TaskPayloadWorkgroupEXT
%other = OpFunction %void None %1
%2 = OpLabel
{elsewhere}
OpReturn
OpFunctionEnd
%main = OpFunction %void None %1
%3 = OpLabel
%l = OpVariable %local Function
%n = OpVariable %to_local Function
%which = OpLoad %uint %n
{body}
OpEmitMeshTasksEXT %uint_1 %uint_1 %uint_1
OpFunctionEnd
"""
ELEMENT = "%e = OpAccessChain %to_rock %v %which\n"
VECTOR = "%m = OpAccessChain %to_vec2 %v %which %uint_1\n"
COUNT = "%m = OpAccessChain %to_uint %v %which %uint_2\n"
NOT = None
USES = {  # body -> the members that are read; None if that is not known
    "": set(),
    VECTOR + "%5 = OpLoad %vec2 %m": {1},
    VECTOR + "OpStore %m %vec2_null": set(),
    VECTOR + "%5 = OpAccessChain %to_float %m %uint_0\n%6 = OpLoad %float %5": {1},
    VECTOR + "%5 = OpAccessChain %to_float %m %uint_0\nOpStore %5 %float_1": set(),
    COUNT + "%5 = OpAtomicIAdd %uint %m %uint_1 %uint_0 %uint_1": {2},
    COUNT + "OpCopyMemory %n %m": {2},
    ELEMENT: set(),
    ELEMENT + "%5 = OpLoad %rock %e": set(),
    ELEMENT + "%5 = OpLoad %rock %e\n%6 = OpCompositeExtract %float %5 1 0": {1},
    ELEMENT + "%5 = OpLoad %rock %e\nOpStore %l %5": NOT,
    ELEMENT + "%5 = OpLoad %rock %e Aligned 4": NOT,
    ELEMENT + "OpStore %e %rock_null": set(),
    ELEMENT + "OpStore %e %rock_null Aligned 4": NOT,
    ELEMENT + "OpCopyMemory %e %l": NOT,
    ELEMENT + "OpCopyMemory %l %e": NOT,
    ELEMENT + "%5 = OpAccessChain %to_vec2 %e %uint_1\n%6 = OpLoad %vec2 %5": NOT,
    "%5 = OpLoad %rocks %v": NOT,
    "OpStore %v %rocks_null": NOT,
    "%5 = OpAccessChain %to_rocks %v\n%6 = OpAccessChain %to_uint %5 %which %uint_2": NOT,
}  # fmt: skip


def uses(body: str, elsewhere: str = "") -> PayloadUses:
    module = load(TEXT.format(body=body, elsewhere=elsewhere))
    (variable,) = [i for i in module.globals if i.op == ops.OpVariable]
    return PayloadUses(module, variable)


@pytest.mark.parametrize("body", USES)
def test_what_is_read(body: str) -> None:
    found = uses(body)
    assert (found.read if found.known else NOT) == USES[body]


def test_what_is_stored() -> None:
    found = uses(ELEMENT + "OpStore %e %rock_null\n" + VECTOR + "OpStore %m %vec2_null")
    assert [member for _, member in found.stores] == [-1, 1]


def test_another_function_is_not_followed() -> None:
    body = VECTOR.replace("%which", "%uint_0") + "OpStore %m %vec2_null"
    assert uses(body).known
    assert not uses("", body).known


# --- linked ---

TYPES = "struct Rock { float size; vec2 debug; vec4 place; };"
MAIN = """payload.rocks[i].size = float(group) * 0.1; payload.rocks[i].debug.y = 2.0;
payload.rocks[i].place.z = float(i) * 0.1; payload.rocks[i].place.xyw = vec3(group) * 0.05;
"""


def gone(linked: spvlink.Linked) -> set[str]:
    """Members of arrays."""
    return {r.name for r in linked.remarks if r.action == "removed" and "[]" in r.name}


def names(module: Module) -> set[str]:
    return {text_of_name(n) for _, n in module.names if op_of_name(n) == ops.OpName}


def test_a_chain_from_a_member_is_not_numbered_anew() -> None:
    body = VECTOR + "%5 = OpAccessChain %to_float %m %uint_1\n%6 = OpLoad %float %5"
    found = uses(body)
    payload_members._rebuild(found, [1])
    outer, inner = found.members
    assert [types.index_of(a) for a in outer.args[2:]] == [0]
    assert [types.index_of(a) for a in inner.args[1:]] == [1]


def test_what_lies_behind_the_dead_members_is_numbered_anew() -> None:
    reads = "tint = vec4(payload.rocks[i].size, payload.rocks[i].place.zyx);"
    linked = link(build(Case("", "Rock rocks[4];", MAIN, reads, types=TYPES).stages()))
    assert gone(linked) == {"payload.rocks[].debug"}
    for module in modules(linked).values():
        assert not payload.variables(module) or "Rock" in names(module)


def test_an_array_that_is_copied_whole_stays() -> None:
    reads = "Rock all[4] = payload.rocks; tint = payload.rocks[i].place * all[i].size;"
    linked = link(build(Case("", "Rock rocks[4];", MAIN, reads, types=TYPES).stages()))
    assert gone(linked) == set()


def test_arrays_of_arrays_have_no_members() -> None:
    """Their elements are of one type, and an index is none of a member."""
    body = "payload.grid[i][0] = vec4(group) * 0.1; payload.grid[i][2] = vec4(i);"
    reads = "tint = payload.grid[i][0] + payload.grid[i][2];"
    linked = link(build(Case("", "vec4 grid[4][3];", body, reads).stages()))
    assert gone(linked) == set()
    after = modules(linked)
    assert [members(after[stage]) for stage in ("task", "mesh")] == [["group", "grid"]] * 2
