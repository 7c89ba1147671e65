"""SPIR-V words to a ``Module``: versions 1.0 to 1.6, both byte orders.

Two passes over the words. The first cuts the stream into instructions and makes the Blocks and
Functions, so that forward branches and calls refer to the real node; the second makes every other
Inst. Other forward references get an Inst that its definition fills in later. Whatever the grammar
does not know is refused with its place.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left

from spvlink.binary.walk import Walk
from spvlink.errors import BadSpirv
from spvlink.grammar import info, ops, shapes
from spvlink.ir import core
from spvlink.ir.core import Block, Function, Inst, Module, string_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

MAGIC: Final = 0x07230203
# "Universal Limits" (2.17): the smallest bound every consumer takes is 4,194,303
MAX_BOUND: Final = 0x400000

_SECTION: Final[dict[int, int]] = {
    ops.OpCapability: core.CAPABILITIES,
    ops.OpExtension: core.EXTENSIONS,
    ops.OpExtInstImport: core.IMPORTS,
    ops.OpMemoryModel: core.MEMORY_MODEL,
    ops.OpEntryPoint: core.ENTRY_POINTS,
    ops.OpExecutionMode: core.EXECUTION_MODES,
    ops.OpExecutionModeId: core.EXECUTION_MODES,
    ops.OpString: core.STRINGS,
    ops.OpSourceExtension: core.STRINGS,
    ops.OpSource: core.STRINGS,
    ops.OpSourceContinued: core.STRINGS,
    ops.OpName: core.NAMES,
    ops.OpMemberName: core.NAMES,
    ops.OpModuleProcessed: core.PROCESSED,
    ops.OpDecorate: core.ANNOTATIONS,
    ops.OpMemberDecorate: core.ANNOTATIONS,
    ops.OpDecorationGroup: core.ANNOTATIONS,
    ops.OpGroupDecorate: core.ANNOTATIONS,
    ops.OpGroupMemberDecorate: core.ANNOTATIONS,
    ops.OpDecorateId: core.ANNOTATIONS,
    ops.OpDecorateString: core.ANNOTATIONS,
    ops.OpMemberDecorateString: core.ANNOTATIONS,
}


def decode(data: bytes) -> Module:
    """Read one SPIR-V binary. Raises ``BadSpirv`` with the word and instruction index of the
    trouble."""
    words, swapped = _words(data)
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


def _words(data: bytes) -> tuple[list[int], bool]:
    if len(data) < 4:
        raise BadSpirv("the file is too short to be SPIR-V", 0)
    if data[:4] == MAGIC.to_bytes(4, "little"):
        swapped = sys.byteorder == "big"
    elif data[:4] == MAGIC.to_bytes(4, "big"):
        swapped = sys.byteorder == "little"
    else:
        raise BadSpirv(f"not SPIR-V: the magic number is missing (found {data[:4].hex()})", 0)
    if len(data) % 4:
        raise BadSpirv(f"the size of {len(data)} bytes is no multiple of 4", len(data) // 4)
    words = array("I", data)
    if swapped:
        words.byteswap()
    if len(words) < 5:
        raise BadSpirv("the header ends early: it has five words", len(words))
    return words.tolist(), swapped


_Shape = tuple[list[int], list[int]]  # positions of ids, positions of other words


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
        self.read(self.cut())
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

    def cut(self) -> list[int]:
        """Start of every instruction, and one past the end; makes Blocks and Functions."""
        words, defs = self.words, self.defs
        end = len(words)
        at = 5
        starts = self.starts
        append = starts.append
        while at < end:
            append(at)
            first = words[at]
            count = first >> 16
            if count == 0 or at + count > end:
                self.start = at
                what = "has a word count of 0" if count == 0 else "runs past the end of the module"
                raise BadSpirv(f"an instruction {what}")
            if first == _LABEL_WORD:
                id = words[at + 1]
                if id in defs:
                    self.start = at
                    raise BadSpirv(f"id {id} is defined twice")
                defs[id] = Block(id)
                defs[id].mark = -1  # not reached yet
            elif first == _FUNCTION_WORD:
                id = words[at + 2]
                if id in defs:
                    self.start = at
                    raise BadSpirv(f"id {id} is defined twice")
                defs[id] = Function(id)
                defs[id].mark = -1
            at += count
        append(end)
        return starts

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

    def read(self, starts: list[int]) -> None:
        """Every instruction becomes an Inst in its place. One loop with little in it: here reading
        spends its time."""
        words, defs = self.words, self.defs
        get, slow, put = defs.get, self.slow, self.put
        result_of, fast_of, terminators = shapes.RESULT, shapes.FAST, _TERMINATORS
        note_sections = _NOTES
        globals, functions = self.module.globals, self.module.functions
        glsl, common, ext_inst = self.glsl, _GLOBAL_OPS, ops.OpExtInst
        limit = self.module.bound
        start = 5
        for end in starts[1:]:
            self.start = start
            op = words[start] & 0xFFFF
            at = start + 1
            section = note_sections.get(op)
            if section is not None:
                if section < self.section or functions or self.pending:
                    raise BadSpirv(f"{ops.NAMES[op]} comes too late in the module's layout")
                self.section = section
                self.notes.append(start)
                start = end
                continue
            start = end
            result = result_of.get(op)
            if result is None:
                raise BadSpirv(f"opcode {op} is not in the grammar")
            type: Inst | None = None
            id = 0
            if result:
                at += 1 if result == 2 else 2
                if at > end:
                    raise BadSpirv(f"{ops.NAMES[op]} ends before its result id")
                id = words[at - 1]
                if result == 3:
                    type = get(words[at - 2]) or self.forward(words[at - 2])
            fast = fast_of.get(op, -1)
            kind, cut = fast >> 6, at + (fast & 63)
            imm: list[int] = []
            if fast >= 0 and (cut == end or (kind == 1 and cut < end)):
                args = list(map(get, words[at:end]))
                if None in args:
                    self.missing_args(args, at)
            elif kind == 2 and cut < end:
                args = list(map(get, words[at:cut]))
                if None in args:
                    self.missing_args(args, at)
                imm = words[cut:end]
            elif op == ext_inst and end - at > 2 and words[at] in glsl:
                imm = [words[at + 1]]
                if _GLSL_SIZES.get(imm[0]) != end - at - 2:
                    self.bad_glsl(imm[0], end - at - 2)
                args = list(map(get, words[at:end]))
                del args[1]
                if None in args:
                    args = [get(w) or self.forward(w) for w in words[at + 2 : end]]
                    args.insert(0, defs[words[at]])
            elif fast < 0 or (kind == 4 and cut < end):
                args, imm = slow(op, words[at:end], type)  # type: ignore[assignment]
            else:
                raise BadSpirv(f"{ops.NAMES[op]} has too few or too many words")
            if result:
                inst = get(id)
                if inst is None and 0 < id < limit:
                    inst = defs[id] = Inst(op, type, args, imm, id)  # type: ignore[arg-type]
                else:
                    inst = self.define(id, op, type, args, imm)  # type: ignore[arg-type]
            else:
                inst = Inst(op, type, args, imm)  # type: ignore[arg-type]
            block = self.block
            if block is None or op in _STRUCTURE:
                if op in common and self.section == core.GLOBALS and not self.pending:
                    if self.function is None and not functions:
                        if op in _SIZED:
                            check_size(inst)
                        inst.mark = core.ALL
                        globals.append(inst)
                        continue
                put(inst)
                continue
            block.insts.append(inst)
            if op in terminators:
                self.block = None
        if self.function is not None:
            raise BadSpirv("the module ends inside a function")
        (self.module.tail if self.module.functions else self.module.globals).extend(self.pending)

    def read_notes(self) -> None:
        """Entry points, names and decorations: they may speak of anything, so they are read when
        all of it is there."""
        words, sections, plain = self.words, self.module.sections, _PLAIN_DECORATIONS
        get = self.defs.get
        for start in self.notes:
            if words[start] == _GROUP_WORD and words[start + 1] not in self.defs:
                # OpDecorationGroup, which its own decorations come before
                self.defs[words[start + 1]] = Inst(0, None, [], [], words[start + 1])
        for start in self.notes:
            self.start = start
            op = words[start] & 0xFFFF
            at = start + 1
            end = start + (words[start] >> 16)
            size = end - at
            if op == ops.OpName or op == ops.OpMemberName:  # a third of a small module
                easy = size > op - 4 and not words[end - 1] >> 24  # the string fills it
            elif op == ops.OpDecorate:
                easy = size > 1 and plain.get(words[at + 1]) == size
            elif op == ops.OpMemberDecorate:
                easy = size > 2 and plain.get(words[at + 2]) == size - 1
            else:
                easy = False
            if easy:
                target = get(words[at])
                if target is not None:
                    sections[_NOTES[op]].append(Inst(op, None, [target], words[at + 1 : end]))
                    continue
            id = 0
            if shapes.RESULT[op]:
                if size < 1:
                    raise BadSpirv(f"{ops.NAMES[op]} ends before its result id")
                id = words[at]
                at += 1
            args, imm = self.slow(op, words[at:end], None)
            inst = self.define(id, op, None, args, imm) if id else Inst(op, None, args, imm)
            inst.mark = core.ALL
            sections[_NOTES[op]].append(inst)

    def missing_args(self, args: list[Inst | None], at: int) -> None:
        """Stand-ins for the operands that nothing defined so far."""
        for index, arg in enumerate(args):
            if arg is None:
                id = self.words[at + index]
                args[index] = self.defs.get(id) or self.forward(id)

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
        section = _SECTION.get(inst.op, core.GLOBALS)
        if section == core.GLOBALS and inst.op not in _GLOBAL_OPS:
            raise BadSpirv(f"{ops.NAMES[inst.op]} outside of a function")
        if section < self.section:
            raise BadSpirv(f"{ops.NAMES[inst.op]} comes too late in the module's layout")
        if self.pending and section != core.GLOBALS:
            raise BadSpirv("OpLine before the section of types")
        if inst.op in _SIZED:
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
        size = len(words)
        for positions, shapes_known in _KNOWN.get((op, size), ()):
            known = shapes_known.get(tuple([words[p] for p in positions]))
            if known is not None:
                ids, rest = known
                return [get(words[i]) or forward(words[i]) for i in ids], [words[i] for i in rest]
        literal_words = 1
        set_name: str | None = None
        if op in (ops.OpConstant, ops.OpSpecConstant):
            literal_words = _number_words(type)
        elif op == ops.OpSwitch and words:
            selector = self.defs.get(words[0])
            literal_words = _number_words(selector.type if selector is not None else None)
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
            self.remember(op, words, walk.enumerants, ids, rest)
        return [get(words[i]) or forward(words[i]) for i in ids], [words[i] for i in rest]

    def remember(
        self, op: int, words: list[int], enumerants: list[int], ids: list[int], rest: list[int]
    ) -> None:
        """Note that words with these enumerants have this shape: the walk is the slow part of
        reading."""
        known = _KNOWN.setdefault((op, len(words)), [])
        values = tuple([words[p] for p in enumerants])
        for positions, shapes_known in known:
            if positions == enumerants:
                shapes_known[values] = (ids, rest)
                return
        known.append((enumerants, {values: (ids, rest)}))

    def name(self, op: int, words: list[int]) -> tuple[list[Inst], list[int]]:
        """OpName and OpMemberName: half of the instructions of a small module."""
        least = 2 if op == ops.OpName else 3
        if len(words) < least or words[-1] >> 24:
            raise BadSpirv(f"{ops.NAMES[op]} has no string that ends with its last word")
        return [self.defs.get(words[0]) or self.forward(words[0])], words[1:]


def check_size(type: Inst) -> None:
    """Refuse sizes that no type of a shader has (specification 2.16.1); what follows may rely on
    them."""
    size = type.imm[0] if type.imm else 0
    if type.op in (ops.OpTypeVector, ops.OpTypeMatrix):
        if not 2 <= size <= 4:
            raise BadSpirv(f"{ops.NAMES[type.op]} of {size} parts: a shader has 2 to 4")
    elif size not in (8, 16, 32, 64):
        raise BadSpirv(f"{ops.NAMES[type.op]} of {size} bits")


def _number_words(type: Inst | None) -> int:
    """Words of a literal of this scalar type (2 for 64 bits)."""
    if type is None or type.op not in (ops.OpTypeInt, ops.OpTypeFloat):
        raise BadSpirv("a number whose type is no integer or floating-point type")
    return 2 if type.imm[0] > 32 else 1


# (opcode, number of words) -> shapes met, each with the positions of the words that decide it
_KNOWN: Final[dict[tuple[int, int], list[tuple[list[int], dict[tuple[int, ...], _Shape]]]]] = {}
# Decorations whose operands are plain literals -> words from the decoration's target on
_PLAIN_DECORATIONS: Final[dict[int, int]] = {
    value: 2 + len(params)
    for value, params in next(k[2] for k in shapes.ENUM_KINDS if k[0] == "Decoration").items()
    if all(p == shapes.K_LITERAL * 4 for p in params)
}
_GLSL_SIZES: Final[dict[int, int]] = {
    number: len(kinds) for number, kinds in shapes.EXT_SETS["GLSL.std.450"].items()
}
# Sections whose instructions may speak of what comes later.
_NOTES: Final[dict[int, int]] = {
    op: section
    for op, section in _SECTION.items()
    if section in (core.ENTRY_POINTS, core.EXECUTION_MODES, core.NAMES, core.ANNOTATIONS)
}
_FORWARD_IN_FUNCTION: Final = frozenset((ops.OpPhi, ops.OpExtInstWithForwardRefsKHR))
_FORWARD_TYPES: Final = frozenset(
    (
        ops.OpTypeForwardPointer,
        ops.OpTypePointer,
        ops.OpTypeStruct,
        ops.OpTypeArray,
        ops.OpTypeRuntimeArray,
        ops.OpTypeFunction,
        ops.OpExtInstWithForwardRefsKHR,
    )
)
_DEBUG_LINES: Final = frozenset((ops.OpLine, ops.OpNoLine))
# First words (word count and opcode) of instructions that have one size only.
_LABEL_WORD: Final = 2 << 16 | ops.OpLabel
_FUNCTION_WORD: Final = 5 << 16 | ops.OpFunction
_GROUP_WORD: Final = 2 << 16 | ops.OpDecorationGroup
_STRUCTURE: Final = frozenset((ops.OpLabel, ops.OpFunction, ops.OpFunctionEnd))
_TERMINATORS: Final = frozenset(op for op, flags in info.FLAGS.items() if flags & info.TERMINATOR)
_GLOBAL_OPS: Final = frozenset(
    op for op, flags in info.FLAGS.items() if flags & (info.TYPE | info.CONSTANT)
) | {
    ops.OpVariable,
    ops.OpUndef,
    ops.OpExtInst,
    ops.OpExtInstWithForwardRefsKHR,
    ops.OpTypeForwardPointer,
}
_SIZED: Final = frozenset((ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeInt, ops.OpTypeFloat))
