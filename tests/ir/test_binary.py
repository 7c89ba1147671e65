"""Decoding and encoding: word for word, both byte orders, every version; bad input is BadSpirv and
nothing else.
"""

from __future__ import annotations

import random
from array import array

import pytest

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.binary.words import MAX_BOUND
from spvlink.errors import BadSpirv, Broken
from spvlink.grammar import ops
from spvlink.ir.check import check
from spvlink.ir.core import LOAD_INPUT, OPCODES, PRIVATE_NAMES, Inst
from spvlink.text import parse, print_module
from tests.support.samples import FRAGMENT, compile_glsl, pair, pipelines

ENVIRONMENTS = {
    "spirv1.0": 0x10000,
    "spirv1.1": 0x10100,
    "spirv1.2": 0x10200,
    "spirv1.3": 0x10300,
    "spirv1.4": 0x10400,
    "spirv1.5": 0x10500,
    "spirv1.6": 0x10600,
}


def swap(data: bytes) -> bytes:
    words = array("I", data)
    words.byteswap()
    return words.tobytes()


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_versions_word_for_word(environment: str) -> None:
    for data in pair(environment):
        module = decode(data)
        assert module.spirv_version == ENVIRONMENTS[environment]
        assert encode(module) == data


def test_own_pipelines_word_for_word() -> None:
    found = pipelines()
    assert len(found) >= 20
    for name, data in found.items():
        module = decode(data)
        assert encode(module) == data, name
        assert encode(parse(print_module(module))) == data, name


def test_other_byte_order() -> None:
    for data in pair():
        swapped = swap(data)
        assert swapped != data
        module = decode(swapped)
        assert module.swapped
        assert encode(module) == swapped
        module.swapped = False
        assert encode(module) == data


def test_debug_information_survives() -> None:
    data = compile_glsl(FRAGMENT, "frag", debug=True)
    module = decode(data)
    lines = [i for f in module.functions for b in f.blocks for i in b.insts if i.op == ops.OpLine]
    assert lines
    assert encode(module) == data


def test_several_entry_points() -> None:
    module = decode(pair()[1])
    text = print_module(module)
    entry = next(line for line in text.split("\n") if line.startswith("OpEntryPoint"))
    mode = next(line for line in text.split("\n") if line.startswith("OpExecutionMode"))
    other = entry.replace('"main"', '"also"')
    data = encode(parse(text.replace(entry, f"{entry}\n{other}").replace(mode, f"{mode}\n{mode}")))
    again = decode(data)
    assert len(again.sections[4]) == 2
    assert encode(again) == data
    check(again, input=True)


def test_forward_references_are_one_node() -> None:
    """A phi that uses a value of a later block, and a branch to a later block, refer to the node
    itself.
    """
    module = decode(pair()[0])
    known = {i for s in module.sections for i in s}
    for function in module.functions:
        known |= {function, *function.params, *function.blocks}
        known |= {i for b in function.blocks for i in b.insts}
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                assert all(a in known for a in inst.args)


LOOKS_LIKE_A_LABEL = """OpCapability Shader
OpCapability Int64
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %1 "main"
OpName %1 "main"
%2 = OpTypeVoid
%3 = OpTypeFunction %2
%4 = OpTypeInt 64 0
%5 = OpTypeInt 32 0
%6 = OpConstant %5 131320
%7 = OpConstant %4 {word}
%1 = OpFunction %2 None %3
%8 = OpLabel
OpBranch %9
%9 = OpLabel
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize("after", [0, 1, 5, 9, 1000])
@pytest.mark.parametrize("head", [2 << 16 | ops.OpLabel, 5 << 16 | ops.OpFunction])
def test_words_that_look_like_a_label(head: int, after: int) -> None:
    """Labels are searched for as bytes: a number that looks like one, before whatever word, is
    still a number, and the only blocks are the real ones."""
    data = encode(parse(LOOKS_LIKE_A_LABEL.format(word=head | after << 32)))
    for form in (data, swap(data)):
        module = decode(form)
        assert encode(module) == form
        assert [b.id for b in module.functions[0].blocks] == [8, 9]
        assert module.functions[0].blocks[0].terminator.args == [module.functions[0].blocks[1]]


def test_what_only_looks_like_a_label_defines_nothing() -> None:
    """A case of a switch is such a number; the id behind it is where it goes."""
    switch = "OpSelectionMerge %9 None\nOpSwitch %6 %9 131320 %9"
    text = LOOKS_LIKE_A_LABEL.format(word=0).replace("OpBranch %9", switch)
    data = encode(parse(text))
    assert encode(decode(data)) == data
    words = array("I", data)
    at = words.index(5 << 16 | ops.OpSwitch)
    words[at + 4], words[3] = 10, 11  # and a bound that allows it
    with pytest.raises(BadSpirv, match="id 10 is used"):
        decode(words.tobytes())


@pytest.mark.parametrize("size", [20, -1])
def test_an_end_without_a_function(size: int) -> None:
    """As the very last word: nothing may be looked at behind it."""
    data = pair()[0]
    end = array("I", [1 << 16 | ops.OpFunctionEnd]).tobytes()
    with pytest.raises(BadSpirv, match=r"OpFunctionEnd (outside of a|after the first) function"):
        decode(data[:size] + end if size > 0 else data + end)


@pytest.mark.parametrize(
    ("words", "ends"),
    [((0x6E6961, 0), False), ((0, 0), False), ((0x6E69616D, 0x6E6961), True), ((0,), True)],
)
def test_a_string_ends_with_its_words(words: tuple[int, ...], ends: bool) -> None:
    data = array("I", pair()[0])
    at = 5 + 2  # behind the first OpCapability
    head = len(words) + 1 << 16 | ops.OpExtension
    text = (data[:at] + array("I", [head, *words]) + data[at:]).tobytes()
    if ends:
        assert encode(decode(text)) == text
        return
    with pytest.raises(BadSpirv, match="words after its last operand") as caught:
        decode(text)
    assert caught.value.word == at


def test_a_name_without_end() -> None:
    words = array("I", pair()[0])
    at = 5
    while words[at] & 0xFFFF != ops.OpName:
        at += words[at] >> 16
    words[at + (words[at] >> 16) - 1] |= 0x61000000
    with pytest.raises(BadSpirv, match="OpName has no string that ends") as caught:
        decode(words.tobytes())
    assert caught.value.word == at
    words = array("I", pair()[0])
    short = array("I", [2 << 16 | ops.OpName, words[at + 1]])
    with pytest.raises(BadSpirv, match="OpName has no string that ends"):
        decode((words[:at] + short + words[at:]).tobytes())


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([2 << 16 | ops.OpSourceExtension, 0], "OpSourceExtension comes too late"),
        ([3 << 16 | ops.OpExecutionModeId, 1, 0], "OpExecutionModeId comes too late"),
        ([2 << 16 | ops.OpCapability, 1], "OpCapability comes too late"),
        ([1 << 16 | ops.OpNoLine, 2 << 16 | ops.OpCapability, 1], "comes too late"),
        ([3 << 16 | ops.OpMemberName, 1, 0], "OpMemberName has no string"),
        ([3 << 16 | ops.OpName, 0x7FFFFFFF, 0], "id 2147483647 is not below the bound"),
        ([3 << 16 | ops.OpName, 0, 0], "id 0 is not below the bound"),
        ([ops.OpName, 1, 0], "a word count of 0"),
    ],
)
def test_bad_words_among_names(words: list[int], what: str) -> None:
    """Names are taken out before the rest is read, which must not hide what is wrong there: after
    the first of them, and after all of them."""
    data = array("I", pair()[0])
    at = 5
    while data[at] & 0xFFFF != ops.OpName:
        at += data[at] >> 16
    first = at + (data[at] >> 16)
    while data[at] & 0xFFFF in (ops.OpName, ops.OpMemberName):
        at += data[at] >> 16
    for place in (first, at):
        with pytest.raises(BadSpirv, match=what) as caught:
            decode((data[:place] + array("I", words) + data[place:]).tobytes())
        assert caught.value.word == place + (words[0] == 1 << 16 | ops.OpNoLine)


@pytest.mark.parametrize("which", [0, 1])
def test_every_prefix_is_refused(which: int) -> None:
    data = pair()[which]
    for size in range(len(data)):
        with pytest.raises(BadSpirv):
            check(decode(data[:size]), input=True)


@pytest.mark.parametrize("seed", range(5))
def test_byte_flips(seed: int) -> None:
    """A flipped byte gives BadSpirv from the decoder or the verifier, or a module that still comes
    out as it went in.
    """
    rng = random.Random(seed)
    refused = 0
    for _ in range(100):
        data = bytearray(rng.choice(pair()))
        for _ in range(rng.choice((1, 1, 4))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            module = decode(bytes(data))
        except BadSpirv as error:
            assert error.word is not None
            assert error.word <= len(data) // 4
            refused += 1
            continue
        assert encode(module) == data
        assert encode(parse(print_module(module))) == data
        try:
            check(module, input=True)
        except BadSpirv as error:
            refused += 1
            assert "\n" not in str(error)
    assert 10 < refused < 100


def outcome(data: bytes, bound: int) -> object:
    """What a module with this bound is, or why it is none."""
    words = array("I", data)
    words[3] = bound
    try:
        module = decode(words.tobytes())
    except BadSpirv as error:
        return error.message, error.word, error.instruction
    assert encode(module) == words.tobytes()
    module.bound = 0
    return encode(module)


def test_a_bound_far_above_the_ids() -> None:
    """The table of ids is a list or, where that would be much longer than the module, a dict; both
    read the same."""
    data = pair()[0]
    assert isinstance(outcome(data, MAX_BOUND), bytes)
    rng = random.Random(7)
    reasons = set()
    for _ in range(300):
        words = array("I", data)
        words[rng.randrange(5, len(words))] = rng.randrange(1, 60)
        usual, sparse = (outcome(words.tobytes(), bound) for bound in (4000, MAX_BOUND))
        assert usual == sparse
        reasons.add("" if isinstance(usual, bytes) else "refused")
    assert len(reasons) == 2
    with pytest.raises(BadSpirv, match="not below the bound 4194303"):
        words = array("I", data)
        words[3] = MAX_BOUND
        words[-5] = MAX_BOUND  # an operand of the last instruction but two
        decode(words.tobytes())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "too short"),
        (b"\x03\x02\x23", "too short"),
        (b"MZ\x90\x00" * 5, "magic number"),
        (b"\x03\x02\x23\x07" + b"\0" * 3, "no multiple of 4"),
        (b"\x03\x02\x23\x07" + b"\0" * 12, "five words"),
    ],
)
def test_no_spirv(data: bytes, message: str) -> None:
    with pytest.raises(BadSpirv, match=message):
        decode(data)


def patched(word: int, value: int) -> bytes:
    words = array("I", pair()[0])
    words[word] = value
    return words.tobytes()


@pytest.mark.parametrize(
    ("word", "value", "message"),
    [
        (1, 0x10700, "version 1.7"),
        (1, 0x20000, "version 2.0"),
        (3, 0, "bound 0"),
        (3, 0xFFFFFFFF, "bound 4294967295"),
        (3, 3, "not below the bound"),
        (5, 0, "word count of 0"),
        (5, 0xFFFF0011, "past the end"),
        (5, 0x0002FFFE, "opcode 65534 is not in the grammar"),
        (6, 0x7FFFFFFF, "is not in the grammar"),
    ],
)
def test_bad_words(word: int, value: int, message: str) -> None:
    with pytest.raises(BadSpirv, match=message) as caught:
        decode(patched(word, value))
    assert caught.value.word is not None


@pytest.mark.parametrize("op", [*PRIVATE_NAMES, OPCODES - 1, OPCODES, 0xFFFF])
def test_private_opcodes_cannot_be_read(op: int) -> None:
    """Nor those behind all tables by opcode, wherever they stand."""
    words = array("I", pair()[0])
    at = 5
    while at < len(words):
        with pytest.raises(BadSpirv):
            decode(patched(at, words[at] & 0xFFFF0000 | op))
        at += words[at] >> 16
    folded = f"OpSpecConstantOp holds the unknown opcode {op}"
    rest = array(
        "I", [4 << 16 | ops.OpTypeInt, 1, 32, 0, 5 << 16 | ops.OpSpecConstantOp, 1, 2, op, 1]
    )
    with pytest.raises(BadSpirv, match=folded):
        decode(words[:5].tobytes() + rest.tobytes())


def test_private_opcodes_cannot_be_encoded() -> None:
    module = decode(pair()[0])
    block = module.functions[0].blocks[0]
    block.insts.insert(0, Inst(LOAD_INPUT, module.globals[2], [], (0,), module.new_id()))
    with pytest.raises(Broken, match="private opcode"):
        encode(module)
