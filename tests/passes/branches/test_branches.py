"""Control flow that no compiler of ours writes and ``branches`` must leave valid (scripts/mutants
found that no other test has it)."""

from __future__ import annotations

import pytest

from spvlink.binary.encode import encode
from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.ir.edit import branch, flow_changed
from spvlink.passes.cleaning import branches, flow, join
from spvlink.validate import validate_all
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %k %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %k Location 0
OpDecorate %k Flat
OpDecorate %o Location 0
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%v2float = OpTypeVector %float 2
%mat = OpTypeMatrix %v2float 2
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%float_0 = OpConstant %float 0
%float_1 = OpConstant %float 1
%v0 = OpConstantComposite %v2float %float_0 %float_0
%v1 = OpConstantComposite %v2float %float_1 %float_1
%m0 = OpConstantComposite %mat %v0 %v0
%m1 = OpConstantComposite %mat %v1 %v1
%in = OpTypePointer Input %int
%out = OpTypePointer Output %float
%k = OpVariable %in Input
%o = OpVariable %out Output
%main = OpFunction %void None %1
%first = OpLabel
%n = OpLoad %int %k
%c = OpSGreaterThan %bool %n %int_0
"""
TAIL = """OpStore %o %x
OpReturn
OpFunctionEnd
"""
SWITCH = """OpSelectionMerge %end None
OpSwitch %int_1 %end 1 %case
%case = OpLabel
{way}
%rest = OpLabel
OpBranch %end
%end = OpLabel
%x = OpPhi %float %float_0 %first %float_1 %case %float_0 %rest
"""
PLAIN = """OpSelectionMerge %end None
OpSwitch %int_1 %end 1 %case
%case = OpLabel
OpBranch %end
%end = OpLabel
%x = OpPhi %float %float_0 %first %float_1 %case
"""
UNKNOWN = """OpSelectionMerge %end None
OpSwitch %n %other 1 %case
%case = OpLabel
OpBranch %end
%other = OpLabel
OpBranch %end
%end = OpLabel
%x = OpPhi %float %float_0 %other %float_1 %case
"""
MATRIX = """OpSelectionMerge %end None
OpBranchConditional %c %yes %end
%yes = OpLabel
OpBranch %end
%end = OpLabel
%m = OpPhi %mat %m0 %first %m1 %yes
%x = OpCompositeExtract %float %m 0 1
"""
LOOP = """OpBranch %header
%header = OpLabel
OpLoopMerge %end %again None
OpBranch %body
%body = OpLabel
{leave}
%again = OpLabel
OpBranch %header
%end = OpLabel
%x = OpFAdd %float %float_1 %float_1
"""
FORK = "OpBranchConditional %c %end %rest"
CODE = {  # body -> merge instructions that are left
    "switch, a break by a branch of its own": (SWITCH.format(way=FORK), 1),
    "switch, a header that breaks": (
        SWITCH.format(way="OpSelectionMerge %rest None\n" + FORK), 2,
    ),
    "switch, known": (PLAIN, 0),
    "switch, empty, not known": (UNKNOWN, 1),
    "a phi of matrices": (MATRIX, 1),
    "a loop that returns at once": (LOOP.format(leave="OpReturn"), 1),
    "a loop that is left at once": (LOOP.format(leave="OpBranchConditional %c %end %again"), 1),
}  # fmt: skip


def merges(module: Module) -> int:
    found = (ops.OpSelectionMerge, ops.OpLoopMerge)
    return sum(i.op in found for f in module.functions for b in f.blocks for i in b.insts)


@pytest.mark.parametrize("name", CODE)
def test_what_must_stay_structured(name: str) -> None:
    body, left = CODE[name]
    module = load(HEAD + body + TAIL)
    assert validate_all([encode(module)], "vulkan1.0") == [None]
    branches.branches(module, module.functions[0])
    join.join(module, module.functions[0])
    assert validate_all([encode(module)], "vulkan1.0") == [None]
    assert merges(module) == left


GOES_ON = """OpBranch %header
%header = OpLabel
OpLoopMerge %end %again None
OpBranchConditional %c %body %end
%body = OpLabel
OpSelectionMerge %never None
OpSwitch %n %one 1 %two
%one = OpLabel
OpBranch {way}
%two = OpLabel
OpBranch %again
%never = OpLabel
OpUnreachable
%again = OpLabel
OpBranch %header
%end = OpLabel
%x = OpFAdd %float %float_1 %float_1
"""


@pytest.mark.parametrize(("way", "leaves"), [("%again", False), ("%end", True)])
def test_what_nothing_reaches_leaves_a_loop_that_others_leave(way: str, leaves: bool) -> None:
    """What only goes on with the loop is left as it is."""
    module = load(HEAD + GOES_ON.format(way=way) + TAIL)
    before = module.version
    flow.leave_loops(module, module.functions[0])
    assert validate_all([encode(module)], "vulkan1.0") == [None]
    assert (module.version != before) == leaves
    stubs = [b for b in module.functions[0].blocks if b.terminator.op == ops.OpUnreachable]
    assert len(stubs) == (not leaves)


LINES = """OpSelectionMerge %end None
OpBranchConditional %c %case %end
%case = OpLabel
OpBranch %end
%end = OpLabel
%y = OpPhi %float %float_1 %first %float_0 %case
OpLine %file 7 0
%x = OpPhi %float %float_0 %first %float_1 %case
"""


def test_phis_behind_a_line() -> None:
    head = HEAD.replace("OpDecorate", '%file = OpString "a.frag"\nOpDecorate', 1)
    module = load(head + LINES + TAIL)
    function = module.functions[0]
    first, case, end = function.blocks
    assert [i.op for i in end.insts[:3]] == [ops.OpPhi, ops.OpLine, ops.OpPhi]
    first.insts[-2:] = [branch(end)]
    flow_changed(module)
    flow.drop_unreachable(module, function)
    assert validate_all([encode(module)], "vulkan1.0") == [None]
    assert function.blocks == [first, end] and case not in end.insts[2].args


ORDER = """OpBranch %before
%before = OpLabel
OpSelectionMerge %never None
OpBranchConditional %c %left %right
%left = OpLabel
OpReturn
%right = OpLabel
OpReturn
%never = OpLabel
OpUnreachable
OpFunctionEnd
"""


def test_a_merge_block_that_nothing_reaches_waits_for_its_header() -> None:
    module = load(HEAD + ORDER)
    function = module.functions[0]
    first, before, left, right, never = function.blocks
    function.blocks = [first, left, never, before, right]
    flow_changed(module)
    flow.put_in_order(module, function)
    assert function.blocks == [first, before, left, never, right]
    assert validate_all([encode(module)], "vulkan1.0") == [None]
