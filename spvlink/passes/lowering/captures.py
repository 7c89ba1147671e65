"""Find the components of an output that transform feedback captures.

    out vec4 v  (XfbBuffer 0, XfbStride 32, Offset 16)    ->    v.x at byte 16, v.y at 20, ...

An output variable, or a member of an output block, is captured if it has an Offset; its buffer and
stride it has itself or from the block (VUID-StandaloneSpirv-Offset-04716). The bytes are those of
its components in order, tightly packed: vectors, the columns of a matrix, the elements of an array,
the members of a struct (Vulkan, "Transform Feedback"). So each component can become a variable of
its own, with its own Offset and the same buffer, stride and stream, at any Location: what lies in
the buffer does not change by a byte. Neighbours may be one variable where their bytes are
neighbours too.

What stays whole: structs of 64-bit numbers that are captured as such (their padding is not ours to
guess), arrays of blocks (whose elements go to buffers of their own), numbers of 16 bits, anything
without a buffer or a stride, and what goes to a vertex stream other than the first: nothing reads
that. Of a block it is single members that stay, as variables of their own; the others are slots, or
go, in another stream. Blocks with an Offset of their own stay as they are.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations, Words
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import EXECUTION_MODES, Inst, Module
from spvlink.ir.slot import CAPTURED
from spvlink.passes.lowering.cells import PartNode

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    # (buffer, stride, stream or -1 where none is given, offset in bytes)
    Capture = tuple[int, int, int, int]

CAPTURED_WHY: Final = "transform feedback captures it"
_OFFSET: Final = enums.Decoration_Offset
_BUFFER: Final = enums.Decoration_XfbBuffer
_STRIDE: Final = enums.Decoration_XfbStride


def active(module: Module) -> bool:
    """Whether the entry point feeds transform feedback."""
    entry = module.entry
    assert entry is not None
    return any(
        mode.args[0] is entry.function and mode.imm[0] == enums.ExecutionMode_Xfb
        for mode in module.sections[EXECUTION_MODES]
    )


def pin(tables: Decorations, variable: Inst, node: PartNode) -> None:
    """Keep whole what cannot be captured component by component of a variable of which something is
    captured: all of it or, of a block, members. ``node``: its root."""
    assert variable.type is not None
    type, own = variable.type.args[0], tables.targets.get(variable, [])
    parts: list[PartNode] = []
    if not is_block(tables, type):
        if not _plain(tables, type) or at(own, 0, ()) is None:
            parts = [node]
    elif has_offset(own):
        parts = [node]
    else:
        whole = [i for i in range(len(type.args)) if not _member_splits(tables, own, type, i)]
        if whole:
            parts = [node.children[i] for i in whole] if node.split() else [node]
    for part in parts:
        part.pin("", CAPTURED)
        part.why = CAPTURED_WHY


def pin_stream(tables: Decorations, node: PartNode, why: str, decorations: set[int]) -> None:
    """Keep a variable with these ``decorations`` whole: of a block that goes to another vertex
    stream each member by itself, since nobody reads those that are not captured."""
    parts = [node]
    if enums.Decoration_Stream in decorations and is_block(tables, node.type) and node.split():
        parts = node.children
    for part in parts:
        part.pin(why)


def has_offset(words: Sequence[Words]) -> bool:
    """Whether a variable or member with these decorations is captured."""
    return any(w[0] == _OFFSET for w in words)


def is_block(tables: Decorations, type: Inst) -> bool:
    """Whether the members of an output of this type have Offsets of their own."""
    if type.op != ops.OpTypeStruct:
        return False
    notes = [*tables.targets.get(type, ())]
    for index in range(len(type.args)):
        notes += tables.members.get((type, index), ())
    return any(words[0] in (_OFFSET, enums.Decoration_Block) for words in notes)


def _member_splits(tables: Decorations, own: list[Words], type: Inst, index: int) -> bool:
    """Whether a member of a block is not captured, or can be component by component."""
    words = tables.members.get((type, index), [])
    if not has_offset(words):
        return True
    block = tables.targets.get(type, ())
    return _plain(tables, type.args[index]) and at(own + words, 0, block) is not None


def _plain(tables: Decorations, type: Inst, inside: bool = False) -> bool:
    """Numbers without gaps between them: 64 bits inside of a struct may have some."""
    while type.op in info.ELEMENT_TYPES:
        type = type.args[0]
    if type.op == ops.OpTypeStruct:
        return not is_block(tables, type) and all(_plain(tables, t, True) for t in type.args)
    width = type.imm[0] if type.op in info.NUMBER_TYPES else 0
    return width == 32 or (width == 64 and not inside)


def block_words(tables: Decorations, variable: Inst) -> Sequence[Words]:
    """The decorations of the block that a variable is, which its members inherit."""
    assert variable.type is not None
    return tables.targets.get(variable.type.args[0], ())


def at(words: Sequence[Words], shift: int, block: Sequence[Words]) -> Capture | None:
    """What is captured ``shift`` bytes into the variable or member that has these decorations (a
    member's own come last), in a block with those."""
    values = {w[0]: w[1] for w in (*block, *words) if len(w) == 2}
    if not has_offset(words) or _BUFFER not in values or _STRIDE not in values:
        return None
    stream = values.get(enums.Decoration_Stream, -1)
    return values[_BUFFER], values[_STRIDE], stream, values[_OFFSET] + shift


def note(
    capture: Capture | None, table: dict[int, Capture], keys: Sequence[int], scalar: Inst
) -> None:
    """Enter what is captured of a vector, by the keys of its components."""
    if capture is not None:
        for lane, key in enumerate(keys):
            table[key] = (*capture[:3], capture[3] + lane * bytes_of(scalar))


def words_of(capture: Capture | None) -> list[Words]:
    """The decorations that say so."""
    if capture is None:
        return []
    buffer, stride, stream, offset = capture
    words: list[Words] = [(_BUFFER, buffer), (_STRIDE, stride), (_OFFSET, offset)]
    return words if stream < 0 else [(enums.Decoration_Stream, stream), *words]


def bytes_of(type: Inst) -> int:
    """Bytes that a value of numbers, vectors, matrices, arrays and structs of these takes when
    captured."""
    if type.op == ops.OpTypeStruct:
        return sum(map(bytes_of, type.args))
    if type.op in info.ELEMENT_TYPES:
        return types.size_of(type) * bytes_of(type.args[0])
    return int(type.imm[0]) // 8 if type.op in info.NUMBER_TYPES else 0
