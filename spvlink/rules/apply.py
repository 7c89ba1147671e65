"""The rules tried on one instruction."""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Inst, Module
from spvlink.rules._algebra import BUILD_RULES, INNER, RULES
from spvlink.rules.lanes import component, flushes
from spvlink.rules.match import is_glsl

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

__all__ = ["BUILD_RULES", "INNER", "RULES", "simplify"]

# Moves hand floats on untouched; whatever else a rule takes away may have flushed a denormal.
_MOVES: Final = frozenset((ops.OpCopyObject, ops.OpSelect, ops.OpBitcast, ops.OpTranspose))


def simplify(module: Module, inst: Inst, out: list[Inst], build: bool = True) -> Inst | None:
    """The value that ``inst`` equals by a rule, or None: an existing value, a constant, or a new
    instruction.

    A new instruction is appended to ``out``, to be placed just before ``inst``; it has the type of
    ``inst`` and no decorations, so pass ``build=False`` where ``inst`` carries one that bears on
    its value (NoContraction, RelaxedPrecision, FPFastMathMode, FPRoundingMode, NonUniform ...). The
    operands of ``inst`` are resolved (no COPY); those of its operands are looked through here.
    """
    key = inst.op
    if key == ops.OpExtInst:
        if not is_glsl(inst.args[0]):
            return None
        key = -inst.imm[0]
    value: Inst | None = None
    length = len(out)
    rule = RULES.get(key)
    if rule is not None:
        value = rule(module, inst)
    if value is None and build:
        maker = BUILD_RULES.get(key)
        if maker is not None:
            value = maker(module, inst, out)
    if value is not None and key not in _MOVES and _flushed(module, inst):
        del out[length:]
        return None
    return value


def _flushed(module: Module, inst: Inst) -> bool:
    """Whether a float operation is asked to flush denormals (DenormFlushToZero), which a rule would
    drop."""
    type = inst.type
    return type is not None and component(type).op == ops.OpTypeFloat and flushes(module)
