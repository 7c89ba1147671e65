"""The verifier's tables: which opcode may stand where, with how many operands."""

from __future__ import annotations

from spvlink.grammar import info, ops, shapes
from spvlink.ir import core
from spvlink.ir.check_flow import TERMINATORS
from spvlink.ir.check_types import TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

MANY: Final = 1 << 30
LINES: Final = frozenset((ops.OpLine, ops.OpNoLine))
MERGES: Final = frozenset((ops.OpSelectionMerge, ops.OpLoopMerge))
PRIVATE_COUNTS: Final = {  # least and most args, least and most imm, result
    core.COPY: (1, 1, 0, 0),
    core.LOAD_INPUT: (0, 1, 1, 1),
    core.STORE_OUTPUT: (1, 2, 1, 1),
    core.INTERPOLATE: (0, 1, 2, 2),
    core.LOAD_OUTPUT: (0, 1, 1, 1),
}
SECTION_OPS: Final[tuple[frozenset[int], ...]] = (
    frozenset((ops.OpCapability,)),
    frozenset((ops.OpExtension,)),
    frozenset((ops.OpExtInstImport,)),
    frozenset((ops.OpMemoryModel,)),
    frozenset((ops.OpEntryPoint,)),
    frozenset((ops.OpExecutionMode, ops.OpExecutionModeId)),
    frozenset((ops.OpString, ops.OpSourceExtension, ops.OpSource, ops.OpSourceContinued)),
    frozenset((ops.OpName, ops.OpMemberName)),
    frozenset((ops.OpModuleProcessed,)),
    frozenset(op for op, flags in info.FLAGS.items() if flags & info.ANNOTATION)
    | {ops.OpDecorateString, ops.OpMemberDecorateString, ops.OpDecorateId},
)
# What may stand among the types and not in a function; of opcodes without facts we claim nothing.
GLOBAL_OPS: Final = TYPES | {op for op, flags in info.FLAGS.items() if flags & info.CONSTANT}
BOTH: Final = LINES | {
    ops.OpVariable, ops.OpUntypedVariableKHR, ops.OpUndef, ops.OpExtInst, ops.OpTypeForwardPointer,
}  # fmt: skip
DESCRIBING: Final = info.DEBUG | info.TYPE | info.ANNOTATION
# Operands of these may be things that are no values: types, strings, imports, functions.
LOOSE: Final = (LINES | MERGES | TERMINATORS | {ops.OpExtInst, ops.OpFunctionCall, ops.OpPhi}) - {
    ops.OpReturnValue
}
STRICT: Final = (
    frozenset(op for op, flags in info.FLAGS.items() if not flags & DESCRIBING)
    - LOOSE
    - {op for op, name in ops.NAMES.items() if "Cooperative" in name or "Untyped" in name}
)
FORWARD_TYPES: Final = frozenset(
    (
        ops.OpTypePointer, ops.OpTypeStruct, ops.OpTypeArray, ops.OpTypeRuntimeArray,
        ops.OpTypeFunction,
    )
)  # fmt: skip
counts_known: dict[int, tuple[int, int, int, int]] = dict(PRIVATE_COUNTS)
AFTER_LOOP: Final = frozenset((ops.OpBranch, ops.OpBranchConditional))
AFTER_SELECTION: Final = frozenset((ops.OpBranchConditional, ops.OpSwitch))
NEVER: Final = frozenset(
    (ops.OpLabel, ops.OpFunction, ops.OpFunctionEnd, ops.OpFunctionParameter, ops.OpCapability)
)
KNOWN_TYPES: Final = frozenset(
    (
        ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeArray, ops.OpTypeRuntimeArray,
        ops.OpTypeStruct, ops.OpTypePointer, ops.OpTypeFunction, ops.OpTypeImage,
        ops.OpTypeSampledImage,
    )
)  # fmt: skip


def _count(kind: int, counts: list[int]) -> None:
    """Add the least and most ids and words of one operand to [least ids, most ids, least words,
    most words].
    """
    ids, words, open_ids, open_words = 0, 0, False, False
    if kind == shapes.K_ID:
        ids = 1
    elif kind == shapes.K_LITERAL:
        words = 1
    elif kind in (shapes.K_STRING, shapes.K_TYPED):
        words, open_words = 1, True
    elif kind in (shapes.K_EXTINST, shapes.K_SPECOP):
        words, open_ids, open_words = 1, True, True
    elif kind in (shapes.K_SWITCH_PAIR, shapes.K_ID_LITERAL):
        ids, words, open_words = 1, 1, True
    elif kind == shapes.K_ID_ID:
        ids = 2
    else:
        words = 1
        open_ids = open_words = any(shapes.enumeration(kind - shapes.K_ENUM)[2].values())
    counts[0] += ids
    counts[1] += MANY if open_ids else ids
    counts[2] += words
    counts[3] += MANY if open_words else words


def counts(op: int) -> tuple[int, int, int, int]:
    """Least and most args, least and most imm of an opcode, by the grammar (bounds only where a
    shape varies).
    """
    bounds = counts_known.get(op)
    if bounds is None:
        counts = [0, 0, 0, 0]
        for code in shapes.operands(op):
            one = [0, 0, 0, 0]
            _count(code >> 2, one)
            quantifier = code & 3
            if quantifier == shapes.ONE:
                counts[0] += one[0]
                counts[2] += one[2]
            scale = MANY if quantifier == shapes.MANY else 1
            counts[1] += one[1] * scale
            counts[3] += one[3] * scale
        bounds = counts_known[op] = (counts[0], counts[1], counts[2], counts[3])
    return bounds
