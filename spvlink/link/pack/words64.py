"""Find the two 32-bit words of a 64-bit number.

    packDouble2x32(uvec2(a, b))      low: a             high: b
    uint64_t(a)                      low: a             high: 0
    int64_t(i)                       low: i             high: i >> 31 (arithmetically)
    uint64_t(a) << 32 | uint64_t(b)  low: b             high: a
    d                                low: bitcast(d).x  high: bitcast(d).y

OpBitcast maps low bits to low components: "Any single component of S (mapping to multiple
components of L) maps its lower-order bits to the lower-numbered components of L" (SPIR-V). So do
PackDouble2x32 and UnpackDouble2x32 (GLSL.std.450). OpBitcast is "a bit pattern-preserving type
conversion", so it neither rounds nor flushes denormals; only conversions, arithmetic, relations and
GLSL.std.450 instructions may or must flush (VK_KHR_shader_float_controls, issue 1). The two
GLSL.std.450 instructions are among these. So where DenormFlushToZero holds for doubles ``halves``
splits nothing; elsewhere they may keep all bits. The rest is integer arithmetic.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.effects import Effects
from spvlink.facts.scalars import Lane
from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import value
from spvlink.link.motion.algebra import take

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

LOW: Final = 0
HIGH: Final = 1
WIDE: Final = 64
WORD: Final = 32  # bits
ALL_BITS: Final = 0xFFFFFFFF
MOST_LOOKS: Final = 64  # instructions behind one word

RESIZES: Final = frozenset((ops.OpUConvert, ops.OpSConvert))
_SHIFTS: Final = frozenset(
    (ops.OpShiftLeftLogical, ops.OpShiftRightLogical, ops.OpShiftRightArithmetic)
)
_MASKS: Final = frozenset((ops.OpBitwiseAnd, ops.OpBitwiseOr, ops.OpBitwiseXor))


class Word:
    """What a word is made of; equal for words that are known to be equal.

    * ``op`` 0, no ``source``: the constant ``number``;
    * ``op`` 0: the 32 bits of a lane of ``source``;
    * OpBitcast: word ``number`` of a lane of ``source``, which has 64 bits;
    * an operation: of another word, with ``number``.
    """

    __slots__ = ("inner", "key", "lane", "number", "op", "source")

    def __init__(
        self, op: int, number: int, source: Inst | None = None, lane: int = 0,
        inner: Word | None = None,
    ) -> None:  # fmt: skip
        self.op = op
        self.number = number
        self.source = source
        self.lane = lane
        self.inner = inner
        self.key: tuple[object, ...] = (op, number, source, lane, inner.key if inner else None)

    @property
    def constant(self) -> int | None:
        """The bits, if they are known."""
        return self.number if self.op == 0 and self.source is None else None

    def is_sign_of(self, low: Word) -> bool:
        """Whether it says 32 times whether that one, as an integer, is negative."""
        if self.op != ops.OpShiftRightArithmetic or self.number != WORD - 1:
            return False
        return self.inner is not None and self.inner.key == low.key


def constant(bits: int) -> Word:
    return Word(0, bits & ALL_BITS)


def origin(lane: Lane) -> Lane:
    """The lane that this one is a copy of, casts of the same width looked through."""
    while True:
        inst, number = lane
        if inst.op in scalars.MOVES:
            moved = scalars.moved(inst)
            if moved is None:
                return lane
            lane = moved[number]
        elif inst.op == ops.OpBitcast and scalars.count(inst.args[0].type) == scalars.count(
            inst.type
        ):
            lane = inst.args[0], number
        else:
            return lane


def width_of(inst: Inst) -> int:
    """Bits of a lane; 0 for what has no numbers."""
    if not scalars.count(inst.type) or inst.type is None:
        return 0
    scalar = scalars.scalar(inst.type)
    width: int = scalar.imm[0] if scalar.imm else 0
    return width


def bits_of_lane(module: Module, lane: Lane) -> int | None:
    """The bits of a lane that is a constant."""
    inst, number = lane
    if inst.op not in types.CONSTANTS:
        return None
    parts = types.parts_of(module, inst) if scalars.count(inst.type) > 1 else None
    return types.bits_of(inst if parts is None else parts[number])


class NumberWords:
    """Looks behind 64-bit numbers of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.glsl = Effects.of(module).glsl
        self.left = 0

    def of(self, lane: Lane, half: int) -> Word:
        """What a word of a lane of 64 bits is made of."""
        self.left = MOST_LOOKS
        return self.look(lane, half, frozenset())

    def of_single(self, lane: Lane) -> Word:
        """The same for a lane of 32 bits."""
        self.left = MOST_LOOKS
        return self.single(lane)

    def single(self, lane: Lane) -> Word:
        inst, number = lane = origin(lane)
        bits = bits_of_lane(self.module, lane)
        if bits is not None:
            return constant(bits)
        if self.left > 0 and self.unpacks(inst):
            return self.look((inst.args[-1], number // 2), number % 2, frozenset())
        narrows = inst.op in RESIZES and width_of(inst) == WORD and width_of(inst.args[0]) == WIDE
        if self.left > 0 and narrows:
            return self.look((inst.args[0], number), LOW, frozenset())
        return Word(0, 0, inst, number)

    def look(self, lane: Lane, half: int, around: frozenset[Inst]) -> Word:
        lane = origin(lane)
        inst, number = lane
        bits = bits_of_lane(self.module, lane)
        if bits is not None:
            return constant(bits >> WORD * half)
        self.left -= 1
        word: Word | None = None
        if self.left >= 0:
            if self.packs(inst):
                word = self.single((inst.args[-1], 2 * number + half))
            elif inst.op in RESIZES:
                word = self.resized(inst, number, half)
            elif inst.op in _MASKS:
                word = self.masked(inst, number, half, around)
            elif inst.op in _SHIFTS:
                word = self.shifted(inst, number, half, around)
            elif inst.op in (ops.OpSelect, ops.OpPhi) and inst not in around:
                word = self.chosen(inst, number, half, around | {inst})
        return word or Word(ops.OpBitcast, half, inst, number)

    def packs(self, inst: Inst) -> bool:
        """Whether an instruction makes 64-bit numbers of their words."""
        if inst.op == ops.OpExtInst:
            return inst.args[0] in self.glsl and inst.imm[0] == glsl.Glsl_PackDouble2x32
        return inst.op == ops.OpBitcast and width_of(inst.args[0]) == WORD

    def unpacks(self, inst: Inst) -> bool:
        """Whether an instruction makes words of 64-bit numbers."""
        if inst.op == ops.OpExtInst:
            return inst.args[0] in self.glsl and inst.imm[0] == glsl.Glsl_UnpackDouble2x32
        return (
            inst.op == ops.OpBitcast and width_of(inst) == WORD and width_of(inst.args[0]) == WIDE
        )

    def resized(self, inst: Inst, number: int, half: int) -> Word | None:
        """Of a number of 32 bits or less."""
        source = inst.args[0], number
        width = width_of(inst.args[0])
        if half == HIGH and inst.op == ops.OpUConvert and width <= WORD:
            return constant(0)
        if width != WORD:
            return None
        low = self.single(source)
        return low if half == LOW else operation(ops.OpShiftRightArithmetic, low, WORD - 1)

    def masked(self, inst: Inst, number: int, half: int, around: frozenset[Inst]) -> Word | None:
        sides = [self.look((arg, number), half, around) for arg in inst.args]
        for one, other in (sides, sides[::-1]):
            if one.constant is not None:
                return operation(inst.op, other, one.constant)
        return None

    def shifted(self, inst: Inst, number: int, half: int, around: frozenset[Inst]) -> Word | None:
        """By a constant of 32 bits or more, so that one word comes from the other."""
        base = inst.args[0], number
        by = bits_of_lane(self.module, origin((inst.args[1], number)))
        if by is None or by >= WIDE:
            return None
        left = inst.op == ops.OpShiftLeftLogical
        if by < WORD:
            if not left and half == HIGH:
                return operation(inst.op, self.look(base, HIGH, around), by)
            if left and half == LOW:
                return operation(inst.op, self.look(base, LOW, around), by)
            return None
        if half == (HIGH if left else LOW):
            return operation(inst.op, self.look(base, LOW if left else HIGH, around), by - WORD)
        if inst.op == ops.OpShiftRightArithmetic:
            return operation(inst.op, self.look(base, HIGH, around), WORD - 1)
        return constant(0)

    def chosen(self, inst: Inst, number: int, half: int, around: frozenset[Inst]) -> Word | None:
        """A constant that it is whatever is chosen."""
        ways = inst.args[1:] if inst.op == ops.OpSelect else inst.args[::2]
        bits: int | None = None
        for way in ways:
            if way is inst:
                continue
            choice = self.look((way, number), half, around).constant
            if choice is None or (bits is not None and bits != choice):
                return None
            bits = choice
        return None if bits is None else constant(bits)


def operation(op: int, inner: Word, number: int) -> Word:
    """A word made of another word and a constant, simplified."""
    bits = inner.constant
    if number == (ALL_BITS if op == ops.OpBitwiseAnd else 0):
        return inner
    if op == ops.OpBitwiseAnd and not number:
        return constant(0)
    if op == ops.OpBitwiseOr and number == ALL_BITS:
        return constant(ALL_BITS)
    if bits is not None:
        return constant(_computed(op, bits, number))
    return Word(op, number, inner=inner)


def _computed(op: int, bits: int, number: int) -> int:
    if op == ops.OpBitwiseAnd:
        return bits & number
    if op == ops.OpBitwiseOr:
        return bits | number
    if op == ops.OpBitwiseXor:
        return bits ^ number
    if op == ops.OpShiftLeftLogical:
        return bits << number
    if op == ops.OpShiftRightArithmetic and bits >> (WORD - 1):
        bits -= 1 << WORD
    return bits >> number


class WordMaker:
    """Makes words in the code of their module."""

    def __init__(self, module: Module, out: list[Inst]) -> None:
        self.module = module
        self.out = out  # new instructions are appended
        self.uint = types.integer(module)

    def emit(self, op: int, type: Inst, args: list[Inst], imm: tuple[int, ...]) -> Inst:
        self.out.append(value(self.module, op, type, args, imm))
        return self.out[-1]

    def make(self, word: Word) -> Inst:
        """The value of a word, as an unsigned integer."""
        if word.inner is not None:
            number = types.constant(self.module, self.uint, word.number)
            return self.emit(word.op, self.uint, [self.make(word.inner), number], ())
        if word.source is None:
            return types.constant(self.module, self.uint, word.number)
        made = word.source
        if scalars.count(made.type) > 1:
            made = take(self.module, made, word.lane, self.out)
        if word.op == ops.OpBitcast:
            pair = types.vector(self.module, self.uint, 2)
            made = self.emit(ops.OpBitcast, pair, [made], ())
            return self.emit(ops.OpCompositeExtract, self.uint, [made], (word.number,))
        return self.cast(made, self.uint)

    def cast(self, made: Inst, type: Inst) -> Inst:
        return made if made.type is type else self.emit(ops.OpBitcast, type, [made], ())

    def join(self, low: Inst, high: Inst, type: Inst) -> Inst:
        """The number of 64 bits that has these words."""
        pair = types.vector(self.module, self.uint, 2)
        made = self.emit(ops.OpCompositeConstruct, pair, [low, high], ())
        return self.emit(ops.OpBitcast, type, [made], ())
