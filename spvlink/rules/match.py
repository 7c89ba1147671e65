"""What the compiled rules (_algebra.py) call: literals, guards, and the constants that rules
compute.

A guard takes values; ``result`` in a rule passes the type of the root. A computing function gives
None where it does not apply, which fails the rule.
"""

from __future__ import annotations

import struct

from spvlink.grammar import ops
from spvlink.ir import edit, types
from spvlink.ir.core import GLSL_WORDS, Inst, Module
from spvlink.rules.arithmetic import PRECISION, exact_bits, from_bits, signed
from spvlink.rules.lanes import build, component, fold_lanes, is_float, lanes, width_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

CONSTANTS: Final = types.CONSTANTS
_DOUBLE: Final = struct.Struct("<d")
_BITS: Final = struct.Struct("<Q")
# (width, bits) -> bits of the same number in binary64: a module has few constants, but uses them
# often
_WIDENED: Final[dict[tuple[int, int], int | None]] = {}
_MOST: Final = 4096


def is_glsl(set: Inst) -> bool:
    """Whether the first operand of an OpExtInst is the set GLSL.std.450."""
    return set.op == ops.OpExtInstImport and set.imm == GLSL_WORDS


# Literals in patterns: the one value of all lanes


def _uniform(value: Inst) -> int | None:
    """The bit pattern that all lanes of a constant share."""
    if value.op == ops.OpConstant:
        return types.bits_of(value)
    patterns = lanes(value)
    if not patterns or patterns.count(patterns[0]) != len(patterns):
        return None
    return patterns[0]


def whole_int(value: Inst) -> int | None:
    """The integer, read as signed, that all lanes hold; so -1 is "all bits set" for unsigned types
    too."""
    type = value.type
    if type is None or component(type).op != ops.OpTypeInt:
        return None
    bits = _uniform(value)
    return None if bits is None else signed(component(type).imm[0], bits)


def whole_bool(value: Inst) -> int | None:
    """The truth value that all lanes hold, as 0 or 1."""
    if value.type is None or component(value.type).op != ops.OpTypeBool:
        return None
    return _uniform(value)


def whole_float(value: Inst) -> int | None:
    """The bit pattern, widened to binary64, of the float that all lanes hold (no denormal)."""
    if value.type is None:
        return None
    scalar = component(value.type)
    if not is_float(scalar):
        return None
    width = scalar.imm[0]
    # the first is what nearly all are
    bits = value.imm[0] if width == 32 and value.op == ops.OpConstant else _uniform(value)
    if bits is None:
        return None
    key = width, bits
    if key not in _WIDENED:
        if len(_WIDENED) >= _MOST:
            _WIDENED.clear()
        number = from_bits(*key)
        _WIDENED[key] = None if number is None else _BITS.unpack(_DOUBLE.pack(number))[0]
    return _WIDENED[key]


# Literals in results


def number(module: Module, type: Inst | None, value: int) -> Inst | None:
    """The integer or bool constant of scalar or vector ``type`` with ``value`` in every lane."""
    if type is None or component(type).op not in (ops.OpTypeInt, ops.OpTypeBool):
        return None
    return build(module, type, [value] * (type.imm[0] if type.op == ops.OpTypeVector else 1))


def make(
    module: Module,
    op: int,
    type: Inst | None,
    args: list[Inst],
    imm: tuple[int, ...],
    out: list[Inst],
) -> Inst:
    """A new instruction, appended to ``out``."""
    made = edit.value(module, op, type, args, imm)
    out.append(made)
    return made


# Guards


def _width(type: Inst | None) -> int:
    return 0 if type is None else width_of(component(type))


def typed(value: Inst, type: Inst | None) -> bool:
    return value.type is type


def widens(narrow: Inst, wide: Inst) -> bool:
    """The second value's components have more bits; floats are both IEEE, so that each value of the
    first is kept."""
    if narrow.type is None or wide.type is None:
        return False
    for scalar in (component(narrow.type), component(wide.type)):
        if scalar.op == ops.OpTypeFloat and not is_float(scalar):
            return False
    return _width(narrow.type) < _width(wide.type)


def narrows(value: Inst, type: Inst | None) -> bool:
    return _width(value.type) > _width(type)


def resized(value: Inst, type: Inst | None) -> bool:
    return _width(value.type) != _width(type)


def holds(float: Inst, integer: Inst) -> bool:
    """Whether the float's type has every value of the integer's type."""
    if float.type is None or not is_float(component(float.type)):
        return False
    return _width(integer.type) <= PRECISION[_width(float.type)]


# Constants that rules compute


def fold(module: Module, key: int, first: Inst, *rest: Inst) -> Inst | None:
    """A per-component operation on constants, in the type of the first."""
    return None if first.type is None else fold_lanes(module, key, first.type, [first, *rest])


def log2(module: Module, value: Inst) -> Inst | None:
    """The exponents of powers of two, read as unsigned."""
    patterns = lanes(value)
    if patterns is None or value.type is None or any(b.bit_count() != 1 for b in patterns):
        return None
    return build(module, value.type, [b.bit_length() - 1 for b in patterns])


def power_mask(module: Module, value: Inst) -> Inst | None:
    """Powers of two less one."""
    patterns = lanes(value)
    if patterns is None or value.type is None or any(b.bit_count() != 1 for b in patterns):
        return None
    return build(module, value.type, [b - 1 for b in patterns])


def reciprocal(module: Module, value: Inst) -> Inst | None:
    """1 / x for powers of two, of either sign, where it is normal."""
    patterns = lanes(value)
    if patterns is None or value.type is None or not is_float(component(value.type)):
        return None
    width, inverse = _width(value.type), []
    for bits in patterns:
        x = from_bits(width, bits)
        if x is None or x == 0.0 or x - x != 0.0:
            return None
        top, bottom = x.as_integer_ratio()
        if abs(top) & (abs(top) - 1):
            return None
        one = exact_bits(width, bottom if top > 0 else -bottom, abs(top))
        if one is None:
            return None
        inverse.append(one)
    return build(module, value.type, inverse)


def shift_sum(module: Module, first: Inst, second: Inst, shifted: Inst) -> Inst | None:
    """The sum of two shift amounts where it is below the width of what is shifted."""
    left, right = lanes(first), lanes(second)
    if left is None or right is None or first.type is None:
        return None
    sums = [a + b for a, b in zip(left, right)]
    width = _width(shifted.type)
    if any(b >= width for b in sums):
        return None
    return build(module, first.type, sums)
