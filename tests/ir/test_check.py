"""Our verifier: valid modules pass, each planted defect is named."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.errors import BadSpirv, Broken
from spvlink.grammar import ops
from spvlink.ir.check import check, instructions
from spvlink.ir.core import COPY, PROCESSED, STORE_OUTPUT, Inst, Module
from spvlink.ir.edit import become, sweep
from spvlink.text import parse, print_module
from tests.support.samples import FRAGMENT, compile_glsl, pair, pipelines

BASE = """\
; Version: 1.3
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %in %out
OpExecutionMode %main OriginUpperLeft
OpName %main "main"
OpDecorate %in Location 0
OpDecorate %out Location 0
OpMemberDecorate %pair 1 RelaxedPrecision
%void = OpTypeVoid
%main_type = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%v2 = OpTypeVector %float 2
%v3 = OpTypeVector %float 3
%v4 = OpTypeVector %float 4
%mat3 = OpTypeMatrix %v3 3
%four = OpConstant %uint 4
%array = OpTypeArray %float %four
%pair = OpTypeStruct %v4 %array
%in_pointer = OpTypePointer Input %v4
%out_pointer = OpTypePointer Output %v4
%float_pointer = OpTypePointer Function %float
%pair_pointer = OpTypePointer Function %pair
%in = OpVariable %in_pointer Input
%out = OpVariable %out_pointer Output
%helper_type = OpTypeFunction %float %float %int
%zero = OpConstant %int 0
%one = OpConstant %int 1
%ten = OpConstant %int 10
%half = OpConstant %float 0.5
%yes = OpConstantTrue %bool
%column = OpConstantComposite %v3 %half %half %half
%matrix = OpConstantComposite %mat3 %column %column %column

%main = OpFunction %void None %main_type
%entry = OpLabel
  %local = OpVariable %pair_pointer Function
  %colour = OpLoad %v4 %in
  %x = OpCompositeExtract %float %colour 0
  %spot = OpAccessChain %float_pointer %local %one %zero
  OpStore %spot %x
  %small = OpFOrdLessThan %bool %x %half
  OpSelectionMerge %joined None
  OpBranchConditional %small %then %else
%then = OpLabel
  %twice = OpFAdd %float %x %x
  OpBranch %joined
%else = OpLabel
  %called = OpFunctionCall %float %helper %x %one
  OpBranch %joined
%joined = OpLabel
  %value = OpPhi %float %twice %then %called %else
  OpBranch %loop
%loop = OpLabel
  %index = OpPhi %int %zero %joined %next %again
  OpLoopMerge %done %again None
  OpBranch %test
%test = OpLabel
  %more = OpSLessThan %bool %index %ten
  OpBranchConditional %more %body %done
%body = OpLabel
  OpSelectionMerge %picked None
  OpSwitch %index %picked 1 %case 7 %last
%case = OpLabel
  OpBranch %picked
%last = OpLabel
  OpBranch %done
%picked = OpLabel
  OpBranch %again
%again = OpLabel
  %next = OpIAdd %int %index %one
  OpBranch %loop
%done = OpLabel
  %xyz = OpVectorShuffle %v3 %colour %colour 0 1 6
  %turned = OpMatrixTimesVector %v3 %matrix %xyz
  %sine = OpExtInst %v3 %glsl Sin %turned
  %length = OpDot %float %sine %turned
  %chosen = OpSelect %float %small %length %value
  %bits = OpBitcast %uint %chosen
  %shifted = OpShiftLeftLogical %uint %bits %one
  %number = OpConvertUToF %float %shifted
  %result = OpCompositeConstruct %v4 %sine %number
  %scaled = OpVectorTimesScalar %v4 %result %half
  %patched = OpCompositeInsert %v4 %half %scaled 3
  OpStore %out %patched
  OpReturn
OpFunctionEnd

%helper = OpFunction %float None %helper_type
%parameter = OpFunctionParameter %float
%count = OpFunctionParameter %int
%start = OpLabel
  %early = OpSGreaterThan %bool %count %ten
  OpSelectionMerge %rest None
  OpBranchConditional %early %leave %rest
%leave = OpLabel
  OpReturnValue %half
%rest = OpLabel
  %negated = OpFNegate %float %parameter
  OpReturnValue %negated
OpFunctionEnd
"""

# (what to replace, by what, part of the message); checked as a module between passes
DEFECTS = [
    # ids, operands, arity
    (
        "%then = OpLabel\n  %twice",
        "%then = OpLabel\n  OpBranch %joined\n%gone = OpLabel\n  %twice",
        "predecessors",
    ),
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %float %x %next", "does not dominate"),
    (
        "%x = OpCompositeExtract %float %colour 0",
        "%x = OpCompositeExtract %float %result 0",
        "dominate",
    ),
    (
        "%value = OpPhi %float %twice %then %called %else",
        "%value = OpPhi %float %called %then %twice %else",
        "does not dominate the end",
    ),
    (
        "%turned = OpMatrixTimesVector %v3 %matrix %xyz\n",
        "%turned = OpMatrixTimesVector %v3 %matrix %sine\n",
        "used before it is defined",
    ),
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %float %x %parameter", "another function"),
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %float %x %else", "is a block"),
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %float %x %helper", "is a function"),
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %float %x %float", "is not a value"),
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %half %x %x", "is not a type"),
    (
        "%twice = OpFAdd %float %x %x\n  OpBranch %joined\n",
        "%twice = OpFAdd %float %x %x\n  OpBranch %joined\n"
        "%lost = OpLabel\n  %strange = OpFNegate %float %called\n  OpUnreachable\n",
        "before it is defined",
    ),
    # module scope
    ("OpMemoryModel Logical GLSL450\n", "", "one OpMemoryModel"),
    (
        'OpEntryPoint Fragment %main "main" %in %out\nOpExecutionMode %main OriginUpperLeft\n',
        "",
        "no entry point",
    ),
    (
        'OpEntryPoint Fragment %main "main" %in',
        'OpEntryPoint Fragment %void "main" %in',
        "not a function",
    ),
    (
        'OpEntryPoint Fragment %main "main" %in',
        'OpEntryPoint Fragment %helper "main" %in',
        "parameters",
    ),
    ('"main" %in %out', '"main" %in %v4', "is not a variable"),
    ('"main" %in %out', '"main" %in %local', "not at module scope"),
    ("OpExecutionMode %main", "OpExecutionMode %helper", "not an entry point"),
    ("OpMemberDecorate %pair 1", "OpMemberDecorate %pair 2", "has no member 2"),
    (
        "%v2 = OpTypeVector %float 2\n",
        "%v2 = OpTypeVector %late 2\n%late = OpTypeFloat 64\n",
        "before it is defined",
    ),
    ("%v2 = OpTypeVector %float 2", "%v2 = OpTypeVector %mat3 2", "before it is defined"),
    ("%mat3 = OpTypeMatrix %v3 3", "%mat3 = OpTypeMatrix %float 3", "columns are not vectors"),
    ("%mat3 = OpTypeMatrix %v3 3", "%mat3 = OpTypeMatrix %v3 5", "5 columns"),
    ("%v2 = OpTypeVector %float 2", "%v2 = OpTypeVector %float 1", "1 components"),
    ("%v2 = OpTypeVector %float 2", "%v2 = OpTypeVector %bool 1", "1 components"),
    ("%bool = OpTypeBool", "%bool = OpTypeBool\n%odd = OpTypeInt 24 0", "24 bits"),
    ("%array = OpTypeArray %float %four", "%array = OpTypeArray %four %four", "not a type"),
    ("%array = OpTypeArray %float %four", "%array = OpTypeArray %float %float", "length"),
    (
        "%pair = OpTypeStruct %v4 %array",
        "%pair = OpTypeStruct %v4 %array %pair",
        "before it is defined",
    ),
    ("%in = OpVariable %in_pointer Input", "%in = OpVariable %in_pointer Output", "storage class"),
    ("%in = OpVariable %in_pointer Input", "%in = OpVariable %v4 Input", "not a pointer"),
    (
        "%one = OpConstant %int 1",
        "%one = OpConstant %int 1\n%sum = OpFAdd %float %half %half",
        "module scope",
    ),
    (
        "%column = OpConstantComposite %v3 %half %half %half",
        "%column = OpConstantComposite %v3 %half %half",
        "2 parts for 3",
    ),
    (
        "%column = OpConstantComposite %v3 %half %half %half",
        "%column = OpConstantComposite %v3 %half %half %one",
        "not float32",
    ),
    ("%yes = OpConstantTrue %bool", "%yes = OpConstantTrue %int", "another type"),
    # functions and calls
    (
        "%helper = OpFunction %float None %helper_type",
        "%helper = OpFunction %float None %main_type",
        "function type",
    ),
    (
        "%helper = OpFunction %float None %helper_type",
        "%helper = OpFunction %float None %float",
        "function type",
    ),
    (
        "%helper_type = OpTypeFunction %float %float %int",
        "%helper_type = OpTypeFunction %float %float %int %int",
        "2 parameters",
    ),
    (
        "%count = OpFunctionParameter %int\n",
        "%count = OpFunctionParameter %uint\n",
        "the parameter is not int32",
    ),
    ("%helper %x %one", "%helper %x", "1 arguments for 2"),
    ("%helper %x %one", "%helper %one %x", "not float32"),
    ("%helper %x %one", "%colour %x %one", "not a function"),
    (
        "%called = OpFunctionCall %float %helper",
        "%called = OpFunctionCall %v2 %helper",
        "returns float32",
    ),
    ("  OpReturnValue %negated", "  OpReturn", "returns nothing"),
    ("  OpReturnValue %negated", "  OpReturnValue %count", "returns int32"),
    (
        "%negated = OpFNegate %float %parameter",
        "%negated = OpFunctionCall %float %helper %half %one",
        "by itself",
    ),
    # blocks
    ("  OpBranch %joined\n%else", "  OpKill\n%else", "predecessors"),
    (
        "%joined = OpLabel\n",
        "%joined = OpLabel\n  OpNop\n",
        "after an instruction that is no OpPhi",
    ),
    ("%twice %then %called %else", "%twice %then %called %entry", "predecessors"),
    ("%twice %then %called %else", "%twice %then", "predecessors"),
    ("%twice %then %called %else", "%twice %then %twice %then %called %else", "predecessors"),
    ("%twice %then %called %else", "%one %then %called %else", "is int32"),
    ("%twice %then %called %else", "%twice %then %called %start", "no block of this function"),
    (
        "  OpSelectionMerge %joined None\n",
        "  OpSelectionMerge %joined None\n  OpNop\n",
        "just before the terminator",
    ),
    ("  OpBranch %test", "  OpReturn", "before OpReturn"),
    ("  OpBranch %loop\n%loop", "  OpBranch %start\n%loop", "no block of this function"),
    ("  OpBranch %again\n", "  OpBranch %entry\n", "branch to the entry block"),
    (
        "%then = OpLabel\n",
        "%then = OpLabel\n  %stray = OpVariable %float_pointer Function\n",
        "entry block",
    ),
    ("%then = OpLabel\n", "%then = OpLabel\n  %stray = OpTypeFloat 64\n", "inside a block"),
    # structure
    ("  OpSelectionMerge %joined None\n", "", "without a merge"),
    ("  OpSelectionMerge %picked None\n", "", "OpSwitch without"),
    ("  OpSelectionMerge %joined None\n", "  OpSelectionMerge %entry None\n", "own merge block"),
    ("  OpSelectionMerge %picked None\n", "  OpSelectionMerge %done None\n", "merge block already"),
    (
        "  OpLoopMerge %done %again None\n",
        "  OpLoopMerge %again %again None\n",
        "continue target too",
    ),
    (
        "  OpLoopMerge %done %again None\n",
        "  OpLoopMerge %done %case None\n",
        "outside the continue",
    ),
    ("  OpLoopMerge %done %again None\n", "", "no loop header"),
    (
        "%last = OpLabel\n  OpBranch %done\n",
        "%last = OpLabel\n  OpBranch %test\n",
        "no loop header",
    ),
    ("%last = OpLabel\n  OpBranch %done\n", "%last = OpLabel\n  OpBranch %loop\n", "predecessors"),
    (
        "  OpSelectionMerge %joined None\n",
        "  OpSelectionMerge %test None\n",
        "leaves the construct",
    ),
    # operand types
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %float %x %one", "operand %"),
    ("%twice = OpFAdd %float %x %x", "%twice = OpFAdd %v2 %x %x", "not float32 x 2"),
    ("%next = OpIAdd %int %index %one", "%next = OpIAdd %int %index %half", "not int32"),
    (
        "%more = OpSLessThan %bool %index %ten",
        "%more = OpSLessThan %bool %index %half",
        "comparison",
    ),
    (
        "%small = OpFOrdLessThan %bool %x %half",
        "%small = OpFOrdLessThan %float %x %half",
        "not boolean",
    ),
    ("OpBranchConditional %small", "OpBranchConditional %x", "not a boolean"),
    (
        "OpSwitch %index %picked 1 %case 7 %last",
        "OpSwitch %index %picked 1 %case 7 %start",
        "no block",
    ),
    ("%colour = OpLoad %v4 %in", "%colour = OpLoad %v4 %column", "a pointer to"),
    ("%colour = OpLoad %v4 %in", "%colour = OpLoad %v3 %in", "a pointer to"),
    ("OpStore %spot %x", "OpStore %spot %one", "not float32"),
    ("OpStore %spot %x", "OpStore %x %x", "not a pointer"),
    ("%local %one %zero", "%local %one", "the chain ends at"),
    ("%local %one %zero", "%local %ten %zero", "names no member"),
    ("%local %one %zero", "%local %one %zero %zero", "goes into"),
    ("%local %one %zero", "%local %one %half", "not an integer"),
    ("%spot = OpAccessChain %float_pointer", "%spot = OpAccessChain %float", "not a pointer"),
    ("%float %colour 0", "%float %colour 4", "no component 4"),
    ("%float %colour 0", "%v3 %colour 0", "the part is"),
    ("%half %scaled 3", "%one %scaled 3", "the part is"),
    ("%colour %colour 0 1 6", "%colour %colour 0 1 8", "component 8"),
    ("%colour %colour 0 1 6", "%colour %colour 0 1", "2 components for"),
    ("%v4 %sine %number", "%v4 %sine", "3 components for"),
    ("%v4 %sine %number", "%v4 %sine %one", "made of float32"),
    ("%v3 %matrix %xyz", "%v3 %matrix %colour", "times"),
    ("%float %sine %turned", "%float %sine %colour", "a vector like"),
    ("%float %small %length %value", "%float %small %length %one", "not float32"),
    ("%float %small %length %value", "%float %x %length %value", "matching boolean"),
    ("%bits = OpBitcast %uint %chosen", "%bits = OpBitcast %uint %colour", "as many bits"),
    (
        "%number = OpConvertUToF %float %shifted",
        "%number = OpConvertUToF %float %chosen",
        "converts to",
    ),
    ("%v3 %glsl Sin %turned", "%v3 %glsl Sin %half", "not float32 x 3"),
]


def test_the_base_is_valid(tmp_path: Path) -> None:
    module = parse(BASE)
    check(module, input=True, final=True)
    path = tmp_path / "base.spv"
    path.write_bytes(encode(module))
    done = subprocess.run(
        ["spirv-val", "--target-env", "vulkan1.1", path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("old", "new", "message"), DEFECTS)
def test_planted_defects(old: str, new: str, message: str, tmp_path: Path) -> None:
    """Each is rejected with a fitting message, and spirv-val rejects it too: none of our rules is
    invented.
    """
    assert BASE.count(old) == 1
    module = parse(BASE.replace(old, new))
    with pytest.raises(Broken) as caught:
        check(module)
    assert message in caught.value.message
    assert "\n" not in caught.value.message
    with pytest.raises(BadSpirv) as place:
        check(module, input=True)
    assert message in place.value.message
    path = tmp_path / "defect.spv"
    path.write_bytes(encode(module))
    done = subprocess.run(["spirv-val", "--target-env", "vulkan1.1", path], capture_output=True)
    assert done.returncode != 0


def test_place_of_a_defect() -> None:
    module = parse(BASE.replace("OpStore %spot %x", "OpStore %spot %one"))
    with pytest.raises(BadSpirv) as caught:
        check(decode(encode(module)), input=True)
    data = encode(module)
    word = caught.value.word
    assert word is not None
    assert int.from_bytes(data[word * 4 : word * 4 + 2], "little") == ops.OpStore
    at, number = 5, 0
    while at < word:
        at += int.from_bytes(data[at * 4 + 2 : at * 4 + 4], "little")
        number += 1
    assert (at, number) == (word, caught.value.instruction)


# Defects that no text or binary has: a pass left the graph in a bad state.


def body(module: Module) -> list[Inst]:
    return module.functions[0].blocks[0].insts


def broken(module: Module, message: str) -> None:
    with pytest.raises(Broken, match=message):
        check(module)


def test_operand_that_is_nowhere() -> None:
    module = parse(BASE)
    add = module.functions[0].blocks[1].insts[0]
    add.args[0] = Inst(ops.OpFAdd, add.type, list(add.args), (), module.new_id())
    broken(module, "is not in the module")


def test_removed_definition() -> None:
    module = parse(BASE)
    del body(module)[1]
    broken(module, "is not in the module")


def test_id_twice_and_above_the_bound() -> None:
    module = parse(BASE)
    body(module)[1].id = body(module)[2].id
    broken(module, "defined twice")
    module = parse(BASE)
    body(module)[1].id = module.bound
    broken(module, "below the bound")
    module = parse(BASE)
    body(module)[1].id = 0
    broken(module, "result id is missing")


def test_instruction_at_two_places() -> None:
    module = parse(BASE)
    block = module.functions[0].blocks[-1]
    block.insts.insert(-1, block.insts[-2])
    broken(module, "two places")


def test_arity() -> None:
    for args, message in (([0], "1 ids"), ([0, 0, 0], "3 ids")):
        module = parse(BASE)
        add = module.functions[0].blocks[1].insts[0]
        add.args = [add.args[0] for _ in args]
        broken(module, message)
    module = parse(BASE)
    module.functions[0].blocks[1].insts[0].imm = (1,)
    broken(module, "1 literal words")


def test_terminators() -> None:
    module = parse(BASE)
    del body(module)[-2:]
    broken(module, "no terminator")
    module = parse(BASE)
    body(module).insert(-2, Inst(ops.OpReturn, None, [], ()))
    broken(module, "terminator inside a block")
    module = parse(BASE)
    module.functions[0].blocks[1].insts.clear()
    broken(module, "no terminator")


def test_order_of_blocks() -> None:
    module = parse(BASE)
    blocks = module.functions[0].blocks
    blocks[3], blocks[4] = blocks[4], blocks[3]
    broken(module, "stands before")


def test_dropped_block() -> None:
    module = parse(BASE)
    del module.functions[0].blocks[1]
    broken(module, "no block of this function")


def test_wrong_section() -> None:
    module = parse(BASE)
    module.sections[PROCESSED].append(module.annotations.pop())
    broken(module, "wrong section")


def test_name_of_what_is_gone() -> None:
    module = parse(BASE)
    module.names[0] = Inst(ops.OpTypeVoid, None, [], (), 3), module.names[0][1]
    check(module)  # between passes that is how it is
    with pytest.raises(Broken, match="not in the module"):
        check(module, final=True)


def test_private_opcodes_between_passes_only() -> None:
    module = parse(BASE)
    add = module.functions[0].blocks[1].insts[0]
    become(module, add, add.args[0])
    check(module)
    with pytest.raises(Broken, match="private opcode"):
        check(module, final=True)
    sweep(module, module.functions[0])
    check(module, final=True)
    body(module).insert(-2, Inst(STORE_OUTPUT, None, [], (0,)))
    broken(module, "STORE_OUTPUT: 0 ids")
    body(module)[-3] = Inst(COPY + 99, None, [], ())
    broken(module, "private opcode that nobody knows")


@pytest.mark.parametrize("environment", ["vulkan1.0", "spirv1.4", "vulkan1.3"])
def test_accepts_compiled_shaders(environment: str) -> None:
    for data in pair(environment):
        check(decode(data), input=True)
    check(decode(compile_glsl(FRAGMENT, "frag", environment, debug=True)), input=True)


def test_accepts_own_pipelines() -> None:
    found = pipelines()
    assert found
    for data in found.values():
        check(decode(data), input=True)


@pytest.mark.parametrize("seed", range(3))
def test_a_ruined_graph_is_broken_and_no_more(seed: int) -> None:
    """Operands swapped, dropped, added, retyped at random: Broken or nothing is raised."""
    rng = random.Random(seed)
    rejected = 0
    for _ in range(100):
        module = decode(rng.choice(pair()))
        every = [i for i in instructions(module) if i is not None]
        for _ in range(rng.choice((1, 1, 3))):
            ruin(rng.choice(every), every, rng)
        try:
            check(module)
        except Broken:
            rejected += 1
        assert print_module(module)
        assert print_module(module, friendly=True)
    assert 50 < rejected < 100


def ruin(inst: Inst, every: list[Inst], rng: random.Random) -> None:
    how = rng.randrange(7)
    if how == 0:
        inst.args.append(rng.choice(every))
    elif how == 1:
        inst.type = rng.choice([*every, None])
    elif how == 2:
        inst.op = rng.choice(every).op
    elif how == 3 and inst.imm:
        at = rng.randrange(len(inst.imm))
        word = rng.choice((0, 1, 2, 33, 0xFFFFFFFF))
        inst.imm = (*inst.imm[:at], word, *inst.imm[at + 1 :])
    elif how == 4 and inst.imm:
        inst.imm = inst.imm[:-1]
    elif how == 5 and inst.args:
        inst.args.pop()
    elif inst.args:
        inst.args[rng.randrange(len(inst.args))] = rng.choice(every)


ACCEPTED = {
    "unreachable block that nothing dominates": (
        "%joined = OpLabel\n",
        "%lost = OpLabel\n  %strange = OpFAdd %float %called %called\n  OpUnreachable\n"
        "%joined = OpLabel\n",
    ),
    "both targets the same": (
        "  OpSelectionMerge %joined None\n  OpBranchConditional %small %then %else\n%then",
        "  OpSelectionMerge %pre None\n  OpBranchConditional %small %pre %pre\n%pre = OpLabel\n"
        "  OpSelectionMerge %joined None\n  OpBranchConditional %small %then %else\n%then",
    ),
    "lines before phis": (
        "%joined = OpLabel\n",
        "%joined = OpLabel\n  OpNoLine\n",
    ),
    "a case falls through": (
        "%case = OpLabel\n  OpBranch %picked\n",
        "%case = OpLabel\n  OpBranch %last\n",
    ),
    "continue from inside the switch": (
        "%case = OpLabel\n  OpBranch %picked\n",
        "%case = OpLabel\n  OpBranch %again\n",
    ),
    "discard in a case": ("%case = OpLabel\n  OpBranch %picked\n", "%case = OpLabel\n  OpKill\n"),
    "undefined component": ("%colour %colour 0 1 6", "%colour %colour 0 1 4294967295"),
    "signedness of a shift": (
        "%shifted = OpShiftLeftLogical %uint %bits %one",
        "%shifted = OpShiftLeftLogical %uint %bits %four",
    ),
    "mixed signedness": ("%next = OpIAdd %int %index %one", "%next = OpIAdd %int %index %four"),
    "unused float type": ("%bool = OpTypeBool\n", "%bool = OpTypeBool\n%odd = OpTypeSampler\n"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepts_what_spirv_val_accepts(name: str, tmp_path: Path) -> None:
    old, new = ACCEPTED[name]
    assert BASE.count(old) == 1
    module = parse(BASE.replace(old, new))
    path = tmp_path / "accepted.spv"
    path.write_bytes(encode(module))
    done = subprocess.run(
        ["spirv-val", "--target-env", "vulkan1.1", path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    check(decode(encode(module)), input=True)


def ladder(depth: int) -> str:
    """A function of ``depth`` nested selections, each of which may leave the loop around all of
    them.
    """
    lines = []
    for i in range(depth):
        lines += [
            f"  OpSelectionMerge %m{i} None",
            f"  OpBranchConditional %small %done %n{i}",
            f"%n{i} = OpLabel",
        ]
    lines.append(f"  OpBranch %m{depth - 1}")
    for i in reversed(range(depth)):
        lines += [f"%m{i} = OpLabel", f"  OpBranch %{f'm{i - 1}' if i else 'picked'}"]
    return "\n".join(lines[:-1]) + "\n  OpBranch %picked\n"


def lines_run(module: Module) -> int:
    """How many lines the verifier runs: counted, not timed."""
    lines = 0

    def count(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        check(module)
    finally:
        sys.settrace(None)
    return lines


def test_work_is_linear_in_hostile_depth() -> None:
    """Nested early exits are what makes the usual dominator iteration quadratic."""
    lines = []
    for depth in (250, 2000):
        text = BASE.replace(
            "%case = OpLabel\n  OpBranch %picked\n", "%case = OpLabel\n" + ladder(depth)
        )
        lines.append(lines_run(parse(text)))
    assert lines[1] < 8 * 1.5 * lines[0]
