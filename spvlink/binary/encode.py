"""A ``Module`` to SPIR-V words, the inverse of ``decode``: a module that nothing changed comes out
word for word."""

from __future__ import annotations

from array import array

from spvlink.binary.walk import interleave
from spvlink.binary.words import MAGIC
from spvlink.errors import Broken
from spvlink.grammar import ops, shapes
from spvlink.ir.core import ANNOTATIONS, NAMES, PRIVATE, Function, Inst, Module, string_of


def encode(module: Module) -> bytes:
    """The binary of a module, in the byte order in which it came. Raises ``Broken`` for a private
    opcode."""
    out = [MAGIC, module.spirv_version, module.generator, module.bound, module.schema]
    for at, section in enumerate(module.sections):
        if at in (NAMES, ANNOTATIONS):
            _write_notes(section, out)
        else:
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
        size = len(args) + len(imm)
        if type is not None:  # what has a type has a result
            if size == 2 and not imm:
                out += (5 << 16 | op, type.id, inst.id, args[0].id, args[1].id)
                continue
            out += (size + 3 << 16 | op, type.id, inst.id)
        elif inst.id:
            out += (size + 2 << 16 | op, inst.id)
        else:
            append(size + 1 << 16 | op)
        if not imm:
            for arg in args:
                append(arg.id)
            continue
        split = splits.get(op, -2)
        if split == -1 or not args:
            for arg in args:
                append(arg.id)
            out += imm
        elif split == 1:
            append(args[0].id)
            out += imm
            for arg in args[1:]:
                append(arg.id)
        elif split >= 0:
            out += [a.id for a in args[:split]]
            out += imm
            out += [a.id for a in args[split:]]
        elif op == ops.OpEntryPoint:
            out += (imm[0], args[0].id, *imm[1:])
            for arg in args[1:]:
                append(arg.id)
        else:
            out += _interleaved(inst)


def _write_notes(insts: list[Inst], out: list[int]) -> None:
    """Names and plain decorations: one id, then words."""
    for inst in insts:
        args, imm = inst.args, inst.imm
        if len(args) != 1 or inst.id:
            _write([inst], out)
            continue
        out += (len(imm) + 2 << 16 | inst.op, args[0].id)
        out += imm


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
