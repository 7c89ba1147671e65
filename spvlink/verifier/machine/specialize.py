"""Specialization constants become constants, as pipeline creation makes them."""

from __future__ import annotations

import struct

import numpy as np

from spvlink.binary.words import little_endian
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.options import Options
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.values import NotInterpreted

FROZEN = {
    ops.OpSpecConstantTrue: ops.OpConstantTrue, ops.OpSpecConstantFalse: ops.OpConstantFalse,
    ops.OpSpecConstant: ops.OpConstant, ops.OpSpecConstantComposite: ops.OpConstantComposite,
}  # fmt: skip


def bits_given(stage: MachineStage, inst: Inst, options: Options) -> int | None:
    """The bits that the options give a specialization constant; None: those in the module."""
    number = stage.find(inst, enums.Decoration_SpecId)
    if number is None or inst.type is None:
        return None
    given = options.spec.get((stage.name, number))
    if given is None:
        return None
    width = 1 if inst.type.op == ops.OpTypeBool else inst.type.imm[0]
    if isinstance(given, bytes):
        bits = int.from_bytes(given, "little")
        return int(bits != 0) if width == 1 else bits & ((1 << width) - 1)
    try:
        return _bits_of_text(given, inst.type) & ((1 << width) - 1)
    except (ValueError, struct.error) as error:
        raise NotInterpreted(f"a specialization constant of {given!r}", stage.name) from error


def _bits_of_text(text: str, type: Inst) -> int:
    if type.op == ops.OpTypeBool:
        return int(text.strip().lower() in ("true", "1"))
    if type.op == ops.OpTypeInt:
        return int(text, 0)
    form = {16: "<e", 32: "<f", 64: "<d"}[type.imm[0]]
    return int.from_bytes(struct.pack(form, float(text)), "little")


def frozen(data: bytes, stage: MachineStage, options: Options) -> bytes:
    """The module with constants in place of specialization constants."""
    spec = {i.id: i for i in stage.module.globals if i.op in FROZEN}
    if not spec:
        return data
    words = np.frombuffer(little_endian(data)[0], dtype="<u4").copy()
    at = 5
    while at < len(words):
        op, size = int(words[at]) & 0xFFFF, int(words[at]) >> 16
        if op in FROZEN:
            inst = spec[int(words[at + 2])]
            bits = bits_given(stage, inst, options)
            new = FROZEN[op]
            if bits is not None and op != ops.OpSpecConstant:
                new = ops.OpConstantTrue if bits else ops.OpConstantFalse
            elif bits is not None:
                for n in range(size - 3):
                    words[at + 3 + n] = bits >> (32 * n) & 0xFFFFFFFF
            words[at] = size << 16 | new
        at += size
    return words.tobytes()
