"""What ``trim`` leaves of what speaks of others, and what of it goes (scripts/mutants found that no
other test has these)."""

from __future__ import annotations

import pytest

from spvlink.grammar import ops
from spvlink.ir import core
from spvlink.ir.check import check
from spvlink.ir.core import Module
from spvlink.passes.raising import trim
from spvlink.text import print_module
from tests.support.case_loading import load

SET = '%set = OpExtInstImport "NonSemantic.Remarks"\n'
HEAD = """\
OpCapability Shader
OpCapability PhysicalStorageBufferAddresses
OpExtension "SPV_KHR_non_semantic_info"
OpExtension "SPV_KHR_physical_storage_buffer"
%set = OpExtInstImport "NonSemantic.Remarks"
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint Fragment %main "main" %x %n %o
OpExecutionMode %main OriginUpperLeft
OpName %x "x"
OpName %n "n"
OpDecorate %x Location 0
OpDecorate %n Location 1
OpDecorate %n Flat
OpDecorate %o Location 0
{notes}
%void = OpTypeVoid
%f = OpTypeFunction %void
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%g = OpTypeFunction %float %float
%in = OpTypePointer Input %float
%in_int = OpTypePointer Input %int
%out = OpTypePointer Output %float
{globals}
%x = OpVariable %in Input
%n = OpVariable %in_int Input
%o = OpVariable %out Output
%main = OpFunction %void None %f
%first = OpLabel
%v = OpLoad %float %x
{code}
%w = OpFunctionCall %float %twice %v
OpStore %o %w
OpReturn
OpFunctionEnd
{lead}
%twice = OpFunction %float None %g
%a = OpFunctionParameter %float
%second = OpLabel
%b = OpFAdd %float %a %a
OpReturnValue %b
{inside}
OpFunctionEnd
{tail}
"""


def trimmed(**parts: str) -> Module:
    empty = dict.fromkeys(("notes", "globals", "code", "lead", "inside", "tail"), "")
    head = HEAD if "%set" in str(parts) else HEAD.replace(SET, "")  # which has all looked at
    module = load(head.format(**{**empty, **parts}))
    module.rare &= {i.op for i in (*module.globals, *module.annotations)}  # as a reader says
    trim.trim(module)
    check(module, final=True)
    assert '"n"' not in print_module(module)
    return module


@pytest.mark.parametrize("place", ["lead", "inside", "tail"])
def test_remarks_between_functions(place: str) -> None:
    both = "%r{0} = OpExtInst %void %set {0} %{1}\n"
    module = trimmed(**{place: both.format(1, "n") + both.format(2, "x")})
    twice = module.functions[1]
    left = {"lead": twice.lead, "inside": twice.tail, "tail": module.tail}
    assert [i.imm for i in left[place]] == [(2,)]
    assert sum(map(len, left.values())) == 1


def test_a_set_of_remarks_stays() -> None:
    """Even if what it says goes."""
    remark = "%r = OpExtInst %void %set 1 %n\n"
    assert len(trimmed(lead=remark).sections[core.IMPORTS]) == 1


def test_lines_without_a_file() -> None:
    trimmed(globals="OpNoLine")


def test_groups() -> None:
    """A group goes to those that are left; nobody's group decorates nothing."""
    notes = "OpDecorate %one RelaxedPrecision\n%one = OpDecorationGroup\n"
    notes += "OpDecorate %two RelaxedPrecision\n%two = OpDecorationGroup\n"
    module = trimmed(notes=notes + "OpGroupDecorate %one %x %n\nOpGroupDecorate %two %n\n")
    grouped = [i.args for i in module.annotations if i.op == ops.OpGroupDecorate]
    assert [[a.op for a in args] for args in grouped] == [[ops.OpDecorationGroup, ops.OpVariable]]


def test_groups_of_members() -> None:
    """Each struct keeps the number of the member that it was named with."""
    structs = "%lost = OpTypeStruct %int %int\n%S = OpTypeStruct %float %float\n"
    structs += "%pointer = OpTypePointer Private %S\n%s = OpVariable %pointer Private"
    notes = "OpDecorate %one RelaxedPrecision\n%one = OpDecorationGroup\n"
    module = trimmed(
        notes=notes + "OpGroupMemberDecorate %one %lost 1 %S 0 %lost 0\n",
        globals=structs,
        code="%t = OpLoad %S %s",
    )
    grouped = [i for i in module.annotations if i.op == ops.OpGroupMemberDecorate]
    assert [(len(i.args), i.imm) for i in grouped] == [(2, (0,))]


def test_remarks_about_functions_that_are_gone() -> None:
    tail = "%dead = OpFunction %void None %f\n%third = OpLabel\nOpReturn\nOpFunctionEnd\n"
    about = "%r{0} = OpExtInst %void %set {0} %{1}\n"
    remarks = about.format(1, "dead") + about.format(2, "twice")
    module = trimmed(globals=remarks, tail=tail)
    assert [i.imm for i in module.globals if i.op == ops.OpExtInst] == [(2,)]


def test_remarks_about_what_only_another_variable_holds() -> None:
    module = trimmed(
        globals="""%private = OpTypePointer Private %float
%holder = OpTypePointer Private %private
%inner = OpVariable %private Private
%outer = OpVariable %holder Private %inner
%r = OpExtInst %void %set 1 %inner""",
        code="%p = OpLoad %private %outer",
    )
    assert any(i.op == ops.OpExtInst for i in module.globals)


def test_types_that_go_in_a_circle() -> None:
    """The struct stands before the pointer that it holds, which nothing else needs."""
    module = trimmed(
        globals="""OpTypeForwardPointer %next PhysicalStorageBuffer
%node = OpTypeStruct %float %next
%next = OpTypePointer PhysicalStorageBuffer %node
%push = OpTypePointer PushConstant %node
%part = OpTypePointer PushConstant %float
%int_0 = OpConstant %int 0
%held = OpVariable %push PushConstant""",
        code="%p = OpAccessChain %part %held %int_0\n%q = OpLoad %float %p",
    )
    assert any(i.op == ops.OpTypeForwardPointer for i in module.globals)


@pytest.mark.parametrize("target", ["v", "in", "n"])
def test_what_decorations_ask_for(target: str) -> None:
    """A value of the code, the type of a variable that it loads, and what is gone."""
    module = trimmed(
        notes=f"OpDecorateId %{target} UniformId %scope", globals="%scope = OpConstant %int 3"
    )
    left = [i.op for i in module.annotations].count(ops.OpDecorateId)
    constants = sum(i.op == ops.OpConstant for i in module.globals)
    assert left == constants == (target != "n")


def test_a_builtin_that_nothing_reads() -> None:
    trimmed(notes="OpDecorate %n BuiltIn SampleId")
