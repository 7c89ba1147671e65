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
    NAMED,
    NOTE,
    NOTE_SHAPES,
    NOTES,
    NUMBER,
    PAIRED,
    PLANS,
    POINTER,
    SHAPED,
    SIZED,
    STRUCTURE,
    TERMINATORS,
    VALUE,
    VALUE_WORDS,
    VARIABLE,
    Plan,
    check_size,
)
from spvlink.binary.reader import (
    END_WORD,
    GLOBAL_OPS,
    GLSL_SIZES,
    GROUP_WORD,
    LABEL_WORD,
    NUMBERS,
    Reader,
)
from spvlink.binary.words import MAGIC, words_in
from spvlink.errors import BadSpirv
from spvlink.grammar import ops
from spvlink.ir import core
from spvlink.ir.core import Block, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# "Universal Limits" (2.17): the smallest bound every consumer takes is 4,194,303
MAX_BOUND: Final = 0x400000


def decode(data: bytes) -> Module:
    """Read one SPIR-V binary. Raises ``BadSpirv`` with the word and instruction index of the
    trouble."""
    words, swapped = words_in(data)
    order = "little" if data[0] == MAGIC & 0xFF else "big"
    # a module with one block needs no look ahead (more that look like a label do no harm)
    labels = data.count(LABEL_WORD.to_bytes(4, order))  # type: ignore[arg-type]
    decoder = _Decoder(words, labels < 2)
    decoder.module.swapped = swapped
    try:
        decoder.run()
    except (BadSpirv, IndexError) as error:
        decoder.explain(error)
        raise
    return decoder.module


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
        name, note = self.names.append, self.notes.append
        section = 0  # that is being read
        try:
            while True:
                first = words[start]
                kind, op, cut, _ = plan = plans[first]
                if kind == NAME:
                    section = self.enter(start, op, cut)
                    while plans[first][0] == NAME:
                        end = start + (first >> 16)
                        name(words[start:end])
                        start = end
                        first = words[start]
                elif kind == NOTE:
                    if cut != section:
                        section = self.enter(start, op, cut)
                    while first & 0xFFFF == op and first != op:  # more of its kind
                        note(start)
                        start += first >> 16
                        first = words[start]
                elif kind >= STRUCTURE:
                    return start
                else:
                    end = start + (first >> 16)
                    inst = self.made(start, end, plan)
                    self.start = start
                    self.put(inst)
                    start = end
                    section = self.section
                    if section == core.GLOBALS and not self.pending:
                        start = self.read_types(start)
        except BadSpirv as error:
            error.word = start if error.word is None else error.word
            raise

    def read_types(self, start: int) -> int:
        """Types, constants and variables; gives the start of what is none. One loop with little in
        it: here and in ``read_functions`` reading spends its time. Whatever is out of the ordinary
        (an id that is not defined yet, a wrong size) goes to ``general``."""
        words, defs, plans, types = self.words, self.defs, PLANS, GLOBAL_OPS
        append, new = self.module.globals.append, Inst.__new__
        type: Inst | None
        try:
            while True:
                first = words[start]
                kind, op, cut, shapes_known = plan = plans[first]
                if op not in types:
                    return start
                end = start + (first >> 16)
                try:
                    if kind == VARIABLE and words[start + 3] in shapes_known:
                        at, type, args, imm = 2, defs[words[start + 1]], [], [words[start + 3]]
                    elif kind == POINTER and words[start + 2] in shapes_known:
                        at, type, imm = 1, None, [words[start + 2]]
                        args = [defs[words[start + 3]]]
                    elif kind == SHAPED:
                        a, b, c, d, at = shapes_known[words[start + cut]]
                        args = [defs[words[start + a]]] if b == a + 1 else self.several(start, a, b)
                        imm = [words[start + c]] if d == c + 1 else words[start + c : start + d]
                        type = defs[words[start + 1]] if at == 2 else None
                    elif kind == NUMBER:
                        at, type, args = 2, defs[words[start + 1]], []
                        imm = [words[start + 3]] if end == start + 4 else words[start + 3 : end]
                        if type.op not in NUMBERS or (type.imm[0] > 32) != (len(imm) == 2):
                            raise KeyError
                    elif kind == NAMED:
                        at, type, imm = 1, None, []
                        args = (
                            [defs[words[start + 2]]]
                            if cut == 1
                            else self.several(start, 2, 2 + cut)
                        )
                    elif kind == VALUE:
                        at, type, imm = 2, defs[words[start + 1]], []
                        args = self.several(start, 3, 3 + cut)
                    else:
                        append(self.made(start, end, plan))
                        self.module.globals[-1].mark = core.ALL
                        start = end
                        continue
                    id = words[start + at]
                    if not at or id in defs:
                        raise KeyError
                    inst = defs[id] = new(Inst)
                    inst.op = op
                    inst.type = type
                    inst.args = args
                    inst.imm = imm
                    inst.id = id
                except KeyError:
                    inst = self.general(start, end)
                if op in SIZED:
                    self.start = start
                    check_size(inst)
                inst.mark = core.ALL
                append(inst)
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
        kind, op, cut, shapes_known = plan
        if not SHAPED <= kind <= PAIRED:
            return self.general(start, end)
        words, defs = self.words, self.defs
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
        inst = defs[id] = Inst(op, type, args, imm, id)
        return inst

    def read_functions(self, start: int) -> int:
        """From the first function to the end, which it gives; as ``read_types``."""
        words, defs, plans, new = self.words, self.defs, PLANS, Inst.__new__
        insts: list[Inst] | None = None  # of the block that is being read
        if not self.promised and not self.lone:
            self.look_ahead(start)
        self.lone = not self.promised
        self.promised = True
        try:
            while True:
                first = words[start]
                kind, op, cut, _ = plan = plans[first]
                end = start + (first >> 16)
                if kind > ACT:
                    if kind == STRUCTURE:
                        self.structure(start, end, op)
                        insts = None if self.block is None else self.block.insts
                        start = end
                        continue
                    if kind == END:
                        return start
                    if kind in (NAME, NOTE):
                        self.enter(start, op, cut)
                    inst = self.made(start, end, plan)
                else:
                    try:
                        if kind == ACT:
                            if cut == 2:
                                args = [defs[words[start + 1]], defs[words[start + 2]]]
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
                        else:
                            type = defs[words[start + 1]]
                            id = words[start + 2]
                            if kind == VALUE:
                                if cut == 2:
                                    args = [defs[words[start + 3]], defs[words[start + 4]]]
                                elif cut == 1:
                                    args = [defs[words[start + 3]]]
                                elif cut == 3:
                                    more = defs[words[start + 5]]
                                    args = [defs[words[start + 3]], defs[words[start + 4]], more]
                                else:
                                    args = self.several(start, 3, 3 + cut)
                                imm: list[int] = []
                            elif kind == VALUE_WORDS:
                                if cut == 4:
                                    args = [defs[words[start + 3]]]
                                else:
                                    args = self.several(start, 3, cut)
                                at = start + cut
                                imm = [words[at]] if end == at + 1 else words[at:end]
                            else:
                                args, imm = self.extended(start, end)
                            if id in defs:
                                raise KeyError
                            inst = defs[id] = new(Inst)
                            inst.op = op
                            inst.type = type
                            inst.args = args
                            inst.imm = imm
                            inst.id = id
                            inst.mark = 0
                    except KeyError:
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

    def structure(self, start: int, end: int, op: int) -> None:
        """Begin or end a function or a block."""
        if self.lone and op != ops.OpFunctionEnd:
            self.promise(start)
        if not self.label(start, op):
            self.put(self.general(start, end))

    def label(self, start: int, op: int) -> bool:
        """Begin a block, or end a function, if that is all there is to it."""
        if self.function is None or self.block is not None or self.pending:
            return False
        if op == ops.OpFunctionEnd and self.words[start] == END_WORD:
            self.function = None
            return True
        if op != ops.OpLabel:
            return False
        block = self.defs.get(self.words[start + 1])
        if not isinstance(block, Block) or block.mark != -1 or block.id >= self.module.bound:
            return False
        block.mark = 0
        self.function.blocks.append(block)
        self.block = block
        return True

    def read_notes(self) -> None:
        """Entry points and decorations: they may speak of anything, so they are read when all of
        it is there."""
        words, sections = self.words, self.module.sections
        defs, new, shapes_known = self.defs, Inst.__new__, NOTE_SHAPES
        if GROUP_WORD in map(words.__getitem__, self.notes):
            self.promise_groups()
        for start in self.notes:
            first = words[start]
            end = start + (first >> 16)
            op = first & 0xFFFF
            if first in shapes_known and words[start + 1] in defs:
                at, known = shapes_known[first]
                word = words[start + at]
                if word in known or (word, words[start + at + 1]) in known:
                    inst = new(Inst)
                    inst.op = op
                    inst.type = None
                    inst.args = [defs[words[start + 1]]]
                    inst.imm = words[start + 2 : end]
                    inst.id = inst.mark = 0
                    sections[NOTES[op]].append(inst)
                    continue
            inst = self.general(start, end)
            inst.mark = core.ALL
            sections[NOTES[op]].append(inst)

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
