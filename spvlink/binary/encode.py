"""A ``Module`` to SPIR-V words, the inverse of ``decode``: a module that nothing changed comes out
word for word. Ids stay what they are, unless new ones do not fit below the limit for ids."""

from __future__ import annotations

import struct

from spvlink.binary.walk import interleave
from spvlink.binary.words import IS_LITTLE, MAGIC, MAX_BOUND, in_other_order
from spvlink.errors import Broken, Refused
from spvlink.grammar import info, ops, shapes
from spvlink.ir.core import (
    ANNOTATIONS,
    GLOBALS,
    NAMES,
    PRIVATE,
    PROCESSED,
    Inst,
    Module,
    imm_of_name,
    name_of,
    op_of_name,
    string_of,
)
from spvlink.ir.edit import touched

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_FUNCTION_END: Final = Inst(ops.OpFunctionEnd, None, [], ())


def encode(module: Module) -> bytes:
    """The binary of a module, in the byte order in which it came. Raises ``Broken`` for a private
    opcode, ``Refused`` if there are more ids than a module may have."""
    if module.bound > MAX_BOUND:
        _renumber(module)
    head = [MAGIC, module.spirv_version, module.generator, module.bound, module.schema]
    sections = module.sections
    before: list[Inst] = []
    for section in sections[:NAMES]:
        before += section
    _write(before, head)
    out: list[int] = []
    _write(sections[PROCESSED], out)
    _write_notes(sections[ANNOTATIONS], out)
    code = sections[GLOBALS].copy()
    for function in module.functions:
        code += (*function.lead, function)
        for param in function.params:
            code += (*function.leads.get(param, ()), param)
        for block in function.blocks:
            code += block.lead
            code.append(block)
            code += block.insts
        code += function.tail
        code.append(_FUNCTION_END)
    code += module.tail
    _write(code, out)
    names = [name for _, name in module.names]
    data = b"".join([_bytes(head), *names, _bytes(out)])
    return data if module.swapped != IS_LITTLE else in_other_order(data)


def _bytes(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _renumber(module: Module) -> None:
    """Number what has an id anew, without gaps."""
    bound = 1
    defining: list[Inst] = [i for section in module.sections for i in section]
    for function in module.functions:
        defining += (function, *function.params)
        for block in function.blocks:
            defining += (block, *block.insts)
    for inst in defining:
        if inst.id:
            inst.id = bound
            bound += 1
    if bound > MAX_BOUND:
        raise Refused(f"it would have {bound - 1} ids, and a module may have {MAX_BOUND - 1}")
    module.names = [name_of(op_of_name(n), of, imm_of_name(n)) for of, n in module.names]
    module.bound = bound
    touched(module)


def _write(insts: list[Inst], out: list[int]) -> None:
    """Any instructions. Sums and products make the first words, since the interpreter has short
    ways for them, but none for ``<<`` and ``|``."""
    splits, private, extended = shapes.SPLIT, PRIVATE, ops.OpExtInst
    for inst in insts:
        op = inst.op
        args = inst.args
        imm = inst.imm
        type = inst.type
        if op >= private:
            raise Broken(f"a private opcode is left at the end: {inst!r}")
        if type is not None:  # what has a type has a result
            out.append((len(args) + len(imm) + 3) * 0x10000 + op)
            out.append(type.id)
            out.append(inst.id)
        elif inst.id:
            out.append((len(args) + len(imm) + 2) * 0x10000 + op)
            out.append(inst.id)
        else:
            out.append((len(args) + len(imm) + 1) * 0x10000 + op)
        if imm:
            split = splits[op] if args else 0  # how many of them come before the other words
            if split == shapes.NONE or (op == extended and len(imm) > 1):
                out += _walked(inst)
                continue
            if split:
                for arg in args[:split]:
                    out.append(arg.id)
                args = args[split:]
            if len(imm) == 1:
                out.append(imm[0])
            else:
                out += imm
        for arg in args:
            out.append(arg.id)


def _write_notes(insts: list[Inst], out: list[int]) -> None:
    """Decorations: nearly all are one id, then words."""
    for inst in insts:
        args, imm = inst.args, inst.imm
        if len(args) != 1:  # groups, what has ids for operands
            _write([inst], out)
            continue
        out.append((len(imm) + 2) * 0x10000 + inst.op)
        out.append(args[0].id)
        for word in imm:
            out.append(word)


def _walked(inst: Inst) -> list[int]:
    """The operand words of an instruction whose ids and other words alternate."""
    args, imm = inst.args, inst.imm
    if inst.op == ops.OpEntryPoint:
        return [imm[0], args[0].id, *imm[1:], *[a.id for a in args[1:]]]
    width = 1
    set_name: str | None = None
    if inst.op == ops.OpSwitch:
        cases = len(inst.args) - 2
        width = len(inst.imm) // cases if cases else 1
    elif inst.op in (ops.OpConstant, ops.OpSpecConstant):
        width = len(inst.imm)
    elif inst.op in info.EXTENDED:
        set_name = string_of(inst.args[0].imm)[0]
    return interleave(inst, width, set_name)
