"""What transform feedback captures of an output, component by component.

    out vec4 v  (XfbBuffer 0, XfbStride 32, Offset 16)    ->    v.x at byte 16, v.y at 20, ...

An output variable, or a member of an output block, is captured if it has an Offset; its buffer and
stride it has itself or from the block (VUID-StandaloneSpirv-Offset-04716). The bytes are those of
its components in order, tightly packed: vectors, the columns of a matrix, the elements of an array
(Vulkan, "Transform Feedback"). So each component can become a variable of its own, with its own
Offset and the same buffer, stride and stream, at any Location: what lies in the buffer does not
change by a byte. Neighbours may be one variable where their bytes are neighbours too.

What stays whole: structs that are captured as such (their padding is not ours to guess), arrays of
blocks (whose elements go to buffers of their own), numbers of 16 bits, blocks with an Offset of
their own, anything without a buffer or a stride, and vertex streams other than the first.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations, Words
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import EXECUTION_MODES, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    # (buffer, stride, stream or -1 where none is given, offset in bytes)
    Capture = tuple[int, int, int, int]

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


def splits(tables: Decorations, variable: Inst) -> bool:
    """Whether what is captured of a variable can be captured component by component."""
    assert variable.type is not None
    type = variable.type.args[0]
    own = tables.targets.get(variable, [])
    if type.op != ops.OpTypeStruct:
        return _plain(type) and at(own, 0, ()) is not None
    if any(words[0] == _OFFSET for words in own):
        return False
    block = tables.targets.get(type, ())
    for index, member in enumerate(type.args):
        words = tables.members.get((type, index), [])
        if any(w[0] == _OFFSET for w in words):
            if not _plain(member) or at(own + words, 0, block) is None:
                return False
    return True


def _plain(type: Inst) -> bool:
    while type.op in (ops.OpTypeArray, ops.OpTypeMatrix, ops.OpTypeVector):
        type = type.args[0]
    return type.op in (ops.OpTypeInt, ops.OpTypeFloat) and type.imm[0] >= 32


def block_words(tables: Decorations, variable: Inst) -> Sequence[Words]:
    """The decorations of the block that a variable is, which its members inherit."""
    assert variable.type is not None
    return tables.targets.get(variable.type.args[0], ())


def at(words: Sequence[Words], shift: int, block: Sequence[Words]) -> Capture | None:
    """What is captured ``shift`` bytes into the variable or member that has these decorations (a
    member's own come last), in a block with those."""
    found = {w[0]: w[1] for w in (*block, *words) if len(w) == 2}
    if not any(w[0] == _OFFSET for w in words) or _BUFFER not in found or _STRIDE not in found:
        return None
    stream = found.get(enums.Decoration_Stream, -1)
    return found[_BUFFER], found[_STRIDE], stream, found[_OFFSET] + shift


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
    words = [[_BUFFER, buffer], [_STRIDE, stride], [_OFFSET, offset]]
    return words if stream < 0 else [[enums.Decoration_Stream, stream], *words]


def bytes_of(type: Inst) -> int:
    """Bytes that a value of numbers, vectors, matrices and arrays of these takes when captured."""
    if type.op in (ops.OpTypeArray, ops.OpTypeMatrix, ops.OpTypeVector):
        return types.size_of(type) * bytes_of(type.args[0])
    return int(type.imm[0]) // 8 if type.op in (ops.OpTypeInt, ops.OpTypeFloat) else 0
