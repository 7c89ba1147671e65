"""A module as text: one instruction a line, enumerants by name, strings quoted, ids as %N.

``friendly`` gives names in place of numbers: types and constants by what they are, named values by
name, the rest counted in order of appearance, so that the text does not depend on how ids happen to
be numbered.
"""

from __future__ import annotations

import sys

from spvlink.grammar import names as grammar_names
from spvlink.grammar import ops, shapes
from spvlink.ir.core import (
    ANNOTATIONS,
    NAMES,
    PRIVATE,
    PRIVATE_NAMES,
    SECTIONS,
    Block,
    Function,
    Inst,
    Module,
    string_of,
)
from spvlink.text import tokens
from spvlink.text.friendly import friendly_names

Names = dict[Inst, str]


class _Line:
    """Prints the operands of one instruction, drawing from args and imm by the grammar's shape."""

    def __init__(self, inst: Inst, names: Names) -> None:
        self.inst = inst
        self.names = names
        self.args = iter(inst.args)
        self.imm = inst.imm
        self.at = 0
        self.used = 0
        self.out: list[str] = []

    def id(self, inst: Inst) -> str:
        return "%" + (self.names.get(inst) or str(inst.id))

    def left(self) -> bool:
        return self.used < len(self.inst.args) or self.at < len(self.imm)

    def take_id(self) -> None:
        self.out.append(self.id(next(self.args)))
        self.used += 1

    def word(self) -> int:
        self.at += 1
        return self.imm[self.at - 1]

    def operands(self, kinds: tuple[int, ...]) -> None:
        for code in kinds:
            quantifier = code & 3
            if quantifier == shapes.MANY:
                while self.left():
                    self.operand(code >> 2)
            elif quantifier == shapes.ONE or self.left():
                self.operand(code >> 2)

    def operand(self, kind: int) -> None:
        if kind == shapes.K_ID:
            self.take_id()
        elif kind == shapes.K_LITERAL:
            self.out.append(str(self.word()))
        elif kind == shapes.K_STRING:
            end = string_of(self.imm, self.at)[1]
            self.out += tokens.string_tokens(self.imm[self.at : end])
            self.at = end
        elif kind == shapes.K_TYPED:
            self.out += tokens.number_tokens(self.imm[self.at :], self.inst.type)
            self.at = len(self.imm)
        elif kind == shapes.K_EXTINST:
            self.extended()
        elif kind == shapes.K_SPECOP:
            opcode = self.word()
            self.out.append(ops.NAMES[opcode][2:])
            self.operands(shapes.operands(opcode))
        elif kind == shapes.K_SWITCH_PAIR:
            selector = self.inst.args[0].type
            size = tokens.number_size(selector) or 1
            self.out += tokens.number_tokens(self.imm[self.at : self.at + size], selector)
            self.at += size
            self.take_id()
        elif kind == shapes.K_ID_LITERAL:
            self.take_id()
            self.out.append(str(self.word()))
        elif kind == shapes.K_ID_ID:
            self.take_id()
            self.take_id()
        else:
            value = self.word()
            self.out.append(tokens.enum_token(kind - shapes.K_ENUM, value))
            for shape in tokens.enum_operands(kind - shapes.K_ENUM, value):
                self.operands(shape)

    def extended(self) -> None:
        number = self.word()
        name = string_of(self.inst.args[0].imm)[0]
        self.out.append(grammar_names.EXT_NAMES.get(name, {}).get(number, str(number)))
        known_set = None if name.startswith("NonSemantic.") else shapes.extended_set(name)
        shape = None if known_set is None else known_set.get(number)
        self.operands(shape if shape is not None else (shapes.K_ID * 4 + shapes.MANY,))


def print_inst(inst: Inst, names: Names | None = None) -> str:
    """One instruction. A malformed one (a defect being looked at) is printed too: ids, then raw
    words.
    """
    known = names if names is not None else {}
    line = _Line(inst, known)
    private = inst.op >= PRIVATE
    try:
        if private:
            line.out = [line.id(a) for a in inst.args] + [str(w) for w in inst.imm]
        else:
            line.operands(shapes.operands(inst.op))
            line.out += [line.id(a) for a in line.args] + tokens.raw(line.imm[line.at :])
    except (IndexError, KeyError, StopIteration, RuntimeError):
        line.out = [line.id(a) for a in inst.args] + tokens.raw(inst.imm)
    name = PRIVATE_NAMES.get(inst.op) if private else ops.NAMES.get(inst.op)
    head = [name or f"Op{inst.op}"]
    if inst.type is not None:
        head.append(line.id(inst.type))
    result = f"{line.id(inst)} = " if inst.id else ""
    return result + " ".join(head + line.out)


def print_block(block: Block, names: Names | None = None) -> str:
    """A block: its label, then its instructions, indented."""
    lines = [_indent(i, names) for i in block.lead]
    lines.append(print_inst(block, names))
    lines += [_indent(i, names) for i in block.insts]
    return "\n".join(lines) + "\n"


def _indent(inst: Inst, names: Names | None) -> str:
    return "  " + print_inst(inst, names)


def print_function(function: Function, names: Names | None = None) -> str:
    lines = [print_inst(i, names) for i in function.lead]
    lines.append(print_inst(function, names))
    for param in function.params:
        lines += [_indent(i, names) for i in (*function.leads.get(param, ()), param)]
    text = "\n".join(lines) + "\n"
    text += "".join(print_block(b, names) for b in function.blocks)
    text += "".join(print_inst(i, names) + "\n" for i in function.tail)
    return text + "OpFunctionEnd\n"


def header(module: Module) -> str:
    """The five words of the header as comments that ``parse`` reads."""
    little = (sys.byteorder == "little") != module.swapped
    major, minor = module.spirv_version >> 16, module.spirv_version >> 8 & 0xFF
    return (
        f"; SPIR-V\n; Version: {major}.{minor}\n; Generator: {module.generator:#010x}\n"
        f"; Bound: {module.bound}\n; Schema: {module.schema}\n"
        f"; Byte order: {'little' if little else 'big'}\n"
    )


def print_module(module: Module, friendly: bool = False) -> str:
    """The whole module. With numbers as ids (the default) ``parse`` gives the same module back,
    word for word; ``friendly`` leaves the header out and names ids, for people and for expectations
    in tests."""
    names: Names = friendly_names(module) if friendly else {}
    present = names.keys()
    parts = [] if friendly else [header(module)]
    for number in range(SECTIONS):
        # Friendly text leaves out names and decorations of what a pass removed, which wait for
        # trim.
        beside = friendly and number in (NAMES, ANNOTATIONS)
        parts += [
            print_inst(i, names) + "\n"
            for i in module.listed(number)
            if not (beside and i.args and i.args[0] not in present)
        ]
    for function in module.functions:
        parts.append("\n" + print_function(function, names))
    parts += [print_inst(i, names) + "\n" for i in module.tail]
    return "".join(parts)
