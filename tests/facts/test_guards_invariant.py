"""What Invariant outputs, and what the rasterizer reads, depend on: ``facts/invariant.py`` asked
directly. In each shader one product is looked at."""

from __future__ import annotations

import pytest

from spvlink.facts import invariant
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from tests.support.case_loading import load

HEAD = """\
OpCapability Shader
OpCapability ClipDistance
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %a %n %block %plain %other
OpDecorate %a Location 0
OpDecorate %n Location 1
OpMemberDecorate %B 0 BuiltIn Position
OpMemberDecorate %B 1 BuiltIn PointSize
OpMemberDecorate %B 2 BuiltIn ClipDistance
OpDecorate %B Block
OpMemberDecorate %Buffer 0 Offset 0
OpDecorate %Buffer BufferBlock
OpMemberDecorate %Room 0 Offset 0
OpDecorate %Room Block
OpDecorate %one DescriptorSet 0
OpDecorate %one Binding 0
OpDecorate %two DescriptorSet 0
OpDecorate %two Binding 1
OpDecorate %plain Location 0
OpDecorate %other Location 1
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%v4float = OpTypeVector %float 4
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%int_2 = OpConstant %int 2
%float_0 = OpConstant %float 0
%floats = OpTypeArray %float %int_2
%B = OpTypeStruct %v4float %float %floats
%Buffer = OpTypeStruct %float
%buffer = OpTypePointer Uniform %Buffer
%buffer_float = OpTypePointer Uniform %float
%one = OpVariable %buffer Uniform
%two = OpVariable %buffer Uniform
%Room = OpTypeStruct %float
%room = OpTypePointer Workgroup %Room
%room_float = OpTypePointer Workgroup %float
%room_one = OpVariable %room Workgroup
%room_two = OpVariable %room Workgroup
%in = OpTypePointer Input %float
%in_int = OpTypePointer Input %int
%out = OpTypePointer Output %float
%out_v4 = OpTypePointer Output %v4float
%out_B = OpTypePointer Output %B
%private = OpTypePointer Private %float
%a = OpVariable %in Input
%n = OpVariable %in_int Input
%block = OpVariable %out_B Output
%plain = OpVariable %out Output
%other = OpVariable %out Output
%kept = OpVariable %private Private
%second = OpVariable %private Private
%taking = OpTypeFunction %float %float
{functions}
%main = OpFunction %void None %1
%first = OpLabel
%x = OpLoad %float %a
%k = OpLoad %int %n
%m = OpFMul %float %x %x
{body}
OpReturn
OpFunctionEnd
"""
TO_PLAIN = "OpStore %plain %m"
SIZE = "%p = OpAccessChain %out %block %int_1\nOpStore %p {0}"
VECTOR = "%v = OpCompositeConstruct %v4float %x %x %x {0}\n"
POSITION = VECTOR + "%p = OpAccessChain %out_v4 %block %int_0\nOpStore %p %v"
CLIP = "%p = OpAccessChain %out %block %int_2 {0}\nOpStore %p {1}"
WHOLE = (
    VECTOR + "%f = OpCompositeConstruct %floats %x %x\n"
    "%w = OpCompositeConstruct %B %v %x %f\nOpStore %block %w"
)
COND = "%c = OpFOrdLessThan %bool %m %float_0\n"
IF = COND + "OpSelectionMerge %end None\nOpBranchConditional %c %yes %end\n%yes = OpLabel\n"
END = "\nOpBranch %end\n%end = OpLabel"
CHOSEN = END + "\n%s = OpPhi %float %x %first %float_0 %yes\n"
MEMBER, PLAIN = "OpMemberDecorate %B 1 Invariant", "OpDecorate %plain Invariant"
FUNCTION = """%f = OpFunction %float None %taking
%y = OpFunctionParameter %float
%begin = OpLabel
OpReturnValue %y
OpFunctionEnd"""
STORING = FUNCTION.replace("OpReturnValue", "OpStore %plain %y\nOpReturnValue")
LOOP = """OpBranch %head
%head = OpLabel
%s = OpPhi %float %x %first %t %again
OpLoopMerge %end %again None
OpBranch %body
%body = OpLabel
%t = OpFAdd %float %s %x
{inner}
OpBranchConditional %c %end %again
%again = OpLabel
OpBranch %head
%end = OpLabel
"""
BY_PRODUCT = COND.rstrip()
BY_INDEX = "%c = OpSLessThan %bool %k %int_0"
NONE, SETTLED, FROZEN = range(3)
TO_BUFFER = """%ours = OpAccessChain %buffer_float %one %int_0
%theirs = OpAccessChain %buffer_float %two %int_0
OpStore %ours %m
"""
TO_ROOM = """%ours = OpAccessChain %room_float %room_one %int_0
%theirs = OpAccessChain %room_float %room_two %int_0
OpStore %ours %m
"""
CASES: dict[str, tuple[str, str, int]] = {  # decorations, body, how much the product must stay
    "plain": ("", TO_PLAIN, NONE),
    "Invariant": (PLAIN, TO_PLAIN, FROZEN),
    "another one is": ("OpDecorate %other Invariant", TO_PLAIN, NONE),
    "position": ("", POSITION.format("%m"), SETTLED),
    "point size": ("", SIZE.format("%m"), SETTLED),
    "clip distance": ("", CLIP.format("%int_0", "%m"), SETTLED),
    "an Invariant member": (MEMBER, SIZE.format("%m"), FROZEN),
    "another member": (MEMBER, POSITION.format("%m"), SETTLED),
    "the whole block": (MEMBER, WHOLE.format("%m"), FROZEN),
    "the whole block without": ("", WHOLE.format("%m"), SETTLED),
    "the index": (
        "", "%i = OpConvertFToS %int %m\n" + CLIP.format("%i", "%x"), SETTLED,
    ),
    "through memory": (
        PLAIN, "OpStore %kept %m\n%r = OpLoad %float %kept\nOpStore %plain %r", FROZEN,
    ),
    "through a copy of memory": (
        PLAIN,
        "OpStore %kept %m\nOpCopyMemory %second %kept\n%r = OpLoad %float %second\n"
        "OpStore %plain %r", FROZEN,
    ),
    "other memory": (
        PLAIN, "OpStore %kept %m\n%r = OpLoad %float %second\nOpStore %plain %r", NONE,
    ),
    "another buffer, with the same bytes perhaps": (
        PLAIN, f"{TO_BUFFER}%r = OpLoad %float %theirs\nOpStore %plain %r", FROZEN,
    ),
    "a cast that is no address": (
        PLAIN,
        f"{TO_BUFFER}%c = OpBitcast %int %x\n%d = OpConvertSToF %float %c\nOpStore %plain %d",
        NONE,
    ),
    "another block of the workgroup, at the same bytes": (
        PLAIN, f"{TO_ROOM}%r = OpLoad %float %theirs\nOpStore %plain %r", FROZEN,
    ),
    "a buffer that nobody reads": (PLAIN, f"{TO_BUFFER}OpStore %plain %x", NONE),
    "a condition of the store": (PLAIN, IF + "OpStore %plain %x" + END, FROZEN),
    "a condition of another store": (
        PLAIN, IF + "OpStore %other %x" + END + "\nOpStore %plain %x", NONE,
    ),
    "a condition of a store to memory": (
        PLAIN, IF + "OpStore %kept %x" + END + "\n%r = OpLoad %float %kept\nOpStore %plain %r",
        FROZEN,
    ),
    "what chose": (PLAIN, IF + CHOSEN.removeprefix("\n") + "OpStore %plain %s", FROZEN),
    "a way out before": (PLAIN, IF + "OpReturn\n%end = OpLabel\nOpStore %plain %x", FROZEN),
    "how often a loop runs": (PLAIN, LOOP.format(inner=BY_PRODUCT) + "OpStore %plain %s", FROZEN),
    "how often it stores": (PLAIN, LOOP.format(inner="OpStore %plain %s\n" + BY_PRODUCT), FROZEN),
    "another loop": (PLAIN, LOOP.format(inner=BY_INDEX) + "OpStore %plain %s", NONE),
    "a loop that it is not from": (
        PLAIN, LOOP.format(inner=BY_PRODUCT) + "OpStore %plain %x", NONE,
    ),
    "a copy into it": (PLAIN, "OpStore %kept %m\nOpCopyMemory %plain %kept", FROZEN),
    "what a callee stores": (PLAIN, "%r = OpFunctionCall %float %f %m", FROZEN),
    "what a call takes": (
        PLAIN, "%r = OpFunctionCall %float %f %m\nOpStore %plain %r", FROZEN,
    ),
}  # fmt: skip


def built(notes: str, body: str) -> Module:
    called = FUNCTION if "OpStore" in body else STORING
    functions = called if "OpFunctionCall" in body else ""
    return load(HEAD.format(notes=notes, body=body, functions=functions))


def product(module: Module) -> Inst:
    (found,) = [i for b in module.functions[-1].blocks for i in b.insts if i.op == ops.OpFMul]
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_must_stay_as_it_is(name: str) -> None:
    notes, body, level = CASES[name]
    module = built(notes, body)
    assert (product(module) in invariant.frozen(module)) == (level == FROZEN)
    assert (product(module) in invariant.settled(module)) == (level != NONE)


def test_what_the_next_stage_makes_positions_of_is_settled() -> None:
    module = built("", TO_PLAIN)
    variable = next(
        v for v in module.globals
        if v.op == ops.OpVariable and any(
            n.args[0] is v and n.imm == (enums.Decoration_Location, 0) for n in module.annotations
        ) and v.imm == (enums.StorageClass_Output,)
    )  # fmt: skip
    assert product(module) not in invariant.settled(module)
    invariant.hold(module, frozenset(), frozenset((variable,)))
    assert product(module) in invariant.settled(module)
    assert product(module) not in invariant.frozen(module)
    invariant.hold(module, frozenset(), frozenset())
    assert product(module) not in invariant.settled(module)
