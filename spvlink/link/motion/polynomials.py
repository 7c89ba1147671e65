"""Read the weights of open-coded interpolation as polynomials, so that two spellings compare equal.

A weight is a scalar of the evaluation shader. It is read as a polynomial with numbers as
coefficients over atoms: the components of gl_TessCoord, and every scalar that is not made by sums
and products (``sin(x)``, a loop's value), which stands for itself. So ``(1 - u) * v`` and
``v - u * v`` are one polynomial, and the weights of ``mix(mix(a, b, u), mix(d, c, u), v)`` are
those of the same sum written out.

What rounds on purpose is no algebra, and an atom too: conversions between widths, what is decorated
(NoContraction: ``(u * 16 + 1.5 * 2^23) - 1.5 * 2^23`` is a whole number; RelaxedPrecision may have
10 bits), and sums in which something large goes out again (``sound``): numbers, or atoms of which
it is not known how large they are, two of them or the same one. For weights that are equal as
polynomials stand for each other, whichever way each was computed.

In the triangle domain z is 1 - x - y, in the others it is 0 (Vulkan, "Tessellation": the
tessellator produces (u, v, w) with u + v + w = 1, or (u, v) and a third coordinate of 0). With
rounding that holds to a last bit, as everything here does: this is algebra of real numbers.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import root
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, glsl, ops
from spvlink.ir import core, types
from spvlink.ir.core import Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Atom = tuple[int, ...]
    # products of atoms, and the factor of each
    Polynomial = dict[tuple[Atom, ...], float]
    Name = tuple[tuple[tuple[Atom, ...], float], ...]  # of a polynomial, sorted

MAX_TERMS: Final = 64  # of a polynomial; a longer one is an atom
_MAX_DEPTH: Final = 40
_NEAR: Final = 1e-6  # what counts as nothing beside 1
_LARGE: Final = 64.0  # a sum with more than that loses digits of what else is in it
_BOUNDED: Final = frozenset(  # give no more than 1
    (glsl.Glsl_Sin, glsl.Glsl_Cos, glsl.Glsl_Fract, glsl.Glsl_SmoothStep, glsl.Glsl_Normalize)
)
_CLAMPS: Final = (glsl.Glsl_FClamp, glsl.Glsl_NClamp)
_PRODUCTS: Final = frozenset((ops.OpFMul, ops.OpVectorTimesScalar))
_DOMAINS: Final = (
    enums.ExecutionMode_Triangles, enums.ExecutionMode_Quads, enums.ExecutionMode_Isolines,
)  # fmt: skip
ONE: Final[Polynomial] = {(): 1.0}


def domain_of(*modules: Module) -> int | None:
    """The execution mode that says what the tessellator divides; either stage may have it."""
    for module in modules:
        for mode in module.sections[core.EXECUTION_MODES]:
            entry = module.entry
            if entry is not None and mode.args[0] is entry.function and mode.imm[0] in _DOMAINS:
                return mode.imm[0]
    return None


def added(a: Polynomial, b: Polynomial, factor: float = 1.0) -> Polynomial:
    """a + factor * b"""
    out = dict(a)
    for term, number in b.items():
        total = out.get(term, 0.0) + factor * number
        if total:
            out[term] = total
        else:
            out.pop(term, None)
    return out


def times(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """The product; None if it is too long."""
    if len(a) * len(b) > MAX_TERMS * 4:
        return None
    out: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            term = tuple(sorted(left + right))
            total = out.get(term, 0.0) + x * y
            if total:
                out[term] = total
            else:
                out.pop(term, None)
    return out if len(out) <= MAX_TERMS else None


def name_of(polynomial: Polynomial) -> Name:
    return tuple(sorted(polynomial.items()))


def is_one(polynomial: Polynomial) -> bool:
    """Whether it is 1, but for the rounding of constants."""
    rest = added(polynomial, ONE, -1.0)
    return all(abs(number) < _NEAR and _bounded(term) for term, number in rest.items())


def _bounded(term: tuple[Atom, ...]) -> bool:
    """Whether a product is one of what is no more than 1."""
    return all(atom[0] == 0 for atom in term)


def _unbounded(polynomial: Polynomial) -> set[Atom]:
    return {atom for term in polynomial for atom in term if atom[0] != 0}


def is_large(polynomial: Polynomial) -> bool:
    return any(abs(number) > _LARGE for number in polynomial.values())


def sound(a: Polynomial, b: Polynomial, total: Polynomial) -> bool:
    """Whether a sum of a and b loses no digits that count: nothing in it is large, and nothing that
    may be cancels, or all but cancels."""
    if is_large(a) or is_large(b):
        return False
    left, right = _unbounded(a), _unbounded(b)
    if left and right and len(left | right) > 1:
        return False  # they may be large, and nearly equal
    return all(
        _bounded(term) or abs(total.get(term, 0.0)) * _LARGE >= max(abs(a[term]), abs(b[term]))
        for term in a.keys() & b.keys()
    )


class Weights:
    """The polynomials of one evaluation shader."""

    def __init__(self, module: Module, domain: int | None) -> None:
        self.tables = Decorations.of(module)
        self.domain = domain
        self.known: dict[Lane, Polynomial] = {}

    def of(self, lane: Lane, depth: int = 0) -> Polynomial:
        lane = scalars.origin(lane)
        polynomial = self.known.get(lane)
        if polynomial is None:
            made = self.read(lane, depth) if depth < _MAX_DEPTH else None
            polynomial = self.known[lane] = made if made is not None else self.atom(lane)
        return polynomial

    def atom(self, lane: Lane) -> Polynomial:
        inst, number = lane
        return {((0, inst.id, number) if _small(inst, number) else (inst.id, number),): 1.0}

    def reciprocal(self, lane: Lane) -> Polynomial:
        """One over a weight, which is an atom of its own."""
        inst, number = scalars.origin(lane)
        constant = number_of(inst, number)
        if constant:
            return {(): 1.0 / constant}
        return {((inst.id, number, -1),): 1.0}

    def coordinate(self, lane: Lane) -> int | None:
        """Which component of gl_TessCoord this is, or None."""
        inst, number = lane
        if inst.op != ops.OpLoad:
            return None
        variable = root(inst.args[0])
        builtin = self.tables.find(variable, enums.Decoration_BuiltIn)
        if builtin != (enums.BuiltIn_TessCoord,):
            return None
        pointer = inst.args[0]
        if pointer is variable:
            return number
        if len(pointer.args) == 2 and pointer.args[0] is variable:
            return types.index_of(pointer.args[1])
        return None

    def read(self, lane: Lane, depth: int) -> Polynomial | None:
        """The polynomial of a sum or product; None if it is neither, or too long."""
        inst, number = lane
        constant = number_of(inst, number)
        if constant is not None:
            return {(): constant} if constant else {}
        component = self.coordinate(lane)
        if component is not None:
            if component == 2 and self.domain == enums.ExecutionMode_Triangles:
                return {(): 1.0, ((0, 0),): -1.0, ((0, 1),): -1.0}
            if component == 2 and self.domain is not None:
                return {}
            return {((0, component),): 1.0}
        return self.made(inst, number, depth + 1)

    def made(self, inst: Inst, number: int, depth: int) -> Polynomial | None:
        op = inst.op
        if self.tables.targets.get(inst):
            return None  # it says how it is rounded
        args = [
            (a, number if scalars.count(a.type) > 1 else 0) for a in scalars.operands(inst)
        ]  # of what works lane by lane
        if op == ops.OpFAdd or op == ops.OpFSub:
            a, b = (self.of(x, depth) for x in args)
            return summed(a, b, 1.0 if op == ops.OpFAdd else -1.0)
        if op == ops.OpFNegate:
            return added({}, self.of(args[0], depth), -1.0)
        if op in _PRODUCTS:
            return times(self.of(args[0], depth), self.of(args[1], depth))
        if op == ops.OpExtInst and inst.imm[0] in (glsl.Glsl_Fma, glsl.Glsl_FMix):
            a, b, c = (self.of(x, depth) for x in args)
            if inst.imm[0] == glsl.Glsl_Fma:
                product = times(a, b)
                return None if product is None else summed(product, c)
            return mixed(a, b, c)
        return None


def _small(inst: Inst, number: int) -> bool:
    """Whether a scalar is surely no more than 1, either way."""
    if inst.op != ops.OpExtInst:
        return False
    if inst.imm[0] in _CLAMPS:
        ends = [number_of(end, number) for end in inst.args[2:]]
        return all(end is not None and abs(end) <= 1.0 for end in ends)
    return inst.imm[0] in _BOUNDED


def summed(a: Polynomial, b: Polynomial, factor: float = 1.0) -> Polynomial | None:
    """a + factor * b; None if digits are lost."""
    total = added(a, b, factor)
    return total if sound(a, b, total) else None


def mixed(a: Polynomial, b: Polynomial, weight: Polynomial) -> Polynomial | None:
    """a * (1 - weight) + b * weight"""
    between = summed(b, a, -1.0)
    moved = None if between is None else times(between, weight)
    return None if moved is None else summed(a, moved)
