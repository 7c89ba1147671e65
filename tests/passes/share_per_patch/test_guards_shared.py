"""What may be made once more where the indices of the primitives are stored: ``per_patch._Remake``
asked directly (scripts/mutants found that no other test has these)."""

from __future__ import annotations

import pytest

from spvlink.grammar import ops
from spvlink.ir.core import Inst, Module
from spvlink.link.pack import share_per_patch
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %a %n %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %a Location 0
OpDecorate %n Location 1
OpDecorate %n Flat
OpDecorate %o Location 0
OpDecorate %floats ArrayStride 16
OpDecorate %U Block
OpMemberDecorate %U 0 Offset 0
OpDecorate %S BufferBlock
OpMemberDecorate %S 0 Offset 0
OpDecorate %u DescriptorSet 0
OpDecorate %u Binding 0
OpDecorate %s DescriptorSet 0
OpDecorate %s Binding 1
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%int_4 = OpConstant %int 4
%float_2 = OpConstant %float 2
%floats = OpTypeArray %float %int_4
%U = OpTypeStruct %floats
%S = OpTypeStruct %float
%in = OpTypePointer Input %float
%in_int = OpTypePointer Input %int
%out = OpTypePointer Output %float
%ptr_U = OpTypePointer Uniform %U
%ptr_P = OpTypePointer PushConstant %U
%ptr_S = OpTypePointer Uniform %S
%uniform = OpTypePointer Uniform %float
%push = OpTypePointer PushConstant %float
%a = OpVariable %in Input
%n = OpVariable %in_int Input
%o = OpVariable %out Output
%u = OpVariable %ptr_U Uniform
%p = OpVariable %ptr_P PushConstant
%s = OpVariable %ptr_S Uniform
%main = OpFunction %void None %1
%first = OpLabel
%x = OpLoad %float %a
%k = OpLoad %int %n
{before}
%c = OpSLessThan %bool %k %int_0
OpSelectionMerge %end None
OpBranchConditional %c %yes %no
%yes = OpLabel
OpBranch %end
%no = OpLabel
{body}
OpStore %o %w
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"""
SUM = "%w = OpFAdd %float %x %float_2"
UNIFORM = "%{0} = OpAccessChain %uniform %u %int_0 {1}\n%{2} = OpLoad %float %{0}"
PUSH = "%q = OpAccessChain %push %p %int_0 {}\n%w = OpLoad %float %q{}"
DEEP = 40
CHAIN = "%t0 = OpFAdd %float %x %x\n" + "".join(
    f"%t{n + 1} = OpFAdd %float %t{n} %x\n" for n in range(DEEP)
)
AT_1 = UNIFORM.format("q", "%int_1", "w")
VALUES = {  # decorations, before the branch, on the way, whether it may be made on the other way
    "known": ("", "%w = OpFAdd %float %x %x", "", True),
    "sum": ("", "", SUM, True),
    "NoContraction": ("OpDecorate %w NoContraction", "", SUM, False),
    "RelaxedPrecision": ("OpDecorate %w RelaxedPrecision", "", SUM, False),
    "of what may not": (
        "OpDecorate %t NoContraction", "", "%t = OpFAdd %float %x %x\n%w = OpFNegate %float %t",
        False,
    ),
    "derivative": ("", "", "%w = OpDPdx %float %x", False),
    "division": (
        "", "", "%d = OpSDiv %int %int_4 %k\n%w = OpConvertSToF %float %d", False,
    ),
    "too much of it": ("", "", CHAIN + f"%w = OpFAdd %float %t{DEEP} %x", False),
    "undefined": ("", "", "%w = OpUndef %float", False),
    "input": ("", "", "%w = OpLoad %float %a", True),
    "output": ("", "", "%w = OpLoad %float %o", False),
    "push constant": ("", "", PUSH.format("%int_1", ""), True),
    "push constant, volatile": ("", "", PUSH.format("%int_1", " Volatile"), False),
    "push constant, index": ("", "", PUSH.format("%k", ""), False),
    "push constant, relaxed": (
        "OpDecorate %w RelaxedPrecision", "", PUSH.format("%int_1", ""), False,
    ),
    "guarded uniform": ("", "", AT_1, False),
    "uniform": ("", UNIFORM.format("r", "%int_1", "v"), AT_1, True),
    "uniform behind": ("", UNIFORM.format("r", "%int_0", "v"), AT_1, False),
    "storage buffer": (
        "", "", "%q = OpAccessChain %uniform %s %int_0\n%w = OpLoad %float %q", False,
    ),
}  # fmt: skip


def built(notes: str, before: str, body: str) -> Module:
    return load(HEAD.format(notes=notes, before=before, body=body))


def remake(module: Module) -> tuple[share_per_patch._Remake, Inst]:
    """For the block on the other way; and the value that is stored."""
    _, yes, no, _ = module.functions[0].blocks
    store = next(i for i in no.insts if i.op == ops.OpStore)
    return share_per_patch._Remake(module, [(yes, yes.insts[-1], store)]), store.args[1]


@pytest.mark.parametrize("name", VALUES)
def test_what_is_made_again(name: str) -> None:
    notes, before, body, may = VALUES[name]
    made, wanted = remake(built(notes, before, body))
    assert made.able(wanted) == may


def test_what_comes_later_in_its_block_is_not_known() -> None:
    module = built("", "", SUM)
    no = module.functions[0].blocks[2]
    store = next(i for i in no.insts if i.op == ops.OpStore)
    value = store.args[1]
    again = share_per_patch._Remake(module, [(no, value, store)])
    assert not again.at_hand(value, no, value) and again.at_hand(value, no, store)
