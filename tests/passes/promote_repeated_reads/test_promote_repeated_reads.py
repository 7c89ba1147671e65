"""Outputs that a control or task shader reads back: what is known of them, and until when."""

from __future__ import annotations

import pytest

from spvlink.ir.core import LOAD_OUTPUT, EntryPoint, Function, Module, string_of
from spvlink.passes.lowering import promote_own_outputs, promote_repeated_reads
from spvlink.text import parse

HEAD = """\
OpCapability Tessellation
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint TessellationControl %main "main" %id %prim %plain
OpExecutionMode %main OutputVertices 3
OpDecorate %id BuiltIn InvocationId
OpDecorate %prim BuiltIn PrimitiveId
OpDecorate %plain Location 1
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%int_0 = OpConstant %int 0
%uint_2 = OpConstant %uint 2
%float_1 = OpConstant %float 1
%float_2 = OpConstant %float 2
%ptr_int = OpTypePointer Input %int
%ptr_local = OpTypePointer Function %int
%id = OpVariable %ptr_int Input
%prim = OpVariable %ptr_int Input
%plain = OpVariable %ptr_int Input
%true = OpConstantTrue %bool
%main = OpFunction %void None %1
%first = OpLabel
%own = OpLoad %int %id
%patch = OpLoad %int %prim
%number = OpLoad %int %plain
"""
TAIL = "OpReturn\nOpFunctionEnd\n{more}"
CALLEE = """%wait = OpFunction %void None %1
%begin = OpLabel
OpControlBarrier %uint_2 %uint_2 %uint_2
OpReturn
OpFunctionEnd
"""
BARRIER = "OpControlBarrier %uint_2 %uint_2 %uint_2\n"
CALL = "%called = OpFunctionCall %void %wait\n"


def built(body: str) -> Module:
    module = parse(HEAD + body + TAIL.format(more=CALLEE if CALL in body else ""))
    inst = module.sections[4][0]
    function = inst.args[0]
    assert isinstance(function, Function)
    module.entry = EntryPoint(inst, string_of(inst.imm, 1)[0], function)
    return module


def loads(module: Module) -> int:
    """What is read back still."""
    assert module.entry is not None
    return sum(i.op == LOAD_OUTPUT for b in module.entry.function.blocks for i in b.insts)


STORE = "STORE_OUTPUT %float_1 %own 8\n"
LOAD = "%x = LOAD_OUTPUT %float %own 8\n"
USE = "STORE_OUTPUT %x %own 16\n"
AGAIN = "%y = LOAD_OUTPUT %float %own 8\n%s = OpFAdd %float %x %y\nSTORE_OUTPUT %s %own 16\n"

BLOCK = {  # body -> loads that are left in the end (``forward``)
    STORE + LOAD + USE: 0,
    LOAD + AGAIN: 1,
    LOAD + "%z = OpFNegate %float %float_1\n" + AGAIN: 1,
    LOAD + "STORE_OUTPUT %float_2 %number 8\n" + AGAIN: 2,
    STORE + "STORE_OUTPUT %float_2 %number 8\n" + LOAD + USE: 1,
    STORE + LOAD.replace("%own", "%number") + USE: 1,
    STORE + LOAD.replace(" 8", " 9") + USE: 1,
    STORE + BARRIER + LOAD + USE: 1,
    LOAD + BARRIER + AGAIN: 2,
    STORE + CALL + LOAD + USE: 1,
    STORE + "STORE_OUTPUT %float_2 %number 12\n" + LOAD + USE: 0,
    STORE + "OpBranch %next\n%next = OpLabel\n" + LOAD + USE: 1,
    "STORE_OUTPUT %float_1 10\n%x = LOAD_OUTPUT %float 10\n" + USE: 0,
    "STORE_OUTPUT %uint_2 10\n%x = LOAD_OUTPUT %float 10\n" + USE: 1,
}


@pytest.mark.parametrize("body", BLOCK)
def test_what_is_known_within_a_block(body: str) -> None:
    module = built(body)
    before = loads(module)
    assert promote_repeated_reads.promote_repeated_reads(module) == (BLOCK[body] < before)
    assert loads(module) == BLOCK[body]


WHOLE = {  # of the whole shader: ``promote_own_outputs``
    STORE + BARRIER + LOAD + USE: 0,
    STORE + "%copy = OpCopyObject %int %own\n" + LOAD.replace("%own", "%copy") + USE: 0,
    STORE + "%cast = OpBitcast %uint %own\n" + LOAD.replace("%own", "%cast") + USE: 0,
    STORE.replace("%own", "%int_0") + LOAD + USE: 1,
    STORE + "STORE_OUTPUT %float_2 %number 8\n" + LOAD + USE: 1,
    STORE + "STORE_OUTPUT %float_2 %number 12\n" + LOAD + USE: 0,
    STORE.replace("%own", "%patch") + LOAD.replace("%own", "%patch") + USE: 1,
    STORE.replace("%own", "%number") + LOAD.replace("%own", "%number") + USE: 1,
    STORE + LOAD.replace("%own", "%int_0") + USE: 1,
    STORE + STORE.replace("own 8", "number 12") + LOAD + AGAIN.replace(" 8", " 12"): 1,
    STORE + LOAD + "%y = LOAD_OUTPUT %float %int_0 8\nSTORE_OUTPUT %y %own 12\n" + USE: 1,
    "STORE_OUTPUT %float_1 10\n%x = LOAD_OUTPUT %float 10\n" + USE: 0,
    "STORE_OUTPUT %float_1 10\n" + BARRIER + "%x = LOAD_OUTPUT %float 10\n" + USE: 1,
    "STORE_OUTPUT %float_1 10\n%x = LOAD_OUTPUT %float 10\n" + CALL + USE: 1,
}


@pytest.mark.parametrize("body", WHOLE)
def test_what_an_invocation_has_for_itself(body: str) -> None:
    module = built(body)
    before = loads(module)
    assert promote_own_outputs.promote_own_outputs(module) == (WHOLE[body] < before)
    assert loads(module) == WHOLE[body]
