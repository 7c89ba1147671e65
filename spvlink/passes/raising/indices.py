"""Hide negative constant indices of access chains behind a copy.

    %p = OpAccessChain %ptr %array %int_-1     ->     %i = OpCopyObject %int %int_-1
                                                      %p = OpAccessChain %ptr %array %i

A computed index may turn out to be negative when it is folded. spirv-val rejects a negative
constant ("may not have a negative value"), but accepts a computed index. It accepts a constant that
is too large. The pass runs last, since other passes look through copies.

Why it is right. The index has the same value as before. An access with it was undefined before, and
may never run.

What breaks it. Nothing.

Cost. One copy for each such index of a block, in code that cannot run without undefined behaviour.
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
