"""Compute ranges of floats, and how far each may move, through operations.

A ``Value`` is a scalar of 32 bits. ``low`` and ``high`` hold what it is in the pipeline as it was
and in any that is like it but for inputs of 16 bits. ``odd`` says that it may be no such number,
but then it is odd in both alike: a NaN comes over as a NaN. ``off`` bounds how far apart the two
are: for each input the part that it adds once it has 16 bits, in a sum that is linear in them.

Each bound is one of real numbers, and both pipelines round on their own: NOISE collects that. Of a
sum with something unknown the rounding has no bound. But what is seen of it is clamped, and counts
only where the sum is small: ``far`` then has the size of what it was made of beside the unknown.
"""

from __future__ import annotations

import math
import struct

from spvlink.grammar import glsl, ops

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Sequence
    from typing import Final

Inf: Final = math.inf
NOISE: Final = -1  # the key of what arithmetic of 32 bits adds; keys of inputs are not negative
NAN: Final = 1  # of ``Value.odd``: it may be a NaN,
ENDLESS: Final = 2  # or an infinity that the range does not hold
LEAST: Final = 2.0**-126  # the smallest normal number of 32 bits; smaller ones may be flushed
MOST: Final = (2.0 - 2.0**-23) * 2.0**127
ULP: Final = 2.0**-23  # as a part of the number
LOOSE: Final = 2.0**-20  # what functions that are not correctly rounded are off by
WAVE: Final = 2.0**-11  # what a sine is off by (Vulkan, "Precision and Operation")
_MOST_DIVISOR: Final = 2.0**126  # up to which a division has a bound (the same)
_SHORT: Final = 2.0**-40  # vectors that are no shorter and
_LONG: Final = 2.0**60  # no longer have squares that are numbers
_HALF_LEAST: Final = 2.0**-14  # the smallest normal number of 16 bits

Off = dict[int, float]
NOTHING: Final[Off] = {}


class Lost(Exception):
    """No bound is known of what an operation makes of its operands' changes; says why."""


class Value:
    """What is known of a scalar."""

    __slots__ = ("far", "high", "low", "odd", "off")

    def __init__(
        self, low: float, high: float, odd: int = 0, off: Off = NOTHING, far: float = 0.0
    ) -> None:
        self.far = far
        self.low = low
        self.high = high
        self.odd = odd
        self.off = off

    @property
    def size(self) -> float:
        """The largest magnitude."""
        return max(-self.low, self.high)

    @property
    def least(self) -> float:
        """The smallest magnitude."""
        return max(self.low, -self.high, 0.0)

    def bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


UNKNOWN: Final = Value(-Inf, Inf, NAN)


def exactly(number: float) -> Value:
    """A constant; a denormal one may be flushed."""
    if 0 < abs(number) < LEAST:
        return Value(min(number, 0.0), max(number, 0.0))
    return Value(number, number)


def rounding(most: float) -> float:
    """How far a number of at most this magnitude moves when it becomes one of 16 bits: by one unit
    in the last place, whichever way is rounded, and to zero if denormal numbers are flushed."""
    if most <= _HALF_LEAST:
        return most
    _mantissa, exponent = math.frexp(most)  # most = mantissa * 2**exponent, 0.5 <= mantissa < 1
    whole = 2.0 ** (exponent - 1)  # the power of two at or below it
    # Between whole / 2 and whole numbers lie half as far apart as beyond.
    return max(whole * (2.0**-10 if most > whole else 2.0**-11), _HALF_LEAST)


def above(most: float) -> float:
    """The smallest number of 16 bits that is not below this one: to these all are rounded."""
    if most <= _HALF_LEAST:
        return _HALF_LEAST if most > 0 else 0.0
    step = 2.0 ** (math.frexp(most)[1] - 11)
    return math.ceil(most / step) * step


def _outwards(number: float, up: bool) -> float:
    """The nearest number of 32 bits that is not below (above) this one, or a little further."""
    if not math.isfinite(number) or number == 0:
        return number
    if abs(number) < LEAST:
        return (LEAST if number > 0 else 0.0) if up else (0.0 if number > 0 else -LEAST)
    if abs(number) > MOST:
        return math.copysign(Inf, number)
    single: float = struct.unpack("<f", struct.pack("<f", number))[0]
    if single == number:
        return number
    return number + abs(number) * ULP if up else number - abs(number) * ULP


def made(low: float, high: float, odd: int, off: Off, size: float = 0.0) -> Value:
    """The result of an operation that is correctly rounded; ``size``: of its largest term. Raises
    Lost."""
    low, high = _outwards(low, False), _outwards(high, True)
    if off:
        largest = max(-low, high, size)
        if not math.isfinite(largest):
            raise Lost("its range is not known")
        off = dict(off)
        off[NOISE] = off.get(NOISE, 0.0) + 4.0 * ULP * largest + LEAST
    return Value(low, high, odd, off)


def far_off(low: float, high: float, odd: int, off: Off, far: float) -> Value:
    """A result whose rounding counts once it is clamped; ``far``: of its known terms."""
    return Value(_outwards(low, False), _outwards(high, True), odd, off, 1.0 + far)


def settled(value: Value, size: float) -> Off:
    """What a value is off by where it is seen: within this size."""
    if not value.far or not value.off:
        return value.off
    off = dict(value.off)
    off[NOISE] = off.get(NOISE, 0.0) + 16.0 * ULP * (size + value.far)
    return off


def loosely(low: float, high: float, odd: int, off: Off, by: float = LOOSE) -> Value:
    """The same, ``by`` more or less as a part of the result."""
    low, high = low - abs(low) * by, high + abs(high) * by
    value = made(low, high, odd, off)
    if off:
        value.off[NOISE] += 2.0 * by * value.size
    return value


def plus(*parts: tuple[Value, float]) -> Off:
    """The sum of what values are off by, each with a factor. Raises Lost."""
    total: Off = {}
    for value, factor in parts:
        if not value.off:
            continue
        if not math.isfinite(factor):
            raise Lost("it meets a value of unknown range")
        for key, one in value.off.items():
            total[key] = total.get(key, 0.0) + one * factor
    return total or NOTHING


def larger(*values: Value) -> Off:
    """What one of these is off by, whichever it is."""
    most: Off = {}
    for value in values:
        for key, one in value.off.items():
            most[key] = max(most.get(key, 0.0), one)
    return most or NOTHING


def hull(*values: Value) -> Value:
    """One of these."""
    odd = 0
    for value in values:
        odd |= value.odd
    low, high = min(v.low for v in values), max(v.high for v in values)
    return Value(low, high, odd, larger(*values), max(v.far for v in values))


def _odd(*values: Value) -> int:
    """How odd a result may be of arithmetic on these: infinities may cancel, or meet a zero."""
    odd = 0
    for value in values:
        odd |= value.odd
        if not value.bounded():
            odd |= NAN
    return odd | NAN if odd else 0


def negated(a: Value) -> Value:
    return Value(-a.high, -a.low, a.odd, a.off, a.far)


def add(a: Value, b: Value) -> Value:
    low, high = a.low + b.low, a.high + b.high
    odd, off = _odd(a, b), plus((a, 1.0), (b, 1.0))
    if off and not (a.bounded() and b.bounded()):
        if not (a.bounded() or b.bounded()):
            raise Lost("two values of unknown range may cancel in it")
        return far_off(low, high, odd, off, a.far + b.far + (a if a.bounded() else b).size)
    return made(low, high, odd, off, max(a.size, b.size))


def subtract(a: Value, b: Value) -> Value:
    return add(a, negated(b))


def multiply(a: Value, b: Value) -> Value:
    ends = [x * y if x and y else 0.0 for x in (a.low, a.high) for y in (b.low, b.high)]
    off = plus((a, b.size), (b, a.size))
    if a.far or b.far:  # the other one is bounded, and the same in both
        return far_off(min(ends), max(ends), _odd(a, b), off, a.far * b.size + b.far * a.size)
    return made(min(ends), max(ends), _odd(a, b), off)


def square(a: Value) -> Value:
    """A value times itself."""
    return made(a.least**2, a.size**2, _odd(a), plus((a, 2.0 * a.size)))


def divide(a: Value, b: Value) -> Value:
    least = b.least
    if least < LEAST:
        if a.off or b.off:
            raise Lost("what it is divided by may be zero")
        return UNKNOWN
    off = plus((a, 1.0 / least), (b, a.size / least / least))
    if not a.bounded():
        return Value(-Inf, Inf, _odd(a, b)) if not off else _lost()
    ends = [x / y for x in (a.low, a.high) for y in (b.low, b.high) if math.isfinite(y)]
    if b.size > _MOST_DIVISOR:  # beyond that a quotient may be anything small
        if off:
            raise Lost("what it is divided by may be too large")
        ends += [-a.size / least, 0.0, a.size / least]
    if b.odd & ENDLESS:
        ends.append(0.0)
    return loosely(min(ends), max(ends), _odd(a, b), off)


def _lost() -> Value:
    raise Lost("its range is not known")


def magnitude(a: Value) -> Value:
    return Value(a.least, a.size, a.odd, a.off, a.far)


def _extreme(a: Value, b: Value, least: bool, quiet: bool) -> Value:
    """A minimum or maximum. Of a NaN and a number it is the number (``quiet``), or any of both."""
    pick = min if least else max
    low, high = pick(a.low, b.low), pick(a.high, b.high)
    odd = a.odd | b.odd
    for one, other in ((a, b), (b, a)):
        if one.odd:  # then it may be the other one, whatever that is
            low, high = min(low, other.low), max(high, other.high)
    if quiet and not (a.odd & b.odd & NAN):
        odd &= ~NAN
    value = Value(low, high, odd, larger(a, b), max(a.far, b.far))
    return _near(value)


def _near(value: Value) -> Value:
    """A value that is clamped by now."""
    if value.far and value.bounded():
        value.off, value.far = settled(value, value.size), 0.0
    return value


def clamp(x: Value, low: Value, high: Value, quiet: bool) -> Value:
    value = _extreme(_extreme(x, low, False, quiet), high, True, quiet)
    if not low.odd and not high.odd and low.bounded() and high.bounded():
        value.odd &= ~ENDLESS
        value.low = max(value.low, min(low.low, high.low))
        value.high = min(value.high, max(low.high, high.high))
    return _near(value)


def blend(x: Value, y: Value, part: Value) -> Value:
    """x * (1 - part) + y * part."""
    rest = subtract(exactly(1.0), Value(part.low, part.high, part.odd))
    apart = max(y.high - x.low, x.high - y.low)
    off = plus((x, rest.size), (y, part.size), (part, apart))
    odd = _odd(x, y, part)
    if part.low >= 0 and part.high <= 1:
        low, high = min(x.low, y.low), max(x.high, y.high)
        around = max(x.size, y.size) * LOOSE
        return made(low - around, high + around, odd, off, max(x.size, y.size))
    bare = [Value(v.low, v.high, v.odd) for v in (x, y, part)]
    sums = add(multiply(bare[0], rest), multiply(bare[1], bare[2]))
    return made(sums.low, sums.high, odd, off, max(bare[0].size, bare[1].size) * rest.size * 2)


def fma(a: Value, b: Value, c: Value) -> Value:
    return add(multiply(a, b), c)


def square_root(a: Value) -> Value:
    if a.low < 0:
        return UNKNOWN if not a.off else _lost_root()
    if a.off and a.low < LEAST:
        raise Lost("a root is steep where its operand may be zero")
    off = plus((a, 0.5 / math.sqrt(a.low))) if a.off else NOTHING
    return loosely(math.sqrt(a.low), math.sqrt(a.high), _odd(a) & a.odd, off)


def _lost_root() -> Value:
    raise Lost("the operand of a root may be negative")


def inverse_root(a: Value) -> Value:
    if a.low < LEAST or not a.bounded():
        return UNKNOWN if not a.off else _lost_root()
    off = plus((a, 0.5 * a.low**-1.5))
    low = 0.0 if a.odd & ENDLESS else a.high**-0.5
    return loosely(low, a.low**-0.5, _odd(a), off)


def _power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return Inf


def exponential(base: float) -> Callable[[Value], Value]:
    """e or 2 to the power of something."""

    def act(a: Value) -> Value:
        low, high = _power(base, a.low), _power(base, a.high)
        off = plus((a, high * math.log(base)))
        # it is off by 3 + 2 * |x| units in the last place; far below zero by next to nothing
        steps = 8.0 + 4.0 * max(a.high, 0.0)
        if not math.isfinite(high):
            return Value(low * 0.5, Inf, a.odd) if not off else _lost()
        value = loosely(0.0, high, a.odd, off, steps * ULP)
        if a.odd & ENDLESS:
            value.odd |= ENDLESS
        return value

    return act


def power(base: Value, exponent: Value) -> Value:
    """A number that is not negative to the power of a constant above zero."""
    number = exponent.low
    if base.low < 0 or number != exponent.high or not 0 < number <= 1024 or exponent.off:
        return UNKNOWN if not (base.off or exponent.off) else _lost_power()
    if not base.bounded():
        return Value(0.0, Inf, _odd(base)) if not base.off else _lost()
    high = _power(base.high, number)
    if base.off and number < 1 and base.low < LEAST:
        raise Lost("a power is steep where its base may be zero")
    at = base.high if number >= 1 else base.low
    off = plus((base, number * _power(at, number - 1))) if base.off else NOTHING
    # exp2(number * log2(base)): the error of the logarithm is that many times larger
    steps = 8.0 + 8.0 * number * (1.0 + abs(math.log2(base.high)) if base.high > 0 else 1.0)
    slack = (high + 1.0) * steps * ULP
    value = made(0.0, high + slack, _odd(base), off)
    if off:
        value.off[NOISE] += 2.0 * slack
    return value


def _lost_power() -> Value:
    raise Lost("a power of what may be negative, or to a power that is not known")


def smooth_step(low: Value, high: Value, x: Value) -> Value:
    if low.off or high.off:
        raise Lost("an edge of smoothstep depends on it")
    width = high.low - low.high
    if not width > 0 or not math.isfinite(width) or not (low.bounded() and high.bounded()):
        return UNKNOWN if not x.off else _lost_edges()
    off = plus((x, 1.5 / width))
    value = made(0.0, 1.0 + LOOSE, _odd(low, high) | x.odd, off)
    if off:
        # the quotient is of differences, whose rounding counts as a part of the edges
        value.off[NOISE] += 16.0 * ULP * (low.size + high.size + x.size) / width
    return value


def _lost_edges() -> Value:
    raise Lost("the edges of smoothstep are not known")


def _jump(low: float, high: float) -> Callable[..., Value]:
    """A function that is not continuous, whose results lie in a range."""

    def act(*operands: Value) -> Value:
        if any(o.off for o in operands):
            raise Lost("the function jumps")
        return Value(low, high, _odd(*operands))

    return act


def _wave(a: Value) -> Value:
    """A sine or cosine; its error has a bound between -pi and pi only."""
    if a.off:
        raise Lost("its operand moves")
    if a.size > math.pi:
        return UNKNOWN
    return Value(-1.0 - WAVE, 1.0 + WAVE, _odd(a))


def _step(function: Callable[[float], int]) -> Callable[[Value], Value]:
    """A function that rounds to whole numbers."""

    def act(a: Value) -> Value:
        if a.off:
            raise Lost("the function jumps")
        low, high = [float(function(n)) if math.isfinite(n) else n for n in (a.low, a.high)]
        return Value(low, high, a.odd)

    return act


def dot(a: Sequence[Value], b: Sequence[Value], same: bool, norms: tuple[float, float]) -> Value:
    """A sum of products; ``same``: of a vector with itself; ``norms``: their lengths at most."""
    terms = [square(x) for x in a] if same else [multiply(x, y) for x, y in zip(a, b)]
    total = terms[0]
    for term in terms[1:]:
        total = add(total, term)
    most = norms[0] * norms[1] * (1.0 + LOOSE)
    if math.isfinite(most):
        total = Value(max(total.low, -most), min(total.high, most), total.odd, total.off)
        # the terms are finite where the lengths are
    return total


def length(parts: Sequence[Value]) -> Value:
    """The length of a vector: it moves by no more than the vector does."""
    low = math.hypot(*[p.least for p in parts])
    high = math.hypot(*[p.size for p in parts])
    off = plus(*[(p, 1.0) for p in parts])
    if high > _LONG:  # the sum of squares may be an infinity
        return Value(0.0, Inf, _odd(*parts)) if not off else _lost()
    value = loosely(low, high, _odd(*parts), off)
    value.low = max(value.low - _SHORT, 0.0)  # squares may be flushed
    value.high += _SHORT
    if off:
        value.off[NOISE] += 2.0 * _SHORT
    return value


def normalize(parts: Sequence[Value]) -> list[Value]:
    """A vector by its length; of one without a length a NaN or an infinity. Vectors that have one,
    but less than 2**-60, are not considered: their squares are flushed, or have few digits."""
    least = math.hypot(*[p.least for p in parts])
    usual = least >= _SHORT and all(p.size <= _LONG for p in parts)
    off: Off = NOTHING
    if any(p.off for p in parts):
        if not usual:
            raise Lost("the vector may have next to no length")
        off = plus(*[(p, 1.0 / least) for p in parts])
    odd = _odd(*parts) if usual else NAN | ENDLESS
    return [loosely(-1.0, 1.0, odd, off) for _ in parts]


OPS: Final[dict[int, Callable[..., Value]]] = {
    ops.OpFNegate: negated,
    ops.OpFAdd: add,
    ops.OpFSub: subtract,
    ops.OpFMul: multiply,
    ops.OpVectorTimesScalar: multiply,
    ops.OpMatrixTimesScalar: multiply,
    ops.OpOuterProduct: multiply,
    ops.OpFDiv: divide,
    ops.OpFmaKHR: fma,
}
GLSL: Final[dict[int, Callable[..., Value]]] = {
    glsl.Glsl_FAbs: magnitude,
    glsl.Glsl_FMin: lambda a, b: _extreme(a, b, True, False),
    glsl.Glsl_NMin: lambda a, b: _extreme(a, b, True, True),
    glsl.Glsl_FMax: lambda a, b: _extreme(a, b, False, False),
    glsl.Glsl_NMax: lambda a, b: _extreme(a, b, False, True),
    glsl.Glsl_FClamp: lambda x, a, b: clamp(x, a, b, False),
    glsl.Glsl_NClamp: lambda x, a, b: clamp(x, a, b, True),
    glsl.Glsl_FMix: blend,
    glsl.Glsl_Fma: fma,
    glsl.Glsl_Sqrt: square_root,
    glsl.Glsl_InverseSqrt: inverse_root,
    glsl.Glsl_Exp: exponential(math.e),
    glsl.Glsl_Exp2: exponential(2.0),
    glsl.Glsl_Pow: power,
    glsl.Glsl_SmoothStep: smooth_step,
    glsl.Glsl_Step: _jump(0.0, 1.0),
    glsl.Glsl_FSign: _jump(-1.0, 1.0),
    glsl.Glsl_Fract: _jump(0.0, 1.0),
    glsl.Glsl_Sin: _wave,
    glsl.Glsl_Cos: _wave,
    glsl.Glsl_Floor: _step(math.floor),
    glsl.Glsl_Ceil: _step(math.ceil),
    glsl.Glsl_Trunc: _step(math.trunc),
}
# What may be done with a sum whose range is not known.
FAR: Final = frozenset(
    (
        negated, add, subtract, multiply, fma, magnitude,
        *[
            GLSL[number]
            for number in (
                glsl.Glsl_FMin, glsl.Glsl_NMin, glsl.Glsl_FMax, glsl.Glsl_NMax,
                glsl.Glsl_FClamp, glsl.Glsl_NClamp,
            )
        ],
    )
)  # fmt: skip
