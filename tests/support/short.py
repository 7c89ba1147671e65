"""The short form of a module's text, in which cases are written (tests/passes/README.md): from it
to the whole text, which ``spvlink.text.parse`` reads.

The short form leaves out what its other lines imply: types and constants that have their name by
the rule (``definition_of``), OpName, OpDecorate and OpMemberName of what stands there anyway,
capabilities, the memory model, OriginUpperLeft, the interface of the entry point, the function of a
single entry point, the label of an entry block, OpBranch to the block that follows, OpReturn at the
end of a function, and OpFunctionEnd. Braces of an entry point hold its execution modes, those of a
branch its merge instruction. A text that has its OpMemoryModel is whole already.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spvlink.grammar import enums, info, ops
from spvlink.ir import core
from spvlink.ir.core import Module
from spvlink.text import parse
from spvlink.text.parser import SECTION_OF

MEMORY_MODEL = "OpMemoryModel Logical GLSL450"
MERGES = {"merge": "OpSelectionMerge", "loop": "OpLoopMerge"}  # in braces after a branch
MEMBER = " | "  # between a struct and its members, if they stand on its line
UNNAMED = "unnamed"  # in braces: a word as its id, and no OpName
NO_INTERFACE = "none"  # after an entry point: it lists no variable
MAIN = "OpFunction %void None %fn_void"  # the function that an entry point implies
TERMINATORS = frozenset(
    ops.NAMES[op] for op, flags in info.FLAGS.items() if flags & info.TERMINATOR
)
# After these, a label needs no branch to it.
ENDS = TERMINATORS | {"OpLine", "OpNoLine"}
# What gets an OpName from the word that is its id.
NAMED = frozenset((
    "OpVariable", "OpFunction", "OpFunctionParameter", "OpTypeStruct", "OpSpecConstant",
    "OpSpecConstantTrue", "OpSpecConstantFalse", "OpSpecConstantComposite", "OpSpecConstantOp",
))  # fmt: skip
STAGE_CAPABILITIES = {
    "TessellationControl": "Tessellation",
    "TessellationEvaluation": "Tessellation",
    "Geometry": "Geometry",
    "MeshEXT": "MeshShadingEXT",
    "TaskEXT": "MeshShadingEXT",
    "Kernel": "Kernel",
}
TYPE_CAPABILITIES = {
    "OpTypeFloat 64": "Float64",
    "OpTypeFloat 16": "Float16",
    "OpTypeInt 64": "Int64",
    "OpTypeInt 16": "Int16",
    "OpTypeInt 8": "Int8",
}
MESH_EXTENSION = 'OpExtension "SPV_EXT_mesh_shader"'

_WHOLE = re.compile(r"^\s*OpMemoryModel\b", re.M)
_HEADER = re.compile(r"\s*;\s*(Version|Generator|Bound|Schema|Byte order):")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|;.*|[{},]|[^\s";{},]+|"')
_FIXED = {
    "void": "OpTypeVoid",
    "bool": "OpTypeBool",
    "int": "OpTypeInt 32 1",
    "uint": "OpTypeInt 32 0",
    "half": "OpTypeFloat 16",
    "float": "OpTypeFloat 32",
    "double": "OpTypeFloat 64",
    "true": "OpConstantTrue %bool",
    "false": "OpConstantFalse %bool",
    "GLSL": 'OpExtInstImport "GLSL.std.450"',
} | {f"{sign}int{n}": f"OpTypeInt {n} {int(not sign)}" for sign in ("", "u") for n in (8, 16, 64)}
_SCALARS = r"(?:u?int(?:8|16|64)?|half|float|double)"
_VECTOR = re.compile(rf"v([2-4])({_SCALARS}|bool)")
_MATRIX = re.compile(rf"mat([2-4])(v[2-4]{_SCALARS})")
_NUMBER = re.compile(rf"({_SCALARS})_(\w+)")
_LIKE_RULE = re.compile(
    rf"void|true|false|GLSL|((mat[2-4])?v[2-4])?({_SCALARS}|bool)(_\w+)?|(ptr|arr|rarr|fn)_\w+"
    r"|\w+_(null|undef)"
)


def is_like_rule(word: str) -> bool:
    """Whether a word looks like a name by the rule, so that nothing else may have it."""
    return _LIKE_RULE.fullmatch(word) is not None


def read(text: str) -> Module:
    """The module that a text in the short form, or a whole one, stands for."""
    return parse(expand(text))


def expand(text: str) -> str:
    """The whole text."""
    return text if _WHOLE.search(text) else _Expansion(text).text()


def definition_of(word: str, op_of: Callable[[str], str]) -> str:
    """The instruction (without its result) that an id with this name by the rule is; empty if the
    rule has none. ``op_of`` gives the opcode of another word, empty if it is defined nowhere."""
    fixed = _FIXED.get(word)
    if fixed is not None:
        return fixed
    if match := _VECTOR.fullmatch(word):
        return f"OpTypeVector %{match[2]} {match[1]}"
    if match := _MATRIX.fullmatch(word):
        return f"OpTypeMatrix %{match[2]} {match[1]}"
    head, _, rest = word.partition("_")
    if head == "ptr":
        storage, _, pointee = rest.partition("_")
        known = hasattr(enums, f"StorageClass_{storage}") and _is_type(op_of(pointee))
        return f"OpTypePointer {storage} %{pointee}" if known else ""
    if head == "arr":
        return _array(rest, op_of)
    if head == "rarr":
        return f"OpTypeRuntimeArray %{rest}" if _is_type(op_of(rest)) else ""
    if head == "fn":
        types = _types(rest, op_of)
        return "OpTypeFunction " + " ".join(f"%{t}" for t in types) if types else ""
    kind, _, last = word.rpartition("_")
    if last in ("null", "undef") and _is_type(op_of(kind)):
        return f"{'OpConstantNull' if last == 'null' else 'OpUndef'} %{kind}"
    if match := _NUMBER.fullmatch(word):
        return f"OpConstant %{match[1]} {_number(match[2])}"
    return ""


def _is_type(op: str) -> bool:
    return op.startswith("OpType")


def _array(rest: str, op_of: Callable[[str], str]) -> str:
    for match in re.finditer("_", rest):
        element, length = rest[: match.start()], rest[match.end() :]
        op = op_of(length) if _is_type(op_of(element)) else ""
        if op.startswith(("OpConstant", "OpSpecConstant")):
            return f"OpTypeArray %{element} %{length}"
    return ""


def _types(rest: str, op_of: Callable[[str], str]) -> list[str]:
    """The types that a part of a name lists."""
    if _is_type(op_of(rest)):
        return [rest]
    for match in re.finditer("_", rest):
        if _is_type(op_of(rest[: match.start()])):
            others = _types(rest[match.end() :], op_of)
            if others:
                return [rest[: match.start()], *others]
    return []


def _number(text: str) -> str:
    """``n0_5`` is -0.5, ``1e_20`` is 1e+20, ``_0x7f800000`` is the word !0x7f800000."""
    if text.startswith("_0x"):
        return "!" + text[1:]
    text = re.sub("e_", "e+", text.replace("n", "-"))
    return text.replace("_", ".", 1)


class _Line:
    """One line: the result, the words of the instruction, and what its braces say."""

    def __init__(self, text: str) -> None:
        self.result = ""
        self.words: list[str] = []
        self.notes: list[list[str]] = []
        self.indented = text[:1] == " "
        tokens = _TOKEN.findall(text)
        if tokens and tokens[-1][0] == ";":
            tokens.pop()
        if "{" in tokens:
            at = tokens.index("{")
            if tokens[-1] != "}":
                raise ValueError(f"braces come last: {text.strip()}")
            self.notes = _groups(tokens[at + 1 : -1])
            del tokens[at:]
        if len(tokens) > 2 and tokens[1] == "=":
            self.result = tokens[0]
            del tokens[:2]
        self.words = tokens

    @property
    def op(self) -> str:
        return self.words[0]

    def __str__(self) -> str:
        return f"{self.result} = {' '.join(self.words)}" if self.result else " ".join(self.words)


def _groups(tokens: list[str]) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for token in tokens:
        if token == ",":
            groups.append([])
        else:
            groups[-1].append(token)
    return groups


class _Expansion:
    """A text while it becomes whole."""

    def __init__(self, text: str) -> None:
        self.header: list[str] = []
        self.sections: list[list[str]] = [[] for _ in range(core.SECTIONS)]
        self.code: list[str] = []
        self.entries: list[_Line] = []
        self.named: set[str] = set()  # ids with a line OpName
        self.ops: dict[str, str] = {}  # of a word that is defined, or asked for: its opcode
        self.implied: dict[str, str] = {}  # word -> definition by the rule, not yet in the text
        lines = self.lines(text)
        for line in lines:
            if line.result:
                self.ops[line.result[1:]] = line.op
            elif line.op == "OpName":
                self.named.add(line.words[1])
            elif line.op == "OpEntryPoint":
                self.entries.append(line)
        self.mains = {line.words[2] for line in self.entries}
        written = {line.result for line in lines if line.op == "OpFunction"}
        self.heads = [line for line in self.entries if line.words[2] not in written]
        starts = (
            n for n, line in enumerate(lines) if line.op == "OpFunction" or line in self.heads
        )
        at = next(starts, len(lines))
        while at > 0 and lines[at - 1].op in ("OpLine", "OpNoLine"):
            at -= 1
        self.globals(lines[:at])
        self.functions(lines[at:])

    def lines(self, text: str) -> list[_Line]:
        found = []
        for text_line in text.replace(MEMBER, "\n").split("\n"):
            if _HEADER.match(text_line):
                self.header.append(text_line)
            line = _Line(text_line)
            if line.words[:1] == ["OpCapability"]:
                found += [_Line(f"OpCapability {name}") for name in line.words[1:]]
            elif line.words:
                found.append(line)
        return found

    def op_of(self, word: str) -> str:
        op = self.ops.get(word)
        if op is None:
            self.ops[word] = ""
            made = definition_of(word, self.op_of)
            if made:
                self.implied[word] = made
            op = self.ops[word] = made.partition(" ")[0]
        return op

    def use(self, words: list[str]) -> None:
        """Write the definitions by the rule that these words need, and were not needed before."""
        for word in words:
            if word[0] != "%":
                continue
            self.op_of(word[1:])
            made = self.implied.pop(word[1:], "")
            if made:
                self.use(made.split())
                self.put(f"{word} = {made}", made.partition(" ")[0])

    def put(self, text: str, op: str) -> None:
        self.sections[SECTION_OF.get(getattr(ops, op, 0), core.GLOBALS)].append(text)

    def globals(self, lines: list[_Line]) -> None:
        struct: _Line | None = None  # whose members may follow, one a line
        beside: list[_Line] = []  # decorations and the like
        for line in lines:
            if struct is not None and line.op[0] == "%" and not line.result:
                self.member(struct, line)
                continue
            if struct is not None:
                self.put(str(struct), struct.op)
                struct = None
            if SECTION_OF.get(getattr(ops, line.op, 0), core.GLOBALS) == core.GLOBALS:
                self.use(line.words)
            else:
                beside.append(line)
            self.note(line)
            if line.op == "OpTypeStruct":
                struct = line
            else:
                self.put(str(line), line.op)
        if struct is not None:
            self.put(str(struct), struct.op)
        for line in beside:  # what these mention may be made of what comes later
            self.use(line.words)

    def member(self, struct: _Line, line: _Line) -> None:
        number = len(struct.words) - 1
        self.use(line.words)
        struct.words.append(line.op)
        for name in line.words[1:]:
            name = name if name[0] == '"' else f'"{name}"'
            self.put(f"OpMemberName {struct.result} {number} {name}", "OpMemberName")
        for note in line.notes:
            text = f"OpMemberDecorate {struct.result} {number} {' '.join(note)}"
            self.put(text, "OpMemberDecorate")

    def note(self, line: _Line) -> None:
        """What the braces say of the result, and its name; of an entry point, its modes."""
        if line.op == "OpEntryPoint":
            for note in line.notes:
                if note[0] != UNNAMED:
                    mode = f"OpExecutionMode {line.words[2]} {' '.join(note)}"
                    self.put(mode, "OpExecutionMode")
            return
        id = line.result
        said = id in self.named or id in self.mains or id[1:].isdigit()
        for note in line.notes:
            if note[0][0] == '"':
                self.put(f"OpName {id} {note[0]}", "OpName")
            elif note[0] != UNNAMED:
                self.put(f"OpDecorate {id} {' '.join(note)}", "OpDecorate")
                continue
            said = True
        if line.op in NAMED and not said:
            self.put(f'OpName {id} "{id[1:]}"', "OpName")

    def functions(self, lines: list[_Line]) -> None:
        is_open = bare = False  # inside a function; before the label of its entry block
        for number, line in enumerate(lines):
            if line in self.heads:
                line = self.main_of(line)
            op = line.op
            if op == "OpFunction" and is_open:
                self.end(bare)
            if op == "OpFunction":
                is_open = bare = True
            elif op in ("OpLabel", "OpFunctionEnd"):
                if op == "OpLabel" and is_open and not bare and not self.is_after(ENDS):
                    self.code.append(f"OpBranch {line.result}")
                bare = False
                is_open = op == "OpLabel"
            elif bare and op not in ("OpFunctionParameter", "OpLine", "OpNoLine"):
                self.code.append(f"%entry.{number} = OpLabel")
                bare = False
            self.use(line.words)
            merges = [note for note in line.notes if note[0] in MERGES]
            line.notes = [note for note in line.notes if note not in merges]
            self.note(line)
            self.code += [f"{MERGES[kind]} {' '.join(to)} None" for kind, *to in merges]
            self.code.append(str(line))
        if is_open:
            self.end(bare)

    def main_of(self, entry: _Line) -> _Line:
        """The function that an entry point implies where its body begins."""
        if [UNNAMED] not in entry.notes:
            self.put(f"OpName {entry.words[2]} {entry.words[3]}", "OpName")
        self.note(entry)
        return _Line(f"{entry.words[2]} = {MAIN}")

    def end(self, bare: bool) -> None:
        """End a function; one without a body stays so."""
        if not bare and not self.is_after(TERMINATORS):
            self.code.append("OpReturn")
        self.code.append("OpFunctionEnd")

    def is_after(self, opcodes: frozenset[str]) -> bool:
        """Whether the last line of code is one of these."""
        return self.code[-1].split()[0] in opcodes

    def prelude(self) -> None:
        """Capabilities, the extension of meshes, memory model, interface, OriginUpperLeft."""
        sections = self.sections
        stages = [line.words[1] for line in self.entries]
        if not sections[core.CAPABILITIES]:
            names = capabilities_of(stages, sections[core.GLOBALS])
            sections[core.CAPABILITIES] = [f"OpCapability {name}" for name in names]
        if not sections[core.EXTENSIONS]:
            sections[core.EXTENSIONS] = extensions_of(stages)
        sections[core.MEMORY_MODEL].append(MEMORY_MODEL)
        listed = [" ".join(interface_words(w, sections[core.GLOBALS]))
                  for w in (line.words for line in self.entries)]  # fmt: skip
        sections[core.ENTRY_POINTS] = listed
        modes = [f"OpExecutionMode {main} OriginUpperLeft"
                 for stage, main in (line.words[1:3] for line in self.entries)
                 if stage == "Fragment"]  # fmt: skip
        sections[core.EXECUTION_MODES] = modes + [
            line for line in sections[core.EXECUTION_MODES] if line not in modes
        ]

    def text(self) -> str:
        self.prelude()
        sections = ["\n".join(lines) for lines in (self.header, *self.sections, self.code) if lines]
        return "\n".join(sections) + "\n"


def capabilities_of(stages: list[str], globals: list[str]) -> list[str]:
    """Those that the stage and the widths of types imply."""
    names = [STAGE_CAPABILITIES.get(stage, "Shader") for stage in stages] or ["Shader", "Linkage"]
    for line in globals:
        words = line.split()
        names.append(TYPE_CAPABILITIES.get(" ".join(words[2:4]), "") if len(words) > 3 else "")
    return list(dict.fromkeys(name for name in names if name))


def extensions_of(stages: list[str]) -> list[str]:
    return [MESH_EXTENSION] if {"MeshEXT", "TaskEXT"}.intersection(stages) else []


def interface_words(words: list[str], globals: list[str]) -> list[str]:
    """An OpEntryPoint with its interface: if none is there, inputs and outputs in their order."""
    if words[4:]:
        return words[:4] if words[4] == NO_INTERFACE else words
    split = (line.split() for line in globals)
    return words + [w[0] for w in split if w[2:3] == ["OpVariable"] and w[4] in ("Input", "Output")]
