"""Specialization constants whose value the user gave become plain constants, and what is made of
them folds.

Only what was given counts as known: the default in the module is what a pipeline gets that says
nothing, and we are not told that it says nothing.
"""

from __future__ import annotations

import struct

from spvlink.errors import Usage
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import replace_annotations
from spvlink.passes.fold import fold

_BOOLS = {"true": 1, "1": 1, "false": 0, "0": 0}
_FLOATS = {16: "<e", 32: "<f", 64: "<d"}


def run(module: Module, values: dict[int, str]) -> None:
    """Give the specialization constants with these SpecIds their values (decimal, hexadecimal, or
    true and false).

    Raises ``Usage`` if the module has no such constant or the value is none of its type.
    """
    tables = Decorations.of(module)
    left = dict(values)
    count = len(module.globals)
    for inst in module.globals:
        number = tables.find(inst, enums.Decoration_SpecId)
        if number and number[0] in values:
            left.pop(number[0], None)
            _set(inst, values[number[0]])
        elif inst.op in (ops.OpSpecConstantComposite, ops.OpSpecConstantOp):
            _settle(module, inst)
        module.by_op = {}  # another opcode may be the right one by now
    if left:
        raise Usage(f"the module has no specialization constant {min(left)}")
    _before_use(module, count)
    replace_annotations(module, [
        n for n in module.annotations
        if not (
            n.op == ops.OpDecorate and n.imm[0] == enums.Decoration_SpecId and n.imm[1] in values
        )
    ])  # fmt: skip
    module.pool, module.by_op = {}, {}


def _before_use(module: Module, count: int) -> None:
    """What was folded may name constants that stand behind it: those made for it, behind the first
    ``count`` globals, and others of the module. They go before the first that is made of them."""
    made = set(module.globals[count:])
    loose = made | {i for i in module.globals if i.op in types.CONSTANTS}
    waiting = set(loose)
    ordered: list[Inst] = []

    def place(inst: Inst) -> None:
        waiting.discard(inst)
        for used in (inst.type, *inst.args):
            if used in waiting:
                place(used)
        ordered.append(inst)

    for inst in module.globals:
        if inst in waiting or inst not in loose:
            place(inst)
    module.globals[:] = ordered


def _set(inst: Inst, text: str) -> None:
    type = inst.type
    assert type is not None
    try:
        if type.op == ops.OpTypeBool:
            inst.op = ops.OpConstantTrue if _BOOLS[text.lower()] else ops.OpConstantFalse
            return
        width = type.imm[0]
        if type.op == ops.OpTypeFloat:
            bits = int.from_bytes(struct.pack(_FLOATS[width], float(text)), "little")
        else:
            number = int(text, 0)
            if not -(1 << width - 1) <= number < 1 << width:
                raise ValueError
            bits = number & ((1 << width) - 1)
            if type.imm[1] and bits >> (width - 1):  # narrow ones are sign-extended (2.2.1)
                bits |= 0xFFFFFFFF & ~((1 << width) - 1)
    except (ValueError, KeyError, OverflowError):
        raise Usage(f"{text!r} is no value for this specialization constant") from None
    inst.op = ops.OpConstant
    inst.imm = [bits] if width <= 32 else [bits & 0xFFFFFFFF, bits >> 32]


def _settle(module: Module, inst: Inst) -> None:
    """A composite or operation whose operands are all plain constants by now."""
    if any(a.op not in types.CONSTANTS for a in inst.args):
        return
    if inst.op == ops.OpSpecConstantComposite:
        inst.op = ops.OpConstantComposite
        return
    made = fold(module, Inst(inst.imm[0], inst.type, list(inst.args), inst.imm[1:]), False)
    if made is None or made.op not in types.CONSTANTS:
        return
    inst.op, inst.args, inst.imm = made.op, list(made.args), list(made.imm)
