"""What promotion must leave in memory, and what a callee may do: what no other test has
(scripts/mutants found it)."""

from __future__ import annotations

import pytest

from spvlink.binary.encode import encode
from spvlink.facts.calls import Calls
from spvlink.grammar import info, ops
from spvlink.ir.core import Module
from spvlink.validate import validate_all
from tests.cases import passes
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
{capabilities}
%glsl = OpExtInstImport "GLSL.std.450"
{imports}
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %k %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %k Location 0
OpDecorate %k Flat
OpDecorate %o Location 0
%void = OpTypeVoid
%1 = OpTypeFunction %void
%int = OpTypeInt 32 1
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%int_5 = OpConstant %int 5
%float = OpTypeFloat 32
%float_1 = OpConstant %float 1
%v2float = OpTypeVector %float 2
%two = OpConstant %int 2
%floats = OpTypeArray %float %two
%result = OpTypeStruct %float %float
%in = OpTypePointer Input %int
%out = OpTypePointer Output %float
%local_float = OpTypePointer Function %float
%local_vector = OpTypePointer Function %v2float
%local_floats = OpTypePointer Function %floats
%taking = OpTypeFunction %float %local_float
%k = OpVariable %in Input
%o = OpVariable %out Output
{functions}
%main = OpFunction %void None %1
%first = OpLabel
%v = OpVariable %{type} Function
%n = OpLoad %int %k
{body}
OpStore %o %x
OpReturn
OpFunctionEnd
"""
NAMED = """%named = OpFunction %float None %taking
%p = OpFunctionParameter %local_float
%begin = OpLabel
%read = OpLoad %float %p
OpReturnValue %read
OpFunctionEnd"""


def built(body: str, type: str = "local_float", functions: str = "", **more: str) -> Module:
    fields = {"capabilities": "", "imports": "", **more}
    return load(HEAD.format(body=body, type=type, functions=functions, **fields))


def locals_left(module: Module) -> int:
    main = module.functions[-1]
    return sum(i.op == ops.OpVariable for b in main.blocks for i in b.insts)


READ = "%x = OpLoad %float %v"
FIRST = "%at = OpAccessChain %local_float %v {}\nOpStore %at %float_1\n"
LAST = "%x = OpLoad %float %at"
BODIES = {  # type of %v, body -> variables that are left
    "plain": ("local_float", "OpStore %v %float_1\n" + READ, 0),
    "Aligned": ("local_float", "OpStore %v %float_1 Aligned 4\n" + READ, 0),
    "volatile store": ("local_float", "OpStore %v %float_1 Volatile\n" + READ, 1),
    "volatile load": ("local_float", "OpStore %v %float_1\n" + READ + " Volatile", 1),
    "what modf writes": (
        "local_float", "%whole = OpExtInst %float %glsl Modf %float_1 %v\n" + READ, 1,
    ),
    "an argument": (
        "local_float", "OpStore %v %float_1\n%x = OpFunctionCall %float %named %v", 1,
    ),
    "constant index": ("local_floats", FIRST.format("%int_1") + LAST, 0),
    "index out of bounds": ("local_floats", FIRST.format("%int_5") + LAST, 1),
    "dynamic index": ("local_floats", FIRST.format("%n") + LAST, 1),
    "component": ("local_vector", FIRST.format("%int_1") + LAST, 0),
    "component out of bounds": ("local_vector", FIRST.format("%int_5") + LAST, 1),
    "a copy of the address": (
        "local_float", "%q = OpCopyObject %local_float %v\nOpStore %q %float_1\n" + READ, 1,
    ),
    "volatile copy of memory": (
        "local_float Function\n%w = OpVariable %local_float",
        "OpStore %v %float_1\nOpCopyMemory %w %v Volatile\n"
        "%x = OpLoad %float %w", 2,
    ),
    "copy of memory": (
        "local_float Function\n%w = OpVariable %local_float",
        "OpStore %v %float_1\nOpCopyMemory %w %v\n"
        "%x = OpLoad %float %w", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_what_stays_in_memory(name: str) -> None:
    type, body, left = BODIES[name]
    module = built(body, type, NAMED if "%named" in body else "")
    passes.promote(module)
    assert locals_left(module) == left
    assert validate_all([encode(module)], "vulkan1.0") == [None]


# --- calls ---

CALLEE = """%named = OpFunction %void None %1
%begin = OpLabel
{body}
OpReturn
OpFunctionEnd"""
FOREIGN = '%other = OpExtInstImport "{}"'
DOES = {  # what a callee has, imports -> whether it may do anything
    "nothing": ("", "", False),
    "arithmetic": ("%a = OpExtInst %float %glsl Sin %float_1", "", False),
    "a foreign set": ("%a = OpExtInst %void %other 1", "Other.Set", True),
    "a set without meaning": ("%a = OpExtInst %void %other 1", "NonSemantic.Other", False),
}


@pytest.mark.parametrize("name", DOES)
def test_what_a_callee_may_do(name: str) -> None:
    """Nothing is known of the instructions of another set, but where it says that they do
    nothing."""
    body, imported, anything = DOES[name]
    module = built(
        "%c = OpFunctionCall %void %named\n%x = OpFAdd %float %float_1 %float_1",
        functions=CALLEE.format(body=body), imports=FOREIGN.format(imported) if imported else "",
    )  # fmt: skip
    (call,) = [
        i for b in module.functions[-1].blocks for i in b.insts if i.op == ops.OpFunctionCall
    ]
    calls = Calls.of(module)
    for what in (info.EMITS, info.BARRIER, info.ENDS, info.CONVERGENT):
        assert calls.does(call, what) == anything
