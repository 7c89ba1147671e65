"""A stand-in for 16-bit interface values where the device has none: 32 bits between the stages.

Original and linked modules alike get every 16-bit user input and output declared with 32 bits; what
is loaded is converted back at once and what is stored is converted first. A value that was rounded
to 16 bits survives that unchanged, so a picture is as good a proof as on a device that has them.
"""

from __future__ import annotations

from spvlink.draw.reflect import INPUT, OUTPUT, CannotDraw, ReadModule, parse
from spvlink.draw.words import Words

STORAGE_INPUT_OUTPUT_16 = 4436
_FLOAT16, _INT16 = 9, 22  # capabilities
_INT, _FLOAT, _VECTOR, _ARRAY, _STRUCT, _POINTER = 21, 22, 23, 28, 30, 32
_VARIABLE, _LOAD, _STORE, _CALL, _COPY_MEMORY, _EXT_INST = 59, 61, 62, 57, 63, 12
_CHAINS, _COPY_OBJECT, _FUNCTION = (65, 66), 83, 54
_EXTRACT, _CONSTRUCT = 81, 80
_U_CONVERT, _S_CONVERT, _F_CONVERT = 113, 114, 115
_DECORATE, _MEMBER_DECORATE, _CAPABILITY = 71, 72, 17
_INTERPOLATE = (76, 77, 78)


def widened(code: bytes) -> bytes:
    """The module with 32-bit interface values. CannotDraw where a pointer goes astray."""
    module = parse(code)
    return _Widener(Words(code), module).run()


class _Widener:
    def __init__(self, words: Words, module: ReadModule) -> None:
        self.words, self.module = words, module
        self.made: list[list[int]] = []  # new types, in order
        self.copied: list[list[int]] = []  # decorations of new structs
        self.types: dict[int, int] = {}  # 16-bit type: its 32-bit twin; others: themselves
        self.pointers: dict[tuple[int, int], int] = {}
        self.wide: dict[int, int] = {}  # pointer value: the 16-bit type it pointed at

    def run(self) -> bytes:
        words = self.words
        moved = []
        for inst in list(words.find(_VARIABLE)):
            if inst[3] in (INPUT, OUTPUT):
                pointee = self.module.types[inst[1]][1][1]
                if self.twin(pointee) != pointee:
                    self.wide[inst[2]] = pointee
                    inst[1] = self.pointer(inst[3], self.twin(pointee))
                    moved.append(inst)
        for inst in moved:
            words.remove(inst)
        start = next(i for i, inst in enumerate(words.instructions) if inst[0] == _FUNCTION)
        body: list[list[int]] = []
        for inst in words.instructions[start:]:
            self.rewrite(inst, body)
        gone = [_CAPABILITY, STORAGE_INPUT_OUTPUT_16]
        arithmetic = {_FLOAT16, _INT16} - self.module.capabilities  # the conversions need it
        head = [[_CAPABILITY, number] for number in sorted(arithmetic)]
        head += [inst for inst in words.instructions[:start] if inst != gone]
        notes = [i for i, inst in enumerate(head) if inst[0] in (_DECORATE, _MEMBER_DECORATE)]
        if notes:  # else there is nothing to copy
            head[notes[-1] + 1 : notes[-1] + 1] = self.copied
        words.instructions = head + self.made + moved + body
        return words.encode()

    # -- types -----------------------------------------------------------------------------

    def twin(self, type_id: int) -> int:
        """The type with 32 bits in place of 16, or the type itself if there are none inside."""
        if type_id not in self.types:
            op, args = self.module.types[type_id]
            new = list(args)
            if op in (_INT, _FLOAT) and args[0] == 16:
                new[0] = 32
            elif op in (_VECTOR, _ARRAY):
                new[0] = self.twin(args[0])
            elif op == _STRUCT:
                new = [self.twin(member) for member in args]
            self.types[type_id] = type_id if new == args else self.make(op, new, type_id)
        return self.types[type_id]

    def make(self, op: int, args: list[int], source: int) -> int:
        """A type with these operands: one that is there, or a new one."""
        if op not in (_ARRAY, _STRUCT):
            for type_id, known in self.module.types.items():
                if known == (op, args):
                    return type_id
            for inst in self.made:
                if inst[0] == op and inst[2:] == args:
                    return inst[1]
        number = self.words.new_id()
        self.made.append([op, number, *args])
        if op == _STRUCT:
            for inst in self.words.instructions:
                if inst[0] in (_DECORATE, _MEMBER_DECORATE) and inst[1] == source:
                    self.copied.append([inst[0], number, *inst[2:]])
        return number

    def pointer(self, storage: int, pointee: int) -> int:
        if (storage, pointee) not in self.pointers:
            known = [t for t, k in self.module.types.items() if k == (_POINTER, [storage, pointee])]
            if known:
                self.pointers[storage, pointee] = known[0]
            else:
                number = self.words.new_id()
                self.made.append([_POINTER, number, storage, pointee])
                self.pointers[storage, pointee] = number
        return self.pointers[storage, pointee]

    # -- code ------------------------------------------------------------------------------

    def rewrite(self, inst: list[int], body: list[list[int]]) -> None:
        op = inst[0]
        if op in (*_CHAINS, _COPY_OBJECT) and inst[3] in self.wide:
            storage, pointee = self.module.types[inst[1]][1]
            if self.twin(pointee) != pointee:
                self.wide[inst[2]] = pointee
                inst[1] = self.pointer(storage, self.twin(pointee))
            body.append(inst)
        elif self.reads(inst) in self.wide:
            self.narrowed(inst, body)
        elif op == _STORE and inst[1] in self.wide:
            value = self.convert(inst[2], self.wide[inst[1]], True, body)
            body.append([op, inst[1], value, *inst[3:]])
        elif op in (_CALL, _COPY_MEMORY) and self.wide.keys() & set(inst[1:]):
            raise CannotDraw("a pointer to a 16-bit interface variable leaves its function")
        else:
            body.append(inst)

    @staticmethod
    def reads(inst: list[int]) -> int:
        """The pointer that a load or an interpolation reads, else 0."""
        if inst[0] == _LOAD:
            return inst[3]
        return inst[5] if inst[0] == _EXT_INST and inst[4] in _INTERPOLATE else 0

    def narrowed(self, inst: list[int], body: list[list[int]]) -> None:
        """The same instruction with a 32-bit result, and the old result made from it."""
        type_id, result = inst[1], inst[2]
        value = self.words.new_id()
        body.append([inst[0], self.twin(type_id), value, *inst[3:]])
        self.convert(value, type_id, False, body, result)

    def convert(
        self, value: int, type_id: int, widen: bool, body: list[list[int]], result: int = 0
    ) -> int:
        """Between a 16-bit type and its twin; the id of the converted value."""
        result = result or self.words.new_id()
        twin = self.twin(type_id)
        source, target = (type_id, twin) if widen else (twin, type_id)
        op, args = self.module.types[type_id]
        if op in (_INT, _FLOAT, _VECTOR):
            scalar, shape = self.module.types[args[0]] if op == _VECTOR else (op, args)
            how = _F_CONVERT
            if scalar == _INT:
                how = _S_CONVERT if shape[1] else _U_CONVERT
            body.append([how, target, result, value])
            return result
        count = len(args) if op == _STRUCT else self.module.constants[args[1]]
        parts = []
        for index in range(count):
            member = args[index] if op == _STRUCT else args[0]
            part = self.words.new_id()
            taken = member if source == type_id else self.twin(member)
            body.append([_EXTRACT, taken, part, value, index])
            if self.twin(member) != member:
                part = self.convert(part, member, widen, body)
            parts.append(part)
        body.append([_CONSTRUCT, target, result, *parts])
        return result
