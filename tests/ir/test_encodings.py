"""A float type is its width and its FP Encoding: bfloat16 is no half, a float of 8 bits none of
IEEE 754, wherever types are made, compared or looked into."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.chain import split_at_fixed
from spvlink.errors import Usage
from spvlink.facts import scalars
from spvlink.facts.numbers import makes_denormal, may_be_denormal, number_of
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.slot import base_of
from spvlink.link.check.border import readable
from spvlink.link.check.interface import shape_of
from spvlink.link.pack import narrow
from spvlink.link.resources.blocks import shape
from spvlink.link.rounding import sensitive
from spvlink.passes.cleaning.fold import fold
from spvlink.passes.lowering.memory_access import holds_slots
from spvlink.passes.opening import spec_constants
from spvlink.text.friendly import friendly_names
from spvlink.text.parser import parse
from tests.support.declared_kinds import FRAGMENT, HEAD, KINDS, VERTEX
from tests.support.interpreted import interpreted
from tests.support.judges import refusal

TEXT = """\
%half = OpTypeFloat 16
%bfloat = OpTypeFloat 16 BFloat16KHR
%byte = OpTypeFloat 8 Float8E4M3EXT
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%halves = OpTypeVector %half 2
%bfloats = OpTypeVector %bfloat 2
%one = OpConstant %half 1
%bone = OpConstant %bfloat !0x3f80
%tiny = OpConstant %bfloat !0x0001
%byte_one = OpConstant %byte !0x38
%zero = OpConstantNull %bfloat
"""


def named(module: Module) -> dict[str, Inst]:
    """The types and constants of ``TEXT``, in order."""
    names = [line.split()[0].removeprefix("%") for line in TEXT.splitlines()]
    return dict(zip(names, module.globals, strict=True))


@pytest.fixture(name="all_of")
def _all_of() -> dict[str, Inst]:
    return named(parse(TEXT))


def test_types_of_two_modules_are_the_same_ones(all_of: dict[str, Inst]) -> None:
    other = parse("%half = OpTypeFloat 16")
    made = types.like(other, all_of["bfloats"])
    assert made.imm == (2,) and made.args[0].imm == all_of["bfloat"].imm
    assert types.like(other, all_of["half"]) is other.globals[0]


@pytest.mark.parametrize("told", [base_of, shape, shape_of, readable])
def test_types_are_told_apart(told: object, all_of: dict[str, Inst]) -> None:
    assert callable(told)
    texts = [told(all_of[name]) for name in ("half", "bfloat", "byte", "float")]
    assert len(set(texts)) == 4
    if told is not base_of:
        assert told(all_of["halves"]) != told(all_of["bfloats"])


def test_bits_are_not_read_as_those_of_ieee(all_of: dict[str, Inst]) -> None:
    assert number_of(all_of["one"], 0) == 1.0
    for name in ("bone", "tiny", "byte_one"):
        constant = all_of[name]
        assert number_of(constant, 0) is None
        assert makes_denormal(constant)
        assert not sensitive.finite(constant)
    assert sensitive.finite(all_of["one"])
    assert types.bits_of(all_of["zero"]) is None


def test_casts_and_conversions_stay(all_of: dict[str, Inst]) -> None:
    module = parse(TEXT)
    own = named(module)
    for of, to in (("bone", "half"), ("one", "bfloat"), ("bone", "float"), ("byte_one", "half")):
        inst = Inst(ops.OpFConvert, own[to], [own[of]], ())
        assert fold(module, inst, False) is None
        assert sensitive.jumps(inst) == (to == "bfloat")
        assert not scalars.widens(inst)
    cast = Inst(ops.OpBitcast, own["bfloats"], [own["bone"]], ())
    assert may_be_denormal(0x3F803F80, cast)
    inst = Inst(ops.OpFConvert, own["float"], [own["one"]], ())
    folded = fold(module, inst, False)
    assert folded is not None and number_of(folded, 0) == 1.0
    assert scalars.widens(inst) and not sensitive.jumps(inst)


def test_no_zero_is_made_of_bits(all_of: dict[str, Inst]) -> None:
    module = parse(TEXT)
    assert types.null(module, named(module)["bfloat"]).op == ops.OpConstantNull
    assert types.null(module, named(module)["half"]).op == ops.OpConstant


def test_no_slots_and_no_name_of_another(all_of: dict[str, Inst]) -> None:
    assert holds_slots(all_of["halves"]) and not holds_slots(all_of["bfloats"])
    module = parse(TEXT)
    names = friendly_names(module)
    assert [names.get(named(module)[n]) == "half" for n in ("half", "bfloat")] == [True, False]


def test_a_specialization_constant_gets_no_bits_of_a_half() -> None:
    text = "OpDecorate %s SpecId 3\n%t = OpTypeFloat 16{}\n%s = OpSpecConstant %t !0x3f80"
    module = parse(text.format(""))
    spec_constants.specialize(module, {3: "1"})
    assert module.globals[1].imm == struct.unpack("<H", struct.pack("<e", 1.0))
    with pytest.raises(Usage):
        spec_constants.specialize(parse(text.format(" BFloat16KHR")), {3: "1"})


def rounded_to(kind: str) -> list[bytes]:
    """A vertex shader that stores constants, and a fragment shader that rounds them so."""
    declared, kinds, body = KINDS[kind]
    notes = "OpDecorate %a Location 0\nOpDecorate %b Location 1\n"
    ends = "OpDecorate %p Location 0\nOpDecorate %position BuiltIn Position"
    vert = (HEAD + VERTEX).format(
        model="Vertex", declared="", glsl="", types="", body="", first="%two",
        listed="%p %position %a %b", notes=notes + ends, **{"from": "%p"},
    )  # fmt: skip
    ends = "OpDecorate %o Location 0\nOpExecutionMode %main OriginUpperLeft"
    frag = HEAD + FRAGMENT
    frag = frag.format(
        model="Fragment", declared=declared, glsl="", types=kinds, body=body, last="%r",
        listed="%a %b %o", notes="\n".join(reversed((notes + ends).split("\n"))),
    )  # fmt: skip
    return [encode(parse(vert)), encode(parse(frag))]


@pytest.mark.parametrize("kind", ["BFloat16TypeKHR", "Float8EXT"])
def test_what_is_rounded_to_few_digits_is_not_rounded_otherwise(kind: str) -> None:
    """By default a constant may come exact that interpolation gives but for its last bits. A float
    of 8 bits makes a step of that."""
    both = rounded_to(kind)
    done = spvlink.link(both, spvlink.Options(check_each=True))
    said = {r.slot: r.why for r in done.remarks}
    assert "OpFConvert" in said["0.x"], said
    assert all(refusal(stage.data, True) is None for stage in done.stages)


@interpreted
@pytest.mark.defect
def test_what_spirv_val_is_too_old_for_our_verifier_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of bfloat16 that came out broken went out all the same: Debian's spirv-val refuses
    the input too, and nobody else looked."""
    both = rounded_to("BFloat16TypeKHR")
    real = split_at_fixed.link_around_fixed

    def broken(*given: Any) -> list[bytes]:
        made = real(*given)
        module = decode(made[1])
        block = module.functions[0].blocks[0]
        block.insts = [i for i in block.insts if i.op != ops.OpFConvert]
        return [made[0], encode(module)]

    done = spvlink.link(both, spvlink.Options(clean=True))
    assert done.defect is None
    monkeypatch.setattr(split_at_fixed, "link_around_fixed", broken)
    done = spvlink.link(both, spvlink.Options(clean=True))
    assert done.defect is not None and "our verifier refuses the new frag module" in done.defect
    assert [stage.data for stage in done.stages] == both


def test_a_choice_of_equal_halves_is_no_choice() -> None:
    """``narrow`` would compare it with integers of 16 bits, which its stage may not have."""
    module = parse("%half = OpTypeFloat 16\n%bool = OpTypeBool\n%c = OpConstantTrue %bool")
    half, _, condition = module.globals
    zeros = [types.make(module, ops.OpConstantNull, half, [], ()), types.constant(module, half, 0)]
    one = types.constant(module, half, 0x3C00)
    for arms, chosen in ((zeros, False), ([zeros[0], one], True)):
        assert narrow._chosen(Inst(ops.OpSelect, half, [condition, *arms], ())) is chosen
