"""The data model: one class of node for everything that SPIR-V calls an instruction.

An ``Inst`` is an instruction and the value it defines; types, constants, variables, labels and
functions are Insts too. ``args`` holds every operand that is an id, as direct references, in order;
``imm`` every other operand word, in order. How both interleave in the binary is a fact of the
grammar (``grammar.shapes``), not of the node.

A ``Block`` is the Inst of its OpLabel and a ``Function`` the Inst of its OpFunction, so branches
and calls refer to them directly. Names and decorations hang beside the graph, in the module's
lists: they are not uses.

Only ``ir/edit.py`` and the passes' own constructors may write operands; each edit moves
``Module.version`` (any edit) or ``Module.flow`` (blocks and edges), from which cached facts and
"did it change?" are answered.
"""

from __future__ import annotations

import struct

from spvlink.grammar import debug, info, ops
from spvlink.ir.known import Known

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable
    from typing import Final


# Every opcode that a Module can hold is below: the decoder and the parser refuse what the grammar
# lacks, and a test sees to it that its opcodes are below PRIVATE.
OPCODES: Final = 0x2000
# Private opcodes: they live between lower_io and raise_io, or within one pass, and cannot be
# encoded.
PRIVATE: Final = 0x1FF8
COPY: Final = 0x1FF8  # args[0]: this value is another one now; swept after the pass
# imm[0]: slot key; args: the vertex or primitive of an arrayed slot; the type is the slot's scalar
LOAD_INPUT: Final = 0x1FF9
# imm[0]: slot key; args: the scalar stored, and the vertex (or primitive) of an arrayed slot
STORE_OUTPUT: Final = 0x1FFA
# imm[0]: slot key, imm[1]: GLSL.std.450 number; args: sample or offset
INTERPOLATE: Final = 0x1FFB
LOAD_OUTPUT: Final = 0x1FFC  # an output read back where others may write it; as LOAD_INPUT

# Inst.mark of a value all of which is live; everything at module scope has it
ALL: Final = (1 << 48) - 1

PRIVATE_NAMES: Final[dict[int, str]] = {
    COPY: "COPY",
    LOAD_INPUT: "LOAD_INPUT",
    STORE_OUTPUT: "STORE_OUTPUT",
    INTERPOLATE: "INTERPOLATE",
    LOAD_OUTPUT: "LOAD_OUTPUT",
}


def by_opcode(*sets: Iterable[int]) -> bytes:
    """A table to be indexed by opcode: bit 0 is set for those of the first set, bit 1 for those of
    the second ... Compiled, that takes a sixth of asking a set, for which the number is boxed. To
    be made once, of what is asked often."""
    table = bytearray(OPCODES)
    for bit, opcodes in enumerate(sets):
        for op in opcodes:
            table[op] |= 1 << bit
    return bytes(table)


# Access chains from variables: args[0] is the base, what follows are indices.
CHAINS: Final = frozenset((ops.OpAccessChain, ops.OpInBoundsAccessChain))
IS_CHAIN: Final = by_opcode(CHAINS)
IS_LINE: Final = by_opcode(info.LINES)


class Inst:
    """An instruction and the value that it defines (``id`` 0: it defines none)."""

    __slots__ = ("args", "id", "imm", "mark", "op", "type")

    def __init__(
        self, op: int, type: Inst | None, args: list[Inst], imm: tuple[int, ...], id: int = 0
    ) -> None:
        self.op: int = op
        self.type: Inst | None = type
        self.args: list[Inst] = args
        self.imm: tuple[int, ...] = imm
        self.id: int = id
        self.mark: int = 0  # scratch; 0: made or rewritten since dead code elimination

    def __repr__(self) -> str:
        name = ops.NAMES.get(self.op) or PRIVATE_NAMES.get(self.op, f"op{self.op}")
        words = [f"%{self.type.id}"] if self.type is not None else []
        words += [f"%{a.id}" for a in self.args] + [str(i) for i in self.imm]
        return (f"%{self.id} = " if self.id else "") + " ".join([name, *words])


class Block(Inst):
    """A basic block: the Inst of its OpLabel. ``insts`` ends with the terminator, before it the
    merge if any.

    ``lead`` holds what stands before the label (OpLine, OpNoLine), nearly always nothing.
    """

    __slots__ = ("insts", "lead")

    def __init__(self, id: int) -> None:
        self.op = ops.OpLabel  # as Inst.__init__, whose call would take as long as all this
        self.type = None
        self.args = []
        self.imm = ()
        self.id = id
        self.mark = 0
        self.insts: list[Inst] = []
        self.lead: list[Inst] = []

    @property
    def terminator(self) -> Inst:
        return self.insts[-1]

    def successors(self) -> list[Block]:
        """The blocks that the terminator may go to, in operand order, repeated where it repeats
        them."""
        end = self.insts[-1]
        if end.op == ops.OpBranch:
            return end.args[:]  # type: ignore[return-value]
        if end.op == ops.OpBranchConditional or end.op == ops.OpSwitch:
            return end.args[1:]  # type: ignore[return-value]
        return []

    def merge(self) -> Inst | None:
        """The OpSelectionMerge or OpLoopMerge of this header, or None."""
        if len(self.insts) > 1:
            before = self.insts[-2]
            if before.op == ops.OpSelectionMerge or before.op == ops.OpLoopMerge:
                return before
        return None


class Function(Inst):
    """A function: the Inst of its OpFunction (args[0]: its type, imm[0]: control); ``blocks[0]`` is
    the entry block."""

    __slots__ = ("blocks", "lead", "leads", "marked", "params", "tail")

    def __init__(self, id: int) -> None:
        Inst.__init__(self, ops.OpFunction, None, [], (), id)
        self.params: list[Inst] = []
        self.blocks: list[Block] = []
        self.lead: list[Inst] = []  # before OpFunction (OpLine)
        self.leads: dict[Inst, list[Inst]] = {}  # before a parameter (OpLine)
        self.marked = False  # whether instructions may have a ``mark``
        self.tail: list[Inst] = []  # after the last block, before OpFunctionEnd (OpLine, OpNoLine)


# An OpName or OpMemberName: what it names, and the instruction, its words little-end first. Nobody
# looks at most names, and nothing changes one: so they stay bytes.
Name = tuple[Inst, bytes]


def name_of(op: int, target: Inst, imm: tuple[int, ...]) -> Name:
    """An OpName (``imm``: the string) or OpMemberName (the member's number, the string)."""
    size = len(imm) + 2
    return target, struct.pack(f"<{size}I", size << 16 | op, target.id, *imm)


def op_of_name(name: bytes) -> int:
    """OpName or OpMemberName."""
    return name[0]


def imm_of_name(name: bytes) -> tuple[int, ...]:
    """All words but the first and the target's: the string, before it the number of a member."""
    return struct.unpack(f"<{len(name) // 4 - 2}I", name[8:])


def text_of_name(name: bytes) -> str:
    """The string."""
    text = name[8:] if name[0] == ops.OpName else name[12:]
    return text.partition(b"\0")[0].decode("utf-8", "replace")


class EntryPoint:
    """An OpEntryPoint read: ``inst`` is args [function, *interface variables], imm [model, *name
    words]."""

    __slots__ = ("function", "inst", "model", "name")

    def __init__(self, inst: Inst, name: str, function: Function) -> None:
        self.inst = inst
        self.model = inst.imm[0]
        self.name = name
        self.function = function


# The sections of a module in the order of the specification's "Logical Layout of a Module" (2.4).
CAPABILITIES: Final = 0
EXTENSIONS: Final = 1
IMPORTS: Final = 2
MEMORY_MODEL: Final = 3
ENTRY_POINTS: Final = 4
EXECUTION_MODES: Final = 5
STRINGS: Final = 6
NAMES: Final = 7
PROCESSED: Final = 8
ANNOTATIONS: Final = 9
GLOBALS: Final = 10
SECTIONS: Final = 11

# Opcodes that few modules have, where a pass can spare itself a walk if there are none.
RARE: Final = frozenset((
    ops.OpFunctionCall, ops.OpCopyMemory, ops.OpCopyObject, ops.OpTypeForwardPointer,
    ops.OpDecorationGroup,
))  # fmt: skip


class Module(Known):
    """A SPIR-V module: a header, eleven sections of Insts in the specification's order, and
    functions. The section of names is the exception: see ``names``."""

    __slots__ = (
        "annotated",
        "annotations",
        "attribute_bits",
        "borrowed_capabilities",
        "bound",
        "by_op",
        "debug",
        "entry",
        "flow",
        "functions",
        "generator",
        "globals",
        "invariant_slots",
        "names",
        "opaque",
        "pool",
        "rare",
        "schema",
        "sections",
        "settled_slots",
        "settled_variables",
        "spirv_version",
        "swapped",
        "tail",
        "version",
    )  # fmt: skip

    def __init__(self) -> None:
        Known.__init__(self)
        self.swapped = False  # the words are in the byte order opposite to this machine's
        self.spirv_version = 0x00010000
        self.generator = 0
        self.bound = 1  # one more than the largest id
        self.schema = 0
        self.sections: list[list[Inst]] = [[], [], [], [], [], [], [], [], [], [], []]  # SECTIONS
        # two of these by name; what is in them is replaced in place (``edit.replace_annotations``)
        self.annotations: list[Inst] = self.sections[ANNOTATIONS]
        # types, constants, module-scope variables, in order of definition
        self.globals: list[Inst] = self.sections[GLOBALS]
        self.names: list[Name] = []  # stand in place of sections[NAMES], which is empty
        self.functions: list[Function] = []
        self.tail: list[Inst] = []  # after the last function (OpNoLine)
        self.version = 0
        self.flow = 0
        self.annotated = 0
        # opcode -> type, args and imm as one key -> the type or constant (ir/types.py)
        self.pool: dict[int, dict[object, Inst]] = {}
        # opcode -> what has it (``types.of_op``); empty: not known
        self.by_op: list[list[Inst] | None] = []
        self.entry: EntryPoint | None = None  # the entry point that is being linked
        self.rare: set[int] = set(RARE)  # those of RARE that may be in it
        # the debug information that was taken out of the functions (``ir.debug.noted``)
        self.debug: object | None = None
        # what ``state_ranges`` was told: the bits that lanes of attributes need
        self.attribute_bits: dict[tuple[Inst, int], int] = {}
        self.opaque = ""  # what in it cannot be told apart into ids and other words
        self.borrowed_capabilities: frozenset[int] = (
            frozenset()
        )  # capabilities that it has only while it is linked
        # what ``facts.invariant`` was told: outputs that are Invariant, by keys of slots, and those
        # that the next stage makes positions and the like of
        self.invariant_slots: frozenset[int] = frozenset()
        self.settled_slots: frozenset[int] = frozenset()
        self.settled_variables: frozenset[Inst] = frozenset()

    def listed(self, section: int) -> list[Inst]:
        """The instructions of a section, those of names made for the purpose."""
        if section != NAMES:
            return self.sections[section]
        return [Inst(op_of_name(n), None, [of], imm_of_name(n)) for of, n in self.names]

    def new_id(self) -> int:
        """A fresh result id."""
        self.bound += 1
        return self.bound - 1


def says_nothing(name: str) -> bool:
    """Whether the instructions of an extended set only describe (SPV_KHR_non_semantic_info, and the
    older set of debug information)."""
    return name.startswith("NonSemantic.") or name in debug.SETS


def name_of_set(imported: Inst) -> str:
    """The name of the extended set that an OpExtInstImport imports."""
    # most need no reading
    return GLSL if imported.imm == GLSL_WORDS else string_of(imported.imm)[0]


def string_of(words: tuple[int, ...], start: int = 0) -> tuple[str, int]:
    """Read the literal string that begins at ``words[start]``; gives it and the index after it.

    Words hold the octets little-end first, nul-terminated (specification 2.2.1, Literal String).
    """
    if words[start : start + 2] == _MAIN:
        return "main", start + 2  # as nearly all entry points are called
    text, nul, _ = _octets(words[start : start + 64]).partition(b"\0")
    if not nul and len(words) > start + 64:
        text, nul, _ = _octets(words[start:]).partition(b"\0")
    end = start + len(text) // 4 + 1 if nul else len(words)
    return text.decode("utf-8", "replace"), end


def _octets(words: tuple[int, ...]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def words_of(text: str) -> tuple[int, ...]:
    """The words of a literal string, with its nul and padding."""
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return struct.unpack(f"<{len(data) // 4}I", data)


GLSL: Final = "GLSL.std.450"
GLSL_WORDS: Final = words_of(GLSL)
_MAIN: Final = words_of("main")
