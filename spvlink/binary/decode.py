"""SPIR-V words to a ``Module``: versions 1.0 to 1.6, both byte orders.

Every Inst is made by plans (``plans``) that say how an instruction is read from its first word. A
look ahead makes the Blocks and Functions, so that forward branches and calls refer to the real
node; other forward references get an Inst that its definition fills in later. Names and decorations
come last, since they may speak of anything. Whatever the grammar does not know is refused with its
place.
"""

from __future__ import annotations

from spvlink.binary.plans import (
    ACT,
    END,
    NAME,
    NAME_WORDS,
    NAMED,
    NOTE,
    NOTE_SHAPES,
    NOTES,
    NUMBER,
    PAIRED,
    PLANS,
    POINTER,
    SECTION,
    SHAPED,
    STRUCTURE,
    TERMINATORS,
    TEXT,
    VALUE,
    VALUE_WORDS,
    VARIABLE,
    Plan,
    plan_of,
)
from spvlink.binary.reader import (
    END_WORD,
    FUNCTION_WORD,
    GLOBAL_OPS,
    GLSL_SIZES,
    GROUP_WORD,
    LABEL_WORD,
    MODELS,
    NUMBERS,
    Reader,
)
from spvlink.binary.words import words_in
from spvlink.errors import BadSpirv
from spvlink.grammar import ops
from spvlink.ir import core
from spvlink.ir.core import Block, Function, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# "Universal Limits" (2.17): the smallest bound every consumer takes is 4,194,303
MAX_BOUND: Final = 0x400000


def decode(data: bytes) -> Module:
    """Read one SPIR-V binary. Raises ``BadSpirv`` with the word and instruction index of the
    trouble."""
    words, swapped = words_in(data)
    words.append(0)  # which begins no instruction
    module = _quickly(words, data)
    if module is None:  # once more, with what takes longer
        decoder = _Decoder(words, b"")
        try:
            decoder.run()
        except (BadSpirv, IndexError, ValueError) as error:
            decoder.explain(error)
            raise
        module = decoder.module
    module.swapped = swapped
    return module


def _quickly(words: list[int], data: bytes) -> Module | None:
    """The module; None if something is wrong with it, or if a word in it looks like a label but is
    none: then something was defined twice, or a Block or Function was made that never came."""
    decoder = _Decoder(words, data)
    try:
        decoder.run()
    except (BadSpirv, IndexError, ValueError):  # the last two: the words end too early
        return None
    return None if any([made.mark for made in decoder.promises]) else decoder.module


class _Decoder(Reader):
    """The loops in which reading spends its time."""

    def run(self) -> None:
        self.header()
        self.read()
        if 0 in self.defs or max(self.defs, default=0) >= self.module.bound:
            raise BadSpirv("an id is out of bounds", self.size)  # ``explain`` finds it
        for id, (word, by_type) in self.missing.items():
            op = self.defs[id].op
            if op == 0:
                raise BadSpirv(f"id {id} is used but never defined", word)
            if by_type and op != ops.OpTypePointer:
                raise BadSpirv(f"the type {id} is used before it is defined", word)
        self.read_notes()
        self.read_names()

    def header(self) -> None:
        module, words = self.module, self.words
        version = words[1]
        major, minor = version >> 16 & 0xFF, version >> 8 & 0xFF
        self.start = 1
        if version & 0xFF0000FF or major != 1 or minor > 6:
            raise BadSpirv(
                f"SPIR-V version {major}.{minor} ({version:#x}) is not between 1.0 and 1.6", 1
            )
        if not 0 < words[3] <= MAX_BOUND:
            raise BadSpirv(f"the id bound {words[3]} is not between 1 and {MAX_BOUND}", 3)
        module.spirv_version = version
        module.generator = words[2]
        module.bound = words[3]
        module.schema = words[4]

    def read(self) -> None:
        """Every instruction becomes an Inst in its place."""
        end = self.read_functions(self.read_globals(5))
        if end != self.size:
            raise BadSpirv("an instruction has a word count of 0", end)
        if self.function is not None:
            raise BadSpirv("the module ends inside a function", self.cut()[-1])
        (self.module.tail if self.module.functions else self.module.globals).extend(self.pending)

    def read_globals(self, start: int) -> int:
        """What comes before the first function; gives the start of that."""
        words, plans = self.words, PLANS
        names, notes = self.names, self.notes
        section = 0  # that is being read
        try:
            while True:
                first = words[start]
                plan = plans.get(first) or plan_of(first)
                kind, op, size, cut, _ = plan
                if kind == NAME:
                    section = self.enter(start, op, cut)
                    while first in NAME_WORDS:
                        end = start + (first >> 16)
                        names.append(words[start:end])
                        start = end
                        first = words[start]
                elif kind == NOTE:
                    if cut != section:
                        section = self.enter(start, op, cut)
                    while first & 0xFFFF == op and first != op:  # more of its kind
                        notes.append(start)
                        start += first >> 16
                        first = words[start]
                elif kind >= STRUCTURE:
                    return start
                elif op in GLOBAL_OPS and not self.pending:
                    section = self.section = core.GLOBALS
                    start = self.read_types(start)
                else:
                    end = start + size
                    inst = self.made(start, end, plan)
                    self.start = start
                    if op in SECTION:
                        self.place(inst)
                    else:
                        self.put(inst)
                    start = end
                    section = self.section
        except BadSpirv as error:
            error.word = start if error.word is None else error.word
            raise

    def read_types(self, start: int) -> int:
        """Types, constants and variables; gives the start of what is none. One loop with little in
        it: here and in ``read_functions`` reading spends its time. Whatever is out of the ordinary
        (an id that is not defined yet, a wrong size) goes to ``general``."""
        words, defs, plans, types = self.words, self.defs, PLANS, GLOBAL_OPS
        insts, new, every = self.module.globals, Inst.__new__, core.ALL
        type: Inst | None
        try:
            while True:
                first = words[start]
                try:
                    kind, op, size, cut, shapes_known = plans[first]
                    end = start + size
                    if kind == POINTER:
                        storage = words[start + 2]
                        if storage not in shapes_known:
                            raise KeyError
                        id, type, imm = words[start + 1], None, [storage]
                        args = [defs[words[start + 3]]]
                    elif kind == VARIABLE:
                        storage = words[start + 3]
                        if storage not in shapes_known:
                            raise KeyError
                        id, type = words[start + 2], defs[words[start + 1]]
                        args, imm = [], [storage]
                    elif kind == NUMBER:
                        id, type, args = words[start + 2], defs[words[start + 1]], []
                        imm = [words[start + 3]] if size == 4 else words[start + 3 : end]
                        if type.op not in NUMBERS or (type.imm[0] > 32) != (size == 5):
                            raise KeyError
                    elif kind == NAMED:
                        id, type, imm = words[start + 1], None, []
                        args = (
                            [defs[words[start + 2]]]
                            if cut == 1
                            else self.several(start, 2, 2 + cut)
                        )
                    elif op not in types:
                        return start
                    elif kind == SHAPED:
                        a, b, c, d, at = shapes_known[words[start + cut]]
                        args = [defs[words[start + a]]] if b == a + 1 else self.several(start, a, b)
                        imm = [words[start + c]] if d == c + 1 else words[start + c : start + d]
                        type = defs[words[start + 1]] if at == 2 else None
                        if not at:
                            raise KeyError
                        id = words[start + at]
                    elif kind == VALUE:
                        id, type, imm = words[start + 2], defs[words[start + 1]], []
                        args = self.several(start, 3, 3 + cut)
                    else:
                        inst = self.made(start, end, plans[first])
                        inst.mark = every
                        insts.append(inst)
                        start = end
                        continue
                    if id in defs:
                        raise KeyError
                    inst = defs[id] = new(Inst)
                    inst.op = op
                    inst.type = type
                    inst.args = args
                    inst.imm = imm
                    inst.id = id
                except KeyError:
                    if first not in plans:
                        plan_of(first)
                        continue
                    inst = self.general(start, end)
                inst.mark = every
                insts.append(inst)
                start = end
        except BadSpirv as error:
            error.word = start if error.word is None else error.word
            raise

    def several(self, start: int, a: int, b: int) -> list[Inst]:
        """The operands from word ``a`` of an instruction to word ``b``. Raises KeyError."""
        args: list[Inst] = []
        if b > a:
            defs = self.defs
            for id in self.words[start + a : start + b]:  # faster than a comprehension
                args.append(defs[id])
        return args

    def made(self, start: int, end: int, plan: Plan) -> Inst:
        """Any one instruction, by its plan."""
        kind, op, _, cut, shapes_known = plan
        words, defs = self.words, self.defs
        if kind == TEXT and self.data.find(0, start + cut << 2) >> 2 == end - 1:
            inst = Inst(op, None, [], words[start + cut : end])
            if cut == 1:
                return inst
            inst.id = words[start + 1]
            if inst.id not in defs:
                defs[inst.id] = inst
                return inst
        if not SHAPED <= kind <= PAIRED:
            return self.general(start, end)
        try:
            if kind == PAIRED:
                key = words[start + (cut & 0xFFFF)], words[start + (cut >> 16)]
                a, b, c, d, at = shapes_known[key]
            else:
                a, b, c, d, at = shapes_known[words[start + cut]]
            args = [defs[words[start + a]]] if b == a + 1 else self.several(start, a, b)
            imm = [words[start + c]] if d == c + 1 else words[start + c : start + d]
            if not at:
                return Inst(op, None, args, imm)
            type = defs[words[start + 1]] if at == 2 else None
            id = words[start + at]
            if id in defs:
                raise KeyError
        except KeyError:
            return self.general(start, end)
        inst = defs[id] = Inst.__new__(Inst)
        inst.op = op
        inst.type = type
        inst.args = args
        inst.imm = imm
        inst.id = id
        inst.mark = 0
        return inst

    def read_functions(self, start: int) -> int:
        """From the first function to the end, which it gives; as ``read_types``."""
        words, defs, plans, new = self.words, self.defs, PLANS, Inst.__new__
        insts: list[Inst] | None = None  # of the block that is being read
        if not self.promised:
            self.look_ahead(start)
        try:
            while True:
                first = words[start]
                try:
                    kind, op, size, cut, _ = plans[first]
                    end = start + size
                    if kind < ACT:
                        if kind == VALUE:
                            imm: list[int] = []
                            if size == 4:
                                _, of, id, a = words[start:end]
                                args = [defs[a]]
                            elif size == 5:
                                _, of, id, a, b = words[start:end]
                                args = [defs[a], defs[b]]
                            elif size == 7:
                                _, of, id, a, b, c, d = words[start:end]
                                args = [defs[a], defs[b], defs[c], defs[d]]
                            else:
                                _, of, id, *ids = words[start:end]
                                args = []
                                for a in ids:  # faster than a comprehension
                                    args.append(defs[a])
                        elif kind == VALUE_WORDS:
                            if size == 5 and cut == 4:  # the extraction of a part
                                _, of, id, a, b = words[start:end]
                                args, imm = [defs[a]], [b]
                            elif cut == 5:  # a shuffle
                                _, of, id, a, b, *imm = words[start:end]
                                args = [defs[a], defs[b]]
                            else:
                                of, id = words[start + 1], words[start + 2]
                                args = self.several(start, 3, cut)
                                imm = words[start + cut : end]
                        else:
                            of, id = words[start + 1], words[start + 2]
                            args, imm = self.extended(start, end)
                        type = defs[of]
                        if id in defs:
                            raise KeyError
                        inst = defs[id] = new(Inst)
                        inst.op = op
                        inst.type = type
                        inst.args = args
                        inst.imm = imm
                        inst.id = id
                        inst.mark = 0
                    elif kind == ACT:
                        if cut == 2:
                            _, a, b = words[start:end]
                            args = [defs[a], defs[b]]
                        elif cut == 1:
                            args = [defs[words[start + 1]]]
                        else:
                            args = self.several(start, 1, 1 + cut)
                        inst = new(Inst)
                        inst.op = op
                        inst.type = None
                        inst.args = args
                        inst.imm = []
                        inst.id = inst.mark = 0
                    elif kind == STRUCTURE:
                        self.structure(start, end)
                        insts = None if self.block is None else self.block.insts
                        start = end
                        continue
                    elif kind == END:
                        return start
                    else:
                        if kind in (NAME, NOTE):
                            self.enter(start, op, cut)
                        inst = self.made(start, end, plans[first])
                except KeyError:
                    if first not in plans:
                        plan_of(first)
                        continue
                    inst = self.general(start, end)
                if insts is not None:
                    insts.append(inst)
                    if kind >= ACT and op in TERMINATORS:
                        insts = self.block = None
                else:
                    self.start = start
                    self.put(inst)
                start = end
        except BadSpirv as error:
            error.word = start if error.word is None else error.word
            raise

    def extended(self, start: int, end: int) -> tuple[list[Inst], list[int]]:
        """The operands of an OpExtInst of GLSL.std.450. Raises KeyError if it is none, or if
        something is wrong with it."""
        words, defs = self.words, self.defs
        if words[start + 3] not in self.glsl or (
            GLSL_SIZES.get(words[start + 4]) != end - start - 5
        ):
            raise KeyError
        args = [defs[words[start + 3]]]
        for id in words[start + 5 : end]:
            args.append(defs[id])
        return args, [words[start + 4]]

    def structure(self, start: int, end: int) -> None:
        """Begin or end a function or a block; first the plain ways, in which nothing is wrong."""
        words, get, function = self.words, self.defs.get, self.function
        first = words[start]
        if self.block is not None or self.pending:
            pass
        elif function is None:
            if first == FUNCTION_WORD and words[start + 3] == 0:
                type, made = get(words[start + 1]), get(words[start + 2])
                signature = get(words[start + 4])
                if isinstance(made, Function) and made.mark and type and signature:
                    made.type, made.args, made.imm, made.mark = type, [signature], [0], 0
                    self.function = made
                    self.section = core.SECTIONS
                    self.module.functions.append(made)
                    return
        elif first == LABEL_WORD:
            block = get(words[start + 1])
            if isinstance(block, Block) and block.mark:
                block.mark = 0
                function.blocks.append(block)
                self.block = block
                return
        elif first == END_WORD:
            self.function = None
            return
        self.put(self.general(start, end))

    def read_notes(self) -> None:
        """Entry points and decorations: they may speak of anything, so they are read when all of
        it is there."""
        words, sections = self.words, self.module.sections
        defs, new, shapes_known = self.defs, Inst.__new__, NOTE_SHAPES
        if GROUP_WORD in map(words.__getitem__, self.notes):
            self.promise_groups()
        for start in self.notes:
            first = words[start]
            try:
                if first & 0xFFFF == ops.OpEntryPoint:
                    sections[core.ENTRY_POINTS].append(self.entry_point(start))
                    continue
                op, size, at, known = shapes_known[first]
                word = words[start + at]
                if word not in known and (word, words[start + at + 1]) not in known:
                    raise KeyError
                args = [defs[words[start + 1]]]
                inst = new(Inst)
                inst.op = op
                inst.type = None
                inst.args = args
                inst.imm = words[start + 2 : start + size]
                inst.id = inst.mark = 0
            except KeyError:
                op = first & 0xFFFF
                inst = self.general(start, start + (first >> 16))
                inst.mark = core.ALL
            sections[NOTES[op]].append(inst)

    def entry_point(self, start: int) -> Inst:
        """An OpEntryPoint. Raises KeyError if something is wrong with it."""
        words, defs = self.words, self.defs
        end = start + (words[start] >> 16)
        last = self.data.find(0, start + 3 << 2) >> 2  # word of the name
        if words[start + 1] not in MODELS or not start + 2 < last < end:
            raise KeyError
        args = [defs[words[start + 2]]]
        for id in words[last + 1 : end]:
            args.append(defs[id])
        inst = Inst(ops.OpEntryPoint, None, args, [words[start + 1], *words[start + 3 : last + 1]])
        inst.mark = core.ALL
        return inst

    def read_names(self) -> None:
        """A third of a small module."""
        defs, names = self.defs, self.names
        try:
            targets = [defs[words[1]] for words in names]
        except KeyError:
            return self.bad_name()
        if max([words[-1] for words in names], default=0) >> 24:  # the string fills its words
            return self.bad_name()
        self.module.names = list(zip(targets, names))
