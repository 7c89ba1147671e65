"""A ``Module`` to SPIR-V words, the inverse of ``decode``: a module that nothing changed comes out
word for word."""

from __future__ import annotations

from array import array

from spvlink.binary.decode import MAGIC
from spvlink.binary.walk import interleave
from spvlink.errors import Broken
from spvlink.grammar import ops, shapes
from spvlink.ir.core import PRIVATE, Function, Inst, Module, string_of


def encode(module: Module) -> bytes:
    """The binary of a module, in the byte order in which it came. Raises ``Broken`` for a private
    opcode."""
    out = [MAGIC, module.spirv_version, module.generator, module.bound, module.schema]
    for section in module.sections:
        _write(section, out)
    for function in module.functions:
        _function(function, out)
    _write(module.tail, out)
    words = array("I", out)
    if module.swapped:
        words.byteswap()
    return words.tobytes()


def _function(function: Function, out: list[int]) -> None:
    _write(function.lead, out)
    _write([function], out)
    _write(function.params, out)
    for block in function.blocks:
        if block.lead:
            _write(block.lead, out)
        out.append(2 << 16 | ops.OpLabel)
        out.append(block.id)
        _write(block.insts, out)
    _write(function.tail, out)
    out.append(1 << 16 | ops.OpFunctionEnd)


def _write(insts: list[Inst], out: list[int]) -> None:
    splits = shapes.SPLIT
    append = out.append
    for inst in insts:
        op = inst.op
        imm = inst.imm
        args = inst.args
        type = inst.type
        if op >= PRIVATE:
            raise Broken(f"a private opcode is left at the end: {inst!r}")
        size = 1 + len(args) + len(imm)
        if type is not None:
            append(size + 2 << 16 | op)  # what has a type has a result
            append(type.id)
            append(inst.id)
        elif inst.id:
            append(size + 1 << 16 | op)
            append(inst.id)
        else:
            append(size << 16 | op)
        if not imm:
            for arg in args:
                append(arg.id)
            continue
        split = splits.get(op, -2)
        if split == -1:
            for arg in args:
                append(arg.id)
            out += imm
        elif split >= 0:
            out += [a.id for a in args[:split]]
            out += imm
            out += [a.id for a in args[split:]]
        else:
            out += _interleaved(inst)


def _interleaved(inst: Inst) -> list[int]:
    width = 1
    set_name: str | None = None
    if inst.op == ops.OpSwitch:
        cases = len(inst.args) - 2
        width = len(inst.imm) // cases if cases else 1
    elif inst.op in (ops.OpConstant, ops.OpSpecConstant):
        width = len(inst.imm)
    elif inst.op in (ops.OpExtInst, ops.OpExtInstWithForwardRefsKHR):
        set_name = string_of(inst.args[0].imm)[0]
    return interleave(inst, width, set_name)
