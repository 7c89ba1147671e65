"""SPIR-V word by word: a module as a list of instructions, to be edited."""

from __future__ import annotations

import struct
from collections.abc import Iterator

OP_NAME, OP_CONSTANT, OP_STORE, OP_DECORATE, OP_LABEL = 5, 43, 62, 71, 248


class Words:
    """A module as a list of instructions, each a list of words with the opcode in front."""

    def __init__(self, code: bytes) -> None:
        words = struct.unpack(f"<{len(code) // 4}I", code)
        self.header: list[int] = list(words[:5])
        self.instructions: list[list[int]] = []
        at = 5
        while at < len(words):
            length = words[at] >> 16
            self.instructions.append([words[at] & 0xFFFF, *words[at + 1 : at + length]])
            at += length

    def encode(self) -> bytes:
        words = list(self.header)
        for inst in self.instructions:
            words += [len(inst) << 16 | inst[0], *inst[1:]]
        return struct.pack(f"<{len(words)}I", *words)

    def new_id(self) -> int:
        self.header[3] = bound = self.header[3] + 1
        return bound - 1

    def find(self, op: int) -> Iterator[list[int]]:
        """Every instruction with the opcode, in order."""
        return (inst for inst in self.instructions if inst[0] == op)

    def named(self, name: str) -> int:
        """The id that has an OpName."""
        padded = name.encode() + b"\0" * (4 - len(name) % 4)
        wanted = list(struct.unpack(f"<{len(padded) // 4}I", padded))
        ids = [inst[1] for inst in self.find(OP_NAME) if inst[2:] == wanted]
        assert len(ids) == 1, f"{len(ids)} ids are called {name}"
        return ids[0]

    def decoration(self, name: str, decoration: int) -> list[int]:
        """The OpDecorate instruction of the named id."""
        target = self.named(name)
        decorations = [i for i in self.find(OP_DECORATE) if i[1] == target and i[2] == decoration]
        assert len(decorations) == 1, f"{name} has {len(decorations)} such decorations"
        return decorations[0]

    def remove(self, inst: list[int]) -> None:
        """That very instruction, not one that is equal to it."""
        count = len(self.instructions)
        self.instructions = [other for other in self.instructions if other is not inst]
        assert len(self.instructions) == count - 1

    def stores_to(self, name: str) -> list[list[int]]:
        """Stores to the named variable or to a part of it, in order."""
        pointers = {self.named(name)}
        for op, *operands in self.instructions:
            if op in (65, 66) and operands[2] in pointers:
                pointers.add(operands[1])
        return [inst for inst in self.find(OP_STORE) if inst[1] in pointers]

    def insert_before(self, inst: list[int], new: list[int]) -> None:
        index = next(i for i, other in enumerate(self.instructions) if other is inst)
        self.instructions.insert(index, new)

    def type_of(self, value: int) -> int:
        """The result type of an id that an instruction with a result type defines."""
        no_result = {OP_STORE, OP_NAME, OP_DECORATE, 16, 72}
        for inst in self.instructions:
            if len(inst) > 2 and inst[2] == value and inst[0] not in no_result:
                return inst[1]
        raise AssertionError(f"no definition of {value}")
