"""Replace copies of pointers by the pointers.

    %q = OpCopyObject %ptr %p           every use of %q is %p
    OpStore %q %x               ->      OpStore %p %x

Who follows pointers then meets variables and access chains only. A copy with a decoration of its
own (NonUniform and the like say how it is accessed) stays.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import become, sweep

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_POINTERS: Final = frozenset((ops.OpTypePointer, ops.OpTypeUntypedPointerKHR))
_SAYS_NOTHING: Final = (enums.Decoration_RelaxedPrecision,)  # of a pointer


def forward_pointer_copies(module: Module) -> None:
    """Replace them in all functions."""
    if ops.OpCopyObject not in module.rare:
        return
    tables = Decorations.of(module)
    for function in module.functions:
        copies: list[Inst] = []
        for block in function.blocks:
            for inst in block.insts:
                if inst.op == ops.OpCopyObject and _is_plain(tables, inst):
                    copies.append(inst)
        for inst in copies:
            become(module, inst, inst.args[0])
        if copies:
            sweep(module, function)


def _is_plain(tables: Decorations, copy: Inst) -> bool:
    type = copy.type
    if type is None or type.op not in _POINTERS or copy.args[0].type is not type:
        return False
    if copy in tables.with_ids:
        return False
    return all(words == _SAYS_NOTHING for words in tables.targets.get(copy, ()))
