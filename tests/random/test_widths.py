"""Whole numbers of 8, 16, 32 and 64 bits, with and without signs: what links know of them holds for
values that no picture has. tests/support/evaluate.py says what the shaders compute."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.facts.index_values import IndexValues
from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.link.pack import small_numbers, words64
from tests.support import fold_oracle, width_programs
from tests.support.evaluate import Run, Words, differences, pixels
from tests.support.linking import module_of
from tests.support.samples import assemble
from tests.support.shared_values import MOTION
from tests.support.width_stage import EDGES, FOUR, SIZES, WORD, Stage, Type

KINDS = [(letter, width, 1) for letter in "ui" for width in SIZES]
MODES = ("", "exact", "clean", "still")
Make = Callable[[Stage, Type, str], str]


def named(type: Type) -> str:
    return f"{type[0]}{type[1]}"


def inputs(count: int = 40) -> list[Words]:
    """Two attributes: every edge, then anything."""
    r = Random(7)
    words = [(e & 0xFFFFFFFF, e >> 32) for e in EDGES]
    words += [(r.getrandbits(32), r.getrandbits(32)) for _ in range(count - len(words))]
    return [
        {(0, 0): low, (0, 1): high, (0, 2): r.choice(EDGES) & 0xFFFFFFFF, (0, 3): low ^ high}
        | {(1, n): r.getrandbits(32) for n in range(4)}
        for low, high in words
    ]


def prove(texts: tuple[str, str], modes: tuple[str, ...] = MODES) -> list[spvlink.Linked]:
    """Linked in several ways, and the same words come out."""
    codes = [assemble(text, "vulkan1.2") for text in texts]
    given = inputs()
    before = pixels(codes, given)
    assert any(before)
    links = []
    for mode in modes:
        options = spvlink.Options(clean=mode == "clean", exact=mode == "exact")
        options.validate = mode == modes[-1]
        options.disable = frozenset(MOTION) if mode == "still" else frozenset()
        links.append(spvlink.link(codes, options))
        assert links[-1].defect is None, links[-1].defect
        assert not differences(before, [s.data for s in links[-1].stages], given), mode
    return links


def single(type: Type) -> tuple[Stage, str]:
    """A vertex shader, and a number of a type in it of which nothing is known."""
    pair = Pair()
    return pair.vert, pair.number(pair.vert, pair.words[0], type)


def store(stage: Stage, value: str, type: Type = WORD) -> None:
    stage.types.setdefault(f"%pPrivate_{named(type)}", f"OpTypePointer Private {stage.type(type)}")
    name = f"%private{len(stage.variables)}"
    stage.variables.append(f"{name} = OpVariable %pPrivate_{named(type)} Private")
    stage.code.append(f"OpStore {name} {value}")


def evaluated(stage: Stage) -> tuple[Module, list[Run]]:
    """Its module, and what it computes of many inputs."""
    module = module_of(assemble(stage.text("Vertex"), "vulkan1.2"))
    assert module.entry is not None
    return module, [Run(module, words, False) for words in inputs()]


class Pair:
    """A vertex shader with two attributes and the fragment shader behind it."""

    def __init__(self) -> None:
        self.vert, self.frag = Stage(Random(1)), Stage(Random(2))
        self.words = [
            self.vert.emit("OpLoad", FOUR, self.vert.variable("Input", FOUR, n, 0, False))
            for n in range(2)
        ]
        self.location = 0
        self.shown: list[str] = []

    def number(self, stage: Stage, whole: str, type: Type) -> str:
        """Of any type, of the first two of four words."""
        first, second = [stage.emit("OpCompositeExtract", WORD, whole, n) for n in (0, 1)]
        if type[1] == 64:
            both = stage.emit("OpCompositeConstruct", ("u", 32, 2), first, second)
            return stage.emit("OpBitcast", type, both)
        if type[1] < 32:
            first = stage.emit("OpUConvert", ("u", *type[1:]), first)
        return first if type[0] == "u" else stage.emit("OpBitcast", type, first)

    def cross(self, stored: str, type: Type) -> str:
        """A flat varying; what the fragment shader has of it."""
        name = self.vert.variable("Output", type, self.location, 0, False)
        self.vert.code.append(f"OpStore {name} {stored}")
        name = self.frag.variable("Input", type, self.location, 0, True)
        self.location += 1
        return self.frag.emit("OpLoad", type, name)

    def array(self, size: int) -> str:
        """An array of words that differ, as the fragment shader names it."""
        vert, name = self.vert, self.vert.array("Output", size, self.location)
        for n in range(size):
            value = vert.emit("OpCompositeExtract", WORD, self.words[1], n % 4)
            value = vert.emit("OpIMul", WORD, value, vert.constant(WORD, 2 * n + 3))
            vert.store(name, n, vert.constant(WORD, n), value)
        found = self.frag.array("Input", size, self.location)
        self.location += size
        return found

    def texts(self) -> tuple[str, str]:
        """The fragment shader writes ``shown``, in fours."""
        self.frag.show(self.shown)
        return self.vert.text("Vertex"), self.frag.text("Fragment")


# -- bits that a number may have -------------------------------------------------------------------


def by(op: str, bits: Callable[[int], int], other: Type | None = None) -> Make:
    """An operation on a number and a constant, which depends on the width."""

    def make(s: Stage, type: Type, n: str) -> str:
        return s.emit(op, type, n, s.constant(other or type, bits(type[1])))

    return make


def after(first: Make, second: Make) -> Make:
    return lambda s, type, n: second(s, type, first(s, type, n))


def least(which: str, bits: int) -> Make:
    return lambda s, type, n: s.ext(which, type, n, s.constant(type, bits))


def lane(s: Stage, type: Type, n: str) -> str:
    """The last of a vector of which the first is small."""
    small = s.emit("OpBitwiseAnd", type, n, s.constant(type, 1))
    both = s.emit("OpCompositeConstruct", (*type[:2], 2), small, n)
    return s.emit("OpCompositeExtract", type, both, 1)


def choice(s: Stage, type: Type, n: str) -> str:
    held = s.emit("OpSLessThan", ("b", 1, 1), n, s.constant(type, 9))
    high = s.emit("OpShiftRightLogical", type, n, s.constant(WORD, type[1] // 2))
    return s.emit("OpSelect", type, held, high, s.constant(type, 3))


RIGHT, LEFT = "OpShiftRightLogical", "OpShiftLeftLogical"
SMALL: dict[str, Make] = {
    "its upper half": by(RIGHT, lambda w: w // 2),
    "more than that": by(RIGHT, lambda w: w * 5 // 8),
    "by another width": by(RIGHT, lambda w: w - 3, ("u", 64, 1)),
    "by a small number with a sign": by(RIGHT, lambda w: w // 2 + 1, ("i", 8, 1)),
    "its sign": by(RIGHT, lambda w: w - 1),
    "a mask": by("OpBitwiseAnd", lambda w: 0x55),
    "a mask above": by("OpBitwiseAnd", lambda w: 7 << w - 3),
    "put upwards": after(by("OpBitwiseAnd", lambda w: 3), by(LEFT, lambda w: w - 2)),
    "up and down": after(by(LEFT, lambda w: w // 2 - 1), by(RIGHT, lambda w: w // 2 + 3)),
    "a bit set": after(by(RIGHT, lambda w: w - 4), by("OpBitwiseOr", lambda w: 1 << w - 1)),
    "bits turned": after(by(RIGHT, lambda w: w - 4), by("OpBitwiseXor", lambda w: 5 << w - 3)),
    "a minimum": least("UMin", 5),
    "a minimum with a sign": least("SMin", 5),
    "a lane": after(lane, by(RIGHT, lambda w: w - 7)),
    "a choice": choice,
    "arithmetic": by("OpShiftRightArithmetic", lambda w: w - 2),
}
UNSIGNED = {"a remainder": by("OpUMod", lambda w: 100), "a quotient": by("OpUDiv", lambda w: 100)}
SIGNED = {
    "a remainder": by("OpSRem", lambda w: 100),
    "a remainder of a negative number": by("OpSMod", lambda w: -9),
}


def as_word(s: Stage, type: Type, n: str, extend: bool) -> str:
    if type[1] == 32:
        return n if type[0] == "u" else s.emit("OpBitcast", WORD, n)
    return s.emit("OpSConvert" if extend else "OpUConvert", WORD, n)


@pytest.mark.parametrize("type", KINDS, ids=named)
def test_bits(type: Type) -> None:
    """No value has more bits than it is said to need; some need few."""
    stage, n = single(type)
    for make in [*SMALL.values(), *(UNSIGNED if type[0] == "u" else SIGNED).values()]:
        value = make(stage, type, n)
        for extend in (False, True)[: 1 + (type[0] == "i")]:
            store(stage, as_word(stage, type, value, extend))
    module, runs = evaluated(stage)
    stored = [i.args[1] for i in module.entry.function.blocks[0].insts if i.op == ops.OpStore]
    bits = {value: small_numbers.bits_of_number(module, (value, -1)) for value in stored}
    assert sum(n < 32 for n in bits.values()) > 7
    for run in runs:
        assert all(run.values[value].bit_length() <= n for value, n in bits.items())


@pytest.mark.parametrize("by_bits", [32, 40])
@pytest.mark.parametrize("mode", MODES)
def test_a_part_of_64_bits_is_packed(mode: str, by_bits: int) -> None:
    """Beside a number of 8 bits, where that saves a Location."""
    pair = Pair()
    wide = pair.number(pair.vert, pair.words[0], ("u", 64, 1))
    wide = pair.vert.emit("OpIMul", ("u", 64, 1), wide, pair.vert.constant(("u", 64, 1), 1234567))
    part = by(RIGHT, lambda w: by_bits)(pair.vert, ("u", 64, 1), wide)
    others = [pair.vert.emit("OpCompositeExtract", WORD, pair.words[1], n) for n in range(4)]
    others[0] = by("OpBitwiseAnd", lambda w: 255)(pair.vert, WORD, others[0])
    for value in (as_word(pair.vert, ("u", 64, 1), part, False), *others):
        pair.shown.append(pair.cross(value, WORD))
    (linked,) = prove(pair.texts(), (mode,))
    packed = [r for r in linked.remarks if "of a word; the word holds" in r.why]
    assert len(packed) == (2 if by_bits == 40 else 0)


# -- 64 bits as two words --------------------------------------------------------------------------

TAKEN: dict[str, Make] = {
    "low": lambda s, type, n: s.emit("OpUConvert", WORD, n),
    "low with a sign": lambda s, type, n: s.emit("OpSConvert", WORD, n),
    "high": lambda s, type, n: as_word(s, type, by(RIGHT, lambda w: 32)(s, type, n), False),
    "above": lambda s, type, n: as_word(s, type, by(RIGHT, lambda w: 40)(s, type, n), False),
    "below": lambda s, type, n: as_word(s, type, by(RIGHT, lambda w: 31)(s, type, n), False),
    "sign": lambda s, type, n: as_word(
        s, type, by("OpShiftRightArithmetic", lambda w: 63, ("i", 16, 1))(s, type, n), True
    ),
    "of a word's bits": lambda s, type, n: as_word(
        s, type, by("OpBitwiseAnd", lambda w: 0xFFFFFFFF)(s, type, n), False
    ),
    "a sum": lambda s, type, n: as_word(
        s, type, after(by("OpIAdd", lambda w: 1), by(RIGHT, lambda w: 33))(s, type, n), False
    ),
}
STORED: dict[str, Make] = {
    "anything": lambda s, type, n: n,
    "shifted up": by(LEFT, lambda w: 40, ("u", 8, 1)),
    "shifted down": by("OpShiftRightArithmetic", lambda w: 32),
    "masked": by("OpBitwiseAnd", lambda w: 0xFF00000000),
    "set": by("OpBitwiseOr", lambda w: 0x80000000FFFFFFFF),
    "a wider one": lambda s, type, n: s.emit(
        "OpSConvert", type, s.emit("OpSConvert", ("i", 16, 1), n)
    ),
    "a wider word": lambda s, type, n: s.emit("OpSConvert", type, s.emit("OpUConvert", WORD, n)),
}


@pytest.mark.parametrize("letter", ["u", "i"])
def test_words_of_64_bits(letter: str) -> None:
    """What the halves of numbers are said to be made of is what they are."""
    type = (letter, 64, 1)
    stage, n = single(type)
    for make in STORED.values():
        store(stage, make(stage, type, n), type)
    module, runs = evaluated(stage)
    words = words64.NumberWords(module)
    stored = [i.args[1] for i in module.entry.function.blocks[0].insts if i.op == ops.OpStore]
    for value in stored:
        for half in (0, 1):
            word = words.of((value, 0), half)
            for run in runs:
                wanted = run.values[value] >> 32 * half & 0xFFFFFFFF
                assert word_in(run, word) == wanted


def word_in(run: Run, word: words64.Word) -> int:
    if word.inner is not None:
        return fold_oracle.compute(word.op, 32, 32, [word_in(run, word.inner), word.number])
    if word.source is None:
        return word.number
    value = run.value(word.source)
    bits = value[word.lane] if isinstance(value, list) else value
    return bits >> 32 * word.number & 0xFFFFFFFF if word.op else bits


@pytest.mark.parametrize("stored", ["anything", "masked", "a wider one"])
def test_64_bits_cross(stored: str) -> None:
    """As many words as are used, and they come out right."""
    type = ("i", 64, 1)
    pair = Pair()
    number = pair.number(pair.vert, pair.words[0], type)
    crossed = pair.cross(STORED[stored](pair.vert, type, number), type)
    pair.shown = [take(pair.frag, type, crossed) for take in TAKEN.values()]
    prove(pair.texts(), ("", "exact"))


# -- indices ---------------------------------------------------------------------------------------

THIRD = by("OpSRem", lambda w: 3)
SIZE = 6
INDICES: dict[str, Make] = {
    "a mask": by("OpBitwiseAnd", lambda w: 5),
    "a shift": by(RIGHT, lambda w: w - 2),
    "a shift by another width": by(RIGHT, lambda w: w - 1, ("i", 8, 1)),
    "a remainder": by("OpSMod", lambda w: 3),
    "a minimum": least("UMin", 5),
    "a minimum of a remainder": after(THIRD, least("UMin", 5)),
    "a maximum of a remainder": after(after(THIRD, least("UMax", 4)), least("UMin", 5)),
    "a sum with a remainder": after(THIRD, by("OpIAdd", lambda w: 2)),
    "a clamp of a remainder": lambda s, type, n: s.ext(
        "UClamp", type, THIRD(s, type, n), s.constant(type, 1), s.constant(type, 5)
    ),
    "a negative sum": after(by("OpBitwiseAnd", lambda w: 3), by("OpISub", lambda w: -2)),
}


@pytest.mark.parametrize("type", KINDS, ids=named)
def test_elements(type: Type) -> None:
    """An index names one of the elements that it is said to name."""
    stage, n = single(type)
    found = [make(stage, type, n) for make in INDICES.values()]
    for value in found:
        store(stage, value, type)
    module, runs = evaluated(stage)
    block = module.entry.function.blocks[0]
    indices = [i.args[1] for i in block.insts if i.op == ops.OpStore]
    look = IndexValues(module)
    elements = {index: look.elements(index, block, SIZE) for index in indices}
    if type[1] == 32:
        assert sum(len(e) < SIZE for e in elements.values()) > 5
    for run in runs:
        for index, known in elements.items():
            assert run.values[index] in known or run.values[index] >= SIZE


@pytest.mark.parametrize("type", [("u", 8, 1), ("i", 8, 1)], ids=named)
def test_a_bound_with_the_sign_bit(type: Type) -> None:
    """SMax of 200 in 8 bits is one of -56."""
    stage, n = single(type)
    store(stage, least("SMax", 200)(stage, type, n), type)
    module, runs = evaluated(stage)
    block = module.entry.function.blocks[0]
    index = next(i.args[1] for i in block.insts if i.op == ops.OpStore)
    known = IndexValues(module).elements(index, block, 256)
    assert {run.values[index] for run in runs} <= known


@pytest.mark.parametrize("name", ["a minimum of a remainder", "a maximum of a remainder"])
def test_elements_that_are_read(name: str) -> None:
    """They cross."""
    pair = Pair()
    array = pair.array(SIZE)
    whole = pair.cross(pair.words[0], FOUR)
    index = INDICES[name](pair.frag, WORD, pair.number(pair.frag, whole, WORD))
    pair.shown = [pair.frag.read(array, index)]
    prove(pair.texts(), ("exact",))


# -- cases -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["u", "i"])
def test_cases_of_a_switch(letter: str) -> None:
    """A selector that turns out to be constant goes to its own case."""
    pair = Pair()
    for width in SIZES:
        type, wide = (letter, width, 1), (letter, max(width, 32), 1)
        numbers = [0, 1, 1 << width - 1, (1 << width) - 1, (1 << width) - 2]
        for chosen in (*numbers[2:], 5):
            negative = letter == "i" and chosen >> width - 1
            bits = chosen - (1 << width) if negative else chosen
            found = pair.cross(pair.vert.constant(wide, bits), wide)
            if width < 32:
                op = "OpSConvert" if letter == "i" else "OpUConvert"
                found = pair.frag.emit(op, type, found)
            pair.shown.append(pair.frag.switched(type, found, numbers))
    (linked,) = prove(pair.texts(), ("clean",))
    actions = {r.action for r in linked.remarks if r.interface != "vert"}
    assert actions == {"propagated", "merged"}
    module = module_of(linked.stages[1].data)
    assert len(module.entry.function.blocks) == 1


# -- at random -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_programs(seed: int) -> None:
    """Whatever comes to the generator's mind."""
    prove(width_programs.program(seed), ("", "exact"))


@pytest.mark.parametrize("seed", range(100, 103))
def test_pictures(seed: int) -> None:
    """As a device has it."""
    codes = [assemble(text, "vulkan1.2") for text in width_programs.program(seed, flow=False)]
    scene, before = draw_covering(codes)
    assert before.is_good()
    linked = spvlink.link(codes, spvlink.Options())
    assert linked.defect is None and not linked.passed_through
    assert not compare(before, draw([s.data for s in linked.stages], scene))
