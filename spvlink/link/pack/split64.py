"""Split a 64-bit varying into two words of 32 bits if that saves a component or a Location.

    VS  d = packDouble2x32(uvec2(a, b))              w = b
    FS  x = unpackDouble2x32(d).y               ->   x = w

    VS  n = uint64_t(a); m = int64_t(i)              n = a; m = i
    FS  f(n, m)                                 ->   f(uint64_t(n), int64_t(m))    (by their bits)

A 64-bit slot covers two components. ``halves_words`` splits it into two slots of 32 bits if one
word need not cross: no reader uses it, all stores give it the same constant, it is the sign of the
other word, or another slot equals it, so that ``dedup`` finds it. ``words`` looks for the 32-bit
values behind a word on both sides; these cross in its place. ``halves_locations`` comes last. It
splits the others if that saves a Location: 64-bit numbers share Locations with nothing else, but
words do, as u32. All others stay whole.

Why it is right. Only values that cross bit for bit are split (``Link.carries_bits``). In a fragment
shader 64-bit numbers must be Flat or per primitive anyway (VUID-StandaloneSpirv-Flat-04744), and
bit-casts keep every bit (``words64``). OpBitcast between 64 bits and a pair of 32 needs only the
type that both stages have. A store becomes two stores in its place.

Two words never need more components than the number. They could need more Locations if others stay
whole next to them, so ``halves_locations`` splits these as well if that pays. Nothing is split at a
border where a 64-bit varying must stay whole (captured, read back, Invariant, dynamic index),
because it may share its Locations now.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.floats import Floats
from spvlink.facts.numbers import is_denormal
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, STORE_OUTPUT, Block, Inst, Module
from spvlink.ir.edit import become, sweep, touched, value
from spvlink.ir.slot import Pinned, Slot, shown
from spvlink.link.border.link import Link
from spvlink.link.pack.words64 import (
    ALL_BITS,
    HIGH,
    LOW,
    RESIZES,
    WIDE,
    WORD,
    NumberWords,
    Word,
    WordMaker,
    bits_of_lane,
    width_of,
)
from spvlink.pipeline import MOVED_FORWARD, PROPAGATED, REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Collection
    from typing import Final

    Users = dict[Inst, list[Inst]]

BOTH: Final = 3  # bits: 1 << LOW, 1 << HIGH
HALVES: Final = (LOW, HIGH)
TITLES: Final = ("low half", "high half")
STEP: Final = 2  # from the key of the low word to that of the high one
# What becomes of a word.
CROSSES, UNREAD, CONSTANT, SIGN = range(4)

_RIGHT: Final = frozenset((ops.OpShiftRightLogical, ops.OpShiftRightArithmetic))


class SplitPlan:
    """A slot that could be split."""

    __slots__ = ("fates", "key", "stored", "worth")

    def __init__(self, key: int, stored: list[tuple[Word, Word]]) -> None:
        self.key = key
        self.stored = stored  # the words that each store gives it
        self.fates = [CROSSES, CROSSES]
        self.worth = False  # a word that crosses is found elsewhere

    def bits(self, half: int) -> int | None:
        """The constant that a word always is."""
        constants = {words[half].constant for words in self.stored}
        return constants.pop() if len(constants) == 1 else None

    def gains(self) -> bool:
        return self.worth or self.fates != [CROSSES, CROSSES]


# -- what can be -----------------------------------------------------------------------------------


def plans_of(link: Link) -> list[SplitPlan]:
    """The 64-bit slots of a border that may be split: all of them or none."""
    link.gather()
    slots = {k: link.slot(k) for k in link.used()}
    wide = [k for k, slot in slots.items() if slot is not None and slot.width == WIDE]
    if not wide or not all(may_split(link, k) for k in wide):
        return []
    if any(_flushes(stage.module) for stage in (link.producer, link.consumer)):
        return []
    if any(_is_wide(p) for pair in link.pinned() for p in pair if p is not None):
        return []
    words = NumberWords(link.producer.module)
    plans = [
        SplitPlan(
            k,
            [
                (words.of((s.args[0], 0), LOW), words.of((s.args[0], 0), HIGH))
                for s in link.stores[k]
            ],
        )
        for k in wide
    ]
    return [] if any(_is_denormal(link, plan) for plan in plans) else plans


def _is_denormal(link: Link, plan: SplitPlan) -> bool:
    """Whether a slot is one denormal number, which would come over as two constants
    (``makes_denormal``)."""
    if link.inputs.slots[plan.key].type.op != ops.OpTypeFloat:
        return False
    low, high = plan.bits(LOW), plan.bits(HIGH)
    return low is not None and high is not None and is_denormal(WIDE, high << WORD | low)


def may_split(link: Link, key: int) -> bool:
    """Whether a slot's values come over to the bit and nobody else wants them whole."""
    slot, out = link.inputs.slots.get(key), link.outputs.slots.get(key)
    if slot is None or out is None or key not in link.stores or key not in link.loads or out.extras:
        return False
    if key in link.read_back or key in link.outputs.captured or link.frozen(key):
        return False
    if enums.Decoration_PerVertexKHR in slot.qualifiers or not link.carries_bits(slot):
        return False
    return all(load.op == LOAD_INPUT for load in link.loads[key])


def _flushes(module: Module) -> bool:
    """Whether doubles must lose denormal values, packing and unpacking them too."""
    return (enums.ExecutionMode_DenormFlushToZero, WIDE) in Floats.of(module).rounding


def _is_wide(pinned: Pinned) -> bool:
    """Whether a variable that stays whole may lend its Locations to 64-bit numbers."""
    type = pinned.variable.type
    assert type is not None
    scalar = type.args[0]
    while scalar.op in info.ELEMENT_TYPES:
        scalar = scalar.args[0]
    return scalar.op not in info.NUMBER_TYPES or scalar.imm[0] == WIDE


class WordUses:
    """Which words of its inputs a module uses."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.words = NumberWords(module)
        self.users: Users = {}
        assert module.entry is not None
        for block in module.entry.function.blocks:
            for inst in block.insts:
                for arg in inst.args:
                    if arg.type is not None:
                        self.users.setdefault(arg, []).append(inst)

    def read(self, loads: list[Inst]) -> int:
        """The words of these loads that are used, as bits. Followed is where the number goes as it
        is, or but for bits that a constant sets; ``seen``: the words of it that are left there."""
        used = 0
        todo: list[tuple[Inst, int, int]] = [(load, 0, BOTH) for load in loads]
        known = set(todo)
        for inst, lane, seen in todo:  # grows
            for user in self.users.get(inst, ()):
                if used & seen == seen:
                    break
                after = self.carried(inst, lane, seen, user)
                if after is None:
                    used |= self.taken(inst, lane, seen, user)
                    continue
                new = [a for a in after if a not in known]
                known.update(new)
                todo += new
        return used

    def carried(
        self, inst: Inst, lane: int, seen: int, user: Inst
    ) -> list[tuple[Inst, int, int]] | None:
        """The lanes of a user that are this lane but for known bits; None if it is no such user."""
        op = user.op
        if op in scalars.MOVES:
            moved = scalars.moved(user)
            if moved is None:
                return None
            return [(user, n, seen) for n, source in enumerate(moved) if source == (inst, lane)]
        if op == ops.OpPhi or op == ops.OpSelect:
            return [(user, lane, seen)]
        if op == ops.OpBitcast and scalars.count(user.type) == scalars.count(inst.type):
            return [(user, lane, seen)]
        if op == ops.OpBitwiseAnd or op == ops.OpBitwiseOr:
            for mask in user.args:
                bits = bits_of_lane(self.module, (mask, lane))
                if bits is not None:
                    fixed = 0 if op == ops.OpBitwiseAnd else ALL_BITS
                    for half in HALVES:
                        if bits >> WORD * half & ALL_BITS == fixed:
                            seen &= ~(1 << half)
            return [(user, lane, seen)] if seen else []
        if op in (ops.OpNot, ops.OpBitwiseXor):
            return [(user, lane, seen)]
        return None

    def taken(self, inst: Inst, lane: int, seen: int, user: Inst) -> int:
        """The words of a lane that a user needs."""
        if user.op in RESIZES and width_of(user) <= WORD:
            return seen & 1 << LOW
        if self.words.unpacks(user) and scalars.count(user.type) == 2 * scalars.count(inst.type):
            return sum(
                1 << half for half in HALVES
                if seen >> half & 1 and self.uses_lane(user, 2 * lane + half)
            )  # fmt: skip
        by = None
        if user.op in _RIGHT or user.op == ops.OpShiftLeftLogical:
            by = bits_of_lane(self.module, (user.args[1], lane))
        if by is not None and WORD <= by < WIDE and user.args[1] is not inst:
            return seen & 1 << (HIGH if user.op in _RIGHT else LOW)
        return seen

    def uses_lane(self, vector: Inst, lane: int) -> bool:
        """Whether a lane of a vector goes anywhere."""
        todo = [(vector, lane)]
        known = set(todo)
        for place in todo:  # grows
            for user in self.users.get(place[0], ()):
                moved = scalars.moved(user) if user.op in scalars.MOVES else None
                if moved is None and scalars.count(user.type) > 1:
                    if scalars.lanewise(user, info.FLAGS.get(user.op, 0)):
                        moved = [(place[0], n) for n in range(scalars.count(user.type))]
                if moved is None:
                    return True
                if scalars.count(user.type) == 1:
                    if place in moved:
                        return True
                    continue
                after = [(user, n) for n, source in enumerate(moved) if source == place]
                todo += [a for a in after if a not in known]
                known.update(after)
        return False


def redefine(link: Link, keys: Collection[int], numbers: list[Inst]) -> None:
    """Two slots of 32 bits in place of each of these. ``numbers``: their types, in the consumer and
    in the producer."""
    for side, number in zip((link.inputs, link.outputs), numbers):
        for key in keys:
            old = side.slots[key]
            for half in HALVES:
                place = key + STEP * half
                slot = Slot(place, number, old.variable, old.name, 2 * old.lane + half, old.group)
                slot.qualifiers = old.qualifiers
                slot.length = old.length
                side.slots[place] = slot
        split = set(keys)
        side.aggregates = [
            w for w in side.aggregates if not any(k in split for c in w.columns for k in c)
        ]


# -- doing it --------------------------------------------------------------------------------------


def split(link: Link, plans: list[SplitPlan], alike: dict[Inst, Word]) -> None:
    """``alike``: stores of other slots that are to say the same words in the same way."""
    for plan in plans:
        _explain(link, plan)
    by_key = {plan.key: plan for plan in plans}
    _produce(link, by_key, alike)
    _consume(link, by_key)
    stages = link.consumer, link.producer
    redefine(link, by_key, [types.integer(stage.module) for stage in stages])


def _explain(link: Link, plan: SplitPlan) -> None:
    slot = link.outputs.slots[plan.key]
    name = slot.name or f"location {shown(plan.key >> 3)}"
    for half in HALVES:
        key, fate = plan.key + STEP * half, plan.fates[half]
        link.halves[key] = TITLES[half]
        link.remarks.notes.pop(key, None)
        if fate == UNREAD:
            link.remarks.fate[key] = (REMOVED, f"the {link.consumer.name} stage does not read it")
        elif fate == CONSTANT:
            link.remarks.fate[key] = (PROPAGATED, f"constant {plan.bits(half)}")
        elif fate == SIGN:
            why = f"the {link.consumer.name} stage computes it from the low half of {name}"
            link.remarks.fate[key] = (MOVED_FORWARD, why)


def _produce(link: Link, plans: dict[int, SplitPlan], alike: dict[Inst, Word]) -> None:
    """The words that cross are stored where the number was."""
    stored = {s: n for key in plans for n, s in enumerate(link.stores[key])}
    module = link.producer.module
    assert module.entry is not None
    for block in module.entry.function.blocks:
        if stored.keys().isdisjoint(block.insts) and alike.keys().isdisjoint(block.insts):
            continue
        out: list[Inst] = []
        maker = WordMaker(module, out)
        for inst in block.insts:
            if inst in alike:
                made, type = maker.make(alike[inst]), inst.args[0].type
                assert type is not None
                inst.args[0] = maker.cast(made, type)
            if inst not in stored:
                out.append(inst)
                continue
            plan = plans[inst.imm[0]]
            words = plan.stored[stored[inst]]
            for half in HALVES:
                if plan.fates[half] == CROSSES:
                    made = maker.make(words[half])
                    key = plan.key + STEP * half
                    out.append(Inst(STORE_OUTPUT, None, [made, *inst.args[1:]], (key,)))
        block.insts = out
    touched(module)


def _consume(link: Link, plans: dict[int, SplitPlan]) -> None:
    """What was loaded is put together from words; what only took it apart takes these."""
    loads = {load for key in plans for load in link.loads[key]}
    module = link.consumer.module
    assert module.entry is not None
    function = module.entry.function
    for block in function.blocks:
        if not any(i.op == LOAD_INPUT and i.imm[0] in plans for i in block.insts):
            continue
        out: list[Inst] = []
        maker = WordMaker(module, out)
        for inst in block.insts:
            if inst not in loads:
                out.append(inst)
                continue
            assert inst.type is not None
            plan = plans[inst.imm[0]]
            low, high = (_read(maker, plan, half, inst) for half in HALVES)
            if high is None:
                assert low is not None
                number = types.constant(module, maker.uint, WORD - 1)
                high = maker.emit(ops.OpShiftRightArithmetic, maker.uint, [low, number], ())
            assert low is not None
            become(module, inst, maker.join(low, high, inst.type))
        block.insts = out
    sweep(module, function)
    for block in function.blocks:
        _take_words(module, block)
    sweep(module, function)


def _read(maker: WordMaker, plan: SplitPlan, half: int, load: Inst) -> Inst | None:
    """One word in place of a load; None if it is the sign of the other one."""
    fate = plan.fates[half]
    if fate == SIGN:
        return None
    if fate == CROSSES:
        key = plan.key + STEP * half
        made = value(maker.module, LOAD_INPUT, maker.uint, list(load.args), (key,))
        maker.out.append(made)
        return made
    bits = plan.bits(half) if fate == CONSTANT else 0  # what nobody uses may be anything
    return types.constant(maker.module, maker.uint, bits or 0)


def _take_words(module: Module, block: Block) -> None:
    """What makes words of 64-bit numbers takes those that these were made of."""
    if not any(_is_narrow(module, i) for i in block.insts):
        return
    words = NumberWords(module)
    out: list[Inst] = []
    maker = WordMaker(module, out)
    for inst in block.insts:
        made = _words_of(words, maker, inst) if _is_narrow(module, inst) else None
        if made is not None:
            become(module, inst, made)
        out.append(inst)
    block.insts = out


def _is_narrow(module: Module, inst: Inst) -> bool:
    if inst.op in RESIZES:
        return width_of(inst) <= WORD and width_of(inst.args[0]) == WIDE
    return (inst.op == ops.OpBitcast or inst.op == ops.OpExtInst) and NumberWords(module).unpacks(
        inst
    )


def _words_of(words: NumberWords, maker: WordMaker, inst: Inst) -> Inst | None:
    """What such an instruction gives, if all of it can be made of words."""
    source = inst.args[-1]
    count = scalars.count(source.type)
    halves = (LOW,) if inst.op in RESIZES else HALVES
    places: list[tuple[Lane, int]] = [((source, n), h) for n in range(count) for h in halves]
    parts_of = [words.of(*place) for place in places]
    if any(is_whole(word) for word in parts_of):
        return None
    assert inst.type is not None
    scalar = scalars.scalar(inst.type)
    parts = [maker.make(word) for word in parts_of]
    if width_of(inst) < WORD:  # as a vector: a module may lack what composes narrower ones
        vector = types.vector(words.module, maker.uint, count)
        whole = parts[0] if count == 1 else maker.emit(ops.OpCompositeConstruct, vector, parts, ())
        return maker.emit(inst.op, inst.type, [whole], ())
    parts = [maker.cast(part, scalar) for part in parts]
    if len(parts) == 1:
        return parts[0]
    return maker.emit(ops.OpCompositeConstruct, inst.type, parts, ())


def is_whole(word: Word) -> bool:
    """Whether the number itself is needed to make a word."""
    while word.inner is not None:
        word = word.inner
    return word.op == ops.OpBitcast
