"""Pack flags and small integers into shared components.

    VS  lit = uint(a > 0); kind = b ? 3.0 : 5.0      word = (a > 0 ? 1 : 0) | (b ? 2 : 0)
    FS  if (lit != 0) ...; x = kind             ->   if ((word & 1) != 0) ...; x = word & 2 ? 3 : 5

    VS  id = n & 0xffff; mat = m >> 24               word = (n & 0xffff) | (m >> 24) << 16
    FS  f(id); g(mat)                           ->   f(word & 0xffff); g(word >> 16 & 0xff)

    VS  h = f16; i = f16_too                    ->   word = bitcast(f16vec2(f16, f16_too))

A component holds up to 32 flags, integers that leave bits free, or two values of 16 bits.

Why it is right. Every store to a flag writes one of two values: constants, choices between them,
numbers masked to one bit, or conversions of these. One bit tells the two apart, for any type. Only
values that cross bit for bit are packed (``Link.carries_bits``: Flat, per primitive, or between
stages before rasterization), so a u32 word carries them as well. A 32-bit integer that needs fewer
bits (``small_numbers``) becomes a field next to the flags. Two 16-bit values become a vector and
are bit-cast, without rounding.

What breaks it.
* Different qualifiers: all parts of a word must have the same.
* Partial stores. A site that stores some parts stores zero bits for the others, which were
  undefined there. Other invocations see the stores of control and mesh shaders at once. So there
  all parts must be stored at the same sites, once each, and must not be read back.
* Transform feedback and Invariant: these values stay as they are.

Cost. The consumer needs three operations for a flag (and, compare, select; often the code had the
last two), two for a field, one for a 16-bit value. Each saved component is worth
``COMPONENT_PRICE`` (``propagate``). But three flags in one Location cost no more than one, so the
pass packs only if that saves a whole Location, and only as many parts as needed.
"""

from __future__ import annotations

from spvlink.facts.numbers import is_denormal
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst, Module
from spvlink.ir.edit import rewrite, touched, value
from spvlink.ir.slot import Slot
from spvlink.link.border.cost import COMPONENT_PRICE
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.values import Scalar, cast_to_denormal
from spvlink.link.motion.algebra import redefine
from spvlink.link.pack import compact
from spvlink.link.pack.small_numbers import bits_of_number
from spvlink.link.shape.array_side import lanes_of
from spvlink.passes.cleaning.fold import fold
from spvlink.pipeline import PACKED
from spvlink.rules.arithmetic import from_bits, signed

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Sequence
    from typing import Final

NAMED: Final = 4  # parts that a word is named after
MOST_LOOKS: Final = 64  # instructions behind a value
_CONVERSIONS: Final = frozenset(
    (
        ops.OpConvertFToS, ops.OpConvertFToU, ops.OpConvertSToF, ops.OpConvertUToF, ops.OpUConvert,
        ops.OpSConvert, ops.OpFConvert, ops.OpBitcast, ops.OpFNegate, ops.OpSNegate, ops.OpNot,
    )
)  # fmt: skip
BIT_COST: Final = 3
FIELD_COST: Final = 2
HALF_COST: Final = 1
WORD: Final = 32  # bits of a component
HALVES: Final = 2
_LOADS: Final = frozenset((LOAD_INPUT, INTERPOLATE))


class Part:
    """A slot that may share a component."""

    __slots__ = ("bits", "key", "stored")
    cost = 0  # operations to take it out of a word

    def __init__(self, key: int, stored: dict[int, Inst], bits: int = 1) -> None:
        self.key = key
        self.stored = stored  # by site
        self.bits = bits  # of a word; a half takes one of two places


class Flag(Part):
    """A slot that holds ``values[0]`` or ``values[1]``, as bits."""

    __slots__ = ("values",)
    cost = BIT_COST

    def __init__(self, key: int, stored: dict[int, Inst], values: list[int]) -> None:
        super().__init__(key, stored)
        self.values = values


class Field(Part):
    """A whole number of 32 bits that needs only some of them."""

    __slots__ = ()
    cost = FIELD_COST


class Half(Part):
    """A slot of 16 bits."""

    __slots__ = ()
    cost = HALF_COST


def possible(link: Link) -> bool:
    """Whether ``narrow`` may find anything."""
    slots = [link.inputs.slots[k] for k in link.loads]
    if len(slots) < 2 or (len(slots) == 2 and slots[0].width == slots[1].width):
        return False  # two Locations of one component each are of different kinds
    return link.exact or any(link.carries_bits(link.inputs.slots[k]) for k in link.loads)


def narrow(link: Link, convergent: frozenset[int], limit: int) -> bool:
    """Pack what saves a Location; whether anything was. ``convergent``: as for ``compact``;
    ``limit``: --cost-limit, in percent."""
    changed = False
    while _pack(link, convergent, limit):  # one group may make room for the next to pay
        changed = True
    return changed


def _lent(link: Link, slot: Slot) -> bool:
    """Whether a stage must not put two of them together in the end (``storage16``)."""
    return any(types.is_borrowed(s.module, slot.type) for s in (link.producer, link.consumer))


def _pack(link: Link, convergent: frozenset[int], limit: int) -> bool:
    """Pack the first group that pays."""
    link.gather()
    flags: dict[tuple[object, ...], list[Part]] = {}
    halves: dict[tuple[object, ...], list[Half]] = {}
    for key in sorted(link.loads):
        if not may_pack(link, key):
            continue
        group = group_of(link, key)
        values = _two_values(link, key)
        slot = link.inputs.slots[key]
        stored = {link.sites[s]: s.args[0] for s in link.stores[key]}
        if values is not None:
            flags.setdefault(group, []).append(Flag(key, stored, values))
        elif _lent(link, slot):  # neither can compute with it
            continue
        elif (bits := _bits(link, key)) < WORD:
            flags.setdefault(group, []).append(Field(key, stored, bits))
        elif slot.width == 16:  # both may compute with them (``Lowering.why_whole``)
            halves.setdefault((*group, slot.type.op), []).append(Half(key, stored))
    loads = link.loads
    for mine in flags.values():
        mine.sort(key=lambda part: (part.bits, part.cost * len(loads[part.key])))
        words = _fewest(link, mine, WORD, convergent, limit)
        for word in words:
            _pack_bits(link, [mine[n] for n in word])
        if words:
            return True
    for pairs in halves.values():
        words = _fewest(link, pairs, HALVES, convergent, limit)
        for word in words:
            _pack_halves(link, [pairs[n] for n in word])
        if words:
            return True
    return False


# -- what can be -----------------------------------------------------------------------------------


def may_pack(link: Link, key: int) -> bool:
    """Whether the values of a slot come over to the bit, and stores of it may be put together."""
    if key not in link.stores:
        return False
    if key in link.outputs.captured or not link.stored_once(key):
        return False
    slot, out = link.inputs.slots[key], link.outputs.slots[key]
    return slot.width <= 32 and link.carries_bits(slot) and not out.extras and not link.frozen(key)


def _bits(link: Link, key: int) -> int:
    """The bits that the stores of a whole number of 32 bits need; 32 of anything else."""
    slots = link.inputs.slots[key], link.outputs.slots[key]
    if any(slot.type.op != ops.OpTypeInt or slot.width != WORD for slot in slots):
        return WORD
    module = link.producer.module
    return max(1, *[bits_of_number(module, (s.args[0], -1)) for s in link.stores[key]])


def group_of(link: Link, key: int) -> tuple[object, ...]:
    """What the parts of one word have in common. How a producer says that they are interpolated
    means nothing; whether they are of a patch or a primitive does."""
    slot, out = link.inputs.slots[key], link.outputs.slots[key]
    lengths = [None if n is None else types.index_of(n) for n in (slot.length, out.length)]
    sites = frozenset(link.sites[s] for s in link.stores[key]) if link.in_place else None
    kinds = tuple(q for q in out.qualifiers if q in info.KIND_DECORATIONS)
    return (slot.qualifiers, kinds, *lengths, sites)


def _two_values(link: Link, key: int) -> list[int] | None:
    """The two values that the stores of a slot write, as bits; None if it is no flag."""
    module = link.producer.module
    values: set[int] = set()
    for store in link.stores[key]:
        more = values_of(module, (store.args[0], -1))
        stored = store.args[0].type
        if more is None or stored is None:
            return None
        if stored.imm[0] < WORD and not _chosen(store.args[0]):
            return None  # to compare them takes integers of that size
        values |= more
    slot = link.inputs.slots[key]
    if slot.type.op == ops.OpTypeFloat and any(is_denormal(slot.width, v) for v in values):
        return None  # the consumer's compiler would know it (``makes_denormal``)
    if any(cast_to_denormal(link, key, v) for v in values):
        return None
    return sorted(values) if len(values) == 2 else None


def values_of(module: Module, scalar: Scalar) -> set[int] | None:
    """The bits that a number may have, if it is known that these are two values at most."""
    return Looks(module).at(scalar, frozenset(), frozenset())


class Looks:
    """One look at what a number is made of, of a bounded number of steps."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.left = MOST_LOOKS

    def at(
        self, scalar: Scalar, around: frozenset[Scalar], changed: frozenset[Scalar]
    ) -> set[int] | None:
        """The values of a scalar. ``around``: phis and selects that only hand it on, so that it
        adds nothing to itself; ``changed``: those behind a conversion of it, where it may."""
        if scalar in around:
            return set()
        self.left -= 1
        inst, lane = scalar
        parts = types.parts_of(self.module, inst) if lane >= 0 else None
        if parts is not None and lane >= len(parts):
            return None  # cast from fewer lanes, or an array of a size that is not known
        bits = types.bits_of(inst if parts is None else parts[lane])
        if bits is not None:
            return {bits}
        if scalar in changed or self.left < 0 or inst.type is None:
            return None
        if (inst.type.op == ops.OpTypeVector) != (lane >= 0):
            return None  # a cast between numbers of other sizes
        op = inst.op
        if op == ops.OpCompositeExtract and len(inst.imm) == 1 and lane < 0:
            return self.at((inst.args[0], inst.imm[0]), around, changed)
        if op == ops.OpCompositeConstruct and inst.type.op == ops.OpTypeVector:
            part, path = lanes_of(inst)[lane]
            return self.at((part, path[0] if path else -1), around, changed)
        if op == ops.OpBitwiseAnd:
            return self.masked(inst, lane)
        if op in _CONVERSIONS:
            behind = self.at((inst.args[0], lane), frozenset(), changed | around | {scalar})
            return _converted(self.module, inst, lane, behind)
        if op not in (ops.OpSelect, ops.OpPhi):
            return None
        values: set[int] = set()
        for way in inst.args[1:] if op == ops.OpSelect else inst.args[::2]:
            more = self.at((way, lane), around | {scalar}, changed)
            if more is None or len(values | more) > 2:
                return None
            values |= more
        return values

    def masked(self, inst: Inst, lane: int) -> set[int] | None:
        """Zero and one bit, if a mask has one bit."""
        for arg in inst.args:
            parts = types.parts_of(self.module, arg) if lane >= 0 else None
            mask = types.bits_of(arg if parts is None else parts[lane])
            if mask is not None and not mask & (mask - 1):
                return {0, mask}
        return None


def _converted(module: Module, inst: Inst, lane: int, values: set[int] | None) -> set[int] | None:
    """What a conversion makes of each of these."""
    if values is None or inst.type is None or inst.args[0].type is None:
        return None
    source, target = inst.args[0].type, inst.type
    if lane >= 0:
        if types.size_of(source) != types.size_of(target):
            return None
        source, target = source.args[0], target.args[0]
    results: set[int] = set()
    for bits in values:
        constant = types.constant(module, source, bits)
        made = fold(module, Inst(inst.op, target, [constant], ()), False)
        result = types.bits_of(made) if made is not None else None
        if result is None or not _is_exact(inst.op, source.imm[0], bits, target.imm[0], result):
            return None
        results.add(result)
    return results


def _is_exact(op: int, source: int, bits: int, target: int, result: int) -> bool:
    """Whether a conversion to a float gives this whatever the device's rounding is: the bits are
    compared there. The widths of both sides, and what they hold."""
    if op == ops.OpFConvert:
        return from_bits(source, bits) == from_bits(target, result)
    if op in (ops.OpConvertSToF, ops.OpConvertUToF):
        number = signed(source, bits) if op == ops.OpConvertSToF else bits
        return number == from_bits(target, result)
    return True


def _chosen(stored: Inst) -> bool:
    """Whether a value is a constant, or a choice of two different ones by one condition."""
    if stored.op == ops.OpSelect:
        arms = [types.bits_of(arm) for arm in stored.args[1:]]
        return None not in arms and arms[0] != arms[1]
    return types.bits_of(stored) is not None


# -- what pays -------------------------------------------------------------------------------------


def _fewest(
    link: Link, parts: Sequence[Part], size: int, convergent: frozenset[int], limit: int
) -> list[list[int]]:
    """The words, of up to ``size`` parts given by number, that save a Location: as few parts as
    do."""
    words = _cut(parts, size)
    if not words:
        return []
    keys = [part.key for part in parts]
    before = _locations(link, keys, [], convergent)
    least = _locations(link, keys, words, convergent)
    if least >= before:
        return []
    for count in range(1, len(parts)):
        if _locations(link, keys, _cut(parts[:count], size), convergent) == least:
            words = _cut(parts[:count], size)
            break
    cost = sum(parts[n].cost * len(link.loads[keys[n]]) for word in words for n in word)
    saved = sum(len(word) - 1 for word in words)
    return words if cost <= saved * COMPONENT_PRICE * limit // 100 else []


def _cut(parts: Sequence[Part], size: int) -> list[list[int]]:
    """Words of ``size`` bits, each filled with what comes next and has room. A flag that would be
    alone stays out; half a word does not, since it could not share a Location with words."""
    words: list[list[int]] = []
    free: list[int] = []
    for number, part in enumerate(parts):
        at = next((n for n, room in enumerate(free) if room >= part.bits), len(words))
        if at == len(words):
            words.append([])
            free.append(size)
        words[at].append(number)
        free[at] -= part.bits
    return [word for word in words if len(word) > 1 or size == HALVES]


def _locations(
    link: Link, keys: list[int], words: list[list[int]], convergent: frozenset[int]
) -> int:
    """How many Locations the border would need with these words. What is looked at is changed for
    as long as that takes."""
    sides = link.inputs, link.outputs
    before = link.stores, link.loads, [(s.slots, s.aggregates) for s in sides]
    firsts = [keys[word[0]] for word in words]
    gone = {keys[n] for word in words for n in word[1:]}
    packed = gone.union(firsts)
    number = types.integer(link.consumer.module)
    link.gather()
    link.stores = {k: v for k, v in link.stores.items() if k not in gone}
    link.loads = {k: v for k, v in link.loads.items() if k not in gone}
    try:
        for side in sides:
            side.slots = dict(side.slots)
            side.aggregates = [w for w in side.aggregates if not _touches(w.columns, packed)]
            for key in firsts:
                side.slots[key] = _word_slot(side.slots[key], number)
        return compact.compact(link, convergent - packed).cost()[0]
    finally:
        link.stores, link.loads = before[:2]
        for side, (slots, aggregates) in zip(sides, before[2]):
            side.slots, side.aggregates = slots, aggregates


def _touches(columns: list[list[int]], keys: set[int]) -> bool:
    return any(key in keys for column in columns for key in column)


def _word_slot(old: Slot, type: Inst) -> Slot:
    """A slot of 32 bits in place of another, a vector of its own."""
    slot = Slot(old.key, type, old.variable, old.name, 0, -1 - old.key)
    slot.qualifiers = old.qualifiers
    slot.length = old.length
    return slot


# -- doing it --------------------------------------------------------------------------------------


def _pack_bits(link: Link, word: list[Part]) -> None:
    sites = sorted({site for part in word for site in part.stored})
    stored = {site: _bit_word(link, word, site) for site in sites}
    module = link.consumer.module
    number = types.integer(module)
    places = _places(word)

    def unpack(load: Inst, at: int, made: Inst, out: list[Inst]) -> None:
        part = word[at]
        type = link.inputs.slots[part.key].type
        if isinstance(part, Flag):
            mask = types.constant(module, number, 1 << places[at])
            low, high = (types.constant(module, type, bits) for bits in part.values)
            bit = value(module, ops.OpBitwiseAnd, number, [made, mask], ())
            zero = types.constant(module, number, 0)
            flag = value(module, ops.OpINotEqual, types.boolean(module), [bit, zero], ())
            rewrite(module, load, ops.OpSelect, [flag, high, low], ())
            out += [bit, flag, load]
            return
        if places[at]:
            by = types.constant(module, number, places[at])
            made = value(module, ops.OpShiftRightLogical, number, [made, by], ())
            out.append(made)
        if places[at] + part.bits < WORD:
            mask = types.constant(module, number, (1 << part.bits) - 1)
            made = value(module, ops.OpBitwiseAnd, number, [made, mask], ())
            out.append(made)
        op = ops.OpCopyObject if type is number else ops.OpBitcast
        rewrite(module, load, op, [made], ())
        out.append(load)

    what = "one bit" if all(isinstance(part, Flag) for part in word) else "some bits"
    replace(link, [f.key for f in word], stored, unpack, what)


def _places(word: list[Part]) -> list[int]:
    """The bit at which each part begins."""
    starts, at = list[int](), 0
    for part in word:
        starts.append(at)
        at += part.bits
    return starts


def _bit_word(link: Link, word: list[Part], site: int) -> tuple[Inst, list[Inst]]:
    """The bits of all parts that a site stores, and the instructions that make them."""
    module = link.producer.module
    number = types.integer(module)
    out: list[Inst] = []
    constant = 0
    whole: Inst | None = None
    for at, part in zip(_places(word), word):
        if site not in part.stored:
            continue
        stored = part.stored[site]
        bits = types.bits_of(stored)
        if bits is not None:
            constant |= (int(bits == part.values[1]) if isinstance(part, Flag) else bits) << at
            continue
        made = (
            _flag_bit(module, part, stored, at, out)
            if isinstance(part, Flag)
            else _field_bits(module, stored, at, out)
        )
        if whole is not None:
            made = value(module, ops.OpBitwiseOr, number, [whole, made], ())
            out.append(made)
        whole = made
    fixed = types.constant(module, number, constant)
    if whole is None:
        return fixed, out
    if constant:
        whole = value(module, ops.OpBitwiseOr, number, [whole, fixed], ())
        out.append(whole)
    return whole, out


def _flag_bit(module: Module, flag: Flag, stored: Inst, at: int, out: list[Inst]) -> Inst:
    """The bit of a flag that is no constant, in its place."""
    number = types.integer(module)
    ends = [types.constant(module, number, 1 << at), types.constant(module, number, 0)]
    condition = _condition(module, stored, flag.values[1], out)
    if condition is None:
        condition = stored.args[0]
        if types.bits_of(stored.args[1]) != flag.values[1]:
            ends.reverse()
    out.append(value(module, ops.OpSelect, number, [condition, *ends], ()))
    return out[-1]


def _field_bits(module: Module, stored: Inst, at: int, out: list[Inst]) -> Inst:
    """A number in its place; the bits above it are zero."""
    number = types.integer(module)
    if stored.type is not number:
        stored = value(module, ops.OpBitcast, number, [stored], ())
        out.append(stored)
    if at:
        by = types.constant(module, number, at)
        stored = value(module, ops.OpShiftLeftLogical, number, [stored, by], ())
        out.append(stored)
    return stored


def _condition(module: Module, stored: Inst, bits: int, out: list[Inst]) -> Inst | None:
    """Whether a value has these bits; None if it is chosen by a condition that can be used."""
    if _chosen(stored):
        return None
    assert stored.type is not None
    type = stored.type
    if type.op == ops.OpTypeFloat:
        type = types.integer(module, type.imm[0])
        stored = value(module, ops.OpBitcast, type, [stored], ())
        out.append(stored)
    wanted = types.constant(module, type, bits)
    out.append(value(module, ops.OpIEqual, types.boolean(module), [stored, wanted], ()))
    return out[-1]


def _pack_halves(link: Link, word: list[Half]) -> None:
    sites = sorted({site for half in word for site in half.stored})
    stored = {site: _half_word(link, word, site) for site in sites}
    module = link.consumer.module

    def unpack(load: Inst, at: int, made: Inst, out: list[Inst]) -> None:
        assert load.type is not None
        pair = types.vector(module, load.type, 2)
        cast = value(module, ops.OpBitcast, pair, [made], ())
        rewrite(module, load, ops.OpCompositeExtract, [cast], (at,))
        out += [cast, load]

    replace(link, [h.key for h in word], stored, unpack, "half")


def _half_word(link: Link, word: list[Half], site: int) -> tuple[Inst, list[Inst]]:
    module = link.producer.module
    type = link.outputs.slots[word[0].key].type
    out: list[Inst] = []
    parts: list[Inst] = []
    for half in word:
        part = half.stored.get(site) or types.null(module, type)
        if part.type is not type:  # the sign of an integer
            part = value(module, ops.OpBitcast, type, [part], ())
            out.append(part)
        parts.append(part)
    if len(parts) == 1:
        parts.append(types.null(module, type))
    pair = types.vector(module, type, 2)
    out.append(value(module, ops.OpCompositeConstruct, pair, parts, ()))
    out.append(value(module, ops.OpBitcast, types.integer(module), [out[-1]], ()))
    return out[-1], out


def replace(
    link: Link, keys: list[int], stored: dict[int, tuple[Inst, list[Inst]]],
    unpack: Callable[[Inst, int, Inst, list[Inst]], None], what: str,
) -> None:  # fmt: skip
    """Store words in place of their parts, load them and take the parts out."""
    first, module = keys[0], link.consumer.module
    names = [link.outputs.slots[k].name or link.inputs.slots[k].name for k in keys]
    title = "_".join(dict.fromkeys(n for n in names[:NAMED] if n))
    numbers = types.integer(module), types.integer(link.producer.module)
    remove_stores(link.producer, set(keys))
    for site, (word, made) in stored.items():
        link.insert(site, [*made, link.store(site, first, word)])
    entry = module.entry
    assert entry is not None
    for block in entry.function.blocks:
        if not any(i.op in _LOADS and i.imm[0] in keys for i in block.insts):
            continue
        out: list[Inst] = []
        for inst in block.insts:
            if inst.op not in _LOADS or inst.imm[0] not in keys:
                out.append(inst)
                continue
            vertex = list(inst.args) if inst.op == LOAD_INPUT else []
            out.append(value(module, LOAD_INPUT, numbers[0], vertex, (first,)))
            unpack(inst, keys.index(inst.imm[0]), out[-1], out)
        block.insts = out
    touched(module)
    group = 1 + max(s.group for s in link.inputs.slots.values())
    redefine(link, first, numbers, title, (0, group), link.inputs.slots[first].qualifiers)
    others = ", ".join(dict.fromkeys(n for n in names if n))
    for key in keys:
        link.remarks.fate[key] = (PACKED, f"{what} of a word; the word holds {others}")
