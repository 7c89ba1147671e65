"""Variables that hold pointers into buffers: where these may meet in a phi, and where not."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.driver import all_insts
from spvlink.grammar import ops
from spvlink.ir.core import Inst
from tests.support.linking import module_of, vertex
from tests.support.samples import assemble

HEAD = """OpCapability Shader
OpCapability {capability}
OpExtension "SPV_KHR_variable_pointers"
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %o %k
OpExecutionMode %main OriginUpperLeft
OpDecorate %o Location 0
OpDecorate %k Location 0
OpDecorate %k Flat
OpDecorate %S Block
OpMemberDecorate %S 0 Offset 0
OpDecorate %floats ArrayStride 4
OpDecorate %b0 DescriptorSet 0
OpDecorate %b0 Binding 0
OpDecorate %b1 DescriptorSet 0
OpDecorate %b1 Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%zero = OpConstant %float 0
%floats = OpTypeRuntimeArray %float
%S = OpTypeStruct %floats
%block = OpTypePointer StorageBuffer %S
%number = OpTypePointer StorageBuffer %float
%held = OpTypePointer Function %block
%v4 = OpTypeVector %float 4
%out = OpTypePointer Output %v4
%in = OpTypePointer Input %int
%o = OpVariable %out Output
%k = OpVariable %in Input
%b0 = OpVariable %block StorageBuffer
%b1 = OpVariable %block StorageBuffer
%getter = OpTypeFunction %number %bool
%main = OpFunction %void None %fn
%first = OpLabel
%v = OpVariable %held Function
%kv = OpLoad %int %k
%c = OpSLessThan %bool %kv %i1
"""
TAIL = """%x4 = OpCompositeConstruct %v4 %x %x %x %x
OpStore %o %x4
OpReturn
OpFunctionEnd
"""
READ = "%p = OpLoad %block %v\n%q = OpAccessChain %number %p %i0 %i0\n%x = OpLoad %float %q\n"
GETTER = """%get = OpFunction %number None %getter
%cc = OpFunctionParameter %bool
%begin = OpLabel
%e0 = OpAccessChain %number %b0 %i0 %i0
%e1 = OpAccessChain %number %b1 %i0 %i1
OpSelectionMerge %end None
OpBranchConditional %cc %yes %no
%yes = OpLabel
OpReturnValue %e0
%no = OpLabel
OpReturnValue %e1
%end = OpLabel
OpUnreachable
OpFunctionEnd
"""
FORK = "OpSelectionMerge %m None\nOpBranchConditional %c %a %b\n"
INTO_0, INTO_1 = "OpStore %v %b0\n", "OpStore %v %b1\n"
ARM_A, ARM_B = "%a = OpLabel\n", "OpBranch %m\n%b = OpLabel\n"
MERGE = "OpBranch %m\n%m = OpLabel\n"
# what main does to find %x, and other functions
BODIES = {
    "two stores": (FORK + ARM_A + INTO_0 + ARM_B + INTO_1 + MERGE + READ, ""),
    "stored over": (INTO_0 + FORK + ARM_A + INTO_1 + ARM_B + MERGE + READ, ""),
    "returned": ("%p = OpFunctionCall %number %get %c\n%x = OpLoad %float %p\n", GETTER),
}
ONCE = {
    "at once": INTO_0 + READ,
    "in an arm": FORK + ARM_A + INTO_0 + "OpBranch %inner\n%inner = OpLabel\n"
    + READ.replace("%x", "%xa") + ARM_B + MERGE + "%x = OpPhi %float %xa %inner %zero %b\n",
}  # fmt: skip
VERTEX = """layout(location = 0) flat out int k_; layout(location = 1) out vec4 dead;
void main() { gl_Position = p; k_ = k.x; dead = p; }"""


def link(body: str, functions: str, capability: str) -> list[Inst]:
    """The instructions of the fragment shader once it is linked."""
    head = HEAD.format(capability=capability)
    frag = assemble(head + body + TAIL + functions)
    options = spvlink.Options(clean=True)
    options.check_each = True
    linked = spvlink.link([vertex(VERTEX), frag], options)
    assert linked.defect is None and linked.validated == "validated", linked.defect
    assert linked.passed_through is None
    return all_insts(module_of(linked.stages[1].data))


def meetings(insts: list[Inst]) -> list[Inst]:
    """Phis and selects of pointers."""
    return [
        i for i in insts
        if i.op in (ops.OpPhi, ops.OpSelect) and i.type is not None
        and i.type.op == ops.OpTypePointer
    ]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_pointers_into_two_buffers(body: str) -> None:
    """VariablePointersStorageBuffer has them all point into one; VariablePointers has not."""
    assert not meetings(link(*BODIES[body], "VariablePointersStorageBuffer"))
    assert len(meetings(link(*BODIES[body], "VariablePointers"))) == 1


@pytest.mark.parametrize("body", ONCE)
def test_stored_once(body: str) -> None:
    """A pointer that is stored once, before all loads, is as good as the variable."""
    insts = link(ONCE[body], "", "VariablePointersStorageBuffer")
    assert not meetings(insts)
    assert not any(i.op == ops.OpVariable for i in insts)
