"""Values that a user gives to specialization constants: what is no value, and what becomes of the
rest (scripts/mutants found that no other test has these)."""

from __future__ import annotations

import pytest

from spvlink.errors import Usage
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.check import check
from spvlink.ir.core import Inst, Module
from spvlink.passes.opening import spec_constants
from tests.support.case_loading import load

TEXT = """\
OpCapability Shader
OpCapability Int64
OpCapability Int16
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main"
OpDecorate %a SpecId 1
OpDecorate %b SpecId 2
OpDecorate %long SpecId 3
OpDecorate %short SpecId 4
OpDecorate %flag SpecId 5
OpDecorate %c SpecId 35
OpMemberDecorate %struct 0 Offset 0
OpMemberDecorate %struct 1 Offset 4
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%i64 = OpTypeInt 64 1
%i16 = OpTypeInt 16 1
%pair = OpTypeVector %int 2
%struct = OpTypeStruct %int %int
%a = OpSpecConstant %int 1
%b = OpSpecConstant %int 2
%long = OpSpecConstant %i64 3
%short = OpSpecConstant %i16 4
%flag = OpSpecConstantTrue %bool
%sum = OpSpecConstantOp %int IAdd %a %b
%both = OpSpecConstantComposite %pair %a %b
%c = OpSpecConstant %int 3
%main = OpFunction %void None %1
%first = OpLabel
OpReturn
OpFunctionEnd
"""
A, B, LONG, SHORT, FLAG, SUM, BOTH = range(7)


def given(values: dict[int, str | bytes], defaults: bool = False) -> tuple[Module, list[Inst]]:
    """The constants of the text, in order."""
    module = load(TEXT)
    constants = [i for i in module.globals if i.type is not None]
    spec_constants.specialize(module, values, defaults)
    check(module)
    return module, constants


VALUES = {  # number, text -> which constant, and the bits that it has
    (1, "-1"): (A, 0xFFFFFFFF),
    (1, "4294967295"): (A, 0xFFFFFFFF),
    (3, "0x123456789A"): (LONG, 0x123456789A),
    (3, "-2"): (LONG, 0xFFFFFFFFFFFFFFFE),
    (4, "7"): (SHORT, 7),
}


@pytest.mark.parametrize("value", VALUES)
def test_values(value: tuple[int, str]) -> None:
    number, text = value
    at, bits = VALUES[value]
    _, constants = given({number: text})
    assert types.bits_of(constants[at]) == bits


def test_narrow_numbers_are_sign_extended() -> None:
    _, constants = given({4: "-2"})
    assert constants[SHORT].imm == (0xFFFFFFFE,)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "4294967296"), (1, "-2147483649"), (1, "x"), (4, "65536"), (5, "2"), (5, "yes")],
)
def test_no_values(number: int, text: str) -> None:
    with pytest.raises(Usage, match="is no value for this specialization constant"):
        given({number: text})


def test_no_constant_of_that_number() -> None:
    with pytest.raises(Usage, match="the module has no specialization constant 6"):
        given({6: "1"})


def test_what_is_made_of_others_waits_for_all_of_them() -> None:
    module, constants = given({1: "40"})
    assert constants[SUM].op not in types.CONSTANTS and constants[BOTH].op not in types.CONSTANTS
    assert len(module.annotations) == 7
    _, constants = given({1: "40", 2: "2"})
    assert types.bits_of(constants[SUM]) == 42
    assert [types.bits_of(part) for part in constants[BOTH].args] == [40, 2]


def test_other_decorations_stay() -> None:
    """Member 1 and Offset (35) are the numbers of SpecId and of a constant."""
    module, _ = given({35: "4"})
    assert [n.imm for n in module.annotations][-2:] == [(0, 35, 0), (1, 35, 4)]
    assert len(module.annotations) == 7


BYTES = {  # number, bytes as in VkSpecializationInfo -> which constant, its words
    (1, b"\xff\xff\xff\xff"): (A, (0xFFFFFFFF,)),
    (3, bytes(range(8))): (LONG, (0x03020100, 0x07060504)),
    (4, b"\xfe\xff"): (SHORT, (0xFFFFFFFE,)),
    (4, b"\x07\x00"): (SHORT, (7,)),
}


@pytest.mark.parametrize("value", BYTES)
def test_values_as_bytes(value: tuple[int, bytes]) -> None:
    number, raw = value
    at, words = BYTES[value]
    _, constants = given({number: raw})
    assert constants[at].op == ops.OpConstant and constants[at].imm == words


def test_bools_as_bytes() -> None:
    assert given({5: bytes(4)})[1][FLAG].op == ops.OpConstantFalse
    assert given({5: b"\0\0\1\0"})[1][FLAG].op == ops.OpConstantTrue


@pytest.mark.parametrize(("number", "size"), [(1, 8), (1, 2), (3, 4), (4, 4), (5, 1), (6, 4)])
def test_bytes_that_fit_no_constant_change_nothing(number: int, size: int) -> None:
    before = [str(i) for i in load(TEXT).globals]
    module, _ = given({number: b"\1" * size})
    assert [str(i) for i in module.globals] == before and len(module.annotations) == 8
    # nor with all others known: what the driver makes of such a value is its own affair
    module, constants = given({number: b"\1" * size}, defaults=True)
    kept = [i for i in constants if i.op not in types.CONSTANTS]
    assert len(module.annotations) == 2 + (number != 6) and (number == 6) == (not kept)


def test_defaults() -> None:
    module, constants = given({1: "40"}, defaults=True)
    assert all(i.op in types.CONSTANTS for i in constants)
    assert types.bits_of(constants[SUM]) == 42 and types.bits_of(constants[LONG]) == 3
    assert [n.op for n in module.annotations] == [ops.OpMemberDecorate] * 2
