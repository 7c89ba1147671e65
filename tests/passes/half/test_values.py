"""Ranges and bounds of ``half``: every operation on numbers of 32 bits keeps what they promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from spvlink.grammar import glsl, ops
from spvlink.link.half import values
from spvlink.link.half.values import ENDLESS, GLSL, NAN, OPS, UNKNOWN, Lost, Value, rounding

F = np.float32
ROUNDS = 400
ULP = 2.0**-23


def cut(number: float) -> float:
    """A number of 16 bits that a device may make of one of 32: towards zero, none denormal."""
    bits = np.array([number], F).view(np.uint32) & np.uint32(0xFFFFE000)
    kept = float(bits.view(F)[0])
    return kept if abs(kept) >= 2.0**-14 else 0.0


@pytest.mark.parametrize(
    "most", [1.0, 1.0 + 2**-20, 1.001, 0.3, 2.0**-14, 3e-5, 2.0**-13, 7.7, 60.0]
)
def test_no_number_of_a_range_moves_further(most: float) -> None:
    r = Random(1)
    numbers = [float(F(r.uniform(0, most))) for _ in range(4000)] + [float(F(most))]
    numbers += [math.nextafter(2.0**e, 0) for e in range(-16, 6) if 2.0**e <= most]
    numbers = [n for n in numbers if n <= most]
    worst = max(abs(n - cut(n)) for n in numbers)
    assert worst <= rounding(most)
    assert worst >= rounding(most) / 4  # a bound that means something


def near(number: float, low: float, high: float) -> float:
    """A number of 32 bits in a range whose ends are such."""
    return float(F(min(max(number, low), high)))


@pytest.mark.parametrize("most", [1.0, 1.0 + 2**-20, 0.3, 2.0**-14, 3e-5, 7.7, 60.0])
def test_rounding_never_leaves_the_numbers_of_16_bits(most: float) -> None:
    """Whichever way it rounds, nothing comes out beyond the next of them."""
    least = values.above(most)
    assert least >= most and cut(least) == least
    assert float(np.float16(most)) <= least


def clamped(x: F, low: F, high: F) -> F:
    return F(min(max(x, low), high))


def mixed(x: F, y: F, part: F) -> F:
    return F(x * (F(1) - part) + y * part)


def smooth(low: F, high: F, x: F) -> F:
    part = F(min(max((x - low) / (high - low), F(0)), F(1)))
    return F(part * part * (F(3) - F(2) * part))


# An operation, how numpy does it with 32 bits, and ranges for its operands.
CASES: dict[str, tuple[Callable[..., Value], Callable[..., F], list[tuple[float, float]]]] = {
    "FNegate": (OPS[ops.OpFNegate], lambda a: -a, [(-2, 3)]),
    "FAdd": (OPS[ops.OpFAdd], lambda a, b: a + b, [(-2, 3), (0, 1)]),
    "FSub": (OPS[ops.OpFSub], lambda a, b: a - b, [(-2, 3), (0, 1)]),
    "FMul": (OPS[ops.OpFMul], lambda a, b: a * b, [(-2, 3), (-1, 1)]),
    "square": (values.square, lambda a: a * a, [(-2, 3)]),
    "FDiv": (OPS[ops.OpFDiv], lambda a, b: a / b, [(-2, 3), (0.5, 4)]),
    "negative divisor": (OPS[ops.OpFDiv], lambda a, b: a / b, [(-2, 3), (-4, -0.5)]),
    "FmaKHR": (OPS[ops.OpFmaKHR], lambda a, b, c: a * b + c, [(-2, 3), (-1, 1), (0, 5)]),
    "FAbs": (GLSL[glsl.Glsl_FAbs], lambda a: F(abs(a)), [(-2, 3)]),
    "FMin": (GLSL[glsl.Glsl_FMin], lambda a, b: F(min(a, b)), [(-2, 3), (0, 1)]),
    "NMax": (GLSL[glsl.Glsl_NMax], lambda a, b: F(max(a, b)), [(-2, 3), (0, 1)]),
    "FClamp": (GLSL[glsl.Glsl_FClamp], clamped, [(-2, 3), (0, 0.5), (0.75, 1)]),
    "NClamp": (GLSL[glsl.Glsl_NClamp], clamped, [(-2, 3), (0, 0), (1, 1)]),
    "FMix": (GLSL[glsl.Glsl_FMix], mixed, [(-2, 3), (0, 1), (0, 1)]),
    "FMix beyond": (GLSL[glsl.Glsl_FMix], mixed, [(-2, 3), (0, 1), (-1, 2)]),
    "Sqrt": (GLSL[glsl.Glsl_Sqrt], np.sqrt, [(0.0625, 3)]),
    "InverseSqrt": (GLSL[glsl.Glsl_InverseSqrt], lambda a: F(1) / np.sqrt(a), [(0.25, 3)]),
    "Exp": (GLSL[glsl.Glsl_Exp], np.exp, [(-3, 1)]),
    "Exp2": (GLSL[glsl.Glsl_Exp2], np.exp2, [(-3, 2)]),
    "Pow": (GLSL[glsl.Glsl_Pow], np.power, [(0, 1.5), (2.5, 2.5)]),
    "Pow below one": (GLSL[glsl.Glsl_Pow], np.power, [(0.125, 1.5), (0.5, 0.5)]),
    "SmoothStep": (GLSL[glsl.Glsl_SmoothStep], smooth, [(0.25, 0.25), (0.75, 0.75), (-1, 2)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_operation_keeps_its_range_and_its_bound(name: str) -> None:
    """Of pairs of operands that are apart as far as they may be; and some move half as far as the
    bound allows, so it is not beyond use."""
    act, compute, ends = CASES[name]
    r, used = Random(name), 0.0
    for _ in range(ROUNDS):
        operands = list[Value]()
        first, second = list[float](), list[float]()
        for key, (low, high) in enumerate(ends):
            step = 0.0 if low == high else 10.0 ** r.uniform(-4, -2)
            operands.append(Value(low, high, 0, {key: step} if step else values.NOTHING))
            at = low if r.random() < 0.2 else high if r.random() < 0.2 else r.uniform(low, high)
            first.append(near(at, low, high))
            moved = r.choice((step, -step, step * r.uniform(-1, 1))) * 0.99
            second.append(near(first[-1] + moved, low, high))
            assert abs(first[-1] - second[-1]) <= step
        made = act(*operands)
        with np.errstate(all="ignore"):
            results = [float(compute(*map(F, one))) for one in (first, second)]
        assert all(made.low <= result <= made.high for result in results)
        bound = sum(made.off.values())
        assert abs(results[0] - results[1]) <= bound
        used = max(used, abs(results[0] - results[1]) / bound)
    assert used > 0.1


def test_vectors_keep_their_ranges_and_bounds() -> None:
    r = Random(5)
    for _ in range(ROUNDS):
        lows = [float(F(r.uniform(-1, 1))) for _ in range(2)] + [2.0]
        step = 10.0 ** r.uniform(-4, -2)
        parts = [Value(low, low + 1, 0, {n: step}) for n, low in enumerate(lows)]
        first = [low + r.random() for low in lows]
        second = [
            min(max(x + r.uniform(-step, step) * 0.99, low), low + 1) for x, low in zip(first, lows)
        ]
        pair = [np.array(one, F) for one in (first, second)]
        cases = [
            (values.length(parts), [float(np.linalg.norm(v)) for v in pair]),
            (values.normalize(parts)[0], [float(v[0] / np.linalg.norm(v)) for v in pair]),
            (
                values.dot(parts, parts[::-1], False, (math.inf, math.inf)),
                [float(v.dot(v[::-1])) for v in pair],
            ),
            (
                values.dot(parts, parts, True, (math.inf, math.inf)),
                [float(v.dot(v)) for v in pair],
            ),
        ]
        for made, results in cases:
            assert all(made.low <= result <= made.high for result in results)
            assert abs(results[0] - results[1]) <= sum(made.off.values())


def test_a_nan_goes_through_a_clamp_but_not_through_one_that_drops_it() -> None:
    ends = values.exactly(0.0), values.exactly(1.0)
    loose = GLSL[glsl.Glsl_FClamp](UNKNOWN, *ends)
    strict = GLSL[glsl.Glsl_NClamp](UNKNOWN, *ends)
    assert (loose.low, loose.high, loose.odd) == (0.0, 1.0, NAN)
    assert (strict.low, strict.high, strict.odd) == (0.0, 1.0, 0)


def test_a_nan_may_become_the_other_operand() -> None:
    """So a maximum with a number above zero may be that of another range."""
    maximum = GLSL[glsl.Glsl_FMax](Value(1.0, 2.0, NAN), values.exactly(-3.0))
    assert maximum.low == -3.0


def test_an_infinity_stays_odd_until_both_ends_are_cut() -> None:
    direction = values.normalize([UNKNOWN] * 3)[0]
    assert direction.odd == NAN | ENDLESS
    above = GLSL[glsl.Glsl_NMax](direction, values.exactly(0.0))
    assert above.odd & ENDLESS
    assert GLSL[glsl.Glsl_NClamp](direction, values.exactly(0.0), values.exactly(1.0)).odd == 0


def test_infinities_may_cancel() -> None:
    half = Value(0.0, math.inf)
    assert values.subtract(half, half).odd & NAN
    assert values.multiply(half, Value(0.0, 1.0)).odd & NAN


def test_a_denormal_constant_may_be_zero() -> None:
    assert values.exactly(1e-40).low == 0.0
    assert values.exactly(-1e-40).high == 0.0
    assert math.copysign(1.0, values.exactly(-0.0).low) == -1.0


@pytest.mark.parametrize(
    ("act", "operands"),
    [
        (OPS[ops.OpFDiv], [(0, 1), (-1, 1)]),
        (OPS[ops.OpFDiv], [(0, 1), (0, 1)]),
        (GLSL[glsl.Glsl_Sqrt], [(0, 1)]),
        (GLSL[glsl.Glsl_InverseSqrt], [(0, 1)]),
        (GLSL[glsl.Glsl_Pow], [(0, 1), (0.5, 0.5)]),
        (GLSL[glsl.Glsl_Pow], [(-1, 1), (2, 2)]),
        (GLSL[glsl.Glsl_Floor], [(0, 1)]),
        (GLSL[glsl.Glsl_Fract], [(0, 1)]),
        (GLSL[glsl.Glsl_Step], [(0, 0), (0, 1)]),
        (GLSL[glsl.Glsl_FSign], [(-1, 1)]),
        (GLSL[glsl.Glsl_Sin], [(-1, 1)]),
        (OPS[ops.OpFMul], [(0, 1), (-math.inf, math.inf)]),
        (GLSL[glsl.Glsl_Exp], [(0, 200)]),
    ],
)
def test_what_has_no_bound_says_so(
    act: Callable[..., Value], operands: list[tuple[float, float]]
) -> None:
    known = [
        Value(low, high, 0, {at: 0.001} if math.isfinite(low) and low != high else {})
        for at, (low, high) in enumerate(operands)
    ]
    with pytest.raises(Lost):
        act(*known)


def test_a_vector_that_may_be_short_has_no_bound() -> None:
    with pytest.raises(Lost):
        values.normalize([Value(-1.0, 1.0, 0, {0: 0.001})] * 3)


def test_a_sum_with_something_unknown_counts_once_it_is_clamped() -> None:
    total = values.add(Value(0.0, 1.0, 0, {0: 0.001}), UNKNOWN)
    assert total.far and not total.bounded()
    seen = GLSL[glsl.Glsl_FClamp](total, values.exactly(0.0), values.exactly(1.0))
    assert not seen.far
    assert 0.001 <= sum(seen.off.values()) <= 0.001 + 64 * ULP
    with pytest.raises(Lost):
        values.add(total, UNKNOWN)  # which may take the first one away again
