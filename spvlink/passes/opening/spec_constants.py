"""Replace specialization constants by the user's values, and fold the expressions over them.

Only what was given counts as known: the default in the module is what a pipeline gets that says
nothing, and unless ``defaults`` is set we are not told that it says nothing.
"""

from __future__ import annotations

import struct

from spvlink.errors import Usage
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import replace_annotations
from spvlink.passes.cleaning.fold import fold

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_BOOLS: Final = {"true": 1, "1": 1, "false": 0, "0": 0}
_FLOATS: Final = {16: "<e", 32: "<f", 64: "<d"}
_PLAIN: Final = {
    ops.OpSpecConstantTrue: ops.OpConstantTrue,
    ops.OpSpecConstantFalse: ops.OpConstantFalse,
    ops.OpSpecConstant: ops.OpConstant,
}


def specialize(module: Module, values: dict[int, str | bytes], defaults: bool = False) -> None:
    """Give the specialization constants with these SpecIds their values: text is decimal,
    hexadecimal, or true and false; bytes are what VkSpecializationInfo has for the constant.
    ``defaults``: all others have the value in the module.

    Raises ``Usage`` if the module has no constant to a text, or it is no value of its type. Bytes
    for no constant mean nothing in Vulkan, and a constant for which there are too many or too few
    stays as it was.
    """
    tables = Decorations.of(module)
    left = {id for id, value in values.items() if isinstance(value, str)}
    known: set[int] = set()
    count = len(module.globals)
    for inst in module.globals:
        number = tables.find(inst, enums.Decoration_SpecId)
        if number:
            left.discard(number[0])
            if _give(inst, values.get(number[0]), defaults):
                known.add(number[0])
        elif inst.op in (ops.OpSpecConstantComposite, ops.OpSpecConstantOp):
            _settle(module, inst)
        module.by_op = []  # another opcode may be the right one by now
    if left:
        raise Usage(f"the module has no specialization constant {min(left)}")
    _before_use(module, count)
    replace_annotations(module, [
        n for n in module.annotations
        if not (
            n.op == ops.OpDecorate and n.imm[0] == enums.Decoration_SpecId and n.imm[1] in known
        )
    ])  # fmt: skip
    module.pool, module.by_op = {}, []


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


def _give(inst: Inst, value: str | bytes | None, defaults: bool) -> bool:
    """Make a plain constant of this one, if it is known; gives whether it is."""
    if value is None:
        plain = _PLAIN.get(inst.op) if defaults else None
        if plain is not None:
            inst.op = plain
        return plain is not None
    if isinstance(value, str):
        _set(inst, value)
        return True
    return _set_bytes(inst, value)


def _set_bytes(inst: Inst, raw: bytes) -> bool:
    """The value as pipeline creation gives it (VkSpecializationMapEntry): a bool is a VkBool32.
    False if that is another size than the constant has."""
    type = inst.type
    assert type is not None
    if type.op == ops.OpTypeBool:
        if len(raw) == 4:
            inst.op = ops.OpConstantTrue if any(raw) else ops.OpConstantFalse
        return len(raw) == 4
    width = type.imm[0]
    if len(raw) * 8 != width:
        return False
    bits = int.from_bytes(raw, "little")
    _set_bits(inst, bits, type.op == ops.OpTypeInt)
    return True


def _set_bits(inst: Inst, bits: int, whole: bool) -> None:
    """A number of the constant's width; ``whole``: an integer."""
    type = inst.type
    assert type is not None
    width = type.imm[0]
    if whole and type.imm[1] and bits >> (width - 1):  # narrow ones are sign-extended (2.2.1)
        bits |= 0xFFFFFFFF & ~((1 << width) - 1)
    inst.op = ops.OpConstant
    inst.imm = (bits,) if width <= 32 else (bits & 0xFFFFFFFF, bits >> 32)


def _set(inst: Inst, text: str) -> None:
    type = inst.type
    assert type is not None
    try:
        if type.op == ops.OpTypeBool:
            inst.op = ops.OpConstantTrue if _BOOLS[text.lower()] else ops.OpConstantFalse
            return
        width = type.imm[0]
        if type.op == ops.OpTypeFloat:
            if not types.is_ieee(type):
                raise ValueError
            bits = int.from_bytes(struct.pack(_FLOATS[width], float(text)), "little")
        else:
            number = int(text, 0)
            if not -(1 << width - 1) <= number < 1 << width:
                raise ValueError
            bits = number & ((1 << width) - 1)
    except (ValueError, KeyError, OverflowError):
        raise Usage(f"{text!r} is no value for this specialization constant") from None
    _set_bits(inst, bits, type.op == ops.OpTypeInt)


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
    inst.op, inst.args, inst.imm = made.op, list(made.args), made.imm
