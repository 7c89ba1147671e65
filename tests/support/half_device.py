"""The most careless device that ``--half`` allows for, drawn on one that is not: every conversion
to 16 bits rounds towards zero and flushes denormal numbers, and so does interpolation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.draw import Result
from spvlink.draw.draw import draw
from spvlink.draw.scene import Scene
from spvlink.draw.widen import widened
from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import glsl_import, touched, value

_KEPT = 0xFFFFE000  # the sign, the exponent and the ten digits that a number of 16 bits has
_LEAST = 0x38800000  # 2**-14
_PACK = glsl.Glsl_PackHalf2x16


def careless(code: bytes) -> bytes:
    """The module with interfaces of 32 bits and numbers in them that such a device makes."""
    module = decode(widened(code))
    for function in module.functions:
        for block in function.blocks:
            out: list[Inst] = []
            for inst in block.insts:
                if inst.op == ops.OpFConvert and _width(inst.type) == 16:
                    inst.args = [cut(module, inst.args[0], out)]
                elif inst.op == ops.OpExtInst and inst.imm[0] == _PACK:
                    inst.args = [inst.args[0], cut(module, inst.args[1], out)]
                out.append(inst)
            block.insts = out
    touched(module)
    return encode(module)


def cut(module: Module, number: Inst, out: list[Inst]) -> Inst:
    """A float of 32 bits, or a vector, without the digits that 16 bits have no room for."""
    lanes = types.lanes_of(number.type)
    integers = types.vector(module, types.integer(module), lanes)
    floats = types.vector(module, types.floating(module), lanes)

    def constant(type: Inst, bits: int) -> Inst:
        one = types.constant(module, type, bits)
        whole = types.vector(module, type, lanes)
        return one if lanes == 1 else types.composite(module, whole, [one] * lanes)

    def add(op: int, type: Inst, args: list[Inst], imm: tuple[int, ...] = ()) -> Inst:
        out.append(value(module, op, type, args, imm))
        return out[-1]

    bits = add(ops.OpBitcast, integers, [number])
    bits = add(ops.OpBitwiseAnd, integers, [bits, constant(types.integer(module), _KEPT)])
    kept = add(ops.OpBitcast, floats, [bits])
    size = add(ops.OpExtInst, floats, [glsl_import(module), kept], (glsl.Glsl_FAbs,))
    booleans = types.boolean(module)
    if lanes > 1:
        booleans = types.make(module, ops.OpTypeVector, None, [booleans], (lanes,))
    small = add(ops.OpFOrdLessThan, booleans, [size, constant(types.floating(module), _LEAST)])
    zero = constant(types.floating(module), 0)
    return add(ops.OpSelect, floats, [small, zero, kept])


def _width(type: Inst | None) -> int:
    while type is not None and type.op == ops.OpTypeVector:
        type = type.args[0]
    return type.imm[0] if type is not None and type.op == ops.OpTypeFloat else 0


def moved(plain: Sequence[bytes], halved: Sequence[bytes], scene: Scene) -> tuple[float, Result]:
    """The largest difference of what is seen between two pipelines, on the careless device: of
    colours between 0 and 1. Infinite where only one is a NaN."""
    before = draw(plain, scene)
    after = draw([careless(code) for code in halved], scene)
    most = 0.0
    for name, image in before.images.items():
        if image.dtype.kind != "f" or name == "depth":
            assert np.array_equal(image, after.images[name], equal_nan=True), name
            continue
        other = after.images[name]
        if not np.array_equal(np.isnan(image), np.isnan(other)):
            return np.inf, after
        pair = [np.clip(np.nan_to_num(one.astype(np.float64)), 0.0, 1.0) for one in (image, other)]
        most = max(most, float(np.abs(pair[0] - pair[1]).max()))
    return most, after
