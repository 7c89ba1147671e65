"""What ``inline`` must leave alone, refuse or get right in control flow that front ends hardly
write (scripts/mutants found that no other test has it)."""

from __future__ import annotations

import pytest

from spvlink.binary.encode import encode
from spvlink.errors import BadSpirv, Refused
from spvlink.grammar import ops
from spvlink.ir.check import check
from spvlink.ir.core import EntryPoint, Function, Module
from spvlink.passes.opening import inline
from spvlink.text import parse
from spvlink.validate import validate_all
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
OpCapability VariablePointersStorageBuffer
OpExtension "SPV_KHR_variable_pointers"
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %x %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %x Location 0
OpDecorate %o Location 0
OpDecorate %s DescriptorSet 0
OpDecorate %s Binding 0
OpDecorate %S Block
OpMemberDecorate %S 0 Offset 0
OpMemberDecorate %S 1 Offset 4
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%in = OpTypePointer Input %float
%out = OpTypePointer Output %float
%S = OpTypeStruct %float %float
%buffer = OpTypePointer StorageBuffer %S
%pointer = OpTypePointer StorageBuffer %float
%local = OpTypePointer Function %pointer
%g = OpTypeFunction %float %float
%h = OpTypeFunction %void %float
%p = OpTypeFunction %pointer %float
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%float_0 = OpConstant %float 0
%float_1 = OpConstant %float 1
%float_2 = OpConstant %float 2
%x = OpVariable %in Input
%o = OpVariable %out Output
%s = OpVariable %buffer StorageBuffer
%main = OpFunction %void None %f
%first = OpLabel
%v = OpLoad %float %x
%c = OpFOrdGreaterThan %bool %v %float_1
"""
END = "OpReturn\nOpFunctionEnd\n"
CALLEE = "%callee = OpFunction %float None %g\n%a = OpFunctionParameter %float\n%in1 = OpLabel\n"
STRAIGHT = CALLEE + "%r = OpFAdd %float %a %a\nOpReturnValue %r\n"
TEST = """%d = OpFOrdGreaterThan %bool %a %float_2
OpSelectionMerge %in3 None
OpBranchConditional %d %in2 %in3
%in2 = OpLabel
{}
%in3 = OpLabel
OpReturnValue %a
"""
PLAIN = CALLEE + TEST.format("OpBranch %in3")
EARLY = CALLEE + TEST.format("OpReturnValue %float_1")
KILLS = CALLEE + TEST.format("OpKill")
POINTER = "%k0 = OpAccessChain %pointer %s %int_0\n"
ONE_POINTER = CALLEE.replace("%float None %g", "%pointer None %p") + POINTER + "OpReturnValue %k0\n"
RETURNS = "OpReturnValue %float_1"
LEFT = "OpBranchConditional %d %l6 %l5"


def looped(behind: str, inside: str = "", returns: str = RETURNS, end: str = LEFT) -> str:
    """A callee that returns in a loop; what comes after that in the loop, and behind it."""
    return f"""{CALLEE}OpBranch %l1
%l1 = OpLabel
OpLoopMerge %l6 %l5 None
OpBranch %l2
%l2 = OpLabel
%d = OpFOrdGreaterThan %bool %a %float_2
OpSelectionMerge %l4 None
OpBranchConditional %d %l3 %l4
%l3 = OpLabel
{returns}
%l4 = OpLabel
{inside}
{end}
%l5 = OpLabel
OpBranch %l1
%l6 = OpLabel
{behind}
"""


CALL = "%w = OpFunctionCall %float %callee %v\nOpStore %o %w\n"
POINTER_CALL = "%k = OpFunctionCall %pointer %callee %v\n%w = OpLoad %float %k\nOpStore %o %w\n"
LOOP = """OpBranch %header
%header = OpLabel
OpLoopMerge %end %again None
OpBranch %body
%body = OpLabel
{}
%again = OpLabel
OpBranch %last
%last = OpLabel
{}OpBranch %header
%end = OpLabel
"""
SECOND = LOOP.format("OpBranchConditional %c %again %end", CALL)
NEVER_AGAIN = LOOP.format(CALL + "OpBranch %end", "")
TWO_PHIS = """OpSelectionMerge %n2 None
OpBranchConditional %d %n1 %n2
%n1 = OpLabel
OpBranch %n2
%n2 = OpLabel
%q1 = OpPhi %float %a %l4 %float_0 %n1
%q2 = OpPhi %float %float_2 %l4 %a %n1"""
SUM = "%q = OpFAdd %float %q1 %q2\nOpReturnValue %q"
CODE = {  # main, callee, calls that are left
    "straight": (CALL, STRAIGHT, 0),
    "early": (CALL, EARLY, 0),
    "a pointer": (POINTER_CALL, ONE_POINTER, 0),
    "again, straight": (SECOND, STRAIGHT, 0),
    "again, blocks": (SECOND, PLAIN, 0),
    "again, early": (SECOND, EARLY, 1),
    "again, ends": (SECOND, KILLS, 1),
    "never again, early": (NEVER_AGAIN, EARLY, 0),
    "never again, ends": (NEVER_AGAIN, KILLS, 0),
    "void": (
        "%w = OpFunctionCall %void %callee %v\n",
        looped("OpReturn", returns="OpReturn").replace("%float None %g", "%void None %h"), 0,
    ),
    "a phi where the loop ends": (
        CALL, looped("%q = OpPhi %float %a %l4\nOpReturnValue %q"), 0,
    ),
    "phis used behind": (CALL, looped(SUM, TWO_PHIS), 0),
    "a phi of what does not come again": (
        CALL,
        looped("OpReturnValue %i", end="OpBranch %l6").replace(
            "OpLoopMerge", "%i = OpPhi %float %a %in1 %i %l5\nOpLoopMerge"
        ), 0,
    ),
}  # fmt: skip
HEADER = """OpBranch %header
%header = OpLabel
%w = OpFunctionCall %float %callee %v
OpStore %o %w
OpLoopMerge %end %again None
OpBranchConditional %c %one %two
%one = OpLabel
OpBranch %end
%two = OpLabel
OpBranch %again
%again = OpLabel
OpBranch %header
%end = OpLabel
"""
NEXT_LOOP = """OpLoopMerge %m8 %m7 None
OpBranch %m7
%m7 = OpLabel
OpBranchConditional %d %l6 %m8
%m8 = OpLabel
OpReturnValue %a"""
AROUND = (
    looped("OpBranchConditional %d %l0 %l7\n%l7 = OpLabel\nOpReturnValue %a").replace(
        "OpBranch %l1\n", "OpBranch %l0\n%l0 = OpLabel\nOpLoopMerge %l7 %l6 None\nOpBranch %l1\n", 1
    )
)  # fmt: skip
LOST = "a return leaves a loop whose pointers are used behind it"
LOADED = "%q = OpLoad %float %k\nOpReturnValue %q"
REFUSED = {
    "a fork in a header": (
        HEADER, EARLY, "a call in a loop header whose branch does not leave the loop",
    ),
    "the next loop": (
        CALL, looped(NEXT_LOOP), "a loop ends where another one begins, with a return inside",
    ),
    "the continue target": (
        CALL, AROUND, "a loop ends where another one continues, with a return inside",
    ),
    "a pointer that was chosen": (
        CALL,
        looped(
            LOADED,
            POINTER + "%k1 = OpAccessChain %pointer %s %int_1\n%k = OpSelect %pointer %d %k0 %k1",
        ),
        LOST,
    ),
    "a pointer that was loaded": (
        CALL,
        looped(LOADED, POINTER + "OpStore %held %k0\n%k = OpLoad %pointer %held").replace(
            "OpBranch %l1", "%held = OpVariable %local Function\nOpBranch %l1", 1
        ),
        LOST,
    ),
}  # fmt: skip


def calls(module: Module) -> int:
    found = [i.op for f in module.functions for b in f.blocks for i in b.insts]
    return found.count(ops.OpFunctionCall)


def unchecked(text: str) -> Module:
    """Of what our verifier, or only a newer spirv-val, refuses."""
    module = parse(text)
    inst = module.sections[4][0]
    assert isinstance(inst.args[0], Function)
    module.entry = EntryPoint(inst, "main", inst.args[0])
    return module


@pytest.mark.parametrize("name", CODE)
def test_what_is_inlined(name: str) -> None:
    main, callee, left = CODE[name]
    module = load(HEAD + main + END + callee + "OpFunctionEnd\n")
    assert validate_all([encode(module)], "vulkan1.0") == [None]
    inline.inline(module)
    check(module)
    assert validate_all([encode(module)], "vulkan1.0") == [None]
    assert calls(module) == left


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    main, callee, message = REFUSED[name]
    module = unchecked(HEAD + main + END + callee + "OpFunctionEnd\n")
    with pytest.raises(Refused) as told:
        inline.inline(module)
    assert str(told.value) == message


def test_what_has_no_body_stays() -> None:
    head = HEAD.replace("OpCapability Shader\n", "OpCapability Shader\nOpCapability Linkage\n")
    head = head.replace(
        "OpDecorate %x", 'OpDecorate %callee LinkageAttributes "f" Import\n' + "OpDecorate %x", 1
    )
    declared = "\n".join(CALLEE.split("\n")[:2]) + "\nOpFunctionEnd\n"
    at = head.index("%main = OpFunction")
    module = load(head[:at] + declared + head[at:] + CALL + END)
    inline.inline(module)
    check(module)
    assert calls(module) == 1


def test_a_call_with_an_argument_too_many_stays() -> None:
    """It is not valid; who looks at what goes out says so."""
    module = unchecked(HEAD + CALL.replace("%v", "%v %v") + END + STRAIGHT + "OpFunctionEnd\n")
    inline.inline(module)
    assert calls(module) == 1


def function(name: str, *code: str) -> str:
    """One that adds up what it is given, or what the last call of its code gave."""
    head = CALLEE.replace("%callee", name).replace("%in1", f"{name}_").replace("%a ", f"{name}a ")
    body = "".join(line + "\n" for line in code)
    last = f"{name}{len(code)}" if code else f"{name}a"
    return f"{head}{body}OpReturnValue {last}\nOpFunctionEnd\n"


def call(name: str, at: int, callee: str) -> str:
    return f"{name}{at} = OpFunctionCall %float {callee} {name}a"


def test_functions_that_call_the_next_one_twice() -> None:
    """The code doubles with each: refused before a single copy is made."""
    text = HEAD + CALL.replace("%callee", "%n0x") + END + function("%n40x")
    for at in range(40):
        own, after = f"%n{at}x", f"%n{at + 1}x"
        text += function(own, call(own, 1, after), call(own, 2, after))
    module = load(text)
    with pytest.raises(Refused, match="inlining would make"):
        inline.inline(module)


@pytest.mark.parametrize("callee", ["%callee", "%other"])
def test_what_calls_itself(callee: str) -> None:
    text = HEAD + CALL + END
    for name, called in ("%callee", callee), ("%other", "%callee"):
        text += function(name, call(name, 1, called))
    with pytest.raises(BadSpirv, match="a function calls itself"):
        inline.inline(unchecked(text))
