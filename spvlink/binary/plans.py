"""How the words of an instruction are cut into ids and other words.

The grammar says it by kinds of operands; walking these takes longer than all else in reading. So
what the walk found is noted: a plan for each first word (word count and opcode), and where an
enumerant decides over what follows it, a shape for each of its values. These tables hold nothing
but the grammar, seen from another side; they fill as instructions are met.
"""

from __future__ import annotations

from spvlink.errors import BadSpirv
from spvlink.grammar import info, ops, shapes
from spvlink.ir import core
from spvlink.ir.core import Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# Kinds of plans.
TWO: Final = 0  # as VALUE, with two ids
ONE: Final = 1  # as VALUE, with one id
FOUR: Final = 2  # as VALUE, with four ids
VALUE: Final = 3  # result type, result id, ids
PART: Final = 4  # as VALUE_WORDS, with one id and one other word
VALUE_WORDS: Final = 5  # as VALUE, then other words
VARIABLE: Final = 6  # as SHAPED: OpVariable without initializer
EXTENDED: Final = 7  # OpExtInst, as VALUE if its set is GLSL.std.450
ACT: Final = 8  # ids and no result; from here on may be terminators
NUMBER: Final = 9  # result type, result id, a number as wide as the type
NAMED: Final = 10  # result id, ids
SHAPED: Final = 11  # as the one enumerant in it says
POINTER: Final = 12  # such a one: OpTypePointer
VECTOR: Final = 13  # such a one: result id, id, a size
SCALAR: Final = 14  # such a one: result id, a size, perhaps another word
PAIRED: Final = 15  # as the two enumerants in it say
SLOW: Final = 16  # by walking the grammar
TEXT: Final = 17  # a string, perhaps behind a result id
LABEL: Final = 18
STRUCTURE: Final = 19  # what else cuts functions
NAME: Final = 20  # OpName, OpMemberName
NOTE: Final = 21  # also speaks of what may come later
END: Final = 22  # no instruction: the end of the words

# Where the ids and the other words of an instruction are: (first id, past the last id, first word,
# past the last word, 0 for no result or the position of the result id).
Shape = tuple[int, int, int, int, int]
Split = tuple[list[int], list[int]]  # positions of ids, positions of other words
Shapes = dict[int | tuple[int, int], Shape]  # by enumerant, or by both

SECTION: Final[dict[int, int]] = {
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
# Sections whose instructions may speak of what comes later.
NOTES: Final[dict[int, int]] = {
    op: section
    for op, section in SECTION.items()
    if section in (core.ENTRY_POINTS, core.EXECUTION_MODES, core.NAMES, core.ANNOTATIONS)
}
LABEL_WORD: Final = 2 << 16 | ops.OpLabel  # first word of every label
STRUCTURES: Final = frozenset((ops.OpLabel, ops.OpFunction, ops.OpFunctionEnd))
TERMINATORS: Final = frozenset(op for op, flags in info.FLAGS.items() if flags & info.TERMINATOR)
GLOBAL_OPS: Final = frozenset(
    op for op, flags in info.FLAGS.items() if flags & (info.TYPE | info.CONSTANT)
) | {
    ops.OpVariable, ops.OpUntypedVariableKHR, ops.OpUndef, ops.OpExtInst,
    ops.OpExtInstWithForwardRefsKHR, ops.OpTypeForwardPointer,
}  # fmt: skip
# first words of what is SHAPED and so frequent that it is read in a way of its own
_FREQUENT: Final = {
    4 << 16 | ops.OpVariable: VARIABLE,
    4 << 16 | ops.OpTypePointer: POINTER,
    4 << 16 | ops.OpTypeVector: VECTOR,
    4 << 16 | ops.OpTypeMatrix: VECTOR,
    4 << 16 | ops.OpTypeInt: SCALAR,
    3 << 16 | ops.OpTypeFloat: SCALAR,
}
_VALUES: Final = {1: ONE, 2: TWO, 4: FOUR}
# (opcode, number of words) -> shapes met, each with the positions of the words that decide it
_KNOWN: Final[dict[tuple[int, int], list[tuple[list[int], dict[tuple[int, ...], Split]]]]] = {}


_STRING: Final = (shapes.K_STRING * 4,)


class ReadPlan:
    """How to read instructions that begin with one word."""

    __slots__ = (
        "at", "first", "is_global", "is_terminator", "kind", "op", "plain", "section", "shapes",
        "size",
    )  # fmt: skip

    def __init__(self, first: int, kind: int, at: int) -> None:
        op = first & 0xFFFF
        self.first = first
        self.kind = kind
        self.op = op
        self.size = first >> 16  # number of words
        # The position of the enumerant that decides, for PAIRED that of the first and of the
        # second << 16; for VALUE_WORDS that of the first word that is no id, for TEXT that of the
        # string. For VALUE, NAMED and ACT it is the number of operands. For NOTE it is the position
        # of the first enumerant after the id. What is SIZED has its size for an enumerant.
        self.at = at
        self.shapes: Shapes = {}  # those that were met
        # the enumerants met, or pairs of them, with which a note is one id, then other words
        self.plain: set[int | tuple[int, int]] = set()
        self.section = SECTION.get(op, -1)
        self.is_global = op in GLOBAL_OPS
        self.is_terminator = op in TERMINATORS


_PLANS: Final[dict[int, ReadPlan]] = {}  # by first word
# The same, for a look-up without a hash: a plan is at its first word modulo this prime, by which
# those that shaders have do not get in each other's way. If two do they take turns.
PLACES: Final = 2039
PLANS: Final[list[ReadPlan]] = [ReadPlan(-1, END, 0)] * PLACES


def plan_of(first: int) -> ReadPlan:
    """How to read instructions that begin with this word, which from now on is in PLANS. Raises
    BadSpirv for an opcode that the grammar lacks, and for a word count of 0."""
    plan = _PLANS.get(first)
    if plan is None:
        plan = _PLANS[first] = _new_plan(first)
    PLANS[first % PLACES] = plan
    return plan


def _new_plan(first: int) -> ReadPlan:
    op, size = first & 0xFFFF, first >> 16
    if not first:
        return ReadPlan(0, END, 0)
    if not size:
        raise BadSpirv("an instruction has a word count of 0")
    result = shapes.RESULT[op]
    if result == shapes.NONE:
        raise BadSpirv(f"opcode {op} is not in the grammar")
    head = (1, 2, 2, 3)[result]
    fast = shapes.FAST[op]
    cut = head + (fast & 63)
    kind, at = SLOW, 0  # which may become SHAPED when one was walked
    if op in NOTES:
        kind = NOTE
        if NOTES[op] == core.NAMES:
            kind = NAME
            if size < (3 if op == ops.OpName else 4):
                raise BadSpirv(f"{ops.NAMES[op]} has no string that ends with its last word")
    elif op in STRUCTURES:
        kind = LABEL if first == LABEL_WORD else STRUCTURE
    elif op in core.RARE:
        pass
    elif shapes.operands(op) == _STRING and size > head:
        kind, at = TEXT, head
    elif op == ops.OpExtInst and size > 5:
        kind = EXTENDED
    elif (op == ops.OpConstant or op == ops.OpSpecConstant) and size in (4, 5):
        kind = NUMBER
    elif fast != shapes.NONE and (cut == size or (fast >> 6 == 1 and cut < size)):
        named = NAMED if info.FLAGS.get(op, 0) & info.TYPE else SLOW
        at = size - head
        kind = (ACT, SLOW, named, _VALUES.get(at, VALUE))[result]
    elif fast >> 6 == 2 and cut < size and result == 3:
        kind, at = PART if cut == 4 and size == 5 else VALUE_WORDS, cut
    return ReadPlan(first, kind, at)


def split_of(op: int, words: tuple[int, ...]) -> Split | None:
    """How the operand words of an instruction split, if one of the same shape was walked before."""
    for positions, shapes_known in _KNOWN.get((op, len(words)), ()):
        known = shapes_known.get(tuple([words[p] for p in positions]))
        if known is not None:
            return known
    return None


def remember(
    op: int, words: tuple[int, ...], enumerants: list[int], ids: list[int], rest: list[int]
) -> None:
    """Note that operand words with these enumerants have this shape."""
    result = shapes.RESULT[op]
    head = (1, 2, 2, 3)[result]
    first = len(words) + head << 16 | op
    plan = plan_of(first)
    kind, place = plan.kind, plan.at
    at = head + enumerants[0] if enumerants else 0
    if op in SIZED:
        enumerants = [*enumerants, rest[0]]  # the size is that
        at = head + rest[0]
    if kind == NOTE:
        if enumerants and ids == [0] and _remember_note(plan, at, words, enumerants):
            return
    elif kind == SLOW:
        place = at if op not in TERMINATORS and op not in core.RARE else -1
    key: int | tuple[int, int] = words[at - head] if at else first
    frequent = _FREQUENT.get(first, SHAPED)
    if len(enumerants) == 2:
        frequent, key = PAIRED, (words[enumerants[0]], words[enumerants[1]])
        at |= head + enumerants[1] << 16
        place = at if kind == SLOW and place >= 0 else place
    plain = len(enumerants) < 3 and _is_run(ids) and _is_run(rest)
    if plain and place == at and kind in (SLOW, frequent):
        if kind == SLOW:
            plan.kind, plan.at = frequent, at
        plan.shapes[key] = (
            *((head + ids[0], head + ids[-1] + 1) if ids else (0, 0)),
            *((head + rest[0], head + rest[-1] + 1) if rest else (0, 0)),
            head - 1 if result else 0,
        )
        return
    known = _KNOWN.setdefault((op, len(words)), [])
    values = tuple([words[p] for p in enumerants])
    for positions, shapes_known in known:
        if positions == enumerants:
            shapes_known[values] = (ids, rest)
            return
    known.append((enumerants, {values: (ids, rest)}))


def _remember_note(plan: ReadPlan, at: int, words: tuple[int, ...], enumerants: list[int]) -> bool:
    """Note that with these enumerants a note is one id, then other words; False if they are not
    where those of others that begin with the same word are."""
    if not plan.plain:
        plan.at = at - 2
    own = enumerants[0]
    if plan.at != at - 2 or enumerants not in ([own], [own, own + 1]):
        return False
    plan.plain.add(words[own] if len(enumerants) == 1 else (words[own], words[own + 1]))
    return True


def _is_run(positions: list[int]) -> bool:
    """Whether these are neighbours."""
    return not positions or positions[-1] - positions[0] == len(positions) - 1


def number_words(type: Inst | None) -> int:
    """Words of a literal of this scalar type (2 for 64 bits)."""
    if type is None or type.op not in info.NUMBER_TYPES:
        raise BadSpirv("a number whose type is no integer or floating-point type")
    return 2 if type.imm[0] > 32 else 1


# types of which not every size is valid
SIZED: Final = frozenset((ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeInt, ops.OpTypeFloat))


def check_size(op: int, size: int) -> None:
    """Refuse sizes that no type of a shader has (specification 2.16.1); what follows may rely on
    them."""
    if op in info.VECTOR_TYPES:
        if not 2 <= size <= 4:
            raise BadSpirv(f"{ops.NAMES[op]} of {size} parts: a shader has 2 to 4")
    elif size not in (8, 16, 32, 64):
        raise BadSpirv(f"{ops.NAMES[op]} of {size} bits")
