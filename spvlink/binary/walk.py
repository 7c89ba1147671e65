"""The operand walk: reads an instruction's words by its shape in the grammar, checking every
enumerant on the way.

The decoder takes a fast path for the plain shapes and comes here for the others; the encoder comes
here for the few instructions whose ids and other words interleave in ways that depend on the words
themselves.
"""

from __future__ import annotations

from spvlink.errors import BadSpirv
from spvlink.grammar import ops, shapes
from spvlink.ir.core import Inst, string_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

ID: Final = True
WORD: Final = False


class Walk:
    """Tells for each operand word of one instruction whether it is an id. ``kinds[i]`` belongs to
    ``words[i]``."""

    __slots__ = (
        "at", "enumerants", "kinds", "literal_words", "opaque", "set_name", "varies", "words",
    )  # fmt: skip

    def __init__(self, words: tuple[int, ...], literal_words: int, set_name: str | None) -> None:
        self.words = words  # operand words after result type and result id
        self.kinds: list[bool] = []
        self.at = 0
        self.literal_words = literal_words  # words of a context-dependent literal
        self.set_name = set_name  # of the extended instruction set, for OpExtInst
        self.enumerants: list[int] = []  # positions of the words that decided the shape
        self.varies = False  # the shape depends on more than these words
        self.opaque = False  # the grammar lacks the set, so which words are ids is not known

    def operands(self, kinds: tuple[int, ...]) -> None:
        """Consume operands of these kinds (kind * 4 + quantifier) until they or the words end."""
        for code in kinds:
            quantifier = code & 3
            if quantifier == 2:
                while self.at < len(self.words):
                    self.operand(code >> 2)
            elif quantifier == 1:
                if self.at < len(self.words):
                    self.operand(code >> 2)
            else:
                self.operand(code >> 2)

    def take(self, is_id: bool, count: int = 1) -> int:
        if self.at + count > len(self.words):
            raise BadSpirv("the instruction ends before its last operand")
        self.kinds.extend([is_id] * count)
        self.at += count
        return self.words[self.at - count] if count else 0

    def operand(self, kind: int) -> None:
        if kind == shapes.K_ID:
            self.take(ID)
        elif kind == shapes.K_LITERAL:
            self.take(WORD)
        elif kind == shapes.K_STRING:
            self.varies = True
            _, end = string_of(self.words, self.at)
            self.take(WORD, max(end - self.at, 1))
        elif kind == shapes.K_TYPED:
            self.varies = True
            self.take(WORD, self.literal_words)
        elif kind == shapes.K_EXTINST:
            self.varies = True
            self.extended(self.take(WORD))
        elif kind == shapes.K_SPECOP:
            self.enumerants.append(self.at)
            opcode = self.take(WORD)
            if opcode > 0xFFFF or shapes.RESULT[opcode] == shapes.NONE:
                raise BadSpirv(f"OpSpecConstantOp holds the unknown opcode {opcode}")
            self.operands(shapes.operands(opcode))
        elif kind == shapes.K_SWITCH_PAIR:
            self.varies = True
            self.take(WORD, self.literal_words)
            self.take(ID)
        elif kind == shapes.K_ID_LITERAL:
            self.take(ID)
            self.take(WORD)
        elif kind == shapes.K_ID_ID:
            self.take(ID, 2)
        else:
            self.enumerant(kind - shapes.K_ENUM)

    def extended(self, number: int) -> None:
        if self.set_name is None:
            raise BadSpirv("the instruction set of OpExtInst is not an OpExtInstImport")
        if self.set_name.startswith("NonSemantic."):
            self.take(ID, len(self.words) - self.at)  # by SPV_KHR_non_semantic_info: ids only
            return
        known = shapes.extended_set(self.set_name)
        if known is None:
            self.opaque = True
            self.take(WORD, len(self.words) - self.at)
            return
        if number not in known:
            raise BadSpirv(f"{self.set_name} has no instruction {number} in the grammar")
        self.operands(known[number])

    def enumerant(self, kind: int) -> None:
        name, is_mask, values = shapes.enumeration(kind)
        self.enumerants.append(self.at)
        value = self.take(WORD)
        if not is_mask:
            if value not in values:
                raise BadSpirv(f"{name} {value} is not in the grammar")
            self.operands(values[value])
            return
        bit = 1
        rest = value
        while rest:
            if rest & 1:
                if bit not in values:
                    raise BadSpirv(f"{name} bit {bit:#x} is not in the grammar")
                self.operands(values[bit])
            rest >>= 1
            bit <<= 1


def interleave(inst: Inst, literal_words: int, set_name: str | None) -> list[int]:
    """The operand words of an instruction that has no fixed split, by walking its shape over args
    and imm."""
    args = [a.id for a in inst.args]
    if inst.op == ops.OpSwitch:
        words = args[:2]
        at = 0
        for label in args[2:]:
            words += inst.imm[at : at + literal_words]
            words.append(label)
            at += literal_words
        return words
    walk = _Merge(args, inst.imm, literal_words, set_name)
    walk.operands(shapes.operands(inst.op))
    return walk.merged


class _Merge(Walk):
    """The same walk, drawing each word from args or imm as its kind asks for."""

    __slots__ = ("args", "imm", "merged", "next_arg", "next_imm")

    def __init__(
        self, args: list[int], imm: tuple[int, ...], literal_words: int, set_name: str | None
    ) -> None:
        super().__init__((0,) * (len(args) + len(imm)), literal_words, set_name)
        self.merged: list[int] = []
        self.args = args
        self.imm = imm
        self.next_arg = 0
        self.next_imm = 0

    def take(self, is_id: bool, count: int = 1) -> int:
        source: Sequence[int] = self.args if is_id else self.imm
        start = self.next_arg if is_id else self.next_imm
        if start + count > len(source):
            raise BadSpirv("the instruction ends before its last operand")
        self.merged += source[start : start + count]
        if is_id:
            self.next_arg += count
        else:
            self.next_imm += count
        self.at += count
        return source[start] if count else 0

    def operand(self, kind: int) -> None:
        if kind == shapes.K_STRING:
            _, end = string_of(self.imm, self.next_imm)
            self.take(WORD, max(end - self.next_imm, 1))
            return
        super().operand(kind)
