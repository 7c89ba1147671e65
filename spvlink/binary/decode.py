"""SPIR-V words to a ``Module``: versions 1.0 to 1.6, both byte orders.

Every Inst is made by plans (``plans``) that say how an instruction is read from its first word. A
look ahead makes the Blocks and Functions, so that forward branches and calls refer to the real
node; other forward references get an Inst that its definition fills in later. Names and the targets
of decorations come last, since they may be anything. Whatever the grammar does not know is refused
with its place.
"""

from __future__ import annotations

from spvlink.binary.plans import (
    ACT,
    END,
    FOUR,
    LABEL,
    NAME,
    NAMED,
    NOTE,
    NUMBER,
    ONE,
    PAIRED,
    PART,
    PLACES,
    PLANS,
    POINTER,
    SCALAR,
    SHAPED,
    STRUCTURE,
    TEXT,
    TWO,
    VALUE,
    VALUE_WORDS,
    VARIABLE,
    VECTOR,
    ReadPlan,
    plan_of,
)
from spvlink.binary.reader import (
    END_WORD,
    FUNCTION_WORD,
    GLSL_SIZES,
    GROUP_WORD,
    MODELS,
    Reader,
)
from spvlink.binary.words import MAX_BOUND, little_endian, without_names
from spvlink.errors import BadSpirv
from spvlink.grammar import ops
from spvlink.ir import core
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.types import NUMBERS


def decode(data: bytes) -> Module:
    """Read one SPIR-V binary. Raises ``BadSpirv`` with the word and instruction index of the
    trouble."""
    data, swapped = little_endian(data)
    module = _quickly(data)
    if module is None:  # once more, all of it
        decoder = _Decoder(data, [])
        try:
            decoder.run()
        except (BadSpirv, IndexError) as error:
            decoder.explain(error)
            raise
        module = decoder.module
    module.swapped = swapped
    return module


def _quickly(data: bytes) -> Module | None:
    """The module; None if something is wrong with it: without its names nobody can say where."""
    rest, names = without_names(data)
    decoder = _Decoder(rest, names)
    try:
        decoder.run()
    except (BadSpirv, IndexError):  # the latter: the words end too early
        return None
    return decoder.module


class _Decoder(Reader):
    """The loops in which reading spends its time."""

    def run(self) -> None:
        self.header()
        self.read()
        if self.defs[0] is not None:
            raise BadSpirv("an id is out of bounds", self.size)  # ``explain`` finds it
        for id, (word, by_type) in self.missing.items():
            inst = self.defs[id]
            if inst is None or inst.op == 0:
                raise BadSpirv(f"id {id} is used but never defined", word)
            if by_type and inst.op != ops.OpTypePointer:
                raise BadSpirv(f"the type {id} is used before it is defined", word)
        self.finish_notes()
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
        self.defs = [None] * words[3]

    def read(self) -> None:
        """Every instruction becomes an Inst in its place."""
        end = self.read_functions(self.read_globals(5))
        if end != self.size:
            raise BadSpirv("an instruction has a word count of 0", end)
        if self.function is not None:
            raise BadSpirv("the module ends inside a function", self.cut()[-1])
        (self.module.tail if self.module.functions else self.module.globals).extend(self.pending)

    def read_globals(self, start: int) -> int:
        """What comes before the first function; gives the start of what comes then."""
        words, plans, sections = self.words, PLANS, self.module.sections
        while True:
            first = words[start]
            self.start = start
            plan = plans[first % PLACES]
            if plan.first != first:
                plan = plan_of(first)
            kind, op, section = plan.kind, plan.op, plan.section
            if kind == NAME:
                self.enter(plan)
                self.names.append(self.data[start * 4 : (start + plan.size) * 4])
                start += plan.size
            elif kind == NOTE:
                self.enter(plan)
                if op != ops.OpEntryPoint:
                    start = self.read_notes(start, section)
                    continue
                self.entries.append(start)
                start += plan.size
            elif kind == LABEL or kind >= STRUCTURE:
                return start
            elif plan.is_global and not self.pending:
                self.section = core.GLOBALS
                start = self.read_types(start)
            else:
                inst = self.made(start, plan)
                if section < 0:
                    self.put(inst)
                elif section < self.section or self.pending or op == ops.OpExtInstImport:
                    self.place(inst)
                else:
                    self.section = section
                    inst.mark = core.ALL
                    sections[section].append(inst)
                start += plan.size

    def read_notes(self, start: int, section: int) -> int:
        """A section of instructions that speak of others, whose ids wait in ``id`` until all of
        these are there; gives the start of the next section."""
        words, plans, late = self.words, PLANS, self.late
        notes = self.module.sections[section]
        nothing: list[Inst] = []  # stands for their targets until these are there
        imm: tuple[int, ...]
        while True:
            first = words[start]
            plan = plans[first % PLACES]
            if plan.first != first:
                plan = self.plan(start)
            if plan.section != section:
                return start
            size, at, known = plan.size, plan.at, plan.plain
            if not known:
                self.grouped |= first == GROUP_WORD
                late.append((section, len(notes), start))
                notes.append(Inst(0, None, [], ()))
                start += size
                continue
            if size == 4:
                imm = (words[start + 2], words[start + 3])
            elif size == 5:
                imm = (words[start + 2], words[start + 3], words[start + 4])
            else:
                imm = words[start + 2 : start + size]
            if imm[at] not in known and imm[at : at + 2] not in known:
                late.append((section, len(notes), start))
                notes.append(Inst(0, None, [], ()))
            else:
                notes.append(Inst(plan.op, None, nothing, imm, words[start + 1]))
            start += size

    def type_of(self, start: int, plan: ReadPlan) -> tuple[list[Inst], tuple[int, ...]]:
        """The operands of a number's type, or of one that is made of others. Raises KeyError or
        IndexError."""
        rest = self.words[start + 2 : start + plan.size]
        if plan.kind == NAMED:
            return self.several(rest), ()
        if rest[0] not in plan.shapes:
            raise KeyError
        return [], rest

    def read_types(self, start: int) -> int:
        """Types, constants and variables; gives the start of what is none. Here and in
        ``read_functions`` reading spends its time. What is out of the ordinary (an id not defined
        yet, a wrong size) goes to ``general``."""
        words, defs, plans, every = self.words, self.defs, PLANS, core.ALL
        insts = self.module.globals
        type: Inst | None
        imm: tuple[int, ...]
        while True:
            first = words[start]
            plan = plans[first % PLACES]
            if plan.first != first:
                plan = self.plan(start)
            kind, size = plan.kind, plan.size
            try:
                if kind == POINTER or kind == VECTOR:
                    id, a, word = words[start + 1], words[start + 2], words[start + 3]
                    if kind == POINTER:
                        a, word = word, a
                    arg = defs[a]
                    if arg is None or word not in plan.shapes:
                        raise KeyError
                    type, args, imm = None, [arg], (word,)
                elif kind == VARIABLE:
                    id, word = words[start + 2], words[start + 3]
                    type = defs[words[start + 1]]
                    if type is None or word not in plan.shapes:
                        raise KeyError
                    args, imm = [], (word,)
                elif kind == NUMBER:
                    id, args = words[start + 2], []
                    imm = (words[start + 3],) if size == 4 else words[start + 3 : start + 5]
                    type = defs[words[start + 1]]
                    if type is None or type.op not in NUMBERS or (type.imm[0] > 32) != (size == 5):
                        raise KeyError
                elif kind == SCALAR or kind == NAMED:
                    type, id = None, words[start + 1]
                    args, imm = self.type_of(start, plan)
                elif not plan.is_global:
                    return start
                elif kind <= VALUE:
                    id, imm = words[start + 2], ()
                    args = self.several(words[start + 3 : start + size])
                    type = defs[words[start + 1]]
                    if type is None:
                        raise KeyError
                else:
                    id = 0
                if not id:
                    inst = self.made(start, plan)
                elif defs[id] is not None:
                    raise KeyError
                else:
                    inst = defs[id] = Inst(plan.op, type, args, imm, id)
            except (KeyError, IndexError):
                inst = self.general(start, start + size)
            inst.mark = every
            insts.append(inst)
            start += size

    def plan(self, start: int) -> ReadPlan:
        """Of an instruction whose first word is new."""
        self.start = start
        return plan_of(self.words[start])

    def several(self, ids: tuple[int, ...]) -> list[Inst]:
        """The Insts of ids. Raises KeyError or IndexError if something is wrong with one."""
        args: list[Inst] = []
        if ids:
            defs = self.defs
            for id in ids:  # faster than a comprehension
                arg = defs[id]
                if arg is None:
                    raise KeyError
                args.append(arg)
        return args

    def made(self, start: int, plan: ReadPlan) -> Inst:
        """Any one instruction, by its plan."""
        kind, cut, end = plan.kind, plan.at, start + plan.size
        words, defs = self.words, self.defs
        type: Inst | None = None
        id = 0
        try:
            if kind == TEXT and self.data.find(0, start + cut << 2) >> 2 == end - 1:
                args, imm, at = [], words[start + cut : end], cut - 1
            elif not SHAPED <= kind <= PAIRED:
                return self.general(start, end)
            else:
                if kind == PAIRED:
                    key = words[start + (cut & 0xFFFF)], words[start + (cut >> 16)]
                    a, b, c, d, at = plan.shapes[key]
                else:
                    a, b, c, d, at = plan.shapes[words[start + cut]]
                args = self.several(words[start + a : start + b]) if b else []
                imm = (words[start + c],) if d == c + 1 else words[start + c : start + d]
            if at:
                id = words[start + at]
                type = defs[words[start + 1]] if at == 2 else None
                if defs[id] is not None or (type is None and at == 2):
                    raise KeyError
        except (KeyError, IndexError):
            return self.general(start, end)
        inst = Inst(plan.op, type, args, imm, id)
        if at:
            defs[id] = inst
        return inst

    def seldom_value(self, start: int, plan: ReadPlan) -> tuple[list[Inst], tuple[int, ...]]:
        """Operands of what gives a value in a function, for the kinds of plans that
        ``read_functions`` does not see to itself. Raises KeyError or IndexError."""
        words, kind, size = self.words, plan.kind, plan.size
        if kind == FOUR or kind == VALUE:
            return self.several(words[start + 3 : start + size]), ()
        if kind == VALUE_WORDS:
            cut = start + plan.at
            return self.several(words[start + 3 : cut]), words[cut : start + size]
        if kind == VARIABLE:
            if words[start + 3] not in plan.shapes:
                raise KeyError
            return [], (words[start + 3],)
        source, number = words[start + 3], words[start + 4]
        if source not in self.glsl or GLSL_SIZES.get(number) != size - 5:
            raise KeyError
        return self.several((source, *words[start + 5 : start + size])), (number,)

    def begin_block(self, start: int, outside: bool) -> list[Inst] | None:
        """An OpLabel; gives the instructions of the block that is open now. ``outside``: of any
        other. Raises KeyError or IndexError."""
        block, function = self.defs[self.words[start + 1]], self.function
        if (
            isinstance(block, Block)
            and block.mark
            and outside
            and function is not None
            and not self.pending
        ):
            block.mark = 0
            function.blocks.append(block)
            self.block = block
        else:
            self.put(self.general(start, start + 2))
        return None if self.block is None else self.block.insts

    def read_functions(self, start: int) -> int:
        """From the first function to the end, which it gives; as ``read_types``."""
        words, defs, plans = self.words, self.defs, PLANS
        insts: list[Inst] | None = None  # of the block that is being read
        imm: tuple[int, ...]
        if not self.promised:
            self.look_ahead(start)
        while True:
            first = words[start]
            plan = plans[first % PLACES]
            if plan.first != first:
                plan = self.plan(start)
            kind, size = plan.kind, plan.size
            try:
                if kind < ACT:
                    if kind == TWO:
                        arg, arg2 = defs[words[start + 3]], defs[words[start + 4]]
                        if arg is None or arg2 is None:
                            raise KeyError
                        args, imm = [arg, arg2], ()
                    elif kind == ONE or kind == PART:
                        imm = (words[start + 4],) if kind == PART else ()
                        arg = defs[words[start + 3]]
                        if arg is None:
                            raise KeyError
                        args = [arg]
                    else:
                        args, imm = self.seldom_value(start, plan)
                    type, id = defs[words[start + 1]], words[start + 2]
                    if type is None or defs[id] is not None:
                        raise KeyError
                    inst = defs[id] = Inst(plan.op, type, args, imm, id)
                elif kind == ACT:
                    args = self.several(words[start + 1 : start + size]) if plan.at else []
                    inst = Inst(plan.op, None, args, ())
                elif kind == LABEL:
                    insts = self.begin_block(start, insts is None)
                    start += 2
                    continue
                elif kind == STRUCTURE:
                    self.structure(start, start + size)
                    start += size
                    continue
                elif kind == END:
                    return start
                else:
                    if kind in (NAME, NOTE):
                        self.start = start
                        self.enter(plan)
                    inst = self.made(start, plan)
            except (KeyError, IndexError):
                inst = self.general(start, start + size)
            if insts is not None:
                insts.append(inst)
                if plan.is_terminator:
                    insts = self.block = None
            else:
                self.start = start
                self.put(inst)
            start += size

    def structure(self, start: int, end: int) -> None:
        """Begin or end a function; first the plain ways, in which nothing is wrong."""
        words, function = self.words, self.function
        first = words[start]
        if self.block is not None or self.pending:
            pass
        elif function is None:
            if first == FUNCTION_WORD and words[start + 3] == 0:
                type, made = self.known(words[start + 1]), self.known(words[start + 2])
                signature = self.known(words[start + 4])
                if isinstance(made, Function) and made.mark and type and signature:
                    made.type, made.args, made.imm, made.mark = type, [signature], (0,), 0
                    self.function = made
                    self.section = core.SECTIONS
                    self.module.functions.append(made)
                    return
        elif first == END_WORD:
            self.function = None
            return
        self.put(self.general(start, end))

    def finish_notes(self) -> None:
        """What speaks of others may speak of anything, so this comes when all of it is there."""
        words, defs, sections = self.words, self.defs, self.module.sections
        if self.grouped:
            self.promise_groups()
        try:
            for section in (core.EXECUTION_MODES, core.ANNOTATIONS):
                for inst in sections[section]:
                    if inst.op:
                        target = defs[inst.id]
                        if target is None:
                            raise IndexError
                        inst.args = [target]
                        inst.id = 0
        except IndexError:
            return self.bad_note()
        for start in self.entries:
            try:
                inst = self.entry_point(start)
            except (KeyError, IndexError):
                inst = self.general(start, start + (words[start] >> 16))
                inst.mark = core.ALL
            sections[core.ENTRY_POINTS].append(inst)
        for section, at, start in self.late:
            inst = sections[section][at] = self.general(start, start + (words[start] >> 16))
            inst.mark = core.ALL

    def entry_point(self, start: int) -> Inst:
        """An OpEntryPoint. Raises KeyError if something is wrong with it."""
        words = self.words
        end = start + (words[start] >> 16)
        last = self.data.find(0, start + 3 << 2) >> 2  # word of the name
        if words[start + 1] not in MODELS or not start + 2 < last < end:
            raise KeyError
        args = self.several((words[start + 2], *words[last + 1 : end]))
        inst = Inst(ops.OpEntryPoint, None, args, (words[start + 1], *words[start + 3 : last + 1]))
        inst.mark = core.ALL
        return inst

    def read_names(self) -> None:
        """An eighth of a small module."""
        defs, names = self.defs, self.module.names
        for name in self.names:
            id = name[4] + name[5] * 0x100 + name[6] * 0x10000
            target = defs[id] if id < len(defs) and not name[7] else None
            if target is None or name[-1]:  # the last byte of a string is a nul
                return self.bad_name()
            names.append((target, name))
