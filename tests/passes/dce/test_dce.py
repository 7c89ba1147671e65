"""What ``dce`` and ``tidy`` say that they did, which nothing else tells (scripts/mutants found that
no other test asks)."""

from __future__ import annotations

import pytest

from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.passes.cleaning import dce
from spvlink.passes.raising import tidy
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %x %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %x Location 0
OpDecorate %o Location 0
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%vec3 = OpTypeVector %float 3
%pair = OpTypeStruct %float %float
%in = OpTypePointer Input %vec2
%out = OpTypePointer Output %float
%float_1 = OpConstant %float 1
%int = OpTypeInt 32 1
%int_1 = OpConstant %int 1
%x = OpVariable %in Input
%o = OpVariable %out Output
%main = OpFunction %void None %f
%first = OpLabel
%v = OpLoad %vec2 %x
%a = OpCompositeExtract %float %v 0
"""
END = "OpStore %o %b\nOpReturn\nOpFunctionEnd\n"
FORK = """%c = OpFOrdGreaterThan %bool %a %float_1
OpSelectionMerge %end None
OpBranchConditional %c %yes %end
%yes = OpLabel
OpStore %o %a
{}OpBranch %end
%end = OpLabel
"""
OTHER = FORK.replace("%c %yes %end", "%c %yes %no").replace(
    "{}OpBranch %end", "OpBranch %end\n%no = OpLabel\n{}OpBranch %end"
)
SINE = "%s = OpExtInst %float %glsl Sin %a\n"
CODE = {  # code -> version moved, trimmed, emptied, lanes that constructs hold
    "alive": ("%b = OpFAdd %float %a %a\n", (False, False, False, [])),
    "dead": (SINE + "%b = OpFAdd %float %a %a\n", (True, False, False, [])),
    "dead on one way": (
        FORK.format(SINE) + "%b = OpFAdd %float %a %a\n", (True, False, False, []),
    ),
    "all of one way": (
        OTHER.format(SINE) + "%b = OpFAdd %float %a %a\n", (True, False, True, []),
    ),
    "each lane": (
        "%w = OpCompositeConstruct %vec2 %a %a\n%y = OpCompositeExtract %float %w 0\n"
        "%z = OpCompositeExtract %float %w 1\n%b = OpFAdd %float %y %z\n",
        (False, False, False, []),
    ),
    "a lane": (
        SINE + "%n = OpFNegate %float %a\n%w = OpCompositeConstruct %vec2 %n %s\n"
        "%b = OpCompositeExtract %float %w 0\n",
        (True, False, False, [1]),
    ),
    "a lane of a construct of constants": (
        SINE + "%w = OpCompositeConstruct %vec2 %float_1 %s\n"
        "%b = OpCompositeExtract %float %w 0\n", (True, True, False, [1]),
    ),
    "a lane of a shuffle": (
        "%u = OpExtInst %vec2 %glsl Sin %v\n%w = OpVectorShuffle %vec2 %v %u 1 2\n"
        "%b = OpCompositeExtract %float %w 0\n", (True, True, False, []),
    ),
}  # fmt: skip


def lanes(module: Module, outcome: dce.DceOutcome) -> list[int]:
    assert all(i.op == ops.OpCompositeConstruct for i in outcome.held)
    return list(outcome.held.values())


@pytest.mark.parametrize("name", CODE)
def test_what_dead_code_elimination_says(name: str) -> None:
    code, told = CODE[name]
    module = load(HEAD + code + END)
    version = module.version
    done = dce.dce(module, module.functions[0])
    assert (module.version != version, done.trimmed, done.emptied, lanes(module, done)) == told
    version = module.version
    dce.dce(module, module.functions[0])
    assert module.version == version


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
    held = dce.dce(module, function).held
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
