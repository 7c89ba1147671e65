"""Store values that hand-written interpolation keeps equal.

    evaluation: out c = u * pc.k + v * pc.k + w * pc.k      ->   out c = pc.k
    fragment:   f(c)                                             (and ``propagate`` takes it there)

A constant or a uniform that a vertex or control shader stores for all vertices has come to the
evaluation shader by now. Its sum over the vertices is left: a value times weights that sum to one
as polynomials (``polynomials``: z is 1 - x - y in the triangle domain and 0 in the others; mix,
fma, dot products, and products of vectors and matrices are sums, too).

Why it is right. In real numbers the sum is that value. With rounding it is off by a few last bits,
and it is interpolated again on the way to the fragment shader.

What breaks it. Rounding that decides something. The pass runs only with default options, for
interpolated outputs, and where a value that all vertices agree on may come exact (``rounded``). It
leaves alone stages that preserve infinities, NaNs or zeros; values that are captured, read back,
Invariant or part of a position; and instructions with a rounding of their own.

Cost. None: operations go.
"""

from __future__ import annotations

import math

from spvlink.facts import scalars
from spvlink.facts.floats import Floats
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import touched
from spvlink.link.border.link import Link
from spvlink.link.border.values import single_value
from spvlink.link.motion import algebra, polynomials
from spvlink.link.motion.polynomials import ONE, Weights
from spvlink.link.resources.transfer import Transfer
from spvlink.link.rounding import rounded

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.link.motion.polynomials import Polynomial

_SUMS: Final = frozenset((ops.OpFAdd, ops.OpFSub))
# Made of pairs of factors, one or more, added up.
_PRODUCTS: Final = scalars.PRODUCTS
_MAX_DEPTH: Final = 24
_SIGN: Final = 1 << 31  # of a float of 32 bits


def propagate_blended(link: Link, transfer: Transfer, exact: bool) -> bool:
    """Store what is blended where all of it is one value; whether anything was found. ``transfer``
    leads from the producer to the consumer."""
    if exact or link.exact:
        return False
    link.gather()
    if 32 in Floats.of(link.producer.module).preserved | Floats.of(link.consumer.module).preserved:
        return False
    blends = Blends(link, transfer)
    lanes: dict[int, Lane] = {}
    for key in sorted(link.loads):
        stored = single_value(link, key)
        if stored is not None and _may(link, key):
            value = blends.value_of((stored, 0))
            if value is not None:
                lanes[key] = value
    return bool(lanes) and _store(link, lanes)


def _may(link: Link, key: int) -> bool:
    """Whether a value may be stored with other last bits, as far as the slot says."""
    slot, out = link.inputs.slots.get(key), link.outputs.slots.get(key)
    if slot is None or out is None or slot.width != 32 or slot.type.op != ops.OpTypeFloat:
        return False
    if link.carries_bits(slot) or out.extras or key in link.read_back:
        return False
    return key not in link.outputs.captured and not link.settled(key) and not link.frozen(key)


def _store(link: Link, lanes: dict[int, Lane]) -> bool:
    """Store these lanes, where no decision depends on them; whether any is stored. The module
    counts as changed only if it is."""
    module = link.producer.module
    before = {store: store.args[0] for key in lanes for store in link.stores[key]}
    new: dict[Inst, list[Inst]] = {}
    for key, lane in lanes.items():
        for store in link.stores[key]:
            new[store] = []
            store.args = [_scalar(module, lane, new[store]), *store.args[1:]]
    look = rounded.Rounded(link)
    free = [key for key in lanes if look.free(key)]
    kept = {store for key in free for store in link.stores[key]}
    for store, old in before.items():
        if store not in kept:
            store.args = [old, *store.args[1:]]
    if not free:
        return False
    assert module.entry is not None
    for block in module.entry.function.blocks:
        if not kept.isdisjoint(block.insts):
            out: list[Inst] = []
            for inst in block.insts:
                out += [*new[inst], inst] if inst in kept else [inst]
            block.insts = out
    touched(module)
    return True


def _scalar(module: Module, lane: Lane, out: list[Inst]) -> Inst:
    """A lane as a value; what takes it out is appended."""
    inst, number = lane
    if scalars.count(inst.type) == 1:
        return inst
    assert inst.type is not None
    path = [number]
    if inst.type.op == ops.OpTypeMatrix:
        path = list(divmod(number, inst.type.args[0].imm[0]))
    constant = inst
    for at in path:
        parts = types.parts_of(module, constant)
        if parts is None:
            return algebra.take(module, inst, number, out)
        constant = parts[at]
    return constant


class Blends:
    """What the producer computes of values that are equal at all vertices."""

    def __init__(self, link: Link, transfer: Transfer) -> None:
        self.transfer = transfer
        modules = link.producer.module, link.consumer.module
        domain = polynomials.domain_of(modules[0])
        self.module = modules[0]
        self.weights = Weights(modules[0], domain)
        self.tables = self.weights.tables
        self.known = domain is not None

    def value_of(self, lane: Lane) -> Lane | None:
        """The lane that this one is, but for rounding; None if it is not blended."""
        lane = scalars.origin(lane)
        if not self.known or self.is_free(lane):
            return None
        value = self.leaf(lane, 0)
        if value is None:
            return None
        weight = self.weight(lane, value, 0)
        if weight is None or polynomials.is_one(weight) or _is_plain_zero(value):
            return None if weight is None else value
        bits = types.bits_of(_scalar(self.module, value, []))
        if bits is None or not polynomials.is_one(polynomials.added({}, weight, -1.0)):
            return None
        assert value[0].type is not None
        type = scalars.scalar(value[0].type)
        return types.constant(self.module, type, bits ^ _SIGN), 0

    def is_free(self, lane: Lane) -> bool:
        return lane[0].op in types.CONSTANTS or self.transfer.moves(lane[0])

    def operands(self, lane: Lane) -> list[Lane] | None:
        """What a sum, product or blend that may be rounded otherwise is made of; of a product the
        pairs of factors, one after the other."""
        inst, number = lane
        if inst.op in _PRODUCTS:
            return self.factors(inst, number)
        wanted = inst.op in _SUMS or inst.op == ops.OpFNegate
        if inst.op == ops.OpExtInst:
            wanted = inst.imm[0] in (glsl.Glsl_Fma, glsl.Glsl_FMix)
        if not wanted or self.tables.targets.get(inst):
            return None
        return [
            scalars.origin((a, number if scalars.count(a.type) > 1 else 0))
            for a in scalars.operands(inst)
        ]

    def factors(self, inst: Inst, number: int) -> list[Lane] | None:
        if self.tables.targets.get(inst):
            return None
        groups = scalars.made_of(inst, number, inst.op == ops.OpFMul)
        return [scalars.origin(lane) for pair in zip(*groups) for lane in pair]

    def leaf(self, lane: Lane, depth: int) -> Lane | None:
        """The first value on the way down that the consumer could make."""
        if self.is_free(lane):
            return self.plain(lane)
        made_of = self.operands(lane) if depth < _MAX_DEPTH else None
        if made_of is None:
            return None
        if lane[0].op in _PRODUCTS or _is_fma(lane[0]):
            for part in made_of[:2]:
                if self.is_free(part):
                    return self.plain(part)
        return self.leaf(made_of[0], depth + 1)

    def plain(self, lane: Lane) -> Lane:
        """A value without its sign in front."""
        while lane[0].op == ops.OpFNegate and not self.tables.targets.get(lane[0]):
            lane = scalars.origin((lane[0].args[0], lane[1]))
        return lane

    def weight(self, lane: Lane, value: Lane, depth: int) -> Polynomial | None:
        """What the value is multiplied by to be this lane; None if it is something else."""
        if lane == value:
            return ONE
        number, known = number_of(*lane), number_of(*value)
        if number == 0.0:
            return {}
        if number is not None and known is not None and abs(number) == abs(known):
            return {(): number / known}
        made_of = self.operands(lane) if depth < _MAX_DEPTH else None
        if made_of is None:
            # a product with 1 is no product any more
            return self.weights.of(lane) if known == 1.0 else None
        op = lane[0].op
        if op in _PRODUCTS:
            return self.products(made_of, value, depth)
        if op == ops.OpFNegate:
            part = self.weight(made_of[0], value, depth + 1)
            return None if part is None else polynomials.added({}, part, -1.0)
        if op in _SUMS:
            parts = [self.weight(part, value, depth + 1) for part in made_of]
            if parts[0] is None or parts[1] is None:
                return None
            return polynomials.summed(parts[0], parts[1], 1.0 if op == ops.OpFAdd else -1.0)
        return self.blend(lane[0], made_of, value, depth)

    def products(self, factors: list[Lane], value: Lane, depth: int) -> Polynomial | None:
        """The sum of the products of pairs."""
        total: Polynomial | None = {}
        for one, other in zip(factors[::2], factors[1::2]):
            part = self.product(one, other, value, depth)
            total = None if part is None or total is None else polynomials.summed(total, part)
            if total is None:
                break
        return total

    def product(self, one: Lane, other: Lane, value: Lane, depth: int) -> Polynomial | None:
        for part, factor in ((one, other), (other, one)):
            weight = self.weight(part, value, depth + 1)
            if weight is not None:
                return polynomials.times(weight, self.weights.of(factor))
        return None

    def blend(
        self, inst: Inst, made_of: list[Lane], value: Lane, depth: int
    ) -> Polynomial | None:  # fmt: skip
        """fma(a, b, c), mix(a, b, weight)"""
        if _is_fma(inst):
            first = self.product(made_of[0], made_of[1], value, depth)
            second = self.weight(made_of[2], value, depth + 1)
            return None if first is None or second is None else polynomials.summed(first, second)
        first = self.weight(made_of[0], value, depth + 1)
        second = self.weight(made_of[1], value, depth + 1)
        if first is None or second is None:
            return None
        return polynomials.mixed(first, second, self.weights.of(made_of[2]))


def _is_fma(inst: Inst) -> bool:
    return inst.op == ops.OpExtInst and inst.imm[0] == glsl.Glsl_Fma


def _is_plain_zero(lane: Lane) -> bool:
    """+0, which products with weights add up to, whatever these are."""
    number = number_of(*lane)
    return number == 0.0 and math.copysign(1.0, number) > 0.0
