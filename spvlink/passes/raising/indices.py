"""Constant indices that an access chain must not have.

    %p = OpAccessChain %ptr %array %int_-1     ->     %i = OpCopyObject %int %int_-1
                                                      %p = OpAccessChain %ptr %array %i

An index that is computed may turn out to be negative once it is folded. What the access does is not
defined then, and was not before (it may never run); but a constant index must not be negative
(spirv-val: "may not have a negative value"), so it is no constant to the eye. One that is too large
is allowed. The last pass over a stage's code, since others look through copies.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import CHAINS, Function, Inst, Module, by_opcode
from spvlink.ir.edit import touched, value

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# The position of the first index of access chains, 1 or 2; the element that OpPtrAccessChain begins
# with may be negative.
_FIRST: Final = by_opcode(CHAINS, (ops.OpPtrAccessChain, ops.OpInBoundsPtrAccessChain))


def indices(module: Module, function: Function) -> None:
    """Hide the negative constants among the indices of a function's access chains."""
    for block in function.blocks:
        hidden: dict[Inst, Inst] = {}
        out: list[Inst] = []
        for inst in block.insts:
            first = _FIRST[inst.op]
            if first:
                for at in range(first, len(inst.args)):
                    index = inst.args[at]
                    if index.op == ops.OpConstant and (types.index_of(index) or 0) < 0:
                        if index not in hidden:
                            copy = value(module, ops.OpCopyObject, index.type, [index], ())
                            hidden[index] = copy
                            out.append(copy)
                        inst.args[at] = hidden[index]
            out.append(inst)
        if hidden:
            block.insts = out
            touched(module)
