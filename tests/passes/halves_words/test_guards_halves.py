"""Legality checks of what splits 64-bit varyings that no other test needs (scripts/mutants found
them)."""

from __future__ import annotations

import pytest

from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.link.pack.split64 import WordUses
from spvlink.link.pack.words64 import NumberWords, Word
from tests.support.case_loading import load
from tests.support.chain_text import frag, geom, vert
from tests.support.half_chains import with_int64
from tests.support.halves import build, link

# --- which words of a number are used ---

HEAD = """\
OpCapability Shader
OpCapability Int64
OpCapability Int16
OpCapability Float64
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %n %u %f %t
OpExecutionMode %main OriginUpperLeft
OpDecorate %n Location 0
OpDecorate %n Flat
OpDecorate %u Location 0
OpDecorate %f Location 1
OpDecorate %t DescriptorSet 0
OpDecorate %t Binding 0
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%short = OpTypeInt 16 0
%quad_short = OpTypeVector %short 4
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%pair = OpTypeVector %uint 2
%pair_float = OpTypeVector %float 2
%quad = OpTypeVector %float 4
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%ptr_image = OpTypePointer UniformConstant %image
%in = OpTypePointer Input %ulong
%out = OpTypePointer Output %uint
%out_float = OpTypePointer Output %float
%int_0 = OpConstant %int 0
%uint_1 = OpConstant %uint 1
%by_4 = OpConstant %uint 4
%by_32 = OpConstant %uint 32
%by_36 = OpConstant %uint 36
%by_64 = OpConstant %uint 64
%low = OpConstant %ulong 0xffffffff
%high = OpConstant %ulong 0xffffffff00000000
%some = OpConstant %ulong 255
%all = OpConstant %ulong 0xffffffffffffffff
%mixed = OpConstant %ulong 240
%most = OpConstant %ulong 0x7ffffffff0000000
%zero = OpConstant %ulong 0
%other = OpConstant %ulong 254
%no = OpConstantFalse %bool
%ptr_pair = OpTypePointer Private %pair
%ptr_uint = OpTypePointer Private %uint
%ptr_short = OpTypePointer Private %short
%ptr_four = OpTypePointer Private %quad_short
%v2 = OpVariable %ptr_pair Private
%v1 = OpVariable %ptr_uint Private
%vh = OpVariable %ptr_short Private
%v4 = OpVariable %ptr_four Private
%d = OpConstant %double 1.5
%float_2 = OpConstant %float 2
%both = OpConstantComposite %quad %float_2 %float_2 %float_2 %float_2
%n = OpVariable %in Input
%u = OpVariable %out Output
%f = OpVariable %out_float Output
%t = OpVariable %ptr_image UniformConstant
%main = OpFunction %void None %1
%first = OpLabel
%x = OpLoad %ulong %n
%two = OpLoad %pair %v2
%a = OpLoad %uint %v1
%h = OpLoad %short %vh
%no_4 = OpINotEqual %bool %a %by_4
%four = OpLoad %quad_short %v4
{body}
OpReturn
OpFunctionEnd
"""
TAKE_LOW, TAKE_HIGH = (
    f"%p = OpBitcast %pair %{{0}}\n%w = OpCompositeExtract %uint %p {half}\nOpStore %u %w\n"
    for half in (0, 1)
)
LOOP = """OpBranch %loop
%loop = OpLabel
%k = OpPhi %ulong %x %first %k %next
OpLoopMerge %end %next None
OpBranchConditional %no %next %end
%next = OpLabel
OpBranch %loop
%end = OpLabel
"""
NONE, LOW, HIGH, BOTH = range(4)
USES = {  # body -> the words of the number that it uses, as bits
    "nothing": ("", NONE),
    "low": (TAKE_LOW.format("x"), LOW),
    "high": (TAKE_HIGH.format("x"), HIGH),
    "number": ("%y = OpIAdd %ulong %x %x", BOTH),
    "or sets the low word": (
        "%y = OpBitwiseOr %ulong %x %low\n%z = OpIAdd %ulong %y %y", HIGH,
    ),
    "or sets some bits of the low word": (
        "%y = OpBitwiseOr %ulong %x %some\n%z = OpIAdd %ulong %y %y", BOTH,
    ),
    "or sets all": ("%y = OpBitwiseOr %ulong %x %all\n%z = OpIAdd %ulong %y %y", NONE),
    "and leaves the low word": (
        "%y = OpBitwiseAnd %ulong %x %low\n%z = OpIAdd %ulong %y %y", LOW,
    ),
    "and leaves some bits of it": (
        "%y = OpBitwiseAnd %ulong %x %some\n%z = OpIAdd %ulong %y %y", LOW,
    ),
    "and leaves the high word": (
        "%y = OpBitwiseAnd %ulong %x %high\n%z = OpIAdd %ulong %y %y", HIGH,
    ),
    "to the left": ("%y = OpShiftLeftLogical %ulong %x %by_32\n" + TAKE_HIGH.format("y"), LOW),
    "to the left by one": (
        "%y = OpShiftLeftLogical %ulong %x %uint_1\n" + TAKE_HIGH.format("y"), BOTH,
    ),
    "to the right": ("%y = OpShiftRightLogical %ulong %x %by_32\n" + TAKE_LOW.format("y"), HIGH),
    "sign": ("%y = OpShiftRightArithmetic %ulong %x %by_32\n" + TAKE_LOW.format("y"), HIGH),
    "shifted by it": ("%y = OpShiftLeftLogical %ulong %some %x\n" + TAKE_HIGH.format("y"), BOTH),
    "round a loop": (LOOP, NONE),
    "behind a loop": (LOOP + TAKE_HIGH.format("k"), HIGH),
    "chosen": ("%y = OpSelect %ulong %no %some %x\n" + TAKE_HIGH.format("y"), HIGH),
    "of the words of it": (
        "%p = OpBitcast %pair %x\n%q = OpNot %pair %p\n%w = OpCompositeExtract %uint %q 1\n"
        "OpStore %u %w", HIGH,
    ),
    "coordinates": (
        "%p = OpBitcast %pair %x\n%i = OpLoad %image %t\n"
        "%c = OpImageFetch %quad %i %p Lod %int_0\n%w = OpCompositeExtract %float %c 0\n"
        "OpStore %f %w", BOTH,
    ),
    "a factor": (
        "%p = OpBitcast %pair %x\n%q = OpConvertUToF %pair_float %p\n"
        "%w = OpCompositeExtract %float %q 1\n%v = OpVectorTimesScalar %quad %both %w\n"
        "%r = OpCompositeExtract %float %v 2\nOpStore %f %r", HIGH,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_words_that_are_used(name: str) -> None:
    body, wanted = USES[name]
    module = load(HEAD.replace("{body}", body))
    (number,) = (
        i for i in module.functions[0].blocks[0].insts
        if i.op == ops.OpLoad and i.args[0].type is not None and i.type is not None
        and i.type.imm[:1] == (64,)
    )  # fmt: skip
    assert WordUses(module).read([number]) == wanted


# --- what words are made of ---

TWO = "%y = OpBitcast %ulong %two\n"
AND, OR, XOR = (f"%z = OpBitwise{kind} %ulong %y " for kind in ("And", "Or", "Xor"))
LEFT, RIGHT, SIGNED = (
    f"%z = OpShift{kind} %ulong %y %by_"
    for kind in ("LeftLogical", "RightLogical", "RightArithmetic")
)
ONES = "%y = OpBitwiseOr %ulong %x %all\n"
NEITHER = "%y = OpBitwiseAnd %ulong %x %zero\n"
AROUND = """OpBranch %loop
%loop = OpLabel
%y = OpPhi %ulong %some %first {} %next
OpLoopMerge %end %next None
OpBranchConditional %no %next %end
%next = OpLabel
{}OpBranch %loop
%end = OpLabel
"""
MADE = {  # body -> what the two words of its last number are
    "two words": (TWO, "a", "b"),
    "a sum": ("%y = OpIAdd %ulong %x %x", "y:0", "y:1"),
    "a sum with a constant": ("%y = OpIAdd %ulong %some %x", "y:0", "y:1"),
    "a double": ("%y = OpExtInst %double %glsl PackDouble2x32 %two", "a", "b"),
    "another double": ("%y = OpExtInst %double %glsl FMax %d %d", "y:0", "y:1"),
    "and of constants": ("%y = OpBitwiseAnd %ulong %some %mixed", "0xf0", "0x0"),
    "or of constants": ("%y = OpBitwiseOr %ulong %some %high", "0xff", "0xffffffff"),
    "four quarters": ("%y = OpBitcast %ulong %four", "y:0", "y:1"),
    "a word": ("%y = OpUConvert %ulong %a", "a", "0x0"),
    "a signed word": ("%y = OpSConvert %ulong %a", "a", "a>>>31"),
    "16 bits": ("%y = OpUConvert %ulong %h", "y:0", "0x0"),
    "16 bits and a sign": ("%y = OpSConvert %ulong %h", "y:0", "y:1"),
    "and": (TWO + AND + "%mixed", "a&240", "0x0"),
    "and all": (TWO + AND + "%low", "a", "0x0"),
    "or": (TWO + OR + "%mixed", "a|240", "b"),
    "or all": (TWO + OR + "%low", "0xffffffff", "b"),
    "xor": (TWO + XOR + "%mixed", "a^240", "b"),
    "xor all": (TWO + XOR + "%low", "a^4294967295", "b"),
    "left": (TWO + LEFT + "36", "0x0", "a<<4"),
    "left by 32": (TWO + LEFT + "32", "0x0", "a"),
    "left by little": (TWO + LEFT + "4", "a<<4", "z:1"),
    "left by too much": (TWO + LEFT + "64", "z:0", "z:1"),
    "left by what is known of it": (TWO + LEFT.removesuffix("%by_") + "%x", "z:0", "z:1"),
    "right": (TWO + RIGHT + "36", "b>>4", "0x0"),
    "right by little": (TWO + RIGHT + "4", "z:0", "b>>4"),
    "signed": (TWO + SIGNED + "36", "b>>>4", "b>>>31"),
    "signed by little": (TWO + SIGNED + "4", "z:0", "b>>>4"),
    "ones and": (ONES + AND + "%mixed", "0xf0", "0x0"),
    "ones xor": (ONES + XOR + "%mixed", "0xffffff0f", "0xffffffff"),
    "ones to the left": (ONES + LEFT + "4", "0xfffffff0", "z:1"),
    "ones to the right": (ONES + RIGHT + "4", "z:0", "0xfffffff"),
    "ones, signed": (ONES + SIGNED + "4", "z:0", "0xffffffff"),
    "zeros or": (NEITHER + OR + "%mixed", "0xf0", "0x0"),
    "a positive number, signed": (
        NEITHER + "%w = OpBitwiseOr %ulong %y %most\n" + SIGNED.replace("%y", "%w") + "4",
        "last:0", "0x7ffffff",
    ),
    "one of two": ("%y = OpSelect %ulong %no_4 %some %other", "y:0", "0x0"),
    "one of two, one unknown": ("%y = OpSelect %ulong %no %some %x", "y:0", "y:1"),
    "round a loop": (AROUND.format("%y", ""), "0xff", "0x0"),
    "more round a loop": (
        AROUND.format("%m", "%m = OpBitwiseAnd %ulong %y %low\n"), "y:0", "0x0",
    ),
    "the sum round a loop": (
        AROUND.format("%m", "%m = OpIAdd %ulong %y %low\n"), "y:0", "y:1",
    ),
}  # fmt: skip
SIGNS = {
    ops.OpBitwiseAnd: "&", ops.OpBitwiseOr: "|", ops.OpBitwiseXor: "^",
    ops.OpShiftLeftLogical: "<<", ops.OpShiftRightLogical: ">>",
    ops.OpShiftRightArithmetic: ">>>",
}  # fmt: skip


def told(word: Word, made: list[Inst]) -> str:
    if word.inner is not None:
        return f"{told(word.inner, made)}{SIGNS[word.op]}{word.number}"
    if word.source is None:
        return hex(word.number)
    if word.source.op == ops.OpLoad:
        return "ab"[word.lane]
    return f"{('y', 'z', 'last')[made.index(word.source)]}:{word.number}"


@pytest.mark.parametrize("name", MADE)
def test_words_of_a_number(name: str) -> None:
    body, *wanted = MADE[name]
    module = load(HEAD.replace("{body}", body))
    made = [
        i for b in module.functions[0].blocks for i in b.insts
        if i.type is not None and i.type.imm[:1] == (64,) and i.op != ops.OpLoad
    ]  # fmt: skip
    last = made[0] if made[0].op == ops.OpPhi else made[-1]
    words = NumberWords(module)
    found = [words.of((last, 0), half) for half in (0, 1)]
    assert [told(w, made) for w in found] == wanted


def test_a_sign_is_of_its_word() -> None:
    module = load(HEAD.replace("{body}", ""))
    a, b = (Word(0, 0, i) for i in module.functions[0].blocks[0].insts[1:3])
    signs = (
        (ops.OpShiftRightArithmetic, 31, a), (ops.OpShiftRightArithmetic, 31, b),
        (ops.OpShiftRightArithmetic, 30, a), (ops.OpShiftRightLogical, 31, a),
    )  # fmt: skip
    found = [Word(op, number, inner=inner).is_sign_of(a) for op, number, inner in signs]
    assert found == [True, False, False, False] and not a.is_sign_of(a)


# --- what stays whole ---

FRAG = """layout(location = 0) flat in uint64_t n; layout(location = 1) flat in double d;"""
VERT = FRAG.replace(" in ", " out ")
MAKE = "n = packUint2x32(uvec2(k.xy)); d = double(a.x) * 1.1LF;"
USE = "color = vec4(float(unpackUint2x32(n).y & 7u) * 0.1, fract(d), 0.5, 1);"


def pair(vertex: str = MAKE, fragment: str = USE) -> list[bytes]:
    return build(with_int64([vert(VERT, vertex), frag(FRAG, fragment)]), "vulkan1.1")


def split(codes: list[bytes], *off: str, border: str = "vert->frag") -> bool:
    linked = link(codes, disable=frozenset(off))
    return any("half" in r.why for r in linked.remarks if r.interface == border)


def test_beside_a_double_a_number_is_split() -> None:
    """All that the next two differ from."""
    assert split(pair())


def test_old_places_may_be_beside_a_double() -> None:
    assert not split(pair(), "compact")


@pytest.mark.parametrize("invariant", ["", "invariant gl_Position;\n"])
def test_what_an_invariant_output_is_made_of_stays_whole(invariant: str) -> None:
    outputs = f"out gl_PerVertex {{ vec4 gl_Position; }};\n{invariant}"
    inputs = "layout(location = 0) in uint64_t n[];\n"
    emit = """for (int i = 0; i < 3; ++i) {
gl_Position = gl_in[i].gl_Position + float(unpackUint2x32(n[i]).y & 7u) * 0.01; EmitVertex(); }"""
    stages = [
        vert("layout(location = 0) out uint64_t n;", "n = packUint2x32(uvec2(k.xy));"),
        geom(outputs + inputs, emit),
        frag("", "color = vec4(1);"),
    ]
    codes = build(with_int64(stages), "vulkan1.1")
    assert split(codes, "backward", "forward", border="vert->geom") != bool(invariant)


def test_what_is_read_of_each_vertex_stays_whole() -> None:
    head = "#extension GL_EXT_fragment_shader_barycentric : require\n"
    inputs = head + FRAG.replace("flat in uint64_t n", "pervertexEXT in uint64_t n[]")
    stages = [
        vert(VERT.replace("flat out uint64_t", "out uint64_t"), MAKE),
        frag(inputs, USE.replace("(n)", "(n[1])")),
    ]
    assert not split(build(with_int64(stages), "vulkan1.2"))


def test_a_number_that_nothing_stores_or_reads() -> None:
    off = ("dead", "propagate", "forward", "backward")
    assert split(pair(), *off[1:])
    assert not split(pair("d = double(a.x) * 1.1LF;"), *off)
    assert not split(pair(fragment="color = vec4(fract(d));"), *off)
