"""What an entry point asks of floating-point arithmetic beyond the defaults: its execution modes,
which no pass changes, and fast-math decorations."""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir import core, types
from spvlink.ir.core import Module
from spvlink.ir.known import ALWAYS, fact

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_SPECIAL: Final = (
    enums.FPFastMathMode_NotNaN | enums.FPFastMathMode_NotInf | enums.FPFastMathMode_NSZ
)
_ROUNDING: Final = frozenset(
    (
        enums.ExecutionMode_DenormPreserve, enums.ExecutionMode_DenormFlushToZero,
        enums.ExecutionMode_RoundingModeRTE, enums.ExecutionMode_RoundingModeRTZ,
    )
)  # fmt: skip


class Floats:
    """Of one module's entry point."""

    __slots__ = ("fast_math", "preserved", "rounding")

    def __init__(self, module: Module) -> None:
        # fast-math decorations or defaults ask for signed zeros, infinities or NaNs
        self.fast_math = _asks_fast_math(module)
        # widths of floats whose signed zeros, infinities and NaNs are preserved
        self.preserved: set[int] = {16, 32, 64} if self.fast_math else set()
        # the modes that say how floats are rounded, flushed and rearranged
        self.rounding: set[tuple[int, ...]] = set()
        entry = module.entry
        assert entry is not None
        for mode in module.sections[core.EXECUTION_MODES]:
            if mode.args[0] is not entry.function:
                continue
            kind = mode.imm[0]
            if kind == enums.ExecutionMode_SignedZeroInfNanPreserve:
                self.preserved.add(mode.imm[1])
            elif kind in _ROUNDING:
                self.rounding.add(mode.imm)
            elif kind == enums.ExecutionMode_FPFastMathDefault:
                mask = types.bits_of(mode.args[2])
                self.rounding.add((kind, mode.args[1].imm[0], -1 if mask is None else mask))

    @staticmethod
    def of(module: Module) -> Floats:
        """The facts, found once: passes neither add execution modes nor loosen decorations."""
        return fact(module, Floats, ALWAYS)


def alike(producer: Module, consumer: Module) -> bool:
    """Whether arithmetic gives the same in both: rounding, denormal numbers, and what the producer
    preserves the consumer preserves too."""
    ours, theirs = Floats.of(producer), Floats.of(consumer)
    return ours.rounding == theirs.rounding and ours.preserved <= theirs.preserved


def _asks_fast_math(module: Module) -> bool:
    if not any(
        c.imm[0] == enums.Capability_FloatControls2 for c in module.sections[core.CAPABILITIES]
    ):
        return False
    masks = [
        types.bits_of(mode.args[2])
        for mode in module.sections[core.EXECUTION_MODES]
        if mode.imm[0] == enums.ExecutionMode_FPFastMathDefault
    ]
    masks += [
        note.imm[1]
        for note in module.annotations
        if note.op == ops.OpDecorate and note.imm[0] == enums.Decoration_FPFastMathMode
    ]
    return any(mask is None or mask & _SPECIAL != _SPECIAL for mask in masks)
