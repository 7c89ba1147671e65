"""The text form: what is printed parses back to the same words, and errors name the line."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.errors import BadSpirv
from spvlink.grammar import enums, ops, shapes
from spvlink.ir.check import check
from spvlink.ir.core import (
    COPY,
    INTERPOLATE,
    LOAD_INPUT,
    STORE_OUTPUT,
    Inst,
    Module,
    imm_of_name,
    name_of,
)
from spvlink.text import parse, print_block, print_function, print_inst, print_module, tokens
from tests.support.samples import FRAGMENT, compile_glsl, pair

SMALL = """\
; SPIR-V
; Version: 1.3
; Generator: 0x00070001
; Bound: 20
; Schema: 0
; Byte order: little
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %1 "main" %2
OpExecutionMode %1 OriginUpperLeft
OpName %1 "main"
OpDecorate %2 Location 0
%3 = OpTypeVoid
%4 = OpTypeFunction %3
%5 = OpTypeFloat 32
%6 = OpTypePointer Output %5
%2 = OpVariable %6 Output
%7 = OpConstant %5 0.1
%8 = OpConstant %5 !0x7fc00000

%1 = OpFunction %3 DontInline|Pure %4
%9 = OpLabel
  %10 = OpFMul %5 %7 %8
  OpStore %2 %10 Volatile|Aligned 4
  OpReturn
OpFunctionEnd
"""


def test_the_form_itself() -> None:
    assert print_module(parse(SMALL)) == SMALL


def test_round_trips() -> None:
    """Those of shaders/: ``test_binary``."""
    for data in [*pair(), *pair("spirv1.6"), compile_glsl(FRAGMENT, "frag", debug=True)]:
        module = decode(data)
        assert encode(parse(print_module(module))) == data


def test_friendly_names_do_not_hang_on_numbers() -> None:
    """The named form parses, is valid, and prints the same whatever numbers the ids have."""
    for data in pair():
        text = print_module(decode(data), friendly=True)
        again = parse(text)
        check(again, input=True)
        assert [i.id for i in again.globals] != [i.id for i in decode(data).globals]
        assert print_module(again, friendly=True) == text
        assert "%v4float = OpTypeVector %float 4" in text


def test_byte_order_is_kept() -> None:
    module = decode(pair()[0])
    module.swapped = not module.swapped
    again = parse(print_module(module))
    assert again.swapped == module.swapped
    assert encode(again) == encode(module)


def test_private_opcodes() -> None:
    text = SMALL.replace("%10 = OpFMul %5 %7 %8", "%10 = LOAD_INPUT %5 24").replace(
        "  OpStore %2 %10 Volatile|Aligned 4\n",
        "  %11 = COPY %5 %10\n  %12 = INTERPOLATE %5 %7 32 77\n  STORE_OUTPUT %12 8\n",
    )
    module = parse(text)
    assert print_module(module) == text
    insts = module.functions[0].blocks[0].insts
    assert [i.op for i in insts[:4]] == [LOAD_INPUT, COPY, INTERPOLATE, STORE_OUTPUT]
    assert insts[0].imm == (24,)
    assert insts[2].imm == (32, 77)
    assert insts[3].args == [insts[2]]
    check(module)


def test_pieces() -> None:
    module = parse(SMALL)
    function = module.functions[0]
    assert print_inst(function.blocks[0].insts[0]) == "%10 = OpFMul %5 %7 %8"
    assert print_block(function.blocks[0]).startswith("%9 = OpLabel\n  %10 = OpFMul")
    assert print_function(function) == SMALL[SMALL.index("%1 = OpFunction") :]


def test_malformed_instructions_are_printed_too() -> None:
    """A defect being looked at must not stop the printer."""
    value = Inst(ops.OpCompositeExtract, None, [], (), 5)
    assert print_inst(value) == "%5 = OpCompositeExtract"
    assert print_inst(Inst(ops.OpSwitch, None, [value], (7,))) == "OpSwitch %5 !0x7"
    assert print_inst(Inst(ops.OpExtInst, None, [value], (1,), 9)) == "%9 = OpExtInst %5 1"
    assert print_inst(Inst(0x1FFFF, None, [value], (3,))) == "Op131071 %5 3"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("OpFMul", "OpFMulx", "OpFMulx is no opcode"),
        ("%10 = OpFMul", "OpFMul", "OpFMul lacks a result id"),
        ("OpStore", "%11 = OpStore", "OpStore has no a result id"),
        ("%10 = OpFMul %5 %7 %8", "%10 = OpFMul %5 %7", "ends before the last operand"),
        ("%10 = OpFMul %5 %7 %8", "%10 = OpFMul", "lacks a result type"),
        ("%7 %8\n", "%7 %8 %8\n", "after the last operand"),
        ("%7 %8\n", "%7 8\n", "8 is no id"),
        ("%7 %8\n", "%7 %99\n", "%99 is used but never defined"),
        ("%10 =", "%8 =", "%8 is defined twice"),
        ("OriginUpperLeft", "OriginMiddle", "OriginMiddle is no ExecutionMode"),
        ("Location 0", "Location x", "x is no number"),
        ("Location 0", "Location 4294967296", "does not fit into a word"),
        ('"main" %2', "main %2", "main is no quoted string"),
        ('OpName %1 "main"', 'OpName %1 "ma\\qin"', "unknown escape"),
        ('OpName %1 "main"', 'OpName %1 "main', "no quoted string"),
        ("%9 = OpLabel\n", "", "between blocks"),
        ("  OpReturn\n", "", "inside a block"),
        ("OpFunctionEnd\n", "", "ends inside a function"),
        ("OpCapability Shader\n", "OpTypeVoid\nOpCapability Shader\n", "lacks a result id"),
        ("OpMemoryModel", "%40 = OpTypeBool\nOpMemoryModel", "too late"),
        ("%5 0.1", "%5 zero", "could not convert"),
        ("%7 = OpConstant %5 0.1", "%7 = OpConstant %3 0.1", "no integer or floating-point"),
        ("Version: 1.3", "Version: one", "invalid literal"),
        ("order: little", "order: middle", "neither little nor big"),
    ],
)
def test_errors_name_the_line(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(BadSpirv, match=r"^line \d+: |^the text ends") as caught:
        parse(SMALL.replace(old, new, 1))
    assert message in caught.value.message


def test_the_line_is_right() -> None:
    with pytest.raises(BadSpirv, match=r"^line 23: "):
        parse(SMALL.replace("OpFMul %5", "OpFMul %77 ("))


def empty() -> Module:
    module = Module()
    module.bound = 100
    return module


words = st.integers(0, 0xFFFFFFFF)


@given(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])),
    st.integers(1, 50),
)
@settings(max_examples=200, deadline=None)
def test_any_string(text: str, id: int) -> None:
    module = empty()
    string = Inst(ops.OpString, None, [], tokens.string_words(text.encode()), id)
    module.sections[6].append(string)
    again = parse(print_module(module))
    assert again.sections[6][0].imm == string.imm
    assert encode(again) == encode(module)


@given(st.lists(words, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_any_words_of_a_name(imm: list[int]) -> None:
    """Even a string that no tool would write (broken UTF-8, words after its end) comes back word
    for word.
    """
    module = empty()
    void = Inst(ops.OpTypeVoid, None, [], (), 7)
    module.globals.append(void)
    module.names.append(name_of(ops.OpName, void, tuple(imm)))
    assert imm_of_name(parse(print_module(module)).names[0][1]) == tuple(imm)


@given(st.sampled_from([8, 16, 32, 64]), st.booleans(), words, words)
@settings(max_examples=300, deadline=None)
def test_any_integer(width: int, signed: bool, low: int, high: int) -> None:
    type = Inst(ops.OpTypeInt, None, [], (width, int(signed)), 1)
    same_number(type, (low, high) if width == 64 else (low,))


@pytest.mark.parametrize("width, text", [(8, "0xff"), (16, "0xffff"), (8, "-1"), (32, "-1")])
def test_narrow_literals_are_sign_extended(width: int, text: str) -> None:
    """As spirv-as does (specification 2.2.1)."""
    type = Inst(ops.OpTypeInt, None, [], (width, 1), 1)
    assert tokens.number_words(text, type) == (0xFFFFFFFF,)


@given(st.sampled_from([16, 32, 64]), words, words)
@settings(max_examples=300, deadline=None)
def test_any_float(width: int, low: int, high: int) -> None:
    type = Inst(ops.OpTypeFloat, None, [], (width,), 1)
    same_number(type, (low, high) if width == 64 else (low,))


def same_number(type: Inst, imm: tuple[int, ...]) -> None:
    module = empty()
    module.globals.extend([type, Inst(ops.OpConstant, type, [], imm, 2)])
    assert parse(print_module(module)).globals[1].imm == imm


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_are_decimal(value: float) -> None:
    """A finite float prints as a decimal number, not as raw words."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    (token,) = tokens.number_tokens((bits,), Inst(ops.OpTypeFloat, None, [], (32,), 1))
    assert not token.startswith("!")
    assert struct.pack("<f", float(token)) == struct.pack("<f", value)


IDS_ONLY = sorted(
    op
    for op in ops.NAMES
    if all(code in (0, 1, 2) for code in shapes.operands(op))
    and shapes.RESULT[op] in (0, 3)
    and op not in (ops.OpFunctionParameter, ops.OpFunctionEnd)
)
MASKS = [kind for kind in range(len(shapes.KINDS)) if shapes.enumeration(kind)[1]]


@given(
    st.lists(
        st.tuples(st.sampled_from(IDS_ONLY), st.lists(st.integers(0, 9), max_size=6)), max_size=12
    )
)
@settings(max_examples=150, deadline=None)
def test_random_instruction_lists(picks: list[tuple[int, list[int]]]) -> None:
    """Whatever stands in a block, valid or not, prints and parses back to the same words."""
    module = parse(SMALL)
    block = module.functions[0].blocks[0]
    values = [*module.globals, block]
    body: list[Inst] = []
    for op, choices in picks:
        shape = shapes.operands(op)
        least = sum(code & 3 == 0 for code in shape)
        most = 99 if any(code & 3 == 2 for code in shape) else len(shape)
        args = [
            values[c % len(values)]
            for c in (choices + [0] * least)[: max(least, min(len(choices), most))]
        ]
        result = shapes.RESULT[op]
        inst = Inst(
            op, module.globals[2] if result else None, args, (), module.new_id() if result else 0
        )
        body.append(inst)
        if result:
            values.append(inst)
    block.insts = [i for i in body if i.op not in TERMINATORS] + block.insts[-1:]
    text = print_module(module)
    again = parse(text)
    assert print_module(again) == text
    assert encode(again) == encode(module)


TERMINATORS = frozenset(range(ops.OpBranch, ops.OpUnreachable + 1)) | {
    op
    for op, name in ops.NAMES.items()
    if any(word in name for word in ("Terminate", "Ignore", "EmitMeshTasks", "Abort"))
}


@given(st.sampled_from(MASKS), words)
@settings(max_examples=200, deadline=None)
def test_any_mask(kind: int, value: int) -> None:
    assert tokens.enum_value(kind, tokens.enum_token(kind, value)) == value


def test_aliases_of_enumerants_are_read() -> None:
    kind = shapes.KINDS.index("Capability")
    assert tokens.enum_value(kind, "GroupNonUniform") == enums.Capability_GroupNonUniform
    assert tokens.enum_value(kind, "RayQueryKHR") == enums.Capability_RayQueryKHR
    kind = shapes.KINDS.index("MemoryAccess")
    assert tokens.enum_value(kind, "MakePointerVisibleKHR|Volatile") == 0x11
