"""Text to a module, the inverse of ``print_module``. Errors are ``BadSpirv`` with the line.

Beyond what is printed it takes names as ids (``%colour``), which get fresh numbers above the
numeric ones, and lacks nothing without the header: version 1.0, the bound one above the largest id.
"""

from __future__ import annotations

import re
import sys

from spvlink.errors import BadSpirv
from spvlink.grammar import info, names, ops, shapes
from spvlink.ir import core
from spvlink.ir.core import PRIVATE_NAMES, Block, Function, Inst, Module, string_of
from spvlink.text import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|;.*|[^\s";]+|"')
_OPCODES: Final = {name: op for op, name in ops.NAMES.items()}
_PRIVATE: Final = {name: op for op, name in PRIVATE_NAMES.items()}
_HEADER: Final = re.compile(r";\s*(Version|Generator|Bound|Schema|Byte order):\s*(\S+)\s*$")
_TERMINATORS: Final = frozenset(op for op, flags in info.FLAGS.items() if flags & info.TERMINATOR)
_LINES: Final = info.LINES
SECTION_OF: Final[dict[int, int]] = {
    op: section
    for section, opcodes in (
        (core.CAPABILITIES, (ops.OpCapability,)),
        (core.EXTENSIONS, (ops.OpExtension,)),
        (core.IMPORTS, (ops.OpExtInstImport,)),
        (core.MEMORY_MODEL, (ops.OpMemoryModel,)),
        (core.ENTRY_POINTS, (ops.OpEntryPoint,)),
        (core.EXECUTION_MODES, (ops.OpExecutionMode, ops.OpExecutionModeId)),
        (core.STRINGS, (ops.OpString, ops.OpSource, ops.OpSourceExtension, ops.OpSourceContinued)),
        (core.NAMES, (ops.OpName, ops.OpMemberName)),
        (core.PROCESSED, (ops.OpModuleProcessed,)),
        (core.ANNOTATIONS, [op for op, flags in info.FLAGS.items() if flags & info.ANNOTATION]),
        (core.ANNOTATIONS, (ops.OpDecorateId, ops.OpDecorateString, ops.OpMemberDecorateString)),
    )
    for op in opcodes
}


def parse(text: str) -> Module:
    """Read the text form of a module."""
    return parse_named(text)[0]


def parse_named(text: str) -> tuple[Module, dict[Inst, str]]:
    """The same with the word (without ``%``) that is the id of each instruction in the text."""
    reader = _TextReader()
    lines = text.split("\n")
    reader.number_names(lines)
    for number, line in enumerate(lines, 1):
        reader.line = number
        try:
            reader.read(line)
        except BadSpirv as error:
            raise BadSpirv(f"line {number}: {error.message}") from None
        except (ValueError, OverflowError, IndexError) as error:
            raise BadSpirv(f"line {number}: {error}") from None
    reader.finish()
    words = {reader.defs[n]: word[1:] for word, n in reader.numbers.items() if n in reader.defs}
    return reader.module, words


class _Operands:
    """The operands of one line: tokens in, args and imm out, by the grammar's shape."""

    def __init__(self, reader: _TextReader, words: list[str], type: Inst | None) -> None:
        self.reader = reader
        self.words = words
        self.at = 0
        self.type = type
        self.args: list[Inst] = []
        self.imm: list[int] = []

    def next(self) -> str:
        if self.at >= len(self.words):
            raise BadSpirv("the line ends before the last operand")
        self.at += 1
        return self.words[self.at - 1]

    def id(self) -> None:
        self.args.append(self.reader.use(self.next()))

    def literal(self) -> None:
        token = self.next()
        self.imm.append(tokens.from_raw(token) if token[0] == "!" else _word(token))

    def raws(self) -> None:
        while self.at < len(self.words) and self.words[self.at].startswith("!"):
            self.imm.append(tokens.from_raw(self.next()))

    def operands(self, kinds: tuple[int, ...]) -> None:
        for code in kinds:
            quantifier = code & 3
            if quantifier == shapes.MANY:
                while self.at < len(self.words):
                    self.operand(code >> 2)
            elif quantifier == shapes.ONE or self.at < len(self.words):
                self.operand(code >> 2)

    def operand(self, kind: int) -> None:
        if kind == shapes.K_ID:
            self.id()
        elif kind == shapes.K_LITERAL:
            self.literal()
        elif kind == shapes.K_STRING:
            self.string()
        elif kind == shapes.K_TYPED:
            self.typed(self.type)
        elif kind == shapes.K_EXTINST:
            self.extended()
        elif kind == shapes.K_SPECOP:
            token = self.next()
            opcode = _OPCODES.get("Op" + token, _OPCODES.get(token))
            if opcode is None:
                raise BadSpirv(f"{token} is no opcode")
            self.imm.append(opcode)
            self.operands(shapes.operands(opcode))
        elif kind == shapes.K_SWITCH_PAIR:
            self.typed(self.args[0].type)
            self.id()
        elif kind == shapes.K_ID_LITERAL:
            self.id()
            self.literal()
        elif kind == shapes.K_ID_ID:
            self.id()
            self.id()
        else:
            self.enumerant(kind - shapes.K_ENUM)

    def enumerant(self, kind: int) -> None:
        value = tokens.enum_value(kind, self.next())
        self.imm.append(value)
        for shape in tokens.enum_operands(kind, value):
            self.operands(shape)

    def string(self) -> None:
        token = self.next()
        if token.startswith("!"):
            self.at -= 1
            self.raws()
            return
        if len(token) < 2 or token[0] != '"':
            raise BadSpirv(f"{token} is no quoted string")
        self.imm += tokens.string_words(tokens.unquoted(token))

    def typed(self, type: Inst | None) -> None:
        size = tokens.number_size(type)
        if type is None or not size:
            raise BadSpirv("a number whose type is no integer or floating-point type")
        token = self.next()
        if not token.startswith("!"):
            self.imm += tokens.number_words(token, type)
            return
        self.at -= 1
        for _ in range(size):
            self.imm.append(tokens.from_raw(self.next()))

    def extended(self) -> None:
        source = self.args[0]
        if source.op != ops.OpExtInstImport:
            raise BadSpirv("the instruction set of OpExtInst is not an OpExtInstImport")
        name = string_of(source.imm)[0]
        token = self.next()
        known = {n: number for number, n in names.EXT_NAMES.get(name, {}).items()}
        number = known[token] if token in known else _word(token)
        self.imm.append(number)
        known_set = None if name.startswith("NonSemantic.") else shapes.extended_set(name)
        shape = None if known_set is None else known_set.get(number)
        self.operands(shape if shape is not None else (shapes.K_ID * 4 + shapes.MANY,))


def _word(token: str) -> int:
    try:
        value = int(token, 0)
    except ValueError:
        raise BadSpirv(f"{token} is no number") from None
    if not 0 <= value <= 0xFFFFFFFF:
        raise BadSpirv(f"{token} does not fit into a word")
    return value


class _TextReader:
    """The state of one parse."""

    def __init__(self) -> None:
        self.module = Module()
        self.line = 0
        self.bound = 0
        self.numbers: dict[str, int] = {}
        self.defs: dict[int, Inst] = {}
        self.waiting: dict[int, int] = {}  # id used before its definition -> line
        self.defined: set[int] = set()
        self.function: Function | None = None
        self.block: Block | None = None
        self.pending: list[Inst] = []
        self.section = 0

    def number_names(self, lines: list[str]) -> None:
        """Numbers for ids: numeric ones are themselves, names get those above. Labels and functions
        get their nodes here, so that forward references meet them."""
        shapes_of: list[tuple[str, str]] = []
        largest = 0
        for line in lines:
            words = _split(line)
            for word in words:
                if word[0] == "%" and word not in self.numbers:
                    number = int(word[1:]) if re.fullmatch("[0-9]{1,7}", word[1:]) else 0
                    self.numbers[word] = number
                    largest = max(largest, number)
            if len(words) > 2 and words[1] == "=" and words[2] in ("OpLabel", "OpFunction"):
                shapes_of.append((words[0], words[2]))
        for word, number in self.numbers.items():
            if not number:
                largest += 1
                self.numbers[word] = largest
        self.bound = largest + 1
        for word, op in shapes_of:
            id = self.numbers.get(word, 0)
            if id not in self.defs:
                self.defs[id] = Block(id) if op == "OpLabel" else Function(id)

    def use(self, token: str) -> Inst:
        if token[0] != "%" or token not in self.numbers or len(token) < 2:
            raise BadSpirv(f"{token} is no id")
        id = self.numbers[token]
        inst = self.defs.get(id)
        if inst is None:
            inst = self.defs[id] = Inst(0, None, [], (), id)
        if id not in self.defined:
            self.waiting.setdefault(id, self.line)
        return inst

    def read(self, line: str) -> None:
        words = _split(line)
        if not words:
            match = _HEADER.match(line.strip())
            if match is not None:
                self.header(match[1], match[2])
            return
        result = ""
        if len(words) > 1 and words[1] == "=":
            result = words[0]
            del words[:2]
        if not words:
            raise BadSpirv("no opcode after the equals sign")
        inst = self.instruction(words[0], words[1:], result)
        if inst is not None:
            self.put(inst)

    def header(self, key: str, value: str) -> None:
        module = self.module
        if key == "Version":
            major, _, minor = value.partition(".")
            module.spirv_version = int(major) << 16 | int(minor) << 8
        elif key == "Generator":
            module.generator = _word(value)
        elif key == "Bound":
            module.bound = _word(value)
        elif key == "Schema":
            module.schema = _word(value)
        elif value in ("little", "big"):
            module.swapped = value != sys.byteorder
        else:
            raise BadSpirv(f"the byte order {value!r} is neither little nor big")

    def instruction(self, name: str, words: list[str], result: str) -> Inst | None:
        private = _PRIVATE.get(name)
        op = private if private is not None else _OPCODES.get(name)
        if op is None:
            raise BadSpirv(f"{name} is no opcode")
        if op == ops.OpFunctionEnd:
            self.end_function()
            return None
        shape = shapes.RESULT[op] if private is None else (3 if result else 0)
        if bool(shape & 2) != bool(result):
            raise BadSpirv(f"{name} {'lacks' if shape & 2 else 'has no'} a result id")
        type: Inst | None = None
        if shape & 1:
            if not words:
                raise BadSpirv(f"{name} lacks a result type")
            type = self.use(words[0])
            words = words[1:]
        operands = _Operands(self, words, type)
        if private is not None:
            while operands.at < len(words):
                (operands.id if words[operands.at][0] == "%" else operands.literal)()
        else:
            operands.operands(shapes.operands(op))
            operands.raws()
            if operands.at < len(words):
                raise BadSpirv(f"{words[operands.at]} after the last operand of {name}")
        return self.define(op, type, operands, result)

    def define(self, op: int, type: Inst | None, operands: _Operands, result: str) -> Inst:
        if not result:
            return Inst(op, type, operands.args, tuple(operands.imm))
        if result[0] != "%" or len(result) < 2:
            raise BadSpirv(f"{result} is no id")
        id = self.numbers[result]
        if id in self.defined or id == 0:
            raise BadSpirv(f"{result} is defined twice")
        inst = self.defs.get(id)
        if inst is None:
            inst = self.defs[id] = Inst(op, type, operands.args, (), id)
        inst.op, inst.type, inst.args, inst.imm = op, type, operands.args, tuple(operands.imm)
        self.defined.add(id)
        return inst

    def put(self, inst: Inst) -> None:
        """Put the instruction where it belongs, as the decoder does."""
        op, function, block = inst.op, self.function, self.block
        if block is not None:
            if isinstance(inst, (Block, Function)):
                raise BadSpirv("the block before has no terminator")
            block.insts.append(inst)
            if op in _TERMINATORS:
                self.block = None
        elif op in _LINES or (self.module.functions and _is_aside(inst)):
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
            inst.lead, self.pending = self.pending, []
            function.blocks.append(inst)
            self.block = inst
        elif op == ops.OpFunctionParameter and not function.blocks:
            function.params.append(inst)
            if self.pending:
                function.leads[inst], self.pending = self.pending, []
        else:
            raise BadSpirv("an instruction between blocks")

    def end_function(self) -> None:
        if self.function is None or self.block is not None:
            raise BadSpirv("OpFunctionEnd without a function, or inside a block")
        self.function.tail, self.pending = self.pending, []
        self.function = None

    def place(self, inst: Inst) -> None:
        section = SECTION_OF.get(inst.op, core.GLOBALS)
        if self.module.functions:
            raise BadSpirv("a module-scope instruction after the first function")
        if section < self.section:
            raise BadSpirv("this comes too late in the module's layout")
        self.section = section
        if section == core.NAMES:
            if self.pending:
                raise BadSpirv("OpLine before the section of types")
            self.module.names.append(core.name_of(inst.op, inst.args[0], inst.imm))
            return
        self.module.sections[section] += [*self.pending, inst]
        self.pending = []

    def finish(self) -> None:
        for id, line in self.waiting.items():
            if id not in self.defined:
                word = next(w for w, n in self.numbers.items() if n == id)
                raise BadSpirv(f"line {line}: {word} is used but never defined")
        if self.function is not None:
            raise BadSpirv("the text ends inside a function")
        (self.module.tail if self.module.functions else self.module.globals).extend(self.pending)
        self.module.bound = max(self.module.bound, self.bound)


def _is_aside(inst: Inst) -> bool:
    """An extended instruction that only describes."""
    return inst.op in info.EXTENDED and core.says_nothing(string_of(inst.args[0].imm)[0])


def _split(line: str) -> list[str]:
    words = _TOKEN.findall(line)
    if words and words[-1].startswith(";"):
        words.pop()
    return words
