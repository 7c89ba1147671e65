"""The state of reading one module, and the slow ways: any one instruction with all checks, its
place in the module, forward references, and where an error is.

``decode`` has the loops through which nearly all goes.
"""

from __future__ import annotations

from bisect import bisect_left

from spvlink.binary.plans import (
    GLOBAL_OPS,
    LABEL_WORD,
    NOTES,
    SECTION,
    SIZED,
    ReadPlan,
    check_size,
    number_words,
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


class Reader:
    """The state of one reading."""

    def __init__(self, data: bytes, names: list[bytes]) -> None:
        self.data = data  # the words little-end first
        self.size = len(data) // 4
        self.words = words_in(data)  # and a 0 behind them, which begins no instruction
        self.names = names  # instructions; those that were taken out of ``data`` are there already
        self.module = Module()
        self.module.rare = set()
        self.defs: list[Inst | None] = []  # by id; None: nothing defined it so far
        # id -> word index of its first use before definition, and whether a type uses it
        self.missing: dict[int, tuple[int, bool]] = {}
        self.entries: list[int] = []  # starts of entry points, which are read at the end
        # what else speaks of others and is read at the end: section, position in it, start
        self.late: list[tuple[int, int, int]] = []
        self.grouped = False  # there are decoration groups among these
        self.start = 0  # of the instruction that is being read
        self.promised = False  # Blocks and Functions are made
        self.section = 0
        self.glsl: set[int] = set()  # ids of the imports of GLSL.std.450
        self.asides: set[int] = set()  # ids of the imports of sets that only describe
        self.function: Function | None = None
        self.block: Block | None = None
        self.pending: list[Inst] = []  # OpLine and OpNoLine that wait for what they stand before

    def known(self, id: int) -> Inst | None:
        """The Inst of an id, or None."""
        return self.defs[id] if id < self.module.bound else None

    def cut(self) -> list[int]:
        """The start of every instruction. Raises BadSpirv for a bad word count."""
        words, end = self.words, self.size
        starts: list[int] = []
        at = 5
        while at < end:
            starts.append(at)
            count = words[at] >> 16
            if not count:
                raise BadSpirv("an instruction has a word count of 0", at, len(starts) - 1)
            at += count
        if at > end:
            what = "an instruction runs past the end of the module"
            raise BadSpirv(what, starts[-1], len(starts) - 1)
        return starts

    def explain(self, error: BadSpirv | IndexError) -> None:
        """Say where an error is; raises BadSpirv for what it comes from: a bad word count, or an id
        out of bounds before it. Reading itself takes no time to look for these."""
        starts = self.cut()
        word = self.size
        if isinstance(error, BadSpirv):
            word = error.word = self.start if error.word is None else error.word
        for number, start in enumerate(starts[: bisect_left(starts, word)]):
            result = shapes.RESULT[self.words[start] & 0xFFFF]
            has_id = 0 < result < shapes.NONE
            id = self.words[start + result - (result > 1)] if has_id else 1
            if not 0 < id < self.module.bound:
                what = f"id {id} is not below the bound {self.module.bound}"
                raise BadSpirv(what, start, number)
        if isinstance(error, BadSpirv) and error.instruction is None and word >= 5:
            error.instruction = bisect_left(starts, word)

    def look_ahead(self, at: int) -> None:
        """Make the Blocks and Functions from here on."""
        self.promised = True
        words, end = self.words, self.size
        while at < end:
            first = words[at]
            if first == LABEL_WORD:
                self.promise(at, Block(words[at + 1]))
            elif first == FUNCTION_WORD:
                self.promise(at, Function(words[at + 2]))
            at += first >> 16 or end  # that there is none is seen when it is read

    def promise(self, at: int, made: Inst) -> None:
        """The Block or Function that is defined here, for what refers to it before."""
        if not 0 < made.id < self.module.bound:
            return  # which is said when it is read
        if self.defs[made.id] is not None:
            self.start = at
            raise BadSpirv(f"id {made.id} is defined twice")
        self.defs[made.id] = made
        made.mark = -1  # not reached yet

    def forward(self, id: int) -> Inst:
        """The Inst of an id that nothing defined so far."""
        if not self.promised:
            self.look_ahead(self.start)
            there = self.known(id)
            if there is not None:
                return there
        if not 0 < id < self.module.bound:
            raise BadSpirv(f"id {id} is not below the bound {self.module.bound}")
        op = self.words[self.start] & 0xFFFF
        aside = op == ops.OpExtInst and self.words[self.start + 3] in self.asides
        if self.function is not None:
            allowed = op in _FORWARD_IN_FUNCTION
        else:
            allowed = op in _FORWARD_TYPES or aside  # debug information of types goes in circles
        if not allowed:
            raise BadSpirv(f"id {id} is used before it is defined, or never defined")
        inst = self.defs[id] = Inst(0, None, [], (), id)
        self.missing[id] = self.start, op not in _FORWARD_IN_FUNCTION and not aside
        return inst

    def define(
        self, id: int, op: int, type: Inst | None, args: list[Inst], imm: tuple[int, ...]
    ) -> Inst:
        if not 0 < id < self.module.bound:
            raise BadSpirv(f"id {id} is not below the bound {self.module.bound}")
        inst = self.defs[id]
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

    def general(self, start: int, end: int) -> Inst:
        """Any one instruction, with all checks."""
        self.start = start
        words, glsl = self.words, self.glsl
        op = words[start] & 0xFFFF
        if op in core.RARE:
            self.module.rare.add(op)
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
                type = self.referred_to(words[at - 2])
        fast = shapes.FAST[op]
        kind, cut = fast >> 6, at + (fast & 63)
        imm: tuple[int, ...] = ()
        if fast != shapes.NONE and (cut == end or (kind == 1 and cut < end)):
            args = self.referred(at, end)
        elif kind == 2 and cut < end:
            args = self.referred(at, cut)
            imm = words[cut:end]
        elif op == ops.OpExtInst and end - at > 2 and words[at] in glsl:
            imm = (words[at + 1],)
            if GLSL_SIZES.get(imm[0]) != end - at - 2:
                self.bad_glsl(imm[0], end - at - 2)
            args = [*self.referred(at, at + 1), *self.referred(at + 2, end)]
        elif fast == shapes.NONE or (kind == 3 and cut < end):
            args, imm = self.slow(op, words[at:end], type)
        else:
            raise BadSpirv(f"{ops.NAMES[op]} has too few or too many words")
        return self.define(id, op, type, args, imm) if result else Inst(op, type, args, imm)

    def enter(self, plan: ReadPlan) -> None:
        """Begin a section of what speaks of others."""
        if plan.section < self.section or self.pending:
            raise BadSpirv(f"{ops.NAMES[plan.op]} comes too late in the module's layout")
        self.section = plan.section

    def promise_groups(self) -> None:
        """The decoration groups, which their own decorations come before."""
        for _, _, start in self.late:
            id = self.words[start + 1]
            if self.words[start] == GROUP_WORD and self.defs[id] is None:
                self.defs[id] = Inst(0, None, [], (), id)

    def referred(self, at: int, end: int) -> list[Inst]:
        """The ids from one word to another; stand-ins for what nothing defined so far."""
        return [self.referred_to(id) for id in self.words[at:end]]

    def referred_to(self, id: int) -> Inst:
        """The Inst of an id; a stand-in for what nothing defined so far."""
        return self.known(id) or self.forward(id)

    def bad_glsl(self, number: int, count: int) -> None:
        size = GLSL_SIZES.get(number)
        if size is None:
            raise BadSpirv(f"GLSL.std.450 has no instruction {number} in the grammar")
        raise BadSpirv(f"OpExtInst has {count} operands in place of {size}")

    def put(self, inst: Inst) -> None:
        """Place an instruction that does not simply continue a block."""
        op, function = inst.op, self.function
        if self.block is not None:
            raise BadSpirv(f"{ops.NAMES[op]} inside a block that has no terminator yet")
        if op in _DEBUG_LINES or (self.module.functions and self.is_aside(inst)):
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
        elif op == ops.OpFunctionParameter and not function.blocks:
            function.params.append(inst)
            if self.pending:
                function.leads[inst], self.pending = self.pending, []
        else:
            raise BadSpirv(f"{ops.NAMES[op]} between blocks")

    def is_aside(self, inst: Inst) -> bool:
        """An extended instruction that only describes: such may also stand between blocks."""
        return inst.op in _EXTENDED and bool(inst.args) and inst.args[0].id in self.asides

    def place(self, inst: Inst) -> None:
        """Put a module-scope instruction into its section."""
        op, module = inst.op, self.module
        if module.functions:
            raise BadSpirv(f"{ops.NAMES[op]} after the first function")
        section = SECTION.get(op, core.GLOBALS)
        if section == core.GLOBALS and op not in GLOBAL_OPS:
            raise BadSpirv(f"{ops.NAMES[op]} outside of a function")
        if section < self.section:
            raise BadSpirv(f"{ops.NAMES[op]} comes too late in the module's layout")
        if self.pending:
            if section != core.GLOBALS:
                raise BadSpirv("OpLine before the section of types")
            module.globals.extend(self.pending)
            self.pending = []
        if op == ops.OpExtInstImport:
            if inst.imm == core.GLSL_WORDS:
                self.glsl.add(inst.id)
            elif core.says_nothing(core.name_of_set(inst)):
                self.asides.add(inst.id)
        self.section = section
        inst.mark = core.ALL  # what lies at module scope counts as live (passes.dce)
        module.sections[section].append(inst)

    def slow(
        self, op: int, words: tuple[int, ...], type: Inst | None
    ) -> tuple[list[Inst], tuple[int, ...]]:
        """Operands by walking the grammar's shape, or as an instruction of the same shape walked
        before."""
        if op == ops.OpEntryPoint and len(words) > 2 and words[0] in MODELS:
            _, end = string_of(words, 2)
            functions = [self.referred_to(words[1])]
            return functions + [self.referred_to(w) for w in words[end:]], words[:1] + words[2:end]
        known = split_of(op, words)
        if known is not None:
            ids, rest = known
            return [self.referred_to(words[i]) for i in ids], tuple([words[i] for i in rest])
        literal_words = 1
        set_name: str | None = None
        if op in (ops.OpConstant, ops.OpSpecConstant):
            literal_words = number_words(type)
        elif op == ops.OpSwitch and words:
            selector = self.known(words[0])
            literal_words = number_words(selector.type if selector is not None else None)
        elif op in info.EXTENDED and words:
            source = self.known(words[0])
            if source is not None and source.op == ops.OpExtInstImport:
                set_name = string_of(source.imm)[0]
        walk = Walk(words, literal_words, set_name)
        try:
            walk.operands(shapes.operands(op))
        except BadSpirv as error:
            raise BadSpirv(f"{ops.NAMES[op]}: {error.message}") from None
        if walk.at != len(words):
            raise BadSpirv(f"{ops.NAMES[op]} has words after its last operand")
        if walk.opaque:
            self.module.opaque = f"it uses extended instructions of the unknown set {set_name!r}"
        ids = [i for i, is_id in enumerate(walk.kinds) if is_id]
        rest = [i for i, is_id in enumerate(walk.kinds) if not is_id]
        if op in SIZED:
            check_size(op, words[rest[0]])
        if not walk.varies:
            remember(op, words, walk.enumerants, ids, rest)
        return [self.referred_to(words[i]) for i in ids], tuple([words[i] for i in rest])

    def bad_name(self) -> None:
        """Raise BadSpirv for the first of the names that something is wrong with."""
        for start in self.cut():
            op, size = self.words[start] & 0xFFFF, self.words[start] >> 16
            if op == ops.OpName or op == ops.OpMemberName:
                self.start = start
                if self.words[start + size - 1] >> 24:
                    raise BadSpirv(f"{ops.NAMES[op]} has no string that ends with its last word")
                if self.known(self.words[start + 1]) is None:
                    self.forward(self.words[start + 1])
        raise BadSpirv("a name that was taken out")  # reading again finds where it is

    def bad_note(self) -> None:
        """Raise BadSpirv for the first of the notes that something is wrong with."""
        for start in self.cut():
            op, size = self.words[start] & 0xFFFF, self.words[start] >> 16
            if NOTES.get(op, core.NAMES) != core.NAMES:
                self.general(start, start + size)


GLSL_SIZES: Final[dict[int, int]] = {
    number: len(kinds) for number, kinds in (shapes.extended_set("GLSL.std.450") or {}).items()
}
_FORWARD_IN_FUNCTION: Final = frozenset((ops.OpPhi, ops.OpExtInstWithForwardRefsKHR))
_FORWARD_TYPES: Final = frozenset(
    (
        ops.OpTypeForwardPointer, ops.OpTypePointer, ops.OpTypeStruct, ops.OpTypeArray,
        ops.OpTypeRuntimeArray, ops.OpTypeFunction, ops.OpExtInstWithForwardRefsKHR,
    )
)  # fmt: skip
_EXTENDED: Final = info.EXTENDED
_DEBUG_LINES: Final = info.LINES
# First words (word count and opcode) of instructions that have one size only.
FUNCTION_WORD: Final = 5 << 16 | ops.OpFunction
MODELS: Final = shapes.enumeration(shapes.KINDS.index("ExecutionModel"))[2]
END_WORD: Final = 1 << 16 | ops.OpFunctionEnd
GROUP_WORD: Final = 2 << 16 | ops.OpDecorationGroup
