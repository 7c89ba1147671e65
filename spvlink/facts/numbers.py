"""The numbers of constants."""

from __future__ import annotations

import struct

from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Atom = tuple[int, ...]
    # products of atoms, and the factor of each
    Polynomial = dict[tuple[Atom, ...], float]
    Name = tuple[tuple[tuple[Atom, ...], float], ...]


CODES: Final = {16: "<e", 32: "<f", 64: "<d"}
_UNPACK: Final = frozenset((glsl.Glsl_PackDouble2x32, glsl.Glsl_UnpackHalf2x16))
EXPONENTS: Final = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}  # bits, by width


def number_of(inst: Inst, lane: int) -> float | None:
    """A lane of a float constant, of a matrix column by column; None for what is no finite number
    of IEEE 754."""
    while inst.op == ops.OpConstantComposite:
        of = inst.args[0].type
        size = of.imm[0] if of is not None and of.op == ops.OpTypeVector else 1
        inst, lane = inst.args[lane // size], lane % size
    if inst.op == ops.OpConstantNull:
        return 0.0
    bits = types.bits_of(inst)
    if bits is None or inst.type is None or not types.is_ieee(inst.type):
        return None
    width = inst.type.imm[0]
    number: float = struct.unpack(CODES[width], bits.to_bytes(width // 8, "little"))[0]
    return number if number - number == 0.0 else None


def is_denormal(width: int, bits: int) -> bool:
    """Whether these are the bits of a denormal number."""
    return not bits & EXPONENTS[width] and bits & ((1 << (width - 1)) - 1) != 0


def makes_denormal(inst: Inst) -> bool:
    """Whether an instruction is a denormal constant, or casts constants to denormal numbers:
    hardware may make zeros of these where it computes, and a compiler that knows them need not
    (Vulkan, "Precision and Operation of SPIR-V Instructions")."""
    type = inst.type
    if type is not None and type.op == ops.OpTypeVector:
        type = type.args[0]
    if type is None or type.op != ops.OpTypeFloat:
        return False
    width: int = type.imm[0]
    if not types.is_ieee(type):
        return inst.op == ops.OpConstant or inst.op == ops.OpBitcast
    if inst.op == ops.OpConstant:
        return is_denormal(width, types.bits_of(inst) or 0)
    packs = inst.op == ops.OpExtInst and inst.imm[0] == glsl.Glsl_PackDouble2x32
    return (packs or inst.op == ops.OpBitcast) and _denormals_in(inst.args[-1], width)


def casts_to_float(inst: Inst) -> bool:
    """Whether an instruction makes a float of bits."""
    if inst.op == ops.OpExtInst:
        return inst.imm[0] in _UNPACK
    if inst.op != ops.OpBitcast or inst.type is None:
        return False
    type = inst.type.args[0] if inst.type.op == ops.OpTypeVector else inst.type
    return type.op == ops.OpTypeFloat


def may_be_denormal(bits: int, cast: Inst) -> bool:
    """Whether some of these bits, others beside them, may become a denormal number by a cast."""
    width = 64
    if cast.op == ops.OpBitcast and cast.type is not None:
        type = cast.type.args[0] if cast.type.op == ops.OpTypeVector else cast.type
        if not types.is_ieee(type):
            return True
        width = type.imm[0]
    elif cast.imm[0] == glsl.Glsl_UnpackHalf2x16:
        width = 16
    if width not in (16, 32):
        return True
    windows = [bits >> at & ((1 << width) - 1) for at in range(0, 64, width)]
    return any(is_denormal(width, window) for window in windows)


def is_never_denormal(cast: Inst) -> bool:
    """Whether a cast is of bits of which some in the exponent are set, as in
    ``uintBitsToFloat(x | 0x3f800000u)``."""
    source = cast.args[0] if cast.op == ops.OpBitcast else cast
    if source.op != ops.OpBitwiseOr or types.lanes_of(source.type) != types.lanes_of(cast.type):
        return False
    return any(map(_sets_exponents, source.args))


def _sets_exponents(constant: Inst) -> bool:
    """Whether each lane of a constant, of integers, has a bit where a float has its exponent."""
    if constant.op == ops.OpConstantComposite:
        return all(map(_sets_exponents, constant.args))
    bits = types.bits_of(constant)
    if bits is None or constant.type is None or constant.type.op != ops.OpTypeInt:
        return False
    return bits & EXPONENTS.get(constant.type.imm[0], 0) != 0


def _denormals_in(source: Inst, width: int) -> bool:
    """Whether the bits of a constant are a denormal number."""
    parts = source.args if source.op == ops.OpConstantComposite else [source]
    bits, size = 0, 0
    for part in parts:
        known = types.bits_of(part)
        if known is None or part.type is None or not part.type.imm:
            return False
        bits |= known << size
        size += part.type.imm[0]
    mask = (1 << width) - 1
    return any(is_denormal(width, bits >> at & mask) for at in range(0, size, width))
