"""Which payloads are not linked: what no other test has (scripts/mutants found it)."""

from __future__ import annotations

import pytest

from spvlink.errors import Broken
from spvlink.grammar import enums, ops
from spvlink.ir.core import STORE_OUTPUT, Inst, Module, name_of, words_of
from spvlink.link.border.stage import Stage
from spvlink.link.payload import payload, payload_constants
from spvlink.link.payload.payload import Payload, Unlinkable
from spvlink.options import Options
from spvlink.passes.lowering.lower_io import MAX_LOCATION
from spvlink.pipeline import STAGES, Source
from tests.cases.slots import site_of
from tests.support.case_loading import load
from tests.support.payload_chains import Case
from tests.support.payload_links import build, link, modules

TEXT = """\
OpCapability MeshShadingEXT
OpCapability PhysicalStorageBufferAddresses
OpCapability Float64
OpCapability Int64
OpExtension "SPV_EXT_mesh_shader"
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint TaskEXT %main "main" {listed}
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %length SpecId 0
%void = OpTypeVoid
%1 = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint_0 = OpConstant %uint 0
%uint_1 = OpConstant %uint 1
%uint_4 = OpConstant %uint 4
%many = OpConstant %uint {many}
%length = OpSpecConstant %uint 4
%bool = OpTypeBool
%true = OpConstantTrue %bool
%float = OpTypeFloat 32
%float_1 = OpConstant %float 1
%double = OpTypeFloat 64
%long = OpTypeInt 64 0
%vec2 = OpTypeVector %float 2
%vec3 = OpTypeVector %float 3
%dvec2 = OpTypeVector %double 2
%dvec3 = OpTypeVector %double 3
%mat = OpTypeMatrix %vec3 3
%floats = OpTypeArray %float %uint_4
%most = OpTypeArray %float %many
%sized = OpTypeArray %float %length
%sampler = OpTypeSampler
%physical = OpTypePointer PhysicalStorageBuffer %float
%struct = OpTypeStruct %float %{member}
%ptr = OpTypePointer TaskPayloadWorkgroupEXT %struct
%ptr_float = OpTypePointer TaskPayloadWorkgroupEXT %float
%p = OpVariable %ptr TaskPayloadWorkgroupEXT
%q = OpVariable %ptr TaskPayloadWorkgroupEXT
%main = OpFunction %void None %1
%2 = OpLabel
{body}
{end}
OpFunctionEnd
"""
EMIT = "OpEmitMeshTasksEXT %uint_1 %uint_1 %uint_1"
STORE = "%at = OpAccessChain %ptr_float %p %uint_0\nOpStore %at %float_1"


def made(member: str = "vec3", listed: str = "%p", end: str = f"{EMIT} %p", **more: str) -> Module:
    fields = {"body": "", "many": "8", **more}
    return load(TEXT.format(member=member, listed=listed, end=end, **fields))


def why(task: Module, mesh: Module | None = None) -> str:
    """Why the payload of a task shader is not linked; empty if it is."""
    try:
        Payload(task, made() if mesh is None else mesh)
    except Unlinkable as reason:
        return str(reason)
    return ""


def test_what_is_linked() -> None:
    assert why(made()) == "" == why(made(body=STORE))


def test_the_mesh_stage_only_reads() -> None:
    assert why(made(), made(body=STORE)) == "the mesh stage writes to the payload"
    elsewhere = STORE.replace("%p %", "%q %")
    assert why(made(), made(body=elsewhere)) == ""


END = f"""OpSelectionMerge %5 None
OpBranchConditional %true %3 %4
%3 = OpLabel
{EMIT} %p
%4 = OpLabel
{EMIT}
%5 = OpLabel
OpUnreachable"""


@pytest.mark.parametrize("end", [EMIT, END, "OpReturn"], ids=["without", "one without", "none"])
def test_every_emit_hands_it_over(end: str) -> None:
    assert why(made(end=end)) == "the payload is not given to every EmitMeshTasksEXT"


def test_an_initializer() -> None:
    task = made()
    (variable,) = payload.variables(task)
    variable.args = [Inst(ops.OpConstantNull, None, [], ())]
    assert why(task) == "the payload has an initializer"


def test_what_is_too_large() -> None:
    for many, said in ((MAX_LOCATION - 1, ""), (MAX_LOCATION, f"{MAX_LOCATION + 1} parts")):
        module = made("most", many=str(many))
        assert said in why(module, module)


TYPES = {  # member -> words of the struct, or why it is not linked
    "float": 2, "double": 3, "long": 3, "vec2": 3, "vec3": 4, "dvec2": 5, "dvec3": 7, "mat": 10,
    "floats": 5, "physical": 3, "sampler": "a type that", "sized": "specialization constant",
}  # fmt: skip


@pytest.mark.parametrize("member", TYPES)
def test_what_a_payload_may_hold(member: str) -> None:
    module, expected = made(member), TYPES[member]
    if isinstance(expected, str):
        assert expected in why(module, module)
        return
    assert why(module, module) == ""
    assert payload.words(payload.variables(module)[0]) == expected
    others = [made(other) for other in TYPES if other != member and TYPES[other] != "a type that"]
    assert all(why(module, other) for other in others)


def test_a_wide_vector_is_two_parts() -> None:
    """So many as it needs Locations."""
    text = TEXT.replace("%most = OpTypeArray %float", "%most = OpTypeArray %{element}")
    for element, wide in (("vec3", 1), ("dvec2", 1), ("dvec3", 2), ("float", 1)):
        for many in (MAX_LOCATION // wide - 1, MAX_LOCATION // wide):
            fields = {"member": "most", "listed": "%p", "end": f"{EMIT} %p", "body": ""}
            module = load(text.format(element=element, many=str(many), **fields))
            assert ("parts" in why(module, module)) == (many * wide + 1 > MAX_LOCATION)


def test_the_checker() -> None:
    payload.check(made(), made())
    payload.check(made(), made(listed=""))
    payload.check(made(end=EMIT), made(listed=""))
    for task, mesh, said in (
        (made(listed="%p %q"), made(listed=""), "several"),
        (made(), made(listed="%p %q"), "several"),
        (made(listed="%q"), made(listed=""), "another payload"),
        (made(listed="", end=EMIT), made(), "does not pass on"),
        (made(end=EMIT), made(), "does not pass on"),
        (made(listed="", end="OpReturn"), made(), "does not pass on"),
        (made("sampler"), made("sampler"), "a type that"),
        (made("vec2"), made(), "differently"),
    ):
        with pytest.raises(Broken, match=said):
            payload.check(task, mesh)


# --- variables again ---

NOTES = """OpDecorate %g RelaxedPrecision
%g = OpDecorationGroup
OpGroupDecorate %g %q
OpDecorate %p Location 0
OpDecorate %p Component 0
OpDecorate %p RelaxedPrecision
OpDecorate %q Location 0
OpDecorate %length SpecId 0"""


def test_only_the_places_are_taken_back() -> None:
    text = TEXT.replace("OpDecorate %length SpecId 0", NOTES)
    module = load(text.format(member="vec3", listed="%p", end=f"{EMIT} %p", body="", many="8"))
    (mine,) = payload.variables(module)
    count = len(module.annotations)
    payload._undecorate(module, {mine})
    assert len(module.annotations) == count - 2
    assert [i.imm for i in module.annotations if mine in i.args] == [
        (enums.Decoration_RelaxedPrecision,)
    ]


def test_what_became_a_member_is_not_listed() -> None:
    module = made()
    side = payload.PayloadSide(module)
    assert side.variable is not None and module.entry is not None
    new = payload._assemble(side, [(side.variable, "p")])
    assert module.entry.inst.args[1:] == [new]


def test_names_in_the_report() -> None:
    named, unnamed = made(), made()
    (variable,) = payload.variables(named)
    named.names.append(name_of(ops.OpName, variable, words_of("held")))
    (other,) = payload.variables(unnamed)
    for module, name in ((named, "held"), (unnamed, f"%{other.id}")):
        assert payload.kept(Stage(Source(b""), STAGES[enums.ExecutionModel_TaskEXT], module)) == [
            (name, 4)
        ]


def test_a_payload_that_is_no_struct_stays_what_it_was() -> None:
    """An array whose indices are dynamic; code crosses the other border."""
    case = Case("", "", "payload[i] = float(group);", "tint = vec4(payload[i & 3u]);", ("",))
    stages = []
    for stage, text in case.stages():
        text = text.replace("struct { uint group;  } payload;", "float payload[4];")
        text = text.replace("if (i == 0u) payload.group = group;", "")
        stages.append((stage, text.replace("payload.group", "uint(payload[0])")))
    linked = link(build(stages))
    for module in list(modules(linked).values())[:2]:
        (variable,) = payload.variables(module)
        assert variable.type is not None and variable.type.args[0].op == ops.OpTypeArray
        assert not any(variable in note.args for note in module.annotations)


READ_BACK = """%x = LOAD_OUTPUT %float 0
%y = OpFAdd %float %x %x
STORE_OUTPUT %y 2"""


def test_what_is_read_back_is_the_constant() -> None:
    """No copy is left, whoever comes next."""
    task = made(body=f"STORE_OUTPUT %float_1 0\n{READ_BACK}", listed="", end=EMIT)
    site = site_of([task, made(listed="", end=EMIT)], ["0.xy f32 p"], Options(clean=True))
    assert payload_constants.payload_constants(site.link)
    insts = [i for b in task.functions[0].blocks for i in b.insts]
    assert [i.op for i in insts[:2]] == [STORE_OUTPUT, ops.OpFAdd]
    assert {a.op for a in insts[1].args} == {ops.OpConstant}
