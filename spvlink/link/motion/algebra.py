"""Code that crosses a border, in either direction: the algebra that both passes stand on.

Notation. A primitive has vertices 1..n; the producer stores x_i for an output x at vertex i. The
consumer reads interp(x) = sum of w_i * x_i, where the weights w_i come from the qualifiers (and the
argument of interpolateAt*) and the pixel alone, the same for every input with these qualifiers, and
sum to 1. A Flat input is x_p at the provoking vertex p. A value is convergent if it is equal at all
vertices of a primitive: constants, uniforms, and outputs that ``divergence`` shows to be.

Theorem 1 (Flat). f(x_p, y_p) = (f(x, y))_p for every f that depends on its operands alone: what is
computed from Flat and convergent inputs can be computed before or after the border.

Theorem 2 (interpolated). With c, d convergent, since sums commute with sums and the w_i sum to 1:

    interp(x) + interp(y) = interp(x + y)        interp(x) * c = interp(x * c)
    interp(x) + c         = interp(x + c)        interp(x) / c = interp(x / c)
    -interp(x)            = interp(-x)           c ? interp(x) : interp(y) = interp(c ? x : y)

hence differences, fma and mix with a convergent factor, dot, cross and matrix products with one
convergent operand, and all compositions. All that varies in one expression must have the same
weights, that is the same qualifiers and the same argument of interpolateAt*. A product of two
interpolated values, an absolute value, a maximum, a comparison are not linear: they stay.

What breaks it, and what is done about it:
* Rounding. Theorem 2 holds for real numbers; floats differ in the last bits of the terms, not of
  what is left where these cancel (docs/explanation/proof.md has the bound). ``--exact`` moves
  nothing across interpolation, and of Flat values only what no compiler may round or contract.
* Poles. A quotient, a root, ``normalize`` enlarge that without bound beside a zero: what goes
  there stays, unless it is known to stay away from zero (``poles``).
* Jumps. Where the result of float arithmetic goes into floor, fract, a conversion to integers, a
  comparison, a lookup and the like (hashes, noise, checkerboards), here or in a later stage, a last
  bit becomes another picture: such values stay (``sensitive``), Flat ones too, since a compiler may
  contract them in one stage and not in the other. A sign and a power of two change no bits
  (``scales``); ``--relaxed`` lifts some of that (``lenient``). What floor and the like make of
  convergent values is not interpolated either: int(floor(id + 0.5)) is right for a rounded id, and
  wrong for a rounded floor. Nor is it made of what is Flat and what is interpolated, unless the
  latter may come to the bit everywhere (``rounded``).
* Weights that do not sum to 1. They do in the middle of a pixel; elsewhere (Centroid, Sample,
  interpolateAt*) at least one driver is off where w varies, by a quarter in places. There only
  homogeneous sums move: x + y, but not x + c; and nothing that is read so counts as convergent.
* Infinity and NaN. interp(inf) is NaN (0 * inf), so is what is computed from it, but in another
  place. So a division by what is no constant does not cross interpolation, nor does a factor with a
  logarithm or another pole in it (UNBOUNDED). What overflows, and uniforms that are infinities, are
  not considered. Where the consumer preserves specials, nothing moves across interpolation.
* NoContraction and fast-math decorations tie an operation to its place; RelaxedPrecision does not:
  computing with more precision is always allowed.
* Undefined values. An output that some path does not store is undefined there. All outputs of one
  expression must be stored at exactly the same places, so that the new one is undefined where they
  were and nowhere else (``c ? x : y`` may be defined where x is not).
* Speculation. What moves runs where it may not have run before, so it must be defined to go on for
  all operands: no integer division, no conversion of a float to an integer, no dynamic index.
* Neighbours. Derivatives, implicit-LOD sampling and subgroup operations depend on who else runs.
  They stay, but their operands may move: an interpolated input is defined in helper lanes too.
* Visibility. Uniforms travel with the expression, if the other stage may read them (``transfer``).
* Which vertex provokes, clipping, and sample shading change nothing: the new value crosses exactly
  as the old ones did, and clipping interpolates linearly too.

Both directions look at scalars (``lanes``) and choose what crosses by a minimum cut: each value
that crosses costs a component, each operation costs its work times how often its stage runs
(``--expect``). A component costs ``COMPONENT_PRICE`` operations per fragment (``propagate``).
"""

from __future__ import annotations

import math

from spvlink.facts import scalars
from spvlink.facts.effects import Effects
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, Inst, Module
from spvlink.ir.edit import glsl_import, value
from spvlink.ir.slot import Slot
from spvlink.link.border.link import Link
from spvlink.link.motion.nodes import WIDTHS
from spvlink.link.resources.blocks import Cannot, size_of
from spvlink.link.resources.transfer import Transfer

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Sequence
    from typing import Final

_WORDS: Final = frozenset((32,))
_OF_OTHER_KINDS: Final = info.KIND_DECORATIONS | {enums.Decoration_PerVertexKHR}
_NUMBERS: Final = frozenset((ops.OpTypeInt, ops.OpTypeBool))
FAR: Final = 4096.0  # the largest factor that ``scales``
_FLOAT_SAFE: Final = frozenset((ops.OpBitcast, ops.OpSelect))  # move the bits of floats, unchanged


def speculatable(effects: Effects, inst: Inst) -> bool:
    """Whether an operation may run where it did not run before, and depends on its operands
    alone."""
    worker = scalars.worker(inst)
    if not effects.flags(worker) & info.SPECULATABLE:
        return False
    signature = effects.signatures.get(worker)
    relaxed = ((enums.Decoration_RelaxedPrecision,),)
    return (signature is None or signature == relaxed) and all(
        scalars.count(a.type) for a in scalars.operands(inst)
    )


def bit_exact(inst: Inst) -> bool:
    """Whether every compiler computes the same bits: integers, booleans, and floats only moved."""
    if inst.op in _FLOAT_SAFE:
        return True
    involved = [inst, *scalars.operands(inst)]
    return all(i.type is not None and scalars.scalar(i.type).op in _NUMBERS for i in involved)


def scales(inst: Inst, number: int) -> bool:
    """Whether a lane is a float of 32 bits negated, or times a constant power of two that makes
    neither infinities nor denormals of usual numbers: no sum of such is rounded in another way."""
    type = scalars.scalar(inst.type) if inst.type is not None else None
    if type is None or type.op != ops.OpTypeFloat or type.imm[0] != 32:
        return False
    if inst.op not in (ops.OpFMul, ops.OpVectorTimesScalar):
        return inst.op == ops.OpFNegate
    for factor in inst.args:
        known = number_of(factor, number) if types.IS_CONSTANT[factor.op] else None
        if known and abs(math.frexp(known)[0]) == 0.5 and 1 / FAR <= abs(known) <= FAR:
            return True
    return False


def cost_of(inst: Inst) -> int:
    """ALU operations of one lane of a result."""
    if inst.op == ops.OpExtInst:
        return info.GLSL_COST.get(inst.imm[0], info.GLSL_DEFAULT_COST)
    if scalars.widens(inst):
        return 0  # no reason to let 32 bits cross in place of 16
    return info.COST.get(scalars.worker(inst).op, info.DEFAULT_COST)


def widths_of(link: Link) -> frozenset[int]:
    """The widths of new interface variables: 32 bits, and 16 where both stages declare that."""
    wanted = enums.Capability_StorageInputOutput16
    both = link.producer.module, link.consumer.module
    if all(any(c.imm[0] == wanted for c in m.sections[CAPABILITIES]) for m in both):
        return WIDTHS
    return _WORDS


def in_word(type: Inst, widths: frozenset[int]) -> bool:
    """Whether a lane of this type crosses as an integer of 32 bits: a boolean, and an integer of 16
    bits where the interface has none. Both come back as they were."""
    if type.op == ops.OpTypeBool:
        return True
    return type.op == ops.OpTypeInt and type.imm[0] == 16 and 16 not in widths


def crosses(type: Inst, flat: bool, widths: frozenset[int]) -> bool:
    """Whether a lane of this type can be an interface variable: booleans and short integers as
    integers, and integers Flat."""
    if in_word(type, widths):
        return flat
    if not types.is_plain_number(type):
        return False  # no interface has such (VUID-StandaloneSpirv-OpTypeFloat-10370)
    return type.imm[0] in widths and (flat or type.op == ops.OpTypeFloat)


class Cloner:
    """Makes lanes of one module's values in another module, vectors as vectors where all of it
    moves. Subclasses say where a lane really comes from, and what is there already."""

    def __init__(self, transfer: Transfer, out: list[Inst]) -> None:
        self.transfer = transfer
        self.out = out  # new instructions are appended
        self.known: dict[Lane, Inst] = {}
        self.aggregates: dict[Inst, Inst] = {}
        self.results: dict[Inst, Inst] = {}  # of what is computed as a whole
        self.effects = Effects.of(transfer.source)

    def origin(self, lane: Lane) -> Lane:
        """The lane of a computed value that this lane is a copy of."""
        raise NotImplementedError

    def free(self, inst: Inst) -> bool:
        """Whether a value depends on nothing but constants and uniforms."""
        raise NotImplementedError

    def complete(self, inst: Inst) -> bool:
        """Whether all lanes of a value, and so of its operands, may be made."""
        raise NotImplementedError

    def emit(self, op: int, type: Inst | None, args: list[Inst], imm: tuple[int, ...]) -> Inst:
        self.out.append(value(self.transfer.target, op, type, args, imm))
        return self.out[-1]

    def lane(self, lane: Lane) -> Inst:
        """The scalar."""
        lane = self.origin(lane)
        scalar = self.known.get(lane)
        if scalar is None:
            scalar = self.known[lane] = self.make(lane)
        return scalar

    def make(self, lane: Lane) -> Inst:
        inst, number = lane
        assert inst.type is not None
        if self.free(inst):
            return self.part(self.whole(inst), inst.type, number)
        flags = self.effects.flags(inst)
        if self.at_once(inst) and (self.own(inst) or not scalars.splits(inst, flags)):
            return self.part(self.result(inst), inst.type, number)
        by_lane = scalars.lanewise(inst, flags)
        parts = [[self.lane(p) for p in group] for group in scalars.made_of(inst, number, by_lane)]
        op = ops.OpFMul if inst.op == ops.OpVectorTimesScalar else inst.op
        type = self.transfer.type(scalars.scalar(inst.type))
        return self.operation(inst, op, type, [group[0] for group in parts])

    def operation(self, inst: Inst, op: int, type: Inst, args: list[Inst]) -> Inst:
        if inst.op == ops.OpExtInst:
            args = [glsl_import(self.transfer.target), *args]
        worker = scalars.worker(inst)
        if worker is not inst:
            pair = types.make(self.transfer.target, ops.OpTypeStruct, None, [type, type], ())
            return self.emit(op, type, [self.emit(worker.op, pair, args, ())], inst.imm[:1])
        return self.emit(op, type, args, inst.imm)

    def part(self, whole: Inst, type: Inst, number: int) -> Inst:
        """One lane of a value of the target that has this type in the source."""
        return (
            whole
            if scalars.count(type) == 1
            else take(self.transfer.target, whole, number, self.out)
        )

    def whole(self, inst: Inst) -> Inst:
        """All lanes of a value as one."""
        aggregate = self.aggregates.get(inst)
        if aggregate is not None:
            return aggregate
        assert inst.type is not None
        if self.free(inst):
            return self.transfer.copy(inst, self.out, self.aggregates)
        places = [self.origin((inst, n)) for n in range(scalars.count(inst.type))]
        source = places[0][0]
        same = source.type is inst.type and all(p == (source, n) for n, p in enumerate(places))
        if not same:
            made = self.construct(inst.type, [self.lane(p) for p in places])
        elif source is not inst:
            made = self.whole(source)
        elif places[0] in self.known or not self.at_once(inst):
            made = self.construct(inst.type, [self.lane(p) for p in places])
        else:
            made = self.result(inst)
        self.aggregates[inst] = made
        return made

    def at_once(self, inst: Inst) -> bool:
        """Whether one instruction may make all lanes. A member of a pair is made lane by lane."""
        return scalars.worker(inst) is inst and self.complete(inst)

    def own(self, inst: Inst) -> bool:
        """Whether no lane of a value is a copy of another lane."""
        size = scalars.count(inst.type)
        return size == 1 or all(self.origin((inst, n)) == (inst, n) for n in range(size))

    def result(self, inst: Inst) -> Inst:
        """All lanes of a value, by its operation."""
        result = self.results.get(inst)
        if result is None:
            assert inst.type is not None
            args = [self.whole(a) for a in scalars.operands(inst)]
            result = self.operation(inst, inst.op, self.transfer.type(inst.type), args)
            self.results[inst] = result
        return result

    def construct(self, type: Inst, parts: list[Inst]) -> Inst:
        return gather(self.transfer.target, self.transfer.type(type), parts, self.out)


def to_word(module: Module, made: Inst, widths: frozenset[int], out: list[Inst]) -> Inst:
    """The integer that crosses in place of a value (``in_word``); anything else as it is."""
    assert made.type is not None
    if not in_word(made.type, widths):
        return made
    number = types.integer(module)
    if made.type.op == ops.OpTypeBool:
        one, zero = (types.constant(module, number, n) for n in (1, 0))
        out.append(value(module, ops.OpSelect, number, [made, one, zero], ()))
    else:
        out.append(value(module, ops.OpSConvert, number, [made], ()))
    return out[-1]


def of_word(module: Module, word: Inst, type: Inst, out: list[Inst]) -> Inst:
    """The value of this type that crossed as an integer."""
    assert word.type is not None
    if type.op == ops.OpTypeBool:
        zero = types.constant(module, word.type, 0)
        out.append(value(module, ops.OpINotEqual, type, [word, zero], ()))
    else:
        out.append(value(module, ops.OpSConvert, type, [word], ()))  # OpUConvert makes no signed
    return out[-1]


def take(module: Module, whole: Inst, number: int, out: list[Inst]) -> Inst:
    """One lane of a vector or matrix; the instruction is appended."""
    type = whole.type
    assert type is not None
    path: tuple[int, ...] = (number,)
    if type.op == ops.OpTypeMatrix:
        path = divmod(number, type.args[0].imm[0])
    out.append(value(module, ops.OpCompositeExtract, scalars.scalar(type), [whole], path))
    return out[-1]


def gather(module: Module, type: Inst, parts: list[Inst], out: list[Inst]) -> Inst:
    """A scalar, vector or matrix of its lanes; instructions are appended."""
    if len(parts) == 1:
        return parts[0]
    if type.op == ops.OpTypeMatrix:
        rows = type.args[0].imm[0]
        parts = [
            gather(module, type.args[0], parts[n : n + rows], out)
            for n in range(0, len(parts), rows)
        ]
    out.append(value(module, ops.OpCompositeConstruct, type, parts, ()))
    return out[-1]


def typed(transfer: Transfer, out: list[Inst], stored: Inst, type: Inst) -> Inst:
    """A value of the target as the source's type: the sign of an integer may differ across a
    border."""
    wanted = transfer.type(type)
    if stored.type is wanted:
        return stored
    out.append(value(transfer.target, ops.OpBitcast, wanted, [stored], ()))
    return out[-1]


Wanted = tuple[tuple[int, ...], Inst]  # qualifiers, the vector or scalar that a new value is of


def assign(link: Link, wanted: Sequence[Wanted], freed: set[int]) -> list[int | None]:
    """For each new value a component that gets free: that of one of its qualifiers and type, one in
    a Location of such, or in one that gets free as a whole, if that needs no more Locations; None
    where there is none."""
    slots = link.inputs.slots
    own = {k: (slots[k].qualifiers, slots[k].type.op, slots[k].width) for k in slots}
    kinds = {
        k >> 3: own[k]
        for k in link.used() if k in slots and k not in freed
        and slots[k].width != 64  # a word stands beside such until it is packed (``halves``)
    }  # fmt: skip
    change = _may_change(link, wanted, freed)
    widths = widths_of(link)
    left = sorted(freed)
    places: list[int | None] = []
    for qualifiers, whole in wanted:
        assert whole.type is not None
        base = scalars.scalar(whole.type)
        kind = qualifiers, ops.OpTypeInt, 32
        if not in_word(base, widths):
            kind = qualifiers, base.op, base.imm[0]
        if kind[1] == ops.OpTypeInt and _of_a_primitive(qualifiers):
            places.append(None)
            continue
        fits = [k for k in left if kind in (own[k], kinds.get(k >> 3, kind))]
        same = [k for k in fits if slots[k].qualifiers == qualifiers]
        if not same and not change:
            places.append(None)
            continue
        key = next(iter(same or fits), None)
        places.append(key)
        if key is not None:
            kinds[key >> 3] = kind
            left.remove(key)
    return places


def _of_a_primitive(qualifiers: tuple[int, ...]) -> bool:
    """Whether a slot has one value for each primitive without being Flat, as integers of a fragment
    shader must be (VUID-StandaloneSpirv-Flat-04744)."""
    per_primitive = enums.Decoration_PerPrimitiveEXT in qualifiers
    return per_primitive and enums.Decoration_Flat not in qualifiers


def _may_change(link: Link, wanted: Sequence[Wanted], freed: set[int]) -> bool:
    """Whether as many Locations suffice if components change their qualifiers."""
    if link.exact:
        return False
    slots, widths = link.inputs.slots, widths_of(link)
    before: dict[object, int] = {}  # what may share a Location -> components
    for key in link.used():
        slot = slots.get(key)
        if slot is not None:
            kind = slot.qualifiers, slot.width
            before[kind] = before.get(kind, 0) + 1
    after = dict(before)
    for key in freed:
        after[slots[key].qualifiers, slots[key].width] -= 1
    all_kinds = [slots[k].qualifiers for k in freed] + [q for q, _ in wanted]
    if any(_OF_OTHER_KINDS.intersection(q) for q in all_kinds):
        return False  # what is per vertex is no value of a patch or primitive
    for qualifiers, whole in wanted:
        assert whole.type is not None
        base = scalars.scalar(whole.type)
        kind = qualifiers, 32 if in_word(base, widths) else base.imm[0]
        after[kind] = after.get(kind, 0) + 1
    return _locations(after) <= _locations(before)


def _locations(components: dict[object, int]) -> int:
    return sum(-(-count // 4) for count in components.values())


def redefine(
    link: Link, key: int, own: tuple[Inst, Inst], name: str, spot: tuple[int, int],
    qualifiers: tuple[int, ...],
) -> list[Slot]:  # fmt: skip
    """A slot holds another value from now on; gives both sides of it. ``own``: its type in the
    consumer and in the producer; ``spot``: the lane and the number of its vector."""
    old_name = link.outputs.slots[key].name or link.inputs.slots[key].name
    link.remarks.made.setdefault(key, old_name)
    for side, type in zip((link.inputs, link.outputs), own):
        old = side.slots[key]
        slot = Slot(key, type, old.variable, name, *spot)
        slot.qualifiers = qualifiers
        slot.length = old.length
        side.slots[key] = slot
        side.aggregates = [w for w in side.aggregates if not any(key in c for c in w.columns)]
    return [side.slots[key] for side in (link.inputs, link.outputs)]


def declared(transfer: Transfer, uniforms: Iterable[Inst]) -> bool:
    """Declare the resources that moved code reads, the largest first (``propagate``); False if
    one is in the way of another."""
    loads = [u for u in dict.fromkeys(uniforms) if u.op not in types.CONSTANTS]
    wanted = [a for u in loads for a in transfer.accesses(u)]
    wanted.sort(key=lambda access: -size_of(access.type, access.words))
    try:
        for access in wanted:
            transfer.place(access)
    except Cannot:
        return False
    return True
