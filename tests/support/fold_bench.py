"""A module in which single instructions are folded."""

from __future__ import annotations

import numpy as np

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, Inst, Module, words_of
from spvlink.passes.cleaning.fold import fold
from tests.support.fold_oracle import (
    bits_of,
)


class Bench:
    """A module to fold in, with short names for its types and constants."""

    def __init__(self) -> None:
        self.module = Module()
        self.module.sections[CAPABILITIES] += [
            Inst(ops.OpCapability, None, [], (c,)) for c in types.CAPABILITIES_OF.values()
        ]
        self.set = Inst(
            ops.OpExtInstImport, None, [], words_of("GLSL.std.450"), self.module.new_id()
        )

    def type(self, kind: str, size: int = 1) -> Inst:
        """ "u32", "i8", "f16" or "b", as a vector of ``size`` components if it is above 1."""
        m = self.module
        if kind == "b":
            scalar = types.boolean(m)
        elif kind[0] == "f":
            scalar = types.floating(m, int(kind[1:]))
        else:
            scalar = types.integer(m, int(kind[1:]), kind[0] == "i")
        return types.vector(m, scalar, size)

    def constant(self, kind: str, values: list[int]) -> Inst:
        parts = [types.constant(self.module, self.type(kind), v) for v in values]
        if len(parts) == 1:
            return parts[0]
        return types.composite(self.module, self.type(kind, len(parts)), parts)

    def fold(
        self, key: int, type: Inst, args: list[Inst], imm: list[int] | None = None
    ) -> Inst | None:
        if key < 0:
            inst = Inst(ops.OpExtInst, type, [self.set, *args], (-key,), self.module.new_id())
            assert fold(self.module, inst, False) is None
            return fold(self.module, inst, True)
        return fold(
            self.module, Inst(key, type, args, tuple(imm or ()), self.module.new_id()), False
        )

    def lanes(self, value: Inst) -> list[int]:
        """The bit patterns of a constant, read from its words."""
        parts = value.args if value.op == ops.OpConstantComposite else [value]
        found = []
        for part in parts:
            bits = types.bits_of(part)
            assert bits is not None
            found.append(bits)
        return found


def f32(value: float) -> int:
    return bits_of(np.float32(value))
