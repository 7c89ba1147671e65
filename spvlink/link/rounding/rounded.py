"""Find the inputs that may come exact in place of interpolated, without a change of the picture.

    vertex:   flag = 1.0                             fragment sees 0.99999994, 1.0 or 1.0000001
    fragment: if (flag > 0.5) ...                    the same for all of these: flag may be exact
              x = floor(flag)                        0 or 1: flag stays interpolated

Interpolating values that are equal at all vertices gives c * (1 + e) with a small |e|; 0 gives 0. A
pass may send the exact c instead (``propagate``, a Flat duplicate in ``dedup``, ``compact``,
``share``). The picture stays the same if every operation that is not continuous has one result for
all of these values.

The analysis goes forward from the loads, lane by lane. Each value that depends on one has a range,
which holds it before and after, and a fact: whether it keeps its sign (c * u is zero exactly if it
was; c + u need not be). These are decided: a comparison of ranges that do not meet, or of a kept
sign with zero; floor, fract, a conversion to an integer and the like if both ends of the range give
the same. These are not: a sum of terms so large that their last bit matters, if little may be left
of them; a comparison with an unknown value (a uniform, a texel, another varying); texture
coordinates, whose filter is unknown, except layers, which are rounded. A value that is only known
to be equal at all vertices may be any number, and keeps its sign, unless it is a choice that may
be a constant -0.

All inputs are analysed together. Each undecided place keeps all inputs that it depends on. The
result for the others stays right, since a kept input lies in its range, too.
"""

from __future__ import annotations

import math

from spvlink.facts import scalars
from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import Effects, root
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, glsl, info, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst
from spvlink.ir.known import fact
from spvlink.link.border.link import Link
from spvlink.link.border.uniformity import varies_at_a_glance
from spvlink.link.border.values import centred
from spvlink.link.rounding import sensitive
from spvlink.link.rounding.ranges import (
    ANY,
    FEW_DIGITS,
    GLSL,
    NOBODY,
    OPS,
    Inf,
    Range,
    all_of,
    dot,
    hull,
    negated,
    of_any,
    product,
    sum_of,
    widened,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

# How far interpolation may be off, as a part of the value: much more than was ever seen in the
# middle of a pixel, where only rounding counts; elsewhere some thousandths were seen (``motion``).
CENTRED: Final = 2.0**-10
ASIDE: Final = 2.0**-6
_PATIENCE: Final = 3  # sweeps after which ranges that still grow are any value


_PRODUCTS: Final = frozenset(
    (ops.OpDot, ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix, ops.OpMatrixTimesMatrix)
)
_COMPARISONS: Final = frozenset(
    (
        ops.OpFOrdEqual, ops.OpFUnordEqual, ops.OpFOrdNotEqual, ops.OpFUnordNotEqual,
        ops.OpFOrdLessThan, ops.OpFUnordLessThan, ops.OpFOrdGreaterThan, ops.OpFUnordGreaterThan,
        ops.OpFOrdLessThanEqual, ops.OpFUnordLessThanEqual, ops.OpFOrdGreaterThanEqual,
        ops.OpFUnordGreaterThanEqual,
    )
)  # fmt: skip
# Continuous where the first operand is not negative.
_FROM_ZERO: Final = frozenset((glsl.Glsl_Sqrt, glsl.Glsl_Pow))
_SUMS: Final = frozenset((ops.OpFAdd, ops.OpFSub))
_WAVES: Final = frozenset((glsl.Glsl_Sin, glsl.Glsl_Cos, glsl.Glsl_Tan))
_CANCELLING: Final = _WAVES | {glsl.Glsl_Cross, glsl.Glsl_Distance, glsl.Glsl_Reflect}
TESTS: Final = frozenset((ops.OpIsNan, ops.OpIsInf))
_STEPS: Final[dict[int, Callable[[float], float]]] = {  # constant between their jumps
    glsl.Glsl_Floor: math.floor,
    glsl.Glsl_Ceil: math.ceil,
    glsl.Glsl_Trunc: math.trunc,
    glsl.Glsl_Round: round,
    glsl.Glsl_RoundEven: round,
}
_TO_INTEGER: Final = frozenset((ops.OpConvertFToS, ops.OpConvertFToU))


def _apart(a: Range, b: Range) -> bool:
    """Whether a comparison of two values has one result."""
    if a.high < b.low or a.low > b.high:
        return True
    for one, other in ((a, b), (b, a)):
        if other.low == 0 == other.high and not other.keys and one.signed:
            return True
    return False


def _flat_between(step: Callable[[float], float], a: Range) -> float | None:
    """The one result that a step function has in a range; None if there may be several. Halves may
    go either way."""
    if not a.bounded():
        return None
    if step is round and math.ceil(a.low - 0.5) != math.floor(a.high + 0.5):
        return None
    return float(step(a.low)) if step(a.low) == step(a.high) else None


class Rounded:
    """What depends on the interpolated inputs of a border's consumer."""

    def __init__(self, link: Link) -> None:
        module = link.consumer.module
        assert module.entry is not None
        self.link = link
        self.kept: dict[int, Inst] = {}  # keys that must not come exact -> what depends on them
        self.poles: dict[int, Inst] = {}  # keys -> what has a pole there
        self.ranges: dict[Inst, list[Range]] = {}
        self.memory: dict[Inst | None, Range] = {}
        self.varying: set[Inst] | None = None  # by ``varies``
        self.cfg: Cfg | None = None
        self.seeds = {k: seed for k in link.loads if (seed := self.seed(k)) is not None}
        if not self.seeds:
            return
        self.effects = Effects.of(module)
        self.sinks = sensitive.of(module)
        self.cfg = Cfg.of(module, module.entry.function)
        # whether everything is seen before it is used
        self.straight = all(merge.op != ops.OpLoopMerge for _, merge in self.cfg.headers)
        self.sweeps = int(self.straight)
        while True:
            self.moved = False  # no range grew
            for block in self.cfg.order:
                for inst in block.insts:
                    self.look(inst)
            self.sweeps += 1
            if not self.moved or (self.straight and not self.memory):
                break

    # -- asking ------------------------------------------------------------------------------------

    def free(self, key: int) -> bool:
        """Whether an input may come exact where it was interpolated; says what has a pole there."""
        if key not in self.seeds or key in self.kept:
            return False
        place = self.poles.get(key)
        if place is not None:
            what = sensitive.words(self.link.consumer.module, place)
            why = f"{what} in the {self.link.consumer.name} stage has a pole there"
            self.link.remarks.cautions[key] = why
        return True

    def why(self, key: int) -> str:
        """What stands in the way."""
        place = self.kept.get(key)
        if place is None:
            return "interpolation may round it"
        what = sensitive.words(self.link.consumer.module, place)
        where = f"{what} in the {self.link.consumer.name} stage"
        return f"interpolation may round it, and {where} could come out otherwise"

    # -- looking -----------------------------------------------------------------------------------

    def seed(self, key: int) -> tuple[float, float, bool] | None:
        """The range of what is stored to an interpolated input, if all vertices may agree on it,
        and whether a negative zero is stored, which comes over as +0."""
        link = self.link
        slot = link.inputs.slots.get(key)
        if slot is None or key not in link.stores or link.carries_bits(slot):
            return None
        values = {store.args[0] for store in link.stores[key]}
        numbers = [number_of(v, 0) for v in values]
        if all(n is not None for n in numbers):
            known = [n for n in numbers if n is not None]
            return min(known), max(known), any(map(sensitive.negative_zero, known))
        if link.producer.name == "vert" and varies_at_a_glance(link, key):
            return None
        chosen = [number_of(*lane) for lane in sensitive.choices(values)]
        return -Inf, Inf, any(n is not None and sensitive.negative_zero(n) for n in chosen)

    def loaded(self, load: Inst) -> Range | None:
        key = load.imm[0]
        if key not in self.seeds:
            return None
        low, high, negative = self.seeds[key]
        if low == high == 0 and not negative:
            return None
        slot = self.link.inputs.slots[key]
        middle = load.op == LOAD_INPUT and centred(slot.qualifiers)
        narrow = slot.relaxed or self.link.outputs.slots[key].relaxed or slot.width == 16
        off = CENTRED if middle and not narrow else ASIDE
        low, high = low - abs(low) * off, high + abs(high) * off
        return Range(low, high, not negative, frozenset((key,)))

    def at(self, lane: Lane) -> Range:
        """What is known of a scalar."""
        inst, number = lane
        lanes = self.ranges.get(inst)
        if lanes is not None:
            return lanes[number]
        known = number_of(inst, number)
        return ANY if known is None else Range(known, known, True, NOBODY)

    def put(self, inst: Inst, made: list[Range]) -> None:
        old = self.ranges.get(inst)
        if old is not None:
            if all(a.same(b) for a, b in zip(old, made)):
                return
            made = [hull([a, b]) for a, b in zip(old, made)]
            if self.sweeps >= _PATIENCE:
                made = [of_any([r], False) for r in made]
            if all(a.same(b) for a, b in zip(old, made)):
                return
        self.ranges[inst] = made
        self.moved = True

    def keep(self, ranges: list[Range], place: Inst) -> None:
        """An operation depends on these."""
        for one in ranges:
            for key in one.keys:
                self.kept.setdefault(key, place)

    def keep_singular(self, ranges: list[Range], place: Inst, operand: Inst) -> None:
        """An operation with a pole: what varies is beside that on a line at most."""
        if not self.varies(operand):
            self.keep(ranges, place)
            return
        for one in ranges:
            for key in one.keys:
                self.poles.setdefault(key, place)

    def varies(self, value: Inst) -> bool:
        """Whether a value is made of an input that differs over the primitive."""
        if self.varying is None:
            self.varying = self.found_varying()
        return value in self.varying

    def found_varying(self) -> set[Inst]:
        """Forward from the loads, as asking each divisor what it is made of is not linear."""
        assert self.cfg is not None
        varying: set[Inst] = set()
        before = -1
        while before < len(varying):  # again for the phis of loops
            before = len(varying)
            for block in self.cfg.order:
                for inst in block.insts:
                    if inst.op in (LOAD_INPUT, INTERPOLATE):
                        key = inst.imm[0]
                        slot = self.link.inputs.slots.get(key)
                        if slot is not None and key not in self.seeds:
                            if not self.link.carries_bits(slot):
                                varying.add(inst)
                    elif not varying.isdisjoint(inst.args) and inst not in varying:
                        if inst.op == ops.OpPhi or self.effects.flags(inst) & info.SPECULATABLE:
                            varying.add(inst)
            if self.straight:
                break
        return varying

    def look(self, inst: Inst) -> None:
        op = inst.op
        if op in (LOAD_INPUT, INTERPOLATE):
            read = self.loaded(inst)
            if read is not None:
                self.put(inst, [read])
            self.keep([self.at(lane) for lane in self.sinks.decisive(inst)], inst)
            return
        if op == ops.OpLoad:
            self.read(inst)
            return
        if op == ops.OpStore or op == ops.OpCopyMemory:
            self.write(inst)
            return
        table = self.ranges
        if table.keys().isdisjoint(inst.args):
            return
        if op == ops.OpPhi:
            size = scalars.count(inst.type) or 1
            seen = [a for a in inst.args[::2] if a in table or a.op in types.CONSTANTS]
            rest = any(a not in seen for a in inst.args[::2]) and self.sweeps > 0
            made = [hull([self.at((a, n)) for a in seen]) for n in range(size)]
            self.put(inst, [hull([r, ANY]) for r in made] if rest else made)
            return
        if op in scalars.MOVES and (moved := scalars.moved(inst)) is not None:
            self.put(inst, [self.at(lane) for lane in moved])
            return
        if sensitive.is_insert(inst):
            made = [self.at((inst.args[1], n)) for n in range(scalars.count(inst.type))]
            made[inst.imm[0]] = self.at((inst.args[0], 0))
            self.put(inst, made)
            return
        self.compute(inst)

    def read(self, load: Inst) -> None:
        if not self.memory or self.effects.reads_constant(load):
            return
        stored = self.memory.get(sensitive.place_of(root(load.args[0])))
        if stored is not None:
            self.put(load, [stored] * (scalars.count(load.type) or 1))

    def write(self, inst: Inst) -> None:
        """What is stored anywhere in a variable may be read from all of it."""
        stored = inst.args[1]
        made = [self.at(lane) for lane in sensitive.all_lanes(stored)]
        if inst.op == ops.OpCopyMemory:
            made = [r for r in [self.memory.get(sensitive.place_of(root(stored)))] if r is not None]
        keys = all_of(made)
        if not keys:
            return
        variable = root(inst.args[0])
        if self.sinks.decides(variable):
            self.keep(made, inst)
        place = sensitive.place_of(variable)
        old = self.memory.get(place)
        new = of_any(made if old is None else [*made, old], all(r.signed for r in made))
        new.signed = new.signed and (old is None or old.signed)
        if old is None or not old.same(new):
            self.memory[place] = new
            self.moved = True

    def compute(self, inst: Inst) -> None:
        """An operation, lane by lane where it works so."""
        flags = self.effects.flags(inst)
        size = scalars.count(inst.type)
        operands = scalars.operands(inst)
        splits = size and all(scalars.count(a.type) for a in operands)
        if not splits or not flags & (info.SPECULATABLE | info.LANEWISE):
            self.whole(inst, flags)
            return
        for lane in sensitive.steep(inst):
            operand = self.at(lane)
            if inst.op == ops.OpExtInst and inst.imm[0] == glsl.Glsl_SmoothStep:
                edges = [
                    self.at((a, min(lane[1], scalars.count(a.type) - 1))) for a in operands[:2]
                ]
                decided = _apart(operand, hull(edges))
            else:
                decided = operand.signed and operand.bounded()
            if not decided:
                self.keep([operand], inst)
        lanewise = scalars.lanewise(inst, flags)
        made = []
        for number in range(size):
            groups = [
                [self.at(lane) for lane in group]
                for group in scalars.made_of(inst, number, lanewise)
            ]
            made.append(self.result(inst, flags, groups))
        self.put(inst, made)

    def whole(self, inst: Inst, flags: int) -> None:
        """Lookups, calls and everything else that is no arithmetic on lanes."""
        operands = scalars.operands(inst)
        made = [self.at(lane) for a in operands for lane in sensitive.all_lanes(a)]
        layer = layer_of(inst)
        decisive = self.sinks.decisive(inst) if sensitive.ends(inst) else []
        for lane in decisive:
            operand = self.at(lane)
            if lane != layer or _flat_between(round, operand) is None:
                self.keep([operand], inst)
        if inst.id and all_of(made) and not decisive:
            self.put(inst, [of_any(made)] * (scalars.count(inst.type) or 1))

    def result(self, inst: Inst, flags: int, groups: list[list[Range]]) -> Range:
        """One lane of an operation."""
        every = [r for group in groups for r in group]
        if not all_of(every):
            return self.known(inst, groups, every)
        number = inst.imm[0] if inst.op == ops.OpExtInst else -1
        if flags & info.DISCONTINUOUS or sensitive.quantizes(inst):
            return self.jump(inst, number, [group[0] for group in groups], every)
        if inst.op in TESTS:
            return ANY
        if flags & info.DERIVATIVE:
            wide = 2.0 * (every[0].high - every[0].low)
            return Range(-wide, wide, False, every[0].keys)
        if inst.op == ops.OpFDiv:
            if not groups[1][0].signed:
                self.keep_singular(groups[1], inst, inst.args[1])
        elif number == glsl.Glsl_SmoothStep:
            edges = [groups[0][0], groups[1][0]]
            if all_of(edges) and not _apart(*edges):
                self.keep_singular(edges, inst, inst.args[1 if edges[0].keys else 2])
        elif number == glsl.Glsl_Atan2:
            self.turn(inst, groups[0][0], groups[1][0])
        elif flags & info.SINGULAR and not all(r.signed for r in every):
            base = inst.args[1] if number == glsl.Glsl_Pow else inst
            if number not in _FROM_ZERO or groups[0][0].low < 0 or not self.varies(base):
                self.keep_singular(every, inst, base)
        made = self.known(inst, groups, every)
        if not made.signed and any(map(_large, _terms(inst.op, number, groups, every))):
            self.keep(every, inst)  # what was multiplied by that much, less as much
        return made

    def turn(self, inst: Inst, y: Range, x: Range) -> None:
        """An angle jumps where y changes its sign and x is not positive, or x its own and y is
        zero."""
        if not y.signed and x.low <= 0:
            self.keep_singular([y, x], inst, inst.args[1])
        elif not x.signed and y.low <= 0 <= y.high:
            self.keep_singular([y, x], inst, inst.args[2])

    def known(self, inst: Inst, groups: list[list[Range]], every: list[Range]) -> Range:
        """The range of a continuous operation."""
        if inst.op in _PRODUCTS:
            return dot(groups[0], groups[1])
        table, name = (GLSL, inst.imm[0]) if inst.op == ops.OpExtInst else (OPS, inst.op)
        act = table.get(name)
        if act is None:
            return of_any(every)
        made = act(*[group[0] for group in groups])
        assert inst.type is not None
        if inst in self.effects.signatures or scalars.scalar(inst.type).imm[:1] == (16,):
            return widened(made.low, made.high, made.signed, made.keys, FEW_DIGITS)
        return made

    def jump(self, inst: Inst, number: int, operands: list[Range], every: list[Range]) -> Range:
        """An operation that is not continuous: decided, or kept from being asked."""
        first = operands[0]
        if inst.op in _COMPARISONS:
            if inst.args[0] is inst.args[1] or _apart(*operands):
                return ANY
        elif number == glsl.Glsl_Step:
            if _apart(*operands):
                return ANY
        elif number == glsl.Glsl_FSign:
            if first.signed:
                return ANY
        elif inst.op in _TO_INTEGER:
            if _flat_between(math.trunc, first) is not None:
                return ANY
        elif number == glsl.Glsl_Fract:
            below = _flat_between(math.floor, first)
            if below is not None:
                return Range(first.low - below, first.high - below, False, first.keys)
        elif number in _STEPS:
            at = _flat_between(_STEPS[number], first)
            if at is not None:
                return Range(at, at, True, NOBODY)
        elif number in (glsl.Glsl_Asin, glsl.Glsl_Acos):
            if first.low > -1 and first.high < 1:
                return of_any(every)
        self.keep(every, inst)
        return ANY


def _terms(op: int, number: int, groups: list[list[Range]], every: list[Range]) -> list[Range]:
    """What an operation adds up, or takes a difference or a wave of, so that little may be left of
    it; ``number``: of an extended instruction."""
    if op in _PRODUCTS:
        return [product(x, y) for x, y in zip(groups[0], groups[1])]
    if op == ops.OpFmaKHR or number == glsl.Glsl_Fma:
        return [product(every[0], every[1]), every[2]]
    if number == glsl.Glsl_FMix:
        a, b, part = every
        return [a, product(part, sum_of(b, negated(a)))]
    return every if op in _SUMS or number in _CANCELLING else []


def _large(value: Range) -> bool:
    """Whether something that differs is so large that a last bit of it is much."""
    return bool(value.keys) and value.bounded() and max(-value.low, value.high) >= sensitive.STEEP


_LAYERS: Final = {enums.Dim_1D: 1, enums.Dim_2D: 2, enums.Dim_Cube: 3}


def layer_of(inst: Inst) -> Lane | None:
    """The coordinate of a lookup that is the number of an array's layer, which is rounded."""
    if not sensitive.jumps(inst) or inst.args[0].type is None:
        return None
    type = inst.args[0].type
    if type.op == ops.OpTypeSampledImage:
        type = type.args[0]
    if type.op != ops.OpTypeImage or not type.imm[2] or type.imm[0] not in _LAYERS:
        return None
    return inst.args[1], _LAYERS[type.imm[0]]


def of(link: Link) -> Rounded:
    """Found once for each version of the two modules."""
    return fact(link, Rounded, link.version)
