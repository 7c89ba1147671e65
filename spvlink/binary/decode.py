"""SPIR-V words to a ``Module``: versions 1.0 to 1.6, both byte orders.

The first pass over the words cuts the stream into instructions and makes the Blocks and Functions,
so that forward branches and calls refer to the real node; the second makes every other Inst, by
plans (``plans``) that say how an instruction is read from its first word. Other forward references
get an Inst that its definition fills in later. Names and decorations come last, since they may
speak of anything. Whatever the grammar does not know is refused with its place.
"""

from __future__ import annotations

from bisect import bisect_left

from spvlink.binary.plans import (
    ACT,
    NAMED,
    NOTE,
    NOTE_SHAPES,
    NOTES,
    NUMBER,
    PLANS,
    SECTION,
    SHAPED,
    SIZED,
    STRUCTURE,
    TERMINATORS,
    VALUE,
    VALUE_WORDS,
    Plan,
    check_size,
    number_words,
    plan_of,
    remember,
    split_of,
)
from spvlink.binary.walk import Walk
from spvlink.binary.words import words_in
from spvlink.errors import BadSpirv
from spvlink.grammar import info, ops, shapes
from spvlink.ir import core
from spvlink.ir.core import Block, Function, Inst, Module, string_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# "Universal Limits" (2.17): the smallest bound every consumer takes is 4,194,303
MAX_BOUND: Final = 0x400000


def decode(data: bytes) -> Module:
    """Read one SPIR-V binary. Raises ``BadSpirv`` with the word and instruction index of the
    trouble."""
    words, swapped = words_in(data)
    decoder = _Decoder(words)
    decoder.module.swapped = swapped
    try:
        decoder.run()
    except BadSpirv as error:
        if error.word is None:
            error.word = decoder.start
        if error.instruction is None:
            error.instruction = decoder.number_at(error.word)
        raise
    return decoder.module


class _Decoder:
    """The state of one reading."""

    def __init__(self, words: list[int]) -> None:
        self.words = words
        self.module = Module()
        self.defs: dict[int, Inst] = {}
        # id -> word index of its first use before definition, and whether a type uses it
        self.missing: dict[int, tuple[int, bool]] = {}
        self.notes: list[int] = []  # starts of what only speaks of others: read last
        self.start = 0  # of the instruction that is being read
        self.starts: list[int] = []
        self.section = 0
        self.glsl: set[int] = set()  # ids of the imports of GLSL.std.450
        self.function: Function | None = None
        self.block: Block | None = None
        self.pending: list[Inst] = []  # OpLine and OpNoLine that wait for what they stand before

    def run(self) -> None:
        self.header()
        self.cut()
        self.read()
        for id, (word, by_type) in self.missing.items():
            op = self.defs[id].op
            if op == 0:
                raise BadSpirv(f"id {id} is used but never defined", word)
            if by_type and op != ops.OpTypePointer:
                raise BadSpirv(f"the type {id} is used before it is defined", word)
        self.read_notes()

    def number_at(self, word: int) -> int | None:
        """The index of the instruction that begins at this word."""
        return bisect_left(self.starts, word) if word >= 5 else None

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

    def cut(self) -> None:
        """Find the start of every instruction, and one past the end; make Blocks and Functions."""
        words = self.words
        end = len(words)
        at = 5
        append = self.starts.append
        while at < end:
            append(at)
            first = words[at]
            if first in _PROMISES:
                self.promise(at)
            count = first >> 16
            if not count:
                self.start = at
                raise BadSpirv("an instruction has a word count of 0")
            at += count
        if at > end:
            self.start = self.starts[-1]
            raise BadSpirv("an instruction runs past the end of the module")
        append(end)

    def promise(self, at: int) -> None:
        """The Block or Function that is defined here, for what refers to it before."""
        id = self.words[at + 1 if self.words[at] == _LABEL_WORD else at + 2 : at + 3][:1]
        if not id:
            return  # it runs past the end
        if id[0] in self.defs:
            self.start = at
            raise BadSpirv(f"id {id[0]} is defined twice")
        made = Block(id[0]) if self.words[at] == _LABEL_WORD else Function(id[0])
        made.mark = -1  # not reached yet
        self.defs[id[0]] = made

    def forward(self, id: int) -> Inst:
        """The Inst of an id that nothing defined so far."""
        if not 0 < id < self.module.bound:
            raise BadSpirv(f"id {id} is not below the bound {self.module.bound}")
        op = self.words[self.start] & 0xFFFF
        if op not in (_FORWARD_IN_FUNCTION if self.function is not None else _FORWARD_TYPES):
            raise BadSpirv(f"id {id} is used before it is defined, or never defined")
        inst = self.defs[id] = Inst(0, None, [], [], id)
        self.missing[id] = self.start, op not in _FORWARD_IN_FUNCTION
        return inst

    def define(self, id: int, op: int, type: Inst | None, args: list[Inst], imm: list[int]) -> Inst:
        inst = self.defs.get(id)
        if not 0 < id < self.module.bound:
            raise BadSpirv(f"id {id} is not below the bound {self.module.bound}")
        if inst is None:
            inst = self.defs[id] = Inst(op, type, args, imm, id)
            return inst
        if inst.op != 0 and inst.mark != -1:
            raise BadSpirv(f"id {id} is defined twice")
        if inst.mark == -1 and inst.op != op:
            raise BadSpirv(f"id {id} is defined twice")
        inst.mark = 0
        inst.op, inst.type, inst.args, inst.imm = op, type, args, imm
        return inst

    def read(self) -> None:
        """Every instruction becomes an Inst in its place."""
        self.read_functions(self.read_globals())
        if self.function is not None:
            self.start = self.starts[-2]
            raise BadSpirv("the module ends inside a function")
        (self.module.tail if self.module.functions else self.module.globals).extend(self.pending)

    def read_globals(self) -> int:
        """What comes before the first function; gives the number of its first instruction."""
        words, plans, note = self.words, PLANS, self.notes.append
        globals, types = self.module.globals, _GLOBAL_OPS
        section = 0  # that is being read; -1: with OpLine before it
        start = 5
        for number, end in enumerate(self.starts[1:]):
            kind, op, cut, _ = plan = plans.get(words[start]) or self.plan(start)
            if kind == NOTE:
                if cut != section:
                    section = self.enter(start, op, cut)
                note(start)
                start = end
                continue
            if kind == STRUCTURE:
                return number
            inst = self.made(start, end, plan)
            if section == core.GLOBALS and op in types:
                if op in SIZED:
                    self.start = start
                    check_size(inst)
                inst.mark = core.ALL
                globals.append(inst)
            else:
                self.start = start
                self.put(inst)
                section = -1 if self.pending else self.section
            start = end
        return len(self.starts) - 1

    def made(self, start: int, end: int, plan: Plan) -> Inst:
        """Any one instruction, by its plan."""
        kind, op, cut, shapes_known = plan
        words, defs = self.words, self.defs
        find = defs.__getitem__
        type: Inst | None = None
        try:
            if kind == NAMED:
                id = words[start + 1]
                args = list(map(find, words[start + 2 : end]))
                imm: list[int] = []
            elif kind == SHAPED:
                a, b, c, d, at = shapes_known[words[start + cut]]
                id = words[start + at] if at else 0
                if at == 2:
                    type = defs[words[start + 1]]
                args = list(map(find, words[start + a : start + b]))
                imm = words[start + c : start + d]
                if not at:
                    return Inst(op, None, args, imm)
            elif kind == NUMBER:
                type = defs[words[start + 1]]
                id = words[start + 2]
                args = []
                imm = words[start + 3 : end]
                if type.op not in _NUMBERS or (type.imm[0] > 32) != (len(imm) == 2):
                    raise KeyError
            elif kind == VALUE:
                type = defs[words[start + 1]]
                id = words[start + 2]
                args = list(map(find, words[start + 3 : end]))
                imm = []
            else:
                raise KeyError
            if id in defs or not 0 < id < self.module.bound:
                raise KeyError
        except KeyError:
            return self.general(start, end)
        # as Inst(...), which takes twice as long
        inst = defs[id] = Inst.__new__(Inst)
        inst.op = op
        inst.type = type
        inst.args = args
        inst.imm = imm
        inst.id = id
        inst.mark = 0
        return inst

    def read_functions(self, number: int) -> None:
        """From this instruction to the end. One loop with little in it: here reading spends its
        time. Whatever is out of the ordinary (an id that is not defined yet, a wrong size) goes to
        ``general``."""
        words, defs, plans = self.words, self.defs, PLANS
        find, new, limit = defs.__getitem__, Inst.__new__, self.module.bound
        insts: list[Inst] | None = None  # of the block that is being read
        start = self.starts[number]
        for end in self.starts[number + 1 :]:
            kind, op, cut, _ = plan = plans.get(words[start]) or self.plan(start)
            if kind > ACT:
                if kind == STRUCTURE:
                    self.structure(start, end, op)
                    insts = None if self.block is None else self.block.insts
                    start = end
                    continue
                if kind == NOTE:
                    self.enter(start, op, cut)
                inst = self.made(start, end, plan)
            else:
                try:
                    if kind == ACT:
                        if cut == 2:
                            args = [defs[words[start + 1]], defs[words[start + 2]]]
                        else:
                            args = list(map(find, words[start + 1 : end]))
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
                            else:
                                args = list(map(find, words[start + 3 : end]))
                            imm: list[int] = []
                        elif kind == VALUE_WORDS:
                            args = list(map(find, words[start + 3 : start + cut]))
                            imm = words[start + cut : end]
                        else:
                            args, imm = self.extended(start, end)
                        if id in defs or not 0 < id < limit:
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

    def extended(self, start: int, end: int) -> tuple[list[Inst], list[int]]:
        """The operands of an OpExtInst of GLSL.std.450. Raises KeyError if it is none, or if
        something is wrong with it."""
        words, find = self.words, self.defs.__getitem__
        if words[start + 3] not in self.glsl or (
            _GLSL_SIZES.get(words[start + 4]) != end - start - 5
        ):
            raise KeyError
        return [find(words[start + 3]), *map(find, words[start + 5 : end])], [words[start + 4]]

    def structure(self, start: int, end: int, op: int) -> None:
        """Begin or end a function or a block."""
        if not self.label(start, op):
            self.put(self.general(start, end))

    def label(self, start: int, op: int) -> bool:
        """Begin a block, or end a function, if that is all there is to it."""
        if self.function is None or self.block is not None or self.pending:
            return False
        if op == ops.OpFunctionEnd and self.words[start] == _END_WORD:
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

    def plan(self, start: int) -> Plan:
        """How to read the instruction here. Raises BadSpirv if the grammar lacks its opcode."""
        self.start = start
        return plan_of(self.words[start])

    def general(self, start: int, end: int) -> Inst:
        """Any one instruction, with all checks."""
        self.start = start
        words, defs, glsl = self.words, self.defs, self.glsl
        get = defs.get
        op = words[start] & 0xFFFF
        at = start + 1
        type: Inst | None = None
        id = 0
        result = shapes.RESULT[op]
        if result:
            at += 1 if result == 2 else 2
            if at > end:
                raise BadSpirv(f"{ops.NAMES[op]} ends before its result id")
            id = words[at - 1]
            if result == 3:
                type = get(words[at - 2]) or self.forward(words[at - 2])
        fast = shapes.FAST.get(op, -1)
        kind, cut = fast >> 6, at + (fast & 63)
        imm: list[int] = []
        if fast >= 0 and (cut == end or (kind == 1 and cut < end)):
            args = self.referred(at, end)
        elif kind == 2 and cut < end:
            args = self.referred(at, cut)
            imm = words[cut:end]
        elif op == ops.OpExtInst and end - at > 2 and words[at] in glsl:
            imm = [words[at + 1]]
            if _GLSL_SIZES.get(imm[0]) != end - at - 2:
                self.bad_glsl(imm[0], end - at - 2)
            args = [defs[words[at]], *self.referred(at + 2, end)]
        elif fast < 0 or (kind == 4 and cut < end):
            args, imm = self.slow(op, words[at:end], type)
        else:
            raise BadSpirv(f"{ops.NAMES[op]} has too few or too many words")
        return self.define(id, op, type, args, imm) if result else Inst(op, type, args, imm)

    def enter(self, start: int, op: int, section: int) -> int:
        """Begin a section of what speaks of others."""
        if section < self.section or self.pending:
            self.start = start
            raise BadSpirv(f"{ops.NAMES[op]} comes too late in the module's layout")
        self.section = section
        return section

    def read_notes(self) -> None:
        """Entry points, names and decorations: they may speak of anything, so they are read when
        all of it is there."""
        words, sections = self.words, self.module.sections
        find, new, shapes_known = self.defs.__getitem__, Inst.__new__, NOTE_SHAPES
        names, get = sections[core.NAMES], self.defs.get
        if _GROUP_WORD in map(words.__getitem__, self.notes):
            self.promise_groups()
        for start in self.notes:
            first = words[start]
            end = start + (first >> 16)
            op = first & 0xFFFF
            if op == ops.OpName or op == ops.OpMemberName:  # a third of a small module
                target = get(words[start + 1])
                # the string fills its words
                if target is not None and end - start > op - 3 and not words[end - 1] >> 24:
                    inst = new(Inst)
                    inst.op = op
                    inst.type = None
                    inst.args = [target]
                    inst.imm = words[start + 2 : end]
                    inst.id = inst.mark = 0
                    names.append(inst)
                    continue
            elif first in shapes_known:
                at, by_enumerant = shapes_known[first]
                shape = by_enumerant.get(words[start + at])
                if shape is not None:
                    a, b, c, d, _ = shape
                    try:
                        args = list(map(find, words[start + a : start + b]))
                    except KeyError:
                        pass
                    else:
                        inst = new(Inst)
                        inst.op = op
                        inst.type = None
                        inst.args = args
                        inst.imm = words[start + c : start + d]
                        inst.id = inst.mark = 0
                        sections[NOTES[op]].append(inst)
                        continue
            inst = self.general(start, end)
            inst.mark = core.ALL
            sections[NOTES[op]].append(inst)

    def promise_groups(self) -> None:
        """The decoration groups, which their own decorations come before."""
        for start in self.notes:
            id = self.words[start + 1]
            if self.words[start] == _GROUP_WORD and id not in self.defs:
                self.defs[id] = Inst(0, None, [], [], id)

    def referred(self, at: int, end: int) -> list[Inst]:
        """The ids from one word to another; stand-ins for what nothing defined so far."""
        get = self.defs.get
        return [get(id) or self.forward(id) for id in self.words[at:end]]

    def bad_glsl(self, number: int, count: int) -> None:
        size = _GLSL_SIZES.get(number)
        if size is None:
            raise BadSpirv(f"GLSL.std.450 has no instruction {number} in the grammar")
        raise BadSpirv(f"OpExtInst has {count} operands in place of {size}")

    def put(self, inst: Inst) -> None:
        """Place an instruction that does not simply continue a block."""
        op, function = inst.op, self.function
        if self.block is not None:
            raise BadSpirv(f"{ops.NAMES[op]} inside a block that has no terminator yet")
        if op in _DEBUG_LINES:
            self.pending.append(inst)
        elif isinstance(inst, Function):
            if function is not None:
                raise BadSpirv("OpFunction inside a function")
            self.function = inst
            inst.lead, self.pending = self.pending, []
            self.section = core.SECTIONS
            self.module.functions.append(inst)
        elif function is None:
            self.place(inst)
        elif isinstance(inst, Block):
            self.block = inst
            inst.lead, self.pending = self.pending, []
            function.blocks.append(inst)
        elif op == ops.OpFunctionEnd:
            function.tail, self.pending = self.pending, []
            self.function = None
        elif op == ops.OpFunctionParameter and not function.blocks and not self.pending:
            function.params.append(inst)
        else:
            raise BadSpirv(f"{ops.NAMES[op]} between blocks")

    def place(self, inst: Inst) -> None:
        """Put a module-scope instruction into its section."""
        if self.module.functions:
            raise BadSpirv(f"{ops.NAMES[inst.op]} after the first function")
        section = SECTION.get(inst.op, core.GLOBALS)
        if section == core.GLOBALS and inst.op not in _GLOBAL_OPS:
            raise BadSpirv(f"{ops.NAMES[inst.op]} outside of a function")
        if section < self.section:
            raise BadSpirv(f"{ops.NAMES[inst.op]} comes too late in the module's layout")
        if self.pending and section != core.GLOBALS:
            raise BadSpirv("OpLine before the section of types")
        if inst.op in SIZED:
            check_size(inst)
        if inst.op == ops.OpExtInstImport and string_of(inst.imm)[0] == "GLSL.std.450":
            self.glsl.add(inst.id)
        self.section = section
        inst.mark = core.ALL  # what lies at module scope counts as live (passes.dce)
        self.module.sections[section].extend(self.pending)
        self.module.sections[section].append(inst)
        self.pending = []

    def slow(self, op: int, words: list[int], type: Inst | None) -> tuple[list[Inst], list[int]]:
        """Operands by walking the grammar's shape, or as an instruction of the same shape walked
        before."""
        get, forward = self.defs.get, self.forward
        if op == ops.OpName or op == ops.OpMemberName:
            return self.name(op, words)
        if shapes.OPERANDS[op] == _STRING and words and string_of(words)[1] == len(words):
            return [], words
        if op == ops.OpEntryPoint and len(words) > 2 and words[0] in _MODELS:
            _, end = string_of(words, 2)
            functions = [get(words[1]) or forward(words[1])]
            return functions + [get(w) or forward(w) for w in words[end:]], words[:1] + words[2:end]
        known = split_of(op, words)
        if known is not None:
            ids, rest = known
            return [get(words[i]) or forward(words[i]) for i in ids], [words[i] for i in rest]
        literal_words = 1
        set_name: str | None = None
        if op in (ops.OpConstant, ops.OpSpecConstant):
            literal_words = number_words(type)
        elif op == ops.OpSwitch and words:
            selector = self.defs.get(words[0])
            literal_words = number_words(selector.type if selector is not None else None)
        elif op in (ops.OpExtInst, ops.OpExtInstWithForwardRefsKHR) and words:
            source = self.defs.get(words[0])
            if source is not None and source.op == ops.OpExtInstImport:
                set_name = string_of(source.imm)[0]
        walk = Walk(words, literal_words, set_name)
        try:
            walk.operands(shapes.OPERANDS[op])
        except BadSpirv as error:
            raise BadSpirv(f"{ops.NAMES[op]}: {error.message}") from None
        if walk.at != len(words):
            raise BadSpirv(f"{ops.NAMES[op]} has words after its last operand")
        ids = [i for i, is_id in enumerate(walk.kinds) if is_id]
        rest = [i for i, is_id in enumerate(walk.kinds) if not is_id]
        if not walk.varies:
            remember(op, words, walk.enumerants, ids, rest)
        return [get(words[i]) or forward(words[i]) for i in ids], [words[i] for i in rest]

    def name(self, op: int, words: list[int]) -> tuple[list[Inst], list[int]]:
        """OpName and OpMemberName: half of the instructions of a small module."""
        least = 2 if op == ops.OpName else 3
        if len(words) < least or words[-1] >> 24:
            raise BadSpirv(f"{ops.NAMES[op]} has no string that ends with its last word")
        return [self.defs.get(words[0]) or self.forward(words[0])], words[1:]


_GLSL_SIZES: Final[dict[int, int]] = {
    number: len(kinds) for number, kinds in shapes.EXT_SETS["GLSL.std.450"].items()
}
_FORWARD_IN_FUNCTION: Final = frozenset((ops.OpPhi, ops.OpExtInstWithForwardRefsKHR))
_FORWARD_TYPES: Final = frozenset(
    (
        ops.OpTypeForwardPointer, ops.OpTypePointer, ops.OpTypeStruct, ops.OpTypeArray,
        ops.OpTypeRuntimeArray, ops.OpTypeFunction, ops.OpExtInstWithForwardRefsKHR,
    )
)  # fmt: skip
_DEBUG_LINES: Final = frozenset((ops.OpLine, ops.OpNoLine))
# First words (word count and opcode) of instructions that have one size only.
_LABEL_WORD: Final = 2 << 16 | ops.OpLabel
_FUNCTION_WORD: Final = 5 << 16 | ops.OpFunction
_STRING: Final = (shapes.K_STRING * 4,)
_MODELS: Final = next(k[2] for k in shapes.ENUM_KINDS if k[0] == "ExecutionModel")
_END_WORD: Final = 1 << 16 | ops.OpFunctionEnd
_PROMISES: Final = frozenset((_LABEL_WORD, _FUNCTION_WORD))
_GROUP_WORD: Final = 2 << 16 | ops.OpDecorationGroup
_NUMBERS: Final = frozenset((ops.OpTypeInt, ops.OpTypeFloat))
_GLOBAL_OPS: Final = frozenset(
    op for op, flags in info.FLAGS.items() if flags & (info.TYPE | info.CONSTANT)
) | {
    ops.OpVariable, ops.OpUntypedVariableKHR, ops.OpUndef, ops.OpExtInst,
    ops.OpExtInstWithForwardRefsKHR, ops.OpTypeForwardPointer,
}  # fmt: skip
