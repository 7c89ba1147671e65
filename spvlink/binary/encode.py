"""A ``Module`` to SPIR-V words, the inverse of ``decode``: a module that nothing changed comes out
word for word."""

from __future__ import annotations

from array import array

from spvlink.binary.walk import interleave
from spvlink.binary.words import MAGIC
from spvlink.errors import Broken
from spvlink.grammar import ops, shapes
from spvlink.ir.core import (
    ANNOTATIONS,
    GLOBALS,
    NAMES,
    PRIVATE,
    PROCESSED,
    Function,
    Inst,
    Module,
    string_of,
)


def encode(module: Module) -> bytes:
    """The binary of a module, in the byte order in which it came. Raises ``Broken`` for a private
    opcode."""
    out = [MAGIC, module.spirv_version, module.generator, module.bound, module.schema]
    sections = module.sections
    _write([inst for section in sections[:NAMES] for inst in section], out)
    for _, name in module.names:
        out += name
    _write(sections[PROCESSED], out)
    _write_notes(sections[ANNOTATIONS], out)
    _write(sections[GLOBALS], out)
    for function in module.functions:
        _function(function, out)
    _write(module.tail, out)
    words = array("I", out)
    if module.swapped:
        words.byteswap()
    return words.tobytes()


def _function(function: Function, out: list[int]) -> None:
    _write([*function.lead, function, *function.params], out)
    for block in function.blocks:
        _write(block.lead, out)
        out += (2 << 16 | ops.OpLabel, block.id)
        _write(block.insts, out)
    _write(function.tail, out)
    out.append(1 << 16 | ops.OpFunctionEnd)


def _write(insts: list[Inst], out: list[int]) -> None:
    """Any instructions; first those forms that most have."""
    if not insts:
        return
    append, split = out.append, shapes.SPLIT
    pointer, vector = ops.OpTypePointer, ops.OpTypeVector
    for inst in insts:
        op = inst.op
        args = inst.args
        imm = inst.imm
        type = inst.type
        if op >= PRIVATE:
            raise Broken(f"a private opcode is left at the end: {inst!r}")
        size = len(args)
        if type is not None:  # what has a type has a result
            if not imm:
                if size == 1:
                    out += (4 << 16 | op, type.id, inst.id, args[0].id)
                    continue
                if size == 2:
                    out += (5 << 16 | op, type.id, inst.id, args[0].id, args[1].id)
                    continue
            elif len(imm) == 1:
                if not args:  # constants and variables
                    out += (4 << 16 | op, type.id, inst.id, imm[0])
                    continue
                if size == 1 and split.get(op) == -1:  # parts of vectors
                    out += (5 << 16 | op, type.id, inst.id, args[0].id, imm[0])
                    continue
            elif size == 1 and split.get(op) == -1:  # of vectors in matrices or structures
                out += (len(imm) + 4 << 16 | op, type.id, inst.id, args[0].id, *imm)
                continue
            out += (size + len(imm) + 3 << 16 | op, type.id, inst.id)
        elif inst.id:
            if op == pointer:  # the most frequent type
                out += (4 << 16 | op, inst.id, imm[0], args[0].id)
                continue
            if op == vector:
                out += (4 << 16 | op, inst.id, args[0].id, imm[0])
                continue
            out += (size + len(imm) + 2 << 16 | op, inst.id)
        else:
            if size == 2 and not imm:  # stores
                out += (3 << 16 | op, args[0].id, args[1].id)
                continue
            append(size + len(imm) + 1 << 16 | op)
        if imm and args and split.get(op) != -1:
            out += _mixed(inst, op, args, imm)
            continue
        for arg in args:
            append(arg.id)
        if imm:
            out += imm


def _mixed(inst: Inst, op: int, args: list[Inst], imm: list[int]) -> list[int]:
    """Operands that are not ids first, then other words."""
    split = shapes.SPLIT.get(op, -2)
    words = [a.id for a in args]
    if split >= 0:
        words[split:split] = imm
        return words
    if op == ops.OpEntryPoint:
        return [imm[0], words[0], *imm[1:], *words[1:]]
    return _interleaved(inst)


def _write_notes(insts: list[Inst], out: list[int]) -> None:
    """Decorations: nearly all are one id, then words."""
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
