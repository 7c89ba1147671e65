"""What ``tidy`` leaves of vectors that were taken apart, and which constructs do nothing."""

from __future__ import annotations

import pytest

from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.passes.cleaning import dce
from spvlink.passes.raising import tidy
from tests.support.case_loading import load
from tests.support.small_fragments import END, FORK, HEAD, OTHER, SINE

LANE = "%a = OpCompositeExtract %float %v 0\n"
MOVES = (ops.OpCompositeConstruct, ops.OpCompositeExtract, ops.OpVectorExtractDynamic)
NEW = {  # code, whose last move of components came after dead code elimination -> what tidy leaves
    "parts of a vector": (
        "%e = OpCompositeExtract %float %v 1\n%w = OpCompositeConstruct %vec2 %a %e\n"
        "%s = OpExtInst %vec2 %glsl Sin %w\n%b = OpDot %float %s %s\n",
        "%s = OpExtInst %vec2 %glsl Sin %v\n%b = OpDot %float %s %s\n",
    ),
    "of an old construct": (
        "%s = OpExtInst %float %glsl Sin %a\n%c = OpCompositeConstruct %pair %s %a\n"
        "%e = OpCompositeExtract %float %c 1\n%b = OpFAdd %float %e %e\n",
        "%a = OpCompositeExtract %float %v 0\n%b = OpFAdd %float %a %a\n",
    ),
    "of a vector and more, of which the last lives": (
        "%p = OpFAdd %vec2 %v %v\n%q = OpDot %float %p %p\n%s = OpExtInst %float %glsl Sin %a\n"
        "%c = OpCompositeConstruct %vec3 %p %s\n%t = OpFAdd %vec3 %c %c\n"
        "%y = OpCompositeExtract %float %t 2\n%b = OpFAdd %float %q %y\n",
        "%a = OpCompositeExtract %float %v 0\n"
        "%p = OpFAdd %vec2 %v %v\n%q = OpDot %float %p %p\n%s = OpExtInst %float %glsl Sin %a\n"
        "%c = OpCompositeConstruct %vec3 %p %s\n%t = OpFAdd %vec3 %c %c\n"
        "%y = OpCompositeExtract %float %t 2\n%b = OpFAdd %float %q %y\n",
    ),
    "a dead lane of an old construct": (
        "%s = OpExtInst %float %glsl Sin %a\n%n = OpFNegate %float %a\n"
        "%c = OpCompositeConstruct %vec2 %n %s\n%t = OpFAdd %vec2 %c %c\n"
        "%y = OpCompositeExtract %float %t 0\n"
        "%d = OpCompositeConstruct %vec2 %s %a\n%e = OpVectorExtractDynamic %float %d %int_1\n"
        "%b = OpFAdd %float %y %e\n",
        "%a = OpCompositeExtract %float %v 0\n%n = OpFNegate %float %a\n"
        "%c = OpCompositeConstruct %vec2 %n %float_1\n%t = OpFAdd %vec2 %c %c\n"
        "%y = OpCompositeExtract %float %t 0\n"
        "%b = OpFAdd %float %y %a\n",
    ),
    "equal to an old one": (
        "%s = OpExtInst %float %glsl Sin %a\n%c = OpCompositeConstruct %vec2 %s %a\n"
        "%d = OpCompositeConstruct %vec2 %s %a\n%e = OpFAdd %vec2 %c %d\n"
        "%b = OpDot %float %e %e\n",
        "%a = OpCompositeExtract %float %v 0\n%s = OpExtInst %float %glsl Sin %a\n"
        "%c = OpCompositeConstruct %vec2 %s %a\n%e = OpFAdd %vec2 %c %c\n"
        "%b = OpDot %float %e %e\n",
    ),
}  # fmt: skip


def shape(module: Module) -> list[tuple[int, list[int]]]:
    """The instructions of the code, and which of them are operands."""
    insts = module.functions[0].blocks[0].insts
    return [(i.op, [insts.index(a) for a in i.args if a in insts]) for i in insts]


@pytest.mark.parametrize("name", NEW)
def test_what_came_after_dead_code_elimination(name: str) -> None:
    code, left = NEW[name]
    module = load(HEAD + code + END)
    function = module.functions[0]
    held = dce.dce(module, function).live_lanes
    found = [i for i in function.blocks[0].insts if i.op in MOVES]
    found[-1].mark = 0
    tidy.tidy(module, function, held)
    expected = load(HEAD.replace(LANE, "") + left + END)
    assert shape(module) == shape(expected)


NONE_LEFT = FORK.replace("OpStore %o %a\n", "")
LOOP = """%c = OpFOrdGreaterThan %bool %a %float_1
OpBranch %header
%header = OpLabel
OpLoopMerge %end %again None
OpBranch %body
%body = OpLabel
{}
OpBranchConditional %c %again %end
%again = OpLabel
OpBranch %header
%end = OpLabel
{}"""
LEAVES = """OpSelectionMerge %more None
OpBranchConditional %c %yes %more
%yes = OpLabel
OpBranch %end
%more = OpLabel
OpStore %o %a"""
PLAIN = "%b = OpFAdd %float %a %a\n"
HOLLOW = {  # code, whether there is a construct that does nothing
    "no construct": (PLAIN, False),
    "a selection that computes": (NONE_LEFT.format(SINE) + PLAIN, True),
    "a selection that stores": (FORK.format("") + PLAIN, False),
    "a selection that stores on the other way": (
        OTHER.replace("OpStore %o %a\n", "").format("OpStore %o %a\n") + PLAIN, False,
    ),
    "a phi": (
        NONE_LEFT.format(SINE) + "%b = OpPhi %float %a %first %float_1 %yes\n", False,
    ),
    "a loop that computes": (LOOP.format(SINE, PLAIN), True),
    "a loop that gives": (LOOP.format(SINE, "%b = OpFAdd %float %s %s\n"), False),
    "a loop that stores": (LOOP.format("OpStore %o %a", PLAIN), False),
    "a selection that leaves a loop": (LOOP.format(LEAVES, PLAIN), False),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLLOW)
def test_constructs_that_do_nothing(name: str) -> None:
    code, hollow = HOLLOW[name]
    module = load(HEAD + code + END)
    assert tidy.hollow(module, module.functions[0]) == hollow
