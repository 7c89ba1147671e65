"""Compute ranges of real numbers through operations.

A range holds a scalar before and after linking. The two may differ in the last bit; ``Range.keys``
names the inputs that cause it.
"""

from __future__ import annotations

import math

from spvlink.grammar import glsl, ops

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

DIGITS: Final = 2.0**-20  # what an operation may be off by, as a part of its result
FEW_DIGITS: Final = 2.0**-8  # the same with 16 bits, which RelaxedPrecision allows
Inf: Final = math.inf
Key = frozenset[int]
NOBODY: Final[Key] = frozenset()


class Range:
    """What is known of a scalar: lies between two numbers, before and after; ``signed``: its sign
    (or that it is zero) is the same; ``keys``: the inputs through which it differs."""

    __slots__ = ("high", "keys", "low", "signed")

    def __init__(self, low: float, high: float, signed: bool, keys: Key) -> None:
        self.low = low
        self.high = high
        self.signed = signed or low > 0 or high < 0 or not keys
        self.keys = keys

    def bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def same(self, other: Range) -> bool:
        mine = self.low, self.high, self.signed, self.keys
        return mine == (other.low, other.high, other.signed, other.keys)


ANY: Final = Range(-Inf, Inf, True, NOBODY)  # of what does not differ


def all_of(ranges: list[Range]) -> Key:
    return frozenset().union(*[r.keys for r in ranges])


def of_any(ranges: list[Range], signed: bool = False) -> Range:
    return Range(-Inf, Inf, signed, all_of(ranges))


def hull(ranges: list[Range]) -> Range:
    low, high = min(r.low for r in ranges), max(r.high for r in ranges)
    return Range(low, high, all(r.signed for r in ranges), all_of(ranges))


def widened(low: float, high: float, signed: bool, keys: Key, by: float = DIGITS) -> Range:
    """What arithmetic makes of such a result: ``(x + 1e8) - 1e8`` may be 0 or 8."""
    return Range(low - abs(low) * by, high + abs(high) * by, signed, keys)


def product(a: Range, b: Range) -> Range:
    ends = [x * y if x and y else 0.0 for x in (a.low, a.high) for y in (b.low, b.high)]
    return widened(min(ends), max(ends), a.signed and b.signed, a.keys | b.keys)


def quotient(a: Range, b: Range) -> Range:
    if b.low <= 0 <= b.high:
        return of_any([a, b], a.signed and b.signed)
    ends = (1.0 / b.low, 1.0 / b.high)
    return product(a, Range(min(ends), max(ends), True, b.keys))


def sum_of(a: Range, b: Range) -> Range:
    return widened(a.low + b.low, a.high + b.high, False, a.keys | b.keys)


def negated(a: Range) -> Range:
    return Range(-a.high, -a.low, a.signed, a.keys)


def magnitude(a: Range) -> Range:
    least = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return Range(least, max(abs(a.low), abs(a.high)), a.signed, a.keys)


def least_of(a: Range, b: Range) -> Range:
    return Range(min(a.low, b.low), min(a.high, b.high), a.signed and b.signed, a.keys | b.keys)


def most_of(a: Range, b: Range) -> Range:
    return negated(least_of(negated(a), negated(b)))


def square_root(a: Range) -> Range:
    if a.low < 0:
        return of_any([a], a.signed)
    # an ulp to either side: a square root is rounded
    return Range(math.sqrt(a.low) * 0.999999, math.sqrt(a.high) * 1.000001, a.signed, a.keys)


def dot(a: list[Range], b: list[Range]) -> Range:
    terms = [product(x, y) for x, y in zip(a, b)]
    total = terms[0]
    for term in terms[1:]:
        total = sum_of(total, term)
    return total


OPS: Final[dict[int, Callable[..., Range]]] = {
    ops.OpFNegate: negated,
    ops.OpFAdd: sum_of,
    ops.OpFSub: lambda a, b: sum_of(a, negated(b)),
    ops.OpFMul: product,
    ops.OpVectorTimesScalar: product,
    ops.OpMatrixTimesScalar: product,
    ops.OpOuterProduct: product,
    ops.OpFDiv: quotient,
    ops.OpFConvert: lambda a: a,
    ops.OpSelect: lambda c, a, b: hull([a, b]),
    ops.OpFmaKHR: lambda a, b, c: sum_of(product(a, b), c),
}
GLSL: Final[dict[int, Callable[..., Range]]] = {
    glsl.Glsl_FAbs: magnitude,
    glsl.Glsl_FMin: least_of,
    glsl.Glsl_NMin: least_of,
    glsl.Glsl_FMax: most_of,
    glsl.Glsl_NMax: most_of,
    glsl.Glsl_FClamp: lambda x, a, b: least_of(most_of(x, a), b),
    glsl.Glsl_NClamp: lambda x, a, b: least_of(most_of(x, a), b),
    glsl.Glsl_Sqrt: square_root,
    glsl.Glsl_Fma: lambda a, b, c: sum_of(product(a, b), c),
    glsl.Glsl_FMix: lambda a, b, t: sum_of(a, product(t, sum_of(b, negated(a)))),
}
