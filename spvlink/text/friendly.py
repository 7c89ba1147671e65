"""Readable, unique names for the ids of a module."""

from __future__ import annotations

import re

from spvlink.grammar import names as grammar_names
from spvlink.grammar import ops
from spvlink.ir.core import Inst, Module, op_of_name, string_of, text_of_name
from spvlink.text import tokens

Names = dict[Inst, str]


def friendly_names(module: Module) -> Names:
    """A name for every id: OpName first, then what types and constants are, then 1, 2, 3 in order
    of definition.
    """
    names: Names = {}
    taken: set[str] = set()

    def take(inst: Inst, wish: str) -> None:
        name, number = wish, 0
        while name in taken:
            name = f"{wish}_{number}"
            number += 1
        taken.add(name)
        names[inst] = name

    defined = _defined(module)
    present = set(defined)
    for named, name in module.names:
        if op_of_name(name) == ops.OpName and named in present and named not in names:
            wish = clean(text_of_name(name))
            if wish:
                take(named, wish)
    for section in module.sections:
        for inst in section:
            if inst.id and inst not in names:
                try:
                    wish = describe(inst, names)
                except (IndexError, ValueError):
                    wish = ""  # a malformed type or constant: a defect that is being looked at
                if wish:
                    take(inst, wish)
    count = 0
    for inst in defined:
        if inst not in names:
            count += 1
            names[inst] = str(count)
    return names


def _defined(module: Module) -> list[Inst]:
    every = [i for s in module.sections for i in s if i.id]
    for function in module.functions:
        every.append(function)
        every += function.params
        for block in function.blocks:
            every.append(block)
            every += [i for i in block.insts if i.id]
    return every


def clean(text: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_]", "_", text.split("(")[0])
    return "_" + name if name[:1].isdigit() else name


def describe(inst: Inst, names: Names) -> str:
    """A name by what a type or constant is, from the names of its parts; empty if there is no good
    one.
    """
    op, imm = inst.op, inst.imm
    parts = [names.get(a, "") for a in inst.args]
    if op == ops.OpTypeVoid:
        return "void"
    if op == ops.OpTypeBool:
        return "bool"
    if op == ops.OpTypeInt:
        name = "int" if imm[1] else "uint"
        return name if imm[0] == 32 else f"{name}{imm[0]}"
    if op == ops.OpTypeFloat:
        return {16: "half", 32: "float", 64: "double"}.get(imm[0], "") if len(imm) == 1 else ""
    if op == ops.OpTypeVector:
        return f"v{imm[0]}{parts[0]}"
    if op == ops.OpTypeMatrix:
        return f"mat{imm[0]}{parts[0]}"
    if op == ops.OpTypePointer and parts[0]:
        storage = grammar_names.ENUM_NAMES["StorageClass"].get(imm[0], str(imm[0]))
        return f"ptr_{storage}_{parts[0]}"
    if op == ops.OpTypeArray and all(parts):
        return f"arr_{parts[0]}_{parts[1]}"
    if op == ops.OpExtInstImport:
        return clean(string_of(imm)[0].split(".")[0])
    return _constant(inst, names)


def _constant(inst: Inst, names: Names) -> str:
    if inst.op == ops.OpConstantTrue:
        return "true"
    if inst.op == ops.OpConstantFalse:
        return "false"
    type = names.get(inst.type, "") if inst.type is not None else ""
    if not type:
        return ""
    if inst.op == ops.OpConstant:
        (text, *rest) = tokens.number_tokens(inst.imm, inst.type)
        if rest:
            return ""
        return f"{type}_{re.sub('[^A-Za-z0-9]', '_', text.replace('-', 'n'))}"
    if inst.op == ops.OpConstantNull:
        return f"{type}_null"
    return f"{type}_undef" if inst.op == ops.OpUndef else ""
