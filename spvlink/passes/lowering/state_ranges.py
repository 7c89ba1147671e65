"""Note how many bits the unsigned integers of vertex attributes need.

    uvec4 k, of R8G8B8A8_UINT       ->    k.x, k.y and k.z are below 256

Nothing changes here. ``narrow`` packs such numbers as it does those that a mask keeps small.

Why it is right. Such a format gives no more bits than it has (Vulkan, "Vertex Input Extraction").
Robust reads out of bounds give bytes of the buffer, converted like others, or (0, 0, 0, 1), or the
greatest integer in place of that 1.

What breaks it. So nothing is known of the alpha: it may be the greatest integer.

Cost. None.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.passes.lowering.state_attributes import attributes_of, numbers_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    Attribute = tuple[int, int, int]  # as in PipelineState

_ALPHA: Final = 3
_UNSIGNED: Final = 0
_WORD: Final = 32


def state_ranges(module: Module, formats: Sequence[Attribute]) -> None:
    """Tell the module of its attributes' formats."""
    known = {location: bits for location, _, bits in formats if bits}
    for variable, location, first in attributes_of(module):
        number, size = numbers_of(variable)
        if number.op != ops.OpTypeInt or number.imm != (_WORD, _UNSIGNED):
            continue
        for lane in range(size) if size > 1 else [-1]:
            if location in known and first + max(lane, 0) != _ALPHA:
                module.attribute_bits[variable, lane] = known[location]
